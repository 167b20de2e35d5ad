use futures::FutureExt;

use super::*;
use crate::store::conformance::rows::{PROJECT, RUN, judgment, judgments, triage, verdict, verdicts};
use crate::store::{SqlStore, StoreLocation};

struct Opened {
    store: Arc<SqlStore>,
    recorder: Recorder,
    tasks: TaskTracker,
    folder: tempfile::TempDir,
}

async fn open(settings: RecorderSettings) -> Opened {
    let folder = tempfile::tempdir().unwrap();
    let tasks = TaskTracker::new();
    let location = StoreLocation::Sqlite(folder.path().join("a.db"));
    let store = Arc::new(SqlStore::open(&location, &tasks).await.unwrap());
    let recorder = Recorder::start(Arc::<SqlStore>::clone(&store), &tasks, settings);
    Opened { store, recorder, tasks, folder }
}

impl Opened {
    /// Another program that holds the file's write lock; the store under test does not wait for it.
    async fn lock(&self) -> (SqlStore, sqlx::Transaction<'static, sqlx::Any>) {
        let location = StoreLocation::Sqlite(self.folder.path().join("a.db"));
        let other = SqlStore::open(&location, &self.tasks).await.unwrap();
        sqlx::query("PRAGMA busy_timeout = 0").execute(self.store.write_pool()).await.unwrap();
        let lock = other.write_pool().begin_with("BEGIN IMMEDIATE").await.unwrap();
        (other, lock)
    }

    async fn stored(&self, case_id: &str) -> usize {
        self.store.judgments_of_case(PROJECT, RUN, case_id).await.unwrap().len()
    }
}

fn one(case_id: &str) -> Vec<Record> {
    judgments([judgment(case_id, "a")])
}

#[tokio::test]
async fn what_is_acknowledged_is_in_the_store() {
    let opened = open(RecorderSettings::default()).await;
    let judged = opened.recorder.submit(one("q1")).await.unwrap();
    opened.recorder.record(verdicts([verdict("q1")])).await.unwrap();
    assert_eq!(opened.store.verdict(PROJECT, "v-q1").await.unwrap(), Some(verdict("q1")));
    // The judgment was queued first, so it is there too, whether or not anyone asked.
    assert_eq!(opened.stored("q1").await, 1);
    judged.committed().await.unwrap();
}

#[tokio::test]
async fn what_is_queued_shares_a_commit() {
    let opened = open(RecorderSettings::default()).await;
    let mut acks = Vec::new();
    for case in 0..50 {
        acks.push(opened.recorder.submit(one(&format!("q{case}"))).await.unwrap());
    }
    assert_eq!(opened.recorder.stats().waiting_records, 50);
    for ack in acks {
        ack.committed().await.unwrap();
    }
    let stats = opened.recorder.stats();
    assert_eq!((stats.committed_records, stats.failed_records, stats.waiting_records), (50, 0, 0));
    assert_eq!(stats.commits, 1);
}

#[tokio::test]
async fn a_batch_stays_below_its_size() {
    let opened = open(RecorderSettings { batch_records: 10, ..RecorderSettings::default() }).await;
    let mut acks = Vec::new();
    for case in 0..50 {
        acks.push(opened.recorder.submit(one(&format!("q{case}"))).await.unwrap());
    }
    for ack in acks {
        ack.committed().await.unwrap();
    }
    assert_eq!(opened.recorder.stats().commits, 5);
}

#[tokio::test]
async fn a_full_queue_makes_senders_wait() {
    let opened = open(RecorderSettings { queue_capacity: 2, ..RecorderSettings::default() }).await;
    let first = opened.recorder.submit(one("q1")).now_or_never().unwrap();
    let second = opened.recorder.submit(one("q2")).now_or_never().unwrap();
    assert!(opened.recorder.submit(one("q3")).now_or_never().is_none());
    first.unwrap().committed().await.unwrap();
    second.unwrap().committed().await.unwrap();
    opened.recorder.record(one("q4")).await.unwrap();
    assert_eq!((opened.stored("q3").await, opened.stored("q4").await), (0, 1));
}

#[tokio::test]
async fn closing_commits_what_is_queued_and_takes_no_more() {
    let opened = open(RecorderSettings::default()).await;
    for case_id in ["q1", "q2"] {
        // Nobody waits for these.
        drop(opened.recorder.submit(one(case_id)).await.unwrap());
    }
    opened.recorder.close().await;
    assert_eq!((opened.stored("q1").await, opened.stored("q2").await), (1, 1));
    let late = opened.recorder.record(one("q3")).await;
    assert!(matches!(late, Err(RecorderError::Stopped)), "{late:?}");
    opened.recorder.close().await;
}

#[tokio::test]
async fn the_writer_ends_with_its_last_handle() {
    let Opened { store, recorder, tasks, folder: _folder } = open(RecorderSettings::default()).await;
    let ack = recorder.clone().submit(one("q1")).await.unwrap();
    drop(recorder);
    ack.committed().await.unwrap();
    store.close().await;
    tasks.close();
    tasks.wait().await;
}

#[tokio::test]
async fn a_refused_record_takes_no_other_with_it() {
    let opened = open(RecorderSettings::default()).await;
    sqlx::query("DROP TABLE triage").execute(opened.store.write_pool()).await.unwrap();
    let before = opened.recorder.submit(one("q1")).await.unwrap();
    let refused = opened.recorder.submit(vec![Record::Triage(Box::new(triage("q2")))]).await.unwrap();
    let after = opened.recorder.submit(one("q3")).await.unwrap();
    before.committed().await.unwrap();
    let error = refused.committed().await.unwrap_err();
    assert!(matches!(&error, RecorderError::Store(cause) if !cause.is_transient()), "{error:?}");
    after.committed().await.unwrap();
    assert_eq!((opened.stored("q1").await, opened.stored("q3").await), (1, 1));
    let stats = opened.recorder.stats();
    assert_eq!((stats.committed_records, stats.failed_records, stats.waiting_records), (2, 1, 0));
}

#[tokio::test]
async fn a_busy_database_is_tried_again() {
    let opened = open(RecorderSettings::default()).await;
    let (_other, lock) = opened.lock().await;
    let release = async {
        while opened.recorder.stats().retries == 0 {
            tokio::task::yield_now().await;
        }
        lock.rollback().await.unwrap();
    };
    let (committed, ()) = tokio::join!(opened.recorder.record(one("q1")), release);
    assert!(committed.unwrap().record_us >= 50_000);
    assert_eq!(opened.stored("q1").await, 1);
}

#[tokio::test]
async fn a_database_that_stays_busy_is_an_error_for_all_who_wait() {
    let opened = open(RecorderSettings::default()).await;
    let (_other, _lock) = opened.lock().await;
    let first = opened.recorder.submit(one("q1")).await.unwrap();
    let second = opened.recorder.submit(one("q2")).await.unwrap();
    for ack in [first, second] {
        let error = ack.committed().await.unwrap_err();
        assert!(matches!(&error, RecorderError::Store(cause) if cause.is_transient()), "{error:?}");
    }
    assert_eq!(opened.recorder.stats().retries, 2);
    assert_eq!(opened.recorder.stats().failed_records, 2);
}
