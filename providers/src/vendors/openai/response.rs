//! The JSON of a chat completion as a [`ChatResponse`]. Forgiving in everything but the presence of an answer.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use super::lenient_json::without_non_numbers;
use super::tool_calls::ToolCalls;
use crate::chat::{ChatResponse, FinishReason, TokenLogprob, TokenLogprobs, Usage};
use crate::error::ErrorKind;
use crate::vendors::refusal::Refusal;
use crate::vendors::unusable::Unusable;

/// Logprobs at or below this stand for probability 0.
const NO_PROBABILITY: f64 = -9999.0;

#[derive(Debug, Deserialize)]
struct Completion<'a> {
    #[serde(borrow, default)]
    choices: Option<Vec<Choice<'a>>>,
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
struct Embeddings<'a> {
    #[serde(borrow, default)]
    data: Option<&'a RawValue>,
    #[serde(borrow, default)]
    error: Option<&'a RawValue>,
    #[serde(borrow, default)]
    usage: Option<&'a RawValue>,
    #[serde(default)]
    model: Option<String>,
}

#[derive(Debug, Deserialize)]
struct Choice<'a> {
    #[serde(default)]
    index: Option<u64>,
    #[serde(borrow, default)]
    message: Option<WireMessage<'a>>,
    /// Read apart, so that an odd list does not cost the text.
    #[serde(borrow, default)]
    logprobs: Option<&'a RawValue>,
    #[serde(borrow, default)]
    finish_reason: Option<Cow<'a, str>>,
    /// OpenRouter's place for a failure of whoever it asked.
    #[serde(borrow, default)]
    error: Option<&'a RawValue>,
}

/// Also the `delta` of a stream.
#[derive(Debug, Default, Deserialize)]
pub(crate) struct WireMessage<'a> {
    #[serde(borrow, default)]
    content: Option<&'a RawValue>,
    #[serde(borrow, default)]
    refusal: Option<&'a RawValue>,
    /// vLLM's name, and OpenRouter's.
    #[serde(borrow, default)]
    reasoning: Option<&'a RawValue>,
    /// DeepSeek's name, and older vLLM's.
    #[serde(borrow, default)]
    reasoning_content: Option<&'a RawValue>,
    /// Read apart, so that an odd list does not cost the text.
    #[serde(borrow, default)]
    tool_calls: Option<&'a RawValue>,
    /// The one call of older servers.
    #[serde(borrow, default)]
    function_call: Option<&'a RawValue>,
}

#[derive(Debug, Deserialize)]
struct Part<'a> {
    #[serde(borrow, default)]
    text: Option<Cow<'a, str>>,
    /// Mistral's chunk of reasoning: parts of its own.
    #[serde(borrow, default)]
    thinking: Option<&'a RawValue>,
}

#[derive(Debug, Deserialize)]
struct WireLogprobs<'a> {
    #[serde(borrow, default)]
    content: Option<Vec<WireToken<'a>>>,
}

#[derive(Debug, Deserialize)]
struct WireToken<'a> {
    #[serde(borrow)]
    token: Cow<'a, str>,
    #[serde(default)]
    bytes: Option<Vec<u8>>,
    #[serde(default)]
    logprob: Option<f64>,
    /// llama.cpp's plain probability, in place of `logprob` when an operator made it report those.
    #[serde(default)]
    prob: Option<f64>,
    #[serde(borrow, default, alias = "top_probs")]
    top_logprobs: Option<Vec<WireToken<'a>>>,
}

/// Counts that are absent, null or no whole numbers are 0; prompt and completion have to be there.
#[derive(Debug, Deserialize)]
struct WireUsage {
    prompt_tokens: u64,
    #[serde(default)]
    completion_tokens: Option<u64>,
    #[serde(default)]
    prompt_tokens_details: Option<Value>,
    #[serde(default)]
    completion_tokens_details: Option<Value>,
}

/// Reads the body of an answer with a success status.
pub(crate) fn decode(body: &[u8], status: u16) -> Result<ChatResponse, Unusable> {
    match serde_json::from_slice::<Completion<'_>>(body) {
        Ok(completion) => answer(completion, status),
        Err(error) => {
            let clean = without_non_numbers(body).ok_or_else(|| Unusable::unreadable(body, &error))?;
            let completion = serde_json::from_slice::<Completion<'_>>(&clean)
                .map_err(|error| Unusable::unreadable(&clean, &error))?;
            answer(completion, status)
        }
    }
}

/// Reads the answer to `embeddings`: only what it cost, and who gave it.
pub(crate) fn decode_embeddings(body: &[u8], status: u16) -> Result<ChatResponse, Unusable> {
    let list: Embeddings<'_> =
        serde_json::from_slice(body).map_err(|error| Unusable::unreadable(body, &error))?;
    if let Some(error) = list.error {
        return Err(refused(error, status));
    }
    if list.data.is_none() {
        return Err(Unusable::garbage("answer has no embeddings"));
    }
    let usage = list.usage.and_then(usage);
    Ok(ChatResponse { usage, model: list.model, ..ChatResponse::of_text("") })
}

