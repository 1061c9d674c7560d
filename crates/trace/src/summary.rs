//! What a trace holds, in one page.

use crate::{Item, NOT_FOLLOWED, Operation, ReadError, Reader, call};
use model::trace::{CallSum, FileSum, Summary};
use std::collections::{BTreeMap, HashMap};
use std::io::Read;

/// Notes that are kept.
const MOST_NOTES: usize = 64;
/// Open files that are followed. One may have other descriptors, so that none is forgotten when one of these is closed.
const MOST_OPEN: usize = 1 << 22;
/// Buckets of a histogram of times: eight for each power of two.
const BUCKETS: usize = 64 * 8;

#[derive(Default)]
struct Sum {
    count: u64,
    failed: u64,
    bytes: u64,
    nanoseconds: u64,
    times: BTreeMap<usize, u64>,
}

/// The bucket of a time, and where a bucket begins.
fn bucket(nanoseconds: u64) -> usize {
    let power = nanoseconds.max(1).ilog2();
    let eighth = if power >= 3 { (nanoseconds >> (power - 3)) & 7 } else { 0 };
    (power as usize * 8 + eighth as usize).min(BUCKETS - 1)
}

fn begin_of(bucket: usize) -> u64 {
    let (power, eighth) = (bucket / 8, (bucket % 8) as u64);
    if power >= 3 { (8 + eighth) << (power - 3) } else { 1 << power }
}

impl Sum {
    fn percentile(&self, share: f64) -> u64 {
        let wanted = (self.count as f64 * share).ceil() as u64;
        let mut seen = 0;
        let found = self.times.iter().find(|&(_, &count)| {
            seen += count;
            seen >= wanted
        });
        found.map_or(0, |(&bucket, _)| begin_of(bucket))
    }
}

/// An open file.
#[derive(Clone, Copy)]
struct Open {
    path: u32,
    /// Where the next read or write begins.
    position: u64,
}

#[derive(Default)]
struct Gathering {
    summary: Summary,
    sums: BTreeMap<u8, Sum>,
    paths: Vec<Vec<u8>>,
    files: HashMap<u32, FileSum>,
    open: HashMap<u32, Open>,
    processes: std::collections::HashSet<u32>,
    busy: u64,
}

/// Reads a trace to its end.
///
/// # Errors
/// As [`Reader::next_item`].
pub fn summarize(from: impl Read) -> Result<Summary, ReadError> {
    let mut reader = Reader::begin(from)?;
    let mut all = Gathering::default();
    let mut is_empty = true;
    while let Some(item) = reader.next_item()? {
        is_empty = false;
        all.add(item);
    }
    if is_empty {
        return Err(ReadError::Damaged("it is cut off before its first part ends"));
    }
    if reader.is_torn() {
        all.summary.notes.push("the last part is not whole: the tracer was killed while it wrote".to_owned());
    }
    Ok(all.end())
}

impl Gathering {
    fn add(&mut self, item: Item) {
        match item {
            Item::Header(header) => self.summary.header = header,
            Item::End(end) => self.summary.end = Some(end),
            Item::Path(path) => self.paths.push(path),
            Item::Thread { process, .. } => {
                self.summary.threads += 1;
                self.processes.insert(process);
            }
            Item::Before(before) if before.mode & libc::S_IFMT == libc::S_IFREG => {
                self.summary.bytes_before = self.summary.bytes_before.saturating_add(before.bytes);
            }
            Item::Before(_) | Item::Waited { .. } | Item::Stood { .. } => {}
            Item::Sample { bytes, compressed, repeated } => {
                let summary = &mut self.summary;
                summary.sampled_bytes += u64::from(bytes);
                summary.sampled_compressed_bytes += u64::from(compressed.min(bytes));
                summary.sampled_repeated_bytes += if repeated { u64::from(bytes) } else { 0 };
            }
            Item::Note(note) => {
                if self.summary.notes.len() < MOST_NOTES && !self.summary.notes.contains(&note) {
                    self.summary.notes.push(note);
                }
            }
            Item::Operation(operation) => self.operation(&operation),
        }
    }

    fn operation(&mut self, operation: &Operation) {
        let Some(row) = call(operation.call) else { return };
        let done = operation.result.max(0) as u64;
        let (read, written) = match row.name {
            "read" | "pread64" => (done, 0),
            "write" | "pwrite64" => (0, done),
            "copy_file_range" | "sendfile" => {
                let of = |file: usize| if operation.files[file] == NOT_FOLLOWED { 0 } else { done };
                (of(0), of(1))
            }
            _ => (0, 0),
        };
        let sum = self.sums.entry(operation.call).or_default();
        sum.count += 1;
        sum.failed += u64::from(operation.result < 0);
        sum.bytes = sum.bytes.saturating_add(read.max(written));
        sum.nanoseconds = sum.nanoseconds.saturating_add(operation.nanoseconds);
        *sum.times.entry(bucket(operation.nanoseconds)).or_default() += 1;
        let summary = &mut self.summary;
        summary.operations += 1;
        summary.failed += u64::from(operation.result < 0);
        summary.read_bytes = summary.read_bytes.saturating_add(read);
        summary.written_bytes = summary.written_bytes.saturating_add(written);
        summary.nanoseconds = summary.nanoseconds.max(operation.start.saturating_add(operation.nanoseconds));
        self.busy = self.busy.saturating_add(operation.nanoseconds);
        let syncs = ["fsync", "fdatasync", "sync_file_range", "syncfs", "sync", "msync"].contains(&row.name);
        if operation.result < 0 {
            return;
        }
        self.summary.syncs += u64::from(syncs);
        if row.name == "openat" {
            if self.open.len() >= MOST_OPEN {
                return;
            }
            self.open.insert(operation.files[0], Open { path: operation.paths[0], position: 0 });
            let file = self.files.entry(operation.paths[0]).or_default();
            file.opened += 1;
            return;
        }
        for (at, number) in operation.files[..row.files].iter().enumerate() {
            let Some(open) = self.open.get_mut(number) else { continue };
            let file = self.files.entry(open.path).or_default();
            file.syncs += u64::from(syncs);
            // The first file of a copy is read, the second written.
            let (read, written) = if at == 0 && row.files == 2 {
                (read, 0)
            } else if at == 1 {
                (0, written)
            } else {
                (read, written)
            };
            file.read_bytes = file.read_bytes.saturating_add(read);
            file.written_bytes = file.written_bytes.saturating_add(written);
            let end = match row.name {
                "pread64" | "pwrite64" => (operation.numbers[1].max(0) as u64).saturating_add(done),
                "lseek" => {
                    open.position = done;
                    continue;
                }
                _ if read + written > 0 => {
                    open.position = open.position.saturating_add(read + written);
                    open.position
                }
                _ => 0,
            };
            file.extent_bytes = file.extent_bytes.max(end);
        }
    }

