//! `POST /v1/responses`.

use axum::body::Body;
use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::Response;

use super::super::caller::Caller;
use super::stream::Wire;
use super::{DropInError, answer, read};
use crate::app::App;
use crate::dropin::responses;

/// As chat completions, in the form of OpenAI's Responses API. Nothing is kept that a later request could name.
#[utoipa::path(
    post,
    path = "/v1/responses",
    tag = "drop-in",
    params(("x-tribunal-sensitivity" = Option<String>, Header, description = "public, internal or confidential")),
    request_body(content = Object, description = "As OpenAI's responses"),
    responses(
        (status = 200, body = Object, description = "As OpenAI's response, or its stream"),
        (status = 400, body = Object, description = "OpenAI's error body, as all errors of this route"),
        (status = 503, body = Object, description = "Too few judges answered"),
    )
)]
pub async fn create(
    State(app): State<App>,
    caller: Caller,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, DropInError> {
    let (bytes, value) = read(body).await?;
    answer(app, caller, &headers, responses::request(value)?, bytes, Wire::Responses).await
}
