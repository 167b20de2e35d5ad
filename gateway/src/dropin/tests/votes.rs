//! How votes come together: ties, numbers, lists, partitions, rankings, pairs.

use aggregation::vote::Abstention;
use serde_json::{Value, json};

use super::super::{Asked, Contract, DecidedBy, FoldPolicy, LeafKind, OnTie, Outcome, Reply, fold};
use super::{answer_of, asked, asked_schema, final_policy, fold_all, members, said};

fn folded_json(asked: &Asked, replies: &[Value]) -> Value {
    let replies: Vec<Reply> = replies.iter().map(|reply| Reply::of_text(reply.to_string())).collect();
    serde_json::from_str(said(answer_of(&fold_all(asked, &replies)))).unwrap()
}

fn check(schema: &Value, replies: &[Value], panel: &Value) {
    assert_eq!(folded_json(&asked_schema(schema), replies), *panel, "{replies:?}");
}

fn object(properties: &Value) -> Value {
    let keys: Vec<&String> = properties.as_object().unwrap().keys().collect();
    json!({"type": "object", "properties": properties, "required": keys, "additionalProperties": false})
}

#[test]
fn a_tie_is_reported_then_settled_by_label_or_lead() {
    let pair = |labels: &Value| asked_schema(&object(&json!({"winner": {"enum": labels}})));
    let replies = ["{\"winner\":\"A\"}", "{\"winner\":\"B\"}"].map(Reply::of_text);
    let members = members(replies.into_iter().map(Ok).collect());
    let plain = Contract::of(&pair(&json!(["A", "B"])));
    let not_final = FoldPolicy { is_final: false, ..final_policy(2) };
    assert_eq!(fold(&plain, &members, &not_final).outcome, Outcome::Tied { paths: vec!["winner".into()] });
    let lead = fold(&plain, &members, &final_policy(2));
    assert!(answer_of(&lead).escalated);
    assert_eq!(said(answer_of(&lead)), "{\"winner\":\"A\"}");
    assert_eq!(lead.leaves[0].decided_by, DecidedBy::Lead);
    let refuse = FoldPolicy { on_tie: OnTie::Refuse, ..final_policy(2) };
    assert!(matches!(fold(&plain, &members, &refuse).outcome, Outcome::Tied { .. }));
    let missing = FoldPolicy { seats: 3, ..final_policy(2) };
    assert_eq!(fold(&plain, &members, &missing).outcome, Outcome::BelowQuorum { answered: 2, needed: 3 });
    let own = fold(&Contract::of(&pair(&json!(["A", "B", "tie"]))), &members, &final_policy(2));
    assert_eq!(said(answer_of(&own)), "{\"winner\":\"tie\"}");
    assert_eq!((own.leaves[0].decided_by, answer_of(&own).escalated), (DecidedBy::TieLabel, false));
}

#[test]
fn c_in_double_brackets_is_a_tie() {
    let prompt = "End with \"[[A]]\" if A is better, \"[[B]]\" if B is better, \"[[C]]\" for a tie.";
    let folded = fold_all(&asked(prompt), &["Well, [[A]]", "So: [[B]]"].map(Reply::of_text));
    assert_eq!(said(answer_of(&folded)), "Well, [[C]]");
    let labels = "[[A>>B]], [[A>B]], [[A=B]], [[B>A]], [[B>>A]]";
    let folded = fold_all(&asked(labels), &["[[A>>B]]", "[[A>B]]", "[[B>A]]"].map(Reply::of_text));
    assert_eq!(said(answer_of(&folded)), "[[A=B]]");
}

#[test]
fn integers_are_lower_medians_and_numbers_are_means() {
    let score = |kind: &Value| object(&json!({"score": kind}));
    let given = |values: &[Value]| values.iter().map(|value| json!({"score": value})).collect::<Vec<_>>();
    for (kind, votes, panel) in [
        (json!({"type": "integer"}), vec![json!(2), json!(4), json!(5), json!(3)], json!(3)),
        (json!({"type": "integer"}), vec![json!(9), json!(1), json!(9)], json!(9)),
        (
            json!({"type": "number", "minimum": 0, "maximum": 1}),
            vec![json!(0.7), json!(0.8), json!(1.0)],
            json!(0.833),
        ),
        (json!({"type": "number"}), vec![json!(0.9), json!(0.8), json!(0.1)], json!(0.8)),
        (json!({"type": "number"}), vec![json!(8), json!(9), json!(8)], json!(8.333)),
        (
            json!({"type": "number", "enum": [0.0, 0.5, 1.0]}),
            vec![json!(1.0), json!(0.5), json!(0)],
            json!(0.5),
        ),
        (
            json!({"anyOf": [{"type": "integer"}, {"type": "null"}]}),
            vec![json!(4), Value::Null, json!(2)],
            json!(2),
        ),
        (
            json!({"anyOf": [{"type": "integer"}, {"type": "null"}]}),
            vec![json!(4), Value::Null, Value::Null],
            Value::Null,
        ),
        (
            json!({"anyOf": [{"type": "boolean"}, {"type": "integer"}, {"type": "string"}]}),
            vec![json!(true), json!(true), json!(false)],
            json!(true),
        ),
    ] {
        check(&score(&kind), &given(&votes), &json!({"score": panel}));
    }
}

