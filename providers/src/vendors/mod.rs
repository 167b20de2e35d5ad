//! Vendors: one service per wire format. `connect` makes one from its configuration.

use secrecy::SecretString;
use serde::{Deserialize, Serialize};
use tower::util::BoxCloneSyncService;

use crate::address::BaseUrl;
use crate::call::Call;
use crate::chat::ChatResponse;
use crate::error::ProviderError;
use crate::http::{Client, SetupError};

mod adapted;
pub mod anthropic;
mod bad_schema;
mod capabilities;
mod compact;
mod endpoint;
pub mod gemini;
pub mod models;
pub mod openai;
mod profile;
mod refusal;
#[cfg(test)]
pub(crate) mod samples;
pub mod scripted;
mod sse;
mod strict_schema;
mod taken;
mod turns;
mod unusable;

pub use capabilities::{Capabilities, Learned};
use compact::compact;

/// A vendor ready for the stack: sends one request per call, knows no limits.
pub type Vendor = BoxCloneSyncService<Call, ChatResponse, ProviderError>;

/// Which format a server speaks, and which flavour of the OpenAI-compatible one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Dialect {
    /// OpenAI's own API.
    #[serde(rename = "openai")]
    OpenAi,
    Vllm,
    LlamaCpp,
    Ollama,
    Mistral,
    #[serde(rename = "azure_openai")]
    AzureOpenAi,
    #[serde(rename = "openrouter")]
    OpenRouter,
    /// Anthropic's Messages API.
    Anthropic,
    /// Google's `generateContent`.
    Gemini,
    /// Any other server that speaks OpenAI's format.
    Compatible,
}

/// One model on one server.
#[derive(Debug, Clone)]
pub struct VendorConfig {
    pub dialect: Dialect,
    /// Up to and including the version, such as `http://127.0.0.1:8080/v1`.
    pub base_url: BaseUrl,
    pub api_key: Option<SecretString>,
    pub model: String,
    /// What this model on this server is known to refuse: made for the same dialect, kept by whoever connects.
    pub capabilities: Capabilities,
}

/// A vendor for this configuration. What the server refuses goes into the configuration's capabilities.
pub fn connect(config: &VendorConfig, client: &Client) -> Result<Vendor, SetupError> {
    Ok(BoxCloneSyncService::new(endpoint::Endpoint::new(config, client)?))
}
