//! Runs that gateways judge by themselves. Of several gateways one works on a run: it holds a lease that ends by the
//! database's clock, and a former holder can neither renew it nor end the run.

use std::time::Duration;

use sqlx::Connection;
use sqlx::any::AnyRow;

use super::append::Batch;
use super::columns::Word;
use super::dialect::Durability;
use super::read::Columns;
use super::rows::{InputCase, Lease, Record, RunEnd, RunRow, RunStatus, TakenRun};
use super::sql_store::{SqlStore, bind_end, insert_run};
use super::{Answer, StoreError};

/// The verbs for them; a part of the store.
pub trait RunWork: Send + Sync {
    /// Keeps a new run, its cases and what is to be done, in one transaction that survives a power cut.
    fn begin_run<'a>(&'a self, run: &'a RunRow, options: &'a str, records: &'a [Record]) -> Answer<'a, ()>;

    /// The oldest run that waits and that nobody holds, under a new lease; of runs that were asked to stop alone, if
    /// `only_stopping`.
    fn take_run<'a>(
        &'a self,
        owner: &'a str,
        lease: Duration,
        only_stopping: bool,
    ) -> Answer<'a, Option<TakenRun>>;

    /// Holds the lease from now on for this time; none at all lets go of it. `None`: another gateway has taken the
    /// run, or it has ended.
    fn renew_run<'a>(&'a self, taken: &'a TakenRun, lease: Duration) -> Answer<'a, Option<Lease>>;

    /// Ends a run and keeps its totals. False: the caller does not hold it any more, and nothing was written.
    fn end_taken_run<'a>(
        &'a self,
        taken: &'a TakenRun,
        end: &'a RunEnd,
        reason: Option<&'a str>,
    ) -> Answer<'a, bool>;

    /// Lets a run that has ended wait again. False: it has not ended, or no gateway judges it.
    fn queue_run_again<'a>(&'a self, project: &'a str, run: &'a str, options: &'a str) -> Answer<'a, bool>;

    /// Whoever holds the run, or takes it next, ends it soon. False: it does not wait.
    fn ask_run_to_stop<'a>(&'a self, project: &'a str, run: &'a str) -> Answer<'a, bool>;

    /// Runs of all projects that have not ended.
    fn waiting_runs(&self) -> Answer<'_, u64>;

    /// Cases of a run as they came in, from the first one after `after`.
    fn input_cases<'a>(&'a self, run: &'a RunRow, after: i64, limit: u32) -> Answer<'a, Vec<InputCase>>;
}

impl SqlStore {
    async fn database_now_us(&self, verb: &'static str) -> Result<i64, StoreError> {
        let rows = self.rows(verb, sqlx::query(self.pools.dialect.now())).await?;
        rows.first().map_or(Ok(0), |row| Columns::of(row, verb).now_us())
    }

    async fn begin(&self, run: &RunRow, options: &str, records: &[Record]) -> Result<(), sqlx::Error> {
        let batch = Batch::of(records);
        let mut connection = self.writer(Durability::Power).await?;
        let mut transaction = connection.begin_with(self.pools.dialect.begin_write()).await?;
        insert_run(run).execute(&mut *transaction).await?;
        let work = sqlx::query(include_str!("sql/insert_run_work.sql"));
        work.bind(&run.project).bind(&run.id).bind(options).execute(&mut *transaction).await?;
        batch.write(self.pools.dialect, &mut transaction).await?;
        transaction.commit().await
    }

    async fn take(
        &self,
        owner: &str,
        lease: Duration,
        only_stopping: bool,
    ) -> Result<Option<TakenRun>, StoreError> {
        let verb = "take a run";
        // Why: read before it is written, the time is a little old: a lease then ends early, never late.
        let now_us = self.database_now_us(verb).await?;
        let statement = sqlx::query(include_str!("sql/take_run.sql"))
            .bind(owner)
            .bind(now_us)
            .bind(after(now_us, lease))
            .bind(i64::from(only_stopping));
        let taken: Vec<AnyRow> = self.write_returning(verb, statement).await?;
        taken.first().map(|row| Columns::of(row, verb).taken_run()).transpose()
    }

    async fn renew_taken(&self, taken: &TakenRun, lease: Duration) -> Result<Option<Lease>, StoreError> {
        let verb = "renew the lease of a run";
        let now_us = self.database_now_us(verb).await?;
        let statement = sqlx::query(include_str!("sql/renew_run.sql"))
            .bind(&taken.project)
            .bind(&taken.run)
            .bind(taken.fencing_token)
            .bind(after(now_us, lease));
        let renewed = self.write_returning(verb, statement).await?;
        renewed.first().map(|row| Columns::of(row, verb).lease()).transpose()
    }

