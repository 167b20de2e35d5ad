//! `judge/NAME`: bytes go to one judge and come back as they stand.

use serde_json::{Value, json};

use super::{CHAT, asking};
use crate::support::gateway::{Gateway, Served};
use crate::support::panel::{panel, with};
use crate::support::upstream::{Reply, Upstream};

/// The usual panel, its judges on this server.
async fn served(upstream: &Upstream) -> Served {
    Gateway::connected(&panel(upstream.base_url())).await.serve().await
}

#[tokio::test(flavor = "multi_thread")]
async fn fields_that_nobody_knows_reach_the_judge_and_come_back() {
    let odd = json!({"index": 0, "message": {"role": "assistant", "content": "yes", "x_vendor": {"a": 1}}, "finish_reason": "stop"});
    let upstream = Upstream::start(move |_| Reply::completion(&odd));
    let served = served(&upstream).await;
    let body = asking(json!({"model": "judge/ann", "x_own": [1, 2], "n": 2, "metadata": {"a": "b"}}));
    let answer = served.post(CHAT, &body).await;
    assert_eq!(answer.json()["choices"][0]["message"]["x_vendor"], json!({"a": 1}), "{}", answer.text);
    assert_eq!(upstream.requests(), [with(body, json!({"model": "alder-one"}))]);
    assert_eq!(answer.header("x-litellm-model-group"), Some("judge/ann"));
    assert!(answer.header("x-litellm-response-cost").is_some());
    let metrics = served.get("/metrics").await.text;
    assert!(metrics.contains("tribunal_tokens_total{direction=\"prompt\",judge=\"ann\"} 100"), "{metrics}");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_upstreams_refusal_keeps_its_status() {
    let upstream = Upstream::start(|_| Reply::error(400, "temperature is out of range"));
    let served = served(&upstream).await;
    let answer = served.post(CHAT, &asking(json!({"model": "judge/ann"}))).await;
    let error = answer.json()["error"].clone();
    assert_eq!((answer.status, &error["type"]), (400, &json!("invalid_request_error")), "{}", answer.text);
    assert!(error["message"].as_str().unwrap().contains("temperature is out of range"), "{}", answer.text);
}

#[tokio::test(flavor = "multi_thread")]
async fn ff_drop_002_a_stream_is_passed_on_chunks_without_choices_too() {
    let stream = "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"{\\\"sc\"}}]}\n\n\
                  data: {\"usage\":{\"prompt_tokens\":7,\"completion_tokens\":2,\"total_tokens\":9}}\n\n\
                  data: {\"choices\":[]}\n\n\
                  data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"ore\\\":4}\"},\"finish_reason\":\"stop\"}]}\n\n\
                  data: [DONE]\n\n";
    let upstream = Upstream::start(move |_| {
        let mut reply = Reply::text("");
        reply.headers.insert("content-type", String::from("text/event-stream"));
        Reply { body: stream.to_owned(), ..reply }
    });
    let served = served(&upstream).await;
    let answer = served.post(CHAT, &asking(json!({"model": "judge/ann", "stream": true}))).await;
    assert_eq!(answer.text, stream, "byte for byte");
    // The panel reads the same stream as an answer.
    let panel = served.post(CHAT, &asking(json!({"model": "default"}))).await;
    assert_eq!(panel.json()["choices"][0]["message"]["content"], "{\"score\":4}", "{}", panel.text);
}

#[tokio::test(flavor = "multi_thread")]
async fn embeddings_are_the_servers_own() {
    let upstream = Upstream::start(|_| Reply::text("no embeddings here"));
    let served = served(&upstream).await;
    let body = json!({"model": "default", "input": "text"});
    let refused = served.post("/v1/embeddings", &body).await;
    let error = refused.json()["error"].clone();
    assert_eq!(refused.status, 400, "{}", refused.text);
    assert!(error["message"].as_str().unwrap().contains("which has no embeddings"), "{}", refused.text);
    let passed = served.post("/v1/embeddings", &json!({"model": "judge/ann", "input": "text"})).await;
    assert_eq!(passed.json()["data"][0]["embedding"], json!([0.5, -0.5]), "{}", passed.text);
    let asked: Vec<Value> = upstream.requests();
    assert_eq!(asked.last(), Some(&json!({"model": "alder-one", "input": "text"})));
}
