//! What limited a result: rules 2 to 9 of methods section 3, the first that matches.
//!
//! Every lane is described by the medians of its rounds. Causes may differ from lane to lane and a
//! result has one limit, so the rules are read like this: 2 and 3 hold when any lane meets them,
//! because one lane that was not measured spoils every pair it is in; 4 and 5 when all lanes do,
//! because only then nothing is left to compare; 6 to 8 when more than half of the lanes meet them
//! or the slowest does, because it is the slowest lane whose cause a reader asks for. The sentence
//! names the lanes.
//!
//! Work of several kinds at once (job files, reads and writes mixed) has no ceiling on the bare
//! device, and the system's sums cover all of it: only rules 2, 3 and 9 are asked there. Paced work
//! (a rate, an open loop) stops at its rate and not at a cause: the same.
//!
//! A lane in memory or of an in-process library stands beside the others and gets no verdict against
//! them: where a filesystem on a disk has a figure, only such lanes are asked. The floor runs so fast
//! that the engine shows, and a library's work is the agent's own user time by nature.

use crate::estimate::median;
use crate::pair;
use crate::series::{LaneSeries, Reading, Scope, Series};
use crate::words;
use model::Throttle;
use model::findings::Limit;
use model::job::{Direction, Io, Pattern, Rate, SyncMode};
use model::record::{Probe, Profile, Record, SharedRate};
use model::throttle::Quantity;
use model::workload::{Kind, Workload};

/// What limited one result.
#[derive(Debug, Clone, PartialEq)]
pub struct Limited {
    /// The limit.
    pub limit: Limit,
    /// One sentence with the figures.
    pub reason: String,
    /// U of each lane in the header's order: the larger of bandwidth and IOPS at the device against
    /// the bare device; for work that flushes after each write, flushes against the bare device's.
    pub device_use: Vec<Option<f64>>,
}

/// What one lane did: medians over its rounds.
#[derive(Debug, Clone, PartialEq, Default)]
struct LaneUse {
    name: String,
    /// It stands beside the others: in memory, or an in-process library.
    beside: bool,
    /// Its work is done in the agent, so that the agent's user time is not the engine's alone.
    in_process: bool,
    /// Operations per second of the application.
    rate: Option<f64>,
    /// At the device.
    bandwidth: Option<f64>,
    iops: Option<f64>,
    flushes: Option<f64>,
    /// Share of the window.
    flush_share: Option<f64>,
    agent_user_share: Option<f64>,
    /// Trials that count, and those in which submitting fell behind an open loop's arrivals.
    trials: usize,
    lagging: usize,
    /// Share of all CPUs.
    cpu_share: Option<f64>,
    /// Share of one core.
    thread_share: Option<f64>,
    thread: Option<String>,
    /// Requests in flight.
    queue: Option<f64>,
    /// Device bytes read per byte the application read.
    read_share: Option<f64>,
    write_amplification: Option<f64>,
    /// Rates at the device, for the limits of a throttle.
    rates: [Option<f64>; Quantity::ALL.len()],
    /// Mean length of a window.
    window_seconds: Option<f64>,
    /// CPU seconds of the whole system per operation.
    cpu_per_operation: Option<f64>,
    /// U; `None`: no ceiling known.
    device_use: Option<f64>,
}

/// The bare device, matched to the workload: medians over probes.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Raw {
    operations_per_second: f64,
    bandwidth: f64,
    iops: f64,
}

/// Everything the rules look at.
struct Sight<'a> {
    workload: &'a Workload,
    /// The shared rate of an open loop.
    rate: Option<&'a SharedRate>,
    reads: bool,
    lanes: Vec<LaneUse>,
    raw: Option<Raw>,
    throttle: Option<&'a Throttle>,
    null_rate: Option<f64>,
}

/// Measured seconds below which shares of CPU time, counted in ticks of 10 ms, say nothing.
const LEAST_CPU_WINDOW_SECONDS: f64 = 0.2;

type Rule = fn(&Sight) -> Option<(Limit, String)>;

/// Rules 2 and 3, which hold for any work.
const RULES: [Rule; 2] = [harness, cache];

/// Rules 4 to 8 in order, for work of one kind that runs as fast as it goes.
/// Rules 4 and 5, for work of several kinds at once on a disk whose limits are known for each.
const LIMITS: [Rule; 2] = [device, write_amplification];

const CAUSES: [Rule; 5] = [device, write_amplification, flush, filesystem_cpu, filesystem_serialised];

