//! Earlier turns of tools as plain talk, for servers that are asked without tools.

use std::borrow::Cow;

use serde_json::{Value, json};

/// What an assistant called becomes what it said, and what came of it becomes the user's words. As sent where there are
/// no such turns.
pub(super) fn without_tool_turns(messages: &[Value]) -> Cow<'_, [Value]> {
    let is_plain = |message: &Value| role(message) != "tool" && calls(message).is_empty();
    if messages.iter().all(is_plain) {
        return Cow::Borrowed(messages);
    }
    let mut plain: Vec<Value> = Vec::with_capacity(messages.len());
    for message in messages {
        if role(message) == "tool" {
            say(&mut plain, "user", &text(message));
        } else if calls(message).is_empty() {
            match message.get("content") {
                Some(Value::String(text)) => say(&mut plain, role(message), text),
                _ => plain.push(message.clone()),
            }
        } else {
            let arguments =
                calls(message).iter().filter_map(|call| call.get("function")?.get("arguments")?.as_str());
            let said: Vec<String> = std::iter::once(text(message))
                .chain(arguments.map(str::to_owned))
                .filter(|s| !s.is_empty())
                .collect();
            say(&mut plain, "assistant", &said.join("\n"));
        }
    }
    Cow::Owned(plain)
}

/// Chat templates want roles to take turns, so words of the same role become one message.
fn say(plain: &mut Vec<Value>, role_name: &str, words: &str) {
    let last = plain.last_mut().filter(|last| role(last) == role_name);
    if let Some(Value::String(before)) = last.and_then(|last| last.get_mut("content")) {
        before.push_str("\n\n");
        before.push_str(words);
    } else {
        plain.push(json!({"role": role_name, "content": words}));
    }
}

fn role(message: &Value) -> &str {
    message.get("role").and_then(Value::as_str).unwrap_or_default()
}

fn calls(message: &Value) -> &[Value] {
    message.get("tool_calls").and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

/// A text, or the texts of parts.
fn text(message: &Value) -> String {
    match message.get("content") {
        Some(Value::String(text)) => text.clone(),
        Some(Value::Array(parts)) => {
            parts.iter().filter_map(|part| part.get("text")?.as_str()).collect::<Vec<_>>().join("\n\n")
        }
        Some(_) | None => String::new(),
    }
}
