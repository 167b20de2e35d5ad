//! `/v1/verdicts`.

use serde_json::{Value, json};

use super::{case, served, served_with, snapshots};
use crate::support::gateway::Gateway;
use crate::support::judges::Judges;
use crate::support::panel::{NOWHERE, panel, with};

#[tokio::test]
async fn a_case_becomes_a_verdict() {
    let served = served().await;
    let answer = served.post("/v1/verdicts", &case()).await;
    assert_eq!(answer.status, 200, "{}", answer.text);
    snapshots().bind(|| {
        insta::assert_json_snapshot!("verdict", answer.json(), {
            ".id" => "[id]",
            ".panel_version" => "[version]",
            ".latency_ms" => "[ms]",
            ".overhead_ms" => "[ms]",
            ".record_ms" => "[ms]",
        });
    });
}

#[tokio::test]
async fn its_headers_tell_the_gist() {
    let served = served().await;
    let answer = served.post("/v1/verdicts", &case()).await;
    let id = answer.json()["id"].as_str().expect("an id").to_owned();
    assert_eq!(answer.header("x-tribunal-verdict-id"), Some(id.as_str()));
    assert_eq!(answer.header("x-tribunal-escalated"), Some("true"));
    assert_eq!(answer.header("x-tribunal-disagreement"), Some("0.7500"));
    assert_eq!(answer.header("x-tribunal-cost"), None, "the judges told no usage, so nobody knows");
}

#[tokio::test]
async fn what_was_paid_is_summed_over_judges() {
    let upstream = crate::support::upstream::Upstream::saying("4");
    let served = Gateway::connected(&panel(upstream.base_url())).await.serve().await;
    let answer = served.post("/v1/verdicts", &case()).await;
    // Three times 100 prompt tokens at 1 and 10 completion tokens at 2 dollars a million.
    assert_eq!(answer.header("x-tribunal-cost"), Some("0.000360"), "{}", answer.text);
    assert_eq!(answer.json()["cost_usd"], json!(0.000_36));
    let again = served.post("/v1/verdicts", &case()).await;
    assert_eq!(again.json()["cost_usd"], json!(0.0), "reused judgments are free");
}

#[tokio::test]
async fn a_verdict_is_found_again_by_its_id() {
    let served = served().await;
    let made = served.post("/v1/verdicts", &case()).await.json();
    let found = served.get(&format!("/v1/verdicts/{}", made["id"].as_str().expect("an id"))).await;
    assert_eq!(found.status, 200);
    let lasting = |verdict: &Value| {
        // The stored verdict cannot know how long its own writing took.
        with(verdict.clone(), json!({"latency_ms": null, "record_ms": null}))
    };
    assert_eq!(lasting(&found.json()), lasting(&made));
}

#[tokio::test]
async fn panels_are_chosen_by_name_or_alias() {
    let other = json!({
        "panels": {"other": {"judges": ["ann", "bob"], "rubric": "quality"}},
        "aliases": {"house": "panel/other"},
    });
    let served = served_with(&with(panel(NOWHERE), other)).await;
    for (name, expected) in
        [("other", "other"), ("panel/other", "other"), ("house", "other"), ("default", "default")]
    {
        let answer = served.post("/v1/verdicts", &with(case(), json!({"panel": name}))).await;
        assert_eq!(answer.json()["panel"], expected, "{}", answer.text);
    }
}

#[tokio::test]
async fn a_lost_quorum_is_a_verdict_and_no_error() {
    let kind = providers::ErrorKind::BreakerOpen;
    let judges = Judges::saying("4", "-", "-").failing("bob", kind.clone()).failing("cid", kind);
    let served = Gateway::scripted(&panel(NOWHERE), judges).await.serve().await;
    let answer = served.post("/v1/verdicts", &case()).await;
    assert_eq!(answer.status, 200);
    let verdict = answer.json();
    assert_eq!(verdict["criteria"]["quality"]["value"], Value::Null);
    assert_eq!(verdict["criteria"]["quality"]["undefined"], "no_quorum");
    assert_eq!(verdict["quorum"]["met"], false);
}

