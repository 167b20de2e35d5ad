//! Asks again when that can help: backoff with jitter, the server's `Retry-After`, and a budget against retry storms.
//!
//! The only place in the project that retries a call. A retry goes through breaker and limits again.

use std::sync::Arc;
use std::time::Duration;

use futures::future::{Either, Ready, ready};
use tokio::time::{Sleep, sleep};
use tower::retry::Policy;
use tower::retry::budget::{Budget, TpsBudget};

use super::Outcome;
use super::jitter::Jitter;
use crate::call::{Call, Hint, Stage};
use crate::chat::ChatResponse;
use crate::error::ProviderError;
use crate::relay::Relay;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RetrySettings {
    /// Requests on the wire for one call, the first included. A parameter that had to be left out and a connection that
    /// died before answering may add to that.
    pub attempts: u32,
    /// First backoff; each further one doubles.
    pub backoff: Duration,
    pub longest_backoff: Duration,
    /// A server that asks for a longer pause is not asked again.
    pub longest_wait: Duration,
}

impl Default for RetrySettings {
    fn default() -> Self {
        Self {
            attempts: 3,
            backoff: Duration::from_millis(500),
            longest_backoff: Duration::from_secs(8),
            longest_wait: Duration::from_mins(2),
        }
    }
}

/// Parameters that one call may learn to leave out, one request each.
const MOST_LESSONS: u8 = 6;

/// Retries as a share of successes, over [`BUDGET_WINDOW`].
const BUDGET_SHARE: f32 = 0.2;
const BUDGET_WINDOW: Duration = Duration::from_secs(10);

/// What all calls to one server share: the retry budget and the source of jitter.
#[derive(Debug)]
pub struct RetryState {
    budget: TpsBudget,
    jitter: Jitter,
}

impl RetryState {
    /// `retries_per_second` are allowed however few calls succeed. Equal seeds draw equal jitter.
    pub fn new(retries_per_second: u32, seed: u64) -> Self {
        // Why: tower's constructor asserts that the number fits `i32`.
        let reserve = retries_per_second.min(1_000_000);
        Self { budget: TpsBudget::new(BUDGET_WINDOW, reserve, BUDGET_SHARE), jitter: Jitter::new(seed) }
    }
}

/// The state of one call's retries; tower clones it per call.
#[derive(Debug, Clone)]
pub(crate) struct RetryPolicy {
    settings: RetrySettings,
    shared: Arc<RetryState>,
    retries: u32,
    lessons: u8,
    is_revived: bool,
}

impl RetryPolicy {
    pub(crate) fn new(settings: RetrySettings, shared: Arc<RetryState>) -> Self {
        Self { settings, shared, retries: 0, lessons: 0, is_revived: false }
    }

    /// The pause before the next request, or `None` when there should be none.
    fn next_pause(&mut self, call: &Call, error: &ProviderError) -> Option<Duration> {
        let hints = call.take_hints();
        let request = call.request();
        // Whoever listens cannot take back what was passed on.
        if request.is_taken_back() || request.relay.as_ref().is_some_and(Relay::has_begun) {
            return None;
        }
        if hints.has(Hint::Learned) && self.lessons < MOST_LESSONS {
            self.lessons += 1;
            return Some(Duration::ZERO);
        }
        if hints.has(Hint::Final) || !error.is_retryable() {
            return None;
        }
        let pause = if hints.has(Hint::DiedBeforeAnswer) && !self.is_revived {
            self.is_revived = true;
            Duration::ZERO
        } else if self.retries + 1 < self.settings.attempts {
            let pause = self.pause(error.retry_after)?;
            self.retries += 1;
            pause
        } else {
            return None;
        };
        // A pause that reaches the deadline would only replace this error by a timeout.
        (!call.ends_within(pause) && self.shared.budget.withdraw()).then_some(pause)
    }

    /// Half of the backoff is fixed and half is jitter; a server's wish is kept in full and jitter comes on top.
    fn pause(&self, wish: Option<Duration>) -> Option<Duration> {
        let draw = self.shared.jitter.draw();
        let backoff = self
            .settings
            .backoff
            .saturating_mul(2u32.saturating_pow(self.retries))
            .min(self.settings.longest_backoff);
        match wish {
            None => Some(backoff.mul_f64(0.5 + draw / 2.0)),
            Some(wish) if wish > self.settings.longest_wait => None,
            Some(wish) => Some(wish + backoff.max(wish / 10).mul_f64(draw)),
        }
    }
}

impl Policy<Call, ChatResponse, ProviderError> for RetryPolicy {
    type Future = Either<Ready<()>, Sleep>;

    fn retry(&mut self, call: &mut Call, outcome: &mut Outcome) -> Option<Self::Future> {
        match outcome {
            Ok(_) => {
                self.shared.budget.deposit();
                None
            }
            Err(error) => {
                let pause = self.next_pause(call, error)?;
                if pause.is_zero() {
                    return Some(Either::Left(ready(())));
                }
                call.enter(Stage::Backoff);
                Some(Either::Right(sleep(pause)))
            }
        }
    }

    fn clone_request(&mut self, call: &Call) -> Option<Call> {
        Some(call.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wish_is_never_shortened_and_refused_beyond_the_cap() {
        let policy = RetryPolicy::new(RetrySettings::default(), Arc::new(RetryState::new(1, 1)));
        for _ in 0..100 {
            let wish = Duration::from_secs(10);
            let pause = policy.pause(Some(wish)).unwrap();
            assert!((wish..wish + Duration::from_secs(1)).contains(&pause), "{pause:?}");
            let own = policy.pause(None).unwrap();
            assert!((Duration::from_millis(250)..Duration::from_millis(500)).contains(&own), "{own:?}");
        }
        assert_eq!(policy.pause(Some(Duration::from_mins(3))), None);
    }
}
