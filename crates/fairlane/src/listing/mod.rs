//! A folder of records: what lies in it, opened for reading and never outside of it.
//!
//! A record is opened only where nothing that is known of it holds any more (its inode, length or time of writing changed), or
//! where it has no end, so that somebody may be writing it. What is known comes from this process, or from the index that
//! commands keep of the user's own records.

mod index;
mod summary;

pub use index::Index;
pub use summary::{Stamp, Summary};

use crate::{owned, state};
use model::page::RecordEntry;
use model::record::Record;
use rustix::fs::{AtFlags, FileType, Mode, OFlags, ResolveFlags};
use rustix::io::Errno;
use stats::trend::RecordFigures;
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::fs::File;
use std::io::{self, BufReader, Seek, SeekFrom};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// How the name of a record ends.
const END: &str = ".jsonl";
/// Why a record is not opened that is not there.
pub const NOTHING: &str = "there is no such record";
/// Figures of so many records are written into the index at once.
const SAVED_AT_ONCE: usize = 256;

/// Why a screening has no part in a trend.
const RUNS_OF_A_DESIGN: &str = "lanes of a screening are runs of a design, and have no course from record to record";

/// A file's name, and what it is or why it cannot be read.
pub type Surveyed = (String, Result<RecordEntry, String>);

/// What was found of a file, as it was when it had that stamp.
pub type Known = (Stamp, Result<Summary, String>);

/// A record's name, its stamp, and what it has for trends.
type Measured = (String, Stamp, Arc<RecordFigures>);

/// Why a record is not opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Unopened {
    /// This user may not read it.
    pub is_forbidden: bool,
    /// In words.
    pub why: &'static str,
}

/// What trends are made of.
pub struct Figures {
    /// Of every record that could be read.
    pub all: Vec<Arc<RecordFigures>>,
    /// Why others could not, one sentence each; of screenings one for all of them.
    pub left_out: Vec<String>,
    /// How many screenings hold the workload.
    pub screenings: usize,
}

impl Figures {
    /// Without those of screenings.
    pub fn new(mut all: Vec<Arc<RecordFigures>>, mut left_out: Vec<String>) -> Figures {
        let count = all.len();
        all.retain(|of| !of.is_screening());
        let screenings = count - all.len();
        match screenings {
            0 => {}
            1 => left_out.push(format!("1 screening: {RUNS_OF_A_DESIGN}")),
            many => left_out.push(format!("{many} screenings: {RUNS_OF_A_DESIGN}")),
        }
        Figures { all, left_out, screenings }
    }
}

/// The folder, and what was read of it.
pub struct Listing {
    folder: PathBuf,
    index: Option<Index>,
    /// Larger records are not read whole.
    most_bytes: u64,
    summaries: BTreeMap<String, Known>,
    figures: BTreeMap<String, (Stamp, Arc<RecordFigures>)>,
    /// Whether the index was read.
    is_begun: bool,
    /// How often a record was opened.
    opened: u64,
}

/// A name as messages show it.
pub fn shown(name: &str) -> String {
    let shown = model::text::escaped(name.as_bytes());
    match shown.char_indices().nth(200) {
        Some((end, _)) => format!("{}…", &shown[..end]),
        None => shown,
    }
}

/// Opens a record of a folder for reading. A link may lead to another place in the folder, and nowhere else.
///
/// # Errors
/// Where there is no such file, it leads out of the folder, or the user may not read it.
pub fn open(folder: &Path, name: &str) -> Result<File, Unopened> {
    let no = |why: &'static str| Unopened { is_forbidden: false, why };
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
        Err(Errno::ACCESS) => return Err(Unopened { is_forbidden: true, why: "this user may not read it" }),
        Err(Errno::XDEV | Errno::LOOP) => return Err(no("it is a link that leads out of the folder")),
        Err(_) => return Err(no("it cannot be opened")),
    };
    match file.metadata() {
        Ok(of) if of.is_file() => Ok(file),
        _ => Err(no("it is no file")),
    }
}

/// Reads a whole record from its beginning.
///
/// # Errors
/// Why it is none.
pub fn load(mut file: &File) -> Result<Record, String> {
    file.seek(SeekFrom::Start(0)).map_err(|error| error.to_string())?;
    Record::read(BufReader::with_capacity(256 << 10, file)).map_err(|error| error.to_string())
}

