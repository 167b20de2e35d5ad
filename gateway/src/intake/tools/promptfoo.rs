//! promptfoo's `-o results.json` and `-o results.jsonl`: one case for each test, prompt and provider.

use serde_json::{Map, Value, json};

use super::{Named, Tool, first_line, foreign};
use crate::intake::problem::{FieldProblem, Problem};

/// One result a line, instead of one document: the document begins with the name of the evaluation.
pub(super) fn is_lines(head: &[u8]) -> bool {
    let text = String::from_utf8_lossy(head);
    let first = text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
    first.contains("\"promptIdx\"") || (first.contains("\"gradingResult\"") && !first.contains("\"evalId\""))
}

pub(super) fn case_of(result: Value) -> Named {
    let Value::Object(mut result) = result else { return foreign(Tool::Promptfoo, "results.results") };
    let (Some(test), Some(prompt)) = (index(&result, "testIdx"), index(&result, "promptIdx")) else {
        return foreign(Tool::Promptfoo, "testIdx");
    };
    let Some(provider) = provider_of(&result) else { return foreign(Tool::Promptfoo, "provider") };
    let name = format!("test-{test}-prompt-{prompt}-{provider}");
    let output = match output_of(&mut result) {
        Ok(output) => output,
        Err(problem) => return (Some(name), Err(FieldProblem::field("response", problem))),
    };
    let vars = result.shift_remove("vars").unwrap_or_else(|| json!({}));
    let mut case = Map::new();
    case.insert("id".into(), json!(name));
    case.insert("source".into(), json!(format!("test-{test}")));
    case.insert("model".into(), json!(provider));
    case.insert("output".into(), output);
    if let Some(input) = input_of(&result) {
        case.insert("input".into(), input);
    }
    if let Some(reference) = reference_of(&vars, result.get("testCase")) {
        case.insert("reference".into(), reference);
    }
    case.insert("metadata".into(), vars);
    (Some(name), Ok(Value::Object(case)))
}

fn index(result: &Map<String, Value>, key: &str) -> Option<u64> {
    result.get(key)?.as_u64()
}

fn provider_of(result: &Map<String, Value>) -> Option<String> {
    let provider = result.get("provider")?;
    let id = provider.get("id").unwrap_or(provider);
    id.as_str().filter(|id| !id.is_empty()).map(str::to_owned)
}

/// An answer that failed promptfoo's own checks is an answer: only one that never came is a problem.
fn output_of(result: &mut Map<String, Value>) -> Result<Value, Problem> {
    let error = result.get("error").and_then(Value::as_str).map(first_line);
    let response = result.get_mut("response").and_then(Value::as_object_mut);
    let Some(response) = response else {
        return Err(Problem::NoResponse(error.unwrap_or_else(|| "no response".into())));
    };
    if let Some(error) = response.get("error").and_then(Value::as_str).filter(|error| !error.is_empty()) {
        return Err(Problem::NoResponse(first_line(error)));
    }
    let output = response.shift_remove("output").filter(|output| !output.is_null());
    output.ok_or_else(|| Problem::NoResponse(error.unwrap_or_else(|| "no output".into())))
}

/// The prompt as it was sent. Chat prompts are a JSON list of messages in a text.
fn input_of(result: &Map<String, Value>) -> Option<Value> {
    let raw = result.get("prompt")?.get("raw")?;
    let messages = raw.as_str().filter(|text| text.trim_start().starts_with('['));
    let messages = messages.and_then(|text| serde_json::from_str::<Vec<Value>>(text).ok());
    let messages = messages.filter(|messages| {
        !messages.is_empty() && messages.iter().all(|message| message.get("role").is_some())
    });
    Some(messages.map_or_else(|| raw.clone(), Value::Array))
}

/// Vars that hold the right answer, in order of preference.
const REFERENCE_VARS: [&str; 5] = ["expected", "reference", "ideal", "ground_truth", "target"];
/// Checks whose value is the right answer, and not a part or a pattern of it.
const REFERENCE_CHECKS: [&str; 2] = ["equals", "similar"];

/// Only where there is one right answer: two that differ are none.
fn reference_of(vars: &Value, test: Option<&Value>) -> Option<Value> {
    let named = REFERENCE_VARS.iter().filter_map(|name| vars.get(name));
    let checks = test.and_then(|test| test.get("assert")).and_then(Value::as_array);
    let is_reference = |check: &&Value| {
        check.get("type").and_then(Value::as_str).is_some_and(|kind| REFERENCE_CHECKS.contains(&kind))
    };
    let checked = checks.into_iter().flatten().filter(is_reference).filter_map(|check| check.get("value"));
    let is_text = |value: &&Value| match value {
        Value::String(text) => !text.trim().is_empty(),
        Value::Number(_) | Value::Bool(_) => true,
        Value::Null | Value::Array(_) | Value::Object(_) => false,
    };
    let mut found: Vec<&Value> = named.chain(checked).filter(is_text).collect();
    found.dedup();
    match found.as_slice() {
        [only] => Some((*only).clone()),
        _ => None,
    }
}
