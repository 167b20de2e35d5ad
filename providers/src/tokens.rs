//! Token estimate for tokens-per-minute limits.
//!
//! No tokenizer: vendors differ and their tables weigh megabytes. The estimate is corrected by the reported usage
//! (`layers::rate_limit`), so it only has to be of the right size.

use serde_json::Value;

use crate::chat::{CallerBody, ChatRequest, Route};

/// Bytes of ASCII text per token, a little below the English average so that the estimate errs upwards.
const ASCII_BYTES_PER_TOKEN: usize = 4;
/// Role and separators of one message.
const TOKENS_PER_MESSAGE: usize = 4;
/// What an answer is taken to need when the request does not cap it.
const UNCAPPED_ANSWER_TOKENS: usize = 512;

/// An image, a sound or a document. They differ by a factor of ten, and their bytes say nothing.
const TOKENS_PER_MEDIUM: usize = 1000;

/// Tokens that this call may cost: four ASCII bytes or two non-ASCII bytes to a token, four tokens a message, plus the
/// whole answer allowance, as servers with such limits count it. Saturates at `u32::MAX`; at least 1.
pub fn estimate(request: &ChatRequest) -> u32 {
    let tokens = match &request.caller {
        None => {
            let messages = request.messages.iter();
            let each = messages.map(|message| of_text(&message.content).saturating_add(TOKENS_PER_MESSAGE));
            each.fold(of_answer(request.max_tokens), usize::saturating_add)
        }
        Some(caller) => of_caller(caller, request.max_tokens),
    };
    u32::try_from(tokens).unwrap_or(u32::MAX).max(1)
}

fn of_answer(cap: Option<u32>) -> usize {
    cap.map_or(UNCAPPED_ANSWER_TOKENS, |cap| usize::try_from(cap).unwrap_or(usize::MAX))
}

fn of_caller(caller: &CallerBody, cap: Option<u32>) -> usize {
    if caller.route() == Route::Embeddings {
        return caller.other.get("input").map_or(0, of_json);
    }
    let in_body = ["max_completion_tokens", "max_tokens"]
        .into_iter()
        .find_map(|name| u32::try_from(caller.other.get(name)?.as_u64()?).ok());
    let forms = [&caller.tools, &caller.response_format].into_iter().flatten().map(of_json);
    let messages = caller.messages.iter().map(|message| of_json(message).saturating_add(TOKENS_PER_MESSAGE));
    messages.chain(forms).fold(of_answer(cap.or(in_body)), usize::saturating_add)
}

/// Names of fields cost little, and in most of a message nothing.
fn of_json(value: &Value) -> usize {
    match value {
        Value::String(text) if text.starts_with("data:") => TOKENS_PER_MEDIUM,
        Value::String(text) => of_text(text),
        Value::Number(_) => 1,
        Value::Array(list) => list.iter().map(of_json).fold(0, usize::saturating_add),
        Value::Object(fields) => fields
            .iter()
            .map(|(name, value)| match name.as_str() {
                "input_audio" | "file" => TOKENS_PER_MEDIUM,
                "role" | "type" => 0,
                _ => of_json(value),
            })
            .fold(0, usize::saturating_add),
        Value::Null | Value::Bool(_) => 0,
    }
}

fn of_text(text: &str) -> usize {
    let ascii = text.bytes().filter(u8::is_ascii).count();
    let other = text.len().saturating_sub(ascii);
    ascii.div_ceil(ASCII_BYTES_PER_TOKEN).saturating_add(other.div_ceil(2))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::chat::Forwarding;

    #[test]
    fn estimate_counts_text_messages_and_answer() {
        let check = |text: &str, max_tokens: Option<u32>, expected: u32| {
            assert_eq!(estimate(&ChatRequest { max_tokens, ..ChatRequest::user(text) }), expected, "{text}");
        };
        check("", Some(0), 4);
        check("Rate the answer.", Some(10), 4 + 4 + 10);
        check("評価してください", Some(10), 12 + 4 + 10);
        check("Rate the answer.", None, 4 + 4 + 512);
        check("x", Some(u32::MAX), u32::MAX);
    }

    #[test]
    fn callers_body_counts_words_and_media() {
        let check = |body: Value, route: Route, max_tokens: Option<u32>, expected: u32| {
            let Value::Object(fields) = body else { panic!("an object") };
            let forwarding = Forwarding::Verbatim { route, body: bytes::Bytes::new() };
            let request =
                ChatRequest { max_tokens, ..ChatRequest::from_caller(CallerBody::new(fields, forwarding)) };
            assert_eq!(estimate(&request), expected);
        };
        let message = json!({"role": "user", "content": "Rate the answer."});
        check(json!({"messages": [message]}), Route::ChatCompletions, Some(10), 4 + 4 + 10);
        check(json!({"messages": [message], "max_tokens": 7}), Route::ChatCompletions, None, 4 + 4 + 7);
        check(json!({"messages": [message], "max_tokens": 7}), Route::ChatCompletions, Some(1), 4 + 4 + 1);
        check(
            json!({"messages": [message], "tools": [{"name": "verdict!"}]}),
            Route::ChatCompletions,
            Some(0),
            10,
        );
        let image = json!({"type": "image_url", "image_url": {"url": format!("data:image/png;base64,{}", "A".repeat(9999))}});
        let sound = json!({"type": "input_audio", "input_audio": {"data": "A".repeat(9999)}});
        check(json!({"messages": [{"content": [image, sound]}]}), Route::ChatCompletions, Some(0), 2004);
        check(json!({"input": ["Rate the answer.", "Rate it."]}), Route::Embeddings, None, 6);
        check(json!({"input": [1, 2, 3]}), Route::Embeddings, None, 3);
        check(json!({}), Route::Embeddings, None, 1);
    }
}
