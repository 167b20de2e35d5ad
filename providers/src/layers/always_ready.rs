//! Makes a foreign layer always ready: its readiness is awaited inside `call`.

use std::task::{Context, Poll};

use tower::{Service, ServiceExt};

use super::{Answering, READY};
use crate::call::Call;
use crate::chat::ChatResponse;
use crate::error::ProviderError;

#[derive(Debug, Clone)]
pub(crate) struct AlwaysReady<S> {
    inner: S,
}

impl<S> AlwaysReady<S> {
    pub(crate) fn new(inner: S) -> Self {
        Self { inner }
    }
}

impl<S> Service<Call> for AlwaysReady<S>
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
        Box::pin(self.inner.clone().oneshot(call))
    }
}
