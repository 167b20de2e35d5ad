//! The seam's own layer: total deadline, and the attempts of a call put into its answer or error.

use std::task::{Context, Poll};
use std::time::Duration;

use tokio::time::timeout_at;
use tower::{Service, ServiceExt};

use super::{Answering, READY};
use crate::call::{Call, Stage};
use crate::chat::{ChatRequest, ChatResponse};
use crate::error::{ErrorKind, ProviderError};

#[derive(Debug, Clone)]
pub(crate) struct Deadline<S> {
    inner: S,
    /// For requests that bring none.
    default: Option<Duration>,
}

impl<S> Deadline<S> {
    pub(crate) fn new(inner: S, default: Option<Duration>) -> Self {
        Self { inner, default }
    }
}

impl<S> Service<ChatRequest> for Deadline<S>
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

    fn call(&mut self, request: ChatRequest) -> Answering {
        let deadline = request.deadline.or(self.default);
        let call = Call::new(request, deadline);
        let asking = self.inner.clone().oneshot(call.clone());
        Box::pin(async move {
            // The future is gone after this line, so an attempt that was cut has been logged.
            let asking = unless_recalled(&call, asking);
            let outcome = match call.deadline() {
                Some(deadline) => timeout_at(deadline, asking).await.unwrap_or_else(|_| Err(expired(&call))),
                None => asking.await,
            };
            match outcome {
                Ok(response) => Ok(ChatResponse { attempts: call.take_attempts(), ..response }),
                Err(error) => Err(ProviderError { attempts: call.take_attempts(), ..error }),
            }
        })
    }
}

/// Drops the call once its caller took it back, unless a request is on the wire: that one may finish.
async fn unless_recalled(
    call: &Call,
    asking: impl Future<Output = Result<ChatResponse, ProviderError>>,
) -> Result<ChatResponse, ProviderError> {
    let recall = &call.request().recall;
    let recalled = || Err(ErrorKind::Recalled.into());
    if recall.is_called() {
        return recalled();
    }
    let mut asking = std::pin::pin!(asking);
    tokio::select! {
        // The call first, so that its stage is known afterwards.
        biased;
        outcome = &mut asking => return outcome,
        () = recall.called() => {}
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
    let own_limit = |message: &str| ErrorKind::LimitExceeded { message: message.to_owned() };
    ProviderError::new(match call.stage() {
        Stage::Rate => own_limit("no request or token was free before the deadline"),
        Stage::Slot => own_limit("no slot was free before the deadline"),
        Stage::Answer | Stage::Backoff => ErrorKind::Timeout {
            after_ms: u64::try_from(call.started().elapsed().as_millis()).unwrap_or(u64::MAX),
        },
    })
}
