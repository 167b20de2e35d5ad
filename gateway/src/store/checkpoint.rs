//! Moves SQLite's write-ahead log into the database file, on its own connection: a commit never pays for it.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use sqlx::{Executor, Row};
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

use super::dialect::Checkpoints;

/// Least time between two checkpoints.
const PAUSE: Duration = Duration::from_millis(250);

/// A log of more frames (a page of 4 KiB each) is written from its beginning again.
const MOST_FRAMES: i64 = 16 * 1024;

/// Writers wait while the log starts again. A reader that is in it for longer is not waited for: the next checkpoint
/// tries again.
const START_AGAIN: &str =
    "PRAGMA busy_timeout = 100; PRAGMA wal_checkpoint(RESTART); PRAGMA busy_timeout = 5000;";

/// Runs until `stop`; `written` is notified after each commit.
pub(super) async fn run(checkpoints: Checkpoints, written: Arc<Notify>, stop: CancellationToken) {
    loop {
        tokio::select! {
            () = stop.cancelled() => break,
            () = written.notified() => {}
        }
        match shorten(&checkpoints, MOST_FRAMES).await {
            Ok(()) => {}
            // The store is closing, and its last connection writes the log back.
            Err(sqlx::Error::PoolClosed) => break,
            Err(error) => tracing::warn!(error = %error, "write-ahead log was not checkpointed"),
        }
        tokio::select! {
            () = stop.cancelled() => break,
            () = tokio::time::sleep(PAUSE) => {}
        }
    }
}

/// Copies what it can without waiting for anyone. A log that has grown too long starts again, in a file that keeps its
/// length: to cut it holds writers up for many times longer. It is cut when it must not stay.
async fn shorten(checkpoints: &Checkpoints, most_frames: i64) -> Result<(), sqlx::Error> {
    let row = checkpoints.pool.fetch_one("PRAGMA wal_checkpoint(PASSIVE)").await?;
    if checkpoints.is_owed.load(Ordering::Acquire) {
        truncate(checkpoints).await?;
    } else if row.try_get::<i64, _>(1)? > most_frames {
        checkpoints.pool.execute(START_AGAIN).await?;
    }
    Ok(())
}

/// Cuts the log to nothing, erased texts included. Readers that are still in it are waited for; when they take too
/// long the cut is owed, and the next checkpoint tries again.
pub(super) async fn truncate(checkpoints: &Checkpoints) -> Result<(), sqlx::Error> {
    checkpoints.is_owed.store(true, Ordering::Release);
    let row = checkpoints.pool.fetch_one("PRAGMA wal_checkpoint(TRUNCATE)").await?;
    let is_busy = row.try_get::<i64, _>(0)? != 0;
    checkpoints.is_owed.store(is_busy, Ordering::Release);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::dialect::Pools;
    use crate::store::{StoreLocation, migrations};

    #[tokio::test]
    async fn a_log_that_is_too_long_starts_again_in_its_file() {
        let folder = tempfile::tempdir().unwrap();
        let location = StoreLocation::Sqlite(folder.path().join("a.db"));
        let pools = Pools::connect(&location).await.unwrap();
        migrations::migrate(&pools, &location).await.unwrap();
        let checkpoints = pools.checkpoints.unwrap();
        let length = || std::fs::metadata(folder.path().join("a.db-wal")).unwrap().len();
        let frames = async || {
            let row = checkpoints.pool.fetch_one("PRAGMA wal_checkpoint(PASSIVE)").await.unwrap();
            row.get::<i64, _>(1)
        };
        let write = async |number: u8| {
            let statement = format!("PRAGMA user_version = {number}");
            pools.writer.execute(sqlx::AssertSqlSafe(statement)).await.unwrap();
        };
        write(1).await;
        let length_before = length();
        assert!(length_before > 0, "commits do not checkpoint");
        shorten(&checkpoints, i64::MAX).await.unwrap();
        assert!(frames().await > 0, "a short log stays as it is");
        shorten(&checkpoints, 0).await.unwrap();
        write(2).await;
        assert_eq!((frames().await, length()), (1, length_before));
    }

    #[tokio::test]
    async fn a_reader_in_a_log_that_is_too_long_is_waited_for_a_moment() {
        let folder = tempfile::tempdir().unwrap();
        let location = StoreLocation::Sqlite(folder.path().join("a.db"));
        let pools = Pools::connect(&location).await.unwrap();
        migrations::migrate(&pools, &location).await.unwrap();
        let checkpoints = pools.checkpoints.unwrap();
        let mut reader = pools.readers.begin().await.unwrap();
        reader.execute("SELECT id FROM runs").await.unwrap();
        let took = async || {
            let begun = tokio::time::Instant::now();
            shorten(&checkpoints, 0).await.unwrap();
            begun.elapsed()
        };
        // To copy what it can it would not wait at all; to cut the log it would wait for five seconds.
        let with_reader = took().await;
        assert!(with_reader > Duration::from_millis(80), "{with_reader:?}");
        assert!(with_reader < Duration::from_secs(4), "{with_reader:?}");
        pools.writer.execute("PRAGMA user_version = 7").await.unwrap();
        reader.rollback().await.unwrap();
        shorten(&checkpoints, 0).await.unwrap();
        pools.writer.execute("PRAGMA user_version = 8").await.unwrap();
        let row = checkpoints.pool.fetch_one("PRAGMA wal_checkpoint(PASSIVE)").await.unwrap();
        assert_eq!(row.get::<i64, _>(1), 1, "with nobody in it the log starts again");
    }

    #[tokio::test]
    async fn a_cut_that_a_reader_held_up_is_made_up_for() {
        let folder = tempfile::tempdir().unwrap();
        let location = StoreLocation::Sqlite(folder.path().join("a.db"));
        let pools = Pools::connect(&location).await.unwrap();
        migrations::migrate(&pools, &location).await.unwrap();
        let checkpoints = pools.checkpoints.unwrap();
        checkpoints.pool.execute("PRAGMA busy_timeout = 0").await.unwrap();
        let length = || std::fs::metadata(folder.path().join("a.db-wal")).unwrap().len();
        let mut reader = pools.readers.begin().await.unwrap();
        reader.execute("SELECT id FROM runs").await.unwrap();
        truncate(&checkpoints).await.unwrap();
        assert!(length() > 0);
        reader.rollback().await.unwrap();
        shorten(&checkpoints, i64::MAX).await.unwrap();
        assert_eq!(length(), 0);
    }
}
