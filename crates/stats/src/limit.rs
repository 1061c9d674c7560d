//! What limited a result: rules 1 to 9 of method 3.2, the first that matches.
//!
//! Every lane is described by the medians of its rounds; those that other programs disturbed (rule 1)
//! are left out where the others are as many. Where they are not, a cause that other programs may have
//! set as well (7 and 8) is not named. Causes may differ from lane to lane and a
//! result has one limit, so the rules are read like this: 2 and 3 hold when any lane meets them,
//! because one lane that was not measured spoils every pair it is in; 4 and 5 when all lanes do,
//! because only then nothing is left to compare (where their disks are held to different limits, those
//! disks are: the verdict stands, of filesystem and disk together); 6 to 8 when more than half of the
//! lanes meet them or the slowest does, because it is the slowest lane whose cause a reader asks for.
//! The sentence names the lanes.
//!
//! Work of several kinds at once (job files, reads and writes mixed) has no ceiling on the bare
//! device, and the system's sums cover all of it: only rules 2, 3 and 9 are asked there. Paced work
//! (a rate, an open loop) stops at its rate and not at a cause: the same.
//!
//! A lane in memory or of an in-process library stands beside the others and gets no verdict against
//! them: where a filesystem on a disk has a figure, only such lanes are asked. The floor runs so fast
//! that the engine shows, and a library's work is the agent's own user time by nature.
//!
//! Rule 3 is about reads. Writes that stay in memory, and figures that the disk cannot have made, are the
//! cache's as well, and get no verdict, but for steps of file operations: those are compared with each
//! other in memory too, as what they leave to write is charged beside them.

mod rules;
mod several;

use crate::comparable;
use crate::estimate::median;
use crate::impossible;
use crate::pair;
use crate::series::{LaneSeries, Reading, Scope, Series};
use model::findings::Limit;
use model::lane::Lane;
use model::plan::Plan;
use model::record::{Probe, Profile, Record, SharedRate};
use model::throttle::Quantity;
use model::trial::Trial;
use model::workload::Workload;
use model::{Mark, Sentence, Throttle};
use std::collections::BTreeMap;

/// What limited one result.
#[derive(Debug, Clone, PartialEq)]
pub struct Limited {
    /// The limit.
    pub limit: Limit,
    /// One sentence with the figures.
    pub reason: Sentence,
    /// U of each lane in the header's order: the larger of bandwidth and IOPS at the device against
    /// the bare device; for work that flushes after each write, flushes against the bare device's.
    pub device_use: Vec<Option<f64>>,
    /// Of each of them whether it is more than its measured ceiling allows.
    pub impossible: Vec<bool>,
    /// Where the limit of the whole result is another: pairs of lanes that both ran at the rate of one disk and
    /// write alike to it.
    one_disk: Vec<[String; 2]>,
    /// That the device was measured is known by nearness alone: from a ceiling that is not steady, or of two lanes
    /// beside others. A difference that paired rounds show is not made by that.
    near_the_disk: bool,
    /// Figures that the disk or the memory cannot have made, one sentence for each lane.
    pub warnings: Vec<Sentence>,
    /// What was measured never passed the disk, so that no pair gets a verdict.
    pub missed_the_disk: bool,
}

impl Limited {
    /// The limit as far as two lanes are concerned: two that filled disks alike measured that disk,
    /// whatever others stand on.
    pub(crate) fn between(&self, a: &str, b: &str) -> Limit {
        let alike = |pair: &[String; 2]| pair.iter().all(|lane| lane == a || lane == b);
        if self.one_disk.iter().any(alike) { Limit::Device } else { self.limit }
    }

    /// Whether a pair at the device's limit keeps a difference that its own rounds show: what the ceiling scatters
    /// by hits both lanes in the same rounds.
    pub(crate) fn keeps_differences(&self) -> bool {
        self.near_the_disk
    }
}

