//! Why a call failed, and whether asking again can help.

use std::time::Duration;

use crate::chat::{Attempt, Usage};

/// A failed call. Messages never hold keys, hosts or the text of a case.
#[derive(Debug, Clone, thiserror::Error)]
#[error("{kind}")]
pub struct ProviderError {
    pub kind: ErrorKind,
    /// How long the server asked to be left alone.
    pub retry_after: Option<Duration>,
    /// Requests that went out before this error, in order.
    pub attempts: Box<[Attempt]>,
    /// What those of its attempts were charged that came back with a usage and without an answer.
    pub usage: Option<Usage>,
    /// What the server's own error said beside its message; `None`: there was no answer, or none with an error.
    pub upstream: Option<Box<Upstream>>,
}

/// The fields of a server's error, for whoever has to pass it on. Fit for logs, as messages are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Upstream {
    /// Of the answer, or as the error inside a 200 gives it.
    pub status: u16,
    /// As OpenAI's `type`, such as `invalid_request_error`; every vendor has its own words.
    pub r#type: Option<String>,
    /// As OpenAI's `code`, such as `context_length_exceeded`.
    pub code: Option<String>,
    /// The field of the request that is meant.
    pub param: Option<String>,
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
    /// No slot, request or token could be had before the deadline.
    #[error("own limit of this server: {message}")]
    LimitExceeded { message: String },
    /// The caller took the call back while nothing of it was on the wire.
    #[error("taken back by the caller")]
    Recalled,
}

impl ErrorKind {
    /// Whether the same request may succeed later. Per key and permanent failures may not; an open breaker and our own
    /// limits are not asked again because the deadline or a pause already decided.
    pub fn is_retryable(&self) -> bool {
        match self {
            Self::RateLimited { .. }
            | Self::Connection { .. }
            | Self::Garbage { .. }
            | Self::Timeout { .. } => true,
            // Not implemented, HTTP version not supported: the server will not learn it.
            Self::Server { status, .. } => !matches!(status, 501 | 505),
            Self::BadRequest { .. }
            | Self::Unauthorized { .. }
            | Self::TooLong { .. }
            | Self::ContentFilter { .. }
            | Self::BreakerOpen
            | Self::LimitExceeded { .. }
            | Self::Recalled => false,
        }
    }

    /// Whether this failure speaks against the server's health, as opposed to the request, the key or our own limits.
    pub fn is_outage(&self) -> bool {
        match self {
            Self::Server { .. } | Self::Connection { .. } | Self::Garbage { .. } | Self::Timeout { .. } => {
                true
            }
            Self::BadRequest { .. }
            | Self::Unauthorized { .. }
            | Self::TooLong { .. }
            | Self::ContentFilter { .. }
            | Self::RateLimited { .. }
            | Self::BreakerOpen
            | Self::LimitExceeded { .. }
            | Self::Recalled => false,
        }
    }
}

impl ProviderError {
    /// An error without a server's wish and without attempts; the stack fills the attempts in.
    pub fn new(kind: ErrorKind) -> Self {
        Self { kind, retry_after: None, attempts: Box::default(), usage: None, upstream: None }
    }

    /// See [`ErrorKind::is_retryable`].
    pub fn is_retryable(&self) -> bool {
        self.kind.is_retryable()
    }

    /// How long the server (or our breaker) asked to be left alone, at most a day.
    pub fn retry_after(&self) -> Option<Duration> {
        self.retry_after
    }
}

impl From<ErrorKind> for ProviderError {
    fn from(kind: ErrorKind) -> Self {
        Self::new(kind)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text() -> String {
        "x".to_owned()
    }

    #[test]
    fn failures_split_into_key_permanent_and_server() {
        let check = |kind: ErrorKind, retryable: bool, outage: bool| {
            assert_eq!((kind.is_retryable(), kind.is_outage()), (retryable, outage), "{kind:?}");
        };
        check(ErrorKind::BadRequest { status: 400, message: text() }, false, false);
        check(ErrorKind::Unauthorized { status: 401, message: text() }, false, false);
        check(ErrorKind::TooLong { message: text() }, false, false);
        check(ErrorKind::ContentFilter { message: text() }, false, false);
        check(ErrorKind::RateLimited { message: text() }, true, false);
        check(ErrorKind::Server { status: 500, message: text() }, true, true);
        check(ErrorKind::Server { status: 200, message: text() }, true, true);
        check(ErrorKind::Server { status: 501, message: text() }, false, true);
        check(ErrorKind::Connection { message: text() }, true, true);
        check(ErrorKind::Garbage { message: text() }, true, true);
        check(ErrorKind::Timeout { after_ms: 1 }, true, true);
        check(ErrorKind::BreakerOpen, false, false);
        check(ErrorKind::Recalled, false, false);
        check(ErrorKind::LimitExceeded { message: text() }, false, false);
    }
}
