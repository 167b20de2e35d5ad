//! How votes become features: one block of `levels` features a judge, after the intercept.
//!
//! - Labels: feature `k` of the block is 1 if the judge said label `k`. A missing vote leaves its block at 0, which
//!   under the penalty means "says nothing".
//! - Ordered numbers: the first feature of the block is 1 if the judge voted; feature `k` is 1 if the vote reaches
//!   label `k`, and the share of the way from label `k - 1` to it in between. This spans the same space as one
//!   feature a label, but the penalty then pulls neighbouring labels together, and a vote of 4.55 lies between 4
//!   and 5 as it should.

use super::logistic::Row;
use crate::scale::{Scale, Value};
use crate::vote::JudgeId;

/// The features of one case, and whether any known judge voted.
pub(super) fn row<'a>(
    scale: &Scale,
    judges: &[JudgeId],
    levels: usize,
    votes: impl IntoIterator<Item = (&'a JudgeId, Value)>,
) -> (Row, bool) {
    let mut row = vec![(0, 1.0)];
    for (judge, value) in votes {
        let Ok(place) = judges.binary_search(judge) else { continue };
        let block = 1 + place * levels;
        match (scale, value) {
            (Scale::Ordinal(labels), Value::Number(x)) => {
                row.push((block, 1.0));
                for (k, pair) in labels.values().windows(2).enumerate() {
                    if let [low, high] = *pair {
                        let reached = ((x / 2.0 - low / 2.0) / (high / 2.0 - low / 2.0)).clamp(0.0, 1.0);
                        if reached > 0.0 {
                            row.push((block + k + 1, reached));
                        }
                    }
                }
            }
            _ => {
                if let Some(level) = scale.class_of(value).filter(|level| *level < levels) {
                    row.push((block + level, 1.0));
                }
            }
        }
    }
    let voted = row.len() > 1;
    (row, voted)
}

/// Features of a panel: the intercept and one block a judge.
pub(super) fn features(judges: usize, levels: usize) -> usize {
    1 + judges * levels
}

#[cfg(test)]
mod tests {
    use super::row;
    use crate::scale::{Preference, Scale, Value};
    use crate::vote::JudgeId;

    #[test]
    fn each_judge_has_its_own_block_and_strangers_have_none() {
        let judges = ["a", "b"].map(JudgeId::new);
        let stranger = JudgeId::new("c");
        let tie = Value::Preference(Preference::Tie);
        let pair = Scale::Pairwise { tie: false };
        let votes = [(&judges[1], tie), (&stranger, tie)];
        assert_eq!(row(&pair, &judges, 3, votes), (vec![(0, 1.0), (6, 1.0)], true));
        assert_eq!(row(&pair, &judges, 3, [(&stranger, tie)]), (vec![(0, 1.0)], false));
    }

    #[test]
    fn a_number_between_labels_reaches_part_of_the_way() {
        let judges = [JudgeId::new("a")];
        let scale = Scale::Ordinal(vec![1.0, 2.0, 4.0].try_into().unwrap());
        let votes = [(&judges[0], Value::Number(2.5))];
        assert_eq!(row(&scale, &judges, 3, votes), (vec![(0, 1.0), (1, 1.0), (2, 1.0), (3, 0.25)], true));
    }
}
