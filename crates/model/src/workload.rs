//! One kind of work with its parameters, and the suites that list them.

use crate::Bytes;
pub use crate::appenders::{Appenders, AppendersMethod};
use crate::job::Data;
pub use crate::job::{Direction, FioRun, Io, Job, Jobs, Pattern};
pub use crate::kinds::small_files::SmallFiles;
pub use crate::kinds::{Schedule, WorkloadKind};
pub use crate::mix::Mix;
pub use crate::oltp::Oltp;
pub use crate::operations::Operations;
pub use crate::programs::Programs;
use crate::ranks::titled;
pub use crate::streams::Streams;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// A named list of workloads, as a TOML file holds it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Suite {
    /// The name that `--suite` takes.
    pub name: String,
    /// One sentence: whose question this suite answers.
    pub about: String,
    /// Lanes that are raced where none is named, of these the ones that this machine mounts and formats; none:
    /// ext4, xfs and btrfs.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lanes: Vec<String>,
    /// What the suite leaves out, named in every answer.
    #[serde(default)]
    pub not_tested: Vec<String>,
    /// In `quick` the width condition of method 2.1 falls: a sign with its interval is
    /// enough for a first answer.
    #[serde(default)]
    pub first_answer: bool,
    /// Passes behind the rounds look where the time of operations goes, as far as the budget has room for them
    /// (`race --explain`).
    #[serde(default)]
    pub explain: bool,
    /// Seconds of racing when neither `--budget` nor `--rounds` is given.
    #[serde(default)]
    pub budget_seconds: Option<f64>,
    /// Size of each lane where `--lane-size` is not given.
    #[serde(default)]
    pub lane_size: Option<Bytes>,
    /// Names of workloads, those that tell most first: where the time is too short for all, the others are
    /// left out, and named.
    #[serde(default)]
    pub most_telling: Vec<String>,
    /// Names of workloads that are raced a second time with data that compresses, where a lane compresses: of kind
    /// `io` or `operations`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub compressible_too: Vec<String>,
    /// The workloads in racing order.
    pub workload: Vec<Workload>,
    /// What `--as-published` changes: the tables `[workload.as_published]`, by the workload's name.
    /// They stand beside the workloads because a race does one or the other.
    #[serde(skip)]
    pub as_published: BTreeMap<String, toml::Table>,
}

/// What data compresses like where work is raced a second time with data that does: between text and program code.
pub(crate) const COMPRESSIBLE: Data = Data::Ratio27;

impl Workload {
    /// What its files hold, where the suite says it.
    pub fn data(&self) -> Option<&Data> {
        self.traits().data()
    }

    /// The same work with data that compresses, under a name and a title of its own, and so with its steps. `None`: its
    /// data is nobody's choice, or compresses already.
    pub fn with_compressible_data(&self) -> Option<Workload> {
        let beside = |title: &str| format!("{title}, data {COMPRESSIBLE}");
        let kind = self.traits().with_compressible_data(&beside)?;
        Some(Workload { name: format!("{}-compressible", self.name), title: beside(&self.title), kind })
    }
}

impl Workload {
    /// The same work as one step of a ladder: done by so many of the ranks of a job, which are `all`. That of all ranks
    /// keeps its name, by which more is known of it; the others have one of their own, and so have their steps.
    pub fn of_ranks(&self, ranks: u32, all: u32) -> Workload {
        let mut step = Workload { title: titled(&self.title, ranks), ..self.clone() };
        if ranks != all {
            step.name = format!("{}-ranks-{ranks}", self.name);
            step.kind.traits_mut().name_steps(&|name| titled(name, ranks));
        }
        step
    }
}

/// Seconds of the one slice of steady work that is measured as published.
pub const PUBLISHED_SLICE_SECONDS: f64 = 60.0;
/// Key of the tables that `--as-published` reads.
pub(crate) const AS_PUBLISHED: &str = "as_published";

/// One kind of work with its parameters.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Workload {
    /// Short and unique within its suite: `commit`, `random-read`.
    pub name: String,
    /// What a person calls it: `commit 4 KiB`.
    pub title: String,
    /// What the engine does.
    #[serde(flatten)]
    pub kind: Kind,
}

