//! Admits calls to one server: its slots, requests and tokens, shared by all its judges.
//!
//! Calls stand in one line, so a large one is not overtaken forever. Only the first of the line waits for its rate and
//! then for a slot, and takes both in the moment in which it is sent: who waits for a rate holds no slot, who waits for
//! a slot has used up no rate, and a server that was stuck is not met by all who queued meanwhile.
//!
//! Tokens are charged by estimate before the call and settled after it: by the reported usage, by nothing when the
//! server refused the request; when the outcome is unknown, or no usage is reported, the estimate stands.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::Instant;
use tower::ServiceExt;

use super::pause::Pause;
use super::window::{Charge, Window};
use super::{Asks, Layer, Outcome};
use crate::call::{Call, Stage, locked};
use crate::error::{ErrorKind, ProviderError};
use crate::server::ServerLimits;
use crate::tokens;

/// The limits of one server and what is used of them.
#[derive(Debug)]
pub(crate) struct Admission {
    slots: Option<Arc<Semaphore>>,
    rates: Option<Mutex<Rates>>,
    line: Semaphore,
    pause: Pause,
}

#[derive(Debug)]
struct Rates {
    requests: Option<Window>,
    tokens: Option<Window>,
}

/// Leave for one request on the wire; its slot is free again when this is dropped.
#[derive(Debug)]
struct Admitted {
    tokens: Option<Charge>,
    _slot: Option<OwnedSemaphorePermit>,
}

impl Admission {
    pub(crate) fn new(limits: &ServerLimits) -> Self {
        let now = Instant::now();
        let slots = limits.concurrency.map(|slots| {
            let slots = usize::try_from(slots.get()).unwrap_or(usize::MAX);
            Arc::new(Semaphore::new(slots.min(Semaphore::MAX_PERMITS)))
        });
        let requests = limits.requests_per_minute.map(|limit| Window::new(limit, now));
        let tokens = limits.tokens_per_minute.map(|limit| Window::new(limit, now));
        let has_rates = requests.is_some() || tokens.is_some();
        Self {
            slots,
            rates: has_rates.then(|| Mutex::new(Rates { requests, tokens })),
            line: Semaphore::new(1),
            pause: Pause::new(limits.seed),
        }
    }

    /// `None`: any number.
    pub(crate) fn free_slots(&self) -> Option<usize> {
        self.slots.as_ref().map(|slots| slots.available_permits())
    }

    async fn admit(&self, call: &Call) -> Result<Admitted, ProviderError> {
        call.enter(Stage::Line);
        loop {
            self.pause.end(call).await?;
            let Some(rates) = &self.rates else {
                let slot = self.slot().await;
                if self.pause.is_on() {
                    continue;
                }
                return Ok(Admitted { tokens: None, _slot: slot });
            };
            // Why: the line is never closed, and a closed one would only mean that nobody waits.
            let _place = self.line.acquire().await.ok();
            let estimate = tokens::estimate(call.request());
            wait_for(rates, estimate, call).await?;
            let slot = self.slot().await;
            // It may have begun while this call stood in the line.
            if self.pause.is_on() {
                continue;
            }
            let tokens = locked(rates).take(estimate);
            return Ok(Admitted { tokens, _slot: slot });
        }
    }

    /// A slot; `None` where there is no limit.
    async fn slot(&self) -> Option<OwnedSemaphorePermit> {
        // Why: the slots are never closed either.
        Arc::clone(self.slots.as_ref()?).acquire_owned().await.ok()
    }

    fn learn(&self, admitted: &Admitted, outcome: &Outcome) {
        if let (Some(rates), Some(charge), Some(used)) = (&self.rates, admitted.tokens, used(outcome)) {
            locked(rates).settle(charge, used);
        }
        if let Some(wish) = wish(outcome) {
            let until = self.pause.begin(wish);
            if let Some(rates) = &self.rates {
                locked(rates).spend_burst(until);
            }
        }
    }
}

/// Waits until one request and so many tokens may be taken. Only the first of the line takes any, so they may still be
/// taken after a further wait.
async fn wait_for(rates: &Mutex<Rates>, tokens: u32, call: &Call) -> Result<(), ProviderError> {
    loop {
        let Some(wait) = locked(rates).wait(tokens) else { return Ok(()) };
        if call.ends_within(wait) {
            let message = "no request or token is free before the deadline".to_owned();
            return Err(ProviderError {
                retry_after: Some(wait),
                ..ErrorKind::LimitExceeded { message }.into()
            });
        }
        tokio::time::sleep(wait).await;
    }
}

impl Rates {
    fn wait(&mut self, tokens: u32) -> Option<Duration> {
        let now = Instant::now();
        let request = self.requests.as_mut().and_then(|limit| limit.wait(1, now));
        request.max(self.tokens.as_mut().and_then(|limit| limit.wait(tokens, now)))
    }

    fn take(&mut self, tokens: u32) -> Option<Charge> {
        let now = Instant::now();
        if let Some(limit) = &mut self.requests {
            limit.take(1, now);
        }
        self.tokens.as_mut().map(|limit| limit.take(tokens, now))
    }

    fn settle(&mut self, charge: Charge, used: u64) {
        if let Some(limit) = &mut self.tokens {
            limit.settle(charge, used, Instant::now());
        }
    }

    fn spend_burst(&mut self, until: Instant) {
        for limit in [&mut self.requests, &mut self.tokens].into_iter().flatten() {
            limit.spend_burst(until);
        }
    }
}

/// Tokens that the call used; `None`: unknown.
fn used(outcome: &Outcome) -> Option<u64> {
    match outcome {
        Ok(response) => response.usage.map(|usage| usage.total_tokens()),
        Err(error) => match &error.kind {
            ErrorKind::BadRequest { .. }
            | ErrorKind::Unauthorized { .. }
            | ErrorKind::TooLong { .. }
            | ErrorKind::RateLimited { .. }
            | ErrorKind::BreakerOpen => Some(0),
            ErrorKind::ContentFilter { .. }
            | ErrorKind::Server { .. }
            | ErrorKind::Connection { .. }
            | ErrorKind::Garbage { .. }
            | ErrorKind::Timeout { .. }
            | ErrorKind::LimitExceeded { .. }
            | ErrorKind::Recalled => None,
        },
    }
}

/// How long the server wants to be left alone by everybody: not what it says about one request or one key.
fn wish(outcome: &Outcome) -> Option<Duration> {
    let error = outcome.as_ref().err()?;
    match &error.kind {
        ErrorKind::RateLimited { .. } | ErrorKind::Server { .. } => error.retry_after,
        ErrorKind::BadRequest { .. }
        | ErrorKind::Unauthorized { .. }
        | ErrorKind::TooLong { .. }
        | ErrorKind::ContentFilter { .. }
        | ErrorKind::Connection { .. }
        | ErrorKind::Garbage { .. }
        | ErrorKind::Timeout { .. }
        | ErrorKind::BreakerOpen
        | ErrorKind::LimitExceeded { .. }
        | ErrorKind::Recalled => None,
    }
}

impl Layer<Call> for Arc<Admission> {
    async fn handle<S: Asks>(self, inner: S, call: Call) -> Outcome {
        let admitted = self.admit(&call).await?;
        let outcome = inner.oneshot(call).await;
        self.learn(&admitted, &outcome);
        outcome
    }
}
