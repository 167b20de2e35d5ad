//! One span and one [`Attempt`] for every request on the wire, also for one that is cut.

use tokio::time::Instant;
use tower::ServiceExt;
use tracing::{Instrument, field};

use super::{Asks, Layer, Outcome};
use crate::call::{Call, Stage};
use crate::chat::Attempt;

#[derive(Debug, Clone, Copy)]
pub(crate) struct AttemptLog;

impl Layer<Call> for AttemptLog {
    async fn handle<S: Asks>(self, inner: S, call: Call) -> Outcome {
        let span = tracing::trace_span!(
            "provider.attempt",
            prompt_tokens = field::Empty,
            completion_tokens = field::Empty,
            duration_ms = field::Empty,
            error = field::Empty,
        );
        let logged = async {
            let open = OpenAttempt::begin(call.clone());
            let outcome = inner.oneshot(call).await;
            open.record(&outcome);
            outcome
        };
        logged.instrument(span).await
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

    fn record(&self, outcome: &Outcome) {
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
