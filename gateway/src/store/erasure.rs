//! Texts that are erased leave no copy in the database's files.

use sqlx::Executor;

use super::dialect::Durability;
use super::sql_store::SqlStore;
use super::statement::Bound;
use super::{StoreError, checkpoint};

/// Rows erased by one statement, as the `.sql` files say: the writer is never held for long.
const ERASED_AT_ONCE: u64 = 500;

impl SqlStore {
    /// Repeats a statement that erases a bounded number of texts until none is left, then makes sure that the
    /// erased texts are in no file any more.
    pub(super) async fn erase(&self, statement: impl Fn() -> Bound<'static>) -> Result<u64, StoreError> {
        let verb = "erase texts";
        let mut erased = 0;
        loop {
            let count = self.write(verb, statement()).await?;
            erased += count;
            if count < ERASED_AT_ONCE {
                break;
            }
        }
        if let Some(checkpoints) = self.pools.checkpoints.as_ref().filter(|_| erased > 0) {
            let vacuumed = async {
                let mut connection = self.writer(Durability::Power).await?;
                connection.execute("PRAGMA incremental_vacuum(4096)").await?;
                drop(connection);
                checkpoint::truncate(checkpoints).await
            };
            vacuumed.await.map_err(StoreError::of_verb(verb))?;
        }
        Ok(erased)
    }
}
