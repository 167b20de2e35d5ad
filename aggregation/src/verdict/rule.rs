//! Which rule is applied to the votes that count, and what it says.

use crate::panel_vote::{AppliedMethod, Method, Weights, combine, weighted_mean};
use crate::scale::{Preference, Scale, Value};
use crate::stacked;
use crate::verdict::{Outcome, PanelVotes, Policy, Quorum, Rated, Undecided};
use crate::vote::JudgeId;
use crate::weights::{Scheme, weigh};

/// The rule that is applied, after a look at who voted.
pub(super) struct Rule {
    pub(super) method: AppliedMethod,
    /// Weights were asked for and cannot be used: the rule is the unweighted one.
    pub(super) weights_unusable: bool,
    basis: Basis,
}

/// What a rule goes by.
enum Basis {
    /// Every vote counts alike.
    Votes,
    /// The weight of each rated vote.
    Weights(Vec<f64>),
    /// A model that reads all votes at once; no value if two labels are equally probable.
    Model { value: Option<Value>, pref_a: Option<f64> },
}

/// What the rule says.
pub(super) struct Decision {
    pub(super) outcome: Outcome,
    pub(super) no_majority: bool,
}

impl Decision {
    pub(super) fn without_quorum() -> Self {
        Self { outcome: Outcome::Undecided(Undecided::NoQuorum), no_majority: false }
    }
}

impl Rule {
    pub(super) fn choose(policy: &Policy, panel: &PanelVotes<'_>, quorum: &Quorum) -> Self {
        let basis = match &policy.method {
            Method::Median | Method::Majority | Method::Mean => Some(Basis::Votes),
            Method::KappaWeighted(weights) => weighted(panel, weights, Scheme::Kappa, quorum),
            Method::LogOdds(weights) => weighted(panel, weights, Scheme::LogOdds, quorum),
            Method::BestSingle(judge) => single(panel, judge),
            Method::DawidSkene(model) => is_known(panel, model.judges(), quorum)
                .then(|| model.posterior(&policy.scale, panel.values()))
                .flatten()
                .map(|posterior| modelled(policy, &posterior, None)),
            Method::Stacked(model) => is_known(panel, model.judges(), quorum)
                .then(|| model.predict(&policy.scale, panel.rated.iter().map(|r| r.vote)))
                .flatten()
                .map(|prediction| modelled(policy, &prediction.probabilities, prediction.value)),
        };
        match basis {
            Some(basis) => Self { method: policy.method.on(&policy.scale), weights_unusable: false, basis },
            // Too few votes of any kind is the graver news, and the method stays the one that was asked for.
            None if !quorum.met => {
                Self { method: policy.method.on(&policy.scale), weights_unusable: false, basis: Basis::Votes }
            }
            None => Self {
                method: Method::unweighted_on(&policy.scale),
                weights_unusable: true,
                basis: Basis::Votes,
            },
        }
    }

    pub(super) fn apply(&self, policy: &Policy, panel: &PanelVotes<'_>) -> Decision {
        let weight = |index: usize| match &self.basis {
            Basis::Weights(weights) => weights.get(index).copied().unwrap_or_default(),
            Basis::Votes | Basis::Model { .. } => 1.0,
        };
        let value = match &self.basis {
            Basis::Model { value, .. } => *value,
            Basis::Votes | Basis::Weights(_) => {
                let weighed = panel.rated.iter().enumerate().map(|(i, r)| (r.rating.value, weight(i)));
                combine(&policy.scale, self.method, weighed)
            }
        };
        let pairs = matches!(policy.scale, Scale::Pairwise { .. });
        let Some(decided) = value.or(pairs.then_some(Value::Preference(Preference::Tie))) else {
            return Decision { outcome: Outcome::Undecided(Undecided::NoMajority), no_majority: true };
        };
        let score = match &self.basis {
            Basis::Model { pref_a: Some(pref_a), .. } => Some(*pref_a),
            Basis::Votes | Basis::Weights(_) | Basis::Model { pref_a: None, .. } if pairs => {
                let prefs =
                    panel.rated.iter().enumerate().filter_map(|(i, r)| Some((r.preference()?, weight(i))));
                weighted_mean(prefs).ok()
            }
            Basis::Votes | Basis::Weights(_) | Basis::Model { .. } => policy.scale.score01(decided),
        };
        Decision { outcome: Outcome::Decided { value: decided, score }, no_majority: value.is_none() }
    }
}

fn weighted(panel: &PanelVotes<'_>, weights: &Weights, scheme: Scheme, quorum: &Quorum) -> Option<Basis> {
    let judges = panel.rated.iter().map(|r| &r.vote.judge);
    weigh(judges, weights, scheme, quorum.required).ok().map(Basis::Weights)
}

/// One judge decides, so the quorum of weights is one; without it there is nothing to weigh.
fn single(panel: &PanelVotes<'_>, judge: &JudgeId) -> Option<Basis> {
    let weights: Vec<f64> = panel.rated.iter().map(|r| f64::from(u8::from(r.vote.judge == *judge))).collect();
    weights.contains(&1.0).then_some(Basis::Weights(weights))
}

