//! Faults on the wire, met by the whole stack.

use std::time::Duration;

use providers::chat::{ChatRequest, ChatResponse};
use providers::error::ErrorKind;
use providers::{Client, Dialect, ProviderError, SetupError, list_models, vendors};
use tower::ServiceExt;

use crate::exchange::{address, ask, ask_once, config, stacked};
use crate::server::{Reply, Server, answer, completion};

fn ok() -> Reply {
    Reply::Bytes(completion("4"))
}

fn refusal(message: &str) -> Reply {
    let body = serde_json::json!({"error": {"message": message}}).to_string();
    Reply::Bytes(answer(400, &[], &body))
}

async fn asked(
    replies: impl Into<std::collections::VecDeque<Reply>>,
) -> (Result<ChatResponse, ProviderError>, usize) {
    let server = Server::start(replies);
    let outcome = ask(&server, Dialect::Vllm).await;
    (outcome, server.received().len())
}

#[tokio::test]
async fn connection_that_dies_before_the_answer_is_asked_again_at_once() {
    let (outcome, requests) = asked([Reply::BytesThenClose(vec![]), ok()]).await;
    let response = outcome.unwrap();
    assert_eq!((response.text.as_str(), response.attempts.len(), requests), ("4", 2, 2));
}

#[tokio::test]
async fn stale_kept_connection_costs_no_answer() {
    let server = Server::start([ok(), Reply::BytesThenClose(vec![]), ok()]);
    let provider = stacked(&server, Dialect::Vllm, Duration::from_secs(10));
    for _ in 0..2 {
        assert_eq!(provider.clone().oneshot(ChatRequest::user("hi")).await.unwrap().text, "4");
    }
    assert_eq!(server.received().len(), 3);
}

#[tokio::test]
async fn cut_answer_is_a_connection_failure() {
    let mut cut = completion("4");
    cut.truncate(cut.len() - 20);
    let (outcome, requests) = asked([Reply::BytesThenClose(cut), ok()]).await;
    assert_eq!((outcome.unwrap().attempts.len(), requests), (2, 2));
}

#[tokio::test]
async fn refused_connection_is_a_connection_failure() {
    let config = config(&Server::closed(), Dialect::Vllm);
    let vendor = vendors::connect(&config, &Client::new()).unwrap();
    let call = providers::Call::new(ChatRequest::user("hi"), None);
    let error = vendor.oneshot(call.clone()).await.unwrap_err();
    assert_eq!(error.kind, ErrorKind::Connection { message: "refused".to_owned() });
    assert!(!call.take_hints().has(providers::Hint::DiedBeforeAnswer));
}

#[tokio::test]
async fn failed_connection_says_what_failed() {
    let check = async |address: &str, expected: &str| {
        let config = providers::VendorConfig {
            base_url: address.parse().unwrap(),
            ..config(&Server::closed(), Dialect::Vllm)
        };
        let vendor = vendors::connect(&config, &Client::new()).unwrap();
        let error = vendor.oneshot(providers::Call::new(ChatRequest::user("hi"), None)).await.unwrap_err();
        assert_eq!(error.kind, ErrorKind::Connection { message: expected.to_owned() }, "{address}");
    };
    // Too long for a name: no resolver is asked.
    check(&format!("http://{}/v1", "x".repeat(64)), "name is unknown").await;
    let plain = Server::greeting(b"HTTP/1.1 400 Bad Request\r\n\r\n").base_url();
    check(&plain.replace("http://", "https://"), "server does not speak TLS").await;
}

#[tokio::test]
async fn answer_that_is_not_http_is_garbage() {
    let (outcome, requests) = asked([Reply::BytesThenClose(b"SSH-2.0-x\r\n\r\n".to_vec())]).await;
    assert!(matches!(outcome.unwrap_err().kind, ErrorKind::Garbage { .. }));
    assert_eq!(requests, 3);
}

#[tokio::test]
async fn oversized_answer_is_garbage_and_not_paid_for_twice() {
    let body = "x".repeat(3 << 20);
    let announced = Reply::BytesThenClose(answer(200, &[], &body));
    let endless = Reply::BytesThenClose(format!("HTTP/1.1 200 OK\r\n\r\n{body}").into_bytes());
    for reply in [announced, endless] {
        let server = Server::start([reply]);
        let provider = stacked(&server, Dialect::Vllm, Duration::from_secs(10));
        let error = provider.oneshot(ChatRequest::user("hi")).await.unwrap_err();
        let message = "answer is larger than 1048576 bytes".to_owned();
        assert_eq!(error.kind, ErrorKind::Garbage { message });
        assert_eq!(server.received().len(), 1);
    }
}

#[tokio::test]
async fn token_alternatives_have_room() {
    let padded = format!(
        "{{\"pad\":\"{}\",\"choices\":[{{\"message\":{{\"content\":\"4\"}}}}]}}",
        "x".repeat(1 << 20)
    );
    let server = Server::start([Reply::Bytes(answer(200, &[], &padded))]);
    let request = ChatRequest { max_tokens: Some(512), top_logprobs: Some(20), ..ChatRequest::user("hi") };
    let (outcome, _) = ask_once(&server, Dialect::Vllm, request).await;
    assert_eq!(outcome.unwrap().text, "4");
}

