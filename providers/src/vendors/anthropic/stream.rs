//! A message's event stream folded into a [`ChatResponse`]. Pure: text in, answer out.

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use super::response::{Block, Draft, WireMessage};
use crate::chat::ChatResponse;
use crate::error::ErrorKind;
use crate::vendors::refusal::Refusal;
use crate::vendors::sse::events;
use crate::vendors::unusable::Unusable;

#[derive(Debug, Deserialize)]
struct Event<'a> {
    r#type: String,
    #[serde(borrow, default)]
    message: Option<WireMessage<'a>>,
    #[serde(borrow, default)]
    content_block: Option<Block<'a>>,
    /// Of a block or of the whole message, by the event's type.
    #[serde(borrow, default)]
    delta: Option<&'a RawValue>,
    #[serde(default)]
    usage: Option<Map<String, Value>>,
}

#[derive(Debug, Default, Deserialize)]
struct MessageDelta<'a> {
    #[serde(default)]
    stop_reason: Option<String>,
    #[serde(borrow, default)]
    stop_details: Option<&'a RawValue>,
}

/// Folds a whole stream body. An error event fails it wherever it stands; a stream that ends without `message_stop` and
/// without a stop reason was cut.
pub fn fold(body: &str) -> Result<ChatResponse, ErrorKind> {
    read(body).map_err(Unusable::into_kind)
}

pub(crate) fn read(body: &str) -> Result<ChatResponse, Unusable> {
    let mut draft = Draft::default();
    let (mut has_begun, mut has_stopped) = (false, false);
    for data in events(body) {
        let odd = |_| Unusable::garbage("no JSON of a message event");
        let event: Event<'_> = serde_json::from_str(&data).map_err(odd)?;
        match event.r#type.as_str() {
            "error" => return Err(Refusal::read(200, data.as_bytes()).into()),
            "message_start" => {
                draft.begin(event.message.unwrap_or_default());
                has_begun = true;
            }
            "content_block_start" => {
                draft.has_blocks = true;
                if let Some(block) = &event.content_block {
                    draft.add(block);
                }
            }
            "content_block_delta" => {
                if let Some(delta) = event.delta {
                    draft.add(&serde_json::from_str(delta.get()).map_err(odd)?);
                }
            }
            "message_delta" => {
                let delta: MessageDelta<'_> = event
                    .delta
                    .map(|delta| serde_json::from_str(delta.get()).map_err(odd))
                    .transpose()?
                    .unwrap_or_default();
                draft.stop(delta.stop_reason, delta.stop_details);
                draft.count(event.usage);
            }
            "message_stop" => {
                has_stopped = true;
                break;
            }
            // `ping`, the ends of blocks, and what is not known yet.
            _ => {}
        }
    }
    if has_begun && (has_stopped || draft.stop_reason.is_some()) {
        draft.finish()
    } else {
        Err(Unusable::cut())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chat::FinishReason;

    const START: &str = "data: {\"type\":\"message_start\",\"message\":{\"model\":\"m\",\"content\":[],\
                         \"usage\":{\"input_tokens\":7,\"output_tokens\":1}}}\n\n\
                         data: {\"type\":\"content_block_start\",\"index\":0,\
                         \"content_block\":{\"type\":\"thinking\",\"thinking\":\"\"}}\n\n";

    fn delta(kind: &str, text: &str) -> String {
        format!(
            "data: {{\"type\":\"content_block_delta\",\"delta\":{{\"type\":\"{kind}_delta\",\"{kind}\":\"{text}\"}}}}\n\n"
        )
    }

    fn stop(reason: &str) -> String {
        format!(
            "data: {{\"type\":\"message_delta\",\"delta\":{{\"stop_reason\":\"{reason}\"}},\"usage\":{{\"output_tokens\":9}}}}\n\n"
        )
    }

    #[test]
    fn deltas_add_up_and_counts_are_the_last() {
        let body = [
            START,
            &delta("thinking", "hm"),
            &delta("signature", "x"),
            &delta("text", "4"),
            &stop("end_turn"),
        ];
        let response = fold(&body.concat()).unwrap();
        assert_eq!((response.text.as_str(), response.reasoning.as_deref()), ("4", Some("hm")));
        assert_eq!(response.finish, FinishReason::Stop);
        let usage = response.usage.unwrap();
        assert_eq!((usage.prompt_tokens, usage.completion_tokens), (7, 9));
    }

    #[test]
    fn input_of_a_call_comes_in_pieces() {
        let start = |id: &str| {
            format!(
                "data: {{\"type\":\"content_block_start\",\"content_block\":{{\"type\":\"tool_use\",\"id\":\"{id}\",\"name\":\"f\",\"input\":{{}}}}}}\n\n"
            )
        };
        let piece = |json: &str| {
            format!(
                "data: {{\"type\":\"content_block_delta\",\"delta\":{{\"type\":\"input_json_delta\",\"partial_json\":{json}}}}}\n\n"
            )
        };
        let body = [
            START,
            &start("a"),
            &piece("\"\""),
            &piece("\"{\\\"score\\\": \""),
            &piece("\"4\""),
            &start("b"),
            &piece("\"\""),
            &stop("tool_use"),
        ];
        let calls = fold(&body.concat()).unwrap().tool_calls;
        let read: Vec<(Option<&str>, &str)> =
            calls.iter().map(|call| (call.id.as_deref(), call.arguments.as_str())).collect();
        assert_eq!(read, [(Some("a"), "{\"score\": 4"), (Some("b"), "{}")]);
    }

    #[test]
    fn broken_streams_fail() {
        let check = |body: &str, expected: &str| {
            let error = fold(body).unwrap_err().to_string();
            assert!(error.starts_with(expected), "{body}: {error}");
        };
        check("", "connection failed");
        check(START, "connection failed");
        check(&format!("{START}{}", delta("text", "4")), "connection failed");
        check("data: nonsense\n\n", "unreadable answer");
        check("data: {\"type\":\"message_stop\"}\n\n", "connection failed");
        let error =
            "data: {\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\",\"message\":\"x\"}}\n\n";
        check(&format!("{START}{}{error}", delta("text", "4")), "server failed with status 529");
    }
}
