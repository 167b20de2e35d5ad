//! What a key may spend: counted call by call, refused before it is exceeded, counted anew with each window.

use std::time::Duration;

use gateway::access::{AccessKey, Allowance};
use providers::chat::Usage;
use providers::{ChatResponse, ScriptedReply};
use serde_json::{Value, json};

use super::{CHAT, Owned, add, case, get, post, question, served};
use crate::support::gateway::{Gateway, Served};
use crate::support::judges::Judges;
use crate::support::panel::with;

/// Each call costs 1 000 prompt tokens at 1 USD a million and 500 at 2 USD: 2 000 millionths.
fn costly() -> Judges {
    ["ann", "bob", "cid"].into_iter().fold(Judges::default(), |judges, judge| {
        judges.answering(judge, |_| {
            let usage = Usage { prompt_tokens: 1000, completion_tokens: 500, ..Usage::default() };
            ScriptedReply::Respond(ChatResponse { usage: Some(usage), ..ChatResponse::of_text("4") })
        })
    })
}

/// Judges whose worst case is near what they cost.
fn capped() -> Value {
    let judge = json!({"params": {"max_tokens": 600}});
    json!({"judges": {"ann": judge, "bob": judge, "cid": judge}})
}

async fn with_budget(served: &Served, budget: &str) -> Owned {
    let allowance: Allowance = budget.parse().expect("a budget");
    add(served, |key| AccessKey { allowance: Some(allowance), ..key }).await
}

fn fresh(id: usize) -> Value {
    with(case(), json!({"case": {"id": format!("q{id}"), "input": format!("No. {id}")}}))
}

#[tokio::test]
async fn a_key_is_refused_once_its_budget_is_spent() {
    let served = served(capped(), costly()).await;
    let key = with_budget(&served, "0.012").await;
    for id in 0..2 {
        let answer = post(&served, "/v1/verdicts", &key, &fresh(id)).await;
        assert_eq!(answer.status, 200, "{}", answer.text);
    }
    let asked = served.gateway.asked().count();
    let refused = post(&served, "/v1/verdicts", &key, &fresh(3)).await;
    assert_eq!((refused.status, &refused.json()["type"]), (402, &json!("tribunal:over-budget")));
    assert!(refused.text.contains("0.012 USD"), "{}", refused.text);
    for model in ["default", "judge/cid"] {
        let refused = post(&served, CHAT, &key, &question(model)).await;
        assert_eq!(
            (refused.status, &refused.json()["error"]["code"]),
            (402, &json!("insufficient_quota")),
            "{model}"
        );
    }
    let run = post(&served, "/v1/runs", &key, &json!({"cases": [fresh(4)["case"]]})).await;
    assert_eq!(run.status, 402, "{}", run.text);
    assert_eq!(served.gateway.asked().count(), asked, "nothing was asked");
    let other = with_budget(&served, "1").await;
    assert_eq!(post(&served, "/v1/verdicts", &other, &fresh(5)).await.status, 200, "another key has its own");
}

/// The worst case of a call is held back before it is sent: three judges of which one would exceed the budget.
#[tokio::test]
async fn a_panel_whose_calls_do_not_all_fit_asks_for_no_more_than_fits() {
    let served = served(capped(), costly()).await;
    let key = with_budget(&served, "0.005").await;
    let refused = post(&served, "/v1/verdicts", &key, &fresh(1)).await;
    assert_eq!(refused.status, 402, "{}", refused.text);
    assert!(served.gateway.asked().count() <= 2);
    let folded = post(&served, CHAT, &key, &question("default")).await;
    assert_eq!(folded.status, 402, "{}", folded.text);
    let spent = spent_microusd(&served, &key).await;
    assert!(spent <= 5_000, "{spent}");
}

async fn spent_microusd(served: &Served, key: &Owned) -> u64 {
    let ring = served.gateway.app.key_ring();
    let key = ring.of_run(&key.id).await.expect("the key");
    let budget = ring.purse(&key).await.expect("a purse").key.and_then(|key| key.budget).expect("a budget");
    budget.spent_microusd()
}

