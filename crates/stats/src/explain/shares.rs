//! A profile becomes shares of what its callers waited for (method 7.2).

use super::causes::{Known, Rows};
use model::findings::{Basis, CauseShare, Explanation, Part, PartShare, UnknownShare};
use model::profile::{Activity, Profile, StackTime, ThreadRole};
use model::workload::Workload;
use std::collections::BTreeMap;

/// Causes and unknown functions that are told, of each lane.
const MOST_CAUSES: usize = 16;
const MOST_UNKNOWN: usize = 6;
/// Functions and stacks of a pass that are read.
const MOST_SYMBOLS: usize = 20_000;
const MOST_STACKS: usize = 10_000;
const MOST_FRAMES: usize = 64;
/// Seconds of anything in a pass; 30 years.
const MOST_SECONDS: f64 = 1e9;
/// What has a smaller share is not told by name.
const LEAST_SHARE: f64 = 0.005;
/// Requests in flight that are nowhere seen are told of by who worked meanwhile, if somebody did for so much of the window.
const LEAST_WORK: f64 = 0.05;

/// What is said where no row of the table knows a stack.
const OUTSIDE: &str = "outside of the kernel";
const UNSEEN: &str = "a wait that began before the profile";
const UNKNOWN: &str = "functions that the table does not know";
const LEFT_OUT: &str = "time without a sample, or in stacks that a record has no room for";
const RUNNABLE: &str = "ready to run, without a CPU";
const AT_DEVICE: &str = "requests at the device";
const BEFORE_DEVICE: &str = "requests in front of the device";
const FLUSHES: &str = "flushes of the device";
const KERNEL_THREADS: &str = "work of kernel threads";
const HELD_BACK: &str = "requests held back by the emulated disk";
const IN_FLIGHT: &str = "requests in flight, at no place that was looked at";
/// All of these.
pub(super) const NAMES: [&str; 11] = [
    OUTSIDE,
    UNSEEN,
    UNKNOWN,
    LEFT_OUT,
    RUNNABLE,
    AT_DEVICE,
    BEFORE_DEVICE,
    FLUSHES,
    KERNEL_THREADS,
    HELD_BACK,
    IN_FLIGHT,
];

/// Seconds by what they were spent on.
#[derive(Debug, Clone, Default)]
struct Times {
    causes: BTreeMap<(Part, &'static str), f64>,
    unknown: BTreeMap<String, f64>,
}

impl Times {
    fn add(&mut self, part: Part, cause: &'static str, seconds: f64) {
        if seconds > 0.0 {
            *self.causes.entry((part, cause)).or_default() += seconds;
        }
    }

    fn sum(&self) -> f64 {
        self.causes.values().sum()
    }

    /// Adds another's times, so many seconds of them in all.
    fn add_scaled(&mut self, other: &Times, seconds: f64) {
        let sum = other.sum();
        if sum <= 0.0 {
            return;
        }
        for (&(part, cause), time) in &other.causes {
            self.add(part, cause, time * seconds / sum);
        }
        for (function, time) in &other.unknown {
            *self.unknown.entry(function.clone()).or_default() += time * seconds / sum;
        }
    }
}

/// Whether the lane's device was held to limits, so that requests are held back in front of it, where nobody sees them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Held {
    /// It was not.
    Free,
    /// It was; whether the rounds reached the limits.
    Throttled { reached: bool },
}

/// Where the time of a profile went; `None`: nothing was done in it.
pub(super) fn explain<'a>(
    profile: &'a Profile,
    known: &mut Known<'a>,
    (workload, group): (&Workload, &str),
    held: Held,
) -> Option<Explanation> {
    // Nobody's pass has so many; what does comes from elsewhere.
    if profile.symbols.len() > MOST_SYMBOLS || profile.stacks.len() > MOST_STACKS || !is_sane(profile) {
        return None;
    }
    let traits = workload.traits();
    let reader = Reader { profile, held, rows: Rows::new(profile.symbols.iter().map(String::as_str), known) };
    let depth = f64::from(traits.queue_depth().max(1));
    let callers = f64::from(traits.concurrency(group).max(1));
    // The depth is that of all callers together.
    let (times, whole) = match depth > callers {
        true => in_flight(&reader, depth * profile.window_seconds),
        false => one_at_a_time(&reader),
    };
    if !whole.is_finite() || whole <= 0.0 || profile.operations == 0 {
        return None;
    }
    let mut parts: BTreeMap<Part, f64> = BTreeMap::new();
    for (&(part, _), seconds) in &times.causes {
        *parts.entry(part).or_default() += seconds / whole;
    }
    let mut parts: Vec<PartShare> = parts.into_iter().map(|(part, share)| PartShare { part, share }).collect();
    parts.sort_by(|a, b| b.share.total_cmp(&a.share));
    let told = |seconds: &f64| seconds / whole >= LEAST_SHARE;
    let mut causes: Vec<CauseShare> = times
        .causes
        .iter()
        .filter(|(_, seconds)| told(seconds))
        .map(|(&(part, cause), seconds)| CauseShare { cause: cause.to_owned(), part, share: seconds / whole })
        .collect();
    causes.sort_by(|a, b| b.share.total_cmp(&a.share));
    causes.truncate(MOST_CAUSES);
    let unknown = times.unknown.iter().filter(|(_, seconds)| told(seconds));
    let mut unknown: Vec<UnknownShare> = unknown
        .map(|(function, seconds)| UnknownShare { function: model::text::quoted(function), share: seconds / whole })
        .collect();
    unknown.sort_by(|a, b| b.share.total_cmp(&a.share));
    unknown.truncate(MOST_UNKNOWN);
    Some(Explanation {
        lane: profile.lane.clone(),
        basis: Basis::Profile,
        seconds_per_operation: whole / profile.operations as f64,
        operations_per_second: profile.operations_per_second,
        unprofiled_operations_per_second: None,
        samples: profile.samples,
        lost_events: profile.lost_events,
        device_by_counters: profile.device.by_counters,
        parts,
        causes,
        unknown,
    })
}

