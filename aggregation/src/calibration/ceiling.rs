//! Whether a judge agrees with two people as well as they agree with each other.

use super::{CalibrationError, SLACK, Thresholds};
use crate::agreement::{ConfusionError, Kernel, Level};
use crate::estimate::{ConfidenceInterval, Undefined, UndefinedReason};
use crate::numeric::{Resampling, bootstrap};

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

/// Compares like for like (specification 2.2). Cases are (judge, first person, second person); the kappa is the one
/// that decides a calibration on this scale.
pub fn ceiling(
    labels: usize,
    level: Level<'_>,
    cases: &[[Option<usize>; 3]],
    thresholds: Thresholds,
    resampling: Resampling,
) -> Result<Result<Ceiling, Undefined>, CalibrationError> {
    level.check(labels)?;
    for (pair, case) in cases.iter().enumerate() {
        if let Some(&label) = case.iter().flatten().find(|label| **label >= labels) {
            return Err(ConfusionError::UnknownLabel { pair, label, labels }.into());
        }
    }
    let full: Vec<[usize; 3]> =
        cases.iter().filter_map(|[judge, a, b]| Some([(*judge)?, (*a)?, (*b)?])).collect();
    let (n, n_dropped) = (full.len(), cases.len() - full.len());
    let (distance, positions) = level.distance(labels);
    let mut kernel = Kernel::new(labels, distance, positions)?;
    let mut tables = [(); 3].map(|()| vec![0.0; labels * labels]);
    let mut both = |places: &[usize]| {
        count(&mut tables, labels, places.iter().filter_map(|place| full.get(*place)));
        let [people, first, second] = &tables;
        Some((kernel.kappa(people)?, f64::midpoint(kernel.kappa(first)?, kernel.kappa(second)?)))
    };
    let all: Vec<usize> = (0..n).collect();
    let Some((people, judge)) = both(&all) else {
        let reason = if n == 0 { UndefinedReason::Empty } else { UndefinedReason::DegenerateMarginals };
        return Ok(Err(Undefined { reason, n, n_dropped }));
    };
    let difference = bootstrap(n, &[], "kappa_ceiling", resampling, |places| {
        both(places).map(|(people, judge)| judge - people)
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

/// The tables of the two people, and of the judge with each of them.
fn count<'a>(tables: &mut [Vec<f64>; 3], labels: usize, cases: impl Iterator<Item = &'a [usize; 3]>) {
    for table in tables.iter_mut() {
        table.fill(0.0);
    }
    for &[judge, first, second] in cases {
        for (table, (row, column)) in
            tables.iter_mut().zip([(first, second), (judge, first), (judge, second)])
        {
            if let Some(count) = table.get_mut(row * labels + column) {
                *count += 1.0;
            }
        }
    }
}