#[tokio::test]
async fn what_was_spent_outlives_the_gateway_and_ends_with_its_window() {
    let served = served(capped(), costly()).await;
    let key = with_budget(&served, "0.006/day").await;
    assert_eq!(post(&served, "/v1/verdicts", &key, &fresh(1)).await.status, 200);
    assert_eq!(spent_microusd(&served, &key).await, 6_000);
    let folder = served.gateway.shut_down().await;
    let served = Gateway::in_folder(folder, costly()).await.serve().await;
    assert_eq!(spent_microusd(&served, &key).await, 6_000, "it is in the store");
    assert_eq!(post(&served, "/v1/verdicts", &key, &fresh(2)).await.status, 402);
    served.gateway.wait(Duration::from_hours(24));
    assert_eq!(post(&served, "/v1/verdicts", &key, &fresh(3)).await.status, 200, "a new day");
}

#[tokio::test]
async fn what_is_used_again_is_no_call_and_shows_that_the_key_is_in_use() {
    let served = served(capped(), costly()).await;
    let (first, second) = (with_budget(&served, "1").await, with_budget(&served, "1").await);
    for key in [&first, &first, &second] {
        assert_eq!(post(&served, "/v1/verdicts", key, &case()).await.status, 200);
    }
    let stored = served.gateway.close().await;
    let (first, second) = (stored.key_spending(&first.id).await, stored.key_spending(&second.id).await);
    assert_eq!((first.calls, first.microusd), (3, 6_000));
    assert_eq!((second.calls, second.microusd), (0, 0));
    assert!(second.last_day.is_some() && second.last_day == first.last_day);
}

#[tokio::test]
async fn a_judge_by_itself_and_a_folded_answer_are_counted() {
    let served = served(capped(), costly()).await;
    let key = with_budget(&served, "1").await;
    assert_eq!(post(&served, CHAT, &key, &question("judge/cid")).await.status, 200);
    assert_eq!(spent_microusd(&served, &key).await, 2_000);
    assert_eq!(post(&served, CHAT, &key, &question("default")).await.status, 200);
    assert_eq!(spent_microusd(&served, &key).await, 8_000);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_stops_where_its_keys_budget_ends_and_goes_on_with_another() {
    let served = served(capped(), costly()).await;
    let key = with_budget(&served, "0.009").await;
    let cases: Vec<Value> = (0..3).map(|id| fresh(id)["case"].clone()).collect();
    let begun = post(&served, "/v1/runs", &key, &json!({"cases": cases, "concurrency": 1})).await;
    assert_eq!(begun.status, 202, "{}", begun.text);
    let run = format!("/v1/runs/{}", begun.json()["id"].as_str().unwrap());
    let events = get(&served, &format!("{run}/events"), &key).await.text;
    assert!(events.contains("stopped") && events.contains("the key's budget"), "{events}");
    let richer = with_budget(&served, "1").await;
    let resumed = post(&served, &format!("{run}/resume"), &richer, &json!({})).await;
    assert_eq!(resumed.status, 202, "{}", resumed.text);
    assert!(get(&served, &format!("{run}/events"), &richer).await.text.contains("finished"));
}

#[tokio::test]
async fn a_budget_is_not_kept_with_a_price_that_nobody_knows() {
    let served = served(json!({"judges": {"cid": {"price": null, "model": "nobody-knows"}}}), costly()).await;
    let key = with_budget(&served, "1").await;
    let refused = post(&served, "/v1/verdicts", &key, &case()).await;
    assert_eq!(
        (refused.status, &refused.json()["type"]),
        (403, &json!("tribunal:unpriced")),
        "{}",
        refused.text
    );
    assert!(refused.text.contains("has a budget, and the price of judge"), "{}", refused.text);
    assert_eq!(post(&served, CHAT, &key, &question("judge/cid")).await.status, 403);
    assert_eq!(post(&served, CHAT, &key, &question("judge/ann")).await.status, 200);
}
