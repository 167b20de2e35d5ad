//! One model on one server: sends a request in its format, reads what comes back, learns what is refused.

use std::sync::Arc;
use std::task::{Context, Poll};

use futures::future::BoxFuture;
use http::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE};
use http::{HeaderMap, HeaderName, HeaderValue, Method};
use reqwest::Url;
use secrecy::{ExposeSecret, SecretString};
use tower::Service;

use super::capabilities::{Capabilities, Known};
use super::profile::{Format, profile};
use super::refusal::Refusal;
use super::unusable::Unusable;
use super::{Dialect, VendorConfig, anthropic, gemini, openai, sse};
use crate::address::BaseUrl;
use crate::call::{Body, Call, Hint};
use crate::chat::{ChatRequest, ChatResponse};
use crate::error::ProviderError;
use crate::error_text::Secrets;
use crate::http::{Answer, BODY_CAP, Client, SetupError, exchange};
use crate::retry_after;

/// The vendor's service; clones are the same endpoint.
#[derive(Debug, Clone)]
pub(super) struct Endpoint(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    client: reqwest::Client,
    url: Url,
    headers: HeaderMap,
    host: String,
    key: Option<SecretString>,
    model: String,
    format: Format,
    capabilities: Capabilities,
}

impl Endpoint {
    pub(super) fn new(config: &VendorConfig, client: &Client) -> Result<Self, SetupError> {
        let mut headers = headers(config.dialect, config.api_key.as_ref())?;
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        let format = profile(config.dialect).format;
        Ok(Self(Arc::new(Inner {
            client: client.of(&config.base_url)?,
            url: url(format, &config.base_url, &config.model),
            headers,
            host: config.base_url.host().to_owned(),
            key: config.api_key.clone(),
            model: config.model.clone(),
            format,
            capabilities: config.capabilities.clone(),
        })))
    }
}

fn url(format: Format, base: &BaseUrl, model: &str) -> Url {
    match format {
        Format::OpenAi => base.join("chat/completions"),
        Format::Anthropic => anthropic::route(base, "messages"),
        Format::Gemini => base.join(&gemini::route(model)),
    }
}

/// The allow-list of headers that go upstream.
pub(super) fn headers(dialect: Dialect, key: Option<&SecretString>) -> Result<HeaderMap, SetupError> {
    let mut headers = HeaderMap::new();
    headers.insert(ACCEPT, HeaderValue::from_static("application/json"));
    let (name, prefix) = match (dialect, profile(dialect).format) {
        (Dialect::AzureOpenAi, _) => (HeaderName::from_static("api-key"), ""),
        (_, Format::OpenAi) => (AUTHORIZATION, "Bearer "),
        (_, Format::Anthropic) => {
            headers.insert("anthropic-version", HeaderValue::from_static(anthropic::VERSION));
            (HeaderName::from_static("x-api-key"), "")
        }
        (_, Format::Gemini) => (HeaderName::from_static("x-goog-api-key"), ""),
    };
    if let Some(key) = key {
        let mut value =
            HeaderValue::try_from(format!("{prefix}{}", key.expose_secret())).map_err(|_| SetupError::Key)?;
        value.set_sensitive(true);
        headers.insert(name, value);
    }
    Ok(headers)
}

impl Inner {
    async fn ask(&self, call: &Call) -> Result<ChatResponse, ProviderError> {
        let known = self.capabilities.known();
        let body = call.body(known.revision(), |request| self.encode(request, &known));
        let answer = self.send(call, &body).await?;
        let decoded = if (200..300).contains(&answer.status) {
            self.decode(&answer)
        } else {
            Err(Refusal::read(answer.status, &answer.body).into())
        };
        match decoded {
            Ok(response) => {
                let usage = call.paid_with(response.usage);
                Ok(ChatResponse { dropped: body.dropped, usage, ..response })
            }
            Err(Unusable::Empty { kind, usage }) => {
                call.pay(usage);
                Err(ProviderError { usage: call.paid_with(None), ..kind.into() })
            }
            Err(Unusable::Refused(refusal)) => Err(self.refused(call, &body, &answer, &refusal)),
        }
    }

    fn encode(&self, request: &ChatRequest, known: &Known) -> Body {
        match self.format {
            Format::OpenAi => openai::request::encode(request, &self.model, known),
            Format::Anthropic => anthropic::request::encode(request, &self.model, known),
            Format::Gemini => gemini::request::encode(request, known),
        }
    }

    fn decode(&self, answer: &Answer) -> Result<ChatResponse, Unusable> {
        let (body, status) = (&*answer.body, answer.status);
        if sse::is_stream(body) {
            let text = String::from_utf8_lossy(body);
            return match self.format {
                Format::OpenAi => openai::stream::read(&text),
                Format::Anthropic => anthropic::stream::read(&text),
                Format::Gemini => gemini::stream::read(&text),
            };
        }
        match self.format {
            Format::OpenAi => openai::response::decode(body, status),
            Format::Anthropic => anthropic::response::decode(body, status),
            Format::Gemini => gemini::response::decode(body, status),
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
            ProviderError { usage: call.paid_with(None), ..none.kind.into() }
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
            retry_after: retry_after::from_headers(&answer.headers).or(refusal.retry_after),
            usage: call.paid_with(None),
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

impl Service<Call> for Endpoint {
    type Response = ChatResponse;
    type Error = ProviderError;
    type Future = BoxFuture<'static, Result<ChatResponse, ProviderError>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), ProviderError>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, call: Call) -> Self::Future {
        let inner = Arc::clone(&self.0);
        Box::pin(async move { inner.ask(&call).await })
    }
}
