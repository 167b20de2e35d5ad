//! What a judge said, stripped to what statistics need.

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::scale::{Scale, Value};

/// A judge's name as the panel knows it; unique within a panel. Cheap to clone.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct JudgeId(Arc<str>);

impl JudgeId {
    pub fn new(name: &str) -> Self {
        Self(Arc::from(name))
    }
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for JudgeId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Which candidate came first in one call. Pointwise calls are `AsGiven`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Order {
    AsGiven,
    Reversed,
}

/// Why there is no rating. Each missing vote is exactly one of these and never becomes a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Abstention {
    /// The judge or its provider declined to answer.
    Refused,
    /// The reply holds no verdict that can be read.
    Unparseable(UnparseableClass),
    /// Evidence was required and is not found in the case.
    Unsupported,
    /// The prompt does not fit the judge's context; a text is never cut silently.
    TooLong,
    TimedOut,
    /// Transport failure, 5xx, open breaker.
    Unavailable,
    RateLimited,
    OverBudget,
    Excluded(Exclusion),
}

/// How a reply could not be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum UnparseableClass {
    NoVerdict,
    Ambiguous,
    OutOfRange,
    Truncated,
}

/// Why a judge was not asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Exclusion {
    /// The case may not leave, and the judge is outside.
    Perimeter,
    /// The judge's model wrote the candidate, or is its base.
    SameModel,
    /// The judge's model family wrote the candidate.
    SameFamily,
    EmptyCandidate,
    /// A check that code decides failed, and the rubric requires it.
    FailedCheck,
}

/// How a rating was obtained.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Scoring {
    /// The label that the judge wrote.
    Discrete,
    /// Probability-weighted over the labels (specification 3).
    Expected,
    /// Mean of several sampled answers.
    Sampled,
}

/// A value on the scale, with what is known of its certainty.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rating {
    pub value: Value,
    pub scoring: Scoring,
    /// What the judge's token probabilities said, where they could be read.
    pub distribution: Option<Distribution>,
    /// Logprobs were wanted and could not be used: the written label stands, flagged.
    pub fallback: bool,
}

/// Facts of the label distribution at the position where the verdict was written.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Distribution {
    /// Share of probability on the scale's labels, 0 to 1.
    pub label_mass: f64,
    /// Score01 if the unseen labels had the least and the most that they can have.
    pub bounds01: (f64, f64),
    /// Pairs: `(p_first, p_second, p_tie)` as displayed; need not sum to 1. Pass/fail: `(p_pass, p_fail, 0)`.
    pub two_way: Option<(f64, f64, f64)>,
}

/// One judgment of one criterion: a rating or why there is none. For pairs the value is already in the case's
/// own frame (un-mapped from the displayed one).
#[derive(Debug, Clone, PartialEq)]
pub struct Pass {
    pub judge: JudgeId,
    pub order: Order,
    /// Index of a repeated answer, from 0.
    pub sample: u32,
    pub outcome: Result<Rating, Abstention>,
}

/// One judge's opinion on one criterion, after its passes are folded into one.
#[derive(Debug, Clone, PartialEq)]
pub struct Vote {
    pub judge: JudgeId,
    pub outcome: Result<Rating, Abstention>,
    /// Pairs only: the fold of the two orders.
    pub pair: Option<PairFold>,
}

impl Vote {
    /// The vote as 0 to 1: `pref_a` of the fold for pairs, the probability of a pass where it is known, else
    /// the value's own score. `None` for an abstention and on nominal scales.
    pub fn score01(&self, scale: &Scale) -> Option<f64> {
        let rating = self.outcome.as_ref().ok()?;
        let own = scale.score01(rating.value);
        match scale {
            Scale::Ordinal(_) | Scale::Continuous(_) | Scale::Nominal(_) => own,
            Scale::Pairwise { .. } => self.pair.map(|pair| pair.pref_a).or(own),
            Scale::PassFail => rating.probability_of_pass().or(own),
        }
    }
}

impl Rating {
    /// `p_pass / (p_pass + p_fail)`; `None` where the written label stands.
    fn probability_of_pass(&self) -> Option<f64> {
        if self.fallback {
            return None;
        }
        let (pass, fail, _) = self.distribution?.two_way?;
        let share = pass / (pass + fail);
        (pass >= 0.0 && fail >= 0.0 && share.is_finite()).then_some(share)
    }
}

/// What the two orders of a pair said together.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PairFold {
    /// Mean over the passes of A = 1, tie = ½, B = 0.
    pub pref_a: f64,
    /// Whether both orders named the same candidate; `None` when only one order was asked for.
    pub consistent: Option<bool>,
}
