//! What the kernel did while a lane worked, from a pass that counts in no verdict: times of threads, stacks, the device.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One group of one workload in one lane, profiled. All seconds are sums over its windows.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Profile {
    /// Name of the workload.
    pub workload: String,
    /// Name of the lane.
    pub lane: String,
    /// Name of the group.
    pub group: String,
    /// Wall seconds of the windows.
    pub window_seconds: f64,
    /// Number of windows.
    pub windows: u32,
    /// This line's equal share of the wall seconds of the whole pass, with all lanes and what comes before and behind their
    /// windows; 0 in older records.
    #[serde(default, skip_serializing_if = "is_zero_seconds")]
    pub pass_seconds: f64,
    /// Operations that were done in them.
    pub operations: u64,
    /// The rate while it was profiled, operations per second, as the group's metric of that name.
    pub operations_per_second: f64,
    /// Samples of stacks on CPUs.
    pub samples: u64,
    /// Events that found no room, in the kernel's rings or behind them.
    pub lost_events: u64,
    /// The lane's device.
    pub device: DeviceTime,
    /// Times of threads by what they are to the lane.
    pub threads: Vec<ThreadTime>,
    /// Names of kernel functions; stacks refer to them by their place.
    pub symbols: Vec<String>,
    /// Stacks, those with the most time first.
    pub stacks: Vec<StackTime>,
    /// Seconds of stacks that were left out because there are too many.
    pub left_out_seconds: f64,
}

// serde hands a reference to `skip_serializing_if`.
#[allow(clippy::trivially_copy_pass_by_ref)]
fn is_zero_seconds(seconds: &f64) -> bool {
    *seconds == 0.0
}

/// What the lane's device did, from the requests that were issued to it and completed.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct DeviceTime {
    /// It was looked at: there is one, and its requests are seen when they are given to it. Otherwise all of the following
    /// is 0, and waits are told of by their stacks alone.
    pub watched: bool,
    /// Completions were missed, and its own counters (/proc/diskstats) tell: waits are split by what it did in the whole
    /// window, not moment by moment.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub by_counters: bool,
    /// Completed requests, flushes left out.
    pub requests: u64,
    /// Request-seconds of them at the device: divided by the window, the mean number in flight there.
    pub request_seconds: f64,
    /// Request-seconds in front of it: made, and not given to the device yet.
    pub queued_request_seconds: f64,
    /// Completed flushes.
    pub flushes: u64,
    /// Request-seconds of flushes.
    pub flush_request_seconds: f64,
    /// Seconds in which a flush was under way.
    pub flush_seconds: f64,
    /// Seconds in which other requests were, and no flush.
    pub busy_seconds: f64,
}

/// What a thread is to the lane.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ThreadRole {
    /// Does the work: a thread of the agent's, or of a program that it started.
    Caller,
    /// A worker of io_uring's, which does for a caller what would have made it wait.
    IoWorker,
    /// A thread of the kernel's own.
    Kernel,
    /// A process that is the lane's filesystem (FUSE).
    Filesystem,
    /// Fairlane's, which profiles.
    Profiler,
    /// Anything else on this machine.
    Other,
}

/// Times of all threads of a role.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ThreadTime {
    /// The role.
    pub role: ThreadRole,
    /// Threads that were seen, the most in a window.
    pub threads: u32,
    /// Seconds on a CPU.
    pub cpu_seconds: f64,
    /// Seconds ready to run without a CPU.
    pub runnable_seconds: f64,
    /// Seconds of waiting; of the kernel's own threads and of workers those of waits inside work alone.
    pub waiting_seconds: f64,
}

/// What a thread with this stack did.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Activity {
    /// Ran on a CPU.
    Cpu,
    /// Waited.
    Wait,
}

/// Time in one stack.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct StackTime {
    /// Whose.
    pub role: ThreadRole,
    /// What it did.
    pub activity: Activity,
    /// Frames, outermost first, as places in `symbols`; none: outside of the kernel, or a wait that began before anybody
    /// looked.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub frames: Vec<u32>,
    /// Seconds.
    pub seconds: f64,
    /// Of a wait, seconds in which the lane's device flushed.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub flush_seconds: f64,
    /// Of a wait, seconds in which it had other requests alone.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub busy_seconds: f64,
    /// Of a wait, seconds in which it had none, and some waited in front of it.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub queued_seconds: f64,
}

// serde hands references to `skip_serializing_if`.
#[allow(clippy::trivially_copy_pass_by_ref)]
fn is_zero(figure: &f64) -> bool {
    *figure == 0.0
}

impl Profile {
    /// Names of a stack's frames, outermost first; places that are none are left out, whoever wrote them.
    pub fn names<'a>(&'a self, stack: &'a StackTime) -> impl DoubleEndedIterator<Item = &'a str> {
        stack.frames.iter().filter_map(|place| self.symbols.get(*place as usize)).map(String::as_str)
    }

    /// Times of a role; zeros where there is none.
    pub fn time_of(&self, role: ThreadRole) -> ThreadTime {
        let none = ThreadTime { role, threads: 0, cpu_seconds: 0.0, runnable_seconds: 0.0, waiting_seconds: 0.0 };
        self.threads.iter().find(|of| of.role == role).copied().unwrap_or(none)
    }
}
