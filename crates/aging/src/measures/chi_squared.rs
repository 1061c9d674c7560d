//! Whether two sets of files are alike: Pearson's chi-squared over classes.

use serde::{Deserialize, Serialize};

/// Files of a class that are expected at least, for its part of the sum to count (Cochran's rule of thumb).
const LEAST_EXPECTED: f64 = 5.0;

/// Chi-squared of what was found beside what is expected.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct ChiSquared {
    /// The sum.
    pub statistic: f64,
    /// Degrees of freedom.
    pub degrees: u32,
    /// The probability of such a sum and of larger ones where both are alike (Wilson and Hilferty's approximation).
    pub probability: f64,
    /// Of all files the share that would have to be in another class (half the sum of the differences of shares).
    pub misplaced_share: f64,
}

/// Two samples in the same classes; `None` where either is empty or only one class is left.
pub(crate) fn two_samples(found: &[u64], expected: &[u64]) -> Option<ChiSquared> {
    let (all_found, all_expected) = (found.iter().sum::<u64>() as f64, expected.iter().sum::<u64>() as f64);
    if all_found == 0.0 || all_expected == 0.0 {
        return None;
    }
    let ratio = (all_expected / all_found).sqrt();
    let (mut statistic, mut classes, mut misplaced) = (0.0, 0_u32, 0.0);
    // Neighbours are one class until enough is expected of both.
    let (mut a, mut b) = (0.0, 0.0);
    let pairs: Vec<(f64, f64)> = found.iter().zip(expected).map(|(&a, &b)| (a as f64, b as f64)).collect();
    for (at, pair) in pairs.iter().enumerate() {
        (a, b) = (a + pair.0, b + pair.1);
        let rest: f64 = pairs[at + 1..].iter().map(|pair| pair.0 + pair.1).sum();
        let is_last = at + 1 == pairs.len();
        if a + b >= 2.0 * LEAST_EXPECTED && (is_last || rest >= 2.0 * LEAST_EXPECTED) || (is_last && a + b > 0.0) {
            statistic += (ratio * a - b / ratio).powi(2) / (a + b);
            misplaced += (a / all_found - b / all_expected).abs() / 2.0;
            classes += 1;
            (a, b) = (0.0, 0.0);
        }
    }
    let degrees = classes.checked_sub(1).filter(|degrees| *degrees > 0)?;
    Some(ChiSquared {
        statistic,
        degrees,
        probability: upper_tail(statistic, f64::from(degrees)),
        misplaced_share: misplaced,
    })
}

/// The probability that chi-squared is larger (Wilson and Hilferty 1931: its cube root is nearly normal).
fn upper_tail(statistic: f64, degrees: f64) -> f64 {
    let spread = 2.0 / (9.0 * degrees);
    let z = ((statistic / degrees).cbrt() - (1.0 - spread)) / spread.sqrt();
    normal_tail(z)
}

/// The normal curve above `z` (Abramowitz and Stegun 26.2.17, off by less than 7.5e-8).
fn normal_tail(z: f64) -> f64 {
    let t = 1.0 / (1.0 + 0.231_641_9 * z.abs());
    let sum = [1.330_274_429, -1.821_255_978, 1.781_477_937, -0.356_563_782, 0.319_381_530];
    let sum = sum.iter().fold(0.0, |sum, factor| (sum + factor) * t);
    let tail = (-z * z / 2.0).exp() / (2.0 * std::f64::consts::PI).sqrt() * sum;
    if z < 0.0 { 1.0 - tail } else { tail }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tails_are_those_of_tables() {
        // NIST's table of critical values.
        for (statistic, degrees, probability) in [(18.307, 10.0, 0.05), (23.209, 10.0, 0.01), (30.144, 19.0, 0.05)] {
            assert!((upper_tail(statistic, degrees) - probability).abs() < 0.002, "{statistic}");
        }
        assert!((normal_tail(1.959_964) - 0.025).abs() < 1e-6 && (normal_tail(-1.0) - 0.841_345).abs() < 1e-5);
    }

    #[test]
    fn what_is_alike_is_told_from_what_is_not() {
        let alike = two_samples(&[100, 200, 300, 1], &[98, 210, 290, 2]).unwrap();
        assert!(alike.probability > 0.3 && alike.misplaced_share < 0.03, "{alike:?}");
        assert_eq!(alike.degrees, 2, "small classes are joined");
        let other = two_samples(&[300, 200, 100], &[100, 200, 300]).unwrap();
        assert!(other.probability < 1e-6 && (other.misplaced_share - 1.0 / 3.0).abs() < 1e-9, "{other:?}");
        assert_eq!(two_samples(&[0, 0], &[1, 2]), None);
        assert_eq!(two_samples(&[7], &[8]), None);
    }
}
