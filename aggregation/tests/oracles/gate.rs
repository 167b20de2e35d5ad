//! Scores against a limit.

use std::collections::BTreeMap;

use aggregation::gate::{GateCase, GateMeasure, GateRule, GateScore, ThresholdGate, threshold_gate};
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
