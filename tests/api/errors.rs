//! Every error of the native routes is a problem document that names the next step.

use axum::response::IntoResponse;
use gateway::api::ApiError;
use gateway::engine::{BadKey, EngineError};
use serde_json::{Value, json};

use super::{case, served, served_with};
use crate::support::gateway::{Answer, Served};
use crate::support::panel::{NOWHERE, panel, with};

/// Status, kind, and that it is a problem document with the request's id.
#[track_caller]
fn check(answer: &Answer, status: u16, kind: &str) -> Value {
    assert_eq!(answer.status, status, "{}", answer.text);
    assert_eq!(answer.header("content-type"), Some("application/problem+json"));
    let problem = answer.json();
    assert_eq!(problem["type"], format!("tribunal:{kind}"));
    assert_eq!(problem["status"], status);
    assert!(problem["title"].as_str().is_some_and(|title| !title.is_empty()));
    assert_eq!(problem["request_id"].as_str(), answer.header("x-request-id"), "{problem}");
    problem
}

async fn post_text(served: &Served, content_type: &str, body: &str) -> Answer {
    let request =
        served.request("POST", "/v1/verdicts").header("content-type", content_type).body(body.to_owned());
    Answer::of(request).await
}

#[tokio::test]
async fn a_body_that_is_no_such_json() {
    let served = served().await;
    for body in ["", "{", "[]", "{\"case\":{\"output\":\"x\"},\"pannel\":\"x\"}", "{\"panel\":\"default\"}"] {
        let problem = check(&post_text(&served, "application/json", body).await, 400, "bad-json");
        assert!(problem["detail"].is_string(), "{body}: {problem}");
    }
    assert_eq!(served.gateway.asked().count(), 0);
}

#[tokio::test]
async fn a_body_of_another_type() {
    let served = served().await;
    for kind in ["text/plain", "application/x-www-form-urlencoded", "application/jsonx"] {
        check(&post_text(&served, kind, &case().to_string()).await, 415, "not-json");
    }
    let fine = post_text(&served, "application/json; charset=utf-8", &case().to_string()).await;
    assert_eq!(fine.status, 200, "{}", fine.text);
}

#[tokio::test]
async fn a_body_that_is_too_large() {
    let served = served_with(&with(panel(NOWHERE), json!({"server": {"body_limit": "2KiB"}}))).await;
    let large = json!({"case": {"output": "x".repeat(4096)}});
    let problem = check(&served.post("/v1/verdicts", &large).await, 413, "too-large");
    assert!(problem["detail"].as_str().is_some_and(|detail| detail.contains("2048")), "{problem}");
}

#[tokio::test]
async fn an_unknown_panel() {
    let answer = served().await.post("/v1/verdicts", &with(case(), json!({"panel": "nope"}))).await;
    let problem = check(&answer, 404, "unknown-panel");
    let detail = problem["detail"].as_str().expect("a detail");
    assert!(detail.contains("`nope`") && detail.contains("default"), "{detail}");
}

#[tokio::test]
async fn a_case_with_several_problems_names_them_all() {
    let served = served().await;
    let bad = json!({"case": {"id": "q1", "outptu": "x", "metadata": 7, "sensitivity": "secret"}});
    let problem = check(&served.post("/v1/verdicts", &bad).await, 422, "invalid-case");
    let fields: Vec<&str> = problem["errors"]
        .as_array()
        .expect("errors")
        .iter()
        .filter_map(|error| error["field"].as_str())
        .collect();
    for field in ["case.outptu", "case.metadata", "case.sensitivity"] {
        assert!(fields.contains(&field), "{field} is not in {problem:#}");
    }
    assert_eq!(served.gateway.asked().count(), 0);
}

#[tokio::test]
async fn a_case_that_a_template_cannot_show() {
    let folder = crate::support::panel::Folder::with_panel(&with(
        panel(NOWHERE),
        json!({"judges": {"ann": {"template": "mine"}}}),
    ));
    folder.write("mine/pointwise.jinja", "{# answer: bare #}\n{{ input }} {{ output }} {{ form }}");
    let judges = crate::support::judges::Judges::saying("2", "4", "5");
    let served = crate::support::gateway::Gateway::in_folder(folder, judges).await.serve().await;
    for (case, words) in [
        (json!({"output": "x"}), "`input` is missing"),
        (json!({"a": "x", "b": "y"}), "no file for pairwise cases"),
    ] {
        let answer = served.post("/v1/verdicts", &json!({"case": case})).await;
        let problem = check(&answer, 422, "unaskable");
        assert!(problem["detail"].as_str().is_some_and(|detail| detail.contains(words)), "{problem}");
    }
    assert_eq!(served.gateway.asked().count(), 0);
}

