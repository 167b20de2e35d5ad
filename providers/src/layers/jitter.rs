//! Randomness for pauses: spread out, and repeatable by seed.

use std::sync::atomic::{AtomicU64, Ordering};

/// Equal seeds draw equal sequences.
#[derive(Debug)]
pub(crate) struct Jitter(AtomicU64);

impl Jitter {
    pub(crate) fn new(seed: u64) -> Self {
        Self(AtomicU64::new(seed))
    }

    /// The next of a fixed sequence in [0, 1): the SplitMix64 generator (Steele, Lea, Flood 2014), one step a draw.
    pub(crate) fn draw(&self) -> f64 {
        const STEP: u64 = 0x9E37_79B9_7F4A_7C15;
        let mut bits = self.0.fetch_add(STEP, Ordering::Relaxed).wrapping_add(STEP);
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        bits ^= bits >> 31;
        let top = u32::try_from(bits >> 32).unwrap_or(u32::MAX);
        f64::from(top) / (f64::from(u32::MAX) + 1.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn draws_are_spread_and_repeatable() {
        let draws = |seed| {
            let jitter = Jitter::new(seed);
            (0..1000).map(|_| jitter.draw()).collect::<Vec<_>>()
        };
        let first = draws(7);
        assert_eq!(first, draws(7));
        assert_ne!(first, draws(8));
        assert!(first.iter().all(|draw| (0.0..1.0).contains(draw)));
        let mean = first.iter().sum::<f64>() / 1000.0;
        assert!((0.45..0.55).contains(&mean), "{mean}");
    }
}
