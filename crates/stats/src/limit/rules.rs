//! The rules in order, each with a sentence that names its figures.

use super::{BEYOND_THE_CEILING, Disturbed, Exact, LaneUse, Observed, Raw};
use crate::impossible::HARDLY_ANY_AT_THE_DEVICE;
use crate::statements::{self, limit as statement, name, names};
use model::findings::Limit;
use model::sentence::Value;
use model::{Sentence, Throttle};

/// Below it requests are told by their number, from it on by their bytes.
const SMALL_REQUEST_BYTES: u64 = 64 * 1024;

type Rule = fn(&Observed) -> Option<(Limit, Sentence)>;

/// Rules 2 and 3, which hold for any work; with rule 3 what else never came to the disk.
const RULES: [Rule; 4] = [harness, cache, beyond_the_disk, kept_in_memory];

/// Rules 4 to 8 in order, for work of one kind that runs as fast as it goes.
const CAUSES: [Rule; 7] =
    [device, unsteady_device, own_disk, write_amplification, flush, filesystem_cpu, filesystem_serialised];

/// Rules 4 and 5, for work of several kinds at once on a disk whose limits are known for each.
const LIMITS: [Rule; 3] = [device, own_disk, write_amplification];

/// Rules for a database and for mixed operations: a full CPU is not the filesystem's alone there.
const DATABASE: [Rule; 2] = [flush, full_cpus];

/// What the first rule that matches says.
pub(super) fn first(observed: &Observed) -> (Limit, Sentence) {
    if observed.workload.traits().is_foreign() {
        return (Limit::Unattributed, statement::measured_elsewhere());
    }
    let causes = match () {
        () if observed.workload.traits().shares_the_cpus() => &DATABASE[..],
        () if observed.workload.traits().is_paced() => &[][..],
        () if observed.workload.traits().mixes_operations() && observed.is_throttled() => &LIMITS[..],
        () if observed.workload.traits().mixes_operations() => &[][..],
        () => &CAUSES[..],
    };
    let (limit, reason) =
        RULES.iter().chain(causes).find_map(|rule| rule(observed)).unwrap_or_else(|| unattributed(observed));
    // Where the ceiling is known to be wrong, that is said with whatever holds without it.
    let wrong = observed.wrong_ceiling().filter(|_| !matches!(limit, Limit::Harness | Limit::Cache));
    match wrong.filter(|_| !observed.workload.traits().is_paced()) {
        Some(wrong) if limit == Limit::Unattributed => (limit, wrong),
        Some(wrong) => (limit, statements::pair::clauses(Value::Clauses(vec![reason.into(), wrong.into()]))),
        None => (limit, reason),
    }
}

impl Raw {
    /// The figures of the probes that lie there among all.
    fn at(&self, place: fn(&Exact) -> f64) -> Raw {
        let [operations, bandwidth, iops] = self.exact.map(|of| place(&of));
        Raw {
            operations_per_second: self.operations_per_second * operations,
            bandwidth: self.bandwidth * bandwidth,
            iops: self.iops * iops,
            ..*self
        }
    }
}