#[tokio::test]
async fn judges_that_are_all_related_to_the_candidate() {
    let change = json!({"judges": {"bob": {"family": "alder"}}, "models": {"alder-*": {"family": "alder"}}});
    let served = served_with(&with(panel(NOWHERE), change)).await;
    let related = with(case(), json!({"case": {"model": "alder-7"}}));
    let problem = check(&served.post("/v1/verdicts", &related).await, 422, "no-quorum-by-kinship");
    let detail = problem["detail"].as_str().expect("a detail");
    assert!(detail.contains("alder-7") && detail.contains("ann, bob"), "{detail}");
    assert_eq!(served.gateway.asked().count(), 0);
    let allowed = served.post("/v1/verdicts", &with(related, json!({"allow_kin": true}))).await;
    assert_eq!(allowed.status, 200);
}

#[tokio::test]
async fn another_site_may_not_ask() {
    let served = served().await;
    for (name, value) in [("host", "evil.example"), ("origin", "https://evil.example"), ("origin", "null")] {
        for (method, path) in [("POST", "/v1/verdicts"), ("GET", "/v1/judges"), ("GET", "/metrics")] {
            let answer = Answer::of(served.request(method, path).header(name, value).json(&case())).await;
            check(&answer, 403, "forbidden");
        }
    }
    assert_eq!(served.gateway.asked().count(), 0);
    let own = served.request("POST", "/v1/verdicts").header("origin", "http://localhost:4600").json(&case());
    assert_eq!(Answer::of(own).await.status, 200);
}

#[tokio::test]
async fn routes_and_methods_that_are_not_there() {
    let served = served().await;
    check(&served.get("/v1/nothing").await, 404, "no-route");
    check(&Answer::of(served.request("DELETE", "/v1/panels")).await, 405, "method-not-allowed");
    check(&served.get("/v1/verdicts/0190f3a0-0000-7000-8000-000000000000").await, 404, "unknown-verdict");
}

#[tokio::test]
async fn a_judge_without_its_key() {
    let change = json!({"servers": {"s-ann": {"api_key": {"env": "TEST_KEY"}}}});
    let served = served_with(&with(panel(NOWHERE), change)).await;
    let answer = served.post("/v1/verdicts", &case()).await;
    let problem = check(&answer, 503, "missing-key");
    assert!(problem["detail"].as_str().is_some_and(|detail| detail.contains("TEST_KEY")), "{problem}");
    assert!(answer.header("retry-after").is_some());
    assert_eq!(served.gateway.asked().count(), 0);
}

#[tokio::test]
async fn a_store_that_is_gone_is_told_without_its_cause() {
    let served = served().await;
    served.gateway.app.shut_down(std::time::Duration::from_secs(20)).await;
    let answer = served.post("/v1/verdicts", &case()).await;
    check(&answer, 503, "shutting-down");
    let answer = served.get("/v1/verdicts/0190f3a0-0000-7000-8000-000000000000").await;
    let problem = check(&answer, 500, "internal");
    assert_eq!(problem["detail"], Value::Null);
}

#[test]
fn every_error_has_its_status() {
    let text = || String::from("x");
    let cases = [
        (ApiError::BadJson(text()), 400),
        (ApiError::BadIdempotencyKey(BadKey), 400),
        (ApiError::NotJson, 415),
        (ApiError::TooLarge { limit_bytes: 1 }, 413),
        (ApiError::NoRoute(text()), 404),
        (ApiError::MethodNotAllowed, 405),
        (ApiError::Forbidden(text()), 403),
        (ApiError::UnknownPanel { name: text(), known: text() }, 404),
        (ApiError::UnknownVerdict(text()), 404),
        (ApiError::InvalidCase(Vec::new()), 422),
        (ApiError::InvalidRun(Vec::new()), 422),
        (ApiError::TooManyRuns { most: 1 }, 429),
        (ApiError::RunConflict(text()), 409),
        (ApiError::IdempotencyConflict, 422),
        (ApiError::NoQuorumByKinship { panel: text(), model: text(), judges: text() }, 422),
        (ApiError::Unaskable { reason: text() }, 422),
        (ApiError::MissingKey { judge: text(), source_name: text() }, 503),
        (ApiError::Engine(EngineError::ShuttingDown), 503),
        (ApiError::Engine(EngineError::Cancelled), 503),
        (ApiError::Engine(EngineError::TaskStopped), 500),
        (ApiError::Engine(EngineError::CaseChanged(text())), 500),
        (ApiError::Internal(text()), 500),
    ];
    for (error, status) in cases {
        let shown = format!("{error:?}");
        assert_eq!(error.into_response().status().as_u16(), status, "{shown}");
    }
}
