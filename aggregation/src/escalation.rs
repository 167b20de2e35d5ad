//! When a case goes to a person, and in which order people see such cases.
//!
//! The rules are documented on [`EscalationReason`]; the limits come from the policy. Source: specification 6.1.

use std::cmp::Ordering;

use crate::scale::Value;
use crate::verdict::{EscalationReason, Outcome, PanelVotes, Policy, Undecided};

/// Slack of every comparison with a threshold, so that 0.85 computed ten times over still reaches 0.85.
pub(crate) const SLACK: f64 = 1e-12;

/// Label mass below which a vote's probabilities are flagged (specification 3).
const FULL_LABEL_MASS: f64 = 0.95;

/// Where a case stands in the queue.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct QueuePlace<'a> {
    /// As on the verdict: the most severe reason first.
    pub reasons: &'a [EscalationReason],
    pub disagreement: Option<f64>,
    /// `|score - threshold|` in score01.
    pub threshold_distance: Option<f64>,
    pub case_id: &'a str,
}

/// The next case for a person first: by the most severe reason, then more disagreement, then nearer to the
/// threshold, then by id. What is unknown comes after what is known. A total order: queues are stable.
pub fn queue_order(a: &QueuePlace<'_>, b: &QueuePlace<'_>) -> Ordering {
    let severity = |place: &QueuePlace<'_>| place.reasons.iter().min().copied();
    unknown_last(severity(a), severity(b), Ord::cmp)
        .then_with(|| unknown_last(a.disagreement, b.disagreement, |x, y| y.total_cmp(x)))
        .then_with(|| unknown_last(a.threshold_distance, b.threshold_distance, f64::total_cmp))
        .then_with(|| a.case_id.cmp(b.case_id))
}

/// What people have time for, as places of the list that was given.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Budgeted {
    /// In queue order.
    pub kept: Vec<usize>,
    /// In queue order; a report says which.
    pub cut: Vec<usize>,
}

