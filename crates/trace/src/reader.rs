//! Reads traces, which strangers may have written: bounded memory, and a sentence for each thing that cannot be.

use crate::encoding::{
    BEFORE, END, FRAME_HEAD_BYTES, HEADER, MAGIC, MOST_FRAME_BYTES, NOTE, OPERATION, PATH, SAMPLE, STOOD, THREAD,
    WAITED, take, take_bytes, unfold,
};
use crate::{Before, Item, Operation, VERSION, call};
use flate2::read::ZlibDecoder;
use std::io::{self, Read};

/// Most bytes of a path.
pub const MOST_PATH_BYTES: usize = 4096;
/// Most paths of a trace. They are numbers of 32 bits, as threads are; more of them than so many are no program's.
pub const MOST_PATHS: u32 = 8_000_000;
/// Most threads of a trace.
pub const MOST_THREADS: u32 = 4_000_000;
/// Most bytes of all paths of a trace.
pub const MOST_PATH_BYTES_IN_ALL: u64 = 256 << 20;
/// Most bytes of a note.
const MOST_NOTE_BYTES: usize = 4096;
/// A compressed frame is not much larger than a plain one.
const MOST_PACKED_BYTES: usize = MOST_FRAME_BYTES + (MOST_FRAME_BYTES >> 3);

