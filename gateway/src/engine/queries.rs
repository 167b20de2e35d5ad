//! What the store knows, in the gateway's words.

use std::collections::HashMap;

use super::rows;
use super::{Askers, Engine, EngineError};
use crate::case::{Case, CaseId};
use crate::store::StoreError;
use crate::store::rows::{AnsweredCalls, JudgmentRow, RunEnd, RunRow, RunSummary, VerdictRow};
use crate::verdict::CaseVerdict;

impl Engine {
    /// A verdict by its own id.
    pub async fn verdict(&self, project: &str, id: &str) -> Result<Option<CaseVerdict>, EngineError> {
        match self.store.verdict(project, id).await? {
            Some(row) => self.whole_verdict(&row).await.map(Some),
            None => Ok(None),
        }
    }

    /// The verdict of a case in a run, if it has one.
    pub async fn stored_verdict(
        &self,
        project: &str,
        run: &str,
        case: &CaseId,
    ) -> Result<Option<CaseVerdict>, EngineError> {
        match self.store.verdict_of_case(project, run, &case.0).await? {
            Some(row) => self.whole_verdict(&row).await.map(Some),
            None => Ok(None),
        }
    }

    /// The same for a case in hand, which has to be the one that was judged.
    pub(super) async fn verdict_before_interruption(
        &self,
        project: &str,
        run: &str,
        case: &Case,
    ) -> Result<Option<CaseVerdict>, EngineError> {
        match self.store.verdict_of_case(project, run, &case.id.0).await? {
            Some(row) if row.case_hash != case.content_hash() => {
                Err(EngineError::CaseChanged(case.id.to_string()))
            }
            Some(row) => self.whole_verdict(&row).await.map(Some),
            None => Ok(None),
        }
    }

    /// The newest verdict of each case, by case id, from the first one after `after`.
    pub async fn verdicts_of_run(
        &self,
        project: &str,
        run: &str,
        after: Option<&str>,
        limit: u32,
    ) -> Result<Vec<CaseVerdict>, EngineError> {
        let mut verdicts = Vec::new();
        for row in self.store.verdicts_of_run(project, run, after, limit).await? {
            verdicts.push(self.whole_verdict(&row).await?);
        }
        Ok(verdicts)
    }

    /// Cases of a run that have a judgment, finished or not, by case id, from the first one after `after`.
    pub async fn judged_cases(
        &self,
        project: &str,
        run: &str,
        after: Option<&str>,
        limit: u32,
    ) -> Result<Vec<String>, StoreError> {
        self.store.judged_cases(project, run, after, limit).await
    }

    /// The judgments of a case with their raw replies, as far as these were not erased.
    pub async fn judgments(
        &self,
        project: &str,
        run: &str,
        case: &str,
    ) -> Result<Vec<(JudgmentRow, Option<String>)>, EngineError> {
        let rows = self.store.judgments_of_case(project, run, case).await?;
        let hashes: Vec<String> = rows.iter().filter_map(|row| row.reply_hash.clone()).collect();
        let texts = self.store.texts(project, case, &hashes).await?;
        let replies: HashMap<String, String> =
            texts.into_iter().filter_map(|text| Some((text.hash, text.body?))).collect();
        Ok(rows
            .into_iter()
            .map(|row| {
                let reply = row.reply_hash.as_ref().and_then(|hash| replies.get(hash)).cloned();
                (row, reply)
            })
            .collect())
    }

    pub async fn create_run(&self, run: &RunRow) -> Result<(), StoreError> {
        self.store.create_run(run).await
    }

    /// Runs that gateways have not ended yet.
    pub async fn waiting_runs(&self) -> Result<u64, StoreError> {
        self.store.waiting_runs().await
    }

    /// Lets a run that has ended be judged again; false: it has not ended, or no gateway judges it.
    pub async fn queue_run_again(&self, project: &str, run: &str, options: &str) -> Result<bool, StoreError> {
        self.store.queue_run_again(project, run, options).await
    }

    /// Whichever gateway has the run ends it soon; false: none has to judge it.
    pub async fn ask_run_to_stop(&self, project: &str, run: &str) -> Result<bool, StoreError> {
        self.store.ask_run_to_stop(project, run).await
    }

    pub async fn reopen_run(&self, project: &str, run: &str) -> Result<(), StoreError> {
        self.store.reopen_run(project, run).await
    }

    pub async fn finish_run(&self, project: &str, run: &str, end: &RunEnd) -> Result<RunSummary, StoreError> {
        self.store.finish_run(project, run, end).await
    }

    pub async fn runs(&self, project: &str, limit: u32) -> Result<Vec<RunSummary>, StoreError> {
        self.store.runs(project, limit).await
    }

    /// A run by its id; `last` is the newest.
    pub async fn find_run(&self, project: &str, id: &str) -> Result<Option<RunSummary>, StoreError> {
        if id == "last" { self.store.last_run(project).await } else { self.store.run(project, id).await }
    }

    pub fn now_us(&self) -> i64 {
        self.clock.now_us()
    }

    pub async fn store_answers(&self) -> bool {
        self.store.ping().await.is_ok()
    }

    /// Cases that wait for a person, by project.
    pub async fn open_triage(&self) -> Result<Vec<(String, i64)>, StoreError> {
        self.store.open_triage().await
    }

    /// Erases the texts whose retention has ended. A failure is logged and tried again at the next time.
    pub async fn erase_expired_texts(&self) {
        match self.store.erase_expired_texts(self.clock.now_us()).await {
            Ok(0) => {}
            Ok(erased) => tracing::info!(texts.erased = erased, "texts past their retention were erased"),
            Err(error) => tracing::warn!(
                error = &error as &dyn std::error::Error,
                "texts past their retention are still there"
            ),
        }
    }

    /// What the stored judgments of a run are known to have cost.
    pub async fn run_cost_microusd(&self, project: &str, run: &str) -> Result<u64, StoreError> {
        Ok(u64::try_from(self.store.run_cost(project, run).await?).unwrap_or(0))
    }

    /// The judgments of a run by judge, source and answering model.
    pub async fn answered_calls(&self, project: &str, run: &str) -> Result<Vec<AnsweredCalls>, StoreError> {
        self.store.answered_calls(project, run).await
    }

    /// Keeps what was learned of models for the next start. A failure costs one refused request a model then.
    pub async fn keep_model_facts(&self, project: &str, askers: &Askers) {
        let rows = askers.facts().rows(project, self.clock.now_us());
        if let Err(error) = self.store.keep_model_facts(&rows).await {
            tracing::warn!(
                error = &error as &dyn std::error::Error,
                "what models refuse is learned anew at the next start"
            );
        }
    }

    pub(super) async fn whole_verdict(&self, row: &VerdictRow) -> Result<CaseVerdict, EngineError> {
        let reasons = match &row.reasons_hash {
            Some(hash) => {
                let texts = self.store.texts(&row.project, &row.case_id, std::slice::from_ref(hash)).await?;
                texts.into_iter().find_map(|text| text.body)
            }
            None => None,
        };
        rows::to_verdict(row, reasons.as_deref())
    }
}
