//! Slots, requests and tokens of a server, and its wish to be left alone.

use super::*;

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
