//! `GET /v1/models`, `/v1/models/{id}`, `/v1/model/info`: the names that answer here.

use axum::Json;
use axum::extract::{Path, State};
use serde_json::{Value, json};

use super::super::caller::Caller;
use super::error::DropInError;
use super::names;
use crate::app::App;

/// Every name that can be asked for, as OpenAI lists models; `/v1/models/{id}` shows one of them.
#[utoipa::path(get, path = "/v1/models", tag = "drop-in", responses((status = 200, body = Object)))]
pub async fn list(State(app): State<App>, caller: Caller) -> Json<Value> {
    let names = names::all(&app.in_force(), &caller);
    Json(json!({"object": "list", "data": names.iter().map(|(name, _)| model(name)).collect::<Vec<_>>()}))
}

/// One of them: `GET /v1/models/{id}`, whose id may hold a slash.
pub async fn show(
    State(app): State<App>,
    caller: Caller,
    Path(id): Path<String>,
) -> Result<Json<Value>, DropInError> {
    let names = names::all(&app.in_force(), &caller);
    if names.iter().any(|(name, _)| *name == id) {
        return Ok(Json(model(&id)));
    }
    let known: Vec<String> = names.into_iter().map(|(name, _)| name).collect();
    Err(DropInError::NoSuchModel { name: id, known: known.join(", ") })
}

/// The same as LiteLLM lists them.
#[utoipa::path(get, path = "/v1/model/info", tag = "drop-in", responses((status = 200, body = Object)))]
pub async fn info(State(app): State<App>, caller: Caller) -> Json<Value> {
    let in_force = app.in_force();
    let entry = |(name, target): (String, String)| {
        json!({
            "model_name": name,
            "litellm_params": {"model": target},
            "model_info": {"id": target, "mode": "chat", "db_model": false},
        })
    };
    Json(json!({"data": names::all(&in_force, &caller).into_iter().map(entry).collect::<Vec<_>>()}))
}

fn model(name: &str) -> Value {
    // When it was made is not known.
    json!({"id": name, "object": "model", "created": 0, "owned_by": "tribunal"})
}