    async fn end_taken(
        &self,
        taken: &TakenRun,
        end: &RunEnd,
        reason: Option<&str>,
    ) -> Result<bool, StoreError> {
        let totals = self.totals(&taken.project, &taken.run).await?;
        let ended = async {
            let mut connection = self.writer(Durability::Power).await?;
            let mut transaction = connection.begin_with(self.pools.dialect.begin_write()).await?;
            let work = sqlx::query(include_str!("sql/end_run_work.sql"))
                .bind(&taken.project)
                .bind(&taken.run)
                .bind(taken.fencing_token)
                .bind(reason);
            if work.execute(&mut *transaction).await?.rows_affected() == 0 {
                transaction.rollback().await?;
                return Ok(false);
            }
            bind_end(&taken.project, &taken.run, end, &totals).execute(&mut *transaction).await?;
            transaction.commit().await?;
            self.note_written();
            Ok(true)
        };
        ended.await.map_err(StoreError::of_verb("end a run"))
    }

    async fn queue_again(&self, project: &str, run: &str, options: &str) -> Result<bool, sqlx::Error> {
        let mut connection = self.writer(Durability::Power).await?;
        let mut transaction = connection.begin_with(self.pools.dialect.begin_write()).await?;
        let work = sqlx::query(include_str!("sql/queue_run_again.sql")).bind(project).bind(run).bind(options);
        if work.execute(&mut *transaction).await?.rows_affected() == 0 {
            transaction.rollback().await?;
            return Ok(false);
        }
        let reopen = sqlx::query(include_str!("sql/reopen_run.sql")).bind(run).bind(project);
        reopen.bind(RunStatus::Running.word()).execute(&mut *transaction).await?;
        transaction.commit().await?;
        self.note_written();
        Ok(true)
    }
}

impl RunWork for SqlStore {
    fn begin_run<'a>(&'a self, run: &'a RunRow, options: &'a str, records: &'a [Record]) -> Answer<'a, ()> {
        Box::pin(async move {
            self.begin(run, options, records).await.map_err(StoreError::of_verb("begin a run"))?;
            self.note_written();
            Ok(())
        })
    }

    fn take_run<'a>(
        &'a self,
        owner: &'a str,
        lease: Duration,
        only_stopping: bool,
    ) -> Answer<'a, Option<TakenRun>> {
        Box::pin(self.take(owner, lease, only_stopping))
    }

    fn renew_run<'a>(&'a self, taken: &'a TakenRun, lease: Duration) -> Answer<'a, Option<Lease>> {
        Box::pin(self.renew_taken(taken, lease))
    }

    fn end_taken_run<'a>(
        &'a self,
        taken: &'a TakenRun,
        end: &'a RunEnd,
        reason: Option<&'a str>,
    ) -> Answer<'a, bool> {
        Box::pin(self.end_taken(taken, end, reason))
    }

    fn queue_run_again<'a>(&'a self, project: &'a str, run: &'a str, options: &'a str) -> Answer<'a, bool> {
        Box::pin(async move {
            let queued = self.queue_again(project, run, options).await;
            queued.map_err(StoreError::of_verb("queue a run again"))
        })
    }

    fn ask_run_to_stop<'a>(&'a self, project: &'a str, run: &'a str) -> Answer<'a, bool> {
        Box::pin(async move {
            let statement = sqlx::query(include_str!("sql/ask_run_to_stop.sql")).bind(project).bind(run);
            Ok(self.write("ask a run to stop", statement).await? > 0)
        })
    }

    fn waiting_runs(&self) -> Answer<'_, u64> {
        Box::pin(async move {
            let verb = "count the runs that wait";
            let rows = self.rows(verb, sqlx::query(include_str!("sql/waiting_runs.sql"))).await?;
            let count = rows.first().map_or(Ok(0), |row| Columns::of(row, verb).waiting_runs())?;
            Ok(u64::try_from(count).unwrap_or(0))
        })
    }

    fn input_cases<'a>(&'a self, run: &'a RunRow, after: i64, limit: u32) -> Answer<'a, Vec<InputCase>> {
        Box::pin(async move {
            let verb = "read the cases of a run";
            let query = sqlx::query(include_str!("sql/input_cases.sql"))
                .bind(&run.project)
                .bind(&run.id)
                .bind(&run.panel)
                .bind(after)
                .bind(i64::from(limit));
            let rows = self.rows(verb, query).await?;
            rows.iter().map(|row| Columns::of(row, verb).input_case()).collect()
        })
    }
}

fn after(now_us: i64, lease: Duration) -> i64 {
    now_us.saturating_add(i64::try_from(lease.as_micros()).unwrap_or(i64::MAX))
}
