//! What is kept of a caller's request: its verdict, its judgments, its place in the queue.

use serde_json::json;

use super::{CHAT, asking, question, schema, served, verdict};
use crate::support::gateway::store_path;
use crate::support::judges::Judges;
use crate::support::panel::{NOWHERE, panel};

#[tokio::test]
async fn a_verdict_is_kept_with_its_votes_and_shown_to_people_where_there_is_a_choice() {
    let escalating = json!({"panels": {"default": {"escalate": {"random_review_share": 1.0}}}});
    let judges = Judges::saying(
        &verdict("a", "correct", 5),
        &verdict("b", "incorrect", 1),
        &verdict("c", "correct", 4),
    );
    let served = served(escalating, judges).await;
    let answer = served.post(CHAT, &asking(schema())).await;
    let id = answer.header("x-tribunal-verdict-id").unwrap().to_owned();
    let kept = served.get(&format!("/v1/verdicts/{id}")).await.json();
    assert_eq!(kept["criteria"]["verdict"]["value"], "correct");
    assert_eq!(kept["criteria"]["score"]["method"], "median");
    let case = kept["case"].as_str().unwrap().to_owned();
    let stored = served.gateway.close().await;
    assert_eq!(stored.open_triage().await, 1);
    let judgments = stored.judgments(&id, &case).await;
    assert_eq!(judgments.len(), 3);
    assert!(judgments.iter().all(|row| row.criterion == "reply" && row.outcome.is_ok()));
    let hashes: Vec<String> = judgments.iter().filter_map(|row| row.reply_hash.clone()).collect();
    assert_eq!(stored.texts(&case, &hashes).await.len(), 3, "each reply as it came");
}

#[tokio::test]
async fn what_a_client_says_of_its_request_is_kept_with_the_case_and_no_judge_sees_it() {
    let served = served(json!({}), Judges::saying("yes", "yes", "no")).await;
    let said = json!({"metadata": {"suite": "nightly-7"}, "tags": ["pr-12"], "user": "ci-bot"});
    let answer = served.post(CHAT, &asking(said)).await;
    assert_eq!(answer.status, 200, "{}", answer.text);
    let labels = [r#""suite":"nightly-7""#, r#""tags":["pr-12"]"#, r#""user":"ci-bot""#];
    for sent in served.gateway.asked().of("ann") {
        let sent = format!("{:?}", sent.caller);
        assert!(
            sent.contains("Is it right?")
                && !["nightly-7", "pr-12", "ci-bot"].iter().any(|own| sent.contains(own))
        );
    }
    let folder = served.gateway.close().await.close().await;
    let kept = std::fs::read(store_path(&folder)).unwrap();
    for label in labels {
        assert!(kept.windows(label.len()).any(|bytes| bytes == label.as_bytes()), "{label}");
    }
}

#[tokio::test]
async fn free_text_is_not_put_before_people() {
    let escalating = json!({"panels": {"default": {"escalate": {"random_review_share": 1.0}}}});
    let judges =
        Judges::saying("It is a fair summary of the talk.", "A good one, I think.", "Fine work overall.");
    let served = served(escalating, judges).await;
    let text =
        asking(json!({"messages": [{"role": "user", "content": "Describe the summary in your words."}]}));
    let answer = served.post(CHAT, &text).await;
    assert_eq!(answer.json()["choices"][0]["message"]["content"], "It is a fair summary of the talk.");
    assert_eq!(served.gateway.close().await.open_triage().await, 0);
}

#[tokio::test]
async fn a_confidential_request_stays_inside_on_every_path() {
    let outside = json!({"servers": {"s-ann": {"perimeter": "outside"}}});
    let served = served(outside, Judges::saying("no", "yes", "yes")).await;
    let by_metadata = served.post(CHAT, &asking(json!({"metadata": {"sensitivity": "confidential"}}))).await;
    assert_eq!(by_metadata.json()["choices"][0]["message"]["content"], "yes", "{}", by_metadata.text);
    let by_header =
        served.request("POST", CHAT).header("x-tribunal-sensitivity", "confidential").json(&question());
    assert_eq!(by_header.send().await.unwrap().status(), 200);
    let alone = asking(json!({"model": "judge/ann", "metadata": {"sensitivity": "confidential"}}));
    let refused = served.post(CHAT, &alone).await;
    assert_eq!((refused.status, &refused.json()["error"]["code"]), (403, &json!("perimeter")));
    assert_eq!(served.gateway.asked().of("ann").len(), 0);
    assert!(panel(NOWHERE)["servers"]["s-ann"].is_object());
}
