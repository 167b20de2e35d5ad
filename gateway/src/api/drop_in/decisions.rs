//! `POST /v1/decisions`: questions about one input, answered with the shares of a panel's votes.

use axum::Json;
use axum::body::Body;
use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::{IntoResponse, Response};
use serde_json::Value;

use super::super::caller::Caller;
use super::names::{Named, Target};
use super::stream::put_headers;
use super::{DropInError, panel, read, sensitivity};
use crate::app::App;
use crate::dropin::decisions;

/// As OpenAI's decisions: each question is a predicate, a choice or a score. Probabilities are the shares of the judges'
/// votes.
#[utoipa::path(
    post,
    path = "/v1/decisions",
    tag = "drop-in",
    params(("x-tribunal-sensitivity" = Option<String>, Header, description = "public, internal or confidential")),
    request_body(content = Object, description = "As OpenAI's decisions"),
    responses(
        (status = 200, body = Object, description = "As OpenAI's decision, with the evidence under `tribunal`"),
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
    let (_, value) = read(body).await?;
    let (request, questions) = decisions::request(value)?;
    let in_force = app.in_force();
    let named = Named::of(&in_force, &caller, request.model.as_deref())?;
    let Target::Panel(panel) = &named.target else {
        return Err(DropInError::WrongModel {
            name: request.model.unwrap_or_default(),
            what: "one judge, and the probabilities of a decision are shares of a panel's votes",
            hint: "name a panel",
        });
    };
    let panel = std::sync::Arc::clone(panel);
    let sensitivity = sensitivity(&caller, &headers, request.sensitivity)?;
    let question = panel::Question { caller, in_force, named, panel, request, sensitivity };
    let decided = panel::decide(&app, &question).await?;
    let criteria = decided.verdict.criteria.clone();
    let votes = |key: &str| -> Vec<Value> {
        let votes = criteria.get(key).map(|criterion| criterion.votes.iter()).into_iter().flatten();
        votes.map(|vote| vote.value.clone()).collect()
    };
    let answered = panel::answered(&app, &question, decided);
    let decision = decisions::decision(&answered.said, &answered.envelope, &questions, votes);
    let mut response = Json(decision).into_response();
    put_headers(response.headers_mut(), &answered.headers);
    Ok(response)
}