#[test]
fn a_whole_number_among_integers_stays_one() {
    let folded = folded_json(&asked(""), &[json!({"score": 4}), json!({"score": 5}), json!({"score": 1})]);
    assert_eq!(folded.to_string(), "{\"score\":4}");
}

#[test]
fn optional_values_are_voted_in_first() {
    let schema = json!({"type": "object", "properties": {"ok": {"type": "boolean"}, "severity": {"type": "integer"}}, "required": ["ok"]});
    check(
        &schema,
        &[json!({"ok": true}), json!({"ok": true, "severity": 3}), json!({"ok": true, "severity": 2})],
        &json!({"ok": true, "severity": 2}),
    );
    check(
        &schema,
        &[json!({"ok": true}), json!({"ok": true, "severity": 3}), json!({"ok": true})],
        &json!({"ok": true}),
    );
}

#[test]
fn maps_are_voted_per_key() {
    let schema = object(&json!({"result": {"type": "object", "additionalProperties": {"type": "integer"}}}));
    check(
        &schema,
        &[
            json!({"result": {"a": 5, "b": 1}}),
            json!({"result": {"a": 4, "b": 2}}),
            json!({"result": {"b": 2, "a": 5, "c": 1}}),
        ],
        &json!({"result": {"a": 5, "b": 2}}),
    );
}

#[test]
fn verdicts_on_statements_keep_the_leads_wording_and_the_winners_reason() {
    let of = |a: (i64, &str), b: (i64, &str)| {
        json!({"statements": [
            {"statement": "Paris is big.", "reason": a.1, "verdict": a.0},
            {"statement": "paris is old", "reason": b.1, "verdict": b.0},
        ]})
    };
    let mut third = of((1, "t1"), (1, "t2"));
    third["statements"].as_array_mut().unwrap().reverse();
    third["statements"][1]["statement"] = json!("Paris is BIG");
    let panel = folded_json(&asked(""), &[of((1, "f1"), (0, "f2")), of((0, "s1"), (1, "s2")), third]);
    let expected = json!({"statements": [
        {"statement": "paris is old", "reason": "t2", "verdict": 1},
        {"statement": "Paris is BIG", "reason": "t1", "verdict": 1},
    ]});
    assert_eq!(panel, expected);
    let panel = folded_json(
        &asked(""),
        &[of((1, "f1"), (0, "f2")), of((0, "s1"), (1, "s2")), of((0, "t1"), (0, "t2"))],
    );
    assert_eq!(panel["statements"][0]["reason"], "t1");
    assert_eq!(panel["statements"][1]["verdict"], 0);
}

#[test]
fn a_list_that_cannot_be_aligned_is_one_judges_own() {
    let of = |verdicts: &[(&str, i64)]| {
        let all: Vec<Value> =
            verdicts.iter().map(|(s, v)| json!({"statement": s, "attributed": v})).collect();
        json!({"classifications": all})
    };
    let replies = [of(&[("a", 1)]), of(&[("b", 1), ("c", 0)]), of(&[("d", 0), ("e", 0), ("f", 1)])];
    assert_eq!(folded_json(&asked(""), &replies), replies[1]);
}

#[test]
fn verdicts_without_names_go_by_position() {
    let of = |verdicts: &[&str]| json!({"verdicts": verdicts.iter().map(|v| json!({"verdict": v})).collect::<Vec<_>>()});
    let panel = folded_json(&asked(""), &[of(&["yes", "no"]), of(&["no", "no"]), of(&["yes", "yes"])]);
    assert_eq!(panel, of(&["yes", "no"]));
    let uneven = [of(&["no"]), of(&["yes", "no"]), of(&["yes", "no"])];
    assert_eq!(folded_json(&asked(""), &uneven), of(&["yes", "no"]));
    assert_eq!(folded_json(&asked("Statements: ['Lima is the capital.']"), &uneven), of(&["no"]));
}

#[test]
fn partitions_are_voted_per_statement() {
    let statement = |text: &str| json!({"statement": text, "reason": "r"});
    let of = |tp: &[&str], fp: &[&str], missed: &[&str]| {
        let list = |texts: &[&str]| texts.iter().map(|text| statement(text)).collect::<Vec<_>>();
        json!({"TP": list(tp), "FP": list(fp), "FN": list(missed)})
    };
    let panel = folded_json(
        &asked(""),
        &[of(&["a", "b"], &[], &["c"]), of(&["a"], &["b"], &["c"]), of(&["c"], &["a", "b"], &[])],
    );
    assert_eq!(panel, of(&["a"], &["b"], &["c"]));
    let statements = json!({"type": "array", "items": object(&json!({"statement": {"type": "string"}, "reason": {"type": "string"}}))});
    let schema = object(&json!({"TP": statements, "FP": statements, "FN": statements}));
    assert_eq!(Contract::of(&asked_schema(&schema)).plan(), super::super::Plan::Panel);
    check(
        &schema,
        &[of(&["a"], &["b"], &[]), of(&["a"], &[], &["b"]), of(&[], &["a", "b"], &[])],
        &of(&["a"], &["b"], &[]),
    );
}

