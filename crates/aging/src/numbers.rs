//! Random numbers and functions that give the same on every machine and with every C library.
//!
//! Logarithms and exponentials of the C library differ in their last bit between its versions; here they are sums and
//! products alone, which IEEE 754 fixes.

use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use std::f64::consts::LN_2;

/// Seeded random numbers.
#[derive(Debug, Clone)]
pub(crate) struct Random(Xoshiro256PlusPlus);

impl Random {
    /// A stream; `purpose` keeps streams of one seed apart.
    pub(crate) fn new(seed: u64, purpose: u64) -> Random {
        Random(Xoshiro256PlusPlus::seed_from_u64(mixed(seed ^ mixed(purpose))))
    }

    /// 64 random bits.
    pub(crate) fn bits(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// Evenly from 0 to 1, without 1.
    pub(crate) fn share(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// Evenly from 0 to `end`, without `end`; 0 where `end` is 0.
    pub(crate) fn below(&mut self, end: usize) -> usize {
        ((u128::from(self.bits()) * end as u128) >> 64) as usize
    }

    /// Whether something of this probability happens.
    pub(crate) fn happens(&mut self, probability: f64) -> bool {
        // Nothing is drawn for what never happens.
        probability > 0.0 && self.share() < probability
    }

    /// Normal, mean 0 and deviation 1 (Marsaglia's polar method).
    pub(crate) fn normal(&mut self) -> f64 {
        loop {
            let (a, b) = (2.0 * self.share() - 1.0, 2.0 * self.share() - 1.0);
            let square = a * a + b * b;
            if square > 0.0 && square < 1.0 {
                return a * (-2.0 * logarithm(square) / square).sqrt();
            }
        }
    }

    /// An index by these weights, of which one at least is above 0.
    pub(crate) fn weighted(&mut self, weights: impl Iterator<Item = f64> + Clone) -> usize {
        let mut left = self.share() * weights.clone().sum::<f64>();
        let mut last = 0;
        for (at, weight) in weights.enumerate() {
            if weight > 0.0 {
                last = at;
                if left < weight {
                    return at;
                }
                left -= weight;
            }
        }
        last
    }
}

/// A number scrambled, each to another one (the finalizer of splitmix64).
pub(crate) fn mixed(number: u64) -> u64 {
    let number = (number ^ (number >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let number = (number ^ (number >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    number ^ (number >> 31)
}

/// A 32-bit number scrambled, each to another one (the finalizer of MurmurHash3).
pub(crate) fn mixed_short(number: u32) -> u32 {
    let number = (number ^ (number >> 16)).wrapping_mul(0x85eb_ca6b);
    let number = (number ^ (number >> 13)).wrapping_mul(0xc2b2_ae35);
    number ^ (number >> 16)
}

/// The natural logarithm of a positive, normal number.
pub(crate) fn logarithm(number: f64) -> f64 {
    let bits = number.to_bits();
    let exponent = ((bits >> 52) & 0x7ff) as i64 - 1023;
    let mantissa = f64::from_bits((bits & ((1 << 52) - 1)) | (1023 << 52));
    // From 1 to 2; the series of the inverse hyperbolic tangent.
    let ratio = (mantissa - 1.0) / (mantissa + 1.0);
    let square = ratio * ratio;
    let mut sum = 0.0;
    for odd in (0..18).rev() {
        sum = sum * square + 1.0 / f64::from(2 * odd + 1);
    }
    exponent as f64 * LN_2 + 2.0 * ratio * sum
}

/// e to the power of a number between -700 and 700.
pub(crate) fn exponential(number: f64) -> f64 {
    let number = number.clamp(-700.0, 700.0);
    let whole = (number / LN_2).round();
    let rest = number - whole * LN_2;
    let mut sum = 1.0;
    for term in (1..16).rev() {
        sum = 1.0 + rest / f64::from(term) * sum;
    }
    sum * f64::from_bits(((whole as i64 + 1023) as u64) << 52)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn logarithms_and_exponentials_are_those_of_mathematics() {
        for number in [1e-300, 0.001, 0.5, 1.0, 1.5, 2.0, std::f64::consts::E, 8192.0, 1e300] {
            assert!((logarithm(number) - number.ln()).abs() <= 1e-13 * number.ln().abs().max(1.0), "{number}");
        }
        for number in [-650.0, -1.0, 0.0, 0.3, 1.0, 9.0, 20.0, 650.0] {
            assert!((exponential(number) / number.exp() - 1.0).abs() < 1e-12, "{number}");
        }
    }

    #[test]
    fn normal_numbers_have_their_quantiles_and_weights_are_kept() {
        let mut random = Random::new(1, 2);
        let drawn: Vec<f64> = (0..100_000).map(|_| random.normal()).collect();
        for (at, share) in [(-2.0, 0.0228), (-1.0, 0.1587), (0.0, 0.5), (1.0, 0.8413), (2.0, 0.9772)] {
            let below = drawn.iter().filter(|&&of| of < at).count() as f64 / 1e5;
            assert!((below - share).abs() < 0.006, "{at}: {below}");
        }
        let weights = [0.0, 1.0, 3.0, 0.0];
        let mut counts = [0; 4];
        for _ in 0..40_000 {
            counts[random.weighted(weights.iter().copied())] += 1;
        }
        assert!(counts[0] == 0 && counts[3] == 0 && (9_500..10_500).contains(&counts[1]), "{counts:?}");
        assert_eq!((random.below(0), random.below(1)), (0, 0));
    }
}
