//! What the system does in the course of a trial run: one point for each measured window, and points in between
//! where a window lasts.
//!
//! While a lane works, the conductor only waits for the agent's answer. It looks at the system itself
//! meanwhile, from outside of the agent, so that nothing is added to what makes the load; short windows are
//! not looked at. A guest's own system is looked at by the guest's worker, when it is asked.

use super::agent_process::{CallError, unexpected};
use super::race_clock::RaceClock;
use super::round::Runner;
use super::trial_run::TrialRun;
use lanes::guest::Guest;
use lanes::guest::protocol::{Answer, Ask};
use model::agent::{Devices, FilesystemProcesses, Reply, Request};
use model::page::Quantity;
use model::timeline::{Look, TrialTimeline};
use model::trial::{Group, JobUse, SystemUse};
use model::workload::Jobs;
use sampler::{Sampler, Writeback};
use stats::timeline::{Figures, Point, Thinner, average_iowait, figures, operations_in, place_of, trial_timeline};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

/// From one look to the next.
const INTERVAL: Duration = Duration::from_millis(250);
/// The same of appenders.
const APPENDERS_INTERVAL: Duration = Duration::from_millis(100);
/// Windows that are shorter are one point.
const LONG_SECONDS: f64 = 1.0;
/// By how much a look may lie outside of a window and still be of it: what a request takes to arrive.
const SLACK_SECONDS: f64 = 0.02;
/// Looks that are kept of one window. Then each other one goes, and from there on half as many are taken.
const MOST_LOOKS: usize = 8192;
/// The same of appenders, whose every look counts for the bytes that were written: two hours of them, more
/// than its longest window and warm-up.
const MOST_LOOKS_OF_APPENDERS: usize = 80_000;
/// No device at all.
pub(super) static NOTHING: Devices = Devices {
    device: None,
    further: Vec::new(),
    backing: None,
    neighbours: Vec::new(),
    filesystem: FilesystemProcesses::None,
};
/// Distance of the figures of a job file's series, in seconds, as the engine takes them.
const SERIES_SECONDS: f64 = 0.5;

/// Which system a lane works in, and the lane's devices there.
pub enum SystemSource<'a> {
    /// This machine's.
    Here(&'a Devices),
    /// A guest's own, which looks for us.
    Guest {
        /// The guest.
        guest: Arc<Guest>,
        /// The lane, by which the guest knows who watches.
        lane: u32,
        /// The devices in the guest.
        devices: &'a Devices,
        /// Ctrl-C.
        stop: Arc<AtomicBool>,
    },
}

/// Who looks.
enum Monitor {
    Here(Box<Sampler>, Option<Writeback>),
    /// The guest, since then.
    Guest(Instant),
}

/// From when, what was done, until when, and what else shows of appenders.
type Lap = (Option<Instant>, SystemUse, Option<Instant>, Option<Look>);

/// Looks at the system while an answer is waited for.
pub struct Watch<'a> {
    source: SystemSource<'a>,
    clock: &'a dyn RaceClock,
    sent: Instant,
    interval: Duration,
    due: Instant,
    monitor: Option<Monitor>,
    /// Of appenders more is looked at.
    appenders: bool,
    looks: Vec<Point>,
}

/// What was seen while an answer was waited for.
pub struct Samples {
    /// Each from and until when, in seconds since the request was sent.
    looks: Vec<Point>,
    sent: Instant,
}

impl<'a> Watch<'a> {
    /// Begins right before a request is sent. What will last is looked at from the first moment on; of
    /// what may be over soon only what comes after the first interval.
    pub fn begin(source: SystemSource<'a>, clock: &'a dyn RaceClock, request: &Request, appenders: bool) -> Self {
        let lasts = match request {
            Request::Slice { seconds, .. } => *seconds >= LONG_SECONDS,
            Request::Run { .. } => true,
            _ => false,
        };
        let monitor = lasts.then(|| source.open(appenders)).flatten();
        let interval = if appenders { APPENDERS_INTERVAL } else { INTERVAL };
        let sent = clock.now();
        Watch { source, clock, sent, interval, due: sent + interval, monitor, appenders, looks: Vec::new() }
    }