impl Observed<'_> {
    /// The ceiling as a person names it; `None`: none is known.
    fn ceiling(&self) -> Option<Sentence> {
        match (self.emulated(), &self.raw) {
            (Some(throttle), _) => Some(statement::emulated_disk(name(throttle.to_string()))),
            (None, Some(raw)) => Some(statement::bare_device(self.bare(raw))),
            (None, None) => None,
        }
    }

    /// The same where the device was just spoken of.
    fn own_ceiling(&self) -> Option<Sentence> {
        if self.disks_differ() && !self.workload.flush_bound() {
            return Some(statement::own_disks(self.disks()));
        }
        match (self.emulated(), &self.raw) {
            (Some(throttle), _) => Some(statement::throttle_itself(name(throttle.to_string()))),
            (None, Some(raw)) => Some(statement::its_bare_figure(self.bare(raw))),
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

    /// Whether lanes were held to different limits, or did different amounts at disks of one kind: of several whose ceiling is
    /// known the layout shows (what is striped, mirrored or parity), which is the lane's own.
    fn disks_differ(&self) -> bool {
        let mut pairs = (0..self.lanes.len()).flat_map(|b| (0..b).map(move |a| (&self.lanes[a], &self.lanes[b])));
        pairs.any(|(a, b)| !on_equal_disks(a, b))
    }

    /// Every lane with its own disk.
    fn disks(&self) -> Value {
        let each = self.lanes.iter().map(|lane| match (&lane.throttle, &self.raw) {
            (Some(throttle), _) if lane.disks > 1 => {
                statement::lane_on_disks(name(&lane.name), lane.disks, name(throttle.to_string()))
            }
            (Some(throttle), _) => statement::lane_and_figure(name(&lane.name), name(throttle.to_string())),
            (None, Some(raw)) if lane.disks > 1 => {
                statement::lane_on_disks(name(&lane.name), lane.disks, self.bare(raw))
            }
            (None, Some(raw)) => statement::lane_on_bare_device(name(&lane.name), self.bare(raw)),
            (None, None) => statement::lane_not_limited(name(&lane.name)),
        });
        Value::Row(each.map(Value::from).collect())
    }

    /// What the bare device does: IOPS for small blocks, bandwidth from 64 KiB on.
    fn bare(&self, raw: &Raw) -> Value {
        match self.workload.traits().request_bytes() {
            _ if self.workload.flush_bound() => {
                statement::flushes_per_second(Value::Rate(raw.operations_per_second)).into()
            }
            Some(..SMALL_REQUEST_BYTES) => Value::Iops(raw.iops),
            _ => Value::Bandwidth(raw.bandwidth),
        }
    }

    /// "every lane" or the lanes' names with the verb's ending in mind.
    fn who(&self, of: &[&LaneUse]) -> Value {
        if of.len() == self.lanes.len() && of.len() > 1 {
            return statement::every_lane().into();
        }
        names(of.iter().map(|lane| lane.name.as_str()))
    }

    /// The lanes that meet a rule, if they are more than half or hold the slowest.
    fn majority_or_slowest(&self, meets: impl Fn(&LaneUse) -> bool) -> Option<Vec<&LaneUse>> {
        let of: Vec<&LaneUse> = self.lanes.iter().filter(|lane| meets(lane)).collect();
        let slowest = self.lanes.iter().min_by(|a, b| a.rate.unwrap_or(0.0).total_cmp(&b.rate.unwrap_or(0.0)))?;
        (2 * of.len() > self.lanes.len() || of.iter().any(|lane| lane.name == slowest.name)).then_some(of)
    }

    /// Whether some lane got more out of its disk than the ceiling allows: then nobody knows how near any of them is.
    fn ceiling_is_wrong(&self) -> bool {
        self.lanes.iter().any(|lane| lane.impossible)
    }

    /// What to say where the ceiling is wrong; `None`: it is not.
    fn wrong_ceiling(&self) -> Option<Sentence> {
        let beyond: Vec<&LaneUse> = self.lanes.iter().filter(|lane| lane.impossible).collect();
        let raw = self.raw.as_ref().filter(|_| !beyond.is_empty())?;
        let ceiling = statement::bare_device(self.bare(raw));
        Some(statement::beyond_the_ceiling(uses(beyond.iter().copied()), ceiling, self.who(&beyond)))
    }

    fn all_at_the_ceiling(&self) -> bool {
        !self.workload.flush_bound()
            && !self.ceiling_is_wrong()
            && !self.lanes.is_empty()
            && self.lanes.iter().all(|lane| {
                // Beyond the median of probes that do not agree nothing is known exactly.
                let most = if lane.throttle.is_none() { BEYOND_THE_CEILING + 1e-9 } else { f64::INFINITY };
                lane.device_use.is_some_and(|share| share >= 0.95 && share <= most)
            })
    }

    /// Whether these lanes, which are held to nothing, ran at the rate of one disk as exactly as that is known: rule 4
    /// with most of the probes in place of their median, at one rate, and with their requests at the device.
    fn ran_at_one_disk(&self, lanes: &[&LaneUse]) -> bool {
        if self.raw.is_none() || self.workload.flush_bound() {
            return false;
        }
        let depth = f64::from(self.workload.traits().queue_depth());
        let within = |lane: &&LaneUse| {
            let exactly = lane.device_use.is_some_and(|share| (0.95..=BEYOND_THE_CEILING).contains(&share));
            let near = lane.device_use.is_some_and(|share| {
                share >= 0.95 * lane.exact.low && share <= BEYOND_THE_CEILING * lane.exact.best && depth >= 2.0
            });
            let waits = lane.queue.is_some_and(|queue| queue >= WAITING_AT_THE_DEVICE * depth);
            lane.throttle.is_none() && (exactly || (near && waits))
        };
        let (low, high) = extremes(lanes.iter().filter_map(|lane| lane.device_use));
        let on_equal = (0..lanes.len()).all(|b| lanes[..b].iter().all(|a| on_equal_disks(a, lanes[b])));
        on_equal && lanes.iter().all(within) && high <= ONE_RATE * low && self.write_alike(lanes.iter().copied())
    }

    /// Whether rules 4 to 8 are asked of this work.
    fn has_causes(&self) -> bool {
        let shared = self.workload.traits().shares_the_cpus();
        !shared && !self.workload.traits().is_paced() && !self.workload.traits().mixes_operations()
    }

    /// Whether these lanes write within 5 % of the same amount per byte of the application.
    fn write_alike<'b>(&self, lanes: impl IntoIterator<Item = &'b LaneUse>) -> bool {
        // Writes of a mixture slow its reads down too.
        if self.reads && !self.workload.traits().mixes_operations() {
            return true;
        }
        let all: Vec<f64> = lanes.into_iter().filter_map(|lane| lane.write_amplification).collect();
        let (low, high) = all.iter().fold((f64::MAX, f64::MIN), |(low, high), &at| (low.min(at), high.max(at)));
        all.is_empty() || high <= ALIKE * low
    }

    /// What each lane writes to its device per byte of the application.
    fn write_amplifications(&self) -> Value {
        let each = self.lanes.iter();
        figures(each.filter_map(|lane| Some((lane.name.as_str(), Value::Number(lane.write_amplification?, 2)))))
    }
}

