//! Brings the schema up to date when the store is opened. Migrations are append-only.

use std::borrow::Cow;

use sqlx::migrate::{MigrateError, Migration, MigrationType, Migrator};
use sqlx::{Connection, SqlStr};

use super::dialect::{Dialect, Pools};
use super::{StoreError, StoreLocation};

const MIGRATIONS: [(i64, &str, &str); 5] = [
    (1, "first", include_str!("migrations/0001_first.sql")),
    (2, "waiting triage", include_str!("migrations/0002_waiting_triage.sql")),
    (3, "model facts", include_str!("migrations/0003_model_facts.sql")),
    (4, "run work", include_str!("migrations/0004_run_work.sql")),
    (5, "access keys", include_str!("migrations/0005_access_keys.sql")),
];

/// Postgres counts by itself.
const OF_SQLITE: [(i64, &str, &str); 1] =
    [(6, "statistics", include_str!("migrations/0006_sqlite_statistics.sql"))];

pub(super) async fn migrate(pools: &Pools, location: &StoreLocation) -> Result<(), StoreError> {
    let newest = MIGRATIONS.iter().chain(&OF_SQLITE).map(|(version, ..)| *version).max().unwrap_or_default();
    run(pools).await.map_err(|error| match error {
        MigrateError::VersionMissing(found) if found > newest => {
            StoreError::NewerSchema { location: location.to_string(), found, known: newest }
        }
        source => StoreError::Migrate { location: location.to_string(), source },
    })
}

async fn run(pools: &Pools) -> Result<(), MigrateError> {
    let mut migrations = MIGRATIONS.map(migration).to_vec();
    if pools.dialect == Dialect::Sqlite {
        migrations.extend(OF_SQLITE.map(migration));
    }
    let migrator = Migrator::with_migrations(migrations);
    let mut connection = pools.writer.acquire().await?;
    match pools.dialect {
        // Why: on SQLite the migrator takes no lock of its own, and two programs may open a new file at once.
        Dialect::Sqlite => {
            let mut transaction = connection.begin_with(pools.dialect.begin_write()).await?;
            migrator.run_direct(None, &mut *transaction, false).await?;
            transaction.commit().await?;
            Ok(())
        }
        Dialect::Postgres => migrator.run_direct(None, &mut *connection, false).await,
    }
}

fn migration((version, name, sql): (i64, &'static str, &'static str)) -> Migration {
    Migration::new(version, Cow::Borrowed(name), MigrationType::Simple, SqlStr::from_static(sql), false)
}
