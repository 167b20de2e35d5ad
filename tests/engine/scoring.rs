//! Token probabilities, from the reply to the verdict and the store.

use serde_json::{Value, json};

use super::{case, pair, quality, reasons};
use crate::support::gateway::Gateway;
use crate::support::judges::{Judges, weighed};
use crate::support::panel::{NOWHERE, panel, with};

fn scoring(mode: &str) -> Value {
    let judge = json!({"scoring": mode});
    with(panel(NOWHERE), json!({"judges": {"ann": judge, "bob": judge, "cid": judge}}))
}

#[tokio::test]
async fn expected_scores_reach_verdict_and_store() {
    let reply = weighed("4", &[("4", 0.6), ("3", 0.3), ("5", 0.08)]);
    let judges = Judges::saying("-", "-", "-")
        .in_order("ann", vec![reply.clone()])
        .in_order("bob", vec![reply.clone()])
        .in_order("cid", vec![reply]);
    let gateway = Gateway::scripted(&scoring("expected"), judges).await;
    let verdict = gateway.judge(case()).await;
    assert!(gateway.asked().of("ann").iter().all(|request| request.top_logprobs.is_some()));
    let vote = &quality(&verdict).votes[0];
    let expected = (4.0 * 0.6 + 3.0 * 0.3 + 5.0 * 0.08) / 0.98;
    assert!((vote.value.as_f64().unwrap() - expected).abs() < 1e-9, "{}", vote.value);
    assert!((vote.label_mass.unwrap() - 0.98).abs() < 1e-9);
    assert_eq!((json!(vote.scoring), vote.fallback), (json!("expected"), false));

    let stored = gateway.close().await;
    let rows = stored.judgments(&verdict.id, "q1").await;
    let rating: Value = serde_json::from_str(rows[0].outcome.as_ref().unwrap()).unwrap();
    assert_eq!(rating["scoring"], "expected");
    assert!((rating["value"]["number"].as_f64().unwrap() - expected).abs() < 1e-9);
}

#[tokio::test]
async fn pairs_are_folded_by_their_probabilities() {
    // Shown first wins a little in both orders: the two probabilities cancel.
    let reply = || weighed("A", &[("A", 0.55), ("B", 0.45)]);
    let judges = Judges::default()
        .in_order("ann", vec![reply()])
        .in_order("bob", vec![reply()])
        .in_order("cid", vec![reply()]);
    let gateway = Gateway::scripted(&scoring("expected"), judges).await;
    let verdict = gateway.judge(pair()).await;
    let criterion = quality(&verdict);
    assert_eq!(criterion.value, Some(json!("tie")));
    assert!((criterion.score.unwrap() - 0.5).abs() < 1e-9);
    assert_eq!(criterion.order_consistent, Some(false));
}

#[tokio::test]
async fn little_mass_on_the_labels_is_told() {
    let reply = || weighed("4", &[("4", 0.5), ("3", 0.3), ("Well", 0.2)]);
    let judges = Judges::default()
        .in_order("ann", vec![reply()])
        .in_order("bob", vec![reply()])
        .in_order("cid", vec![reply()]);
    let gateway = Gateway::scripted(&scoring("expected"), judges).await;
    let verdict = gateway.judge(case()).await;
    assert!(reasons(&verdict).contains(&String::from("low_label_mass")), "{:?}", reasons(&verdict));
}

#[tokio::test]
async fn discrete_judges_are_not_asked_for_probabilities() {
    let gateway = Gateway::scripted(&scoring("discrete"), Judges::saying("4", "4", "4")).await;
    let verdict = gateway.judge(case()).await;
    assert!(gateway.asked().of("ann").iter().all(|request| request.top_logprobs.is_none()));
    assert!(quality(&verdict).votes.iter().all(|vote| !vote.fallback));
}
