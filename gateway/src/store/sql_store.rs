//! The one implementation of `Store`, for both databases.

use std::sync::{Arc, LazyLock};

use futures::future::BoxFuture;
use sqlx::any::AnyRow;
use sqlx::pool::PoolConnection;
use sqlx::{Any, Connection};
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::append::Batch;
use super::columns::Word;
use super::dialect::{Durability, Pools};
use super::read::Columns;
use super::rows::{
    AnsweredCalls, FinishedCase, IdempotencyEnd, IdempotencyRow, JudgmentRow, ModelFactsRow, Record,
    RequestKey, Reservation, ReservationRow, RunEnd, RunRow, RunStatus, RunSummary, RunTotals, StoredText,
    TextSelection, VerdictRow, VersionKind, VersionRow,
};
use super::statement::{Bound, SelectIn};
use super::{Answer, Appended, Store, StoreError, StoreLocation, checkpoint, migrations};

static FINISHED_AMONG: LazyLock<SelectIn> =
    LazyLock::new(|| SelectIn::of(include_str!("sql/finished_among.sql")));
static CACHED_JUDGMENTS: LazyLock<SelectIn> =
    LazyLock::new(|| SelectIn::of(include_str!("sql/cached_judgments.sql")));
static TEXTS: LazyLock<SelectIn> = LazyLock::new(|| SelectIn::of(include_str!("sql/texts.sql")));

/// The store on SQLite or Postgres.
#[derive(Debug)]
pub struct SqlStore {
    pub(super) pools: Pools,
    /// Told after each commit, so that the log is checkpointed.
    written: Arc<Notify>,
    stop: CancellationToken,
}

impl SqlStore {
    /// Opens or creates the store and brings its schema up to date. The checkpoint task runs on `tasks` until
    /// `close`.
    pub async fn open(location: &StoreLocation, tasks: &TaskTracker) -> Result<Self, StoreError> {
        let pools = Pools::connect(location).await?;
        migrations::migrate(&pools, location).await?;
        let written = Arc::new(Notify::new());
        let stop = CancellationToken::new();
        if let Some(checkpoints) = pools.checkpoints.clone() {
            tasks.spawn(checkpoint::run(checkpoints, Arc::clone(&written), stop.clone()));
        }
        Ok(Self { pools, written, stop })
    }

    /// The write connection, at the durability that the coming transaction needs.
    pub(super) async fn writer(&self, durability: Durability) -> Result<PoolConnection<Any>, sqlx::Error> {
        let mut connection = self.pools.writer.acquire().await?;
        self.pools.set_durability(&mut connection, durability).await?;
        Ok(connection)
    }

    /// Lets the log be checkpointed after a commit.
    pub(super) fn note_written(&self) {
        self.written.notify_one();
    }

    async fn append_batch(&self, batch: &Batch<'_>) -> Result<Appended, sqlx::Error> {
        let mut connection = self.writer(Durability::Process).await?;
        let mut transaction = connection.begin_with(self.pools.dialect.begin_write()).await?;
        let statements = batch.write(self.pools.dialect, &mut transaction).await?;
        transaction.commit().await?;
        self.written.notify_one();
        Ok(Appended { statements })
    }

    /// One statement that survives a power cut; returns the rows it changed.
    pub(super) async fn write(&self, verb: &'static str, statement: Bound<'_>) -> Result<u64, StoreError> {
        let written = async {
            let mut connection = self.writer(Durability::Power).await?;
            statement.execute(&mut *connection).await
        };
        let result = written.await.map_err(StoreError::of_verb(verb))?;
        self.written.notify_one();
        Ok(result.rows_affected())
    }

    /// As `write`, for a statement that returns rows.
    pub(super) async fn write_returning(
        &self,
        verb: &'static str,
        statement: Bound<'_>,
    ) -> Result<Vec<AnyRow>, StoreError> {
        let written = async {
            let mut connection = self.writer(Durability::Power).await?;
            statement.fetch_all(&mut *connection).await
        };
        let rows = written.await.map_err(StoreError::of_verb(verb))?;
        self.written.notify_one();
        Ok(rows)
    }

    pub(super) async fn rows(&self, verb: &'static str, query: Bound<'_>) -> Result<Vec<AnyRow>, StoreError> {
        query.fetch_all(&self.pools.readers).await.map_err(StoreError::of_verb(verb))
    }

    /// One page after another of an `IN` list; `bind_first` binds the parameters before it.
    async fn rows_in<'a>(
        &'a self,
        verb: &'static str,
        select: &'static SelectIn,
        list: &'a [String],
        bind_first: impl Fn(Bound<'a>) -> Bound<'a> + Send + Sync,
    ) -> Result<Vec<AnyRow>, StoreError> {
        let mut rows = Vec::new();
        for (query, chunk) in select.chunks(list) {
            rows.append(&mut self.rows(verb, chunk.bind(bind_first(query))).await?);
        }
        Ok(rows)
    }

