//! What holds for any schema and any replies.

use proptest::prelude::*;
use serde_json::{Map, Value, json};

use super::super::{Answer, Asked, Contract, DecidedBy, FoldPolicy, LeafKind, Outcome, Reply, fold};
use super::{answer_of, asked, asked_schema, final_policy, members, said};

const KEYS: [&str; 8] = ["verdict", "score", "pass", "reason", "claims", "label", "extra", "result"];

/// A schema as clients write them, with a value that keeps to it.
fn schema(depth: u32) -> BoxedStrategy<Value> {
    let leaf = prop_oneof![
        Just(json!({"type": "boolean"})),
        Just(json!({"type": "integer", "minimum": 1, "maximum": 5})),
        Just(json!({"type": "integer"})),
        Just(json!({"type": "number", "minimum": 0, "maximum": 1})),
        Just(json!({"enum": ["yes", "no", "tie"]})),
        Just(json!({"type": "number", "enum": [0.0, 0.5, 1.0]})),
        Just(json!({"type": "string"})),
        Just(json!({"type": "string", "pattern": "^(a|b)$"})),
        Just(json!({"anyOf": [{"type": "integer"}, {"type": "null"}]})),
        Just(json!({"type": "array", "items": {"type": "string"}})),
        Just(json!({"type": "object", "additionalProperties": {"type": "integer"}})),
    ];
    if depth == 0 {
        return leaf.boxed();
    }
    let object = prop::collection::vec((prop::sample::select(&KEYS[..]), schema(depth - 1), any::<bool>()), 1..5)
        .prop_map(|fields| {
            let required: std::collections::BTreeSet<&str> =
                fields.iter().filter(|(_, _, needed)| *needed).map(|(key, _, _)| *key).collect();
            let properties: Map<String, Value> =
                fields.iter().map(|(key, schema, _)| ((*key).to_owned(), schema.clone())).collect();
            json!({"type": "object", "properties": properties, "required": required, "additionalProperties": false})
        });
    let list = schema(depth - 1).prop_map(|items| json!({"type": "array", "items": items, "maxItems": 3}));
    prop_oneof![3 => object, 1 => list, 1 => leaf].boxed()
}

/// A value of the schema, chosen by `seed`.
fn value(schema: &Value, seed: &mut u64) -> Value {
    let mut draw = |n: u64| {
        *seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (*seed >> 33) % n
    };
    if let Some(Value::Array(options)) = schema.get("enum") {
        return options[usize::try_from(draw(options.len() as u64)).unwrap()].clone();
    }
    if schema.get("anyOf").is_some() {
        return if draw(3) == 0 { Value::Null } else { json!(draw(9)) };
    }
    match schema["type"].as_str().unwrap() {
        "boolean" => json!(draw(2) == 0),
        "integer" => json!(1 + draw(5)),
        "number" => json!(f64::from(u32::try_from(draw(11)).unwrap()) / 10.0),
        "string" if schema.get("pattern").is_some() => json!(["a", "b"][usize::try_from(draw(2)).unwrap()]),
        "string" => json!(format!("text number {} of many", draw(4))),
        "array" => {
            let count = draw(4);
            Value::Array((0..count).map(|_| value(&schema["items"], seed)).collect())
        }
        _ => match schema.get("properties") {
            Some(Value::Object(properties)) => {
                let required = schema["required"].as_array().unwrap();
                let mut out = Map::new();
                for (key, property) in properties {
                    let own = value(property, seed);
                    *seed = seed.wrapping_add(7);
                    if required.contains(&json!(key)) || !seed.is_multiple_of(3) {
                        out.insert(key.clone(), own);
                    }
                }
                Value::Object(out)
            }
            _ => json!({"a": draw(3), "b": draw(3)}),
        },
    }
}

fn object_schema() -> impl Strategy<Value = Value> {
    schema(3)
        .prop_filter("an object", |schema| schema["type"] == "object" && schema.get("properties").is_some())
}

fn replies(schema: &Value, seeds: &[u64]) -> Vec<Reply> {
    seeds.iter().map(|seed| Reply::of_text(value(schema, &mut seed.clone()).to_string())).collect()
}

fn folded(asked: &Asked, replies: &[Reply]) -> super::super::Folded {
    fold(
        &Contract::of(asked),
        &members(replies.iter().cloned().map(Ok).collect()),
        &final_policy(replies.len()),
    )
}

fn json_of(answer: &Answer) -> Value {
    serde_json::from_str(said(answer)).unwrap()
}

fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        "[a-z\\[\\]{}:\"$#/<> \n]{0,12}".prop_map(Value::from),
        prop::sample::select(vec!["object", "array", "string", "integer", "#", "#/a", "#/$defs/x"])
            .prop_map(Value::from),
    ];
    let words = prop::sample::select(vec![
        "type",
        "properties",
        "items",
        "$ref",
        "$defs",
        "enum",
        "const",
        "anyOf",
        "allOf",
        "required",
        "pattern",
        "additionalProperties",
        "score",
        "rank",
        "name",
        "statement",
        "TP",
        "FP",
        "minimum",
        "x",
    ]);
    leaf.prop_recursive(5, 48, 5, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::Array),
            prop::collection::vec((words.clone(), inner), 0..5).prop_map(|all| Value::Object(
                all.into_iter().map(|(key, value)| (key.to_owned(), value)).collect()
            )),
        ]
    })
}

