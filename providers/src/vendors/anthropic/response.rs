//! The JSON of a message as a [`ChatResponse`]. Blocks and reasons that this version does not know are passed over.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use crate::chat::{ChatResponse, FinishReason, ToolCall, Usage};
use crate::error::ErrorKind;
use crate::vendors::compact;
use crate::vendors::refusal::Refusal;
use crate::vendors::unusable::Unusable;

#[derive(Debug, Default, Deserialize)]
pub(super) struct WireMessage<'a> {
    #[serde(borrow, default)]
    pub content: Option<Vec<Block<'a>>>,
    #[serde(default)]
    pub stop_reason: Option<String>,
    #[serde(borrow, default)]
    pub stop_details: Option<&'a RawValue>,
    #[serde(default)]
    pub usage: Option<Map<String, Value>>,
    #[serde(default)]
    pub model: Option<String>,
    #[serde(borrow, default)]
    error: Option<&'a RawValue>,
}

/// A block, or the `delta` of one.
#[derive(Debug, Deserialize)]
pub(super) struct Block<'a> {
    #[serde(borrow, default)]
    text: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    thinking: Option<Cow<'a, str>>,
    /// `tool_use` begins a call; of its fields a stream gives the input later, in pieces.
    #[serde(default)]
    r#type: Option<String>,
    #[serde(default)]
    id: Option<String>,
    #[serde(default)]
    name: Option<String>,
    #[serde(borrow, default)]
    input: Option<&'a RawValue>,
    #[serde(borrow, default)]
    partial_json: Option<Cow<'a, str>>,
}

/// Why a judgment was declined; both fields can be null.
#[derive(Debug, Deserialize)]
struct StopDetails {
    #[serde(default)]
    explanation: Option<String>,
    #[serde(default)]
    category: Option<String>,
}

/// A message in the making, whole or streamed.
#[derive(Debug, Default)]
pub(super) struct Draft {
    pub has_blocks: bool,
    text: String,
    thinking: String,
    calls: Vec<CallDraft>,
    pub stop_reason: Option<String>,
    pub declined: Option<String>,
    pub usage: Map<String, Value>,
    pub model: Option<String>,
}

#[derive(Debug)]
struct CallDraft {
    call: ToolCall,
    /// Of the input, in a stream.
    pieces: String,
}

/// Reads the body of an answer with a success status.
pub(crate) fn decode(body: &[u8], status: u16) -> Result<ChatResponse, Unusable> {
    let message: WireMessage<'_> =
        serde_json::from_slice(body).map_err(|error| Unusable::unreadable(body, &error))?;
    if message.error.is_some() {
        return Err(Refusal::read(status, body).into());
    }
    if message.content.is_none() && message.stop_reason.is_none() {
        return Err(Unusable::garbage("no message"));
    }
    let mut draft = Draft::default();
    draft.begin(message);
    draft.finish()
}

impl Draft {
    /// A whole message, or the start of a streamed one.
    pub(super) fn begin(&mut self, message: WireMessage<'_>) {
        for block in message.content.unwrap_or_default() {
            self.has_blocks = true;
            self.add(&block);
        }
        self.stop(message.stop_reason, message.stop_details);
        self.count(message.usage);
        self.model = message.model;
    }

    /// Text of a block that is shown, of thinking, which is kept apart, and calls of our tools. Signatures have none.
    pub(super) fn add(&mut self, block: &Block<'_>) {
        self.text.push_str(block.text.as_deref().unwrap_or_default());
        self.thinking.push_str(block.thinking.as_deref().unwrap_or_default());
        if block.r#type.as_deref() == Some("tool_use") {
            self.calls.push(CallDraft {
                call: ToolCall {
                    id: block.id.clone(),
                    name: block.name.clone().unwrap_or_default(),
                    arguments: block.input.map_or_else(|| "{}".to_owned(), compact),
                },
                pieces: String::new(),
            });
        }
        // Blocks of a stream come one after the other.
        if let (Some(last), Some(piece)) = (self.calls.last_mut(), &block.partial_json) {
            last.pieces.push_str(piece);
        }
    }

    pub(super) fn stop(&mut self, reason: Option<String>, details: Option<&RawValue>) {
        let details = details.and_then(|json| serde_json::from_str::<StopDetails>(json.get()).ok());
        self.declined = details.and_then(|of| of.explanation.or(of.category)).or(self.declined.take());
        self.stop_reason = reason.or(self.stop_reason.take());
    }

    /// Counts of a stream come in two parts, the later one being the sum so far.
    pub(super) fn count(&mut self, usage: Option<Map<String, Value>>) {
        self.usage.extend(usage.into_iter().flatten().filter(|(_, count)| !count.is_null()));
    }

    pub(super) fn finish(self) -> Result<ChatResponse, Unusable> {
        let usage = usage(&self.usage);
        let reason = self.stop_reason.as_deref();
        let finish = finish(reason);
        if !self.has_blocks && finish == FinishReason::Stop {
            let message = "answer has no content".to_owned();
            return Err(Unusable::Empty { kind: ErrorKind::Garbage { message }, usage });
        }
        let declined = || self.declined.clone().unwrap_or_else(|| "declined without a reason".to_owned());
        Ok(ChatResponse {
            reasoning: Some(self.thinking).filter(|text| !text.is_empty()),
            refusal: (finish == FinishReason::ContentFilter).then(declined),
            tool_calls: self.calls.into_iter().map(CallDraft::finish).collect(),
            finish,
            usage,
            model: self.model,
            ..ChatResponse::of_text(self.text)
        })
    }
}

