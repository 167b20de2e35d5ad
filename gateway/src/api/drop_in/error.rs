//! Errors of drop-in routes, in OpenAI's form: `{"error": {"message", "type", "param", "code"}}`.

use std::time::Duration;

use axum::Json;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use providers::error::{ErrorKind, ProviderError};
use serde_json::{Value, json};

use super::super::error::ApiError;
use crate::dropin::caller::BadRequest;
use crate::engine::EngineError;

/// How long a client waits when nothing is known.
const USUAL_WAIT: Duration = Duration::from_secs(5);

/// What a drop-in route may fail with.
#[derive(Debug, thiserror::Error)]
pub enum DropInError {
    #[error("the body is no JSON: {0}")]
    BadJson(String),
    #[error(transparent)]
    Bad(#[from] BadRequest),
    #[error("no model `{name}`; there are: {known}")]
    UnknownModel { name: String, known: String },
    #[error("no model `{name}`; there are: {known}")]
    NoSuchModel { name: String, known: String },
    #[error("`{name}` is {what}; hint: {hint}")]
    WrongModel { name: String, what: &'static str, hint: &'static str },
    #[error("judge `{judge}` is outside, and the request may not leave")]
    Perimeter { judge: String },
    /// Too few judges answered for a verdict.
    #[error("{detail}")]
    BelowQuorum { detail: String, status: StatusCode, retry_after: Option<Duration> },
    /// What a judge that was asked by itself failed with.
    #[error("{}", .0.kind)]
    Judge(Box<ProviderError>),
    /// What is not of these routes alone.
    #[error(transparent)]
    Api(#[from] ApiError),
}

impl From<EngineError> for DropInError {
    fn from(error: EngineError) -> Self {
        Self::Api(ApiError::Engine(error))
    }
}

impl From<ProviderError> for DropInError {
    fn from(error: ProviderError) -> Self {
        Self::Judge(Box::new(error))
    }
}

impl DropInError {
    pub fn status(&self) -> StatusCode {
        match self {
            Self::BadJson(_) | Self::Bad(_) | Self::UnknownModel { .. } | Self::WrongModel { .. } => {
                StatusCode::BAD_REQUEST
            }
            Self::NoSuchModel { .. } => StatusCode::NOT_FOUND,
            Self::Perimeter { .. } => StatusCode::FORBIDDEN,
            Self::BelowQuorum { status, .. } => *status,
            Self::Judge(error) => judge_status(error),
            Self::Api(error) => error.status(),
        }
    }

    /// The error as clients read it.
    pub fn body(&self) -> Value {
        let status = self.status();
        let (param, code) = match self {
            Self::Bad(bad) => (bad.param.map(str::to_owned), None),
            Self::UnknownModel { .. } | Self::NoSuchModel { .. } => {
                (Some(String::from("model")), Some(String::from("model_not_found")))
            }
            Self::WrongModel { .. } => (Some(String::from("model")), None),
            Self::Perimeter { .. } => (None, Some(String::from("perimeter"))),
            Self::BelowQuorum { .. } if status == StatusCode::SERVICE_UNAVAILABLE => {
                (None, Some(String::from("no_quorum")))
            }
            Self::Judge(error) => match &error.upstream {
                Some(upstream) => (upstream.param.clone(), upstream.code.clone()),
                None => (None, None),
            },
            Self::Api(ApiError::Refused(_)) => (None, Some(String::from("invalid_api_key"))),
            Self::Api(ApiError::OverBudget { .. }) => (None, Some(String::from("insufficient_quota"))),
            Self::BelowQuorum { .. } | Self::BadJson(_) | Self::Api(_) => (None, None),
        };
        // A cause of our own stays in the log.
        let is_inner = matches!(self, Self::Api(_)) && status == StatusCode::INTERNAL_SERVER_ERROR;
        let message = match self {
            Self::Api(_) if is_inner => String::from("something failed here"),
            // Every problem with its place, as other routes list them.
            Self::Api(ApiError::InvalidCase(problems)) => {
                let problems: Vec<String> = problems.iter().map(ToString::to_string).collect();
                format!("{self}: {}", problems.join("; "))
            }
            _ => self.to_string(),
        };
        let code =
            code.or_else(|| (status == StatusCode::TOO_MANY_REQUESTS).then(|| "rate_limit_exceeded".into()));
        json!({"error": {"message": message, "type": kind_of(status), "param": param, "code": code}})
    }

    /// When to come back; only with a status that asks for it.
    fn retry_after(&self) -> Option<Duration> {
        let known = match self {
            Self::BelowQuorum { retry_after, .. } => *retry_after,
            Self::Judge(error) => error.retry_after,
            Self::BadJson(_)
            | Self::Bad(_)
            | Self::UnknownModel { .. }
            | Self::NoSuchModel { .. }
            | Self::WrongModel { .. }
            | Self::Perimeter { .. }
            | Self::Api(_) => None,
        };
        let asks = matches!(self.status(), StatusCode::TOO_MANY_REQUESTS | StatusCode::SERVICE_UNAVAILABLE);
        asks.then(|| known.unwrap_or(USUAL_WAIT))
    }
}

/// The upstream's own status where it is the caller's to know; what is wrong between us and it is a 502.
fn judge_status(error: &ProviderError) -> StatusCode {
    let upstream = error.upstream.as_ref().and_then(|upstream| StatusCode::from_u16(upstream.status).ok());
    match &error.kind {
        ErrorKind::BadRequest { .. } | ErrorKind::TooLong { .. } | ErrorKind::ContentFilter { .. } => {
            upstream.filter(StatusCode::is_client_error).unwrap_or(StatusCode::BAD_REQUEST)
        }
        ErrorKind::RateLimited { .. } | ErrorKind::LimitExceeded { .. } => StatusCode::TOO_MANY_REQUESTS,
        ErrorKind::Timeout { .. } => StatusCode::GATEWAY_TIMEOUT,
        ErrorKind::BreakerOpen | ErrorKind::Recalled => StatusCode::SERVICE_UNAVAILABLE,
        ErrorKind::Server { .. }
        | ErrorKind::Unauthorized { .. }
        | ErrorKind::Connection { .. }
        | ErrorKind::Garbage { .. } => StatusCode::BAD_GATEWAY,
    }
}

/// OpenAI's word for a status.
fn kind_of(status: StatusCode) -> &'static str {
    match status {
        StatusCode::FORBIDDEN => "permission_error",
        StatusCode::PAYMENT_REQUIRED => "insufficient_quota",
        StatusCode::TOO_MANY_REQUESTS => "rate_limit_error",
        status if status.is_server_error() => "server_error",
        _ => "invalid_request_error",
    }
}

impl IntoResponse for DropInError {
    fn into_response(self) -> Response {
        let status = self.status();
        if status == StatusCode::INTERNAL_SERVER_ERROR {
            tracing::error!(error = &self as &dyn std::error::Error, "request failed");
        }
        let mut response = (status, Json(self.body())).into_response();
        if status == StatusCode::UNAUTHORIZED {
            response.headers_mut().insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        if let Some(wait) = self.retry_after() {
            // Whole seconds, never too early.
            let seconds = wait.as_secs() + u64::from(wait.subsec_nanos() > 0);
            if let Ok(value) = HeaderValue::from_str(&seconds.max(1).to_string()) {
                response.headers_mut().insert(header::RETRY_AFTER, value);
            }
        }
        response
    }
}

#[cfg(test)]
mod tests {
    use providers::error::Upstream;

