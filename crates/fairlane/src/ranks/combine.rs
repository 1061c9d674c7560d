//! The answers of all ranks as one: what they did together, from the common start to when the last was done.

use super::check::named;
use super::link::Ahead;
use super::message::Moments;
use engine::{Latencies, Tally, Window, primary_metric};
use model::Flag;
use model::agent::{Reply, Room};
use model::ranks::RankFigures;
use model::seen::{CachedFiles, KeptFiles};
use model::trial::{Group, SystemUse};
use rustix::io::Errno;
use std::collections::{BTreeMap, BTreeSet};

/// What the agent of one rank answered.
#[derive(Debug, Clone)]
pub(super) struct RankReply {
    /// The rank.
    pub(super) rank: u32,
    /// Number of its machine.
    pub(super) node: u32,
    /// What it answered.
    pub(super) reply: Reply,
    /// When, of measured work.
    pub(super) moments: Option<Moments>,
}

/// A group of a trial so far.
pub(super) struct RankGroup {
    tally: Tally,
    /// Operations and seconds of each rank.
    of_ranks: Vec<(u64, f64)>,
    start_spread_seconds: f64,
    first_done_seconds: f64,
    last_done_seconds: f64,
    /// Operations, bytes and seconds at the deadline, of work that wears out.
    deadline: (u64, u64, f64),
    release: Release,
}

impl RankGroup {
    /// Its name.
    pub(super) fn name(&self) -> &str {
        self.tally.name()
    }

    /// It holds the trial's first window, into which machines were let go so.
    pub(super) fn release(&mut self, release: Release) {
        self.release = release;
    }
}

/// How far clocks of a machine go ahead of rank 0's, and when that was told, by rank 0's CLOCK_MONOTONIC in nanoseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ClockAhead {
    pub(super) told_ns: u64,
    pub(super) ahead: Ahead,
}

/// By no more than a thousandth of the time clocks drift apart (chosen: NTP turns a clock by at most 500 ppm, this one or that).
const DRIFT: i128 = 1000;

/// How far apart machines were let go into a window.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(super) struct Release {
    /// From the first machine to the last.
    pub(super) spread_seconds: f64,
    /// How far that may be wrong.
    pub(super) uncertainty_seconds: f64,
}

/// Bytes that ranks compared which others wrote.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Compared {
    /// The writer is on another machine.
    pub(super) other_node: u64,
    /// It is on the same one.
    pub(super) same_node: u64,
}

impl Compared {
    /// Adds what ranks have compared; `peers`: whose files each did, as its place among the replies.
    pub(super) fn add(&mut self, replies: &[RankReply], peers: &[u32]) {
        for (of, peer) in replies.iter().zip(peers) {
            let Reply::Checked { bytes } = of.reply else { continue };
            let is_same = replies.get(*peer as usize).is_none_or(|writer| writer.node == of.node);
            let sum = if is_same { &mut self.same_node } else { &mut self.other_node };
            *sum += bytes;
        }
    }
}

/// A window of one rank. Seconds count from the first release of its machine's ranks from the barrier.
struct RankWindow<'a> {
    opened: f64,
    /// When it ended, and before that without the sync that is charged to it.
    closed: f64,
    worked: f64,
    group: &'a Group,
}

/// The refusal that stands for all, with the rank's name; `None`: nobody refused. What is wrong goes before what is lacking,
/// that before what only ended because another rank did not go on, and all before what a filesystem cannot do.
pub(super) fn refusal(replies: &[RankReply], nodes: u32) -> Option<Reply> {
    let weight = |of: &&RankReply| match &of.reply {
        Reply::Failed { corrupt: true, .. } => 4,
        Reply::Failed { unsupported: false, errno, .. } if *errno != Some(Errno::CANCELED.raw_os_error()) => 3,
        Reply::Failed { unsupported: false, .. } => 2,
        Reply::Failed { .. } => 1,
        _ => 0,
    };
    let worst = replies.iter().rev().max_by_key(weight)?;
    match worst.reply.clone() {
        Reply::Failed { reason, errno, corrupt, unsupported, room } => {
            let reason = format!("{}: {reason}", named(worst.rank, worst.node, nodes));
            Some(Reply::Failed { reason, errno, corrupt, unsupported, room })
        }
        _ => None,
    }
}

