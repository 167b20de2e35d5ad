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