/// Rule 2. Waiting for the next moment of paced work takes user time that is nobody's limit. One
/// late trial is a disturbance of the machine; more than half of a lane's are the engine.
fn harness(observed: &Observed) -> Option<(Limit, Sentence)> {
    if let Some(lane) = observed.lanes.iter().find(|lane| 2 * lane.lagging > lane.trials) {
        let reason = statement::engine_was_late(lane.lagging, lane.trials, name(&lane.name));
        return Some((Limit::Harness, reason));
    }
    if let Some(lane) = observed.lanes.iter().find(|lane| lane.done_again > super::DONE_AGAIN_SHARE) {
        return Some((
            Limit::Harness,
            statement::operations_done_again(name(&lane.name), Value::Share(lane.done_again)),
        ));
    }
    let near_null = |lane: &&LaneUse| Some(lane.rate? / observed.null_rate?).filter(|&share| share >= 0.8);
    if observed.workload.traits().null_is_alike()
        && let Some((lane, share)) = observed.lanes.iter().find_map(|lane| Some((lane, near_null(&lane)?)))
    {
        let null = Value::Rate(observed.null_rate.unwrap_or(0.0));
        let reason = statement::engine_near_its_own_limit(name(&lane.name), Value::Share(share), null);
        return Some((Limit::Harness, reason));
    }
    if observed.workload.traits().is_paced() {
        return None;
    }
    let workers = observed.workers;
    let share = |lane: &LaneUse| Some(lane.agent_user_share.filter(|_| !lane.in_process)? / f64::from(workers));
    let lane = observed.lanes.iter().find(|lane| share(lane).is_some_and(|share| share > 0.20))?;
    let (fills, of) = (Value::Share(share(lane)?), name(&lane.name));
    let reason = match workers {
        0 | 1 => statement::engine_fills_windows(fills, of),
        _ => statement::engine_fills_windows_of_workers(fills, workers, of),
    };
    Some((Limit::Harness, reason))
}

