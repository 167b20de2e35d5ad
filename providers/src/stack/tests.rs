//! The stack on paused time: what each layer promises, seen from outside.

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
async fn full_slots_time_out_as_own_limit() {
    let scripted = slow(20 * SECOND);
    let provider = built(&scripted, ServerLimits { concurrency: limit(1), ..Default::default() }, once());
    let started = Instant::now();
    let (first, second) = tokio::join!(ask(&provider), ask_within(&provider, 5 * SECOND));
    assert_eq!(first.unwrap().attempts.len(), 1);
    let error = second.unwrap_err();
    assert!(matches!(error.kind, ErrorKind::LimitExceeded { .. }), "{error:?}");
    assert!(error.attempts.is_empty());
    assert_eq!(started.elapsed(), 20 * SECOND);
    assert_eq!(scripted.calls(), 1);
}

#[tokio::test(start_paused = true)]
async fn attempt_timeout_excludes_the_wait_for_a_slot() {
    let scripted = slow(20 * SECOND);
    let provider = built(&scripted, ServerLimits { concurrency: limit(1), ..Default::default() }, once());
    let answers = join_all((0..3).map(|_| ask(&provider))).await;
    assert!(answers.iter().all(Result::is_ok), "each took 20 of 30 s, queued for up to 40");
}

#[tokio::test(start_paused = true)]
async fn rate_waiter_holds_no_slot() {
    let server = ServerHandle::new(ServerLimits {
        concurrency: limit(1),
        requests_per_minute: limit(1),
        ..Default::default()
    });
    let scripted = slow(SECOND);
    let provider = build(scripted.clone().into_vendor(), "m", &server, once());
    ask(&provider).await.unwrap();
    let waiting = ask(&provider);
    let watching = async {
        sleep(30 * SECOND).await;
        assert_eq!(server.free_slots(), Some(1));
        assert_eq!(scripted.calls(), 1);
    };
    let (answer, ()) = tokio::join!(waiting, watching);
    assert!(answer.is_ok());
}

#[tokio::test(start_paused = true)]
async fn requests_per_minute_are_kept() {
    let scripted = Scripted::always("4");
    let limits = ServerLimits { requests_per_minute: limit(60), ..Default::default() };
    let provider = built(&scripted, limits, once());
    let started = Instant::now();
    let answers = join_all((0..70).map(|_| ask(&provider))).await;
    assert!(answers.iter().all(Result::is_ok));
    let took = started.elapsed();
    assert!((60 * SECOND..72 * SECOND).contains(&took), "sixty in the first minute: {took:?}");
}

#[tokio::test(start_paused = true)]
async fn tokens_are_settled_by_reported_usage() {
    let used = Usage { prompt_tokens: 100, completion_tokens: 100, ..Usage::default() };
    let scripted = Scripted::new(move |_| {
        ScriptedReply::Respond(ChatResponse { usage: Some(used), ..ChatResponse::of_text("4") })
    });
    let limits = ServerLimits { tokens_per_minute: limit(1400), ..Default::default() };
    let provider = built(&scripted, limits, once());
    let started = Instant::now();
    for _ in 0..5 {
        ask(&provider).await.unwrap();
    }
    assert!(started.elapsed() < 50 * SECOND, "517 tokens estimated, 200 used: five fit into a minute");
    for _ in 0..5 {
        ask(&provider).await.unwrap();
    }
    assert!(started.elapsed() > 60 * SECOND, "2,000 tokens do not");
}

#[tokio::test(start_paused = true)]
async fn rate_wait_beyond_the_deadline_fails_at_once() {
    let scripted = Scripted::always("4");
    let limits = ServerLimits { requests_per_minute: limit(1), ..Default::default() };
    let provider = built(&scripted, limits, once());
    ask(&provider).await.unwrap();
    let started = Instant::now();
    let error = ask_within(&provider, 10 * SECOND).await.unwrap_err();
    assert!(matches!(error.kind, ErrorKind::LimitExceeded { .. }), "{error:?}");
    assert!((60..=62).contains(&error.retry_after().unwrap().as_secs()));
    assert_eq!(started.elapsed(), Duration::ZERO);
}

