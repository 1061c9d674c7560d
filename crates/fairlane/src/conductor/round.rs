//! One round of one workload: every lane does the same work, in a balanced order.

use super::agent_process::{CallError, unexpected};
use super::explain::Profiling;
use super::failpoint;
use super::race_clock::RaceClock;
use super::raced_lanes::RacedLanes;
use super::slices::Longer;
use super::timeline::Gathered;
use super::timeouts::TimeAllowance;
use super::trial_run::TrialRun;
use super::wait_idle::wait_until_quiet;
use crate::failure::{Failure, Status};
use lanes::{Cold, LaneFailure};
use model::agent::{Part, Reply, Request, Target};
use model::event::Event;
use model::trial::SystemUse;
use model::workload::{Kind, Schedule, Workload};
use model::{Mark, Throttle};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// Parts of a phase that alternate between lanes (method 1.1: 4 to 10 slices).
const PHASE_PARTS: u32 = 10;

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
            CallError::Corrupt(reason) | CallError::JobLost(reason) => Trouble::Race(Failure::failed(reason)),
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
pub struct Runner<'a> {
    /// The lanes, each with its agent.
    pub lanes: &'a mut dyn RacedLanes,
    /// What time it is.
    pub clock: &'a dyn RaceClock,
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
    pub slack: Option<TimeAllowance>,
    /// How long the present round may be made, and was.
    pub longer: Longer,
    /// What this machine did beside each lane in a guest while it was measured, in the present round.
    pub beside: BTreeMap<usize, SystemUse>,
    /// The pass that is made counts in no verdict, and the kernel is looked at meanwhile.
    pub profiling: Option<Profiling>,
}

