//! Confidential cases never reach an outside judge: not the question, not its repair, not as a replacement.

use gateway::verdict::AbstentionKind;
use providers::error::ErrorKind;
use serde_json::{Value, json};

use super::{abstention, case, quality, reasons};
use crate::support::gateway::Gateway;
use crate::support::judges::Judges;
use crate::support::panel::{NOWHERE, panel, with, with_replacement};

/// `ann` and `dan` are outside.
fn file() -> Value {
    let outside = json!({"perimeter": "outside"});
    with(with_replacement(panel(NOWHERE)), json!({"servers": {"s-ann": outside, "s-dan": outside}}))
}

fn confidential() -> Value {
    with(case(), json!({"sensitivity": "confidential"}))
}

#[tokio::test]
async fn a_confidential_case_stays_inside() {
    // `cid` fails, so that a replacement is wanted; `bob` cannot be read, so that a repair is asked for.
    let judges = Judges::saying("no verdict here", "well", "-")
        .failing("cid", ErrorKind::Connection { message: String::from("refused") })
        .with("dan", "4");
    let gateway = Gateway::scripted(&file(), judges).await;
    let verdict = gateway.judge(confidential()).await;
    assert_eq!(gateway.asked().names(), ["bob", "bob", "cid"], "nobody outside was asked");
    assert_eq!(abstention(&verdict, "ann").kind, AbstentionKind::Excluded);
    assert_eq!(reasons(&verdict), ["no_quorum"]);
}

#[tokio::test]
async fn the_same_case_may_leave_when_it_is_not_confidential() {
    let gateway = Gateway::scripted(&file(), Judges::saying("4", "4", "4").with("dan", "4")).await;
    gateway.judge(case()).await;
    assert_eq!(gateway.asked().of("ann").len(), 1);
}

#[tokio::test]
async fn a_panel_may_keep_everything_inside() {
    let change = json!({"panels": {"default": {"perimeter": "inside"}}});
    let gateway =
        Gateway::scripted(&with(file(), change), Judges::saying("1", "4", "4").with("dan", "1")).await;
    let verdict = gateway.judge(case()).await;
    assert_eq!(gateway.asked().names(), ["bob", "cid"]);
    assert_eq!(quality(&verdict).value, Some(json!(4.0)));
    assert_eq!(abstention(&verdict, "ann").kind, AbstentionKind::Excluded);
}

#[tokio::test]
async fn a_cached_judgment_of_an_outside_judge_does_not_vote_either() {
    let gateway = Gateway::scripted(&file(), Judges::saying("1", "4", "4").with("dan", "1")).await;
    gateway.judge(case()).await;
    let verdict = gateway.judge(confidential()).await;
    assert_eq!(abstention(&verdict, "ann").kind, AbstentionKind::Excluded);
    assert_eq!(gateway.asked().of("ann").len(), 1);
}

#[tokio::test]
async fn metadata_may_say_that_a_case_is_confidential() {
    let gateway = Gateway::scripted(&file(), Judges::saying("1", "4", "4").with("dan", "1")).await;
    let verdict = gateway.judge(with(case(), json!({"metadata": {"sensitivity": "confidential"}}))).await;
    assert_eq!(abstention(&verdict, "ann").kind, AbstentionKind::Excluded);
    assert!(gateway.asked().of("ann").is_empty() && gateway.asked().of("dan").is_empty());
}
