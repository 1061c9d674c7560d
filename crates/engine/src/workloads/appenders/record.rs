//! Records that tell what they are: who wrote them, into which of its files, as which, and a checksum.
//!
//! ```text
//! 0   CRC-32C of all that follows     u32
//! 4   writer                          u32
//! 8   number in the file, from 0      u32
//! 12  file of the writer              u16
//! 14  bytes of the record             u16
//! 16  words drawn from all of these and the seed, which do not compress
//! ```
//! All numbers are little-endian.

/// Who wrote a record, where, and as which.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Tag {
    pub(super) writer: u32,
    pub(super) file: u16,
    pub(super) number: u32,
}

/// The next word of a sequence, and its state (SplitMix64, Steele et al. 2014).
pub(super) fn next_word(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut word = *state;
    word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    word ^ (word >> 31)
}

/// Makes the record; the room is as long as the record is to be, 16 bytes at least.
pub(super) fn fill(room: &mut [u8], tag: Tag, seed: u64) {
    let length = room.len() as u16;
    room[4..8].copy_from_slice(&tag.writer.to_le_bytes());
    room[8..12].copy_from_slice(&tag.number.to_le_bytes());
    room[12..14].copy_from_slice(&tag.file.to_le_bytes());
    room[14..16].copy_from_slice(&length.to_le_bytes());
    let mut state = seed ^ (u64::from(tag.writer) << 32 | u64::from(tag.number)) ^ u64::from(tag.file).rotate_left(56);
    for word in room[16..].chunks_mut(8) {
        let bytes = next_word(&mut state).to_le_bytes();
        word.copy_from_slice(&bytes[..word.len()]);
    }
    let crc = crc32c::crc32c(&room[4..]);
    room[..4].copy_from_slice(&crc.to_le_bytes());
}

/// What is wrong with bytes that should be this record; `None`: they are. `scratch` is at least as long.
pub(super) fn wrong(bytes: &[u8], tag: Tag, seed: u64, scratch: &mut [u8]) -> Option<String> {
    let expected = &mut scratch[..bytes.len()];
    fill(expected, tag, seed);
    if bytes == expected {
        return None;
    }
    let word = |at: usize| u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]);
    let half = |at: usize| u16::from_le_bytes([bytes[at], bytes[at + 1]]);
    let Tag { writer, file, number } = tag;
    if crc32c::crc32c(&bytes[4..]) != word(0) {
        let zeros = if bytes.iter().all(|byte| *byte == 0) { ", it is all zeros" } else { "" };
        return Some(format!("record {number} of writer {writer} should be here, and its checksum is wrong{zeros}"));
    }
    Some(format!(
        "record {number} of writer {writer}, file {file} should be here, and it is record {} of writer {}, file {}, {} \
         bytes long",
        word(8),
        word(4),
        half(12),
        half(14)
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    const TAG: Tag = Tag { writer: 70_000, file: 3, number: 9 };

    #[test]
    fn a_record_is_itself_and_no_other() {
        for length in [16, 17, 32, 64, 255, 256, 32 << 10] {
            let (mut record, mut scratch) = (vec![0; length], vec![0; length]);
            fill(&mut record, TAG, 7);
            assert_eq!(wrong(&record, TAG, 7, &mut scratch), None, "{length}");
            for other in [Tag { writer: 1, ..TAG }, Tag { file: 2, ..TAG }, Tag { number: 10, ..TAG }] {
                let said = wrong(&record, other, 7, &mut scratch).unwrap();
                assert!(said.contains("it is record 9 of writer 70000, file 3"), "{length}: {said}");
            }
            for at in [0, 5, length - 1] {
                let mut broken = record.clone();
                broken[at] ^= 1;
                assert!(wrong(&broken, TAG, 7, &mut scratch).unwrap().contains("checksum"), "{length}, {at}");
            }
            assert!(wrong(&vec![0; length], TAG, 7, &mut scratch).unwrap().contains("all zeros"));
        }
        // Its seed is another run's.
        let (mut record, mut scratch) = ([0; 64], [0; 64]);
        fill(&mut record, TAG, 7);
        assert!(wrong(&record, TAG, 8, &mut scratch).is_some());
    }

    #[test]
    fn payloads_do_not_repeat() {
        let mut words = std::collections::HashSet::new();
        for writer in 0..100 {
            for number in 0..20 {
                let mut record = [0; 64];
                fill(&mut record, Tag { writer, file: 0, number }, 1);
                record[16..].chunks_exact(8).for_each(|word| assert!(words.insert(word.to_vec())));
            }
        }
    }
}
