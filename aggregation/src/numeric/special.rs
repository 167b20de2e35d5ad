//! Distribution functions and quantiles. Total: a bad argument has no value, never NaN.

use statrs::distribution::{Beta, Binomial, ContinuousCDF, DiscreteCDF, Normal, StudentsT};

use crate::numeric::normal_quantile;

/// Degrees of freedom above which Student's distribution is taken as normal: the inverse loses digits there.
const NORMAL_FROM: f64 = 1e4;
/// Probabilities nearer to 0 or 1 than this are taken as this: the inverses are not reliable beyond.
const LEAST_PROBABILITY: f64 = 1e-12;

/// Shapes of the beta distribution beyond which its inverse is not asked far in a tail.
const MOST_OF_A_TAIL: f64 = 4e6;
const FAR_IN_A_TAIL: f64 = 1e3;

/// The share of the standard normal distribution up to `x`; `None` for NaN.
pub fn normal_cdf(x: f64) -> Option<f64> {
    (!x.is_nan()).then(|| Normal::standard().cdf(x))
}

/// The `p`-quantile of Student's distribution. `None` unless `0 < p < 1` and `df > 0`.
pub fn student_quantile(p: f64, df: f64) -> Option<f64> {
    if !(p > 0.0 && p < 1.0 && df > 0.0) {
        return None;
    }
    if df > NORMAL_FROM {
        return Some(normal_quantile(p));
    }
    let p = p.clamp(LEAST_PROBABILITY, 1.0 - LEAST_PROBABILITY);
    Some(StudentsT::new(0.0, 1.0, df).ok()?.inverse_cdf(p))
}

/// The chance of at most `k` successes in `n` trials of chance `p`. `None` unless `0 <= p <= 1`.
pub fn binomial_cdf(k: u64, n: u64, p: f64) -> Option<f64> {
    if !(0.0..=1.0).contains(&p) {
        return None;
    }
    if k >= n {
        return Some(1.0);
    }
    Some(Binomial::new(p, n).ok()?.cdf(k))
}

/// The `p`-quantile of the beta distribution. `None` unless `0 < p < 1` and both shapes are positive and finite, and
/// where one shape is both in the millions and thousands of times the other: the inverse does not come to an end there.
pub fn beta_quantile(p: f64, a: f64, b: f64) -> Option<f64> {
    if !(p > 0.0 && p < 1.0) {
        return None;
    }
    let beta = Beta::new(a, b).ok()?;
    if a.max(b) > MOST_OF_A_TAIL && a.max(b) > FAR_IN_A_TAIL * a.min(b) {
        return None;
    }
    Some(beta.inverse_cdf(p.clamp(LEAST_PROBABILITY, 1.0 - LEAST_PROBABILITY)))
}

#[cfg(test)]
mod tests {
    use super::{beta_quantile, binomial_cdf, normal_cdf, student_quantile};

    #[test]
    fn bad_arguments_have_no_value() {
        assert_eq!(normal_cdf(f64::NAN), None);
        for (p, df) in [(0.0, 3.0), (1.0, 3.0), (f64::NAN, 3.0), (0.5, 0.0), (0.5, f64::NAN)] {
            assert_eq!(student_quantile(p, df), None);
        }
        assert_eq!(binomial_cdf(1, 2, 1.5), None);
        assert_eq!(binomial_cdf(1, 2, f64::NAN), None);
        assert_eq!(beta_quantile(0.5, 0.0, 1.0), None);
        assert_eq!(beta_quantile(1.0, 1.0, 1.0), None);
        // These would be looked for without an end.
        for (a, b) in [(1e7, 1.0), (2.0, 1e7), (1e8, 6.0)] {
            assert_eq!(beta_quantile(0.05, a, b), None, "{a}, {b}");
        }
        assert!(beta_quantile(0.05, 3.9e6, 1.0).is_some_and(|lower| lower > 0.999_999));
    }

    #[test]
    fn many_degrees_of_freedom_are_normal() {
        assert!((student_quantile(0.975, 1e5).unwrap() - 1.959_963_984_540_054).abs() < 1e-9);
    }
}
