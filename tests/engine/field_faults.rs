//! Faults seen in the field that only the whole can have; the others are tested where their part lives.

use aggregation::Order;
use gateway::verdict::AbstentionKind;
use serde_json::{Value, json};

use super::{abstention, case, quality};
use crate::support::gateway::Gateway;
use crate::support::judges::{Judges, prompt_of, weighed};
use crate::support::panel::{Folder, NOWHERE, panel, with};
use crate::support::upstream::{Reply, Upstream};

/// One judge of its own, asked over HTTP, its probabilities wanted.
fn single(base_url: &str, criterion: Value) -> Value {
    with(
        panel(base_url),
        json!({
            "judges": {"ann": {"scoring": "auto"}},
            "rubrics": {"quality": {"criteria": [with(json!({"name": "quality"}), criterion)]}},
            "panels": {"default": {"judges": ["ann"], "quorum": 1}},
        }),
    )
}

fn one_to_five() -> Value {
    json!({"type": "ordinal", "scale": [1, 2, 3, 4, 5]})
}

fn named(id: &str) -> Value {
    with(case(), json!({"id": id, "output": format!("Paris ({id}).")}))
}

#[tokio::test]
async fn ff_logp_005_minus_infinity_is_probability_zero_from_wire_to_store() {
    let body = r#"{"choices":[{"index":0,"message":{"role":"assistant","content":"pass"},"logprobs":{"content":[{"token":"pass","logprob":-0.2,"top_logprobs":[{"token":"pass","logprob":-0.2},{"token":"fail","logprob":-Infinity}]}]},"finish_reason":"stop"}]}"#;
    let upstream = Upstream::start(move |_| Reply { body: body.to_owned(), ..Reply::text("") });
    let gateway = Gateway::connected(&single(upstream.base_url(), json!({"type": "pass_fail"}))).await;
    let verdict = gateway.judge(case()).await;
    assert_eq!(quality(&verdict).value, Some(json!("pass")));
    let shown = serde_json::to_string(&verdict).unwrap();
    let stored = gateway.close().await;
    let rows = stored.judgments(&verdict.id, "q1").await;
    let rating: Value = serde_json::from_str(rows[0].outcome.as_ref().unwrap()).expect("stored JSON");
    assert_eq!(rating["distribution"]["two_way"][1], json!(0.0), "{rating}");
    assert!(!shown.contains("Infinity") && !shown.contains("NaN"), "{shown}");
}

#[tokio::test]
async fn ff_logp_007_a_vote_says_whether_it_was_weighed() {
    let replies = vec![weighed("4", &[("4", 0.7), ("5", 0.29)]), providers::ScriptedReply::text("4")];
    let gateway =
        Gateway::scripted(&single(NOWHERE, one_to_five()), Judges::default().in_order("ann", replies)).await;
    let mut summary = gateway::summary::RunSummary::new();
    let mut found = Vec::new();
    for id in ["c1", "c2"] {
        let verdict = gateway.judge(named(id)).await;
        let vote = &quality(&verdict).votes[0];
        found.push((json!(vote.scoring), vote.fallback));
        summary.add(&verdict, false);
    }
    assert_eq!(found, [(json!("expected"), false), (json!("discrete"), true)]);
    let judge = &summary.judges["ann"];
    assert_eq!((judge.votes, judge.expected, judge.fallbacks), (2, 1, 1), "1 of 2 weighed");
}

#[tokio::test]
async fn ff_logp_008_missing_logprobs_leave_the_written_label_flagged() {
    let choice = json!({
        "index": 0, "message": {"role": "assistant", "content": "4"}, "logprobs": null, "finish_reason": "stop",
    });
    let upstream = Upstream::start(move |_| Reply::completion(&choice));
    let gateway = Gateway::connected(&single(upstream.base_url(), one_to_five())).await;
    for id in ["c1", "c2"] {
        let verdict = gateway.judge(named(id)).await;
        let vote = &quality(&verdict).votes[0];
        assert_eq!(
            (vote.value.clone(), vote.fallback, json!(vote.scoring)),
            (json!(4.0), true, json!("discrete"))
        );
        assert_eq!(
            verdict.warnings.iter().filter(|w| w.contains("logprobs")).count(),
            0,
            "{:?}",
            verdict.warnings
        );
    }
    assert_eq!(upstream.count(), 2, "nothing is asked again for it");
}

