//! The log of a disk: every write, flush and acknowledgement in the order in which they were
//! answered, on disk as they come, so that memory holds no data.
//!
//! Time is a counter (`tick`): one step for each thing that happened. A request has two of them: when
//! it was received, and when it was answered, stamped before the answer is sent, so that nobody can have
//! acted on it before.

use std::fs::File;
use std::io::{BufWriter, Read as _, Write as _};
use std::os::unix::fs::FileExt as _;
use std::path::Path;

/// The first bytes of a log.
/// Of one disk, as all logs were once: their head ends with its size.
const MAGIC: &[u8; 8] = b"FLCUT001";
/// Of several: the size of all of them, and how many they are.
const MAGIC_OF_SEVERAL: &[u8; 8] = b"FLCUT002";
/// Disks of a log, at most.
pub const MOST_DISKS: u64 = crate::serve::MOST_DISKS;
/// Bytes before the first entry.
const HEAD_BYTES: u64 = 16;
const HEAD_BYTES_OF_SEVERAL: u64 = 24;
/// Bytes of one entry before its data.
const ENTRY_BYTES: usize = 41;
/// Bytes of a sector of any block device.
const SECTOR_BYTES: u64 = 512;
/// How many entries a log may hold: it keeps their index in memory (64 bytes each) when it is read.
pub const MOST_ENTRIES: usize = 4_000_000;
/// Size in bytes of the largest disk whose log is looked at where a stranger may have written it: so much memory its
/// images may take, where a checker reads all of them.
pub const MOST_DISK_BYTES: u64 = 4 << 30;
/// Bytes of data in all that such a log may hold: what is durable of them lies in memory.
pub const MOST_DATA_BYTES: u64 = 1 << 30;

/// What happened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum What {
    /// Data was written.
    Write {
        /// Where on the disk, in bytes.
        offset: u64,
        /// How much.
        bytes: u64,
        /// Where its data lies in the log.
        data: u64,
    },
    /// A range was zeroed, or discarded: then it reads as zeros too.
    Zero {
        /// Where on the disk, in bytes.
        offset: u64,
        /// How much.
        bytes: u64,
    },
    /// The disk was told to empty its cache, and said that it had.
    Flush {
        /// Which disk's cache.
        disk: u64,
    },
    /// The application was told that its record is safe.
    Acknowledged {
        /// The record, counted from 1.
        record: u64,
    },
}

/// One entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Entry {
    /// What.
    pub what: What,
    /// When the request came.
    pub received: u64,
    /// When it was answered; larger than that of any entry before.
    pub replied: u64,
}

impl Entry {
    /// The range of the disk that it changes.
    pub fn range(&self) -> Option<(u64, u64)> {
        match self.what {
            What::Write { offset, bytes, .. } | What::Zero { offset, bytes } => Some((offset, bytes)),
            What::Flush { .. } | What::Acknowledged { .. } => None,
        }
    }
}

/// A log being written.
#[derive(Debug)]
pub struct LogWriter {
    file: BufWriter<File>,
    position: u64,
    entries: usize,
}

impl LogWriter {
    /// Begins a log of so many disks, of that many bytes together. An existing file is replaced.
    ///
    /// # Errors
    /// What the system answers.
    pub fn create(path: &Path, disk_bytes: u64, disks: u64) -> std::io::Result<LogWriter> {
        LogWriter::begin(File::create(path)?, disk_bytes, disks)
    }

    /// Begins a log in an empty file.
    ///
    /// # Errors
    /// What the system answers.
    pub fn begin(file: File, disk_bytes: u64, disks: u64) -> std::io::Result<LogWriter> {
        let mut file = BufWriter::with_capacity(1 << 20, file);
        file.write_all(if disks == 1 { MAGIC } else { MAGIC_OF_SEVERAL })?;
        file.write_all(&disk_bytes.to_le_bytes())?;
        if disks == 1 {
            return Ok(LogWriter { file, position: HEAD_BYTES, entries: 0 });
        }
        file.write_all(&disks.to_le_bytes())?;
        Ok(LogWriter { file, position: HEAD_BYTES_OF_SEVERAL, entries: 0 })
    }