    /// Looks, where it is time to.
    pub fn tick(&mut self) {
        let now = self.clock.now();
        if now < self.due {
            return;
        }
        self.due = now + self.interval;
        let Some(monitor) = &mut self.monitor else {
            self.monitor = self.source.open(self.appenders);
            return;
        };
        let Some((opened, used, closed, beside)) = self.source.lap(monitor) else { return };
        let since = |moment: Option<Instant>| {
            moment.map_or(0.0, |moment| moment.saturating_duration_since(self.sent).as_secs_f64())
        };
        let mut figures = figures(&used, 0.0);
        if let Some(look) = beside {
            tell(&mut figures, look, used.cpus);
        }
        self.looks.push(Point { at: [since(opened), since(closed)], figures });
        let most = if self.appenders { MOST_LOOKS_OF_APPENDERS } else { MOST_LOOKS };
        if self.looks.len() >= most {
            let mut thinner = Thinner::new(self.looks.len(), most / 2);
            self.looks.drain(..).for_each(|look| thinner.push(look));
            self.looks = thinner.finish();
            self.interval *= 2;
        }
    }

    /// What was seen.
    pub fn end(self) -> Samples {
        Samples { looks: self.looks, sent: self.sent }
    }
}

impl Runner<'_> {
    /// Asks for measured work. Its figures come at the end of the trial run; what the system does meanwhile is
    /// kept in the trial run's course, but for what is only checked.
    pub(super) fn measured(&mut self, trial_run: &mut TrialRun, request: &Request) -> Result<Vec<Group>, CallError> {
        let devices = trial_run.devices.clone();
        let source = self.lanes.system_of(trial_run.lane, &devices);
        let before = self.lanes.beside_guest(trial_run.lane);
        let mut watch = Watch::begin(source, self.clock, request, trial_run.appenders);
        let profiles = self.profiles(trial_run);
        if let Some(profiling) = self.profiling.as_mut().filter(|_| profiles) {
            profiling.begin();
        }
        let answer = self.call_watched(trial_run.lane, request, &mut || watch.tick());
        let worker = (self.lanes.agent_pid(trial_run.lane), &devices);
        if let Some(profiling) = self.profiling.as_mut().filter(|_| profiles) {
            match &answer {
                Ok(Reply::Measured { groups, system, opened_after_seconds }) => {
                    profiling.end(trial_run.lane, worker, *opened_after_seconds, (groups, system));
                }
                _ => profiling.give_up(),
            }
        }
        let reply = answer?;
        let seen = watch.end();
        let after = self.lanes.beside_guest(trial_run.lane);
        if let (Some(before), Some(after), false) = (before, after, trial_run.checking) {
            before.add_since(&after, self.beside.entry(trial_run.lane).or_default());
        }
        let Reply::Measured { groups, system, opened_after_seconds } = reply else {
            return Err(unexpected(request, &reply));
        };
        if let (false, Some(timeline)) = (trial_run.checking, &mut trial_run.timeline) {
            let whole = matches!(request, Request::Run { .. });
            timeline.add(seen, opened_after_seconds, &groups, &system, whole);
        }
        Ok(groups)
    }
}

/// Puts what was seen of appenders among a point's figures.
fn tell(figures: &mut Figures, look: Look, cpus: u32) {
    let share = |cores: f64| if cpus > 0 { (cores / f64::from(cpus)).min(1.0) } else { 0.0 };
    for (quantity, figure) in [
        (Quantity::BuffersBytes, look.buffers_bytes as f64),
        (Quantity::CachedBytes, look.cached_bytes as f64),
        (Quantity::DirtyBytes, look.dirty_bytes as f64),
        (Quantity::WritebackBytes, look.writeback_bytes as f64),
        (Quantity::LoadAverage, look.load_average),
        (Quantity::BlockedTasks, f64::from(look.blocked_tasks)),
        (Quantity::KworkerShare, share(look.kworker_cores)),
    ] {
        figures[place_of(quantity)] = figure;
    }
}

