//! A vendor that answers from a function: for tests, with or without the stack.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use futures::future::BoxFuture;
use tower::Service;
use tower::util::BoxCloneSyncService;

use super::Vendor;
use crate::call::Call;
use crate::chat::{ChatRequest, ChatResponse};
use crate::error::{ErrorKind, ProviderError};
use crate::{Provider, stack};

type Script = dyn Fn(&ChatRequest) -> ScriptedReply + Send + Sync;

/// What one request is met with.
#[derive(Debug, Clone)]
#[expect(clippy::large_enum_variant, reason = "few of them are made, and tests write them out")]
pub enum ScriptedReply {
    Respond(ChatResponse),
    Fail(ErrorKind),
    /// As [`Fail`](Self::Fail), with the server's `Retry-After`.
    FailUntil(ErrorKind, Duration),
    /// The reply after a pause on tokio's time.
    Delay(Duration, Box<ScriptedReply>),
    /// No answer, ever.
    Hang,
}

impl ScriptedReply {
    /// A finished answer of this text.
    pub fn text(text: impl Into<String>) -> Self {
        Self::Respond(ChatResponse::of_text(text))
    }

    /// The same reply, later.
    #[must_use]
    pub fn after(self, pause: Duration) -> Self {
        Self::Delay(pause, Box::new(self))
    }
}

/// Clones share the script and the count.
#[derive(Clone)]
pub struct Scripted {
    script: Arc<Script>,
    calls: Arc<AtomicUsize>,
}

impl Scripted {
    pub fn new(script: impl Fn(&ChatRequest) -> ScriptedReply + Send + Sync + 'static) -> Self {
        Self { script: Arc::new(script), calls: Arc::new(AtomicUsize::new(0)) }
    }

    /// The same answer to everything.
    pub fn always(text: &str) -> Self {
        let text = text.to_owned();
        Self::new(move |_| ScriptedReply::text(text.clone()))
    }

    /// One reply per request, in order; once used up, the last one again.
    pub fn in_order(replies: impl Into<Vec<ScriptedReply>>) -> Self {
        let replies: Vec<ScriptedReply> = replies.into();
        let next = AtomicUsize::new(0);
        Self::new(move |_| {
            let at = next.fetch_add(1, Ordering::Relaxed);
            replies.get(at).or(replies.last()).cloned().unwrap_or(ScriptedReply::Hang)
        })
    }

    /// Requests that have reached the script.
    pub fn calls(&self) -> usize {
        self.calls.load(Ordering::Relaxed)
    }

    /// Without limits and retries; the request's own deadline holds.
    pub fn into_provider(self) -> Provider {
        stack::bare(self.into_vendor())
    }

    /// For [`stack::build`].
    pub fn into_vendor(self) -> Vendor {
        BoxCloneSyncService::new(self)
    }
}

impl fmt::Debug for Scripted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Scripted").field("calls", &self.calls()).finish_non_exhaustive()
    }
}

impl Service<Call> for Scripted {
    type Response = ChatResponse;
    type Error = ProviderError;
    type Future = BoxFuture<'static, Result<ChatResponse, ProviderError>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), ProviderError>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, call: Call) -> Self::Future {
        let script = Arc::clone(&self.script);
        let calls = Arc::clone(&self.calls);
        Box::pin(async move {
            calls.fetch_add(1, Ordering::Relaxed);
            play(script(call.request())).await
        })
    }
}

async fn play(mut reply: ScriptedReply) -> Result<ChatResponse, ProviderError> {
    loop {
        match reply {
            ScriptedReply::Respond(response) => return Ok(response),
            ScriptedReply::Fail(kind) => return Err(kind.into()),
            ScriptedReply::FailUntil(kind, wish) => {
                return Err(ProviderError { retry_after: Some(wish), ..kind.into() });
            }
            ScriptedReply::Delay(pause, next) => {
                tokio::time::sleep(pause).await;
                reply = *next;
            }
            ScriptedReply::Hang => std::future::pending().await,
        }
    }
}

#[cfg(test)]
mod tests {
    use tower::ServiceExt;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn replies_follow_the_script() {
        let scripted = Scripted::in_order([
            ScriptedReply::text("4").after(Duration::from_secs(3)),
            ScriptedReply::Fail(ErrorKind::BreakerOpen),
        ]);
        let provider = scripted.clone().into_provider();
        let started = tokio::time::Instant::now();
        let response = provider.clone().oneshot(ChatRequest::user("hi")).await.unwrap();
        assert_eq!(response.text, "4");
        assert_eq!(started.elapsed().as_secs(), 3);
        assert_eq!(response.attempts.len(), 1);
        for _ in 0..2 {
            let error = provider.clone().oneshot(ChatRequest::user("hi")).await.unwrap_err();
            assert_eq!(error.kind, ErrorKind::BreakerOpen);
            assert_eq!(error.attempts.len(), 1);
        }
        assert_eq!(scripted.calls(), 3);
    }

    #[tokio::test(start_paused = true)]
    async fn hang_ends_at_the_requests_deadline() {
        let provider = Scripted::new(|_| ScriptedReply::Hang).into_provider();
        let request = ChatRequest { deadline: Some(Duration::from_secs(5)), ..ChatRequest::user("hi") };
        let error = provider.oneshot(request).await.unwrap_err();
        assert_eq!(error.kind, ErrorKind::Timeout { after_ms: 5_000 });
        assert_eq!(error.attempts.len(), 1);
    }
}
