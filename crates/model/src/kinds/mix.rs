//! Mixed operations: every thread does the same turn of operations again and again, each on a file of its choice.

use super::{Demand, Schedule, WindowWrites, WorkloadKind};
use crate::Bytes;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The personality of a server: threads that repeat a turn of operations for as long as they are watched. Each
/// operation is a group with its rate and latency; the first group, `all`, is the rate of all together.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Mix {
    /// Threads, 1 to 1024.
    pub threads: u32,
    /// Seconds that are measured.
    #[serde(default = "usual_seconds")]
    pub seconds: f64,
    /// Seconds of work before them, which do not count.
    #[serde(default = "usual_warm_up_seconds")]
    pub warm_up_seconds: f64,
    /// What is worked on.
    pub files: Vec<Pool>,
    /// A turn: what each thread does, in order, again and again.
    pub step: Vec<MixStep>,
}

/// Files of which an operation takes one at random.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Pool {
    /// What steps call it; unique in the workload.
    pub name: String,
    /// Names of files, 1 to 10,000,000.
    pub count: u64,
    /// Share of them that are there at the beginning, 0 to 1.
    #[serde(default = "all")]
    pub filled: f64,
    /// Mean bytes of a file that is there at the beginning.
    #[serde(default)]
    pub mean: Bytes,
    /// Shape of the gamma distribution of those bytes, 1 to 100; the larger, the more alike. 0: all alike.
    #[serde(default)]
    pub shape: f64,
    /// Directories that share the files evenly.
    #[serde(default = "one")]
    pub directories: u64,
    /// A file that `append` makes this large is emptied.
    #[serde(default = "usual_rotation")]
    pub rotate: Bytes,
}

/// One operation of a turn.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MixStep {
    /// Its group; unique in the workload, and not `all`.
    pub name: String,
    /// What is done.
    pub operation: MixOperation,
    /// Name of the pool.
    pub files: String,
    /// Bytes at most that are written at the end of the file; each operation draws from 1 to this.
    #[serde(default)]
    pub append: Bytes,
    /// What was written ends with an fsync.
    #[serde(default)]
    pub sync: bool,
    /// How often in a turn, each time on another file, 1 to 1000.
    #[serde(default = "once")]
    pub times: u32,
}

/// What is done to a file. While one thread changes a file, no other has it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum MixOperation {
    /// Make one that is not there, write `append` bytes, sync where asked for, close.
    Create,
    /// Open one that is there, read all of it, close.
    Read,
    /// Open one that is there, read all of it, append, sync where asked for, close.
    ReadAppend,
    /// Append to a file that all threads hold open.
    Append,
    /// Remove one that is there.
    Delete,
}

/// The group of all operations together.
pub const ALL: &str = "all";
/// Seconds that anything may take.
const LONGEST_SECONDS: f64 = 3600.0;

fn usual_seconds() -> f64 {
    5.0
}

fn usual_warm_up_seconds() -> f64 {
    1.0
}

fn usual_rotation() -> Bytes {
    Bytes(64 * Bytes::MIB)
}

fn all() -> f64 {
    1.0
}

fn one() -> u64 {
    1
}

fn once() -> u32 {
    1
}

impl MixOperation {
    /// Whether it writes at the end of a file.
    pub fn appends(self) -> bool {
        matches!(self, MixOperation::Create | MixOperation::ReadAppend | MixOperation::Append)
    }

    /// Whether it reads and changes nothing.
    pub fn only_reads(self) -> bool {
        self == MixOperation::Read
    }
}

impl Pool {
    /// Files that are there at the beginning: the first ones.
    pub fn present(&self) -> u64 {
        (self.count as f64 * self.filled).round() as u64
    }
}

impl Mix {
    /// The groups in order.
    pub fn groups(&self) -> Vec<String> {
        [ALL.to_owned()].into_iter().chain(self.step.iter().map(|step| step.name.clone())).collect()
    }

    /// Operations of a turn.
    pub fn operations_of_a_turn(&self) -> u64 {
        self.step.iter().map(|step| u64::from(step.times)).sum()
    }

    /// The pool that a step works on, by its place in `files`.
    pub fn pool_of(&self, step: &MixStep) -> Option<usize> {
        self.files.iter().position(|pool| pool.name == step.files)
    }

    /// Whether an operation ends with a sync.
    pub fn syncs(&self) -> bool {
        self.step.iter().any(|step| step.sync)
    }

