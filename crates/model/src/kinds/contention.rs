//! Threads that do one act at the same time, each on files of its own or all on one.

use super::operations::{Ability, Asked};
use super::{Demand, Schedule, Traffic, WorkloadKind};
use crate::Bytes;
use crate::record::Profile;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One act at a time, by one thread and by several at once: each on a file (or in a directory) of its own, then all on
/// the same one. What several add to one, and what sharing takes away again, is what threads wait for in the kernel: in
/// the filesystem and in the VFS above it. The idea is FxMark's (Min et al., USENIX ATC 2016).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Contention {
    /// What is done, in this order.
    #[serde(default = "every_act")]
    pub acts: Vec<Act>,
    /// Threads that do it at the same time, 1 to 128 each.
    #[serde(default = "usual_threads")]
    pub threads: Vec<u32>,
    /// Where they do it, where they are several.
    #[serde(default = "every_sharing")]
    pub sharing: Vec<Sharing>,
    /// Operations of each group, of all its threads together, 1 to 10,000,000.
    pub operations: u64,
    /// Bytes of a write, 1 B to 1 MiB.
    #[serde(default = "usual_size")]
    pub size: Bytes,
}

/// What a thread does over and over.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Act {
    /// Writes at the end of a file, through the page cache.
    Append,
    /// Writes over a part of a file that no other thread writes to, through the page cache.
    Overwrite,
    /// The same, and `fdatasync` after each.
    Fdatasync,
    /// Makes an empty file.
    Create,
    /// Renames a file of its own within its directory.
    Rename,
    /// Gives a file another value of an attribute.
    Setxattr,
}

/// Where threads do it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Sharing {
    /// Each on a file of its own; where names change, in a directory of its own.
    Own,
    /// All on one file; where names change, in one directory.
    One,
}

/// One group of figures: an act, and who does it where.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Contest {
    /// What is done.
    pub act: Act,
    /// By how many at once.
    pub threads: u32,
    /// Where; a single thread shares with nobody.
    pub sharing: Sharing,
}

/// Bytes of a thread's own part of a file that is written over.
pub const REGION_BYTES: u64 = 1 << 20;
/// Groups of one workload, at most.
const MOST_GROUPS: usize = 100;

fn every_act() -> Vec<Act> {
    vec![Act::Append, Act::Overwrite, Act::Fdatasync, Act::Create, Act::Rename, Act::Setxattr]
}

fn usual_threads() -> Vec<u32> {
    vec![1, 4]
}

fn every_sharing() -> Vec<Sharing> {
    vec![Sharing::Own, Sharing::One]
}

fn usual_size() -> Bytes {
    Bytes(4096)
}

impl Act {
    fn word(self) -> &'static str {
        match self {
            Act::Append => "append",
            Act::Overwrite => "overwrite",
            Act::Fdatasync => "overwrite and fdatasync",
            Act::Create => "create",
            Act::Rename => "rename",
            Act::Setxattr => "setxattr",
        }
    }

    /// Whether it changes names, so that what is shared is a directory.
    pub fn changes_names(self) -> bool {
        matches!(self, Act::Create | Act::Rename)
    }

    /// Whether it writes to a file.
    pub fn writes(self) -> bool {
        matches!(self, Act::Append | Act::Overwrite | Act::Fdatasync)
    }
}

impl Contest {
    /// What its group is called: `append, one file, 4 threads`.
    pub fn group(&self) -> String {
        let place = match (self.sharing, self.act.changes_names()) {
            (Sharing::Own, false) => "own files",
            (Sharing::One, false) => "one file",
            (Sharing::Own, true) => "own directories",
            (Sharing::One, true) => "one directory",
        };
        match self.threads {
            1 => format!("{}, 1 thread", self.act.word()),
            threads => format!("{}, {place}, {threads} threads", self.act.word()),
        }
    }

    /// Files or directories that it works in.
    pub fn places(&self) -> u32 {
        match self.sharing {
            Sharing::Own => self.threads,
            Sharing::One => 1,
        }
    }
}

impl Contention {
    /// All groups in order: each act by ever more threads. A single thread does it once, because it shares with nobody.
    pub fn contests(&self) -> Vec<Contest> {
        let of_act = |&act: &Act| {
            self.threads.iter().flat_map(move |&threads| {
                let several = self.sharing.iter().filter(move |_| threads > 1);
                let alone = [Sharing::Own].into_iter().filter(move |_| threads == 1);
                several.copied().chain(alone).map(move |sharing| Contest { act, threads, sharing })
            })
        };
        self.acts.iter().flat_map(of_act).collect()
    }

    fn contest(&self, group: &str) -> Option<Contest> {
        self.contests().into_iter().find(|of| of.group() == group)
    }

    fn operations_of(&self, is: impl Fn(Act) -> bool) -> f64 {
        self.contests().iter().filter(|of| is(of.act)).count() as f64 * self.operations as f64
    }
}

/// Whether each stands in the list once.
fn each_once<T: PartialEq>(list: &[T]) -> bool {
    !list.is_empty() && list.iter().enumerate().all(|(at, one)| !list[..at].contains(one))
}

impl WorkloadKind for Contention {
    fn groups(&self) -> Vec<String> {
        self.contests().iter().map(Contest::group).collect()
    }

