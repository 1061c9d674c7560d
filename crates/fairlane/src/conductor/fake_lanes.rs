//! Lanes that are only numbers, and a clock that their work moves on: whole races run through them in milliseconds.
//!
//! A figure depends on the lane, the round's seed and the place in the trial alone, so that a race that was interrupted and
//! gone on with sees the same figures as one that was not. What no real lane would stand is an assertion: two lanes on one
//! ground, a mkfs under a throttle, work on what was not prepared.

mod figures;

use super::agent_process::CallError;
use super::clocks::Clocks;
use super::host_use::HostLook;
use super::race_clock::RaceClock;
use super::raced_lanes::RacedLanes;
use super::timeline::{NOTHING, SystemSource};
use super::timeouts::TimeAllowance;
use super::wait_idle::{Activity, Disks};
use figures::{deviate, group, metrics, system};
use lanes::{Closed, Cold, LaneFailure, Opened, guest};
use model::agent::{Devices, Part, Reply, Request, Target};
use model::trial::{Group, SystemUse};
use model::workload::Workload;
use profile::{ProfileError, Profiler};
use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// What the bare disk does more than the fastest lane: no figure is limited by it.
const DISK_RATE: f64 = 1e6;
/// Operations of a phase of once-only work.
const PHASE_OPERATIONS: f64 = 1000.0;

/// A clock that stands still until somebody works or waits.
pub struct FakeClock {
    zero: Instant,
    passed: Cell<Duration>,
    slept: Cell<Duration>,
    /// Ctrl-C comes when so much has passed.
    pub interrupt_at: Cell<Option<Duration>>,
    /// What Ctrl-C sets.
    pub stop: AtomicBool,
}

impl FakeClock {
    pub fn new() -> Self {
        let (passed, slept) = (Cell::new(Duration::ZERO), Cell::new(Duration::ZERO));
        FakeClock { zero: Instant::now(), passed, slept, interrupt_at: Cell::new(None), stop: AtomicBool::new(false) }
    }

    /// Seconds since the clock was made.
    pub fn seconds(&self) -> f64 {
        self.passed.get().as_secs_f64()
    }

    fn pass(&self, seconds: f64) {
        self.passed.set(self.passed.get() + Duration::from_secs_f64(seconds));
        if self.interrupt_at.get().is_some_and(|at| self.passed.get() >= at) {
            self.stop.store(true, Ordering::Relaxed);
        }
    }
}

impl RaceClock for FakeClock {
    fn now(&self) -> Instant {
        self.zero + self.passed.get()
    }

    fn sleep(&self, time: Duration) {
        self.pass(time.as_secs_f64());
    }

    fn clocks(&self) -> Clocks {
        let monotonic = self.passed.get().as_nanos() as i128;
        let boot = monotonic + self.slept.get().as_nanos() as i128;
        Clocks { monotonic, boot, wall: boot, doubt: 0, source: "tsc".to_owned() }
    }
}

/// How fast a lane is.
#[derive(Debug, Clone, Copy)]
pub struct Speed {
    /// Operations per second.
    pub rate: f64,
    /// Standard deviation of its logarithm from round to round.
    pub noise: f64,
}

/// What goes wrong.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Fault {
    /// The agent answers that it cannot.
    Refused,
    /// The filesystem cannot do it.
    Unsupported,
    /// The agent is gone.
    Lost,
    /// What was read is not what was written.
    Corrupt,
    /// The answer is one to another request.
    Nonsense,
    /// The answer takes so many seconds longer.
    Slow(f64),
    /// The machine sleeps so many seconds.
    Suspended(f64),
    /// Other programs took most of the CPUs.
    ForeignCpu,
    /// The CPUs were hot.
    Hot,
    /// Ctrl-C.
    Interrupt,
}

/// When it goes wrong: at the `step`-th measured request of a lane's `trial`-th trial of a workload, both from 1.
#[derive(Debug, Clone)]
pub struct When {
    pub lane: usize,
    pub workload: &'static str,
    pub trial: u32,
    pub step: u32,
}

/// The agent of a lane.
#[derive(Default)]
struct FakeAgent {
    target: Option<Target>,
    work: Option<Work>,
}

