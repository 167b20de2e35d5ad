//! What a server says of itself: its models and whether it is up.

use std::time::Duration;

use http::Method;
use reqwest::Url;
use secrecy::SecretString;
use serde::Deserialize;
use serde_json::{Map, Value};
use tokio::time::timeout;

use super::endpoint::headers;
use super::profile::{Format, profile};
use super::refusal::Refusal;
use super::{Dialect, anthropic};
use crate::address::BaseUrl;
use crate::error::{ErrorKind, ProviderError};
use crate::error_text::Secrets;
use crate::http::{Answer, BODY_CAP, Client, SetupError, exchange};
use crate::retry_after;

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

/// OpenAI's and Anthropic's.
#[derive(Debug, Deserialize)]
struct ModelList {
    data: Vec<WireModel>,
}

#[derive(Debug, Deserialize)]
struct GeminiList {
    models: Vec<GeminiModel>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct GeminiModel {
    name: String,
    #[serde(default)]
    version: Option<String>,
    #[serde(default)]
    input_token_limit: Option<u64>,
    #[serde(default)]
    supported_generation_methods: Option<Vec<String>>,
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

/// The models of a server: its list below its address, asked once, without retries. Of Gemini's only those that answer
/// prompts; of longer lists the first thousand.
pub async fn list_models(
    client: &Client,
    dialect: Dialect,
    address: &BaseUrl,
    key: Option<&SecretString>,
) -> Result<Vec<ModelInfo>, ProviderError> {
    let answer = get(client, dialect, address, list_url(dialect, address), key).await?;
    let garbage = |_| ErrorKind::Garbage { message: "no list of models".to_owned() };
    Ok(match profile(dialect).format {
        Format::OpenAi | Format::Anthropic => {
            let list: ModelList = serde_json::from_slice(&answer.body).map_err(garbage)?;
            list.data.into_iter().map(ModelInfo::from).collect()
        }
        Format::Gemini => {
            let list: GeminiList = serde_json::from_slice(&answer.body).map_err(garbage)?;
            list.models.into_iter().filter(GeminiModel::answers_prompts).map(ModelInfo::from).collect()
        }
    })
}

fn list_url(dialect: Dialect, address: &BaseUrl) -> Url {
    match profile(dialect).format {
        // The address of one deployment has no list below it; its resource has one.
        Format::OpenAi if dialect == Dialect::AzureOpenAi && address.is_deployment() => {
            address.at_root("/openai/models")
        }
        Format::OpenAi => address.join("models"),
        Format::Anthropic => with_size(anthropic::route(address, "models"), "limit"),
        Format::Gemini => with_size(address.join("models"), "pageSize"),
    }
}

fn with_size(mut url: Url, name: &str) -> Url {
    url.query_pairs_mut().append_pair(name, "1000");
    url
}

/// Whether the server is ready for calls: its health route, or its model list where there is none. A server that is
/// still loading its model is a [`ErrorKind::Server`] with status 503.
pub async fn probe_health(
    client: &Client,
    dialect: Dialect,
    address: &BaseUrl,
    key: Option<&SecretString>,
) -> Result<(), ProviderError> {
    let url =
        profile(dialect).health.map_or_else(|| list_url(dialect, address), |route| address.at_root(route));
    get(client, dialect, address, url, key).await.map(|_| ())
}

async fn get(
    client: &Client,
    dialect: Dialect,
    address: &BaseUrl,
    url: Url,
    key: Option<&SecretString>,
) -> Result<Answer, ProviderError> {
    let mut request = reqwest::Request::new(Method::GET, url);
    *request.headers_mut() = headers(dialect, key).map_err(|error| setup(&error))?;
    let client = client.of(address).map_err(|error| setup(&error))?;
    let answer = timeout(TIMEOUT, exchange(&client, request, BODY_CAP, None))
        .await
        .map_err(|_| ErrorKind::Timeout { after_ms: 5_000 })?
        .map_err(|none| none.kind)?;
    if (200..300).contains(&answer.status) {
        return Ok(answer);
    }
    let refusal = Refusal::read(answer.status, &answer.body);
    let secrets = Secrets { key, host: address.host(), request: None };
    Err(ProviderError {
        retry_after: retry_after::from_headers(&answer.headers).or(refusal.retry_after),
        upstream: Some(Box::new(refusal.upstream(secrets))),
        ..refusal.kind(secrets).into()
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

impl GeminiModel {
    fn answers_prompts(&self) -> bool {
        self.supported_generation_methods
            .as_ref()
            .is_none_or(|methods| methods.iter().any(|method| method == "generateContent"))
    }
}

impl From<GeminiModel> for ModelInfo {
    fn from(wire: GeminiModel) -> Self {
        Self {
            id: wire.name.strip_prefix("models/").map_or(wire.name.clone(), str::to_owned),
            owned_by: None,
            context_tokens: wire.input_token_limit,
            identity: wire.version.map(|version| format!("version={version}")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_vendor_has_its_list() {
        let check = |dialect, base: &str, expected: &str| {
            assert_eq!(list_url(dialect, &base.parse().unwrap()).as_str(), expected);
        };
        check(Dialect::Vllm, "http://h:8000/v1", "http://h:8000/v1/models");
        check(Dialect::Anthropic, "https://h", "https://h/v1/models?limit=1000");
        check(Dialect::Gemini, "https://h/v1beta", "https://h/v1beta/models?pageSize=1000");
        check(Dialect::AzureOpenAi, "https://h/openai/v1", "https://h/openai/v1/models");
        check(
            Dialect::AzureOpenAi,
            "https://h/openai/deployments/d?api-version=2024-10-21",
            "https://h/openai/models?api-version=2024-10-21",
        );
    }
}
