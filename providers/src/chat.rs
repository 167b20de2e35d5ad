//! One LLM call: what is asked and what comes back, in no vendor's words.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use serde::{Deserialize, Serialize};
use tokio::time::Instant;

use crate::recall::Recall;
use crate::relay::Relay;

mod caller;

pub use caller::{CallerBody, Forwarding, Route, ToolCall};

/// A chat completion to ask of one judge. The model and the address belong to the provider stack.
#[derive(Debug, Clone, PartialEq)]
pub struct ChatRequest {
    /// Not sent beside a caller's own body.
    pub messages: Arc<[Message]>,
    /// A caller's own body, in place of `messages`, `response_schema` and `choices`.
    pub caller: Option<Arc<CallerBody>>,
    /// Cap on generated tokens. The vendor layer picks the parameter's name.
    pub max_tokens: Option<u32>,
    pub temperature: Option<f64>,
    pub top_p: Option<f64>,
    pub seed: Option<u64>,
    pub stop: Vec<String>,
    /// How many alternatives per token to ask for; `None`: no logprobs.
    pub top_logprobs: Option<u8>,
    /// Structured output, where the server has it.
    pub response_schema: Option<Arc<ResponseSchema>>,
    /// The only texts that the answer may be, where the server can hold it to them. Not sent beside a schema, nor when
    /// empty.
    pub choices: Option<Arc<[String]>>,
    /// Total time for this call with all its waits and retries; the stack's own deadline when `None`.
    pub deadline: Option<Duration>,
    /// When the caller takes the call back: what was not sent by then never is.
    pub recall: Recall,
    /// Where the bytes of a streamed answer go while it comes; only for a body that is forwarded as it stands.
    pub relay: Option<Relay>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Message {
    pub role: Role,
    pub content: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    System,
    User,
    Assistant,
}

/// A JSON Schema that the answer has to follow.
#[derive(Debug, Clone, PartialEq)]
pub struct ResponseSchema {
    /// Letters, digits, `_` and `-`, at most 64.
    pub name: String,
    pub schema: serde_json::Value,
}

/// What the server answered.
#[derive(Debug, Clone, PartialEq)]
pub struct ChatResponse {
    /// The visible text; empty when the server sent null or nothing.
    pub text: String,
    /// Reasoning that the server keeps apart. Never read for a verdict.
    pub reasoning: Option<String>,
    /// The server's own refusal text.
    pub refusal: Option<String>,
    /// Functions that the model calls, in its order.
    pub tool_calls: Vec<ToolCall>,
    /// As the server says. One that was told which function to call often says `Stop`.
    pub finish: FinishReason,
    /// One entry per generated token; `None` when absent or null, whatever was asked.
    pub logprobs: Option<Vec<TokenLogprobs>>,
    pub usage: Option<Usage>,
    /// The model that the server says answered.
    pub model: Option<String>,
    pub system_fingerprint: Option<String>,
    /// Parameters that this server does not take, so the vendor layer left them out (such as `logprobs`).
    pub dropped: Vec<&'static str>,
    /// One entry per attempt, the last one being the answer.
    pub attempts: Vec<Attempt>,
    /// The server's answer as it stands, in OpenAI's form, to a body that was forwarded as it stands. `None` where the
    /// server has a form of its own, and for a stream, which went through the relay.
    pub body: Option<Bytes>,
}

/// One request on the wire.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Attempt {
    pub sent: Instant,
    pub ended: Instant,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FinishReason {
    Stop,
    /// The token limit or the context ended the answer.
    Length,
    /// A content filter or a block reason.
    ContentFilter,
    ToolCalls,
    /// A reason that this version does not know, or none at all.
    Other,
}

/// One generated token with its alternatives. `-inf` stands for probability 0 (null, -9999 and -Infinity on the wire).
#[derive(Debug, Clone, PartialEq)]
pub struct TokenLogprobs {
    pub token: TokenLogprob,
    /// The server's most likely tokens at this place, as many as it returned.
    pub top: Vec<TokenLogprob>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct TokenLogprob {
    /// The token's own bytes: the `bytes` field where given, else the text. A token may be part of a character.
    pub bytes: Vec<u8>,
    pub logprob: f64,
}

impl ChatRequest {
    /// One user message and every parameter at the server's default.
    pub fn user(text: impl Into<String>) -> Self {
        Self::new([Message { role: Role::User, content: text.into() }])
    }

    /// These messages and every parameter at the server's default.
    pub fn new(messages: impl Into<Arc<[Message]>>) -> Self {
        Self {
            messages: messages.into(),
            caller: None,
            max_tokens: None,
            temperature: None,
            top_p: None,
            seed: None,
            stop: Vec::new(),
            top_logprobs: None,
            response_schema: None,
            choices: None,
            deadline: None,
            recall: Recall::default(),
            relay: None,
        }
    }

    /// A caller's own body and every other parameter at the server's default.
    pub fn from_caller(body: impl Into<Arc<CallerBody>>) -> Self {
        Self { caller: Some(body.into()), ..Self::new([]) }
    }

    /// Whether nobody waits for the answer any more.
    pub(crate) fn is_taken_back(&self) -> bool {
        self.recall.is_called() || self.relay.as_ref().is_some_and(Relay::is_abandoned)
    }

    /// Resolves when nobody waits for the answer any more.
    pub(crate) async fn taken_back(&self) {
        match &self.relay {
            None => self.recall.called().await,
            Some(relay) => tokio::select! {
                () = self.recall.called() => {}
                () = relay.abandoned() => {}
            },
        }
    }

    /// Whether a text stands in what is asked.
    pub(crate) fn says(&self, text: &str) -> bool {
        self.messages.iter().any(|message| message.content.contains(text))
            || self.caller.as_ref().is_some_and(|caller| caller.says(text))
    }
}

impl ChatResponse {
    /// A finished answer of this text with nothing else known.
    pub fn of_text(text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            reasoning: None,
            refusal: None,
            tool_calls: Vec::new(),
            finish: FinishReason::Stop,
            logprobs: None,
            usage: None,
            model: None,
            system_fingerprint: None,
            dropped: Vec::new(),
            attempts: Vec::new(),
            body: None,
        }
    }
}

impl Usage {
    /// Prompt and completion together: what a tokens-per-minute limit counts.
    pub fn total_tokens(&self) -> u64 {
        self.prompt_tokens.saturating_add(self.completion_tokens)
    }

    /// Both together, as when a call was answered twice.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        Self {
            prompt_tokens: self.prompt_tokens.saturating_add(other.prompt_tokens),
            completion_tokens: self.completion_tokens.saturating_add(other.completion_tokens),
            cached_tokens: self.cached_tokens.saturating_add(other.cached_tokens),
            reasoning_tokens: self.reasoning_tokens.saturating_add(other.reasoning_tokens),
            cache_write_tokens: self.cache_write_tokens.saturating_add(other.cache_write_tokens),
        }
    }
}

/// Tokens as the server counted them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Usage {
    pub prompt_tokens: u64,
    pub completion_tokens: u64,
    /// Part of `prompt_tokens` that was read from the server's cache.
    pub cached_tokens: u64,
    /// Part of `completion_tokens` that was hidden reasoning.
    pub reasoning_tokens: u64,
    /// Part of `prompt_tokens` that was written to the server's cache, where that has a price of its own (Anthropic).
    #[serde(default, skip_serializing_if = "is_zero")]
    pub cache_write_tokens: u64,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks for a reference")]
fn is_zero(count: &u64) -> bool {
    *count == 0
}
