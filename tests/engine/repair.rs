//! The one repair of a reply that cannot be read.

use gateway::verdict::AbstentionKind;
use providers::ScriptedReply;
use providers::error::ErrorKind;
use serde_json::json;

use super::{abstention, case, quality};
use crate::support::gateway::Gateway;
use crate::support::judges::{Judges, cut, prompt_of};

#[tokio::test]
async fn an_unreadable_reply_is_asked_again_once_and_counted() {
    let replies = vec![ScriptedReply::text("It is fine, I suppose."), ScriptedReply::text("3")];
    let gateway = Gateway::of(Judges::saying("4", "4", "4").in_order("ann", replies)).await;
    let verdict = gateway.judge(case()).await;
    assert_eq!(gateway.asked().of("ann").len(), 2);
    assert_eq!(quality(&verdict).votes[0].value, json!(3.0));
    assert_eq!(verdict.calls.repaired, 1);

    let stored = gateway.close().await;
    let rows = stored.judgments(&verdict.id, "q1").await;
    assert!(rows.iter().all(|row| row.repaired == (row.judge == "ann")));
}

#[tokio::test]
async fn a_second_unreadable_reply_ends_it() {
    let gateway = Gateway::of(Judges::saying("no idea", "4", "4")).await;
    let verdict = gateway.judge(case()).await;
    assert_eq!(gateway.asked().of("ann").len(), 2);
    let missing = abstention(&verdict, "ann");
    assert_eq!(
        (missing.kind, serde_json::to_value(missing.class).unwrap()),
        (AbstentionKind::Unparseable, json!("no_verdict"))
    );
    assert_eq!(verdict.calls.repaired, 1);
}

#[tokio::test]
async fn the_repair_shows_the_form_and_suggests_no_value() {
    let replies = vec![ScriptedReply::text("hard to say"), ScriptedReply::text("3")];
    let gateway = Gateway::of(Judges::saying("4", "4", "4").in_order("ann", replies)).await;
    gateway.judge(case()).await;
    let asked = gateway.asked().of("ann");
    let (first, second) = (&asked[0], &asked[1]);
    assert_eq!(second.messages[..first.messages.len()], first.messages[..], "the question stands as it was");
    let added: Vec<&str> =
        second.messages[first.messages.len()..].iter().map(|m| m.content.as_str()).collect();
    assert_eq!(added[0], "hard to say");
    let form = prompt_of(first).lines().last().expect("a form").to_owned();
    let form = form.trim_start_matches("Reply with ").trim_end_matches(" and nothing else.").to_owned();
    assert!(added[1].contains(&form), "{added:?}");
    let digits: Vec<char> = added[1].replace(&form, "").chars().filter(char::is_ascii_digit).collect();
    assert!(digits.is_empty(), "a value is named: {added:?}");
}

#[tokio::test]
async fn a_cut_reply_is_asked_again_once_with_more_room() {
    let gateway = Gateway::of(
        Judges::saying("4", "4", "4")
            .in_order("ann", vec![cut("The answer is, on the"), ScriptedReply::text("2")]),
    )
    .await;
    let verdict = gateway.judge(case()).await;
    let asked = gateway.asked().of("ann");
    assert_eq!(asked.len(), 2);
    assert_eq!(asked[0].messages, asked[1].messages, "the same question");
    assert!(
        asked[1].max_tokens > asked[0].max_tokens,
        "{:?}",
        asked.iter().map(|r| r.max_tokens).collect::<Vec<_>>()
    );
    assert_eq!(quality(&verdict).votes[0].value, json!(2.0));
}

#[tokio::test]
async fn a_repair_that_fails_leaves_the_first_finding() {
    let replies = vec![ScriptedReply::text("well"), ScriptedReply::Fail(ErrorKind::BreakerOpen)];
    let gateway = Gateway::of(Judges::saying("4", "4", "4").in_order("ann", replies)).await;
    let verdict = gateway.judge(case()).await;
    assert_eq!(abstention(&verdict, "ann").kind, AbstentionKind::Unparseable);
}

#[tokio::test]
async fn the_first_reply_is_kept_beside_the_repaired_one() {
    let replies = vec![ScriptedReply::text("It is fine, I suppose."), ScriptedReply::text("3")];
    let gateway = Gateway::of(Judges::saying("4", "4", "4").in_order("ann", replies)).await;
    let verdict = gateway.judge(case()).await;
    let stored = gateway.close().await;
    let rows = stored.judgments(&verdict.id, "q1").await;
    let hashes: Vec<String> = rows.iter().filter_map(|row| row.reply_hash.clone()).collect();
    assert!(stored.texts("q1", &hashes).await.contains(&String::from("3")));
}
