//! One workload in one lane in one round, as measured.

use crate::flag::{Disturbance, Flag};
use crate::ranks::RankFigures;
use crate::seen::{CachedFiles, KeptFiles};
use crate::timeline::TrialTimeline;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// How the reason of a trial begins to tell that its guest's end was no doing of the guest's.
pub const KILLED_FROM_OUTSIDE: &str = "killed from outside";

/// One workload in one lane in one round.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Trial {
    /// Round, from 1; 0: the lane's maximum was measured before the first round, for an open loop's rate.
    pub round: u32,
    /// Place in the round's order, from 1.
    pub position: u32,
    /// 1, or 2 and up where a noisy round was repeated.
    pub attempt: u32,
    /// Name of the lane.
    pub lane: String,
    /// Name of the workload.
    pub workload: String,
    /// Index of the image or device that carried the lane in this round.
    #[serde(default)]
    pub ground: u32,
    /// How it ended.
    pub outcome: Outcome,
    /// Why it failed, was repeated or is void, or, where it counts, why it holds no figures from some step
    /// on; one sentence.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// RFC 3339, UTC.
    pub started: String,
    /// Wall seconds of each phase: `mkfs`, `mount`, `populate`, `quiet`, `measure`, `sync`, `unmount`.
    pub phases_seconds: BTreeMap<String, f64>,
    /// The figures.
    pub groups: Vec<Group>,
    /// What the whole system did during the measured windows.
    pub system: SystemUse,
    /// The same in its course; absent in records of before it was kept.
    #[serde(default, rename = "course", skip_serializing_if = "Option::is_none")]
    pub timeline: Option<Box<TrialTimeline>>,
    /// What each job of a job file used.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub jobs: Vec<JobUse>,
    /// Marks and notes: `neighbour-active`, `image-unwritten`, …; `suspended` and `clock-source` stand beside a void
    /// outcome.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub flags: Vec<Flag>,
    /// Who disturbed it, beside the mark `foreign-noise`; absent: nobody, or the record is older than this key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub disturbance: Option<Disturbance>,
}

/// How a trial ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Outcome {
    /// It counts.
    Ok,
    /// It could not be done; the reason says why.
    Failed,
    /// Foreign noise: kept in the record, replaced by a later attempt.
    Repeated,
    /// The throttle did not hold, or the machine slept: kept in the record, in no figure.
    Void,
}

/// The figures of one kind of operation in one trial.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
pub struct Group {
    /// `read`, `write`, `create`, `delete`, …; `JOB: read` where a job file has several jobs. A
    /// group `sync` (`JOB: sync`) holds the latency of a job file's fsync and fdatasync calls.
    pub name: String,
    /// Completed operations in the measured windows.
    pub operations: u64,
    /// Bytes of the application in the measured windows.
    pub bytes: u64,
    /// Measured seconds, the charged sync included.
    pub seconds: f64,
    /// Of these, seconds of what was done once for all operations and is charged to this group: the
    /// `syncfs`, and the removal of emptied directories.
    #[serde(default)]
    pub sync_seconds: f64,
    /// The metric that verdicts use; a key of `metrics`.
    pub primary_metric: String,
    /// `operations_per_second`, `bandwidth_bytes_per_second`: over slices their median, with the
    /// charged sync added to the time.
    pub metrics: BTreeMap<String, f64>,
    /// Latency of single operations.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub latency_ns: Option<Latency>,
    /// HdrHistogram V2, deflated, base64.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub histogram: Option<String>,
    /// Latency of the submitting call alone, where it was measured apart (job files: one batch in
    /// 64); it is part of `latency_ns`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub submission_ns: Option<Submission>,
    /// The job of the job file whose group this is; empty elsewhere.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub job: String,
    /// Operations per second of each slice in time order, the charged sync left out.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub slices_operations_per_second: Vec<f64>,
    /// Operations per second of steady work in windows of equal length within its slices, in time order:
    /// tenths of a slice, half a second at most. Work that is paced has none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub windows_operations_per_second: Vec<f64>,
    /// Length of these windows in seconds; 0: there are none.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub windows_seconds: f64,
    /// What the whole system did during this group's windows alone, where the trial's groups have
    /// windows of their own; it then takes precedence over the trial's sums.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub system: Option<SystemUse>,
    /// What a database said of its own settings: those that make a commit safe, and those that were asked for.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub settings: BTreeMap<String, String>,
    /// How late the records of appenders were; absent of other work.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lateness: Option<Box<Lateness>>,
    /// Of work that asks for direct I/O: what of its files lay in the page cache all the same.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cached_files: Option<CachedFiles>,
    /// How the filesystem keeps some of its files, where it tells.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kept_files: Option<KeptFiles>,
    /// What the ranks of an MPI job did each by itself; absent where there was no such job.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ranks: Option<Box<RankFigures>>,
}

