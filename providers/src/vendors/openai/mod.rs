//! The OpenAI-compatible chat format, as spoken by OpenAI and by every local server.
//!
//! `request` and `response` hold the format, one file per dialect holds what differs. Only whole answers are asked for; `stream` reads recorded streams.

use std::sync::Arc;
use std::task::{Context, Poll};

use futures::future::BoxFuture;
use http::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE};
use http::{HeaderMap, HeaderValue, Method};
use reqwest::Url;
use secrecy::{ExposeSecret, SecretString};
use tower::Service;

use super::VendorConfig;
use super::capabilities::Capabilities;
use super::refusal::Refusal;
use crate::call::{Body, Call, Hint};
use crate::chat::{ChatRequest, ChatResponse};
use crate::error::ProviderError;
use crate::error_text::Secrets;
use crate::http::{Answer, BODY_CAP, Client, SetupError, exchange};
use crate::retry_after;

mod choices;
pub(crate) mod compatible;
mod lenient_json;
pub(crate) mod llama_cpp;
pub mod models;
pub(crate) mod ollama;
pub(crate) mod openai_com;
pub(crate) mod request;
mod response;
pub mod stream;
mod strict_schema;
pub(crate) mod vllm;

/// One model on one OpenAI-compatible server.
#[derive(Debug, Clone)]
pub struct OpenAi(Arc<Endpoint>);

#[derive(Debug)]
struct Endpoint {
    client: reqwest::Client,
    url: Url,
    headers: HeaderMap,
    host: String,
    key: Option<SecretString>,
    model: String,
    capabilities: Capabilities,
}

impl OpenAi {
    pub fn new(config: &VendorConfig, client: &Client) -> Result<Self, SetupError> {
        let mut headers = headers(config.api_key.as_ref())?;
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        Ok(Self(Arc::new(Endpoint {
            client: client.of(&config.base_url)?,
            url: config.base_url.join("chat/completions"),
            headers,
            host: config.base_url.host().to_owned(),
            key: config.api_key.clone(),
            model: config.model.clone(),
            capabilities: config.capabilities.clone(),
        })))
    }
}

/// The allow-list of headers that go upstream.
pub(crate) fn headers(key: Option<&SecretString>) -> Result<HeaderMap, SetupError> {
    let mut headers = HeaderMap::new();
    headers.insert(ACCEPT, HeaderValue::from_static("application/json"));
    if let Some(key) = key {
        let mut value =
            HeaderValue::try_from(format!("Bearer {}", key.expose_secret())).map_err(|_| SetupError::Key)?;
        value.set_sensitive(true);
        headers.insert(AUTHORIZATION, value);
    }
    Ok(headers)
}

impl Endpoint {
    async fn ask(&self, call: &Call) -> Result<ChatResponse, ProviderError> {
        let known = self.capabilities.known();
        let body = call.body(known.revision(), |request| request::encode(request, &self.model, &known));
        let answer = self.send(call, &body).await?;
        let decoded = if (200..300).contains(&answer.status) {
            response::decode(&answer.body, answer.status)
        } else {
            Err(response::NoCompletion::Refused(Refusal::read(answer.status, &answer.body)))
        };
        match decoded {
            Ok(response) => Ok(ChatResponse { dropped: body.dropped, ..response }),
            Err(response::NoCompletion::Unreadable(kind)) => Err(kind.into()),
            Err(response::NoCompletion::Refused(refusal)) => {
                Err(self.refused(call, &body, &answer, &refusal))
            }
        }
    }

    async fn send(&self, call: &Call, body: &Body) -> Result<Answer, ProviderError> {
        let mut request = reqwest::Request::new(Method::POST, self.url.clone());
        *request.headers_mut() = self.headers.clone();
        *request.body_mut() = Some(body.bytes.clone().into());
        exchange(&self.client, request, body_cap(call.request())).await.map_err(|none| {
            if let Some(hint) = none.hint {
                call.leave(hint);
            }
            none.kind.into()
        })
    }

    fn refused(&self, call: &Call, body: &Body, answer: &Answer, refusal: &Refusal) -> ProviderError {
        if refusal.may_teach() {
            self.capabilities.learn(refusal, call.request());
            // Also true when another call learned it while this one was under way.
            if self.capabilities.known().revision() != body.revision {
                call.leave(Hint::Learned);
            }
        }
        if answer.headers.get("x-should-retry").is_some_and(|wish| wish == "false") {
            call.leave(Hint::Final);
        }
        let secrets =
            Secrets { key: self.key.as_ref(), host: &self.host, messages: &call.request().messages };
        ProviderError {
            retry_after: retry_after::from_headers(&answer.headers),
            ..refusal.kind(secrets).into()
        }
    }
}

/// The cap on an answer's size: token alternatives take about a hundred bytes each.
fn body_cap(request: &ChatRequest) -> usize {
    const BYTES_PER_ALTERNATIVE: usize = 160;
    const HARD_CAP: usize = 16 << 20;
    const UNCAPPED_ANSWER_TOKENS: u32 = 4096;
    let Some(alternatives) = request.top_logprobs else { return BODY_CAP };
    let tokens = request.max_tokens.unwrap_or(UNCAPPED_ANSWER_TOKENS);
    usize::try_from(tokens)
        .unwrap_or(usize::MAX)
        .saturating_mul(usize::from(alternatives) + 1)
        .saturating_mul(BYTES_PER_ALTERNATIVE)
        .saturating_add(BODY_CAP)
        .min(HARD_CAP)
}

impl Service<Call> for OpenAi {
    type Response = ChatResponse;
    type Error = ProviderError;
    type Future = BoxFuture<'static, Result<ChatResponse, ProviderError>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), ProviderError>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, call: Call) -> Self::Future {
        let endpoint = Arc::clone(&self.0);
        Box::pin(async move { endpoint.ask(&call).await })
    }
}
