//! A mean of judges' scores, corrected by the cases that people scored as well.
//!
//! The labelled cases must be a random sample of the judged ones; a sample that was drawn by strata needs its weights.

use crate::estimate::{Decision, UndefinedReason};
use crate::numeric::{normal_quantile, student_quantile};

use super::comparison::too_many;
use super::threshold::{check_guards, check_share};
use super::{GateBounds, GateError, GateReason, SLACK};

/// Labels below which Student's quantiles are used, on one degree of freedom fewer.
const NORMAL_FROM: usize = 100;

/// Cases with people's scores, and cases without.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PpiCases<'a> {
    /// People's scores of the labelled cases.
    pub human: &'a [f64],
    /// The judges' scores of the same cases, in the same order.
    pub judge: &'a [f64],
    /// The judges' scores of all other cases.
    pub unlabelled: &'a [f64],
    /// Of the labelled cases: cases in the stratum for each label in it. `None`: a plain random sample.
    pub weights: Option<&'a [f64]>,
}

/// How far the judges' scores are relied on.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Lambda {
    /// As far as gives the least variance, 0 to 1.
    Tuned,
    /// 0 leaves people's scores alone (the classical mean); 1 is plain prediction-powered inference.
    Fixed(f64),
}

/// A mean with its standard error.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MeanEstimate {
    pub estimate: f64,
    pub error: f64,
}

/// The corrected mean, with what each source would say alone.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PredictionPowered {
    pub corrected: MeanEstimate,
    pub lambda: f64,
    /// People's scores alone.
    pub human_only: MeanEstimate,
    /// The judges' scores of all cases alone, with whatever bias they have.
    pub judge_only: f64,
    pub n_labelled: usize,
    pub n_unlabelled: usize,
}