    /// The row, with totals counted from the verdicts where the run has not ended.
    async fn summary(&self, row: &AnyRow) -> Result<RunSummary, StoreError> {
        let (mut summary, has_totals) = Columns::of(row, "read a run").run()?;
        if !has_totals {
            summary.totals = self.totals(&summary.run.project, &summary.run.id).await?;
        }
        Ok(summary)
    }

    pub(super) async fn totals(&self, project: &str, run: &str) -> Result<RunTotals, StoreError> {
        let verb = "count a run";
        let query = sqlx::query(include_str!("sql/run_totals.sql")).bind(project).bind(run);
        let rows = self.rows(verb, query).await?;
        rows.first().map_or(Ok(RunTotals::default()), |row| Columns::of(row, verb).totals())
    }
}

pub(super) fn insert_run(run: &RunRow) -> Bound<'_> {
    sqlx::query(include_str!("sql/insert_run.sql"))
        .bind(&run.id)
        .bind(&run.project)
        .bind(run.kind.word())
        .bind(&run.panel)
        .bind(&run.panel_version)
        .bind(RunStatus::Running.word())
        .bind(run.input_hash.as_deref())
        .bind(run.case_total)
        .bind(&run.settings)
        .bind(run.created_us)
}

pub(super) fn bind_end<'q>(project: &'q str, run: &'q str, end: &'q RunEnd, totals: &RunTotals) -> Bound<'q> {
    sqlx::query(include_str!("sql/finish_run.sql"))
        .bind(run)
        .bind(project)
        .bind(end.status.word())
        .bind(end.finished_us)
        .bind(end.outcome.as_deref())
        .bind(totals.finished_cases)
        .bind(totals.decided_cases)
        .bind(totals.escalated_cases)
        .bind(totals.cost_microusd)
}

impl Store for SqlStore {
    fn append<'a>(&'a self, records: &'a [Record]) -> Answer<'a, Appended> {
        Box::pin(async move {
            let batch = Batch::of(records);
            self.append_batch(&batch).await.map_err(StoreError::of_verb("append records"))
        })
    }

    fn create_run<'a>(&'a self, run: &'a RunRow) -> Answer<'a, ()> {
        Box::pin(async move { self.write("create a run", insert_run(run)).await.map(drop) })
    }