    use super::*;
    use crate::access::Refusal;

    #[test]
    fn every_error_has_its_status_and_openais_words() {
        let name = || String::from("x");
        let check = |error: DropInError, status: u16, kind: &str, code: Option<&str>| {
            let body = error.body()["error"].clone();
            assert_eq!(
                (error.status().as_u16(), &body["type"], &body["code"]),
                (status, &json!(kind), &json!(code))
            );
        };
        let invalid = "invalid_request_error";
        let unknown = DropInError::UnknownModel { name: name(), known: name() };
        check(unknown, 400, invalid, Some("model_not_found"));
        let absent = DropInError::NoSuchModel { name: name(), known: name() };
        check(absent, 404, invalid, Some("model_not_found"));
        check(DropInError::WrongModel { name: name(), what: "a panel", hint: "none" }, 400, invalid, None);
        check(DropInError::BadJson(name()), 400, invalid, None);
        check(DropInError::Perimeter { judge: name() }, 403, "permission_error", Some("perimeter"));
        check(DropInError::Api(ApiError::Internal(name())), 500, "server_error", None);
        check(DropInError::Api(Refusal::UnknownKey.into()), 401, invalid, Some("invalid_api_key"));
        let spent = ApiError::OverBudget { key: name(), allowance: name() };
        let quota = "insufficient_quota";
        check(DropInError::Api(spent), 402, quota, Some(quota));
        let few = |status| DropInError::BelowQuorum { detail: name(), status, retry_after: None };
        check(few(StatusCode::SERVICE_UNAVAILABLE), 503, "server_error", Some("no_quorum"));
        check(few(StatusCode::TOO_MANY_REQUESTS), 429, "rate_limit_error", Some("rate_limit_exceeded"));
    }

    #[test]
    fn a_judges_error_keeps_what_the_caller_can_act_on() {
        let check = |kind: ErrorKind, status: u16| {
            assert_eq!(DropInError::from(ProviderError::new(kind)).status().as_u16(), status);
        };
        let message = || String::from("m");
        check(ErrorKind::RateLimited { message: message() }, 429);
        check(ErrorKind::LimitExceeded { message: message() }, 429);
        check(ErrorKind::Timeout { after_ms: 1 }, 504);
        check(ErrorKind::BreakerOpen, 503);
        check(ErrorKind::Recalled, 503);
        check(ErrorKind::Server { status: 500, message: message() }, 502);
        check(ErrorKind::Unauthorized { status: 401, message: message() }, 502);
        check(ErrorKind::Connection { message: message() }, 502);
        check(ErrorKind::Garbage { message: message() }, 502);
        check(ErrorKind::TooLong { message: message() }, 400);
        let upstream = Upstream { status: 422, r#type: None, code: Some(message()), param: Some(message()) };
        let kind = ErrorKind::BadRequest { status: 422, message: message() };
        let error = ProviderError { upstream: Some(Box::new(upstream)), ..ProviderError::new(kind) };
        let error = DropInError::from(error);
        assert_eq!(error.status().as_u16(), 422);
        assert_eq!(
            (&error.body()["error"]["code"], &error.body()["error"]["param"]),
            (&json!("m"), &json!("m"))
        );
    }

    #[test]
    fn waits_are_told_in_whole_seconds_and_never_too_early() {
        let after = |wait: Duration| {
            let error = ProviderError {
                retry_after: Some(wait),
                ..ProviderError::new(ErrorKind::RateLimited { message: String::new() })
            };
            let response = DropInError::from(error).into_response();
            response.headers()[header::RETRY_AFTER].to_str().unwrap().to_owned()
        };
        assert_eq!(after(Duration::from_millis(1_200)), "2");
        assert_eq!(after(Duration::from_millis(200)), "1");
        let unknown = DropInError::from(EngineError::ShuttingDown).into_response();
        assert_eq!(unknown.headers()[header::RETRY_AFTER], "5");
    }
}