    /// Appends an entry; `data` is that of a write and empty otherwise. `What::Write::data` is set here.
    ///
    /// # Errors
    /// What the system answers, and an error where the log is full.
    pub fn append(&mut self, entry: Entry, data: &[u8]) -> std::io::Result<()> {
        if self.entries >= MOST_ENTRIES {
            return Err(std::io::Error::other("the log of writes is full; take fewer records"));
        }
        let (kind, a, b) = match entry.what {
            What::Write { offset, .. } => (1u8, offset, data.len() as u64),
            What::Zero { offset, bytes } => (2, offset, bytes),
            What::Flush { disk } => (3, disk, 0),
            What::Acknowledged { record } => (4, record, 0),
        };
        let mut head = [0u8; ENTRY_BYTES];
        head[0] = kind;
        for (index, value) in [a, b, entry.received, entry.replied, 0].into_iter().enumerate() {
            head[1 + 8 * index..9 + 8 * index].copy_from_slice(&value.to_le_bytes());
        }
        self.file.write_all(&head)?;
        self.file.write_all(data)?;
        self.position += (ENTRY_BYTES + data.len()) as u64;
        self.entries += 1;
        Ok(())
    }

    /// Hands everything to the system, so that a reader sees it.
    ///
    /// # Errors
    /// What the system answers.
    pub fn flush(&mut self) -> std::io::Result<()> {
        self.file.flush()
    }

    /// Length of the log so far, in bytes.
    pub fn bytes(&self) -> u64 {
        self.position
    }
}

/// A log, read back: its index is in memory, its data stays on disk.
#[derive(Debug)]
pub struct Log {
    file: File,
    entries: Vec<Entry>,
    /// The earliest `received` of this entry and all after it: a request may be answered long after it came.
    earliest: Vec<u64>,
    /// Of each disk its flushes, in the order of their answers.
    flushes: Vec<Vec<Flushed>>,
    disk_bytes: u64,
}

/// A flush, and all of the same disk that were answered before it.
#[derive(Debug, Clone, Copy)]
struct Flushed {
    replied: u64,
    /// When the latest of them came.
    received: u64,
}

impl Log {
    /// Reads the index of a log of one's own. An incomplete last entry is left out: it was being written when its writer
    /// died.
    ///
    /// # Errors
    /// What the system answers; an error where the file is no log or no regular file, holds more than [`MOST_ENTRIES`],
    /// or its ticks run backwards.
    pub fn open(path: &Path) -> std::io::Result<Log> {
        Log::read(path, u64::MAX, u64::MAX)
    }

    /// The same of a log that a stranger may have written: of a disk of at most [`MOST_DISK_BYTES`] in whole sectors, with
    /// at most [`MOST_DATA_BYTES`].
    ///
    /// # Errors
    /// As [`open`](Self::open), and where it is larger.
    pub fn open_strangers(path: &Path) -> std::io::Result<Log> {
        let log = Log::read(path, MOST_DISK_BYTES, MOST_DATA_BYTES)?;
        // A block device of it would end before the file does, and who looks for what counts from the end would miss it.
        match log.disk_bytes.is_multiple_of(SECTOR_BYTES) {
            true => Ok(log),
            false => Err(damaged("its disk is no multiple of 512 bytes")),
        }
    }

    fn read(path: &Path, most_disk: u64, most_data: u64) -> std::io::Result<Log> {
        let file = open_regular(path)?;
        let length = file.metadata()?.len();
        let mut reader = std::io::BufReader::with_capacity(1 << 20, &file);
        let mut start = [0u8; HEAD_BYTES as usize];
        reader.read_exact(&mut start)?;
        let of_several = &start[..8] == MAGIC_OF_SEVERAL;
        if !of_several && &start[..8] != MAGIC {
            return Err(damaged("it does not begin as one"));
        }
        let disk_bytes = number(&start[8..]);
        let disks = if of_several { several(&mut reader, disk_bytes)? } else { 1 };
        if disk_bytes > most_disk {
            return Err(too_large("it is of a disk of", disk_bytes, most_disk));
        }
        let mut entries: Vec<Entry> = Vec::new();
        let begin = if of_several { HEAD_BYTES_OF_SEVERAL } else { HEAD_BYTES };
        let (mut position, mut data_bytes) = (begin, 0u64);
        while position + ENTRY_BYTES as u64 <= length {
            let mut head = [0u8; ENTRY_BYTES];
            reader.read_exact(&mut head)?;
            let data = position + ENTRY_BYTES as u64;
            let entry = entry_of(&head, data)?;
            let follows = if let What::Write { bytes, .. } = entry.what { bytes } else { 0 };
            let Some(next) = data.checked_add(follows).filter(|&end| end <= length) else { break };
            check(&entry, entries.last(), (disk_bytes, disks))?;
            if entries.len() == MOST_ENTRIES {
                return Err(damaged("it holds more entries than any that is written"));
            }
            data_bytes += follows;
            if data_bytes > most_data {
                return Err(too_large("it holds", data_bytes, most_data));
            }
            reader.seek_relative(i64::try_from(follows).map_err(|_| damaged("an entry is longer than any file"))?)?;
            position = next;
            entries.push(entry);
        }
        drop(reader);
        let mut earliest: Vec<u64> = entries.iter().map(|entry| entry.received).collect();
        for index in (1..earliest.len()).rev() {
            earliest[index - 1] = earliest[index - 1].min(earliest[index]);
        }
        let mut flushes: Vec<Vec<Flushed>> = vec![Vec::new(); disks as usize];
        for entry in &entries {
            if let What::Flush { disk } = entry.what {
                let of_disk = &mut flushes[disk as usize];
                let before = of_disk.last().map_or(0, |last| last.received);
                of_disk.push(Flushed { replied: entry.replied, received: entry.received.max(before) });
            }
        }
        Ok(Log { file, entries, earliest, flushes, disk_bytes })
    }