#[tokio::test(start_paused = true)]
async fn limits_are_shared_by_two_judges_and_survive_a_rebuild() {
    let server = ServerHandle::new(ServerLimits {
        concurrency: limit(1),
        requests_per_minute: limit(12),
        ..Default::default()
    });
    let scripted = slow(SECOND);
    let judge = |model: &str| build(scripted.clone().into_vendor(), model, &server, once());
    let started = Instant::now();
    let (one, other) = (judge("a"), judge("b"));
    let (first, second) = tokio::join!(ask(&one), ask(&other));
    assert!(first.is_ok() && second.is_ok());
    assert_eq!(started.elapsed(), 2 * SECOND, "one slot between them");
    let error = ask_within(&judge("b"), 2 * SECOND).await.unwrap_err();
    assert!(
        matches!(error.kind, ErrorKind::LimitExceeded { .. }),
        "two at once, then one every five seconds"
    );
    assert!(ask(&judge("a")).await.is_ok());
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

fn breaking() -> ServerLimits {
    let breaker = BreakerSettings {
        failures: 3,
        pause: 10 * SECOND,
        longest_pause: 15 * SECOND,
        ..BreakerSettings::default()
    };
    ServerLimits { breaker, ..Default::default() }
}

#[tokio::test(start_paused = true)]
async fn breaker_opens_half_opens_and_closes() {
    let server = ServerHandle::new(breaking());
    let scripted = Scripted::in_order(
        std::iter::repeat_n(ScriptedReply::Fail(server_error()), 4)
            .chain([ScriptedReply::text("4").after(SECOND)])
            .collect::<Vec<_>>(),
    );
    let provider = build(scripted.clone().into_vendor(), "m", &server, once());
    let breaker = server.breaker("m");
    for _ in 0..3 {
        assert_eq!(breaker.state(), BreakerState::Closed);
        assert_eq!(ask(&provider).await.unwrap_err().kind, server_error());
    }
    assert_eq!(breaker.state(), BreakerState::Open);
    let error = ask(&provider).await.unwrap_err();
    assert_eq!((error.kind, error.retry_after), (ErrorKind::BreakerOpen, Some(10 * SECOND)));
    assert_eq!(scripted.calls(), 3);
    assert_eq!(server.breaker("other").state(), BreakerState::Closed);

    advance(10 * SECOND).await;
    assert_eq!(ask(&provider).await.unwrap_err().kind, server_error(), "the probe");
    assert_eq!(breaker.state(), BreakerState::Open);
    advance(14 * SECOND).await;
    assert_eq!(ask(&provider).await.unwrap_err().kind, ErrorKind::BreakerOpen, "the pause has grown to 15 s");
    advance(SECOND).await;
    let (probe, other) = tokio::join!(ask(&provider), ask(&provider));
    assert_eq!(probe.unwrap().text, "4");
    assert_eq!(other.unwrap_err().kind, ErrorKind::BreakerOpen, "one probe at a time");
    assert_eq!(breaker.state(), BreakerState::Closed);
}

#[tokio::test(start_paused = true)]
async fn open_breaker_ends_the_retries() {
    let scripted = Scripted::new(|_| ScriptedReply::Fail(server_error()));
    let settings = StackSettings {
        retry: RetrySettings { attempts: 10, ..RetrySettings::default() },
        ..StackSettings::default()
    };
    let provider = built(&scripted, breaking(), settings);
    let error = ask(&provider).await.unwrap_err();
    assert_eq!(error.kind, ErrorKind::BreakerOpen);
    assert_eq!(error.attempts.len(), 3);
}

#[tokio::test(start_paused = true)]
async fn refusals_do_not_open_the_breaker() {
    let server = ServerHandle::new(breaking());
    let scripted = Scripted::in_order(
        [server_error(), server_error(), ErrorKind::BadRequest { status: 400, message: "x".to_owned() }]
            .map(ScriptedReply::Fail)
            .into_iter()
            .cycle()
            .take(9)
            .collect::<Vec<_>>(),
    );
    let provider = build(scripted.into_vendor(), "m", &server, once());
    for _ in 0..9 {
        assert!(ask(&provider).await.is_err());
    }
    assert_eq!(server.breaker("m").state(), BreakerState::Closed);
}

#[tokio::test(start_paused = true)]
async fn lost_probe_gives_its_place_back() {
    let server = ServerHandle::new(breaking());
    let mut replies = vec![ScriptedReply::Fail(server_error()); 3];
    replies.extend([ScriptedReply::Hang, ScriptedReply::text("4")]);
    let scripted = Scripted::in_order(replies);
    let provider = build(scripted.into_vendor(), "m", &server, once());
    for _ in 0..3 {
        assert!(ask(&provider).await.is_err());
    }
    advance(10 * SECOND).await;
    let error = ask_within(&provider, SECOND).await.unwrap_err();
    assert!(matches!(error.kind, ErrorKind::Timeout { .. }), "the probe is cut by its deadline");
    assert_eq!(ask(&provider).await.unwrap().text, "4", "and the next call may probe");
}

#[tokio::test(start_paused = true)]
async fn breaker_ignores_our_own_limits() {
    let mut limits = breaking();
    limits.requests_per_minute = limit(1);
    let server = ServerHandle::new(limits);
    let provider = build(Scripted::always("4").into_vendor(), "m", &server, once());
    ask(&provider).await.unwrap();
    for _ in 0..5 {
        assert!(ask_within(&provider, SECOND).await.is_err());
    }
    assert_eq!(server.breaker("m").state(), BreakerState::Closed);
}

#[tokio::test(start_paused = true)]
async fn changed_limits_start_anew_and_breakers_stay() {
    let server = ServerHandle::new(breaking());
    let provider =
        build(Scripted::new(|_| ScriptedReply::Fail(server_error())).into_vendor(), "m", &server, once());
    while ask(&provider).await.is_err_and(|error| !matches!(error.kind, ErrorKind::BreakerOpen)) {}
    let changed = server.with_limits(ServerLimits { requests_per_minute: limit(7), ..breaking() });
    assert_eq!(changed.breaker("m").state(), BreakerState::Open);
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

/// A vendor that writes down when each request reached it.
fn dated(
    reply: impl Fn(usize) -> ScriptedReply + Send + Sync + 'static,
) -> (Scripted, Arc<Mutex<Vec<Instant>>>) {
    let arrivals = Arc::new(Mutex::new(Vec::new()));
    let kept = Arc::clone(&arrivals);
    let scripted = Scripted::new(move |_| {
        let mut arrivals = kept.lock().unwrap();
        arrivals.push(Instant::now());
        reply(arrivals.len())
    });
    (scripted, arrivals)
}

/// The most requests that any sixty seconds held.
fn most_in_a_minute(arrivals: &Mutex<Vec<Instant>>) -> usize {
    let arrivals = arrivals.lock().unwrap();
    let within = |from: &Instant| {
        arrivals.iter().filter(|at| (*from..=*from + Duration::from_mins(1)).contains(at)).count()
    };
    arrivals.iter().map(within).max().unwrap_or(0)
}

#[tokio::test(start_paused = true)]
async fn any_minute_holds_at_most_the_limit() {
    let (scripted, arrivals) = dated(|_| ScriptedReply::text("4"));
    let limits = ServerLimits { requests_per_minute: limit(600), ..Default::default() };
    let settings = StackSettings { deadline: Duration::from_hours(1), ..once() };
    let provider = built(&scripted, limits, settings);
    let started = Instant::now();
    assert!(join_all((0..1800).map(|_| ask(&provider))).await.iter().all(Result::is_ok));
    assert!(most_in_a_minute(&arrivals) <= 600, "{}", most_in_a_minute(&arrivals));
    assert!(started.elapsed() < 185 * SECOND, "three minutes' worth took {:?}", started.elapsed());
}

#[tokio::test(start_paused = true)]
async fn a_server_that_was_stuck_is_not_met_by_all_who_queued() {
    let (scripted, arrivals) =
        dated(|number| ScriptedReply::text("4").after(if number <= 4 { 50 * SECOND } else { SECOND / 100 }));
    let limits = ServerLimits { requests_per_minute: limit(60), concurrency: limit(4), ..Default::default() };
    let settings = StackSettings {
        deadline: Duration::from_hours(1),
        attempt_timeout: Duration::from_mins(2),
        ..once()
    };
    let provider = built(&scripted, limits, settings);
    assert!(join_all((0..150).map(|_| ask(&provider))).await.iter().all(Result::is_ok));
    assert!(most_in_a_minute(&arrivals) <= 60, "{}", most_in_a_minute(&arrivals));
}

#[tokio::test(start_paused = true)]
async fn tokens_of_an_unknown_outcome_stay_charged_and_those_of_a_refusal_do_not() {
    for (kind, is_charged) in [
        (ErrorKind::Timeout { after_ms: 1 }, true),
        (ErrorKind::Connection { message: "cut".to_owned() }, true),
        (server_error(), true),
        (rate_limited(), false),
        (ErrorKind::BadRequest { status: 400, message: "x".to_owned() }, false),
    ] {
        let scripted = Scripted::in_order([ScriptedReply::Fail(kind.clone()), ScriptedReply::text("4")]);
        let limits = ServerLimits { tokens_per_minute: limit(600), ..Default::default() };
        let provider = built(&scripted, limits, once());
        let started = Instant::now();
        assert!(ask(&provider).await.is_err());
        assert!(ask(&provider).await.is_ok());
        assert_eq!(started.elapsed() > 50 * SECOND, is_charged, "{kind:?}: {:?}", started.elapsed());
    }
}

#[tokio::test(start_paused = true)]
async fn one_wish_stops_the_whole_line() {
    let (scripted, arrivals) = dated(|number| match number {
        1 => ScriptedReply::FailUntil(rate_limited(), 20 * SECOND),
        _ => ScriptedReply::text("4"),
    });
    let server = ServerHandle::new(ServerLimits::default());
    let judge = |model: &str| build(scripted.clone().into_vendor(), model, &server, StackSettings::default());
    let (first, second) = (judge("a"), judge("b"));
    let started = Instant::now();
    let others = async {
        sleep(SECOND).await;
        join_all((0..20).map(|_| ask(&second))).await
    };
    let (answer, others) = tokio::join!(ask(&first), others);
    assert!(answer.is_ok() && others.iter().all(Result::is_ok));
    let mut later = arrivals.lock().unwrap()[1..].to_vec();
    assert!(later.iter().all(|at| *at >= started + 20 * SECOND), "nobody is earlier than asked");
    assert!(later.iter().all(|at| *at <= started + 23 * SECOND), "nobody waits much longer");
    later.dedup();
    assert!(later.len() >= 18, "21 calls came back at {} times", later.len());
}

#[tokio::test(start_paused = true)]
async fn after_a_wish_calls_come_at_the_pace_of_the_limit() {
    let (scripted, arrivals) = dated(|number| match number {
        1 => ScriptedReply::FailUntil(rate_limited(), 20 * SECOND),
        _ => ScriptedReply::text("4"),
    });
    let limits = ServerLimits { requests_per_minute: limit(60), ..Default::default() };
    let provider = built(&scripted, limits, StackSettings::default());
    assert!(ask(&provider).await.is_ok());
    assert!(join_all((0..10).map(|_| ask(&provider))).await.iter().all(Result::is_ok));
    let arrivals = arrivals.lock().unwrap();
    let gaps: Vec<Duration> = arrivals[2..].windows(2).map(|pair| pair[1] - pair[0]).collect();
    assert!(gaps.iter().all(|gap| *gap >= Duration::from_millis(999)), "{gaps:?}");
}

#[tokio::test(start_paused = true)]
async fn a_wish_beyond_the_deadline_fails_at_once_and_is_forgotten_after_two_minutes() {
    let (scripted, arrivals) = dated(|number| match number {
        1 => ScriptedReply::FailUntil(rate_limited(), Duration::from_hours(24)),
        _ => ScriptedReply::text("4"),
    });
    let provider = built(&scripted, ServerLimits::default(), StackSettings::default());
    assert_eq!(ask(&provider).await.unwrap_err().kind, rate_limited());
    let started = Instant::now();
    let error = ask(&provider).await.unwrap_err();
    assert!(matches!(error.kind, ErrorKind::LimitExceeded { .. }), "{error:?}");
    assert_eq!(error.retry_after, Some(Duration::from_mins(2)));
    assert_eq!((started.elapsed(), arrivals.lock().unwrap().len()), (Duration::ZERO, 1));
    advance(Duration::from_mins(2)).await;
    assert!(ask(&provider).await.is_ok());
}

fn refused_key(status: u16) -> ErrorKind {
    ErrorKind::Unauthorized { status, message: "no credit".to_owned() }
}

#[tokio::test(start_paused = true)]
async fn a_refused_key_is_not_tried_again_until_its_pause_is_over() {
    for status in [401, 402, 403, 429] {
        let server = ServerHandle::new(ServerLimits::default());
        let mut replies = vec![ScriptedReply::Fail(refused_key(status)); 2];
        replies.push(ScriptedReply::text("4"));
        let scripted = Scripted::in_order(replies);
        let provider = build(scripted.clone().into_vendor(), "m", &server, StackSettings::default());
        assert_eq!(ask(&provider).await.unwrap_err().kind, refused_key(status));
        for _ in 0..10 {
            let error = ask(&provider).await.unwrap_err();
            let ErrorKind::Unauthorized { status: told, message } = &error.kind else { panic!("{error:?}") };
            assert_eq!((*told, message.as_str()), (status, "not asked again: no credit"));
            assert!(error.attempts.is_empty());
        }
        assert_eq!(scripted.calls(), 1);
        advance(Duration::from_mins(1)).await;
        assert_eq!(ask(&provider).await.unwrap_err().attempts.len(), 1, "the probe");
        advance(119 * SECOND).await;
        assert!(ask(&provider).await.unwrap_err().attempts.is_empty(), "the pause has doubled");
        advance(SECOND).await;
        assert!(ask(&provider).await.is_ok());
        assert_eq!(server.breaker("m").state(), BreakerState::Closed);
    }
}

#[tokio::test(start_paused = true)]
async fn a_new_key_is_tried_at_once() {
    let server = ServerHandle::new(breaking());
    let scripted = Scripted::in_order([ScriptedReply::Fail(refused_key(401)), ScriptedReply::text("4")]);
    let provider = build(scripted.into_vendor(), "m", &server, once());
    assert!(ask(&provider).await.is_err());
    server.forget_refusals();
    assert!(ask(&provider).await.is_ok());
}

#[tokio::test(start_paused = true)]
async fn calls_that_queued_are_turned_back_when_the_breaker_opens() {
    for (kind, most) in [(refused_key(402), 1), (server_error(), 3)] {
        let failure = kind.clone();
        let scripted = Scripted::new(move |_| ScriptedReply::Fail(failure.clone()).after(SECOND));
        let provider = built(&scripted, ServerLimits { concurrency: limit(1), ..breaking() }, once());
        let answers = join_all((0..20).map(|_| ask(&provider))).await;
        assert_eq!(scripted.calls(), most, "{kind:?}");
        let unsent = answers.iter().filter(|answer| answer.as_ref().unwrap_err().attempts.is_empty());
        assert_eq!(unsent.count(), 20 - most);
    }
}
