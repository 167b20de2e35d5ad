//! Several passes of one judge become one vote: repeated answers first, then the two orders of a pair.
//!
//! Passes carry values in the case's own frame; only `Distribution::two_way` is still as displayed, and this
//! module is the one place that un-maps it. It knows nothing of panels: each judge is folded alone.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};

use crate::panel_vote::mean;
use crate::scale::{Preference, Scale, Value};
use crate::vote::{
    Abstention, Distribution, JudgeId, Order, PairFold, Pass, Rating, Scoring, UnparseableClass, Vote,
};

/// Half-width of the band around ½ inside which two passes with probabilities make a tie (specification 4.4).
pub const TIE_BAND: f64 = 0.05;

/// Which orders every judge was asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ExpectedOrders {
    /// Both orders of a pair: one alone is half a measurement and gives no vote. Other scales have one order.
    Both,
    /// The order of the case only; passes in the other order are not looked at.
    AsGiven,
}

/// What two passes of a pair say together.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FoldedPair {
    pub verdict: Preference,
    /// Mean over the two passes of A = 1, tie = ½, B = 0, or of the passes' probabilities; 0 to 1.
    pub pref_a: f64,
    pub consistent: bool,
}

/// One vote per judge, in order of first appearance.
///
/// Repeated answers of one judge in one order are folded first. Numbers: their mean. Labels: the label of more
/// than half of the rated answers, else the pass abstains as ambiguous. If fewer than half of the answers have
/// a rating, the pass abstains with its most frequent abstention (the first in declaration order among equals).
/// An answer that stands twice (same judge, order and sample index) counts once: the first. A rating that is not
/// on the scale is an abstention, `Unparseable(OutOfRange)`.
///
/// Pairs under [`ExpectedOrders::Both`] need both orders. If both abstain, or only the order of the case, its
/// abstention is the vote's; if only the reversed one abstains, that one is. An order without any pass is
/// `Unavailable`.
pub fn fold_orders(passes: &[Pass], orders: ExpectedOrders, scale: &Scale) -> Vec<Vote> {
    let mut position: HashMap<&JudgeId, usize> = HashMap::with_capacity(passes.len());
    let mut judges: Vec<JudgePasses<'_>> = Vec::new();
    for pass in passes {
        let index = *position.entry(&pass.judge).or_insert(judges.len());
        if index == judges.len() {
            judges.push(JudgePasses { judge: &pass.judge, as_given: Vec::new(), reversed: Vec::new() });
        }
        if let Some(own) = judges.get_mut(index) {
            own.add(pass);
        }
    }
    judges.iter().map(|own| fold_judge(own, orders, scale)).collect()
}

/// Folds the verdicts of two passes, both in the case's own frame (specification 4.4, `order_reversal.json`).
///
/// The same candidate twice, or a tie twice, is that verdict; anything else has no winner and is a tie, also on
/// scales where a judge may not answer "tie".
pub fn fold_pair(as_given: Preference, reversed: Preference) -> FoldedPair {
    let consistent = as_given == reversed;
    FoldedPair {
        verdict: if consistent { as_given } else { Preference::Tie },
        pref_a: f64::midpoint(as_given.pref_a(), reversed.pref_a()),
        consistent,
    }
}

/// Folds two passes by their probability for A, each 0 to 1 in the case's own frame (specification 4.4).
///
/// The verdict is a tie within [`TIE_BAND`] of ½. Consistent means that both passes lie on the same side of ½,
/// or both exactly on it. An additive bias of the judge's logits towards a position cancels in the sign.
pub fn fold_probabilities(as_given: f64, reversed: f64) -> FoldedPair {
    let pref_a = f64::midpoint(as_given, reversed);
    let side = |p: f64| p.partial_cmp(&0.5);
    FoldedPair { verdict: banded(pref_a), pref_a, consistent: side(as_given) == side(reversed) }
}

struct JudgePasses<'a> {
    judge: &'a JudgeId,
    as_given: Vec<&'a Pass>,
    reversed: Vec<&'a Pass>,
}

