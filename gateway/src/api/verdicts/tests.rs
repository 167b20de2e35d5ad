use axum::body::{Body, to_bytes};
use axum::http::Request;
use providers::Scripted;
use serde_json::{Value, json};
use tower::ServiceExt;

use crate::api::router;
use crate::engine::scripted::{Bench, PASSES};

struct Answer {
    status: u16,
    content_type: String,
    replayed: Option<String>,
    body: String,
}

impl Answer {
    fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap()
    }
}

async fn post(bench: &Bench, headers: &[(&str, &str)], body: &Value) -> Answer {
    let mut request =
        Request::post("/v1/verdicts").header("host", "127.0.0.1").header("content-type", "application/json");
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    let request = request.body(Body::from(body.to_string())).unwrap();
    let response = router(bench.app.clone()).oneshot(request).await.unwrap();
    let header = |name: &str| response.headers().get(name).map(|value| value.to_str().unwrap().to_owned());
    let (status, content_type, replayed) =
        (response.status().as_u16(), header("content-type").unwrap(), header("idempotency-replayed"));
    let body = to_bytes(response.into_body(), 1 << 20).await.unwrap();
    Answer { status, content_type, replayed, body: String::from_utf8(body.to_vec()).unwrap() }
}

fn case(output: &str) -> Value {
    json!({"panel": "default", "case": {"id": "q1", "input": "Capital of France?", "output": output}, "cache": false})
}

#[tokio::test]
async fn a_repeated_key_repeats_the_answer_byte_for_byte() {
    let script = Scripted::always(PASSES);
    let bench = Bench::open(&script).await;
    let key = [("idempotency-key", "order-17")];
    let first = post(&bench, &key, &case("Paris.")).await;
    assert_eq!((first.status, first.replayed.as_deref()), (200, None), "{}", first.body);
    let second = post(&bench, &key, &case("Paris.")).await;
    assert_eq!((second.status, second.replayed.as_deref()), (200, Some("true")));
    assert_eq!(second.body, first.body);
    let bench = bench.restart(&script).await;
    let third = post(&bench, &key, &case("Paris.")).await;
    assert_eq!((third.body, third.replayed.as_deref()), (first.body, Some("true")));
    assert_eq!(script.calls(), 3);
}

#[tokio::test]
async fn requests_without_a_key_are_answered_afresh() {
    let script = Scripted::always(PASSES);
    let bench = Bench::open(&script).await;
    let first = post(&bench, &[], &case("Paris.")).await;
    let second = post(&bench, &[], &case("Paris.")).await;
    assert_ne!(first.json()["id"], second.json()["id"]);
    assert_eq!((first.replayed, second.replayed, script.calls()), (None, None, 6));
}

#[tokio::test]
async fn the_same_key_with_another_body_is_a_conflict() {
    let script = Scripted::always(PASSES);
    let bench = Bench::open(&script).await;
    let key = ("idempotency-key", "order-17");
    post(&bench, &[key], &case("Paris.")).await;
    let other_header = [key, ("x-tribunal-sensitivity", "confidential")];
    for (headers, body) in [(&[key][..], case("Lyon.")), (&other_header[..], case("Paris."))] {
        let refused = post(&bench, headers, &body).await;
        assert_eq!((refused.status, refused.content_type.as_str()), (422, "application/problem+json"));
        assert_eq!(refused.json()["type"], "tribunal:idempotency-conflict");
        assert!(refused.json()["detail"].as_str().unwrap().contains("a new request needs a new key"));
    }
    assert_eq!(script.calls(), 3);
}

#[tokio::test]
async fn unusable_keys_are_refused() {
    let script = Scripted::always(PASSES);
    let bench = Bench::open(&script).await;
    let long = "k".repeat(256);
    let key = |value| ("idempotency-key", value);
    for headers in [&[key("")][..], &[key("two words")], &[key(long.as_str())], &[key("a"), key("a")]] {
        let refused = post(&bench, headers, &case("Paris.")).await;
        assert_eq!(refused.status, 400, "{headers:?}");
        assert_eq!(refused.json()["type"], "tribunal:bad-idempotency-key");
    }
    assert_eq!(script.calls(), 0);
}

#[tokio::test]
async fn what_is_refused_before_judging_does_not_use_up_its_key() {
    let script = Scripted::always(PASSES);
    let bench = Bench::open(&script).await;
    let key = [("idempotency-key", "order-17")];
    let unknown = json!({"panel": "nobody", "case": {"id": "q1", "input": "?", "output": "Paris."}});
    assert_eq!(post(&bench, &key, &unknown).await.status, 404);
    assert_eq!(post(&bench, &key, &json!({"panel": "default", "case": {}})).await.status, 422);
    assert_eq!(post(&bench, &key, &case("Paris.")).await.status, 200);
}
