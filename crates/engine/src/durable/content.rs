//! Bytes that only one record of one run can have.

use rand_core::{Rng as _, SeedableRng as _};
use rand_xoshiro::Xoshiro256PlusPlus;

/// The bytes of a record: its number, then random ones; at least 16 and at most `most`.
pub fn bytes_of_record(seed: u64, record: u64, most: u64) -> Vec<u8> {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed ^ record.wrapping_mul(0x9e37_79b9_7f4a_7c15));
    let length = 16 + random.next_u64() % (most - 15);
    let mut bytes = vec![0; length as usize];
    random.fill_bytes(&mut bytes);
    bytes[..8].copy_from_slice(&record.to_le_bytes());
    bytes
}

/// The number at the beginning.
pub fn number(bytes: &[u8]) -> Option<u64> {
    Some(u64::from_le_bytes(bytes.get(..8)?.try_into().ok()?))
}
