//! What every store has to do, written against the trait. Runs on SQLite always, and on Postgres too where
//! `TRIBUNAL_TEST_POSTGRES` holds the address of a server on which databases may be created.

mod access_keys;
mod idempotency;
mod laws;
pub(crate) mod rows;
mod run_work;
mod runs;
mod sqlite;
mod texts;

use std::future::Future;
use std::sync::Arc;

use secrecy::SecretString;
use sqlx::{AnyConnection, AssertSqlSafe, Connection, Executor};
use tokio_util::task::TaskTracker;

use super::{SqlStore, Store, StoreLocation};

/// Runs one law on a new store of each kind.
async fn on_each<F: Future<Output = ()>>(law: impl Fn(Arc<dyn Store>) -> F) {
    let folder = tempfile::tempdir().unwrap();
    let location = StoreLocation::Sqlite(folder.path().join("tribunal.db"));
    let store: Arc<dyn Store> = Arc::new(open(&location).await);
    law(Arc::clone(&store)).await;
    store.close().await;

    #[expect(clippy::disallowed_methods, reason = "the test run, not the program, is told where Postgres is")]
    let Ok(server) = std::env::var("TRIBUNAL_TEST_POSTGRES") else { return };
    let name = format!("tribunal_test_{}", std::process::id());
    let mut admin = AnyConnection::connect(&server).await.unwrap();
    let url = format!("{}/{name}", server.rsplit_once('/').unwrap().0);
    admin.execute(AssertSqlSafe(format!("DROP DATABASE IF EXISTS {name}"))).await.unwrap();
    admin.execute(AssertSqlSafe(format!("CREATE DATABASE {name}"))).await.unwrap();
    let location = StoreLocation::Postgres { url: SecretString::from(url), shown: "test".to_owned() };
    let store: Arc<dyn Store> = Arc::new(open(&location).await);
    law(Arc::clone(&store)).await;
    store.close().await;
    admin.execute(AssertSqlSafe(format!("DROP DATABASE {name}"))).await.unwrap();
}

async fn open(location: &StoreLocation) -> SqlStore {
    SqlStore::open(location, &TaskTracker::new()).await.unwrap()
}
