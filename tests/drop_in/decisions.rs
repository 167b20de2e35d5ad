//! Decisions from outside: many questions about one input, answered with the shares of the judges' votes.

use serde_json::{Value, json};

use super::served;
use crate::support::judges::Judges;

const DECISIONS: &str = "/v1/decisions";

fn asking(more: Value) -> Value {
    let body = json!({
        "model": "default",
        "input": "Question: What is the capital of France?\nAnswer: Paris.",
        "questions": [
            {"type": "predicate", "name": "right", "instructions": "The answer is right."},
            {"type": "choice", "name": "city", "instructions": "Which city is named?",
             "choices": [{"value": "Paris"}, {"value": "Lyon"}]},
        ],
    });
    crate::support::panel::with(body, more)
}

fn vote(right: bool, city: &str) -> String {
    json!({"right": right, "city": city}).to_string()
}

#[tokio::test]
async fn a_decision_is_asked_of_every_judge_and_kept_as_a_verdict() {
    let judges = Judges::saying(&vote(true, "Paris"), &vote(true, "Lyon"), &vote(false, "Paris"));
    let served = served(json!({}), judges).await;
    for path in [DECISIONS, "/decisions"] {
        let answer = served.post(path, &asking(json!({"safety_identifier": "someone"}))).await;
        assert_eq!(answer.status, 200, "{}", answer.text);
        let body = answer.json();
        let third = 1.0 / 3.0;
        assert_eq!(
            body["answers"][0],
            json!({"type": "predicate", "name": "right", "probability": 2.0 * third})
        );
        assert_eq!((&body["answers"][1]["choice"], &body["model"]), (&json!("Paris"), &json!("default")));
        assert_eq!(body["answers"][1]["probabilities"][1], json!({"value": "Lyon", "probability": third}));
        let id = answer.header("x-tribunal-verdict-id").unwrap();
        assert_eq!(body["tribunal"]["verdict_id"], id);
        let kept = served.get(&format!("/v1/verdicts/{id}")).await.json();
        assert_eq!(kept["criteria"]["city"]["votes"].as_array().map(Vec::len), Some(3));
    }
    let sent = served.gateway.asked().of("ann");
    assert_eq!(sent.len(), 2);
}

#[tokio::test]
async fn what_is_no_decision_of_a_panel_is_refused_by_name() {
    let served = served(json!({}), Judges::saying("I will not.", "Nothing to see.", "No.")).await;
    let alone = served.post(DECISIONS, &asking(json!({"model": "judge/ann"}))).await;
    assert_eq!((alone.status, &alone.json()["error"]["param"]), (400, &json!("model")));
    assert!(alone.text.contains("name a panel"), "{}", alone.text);
    let bad = served
        .post(DECISIONS, &asking(json!({"questions": [{"type": "choice", "instructions": "x"}]})))
        .await;
    assert_eq!((bad.status, &bad.json()["error"]["param"]), (400, &json!("questions")));
    assert_eq!(served.gateway.asked().of("ann").len(), 0);
    let unread = served.post(DECISIONS, &asking(json!({}))).await;
    assert_eq!(unread.status, 503, "{}", unread.text);
    assert!(unread.header("retry-after").is_some());
}

#[tokio::test]
async fn a_confidential_decision_stays_inside() {
    let outside = json!({"servers": {"s-ann": {"perimeter": "outside"}}});
    let judges = Judges::saying(&vote(false, "Lyon"), &vote(true, "Paris"), &vote(true, "Paris"));
    let served = served(outside, judges).await;
    let asked = asking(json!({"metadata": {"sensitivity": "confidential"}}));
    let answer = served.post(DECISIONS, &asked).await.json();
    assert_eq!(answer["answers"][0]["probability"], 1.0);
    assert_eq!(served.gateway.asked().of("ann").len(), 0);
}
