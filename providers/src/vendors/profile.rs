//! What differs between dialects before a server has said anything: names, limits, schemas, health routes.

use super::{Dialect, openai};

/// What differs between dialects.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Profile {
    /// The name under which the answer's length is capped, until the server wants the other one.
    pub answer_cap: AnswerCap,
    /// More alternatives per token are never asked for.
    pub most_alternatives: u8,
    pub schemas: Schemas,
    /// How an answer is held to a list of texts; `None`: there is no way.
    pub choices: Option<Choices>,
    /// Path at the server's root that tells whether it is up; `None`: its model list does.
    pub health: Option<&'static str>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum AnswerCap {
    MaxTokens,
    MaxCompletionTokens,
}

impl AnswerCap {
    pub const fn name(self) -> &'static str {
        match self {
            Self::MaxTokens => "max_tokens",
            Self::MaxCompletionTokens => "max_completion_tokens",
        }
    }

    pub const fn other(self) -> Self {
        match self {
            Self::MaxTokens => Self::MaxCompletionTokens,
            Self::MaxCompletionTokens => Self::MaxTokens,
        }
    }
}

/// Which JSON Schemas a server takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Schemas {
    /// All keywords, those for lengths and ranges too.
    Full,
    /// Those of OpenAI's strict mode.
    Strict,
}

/// The parameter that holds an answer to a list of texts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Choices {
    /// llama.cpp's `grammar`.
    Grammar,
    /// vLLM's `structured_outputs`.
    StructuredOutputs,
}

pub(crate) const fn profile(dialect: Dialect) -> Profile {
    match dialect {
        Dialect::OpenAi => openai::openai_com::PROFILE,
        Dialect::Vllm => openai::vllm::PROFILE,
        Dialect::LlamaCpp => openai::llama_cpp::PROFILE,
        Dialect::Ollama => openai::ollama::PROFILE,
        Dialect::Compatible => openai::compatible::PROFILE,
    }
}
