//! Whether a judge agrees with people well enough to be used: the status of one judge on one criterion.
//!
//! A status belongs to the judge's model, its prompt and the rubric it was measured with; what keeps those apart is
//! not known here. Source: specification 1.5, 1.7 and 2.2.

use serde::{Deserialize, Serialize};

use crate::agreement::{CohenKappa, Confusion, ConfusionError, Distance, bootstrap_kappa, cohen_kappa};
use crate::estimate::{ConfidenceInterval, Estimate, Estimated, Undefined};
use crate::numeric::{Resampling, bootstrap};

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
            least_in_class: 5,
            ceiling_margin: 0.05,
        }
    }
}

/// One judge measured against people's labels on one criterion.
#[derive(Debug, Clone, PartialEq)]
pub struct Calibration {
    /// The kappa that decides: quadratic on ordered scales, plain on others. Its interval is the bootstrap's below 100
    /// cases and the analytic one from there on.
    pub headline: Estimated,
    pub plain: CohenKappa,
    /// Ordered scales only, as is the next.
    pub linear: Option<CohenKappa>,
    pub quadratic: Option<CohenKappa>,
    /// Rows are the judge, columns people.
    pub confusion: Confusion,
    /// Of the cases that people gave each label, the share to which the judge gave it too; `None` for an unused label.
    pub recall: Vec<Option<f64>>,
    pub status: Status,
}

/// Measures a judge against people over a scale of `labels` labels (indexes); pairs are (judge, person).
///
/// `ordered` decides the headline; `positions` as for [`cohen_kappa`]. A label off the scale is an error.
pub fn calibrate(
    labels: usize,
    ordered: bool,
    positions: Option<&[f64]>,
    pairs: &[(Option<usize>, Option<usize>)],
    thresholds: Thresholds,
    resampling: Resampling,
) -> Result<Calibration, ConfusionError> {
    let confusion = Confusion::from_pairs(labels, pairs.iter().copied())?;
    let kappa = |distance| cohen_kappa(&confusion, distance, positions);
    let distance = if ordered { Distance::Quadratic } else { Distance::Nominal };
    let headline = headline(&confusion, distance, positions, resampling);
    Ok(Calibration {
        headline,
        plain: kappa(Distance::Nominal),
        linear: ordered.then(|| kappa(Distance::Linear)),
        quadratic: ordered.then(|| kappa(Distance::Quadratic)),
        recall: recall(&confusion),
        status: status(headline, &confusion.column_totals(), thresholds),
        confusion,
    })
}

/// Kappa with the interval to be shown first: none where it is degenerate.
fn headline(
    table: &Confusion,
    distance: Distance,
    positions: Option<&[f64]>,
    resampling: Resampling,
) -> Estimated {
    let analytic = cohen_kappa(table, distance, positions).estimate()?;
    if analytic.interval.is_none() || table.n() >= ANALYTIC_FROM {
        return Ok(analytic);
    }
    let distribution = bootstrap_kappa(table, distance, positions, resampling).ok();
    let interval = distribution.and_then(|known| known.percentile(resampling.confidence));
    Ok(Estimate { interval, ..analytic })
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

fn recall(table: &Confusion) -> Vec<Option<f64>> {
    let right = table.cells().filter(|(row, column, _)| row == column).map(|(_, _, count)| count);
    right.zip(table.column_totals()).map(|(right, all)| (all > 0.0).then(|| right / all)).collect()
}

/// A judge and two people on the cases that all three labelled: the only fair comparison with people's own agreement.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Ceiling {
    /// Kappa of the two people.
    pub people: f64,
    /// Mean of the judge's kappas with each of them.
    pub judge: f64,
    /// Judge less people, resampled over cases; `None` where too many resamples have no kappa.
    pub difference: Option<ConfidenceInterval>,
    pub n: usize,
    /// Cases left out because one of the three has no label.
    pub n_dropped: usize,
    /// The judge is at most the margin below people, on enough cases. A description, not a proof.
    pub at_ceiling: bool,
}

/// Compares like for like (specification 2.2). Cases are (judge, first person, second person).
pub fn ceiling(
    labels: usize,
    distance: Distance,
    positions: Option<&[f64]>,
    cases: &[[Option<usize>; 3]],
    thresholds: Thresholds,
    resampling: Resampling,
) -> Result<Result<Ceiling, Undefined>, ConfusionError> {
    for case in cases {
        Confusion::from_pairs(labels, case.iter().map(|label| (*label, *label)))?;
    }
    let full: Vec<[usize; 3]> =
        cases.iter().filter_map(|[judge, a, b]| Some([(*judge)?, (*a)?, (*b)?])).collect();
    let (n, n_dropped) = (full.len(), cases.len() - full.len());
    let kappa = |places: &[usize], one: usize, other: usize| {
        let label = |case: &[usize; 3], rater: usize| case.get(rater).copied();
        let drawn = places.iter().filter_map(|place| full.get(*place));
        let table =
            Confusion::from_pairs(labels, drawn.map(|case| (label(case, one), label(case, other)))).ok()?;
        Some(cohen_kappa(&table, distance, positions).kappa.map(|kappa| kappa.value))
    };
    let both = |places: &[usize]| {
        let (people, first, second) = (kappa(places, 1, 2)?, kappa(places, 0, 1)?, kappa(places, 0, 2)?);
        Some(people.and_then(|people| Ok((people, f64::midpoint(first?, second?)))))
    };
    let all: Vec<usize> = (0..n).collect();
    let (people, judge) = match both(&all) {
        Some(Ok(known)) => known,
        Some(Err(reason)) => return Ok(Err(Undefined { reason, n, n_dropped })),
        None => return Ok(Err(Undefined { reason: crate::UndefinedReason::Empty, n, n_dropped })),
    };
    let difference = bootstrap(n, &[], "kappa_ceiling", resampling, |places| {
        both(places)?.ok().map(|(people, judge)| judge - people)
    });
    Ok(Ok(Ceiling {
        people,
        judge,
        difference: difference.ok().and_then(|known| known.percentile(resampling.confidence)),
        n,
        n_dropped,
        at_ceiling: n >= thresholds.least_cases && judge - people >= -thresholds.ceiling_margin - SLACK,
    }))
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
