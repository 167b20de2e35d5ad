//! From cases to a tally: the one loop under every run.

use std::sync::Arc;

use futures::{Stream, StreamExt};
use serde::Serialize;
use tokio_util::sync::CancellationToken;
use utoipa::ToSchema;

use crate::case::Case;
use crate::engine::run::{CaseOutcome, RunSpec};
use crate::engine::{Engine, EngineError};
use crate::store::rows::{RunEnd, RunStatus, RunTotals};
use crate::summary::RunSummary;
use crate::verdict::CaseVerdict;

/// Judges the cases as one run; `on` meets each outcome as it is counted, with its verdict where there is one.
///
/// Ends early when `spec.stop` is cancelled (cases in flight finish) or `spec.cancel` (they are recorded by their own
/// tasks as far as their calls were sent).
pub async fn judge_cases<E: Send>(
    engine: &Arc<Engine>,
    spec: RunSpec,
    cases: impl Stream<Item = Case> + Send,
    mut on: impl FnMut(&Tally, Option<CaseVerdict>) -> Result<(), E> + Send,
) -> Result<Tally, E> {
    let (stop, cancel) = (spec.stop.clone(), spec.cancel.clone());
    let mut outcomes = Box::pin(engine.judge_run(spec, cases));
    let mut tally = Tally::new();
    loop {
        let outcome = tokio::select! {
            outcome = outcomes.next() => outcome,
            () = cancel.cancelled() => None,
        };
        let Some(outcome) = outcome else { break };
        let verdict = tally.take(outcome, &stop);
        on(&tally, verdict)?;
    }
    Ok(tally)
}

/// What a run gave, and why it ended early if it did.
#[derive(Debug, Default)]
pub struct Tally {
    pub summary: RunSummary,
    pub first_error: Option<EngineError>,
    /// The cap on its cost ended it.
    pub is_capped: bool,
    /// Somebody ended it.
    pub is_interrupted: bool,
}

impl Tally {
    pub fn new() -> Self {
        Self { summary: RunSummary::new(), ..Self::default() }
    }

    /// Counts one outcome; `stop` ends the run where going on would be wrong.
    fn take(&mut self, outcome: CaseOutcome, stop: &CancellationToken) -> Option<CaseVerdict> {
        match outcome.result {
            Ok(verdict) => {
                self.summary.add(&verdict, outcome.was_stored);
                return Some(verdict);
            }
            // No further case is begun; those that need no more money finish.
            Err(EngineError::OverBudget) => {
                self.is_capped = true;
                stop.cancel();
            }
            Err(error) => {
                self.summary.add_error();
                // What cannot be recorded must not be paid for.
                stop.cancel();
                self.first_error.get_or_insert(error);
            }
        }
        None
    }

    pub fn is_stopped(&self) -> bool {
        self.is_interrupted || self.is_capped || self.summary.errors > 0
    }

    /// What is kept of the run.
    pub fn end(&self, finished_us: i64) -> RunEnd {
        RunEnd {
            status: if self.is_stopped() { RunStatus::Stopped } else { RunStatus::Finished },
            finished_us,
            outcome: serde_json::to_string(&self.summary).ok(),
        }
    }

    pub fn progress(&self, total: Option<u64>) -> RunProgress {
        let RunSummary { cases: done, escalated, undecided, cost_usd, .. } = self.summary;
        RunProgress { done, total, escalated, undecided, cost_usd }
    }
}

/// How far a run is.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, ToSchema)]
pub struct RunProgress {
    pub done: u64,
    /// Cases of its input; null where that is not known.
    pub total: Option<u64>,
    pub escalated: u64,
    /// Cases without a value on some criterion.
    pub undecided: u64,
    /// US dollars; null when the cost of any case is unknown.
    pub cost_usd: Option<f64>,
}

impl RunProgress {
    /// The same from what is stored.
    pub fn of_totals(totals: &RunTotals, case_total: Option<i64>) -> Self {
        let count = |n: i64| u64::try_from(n).unwrap_or(0);
        Self {
            done: count(totals.finished_cases),
            total: case_total.map(count),
            escalated: count(totals.escalated_cases),
            undecided: count(totals.finished_cases - totals.decided_cases),
            cost_usd: totals.cost_microusd.map(super::report::usd),
        }
    }
}