impl<'a> JudgePasses<'a> {
    fn add(&mut self, pass: &'a Pass) {
        let answers = match pass.order {
            Order::AsGiven => &mut self.as_given,
            Order::Reversed => &mut self.reversed,
        };
        if !answers.iter().any(|earlier| earlier.sample == pass.sample) {
            answers.push(pass);
        }
    }
}

fn fold_judge(own: &JudgePasses<'_>, orders: ExpectedOrders, scale: &Scale) -> Vote {
    let as_given = fold_samples(&own.as_given, scale);
    let both = orders == ExpectedOrders::Both && matches!(scale, Scale::Pairwise { .. });
    let folded = if both {
        as_given.and_then(|first| Ok(fold_two_passes(&first, &fold_samples(&own.reversed, scale)?)))
    } else {
        as_given.map(fold_one_pass)
    };
    let (outcome, pair) = match folded {
        Ok((rating, pair)) => (Ok(rating), pair),
        Err(abstention) => (Err(abstention), None),
    };
    Vote { judge: own.judge.clone(), outcome, pair }
}

fn fold_one_pass(rating: Rating) -> (Rating, Option<PairFold>) {
    let Value::Preference(stated) = rating.value else { return (rating, None) };
    let Some(pref_a) = probability_of_a(&rating, Order::AsGiven) else {
        return (rating, Some(PairFold { pref_a: stated.pref_a(), consistent: None }));
    };
    let value = Value::Preference(banded(pref_a));
    (Rating { value, scoring: Scoring::Expected, ..rating }, Some(PairFold { pref_a, consistent: None }))
}

fn fold_two_passes(as_given: &Rating, reversed: &Rating) -> (Rating, Option<PairFold>) {
    let (Value::Preference(first), Value::Preference(second)) = (as_given.value, reversed.value) else {
        return (*as_given, None);
    };
    let probabilities =
        probability_of_a(as_given, Order::AsGiven).zip(probability_of_a(reversed, Order::Reversed));
    let (folded, scoring) = match probabilities {
        Some((p_first, p_second)) => (fold_probabilities(p_first, p_second), Scoring::Expected),
        None => (fold_pair(first, second), discrete_scoring(as_given, reversed)),
    };
    let rating = Rating {
        value: Value::Preference(folded.verdict),
        scoring,
        distribution: as_given
            .distribution
            .zip(reversed.distribution)
            .and_then(|(a, b)| fold_two_lists(a, b)),
        fallback: as_given.fallback || reversed.fallback,
    };
    (rating, Some(PairFold { pref_a: folded.pref_a, consistent: Some(folded.consistent) }))
}

/// Two passes that are not both read from probabilities count as written labels.
fn discrete_scoring(as_given: &Rating, reversed: &Rating) -> Scoring {
    if as_given.scoring == Scoring::Sampled && reversed.scoring == Scoring::Sampled {
        Scoring::Sampled
    } else {
        Scoring::Discrete
    }
}

/// `(p_A + p_tie / 2) / (p_A + p_B + p_tie)`; `None` where the written label stands.
fn probability_of_a(rating: &Rating, order: Order) -> Option<f64> {
    if rating.fallback {
        return None;
    }
    let (first, second, tie) = rating.distribution?.two_way?;
    let total = first + second + tie;
    if ![first, second, tie].iter().all(|p| *p >= 0.0) || !total.is_finite() || total <= 0.0 {
        return None;
    }
    let a = match order {
        Order::AsGiven => first,
        Order::Reversed => second,
    };
    Some((a + tie / 2.0) / total)
}

fn banded(pref_a: f64) -> Preference {
    if pref_a > 0.5 + TIE_BAND {
        Preference::A
    } else if pref_a < 0.5 - TIE_BAND {
        Preference::B
    } else {
        Preference::Tie
    }
}

