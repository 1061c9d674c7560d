//! Operations on files: sets of files, and steps that work on them one after another.

mod ability;
mod amounts;
mod check;
mod clients;
mod kind;
mod naming;
mod pieces;
mod rehearsal;
mod states;

pub use ability::{Ability, Asked};
pub use amounts::{Amount, Present};
pub use check::{At, Mistake};
pub use pieces::Pieces;
pub use rehearsal::Rehearsal;
pub use states::{Change, ChangeKind, DirectoryState, FileState, SetState, State, size_after};

use crate::Bytes;
use crate::job::Data;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// Work on many files. Steps run in order, and each is a group with figures of its own. Done once a
/// round, all lanes do a step before any begins the next; otherwise lanes take turns at all steps.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Operations {
    /// How the kernel is asked.
    #[serde(default)]
    pub method: Method,
    /// Threads that share each step, 1 to 1024; "cpus": as many as there are CPUs, 2 to 8.
    #[serde(default = "one_thread", deserialize_with = "crate::threads::read")]
    #[schemars(schema_with = "crate::threads::schema")]
    pub threads: u32,
    /// Whether threads work in the same directories, and over MPI all ranks.
    #[serde(default)]
    pub sharing: Sharing,
    /// How often all steps are done in each round, 1 to 1000, each time in a new folder and one lane
    /// after the other; a step's figure is the median. For steps that are shorter than what disturbs
    /// them.
    #[serde(default = "one_loop")]
    pub loops: u32,
    /// What files hold: `incompressible`, `1.6:1`, `2.7:1` or `compress:50`, as zstd -3 compresses it.
    #[serde(default, skip_serializing_if = "is_incompressible")]
    pub data: Data,
    /// What is worked on.
    pub files: Vec<FileSet>,
    /// What is done, in order.
    #[serde(deserialize_with = "naming::steps")]
    pub step: Vec<OperationStep>,
}

fn is_incompressible(data: &Data) -> bool {
    *data == Data::Incompressible
}

/// How the kernel is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Method {
    /// System calls of the agent itself (a library's own calls on a library lane).
    #[default]
    InProcess,
    /// One process of the system's own tools for each operation, as a shell script would start them,
    /// but without a shell: what the articles timed.
    ProcessPerOperation,
}

/// Whether threads work in the same directories.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Sharing {
    /// A directory's files belong to all threads: thread t takes every file n with n mod threads = t.
    Shared,
    /// Thread t works on a contiguous share of the files; with at least as many directories as
    /// threads, no directory is visited by two threads.
    #[default]
    Private,
}

/// A named set of files of one kind, spread evenly over directories.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FileSet {
    /// What steps call it; unique in the workload.
    pub name: String,
    /// Number of files; 0: the set is its directories alone.
    #[serde(default)]
    pub count: u64,
    /// Bytes of each file when it is created.
    #[serde(default)]
    pub size: FileSize,
    /// Directories that share the files: file n lies in directory n·directories/count.
    #[serde(default = "one_directory")]
    pub directories: u64,
    /// Most directories in one directory, where the directories form a tree; 0: all side by side.
    #[serde(default)]
    pub fan_out: u64,
    /// The folder in which the set lives; sets that name the same folder and have one directory share
    /// it. Default: a folder of its own.
    #[serde(default)]
    pub folder: Option<String>,
    /// Made before the clock runs, so that the first step can read, stat or remove.
    #[serde(default)]
    pub populate: bool,
    /// What names look like.
    #[serde(default)]
    pub names: Names,
    /// Bytes of a file's name, 10 to 255; default 10.
    #[serde(default = "default_name_bytes")]
    pub name_bytes: u32,
}

/// What names look like.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Names {
    /// A letter and digits: `f000000123`, filled with `x` to `name_bytes`; where sets share a folder,
    /// two letters of the set's own behind the first.
    #[default]
    Plain,
    /// In turn: 255 bytes, UTF-8 of several scripts, spaces, a leading dash, a newline, a backslash,
    /// control characters; each carries its number. `name_bytes` has no effect on them.
    Hostile,
}