/// Rule 3.
fn cache(observed: &Observed) -> Option<(Limit, Sentence)> {
    if !observed.reads {
        return None;
    }
    let missed = |lane: &&LaneUse| lane.read_share.is_some_and(|share| share < HARDLY_ANY_AT_THE_DEVICE);
    let lane = observed.lanes.iter().find(missed)?;
    Some((Limit::Cache, statement::cache_answered(name(&lane.name), Value::Share(lane.read_share?))))
}

/// A figure that neither the disk nor the memory can have made says nothing of a filesystem on that disk.
fn beyond_the_disk(observed: &Observed) -> Option<(Limit, Sentence)> {
    observed.beyond.map(|said| (Limit::Cache, said.clone()))
}

/// What rule 3 is for reads, also where no ceiling is known. Paced work may leave its writes in memory: its
/// figure is when they were taken. A sync that is charged brings them to the device within the window.
fn kept_in_memory(observed: &Observed) -> Option<(Limit, Sentence)> {
    if observed.reads || !observed.workload.traits().only_writes() {
        return None;
    }
    let missed = |lane: &&LaneUse| lane.write_share.is_some_and(|share| share < HARDLY_ANY_AT_THE_DEVICE);
    let lane = observed.lanes.iter().find(missed)?;
    Some((Limit::Cache, statement::cache_took(name(&lane.name), Value::Share(lane.write_share?))))
}

/// Whether rule 4 holds as it stands, with a ceiling that is known exactly.
pub(super) fn is_exactly_at_the_device(observed: &Observed) -> bool {
    observed.all_at_the_ceiling() && !observed.disks_differ() && observed.write_alike(&observed.lanes)
}

/// Rule 4.
fn device(observed: &Observed) -> Option<(Limit, Sentence)> {
    if !is_exactly_at_the_device(observed) {
        return None;
    }
    let who: Value =
        if observed.lanes.len() == 1 { name(&observed.lanes[0].name) } else { statement::every_lane().into() };
    let reason = statement::at_the_ceiling(who, uses(&observed.lanes), observed.ceiling()?, by_cpu(&observed.lanes));
    Some((Limit::Device, reason))
}

/// Lanes whose shares of the ceiling lie so close together ran at one rate: the span of rule 4, from 95 % to what is
/// impossible (110 %).
const ONE_RATE: f64 = 1.1 / 0.95;
/// Of the requests asked for so many wait at the device where the device sets the pace; where fewer do, the filesystem
/// keeps it waiting (rule 8).
const WAITING_AT_THE_DEVICE: f64 = 0.5;

/// Rule 4 where the ceiling is not exact. A disk that somebody holds to a rate hands out its allowance in steps, and
/// short slices catch more or less of it, the probes' as well as the lanes': their medians may lie further apart than
/// rule 4 allows. Then the disk was measured where three things agree: every lane lies between the probes' lower
/// quartile and the best of them, with rule 4's tolerance; all ran at one rate; and the requests waited at the device.
/// A pair whose own rounds show a difference keeps it ([`super::Limited::keeps_differences`]).
fn unsteady_device(observed: &Observed) -> Option<(Limit, Sentence)> {
    let all: Vec<&LaneUse> = observed.lanes.iter().collect();
    let raw = observed.raw.as_ref().filter(|_| !all.is_empty() && observed.ran_at_one_disk(&all))?;
    let depth = observed.workload.traits().queue_depth();
    let (low, high) = extremes(all.iter().filter_map(|lane| lane.queue));
    let queue = if high - low >= 1.0 {
        statement::from_to(Value::Number(low, 0), Value::Number(high, 0)).into()
    } else {
        Value::Number(high, 0)
    };
    let probes = statement::from_to(observed.bare(&raw.at(|of| of.low)), observed.bare(&raw.at(|of| of.best)));
    let who: Value = if all.len() == 1 { name(&all[0].name) } else { statement::every_lane().into() };
    let ceiling = statement::bare_device(observed.bare(raw));
    let reason =
        statement::at_an_unsteady_ceiling(who, uses(all), ceiling, probes, queue, depth, by_cpu(&observed.lanes));
    Some((Limit::Device, reason))
}

