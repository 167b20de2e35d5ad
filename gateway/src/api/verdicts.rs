//! `POST /v1/verdicts`, `GET /v1/verdicts/{id}`.

use std::sync::Arc;

use axum::Json;
use axum::body::Bytes;
use axum::extract::rejection::BytesRejection;
use axum::extract::{Path, State};
use axum::http::{HeaderMap, HeaderValue};
use axum::response::{IntoResponse, Response};
use serde::Deserialize;
use tokio_util::sync::CancellationToken;
use utoipa::ToSchema;

use super::caller::Caller;
use super::error::{ApiError, ProblemBody};
use super::{body, idempotency};
use crate::app::App;
use crate::case::{Case, Sensitivity};
use crate::engine::{JudgeRequest, KeyedAnswer};
use crate::verdict::CaseVerdict;

/// One case for one panel.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct VerdictRequest {
    /// A panel's name; the only one, or `default`, when left out.
    #[serde(default)]
    pub panel: Option<String>,
    /// A case as in a file: `input`, `output` (with `reference`), or `a` and `b`.
    #[schema(value_type = Object)]
    pub case: serde_json::Value,
    /// Whether earlier judgments of the same case may be used.
    #[serde(default = "yes")]
    pub cache: bool,
    /// Let judges vote on answers of their own model or family.
    #[serde(default)]
    pub allow_kin: bool,
}

fn yes() -> bool {
    true
}

/// Judge one case. With an `Idempotency-Key` it is judged once, however often it is sent within 24 hours.
#[utoipa::path(
    post,
    path = "/v1/verdicts",
    tag = "verdicts",
    params(
        ("idempotency-key" = Option<String>, Header, description = "1 to 255 visible ASCII characters; the same key with another body is refused"),
        ("x-tribunal-sensitivity" = Option<String>, Header, description = "public, internal or confidential; raises the case's own, never lowers it"),
    ),
    request_body = VerdictRequest,
    responses(
        (status = 200, body = CaseVerdict, description = "The verdict; without a quorum its values are null",
            headers(("idempotency-replayed" = String, description = "true: this answer was given before"))),
        (status = 400, body = ProblemBody, content_type = "application/problem+json"),
        (status = 402, body = ProblemBody, content_type = "application/problem+json", description = "The key's budget is spent"),
        (status = 404, body = ProblemBody, content_type = "application/problem+json"),
        (status = 422, body = ProblemBody, content_type = "application/problem+json", description = "Every problem of the case, or a key that was used for another body"),
    )
)]
pub async fn create(
    State(app): State<App>,
    caller: Caller,
    headers: HeaderMap,
    body: Result<Bytes, BytesRejection>,
) -> Result<Response, ApiError> {
    let body = body::bytes(&app, body)?;
    let keyed = idempotency::keyed(&headers, &body)?;
    let request: VerdictRequest =
        serde_json::from_slice(&body).map_err(|error| ApiError::BadJson(error.to_string()))?;
    let mut case = Case::try_from(request.case).map_err(ApiError::InvalidCase)?;
    let least = body::sensitivity(&headers)?.unwrap_or(Sensitivity::Public).max(caller.least_sensitivity());
    case.sensitivity = case.sensitivity.max(least);
    // Before anything that may have changed since: what was answered once is answered again.
    if let Some(keyed) = &keyed
        && let Some(answer) = app.engine().kept_answer(&caller.project, keyed).await?
    {
        return answer_keyed(answer);
    }
    let in_force = app.in_force();
    let panel = caller.panel(&in_force, request.panel.as_deref())?;
    in_force.check_ready(&panel, &case, request.allow_kin)?;
    let purse = caller.purse_for(&app, &panel).await?;
    let cancel = CancellationToken::new();
    let request = JudgeRequest {
        case: Arc::new(case),
        panel,
        askers: Arc::clone(&in_force.askers),
        project: Arc::clone(&caller.project),
        run: None,
        position: 0,
        use_cache: request.cache,
        cache_since_us: 0,
        resumed: false,
        retry: None,
        seed: 0,
        allow_kin: request.allow_kin,
        purse,
        cancel: cancel.clone(),
    };
    if let Some(keyed) = keyed {
        return answer_keyed(app.engine().judge_keyed(keyed, request).await.map_err(|e| caller.failed(e))?);
    }
    // Dropped with this handler when the client hangs up: unsent calls are dropped, sent ones finish and are recorded.
    let hang_up = cancel.drop_guard();
    let verdict = app.engine().judge(request).await.map_err(|error| caller.failed(error))?;
    hang_up.disarm();
    Ok(with_headers(&verdict))
}

fn answer_keyed(answer: KeyedAnswer) -> Result<Response, ApiError> {
    match answer {
        KeyedAnswer::Judged(verdict) => Ok(with_headers(&verdict)),
        KeyedAnswer::Replayed(verdict) => Ok(idempotency::mark_replayed(with_headers(&verdict))),
        KeyedAnswer::OtherBody => Err(ApiError::IdempotencyConflict),
    }
}

/// A stored verdict.
#[utoipa::path(
    get,
    path = "/v1/verdicts/{id}",
    tag = "verdicts",
    params(("id" = String, Path, description = "The verdict's id")),
    responses(
        (status = 200, body = CaseVerdict),
        (status = 404, body = ProblemBody, content_type = "application/problem+json"),
    )
)]
pub async fn show(
    State(app): State<App>,
    caller: Caller,
    Path(id): Path<String>,
) -> Result<Json<CaseVerdict>, ApiError> {
    let verdict = app.engine().verdict(&caller.project, &id).await?;
    verdict.map(Json).ok_or(ApiError::UnknownVerdict(id))
}

fn with_headers(verdict: &CaseVerdict) -> Response {
    let mut response = Json(verdict).into_response();
    for (name, value) in evidence_headers(verdict) {
        if let Ok(value) = HeaderValue::from_str(&value) {
            response.headers_mut().insert(name, value);
        }
    }
    response
}

/// What a client sees of a verdict without reading it.
pub(super) fn evidence_headers(verdict: &CaseVerdict) -> Vec<(&'static str, String)> {
    let mut headers = vec![
        ("x-tribunal-verdict-id", verdict.id.clone()),
        ("x-tribunal-escalated", verdict.escalated.to_string()),
    ];
    headers.extend(verdict.most_disagreement().map(|d| ("x-tribunal-disagreement", format!("{d:.4}"))));
    headers.extend(verdict.cost_usd.map(|cost| ("x-tribunal-cost", format!("{cost:.6}"))));
    headers
}

#[cfg(test)]
mod tests;
