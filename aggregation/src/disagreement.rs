//! How far the judges of one case are apart, 0 (unanimous) to 1 (as far as so many judges can be).
//!
//! [`disagreement`] is the one that verdicts carry and escalation reads; the others are printed beside it.
//! Undefined (`TooFewJudges`) below two votes. Formulas: specification 6.1, `disagreement.json`.

use crate::estimate::UndefinedReason;
use crate::panel_vote::tally;
use crate::scale::{Scale, Value};

/// The default of the scale: [`mean_distance`] for numbers, [`one_minus_margin`] for labels and pairs.
/// Weights play no part: a judge without weight may still be the one who saw the fault.
pub fn disagreement(scale: &Scale, values: impl IntoIterator<Item = Value>) -> Result<f64, UndefinedReason> {
    match scale {
        Scale::Ordinal(_) | Scale::Continuous(_) => {
            let scores: Vec<f64> = values.into_iter().filter_map(|v| scale.score01(v)).collect();
            mean_distance(&scores)
        }
        Scale::Nominal(_) | Scale::PassFail | Scale::Pairwise { .. } => one_minus_margin(values),
    }
}

/// `D`: mean distance of all pairs of scores (each 0 to 1), divided by the largest it can be for `m` judges,
/// `floor(m/2) ceil(m/2) / C(m, 2)`.
pub fn mean_distance(scores01: &[f64]) -> Result<f64, UndefinedReason> {
    mean_over_pairs(scores01, f64::abs)
}

/// `D2`: as [`mean_distance`] with squared distances. One outlier dominates it.
pub fn mean_squared_distance(scores01: &[f64]) -> Result<f64, UndefinedReason> {
    mean_over_pairs(scores01, |distance| distance * distance)
}

/// Largest score less the smallest.
pub fn score_range(scores01: &[f64]) -> Result<f64, UndefinedReason> {
    at_least_two(scores01.len())?;
    let most = scores01.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let least = scores01.iter().copied().fold(f64::INFINITY, f64::min);
    Ok(most - least)
}

/// Population standard deviation of the scores, divided by its largest value, one half.
pub fn score_deviation(scores01: &[f64]) -> Result<f64, UndefinedReason> {
    at_least_two(scores01.len())?;
    let n = count(scores01.len());
    let mean = scores01.iter().sum::<f64>() / n;
    let variance = scores01.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / n;
    Ok(2.0 * variance.sqrt())
}

/// One less the margin between the two most frequent labels, which is 0 when unanimous.
pub fn one_minus_margin<L: Copy + PartialEq>(
    labels: impl IntoIterator<Item = L>,
) -> Result<f64, UndefinedReason> {
    let mut votes = 0_usize;
    let tallied = tally(labels.into_iter().inspect(|_| votes += 1).map(|label| (label, 1.0)));
    at_least_two(votes)?;
    Ok(1.0 - tallied?.margin)
}

/// Share of disagreeing pairs, divided by the largest it can be for so many votes over `label_count` labels.
/// `counts` holds the votes per label; labels without votes may be left out.
pub fn nominal_distance(counts: &[usize], label_count: usize) -> Result<f64, UndefinedReason> {
    let votes: usize = counts.iter().sum();
    at_least_two(votes)?;
    if label_count < 2 {
        return Err(UndefinedReason::SingleValueDomain);
    }
    let (share, left_over) = (votes / label_count, votes % label_count);
    let fewest_agreeing = left_over * pairs(share + 1) + (label_count - left_over) * pairs(share);
    let agreeing: usize = counts.iter().map(|&votes| pairs(votes)).sum();
    let disagreeing = pairs(votes).saturating_sub(agreeing);
    Ok(count(disagreeing) / count(pairs(votes) - fewest_agreeing))
}

/// Entropy of the votes' shares, divided by `ln K`. It ignores the order of labels.
pub fn entropy(counts: &[usize], label_count: usize) -> Result<f64, UndefinedReason> {
    let votes: usize = counts.iter().sum();
    at_least_two(votes)?;
    if label_count < 2 {
        return Err(UndefinedReason::SingleValueDomain);
    }
    let shares = counts.iter().filter(|&&votes| votes > 0).map(|&label| count(label) / count(votes));
    let entropy: f64 = shares.map(|p| -p * p.ln()).sum();
    Ok((entropy / count(label_count).ln()).max(0.0))
}

