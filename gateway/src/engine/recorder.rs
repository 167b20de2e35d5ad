//! The single writer: takes records from everywhere, commits whatever is queued, and tells each sender.
//!
//! It never lingers: a batch is what came while the last one was being committed. It must not know what records mean.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use tokio::sync::{mpsc, oneshot};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::store::rows::Record;
use crate::store::{Store, StoreError};

/// How much may wait and how much is committed at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RecorderSettings {
    /// Submissions that may wait; further ones wait for a place.
    pub queue_capacity: usize,
    /// A batch takes no further submission once it has this many records.
    pub batch_records: usize,
}

impl Default for RecorderSettings {
    fn default() -> Self {
        Self { queue_capacity: 1024, batch_records: 512 }
    }
}

/// Handle to the writer; clones share it.
#[derive(Debug, Clone)]
pub struct Recorder {
    sender: mpsc::Sender<Submission>,
    shared: Arc<Shared>,
}

/// The records are in the database.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Committed {
    /// From submission to commit, in microseconds.
    pub record_us: u64,
}

#[derive(Debug, Clone, thiserror::Error)]
pub enum RecorderError {
    #[error("the recorder has stopped")]
    Stopped,
    #[error("the store did not take the records")]
    Store(#[source] Arc<StoreError>),
}

/// Counters since start, for metrics.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct RecorderStats {
    /// Records that are queued or being committed now.
    pub waiting_records: u64,
    pub committed_records: u64,
    pub failed_records: u64,
    /// Transactions that were committed.
    pub commits: u64,
    /// Batches that were tried again because the database was busy or unreachable.
    pub retries: u64,
}

/// Resolves when the records are committed. Dropping it does not withdraw them.
#[derive(Debug)]
pub struct Ack {
    receiver: oneshot::Receiver<Answer>,
}

impl Ack {
    pub async fn committed(self) -> Result<Committed, RecorderError> {
        match self.receiver.await {
            Ok(answer) => answer.map_err(RecorderError::Store),
            Err(_) => Err(RecorderError::Stopped),
        }
    }
}

impl Recorder {
    /// Starts the writer on `tasks`. It ends after `close`, or when the last handle is gone; either way it first
    /// commits what is queued.
    pub fn start(store: Arc<dyn Store>, tasks: &TaskTracker, settings: RecorderSettings) -> Self {
        let (sender, receiver) = mpsc::channel(settings.queue_capacity.max(1));
        let shared = Arc::new(Shared::default());
        tasks.spawn(write(store, receiver, Arc::clone(&shared), settings.batch_records));
        Self { sender, shared }
    }

    /// Records of one submission are committed together, after those submitted before. Waits only for a place in
    /// the queue; from then on the records are the writer's, whatever becomes of the caller.
    pub async fn submit(&self, records: Vec<Record>) -> Result<Ack, RecorderError> {
        let queued = Instant::now();
        let place = self.sender.reserve().await.map_err(|_| RecorderError::Stopped)?;
        let (answer, receiver) = oneshot::channel();
        self.shared.waiting_records.fetch_add(count(&records), Ordering::Relaxed);
        place.send(Submission { records, queued, answer });
        Ok(Ack { receiver })
    }

    /// Submits the records and waits until they are committed.
    pub async fn record(&self, records: Vec<Record>) -> Result<Committed, RecorderError> {
        self.submit(records).await?.committed().await
    }

    pub fn stats(&self) -> RecorderStats {
        self.shared.stats()
    }

    /// Takes no more, commits what is queued, and waits until that is done.
    pub async fn close(&self) {
        self.shared.closing.cancel();
        self.shared.done.cancelled().await;
    }
}

type Answer = Result<Committed, Arc<StoreError>>;

#[derive(Debug)]
struct Submission {
    records: Vec<Record>,
    queued: Instant,
    answer: oneshot::Sender<Answer>,
}

/// What handles and writer share.
#[derive(Debug, Default)]
struct Shared {
    closing: CancellationToken,
    done: CancellationToken,
    waiting_records: AtomicU64,
    committed_records: AtomicU64,
    failed_records: AtomicU64,
    commits: AtomicU64,
    retries: AtomicU64,
}

