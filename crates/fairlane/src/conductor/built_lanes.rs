//! The lanes of a real race: the lane set, the journal that undoes it, and one agent process a lane.

use super::agent_process::{AgentProcess, CallError};
use super::host_use::HostLook;
use super::raced_lanes::RacedLanes;
use super::thermal;
use super::timeline::{NOTHING, SystemSource};
use super::timeouts::TimeAllowance;
use super::wait_idle::{Activity, Disks};
use crate::ranks::job::Job;
use lanes::guest::Clocks;
use lanes::undo::{EntryId, Thing, server_note};
use lanes::{Closed, Cold, Journal, LaneFailure, LaneSet, Opened};
use model::agent::{Devices, Reply, Request};
use model::ranks::NodeClocks;
use profile::{ProfileError, Profiler};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// How long a lane in a guest may take to let go after Ctrl-C, before its guest is ended.
const GUEST_GRACE: Duration = Duration::from_secs(10);

/// Lanes that were built.
pub struct BuiltLanes {
    /// They stand before the lane set, because fields are dropped in this order and a lane whose agent still holds files
    /// cannot be unmounted.
    agents: Agents,
    lane_set: LaneSet,
    /// What undoes them after a crash.
    journal: Journal,
    /// Servers that run, by their lanes.
    servers: BTreeMap<usize, EntryId>,
    /// Ctrl-C or SIGTERM.
    stop: Arc<AtomicBool>,
}

/// Who works in the lanes.
enum Agents {
    /// One for each lane, started when the lane first works.
    Own(Vec<Option<AgentProcess>>),
    /// One for each lane on every rank of an MPI job.
    OfRanks(Box<Job>),
}

impl BuiltLanes {
    /// These lanes, with the journal that they stand in. No agent was started. `ranks`: the job that works in them; `None`:
    /// this machine does.
    pub fn new(lane_set: LaneSet, journal: Journal, stop: Arc<AtomicBool>, ranks: Option<Job>) -> Self {
        let agents = match ranks {
            Some(job) => Agents::OfRanks(Box::new(job)),
            None => Agents::Own((0..lane_set.lane_count()).map(|_| None).collect()),
        };
        BuiltLanes { agents, lane_set, journal, servers: BTreeMap::new(), stop }
    }

    /// The folder of a lane whose filesystem does not answer any more: whoever undoes what is there waits for ever.
    pub fn silent_folder(&self) -> Option<PathBuf> {
        match &self.agents {
            Agents::Own(_) => None,
            Agents::OfRanks(job) => job.silent_folder().map(Path::to_owned),
        }
    }

    /// Of a job's lane: that its filesystem answers.
    fn check_answers(&mut self, lane: usize) -> Result<(), LaneFailure> {
        match (&mut self.agents, self.lane_set.folder_of(lane)) {
            (Agents::OfRanks(job), Some(folder)) => job.check_answers(folder, &self.stop),
            _ => Ok(()),
        }
    }

    /// Ends the agents and answers the lanes, to be undone or kept.
    pub fn into_parts(self) -> (LaneSet, Journal) {
        let BuiltLanes { agents, lane_set, journal, .. } = self;
        drop(agents);
        (lane_set, journal)
    }
}

impl RacedLanes for BuiltLanes {
    fn call(
        &mut self,
        lane: usize,
        request: &Request,
        allowance: Option<&TimeAllowance>,
        waiting: &mut dyn FnMut(),
    ) -> Result<Reply, CallError> {
        let agents = match &mut self.agents {
            Agents::Own(agents) => agents,
            Agents::OfRanks(job) => return job.call(lane, request, &self.stop, waiting),
        };
        let agent = match &mut agents[lane] {
            Some(agent) => agent,
            empty => {
                let lost = |error: LaneFailure| CallError::Lost(error.to_string());
                let link = self.lane_set.start_agent_in_guest(lane, &mut self.journal, &self.stop).map_err(lost)?;
                let agent = match link {
                    Some(link) => AgentProcess::in_guest(link, &self.stop)?,
                    None => AgentProcess::start(&self.stop)?,
                };
                if let Some(pid) = agent.pid() {
                    self.lane_set.join_throttled(pid).map_err(lost)?;
                }
                empty.insert(agent)
            }
        };
        // What waits for a slow emulated disk in the kernel hears no signal. An error shows again when the
        // lane is closed.
        let lane_set = &mut self.lane_set;
        let mut stopping = || _ = lane_set.lift_all();
        let answer = agent.call_with(request, &self.stop, allowance, &mut stopping, waiting);
        if matches!(answer, Err(CallError::Lost(_))) {
            agents[lane] = None;
        }
        answer
    }

