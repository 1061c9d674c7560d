//! What a lane promises: what decides whether two lanes' speeds may be ranked; and what it guarantees beside that.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What a lane promises: what decides whether two lanes' speeds may be ranked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Promises {
    /// Metadata survives a crash without a full check: a journal, a log or copy-on-write.
    pub journal: bool,
    /// Data is checksummed.
    pub data_checksums: bool,
    /// `fsync` returns only after the data was handed to the device as stable.
    pub fsync_reaches_stable_storage: bool,
    /// Writes are ordered with flushes on the way to stable storage.
    pub barriers: bool,
    /// What was made durable does not go with the disk of a cache: none stands under the filesystem, or it keeps nothing that
    /// the disk behind it lacks.
    #[serde(default = "yes", skip_serializing_if = "is_yes")]
    pub outlives_cache: bool,
}

/// What a lane guarantees after a crash, or when it does, beside its promises: said beside a verdict, and void none.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct Guarantees {
    /// Whether its metadata has checksums; absent: nobody told.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metadata_checksums: Option<bool>,
    /// How often its metadata is kept on one device; absent: nobody told, or it is spread over several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metadata_copies: Option<u32>,
    /// Its mount options that change what it guarantees; of those that speak of one thing the last.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub options: Vec<OptionEffect>,
}

/// A mount option, and what it changes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct OptionEffect {
    /// As it is given: `data=writeback`.
    pub option: String,
    /// What it changes.
    pub effect: CrashEffect,
}

/// What a mount option changes of what is there after a crash, or of when that is made safe.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum CrashEffect {
    /// Files may hold old contents of the disk.
    StaleAfterCrash,
    /// All data is written to the journal first.
    JournalsData,
    /// The journal does not wait for its blocks.
    CommitsOutOfOrder,
    /// A file that was replaced by a rename may be empty.
    ReplacedMayBeEmpty,
    /// Blocks are allocated when `write` is called.
    AllocatesAtOnce,
    /// Changes of directories are on the disk when the call returns.
    SynchronousNames,
    /// Each commit writes all data first.
    CommitsAllData,
    /// An fsync commits more than the file asked for.
    CommitsAllAtFsync,
    /// An older state may be mounted.
    OlderState,
    /// Data is overwritten in place.
    OverwritesInPlace,
    /// Data reaches the disk in the order in which it was written.
    KeepsOrder,
    /// Every write is on the disk when the call returns.
    SynchronousWrites,
    /// Timestamps reach the disk up to a day later.
    LazyTimestamps,
    /// What nobody synced is committed after other seconds than usual.
    CommitsEvery {
        /// Seconds.
        seconds: u32,
        /// Seconds without the option.
        usual_seconds: u32,
    },
}

/// When a server answers what a client asks it to make durable. No client sees that: somebody said it who named the lane.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ServerAnswers {
    /// Once its disk has it: `sync` of exports(5).
    Sync,
    /// Before its disk has it, so that a crash of the server may lose what clients had synced: `async`.
    Async,
}

impl ServerAnswers {
    /// Both.
    pub const ALL: [ServerAnswers; 2] = [ServerAnswers::Sync, ServerAnswers::Async];

    /// As a lane has it.
    pub fn word(self) -> &'static str {
        match self {
            ServerAnswers::Sync => "sync",
            ServerAnswers::Async => "async",
        }
    }
}

/// Filesystems that servers keep, as the mount table calls them: a client sees neither their disks nor what these promise.
pub const SERVED: [&str; 15] = [
    "9p",
    "afs",
    "beegfs",
    "ceph",
    "cifs",
    "fuse.ceph",
    "fuse.glusterfs",
    "gpfs",
    "lustre",
    "nfs",
    "nfs4",
    "orangefs",
    "pvfs2",
    "smb3",
    "wekafs",
];

fn yes() -> bool {
    true
}

fn is_yes(is: &bool) -> bool {
    *is
}

impl Promises {
    /// The durability promises in which two lanes differ, as words; empty: their speeds may be
    /// ranked. Data checksums are a feature that costs time by design, as copy-on-write is: they
    /// are named beside a verdict and do not void it.
    pub fn durability_differences(&self, other: &Promises) -> Vec<&'static str> {
        let pairs = [
            (self.journal, other.journal, "crash-safe metadata"),
            (self.fsync_reaches_stable_storage, other.fsync_reaches_stable_storage, "fsync reaches stable storage"),
            (self.barriers, other.barriers, "write barriers"),
            (self.outlives_cache, other.outlives_cache, "fsync outlives a cache's disk"),
        ];
        pairs.into_iter().filter(|(a, b, _)| a != b).map(|(_, _, name)| name).collect()
    }
}