/// How late operations were that were due at known moments (work of kind `appenders`): from when each was
/// due to when it was done. The group's latencies are these.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Lateness {
    /// Writers, or readers.
    pub writers: u32,
    /// Of them those that were late at least once: something of theirs was not done a whole period after it
    /// was due.
    pub late_writers: u32,
    /// Seconds from one turn of a writer to the next.
    pub period_seconds: f64,
    /// Operations that were due in the window.
    pub due: u64,
    /// Of these those that were not done a period after they were due.
    pub late: u64,
    /// Of these those that were still not done when the work was ended. Each is late, and its lateness counts as
    /// the time from the window's opening to that end, or a period where that is longer: nobody knows it, and no
    /// other is larger.
    pub missed: u64,
    /// How late turns would have begun if the filesystem's calls had taken no time: the harness's and the
    /// scheduler's own lateness, which is part of all others.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scheduling_ns: Option<Latency>,
    /// How far the work was behind its schedule when the window ended, in seconds.
    pub backlog_seconds: f64,
    /// Over the second half of the window the backlog grew, and was not made up for; or much was given up.
    pub backlog_grew: bool,
    /// Seconds in which the writers' processes were started and made ready; 0: they are none.
    #[serde(skip_serializing_if = "is_zero")]
    pub start_seconds: f64,
    /// Seconds in which they ended; 0: they are none.
    #[serde(skip_serializing_if = "is_zero")]
    pub stop_seconds: f64,
    /// Length of the intervals below in seconds.
    pub interval_seconds: f64,
    /// 99th percentile of the lateness of what was due in each interval, in nanoseconds, to an eighth; 0: nothing
    /// was due.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub interval_p99_ns: Vec<f64>,
    /// The largest, in nanoseconds.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub interval_max_ns: Vec<f64>,
}

impl Lateness {
    /// Late writers as a share of all, 0 to 1.
    pub fn late_writers_share(&self) -> f64 {
        if self.writers > 0 { f64::from(self.late_writers) / f64::from(self.writers) } else { 0.0 }
    }

    /// Late operations as a share of those that were due, 0 to 1.
    pub fn late_share(&self) -> f64 {
        if self.due > 0 { self.late as f64 / self.due as f64 } else { 0.0 }
    }
}

/// Latency in nanoseconds; a percentile is present only where n(1-p) is at least 20.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
pub struct Latency {
    /// Arithmetic mean.
    pub mean: f64,
    /// Median.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub p50: Option<f64>,
    /// 99th percentile.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub p99: Option<f64>,
    /// 99.9th percentile.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub p999: Option<f64>,
    /// Largest.
    pub max: f64,
}

/// Latency of submitting calls that were measured apart, in nanoseconds.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
pub struct Submission {
    /// Operations whose submission was measured.
    pub operations: u64,
    /// Smallest.
    pub min: f64,
    /// Arithmetic mean.
    pub mean: f64,
    /// Standard deviation.
    pub deviation: f64,
    /// Largest.
    pub max: f64,
}

/// What one job of a job file used, all its workers together.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct JobUse {
    /// Name of the job.
    pub name: String,
    /// Workers.
    pub workers: u32,
    /// Wall seconds of the slowest worker, ramp left out.
    pub seconds: f64,
    /// User time of all workers.
    pub cpu_user_seconds: f64,
    /// System time of all workers.
    pub cpu_system_seconds: f64,
    /// Context switches, voluntary and not.
    pub context_switches: u64,
    /// Page faults that needed I/O.
    pub major_faults: u64,
    /// Page faults that needed none.
    pub minor_faults: u64,
    /// The ratio that zstd -3 makes of its data, in chunks of 128 KiB; absent where it was not
    /// measured.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub compression_ratio: Option<f64>,
    /// Blocks that were read back and compared.
    pub verified_blocks: u64,
}

