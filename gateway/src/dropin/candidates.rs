//! The JSON values that a reply offers: arguments of its calls and objects in its text, the last one first.

use std::ops::Range;

use serde_json::Value;

use crate::engine::reply::Unscaled;

use super::asked::Reply;

#[derive(Debug, Clone, PartialEq)]
pub(super) struct Candidate {
    pub(super) value: Value,
    /// As written, where that is strict JSON.
    pub(super) written: Option<String>,
    /// Bytes in the reply's text; `None` for a call.
    pub(super) span: Option<Range<usize>>,
    /// The function called.
    pub(super) tool: Option<String>,
}

/// Calls first where a call is wanted, else the text's objects first. A judge may have taken the other way.
pub(super) fn of(reply: &Reply, read: &Unscaled<'_>, is_call_wanted: bool) -> Vec<Candidate> {
    let calls = reply.tool_calls.iter().rev().filter_map(|call| of_call(&call.name, &call.arguments));
    let texts: Vec<Candidate> = read
        .values()
        .into_iter()
        .rev()
        .filter(|found| matches!(found.value, Value::Object(_) | Value::Array(_)))
        .map(|found| Candidate {
            written: reply.text.get(found.span.clone()).filter(|_| found.is_strict).map(str::to_owned),
            span: Some(found.span),
            tool: None,
            value: found.value,
        })
        .collect();
    let unwrapped: Vec<Candidate> =
        texts.iter().filter_map(|candidate| unwrapped(&candidate.value)).collect();
    if is_call_wanted {
        calls.chain(texts).chain(unwrapped).collect()
    } else {
        texts.into_iter().chain(calls).chain(unwrapped).collect()
    }
}

fn of_call(name: &str, arguments: &str) -> Option<Candidate> {
    let tool = Some(name.to_owned());
    let value = match serde_json::from_str(arguments) {
        // Encoded twice.
        Ok(Value::String(inner)) => serde_json::from_str(&inner).ok(),
        Ok(value) => {
            return Some(Candidate { value, written: Some(arguments.trim().to_owned()), span: None, tool });
        }
        Err(_) => Unscaled::of(arguments).values().pop().map(|found| found.value),
    };
    value.map(|value| Candidate { value, written: None, span: None, tool })
}

/// A call that was written out as text: `{"name": …, "arguments": {…}}`.
fn unwrapped(value: &Value) -> Option<Candidate> {
    let name = value.get("name").and_then(Value::as_str)?;
    let arguments = value.get("arguments").or_else(|| value.get("parameters"))?;
    match arguments {
        Value::String(text) => of_call(name, text).map(|call| Candidate { written: None, ..call }),
        Value::Object(_) => Some(Candidate {
            value: arguments.clone(),
            written: None,
            span: None,
            tool: Some(name.to_owned()),
        }),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) => None,
    }
}
