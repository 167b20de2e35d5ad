//! Whether a judge agrees with people well enough to be used: the status of one judge on one criterion.
//!
//! A status belongs to the judge's model, its prompt and the rubric it was measured with; what keeps those apart is
//! not known here. Source: specification 1.5, 1.7 and 2.2.

use serde::{Deserialize, Serialize};

use crate::agreement::{
    BinaryIndexes, CohenKappa, Confusion, ConfusionError, Distance, GwetAc, IntervalMethod, Level,
    PositionsError, bootstrap_kappa, cohen_kappa, interval_of,
};
use crate::estimate::{ConfidenceInterval, Estimate, Estimated, UndefinedReason};
use crate::numeric::Resampling;

mod ceiling;
mod class_agreement;
mod warning;

pub use ceiling::{Ceiling, ceiling};
pub use class_agreement::ClassAgreement;
use class_agreement::{ac1, class_agreement, leniency};
use warning::warnings;
pub use warning::{CalibrationWarning, Rater};

/// Slack of every comparison with a threshold, so that a value computed as 0.6 passes 0.6.
const SLACK: f64 = 1e-12;
/// Below this many cases the analytic interval covers too little, and the bootstrap is the headline.
const ANALYTIC_FROM: usize = 100;

/// How far a judge may be trusted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    Calibrated,
    /// Weak, but people agree no better with each other on the same cases.
    CalibratedAtCeiling,
    Weak,
    /// Too few labels, or no kappa, or no interval that says anything.
    Inconclusive,
    Failed,
}

impl Status {
    /// Whether a judge of this status has a weight (specification 4.3).
    pub fn has_weight(self) -> bool {
        match self {
            Self::Calibrated | Self::CalibratedAtCeiling | Self::Weak => true,
            Self::Inconclusive | Self::Failed => false,
        }
    }
}

/// Where the statuses begin.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Thresholds {
    /// Least kappa of a calibrated judge.
    pub calibrated: f64,
    /// Least lower end of its interval.
    pub least_lower: f64,
    /// Least kappa of a weak judge; below it a judge has failed.
    pub weak: f64,
    /// Least cases.
    pub least_cases: usize,
    /// Cases below which a usable calibration carries a warning.
    pub enough_cases: usize,
    /// Least cases in each of people's classes, on scales of two labels.
    pub least_in_class: usize,
    /// How far below people's kappa a judge may be and still be at the ceiling.
    pub ceiling_margin: f64,
}

impl Default for Thresholds {
    fn default() -> Self {
        Self {
            calibrated: 0.6,
            least_lower: 0.4,
            weak: 0.4,
            least_cases: 30,
            enough_cases: 50,
            least_in_class: 5,
            ceiling_margin: 0.05,
        }
    }
}

/// One judge measured against people's labels on one criterion.
#[derive(Debug, Clone, PartialEq)]
pub struct Calibration {
    /// The kappa that decides: quadratic on ordered scales, plain on others and on two labels. Its interval is the
    /// percentile bootstrap's below 100 cases, the analytic one from there on, and the exact one where no pair differs.
    pub headline: Estimated,
    /// How the headline's interval was found; `None` without one.
    pub interval_method: Option<IntervalMethod>,
    /// Beside a percentile interval: the accelerated one, or which other stands for it.
    pub accelerated: Option<(ConfidenceInterval, IntervalMethod)>,
    /// With the largest kappa that the marginals allow.
    pub plain: CohenKappa,
    /// Ordered scales only, as is the next.
    pub linear: Option<CohenKappa>,
    pub quadratic: Option<CohenKappa>,
    /// Rows are the judge, columns people.
    pub confusion: Confusion,
    /// One a label.
    pub classes: Vec<ClassAgreement>,
    /// Prevalence, bias and PABAK; scales of two labels only.
    pub indexes: Option<BinaryIndexes>,
    /// Agreement that stays high where one label prevails, also for a judge that always says that label.
    pub ac1: Result<GwetAc, UndefinedReason>,
    /// Mean of judge less person in score01, paired; positive is kinder. Ordered scales only.
    pub leniency: Option<Estimated>,
    pub warnings: Vec<CalibrationWarning>,
    pub status: Status,
}