/// The distribution of a folded pair, in the case's own frame: the label mass of the worse pass, and the means
/// of the un-mapped bounds and probabilities.
fn fold_two_lists(as_given: Distribution, reversed: Distribution) -> Option<Distribution> {
    let own_frame = Distribution {
        bounds01: (1.0 - reversed.bounds01.1, 1.0 - reversed.bounds01.0),
        two_way: reversed.two_way.map(|(first, second, tie)| (second, first, tie)),
        ..reversed
    };
    let mean = mean_distribution(&[as_given, own_frame])?;
    Some(Distribution { label_mass: as_given.label_mass.min(reversed.label_mass), ..mean })
}

/// Folds repeated answers in one order into one rating.
fn fold_samples(answers: &[&Pass], scale: &Scale) -> Result<Rating, Abstention> {
    if let [only] = answers {
        return on_scale(only, scale);
    }
    let mut ratings = Vec::with_capacity(answers.len());
    let mut abstentions = Vec::new();
    // Sorted, so that the sum does not depend on the order in which replies arrived.
    let mut sorted = answers.to_vec();
    sorted.sort_by_key(|pass| pass.sample);
    for answer in sorted {
        match on_scale(answer, scale) {
            Ok(rating) => ratings.push(rating),
            Err(abstention) => abstentions.push(abstention),
        }
    }
    if ratings.len() < abstentions.len() || ratings.is_empty() {
        return Err(most_frequent(abstentions));
    }
    let distributions: Option<Vec<Distribution>> = ratings.iter().map(|r| r.distribution).collect();
    Ok(Rating {
        value: sampled_value(&ratings)?,
        scoring: Scoring::Sampled,
        distribution: distributions.and_then(|all| mean_distribution(&all)),
        fallback: ratings.iter().any(|r| r.fallback),
    })
}

fn on_scale(pass: &Pass, scale: &Scale) -> Result<Rating, Abstention> {
    let rating = pass.outcome?;
    if scale.contains(rating.value) {
        Ok(rating)
    } else {
        Err(Abstention::Unparseable(UnparseableClass::OutOfRange))
    }
}

fn most_frequent(mut abstentions: Vec<Abstention>) -> Abstention {
    abstentions.sort_unstable();
    let mut best = (0, Abstention::Unavailable);
    for same in abstentions.chunk_by(|a, b| a == b) {
        if let Some(&abstention) = same.first()
            && same.len() > best.0
        {
            best = (same.len(), abstention);
        }
    }
    best.1
}

fn sampled_value(ratings: &[Rating]) -> Result<Value, Abstention> {
    let numbers: Option<Vec<f64>> = ratings
        .iter()
        .map(|r| match r.value {
            Value::Number(x) => Some(x),
            Value::Category(_) | Value::Pass(_) | Value::Preference(_) => None,
        })
        .collect();
    if let Some(numbers) = numbers {
        return mean(&numbers)
            .map(Value::Number)
            .map_err(|_| Abstention::Unparseable(UnparseableClass::NoVerdict));
    }
    let majority = ratings
        .iter()
        .map(|r| r.value)
        .find(|value| 2 * ratings.iter().filter(|r| r.value == *value).count() > ratings.len());
    majority.ok_or(Abstention::Unparseable(UnparseableClass::Ambiguous))
}

/// Part by part; the probabilities only if every answer has them.
fn mean_distribution(all: &[Distribution]) -> Option<Distribution> {
    let mean_of = |part: fn(&Distribution) -> f64| mean(&all.iter().map(part).collect::<Vec<f64>>()).ok();
    let listed: Option<Vec<(f64, f64, f64)>> = all.iter().map(|d| d.two_way).collect();
    let two_way = listed.and_then(|listed| {
        let mean_of =
            |part: fn(&(f64, f64, f64)) -> f64| mean(&listed.iter().map(part).collect::<Vec<f64>>()).ok();
        Some((mean_of(|p| p.0)?, mean_of(|p| p.1)?, mean_of(|p| p.2)?))
    });
    Some(Distribution {
        label_mass: mean_of(|d| d.label_mass)?,
        bounds01: (mean_of(|d| d.bounds01.0)?, mean_of(|d| d.bounds01.1)?),
        two_way,
    })
}

#[cfg(test)]
mod tests;
