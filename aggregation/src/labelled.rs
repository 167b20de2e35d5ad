//! Cases that people have labelled: what calibration, stacking and recommendation learn from.
//!
//! Everything that could make them fail later is refused here, by the index of the case.

use std::collections::BTreeSet;

use crate::scale::{Preference, Scale, Value};
use crate::vote::{JudgeId, Vote};

/// One case with the judges' votes and a person's label.
#[derive(Debug, Clone, PartialEq)]
pub struct LabelledCase {
    /// Abstentions count as missing; a judge that is not there is missing as well.
    pub votes: Vec<Vote>,
    /// On the scale. An ordinal label may lie between two (a mean of several people).
    pub label: Value,
    /// Cases with the same number come from one source (a document, a question) and are never split between
    /// learning and measuring. `None`: a source of its own.
    pub source: Option<u64>,
}

/// Labelled cases of one criterion, valid by construction: every label and every rating is on the scale, every
/// judge stands once in a case.
#[derive(Debug, Clone, PartialEq)]
pub struct LabelledCases {
    scale: Scale,
    judges: Vec<JudgeId>,
    cases: Vec<LabelledCase>,
}

/// Why cases cannot be learned from. Indexes count from 0.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum LabelledError {
    #[error("there are no labelled cases")]
    Empty,
    #[error("no judge has a vote in any case")]
    NoVotes,
    #[error("the label of case {case} is not on the scale")]
    LabelOffScale { case: usize },
    #[error("the vote of judge `{judge}` in case {case} is not on the scale")]
    VoteOffScale { case: usize, judge: JudgeId },
    #[error("judge `{judge}` has more than one vote in case {case}")]
    RepeatedJudge { case: usize, judge: JudgeId },
}

impl LabelledCases {
    /// Checks the cases and sorts the votes by judge, so that nothing depends on the order in which they came.
    pub fn new(scale: Scale, mut cases: Vec<LabelledCase>) -> Result<Self, LabelledError> {
        if cases.is_empty() {
            return Err(LabelledError::Empty);
        }
        let mut judges = BTreeSet::new();
        for (index, case) in cases.iter_mut().enumerate() {
            if !scale.contains(case.label) {
                return Err(LabelledError::LabelOffScale { case: index });
            }
            case.votes.sort_by(|a, b| a.judge.cmp(&b.judge));
            check_votes(&scale, index, &case.votes)?;
            judges.extend(
                case.votes.iter().filter(|vote| vote.outcome.is_ok()).map(|vote| &vote.judge).cloned(),
            );
        }
        if judges.is_empty() {
            return Err(LabelledError::NoVotes);
        }
        Ok(Self { scale, judges: judges.into_iter().collect(), cases })
    }

    pub fn scale(&self) -> &Scale {
        &self.scale
    }

    /// The judges with at least one vote, sorted.
    pub fn judges(&self) -> &[JudgeId] {
        &self.judges
    }

    pub fn cases(&self) -> &[LabelledCase] {
        &self.cases
    }
}

fn check_votes(scale: &Scale, case: usize, votes: &[Vote]) -> Result<(), LabelledError> {
    for pair in votes.windows(2) {
        if let [first, second] = pair
            && first.judge == second.judge
        {
            return Err(LabelledError::RepeatedJudge { case, judge: first.judge.clone() });
        }
    }
    let off_scale = votes.iter().find(|vote| {
        vote.outcome.as_ref().is_ok_and(|rating| {
            let folded_tie =
                matches!(scale, Scale::Pairwise { .. }) && rating.value == Value::Preference(Preference::Tie);
            !folded_tie && !scale.contains(rating.value)
        })
    });
    match off_scale {
        Some(vote) => Err(LabelledError::VoteOffScale { case, judge: vote.judge.clone() }),
        None => Ok(()),
    }
}

impl LabelledCase {
    /// What a judge said, if it said anything.
    pub fn value_of(&self, judge: &JudgeId) -> Option<Value> {
        let place = self.votes.binary_search_by(|vote| vote.judge.cmp(judge)).ok()?;
        let rating = self.votes.get(place)?.outcome.as_ref().ok()?;
        Some(rating.value)
    }
}

