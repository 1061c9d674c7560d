//! The folder of records: what lies in it, opened for reading and never outside of it.
//!
//! A record is read again only when it changed (its inode, length or time of writing did), lists read no
//! more than what was appended, and the page of a race that is still running is made at most so often
//! that it costs a fiftieth of a CPU. A record that would take more memory than a server beside a race may
//! have is not read at all.

use super::api::{Refusal, json};
use crate::commands::page;
use crate::commands::screen::tilde;
use crate::{knowledge, owned, state};
use axum::body::Bytes;
use axum::http::StatusCode;
use model::page::{EntryWorkload, RecordEntry, RecordList};
use model::record::{EndOutcome, Record};
use rustix::fs::{Mode, OFlags, ResolveFlags};
use rustix::io::Errno;
use serde::Deserialize;
use stats::trend::RecordFigures;
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::{BufRead, BufReader, Read, Seek, SeekFrom};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// What [`state::outcome`] says of a record that is being written.
const RUNNING: &str = "running";
/// How the name of a record ends.
const END: &str = ".jsonl";
const NOTHING: &str = "there is no such record";
/// The longest line of a record that is believed; a header or trial has some kilobytes.
const LINE_BYTES: u64 = model::bounds::LINE_BYTES;
/// Answers kept: of the pages that somebody goes to and fro between.
const KEPT: usize = 12;
/// Bytes of answers kept.
const KEPT_BYTES: usize = 64 << 20;
/// Bytes of records held at once. Read and taken apart a record needs about three times its file, and what
/// this process takes is missing from the page cache of a race; a race of the suite `general` writes some
/// megabytes.
const HELD_BYTES: u64 = 256 << 20;
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
    fn new(file: &File) -> std::io::Result<Stamp> {
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

/// Records of one answer: read when they are asked for, so that no more of them are in memory than are
/// needed at once.
pub struct Opened<'a> {
    records: Vec<(&'a str, &'a File)>,
}

impl Opened<'_> {
    /// The record of a place in the list of names, with its name.
    ///
    /// # Errors
    /// A refusal, where it is damaged or too large.
    pub fn read(&self, at: usize) -> Result<(&str, Record), Refusal> {
        let (name, file) = self.records[at];
        Ok((name, load(name, file)?))
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        self.records.len()
    }
}

/// What trends are made of.
pub struct Figures {
    /// Of every record that could be read.
    pub all: Vec<Arc<RecordFigures>>,
    /// Why others could not, one sentence each.
    pub left_out: Vec<String>,
}

/// The folder, and what was read of it.
pub struct RecordStore {
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
    // Of a pipe or a device nothing is waited for.
    let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK | OFlags::NOCTTY;
    let beneath = ResolveFlags::BENEATH | ResolveFlags::NO_MAGICLINKS;
    // Under sudo with the rights of the user whose folder it is: it may be a link into one of root's.
    let opened = owned::as_owner(|| {
        let directory = owned::open_by_no_process(folder, owned::FOLDER).map_err(|_| Errno::NOENT)?;
        match rustix::fs::openat2(&directory, name, flags, Mode::empty(), beneath) {
            // Before Linux 5.6, and where a sandbox knows no newer calls: then without any link.
            Err(Errno::NOSYS | Errno::PERM) => {
                Ok(rustix::fs::openat(&directory, name, flags | OFlags::NOFOLLOW, Mode::empty())?)
            }
            opened => Ok(opened?),
        }
    });
    let opened = opened.map_err(|error| Errno::from_io_error(&error).unwrap_or(Errno::IO));
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

impl RecordStore {
    /// Nothing is read yet.
    pub fn new(folder: PathBuf) -> Self {
        RecordStore { folder, summaries: BTreeMap::new(), figures: BTreeMap::new(), kept: Vec::new() }
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
        let stamp = Stamp::new(file).map_err(|error| error.to_string())?;
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
        let instead = format!("fairlane report {} --format html -o report.html", tilde(&place));
        self.answer("race", vec![name.to_owned()], &instead, |records| {
            let (name, record) = records.read(0)?;
            let race = knowledge::findings(&record).and_then(|findings| page::race(&record, findings, &place));
            json(&race.map_err(|failure| unreadable(name, &failure.message))?)
        })
    }