impl Listing {
    /// Nothing is read yet. Records of more than `most_bytes` are read for no figures.
    pub fn new(folder: PathBuf, index: Option<Index>, most_bytes: u64) -> Self {
        Listing {
            folder,
            index,
            most_bytes,
            summaries: BTreeMap::new(),
            figures: BTreeMap::new(),
            is_begun: false,
            opened: 0,
        }
    }

    /// Where it is.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Every file that is named like a record, with what it is, in the order of their names.
    ///
    /// # Errors
    /// When the folder cannot be read; one that does not exist is empty.
    pub fn survey(&mut self) -> io::Result<Vec<Surveyed>> {
        let named = look_through(&self.folder)?;
        let kept = self.begin();
        let (mut found, mut changed) = (Vec::new(), BTreeSet::new());
        for (name, stamp) in named {
            let name = match name.into_string() {
                Ok(name) => name,
                Err(name) => {
                    let shown = name.to_string_lossy().into_owned();
                    found.push((shown, Err("its name is no UTF-8 text; rename it".to_owned())));
                    continue;
                }
            };
            let entry = stamp.and_then(|stamp| self.known(&name, &stamp)).unwrap_or_else(|| {
                let before = self.summaries.get(&name).map(|(stamp, _)| *stamp);
                let entry = self.read(&name);
                if self.summaries.get(&name).map(|(stamp, _)| *stamp) != before {
                    changed.insert(name.clone());
                }
                entry
            });
            found.push((name, entry));
        }
        let there: BTreeSet<&str> = found.iter().map(|(name, _)| name.as_str()).collect();
        self.summaries.retain(|name, _| there.contains(name.as_str()));
        self.figures.retain(|name, _| there.contains(name.as_str()));
        let gone: Vec<&str> = kept.iter().map(String::as_str).filter(|name| !there.contains(name)).collect();
        self.save(&changed, &gone);
        Ok(found)
    }

    /// Takes from the index what it holds, once; answers the names that stand in it.
    fn begin(&mut self) -> BTreeSet<String> {
        if std::mem::replace(&mut self.is_begun, true) {
            return BTreeSet::new();
        }
        let entries = self.index.as_ref().map(Index::entries).unwrap_or_default();
        let names = entries.keys().cloned().collect();
        for (name, known) in entries {
            self.summaries.entry(name).or_insert(known);
        }
        names
    }

    fn save(&self, changed: &BTreeSet<String>, gone: &[&str]) {
        let Some(index) = self.index.as_ref().filter(|index| index.may_write()) else { return };
        if changed.is_empty() && gone.is_empty() {
            return;
        }
        let changed = changed.iter().filter_map(|name| Some((name.as_str(), self.summaries.get(name)?))).collect();
        index.save(changed, gone);
    }

    /// What is known of a file that has this stamp, where nothing of it can have changed.
    fn known(&self, name: &str, stamp: &Stamp) -> Option<Result<RecordEntry, String>> {
        match self.summaries.get(name)? {
            (before, _) if before != stamp => None,
            (_, Err(why)) => Some(Err(why.clone())),
            // Whether somebody writes it, its lock alone tells.
            (_, Ok(summary)) => summary.end.is_some().then(|| Ok(summary.listed(false))),
        }
    }

    fn read(&mut self, name: &str) -> Result<RecordEntry, String> {
        self.opened += 1;
        let file = open(&self.folder, name).map_err(|unopened| unopened.why.to_owned())?;
        self.entry(name, &file)
    }

    /// What a list says of a record that is open.
    ///
    /// # Errors
    /// Why it is none.
    pub fn entry(&mut self, name: &str, file: &File) -> Result<RecordEntry, String> {
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
        let summary = summary?;
        Ok(summary.listed(summary.end.is_none() && state::is_locked(file)))
    }

