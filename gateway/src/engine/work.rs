//! One case on its way to a verdict: what every step of the engine needs to know.

use std::sync::Arc;
use std::sync::atomic::AtomicUsize;

use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::askers::{Askers, PanelPrints};
use super::plan::Settled;
use super::{Purse, Retry};
use crate::case::{Case, Mode};
use crate::checks::Finding;
use crate::panel::{ModelKin, Panel};
use crate::store::rows::Endpoint;

/// A request to judge one case.
#[derive(Debug, Clone)]
pub struct JudgeRequest {
    pub case: Arc<Case>,
    pub panel: Arc<Panel>,
    /// Of the same version of the settings as the panel.
    pub askers: Arc<Askers>,
    pub project: Arc<str>,
    /// The run it belongs to; `None` for a single verdict.
    pub run: Option<Arc<str>>,
    /// Place in the run's input, from 0.
    pub position: i64,
    /// Whether earlier judgments with the same fingerprint may be used.
    pub use_cache: bool,
    /// Earlier judgments from before this time, in microseconds, are not used.
    pub cache_since_us: i64,
    /// Whether the run may hold judgments of this case from before an interruption.
    pub resumed: bool,
    /// The verdict that this one replaces: what failed then is asked again.
    pub retry: Option<Arc<Retry>>,
    /// Seed of the draw for random reviews.
    pub seed: u64,
    /// Judges related to the candidate vote all the same; the verdict says so.
    pub allow_kin: bool,
    /// What may be spent, together with others.
    pub purse: Purse,
    /// When it is cancelled, calls that were not sent yet are dropped; sent ones finish and are recorded.
    pub cancel: CancellationToken,
}

/// The same with what was decided once for all its calls.
#[derive(Debug)]
pub(super) struct Work {
    pub case: Arc<Case>,
    pub mode: Mode,
    /// Hash of everything in the case that a judge sees.
    pub case_hash: String,
    /// One a check of the rubric, in its order.
    pub findings: Vec<Finding>,
    pub settled: Settled,
    pub panel: Arc<Panel>,
    pub askers: Arc<Askers>,
    pub project: Arc<str>,
    pub verdict_id: String,
    /// The run's id, or the verdict's own id outside a run: judgments are unique within it.
    pub run: Arc<str>,
    pub endpoint: Endpoint,
    pub position: i64,
    /// Hashes of this panel version.
    pub prints: Arc<PanelPrints>,
    pub use_cache: bool,
    pub cache_since_us: i64,
    pub resumed: bool,
    pub retry: Option<Arc<Retry>>,
    pub allow_kin: bool,
    pub models: Arc<[ModelKin]>,
    pub is_drawn: bool,
    pub started: Instant,
    pub deadline: Instant,
    pub purse: Purse,
    /// Calls that are not sent yet for want of room in the budget.
    pub waits_for_budget: AtomicUsize,
    pub cancel: CancellationToken,
}

impl Work {
    pub(super) fn in_run(&self) -> bool {
        self.endpoint == Endpoint::Run
    }
}
