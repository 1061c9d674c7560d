//! Where the next operation goes.

use model::workload::Pattern;
use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

/// What a seed is mixed with, so that offsets and contents of one seed share no random numbers.
const OFFSETS_STREAM: u64 = 0x0ff5_e750;

/// The sequence of offsets of one workload: a function of pattern, block size, size and seed only,
/// hence the same in every lane. It goes on from slice to slice.
#[derive(Debug, Clone)]
pub struct Offsets {
    order: Order,
    block_bytes: u64,
    blocks: u64,
}

#[derive(Debug, Clone)]
enum Order {
    /// Block after block; the number of the next one.
    Sequential(u64),
    /// Uniform and independent.
    Random(Box<Xoshiro256PlusPlus>),
}

/// The next offset in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place {
    /// In bytes, a multiple of the block size.
    pub offset: u64,
    /// The sequence has passed the end and begins again here.
    pub wrapped: bool,
}

impl Offsets {
    /// Offsets of whole blocks of `block_bytes` within `size_bytes`; what is left over at the end
    /// is never touched.
    ///
    /// # Panics
    /// When not even one block fits; `Workload::check` refuses such workloads.
    pub fn new(pattern: Pattern, block_bytes: u64, size_bytes: u64, seed: u64) -> Self {
        assert!(block_bytes > 0 && size_bytes >= block_bytes, "{block_bytes} bytes do not fit into {size_bytes}");
        let order = if pattern.random() {
            Order::Random(Box::new(Xoshiro256PlusPlus::seed_from_u64(seed ^ OFFSETS_STREAM)))
        } else {
            Order::Sequential(0)
        };
        Offsets { order, block_bytes, blocks: size_bytes / block_bytes }
    }

    /// The next offset. Sequential patterns wrap after the last whole block.
    #[inline]
    pub fn next_place(&mut self) -> Place {
        match &mut self.order {
            Order::Sequential(next) => {
                let wrapped = *next == self.blocks;
                let block = if wrapped { 0 } else { *next };
                *next = block + 1;
                Place { offset: block * self.block_bytes, wrapped }
            }
            Order::Random(random) => {
                // Lemire's multiply-shift without rejection: the bias is under blocks/2^64.
                let block = (u128::from(random.next_u64()) * u128::from(self.blocks)) >> 64;
                Place { offset: block as u64 * self.block_bytes, wrapped: false }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn take(offsets: &mut Offsets, count: usize) -> Vec<u64> {
        (0..count).map(|_| offsets.next_place().offset).collect()
    }

    #[test]
    fn sequential_offsets_wrap_after_the_last_whole_block() {
        let mut offsets = Offsets::new(Pattern::Read, 4096, 3 * 4096 + 100, 1);
        assert_eq!(take(&mut offsets, 4), [0, 4096, 8192, 0]);
        let mut offsets = Offsets::new(Pattern::Append, 100, 250, 1);
        let wraps: Vec<bool> = (0..5).map(|_| offsets.next_place().wrapped).collect();
        assert_eq!(wraps, [false, false, true, false, true]);
    }

    #[test]
    fn random_offsets_are_aligned_and_reach_every_block() {
        let mut offsets = Offsets::new(Pattern::RandRead, 512, 64 * 512 + 511, 7);
        let mut seen = [0u32; 64];
        for offset in take(&mut offsets, 6400) {
            assert_eq!(offset % 512, 0);
            seen[(offset / 512) as usize] += 1;
        }
        // 100 expected each; 50 to 160 is five and six standard deviations away.
        assert!(seen.iter().all(|count| (50..160).contains(count)), "{seen:?}");
    }

    #[test]
    fn the_seed_alone_decides_the_sequence() {
        let sequence = |seed| take(&mut Offsets::new(Pattern::RandWrite, 4096, 1 << 30, seed), 50);
        assert_eq!(sequence(3), sequence(3));
        assert_ne!(sequence(3), sequence(4));
    }
}