/// Prepared work.
struct Work {
    workload: Workload,
    seed: u64,
    steps: u32,
    done: BTreeMap<String, Group>,
    system: SystemUse,
}

/// Lanes on as many images, that only say how fast they are.
pub struct FakeLanes<'a> {
    clock: &'a FakeClock,
    speeds: Vec<Speed>,
    /// What goes wrong, and when.
    pub faults: Vec<(When, Fault)>,
    /// Lanes whose n-th mkfs fails, n from 1.
    pub failed_mkfs: Vec<(usize, u32)>,
    /// Lanes that change once more before the end of every six slices.
    pub restless: BTreeSet<usize>,
    /// The only workload that is noisy; `None`: all are.
    pub noise_in: Option<&'static str>,
    /// Lanes that stay mounted when they are closed.
    pub stuck: BTreeSet<usize>,
    /// Until when the disks are written by somebody, in seconds.
    pub busy_until: f64,
    /// Lanes take turns on one device.
    pub in_turns: bool,
    /// Time is kept for passes, of which nothing comes all the same.
    pub can_profile: bool,
    /// Passes look at this machine's own kernel, where it lets itself be looked at.
    pub looks_at_the_kernel: bool,
    /// Agents that were started, by lane.
    pub agents_started: Vec<u32>,
    agents: Vec<Option<FakeAgent>>,
    open: BTreeMap<usize, usize>,
    opened: Vec<u32>,
    held: BTreeSet<usize>,
    trials: BTreeMap<(usize, String), u32>,
    throttle_events: u64,
}

impl<'a> FakeLanes<'a> {
    pub fn new(clock: &'a FakeClock, speeds: &[Speed]) -> Self {
        FakeLanes {
            clock,
            speeds: speeds.to_vec(),
            faults: Vec::new(),
            failed_mkfs: Vec::new(),
            restless: BTreeSet::new(),
            noise_in: None,
            stuck: BTreeSet::new(),
            busy_until: 0.0,
            in_turns: false,
            can_profile: false,
            looks_at_the_kernel: false,
            agents_started: vec![0; speeds.len()],
            agents: speeds.iter().map(|_| None).collect(),
            open: BTreeMap::new(),
            opened: vec![0; speeds.len()],
            held: BTreeSet::new(),
            trials: BTreeMap::new(),
            throttle_events: 0,
        }
    }

    /// Whether nothing is mounted, held or alive.
    pub fn is_idle(&self) -> bool {
        self.open.is_empty() && self.held.is_empty() && self.agents.iter().all(Option::is_none)
    }

    /// What goes wrong at the measured request that comes now.
    fn fault(&mut self, lane: usize) -> Option<Fault> {
        let FakeAgent { target, work } = self.agents[lane].as_mut()?;
        let work = work.as_mut().filter(|_| matches!(target, Some(Target::Directory(_))))?;
        work.steps += 1;
        let trial = self.trials.get(&(lane, work.workload.name.clone())).copied().unwrap_or(0);
        let now = |when: &When| {
            (when.lane, when.trial, when.step) == (lane, trial, work.steps) && when.workload == work.workload.name
        };
        self.faults.iter().find(|(when, _)| now(when)).map(|(_, fault)| *fault)
    }