    /// What the records that hold a workload have for trends.
    ///
    /// # Errors
    /// When the folder cannot be read. A record that cannot is left out: the list names it.
    pub fn figures(&mut self, workload: &str) -> io::Result<Figures> {
        let surveyed = self.survey()?;
        let mut kept = self.index.as_ref().map(|index| index.figures(workload)).unwrap_or_default();
        let (mut all, mut left_out, mut new) = (Vec::new(), Vec::new(), Vec::new());
        for (name, found) in surveyed {
            let Some(stamp) = self.holding(&name, workload).filter(|_| found.is_ok()) else { continue };
            let known = self.figures.get(&name).filter(|(before, _)| *before == stamp);
            if let Some((_, figures)) = known {
                all.push(Arc::clone(figures));
            } else if let Some((_, figures)) = kept.remove(&name).filter(|(before, _)| *before == stamp) {
                all.push(Arc::new(figures));
            } else if stamp.bytes > self.most_bytes {
                left_out.push(format!("{}: {} for this server", shown(&name), too_large(stamp.bytes, self.most_bytes)));
            } else if let Some((stamp, figures)) = self.measured(&name) {
                all.push(self.remember(name, workload, (stamp, figures), &mut new));
            }
        }
        self.save_figures(&mut new);
        Ok(Figures::new(all, left_out))
    }

    /// The stamp of a record, where it holds a workload.
    fn holding(&self, name: &str, workload: &str) -> Option<Stamp> {
        let (stamp, summary) = self.summaries.get(name)?;
        let entry = &summary.as_ref().ok()?.entry;
        entry.workloads.iter().any(|one| one.name == workload).then_some(*stamp)
    }

    /// The figures of a record, read whole.
    fn measured(&mut self, name: &str) -> Option<(Stamp, Arc<RecordFigures>)> {
        self.opened += 1;
        let file = open(&self.folder, name).ok()?;
        let stamp = Stamp::new(&file).ok()?;
        let record = load(&file).ok()?;
        Some((stamp, Arc::new(stats::trend::figures(&record, name))))
    }

    /// Keeps figures: in the index where this process writes it, and else with itself. Answers what the workload needs.
    fn remember(
        &mut self,
        name: String,
        workload: &str,
        (stamp, figures): (Stamp, Arc<RecordFigures>),
        new: &mut Vec<Measured>,
    ) -> Arc<RecordFigures> {
        if !self.index.as_ref().is_some_and(Index::may_write) {
            self.figures.insert(name, (stamp, Arc::clone(&figures)));
            return figures;
        }
        let needed = Arc::new(figures.only(workload));
        new.push((name, stamp, figures));
        if new.len() >= SAVED_AT_ONCE {
            self.save_figures(new);
        }
        needed
    }

    fn save_figures(&self, new: &mut Vec<Measured>) {
        if let Some(index) = self.index.as_ref().filter(|_| !new.is_empty()) {
            index.save_figures(new);
        }
        new.clear();
    }
}

/// Why so many bytes of records are not read.
pub fn too_large(bytes: u64, most: u64) -> String {
    let [bytes, most] = [bytes, most].map(|bytes| model::units::human_bytes(bytes as f64));
    format!("{bytes} to read at once are more than the {most} that are kept free")
}

/// Names of the files that are called like records, each with its stamp where it is a regular file itself. Of a folder that
/// does not exist none.
fn look_through(folder: &Path) -> io::Result<Vec<(OsString, Option<Stamp>)>> {
    let looked = owned::as_owner(|| {
        let opened = owned::open_by_no_process(folder, owned::FOLDER)?;
        let mut found = Vec::new();
        for entry in rustix::fs::Dir::read_from(&opened)?.filter_map(Result::ok) {
            let name = std::ffi::OsStr::from_bytes(entry.file_name().to_bytes());
            if !name.as_bytes().ends_with(END.as_bytes()) {
                continue;
            }
            let stat = rustix::fs::statat(&opened, name, AtFlags::SYMLINK_NOFOLLOW).ok();
            let is_file = |mode: u32| FileType::from_raw_mode(mode) == FileType::RegularFile;
            let stamp = stat.filter(|stat| is_file(stat.st_mode)).map(|stat| Stamp::from(&stat));
            found.push((name.to_owned(), stamp));
        }
        Ok(found)
    });
    match looked {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
        Err(error) => Err(error),
        Ok(mut found) => {
            found.sort_by(|(a, _), (b, _)| a.cmp(b));
            Ok(found)
        }
    }
}

#[cfg(test)]
mod tests;
