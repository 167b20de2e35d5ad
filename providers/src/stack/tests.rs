//! The stack on paused time: what each layer promises, seen from outside.

mod breaker;
mod limits;

use std::num::NonZeroU32;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use futures::future::join_all;
use tokio::time::{Instant, advance, sleep};
use tower::{Service, ServiceExt, service_fn};

use super::*;
use crate::call::{Call, Hint};
use crate::chat::{ChatRequest, ChatResponse, Usage};
use crate::layers::circuit_breaker::{BreakerSettings, BreakerState};
use crate::server::ServerLimits;
use crate::vendors::scripted::{Scripted, ScriptedReply};

const SECOND: Duration = Duration::from_secs(1);

fn limit(number: u32) -> Option<NonZeroU32> {
    NonZeroU32::new(number)
}

fn server_error() -> ErrorKind {
    ErrorKind::Server { status: 500, message: "down".to_owned() }
}

fn rate_limited() -> ErrorKind {
    ErrorKind::RateLimited { message: "slow down".to_owned() }
}

fn once() -> StackSettings {
    StackSettings {
        retry: RetrySettings { attempts: 1, ..RetrySettings::default() },
        ..StackSettings::default()
    }
}

fn built(scripted: &Scripted, limits: ServerLimits, settings: StackSettings) -> Provider {
    build(scripted.clone().into_vendor(), "m", &ServerHandle::new(limits), settings)
}

async fn ask(provider: &Provider) -> Result<ChatResponse, ProviderError> {
    provider.clone().oneshot(ChatRequest::user("hi")).await
}

async fn ask_within(provider: &Provider, deadline: Duration) -> Result<ChatResponse, ProviderError> {
    let request = ChatRequest { deadline: Some(deadline), ..ChatRequest::user("hi") };
    provider.clone().oneshot(request).await
}

fn slow(pause: Duration) -> Scripted {
    Scripted::new(move |_| ScriptedReply::text("4").after(pause))
}

#[tokio::test(start_paused = true)]
async fn every_layer_is_ready_while_slots_are_full() {
    let scripted = slow(20 * SECOND);
    let mut provider = built(&scripted, ServerLimits { concurrency: limit(1), ..Default::default() }, once());
    let busy = provider.call(ChatRequest::user("hi"));
    let waiting = async {
        sleep(SECOND).await;
        let ready = futures::poll!(std::future::poll_fn(|cx| provider.poll_ready(cx)));
        assert!(ready.is_ready());
    };
    let (answer, ()) = tokio::join!(busy, waiting);
    assert_eq!(answer.unwrap().text, "4");
}

#[tokio::test(start_paused = true)]
async fn retry_succeeds_and_logs_both_attempts() {
    let scripted = Scripted::in_order([ScriptedReply::Fail(server_error()), ScriptedReply::text("4")]);
    let provider = built(&scripted, ServerLimits::default(), StackSettings::default());
    let response = ask(&provider).await.unwrap();
    assert_eq!(response.attempts.len(), 2);
    let pause = response.attempts[1].sent - response.attempts[0].ended;
    assert!((Duration::from_millis(250)..=Duration::from_millis(501)).contains(&pause), "{pause:?}");
}

