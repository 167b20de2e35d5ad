use futures::FutureExt;
use futures::future::join_all;
use providers::{Scripted, ScriptedReply};

use super::*;
use crate::clock::Clock;
use crate::engine::recorder::RecorderError;
use crate::engine::scripted::{Bench, PASSES};
use crate::store::rows::TextSelection;

const PROJECT: &str = "p";

fn keyed(key: &str, body: &str) -> Keyed {
    let key = IdempotencyKey::try_from(key.as_bytes()).unwrap();
    Keyed { key, body_hash: body.to_owned() }
}

async fn ask(bench: &Bench, key: &str, body: &str) -> Result<KeyedAnswer, EngineError> {
    bench.app.engine().judge_keyed(keyed(key, body), bench.request()).await
}

fn judged(answer: KeyedAnswer) -> CaseVerdict {
    match answer {
        KeyedAnswer::Judged(verdict) => verdict,
        other => panic!("{other:?}"),
    }
}

fn replayed(answer: KeyedAnswer) -> CaseVerdict {
    match answer {
        KeyedAnswer::Replayed(verdict) => verdict,
        other => panic!("{other:?}"),
    }
}

/// What another gateway, which is gone, reserved for this key.
async fn reserve(bench: &Bench, verdict_id: &str) -> IdempotencyRow {
    let now_us = bench.clock.now_us();
    let wish = ReservationRow {
        request: request_key(Endpoint::Verdict, PROJECT, &keyed("key", "body")),
        body_hash: "body".to_owned(),
        verdict_id: verdict_id.to_owned(),
        lease_owner: "gone".to_owned(),
        lease_until_us: after(now_us, LEASE),
        created_us: now_us,
        expires_us: after(now_us, KEPT),
    };
    match bench.app.engine().store.reserve_idempotency(&wish).await.unwrap() {
        Reservation::Ours(row) => row,
        Reservation::Theirs(row) => panic!("{row:?}"),
    }
}

async fn row(bench: &Bench) -> Option<IdempotencyRow> {
    let key = request_key(Endpoint::Verdict, PROJECT, &keyed("key", "body"));
    bench.app.engine().store.idempotency(&key, bench.clock.now_us()).await.unwrap()
}

#[test]
fn keys_are_visible_ascii() {
    let check = |bytes: &[u8], expected: bool| {
        assert_eq!(IdempotencyKey::try_from(bytes).is_ok(), expected, "{bytes:?}");
    };
    check(b"8e03978e-40d5-43dd-bc93-6894a57f9324", true);
    check(b"\"quoted\"!~", true);
    check(&[b'k'; 255], true);
    check(&[b'k'; 256], false);
    check(b"", false);
    check(b"two words", false);
    check(b"tab\t", false);
    check("ñ".as_bytes(), false);
    check(&[0xff], false);
    assert_eq!(BadKey.to_string(), "`Idempotency-Key` is not 1 to 255 visible ASCII characters");
}

#[tokio::test]
async fn duplicates_wait_and_get_the_same_answer() {
    let script = Scripted::always(PASSES);
    let bench = Bench::open(&script).await;
    let answers = join_all((0..6).map(|_| ask(&bench, "key", "body"))).await;
    let (first, others): (Vec<_>, Vec<_>) =
        answers.into_iter().map(Result::unwrap).partition(|answer| matches!(answer, KeyedAnswer::Judged(_)));
    let [KeyedAnswer::Judged(verdict)] = first.as_slice() else { panic!("{first:?}") };
    assert_eq!(others, vec![KeyedAnswer::Replayed(verdict.clone()); 5]);
    assert_eq!(script.calls(), 3);
    let kept = bench.app.engine().kept_answer(PROJECT, &keyed("key", "body")).await.unwrap();
    assert_eq!(kept, Some(KeyedAnswer::Replayed(verdict.clone())));
    assert_eq!(judged(ask(&bench, "other", "body").await.unwrap()).quorum.voted, 3);
    assert_eq!(script.calls(), 6);
}

