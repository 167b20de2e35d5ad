//! The adaptive panel: judges are asked one after the other, cheapest first, and the panel stops as soon as nothing
//! that the remaining judges could say would change the outcome **or** whether a person looks at the case.
//!
//! [`settled`] tries every completion through [`decide`] itself, so it holds for every rule and every reason to
//! escalate that votes can show. It is free of guesses about what judges would say; stopping by a posterior is not
//! built. A case that stopped early is marked `partial` by the caller. Not for calibration cases, nor for those drawn
//! for random review: they need every vote. Source: specification 4.7, `sequential_panel.json`.

use crate::scale::{Preference, Scale, Value};
use crate::verdict::{Outcome, Policy, Verdict, decide};
use crate::vote::{Abstention, JudgeId, PairFold, Rating, Scoring, Vote};

/// Completions that are tried before giving up: five labels and four judges are 1296.
pub const MOST_COMPLETIONS: usize = 20_000;

/// What the judges that were not asked yet could do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Open {
    /// Whether a judge may abstain. It always may in truth; `false` answers "if nobody abstains".
    pub may_abstain: bool,
    /// Whether a judge may cite evidence that is not there, which escalates by itself.
    pub may_be_unsupported: bool,
    /// Pairs: whether every judge is asked both orders and may contradict itself.
    pub both_orders: bool,
}

/// The verdict so far, if no completion changes its value or whether it escalates; `None` while it is open.
///
/// Open as well: an interval, whose values cannot be listed; more than [`MOST_COMPLETIONS`]; and judges whose label
/// probabilities may straddle the threshold, which is a reason that this does not see: do not stop such panels early.
/// The verdict is that of the votes so far: its disagreement and quorum are not those of the full panel.
pub fn settled(votes: &[Vote], remaining: &[JudgeId], policy: &Policy, open: Open) -> Option<Verdict> {
    let so_far = decide(votes, policy);
    if remaining.is_empty() {
        return Some(so_far);
    }
    let answers = answers(&policy.scale, open)?;
    let exponent = u32::try_from(remaining.len()).ok()?;
    answers.len().checked_pow(exponent).filter(|count| *count <= MOST_COMPLETIONS)?;
    let mut all = votes.to_vec();
    let mut seen: Option<(Option<Value>, bool)> = None;
    let fixed = complete(&mut all, remaining, &answers, &mut |votes| {
        let verdict = decide(votes, policy);
        let shown = (value(&verdict), verdict.is_escalated());
        *seen.get_or_insert(shown) == shown
    });
    let as_now = seen == Some((value(&so_far), so_far.is_escalated()));
    (fixed && as_now).then_some(so_far)
}

/// The outcome that every completion has, whatever is escalated: what `votes` decide by themselves. `None` while open;
/// `Some(None)` when every completion is without a value.
pub fn settled_outcome(
    votes: &[Vote],
    remaining: &[JudgeId],
    policy: &Policy,
    open: Open,
) -> Option<Option<Value>> {
    let answers = answers(&policy.scale, open)?;
    let exponent = u32::try_from(remaining.len()).ok()?;
    answers.len().checked_pow(exponent).filter(|count| *count <= MOST_COMPLETIONS)?;
    let mut all = votes.to_vec();
    let mut seen: Option<Option<Value>> = None;
    let fixed = complete(&mut all, remaining, &answers, &mut |votes| {
        let shown = value(&decide(votes, policy));
        *seen.get_or_insert(shown) == shown
    });
    seen.filter(|_| fixed)
}

fn value(verdict: &Verdict) -> Option<Value> {
    match verdict.outcome {
        Outcome::Decided { value, .. } => Some(value),
        Outcome::Undecided(_) => None,
    }
}

/// Tries the answers of the first judge that remains, and of the others after it, until `check` says no.
fn complete(
    votes: &mut Vec<Vote>,
    remaining: &[JudgeId],
    answers: &[Answer],
    check: &mut dyn FnMut(&[Vote]) -> bool,
) -> bool {
    let Some((judge, later)) = remaining.split_first() else { return check(votes) };
    for &(outcome, pair) in answers {
        votes.push(Vote { judge: judge.clone(), outcome, pair });
        let holds = complete(votes, later, answers, check);
        votes.pop();
        if !holds {
            return false;
        }
    }
    true
}

