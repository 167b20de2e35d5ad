//! Errors of native routes: `application/problem+json` (RFC 9457). A 5xx body carries an id, not the cause.

use axum::Json;
use axum::body::Body;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::access::{KeyError, Refusal};
use crate::engine::{BadKey, EngineError};
use crate::gate::GateFault;
use crate::intake::FieldProblem;
use crate::store::StoreError;

/// A problem as RFC 9457 has it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ProblemBody {
    /// A stable name of the kind of problem.
    #[serde(rename = "type")]
    #[schema(example = "tribunal:invalid-case")]
    pub kind: String,
    pub title: String,
    pub status: u16,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub detail: Option<String>,
    /// Every problem with its place and the next step.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub errors: Vec<ProblemDetail>,
    /// Also in the header `x-request-id`; the server's log has it too.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub request_id: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ProblemDetail {
    /// Where in the request, such as `case.output`.
    pub field: String,
    pub message: String,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub hint: Option<String>,
}

impl ProblemDetail {
    /// A text that may end in a hint.
    pub(super) fn of_text(field: String, text: &str) -> Self {
        // A message that ends in a question keeps its mark.
        let (message, hint) = match text.split_once("hint: ") {
            Some((message, hint)) => {
                (message.trim_end().trim_end_matches(';').to_owned(), Some(hint.to_owned()))
            }
            None => (text.to_owned(), None),
        };
        Self { field, message, hint }
    }

    /// A problem of a case that stands at `place`.
    pub(super) fn of_field(place: &str, found: &FieldProblem) -> Self {
        let field = found.field.as_ref().map_or_else(|| place.to_owned(), |field| format!("{place}.{field}"));
        Self::of_text(field, &found.problem.to_string())
    }
}

/// What a handler may fail with.
#[derive(Debug, thiserror::Error)]
pub enum ApiError {
    #[error("{0}")]
    BadJson(String),
    #[error("content type must be `application/json`")]
    NotJson,
    #[error("body is larger than {limit_bytes} bytes")]
    TooLarge { limit_bytes: usize },
    #[error("no route `{0}`")]
    NoRoute(String),
    #[error("method is not allowed on this route")]
    MethodNotAllowed,
    #[error(transparent)]
    Refused(#[from] Refusal),
    #[error("{0}")]
    Forbidden(String),
    #[error(
        "what is left of the budget of key `{key}` ({allowance} USD) does not cover the next call; hint: `tribunal keys create --budget` makes a key with another"
    )]
    OverBudget { key: String, allowance: String },
    #[error(
        "key `{key}` has a budget, and the price of judge `{judge}` is unknown; hint: set `judges.NAME.price` in panel.yaml"
    )]
    Unpriced { key: String, judge: String },
    #[error("no panel `{name}`; there are: {known}")]
    UnknownPanel { name: String, known: String },
    #[error("the query is not usable: {0}")]
    BadQuery(String),
    #[error("no run `{0}`; hint: `GET /v1/runs` lists them")]
    UnknownRun(String),
    #[error(transparent)]
    Gate(GateFault),
    #[error("no verdict `{0}`")]
    UnknownVerdict(String),
    #[error("the case is not valid")]
    InvalidCase(Vec<FieldProblem>),
    #[error("the run cannot be begun as it is; nothing was judged")]
    InvalidRun(Vec<ProblemDetail>),
    #[error("{most} runs wait already; hint: try again when one has ended")]
    TooManyRuns { most: u64 },
    #[error("{0}")]
    RunConflict(String),
    #[error(transparent)]
    BadIdempotencyKey(BadKey),
    #[error("this `Idempotency-Key` was used for another request; hint: a new request needs a new key")]
    IdempotencyConflict,
    #[error("kinship leaves panel `{panel}` without a quorum for candidate `{model}`: {judges}")]
    NoQuorumByKinship { panel: String, model: String, judges: String },
    #[error("{reason}")]
    Unaskable { reason: String },
    #[error("key of judge `{judge}` is missing: {source_name}")]
    MissingKey { judge: String, source_name: String },
    #[error(transparent)]
    Engine(#[from] EngineError),
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error("{0}")]
    Internal(String),
}

