//! What a client sees when there is no answer.

use std::time::Duration;

use providers::error::ErrorKind;
use providers::{ChatResponse, ScriptedReply};
use serde_json::{Value, json};

use super::{CHAT, asking, question, saying, served};
use crate::support::gateway::Answer;
use crate::support::judges::Judges;

fn down() -> ScriptedReply {
    ScriptedReply::Fail(ErrorKind::Server { status: 500, message: String::from("down") })
}

#[tokio::test]
async fn too_few_answers_are_a_503_and_the_next_request_asks_only_the_missing_ones() {
    let judges = Judges::default()
        .with("ann", "yes")
        .in_order("bob", vec![down(), ScriptedReply::text("yes")])
        .in_order("cid", vec![down(), ScriptedReply::text("no")]);
    let served = served(json!({}), judges).await;
    let failed = served.post(CHAT, &question()).await;
    assert_eq!(failed.status, 503, "{}", failed.text);
    assert!(failed.header("retry-after").is_some());
    let error = failed.json()["error"].clone();
    assert_eq!((&error["type"], &error["code"]), (&json!("server_error"), &json!("no_quorum")));
    let message = error["message"].as_str().unwrap();
    assert!(message.contains("1 of 3 judges answered") && message.contains("bob (unavailable)"), "{message}");

    served.gateway.wait(Duration::from_mins(1));
    let answered = served.post(CHAT, &question()).await;
    assert_eq!(answered.json()["choices"][0]["message"]["content"], "yes", "{}", answered.text);
    assert_eq!(served.gateway.asked().of("ann").len(), 1, "its vote was paid for");
    assert_eq!(answered.json()["tribunal"]["calls"]["reused"], 1);

    served.gateway.wait(Duration::from_secs(1));
    // An answered request is asked afresh: clients that ask again want another answer.
    served.post(CHAT, &question()).await;
    assert_eq!(served.gateway.asked().of("ann").len(), 2);
}

#[tokio::test]
async fn an_alias_may_keep_answers_and_choose_429() {
    let aliases = json!({"aliases": {
        "kept": {"to": "panel/default", "cache": true}, "patient": {"to": "panel/default", "below_quorum": 429},
    }});
    let served_kept = served(aliases.clone(), Judges::saying("yes", "yes", "no")).await;
    for _ in 0..2 {
        let answer = served_kept.post(CHAT, &asking(json!({"model": "kept"}))).await;
        assert_eq!(answer.json()["choices"][0]["message"]["content"], "yes");
    }
    assert_eq!(served_kept.gateway.asked().count(), 3);

    let judges =
        Judges::default().in_order("ann", vec![down()]).in_order("bob", vec![down()]).with("cid", "no");
    let failing = served(aliases, judges).await;
    let failed = failing.post(CHAT, &asking(json!({"model": "patient"}))).await;
    assert_eq!((failed.status, &failed.json()["error"]["type"]), (429, &json!("rate_limit_error")));
}

#[tokio::test]
async fn ff_drop_004_the_judges_wait_is_handed_on() {
    let cooling = || {
        let kind = ErrorKind::RateLimited { message: String::from("slow down") };

        vec![ScriptedReply::FailUntil(kind, Duration::from_secs(40))]
    };
    let judges =
        Judges::default().in_order("ann", cooling()).in_order("bob", cooling()).in_order("cid", cooling());
    let failed = served(json!({}), judges).await.post(CHAT, &question()).await;
    assert_eq!((failed.status, failed.header("retry-after")), (429, Some("40")), "{}", failed.text);
    let error = failed.json()["error"].clone();
    assert_eq!((&error["type"], &error["code"]), (&json!("rate_limit_error"), &json!("rate_limit_exceeded")));
}

#[tokio::test]
async fn ff_drop_006_a_reply_without_the_score_is_no_vote() {
    let schema = json!({"type": "object", "required": ["score"], "properties": {"score": {"type": "integer", "minimum": 0, "maximum": 100}}});
    let body = asking(
        json!({"response_format": {"type": "json_schema", "json_schema": {"name": "S", "schema": schema}}}),
    );
    let lacking = "{\"verdicts\":[{\"name\":\"safety\",\"passed\":false}]}";
    let failed = saying(lacking, lacking, "{\"score\": 90}").await.post(CHAT, &body).await;
    assert_eq!(failed.status, 503, "never a default: {}", failed.text);
}

