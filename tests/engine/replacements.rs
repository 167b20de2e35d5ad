//! Judges that step in.

use providers::error::ErrorKind;
use serde_json::json;

use super::{case, quality, reasons};
use crate::support::gateway::Gateway;
use crate::support::judges::Judges;
use crate::support::panel::{NOWHERE, panel, with, with_replacement};

/// `dan` and then `eve`.
fn two_replacements() -> serde_json::Value {
    let change = json!({
        "servers": {"s-eve": {"provider": "openai_compatible", "base_url": NOWHERE, "perimeter": "inside"}},
        "judges": {"eve": {"server": "s-eve", "model": "fir-one", "family": "fir", "template": "direct", "scoring": "discrete"}},
        "panels": {"default": {"replacements": ["dan", "eve"]}},
    });
    with(with_replacement(panel(NOWHERE)), change)
}

fn down() -> ErrorKind {
    ErrorKind::Server { status: 503, message: String::from("down") }
}

#[tokio::test]
async fn a_replacement_is_asked_when_a_member_abstains_and_not_otherwise() {
    let gateway = Gateway::scripted(
        &two_replacements(),
        Judges::saying("4", "4", "4").with("dan", "1").with("eve", "1"),
    )
    .await;
    gateway.judge(case()).await;
    assert_eq!(gateway.asked().names(), ["ann", "bob", "cid"]);

    let judges = Judges::saying("4", "4", "-").failing("cid", down()).with("dan", "2").with("eve", "1");
    let gateway = Gateway::scripted(&two_replacements(), judges).await;
    let verdict = gateway.judge(case()).await;
    assert_eq!(gateway.asked().names(), ["ann", "bob", "cid", "dan"]);
    let votes: Vec<(&str, bool)> =
        quality(&verdict).votes.iter().map(|v| (v.judge.as_str(), v.replacement)).collect();
    assert_eq!(votes, [("ann", false), ("bob", false), ("dan", true)]);
    assert_eq!((verdict.quorum.voted, verdict.quorum.degraded), (3, true));
}

#[tokio::test]
async fn a_replacement_that_fails_is_followed_by_the_next_one() {
    let judges = Judges::saying("4", "4", "-").failing("cid", down()).failing("dan", down()).with("eve", "3");
    let gateway = Gateway::scripted(&two_replacements(), judges).await;
    let verdict = gateway.judge(case()).await;
    assert_eq!(gateway.asked().names(), ["ann", "bob", "cid", "dan", "eve"]);
    assert_eq!(verdict.quorum.voted, 3);
}

#[tokio::test]
async fn one_voice_more_breaks_a_split() {
    let change = json!({"rubrics": {"quality": {"criteria": [
        {"name": "quality", "type": "nominal", "scale": ["red", "green", "blue"]},
    ]}}});
    let file = with(two_replacements(), change);
    let judges = Judges::saying("red", "green", "blue").with("dan", "red").with("eve", "red");
    let gateway = Gateway::scripted(&file, judges).await;
    let verdict = gateway.judge(case()).await;
    // Two of four is no majority; three of five is one.
    assert_eq!(gateway.asked().names(), ["ann", "bob", "cid", "dan", "eve"]);
    assert_eq!(quality(&verdict).value, Some(json!("red")));
    assert!(!reasons(&verdict).contains(&String::from("no_majority")));
}

#[tokio::test]
async fn replacements_step_in_for_a_panel_that_is_excluded_as_a_whole() {
    let judges = Judges::saying("4", "4", "4").with("dan", "3").with("eve", "3");
    let change = json!({"judges": {"ann": {"family": "oak"}, "bob": {"family": "oak"}, "cid": {"family": "oak"}}, "models": {"oak-*": {"family": "oak"}}});
    let gateway = Gateway::scripted(&with(two_replacements(), change), judges).await;
    let verdict = gateway.judge(json!({"id": "q1", "output": "x", "model": "oak-7"})).await;
    assert_eq!(gateway.asked().names(), ["dan", "eve"]);
    assert_eq!(quality(&verdict).value, Some(json!(3.0)));
}

#[tokio::test]
async fn nobody_is_asked_about_an_empty_answer() {
    let judges = Judges::saying("4", "4", "4").with("dan", "3").with("eve", "3");
    let gateway = Gateway::scripted(&two_replacements(), judges).await;
    let verdict = gateway.judge(json!({"id": "q1", "output": " \u{200b}\n"})).await;
    assert_eq!(gateway.asked().count(), 0);
    assert_eq!(reasons(&verdict), ["no_quorum"]);
}
