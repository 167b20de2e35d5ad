//! Every way in which a vote can be missing. None of them is a number.

use gateway::verdict::AbstentionKind;
use providers::ScriptedReply;
use providers::chat::{ChatResponse, FinishReason};
use providers::error::ErrorKind;
use serde_json::{Value, json};

use super::{abstention, case, quality, reasons};
use crate::support::gateway::Gateway;
use crate::support::judges::{Judges, cut};
use crate::support::panel::{NOWHERE, panel, with};

/// `ann` answers so, the others with 4.
async fn check(reply: ScriptedReply, kind: AbstentionKind, class: Option<&str>) {
    let shown = format!("{reply:?}");
    let judges = Judges::saying("4", "4", "4").answering("ann", move |_| reply.clone());
    let gateway = Gateway::of(judges).await;
    let verdict = gateway.judge(case()).await;
    let missing = abstention(&verdict, "ann");
    assert_eq!(missing.kind, kind, "{shown}");
    assert_eq!(serde_json::to_value(missing.class).unwrap(), json!(class), "{shown}");
    assert_eq!(quality(&verdict).value, Some(json!(4.0)), "{shown}");
    let stored = gateway.close().await;
    let rows = stored.judgments(&verdict.id, "q1").await;
    let row = rows.iter().find(|row| row.judge == "ann").expect("the missing vote is stored");
    assert!(row.outcome.is_err() && row.cache_key.is_none(), "{row:?}");
}

fn text() -> String {
    String::from("x")
}

#[tokio::test]
async fn failures_of_the_call() {
    let cases = [
        (ErrorKind::BadRequest { status: 400, message: text() }, AbstentionKind::Unavailable),
        (ErrorKind::Unauthorized { status: 401, message: text() }, AbstentionKind::Unavailable),
        (ErrorKind::TooLong { message: text() }, AbstentionKind::TooLong),
        (ErrorKind::ContentFilter { message: text() }, AbstentionKind::Refused),
        (ErrorKind::RateLimited { message: text() }, AbstentionKind::RateLimited),
        (ErrorKind::Server { status: 500, message: text() }, AbstentionKind::Unavailable),
        (ErrorKind::Connection { message: text() }, AbstentionKind::Unavailable),
        (ErrorKind::Garbage { message: text() }, AbstentionKind::Unavailable),
        (ErrorKind::Timeout { after_ms: 1 }, AbstentionKind::TimedOut),
        (ErrorKind::BreakerOpen, AbstentionKind::Unavailable),
        (ErrorKind::LimitExceeded { message: text() }, AbstentionKind::RateLimited),
    ];
    for (error, kind) in cases {
        check(ScriptedReply::Fail(error), kind, None).await;
    }
}

#[tokio::test]
async fn replies_without_a_verdict() {
    let unparseable = AbstentionKind::Unparseable;
    check(ScriptedReply::text("It is fine, I suppose."), unparseable, Some("no_verdict")).await;
    check(ScriptedReply::text("{\"score\": 4, \"score\": 1}"), unparseable, Some("ambiguous")).await;
    check(ScriptedReply::text("9"), unparseable, Some("out_of_range")).await;
    check(cut("The answer is, on the"), unparseable, Some("truncated")).await;
}

#[tokio::test]
async fn refusals() {
    check(ScriptedReply::text("I'm sorry, but I can't assist with that."), AbstentionKind::Refused, None)
        .await;
    let own = ChatResponse { refusal: Some(text()), ..ChatResponse::of_text("") };
    check(ScriptedReply::Respond(own), AbstentionKind::Refused, None).await;
    let filtered = ChatResponse { finish: FinishReason::ContentFilter, ..ChatResponse::of_text("") };
    check(ScriptedReply::Respond(filtered), AbstentionKind::Refused, None).await;
}

