//! Health and metrics.

use axum::Json;
use axum::extract::State;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use utoipa::ToSchema;

use super::error::ApiError;
use super::judges::JudgeReport;
use crate::app::App;

#[derive(Debug, Serialize, ToSchema)]
pub struct HealthReport {
    /// `ok`, or `degraded` when the store fails or a breaker is open.
    pub status: String,
    pub store: String,
    pub judges: Vec<JudgeReport>,
    pub version: String,
}

#[derive(Debug, Serialize, ToSchema)]
pub struct StatusReport {
    pub status: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// Health of the store and of each judge, from what past calls showed: nothing is called.
#[utoipa::path(get, path = "/health", tag = "operations", responses((status = 200, body = HealthReport)))]
pub async fn health(State(app): State<App>) -> Json<HealthReport> {
    let is_stored = app.engine().store_answers().await;
    let in_force = app.in_force();
    let judges: Vec<JudgeReport> =
        in_force.config.judges.values().map(|judge| JudgeReport::of(&in_force, judge)).collect();
    let is_ok = is_stored && judges.iter().all(|judge| judge.breaker.as_deref() != Some("open"));
    Json(HealthReport {
        status: String::from(if is_ok { "ok" } else { "degraded" }),
        store: String::from(if is_stored { "ok" } else { "failing" }),
        judges,
        version: String::from(env!("CARGO_PKG_VERSION")),
    })
}

/// The process answers.
#[utoipa::path(get, path = "/health/liveness", tag = "operations", responses((status = 200, body = StatusReport)))]
pub async fn liveness() -> Json<StatusReport> {
    Json(StatusReport { status: String::from("ok"), reason: None })
}

/// Requests can be served: the store answers. A settings file that is refused is told here too, with the old version
/// still serving.
#[utoipa::path(
    get,
    path = "/health/readiness",
    tag = "operations",
    responses((status = 200, body = StatusReport), (status = 503, body = StatusReport))
)]
pub async fn readiness(State(app): State<App>) -> Response {
    if app.engine().store_answers().await {
        // Who may ask for readiness may not see the settings: what is wrong with them is in the log.
        let reason = app.reload_failure().map(|_| {
            String::from("the changed settings file is refused, the version before it is in force; hint: `tribunal check`")
        });
        return Json(StatusReport { status: String::from("ok"), reason }).into_response();
    }
    let report = StatusReport {
        status: String::from("unready"),
        reason: Some(String::from("the store does not answer")),
    };
    let mut response = (StatusCode::SERVICE_UNAVAILABLE, Json(report)).into_response();
    response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from_static("5"));
    response
}

/// Prometheus text format.
#[utoipa::path(
    get,
    path = "/metrics",
    tag = "operations",
    responses((status = 200, body = String, content_type = "text/plain"))
)]
pub async fn metrics(State(app): State<App>) -> Result<Response, ApiError> {
    let text = app.render_metrics().await?;
    let kind = HeaderValue::from_static("text/plain; version=0.0.4; charset=utf-8");
    Ok(([(header::CONTENT_TYPE, kind)], text).into_response())
}
