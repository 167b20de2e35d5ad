//! What models turned out to refuse, and what a run has cost so far.

use super::StoreError;
use super::read::Columns;
use super::rows::{AnsweredCalls, ModelFactsRow};
use super::sql_store::SqlStore;

impl SqlStore {
    pub(super) async fn facts(&self, project: &str) -> Result<Vec<ModelFactsRow>, StoreError> {
        let verb = "read what models refuse";
        let rows = self.rows(verb, sqlx::query(include_str!("sql/model_facts.sql")).bind(project)).await?;
        rows.iter().map(|row| Columns::of(row, verb).model_facts()).collect()
    }

    pub(super) async fn keep_facts(&self, facts: &[ModelFactsRow]) -> Result<(), StoreError> {
        for row in facts {
            let statement = sqlx::query(include_str!("sql/keep_model_facts.sql"))
                .bind(&row.project)
                .bind(&row.base_url)
                .bind(&row.dialect)
                .bind(&row.model)
                .bind(row.model_replied.as_deref())
                .bind(&row.learned)
                .bind(row.updated_us);
            self.write("keep what a model refuses", statement).await?;
        }
        Ok(())
    }

    pub(super) async fn cost_of_run(&self, project: &str, run: &str) -> Result<i64, StoreError> {
        let verb = "sum up what a run cost";
        let query = sqlx::query(include_str!("sql/run_cost.sql")).bind(project).bind(run);
        let rows = self.rows(verb, query).await?;
        rows.first().map_or(Ok(0), |row| Columns::of(row, verb).cost())
    }

    pub(super) async fn calls_of_run(
        &self,
        project: &str,
        run: &str,
    ) -> Result<Vec<AnsweredCalls>, StoreError> {
        let verb = "sum up the calls of a run";
        let query = sqlx::query(include_str!("sql/answered_calls.sql")).bind(project).bind(run);
        let rows = self.rows(verb, query).await?;
        rows.iter().map(|row| Columns::of(row, verb).answered_calls()).collect()
    }
}