/// A reply without figures: it took as long as its slowest rank.
pub(super) fn plain(replies: &[RankReply]) -> Reply {
    let seconds = replies.iter().filter_map(|of| match of.reply {
        Reply::Took { seconds } => Some(seconds),
        _ => None,
    });
    seconds.reduce(f64::max).map_or(Reply::Done, |seconds| Reply::Took { seconds })
}

/// When the first rank of each machine was let go, by that machine's clock.
fn first_released(replies: &[RankReply]) -> BTreeMap<u32, u64> {
    let mut released: BTreeMap<u32, u64> = BTreeMap::new();
    for of in replies {
        let at_ns = of.moments.map_or(0, |moments| moments.released_ns);
        released.entry(of.node).and_modify(|first| *first = at_ns.min(*first)).or_insert(at_ns);
    }
    released
}

/// How far apart machines were let go, by clocks that were compared just before; `None`: there is one, or of some nothing is known.
pub(super) fn release(replies: &[RankReply], clocks: &BTreeMap<u32, ClockAhead>) -> Option<Release> {
    // By rank 0's clock, each with what it may be wrong by.
    let (mut moments, mut doubts) = (Vec::new(), Vec::new());
    for (node, at_ns) in first_released(replies) {
        let at_ns = i128::from(at_ns);
        let (moment, doubt) = match clocks.get(&node) {
            Some(ClockAhead { told_ns, ahead }) => {
                let moment = at_ns - i128::from(ahead.monotonic_ns);
                let since = (moment - i128::from(*told_ns)).max(0);
                (moment, i128::from(ahead.uncertainty_ns) + since / DRIFT)
            }
            // Rank 0's own.
            None if node == 0 => (at_ns, 0),
            None => return None,
        };
        moments.push(moment);
        doubts.push(doubt);
    }
    // Only the first and the last one are told, which are two: each may be wrong by its own.
    doubts.sort_unstable();
    let [.., one, other] = doubts[..] else { return None };
    let (first, last) = (moments.iter().min()?, moments.iter().max()?);
    let seconds = |nanoseconds: i128| nanoseconds as f64 * 1e-9;
    Some(Release { spread_seconds: seconds(last - first), uncertainty_seconds: seconds(one + other) })
}

/// The windows of all ranks as one, which is added to what the trial has so far. `sent_ns`: when rank 0 asked.
pub(super) fn measured(replies: &[RankReply], so_far: &mut Vec<RankGroup>, sent_ns: u64) -> Reply {
    let released = first_released(replies);
    let mut opened = Vec::new();
    for of in replies {
        let (Reply::Measured { groups, system, opened_after_seconds }, Some(moments)) = (&of.reply, of.moments) else {
            return no_figures(of);
        };
        opened.push((since(moments.asked_ns, released[&of.node]) + opened_after_seconds, groups, (of.node, system)));
    }
    let Some((_, names, _)) = opened.first() else { return Reply::Done };
    let systems: Vec<(u32, &SystemUse)> = opened.iter().map(|(.., system)| *system).collect();
    let system = system_of_all(&systems);
    let mut together = Vec::new();
    for name in names.iter().map(|group| group.name.as_str()) {
        let mut windows = Vec::new();
        for (at, groups, _) in &opened {
            let Some(group) = groups.iter().find(|group| group.name == name) else {
                return refused(format!("not all ranks measured {name}; this is a fault of Fairlane, report it"));
            };
            let closed = at + group.seconds;
            windows.push(RankWindow { opened: *at, closed, worked: closed - group.sync_seconds, group });
        }
        let (window, own) = (of_all(name, &windows), windows[0].group.system.as_ref().map(|_| system.clone()));
        together.push(Group { system: own, ..window.group() });
        add(so_far, window, &windows);
    }
    let start = opened.iter().map(|(at, ..)| *at).fold(f64::INFINITY, f64::min);
    let here = replies.first().map_or(0, |of| of.node);
    Reply::Measured { groups: together, system, opened_after_seconds: since(released[&here], sent_ns) + start }
}