type Answer = (Result<Rating, Abstention>, Option<PairFold>);

/// Everything that one judge can add; `None` on an interval.
fn answers(scale: &Scale, open: Open) -> Option<Vec<Answer>> {
    let rating = |value| Rating { value, scoring: Scoring::Discrete, distribution: None, fallback: false };
    let fold = |value, consistent| match value {
        Value::Preference(stated) => Some(PairFold { pref_a: stated.pref_a(), consistent }),
        Value::Number(_) | Value::Category(_) | Value::Pass(_) => None,
    };
    let consistent = open.both_orders.then_some(true);
    let mut answers: Vec<Answer> = (0..scale.vote_classes()?)
        .filter_map(|class| scale.class_value(class))
        .filter(|value| scale.contains(*value))
        .map(|value| (Ok(rating(value)), fold(value, consistent)))
        .collect();
    if open.both_orders && matches!(scale, Scale::Pairwise { .. }) {
        let tie = Value::Preference(Preference::Tie);
        answers.push((Ok(rating(tie)), fold(tie, Some(false))));
    }
    if open.may_abstain {
        answers.push((Err(Abstention::Unavailable), None));
    }
    if open.may_be_unsupported {
        answers.push((Err(Abstention::Unsupported), None));
    }
    Some(answers)
}

#[cfg(test)]
mod tests {
    use super::{Open, settled, settled_outcome};
    use crate::panel_vote::Method;
    use crate::scale::{Scale, Value};
    use crate::verdict::{EscalationPolicy, Policy};
    use crate::vote::{JudgeId, Rating, Scoring, Vote};

    const OPEN: Open = Open { may_abstain: true, may_be_unsupported: false, both_orders: false };

    fn policy(scale: Scale, disagreement: Option<f64>) -> Policy {
        let escalate = EscalationPolicy { disagreement, near_threshold: None };
        Policy { scale, method: Method::Majority, quorum: 2, pass: None, escalate }
    }

    fn votes(passed: &[bool]) -> Vec<Vote> {
        let rating = |passed| Rating {
            value: Value::Pass(passed),
            scoring: Scoring::Discrete,
            distribution: None,
            fallback: false,
        };
        let vote = |(i, passed): (usize, &bool)| Vote {
            judge: JudgeId::new(&format!("{i}")),
            outcome: Ok(rating(*passed)),
            pair: None,
        };
        passed.iter().enumerate().map(vote).collect()
    }

    fn judges(count: usize) -> Vec<JudgeId> {
        (0..count).map(|i| JudgeId::new(&format!("late {i}"))).collect()
    }

    #[test]
    fn two_of_three_settle_the_outcome_but_not_whether_a_person_looks() {
        let check = |passed: &[bool], remaining, disagreement, is_settled| {
            let found =
                settled(&votes(passed), &judges(remaining), &policy(Scale::PassFail, disagreement), OPEN);
            assert_eq!(found.is_some(), is_settled, "{passed:?} {remaining} {disagreement:?}");
        };
        check(&[true, true], 1, None, true);
        check(&[true, true], 1, Some(0.5), false);
        check(&[true, true], 1, Some(0.7), true);
        check(&[true, false], 1, None, false);
        check(&[true, true, true], 2, None, true);
        check(&[true, true, true, true], 1, Some(0.5), true);
        check(&[true], 0, None, true);
    }

    #[test]
    fn evidence_that_may_be_missing_keeps_a_case_open() {
        let open = Open { may_be_unsupported: true, ..OPEN };
        assert!(settled(&votes(&[true, true]), &judges(1), &policy(Scale::PassFail, None), open).is_none());
    }

    #[test]
    fn intervals_and_too_many_completions_stay_open() {
        let interval = Scale::Continuous((0.0, 1.0).try_into().unwrap());
        assert!(settled(&[], &judges(1), &policy(interval, None), OPEN).is_none());
        assert!(settled(&votes(&[true; 40]), &judges(20), &policy(Scale::PassFail, None), OPEN).is_none());
        let known = settled_outcome(&votes(&[true; 2]), &judges(1), &policy(Scale::PassFail, None), OPEN);
        assert_eq!(known, Some(Some(Value::Pass(true))));
    }
}
