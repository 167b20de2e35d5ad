//! How many judges a panel amounts to, what is true by their votes alone, when enough have been asked, and from which
//! confidence the panel may decide alone.

use std::collections::BTreeMap;

use aggregation::dawid_skene::{Dimensions, Settings, TaskVotes, posterior_entropy, solve};
use aggregation::health::{ErrorsError, effective_judges};
use aggregation::panel_vote::Method;
use aggregation::selective::{Guarantee, Judged, select};
use aggregation::sequential::{Open, settled_outcome};
use aggregation::verdict::EscalationPolicy;
use aggregation::vote::Scoring;
use aggregation::{Abstention, JudgeId, Policy, Rating, Scale, Value, Vote};
use serde_json::{Value as Json, json};

use crate::harness::{Computed, check, numbers, present};

#[test]
fn oracles_n_eff() {
    check("n_eff", |input| {
        let errors: Vec<Vec<Option<f64>>> = input["errors"].as_array().unwrap().iter().map(numbers).collect();
        let found = effective_judges(&errors).map_err(|error| match error {
            ErrorsError::Undefined(reason) => reason,
            other => panic!("{other}"),
        });
        let mut computed = Computed::default();
        computed.set_result("rho", found.map(|found| found.correlation));
        computed.set_result("n_eff", found.map(|found| found.n_eff));
        computed
    });
}

#[test]
fn oracles_dawid_skene() {
    check("dawid_skene", |input| {
        let labels: Vec<&str> = strings(&input["labels"]);
        let triples: Vec<Vec<&str>> = input["votes"].as_array().unwrap().iter().map(strings).collect();
        let (tasks, workers) =
            (index_of(triples.iter().map(|t| t[0])), index_of(triples.iter().map(|t| t[1])));
        let votes: Vec<(usize, usize, usize)> = triples
            .iter()
            .map(|t| (tasks[t[0]], workers[t[1]], labels.iter().position(|label| *label == t[2]).unwrap()))
            .collect();
        let dimensions = Dimensions {
            tasks: tasks.len(),
            workers: workers.len(),
            labels: labels.len(),
            classes: labels.len(),
        };
        let settings = Settings {
            most_iterations: usize::try_from(input["n_iter"].as_u64().unwrap()).unwrap(),
            tolerance: None,
            smoothing: input["smoothing"].as_f64().unwrap(),
        };
        let mut computed = Computed::default();
        match solve(&TaskVotes::new(dimensions, &votes, &[]).unwrap(), settings) {
            Ok(solution) => {
                let by_label = |values: &[f64]| -> Json {
                    labels.iter().zip(values).map(|(l, p)| ((*l).to_owned(), json!(p))).collect()
                };
                let posterior = |task: usize| solution.posteriors[task].as_ref().unwrap();
                let by_task = |of: &dyn Fn(&[f64]) -> Json| -> Json {
                    tasks.iter().map(|(name, &task)| ((*name).to_owned(), of(posterior(task)))).collect()
                };
                computed.set("posterior", by_task(&by_label));
                computed.set("prior", by_label(&solution.prior));
                computed.set("map", by_task(&|p| json!(labels[first_highest(p)])));
                computed.set("entropy01", by_task(&|p| json!(posterior_entropy(p).unwrap())));
            }
            Err(reason) => {
                computed.set("posterior", json!({}));
                computed.undefined = Some(serde_json::to_value(reason).unwrap());
            }
        }
        computed
    });
}

fn strings(list: &Json) -> Vec<&str> {
    list.as_array().unwrap().iter().map(|word| word.as_str().unwrap()).collect()
}

fn index_of<'a>(names: impl Iterator<Item = &'a str>) -> BTreeMap<&'a str, usize> {
    let mut index: BTreeMap<&str, usize> = names.map(|name| (name, 0)).collect();
    for (place, own) in index.values_mut().enumerate() {
        *own = place;
    }
    index
}

fn first_highest(p: &[f64]) -> usize {
    (0..p.len()).rev().max_by(|&a, &b| p[a].total_cmp(&p[b])).unwrap()
}

#[test]
fn oracles_sequential_panel() {
    check("sequential_panel", |input| {
        let labels = strings(&input["labels"]);
        let policy = Policy {
            scale: Scale::Nominal(
                labels.iter().map(|l| (*l).to_owned()).collect::<Vec<_>>().try_into().unwrap(),
            ),
            method: Method::Majority,
            quorum: 1,
            pass: None,
            escalate: EscalationPolicy { disagreement: None, near_threshold: None },
        };
        let judge = |place: usize| JudgeId::new(&format!("{place}"));
        let votes: Vec<Vote> = input["votes"]
            .as_array()
            .unwrap()
            .iter()
            .enumerate()
            .map(|(place, label)| {
                let known = label.as_str().map(|own| labels.iter().position(|l| *l == own).unwrap());
                let rating = |label| Rating {
                    value: Value::Category(label),
                    scoring: Scoring::Discrete,
                    distribution: None,
                    fallback: false,
                };
                Vote {
                    judge: judge(place),
                    outcome: known.map(rating).ok_or(Abstention::TimedOut),
                    pair: None,
                }
            })
            .collect();
        let stop = |may_abstain| {
            let open = Open { may_abstain, may_be_unsupported: false, both_orders: false };
            let settled = |asked: usize| {
                let remaining: Vec<JudgeId> = (asked..votes.len()).map(judge).collect();
                settled_outcome(&votes[..asked], &remaining, &policy, open)
            };
            let asked = (0..=votes.len()).find(|asked| settled(*asked).is_some()).unwrap();
            let outcome = match settled(asked).unwrap() {
                Some(Value::Category(label)) => labels[label],
                None => "no_majority",
                Some(other) => panic!("not a label: {other:?}"),
            };
            (asked, outcome)
        };
        let (without, with) = (stop(false), stop(true));
        let mut computed = Computed::default();
        computed.set("stop_if_no_abstentions", without.0);
        computed.set("outcome_if_no_abstentions", without.1);
        computed.set("stop_strict", with.0);
        computed.set("outcome", with.1);
        computed
    });
}

#[test]
fn oracles_selective() {
    check("selective", |input| {
        let cases: Vec<Judged> = present(&input["confidence"])
            .into_iter()
            .zip(present(&input["error"]))
            .map(|(confidence, error)| Judged { confidence, is_wrong: error > 0.5 })
            .collect();
        let guarantee =
            Guarantee::new(input["alpha"].as_f64().unwrap(), input["delta"].as_f64().unwrap()).unwrap();
        let selection = select(&cases, guarantee).unwrap();
        let steps = selection.steps.iter().map(
            |step| json!({"lambda": step.threshold, "n": step.kept, "errors": step.errors, "p": step.p}),
        );
        let mut computed = Computed::default();
        computed.set("steps", steps.collect::<Vec<Json>>());
        computed.set("n_min", selection.least_kept);
        computed.set("lambda", selection.threshold);
        computed.set("coverage", selection.coverage);
        computed.set("crc_lambda", selection.joint_threshold);
        computed
    });
}
