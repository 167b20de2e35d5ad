//! Draws ids. Sortable by time (UUIDv7), reproducible from a seed in tests.

use std::sync::{Mutex, PoisonError};

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

use crate::clock::Clock;

#[derive(Debug)]
pub struct Ids {
    clock: Clock,
    random: Mutex<ChaCha8Rng>,
}

impl Ids {
    /// Seeded from the system's entropy.
    pub fn from_entropy(clock: Clock) -> Self {
        #[expect(
            clippy::disallowed_methods,
            reason = "this is the one place; its random bits seed the stream"
        )]
        let seed = blake3::hash(uuid::Uuid::now_v7().as_bytes());
        Self { clock, random: Mutex::new(ChaCha8Rng::from_seed(*seed.as_bytes())) }
    }

    pub fn seeded(clock: Clock, seed: u64) -> Self {
        Self { clock, random: Mutex::new(ChaCha8Rng::seed_from_u64(seed)) }
    }

    /// A new UUIDv7 as text.
    pub fn draw(&self) -> String {
        let mut bytes = [0_u8; 10];
        self.random.lock().unwrap_or_else(PoisonError::into_inner).fill_bytes(&mut bytes);
        let millis = u64::try_from(self.clock.now_us() / 1000).unwrap_or_default();
        uuid::Builder::from_unix_timestamp_millis(millis, &bytes).into_uuid().to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_reproducible_and_sort_by_time() {
        let clock = Clock::manual(1_000_000);
        let ids = Ids::seeded(clock.clone(), 7);
        let first = ids.draw();
        assert_eq!(first, Ids::seeded(clock.clone(), 7).draw());
        if let Clock::Manual(now) = &clock {
            now.store(2_000_000, std::sync::atomic::Ordering::Relaxed);
        }
        assert!(ids.draw() > first);
    }

    #[test]
    fn entropy_differs_between_processes() {
        assert_ne!(Ids::from_entropy(Clock::manual(0)).draw(), Ids::from_entropy(Clock::manual(0)).draw());
    }
}