#[tokio::test]
async fn redirect_is_refused() {
    let elsewhere = Server::start([ok()]);
    let location = format!("{}/chat/completions", elsewhere.base_url());
    for status in [301, 302, 307, 308] {
        let (outcome, requests) = asked([Reply::Bytes(answer(status, &[("location", &location)], ""))]).await;
        assert!(matches!(outcome.unwrap_err().kind, ErrorKind::BadRequest { status: s, .. } if s == status));
        assert_eq!(requests, 1);
    }
    assert!(elsewhere.received().is_empty());
}

#[tokio::test]
async fn refused_number_of_alternatives_is_learned_once() {
    let server = Server::start([refusal("top_logprobs must be between 0 and 5"), ok()]);
    let provider = stacked(&server, Dialect::Vllm, Duration::from_secs(10));
    let request = ChatRequest { top_logprobs: Some(20), ..ChatRequest::user("hi") };
    let first = provider.clone().oneshot(request.clone()).await.unwrap();
    assert_eq!((first.attempts.len(), first.dropped), (2, vec!["top_logprobs"]));
    let second = provider.oneshot(request).await.unwrap();
    assert_eq!((second.attempts.len(), second.dropped), (1, vec!["top_logprobs"]));
    let sent: Vec<_> =
        server.received().iter().map(|request| request.json()["top_logprobs"].as_u64().unwrap()).collect();
    assert_eq!(sent, [20, 5, 5]);
}

#[tokio::test]
async fn several_refused_parameters_are_learned_in_one_call() {
    let server = Server::start([
        refusal("Unsupported parameter: 'max_tokens' is not supported. Use 'max_completion_tokens' instead."),
        refusal("Unsupported value: 'temperature' does not support 0 with this model."),
        refusal("You are not allowed to request logprobs from this model"),
        ok(),
    ]);
    let provider = stacked(&server, Dialect::Compatible, Duration::from_secs(10));
    let request = ChatRequest {
        top_logprobs: Some(5),
        temperature: Some(0.0),
        max_tokens: Some(9),
        ..ChatRequest::user("hi")
    };
    let response = provider.oneshot(request).await.unwrap();
    assert_eq!((response.attempts.len(), response.dropped), (4, vec!["logprobs", "temperature"]));
    let last = server.received()[3].json();
    assert_eq!(last["max_completion_tokens"], 9);
    assert!(last.get("logprobs").is_none() && last.get("temperature").is_none());
}

#[tokio::test]
async fn other_bad_requests_are_sent_once() {
    let (outcome, requests) = asked([refusal("messages: invalid role")]).await;
    assert!(matches!(outcome.unwrap_err().kind, ErrorKind::BadRequest { status: 400, .. }));
    assert_eq!(requests, 1);
}

#[tokio::test]
async fn servers_no_retry_is_obeyed() {
    let reply = Reply::Bytes(answer(500, &[("x-should-retry", "false")], "{}"));
    let (outcome, requests) = asked([reply]).await;
    assert!(matches!(outcome.unwrap_err().kind, ErrorKind::Server { status: 500, .. }));
    assert_eq!(requests, 1);
}

#[tokio::test]
async fn error_text_holds_no_key_and_no_host() {
    let server = Server::start([ok()]);
    let host = server.base_url();
    let server = Server::start([refusal(&format!("key sk-judge-1 at {host} said 'the secret answer'"))]);
    let (outcome, _) = ask_once(&server, Dialect::Vllm, ChatRequest::user("Rate the secret answer.")).await;
    let shown = outcome.unwrap_err().to_string();
    for secret in ["sk-judge-1", "127.0.0.1", "secret answer"] {
        assert!(!shown.contains(secret), "{shown}");
    }
}

#[tokio::test]
async fn key_that_no_header_can_carry_is_refused_at_setup() {
    let server = Server::start([ok()]);
    let mut config = config(&server, Dialect::Vllm);
    config.api_key = Some("sk-1\n".to_owned().into());
    assert!(matches!(vendors::connect(&config, &Client::new()), Err(SetupError::Key)));
    let error = list_models(&Client::new(), Dialect::Vllm, &address(&server), config.api_key.as_ref())
        .await
        .unwrap_err();
    assert!(matches!(error.kind, ErrorKind::Unauthorized { .. }), "{error:?}");
}

#[tokio::test]
async fn tls_client_is_made_when_needed() {
    let server = Server::start([ok()]);
    let mut config = config(&server, Dialect::OpenAi);
    config.base_url = server.base_url().replace("http:", "https:").parse().unwrap();
    let vendor = vendors::connect(&config, &Client::new()).unwrap();
    let call = providers::Call::new(ChatRequest::user("hi"), Some(Duration::from_secs(5)));
    let asking = tokio::time::timeout(Duration::from_millis(200), vendor.oneshot(call)).await;
    assert!(!matches!(asking, Ok(Ok(_))), "a plain server is no TLS server");
}

#[tokio::test]
async fn odd_model_list_is_garbage() {
    let server = Server::start([Reply::Bytes(answer(200, &[], "{\"models\":[]}"))]);
    let error = list_models(&Client::new(), Dialect::Vllm, &address(&server), None).await.unwrap_err();
    assert!(matches!(error.kind, ErrorKind::Garbage { .. }), "{error:?}");
}
