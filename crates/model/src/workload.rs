//! One kind of work with its parameters, and the suites that list them.

use crate::Bytes;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A named list of workloads, as a TOML file holds it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Suite {
    /// The name that `--suite` takes.
    pub name: String,
    /// One sentence: whose question this suite answers.
    pub about: String,
    /// What the suite leaves out, named in every answer.
    #[serde(default)]
    pub not_tested: Vec<String>,
    /// In `quick` the width condition of methods section 2 falls: a sign with its interval is
    /// enough for a first answer.
    #[serde(default)]
    pub first_answer: bool,
    /// Seconds of racing when neither `--budget` nor `--rounds` is given.
    #[serde(default)]
    pub budget_seconds: Option<f64>,
    /// The workloads in racing order.
    pub workload: Vec<Workload>,
}

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
    /// Steady block I/O on one file, measured in slices that alternate between lanes.
    Io(Io),
    /// Create, read cold, delete many small files: once-only work, lane after lane.
    SmallFiles(SmallFiles),
}

/// Steady block I/O on one file; the names are fio's.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Io {
    /// Access pattern.
    pub rw: Pattern,
    /// Bytes per operation.
    pub bs: Bytes,
    /// Size of the file; for `append` the size at which a new file is begun.
    pub size: Bytes,
    /// I/O engine: a row of the engine's table (`sync`, `io_uring`, `null`).
    #[serde(default = "default_ioengine")]
    pub ioengine: String,
    /// I/Os kept in flight; 1 for `sync`.
    #[serde(default = "one")]
    pub iodepth: u32,
    /// O_DIRECT.
    #[serde(default)]
    pub direct: bool,
    /// `fdatasync` after every N writes; 0: never. The sync is part of the operation's latency.
    #[serde(default)]
    pub fdatasync: u32,
    /// Slices per trial (methods section 1: 4 to 10).
    #[serde(default = "default_slices")]
    pub slices: u32,
    /// Measured seconds per slice (methods section 1: 0.1 to 0.25).
    #[serde(default = "default_slice_seconds")]
    pub slice_seconds: f64,
}

/// Access pattern of block I/O.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Pattern {
    /// Sequential reads of a populated file.
    Read,
    /// Sequential overwrites of a populated file.
    Write,
    /// Uniform random reads of a populated file.
    RandRead,
    /// Uniform random overwrites of a populated file.
    RandWrite,
    /// Writes at the end of a growing file.
    Append,
}

impl Pattern {
    /// Whether the file must be written in full before the work begins.
    pub fn needs_populated_file(self) -> bool {
        self != Pattern::Append
    }

    /// Whether the work reads.
    pub fn reads(self) -> bool {
        matches!(self, Pattern::Read | Pattern::RandRead)
    }

    /// Whether offsets are random.
    pub fn random(self) -> bool {
        matches!(self, Pattern::RandRead | Pattern::RandWrite)
    }
}

/// Create, read cold, delete many small files. Creating and deleting include their `syncfs`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SmallFiles {
    /// Number of files.
    pub files: u64,
    /// Bytes per file.
    pub size: Bytes,
    /// Directories that share the files evenly.
    #[serde(default = "default_directories")]
    pub directories: u64,
}

fn default_ioengine() -> String {
    "sync".to_owned()
}
fn one() -> u32 {
    1
}
fn default_slices() -> u32 {
    5
}
fn default_slice_seconds() -> f64 {
    0.15
}
fn default_directories() -> u64 {
    1
}