    fn end(mut self) -> Summary {
        let mut calls: Vec<CallSum> = Vec::new();
        for (code, sum) in &self.sums {
            calls.push(CallSum {
                call: call(*code).map_or_else(String::new, |row| row.name.to_owned()),
                count: sum.count,
                failed: sum.failed,
                bytes: sum.bytes,
                nanoseconds: sum.nanoseconds,
                p50_nanoseconds: sum.percentile(0.5),
                p99_nanoseconds: sum.percentile(0.99),
            });
        }
        calls.sort_by_key(|sum| std::cmp::Reverse((sum.nanoseconds, sum.count)));
        let paths = &self.paths;
        let name = |path: u32| paths.get(path as usize).map(|path| String::from_utf8_lossy(path).into_owned());
        let mut files: Vec<FileSum> = self
            .files
            .into_iter()
            .map(|(path, file)| FileSum { path: name(path).unwrap_or_default(), ..file })
            .collect();
        let all = |file: &FileSum| file.read_bytes.saturating_add(file.written_bytes);
        files.sort_by(|a, b| (all(b), b.opened).cmp(&(all(a), a.opened)).then_with(|| a.path.cmp(&b.path)));
        let summary = &mut self.summary;
        summary.working_set_bytes = files.iter().fold(0, |sum, file| sum.saturating_add(file.extent_bytes));
        summary.processes = self.processes.len() as u64;
        summary.at_once = if summary.nanoseconds == 0 { 0.0 } else { self.busy as f64 / summary.nanoseconds as f64 };
        (summary.calls, summary.files) = (calls, files);
        self.summary
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{CALLS, Header, VERSION, Writer};

    fn code(name: &str) -> u8 {
        CALLS.iter().find(|row| row.name == name).unwrap().code
    }

    #[test]
    fn times_fall_into_buckets_that_begin_below_them() {
        for nanoseconds in [1, 2, 7, 8, 9, 15, 16, 100, 1000, 123_456_789, u64::MAX] {
            let begin = begin_of(bucket(nanoseconds));
            assert!(begin <= nanoseconds && nanoseconds as f64 / begin as f64 <= 2.0, "{nanoseconds}: {begin}");
        }
    }

    #[test]
    fn bytes_positions_and_syncs_are_of_the_file_that_was_opened() {
        let mut bytes = Vec::new();
        let mut writer = Writer::begin(&mut bytes).unwrap();
        let items = [
            Item::Header(Header { version: VERSION, ..Header::default() }),
            Item::Thread { process: 1, thread: 1, parent: u32::MAX },
            Item::Path(b"/a".to_vec()),
            Item::Note("x".to_owned()),
            Item::Note("x".to_owned()),
        ];
        items.iter().for_each(|item| writer.add(item).unwrap());
        let mut time = 0;
        let mut add = |name: &str, result: i64, numbers: [i64; 4]| {
            time += 100;
            let operation =
                Operation { call: code(name), start: time, nanoseconds: 50, result, numbers, ..Operation::default() };
            writer.add(&Item::Operation(operation)).unwrap();
        };
        add("openat", 3, [0; 4]);
        add("write", 10, [10, 0, 0, 0]);
        add("write", 10, [10, 0, 0, 0]);
        add("pread64", 5, [5, 100, 0, 0]);
        add("fsync", 0, [0; 4]);
        add("fsync", -5, [0; 4]);
        add("close", 0, [0; 4]);
        // By another descriptor.
        add("read", 7, [7, 0, 0, 0]);
        writer.flush().unwrap();
        let summary = summarize(&bytes[..]).unwrap();
        assert_eq!((summary.operations, summary.failed, summary.syncs), (8, 1, 1));
        assert_eq!((summary.read_bytes, summary.written_bytes, summary.working_set_bytes), (12, 20, 105));
        let [file] = &summary.files[..] else { panic!("{:?}", summary.files) };
        assert_eq!((file.opened, file.read_bytes, file.written_bytes, file.syncs), (1, 12, 20, 1));
        assert_eq!(summary.notes, ["x"]);
        assert_eq!((summary.end, summary.nanoseconds), (None, 850));
        assert!((summary.at_once - 400.0 / 850.0).abs() < 1e-9);
    }
}
