//! Callers' bodies on the wire: as they stand, and as far as a model takes them.

use std::time::Duration;

use bytes::Bytes;
use providers::chat::{CallerBody, ChatRequest, Forwarding, Route};
use providers::error::ErrorKind;
use providers::{Dialect, Upstream};
use serde_json::{Value, json};
use tower::ServiceExt;

use crate::exchange::{ask_once, stacked};
use crate::recordings::recordings;
use crate::server::{Received, Reply, Server, answer, completion};

fn fields(text: &str) -> serde_json::Map<String, Value> {
    serde_json::from_str(text).unwrap()
}

fn verbatim(route: Route, text: &str) -> ChatRequest {
    let forwarding = Forwarding::Verbatim { route, body: Bytes::from(text.to_owned()) };
    ChatRequest::from_caller(CallerBody::new(fields(text), forwarding))
}

fn adapted(body: &Value) -> ChatRequest {
    ChatRequest::from_caller(CallerBody::new(fields(&body.to_string()), Forwarding::Adapted))
}

fn json_reply(status: u16, body: &str) -> Reply {
    Reply::Bytes(answer(status, &[("content-type", "application/json")], body))
}

const ASKED: &str = r#"{ "zebra": {"b": 1.50, "a": null}, "stream": false, "model": "judge/x",
    "messages": [{"role": "user", "content": [{"type": "input_audio", "input_audio": {"data": "AA"}}]}], "n": 2 }"#;

#[tokio::test]
async fn bodies_go_and_answers_come_as_they_stand() {
    let body = r#"{"id": "1", "choices": [{"message": {"content": "4", "odd": 1}, "finish_reason": "stop"}], "x": 1.0}"#;
    for dialect in [Dialect::OpenAi, Dialect::Mistral, Dialect::Vllm, Dialect::Compatible] {
        let server = Server::start([json_reply(200, body)]);
        let request =
            ChatRequest { max_tokens: Some(9), seed: Some(1), ..verbatim(Route::ChatCompletions, ASKED) };
        let response = ask_once(&server, dialect, request).await.0.unwrap();
        let received = &server.received()[0];
        assert_eq!(received.head[0], "POST /v1/chat/completions HTTP/1.1");
        assert_eq!(String::from_utf8_lossy(&received.body), ASKED.replace("judge/x", "smollm2-135m"));
        assert_eq!((response.text.as_str(), response.body.as_deref()), ("4", Some(body.as_bytes())));
        assert!(response.dropped.is_empty());
    }
}

#[tokio::test]
async fn what_goes_as_it_stands_is_not_adapted_by_refusals() {
    let error = r#"{"error": {"message": "Unsupported parameter: 'seed'", "type": "invalid_request_error", "param": "seed", "code": "unsupported_parameter"}}"#;
    let server = Server::start([json_reply(400, error)]);
    let provider = stacked(&server, Dialect::OpenAi, Duration::from_secs(10));
    let asked = r#"{"model": "judge/x", "messages": [], "seed": 1, "tools": [{}]}"#;
    let error = provider.oneshot(verbatim(Route::ChatCompletions, asked)).await.unwrap_err();
    let text = |text: &str| Some(text.to_owned());
    let upstream = Upstream {
        status: 400,
        r#type: text("invalid_request_error"),
        code: text("unsupported_parameter"),
        param: text("seed"),
    };
    assert_eq!((error.upstream.as_deref(), server.received().len()), (Some(&upstream), 1));
    assert!(matches!(error.kind, ErrorKind::BadRequest { status: 400, .. }));
}

#[tokio::test]
async fn status_and_wait_of_a_rate_limit_are_passed_on() {
    let reply = answer(
        429,
        &[("retry-after", "7"), ("x-should-retry", "false")],
        r#"{"error": {"message": "slow"}}"#,
    );
    let server = Server::start([Reply::Bytes(reply)]);
    let (outcome, is_final) = ask_once(&server, Dialect::Vllm, verbatim(Route::ChatCompletions, ASKED)).await;
    let error = outcome.unwrap_err();
    assert_eq!((error.upstream.map(|upstream| upstream.status), is_final), (Some(429), true));
    assert_eq!(error.retry_after, Some(Duration::from_secs(7)));
}