#[tokio::test]
async fn a_key_of_another_request_is_refused_before_anything_is_asked() {
    let script = Scripted::always(PASSES);
    let bench = Bench::open(&script).await;
    let engine = bench.app.engine();
    assert_eq!(engine.kept_answer(PROJECT, &keyed("key", "body")).await.unwrap(), None);
    ask(&bench, "key", "body").await.unwrap();
    assert_eq!(ask(&bench, "key", "other").await.unwrap(), KeyedAnswer::OtherBody);
    let kept = engine.kept_answer(PROJECT, &keyed("key", "other")).await.unwrap();
    assert_eq!(kept, Some(KeyedAnswer::OtherBody));
    assert_eq!(script.calls(), 3);
}

#[tokio::test]
async fn an_answer_survives_a_restart_and_ends_after_a_day() {
    let script = Scripted::always(PASSES);
    let bench = Bench::open(&script).await;
    let first = judged(ask(&bench, "key", "body").await.unwrap());
    let bench = bench.restart(&script).await;
    bench.pass_time(Duration::from_hours(23));
    assert_eq!(replayed(ask(&bench, "key", "body").await.unwrap()), first);
    assert_eq!(script.calls(), 3);
    bench.pass_time(Duration::from_hours(1));
    let second = judged(ask(&bench, "key", "other body").await.unwrap());
    assert_ne!(second.id, first.id);
    assert_eq!(script.calls(), 6);
}

#[tokio::test]
async fn a_keyed_request_goes_on_when_its_client_hangs_up() {
    let script = Scripted::new(|_| ScriptedReply::text(PASSES).after(Duration::from_millis(20)));
    let bench = Bench::open(&script).await;
    let request = bench.request();
    request.cancel.cancel();
    let mut first = Box::pin(bench.app.engine().judge_keyed(keyed("key", "body"), request));
    while script.calls() < 3 {
        assert!((&mut first).now_or_never().is_none());
        tokio::task::yield_now().await;
    }
    drop(first);
    let verdict = replayed(ask(&bench, "key", "body").await.unwrap());
    assert_eq!((verdict.quorum.voted, script.calls()), (3, 3));
}

#[tokio::test]
async fn a_dead_owner_is_followed_after_its_lease_and_nothing_is_paid_twice() {
    let answers = Scripted::always(PASSES);
    let hangs = Scripted::new(|_| ScriptedReply::Hang);
    let of = |judge: &str| if judge == "ollama/phi4" { hangs.clone() } else { answers.clone() };
    let folder = Arc::new(tempfile::tempdir().unwrap());
    let first = Bench::start(folder, Clock::manual(1_700_000_000_000_000), of).await;
    let mut waiting = Box::pin(ask(&first, "key", "body"));
    let id = loop {
        assert!((&mut waiting).now_or_never().is_none());
        tokio::task::yield_now().await;
        let Some(row) = row(&first).await else { continue };
        let id = row.reservation.verdict_id;
        if first.app.engine().store.judgments_of_case(PROJECT, &id, "q1").await.unwrap().len() == 2 {
            break id;
        }
    };
    drop(waiting);

    let script = Scripted::always(PASSES);
    let second =
        Bench::start(Arc::clone(&first.folder), Clock::manual(first.clock.now_us()), |_| script.clone())
            .await;
    let early = second.app.engine().attempt(&keyed("key", "body"), second.request()).await.unwrap();
    assert!(matches!(early, Attempt::Taken));
    second.pass_time(LEASE);
    let verdict = judged(ask(&second, "key", "body").await.unwrap());
    assert_eq!((verdict.id, verdict.calls.reused, verdict.quorum.voted), (id, 2, 3));
    assert_eq!((answers.calls(), script.calls()), (2, 1));
}

#[tokio::test]
async fn an_owner_that_died_after_its_verdict_is_answered_for() {
    let script = Scripted::always(PASSES);
    let bench = Bench::open(&script).await;
    let verdict = bench.app.engine().judge(bench.request()).await.unwrap();
    reserve(&bench, &verdict.id).await;
    bench.pass_time(LEASE);
    let first = replayed(ask(&bench, "key", "body").await.unwrap());
    assert_eq!((&first.id, &first.criteria), (&verdict.id, &verdict.criteria));
    assert_eq!(replayed(ask(&bench, "key", "body").await.unwrap()), first);
    assert_eq!(script.calls(), 3);
}

