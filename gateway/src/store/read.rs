//! From a database row to the row's struct; words that this program does not know are errors, never defaults.

use sqlx::Row;
use sqlx::any::AnyRow;

use super::StoreError;
use super::columns::{RATING, Word, abstention_of_words, retained_until_of_column};
use super::rows::{
    AccessKeyRow, AnsweredCalls, FinishedCase, IdempotencyEnd, IdempotencyRow, IdempotencyStatus, InputCase,
    JudgmentRow, JudgmentSource, KeySpending, Lease, ModelFactsRow, RequestKey, ReservationRow, RunRow,
    RunStatus, RunSummary, RunTotals, StoredText, TakenRun, VerdictRow, VersionRow, WorkState,
};

/// One row under the verb that asked for it.
pub(super) struct Columns<'r> {
    row: &'r AnyRow,
    verb: &'static str,
}

impl<'r> Columns<'r> {
    pub(super) fn of(row: &'r AnyRow, verb: &'static str) -> Self {
        Self { row, verb }
    }

    fn text(&self, column: &'static str) -> Result<String, StoreError> {
        self.row.try_get(column).map_err(StoreError::of_verb(self.verb))
    }

    fn maybe_text(&self, column: &'static str) -> Result<Option<String>, StoreError> {
        self.row.try_get(column).map_err(StoreError::of_verb(self.verb))
    }

    fn integer(&self, column: &'static str) -> Result<i64, StoreError> {
        self.row.try_get(column).map_err(StoreError::of_verb(self.verb))
    }

    fn maybe_integer(&self, column: &'static str) -> Result<Option<i64>, StoreError> {
        self.row.try_get(column).map_err(StoreError::of_verb(self.verb))
    }

    fn flag(&self, column: &'static str) -> Result<bool, StoreError> {
        self.integer(column).map(|flag| flag != 0)
    }

    fn word<W: Word>(&self, column: &'static str) -> Result<W, StoreError> {
        let word = self.text(column)?;
        W::of_word(&word).ok_or_else(|| self.unknown(column, word))
    }

    fn unknown(&self, column: &'static str, value: String) -> StoreError {
        StoreError::UnknownValue { verb: self.verb, column, value }
    }

    pub(super) fn model_facts(&self) -> Result<ModelFactsRow, StoreError> {
        Ok(ModelFactsRow {
            project: self.text("project")?,
            base_url: self.text("base_url")?,
            dialect: self.text("dialect")?,
            model: self.text("model")?,
            model_replied: self.maybe_text("model_replied")?,
            learned: self.text("learned")?,
            updated_us: self.integer("updated_us")?,
        })
    }

    pub(super) fn access_key(&self) -> Result<AccessKeyRow, StoreError> {
        Ok(AccessKeyRow {
            id: self.text("id")?,
            project: self.text("project")?,
            name: self.text("name")?,
            role: self.text("role")?,
            may_ask: self.text("may_ask")?,
            sensitivity: self.text("sensitivity")?,
            budget_microusd: self.maybe_integer("budget_microusd")?,
            budget_window: self.text("budget_window")?,
            secret_hash: self.text("secret_hash")?,
            created_us: self.integer("created_us")?,
            expires_us: self.maybe_integer("expires_us")?,
            revoked_us: self.maybe_integer("revoked_us")?,
        })
    }

    pub(super) fn key_spending(&self) -> Result<KeySpending, StoreError> {
        Ok(KeySpending {
            microusd: self.integer("microusd")?,
            calls: self.integer("calls")?,
            last_day: self.maybe_integer("last_day")?,
        })
    }

    pub(super) fn cost(&self) -> Result<i64, StoreError> {
        self.integer("cost_microusd")
    }

    pub(super) fn answered_calls(&self) -> Result<AnsweredCalls, StoreError> {
        let source: JudgmentSource = self.word("source")?;
        Ok(AnsweredCalls {
            judge: self.text("judge")?,
            is_asked: source == JudgmentSource::Asked,
            model_replied: self.maybe_text("model_replied")?,
            calls: self.integer("calls")?,
            priced_calls: self.integer("priced_calls")?,
            cost_microusd: self.integer("cost_microusd")?,
            latency_us: self.integer("latency_us")?,
            max_latency_us: self.integer("max_latency_us")?,
        })
    }

    pub(super) fn open_cases(&self) -> Result<(String, i64), StoreError> {
        Ok((self.text("project")?, self.integer("open_cases")?))
    }

    pub(super) fn case_id(&self) -> Result<String, StoreError> {
        self.text("case_id")
    }

    pub(super) fn finished_case(&self) -> Result<FinishedCase, StoreError> {
        Ok(FinishedCase { case_id: self.text("case_id")?, case_hash: self.text("case_hash")? })
    }