    fn let_go(&mut self, lane: usize) -> Option<Result<(), CallError>> {
        let agents = match &mut self.agents {
            Agents::Own(agents) => agents,
            Agents::OfRanks(job) => return job.let_go(lane),
        };
        // A guest that hangs then is ended.
        let (stop, guest, mut since) = (&self.stop, self.lane_set.guest_of(lane), None::<Instant>);
        let mut waiting = || {
            let Some(guest) = guest.as_ref().filter(|_| stop.load(Ordering::Relaxed)) else { return };
            if since.get_or_insert_with(Instant::now).elapsed() > GUEST_GRACE {
                guest.kill();
            }
        };
        let go_on = AtomicBool::new(false);
        let agent = agents[lane].as_mut()?;
        let answer = agent.call_with(&Request::Detach, &go_on, None, &mut || {}, &mut waiting);
        if matches!(answer, Err(CallError::Lost(_) | CallError::Interrupted)) {
            agents[lane] = None;
        }
        Some(answer.map(drop))
    }

    fn end_agents(&mut self) {
        match &mut self.agents {
            Agents::Own(agents) => agents.iter_mut().filter_map(Option::take).for_each(AgentProcess::end),
            Agents::OfRanks(job) => job.end_agents(),
        }
    }

    fn node_clocks(&mut self) -> Option<NodeClocks> {
        match &mut self.agents {
            Agents::Own(_) => None,
            Agents::OfRanks(job) => job.clocks_behind(&self.stop),
        }
    }

    fn open(&mut self, lane: usize, ground: usize) -> Result<Opened, LaneFailure> {
        self.check_answers(lane)?;
        self.lane_set.open(lane, ground, &mut self.journal, &self.stop)
    }

    fn close(&mut self, lane: usize) -> Result<Closed, LaneFailure> {
        self.check_answers(lane)?;
        self.lane_set.close(lane, &mut self.journal)
    }

    fn is_open(&self, lane: usize) -> bool {
        self.lane_set.is_open(lane)
    }

    fn make_cold(&mut self, lane: usize) -> Result<Cold, LaneFailure> {
        self.lane_set.make_cold(lane)
    }

    fn check_disk(&mut self, lane: usize) -> Result<Option<f64>, LaneFailure> {
        self.lane_set.check_disk(lane, &self.stop)
    }

    fn side_by_side(&self) -> bool {
        self.lane_set.side_by_side()
    }

    fn images(&self) -> usize {
        self.lane_set.images()
    }

    fn store_for(&self, lane: usize, shift: u32) -> usize {
        self.lane_set.store_for(lane, shift)
    }

    fn image_of(&self, ground: usize) -> usize {
        self.lane_set.image_of(ground)
    }

    fn is_image(&self, ground: usize) -> bool {
        self.lane_set.is_image(ground)
    }

    fn is_guest_disk(&self, ground: usize) -> bool {
        self.lane_set.is_guest_disk(ground)
    }

    fn raw_target(&self, ground: usize) -> Option<PathBuf> {
        self.lane_set.raw_target(ground)
    }

    fn raw_disks(&self, ground: usize) -> Vec<(PathBuf, Devices)> {
        self.lane_set.raw_disks(ground)
    }

    fn stand_bare(&mut self, lane: usize, ground: usize) -> Result<Option<PathBuf>, LaneFailure> {
        self.lane_set.stand_bare(lane, ground, &mut self.journal, &self.stop)
    }

    fn take_down_bare(&mut self, lane: usize) -> Result<(), LaneFailure> {
        self.lane_set.take_down_bare(lane, &mut self.journal)
    }

    fn warm(&self, ground: usize, bytes: u64) {
        self.lane_set.warm(ground, bytes);
    }

    fn device_names(&self, ground: usize) -> Devices {
        self.lane_set.device_names(ground)
    }

    fn watched(&self, lane: usize, ground: usize) -> Devices {
        self.lane_set.watched(lane, ground)
    }

