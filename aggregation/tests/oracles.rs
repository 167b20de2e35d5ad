//! Every formula against vectors that were computed elsewhere.
//!
//! `TRIBUNAL_ORACLES` names another folder with files of the same form; files that are missing there are left out.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "test: a fault here fails it"
)]

use std::collections::BTreeMap;
use std::path::PathBuf;

use aggregation::agreement::{Band, Confusion, Distance, cohen_kappa, landis_koch};
use aggregation::disagreement as apart;
use aggregation::expected_score::{MassStatus, ScorePosition, Spellings, label_distribution};
use aggregation::numeric::{quantile, wilson};
use aggregation::panel_vote::{Method, Weights, median, tally, weighted_mean, weighted_median};
use aggregation::scale::OrdinalLabels;
use aggregation::verdict::{EscalationPolicy, EscalationReason, Undecided};
use aggregation::vote::{Distribution, Scoring};
use aggregation::weights::Scheme;
use aggregation::{
    Abstention, ExpectedOrders, JudgeId, Order, Outcome, Pass, Policy, Preference, Rating, Scale,
    UndefinedReason, Value, Vote, decide, fold_orders,
};
use serde::Deserialize;
use serde_json::{Value as Json, json};

#[derive(Deserialize)]
struct OracleFile {
    tolerance: Tolerance,
    cases: Vec<Case>,
}

#[derive(Deserialize, Clone, Copy)]
struct Tolerance {
    abs: f64,
    rel: f64,
}

#[derive(Deserialize)]
struct Case {
    id: String,
    input: Json,
    expected: BTreeMap<String, Json>,
    undefined: Option<String>,
    tolerance: Option<Tolerance>,
}

/// What we computed: values by the oracle's keys, and the reason if something is undefined.
#[derive(Default)]
struct Computed {
    values: BTreeMap<&'static str, Json>,
    undefined: Option<Json>,
}

impl Computed {
    fn set(&mut self, key: &'static str, value: impl Into<Json>) {
        self.values.insert(key, value.into());
    }

    /// A statistic that may be undefined: its value, or `null` and the reason.
    fn set_result(&mut self, key: &'static str, value: Result<f64, UndefinedReason>) {
        match value {
            Ok(value) => self.set(key, value),
            Err(reason) => {
                self.set(key, Json::Null);
                self.undefined = Some(serde_json::to_value(reason).unwrap());
            }
        }
    }
}