    pub(super) fn judgment(&self) -> Result<JudgmentRow, StoreError> {
        Ok(JudgmentRow {
            id: self.text("id")?,
            project: self.text("project")?,
            run: self.text("run")?,
            case_id: self.text("case_id")?,
            case_hash: self.text("case_hash")?,
            judge: self.text("judge")?,
            criterion: self.text("criterion")?,
            order: self.word("ord")?,
            sample: self.integer("sample")?,
            revision: self.integer("revision")?,
            replaces: self.maybe_text("replaces")?,
            source: self.word("source")?,
            origin_id: self.maybe_text("origin_id")?,
            call_id: self.text("call_id")?,
            mode: self.word("mode")?,
            panel_version: self.text("panel_version")?,
            judge_fingerprint: self.text("judge_fingerprint")?,
            template_hash: self.text("template_hash")?,
            rubric_hash: self.text("rubric_hash")?,
            model_replied: self.maybe_text("model_replied")?,
            system_fingerprint: self.maybe_text("system_fingerprint")?,
            outcome: self.outcome()?,
            reply_hash: self.maybe_text("reply_hash")?,
            prompt_hash: self.maybe_text("prompt_hash")?,
            repaired: self.flag("repaired")?,
            attempts: self.integer("attempts")?,
            prompt_tokens: self.maybe_integer("prompt_tokens")?,
            completion_tokens: self.maybe_integer("completion_tokens")?,
            cached_tokens: self.maybe_integer("cached_tokens")?,
            reasoning_tokens: self.maybe_integer("reasoning_tokens")?,
            cost_microusd: self.maybe_integer("cost_microusd")?,
            latency_us: self.integer("latency_us")?,
            cache_key: self.maybe_text("cache_key")?,
            created_us: self.integer("created_us")?,
        })
    }

    fn outcome(&self) -> Result<Result<String, aggregation::vote::Abstention>, StoreError> {
        let outcome = self.text("outcome")?;
        let class = self.maybe_text("class")?;
        if outcome == RATING {
            return self.text("rating").map(Ok);
        }
        abstention_of_words(&outcome, class.as_deref())
            .map(Err)
            .ok_or_else(|| self.unknown("outcome", outcome))
    }

    pub(super) fn verdict(&self) -> Result<VerdictRow, StoreError> {
        Ok(VerdictRow {
            id: self.text("id")?,
            project: self.text("project")?,
            run: self.text("run")?,
            case_id: self.text("case_id")?,
            case_hash: self.text("case_hash")?,
            revision: self.integer("revision")?,
            replaces: self.maybe_text("replaces")?,
            endpoint: self.word("endpoint")?,
            key_id: self.maybe_text("key_id")?,
            panel: self.text("panel")?,
            panel_version: self.text("panel_version")?,
            mode: self.word("mode")?,
            decided: self.flag("decided")?,
            escalated: self.flag("escalated")?,
            degraded: self.flag("degraded")?,
            disagreement_ppm: self.maybe_integer("disagreement_ppm")?,
            score_ppm: self.maybe_integer("score_ppm")?,
            reasons_hash: self.maybe_text("reasons_hash")?,
            body: self.text("body")?,
            cost_microusd: self.maybe_integer("cost_microusd")?,
            latency_us: self.integer("latency_us")?,
            overhead_us: self.integer("overhead_us")?,
            created_us: self.integer("created_us")?,
        })
    }

    /// The run; totals are there only once it has ended.
    pub(super) fn run(&self) -> Result<(RunSummary, bool), StoreError> {
        let run = RunRow {
            id: self.text("id")?,
            project: self.text("project")?,
            kind: self.word("kind")?,
            panel: self.text("panel")?,
            panel_version: self.text("panel_version")?,
            input_hash: self.maybe_text("input_hash")?,
            case_total: self.maybe_integer("case_total")?,
            settings: self.text("settings")?,
            created_us: self.integer("created_us")?,
        };
        let finished_cases = self.maybe_integer("finished_cases")?;
        let totals = RunTotals {
            finished_cases: finished_cases.unwrap_or_default(),
            decided_cases: self.maybe_integer("decided_cases")?.unwrap_or_default(),
            escalated_cases: self.maybe_integer("escalated_cases")?.unwrap_or_default(),
            cost_microusd: self.maybe_integer("cost_microusd")?,
        };
        let status: RunStatus = self.word("status")?;
        let finished_us = self.maybe_integer("finished_us")?;
        let work = match self.maybe_text("work_status")? {
            None => None,
            Some(_) => Some(WorkState {
                status: self.word("work_status")?,
                is_begun: self.integer("fencing_token")? > 0,
                reason: self.maybe_text("reason")?,
                options: self.text("options")?,
            }),
        };
        let outcome = self.maybe_text("outcome")?;
        let summary = RunSummary { run, status, finished_us, outcome, totals, work };
        Ok((summary, finished_cases.is_some()))
    }