impl Runner<'_> {
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
        self.lanes.call(lane, request, self.slack.as_ref(), waiting)
    }

    /// Asks for something whose success carries no figures.
    pub(super) fn tell(&mut self, lane: usize, request: &Request) -> Result<f64, CallError> {
        match self.call(lane, request)? {
            Reply::Done => Ok(0.0),
            Reply::Took { seconds } => Ok(seconds),
            other => Err(unexpected(request, &other)),
        }
    }

    /// Runs a round and answers the trial runs, each closed. Nothing is left mounted.
    ///
    /// # Errors
    /// Only where the race must end; a lane's own failure is in its trial run.
    pub fn round(
        &mut self,
        workload: &Workload,
        trial_runs: &mut [TrialRun],
        seed: u64,
        threads: bool,
    ) -> Result<(), Failure> {
        self.slack = TimeAllowance::new(&self.throttles, workload);
        let side_by_side = self.lanes.side_by_side();
        let result = match workload.traits().schedule() {
            Schedule::Slices(io) => {
                in_turn(side_by_side, trial_runs, |trial_runs| self.steady(workload, io, trial_runs, seed, threads))
            }
            Schedule::Phases { in_parts } => {
                in_turn(side_by_side, trial_runs, |trial_runs| self.once(workload, in_parts, trial_runs, seed, threads))
            }
            Schedule::Steps(operations) => in_turn(side_by_side, trial_runs, |trial_runs| {
                self.steps(workload, operations, trial_runs, seed, threads)
            }),
            Schedule::Window { warm_up_seconds, seconds } => {
                let window = Request::Slice { warm_up_seconds, seconds, threads };
                trial_runs.iter_mut().try_for_each(|trial_run| {
                    trial_run.appenders = matches!(workload.kind, Kind::Appenders(_));
                    self.one_window(workload, &window, true, trial_run, seed)
                })
            }
            Schedule::Whole { reads_back } => trial_runs
                .iter_mut()
                .try_for_each(|trial_run| self.job_file(workload, reads_back, trial_run, seed, threads)),
            Schedule::Transactions(oltp) => {
                trial_runs.iter_mut().try_for_each(|trial_run| self.database(workload, oltp, trial_run, seed, threads))
            }
            Schedule::Programs(programs) => trial_runs
                .iter_mut()
                .try_for_each(|trial_run| self.programs(workload, programs, trial_run, seed, threads))
                .and_then(|()| self.compare_outputs(programs, trial_runs)),
        };
        // Whatever happened, no lane stays mounted.
        for trial_run in trial_runs.iter_mut() {
            self.close(trial_run);
        }
        if let Some(trial_run) = trial_runs.iter().find(|trial_run| self.lanes.is_open(trial_run.lane) && !self.keep) {
            // Its image cannot be given to another lane, and nothing true could be measured beside it.
            let reason = trial_run.failure.clone().unwrap_or_else(|| "it is still mounted".to_owned());
            return result.and(Err(Failure::failed(format!("{reason}; the race ends here"))));
        }
        result
    }

    /// Runs one step of a trial run: a lane's own failure ends only this trial run.
    pub(super) fn step(
        &mut self,
        trial_run: &mut TrialRun,
        phase: &'static str,
        work: impl FnOnce(&mut Self, &mut TrialRun) -> Result<(), Trouble>,
    ) -> Result<(), Failure> {
        if !trial_run.sound() {
            return Ok(());
        }
        if self.stop.load(Ordering::Relaxed) {
            return Err(Failure::interrupted());
        }
        (self.screen)(&Event::LaneStarted { lane: self.names[trial_run.lane].clone(), phase });
        failpoint::at(phase);
        match work(self, trial_run) {
            Ok(()) => Ok(()),
            Err(Trouble::Race(failure)) if failure.status == Status::Failed => {
                // Data was lost or changed: the trial says so, and with --keep the lane stays for a look.
                let reason = without_directory(&failure.message, trial_run);
                trial_run.open &= !self.keep;
                trial_run.failure = Some(reason.clone());
                Err(Failure::failed(format!("lane {}: {reason}", self.names[trial_run.lane])))
            }
            Err(Trouble::Race(failure)) => Err(failure),
            Err(Trouble::Lane(_)) if self.stop.load(Ordering::Relaxed) => Err(Failure::interrupted()),
            Err(Trouble::Lane(reason)) if !trial_run.directory.as_os_str().is_empty() && !self.keep => {
                // Where the lane was mounted is gone by the time somebody reads this.
                trial_run.failure = Some(without_directory(&reason, trial_run));
                self.close(trial_run);
                Ok(())
            }
            Err(Trouble::Lane(reason)) if self.keep && trial_run.open => {
                trial_run.open = false;
                Err(Failure::failed(reason))
            }
            Err(Trouble::Lane(reason)) => {
                trial_run.failure = Some(reason);
                self.close(trial_run);
                Ok(())
            }
        }
    }

    /// Fresh mkfs, mount, attach, populate.
    pub(super) fn open(&mut self, workload: &Workload, trial_run: &mut TrialRun, seed: u64) -> Result<(), Failure> {
        trial_run.past_cut = false;
        trial_run.watch_clocks(self.clock.clocks());
        self.step(trial_run, "mkfs", |runner, trial_run| {
            let opened = runner.lanes.open(trial_run.lane, trial_run.ground)?;
            trial_run.open = true;
            for (phase, seconds) in &opened.phases_seconds {
                trial_run.charge(phase, *seconds);
            }
            trial_run.directory = opened.directory;
            trial_run.library = opened.library;
            runner.attach(trial_run)
        })?;
        self.step(trial_run, "populate", |runner, trial_run| {
            if let Some(path) = runner.note_of(workload, trial_run.lane) {
                runner.tell(trial_run.lane, &Request::Note { path })?;
            }
            let seconds = runner.tell(trial_run.lane, &Request::prepare(workload.clone(), seed))?;
            let synced = runner.tell(trial_run.lane, &Request::Sync)?;
            trial_run.charge("populate", seconds + synced);
            Ok(())
        })
    }

    pub(super) fn quiet(&mut self, trial_runs: &mut [TrialRun]) {
        let sound = || trial_runs.iter().filter(|trial_run| trial_run.sound());
        let grounds: Vec<usize> = sound().map(|trial_run| trial_run.ground).collect();
        let seconds = wait_until_quiet((&*self.lanes, self.clock), &grounds, self.quiet, self.stop);
        for trial_run in trial_runs.iter_mut().filter(|trial_run| trial_run.sound()) {
            trial_run.charge("quiet", seconds / grounds.len() as f64);
        }
    }

    /// From here on each lane's device is held to the lane's throttle, the syncs that are charged included.
    pub(super) fn hold(&mut self, trial_runs: &[TrialRun]) -> Result<(), Failure> {
        for trial_run in trial_runs.iter().filter(|trial_run| trial_run.sound()) {
            self.lanes.hold(trial_run.ground, trial_run.lane).map_err(crate::commands::lane_failure)?;
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
    fn once(
        &mut self,
        workload: &Workload,
        in_parts: bool,
        trial_runs: &mut [TrialRun],
        seed: u64,
        threads: bool,
    ) -> Result<(), Failure> {
        for trial_run in trial_runs.iter_mut() {
            self.open(workload, trial_run, seed)?;
        }
        let lanes = trial_runs.len();
        let parts = if in_parts { self.parts(PHASE_PARTS) } else { 1 };
        for (number, group) in workload.groups().iter().enumerate() {
            if workload.traits().begins_cold(group) {
                for trial_run in trial_runs.iter_mut() {
                    self.step(trial_run, "cold", |runner, trial_run| runner.make_cold(trial_run))?;
                }
            }
            self.quiet(trial_runs);
            self.hold(trial_runs)?;
            for index in 0..parts {
                for turn in 0..lanes {
                    let trial_run = &mut trial_runs[(number + index as usize + turn) % lanes];
                    self.phase(trial_run, group, Part { index, of: parts }, threads && index == 0)?;
                }
            }
        }
        trial_runs.iter_mut().try_for_each(|trial_run| self.finish(trial_run))
    }

    /// A step that the filesystem cannot do ends what the trial run does, and not what it has done.
    pub(super) fn phase(
        &mut self,
        trial_run: &mut TrialRun,
        group: &str,
        part: Part,
        threads: bool,
    ) -> Result<(), Failure> {
        if !trial_run.goes_on_to(group) {
            return Ok(());
        }
        self.step(trial_run, "measure", |runner, trial_run| {
            let begun = runner.clock.now();
            match runner.measured(trial_run, &Request::Phase { group: group.to_owned(), part, threads }) {
                // With --keep it stays as it is, for a look.
                Err(CallError::Unsupported { reason, .. }) if !runner.keep => {
                    trial_run.cut = Some((group.to_owned(), without_directory(&reason, trial_run)));
                    trial_run.past_cut = true;
                }
                measured => drop(measured?),
            }
            trial_run.charge("measure", runner.clock.since(begun).as_secs_f64());
            Ok(())
        })
    }

    pub(super) fn make_cold(&mut self, trial_run: &mut TrialRun) -> Result<(), Trouble> {
        let begun = self.clock.now();
        self.tell(trial_run.lane, &Request::Detach)?;
        self.mount_cold(trial_run)?;
        trial_run.charge("cold", self.clock.since(begun).as_secs_f64());
        Ok(())
    }

    /// Everything is let go, what a library left on its disk is checked, and the lane mounted again,
    /// cold.
    pub(super) fn check_and_make_cold(&mut self, trial_run: &mut TrialRun) -> Result<(), Trouble> {
        let mut begun = self.clock.now();
        self.tell(trial_run.lane, &Request::Detach)?;
        let let_go = self.clock.since(begun).as_secs_f64();
        if let Some(seconds) = self.lanes.check_disk(trial_run.lane)? {
            trial_run.charge("fsck", seconds);
        }
        begun = self.clock.now();
        self.mount_cold(trial_run)?;
        trial_run.charge("cold", let_go + self.clock.since(begun).as_secs_f64());
        Ok(())
    }

    /// The agent has let go. Remounting is no measured work: the throttle is lifted meanwhile, and whoever
    /// measures next holds it again.
    fn mount_cold(&mut self, trial_run: &mut TrialRun) -> Result<(), Trouble> {
        self.lanes.lift(trial_run.ground)?;
        let flag = match self.lanes.make_cold(trial_run.lane)? {
            Cold::Cold => None,
            Cold::Warm => Some(Mark::WarmCache.into()),
            Cold::Guest => Some(Mark::WarmCache.with("the guest's cache is empty, and its disk lies in the host's")),
        };
        if let Some(flag) = flag.filter(|_| !trial_run.checking) {
            trial_run.flags.push(flag);
        }
        self.attach(trial_run)
    }

    fn attach(&mut self, trial_run: &mut TrialRun) -> Result<(), Trouble> {
        let devices = self.lanes.watched(trial_run.lane, trial_run.ground);
        let target = match &trial_run.library {
            Some(library) => Target::Library(library.clone()),
            None => Target::Directory(trial_run.directory.clone()),
        };
        // After a remount it goes on.
        let (appenders, in_guest) = (trial_run.appenders, self.lanes.in_guest(trial_run.lane));
        trial_run.timeline.get_or_insert_with(|| Gathered::new(&devices, appenders, in_guest));
        trial_run.devices.clone_from(&devices);
        self.begin_clock(trial_run);
        let begun = self.clock.now();
        self.tell(trial_run.lane, &Request::Attach { target, devices })?;
        // The first time a library formats its disk; later it opens what is there.
        if let Some(library) = &mut trial_run.library
            && std::mem::take(&mut library.format)
        {
            trial_run.charge("mkfs", self.clock.since(begun).as_secs_f64());
        }
        Ok(())
    }

    /// Deferred work is charged as its own phase.
    pub(super) fn finish(&mut self, trial_run: &mut TrialRun) -> Result<(), Failure> {
        self.step(trial_run, "sync", |runner, trial_run| {
            let seconds = runner.tell(trial_run.lane, &Request::Sync)?;
            trial_run.charge("sync", seconds);
            match runner.call(trial_run.lane, &Request::Finish)? {
                Reply::Finished { groups, system, notes, jobs } => {
                    trial_run.groups = groups;
                    trial_run.jobs = jobs;
                    trial_run.system = system;
                    let differs = notes.iter().find_map(|note| note.figures(Mark::ReplayDiffers));
                    let void = differs.map(|told| format!("it was not the program's work: {told}"));
                    trial_run.void = trial_run.void.take().or(void);
                    trial_run.flags.extend(notes);
                    Ok(())
                }
                other => Err(unexpected(&Request::Finish, &other).into()),
            }
        })?;
        self.close(trial_run);
        Ok(())
    }

    /// Releases and unmounts a lane. What goes wrong here fails the trial.
    pub(super) fn close(&mut self, trial_run: &mut TrialRun) {
        if !trial_run.open {
            return;
        }
        trial_run.open = false;
        trial_run.look_at_clocks(self.clock.clocks());
        self.end_clock(trial_run);
        if let Err(failure) = self.lanes.lift(trial_run.ground) {
            trial_run.failure.get_or_insert(failure.to_string());
        }
        failpoint::at("unmount");
        // On Ctrl-C the agent is still asked to let go; a lost one has let go already.
        let begun = self.clock.now();
        match self.lanes.let_go(trial_run.lane) {
            // A library unmounts in its agent, and what it could not write is lost.
            Some(Err(
                CallError::Refused(reason) | CallError::Unsupported { reason, .. } | CallError::Corrupt(reason),
            )) => {
                trial_run.failure.get_or_insert(reason);
            }
            Some(Ok(())) if trial_run.library.is_some() => {
                trial_run.charge("unmount", self.clock.since(begun).as_secs_f64());
            }
            Some(Ok(()) | Err(CallError::Lost(_) | CallError::JobLost(_) | CallError::Interrupted)) | None => {}
        }
        match self.lanes.close(trial_run.lane) {
            Ok(closed) => {
                trial_run.charge("unmount", closed.unmount_seconds);
                trial_run.flags.extend(closed.flags);
            }
            Err(failure) => {
                let reason = failure.to_string();
                trial_run.failure.get_or_insert(reason);
            }
        }
    }
}

/// All lanes at once where they stand side by side, and otherwise one after another.
fn in_turn(
    side_by_side: bool,
    trial_runs: &mut [TrialRun],
    mut work: impl FnMut(&mut [TrialRun]) -> Result<(), Failure>,
) -> Result<(), Failure> {
    if side_by_side {
        return work(trial_runs);
    }
    trial_runs.iter_mut().try_for_each(|trial_run| work(std::slice::from_mut(trial_run)))
}

/// A reason without the folder where the lane was mounted.
fn without_directory(reason: &str, trial_run: &TrialRun) -> String {
    match trial_run.directory.as_os_str().is_empty() {
        true => reason.to_owned(),
        false => reason.replace(&format!("{}/", model::text::escaped_path(&trial_run.directory)), ""),
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