/// A trial in which Fairlane itself handed operations over too late begins a flag with this.
const HARNESS_BOUND: &str = "harness-bound-submission";

/// What limited one group of a workload, over all lanes' trials that count.
pub fn limit_of(record: &Record, workload: &Workload, group: &str) -> Limited {
    judge(record, workload, group, &Series::of(record, &workload.name))
}

/// The same for trials that are already collected.
pub(crate) fn judge(record: &Record, workload: &Workload, group: &str, series: &Series) -> Limited {
    let raw = raw_ceiling(&record.probes, workload).filter(|_| !of_several_kinds(workload));
    let mut lanes: Vec<LaneUse> = series.lanes.iter().map(|lane| lane_use(lane, group, &series.reading)).collect();
    let throttle = record.header.plan.throttle.as_ref();
    for lane in &mut lanes {
        lane.device_use = match throttle.filter(|_| !workload.flush_bound()) {
            None => raw.and_then(|raw| device_use(lane, &raw, workload.flush_bound())),
            Some(throttle) => limit_use(lane, throttle, raw.as_ref(), workload),
        };
    }
    let device_use = lanes.iter().map(|lane| lane.device_use).collect();
    // A lane without a figure neither meets a rule nor keeps the others from it.
    lanes.retain(|lane| lane.rate.is_some());
    if lanes.iter().any(|lane| !lane.beside) {
        lanes.retain(|lane| !lane.beside);
    }
    let null_rate = null_ceiling(&record.probes, workload);
    let rate = record.rates.iter().rev().find(|rate| rate.workload == workload.name);
    let sight = Sight { workload, rate, reads: series.reading.reads(group), lanes, raw, throttle, null_rate };
    let causes = match () {
        () if paced(workload) => &[][..],
        () if of_several_kinds(workload) && throttle.is_some() => &LIMITS[..],
        () if of_several_kinds(workload) => &[][..],
        () => &CAUSES[..],
    };
    let (limit, reason) =
        RULES.iter().chain(causes).find_map(|rule| rule(&sight)).unwrap_or_else(|| unattributed(&sight));
    Limited { limit, reason, device_use }
}

/// Whether the bare device's ceilings, each of one kind of work, say nothing about this work.
fn of_several_kinds(workload: &Workload) -> bool {
    match &workload.kind {
        Kind::Io(io) => io.rw.directions().len() > 1,
        Kind::Jobs(_) | Kind::Fio(_) => true,
        Kind::SmallFiles(_) | Kind::Operations(_) => false,
    }
}

/// Whether the work waits by itself: a rate, an open loop, pauses. Reaching the rate shows no limit.
fn paced(workload: &Workload) -> bool {
    match &workload.kind {
        Kind::Io(io) => paces(io),
        Kind::Jobs(jobs) => jobs.jobs.iter().any(|job| paces(&job.io)),
        Kind::Fio(_) | Kind::SmallFiles(_) | Kind::Operations(_) => false,
    }
}

fn paces(io: &Io) -> bool {
    let limited = |&direction: &Direction| io.rate.is_some_and(|rates| *rates.of(direction) != Rate::Unlimited);
    io.rate_of_slowest.is_some()
        || io.thinktime_seconds > 0.0
        || io.thinktime_spin_seconds > 0.0
        || io.rw.directions().iter().any(limited)
}

/// One kind of operation, back to back, and nothing beside it that a probe leaves out.
fn plain(io: &Io) -> bool {
    matches!(io.rw, Pattern::Read | Pattern::Write | Pattern::RandRead | Pattern::RandWrite)
        && io.fsync == 0
        && io.fdatasync == 0
        && io.sync == SyncMode::None
        && io.block_sizes.is_none()
        && !io.create_only
        && !paces(io)
}