    pub(super) fn totals(&self) -> Result<RunTotals, StoreError> {
        let finished_cases = self.integer("finished_cases")?;
        let is_priced = self.integer("priced_cases")? == finished_cases;
        let cost_microusd = self.integer("cost_microusd")?;
        Ok(RunTotals {
            finished_cases,
            decided_cases: self.integer("decided_cases")?,
            escalated_cases: self.integer("escalated_cases")?,
            cost_microusd: is_priced.then_some(cost_microusd),
        })
    }

    pub(super) fn version(&self) -> Result<VersionRow, StoreError> {
        Ok(VersionRow {
            project: self.text("project")?,
            kind: self.word("kind")?,
            hash: self.text("hash")?,
            name: self.text("name")?,
            body: self.text("body")?,
            created_us: self.integer("created_us")?,
        })
    }

    pub(super) fn idempotency(&self) -> Result<IdempotencyRow, StoreError> {
        let request = RequestKey {
            project: self.text("project")?,
            endpoint: self.word("endpoint")?,
            key: self.text("idempotency_key")?,
        };
        let reservation = ReservationRow {
            request,
            body_hash: self.text("body_hash")?,
            verdict_id: self.text("verdict_id")?,
            lease_owner: self.text("lease_owner")?,
            lease_until_us: self.integer("lease_until_us")?,
            created_us: self.integer("created_us")?,
            expires_us: self.integer("expires_us")?,
        };
        let end = match self.word("status")? {
            IdempotencyStatus::Reserved => None,
            IdempotencyStatus::Finished => Some(IdempotencyEnd {
                http_status: self.integer("http_status")?,
                response_hash: self.maybe_text("response_hash")?,
            }),
        };
        Ok(IdempotencyRow { reservation, fencing_token: self.integer("fencing_token")?, end })
    }

    pub(super) fn now_us(&self) -> Result<i64, StoreError> {
        self.integer("now_us")
    }

    pub(super) fn waiting_runs(&self) -> Result<i64, StoreError> {
        self.integer("waiting_runs")
    }

    pub(super) fn lease(&self) -> Result<Lease, StoreError> {
        Ok(Lease { is_asked_to_stop: self.flag("stop_asked")? })
    }

    pub(super) fn taken_run(&self) -> Result<TakenRun, StoreError> {
        Ok(TakenRun {
            project: self.text("project")?,
            run: self.text("run")?,
            options: self.text("options")?,
            fencing_token: self.integer("fencing_token")?,
            lease: self.lease()?,
        })
    }

    pub(super) fn input_case(&self) -> Result<InputCase, StoreError> {
        let encoding = self.maybe_text("encoding")?;
        let body = match encoding {
            None => None,
            Some(encoding) => self.decoded("body", encoding)?,
        };
        Ok(InputCase { position: self.integer("position")?, case_id: self.text("case_id")?, body })
    }

    fn decoded(&self, column: &'static str, encoding: String) -> Result<Option<String>, StoreError> {
        match (self.maybe_text(column)?, encoding.as_str()) {
            (None, _) => Ok(None),
            (Some(body), PLAIN) => Ok(Some(body)),
            (Some(body), JSON) => match serde_json::from_str(&body) {
                Ok(decoded) => Ok(Some(decoded)),
                Err(_) => Err(self.unknown(column, String::from("not a JSON string"))),
            },
            (Some(_), _) => Err(self.unknown("encoding", encoding)),
        }
    }

    pub(super) fn stored_text(&self) -> Result<StoredText, StoreError> {
        let body = self.decoded("body", self.text("encoding")?)?;
        let source = self.text("source")?;
        Ok(StoredText {
            kind: self.word("kind")?,
            hash: self.text("hash")?,
            source: (!source.is_empty()).then_some(source),
            panel: self.text("panel")?,
            body,
            recorded_us: self.integer("recorded_us")?,
            retained_until_us: retained_until_of_column(self.integer("retained_until_us")?),
            erased_us: self.maybe_integer("erased_us")?,
        })
    }
}

const PLAIN: &str = "plain";
const JSON: &str = "json";

/// Encoding and body as stored: Postgres cannot hold NUL characters, so a text that has some becomes a JSON string.
pub(super) fn encode_text(body: &str) -> (&'static str, std::borrow::Cow<'_, str>) {
    if body.contains('\0') {
        (JSON, serde_json::Value::from(body).to_string().into())
    } else {
        (PLAIN, body.into())
    }
}