#[expect(clippy::disallowed_methods, reason = "the folder of a test, not a setting of the product")]
fn folder() -> (PathBuf, bool) {
    match std::env::var_os("TRIBUNAL_ORACLES") {
        Some(folder) => (PathBuf::from(folder), true),
        None => (PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/oracles"), false),
    }
}

fn check(name: &str, compute: impl Fn(&Json) -> Computed) {
    check_adjusted(name, compute, |_, _| ());
}

/// `adjust` may rewrite what is expected, by a rule that looks at no id.
fn check_adjusted(
    name: &str,
    compute: impl Fn(&Json) -> Computed,
    adjust: impl Fn(&Computed, &mut BTreeMap<String, Json>),
) {
    let (folder, elsewhere) = folder();
    let path = folder.join(format!("{name}.json"));
    if elsewhere && !path.exists() {
        return;
    }
    let file: OracleFile = serde_json::from_str(&std::fs::read_to_string(&path).unwrap()).unwrap();
    assert!(!file.cases.is_empty(), "{name}: no cases");
    let mut faults = Vec::new();
    for mut case in file.cases {
        let computed = compute(&case.input);
        adjust(&computed, &mut case.expected);
        let tolerance = case.tolerance.unwrap_or(file.tolerance);
        for (key, want) in &case.expected {
            match computed.values.get(key.as_str()) {
                Some(got) if agrees(got, want, tolerance) => {}
                got => faults.push(format!("{}: {key}: got {got:?}, want {want}", case.id)),
            }
        }
        let want = case.undefined.map(Json::String);
        if want.is_some() && computed.undefined != want {
            faults.push(format!("{}: undefined: got {:?}, want {want:?}", case.id, computed.undefined));
        }
    }
    assert!(faults.is_empty(), "{name}: {} faults\n{}", faults.len(), faults.join("\n"));
}

fn agrees(got: &Json, want: &Json, tolerance: Tolerance) -> bool {
    match (got, want) {
        (Json::Number(got), Json::Number(want)) => {
            let (got, want) = (got.as_f64().unwrap(), want.as_f64().unwrap());
            (got - want).abs() <= tolerance.abs + tolerance.rel * want.abs()
        }
        (Json::Array(got), Json::Array(want)) => {
            got.len() == want.len() && got.iter().zip(want).all(|(g, w)| agrees(g, w, tolerance))
        }
        (Json::Object(got), Json::Object(want)) => {
            got.len() == want.len()
                && want.iter().all(|(key, w)| got.get(key).is_some_and(|g| agrees(g, w, tolerance)))
        }
        (got, want) => got == want,
    }
}

fn numbers(list: &Json) -> Vec<Option<f64>> {
    list.as_array().unwrap().iter().map(Json::as_f64).collect()
}

fn present(list: &Json) -> Vec<f64> {
    numbers(list).into_iter().flatten().collect()
}

#[test]
fn oracles_geval() {
    check("geval", |input| {
        let listed: Vec<(&str, f64)> = input["top_logprobs"]
            .as_array()
            .unwrap()
            .iter()
            .map(|t| (t["token"].as_str().unwrap(), t["logprob"].as_f64().unwrap_or(f64::NEG_INFINITY)))
            .collect();
        let labels = OrdinalLabels::try_from(present(&input["labels"])).unwrap();
        let position = ScorePosition { top: &listed, next: None };
        let distribution = label_distribution(&position, &Spellings::ordinal(&labels));
        let mut computed = Computed::default();
        computed.set("mass", distribution.mass);
        match distribution.expected(labels.values()) {
            Ok(expected) => {
                computed.set("score", expected.score);
                computed.set("score01", expected.score01);
                computed.set("probs", expected.probabilities);
                computed.set("entropy", expected.entropy);
                computed.set("variance", expected.variance);
                computed.set("argmax", labels.values()[expected.most_probable]);
                computed.set("bounds", json!([expected.bounds.0, expected.bounds.1]));
                computed.set(
                    "status",
                    match expected.status {
                        MassStatus::Ok => "ok",
                        MassStatus::LowMass => "low_mass",
                        MassStatus::Fallback => "fallback",
                    },
                );
            }
            Err(reason) => {
                computed.set_result("score", Err(reason));
                computed.set("status", "undefined");
            }
        }
        computed
    });
}

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

fn rating(value: Value) -> Rating {
    Rating { value, scoring: Scoring::Discrete, distribution: None, fallback: false }
}

#[test]
fn oracles_order_reversal() {
    check("order_reversal", |input| {
        let mut computed = Computed::default();
        let written = fold_two(input, ["verdict", "consistent", "pref_A"], [None, None], &mut computed);
        if written.outcome.is_err() {
            computed.undefined = Some(json!("missing_pass"));
        }
        let listed = |key: &str| match present_or_null(&input[key])[..] {
            [first, second, tie] => Some((first, second, tie)),
            _ => None,
        };
        let probabilities = [listed("probs_ab"), listed("probs_ba")];
        if probabilities.iter().all(Option::is_some) {
            let keys = ["verdict_prob", "consistent_prob", "pref_A_prob"];
            fold_two(input, keys, probabilities, &mut computed);
        }
        computed
    });
}

fn present_or_null(list: &Json) -> Vec<f64> {
    if list.is_null() { Vec::new() } else { present(list) }
}

fn fold_two(
    input: &Json,
    [verdict, consistent, pref_a]: [&'static str; 3],
    probabilities: [Option<(f64, f64, f64)>; 2],
    computed: &mut Computed,
) -> Vote {
    let keys = [("pass_ab", Order::AsGiven), ("pass_ba", Order::Reversed)];
    let passes: Vec<Pass> = keys
        .iter()
        .zip(probabilities)
        .map(|(&(key, order), two_way)| {
            let shown = match input[key].as_str() {
                Some("first") => Ok(Preference::A),
                Some("second") => Ok(Preference::B),
                Some("tie") => Ok(Preference::Tie),
                Some(other) => panic!("unknown pass {other}"),
                None => Err(Abstention::TimedOut),
            };
            let own = shown.map(|shown| if order == Order::Reversed { shown.swapped() } else { shown });
            let outcome = own.map(|own| Rating {
                distribution: two_way.map(|two_way| Distribution {
                    label_mass: 1.0,
                    bounds01: (0.0, 1.0),
                    two_way: Some(two_way),
                }),
                ..rating(Value::Preference(own))
            });
            Pass { judge: JudgeId::new("judge"), order, sample: 0, outcome }
        })
        .collect();
    let votes = fold_orders(&passes, ExpectedOrders::Both, &Scale::Pairwise { tie: true });
    let [vote] = &votes[..] else { panic!("one judge, one vote: {votes:?}") };
    let name = vote.outcome.ok().map(|rating| match rating.value {
        Value::Preference(Preference::A) => "A",
        Value::Preference(Preference::B) => "B",
        Value::Preference(Preference::Tie) => "tie",
        other => panic!("not a preference: {other:?}"),
    });
    computed.set(verdict, name);
    computed.set(consistent, vote.pair.and_then(|pair| pair.consistent));
    computed.set(pref_a, vote.pair.map(|pair| pair.pref_a));
    vote.clone()
}

#[test]
fn oracles_disagreement() {
    check("disagreement", |input| {
        let values = present(&input["values"]);
        let (min, max) = (input["min"].as_f64().unwrap(), input["max"].as_f64().unwrap());
        let scores: Vec<f64> = values.iter().map(|x| (x - min) / (max - min)).collect();
        let mut computed = Computed::default();
        computed.set("m", values.len());
        computed.set_result("D2", apart::mean_squared_distance(&scores));
        computed.set_result("range01", apart::score_range(&scores));
        computed.set_result("sd01", apart::score_deviation(&scores));
        computed.set_result("one_minus_margin", apart::one_minus_margin(values.iter().copied()));
        if let Some(counts) = whole_label_counts(&values, min, max) {
            computed.set_result("D_nominal", apart::nominal_distance(&counts, counts.len()));
            computed.set_result("entropy", apart::entropy(&counts, counts.len()));
            computed.set("vde", apart::van_der_eijk(&counts).ok());
        }
        let scale = Scale::Continuous((min, max).try_into().unwrap());
        computed.set_result("D", apart::disagreement(&scale, values.iter().map(|&x| Value::Number(x))));
        computed
    });
}

/// Votes per whole-number label; `None` if some vote lies between labels.
fn whole_label_counts(values: &[f64], min: f64, max: f64) -> Option<Vec<usize>> {
    let mut counts = Vec::new();
    let mut label = min;
    while label <= max {
        counts.push(values.iter().filter(|x| (*x - label).abs() < 1e-12).count());
        label += 1.0;
    }
    (counts.iter().sum::<usize>() == values.len()).then_some(counts)
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

#[test]
fn oracles_landis_koch() {
    check("landis_koch", |input| {
        let band = landis_koch(input["kappa"].as_f64().unwrap());
        let mut computed = Computed::default();
        computed.set("canonical", serde_json::to_value(band).unwrap());
        computed.set("seed0", band.map(Band::spanish_in_five));
        computed.set("seed3", band.map(Band::spanish));
        computed
    });
}

#[test]
fn oracles_wilson() {
    check("wilson", |input| {
        let (k, n) = (input["k"].as_u64().unwrap(), input["n"].as_u64().unwrap());
        let estimated = wilson(k, n, input["confidence"].as_f64().unwrap());
        let mut computed = Computed::default();
        let interval = estimated.ok().and_then(|estimate| estimate.interval);
        computed.set("lo", interval.map(|interval| interval.lo));
        computed.set("hi", interval.map(|interval| interval.hi));
        computed.set_result("estimate", estimated.map(|e| e.value).map_err(|undefined| undefined.reason));
        computed
    });
}

#[test]
fn oracles_cohen_kappa() {
    check_adjusted(
        "cohen_kappa",
        |input| {
            let raters = [labels_of(input, "a", "a_digits"), labels_of(input, "b", "b_digits")];
            let declared = declared_labels(&input["labels"], &raters);
            let index = |label: &Json| {
                let same = |known: &Json| {
                    known == label || (known.as_f64().is_some() && known.as_f64() == label.as_f64())
                };
                (!label.is_null()).then(|| declared.iter().position(same).unwrap())
            };
            let pairs = raters[0].iter().zip(&raters[1]).map(|(a, b)| (index(a), index(b)));
            let table = match &input["sample_weight"] {
                Json::Null => Confusion::from_pairs(declared.len(), pairs),
                weights => Confusion::from_weighted_pairs(declared.len(), pairs.zip(present(weights))),
            }
            .unwrap();
            let distance = match input["weights"].as_str() {
                None => Distance::Nominal,
                Some("linear") => Distance::Linear,
                Some("quadratic") => Distance::Quadratic,
                Some(other) => panic!("unknown weights {other}"),
            };
            let positions = present_or_null(&input["scores"]);
            kappa_columns(&table, distance, (!positions.is_empty()).then_some(&positions))
        },
        drop_rounding_noise,
    );
}

fn labels_of(input: &Json, list: &str, digits: &str) -> Vec<Json> {
    match &input[digits] {
        Json::String(digits) => digits.chars().map(|c| json!(c.to_digit(10).unwrap())).collect(),
        _ => input[list].as_array().unwrap().clone(),
    }
}

fn declared_labels(declared: &Json, raters: &[Vec<Json>; 2]) -> Vec<Json> {
    if let Json::Array(labels) = declared {
        return labels.clone();
    }
    let mut seen: Vec<Json> = raters.iter().flatten().filter(|label| !label.is_null()).cloned().collect();
    seen.sort_by(|a, b| match (a.as_f64(), b.as_f64()) {
        (Some(a), Some(b)) => a.total_cmp(&b),
        _ => a.as_str().cmp(&b.as_str()),
    });
    seen.dedup();
    seen
}

fn kappa_columns(table: &Confusion, distance: Distance, positions: Option<&Vec<f64>>) -> Computed {
    let cohen = cohen_kappa(table, distance, positions.map(Vec::as_slice));
    let mut computed = Computed::default();
    computed.set("n", cohen.n);
    computed.set("n_dropped", cohen.n_dropped);
    computed.set("confusion", table.rows().map(<[f64]>::to_vec).collect::<Vec<_>>());
    computed.set("p_o", cohen.p_o);
    computed.set("p_e", cohen.p_e);
    let kappa = cohen.kappa.ok();
    computed.set("kappa_max", kappa.and_then(|kappa| kappa.max));
    computed.set("band_canonical", serde_json::to_value(kappa.and_then(|k| landis_koch(k.value))).unwrap());
    let error = kappa.and_then(|kappa| kappa.error);
    computed.set("se", error.map(|error| error.se));
    computed.set("se_null", error.map(|error| error.se_null));
    computed.set("ci95", error.map(|error| vec![error.interval.lo, error.interval.hi]));
    computed.set("ci_degenerate", error.map(|error| error.degenerate));
    if let Some(indexes) = table.binary_indexes() {
        computed.set("prevalence_index", indexes.prevalence);
        computed.set("bias_index", indexes.bias);
        computed.set("pabak", indexes.pabak);
    }
    computed.set_result("kappa", cohen.kappa.map(|kappa| kappa.value));
    computed
}

/// A standard error whose variance is within rounding of 0 is 0, and its interval degenerate: such an expected value
/// is the noise of subtracting two equal numbers, which no other arithmetic repeats.
fn drop_rounding_noise(computed: &Computed, expected: &mut BTreeMap<String, Json>) {
    let get = |key: &str| expected.get(key).and_then(Json::as_f64);
    let (Some(n), Some(p_e), Some(kappa)) = (get("n"), get("p_e"), get("kappa")) else { return };
    let is_noise = |se: f64, square: f64| {
        se > 0.0 && se * se * n * (1.0 - p_e) * (1.0 - p_e) <= 8.0 * f64::EPSILON * square.max(1.0)
    };
    let se_is_noise = get("se").is_some_and(|se| is_noise(se, (kappa - p_e * (1.0 - kappa)).powi(2)));
    let se_null_is_noise = get("se_null").is_some_and(|se| is_noise(se, p_e * p_e));
    if se_is_noise {
        assert_eq!(computed.values["ci_degenerate"], json!(true));
        expected.insert("se".into(), json!(0.0));
        expected.insert("ci95".into(), json!([kappa, kappa]));
        expected.insert("ci_degenerate".into(), json!(true));
    }
    if se_null_is_noise {
        expected.insert("se_null".into(), json!(0.0));
    }
}
