//! Stops asking a server that keeps failing, and lets one probe through to see whether it is back.
//!
//! Counts consecutive outages ([`ErrorKind::is_outage`](crate::error::ErrorKind::is_outage)); refused keys, bad requests
//! and rate limits show a living server and reset the count. One breaker per server and model.

use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::time::Instant;
use tower::{Service, ServiceExt};

use super::{Answering, READY};
use crate::call::{Call, locked};
use crate::chat::ChatResponse;
use crate::error::{ErrorKind, ProviderError};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BreakerSettings {
    /// Consecutive outages that open the breaker; at least 1.
    pub failures: u32,
    /// First pause; each failed probe doubles it.
    pub pause: Duration,
    pub longest_pause: Duration,
}

impl Default for BreakerSettings {
    fn default() -> Self {
        Self { failures: 5, pause: Duration::from_secs(5), longest_pause: Duration::from_mins(1) }
    }
}

/// What a dashboard wants to know of a breaker.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BreakerState {
    Closed,
    Open,
    /// One probe is on its way.
    HalfOpen,
}

/// The state that all calls to one model of one server share.
#[derive(Debug)]
pub struct Breaker {
    settings: BreakerSettings,
    state: Mutex<State>,
}

#[derive(Debug, Clone, Copy)]
enum State {
    Closed { failures: u32 },
    Open { until: Instant, pause: Duration },
    Probing { pause: Duration },
}

impl Breaker {
    pub fn new(settings: BreakerSettings) -> Self {
        Self { settings, state: Mutex::new(State::Closed { failures: 0 }) }
    }

    /// An open breaker whose pause is over still counts as open until a probe goes out.
    pub fn state(&self) -> BreakerState {
        match *locked(&self.state) {
            State::Closed { .. } => BreakerState::Closed,
            State::Open { .. } => BreakerState::Open,
            State::Probing { .. } => BreakerState::HalfOpen,
        }
    }

    /// A pass for one attempt, or the pause that is left.
    fn admit(self: &Arc<Self>) -> Result<Pass, Duration> {
        let mut state = locked(&self.state);
        let is_probe = match *state {
            State::Closed { .. } => false,
            State::Open { until, pause } => {
                let left = until.saturating_duration_since(Instant::now());
                if !left.is_zero() {
                    return Err(left);
                }
                *state = State::Probing { pause };
                true
            }
            State::Probing { pause } => return Err(pause),
        };
        Ok(Pass { breaker: Arc::clone(self), is_probe, is_settled: false })
    }

    fn succeeded(&self, is_probe: bool) {
        let mut state = locked(&self.state);
        match *state {
            State::Closed { .. } => *state = State::Closed { failures: 0 },
            State::Probing { .. } if is_probe => *state = State::Closed { failures: 0 },
            // Late news from before the breaker opened.
            State::Open { .. } | State::Probing { .. } => {}
        }
    }

    fn failed(&self, is_probe: bool) {
        let mut state = locked(&self.state);
        match *state {
            State::Closed { failures } if failures + 1 < self.settings.failures => {
                *state = State::Closed { failures: failures + 1 };
            }
            State::Closed { .. } => *state = open(self.settings.pause),
            State::Probing { pause } if is_probe => {
                *state = open(pause.saturating_mul(2).min(self.settings.longest_pause));
            }
            State::Open { .. } | State::Probing { .. } => {}
        }
    }

    /// The probe ended without telling anything: the next call may probe at once.
    fn probe_lost(&self) {
        let mut state = locked(&self.state);
        if let State::Probing { pause } = *state {
            *state = State::Open { until: Instant::now(), pause };
        }
    }
}

fn open(pause: Duration) -> State {
    State::Open { until: Instant::now() + pause, pause }
}

/// Leave to ask once; a dropped probe gives its place back.
struct Pass {
    breaker: Arc<Breaker>,
    is_probe: bool,
    is_settled: bool,
}

impl Pass {
    fn settle(mut self, outcome: &Result<ChatResponse, ProviderError>) {
        match outcome {
            Err(error) if error.kind.is_outage() => self.breaker.failed(self.is_probe),
            // Our own limits say nothing about the server.
            Err(ProviderError { kind: ErrorKind::LimitExceeded { .. }, .. }) => return,
            Ok(_) | Err(_) => self.breaker.succeeded(self.is_probe),
        }
        self.is_settled = true;
    }
}

impl Drop for Pass {
    fn drop(&mut self) {
        if self.is_probe && !self.is_settled {
            self.breaker.probe_lost();
        }
    }
}

#[derive(Debug, Clone)]
pub(crate) struct CircuitBreaker<S> {
    inner: S,
    breaker: Arc<Breaker>,
}

impl<S> CircuitBreaker<S> {
    pub(crate) fn new(inner: S, breaker: Arc<Breaker>) -> Self {
        Self { inner, breaker }
    }
}

impl<S> Service<Call> for CircuitBreaker<S>
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
        let inner = self.inner.clone();
        let breaker = Arc::clone(&self.breaker);
        Box::pin(async move {
            let pass = breaker.admit().map_err(|left| ProviderError {
                retry_after: Some(left),
                ..ProviderError::new(ErrorKind::BreakerOpen)
            })?;
            let outcome = inner.oneshot(call).await;
            pass.settle(&outcome);
            outcome
        })
    }
}