impl SystemSource<'_> {
    /// Begins to look. A guest that cannot has other things to tell, or is gone.
    fn open(&self, appenders: bool) -> Option<Monitor> {
        match self {
            SystemSource::Here(devices) => {
                let mut sampler = Sampler::new(devices);
                sampler.begin(false);
                Some(Monitor::Here(Box::new(sampler), appenders.then(Writeback::open)))
            }
            SystemSource::Guest { guest, lane, devices, stop } => {
                let ask = Ask::Watch { lane: *lane, devices: (*devices).clone(), appenders };
                guest.ask(&ask, stop).ok().map(|_| Monitor::Guest(Instant::now()))
            }
        }
    }

    /// What was done since the lap before.
    fn lap(&self, monitor: &mut Monitor) -> Option<Lap> {
        match (self, monitor) {
            (_, Monitor::Here(sampler, story)) => {
                let opened = sampler.opened_at();
                let used = sampler.lap();
                Some((opened, used, sampler.opened_at(), story.as_mut().map(Writeback::look)))
            }
            (SystemSource::Guest { guest, lane, stop, .. }, Monitor::Guest(opened)) => {
                match guest.ask(&Ask::Look { lane: *lane }, stop) {
                    Ok(Answer::Looked { system, beside }) => {
                        let now = Instant::now();
                        Some((Some(std::mem::replace(opened, now)), *system, Some(now), beside))
                    }
                    _ => None,
                }
            }
            (SystemSource::Here(_), Monitor::Guest(_)) => None,
        }
    }
}

/// The course of a trial run so far.
#[derive(Debug, Clone, Default)]
pub struct Gathered {
    /// When the first window opened.
    begun: Option<Instant>,
    measured_seconds: f64,
    points: Vec<Point>,
    /// Where each point begins, in measured seconds.
    from_seconds: Vec<f64>,
    windows: usize,
    /// Windows of which nobody knows how many operations were done when.
    unknown_inside: usize,
    knows_device: bool,
    knows_pressure: bool,
    /// What is watched of appenders alone was.
    appenders: bool,
}

impl Gathered {
    /// Nothing yet, of a lane that has these devices. Of a guest's kernel it is not known whether it tells of
    /// pressure: zeros throughout are left out where they are shown. `appenders`: of appenders more is watched.
    pub fn new(devices: &Devices, appenders: bool, in_guest: bool) -> Self {
        let knows_pressure = in_guest || sampler::knows_pressure();
        Gathered { knows_device: devices.device.is_some(), knows_pressure, appenders, ..Gathered::default() }
    }

    /// Nothing yet, of appenders without a filesystem.
    pub fn of_no_device() -> Self {
        Gathered { appenders: true, ..Gathered::default() }
    }

    /// Adds a window: what was seen inside of it where it lasted, otherwise its sums. `whole`: jobs ran one
    /// after another in it.
    pub fn add(&mut self, seen: Samples, opened_after_seconds: f64, groups: &[Group], system: &SystemUse, whole: bool) {
        let seconds = system.window_seconds;
        let Ok(opened_after) = Duration::try_from_secs_f64(opened_after_seconds) else { return };
        if seconds.is_nan() || seconds <= 0.0 {
            return;
        }
        let opened = seen.sent + opened_after;
        let begun = *self.begun.get_or_insert(opened);
        let before = opened.saturating_duration_since(begun).as_secs_f64();
        let rate = operations_in(groups, whole.then_some(seconds));
        let inside = |look: &&Point| {
            look.at[0] >= opened_after_seconds - SLACK_SECONDS
                && look.at[1] <= opened_after_seconds + seconds + SLACK_SECONDS
        };
        let looks: Vec<&Point> = seen.looks.iter().filter(inside).collect();
        self.windows += 1;
        if seconds < LONG_SECONDS || looks.len() < 2 {
            self.push(before, [0.0, seconds], figures(system, rate));
        } else {
            self.unknown_inside += 1;
            for look in looks {
                let within = look.at.map(|at| (at - opened_after_seconds).clamp(0.0, seconds));
                let mut figures = look.figures;
                figures[OPERATIONS] = rate;
                self.push(before, within, figures);
            }
        }
        self.measured_seconds += seconds;
    }

    fn push(&mut self, before: f64, [from, until]: [f64; 2], figures: stats::timeline::Figures) {
        self.points.push(Point { at: [before + until, self.measured_seconds + until], figures });
        self.from_seconds.push(self.measured_seconds + from);
    }