/// Whether figures are such as a pass can have, whoever wrote them.
fn is_sane(profile: &Profile) -> bool {
    let device = &profile.device;
    let sums = [device.request_seconds, device.queued_request_seconds, device.flush_request_seconds];
    let threads = profile.threads.iter().flat_map(|of| [of.cpu_seconds, of.runnable_seconds, of.waiting_seconds]);
    let stacks =
        profile.stacks.iter().flat_map(|of| [of.seconds, of.flush_seconds, of.busy_seconds, of.queued_seconds]);
    profile.window_seconds > 0.0
        && [profile.window_seconds]
            .into_iter()
            .chain(sums)
            .chain(threads)
            .chain(stacks)
            .all(|of| (0.0..MOST_SECONDS).contains(&of))
        && profile.stacks.iter().all(|stack| stack.frames.len() <= MOST_FRAMES)
}

/// Callers that wait for each operation: all of their threads' time is told, and so is the whole.
fn one_at_a_time(reader: &Reader) -> (Times, f64) {
    let callers = reader.profile.time_of(ThreadRole::Caller);
    let mut times = reader.times(ThreadRole::Caller, true);
    times.add(Part::Scheduler, RUNNABLE, callers.runnable_seconds);
    let whole = callers.cpu_seconds + callers.runnable_seconds + callers.waiting_seconds;
    times.add(Part::NotExplained, LEFT_OUT, whole - times.sum());
    hand_over(&mut times, Part::FilesystemProcess, &reader.behind(&[ThreadRole::Filesystem]));
    hand_over(&mut times, Part::KernelThreads, &reader.behind(&[ThreadRole::IoWorker, ThreadRole::Kernel]));
    let sum = times.sum();
    (times, sum)
}

/// Several requests in flight: of each moment's requests so many stand at the device, and those in front of it are told of
/// by who worked meanwhile: Little's law with the mean number that was asked for.
fn in_flight(reader: &Reader, whole: f64) -> (Times, f64) {
    let mut times = Times::default();
    let device = &reader.profile.device;
    let mut left = whole;
    for (part, cause, seconds) in [
        (Part::Flush, FLUSHES, device.flush_request_seconds),
        (Part::Device, AT_DEVICE, device.request_seconds),
        (Part::Device, BEFORE_DEVICE, device.queued_request_seconds),
    ] {
        let seconds = seconds.clamp(0.0, left);
        times.add(part, cause, seconds);
        left -= seconds;
    }
    let mut work = reader.times(ThreadRole::Caller, false);
    for role in [ThreadRole::IoWorker, ThreadRole::Kernel, ThreadRole::Filesystem] {
        let more = reader.times(role, false);
        let seconds = more.sum();
        work.add_scaled(&more, seconds);
    }
    let runnable =
        [ThreadRole::Caller, ThreadRole::IoWorker, ThreadRole::Kernel].map(|role| reader.profile.time_of(role));
    work.add(Part::Scheduler, RUNNABLE, runnable.iter().map(|of| of.runnable_seconds).sum());
    if reader.held == (Held::Throttled { reached: true }) {
        // Who works is not what the others wait for, but the limit.
        let worked = work.sum().min(left);
        times.add_scaled(&work, worked);
        times.add(Part::Device, HELD_BACK, left - worked);
        return (times, whole);
    }
    match work.sum() >= LEAST_WORK * reader.profile.window_seconds {
        true => times.add_scaled(&work, left),
        false => times.add(Part::NotExplained, IN_FLIGHT, left),
    }
    (times, whole)
}

