//! Label probabilities.

use aggregation::expected_score::{MassStatus, ScorePosition, Spellings, label_distribution};
use aggregation::scale::OrdinalLabels;
use serde_json::json;

use crate::harness::{Computed, check, present};

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
