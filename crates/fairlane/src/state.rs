//! Where records live: the invoking user's own state folder, under sudo too.

use crate::commands::screening::{CONFIRMED, TUNED};
use crate::failure::Failure;
use crate::owned;
use crate::owner::Owner;
use crate::terminal;
use anyhow::anyhow;
use model::bounds::Lines;
use model::durability::DurabilityRecord;
use model::findings::Findings;
use model::record::{self, EndOutcome, Record};
use std::fs;
use std::io::{BufReader, ErrorKind};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// The state folder: `$XDG_STATE_HOME/fairlane`, by default `~/.local/state/fairlane`.
///
/// # Errors
/// When there is neither XDG_STATE_HOME nor a home folder.
pub fn state_folder() -> Result<PathBuf, Failure> {
    let owner = Owner::current();
    // Under sudo the variable, if it survived, is still the user's own wish.
    let from_variable = std::env::var_os("XDG_STATE_HOME").map(PathBuf::from).filter(|path| path.is_absolute());
    let base =
        from_variable.or_else(|| owner.home().map(|home| home.join(".local/state"))).ok_or_else(|| no_home(owner))?;
    Ok(base.join("fairlane"))
}

/// Nobody knows where the user's files go.
fn no_home(owner: Owner) -> Failure {
    Failure::usage(match owner.ids() {
        Some((user, _)) => format!(
            "the home folder of user {user}, who called sudo, is not known; name a file with -o FILE, or a folder: sudo \
             XDG_STATE_HOME=/absolute/folder fairlane …"
        ),
        None => "no home folder is known; set HOME or XDG_STATE_HOME".to_owned(),
    })
}

/// The folder of the records, made where it is missing.
///
/// # Errors
/// When it cannot be made.
pub fn runs_folder() -> Result<PathBuf, Failure> {
    make_folder("runs")
}

/// The folder of what `fairlane calibrate` keeps, made where it is missing.
///
/// # Errors
/// When it cannot be made.
pub fn calibrations_folder() -> Result<PathBuf, Failure> {
    make_folder("calibrations")
}

/// The folder of what `fairlane powercut` and `fairlane integrity` keep, made where it is missing.
///
/// # Errors
/// When it cannot be made.
pub fn durability_folder() -> Result<PathBuf, Failure> {
    make_folder("durability")
}

/// The folder of records of durability, whether or not it is there.
///
/// # Errors
/// Where the user is not known.
pub fn durability_path() -> Result<PathBuf, Failure> {
    Ok(state_folder()?.join("durability"))
}

/// How many records of durability are looked through, the newest first.
const DURABILITY_RECORDS: usize = 40;

/// The lanes that broke a promise in simulated power cuts or under damage on this machine. What cannot be read is passed over: no
/// advice fails for what it only adds.
pub fn broken_lanes() -> Vec<stats::advice::facts::Broken> {
    let paths = durability_records().unwrap_or_default();
    let records = paths.into_iter().rev().take(DURABILITY_RECORDS).filter_map(|path| load_durability(&path).ok());
    records.flat_map(|record| stats::durability::broken(&record)).collect()
}

/// The records of power cuts and damage kept, oldest first.
///
/// # Errors
/// When the folder cannot be read.
pub fn durability_records() -> Result<Vec<PathBuf>, Failure> {
    records_in(&durability_path()?)
}

/// The calibrations kept, newest first. What cannot be read is passed over: no race fails for what is
/// only quoted.
pub fn calibrations() -> impl Iterator<Item = Record> {
    let paths = state_folder().and_then(|folder| records_in(&folder.join("calibrations"))).unwrap_or_default();
    paths.into_iter().rev().filter_map(|path| load(&path).ok())
}

fn make_folder(name: &str) -> Result<PathBuf, Failure> {
    let folder = state_folder()?.join(name);
    owned::make_folders(&folder).map_err(|error| {
        // Without root the undo journal lies there too, so that -o alone would not do.
        let remedy = if lanes::host::is_root() { "-o or XDG_STATE_HOME" } else { "XDG_STATE_HOME" };
        Failure::failed(format!(
            "cannot make {}: {}; name another place with {remedy}",
            folder.display(),
            owned::plain(&error)
        ))
    })?;
    Ok(folder)
}

