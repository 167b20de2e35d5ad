//! What one server (an account or a machine) allows, and the state that all its judges share.
//!
//! Made once per server and kept when the configuration changes, so that a reload neither refills limits nor forgets
//! that a server is down.

use std::collections::HashMap;
use std::num::NonZeroU32;
use std::sync::{Arc, Mutex};

use crate::call::locked;
use crate::layers::admission::Admission;
use crate::layers::circuit_breaker::{Breaker, BreakerSettings};
use crate::layers::retry::RetryState;

/// `None` means no limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ServerLimits {
    /// Requests in flight at once.
    pub concurrency: Option<NonZeroU32>,
    pub requests_per_minute: Option<NonZeroU32>,
    /// Prompt and completion tokens together.
    pub tokens_per_minute: Option<NonZeroU32>,
    pub breaker: BreakerSettings,
    /// Retries a second that are always allowed, on top of one for every five successes.
    pub retries_per_second: u32,
    /// Seed of the retry jitter.
    pub seed: u64,
}

impl Default for ServerLimits {
    fn default() -> Self {
        Self {
            concurrency: None,
            requests_per_minute: None,
            tokens_per_minute: None,
            breaker: BreakerSettings::default(),
            retries_per_second: 2,
            seed: 0,
        }
    }
}

/// Shared state of one server; clones are the same server.
#[derive(Debug, Clone)]
pub struct ServerHandle(Arc<Server>);

#[derive(Debug)]
struct Server {
    limits: ServerLimits,
    admission: Arc<Admission>,
    retries: Arc<RetryState>,
    breakers: Arc<Mutex<HashMap<String, Arc<Breaker>>>>,
}

impl ServerHandle {
    pub fn new(limits: ServerLimits) -> Self {
        Self::with_breakers(limits, Arc::default())
    }

    /// The same server under these limits: equal limits are the same handle; others start to count anew, and the
    /// breakers stay.
    #[must_use]
    pub fn with_limits(&self, limits: ServerLimits) -> Self {
        if limits == self.0.limits {
            return self.clone();
        }
        Self::with_breakers(limits, Arc::clone(&self.0.breakers))
    }

    fn with_breakers(limits: ServerLimits, breakers: Arc<Mutex<HashMap<String, Arc<Breaker>>>>) -> Self {
        Self(Arc::new(Server {
            limits,
            admission: Arc::new(Admission::new(&limits)),
            retries: Arc::new(RetryState::new(limits.retries_per_second, limits.seed)),
            breakers,
        }))
    }

    /// The breaker of one model on this server, closed when it is new.
    pub fn breaker(&self, model: &str) -> Arc<Breaker> {
        let mut breakers = locked(&self.0.breakers);
        if let Some(breaker) = breakers.get(model) {
            return Arc::clone(breaker);
        }
        let breaker = Arc::new(Breaker::new(self.0.limits.breaker));
        breakers.insert(model.to_owned(), Arc::clone(&breaker));
        breaker
    }

    /// Free slots, for metrics; `None` when there is no limit.
    pub fn free_slots(&self) -> Option<usize> {
        self.0.admission.free_slots()
    }

    /// A key that was refused may be asked with again at once: for a new key.
    pub fn forget_refusals(&self) {
        for breaker in locked(&self.0.breakers).values() {
            breaker.forget_refusal();
        }
    }

    pub(crate) fn admission(&self) -> Arc<Admission> {
        Arc::clone(&self.0.admission)
    }

    pub(crate) fn retries(&self) -> Arc<RetryState> {
        Arc::clone(&self.0.retries)
    }
}
