//! Keys under which a request is answered once. A reservation is one statement, so that two gateways cannot both have
//! it; it is written through, because what comes after it is paid for.

use sqlx::any::AnyRow;

use super::StoreError;
use super::columns::Word;
use super::read::Columns;
use super::rows::{IdempotencyEnd, IdempotencyRow, RequestKey, Reservation, ReservationRow};
use super::sql_store::SqlStore;
use super::statement::Bound;

/// A key may be let go between the refused reservation and the look at who has it.
const LOOKS: usize = 3;

impl SqlStore {
    pub(super) async fn reserve(&self, wish: &ReservationRow) -> Result<Reservation, StoreError> {
        let verb = "reserve an idempotency key";
        for _ in 0..LOOKS {
            let statement = bind_key(sqlx::query(include_str!("sql/reserve_idempotency.sql")), &wish.request)
                .bind(wish.body_hash.as_str())
                .bind(wish.lease_owner.as_str())
                .bind(wish.lease_until_us)
                .bind(wish.verdict_id.as_str())
                .bind(wish.created_us)
                .bind(wish.expires_us);
            if let Some(row) = self.write_returning(verb, statement).await?.first() {
                return Columns::of(row, verb).idempotency().map(Reservation::Ours);
            }
            if let Some(row) = self.reservation(&wish.request, wish.created_us).await? {
                return Ok(Reservation::Theirs(row));
            }
        }
        Err(StoreError::Unavailable { verb, source: sqlx::Error::RowNotFound })
    }

    pub(super) async fn reservation(
        &self,
        request: &RequestKey,
        now_us: i64,
    ) -> Result<Option<IdempotencyRow>, StoreError> {
        let verb = "look up an idempotency key";
        let query = bind_key(sqlx::query(include_str!("sql/idempotency.sql")), request).bind(now_us);
        let found: Vec<AnyRow> = self.rows(verb, query).await?;
        found.first().map(|row| Columns::of(row, verb).idempotency()).transpose()
    }

    pub(super) async fn renew(
        &self,
        request: &RequestKey,
        fencing_token: i64,
        lease_until_us: i64,
    ) -> Result<bool, StoreError> {
        let statement = bind_key(sqlx::query(include_str!("sql/renew_idempotency.sql")), request)
            .bind(fencing_token)
            .bind(lease_until_us);
        self.write("renew an idempotency key", statement).await.map(|rows| rows > 0)
    }

    pub(super) async fn complete(
        &self,
        request: &RequestKey,
        fencing_token: i64,
        end: &IdempotencyEnd,
    ) -> Result<bool, StoreError> {
        let statement = bind_key(sqlx::query(include_str!("sql/complete_idempotency.sql")), request)
            .bind(fencing_token)
            .bind(end.http_status)
            .bind(end.response_hash.as_deref());
        self.write("complete an idempotency key", statement).await.map(|rows| rows > 0)
    }

    pub(super) async fn delete_expired(&self, now_us: i64) -> Result<u64, StoreError> {
        let statement = sqlx::query(include_str!("sql/delete_expired_idempotency.sql")).bind(now_us);
        self.write("delete expired idempotency keys", statement).await
    }
}

fn bind_key<'q>(query: Bound<'q>, request: &'q RequestKey) -> Bound<'q> {
    query.bind(request.project.as_str()).bind(request.endpoint.word()).bind(request.key.as_str())
}