impl Workload {
    /// The groups whose figures this workload yields, in order.
    pub fn groups(&self) -> &'static [&'static str] {
        match &self.kind {
            Kind::Io(io) if io.rw.reads() => &["read"],
            Kind::Io(_) => &["write"],
            Kind::SmallFiles(_) => &["create", "read", "delete"],
        }
    }

    /// Whether each operation ends in a flush, so that the flush ceiling is the one that counts.
    pub fn flush_bound(&self) -> bool {
        matches!(&self.kind, Kind::Io(io) if io.fdatasync > 0)
    }

    /// The largest number of bytes that the work keeps on the lane.
    pub fn working_set_bytes(&self) -> u64 {
        match &self.kind {
            // A full file waits for its removal beside the one that grows.
            Kind::Io(io) if io.rw == Pattern::Append => io.size.0.saturating_mul(2),
            Kind::Io(io) => io.size.0,
            // An inode and a directory entry beside each file's own block.
            Kind::SmallFiles(small) => small.files.saturating_mul(small.size.0.next_multiple_of(4096) + 1024),
        }
    }

    /// What is wrong with the parameters, as one sentence with the remedy.
    ///
    /// # Errors
    /// The sentence, naming the workload and the key.
    pub fn check(&self) -> Result<(), String> {
        let name = &self.name;
        match &self.kind {
            Kind::Io(io) => {
                let fail = |what: &str| Err(format!("workload {name}: {what}"));
                if io.bs.0 == 0 || io.bs.0 > io.size.0 {
                    return fail("bs must lie between 1 byte and size; change bs or size");
                }
                if io.bs.0 > 64 * Bytes::MIB {
                    return fail("bs is above 64MiB; lower it");
                }
                if io.direct && !io.bs.0.is_multiple_of(512) {
                    return fail("bs must be a multiple of 512 with direct = true; change bs or direct");
                }
                if io.iodepth == 0 || io.iodepth > 4096 {
                    return fail("iodepth must lie between 1 and 4096");
                }
                if io.ioengine == "sync" && io.iodepth != 1 {
                    return fail("ioengine sync keeps one I/O in flight; set iodepth = 1 or ioengine = \"io_uring\"");
                }
                if io.fdatasync > 0 && io.rw.reads() {
                    return fail("fdatasync needs a writing rw; remove it or write");
                }
                if io.fdatasync > 0 && io.iodepth != 1 {
                    return fail("fdatasync counts writes one after another; set iodepth = 1");
                }
                if !(1..=100).contains(&io.slices) {
                    return fail("slices must lie between 1 and 100");
                }
                if !(0.01..=3600.0).contains(&io.slice_seconds) {
                    return fail("slice_seconds must lie between 0.01 and 3600");
                }
                Ok(())
            }
            Kind::SmallFiles(small) => {
                let fail = |what: &str| Err(format!("workload {name}: {what}"));
                if small.files == 0 || small.files > 100_000_000 {
                    return fail("files must lie between 1 and 100000000");
                }
                if small.directories == 0 || small.directories > small.files {
                    return fail("directories must lie between 1 and files");
                }
                if small.size.0 > 64 * Bytes::MIB {
                    return fail("size is above 64MiB; lower it");
                }
                Ok(())
            }
        }
    }
}

impl Suite {
    /// Reads a suite from TOML and checks it.
    ///
    /// # Errors
    /// One sentence with the line where TOML knows it, and the remedy.
    pub fn from_toml(text: &str) -> Result<Self, String> {
        let suite: Suite = toml::from_str(text).map_err(|error| mistake_in(text, &error))?;
        if suite.workload.is_empty() {
            return Err("the suite lists no workload; add a [[workload]] table".to_owned());
        }
        for (index, workload) in suite.workload.iter().enumerate() {
            if suite.workload[..index].iter().any(|earlier| earlier.name == workload.name) {
                return Err(format!("two workloads are named {}; rename one", workload.name));
            }
            workload.check()?;
        }
        Ok(suite)
    }
}

/// The sentence for TOML that is no suite. A workload's own keys are read through a flattened enum,
/// which loses where a mistake stands: the workload is read again alone, and the key is the one
/// without which the mistake is another.
fn mistake_in(text: &str, error: &toml::de::Error) -> String {
    let workloads = toml::from_str::<toml::Table>(text)
        .ok()
        .and_then(|table| table.get("workload").and_then(|list| list.as_array().cloned()))
        .unwrap_or_default();
    for value in workloads {
        let Some(table) = value.as_table() else { continue };
        let Err(wrong) = table.clone().try_into::<Workload>() else { continue };
        let name = table.get("name").and_then(|name| name.as_str()).unwrap_or("without a name");
        let without = |key: &String| {
            let mut rest = table.clone();
            rest.remove(key);
            rest.try_into::<Workload>().err().map(|error| error.message().to_owned())
        };
        let message = wrong.message();
        let culprit = table.keys().find(|key| without(key).as_deref() != Some(message));
        return match culprit {
            Some(key) if !message.contains(key.as_str()) => format!("workload {name}: {key}: {message}"),
            _ => format!("workload {name}: {message}"),
        };
    }
    let line = error.span().map_or(1, |span| text[..span.start.min(text.len())].matches('\n').count() + 1);
    format!("line {line}: {}", error.message())
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = r#"
        name = "t"
        about = "a test"
        [[workload]]
        name = "commit"
        title = "commit 4 KiB"
        kind = "io"
        rw = "append"
        bs = "4KiB"
        size = "64MiB"
        fdatasync = 1
    "#;

    #[test]
    fn a_suite_is_read_with_defaults() {
        let suite = Suite::from_toml(TEXT).unwrap();
        assert!(suite.workload[0].flush_bound());
        assert_eq!(suite.workload[0].groups(), ["write"]);
        let again: Suite = toml::from_str(&toml::to_string(&suite).unwrap()).unwrap();
        assert_eq!(again, suite);
    }

    #[test]
    fn wrong_parameters_are_refused_by_name() {
        for (from, to, says) in [
            ("bs = \"4KiB\"", "bs = \"0\"", "bs must"),
            ("fdatasync = 1", "fdatasync = 1\niodepth = 4", "iodepth = 1"),
            ("fdatasync = 1", "bananas = 1", "bananas"),
            ("rw = \"append\"", "rw = \"sideways\"", "sideways"),
        ] {
            let error = Suite::from_toml(&TEXT.replace(from, to)).unwrap_err();
            assert!(error.contains(says), "{error}");
        }
    }
}