impl Shared {
    fn stats(&self) -> RecorderStats {
        RecorderStats {
            waiting_records: self.waiting_records.load(Ordering::Relaxed),
            committed_records: self.committed_records.load(Ordering::Relaxed),
            failed_records: self.failed_records.load(Ordering::Relaxed),
            commits: self.commits.load(Ordering::Relaxed),
            retries: self.retries.load(Ordering::Relaxed),
        }
    }

    fn settle(&self, records: u64, is_committed: bool) {
        let counter = if is_committed { &self.committed_records } else { &self.failed_records };
        counter.fetch_add(records, Ordering::Relaxed);
        self.waiting_records.fetch_sub(records, Ordering::Relaxed);
    }
}

/// Pauses before a batch that met a busy or unreachable database is tried again; then its senders get the error.
const RETRY_PAUSES: [Duration; 2] = [Duration::from_millis(50), Duration::from_millis(250)];

/// The writer task.
async fn write(
    store: Arc<dyn Store>,
    mut receiver: mpsc::Receiver<Submission>,
    shared: Arc<Shared>,
    batch_records: usize,
) {
    // Invariant: whoever waits in `close` is let go when this task ends, in whatever way.
    let _done = shared.done.clone().drop_guard();
    loop {
        let first = tokio::select! {
            () = shared.closing.cancelled(), if !receiver.is_closed() => {
                receiver.close();
                continue;
            }
            first = receiver.recv() => first,
        };
        let Some(first) = first else { break };
        let batch = Batch::gather(first, &mut receiver, batch_records);
        commit(store.as_ref(), &shared, batch).await;
    }
}

/// Submissions that are committed together.
#[derive(Debug, Default)]
struct Batch {
    records: Vec<Record>,
    /// In the order of their records.
    waiters: VecDeque<Waiter>,
}

#[derive(Debug)]
struct Waiter {
    records: usize,
    queued: Instant,
    answer: oneshot::Sender<Answer>,
}

impl Batch {
    fn gather(first: Submission, receiver: &mut mpsc::Receiver<Submission>, batch_records: usize) -> Self {
        let mut batch = Self::default();
        batch.push(first);
        while batch.records.len() < batch_records {
            match receiver.try_recv() {
                Ok(submission) => batch.push(submission),
                Err(_) => break,
            }
        }
        batch
    }

    fn push(&mut self, submission: Submission) {
        let Submission { mut records, queued, answer } = submission;
        self.waiters.push_back(Waiter { records: records.len(), queued, answer });
        self.records.append(&mut records);
    }
}

/// Commits the batch; when the database refuses it, each submission by itself, so that one bad record does not take
/// the paid judgments of others with it.
async fn commit(store: &dyn Store, shared: &Shared, batch: Batch) {
    let Batch { records, waiters } = batch;
    let outcome = append(store, shared, &records).await;
    if let (Err(error), true) = (&outcome, waiters.len() > 1)
        && !error.is_transient()
    {
        let mut rest = records.as_slice();
        for waiter in waiters {
            let (own, after) = rest.split_at_checked(waiter.records).unwrap_or((rest, &[]));
            rest = after;
            let outcome = append(store, shared, own).await;
            answer(shared, waiter, outcome);
        }
        return;
    }
    for waiter in waiters {
        answer(shared, waiter, outcome.clone());
    }
}

async fn append(store: &dyn Store, shared: &Shared, records: &[Record]) -> Result<(), Arc<StoreError>> {
    let mut pauses = RETRY_PAUSES.iter();
    loop {
        let Err(error) = store.append(records).await else {
            shared.commits.fetch_add(1, Ordering::Relaxed);
            return Ok(());
        };
        match pauses.next() {
            Some(pause) if error.is_transient() => {
                shared.retries.fetch_add(1, Ordering::Relaxed);
                tokio::time::sleep(*pause).await;
            }
            Some(_) | None => {
                tracing::error!(error = %error, records = records.len(), "records were not committed");
                return Err(Arc::new(error));
            }
        }
    }
}

fn answer(shared: &Shared, waiter: Waiter, outcome: Result<(), Arc<StoreError>>) {
    shared.settle(u64::try_from(waiter.records).unwrap_or(u64::MAX), outcome.is_ok());
    let record_us = u64::try_from(waiter.queued.elapsed().as_micros()).unwrap_or(u64::MAX);
    // A sender that no longer listens has its records all the same.
    drop(waiter.answer.send(outcome.map(|()| Committed { record_us })));
}

fn count(records: &[Record]) -> u64 {
    u64::try_from(records.len()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests;