    fn reopen_run<'a>(&'a self, project: &'a str, run: &'a str) -> Answer<'a, ()> {
        Box::pin(async move {
            let statement = sqlx::query(include_str!("sql/reopen_run.sql"))
                .bind(run)
                .bind(project)
                .bind(RunStatus::Running.word());
            match self.write("reopen a run", statement).await? {
                0 => Err(StoreError::NoSuchRun { run: run.to_owned() }),
                _ => Ok(()),
            }
        })
    }

    fn finish_run<'a>(&'a self, project: &'a str, run: &'a str, end: &'a RunEnd) -> Answer<'a, RunSummary> {
        Box::pin(async move {
            let totals = self.totals(project, run).await?;
            self.write("finish a run", bind_end(project, run, end, &totals)).await?;
            let summary = self.run(project, run).await?;
            summary.ok_or_else(|| StoreError::NoSuchRun { run: run.to_owned() })
        })
    }

    fn run<'a>(&'a self, project: &'a str, run: &'a str) -> Answer<'a, Option<RunSummary>> {
        Box::pin(async move {
            let query = sqlx::query(include_str!("sql/run.sql")).bind(run).bind(project);
            match self.rows("read a run", query).await?.first() {
                None => Ok(None),
                Some(row) => self.summary(row).await.map(Some),
            }
        })
    }

    fn runs<'a>(&'a self, project: &'a str, limit: u32) -> Answer<'a, Vec<RunSummary>> {
        Box::pin(async move {
            let query = sqlx::query(include_str!("sql/runs.sql")).bind(project).bind(i64::from(limit));
            let mut runs = Vec::new();
            for row in self.rows("list runs", query).await? {
                runs.push(self.summary(&row).await?);
            }
            Ok(runs)
        })
    }

    fn finished_cases<'a>(
        &'a self,
        project: &'a str,
        run: &'a str,
        after: Option<&'a str>,
        limit: u32,
    ) -> Answer<'a, Vec<FinishedCase>> {
        Box::pin(async move {
            let verb = "list finished cases";
            let query = sqlx::query(include_str!("sql/finished_cases.sql"))
                .bind(project)
                .bind(run)
                .bind(after.unwrap_or_default())
                .bind(i64::from(limit));
            let rows = self.rows(verb, query).await?;
            rows.iter().map(|row| Columns::of(row, verb).finished_case()).collect()
        })
    }

    fn finished_among<'a>(
        &'a self,
        project: &'a str,
        run: &'a str,
        case_ids: &'a [String],
    ) -> Answer<'a, Vec<FinishedCase>> {
        Box::pin(async move {
            let verb = "look up finished cases";
            let rows =
                self.rows_in(verb, &FINISHED_AMONG, case_ids, |query| query.bind(project).bind(run)).await?;
            rows.iter().map(|row| Columns::of(row, verb).finished_case()).collect()
        })
    }

    fn judgments_of_case<'a>(
        &'a self,
        project: &'a str,
        run: &'a str,
        case_id: &'a str,
    ) -> Answer<'a, Vec<JudgmentRow>> {
        Box::pin(async move {
            let verb = "read judgments of a case";
            let query =
                sqlx::query(include_str!("sql/judgments_of_case.sql")).bind(project).bind(run).bind(case_id);
            let rows = self.rows(verb, query).await?;
            rows.iter().map(|row| Columns::of(row, verb).judgment()).collect()
        })
    }

    fn judged_cases<'a>(
        &'a self,
        project: &'a str,
        run: &'a str,
        after: Option<&'a str>,
        limit: u32,
    ) -> Answer<'a, Vec<String>> {
        Box::pin(async move {
            let verb = "list judged cases";
            let query = sqlx::query(include_str!("sql/judged_cases.sql"))
                .bind(project)
                .bind(run)
                .bind(after.unwrap_or_default())
                .bind(i64::from(limit));
            let rows = self.rows(verb, query).await?;
            rows.iter().map(|row| Columns::of(row, verb).case_id()).collect()
        })
    }

    fn cached_judgments<'a>(
        &'a self,
        project: &'a str,
        cache_keys: &'a [String],
        since_us: i64,
    ) -> Answer<'a, Vec<JudgmentRow>> {
        Box::pin(async move {
            let verb = "look up cached judgments";
            let rows = self
                .rows_in(verb, &CACHED_JUDGMENTS, cache_keys, |query| query.bind(project).bind(since_us))
                .await?;
            let mut found: Vec<JudgmentRow> = Vec::with_capacity(rows.len());
            for row in &rows {
                let judgment = Columns::of(row, verb).judgment()?;
                // Why: two calls may end in the same microsecond; one of them answers, whole.
                let is_other_call = found.last().is_some_and(|last| {
                    last.cache_key == judgment.cache_key && last.call_id != judgment.call_id
                });
                if !is_other_call {
                    found.push(judgment);
                }
            }
            Ok(found)
        })
    }

    fn verdict<'a>(&'a self, project: &'a str, id: &'a str) -> Answer<'a, Option<VerdictRow>> {
        Box::pin(async move {
            let verb = "read a verdict";
            let query = sqlx::query(include_str!("sql/verdict.sql")).bind(id).bind(project);
            let rows = self.rows(verb, query).await?;
            rows.first().map(|row| Columns::of(row, verb).verdict()).transpose()
        })
    }

    fn verdict_of_case<'a>(
        &'a self,
        project: &'a str,
        run: &'a str,
        case_id: &'a str,
    ) -> Answer<'a, Option<VerdictRow>> {
        Box::pin(async move {
            let verb = "read a case's verdict";
            let query =
                sqlx::query(include_str!("sql/verdict_of_case.sql")).bind(project).bind(run).bind(case_id);
            let rows = self.rows(verb, query).await?;
            rows.first().map(|row| Columns::of(row, verb).verdict()).transpose()
        })
    }

    fn verdicts_of_run<'a>(
        &'a self,
        project: &'a str,
        run: &'a str,
        after: Option<&'a str>,
        limit: u32,
    ) -> Answer<'a, Vec<VerdictRow>> {
        Box::pin(async move {
            let verb = "read verdicts of a run";
            let query = sqlx::query(include_str!("sql/verdicts_of_run.sql"))
                .bind(project)
                .bind(run)
                .bind(after.unwrap_or_default())
                .bind(i64::from(limit));
            let rows = self.rows(verb, query).await?;
            rows.iter().map(|row| Columns::of(row, verb).verdict()).collect()
        })
    }

    fn version<'a>(
        &'a self,
        project: &'a str,
        kind: VersionKind,
        hash: &'a str,
    ) -> Answer<'a, Option<VersionRow>> {
        Box::pin(async move {
            let verb = "read a version";
            let query =
                sqlx::query(include_str!("sql/version.sql")).bind(project).bind(kind.word()).bind(hash);
            let rows = self.rows(verb, query).await?;
            rows.first().map(|row| Columns::of(row, verb).version()).transpose()
        })
    }

    fn texts<'a>(
        &'a self,
        project: &'a str,
        case_id: &'a str,
        hashes: &'a [String],
    ) -> Answer<'a, Vec<StoredText>> {
        Box::pin(async move {
            let verb = "read texts";
            let rows = self.rows_in(verb, &TEXTS, hashes, |query| query.bind(project).bind(case_id)).await?;
            rows.iter().map(|row| Columns::of(row, verb).stored_text()).collect()
        })
    }

    fn erase_texts<'a>(
        &'a self,
        project: &'a str,
        selection: &'a TextSelection,
        now_us: i64,
    ) -> Answer<'a, u64> {
        Box::pin(self.erase(move || {
            let (sql, name) = match selection {
                TextSelection::Case(case_id) => (include_str!("sql/erase_texts_of_case.sql"), case_id),
                TextSelection::Source(source) => (include_str!("sql/erase_texts_of_source.sql"), source),
                TextSelection::RecordedBefore(time_us) => {
                    let statement = sqlx::query(include_str!("sql/erase_texts_before.sql"));
                    return statement.bind(now_us).bind(project.to_owned()).bind(*time_us);
                }
            };
            sqlx::query(sql).bind(now_us).bind(project.to_owned()).bind(name.clone())
        }))
    }

    fn erase_expired_texts(&self, now_us: i64) -> Answer<'_, u64> {
        Box::pin(self.erase(move || sqlx::query(include_str!("sql/erase_expired_texts.sql")).bind(now_us)))
    }

    fn reserve_idempotency<'a>(&'a self, wish: &'a ReservationRow) -> Answer<'a, Reservation> {
        Box::pin(self.reserve(wish))
    }

    fn idempotency<'a>(&'a self, request: &'a RequestKey, now_us: i64) -> Answer<'a, Option<IdempotencyRow>> {
        Box::pin(self.reservation(request, now_us))
    }

    fn renew_idempotency<'a>(
        &'a self,
        request: &'a RequestKey,
        fencing_token: i64,
        lease_until_us: i64,
    ) -> Answer<'a, bool> {
        Box::pin(self.renew(request, fencing_token, lease_until_us))
    }

    fn complete_idempotency<'a>(
        &'a self,
        request: &'a RequestKey,
        fencing_token: i64,
        end: &'a IdempotencyEnd,
    ) -> Answer<'a, bool> {
        Box::pin(self.complete(request, fencing_token, end))
    }

    fn delete_expired_idempotency(&self, now_us: i64) -> Answer<'_, u64> {
        Box::pin(self.delete_expired(now_us))
    }

    fn open_triage(&self) -> Answer<'_, Vec<(String, i64)>> {
        Box::pin(async move {
            let verb = "count the cases that wait";
            let rows = self.rows(verb, sqlx::query(include_str!("sql/open_triage.sql"))).await?;
            rows.iter().map(|row| Columns::of(row, verb).open_cases()).collect()
        })
    }

    fn model_facts<'a>(&'a self, project: &'a str) -> Answer<'a, Vec<ModelFactsRow>> {
        Box::pin(self.facts(project))
    }

    fn keep_model_facts<'a>(&'a self, facts: &'a [ModelFactsRow]) -> Answer<'a, ()> {
        Box::pin(self.keep_facts(facts))
    }

    fn run_cost<'a>(&'a self, project: &'a str, run: &'a str) -> Answer<'a, i64> {
        Box::pin(self.cost_of_run(project, run))
    }

    fn answered_calls<'a>(&'a self, project: &'a str, run: &'a str) -> Answer<'a, Vec<AnsweredCalls>> {
        Box::pin(self.calls_of_run(project, run))
    }

    fn ping(&self) -> Answer<'_, ()> {
        Box::pin(async move {
            let query = sqlx::query(include_str!("sql/ping.sql")).bind("");
            self.rows("ping the store", query).await.map(drop)
        })
    }

    fn close(&self) -> BoxFuture<'_, ()> {
        Box::pin(async move {
            self.stop.cancel();
            if let Some(checkpoints) = &self.pools.checkpoints {
                checkpoints.pool.close().await;
            }
            self.pools.readers.close().await;
            // Why: the last SQLite connection to go checkpoints and removes the log; that has to be the writer.
            self.pools.writer.close().await;
        })
    }
}

#[cfg(test)]
impl SqlStore {
    pub(crate) fn write_pool(&self) -> &sqlx::AnyPool {
        &self.pools.writer
    }

    pub(crate) fn read_pool(&self) -> &sqlx::AnyPool {
        &self.pools.readers
    }
}