    fn disks_of(&self, grounds: &[usize]) -> Disks {
        // Disks of user-mode Linux are files in this machine's page cache: what its kernel still has to write of them
        // would be written beside the measurement.
        let under = self.lane_set.settle_on_host(grounds);
        let (guests, host): (Vec<usize>, Vec<usize>) =
            grounds.iter().partition(|ground| self.lane_set.is_guest_disk(**ground));
        let names = host.iter().map(|ground| self.lane_set.device_names(*ground));
        let own = names.flat_map(|of| of.device.into_iter().chain(of.further)).collect();
        Disks { own, guests, under }
    }

    fn activity(&self, disks: &Disks, with_host: bool) -> Activity {
        let (in_flight, written_bytes) = self.lane_set.guest_activity(&disks.guests, &self.stop);
        let own = Activity::of_disks(&disks.own);
        let under = if with_host { Activity::of_disks(&disks.under) } else { Activity::default() };
        Activity {
            in_flight: own.in_flight + in_flight + under.in_flight,
            written_bytes: own.written_bytes + written_bytes + under.written_bytes,
        }
    }

    fn hold(&mut self, ground: usize, lane: usize) -> Result<(), LaneFailure> {
        self.lane_set.hold(ground, lane)
    }

    fn hold_bare(&mut self, ground: usize) -> Result<(), LaneFailure> {
        self.lane_set.hold_bare(ground)
    }

    fn lift(&mut self, ground: usize) -> Result<(), LaneFailure> {
        self.lane_set.lift(ground)
    }

    fn in_guest(&self, lane: usize) -> bool {
        self.lane_set.in_guest(lane)
    }

    fn guest_lives(&self, lane: usize) -> bool {
        self.lane_set.guest_of(lane).is_some_and(|guest| guest.lives())
    }

    fn guest_clocks(&self, lane: usize) -> Option<Result<Clocks, LaneFailure>> {
        Some(self.lane_set.guest_of(lane)?.clocks(&self.stop))
    }

    fn renew_guests(&mut self, shift: usize) -> Result<(), LaneFailure> {
        if !self.lane_set.renews_guests() {
            return Ok(());
        }
        if let Agents::Own(agents) = &mut self.agents {
            let in_guests = agents.iter_mut().enumerate().filter(|(lane, _)| self.lane_set.in_guest(*lane));
            in_guests.filter_map(|(_, agent)| agent.take()).for_each(AgentProcess::end);
        }
        self.lane_set.renew_guests(shift, &mut self.journal)
    }

    fn system_of<'a>(&self, lane: usize, devices: &'a Devices) -> SystemSource<'a> {
        match self.lane_set.guest_of(lane) {
            Some(guest) => SystemSource::Guest { guest, lane: lane as u32, devices, stop: Arc::clone(&self.stop) },
            // The devices of a guest that died have the names of others here.
            None if self.lane_set.in_guest(lane) => SystemSource::Here(&NOTHING),
            None => SystemSource::Here(devices),
        }
    }

    fn beside_guest(&self, lane: usize) -> Option<HostLook> {
        self.lane_set.guest_of(lane).as_deref().and_then(HostLook::now)
    }

    fn agent_pid(&self, lane: usize) -> Option<u32> {
        match &self.agents {
            Agents::Own(agents) => agents[lane].as_ref().and_then(AgentProcess::pid),
            Agents::OfRanks(_) => None,
        }
    }

    fn profiler(&self) -> Result<Profiler, ProfileError> {
        Profiler::open()
    }

    fn can_profile(&self) -> bool {
        Profiler::probe().is_ok()
    }

    fn cpu_throttle_events(&self) -> Option<u64> {
        thermal::throttle_events(Path::new(thermal::CPUS))
    }

    fn server_note(&self, lane: usize) -> PathBuf {
        server_note(self.journal.path(), lane)
    }

    fn server_starts(&mut self, lane: usize) -> Result<(), LaneFailure> {
        let note = self.server_note(lane);
        let entry = self.journal.will(Thing::Server { note })?;
        self.servers.insert(lane, entry);
        Ok(())
    }

    fn server_ended(&mut self, lane: usize) -> Result<(), LaneFailure> {
        self.servers.remove(&lane).map_or(Ok(()), |entry| self.journal.done(entry))
    }
}
