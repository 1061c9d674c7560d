//! What the conductor tells the agent and what the agent answers: one JSON object a line.
//!
//! The agent is the same whether it is a local child process, PID 1 of a guest or a rank of an
//! MPI job. It lives as long as its lane, answers every request with exactly one [`Reply`], and
//! ends when its standard input closes.

use crate::flag::Flag;
use crate::ranks::Clients;
use crate::trial::{Group, JobUse, SystemUse};
use crate::workload::Workload;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// A request to the agent.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "do", rename_all = "kebab-case")]
pub enum Request {
    /// Says who it is.
    Hello,
    /// Takes a target; anything taken before is released.
    Attach {
        /// Where the work happens.
        target: Target,
        /// Which devices to watch.
        devices: Devices,
    },
    /// Closes every file in the target, so that it can be unmounted or made cold.
    Detach,
    /// Says where processes that outlive a request (servers) note their ids while they run.
    Note {
        /// The file; it is there while such a process runs.
        path: PathBuf,
    },
    /// Makes the files that the workload needs, `fsync`ed. Seeded: equal in every lane.
    Prepare {
        /// The workload.
        workload: Workload,
        /// Seed of this round, the same for every lane.
        seed: u64,
        /// Which of several clients this is.
        #[serde(default, skip_serializing_if = "Clients::is_alone")]
        clients: Clients,
    },
    /// Begins the prepared work of operations once more, in a new folder; what was there is removed.
    /// What follows counts with what came before it.
    Again,
    /// Runs one slice of steady work.
    Slice {
        /// Seconds that run before the window and do not count.
        warm_up_seconds: f64,
        /// Measured seconds.
        seconds: f64,
        /// Look at every thread's CPU time around the window.
        threads: bool,
    },
    /// Goes on where the last slice ended, until so many operations are done, those of the slice included.
    WearOut {
        /// How many.
        operations: u64,
    },
    /// Runs one phase of once-only work, its `syncfs` charged.
    Phase {
        /// Name of the group: `create`, `read`, `delete`.
        group: String,
        /// Which part of it: reading may be done in parts that alternate between lanes.
        #[serde(default)]
        part: Part,
        /// Look at every thread's CPU time around the window.
        threads: bool,
    },
    /// Runs a job file whole.
    Run {
        /// Look at every thread's CPU time around the window.
        threads: bool,
    },
    /// Reads back what a job file or operations wrote and compares it, after the lane was mounted again; a
    /// database checks its tables.
    Verify,
    /// Reads some of what another client wrote, whose files the target holds or who shares them, and compares it.
    CheckOther {
        /// Its number, from 0.
        client: u32,
        /// What it is called where something is wrong: its rank, which is another number where not all ranks work.
        rank: u32,
        /// Its seed, as that of `prepare`.
        seed: u64,
    },
    /// `syncfs` on the target.
    Sync,
    /// Ends the workload: answers with the whole trial's groups, and forgets it. Files stay.
    Finish,
    /// Ends the agent.
    Quit,
}

/// A part of a phase.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Part {
    /// From 0.
    pub index: u32,
    /// Number of parts, at least 1.
    pub of: u32,
}

impl Part {
    /// The whole phase.
    pub const WHOLE: Part = Part { index: 0, of: 1 };

    /// This part of `count` things; all parts together are all things, each once.
    pub fn range(self, count: u64) -> std::ops::Range<u64> {
        let at = |index: u32| (u128::from(count) * u128::from(index) / u128::from(self.of.max(1))) as u64;
        at(self.index)..at(self.index + 1)
    }
}

impl Default for Part {
    fn default() -> Self {
        Part::WHOLE
    }
}

/// Where the work happens.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Target {
    /// In a directory of the lane.
    Directory(PathBuf),
    /// In a filesystem that the agent itself is: a library on a block device.
    Library(LibraryTarget),
    /// On the bare block device: a ceiling. Its contents are overwritten by writing workloads.
    Device(PathBuf),
    /// Nowhere: the engine's own ceiling.
    Null,
}

/// An in-process filesystem on a block device (or a file).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LibraryTarget {
    /// Row of the table of filesystems: `rsext4`.
    pub filesystem: String,
    /// Where it lives.
    pub device: PathBuf,
    /// What the lane says after the name: `journal`.
    pub options: Vec<String>,
    /// The device is formatted first; otherwise what it holds is opened.
    pub format: bool,
}