/// What one lane did: medians over its rounds.
#[derive(Debug, Clone, PartialEq, Default)]
struct LaneUse {
    name: String,
    /// What its device was held to; of several disks each.
    throttle: Option<Throttle>,
    /// Disks that it stands on.
    disks: u32,
    /// It stands beside the others: in memory, or an in-process library.
    beside: bool,
    /// Its work is done in the agent, so that the agent's user time is not the engine's alone.
    in_process: bool,
    /// Other programs disturbed more of its trials than not: what one of them said of it.
    disturbed: Option<Disturbed>,
    /// Operations per second of the application.
    rate: Option<f64>,
    /// At the device.
    bandwidth: Option<f64>,
    iops: Option<f64>,
    flushes: Option<f64>,
    /// At the busiest disk of a lane on several, where that says something.
    busiest: Option<OneDisk>,
    /// Share of the window.
    flush_share: Option<f64>,
    agent_user_share: Option<f64>,
    /// Trials that count, and those in which submitting fell behind an open loop's arrivals.
    trials: usize,
    lagging: usize,
    /// The share of operations that io_uring gave back and that were done again.
    done_again: f64,
    /// Share of all CPUs.
    cpu_share: Option<f64>,
    /// Share of one core.
    thread_share: Option<f64>,
    thread: Option<String>,
    /// Requests in flight.
    queue: Option<f64>,
    /// Device bytes read per byte the application read.
    read_share: Option<f64>,
    /// Device bytes written in the windows per byte the application wrote in them.
    write_share: Option<f64>,
    write_amplification: Option<f64>,
    /// Rates at the device, for the limits of a throttle.
    rates: [Option<f64>; Quantity::ALL.len()],
    /// Mean length of a window.
    window_seconds: Option<f64>,
    /// CPU seconds of the whole system per operation.
    cpu_per_operation: Option<f64>,
    /// U; `None`: no ceiling known.
    device_use: Option<f64>,
    /// How exactly the ceiling is known that U was taken from.
    exact: Exact,
    /// U is more than the measured ceiling allows.
    impossible: bool,
}

/// Trials in which other programs were at work.
#[derive(Debug, Clone, PartialEq)]
struct Disturbed {
    trials: usize,
    of: usize,
    /// What was seen of them in one of the trials.
    example: String,
}

/// The bare device, matched to the workload: medians over probes.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Raw {
    operations_per_second: f64,
    bandwidth: f64,
    iops: f64,
    /// How exactly each of the three is known, in the same order.
    exact: [Exact; 3],
}

/// What was done at one disk, per second.
#[derive(Debug, Clone, Copy, PartialEq)]
struct OneDisk {
    bandwidth: Option<f64>,
    iops: Option<f64>,
}

/// How exactly a ceiling is known: the lower quartile of the probes and the best of them, as shares of their median.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Exact {
    low: f64,
    best: f64,
}

impl Default for Exact {
    /// The median is taken for exact.
    fn default() -> Self {
        Exact { low: 1.0, best: 1.0 }
    }
}

/// Everything the rules look at.
struct Observed<'a> {
    workload: &'a Workload,
    /// The shared rate of an open loop.
    rate: Option<&'a SharedRate>,
    reads: bool,
    /// Threads or processes that do the group's work at once.
    workers: u32,
    lanes: Vec<LaneUse>,
    raw: Option<Raw>,
    null_rate: Option<f64>,
    /// The first figure that is no filesystem's, because the disk or the memory cannot have made it.
    beyond: Option<&'a Sentence>,
}

/// A larger U shows that the ceiling is wrong: ceilings lie within 10 % of what lanes reach (method 3.3). The limits of an emulated disk are none that was measured, and have a check of their own.
const BEYOND_THE_CEILING: f64 = 1.1;

/// A lane that flushes so much more often than the bare device does a write with its flush has another cycle than that, and
/// the device's tells nothing of it. Chosen: as far above it as the least share of "about as often" (80 %) lies below.
const AS_OFTEN_AS_THE_DEVICE: f64 = 1.25;

