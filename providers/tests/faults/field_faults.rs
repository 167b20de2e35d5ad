//! Faults of judges' servers seen in the field that one call can show; the others are tested through the whole.

use std::time::Duration;

use providers::error::ErrorKind;
use providers::vendors::openai::stream;
use providers::{
    ChatRequest, Provider, RetrySettings, Scripted, ScriptedReply, ServerHandle, ServerLimits, StackSettings,
    stack,
};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::sync::mpsc;
use tokio::time::{Instant, timeout};
use tower::ServiceExt;

use crate::server::{Server, answer, completion, once, read_request};

fn rate_limited() -> ErrorKind {
    ErrorKind::RateLimited { message: "slow down".to_owned() }
}

fn stacked(scripted: &Scripted) -> Provider {
    let server = ServerHandle::new(ServerLimits::default());
    stack::build(scripted.clone().into_vendor(), "m", &server, StackSettings::default())
}

#[tokio::test(start_paused = true)]
async fn ff_prov_001_a_date_is_a_wait() {
    for (date, wait_s) in [("Thu, 01 Jan 2026 00:00:30 GMT", 30), ("Wed, 31 Dec 2025 23:59:00 GMT", 0)] {
        let headers = format!("date: Thu, 01 Jan 2026 00:00:00 GMT\r\nretry-after: {date}\r\n");
        let server = Server::answering(answer(429, &headers, "{}")).await;
        let error = server.ask_once().await.unwrap_err();
        assert!(matches!(error.kind, ErrorKind::RateLimited { .. }));
        assert_eq!(error.retry_after(), Some(Duration::from_secs(wait_s)), "{date}");
    }
}

#[tokio::test(start_paused = true)]
async fn ff_prov_002_workers_come_back_spread_and_never_too_early() {
    let wish = Duration::from_secs(10);
    let started = Instant::now();
    let scripted = Scripted::new(move |_| {
        if started.elapsed() < wish {
            ScriptedReply::FailUntil(rate_limited(), wish).after(Duration::from_millis(100))
        } else {
            ScriptedReply::text("4")
        }
    });
    let provider = stacked(&scripted);
    let answers =
        futures::future::join_all((0..20).map(|_| provider.clone().oneshot(ChatRequest::user("hi")))).await;
    let mut times: Vec<Instant> =
        answers.iter().map(|answer| answer.as_ref().unwrap().attempts[1].sent).collect();
    assert!(times.iter().all(|at| *at >= started + wish + Duration::from_millis(100)));
    times.sort_unstable();
    times.dedup();
    assert!(times.len() >= 15, "twenty calls came back at {} times", times.len());
}

#[tokio::test(start_paused = true)]
async fn ff_prov_003_a_wish_of_hours_is_an_error_at_once() {
    let scripted = Scripted::new(|_| ScriptedReply::FailUntil(rate_limited(), Duration::from_hours(24)));
    let started = Instant::now();
    let provider = stacked(&scripted);
    for _ in 0..3 {
        assert!(provider.clone().oneshot(ChatRequest::user("hi")).await.is_err());
    }
    assert_eq!((started.elapsed(), scripted.calls()), (Duration::ZERO, 1));
}

#[test]
fn ff_prov_004_an_error_event_after_a_200_is_a_failure_that_may_be_asked_again() {
    let body = "event: message_start\ndata: {\"type\":\"message_start\"}\n\nevent: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\"}}\n\n";
    let kind = stream::fold(body).unwrap_err();
    assert!(matches!(kind, ErrorKind::Server { .. }) && kind.is_retryable(), "{kind:?}");
}

