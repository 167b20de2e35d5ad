//! The mean score, or the share that passes, against a threshold.

use super::cases::observed;
use super::comparison::{Kind, Limit, decide};
use super::{GateCase, GateOutcome, GateRule, SLACK, SkewGuard};

/// What is compared with the threshold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GateMeasure {
    /// The mean in score01, with Student's bounds on a cluster-robust standard error.
    Mean,
    /// The share of cases that score at least ½, with the exact bounds of Clopper and Pearson; the wider of these and the
    /// mean's where cases share a source.
    PassRate,
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
    pub skew: SkewGuard,
}

impl ThresholdGate {
    /// Three states at 95 %, at least 30 cases, at most 5 % missing, guarded against skew.
    pub fn new(threshold: f64, measure: GateMeasure) -> Self {
        Self {
            threshold,
            measure,
            rule: GateRule::ThreeState,
            confidence: 0.95,
            min_n: 30,
            max_missing: 0.05,
            skew: SkewGuard::OneMore,
        }
    }
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
/// Clopper and Pearson 1934.
pub fn threshold_gate(gate: &ThresholdGate, cases: &[GateCase]) -> Result<GateOutcome, GateError> {
    check_share("threshold", gate.threshold)?;
    check_guards(gate.confidence, gate.max_missing)?;
    let (kind, map): (Kind, fn(f64) -> f64) = match gate.measure {
        GateMeasure::Mean => (Kind::Mean, |score| score),
        GateMeasure::PassRate => (Kind::Share, |score| f64::from(u8::from(score >= 0.5 - SLACK))),
    };
    let limit = Limit {
        threshold: gate.threshold,
        ends: (0.0, 1.0),
        is_strict: false,
        rule: gate.rule,
        confidence: gate.confidence,
        min_n: gate.min_n,
        max_missing: gate.max_missing,
        skew: gate.skew,
    };
    Ok(decide(&limit, kind, &observed(cases, map)?))
}

pub(super) fn check_share(name: &'static str, value: f64) -> Result<(), GateError> {
    if (0.0..=1.0).contains(&value) { Ok(()) } else { Err(GateError::Setting { name, value }) }
}

pub(super) fn check_guards(confidence: f64, max_missing: f64) -> Result<(), GateError> {
    if !(confidence > 0.5 && confidence < 1.0) {
        return Err(GateError::Setting { name: "confidence", value: confidence });
    }
    check_share("missing share", max_missing)
}

#[cfg(test)]
mod false_passes;
#[cfg(test)]
mod tests;