/// Measured seconds below which shares of CPU time, counted in ticks of 10 ms, say nothing.
pub(crate) const LEAST_CPU_WINDOW_SECONDS: f64 = 0.2;

/// With more of them it is no longer io_uring's queue that was measured. Chosen: one operation in a hundred that waits
/// alone, while the others of its queue wait behind it, moves a rate by about as much.
pub(super) const DONE_AGAIN_SHARE: f64 = 0.01;

/// The share of a lane's operations that were done again.
fn done_again(lane: &LaneSeries) -> f64 {
    let counts = lane.ok.iter().flat_map(|trial| &trial.flags).filter_map(|flag| {
        let (again, of) = flag.figures(Mark::IoUringAgain)?.split_once(" of ")?;
        Some((again.trim().parse::<u64>().ok()?, of.trim().parse::<u64>().ok()?))
    });
    let (again, of) = counts.fold((0, 0), |sum, (again, of)| (sum.0 + again, sum.1 + of));
    if of > 0 { again as f64 / of as f64 } else { 0.0 }
}

/// What limited one group of a workload, over all lanes' trials that count.
pub fn limit_of(record: &Record, workload: &Workload, group: &str) -> Limited {
    judge(record, workload, group, &Series::new(record, &workload.name))
}

/// The same for trials that are already collected.
pub(crate) fn judge(record: &Record, workload: &Workload, group: &str, series: &Series) -> Limited {
    // What was measured in one guest, or on the host, is no ceiling of another.
    let one_place = comparable::one_place(series.lanes.iter().map(|lane| lane.lane));
    let has_ceiling = one_place && !workload.traits().mixes_operations();
    let raw = raw_ceiling(&record.probes, workload, group).filter(|_| has_ceiling);
    let of_several = several::ceiling(record, workload, group).filter(|_| has_ceiling);
    let mut lanes: Vec<LaneUse> = series.lanes.iter().map(|lane| lane_use(lane, group, &series.reading)).collect();
    let (plan, flush_bound) = (&record.header.plan, workload.flush_bound());
    let programs = workload.traits().is_done_by_programs();
    for (lane, of) in lanes.iter_mut().zip(&series.lanes) {
        // A client of a database works too, as any program does, and SQLite is the client.
        lane.in_process |= programs;
        (lane.throttle, lane.disks) = (plan.throttle_of(&lane.name), of.lane.disks);
        let (share, exact) = share_of_ceiling(record, workload, (&*lane, of.lane), (raw, of_several));
        (lane.device_use, lane.exact) = (share, exact.unwrap_or_default());
        // No ceiling lies below what a probe reached.
        let beyond = share.is_some_and(|share| share / lane.exact.best > BEYOND_THE_CEILING + 1e-9);
        // The probe counts writes each with its flush: more flushes than that are possible, and then it says nothing.
        let says_nothing = |share: f64| flush_bound && (beyond || share > AS_OFTEN_AS_THE_DEVICE);
        lane.device_use = lane.device_use.filter(|&share| !says_nothing(share));
        lane.impossible = beyond && !flush_bound && lane.throttle.is_none();
    }
    let device_use = lanes.iter().map(|lane| lane.device_use).collect();
    let impossible = lanes.iter().map(|lane| lane.impossible).collect();
    // A lane without a figure neither meets a rule nor keeps the others from it.
    lanes.retain(|lane| lane.rate.is_some());
    if lanes.iter().any(|lane| !lane.beside) {
        lanes.retain(|lane| !lane.beside);
    }
    let null_rate = null_ceiling(&record.probes, workload).filter(|_| one_place);
    let rate = record.rates.iter().rev().find(|rate| rate.workload == workload.name);
    let beyond = impossible::found(record, workload, group, series);
    let of_disks = series.lanes.iter().filter(|lane| !comparable::stands_beside(lane.lane)).count();
    let reads = series.reading.reads(group);
    let first_beyond = beyond.iter().find(|of| !of.counts).map(|of| &of.said);
    let workers = workload.traits().concurrency(group);
    let raw = raw.or(of_several);
    let observed = Observed { workload, rate, reads, workers, lanes, raw, null_rate, beyond: first_beyond };
    let (limit, reason) = rules::first(&observed);
    let near_the_disk = match limit {
        Limit::Device => !rules::is_exactly_at_the_device(&observed),
        // There each pair filled the limits of its own disks.
        Limit::OwnDisk => false,
        _ => true,
    };
    let one_disk = match limit {
        Limit::Device | Limit::Harness | Limit::Cache => Vec::new(),
        Limit::OwnDisk => rules::one_disk(&observed),
        _ => rules::at_one_disk(&observed),
    };
    let steps = workload.traits().schedule().is_steps();
    // Reads that the page cache answered are labelled so (method 3.2).
    let missed_the_disk = limit == Limit::Cache && !steps && (!reads || first_beyond == Some(&reason));
    Limited {
        limit,
        reason,
        device_use,
        impossible,
        one_disk,
        near_the_disk,
        warnings: impossible::warnings(beyond, of_disks),
        missed_the_disk,
    }
}