fn lane_use(lane: &LaneSeries, group: &str, reading: &Reading) -> LaneUse {
    let seen: Vec<_> = lane.group(group).map(|(trial, of)| (of, Scope::of(trial, of, reading))).collect();
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
        beside: pair::stands_beside(lane.lane),
        in_process: lane.lane.venue == pair::LIBRARY,
        trials: lane.ok.len(),
        lagging: pair::flagged(lane, HARNESS_BOUND),
        rate: median(seen.iter().map(|(of, _)| match of.metrics.get("operations_per_second") {
            Some(&rate) => rate,
            None => of.operations as f64 / of.seconds,
        })),
        bandwidth: per_second(|scope| scope.system.device.read_bytes as f64 + scope.system.device.write_bytes as f64),
        iops: per_second(|scope| scope.system.device.reads as f64 + scope.system.device.writes as f64),
        flushes: per_second(|scope| scope.system.device.flushes as f64),
        flush_share: per_second(|scope| scope.system.device.flush_seconds),
        agent_user_share: of_all(|scope| scope.system.agent_cpu_user_seconds),
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
        write_amplification: median(seen.iter().filter_map(|(_, scope)| scope.write_amplification())),
        rates: Quantity::ALL
            .map(|quantity| median(seen.iter().filter_map(|(_, scope)| crate::throttle::rate(scope.system, quantity)))),
        window_seconds: crate::throttle::window_seconds(seen.iter().map(|(_, scope)| scope.system)),
        cpu_per_operation: median(
            seen.iter()
                .filter(|(_, scope)| scope.exact && scope.operations > 0.0)
                .map(|(_, scope)| scope.cpu_seconds() / scope.operations),
        ),
        device_use: None,
    }
}

/// The bare device's figures for this workload. The device's own counters are preferred, as the
/// lanes' figures are counters too and large requests are split on their way.
fn raw_ceiling(probes: &[Probe], workload: &Workload) -> Option<Raw> {
    let flush_bound = workload.flush_bound();
    let matched: Vec<&Probe> = probes
        .iter()
        .filter(|probe| probe.workload == workload.name && probe.profile != Profile::Null)
        .filter(|probe| (probe.profile == Profile::Flush) == flush_bound)
        .collect();
    let counted = |amount: f64, seconds: f64, otherwise: f64| {
        if amount > 0.0 && seconds > 0.0 { amount / seconds } else { otherwise }
    };
    let of = |figure: &dyn Fn(&Probe) -> f64| {
        median(matched.iter().map(|probe| figure(probe))).filter(|&figure| figure > 0.0)
    };
    Some(Raw {
        operations_per_second: of(&|probe| probe.operations_per_second)?,
        bandwidth: of(&|probe| {
            let device = &probe.system.device;
            let bytes = device.read_bytes as f64 + device.write_bytes as f64;
            counted(bytes, probe.system.window_seconds, probe.bandwidth_bytes_per_second)
        })?,
        iops: of(&|probe| {
            let device = &probe.system.device;
            counted(
                device.reads as f64 + device.writes as f64,
                probe.system.window_seconds,
                probe.operations_per_second,
            )
        })?,
    })
}

fn null_ceiling(probes: &[Probe], workload: &Workload) -> Option<f64> {
    let null = probes.iter().filter(|probe| probe.workload == workload.name && probe.profile == Profile::Null);
    median(null.map(|probe| probe.operations_per_second)).filter(|&rate| rate > 0.0)
}

