//! What is written: random bytes, a stamp in every block, so that none is zero, equal to another, or compressible.

use crate::numbers::{Random, mixed};

/// Bytes that one write call writes at most.
pub(crate) const CHUNK_BYTES: usize = 256 << 10;
/// Random bytes that chunks are cut from: more than what compressors of filesystems look at, a cache's worth.
const POOL_BYTES: usize = 1 << 20;
/// The block that filesystems deduplicate by: each gets a stamp of its own.
const UNIT_BYTES: usize = 4096;
const STAMP_BYTES: usize = 8;

/// The source of what is written.
pub(crate) struct Data {
    pool: Vec<u8>,
    stamp: u64,
    /// Where the last chunk's stamps lie in the pool, and what they cover there.
    covered: Vec<(usize, [u8; STAMP_BYTES])>,
}

impl Data {
    /// `begun`: how many acts there were before; stamps of another run are not repeated.
    pub(crate) fn new(seed: u64, begun: u64) -> Data {
        let mut random = Random::new(seed, 0x6461_7461);
        let words = (0..(POOL_BYTES + CHUNK_BYTES) / 8).flat_map(|_| random.bits().to_le_bytes());
        // 2^28 blocks of an act's own would be 1 TiB.
        Data { pool: words.collect(), stamp: begun << 28, covered: Vec::new() }
    }

    /// So many bytes, [`CHUNK_BYTES`] at most, that were never written before.
    pub(crate) fn chunk(&mut self, bytes: usize) -> &[u8] {
        let bytes = bytes.min(CHUNK_BYTES);
        let start = (mixed(self.stamp) as usize % (POOL_BYTES / 64)) * 64;
        // A stamp is its own block's: what stays is the pool, and an image of what was lived takes little room where it is kept.
        for (at, was) in self.covered.drain(..) {
            self.pool[at..at + STAMP_BYTES].copy_from_slice(&was);
        }
        for at in (start..start + bytes).step_by(UNIT_BYTES) {
            let mut was = [0; STAMP_BYTES];
            was.copy_from_slice(&self.pool[at..at + STAMP_BYTES]);
            self.covered.push((at, was));
            self.stamp += 1;
            // A product with an odd number is another one for each stamp.
            let stamp = self.stamp.wrapping_mul(0x9e37_79b9_7f4a_7c15).to_le_bytes();
            let length = STAMP_BYTES.min(start + bytes - at);
            self.pool[at..at + length].copy_from_slice(&stamp[..length]);
        }
        &self.pool[start..start + bytes]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn no_block_comes_twice_and_none_is_zero() {
        let mut data = Data::new(3, 0);
        let mut blocks = BTreeSet::new();
        for bytes in [CHUNK_BYTES, 4096, 100_000, CHUNK_BYTES, 12_288].repeat(10) {
            for block in data.chunk(bytes).chunks_exact(4096) {
                assert!(blocks.insert(block.to_vec()), "a block comes twice");
                let zeros = block.iter().filter(|byte| **byte == 0).count();
                assert!(zeros < 64, "{zeros} zeros");
            }
        }
        assert!(blocks.len() > 1000);
        // A life that goes on writes other blocks.
        let mut later = Data::new(3, 50);
        assert!(later.chunk(4 * CHUNK_BYTES).chunks_exact(4096).all(|block| !blocks.contains(block)));
    }

    #[test]
    fn a_stamp_stays_in_no_other_block() {
        let mut data = Data::new(3, 0);
        let pool = data.pool.clone();
        for bytes in [CHUNK_BYTES, 1, 4099, CHUNK_BYTES, 100_000].repeat(20) {
            data.chunk(bytes);
            let covered = data.covered.len() * STAMP_BYTES;
            let other = data.pool.iter().zip(&pool).filter(|(now, then)| now != then).count();
            assert!(other <= covered, "{other} bytes of the pool are others, and stamps lie over {covered}");
        }
    }
}
