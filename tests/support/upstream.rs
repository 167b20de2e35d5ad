//! A server of judges: OpenAI's chat completions on a free port, answered by a function, every request kept.
//!
//! It runs on a thread of its own, so that tests of the built program need no runtime.

use std::collections::BTreeMap;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;

use axum::Router;
use axum::extract::State;
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use serde_json::{Value, json};
use tokio::sync::oneshot;

use super::gate::Gate;

/// Longest wait for a request that should come.
const PATIENCE: Duration = Duration::from_secs(30);

/// What is answered to one request.
#[derive(Debug, Clone)]
pub struct Reply {
    pub status: u16,
    pub headers: BTreeMap<&'static str, String>,
    /// The whole body, as it goes over the wire.
    pub body: String,
    /// The answer is held until the gate opens.
    pub behind: Option<Gate>,
}

impl Reply {
    /// A finished answer of this text, with usage.
    pub fn text(text: &str) -> Self {
        Self::completion(
            &json!({"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}),
        )
    }

    /// The same with the alternatives of its only token, each with its logprob.
    pub fn weighed(text: &str, top: &[(&str, f64)]) -> Self {
        let entry = |token: &str, logprob: f64| json!({"token": token, "logprob": logprob, "bytes": token.as_bytes()});
        let own = top.iter().find(|(token, _)| *token == text).map_or(-20.0, |(_, logprob)| *logprob);
        let mut content = entry(text, own);
        content["top_logprobs"] = top.iter().map(|(token, logprob)| entry(token, *logprob)).collect();
        Self::completion(&json!({
            "index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop",
            "logprobs": {"content": [content]},
        }))
    }

    pub fn completion(choice: &Value) -> Self {
        let body = json!({
            "id": "chatcmpl-1", "object": "chat.completion", "created": 1, "model": "mock-1", "choices": [choice],
            "usage": {"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110},
        });
        Self { status: 200, headers: BTreeMap::new(), body: body.to_string(), behind: None }
    }

    /// An error as OpenAI writes it.
    pub fn error(status: u16, message: &str) -> Self {
        let body = json!({"error": {"message": message, "type": "error", "param": null, "code": null}});
        Self { status, headers: BTreeMap::new(), body: body.to_string(), behind: None }
    }

    #[must_use]
    pub fn behind(self, gate: &Gate) -> Self {
        Self { behind: Some(gate.clone()), ..self }
    }
}

/// One request as the script sees it.
#[derive(Debug)]
pub struct Question<'a> {
    /// All messages as one text.
    pub prompt: String,
    pub body: &'a Value,
}

type Script = dyn Fn(&Question<'_>) -> Reply + Send + Sync;

struct Shared {
    script: Box<Script>,
    requests: Mutex<Vec<Value>>,
    arrived: Condvar,
}

/// The server; it ends when this is dropped.
pub struct Upstream {
    shared: Arc<Shared>,
    base_url: String,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<std::thread::JoinHandle<()>>,
}

impl Upstream {
    pub fn start(script: impl Fn(&Question<'_>) -> Reply + Send + Sync + 'static) -> Self {
        let shared = Arc::new(Shared {
            script: Box::new(script),
            requests: Mutex::default(),
            arrived: Condvar::new(),
        });
        let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a free port");
        listener.set_nonblocking(true).expect("a listener for tokio");
        let base_url = format!("http://{}/v1", listener.local_addr().expect("an address"));
        let (stop, stopped) = oneshot::channel::<()>();
        let router = Router::new()
            .route("/v1/chat/completions", post(answer))
            .route("/v1/embeddings", post(embed))
            .route(
                "/v1/models",
                get(|| async { axum::Json(json!({"object": "list", "data": [{"id": "mock-1"}]})) }),
            )
            .with_state(Arc::clone(&shared));
        let thread = std::thread::spawn(move || {
            let runtime =
                tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
            runtime.block_on(async move {
                let listener = tokio::net::TcpListener::from_std(listener).expect("a listener");
                tokio::select! {
                    served = axum::serve(listener, router) => served.expect("the server runs"),
                    _ = stopped => {}
                }
            });
        });
        Self { shared, base_url, stop: Some(stop), thread: Some(thread) }
    }

    /// The same text for everything.
    pub fn saying(text: &str) -> Self {
        let text = text.to_owned();
        Self::start(move |_| Reply::text(&text))
    }

    /// Up to and including `/v1`.
    pub fn base_url(&self) -> &str {
        &self.base_url
    }

    /// Bodies of all requests for a completion, in order of arrival.
    pub fn requests(&self) -> Vec<Value> {
        self.shared.lock().clone()
    }

    pub fn count(&self) -> usize {
        self.shared.lock().len()
    }

    /// Blocks until that many requests have arrived.
    pub fn wait_for(&self, count: usize) {
        let guard = self.shared.lock();
        let (guard, wait) = self
            .shared
            .arrived
            .wait_timeout_while(guard, PATIENCE, |requests| requests.len() < count)
            .unwrap_or_else(PoisonError::into_inner);
        assert!(!wait.timed_out(), "{} of {count} requests came", guard.len());
    }
}

impl Drop for Upstream {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            // A panic there has failed the test that asked already.
            drop(thread.join());
        }
    }
}

impl Shared {
    fn lock(&self) -> std::sync::MutexGuard<'_, Vec<Value>> {
        self.requests.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// All messages of a request's body as one text.
pub fn prompt_of(body: &Value) -> String {
    let messages = body["messages"].as_array().map(Vec::as_slice).unwrap_or_default();
    messages.iter().filter_map(|message| message["content"].as_str()).collect::<Vec<_>>().join("\n")
}

async fn embed(State(shared): State<Arc<Shared>>, body: String) -> axum::Json<Value> {
    shared.lock().push(serde_json::from_str(&body).unwrap_or(Value::Null));
    shared.arrived.notify_all();
    let embedding = json!({"object": "embedding", "index": 0, "embedding": [0.5, -0.5]});
    let usage = json!({"prompt_tokens": 1, "total_tokens": 1});
    axum::Json(json!({"object": "list", "data": [embedding], "model": "mock-1", "usage": usage}))
}

async fn answer(State(shared): State<Arc<Shared>>, body: String) -> Response {
    let body: Value = serde_json::from_str(&body).expect("a JSON body");
    let reply = (shared.script)(&Question { prompt: prompt_of(&body), body: &body });
    shared.lock().push(body);
    shared.arrived.notify_all();
    if let Some(gate) = &reply.behind {
        gate.pass().await;
    }
    let mut headers = HeaderMap::new();
    headers.insert("content-type", HeaderValue::from_static("application/json"));
    for (name, value) in &reply.headers {
        headers.insert(HeaderName::from_static(name), HeaderValue::from_str(value).expect("a header"));
    }
    (StatusCode::from_u16(reply.status).expect("a status"), headers, reply.body).into_response()
}
