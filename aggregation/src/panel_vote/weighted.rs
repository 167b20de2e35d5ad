//! Weighted mean and weighted median. A value without positive, finite weight does not count.

use crate::estimate::UndefinedReason;

/// Slack for cumulated weights, as a share of their sum.
const SLACK: f64 = 1e-12;

/// The weighted medians of some values.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct WeightedMedian {
    /// The smallest value at which the cumulated weight reaches half.
    pub lower: f64,
    /// The mean of `lower` and `upper`; equals the plain median for equal weights.
    pub midpoint: f64,
    /// The smallest value at which the cumulated weight passes half.
    pub upper: f64,
}

/// `Σ w x / Σ w` (specification 4.1), never outside the values that count. `Empty` if none counts.
pub fn weighted_mean(votes: impl IntoIterator<Item = (f64, f64)>) -> Result<f64, UndefinedReason> {
    let (mut sum, mut total) = (0.0, 0.0);
    let (mut least, mut most) = (f64::INFINITY, f64::NEG_INFINITY);
    for (x, weight) in votes.into_iter().filter(counts) {
        sum += weight * x;
        total += weight;
        least = least.min(x);
        most = most.max(x);
    }
    if total > 0.0 {
        // Rounding must not move the mean of equal values, nor push a mean off the scale.
        Ok((sum / total).max(least).min(most))
    } else {
        Err(UndefinedReason::Empty)
    }
}

/// The weighted median (specification 4.1, `weighted_median.json`). `Empty` if no value counts.
pub fn weighted_median(
    votes: impl IntoIterator<Item = (f64, f64)>,
) -> Result<WeightedMedian, UndefinedReason> {
    let mut sorted: Vec<(f64, f64)> = votes.into_iter().filter(counts).collect();
    sorted.sort_by(|a, b| a.0.total_cmp(&b.0));
    let total: f64 = sorted.iter().map(|(_, weight)| weight).sum();
    let (half, slack) = (total / 2.0, total * SLACK);
    let (mut cumulated, mut lower, mut upper) = (0.0, None, None);
    for &(x, weight) in &sorted {
        cumulated += weight;
        if lower.is_none() && cumulated >= half - slack {
            lower = Some(x);
        }
        if upper.is_none() && cumulated > half + slack {
            upper = Some(x);
        }
    }
    let lower = lower.ok_or(UndefinedReason::Empty)?;
    let upper = upper.unwrap_or(lower);
    Ok(WeightedMedian { lower, midpoint: f64::midpoint(lower, upper), upper })
}

fn counts(&(x, weight): &(f64, f64)) -> bool {
    x.is_finite() && weight.is_finite() && weight > 0.0
}
