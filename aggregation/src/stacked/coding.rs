//! How votes become features: one block a judge, after the intercept. A missing vote leaves its block at 0, which
//! under the penalty means "says nothing".
//!
//! - **Labels**: feature `k` of the block is 1 if the judge said label `k`.
//! - **Pairs and pass/fail**: the vote as `lean`, 1 for a (pass), -1 for b (fail), 0 for a tie, or in between where
//!   the judge's probabilities are known; half of `|lean|`; half of `1 - |lean|`. For written votes this spans the same
//!   space as one feature a label, so a judge may be worth more when it says b than when it says a. But the halves
//!   make that asymmetry four times as dear to believe as the direction, which 50 labels show far better.
//! - **Ordered numbers**: the first feature is 1 if the judge voted; feature `k` is 1 if the vote reaches label `k`,
//!   and the share of the way from label `k - 1` to it in between. This too spans the space of one feature a label,
//!   but the penalty then pulls neighbouring labels together, and 4.55 lies between 4 and 5 as it should.

use super::logistic::Row;
use crate::scale::{Scale, Value};
use crate::vote::{JudgeId, Vote};

/// How strongly the asymmetry of a judge is believed, beside its direction: one half is a penalty of four times.
const ASYMMETRY: f64 = 0.5;

/// The features of one case, and whether any known judge voted.
pub(super) fn row<'a>(
    scale: &Scale,
    judges: &[JudgeId],
    levels: usize,
    votes: impl IntoIterator<Item = &'a Vote>,
) -> (Row, bool) {
    let width = width(scale, levels);
    let mut row = vec![(0, 1.0)];
    for vote in votes {
        let (Ok(place), Ok(rating)) = (judges.binary_search(&vote.judge), &vote.outcome) else { continue };
        let block = 1 + place * width;
        match (scale, rating.value) {
            (Scale::Ordinal(labels), Value::Number(x)) => reach(&mut row, block, labels.values(), x),
            (Scale::Pairwise { .. } | Scale::PassFail, _) => {
                if let Some(score) = vote.score01(scale).filter(|score| (0.0..=1.0).contains(score)) {
                    lean(&mut row, block, 2.0 * score - 1.0);
                }
            }
            _ => {
                if let Some(label) = scale.class_of(rating.value).filter(|label| *label < width) {
                    row.push((block + label, 1.0));
                }
            }
        }
    }
    let any_known = row.len() > 1;
    (row, any_known)
}

/// `lean` is 1 for pass or a, -1 for fail or b, 0 for a tie.
fn lean(row: &mut Row, block: usize, lean: f64) {
    let features = [lean, ASYMMETRY * lean.abs(), ASYMMETRY * (1.0 - lean.abs())];
    row.extend(features.into_iter().enumerate().filter(|(_, x)| x.abs() > 0.0).map(|(k, x)| (block + k, x)));
}

fn reach(row: &mut Row, block: usize, labels: &[f64], x: f64) {
    row.push((block, 1.0));
    for (k, pair) in labels.windows(2).enumerate() {
        if let [low, high] = *pair {
            let reached = ((x / 2.0 - low / 2.0) / (high / 2.0 - low / 2.0)).clamp(0.0, 1.0);
            if reached > 0.0 {
                row.push((block + k + 1, reached));
            }
        }
    }
}

/// Features of one judge.
fn width(scale: &Scale, levels: usize) -> usize {
    match scale {
        Scale::Pairwise { .. } | Scale::PassFail => 3,
        Scale::Ordinal(_) | Scale::Continuous(_) | Scale::Nominal(_) => levels,
    }
}

/// Features of a panel: the intercept and one block a judge.
pub(super) fn features(scale: &Scale, judges: usize, levels: usize) -> usize {
    1 + judges * width(scale, levels)
}

#[cfg(test)]
mod tests {
    use super::row;
    use crate::scale::{Preference, Scale, Value};
    use crate::vote::{JudgeId, PairFold, Rating, Scoring, Vote};

    fn vote(judge: &JudgeId, value: Value, pref_a: Option<f64>) -> Vote {
        let rating = Rating { value, scoring: Scoring::Discrete, distribution: None, fallback: false };
        let pair = pref_a.map(|pref_a| PairFold { pref_a, consistent: Some(true) });
        Vote { judge: judge.clone(), outcome: Ok(rating), pair }
    }

    #[test]
    fn each_judge_has_its_own_block_and_strangers_have_none() {
        let judges = ["a", "b"].map(JudgeId::new);
        let stranger = JudgeId::new("c");
        let pair = Scale::Pairwise { tie: false };
        let check = |judge, preference, pref_a, features: &[(usize, f64)]| {
            let votes = [vote(judge, Value::Preference(preference), pref_a)];
            let (row, any_known) = row(&pair, &judges, 3, &votes);
            assert_eq!((&row[1..], any_known), (features, !features.is_empty()));
        };
        check(&judges[1], Preference::Tie, None, &[(6, 0.5)]);
        check(&judges[0], Preference::B, None, &[(1, -1.0), (2, 0.5)]);
        check(&judges[0], Preference::A, Some(0.75), &[(1, 0.5), (2, 0.25), (3, 0.25)]);
        check(&stranger, Preference::A, None, &[]);
        let nominal = Scale::Nominal(["x", "y", "z"].map(String::from).to_vec().try_into().unwrap());
        let votes = [vote(&judges[1], Value::Category(2), None)];
        assert_eq!(row(&nominal, &judges, 3, &votes), (vec![(0, 1.0), (6, 1.0)], true));
    }

    #[test]
    fn a_number_between_labels_reaches_part_of_the_way() {
        let judges = [JudgeId::new("a")];
        let scale = Scale::Ordinal(vec![1.0, 2.0, 4.0].try_into().unwrap());
        let votes = [vote(&judges[0], Value::Number(2.5), None)];
        assert_eq!(row(&scale, &judges, 3, &votes), (vec![(0, 1.0), (1, 1.0), (2, 1.0), (3, 0.25)], true));
    }
}