/// Callers that wait for others wait for what those do on CPUs, as far as it was seen: for kernel threads, or for the process
/// that is the filesystem.
fn hand_over(times: &mut Times, part: Part, behind: &Times) {
    let waits: Vec<((Part, &'static str), f64)> =
        times.causes.iter().filter(|((of, _), _)| *of == part).map(|(key, seconds)| (*key, *seconds)).collect();
    let waited: f64 = waits.iter().map(|(_, seconds)| seconds).sum();
    let handed = behind.sum().min(waited);
    if handed <= 0.0 {
        return;
    }
    for (key, seconds) in waits {
        *times.causes.entry(key).or_default() -= handed * seconds / waited;
    }
    times.add_scaled(behind, handed);
}

/// A profile with what its stacks mean.
struct Reader<'a> {
    profile: &'a Profile,
    held: Held,
    rows: Rows,
}

impl Reader<'_> {
    /// Times of a role's stacks. With `waits_at_device` waits for the device are its own; without they are left out, because
    /// the requests themselves are counted.
    fn times(&self, role: ThreadRole, waits_at_device: bool) -> Times {
        let mut times = Times::default();
        for stack in self.stacks().filter(|stack| stack.role == role) {
            match stack.activity {
                Activity::Cpu => self.on_cpu(&mut times, stack),
                // Who has several requests in flight waits for all of them.
                Activity::Wait if role == ThreadRole::Caller && !waits_at_device => {}
                Activity::Wait => self.waiting(&mut times, stack, waits_at_device),
            }
        }
        times
    }

    /// What other threads of the lane's did on CPUs.
    fn behind(&self, roles: &[ThreadRole]) -> Times {
        let mut behind = Times::default();
        for stack in self.stacks().filter(|stack| roles.contains(&stack.role) && stack.activity == Activity::Cpu) {
            self.on_cpu(&mut behind, stack);
        }
        behind
    }

    /// Stacks, but for those of threads that keep the machine.
    fn stacks(&self) -> impl Iterator<Item = &StackTime> {
        let for_lanes = |of: &&StackTime| of.role != ThreadRole::Kernel || !self.rows.is_not_for_lanes(&of.frames);
        self.profile.stacks.iter().filter(for_lanes)
    }

    fn on_cpu(&self, times: &mut Times, stack: &StackTime) {
        match (stack.frames.is_empty(), stack.role) {
            (true, ThreadRole::Caller) => times.add(Part::Fairlane, OUTSIDE, stack.seconds),
            (true, ThreadRole::Filesystem) => times.add(Part::FilesystemProcess, OUTSIDE, stack.seconds),
            (true, _) => times.add(Part::KernelThreads, KERNEL_THREADS, stack.seconds),
            (false, _) => match self.rows.find(Activity::Cpu, &stack.frames) {
                Some(cause) => times.add(cause.part, &cause.says, stack.seconds),
                None => self.unknown(times, stack, stack.seconds),
            },
        }
    }

    fn waiting(&self, times: &mut Times, stack: &StackTime, waits_at_device: bool) {
        if stack.frames.is_empty() {
            return times.add(Part::NotExplained, UNSEEN, stack.seconds);
        }
        let Some(cause) = self.rows.find(Activity::Wait, &stack.frames) else {
            // Threads of the kernel's wait for much that is nothing of the lane's: RCU, watchdogs.
            return match stack.role {
                ThreadRole::Kernel | ThreadRole::IoWorker => {}
                _ => self.unknown(times, stack, stack.seconds),
            };
        };
        // Where no device was looked at, the stack alone tells.
        if !cause.device || !self.profile.device.watched {
            return times.add(cause.part, &cause.says, stack.seconds);
        }
        if waits_at_device {
            times.add(Part::Flush, &cause.says, stack.flush_seconds);
            times.add(Part::Device, &cause.says, stack.busy_seconds + stack.queued_seconds);
        }
        // While the device has nothing to do, somebody prepares it, or finishes it.
        let rest = stack.seconds - stack.flush_seconds - stack.busy_seconds - stack.queued_seconds;
        let part = match cause.part {
            Part::Device | Part::Flush if self.held != Held::Free => Part::Device,
            Part::Device | Part::Flush => Part::KernelThreads,
            part => part,
        };
        times.add(part, &cause.says, rest);
    }

    /// Named by its innermost function.
    fn unknown(&self, times: &mut Times, stack: &StackTime, seconds: f64) {
        times.add(Part::NotExplained, UNKNOWN, seconds);
        if let Some(name) = self.profile.names(stack).next_back() {
            *times.unknown.entry(name.to_owned()).or_default() += seconds;
        }
    }
}