/// The records kept, oldest first.
pub fn records() -> Result<Vec<PathBuf>, Failure> {
    records_in(&state_folder()?.join("runs"))
}

/// Whether a record is one of those kept, the newest of which is `last`.
pub fn is_kept(record: &Path) -> bool {
    state_folder().is_ok_and(|folder| record.parent() == Some(&folder.join("runs")))
}

/// What the first line of a file says that it is, where it is one of a record, of whatever command and version.
pub fn kind_of_record(file: &Path) -> Option<String> {
    let first = Lines::new(BufReader::new(owned::open_to_read(file).ok()?)).next_line().ok()??.1.to_vec();
    let brief: record::Brief = serde_json::from_slice(&first).ok()?;
    Some(brief.kind.into_owned())
}

/// Whether a file begins as a record does, of whatever command and version.
pub fn is_record(file: &Path) -> bool {
    kind_of_record(file).is_some_and(|kind| kind == "header" || kind == "durability")
}

/// Reads a record of durability.
///
/// # Errors
/// When it cannot be read; with status 2 when it is none, damaged or newer than this version.
pub fn load_durability(path: &Path) -> Result<DurabilityRecord, Failure> {
    let file = owned::open_to_read(path).map_err(|error| anyhow!("cannot read {}: {error}", path.display()))?;
    DurabilityRecord::read(BufReader::new(file)).map_err(|error| Failure::usage(format!("{}: {error}", path.display())))
}

fn records_in(folder: &Path) -> Result<Vec<PathBuf>, Failure> {
    let entries = match owned::list(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(Failure::failed(format!("cannot list {}: {error}", folder.display()))),
    };
    let mut paths: Vec<PathBuf> =
        entries.into_iter().filter(|path| path.extension().is_some_and(|end| end == "jsonl")).collect();
    // Names begin with the second; of two races in one, the later one was written to last.
    let second = |path: &PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        name.split_once('Z').map_or_else(|| name.clone().into_owned(), |(time, _)| time.to_owned())
    };
    let written = |path: &PathBuf| owned::metadata(path).and_then(|of| of.modified()).ok();
    // A screening's report shows what followed from it, so that it is the newer one of them.
    let is_whole = |path: &PathBuf| {
        let stem = path.file_stem().unwrap_or_default().to_string_lossy();
        let part = stem.rsplit_once('-').map_or("", |(_, part)| part);
        part != CONFIRMED && part.strip_prefix(TUNED).is_none_or(|number| number.parse::<u32>().is_err())
    };
    paths.sort_by_cached_key(|path| (second(path), is_whole(path), written(path), path.clone()));
    Ok(paths)
}

/// A record of the folders that `fairlane records` lists, by its file's name.
fn kept_by_name(name: &str) -> Option<PathBuf> {
    let is_name = Path::new(name).file_name().is_some_and(|file| file == name);
    let folder = is_name.then(state_folder)?.ok()?;
    let paths = ["runs", "durability"].map(|kind| folder.join(kind).join(name));
    paths.into_iter().find(|path| owned::metadata(path).is_ok_and(|found| found.is_file()))
}

/// Finds the file that `last`, `last~N`, a path or the name of a record that is kept names.
///
/// # Errors
/// When there is no such record.
pub fn resolve(name: &str) -> Result<PathBuf, Failure> {
    let back = match name.strip_prefix("last") {
        Some("") => 0,
        Some(rest) if rest.starts_with('~') => rest[1..]
            .parse::<usize>()
            .map_err(|_| Failure::usage(format!("`{name}` names no record; write last, last~1 or a file")))?,
        _ => {
            let path = PathBuf::from(name);
            return match owned::metadata(&path) {
                Ok(found) if found.is_file() => Ok(path),
                Err(error) if error.kind() == ErrorKind::PermissionDenied => Err(Failure::usage(format!(
                    "cannot look at {name}: {error}; name a record that may be read, and no link to it"
                ))),
                Ok(_) => Err(Failure::usage(format!("{name} is no regular file; name the file of a record"))),
                Err(_) => kept_by_name(name).ok_or_else(|| {
                    Failure::usage(format!(
                        "there is no record {name}; `fairlane records` lists the ones kept, or name a file"
                    ))
                }),
            };
        }
    };
    let records = records()?;
    match records.len().checked_sub(back + 1) {
        Some(index) => Ok(records[index].clone()),
        None if records.is_empty() => Err(Failure::usage("no record is kept yet; run `fairlane race` first")),
        None => Err(Failure::usage(format!(
            "{} kept, so `{name}` names none; `fairlane records` lists what there is",
            match records.len() {
                1 => "one record is".to_owned(),
                count => format!("{count} records are"),
            }
        ))),
    }
}