/// Pairs of lanes that both ran at the rate of the one disk, where others did not: of them the disk was measured,
/// unless their own rounds show a difference.
pub(super) fn at_one_disk(observed: &Observed) -> Vec<[String; 2]> {
    if !observed.has_causes() {
        return Vec::new();
    }
    let mut pairs = Vec::new();
    for (place, a) in observed.lanes.iter().enumerate() {
        let others = observed.lanes[..place].iter().filter(|b| observed.ran_at_one_disk(&[a, b]));
        pairs.extend(others.map(|b| [a.name.clone(), b.name.clone()]));
    }
    pairs
}

fn extremes(figures: impl Iterator<Item = f64>) -> (f64, f64) {
    figures.fold((f64::MAX, f64::MIN), |(low, high), at| (low.min(at), high.max(at)))
}

/// The use of the device over the lanes.
fn uses<'a>(lanes: impl IntoIterator<Item = &'a LaneUse>) -> Value {
    Value::Shares(lanes.into_iter().filter_map(|lane| lane.device_use).collect())
}

/// A figure of each lane: `ext4 1.08k, xfs 1.18k`.
fn figures<'a>(each: impl IntoIterator<Item = (&'a str, Value)>) -> Value {
    Value::Row(each.into_iter().map(|(lane, figure)| statement::lane_and_figure(name(lane), figure).into()).collect())
}

/// Rule 4 where the lanes' disks differ: each lane's own was measured. Which lane stands on which is
/// known, so the verdict stands, of filesystem and disk together.
fn own_disk(observed: &Observed) -> Option<(Limit, Sentence)> {
    if !observed.all_at_the_ceiling() || !observed.disks_differ() {
        return None;
    }
    let on_several = observed.lanes.iter().any(|lane| lane.disks > 1);
    let what = match observed.write_alike(&observed.lanes) {
        _ if on_several => statement::difference_of_layouts(),
        true => statement::difference_of_disks(),
        false => statement::difference_of_disks_and_writes(observed.write_amplifications()),
    };
    let (share, disks) = (uses(&observed.lanes), observed.disks());
    let reason = match observed.lanes.iter().all(|lane| lane.throttle.is_some()) {
        true => statement::at_own_emulated_disk(share, disks, what),
        false => statement::at_own_disk(share, disks, what),
    };
    Some((Limit::OwnDisk, reason))
}

/// What two lanes did differs by less: the tolerance of rule 4 for bytes written.
const ALIKE: f64 = 1.05;

/// Whether two lanes' disks are held alike, and gave alike where one lane has several of them.
fn on_equal_disks(a: &LaneUse, b: &LaneUse) -> bool {
    let gave_alike = |of: fn(&LaneUse) -> Option<f64>| match (of(a), of(b)) {
        (Some(a), Some(b)) => a.max(b) <= ALIKE * a.min(b),
        _ => true,
    };
    let is_known = a.throttle.is_some() || (a.device_use.is_some() && b.device_use.is_some());
    let on_several = is_known && (a.disks > 1 || b.disks > 1);
    a.throttle == b.throttle && (!on_several || (gave_alike(|lane| lane.bandwidth) && gave_alike(|lane| lane.iops)))
}

/// The pairs of lanes whose disks are held to the same limits and that write alike to them.
pub(super) fn one_disk(observed: &Observed) -> Vec<[String; 2]> {
    let alike = |a: &LaneUse, b: &LaneUse| on_equal_disks(a, b) && observed.write_alike([a, b]);
    let mut pairs = Vec::new();
    for (place, a) in observed.lanes.iter().enumerate() {
        pairs.extend(observed.lanes[..place].iter().filter(|b| alike(a, b)).map(|b| [a.name.clone(), b.name.clone()]));
    }
    pairs
}

