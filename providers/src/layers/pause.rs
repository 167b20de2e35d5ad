//! A server's wish to be left alone, kept for all calls to it.
//!
//! One refused call stops the whole line: the others would only be refused too, and be counted for it. Nobody is
//! earlier than asked, and nobody comes back in the same instant as the others.

use std::sync::Mutex;
use std::time::Duration;

use tokio::time::Instant;

use super::jitter::Jitter;
use crate::call::{Call, locked};
use crate::error::{ErrorKind, ProviderError};

/// Longer wishes stop the line only so long; then one more call finds out.
const LONGEST: Duration = Duration::from_mins(2);
/// Calls come back over a tenth of the pause, within these bounds.
const SPREAD: (Duration, Duration) = (Duration::from_millis(100), Duration::from_secs(5));

#[derive(Debug)]
pub(crate) struct Pause {
    current: Mutex<Option<Current>>,
    jitter: Jitter,
}

#[derive(Debug, Clone, Copy)]
struct Current {
    until: Instant,
    spread: Duration,
}

impl Pause {
    pub(crate) fn new(seed: u64) -> Self {
        Self { current: Mutex::new(None), jitter: Jitter::new(seed) }
    }

    /// The server wishes to be left alone from now on; returns when the pause ends. A shorter wish changes nothing.
    pub(crate) fn begin(&self, wish: Duration) -> Instant {
        let wish = wish.min(LONGEST);
        let until = Instant::now() + wish;
        let mut current = locked(&self.current);
        match &*current {
            Some(other) if other.until >= until => other.until,
            Some(_) | None => {
                let spread = (wish / 10).clamp(SPREAD.0, SPREAD.1);
                *current = Some(Current { until, spread });
                until
            }
        }
    }

    pub(crate) fn is_on(&self) -> bool {
        self.ahead().is_some()
    }

    /// Waits until it is over, a little longer for each call; fails at once when the call's deadline comes first.
    pub(crate) async fn end(&self, call: &Call) -> Result<(), ProviderError> {
        while let Some((left, spread)) = self.ahead() {
            if call.ends_within(left) {
                let message = "the server asked to be left alone for longer than the deadline".to_owned();
                return Err(ProviderError {
                    retry_after: Some(left),
                    ..ErrorKind::LimitExceeded { message }.into()
                });
            }
            tokio::time::sleep(left + spread.mul_f64(self.jitter.draw())).await;
        }
        Ok(())
    }

    /// What is left of the pause, and over how long calls come back; `None` when it is over.
    fn ahead(&self) -> Option<(Duration, Duration)> {
        let current = (*locked(&self.current))?;
        let left = current.until.saturating_duration_since(Instant::now());
        (!left.is_zero()).then_some((left, current.spread))
    }
}
