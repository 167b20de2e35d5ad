//! The one answer that a caller gets, before it is written in the form of a route.

use providers::chat::{FinishReason, TokenLogprob, TokenLogprobs, Usage};
use serde_json::{Map, Value, json};

/// What the panel, or a judge, says.
#[derive(Debug, Clone, PartialEq)]
pub struct Said {
    /// `None` beside a refusal or a call of a tool.
    pub content: Option<String>,
    pub refusal: Option<String>,
    pub tool_calls: Vec<Called>,
    pub finish: FinishReason,
    /// One entry a token of the content; only where the caller asked for them.
    pub logprobs: Option<Vec<TokenLogprobs>>,
}

/// One call of a tool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Called {
    /// Unique within the conversation.
    pub id: String,
    pub name: String,
    /// JSON.
    pub arguments: String,
}

/// What stands around the answer.
#[derive(Debug, Clone, PartialEq)]
pub struct Envelope {
    /// Of the verdict or the call, without a route's prefix.
    pub id: String,
    /// Seconds since 1970, UTC.
    pub created_s: i64,
    /// The name that the caller asked for.
    pub model: String,
    /// Over all judges.
    pub usage: Usage,
    /// How often the answer stands in the list of choices.
    pub choices: u32,
    /// Settings of the request that the answer repeats.
    pub repeated: Map<String, Value>,
    /// The evidence: votes, disagreement, cost.
    pub tribunal: Value,
}

impl Said {
    /// Text alone.
    pub fn text(content: impl Into<String>) -> Self {
        Self {
            content: Some(content.into()),
            refusal: None,
            tool_calls: Vec::new(),
            finish: FinishReason::Stop,
            logprobs: None,
        }
    }

    /// A refusal in place of an answer.
    pub fn refusal(text: impl Into<String>) -> Self {
        Self { content: None, refusal: Some(text.into()), ..Self::text("") }
    }
}

/// OpenAI's word for why an answer ended.
pub(super) fn finish_reason(said: &Said) -> &'static str {
    if !said.tool_calls.is_empty() {
        return "tool_calls";
    }
    match said.finish {
        FinishReason::Length => "length",
        FinishReason::ContentFilter => "content_filter",
        FinishReason::Stop | FinishReason::ToolCalls | FinishReason::Other => "stop",
    }
}

/// Tokens in OpenAI's form; alternatives are a list even where there are none.
pub(super) fn tokens(places: &[TokenLogprobs]) -> Vec<Value> {
    places
        .iter()
        .map(|place| {
            let alternatives = place.top.iter().map(token).collect();
            with(token(&place.token), [("top_logprobs", alternatives)])
        })
        .collect()
}

fn token(token: &TokenLogprob) -> Value {
    // What cannot be written as JSON stands for probability 0, as OpenAI writes it.
    let logprob = if token.logprob.is_finite() { token.logprob } else { -9999.0 };
    json!({"token": String::from_utf8_lossy(&token.bytes), "logprob": logprob, "bytes": token.bytes})
}

/// The object with more fields.
pub(crate) fn with(value: Value, more: impl IntoIterator<Item = (&'static str, Value)>) -> Value {
    match value {
        Value::Object(mut fields) => {
            fields.extend(more.into_iter().map(|(name, field)| (name.to_owned(), field)));
            Value::Object(fields)
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => value,
    }
}

#[cfg(test)]
pub(super) mod samples {
    use super::*;

    pub fn envelope() -> Envelope {
        Envelope {
            id: String::from("v1"),
            created_s: 7,
            model: String::from("panel"),
            usage: Usage { prompt_tokens: 5, completion_tokens: 2, cached_tokens: 1, ..Usage::default() },
            choices: 1,
            repeated: Map::new(),
            tribunal: json!({"verdict_id": "v1"}),
        }
    }

    pub fn called() -> Said {
        let call =
            Called { id: String::from("call_1"), name: String::from("grade"), arguments: String::from("{}") };
        Said { content: None, tool_calls: vec![call], ..Said::text("") }
    }

    pub fn weighed() -> Said {
        let token = |text: &str, logprob| TokenLogprob { bytes: text.as_bytes().to_vec(), logprob };
        let top = vec![token("yes", -0.1), token("no", f64::NEG_INFINITY)];
        let place = TokenLogprobs { token: token("yes", -0.1), top };
        let last = TokenLogprobs { token: token(".", 0.0), top: Vec::new() };
        Said { logprobs: Some(vec![place, last]), ..Said::text("yes.") }
    }
}
