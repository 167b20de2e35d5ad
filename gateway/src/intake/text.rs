//! JSON values as the texts that a judge reads.

use serde_json::{Map, Value};

use crate::intake::problem::Problem;

/// Text as it is; numbers and truth values as JSON writes them; lists and objects as compact JSON; null is absent.
pub(super) fn text_of(value: Value) -> Result<Option<String>, Problem> {
    let text = match value {
        Value::Null => return Ok(None),
        Value::String(text) => text,
        Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => value.to_string(),
    };
    refuse_nul(text).map(Some)
}

/// An input is a text or a list of chat messages; anything else is compact JSON.
pub(super) fn input_of(value: Value) -> Result<Option<String>, Problem> {
    match value {
        Value::Array(messages) if messages.iter().any(|message| message.get("role").is_some()) => {
            messages_of(&messages).map(Some)
        }
        Value::Array(messages) if messages.is_empty() => Err(Problem::Empty),
        other => text_of(other),
    }
}

/// A text, or a list of acceptable texts, one a line.
pub(super) fn reference_of(value: Value) -> Result<Option<String>, Problem> {
    match value {
        Value::Array(texts) if texts.iter().all(Value::is_string) && !texts.is_empty() => {
            let lines: Vec<&str> = texts.iter().filter_map(Value::as_str).collect();
            refuse_nul(lines.join("\n")).map(Some)
        }
        other => text_of(other),
    }
}

/// A text, or a list of passages.
pub(super) fn context_of(value: Value) -> Result<Vec<String>, Problem> {
    match value {
        Value::Array(passages) => {
            passages.into_iter().filter_map(|passage| text_of(passage).transpose()).collect()
        }
        other => Ok(text_of(other)?.into_iter().collect()),
    }
}

pub(super) fn refuse_nul(text: String) -> Result<String, Problem> {
    if text.contains('\0') { Err(Problem::Nul) } else { Ok(text) }
}

/// JSON's word for the kind of a value.
pub(super) fn kind_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a truth value",
        Value::Number(_) => "a number",
        Value::String(_) => "a text",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}

/// Each message as `[role]`, a line feed and its text, with a blank line between them. Tool calls are written as
/// compact JSON; other fields of a message (names, ids) are left out.
fn messages_of(messages: &[Value]) -> Result<String, Problem> {
    let mut blocks = Vec::with_capacity(messages.len());
    for (index, message) in messages.iter().enumerate() {
        let missing = |key| Problem::BadMessage { index: index + 1, key };
        let fields = message.as_object().ok_or(missing("role"))?;
        let role = fields.get("role").and_then(Value::as_str).ok_or(missing("role"))?;
        let text = message_text(fields)?.ok_or(missing("content"))?;
        blocks.push(format!("[{role}]\n{text}"));
    }
    refuse_nul(blocks.join("\n\n"))
}

fn message_text(message: &Map<String, Value>) -> Result<Option<String>, Problem> {
    let mut parts: Vec<String> = Vec::new();
    match message.get("content") {
        None | Some(Value::Null) => {}
        Some(Value::Array(content)) => {
            for part in content {
                parts.push(part_text(part)?);
            }
        }
        Some(other) => parts.extend(text_of(other.clone())?),
    }
    let calls = ["tool_calls", "function_call"].into_iter().filter_map(|key| message.get(key));
    parts.extend(calls.filter(|calls| !calls.is_null()).map(Value::to_string));
    Ok(if parts.is_empty() { None } else { Some(parts.join("\n")) })
}

fn part_text(part: &Value) -> Result<String, Problem> {
    if let Some(text) = part.as_str().or_else(|| part.get("text").and_then(Value::as_str)) {
        return Ok(text.to_owned());
    }
    let kind = part.get("type").and_then(Value::as_str).unwrap_or("unknown");
    Err(Problem::NotText(kind.chars().take(64).collect()))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn structured_texts_are_compact_json() {
        let check = |value: Value, text: Option<&str>| {
            assert_eq!(text_of(value).unwrap().as_deref(), text);
        };
        check(json!({"total": 12, "items": ["a"]}), Some(r#"{"total":12,"items":["a"]}"#));
        check(json!(["x", 1]), Some(r#"["x",1]"#));
        check(json!(4), Some("4"));
        check(json!(false), Some("false"));
        check(json!("  as it is\r\n"), Some("  as it is\r\n"));
        check(json!(null), None);
        assert_eq!(text_of(json!("a\0b")), Err(Problem::Nul));
    }

    #[test]
    fn chat_messages_are_written_out_role_by_role() {
        let messages = json!([
            {"role": "system", "content": "Be brief."},
            {"role": "user", "content": [{"type": "text", "text": "Hi"}, {"type": "text", "text": "there"}]},
            {"role": "assistant", "content": null, "tool_calls": [{"name": "f"}]},
        ]);
        let text = input_of(messages).unwrap().unwrap();
        assert_eq!(text, "[system]\nBe brief.\n\n[user]\nHi\nthere\n\n[assistant]\n[{\"name\":\"f\"}]");
    }

    #[test]
    fn messages_that_cannot_be_read_are_named() {
        let check = |value: Value, problem: Problem| assert_eq!(input_of(value), Err(problem));
        check(json!([{"role": "user"}]), Problem::BadMessage { index: 1, key: "content" });
        check(json!([{"role": "user", "content": "x"}, "y"]), Problem::BadMessage { index: 2, key: "role" });
        check(
            json!([{"role": "user", "content": [{"type": "image_url", "image_url": {}}]}]),
            Problem::NotText("image_url".into()),
        );
        check(json!([]), Problem::Empty);
        check(json!([{"role": "user", "content": "a\0"}]), Problem::Nul);
    }

    #[test]
    fn several_references_stand_one_a_line() {
        assert_eq!(reference_of(json!(["Tintin", "Tin Tin"])).unwrap().unwrap(), "Tintin\nTin Tin");
        assert_eq!(reference_of(json!([1, 2])).unwrap().unwrap(), "[1,2]");
    }

    #[test]
    fn context_is_a_text_or_a_list() {
        assert_eq!(context_of(json!("p")).unwrap(), ["p"]);
        assert_eq!(context_of(json!(["p", null, {"t": 1}])).unwrap(), ["p", "{\"t\":1}"]);
        assert!(context_of(json!(null)).unwrap().is_empty());
    }
}
