//! What is kept, and how the rest of the gateway asks for it. Knows tables and transactions; must not know panels,
//! judges or HTTP, draws no ids and reads no clock.
//!
//! Numbers are append-only and live apart from texts, which can be erased. Every verb names its `project`.

mod access_keys;
mod append;
mod checkpoint;
mod columns;
mod dialect;
mod erasure;
mod error;
mod idempotency;
mod key_rows;
mod location;
mod migrations;
mod model_facts;
mod read;
pub mod rows;
mod run_work;
mod sql_store;
mod statement;

#[cfg(test)]
pub(crate) mod conformance;

use futures::future::BoxFuture;

pub use self::access_keys::{AccessKeys, MOST_KEYS};
pub use self::error::StoreError;
pub use self::location::StoreLocation;
use self::rows::{
    AnsweredCalls, FinishedCase, IdempotencyEnd, IdempotencyRow, JudgmentRow, ModelFactsRow, Record,
    RequestKey, Reservation, ReservationRow, RunEnd, RunRow, RunSummary, StoredText, TextSelection,
    VerdictRow, VersionKind, VersionRow,
};
pub use self::run_work::RunWork;
pub use self::sql_store::SqlStore;

/// What every verb returns.
pub type Answer<'a, T> = BoxFuture<'a, Result<T, StoreError>>;

/// The store's verbs. `SqlStore` is the real one; the trait is the seam for a slow or failing one in tests.
pub trait Store: RunWork + AccessKeys + std::fmt::Debug {
    /// Appends all records in one transaction, as few multi-row statements. Repeating it changes nothing: the first
    /// judgment of its (run, case, judge, criterion, order, sample, revision) stands, and so on. Only
    /// `Record::Spending` is added to what is there, each time it is appended.
    fn append<'a>(&'a self, records: &'a [Record]) -> Answer<'a, Appended>;

    fn create_run<'a>(&'a self, run: &'a RunRow) -> Answer<'a, ()>;