/// U of a lane, with how exactly its ceiling is known. `raw`: what one bare disk does, where lanes stand on one, and what one of
/// several does.
fn share_of_ceiling(
    record: &Record,
    workload: &Workload,
    (lane, of): (&LaneUse, &Lane),
    (raw, of_several): (Option<Raw>, Option<Raw>),
) -> (Option<f64>, Option<Exact>) {
    let (plan, flush_bound) = (&record.header.plan, workload.flush_bound());
    if of.disks > 1 && lane.throttle.is_none() {
        let raw = of_several.filter(|_| !flush_bound && several::tells_of(record, of));
        return lane.busiest.zip(raw).and_then(|(disk, raw)| disk_use(disk, &raw)).unzip();
    }
    // What several disks that are held do together no bare one tells.
    let raw = raw.filter(|_| is_below(plan, lane.throttle, flush_bound) && of.disks == 1);
    match lane.throttle.filter(|_| !flush_bound) {
        None => raw.and_then(|raw| device_use(lane, &raw, flush_bound)).unzip(),
        Some(throttle) => (limit_use(lane, &throttle, raw.as_ref(), workload), None),
    }
}

/// Whether the ceilings of the bare device are those of the disk below a lane's own limits: they were
/// measured under the race's base. What a flush costs under other limits they do not say.
fn is_below(plan: &Plan, throttle: Option<Throttle>, flush_bound: bool) -> bool {
    throttle == plan.throttle || (plan.throttle.is_none() && !flush_bound)
}

/// What a trial's mark says of other programs; `None`: it has none.
fn noise_in(trial: &Trial) -> Option<&str> {
    trial.flags.iter().find_map(|flag| flag.figures(Mark::ForeignNoise))
}