#[tokio::test]
async fn requests_that_cannot_be_read_say_which_field() {
    let served = saying("yes", "yes", "yes").await;
    let check = |answer: &Answer, status: u16, param: Value, words: &str| {
        let error = answer.json()["error"].clone();
        assert_eq!((answer.status, &error["param"]), (status, &param), "{}", answer.text);
        assert_eq!(error["type"], "invalid_request_error");
        assert!(error["message"].as_str().unwrap().contains(words), "{}", answer.text);
    };
    let bad = |more: Value| asking(more);
    check(&served.post(CHAT, &bad(json!({"n": 0}))).await, 400, json!("n"), "from 1 to 128");
    check(&served.post(CHAT, &bad(json!({"messages": null}))).await, 400, json!("messages"), "at least one");
    let text = served.request("POST", CHAT).header("content-type", "application/json").body("{");
    check(&Answer::of(text).await, 400, Value::Null, "no JSON");
    let plain = served.request("POST", CHAT).header("content-type", "text/plain").body("{}");
    check(&Answer::of(plain).await, 415, Value::Null, "application/json");
    let get = served.get(CHAT).await;
    check(&get, 405, Value::Null, "method is not allowed");
    let huge = asking(json!({"pad": "x".repeat(17 << 20)}));
    check(&served.post(CHAT, &huge).await, 413, Value::Null, "16777216");
    assert_eq!(served.gateway.asked().count(), 0);
}

#[tokio::test]
async fn parameters_that_nobody_knows_never_fail() {
    let served = saying("yes", "yes", "yes").await;
    let odd = json!({
        "guardrails": ["x"], "metadata": {"run": 1}, "tags": ["a"], "user": "u", "store": true, "x_unknown": {"a": 1},
        "parallel_tool_calls": false, "service_tier": "auto", "prediction": null, "seed": -4, "stop": ["\n"],
    });
    let answer = served.post(CHAT, &asking(odd)).await;
    assert_eq!(answer.status, 200, "{}", answer.text);
    let asked = served.gateway.asked().of("ann").remove(0);
    assert!(asked.caller.is_some_and(|caller| !caller.other.contains_key("metadata")));
}

#[tokio::test]
async fn a_cap_of_one_token_is_lifted_for_a_judge_that_reasons_first() {
    let cut = ScriptedReply::Respond(ChatResponse {
        finish: providers::chat::FinishReason::Length,
        ..ChatResponse::of_text("")
    });
    let judges = Judges::default()
        .with("ann", "yes")
        .with("bob", "yes")
        .in_order("cid", vec![cut, ScriptedReply::text("no")]);
    let served = served(json!({}), judges).await;
    let body = served.post(CHAT, &asking(json!({"max_tokens": 1}))).await.json();
    assert_eq!(body["tribunal"]["quorum"]["voted"], 3, "{body}");
    let caps: Vec<Option<u32>> =
        served.gateway.asked().of("cid").iter().map(|asked| asked.max_tokens).collect();
    assert_eq!(caps.len(), 2);
    assert!(caps[1] > Some(8), "{caps:?}");
}

#[tokio::test]
async fn votes_of_a_failed_request_are_not_used_after_ten_minutes() {
    let judges = Judges::default()
        .with("ann", "yes")
        .in_order("bob", vec![down(), ScriptedReply::text("yes")])
        .in_order("cid", vec![down(), ScriptedReply::text("yes")]);
    let served = served(json!({}), judges).await;
    assert_eq!(served.post(CHAT, &question()).await.status, 503);
    served.gateway.wait(Duration::from_mins(11));
    assert_eq!(served.post(CHAT, &question()).await.status, 200);
    assert_eq!(served.gateway.asked().of("ann").len(), 2);
}

#[tokio::test]
async fn a_reply_that_was_no_vote_is_asked_again() {
    let refused = || {
        let refusal = Some(String::from("I can't help with that."));
        ScriptedReply::Respond(ChatResponse { refusal, ..ChatResponse::of_text("") })
    };
    let schema = json!({"type": "object", "required": ["ok"], "properties": {"ok": {"type": "boolean"}}});
    let body = asking(
        json!({"response_format": {"type": "json_schema", "json_schema": {"name": "S", "schema": schema}}}),
    );
    let yes = || ScriptedReply::text("{\"ok\": true}");
    let judges = Judges::default()
        .in_order("ann", vec![refused(), yes()])
        .in_order("bob", vec![ScriptedReply::text("Well."), yes()])
        .in_order("cid", vec![yes()]);
    let served = served(json!({}), judges).await;
    assert_eq!(served.post(CHAT, &body).await.status, 503);
    served.gateway.wait(Duration::from_secs(5));
    let answered = served.post(CHAT, &body).await;
    assert_eq!(answered.json()["choices"][0]["message"]["content"], "{\"ok\": true}", "{}", answered.text);
    let asked = |judge: &str| served.gateway.asked().of(judge).len();
    assert_eq!((asked("ann"), asked("bob"), asked("cid")), (2, 2, 1), "cid's vote was paid for");
}
