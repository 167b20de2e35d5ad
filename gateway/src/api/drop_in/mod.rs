//! The drop-in endpoint: any OpenAI client names a panel as its model, and gets the panel's answer where one judge's stood.

mod chat;
mod decisions;
mod embeddings;
mod error;
mod judge;
mod models;
mod names;
mod panel;
mod responses;
mod stream;

use axum::body::{Body, Bytes, to_bytes};
use axum::http::HeaderMap;
use axum::response::{IntoResponse, Response};
use serde_json::Value;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

pub use self::error::DropInError;
use self::names::{Named, Target};
use self::stream::Wire;
use super::body;
use super::caller::Caller;
use super::error::ApiError;
use crate::app::App;
use crate::case::Sensitivity;
use crate::dropin::caller::CallerRequest;

/// Images and long conversations; other routes take less.
const BODY_LIMIT_BYTES: usize = 16 << 20;

/// The documented routes.
pub(super) fn documented() -> OpenApiRouter<App> {
    OpenApiRouter::new()
        .routes(routes!(chat::create))
        .routes(routes!(responses::create))
        .routes(routes!(decisions::create))
        .routes(routes!(embeddings::create))
        .routes(routes!(models::list))
        .routes(routes!(models::info))
}

/// The same under the other paths that clients make of a base address, and names with a slash.
pub(super) fn further() -> axum::Router<App> {
    use axum::routing::{get, post};
    axum::Router::new()
        .route("/chat/completions", post(chat::create))
        .route("/v1", post(chat::create))
        .route("/responses", post(responses::create))
        .route("/decisions", post(decisions::create))
        .route("/embeddings", post(embeddings::create))
        .route("/models", get(models::list))
        .route("/v1/models/{*id}", get(models::show))
        .route("/models/{*id}", get(models::show))
        .route("/model/info", get(models::info))
}

/// An error that is not of these routes alone, in OpenAI's form where the path is one of theirs.
pub(super) fn in_its_form(path: &str, error: ApiError) -> Response {
    if is_drop_in(path) { DropInError::Api(error).into_response() } else { error.into_response() }
}

fn is_drop_in(path: &str) -> bool {
    const ROUTES: [&str; 6] =
        ["chat/completions", "responses", "decisions", "embeddings", "models", "model/info"];
    let rest = path.strip_prefix("/v1").unwrap_or(path).trim_start_matches('/');
    path == "/v1" || ROUTES.iter().any(|route| rest == *route || rest.starts_with(&format!("{route}/")))
}

/// The whole body and what it says.
async fn read(request_body: Body) -> Result<(Bytes, Value), DropInError> {
    let bytes = to_bytes(request_body, BODY_LIMIT_BYTES)
        .await
        .map_err(|_| ApiError::TooLarge { limit_bytes: BODY_LIMIT_BYTES })?;
    let value = serde_json::from_slice(&bytes).map_err(|error| DropInError::BadJson(error.to_string()))?;
    Ok((bytes, value))
}

/// Answers with the panel or the judge that the request names.
async fn answer(
    app: App,
    caller: Caller,
    headers: &HeaderMap,
    request: CallerRequest,
    bytes: Bytes,
    wire: Wire,
) -> Result<Response, DropInError> {
    let in_force = app.in_force();
    let named = Named::of(&in_force, &caller, request.model.as_deref())?;
    let sensitivity = sensitivity(&caller, headers, request.sensitivity)?;
    match &named.target {
        Target::Panel(panel) => {
            let panel = std::sync::Arc::clone(panel);
            let question = panel::Question { caller, in_force, named, panel, request, sensitivity };
            panel::respond(app, question, wire).await
        }
        Target::Judge(judge) => {
            let judge = std::sync::Arc::clone(judge);
            judge::respond(
                app,
                judge::Question { caller, in_force, judge, request, bytes, sensitivity, wire },
            )
            .await
        }
    }
}

/// The strictest of what header and body say, and never less than the key's.
fn sensitivity(
    caller: &Caller,
    headers: &HeaderMap,
    of_body: Option<Sensitivity>,
) -> Result<Sensitivity, DropInError> {
    let of_header = body::sensitivity(headers)?;
    let said = of_header.into_iter().chain(of_body).max().unwrap_or_default();
    Ok(said.max(caller.least_sensitivity()))
}
