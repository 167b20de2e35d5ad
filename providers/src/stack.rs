//! The whole layer order on one screen.

use std::time::Duration;

use tower::retry::Retry;
use tower::util::BoxCloneSyncService;
use tower::{BoxError, ServiceBuilder};

use crate::Provider;
use crate::error::{ErrorKind, ProviderError};
use crate::layers::retry::RetrySettings;
use crate::layers::{Around, AttemptLog, CircuitBreaker, Deadline, LastLook, RetryPolicy};
use crate::server::ServerHandle;
use crate::vendors::Vendor;

/// Times of one judge's calls; limits belong to the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StackSettings {
    /// Total time of a call with all its waits and retries, unless the request brings its own.
    pub deadline: Duration,
    /// Time of one request on the wire, queueing excluded.
    pub attempt_timeout: Duration,
    pub retry: RetrySettings,
}

impl Default for StackSettings {
    fn default() -> Self {
        Self {
            deadline: Duration::from_secs(90),
            attempt_timeout: Duration::from_secs(30),
            retry: RetrySettings::default(),
        }
    }
}

/// Puts the layers around a vendor; outermost first. Built once per (server, model) and cloned per call.
pub fn build(vendor: Vendor, model: &str, server: &ServerHandle, settings: StackSettings) -> Provider {
    let retries = RetryPolicy::new(settings.retry, server.retries());
    let attempt_timeout = settings.attempt_timeout;
    // An attempt: only what happens on the wire.
    let attempt = ServiceBuilder::new()
        // Excludes queueing, so a busy server is not mistaken for a dead one.
        .map_err(move |error| attempt_error(error, attempt_timeout))
        .timeout(attempt_timeout)
        // One span and one record per request, also for one that the timeout cuts.
        .layer_fn(|inner| Around::new(AttemptLog, inner))
        .service(vendor);
    let stack = ServiceBuilder::new()
        // Bounds everything below, waits included.
        .layer_fn(|inner| Around::new(Deadline { default: Some(settings.deadline) }, inner))
        // Above the limits: each attempt pays them again.
        .layer_fn(|inner| Retry::new(retries.clone(), inner))
        // Counts attempts, not calls; when open it answers before anything waits.
        .layer_fn(|inner| Around::new(CircuitBreaker(server.breaker(model)), inner))
        // Below the breaker, so that nobody queues for a server that is down; what is admitted is sent at once.
        .layer_fn(|inner| Around::new(server.admission(), inner))
        // Last: a server may have gone down, or a key been refused, while this call queued.
        .layer_fn(|inner| Around::new(LastLook(server.breaker(model)), inner))
        .service(attempt);
    BoxCloneSyncService::new(stack)
}

/// A vendor without limits and retries: only the request's own deadline and the attempt log.
pub fn bare(vendor: Vendor) -> Provider {
    BoxCloneSyncService::new(Around::new(Deadline { default: None }, Around::new(AttemptLog, vendor)))
}

/// tower's timeout speaks `BoxError`; what is not our own error is its `Elapsed`.
fn attempt_error(error: BoxError, after: Duration) -> ProviderError {
    match error.downcast::<ProviderError>() {
        Ok(own) => *own,
        Err(_elapsed) => {
            ErrorKind::Timeout { after_ms: u64::try_from(after.as_millis()).unwrap_or(u64::MAX) }.into()
        }
    }
}

#[cfg(test)]
mod tests;
