//! Votes of a panel.

use aggregation::numeric::quantile;
use aggregation::panel_vote::{Method, Weights, median, tally, weighted_mean, weighted_median};
use aggregation::verdict::{EscalationPolicy, EscalationReason, Undecided};
use aggregation::vote::Scoring;
use aggregation::weights::Scheme;
use aggregation::{Abstention, JudgeId, Outcome, Policy, Rating, Scale, Value, Vote, decide};
use serde_json::{Value as Json, json};

use crate::harness::{Computed, check, numbers, present};

#[test]
fn oracles_panel_vote() {
    check("panel_vote", |input| {
        let votes: Vec<Option<&str>> = input["votes"].as_array().unwrap().iter().map(Json::as_str).collect();
        let scheme = match input["scheme"].as_str().unwrap() {
            "majority" => None,
            "kappa" => Some(Scheme::Kappa),
            "log_odds" => Some(Scheme::LogOdds),
            other => panic!("unknown scheme {other}"),
        };
        let kappas: Vec<Option<f64>> = match &input["kappas"] {
            Json::Null => vec![None; votes.len()],
            list => numbers(list),
        };
        let quorum = votes.len().div_ceil(2).max(2);
        let weighed: Vec<(&str, f64)> = votes
            .iter()
            .zip(&kappas)
            .filter_map(|(vote, kappa)| {
                let weight = scheme.map_or(1.0, |scheme| kappa.map_or(0.0, |kappa| scheme.weight(kappa)));
                Some(((*vote)?, weight))
            })
            .collect();
        let mut computed = Computed::default();
        for key in ["winner", "shares", "margin"] {
            computed.set(key, Json::Null);
        }
        if weighed.len() < quorum {
            computed.set("outcome", "no_quorum");
        } else {
            match tally(weighed.iter().copied()) {
                Ok(counted) => {
                    computed.set("outcome", if counted.winner.is_some() { "winner" } else { "no_majority" });
                    computed.set("winner", counted.winner);
                    computed.set("margin", counted.margin);
                    computed.set(
                        "shares",
                        Json::Object(
                            counted.shares.iter().map(|(l, s)| ((*l).to_owned(), json!(s))).collect(),
                        ),
                    );
                }
                Err(reason) => computed.set("outcome", serde_json::to_value(reason).unwrap()),
            }
        }
        let positive = weighed.iter().filter(|(_, weight)| *weight > 0.0).count();
        if scheme.is_none() || positive == 0 || positive >= quorum {
            let decided = decide_labels(&votes, scheme, &kappas, quorum);
            assert_eq!(decided, computed.values["outcome"], "{input}: decide and tally differ");
        }
        computed
    });
}

#[test]
fn oracles_weighted_median() {
    check("weighted_median", |input| {
        let votes: Vec<(f64, f64)> = numbers(&input["values"])
            .into_iter()
            .zip(present(&input["weights"]))
            .filter_map(|(value, weight)| Some((value?, weight)))
            .collect();
        let mut counted: Vec<f64> = votes.iter().filter(|(_, w)| *w > 0.0).map(|(x, _)| *x).collect();
        counted.sort_by(f64::total_cmp);
        let mut computed = Computed::default();
        computed.set(
            "iqr_unweighted",
            quantile(&counted, 0.75).zip(quantile(&counted, 0.25)).map(|(a, b)| a - b),
        );
        computed.set_result("median_unweighted", median(counted.iter().copied()));
        computed.set_result("weighted_mean", weighted_mean(votes.iter().copied()));
        let medians = weighted_median(votes.iter().copied());
        computed.set_result("lower", medians.map(|m| m.lower));
        computed.set_result("upper", medians.map(|m| m.upper));
        computed.set_result("midpoint", medians.map(|m| m.midpoint));
        computed
    });
}

/// The outcome that `decide` gives, in the oracle's words.
fn decide_labels(
    votes: &[Option<&str>],
    scheme: Option<Scheme>,
    kappas: &[Option<f64>],
    quorum: usize,
) -> &'static str {
    let names = ["A", "B", "tie"];
    let judge = |index: usize| JudgeId::new(&format!("judge {index}"));
    let kappas =
        || Weights(kappas.iter().enumerate().filter_map(|(i, kappa)| Some((judge(i), (*kappa)?))).collect());
    let cast: Vec<Vote> = votes
        .iter()
        .enumerate()
        .map(|(index, label)| Vote {
            judge: judge(index),
            outcome: label.ok_or(Abstention::TimedOut).map(|label| {
                let label = names.iter().position(|name| *name == label).unwrap();
                rating(Value::Category(label))
            }),
            pair: None,
        })
        .collect();
    let policy = Policy {
        scale: Scale::Nominal(names.map(String::from).to_vec().try_into().unwrap()),
        method: match scheme {
            None => Method::Majority,
            Some(Scheme::Kappa) => Method::KappaWeighted(kappas()),
            Some(Scheme::LogOdds) => Method::LogOdds(kappas()),
        },
        quorum,
        pass: None,
        escalate: EscalationPolicy { disagreement: None, near_threshold: None },
    };
    let verdict = decide(&cast, &policy);
    if verdict.escalation_reasons.contains(&EscalationReason::NoPositiveWeight) {
        return "no_positive_weight";
    }
    match verdict.outcome {
        Outcome::Decided { .. } => "winner",
        Outcome::Undecided(Undecided::NoMajority) => "no_majority",
        Outcome::Undecided(Undecided::NoQuorum) => "no_quorum",
    }
}

pub fn rating(value: Value) -> Rating {
    Rating { value, scoring: Scoring::Discrete, distribution: None, fallback: false }
}