fn lane_use(lane: &LaneSeries, group: &str, reading: &Reading) -> LaneUse {
    let (quiet, noisy): (Vec<_>, Vec<_>) = lane.group(group).partition(|(trial, _)| noise_in(trial).is_none());
    let disturbed = noisy.first().and_then(|(trial, _)| noise_in(trial)).filter(|_| noisy.len() > quiet.len());
    let disturbed = disturbed.map(|example| Disturbed {
        trials: noisy.len(),
        of: noisy.len() + quiet.len(),
        example: example.to_owned(),
    });
    let counted = if noisy.len() > quiet.len() { [quiet, noisy].concat() } else { quiet };
    let seen: Vec<_> = counted.into_iter().map(|(trial, of)| (of, Scope::new(trial, of, reading))).collect();
    let window = |of: &Scope| Some(of.system.window_seconds).filter(|&seconds| seconds > 0.0);
    let per_second =
        |amount: fn(&Scope) -> f64| median(seen.iter().filter_map(|(_, scope)| Some(amount(scope) / window(scope)?)));
    // CPU time is counted in ticks of 10 ms: one tick in a short window would be a large share, so
    // all windows are summed, and too little of them says nothing.
    let of_all = |amount: fn(&Scope) -> f64| {
        let windows: f64 = seen.iter().filter_map(|(_, scope)| window(scope)).sum();
        let amounts: f64 =
            seen.iter().filter(|(_, scope)| window(scope).is_some()).map(|(_, scope)| amount(scope)).sum();
        (windows >= LEAST_CPU_WINDOW_SECONDS).then_some(amounts / windows).filter(|share| share.is_finite())
    };
    let busiest = seen
        .iter()
        .filter_map(|(_, scope)| Some((scope.system.busiest_thread_share?, scope.system.busiest_thread.clone())))
        .max_by(|a, b| a.0.total_cmp(&b.0));
    LaneUse {
        name: lane.lane.name.clone(),
        beside: comparable::stands_beside(lane.lane),
        in_process: lane.lane.venue == comparable::LIBRARY,
        disturbed,
        trials: lane.ok.len(),
        lagging: pair::flagged(lane, Mark::HarnessBoundSubmission, u32::MAX),
        done_again: done_again(lane),
        rate: median(seen.iter().map(|(of, _)| match of.metrics.get("operations_per_second") {
            Some(&rate) => rate,
            None => of.operations as f64 / of.seconds,
        })),
        bandwidth: per_second(|scope| scope.system.device.read_bytes as f64 + scope.system.device.write_bytes as f64),
        iops: per_second(|scope| scope.system.device.reads as f64 + scope.system.device.writes as f64),
        flushes: per_second(|scope| scope.system.device.flushes as f64),
        busiest: several::busiest(&seen.iter().map(|(_, scope)| scope.system).collect::<Vec<_>>()),
        flush_share: per_second(|scope| scope.system.device.flush_seconds),
        // User-mode Linux charges every change into its kernel and back to the user's time: there the engine
        // without a device, which pays the same, is what tells.
        agent_user_share: of_all(|scope| scope.system.agent_cpu_user_seconds)
            .filter(|_| lane.lane.venue != comparable::UML),
        cpu_share: of_all(|scope| scope.system.cpu_busy_seconds() / f64::from(scope.system.cpus)),
        thread_share: median(seen.iter().filter_map(|(_, scope)| scope.system.busiest_thread_share)),
        thread: busiest.and_then(|(_, name)| name),
        queue: per_second(|scope| scope.system.device.queue_seconds),
        read_share: median(
            seen.iter()
                // Without a device (a network or overlay directory) nothing is known of its reads.
                // Sums over several groups do not say which of them was read from the cache.
                .filter(|(of, scope)| scope.read_bytes == of.bytes as f64)
                .filter(|(_, scope)| scope.read_bytes > 0.0 && !lane.lane.backing.is_empty())
                .map(|(_, scope)| scope.system.device.read_bytes as f64 / scope.read_bytes),
        ),
        write_share: median(
            seen.iter()
                .filter(|(of, scope)| scope.write_bytes == of.bytes as f64)
                .filter(|(_, scope)| scope.write_bytes > 0.0 && !lane.lane.backing.is_empty())
                .map(|(_, scope)| scope.system.device.write_bytes as f64 / scope.write_bytes),
        ),
        write_amplification: median(seen.iter().filter_map(|(_, scope)| scope.write_amplification())),
        rates: Quantity::ALL
            .map(|quantity| median(seen.iter().filter_map(|(_, scope)| crate::throttle::rate(scope.system, quantity)))),
        window_seconds: crate::throttle::window_seconds(seen.iter().map(|(_, scope)| scope.system)),
        cpu_per_operation: median(
            seen.iter()
                .filter(|(_, scope)| scope.exact && scope.operations > 0.0)
                .map(|(_, scope)| scope.cpu_seconds() / scope.operations),
        ),
        ..LaneUse::default()
    }
}

/// The bare device's figures for this workload. The device's own counters are preferred, as the
/// lanes' figures are counters too and large requests are split on their way.
fn raw_ceiling(probes: &[Probe], workload: &Workload, group: &str) -> Option<Raw> {
    let of_one: Vec<&Probe> = probed(probes, workload, group).filter(|probe| probe.disk.is_none()).collect();
    raw_of(&of_one)
}