/// Cuts a queue to `budget` cases. Random reviews keep their places first: they alone say what the panel overlooks, and
/// were drawn before anything was known of the case. Then by [`queue_order`].
pub fn within_budget(queue: &[QueuePlace<'_>], budget: usize) -> Budgeted {
    let is_random = |place: &QueuePlace<'_>| place.reasons.contains(&EscalationReason::RandomReview);
    let mut places: Vec<(usize, &QueuePlace<'_>)> = queue.iter().enumerate().collect();
    places.sort_by(|(_, a), (_, b)| is_random(b).cmp(&is_random(a)).then_with(|| queue_order(a, b)));
    let mut cut = places.split_off(budget.min(places.len()));
    places.sort_by(|(_, a), (_, b)| queue_order(a, b));
    cut.sort_by(|(_, a), (_, b)| queue_order(a, b));
    let indexes = |list: Vec<(usize, &QueuePlace<'_>)>| list.into_iter().map(|(index, _)| index).collect();
    Budgeted { kept: indexes(places), cut: indexes(cut) }
}

fn unknown_last<T>(a: Option<T>, b: Option<T>, known: impl Fn(&T, &T) -> Ordering) -> Ordering {
    match (a, b) {
        (Some(a), Some(b)) => known(&a, &b),
        (Some(_), None) => Ordering::Less,
        (None, Some(_)) => Ordering::Greater,
        (None, None) => Ordering::Equal,
    }
}

/// What the reasons are read from.
pub(crate) struct Facts<'a> {
    pub(crate) policy: &'a Policy,
    pub(crate) panel: &'a PanelVotes<'a>,
    pub(crate) outcome: Outcome,
    pub(crate) no_majority: bool,
    pub(crate) weights_unusable: bool,
    pub(crate) disagreement: Option<f64>,
    pub(crate) passed: Option<bool>,
}

/// All reasons that hold, sorted by severity.
pub(crate) fn reasons(facts: &Facts<'_>) -> Vec<EscalationReason> {
    let checks = [
        (facts.outcome == Outcome::Undecided(Undecided::NoQuorum), EscalationReason::NoQuorum),
        (facts.weights_unusable, EscalationReason::NoPositiveWeight),
        (facts.no_majority, EscalationReason::NoMajority),
        (facts.disagree(), EscalationReason::Disagreement),
        (facts.order_inconsistent(), EscalationReason::OrderInconsistent),
        (facts.near_threshold(), EscalationReason::NearThreshold),
        (facts.bounds_straddle(), EscalationReason::BoundsStraddle),
        (facts.low_label_mass(), EscalationReason::LowLabelMass),
        (facts.panel.unsupported, EscalationReason::UnsupportedEvidence),
    ];
    checks.into_iter().filter_map(|(holds, reason)| holds.then_some(reason)).collect()
}

impl Facts<'_> {
    fn disagree(&self) -> bool {
        let limit = self.policy.escalate.disagreement;
        self.disagreement.zip(limit).is_some_and(|(disagreement, limit)| disagreement >= limit - SLACK)
    }

    fn order_inconsistent(&self) -> bool {
        let inconsistent = self.panel.rated.iter().filter(|r| r.is_consistent() == Some(false)).count();
        2 * inconsistent > self.panel.rated.len()
    }

    fn near_threshold(&self) -> bool {
        let (Some(near), Some(threshold), Some(score), Some(passed)) =
            (self.policy.escalate.near_threshold, self.threshold01(), self.outcome.score(), self.passed)
        else {
            return false;
        };
        let on_the_other_side =
            || self.panel.rated.iter().any(|r| self.policy.passes(r.rating.value) == Some(!passed));
        (score - threshold).abs() <= near + SLACK && on_the_other_side()
    }

    fn bounds_straddle(&self) -> bool {
        let Some(threshold) = self.threshold01() else { return false };
        let reaches = |bound: f64| bound >= threshold - SLACK;
        self.panel
            .rated
            .iter()
            .filter_map(|r| r.rating.distribution)
            .any(|d| reaches(d.bounds01.0) != reaches(d.bounds01.1))
    }

    fn low_label_mass(&self) -> bool {
        let low = self
            .panel
            .rated
            .iter()
            .filter_map(|r| r.rating.distribution)
            .filter(|d| d.label_mass < FULL_LABEL_MASS - SLACK)
            .count();
        2 * low > self.panel.rated.len()
    }

    /// The pass threshold in score01; `None` without one, and on scales that are not numeric.
    fn threshold01(&self) -> Option<f64> {
        let threshold = self.policy.pass.filter(|threshold| threshold.is_finite())?;
        self.policy.scale.score01(Value::Number(threshold))
    }
}

#[cfg(test)]
mod tests {
    use std::cmp::Ordering;

    use super::{Budgeted, QueuePlace, queue_order, within_budget};
    use crate::verdict::EscalationReason::{Disagreement, NoMajority, RandomReview};

    #[test]
    fn a_budget_cuts_the_queue_and_never_a_random_review_first() {
        let place = |reasons, disagreement, case_id| QueuePlace {
            reasons,
            disagreement,
            threshold_distance: None,
            case_id,
        };
        let queue = [
            place(&[Disagreement], Some(0.6), "a"),
            place(&[RandomReview], Some(0.0), "b"),
            place(&[NoMajority], Some(0.9), "c"),
            place(&[Disagreement], Some(0.9), "d"),
        ];
        let check = |budget, kept: &[usize], cut: &[usize]| {
            let expected = Budgeted { kept: kept.to_vec(), cut: cut.to_vec() };
            assert_eq!(within_budget(&queue, budget), expected, "{budget}");
        };
        check(0, &[], &[2, 3, 0, 1]);
        check(1, &[1], &[2, 3, 0]);
        check(3, &[2, 3, 1], &[0]);
        check(9, &[2, 3, 0, 1], &[]);
    }

    #[test]
    fn the_queue_goes_by_severity_then_disagreement_then_nearness_then_id() {
        let place = |reasons, disagreement, threshold_distance, case_id| QueuePlace {
            reasons,
            disagreement,
            threshold_distance,
            case_id,
        };
        let sorted = [
            place(&[NoMajority, RandomReview], Some(0.1), Some(0.9), "z"),
            place(&[Disagreement], Some(0.9), Some(0.3), "z"),
            place(&[Disagreement], Some(0.8), Some(0.1), "z"),
            place(&[Disagreement], Some(0.8), Some(0.2), "a"),
            place(&[Disagreement], Some(0.8), Some(0.2), "b"),
            place(&[Disagreement], Some(0.8), None, "a"),
            place(&[Disagreement], None, Some(0.0), "a"),
            place(&[RandomReview], Some(1.0), None, "a"),
            place(&[], Some(1.0), None, "a"),
        ];
        for (i, first) in sorted.iter().enumerate() {
            assert_eq!(queue_order(first, first), Ordering::Equal);
            for second in sorted.iter().skip(i + 1) {
                assert_eq!(queue_order(first, second), Ordering::Less, "{first:?} {second:?}");
                assert_eq!(queue_order(second, first), Ordering::Greater, "{second:?} {first:?}");
            }
        }
    }
}
