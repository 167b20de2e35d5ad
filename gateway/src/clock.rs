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

/// RFC 3339, whole seconds, UTC; `?` for a time that no calendar has.
pub fn rfc3339(us: i64) -> String {
    jiff::Timestamp::from_microsecond(us)
        .map_or_else(|_| String::from("?"), |time| time.strftime("%Y-%m-%dT%H:%M:%SZ").to_string())
}