#[test]
fn rankings_add_up_places() {
    let of = |names: &[&str]| {
        let ranked = names.iter().enumerate().map(|(index, name)| json!({"model": name, "rank": index + 1}));
        json!({"ordered_models": ranked.collect::<Vec<_>>()})
    };
    let panel = folded_json(&asked(""), &[of(&["a", "b", "c"]), of(&["b", "c", "a"]), of(&["c", "b", "a"])]);
    assert_eq!(panel, of(&["b", "c", "a"]));
    let folded = fold_all(
        &asked(""),
        &[of(&["a", "b"]), of(&["a", "b"]), of(&["b", "a"])].map(|reply| Reply::of_text(reply.to_string())),
    );
    assert_eq!(folded.leaves[0].kind, LeafKind::Rank);
    assert_eq!(folded.leaves[0].path, "ordered_models[a].rank");
}

#[test]
fn pass_and_score_come_from_one_judge() {
    let of = |pass: bool, score: f64, reason: &str| json!({"reason": reason, "pass": pass, "score": score});
    let panel = folded_json(&asked(""), &[of(true, 0.6, "a"), of(true, 0.7, "b"), of(false, 0.3, "c")]);
    assert_eq!(panel, of(true, 0.6, "a"));
    let panel = folded_json(&asked(""), &[of(true, 0.6, "a"), of(true, 0.7, "b"), of(true, 0.8, "c")]);
    assert_eq!(panel, of(true, 0.7, "b"));
}

#[test]
fn weights_count_and_the_reason_is_a_winners() {
    let asked =
        asked_schema(&object(&json!({"reasoning": {"type": "string"}, "score": {"type": "boolean"}})));
    let reply = |score: bool| {
        Ok(Reply::of_text(json!({"reasoning": format!("so {score}"), "score": score}).to_string()))
    };
    let mut members = members(vec![reply(true), reply(true), reply(false)]);
    members[2].weight = 3.0;
    let folded = fold(&Contract::of(&asked), &members, &final_policy(3));
    assert_eq!(answer_of(&folded).representative, 2);
    assert_eq!(said(answer_of(&folded)), "{\"reasoning\":\"so false\",\"score\":false}");
    for member in &mut members {
        member.weight = f64::NAN;
    }
    assert_eq!(answer_of(&fold(&Contract::of(&asked), &members, &final_policy(3))).representative, 0);
}

#[test]
fn missing_votes_and_refusals_are_told_apart() {
    let asked = asked("GRADE: C or GRADE: I");
    let refused = || Ok(Reply { refusal: Some("I won't.".into()), ..Reply::of_text("") });
    let contract = Contract::of(&asked);
    let outcome = |replies| fold(&contract, &members(replies), &final_policy(3)).outcome;
    assert_eq!(outcome(vec![refused(), refused(), refused()]), Outcome::Refused { text: "I won't.".into() });
    let one = || Ok(Reply::of_text("GRADE: C"));
    assert_eq!(
        outcome(vec![one(), refused(), Err(Abstention::TimedOut)]),
        Outcome::BelowQuorum { answered: 1, needed: 2 }
    );
    assert_eq!(outcome(Vec::new()), Outcome::BelowQuorum { answered: 0, needed: 2 });
    assert!(matches!(outcome(vec![one(), one(), Err(Abstention::RateLimited)]), Outcome::Answer(_)));
}

#[test]
fn disagreement_is_reported_where_a_scale_is_known() {
    let asked = asked_schema(&object(
        &json!({"ok": {"type": "boolean"}, "score": {"type": "integer", "minimum": 1, "maximum": 5}, "free": {"type": "number"}}),
    ));
    let replies = [(true, 1), (true, 5), (false, 5)]
        .map(|(ok, score)| Reply::of_text(json!({"ok": ok, "score": score, "free": 77.5}).to_string()));
    let folded = fold_all(&asked, &replies);
    let found: Vec<Option<f64>> = folded.leaves.iter().map(|leaf| leaf.disagreement).collect();
    assert!((found[0].unwrap() - 2.0 / 3.0).abs() < 1e-9);
    assert!((found[1].unwrap() - 1.0).abs() < 1e-9);
    assert_eq!(found[2], None);
    assert_eq!(folded.disagreement(), found[1]);
    assert_eq!(folded.leaves[1].domain.as_ref().map(Vec::len), Some(5));
}

#[test]
fn what_breaks_the_schema_when_put_together_gives_way_to_a_whole_reply() {
    let schema = object(&json!({"score": {"type": "number", "minimum": 0, "maximum": 1, "multipleOf": 0.5}}));
    let replies = ["{\"score\":0.5}", "{\"score\":1.0}"].map(Reply::of_text);
    let folded = fold_all(&asked_schema(&schema), &replies);
    assert_eq!(said(answer_of(&folded)), "{\"score\":0.5}");
    assert_eq!((folded.leaves[0].decided_by, &folded.leaves[0].value), (DecidedBy::Whole, &json!(0.5)));
}