    /// A measured request, with what goes wrong in it.
    fn measure(&mut self, lane: usize, request: &Request) -> Result<Reply, CallError> {
        let fault = self.fault(lane);
        let reason = || format!("{request:?} went wrong");
        match fault {
            Some(Fault::Refused) => return Err(CallError::Refused("no space left on device".to_owned())),
            Some(Fault::Unsupported) => {
                return Err(CallError::Unsupported { reason: reason(), errno: Some(libc::EOPNOTSUPP) });
            }
            Some(Fault::Lost) => {
                self.agents[lane] = None;
                return Err(CallError::Lost("the agent ended by itself (signal: 9)".to_owned()));
            }
            Some(Fault::Corrupt) => return Err(CallError::Corrupt("data.0 holds wrong data".to_owned())),
            Some(Fault::Nonsense) => return Ok(Reply::Done),
            Some(Fault::Slow(seconds)) => self.clock.pass(seconds),
            Some(Fault::Suspended(seconds)) => {
                self.clock.slept.set(self.clock.slept.get() + Duration::from_secs_f64(seconds));
            }
            Some(Fault::Hot) => self.throttle_events += 1,
            Some(Fault::Interrupt) => self.clock.stop.store(true, Ordering::Relaxed),
            Some(Fault::ForeignCpu) | None => {}
        }
        let speed = self.speeds[lane];
        let agent = self.agents[lane].as_mut().expect("an agent");
        let Some(work) = &mut agent.work else { return Err(CallError::Refused("nothing is prepared".to_owned())) };
        let (name, seconds) = match request {
            Request::Slice { warm_up_seconds, seconds, .. } => {
                self.clock.pass(*warm_up_seconds);
                (work.workload.groups().remove(0), Some(*seconds))
            }
            Request::Phase { group, .. } => (group.clone(), None),
            _ => (work.workload.groups().remove(0), Some(1.0)),
        };
        let rate = match &agent.target {
            Some(Target::Directory(_)) => {
                let of_round = deviate(work.seed, lane as u64, 0);
                let of_step = deviate(work.seed, lane as u64, u64::from(work.steps));
                let is_noisy = self.noise_in.is_none_or(|noisy| noisy == work.workload.name);
                let noise = if is_noisy { speed.noise } else { 0.0 };
                let changes = if self.restless.contains(&lane) { (work.steps as i32 + 1) / 6 } else { 0 };
                0.4_f64.powi(changes) * speed.rate * (noise * of_round + 0.01 * of_step).exp()
            }
            _ => DISK_RATE,
        };
        let part = if let Request::Phase { part, .. } = request { *part } else { Part::WHOLE };
        let operations = seconds.map_or(PHASE_OPERATIONS / f64::from(part.of), |seconds| seconds * rate);
        let seconds = seconds.unwrap_or(operations / rate);
        self.clock.pass(seconds);
        let group = group(&name, rate, operations, seconds);
        let system = system(&group, fault == Some(Fault::ForeignCpu));
        work.add(&group, &system);
        Ok(Reply::Measured { groups: vec![group], system, opened_after_seconds: 0.0 })
    }

    fn answer(&mut self, lane: usize, request: &Request) -> Result<Reply, CallError> {
        let took = |seconds: f64| {
            self.clock.pass(seconds);
            Ok(Reply::Took { seconds })
        };
        let agent = self.agents[lane].as_mut().expect("an agent");
        match request {
            Request::Hello | Request::Note { .. } => Ok(Reply::Done),
            Request::Attach { target, .. } => {
                // Prepared work goes on after a remount.
                agent.target = Some(target.clone());
                Ok(Reply::Done)
            }
            Request::Detach | Request::Quit => {
                agent.target = None;
                Ok(Reply::Done)
            }
            Request::Prepare { workload, seed, .. } => {
                assert!(agent.target.is_some(), "work is prepared in a lane that the agent has");
                if matches!(agent.target, Some(Target::Directory(_))) {
                    *self.trials.entry((lane, workload.name.clone())).or_default() += 1;
                }
                agent.work = Some(Work {
                    workload: workload.clone(),
                    seed: *seed,
                    steps: 0,
                    done: BTreeMap::new(),
                    system: SystemUse::default(),
                });
                took(0.2)
            }
            Request::Sync | Request::Again | Request::Verify => took(0.01),
            Request::CheckOther { .. } => Ok(Reply::Checked { bytes: 0 }),
            Request::Slice { .. } | Request::WearOut { .. } | Request::Phase { .. } | Request::Run { .. } => {
                self.measure(lane, request)
            }
            Request::Finish => match agent.work.take() {
                Some(work) => Ok(work.finished()),
                None => Err(CallError::Refused("nothing is prepared".to_owned())),
            },
        }
    }
}