/// What the whole system did during the measured windows of one trial: sums, so that windows add.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct SystemUse {
    /// Wall seconds of the windows.
    pub window_seconds: f64,
    /// Number of windows; 0 in records of before it was counted.
    pub windows: u32,
    /// Online CPUs.
    pub cpus: u32,
    /// All CPUs, user and nice.
    pub cpu_user_seconds: f64,
    /// All CPUs, system, interrupts included.
    pub cpu_system_seconds: f64,
    /// All CPUs, idle while I/O was outstanding.
    pub cpu_iowait_seconds: f64,
    /// Taken by the hypervisor.
    pub cpu_steal_seconds: f64,
    /// The agent's own user time.
    pub agent_cpu_user_seconds: f64,
    /// The agent's own system time: the filesystem's work on its behalf.
    pub agent_cpu_system_seconds: f64,
    /// User time of the processes that are the lane's filesystem (FUSE).
    #[serde(skip_serializing_if = "is_zero")]
    pub filesystem_cpu_user_seconds: f64,
    /// User time of a server that worked for the lane: a database's, or that of the process that has MPI.
    #[serde(skip_serializing_if = "is_zero")]
    pub server_cpu_user_seconds: f64,
    /// Its system time: the filesystem's work on its behalf.
    #[serde(skip_serializing_if = "is_zero")]
    pub server_cpu_system_seconds: f64,
    /// Some process is the lane's filesystem, and it is not known which: its user time cannot be told
    /// from that of other programs.
    #[serde(skip_serializing_if = "is_false")]
    pub filesystem_process_unknown: bool,
    /// CPU time, user and system, of programs that are neither the agent's, the filesystem's, the server's nor the
    /// kernel's, over `looked_seconds`; absent where it cannot be told.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub foreign_cpu_seconds: Option<f64>,
    /// Seconds over which programs were looked at: the windows with their warm-up.
    #[serde(skip_serializing_if = "is_zero")]
    pub looked_seconds: f64,
    /// The lane's device (loop device or partition); of several disks their sum, busy on average.
    pub device: DeviceUse,
    /// Each disk of a lane that stands on several, in their order; else empty.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub disks: Vec<DeviceUse>,
    /// The disk under the lane's device; zero where there is none or it is the same.
    pub backing: DeviceUse,
    /// The devices of the other lanes.
    pub neighbours: DeviceUse,
    /// Bytes written to the lane's device from the first window to the end of the sync that follows
    /// the work: warm-up, the tail of each slice and deferred writes included. 0: not known.
    pub whole_device_write_bytes: u64,
    /// Bytes that the application wrote in the same time, warm-up and tails included.
    pub whole_application_write_bytes: u64,
    /// Highest share of one core that a single thread took, where threads were looked at.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub busiest_thread_share: Option<f64>,
    /// That thread's name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub busiest_thread: Option<String>,
    /// Bytes of pages that became dirty in the page cache, of all files of the machine (`nr_dirtied` of
    /// /proc/vmstat); absent where the kernel does not tell.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dirtied_bytes: Option<u64>,
    /// Largest `Dirty` of /proc/meminfo seen at a window's end.
    pub dirty_bytes_max: u64,
    /// Bytes that the machine's network interfaces received, of all programs, those left out that pass on what others carry. What
    /// goes past the kernel (RDMA) is not in it. 0: none, or not known.
    #[serde(skip_serializing_if = "is_none_of")]
    pub network_received_bytes: u64,
    /// The same, sent.
    #[serde(skip_serializing_if = "is_none_of")]
    pub network_sent_bytes: u64,
    /// Seconds in which some task waited for I/O (pressure stall information).
    pub pressure_io_some_seconds: f64,
}