    /// An answer made of whole records, kept until one of them changes. Of several the first is held beside
    /// one other at a time. `instead`: the command that does the same where the records are too large.
    ///
    /// # Errors
    /// A refusal, where one of the records does not exist, is damaged, or is too large.
    pub fn answer(
        &mut self,
        kind: &'static str,
        names: Vec<String>,
        instead: &str,
        make: impl FnOnce(&Opened) -> Result<Bytes, Refusal>,
    ) -> Result<Bytes, Refusal> {
        let files = names.iter().map(|name| open(&self.folder, name)).collect::<Result<Vec<File>, Refusal>>()?;
        let stamps = names.iter().zip(&files).map(|(name, file)| stamp(name, file)).collect::<Result<Vec<_>, _>>()?;
        let at = self.kept.iter().position(|kept| kept.kind == kind && kept.names == names);
        if let Some(at) = at {
            let kept = self.kept.remove(at);
            // The last line of a race is written before its lock is released: then its answer is the last one,
            // and nobody would ask again for a newer.
            let mut grows = || names.iter().zip(&files).any(|(name, file)| self.is_growing(name, file));
            if kept.stamps == stamps || kept.made.elapsed() < kept.cost * REST && grows() {
                let bytes = kept.bytes.clone();
                self.kept.push(kept);
                return Ok(bytes);
            }
        }
        let at_once = stamps.first().map_or(0, |first| first.bytes)
            + stamps.iter().skip(1).map(|stamp| stamp.bytes).max().unwrap_or(0);
        if at_once > HELD_BYTES {
            let sentence = format!("{} for this server; `{instead}` reads them", too_large(at_once));
            return Err(unreadable(&names.join(", "), &sentence));
        }
        let begun = Instant::now();
        let records = names.iter().map(String::as_str).zip(&files).collect();
        let bytes = make(&Opened { records })?;
        let made = Instant::now();
        self.kept.push(Kept { kind, names, stamps, made, cost: made - begun, bytes: bytes.clone() });
        while self.kept.len() > KEPT || self.kept.iter().map(|kept| kept.bytes.len()).sum::<usize>() > KEPT_BYTES {
            self.kept.remove(0);
        }
        Ok(bytes)
    }

    /// Whether a race still writes trials into a record.
    fn is_growing(&mut self, name: &str, file: &File) -> bool {
        state::is_locked(file) && self.entry(name, file).is_ok_and(|entry| entry.outcome == RUNNING)
    }