    /// Bytes on the lane at most, roughly: files grow until they are deleted, and a file that is appended to until it
    /// is emptied.
    pub fn working_set_bytes(&self) -> u64 {
        let of = |pool: &Pool| {
            let steps = self.step.iter().filter(|step| step.files == pool.name);
            let grows = steps.clone().map(|step| step.append.get().saturating_mul(u64::from(step.times))).sum::<u64>();
            let rotates = steps.clone().any(|step| step.operation == MixOperation::Append);
            let each = (pool.mean.get().saturating_add(grows)).saturating_mul(2).next_multiple_of(4096) + 1024;
            let rotated = if rotates { pool.rotate.get().saturating_mul(pool.count) } else { 0 };
            each.saturating_mul(pool.count).saturating_add(rotated)
        };
        self.files.iter().map(of).fold(0, u64::saturating_add)
    }

    /// What is wrong with the parameters, as one sentence with the remedy.
    ///
    /// # Errors
    /// The sentence, naming the pool or the step.
    pub fn check(&self) -> Result<(), String> {
        if !(1..=1024).contains(&self.threads) {
            return Err("threads must lie between 1 and 1024".to_owned());
        }
        if !(self.seconds > 0.0 && self.seconds <= LONGEST_SECONDS) {
            return Err("seconds must lie above 0 and not above 3600".to_owned());
        }
        if !(0.0..=LONGEST_SECONDS).contains(&self.warm_up_seconds) {
            return Err("warm_up_seconds must lie between 0 and 3600".to_owned());
        }
        if self.step.is_empty() {
            return Err("there is no step; add a table [[workload.step]] with name, operation and files".to_owned());
        }
        for (at, pool) in self.files.iter().enumerate() {
            pool.check(self.files[..at].iter().any(|other| other.name == pool.name))
                .map_err(|what| format!("set {}: {what}", pool.name))?;
        }
        if self.files.iter().map(|pool| pool.count).fold(0, u64::saturating_add) > MOST_FILES {
            return Err(format!("count of all sets together must be at most {MOST_FILES}; lower it"));
        }
        for (at, step) in self.step.iter().enumerate() {
            let fail = |what: &str| Err(format!("step {}: {what}", step.name));
            if step.name.trim().is_empty()
                || step.name == ALL
                || self.step[..at].iter().any(|other| other.name == step.name)
            {
                return fail("its name must be its own, and not `all`");
            }
            if self.pool_of(step).is_none() {
                return fail("there is no set of that name; name one of [[workload.files]]");
            }
            if !(1..=1000).contains(&step.times) {
                return fail("times must lie between 1 and 1000");
            }
            if step.operation.appends() != (step.append.get() > 0) || step.append.get() > 64 * Bytes::MIB {
                return fail("create, read-append and append say in append how much, up to 64MiB; others do not");
            }
            if step.sync && !step.operation.appends() {
                return fail("nothing is written that sync could make stable");
            }
        }
        self.files
            .iter()
            .try_for_each(|pool| self.check_balance(pool).map_err(|what| format!("set {}: {what}", pool.name)))
    }

    /// Nobody waits for a file: however far the threads are with their turns, there is one for each of them.
    fn check_balance(&self, pool: &Pool) -> Result<(), String> {
        let steps = || self.step.iter().filter(|step| step.files == pool.name);
        let times = |operation: MixOperation| -> u64 {
            steps().filter(|step| step.operation == operation).map(|step| u64::from(step.times)).sum()
        };
        let (made, removed) = (times(MixOperation::Create), times(MixOperation::Delete));
        if made != removed {
            return Err("a turn creates as many files as it deletes".to_owned());
        }
        let appends = steps().any(|step| step.operation == MixOperation::Append);
        if appends && steps().any(|step| step.operation != MixOperation::Append) {
            return Err("a set that is appended to by all threads is for that alone".to_owned());
        }
        if appends && pool.present() < pool.count {
            return Err("all files that are appended to are there at the beginning; leave filled out".to_owned());
        }
        let threads = u64::from(self.threads);
        let (there, absent) = (pool.present(), pool.count - pool.present());
        let held = if appends { 1 } else { threads * (removed + 1) };
        if steps().count() > 0 && there < held {
            return Err(format!("at least {held} files must be there at the beginning; raise count or filled"));
        }
        if made > 0 && absent < threads * made {
            return Err(format!("at least {} names must be free; raise count or lower filled", threads * made));
        }
        Ok(())
    }
}

/// Files of all sets: each has a place in memory.
const MOST_FILES: u64 = 10_000_000;