/// Counters of one block device over the windows (/proc/diskstats).
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct DeviceUse {
    /// Completed reads.
    pub reads: u64,
    /// Completed writes.
    pub writes: u64,
    /// Bytes read.
    pub read_bytes: u64,
    /// Bytes written.
    pub write_bytes: u64,
    /// Bytes discarded.
    pub discard_bytes: u64,
    /// Completed flushes.
    pub flushes: u64,
    /// Seconds in flushes.
    pub flush_seconds: f64,
    /// Seconds with at least one request in flight.
    pub busy_seconds: f64,
    /// Request-seconds: divided by the window it is the mean queue.
    pub queue_seconds: f64,
}

impl DeviceUse {
    /// Adds another window.
    pub fn add(&mut self, other: &DeviceUse) {
        self.reads += other.reads;
        self.writes += other.writes;
        self.read_bytes += other.read_bytes;
        self.write_bytes += other.write_bytes;
        self.discard_bytes += other.discard_bytes;
        self.flushes += other.flushes;
        self.flush_seconds += other.flush_seconds;
        self.busy_seconds += other.busy_seconds;
        self.queue_seconds += other.queue_seconds;
    }

    /// Bytes read and written.
    pub fn bytes(&self) -> u64 {
        self.read_bytes + self.write_bytes
    }
}

impl SystemUse {
    /// Adds another window of the same trial.
    pub fn add(&mut self, other: &SystemUse) {
        // Nothing was added before where there is no window.
        self.dirtied_bytes = match (self.dirtied_bytes, other.dirtied_bytes) {
            (Some(own), Some(more)) => Some(own + more),
            (None, more) if self.window_seconds == 0.0 => more,
            _ => None,
        };
        self.foreign_cpu_seconds = match (self.foreign_cpu_seconds, other.foreign_cpu_seconds) {
            (Some(own), Some(more)) => Some(own + more),
            (None, more) if self.window_seconds == 0.0 => more,
            _ => None,
        };
        self.looked_seconds += other.looked_seconds;
        self.window_seconds += other.window_seconds;
        self.windows += other.windows;
        self.cpus = self.cpus.max(other.cpus);
        self.cpu_user_seconds += other.cpu_user_seconds;
        self.cpu_system_seconds += other.cpu_system_seconds;
        self.cpu_iowait_seconds += other.cpu_iowait_seconds;
        self.cpu_steal_seconds += other.cpu_steal_seconds;
        self.agent_cpu_user_seconds += other.agent_cpu_user_seconds;
        self.agent_cpu_system_seconds += other.agent_cpu_system_seconds;
        self.filesystem_cpu_user_seconds += other.filesystem_cpu_user_seconds;
        self.server_cpu_user_seconds += other.server_cpu_user_seconds;
        self.server_cpu_system_seconds += other.server_cpu_system_seconds;
        self.filesystem_process_unknown |= other.filesystem_process_unknown;
        self.device.add(&other.device);
        self.disks.resize(self.disks.len().max(other.disks.len()), DeviceUse::default());
        self.disks.iter_mut().zip(&other.disks).for_each(|(own, more)| own.add(more));
        self.backing.add(&other.backing);
        self.neighbours.add(&other.neighbours);
        self.whole_device_write_bytes += other.whole_device_write_bytes;
        self.whole_application_write_bytes += other.whole_application_write_bytes;
        if other.busiest_thread_share > self.busiest_thread_share {
            self.busiest_thread_share = other.busiest_thread_share;
            self.busiest_thread = other.busiest_thread.clone();
        }
        self.dirty_bytes_max = self.dirty_bytes_max.max(other.dirty_bytes_max);
        self.network_received_bytes += other.network_received_bytes;
        self.network_sent_bytes += other.network_sent_bytes;
        self.pressure_io_some_seconds += other.pressure_io_some_seconds;
    }

    /// CPU seconds of the whole system, kernel threads included, steal and iowait left out.
    pub fn cpu_busy_seconds(&self) -> f64 {
        self.cpu_user_seconds + self.cpu_system_seconds
    }
}

// serde hands references to `skip_serializing_if`.
#[allow(clippy::trivially_copy_pass_by_ref)]
fn is_zero(figure: &f64) -> bool {
    *figure == 0.0
}

// As above.
#[allow(clippy::trivially_copy_pass_by_ref)]
fn is_none_of(bytes: &u64) -> bool {
    *bytes == 0
}

// As above.
#[allow(clippy::trivially_copy_pass_by_ref)]
fn is_false(value: &bool) -> bool {
    !*value
}