/// How much of a case a value has right, 0 to 1.
///
/// Numbers: `1 - |value - label| / (max - min)`. Labels: 1 or 0. A missing value, and a tie where nobody may answer
/// so, get what a toss would: one half for numbers and pairs, `1 / K` for `K` labels. 0 off the scale.
pub fn agreement(scale: &Scale, value: Option<Value>, label: Value) -> f64 {
    let undecided = scale.truth_classes().filter(|_| scale.range().is_none()).map_or(0.5, toss);
    let Some(value) = value else { return undecided };
    if scale.range().is_some() {
        let distance = scale.score01(value).zip(scale.score01(label)).map_or(1.0, |(a, b)| (a - b).abs());
        return (1.0 - distance).clamp(0.0, 1.0);
    }
    match (scale, value) {
        (Scale::Pairwise { tie: false }, Value::Preference(Preference::Tie)) => undecided,
        _ => f64::from(u8::from(value == label)),
    }
}

#[expect(clippy::cast_precision_loss, reason = "scales have few labels")]
fn toss(classes: usize) -> f64 {
    1.0 / classes.max(1) as f64
}

#[cfg(test)]
mod tests {
    use super::{LabelledCase, LabelledCases, LabelledError, agreement};
    use crate::scale::{Preference, Scale, Value};
    use crate::vote::{Abstention, JudgeId, Rating, Scoring, Vote};

    fn vote(judge: &str, value: Option<Value>) -> Vote {
        let rating =
            |value| Rating { value, scoring: Scoring::Discrete, distribution: None, fallback: false };
        Vote { judge: JudgeId::new(judge), outcome: value.map(rating).ok_or(Abstention::Refused), pair: None }
    }

    #[test]
    fn what_cannot_be_learned_from_is_refused_by_its_index() {
        let pass = |passed| Value::Pass(passed);
        let good =
            || LabelledCase { votes: vec![vote("a", Some(pass(true)))], label: pass(true), source: None };
        let check = |case: LabelledCase, error: LabelledError| {
            assert_eq!(LabelledCases::new(Scale::PassFail, vec![good(), case]), Err(error));
        };
        check(LabelledCase { label: Value::Number(1.0), ..good() }, LabelledError::LabelOffScale { case: 1 });
        let judge = JudgeId::new("a");
        check(
            LabelledCase { votes: vec![vote("a", Some(Value::Number(1.0)))], ..good() },
            LabelledError::VoteOffScale { case: 1, judge: judge.clone() },
        );
        let twice = vec![vote("a", None), vote("b", None), vote("a", None)];
        check(LabelledCase { votes: twice, ..good() }, LabelledError::RepeatedJudge { case: 1, judge });
        assert_eq!(LabelledCases::new(Scale::PassFail, Vec::new()), Err(LabelledError::Empty));
        let silent = LabelledCase { votes: vec![vote("a", None)], ..good() };
        assert_eq!(LabelledCases::new(Scale::PassFail, vec![silent]), Err(LabelledError::NoVotes));
    }

    #[test]
    fn agreement_gives_the_undecided_what_a_toss_would() {
        let check = |scale: &Scale, value, label, share: f64| {
            assert!((agreement(scale, value, label) - share).abs() < 1e-12, "{scale:?} {value:?} {label:?}");
        };
        let (a, tie) = (Value::Preference(Preference::A), Value::Preference(Preference::Tie));
        check(&Scale::Pairwise { tie: false }, Some(tie), a, 0.5);
        check(&Scale::Pairwise { tie: true }, Some(tie), a, 0.0);
        check(&Scale::Pairwise { tie: true }, None, a, 1.0 / 3.0);
        check(&Scale::PassFail, None, Value::Pass(true), 0.5);
        let ordinal = Scale::Ordinal(vec![1.0, 3.0, 5.0].try_into().unwrap());
        check(&ordinal, Some(Value::Number(4.0)), Value::Number(5.0), 0.75);
        check(&ordinal, None, Value::Number(5.0), 0.5);
    }
}