/// The probes whose work is that of a group.
fn probed<'a>(probes: &'a [Probe], workload: &'a Workload, group: &'a str) -> impl Iterator<Item = &'a Probe> {
    let kind = workload.traits();
    probes
        .iter()
        .filter(move |probe| probe.workload == workload.name && probe.profile != Profile::Null)
        .filter(move |probe| kind.is_ceiling_of(probe.profile, group))
}

/// Medians over probes.
fn raw_of(matched: &[&Probe]) -> Option<Raw> {
    let counted = |amount: f64, seconds: f64, otherwise: f64| {
        if amount > 0.0 && seconds > 0.0 { amount / seconds } else { otherwise }
    };
    let of = |figure: &dyn Fn(&Probe) -> f64| {
        median(matched.iter().map(|probe| figure(probe))).filter(|&figure| figure > 0.0)
    };
    let bandwidth_of = |probe: &Probe| {
        let device = &probe.system.device;
        let bytes = device.read_bytes as f64 + device.write_bytes as f64;
        counted(bytes, probe.system.window_seconds, probe.bandwidth_bytes_per_second)
    };
    let iops_of = |probe: &Probe| {
        let device = &probe.system.device;
        let requests = device.reads as f64 + device.writes as f64;
        counted(requests, probe.system.window_seconds, probe.operations_per_second)
    };
    let operations_of = |probe: &Probe| probe.operations_per_second;
    let (operations_per_second, bandwidth, iops) = (of(&operations_of)?, of(&bandwidth_of)?, of(&iops_of)?);
    let exact =
        |figure: &dyn Fn(&Probe) -> f64, median: f64| exactness(matched.iter().map(|probe| figure(probe) / median));
    Some(Raw {
        operations_per_second,
        bandwidth,
        iops,
        exact: [exact(&operations_of, operations_per_second), exact(&bandwidth_of, bandwidth), exact(&iops_of, iops)],
    })
}

/// Fewer probes than this have no quartile worth the name: the median is taken for exact.
const FEWEST_PROBES: usize = 4;

/// The lower quartile (between neighbours in proportion) and the largest of what probes measured, in shares of its median.
fn exactness(shares: impl Iterator<Item = f64>) -> Exact {
    let mut sorted: Vec<f64> = shares.filter(|share| share.is_finite()).collect();
    sorted.sort_by(f64::total_cmp);
    if sorted.len() < FEWEST_PROBES {
        return Exact::default();
    }
    let place = 0.25 * (sorted.len() - 1) as f64;
    let below = place.floor() as usize;
    let quartile = sorted[below] + (sorted[below + 1] - sorted[below]) * place.fract();
    Exact { low: quartile.min(1.0), best: sorted[sorted.len() - 1].max(1.0) }
}

/// What the bare device does of steady work, in the unit of a metric: what a chart may draw beside the lanes'
/// own figures. `None` where the probe did other work (of several kinds, paced, or files instead of blocks),
/// where it went through a filesystem, where a lane's disk was held to other limits than it, and of
/// latencies.
pub(crate) fn ceiling(record: &Record, workload: &Workload, metric: &str) -> Option<f64> {
    let (plan, probes) = (&record.header.plan, &record.probes);
    let kind = workload.traits();
    let alike = kind.schedule().is_slices() && !kind.mixes_operations() && !kind.is_paced();
    let one_disk = plan.lanes.iter().all(|lane| plan.throttle_of(&lane.name) == plan.throttle && lane.disks() == 1);
    let bare = !probes.iter().any(|probe| probe.workload == workload.name && probe.through_filesystem);
    let raw = raw_ceiling(probes, workload, "").filter(|_| alike && one_disk && bare)?;
    match metric {
        "bandwidth_bytes_per_second" => Some(raw.bandwidth),
        "operations_per_second" => Some(raw.operations_per_second),
        _ => None,
    }
}

