//! Requests and tokens per minute of one server, shared by all its judges.
//!
//! `governor` counts (GCRA: a burst of one minute's allowance, then a steady refill); waiting is ours, on tokio's time.
//! Waiters stand in line, so a large request is not overtaken forever, and only the first of them sets a timer.
//!
//! Tokens are taken by estimate before the call and settled by the reported usage after it. `governor` can neither take
//! tokens back nor go below empty, so the difference is kept as a balance that the next requests are charged with or
//! spared. A surplus older than a minute is void, because the bucket has refilled by then anyway. When a server reports
//! no usage, or the outcome is unknown, the estimate stands.

use std::num::NonZeroU32;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};
use std::time::Duration;

use governor::clock::Clock;
use governor::middleware::NoOpMiddleware;
use governor::state::{InMemoryState, NotKeyed};
use governor::{Quota, RateLimiter};
use tokio::sync::Semaphore;
use tokio::time::Instant;
use tower::{Service, ServiceExt};

use super::{Answering, READY};
use crate::call::{Call, Stage, locked};
use crate::chat::ChatResponse;
use crate::error::{ErrorKind, ProviderError};
use crate::time::TokioClock;
use crate::tokens;

type Limiter = RateLimiter<NotKeyed, InMemoryState, TokioClock, NoOpMiddleware<Duration>>;

/// How long tokens that were charged in vain stay good.
const SURPLUS_LASTS: Duration = Duration::from_mins(1);

/// The limits of one server.
#[derive(Debug)]
pub struct Rates {
    clock: TokioClock,
    requests: Option<Limiter>,
    tokens: Option<TokenLimit>,
    line: Semaphore,
}

#[derive(Debug)]
struct TokenLimit {
    limiter: Limiter,
    burst: NonZeroU32,
    balance: Mutex<Balance>,
}

/// Tokens charged but not used (positive), or used but not charged (negative).
#[derive(Debug)]
struct Balance {
    tokens: i64,
    since: Instant,
}

impl Rates {
    /// `None` means no limit.
    pub fn new(requests_per_minute: Option<NonZeroU32>, tokens_per_minute: Option<NonZeroU32>) -> Self {
        let clock = TokioClock::new();
        let limiter = |per_minute| Limiter::direct_with_clock(Quota::per_minute(per_minute), clock);
        Self {
            clock,
            requests: requests_per_minute.map(limiter),
            tokens: tokens_per_minute.map(|burst| TokenLimit {
                limiter: limiter(burst),
                burst,
                balance: Mutex::new(Balance { tokens: 0, since: Instant::now() }),
            }),
            line: Semaphore::new(1),
        }
    }

    /// Waits for one request and its tokens; the number of tokens that the call stands for.
    async fn admit(&self, call: &Call) -> Result<u32, ProviderError> {
        if self.requests.is_none() && self.tokens.is_none() {
            return Ok(0);
        }
        call.enter(Stage::Rate);
        // Why: the line is never closed, and a closed one would only mean that nobody waits.
        let _place = self.line.acquire().await.ok();
        if let Some(requests) = &self.requests {
            self.take(requests, NonZeroU32::MIN, call).await?;
        }
        let Some(limit) = &self.tokens else { return Ok(0) };
        let estimate = tokens::estimate(call.request());
        if let Some(charge) = limit.charge(estimate) {
            self.take(&limit.limiter, charge, call).await?;
        }
        Ok(estimate)
    }

    async fn take(&self, limiter: &Limiter, amount: NonZeroU32, call: &Call) -> Result<(), ProviderError> {
        // `Err` means more than the bucket holds: `TokenLimit::charge` never asks for that.
        while let Ok(Err(not_before)) = limiter.check_n(amount) {
            let wait = not_before.wait_time_from(self.clock.now());
            if call.ends_within(wait) {
                let message = "no request or token is free before the deadline".to_owned();
                return Err(ProviderError {
                    retry_after: Some(wait),
                    ..ErrorKind::LimitExceeded { message }.into()
                });
            }
            tokio::time::sleep(wait).await;
        }
        Ok(())
    }