impl Pool {
    fn check(&self, is_double: bool) -> Result<(), String> {
        let fail = |what: &str| Err(what.to_owned());
        if self.name.trim().is_empty() || is_double {
            return fail("its name must be its own");
        }
        if !(1..=MOST_FILES).contains(&self.count) {
            return fail("count must lie between 1 and 10000000");
        }
        if !(0.0..=1.0).contains(&self.filled) {
            return fail("filled must lie between 0 and 1");
        }
        if self.shape != 0.0 && !(1.0..=100.0).contains(&self.shape) {
            return fail("shape must be 0 or lie between 1 and 100");
        }
        if self.mean.get() > 1 << 30 {
            return fail("mean must not lie above 1GiB");
        }
        if !(1..=self.count).contains(&self.directories) {
            return fail("directories must lie between 1 and count");
        }
        if !(Bytes::MIB..=1 << 40).contains(&self.rotate.get()) {
            return fail("rotate must lie between 1MiB and 1TiB");
        }
        Ok(())
    }
}

impl WorkloadKind for Mix {
    fn groups(&self) -> Vec<String> {
        Mix::groups(self)
    }

    fn check(&self) -> Result<(), String> {
        Mix::check(self)
    }

    fn schedule(&self) -> Schedule<'_> {
        Schedule::Window { warm_up_seconds: self.warm_up_seconds, seconds: self.seconds }
    }

    fn working_set_bytes(&self) -> u64 {
        Mix::working_set_bytes(self)
    }

    // The files are made, and the lane is mounted anew for the look.
    fn demand(&self) -> Demand {
        let bytes = self.files.iter().map(|pool| pool.present() as f64 * pool.mean.get() as f64).sum();
        Demand {
            changes: self.files.iter().map(|pool| pool.present() as f64).sum(),
            moved_bytes: bytes,
            written_bytes: bytes,
            remounts: 1.0,
            window: if self.syncs() { WindowWrites::Flushed } else { WindowWrites::Free },
            ..Demand::default()
        }
    }

    fn flushes(&self) -> bool {
        self.syncs()
    }

    fn concurrency(&self, _: &str) -> u32 {
        self.threads
    }

    fn mixes_operations(&self) -> bool {
        true
    }

    /// A step that only reads, and the sum of all operations where those are most of it.
    fn reads(&self, group: &str) -> bool {
        let steps = || self.step.iter().filter(|step| step.operation.only_reads());
        if group != ALL {
            return steps().any(|step| step.name == group);
        }
        let times: u64 = steps().map(|step| u64::from(step.times)).sum();
        2 * times > self.operations_of_a_turn()
    }

    fn sums_up(&self, group: &str) -> bool {
        group == ALL
    }

    fn shares_the_cpus(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MAIL: &str = r#"
        threads = 4
        files = [{ name = "mail", count = 100, filled = 0.8, mean = "16KiB", shape = 1.5 }]
        step = [
            { name = "delete", operation = "delete", files = "mail" },
            { name = "deliver", operation = "create", files = "mail", append = "16KiB", sync = true },
            { name = "read", operation = "read", files = "mail", times = 3 },
        ]
    "#;

    fn parsed(text: &str) -> Mix {
        toml::from_str(text).unwrap()
    }

    #[test]
    fn a_turn_is_counted_with_its_repetitions() {
        let mix = parsed(MAIL);
        assert_eq!(mix.check(), Ok(()));
        assert_eq!(mix.groups(), ["all", "delete", "deliver", "read"]);
        assert_eq!((mix.operations_of_a_turn(), mix.files[0].present(), mix.syncs()), (5, 80, true));
        assert!(mix.working_set_bytes() > 100 * 32 * 1024);
    }

    #[test]
    fn what_would_run_dry_or_makes_no_sense_is_refused() {
        for (from, to) in [
            ("threads = 4", "threads = 0"),
            ("filled = 0.8", "filled = 1.0"),
            ("filled = 0.8", "filled = 0.05"),
            ("shape = 1.5", "shape = 0.5"),
            ("count = 100", "count = 0"),
            ("name = \"read\"", "name = \"all\""),
            ("name = \"read\"", "name = \"delete\""),
            ("operation = \"delete\", files = \"mail\"", "operation = \"read\", files = \"mail\""),
            ("operation = \"delete\"", "operation = \"delete\", sync = true"),
            ("append = \"16KiB\", ", ""),
            ("times = 3", "times = 0"),
            ("operation = \"read\"", "operation = \"append\", append = \"1KiB\""),
            (
                "{ name = \"read\", operation = \"read\", files = \"mail\"",
                "{ name = \"read\", operation = \"read\", files = \"x\"",
            ),
        ] {
            assert!(MAIL.contains(from), "{from}");
            assert!(parsed(&MAIL.replace(from, to)).check().is_err(), "{to}");
        }
    }
}