#[tokio::test]
async fn the_header_makes_a_case_confidential() {
    let file = with(panel(NOWHERE), json!({"servers": {"s-ann": {"perimeter": "outside"}}}));
    let served = served_with(&file).await;
    let request =
        served.request("POST", "/v1/verdicts").json(&case()).header("x-tribunal-sensitivity", "confidential");
    let answer = crate::support::gateway::Answer::of(request).await;
    assert_eq!(answer.status, 200);
    assert_eq!(served.gateway.asked().names(), ["bob", "cid"]);
    let odd = served.request("POST", "/v1/verdicts").json(&case()).header("x-tribunal-sensitivity", "secret");
    assert_eq!(crate::support::gateway::Answer::of(odd).await.status, 400);
}

#[tokio::test]
async fn the_cache_can_be_passed_by() {
    let served = served().await;
    for (cache, expected) in [(true, 3), (true, 3), (false, 6)] {
        served.post("/v1/verdicts", &with(case(), json!({"cache": cache}))).await;
        assert_eq!(served.gateway.asked().count(), expected);
    }
}

#[tokio::test]
async fn a_key_makes_a_request_count_once() {
    let served = served().await;
    let send = |key: &'static str, body: Value| {
        let request = served.request("POST", "/v1/verdicts").header("idempotency-key", key).json(&body);
        crate::support::gateway::Answer::of(request)
    };
    let fresh = with(case(), json!({"cache": false}));
    let first = send("k-1", fresh.clone()).await;
    let again = send("k-1", fresh.clone()).await;
    assert_eq!((first.status, again.status), (200, 200), "{}", again.text);
    assert_eq!(first.json()["id"], again.json()["id"]);
    assert_eq!(
        (first.header("idempotency-replayed"), again.header("idempotency-replayed")),
        (None, Some("true"))
    );
    assert_eq!(served.gateway.asked().count(), 3);

    let other = send("k-1", with(fresh.clone(), json!({"case": {"output": "Rome."}}))).await;
    assert_eq!((other.status, other.json()["type"].clone()), (422, json!("tribunal:idempotency-conflict")));
    let odd = send("a key", fresh).await;
    assert_eq!((odd.status, odd.json()["type"].clone()), (400, json!("tribunal:bad-idempotency-key")));
    assert_eq!(served.gateway.asked().count(), 3);
}

#[tokio::test]
async fn checks_stand_beside_criteria() {
    let checks = json!({"rubrics": {"quality": {"checks": [
        {"kind": "length", "name": "brief", "max": 3}, {"kind": "numeric", "value": 4},
    ]}}});
    let served = served_with(&with(panel(NOWHERE), checks)).await;
    let verdict = served.post("/v1/verdicts", &case()).await.json();
    assert_eq!(
        verdict["criteria"]["brief"],
        json!({
            "value": "fail", "score": 0.0, "passed": false, "preference": null, "method": "check",
            "disagreement": null, "votes": [], "abstentions": [],
            "detail": "6 characters, at most 3 are allowed",
        })
    );
    assert_eq!(verdict["criteria"]["numeric"]["detail"], "the answer has no number");
    assert_eq!(verdict["criteria"]["quality"]["value"], 4.0);
    let id = verdict["id"].as_str().expect("an id");
    let stored = served.get(&format!("/v1/verdicts/{id}")).await.json();
    assert_eq!(stored["criteria"], verdict["criteria"]);
    let panels = served.get("/v1/panels").await.json();
    assert_eq!(panels["panels"][0]["checks"], json!(["brief", "numeric"]));

    let pair = json!({"case": {"id": "p1", "a": "red", "b": "blue"}});
    let refused = served.post("/v1/verdicts", &pair).await;
    assert_eq!(refused.status, 422, "{}", refused.text);
    assert!(refused.text.contains("checks") && refused.text.contains("hint"), "{}", refused.text);
    assert_eq!(served.gateway.asked().count(), 3, "and nobody was asked about it");
}
