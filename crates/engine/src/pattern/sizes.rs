//! How long the next operation is.

use super::draw::below;
use model::job::BlockSizes;
use rand_core::Rng;

/// Draws that may fail to fit before the largest that fits is taken.
const TRIES: u32 = 16;

/// Lengths of the operations in one direction, in bytes.
#[derive(Debug, Clone)]
pub(super) enum Sizes {
    /// Always the same.
    Fixed(u64),
    /// Any multiple of `step` from `low`: `low + step * (0..count)`.
    Steps { low: u64, step: u64, count: u64 },
    /// The length for each percent of the operations, and all lengths, the largest first.
    Split { percents: Vec<u64>, falling: Vec<u64> },
}

impl Sizes {
    /// `unaligned`: ranges give any byte length, not only multiples of the smallest.
    pub fn new(sizes: &BlockSizes, unaligned: bool) -> Self {
        match sizes {
            BlockSizes::Fixed(bytes) => Sizes::Fixed(bytes.0),
            BlockSizes::Range(low, high) => {
                let step = if unaligned { 1 } else { low.0.max(1) };
                Sizes::Steps { low: low.0, step, count: high.0.saturating_sub(low.0) / step + 1 }
            }
            BlockSizes::Split(parts) => {
                let percents =
                    parts.iter().flat_map(|part| std::iter::repeat_n(part.0.0, part.1.min(100) as usize)).collect();
                let mut falling: Vec<u64> = parts.iter().filter(|part| part.1 > 0).map(|part| part.0.0).collect();
                falling.sort_unstable_by(|a, b| b.cmp(a));
                Sizes::Split { percents, falling }
            }
        }
    }

    /// The smallest length that is ever drawn.
    pub fn smallest(&self) -> u64 {
        match self {
            Sizes::Fixed(bytes) => *bytes,
            Sizes::Steps { low, .. } => *low,
            Sizes::Split { falling, .. } => falling.last().copied().unwrap_or(0),
        }
    }

    /// A length.
    #[inline]
    pub fn draw(&self, random: &mut impl Rng) -> u64 {
        match self {
            Sizes::Fixed(bytes) => *bytes,
            Sizes::Steps { low, step, count } => low + step * below(random, *count),
            Sizes::Split { percents, .. } => percents[below(random, percents.len() as u64) as usize],
        }
    }

    /// A length of at most `room`: drawn again while it does not fit, as fio does, though not
    /// forever. `None` where not even the smallest fits.
    #[inline]
    pub fn fitting(&self, room: u64, random: &mut impl Rng) -> Option<u64> {
        if room < self.smallest() {
            return None;
        }
        for _ in 0..TRIES {
            let bytes = self.draw(random);
            if bytes <= room {
                return Some(bytes);
            }
        }
        match self {
            Sizes::Fixed(_) => None,
            Sizes::Steps { low, step, .. } => Some(low + (room - low) / step * step),
            Sizes::Split { falling, .. } => falling.iter().copied().find(|bytes| *bytes <= room),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::Bytes;
    use rand_core::SeedableRng;
    use rand_xoshiro::Xoshiro256PlusPlus;
    use std::collections::BTreeMap;

    fn shares(text: &str, unaligned: bool) -> BTreeMap<u64, f64> {
        let sizes = Sizes::new(&text.parse().unwrap(), unaligned);
        let mut random = Xoshiro256PlusPlus::seed_from_u64(3);
        let mut shares = BTreeMap::new();
        (0..100_000).for_each(|_| *shares.entry(sizes.draw(&mut random)).or_default() += 1e-5);
        shares
    }

    #[test]
    fn a_range_gives_every_multiple_of_its_smallest_alike() {
        let shares = shares("4KiB-16KiB", false);
        assert_eq!(shares.keys().copied().collect::<Vec<_>>(), [4096, 8192, 12288, 16384]);
        assert!(shares.values().all(|share| (share - 0.25).abs() < 0.01), "{shares:?}");
    }

    #[test]
    fn an_unaligned_range_gives_any_byte_length() {
        let shares = shares("512-600", true);
        assert_eq!(shares.len(), 89);
    }

    #[test]
    fn a_split_gives_each_size_its_percent() {
        let shares = shares("4KiB/60:64KiB/39:1MiB/1", false);
        for (bytes, share) in [(4096, 0.6), (65536, 0.39), (1 << 20, 0.01)] {
            assert!((shares[&bytes] - share).abs() < 0.01, "{shares:?}");
        }
    }

    #[test]
    fn what_does_not_fit_is_drawn_again_and_at_last_chosen() {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(3);
        let split = Sizes::new(&"4KiB/1:64KiB/99".parse().unwrap(), false);
        for _ in 0..100 {
            assert_eq!(split.fitting(60_000, &mut random), Some(4096));
        }
        assert_eq!(split.fitting(4095, &mut random), None);
        let steps = Sizes::new(&BlockSizes::Range(Bytes(4096), Bytes(64 << 20)), false);
        for _ in 0..100 {
            assert!(steps.fitting(9000, &mut random).is_some_and(|bytes| bytes == 4096 || bytes == 8192));
        }
        assert_eq!(Sizes::Fixed(4096).fitting(4095, &mut random), None);
    }
}