/// Van der Eijk's agreement `A` of the votes per label: 1 on one label, 0 spread evenly, -1 at both ends.
/// `TooFew` below three labels. Source: van der Eijk 2001, Quality and Quantity 35.
pub fn van_der_eijk(counts: &[usize]) -> Result<f64, UndefinedReason> {
    let votes: usize = counts.iter().sum();
    at_least_two(votes)?;
    if counts.len() < 3 {
        return Err(UndefinedReason::TooFew);
    }
    let mut heights: Vec<usize> = counts.iter().copied().filter(|&height| height > 0).collect();
    heights.sort_unstable();
    heights.dedup();
    let (mut agreement, mut below) = (0.0, 0);
    for height in heights {
        let layer: Vec<bool> = counts.iter().map(|&c| c >= height).collect();
        let occupied = layer.iter().filter(|&&on| on).count();
        agreement += count(occupied * (height - below)) / count(votes) * layer_agreement(&layer, occupied);
        below = height;
    }
    Ok(agreement)
}

/// `A` of one layer, in which every label is either used or not: `U (1 - (S - 1) / (K - 1))`.
fn layer_agreement(layer: &[bool], occupied: usize) -> f64 {
    let k = count(layer.len());
    // Triples with two used labels: the unused one is beside them (one peak) or between them (two peaks).
    let (mut one_peak, mut two_peaks) = (0_usize, 0_usize);
    let (mut used_before, total_used) = (0_usize, occupied);
    for &used in layer {
        if used {
            used_before += 1;
        } else {
            let used_after = total_used - used_before;
            one_peak += pairs(used_before) + pairs(used_after);
            two_peaks += used_before * used_after;
        }
    }
    let (one_peak, two_peaks) = (count(one_peak), count(two_peaks));
    let unimodality = if one_peak + two_peaks > 0.0 {
        ((k - 2.0) * one_peak - (k - 1.0) * two_peaks) / ((k - 2.0) * (one_peak + two_peaks))
    } else {
        1.0
    };
    unimodality * (1.0 - (count(occupied) - 1.0) / (k - 1.0))
}

fn mean_over_pairs(scores01: &[f64], distance: impl Fn(f64) -> f64) -> Result<f64, UndefinedReason> {
    let m = scores01.len();
    at_least_two(m)?;
    let mut sum = 0.0;
    for (i, a) in scores01.iter().enumerate() {
        for b in scores01.iter().skip(i + 1) {
            sum += distance(a - b);
        }
    }
    // The mean divided by its largest value: C(m, 2) cancels.
    Ok((sum / count((m / 2) * m.div_ceil(2))).min(1.0))
}

fn at_least_two(votes: usize) -> Result<(), UndefinedReason> {
    if votes < 2 { Err(UndefinedReason::TooFewJudges) } else { Ok(()) }
}

fn pairs(n: usize) -> usize {
    n * n.saturating_sub(1) / 2
}

#[expect(clippy::cast_precision_loss, reason = "counts of votes are far below 2^52")]
fn count(n: usize) -> f64 {
    n as f64
}

#[cfg(test)]
mod tests {
    use super::{disagreement, entropy, nominal_distance, one_minus_margin, van_der_eijk};
    use crate::estimate::UndefinedReason;
    use crate::scale::{Scale, Value};

    #[test]
    fn one_vote_cannot_disagree() {
        let alone = [Value::Pass(true)];
        assert_eq!(disagreement(&Scale::PassFail, alone), Err(UndefinedReason::TooFewJudges));
        assert_eq!(one_minus_margin::<bool>([]), Err(UndefinedReason::TooFewJudges));
    }

    #[test]
    fn a_scale_of_one_label_knows_no_disagreement() {
        assert_eq!(nominal_distance(&[3], 1), Err(UndefinedReason::SingleValueDomain));
        assert_eq!(entropy(&[3], 1), Err(UndefinedReason::SingleValueDomain));
        assert_eq!(van_der_eijk(&[2, 1]), Err(UndefinedReason::TooFew));
    }

    #[test]
    fn labels_disagree_by_the_margin() {
        let votes = [true, true, false].map(Value::Pass);
        let d = disagreement(&Scale::PassFail, votes).unwrap();
        assert!((d - 2.0 / 3.0).abs() < 1e-12);
    }
}
