//! How compressible written bytes are, and how often the same come again: looked at now and then, and never kept.

use crate::memory;
use flate2::Compression;
use flate2::write::DeflateEncoder;
use libc::pid_t;
use std::collections::HashSet;
use std::hash::{BuildHasher, RandomState};
use std::io::Write;
use std::time::{Duration, Instant};
use trace::Item;

/// Bytes that are looked at.
const BYTES: usize = 4096;
/// No more often: a look costs some 50 microseconds.
pub(crate) const EVERY: Duration = Duration::from_millis(20);
/// Hashes that are remembered.
const MOST: usize = 100_000;

/// What was looked at.
#[derive(Debug)]
pub(crate) struct Samples {
    last: Option<Instant>,
    key: RandomState,
    seen: HashSet<u64>,
}

impl Samples {
    pub(crate) fn new() -> Samples {
        Samples { last: None, key: RandomState::new(), seen: HashSet::new() }
    }

    /// Looks at what a thread is about to write; `None`: not now.
    pub(crate) fn look(&mut self, thread: pid_t, address: u64, bytes: u64) -> Option<Item> {
        if bytes == 0 || self.last.is_some_and(|last| last.elapsed() < EVERY) {
            return None;
        }
        self.last = Some(Instant::now());
        let mut buffer = [0; BYTES];
        let room = BYTES.min(usize::try_from(bytes).unwrap_or(BYTES));
        let got = memory::read(thread, address, &mut buffer[..room]);
        (got > 0).then(|| self.sample(&buffer[..got]))
    }

    fn sample(&mut self, bytes: &[u8]) -> Item {
        let mut encoder = DeflateEncoder::new(Vec::with_capacity(BYTES), Compression::fast());
        let packed =
            encoder.write_all(bytes).and_then(|()| encoder.finish()).map_or(bytes.len(), |packed| packed.len());
        let hash = self.key.hash_one(bytes);
        let repeated = self.seen.contains(&hash);
        if self.seen.len() < MOST {
            self.seen.insert(hash);
        }
        Item::Sample { bytes: bytes.len() as u32, compressed: packed.min(bytes.len()) as u32, repeated }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zeros_are_small_and_come_again() {
        let mut samples = Samples::new();
        let of = |item| match item {
            Item::Sample { bytes, compressed, repeated } => (bytes, compressed < bytes / 10, repeated),
            other => panic!("{other:?}"),
        };
        assert_eq!(of(samples.sample(&[0; 4096])), (4096, true, false));
        assert_eq!(of(samples.sample(&[0; 4096])), (4096, true, true));
        let own = std::process::id() as pid_t;
        let text = [7u8; 100];
        assert!(samples.look(own, text.as_ptr() as u64, 100).is_some());
        // However long this test is stopped here.
        samples.last = Some(Instant::now() + Duration::from_secs(3600));
        assert_eq!(samples.look(own, text.as_ptr() as u64, 100), None, "not so soon again");
    }
}