/// Bytes of a file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum FileSize {
    /// Every file alike.
    Fixed(Bytes),
    /// Uniform in bytes between the two, both included.
    Between {
        /// Smallest.
        from: Bytes,
        /// Largest.
        to: Bytes,
    },
    /// File n has the n-th of these; as many as there are files.
    Each(Vec<Bytes>),
    /// Each size with a weight.
    Weighted(Vec<WeightedSize>),
}

impl Default for FileSize {
    fn default() -> Self {
        FileSize::Fixed(Bytes(0))
    }
}

impl FileSize {
    /// Smallest and largest size.
    pub fn bounds(&self) -> (u64, u64) {
        match self {
            FileSize::Fixed(size) => (size.0, size.0),
            FileSize::Between { from, to } => (from.0, to.0),
            FileSize::Each(sizes) => {
                let all = || sizes.iter().map(|size| size.0);
                (all().min().unwrap_or(0), all().max().unwrap_or(0))
            }
            FileSize::Weighted(sizes) => {
                let drawn = || sizes.iter().filter(|size| size.weight > 0.0).map(|size| size.size.0);
                (drawn().min().unwrap_or(0), drawn().max().unwrap_or(0))
            }
        }
    }

    /// Mean size in bytes.
    pub fn mean(&self) -> u64 {
        match self {
            FileSize::Fixed(size) => size.0,
            FileSize::Between { from, to } => from.0.midpoint(to.0),
            FileSize::Each(sizes) => {
                let all: u128 = sizes.iter().map(|size| u128::from(size.0)).sum();
                u64::try_from(all.div_ceil(sizes.len().max(1) as u128)).unwrap_or(u64::MAX)
            }
            FileSize::Weighted(sizes) => {
                let all: f64 = sizes.iter().map(|size| size.weight).sum();
                (sizes.iter().map(|size| size.size.0 as f64 * size.weight).sum::<f64>() / all.max(f64::MIN_POSITIVE))
                    as u64
            }
        }
    }
}

/// A size and how often it is drawn.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WeightedSize {
    /// Bytes.
    pub size: Bytes,
    /// Share, against the sum of all weights.
    pub weight: f64,
}

/// One step: an operation on a range of a set.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OperationStep {
    /// Name of the group; unique in the workload. Default: the operation's own name, with the set's
    /// name and a number where steps would be called alike.
    #[serde(default)]
    pub name: String,
    /// What a table calls the groups that belong together: `small files`, `metadata`, …
    #[serde(default)]
    pub section: String,
    /// What is done.
    pub operation: Operation,
    /// Name of the set; with `list` all sets in the same folder count.
    pub files: String,
    /// First file (directory, for operations on directories).
    #[serde(default)]
    pub first: u64,
    /// How many of them; default: the rest. Of `random-read` and `random-write`: operations in all.
    #[serde(default)]
    pub count: Option<u64>,
    /// Bytes of one read or write call; default 1 MiB, or the file's size where that is less. Of
    /// `append`, `random-read`, `random-write`, `fallocate`: bytes of the operation. Of `truncate`: the
    /// new size. These five must say.
    #[serde(default)]
    pub block: Option<Bytes>,
    /// What is made stable.
    #[serde(default)]
    pub sync: SyncPolicy,
    /// Caches are emptied before.
    #[serde(default)]
    pub cold: bool,
}

impl OperationStep {
    /// Whether a flush is part of what is measured.
    pub fn flushes(&self) -> bool {
        matches!(self.operation, Operation::Fsync | Operation::FsyncDirectory)
            || (self.operation.changes() && self.sync != SyncPolicy::None)
    }
}

/// When written data is made stable.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum SyncPolicy {
    /// Not in this step: it is charged beside it, to the trial's sync.
    None,
    /// `fsync` of the file (of the directory, where names change) is part of each operation.
    Each,
    /// One `syncfs` after the last operation, charged to the step; where a step alternates between lanes in parts, one
    /// after each part.
    #[default]
    End,
}

