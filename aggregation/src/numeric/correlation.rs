//! Correlation of two lists: Pearson, Spearman, and partial (a third list held constant).
//!
//! Undefined: `TooFew` below three pairs (four for a partial one), `ConstantInput` where a side does not vary.
//! Source: specification 5.2, `pearson_partial.json` (scipy, pingouin).

use statrs::distribution::{ContinuousCDF, StudentsT};

use super::normal_quantile;
use crate::estimate::{ConfidenceInterval, UndefinedReason};

/// A share of the variation below this is rounding of a constant.
const LEAST_VARIATION: f64 = 1e-13;

/// Why two lists have no correlation that could be asked for.
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
pub enum CorrelationError {
    #[error("lists of {first} and {second} values cannot be paired")]
    UnequalLengths { first: usize, second: usize },
    #[error("value {place} of list {list} is {value}, not a finite number")]
    NotFinite { list: usize, place: usize, value: f64 },
    #[error(transparent)]
    Undefined(#[from] UndefinedReason),
}

/// A correlation, -1 to 1, with its two-sided test of 0.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Correlation {
    pub r: f64,
    /// By Student's t on `n - 2` degrees of freedom (`n - 3` for a partial one).
    pub p: f64,
    pub n: usize,
}

impl Correlation {
    /// Fisher's interval, `tanh(atanh r ± z / √(n - 3))`; `None` below four pairs. At ±1 it has no width.
    #[expect(clippy::cast_precision_loss, reason = "counts of cases are far below 2^52")]
    pub fn fisher_interval(&self, confidence: f64) -> Option<ConfidenceInterval> {
        let half = normal_quantile(f64::midpoint(1.0, confidence)) / (self.n.checked_sub(3)? as f64).sqrt();
        if !half.is_finite() {
            return None;
        }
        if self.r.abs() >= 1.0 {
            return Some(ConfidenceInterval { lo: self.r, hi: self.r, confidence });
        }
        let centre = self.r.atanh();
        Some(ConfidenceInterval { lo: (centre - half).tanh(), hi: (centre + half).tanh(), confidence })
    }
}

/// Pearson's product-moment correlation.
pub fn pearson(x: &[f64], y: &[f64]) -> Result<Correlation, CorrelationError> {
    check(&[x, y])?;
    Ok(with_test(coefficient(x, y, 3)?, x.len(), 2))
}

/// Spearman's: Pearson's of the ranks, ties sharing their mean rank.
pub fn spearman(x: &[f64], y: &[f64]) -> Result<Correlation, CorrelationError> {
    check(&[x, y])?;
    Ok(with_test(coefficient(&ranks(x), &ranks(y), 3)?, x.len(), 2))
}

/// Pearson's correlation of `x` and `y` with `z` held constant,
/// `(r_xy - r_xz r_yz) / √((1 - r_xz²) (1 - r_yz²))`.
pub fn partial(x: &[f64], y: &[f64], z: &[f64]) -> Result<Correlation, CorrelationError> {
    check(&[x, y, z])?;
    let (xy, xz, yz) = (coefficient(x, y, 4)?, coefficient(x, z, 4)?, coefficient(y, z, 4)?);
    let rest = (1.0 - xz * xz) * (1.0 - yz * yz);
    if rest <= LEAST_VARIATION {
        return Err(UndefinedReason::ConstantInput.into());
    }
    let r = ((xy - xz * yz) / rest.sqrt()).clamp(-1.0, 1.0);
    Ok(with_test(r, x.len(), 3))
}

/// [`partial`] of the ranks.
pub fn partial_spearman(x: &[f64], y: &[f64], z: &[f64]) -> Result<Correlation, CorrelationError> {
    check(&[x, y, z])?;
    partial(&ranks(x), &ranks(y), &ranks(z))
}

fn check(lists: &[&[f64]]) -> Result<(), CorrelationError> {
    let first = lists.first().map_or(0, |list| list.len());
    for (list, values) in lists.iter().enumerate() {
        if values.len() != first {
            return Err(CorrelationError::UnequalLengths { first, second: values.len() });
        }
        if let Some((place, &value)) = values.iter().enumerate().find(|(_, value)| !value.is_finite()) {
            return Err(CorrelationError::NotFinite { list, place, value });
        }
    }
    Ok(())
}

