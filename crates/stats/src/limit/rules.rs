//! The rules in order, each with a sentence that names its figures.

use super::{Disturbed, LaneUse, Raw, Sight, of_several_kinds, only_writes, paced, plain};
use crate::impossible::HARDLY_ANY_AT_THE_DEVICE;
use crate::words;
use model::Throttle;
use model::findings::Limit;
use model::workload::Kind;

type Rule = fn(&Sight) -> Option<(Limit, String)>;

/// Rules 2 and 3, which hold for any work; with rule 3 what else never came to the disk.
const RULES: [Rule; 4] = [harness, cache, beyond_the_disk, kept_in_memory];

/// Rules 4 to 8 in order, for work of one kind that runs as fast as it goes.
const CAUSES: [Rule; 6] = [device, own_disk, write_amplification, flush, filesystem_cpu, filesystem_serialised];

/// Rules 4 and 5, for work of several kinds at once on a disk whose limits are known for each.
const LIMITS: [Rule; 3] = [device, own_disk, write_amplification];

/// What the first rule that matches says.
pub(super) fn first(sight: &Sight) -> (Limit, String) {
    let causes = match () {
        () if paced(sight.workload) => &[][..],
        () if of_several_kinds(sight.workload) && sight.is_throttled() => &LIMITS[..],
        () if of_several_kinds(sight.workload) => &[][..],
        () => &CAUSES[..],
    };
    RULES.iter().chain(causes).find_map(|rule| rule(sight)).unwrap_or_else(|| unattributed(sight))
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
        if self.disks_differ() && !self.workload.flush_bound() {
            return Some(format!("each lane's own disk ({})", self.disks()));
        }
        match (self.emulated(), &self.raw) {
            (Some(throttle), _) => Some(format!("the throttle's {throttle}")),
            (None, Some(raw)) => Some(format!("its bare {}", self.bare(raw))),
            (None, None) => None,
        }
    }

    /// The throttle, where it is every lane's ceiling: what a flush costs it does not say.
    fn emulated(&self) -> Option<&Throttle> {
        let first = self.lanes.first().and_then(|lane| lane.throttle.as_ref());
        first.filter(|_| !self.disks_differ() && !self.workload.flush_bound())
    }

    /// Whether any lane's device was held.
    fn is_throttled(&self) -> bool {
        self.lanes.iter().any(|lane| lane.throttle.is_some())
    }

    /// Whether lanes were held to different limits.
    fn disks_differ(&self) -> bool {
        self.lanes.windows(2).any(|two| two[0].throttle != two[1].throttle)
    }

    /// Every lane with its own disk.
    fn disks(&self) -> String {
        let each = self.lanes.iter().map(|lane| match (&lane.throttle, &self.raw) {
            (Some(throttle), _) => format!("{} {throttle}", lane.name),
            (None, Some(raw)) => format!("{} the bare device's {}", lane.name, self.bare(raw)),
            (None, None) => format!("{} not limited", lane.name),
        });
        each.collect::<Vec<_>>().join(", ")
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

    /// Whether these lanes write within 5 % of the same amount per byte of the application.
    fn write_alike<'b>(&self, lanes: impl IntoIterator<Item = &'b LaneUse>) -> bool {
        // Writes of a mixture slow its reads down too.
        if self.reads && !of_several_kinds(self.workload) {
            return true;
        }
        let all: Vec<f64> = lanes.into_iter().filter_map(|lane| lane.write_amplification).collect();
        let (low, high) = all.iter().fold((f64::MAX, f64::MIN), |(low, high), &at| (low.min(at), high.max(at)));
        all.is_empty() || high <= 1.05 * low
    }

    /// What each lane writes to its device per byte of the application.
    fn write_amplifications(&self) -> String {
        let each = |lane: &LaneUse| Some(format!("{} {:.2}", lane.name, lane.write_amplification?));
        self.lanes.iter().filter_map(each).collect::<Vec<_>>().join(", ")
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
    let missed = |lane: &&LaneUse| lane.read_share.is_some_and(|share| share < HARDLY_ANY_AT_THE_DEVICE);
    let lane = sight.lanes.iter().find(missed)?;
    let share = words::percent(lane.read_share?);
    Some((
        Limit::Cache,
        format!("in {} only {share} of the bytes read came from the device: the page cache answered", lane.name),
    ))
}

/// A figure that neither the disk nor the memory can have made says nothing of a filesystem on that disk.
fn beyond_the_disk(sight: &Sight) -> Option<(Limit, String)> {
    sight.beyond.map(|said| (Limit::Cache, said.to_owned()))
}

