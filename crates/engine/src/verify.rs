//! Verification: every unit that is written carries a header that says what it is, and a ledger
//! remembers which generation of each unit may be read back.
//!
//! A header names the run (by its seed), the file, the offset, the length and the generation, and
//! carries a CRC-32C (Castagnoli 1993) of the rest of the unit and one of itself, so that a mismatch
//! can be told apart: lost (zeros), misplaced, stale, torn, foreign.

mod ledger;

pub use ledger::{Ledger, Written};

use crate::error::EngineError;
use model::job::{BlockSizes, Io};

/// Bytes of the header at the start of each unit.
pub const HEADER_BYTES: usize = model::job::VERIFY_HEADER_BYTES as usize;

const MAGIC: [u8; 4] = *b"FLvu";
const VERSION: u32 = 1;

/// A header's fields. Layout, little-endian: magic 0..4, version 4..8, length 8..12, file 12..16,
/// offset 16..24, seed 24..32, generation 32..36, zero 36..40, CRC of the payload 40..44, CRC of
/// bytes 0..44 44..48.
struct Header {
    version: u32,
    length: u32,
    file: u32,
    offset: u64,
    seed: u64,
    generation: u32,
    payload_crc: u32,
}

impl Header {
    #[inline]
    fn write(&self, head: &mut [u8; HEADER_BYTES]) {
        head[0..4].copy_from_slice(&MAGIC);
        head[4..8].copy_from_slice(&self.version.to_le_bytes());
        head[8..12].copy_from_slice(&self.length.to_le_bytes());
        head[12..16].copy_from_slice(&self.file.to_le_bytes());
        head[16..24].copy_from_slice(&self.offset.to_le_bytes());
        head[24..32].copy_from_slice(&self.seed.to_le_bytes());
        head[32..36].copy_from_slice(&self.generation.to_le_bytes());
        head[36..40].copy_from_slice(&[0; 4]);
        head[40..44].copy_from_slice(&self.payload_crc.to_le_bytes());
        let crc = crc32c::crc32c(&head[..44]);
        head[44..48].copy_from_slice(&crc.to_le_bytes());
    }

    fn read(head: &[u8; HEADER_BYTES]) -> Self {
        let four = |at: usize| u32::from_le_bytes(std::array::from_fn(|index| head[at + index]));
        let eight = |at: usize| u64::from_le_bytes(std::array::from_fn(|index| head[at + index]));
        Header {
            version: four(4),
            length: four(8),
            file: four(12),
            offset: eight(16),
            seed: eight(24),
            generation: four(32),
            payload_crc: four(40),
        }
    }
}

/// Bytes that carry one header in a job: `verify_interval`, or the smallest block.
///
/// # Errors
/// [`EngineError::Unsuitable`] where that is smaller than a header, or a block could begin or end
/// inside a unit.
pub fn unit_bytes(io: &Io) -> Result<u64, EngineError> {
    let unit = if io.verify_interval.0 > 0 { io.verify_interval.0 } else { io.smallest_block().0 };
    let unsuitable = |what: String| Err(EngineError::Unsuitable(what));
    if unit < HEADER_BYTES as u64 || unit > u64::from(u32::MAX) {
        return unsuitable(format!(
            "verify needs {HEADER_BYTES} bytes to 4 GiB for each header, not {unit}; change bs or verify_interval"
        ));
    }
    let whole = |bytes: u64| bytes.is_multiple_of(unit);
    let sizes = |direction| match io.blocks(direction) {
        BlockSizes::Fixed(bytes) => whole(bytes.0),
        BlockSizes::Range(low, _) => whole(low.0) && !io.bs_unaligned,
        BlockSizes::Split(parts) => parts.iter().all(|part| whole(part.0.0)),
    };
    if !io.rw.directions().iter().all(|direction| sizes(*direction))
        || !whole(io.blockalign.0)
        || !whole(io.sequential_step_bytes.unsigned_abs())
    {
        return unsuitable(format!(
            "verify needs blocks and places that are multiples of {unit} bytes; change bs, blockalign, the step or \
             verify_interval"
        ));
    }
    Ok(unit)
}

