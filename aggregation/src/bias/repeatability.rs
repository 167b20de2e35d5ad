//! Whether a judge says the same twice. Temperature 0 does not make it so. Source: specification 5.5.

use crate::estimate::{Estimate, Estimated, Undefined, UndefinedReason};
use crate::numeric::{clustered_mean, wilson};

/// Repeated answers with labels.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LabelRepeats {
    /// Share of pairs of repeats that differ, 0 to 1. Its interval knows that the pairs of a case are not independent;
    /// Wilson's where every case has two repeats.
    pub repeat_rate: Estimate,
}

/// Repeated answers with numbers.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ScoreRepeats {
    /// Mean distance of the pairs of repeats, divided by the scale's range.
    pub mean_distance: Estimate,
    /// Standard deviation within a case, `√(mean of the cases' variances)`, in the scale's own unit.
    pub deviation: f64,
}

/// How often repeats differ. Each case lists its repeats in one order; `None` is missing. Cases with fewer than two
/// are left out and counted; `Empty` if none is left.
pub fn label_repeats<L: PartialEq>(cases: &[Vec<Option<L>>]) -> Result<LabelRepeats, Undefined> {
    let shares = pair_means(cases.iter().map(|case| case.iter().flatten().collect::<Vec<&L>>()), |a, b| {
        f64::from(u8::from(a != b))
    });
    let only_twos = shares.iter().all(|(pairs, _)| *pairs == 1);
    let mean = mean_over_pairs(&shares, cases.len())?;
    if !only_twos {
        return Ok(LabelRepeats { repeat_rate: mean });
    }
    let differing = shares.iter().filter(|(_, share)| *share > 0.5).count();
    let counts = (u64::try_from(differing), u64::try_from(shares.len()));
    let (Ok(differing), Ok(n)) = counts else { return Ok(LabelRepeats { repeat_rate: mean }) };
    wilson(differing, n, 0.95)
        .map(|estimate| LabelRepeats { repeat_rate: Estimate { n_dropped: mean.n_dropped, ..estimate } })
}

/// How far repeats are apart on a scale from `min` to `max`. Values that are not finite are missing.
/// `SingleValueDomain` if the scale has no width.
#[expect(clippy::cast_precision_loss, reason = "counts of cases are far below 2^52")]
pub fn score_repeats(cases: &[Vec<Option<f64>>], (min, max): (f64, f64)) -> Result<ScoreRepeats, Undefined> {
    let range = max - min;
    if !(range > 0.0 && range.is_finite()) {
        let reason = UndefinedReason::SingleValueDomain;
        return Err(Undefined { reason, n: 0, n_dropped: cases.len() });
    }
    let present: Vec<Vec<f64>> =
        cases.iter().map(|case| case.iter().flatten().copied().filter(|x| x.is_finite()).collect()).collect();
    let distances = pair_means(present.iter().cloned(), |a, b| (a - b).abs() / range);
    let mean_distance = mean_over_pairs(&distances, cases.len())?;
    let variances: Vec<f64> = present
        .iter()
        .filter(|case| case.len() > 1)
        .map(|case| {
            let mean = case.iter().sum::<f64>() / case.len() as f64;
            case.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / (case.len() as f64 - 1.0)
        })
        .collect();
    let deviation = (variances.iter().sum::<f64>() / variances.len() as f64).sqrt();
    Ok(ScoreRepeats { mean_distance, deviation })
}

/// For each case with at least two repeats: its pairs, and the mean over them.
#[expect(clippy::cast_precision_loss, reason = "repeats are few")]
fn pair_means<T>(cases: impl Iterator<Item = Vec<T>>, distance: impl Fn(&T, &T) -> f64) -> Vec<(usize, f64)> {
    cases
        .filter(|case| case.len() > 1)
        .map(|case| {
            let mut sum = 0.0;
            for (i, a) in case.iter().enumerate() {
                sum += case.iter().skip(i + 1).map(|b| distance(a, b)).sum::<f64>();
            }
            let pairs = case.len() * (case.len() - 1) / 2;
            (pairs, sum / pairs as f64)
        })
        .collect()
}

/// The mean over all pairs, each case weighing by its pairs, with the error of a ratio over cases.
#[expect(clippy::cast_precision_loss, reason = "counts of cases are far below 2^52")]
fn mean_over_pairs(cases: &[(usize, f64)], all: usize) -> Estimated {
    let n_dropped = all - cases.len();
    let pairs: usize = cases.iter().map(|(pairs, _)| pairs).sum();
    if pairs == 0 {
        return Err(Undefined { reason: UndefinedReason::Empty, n: 0, n_dropped });
    }
    let mean = cases.iter().map(|(pairs, share)| *pairs as f64 * share).sum::<f64>() / pairs as f64;
    let size = pairs as f64 / cases.len() as f64;
    let parts: Vec<f64> = cases.iter().map(|(pairs, share)| *pairs as f64 * (share - mean) / size).collect();
    let spread = clustered_mean(&parts, parts.iter().map(|_| None));
    let mut estimate = spread.estimate(0.95)?;
    estimate.interval = estimate.interval.map(|mut interval| {
        (interval.lo, interval.hi) =
            (interval.lo + mean - estimate.value, interval.hi + mean - estimate.value);
        interval
    });
    Ok(Estimate { value: mean, n_dropped, ..estimate })
}

#[cfg(test)]
mod tests {
    use super::{label_repeats, score_repeats};
    use crate::estimate::UndefinedReason;

    #[test]
    fn pairs_of_repeats_are_counted_and_single_answers_dropped() {
        let cases = [vec![Some('a'), Some('b')], vec![Some('a'), Some('a')], vec![Some('a'), None]];
        let rate = label_repeats(&cases).unwrap().repeat_rate;
        assert_eq!((rate.value, rate.n, rate.n_dropped), (0.5, 2, 1));
        let three = [vec![Some(1), Some(1), Some(2)], vec![Some(1), Some(1)]];
        assert!((label_repeats(&three).unwrap().repeat_rate.value - 0.5).abs() < 1e-12);
        assert_eq!(label_repeats::<u8>(&[vec![None]]).unwrap_err().reason, UndefinedReason::Empty);
    }

    #[test]
    fn numbers_are_apart_by_a_share_of_the_scale() {
        let cases = [vec![Some(1.0), Some(3.0)], vec![Some(2.0), Some(2.0)], vec![Some(f64::NAN), Some(2.0)]];
        let found = score_repeats(&cases, (1.0, 5.0)).unwrap();
        assert!((found.mean_distance.value - 0.25).abs() < 1e-12 && found.mean_distance.n_dropped == 1);
        assert!((found.deviation - 1.0).abs() < 1e-12);
        let flat = score_repeats(&cases, (1.0, 1.0)).unwrap_err();
        assert_eq!(flat.reason, UndefinedReason::SingleValueDomain);
    }
}
