//! Pairs: both orders, folded into one vote.

use providers::ScriptedReply;
use serde_json::json;

use super::{pair, quality, reasons};
use crate::support::gateway::Gateway;
use crate::support::judges::{Judges, prompt_of};
use crate::support::panel::{NOWHERE, panel, with};

/// A judge that picks this answer wherever it stands.
fn prefers(text: &'static str) -> impl Fn(&providers::ChatRequest) -> ScriptedReply + Send + Sync {
    move |request| {
        let prompt = prompt_of(request);
        let (_, shown) = prompt.split_once("Answer A:").expect("two answers");
        let (a, b) = shown.split_once("Answer B:").expect("two answers");
        ScriptedReply::text(match (a.contains(text), b.contains(text)) {
            (true, false) => "A",
            (false, true) => "B",
            _ => "tie",
        })
    }
}

#[tokio::test]
async fn both_orders_are_asked_and_folded() {
    let judges = Judges::default()
        .answering("ann", prefers("red"))
        .answering("bob", prefers("red"))
        .answering("cid", prefers("the sky"));
    let gateway = Gateway::of(judges).await;
    let verdict = gateway.judge(pair()).await;
    assert_eq!(gateway.asked().names(), ["ann", "ann", "bob", "bob", "cid", "cid"]);
    let criterion = quality(&verdict);
    assert_eq!((criterion.value.clone(), criterion.order_consistent), (Some(json!("a")), Some(true)));
    let votes: Vec<_> = criterion.votes.iter().map(|vote| (vote.value.clone(), vote.score)).collect();
    assert_eq!(votes, [(json!("a"), Some(1.0)), (json!("a"), Some(1.0)), (json!("b"), Some(0.0))]);
    // One pair is one case, whatever the number of calls.
    assert_eq!((verdict.quorum.voted, verdict.calls.asked), (3, 6));
}

#[tokio::test]
async fn tie_when_orders_disagree() {
    let gateway = Gateway::of(Judges::saying("A", "A", "A")).await;
    let verdict = gateway.judge(pair()).await;
    let criterion = quality(&verdict);
    assert_eq!(criterion.value, Some(json!("tie")));
    assert_eq!((criterion.score, criterion.order_consistent), (Some(0.5), Some(false)));
    assert!(criterion.votes.iter().all(|vote| vote.order_consistent == Some(false)));
    assert!(reasons(&verdict).contains(&String::from("order_inconsistent")), "{:?}", reasons(&verdict));
}

#[tokio::test]
async fn a_panel_without_majority_is_a_tie_and_escalates() {
    let judges = Judges::default()
        .answering("ann", prefers("red"))
        .answering("bob", prefers("the sky"))
        .with("cid", "tie");
    let gateway = Gateway::of(judges).await;
    let verdict = gateway.judge(pair()).await;
    assert_eq!(quality(&verdict).value, Some(json!("tie")));
    assert!(reasons(&verdict).contains(&String::from("no_majority")), "{:?}", reasons(&verdict));
}

#[tokio::test]
async fn one_order_on_request_is_flagged() {
    let change = json!({"panels": {"default": {"orders": "as_given"}}});
    let gateway = Gateway::scripted(&with(panel(NOWHERE), change), Judges::saying("A", "A", "B")).await;
    let verdict = gateway.judge(pair()).await;
    assert_eq!(gateway.asked().count(), 3);
    assert_eq!(quality(&verdict).value, Some(json!("a")));
    assert_eq!(quality(&verdict).order_consistent, None, "consistency was not measured");
    assert!(
        verdict.warnings.iter().any(|warning| warning.starts_with("orders_as_given")),
        "{:?}",
        verdict.warnings
    );
}
