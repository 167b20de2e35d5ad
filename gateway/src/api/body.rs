//! Bodies of requests, and what their headers add.

use axum::body::Bytes;
use axum::extract::rejection::BytesRejection;
use axum::http::{HeaderMap, HeaderValue, StatusCode};

use super::error::ApiError;
use crate::app::App;
use crate::case::Sensitivity;

/// Raises a case's sensitivity, never lowers it.
pub(super) const SENSITIVITY: &str = "x-tribunal-sensitivity";

/// What came, or why it did not come whole.
pub(super) fn bytes(app: &App, body: Result<Bytes, BytesRejection>) -> Result<Bytes, ApiError> {
    body.map_err(|rejection| match rejection.status() {
        StatusCode::PAYLOAD_TOO_LARGE => ApiError::TooLarge { limit_bytes: app.body_limit_bytes() },
        _ => ApiError::BadJson(rejection.to_string()),
    })
}

/// Of the header, if it is there.
pub(super) fn sensitivity(headers: &HeaderMap) -> Result<Option<Sensitivity>, ApiError> {
    headers.get(SENSITIVITY).map(level).transpose()
}

fn level(level: &HeaderValue) -> Result<Sensitivity, ApiError> {
    level
        .to_str()
        .ok()
        .and_then(|level| serde_json::from_value(serde_json::Value::from(level)).ok())
        .ok_or_else(|| {
            ApiError::BadJson(String::from("x-tribunal-sensitivity is public, internal or confidential"))
        })
}
