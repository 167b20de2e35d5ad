//! What is asked, and how often.

use gateway::verdict::AbstentionKind;
use serde_json::json;

use super::{case, quality};
use crate::support::gateway::Gateway;
use crate::support::judges::{Judges, prompt_of};
use crate::support::panel::{NOWHERE, panel, with};

#[tokio::test]
async fn each_judge_is_asked_once_and_the_middle_vote_is_the_value() {
    let gateway = Gateway::of(Judges::saying("2", "4", "5")).await;
    let verdict = gateway.judge(case()).await;
    assert_eq!(gateway.asked().names(), ["ann", "bob", "cid"]);
    assert_eq!(quality(&verdict).value, Some(json!(4.0)));
    assert_eq!((quality(&verdict).score, quality(&verdict).passed), (Some(0.75), Some(true)));
    assert!(verdict.quorum.met && !verdict.quorum.degraded);
    assert_eq!((verdict.calls.asked, verdict.calls.reused, verdict.calls.repaired), (3, 0, 0));
}

#[tokio::test]
async fn criteria_are_asked_one_by_one_or_together() {
    let criterion = |name: &str| json!({"name": name, "type": "ordinal", "scale": [1, 2, 3, 4, 5]});
    let rubric = |ask: &str| json!({"rubrics": {"quality": {"ask": ask, "criteria": [criterion("tone"), criterion("facts")]}}});
    let json_judges = json!({"judges": {"ann": {"template": "g-eval"}, "bob": {"template": "g-eval"}, "cid": {"template": "g-eval"}}});
    let file = with(panel(NOWHERE), json_judges);
    let answer =
        "{\"tone\": {\"score\": 2, \"reason\": \"curt\"}, \"facts\": {\"score\": 5, \"reason\": \"right\"}}";

    let gateway =
        Gateway::scripted(&with(file.clone(), rubric("together")), Judges::saying(answer, answer, answer))
            .await;
    let verdict = gateway.judge(case()).await;
    assert_eq!(gateway.asked().count(), 3, "one call a judge");
    assert_eq!(verdict.criteria["tone"].value, Some(json!(2.0)));
    assert_eq!(verdict.criteria["facts"].value, Some(json!(5.0)));
    assert_eq!(verdict.criteria["tone"].votes[0].rationale.as_deref(), Some("curt"));
    let stored = gateway.close().await;
    let rows = stored.judgments(&verdict.id, "q1").await;
    assert_eq!(rows.len(), 6);
    let calls: std::collections::BTreeSet<&str> = rows.iter().map(|row| row.call_id.as_str()).collect();
    assert_eq!(calls.len(), 3, "judgments of one call share its id");

    let gateway = Gateway::scripted(
        &with(file, rubric("per_criterion")),
        Judges::saying("{\"score\": 3}", "{\"score\": 3}", "{\"score\": 3}"),
    )
    .await;
    let verdict = gateway.judge(case()).await;
    assert_eq!(gateway.asked().count(), 6, "one call a judge and criterion");
    assert_eq!(verdict.criteria["tone"].value, Some(json!(3.0)));
}

#[tokio::test]
async fn an_answer_that_lacks_a_criterion_leaves_that_one_open_alone() {
    let criterion = |name: &str| json!({"name": name, "type": "ordinal", "scale": [1, 2, 3, 4, 5]});
    let file = with(
        panel(NOWHERE),
        json!({
            "judges": {"ann": {"template": "g-eval"}, "bob": {"template": "g-eval"}, "cid": {"template": "g-eval"}},
            "rubrics": {"quality": {"ask": "together", "criteria": [criterion("tone"), criterion("facts")]}},
        }),
    );
    let whole = "{\"tone\": 4, \"facts\": 4}";
    let gateway = Gateway::scripted(&file, Judges::saying(whole, whole, "{\"tone\": 1}")).await;
    let verdict = gateway.judge(case()).await;
    assert_eq!(verdict.criteria["tone"].votes.len(), 3);
    assert_eq!(verdict.criteria["facts"].votes.len(), 2);
    assert_eq!(verdict.criteria["facts"].abstentions[0].kind, AbstentionKind::Unparseable);
    assert_eq!(verdict.quorum.voted, 2, "the criterion with the fewest votes");
}

#[tokio::test]
async fn sampled_scoring_asks_with_rising_seeds_and_votes_the_mean() {
    let change = json!({"judges": {"ann": {"scoring": "sampled", "params": {"samples": 4, "seed": 40}}}});
    let judges = Judges::saying("3", "3", "3").answering("ann", |request| {
        providers::ScriptedReply::text(if request.seed.is_some_and(|seed| seed < 42) { "2" } else { "5" })
    });
    let gateway = Gateway::scripted(&with(panel(NOWHERE), change), judges).await;
    let verdict = gateway.judge(case()).await;
    let mut seeds: Vec<Option<u64>> = gateway.asked().of("ann").iter().map(|request| request.seed).collect();
    seeds.sort_unstable();
    assert_eq!(seeds, [Some(40), Some(41), Some(42), Some(43)]);
    assert!(gateway.asked().of("ann").iter().all(|request| request.temperature == Some(1.0)));
    let vote = &quality(&verdict).votes[0];
    assert_eq!((vote.judge.as_str(), &vote.value), ("ann", &json!(3.5)));
    assert_eq!(serde_json::to_value(vote.scoring).unwrap(), json!("sampled"));
}

#[tokio::test]
async fn the_case_text_stands_in_the_prompt_as_it_is() {
    let gateway = Gateway::of(Judges::saying("3", "3", "3")).await;
    gateway.judge(json!({"output": "use {{ input }} and {% raw %} and {answer}"})).await;
    for request in gateway.asked().of("ann") {
        assert!(prompt_of(&request).contains("use {{ input }} and {% raw %} and {answer}"));
    }
}

#[tokio::test]
async fn a_random_review_is_drawn_before_the_first_call_and_says_so() {
    let share = |share: f64| json!({"panels": {"default": {"escalate": {"random_review_share": share}}}});
    let gateway = Gateway::scripted(&with(panel(NOWHERE), share(1.0)), Judges::saying("5", "5", "5")).await;
    let verdict = gateway.judge(case()).await;
    assert_eq!((verdict.escalated, super::reasons(&verdict)), (true, vec![String::from("random_review")]));
    let stored = gateway.close().await;
    assert_eq!(stored.open_triage().await, 1);

    // The draw goes by case: of many, about the share is drawn, and the same ones again.
    let gateway = Gateway::scripted(&with(panel(NOWHERE), share(0.3)), Judges::saying("5", "5", "5")).await;
    let mut drawn = Vec::new();
    for round in 0..2 {
        let mut of_round = Vec::new();
        for case in 0..40 {
            of_round.push(gateway.judge(json!({"id": format!("c{case}"), "output": "x"})).await.escalated);
        }
        if round == 0 { drawn = of_round } else { assert_eq!(drawn, of_round) }
    }
    let count = drawn.iter().filter(|is| **is).count();
    assert!((4..=20).contains(&count), "{count} of 40");
}