/// What remains to choose by where the device was measured: the lane that spends least first.
fn by_cpu(lanes: &[LaneUse]) -> Sentence {
    let mut each: Vec<(f64, &str)> = lanes
        .iter()
        .filter_map(|lane| Some((lane.cpu_per_operation.filter(|&cpu| cpu > 0.0)?, lane.name.as_str())))
        .collect();
    if each.len() < 2 {
        return Sentence::default();
    }
    each.sort_by(|a, b| a.0.total_cmp(&b.0));
    statement::by_cpu(figures(each.into_iter().map(|(cpu, lane)| (lane, Value::Seconds(cpu)))))
}

/// Rule 5.
fn write_amplification(observed: &Observed) -> Option<(Limit, Sentence)> {
    if !observed.all_at_the_ceiling() || observed.disks_differ() {
        return None;
    }
    let reason = statement::writes_differ(uses(&observed.lanes), observed.ceiling()?, observed.write_amplifications());
    Some((Limit::WriteAmplification, reason))
}

/// Rule 6. The device's own counter leaves out the write that each flush has to wait for, so work
/// that flushes after every write is flush-bound too where its flushes, at the bare device's time
/// for a write and a flush, fill more than half of the time.
fn flush(observed: &Observed) -> Option<(Limit, Sentence)> {
    let flush_bound = observed.workload.flush_bound();
    let known = flush_bound && !observed.ceiling_is_wrong();
    let cycles = |lane: &LaneUse| lane.device_use.filter(|_| known);
    let of = observed.majority_or_slowest(|lane| {
        lane.flush_share.is_some_and(|share| share > 0.50) || cycles(lane).is_some_and(|share| share > 0.50)
    })?;
    let rates = figures(of.iter().filter_map(|lane| Some((lane.name.as_str(), Value::Rate(lane.flushes?)))));
    let one = of.len() == 1 || of.len() == observed.lanes.len();
    let who = observed.who(&of);
    // Of a lane with limits of its own no bare device's flushes are known.
    let known = known && of.iter().all(|lane| lane.device_use.is_some());
    // Above the bare device's own rate a share says no more than "as fast": it was measured in other moments.
    let at_its_rate = |lane: &&LaneUse| lane.device_use.is_some_and(|share| share >= 0.8);
    let as_fast = of.iter().all(at_its_rate) && of.iter().any(|lane| lane.device_use > Some(1.0));
    let reason = match observed.raw.filter(|_| known) {
        Some(raw) if as_fast && one => statement::flushes_like_the_device(who, observed.bare(&raw), rates),
        Some(raw) if as_fast => statement::flush_like_the_device(who, observed.bare(&raw), rates),
        Some(raw) if one => statement::makes_flushes(who, uses(of), observed.bare(&raw), rates),
        Some(raw) => statement::make_flushes(who, uses(of), observed.bare(&raw), rates),
        None => {
            let share = Value::Shares(of.iter().filter_map(|lane| lane.flush_share).collect());
            match one {
                true => statement::spends_time_in_flushes(who, share, rates),
                false => statement::spend_time_in_flushes(who, share, rates),
            }
        }
    };
    Some((Limit::Flush, reason))
}

fn below_the_ceiling(lane: &LaneUse) -> bool {
    lane.device_use.is_none_or(|share| share < 0.8)
}

/// Rule 1, where a full CPU or an idle device would otherwise be laid at these lanes' door.
fn other_programs(of: &[&LaneUse]) -> Option<(Limit, Sentence)> {
    let disturbed: Vec<(&LaneUse, &Disturbed)> =
        of.iter().filter_map(|lane| Some((*lane, lane.disturbed.as_ref()?))).collect();
    let (_, first) = disturbed.first()?;
    let each = disturbed.iter().map(|(lane, at)| statement::trials_of_lane(at.trials, at.of, name(&lane.name)).into());
    let reason = statement::other_programs(Value::List(each.collect()), statements::text(&first.example));
    Some((Limit::OtherPrograms, reason))
}

