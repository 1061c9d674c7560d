//! Where the time went by what was counted in the rounds themselves (method 7.4): coarser than a profile, and without a pass.

use crate::comparable;
use crate::limit::LEAST_CPU_WINDOW_SECONDS;
use crate::series::{LaneSeries, Scope, Series};
use crate::statements::explain as statement;
use model::Sentence;
use model::findings::{Basis, Explanation, Part, PartShare};
use model::sentence::Value;
use model::workload::Workload;

/// Requests in flight that are not at the device wait for whoever works, if somebody did for so much of the window. Where
/// nobody was as busy, they may wait for locks, which counters do not see.
const SATURATED: f64 = 0.9;

/// Of anything in a round: operations, or seconds.
const MOST: f64 = 1e15;

/// Sums over the rounds that count, seconds.
#[derive(Debug, Clone, Copy, Default)]
struct Sums {
    window: f64,
    operations: f64,
    /// The caller's own code, and that of a database's server.
    own: f64,
    /// What callers and servers had the kernel do.
    kernel: f64,
    /// What the kernel did besides.
    kernel_threads: f64,
    filesystem_process: f64,
    busy: f64,
    flush: f64,
    queue: f64,
}

/// What the counters of a lane's rounds tell, or why they do not: the work waits by itself, or too little was measured.
/// `is_held`: the lane's device was held to limits, and reached them.
pub(super) fn explain(
    series: &Series,
    lane: &LaneSeries,
    workload: &Workload,
    group: &str,
    is_held: bool,
) -> Result<Explanation, Sentence> {
    let traits = workload.traits();
    if traits.is_done_by_programs() || traits.is_whole(group) {
        return Err(statement::done_by_programs());
    }
    if traits.is_paced() {
        return Err(statement::waits_by_itself());
    }
    let mut sums = sums(series, lane, group);
    let has_device = !lane.lane.backing.is_empty();
    if lane.lane.venue == comparable::UML {
        // User-mode Linux counts its kernel's work as the user's.
        sums.kernel += std::mem::take(&mut sums.own);
    }
    if sums.operations <= 0.0 {
        return Err(statement::nothing_done());
    }
    if sums.window < LEAST_CPU_WINDOW_SECONDS {
        return Err(statement::too_short_for_counters(Value::Seconds(LEAST_CPU_WINDOW_SECONDS)));
    }
    let depth = f64::from(traits.queue_depth().max(1));
    let callers = f64::from(traits.concurrency(group).max(1));
    let whole = sums.window * depth.max(callers);
    let mut parts = match depth > callers {
        true => in_flight(&sums, whole),
        false => one_at_a_time(&sums, callers, whole, has_device),
    };
    if is_held {
        // What a limit holds back is counted nowhere, and nobody else waits so long.
        let left = parts.pop().map_or(0.0, |(_, left)| left);
        match parts.iter_mut().find(|(part, _)| *part == Part::Device) {
            Some((_, device)) => *device += left,
            None => parts.push((Part::Device, left)),
        }
    }
    let mut parts: Vec<PartShare> = parts
        .into_iter()
        .filter(|(_, seconds)| *seconds > 0.0)
        .map(|(part, seconds)| PartShare { part, share: seconds / whole })
        .collect();
    parts.sort_by(|a, b| b.share.total_cmp(&a.share));
    Ok(Explanation {
        lane: lane.lane.name.clone(),
        basis: Basis::Counters,
        seconds_per_operation: whole / sums.operations,
        operations_per_second: sums.operations / sums.window,
        unprofiled_operations_per_second: None,
        samples: 0,
        lost_events: 0,
        device_by_counters: true,
        parts,
        // Counters know parts alone.
        causes: Vec::new(),
        unknown: Vec::new(),
    })
}

fn sums(series: &Series, lane: &LaneSeries, group: &str) -> Sums {
    let mut sums = Sums::default();
    for (trial, of) in lane.group(group) {
        let scope = Scope::new(trial, of, &series.reading);
        let system = scope.system;
        let own_kernel = system.agent_cpu_system_seconds + system.server_cpu_system_seconds;
        let figures = [
            system.window_seconds,
            scope.operations,
            system.agent_cpu_user_seconds + system.server_cpu_user_seconds,
            own_kernel,
            (system.cpu_system_seconds - own_kernel).max(0.0),
            system.filesystem_cpu_user_seconds,
            system.device.busy_seconds,
            system.device.flush_seconds,
            system.device.queue_seconds,
        ];
        // Nobody's rounds have more; what does comes from elsewhere.
        if system.window_seconds <= 0.0 || figures.iter().any(|of| !(0.0..MOST).contains(of)) {
            continue;
        }
        let into = [
            &mut sums.window,
            &mut sums.operations,
            &mut sums.own,
            &mut sums.kernel,
            &mut sums.kernel_threads,
            &mut sums.filesystem_process,
            &mut sums.busy,
            &mut sums.flush,
            &mut sums.queue,
        ];
        for (sum, figure) in into.into_iter().zip(figures) {
            *sum += figure;
        }
    }
    sums
}

/// Shares what there is, in order.
struct Shared {
    left: f64,
    parts: Vec<(Part, f64)>,
}

impl Shared {
    fn new(whole: f64) -> Shared {
        Shared { left: whole, parts: Vec::new() }
    }

    fn take(&mut self, part: Part, seconds: f64) {
        let seconds = seconds.clamp(0.0, self.left);
        self.left -= seconds;
        self.parts.push((part, seconds));
    }

    fn finish(mut self) -> Vec<(Part, f64)> {
        self.parts.push((Part::NotExplained, self.left));
        self.parts
    }
}

/// Callers run or wait; a wait is the device's as far as that was busy.
fn one_at_a_time(sums: &Sums, callers: f64, whole: f64, has_device: bool) -> Vec<(Part, f64)> {
    let mut shared = Shared::new(whole);
    shared.take(Part::Fairlane, sums.own);
    shared.take(Part::KernelCpu, sums.kernel);
    shared.take(Part::FilesystemProcess, sums.filesystem_process);
    if has_device {
        // Busy time is counted in ticks: few short requests make it too long, and their own times together are a bound.
        let busy = sums.busy.min(sums.queue);
        let flush = sums.flush.min(busy);
        shared.take(Part::Flush, flush * callers);
        shared.take(Part::Device, (busy - flush) * callers);
    }
    shared.finish()
}

/// Of the requests in flight so many stand at the device; the others are told of by who worked meanwhile.
fn in_flight(sums: &Sums, whole: f64) -> Vec<(Part, f64)> {
    let mut shared = Shared::new(whole);
    let flush = sums.flush.min(sums.queue);
    shared.take(Part::Flush, flush);
    shared.take(Part::Device, sums.queue - flush);
    let work = [
        (Part::Fairlane, sums.own),
        (Part::KernelCpu, sums.kernel),
        (Part::KernelThreads, sums.kernel_threads),
        (Part::FilesystemProcess, sums.filesystem_process),
    ];
    let worked: f64 = work.iter().map(|(_, seconds)| seconds).sum();
    let scale = if worked >= SATURATED * sums.window { shared.left / worked } else { 1.0 };
    for (part, seconds) in work {
        shared.take(part, seconds * scale);
    }
    shared.finish()
}
