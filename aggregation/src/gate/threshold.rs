//! The mean score, or the share that passes, against a threshold.

use crate::estimate::{Decision, UndefinedReason};
use crate::numeric::{clustered_mean, student_quantile, wilson};

use super::{GateBounds, GateOutcome, GateReason, SLACK};

/// What is compared with the threshold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GateMeasure {
    /// The mean in score01, with Student's bounds on a cluster-robust standard error.
    Mean,
    /// The share of cases that score at least ½, with Wilson's bounds; the wider of these and the mean's where cases
    /// share a source.
    PassRate,
}

/// How an estimate becomes a decision.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GateRule {
    /// Pass if the lower bound reaches the threshold, fail if the upper bound does not, else inconclusive.
    ThreeState,
    /// The plain comparison of the estimate.
    Point,
}

/// A limit and how to compare with it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ThresholdGate {
    /// In score01 or as a share, 0 to 1.
    pub threshold: f64,
    pub measure: GateMeasure,
    pub rule: GateRule,
    /// Of each bound by itself, above ½ and below 1.
    pub confidence: f64,
    /// Fewer scored cases are inconclusive under [`GateRule::ThreeState`].
    pub min_n: usize,
    /// A greater share of missing cases is inconclusive under either rule, 0 to 1.
    pub max_missing: f64,
}

impl ThresholdGate {
    /// Three states at 95 %, at least 30 cases, at most 5 % missing.
    pub fn new(threshold: f64, measure: GateMeasure) -> Self {
        let rule = GateRule::ThreeState;
        Self { threshold, measure, rule, confidence: 0.95, min_n: 30, max_missing: 0.05 }
    }
}

/// What a case says, in score01.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum GateScore {
    Known(f64),
    /// Waits for a person; until then the panel's value, which lies between its lowest and its highest vote.
    Pending {
        score: f64,
        lowest: f64,
        highest: f64,
    },
    Missing,
}

/// One case.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct GateCase {
    pub score: GateScore,
    /// Cases of one source are not independent.
    pub source: Option<u64>,
    /// Whether every judge of the panel voted.
    pub covered: bool,
}

