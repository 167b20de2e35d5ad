//! Exact bounds of a share, and of values that are only ever one of two.

use crate::numeric::{beta_quantile, clopper_pearson_lower, clopper_pearson_upper};

use super::SLACK;
use super::comparison::Limit;

/// Cases that nobody has: a gate that so many leave open is not decided by more.
const MOST_CASES: f64 = 1e6;

/// One-sided Clopper-Pearson bounds of the mean of values that are `low` or `high`, as if of `trials` trials.
///
/// Exact where Wilson's is not: of shares exactly at a limit of 0.5 to 0.95 Wilson's one-sided bound passes up to 6.9 %.
pub(super) fn exact_bounds(
    values: &[f64],
    low: f64,
    high: f64,
    trials: usize,
    confidence: f64,
) -> Option<(f64, f64)> {
    let all = values.iter().filter(|value| **value >= high - SLACK).count();
    // Trials are fewer than values only where all values are the same.
    let hits = u64::try_from(if all == values.len() { trials } else { all }).ok()?;
    let trials = u64::try_from(trials).ok()?;
    let place = |share: f64| low + (high - low) * share;
    let lower = clopper_pearson_lower(hits, trials, confidence).map(place)?;
    Some((lower, clopper_pearson_upper(hits, trials, confidence).map(place)?))
}

/// The two values, if there are no others: both ends of the range where all are one of these.
pub(super) fn two_values(values: &[f64], ends: (f64, f64)) -> Option<(f64, f64)> {
    let low = values.iter().copied().reduce(f64::min)?;
    let high = values.iter().copied().reduce(f64::max)?;
    let is = |value: f64, other: f64| (value - other).abs() <= SLACK;
    if is(low, high) {
        return (is(low, ends.0) || is(high, ends.1)).then_some(ends);
    }
    values.iter().all(|value| is(*value, low) || is(*value, high)).then_some((low, high))
}

/// About how many cases decide if the share stays; `None` if no number does.
pub(super) fn more_for_share(share: f64, limit: &Limit, n: f64) -> Option<f64> {
    let decides = |n: f64| {
        let (hits, misses) = (share * n, (1.0 - share) * n);
        let lower = beta_quantile(1.0 - limit.confidence, hits, misses + 1.0).unwrap_or(0.0);
        let upper = beta_quantile(limit.confidence, hits + 1.0, misses).unwrap_or(1.0);
        lower >= limit.threshold - SLACK || upper < limit.threshold - SLACK
    };
    let mut high = n.max(1.0);
    while !decides(high) {
        high *= 2.0;
        if high > MOST_CASES {
            return None;
        }
    }
    let mut low = high / 2.0;
    while high - low > 0.5 {
        let middle = f64::midpoint(low, high);
        if decides(middle) { high = middle } else { low = middle }
    }
    Some(high)
}

#[cfg(test)]
mod tests {
    use super::two_values;

    #[test]
    fn only_two_values_are_a_share() {
        let check = |values: &[f64], two| assert_eq!(two_values(values, (0.0, 1.0)), two, "{values:?}");
        check(&[0.7, 1.0, 0.7], Some((0.7, 1.0)));
        check(&[0.7, 1.0, 0.8], None);
        check(&[1.0, 1.0], Some((0.0, 1.0)));
        check(&[0.85, 0.85], None);
        check(&[], None);
        assert_eq!(two_values(&[0.0, 0.0], (-1.0, 1.0)), None);
    }
}