/// A record's file with the name that messages call it by.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NamedFile {
    /// As it was named, or as the pattern found it.
    pub name: String,
    /// The file.
    pub path: PathBuf,
    /// Its device and inode; `None`: it cannot be looked at.
    identity: Option<(u64, u64)>,
}

impl NamedFile {
    /// A file that is there, under the name that was given.
    pub fn new(name: String, path: PathBuf) -> Self {
        let identity = owned::metadata(&path).map(|of| (of.dev(), of.ino())).ok();
        NamedFile { name, path, identity }
    }

    /// Its device and inode; `None`: it cannot be looked at.
    pub fn identity(&self) -> Option<(u64, u64)> {
        self.identity
    }

    /// Whether it is the same file, under whatever name.
    pub fn is(&self, other: &NamedFile) -> bool {
        self.path == other.path || (self.identity.is_some() && self.identity == other.identity)
    }
}

/// Finds the files that names and patterns stand for, each file once. A name that is a file is that
/// file, whatever characters it holds; `*`, `?`, `[…]` and `**` are expanded here, without a shell.
///
/// # Errors
/// When a name or a pattern stands for no record.
pub fn resolve_all(names: &[String]) -> Result<Vec<NamedFile>, Failure> {
    let mut files: Vec<NamedFile> = Vec::new();
    for name in names {
        for found in expand(name)? {
            // One file under two names is one record. It is opened by the path that was named: a user's link that root
            // resolves would be root's own choice from then on.
            if !files.iter().any(|file| file.is(&found)) {
                files.push(found);
            }
        }
    }
    Ok(files)
}

/// The files that one name or pattern stands for.
///
/// # Errors
/// As [`resolve_all`].
pub fn expand(name: &str) -> Result<Vec<NamedFile>, Failure> {
    let path = Path::new(name);
    let kind = owned::metadata(path);
    if kind.as_ref().is_ok_and(fs::Metadata::is_dir) {
        return Err(Failure::usage(format!(
            "{name} is a folder; name its records, such as '{}/*.jsonl'",
            path.display()
        )));
    }
    if kind.is_ok_and(|of| of.is_file()) || !name.contains(['*', '?', '[']) {
        return Ok(vec![NamedFile::new(name.to_owned(), resolve(name)?)]);
    }
    let options =
        glob::MatchOptions { case_sensitive: true, require_literal_separator: true, require_literal_leading_dot: true };
    // With the user's rights: names in folders of root's are nobody's.
    let found = owned::as_owner(|| Ok(glob::glob_with(name, options).map(Iterator::collect::<Vec<_>>)))
        .map_err(|error| Failure::failed(format!("cannot look through `{name}`: {error}")))?
        .map_err(|error| Failure::usage(format!("`{name}` is no pattern ({error}); write it like 'old/*.jsonl'")))?;
    let mut files = Vec::new();
    for entry in found {
        let path = entry.map_err(|error| Failure::failed(format!("cannot look through `{name}`: {error}")))?;
        // Each record's report lies beside it.
        let report = path.extension().is_some_and(|end| end == "html");
        if !report && owned::metadata(&path).is_ok_and(|of| of.is_file()) {
            files.push(NamedFile::new(path.display().to_string(), path));
        }
    }
    match files.is_empty() {
        true => Err(Failure::usage(format!(
            "no file matches `{name}`; check the folder's name, or race with `-o FILE` to put records there"
        ))),
        false => Ok(files),
    }
}