/// What the engine does.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Kind {
    /// Steady block I/O, measured in slices that alternate between lanes.
    Io(Box<Io>),
    /// A job file, run whole in one lane after another.
    Jobs(Box<Jobs>),
    /// A job file that the installed fio runs, whole, in one lane after another.
    Fio(Box<FioRun>),
    /// Create, read cold, delete many small files: once-only work, lane after lane.
    SmallFiles(SmallFiles),
    /// Operations on sets of files, step after step.
    Operations(Box<Operations>),
    /// Writers that append small records on time: one window, lane after lane.
    Appenders(Box<Appenders>),
    /// Transactions on a database in the lane, lane after lane.
    Oltp(Box<Oltp>),
    /// Large files: written, read, both at once, removed.
    Streams(Streams),
    /// Real programs with fixed arguments, one after another, lane after lane.
    Programs(Box<Programs>),
    /// Threads that repeat a turn of mixed operations: one window, lane after lane.
    Mix(Box<Mix>),
    /// One act at a time, by one thread and by several at once, each on files of its own or all on one.
    Contention(crate::kinds::contention::Contention),
    /// Clients that append to one file, count under one lock, and open one file, all at the same time.
    OneFile(crate::kinds::one_file::OneFile),
    /// All ranks of an MPI job write and read blocks of one file by MPI-IO at the same time.
    Collective(crate::kinds::collective::Collective),
    /// Records that are made durable one by one, in the ways of applications.
    Durable(crate::kinds::durable::Durable),
    /// What a program asked of files, done again: as a whole, lane after lane.
    Replay(Box<crate::kinds::replay::Replay>),
    /// What another tool did, of which only figures are known.
    Foreign(crate::kinds::foreign::Foreign),
}

impl Workload {
    /// The work's kind, to be asked what it is like.
    pub fn traits(&self) -> &dyn WorkloadKind {
        self.kind.traits()
    }

    /// The groups whose figures this workload yields, in order.
    pub fn groups(&self) -> Vec<String> {
        self.traits().groups()
    }

    /// The keys of TOML in which another workload differs, those of jobs and steps by their name (`a.bs`); name and
    /// title do not count, nor how options were taken.
    pub fn differing_keys(&self, other: &Workload) -> Vec<String> {
        let table = |of: &Workload| toml::Table::try_from(of).unwrap_or_default();
        let (mine, theirs) = (table(self), table(other));
        let mut found = Vec::new();
        let keys: BTreeSet<&String> = mine.keys().chain(theirs.keys()).collect();
        for key in keys.into_iter().filter(|key| !["name", "title"].contains(&key.as_str())) {
            differing(key, mine.get(key), theirs.get(key), &mut found);
        }
        // Another trace is another program: what is in it says nothing more.
        if found.iter().any(|key| key == "sha256") {
            found.retain(|key| key != "sha256" && key != "trace" && !key.starts_with("facts."));
            found.push("trace".to_owned());
        }
        found.dedup();
        found
    }

    /// The keys in which another workload differs, with the value here and there as TOML; `None` where
    /// the key is absent, which stands for its default. Name and title do not count.
    pub fn differing_values(&self, other: &Workload) -> Vec<(String, Option<String>, Option<String>)> {
        let table = |of: &Workload| toml::Table::try_from(of).unwrap_or_default();
        let (mine, theirs) = (table(self), table(other));
        let keys: BTreeSet<&String> = mine.keys().chain(theirs.keys()).collect();
        let differs = |key: &&String| !["name", "title"].contains(&key.as_str()) && mine.get(*key) != theirs.get(*key);
        let value = |of: &toml::Table, key: &str| of.get(key).map(ToString::to_string);
        keys.into_iter().filter(differs).map(|key| (key.clone(), value(&mine, key), value(&theirs, key))).collect()
    }

    /// Whether each operation ends in a flush, so that the flush ceiling is the one that counts.
    pub fn flush_bound(&self) -> bool {
        self.traits().is_flush_bound()
    }

    /// Whether flushes are part of what is measured, so that figures from where none reaches a disk are not those of
    /// durable work. What cannot be told of a job file that fio runs counts as flushing.
    pub fn flushes(&self) -> bool {
        self.traits().flushes()
    }

    /// The largest number of bytes that the work keeps on the lane.
    pub fn working_set_bytes(&self) -> u64 {
        self.traits().working_set_bytes()
    }

    /// What is wrong with the parameters, as one sentence with the remedy.
    ///
    /// # Errors
    /// The sentence, naming the workload and the key.
    pub fn check(&self) -> Result<(), String> {
        self.traits().check().map_err(|what| format!("workload {}: {what}", self.name))
    }
}