impl From<KeyError> for ApiError {
    fn from(error: KeyError) -> Self {
        match error {
            KeyError::Refused(refusal) => Self::Refused(refusal),
            KeyError::Store(error) => Self::Store(error),
            KeyError::Unreadable(error) => Self::Internal(error.to_string()),
        }
    }
}

impl ApiError {
    pub(super) fn status(&self) -> StatusCode {
        match self {
            Self::BadJson(_) | Self::BadQuery(_) | Self::BadIdempotencyKey(_) => StatusCode::BAD_REQUEST,
            Self::NotJson => StatusCode::UNSUPPORTED_MEDIA_TYPE,
            Self::TooLarge { .. } => StatusCode::PAYLOAD_TOO_LARGE,
            Self::NoRoute(_) | Self::UnknownPanel { .. } | Self::UnknownRun(_) | Self::UnknownVerdict(_) => {
                StatusCode::NOT_FOUND
            }
            Self::MethodNotAllowed => StatusCode::METHOD_NOT_ALLOWED,
            Self::Refused(_) => StatusCode::UNAUTHORIZED,
            Self::Forbidden(_) | Self::Unpriced { .. } => StatusCode::FORBIDDEN,
            Self::OverBudget { .. } => StatusCode::PAYMENT_REQUIRED,
            Self::TooManyRuns { .. } => StatusCode::TOO_MANY_REQUESTS,
            Self::RunConflict(_)
            | Self::Gate(GateFault::OtherVersion { .. } | GateFault::MixedVersions { .. }) => {
                StatusCode::CONFLICT
            }
            Self::Gate(GateFault::Engine(_) | GateFault::Store(_) | GateFault::Scores { .. }) => {
                StatusCode::INTERNAL_SERVER_ERROR
            }
            Self::Gate(_)
            | Self::InvalidCase(_)
            | Self::InvalidRun(_)
            | Self::IdempotencyConflict
            | Self::NoQuorumByKinship { .. }
            | Self::Unaskable { .. } => StatusCode::UNPROCESSABLE_ENTITY,
            Self::Engine(EngineError::ShuttingDown | EngineError::Cancelled) | Self::MissingKey { .. } => {
                StatusCode::SERVICE_UNAVAILABLE
            }
            Self::Engine(_) | Self::Store(_) | Self::Internal(_) => StatusCode::INTERNAL_SERVER_ERROR,
        }
    }

    fn kind_and_title(&self) -> (&'static str, &'static str) {
        match self {
            Self::BadJson(_) => ("bad-json", "The body is not the JSON that this route takes"),
            Self::NotJson => ("not-json", "The body has to be JSON"),
            Self::TooLarge { .. } => ("too-large", "The body is too large"),
            Self::NoRoute(_) => ("no-route", "There is no such route"),
            Self::MethodNotAllowed => ("method-not-allowed", "This method is not allowed here"),
            Self::Refused(_) => ("no-access", "This gateway needs a key"),
            Self::Forbidden(_) => ("forbidden", "This request is not allowed"),
            Self::OverBudget { .. } => ("over-budget", "The key's budget is spent"),
            Self::Unpriced { .. } => ("unpriced", "A budget cannot be kept with this judge"),
            Self::UnknownPanel { .. } => ("unknown-panel", "There is no such panel"),
            Self::BadQuery(_) => ("bad-query", "The query is not usable"),
            Self::UnknownRun(_) => ("unknown-run", "There is no such run"),
            Self::Gate(GateFault::Engine(_) | GateFault::Store(_) | GateFault::Scores { .. }) => {
                ("internal", "Something failed here")
            }
            Self::Gate(_) => ("no-gate", "The run cannot be held against this"),
            Self::UnknownVerdict(_) => ("unknown-verdict", "There is no such verdict"),
            Self::InvalidCase(_) => ("invalid-case", "The case is not valid"),
            Self::InvalidRun(_) => ("invalid-run", "The run cannot be begun as it is"),
            Self::TooManyRuns { .. } => ("too-many-runs", "Too many runs wait"),
            Self::RunConflict(_) => ("run-conflict", "The run is not in a state for this"),
            Self::BadIdempotencyKey(_) => ("bad-idempotency-key", "The Idempotency-Key is not usable"),
            Self::IdempotencyConflict => ("idempotency-conflict", "The key was used for another request"),
            Self::NoQuorumByKinship { .. } => {
                ("no-quorum-by-kinship", "The judges are related to the candidate")
            }
            Self::Unaskable { .. } => ("unaskable", "The panel cannot be asked about this case"),
            Self::MissingKey { .. } => ("missing-key", "A judge has no key"),
            Self::Engine(EngineError::ShuttingDown) => ("shutting-down", "The gateway is shutting down"),
            Self::Engine(_) | Self::Store(_) | Self::Internal(_) => ("internal", "Something failed here"),
        }
    }