#[tokio::test]
async fn a_quote_that_the_case_does_not_hold_is_no_support() {
    let quoting =
        |quote: &str| json!({"reason": "see", "quote": quote, "evidence": quote, "score": 4}).to_string();
    let template = json!({"template": "g-eval"});
    let file = with(
        panel(NOWHERE),
        json!({
            "judges": {"ann": template, "bob": template, "cid": template},
            "rubrics": {"quality": {"criteria": [
                {"name": "quality", "type": "ordinal", "scale": [1, 2, 3, 4, 5], "evidence": "quote"},
            ]}},
        }),
    );
    let judges = Judges::saying(&quoting("invented"), &quoting("Paris"), "{\"score\": 4}");
    let gateway = Gateway::scripted(&file, judges).await;
    let verdict = gateway.judge(case()).await;
    assert_eq!(abstention(&verdict, "ann").kind, AbstentionKind::Unsupported);
    assert_eq!(abstention(&verdict, "cid").kind, AbstentionKind::Unsupported, "no quote at all");
    assert_eq!(quality(&verdict).votes[0].evidence.as_deref(), Some("Paris"));
    assert!(reasons(&verdict).contains(&String::from("unsupported_evidence")), "{:?}", reasons(&verdict));
}

/// The reason for which a judge was left out.
fn excluded(verdict: &gateway::verdict::CaseVerdict, judge: &str) -> Value {
    let missing = abstention(verdict, judge);
    assert_eq!(missing.kind, AbstentionKind::Excluded);
    serde_json::to_value(missing.reason).expect("a name")
}

#[tokio::test]
async fn exclusions_name_their_reason() {
    let change = json!({
        "servers": {"s-ann": {"perimeter": "outside"}},
        "models": {"birch-tuned": {"base": "birch-one"}, "cedar-*": {"family": "cedar"}},
    });
    let file = with(panel(NOWHERE), change);
    let about =
        |model: &str, sensitivity: &str| json!({"output": "x", "model": model, "sensitivity": sensitivity});
    let gateway = Gateway::scripted(&file, Judges::saying("4", "4", "4")).await;
    let verdict = gateway.judge(about("birch-tuned", "public")).await;
    assert_eq!(excluded(&verdict, "bob"), json!("same_model"));
    let verdict = gateway.judge(about("cedar-7", "public")).await;
    assert_eq!(excluded(&verdict, "cid"), json!("same_family"));
    let verdict = gateway.judge(about("maple-7", "confidential")).await;
    assert_eq!(excluded(&verdict, "ann"), json!("perimeter"));
    let verdict = gateway.judge(json!({"output": "  \n"})).await;
    for judge in ["ann", "bob", "cid"] {
        assert_eq!(excluded(&verdict, judge), json!("empty_candidate"));
    }
}

#[tokio::test]
async fn an_empty_answer_fails_where_the_rubric_says_so() {
    let fails = json!({"rubrics": {"quality": {"empty": "fail"}}});
    let gateway = Gateway::scripted(&with(panel(NOWHERE), fails), Judges::saying("4", "4", "4")).await;
    let verdict = gateway.judge(json!({"id": "e1", "output": ""})).await;
    let criterion = quality(&verdict);
    assert_eq!(
        (criterion.value.clone(), criterion.score, criterion.passed),
        (Some(json!(1.0)), Some(0.0), Some(false))
    );

    // The other answer of a pair wins; two empty ones tie.
    let verdict = gateway.judge(json!({"id": "e2", "a": "", "b": "something"})).await;
    assert_eq!(quality(&verdict).value, Some(json!("b")));
    let verdict = gateway.judge(json!({"id": "e3", "a": "something", "b": " "})).await;
    assert_eq!(quality(&verdict).value, Some(json!("a")));
    let verdict = gateway.judge(json!({"id": "e4", "a": "", "b": ""})).await;
    assert_eq!(quality(&verdict).value, Some(json!("tie")));
    assert_eq!((gateway.asked().count(), verdict.calls.asked), (0, 0), "nothing is sent");
}
