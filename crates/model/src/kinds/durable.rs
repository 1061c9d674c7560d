//! Records that are made durable one by one.

use super::{Demand, Schedule, WorkloadKind};
use crate::Bytes;
use crate::findings::Counts;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Records that are made durable one by one, each in one of the ways in which applications do it: the work that power
/// cuts are tried on, for its speed. One thread; a record is done once every call that makes it safe has returned.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Durable {
    /// How records are made durable, one after another.
    #[serde(default = "DurableRecord::all")]
    pub records: Vec<DurableRecord>,
    /// Records of each, 1 to 10,000.
    #[serde(default = "usual_count")]
    pub count: u64,
}

/// How a record is made durable.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum DurableRecord {
    /// Appended to one file, `fsync`.
    Append,
    /// A file replaced: a temporary one, `fsync`, `rename`, `fsync` of the directory.
    Replace,
    /// A transaction of SQLite with a write-ahead log, synchronous=FULL.
    SqliteWal,
    /// A transaction of SQLite with a rollback journal, synchronous=EXTRA.
    SqliteRollback,
    /// Up to three operations on a small tree, then `fsync` of its files and directories, or `syncfs`.
    Sequences,
}

impl DurableRecord {
    /// Each of them once.
    pub fn all() -> Vec<DurableRecord> {
        use DurableRecord::{Append, Replace, Sequences, SqliteRollback, SqliteWal};
        vec![Append, Replace, SqliteWal, SqliteRollback, Sequences]
    }

    /// Its word, as suites and `powercut --workload` have it.
    pub fn name(self) -> &'static str {
        match self {
            DurableRecord::Append => "append",
            DurableRecord::Replace => "replace",
            DurableRecord::SqliteWal => "sqlite-wal",
            DurableRecord::SqliteRollback => "sqlite-rollback",
            DurableRecord::Sequences => "sequences",
        }
    }

    /// Bytes that one record leaves on the lane at most, roughly and rather too much.
    fn bytes(self) -> u64 {
        match self {
            DurableRecord::Append => 6_000,
            DurableRecord::Replace => 100,
            DurableRecord::SqliteWal | DurableRecord::SqliteRollback => 24_000,
            // A tree of its own, whose files hold 48 kB at most.
            DurableRecord::Sequences => 160_000,
        }
    }

    /// Calls of one record that wait for the disk, roughly.
    fn flushes(self) -> u64 {
        match self {
            DurableRecord::Append | DurableRecord::SqliteWal => 1,
            DurableRecord::Replace => 2,
            DurableRecord::SqliteRollback | DurableRecord::Sequences => 4,
        }
    }
}

/// Most records of one kind, as in power cuts.
pub const MOST_RECORDS: u64 = 10_000;

fn usual_count() -> u64 {
    200
}

impl Durable {
    fn sum(&self, of: impl Fn(DurableRecord) -> u64) -> u64 {
        self.records.iter().map(|&record| of(record).saturating_mul(self.count)).fold(0, u64::saturating_add)
    }
}

impl WorkloadKind for Durable {
    fn groups(&self) -> Vec<String> {
        self.records.iter().map(|record| record.name().to_owned()).collect()
    }

    fn check(&self) -> Result<(), String> {
        let once = |(at, one): (usize, &DurableRecord)| !self.records[..at].contains(one);
        if self.records.is_empty() || !self.records.iter().enumerate().all(once) {
            return Err("records lists at least one word, and each of them once".to_owned());
        }
        match (1..=MOST_RECORDS).contains(&self.count) {
            true => Ok(()),
            false => Err(format!("count must lie between 1 and {MOST_RECORDS}")),
        }
    }

    // A database goes on from what it has.
    fn schedule(&self) -> Schedule<'_> {
        Schedule::Phases { in_parts: false }
    }

    fn working_set_bytes(&self) -> u64 {
        self.sum(DurableRecord::bytes).saturating_add(Bytes::MIB)
    }

    fn demand(&self) -> Demand {
        let bytes = self.working_set_bytes() as f64;
        Demand {
            flushes: self.sum(DurableRecord::flushes) as f64,
            moved_bytes: bytes,
            written_bytes: bytes,
            ..Demand::default()
        }
    }

    fn is_flush_bound(&self) -> bool {
        true
    }

    fn has_an_end(&self) -> bool {
        true
    }

    // Others wait until a record is safe.
    fn is_awaited(&self, _: &str) -> bool {
        true
    }

    fn counterpart_is_alike(&self) -> bool {
        false
    }

    fn counts(&self, _: &str) -> Counts {
        Counts::Commits
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Durable {
        toml::from_str(text).unwrap()
    }

    #[test]
    fn every_record_is_a_group() {
        let of = read("");
        assert_eq!(of.check(), Ok(()));
        assert_eq!(of.groups(), ["append", "replace", "sqlite-wal", "sqlite-rollback", "sequences"]);
        let more = read("count = 400");
        assert!(
            of.working_set_bytes() < more.working_set_bytes() && of.demand().flushes * 2.0 == more.demand().flushes
        );
    }

    #[test]
    fn what_makes_no_sense_is_refused() {
        for wrong in ["count = 0", "count = 10001", "records = []", "records = [\"append\", \"append\"]"] {
            assert!(read(wrong).check().is_err(), "{wrong}");
        }
        assert!(toml::from_str::<Durable>("records = [\"sequences-no-dirsync\"]").is_err());
    }
}
