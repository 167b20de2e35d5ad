//! Stops asking a server that keeps failing or a key that was refused, and lets one probe through to see whether that
//! is over.
//!
//! Counts consecutive outages ([`ErrorKind::is_outage`](crate::error::ErrorKind::is_outage)). A refused key (401, 402,
//! 403, an empty account) is not counted: it will be refused for every further case, so the first time is enough. Bad
//! requests and rate limits show a living server and reset the count. One breaker per server and model.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::time::Instant;
use tower::ServiceExt;

use super::{Asks, Layer, Outcome};
use crate::call::{Call, locked};
use crate::error::{ErrorKind, ProviderError};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BreakerSettings {
    /// Consecutive outages that open the breaker; at least 1.
    pub failures: u32,
    /// First pause after outages; each failed probe doubles it.
    pub pause: Duration,
    pub longest_pause: Duration,
    /// First pause after a refused key; each refused probe doubles it. Accounts are filled by people.
    pub refused_pause: Duration,
    pub longest_refused_pause: Duration,
}

impl Default for BreakerSettings {
    fn default() -> Self {
        Self {
            failures: 5,
            pause: Duration::from_secs(5),
            longest_pause: Duration::from_mins(1),
            refused_pause: Duration::from_mins(1),
            longest_refused_pause: Duration::from_mins(10),
        }
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

#[derive(Debug, Clone)]
enum State {
    Closed { failures: u32 },
    Open { until: Instant, pause: Duration, cause: Cause },
    Probing { pause: Duration, cause: Cause },
}

/// Why the breaker is open, and so what a call is told.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Cause {
    Outage,
    RefusedKey { status: u16, message: String },
}

impl Cause {
    /// `None`: nothing that opens a breaker.
    fn of(outcome: &Outcome) -> Option<Self> {
        match &outcome.as_ref().err()?.kind {
            ErrorKind::Unauthorized { status, message } => {
                Some(Self::RefusedKey { status: *status, message: message.clone() })
            }
            kind => kind.is_outage().then_some(Self::Outage),
        }
    }

    fn error(&self, left: Duration) -> ProviderError {
        let kind = match self {
            Self::Outage => ErrorKind::BreakerOpen,
            Self::RefusedKey { status, message } => {
                ErrorKind::Unauthorized { status: *status, message: format!("not asked again: {message}") }
            }
        };
        ProviderError { retry_after: Some(left), ..kind.into() }
    }
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

    /// Closes a breaker that a refused key opened.
    pub(crate) fn forget_refusal(&self) {
        let mut state = locked(&self.state);
        match &*state {
            State::Open { cause: Cause::RefusedKey { .. }, .. }
            | State::Probing { cause: Cause::RefusedKey { .. }, .. } => {
                *state = State::Closed { failures: 0 };
            }
            State::Closed { .. } | State::Open { .. } | State::Probing { .. } => {}
        }
    }

    /// A pass for one attempt, or why there is none.
    fn admit(self: &Arc<Self>) -> Result<Pass, ProviderError> {
        let mut state = locked(&self.state);
        let is_probe = match &*state {
            State::Closed { .. } => false,
            State::Open { until, pause, cause } => {
                let left = until.saturating_duration_since(Instant::now());
                if !left.is_zero() {
                    return Err(cause.error(left));
                }
                *state = State::Probing { pause: *pause, cause: cause.clone() };
                true
            }
            State::Probing { pause, cause } => return Err(cause.error(*pause)),
        };
        Ok(Pass { breaker: Arc::clone(self), is_probe, is_settled: false })
    }

    /// Why a call that got its pass some time ago should not be sent any more.
    fn objection(&self) -> Option<ProviderError> {
        match &*locked(&self.state) {
            State::Closed { .. } => None,
            State::Open { until, cause, .. } => {
                Some(cause.error(until.saturating_duration_since(Instant::now())))
            }
            State::Probing { pause, cause } => Some(cause.error(*pause)),
        }
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

    fn failed(&self, is_probe: bool, cause: Cause) {
        let mut state = locked(&self.state);
        let (first, longest) = match cause {
            Cause::Outage => (self.settings.pause, self.settings.longest_pause),
            Cause::RefusedKey { .. } => (self.settings.refused_pause, self.settings.longest_refused_pause),
        };
        let pause = match &*state {
            State::Closed { failures } if cause == Cause::Outage && failures + 1 < self.settings.failures => {
                *state = State::Closed { failures: failures + 1 };
                return;
            }
            State::Closed { .. } => first,
            State::Probing { pause, cause: before } if is_probe => {
                let is_same = std::mem::discriminant(before) == std::mem::discriminant(&cause);
                if is_same { pause.saturating_mul(2).min(longest) } else { first }
            }
            State::Open { .. } | State::Probing { .. } => return,
        };
        *state = State::Open { until: Instant::now() + pause, pause, cause };
    }

    /// The probe ended without telling anything: the next call may probe at once.
    fn probe_lost(&self) {
        let mut state = locked(&self.state);
        if let State::Probing { pause, cause } = &*state {
            *state = State::Open { until: Instant::now(), pause: *pause, cause: cause.clone() };
        }
    }
}

/// Leave to ask once; a dropped probe gives its place back.
struct Pass {
    breaker: Arc<Breaker>,
    is_probe: bool,
    is_settled: bool,
}

impl Pass {
    fn settle(mut self, outcome: &Outcome) {
        if let Some(cause) = Cause::of(outcome) {
            self.breaker.failed(self.is_probe, cause);
        } else if outcome.as_ref().is_err_and(|error| was_not_sent(&error.kind)) {
            return;
        } else {
            self.breaker.succeeded(self.is_probe);
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

/// Our own decisions say nothing about the server.
fn was_not_sent(kind: &ErrorKind) -> bool {
    matches!(kind, ErrorKind::LimitExceeded { .. } | ErrorKind::BreakerOpen | ErrorKind::Recalled)
}

/// Gives passes, and counts what became of them.
#[derive(Debug, Clone)]
pub(crate) struct CircuitBreaker(pub Arc<Breaker>);

impl Layer<Call> for CircuitBreaker {
    async fn handle<S: Asks>(self, inner: S, call: Call) -> Outcome {
        let pass = self.0.admit()?;
        call.mark_probe(pass.is_probe);
        let outcome = inner.oneshot(call).await;
        pass.settle(&outcome);
        outcome
    }
}

/// Turns back who queued while the breaker opened.
#[derive(Debug, Clone)]
pub(crate) struct LastLook(pub Arc<Breaker>);

impl Layer<Call> for LastLook {
    async fn handle<S: Asks>(self, inner: S, call: Call) -> Outcome {
        match self.0.objection() {
            Some(error) if !call.is_probe() => Err(error),
            Some(_) | None => inner.oneshot(call).await,
        }
    }
}
