//! The heart: votes in, verdict out. Total: every input has a verdict.

use serde::{Deserialize, Serialize};

use crate::panel_vote::Method;
use crate::scale::{Scale, Value};

/// How a panel decides one criterion.
#[derive(Debug, Clone, PartialEq)]
pub struct Policy {
    pub scale: Scale,
    pub method: Method,
    /// Valid votes needed for a value. For weighted methods: votes of positive weight.
    pub quorum: usize,
    /// Raw value from which a case passes (numeric scales).
    pub pass: Option<f64>,
    pub escalate: EscalationPolicy,
}

/// When a case goes to a person. `None` switches a trigger off.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct EscalationPolicy {
    /// Least disagreement, 0 to 1, that escalates.
    pub disagreement: Option<f64>,
    /// Distance in score01 from the pass threshold within which a split panel escalates.
    pub near_threshold: Option<f64>,
}

/// The panel's result on one criterion.
#[derive(Debug, Clone, PartialEq)]
pub struct Verdict {
    pub outcome: Outcome,
    /// The method that produced the outcome: the unweighted one when weights were unusable.
    pub method: AppliedMethod,
    /// Normalised pairwise distance between votes, 0 to 1; `None` below two votes.
    pub disagreement: Option<f64>,
    /// `None` when the criterion has no pass threshold or there is no value.
    pub passed: Option<bool>,
    pub quorum: Quorum,
    /// Pairs: whether every judge that voted was consistent; `None` for other scales or one order.
    pub order_consistent: Option<bool>,
    /// Sorted by severity, without repeats.
    pub escalation_reasons: Vec<EscalationReason>,
    pub warnings: Vec<Warning>,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Outcome {
    Decided {
        value: Value,
        /// 0 to 1; `None` on nominal scales. Pairs: mean over the votes of `pref_a`, weighted as the method weighs.
        score: Option<f64>,
    },
    Undecided(Undecided),
}

/// Why a criterion has no value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Undecided {
    NoQuorum,
    /// No label has more than half of the (weighted) votes. Pairs report a tie instead.
    NoMajority,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AppliedMethod {
    Median,
    Majority,
    Mean,
    KappaWeighted,
    LogOdds,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Quorum {
    /// Judges asked or excluded: all votes handed in.
    pub asked: usize,
    /// Votes with a rating.
    pub voted: usize,
    pub required: usize,
    pub met: bool,
}

/// In order of severity: the queue shows the first reasons first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EscalationReason {
    NoQuorum,
    NoPositiveWeight,
    NoMajority,
    Disagreement,
    OrderInconsistent,
    NearThreshold,
    BoundsStraddle,
    LowLabelMass,
    UnsupportedEvidence,
    RandomReview,
}

/// What a reader of the verdict should know, without names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Warning {
    /// Weights were asked for and fewer judges than the quorum have a positive one: the unweighted result is given.
    WeightsUnusable,
    /// Expected and discrete scores stand in one verdict.
    ScoringMixed,
}
