//! The seam's own layer: total deadline, and the attempts of a call put into its answer or error.

use std::task::Poll;
use std::time::Duration;

use tokio::time::timeout_at;
use tower::ServiceExt;

use super::{Asks, Layer, Outcome};
use crate::call::{Call, Stage};
use crate::chat::{ChatRequest, ChatResponse};
use crate::error::{ErrorKind, ProviderError};

#[derive(Debug, Clone, Copy)]
pub(crate) struct Deadline {
    /// For requests that bring none.
    pub default: Option<Duration>,
}

impl Layer<ChatRequest> for Deadline {
    async fn handle<S: Asks>(self, inner: S, request: ChatRequest) -> Outcome {
        let deadline = request.deadline.or(self.default);
        let call = Call::new(request, deadline);
        // The future is gone after the match, so an attempt that was cut has been logged.
        let asking = unless_recalled(&call, inner.oneshot(call.clone()));
        let outcome = match call.deadline() {
            Some(deadline) => timeout_at(deadline, asking).await.unwrap_or_else(|_| Err(expired(&call))),
            None => asking.await,
        };
        match outcome {
            Ok(response) => Ok(ChatResponse { attempts: call.take_attempts(), ..response }),
            Err(error) => Err(ProviderError { attempts: call.take_attempts().into(), ..error }),
        }
    }
}

/// Drops the call once its caller took it back, unless a request is on the wire: that one may finish.
async fn unless_recalled(call: &Call, asking: impl Future<Output = Outcome>) -> Outcome {
    let request = call.request();
    let recalled = || Err(ErrorKind::Recalled.into());
    if request.is_taken_back() {
        return recalled();
    }
    let mut asking = std::pin::pin!(asking);
    tokio::select! {
        // The call first, so that its stage is known afterwards.
        biased;
        outcome = &mut asking => return outcome,
        () = request.taken_back() => {}
    }
    let is_sent = || call.stage() == Stage::Answer;
    std::future::poll_fn(|context| {
        if !is_sent() {
            return Poll::Ready(recalled());
        }
        match asking.as_mut().poll(context) {
            Poll::Pending if !is_sent() => Poll::Ready(recalled()),
            progress => progress,
        }
    })
    .await
}

/// What ran out of time, by what the call was waiting for.
fn expired(call: &Call) -> ProviderError {
    ProviderError::new(match call.stage() {
        Stage::Line => ErrorKind::LimitExceeded {
            message: "no slot, request or token was free before the deadline".to_owned(),
        },
        Stage::Answer | Stage::Backoff => ErrorKind::Timeout {
            after_ms: u64::try_from(call.started().elapsed().as_millis()).unwrap_or(u64::MAX),
        },
    })
}
