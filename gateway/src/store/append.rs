//! Records of many cases, written as few statements in one transaction.

use std::collections::HashMap;
use std::sync::LazyLock;

use sqlx::AnyConnection;

use super::access_keys::summed;
use super::columns::{RATING, Word, abstention_words, retained_until_column};
use super::dialect::Dialect;
use super::read::encode_text;
use super::rows::{JudgmentRow, Record, RunCaseRow, SpendingRow, TextRow, TriageRow, VerdictRow, VersionRow};
use super::statement::{BindRow, Bound, Insert};

static VERSIONS: LazyLock<Insert> = LazyLock::new(|| Insert::of(include_str!("sql/insert_versions.sql")));
static TEXTS: LazyLock<Insert> = LazyLock::new(|| Insert::of(include_str!("sql/insert_texts.sql")));
static RUN_CASES: LazyLock<Insert> = LazyLock::new(|| Insert::of(include_str!("sql/insert_run_cases.sql")));
static JUDGMENTS: LazyLock<Insert> = LazyLock::new(|| Insert::of(include_str!("sql/insert_judgments.sql")));
static VERDICTS: LazyLock<Insert> = LazyLock::new(|| Insert::of(include_str!("sql/insert_verdicts.sql")));
static TRIAGE: LazyLock<Insert> = LazyLock::new(|| Insert::of(include_str!("sql/insert_triage.sql")));
static SPENDING: LazyLock<Insert> = LazyLock::new(|| Insert::of(include_str!("sql/add_key_spending.sql")));

/// Records sorted by table.
#[derive(Default)]
pub(super) struct Batch<'a> {
    versions: Vec<&'a VersionRow>,
    texts: Vec<&'a TextRow>,
    run_cases: Vec<&'a RunCaseRow>,
    judgments: Vec<&'a JudgmentRow>,
    verdicts: Vec<&'a VerdictRow>,
    triage: Vec<&'a TriageRow>,
    spending: Vec<SpendingRow>,
}

impl<'a> Batch<'a> {
    pub(super) fn of(records: &'a [Record]) -> Self {
        let mut batch = Self::default();
        let mut spending = Vec::new();
        for record in records {
            match record {
                Record::Version(row) => batch.versions.push(row),
                Record::Text(row) => batch.texts.push(row),
                Record::RunCase(row) => batch.run_cases.push(row),
                Record::Judgment(row) => batch.judgments.push(row),
                Record::Verdict(row) => batch.verdicts.push(row),
                Record::Triage(row) => batch.triage.push(row),
                Record::Spending(row) => spending.push(row),
            }
        }
        batch.spending = summed(spending);
        batch.texts = without_repeats(batch.texts);
        batch
    }

    /// Writes all rows inside the caller's transaction; returns the number of statements.
    pub(super) async fn write(
        &self,
        dialect: Dialect,
        connection: &mut AnyConnection,
    ) -> Result<usize, sqlx::Error> {
        let mut statements = VERSIONS.execute(dialect, connection, &self.versions).await?;
        statements += TEXTS.execute(dialect, connection, &self.texts).await?;
        statements += RUN_CASES.execute(dialect, connection, &self.run_cases).await?;
        statements += JUDGMENTS.execute(dialect, connection, &self.judgments).await?;
        statements += VERDICTS.execute(dialect, connection, &self.verdicts).await?;
        statements += self.withdraw_replaced(connection).await?;
        statements += TRIAGE.execute(dialect, connection, &self.triage).await?;
        // Last: other gateways wait for these rows until the transaction ends.
        let spending: Vec<&SpendingRow> = self.spending.iter().collect();
        statements += SPENDING.execute(dialect, connection, &spending).await?;
        Ok(statements)
    }

    /// A verdict that was replaced waits for nobody, unless somebody has begun to look at it.
    async fn withdraw_replaced(&self, connection: &mut AnyConnection) -> Result<usize, sqlx::Error> {
        let mut statements = 0;
        for verdict in &self.verdicts {
            let Some(replaced) = &verdict.replaces else { continue };
            let withdraw = sqlx::query(include_str!("sql/withdraw_triage.sql"));
            withdraw.bind(verdict.project.as_str()).bind(replaced.as_str()).execute(&mut *connection).await?;
            statements += 1;
        }
        Ok(statements)
    }
}

/// One row per text, the one that is kept longest: Postgres refuses a statement that updates a row twice.
fn without_repeats(texts: Vec<&TextRow>) -> Vec<&TextRow> {
    let mut place = HashMap::with_capacity(texts.len());
    let mut kept: Vec<&TextRow> = Vec::with_capacity(texts.len());
    for text in texts {
        let key = (&text.project, &text.case_id, text.kind, &text.hash, &text.source, &text.panel);
        let index = *place.entry(key).or_insert(kept.len());
        match kept.get_mut(index) {
            None => kept.push(text),
            Some(earlier) => {
                let until = |text: &TextRow| retained_until_column(text.retained_until_us);
                if until(text) > until(earlier) {
                    *earlier = text;
                }
            }
        }
    }
    kept
}