/// The bare device's bandwidth for this work, in bytes per second, where the probe is alike and nothing
/// else holds the lane's own device; of steps on files, which have none of their own, the fastest that
/// large sequential work of the race reached.
pub(crate) fn raw_bandwidth(record: &Record, workload: &Workload, lane: &str, reads: bool) -> Option<f64> {
    let (plan, probes) = (&record.header.plan, &record.probes);
    let on_several = record.header.lanes.iter().any(|of| of.name == lane && of.disks > 1);
    if on_several || !is_below(plan, plan.throttle_of(lane), false) {
        return None;
    }
    let kind = workload.traits();
    if kind.borrows_ceilings() {
        return sequential_bandwidth(probes, reads);
    }
    if kind.is_flush_bound() || !kind.counterpart_is_alike() || kind.is_paced() {
        return None;
    }
    raw_ceiling(probes, workload, "").map(|raw| raw.bandwidth)
}

fn sequential_bandwidth(probes: &[Probe], reads: bool) -> Option<f64> {
    let profile = if reads { Profile::SeqRead } else { Profile::SeqWrite };
    let mut by_workload: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
    // One of several disks is not what a lane on one stands on.
    for probe in probes.iter().filter(|probe| probe.profile == profile && probe.disk.is_none()) {
        by_workload.entry(&probe.workload).or_default().push(probe.bandwidth_bytes_per_second);
    }
    by_workload.into_values().filter_map(median).filter(|&figure| figure > 0.0).reduce(f64::max)
}

fn null_ceiling(probes: &[Probe], workload: &Workload) -> Option<f64> {
    let null = probes.iter().filter(|probe| probe.workload == workload.name && probe.profile == Profile::Null);
    median(null.map(|probe| probe.operations_per_second)).filter(|&rate| rate > 0.0)
}

/// U of a lane, with how exactly its ceiling is known. IOPS count only where the lane's requests are at least half as large as the bare
/// device's were: a filesystem that splits them makes more requests than a ceiling of large ones,
/// without being near it.
fn device_use(lane: &LaneUse, raw: &Raw, flush_bound: bool) -> Option<(f64, Exact)> {
    if flush_bound {
        let [of_operations, ..] = raw.exact;
        return Some((lane.flushes? / raw.operations_per_second, of_operations)).filter(|of| of.0.is_finite());
    }
    disk_use(OneDisk { bandwidth: lane.bandwidth, iops: lane.iops }, raw)
}

/// The same of one disk, for work that does not flush after each write.
fn disk_use(disk: OneDisk, raw: &Raw) -> Option<(f64, Exact)> {
    let [_, of_bandwidth, of_iops] = raw.exact;
    let (bandwidth, iops) = (disk.bandwidth?, disk.iops?);
    let by_bandwidth = bandwidth / raw.bandwidth;
    let comparable = iops > 0.0 && bandwidth / iops >= 0.5 * raw.bandwidth / raw.iops;
    let by_iops = if comparable { iops / raw.iops } else { 0.0 };
    let of = if by_iops > by_bandwidth { (by_iops, of_iops) } else { (by_bandwidth, of_bandwidth) };
    Some(of).filter(|of| of.0.is_finite())
}

/// U of a lane on an emulated disk: the nearest of its limits, or what the disk below them moves where
/// that is less. Requests are limited apart from bytes, so the bare disk's are no ceiling beside them.
fn limit_use(lane: &LaneUse, throttle: &Throttle, raw: Option<&Raw>, workload: &Workload) -> Option<f64> {
    let of_limit = lane
        .window_seconds
        .filter(|&seconds| crate::throttle::shows(workload, seconds))
        .and_then(|_| crate::throttle::nearness(|quantity| lane.rates[quantity as usize], throttle));
    let of_bare = raw.and_then(|raw| Some(lane.bandwidth? / raw.bandwidth)).filter(|share| share.is_finite());
    [of_limit, of_bare].into_iter().flatten().reduce(f64::max)
}
