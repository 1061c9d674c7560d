//! The folder of records: what lies in it, opened for reading and never outside of it.
//!
//! A record is read again only when it changed (its inode, length or time of writing did), lists read no
//! more than what was appended, and the page of a race that is still running is made at most so often
//! that it costs a fiftieth of a CPU.

use super::api::{Refusal, json};
use crate::commands::page;
use crate::{knowledge, state};
use axum::body::Bytes;
use axum::http::StatusCode;
use model::page::{RecordEntry, RecordList};
use model::record::{EndOutcome, Record};
use rustix::fs::{Mode, OFlags, ResolveFlags};
use rustix::io::Errno;
use serde::Deserialize;
use stats::trend::RecordFigures;
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io::{BufRead, BufReader, Read, Seek, SeekFrom};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// How the name of a record ends.
const END: &str = ".jsonl";
const NOTHING: &str = "there is no such record";
/// The longest line of a record that is believed; a header or trial has some kilobytes.
const LINE_BYTES: u64 = 64 << 20;
/// Answers kept: of the pages that somebody goes to and fro between.
const KEPT: usize = 12;
/// Bytes of answers kept.
const KEPT_BYTES: usize = 64 << 20;
/// A page of a record that grows rests for so many times what it cost.
const REST: u32 = 50;

/// What tells whether a file changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Stamp {
    device: u64,
    inode: u64,
    bytes: u64,
    written: (i64, i64),
}

/// A file's name, and what it is or why it cannot be read.
type Surveyed = (String, Result<RecordEntry, String>);

impl Stamp {
    fn of(file: &File) -> std::io::Result<Stamp> {
        let of = file.metadata()?;
        let written = (of.mtime(), of.mtime_nsec());
        Ok(Stamp { device: of.dev(), inode: of.ino(), bytes: of.len(), written })
    }

    /// Whether the same file has only become longer.
    fn grew_from(&self, before: &Stamp) -> bool {
        (self.device, self.inode) == (before.device, before.inode) && self.bytes > before.bytes
    }
}

/// What a list says of a record, read line by line.
#[derive(Clone)]
struct Summary {
    entry: RecordEntry,
    workloads: Vec<String>,
    end: Option<EndOutcome>,
    /// Up to where it was read: the end of the last whole line.
    read_bytes: u64,
    lines: usize,
}

/// An answer that is kept.
struct Kept {
    kind: &'static str,
    names: Vec<String>,
    stamps: Vec<Stamp>,
    made: Instant,
    cost: Duration,
    bytes: Bytes,
}

/// The folder, and what was read of it.
pub struct Shelf {
    folder: PathBuf,
    summaries: BTreeMap<String, (Stamp, Result<Summary, String>)>,
    figures: BTreeMap<String, (Stamp, Arc<RecordFigures>)>,
    /// Newest last.
    kept: Vec<Kept>,
}

/// A name as messages show it.
pub fn shown(name: &str) -> String {
    let shown = model::text::escaped(name.as_bytes());
    match shown.char_indices().nth(200) {
        Some((end, _)) => format!("{}…", &shown[..end]),
        None => shown,
    }
}

/// Why a record cannot be shown.
pub fn unreadable(name: &str, why: &str) -> Refusal {
    Refusal::new(StatusCode::UNPROCESSABLE_ENTITY, format!("{}: {why}", shown(name)))
}

/// Opens a record of the folder for reading.
///
/// # Errors
/// A refusal, where there is no such file, or the user may not read it.
pub fn open(folder: &Path, name: &str) -> Result<File, Refusal> {
    open_here(folder, name).map_err(|(status, why)| {
        Refusal::new(status, format!("{}: {why}; /api/records lists the records there are", shown(name)))
    })
}

/// A link may lead to another place in the folder, and nowhere else.
fn open_here(folder: &Path, name: &str) -> Result<File, (StatusCode, &'static str)> {
    let no = |why: &'static str| (StatusCode::NOT_FOUND, why);
    if !name.ends_with(END) || name.contains(['/', '\0']) {
        return Err(no(NOTHING));
    }
    let directory = rustix::fs::open(folder, OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())
        .map_err(|_| no(NOTHING))?;
    // Of a pipe or a device nothing is waited for.
    let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK | OFlags::NOCTTY;
    let beneath = ResolveFlags::BENEATH | ResolveFlags::NO_MAGICLINKS;
    let opened = match rustix::fs::openat2(&directory, name, flags, Mode::empty(), beneath) {
        // Before Linux 5.6, and where a sandbox knows no newer calls: then without any link.
        Err(Errno::NOSYS | Errno::PERM) => {
            rustix::fs::openat(&directory, name, flags | OFlags::NOFOLLOW, Mode::empty())
        }
        opened => opened,
    };
    let file = match opened {
        Ok(file) => File::from(file),
        Err(Errno::NOENT | Errno::NAMETOOLONG) => return Err(no(NOTHING)),
        Err(Errno::ACCESS) => return Err((StatusCode::FORBIDDEN, "this user may not read it")),
        Err(Errno::XDEV | Errno::LOOP) => return Err(no("it is a link that leads out of the folder")),
        Err(_) => return Err(no("it cannot be opened")),
    };
    match file.metadata() {
        Ok(of) if of.is_file() => Ok(file),
        _ => Err(no("it is no file")),
    }
}

