//! What byte stands where in the files of operations.
//!
//! Contents are a pure function of seed, file, generation and offset, so that they can be checked
//! later without having been kept: a pool of random bytes, read from another place for every file
//! and generation, and in each page of a file one word that occurs nowhere else. It costs a few
//! loads and stores for each page, and nothing that compresses or deduplicates finds anything in it.

use crate::buffers::Room;
use crate::compressibility;
use crate::error::EngineError;
use model::job::Data;
use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

/// Bytes after which the pool repeats.
const POOL_BYTES: usize = model::operations::POOL_BYTES as usize;
/// Marks a file that fills one block at most when it is created.
pub(crate) const SMALL: u64 = 1 << 62;
/// Bytes of such a file at most.
pub(crate) const ONE_BLOCK: u64 = 4096;
/// Small files begin within so much of the pool, which stays in the CPU's cache: a file of 1 KiB that
/// began anywhere cost 2 % of its creation on tmpfs in cache misses alone. Filesystems give each a block
/// of its own, so that none finds two of them in one piece of data.
const SMALL_BEGINNINGS_BYTES: u64 = 64 << 10;
/// Every 4 KiB of a file carry a word of their own, whatever the machine's pages are: the same seed makes the same files.
const PAGE_BYTES: u64 = 4096;
const WORD_BYTES: usize = 8;
/// Keeps the pool's random numbers apart from all others of the same seed.
const POOL_STREAM: u64 = 0x6f70_6572_6174_6573;

/// Makes and remakes what files hold. One per thread: its room is changed by every call.
#[derive(Debug)]
pub(crate) struct Contents {
    seed: u64,
    /// The pool, and what a block that begins near its end needs of its beginning.
    room: Room,
    /// Where the room differs from the pool, and what stood there.
    stamped: Vec<(usize, usize, [u8; WORD_BYTES])>,
}

impl Contents {
    /// For blocks of at most `largest_block` bytes that nothing compresses.
    #[cfg(test)]
    pub(crate) fn new(seed: u64, largest_block: usize) -> Self {
        Contents::with_data(&Data::Incompressible, seed, largest_block).expect("memory")
    }

    /// For blocks of at most `largest_block` bytes, of bytes that compress so well.
    ///
    /// # Errors
    /// [`EngineError::Memory`] where the memory is not to be had.
    pub(crate) fn with_data(data: &Data, seed: u64, largest_block: usize) -> Result<Self, EngineError> {
        let bytes = POOL_BYTES + largest_block;
        let mut room = Room::new(bytes)?;
        let made = match data {
            Data::Incompressible => None,
            _ => compressibility::stream(data, PAGE_BYTES, POOL_BYTES, seed ^ POOL_STREAM).ok(),
        };
        match made {
            Some(made) => room[..POOL_BYTES].copy_from_slice(&made[..POOL_BYTES]),
            None => Xoshiro256PlusPlus::seed_from_u64(seed ^ POOL_STREAM).fill_bytes(&mut room[..POOL_BYTES]),
        }
        for at in (POOL_BYTES..bytes).step_by(POOL_BYTES) {
            let count = POOL_BYTES.min(bytes - at);
            room.copy_within(at - POOL_BYTES..at - POOL_BYTES + count, at);
        }
        Ok(Contents { seed, room, stamped: Vec::with_capacity(largest_block / PAGE_BYTES as usize + 2) })
    }

    /// Bytes of the largest block that it makes.
    pub(crate) fn largest_block(&self) -> usize {
        self.room.len() - POOL_BYTES
    }

    /// Bytes `offset..offset + length` of a file, as this generation of it holds them.
    ///
    /// # Panics
    /// When `length` exceeds the largest block.
    #[inline]
    pub(crate) fn bytes(&mut self, file: u64, generation: u32, offset: u64, length: usize) -> &[u8] {
        for (at, count, bytes) in self.stamped.drain(..) {
            self.room[at..at + count].copy_from_slice(&bytes[..count]);
        }
        let own = mix(self.seed ^ mix(file ^ u64::from(generation).rotate_right(8)));
        // Constants: by a number that is not known before, dividing takes as long as a cache miss.
        let begin = if file & SMALL == 0 { own % POOL_BYTES as u64 } else { own % SMALL_BEGINNINGS_BYTES };
        let start = ((begin + offset) % POOL_BYTES as u64) as usize;
        let end = offset + length as u64;
        let mut page = offset - offset % PAGE_BYTES;
        while page < end {
            // A block may begin or end within a word.
            let (from, to) = (page.max(offset), (page + WORD_BYTES as u64).min(end));
            if from < to {
                let (at, count) = (start + (from - offset) as usize, (to - from) as usize);
                let place = &mut self.room[at..at + count];
                let mut before = [0; WORD_BYTES];
                before[..count].copy_from_slice(place);
                let word = mix(own ^ page).to_le_bytes();
                place.copy_from_slice(&word[(from - page) as usize..][..count]);
                self.stamped.push((at, count, before));
            }
            page += PAGE_BYTES;
        }
        &self.room[start..start + length]
    }
}

/// SplitMix64's finaliser (Steele et al. 2014), a bijection.
#[inline]
pub(crate) fn mix(word: u64) -> u64 {
    let mut word = word.wrapping_add(0x9e37_79b9_7f4a_7c15);
    word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    word ^ (word >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_compresses_does_so_in_small_and_large_files() {
        for (data, ratio) in [(Data::Ratio16, 1.6), (Data::Ratio27, 2.7), (Data::Compress(50, 0), 2.0)] {
            let mut contents = Contents::with_data(&data, 5, 1 << 20).unwrap();
            let large = compressibility::zstd_ratio(contents.bytes(3, 1, 0, 1 << 20));
            assert!((large / ratio - 1.0_f64).abs() < 0.1, "{data}: {large}");
            let small: f64 =
                (0..64).map(|file| compressibility::zstd_ratio(contents.bytes(file, 0, 0, 16 << 10))).sum();
            assert!((small / 64.0 / ratio - 1.0).abs() < 0.2, "{data}: {}", small / 64.0);
        }
        let random = compressibility::zstd_ratio(Contents::new(5, 1 << 20).bytes(3, 1, 0, 1 << 20));
        assert!((0.99..1.01).contains(&random), "{random}");
    }

    #[test]
    fn contents_are_the_same_however_they_are_cut() {
        let mut contents = Contents::new(7, 1 << 20);
        let whole = contents.bytes(3, 1, 0, 40_000).to_vec();
        for cuts in [&[0, 1000, 4096, 20_000, 40_000][..], &[0, 3, 4099, 8190, 8193, 8194, 40_000]] {
            let mut pieces = Vec::new();
            for cut in cuts.windows(2) {
                contents.bytes(99, 4, 12_345, 9_000);
                pieces.extend_from_slice(contents.bytes(3, 1, cut[0], (cut[1] - cut[0]) as usize));
            }
            assert!(whole == pieces, "{cuts:?}");
        }
    }

    #[test]
    fn files_generations_and_pages_all_differ() {
        let mut contents = Contents::new(7, 1 << 20);
        let mut seen = std::collections::HashSet::new();
        for file in 0..200 {
            for generation in 0..5 {
                assert!(seen.insert(contents.bytes(file, generation, 0, 1024).to_vec()));
            }
        }
        let megabytes = [0, 1 << 20, 2 << 20].map(|offset| contents.bytes(1, 1, offset, 4096).to_vec());
        assert!(megabytes[0] != megabytes[1] && megabytes[1] != megabytes[2]);
    }
}
