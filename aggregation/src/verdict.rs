//! The heart: votes in, verdict out. Total: every input has a verdict.
//!
//! [`decide`] reads top-down: which votes count, whether they are enough, what they say under the panel's rule,
//! and whether a person should look. It knows nothing of judges beyond their votes.

use serde::{Deserialize, Serialize};

use crate::disagreement::disagreement;
use crate::escalation::{self, SLACK};
pub use crate::panel_vote::AppliedMethod;
use crate::panel_vote::Method;
use crate::scale::{Preference, Scale, Value};
use crate::vote::{Abstention, JudgeId, Rating, Scoring, Vote};

/// The panel's result on one criterion.
///
/// - Order does not matter: votes are sorted by judge before anything is summed, so the same votes give the same
///   bits.
/// - A rating that is not on the scale, or not a number, counts as an abstention. On pairs a tie always counts:
///   it is what an inconsistent judge has said, also where judges may not answer "tie".
/// - A judge that stands twice counts once; if it contradicts itself it does not count.
/// - Abstentions leave the denominator, not the quorum. Without quorum there is no value.
/// - Weighted rules count their quorum over positive weights. Below it the unweighted result is given, with
///   [`Warning::WeightsUnusable`] and [`EscalationReason::NoPositiveWeight`].
/// - No strict majority is no value, except on pairs, where it is a tie; both escalate.
///
/// Source: specification 4.1 to 4.4 and 6.1.
pub fn decide(votes: &[Vote], policy: &Policy) -> Verdict {
    let panel = PanelVotes::read(votes, &policy.scale);
    let quorum = Quorum::of(&panel, policy.quorum);
    let rule = Rule::choose(policy, &panel, &quorum);
    let decision = if quorum.met { rule.apply(policy, &panel) } else { Decision::without_quorum() };
    let disagreement = disagreement(&policy.scale, panel.rated.iter().map(|r| r.rating.value)).ok();
    let passed = decision.outcome.value().and_then(|value| policy.passes(value));
    let escalation_reasons = escalation::reasons(&escalation::Facts {
        policy,
        panel: &panel,
        outcome: decision.outcome,
        no_majority: decision.no_majority,
        weights_unusable: rule.weights_unusable,
        disagreement,
        passed,
    });
    Verdict {
        outcome: decision.outcome,
        method: rule.method,
        disagreement,
        passed,
        quorum,
        order_consistent: panel.order_consistent(),
        escalation_reasons,
        warnings: warnings(&rule, &panel),
    }
}

/// How a panel decides one criterion.
#[derive(Debug, Clone, PartialEq)]
pub struct Policy {
    pub scale: Scale,
    pub method: Method,
    /// Valid votes needed for a value, at least one. For weighted methods: votes of positive weight.
    pub quorum: usize,
    /// Raw value from which a case passes (numeric scales).
    pub pass: Option<f64>,
    pub escalate: EscalationPolicy,
}

/// When a case goes to a person. `None` switches a trigger off.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct EscalationPolicy {
    /// Least disagreement, 0 to 1, that escalates.
    pub disagreement: Option<f64>,
    /// Distance in score01 from the pass threshold within which a split panel escalates.
    pub near_threshold: Option<f64>,
}

/// The panel's result on one criterion.
#[derive(Debug, Clone, PartialEq)]
pub struct Verdict {
    pub outcome: Outcome,
    /// The method that produced the outcome: the unweighted one when weights were unusable.
    pub method: AppliedMethod,
    /// Normalised pairwise distance between votes, 0 to 1; `None` below two votes.
    pub disagreement: Option<f64>,
    /// `None` when the criterion has no pass threshold or there is no value.
    pub passed: Option<bool>,
    pub quorum: Quorum,
    /// Pairs: whether every judge that voted was consistent; `None` for other scales or one order.
    pub order_consistent: Option<bool>,
    /// Sorted by severity, without repeats.
    pub escalation_reasons: Vec<EscalationReason>,
    pub warnings: Vec<Warning>,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Outcome {
    Decided {
        value: Value,
        /// 0 to 1; `None` on nominal scales. Pairs: mean over the votes of `pref_a`, weighted as the method weighs.
        score: Option<f64>,
    },
    Undecided(Undecided),
}

/// Why a criterion has no value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Undecided {
    NoQuorum,
    /// No label has more than half of the (weighted) votes. Pairs report a tie instead.
    NoMajority,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Quorum {
    /// Judges asked or excluded: all judges that a vote was handed in for.
    pub asked: usize,
    /// Votes with a rating.
    pub voted: usize,
    pub required: usize,
    pub met: bool,
}

/// In order of severity: the queue shows the first reasons first.
///
/// Invariant: new reasons go to the end. Queues are stored with the number of their worst reason, so a reason that
/// moved would give stored cases another one's place.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EscalationReason {
    /// Fewer votes with a rating than the quorum: there is no value.
    NoQuorum,
    /// A weighted rule, and fewer judges with a positive weight than the quorum: the value is the unweighted one.
    NoPositiveWeight,
    /// No label has more than half of the (weighted) votes. On pairs the value is a tie then.
    NoMajority,
    /// The disagreement reaches the policy's limit.
    Disagreement,
    /// Pairs: more than half of the judges that voted contradicted themselves between the orders.
    OrderInconsistent,
    /// The score lies within the policy's distance of the pass threshold, and some vote is on the other side.
    NearThreshold,
    /// Some vote's label probabilities reach to both sides of the pass threshold, depending on where the mass
    /// lies that the server did not list.
    BoundsStraddle,
    /// More than half of the votes have less than 0.95 of the probability on the scale's labels.
    LowLabelMass,
    /// Some judge cited evidence that the case does not hold.
    UnsupportedEvidence,
    /// Drawn for review before the first call; never by `decide`.
    RandomReview,
    /// A check that code decides had nothing to decide on; never by `decide`.
    UndecidableCheck,
}

