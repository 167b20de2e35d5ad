//! One model on one server: sends a request in its format, reads what comes back, learns what is refused.

use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::Bytes;
use futures::future::BoxFuture;
use http::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE};
use http::{HeaderMap, HeaderName, HeaderValue, Method};
use reqwest::Url;
use secrecy::{ExposeSecret, SecretString};
use tower::Service;

use super::capabilities::{Capabilities, Known};
use super::profile::{Format, profile};
use super::refusal::Refusal;
use super::turns::foreign_part;
use super::unusable::Unusable;
use super::{Dialect, VendorConfig, anthropic, bad_schema, gemini, openai, sse};
use crate::address::BaseUrl;
use crate::call::{Body, Call, Hint};
use crate::chat::{ChatRequest, ChatResponse, Forwarding, Route};
use crate::error::{ErrorKind, ProviderError};
use crate::error_text::Secrets;
use crate::http::{Answer, BODY_CAP, Client, SetupError, exchange};
use crate::relay::Relay;
use crate::retry_after;

/// The vendor's service; clones are the same endpoint.
#[derive(Debug, Clone)]
pub(super) struct Endpoint(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    client: reqwest::Client,
    url: Url,
    embeddings_url: Url,
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
            embeddings_url: config.base_url.join("embeddings"),
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
        if let Some(kind) = foreign(call.request(), self.format) {
            return Err(kind.into());
        }
        let known = self.known(call);
        let body = call.body(known.revision(), |request| self.encode(request, &known));
        let answer = self.send(call, &body).await?;
        let decoded = if (200..300).contains(&answer.status) {
            self.decode(&answer, call.request())
        } else {
            Err(Refusal::read(answer.status, &answer.body).into())
        };
        match decoded {
            Ok(response) => {
                let usage = call.paid_with(response.usage);
                Ok(ChatResponse { dropped: body.dropped, usage, ..response })
            }
            Err(unusable) => {
                if call.request().relay.as_ref().is_some_and(Relay::has_begun) {
                    call.leave(Hint::Final);
                }
                Err(self.failed(call, &body, &answer, unusable))
            }
        }
    }

    fn failed(&self, call: &Call, body: &Body, answer: &Answer, unusable: Unusable) -> ProviderError {
        if answer.is_abandoned {
            return ProviderError { usage: call.paid_with(None), ..ErrorKind::Recalled.into() };
        }
        match unusable {
            Unusable::Empty { kind, usage } => {
                call.pay(usage);
                ProviderError { usage: call.paid_with(None), ..kind.into() }
            }
            Unusable::Refused(refusal) => self.refused(call, body, answer, &refusal),
        }
    }

    /// What is known of the server, and of what it said to this call.
    fn known(&self, call: &Call) -> Known {
        let known = self.capabilities.known();
        if call.is_schema_refused() { known.without_schemas() } else { known }
    }

    fn encode(&self, request: &ChatRequest, known: &Known) -> Body {
        if let Some((_, body)) = self.verbatim(request) {
            return openai::verbatim::encode(body, &self.model, known);
        }
        match self.format {
            Format::OpenAi => openai::request::encode(request, &self.model, known),
            Format::Anthropic => anthropic::request::encode(request, &self.model, known),
            Format::Gemini => gemini::request::encode(request, known),
        }
    }

    /// The caller's own bytes, where they go as they stand.
    fn verbatim<'a>(&self, request: &'a ChatRequest) -> Option<(Route, &'a Bytes)> {
        match &request.caller.as_ref()?.forwarding {
            Forwarding::Verbatim { route, body } if self.format == Format::OpenAi => Some((*route, body)),
            Forwarding::Verbatim { .. } | Forwarding::Adapted => None,
        }
    }

    fn decode(&self, answer: &Answer, request: &ChatRequest) -> Result<ChatResponse, Unusable> {
        let (body, status) = (&*answer.body, answer.status);
        let verbatim = self.verbatim(request);
        if sse::is_stream(body) {
            let text = String::from_utf8_lossy(body);
            return match self.format {
                Format::OpenAi => openai::stream::read(&text).or_else(|unusable| {
                    let start = answer.is_abandoned.then(|| openai::stream::read_start(&text)).flatten();
                    start.ok_or(unusable)
                }),
                Format::Anthropic => anthropic::stream::read(&text),
                Format::Gemini => gemini::stream::read(&text),
            };
        }
        let response = match (self.format, verbatim) {
            (_, Some((Route::Embeddings, _))) => openai::response::decode_embeddings(body, status),
            (Format::OpenAi, _) => openai::response::decode(body, status),
            (Format::Anthropic, _) => anthropic::response::decode(body, status),
            (Format::Gemini, _) => gemini::response::decode(body, status),
        }?;
        Ok(ChatResponse { body: verbatim.map(|_| answer.body.clone()), ..response })
    }

    async fn send(&self, call: &Call, body: &Body) -> Result<Answer, ProviderError> {
        let verbatim = self.verbatim(call.request());
        let url = match verbatim {
            Some((Route::Embeddings, _)) => &self.embeddings_url,
            Some((Route::ChatCompletions, _)) | None => &self.url,
        };
        let mut request = reqwest::Request::new(Method::POST, url.clone());
        *request.headers_mut() = self.headers.clone();
        *request.body_mut() = Some(body.bytes.clone().into());
        let relay = call.request().relay.as_ref().filter(|_| verbatim.is_some());
        let cap = if verbatim.is_some() { HARD_CAP } else { body_cap(call.request()) };
        exchange(&self.client, request, cap, relay).await.map_err(|none| {
            if let Some(hint) = none.hint {
                call.leave(hint);
            }
            if relay.is_some_and(Relay::has_begun) {
                call.leave(Hint::Final);
            }
            ProviderError { usage: call.paid_with(None), ..none.kind.into() }
        })
    }

    fn refused(&self, call: &Call, body: &Body, answer: &Answer, refusal: &Refusal) -> ProviderError {
        // Why: what goes as it stands is not asked again without what was refused.
        if refusal.may_teach() && self.verbatim(call.request()).is_none() {
            if !call.is_schema_refused() && bad_schema::is_refused(refusal, call.request()) {
                call.refuse_schema();
            } else {
                self.capabilities.learn(refusal, call.request());
            }
            // Also true when another call learned it while this one was under way.
            if self.known(call).revision() != body.revision {
                call.leave(Hint::Learned);
            }
        }
        if answer.headers.get("x-should-retry").is_some_and(|wish| wish == "false") {
            call.leave(Hint::Final);
        }
        let secrets = Secrets { key: self.key.as_ref(), host: &self.host, request: Some(call.request()) };
        ProviderError {
            retry_after: retry_after::from_headers(&answer.headers).or(refusal.retry_after),
            usage: call.paid_with(None),
            upstream: Some(Box::new(refusal.upstream(secrets))),
            ..refusal.kind(secrets).into()
        }
    }
}

/// What of a caller's body a format of its own has no place for.
fn foreign(request: &ChatRequest, format: Format) -> Option<ErrorKind> {
    let caller = request.caller.as_ref().filter(|_| format != Format::OpenAi)?;
    let message = match caller.route() {
        Route::Embeddings => "this server has no embeddings in OpenAI's format".to_owned(),
        Route::ChatCompletions => {
            format!("parts of type `{}` cannot be sent to this server", foreign_part(&caller.messages)?)
        }
    };
    Some(ErrorKind::BadRequest { status: 400, message })
}

/// The cap on any answer's size: also where a caller may ask for what we do not read.
const HARD_CAP: usize = 16 << 20;

/// The cap on an answer's size: token alternatives take about a hundred bytes each.
fn body_cap(request: &ChatRequest) -> usize {
    const BYTES_PER_ALTERNATIVE: usize = 160;
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
