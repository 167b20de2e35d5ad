//! A model with its prompt template and parameters, as the panel names it.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use aggregation::vote::JudgeId;
use secrecy::SecretString;
use serde::{Deserialize, Serialize};

use crate::templates::Template;

/// One account or machine; its limits are shared by the judges on it.
#[derive(Debug, Clone)]
pub struct Server {
    pub name: String,
    pub provider: ProviderKind,
    /// With scheme, without a trailing slash, up to and including `/v1`. Empty for `replay`.
    pub base_url: String,
    pub api_key: Option<SecretString>,
    /// Where the key was named (`OPENAI_API_KEY`, a path): printable, unlike the key.
    pub api_key_source: Option<String>,
    pub perimeter: Perimeter,
    pub limits: Limits,
    /// Recorded judgments (`replay` only).
    pub replay: Option<ReplaySource>,
}

#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, schemars::JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum ProviderKind {
    Openai,
    /// Any server that speaks OpenAI's chat completions; the dialect is `openai`'s without its hosted extras.
    OpenaiCompatible,
    Vllm,
    LlamaCpp,
    Ollama,
    AzureOpenai,
    Openrouter,
    Mistral,
    Anthropic,
    Gemini,
    Replay,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Perimeter {
    Inside,
    Outside,
}

/// `None`: no limit of that kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct Limits {
    pub concurrency: Option<usize>,
    pub requests_per_minute: Option<u32>,
    pub tokens_per_minute: Option<u32>,
}

/// Lines `{case, judge, order?, sample?, raw? | verdict? | score?}`. Which of them are a judge's own: [`Judge::only`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ReplaySource {
    pub path: PathBuf,
    pub read: ReplayField,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ReplayField {
    /// `raw` where the line has it, else `verdict`, else `score`.
    #[default]
    Auto,
    Raw,
    Verdict,
    Score,
}

#[derive(Debug, Clone)]
pub struct Judge {
    pub id: JudgeId,
    pub server: Arc<Server>,
    pub model: String,
    /// `unknown` when neither the file nor the built-in table says.
    pub family: String,
    pub template: Template,
    pub scoring: ScoringMode,
    /// USD per million tokens; `None`: unknown, so costs are null.
    pub price: Option<Price>,
    pub params: Params,
    /// `replay` only: the recorded lines whose fields have these values (such as `judge: GPT-4`, `prompt: Vanilla`).
    pub only: BTreeMap<String, String>,
}

impl Judge {
    /// Whether its server takes and gives OpenAI's form, so that bytes can be passed on.
    pub fn speaks_openai(&self) -> bool {
        match self.server.provider {
            ProviderKind::Openai
            | ProviderKind::OpenaiCompatible
            | ProviderKind::Vllm
            | ProviderKind::LlamaCpp
            | ProviderKind::Ollama
            | ProviderKind::AzureOpenai
            | ProviderKind::Openrouter
            | ProviderKind::Mistral => true,
            ProviderKind::Anthropic | ProviderKind::Gemini | ProviderKind::Replay => false,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ScoringMode {
    /// Expected where the judge returns logprobs, else discrete, flagged in the vote.
    #[default]
    Auto,
    /// Probability-weighted; a reply without usable logprobs falls back to its label, flagged.
    Expected,
    /// Mean of `samples` answers at temperature 1 unless `params` says otherwise.
    Sampled,
    Discrete,
}

#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Price {
    /// USD per million prompt tokens.
    pub input: f64,
    /// USD per million generated tokens.
    pub output: f64,
    /// USD per million prompt tokens that the server read from its cache. Default: as `input`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cached_input: Option<f64>,
}

/// Sampling parameters sent with each call.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Params {
    pub temperature: Option<f64>,
    pub top_p: Option<f64>,
    pub max_tokens: u32,
    pub seed: Option<u64>,
    /// Answers per call under `scoring: sampled`; 1 otherwise.
    pub samples: u32,
}

/// Three levels; each is at most the next one up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Deadline {
    pub attempt: Duration,
    pub case: Duration,
    /// After quorum, stragglers get this long, then abstain as timed out.
    pub grace: Duration,
}
