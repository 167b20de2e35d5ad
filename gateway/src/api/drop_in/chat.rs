//! `POST /v1/chat/completions`.

use axum::body::Body;
use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::Response;

use super::super::caller::Caller;
use super::stream::Wire;
use super::{DropInError, answer, read};
use crate::app::App;
use crate::dropin::caller::CallerRequest;

/// A panel, or a judge, answers as one model would: OpenAI's request and answer, with the evidence under `tribunal`.
#[utoipa::path(
    post,
    path = "/v1/chat/completions",
    tag = "drop-in",
    params(
        ("x-tribunal-sensitivity" = Option<String>, Header, description = "public, internal or confidential; `metadata.sensitivity` says the same, and the stricter one holds"),
    ),
    request_body(content = Object, description = "As OpenAI's chat completions; `model` is `panel/NAME`, `NAME`, `judge/NAME` or an alias. `tribunal: {\"case\": …}` has the panel judge a case by its own prompt"),
    responses(
        (status = 200, body = Object, description = "As OpenAI's chat completion, or its stream",
            headers(("x-tribunal-verdict-id" = String, description = "Names the stored verdict"))),
        (status = 400, body = Object, description = "OpenAI's error body, as all errors of this route"),
        (status = 401, body = Object, description = "This gateway needs a key"),
        (status = 402, body = Object, description = "The key's budget is spent"),
        (status = 403, body = Object, description = "The key may not ask this, or a confidential request may not leave"),
        (status = 429, body = Object, description = "Every judge is at its limit; `retry-after` says when to come back"),
        (status = 503, body = Object, description = "Too few judges answered; the same request within ten minutes asks only the missing ones"),
    )
)]
pub async fn create(
    State(app): State<App>,
    caller: Caller,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, DropInError> {
    let (bytes, value) = read(body).await?;
    answer(app, caller, &headers, CallerRequest::of_chat(value)?, bytes, Wire::Chat).await
}
