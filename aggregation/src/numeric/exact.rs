//! Exact bounds of a proportion.

use crate::estimate::{ConfidenceInterval, Estimate, Estimated, Undefined, UndefinedReason};
use crate::numeric::special::beta_quantile;

/// The share `successes / n` with its two-sided Clopper-Pearson interval (`clopper_pearson.json`).
///
/// `lo` is the `α/2`-quantile of Beta(k, n-k+1) and `hi` the `1-α/2`-quantile of Beta(k+1, n-k). `Empty` when `n` is
/// 0. More successes than trials count as all. Source: Clopper and Pearson 1934, Biometrika 26.
#[expect(clippy::cast_precision_loss, reason = "counts of cases are far below 2^52")]
pub fn clopper_pearson(successes: u64, n: u64, confidence: f64) -> Estimated {
    if n == 0 {
        return Err(Undefined { reason: UndefinedReason::Empty, n: 0, n_dropped: 0 });
    }
    let one_sided = f64::midpoint(1.0, confidence);
    let interval = clopper_pearson_lower(successes, n, one_sided)
        .zip(clopper_pearson_upper(successes, n, one_sided))
        .map(|(lo, hi)| ConfidenceInterval { lo, hi, confidence });
    let n_cases = usize::try_from(n).unwrap_or(usize::MAX);
    Ok(Estimate { value: successes.min(n) as f64 / n as f64, interval, n: n_cases, n_dropped: 0 })
}

/// The one-sided lower bound: 0 without successes. `None` without trials and for a confidence outside 0 to 1.
#[expect(clippy::cast_precision_loss, reason = "counts of cases are far below 2^52")]
pub fn clopper_pearson_lower(successes: u64, n: u64, confidence: f64) -> Option<f64> {
    if n == 0 || !(confidence > 0.0 && confidence < 1.0) {
        return None;
    }
    let k = successes.min(n);
    if k == 0 {
        return Some(0.0);
    }
    if k == n {
        // The quantile of Beta(n, 1) in closed form.
        return Some((1.0 - confidence).powf(1.0 / n as f64));
    }
    beta_quantile(1.0 - confidence, k as f64, (n - k) as f64 + 1.0)
}

/// The one-sided upper bound: 1 when all are successes. `None` as for the lower one.
pub fn clopper_pearson_upper(successes: u64, n: u64, confidence: f64) -> Option<f64> {
    clopper_pearson_lower(n - successes.min(n), n, confidence).map(|failures| 1.0 - failures)
}

#[cfg(test)]
mod tests {
    use super::{clopper_pearson, clopper_pearson_lower, clopper_pearson_upper};
    use crate::estimate::UndefinedReason;

    #[test]
    fn nothing_counted_is_undefined() {
        assert_eq!(clopper_pearson(0, 0, 0.95).unwrap_err().reason, UndefinedReason::Empty);
        assert_eq!(clopper_pearson_lower(0, 0, 0.95), None);
    }

    #[test]
    fn a_confidence_that_is_none_gives_no_interval() {
        for confidence in [1.0, f64::NAN, 2.0] {
            assert_eq!(clopper_pearson(1, 3, confidence).unwrap().interval, None);
        }
    }

    #[test]
    fn no_failure_in_n_leaves_about_three_in_n() {
        assert!((clopper_pearson_upper(0, 100, 0.95).unwrap() - 0.029_513_049_607_039_9).abs() < 1e-12);
    }
}
