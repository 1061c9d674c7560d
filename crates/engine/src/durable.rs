//! Records that are made durable one by one, and what is found of them after a power cut.
//!
//! A record counts as acknowledged once every call that makes it safe has returned: only that is a promise.
//! To add a kind: one file here and one row in [`KINDS`]; one that is raced has a word in the model.

mod append;
mod below;
mod content;
mod database;
mod replace;
mod sequences;
mod timed;
mod traced;

pub use append::{Call, run_telling};
pub use content::bytes_of_record as bytes_of;
pub(crate) use timed::DurableWork;
pub use traced::{MOST_WRITTEN_BYTES as MOST_TRACED_BYTES, TracedWork};

use model::kinds::durable::DurableRecord;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::path::Path;

/// What a kind of work is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Terms {
    /// How many records.
    pub records: u64,
    /// Of every size and byte.
    pub seed: u64,
    /// On a filesystem of its own: this record alone, of those that there are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub only: Option<u64>,
}

impl Terms {
    /// So many records, all on one filesystem.
    pub const fn new(records: u64, seed: u64) -> Terms {
        Terms { records, seed, only: None }
    }

    /// The records that this filesystem is for.
    pub fn numbers(&self) -> std::ops::RangeInclusive<u64> {
        self.only.map_or(1..=self.records, |one| one..=one)
    }
}

/// Called with each record once it is safe.
pub type Acknowledge<'a> = &'a mut dyn FnMut(u64) -> std::io::Result<()>;

/// Records of a kind of work at most, where a stranger says how many; those of the table write some hundreds.
pub const MOST_RECORDS: u64 = 10_000;

/// What is wrong after a cut, in records.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Found {
    /// Acknowledged and not there, or not readable.
    pub lost: u64,
    /// Acknowledged and there with wrong bytes.
    pub torn: u64,
    /// An older state than the acknowledged one, or bytes that were never written.
    pub stale: u64,
    /// A replacement that is neither the old nor the new file.
    pub mixed: u64,
    /// The first thing that is wrong, as a sentence; empty: nothing.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub first: String,
    /// Names that were looked for, files whose sizes were compared, and bytes, where the work counts them.
    #[serde(default)]
    pub names: u64,
    /// See `names`.
    #[serde(default)]
    pub files: u64,
    /// See `names`.
    #[serde(default)]
    pub bytes: u64,
}

impl Found {
    /// Whether nothing is wrong.
    pub fn is_clean(&self) -> bool {
        self.lost + self.torn + self.stale + self.mixed == 0
    }

    fn say(&mut self, sentence: impl FnOnce() -> String) {
        if self.first.is_empty() {
            self.first = sentence();
        }
    }
}

/// A kind of work.
#[derive(Debug)]
pub struct Kind {
    /// Its name.
    pub name: &'static str,
    /// What it does, for reports.
    pub what: Cow<'static, str>,
    /// Whether the filesystem's interface promises what is acknowledged; otherwise it is shown and blames nobody.
    pub promised: bool,
    /// How many records it writes by default: recovery takes longer the more there are.
    pub records: u64,
    /// Whether each record gets a filesystem of its own.
    pub fresh: bool,
    work: Work,
}

/// How it is done and looked at.
#[derive(Debug)]
enum Work {
    /// Of the table.
    Own {
        prepare: fn(&Path, Terms) -> std::io::Result<()>,
        run: fn(&Path, Terms, Acknowledge) -> std::io::Result<()>,
        check: fn(&Path, Terms, u64) -> Found,
    },
    /// A captured program's.
    Traced(Box<TracedWork>),
}

/// The name of the work of a captured program, which has no row in the table.
pub const TRACED: &str = "replay";

impl Kind {
    /// The work of a captured program; `what`: what it does, for reports.
    pub fn traced(work: TracedWork, what: String) -> Kind {
        Kind {
            name: TRACED,
            what: Cow::Owned(what),
            promised: true,
            records: work.records(),
            fresh: false,
            work: Work::Traced(Box::new(work)),
        }
    }

    /// Makes what must be there before the first record, and has it safe where the caller does not sync the filesystem.
    ///
    /// # Errors
    /// The first call that fails.
    pub fn prepare(&self, folder: &Path, terms: Terms) -> std::io::Result<()> {
        match &self.work {
            Work::Own { prepare, .. } => prepare(folder, terms),
            Work::Traced(work) => work.prepare(folder, terms),
        }
    }

    /// Writes the records.
    ///
    /// # Errors
    /// The first call that fails, and what `acknowledge` answers.
    pub fn run(&self, folder: &Path, terms: Terms, acknowledge: Acknowledge) -> std::io::Result<()> {
        match &self.work {
            Work::Own { run, .. } => run(folder, terms, acknowledge),
            Work::Traced(work) => work.run(folder, terms, acknowledge),
        }
    }

    /// Looks at them after a cut before which the records up to this one were acknowledged.
    pub fn check(&self, folder: &Path, terms: Terms, acknowledged: u64) -> Found {
        match &self.work {
            Work::Own { check, .. } => check(folder, terms, acknowledged),
            Work::Traced(work) => work.check(folder, terms, acknowledged),
        }
    }
}

/// The table.
pub static KINDS: [Kind; 6] = [
    Kind {
        name: "append",
        what: Cow::Borrowed("records appended to one file, fsync after each"),
        promised: true,
        records: 300,
        fresh: false,
        work: Work::Own { prepare: append::prepare, run: append::run, check: append::check },
    },
    Kind {
        name: "replace",
        what: Cow::Borrowed("a file replaced: temporary file, fsync, rename, fsync of the directory"),
        promised: true,
        records: 200,
        fresh: false,
        work: Work::Own { prepare: replace::prepare, run: replace::run, check: replace::check },
    },
    Kind {
        name: "sqlite-wal",
        what: Cow::Borrowed("transactions of SQLite, write-ahead log, synchronous=FULL"),
        promised: true,
        records: 200,
        fresh: false,
        work: Work::Own { prepare: database::prepare_wal, run: database::run_wal, check: database::check_wal },
    },
    Kind {
        name: "sqlite-rollback",
        what: Cow::Borrowed("transactions of SQLite, rollback journal, synchronous=EXTRA"),
        promised: true,
        records: 120,
        fresh: false,
        work: Work::Own {
            prepare: database::prepare_rollback,
            run: database::run_rollback,
            check: database::check_rollback,
        },
    },
    Kind {
        name: "sequences",
        what: Cow::Borrowed(
            "up to three operations on a fresh filesystem, then fsync of the files and their directories, or syncfs",
        ),
        promised: true,
        records: 100,
        fresh: true,
        work: Work::Own { prepare: sequences::prepare, run: sequences::run_promised, check: sequences::check_promised },
    },
    Kind {
        name: "sequences-no-dirsync",
        what: Cow::Borrowed("the same without fsync of the directories: names are not promised"),
        promised: false,
        records: 100,
        fresh: true,
        work: Work::Own { prepare: sequences::prepare, run: sequences::run_bare, check: sequences::check_bare },
    },
];

/// The row of a name.
pub fn find(name: &str) -> Option<&'static Kind> {
    KINDS.iter().find(|kind| kind.name == name)
}

/// The row of work that is raced.
pub fn row_of(record: DurableRecord) -> &'static Kind {
    find(record.name()).expect("a test holds that each has its row")
}

/// Has a directory's names safe.
fn sync_directory(path: &Path) -> std::io::Result<()> {
    std::fs::File::open(path)?.sync_all()
}
