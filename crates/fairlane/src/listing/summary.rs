//! What a list says of a record, read line by line.

use crate::state;
use model::page::{EntryWorkload, RecordEntry};
use model::record::{EndOutcome, Record};
use rustix::fs::Stat;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom};

/// The longest line of a record that is believed; a header or trial has some kilobytes.
const LINE_BYTES: u64 = model::bounds::LINE_BYTES;

/// What tells whether a file changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stamp {
    /// Its filesystem.
    pub device: u64,
    /// Its inode.
    pub inode: u64,
    /// Its length in bytes.
    pub bytes: u64,
    /// When it was written last: seconds since 1970 and nanoseconds.
    pub written: (i64, i64),
}

impl Stamp {
    /// Of an open file.
    ///
    /// # Errors
    /// What the system answers.
    pub fn new(file: &File) -> io::Result<Stamp> {
        Ok(Stamp::from(&rustix::fs::fstat(file)?))
    }

    /// Whether the same file has only become longer.
    pub fn grew_from(&self, before: &Stamp) -> bool {
        (self.device, self.inode) == (before.device, before.inode) && self.bytes > before.bytes
    }
}

impl From<&Stat> for Stamp {
    fn from(stat: &Stat) -> Stamp {
        Stamp {
            device: stat.st_dev,
            inode: stat.st_ino,
            bytes: u64::try_from(stat.st_size).unwrap_or(0),
            written: (stat.st_mtime, i64::try_from(stat.st_mtime_nsec).unwrap_or(0)),
        }
    }
}

/// What a list says of a record.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    /// As the list has it, but for its outcome.
    pub entry: RecordEntry,
    /// How it ended; `None`: it has no end yet.
    pub end: Option<EndOutcome>,
    /// Up to where it was read: the end of the last whole line.
    read_bytes: u64,
    lines: usize,
}

/// As much of a line as a list needs.
#[derive(Deserialize)]
struct Brief<'a> {
    #[serde(borrow)]
    kind: Cow<'a, str>,
    #[serde(borrow, default)]
    outcome: Option<Cow<'a, str>>,
}

impl Summary {
    /// Reads the first so many bytes of a record.
    ///
    /// # Errors
    /// Why it is none.
    pub fn read(name: &str, mut file: &File, bytes: u64) -> Result<Summary, String> {
        file.seek(SeekFrom::Start(0)).map_err(|error| error.to_string())?;
        let mut reader = BufReader::new(file.take(bytes));
        let mut first = Vec::new();
        read_line(&mut reader, &mut first)?;
        let record = Record::parse(&String::from_utf8_lossy(&first)).map_err(|error| error.to_string())?;
        let header = record.header;
        let workload =
            |of: model::workload::Workload| EntryWorkload { groups: of.groups(), name: of.name, title: of.title };
        let entry = RecordEntry {
            name: name.to_owned(),
            started: header.started,
            suite: header.plan.suite,
            lanes: header.lanes.into_iter().map(|lane| lane.name).collect(),
            workloads: header.plan.workloads.into_iter().map(workload).collect(),
            machine: header.machine.in_one_line(),
            kernel: header.machine.kernel,
            outcome: String::new(),
            trials: 0,
        };
        Summary { entry, end: None, read_bytes: first.len() as u64, lines: 1 }.read_on(file, bytes)
    }

    /// Reads what follows, up to the end of the last whole line of the first so many bytes.
    ///
    /// # Errors
    /// Why it is no record.
    pub fn read_on(mut self, mut file: &File, bytes: u64) -> Result<Summary, String> {
        file.seek(SeekFrom::Start(self.read_bytes)).map_err(|error| error.to_string())?;
        let mut reader = BufReader::new(file.take(bytes.saturating_sub(self.read_bytes)));
        let mut line = Vec::new();
        loop {
            line.clear();
            read_line(&mut reader, &mut line)?;
            if !line.ends_with(b"\n") {
                return Ok(self);
            }
            self.read_bytes += line.len() as u64;
            self.lines += 1;
            let text = String::from_utf8_lossy(&line);
            let brief: Brief = serde_json::from_str(&text).map_err(|error| {
                let why = model::text::quoted(&error.to_string());
                format!("line {} of this record is damaged ({why})", self.lines)
            })?;
            match (brief.kind.as_ref(), brief.outcome.as_deref()) {
                ("trial", _) => self.entry.trials += 1,
                ("resume", _) => self.end = None,
                ("end", Some("complete")) => self.end = Some(EndOutcome::Complete),
                ("end", Some("interrupted")) => self.end = Some(EndOutcome::Interrupted),
                ("end", _) => self.end = Some(EndOutcome::Failed),
                _ => {}
            }
        }
    }

    /// As the list has it. `written`: somebody still writes the record.
    pub fn listed(&self, written: bool) -> RecordEntry {
        RecordEntry { outcome: state::outcome(self.end, written).to_owned(), ..self.entry.clone() }
    }
}

fn read_line(reader: &mut impl BufRead, line: &mut Vec<u8>) -> Result<(), String> {
    reader.take(LINE_BYTES).read_until(b'\n', line).map_err(|error| error.to_string())?;
    match line.len() as u64 == LINE_BYTES {
        true => Err("one of its lines is too long for a record".to_owned()),
        false => Ok(()),
    }
}