/// Writes the header into the unit and the CRC over all that follows it.
///
/// # Panics
/// When the unit is smaller than [`HEADER_BYTES`]; [`unit_bytes`] refuses such units.
#[inline]
pub fn stamp(unit: &mut [u8], file: u32, offset: u64, generation: u32, seed: u64) {
    let length = unit.len() as u32;
    let (head, payload) = unit.split_first_chunk_mut::<HEADER_BYTES>().expect("a unit has room for its header");
    let payload_crc = crc32c::crc32c(payload);
    Header { version: VERSION, length, file, offset, seed, generation, payload_crc }.write(head);
}

/// Whether the unit is what was written there: any generation from `low` to `high`. With `low` 0
/// the unit may never have been reached, and what does not look like written data is accepted.
///
/// # Errors
/// What is wrong, as a clause that follows "holds wrong data at offset N:".
pub fn check(unit: &[u8], file: u32, offset: u64, seed: u64, low: u32, high: u32) -> Result<(), String> {
    let Some((head, payload)) = unit.split_first_chunk::<HEADER_BYTES>() else {
        return Err(format!("{} bytes are too few for a header", unit.len()));
    };
    if head[..4] != MAGIC {
        return if low == 0 { Ok(()) } else { Err(without_header(head, payload, high)) };
    }
    let stored = u32::from_le_bytes(std::array::from_fn(|index| head[44 + index]));
    if crc32c::crc32c(&head[..44]) != stored {
        return Err("its header is damaged: the CRC-32C of the header differs".to_owned());
    }
    let found = Header::read(head);
    if found.version != VERSION || head[36..40] != [0; 4] {
        return Err(format!("foreign data: a header of version {}, not {VERSION}", found.version));
    }
    if found.seed != seed {
        return if low == 0 { Ok(()) } else { Err(format!("data of another run, of seed {}", found.seed)) };
    }
    if (found.file, found.offset) != (file, offset) {
        let of = if found.file == file { String::new() } else { format!(" of file {}", found.file) };
        return Err(format!("data of offset {}{of}, misplaced", found.offset));
    }
    if found.length as usize != unit.len() {
        return Err(format!("a unit of {} bytes, not {}", found.length, unit.len()));
    }
    if found.generation < low {
        return Err(format!("an older generation, {} instead of {}", found.generation, expected(low, high)));
    }
    if found.generation > high {
        return Err(format!("generation {}, which was never written; the last is {high}", found.generation));
    }
    if crc32c::crc32c(payload) != found.payload_crc {
        return Err(torn(payload, found.generation));
    }
    Ok(())
}

fn expected(low: u32, high: u32) -> String {
    if low == high { low.to_string() } else { format!("{low} to {high}") }
}

fn without_header(head: &[u8], payload: &[u8], high: u32) -> String {
    let zero = |bytes: &[u8]| bytes.iter().all(|byte| *byte == 0);
    if zero(head) && zero(payload) {
        format!("all zeros, though generation {high} was written")
    } else if zero(head) {
        "torn: zeros in place of the header, other data behind it".to_owned()
    } else {
        "foreign data: no header of Fairlane".to_owned()
    }
}