/// Reads a record from its file.
///
/// # Errors
/// When it cannot be read; with status 2 when it is none, damaged or newer than this version.
pub fn load(path: &Path) -> Result<Record, Failure> {
    let file = owned::open_to_read(path).map_err(|error| anyhow!("cannot read {}: {error}", path.display()))?;
    Record::read(BufReader::with_capacity(256 << 10, file))
        .map_err(|error| Failure::usage(format!("{}: {error}", path.display())))
}

/// Reads a record to show it. Of a race that is still under way, one line says so on standard error:
/// `last` may name one that somebody else has just begun.
///
/// # Errors
/// As [`load`].
pub fn load_to_show(path: &Path) -> Result<Record, Failure> {
    let record = load(path)?;
    if record.end.is_none() && is_being_written(path) {
        terminal::say!("{}: this race is still running; figures so far", path.display());
    }
    Ok(record)
}

/// Says in its findings that a race is still under way.
pub fn mark_running(findings: &mut Findings, record: &Record, path: &Path) {
    if record.end.is_none() && is_being_written(path) {
        findings.outcome = outcome(None, true).to_owned();
        stats::level::still_running(findings);
    }
}

/// Whether a race holds the lock on its record.
pub fn is_being_written(path: &Path) -> bool {
    owned::open_to_read(path).is_ok_and(|file| is_locked(&file))
}

/// Whether whoever writes a file holds its lock. The lock is tried: shared, without waiting, and given
/// back at once.
pub fn is_locked(file: &fs::File) -> bool {
    let tried = rustix::fs::flock(file, rustix::fs::FlockOperation::NonBlockingLockShared);
    if tried.is_ok() {
        let _ = rustix::fs::flock(file, rustix::fs::FlockOperation::Unlock);
    }
    tried == Err(rustix::io::Errno::WOULDBLOCK)
}

/// How a race ended, as lists say it. `written`: somebody still writes the record.
pub fn outcome(end: Option<EndOutcome>, written: bool) -> &'static str {
    match end {
        Some(EndOutcome::Complete) => "complete",
        Some(EndOutcome::Interrupted | EndOutcome::Unexplained) => "interrupted",
        Some(EndOutcome::Failed) => "failed",
        None if written => "running",
        None => "unfinished",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_screening_is_newer_than_what_followed_from_it() {
        let place = tempfile::tempdir().unwrap();
        let names = [
            "2026-11-22T10-11-12Z-quick-00aa-confirmed.jsonl",
            "2026-11-22T10-11-12Z-quick-00aa-tune1.jsonl",
            "2026-11-22T10-11-12Z-quick-00aa.jsonl",
            "2026-11-22T10-11-13Z-my-tune-00ab.jsonl",
        ];
        for name in [names[2], names[3], names[1], names[0]] {
            fs::write(place.path().join(name), "").unwrap();
        }
        let sorted = records_in(place.path()).unwrap();
        let last: Vec<_> = sorted[2..].iter().filter_map(|path| path.file_name()?.to_str()).collect();
        assert_eq!(last, names[2..]);
    }

    #[test]
    fn a_file_is_one_record_under_all_of_its_names() {
        let place = tempfile::tempdir().unwrap();
        let at = |name: &str| place.path().join(name).display().to_string();
        fs::write(at("a.jsonl"), "").unwrap();
        fs::write(at("c[1].jsonl"), "").unwrap();
        fs::hard_link(at("a.jsonl"), at("hard.jsonl")).unwrap();
        std::os::unix::fs::symlink("a.jsonl", at("soft.jsonl")).unwrap();
        let names = |of: &[String]| resolve_all(of).unwrap().into_iter().map(|file| file.name).collect::<Vec<_>>();
        assert_eq!(names(&[at("./a.jsonl"), at("soft.jsonl"), at("hard.jsonl")]), [at("./a.jsonl")]);
        assert_eq!(names(&[at("*.jsonl"), at("soft.jsonl"), at("c[1].jsonl")]), [at("a.jsonl"), at("c[1].jsonl")]);
        assert!(resolve_all(&[at("")]).unwrap_err().message.contains("is a folder"));
        assert!(resolve_all(&[at("x*")]).unwrap_err().message.contains("no file matches"));
    }
}