    fn body(&self, status: StatusCode) -> ProblemBody {
        let (kind, title) = self.kind_and_title();
        let errors = match self {
            Self::InvalidCase(problems) => {
                problems.iter().map(|problem| ProblemDetail::of_field("case", problem)).collect()
            }
            Self::InvalidRun(problems) => problems.clone(),
            _ => Vec::new(),
        };
        ProblemBody {
            kind: format!("tribunal:{kind}"),
            title: title.to_owned(),
            status: status.as_u16(),
            detail: (!status.is_server_error() || matches!(self, Self::MissingKey { .. }))
                .then(|| self.to_string()),
            errors,
            request_id: None,
        }
    }
}

/// One problem of every kind, for the reference page. A new kind of error needs a line here.
pub fn problem_kinds() -> Vec<ProblemBody> {
    let word = String::new;
    let kinds = [
        ApiError::BadJson(word()),
        ApiError::NotJson,
        ApiError::TooLarge { limit_bytes: 0 },
        ApiError::NoRoute(word()),
        ApiError::MethodNotAllowed,
        ApiError::Refused(Refusal::NoKey),
        ApiError::Forbidden(word()),
        ApiError::OverBudget { key: word(), allowance: word() },
        ApiError::Unpriced { key: word(), judge: word() },
        ApiError::UnknownPanel { name: word(), known: word() },
        ApiError::BadQuery(word()),
        ApiError::UnknownRun(word()),
        ApiError::Gate(GateFault::NotPinned { run: word() }),
        ApiError::UnknownVerdict(word()),
        ApiError::InvalidCase(Vec::new()),
        ApiError::InvalidRun(Vec::new()),
        ApiError::TooManyRuns { most: 0 },
        ApiError::RunConflict(word()),
        ApiError::BadIdempotencyKey(BadKey),
        ApiError::IdempotencyConflict,
        ApiError::NoQuorumByKinship { panel: word(), model: word(), judges: word() },
        ApiError::Unaskable { reason: word() },
        ApiError::MissingKey { judge: word(), source_name: word() },
        ApiError::Engine(EngineError::ShuttingDown),
        ApiError::Internal(word()),
    ];
    kinds.iter().map(|kind| kind.body(kind.status())).collect()
}

impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        let status = self.status();
        if status == StatusCode::INTERNAL_SERVER_ERROR {
            tracing::error!(error = &self as &dyn std::error::Error, "request failed");
        }
        let body = self.body(status);
        let mut response = (status, Json(&body)).into_response();
        // For `with_request_id`, which knows the id.
        response.extensions_mut().insert(body);
        let headers = response.headers_mut();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/problem+json"));
        match status {
            StatusCode::UNAUTHORIZED => {
                headers.insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
            }
            StatusCode::SERVICE_UNAVAILABLE => {
                headers.insert(header::RETRY_AFTER, HeaderValue::from_static("5"));
            }
            // A run takes a while.
            StatusCode::TOO_MANY_REQUESTS => {
                headers.insert(header::RETRY_AFTER, HeaderValue::from_static("30"));
            }
            _ => {}
        }
        response
    }
}

/// Writes the request's id into a problem document; other responses stay as they are.
pub(super) fn with_request_id(mut response: Response, request_id: &str) -> Response {
    let Some(mut body) = response.extensions_mut().remove::<ProblemBody>() else { return response };
    body.request_id = Some(request_id.to_owned());
    if let Ok(json) = serde_json::to_vec(&body) {
        *response.body_mut() = Body::from(json);
    }
    response
}
