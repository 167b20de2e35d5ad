//! Krippendorff's alpha: agreement of any number of raters, with missing ratings and ordered labels.

use crate::agreement::ratings::RatingCounts;
use crate::estimate::UndefinedReason;

/// What the labels are, which decides how far two of them are apart.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Level<'a> {
    Nominal,
    /// By how many ratings lie between; the labels are in order.
    Ordinal,
    /// By the squared difference of the labels' values.
    Interval(&'a [f64]),
}

/// Alpha and what it rests on.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct KrippendorffAlpha {
    /// At most 1.
    pub alpha: f64,
    /// Units with at least two ratings; the others are left out.
    pub n_pairable_units: usize,
}

/// Why there is no alpha.
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
pub enum AlphaError {
    #[error("{got} values were given for {labels} labels")]
    UnequalLengths { got: usize, labels: usize },
    #[error("the value of label {label} is {value}, not a finite number")]
    NotFinite { label: usize, value: f64 },
    #[error(transparent)]
    Undefined(#[from] UndefinedReason),
}

/// Krippendorff's alpha (specification 1.8) `1 - Σ o δ² / Σ e δ²`, from the coincidences
/// `o_ck = Σ_u n_uc (n_uk - 1[c = k]) / (m_u - 1)` and `e_ck = n_c (n_k - 1[c = k]) / (n - 1)`.
///
/// `SingleValueDomain` for a scale of one label, `Empty` without units, `NoPairableUnits` when none has two ratings,
/// `NoVariation` when all of those are one label. Source: Krippendorff 2011; `krippendorff.json`.
pub fn krippendorff_alpha(counts: &RatingCounts, level: Level<'_>) -> Result<KrippendorffAlpha, AlphaError> {
    let labels = counts.labels();
    if let Level::Interval(values) = level {
        if values.len() != labels {
            return Err(AlphaError::UnequalLengths { got: values.len(), labels });
        }
        let bad = values.iter().enumerate().find(|(_, value)| !value.is_finite());
        if let Some((label, &value)) = bad {
            return Err(AlphaError::NotFinite { label, value });
        }
    }
    let undefined = |reason: UndefinedReason| Err(reason.into());
    if labels == 1 {
        return undefined(UndefinedReason::SingleValueDomain);
    }
    let rated = counts.rated();
    if rated.is_empty() {
        return undefined(UndefinedReason::Empty);
    }
    let units: Vec<_> = rated.into_iter().filter(|(_, m)| *m > 1.0).collect();
    if units.is_empty() {
        return undefined(UndefinedReason::NoPairableUnits);
    }
    let mut totals = vec![0.0; labels];
    for (row, _) in &units {
        for (total, count) in totals.iter_mut().zip(*row) {
            *total += count;
        }
    }
    let squares = squares(&totals, level);
    // The sum of o δ² and of e δ²; where c = k the square is 0.
    let pairs = |row: &[f64]| -> f64 {
        let of = |(c, apart): (&f64, &[f64])| c * row.iter().zip(apart).map(|(k, d)| k * d).sum::<f64>();
        row.iter().zip(squares.chunks(labels)).map(of).sum()
    };
    let observed: f64 = units.iter().map(|(row, m)| pairs(row) / (m - 1.0)).sum();
    let n: f64 = totals.iter().sum();
    let expected = pairs(&totals) / (n - 1.0);
    if expected <= 0.0 {
        return undefined(UndefinedReason::NoVariation);
    }
    Ok(KrippendorffAlpha { alpha: 1.0 - observed / expected, n_pairable_units: units.len() })
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
    use super::{AlphaError, Level, krippendorff_alpha};
    use crate::agreement::RatingCounts;
    use crate::estimate::UndefinedReason;

    #[test]
    fn values_that_are_no_scale_are_refused_by_label() {
        let counts = RatingCounts::from_ratings(2, &[vec![Some(0), Some(1)]]).unwrap();
        let check = |values: &[f64], want: AlphaError| {
            let got = krippendorff_alpha(&counts, Level::Interval(values)).unwrap_err();
            assert_eq!(got.to_string(), want.to_string());
        };
        check(&[1.0], AlphaError::UnequalLengths { got: 1, labels: 2 });
        check(&[1.0, f64::NAN], AlphaError::NotFinite { label: 1, value: f64::NAN });
    }

    #[test]
    fn no_ratings_have_no_alpha() {
        let counts = RatingCounts::from_ratings(2, &[]).unwrap();
        assert_eq!(krippendorff_alpha(&counts, Level::Ordinal), Err(UndefinedReason::Empty.into()));
        let alone = RatingCounts::from_ratings(2, &[vec![Some(0), None], vec![None, Some(1)]]).unwrap();
        let expected = Err(UndefinedReason::NoPairableUnits.into());
        assert_eq!(krippendorff_alpha(&alone, Level::Nominal), expected);
        let alike = RatingCounts::from_ratings(2, &[vec![Some(0), Some(0)], vec![Some(0), Some(0)]]).unwrap();
        assert_eq!(krippendorff_alpha(&alike, Level::Nominal), Err(UndefinedReason::NoVariation.into()));
    }
}
