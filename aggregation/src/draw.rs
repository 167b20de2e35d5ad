//! Seeded draws: the same seed and purpose give the same numbers on every machine.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

/// A stream of numbers.
pub(crate) struct Draw(ChaCha8Rng);

impl Draw {
    /// The purpose keeps two statistics of one run from using the same numbers.
    pub(crate) fn new(seed: u64, purpose: &str) -> Self {
        // FNV-1a over the seed and the purpose: no hash of the standard library is stable between versions.
        let bytes = seed.to_le_bytes().into_iter().chain(purpose.bytes());
        let mixed = bytes.fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
        });
        Self(ChaCha8Rng::seed_from_u64(mixed))
    }

    /// Evenly below `bound`; 0 for a bound of 0. The same on 32 and 64 bits.
    pub(crate) fn below(&mut self, bound: usize) -> usize {
        let bound = u64::try_from(bound).unwrap_or(u64::MAX);
        if bound == 0 {
            return 0;
        }
        // Lemire 2019: the high half of a product, drawn again where it would not be even. Most draws are even by
        // their size alone, which saves the division.
        loop {
            let product = u128::from(self.0.next_u64()) * u128::from(bound);
            #[expect(clippy::cast_possible_truncation, reason = "the two halves of a number of 128 bits")]
            let (high, low) = ((product >> 64) as u64, product as u64);
            if low >= bound || low >= bound.wrapping_neg() % bound {
                return usize::try_from(high).unwrap_or_default();
            }
        }
    }

    /// 64 signs at once, one a bit.
    pub(crate) fn signs(&mut self) -> u64 {
        self.0.next_u64()
    }

    pub(crate) fn shuffle<T>(&mut self, list: &mut [T]) {
        for last in (1..list.len()).rev() {
            list.swap(last, self.below(last + 1));
        }
    }
}