/// Why a gate cannot be asked.
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
pub enum GateError {
    #[error("the {name} is {value}, not in its range\nhint: scores and thresholds are shares from 0 to 1")]
    Setting { name: &'static str, value: f64 },
    #[error("case {case} has the score {value}, which is not from 0 to 1")]
    Score { case: usize, value: f64 },
    #[error("case {case} is pending with a lowest vote above its highest")]
    PendingRange { case: usize },
}

/// Decides by specification 7.1. Source of the standard error: Miller 2024, arXiv 2411.00640; of the share's bounds:
/// Wilson 1927.
pub fn threshold_gate(gate: &ThresholdGate, cases: &[GateCase]) -> Result<GateOutcome, GateError> {
    check(gate, cases)?;
    let own = judge(gate, cases, |score| score);
    let n = own.n;
    let n_missing = cases.len() - n;
    let pending = |case: &&GateCase| matches!(case.score, GateScore::Pending { .. });
    let n_pending = cases.iter().filter(pending).count();
    let low = judge(gate, cases, |(_, lowest, highest)| (lowest, lowest, highest));
    let high = judge(gate, cases, |(_, lowest, highest)| (highest, lowest, highest));
    let covered: Vec<GateCase> = cases.iter().copied().filter(|case| case.covered).collect();
    let all_covered = covered.len() == n && cases.iter().all(|case| case.covered != is_missing(case));
    let reason = if n == 0 {
        GateReason::NothingScored
    } else if too_many_missing(gate, n_missing, cases.len()) {
        GateReason::TooManyMissing
    } else if gate.rule == GateRule::ThreeState && n < gate.min_n {
        GateReason::TooFewCases
    } else if own.decision == Decision::Inconclusive {
        own.why()
    } else if n_pending > 0 && (low.decision != own.decision || high.decision != own.decision) {
        GateReason::PendingCouldChange
    } else if !all_covered && judge(gate, &covered, |score| score).decision != own.decision {
        GateReason::CoveredDecideOtherwise
    } else {
        GateReason::Decided
    };
    let decided = reason == GateReason::Decided;
    Ok(GateOutcome {
        decision: if decided { own.decision } else { Decision::Inconclusive },
        reason,
        estimate: own.estimate,
        bounds: own.bounds,
        n,
        clusters: own.clusters,
        n_pending,
        n_missing,
        pending_range: low.estimate.ok().zip(high.estimate.ok()).filter(|_| n_pending > 0),
        needed_more: if decided { None } else { own.needed_more(gate) },
    })
}

fn is_missing(case: &GateCase) -> bool {
    case.score == GateScore::Missing
}

#[expect(clippy::cast_precision_loss, reason = "counts of cases are far below 2^52")]
fn too_many_missing(gate: &ThresholdGate, missing: usize, all: usize) -> bool {
    missing as f64 > gate.max_missing * all as f64 + SLACK
}

fn check(gate: &ThresholdGate, cases: &[GateCase]) -> Result<(), GateError> {
    let settings =
        [("threshold", gate.threshold), ("confidence", gate.confidence), ("missing share", gate.max_missing)];
    for (name, value) in settings {
        let low = if name == "confidence" { 0.5 } else { 0.0 };
        let open = name == "confidence" && (value <= 0.5 || value >= 1.0);
        if !(low..=1.0).contains(&value) || open {
            return Err(GateError::Setting { name, value });
        }
    }
    for (case, own) in cases.iter().enumerate() {
        let Some((score, lowest, highest)) = scores(own.score) else { continue };
        let bad = [score, lowest, highest].into_iter().find(|value| !(0.0..=1.0).contains(value));
        if let Some(value) = bad {
            return Err(GateError::Score { case, value });
        }
        if lowest > highest {
            return Err(GateError::PendingRange { case });
        }
    }
    Ok(())
}

/// The score with its lowest and highest; all the same where known.
fn scores(score: GateScore) -> Option<(f64, f64, f64)> {
    match score {
        GateScore::Known(score) => Some((score, score, score)),
        GateScore::Pending { score, lowest, highest } => Some((score, lowest, highest)),
        GateScore::Missing => None,
    }
}

/// The bare comparison, without guards.
struct Compared {
    decision: Decision,
    estimate: Result<f64, UndefinedReason>,
    bounds: Result<GateBounds, UndefinedReason>,
    n: usize,
    clusters: usize,
}

type Scores = (f64, f64, f64);

fn judge(gate: &ThresholdGate, cases: &[GateCase], pick: impl Fn(Scores) -> Scores) -> Compared {
    let (mut values, mut sources) = (Vec::new(), Vec::new());
    for case in cases {
        if let Some(picked) = scores(case.score).map(&pick) {
            values.push(match gate.measure {
                GateMeasure::Mean => picked.0,
                GateMeasure::PassRate => f64::from(u8::from(picked.0 >= 0.5 - SLACK)),
            });
            sources.push(case.source);
        }
    }
    let own = clustered_mean(&values, sources);
    let estimate = if own.n == 0 { Err(UndefinedReason::Empty) } else { Ok(own.mean) };
    let bounds = estimate.and_then(|mean| {
        if own.clusters < 2 {
            return Err(UndefinedReason::NoVarianceEstimate);
        }
        let half = quantile(gate, own.clusters).ok_or(UndefinedReason::NoVarianceEstimate)? * own.error;
        let student = GateBounds { error: own.error, lower: mean - half, upper: mean + half };
        match gate.measure {
            GateMeasure::Mean => Ok(student),
            GateMeasure::PassRate => Ok(share_bounds(gate, &values, student, own.clusters < own.n)),
        }
    });
    let decision = match (gate.rule, estimate, bounds) {
        (GateRule::Point, Ok(value), _) if value >= gate.threshold - SLACK => Decision::Pass,
        (GateRule::Point, Ok(_), _) => Decision::Fail,
        (GateRule::ThreeState, _, Ok(own)) if own.lower >= gate.threshold - SLACK => Decision::Pass,
        (GateRule::ThreeState, _, Ok(own)) if own.upper < gate.threshold - SLACK => Decision::Fail,
        (GateRule::ThreeState | GateRule::Point, ..) => Decision::Inconclusive,
    };
    Compared { decision, estimate, bounds, n: own.n, clusters: own.clusters }
}

fn share_bounds(gate: &ThresholdGate, values: &[f64], student: GateBounds, shared: bool) -> GateBounds {
    let passed = values.iter().filter(|value| **value >= 0.5).count();
    let counts = (u64::try_from(passed).unwrap_or(u64::MAX), u64::try_from(values.len()).unwrap_or(u64::MAX));
    // A two-sided interval at 2c - 1 has one-sided bounds at c.
    let interval = wilson(counts.0, counts.1, 2.0 * gate.confidence - 1.0).ok().and_then(|own| own.interval);
    let Some(own) = interval else { return student };
    let (lower, upper) =
        if shared { (own.lo.min(student.lower), own.hi.max(student.upper)) } else { (own.lo, own.hi) };
    GateBounds { error: student.error, lower, upper }
}

#[expect(clippy::cast_precision_loss, reason = "counts of cases are far below 2^52")]
fn quantile(gate: &ThresholdGate, clusters: usize) -> Option<f64> {
    student_quantile(gate.confidence, clusters as f64 - 1.0)
}

impl Compared {
    fn why(&self) -> GateReason {
        if self.bounds.is_err() { GateReason::NoVarianceEstimate } else { GateReason::BoundsHoldThreshold }
    }

    /// `n* = (t · s / (mean - threshold))²`, less those that are there; the standard error carries the clusters.
    #[expect(clippy::cast_precision_loss, reason = "counts of cases are far below 2^52")]
    fn needed_more(&self, gate: &ThresholdGate) -> Option<u64> {
        let (mean, bounds) = self.estimate.ok().zip(self.bounds.ok())?;
        let distance = (mean - gate.threshold).abs();
        let ratio = quantile(gate, self.clusters)? * bounds.error / distance;
        let more = (self.n as f64 * ratio * ratio).max(gate.min_n as f64).ceil() - self.n as f64;
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "between 1 and 10^15")]
        (distance > SLACK && (1.0..1e15).contains(&more)).then_some(more as u64)
    }
}

#[cfg(test)]
mod tests;
