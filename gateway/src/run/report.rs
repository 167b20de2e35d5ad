//! A run as users see it, on the command line and over HTTP.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::clock::rfc3339;
use crate::gate::BaselineReport;
use crate::store::rows::{RunStatus, RunSummary, WorkState, WorkStatus};

/// How a run was begun: what its row keeps as JSON.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct RunSettings {
    pub seed: u64,
    pub allow_kin: bool,
    pub cache: bool,
    /// How often each case is judged.
    pub repeat: u32,
    /// Pinned outputs that its cases were compared with.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub baseline: Option<BaselineReport>,
}

impl Default for RunSettings {
    fn default() -> Self {
        Self { seed: 0, allow_kin: false, cache: false, repeat: 1, baseline: None }
    }
}

impl RunSettings {
    /// Those of a stored run; what another version wrote and this one does not know is left out.
    pub fn of(run: &RunSummary) -> Self {
        serde_json::from_str(&run.run.settings).unwrap_or_default()
    }
}

/// A run as it stands; totals are over the newest verdict of each case.
#[derive(Debug, Serialize, ToSchema)]
pub struct RunReport {
    pub id: String,
    /// RFC 3339, UTC.
    pub begun: String,
    pub ended: Option<String>,
    /// `queued`, `running`, `finished`, or `stopped` before its end; a stopped run can be resumed.
    pub status: String,
    /// Why a run that was begun over HTTP was stopped.
    pub reason: Option<String>,
    pub panel: String,
    pub panel_version: String,
    /// Cases of its input; null where that is not known.
    pub cases: Option<i64>,
    /// Cases with a verdict.
    pub finished: i64,
    /// Of these, with a value on every criterion.
    pub decided: i64,
    pub escalated: i64,
    /// US dollars; null when the cost of any case is unknown.
    pub cost_usd: Option<f64>,
}

impl RunReport {
    pub fn of(run: &RunSummary) -> Self {
        let is_queued = run
            .work
            .as_ref()
            .is_some_and(|WorkState { status, is_begun, .. }| *status == WorkStatus::Waiting && !is_begun);
        Self {
            id: run.run.id.clone(),
            begun: rfc3339(run.run.created_us),
            ended: run.finished_us.map(rfc3339),
            status: if is_queued { "queued" } else { run.status.name() }.to_owned(),
            reason: run
                .work
                .as_ref()
                .filter(|_| run.status == RunStatus::Stopped)
                .and_then(|work| work.reason.clone()),
            panel: run.run.panel.clone(),
            panel_version: run.run.panel_version.clone(),
            cases: run.run.case_total,
            finished: run.totals.finished_cases,
            decided: run.totals.decided_cases,
            escalated: run.totals.escalated_cases,
            cost_usd: run.totals.cost_microusd.map(usd),
        }
    }
}

#[expect(clippy::cast_precision_loss, reason = "exact below 9 billion dollars")]
pub(super) fn usd(microusd: i64) -> f64 {
    microusd as f64 / 1e6
}