#[tokio::test]
async fn ff_logp_009_text_is_rebuilt_from_bytes() {
    let token = |text: &str, bytes: &[u8]| json!({"token": text, "bytes": bytes, "logprob": -0.1, "top_logprobs": [{"token": text, "bytes": bytes, "logprob": -0.1}]});
    let tokens = [token("\u{fffd}", &[233, 128]), token("\u{fffd}", &[154]), token("过", &[232, 191, 135])];
    let choice = json!({
        "index": 0, "message": {"role": "assistant", "content": "通过"}, "finish_reason": "stop",
        "logprobs": {"content": tokens},
    });
    let upstream = Upstream::start(move |_| Reply::completion(&choice));
    let scale = json!({"type": "nominal", "scale": ["通过", "不通过"]});
    let gateway = Gateway::connected(&single(upstream.base_url(), scale)).await;
    let verdict = gateway.judge(case()).await;
    assert_eq!(quality(&verdict).value, Some(json!("通过")));
}

#[tokio::test]
async fn ff_logp_010_a_lower_cap_is_learned_once() {
    let upstream = Upstream::start(|question| match question.body["top_logprobs"].as_u64() {
        Some(asked) if asked > 5 => Reply::error(400, "top_logprobs must be between 0 and 5"),
        _ => Reply::weighed("4", &[("4", -0.1), ("3", -2.4)]),
    });
    let gateway = Gateway::connected(&single(upstream.base_url(), one_to_five())).await;
    for id in ["c1", "c2", "c3"] {
        let verdict = gateway.judge(named(id)).await;
        assert_eq!(json!(quality(&verdict).votes[0].scoring), json!("expected"));
    }
    let asked: Vec<Option<u64>> =
        upstream.requests().iter().map(|body| body["top_logprobs"].as_u64()).collect();
    assert_eq!(asked, [Some(20), Some(5), Some(5), Some(5)]);
}

#[tokio::test]
async fn ff_pair_002_the_last_marker_decides_whichever_letter_it_is() {
    let text = "One could argue for [[A]] on style, yet the facts decide.\n[[B]]";
    let gateway = Gateway::of(Judges::saying(text, text, text)).await;
    let mut request = gateway.request(super::pair());
    request.panel = std::sync::Arc::new(gateway::panel::Panel {
        orders: gateway::panel::Orders::AsGiven,
        ..(*request.panel).clone()
    });
    let verdict = gateway.ask(request).await.expect("a verdict");
    assert_eq!(quality(&verdict).value, Some(json!("b")));
}

#[tokio::test]
async fn ff_pair_003_an_unreadable_order_leaves_the_pair_without_a_vote() {
    let judges = Judges::saying("A", "A", "-").answering("cid", |request| {
        let prompt = prompt_of(request);
        let sky_first = prompt.find("the sky") < prompt.find("red");
        providers::ScriptedReply::text(if sky_first { "A" } else { "Both texts are long." })
    });
    let gateway = Gateway::of(judges).await;
    let verdict = gateway.judge(super::pair()).await;
    assert_eq!(abstention(&verdict, "cid").kind, AbstentionKind::Unparseable);
    assert_eq!(quality(&verdict).votes.len(), 2);
}

#[tokio::test]
async fn ff_pair_006_the_display_order_is_what_is_stored() {
    let gateway = Gateway::of(Judges::saying("A", "A", "A")).await;
    let verdict = gateway.judge(super::pair()).await;
    let stored = gateway.close().await;
    let rows = stored.judgments(&verdict.id, "p1").await;
    let ann: Vec<_> = rows.iter().filter(|row| row.judge == "ann").collect();
    let chosen = |row: &gateway::store::rows::JudgmentRow| {
        let rating: Value = serde_json::from_str(row.outcome.as_ref().expect("a rating")).expect("JSON");
        rating["value"].clone()
    };
    // Shown first won twice: once as `a`, once, reversed, as `b`.
    assert_eq!(
        [(ann[0].order, chosen(ann[0])), (ann[1].order, chosen(ann[1]))],
        [(Order::AsGiven, json!("a")), (Order::Reversed, json!("b"))]
    );
}

