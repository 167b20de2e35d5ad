//! The JSON of a `GenerateContentResponse` as a [`ChatResponse`]. Almost every key can be absent.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::chat::{ChatResponse, FinishReason, TokenLogprob, TokenLogprobs, ToolCall, Usage};
use crate::error::ErrorKind;
use crate::vendors::compact;
use crate::vendors::refusal::Refusal;
use crate::vendors::unusable::Unusable;

/// Logprobs at or below this stand for probability 0.
const NO_PROBABILITY: f64 = -9999.0;

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Piece<'a> {
    #[serde(borrow, default)]
    candidates: Option<Vec<Candidate<'a>>>,
    #[serde(default)]
    prompt_feedback: Option<PromptFeedback>,
    #[serde(borrow, default)]
    usage_metadata: Option<&'a RawValue>,
    #[serde(default)]
    model_version: Option<String>,
    #[serde(borrow, default)]
    pub error: Option<&'a RawValue>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Candidate<'a> {
    #[serde(default)]
    index: u64,
    #[serde(borrow, default)]
    content: Option<Content<'a>>,
    #[serde(default)]
    finish_reason: Option<String>,
    #[serde(default)]
    finish_message: Option<String>,
    /// Read apart, so that an odd list does not cost the text.
    #[serde(borrow, default)]
    logprobs_result: Option<&'a RawValue>,
}

#[derive(Debug, Deserialize)]
struct Content<'a> {
    #[serde(borrow, default)]
    parts: Option<Vec<Part<'a>>>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Part<'a> {
    #[serde(borrow, default)]
    text: Option<Cow<'a, str>>,
    #[serde(default)]
    thought: Option<bool>,
    #[serde(borrow, default)]
    function_call: Option<&'a RawValue>,
}

#[derive(Debug, Deserialize)]
struct FunctionCall<'a> {
    #[serde(default)]
    id: Option<String>,
    #[serde(default)]
    name: String,
    #[serde(borrow, default)]
    args: Option<&'a RawValue>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct PromptFeedback {
    #[serde(default)]
    block_reason: Option<String>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct LogprobsResult {
    #[serde(default)]
    chosen_candidates: Option<Vec<WireToken>>,
    #[serde(default)]
    top_candidates: Option<Vec<TopCandidates>>,
}

#[derive(Debug, Default, Deserialize)]
struct TopCandidates {
    #[serde(default)]
    candidates: Option<Vec<WireToken>>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct WireToken {
    #[serde(default)]
    token: Option<String>,
    #[serde(default)]
    log_probability: Option<f64>,
}

#[derive(Debug, Deserialize)]
struct UsageMetadata {
    #[serde(rename = "promptTokenCount")]
    prompt: u64,
    #[serde(rename = "toolUsePromptTokenCount", default)]
    tool_use_prompt: Option<u64>,
    #[serde(rename = "candidatesTokenCount", default)]
    candidates: Option<u64>,
    #[serde(rename = "thoughtsTokenCount", default)]
    thoughts: Option<u64>,
    #[serde(rename = "cachedContentTokenCount", default)]
    cached: Option<u64>,
}

/// An answer in the making, of one piece or of many.
#[derive(Debug, Default)]
pub(super) struct Draft {
    has_candidates: bool,
    calls: Vec<ToolCall>,
    text: String,
    thoughts: String,
    logprobs: Vec<TokenLogprobs>,
    pub finish_reason: Option<String>,
    finish_message: Option<String>,
    pub block_reason: Option<String>,
    usage: Option<Usage>,
    model: Option<String>,
}

/// Reads the body of an answer with a success status. A list is a stream in its other notation.
pub(crate) fn decode(body: &[u8], status: u16) -> Result<ChatResponse, Unusable> {
    let mut draft = Draft::default();
    if body.trim_ascii_start().starts_with(b"[") {
        let pieces: Vec<Piece<'_>> =
            serde_json::from_slice(body).map_err(|error| Unusable::unreadable(body, &error))?;
        for piece in pieces {
            draft.add(piece, status)?;
        }
    } else {
        let piece = serde_json::from_slice(body).map_err(|error| Unusable::unreadable(body, &error))?;
        draft.add(piece, status)?;
    }
    draft.finish()
}

impl Draft {
    pub(super) fn add(&mut self, piece: Piece<'_>, status: u16) -> Result<(), Unusable> {
        if let Some(error) = piece.error {
            return Err(Refusal::read(status, error.get().as_bytes()).into());
        }
        // Every piece of a stream repeats the counts, the last one knows most.
        self.usage = piece.usage_metadata.and_then(usage).or(self.usage);
        self.model = piece.model_version.or(self.model.take());
        self.block_reason =
            piece.prompt_feedback.and_then(|feedback| feedback.block_reason).or(self.block_reason.take());
        for candidate in piece.candidates.into_iter().flatten().filter(|candidate| candidate.index == 0) {
            self.has_candidates = true;
            self.finish_reason = candidate.finish_reason.or(self.finish_reason.take());
            self.finish_message = candidate.finish_message.or(self.finish_message.take());
            self.logprobs.extend(candidate.logprobs_result.map(logprobs).unwrap_or_default());
            for part in candidate.content.and_then(|content| content.parts).unwrap_or_default() {
                let text = part.text.as_deref().unwrap_or_default();
                let place = if part.thought == Some(true) { &mut self.thoughts } else { &mut self.text };
                place.push_str(text);
                self.calls.extend(part.function_call.and_then(call));
            }
        }
        Ok(())
    }

