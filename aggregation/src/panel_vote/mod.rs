//! How votes become one value: the rules of a panel, one file a rule. Knows values and weights, not escalation.

mod majority;
mod median;
mod weighted;

use std::collections::BTreeMap;
use std::sync::Arc;

pub use majority::{Tally, tally};
pub use median::{mean, median};
use serde::{Deserialize, Serialize};
pub use weighted::{WeightedMedian, weighted_mean, weighted_median};

use crate::dawid_skene::ErrorModel;
use crate::scale::{OrdinalLabels, Scale, Value};
use crate::stacked::Stacked;
use crate::vote::JudgeId;

/// The rule of a panel. Where a rule does not suit the scale, [`Method::on`] says what is applied instead; the
/// gateway refuses such panels when it loads them.
#[derive(Debug, Clone, PartialEq)]
pub enum Method {
    /// Numbers: the middle value; an even count gives the mean of the two middle ones.
    Median,
    /// Labels: more than half of the votes. Ordinal scales too: each vote counts for its nearest label, the lower
    /// one at equal distance.
    Majority,
    /// Numbers: the arithmetic mean.
    Mean,
    /// Numbers: weighted mean; labels: weighted strict majority. `w = max(0, kappa)`.
    KappaWeighted(Weights),
    /// As `KappaWeighted` with `w = 2 atanh(min(kappa, 0.9))`.
    LogOdds(Weights),
    /// What this judge says. The others are asked for the disagreement only.
    BestSingle(JudgeId),
    /// The most probable label under the judges' error rates (specification 4.6).
    DawidSkene(Arc<ErrorModel>),
    /// Weights per judge and label, learned from labelled cases: the most probable label, or the expected one on
    /// ordinal scales.
    Stacked(Arc<Stacked>),
}

/// Kappa per judge, from fresh calibrations whose status allows weight. A judge that is absent weighs 0.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Weights(pub BTreeMap<JudgeId, f64>);

/// The rule that produced an outcome.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AppliedMethod {
    Median,
    Majority,
    Mean,
    KappaWeighted,
    LogOdds,
    BestSingle,
    DawidSkene,
    Stacked,
}

impl Method {
    /// What this rule does on this scale: labels know no median and no mean, so they take the majority; numbers
    /// of an interval hardly ever repeat, so there the majority is the median.
    pub fn on(&self, scale: &Scale) -> AppliedMethod {
        let labels = matches!(scale, Scale::Nominal(_) | Scale::PassFail | Scale::Pairwise { .. });
        match self {
            Self::Median | Self::Mean if labels => AppliedMethod::Majority,
            Self::Majority if matches!(scale, Scale::Continuous(_)) => AppliedMethod::Median,
            Self::Median => AppliedMethod::Median,
            Self::Majority => AppliedMethod::Majority,
            Self::Mean => AppliedMethod::Mean,
            Self::KappaWeighted(_) => AppliedMethod::KappaWeighted,
            Self::LogOdds(_) => AppliedMethod::LogOdds,
            Self::BestSingle(_) => AppliedMethod::BestSingle,
            Self::DawidSkene(_) => AppliedMethod::DawidSkene,
            Self::Stacked(_) => AppliedMethod::Stacked,
        }
    }

    /// The rule without weights that stands in when weights are unusable: median of numbers, majority of labels.
    pub fn unweighted_on(scale: &Scale) -> AppliedMethod {
        Self::Median.on(scale)
    }
}

/// Valid votes that a panel of `judges` needs by default: `min(m, max(2, ceil(m / 2)))`.
pub fn default_quorum(judges: usize) -> usize {
    judges.div_ceil(2).max(2).min(judges)
}

/// One value with its weight. Weights are finite and not negative.
pub(crate) type Weighed = (Value, f64);

/// The panel's value under a rule; `None` if no label has a strict majority, or nothing has weight.
///
/// Every value must be on the scale. The sums run in the order given, so callers sort first.
pub(crate) fn combine(
    scale: &Scale,
    method: AppliedMethod,
    votes: impl Iterator<Item = Weighed>,
) -> Option<Value> {
    match scale {
        Scale::Ordinal(labels) => match method {
            AppliedMethod::Majority => {
                tally(votes.map(|(value, weight)| (nearest_label(labels, value), weight))).ok()?.winner
            }
            AppliedMethod::Median
            | AppliedMethod::Mean
            | AppliedMethod::KappaWeighted
            | AppliedMethod::LogOdds
            | AppliedMethod::BestSingle
            | AppliedMethod::DawidSkene
            | AppliedMethod::Stacked => combine_numbers(method, votes),
        },
        Scale::Continuous(_) => combine_numbers(method, votes),
        Scale::Nominal(_) | Scale::PassFail | Scale::Pairwise { .. } => tally(votes).ok()?.winner,
    }
}

fn combine_numbers(method: AppliedMethod, votes: impl Iterator<Item = Weighed>) -> Option<Value> {
    let numbers = votes.filter_map(|(value, weight)| match value {
        Value::Number(x) => Some((x, weight)),
        Value::Category(_) | Value::Pass(_) | Value::Preference(_) => None,
    });
    let combined = match method {
        AppliedMethod::Median | AppliedMethod::Majority => median(numbers.map(|(x, _)| x)),
        // Without weights every vote weighs 1. A single judge is a weight of 1 beside weights of 0.
        AppliedMethod::Mean
        | AppliedMethod::KappaWeighted
        | AppliedMethod::LogOdds
        | AppliedMethod::BestSingle => weighted_mean(numbers),
        // Models say their value themselves.
        AppliedMethod::DawidSkene | AppliedMethod::Stacked => return None,
    };
    combined.ok().map(Value::Number)
}

/// The label nearest to a number, the lower one at equal distance (specification 1.1).
fn nearest_label(labels: &OrdinalLabels, value: Value) -> Value {
    let Value::Number(x) = value else { return value };
    let mut nearest = labels.min();
    for &label in labels.values() {
        if (label - x).abs() < (nearest - x).abs() {
            nearest = label;
        }
    }
    Value::Number(nearest)
}

#[cfg(test)]
mod tests {
    use super::{default_quorum, mean, median, tally, weighted_median};
    use crate::estimate::UndefinedReason;

    #[test]
    fn the_default_quorum_is_half_the_panel_but_two_where_there_are_two() {
        let quorums: Vec<usize> = (0..=9).map(default_quorum).collect();
        assert_eq!(quorums, [0, 1, 2, 2, 2, 3, 3, 4, 4, 5]);
    }

    #[test]
    fn nothing_has_no_middle_and_no_majority() {
        assert_eq!(median([]), Err(UndefinedReason::Empty));
        assert_eq!(mean(&[f64::NAN]), Err(UndefinedReason::Empty));
        assert_eq!(weighted_median([(1.0, 0.0)]), Err(UndefinedReason::Empty));
        assert_eq!(tally::<bool>([]), Err(UndefinedReason::Empty));
        assert_eq!(tally([(true, 0.0), (false, f64::NAN)]), Err(UndefinedReason::NoPositiveWeight));
    }

    #[test]
    fn the_mean_of_equal_values_is_that_value() {
        assert_eq!(mean(&[0.1; 3]), Ok(0.1));
    }
}