#[tokio::test(start_paused = true)]
async fn ff_prov_005_a_deadline_reaches_the_socket_and_frees_the_slot() {
    let (closed, mut closings) = mpsc::channel(4);
    let server = Server::start(move |mut stream, number| {
        let closed = closed.clone();
        async move {
            while read_request(&mut stream).await {
                if number > 0 {
                    assert!(stream.write_all(&completion("4")).await.is_ok());
                    continue;
                }
                // Ends when the other side hangs up.
                let mut rest = [0; 16];
                let length = stream.read(&mut rest).await.unwrap_or(0);
                assert!(closed.send((length, Instant::now())).await.is_ok());
                return;
            }
        }
    })
    .await;
    let provider = server.provider(once());
    let request = ChatRequest { deadline: Some(Duration::from_secs(2)), ..ChatRequest::user("hi") };
    let error = provider.clone().oneshot(request).await.unwrap_err();
    let failed = Instant::now();
    assert_eq!(error.kind, ErrorKind::Timeout { after_ms: 2_000 });
    let (length, at) = timeout(Duration::from_secs(1), closings.recv()).await.unwrap().unwrap();
    assert_eq!(length, 0);
    assert!(at.saturating_duration_since(failed) <= Duration::from_secs(1));
    assert!(provider.oneshot(ChatRequest::user("hi")).await.is_ok());
}

#[tokio::test(start_paused = true)]
async fn ff_prov_005_a_slot_is_free_after_the_deadline() {
    let scripted = Scripted::in_order([ScriptedReply::Hang, ScriptedReply::text("4")]);
    let limits = ServerLimits { concurrency: std::num::NonZeroU32::new(1), ..ServerLimits::default() };
    let server = ServerHandle::new(limits);
    let provider = stack::build(scripted.into_vendor(), "m", &server, once());
    let request = ChatRequest { deadline: Some(Duration::from_secs(2)), ..ChatRequest::user("hi") };
    assert!(provider.clone().oneshot(request).await.is_err());
    assert_eq!(server.free_slots(), Some(1));
    assert!(provider.oneshot(ChatRequest::user("hi")).await.is_ok());
}

#[tokio::test(start_paused = true)]
async fn ff_prov_006_one_layer_owns_the_attempts() {
    let server = Server::answering(answer(429, "", "{}")).await;
    let settings = StackSettings {
        retry: RetrySettings { attempts: 3, ..RetrySettings::default() },
        ..StackSettings::default()
    };
    let error = server.provider(settings).oneshot(ChatRequest::user("hi")).await.unwrap_err();
    assert!(matches!(error.kind, ErrorKind::RateLimited { .. }), "{error:?}");
    assert_eq!(error.attempts.len(), 3);
}

#[tokio::test(start_paused = true)]
async fn ff_prov_007_a_refused_parameter_is_left_out_for_good_and_said() {
    let refusal = r#"{"error":{"message":"no","code":"unsupported_value","param":"temperature"}}"#;
    let server = Server::start(move |mut stream, number| async move {
        let mut is_first = number == 0;
        while read_request(&mut stream).await {
            let bytes = if is_first { answer(400, "", refusal) } else { completion("4") };
            is_first = false;
            assert!(stream.write_all(&bytes).await.is_ok());
        }
    })
    .await;
    let provider = server.provider(once());
    for requests in [2, 1, 1] {
        let request =
            ChatRequest { temperature: Some(0.0), max_tokens: Some(256), ..ChatRequest::user("hi") };
        let response = provider.clone().oneshot(request).await.unwrap();
        assert_eq!((response.attempts.len(), response.dropped), (requests, vec!["temperature"]));
    }
}

#[tokio::test(start_paused = true)]
async fn ff_prov_013_an_empty_account_is_asked_once() {
    let server = Server::answering(answer(402, "", r#"{"error":{"message":"no credit"}}"#)).await;
    let provider = server.provider(once());
    let mut sent = 0;
    for _ in 0..10 {
        let error = provider.clone().oneshot(ChatRequest::user("hi")).await.unwrap_err();
        assert!(matches!(error.kind, ErrorKind::Unauthorized { status: 402, .. }), "{error:?}");
        sent += error.attempts.len();
    }
    assert_eq!(sent, 1);
}
