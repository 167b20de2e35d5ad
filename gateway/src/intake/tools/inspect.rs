//! inspect's logs: one case for each sample and epoch.

use serde_json::{Map, Value, json};

use super::{Named, Tool, first_line, foreign};
use crate::intake::problem::{FieldProblem, Problem};

/// `outer` holds the log's `eval`, which names the model.
pub(super) fn case_of(sample: Value, outer: &Map<String, Value>) -> Named {
    let Value::Object(mut sample) = sample else { return foreign(Tool::Inspect, "samples") };
    let id = match sample.get("id") {
        Some(Value::String(id)) => id.clone(),
        Some(Value::Number(id)) => id.to_string(),
        None | Some(Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_)) => {
            return foreign(Tool::Inspect, "samples.id");
        }
    };
    let Some(epoch) = sample.get("epoch").and_then(Value::as_u64) else {
        return foreign(Tool::Inspect, "samples.epoch");
    };
    let name = format!("{id}-epoch-{epoch}");
    let output = match output_of(&sample) {
        Ok(output) => output,
        Err(problem) => return (Some(name), Err(problem)),
    };
    let mut case = Map::new();
    case.insert("id".into(), json!(name));
    case.insert("source".into(), json!(id));
    case.insert("output".into(), json!(output));
    if let Some(model) = model_of(&sample, outer) {
        case.insert("model".into(), json!(model));
    }
    for (field, key) in [("input", "input"), ("reference", "target"), ("metadata", "metadata")] {
        let value = sample.shift_remove(key).filter(|value| !is_empty(value));
        if let Some(value) = value {
            case.insert(field.into(), value);
        }
    }
    (Some(name), Ok(Value::Object(case)))
}

fn output_of(sample: &Map<String, Value>) -> Result<String, FieldProblem> {
    let message = |at: Option<&Value>| {
        let at = at.filter(|at| !at.is_null())?;
        let text = at.as_str().or_else(|| at.get("message").and_then(Value::as_str));
        Some(text.map_or_else(|| first_line(&at.to_string()), first_line))
    };
    if let Some(error) = message(sample.get("error")) {
        return Err(FieldProblem::field("error", Problem::NoResponse(error)));
    }
    let output = sample.get("output");
    if let Some(error) = message(output.and_then(|output| output.get("error"))) {
        return Err(FieldProblem::field("output.error", Problem::NoResponse(error)));
    }
    let choices = output.and_then(|output| output.get("choices")).and_then(Value::as_array);
    let first = choices.and_then(|choices| choices.first());
    let completion = output.and_then(|output| output.get("completion")).and_then(Value::as_str);
    // Older logs keep the answer in the first choice only.
    let text = completion.map(str::to_owned).or_else(|| text_of(first?.get("message")?.get("content")?));
    match text {
        // A model that answered with nothing has a choice; one that was never asked has none.
        Some(text) if !text.is_empty() || first.is_some() => Ok(text),
        Some(_) | None => {
            Err(FieldProblem::field("output.completion", Problem::NoResponse("no output".into())))
        }
    }
}

/// The text of a message, as inspect makes it: without reasoning, images and the like.
fn text_of(content: &Value) -> Option<String> {
    let Value::Array(parts) = content else { return content.as_str().map(str::to_owned) };
    let is_text = |part: &&Value| part.get("type").and_then(Value::as_str) == Some("text");
    let texts = parts.iter().filter(is_text).filter_map(|part| part.get("text").and_then(Value::as_str));
    Some(texts.collect::<Vec<_>>().join("\n"))
}

/// The model as the task named it, which is the provider's name and the model's.
fn model_of(sample: &Map<String, Value>, outer: &Map<String, Value>) -> Option<String> {
    let of_log = outer.get("eval").and_then(|eval| eval.get("model"));
    let of_sample = sample.get("output").and_then(|output| output.get("model"));
    let named = |model: Option<&Value>| model?.as_str().filter(|model| !model.is_empty()).map(str::to_owned);
    named(of_log).or_else(|| named(of_sample))
}

/// A target that was never set is an empty text.
fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::String(text) => text.trim().is_empty(),
        Value::Array(parts) => parts.is_empty(),
        Value::Bool(_) | Value::Number(_) | Value::Object(_) => false,
    }
}