#[tokio::test]
async fn other_formats_are_asked_in_their_own() {
    let check = async |dialect, reply: &str, place: &str| {
        let server = Server::start([json_reply(200, reply)]);
        let asked = r#"{"model": "judge/x", "messages": [{"role": "user", "content": "hi"}], "odd": 1}"#;
        let response = ask_once(&server, dialect, verbatim(Route::ChatCompletions, asked)).await.0.unwrap();
        assert_eq!((response.text.as_str(), response.body), ("4", None));
        let sent = server.received()[0].json();
        assert!(sent.get(place).is_some() && sent.get("odd").is_none(), "{sent}");
    };
    let message = r#"{"content": [{"type": "text", "text": "4"}], "stop_reason": "end_turn"}"#;
    check(Dialect::Anthropic, message, "max_tokens").await;
    let candidate = r#"{"candidates": [{"content": {"parts": [{"text": "4"}]}, "finishReason": "STOP"}]}"#;
    check(Dialect::Gemini, candidate, "contents").await;
}

#[tokio::test]
async fn what_another_format_cannot_hold_is_refused_unsent() {
    let check = async |request: ChatRequest, expected: &str| {
        for dialect in [Dialect::Anthropic, Dialect::Gemini] {
            let server = Server::start([Reply::Hang]);
            let error = ask_once(&server, dialect, request.clone()).await.0.unwrap_err();
            let message = expected.to_owned();
            assert_eq!(error.kind, ErrorKind::BadRequest { status: 400, message });
            assert!(server.received().is_empty() && error.upstream.is_none());
        }
    };
    check(
        verbatim(Route::ChatCompletions, ASKED),
        "parts of type `input_audio` cannot be sent to this server",
    )
    .await;
    let input = verbatim(Route::Embeddings, r#"{"input": "x"}"#);
    check(input, "this server has no embeddings in OpenAI's format").await;
}

#[tokio::test]
async fn embeddings_are_passed_on() {
    let body = r#"{"object": "list", "data": [{"index": 0, "embedding": [0.25]}], "model": "e", "usage": {"prompt_tokens": 3, "total_tokens": 3}}"#;
    let server = Server::start([json_reply(200, body)]);
    let asked = r#"{"input": ["x"], "model": "text-embedding", "encoding_format": "base64"}"#;
    let provider = stacked(&server, Dialect::LlamaCpp, Duration::from_secs(10));
    let response = provider.oneshot(verbatim(Route::Embeddings, asked)).await.unwrap();
    let received = &server.received()[0];
    assert_eq!(received.head[0], "POST /v1/embeddings HTTP/1.1");
    assert_eq!(String::from_utf8_lossy(&received.body), asked.replace("text-embedding", "smollm2-135m"));
    assert_eq!(response.body.as_deref(), Some(body.as_bytes()));
    assert_eq!(response.usage.map(|usage| (usage.prompt_tokens, usage.completion_tokens)), Some((3, 0)));
}

/// The recorded requests with tools, and what the recorded refusals teach.
#[tokio::test]
async fn refused_tools_are_asked_for_in_the_prompt() {
    let mut seen = 0;
    for recording in recordings().into_iter().filter(|recording| recording.name.contains("/err_tools_")) {
        let (asked, refused) =
            (&recording.json["request"]["body_json"], &recording.json["response"]["body_json"]);
        let refusal = || json_reply(400, &refused.to_string());
        let server = Server::start([refusal(), Reply::Bytes(completion("{\"score\": 4}"))]);
        let provider = stacked(&server, recording.dialect, Duration::from_secs(10));
        let response = provider.oneshot(adapted(asked)).await.unwrap();
        assert_eq!(response.attempts.len(), 2, "{}", recording.name);
        let sent = server.received();
        assert_eq!(sent[0].json()["tools"], asked["tools"]);
        let again = sent[1].json();
        let words = again["messages"][0]["content"].as_str().unwrap();
        let is_forced = asked["tool_choice"] == "required";
        assert_eq!(words.contains("\"maxLength\":40"), is_forced, "{words}");
        assert!(again.get("tools").is_none() && again.get("tool_choice").is_none());
        let dropped: &[&str] = if is_forced { &["tool_choice", "tools"] } else { &["tools"] };
        assert_eq!(response.dropped, dropped);
        seen += 1;
    }
    assert_eq!(seen, 2);
}

#[tokio::test]
async fn a_schema_that_is_refused_goes_into_the_prompt_of_that_call_only() {
    let names =
        ["openai/err_400_schema", "vllm/err_json_schema_bad", "llama-server/chat_json_schema_bad_schema"];
    for recording in recordings().into_iter().filter(|recording| names.contains(&&*recording.name)) {
        let refusal = || json_reply(400, &recording.json["response"]["body_json"].to_string());
        let answers = || Reply::Bytes(completion("{}"));
        let server = Server::start([refusal(), answers(), answers(), refusal()]);
        let provider = stacked(&server, recording.dialect, Duration::from_secs(10));
        let format = |schema: Value| json!({"type": "json_schema", "json_schema": {"name": "verdict", "schema": schema}});
        let asked = |schema: Value| {
            adapted(
                &json!({"messages": [{"role": "user", "content": "hi"}], "response_format": format(schema)}),
            )
        };
        let response = provider.clone().oneshot(asked(json!({"type": "nonsense"}))).await.unwrap();
        assert_eq!((response.attempts.len(), response.dropped), (2, vec!["response_format"]));
        let other = provider.clone().oneshot(asked(json!({"type": "object"}))).await.unwrap();
        assert!(other.dropped.is_empty());
        let sent: Vec<Value> = server.received().iter().map(Received::json).collect();
        assert!(sent[1]["messages"][0]["content"].as_str().unwrap().ends_with("{\"type\":\"nonsense\"}"));
        assert_eq!(
            (sent[1].get("response_format"), &sent[2]["response_format"]["type"]),
            (None, &json!("json_schema"))
        );
        // One that is refused without a schema too is a bad request.
        let error = provider.oneshot(asked(json!({"type": "nonsense"}))).await.unwrap_err();
        assert_eq!((error.attempts.len(), server.received().len()), (2, 5), "{}", recording.name);
    }
}

#[tokio::test]
async fn tool_calls_come_whole_or_streamed() {
    let whole = json!({"choices": [{"message": {"content": null, "tool_calls": [
        {"id": "1", "type": "function", "function": {"name": "verdict", "arguments": "{\"score\": 4}"}},
    ]}, "finish_reason": "tool_calls"}]});
    let piece = |function: Value| {
        let call = json!({"index": 0, "id": "1", "function": function});
        format!("data: {}\n\n", json!({"choices": [{"index": 0, "delta": {"tool_calls": [call]}}]}))
    };
    let stream = [
        piece(json!({"name": "verdict", "arguments": "{\"score\""})),
        piece(json!({"arguments": ": 4}"})),
        "data: [DONE]\n\n".to_owned(),
    ];
    let streamed = Reply::Bytes(answer(200, &[("content-type", "text/event-stream")], &stream.concat()));
    for reply in [json_reply(200, &whole.to_string()), streamed] {
        let server = Server::start([reply]);
        let request = adapted(&json!({"messages": [{"role": "user", "content": "hi"}]}));
        let response = ask_once(&server, Dialect::Compatible, request).await.0.unwrap();
        let [call] = response.tool_calls.as_slice() else { panic!("one call") };
        assert_eq!(
            (call.id.as_deref(), &*call.name, &*call.arguments),
            (Some("1"), "verdict", "{\"score\": 4}")
        );
        assert!(response.text.is_empty() && response.body.is_none());
    }
}