    /// How many disks it is of, of equal size: one lies behind the other.
    pub fn disks(&self) -> u64 {
        self.flushes.len() as u64
    }

    /// Size of all disks together, in bytes.
    pub fn disk_bytes(&self) -> u64 {
        self.disk_bytes
    }

    /// The entries, in the order in which they were answered.
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// Reads a part of the data of a write: `from` counts bytes from the beginning of that write.
    ///
    /// # Errors
    /// What the system answers.
    pub fn read_data(&self, data: u64, from: u64, into: &mut [u8]) -> std::io::Result<()> {
        self.file.read_exact_at(into, data + from)
    }

    /// Writes another log into an empty file, of what had come by a cut: all that its image is made of.
    ///
    /// # Errors
    /// What the system answers.
    pub fn copy_until(&self, cut: u64, into: File) -> std::io::Result<()> {
        let mut copy = LogWriter::begin(into, self.disk_bytes, self.disks())?;
        let mut buffer = Vec::new();
        for entry in self.entries.iter().filter(|entry| entry.received <= cut) {
            buffer.clear();
            if let What::Write { bytes, data, .. } = entry.what {
                buffer.resize(bytes as usize, 0);
                self.read_data(data, 0, &mut buffer)?;
            }
            copy.append(*entry, &buffer)?;
        }
        copy.flush()
    }

    /// The last tick.
    pub fn end(&self) -> u64 {
        self.entries.last().map_or(0, |entry| entry.replied)
    }

    /// At a cut, of each disk: writes to it that were answered before this tick are on it for certain. It is when the
    /// latest flush of it came that was answered by then.
    pub fn durable_before(&self, cut: u64) -> Vec<u64> {
        let of_disk = |flushes: &Vec<Flushed>| {
            let known = flushes.partition_point(|flush| flush.replied <= cut);
            known.checked_sub(1).map_or(0, |last| flushes[last].received)
        };
        self.flushes.iter().map(of_disk).collect()
    }

    /// The disk of a range.
    fn disk_at(&self, offset: u64) -> usize {
        // A range of no bytes may lie at the very end.
        let each = (self.disk_bytes / self.disks()).max(1);
        ((offset / each) as usize).min(self.flushes.len() - 1)
    }

    /// The first entries, which are on the disks for certain where `durable_before` is theirs; and of the others those that
    /// are too.
    pub fn durable(&self, durable_before: &[u64]) -> (usize, Vec<usize>) {
        let (least, most) =
            durable_before.iter().fold((u64::MAX, 0), |(least, most), &of| (least.min(of), most.max(of)));
        let mut first = self.entries.partition_point(|entry| entry.replied < least);
        let until = self.entries.partition_point(|entry| entry.replied < most);
        // A disk that nobody writes to may never be flushed.
        while first < until && (self.entries[first].range().is_none() || self.is_durable(first, durable_before)) {
            first += 1;
        }
        let is_safe = |&index: &usize| self.is_durable(index, durable_before);
        (first, (first..until).filter(is_safe).collect())
    }

    fn is_durable(&self, entry: usize, durable_before: &[u64]) -> bool {
        let entry = &self.entries[entry];
        entry.range().is_some_and(|(offset, _)| entry.replied < durable_before[self.disk_at(offset)])
    }

    /// The last record that was acknowledged by a cut; 0: none.
    pub fn acknowledged_by(&self, cut: u64) -> u64 {
        let known = self.entries.partition_point(|entry| entry.replied <= cut);
        let records = self.entries[..known].iter().rev().filter_map(|entry| match entry.what {
            What::Acknowledged { record } => Some(record),
            _ => None,
        });
        records.into_iter().next().unwrap_or(0)
    }

