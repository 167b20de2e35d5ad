//! Vendors: one service per wire format. `connect` makes one from its configuration.

use secrecy::SecretString;
use serde::{Deserialize, Serialize};
use tower::util::BoxCloneSyncService;

use crate::address::BaseUrl;
use crate::call::Call;
use crate::chat::ChatResponse;
use crate::error::ProviderError;
use crate::http::{Client, SetupError};

mod capabilities;
pub mod openai;
mod profile;
mod refusal;
pub mod scripted;

pub use capabilities::{Capabilities, Learned};

/// A vendor ready for the stack: sends one request per call, knows no limits.
pub type Vendor = BoxCloneSyncService<Call, ChatResponse, ProviderError>;

/// Which flavour of the OpenAI-compatible format a server speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Dialect {
    /// OpenAI's own API.
    #[serde(rename = "openai")]
    OpenAi,
    Vllm,
    LlamaCpp,
    Ollama,
    /// Any other server that speaks the format.
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
    Ok(BoxCloneSyncService::new(openai::OpenAi::new(config, client)?))
}