/// What rule 3 is for reads, also where no ceiling is known. Paced work may leave its writes in memory: its
/// figure is when they were taken. A sync that is charged brings them to the device within the window.
fn kept_in_memory(sight: &Sight) -> Option<(Limit, String)> {
    if sight.reads || !only_writes(sight.workload) {
        return None;
    }
    let missed = |lane: &&LaneUse| lane.write_share.is_some_and(|share| share < HARDLY_ANY_AT_THE_DEVICE);
    let lane = sight.lanes.iter().find(missed)?;
    let share = words::percent(lane.write_share?);
    Some((
        Limit::Cache,
        format!(
            "in {} only {share} of the bytes written came to the device while it was measured, and no sync is part of \
             the figure: the page cache took them",
            lane.name
        ),
    ))
}

/// Rule 4.
fn device(sight: &Sight) -> Option<(Limit, String)> {
    if !sight.all_at_the_ceiling() || sight.disks_differ() || !sight.write_alike(&sight.lanes) {
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

/// Rule 4 where the lanes' disks differ: each lane's own was measured. Which lane stands on which is
/// known, so the verdict stands, of filesystem and disk together.
fn own_disk(sight: &Sight) -> Option<(Limit, String)> {
    if !sight.all_at_the_ceiling() || !sight.disks_differ() {
        return None;
    }
    let emulated = if sight.lanes.iter().all(|lane| lane.throttle.is_some()) { "emulated " } else { "" };
    let what = if sight.write_alike(&sight.lanes) {
        "the difference is the disks'".to_owned()
    } else {
        format!(
            "the difference is the disks', and of what the lanes write to them per byte of the application ({})",
            sight.write_amplifications()
        )
    };
    let reason = format!(
        "each lane runs at {} of its own {emulated}disk ({}): {what}",
        words::percent_range(sight.lanes.iter().filter_map(|lane| lane.device_use)),
        sight.disks()
    );
    Some((Limit::OwnDisk, reason))
}

/// The pairs of lanes whose disks are held to the same limits and that write alike to them.
pub(super) fn one_disk(sight: &Sight) -> Vec<[String; 2]> {
    let alike = |a: &LaneUse, b: &LaneUse| a.throttle == b.throttle && sight.write_alike([a, b]);
    let mut pairs = Vec::new();
    for (place, a) in sight.lanes.iter().enumerate() {
        pairs.extend(sight.lanes[..place].iter().filter(|b| alike(a, b)).map(|b| [a.name.clone(), b.name.clone()]));
    }
    pairs
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
    if !sight.all_at_the_ceiling() || sight.disks_differ() {
        return None;
    }
    let reason = format!(
        "every lane runs at {} of {}, but they write different amounts to it per byte of the application ({})",
        words::percent_range(sight.lanes.iter().filter_map(|lane| lane.device_use)),
        sight.ceiling()?,
        sight.write_amplifications()
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
    // Of a lane with limits of its own no bare device's flushes are known.
    let known = flush_bound && of.iter().all(|lane| lane.device_use.is_some());
    let reason = match sight.raw.filter(|_| known) {
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

/// Rule 1, where a full CPU or an idle device would otherwise be laid at these lanes' door.
fn other_programs(of: &[&LaneUse]) -> Option<(Limit, String)> {
    let disturbed: Vec<(&LaneUse, &Disturbed)> =
        of.iter().filter_map(|lane| Some((*lane, lane.disturbed.as_ref()?))).collect();
    let (_, first) = disturbed.first()?;
    let each: Vec<String> =
        disturbed.iter().map(|(lane, at)| format!("{} of {} trials of {}", at.trials, at.of, lane.name)).collect();
    let each = words::list(&each.iter().map(String::as_str).collect::<Vec<_>>());
    let reason =
        format!("other programs were at work in {each}, so it cannot be told what limited them ({})", first.example);
    Some((Limit::OtherPrograms, reason))
}

/// Rule 7. Without a known ceiling it still applies: a full core is a cause of its own.
fn filesystem_cpu(sight: &Sight) -> Option<(Limit, String)> {
    let thread = |lane: &LaneUse| lane.thread_share.filter(|&share| share >= 0.90);
    let system = |lane: &LaneUse| lane.cpu_share.filter(|&share| share >= 0.90);
    let of = sight
        .majority_or_slowest(|lane| below_the_ceiling(lane) && (thread(lane).is_some() || system(lane).is_some()))?;
    if let Some(others) = other_programs(&of) {
        return Some(others);
    }
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
    if let Some(others) = other_programs(&of) {
        return Some(others);
    }
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
    } else if of_several_kinds(sight.workload) && !sight.is_throttled() {
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
