//! Checks that code decides, beside and before judges.

use serde_json::{Value, json};

use super::{case, quality, reasons};
use crate::support::gateway::Gateway;
use crate::support::judges::Judges;
use crate::support::panel::{NOWHERE, panel, with};

fn checked(rubric: &Value) -> Value {
    with(panel(NOWHERE), json!({"rubrics": {"quality": rubric}}))
}

/// An answer of one character is too short.
fn too_short(required: bool) -> Value {
    json!([{"kind": "length", "name": "long", "min": 100_000, "required": required}])
}

#[tokio::test]
async fn a_failed_required_check_asks_nobody() {
    let file = checked(&json!({"checks": too_short(true)}));
    let gateway = Gateway::scripted(&file, Judges::saying("4", "4", "4")).await;
    let verdict = gateway.judge(case()).await;
    assert_eq!(gateway.asked().count(), 0);
    let long = json!(verdict.criteria["long"]);
    assert_eq!(
        (&long["value"], &long["score"], &long["method"]),
        (&json!("fail"), &json!(0.0), &json!("check"))
    );
    assert_eq!(
        (&long["passed"], &long["disagreement"], &long["votes"]),
        (&json!(false), &json!(null), &json!([]))
    );
    let quality = json!(quality(&verdict));
    assert_eq!((&quality["value"], &quality["undefined"]), (&json!(null), &json!("failed_check")));
    assert_eq!(quality["abstentions"][0]["reason"], "failed_check");
    assert_eq!((verdict.escalated, verdict.cost_usd, verdict.calls.asked), (false, Some(0.0), 0));
}

#[tokio::test]
async fn criteria_fail_where_the_rubric_says_so() {
    let file = checked(&json!({"checks": too_short(true), "failed_check": "fail"}));
    let gateway = Gateway::scripted(&file, Judges::saying("4", "4", "4")).await;
    let verdict = gateway.judge(case()).await;
    assert_eq!(gateway.asked().count(), 0);
    assert_eq!((&quality(&verdict).value, quality(&verdict).passed), (&Some(json!(1.0)), Some(false)));
}

#[tokio::test]
async fn other_failed_checks_leave_the_judges_alone() {
    let file = checked(&json!({"checks": too_short(false)}));
    let gateway = Gateway::scripted(&file, Judges::saying("4", "4", "4")).await;
    let verdict = gateway.judge(case()).await;
    assert_eq!(gateway.asked().count(), 3);
    assert_eq!(quality(&verdict).value, Some(json!(4.0)));
    assert_eq!(verdict.criteria["long"].passed, Some(false));
    assert!(!verdict.escalated);
}

#[tokio::test]
async fn a_check_without_its_reference_escalates() {
    let file = checked(&json!({"checks": [{"kind": "exact", "required": true}]}));
    let gateway = Gateway::scripted(&file, Judges::saying("4", "4", "4")).await;
    let verdict = gateway.judge(case()).await;
    let exact = json!(verdict.criteria["exact"]);
    assert_eq!((&exact["value"], &exact["undefined"]), (&json!(null), &json!("undecidable")));
    assert_eq!(reasons(&verdict), ["undecidable_check"]);
    assert_eq!(gateway.asked().count(), 3);
}
