//! The layers of the provider stack. `stack::build` puts them in order and says why each sits where it does.
//!
//! Invariant: every layer is always ready, so all waiting happens inside `call`, where the deadline sees it.

use std::task::{Context, Poll};

use futures::future::BoxFuture;
use tower::Service;

use crate::call::Call;
use crate::chat::ChatResponse;
use crate::error::ProviderError;

pub(crate) mod admission;
mod attempt_log;
pub mod circuit_breaker;
mod deadline;
mod jitter;
mod pause;
pub mod retry;
mod window;

pub(crate) use attempt_log::AttemptLog;
pub(crate) use circuit_breaker::{CircuitBreaker, LastLook};
pub(crate) use deadline::Deadline;
pub(crate) use retry::RetryPolicy;

pub(crate) type Outcome = Result<ChatResponse, ProviderError>;

/// What a layer may stand around.
pub(crate) trait Asks:
    Service<Call, Response = ChatResponse, Error = ProviderError, Future: Send> + Clone + Send + 'static
{
}

impl<S> Asks for S where
    S: Service<Call, Response = ChatResponse, Error = ProviderError, Future: Send> + Clone + Send + 'static
{
}

/// What a layer does with one request.
pub(crate) trait Layer<Request>: Clone + Send + 'static {
    /// Awaits `inner` with `oneshot`, which waits until it is ready.
    fn handle<S: Asks>(self, inner: S, request: Request) -> impl Future<Output = Outcome> + Send;
}

/// A layer around a service: always ready.
#[derive(Debug, Clone)]
pub(crate) struct Around<L, S> {
    layer: L,
    inner: S,
}

impl<L, S> Around<L, S> {
    pub(crate) fn new(layer: L, inner: S) -> Self {
        Self { layer, inner }
    }
}

impl<Request: Send + 'static, L: Layer<Request>, S: Asks> Service<Request> for Around<L, S> {
    type Response = ChatResponse;
    type Error = ProviderError;
    type Future = BoxFuture<'static, Outcome>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), ProviderError>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request) -> Self::Future {
        Box::pin(self.layer.clone().handle(self.inner.clone(), request))
    }
}