/// What a reader of the verdict should know, without names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Warning {
    /// Weights were asked for and fewer judges than the quorum have a positive one: the unweighted result is given.
    WeightsUnusable,
    /// Votes that were scored in different ways (expected, sampled, discrete) stand in one verdict.
    ScoringMixed,
}

/// The votes of one criterion, sorted by judge, each judge once.
#[derive(Debug)]
pub(crate) struct PanelVotes<'a> {
    pub(crate) judges: usize,
    pub(crate) rated: Vec<Rated<'a>>,
    /// Whether some judge cited evidence that is not there.
    pub(crate) unsupported: bool,
}

/// A vote that counts.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Rated<'a> {
    pub(crate) vote: &'a Vote,
    pub(crate) rating: &'a Rating,
}

impl<'a> PanelVotes<'a> {
    fn read(votes: &'a [Vote], scale: &Scale) -> Self {
        let mut sorted: Vec<&Vote> = votes.iter().collect();
        sorted.sort_by(|a, b| a.judge.cmp(&b.judge));
        let mut panel = Self { judges: 0, rated: Vec::with_capacity(votes.len()), unsupported: false };
        for own in sorted.chunk_by(|a, b| a.judge == b.judge) {
            panel.judges += 1;
            panel.unsupported |= own.iter().any(|vote| vote.outcome == Err(Abstention::Unsupported));
            let mut rated = own.iter().filter_map(|vote| Rated::on_scale(vote, scale));
            // A judge that stands twice must not vote twice, nor may its list position pick the vote.
            if let Some(first) = rated.next()
                && rated.all(|again| again.vote == first.vote)
            {
                panel.rated.push(first);
            }
        }
        panel
    }

    /// Every judge that counts with its value.
    fn values(&self) -> impl Iterator<Item = (&JudgeId, Value)> {
        self.rated.iter().map(|r| (&r.vote.judge, r.rating.value))
    }

    /// Whether no judge contradicted itself; `None` if no judge was asked both orders.
    fn order_consistent(&self) -> Option<bool> {
        let mut known = self.rated.iter().filter_map(Rated::is_consistent).peekable();
        known.peek()?;
        Some(known.all(|consistent| consistent))
    }
}

impl<'a> Rated<'a> {
    fn on_scale(vote: &'a Vote, scale: &Scale) -> Option<Self> {
        let rating = vote.outcome.as_ref().ok()?;
        let folded_tie =
            matches!(scale, Scale::Pairwise { .. }) && rating.value == Value::Preference(Preference::Tie);
        (folded_tie || scale.contains(rating.value)).then_some(Self { vote, rating })
    }

    pub(crate) fn is_consistent(&self) -> Option<bool> {
        self.vote.pair?.consistent
    }

    /// What the vote adds to the panel's score of a pair, 0 to 1.
    pub(crate) fn pref_a(&self, stated: Preference) -> f64 {
        match self.vote.pair {
            Some(pair) if (0.0..=1.0).contains(&pair.pref_a) => pair.pref_a,
            Some(_) | None => stated.pref_a(),
        }
    }
}

impl Quorum {
    fn of(panel: &PanelVotes<'_>, quorum: usize) -> Self {
        // Nothing can be decided by nobody, whatever the policy says.
        let required = quorum.max(1);
        let voted = panel.rated.len();
        Self { asked: panel.judges, voted, required, met: voted >= required }
    }
}

impl Policy {
    /// Whether a value passes: its own word on pass/fail scales, at or above the threshold (with slack for
    /// rounding) on numeric ones. `None` where there is no threshold.
    pub fn passes(&self, value: Value) -> Option<bool> {
        match value {
            Value::Number(x) => {
                let threshold = self.pass.filter(|threshold| threshold.is_finite())?;
                Some(x >= threshold - SLACK)
            }
            Value::Pass(passed) => Some(passed),
            Value::Category(_) | Value::Preference(_) => None,
        }
    }
}

impl Outcome {
    /// The value, if there is one.
    pub fn value(&self) -> Option<Value> {
        match self {
            Self::Decided { value, .. } => Some(*value),
            Self::Undecided(_) => None,
        }
    }

    /// The score, 0 to 1, if there is one.
    pub fn score(&self) -> Option<f64> {
        match self {
            Self::Decided { score, .. } => *score,
            Self::Undecided(_) => None,
        }
    }
}

impl Verdict {
    /// Whether a person should look at the case.
    pub fn is_escalated(&self) -> bool {
        !self.escalation_reasons.is_empty()
    }

    /// Adds a reason that is not seen from the votes, such as a random review.
    pub fn add_reason(&mut self, reason: EscalationReason) {
        if let Err(place) = self.escalation_reasons.binary_search(&reason) {
            self.escalation_reasons.insert(place, reason);
        }
    }
}

fn warnings(rule: &Rule, panel: &PanelVotes<'_>) -> Vec<Warning> {
    let mut warnings = Vec::new();
    if rule.weights_unusable {
        warnings.push(Warning::WeightsUnusable);
    }
    let scoring: Option<Scoring> = panel.rated.first().map(|r| r.rating.scoring);
    if panel.rated.iter().any(|r| Some(r.rating.scoring) != scoring) {
        warnings.push(Warning::ScoringMixed);
    }
    warnings
}

mod rule;

use rule::{Decision, Rule};

#[cfg(test)]
mod tests;