    fn check(&self) -> Result<(), String> {
        let fail = |what: &str| Err(what.to_owned());
        if !each_once(&self.acts) || !each_once(&self.sharing) {
            return fail("acts and sharing list at least one word each, and each of them once");
        }
        if !each_once(&self.threads) || !self.threads.iter().all(|threads| (1..=128).contains(threads)) {
            return fail("threads lists numbers between 1 and 128, each of them once");
        }
        if !(1..=10_000_000).contains(&self.operations) {
            return fail("operations must lie between 1 and 10000000");
        }
        if !(1..=Bytes::MIB).contains(&self.size.get()) {
            return fail("size must lie between 1B and 1MiB");
        }
        match self.contests().len() {
            count if count > MOST_GROUPS => {
                Err(format!("these lists make {count} groups, and {MOST_GROUPS} are the most; part the workload"))
            }
            _ => Ok(()),
        }
    }

    // Each part does a share of the operations, with all threads.
    fn schedule(&self) -> Schedule<'_> {
        Schedule::Phases { in_parts: true }
    }

    // What is appended, a region for each thread that writes over, and an inode with its name for all other files.
    fn working_set_bytes(&self) -> u64 {
        let bytes = |of: &Contest| match of.act {
            Act::Append => self.operations.saturating_mul(self.size.get()),
            Act::Overwrite | Act::Fdatasync => u64::from(of.threads) * REGION_BYTES,
            Act::Create => self.operations.saturating_mul(1024),
            Act::Rename | Act::Setxattr => u64::from(of.threads) * 8192,
        };
        self.contests().iter().map(bytes).fold(1 << 20, u64::saturating_add)
    }

    fn traffic(&self) -> Traffic {
        let bytes = self.demand().moved_bytes + self.working_set_bytes() as f64;
        Traffic { bytes, requests: self.contests().len() as f64 * self.operations as f64 + bytes / 4096.0 }
    }

    fn demand(&self) -> Demand {
        let written = self.operations_of(Act::writes) * self.size.get() as f64;
        Demand {
            changes: self.operations_of(|act| !act.writes()),
            flushes: self.operations_of(|act| act == Act::Fdatasync),
            moved_bytes: written,
            written_bytes: written,
            ..Demand::default()
        }
    }

    fn concurrency(&self, group: &str) -> u32 {
        self.contest(group).map_or(1, |of| of.threads)
    }

    fn has_an_end(&self) -> bool {
        true
    }

    // Others wait for what is flushed.
    fn is_awaited(&self, group: &str) -> bool {
        self.contest(group).is_some_and(|of| of.act == Act::Fdatasync)
    }

    // Acts are no requests of the disk's: what a filesystem writes and flushes for one is its own.
    fn is_ceiling_of(&self, _: Profile, _: &str) -> bool {
        false
    }

    fn counterpart_is_alike(&self) -> bool {
        false
    }

    fn asks_for(&self) -> Vec<Asked> {
        let attributes = self.acts.contains(&Act::Setxattr);
        let asked = || Asked { by: "its act setxattr".to_owned(), ability: Ability::Attributes };
        attributes.then(asked).into_iter().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Contention {
        toml::from_str(text).unwrap()
    }

    #[test]
    fn one_thread_shares_with_nobody() {
        let of = read("operations = 10\nacts = [\"append\", \"rename\"]\nthreads = [1, 4]");
        assert_eq!(of.check(), Ok(()));
        assert_eq!(
            of.groups(),
            [
                "append, 1 thread",
                "append, own files, 4 threads",
                "append, one file, 4 threads",
                "rename, 1 thread",
                "rename, own directories, 4 threads",
                "rename, one directory, 4 threads",
            ]
        );
        let groups = of.groups();
        assert_eq!([0, 1, 2].map(|at: usize| of.concurrency(&groups[at])), [1, 4, 4]);
        assert_eq!([0, 1, 2].map(|at: usize| of.contests()[at].places()), [1, 4, 1]);
        assert_eq!(read("operations = 10").groups().len(), 18);
    }

    #[test]
    fn somebody_waits_for_flushes_and_attributes_are_asked_for() {
        let of = read("operations = 10");
        assert_eq!(of.groups().iter().filter(|group| of.is_awaited(group)).count(), 3);
        assert_eq!(of.asks_for().len(), 1);
        assert_eq!(read("operations = 10\nacts = [\"append\"]").asks_for(), []);
    }

    #[test]
    fn what_makes_no_sense_is_refused() {
        for wrong in [
            "operations = 0",
            "operations = 10000001",
            "operations = 1\nthreads = []",
            "operations = 1\nthreads = [0]",
            "operations = 1\nthreads = [129]",
            "operations = 1\nthreads = [2, 2]",
            "operations = 1\nacts = []",
            "operations = 1\nacts = [\"append\", \"append\"]",
            "operations = 1\nsharing = []",
            "operations = 1\nsize = \"0B\"",
            "operations = 1\nsize = \"2MiB\"",
            "operations = 1\nthreads = [2, 3, 4, 5, 6, 7, 8, 9, 10]",
        ] {
            assert!(read(wrong).check().is_err(), "{wrong}");
        }
        assert!(toml::from_str::<Contention>("operations = 1\nacts = [\"unlink\"]").is_err());
    }
}