impl CallDraft {
    fn finish(self) -> ToolCall {
        let arguments = if self.pieces.is_empty() { self.call.arguments } else { self.pieces };
        ToolCall { arguments, ..self.call }
    }
}

fn finish(reason: Option<&str>) -> FinishReason {
    match reason {
        Some("end_turn" | "stop_sequence") => FinishReason::Stop,
        Some("max_tokens" | "model_context_window_exceeded") => FinishReason::Length,
        Some("refusal") => FinishReason::ContentFilter,
        Some("tool_use") => FinishReason::ToolCalls,
        // `pause_turn` is for tools that we do not have.
        Some(_) | None => FinishReason::Other,
    }
}

/// The three counts of input are apart on the wire; a message without counts has no usage.
fn usage(counts: &Map<String, Value>) -> Option<Usage> {
    let count = |name: &str| counts.get(name).and_then(Value::as_u64);
    let (read, written) =
        (count("cache_read_input_tokens").unwrap_or(0), count("cache_creation_input_tokens").unwrap_or(0));
    let thinking = counts.get("output_tokens_details").and_then(|details| details.get("thinking_tokens"));
    Some(Usage {
        prompt_tokens: count("input_tokens")?.saturating_add(read).saturating_add(written),
        completion_tokens: count("output_tokens").unwrap_or(0),
        cached_tokens: read,
        reasoning_tokens: thinking.and_then(Value::as_u64).unwrap_or(0),
        cache_write_tokens: written,
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn decoded(body: &Value) -> Result<ChatResponse, Unusable> {
        decode(body.to_string().as_bytes(), 200)
    }

    #[test]
    fn input_is_the_sum_of_three_counts() {
        let body = json!({
            "content": [{"type": "text", "text": "4"}],
            "stop_reason": "end_turn",
            "usage": {
                "input_tokens": 12,
                "cache_creation_input_tokens": 100,
                "cache_read_input_tokens": 1024,
                "output_tokens": 90,
                "output_tokens_details": {"thinking_tokens": 80},
            },
        });
        let expected = Usage {
            prompt_tokens: 1136,
            completion_tokens: 90,
            cached_tokens: 1024,
            reasoning_tokens: 80,
            cache_write_tokens: 100,
        };
        assert_eq!(decoded(&body).unwrap().usage, Some(expected));
    }

    #[test]
    fn calls_of_our_tools_are_read() {
        let body = json!({
            "content": [
                {"type": "text", "text": "My verdict:"},
                {"type": "server_tool_use", "id": "s", "name": "search", "input": {}},
                {"type": "tool_use", "id": "t", "name": "verdict", "input": {"score": 4}},
                {"type": "tool_use", "id": "u", "name": "done"},
            ],
            "stop_reason": "tool_use",
        });
        let call = |id: &str, name: &str, arguments: &str| ToolCall {
            id: Some(id.to_owned()),
            name: name.to_owned(),
            arguments: arguments.to_owned(),
        };
        let response = decoded(&body).unwrap();
        assert_eq!(response.tool_calls, [call("t", "verdict", "{\"score\":4}"), call("u", "done", "{}")]);
        assert_eq!((response.text.as_str(), response.finish), ("My verdict:", FinishReason::ToolCalls));
    }

    #[test]
    fn refusal_says_why_as_far_as_it_is_known() {
        let check = |details: Value, expected: &str| {
            let body = json!({"content": [], "stop_reason": "refusal", "stop_details": details});
            let response = decoded(&body).unwrap();
            assert_eq!(
                (response.finish, response.refusal.as_deref()),
                (FinishReason::ContentFilter, Some(expected))
            );
        };
        check(json!({"category": "cyber", "explanation": "Declined."}), "Declined.");
        check(json!({"category": "cyber", "explanation": null}), "cyber");
        check(json!({"category": null}), "declined without a reason");
        check(Value::Null, "declined without a reason");
        check(json!("odd"), "declined without a reason");
    }

    #[test]
    fn bodies_without_a_message_are_unusable() {
        let check = |body: &str, expected: &str| {
            let error = decode(body.as_bytes(), 200).unwrap_err().into_kind().to_string();
            assert!(error.starts_with(expected), "{body}: {error}");
        };
        check("", "unreadable answer: empty body");
        check("<html>", "unreadable answer: HTML");
        check("{}", "unreadable answer: no message");
        check("{\"content\": [{\"te", "connection failed");
        check("{\"content\": 3}", "unreadable answer: no JSON");
        check(
            "{\"type\": \"error\", \"error\": {\"type\": \"overloaded_error\", \"message\": \"x\"}}",
            "server failed with status 529",
        );
    }
}