    /// Fills in what the engine counted in each half second of a job file that ran whole. Groups of jobs
    /// between stonewalls follow each other; a job that waits for another begins nobody knows when.
    pub fn fill_from_series(&mut self, jobs: &Jobs, uses: &[JobUse], groups: &[Group]) {
        if self.windows != 1 || jobs.jobs.iter().any(|job| job.wait_for.is_some()) {
            return;
        }
        let mut starts: Vec<(&str, f64)> = Vec::new();
        let (mut base, mut longest) = (0.0, 0.0_f64);
        for (index, job) in jobs.jobs.iter().enumerate() {
            if job.stonewall && index > 0 {
                base += std::mem::take(&mut longest);
            }
            let delay = job.io.startdelay_seconds + job.io.ramp_time_seconds;
            let used = uses.iter().find(|of| of.name == job.name).map_or(0.0, |of| of.seconds);
            longest = longest.max(delay + used);
            starts.push((&job.name, base + delay));
        }
        let start = |group: &Group| starts.iter().find(|(name, _)| *name == group.job).map(|(_, start)| *start);
        let series: Vec<(&Group, f64)> =
            stats::timeline::at_work(groups).filter_map(|group| Some((group, start(group)?))).collect();
        if series.is_empty() {
            return;
        }
        for (point, &from) in self.points.iter_mut().zip(&self.from_seconds) {
            let until = point.at[1];
            point.figures[OPERATIONS] =
                series.iter().map(|(group, start)| rate_between(group, from - start, until - start)).sum();
        }
        self.unknown_inside = 0;
    }

    /// The course that the trial keeps; `None`: nothing was measured. A rate that is only known as the mean
    /// of the whole would look steady, and is left out.
    pub fn into_course(mut self) -> Option<Box<TrialTimeline>> {
        if self.appenders {
            average_iowait(&mut self.points, 1);
        }
        let rate_is_flat = self.windows == 1 && self.unknown_inside == 1;
        trial_timeline(&self.points, |quantity| match quantity {
            Quantity::OperationsPerSecond => !rate_is_flat,
            Quantity::PressureIoShare => self.knows_pressure,
            other if other.is_of_appenders() && !self.appenders => false,
            other => self.knows_device || !other.is_of_the_device(),
        })
    }
}

/// Where operations per second stand among the figures of a point.
const OPERATIONS: usize = 0;
const _: () = assert!(matches!(Quantity::ALL[OPERATIONS], Quantity::OperationsPerSecond));