/// The most operations that a rank did in its window: as many as all come to where work wears out. `None`: they measured nothing.
pub(super) fn most_operations(replies: &[RankReply]) -> Option<u64> {
    let of_rank = |of: &RankReply| -> u64 {
        match &of.reply {
            Reply::Measured { groups, .. } => groups.iter().map(|group| group.operations).sum(),
            _ => 0,
        }
    };
    replies.iter().map(of_rank).max().filter(|most| *most > 0)
}

/// As [`measured`], of windows behind whose end each rank went on until it had done as much as the one that had done most:
/// `rest`. The figures are those of both together, what lies between them included; those at the deadline stand beside them.
pub(super) fn worn_out(first: &[RankReply], rest: &[RankReply], so_far: &mut Vec<RankGroup>, sent_ns: u64) -> Reply {
    let at_deadline = measured(first, &mut Vec::new(), sent_ns);
    let mut both = Vec::new();
    for (of, rest) in first.iter().zip(rest) {
        let Some(reply) = joined(of, rest) else { return no_figures(rest) };
        both.push(RankReply { reply, ..of.clone() });
    }
    let reply = measured(&both, so_far, sent_ns);
    if let Reply::Measured { groups, .. } = at_deadline {
        for group in &groups {
            if let Some(of) = so_far.iter_mut().find(|of| of.name() == group.name) {
                of.deadline = (group.operations, group.bytes, group.seconds);
            }
        }
    }
    reply
}

/// The window of a rank and what it did behind it, as one; `None`: one of them holds no figures.
fn joined(first: &RankReply, rest: &RankReply) -> Option<Reply> {
    let (begun, went_on) = (first.moments?.asked_ns, rest.moments?.asked_ns);
    let Reply::Measured { groups, system, opened_after_seconds } = &first.reply else { return None };
    let Reply::Measured { groups: more, system: used, opened_after_seconds: later } = &rest.reply else { return None };
    let join = |group: &Group| {
        let more = more.iter().find(|of| of.name == group.name)?;
        let closed = since(went_on, begun) + later + more.seconds;
        // Who has done as much already is done at the deadline.
        let seconds = if more.operations > 0 { closed - opened_after_seconds } else { group.seconds };
        let (operations, bytes) = (group.operations + more.operations, group.bytes + more.bytes);
        Some(Group { operations, bytes, seconds, ..group.clone() })
    };
    let groups = groups.iter().map(join).collect::<Option<Vec<Group>>>()?;
    let mut system = system.clone();
    system.add(used);
    Some(Reply::Measured { groups, system, opened_after_seconds: *opened_after_seconds })
}

/// Seconds between two moments of one clock.
fn since(later_ns: u64, earlier_ns: u64) -> f64 {
    later_ns.saturating_sub(earlier_ns) as f64 * 1e-9
}

/// One window of all ranks: from the first that opens to the last that is done.
fn of_all(name: &str, windows: &[RankWindow]) -> Window {
    let last = |at: &dyn Fn(&RankWindow) -> f64| windows.iter().map(at).fold(f64::NEG_INFINITY, f64::max);
    let start = -last(&|of| -of.opened);
    let (closed, worked) = (last(&|of| of.closed), last(&|of| of.worked));
    let first = windows[0].group;
    let parts = windows.iter().map(|of| of.group.windows_operations_per_second.len()).min().unwrap_or(0);
    let rate = |at: usize| windows.iter().map(|of| of.group.windows_operations_per_second[at]).sum();
    Window {
        group: name.to_owned(),
        primary_metric: primary_metric(&first.primary_metric),
        operations: windows.iter().map(|of| of.group.operations).sum(),
        bytes: windows.iter().map(|of| of.group.bytes).sum(),
        seconds: closed - start,
        sync_seconds: closed - worked,
        windows_operations_per_second: (0..parts).map(rate).collect(),
        windows_seconds: if parts > 0 { first.windows_seconds } else { 0.0 },
        ..Window::default()
    }
}

