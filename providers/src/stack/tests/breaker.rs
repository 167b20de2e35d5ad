//! When a server or a key is not asked, and when it is again.

use super::*;

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
