//! How much readers take of what others wrote: lengths are looked at before memory is taken for them.
//!
//! Method 6.1 lists every reader with its bounds.

use std::io::{BufRead, Read};

/// Bytes of a record at most. The largest that a race is known to write has a hundred thousand trials of 5 KiB.
pub const RECORD_BYTES: u64 = 512 << 20;
/// Bytes of one line of a record at most; a header or a trial has some kilobytes.
pub const LINE_BYTES: u64 = 64 << 20;
/// Memory that a record may take once it is taken apart, by [`weight`]: some seventy thousand trials of a race's.
pub const RECORD_WEIGHT: u64 = 2 << 30;
/// Memory that one line may take, by [`weight`].
pub const LINE_WEIGHT: u64 = 256 << 20;
/// Bytes of a suite, a scenario or a filesystem of one's own at most; the largest that is built in has 30 KiB.
pub const TOML_BYTES: u64 = 1 << 20;

/// Lanes of a race at most, one against itself included: each is compared with every other.
pub const MOST_LANES: usize = 64;
/// Workloads of a race at most: each is looked at beside the others.
pub const MOST_WORKLOADS: usize = 1000;

/// Ranks of a job at most that a command to race again starts: no machine has as many, and a record may come from anybody.
pub const MOST_RANKS: u32 = 1 << 22;

/// Bytes of memory for each object: three characters may stand for a structure whose keys may all be missing.
const BYTES_AN_OBJECT: u64 = 256;
/// Bytes of memory for each element of a list: an empty text has its place too, in a list that doubles as it grows.
const BYTES_AN_ELEMENT: u64 = 48;
/// Bytes of memory for each key, beside an element's: its text, and its place in a map.
const BYTES_A_KEY: u64 = 40;

/// Memory that JSON takes at most once it is taken apart, in bytes, by its characters alone: what stands in texts is
/// counted too.
pub fn weight(json: &[u8]) -> u64 {
    let (mut objects, mut elements, mut keys) = (0_u64, 0_u64, 0_u64);
    for &byte in json {
        objects += u64::from(byte == b'{');
        elements += u64::from(byte == b',' || byte == b'[');
        keys += u64::from(byte == b':');
    }
    json.len() as u64 + objects * BYTES_AN_OBJECT + elements * BYTES_AN_ELEMENT + keys * BYTES_A_KEY
}

/// Why lines are not read on.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TooMuch {
    /// A line is too long.
    #[error("line {0} has more than {limit}, which no line of Fairlane's has; name another file", limit = crate::Bytes(LINE_BYTES))]
    Line(usize),
    /// What has been read would take too much memory.
    #[error("line {0} and those before it would take more memory than a reader may have ({limit}); name another file", limit = crate::Bytes(RECORD_WEIGHT))]
    Memory(usize),
    /// More lanes or workloads than a race takes.
    #[error(
        "it tells of {lanes} lanes and {workloads} workloads, and no race takes more than {MOST_LANES} and {MOST_WORKLOADS}; name another file"
    )]
    Header {
        /// Of its header or its plan, whichever has more.
        lanes: usize,
        /// Of its plan.
        workloads: usize,
    },
    /// A screening that is larger than any of Fairlane's.
    #[error("{0}; name another file")]
    Screening(String),
    /// The file is too long.
    #[error("it has more than {limit}, which no record of Fairlane's has; name another file", limit = crate::Bytes(RECORD_BYTES))]
    File,
    /// It cannot be read.
    #[error("it cannot be read: {0}")]
    Unreadable(String),
}

/// Lines of JSON, one at a time and within the bounds of a record.
pub struct Lines<R> {
    input: R,
    line: Vec<u8>,
    number: usize,
    bytes: u64,
    weight: u64,
}

impl<R: BufRead> Lines<R> {
    /// Nothing is read yet.
    pub fn new(input: R) -> Self {
        Lines { input, line: Vec::new(), number: 0, bytes: 0, weight: 0 }
    }

    /// The next line with its number, from 1, its end included; an incomplete last one has none. `None`: there is no more.
    ///
    /// # Errors
    /// [`TooMuch`].
    pub fn next_line(&mut self) -> Result<Option<(usize, &[u8])>, TooMuch> {
        self.line.clear();
        let read = self.input.by_ref().take(LINE_BYTES + 1).read_until(b'\n', &mut self.line);
        let read = read.map_err(|error| TooMuch::Unreadable(error.to_string()))? as u64;
        if read == 0 {
            return Ok(None);
        }
        self.number += 1;
        self.bytes += read;
        let weight = weight(&self.line);
        self.weight += weight;
        match () {
            () if read > LINE_BYTES => Err(TooMuch::Line(self.number)),
            () if self.bytes > RECORD_BYTES => Err(TooMuch::File),
            () if weight > LINE_WEIGHT || self.weight > RECORD_WEIGHT => Err(TooMuch::Memory(self.number)),
            () => Ok(Some((self.number, &self.line))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_come_one_by_one_and_the_last_may_be_torn() {
        let mut lines = Lines::new(&b"a\n\nb"[..]);
        let mut seen = Vec::new();
        while let Some((number, line)) = lines.next_line().unwrap() {
            seen.push((number, line.to_vec()));
        }
        assert_eq!(seen, [(1, b"a\n".to_vec()), (2, b"\n".to_vec()), (3, b"b".to_vec())]);
    }

    #[test]
    fn what_would_take_too_much_is_refused_before_it_is_taken_apart() {
        assert_eq!(Lines::new(std::io::BufReader::new(std::io::repeat(b'x'))).next_line(), Err(TooMuch::Line(1)));
        // Three bytes for an object of defaults.
        let objects = "{},".repeat(1 << 20);
        assert_eq!(Lines::new(objects.as_bytes()).next_line(), Err(TooMuch::Memory(1)));
        let line = format!("{}\n", "{},".repeat(800_000));
        let many = std::iter::repeat_n(line.as_bytes(), 20).fold(Vec::new(), |mut all, line| {
            all.extend_from_slice(line);
            all
        });
        let mut lines = Lines::new(many.as_slice());
        let refused = std::iter::from_fn(|| lines.next_line().map(|line| line.map(|(number, _)| number)).transpose())
            .find_map(Result::err);
        assert!(matches!(refused, Some(TooMuch::Memory(2..=12))), "{refused:?}");
    }
}
