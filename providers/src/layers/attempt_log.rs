//! One span and one [`Attempt`] for every request on the wire, also for one that is cut.

use std::task::{Context, Poll};

use tokio::time::Instant;
use tower::{Service, ServiceExt};
use tracing::{Instrument, field};

use super::{Answering, READY};
use crate::call::{Call, Stage};
use crate::chat::{Attempt, ChatResponse};
use crate::error::ProviderError;

#[derive(Debug, Clone)]
pub(crate) struct AttemptLog<S> {
    inner: S,
}

impl<S> AttemptLog<S> {
    pub(crate) fn new(inner: S) -> Self {
        Self { inner }
    }
}

impl<S> Service<Call> for AttemptLog<S>
where
    S: Service<Call, Response = ChatResponse, Error = ProviderError> + Clone + Send + 'static,
    S::Future: Send,
{
    type Response = ChatResponse;
    type Error = ProviderError;
    type Future = Answering;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), ProviderError>> {
        READY
    }

    fn call(&mut self, call: Call) -> Answering {
        let span = tracing::trace_span!(
            "provider.attempt",
            prompt_tokens = field::Empty,
            completion_tokens = field::Empty,
            duration_ms = field::Empty,
            error = field::Empty,
        );
        let asking = self.inner.clone().oneshot(call.clone());
        let logged = async move {
            let open = OpenAttempt::begin(call);
            let outcome = asking.await;
            open.record(&outcome);
            outcome
        };
        Box::pin(logged.instrument(span))
    }
}

/// Written down when dropped, so that a cancelled attempt counts too.
struct OpenAttempt {
    call: Call,
    sent: Instant,
}

impl OpenAttempt {
    fn begin(call: Call) -> Self {
        call.enter(Stage::Answer);
        Self { call, sent: Instant::now() }
    }

    fn record(&self, outcome: &Result<ChatResponse, ProviderError>) {
        let span = tracing::Span::current();
        if span.is_disabled() {
            return;
        }
        span.record("duration_ms", u64::try_from(self.sent.elapsed().as_millis()).unwrap_or(u64::MAX));
        match outcome {
            Ok(response) => {
                if let Some(usage) = response.usage {
                    span.record("prompt_tokens", usage.prompt_tokens);
                    span.record("completion_tokens", usage.completion_tokens);
                }
            }
            Err(error) => {
                span.record("error", field::display(&error.kind));
            }
        }
    }
}

impl Drop for OpenAttempt {
    fn drop(&mut self) {
        self.call.push_attempt(Attempt { sent: self.sent, ended: Instant::now() });
    }
}
