//! What is paid for is kept: the judgment cache, and callers that go away.

use std::sync::Arc;

use gateway::engine::EngineError;
use gateway::store::rows::JudgmentSource;
use providers::ScriptedReply;
use providers::error::ErrorKind;
use serde_json::json;

use super::{case, quality};
use crate::support::gate::Gate;
use crate::support::gateway::Gateway;
use crate::support::judges::Judges;
use crate::support::panel::{NOWHERE, panel, with, with_replacement};
use crate::support::upstream::{Reply, Upstream};

#[tokio::test]
async fn the_same_case_is_not_paid_for_twice() {
    let gateway = Gateway::of(Judges::saying("2", "4", "5")).await;
    let first = gateway.judge(case()).await;
    let again = gateway.judge(with(case(), json!({"id": "another-name"}))).await;
    assert_eq!(gateway.asked().count(), 3);
    assert_eq!(quality(&again).value, quality(&first).value);
    assert_eq!((again.calls.asked, again.calls.reused), (0, 3));
    assert_eq!(again.cost_usd, Some(0.0));
    let stored = gateway.close().await;
    let rows = stored.judgments(&again.id, "another-name").await;
    assert!(
        rows.iter().all(|row| row.source == JudgmentSource::Cache && row.origin_id.is_some()),
        "{rows:?}"
    );
}

#[tokio::test]
async fn a_judgment_is_found_again_after_a_restart() {
    let gateway = Gateway::of(Judges::saying("2", "4", "5")).await;
    gateway.judge(case()).await;
    let folder = gateway.shut_down().await;
    let gateway = Gateway::in_folder(folder, Judges::saying("1", "1", "1")).await;
    let verdict = gateway.judge(case()).await;
    assert_eq!((gateway.asked().count(), quality(&verdict).value.clone()), (0, Some(json!(4.0))));
}

#[tokio::test]
async fn errors_are_asked_again() {
    let down = || ScriptedReply::Fail(ErrorKind::Server { status: 500, message: String::from("down") });
    let judges = Judges::saying("4", "4", "-").in_order("cid", vec![down(), ScriptedReply::text("2")]);
    let gateway = Gateway::of(judges).await;
    gateway.judge(case()).await;
    let verdict = gateway.judge(case()).await;
    assert_eq!(gateway.asked().names(), ["ann", "bob", "cid", "cid"]);
    assert_eq!(quality(&verdict).votes.len(), 3);
}

#[tokio::test]
async fn without_the_cache_everybody_is_asked() {
    let gateway = Gateway::of(Judges::saying("4", "4", "4")).await;
    gateway.judge(case()).await;
    let request = gateway.request(case());
    gateway.ask(gateway::engine::JudgeRequest { use_cache: false, ..request }).await.expect("a verdict");
    assert_eq!(gateway.asked().count(), 6);
}

#[tokio::test]
async fn anything_that_may_change_an_answer_is_another_question() {
    let gateway = Gateway::of(Judges::saying("4", "4", "4")).await;
    gateway.judge(case()).await;
    for (changed, what) in [
        (json!({"output": "Rome."}), "the answer"),
        (json!({"input": "Which city?"}), "the question"),
        (json!({"context": ["France is a country."]}), "the context"),
        (json!({"reference": "Paris"}), "the reference"),
    ] {
        let before = gateway.asked().count();
        gateway.judge(with(case(), changed)).await;
        assert_eq!(gateway.asked().count(), before + 3, "{what} changed");
    }
    let folder = gateway.shut_down().await;
    let rubric = json!({"rubrics": {"quality": {"criteria": [
        {"name": "quality", "type": "ordinal", "scale": [1, 2, 3, 4, 5], "pass": 4, "instructions": "Is it polite?"},
    ]}}});
    folder.write("panel.yaml", &with(panel(NOWHERE), rubric).to_string());
    let gateway = Gateway::in_folder(folder, Judges::saying("4", "4", "4")).await;
    gateway.judge(case()).await;
    assert_eq!(gateway.asked().count(), 3, "the rubric changed");
}

#[tokio::test]
async fn a_caller_that_only_waits_no_longer_loses_nothing() {
    let gate = Gate::closed();
    let judges =
        Judges::default().behind("ann", &gate, "4").behind("bob", &gate, "4").behind("cid", &gate, "4");
    let gateway = Gateway::of(judges).await;
    let judging = Box::pin(gateway.ask(gateway.request(case())));
    let asked = async {
        while gateway.asked().count() < 3 {
            tokio::task::yield_now().await;
        }
    };
    // The future is dropped while all three calls are out.
    futures::future::select(judging, Box::pin(asked)).await;
    gate.open();
    let folder = gateway.shut_down().await;
    let gateway = Gateway::in_folder(folder, Judges::default()).await;
    let verdict = gateway.judge(case()).await;
    assert_eq!((gateway.asked().count(), verdict.calls.reused), (0, 3));
}

#[tokio::test]
async fn a_hang_up_lets_sent_calls_finish_and_drops_repairs_and_replacements() {
    let gate = Gate::closed();
    let judges = Judges::default()
        .behind("ann", &gate, "4")
        .behind("bob", &gate, "not a verdict")
        .behind("cid", &gate, "4")
        .with("dan", "4");
    let gateway = Gateway::scripted(&with_replacement(panel(NOWHERE)), judges).await;
    let request = gateway.request(case());
    let (cancel, asked) = (request.cancel.clone(), gateway.asked().clone());
    let hanging_up = async {
        while asked.count() < 3 {
            tokio::task::yield_now().await;
        }
        cancel.cancel();
    };
    let (outcome, ()) = tokio::join!(gateway.ask(request), hanging_up);
    assert!(matches!(outcome, Err(EngineError::Cancelled)), "{outcome:?}");
    gate.open();
    let folder = gateway.shut_down().await;
    assert_eq!(asked.names(), ["ann", "bob", "cid"], "no repair, no replacement");

    let gateway = Gateway::in_folder(folder, Judges::default().with("bob", "2").with("dan", "1")).await;
    let verdict = gateway.judge(case()).await;
    assert_eq!(gateway.asked().names(), ["bob"], "the other two were recorded");
    assert_eq!(quality(&verdict).votes.len(), 3);
}

#[tokio::test]
async fn a_hang_up_drops_calls_that_wait_for_a_place() {
    let gate = Gate::closed();
    let held = gate.clone();
    let upstream = Arc::new(Upstream::start(move |_| Reply::text("4").behind(&held)));
    // All three on one server that takes one call at a time.
    let narrow = json!({
        "servers": {"s-ann": {"limits": {"concurrency": 1}}},
        "judges": {"bob": {"server": "s-ann"}, "cid": {"server": "s-ann"}},
    });
    let gateway = Gateway::connected(&with(panel(upstream.base_url()), narrow)).await;
    let request = gateway.request(case());
    let cancel = request.cancel.clone();
    let arrival = Arc::clone(&upstream);
    let hanging_up = async move {
        tokio::task::spawn_blocking(move || arrival.wait_for(1)).await.expect("a request");
        cancel.cancel();
    };
    let (outcome, ()) = tokio::join!(gateway.ask(request), hanging_up);
    assert!(matches!(outcome, Err(EngineError::Cancelled)), "{outcome:?}");
    gate.open();
    gateway.shut_down().await;
    assert_eq!(upstream.count(), 1, "what was not sent is dropped");
}
