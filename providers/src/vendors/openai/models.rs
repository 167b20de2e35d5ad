//! What a server says of itself: its models and whether it is up.

use std::time::Duration;

use http::Method;
use reqwest::Url;
use secrecy::SecretString;
use serde::Deserialize;
use serde_json::{Map, Value};
use tokio::time::timeout;

use super::headers;
use crate::address::BaseUrl;
use crate::error::{ErrorKind, ProviderError};
use crate::error_text::Secrets;
use crate::http::{Answer, BODY_CAP, Client, SetupError, exchange};
use crate::retry_after;
use crate::vendors::Dialect;
use crate::vendors::profile::profile;
use crate::vendors::refusal::Refusal;

/// A server that does not answer these small questions in that time is not well.
const TIMEOUT: Duration = Duration::from_secs(5);

/// One entry of a server's model list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModelInfo {
    /// The name to ask for.
    pub id: String,
    /// Who serves it, as the server says: `vllm`, `llamacpp`, an organisation.
    pub owned_by: Option<String>,
    /// Tokens that prompt and answer may take together, where the server tells.
    pub context_tokens: Option<u64>,
    /// What tells this model from another one under the same name (its weights' origin, size and format), in a fixed
    /// order; `None` when the server tells nothing.
    pub identity: Option<String>,
}

#[derive(Debug, Deserialize)]
struct ModelList {
    data: Vec<WireModel>,
}

#[derive(Debug, Deserialize)]
struct WireModel {
    id: String,
    #[serde(default)]
    owned_by: Option<String>,
    /// vLLM: where the weights come from.
    #[serde(default)]
    root: Option<String>,
    #[serde(default)]
    max_model_len: Option<u64>,
    /// llama.cpp: facts about the weights.
    #[serde(default)]
    meta: Option<Map<String, Value>>,
}

/// The models of a server: `GET models` below its address, asked once, without retries.
pub async fn list_models(
    client: &Client,
    address: &BaseUrl,
    key: Option<&SecretString>,
) -> Result<Vec<ModelInfo>, ProviderError> {
    let answer = get(client, address, address.join("models"), key).await?;
    let list: ModelList = serde_json::from_slice(&answer.body)
        .map_err(|_| ErrorKind::Garbage { message: "no list of models".to_owned() })?;
    Ok(list.data.into_iter().map(ModelInfo::from).collect())
}

/// Whether the server is ready for calls: its health route, or its model list where there is none. A server that is
/// still loading its model is a [`ErrorKind::Server`] with status 503.
pub async fn probe_health(
    client: &Client,
    dialect: Dialect,
    address: &BaseUrl,
    key: Option<&SecretString>,
) -> Result<(), ProviderError> {
    let url = profile(dialect).health.map_or_else(|| address.join("models"), |route| address.at_root(route));
    get(client, address, url, key).await.map(|_| ())
}

async fn get(
    client: &Client,
    address: &BaseUrl,
    url: Url,
    key: Option<&SecretString>,
) -> Result<Answer, ProviderError> {
    let mut request = reqwest::Request::new(Method::GET, url);
    *request.headers_mut() = headers(key).map_err(|error| setup(&error))?;
    let client = client.of(address).map_err(|error| setup(&error))?;
    let answer = timeout(TIMEOUT, exchange(&client, request, BODY_CAP))
        .await
        .map_err(|_| ErrorKind::Timeout { after_ms: 5_000 })?
        .map_err(|none| none.kind)?;
    if (200..300).contains(&answer.status) {
        return Ok(answer);
    }
    let refusal = Refusal::read(answer.status, &answer.body);
    Err(ProviderError {
        retry_after: retry_after::from_headers(&answer.headers),
        ..refusal.kind(Secrets { key, host: address.host(), messages: &[] }).into()
    })
}

fn setup(error: &SetupError) -> ProviderError {
    match error {
        SetupError::Key => ErrorKind::Unauthorized { status: 0, message: error.to_string() },
        SetupError::Client(_) => ErrorKind::Connection { message: error.to_string() },
    }
    .into()
}

impl From<WireModel> for ModelInfo {
    fn from(wire: WireModel) -> Self {
        let meta = wire.meta.unwrap_or_default();
        // Why: `n_ctx` is how the server was started, not which model it is.
        let facts = ["n_params", "size", "ftype", "n_vocab", "n_embd", "n_ctx_train"];
        let from_meta =
            facts.iter().filter_map(|fact| meta.get(*fact).map(|value| format!("{fact}={value}")));
        let identity: Vec<String> =
            wire.root.iter().map(|root| format!("root={root}")).chain(from_meta).collect();
        Self {
            id: wire.id,
            owned_by: wire.owned_by,
            context_tokens: wire.max_model_len.or_else(|| meta.get("n_ctx").and_then(Value::as_u64)),
            identity: (!identity.is_empty()).then(|| identity.join(",")),
        }
    }
}