#[tokio::test]
async fn ff_pair_007_a_pair_in_two_orders_is_one_case() {
    let gateway = Gateway::of(Judges::saying("tie", "tie", "tie")).await;
    let mut summary = gateway::summary::RunSummary::new();
    for n in 0..5 {
        summary
            .add(&gateway.judge(json!({"id": format!("p{n}"), "a": "x", "b": format!("y{n}")})).await, false);
    }
    assert_eq!((summary.cases, summary.criteria[0].ties, gateway.asked().of("ann").len()), (5, 5, 10));
}

#[tokio::test]
async fn ff_conf_001_case_text_is_never_expanded() {
    let template = "{# answer: bare #}\nQuestion: {{ input }}\nAnswer: {{ output }}\nReply with {{ form }}.";
    let folder = Folder::with_panel(&with(panel(NOWHERE), json!({"judges": {"ann": {"template": "mine"}}})));
    folder.write("mine/pointwise.jinja", template);
    let gateway = Gateway::in_folder(folder, Judges::saying("4", "4", "4")).await;
    gateway.judge(json!({"input": "q", "output": "use {{input}} and {% raw %} and {output}"})).await;
    for judge in ["ann", "bob"] {
        let prompt = prompt_of(&gateway.asked().of(judge)[0]);
        assert!(prompt.contains("use {{input}} and {% raw %} and {output}"), "{prompt}");
    }
}

#[tokio::test]
async fn ff_conf_002_missing_reference_makes_no_call() {
    let folder = Folder::with_panel(&with(panel(NOWHERE), json!({"judges": {"ann": {"template": "mine"}}})));
    folder.write(
        "mine/pairwise.jinja",
        "{# answer: bare #}\nCompare with {{ reference }}: {{ first }} {{ second }}\nReply with {{ form }}.",
    );
    let gateway = Gateway::in_folder(folder, Judges::saying("A", "A", "A")).await;
    let request = gateway.request(json!({"id": "c1", "a": "x", "b": "y"}));
    let error =
        gateway.app.in_force().check_ready(&request.panel, &request.case, false).expect_err("it is refused");
    assert!(error.to_string().contains("`reference` is missing"), "{error}");
    assert_eq!(gateway.asked().count(), 0);
    // With the field it is asked.
    let request = gateway.request(json!({"id": "c1", "a": "x", "b": "y", "reference": "z"}));
    assert!(gateway.app.in_force().check_ready(&request.panel, &request.case, false).is_ok());
}

#[tokio::test]
async fn ff_conf_003_a_structured_answer_is_shown_as_json() {
    let gateway = Gateway::of(Judges::saying("4", "4", "4")).await;
    gateway.judge(json!({"output": {"total": 12, "items": ["a"]}})).await;
    let prompt = prompt_of(&gateway.asked().of("ann")[0]);
    assert!(prompt.contains("{\"total\":12,\"items\":[\"a\"]}"), "{prompt}");
}

#[test]
fn ff_conf_004_a_template_that_contradicts_its_format_is_refused_at_load() {
    let folder = Folder::with_panel(&with(panel(NOWHERE), json!({"judges": {"ann": {"template": "mine"}}})));
    folder.write(
        "mine/pointwise.jinja",
        "{# answer: json #}\n{{ output }}\nWrite [RESULT] n at the end. {{ form }}",
    );
    let problems = folder.try_config().expect_err("it is refused");
    assert!(problems.contains("[RESULT]") && problems.contains("json"), "{problems}");
}

#[tokio::test]
async fn ff_conf_005_nobody_is_asked_about_an_empty_answer() {
    let gateway = Gateway::of(Judges::saying("4", "4", "4")).await;
    let verdict = gateway.judge(json!({"output": "  \n"})).await;
    assert_eq!(gateway.asked().count(), 0);
    let missing = abstention(&verdict, "ann");
    assert_eq!((missing.kind, json!(missing.reason)), (AbstentionKind::Excluded, json!("empty_candidate")));
    assert!(verdict.escalated && quality(&verdict).value.is_none());
}

#[test]
fn ff_conf_006_an_unknown_order_is_refused_at_load() {
    let file = with(panel(NOWHERE), json!({"panels": {"default": {"orders": "random-once"}}}));
    let problems = Folder::with_panel(&file).try_config().expect_err("it is refused");
    assert!(problems.contains("orders") && problems.contains("random-once"), "{problems}");
}