fn answer(completion: Completion<'_>, status: u16) -> Result<ChatResponse, Unusable> {
    if let Some(error) = completion.error {
        return Err(refused(error, status));
    }
    let usage = completion.usage.and_then(usage);
    // Servers that run several choices at once send them in the order in which they finished.
    let first = completion
        .choices
        .into_iter()
        .flatten()
        .min_by_key(|choice| choice.index.unwrap_or(u64::MAX))
        .ok_or_else(|| Unusable::Empty {
            kind: ErrorKind::Garbage { message: "answer has no choices".to_owned() },
            usage,
        })?;
    if let Some(error) = first.error {
        return Err(refused(error, status));
    }
    // Mistral's word for a failure, and OpenRouter's.
    if first.finish_reason.as_deref() == Some("error") {
        return Err(Unusable::failed("error", usage));
    }
    let message = first.message.unwrap_or_default();
    Ok(ChatResponse {
        reasoning: message.reasoning(),
        refusal: message.refusal(),
        tool_calls: ToolCalls::of(&message).finish(),
        finish: finish(first.finish_reason.as_deref()),
        logprobs: first.logprobs.and_then(logprobs),
        usage,
        model: completion.model,
        system_fingerprint: completion.system_fingerprint,
        ..ChatResponse::of_text(message.text())
    })
}

fn refused(error: &RawValue, status: u16) -> Unusable {
    // Why: `{"error": …}` keeps the shape that `Refusal` reads.
    let error: Value = serde_json::from_str(error.get()).unwrap_or(Value::Null);
    Refusal::of(status, &serde_json::json!({ "error": error })).into()
}

impl WireMessage<'_> {
    /// The visible text: a string, or a list of parts. Empty when there is none.
    pub(crate) fn text(&self) -> String {
        self.content.map(joined).unwrap_or_default()
    }

    pub(crate) fn reasoning(&self) -> Option<String> {
        [self.reasoning_content, self.reasoning]
            .into_iter()
            .flatten()
            .map(joined)
            .chain(self.content.map(thinking))
            .find(|text| !text.is_empty())
    }

    pub(crate) fn refusal(&self) -> Option<String> {
        self.refusal.map(joined).filter(|text| !text.is_empty())
    }

    pub(super) fn calls(&self) -> (Option<&RawValue>, Option<&RawValue>) {
        (self.tool_calls, self.function_call)
    }
}

fn joined(content: &RawValue) -> String {
    let json = content.get();
    if json.starts_with('"') {
        return serde_json::from_str(json).unwrap_or_default();
    }
    parts(json).into_iter().filter_map(|part| part.text).collect()
}

fn thinking(content: &RawValue) -> String {
    parts(content.get()).into_iter().filter_map(|part| part.thinking).map(joined).collect()
}

fn parts(json: &str) -> Vec<Part<'_>> {
    serde_json::from_str(json).unwrap_or_default()
}

pub(crate) fn finish(reason: Option<&str>) -> FinishReason {
    match reason {
        Some("stop") => FinishReason::Stop,
        Some("length" | "model_length") => FinishReason::Length,
        Some("content_filter") => FinishReason::ContentFilter,
        Some("tool_calls" | "function_call") => FinishReason::ToolCalls,
        Some(_) | None => FinishReason::Other,
    }
}

/// `None` for an empty list and for lists of another format.
pub(crate) fn logprobs(json: &RawValue) -> Option<Vec<TokenLogprobs>> {
    let wire: WireLogprobs<'_> = serde_json::from_str(json.get()).ok()?;
    let tokens: Vec<TokenLogprobs> = wire.content?.into_iter().map(WireToken::into_place).collect();
    (!tokens.is_empty()).then_some(tokens)
}

impl WireToken<'_> {
    fn into_place(mut self) -> TokenLogprobs {
        let top = self.top_logprobs.take().unwrap_or_default();
        TokenLogprobs { token: self.into_token(), top: top.into_iter().map(Self::into_token).collect() }
    }

    fn into_token(self) -> TokenLogprob {
        let logprob = self.logprob.or(self.prob.map(f64::ln)).filter(|logprob| *logprob > NO_PROBABILITY);
        TokenLogprob {
            bytes: self.bytes.unwrap_or_else(|| self.token.into_owned().into_bytes()),
            logprob: logprob.unwrap_or(f64::NEG_INFINITY),
        }
    }
}

pub(crate) fn usage(json: &RawValue) -> Option<Usage> {
    let wire: WireUsage = serde_json::from_str(json.get()).ok()?;
    let detail = |details: Option<Value>, name: &str| {
        details.and_then(|details| details.get(name).and_then(Value::as_u64)).unwrap_or(0)
    };
    Some(Usage {
        prompt_tokens: wire.prompt_tokens,
        completion_tokens: wire.completion_tokens.unwrap_or(0),
        cached_tokens: detail(wire.prompt_tokens_details, "cached_tokens"),
        reasoning_tokens: detail(wire.completion_tokens_details, "reasoning_tokens"),
        cache_write_tokens: 0,
    })
}

#[cfg(test)]
mod tests;
