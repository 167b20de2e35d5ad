//! One LLM call: vendors' wire formats, limits, retries, breaker. Knows nothing of judging.

pub mod chat;
pub mod error;

pub use chat::{ChatRequest, ChatResponse};
pub use error::ProviderError;

/// The seam: every vendor, real or scripted, is this type, always ready and cheap to clone.
pub type Provider = tower::util::BoxCloneSyncService<ChatRequest, ChatResponse, ProviderError>;
