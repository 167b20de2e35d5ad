//! A door that a test opens: what waits behind it is held without any sleep.

use std::sync::Arc;

use tokio::sync::Semaphore;

/// Clones share the door. Works across threads and runtimes.
#[derive(Debug, Clone)]
pub struct Gate(Arc<Semaphore>);

impl Gate {
    pub fn closed() -> Self {
        Self(Arc::new(Semaphore::new(0)))
    }

    /// Lets everybody through, those who come later included.
    pub fn open(&self) {
        self.0.close();
    }

    pub async fn pass(&self) {
        // It never has a permit, and a closed semaphore is an open door.
        drop(self.0.acquire().await);
    }
}
