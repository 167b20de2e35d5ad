//! A clock for `governor` over tokio's time, so that paused tests cover rate limits.

use std::time::Duration;

use governor::clock::Clock;
use tokio::time::Instant;

/// Time since the clock was made.
#[derive(Debug, Clone, Copy)]
pub struct TokioClock {
    origin: Instant,
}

impl TokioClock {
    pub fn new() -> Self {
        Self { origin: Instant::now() }
    }
}

impl Default for TokioClock {
    fn default() -> Self {
        Self::new()
    }
}

impl Clock for TokioClock {
    type Instant = Duration;

    fn now(&self) -> Duration {
        self.origin.elapsed()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn clock_follows_paused_time() {
        let clock = TokioClock::default();
        assert_eq!(clock.now(), Duration::ZERO);
        tokio::time::advance(Duration::from_secs(7)).await;
        assert_eq!(clock.now(), Duration::from_secs(7));
    }
}