/// Why a mean cannot be corrected.
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
pub enum PpiError {
    #[error("{human} cases have a person's score, {got} a {list}")]
    UnequalLengths { list: &'static str, human: usize, got: usize },
    #[error("the {list} of case {case} is {value}, which is not finite, or a weight that is not positive")]
    BadValue { list: &'static str, case: usize, value: f64 },
    #[error(transparent)]
    Gate(#[from] GateError),
    #[error(transparent)]
    Undefined(#[from] UndefinedReason),
}

/// PPI++ of a mean (`ppi.json`), with people's scores `y` and the judges' `f` of `n` labelled cases, and `f_u` of `N`
/// others:
///
/// `θ = λ · mean(f_u) + mean(y - λ f)`, `se² = λ² var(f_u) / N + var(y - λ f) / n`,
/// `λ = cov(y, f) / ((1 + n / N) var(f))`, clipped to 0 to 1 (0 where `f` does not vary); `cov` over the labelled cases
/// and divided by `n`, `var(f)` over all cases and by one less than their number. With weights, means over labelled cases
/// are weighted and `se²` has `Σ w² r² / (Σ w)²` in place of `var / n`. `TooFew` below 2 labelled cases or without others.
/// Source: Angelopoulos, Duchi and Zrnic 2023, arXiv 2311.01453.
#[expect(clippy::cast_precision_loss, reason = "counts of cases are far below 2^52")]
pub fn prediction_powered(cases: &PpiCases<'_>, lambda: Lambda) -> Result<PredictionPowered, PpiError> {
    check(cases)?;
    if let Lambda::Fixed(value) = lambda {
        check_share("lambda", value)?;
    }
    let (n_labelled, n_unlabelled) = (cases.human.len(), cases.unlabelled.len());
    if n_labelled < 2 || n_unlabelled == 0 {
        return Err(UndefinedReason::TooFew.into());
    }
    let weights = shares(cases);
    let mean_of = |values: &[f64]| values.iter().zip(&weights).map(|(x, w)| x * w).sum::<f64>();
    let error_of = |values: &[f64]| {
        let mean = mean_of(values);
        values.iter().zip(&weights).map(|(x, w)| (w * (x - mean)).powi(2)).sum::<f64>()
    };
    let lambda = match lambda {
        Lambda::Fixed(value) => value,
        Lambda::Tuned => tuned(cases, &weights),
    };
    let rest: Vec<f64> = cases.human.iter().zip(cases.judge).map(|(y, f)| y - lambda * f).collect();
    let n_others = n_unlabelled as f64;
    let others = cases.unlabelled.iter().sum::<f64>() / n_others;
    let spread = cases.unlabelled.iter().map(|f| (f - others) * (f - others)).sum::<f64>() / n_others;
    let variance = lambda * lambda * spread / n_others + error_of(&rest);
    let labelled = n_labelled as f64;
    let own = PredictionPowered {
        corrected: MeanEstimate { estimate: lambda * others + mean_of(&rest), error: variance.sqrt() },
        lambda,
        human_only: MeanEstimate { estimate: mean_of(cases.human), error: error_of(cases.human).sqrt() },
        judge_only: (mean_of(cases.judge) * labelled + others * n_others) / (labelled + n_others),
        n_labelled,
        n_unlabelled,
    };
    let numbers = [own.corrected.estimate, own.corrected.error, own.human_only.error, own.judge_only];
    if numbers.iter().all(|number| number.is_finite()) {
        Ok(own)
    } else {
        Err(UndefinedReason::NoVarianceEstimate.into())
    }
}

impl PredictionPowered {
    /// One-sided bounds of the corrected mean. `None` unless the confidence is above ½ and below 1.
    #[expect(clippy::cast_precision_loss, reason = "counts of cases are far below 2^52")]
    pub fn bounds(&self, confidence: f64) -> Option<GateBounds> {
        let quantile = if self.n_labelled < NORMAL_FROM {
            student_quantile(confidence, self.n_labelled as f64 - 1.0)
        } else {
            Some(normal_quantile(confidence))
        };
        let half = quantile.filter(|_| confidence > 0.5 && confidence < 1.0)? * self.corrected.error;
        let MeanEstimate { estimate, error } = self.corrected;
        Some(GateBounds { error, lower: estimate - half, upper: estimate + half })
    }
}

/// A limit of the corrected mean.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PpiGate {
    /// In score01.
    pub threshold: f64,
    /// Of each bound by itself, above ½ and below 1.
    pub confidence: f64,
    /// Fewer labels are inconclusive.
    pub min_labels: usize,
    /// A greater share of cases that the judges did not score is inconclusive, 0 to 1.
    pub max_missing: f64,
}

impl PpiGate {
    /// 95 %, at least 30 labels, at most 5 % missing.
    pub fn new(threshold: f64) -> Self {
        Self { threshold, confidence: 0.95, min_labels: 30, max_missing: 0.05 }
    }
}

/// A decision on the corrected mean.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PpiOutcome {
    pub decision: Decision,
    pub reason: GateReason,
    pub estimate: Result<PredictionPowered, UndefinedReason>,
    pub bounds: Result<GateBounds, UndefinedReason>,
}

/// Decides by the corrected mean: pass if its lower bound reaches the threshold, fail if its upper bound does not.
/// `n_missing` cases had no score of the judges. Sources are not taken into account. Source: specification 7.3.
pub fn ppi_gate(gate: &PpiGate, cases: &PpiCases<'_>, n_missing: usize) -> Result<PpiOutcome, PpiError> {
    check_share("threshold", gate.threshold)?;
    check_guards(gate.confidence, gate.max_missing)?;
    let estimate = match prediction_powered(cases, Lambda::Tuned) {
        Ok(own) => Ok(own),
        Err(PpiError::Undefined(reason)) => Err(reason),
        Err(error) => return Err(error),
    };
    let bounds =
        estimate.and_then(|own| own.bounds(gate.confidence).ok_or(UndefinedReason::NoVarianceEstimate));
    let n = cases.human.len() + cases.unlabelled.len();
    let bare = match bounds {
        Ok(own) if own.lower >= gate.threshold - SLACK => Decision::Pass,
        Ok(own) if own.upper < gate.threshold - SLACK => Decision::Fail,
        Ok(_) | Err(_) => Decision::Inconclusive,
    };
    let reason = if n == 0 {
        GateReason::NothingScored
    } else if too_many(n_missing, n + n_missing, gate.max_missing) {
        GateReason::TooManyMissing
    } else if cases.human.len() < gate.min_labels {
        GateReason::TooFewLabels
    } else if bounds.is_err() {
        GateReason::NoVarianceEstimate
    } else if bare == Decision::Inconclusive {
        GateReason::BoundsHoldThreshold
    } else {
        GateReason::Decided
    };
    let decision = if reason == GateReason::Decided { bare } else { Decision::Inconclusive };
    Ok(PpiOutcome { decision, reason, estimate, bounds })
}

fn check(cases: &PpiCases<'_>) -> Result<(), PpiError> {
    let human = cases.human.len();
    let weights = cases.weights.unwrap_or(&[]);
    for (list, values) in [("judge's score", Some(cases.judge)), ("weight", cases.weights)] {
        if let Some(got) = values.map(<[f64]>::len).filter(|got| *got != human) {
            return Err(PpiError::UnequalLengths { list, human, got });
        }
    }
    let lists = [
        ("person's score", cases.human),
        ("judge's score", cases.judge),
        ("judge's score without label", cases.unlabelled),
        ("weight", weights),
    ];
    for (list, values) in lists {
        let is_bad = |value: f64| !value.is_finite() || (list == "weight" && value <= 0.0);
        if let Some((case, value)) = values.iter().enumerate().find(|(_, value)| is_bad(**value)) {
            return Err(PpiError::BadValue { list, case, value: *value });
        }
    }
    Ok(())
}

/// Weights of the labelled cases that add up to 1.
#[expect(clippy::cast_precision_loss, reason = "counts of cases are far below 2^52")]
fn shares(cases: &PpiCases<'_>) -> Vec<f64> {
    let n = cases.human.len();
    match cases.weights {
        Some(weights) => {
            let sum: f64 = weights.iter().sum();
            weights.iter().map(|weight| weight / sum).collect()
        }
        None => vec![1.0 / n as f64; n],
    }
}

#[expect(clippy::cast_precision_loss, reason = "counts of cases are far below 2^52")]
fn tuned(cases: &PpiCases<'_>, weights: &[f64]) -> f64 {
    let (n, n_others) = (cases.human.len() as f64, cases.unlabelled.len() as f64);
    let mean_of = |values: &[f64]| values.iter().zip(weights).map(|(x, w)| x * w).sum::<f64>();
    let (y, f) = (mean_of(cases.human), mean_of(cases.judge));
    let pairs = cases.human.iter().zip(cases.judge).zip(weights);
    let covariance = pairs.map(|((own_y, own_f), w)| w * (own_y - y) * (own_f - f)).sum::<f64>();
    let all = (f * n + cases.unlabelled.iter().sum::<f64>()) / (n + n_others);
    let labelled = cases.judge.iter().zip(weights).map(|(own, w)| n * w * (own - all).powi(2)).sum::<f64>();
    let others = cases.unlabelled.iter().map(|own| (own - all).powi(2)).sum::<f64>();
    let variance = (labelled + others) / (n + n_others - 1.0);
    // A variance of rounding alone is none.
    if variance > f64::EPSILON * f64::EPSILON * all * all {
        (covariance / ((1.0 + n / n_others) * variance)).clamp(0.0, 1.0)
    } else {
        0.0
    }
}

#[cfg(test)]
mod tests;