impl BindRow for VersionRow {
    fn bind<'q>(&'q self, query: Bound<'q>) -> Bound<'q> {
        query
            .bind(self.project.as_str())
            .bind(self.kind.word())
            .bind(self.hash.as_str())
            .bind(self.name.as_str())
            .bind(self.body.as_str())
            .bind(self.created_us)
    }
}

impl BindRow for TextRow {
    fn bind<'q>(&'q self, query: Bound<'q>) -> Bound<'q> {
        let (encoding, body) = encode_text(&self.body);
        query
            .bind(self.project.as_str())
            .bind(self.case_id.as_str())
            .bind(self.kind.word())
            .bind(self.hash.as_str())
            .bind(self.source.as_deref().unwrap_or_default())
            .bind(self.panel.as_str())
            .bind(encoding)
            .bind(body.into_owned())
            .bind(self.recorded_us)
            .bind(retained_until_column(self.retained_until_us))
    }
}

impl BindRow for RunCaseRow {
    fn bind<'q>(&'q self, query: Bound<'q>) -> Bound<'q> {
        query
            .bind(self.project.as_str())
            .bind(self.run.as_str())
            .bind(self.case_id.as_str())
            .bind(self.case_hash.as_str())
            .bind(self.position)
            .bind(self.shard)
            .bind(self.mode.word())
            .bind(self.source.as_deref().unwrap_or_default())
            .bind(self.sensitivity.word())
            .bind(self.inclusion_ppb)
            .bind(self.facts.as_str())
            .bind(self.text_hash.as_deref())
            .bind(self.created_us)
    }
}

impl BindRow for JudgmentRow {
    fn bind<'q>(&'q self, query: Bound<'q>) -> Bound<'q> {
        let (outcome, class, rating) = match &self.outcome {
            Ok(rating) => (RATING, None, Some(rating.as_str())),
            Err(abstention) => {
                let (outcome, class) = abstention_words(*abstention);
                (outcome, class, None)
            }
        };
        query
            .bind(self.id.as_str())
            .bind(self.project.as_str())
            .bind(self.run.as_str())
            .bind(self.case_id.as_str())
            .bind(self.case_hash.as_str())
            .bind(self.judge.as_str())
            .bind(self.criterion.as_str())
            .bind(self.order.word())
            .bind(self.sample)
            .bind(self.revision)
            .bind(self.replaces.as_deref())
            .bind(self.source.word())
            .bind(self.origin_id.as_deref())
            .bind(self.call_id.as_str())
            .bind(self.mode.word())
            .bind(self.panel_version.as_str())
            .bind(self.judge_fingerprint.as_str())
            .bind(self.template_hash.as_str())
            .bind(self.rubric_hash.as_str())
            .bind(self.model_replied.as_deref())
            .bind(self.system_fingerprint.as_deref())
            .bind(outcome)
            .bind(class)
            .bind(rating)
            .bind(self.reply_hash.as_deref())
            .bind(self.prompt_hash.as_deref())
            .bind(i64::from(self.repaired))
            .bind(self.attempts)
            .bind(self.prompt_tokens)
            .bind(self.completion_tokens)
            .bind(self.cached_tokens)
            .bind(self.reasoning_tokens)
            .bind(self.cost_microusd)
            .bind(self.latency_us)
            .bind(self.cache_key.as_deref())
            .bind(self.created_us)
    }
}

impl BindRow for VerdictRow {
    fn bind<'q>(&'q self, query: Bound<'q>) -> Bound<'q> {
        query
            .bind(self.id.as_str())
            .bind(self.project.as_str())
            .bind(self.run.as_str())
            .bind(self.case_id.as_str())
            .bind(self.case_hash.as_str())
            .bind(self.revision)
            .bind(self.replaces.as_deref())
            .bind(self.endpoint.word())
            .bind(self.key_id.as_deref())
            .bind(self.panel.as_str())
            .bind(self.panel_version.as_str())
            .bind(self.mode.word())
            .bind(i64::from(self.decided))
            .bind(i64::from(self.escalated))
            .bind(i64::from(self.degraded))
            .bind(self.disagreement_ppm)
            .bind(self.score_ppm)
            .bind(self.reasons_hash.as_deref())
            .bind(self.body.as_str())
            .bind(self.cost_microusd)
            .bind(self.latency_us)
            .bind(self.overhead_us)
            .bind(self.created_us)
    }
}

impl BindRow for TriageRow {
    fn bind<'q>(&'q self, query: Bound<'q>) -> Bound<'q> {
        query
            .bind(self.id.as_str())
            .bind(self.project.as_str())
            .bind(self.verdict_id.as_str())
            .bind(self.run.as_str())
            .bind(self.case_id.as_str())
            .bind(self.case_hash.as_str())
            .bind(self.panel.as_str())
            .bind(self.panel_version.as_str())
            .bind(self.rubric_hash.as_str())
            .bind(self.mode.word())
            .bind(self.status.word())
            .bind(self.severity)
            .bind(self.reasons.as_str())
            .bind(self.disagreement_ppm)
            .bind(self.nearness_ppm)
            .bind(self.slots)
            .bind(i64::from(self.practice))
            .bind(self.inclusion_ppb)
            .bind(self.created_us)
    }
}
