//! Whether a set of cases may pass: scores against a limit.
//!
//! Owns the decision and every number that a report needs of it; knows nothing of panels, files and exit codes.
//! Source: specification 7.

mod baseline;
mod cases;
mod comparison;
mod ppi;
mod share;
mod skew;
mod threshold;

pub use baseline::{
    BaselineError, BaselineGate, BaselineIdentity, BaselineOutcome, Claim, Compared, PairedCase,
    difference_gate, win_rate_gate,
};
pub use cases::{GateCase, GateScore};
pub use ppi::{
    Lambda, MeanEstimate, PpiCases, PpiError, PpiGate, PpiOutcome, PredictionPowered, ppi_gate,
    prediction_powered,
};
pub use threshold::{GateError, GateMeasure, ThresholdGate, threshold_gate};

use serde::{Deserialize, Serialize};

use crate::estimate::{ConfidenceInterval, Decision, UndefinedReason};

/// Slack of every comparison with a limit, so that 0.85 summed from tenths passes 0.85.
pub const SLACK: f64 = 1e-12;

/// How an estimate becomes a decision.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GateRule {
    /// Pass if the lower bound reaches the threshold, fail if the upper bound does not, else inconclusive.
    ThreeState,
    /// The plain comparison of the estimate.
    Point,
}

/// What keeps a sample with a short tail from deciding, under [`GateRule::ThreeState`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SkewGuard {
    /// The bare bounds.
    None,
    /// A decision must hold with the case (or source) that speaks most against it counted once more, and, where values
    /// are only ever one of two, within the exact bounds of their share.
    OneMore,
}

/// A decision with what it rests on.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct GateOutcome {
    pub decision: Decision,
    pub reason: GateReason,
    /// The mean in score01, or the share that passes.
    pub estimate: Result<f64, UndefinedReason>,
    /// One-sided bounds, each at the gate's confidence; none where nothing is known of the variation.
    pub bounds: Result<GateBounds, UndefinedReason>,
    /// Cases with a score, pending ones included.
    pub n: usize,
    /// Independent groups among them; `n` where no two share a source.
    pub clusters: usize,
    pub n_pending: usize,
    pub n_missing: usize,
    /// The estimate with all pending cases at their lowest and at their highest vote; none without pending cases.
    pub pending_range: Option<(f64, f64)>,
    /// How many more cases like these would decide; none when decided or when no number would.
    pub needed_more: Option<u64>,
    /// The counts behind a pass rate; none for means.
    pub share: Option<ShareReport>,
}

/// How many cases pass, for a report.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct ShareReport {
    pub passed: u64,
    pub failed: u64,
    /// Wilson's two-sided interval of the share that passes; it decides nothing.
    pub interval: ConfidenceInterval,
    /// The exact one-sided upper bound of the share that fails: about `3/n` at 95 % after no failure in `n` cases.
    pub most_failures: f64,
}

/// One-sided bounds of an estimate.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct GateBounds {
    /// Standard error.
    pub error: f64,
    pub lower: f64,
    pub upper: f64,
}

/// Why a gate decided as it did.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[serde(rename_all = "snake_case")]
pub enum GateReason {
    #[error("the estimate and its certainty decide")]
    Decided,
    #[error("no case has a score")]
    NothingScored,
    #[error("fewer cases have a score than the gate asks for")]
    TooFewCases,
    #[error("fewer cases have a person's score than the gate asks for")]
    TooFewLabels,
    #[error("too many cases have no score")]
    TooManyMissing,
    #[error("nothing is known of how much cases vary")]
    NoVarianceEstimate,
    #[error("the bounds hold the threshold")]
    BoundsHoldThreshold,
    #[error("one more case like the one that speaks most against it could change the decision")]
    OneMoreCouldChange,
    #[error("the exact test of the pairs that differ does not bear the decision out")]
    ExactTestDisagrees,
    #[error("cases that wait for a person could change the decision")]
    PendingCouldChange,
    #[error("the cases that all judges covered decide otherwise")]
    CoveredDecideOtherwise,
}