/// Adds the keys below `path` in which two values differ. What lies in lists is known by its name; a job's options and
/// what they came to are one and the same key.
fn differing(path: &str, mine: Option<&toml::Value>, theirs: Option<&toml::Value>, found: &mut Vec<String>) {
    use toml::Value::{Array, String as Text, Table};
    let named = |of: &[toml::Value]| -> Option<BTreeMap<String, toml::Value>> {
        let one = |value: &toml::Value| match value {
            Table(table) => Some((table.get("name")?.as_str()?.to_owned(), value.clone())),
            Array(pair) => match pair.as_slice() {
                [Text(key), text] => Some((key.clone(), text.clone())),
                _ => None,
            },
            _ => None,
        };
        let all: BTreeMap<String, toml::Value> = of.iter().map(one).collect::<Option<_>>()?;
        (all.len() == of.len()).then_some(all)
    };
    let parts = |value: Option<&toml::Value>| match value {
        Some(Table(table)) => Some(table.iter().map(|(key, value)| (key.clone(), value.clone())).collect()),
        Some(Array(list)) => named(list),
        _ => None,
    };
    if mine == theirs || path.ends_with("notes") {
        return;
    }
    match (parts(mine), parts(theirs)) {
        (Some(mine), Some(theirs)) => {
            let keys: BTreeSet<&String> = mine.keys().chain(theirs.keys()).collect();
            for key in keys {
                let below = match (path, key.as_str()) {
                    ("jobs", name) => name.to_owned(),
                    (job, "io" | "options") => job.to_owned(),
                    (path, key) => format!("{path}.{key}"),
                };
                differing(&below, mine.get(key), theirs.get(key), found);
            }
        }
        _ if found.iter().any(|known| known == path) => {}
        _ => found.push(path.to_owned()),
    }
}

impl Suite {
    /// The suite as TOML that [`Suite::from_toml`] reads again.
    ///
    /// # Errors
    /// Where a value has no TOML form.
    pub fn to_toml(&self) -> Result<String, String> {
        let mut table = toml::Table::try_from(self).map_err(|error| error.to_string())?;
        let workloads = table.get_mut("workload").and_then(|list| list.as_array_mut());
        for workload in workloads.into_iter().flatten().filter_map(|value| value.as_table_mut()) {
            let name = workload.get("name").and_then(|name| name.as_str()).unwrap_or_default();
            if let Some(changes) = self.as_published.get(name) {
                workload.insert(AS_PUBLISHED.to_owned(), toml::Value::Table(changes.clone()));
            }
        }
        toml::to_string(&table).map_err(|error| error.to_string())
    }

    /// Makes every workload what the article did, once: steady work is one slice of 60 s, operations
    /// and writers of appenders are a process each, and what a workload's table `as_published` says comes on top.
    ///
    /// # Errors
    /// One sentence that names workload and key; never for a suite from [`Suite::from_toml`].
    pub fn do_as_published(&mut self) -> Result<(), String> {
        let changed: Result<Vec<Workload>, String> =
            self.workload.iter().map(|workload| self.published(workload)).collect();
        self.workload = changed?;
        Ok(())
    }

    /// One workload as the article did it.
    pub(crate) fn published(&self, workload: &Workload) -> Result<Workload, String> {
        let mut workload = workload.clone();
        workload.kind.traits_mut().do_as_published();
        let Some(changes) = self.as_published.get(&workload.name) else { return Ok(workload) };
        let name = workload.name.clone();
        let mut table = toml::Table::try_from(&workload).map_err(|error| error.to_string())?;
        for (key, value) in changes {
            if ["name", "title", "kind"].contains(&key.as_str()) {
                return Err(format!("workload {name}: as_published cannot change {key}; add a workload instead"));
            }
            table.insert(key.clone(), value.clone());
        }
        let wrong = |what: &str| format!("workload {name}: as_published: {what}");
        let changed: Workload =
            table.try_into().map_err(|error: toml::de::Error| wrong(&error.message().trim().replace('\n', " ")))?;
        changed.check().map_err(|what| wrong(what.strip_prefix(&format!("workload {name}: ")).unwrap_or(&what)))?;
        Ok(changed)
    }
}

/// The sentence for a job file in a suite.
pub(crate) fn no_job_file(workload: &str) -> String {
    format!(
        "{workload}: a suite holds no job files and no traces; run one with `fairlane fio JOBFILE` or `fairlane race --replay TRACE`"
    )
}

#[cfg(test)]
mod tests;
