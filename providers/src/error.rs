//! Why a call failed, and whether asking again can help.

use std::time::Duration;

use crate::chat::Attempt;

/// A failed call. Messages never hold keys, hosts or the text of a case.
#[derive(Debug, Clone, thiserror::Error)]
#[error("{kind}")]
pub struct ProviderError {
    pub kind: ErrorKind,
    /// How long the server asked to be left alone.
    pub retry_after: Option<Duration>,
    /// Requests that went out before this error, in order.
    pub attempts: Vec<Attempt>,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ErrorKind {
    /// The request is wrong for this server, and will be wrong again (400, 404, 422 …).
    #[error("server refused the request with status {status}: {message}")]
    BadRequest { status: u16, message: String },
    /// The key is missing, wrong, forbidden or out of credit (401, 402, 403, quota).
    #[error("server refused the key with status {status}: {message}")]
    Unauthorized { status: u16, message: String },
    /// The prompt does not fit the model's context.
    #[error("prompt is longer than the model's context: {message}")]
    TooLong { message: String },
    /// A content filter stopped the request or the answer.
    #[error("content filter: {message}")]
    ContentFilter { message: String },
    #[error("rate limited: {message}")]
    RateLimited { message: String },
    /// 408, 409, 5xx, an error body inside a 200.
    #[error("server failed with status {status}: {message}")]
    Server { status: u16, message: String },
    /// No whole answer arrived: refused, reset, cut.
    #[error("connection failed: {message}")]
    Connection { message: String },
    /// The answer is no chat completion, or larger than allowed.
    #[error("unreadable answer: {message}")]
    Garbage { message: String },
    #[error("no answer within {after_ms} ms")]
    Timeout { after_ms: u64 },
    /// The breaker is open after repeated failures.
    #[error("circuit breaker is open")]
    BreakerOpen,
    /// A ticket could not be had before the deadline.
    #[error("own limit of this server: {message}")]
    LimitExceeded { message: String },
}