    fn settle(&self, estimate: u32, response: &ChatResponse) {
        if let (Some(limit), Some(usage)) = (&self.tokens, response.usage) {
            let used = i64::try_from(usage.total_tokens()).unwrap_or(i64::MAX);
            limit.add(i64::from(estimate).saturating_sub(used));
        }
    }
}

impl TokenLimit {
    /// What to take from the bucket for this estimate after the balance; at most the whole bucket, the rest stays owed.
    fn charge(&self, estimate: u32) -> Option<NonZeroU32> {
        let mut balance = locked(&self.balance);
        balance.expire();
        let owed = i64::from(estimate).saturating_sub(balance.tokens);
        let charge = owed.clamp(0, i64::from(self.burst.get()));
        balance.set(charge.saturating_sub(owed));
        NonZeroU32::new(u32::try_from(charge).unwrap_or(0))
    }

    fn add(&self, difference: i64) {
        let mut balance = locked(&self.balance);
        balance.expire();
        // Neither a surplus nor a debt may grow beyond one bucket: a server with absurd usage must not stop the line.
        let bucket = i64::from(self.burst.get());
        let tokens = balance.tokens.saturating_add(difference).clamp(-bucket, bucket);
        balance.set(tokens);
    }
}

impl Balance {
    fn expire(&mut self) {
        if self.tokens > 0 && self.since.elapsed() > SURPLUS_LASTS {
            self.set(0);
        }
    }

    fn set(&mut self, tokens: i64) {
        *self = Self { tokens, since: Instant::now() };
    }
}

#[derive(Debug, Clone)]
pub(crate) struct RateLimit<S> {
    inner: S,
    rates: Arc<Rates>,
}

impl<S> RateLimit<S> {
    pub(crate) fn new(inner: S, rates: Arc<Rates>) -> Self {
        Self { inner, rates }
    }
}

impl<S> Service<Call> for RateLimit<S>
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
        let rates = Arc::clone(&self.rates);
        Box::pin(async move {
            let estimate = rates.admit(&call).await?;
            call.enter(Stage::Slot);
            let response = inner.oneshot(call).await?;
            rates.settle(estimate, &response);
            Ok(response)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn limit(per_minute: u32) -> TokenLimit {
        let rates = Rates::new(None, NonZeroU32::new(per_minute));
        rates.tokens.unwrap()
    }

    fn charged(limit: &TokenLimit, estimate: u32) -> u32 {
        limit.charge(estimate).map_or(0, NonZeroU32::get)
    }

    #[tokio::test(start_paused = true)]
    async fn surplus_spares_the_next_request() {
        let limit = limit(1000);
        assert_eq!(charged(&limit, 400), 400);
        limit.add(300);
        assert_eq!(charged(&limit, 400), 100);
        assert_eq!(charged(&limit, 400), 400);
        limit.add(500);
        assert_eq!(charged(&limit, 400), 0);
        assert_eq!(charged(&limit, 400), 300);
    }

    #[tokio::test(start_paused = true)]
    async fn old_surplus_is_void_and_old_debt_is_not() {
        let limit = limit(1000);
        limit.add(300);
        tokio::time::advance(Duration::from_secs(61)).await;
        assert_eq!(charged(&limit, 400), 400);
        limit.add(-300);
        tokio::time::advance(Duration::from_secs(61)).await;
        assert_eq!(charged(&limit, 400), 700);
    }

    #[tokio::test(start_paused = true)]
    async fn more_than_the_bucket_is_owed() {
        let limit = limit(1000);
        assert_eq!(charged(&limit, 1500), 1000);
        assert_eq!(charged(&limit, 100), 600);
        limit.add(i64::MIN);
        assert_eq!(charged(&limit, 0), 1000);
        assert_eq!(charged(&limit, 0), 0);
    }
}
