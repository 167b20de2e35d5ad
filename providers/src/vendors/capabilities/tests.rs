use std::sync::Arc;

use serde_json::{Value, json};

use super::*;
use crate::chat::ResponseSchema;
use crate::vendors::openai::request;

fn asking_for_everything() -> ChatRequest {
    ChatRequest {
        max_tokens: Some(60),
        temperature: Some(0.0),
        top_p: Some(1.0),
        seed: Some(7),
        stop: vec!["x".to_owned()],
        top_logprobs: Some(20),
        response_schema: Some(Arc::new(ResponseSchema { name: "v".to_owned(), schema: json!({}) })),
        ..ChatRequest::user("hi")
    }
}

fn refusal(message: &str, param: &str, code: &str) -> Refusal {
    Refusal::of(400, &json!({"error": {"message": message, "param": param, "code": code}}))
}

/// The same for an answer that is one of a few texts, which a schema would forestall.
fn asking_for_choices() -> ChatRequest {
    let choices = Some(["A".to_owned(), "B".to_owned()].into());
    ChatRequest { response_schema: None, choices, ..asking_for_everything() }
}

/// The next body after this refusal, and what is left out of it.
fn after(capabilities: &Capabilities, message: &str, param: &str, code: &str) -> (Value, Vec<&'static str>) {
    capabilities.learn(&refusal(message, param, code), &asking_for_everything());
    let body = request::encode(&asking_for_everything(), "m", &capabilities.known());
    (serde_json::from_slice(&body.bytes).unwrap(), body.dropped)
}

fn fresh(dialect: Dialect) -> Capabilities {
    Capabilities::new(dialect)
}

#[test]
fn refused_parameter_is_left_out() {
    let check = |message: &str, param: &str, code: &str, expected: &[&str]| {
        let (body, dropped) = after(&fresh(Dialect::Compatible), message, param, code);
        assert_eq!(dropped, expected, "{message}");
        for name in expected {
            assert!(body.get(*name).is_none(), "{message}: {body}");
        }
    };
    check("You are not allowed to request logprobs from this model", "", "", &["logprobs"]);
    check(
        "Unsupported value: 'temperature' does not support 0 with this model. Only the default (1) value is supported.",
        "temperature",
        "unsupported_value",
        &["temperature"],
    );
    check("Unsupported parameter", "seed", "unsupported_parameter", &["seed"]);
    check("Unrecognized request argument supplied: top_p", "", "", &["top_p"]);
    check("`stop` is not supported with this model", "", "", &["stop"]);
    check("response_format is not supported by this server", "", "", &["response_format"]);
    check("This model does not support structured outputs", "", "", &["response_format"]);
    check("x", "response_format.type", "unsupported_value", &["response_format"]);
    check("Extra inputs are not permitted", "body.seed", "", &["seed"]);
}

#[test]
fn refused_choices_are_left_out() {
    let check = |dialect, message: &str, param: &str| {
        let capabilities = fresh(dialect);
        capabilities.learn(&refusal(message, param, ""), &asking_for_choices());
        let body = request::encode(&asking_for_choices(), "m", &capabilities.known());
        let sent: Value = serde_json::from_slice(&body.bytes).unwrap();
        assert_eq!(body.dropped, ["choices"], "{message}");
        assert_eq!((sent.get("structured_outputs"), sent.get("grammar")), (None, None), "{message}");
    };
    check(Dialect::Vllm, "structured outputs are not supported by this model", "");
    check(Dialect::Vllm, "Extra inputs are not permitted", "body.structured_outputs");
    check(Dialect::LlamaCpp, "Failed to initialize samplers: failed to parse grammar", "");
    check(Dialect::LlamaCpp, "Unrecognized request argument supplied: grammar", "");
}

#[test]
fn other_refusals_teach_nothing() {
    let check = |message: &str, param: &str, code: &str| {
        let capabilities = fresh(Dialect::Compatible);
        capabilities.learn(&refusal(message, param, code), &asking_for_everything());
        assert_eq!(capabilities.known().revision(), 0, "{message}");
    };
    check(
        "Invalid schema for response_format 'verdict': 'additionalProperties' is required",
        "response_format",
        "",
    );
    check("temperature must be non-negative, got -1.0.", "temperature", "");
    check("image input is not supported", "", "");
    check("max_tokens_per_day is not supported", "", "");
    check("", "", "");
}

