//! Normal noise for tests and simulations; shared by path, so that the library does not carry it.

use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

/// Standard normal numbers (Box and Muller 1958).
pub struct Normal {
    generator: Xoshiro256PlusPlus,
    spare: Option<f64>,
}

impl Normal {
    /// The same seed gives the same numbers.
    pub fn new(seed: u64) -> Self {
        Normal { generator: Xoshiro256PlusPlus::seed_from_u64(seed), spare: None }
    }

    /// The next number.
    pub fn next(&mut self) -> f64 {
        if let Some(spare) = self.spare.take() {
            return spare;
        }
        let radius = (-2.0 * self.uniform().ln()).sqrt();
        let angle = std::f64::consts::TAU * self.uniform();
        self.spare = Some(radius * angle.sin());
        radius * angle.cos()
    }

    /// Strictly between 0 and 1.
    fn uniform(&mut self) -> f64 {
        ((self.generator.next_u64() >> 11) as f64 + 0.5) / (1_u64 << 53) as f64
    }
}

/// Noise of deviation one with this lag-1 correlation (first-order autoregression).
#[allow(dead_code)] // Each user takes its share.
pub fn correlated(source: &mut Normal, count: usize, lag1: f64) -> Vec<f64> {
    let mut before = source.next();
    let mut next = || {
        before = lag1 * before + (1.0 - lag1 * lag1).sqrt() * source.next();
        before
    };
    (0..count).map(|_| next()).collect()
}