    pub(super) fn finish(self) -> Result<ChatResponse, Unusable> {
        let (finish, refusal) = if let Some(reason) = self.block_reason {
            (FinishReason::ContentFilter, Some(format!("prompt blocked: {reason}")))
        } else if !self.has_candidates {
            let message = "answer has no candidates".to_owned();
            return Err(Unusable::Empty { kind: ErrorKind::Garbage { message }, usage: self.usage });
        } else {
            let reason = self.finish_reason.unwrap_or_default();
            let Some(finish) = finish(&reason, !self.calls.is_empty(), self.text.is_empty()) else {
                return Err(Unusable::failed(&reason, self.usage));
            };
            let is_filtered = finish == FinishReason::ContentFilter;
            (
                finish,
                is_filtered
                    .then(|| self.finish_message.map_or(reason.clone(), |why| format!("{reason}: {why}"))),
            )
        };
        Ok(ChatResponse {
            reasoning: Some(self.thoughts).filter(|text| !text.is_empty()),
            refusal,
            tool_calls: self.calls,
            finish,
            logprobs: Some(self.logprobs).filter(|places| !places.is_empty()),
            usage: self.usage,
            model: self.model,
            ..ChatResponse::of_text(self.text)
        })
    }
}

/// `None`: no call that we can read.
fn call(json: &RawValue) -> Option<ToolCall> {
    let wire: FunctionCall<'_> = serde_json::from_str(json.get()).ok()?;
    let arguments = wire.args.map_or_else(|| "{}".to_owned(), compact);
    Some(ToolCall { id: wire.id, name: wire.name, arguments })
}

/// `None`: the server failed, and may do better when it is asked again.
fn finish(reason: &str, has_call: bool, is_empty: bool) -> Option<FinishReason> {
    Some(match reason {
        "STOP" if has_call && is_empty => FinishReason::ToolCalls,
        "STOP" => FinishReason::Stop,
        "MAX_TOKENS" => FinishReason::Length,
        "SAFETY"
        | "RECITATION"
        | "LANGUAGE"
        | "BLOCKLIST"
        | "PROHIBITED_CONTENT"
        | "SPII"
        | "MODEL_ARMOR"
        | "IMAGE_SAFETY"
        | "IMAGE_PROHIBITED_CONTENT"
        | "IMAGE_RECITATION" => FinishReason::ContentFilter,
        "MALFORMED_FUNCTION_CALL"
        | "MALFORMED_RESPONSE"
        | "UNEXPECTED_TOOL_CALL"
        | "TOO_MANY_TOOL_CALLS"
        | "MISSING_THOUGHT_SIGNATURE" => return None,
        "OTHER" if is_empty => return None,
        _ => FinishReason::Other,
    })
}

/// Chosen and most likely tokens are two lists, one entry a place; the chosen one need not be among the others.
fn logprobs(json: &RawValue) -> Vec<TokenLogprobs> {
    let Ok(wire) = serde_json::from_str::<LogprobsResult>(json.get()) else { return Vec::new() };
    let mut tops = wire.top_candidates.unwrap_or_default().into_iter();
    wire.chosen_candidates
        .unwrap_or_default()
        .into_iter()
        .map(|chosen| TokenLogprobs {
            token: chosen.into(),
            top: tops
                .next()
                .and_then(|top| top.candidates)
                .unwrap_or_default()
                .into_iter()
                .map(Into::into)
                .collect(),
        })
        .collect()
}

impl From<WireToken> for TokenLogprob {
    fn from(wire: WireToken) -> Self {
        let logprob = wire.log_probability.filter(|logprob| *logprob > NO_PROBABILITY);
        Self {
            bytes: wire.token.unwrap_or_default().into_bytes(),
            logprob: logprob.unwrap_or(f64::NEG_INFINITY),
        }
    }
}

/// Thoughts are charged as output and are no part of the candidates' count.
fn usage(json: &RawValue) -> Option<Usage> {
    let wire: UsageMetadata = serde_json::from_str(json.get()).ok()?;
    let thoughts = wire.thoughts.unwrap_or(0);
    Some(Usage {
        prompt_tokens: wire.prompt.saturating_add(wire.tool_use_prompt.unwrap_or(0)),
        completion_tokens: wire.candidates.unwrap_or(0).saturating_add(thoughts),
        cached_tokens: wire.cached.unwrap_or(0),
        reasoning_tokens: thoughts,
        cache_write_tokens: 0,
    })
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn decoded(body: &Value) -> Result<ChatResponse, Unusable> {
        decode(body.to_string().as_bytes(), 200)
    }

    fn candidate(fields: &Value) -> Value {
        json!({"candidates": [fields], "usageMetadata": {"promptTokenCount": 61, "thoughtsTokenCount": 5}})
    }

    #[test]
    fn blocked_prompt_is_a_refusal_that_was_paid_for() {
        let body = json!({
            "promptFeedback": {"blockReason": "SAFETY"}, "usageMetadata": {"promptTokenCount": 900},
        });
        let response = decoded(&body).unwrap();
        assert_eq!(response.finish, FinishReason::ContentFilter);
        assert_eq!(response.refusal.as_deref(), Some("prompt blocked: SAFETY"));
        assert_eq!(response.usage.unwrap().prompt_tokens, 900);
    }

    #[test]
    fn failures_say_what_they_cost() {
        let check = |body: &Value, expected: &str| {
            let Err(Unusable::Empty { kind, usage }) = decoded(body) else { panic!("{body}") };
            assert!(kind.to_string().contains(expected), "{kind}");
            assert_eq!(usage.unwrap().completion_tokens, 5);
        };
        check(&candidate(&json!({"finishReason": "MALFORMED_RESPONSE"})), "`MALFORMED_RESPONSE`");
        check(&candidate(&json!({"finishReason": "OTHER"})), "`OTHER`");
        let mut none = candidate(&json!({}));
        none["candidates"] = json!([]);
        check(&none, "no candidates");
    }

    #[test]
    fn text_with_an_odd_reason_is_an_answer() {
        let check = |reason: Value| {
            let parts = json!({"parts": [{"text": "4"}]});
            let response = decoded(&candidate(&json!({"content": parts, "finishReason": reason}))).unwrap();
            assert_eq!((response.text.as_str(), response.finish), ("4", FinishReason::Other));
        };
        check(json!("OTHER"));
        check(json!("SOMETHING_NEW"));
        check(Value::Null);
    }

    #[test]
    fn calls_are_read() {
        let check = |call: Value, expected: &[(Option<&str>, &str, &str)], finish: FinishReason| {
            let parts = json!({"parts": [{"functionCall": call}]});
            let response = decoded(&candidate(&json!({"content": parts, "finishReason": "STOP"}))).unwrap();
            let calls: Vec<(Option<&str>, &str, &str)> = response
                .tool_calls
                .iter()
                .map(|call| (call.id.as_deref(), &*call.name, &*call.arguments))
                .collect();
            assert_eq!((calls.as_slice(), response.finish), (expected, finish));
        };
        let args = json!({"name": "verdict", "args": {"score": 4}});
        check(args, &[(None, "verdict", "{\"score\":4}")], FinishReason::ToolCalls);
        check(json!({"id": "1", "name": "done"}), &[(Some("1"), "done", "{}")], FinishReason::ToolCalls);
        check(json!("odd"), &[], FinishReason::Stop);
    }

    #[test]
    fn probabilities_are_two_lists() {
        let check = |result: Value, expected: Option<Vec<(f64, usize)>>| {
            let body = candidate(&json!({"content": {"parts": [{"text": "4"}]}, "logprobsResult": result}));
            let places = decoded(&body).unwrap().logprobs;
            let read = places
                .map(|places| places.iter().map(|place| (place.token.logprob, place.top.len())).collect());
            assert_eq!(read, expected, "{body}");
        };
        let token = |logprob: Value| json!({"token": "4", "logProbability": logprob});
        let top = json!({"candidates": [token(json!(-1.0)), token(json!(-2.0))]});
        check(
            json!({"chosenCandidates": [token(json!(-0.5)), token(Value::Null)], "topCandidates": [top]}),
            Some(vec![(-0.5, 2), (f64::NEG_INFINITY, 0)]),
        );
        check(json!({"topCandidates": [top]}), None);
        check(json!({"chosenCandidates": []}), None);
        check(json!({"chosenCandidates": "odd"}), None);
        check(json!({"logProbabilitySum": -0.3}), None);
    }

    #[test]
    fn list_of_pieces_is_one_answer() {
        let piece = |text: &str| json!({"candidates": [{"content": {"parts": [{"text": text}]}}]});
        assert_eq!(decoded(&json!([piece("4"), piece("2")])).unwrap().text, "42");
        let error = decoded(&json!([{"error": {"code": 503, "message": "x"}}])).unwrap_err().into_kind();
        assert_eq!(error, ErrorKind::Server { status: 503, message: "x".to_owned() });
    }
}