impl Work {
    fn add(&mut self, group: &Group, system: &SystemUse) {
        let sum = self.done.entry(group.name.clone()).or_insert_with(|| Group {
            name: group.name.clone(),
            primary_metric: group.primary_metric.clone(),
            windows_seconds: group.windows_seconds,
            ..Group::default()
        });
        sum.operations += group.operations;
        sum.bytes += group.bytes;
        sum.seconds += group.seconds;
        sum.windows_operations_per_second.extend(&group.windows_operations_per_second);
        sum.slices_operations_per_second.push(group.metrics["operations_per_second"]);
        let of_all = &mut self.system;
        of_all.window_seconds += system.window_seconds;
        of_all.windows += 1;
        of_all.cpus = system.cpus;
        of_all.cpu_user_seconds += system.cpu_user_seconds;
        of_all.agent_cpu_user_seconds += system.agent_cpu_user_seconds;
        for (sum, used) in [(&mut of_all.device, &system.device), (&mut of_all.backing, &system.backing)] {
            sum.writes += used.writes;
            sum.write_bytes += used.write_bytes;
            sum.reads += used.reads;
            sum.read_bytes += used.read_bytes;
            sum.busy_seconds += used.busy_seconds;
        }
    }

    fn finished(self) -> Reply {
        let mut groups: Vec<Group> = self.done.into_values().collect();
        for group in &mut groups {
            let mut rates = group.slices_operations_per_second.clone();
            rates.sort_by(f64::total_cmp);
            let median = (rates[(rates.len() - 1) / 2] + rates[rates.len() / 2]) / 2.0;
            group.metrics = metrics(median);
        }
        Reply::Finished { groups, system: self.system, notes: Vec::new(), jobs: Vec::new() }
    }
}

