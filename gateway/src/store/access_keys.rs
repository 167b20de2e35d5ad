//! Keys of all projects, and what each has spent by day. Knows no secret: of a key's text only the hash comes here.

use std::collections::BTreeMap;

use sqlx::{AnyConnection, Connection};

use super::dialect::Durability;
use super::read::Columns;
use super::rows::{AccessKeyRow, KeySpending, SpendingRow};
use super::sql_store::SqlStore;
use super::statement::{BindRow, Bound};
use super::{Answer, StoreError};

/// Keys of one store, revoked ones included: every gateway knows all of them in memory.
pub const MOST_KEYS: u32 = 10_000;

/// The verbs for keys; a part of the store.
pub trait AccessKeys: Send + Sync {
    /// Keeps a new key. Survives a power cut.
    fn add_access_key<'a>(&'a self, key: &'a AccessKeyRow) -> Answer<'a, ()>;

    /// Every key that was ever made, of all projects, oldest first; at most `MOST_KEYS`, and no more can be added.
    fn access_keys(&self) -> Answer<'_, Vec<AccessKeyRow>>;

    fn access_key<'a>(&'a self, id: &'a str) -> Answer<'a, Option<AccessKeyRow>>;

    /// From now on it opens nothing. False: there is no such key, or it was revoked before. Survives a power cut.
    fn revoke_access_key<'a>(&'a self, id: &'a str, now_us: i64) -> Answer<'a, bool>;

    /// What a key has spent from this day on (days since 1970, UTC), and when it was last used at all.
    fn key_spending<'a>(
        &'a self,
        project: &'a str,
        key_id: &'a str,
        from_day: i64,
    ) -> Answer<'a, KeySpending>;
}

/// What was added to the store.
enum Added {
    Kept,
    Full,
}

impl SqlStore {
    async fn add_key(&self, key: &AccessKeyRow) -> Result<Added, sqlx::Error> {
        let mut connection = self.writer(Durability::Power).await?;
        let mut transaction = connection.begin_with(self.pools.dialect.begin_write()).await?;
        if count_keys(&mut transaction).await? >= i64::from(MOST_KEYS) {
            transaction.rollback().await?;
            return Ok(Added::Full);
        }
        insert_key(key).execute(&mut *transaction).await?;
        transaction.commit().await?;
        self.note_written();
        Ok(Added::Kept)
    }
}

async fn count_keys(connection: &mut AnyConnection) -> Result<i64, sqlx::Error> {
    sqlx::query_scalar(include_str!("sql/count_access_keys.sql")).fetch_one(connection).await
}

fn insert_key(key: &AccessKeyRow) -> Bound<'_> {
    sqlx::query(include_str!("sql/insert_access_key.sql"))
        .bind(&key.id)
        .bind(&key.project)
        .bind(&key.name)
        .bind(&key.role)
        .bind(&key.may_ask)
        .bind(&key.sensitivity)
        .bind(key.budget_microusd)
        .bind(&key.budget_window)
        .bind(&key.secret_hash)
        .bind(key.created_us)
        .bind(key.expires_us)
        .bind(key.revoked_us)
}

impl AccessKeys for SqlStore {
    fn add_access_key<'a>(&'a self, key: &'a AccessKeyRow) -> Answer<'a, ()> {
        Box::pin(async move {
            match self.add_key(key).await.map_err(StoreError::of_verb("add a key"))? {
                Added::Kept => Ok(()),
                Added::Full => Err(StoreError::TooManyKeys { most: MOST_KEYS }),
            }
        })
    }

    fn access_keys(&self) -> Answer<'_, Vec<AccessKeyRow>> {
        Box::pin(async move {
            let verb = "list keys";
            let query = sqlx::query(include_str!("sql/access_keys.sql")).bind(i64::from(MOST_KEYS));
            let rows = self.rows(verb, query).await?;
            let keys: Result<Vec<AccessKeyRow>, StoreError> =
                rows.iter().map(|row| Columns::of(row, verb).access_key()).collect();
            let mut keys = keys?;
            keys.sort_by(|a, b| (a.created_us, &a.id).cmp(&(b.created_us, &b.id)));
            Ok(keys)
        })
    }

    fn access_key<'a>(&'a self, id: &'a str) -> Answer<'a, Option<AccessKeyRow>> {
        Box::pin(async move {
            let verb = "read a key";
            let rows = self.rows(verb, sqlx::query(include_str!("sql/access_key.sql")).bind(id)).await?;
            rows.first().map(|row| Columns::of(row, verb).access_key()).transpose()
        })
    }

    fn revoke_access_key<'a>(&'a self, id: &'a str, now_us: i64) -> Answer<'a, bool> {
        Box::pin(async move {
            let statement = sqlx::query(include_str!("sql/revoke_access_key.sql")).bind(id).bind(now_us);
            Ok(self.write("revoke a key", statement).await? > 0)
        })
    }

    fn key_spending<'a>(
        &'a self,
        project: &'a str,
        key_id: &'a str,
        from_day: i64,
    ) -> Answer<'a, KeySpending> {
        Box::pin(async move {
            let verb = "sum up what a key spent";
            let query = sqlx::query(include_str!("sql/key_spending.sql"));
            let rows = self.rows(verb, query.bind(project).bind(key_id).bind(from_day)).await?;
            rows.first().map_or(Ok(KeySpending::default()), |row| Columns::of(row, verb).key_spending())
        })
    }
}

/// One row for each key and day, all in one order: Postgres refuses a statement that updates a row twice, and
/// transactions that lock rows in different orders wait for each other for ever.
pub(super) fn summed<'a>(rows: impl IntoIterator<Item = &'a SpendingRow>) -> Vec<SpendingRow> {
    let mut sums: BTreeMap<(&str, &str, i64), SpendingRow> = BTreeMap::new();
    for row in rows {
        sums.entry((&row.project, &row.key_id, row.day))
            .and_modify(|sum| {
                sum.microusd = sum.microusd.saturating_add(row.microusd);
                sum.calls = sum.calls.saturating_add(row.calls);
            })
            .or_insert_with(|| row.clone());
    }
    sums.into_values().collect()
}

impl BindRow for SpendingRow {
    fn bind<'q>(&'q self, query: Bound<'q>) -> Bound<'q> {
        query
            .bind(self.project.as_str())
            .bind(self.key_id.as_str())
            .bind(self.day)
            .bind(self.microusd)
            .bind(self.calls)
    }
}
