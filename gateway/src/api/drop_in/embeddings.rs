//! `POST /v1/embeddings`: passed on to the server of the judge that is named.

use axum::body::Body;
use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::Response;
use providers::chat::Route;
use serde_json::Value;

use super::super::caller::Caller;
use super::names::{Named, Target};
use super::{DropInError, judge, read, sensitivity};
use crate::app::App;
use crate::dropin::caller::{BadRequest, wished_sensitivity};

/// Embeddings of a server's model, as it gives them. The name is `judge/NAME` or an alias of one.
#[utoipa::path(
    post,
    path = "/v1/embeddings",
    tag = "drop-in",
    params(("x-tribunal-sensitivity" = Option<String>, Header, description = "public, internal or confidential")),
    request_body(content = Object, description = "As OpenAI's embeddings"),
    responses(
        (status = 200, body = Object, description = "What the server answers"),
        (status = 400, body = Object, description = "OpenAI's error body, as all errors of this route"),
    )
)]
pub async fn create(
    State(app): State<App>,
    caller: Caller,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, DropInError> {
    let (bytes, value) = read(body).await?;
    let Value::Object(fields) = value else {
        return Err(BadRequest { message: String::from("the body is no JSON object"), param: None }.into());
    };
    let in_force = app.in_force();
    let name = fields.get("model").and_then(Value::as_str).unwrap_or_default();
    let Target::Judge(named) = Named::of(&in_force, &caller, Some(name))?.target else {
        return Err(DropInError::WrongModel {
            name: name.to_owned(),
            what: "a panel, which has no embeddings",
            hint: "give the name an alias to `judge/NAME`, whose server embeds",
        });
    };
    let sensitivity = sensitivity(&caller, &headers, wished_sensitivity(&fields)?)?;
    let asking = judge::Asking { caller, in_force, judge: named, fields, bytes, sensitivity };
    judge::pass_on(app, asking, Route::Embeddings).await
}
