//! Kappa of the sample beside kappa of the traffic (specification 2.3).
//!
//! The sample is enriched with hard cases: its kappa is its own. Weighted by how many cases of its stratum each one
//! stands for, it estimates that of the traffic, with a wider interval.

use crate::agreement::{Confusion, Kernel, Level, cohen_kappa};
use crate::calibration::CalibrationError;
use crate::draw::Draw;
use crate::estimate::{Estimate, Estimated, UndefinedReason};
use crate::numeric::{Distribution, Resampling};
use crate::protocol::Stratum;

/// One drawn case with both labels.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct DesignCase {
    pub judge: Option<usize>,
    pub person: Option<usize>,
    pub stratum: Stratum,
    /// `N_h / n_h` of the draw, above 0.
    pub weight: f64,
}

/// Both kappas. Intervals are percentile ones of resamples within strata, since the draw fixed how many cases each
/// stratum has; `None` where more than 5 % of them have no kappa, and where kappa does not vary at all.
#[derive(Debug, Clone, PartialEq)]
pub struct DesignKappa {
    /// For the sample.
    pub unweighted: Estimated,
    /// For the traffic that the sample was drawn from.
    pub weighted: Estimated,
}

/// Measures both, with the kappa that decides a calibration on this scale. A case without one of the labels is left
/// out and its weight with it: a stratum in which many are missing then counts for less than it should.
pub fn design_kappa(
    labels: usize,
    level: Level<'_>,
    cases: &[DesignCase],
    resampling: Resampling,
) -> Result<DesignKappa, CalibrationError> {
    level.check(labels)?;
    let weighted = Confusion::from_weighted_pairs(
        labels,
        cases.iter().map(|case| ((case.judge, case.person), case.weight)),
    )?;
    let plain = Confusion::from_pairs(labels, cases.iter().map(|case| (case.judge, case.person)))?;
    let (distance, positions) = level.distance(labels);
    let (mut counts, mut sums) = (vec![0.0; labels * labels], vec![0.0; labels * labels]);
    let mut kernel = Kernel::new(labels, distance, positions)?;
    let strata = strata(cases, labels);
    let mut draw = Draw::new(resampling.seed, "design_kappa");
    let (mut unweighted_values, mut weighted_values) = (Vec::new(), Vec::new());
    for _ in 0..resampling.resamples {
        counts.fill(0.0);
        sums.fill(0.0);
        for stratum in &strata {
            for _ in 0..stratum.len() {
                if let Some(&(cell, weight)) = stratum.get(draw.below(stratum.len()))
                    && let (Some(count), Some(sum)) = (counts.get_mut(cell), sums.get_mut(cell))
                {
                    *count += 1.0;
                    *sum += weight;
                }
            }
        }
        unweighted_values.push(kernel.kappa(&counts));
        weighted_values.push(kernel.kappa(&sums));
    }
    let estimate = |table: &Confusion, values: Vec<Option<f64>>| -> Result<Estimated, CalibrationError> {
        let estimated = cohen_kappa(table, distance, positions)?.estimate();
        let resampled = Distribution::new(values);
        Ok(estimated.map(|known| with_interval(known, resampled, resampling.confidence)))
    };
    Ok(DesignKappa {
        unweighted: estimate(&plain, unweighted_values)?,
        weighted: estimate(&weighted, weighted_values)?,
    })
}

fn with_interval(
    estimate: Estimate,
    resampled: Result<Distribution, UndefinedReason>,
    confidence: f64,
) -> Estimate {
    let interval = resampled.ok().and_then(|known| known.percentile(confidence));
    Estimate { interval: interval.filter(|known| known.lo < known.hi), ..estimate }
}

/// The cell and weight of every usable case, one list a stratum.
fn strata(cases: &[DesignCase], labels: usize) -> [Vec<(usize, f64)>; 3] {
    [Stratum::ClearBad, Stratum::Grey, Stratum::ClearGood].map(|stratum| {
        let own = cases.iter().filter(|case| case.stratum == stratum);
        own.filter_map(|case| Some((case.judge? * labels + case.person?, case.weight))).collect()
    })
}

#[cfg(test)]
mod tests {
    use super::{DesignCase, design_kappa};
    use crate::agreement::{ConfusionError, Level};
    use crate::calibration::CalibrationError;
    use crate::estimate::UndefinedReason;
    use crate::numeric::Resampling;
    use crate::protocol::Stratum;

    fn cases(stratum: Stratum, weight: f64, cells: &[(usize, usize, usize)]) -> Vec<DesignCase> {
        let of = |&(judge, person, n): &(usize, usize, usize)| {
            std::iter::repeat_n(DesignCase { judge: Some(judge), person: Some(person), stratum, weight }, n)
        };
        cells.iter().flat_map(of).collect()
    }

    #[test]
    fn the_weighted_kappa_is_that_of_the_traffic() {
        // 12 of 24 bad, 26 of 26 grey, 12 of 1200 good.
        let mut sample = cases(Stratum::ClearBad, 2.0, &[(0, 0, 12)]);
        sample.extend(cases(Stratum::Grey, 1.0, &[(0, 0, 7), (1, 0, 6), (0, 1, 3), (1, 1, 10)]));
        sample.extend(cases(Stratum::ClearGood, 100.0, &[(1, 1, 12)]));
        let known = design_kappa(2, Level::Nominal, &sample, Resampling::default()).unwrap();
        // 31, 6, 3 and 1210 of 1250.
        let p_e = (34.0 * 37.0 + 1216.0 * 1213.0) / 1250.0_f64.powi(2);
        let weighted = known.weighted.unwrap();
        assert!((weighted.value - (1241.0 / 1250.0 - p_e) / (1.0 - p_e)).abs() < 1e-12);
        let unweighted = known.unweighted.unwrap();
        assert!((unweighted.value - 0.64).abs() < 0.01, "{unweighted:?}");
        for estimate in [weighted, unweighted] {
            let interval = estimate.interval.unwrap();
            assert!(interval.lo < estimate.value && estimate.value < interval.hi, "{estimate:?}");
        }
        let again = design_kappa(2, Level::Nominal, &sample, Resampling::default()).unwrap();
        assert_eq!(again.weighted.unwrap(), weighted);
    }

    #[test]
    fn missing_labels_are_counted_and_nothing_has_no_kappa() {
        let mut sample = cases(Stratum::Grey, 1.0, &[(0, 0, 5), (1, 1, 5)]);
        sample.push(DesignCase { judge: None, person: Some(1), stratum: Stratum::Grey, weight: 1.0 });
        let known = design_kappa(2, Level::Nominal, &sample, Resampling::default()).unwrap();
        let weighted = known.weighted.unwrap();
        assert_eq!((weighted.n, weighted.n_dropped, weighted.interval), (10, 1, None));
        let none = design_kappa(2, Level::Nominal, &[], Resampling::default()).unwrap();
        assert_eq!(none.weighted.unwrap_err().reason, UndefinedReason::Empty);
    }

    #[test]
    fn a_weight_that_is_none_is_refused_by_its_case() {
        let mut sample = cases(Stratum::Grey, 1.0, &[(0, 0, 2)]);
        sample[1].weight = 0.0;
        let error = design_kappa(2, Level::Nominal, &sample, Resampling::default()).unwrap_err();
        assert_eq!(error, CalibrationError::Confusion(ConfusionError::BadWeight { pair: 1, weight: 0.0 }));
    }
}
