//! Krippendorff's alpha: agreement of any number of raters, with missing ratings and ordered labels.

use crate::agreement::level::{CoefficientError, Level, check_distinct};
use crate::agreement::ratings::RatingCounts;
use crate::estimate::UndefinedReason;
use crate::numeric::{Distribution, Resampling, bootstrap};

/// Alpha and what it rests on.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct KrippendorffAlpha {
    /// At most 1.
    pub alpha: f64,
    /// Units with at least two ratings; the others are left out.
    pub n_pairable_units: usize,
}

/// Krippendorff's alpha (specification 1.8) `1 - Σ o δ² / Σ e δ²`, from the coincidences
/// `o_ck = Σ_u n_uc (n_uk - 1[c = k]) / (m_u - 1)` and `e_ck = n_c (n_k - 1[c = k]) / (n - 1)`.
///
/// The values of an interval scale are finite, as many as labels, and no two the same. `SingleValueDomain` for a scale
/// of one label, `Empty` without units, `NoPairableUnits` when none has two ratings, `NoVariation` when all of those
/// are one label. Source: Krippendorff 2011; `krippendorff.json`.
pub fn krippendorff_alpha(
    counts: &RatingCounts,
    level: Level<'_>,
) -> Result<KrippendorffAlpha, CoefficientError> {
    let units = pairable(counts, level)?;
    Ok(KrippendorffAlpha { alpha: alpha(&units, counts.labels(), level)?, n_pairable_units: units.len() })
}

/// Alpha of every resample of the units with at least two ratings, each drawn with all its ratings. The same seed and
/// counts give the same bits. Undefined as alpha; `TooFew` when more than 5 % of the resamples have none.
pub fn bootstrap_alpha(
    counts: &RatingCounts,
    level: Level<'_>,
    resampling: Resampling,
) -> Result<Distribution, CoefficientError> {
    let units = pairable(counts, level)?;
    let mut drawn = Vec::with_capacity(units.len());
    let distribution = bootstrap(units.len(), &[], "bootstrap_alpha", resampling, |places| {
        drawn.clear();
        drawn.extend(places.iter().filter_map(|place| units.get(*place)));
        alpha(&drawn, counts.labels(), level).ok()
    });
    Ok(distribution?)
}

/// A unit's label counts, and how many ratings it has.
type Unit<'a> = (&'a [f64], f64);

fn pairable<'a>(counts: &'a RatingCounts, level: Level<'_>) -> Result<Vec<Unit<'a>>, CoefficientError> {
    if let Some(values) = level.positions() {
        check_distinct(counts.labels(), values)?;
    }
    if counts.labels() == 1 {
        return Err(UndefinedReason::SingleValueDomain.into());
    }
    let rated = counts.rated();
    if rated.is_empty() {
        return Err(UndefinedReason::Empty.into());
    }
    let units: Vec<Unit<'a>> = rated.into_iter().filter(|(_, m)| *m > 1.0).collect();
    if units.is_empty() { Err(UndefinedReason::NoPairableUnits.into()) } else { Ok(units) }
}