fn add(so_far: &mut Vec<RankGroup>, window: Window, windows: &[RankWindow]) {
    let first_opened = windows.iter().map(|of| of.opened).fold(f64::INFINITY, f64::min);
    let last_opened = windows.iter().map(|of| of.opened).fold(f64::NEG_INFINITY, f64::max);
    let first_closed = windows.iter().map(|of| of.closed).fold(f64::INFINITY, f64::min);
    let last_done_seconds = window.seconds;
    let group = match so_far.iter().position(|group| group.name() == window.group) {
        Some(at) => {
            so_far[at].tally.add(&window);
            &mut so_far[at]
        }
        None => {
            so_far.push(RankGroup {
                tally: Tally::new(window),
                of_ranks: vec![(0, 0.0); windows.len()],
                start_spread_seconds: 0.0,
                first_done_seconds: 0.0,
                last_done_seconds: 0.0,
                deadline: (0, 0, 0.0),
                release: Release::default(),
            });
            let last = so_far.len() - 1;
            &mut so_far[last]
        }
    };
    group.start_spread_seconds += last_opened - first_opened;
    group.first_done_seconds += first_closed - first_opened;
    group.last_done_seconds += last_done_seconds;
    for ((operations, seconds), of) in group.of_ranks.iter_mut().zip(windows) {
        *operations += of.group.operations;
        *seconds += of.group.seconds;
    }
}

/// The trials of all ranks as one.
pub(super) fn finished(replies: &[RankReply], so_far: Vec<RankGroup>, compared: Compared) -> Reply {
    let mut of_ranks: Vec<&[Group]> = Vec::new();
    let mut systems: Vec<(u32, &SystemUse)> = Vec::new();
    let mut flags: Vec<Flag> = Vec::new();
    for of in replies {
        let Reply::Finished { groups, system, notes, .. } = &of.reply else { return no_figures(of) };
        of_ranks.push(groups);
        systems.push((of.node, system));
        for note in notes {
            if !flags.contains(note) {
                flags.push(note.clone());
            }
        }
    }
    let node = |rank: usize| replies.get(rank).map_or(0, |of| of.node);
    let groups = so_far.into_iter().map(|mut so_far| {
        let own: Vec<(u32, &Group)> = (of_ranks.iter().enumerate())
            .filter_map(|(rank, groups)| Some((node(rank), groups.iter().find(|group| group.name == so_far.name())?)))
            .collect();
        let mut latencies = Latencies::new();
        for of_rank in own.iter().filter_map(|(_, group)| Latencies::decode(group.histogram.as_deref()?)) {
            latencies.add(&of_rank);
        }
        let primary = own.first().map_or("", |(_, group)| group.primary_metric.as_str());
        so_far.tally.complete(&latencies, primary_metric(primary));
        let of_system: Vec<(u32, &SystemUse)> =
            own.iter().filter_map(|(node, group)| Some((*node, group.system.as_ref()?))).collect();
        Group {
            system: (!of_system.is_empty()).then(|| system_of_all(&of_system)),
            cached_files: own.iter().filter_map(|(_, group)| group.cached_files).reduce(cached_together),
            kept_files: own.iter().filter_map(|(_, group)| group.kept_files).reduce(kept_together),
            ranks: Some(Box::new(figures(&so_far, compared, replies))),
            ..so_far.tally.group()
        }
    });
    Reply::Finished { groups: groups.collect(), system: system_of_all(&systems), notes: flags, jobs: Vec::new() }
}

/// What the ranks did each by itself; `replies`: theirs, in the same order.
fn figures(so_far: &RankGroup, compared: Compared, replies: &[RankReply]) -> RankFigures {
    let nodes: BTreeSet<u32> = replies.iter().map(|of| of.node).collect();
    let at = |place: usize| replies.get(place).map_or((0, 0), |of| (of.rank, of.node));
    let rate = |(operations, seconds): &(u64, f64)| if *seconds > 0.0 { *operations as f64 / seconds } else { 0.0 };
    let rates: Vec<f64> = so_far.of_ranks.iter().map(rate).collect();
    let ranks = rates.len().max(1) as f64;
    let mean = rates.iter().sum::<f64>() / ranks;
    let deviation = (rates.iter().map(|rate| (rate - mean).powi(2)).sum::<f64>() / ranks).sqrt();
    let numbered = || rates.iter().copied().enumerate();
    let (slowest, lowest) = numbered().min_by(|a, b| a.1.total_cmp(&b.1)).unwrap_or_default();
    let (fastest, highest) = numbered().max_by(|a, b| a.1.total_cmp(&b.1)).unwrap_or_default();
    let ((slowest_rank, slowest_node), (fastest_rank, fastest_node)) = (at(slowest), at(fastest));
    RankFigures {
        ranks: rates.len() as u32,
        nodes: nodes.len() as u32,
        lowest_operations_per_second: lowest,
        mean_operations_per_second: mean,
        highest_operations_per_second: highest,
        spread: if mean > 0.0 { deviation / mean } else { 0.0 },
        slowest_rank,
        slowest_node,
        fastest_rank,
        fastest_node,
        start_spread_seconds: so_far.start_spread_seconds,
        release_spread_seconds: so_far.release.spread_seconds,
        release_uncertainty_seconds: so_far.release.uncertainty_seconds,
        first_done_seconds: so_far.first_done_seconds,
        last_done_seconds: so_far.last_done_seconds,
        deadline_operations: so_far.deadline.0,
        deadline_bytes: so_far.deadline.1,
        deadline_seconds: so_far.deadline.2,
        compared_by_other_node_bytes: compared.other_node,
        compared_by_same_node_bytes: compared.same_node,
    }
}

