//! Quantiles of a sample.

/// The `q`-quantile (0 to 1) of values sorted in increasing order, linear between neighbours (Hyndman-Fan 7,
/// as numpy's default). `None` for an empty sample and a `q` outside 0 to 1.
pub fn quantile(sorted: &[f64], q: f64) -> Option<f64> {
    if !(0.0..=1.0).contains(&q) {
        return None;
    }
    let last = sorted.len().checked_sub(1)?;
    #[expect(clippy::cast_precision_loss, reason = "samples are far shorter than 2^52")]
    let place = q * last as f64;
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "0 <= place <= last")]
    let below = place.floor() as usize;
    let (lo, hi) = (sorted.get(below)?, sorted.get((below + 1).min(last))?);
    Some(lo + (hi - lo) * (place - place.floor()))
}

#[cfg(test)]
mod tests {
    use super::quantile;

    #[test]
    fn lies_between_the_neighbours() {
        assert_eq!(quantile(&[1.0, 2.0, 4.0], 0.75), Some(3.0));
        assert_eq!(quantile(&[1.0, 2.0, 4.0], 0.0), Some(1.0));
        assert_eq!(quantile(&[1.0, 2.0, 4.0], 1.0), Some(4.0));
    }

    #[test]
    fn is_unknown_without_values_or_outside_the_unit_interval() {
        assert_eq!(quantile(&[], 0.5), None);
        assert_eq!(quantile(&[1.0], 1.5), None);
        assert_eq!(quantile(&[1.0], f64::NAN), None);
    }
}
