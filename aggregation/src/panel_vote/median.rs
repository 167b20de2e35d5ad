//! The middle and the mean of unweighted numbers.

use crate::estimate::UndefinedReason;

/// The middle value; the mean of the two middle ones for an even count (specification 4.1,
/// `weighted_median.json`). Not rounded to a label. `Empty` without values.
pub fn median(values: impl IntoIterator<Item = f64>) -> Result<f64, UndefinedReason> {
    let mut sorted: Vec<f64> = values.into_iter().collect();
    sorted.sort_unstable_by(f64::total_cmp);
    let upper = sorted.get(sorted.len() / 2).copied().ok_or(UndefinedReason::Empty)?;
    let lower = sorted.get((sorted.len() - 1) / 2).copied().ok_or(UndefinedReason::Empty)?;
    Ok(f64::midpoint(lower, upper))
}

/// The arithmetic mean, never outside the values it is the mean of (so equal values give exactly that value).
/// Values that are not finite do not count. `Empty` without values.
pub fn mean(values: &[f64]) -> Result<f64, UndefinedReason> {
    super::weighted_mean(values.iter().map(|&x| (x, 1.0)))
}
