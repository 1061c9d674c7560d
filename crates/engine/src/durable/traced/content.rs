//! Bytes that only one writer of one run can have put at one place.

use super::spans::Part;

/// Bytes of a page, within which data compresses as what the program wrote did.
const PAGE_BYTES: u64 = 4096;
const WORD_BYTES: u64 = 8;

/// Who wrote bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Origin {
    /// They were there before: the number of the file in the tree.
    Tree(u32),
    /// A call, by its number in the order of the work.
    Call(u32),
    /// Nobody knows.
    Unknown,
}

/// Where bytes come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Source {
    /// Who wrote them.
    pub origin: Origin,
    /// How many bytes behind the begin of what he wrote.
    pub at: u64,
}

impl Part for Source {
    fn behind(self, bytes: u64) -> Self {
        match self.origin {
            Origin::Unknown => self,
            _ => Source { at: self.at + bytes, ..self },
        }
    }
}

/// The bytes of all writers of a run.
#[derive(Debug, Clone, Copy)]
pub struct Content {
    seed: u64,
    /// Of each page's words so many are like no other; the rest of the page repeats one word of its own.
    different: u64,
}

impl Content {
    /// Of a seed; `compressed`: what is left of the program's data after compression, 0 to 1.
    pub fn new(seed: u64, compressed: f64) -> Content {
        let words = PAGE_BYTES / WORD_BYTES;
        Content { seed, different: ((compressed.clamp(0.0, 1.0) * words as f64) as u64).clamp(1, words) }
    }

    fn word(&self, writer: u64, number: u64) -> u64 {
        let words = PAGE_BYTES / WORD_BYTES;
        let key = if number % words < self.different { number } else { (number / words) | (1 << 63) };
        mix(mix(self.seed ^ writer.wrapping_mul(0xd134_2543_de82_ef95)) ^ key)
    }

    /// The bytes from a source on. What nobody knows is zeros, and is never compared.
    pub fn fill(&self, source: Source, into: &mut [u8]) {
        let writer = match source.origin {
            Origin::Tree(file) => u64::from(file) << 1,
            Origin::Call(call) => (u64::from(call) << 1) | 1,
            Origin::Unknown => return into.fill(0),
        };
        let (mut at, mut rest) = (source.at, into);
        while !rest.is_empty() {
            let within = (at % WORD_BYTES) as usize;
            let word = self.word(writer, at / WORD_BYTES).to_le_bytes();
            let count = rest.len().min(word.len() - within);
            let (now, later) = rest.split_at_mut(count);
            now.copy_from_slice(&word[within..within + count]);
            (at, rest) = (at + count as u64, later);
        }
    }
}

/// The finaliser of SplitMix64 (Steele and others, OOPSLA 2014).
fn mix(word: u64) -> u64 {
    let word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    word ^ (word >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(content: Content, origin: Origin, at: u64, count: usize) -> Vec<u8> {
        let mut into = vec![0; count];
        content.fill(Source { origin, at }, &mut into);
        into
    }

    #[test]
    fn bytes_tell_seed_writer_and_place() {
        for compressed in [0.0, 0.4, 1.0] {
            let content = Content::new(7, compressed);
            let all = bytes(content, Origin::Call(3), 0, 10_000);
            // From wherever they are asked for, they are the same.
            assert_eq!(bytes(content, Origin::Call(3), 4091, 50), all[4091..4141]);
            for (name, other) in [
                ("another call", bytes(content, Origin::Call(4), 0, 10_000)),
                ("the tree", bytes(content, Origin::Tree(3), 0, 10_000)),
                ("another seed", bytes(Content::new(8, compressed), Origin::Call(3), 0, 10_000)),
                ("another page", bytes(content, Origin::Call(3), 4096, 10_000)),
            ] {
                let same = all.chunks(16).zip(other.chunks(16)).filter(|(one, other)| one == other).count();
                assert_eq!(same, 0, "{name}");
            }
        }
    }

    #[test]
    fn what_was_compressible_stays_so() {
        let left = |compressed| {
            let data = bytes(Content::new(7, compressed), Origin::Call(3), 0, 1 << 16);
            zstd::bulk::compress(&data, 1).unwrap().len() as f64 / data.len() as f64
        };
        assert!(left(0.3) < 0.45 && left(1.0) > 0.95, "{} {}", left(0.3), left(1.0));
    }
}
