//! Confidence intervals of proportions, and the normal quantile that they need.

use statrs::distribution::{ContinuousCDF, Normal};

use crate::estimate::{ConfidenceInterval, Estimate, Undefined, UndefinedReason};

/// Probabilities nearer to 0 or 1 than this are taken as this: the inverse is not reliable beyond.
const LEAST_PROBABILITY: f64 = 1e-12;

/// The `p`-quantile of the standard normal distribution. `p` is clamped to `[1e-12, 1 - 1e-12]`; NaN counts as ½.
pub fn normal_quantile(p: f64) -> f64 {
    let p = if p.is_nan() { 0.5 } else { p.clamp(LEAST_PROBABILITY, 1.0 - LEAST_PROBABILITY) };
    Normal::standard().inverse_cdf(p)
}

/// The share `successes / n` with its two-sided Wilson score interval, without continuity correction
/// (`wilson.json`). `Empty` when `n` is 0. More successes than trials count as all.
///
/// Source: Wilson 1927, Journal of the American Statistical Association 22.
#[expect(clippy::cast_precision_loss, reason = "counts of cases are far below 2^52")]
pub fn wilson(successes: u64, n: u64, confidence: f64) -> Result<Estimate, Undefined> {
    if n == 0 {
        return Err(Undefined { reason: UndefinedReason::Empty, n: 0, n_dropped: 0 });
    }
    let successes = successes.min(n);
    let (k, count) = (successes as f64, n as f64);
    let share = k / count;
    let z = normal_quantile(f64::midpoint(1.0, confidence));
    let z2 = z * z;
    let spread = 1.0 + z2 / count;
    let centre = (share + z2 / (2.0 * count)) / spread;
    let half = z / spread * (share * (1.0 - share) / count + z2 / (4.0 * count * count)).sqrt();
    // At the ends the exact bound is 0 or 1, which the difference misses by rounding.
    let lo = if successes == 0 { 0.0 } else { (centre - half).max(0.0) };
    let hi = if successes == n { 1.0 } else { (centre + half).min(1.0) };
    Ok(Estimate {
        value: share,
        interval: Some(ConfidenceInterval { lo, hi, confidence }),
        n: usize::try_from(n).unwrap_or(usize::MAX),
        n_dropped: 0,
    })
}

#[cfg(test)]
mod tests {
    use super::{normal_quantile, wilson};
    use crate::estimate::UndefinedReason;

    #[test]
    fn normal_quantile_is_total() {
        assert!((normal_quantile(0.975) - 1.959_963_984_540_054).abs() < 1e-12);
        for p in [f64::NAN, -1.0, 0.0, 1.0, f64::INFINITY] {
            assert!(normal_quantile(p).is_finite(), "{p}");
        }
    }

    #[test]
    fn nothing_counted_is_undefined() {
        assert_eq!(wilson(0, 0, 0.95).map_err(|u| u.reason), Err(UndefinedReason::Empty));
    }

    #[test]
    fn impossible_counts_stay_in_the_unit_interval() {
        let all = wilson(7, 5, 0.95).unwrap();
        assert_eq!((all.value, all.interval.unwrap().hi), (1.0, 1.0));
    }
}
