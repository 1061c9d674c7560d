//! Blocks that say where they belong, so that another client, which knows no more than a seed, can tell every byte of them.
//!
//! A word stands in each 4 KiB of a block, in the place of the random one that [`crate::data`] puts there: its lower half is made
//! of the writer, the file and the offset, its upper half tells which chunk the block is a copy of and what wrote it. Fourteen bits
//! are random, so that a block that is written again differs, but for one in 16,384.

use crate::operations::contents::mix;

/// What a seed is mixed with, so that words share no random numbers with anything else.
const MARKS_STREAM: u64 = 0x6d61_726b_6564_0001;
/// Chunks that a word can name.
pub(crate) const MOST_CHUNKS: u32 = 1 << 16;
const CHUNK_SHIFT: u32 = 32;
const ORIGIN_SHIFT: u32 = 48;
const RANDOM_SHIFT: u32 = 50;

/// What wrote a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Origin {
    /// What a file holds before the work, in whole blocks.
    Populate = 0,
    /// The end of that, which is no whole block.
    Tail = 1,
    /// The work.
    Work = 2,
}

/// How one worker of one client marks its blocks.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Marks {
    key: u64,
    origin: Origin,
}

/// What a word says beside its place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Mark {
    /// What wrote the block.
    pub(crate) origin: Origin,
    /// The chunk that it is a copy of.
    pub(crate) chunk: u32,
}

impl Marks {
    /// Of a worker's own work; the seed is its client's.
    pub(crate) fn new(seed: u64, worker: u32) -> Self {
        Marks { key: mix(seed ^ MARKS_STREAM ^ mix(u64::from(worker))), origin: Origin::Work }
    }

    /// The same, of something else that writes its files.
    pub(crate) fn by(self, origin: Origin) -> Self {
        Marks { origin, ..self }
    }

    #[inline]
    fn tag(self, file: u32, offset: u64) -> u32 {
        mix(mix(self.key ^ u64::from(file)) ^ offset) as u32
    }

    /// The word of the 4 KiB that begin at this place of a file.
    #[inline]
    pub(crate) fn word(self, chunk: u32, (file, offset): (u32, u64), random: u64) -> [u8; 8] {
        let chunk = u64::from(chunk % MOST_CHUNKS) << CHUNK_SHIFT;
        let word = u64::from(self.tag(file, offset)) | chunk | (self.origin as u64) << ORIGIN_SHIFT;
        (word | random << RANDOM_SHIFT).to_le_bytes()
    }

    /// What a word says that stands at this place of a file.
    ///
    /// # Errors
    /// It belongs to another place or another writer: what it is and what it should be, as a clause.
    pub(crate) fn read(self, word: [u8; 8], (file, offset): (u32, u64)) -> Result<Mark, String> {
        let (word, tag) = (u64::from_le_bytes(word), self.tag(file, offset));
        if word as u32 != tag {
            return Err(format!("the mark {:#010x} of another place instead of {tag:#010x}", word as u32));
        }
        let origin = match word >> ORIGIN_SHIFT & 3 {
            0 => Origin::Populate,
            1 => Origin::Tail,
            2 => Origin::Work,
            other => return Err(format!("a mark of writer {other} instead of 0 to 2")),
        };
        Ok(Mark { origin, chunk: (word >> CHUNK_SHIFT) as u32 % MOST_CHUNKS })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_tells_its_chunk_and_its_writer_whatever_else_is_random() {
        for origin in [Origin::Populate, Origin::Tail, Origin::Work] {
            let marks = Marks::new(7, 3).by(origin);
            for (chunk, random) in [(0, 0), (65_535, u64::MAX), (513, 77)] {
                let word = marks.word(chunk, (2, 8192), random);
                assert_eq!(Marks::new(7, 3).read(word, (2, 8192)), Ok(Mark { origin, chunk }));
            }
        }
    }

    #[test]
    fn a_word_of_another_place_file_worker_or_client_is_told_with_both_values() {
        let word = Marks::new(7, 3).word(5, (2, 8192), 9);
        for (marks, at) in [
            (Marks::new(7, 3), (2, 4096)),
            (Marks::new(7, 3), (1, 8192)),
            (Marks::new(7, 2), (2, 8192)),
            (Marks::new(8, 3), (2, 8192)),
        ] {
            let said = marks.read(word, at).unwrap_err();
            assert!(said.contains(&format!("{:#010x} of another place", u64::from_le_bytes(word) as u32)), "{said}");
        }
        let mut nobody = word;
        nobody[6] |= 3;
        assert!(Marks::new(7, 3).read(nobody, (2, 8192)).unwrap_err().starts_with("a mark of writer 3"));
    }

    #[test]
    fn a_block_that_is_written_again_differs() {
        let marks = Marks::new(7, 3);
        assert_ne!(marks.word(5, (2, 8192), 1), marks.word(5, (2, 8192), 2));
    }
}