#[tokio::test(start_paused = true)]
async fn only_retryable_failures_are_asked_again() {
    let message = || "x".to_owned();
    for (kind, requests) in [
        (server_error(), 3),
        (rate_limited(), 3),
        (ErrorKind::Connection { message: message() }, 3),
        (ErrorKind::Garbage { message: message() }, 3),
        (ErrorKind::BadRequest { status: 400, message: message() }, 1),
        (ErrorKind::Unauthorized { status: 402, message: message() }, 1),
        (ErrorKind::TooLong { message: message() }, 1),
        (ErrorKind::ContentFilter { message: message() }, 1),
    ] {
        let failure = kind.clone();
        let scripted = Scripted::new(move |_| ScriptedReply::Fail(failure.clone()));
        let provider = built(&scripted, ServerLimits::default(), StackSettings::default());
        let error = ask(&provider).await.unwrap_err();
        assert_eq!(error.kind, kind);
        assert_eq!((error.attempts.len(), scripted.calls()), (requests, requests), "{kind:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn attempt_that_hangs_is_cut_and_asked_again() {
    let scripted = Scripted::in_order([ScriptedReply::Hang, ScriptedReply::text("4")]);
    let provider = built(&scripted, ServerLimits::default(), StackSettings::default());
    let response = ask(&provider).await.unwrap();
    assert_eq!(response.attempts.len(), 2);
    assert_eq!(response.attempts[0].ended - response.attempts[0].sent, 30 * SECOND);
    let hanging = built(&Scripted::new(|_| ScriptedReply::Hang), ServerLimits::default(), once());
    assert_eq!(ask(&hanging).await.unwrap_err().kind, ErrorKind::Timeout { after_ms: 30_000 });
}

#[tokio::test(start_paused = true)]
async fn deadline_bounds_everything() {
    for reply in [
        ScriptedReply::Hang,
        ScriptedReply::Fail(server_error()).after(3 * SECOND),
        ScriptedReply::FailUntil(rate_limited(), 4 * SECOND),
    ] {
        let scripted = Scripted::new(move |_| reply.clone());
        let settings = StackSettings {
            retry: RetrySettings { attempts: 100, ..RetrySettings::default() },
            ..StackSettings::default()
        };
        let limits = ServerLimits { retries_per_second: 100, ..Default::default() };
        let provider = built(&scripted, limits, settings);
        let started = Instant::now();
        let error = ask_within(&provider, 7 * SECOND).await.unwrap_err();
        assert!(started.elapsed() <= 7 * SECOND, "{error:?} after {:?}", started.elapsed());
        assert_eq!(error.attempts.len(), scripted.calls());
    }
}

#[tokio::test(start_paused = true)]
async fn deadline_names_what_ran_out() {
    let hanging = built(&Scripted::new(|_| ScriptedReply::Hang), ServerLimits::default(), once());
    let error = ask_within(&hanging, 7 * SECOND).await.unwrap_err();
    assert_eq!(error.kind, ErrorKind::Timeout { after_ms: 7_000 });
    assert_eq!(error.attempts.len(), 1);
    assert_eq!(error.attempts[0].ended - error.attempts[0].sent, 7 * SECOND);
}

#[tokio::test(start_paused = true)]
async fn retry_after_is_obeyed() {
    let scripted =
        Scripted::in_order([ScriptedReply::FailUntil(rate_limited(), 10 * SECOND), ScriptedReply::text("4")]);
    let provider = built(&scripted, ServerLimits::default(), StackSettings::default());
    let response = ask(&provider).await.unwrap();
    let pause = response.attempts[1].sent - response.attempts[0].ended;
    assert!((10 * SECOND..=11 * SECOND + Duration::from_millis(1)).contains(&pause), "{pause:?}");
}

#[tokio::test(start_paused = true)]
async fn same_retry_after_is_spread() {
    let asked = Arc::new(AtomicUsize::new(0));
    let scripted = Scripted::new(move |_| {
        if asked.fetch_add(1, Ordering::Relaxed) < 10 {
            ScriptedReply::FailUntil(rate_limited(), 10 * SECOND).after(SECOND)
        } else {
            ScriptedReply::text("4")
        }
    });
    let provider = built(&scripted, ServerLimits::default(), StackSettings::default());
    let answers = join_all((0..10).map(|_| ask(&provider))).await;
    let mut times: Vec<Instant> =
        answers.iter().map(|answer| answer.as_ref().unwrap().attempts[1].sent).collect();
    times.sort_unstable();
    times.dedup();
    assert!(times.len() >= 8, "ten calls came back at {} times", times.len());
}

#[tokio::test(start_paused = true)]
async fn retry_after_beyond_deadline_or_cap_fails_at_once() {
    for (wish, deadline) in [(20 * SECOND, 10 * SECOND), (Duration::from_hours(24), Duration::from_hours(48))]
    {
        let scripted = Scripted::new(move |_| ScriptedReply::FailUntil(rate_limited(), wish));
        let provider = built(&scripted, ServerLimits::default(), StackSettings::default());
        let started = Instant::now();
        let error = ask_within(&provider, deadline).await.unwrap_err();
        assert_eq!(error.kind, rate_limited());
        assert_eq!(error.retry_after(), Some(wish));
        assert_eq!(started.elapsed(), Duration::ZERO);
        assert_eq!(scripted.calls(), 1);
    }
}

#[tokio::test(start_paused = true)]
async fn retry_budget_stops_storms() {
    let scripted = Scripted::new(|_| ScriptedReply::Fail(rate_limited()));
    let limits = ServerLimits { retries_per_second: 1, ..Default::default() };
    let provider = built(&scripted, limits, StackSettings::default());
    let answers = join_all((0..200).map(|_| ask(&provider))).await;
    assert!(answers.iter().all(Result::is_err));
    let retries = scripted.calls() - 200;
    assert!((1..=20).contains(&retries), "{retries} retries for 200 failing calls");
}

#[tokio::test(start_paused = true)]
async fn retried_request_waits_for_limits_again() {
    let scripted = Scripted::in_order([ScriptedReply::Fail(server_error()), ScriptedReply::text("4")]);
    let limits = ServerLimits { requests_per_minute: limit(1), ..Default::default() };
    let provider = built(&scripted, limits, StackSettings::default());
    let response = ask(&provider).await.unwrap();
    let pause = response.attempts[1].sent - response.attempts[0].ended;
    assert!(pause >= 59 * SECOND, "{pause:?}");
}

/// A vendor that leaves this hint with its first failures.
fn hinting(hint: Hint, kind: ErrorKind, failures: usize) -> (Vendor, Arc<AtomicUsize>) {
    let requests = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&requests);
    let vendor = service_fn(move |call: Call| {
        let is_failing = counted.fetch_add(1, Ordering::Relaxed) < failures;
        let kind = kind.clone();
        async move {
            if is_failing {
                call.leave(hint);
                return Err(ProviderError::new(kind));
            }
            Ok(ChatResponse::of_text("4"))
        }
    });
    (BoxCloneSyncService::new(vendor), requests)
}

#[tokio::test(start_paused = true)]
async fn hints_decide_the_retry() {
    let connection = || ErrorKind::Connection { message: "closed".to_owned() };
    let bad = || ErrorKind::BadRequest { status: 400, message: "no seed".to_owned() };
    for (hint, kind, failures, requests, is_ok) in [
        (Hint::DiedBeforeAnswer, connection(), 1, 2, true),
        (Hint::DiedBeforeAnswer, connection(), 2, 2, false),
        (Hint::Final, server_error(), 1, 1, false),
        (Hint::Learned, bad(), 3, 4, true),
        (Hint::Learned, bad(), 100, 7, false),
    ] {
        let (vendor, asked) = hinting(hint, kind, failures);
        let provider = build(vendor, "m", &ServerHandle::new(ServerLimits::default()), once());
        let started = Instant::now();
        assert_eq!(ask(&provider).await.is_ok(), is_ok, "{hint:?} {failures}");
        assert_eq!(asked.load(Ordering::Relaxed), requests, "{hint:?} {failures}");
        assert_eq!(started.elapsed(), Duration::ZERO, "{hint:?} {failures}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_call_that_is_taken_back_is_never_sent_and_a_sent_one_finishes() {
    let scripted = slow(20 * SECOND);
    let provider = built(&scripted, ServerLimits { concurrency: limit(1), ..Default::default() }, once());
    let token = tokio_util::sync::CancellationToken::new();
    let ask = || {
        let recall = crate::Recall::on(token.clone());
        provider.clone().oneshot(ChatRequest { recall, ..ChatRequest::user("hi") })
    };
    let started = Instant::now();
    let taking_back = async {
        sleep(SECOND).await;
        token.cancel();
    };
    let waiting = async { (ask().await, started.elapsed()) };
    let (sent, (waiting, waited), ()) = tokio::join!(ask(), waiting, taking_back);
    assert_eq!(sent.unwrap().attempts.len(), 1);
    let error = waiting.unwrap_err();
    assert_eq!((error.kind, error.attempts.len(), waited), (ErrorKind::Recalled, 0, SECOND));
    assert_eq!(ask().await.unwrap_err().kind, ErrorKind::Recalled);
    assert_eq!(scripted.calls(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_call_that_is_taken_back_is_not_tried_again() {
    let scripted = Scripted::new(|_| ScriptedReply::Fail(server_error()).after(2 * SECOND));
    let provider = built(&scripted, ServerLimits::default(), StackSettings::default());
    for (cancelled_after, expected) in [
        (SECOND, server_error()),
        // During the pause before the second request.
        (2 * SECOND + Duration::from_millis(1), ErrorKind::Recalled),
    ] {
        let before = scripted.calls();
        let token = tokio_util::sync::CancellationToken::new();
        let recall = crate::Recall::on(token.clone());
        let asking = provider.clone().oneshot(ChatRequest { recall, ..ChatRequest::user("hi") });
        let taking_back = async {
            sleep(cancelled_after).await;
            token.cancel();
        };
        let (outcome, ()) = tokio::join!(asking, taking_back);
        let error = outcome.unwrap_err();
        assert_eq!((error.kind, error.attempts.len()), (expected, 1));
        assert_eq!(scripted.calls(), before + 1);
    }
}