/// What a step does to each file, directory or block.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Operation {
    /// Make a file that is not there and write it: open(O_CREAT|O_EXCL), write, close.
    Create,
    /// Write the whole file anew in blocks (it is made where it is not there), the file opened once;
    /// each block is an operation.
    Write,
    /// Open, read to the end, close.
    Read,
    /// Open with O_APPEND, write `block` bytes, close.
    Append,
    /// Open, write over all of it in place, close.
    Overwrite,
    /// Reads of `block` bytes at random multiples of it, the file opened once; each is an operation.
    /// They are spread evenly over the files of the set, from `first` on.
    RandomRead,
    /// Writes of `block` bytes at random multiples of it, likewise.
    RandomWrite,
    /// fstatat.
    Stat,
    /// Read a directory to its end; each directory is an operation.
    List,
    /// Open and close.
    Open,
    /// Rename within the directory.
    Rename,
    /// Rename into the next directory of the set.
    RenameAcross,
    /// A hard link beside the file.
    Link,
    /// A symbolic link beside the file.
    Symlink,
    /// ftruncate to `block` bytes.
    Truncate,
    /// Allocate `block` bytes behind the file's end without writing; the file grows by them.
    Fallocate,
    /// A copy beside the file that shares its blocks (FICLONE).
    Reflink,
    /// Set an extended attribute `user.fairlane` of 32 bytes.
    Setxattr,
    /// Read it.
    Getxattr,
    /// Open the file, fsync, close.
    Fsync,
    /// Open each directory of the set, fsync, close.
    FsyncDirectory,
    /// Remove the file, and links and copies beside it that steps made.
    Unlink,
    /// Make each directory of the set; without such a step they are there from the beginning.
    Mkdir,
    /// Remove each directory of the set, which must be empty.
    Rmdir,
    /// Remove everything of the set: files, then directories.
    RemoveTree,
}

/// Things from which on a step is cut into parts that alternate between lanes.
const MANY: u64 = 1000;
/// Parts of such a step (method 1.1: 4 to 10 slices).
const PARTS: u32 = 10;
/// Bytes of one file at most.
const LARGEST_FILE: u64 = 1 << 40;
/// Bytes of the pool of random bytes of which each thread makes what it writes.
pub const POOL_BYTES: u64 = Bytes::MIB;
/// Bytes of one read or write call where a step does not say.
const DEFAULT_BLOCK: Bytes = Bytes(Bytes::MIB);

fn one_thread() -> u32 {
    1
}

fn one_loop() -> u32 {
    1
}

fn one_directory() -> u64 {
    1
}

fn default_name_bytes() -> u32 {
    10
}

impl Operations {
    /// The groups, in the order of the steps.
    pub fn groups(&self) -> Vec<String> {
        self.step.iter().map(|step| step.group().to_owned()).collect()
    }

    /// What is wrong with the parameters, as one sentence with the remedy.
    ///
    /// # Errors
    /// The sentence, naming the set or the step.
    pub fn check(&self) -> Result<(), String> {
        check::check(self).map_err(|mistake| mistake.what)
    }

    /// The same, with the set or the step that it is in.
    pub fn mistake(&self) -> Option<Mistake> {
        check::check(self).err()
    }

    /// Whether another set lives in the same folder.
    pub fn shares_folder(&self, set: &FileSet) -> bool {
        set.folder.is_some() && self.files.iter().filter(|other| other.folder == set.folder).count() > 1
    }

    /// Digits of the number in a file's name: two letters tell the sets of a shared folder apart.
    pub fn digits(&self, set: &FileSet) -> u32 {
        if self.shares_folder(set) && set.names == Names::Plain { (set.name_bytes - 3).min(9) } else { 9 }
    }

    /// The files that a step on files works on.
    pub fn files_of(&self, step: &OperationStep) -> Range<u64> {
        match step.operation {
            // They are spread evenly over the rest of the set.
            Operation::RandomRead | Operation::RandomWrite => {
                step.first..self.set(&step.files).map_or(0, |set| set.count)
            }
            _ => self.things(step),
        }
    }

    /// The step whose group this is.
    pub fn step_named(&self, group: &str) -> Option<&OperationStep> {
        self.step.iter().find(|step| step.group() == group)
    }

    /// The set of that name.
    pub fn set(&self, name: &str) -> Option<&FileSet> {
        self.files.iter().find(|set| set.name == name)
    }