impl Shelf {
    /// Nothing is read yet.
    pub fn new(folder: PathBuf) -> Self {
        Shelf { folder, summaries: BTreeMap::new(), figures: BTreeMap::new(), kept: Vec::new() }
    }

    /// The records, newest first.
    ///
    /// # Errors
    /// When the folder cannot be read; one that does not exist is empty.
    pub fn list(&mut self) -> Result<RecordList, Refusal> {
        let (mut records, mut unreadable) = (Vec::new(), Vec::new());
        for (name, found) in self.survey()? {
            match found {
                Ok(entry) => records.push(entry),
                Err(why) => unreadable.push(format!("{}: {why}", shown(&name))),
            }
        }
        // Of races begun in the same second the one of the later name; names end in the seed.
        records.sort_by(|a: &RecordEntry, b| (&b.started, &b.name).cmp(&(&a.started, &a.name)));
        Ok(RecordList { records, unreadable })
    }

    /// Every file that is named like a record, with what it is.
    fn survey(&mut self) -> Result<Vec<Surveyed>, Refusal> {
        let mut found = Vec::new();
        for name in names_in(&self.folder)? {
            found.push(match name {
                Err(name) => (name, Err("its name is no UTF-8 text; rename it".to_owned())),
                Ok(name) => {
                    let opened = open_here(&self.folder, &name).map_err(|(_, why)| why.to_owned());
                    let entry = opened.and_then(|file| self.entry(&name, &file));
                    (name, entry)
                }
            });
        }
        let there: BTreeSet<&str> = found.iter().map(|(name, _)| name.as_str()).collect();
        self.summaries.retain(|name, _| there.contains(name.as_str()));
        self.figures.retain(|name, _| there.contains(name.as_str()));
        Ok(found)
    }

    fn entry(&mut self, name: &str, file: &File) -> Result<RecordEntry, String> {
        let stamp = Stamp::of(file).map_err(|error| error.to_string())?;
        let summary = match self.summaries.remove(name) {
            Some((before, summary)) if before == stamp => summary,
            // While a race runs, its record only grows.
            Some((before, Ok(summary))) if summary.end.is_none() && stamp.grew_from(&before) => {
                summary.read_on(file, stamp.bytes)
            }
            _ => Summary::read(name, file, stamp.bytes),
        };
        self.summaries.insert(name.to_owned(), (stamp, summary.clone()));
        let Summary { entry, end, .. } = summary?;
        let written = end.is_none() && state::is_locked(file);
        Ok(RecordEntry { outcome: state::outcome(end, written).to_owned(), ..entry })
    }

    /// The page of one race.
    ///
    /// # Errors
    /// A refusal, where there is no such record or it is damaged.
    pub fn race(&mut self, name: &str) -> Result<Bytes, Refusal> {
        let place = self.folder.join(name);
        self.answer("race", vec![name.to_owned()], |records| {
            let Some((name, record)) = records.first() else { return json(&()) };
            let race = knowledge::findings(record).and_then(|findings| page::race(record, findings, &place));
            json(&race.map_err(|failure| unreadable(name, &failure.message))?)
        })
    }

    /// An answer made of whole records, kept until one of them changes.
    ///
    /// # Errors
    /// A refusal, where one of the records does not exist or is damaged.
    pub fn answer(
        &mut self,
        kind: &'static str,
        names: Vec<String>,
        make: impl FnOnce(&[(String, Record)]) -> Result<Bytes, Refusal>,
    ) -> Result<Bytes, Refusal> {
        let files = names.iter().map(|name| open(&self.folder, name)).collect::<Result<Vec<File>, Refusal>>()?;
        let stamps = names.iter().zip(&files).map(|(name, file)| stamp(name, file)).collect::<Result<Vec<_>, _>>()?;
        let at = self.kept.iter().position(|kept| kept.kind == kind && kept.names == names);
        if let Some(at) = at {
            let kept = self.kept.remove(at);
            let grows = || files.iter().any(state::is_locked);
            if kept.stamps == stamps || kept.made.elapsed() < kept.cost * REST && grows() {
                let bytes = kept.bytes.clone();
                self.kept.push(kept);
                return Ok(bytes);
            }
        }
        let begun = Instant::now();
        let mut records = Vec::new();
        for (name, file) in names.iter().zip(&files) {
            records.push((name.clone(), load(name, file)?));
        }
        let bytes = make(&records)?;
        let made = Instant::now();
        self.kept.push(Kept { kind, names, stamps, made, cost: made - begun, bytes: bytes.clone() });
        while self.kept.len() > KEPT || self.kept.iter().map(|kept| kept.bytes.len()).sum::<usize>() > KEPT_BYTES {
            self.kept.remove(0);
        }
        Ok(bytes)
    }

