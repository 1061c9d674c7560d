//! Where the time of a result went in each lane.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Where callers' time went in one lane. The shares of `parts` add up to one.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Explanation {
    /// The lane.
    pub lane: String,
    /// What it rests on.
    #[serde(default)]
    pub basis: Basis,
    /// Seconds that callers waited for one operation while it was profiled: all of their time, by the operations; of work
    /// with several requests in flight, the time of one request.
    pub seconds_per_operation: f64,
    /// Operations per second while it was profiled.
    pub operations_per_second: f64,
    /// The same in the rounds that count, the median; absent where there are none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unprofiled_operations_per_second: Option<f64>,
    /// Samples on CPUs that it rests on.
    pub samples: u64,
    /// Events that were lost.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub lost_events: u64,
    /// The device's shares rest on its own counters: they are what callers waited for it at most.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub device_by_counters: bool,
    /// Parts with a share, the largest first.
    pub parts: Vec<PartShare>,
    /// The same in more detail, the largest first; none by counters, which know parts alone.
    pub causes: Vec<CauseShare>,
    /// Functions that no row of the table knows, the largest first, with the share of their time.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unknown: Vec<UnknownShare>,
}

/// What an explanation rests on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Basis {
    /// A pass behind the rounds that looked at threads and the device, and counts in no verdict.
    #[default]
    Profile,
    /// What was counted in the rounds themselves: CPU time, and the device's busy time, flushes and queue.
    Counters,
}

/// What a row is headed by whose limit no rule tells.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Headline {
    /// The slowest lane, whose time it is.
    pub lane: String,
    /// What it rests on.
    pub basis: Basis,
    /// The part that takes more than half; absent: none does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub part: Option<Part>,
    /// The share of the largest part that is known, 0 to 1.
    pub share: f64,
    /// The share that is not explained, 0 to 1.
    pub not_explained: f64,
    /// The share of the part is an upper bound.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub at_most: bool,
}

impl Headline {
    /// From here on it is said that too little is explained.
    pub const MOST_UNEXPLAINED: f64 = 1.0 / 3.0;

    /// Whether no part takes half, and more than a third is not explained.
    pub fn is_unknown(&self) -> bool {
        self.part.is_none() && self.not_explained > Headline::MOST_UNEXPLAINED
    }
}

/// What a share of the time is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Part {
    /// Requests at the lane's device, or in front of it.
    Device,
    /// Its flushes.
    Flush,
    /// The filesystem on a CPU.
    FilesystemCpu,
    /// Checksums, compression and encryption.
    Checksums,
    /// Locks, journals and logs.
    Locks,
    /// The page cache and memory.
    Memory,
    /// Workers of io_uring's and threads of the kernel's own.
    KernelThreads,
    /// Ready to run, without a CPU.
    Scheduler,
    /// A process that is the filesystem.
    FilesystemProcess,
    /// System calls, names and the block layer on a CPU.
    Kernel,
    /// The kernel on a CPU, the filesystem's code and all other, where they are not told apart.
    KernelCpu,
    /// The caller's own: Fairlane's, or that of programs.
    Fairlane,
    /// Not known.
    NotExplained,
}

impl Part {
    /// Every part, in the order in which they are shown.
    pub const ALL: [Part; 13] = [
        Part::Device,
        Part::Flush,
        Part::FilesystemCpu,
        Part::Checksums,
        Part::Locks,
        Part::Memory,
        Part::KernelThreads,
        Part::Scheduler,
        Part::FilesystemProcess,
        Part::Kernel,
        Part::KernelCpu,
        Part::Fairlane,
        Part::NotExplained,
    ];

    /// What it is called.
    pub fn title(self) -> &'static str {
        match self {
            Part::Device => "device",
            Part::Flush => "flush",
            Part::FilesystemCpu => "filesystem CPU",
            Part::Checksums => "checksums and compression",
            Part::Locks => "locks and journal",
            Part::Memory => "page cache and memory",
            Part::KernelThreads => "kernel threads",
            Part::Scheduler => "waiting for a CPU",
            Part::FilesystemProcess => "the filesystem's process",
            Part::Kernel => "system calls and block layer",
            Part::KernelCpu => "CPU in the kernel",
            Part::Fairlane => "the caller itself",
            Part::NotExplained => "not explained",
        }
    }
}

/// A part's share.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PartShare {
    /// The part.
    pub part: Part,
    /// Of the callers' time, 0 to 1.
    pub share: f64,
}

/// A cause's share.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CauseShare {
    /// What callers did, or waited for.
    pub cause: String,
    /// The part that it belongs to.
    pub part: Part,
    /// Of the callers' time, 0 to 1.
    pub share: f64,
}

/// A function that no row of the table knows.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct UnknownShare {
    /// Its name, as the kernel has it.
    pub function: String,
    /// Of the callers' time, 0 to 1.
    pub share: f64,
}

impl Explanation {
    /// The share of a part, 0 to 1.
    pub fn share(&self, part: Part) -> f64 {
        self.parts.iter().find(|of| of.part == part).map_or(0.0, |of| of.share)
    }

    /// The rate while it was profiled, by that of the rounds that count; absent where there are none.
    pub fn profiled_ratio(&self) -> Option<f64> {
        self.unprofiled_operations_per_second.filter(|rate| *rate > 0.0).map(|rate| self.operations_per_second / rate)
    }
}

// serde hands references to `skip_serializing_if`.
#[allow(clippy::trivially_copy_pass_by_ref)]
fn is_zero(count: &u64) -> bool {
    *count == 0
}
