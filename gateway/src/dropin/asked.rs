//! What the caller asked, and what each judge replied.

use aggregation::vote::Abstention;
use providers::chat::{FinishReason, TokenLogprobs};
use serde_json::Value;

/// The parts of a caller's request that say what an answer has to look like; in the form of chat completions,
/// whichever way they came.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Asked {
    pub messages: Vec<Value>,
    pub tools: Option<Value>,
    pub tool_choice: Option<Value>,
    pub response_format: Option<Value>,
    pub wants_logprobs: bool,
    pub top_logprobs: Option<u8>,
    /// The caller's cap on generated tokens.
    pub max_tokens: Option<u32>,
}

/// What one judge sent back.
#[derive(Debug, Clone, PartialEq)]
pub struct Reply {
    /// The visible text; empty where there is none.
    pub text: String,
    pub tool_calls: Vec<ToolCall>,
    /// The server's own refusal text.
    pub refusal: Option<String>,
    pub finish: FinishReason,
    pub logprobs: Option<Vec<TokenLogprobs>>,
}

/// A function that a judge called.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolCall {
    pub name: String,
    /// JSON, as the judge wrote it.
    pub arguments: String,
}

/// One seat of the panel. The order of members is the panel's; the first that answers leads.
#[derive(Debug, Clone, PartialEq)]
pub struct Member {
    pub judge: String,
    /// Relative weight of the vote. What is not positive and finite counts nothing.
    pub weight: f64,
    pub reply: Result<Reply, Abstention>,
    /// To the same request with its two candidates exchanged; `None`: nobody was asked that.
    pub reversed: Option<Result<Reply, Abstention>>,
}

/// How many votes are needed, and what happens without a strict majority.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FoldPolicy {
    /// Fewest answers that make a verdict.
    pub quorum: usize,
    /// How many answers the panel wants. With fewer, a tie that cannot be settled is a lack of votes.
    pub seats: usize,
    pub on_tie: OnTie,
    /// Whether nobody else can be asked. Before that, a tie is reported and not settled.
    pub is_final: bool,
}

/// What is answered when no label has a strict majority and the contract has no label for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum OnTie {
    /// The lead judge's answer, marked as escalated.
    #[default]
    Lead,
    Refuse,
}

impl Reply {
    /// A finished text reply.
    pub fn of_text(text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            tool_calls: Vec::new(),
            refusal: None,
            finish: FinishReason::Stop,
            logprobs: None,
        }
    }

    /// A call of one function and nothing else.
    pub fn of_call(name: impl Into<String>, arguments: impl Into<String>) -> Self {
        Self {
            tool_calls: vec![ToolCall { name: name.into(), arguments: arguments.into() }],
            finish: FinishReason::ToolCalls,
            ..Self::of_text("")
        }
    }
}
