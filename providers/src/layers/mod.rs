//! The layers of the provider stack. `stack::build` puts them in order and says why each sits where it does.
//!
//! Invariant: every layer is always ready. `poll_ready` returns at once and `call` runs `inner.clone().oneshot(…)`, so
//! all waiting happens inside `call`, where the deadline sees it.

use std::task::Poll;

use futures::future::BoxFuture;

use crate::chat::ChatResponse;
use crate::error::ProviderError;

mod always_ready;
mod attempt_log;
pub mod circuit_breaker;
mod deadline;
pub mod rate_limit;
pub mod retry;

pub(crate) use always_ready::AlwaysReady;
pub(crate) use attempt_log::AttemptLog;
pub(crate) use circuit_breaker::CircuitBreaker;
pub(crate) use deadline::Deadline;
pub(crate) use rate_limit::RateLimit;
pub(crate) use retry::RetryPolicy;

pub(crate) type Answering = BoxFuture<'static, Result<ChatResponse, ProviderError>>;

/// What `poll_ready` of every layer says.
pub(crate) const READY: Poll<Result<(), ProviderError>> = Poll::Ready(Ok(()));