    /// For each step, whether everything is read back before it where contents are checked: it
    /// removes or replaces what steps since the last check wrote.
    pub fn checks(&self) -> Vec<bool> {
        let mut unchecked: Vec<&str> = Vec::new();
        let before = |step: &'_ OperationStep, unchecked: &[&str]| {
            let replaces = matches!(step.operation, Operation::Write | Operation::Overwrite | Operation::Truncate);
            (step.operation.removes() && !unchecked.is_empty()) || (replaces && unchecked.contains(&&*step.files))
        };
        let mut checks = Vec::with_capacity(self.step.len());
        for step in &self.step {
            let check = before(step, &unchecked);
            if check {
                unchecked.clear();
            }
            if step.operation.writes() {
                unchecked.push(&step.files);
            }
            checks.push(check);
        }
        checks
    }

    /// In how many parts a step alternates between lanes: 1 for short ones, and where an operation
    /// is so small a piece of one file that a cut would open the file again.
    pub fn parts(&self, step: &OperationStep) -> u32 {
        if self.method == Method::InProcess && self.things(step).end - self.things(step).start >= MANY {
            PARTS
        } else {
            1
        }
    }

    /// The files or directories that a step works on; of random reads and writes its operations.
    pub fn things(&self, step: &OperationStep) -> Range<u64> {
        let all = self.set(&step.files).map_or(0, |set| match step.operation.works_on() {
            Thing::File => set.count,
            Thing::Directory => set.directories,
        });
        match step.operation {
            Operation::RandomRead | Operation::RandomWrite => 0..step.count.unwrap_or(0),
            _ => step.first..step.count.map_or(all, |count| step.first.saturating_add(count)),
        }
    }
}

/// What an operation is done to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Thing {
    /// Each file of the range.
    File,
    /// Each directory of the range.
    Directory,
}

impl Operation {
    /// What it is done to.
    pub fn works_on(self) -> Thing {
        match self {
            Operation::List
            | Operation::FsyncDirectory
            | Operation::Mkdir
            | Operation::Rmdir
            | Operation::RemoveTree => Thing::Directory,
            _ => Thing::File,
        }
    }

    /// As TOML and groups name it.
    pub fn name(self) -> &'static str {
        match self {
            Operation::Create => "create",
            Operation::Write => "write",
            Operation::Read => "read",
            Operation::Append => "append",
            Operation::Overwrite => "overwrite",
            Operation::RandomRead => "random-read",
            Operation::RandomWrite => "random-write",
            Operation::Stat => "stat",
            Operation::List => "list",
            Operation::Open => "open",
            Operation::Rename => "rename",
            Operation::RenameAcross => "rename-across",
            Operation::Link => "link",
            Operation::Symlink => "symlink",
            Operation::Truncate => "truncate",
            Operation::Fallocate => "fallocate",
            Operation::Reflink => "reflink",
            Operation::Setxattr => "setxattr",
            Operation::Getxattr => "getxattr",
            Operation::Fsync => "fsync",
            Operation::FsyncDirectory => "fsync-directory",
            Operation::Unlink => "unlink",
            Operation::Mkdir => "mkdir",
            Operation::Rmdir => "rmdir",
            Operation::RemoveTree => "remove-tree",
        }
    }

    /// Whether it leaves something behind that is to be made stable.
    pub fn changes(self) -> bool {
        !matches!(
            self,
            Operation::Read
                | Operation::RandomRead
                | Operation::Stat
                | Operation::List
                | Operation::Open
                | Operation::Getxattr
                | Operation::Fsync
                | Operation::FsyncDirectory
        )
    }

    /// Whether it changes what files hold.
    pub fn writes(self) -> bool {
        matches!(
            self,
            Operation::Create
                | Operation::Write
                | Operation::Append
                | Operation::Overwrite
                | Operation::RandomWrite
                | Operation::Truncate
                | Operation::Reflink
                | Operation::Symlink
        )
    }

    /// Whether it removes what steps before it made.
    pub fn removes(self) -> bool {
        matches!(self, Operation::Unlink | Operation::Rmdir | Operation::RemoveTree)
    }
}

impl OperationStep {
    /// Name of its group.
    pub fn group(&self) -> &str {
        if self.name.is_empty() { self.operation.name() } else { &self.name }
    }

    /// Bytes of one call, or of the operation, as `block` says.
    pub fn block(&self) -> Bytes {
        self.block.unwrap_or(DEFAULT_BLOCK)
    }
}
