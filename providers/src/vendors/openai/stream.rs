//! A recorded event stream folded into a [`ChatResponse`]. Pure: bytes in, answer out.
//!
//! Judges are asked for streams only by callers whose bodies go as they stand; some proxies answer with one all the same.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::value::RawValue;

use super::response::{self, WireMessage};
use super::tool_calls::ToolCalls;
use crate::chat::{ChatResponse, FinishReason};
use crate::error::ErrorKind;
use crate::vendors::refusal::Refusal;
use crate::vendors::sse::events;
use crate::vendors::unusable::Unusable;

#[derive(Debug, Deserialize)]
struct Chunk<'a> {
    #[serde(borrow, default)]
    choices: Option<Vec<ChunkChoice<'a>>>,
    #[serde(borrow, default)]
    error: Option<&'a RawValue>,
    #[serde(borrow, default)]
    usage: Option<&'a RawValue>,
    #[serde(default)]
    model: Option<String>,
    #[serde(default)]
    system_fingerprint: Option<String>,
}

#[derive(Debug, Deserialize)]
struct ChunkChoice<'a> {
    #[serde(default)]
    index: u64,
    #[serde(borrow, default)]
    delta: Option<WireMessage<'a>>,
    #[serde(borrow, default)]
    logprobs: Option<&'a RawValue>,
    #[serde(borrow, default)]
    finish_reason: Option<Cow<'a, str>>,
}

/// Folds a whole stream body. An error event fails it wherever it stands, also before `[DONE]`; a stream that ends
/// without `[DONE]` and without a finish reason was cut.
pub fn fold(body: &str) -> Result<ChatResponse, ErrorKind> {
    read(body).map_err(Unusable::into_kind)
}

pub(crate) fn read(body: &str) -> Result<ChatResponse, Unusable> {
    folded(body)?.finish()
}

/// What has come of a stream that nobody listened to the end of; `None`: nothing.
pub(crate) fn read_start(body: &str) -> Option<ChatResponse> {
    folded(body).ok()?.so_far()
}

fn folded(body: &str) -> Result<Folded, Unusable> {
    let mut folded = Folded::default();
    for data in events(body) {
        if data == "[DONE]" {
            folded.is_done = true;
            break;
        }
        folded.add(&data)?;
    }
    Ok(folded)
}

#[derive(Debug, Default)]
struct Folded {
    response: Option<ChatResponse>,
    reasoning: String,
    refusal: String,
    tool_calls: ToolCalls,
    has_finished: bool,
    is_done: bool,
}

impl Folded {
    fn add(&mut self, data: &str) -> Result<(), Unusable> {
        let chunk: Chunk<'_> =
            serde_json::from_str(data).map_err(|_| Unusable::garbage("no JSON of a completion chunk"))?;
        if chunk.error.is_some() {
            return Err(Refusal::read(200, data.as_bytes()).into());
        }
        let response = self
            .response
            .get_or_insert_with(|| ChatResponse { finish: FinishReason::Other, ..ChatResponse::of_text("") });
        if let Some(usage) = chunk.usage.and_then(response::usage) {
            response.usage = Some(usage);
        }
        response.model = chunk.model.or(response.model.take());
        response.system_fingerprint = chunk.system_fingerprint.or(response.system_fingerprint.take());
        for choice in chunk.choices.into_iter().flatten().filter(|choice| choice.index == 0) {
            if let Some(delta) = choice.delta {
                response.text.push_str(&delta.text());
                self.reasoning.push_str(&delta.reasoning().unwrap_or_default());
                self.refusal.push_str(&delta.refusal().unwrap_or_default());
                self.tool_calls.add(&delta);
            }
            if let Some(tokens) = choice.logprobs.and_then(response::logprobs) {
                response.logprobs.get_or_insert_default().extend(tokens);
            }
            if choice.finish_reason.as_deref() == Some("error") {
                return Err(Unusable::failed("error", response.usage));
            }
            if choice.finish_reason.is_some() {
                response.finish = response::finish(choice.finish_reason.as_deref());
                self.has_finished = true;
            }
        }
        Ok(())
    }

    fn finish(self) -> Result<ChatResponse, Unusable> {
        let (is_done, has_ended) = (self.is_done, self.is_done || self.has_finished);
        match self.so_far() {
            Some(response) if has_ended => Ok(response),
            None if is_done => Err(Unusable::garbage("stream has no chunks")),
            Some(_) | None => Err(Unusable::cut()),
        }
    }

    fn so_far(self) -> Option<ChatResponse> {
        Some(ChatResponse {
            reasoning: Some(self.reasoning).filter(|text| !text.is_empty()),
            refusal: Some(self.refusal).filter(|text| !text.is_empty()),
            tool_calls: self.tool_calls.finish(),
            ..self.response?
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chunk(text: &str) -> String {
        format!("data: {{\"choices\":[{{\"index\":0,\"delta\":{{\"content\":\"{text}\"}}}}]}}\n\n")
    }

    #[test]
    fn deltas_are_joined_until_done() {
        let stream = format!("{}{}data: [DONE]\n\n{}", chunk("4"), chunk("2"), chunk("late"));
        assert_eq!(fold(&stream).unwrap().text, "42");
    }

    #[test]
    fn other_choices_are_skipped() {
        let other = chunk("x").replace("\"index\":0", "\"index\":1");
        assert_eq!(fold(&format!("{other}{}data: [DONE]\n\n", chunk("4"))).unwrap().text, "4");
    }

    #[test]
    fn broken_streams_fail() {
        let check = |stream: &str, expected: &str| {
            let error = fold(stream).unwrap_err().to_string();
            assert!(error.starts_with(expected), "{stream}: {error}");
        };
        check("", "connection failed");
        check(&chunk("4"), "connection failed");
        check("data: {\"choices\":[]}", "connection failed");
        check("data: [DONE]\n\n", "unreadable answer");
        check("data: nonsense\n\n", "unreadable answer");
        check("data: {\"error\":{\"message\":\"x\",\"code\":503}}\n\n", "server failed with status 503");
    }
}
