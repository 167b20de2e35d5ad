//! One LLM call: vendors' wire formats, limits, retries, breaker. Knows nothing of judging.
//!
//! A [`Provider`] is made in two steps: [`vendors::connect`] gives a vendor for one model on one server, and
//! [`stack::build`] puts deadline, retries, breaker, limits and timeouts around it. [`Scripted`] stands in for a vendor
//! in tests.

mod address;
mod call;
pub mod chat;
pub mod error;
mod error_text;
mod http;
mod layers;
pub mod pricing;
mod recall;
mod relay;
mod retry_after;
mod server;
pub mod stack;
pub mod tokens;
pub mod vendors;

pub use address::{AddressError, BaseUrl};
pub use call::{Call, Hint, Hints};
pub use chat::{ChatRequest, ChatResponse};
pub use error::{ErrorKind, ProviderError, Upstream};
pub use http::{Client, SetupError};
pub use layers::circuit_breaker::{Breaker, BreakerSettings, BreakerState};
pub use layers::retry::RetrySettings;
pub use recall::Recall;
pub use relay::Relay;
pub use server::{ServerHandle, ServerLimits};
pub use stack::StackSettings;
pub use vendors::models::{ModelInfo, list_models, probe_health};
pub use vendors::scripted::{Scripted, ScriptedReply};
pub use vendors::{Capabilities, Dialect, Learned, Vendor, VendorConfig};

/// The seam: every vendor, real or scripted, is this type, always ready and cheap to clone.
pub type Provider = tower::util::BoxCloneSyncService<ChatRequest, ChatResponse, ProviderError>;