/// What to watch beside the agent itself: devices, as /proc/diskstats names them, and who the lane's
/// filesystem is.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Devices {
    /// The lane's device.
    pub device: Option<String>,
    /// The others, of a lane that stands on several: their counters are added to the first's.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub further: Vec<String>,
    /// The disk under it.
    pub backing: Option<String>,
    /// The devices of the other lanes.
    pub neighbours: Vec<String>,
    /// Whose CPU time is the filesystem's.
    #[serde(default)]
    pub filesystem: FilesystemProcesses,
}

/// Where a lane's filesystem runs.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FilesystemProcesses {
    /// In the kernel, or in the agent.
    #[default]
    None,
    /// In these processes (FUSE).
    Known(Vec<u32>),
    /// In some process, and nobody knows which.
    Unknown,
}

/// An answer of the agent.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "reply", rename_all = "kebab-case")]
pub enum Reply {
    /// To `hello`.
    Hello {
        /// Version of Fairlane.
        version: String,
        /// Process id.
        pid: u32,
        /// I/O engines that work here.
        ioengines: Vec<String>,
    },
    /// To `attach`, `detach`, `note`.
    Done,
    /// To `prepare`, `verify` and `sync`.
    Took {
        /// Wall seconds.
        seconds: f64,
    },
    /// To `check-other`.
    Checked {
        /// Bytes that were compared; 0: there are none, or a seed does not tell them.
        bytes: u64,
    },
    /// To `slice`, `wear-out`, `phase` and `run`.
    Measured {
        /// This window's figures, without histogram or slices.
        groups: Vec<Group>,
        /// The whole system during the window.
        system: SystemUse,
        /// Seconds from the arrival of the request to the opening of the window.
        #[serde(default)]
        opened_after_seconds: f64,
    },
    /// To `finish`.
    Finished {
        /// The trial's groups: sums over windows, medians over slices, latency, histogram.
        groups: Vec<Group>,
        /// Sums over windows.
        system: SystemUse,
        /// What the engine had to do without, and what a reader should know, one sentence each.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        notes: Vec<Flag>,
        /// What each job of a job file used.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        jobs: Vec<JobUse>,
    },
    /// It could not be done; the agent goes on.
    Failed {
        /// One sentence: the fact, then the remedy where there is one.
        reason: String,
        /// The errno, where there is one.
        errno: Option<i32>,
        /// What was read is not what was written: the race must not go on.
        #[serde(default, skip_serializing_if = "is_false")]
        corrupt: bool,
        /// The filesystem lacks what was asked of it. What was done before stays as it is; of the phase
        /// that was asked for nothing counts.
        #[serde(default, skip_serializing_if = "is_false")]
        unsupported: bool,
        /// Whether room in the lane is what was lacking.
        #[serde(default, skip_serializing_if = "Room::is_enough")]
        room: Room,
    },
}

/// Whether a lane had room for what was asked of it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Room {
    /// Room was not what was lacking.
    #[default]
    Enough,
    /// The lane is full, or nearly.
    Full,
    /// It is full, and the reason says so and how to help it.
    FullAsSaid,
}

impl Room {
    fn is_enough(&self) -> bool {
        *self == Room::Enough
    }
}

/// A line of the protocol, made and read here alone: whoever does it itself takes all of its code again.
impl Request {
    /// [`Request::Prepare`] for an agent that works alone.
    pub fn prepare(workload: Workload, seed: u64) -> Request {
        Request::Prepare { workload, seed, clients: Clients::ALONE }
    }

    /// As one line, without its end.
    ///
    /// # Errors
    /// Where a value has no JSON form.
    pub fn to_line(&self) -> serde_json::Result<String> {
        serde_json::to_string(self)
    }

    /// Reads one line.
    ///
    /// # Errors
    /// Where it is no request.
    pub fn from_line(line: &[u8]) -> serde_json::Result<Request> {
        serde_json::from_slice(line)
    }
}

/// As of a [`Request`].
impl Reply {
    /// As one line, without its end.
    ///
    /// # Errors
    /// Where a value has no JSON form.
    pub fn to_line(&self) -> serde_json::Result<String> {
        serde_json::to_string(self)
    }

    /// Reads one line.
    ///
    /// # Errors
    /// Where it is no reply.
    pub fn from_line(line: &str) -> serde_json::Result<Reply> {
        serde_json::from_str(line)
    }
}

// serde hands a reference to `skip_serializing_if`.
#[allow(clippy::trivially_copy_pass_by_ref)]
fn is_false(value: &bool) -> bool {
    !*value
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_parts_of_a_phase_are_the_whole_each_thing_once() {
        for (count, of) in [(10, 3), (3, 10), (5000, 10), (0, 4), (7, 1)] {
            let all: Vec<u64> = (0..of).flat_map(|index| Part { index, of }.range(count)).collect();
            assert_eq!(all, (0..count).collect::<Vec<u64>>());
        }
    }
}