/// What all machines did: one rank speaks for its machine, and all for their agents.
fn system_of_all(ranks: &[(u32, &SystemUse)]) -> SystemUse {
    let mut machines: BTreeMap<u32, SystemUse> = BTreeMap::new();
    for (node, own) in ranks {
        let Some(machine) = machines.get_mut(node) else {
            machines.insert(*node, (*own).clone());
            continue;
        };
        machine.agent_cpu_user_seconds += own.agent_cpu_user_seconds;
        machine.agent_cpu_system_seconds += own.agent_cpu_system_seconds;
        machine.server_cpu_user_seconds += own.server_cpu_user_seconds;
        machine.server_cpu_system_seconds += own.server_cpu_system_seconds;
        machine.whole_application_write_bytes += own.whole_application_write_bytes;
        machine.whole_device_write_bytes = machine.whole_device_write_bytes.max(own.whole_device_write_bytes);
        // The agents of a machine take each other for other programs.
        (machine.foreign_cpu_seconds, machine.looked_seconds) = (None, 0.0);
        if own.busiest_thread_share > machine.busiest_thread_share {
            (machine.busiest_thread_share, machine.busiest_thread) =
                (own.busiest_thread_share, own.busiest_thread.clone());
        }
    }
    let count = machines.len() as f64;
    let mut machines = machines.into_values();
    let Some(mut all) = machines.next() else { return SystemUse::default() };
    for machine in machines {
        let (windows, window_seconds) = (all.windows, all.window_seconds.max(machine.window_seconds));
        let (cpus, looked_seconds) = (all.cpus + machine.cpus, all.looked_seconds.max(machine.looked_seconds));
        all.add(&machine);
        // Machines work beside each other, and windows of one follow each other.
        (all.windows, all.window_seconds, all.cpus, all.looked_seconds) =
            (windows, window_seconds, cpus, looked_seconds);
    }
    // A share of the time, as of one machine.
    all.pressure_io_some_seconds /= count;
    all
}

fn cached_together(all: CachedFiles, own: CachedFiles) -> CachedFiles {
    CachedFiles {
        file_bytes: all.file_bytes + own.file_bytes,
        looked_bytes: all.looked_bytes + own.looked_bytes,
        before_bytes: all.before_bytes + own.before_bytes,
        after_bytes: all.after_bytes + own.after_bytes,
        watched_writes: all.watched_writes + own.watched_writes,
        cached_writes: all.cached_writes + own.cached_writes,
    }
}

fn kept_together(all: KeptFiles, own: KeptFiles) -> KeptFiles {
    KeptFiles {
        files: all.files + own.files,
        inline_files: all.inline_files + own.inline_files,
        compressed_files: all.compressed_files + own.compressed_files,
        tail_files: all.tail_files + own.tail_files,
    }
}

fn no_figures(of: &RankReply) -> Reply {
    refused(format!("rank {} answered without figures; this is a fault of Fairlane, report it", of.rank))
}

fn refused(reason: String) -> Reply {
    Reply::Failed { reason, errno: None, corrupt: false, unsupported: false, room: Room::Enough }
}

#[cfg(test)]
mod tests;