fn any_text() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        any_json().prop_map(|value| value.to_string()),
        prop::sample::select(vec![
            "GRADE: C",
            "[[A]]",
            "[[B]]",
            "[RESULT] 4",
            "\\boxed{1}",
            "<score>3</score>",
            "Accuracy: 5",
            "yes",
            "4/5",
            "\n",
            "```",
            "```json\n",
            "<think>",
            "</think>",
            "\"",
            "[Attributed]",
            " [Not Attributed]\n",
            "> q",
            "Final verdict for each statement in order: Yes. No.",
            "I'm sorry, I cannot help",
            "１０分",
            "\u{200b}",
        ])
        .prop_map(str::to_owned),
        ".{0,20}",
    ];
    prop::collection::vec(piece, 0..5).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn the_answer_always_keeps_to_the_schema(schema in object_schema(), seeds in prop::collection::vec(any::<u64>(), 1..6)) {
        let validator = jsonschema::validator_for(&schema).unwrap();
        let folded = folded(&asked_schema(&schema), &replies(&schema, &seeds));
        let answer = json_of(answer_of(&folded));
        prop_assert!(validator.is_valid(&answer), "{answer} for {schema}");
    }

    #[test]
    fn unanimous_replies_come_back_as_written(schema in object_schema(), seed in any::<u64>(), count in 1_usize..5) {
        let replies = replies(&schema, &vec![seed; count]);
        let folded = folded(&asked_schema(&schema), &replies);
        let answer = answer_of(&folded);
        prop_assert_eq!(said(answer), &replies[0].text);
        prop_assert!(answer.verbatim && !answer.escalated);
    }

    #[test]
    fn order_matters_for_declared_ties_only(seeds in prop::collection::vec((0_u64..3, 1_i64..6, 0_u32..11), 3..6)) {
        let schema = json!({"type": "object", "properties": {"label": {"enum": ["a", "b", "c"]}, "score": {"type": "integer"}, "share": {"type": "number", "minimum": 0, "maximum": 1}}, "required": ["label", "score", "share"]});
        let asked = asked_schema(&schema);
        let mut replies: Vec<Reply> = seeds
            .iter()
            .map(|(label, score, share)| json!({"label": (["a", "b", "c"][usize::try_from(*label).unwrap()]), "score": score, "share": f64::from(*share) / 10.0}))
            .map(|value| Reply::of_text(value.to_string()))
            .collect();
        let forth = folded(&asked, &replies);
        replies.reverse();
        let back = folded(&asked, &replies);
        for (leaf, other) in forth.leaves.iter().zip(&back.leaves) {
            if leaf.decided_by != DecidedBy::Lead {
                let values = [&leaf.value, &other.value].map(|value| value.as_f64().map(|x| format!("{x:.6}")));
                prop_assert!(leaf.value == other.value || values[0].is_some() && values[0] == values[1], "{leaf:?} {other:?}");
            }
        }
    }

    #[test]
    fn statements_in_any_order_get_the_same_verdicts(votes in prop::collection::vec((prop::collection::vec(0_i64..2, 4), any::<u64>()), 1..6)) {
        let reply = |(verdicts, seed): &(Vec<i64>, u64)| {
            let mut order: Vec<usize> = (0..verdicts.len()).collect();
            order.sort_by_key(|index| (index + 1).wrapping_mul(usize::try_from(seed % 7919).unwrap()) % 7);
            let list: Vec<Value> = order.iter().map(|index| json!({"statement": format!("Statement {index}."), "verdict": verdicts[*index]})).collect();
            Reply::of_text(json!({"statements": list}).to_string())
        };
        let folded = folded(&asked(""), &votes.iter().map(reply).collect::<Vec<_>>());
        let panel = json_of(answer_of(&folded));
        for element in panel["statements"].as_array().unwrap() {
            let index: usize = element["statement"].as_str().unwrap()[10..11].parse().unwrap();
            let mut given: Vec<i64> = votes.iter().map(|(verdicts, _)| verdicts[index]).collect();
            given.sort_unstable();
            prop_assert_eq!(&element["verdict"], &json!(given[(given.len() - 1) / 2]));
        }
        prop_assert_eq!(panel["statements"].as_array().unwrap().len(), 4);
    }

    #[test]
    fn integers_are_always_some_judges_own(schema in object_schema(), seeds in prop::collection::vec(any::<u64>(), 1..6)) {
        let folded = folded(&asked_schema(&schema), &replies(&schema, &seeds));
        for leaf in folded.leaves.iter().filter(|leaf| leaf.kind == LeafKind::Integer) {
            prop_assert!(leaf.votes.iter().flatten().any(|vote| *vote == leaf.value), "{leaf:?}");
        }
    }

    #[test]
    fn tokens_join_to_the_content(schema in object_schema(), seeds in prop::collection::vec(any::<u64>(), 1..5), top in 0_u8..21) {
        let asked = Asked { wants_logprobs: true, top_logprobs: Some(top), ..asked_schema(&schema) };
        let folded = folded(&asked, &replies(&schema, &seeds));
        let answer = answer_of(&folded);
        let tokens = answer.logprobs.clone().unwrap();
        let joined: Vec<u8> = tokens.iter().flat_map(|token| token.token.bytes.clone()).collect();
        prop_assert_eq!(String::from_utf8(joined).unwrap(), said(answer));
        for token in &tokens {
            prop_assert!(token.top.len() <= usize::from(top));
            prop_assert!(token.token.logprob <= 0.0 && token.token.logprob.is_finite());
            prop_assert!(top == 0 || token.top.contains(&token.token), "{token:?}");
        }
    }

    #[test]
    fn nothing_panics(
        schema in any_json(),
        prompt in any_text(),
        texts in prop::collection::vec((any_text(), any_json(), any::<bool>()), 0..5),
        flags in (any::<bool>(), any::<bool>(), 0_u8..3),
    ) {
        let (wants_logprobs, is_final, way) = flags;
        let tool = json!([{"type": "function", "function": {"name": "judge", "parameters": schema}}]);
        let base = Asked { wants_logprobs, top_logprobs: Some(5), max_tokens: Some(5), ..asked(&prompt) };
        let asked = match way {
            0 => Asked { tools: Some(tool), tool_choice: Some(json!("required")), ..base },
            1 => Asked { response_format: asked_schema(&schema).response_format, ..base },
            _ => base,
        };
        let replies: Vec<_> = texts
            .into_iter()
            .map(|(text, json, is_call)| Ok(if is_call { Reply::of_call("judge", json.to_string()) } else { Reply::of_text(text) }))
            .collect();
        let contract = Contract::of(&asked);
        contract.plan();
        let policy = FoldPolicy { is_final, ..final_policy(replies.len()) };
        let folded = fold(&contract, &members(replies), &policy);
        if let Outcome::Answer(answer) = &folded.outcome {
            prop_assert!(answer.content.is_some() != answer.tool_call.is_some());
            let joined: Option<Vec<u8>> = answer.logprobs.as_ref().map(|tokens| tokens.iter().flat_map(|token| token.token.bytes.clone()).collect());
            prop_assert!(joined.is_none_or(|joined| Some(joined) == answer.content.clone().map(String::into_bytes)));
        }
    }

    #[test]
    fn a_unanimous_text_is_never_reworded(text in any_text(), prompt in any_text()) {
        let replies = vec![Reply::of_text(text.as_str()); 3];
        if let Outcome::Answer(answer) = folded(&asked(&prompt), &replies).outcome {
            let said = said(&answer);
            let is_json = serde_json::from_str::<Value>(said).is_ok();
            prop_assert!(text.contains(said) || is_json, "{said:?}");
            prop_assert!(!answer.escalated);
        }
    }

    #[test]
    fn a_texts_verdict_is_one_that_a_judge_wrote(votes in prop::collection::vec(1_i64..11, 1..6)) {
        let replies: Vec<Reply> = votes.iter().map(|vote| Reply::of_text(format!("Because of {vote} things. [RESULT] {vote}"))).collect();
        let folded = folded(&asked(""), &replies);
        let text = said(answer_of(&folded)).to_owned();
        let panel: i64 = text.rsplit(' ').next().unwrap().parse().unwrap();
        prop_assert!(votes.contains(&panel));
        prop_assert!(replies.iter().any(|reply| reply.text == text));
    }
}