#[expect(clippy::cast_precision_loss, reason = "counts of cases are far below 2^52")]
fn coefficient(x: &[f64], y: &[f64], least: usize) -> Result<f64, UndefinedReason> {
    if x.len() < least {
        return Err(UndefinedReason::TooFew);
    }
    let (x, y) = (shrunk(x), shrunk(y));
    let mean = |list: &[f64]| list.iter().sum::<f64>() / list.len() as f64;
    let (mean_x, mean_y) = (mean(&x), mean(&y));
    let (mut xx, mut yy, mut xy) = (0.0, 0.0, 0.0);
    for (a, b) in x.iter().zip(&y) {
        let (a, b) = (a - mean_x, b - mean_y);
        xx += a * a;
        yy += b * b;
        xy += a * b;
    }
    let n = x.len() as f64;
    let constant = |spread: f64, mean: f64| spread <= n * (LEAST_VARIATION * mean.abs().max(1e-300)).powi(2);
    if constant(xx, mean_x) || constant(yy, mean_y) {
        return Err(UndefinedReason::ConstantInput);
    }
    Ok((xy / (xx.sqrt() * yy.sqrt())).clamp(-1.0, 1.0))
}

/// Divided by the largest size, so that no square overflows or vanishes.
fn shrunk(list: &[f64]) -> Vec<f64> {
    let most = list.iter().fold(0.0_f64, |most, x| most.max(x.abs()));
    let most = if most > 0.0 { most } else { 1.0 };
    list.iter().map(|x| x / most).collect()
}

#[expect(clippy::cast_precision_loss, reason = "counts of cases are far below 2^52")]
fn with_test(r: f64, n: usize, lost: usize) -> Correlation {
    let freedom = n.saturating_sub(lost) as f64;
    let t = r * (freedom / ((1.0 - r) * (1.0 + r))).sqrt();
    let p = if t.is_finite() {
        StudentsT::new(0.0, 1.0, freedom).map_or(1.0, |student| 2.0 * student.cdf(-t.abs()))
    } else {
        0.0
    };
    Correlation { r, p: p.clamp(0.0, 1.0), n }
}

/// Ranks from 1; equal values share their mean rank.
#[expect(clippy::cast_precision_loss, reason = "counts of cases are far below 2^52")]
pub(crate) fn ranks(values: &[f64]) -> Vec<f64> {
    let mut order: Vec<(usize, f64)> = values.iter().copied().enumerate().collect();
    order.sort_by(|a, b| a.1.total_cmp(&b.1));
    let mut ranks = vec![0.0; values.len()];
    let mut before = 0;
    for same in order.chunk_by(|a, b| a.1 >= b.1) {
        let rank = before as f64 + f64::midpoint(same.len() as f64, 1.0);
        for (place, _) in same {
            if let Some(slot) = ranks.get_mut(*place) {
                *slot = rank;
            }
        }
        before += same.len();
    }
    ranks
}

#[cfg(test)]
mod tests {
    use super::{CorrelationError, partial, pearson, ranks, spearman};
    use crate::estimate::UndefinedReason;

    #[test]
    fn lists_that_cannot_be_paired_are_refused_by_their_place() {
        let error = pearson(&[1.0], &[1.0, 2.0]).unwrap_err();
        assert_eq!(error, CorrelationError::UnequalLengths { first: 1, second: 2 });
        let error = partial(&[1.0, 2.0], &[1.0, 2.0], &[1.0, f64::INFINITY]).unwrap_err();
        assert_eq!(error, CorrelationError::NotFinite { list: 2, place: 1, value: f64::INFINITY });
    }

    #[test]
    fn what_does_not_vary_has_no_correlation() {
        let check = |x: &[f64], reason| {
            let y: Vec<f64> = (0..x.len()).map(|i| f64::from(u8::try_from(i).unwrap())).collect();
            assert_eq!(pearson(x, &y), Err(CorrelationError::Undefined(reason)));
        };
        check(&[0.1; 4], UndefinedReason::ConstantInput);
        check(&[0.0; 4], UndefinedReason::ConstantInput);
        check(&[1.0, 2.0], UndefinedReason::TooFew);
        let x = [1.0, 2.0, 3.0, 5.0];
        assert_eq!(
            partial(&[1.0, 0.0, 1.0, 1.0], &x, &x).unwrap_err(),
            UndefinedReason::ConstantInput.into()
        );
    }

    #[test]
    fn large_and_small_numbers_correlate_alike() {
        let y = [2.0, 1.0, 4.0, 3.0];
        for size in [1e-200, 1.0, 1e200] {
            let x = [1.0, 2.0, 3.0, 4.0].map(|x| x * size);
            assert!((pearson(&x, &y).unwrap().r - 0.6).abs() < 1e-12);
            assert!((spearman(&x, &y).unwrap().r - 0.6).abs() < 1e-12);
        }
    }

    #[test]
    fn equal_values_share_their_rank() {
        assert_eq!(ranks(&[3.0, 1.0, 3.0, 2.0]), [3.5, 1.0, 3.5, 2.0]);
    }
}