    /// The entries that may or may not be on the disk at a cut: received by then, not confirmed by a flush.
    pub fn volatile(&self, cut: u64) -> Vec<usize> {
        let durable = self.durable_before(cut);
        let (first, _) = self.durable(&durable);
        let mut found = Vec::new();
        for index in first..self.entries.len() {
            if self.earliest[index] > cut {
                break;
            }
            let entry = &self.entries[index];
            if entry.received <= cut && entry.range().is_some() && !self.is_durable(index, &durable) {
                found.push(index);
            }
        }
        found
    }

    /// The cuts at which a promise is freshest: right after every acknowledgement.
    pub fn acknowledgements(&self) -> Vec<u64> {
        let matter = |entry: &&Entry| matches!(entry.what, What::Acknowledged { .. });
        self.entries.iter().filter(matter).map(|entry| entry.replied).collect()
    }

    /// The spans before every flush from its arrival to right before its answer: nothing since the flush before is safe
    /// then, so that most is open. Those at whose end nothing is open are left out.
    pub fn brinks(&self) -> Vec<(u64, u64)> {
        let flushes = self.entries.iter().filter(|entry| matches!(entry.what, What::Flush { .. }));
        let spans = flushes.map(|flush| (flush.received, flush.replied.saturating_sub(1)));
        spans.filter(|&(from, until)| from <= until && !self.volatile(until).is_empty()).collect()
    }
}

/// Opens a log to be read. Nothing is waited for: a pipe in its place has no writer that would come.
fn open_regular(path: &Path) -> std::io::Result<File> {
    use rustix::fs::{Mode, OFlags};
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    let file = File::from(rustix::fs::open(path, flags, Mode::empty())?);
    match file.metadata()?.is_file() {
        true => Ok(file),
        false => Err(damaged("it is no regular file")),
    }
}

/// An entry by its first bytes; `data`: where those of a write lie.
fn entry_of(head: &[u8; ENTRY_BYTES], data: u64) -> std::io::Result<Entry> {
    let field = |index: usize| number(&head[1 + 8 * index..9 + 8 * index]);
    let (a, b) = (field(0), field(1));
    let what = match head[0] {
        1 => What::Write { offset: a, bytes: b, data },
        2 => What::Zero { offset: a, bytes: b },
        3 => What::Flush { disk: a },
        4 => What::Acknowledged { record: a },
        _ => return Err(damaged("it holds an entry of an unknown kind")),
    };
    Ok(Entry { what, received: field(2), replied: field(3) })
}

/// How many disks a log of several is of.
fn several(reader: &mut impl std::io::Read, disk_bytes: u64) -> std::io::Result<u64> {
    let mut count = [0u8; 8];
    reader.read_exact(&mut count)?;
    let disks = number(&count);
    match (2..=MOST_DISKS).contains(&disks) && disk_bytes.is_multiple_of(disks * SECTOR_BYTES) {
        true => Ok(disks),
        false => Err(damaged("its disks make no sense")),
    }
}

/// Refuses an entry that no disks of that size give, or that comes before the one before it.
fn check(entry: &Entry, before: Option<&Entry>, (disk_bytes, disks): (u64, u64)) -> std::io::Result<()> {
    let each = disk_bytes / disks;
    let on_one_disk = |offset: u64, end: u64| end <= disk_bytes && (each == 0 || end <= (offset / each + 1) * each);
    let inside = match entry.what {
        What::Flush { disk } => disk < disks,
        _ => entry.range().is_none_or(|(offset, bytes)| {
            offset.checked_add(bytes).is_some_and(|end| on_one_disk(offset, end) || (bytes == 0 && end <= disk_bytes))
        }),
    };
    if !inside {
        return Err(damaged("an entry lies outside of the disk"));
    }
    match entry.received > entry.replied || before.is_some_and(|last| last.replied >= entry.replied) {
        true => Err(damaged("its time runs backwards")),
        false => Ok(()),
    }
}

fn too_large(what: &str, bytes: u64, most: u64) -> std::io::Error {
    let (bytes, most) = (model::Bytes(bytes), model::Bytes(most));
    std::io::Error::new(
        std::io::ErrorKind::FileTooLarge,
        format!("{what} {bytes}, and at most {most} are looked at; record with a smaller --lane-size"),
    )
}

fn number(bytes: &[u8]) -> u64 {
    u64::from_le_bytes(bytes[..8].try_into().expect("eight bytes"))
}

fn damaged(why: &str) -> std::io::Error {
    std::io::Error::new(std::io::ErrorKind::InvalidData, format!("this is no whole log of writes: {why}"))
}
