//! Noise that is the same in every run.

use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

/// Independent values of mean 0 and variance 1: twelve uniform ones together, less their mean.
pub(crate) fn white(seed: u64, rows: usize) -> Vec<f64> {
    let mut bits = Xoshiro256PlusPlus::seed_from_u64(seed);
    let mut uniform = || (bits.next_u64() >> 11) as f64 / (1_u64 << 53) as f64;
    let mut value = || (0..12).map(|_| uniform()).sum::<f64>() - 6.0;
    (0..rows).map(|_| value()).collect()
}
