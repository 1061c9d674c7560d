//! One round of one workload: every lane does the same work, in a balanced order.

use super::agent_process::{AgentProcess, CallError, unexpected};
use super::clocks::Clocks;
use super::course::Gathered;
use super::hold;
use super::patience::Slack;
use super::quiet::wait_until_quiet;
use super::slices::Longer;
use super::visit::Visit;
use crate::failure::{Failure, Status};
use lanes::{Cold, Journal, LaneFailure, Stage};
use model::agent::{Part, Reply, Request, Target};
use model::event::Event;
use model::trial::SystemUse;
use model::workload::{Kind, Streams, Workload};
use model::{Mark, Throttle};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Parts of a phase that alternate between lanes (method 1.1: 4 to 10 slices).
const PHASE_PARTS: u32 = 10;

/// How long a lane in a guest may take to let go after Ctrl-C, before its guest is ended.
const GUEST_GRACE: Duration = Duration::from_secs(10);

/// Why a step did not succeed.
pub enum Trouble {
    /// This lane's trial fails; the race goes on.
    Lane(String),
    /// The race ends.
    Race(Failure),
}

impl From<CallError> for Trouble {
    fn from(error: CallError) -> Self {
        match error {
            CallError::Refused(reason) | CallError::Unsupported { reason, .. } | CallError::Lost(reason) => {
                Trouble::Lane(reason)
            }
            CallError::Corrupt(reason) => Trouble::Race(Failure::failed(reason)),
            CallError::Interrupted => Trouble::Race(Failure::interrupted()),
        }
    }
}

impl From<LaneFailure> for Trouble {
    fn from(failure: LaneFailure) -> Self {
        match crate::commands::lane_failure(failure) {
            failure if failure.status == Status::Interrupted => Trouble::Race(failure),
            failure => Trouble::Lane(failure.message),
        }
    }
}

/// The hands of a race: lanes, their agents, and whoever watches.
pub struct Track<'a> {
    /// One agent per lane, started when the lane first works. They stand before the stage, because
    /// fields are dropped in this order and a lane whose agent still holds files cannot be unmounted.
    pub agents: Vec<Option<AgentProcess>>,
    /// The lanes.
    pub stage: Stage,
    /// What undoes them after a crash.
    pub journal: Journal,
    /// How long the lanes' devices are quiet before a measurement.
    pub quiet: Duration,
    /// Names of the lanes.
    pub names: Vec<String>,
    /// Who shows what happens.
    pub screen: &'a mut dyn FnMut(&Event),
    /// Ctrl-C or SIGTERM.
    pub stop: &'a AtomicBool,
    /// A lane that fails is left as it is, and the race ends there (`--keep`).
    pub keep: bool,
    /// What the lanes' devices are held to while they are measured, each once; empty: nothing is held.
    pub throttles: Vec<Throttle>,
    /// How much longer the present work's lanes may take to answer for it.
    pub slack: Option<Slack>,
    /// How long the present round may be made, and was.
    pub longer: Longer,
    /// What this machine did beside each lane in a guest while it was measured, in the present round.
    pub beside: BTreeMap<usize, SystemUse>,
}

