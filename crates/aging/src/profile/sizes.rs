//! How large files are: a lognormal curve, or steps with weights.

use crate::numbers::{Random, exponential, logarithm};
use model::Bytes;
use serde::{Deserialize, Serialize};

/// Draws above the bound that are thrown away before the bound itself counts.
const MOST_DRAWS: u32 = 64;

/// Sizes: `median` and `sigma` of a lognormal curve, or `steps`, or a file of Geriatrix (`from`); one of the three.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Sizes {
    /// Half of all are smaller.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub median: Option<Bytes>,
    /// Deviation of the natural logarithm, 0 to 5.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sigma: Option<f64>,
    /// None is smaller; 1 byte where it is not said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub least: Option<Bytes>,
    /// None is larger; what is drawn above it is drawn again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub most: Option<Bytes>,
    /// Sizes with their weights.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub steps: Vec<Step>,
    /// A file of Geriatrix: a count, then as many lines of a size in bytes and its weight.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
}

/// A size and its weight.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Step(pub Bytes, pub f64);

impl Sizes {
    /// Draws one, of 1 byte at least.
    pub(crate) fn draw(&self, random: &mut Random) -> u64 {
        let (least, most) = (self.smallest(), self.largest());
        let Some(median) = self.median else {
            let at = random.weighted(self.steps.iter().map(|step| step.1));
            return self.steps.get(at).map_or(1, |step| step.0.get()).max(1);
        };
        let middle = logarithm(median.get() as f64);
        for _ in 0..MOST_DRAWS {
            let size = exponential(middle + self.sigma.unwrap_or(0.0) * random.normal());
            if size <= most as f64 {
                return (size as u64).max(least);
            }
        }
        most
    }

    /// None is smaller, bytes.
    pub(crate) fn smallest(&self) -> u64 {
        let of_steps = self.steps.iter().map(|step| step.0.get()).min().unwrap_or(1);
        self.least.map_or(of_steps, |least| least.get()).max(1)
    }

    /// None is larger, bytes.
    pub(crate) fn largest(&self) -> u64 {
        let of_steps = self.steps.iter().map(|step| step.0.get()).max().unwrap_or(u64::MAX);
        self.most.map_or(of_steps, |most| most.get()).max(self.smallest())
    }

    /// Bytes on average, of 1,024 draws with a seed of their own: what forecasts rest on.
    pub(crate) fn mean(&self) -> f64 {
        let mut random = Random::new(0, 0x6d65_616e);
        (0..1024).map(|_| self.draw(&mut random) as f64).sum::<f64>() / 1024.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_follow_their_curve() {
        let text = "median = \"8KiB\"\nsigma = 2.2\nmost = \"32MiB\"";
        let sizes: Sizes = toml::from_str(text).unwrap();
        let mut random = Random::new(7, 0);
        // Quantiles of the normal curve; the tail that is drawn again is 8 of 100,000.
        let edges = [(-1.2816, 0.1), (-0.5244, 0.3), (0.0, 0.5), (0.5244, 0.7), (1.2816, 0.9)];
        let drawn: Vec<u64> = (0..50_000).map(|_| sizes.draw(&mut random)).collect();
        for (quantile, share) in edges {
            let edge = exponential(logarithm(8192.0) + 2.2 * quantile);
            let below = drawn.iter().filter(|&&size| (size as f64) < edge).count() as f64 / 50_000.0;
            assert!((below - share).abs() < 0.01, "{share}: {below}");
        }
        assert!(drawn.iter().all(|&size| (1..=32 << 20).contains(&size)));
        assert!(sizes.mean() > 40_000.0 && sizes.mean() < 200_000.0, "{}", sizes.mean());
    }

    #[test]
    fn steps_come_by_their_weights() {
        let sizes: Sizes = toml::from_str("steps = [[\"1KiB\", 3], [\"64KiB\", 1]]").unwrap();
        let mut random = Random::new(7, 0);
        let small = (0..10_000).filter(|_| sizes.draw(&mut random) == 1024).count();
        assert!((7_200..7_800).contains(&small), "{small}");
        assert_eq!((sizes.smallest(), sizes.largest()), (1024, 65536));
    }
}