impl RacedLanes for FakeLanes<'_> {
    fn call(
        &mut self,
        lane: usize,
        request: &Request,
        _allowance: Option<&TimeAllowance>,
        _waiting: &mut dyn FnMut(),
    ) -> Result<Reply, CallError> {
        if self.agents[lane].is_none() {
            self.agents_started[lane] += 1;
            self.agents[lane] = Some(FakeAgent::default());
            self.clock.pass(0.01);
        }
        let answer = self.answer(lane, request);
        // What was asked for while Ctrl-C came ends early, without figures.
        if self.clock.stop.load(Ordering::Relaxed) { Err(CallError::Interrupted) } else { answer }
    }

    fn let_go(&mut self, lane: usize) -> Option<Result<(), CallError>> {
        self.agents[lane].as_mut()?.target = None;
        Some(Ok(()))
    }

    fn end_agents(&mut self) {
        self.agents.iter_mut().for_each(|agent| *agent = None);
    }

    fn open(&mut self, lane: usize, ground: usize) -> Result<Opened, LaneFailure> {
        assert!(!self.open.values().any(|taken| *taken == ground), "two lanes stand on ground {ground}");
        assert!(!self.open.contains_key(&lane), "lane {lane} is formatted while it is mounted");
        assert!(!self.held.contains(&ground), "mkfs works under a throttle");
        assert!(!self.in_turns || self.open.is_empty(), "lanes take turns on one device");
        self.opened[lane] += 1;
        self.clock.pass(0.25);
        if self.failed_mkfs.contains(&(lane, self.opened[lane])) {
            return Err(LaneFailure::Failed("mkfs failed: Input/output error".to_owned()));
        }
        self.open.insert(lane, ground);
        let phases_seconds = [("mkfs".to_owned(), 0.2), ("mount".to_owned(), 0.05)].into();
        Ok(Opened { directory: PathBuf::from(format!("/fake/{lane}")), library: None, guest: None, phases_seconds })
    }

    fn close(&mut self, lane: usize) -> Result<Closed, LaneFailure> {
        assert!(self.open.contains_key(&lane), "lane {lane} is closed and was not open");
        let has = self.agents[lane].as_ref().is_some_and(|agent| agent.target.is_some());
        assert!(!has, "the agent still holds files in lane {lane}");
        if self.stuck.contains(&lane) {
            return Err(LaneFailure::Failed("it is still mounted: target is busy".to_owned()));
        }
        self.open.remove(&lane);
        self.clock.pass(0.02);
        Ok(Closed { unmount_seconds: 0.02, flags: Vec::new() })
    }

    fn is_open(&self, lane: usize) -> bool {
        self.open.contains_key(&lane)
    }

    fn make_cold(&mut self, lane: usize) -> Result<Cold, LaneFailure> {
        assert!(!self.held.contains(&self.open[&lane]), "a lane is mounted again under a throttle");
        self.clock.pass(0.05);
        Ok(Cold::Cold)
    }

    fn check_disk(&mut self, _lane: usize) -> Result<Option<f64>, LaneFailure> {
        Ok(None)
    }

    fn side_by_side(&self) -> bool {
        !self.in_turns
    }

    fn images(&self) -> usize {
        if self.in_turns { 0 } else { self.speeds.len() }
    }

    fn store_for(&self, lane: usize, shift: u32) -> usize {
        if self.in_turns { 0 } else { (lane + shift as usize) % self.speeds.len() }
    }

    fn image_of(&self, ground: usize) -> usize {
        ground
    }

    fn is_image(&self, _ground: usize) -> bool {
        !self.in_turns
    }

    fn is_guest_disk(&self, _ground: usize) -> bool {
        false
    }

    fn raw_target(&self, ground: usize) -> Option<PathBuf> {
        Some(PathBuf::from(format!("/dev/fake{ground}")))
    }

    fn raw_disks(&self, _ground: usize) -> Vec<(PathBuf, Devices)> {
        Vec::new()
    }

    fn stand_bare(&mut self, _lane: usize, _ground: usize) -> Result<Option<PathBuf>, LaneFailure> {
        Ok(None)
    }

    fn take_down_bare(&mut self, _lane: usize) -> Result<(), LaneFailure> {
        unreachable!("it has no layers")
    }

    fn warm(&self, _ground: usize, _bytes: u64) {}

    fn device_names(&self, ground: usize) -> Devices {
        Devices { device: Some(format!("fake{ground}")), ..Devices::default() }
    }

    fn watched(&self, _lane: usize, ground: usize) -> Devices {
        self.device_names(ground)
    }

    fn disks_of(&self, grounds: &[usize]) -> Disks {
        let own = grounds.iter().map(|ground| format!("fake{ground}")).collect();
        Disks { own, ..Disks::default() }
    }

    fn activity(&self, _disks: &Disks, _with_host: bool) -> Activity {
        // 100 MB/s until it ends.
        let written = self.clock.seconds().min(self.busy_until) * 1e8;
        Activity { in_flight: u64::from(self.clock.seconds() < self.busy_until), written_bytes: written as u64 }
    }

    fn hold(&mut self, ground: usize, lane: usize) -> Result<(), LaneFailure> {
        assert_eq!(self.open.get(&lane), Some(&ground), "a throttle is for the ground of an open lane");
        self.held.insert(ground);
        Ok(())
    }

    fn hold_bare(&mut self, ground: usize) -> Result<(), LaneFailure> {
        self.held.insert(ground);
        Ok(())
    }

    fn lift(&mut self, ground: usize) -> Result<(), LaneFailure> {
        self.held.remove(&ground);
        Ok(())
    }

    fn in_guest(&self, _lane: usize) -> bool {
        false
    }

    fn guest_lives(&self, _lane: usize) -> bool {
        false
    }

    fn guest_clocks(&self, _lane: usize) -> Option<Result<guest::Clocks, LaneFailure>> {
        None
    }

    fn renew_guests(&mut self, _shift: usize) -> Result<(), LaneFailure> {
        Ok(())
    }

    fn system_of<'d>(&self, _lane: usize, _devices: &'d Devices) -> SystemSource<'d> {
        SystemSource::Here(&NOTHING)
    }

    fn beside_guest(&self, _lane: usize) -> Option<HostLook> {
        None
    }

    fn agent_pid(&self, _: usize) -> Option<u32> {
        None
    }

    // There is no kernel behind these lanes.
    fn profiler(&self) -> Result<Profiler, ProfileError> {
        if self.looks_at_the_kernel { Profiler::open() } else { Err(ProfileError::NoSymbols) }
    }

    fn can_profile(&self) -> bool {
        self.can_profile
    }

    fn cpu_throttle_events(&self) -> Option<u64> {
        Some(self.throttle_events)
    }

    fn server_note(&self, lane: usize) -> PathBuf {
        PathBuf::from(format!("/fake/server{lane}"))
    }

    fn server_starts(&mut self, _lane: usize) -> Result<(), LaneFailure> {
        Ok(())
    }

    fn server_ended(&mut self, _lane: usize) -> Result<(), LaneFailure> {
        Ok(())
    }
}