/// U of a lane. IOPS count only where the lane's requests are at least half as large as the bare
/// device's were: a filesystem that splits them makes more requests than a ceiling of large ones,
/// without being near it.
fn device_use(lane: &LaneUse, raw: &Raw, flush_bound: bool) -> Option<f64> {
    if flush_bound {
        return Some(lane.flushes? / raw.operations_per_second).filter(|share| share.is_finite());
    }
    let (bandwidth, iops) = (lane.bandwidth?, lane.iops?);
    let by_bandwidth = bandwidth / raw.bandwidth;
    let comparable = iops > 0.0 && bandwidth / iops >= 0.5 * raw.bandwidth / raw.iops;
    let by_iops = if comparable { iops / raw.iops } else { 0.0 };
    Some(by_bandwidth.max(by_iops)).filter(|share| share.is_finite())
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

impl Sight<'_> {
    /// Workers that share the engine's user time: of a job file those of the jobs that may run at
    /// once, which are the jobs between two stonewalls; the largest such group counts.
    fn workers(&self) -> u32 {
        match &self.workload.kind {
            Kind::Io(io) => io.numjobs.max(1),
            Kind::Jobs(jobs) => {
                let (mut most, mut group) = (1, 0_u32);
                for job in &jobs.jobs {
                    group = if job.stonewall { 0 } else { group }.saturating_add(job.io.numjobs);
                    most = most.max(group);
                }
                most
            }
            Kind::SmallFiles(_) | Kind::Fio(_) => 1,
            Kind::Operations(operations) => operations.threads,
        }
    }

    /// Whether the engine without a device did this very work: steady work, or the one job of a job
    /// file that one worker does. A probe folds several workers into one, so its rate is not theirs.
    fn null_is_alike(&self) -> bool {
        match &self.workload.kind {
            Kind::Io(_) => true,
            Kind::Jobs(jobs) => matches!(jobs.jobs.as_slice(), [job] if job.io.numjobs == 1 && plain(&job.io)),
            Kind::SmallFiles(_) | Kind::Operations(_) | Kind::Fio(_) => false,
        }
    }

    fn steady_depth(&self) -> u32 {
        match &self.workload.kind {
            Kind::Io(io) => io.iodepth.saturating_mul(io.numjobs),
            // Jobs come and go: no one depth is asked for all the time.
            Kind::SmallFiles(_) | Kind::Operations(_) | Kind::Jobs(_) | Kind::Fio(_) => 1,
        }
    }

    /// The ceiling as a person names it; `None`: none is known.
    fn ceiling(&self) -> Option<String> {
        match (self.emulated(), &self.raw) {
            (Some(throttle), _) => Some(format!("the emulated disk's {throttle}")),
            (None, Some(raw)) => Some(format!("the bare device's {}", self.bare(raw))),
            (None, None) => None,
        }
    }

    /// The same where the device was just spoken of.
    fn own_ceiling(&self) -> Option<String> {
        match (self.emulated(), &self.raw) {
            (Some(throttle), _) => Some(format!("the throttle's {throttle}")),
            (None, Some(raw)) => Some(format!("its bare {}", self.bare(raw))),
            (None, None) => None,
        }
    }

    /// The throttle, where it is the ceiling: what a flush costs it does not say.
    fn emulated(&self) -> Option<&Throttle> {
        self.throttle.filter(|_| !self.workload.flush_bound())
    }

    /// What the bare device does: IOPS for small blocks, bandwidth from 64 KiB on.
    fn bare(&self, raw: &Raw) -> String {
        match &self.workload.kind {
            _ if self.workload.flush_bound() => {
                format!("{} flushes/s", model::units::human_count(raw.operations_per_second))
            }
            Kind::Io(io) if io.bs.get() < 64 * 1024 => words::iops(raw.iops),
            _ => words::bandwidth(raw.bandwidth),
        }
    }

    /// "every lane" or the lanes' names with the verb's ending in mind.
    fn who(&self, of: &[&LaneUse]) -> String {
        if of.len() == self.lanes.len() && of.len() > 1 {
            return "every lane".to_owned();
        }
        words::list(&of.iter().map(|lane| lane.name.as_str()).collect::<Vec<_>>())
    }

    /// The lanes that meet a rule, if they are more than half or hold the slowest.
    fn majority_or_slowest(&self, meets: impl Fn(&LaneUse) -> bool) -> Option<Vec<&LaneUse>> {
        let of: Vec<&LaneUse> = self.lanes.iter().filter(|lane| meets(lane)).collect();
        let slowest = self.lanes.iter().min_by(|a, b| a.rate.unwrap_or(0.0).total_cmp(&b.rate.unwrap_or(0.0)))?;
        (2 * of.len() > self.lanes.len() || of.iter().any(|lane| lane.name == slowest.name)).then_some(of)
    }

    fn all_at_the_ceiling(&self) -> bool {
        !self.workload.flush_bound()
            && !self.lanes.is_empty()
            && self.lanes.iter().all(|lane| lane.device_use.is_some_and(|share| share >= 0.95))
    }

    fn write_amplifications(&self) -> Vec<f64> {
        // Writes of a mixture slow its reads down too.
        let reads = self.reads && !of_several_kinds(self.workload);
        if reads { Vec::new() } else { self.lanes.iter().filter_map(|lane| lane.write_amplification).collect() }
    }

    /// Whether the lanes write within 5 % of the same amount per byte of the application.
    fn write_alike(&self) -> bool {
        let all = self.write_amplifications();
        let (low, high) = all.iter().fold((f64::MAX, f64::MIN), |(low, high), &at| (low.min(at), high.max(at)));
        all.is_empty() || high <= 1.05 * low
    }
}