    /// Sets a run to running again, before it is resumed.
    fn reopen_run<'a>(&'a self, project: &'a str, run: &'a str) -> Answer<'a, ()>;

    /// Ends a run and keeps its totals.
    fn finish_run<'a>(&'a self, project: &'a str, run: &'a str, end: &'a RunEnd) -> Answer<'a, RunSummary>;

    fn run<'a>(&'a self, project: &'a str, run: &'a str) -> Answer<'a, Option<RunSummary>>;

    /// The newest runs first.
    fn runs<'a>(&'a self, project: &'a str, limit: u32) -> Answer<'a, Vec<RunSummary>>;

    fn last_run<'a>(&'a self, project: &'a str) -> Answer<'a, Option<RunSummary>> {
        Box::pin(async move { Ok(self.runs(project, 1).await?.into_iter().next()) })
    }

    /// Cases of a run that have a verdict, by case id, from the first one after `after`.
    fn finished_cases<'a>(
        &'a self,
        project: &'a str,
        run: &'a str,
        after: Option<&'a str>,
        limit: u32,
    ) -> Answer<'a, Vec<FinishedCase>>;

    /// Those of `case_ids` that have a verdict in this run: what a resumed run skips, at constant memory.
    fn finished_among<'a>(
        &'a self,
        project: &'a str,
        run: &'a str,
        case_ids: &'a [String],
    ) -> Answer<'a, Vec<FinishedCase>>;

    /// The newest revision of each judgment of a case: what a resumed case need not ask again.
    fn judgments_of_case<'a>(
        &'a self,
        project: &'a str,
        run: &'a str,
        case_id: &'a str,
    ) -> Answer<'a, Vec<JudgmentRow>>;

    /// Cases of a run that have a judgment, finished or not, by case id, from the first one after `after`.
    fn judged_cases<'a>(
        &'a self,
        project: &'a str,
        run: &'a str,
        after: Option<&'a str>,
        limit: u32,
    ) -> Answer<'a, Vec<String>>;

    /// For each cache key the ratings of its newest call that is not older than `since_us`, grouped by key.
    fn cached_judgments<'a>(
        &'a self,
        project: &'a str,
        cache_keys: &'a [String],
        since_us: i64,
    ) -> Answer<'a, Vec<JudgmentRow>>;

    fn verdict<'a>(&'a self, project: &'a str, id: &'a str) -> Answer<'a, Option<VerdictRow>>;

    /// The newest verdict of one case of a run.
    fn verdict_of_case<'a>(
        &'a self,
        project: &'a str,
        run: &'a str,
        case_id: &'a str,
    ) -> Answer<'a, Option<VerdictRow>>;

    /// The newest verdict of each case, by case id, from the first one after `after`.
    fn verdicts_of_run<'a>(
        &'a self,
        project: &'a str,
        run: &'a str,
        after: Option<&'a str>,
        limit: u32,
    ) -> Answer<'a, Vec<VerdictRow>>;

    fn version<'a>(
        &'a self,
        project: &'a str,
        kind: VersionKind,
        hash: &'a str,
    ) -> Answer<'a, Option<VersionRow>>;

    /// Texts of a case by hash, tombstones included; one hash may stand for several kinds, sources and panels.
    fn texts<'a>(
        &'a self,
        project: &'a str,
        case_id: &'a str,
        hashes: &'a [String],
    ) -> Answer<'a, Vec<StoredText>>;

    /// Erases texts and leaves tombstones; returns how many. Numbers stay.
    fn erase_texts<'a>(
        &'a self,
        project: &'a str,
        selection: &'a TextSelection,
        now_us: i64,
    ) -> Answer<'a, u64>;

    /// Erases the texts of all projects whose retention has ended before `now_us`; returns how many.
    fn erase_expired_texts(&self, now_us: i64) -> Answer<'_, u64>;

    /// Reserves a key at `wish.created_us`: one that is free or expired, or whose owner let its lease run out on the
    /// same body. Survives a power cut.
    fn reserve_idempotency<'a>(&'a self, wish: &'a ReservationRow) -> Answer<'a, Reservation>;

    /// Who has the key, or how its request was answered; `None`: free or expired.
    fn idempotency<'a>(&'a self, request: &'a RequestKey, now_us: i64) -> Answer<'a, Option<IdempotencyRow>>;

    /// Moves the end of the lease; an end in the past lets go of it. False: the caller is not the owner any more.
    fn renew_idempotency<'a>(
        &'a self,
        request: &'a RequestKey,
        fencing_token: i64,
        lease_until_us: i64,
    ) -> Answer<'a, bool>;

    /// Keeps how the request was answered. False: the caller is not the owner any more, and nothing was kept.
    fn complete_idempotency<'a>(
        &'a self,
        request: &'a RequestKey,
        fencing_token: i64,
        end: &'a IdempotencyEnd,
    ) -> Answer<'a, bool>;

    /// Deletes some keys, of all projects, that have expired; returns how many.
    fn delete_expired_idempotency(&self, now_us: i64) -> Answer<'_, u64>;

    /// How many cases wait for a person, by project: what a metric shows.
    fn open_triage(&self) -> Answer<'_, Vec<(String, i64)>>;

    /// What each model turned out to refuse.
    fn model_facts<'a>(&'a self, project: &'a str) -> Answer<'a, Vec<ModelFactsRow>>;

    /// Replaces what was known of these models.
    fn keep_model_facts<'a>(&'a self, facts: &'a [ModelFactsRow]) -> Answer<'a, ()>;

    /// Millionths of a US dollar that the stored judgments of a run are known to have cost.
    fn run_cost<'a>(&'a self, project: &'a str, run: &'a str) -> Answer<'a, i64>;

    /// The judgments of a run by judge, source and answering model.
    fn answered_calls<'a>(&'a self, project: &'a str, run: &'a str) -> Answer<'a, Vec<AnsweredCalls>>;

    /// Whether the store answers.
    fn ping(&self) -> Answer<'_, ()>;

    /// Finishes what is under way and lets go of the database.
    fn close(&self) -> BoxFuture<'_, ()>;
}

/// What an append took.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Appended {
    /// `INSERT` statements in the transaction.
    pub statements: usize,
}
