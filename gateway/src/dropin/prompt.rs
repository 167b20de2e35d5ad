//! The caller's messages, read for the form that they ask for. Never for verdicts: prompts hold examples and decoys.

use serde_json::Value;

/// Text beyond this is not looked at.
const MAX_BYTES: usize = 128 * 1024;
/// Braces at which a schema may begin.
const MAX_OPENINGS: usize = 256;

/// One message's text.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct PromptText {
    /// From the system or the developer: no judged text.
    pub(super) is_instruction: bool,
    pub(super) text: String,
}

pub(super) fn texts(messages: &[Value]) -> Vec<PromptText> {
    let mut left = MAX_BYTES;
    let mut texts = Vec::new();
    for message in messages {
        let role = message.get("role").and_then(Value::as_str).unwrap_or_default();
        if role == "assistant" || role == "tool" {
            continue;
        }
        let mut text = text_of(message.get("content"));
        let cut = text.floor_char_boundary(left.min(text.len()));
        text.truncate(cut);
        left -= text.len();
        texts.push(PromptText { is_instruction: matches!(role, "system" | "developer"), text });
    }
    texts
}

fn text_of(content: Option<&Value>) -> String {
    match content {
        Some(Value::String(text)) => text.clone(),
        Some(Value::Array(parts)) => {
            let texts: Vec<&str> =
                parts.iter().filter_map(|part| part.get("text").and_then(Value::as_str)).collect();
            texts.join("\n")
        }
        _ => String::new(),
    }
}

/// The first JSON schema of an object that stands in the messages, and whether it stands in an instruction.
pub(super) fn schema(texts: &[PromptText]) -> Option<(Value, bool)> {
    let mut left = MAX_OPENINGS;
    texts
        .iter()
        .find_map(|prompt| schema_in(&prompt.text, &mut left).map(|found| (found, prompt.is_instruction)))
}

fn schema_in(text: &str, left: &mut usize) -> Option<Value> {
    let mut at = 0;
    while let Some(found) = text.get(at..).and_then(|rest| rest.find('{')) {
        if *left == 0 {
            return None;
        }
        *left -= 1;
        let start = at + found;
        at = start + 1;
        let mut stream = serde_json::Deserializer::from_str(text.get(start..)?).into_iter::<Value>();
        if let Some(Ok(value)) = stream.next() {
            at = start + stream.byte_offset().max(1);
            if is_schema(&value) {
                return Some(value);
            }
        }
    }
    None
}

fn is_schema(value: &Value) -> bool {
    let is_properties = |properties: &Value| {
        properties.as_object().is_some_and(|all| !all.is_empty() && all.values().all(Value::is_object))
    };
    value.get("properties").is_some_and(is_properties)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{schema, texts};

    #[test]
    fn the_first_schema_counts() {
        let messages = [
            json!({"role": "system", "content": "Use {this}: {\"properties\": {\"a\": {\"type\": \"integer\"}}}"}),
            json!({"role": "user", "content": [{"type": "text", "text": "{\"properties\": {\"b\": {}}}"}]}),
        ];
        let found = schema(&texts(&messages)).unwrap();
        assert_eq!(found, (json!({"properties": {"a": {"type": "integer"}}}), true));
        assert_eq!(schema(&texts(&[json!({"role": "user", "content": "{\"a\": 1}"})])), None);
    }

    #[test]
    fn earlier_answers_are_no_part_of_the_prompt() {
        let messages = [json!({"role": "assistant", "content": "yes or no"}), json!({"role": "user"})];
        assert_eq!(texts(&messages).iter().map(|prompt| prompt.text.as_str()).collect::<String>(), "");
    }
}
