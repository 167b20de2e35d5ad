//! Judges do not judge answers of their own model or family.

use gateway::engine::kinship_gap;
use gateway::verdict::AbstentionKind;
use serde_json::{Value, json};

use super::{abstention, quality};
use crate::support::gateway::Gateway;
use crate::support::judges::Judges;
use crate::support::panel::{NOWHERE, panel, with};

fn file() -> Value {
    with(panel(NOWHERE), json!({"models": {"alder-*": {"family": "alder"}, "birch-*": {"family": "birch"}}}))
}

fn by(model: &str) -> Value {
    json!({"id": "k1", "output": "x", "model": model})
}

#[tokio::test]
async fn a_judge_of_the_candidates_family_is_left_out() {
    let gateway = Gateway::scripted(&file(), Judges::saying("1", "4", "4")).await;
    let verdict = gateway.judge(by("alder-7")).await;
    assert_eq!(abstention(&verdict, "ann").kind, AbstentionKind::Excluded);
    assert_eq!(gateway.asked().names(), ["bob", "cid"]);
    assert_eq!(quality(&verdict).value, Some(json!(4.0)));
    assert!(!verdict.warnings.iter().any(|warning| warning.contains("kinship_unknown")));
}

#[tokio::test]
async fn either_candidate_of_a_pair_counts() {
    let gateway = Gateway::scripted(&file(), Judges::saying("A", "A", "A")).await;
    let pair = json!({"a": {"output": "x", "model": "alder-7"}, "b": {"output": "y", "model": "birch-one"}});
    let verdict = gateway.judge(pair).await;
    assert_eq!(abstention(&verdict, "ann").kind, AbstentionKind::Excluded);
    assert_eq!(abstention(&verdict, "bob").kind, AbstentionKind::Excluded);
    assert_eq!(gateway.asked().names(), ["cid", "cid"]);
}

#[tokio::test]
async fn relatives_vote_when_that_is_allowed_and_the_verdict_says_so() {
    let gateway = Gateway::scripted(&file(), Judges::saying("1", "4", "4")).await;
    let mut request = gateway.request(by("alder-7"));
    request.allow_kin = true;
    let verdict = gateway.ask(request).await.expect("a verdict");
    assert_eq!(quality(&verdict).votes.len(), 3);
    assert!(verdict.warnings.iter().any(|warning| warning.contains("--allow-kin")), "{:?}", verdict.warnings);
}

#[tokio::test]
async fn an_unknown_author_is_a_warning() {
    let gateway = Gateway::scripted(&file(), Judges::saying("4", "4", "4")).await;
    let verdict = gateway.judge(by("nobody-knows")).await;
    assert_eq!(verdict.warnings.iter().filter(|warning| warning.contains("kinship_unknown")).count(), 1);
    assert_eq!(quality(&verdict).votes.len(), 3);
}

#[tokio::test]
async fn a_gap_is_known_before_the_first_call() {
    let change = json!({"judges": {"bob": {"family": "alder"}}});
    let gateway = Gateway::scripted(&with(file(), change), Judges::saying("4", "4", "4")).await;
    let request = gateway.request(by("alder-7"));
    let gap =
        kinship_gap(&request.panel, &request.case, &gateway.app.in_force().config.models).expect("a gap");
    assert_eq!((gap.model.as_str(), gap.judges), ("alder-7", vec![String::from("ann"), String::from("bob")]));
    assert!(gateway.app.in_force().check_ready(&request.panel, &request.case, false).is_err());
    assert!(gateway.app.in_force().check_ready(&request.panel, &request.case, true).is_ok());
}