/// Rule 2. Waiting for the next moment of paced work takes user time that is nobody's limit. One
/// late trial is a disturbance of the machine; more than half of a lane's are the engine.
fn harness(sight: &Sight) -> Option<(Limit, String)> {
    if let Some(lane) = sight.lanes.iter().find(|lane| 2 * lane.lagging > lane.trials) {
        let reason = format!(
            "in {} of {} trials of {} the engine handed operations over later than it should have: the engine was measured",
            lane.lagging, lane.trials, lane.name
        );
        return Some((Limit::Harness, reason));
    }
    let near_null = |lane: &&LaneUse| Some(lane.rate? / sight.null_rate?).filter(|&share| share >= 0.8);
    if sight.null_is_alike()
        && let Some((lane, share)) = sight.lanes.iter().find_map(|lane| Some((lane, near_null(&lane)?)))
    {
        let null = model::units::human_count(sight.null_rate.unwrap_or(0.0));
        let reason = format!(
            "{} runs at {} of the {null} operations/s that the engine reaches without a device: the engine was measured",
            lane.name,
            words::percent(share)
        );
        return Some((Limit::Harness, reason));
    }
    if paced(sight.workload) {
        return None;
    }
    let workers = sight.workers();
    let share = |lane: &LaneUse| Some(lane.agent_user_share.filter(|_| !lane.in_process)? / f64::from(workers));
    let lane = sight.lanes.iter().find(|lane| share(lane).is_some_and(|share| share > 0.20))?;
    let of = if workers > 1 { format!("{workers} workers in ") } else { String::new() };
    let reason = format!(
        "the engine's own user time fills {} of {of}{}'s windows: the engine was measured",
        words::percent(share(lane)?),
        lane.name
    );
    Some((Limit::Harness, reason))
}

/// Rule 3.
fn cache(sight: &Sight) -> Option<(Limit, String)> {
    if !sight.reads {
        return None;
    }
    let lane = sight.lanes.iter().find(|lane| lane.read_share.is_some_and(|share| share < 0.10))?;
    let share = words::percent(lane.read_share?);
    Some((
        Limit::Cache,
        format!("in {} only {share} of the bytes read came from the device: the page cache answered", lane.name),
    ))
}

/// Rule 4.
fn device(sight: &Sight) -> Option<(Limit, String)> {
    if !sight.all_at_the_ceiling() || !sight.write_alike() {
        return None;
    }
    let who = if sight.lanes.len() == 1 { sight.lanes[0].name.clone() } else { "every lane".to_owned() };
    let reason = format!(
        "{who} runs at {} of {}: this test cannot tell these filesystems apart{}",
        words::percent_range(sight.lanes.iter().filter_map(|lane| lane.device_use)),
        sight.ceiling()?,
        by_cpu(&sight.lanes)
    );
    Some((Limit::Device, reason))
}

/// What remains to choose by where the device was measured: the lane that spends least first.
fn by_cpu(lanes: &[LaneUse]) -> String {
    let mut each: Vec<(f64, &str)> = lanes
        .iter()
        .filter_map(|lane| Some((lane.cpu_per_operation.filter(|&cpu| cpu > 0.0)?, lane.name.as_str())))
        .collect();
    if each.len() < 2 {
        return String::new();
    }
    each.sort_by(|a, b| a.0.total_cmp(&b.0));
    let each: Vec<String> =
        each.into_iter().map(|(cpu, name)| format!("{name} {}", model::units::human_seconds(cpu))).collect();
    format!("; by CPU per operation: {}", each.join(", "))
}

/// Rule 5.
fn write_amplification(sight: &Sight) -> Option<(Limit, String)> {
    if !sight.all_at_the_ceiling() {
        return None;
    }
    let each: Vec<String> =
        sight.lanes.iter().filter_map(|lane| Some(format!("{} {:.2}", lane.name, lane.write_amplification?))).collect();
    let reason = format!(
        "every lane runs at {} of {}, but they write different amounts to it per byte of the application ({})",
        words::percent_range(sight.lanes.iter().filter_map(|lane| lane.device_use)),
        sight.ceiling()?,
        each.join(", ")
    );
    Some((Limit::WriteAmplification, reason))
}

/// Rule 6. The device's own counter leaves out the write that each flush has to wait for, so work
/// that flushes after every write is flush-bound too where its flushes, at the bare device's time
/// for a write and a flush, fill more than half of the time.
fn flush(sight: &Sight) -> Option<(Limit, String)> {
    let flush_bound = sight.workload.flush_bound();
    let cycles = |lane: &LaneUse| lane.device_use.filter(|_| flush_bound);
    let of = sight.majority_or_slowest(|lane| {
        lane.flush_share.is_some_and(|share| share > 0.50) || cycles(lane).is_some_and(|share| share > 0.50)
    })?;
    let rates: Vec<String> = of
        .iter()
        .filter_map(|lane| Some(format!("{} {}", lane.name, model::units::human_count(lane.flushes?))))
        .collect();
    let one = of.len() == 1 || of.len() == sight.lanes.len();
    let reason = match sight.raw.filter(|_| flush_bound) {
        Some(raw) => format!(
            "{} {} {} of the flushes that the bare device makes when each follows a write ({}; lanes: {} flushes/s)",
            sight.who(&of),
            if one { "makes" } else { "make" },
            words::percent_range(of.iter().filter_map(|lane| lane.device_use)),
            sight.bare(&raw),
            rates.join(", ")
        ),
        None => format!(
            "{} {} {} of the time in flushes ({} flushes/s)",
            sight.who(&of),
            if one { "spends" } else { "spend" },
            words::percent_range(of.iter().filter_map(|lane| lane.flush_share)),
            rates.join(", ")
        ),
    };
    Some((Limit::Flush, reason))
}