/// Whether a model knows as many of the judges that voted as the quorum asks for.
fn is_known(panel: &PanelVotes<'_>, judges: &[JudgeId], quorum: &Quorum) -> bool {
    let known = panel.rated.iter().filter(|r| judges.binary_search(&r.vote.judge).is_ok()).count();
    known >= quorum.required
}

/// The value is the model's own, or the most probable label.
fn modelled(policy: &Policy, probabilities: &[f64], own: Option<Value>) -> Basis {
    let most_probable = || {
        let class = stacked::most_probable(probabilities)?;
        policy.scale.class_value(class).filter(|value| policy.scale.contains(*value))
    };
    let pairs = matches!(policy.scale, Scale::Pairwise { .. });
    let pref_a = pairs.then(|| stacked::pref_a(probabilities));
    Basis::Model { value: own.or_else(most_probable), pref_a }
}

impl Rated<'_> {
    fn preference(&self) -> Option<f64> {
        match self.rating.value {
            Value::Preference(stated) => Some(self.pref_a(stated)),
            Value::Number(_) | Value::Category(_) | Value::Pass(_) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::dawid_skene::{Dimensions, ErrorModel, Settings, TaskVotes, solve};
    use crate::panel_vote::{AppliedMethod, Method};
    use crate::scale::{Preference, Scale, Value};
    use crate::verdict::{EscalationPolicy, EscalationReason, Policy, Verdict, Warning, decide};
    use crate::vote::{Abstention, JudgeId, PairFold, Rating, Scoring, Vote};

    fn vote(judge: &str, preference: Option<Preference>) -> Vote {
        let rating = |preference| Rating {
            value: Value::Preference(preference),
            scoring: Scoring::Discrete,
            distribution: None,
            fallback: false,
        };
        Vote {
            judge: JudgeId::new(judge),
            outcome: preference.map(rating).ok_or(Abstention::TimedOut),
            pair: preference.map(|p| PairFold { pref_a: p.pref_a(), consistent: Some(true) }),
        }
    }

    fn decided(method: Method, votes: &[Vote]) -> Verdict {
        let escalate = EscalationPolicy { disagreement: None, near_threshold: None };
        decide(
            votes,
            &Policy { scale: Scale::Pairwise { tie: false }, method, quorum: 2, pass: None, escalate },
        )
    }

    #[test]
    fn one_judge_decides_and_without_it_the_panel_does_and_says_so() {
        let single = || Method::BestSingle(JudgeId::new("c"));
        let (a, b) = (Some(Preference::A), Some(Preference::B));
        let verdict = decided(single(), &[vote("a", a), vote("b", a), vote("c", b)]);
        assert_eq!(verdict.outcome.value(), Some(Value::Preference(Preference::B)));
        assert_eq!((verdict.outcome.score(), verdict.method), (Some(0.0), AppliedMethod::BestSingle));
        let verdict = decided(single(), &[vote("a", a), vote("b", a), vote("c", None)]);
        assert_eq!(verdict.outcome.value(), Some(Value::Preference(Preference::A)));
        assert_eq!(verdict.method, AppliedMethod::Majority);
        assert_eq!(verdict.warnings, [Warning::WeightsUnusable]);
        assert_eq!(verdict.escalation_reasons, [EscalationReason::NoPositiveWeight]);
    }

    #[test]
    fn known_errors_decide_by_bayes_and_strangers_do_not_make_a_quorum() {
        // `bad` names the wrong candidate throughout; `good` the right one.
        let triples: Vec<(usize, usize, usize)> =
            (0..40).flat_map(|t| [(t, 0, 1 - t % 2), (t, 1, t % 2)]).collect();
        let golden: Vec<Option<usize>> = (0..40).map(|t| Some(t % 2)).collect();
        let dimensions = Dimensions { tasks: 40, workers: 2, labels: 3, classes: 2 };
        let votes = TaskVotes::new(dimensions, &triples, &golden).unwrap();
        let solution = solve(&votes, Settings::default()).unwrap();
        let model = ErrorModel::new(&["bad", "good"].map(JudgeId::new), &solution).unwrap();
        let method = || Method::DawidSkene(model.clone().into());
        let (a, b) = (Some(Preference::A), Some(Preference::B));
        let verdict = decided(method(), &[vote("bad", b), vote("good", a)]);
        assert_eq!(verdict.outcome.value(), Some(Value::Preference(Preference::A)));
        assert!(verdict.outcome.score().unwrap() > 0.9);
        // Both say a, one of them is known to be wrong: as probable as b, so a tie, which escalates.
        let verdict = decided(method(), &[vote("bad", a), vote("good", a)]);
        assert_eq!(verdict.outcome.value(), Some(Value::Preference(Preference::Tie)));
        assert!(verdict.escalation_reasons.contains(&EscalationReason::NoMajority));
        let verdict = decided(method(), &[vote("good", a), vote("stranger", b)]);
        assert_eq!(verdict.method, AppliedMethod::Majority);
        assert_eq!(verdict.warnings, [Warning::WeightsUnusable]);
    }
}
