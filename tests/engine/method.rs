//! How votes become one value.

use serde_json::{Value, json};

use super::{case, quality, reasons};
use crate::support::gateway::Gateway;
use crate::support::judges::Judges;
use crate::support::panel::{NOWHERE, panel, with};

fn method(name: &str) -> Value {
    with(panel(NOWHERE), json!({"panels": {"default": {"method": name}}}))
}

async fn check(name: &str, votes: [&str; 3], expected: Value) {
    let gateway = Gateway::scripted(&method(name), Judges::saying(votes[0], votes[1], votes[2])).await;
    let verdict = gateway.judge(case()).await;
    assert_eq!(json!(quality(&verdict).value), expected, "{name} of {votes:?}");
}

#[tokio::test]
async fn the_panels_method_decides() {
    check("median", ["1", "2", "5"], json!(2.0)).await;
    check("mean", ["1", "3", "5"], json!(3.0)).await;
    check("majority", ["2", "5", "5"], json!(5.0)).await;
    check("majority", ["1", "2", "5"], Value::Null).await;
}

#[tokio::test]
async fn weights_without_calibration_give_the_plain_result_and_say_so() {
    for name in ["kappa_weighted", "log_odds"] {
        let gateway = Gateway::scripted(&method(name), Judges::saying("1", "2", "5")).await;
        let verdict = gateway.judge(case()).await;
        assert_eq!(quality(&verdict).value, Some(json!(2.0)), "{name}");
        assert_eq!(json!(quality(&verdict).method), json!("median"), "{name}");
        assert!(verdict.warnings.iter().any(|w| w.starts_with("weights_unusable")), "{:?}", verdict.warnings);
        assert!(reasons(&verdict).contains(&String::from("no_positive_weight")), "{:?}", reasons(&verdict));
    }
}

#[tokio::test]
async fn disagreement_and_nearness_escalate() {
    let gateway = Gateway::of(Judges::saying("1", "5", "5")).await;
    let verdict = gateway.judge(case()).await;
    assert_eq!(reasons(&verdict), ["disagreement"]);
    let gateway = Gateway::of(Judges::saying("3", "4", "4")).await;
    let verdict = gateway.judge(case()).await;
    assert_eq!(reasons(&verdict), ["near_threshold"]);
}

#[tokio::test]
async fn every_scale_has_its_own_values() {
    let rubric = |criterion: Value| json!({"rubrics": {"quality": {"criteria": [with(json!({"name": "quality"}), criterion)]}}});
    let cases = [
        (json!({"type": "pass_fail"}), ["pass", "pass", "fail"], json!("pass")),
        (json!({"type": "nominal", "scale": ["red", "green"]}), ["red", "green", "green"], json!("green")),
        (json!({"type": "continuous", "scale": [0, 1]}), ["0.2", "0.25", "0.9"], json!(0.25)),
        (json!({"type": "ordinal", "scale": [0, 1, 2]}), ["0", "0", "2"], json!(0.0)),
    ];
    for (criterion, votes, expected) in cases {
        let judges = Judges::saying(votes[0], votes[1], votes[2]);
        let gateway = Gateway::scripted(&with(panel(NOWHERE), rubric(criterion.clone())), judges).await;
        let verdict = gateway.judge(case()).await;
        assert_eq!(quality(&verdict).value, Some(expected), "{criterion}");
    }
}
