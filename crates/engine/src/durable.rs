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

pub use append::{Call, run_telling};
pub use content::bytes_of_record as bytes_of;
pub(crate) use timed::DurableWork;

use model::kinds::durable::DurableRecord;
use serde::{Deserialize, Serialize};
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
pub struct Kind {
    /// Its name.
    pub name: &'static str,
    /// What it does, for reports.
    pub what: &'static str,
    /// Whether the filesystem's interface promises what is acknowledged; otherwise it is shown and blames nobody.
    pub promised: bool,
    /// How many records it writes by default: recovery takes longer the more there are.
    pub records: u64,
    /// Whether each record gets a filesystem of its own.
    pub fresh: bool,
    /// Makes what must be there before the first record, and has it safe.
    pub prepare: fn(&Path, Terms) -> std::io::Result<()>,
    /// Writes the records.
    pub run: fn(&Path, Terms, Acknowledge) -> std::io::Result<()>,
    /// Looks at them after a cut before which the records up to this one were acknowledged.
    pub check: fn(&Path, Terms, u64) -> Found,
}

/// The table.
pub static KINDS: [Kind; 6] = [
    Kind {
        name: "append",
        what: "records appended to one file, fsync after each",
        promised: true,
        records: 300,
        fresh: false,
        prepare: append::prepare,
        run: append::run,
        check: append::check,
    },
    Kind {
        name: "replace",
        what: "a file replaced: temporary file, fsync, rename, fsync of the directory",
        promised: true,
        records: 200,
        fresh: false,
        prepare: replace::prepare,
        run: replace::run,
        check: replace::check,
    },
    Kind {
        name: "sqlite-wal",
        what: "transactions of SQLite, write-ahead log, synchronous=FULL",
        promised: true,
        records: 200,
        fresh: false,
        prepare: database::prepare_wal,
        run: database::run_wal,
        check: database::check_wal,
    },
    Kind {
        name: "sqlite-rollback",
        what: "transactions of SQLite, rollback journal, synchronous=EXTRA",
        promised: true,
        records: 120,
        fresh: false,
        prepare: database::prepare_rollback,
        run: database::run_rollback,
        check: database::check_rollback,
    },
    Kind {
        name: "sequences",
        what: "up to three operations on a fresh filesystem, then fsync of the files and their directories, or syncfs",
        promised: true,
        records: 100,
        fresh: true,
        prepare: sequences::prepare,
        run: sequences::run_promised,
        check: sequences::check_promised,
    },
    Kind {
        name: "sequences-no-dirsync",
        what: "the same without fsync of the directories: names are not promised",
        promised: false,
        records: 100,
        fresh: true,
        prepare: sequences::prepare,
        run: sequences::run_bare,
        check: sequences::check_bare,
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