    /// What the records that hold a workload have for trends.
    ///
    /// # Errors
    /// When the folder cannot be read. A record that cannot is left out: the list names it.
    pub fn figures(&mut self, workload: &str) -> Result<Vec<Arc<RecordFigures>>, Refusal> {
        let mut all = Vec::new();
        for (name, found) in self.survey()? {
            let holds = self.summaries.get(&name).is_some_and(|(_, summary)| {
                summary.as_ref().is_ok_and(|summary| summary.workloads.iter().any(|one| one == workload))
            });
            if found.is_err() || !holds {
                continue;
            }
            let Ok(file) = open(&self.folder, &name) else { continue };
            let Ok(stamp) = stamp(&name, &file) else { continue };
            let known = self.figures.get(&name).filter(|(before, _)| *before == stamp);
            if let Some(figures) = known.map(|(_, figures)| Arc::clone(figures)) {
                all.push(figures);
            } else if let Ok(record) = load(&name, &file) {
                let figures = Arc::new(stats::trend::figures(&record, &name));
                self.figures.insert(name, (stamp, Arc::clone(&figures)));
                all.push(figures);
            }
        }
        Ok(all)
    }
}

/// Names of the files that are called like records; of those that are no text what can be read of them.
fn names_in(folder: &Path) -> Result<Vec<Result<String, String>>, Refusal> {
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => {
            let sentence = format!("cannot list {}: {error}", model::text::escaped_path(folder));
            return Err(Refusal::new(StatusCode::INTERNAL_SERVER_ERROR, sentence));
        }
    };
    let named = entries.flatten().map(|entry| entry.file_name());
    let like_a_record = named.filter(|name| name.as_encoded_bytes().ends_with(END.as_bytes()));
    let text = |name: std::ffi::OsString| name.into_string().map_err(|name| name.to_string_lossy().into_owned());
    Ok(like_a_record.map(text).collect())
}

fn stamp(name: &str, file: &File) -> Result<Stamp, Refusal> {
    Stamp::of(file).map_err(|error| unreadable(name, &error.to_string()))
}

fn load(name: &str, mut file: &File) -> Result<Record, Refusal> {
    let mut bytes = Vec::new();
    let read = file.seek(SeekFrom::Start(0)).and_then(|_| file.read_to_end(&mut bytes));
    read.map_err(|error| unreadable(name, &error.to_string()))?;
    // A torn last line may end inside a character.
    Record::parse(&String::from_utf8_lossy(&bytes)).map_err(|error| unreadable(name, &error.to_string()))
}

/// As much of a line as a list needs.
#[derive(Deserialize)]
struct Brief<'a> {
    #[serde(borrow)]
    kind: Cow<'a, str>,
    #[serde(default)]
    outcome: serde_json::Value,
}

impl Summary {
    fn read(name: &str, mut file: &File, bytes: u64) -> Result<Summary, String> {
        file.seek(SeekFrom::Start(0)).map_err(|error| error.to_string())?;
        let mut reader = BufReader::new(file.take(bytes));
        let mut first = Vec::new();
        read_line(&mut reader, &mut first)?;
        let record = Record::parse(&String::from_utf8_lossy(&first)).map_err(|error| error.to_string())?;
        let header = record.header;
        let entry = RecordEntry {
            name: name.to_owned(),
            started: header.started,
            suite: header.plan.suite,
            lanes: header.lanes.into_iter().map(|lane| lane.name).collect(),
            machine: header.machine.in_one_line(),
            kernel: header.machine.kernel,
            outcome: String::new(),
            trials: 0,
        };
        let workloads = header.plan.workloads.into_iter().map(|workload| workload.name).collect();
        Summary { entry, workloads, end: None, read_bytes: first.len() as u64, lines: 1 }.read_on(file, bytes)
    }

    /// Reads what follows, up to the end of the last whole line.
    fn read_on(mut self, mut file: &File, bytes: u64) -> Result<Summary, String> {
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
            let brief: Brief = serde_json::from_str(&text)
                .map_err(|error| format!("line {} of this record is damaged ({error})", self.lines))?;
            match (brief.kind.as_ref(), brief.outcome.as_str()) {
                ("trial", _) => self.entry.trials += 1,
                ("resume", _) => self.end = None,
                ("end", Some("complete")) => self.end = Some(EndOutcome::Complete),
                ("end", Some("interrupted")) => self.end = Some(EndOutcome::Interrupted),
                ("end", _) => self.end = Some(EndOutcome::Failed),
                _ => {}
            }
        }
    }
}

fn read_line(reader: &mut impl BufRead, line: &mut Vec<u8>) -> Result<(), String> {
    reader.take(LINE_BYTES).read_until(b'\n', line).map_err(|error| error.to_string())?;
    match line.len() as u64 == LINE_BYTES {
        true => Err("one of its lines is too long for a record".to_owned()),
        false => Ok(()),
    }
}