#[test]
fn a_schema_that_leads_back_to_itself_ends() {
    let schema = json!({
        "$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}, "tree": {"type": "object", "properties": {"verdict": {"type": "boolean"}, "children": {"type": "array", "items": {"$ref": "#/$defs/tree"}}}}},
        "type": "object",
        "properties": {"x": {"$ref": "#/$defs/a"}, "tree": {"$ref": "#/$defs/tree"}, "self": {"$ref": "#"}},
    });
    let reply = Reply::of_text(
        "{\"tree\": {\"verdict\": true, \"children\": [{\"verdict\": false, \"children\": []}]}}",
    );
    let folded = folded(&asked_schema(&schema), &vec![reply.clone(); 3]);
    assert_eq!(said(answer_of(&folded)), reply.text);
}

#[test]
fn a_huge_schema_is_read_in_bounds() {
    let mut schema = json!({"type": "boolean"});
    for _ in 0..60 {
        schema = json!({"type": "object", "properties": {"a": schema, "b": {"type": "string"}}});
    }
    let wide: Map<String, Value> =
        (0..6000).map(|index| (format!("k{index}"), json!({"type": "integer"}))).collect();
    for schema in [schema, json!({"type": "object", "properties": wide})] {
        let contract = Contract::of(&asked_schema(&schema));
        let folded = fold(&contract, &members(vec![Ok(Reply::of_text("{\"a\": {}}")); 2]), &final_policy(2));
        assert!(matches!(folded.outcome, Outcome::Answer(_) | Outcome::BelowQuorum { .. }));
    }
}