/// Rule 7. Without a known ceiling it still applies: a full core is a cause of its own.
fn filesystem_cpu(observed: &Observed) -> Option<(Limit, Sentence)> {
    let thread = |lane: &LaneUse| lane.thread_share.filter(|&share| share >= 0.90);
    let system = |lane: &LaneUse| lane.cpu_share.filter(|&share| share >= 0.90);
    let of = observed
        .majority_or_slowest(|lane| below_the_ceiling(lane) && (thread(lane).is_some() || system(lane).is_some()))?;
    if let Some(others) = other_programs(&of) {
        return Some(others);
    }
    let each = of.iter().map(|lane| match (thread(lane), system(lane)) {
        (Some(share), _) => {
            let thread: Value = lane.thread.as_ref().map_or_else(|| statement::a_thread().into(), name);
            statement::thread_fills_core(name(&lane.name), thread, Value::Share(share)).into()
        }
        (None, share) => statement::lane_fills_cpus(name(&lane.name), Value::Share(share.unwrap_or(0.0))).into(),
    });
    let each = statements::pair::clauses(Value::Clauses(each.collect()));
    Some((Limit::FilesystemCpu, with_spare(each, &of)))
}

/// All CPUs are full, of a server's or the operations' own work as much as of the filesystem's.
fn full_cpus(observed: &Observed) -> Option<(Limit, Sentence)> {
    let full = |lane: &LaneUse| lane.cpu_share.filter(|&share| share >= 0.90);
    let of = observed.majority_or_slowest(|lane| full(lane).is_some())?;
    let each = of
        .iter()
        .filter_map(|lane| Some(statement::lane_fills_cpus(name(&lane.name), Value::Share(full(lane)?)).into()));
    Some((Limit::Cpu, statements::pair::clauses(Value::Clauses(each.collect()))))
}

/// Rule 8. The depth means something only where more than one I/O is kept in flight and the
/// ceiling is known.
fn filesystem_serialised(observed: &Observed) -> Option<(Limit, Sentence)> {
    let depth = observed.workload.traits().queue_depth();
    if depth < 2 {
        return None;
    }
    let of = observed.majority_or_slowest(|lane| {
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
    let (low, high) = ((high - low >= 0.1).then_some(Value::Number(low, 1)), Value::Number(high, 1));
    let range = match low {
        Some(low) => statement::from_to(low, high).into(),
        None => high,
    };
    let one = of.len() == 1 || of.len() == observed.lanes.len();
    let keeps = if one {
        statement::keeps_requests(observed.who(&of), range, depth)
    } else {
        statement::keep_requests(observed.who(&of), range, depth)
    };
    Some((Limit::FilesystemSerialised, with_spare(keeps, &of)))
}

/// With ", while the device is used to 40 %" behind it, where that is known.
fn with_spare(what: Sentence, of: &[&LaneUse]) -> Sentence {
    if of.iter().all(|lane| lane.device_use.is_none()) {
        return what;
    }
    statement::with_spare_device(what, uses(of.iter().copied()))
}

/// Rule 9.
fn unattributed(observed: &Observed) -> (Limit, Sentence) {
    let reason = if observed.lanes.is_empty() {
        statement::no_lane_has_a_figure()
    } else if let Some(rate) = observed.rate {
        statement::shared_rate(
            statements::exact(rate.share),
            name(&rate.slowest),
            Value::Rate(rate.operations_per_second),
        )
    } else if observed.workload.traits().is_paced() {
        statement::paced()
    } else if observed.workload.traits().mixes_operations() && !observed.is_throttled() {
        statement::several_kinds()
    } else if let Some(ceiling) =
        observed.own_ceiling().filter(|_| observed.lanes.iter().any(|lane| lane.device_use.is_some()))
    {
        statement::no_single_cause(uses(&observed.lanes), ceiling)
    } else {
        statement::no_ceiling_known()
    };
    (Limit::Unattributed, reason)
}