/// Why a trace cannot be read on.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// The system's word.
    #[error("it cannot be read: {0}")]
    Io(#[from] io::Error),
    /// Another file.
    #[error("it is no trace of fairlane; capture one: fairlane capture -o FILE -- COMMAND")]
    NoTrace,
    /// A later version's.
    #[error("it is a trace of version {0}, and this Fairlane reads version {VERSION}; take a newer Fairlane")]
    Version(u32),
    /// What stands there cannot be.
    #[error("it is damaged: {0}; capture it again")]
    Damaged(&'static str),
}

/// Items of a trace, one after the other.
#[derive(Debug)]
pub struct Reader<R: Read> {
    from: R,
    frame: Vec<u8>,
    at: usize,
    start: u64,
    paths: u32,
    path_bytes: u64,
    threads: u32,
    is_first: bool,
    /// The last frame was not whole: the tracer was killed while it wrote it.
    torn: bool,
}

impl<R: Read> Reader<R> {
    /// Begins with a file.
    ///
    /// # Errors
    /// [`ReadError::NoTrace`] for another file.
    pub fn begin(mut from: R) -> Result<Reader<R>, ReadError> {
        let mut magic = Vec::new();
        from.by_ref().take(MAGIC.len() as u64).read_to_end(&mut magic)?;
        if magic != MAGIC {
            let text = String::from_utf8_lossy(&magic);
            let version = text.trim_end().strip_prefix("fairlane-trace ").and_then(|version| version.parse().ok());
            return Err(version.filter(|version| *version != VERSION).map_or(ReadError::NoTrace, ReadError::Version));
        }
        Ok(Reader {
            from,
            frame: Vec::new(),
            at: 0,
            start: 0,
            paths: 0,
            path_bytes: 0,
            threads: 0,
            is_first: true,
            torn: false,
        })
    }

    /// The next item; `None` at the end.
    ///
    /// # Errors
    /// What is damaged. A frame that is not whole at the very end is none: see [`Reader::is_torn`].
    pub fn next_item(&mut self) -> Result<Option<Item>, ReadError> {
        while self.at == self.frame.len() {
            if !self.next_frame()? {
                return Ok(None);
            }
        }
        let mut rest = &self.frame[self.at..];
        let before = rest.len();
        let item = item(&mut rest, &mut self.start).ok_or(ReadError::Damaged("an item is not whole"))?;
        self.at += before - rest.len();
        self.check(&item)?;
        Ok(Some(item))
    }

    /// Whether the last frame was not whole, once the end was reached.
    pub fn is_torn(&self) -> bool {
        self.torn
    }

    fn next_frame(&mut self) -> Result<bool, ReadError> {
        let mut head = Vec::new();
        self.from.by_ref().take(FRAME_HEAD_BYTES as u64).read_to_end(&mut head)?;
        if head.len() < FRAME_HEAD_BYTES {
            self.torn = !head.is_empty();
            return Ok(false);
        }
        let number = |at: usize| u32::from_le_bytes(head[at..at + 4].try_into().expect("four bytes"));
        let (length, sum) = (number(0) as usize, number(4));
        if length == 0 || length > MOST_PACKED_BYTES {
            return Err(ReadError::Damaged("a frame has a length that none has"));
        }
        let mut packed = Vec::new();
        self.from.by_ref().take(length as u64).read_to_end(&mut packed)?;
        if packed.len() < length {
            self.torn = true;
            return Ok(false);
        }
        if crc32c::crc32c(&packed) != sum {
            return Err(ReadError::Damaged("the checksum of a frame does not fit"));
        }
        self.frame.clear();
        self.at = 0;
        let mut plain = ZlibDecoder::new(&packed[..]).take(MOST_FRAME_BYTES as u64 + 1);
        plain.read_to_end(&mut self.frame).map_err(|_| ReadError::Damaged("a frame cannot be unpacked"))?;
        if self.frame.len() > MOST_FRAME_BYTES {
            return Err(ReadError::Damaged("a frame is larger than any"));
        }
        Ok(true)
    }

    /// What items name must have come before.
    fn check(&mut self, item: &Item) -> Result<(), ReadError> {
        if self.is_first != matches!(item, Item::Header(_)) {
            return Err(ReadError::Damaged("it does not begin with one header"));
        }
        self.is_first = false;
        match item {
            Item::Header(header) if header.version != VERSION => Err(ReadError::Version(header.version)),
            Item::Path(path) => {
                self.paths += 1;
                self.path_bytes += path.len() as u64;
                let many = self.paths > MOST_PATHS || self.path_bytes > MOST_PATH_BYTES_IN_ALL;
                match path.len() > MOST_PATH_BYTES || many {
                    true => Err(ReadError::Damaged("a path is longer than any, or there are too many")),
                    false => Ok(()),
                }
            }
            Item::Thread { parent, .. } => {
                let known = *parent == u32::MAX || *parent < self.threads;
                self.threads += 1;
                match known && self.threads <= MOST_THREADS {
                    true => Ok(()),
                    false => Err(ReadError::Damaged("a thread was begun by none, or there are too many")),
                }
            }
            Item::Waited { thread, .. } | Item::Stood { thread, .. } if *thread >= self.threads => {
                Err(ReadError::Damaged("a thread has no number"))
            }
            Item::Note(note) if note.len() > MOST_NOTE_BYTES => Err(ReadError::Damaged("a note is longer than any")),
            Item::Before(before) if before.path >= self.paths => Err(ReadError::Damaged("a path has no name")),
            Item::Operation(operation) => self.check_operation(operation),
            _ => Ok(()),
        }
    }

    fn check_operation(&self, operation: &Operation) -> Result<(), ReadError> {
        let row = call(operation.call).ok_or(ReadError::Damaged("there is no such call"))?;
        if operation.paths[..row.paths].iter().any(|&path| path >= self.paths) {
            return Err(ReadError::Damaged("a path has no name"));
        }
        match operation.thread < self.threads {
            true => Ok(()),
            false => Err(ReadError::Damaged("a call is of no thread")),
        }
    }
}

fn item(rest: &mut &[u8], start: &mut u64) -> Option<Item> {
    let (&tag, after) = rest.split_first()?;
    *rest = after;
    let small = |rest: &mut &[u8]| u32::try_from(take(rest)?).ok();
    Some(match tag {
        HEADER => Item::Header(serde_json::from_slice(take_bytes(rest)?).ok()?),
        PATH => Item::Path(take_bytes(rest)?.to_vec()),
        NOTE => Item::Note(String::from_utf8_lossy(take_bytes(rest)?).into_owned()),
        END => Item::End(serde_json::from_slice(take_bytes(rest)?).ok()?),
        THREAD => Item::Thread { process: small(rest)?, thread: small(rest)?, parent: small(rest)?.wrapping_sub(1) },
        WAITED => Item::Waited { thread: small(rest)?, process: small(rest)?, at: take(rest)? },
        STOOD => Item::Stood { thread: small(rest)?, nanoseconds: take(rest)? },
        BEFORE => Item::Before(Before { path: small(rest)?, mode: small(rest)?, bytes: take(rest)? }),
        SAMPLE => Item::Sample { bytes: small(rest)?, compressed: small(rest)?, repeated: take(rest)? != 0 },
        _ => Item::Operation(operation(rest, tag.checked_sub(OPERATION)?, start)?),
    })
}

fn operation(rest: &mut &[u8], code: u8, start: &mut u64) -> Option<Operation> {
    let row = call(code)?;
    let thread = u32::try_from(take(rest)?).ok()?;
    *start = start.wrapping_add(unfold(take(rest)?) as u64);
    let mut operation = Operation {
        call: code,
        thread,
        start: *start,
        nanoseconds: take(rest)?,
        result: unfold(take(rest)?),
        ..Operation::default()
    };
    for path in &mut operation.paths[..row.paths] {
        *path = u32::try_from(take(rest)?).ok()?;
    }
    for file in &mut operation.files[..row.files] {
        *file = u32::try_from(take(rest)?).ok()?;
    }
    for number in &mut operation.numbers[..row.numbers.len()] {
        *number = unfold(take(rest)?);
    }
    Some(operation)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{CALLS, End, Header, Writer};
    use proptest::prelude::*;

    fn items() -> Vec<Item> {
        let mut items = vec![
            Item::Header(Header { version: VERSION, command: vec!["ls".to_owned()], ..Header::default() }),
            Item::Thread { process: 7, thread: 7, parent: u32::MAX },
            Item::Path(b"/a\xff".to_vec()),
            Item::Path(b"/b".to_vec()),
            Item::Before(Before { path: 1, mode: 0o100_644, bytes: 1 << 40 }),
            Item::Waited { thread: 0, process: 7, at: 1 << 40 },
            Item::Stood { thread: 0, nanoseconds: 1 << 40 },
            Item::Sample { bytes: 4096, compressed: 12, repeated: true },
            Item::Note("io_uring".to_owned()),
        ];
        items.extend(CALLS.iter().map(|row| {
            let mut operation = Operation {
                call: row.code,
                start: 1_000_000 - u64::from(row.code),
                nanoseconds: 5,
                result: -2,
                ..Operation::default()
            };
            operation.paths[..row.paths].fill(1);
            operation.files[..row.files].fill(3);
            operation.numbers[..row.numbers.len()].fill(-9);
            Item::Operation(operation)
        }));
        items.push(Item::End(End { status: 3, ..End::default() }));
        items
    }

    fn written(items: &[Item]) -> Vec<u8> {
        let mut bytes = Vec::new();
        let mut writer = Writer::begin(&mut bytes).unwrap();
        for item in items {
            writer.add(item).unwrap();
            if matches!(item, Item::Note(_)) {
                writer.flush().unwrap();
            }
        }
        writer.flush().unwrap();
        bytes
    }

    fn read(bytes: &[u8]) -> Result<(Vec<Item>, bool), ReadError> {
        let mut reader = Reader::begin(bytes)?;
        let mut items = Vec::new();
        while let Some(item) = reader.next_item()? {
            items.push(item);
        }
        Ok((items, reader.is_torn()))
    }

    #[test]
    fn what_was_written_is_read() {
        let items = items();
        assert_eq!(read(&written(&items)).unwrap(), (items, false));
    }

    #[test]
    fn a_tracer_that_was_killed_loses_its_last_frame_alone() {
        let (items, bytes) = (items(), written(&items()));
        let first = items.iter().position(|item| matches!(item, Item::Note(_))).unwrap() + 1;
        for cut in [1, 9, 40] {
            assert_eq!(read(&bytes[..bytes.len() - cut]).unwrap(), (items[..first].to_vec(), true), "{cut}");
        }
    }

    #[test]
    fn what_cannot_be_is_refused_in_one_sentence() {
        let header = Item::Header(Header { version: VERSION, ..Header::default() });
        let thread = |parent| Item::Thread { process: 1, thread: 1, parent };
        let open = |thread, path| Item::Operation(Operation { thread, paths: [path, 0], ..Operation::default() });
        for (items, says) in [
            (vec![thread(u32::MAX)], "begin with one header"),
            (vec![header.clone(), header.clone()], "begin with one header"),
            (vec![header.clone(), thread(0)], "begun by none"),
            (vec![header.clone(), open(0, 0)], "no name"),
            (vec![header.clone(), Item::Path(b"/".to_vec()), open(0, 0)], "of no thread"),
            (vec![header.clone(), Item::Before(Before { path: 9, mode: 0, bytes: 0 })], "no name"),
            (vec![header.clone(), Item::Waited { thread: 0, process: 1, at: 0 }], "no number"),
            (vec![header.clone(), Item::Stood { thread: 0, nanoseconds: 1 }], "no number"),
            (vec![header.clone(), Item::Path(vec![b'x'; 5000])], "longer than any"),
            (vec![header.clone(), Item::Note("x".repeat(5000))], "longer than any"),
            (vec![Item::Header(Header { version: 2, ..Header::default() })], "version 2"),
        ] {
            let said = read(&written(&items)).unwrap_err().to_string();
            assert!(said.contains(says), "{said}: {says}");
        }
        assert!(matches!(read(b"fairlane"), Err(ReadError::NoTrace)));
        let whole = written(&items());
        let mut changed = whole.clone();
        changed[MAGIC.len() + FRAME_HEAD_BYTES + 3] ^= 1;
        assert!(read(&changed).unwrap_err().to_string().contains("checksum"));
        let mut long = whole[..MAGIC.len()].to_vec();
        long.extend(u32::MAX.to_le_bytes());
        long.extend([0; 12]);
        assert!(read(&long).unwrap_err().to_string().contains("length"));
    }

    proptest! {
        #[test]
        fn no_bytes_are_too_odd(mut bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
            let _ = read(&bytes);
            // Behind a checksum that fits, too.
            let mut framed = MAGIC.to_vec();
            let mut encoder = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::fast());
            bytes.insert(0, HEADER);
            std::io::Write::write_all(&mut encoder, &bytes).unwrap();
            let packed = encoder.finish().unwrap();
            framed.extend((packed.len() as u32).to_le_bytes());
            framed.extend(crc32c::crc32c(&packed).to_le_bytes());
            framed.extend(packed);
            let _ = read(&framed);
        }
    }
}
