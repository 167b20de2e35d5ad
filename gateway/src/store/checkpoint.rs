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

/// A log longer than this is cut to nothing; readers that are still in it are waited for.
const LONGEST_WAL_BYTES: u64 = 64 * 1024 * 1024;

/// Runs until `stop`; `written` is notified after each commit.
pub(super) async fn run(checkpoints: Checkpoints, written: Arc<Notify>, stop: CancellationToken) {
    loop {
        tokio::select! {
            () = stop.cancelled() => break,
            () = written.notified() => {}
        }
        match shorten(&checkpoints, LONGEST_WAL_BYTES).await {
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

/// Copies what it can without waiting for anyone; cuts the log only when it has grown too long or must not stay.
async fn shorten(checkpoints: &Checkpoints, longest_bytes: u64) -> Result<(), sqlx::Error> {
    checkpoints.pool.execute("PRAGMA wal_checkpoint(PASSIVE)").await?;
    let length_bytes = tokio::fs::metadata(&checkpoints.wal).await.map_or(0, |wal| wal.len());
    if length_bytes > longest_bytes || checkpoints.is_owed.load(Ordering::Acquire) {
        truncate(checkpoints).await?;
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
    async fn a_log_that_is_too_long_is_cut() {
        let folder = tempfile::tempdir().unwrap();
        let location = StoreLocation::Sqlite(folder.path().join("a.db"));
        let pools = Pools::connect(&location).await.unwrap();
        migrations::migrate(&pools, &location).await.unwrap();
        let checkpoints = pools.checkpoints.unwrap();
        let length = || std::fs::metadata(&checkpoints.wal).unwrap().len();
        assert!(length() > 0, "commits do not checkpoint");
        shorten(&checkpoints, u64::MAX).await.unwrap();
        assert!(length() > 0, "a short log stays as it is");
        shorten(&checkpoints, 1).await.unwrap();
        assert_eq!(length(), 0);
    }

    #[tokio::test]
    async fn a_cut_that_a_reader_held_up_is_made_up_for() {
        let folder = tempfile::tempdir().unwrap();
        let location = StoreLocation::Sqlite(folder.path().join("a.db"));
        let pools = Pools::connect(&location).await.unwrap();
        migrations::migrate(&pools, &location).await.unwrap();
        let checkpoints = pools.checkpoints.unwrap();
        checkpoints.pool.execute("PRAGMA busy_timeout = 0").await.unwrap();
        let length = || std::fs::metadata(&checkpoints.wal).unwrap().len();
        let mut reader = pools.readers.begin().await.unwrap();
        reader.execute("SELECT id FROM runs").await.unwrap();
        truncate(&checkpoints).await.unwrap();
        assert!(length() > 0);
        reader.rollback().await.unwrap();
        shorten(&checkpoints, u64::MAX).await.unwrap();
        assert_eq!(length(), 0);
    }
}