fn alpha(units: &[Unit<'_>], labels: usize, level: Level<'_>) -> Result<f64, UndefinedReason> {
    let mut totals = vec![0.0; labels];
    for (row, _) in units {
        for (total, count) in totals.iter_mut().zip(*row) {
            *total += count;
        }
    }
    let squares = squares(&totals, level);
    // The sum of o δ² and of e δ²; where c = k the square is 0.
    let pairs = |row: &[f64]| -> f64 {
        let of = |(c, apart): (&f64, &[f64])| c * row.iter().zip(apart).map(|(k, d)| k * d).sum::<f64>();
        row.iter().zip(squares.chunks(labels.max(1))).map(of).sum()
    };
    let observed: f64 = units.iter().map(|(row, m)| pairs(row) / (m - 1.0)).sum();
    let n: f64 = totals.iter().sum();
    let expected = pairs(&totals) / (n - 1.0);
    if expected <= 0.0 { Err(UndefinedReason::NoVariation) } else { Ok(1.0 - observed / expected) }
}

/// `δ²` of every pair of labels, row by row, scaled so that none overflows: alpha does not change with the scale.
fn squares(totals: &[f64], level: Level<'_>) -> Vec<f64> {
    let mut before = Vec::with_capacity(totals.len());
    let mut sum = 0.0;
    for total in totals {
        // Ratings below the middle of the label: differences of these are the ordinal distance.
        before.push(sum + total / 2.0);
        sum += total;
    }
    let places: Vec<f64> = match level {
        Level::Nominal | Level::Ordinal => before,
        Level::Interval(values) => {
            let widest = values.iter().fold(0.0_f64, |most, value| most.max(value.abs()));
            values.iter().map(|value| if widest > 0.0 { value / widest } else { 0.0 }).collect()
        }
    };
    let of = |c: usize, k: usize, a: f64, b: f64| match level {
        Level::Nominal => f64::from(u8::from(c != k)),
        Level::Ordinal | Level::Interval(_) => (a - b) * (a - b),
    };
    let all = || places.iter().enumerate();
    all().flat_map(|(c, a)| all().map(move |(k, b)| of(c, k, *a, *b))).collect()
}

#[cfg(test)]
mod tests {
    use super::{Level, bootstrap_alpha, krippendorff_alpha};
    use crate::agreement::{CoefficientError, PositionsError, RatingCounts};
    use crate::estimate::UndefinedReason;
    use crate::numeric::Resampling;

    #[test]
    fn values_that_are_no_scale_are_refused_by_label() {
        let counts = RatingCounts::from_ratings(2, &[vec![Some(0), Some(1)]]).unwrap();
        let check = |values: &[f64], want: PositionsError| {
            let got = krippendorff_alpha(&counts, Level::Interval(values)).unwrap_err();
            assert_eq!(got.to_string(), CoefficientError::Positions(want).to_string());
        };
        check(&[1.0], PositionsError::WrongLength { got: 1, labels: 2 });
        check(&[1.0, f64::NAN], PositionsError::NotFinite { label: 1, value: f64::NAN });
        check(&[1.0, 1.0], PositionsError::Repeated { earlier: 0, label: 1, value: 1.0 });
    }

    #[test]
    fn no_ratings_have_no_alpha() {
        let check = |units: &[Vec<Option<usize>>], reason: UndefinedReason| {
            let counts = RatingCounts::from_ratings(2, units).unwrap();
            assert_eq!(krippendorff_alpha(&counts, Level::Ordinal), Err(reason.into()));
            let resampled = bootstrap_alpha(&counts, Level::Ordinal, Resampling::default());
            let reason =
                if reason == UndefinedReason::NoVariation { UndefinedReason::TooFew } else { reason };
            assert_eq!(resampled, Err(CoefficientError::Undefined(reason)));
        };
        check(&[], UndefinedReason::Empty);
        check(&[vec![Some(0), None], vec![None, Some(1)]], UndefinedReason::NoPairableUnits);
        check(&[vec![Some(0), Some(0)], vec![Some(0), Some(0)]], UndefinedReason::NoVariation);
    }

    #[test]
    fn the_interval_of_alpha_holds_alpha_and_narrows_with_more_units() {
        let unit =
            |i: usize| vec![Some(i % 3), Some(if i.is_multiple_of(4) { (i + 1) % 3 } else { i % 3 }), None];
        let width = |n: usize| {
            let counts = RatingCounts::from_ratings(3, &(0..n).map(unit).collect::<Vec<_>>()).unwrap();
            let alpha = krippendorff_alpha(&counts, Level::Nominal).unwrap().alpha;
            let resampling = Resampling { resamples: 400, ..Resampling::default() };
            let known = bootstrap_alpha(&counts, Level::Nominal, resampling).unwrap();
            assert_eq!(known, bootstrap_alpha(&counts, Level::Nominal, resampling).unwrap());
            let interval = known.percentile(0.95).unwrap();
            assert!(interval.lo < alpha && alpha < interval.hi, "{interval:?} {alpha}");
            interval.hi - interval.lo
        };
        assert!(width(96) < width(24));
    }
}
