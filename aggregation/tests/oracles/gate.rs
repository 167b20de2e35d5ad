//! Scores against a limit.

use std::collections::BTreeMap;

use aggregation::UndefinedReason;
use aggregation::gate::{
    BaselineGate, BaselineIdentity, Claim, Compared, GateCase, GateMeasure, GateRule, GateScore, Lambda,
    PpiCases, PpiError, SkewGuard, ThresholdGate, prediction_powered, threshold_gate, win_rate_gate,
};
use aggregation::numeric::normal_quantile;
use serde_json::Value as Json;

use crate::harness::{Computed, check, present};

#[test]
fn oracles_gate_mean() {
    check("gate_mean", |input| {
        let mut places: BTreeMap<String, u64> = BTreeMap::new();
        let mut source = |i: usize| {
            let name = input["clusters"].as_array()?.get(i)?.to_string();
            let next = u64::try_from(places.len()).unwrap();
            Some(*places.entry(name).or_insert(next))
        };
        let case = |(i, score)| GateCase { score: GateScore::Known(score), source: source(i), covered: true };
        let cases: Vec<GateCase> = present(&input["scores"]).into_iter().enumerate().map(case).collect();
        let gate = ThresholdGate {
            confidence: input["confidence"].as_f64().unwrap(),
            min_n: 0,
            skew: SkewGuard::None,
            ..ThresholdGate::new(input["threshold"].as_f64().unwrap(), GateMeasure::Mean)
        };
        let own = threshold_gate(&gate, &cases).unwrap();
        let point = threshold_gate(&ThresholdGate { rule: GateRule::Point, ..gate }, &cases).unwrap();
        let mut computed = Computed::default();
        computed.set("n", own.n);
        computed.set("df", own.clusters.saturating_sub(1));
        computed.set_result("mean", own.estimate);
        computed.set_result("se", own.bounds.map(|own| own.error));
        computed.set_result("lcb", own.bounds.map(|own| own.lower));
        computed.set_result("ucb", own.bounds.map(|own| own.upper));
        let text = |decision| -> Json { serde_json::to_value(decision).unwrap() };
        computed.set("decision_three_state", text(own.decision));
        computed.set("decision_point", text(point.decision));
        computed
    });
}

#[test]
fn oracles_anchor() {
    check("anchor", |input| {
        let count = |key: &str| usize::try_from(input[key].as_u64().unwrap()).unwrap();
        let outcomes = [("wins", 1.0), ("ties", 0.5), ("losses", 0.0)];
        let case = |preference| GateCase { score: GateScore::Known(preference), source: None, covered: true };
        let cases = outcomes.iter().flat_map(|(key, value)| vec![case(*value); count(key)]).collect();
        let baseline = BaselineIdentity::new("anchor", "0").unwrap();
        let gate = BaselineGate {
            claim: Claim::NonInferior { margin: input["margin"].as_f64().unwrap() },
            min_n: 0,
            skew: SkewGuard::None,
            ..BaselineGate::new(baseline.clone())
        };
        let compared = Compared { baseline, cases };
        let own = win_rate_gate(&gate, &compared).unwrap();
        let superior =
            win_rate_gate(&BaselineGate { claim: Claim::Superior, ..gate }, &compared).unwrap().gate.decision;
        let mut computed = Computed::default();
        computed.set("n", own.gate.n);
        computed.set_result("win_rate", own.gate.estimate);
        computed.set_result("se", own.gate.bounds.map(|own| own.error));
        computed.set_result("lcb", own.gate.bounds.map(|own| own.lower));
        computed.set_result("ucb", own.gate.bounds.map(|own| own.upper));
        computed.set("p_sign", own.p_sign);
        computed.set("decision", serde_json::to_value(own.gate.decision).unwrap());
        computed.set("superior", superior == aggregation::Decision::Pass);
        computed.set("mde", own.detectable);
        // The file has one reason where we tell no case from no variance.
        if own.gate.n < 2 {
            computed.undefined = Some(serde_json::to_value(UndefinedReason::TooFew).unwrap());
        }
        computed
    });
}

#[test]
fn oracles_ppi() {
    check("ppi", |input| {
        let list = |key: &str| present(&input[key]);
        let (human, judge, unlabelled) = (list("y"), list("yhat"), list("yhat_unl"));
        let cases = PpiCases { human: &human, judge: &judge, unlabelled: &unlabelled, weights: None };
        let lambda = input["lam"].as_f64().map_or(Lambda::Tuned, Lambda::Fixed);
        let own = prediction_powered(&cases, lambda).map_err(|error| match error {
            PpiError::Undefined(reason) => reason,
            other => panic!("{other}"),
        });
        let z = normal_quantile(f64::midpoint(1.0, input["confidence"].as_f64().unwrap()));
        let mut computed = Computed::default();
        computed.set_result("estimate", own.map(|own| own.corrected.estimate));
        computed.set_result("lo", own.map(|own| own.corrected.estimate - z * own.corrected.error));
        computed.set_result("hi", own.map(|own| own.corrected.estimate + z * own.corrected.error));
        computed.set_result("lambda", own.map(|own| own.lambda));
        computed.set_result("judge_only_mean", own.map(|own| own.judge_only));
        if let Ok(own) = own {
            let half = z * own.human_only.error;
            computed.set("classical", vec![own.human_only.estimate - half, own.human_only.estimate + half]);
        }
        computed
    });
}