/// Why a judge cannot be measured. Pairs and cases count from 0.
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
pub enum CalibrationError {
    #[error(transparent)]
    Confusion(#[from] ConfusionError),
    #[error(transparent)]
    Positions(#[from] PositionsError),
}

/// Measures a judge against people over a scale of `labels` labels (indexes); pairs are (judge, person).
///
/// Pass and fail are an ordered scale of two labels. A label off the scale is an error, and so are values of an
/// interval scale that do not increase.
pub fn calibrate(
    labels: usize,
    level: Level<'_>,
    pairs: &[(Option<usize>, Option<usize>)],
    thresholds: Thresholds,
    resampling: Resampling,
) -> Result<Calibration, CalibrationError> {
    level.check(labels)?;
    let confusion = Confusion::from_pairs(labels, pairs.iter().copied())?;
    let kappa = |distance| cohen_kappa(&confusion, distance, level.positions());
    let ordered = |distance| level.is_ordered().then(|| kappa(distance)).transpose();
    let headline = headline(&confusion, level, resampling)?;
    let plain = kappa(Distance::Nominal)?;
    Ok(Calibration {
        headline: headline.kappa,
        interval_method: headline.method,
        accelerated: headline.accelerated,
        linear: ordered(Distance::Linear)?,
        quadratic: ordered(Distance::Quadratic)?,
        classes: class_agreement(&confusion),
        indexes: confusion.binary_indexes(),
        ac1: ac1(&confusion),
        leniency: leniency(&confusion, level, resampling.confidence),
        warnings: warnings(&confusion, &plain, thresholds),
        status: status(headline.kappa, &confusion.column_totals(), thresholds),
        plain,
        confusion,
    })
}

struct Headline {
    kappa: Estimated,
    method: Option<IntervalMethod>,
    accelerated: Option<(ConfidenceInterval, IntervalMethod)>,
}

/// Kappa with the interval to be shown first: none where it is degenerate, unless no pair differs.
fn headline(table: &Confusion, level: Level<'_>, resampling: Resampling) -> Result<Headline, PositionsError> {
    let (distance, positions) = level.distance(table.labels());
    let cohen = cohen_kappa(table, distance, positions)?;
    let with = |interval: Option<(ConfidenceInterval, IntervalMethod)>, accelerated| Headline {
        kappa: cohen
            .estimate()
            .map(|estimate| Estimate { interval: interval.map(|(known, _)| known), ..estimate }),
        method: interval.map(|(_, method)| method),
        accelerated,
    };
    let Ok(kappa) = cohen.kappa else { return Ok(with(None, None)) };
    if let Some(lo) = kappa.perfect_lower {
        let interval = ConfidenceInterval { lo, hi: 1.0, confidence: 0.95 };
        return Ok(with(Some((interval, IntervalMethod::Exact)), None));
    }
    let Some(analytic) = kappa.error.filter(|error| !error.degenerate) else { return Ok(with(None, None)) };
    if table.n() >= ANALYTIC_FROM {
        return Ok(with(Some((analytic.interval, IntervalMethod::Analytic)), None));
    }
    let Ok(resampled) = bootstrap_kappa(table, distance, positions, resampling) else {
        return Ok(with(None, None));
    };
    let accelerated = interval_of(&resampled, table, distance, positions, resampling.confidence)?;
    let percentile = resampled.percentile(resampling.confidence);
    Ok(with(percentile.map(|interval| (interval, IntervalMethod::Percentile)), accelerated))
}

/// The status that a kappa earns (specification 1.5). `in_class`: how many cases people gave each label.
pub fn status(kappa: Estimated, in_class: &[f64], thresholds: Thresholds) -> Status {
    let Ok(Estimate { value, interval: Some(interval), n, .. }) = kappa else { return Status::Inconclusive };
    #[expect(clippy::cast_precision_loss, reason = "a threshold of a few cases")]
    let thin = in_class.len() == 2 && in_class.iter().any(|n| *n < thresholds.least_in_class as f64);
    if n < thresholds.least_cases || thin {
        return Status::Inconclusive;
    }
    if value < thresholds.weak - SLACK {
        return Status::Failed;
    }
    let sure = interval.lo >= thresholds.least_lower - SLACK;
    if sure && value >= thresholds.calibrated - SLACK { Status::Calibrated } else { Status::Weak }
}

/// A weak judge at the ceiling is as good as the task allows; no other status changes.
#[must_use]
pub fn lift(status: Status, ceiling: &Ceiling) -> Status {
    match status {
        Status::Weak if ceiling.at_ceiling => Status::CalibratedAtCeiling,
        Status::Calibrated
        | Status::CalibratedAtCeiling
        | Status::Weak
        | Status::Inconclusive
        | Status::Failed => status,
    }
}

#[cfg(test)]
mod tests;