fn below_the_ceiling(lane: &LaneUse) -> bool {
    lane.device_use.is_none_or(|share| share < 0.8)
}

/// Rule 7. Without a known ceiling it still applies: a full core is a cause of its own.
fn filesystem_cpu(sight: &Sight) -> Option<(Limit, String)> {
    let thread = |lane: &LaneUse| lane.thread_share.filter(|&share| share >= 0.90);
    let system = |lane: &LaneUse| lane.cpu_share.filter(|&share| share >= 0.90);
    let of = sight
        .majority_or_slowest(|lane| below_the_ceiling(lane) && (thread(lane).is_some() || system(lane).is_some()))?;
    let each: Vec<String> = of
        .iter()
        .map(|lane| match (thread(lane), system(lane)) {
            (Some(share), _) => {
                let name = lane.thread.as_deref().unwrap_or("a thread");
                format!("in {} {name} fills {} of a core", lane.name, words::percent(share))
            }
            (None, share) => format!("{} fills {} of all CPUs", lane.name, words::percent(share.unwrap_or(0.0))),
        })
        .collect();
    Some((Limit::FilesystemCpu, format!("{}{}", each.join("; "), spare(&of))))
}

/// Rule 8. The depth means something only where more than one I/O is kept in flight and the
/// ceiling is known.
fn filesystem_serialised(sight: &Sight) -> Option<(Limit, String)> {
    let depth = sight.steady_depth();
    if depth < 2 {
        return None;
    }
    let of = sight.majority_or_slowest(|lane| {
        lane.device_use.is_some_and(|share| share < 0.8)
            && lane.queue.is_some_and(|queue| queue < f64::from(depth) / 2.0)
    })?;
    let (low, high) = of
        .iter()
        .filter_map(|lane| lane.queue)
        .fold((f64::MAX, f64::MIN), |(low, high), queue| (low.min(queue), high.max(queue)));
    let range = if high - low < 0.1 { format!("{high:.1}") } else { format!("{low:.1} to {high:.1}") };
    let keeps = if of.len() == 1 || of.len() == sight.lanes.len() { "keeps" } else { "keep" };
    let reason =
        format!("{} {keeps} {range} of the {depth} requests asked for at the device{}", sight.who(&of), spare(&of));
    Some((Limit::FilesystemSerialised, reason))
}

/// ", while the device is used to 40 %", where that is known.
fn spare(of: &[&LaneUse]) -> String {
    let uses: Vec<f64> = of.iter().filter_map(|lane| lane.device_use).collect();
    if uses.is_empty() {
        String::new()
    } else {
        format!(", while the device is used to {}", words::percent_range(uses))
    }
}

/// Rule 9.
fn unattributed(sight: &Sight) -> (Limit, String) {
    let reason = if sight.lanes.is_empty() {
        "no lane has a figure".to_owned()
    } else if let Some(rate) = sight.rate {
        format!(
            "at {} of the slowest lane's maximum ({}): {} operations/s for every lane; the work is paced, so reaching that rate shows no limit",
            rate.share,
            rate.slowest,
            model::units::human_count(rate.operations_per_second)
        )
    } else if paced(sight.workload) {
        "the work is paced, so reaching its rate shows no limit".to_owned()
    } else if of_several_kinds(sight.workload) && sight.throttle.is_none() {
        "work of several kinds runs together, and the bare device has no ceiling for such a mixture".to_owned()
    } else if let Some(ceiling) =
        sight.own_ceiling().filter(|_| sight.lanes.iter().any(|lane| lane.device_use.is_some()))
    {
        format!(
            "no single cause stands out; the device is used to {} of {ceiling}",
            words::percent_range(sight.lanes.iter().filter_map(|lane| lane.device_use)),
        )
    } else {
        "no single cause stands out, and no ceiling of the bare device is known for this work".to_owned()
    };
    (Limit::Unattributed, reason)
}
