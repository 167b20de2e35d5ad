//! The time that is. The only place that reads the wall clock; time that passes is tokio's.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

/// Microseconds since 1970, UTC.
#[derive(Debug, Clone, Default)]
pub enum Clock {
    #[default]
    System,
    /// Stands still until a test moves it.
    Manual(Arc<AtomicI64>),
}

impl Clock {
    pub fn manual(now_us: i64) -> Self {
        Self::Manual(Arc::new(AtomicI64::new(now_us)))
    }

    pub fn now_us(&self) -> i64 {
        match self {
            Self::System => {
                #[expect(clippy::disallowed_methods, reason = "this is the one place")]
                let now = jiff::Timestamp::now();
                now.as_microsecond()
            }
            Self::Manual(now) => now.load(Ordering::Relaxed),
        }
    }
}
