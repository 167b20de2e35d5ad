//! Tests of counts, and the correction for asking many times.

use statrs::distribution::{Binomial, ChiSquared, ContinuousCDF, DiscreteCDF};

use crate::estimate::UndefinedReason;

/// Why p-values cannot be corrected.
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
pub enum HypothesisError {
    #[error("p-value {index} is {value}, which is not from 0 to 1")]
    NotAProbability { index: usize, value: f64 },
}

/// The two-sided exact sign test of `first` against `second` out of their sum: `min(1, 2 · P(X <= min))` for a fair
/// coin. 1 without any. Source: specification 7.2, `anchor.json`.
pub fn sign_test(first: u64, second: u64) -> f64 {
    let Ok(coin) = Binomial::new(0.5, first.saturating_add(second)) else { return 1.0 };
    (2.0 * coin.cdf(first.min(second))).min(1.0)
}

/// Pairs of yes and no that differ.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct McNemar {
    /// Exact and two-sided; 1 if no pair differs.
    pub p_exact: f64,
    /// `(b - c)² / (b + c)` with its p-value; `NoDiscordant` if no pair differs.
    pub chi2: Result<(f64, f64), UndefinedReason>,
    /// The same with Edwards' correction, `(|b - c| - 1)² / (b + c)`.
    pub chi2_corrected: Result<(f64, f64), UndefinedReason>,
}

/// McNemar's test on the two counts of pairs that differ (`mcnemar.json`). Source: McNemar 1947, Psychometrika 12;
/// Edwards 1948.
#[expect(clippy::cast_precision_loss, reason = "counts of cases are far below 2^52")]
pub fn mc_nemar(b: u64, c: u64) -> McNemar {
    let (sum, distance) = (b as f64 + c as f64, b.abs_diff(c) as f64);
    let tested = |distance: f64| {
        if sum <= 0.0 {
            return Err(UndefinedReason::NoDiscordant);
        }
        let chi2 = distance * distance / sum;
        Ok((chi2, ChiSquared::new(1.0).map_or(1.0, |own| own.sf(chi2))))
    };
    McNemar { p_exact: sign_test(b, c), chi2: tested(distance), chi2_corrected: tested(distance - 1.0) }
}

/// Holm's adjusted p-values in the order of the input (`holm.json`). Source: Holm 1979, Scandinavian Journal of
/// Statistics 6.
#[expect(clippy::cast_precision_loss, reason = "lists of tests are short")]
pub fn holm(p: &[f64]) -> Result<Vec<f64>, HypothesisError> {
    let bad = p.iter().enumerate().find(|(_, value)| !(0.0..=1.0).contains(*value));
    if let Some((index, value)) = bad {
        return Err(HypothesisError::NotAProbability { index, value: *value });
    }
    let mut sorted: Vec<(usize, f64)> = p.iter().copied().enumerate().collect();
    sorted.sort_by(|(_, x), (_, y)| x.total_cmp(y));
    let mut highest = 0.0_f64;
    let mut adjusted: Vec<(usize, f64)> = Vec::with_capacity(p.len());
    for (rank, (place, value)) in sorted.into_iter().enumerate() {
        highest = highest.max((value * (p.len() - rank) as f64).min(1.0));
        adjusted.push((place, highest));
    }
    adjusted.sort_by_key(|(place, _)| *place);
    Ok(adjusted.into_iter().map(|(_, value)| value).collect())
}

#[cfg(test)]
mod tests {
    use super::{HypothesisError, holm, mc_nemar};
    use crate::estimate::UndefinedReason;

    #[test]
    fn what_is_no_probability_is_refused_by_its_index() {
        let error = holm(&[0.1, 1.5]).unwrap_err();
        assert_eq!(error, HypothesisError::NotAProbability { index: 1, value: 1.5 });
        assert!(holm(&[f64::NAN]).is_err());
    }

    #[test]
    fn pairs_that_all_agree_have_no_chi_square() {
        let test = mc_nemar(0, 0);
        assert_eq!((test.p_exact, test.chi2), (1.0, Err(UndefinedReason::NoDiscordant)));
    }
}
