//! A statistic that is known, or the reason why it is not. Undefined is a value, never NaN, 0 or 1.

use serde::{Deserialize, Serialize};

/// A statistic over cases, with how many of them it rests on.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Estimate {
    pub value: f64,
    /// `None` where no interval can be given, which is not certainty.
    pub interval: Option<ConfidenceInterval>,
    /// Cases used.
    pub n: usize,
    /// Cases left out because a value was missing.
    pub n_dropped: usize,
}

/// A two-sided interval. Not clipped to the range of the statistic: clip for display only.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct ConfidenceInterval {
    pub lo: f64,
    pub hi: f64,
    /// Nominal coverage, above 0 and below 1.
    pub confidence: f64,
}

/// A statistic that has no value, with what was there. It can pass no gate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Undefined {
    pub reason: UndefinedReason,
    pub n: usize,
    pub n_dropped: usize,
}

/// A statistic or why there is none.
pub type Estimated = Result<Estimate, Undefined>;

/// What an estimate says about a limit, given how sure it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Decision {
    Pass,
    Fail,
    /// The interval holds the limit, or there are too few cases.
    Inconclusive,
}

/// Why a statistic has no value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, thiserror::Error)]
#[serde(rename_all = "snake_case")]
pub enum UndefinedReason {
    #[error("there is nothing to count")]
    Empty,
    #[error("both raters used one and the same label only")]
    DegenerateMarginals,
    #[error("a list does not vary")]
    ConstantInput,
    #[error("no unit has two ratings")]
    NoPairableUnits,
    #[error("all ratings that can be compared are one and the same")]
    NoVariation,
    #[error("no two judges have errors that vary")]
    NoPairs,
    #[error("only one value can occur")]
    SingleValueDomain,
    #[error("there are too few values")]
    TooFew,
    #[error("no listed token is a label")]
    NoScoreToken,
    #[error("fewer than two judges voted")]
    TooFewJudges,
    #[error("fewer judges voted than the quorum")]
    NoQuorum,
    #[error("no judge has a positive weight")]
    NoPositiveWeight,
    #[error("one case or one cluster says nothing of how much cases vary")]
    NoVarianceEstimate,
    #[error("no pair differs")]
    NoDiscordant,
}