#[test]
fn parameter_that_was_not_sent_teaches_nothing() {
    let capabilities = fresh(Dialect::Vllm);
    capabilities.learn(&refusal("seed is not supported", "", ""), &ChatRequest::user("hi"));
    capabilities.learn(&refusal("failed to parse grammar", "", ""), &asking_for_everything());
    capabilities.learn(&refusal("top_logprobs must be at most 5", "", ""), &ChatRequest::user("hi"));
    assert_eq!(capabilities.known().revision(), 0);
}

#[test]
fn allowed_number_of_alternatives_is_read() {
    let check = |message: &str, expected: Option<u8>| {
        let (body, dropped) = after(&fresh(Dialect::Vllm), message, "", "");
        assert_eq!(body.get("top_logprobs"), expected.map(Value::from).as_ref(), "{message}");
        assert_eq!(dropped, [if expected.is_some() { "top_logprobs" } else { "logprobs" }], "{message}");
    };
    check("top_logprobs must be between 0 and 5", Some(5));
    check(
        "Requested sample logprobs of 20, which is greater than max allowed: 10 (parameter=logprobs, value=20)",
        Some(10),
    );
    check(
        "Invalid 'top_logprobs': integer above maximum value. Expected a value <= 8, but got 20 instead.",
        Some(8),
    );
    check("Requested sample logprobs of 20, which is greater than max allowed: 0", None);
    check("top_logprobs exceeds what this server gives", None);
}

#[test]
fn cap_of_answer_switches_its_name_once() {
    let capabilities = fresh(Dialect::Compatible);
    let message = "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.";
    let (body, dropped) = after(&capabilities, message, "max_tokens", "unsupported_parameter");
    assert_eq!((body.get("max_tokens"), body["max_completion_tokens"].as_u64()), (None, Some(60)));
    assert!(dropped.is_empty());
    let revision = capabilities.known().revision();
    after(&capabilities, "'max_completion_tokens' is not supported", "max_completion_tokens", "");
    assert_eq!(capabilities.known().revision(), revision, "no way back");

    let (body, _) = after(&fresh(Dialect::OpenAi), "unknown parameter max_completion_tokens", "", "");
    assert_eq!(body["max_tokens"].as_u64(), Some(60));
}

#[test]
fn lessons_add_up() {
    let capabilities = fresh(Dialect::OpenAi);
    after(&capabilities, "logprobs are not supported", "", "");
    let (_, dropped) = after(&capabilities, "x", "temperature", "unsupported_value");
    assert_eq!(dropped, ["logprobs", "temperature"]);
    assert_eq!(capabilities.known().revision(), 2);
}

#[test]
fn snapshot_says_what_was_learned_and_restores_it() {
    let capabilities = fresh(Dialect::Compatible);
    assert!(capabilities.snapshot().is_empty());
    after(&capabilities, "Unsupported parameter: 'max_tokens' is not supported", "max_tokens", "");
    after(&capabilities, "top_logprobs must be between 0 and 5", "", "");
    after(&capabilities, "x", "temperature", "unsupported_value");
    let learned = capabilities.snapshot();
    let json = json!({
        "refused": ["temperature"], "answer_cap": "max_completion_tokens", "most_alternatives": 5,
    });
    assert_eq!(serde_json::to_value(&learned).unwrap(), json);

    let kept: Learned = serde_json::from_value(json).unwrap();
    let restored = fresh(Dialect::Compatible);
    restored.restore(&kept);
    assert_eq!((restored.snapshot(), restored.known().revision()), (learned, 1));
    restored.restore(&Learned { refused: vec!["telepathy".to_owned()], ..Learned::default() });
    assert_eq!((restored.snapshot(), restored.known().revision()), (kept, 1));
}

#[test]
fn clones_share_what_is_learned() {
    let capabilities = fresh(Dialect::Vllm);
    after(&capabilities.clone(), "seed is not supported", "", "");
    assert_eq!(capabilities.snapshot().refused, ["seed"]);
}