#[tokio::test]
async fn an_owner_that_lost_its_lease_keeps_nothing() {
    let bench = Bench::open(&Scripted::always(PASSES)).await;
    let lost = reserve(&bench, "v-1").await;
    bench.pass_time(LEASE);
    reserve(&bench, "v-2").await;
    let answer = bench.app.engine().own(&lost, false, bench.request()).await.unwrap();
    assert_eq!(replayed(answer).id, "v-1");
    let row = row(&bench).await.unwrap();
    assert_eq!((row.end, row.fencing_token), (None, 2));
}

#[tokio::test]
async fn a_request_that_fails_lets_go_of_its_key() {
    let bench = Bench::open(&Scripted::always(PASSES)).await;
    let engine = bench.app.engine();
    engine.recorder.close().await;
    let error = ask(&bench, "key", "body").await.unwrap_err();
    assert!(matches!(error, EngineError::Recorder(RecorderError::Stopped)), "{error:?}");
    let row = row(&bench).await.unwrap();
    assert_eq!((row.reservation.lease_until_us, row.end), (0, None));
    engine.tasks.close();
    let error = ask(&bench, "key", "body").await.unwrap_err();
    assert!(matches!(error, EngineError::ShuttingDown), "{error:?}");
}

#[tokio::test]
async fn an_answer_without_its_verdict_is_an_error() {
    let bench = Bench::open(&Scripted::always(PASSES)).await;
    let row = reserve(&bench, "v-lost").await;
    let end = IdempotencyEnd { http_status: 200, response_hash: None };
    let engine = bench.app.engine();
    assert!(engine.store.complete_idempotency(&row.reservation.request, 1, &end).await.unwrap());
    let error = engine.kept_answer(PROJECT, &keyed("key", "body")).await.unwrap_err();
    assert!(matches!(&error, EngineError::VerdictGone { id } if id == "v-lost"), "{error:?}");
}

#[tokio::test]
async fn erased_texts_are_in_no_answer_and_the_numbers_stay() {
    let bench = Bench::open(&Scripted::always(PASSES)).await;
    let engine = bench.app.engine();
    let before = judged(ask(&bench, "key", "body").await.unwrap());
    let rationales = |verdict: &CaseVerdict| -> Vec<Option<String>> {
        verdict.criteria["safety"].votes.iter().map(|vote| vote.rationale.clone()).collect()
    };
    assert_eq!(rationales(&before), vec![Some("Nothing harmful.".to_owned()); 3]);
    let stored = engine.verdict(PROJECT, &before.id).await.unwrap().unwrap();
    assert_eq!(stored.criteria, before.criteria);

    let erased = engine.store.erase_texts(PROJECT, &TextSelection::Case("q1".to_owned()), 1).await.unwrap();
    assert!(erased > 0);
    let after = engine.verdict(PROJECT, &before.id).await.unwrap().unwrap();
    assert_eq!(rationales(&after), vec![None; 3]);
    let mut numbers = stored;
    for vote in &mut numbers.criteria.get_mut("safety").unwrap().votes {
        vote.rationale = None;
    }
    assert_eq!(after, numbers);
    assert_eq!(replayed(ask(&bench, "key", "body").await.unwrap()), numbers);
    let replies = engine.judgments(PROJECT, &before.id, "q1").await.unwrap();
    assert_eq!(replies.len(), 3);
    assert!(replies.iter().all(|(row, reply)| row.outcome.is_ok() && reply.is_none()));
}

#[tokio::test]
async fn expired_keys_are_swept() {
    let bench = Bench::open(&Scripted::always(PASSES)).await;
    ask(&bench, "key", "body").await.unwrap();
    let created_us = bench.clock.now_us();
    bench.pass_time(KEPT);
    ask(&bench, "another", "body").await.unwrap();
    let key = request_key(Endpoint::Verdict, PROJECT, &keyed("key", "body"));
    assert_eq!(bench.app.engine().store.idempotency(&key, created_us).await.unwrap(), None);
}
