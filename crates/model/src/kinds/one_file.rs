//! Clients that append to one file, count under one lock, and open one file, all at the same time.

use super::{Demand, Schedule, WorkloadKind};
use crate::Bytes;
use crate::record::Profile;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One act at a time on one file: over MPI by all ranks at once, otherwise by one thread alone. How threads of one machine
/// get in each other's way is told by work of kind `contention`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OneFile {
    /// What is done, in this order.
    #[serde(default = "every_act")]
    pub acts: Vec<OneFileAct>,
    /// Operations of each act by each client, 10 to 10,000,000.
    pub operations: u64,
    /// Bytes of a record that is appended, 16 B to 1 MiB.
    #[serde(default = "usual_record")]
    pub record: Bytes,
}

/// What a client does over and over.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum OneFileAct {
    /// Appends a record to the file that all append to (O_APPEND), through the page cache.
    Append,
    /// Locks a range of the file that all lock, reads a number there, writes the next one, and unlocks it.
    Lock,
    /// Opens and closes the file that all open.
    Open,
    /// Opens and closes a file that no other client opens, beside those of all others.
    OpenOwn,
}

/// Bytes of a record at least: whose it is, and which.
pub const LEAST_RECORD_BYTES: u64 = 16;

fn every_act() -> Vec<OneFileAct> {
    vec![OneFileAct::Append, OneFileAct::Lock, OneFileAct::Open, OneFileAct::OpenOwn]
}

fn usual_record() -> Bytes {
    Bytes(4096)
}

impl OneFileAct {
    /// What its group is called.
    pub fn group(self) -> &'static str {
        match self {
            OneFileAct::Append => "append to one file",
            OneFileAct::Lock => "count under one lock",
            OneFileAct::Open => "open one file",
            OneFileAct::OpenOwn => "open own files",
        }
    }
}

impl OneFile {
    /// The act whose group this is.
    pub fn act(&self, group: &str) -> Option<OneFileAct> {
        self.acts.iter().copied().find(|act| act.group() == group)
    }

    fn appended_bytes(&self) -> u64 {
        let appends = self.acts.contains(&OneFileAct::Append);
        if appends { self.operations.saturating_mul(self.record.get()) } else { 0 }
    }
}

impl WorkloadKind for OneFile {
    fn groups(&self) -> Vec<String> {
        self.acts.iter().map(|act| act.group().to_owned()).collect()
    }

    fn check(&self) -> Result<(), String> {
        let is_once = |(at, act): (usize, &OneFileAct)| !self.acts[..at].contains(act);
        if self.acts.is_empty() || !self.acts.iter().enumerate().all(is_once) {
            return Err("acts lists at least one word, and each of them once".to_owned());
        }
        // Each of ten parts does something.
        if !(10..=10_000_000).contains(&self.operations) {
            return Err("operations must lie between 10 and 10000000".to_owned());
        }
        if !(LEAST_RECORD_BYTES..=Bytes::MIB).contains(&self.record.get()) {
            return Err(format!("record must lie between {LEAST_RECORD_BYTES}B and 1MiB"));
        }
        Ok(())
    }

    // Each part does a share of the operations.
    fn schedule(&self) -> Schedule<'_> {
        Schedule::Phases { in_parts: true }
    }

    // What is appended, and an inode with its name for each other file.
    fn working_set_bytes(&self) -> u64 {
        self.appended_bytes().saturating_add(64 << 10)
    }

    fn demand(&self) -> Demand {
        let bytes = self.appended_bytes() as f64;
        // Each of them is a request to whoever keeps the names and the locks.
        let others = self.acts.iter().filter(|act| **act != OneFileAct::Append).count();
        Demand {
            changes: others as f64 * self.operations as f64,
            moved_bytes: bytes,
            written_bytes: bytes,
            ..Demand::default()
        }
    }

    fn has_an_end(&self) -> bool {
        true
    }

    // Acts are no requests of the disk's.
    fn is_ceiling_of(&self, _: Profile, _: &str) -> bool {
        false
    }

    fn counterpart_is_alike(&self) -> bool {
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> OneFile {
        toml::from_str(text).unwrap_or_else(|error| panic!("{text}: {error}"))
    }

    #[test]
    fn each_act_is_a_group_and_is_found_by_it() {
        let of = read("operations = 10");
        assert_eq!(of.check(), Ok(()));
        assert_eq!(of.groups(), ["append to one file", "count under one lock", "open one file", "open own files"]);
        assert_eq!([of.act("open one file"), of.act("open")], [Some(OneFileAct::Open), None]);
        assert_eq!(of.working_set_bytes(), 10 * 4096 + (64 << 10));
        assert_eq!(read("operations = 10\nacts = [\"lock\"]").demand().written_bytes, 0.0);
    }

    #[test]
    fn what_makes_no_sense_is_refused() {
        for wrong in [
            "operations = 9",
            "operations = 10000001",
            "operations = 10\nacts = []",
            "operations = 10\nacts = [\"lock\", \"lock\"]",
            "operations = 10\nrecord = \"15B\"",
            "operations = 10\nrecord = \"2MiB\"",
        ] {
            assert!(read(wrong).check().is_err(), "{wrong}");
        }
        assert!(toml::from_str::<OneFile>("operations = 10\nacts = [\"unlink\"]").is_err());
    }
}
