//! Checks that code decides, beside and before judges.

use aggregation::vote::Exclusion;
use serde_json::{Value, json};

use super::{abstention, case, quality, reasons};
use crate::support::gateway::Gateway;
use crate::support::judges::Judges;
use crate::support::panel::{NOWHERE, panel, with, with_replacement};

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

#[tokio::test]
async fn a_passed_check_lets_judges_be_asked() {
    let checks =
        json!([{"kind": "length", "max": 100, "required": true}, {"kind": "contains", "text": "Paris"}]);
    let gateway =
        Gateway::scripted(&checked(&json!({"checks": checks})), Judges::saying("4", "4", "4")).await;
    let verdict = gateway.judge(case()).await;
    assert_eq!(gateway.asked().count(), 3);
    assert_eq!(quality(&verdict).value, Some(json!(4.0)));
    let passed: Vec<_> = verdict.checks().map(|(name, check)| (name, check.passed)).collect();
    assert_eq!(passed, [("contains", Some(true)), ("length", Some(true))]);
    assert_eq!(verdict.judged().count(), 1);
    assert!(verdict.checks().all(|(_, check)| check.detail.is_none()), "there is nothing to say");
}

#[tokio::test]
async fn an_answer_that_is_no_json_fails_a_schema() {
    let checks = json!([{"kind": "json_schema", "required": true, "schema": {"type": "object"}}]);
    let gateway =
        Gateway::scripted(&checked(&json!({"checks": checks})), Judges::saying("4", "4", "4")).await;
    let verdict = gateway.judge(case()).await;
    assert_eq!(gateway.asked().count(), 0);
    let check = &verdict.criteria["json_schema"];
    assert_eq!(check.passed, Some(false));
    assert_eq!(check.detail.as_deref(), Some("the answer is not JSON at line 1 column 1"));
}

#[tokio::test]
async fn checks_leave_the_perimeter_as_it_is() {
    let outside = json!({"servers": {"s-ann": {"perimeter": "outside"}}});
    let confidential = || with(case(), json!({"sensitivity": "confidential"}));
    let passing = json!({"checks": [{"kind": "length", "max": 100, "required": true}]});
    let file = with(checked(&passing), outside.clone());
    let gateway = Gateway::scripted(&file, Judges::saying("1", "4", "4")).await;
    let verdict = gateway.judge(confidential()).await;
    assert_eq!(gateway.asked().names(), ["bob", "cid"]);
    assert_eq!(abstention(&verdict, "ann").reason, Some(Exclusion::Perimeter));

    let file = with(checked(&json!({"checks": too_short(true)})), outside);
    let gateway = Gateway::scripted(&file, Judges::saying("1", "4", "4")).await;
    let verdict = gateway.judge(confidential()).await;
    assert_eq!(gateway.asked().count(), 0);
    assert_eq!(abstention(&verdict, "ann").reason, Some(Exclusion::Perimeter));
    assert_eq!(abstention(&verdict, "bob").reason, Some(Exclusion::FailedCheck));
}

#[tokio::test]
async fn a_failed_check_is_the_reason_even_where_no_judge_may_be_asked() {
    let outside = json!({"perimeter": "outside"});
    let change = json!({"servers": {"s-ann": outside, "s-bob": outside, "s-cid": outside}});
    for rule in ["exclude", "fail"] {
        let rubric = json!({"checks": too_short(true), "failed_check": rule});
        let file = with(checked(&rubric), change.clone());
        let gateway = Gateway::scripted(&file, Judges::saying("4", "4", "4")).await;
        let verdict = gateway.judge(with(case(), json!({"sensitivity": "confidential"}))).await;
        assert_eq!(json!(quality(&verdict))["undefined"], "failed_check", "{rule}");
        assert!(!verdict.escalated, "{rule}: {:?}", verdict.escalation_reasons);
    }
}

#[tokio::test]
async fn nobody_replaces_judges_that_a_failed_check_spared() {
    let file = with_replacement(checked(&json!({"checks": too_short(true)})));
    let gateway = Gateway::scripted(&file, Judges::saying("4", "4", "4").with("dan", "4")).await;
    gateway.judge(case()).await;
    assert_eq!(gateway.asked().count(), 0);
}

#[tokio::test]
async fn votes_by_rule_are_not_reused_without_the_check() {
    let failing = checked(&json!({"checks": too_short(true), "failed_check": "fail"}));
    let gateway = Gateway::scripted(&failing, Judges::saying("4", "4", "4")).await;
    gateway.judge(case()).await;
    let folder = gateway.shut_down().await;
    folder.write("panel.yaml", &panel(NOWHERE).to_string());
    let gateway = Gateway::in_folder(folder, Judges::saying("4", "4", "4")).await;
    let verdict = gateway.judge(case()).await;
    assert_eq!((gateway.asked().count(), quality(&verdict).value.clone()), (3, Some(json!(4.0))));
}

#[tokio::test]
async fn reasons_stay_in_order_beside_a_random_review() {
    let rubric = json!({"checks": [{"kind": "exact"}]});
    let drawn = json!({"panels": {"default": {"escalate": {"random_review_share": 1.0}}}});
    let gateway = Gateway::scripted(&with(checked(&rubric), drawn), Judges::saying("4", "4", "4")).await;
    let verdict = gateway.judge(case()).await;
    assert_eq!(reasons(&verdict), ["random_review", "undecidable_check"]);
    assert!(verdict.is_decided(), "the judges' criterion has a value");
}

#[tokio::test]
async fn the_same_case_has_the_same_findings_again() {
    let checks =
        json!([{"kind": "length", "max": 3}, {"kind": "numeric"}, {"kind": "exact", "text": "Paris."}]);
    let gateway =
        Gateway::scripted(&checked(&json!({"checks": checks})), Judges::saying("4", "4", "4")).await;
    let (first, again) = (gateway.judge(case()).await, gateway.judge(case()).await);
    assert_eq!(first.checks().collect::<Vec<_>>(), again.checks().collect::<Vec<_>>());
    assert_eq!(gateway.asked().count(), 3, "and judgments of checked cases are reused");
}