impl Track<'_> {
    /// Asks the agent of a lane. A lost agent is replaced at the next call.
    pub fn call(&mut self, lane: usize, request: &Request) -> Result<Reply, CallError> {
        self.call_watched(lane, request, &mut || {})
    }

    /// The same; `waiting` is called every few milliseconds until the answer is there.
    pub(super) fn call_watched(
        &mut self,
        lane: usize,
        request: &Request,
        waiting: &mut dyn FnMut(),
    ) -> Result<Reply, CallError> {
        if self.stop.load(Ordering::Relaxed) {
            return Err(CallError::Interrupted);
        }
        let agent = match &mut self.agents[lane] {
            Some(agent) => agent,
            empty => {
                let lost = |error: LaneFailure| CallError::Lost(error.to_string());
                let link = self.stage.start_agent_in_guest(lane, &mut self.journal, self.stop).map_err(lost)?;
                let agent = match link {
                    Some(link) => AgentProcess::in_guest(link, self.stop)?,
                    None => AgentProcess::start(self.stop)?,
                };
                if let Some(pid) = agent.pid() {
                    self.stage.join_throttled(pid).map_err(lost)?;
                }
                empty.insert(agent)
            }
        };
        // What waits for a slow emulated disk in the kernel hears no signal. An error shows again when the
        // lane is closed.
        let stage = &mut self.stage;
        let mut stopping = || _ = stage.lift_all();
        let answer = agent.call_with(request, self.stop, self.slack.as_ref(), &mut stopping, waiting);
        if matches!(answer, Err(CallError::Lost(_))) {
            self.agents[lane] = None;
        }
        answer
    }

    /// Asks for something whose success carries no figures.
    pub(super) fn tell(&mut self, lane: usize, request: &Request) -> Result<f64, CallError> {
        match self.call(lane, request)? {
            Reply::Done => Ok(0.0),
            Reply::Took { seconds } => Ok(seconds),
            other => Err(unexpected(request, &other)),
        }
    }

    /// Runs a round and answers the visits, each closed. Nothing is left mounted.
    ///
    /// # Errors
    /// Only where the race must end; a lane's own failure is in its visit.
    pub fn round(
        &mut self,
        workload: &Workload,
        visits: &mut [Visit],
        seed: u64,
        threads: bool,
    ) -> Result<(), Failure> {
        self.slack = Slack::of(&self.throttles, workload);
        let result = match &workload.kind {
            Kind::Io(io) if self.stage.side_by_side() => self.steady(workload, io, visits, seed, threads),
            Kind::Io(io) => visits
                .iter_mut()
                .try_for_each(|visit| self.steady(workload, io, std::slice::from_mut(visit), seed, threads)),
            Kind::Jobs(_) | Kind::Fio(_) => {
                visits.iter_mut().try_for_each(|visit| self.job_file(workload, visit, seed, threads))
            }
            Kind::Appenders(swarm) => {
                visits.iter_mut().try_for_each(|visit| self.swarm(workload, swarm, visit, seed, threads))
            }
            Kind::SmallFiles(_) | Kind::Streams(_) if self.stage.side_by_side() => {
                self.once(workload, visits, seed, threads)
            }
            Kind::Operations(operations) if self.stage.side_by_side() => {
                self.steps(workload, operations, visits, seed, threads)
            }
            Kind::Operations(operations) => visits
                .iter_mut()
                .try_for_each(|visit| self.steps(workload, operations, std::slice::from_mut(visit), seed, threads)),
            Kind::Oltp(oltp) => {
                visits.iter_mut().try_for_each(|visit| self.database(workload, oltp, visit, seed, threads))
            }
            Kind::Mix(mix) => {
                let (warm_up_seconds, seconds) = (mix.warm_up_seconds, mix.seconds);
                let slice = Request::Slice { warm_up_seconds, seconds, threads };
                visits.iter_mut().try_for_each(|visit| self.one_window(workload, &slice, true, visit, seed))
            }
            Kind::Programs(programs) => visits
                .iter_mut()
                .try_for_each(|visit| self.programs(workload, programs, visit, seed, threads))
                .and_then(|()| self.compare_outputs(programs, visits)),
            Kind::SmallFiles(_) | Kind::Streams(_) => {
                visits.iter_mut().try_for_each(|visit| self.once(workload, std::slice::from_mut(visit), seed, threads))
            }
        };
        // Whatever happened, no lane stays mounted.
        for visit in visits.iter_mut() {
            self.close(visit);
        }
        if let Some(visit) = visits.iter().find(|visit| self.stage.is_open(visit.lane) && !self.keep) {
            // Its image cannot be given to another lane, and nothing true could be measured beside it.
            let reason = visit.failure.clone().unwrap_or_else(|| "it is still mounted".to_owned());
            return result.and(Err(Failure::failed(format!("{reason}; the race ends here"))));
        }
        result
    }

    /// Runs one step of a visit: a lane's own failure ends only this visit.
    pub(super) fn step(
        &mut self,
        visit: &mut Visit,
        phase: &'static str,
        work: impl FnOnce(&mut Self, &mut Visit) -> Result<(), Trouble>,
    ) -> Result<(), Failure> {
        if !visit.sound() {
            return Ok(());
        }
        if self.stop.load(Ordering::Relaxed) {
            return Err(Failure::interrupted());
        }
        (self.screen)(&Event::LaneStarted { lane: self.names[visit.lane].clone(), phase });
        hold::at(phase);
        match work(self, visit) {
            Ok(()) => Ok(()),
            Err(Trouble::Race(failure)) if failure.status == Status::Failed => {
                // Data was lost or changed: the trial says so, and with --keep the lane stays for a look.
                let reason = without_directory(&failure.message, visit);
                visit.open &= !self.keep;
                visit.failure = Some(reason.clone());
                Err(Failure::failed(format!("lane {}: {reason}", self.names[visit.lane])))
            }
            Err(Trouble::Race(failure)) => Err(failure),
            Err(Trouble::Lane(_)) if self.stop.load(Ordering::Relaxed) => Err(Failure::interrupted()),
            Err(Trouble::Lane(reason)) if !visit.directory.as_os_str().is_empty() && !self.keep => {
                // Where the lane was mounted is gone by the time somebody reads this.
                visit.failure = Some(without_directory(&reason, visit));
                self.close(visit);
                Ok(())
            }
            Err(Trouble::Lane(reason)) if self.keep && visit.open => {
                visit.open = false;
                Err(Failure::failed(reason))
            }
            Err(Trouble::Lane(reason)) => {
                visit.failure = Some(reason);
                self.close(visit);
                Ok(())
            }
        }
    }

    /// Fresh mkfs, mount, attach, populate.
    pub(super) fn open(&mut self, workload: &Workload, visit: &mut Visit, seed: u64) -> Result<(), Failure> {
        visit.past_cut = false;
        visit.watch_clocks(Clocks::now());
        self.step(visit, "mkfs", |track, visit| {
            let opened = track.stage.open(visit.lane, visit.ground, &mut track.journal, track.stop)?;
            visit.open = true;
            for (phase, seconds) in &opened.phases_seconds {
                visit.charge(phase, *seconds);
            }
            visit.directory = opened.directory;
            visit.library = opened.library;
            track.attach(visit)
        })?;
        self.step(visit, "populate", |track, visit| {
            if let Some(path) = track.note_of(workload, visit.lane) {
                track.tell(visit.lane, &Request::Note { path })?;
            }
            let seconds = track.tell(visit.lane, &Request::Prepare { workload: workload.clone(), seed })?;
            let synced = track.tell(visit.lane, &Request::Sync)?;
            visit.charge("populate", seconds + synced);
            Ok(())
        })
    }

    pub(super) fn quiet(&mut self, visits: &mut [Visit]) {
        let sound = || visits.iter().filter(|visit| visit.sound());
        let grounds: Vec<usize> = sound().map(|visit| visit.ground).collect();
        let seconds = wait_until_quiet(&self.stage, &grounds, self.quiet, self.stop);
        for visit in visits.iter_mut().filter(|visit| visit.sound()) {
            visit.charge("quiet", seconds / grounds.len() as f64);
        }
    }

    /// From here on each lane's device is held to the lane's throttle, the syncs that are charged included.
    pub(super) fn hold(&mut self, visits: &[Visit]) -> Result<(), Failure> {
        for visit in visits.iter().filter(|visit| visit.sound()) {
            self.stage.hold(visit.ground, visit.lane).map_err(crate::commands::lane_failure)?;
        }
        Ok(())
    }

    /// Parts of work that is done once: whole under a throttle, because a device that was idle while the
    /// other lanes worked is given a burst, and short parts would be nothing but bursts.
    pub(super) fn parts(&self, usual: u32) -> u32 {
        if self.throttles.is_empty() { usual } else { 1 }
    }

    /// Once-only work: every phase runs in parts that alternate between the lanes, as steady work
    /// does, because whole phases are shorter than a burst of noise. Reading begins with a cold
    /// cache, and no file is read twice, so that every part is as cold as the first. Every part of
    /// creating and deleting ends with a `syncfs` that is charged to it, so that no lane writes beside the next.
    fn once(&mut self, workload: &Workload, visits: &mut [Visit], seed: u64, threads: bool) -> Result<(), Failure> {
        for visit in visits.iter_mut() {
            self.open(workload, visit, seed)?;
        }
        let lanes = visits.len();
        // A large file is read and written at a stretch: parts of it would leave the cache to the others.
        let large = matches!(workload.kind, Kind::Streams(_));
        let parts = if large { 1 } else { self.parts(PHASE_PARTS) };
        for (number, group) in workload.groups().iter().enumerate() {
            if group == "read" || (large && Streams::is_cold(group)) {
                for visit in visits.iter_mut() {
                    self.step(visit, "cold", |track, visit| track.make_cold(visit))?;
                }
            }
            self.quiet(visits);
            self.hold(visits)?;
            for index in 0..parts {
                for turn in 0..lanes {
                    let visit = &mut visits[(number + index as usize + turn) % lanes];
                    self.phase(visit, group, Part { index, of: parts }, threads && index == 0)?;
                }
            }
        }
        visits.iter_mut().try_for_each(|visit| self.finish(visit))
    }

    /// A step that the filesystem cannot do ends what the visit does, and not what it has done.
    pub(super) fn phase(&mut self, visit: &mut Visit, group: &str, part: Part, threads: bool) -> Result<(), Failure> {
        if !visit.goes_on_to(group) {
            return Ok(());
        }
        self.step(visit, "measure", |track, visit| {
            let begun = Instant::now();
            match track.measured(visit, &Request::Phase { group: group.to_owned(), part, threads }) {
                // With --keep it stays as it is, for a look.
                Err(CallError::Unsupported { reason, .. }) if !track.keep => {
                    visit.cut = Some((group.to_owned(), without_directory(&reason, visit)));
                    visit.past_cut = true;
                }
                measured => drop(measured?),
            }
            visit.charge("measure", begun.elapsed().as_secs_f64());
            Ok(())
        })
    }

    pub(super) fn make_cold(&mut self, visit: &mut Visit) -> Result<(), Trouble> {
        let begun = Instant::now();
        self.tell(visit.lane, &Request::Detach)?;
        self.mount_cold(visit)?;
        visit.charge("cold", begun.elapsed().as_secs_f64());
        Ok(())
    }

    /// Everything is let go, what a library left on its disk is checked, and the lane mounted again,
    /// cold.
    pub(super) fn check_and_make_cold(&mut self, visit: &mut Visit) -> Result<(), Trouble> {
        let mut begun = Instant::now();
        self.tell(visit.lane, &Request::Detach)?;
        let let_go = begun.elapsed().as_secs_f64();
        if let Some(seconds) = self.stage.check_disk(visit.lane, self.stop)? {
            visit.charge("fsck", seconds);
        }
        begun = Instant::now();
        self.mount_cold(visit)?;
        visit.charge("cold", let_go + begun.elapsed().as_secs_f64());
        Ok(())
    }

    /// The agent has let go. Remounting is no measured work: the throttle is lifted meanwhile, and whoever
    /// measures next holds it again.
    fn mount_cold(&mut self, visit: &mut Visit) -> Result<(), Trouble> {
        self.stage.lift(visit.ground)?;
        let flag = match self.stage.make_cold(visit.lane)? {
            Cold::Cold => None,
            Cold::Warm => Some(Mark::WarmCache.into()),
            Cold::Guest => Some(Mark::WarmCache.with("the guest's cache is empty, and its disk lies in the host's")),
        };
        if let Some(flag) = flag.filter(|_| !visit.checking) {
            visit.flags.push(flag);
        }
        self.attach(visit)
    }

    fn attach(&mut self, visit: &mut Visit) -> Result<(), Trouble> {
        let devices = self.stage.watched(visit.lane, visit.ground);
        let target = match &visit.library {
            Some(library) => Target::Library(library.clone()),
            None => Target::Directory(visit.directory.clone()),
        };
        // After a remount it goes on.
        let (swarm, in_guest) = (visit.swarm, self.stage.in_guest(visit.lane));
        visit.course.get_or_insert_with(|| Gathered::of(&devices, swarm, in_guest));
        visit.devices.clone_from(&devices);
        self.begin_clock(visit);
        let begun = Instant::now();
        self.tell(visit.lane, &Request::Attach { target, devices })?;
        // The first time a library formats its disk; later it opens what is there.
        if let Some(library) = &mut visit.library
            && std::mem::take(&mut library.format)
        {
            visit.charge("mkfs", begun.elapsed().as_secs_f64());
        }
        Ok(())
    }

    /// Deferred work is charged as its own phase.
    pub(super) fn finish(&mut self, visit: &mut Visit) -> Result<(), Failure> {
        self.step(visit, "sync", |track, visit| {
            let seconds = track.tell(visit.lane, &Request::Sync)?;
            visit.charge("sync", seconds);
            match track.call(visit.lane, &Request::Finish)? {
                Reply::Finished { groups, system, notes, jobs } => {
                    visit.groups = groups;
                    visit.jobs = jobs;
                    visit.system = system;
                    visit.flags.extend(notes);
                    Ok(())
                }
                other => Err(unexpected(&Request::Finish, &other).into()),
            }
        })?;
        self.close(visit);
        Ok(())
    }

    /// Releases and unmounts a lane. What goes wrong here fails the trial.
    pub(super) fn close(&mut self, visit: &mut Visit) {
        if !visit.open {
            return;
        }
        visit.open = false;
        visit.look_at_clocks(Clocks::now());
        self.end_clock(visit);
        if let Err(failure) = self.stage.lift(visit.ground) {
            visit.failure.get_or_insert(failure.to_string());
        }
        hold::at("unmount");
        // On Ctrl-C the agent is still asked to let go; a lost one has let go already.
        let begun = Instant::now();
        // A guest that hangs then is ended.
        let (stop, guest, mut since) = (self.stop, self.stage.guest_of(visit.lane), None::<Instant>);
        let mut waiting = || {
            let Some(guest) = guest.as_ref().filter(|_| stop.load(Ordering::Relaxed)) else { return };
            if since.get_or_insert_with(Instant::now).elapsed() > GUEST_GRACE {
                guest.kill();
            }
        };
        let go_on = AtomicBool::new(false);
        let answer = self.agents[visit.lane]
            .as_mut()
            .map(|agent| agent.call_with(&Request::Detach, &go_on, None, &mut || {}, &mut waiting));
        match answer {
            Some(Err(CallError::Lost(_) | CallError::Interrupted)) => self.agents[visit.lane] = None,
            // A library unmounts in its agent, and what it could not write is lost.
            Some(Err(
                CallError::Refused(reason) | CallError::Unsupported { reason, .. } | CallError::Corrupt(reason),
            )) => {
                visit.failure.get_or_insert(reason);
            }
            Some(Ok(_)) if visit.library.is_some() => visit.charge("unmount", begun.elapsed().as_secs_f64()),
            Some(Ok(_)) | None => {}
        }
        match self.stage.close(visit.lane, &mut self.journal) {
            Ok(closed) => {
                visit.charge("unmount", closed.unmount_seconds);
                visit.flags.extend(closed.flags);
            }
            Err(failure) => {
                let reason = failure.to_string();
                visit.failure.get_or_insert(reason);
            }
        }
    }
}

/// A reason without the folder where the lane was mounted.
fn without_directory(reason: &str, visit: &Visit) -> String {
    match visit.directory.as_os_str().is_empty() {
        true => reason.to_owned(),
        false => reason.replace(&format!("{}/", model::text::escaped_path(&visit.directory)), ""),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wrong_data_ends_the_race_and_a_refusal_only_the_lanes_trial() {
        let reason = || "x holds wrong data".to_owned();
        match Trouble::from(CallError::Corrupt(reason())) {
            Trouble::Race(failure) => assert_eq!((failure.status, failure.message), (Status::Failed, reason())),
            Trouble::Lane(_) => panic!("the race would go on"),
        }
        for harmless in [CallError::Refused(reason()), CallError::Lost(reason())] {
            assert!(matches!(Trouble::from(harmless), Trouble::Lane(_)));
        }
        assert!(matches!(
            Trouble::from(CallError::Interrupted),
            Trouble::Race(Failure { status: Status::Interrupted, .. })
        ));
    }
}