/// Says where a torn unit ends in zeros, the usual trace of a write that was cut.
fn torn(payload: &[u8], generation: u32) -> String {
    let kept = payload.iter().rposition(|byte| *byte != 0).map_or(0, |at| at + 1);
    let zeros = payload.len() - kept;
    let tail = if zeros >= 64 { format!(", the last {zeros} bytes are zeros") } else { String::new() };
    format!("torn: the header of generation {generation} is whole, the CRC-32C of its data differs{tail}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::Bytes;
    use proptest::prelude::*;

    fn unit(bytes: usize, offset: u64, generation: u32) -> Vec<u8> {
        let mut unit: Vec<u8> = (0..bytes).map(|at| (at * 7 + 3) as u8).collect();
        stamp(&mut unit, 3, offset, generation, 77);
        unit
    }

    fn complaint(unit: &[u8]) -> String {
        check(unit, 3, 8192, 77, 5, 6).unwrap_err()
    }

    #[test]
    fn what_was_stamped_is_accepted_in_every_generation_from_low_to_high() {
        for bytes in [HEADER_BYTES, HEADER_BYTES + 1, 512, 4096, 65_536] {
            for generation in 5..=6 {
                assert_eq!(check(&unit(bytes, 8192, generation), 3, 8192, 77, 5, 6), Ok(()));
            }
        }
    }

    #[test]
    fn a_change_of_any_single_byte_is_found() {
        let whole = unit(512, 8192, 5);
        for at in 0..whole.len() {
            for change in [1, 0x80, 0xff] {
                let mut damaged = whole.clone();
                damaged[at] ^= change;
                assert!(check(&damaged, 3, 8192, 77, 5, 6).is_err(), "byte {at}");
            }
        }
    }

    proptest! {
        #[test]
        fn any_damage_is_found(at in 0_usize..4096, bytes in prop::collection::vec(any::<u8>(), 1..64)) {
            let whole = unit(4096, 8192, 5);
            let mut damaged = whole.clone();
            for (place, byte) in damaged[at..].iter_mut().zip(bytes) {
                *place = byte;
            }
            prop_assert_eq!(check(&damaged, 3, 8192, 77, 5, 6).is_ok(), damaged == whole);
        }
    }

    #[test]
    fn the_sentence_says_what_is_wrong() {
        assert_eq!(complaint(&[0; 512]), "all zeros, though generation 6 was written");
        assert_eq!(complaint(&[9; 512]), "foreign data: no header of Fairlane");
        assert_eq!(complaint(&unit(512, 4096, 5)), "data of offset 4096, misplaced");
        assert_eq!(complaint(&unit(512, 8192, 4)), "an older generation, 4 instead of 5 to 6");
        assert!(complaint(&unit(512, 8192, 7)).contains("never written"));
        assert!(complaint(&unit(512, 8192, 5)[..400]).contains("a unit of 512 bytes, not 400"));
        let mut other = unit(512, 8192, 5);
        stamp(&mut other, 4, 8192, 5, 77);
        assert_eq!(complaint(&other), "data of offset 8192 of file 4, misplaced");
        stamp(&mut other, 3, 8192, 5, 78);
        assert_eq!(complaint(&other), "data of another run, of seed 78");
        let mut torn = unit(4096, 8192, 6);
        torn[1024..].fill(0);
        assert!(complaint(&torn).starts_with("torn: the header of generation 6 is whole"));
        assert!(complaint(&torn).ends_with("the last 3072 bytes are zeros"), "{}", complaint(&torn));
        let mut new_head = unit(4096, 8192, 5);
        new_head[2048..].copy_from_slice(&[1; 2048]);
        assert!(complaint(&new_head).starts_with("torn"));
        new_head[..512].fill(0);
        assert!(complaint(&new_head).starts_with("torn: zeros in place of the header"));
    }

    #[test]
    fn a_unit_that_may_never_have_been_reached_may_hold_anything_old_but_no_damage() {
        assert_eq!(check(&[0; 512], 3, 8192, 77, 0, 1), Ok(()));
        assert_eq!(check(&[9; 512], 3, 8192, 77, 0, 1), Ok(()));
        let mut torn = unit(512, 8192, 1);
        assert_eq!(check(&torn, 3, 8192, 77, 0, 1), Ok(()));
        torn[300] ^= 1;
        assert!(check(&torn, 3, 8192, 77, 0, 1).is_err());
    }

    #[test]
    fn units_without_room_for_a_header_or_across_blocks_are_refused() {
        let io = |bs, interval| Io { bs: Bytes(bs), verify_interval: Bytes(interval), ..Io::default() };
        assert_eq!(unit_bytes(&io(4096, 0)).unwrap(), 4096);
        assert_eq!(unit_bytes(&io(4096, 512)).unwrap(), 512);
        assert!(unit_bytes(&io(40, 0)).unwrap_err().to_string().contains("48 bytes"));
        assert!(unit_bytes(&io(4096, 3000)).unwrap_err().to_string().contains("multiples of 3000"));
        let unaligned = Io {
            block_sizes: Some(Box::new(model::job::PerDirection {
                read: BlockSizes::Range(Bytes(4096), Bytes(8192)),
                write: BlockSizes::Range(Bytes(4096), Bytes(8192)),
                trim: BlockSizes::Fixed(Bytes(4096)),
            })),
            bs_unaligned: true,
            ..io(4096, 0)
        };
        assert!(unit_bytes(&unaligned).is_err());
    }
}