/// Operations per second of a group between two moments since its start: from its series of half seconds,
/// and from what is left of its operations after the last whole one.
fn rate_between(group: &Group, from: f64, until: f64) -> f64 {
    let series = &group.slices_operations_per_second;
    let whole = series.len() as f64 * SERIES_SECONDS;
    let rest_seconds = group.seconds - whole;
    let rest = group.operations as f64 - series.iter().sum::<f64>() * SERIES_SECONDS;
    let overlap = |begins: f64, ends: f64| (until.min(ends) - from.max(begins)).max(0.0);
    let first = (from.max(0.0) / SERIES_SECONDS) as usize;
    let counted = series.iter().enumerate().skip(first).take_while(|(index, _)| *index as f64 * SERIES_SECONDS < until);
    let mut operations: f64 = counted
        .map(|(index, rate)| rate * overlap(index as f64 * SERIES_SECONDS, (index + 1) as f64 * SERIES_SECONDS))
        .sum();
    if rest_seconds > 0.0 && rest > 0.0 {
        operations += rest / rest_seconds * overlap(whole, group.seconds);
    }
    if until > from { operations / (until - from) } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::conductor::race_clock::MachineClock;
    use model::workload::{Io, Job};

    fn group(job: &str, operations: u64, seconds: f64, series: &[f64]) -> Group {
        Group {
            name: format!("{job}: read"),
            job: job.to_owned(),
            operations,
            seconds,
            slices_operations_per_second: series.to_vec(),
            ..Group::default()
        }
    }

    fn look(from: f64, until: f64, cpu: f64) -> Point {
        let mut figures = [0.0; stats::timeline::QUANTITIES];
        figures[1] = cpu;
        Point { at: [from, until], figures }
    }

    fn system(seconds: f64) -> SystemUse {
        SystemUse { window_seconds: seconds, cpus: 1, cpu_user_seconds: seconds / 2.0, ..SystemUse::default() }
    }

    fn seen(sent: Instant, looks: Vec<Point>) -> Samples {
        Samples { looks, sent }
    }

    fn gathered() -> Gathered {
        Gathered::new(&Devices { device: Some("loop0".to_owned()), ..Devices::default() }, false, false)
    }

    #[test]
    fn short_windows_are_a_point_each_with_the_time_between_them_kept_apart() {
        let mut all = gathered();
        let sent = Instant::now();
        for turn in 0..3_u32 {
            let sent = sent + Duration::from_secs(turn.into());
            all.add(seen(sent, vec![look(0.0, 0.1, 9.0)]), 0.03, &[group("", 100, 0.2, &[])], &system(0.2), false);
        }
        let timeline = all.into_course().unwrap();
        assert_eq!(timeline.seconds, [0.2, 1.2, 2.2]);
        assert_eq!(timeline.measured_seconds, [0.2, 0.4, 0.6]);
        assert_eq!(timeline.operations_per_second, [500.0; 3]);
        assert_eq!((timeline.cpu_share, timeline.device_iops.len()), (vec![0.5; 3], 3));
    }

    #[test]
    fn a_long_window_is_what_was_seen_inside_of_it() {
        let mut all = gathered();
        // Before it opened, four quarters, and after it closed.
        let mut looks = vec![look(0.0, 0.26, 9.0), look(0.26, 0.6, 9.0)];
        looks.extend((0..4_u32).map(|at| look(0.6 + 0.25 * f64::from(at), 0.85 + 0.25 * f64::from(at), f64::from(at))));
        looks.push(look(1.6, 1.9, 9.0));
        all.add(seen(Instant::now(), looks), 0.5, &[group("", 120, 1.2, &[])], &system(1.2), false);
        all.add(seen(Instant::now(), Vec::new()), 0.0, &[group("", 10, 0.1, &[])], &system(0.1), false);
        let timeline = all.into_course().unwrap();
        assert_eq!(timeline.cpu_share, [0.0, 1.0, 2.0, 3.0, 0.5]);
        assert_eq!(timeline.measured_seconds, [0.35, 0.6, 0.85, 1.1, 1.3]);
        assert_eq!(timeline.operations_per_second, [100.0; 5]);
    }

    #[test]
    fn a_rate_that_is_only_known_as_a_whole_is_left_out_and_a_series_fills_it_in() {
        let looks = || (0..8_u32).map(|at| look(f64::from(at) / 4.0, f64::from(at + 1) / 4.0, 0.1)).collect::<Vec<_>>();
        let one = group("a", 300, 1.5, &[100.0, 300.0]);
        let two = group("b", 50, 0.5, &[100.0]);
        let groups = [one, two];
        let ran = || {
            let mut all = gathered();
            all.add(seen(Instant::now(), looks()), 0.0, &groups, &system(2.0), true);
            all
        };
        assert_eq!(ran().into_course().unwrap().operations_per_second.len(), 0);
        let job = |name: &str, stonewall: bool| Job {
            name: name.to_owned(),
            stonewall,
            exitall: false,
            wait_for: None,
            options: Vec::new(),
            io: Io::default(),
        };
        let uses = [("a", 1.5), ("b", 0.5)].map(|(name, seconds)| JobUse {
            name: name.to_owned(),
            seconds,
            ..JobUse::default()
        });
        let timeline = |second: Job| {
            let mut all = ran();
            let jobs = Jobs { jobs: vec![job("a", false), second], file: String::new(), notes: Vec::new() };
            all.fill_from_series(&jobs, &uses, &groups);
            all.into_course().unwrap().operations_per_second
        };
        // a: 50 in its first half second, 150 in the next, the 100 that are left in the last; b beside or after it.
        assert_eq!(timeline(job("b", false)), [200.0, 200.0, 300.0, 300.0, 200.0, 200.0, 0.0, 0.0]);
        assert_eq!(timeline(job("b", true)), [100.0, 100.0, 300.0, 300.0, 200.0, 200.0, 100.0, 100.0]);
        assert!(timeline(Job { wait_for: Some("a".to_owned()), ..job("b", false) }).is_empty());
    }

    #[test]
    fn the_system_is_looked_at_while_an_answer_is_waited_for() {
        let devices = Devices::default();
        let mut watch =
            Watch::begin(SystemSource::Here(&devices), &MachineClock, &Request::Run { threads: false }, false);
        while watch.looks.len() < 2 {
            watch.tick();
            std::thread::sleep(Duration::from_millis(5));
        }
        let seen = watch.end();
        assert_eq!(seen.looks[1].at[0], seen.looks[0].at[1], "one look begins where the last one ended");
        assert!(seen.looks[0].at[1] >= 0.24, "{:?}", seen.looks[0]);
        // A part of a phase is over before the first look; nothing is opened for it.
        let short = Watch::begin(SystemSource::Here(&devices), &MachineClock, &Request::Sync, false);
        assert!(short.monitor.is_none() && short.end().looks.is_empty());
    }
}
