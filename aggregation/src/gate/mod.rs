//! Whether a set of cases may pass: scores against a limit.
//!
//! Owns the decision and every number that a report needs of it; knows nothing of panels, files and exit codes.
//! Source: specification 7.

mod threshold;

pub use threshold::{GateCase, GateError, GateMeasure, GateRule, GateScore, ThresholdGate, threshold_gate};

use serde::{Deserialize, Serialize};

use crate::estimate::{Decision, UndefinedReason};

/// Slack of every comparison with a limit, so that 0.85 summed from tenths passes 0.85.
pub const SLACK: f64 = 1e-12;

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
    #[error("too many cases have no score")]
    TooManyMissing,
    #[error("nothing is known of how much cases vary")]
    NoVarianceEstimate,
    #[error("the bounds hold the threshold")]
    BoundsHoldThreshold,
    #[error("cases that wait for a person could change the decision")]
    PendingCouldChange,
    #[error("the cases that all judges covered decide otherwise")]
    CoveredDecideOtherwise,
}
