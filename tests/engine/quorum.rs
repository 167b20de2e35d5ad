//! Enough votes, and how long to wait for the others.

use gateway::verdict::AbstentionKind;
use providers::error::ErrorKind;
use serde_json::json;

use super::{abstention, case, quality, reasons};
use crate::support::gate::Gate;
use crate::support::gateway::Gateway;
use crate::support::judges::Judges;
use crate::support::panel::{NOWHERE, panel, with};

fn unreachable() -> ErrorKind {
    ErrorKind::Connection { message: String::from("refused") }
}

#[tokio::test]
async fn a_lost_judge_degrades_and_a_lost_quorum_leaves_no_value() {
    let gateway = Gateway::of(Judges::saying("4", "4", "4").failing("cid", unreachable())).await;
    let verdict = gateway.judge(case()).await;
    assert_eq!(quality(&verdict).value, Some(json!(4.0)));
    assert_eq!((verdict.quorum.voted, verdict.quorum.asked, verdict.quorum.degraded), (2, 3, true));
    assert!(!verdict.escalated, "{:?}", reasons(&verdict));

    let gateway = Gateway::of(
        Judges::saying("4", "4", "4").failing("bob", unreachable()).failing("cid", unreachable()),
    )
    .await;
    let verdict = gateway.judge(case()).await;
    assert_eq!(
        (quality(&verdict).value.clone(), quality(&verdict).score, quality(&verdict).passed),
        (None, None, None)
    );
    assert!(!verdict.quorum.met);
    assert_eq!(reasons(&verdict), ["no_quorum"]);
    let stored = gateway.close().await;
    assert_eq!(stored.open_triage().await, 1, "a person is asked");
}

#[tokio::test]
async fn a_straggler_abstains_after_the_grace_and_its_late_judgment_is_kept() {
    let gate = Gate::closed();
    let change = json!({"panels": {"default": {"deadline": {"grace": "10ms", "case": "60s"}}}});
    let judges = Judges::saying("4", "4", "-").behind("cid", &gate, "2");
    let gateway = Gateway::scripted(&with(panel(NOWHERE), change), judges).await;
    let verdict = gateway.judge(case()).await;
    assert_eq!(quality(&verdict).value, Some(json!(4.0)));
    assert_eq!(abstention(&verdict, "cid").kind, AbstentionKind::TimedOut);

    gate.open();
    let stored = gateway.close().await;
    let rows = stored.judgments(&verdict.id, "q1").await;
    let late = rows.iter().find(|row| row.judge == "cid").expect("the late judgment is stored");
    assert!(late.outcome.as_ref().is_ok_and(|rating| rating.contains("2.0")), "{:?}", late.outcome);
    assert!(late.cache_key.is_some(), "it was paid for and may be used again");
}

#[tokio::test]
async fn nobody_is_cut_off_before_there_is_a_quorum() {
    let gate = Gate::closed();
    let change = json!({"panels": {"default": {"deadline": {"grace": "0ms", "case": "60s"}, "quorum": 2}}});
    let judges = Judges::saying("4", "-", "-").behind("bob", &gate, "4").behind("cid", &gate, "4");
    let gateway = Gateway::scripted(&with(panel(NOWHERE), change), judges).await;
    let request = gateway.request(case());
    let judging = gateway.ask(request);
    let opening = async {
        while gateway.asked().count() < 3 {
            tokio::task::yield_now().await;
        }
        gate.open();
    };
    let (verdict, ()) = tokio::join!(judging, opening);
    let verdict = verdict.expect("a verdict");
    assert!(verdict.quorum.met && verdict.quorum.voted >= 2, "{:?}", verdict.quorum);
}

#[tokio::test]
async fn the_deadline_of_the_case_ends_the_wait() {
    let gate = Gate::closed();
    let change =
        json!({"panels": {"default": {"deadline": {"case": "50ms", "attempt": "50ms", "grace": "1ms"}}}});
    let judges = Judges::saying("4", "-", "-").behind("bob", &gate, "4").behind("cid", &gate, "4");
    let gateway = Gateway::scripted(&with(panel(NOWHERE), change), judges).await;
    let verdict = gateway.judge(case()).await;
    assert_eq!(reasons(&verdict), ["no_quorum"]);
    for judge in ["bob", "cid"] {
        assert_eq!(abstention(&verdict, judge).kind, AbstentionKind::TimedOut);
    }
    gate.open();
    let stored = gateway.close().await;
    assert_eq!(stored.judgments(&verdict.id, "q1").await.len(), 3);
}