    /// What the records that hold a workload have for trends.
    ///
    /// # Errors
    /// When the folder cannot be read. A record that cannot is left out: the list names it.
    pub fn figures(&mut self, workload: &str) -> Result<Figures, Refusal> {
        let (mut all, mut left_out) = (Vec::new(), Vec::new());
        for (name, found) in self.survey()? {
            let holds = self.summaries.get(&name).is_some_and(|(_, summary)| {
                summary.as_ref().is_ok_and(|of| of.entry.workloads.iter().any(|one| one.name == workload))
            });
            if found.is_err() || !holds {
                continue;
            }
            let Ok(file) = open(&self.folder, &name) else { continue };
            let Ok(stamp) = stamp(&name, &file) else { continue };
            let known = self.figures.get(&name).filter(|(before, _)| *before == stamp);
            if let Some(figures) = known.map(|(_, figures)| Arc::clone(figures)) {
                all.push(figures);
            } else if stamp.bytes > HELD_BYTES {
                left_out.push(format!("{}: {} for this server", shown(&name), too_large(stamp.bytes)));
            } else if let Ok(record) = load(&name, &file) {
                let figures = Arc::new(stats::trend::figures(&record, &name));
                self.figures.insert(name, (stamp, Arc::clone(&figures)));
                all.push(figures);
            }
        }
        Ok(Figures { all, left_out })
    }
}

/// Why so many bytes of records are not read.
fn too_large(bytes: u64) -> String {
    let [bytes, most] = [bytes, HELD_BYTES].map(|bytes| model::units::human_bytes(bytes as f64));
    format!("{bytes} to read at once are more than the {most} that are kept free")
}

/// Names of the files that are called like records; of those that are no text what can be read of them.
fn names_in(folder: &Path) -> Result<Vec<Result<String, String>>, Refusal> {
    let named = match owned::names(folder) {
        Ok(named) => named,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => {
            let sentence = format!("cannot list {}: {error}", model::text::escaped_path(folder));
            return Err(Refusal::new(StatusCode::INTERNAL_SERVER_ERROR, sentence));
        }
    };
    let like_a_record = named.into_iter().filter(|name| name.as_encoded_bytes().ends_with(END.as_bytes()));
    let text = |name: std::ffi::OsString| name.into_string().map_err(|name| name.to_string_lossy().into_owned());
    Ok(like_a_record.map(text).collect())
}

fn stamp(name: &str, file: &File) -> Result<Stamp, Refusal> {
    Stamp::new(file).map_err(|error| unreadable(name, &error.to_string()))
}

fn load(name: &str, mut file: &File) -> Result<Record, Refusal> {
    file.seek(SeekFrom::Start(0)).map_err(|error| unreadable(name, &error.to_string()))?;
    Record::read(BufReader::with_capacity(256 << 10, file)).map_err(|error| unreadable(name, &error.to_string()))
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
    fn read(name: &str, mut file: &File, bytes: u64) -> Result<Summary, String> {
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
}

fn read_line(reader: &mut impl BufRead, line: &mut Vec<u8>) -> Result<(), String> {
    reader.take(LINE_BYTES).read_until(b'\n', line).map_err(|error| error.to_string())?;
    match line.len() as u64 == LINE_BYTES {
        true => Err("one of its lines is too long for a record".to_owned()),
        false => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::fs::{FlockOperation, flock};
    use std::io::Write;

    const RECORD: &str = include_str!("../../tests/fixtures/schema1.jsonl");

    /// An answer that costs enough for its rest to outlast a slow test machine, and tells how much it read.
    fn asked(store: &mut RecordStore, name: &str) -> Bytes {
        let make = |records: &Opened| {
            std::thread::sleep(Duration::from_millis(500));
            let (_, record) = records.read(0)?;
            Ok(Bytes::from(format!("{} {:?}", record.trials.len(), record.end)))
        };
        store.answer("test", vec![name.to_owned()], "fairlane report", make).unwrap()
    }

    #[test]
    fn the_page_of_a_running_race_rests_and_that_of_one_that_ended_never_does() {
        let folder = tempfile::tempdir().unwrap();
        let (end, lines): (Vec<&str>, Vec<&str>) =
            RECORD.split_inclusive('\n').partition(|line| line.starts_with("{\"kind\":\"end\""));
        let (last, before) = lines.split_last().unwrap();
        let mut file = File::options().append(true).create_new(true).open(folder.path().join("a.jsonl")).unwrap();
        file.write_all(before.concat().as_bytes()).unwrap();
        flock(&file, FlockOperation::LockExclusive).unwrap();
        let mut store = RecordStore::new(folder.path().to_owned());
        let first = asked(&mut store, "a.jsonl");
        file.write_all(last.as_bytes()).unwrap();
        assert_eq!(asked(&mut store, "a.jsonl"), first, "it rests while the race goes on");
        // The race has ended, and still undoes its lanes with the record locked.
        file.write_all(end.concat().as_bytes()).unwrap();
        let whole = asked(&mut store, "a.jsonl");
        assert!(whole != first && whole.ends_with(b"Some(Complete)"), "{whole:?}");
    }

    #[test]
    fn records_larger_than_a_server_may_hold_are_refused_before_they_are_read() {
        let folder = tempfile::tempdir().unwrap();
        let make = |name: &str, bytes: u64| {
            let mut file = File::create(folder.path().join(name)).unwrap();
            file.write_all(RECORD.as_bytes()).unwrap();
            file.set_len(bytes.max(RECORD.len() as u64)).unwrap();
        };
        make("small.jsonl", 0);
        make("half.jsonl", HELD_BYTES / 2);
        make("most.jsonl", HELD_BYTES / 2 + 1);
        make("large.jsonl", HELD_BYTES + 1);
        let mut store = RecordStore::new(folder.path().to_owned());
        let mut answer = |names: &[&str]| {
            let names = names.iter().map(|&name| name.to_owned()).collect();
            store.answer("test", names, "fairlane compare A B", |records| Ok(Bytes::from(vec![b'.'; records.count()])))
        };
        for names in [&["large.jsonl"][..], &["half.jsonl", "small.jsonl", "most.jsonl"]] {
            let refused = answer(names).unwrap_err();
            assert_eq!(refused.status(), StatusCode::UNPROCESSABLE_ENTITY);
            let said = format!("{refused:?}");
            assert!(said.contains("`fairlane compare A B`") && said.contains("256 MiB"), "{said}");
        }
        // Those after the first are held one at a time.
        assert_eq!(answer(&["half.jsonl", "half.jsonl", "half.jsonl"]).unwrap(), "...");
        let refused = store.race("large.jsonl").unwrap_err();
        assert!(format!("{refused:?}").contains("fairlane report "), "{refused:?}");
    }
}
