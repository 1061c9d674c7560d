//! Passes that count in no verdict: each lane does its work once more, and the kernel is asked where the time goes.

use super::round::Runner;
use super::slices::Longer;
use super::trial_run::TrialRun;
use super::{Race, round_seed, shared_rate};
use crate::failure::Failure;
use model::agent::{Devices, FilesystemProcesses};
use model::event::Event;
use model::profile::Profile;
use model::record::Line;
use model::trial::{Group, SystemUse};
use model::workload::{Schedule, Workload};
use profile::{Capture, LaneProcesses, Profiler, with_descendants};
use std::collections::BTreeMap;

/// What is seen in one pass: by lane and group.
pub struct Profiling {
    profiler: Profiler,
    /// Why a window was not seen; the last reason.
    unseen: Option<String>,
    found: BTreeMap<(usize, String), Found>,
}

/// Of one group in one lane.
#[derive(Default)]
struct Found {
    capture: Capture,
    operations: u64,
    seconds: f64,
}

impl Profiling {
    /// From here on events are kept, in case that a window opens.
    pub fn begin(&mut self) {
        if let Err(error) = self.profiler.start() {
            self.unseen = Some(error.to_string());
        }
    }

    /// The window has closed, and its figures are these. `agent`: the process that worked.
    pub fn end(
        &mut self,
        lane: usize,
        (agent, devices): (Option<u32>, &Devices),
        opened_after_seconds: f64,
        (groups, system): (&[Group], &SystemUse),
    ) {
        let first = devices.device.as_deref().or(devices.backing.as_deref());
        let own: Vec<&str> = first.into_iter().chain(devices.further.iter().map(String::as_str)).collect();
        let window = self.profiler.stop((opened_after_seconds, system.window_seconds), &own);
        let (window, agent) = match (window, agent) {
            (Ok(window), Some(agent)) => (window, agent),
            (Err(error), _) => return self.unseen = Some(error.to_string()),
            (Ok(_), None) => return,
        };
        let filesystem = match &devices.filesystem {
            FilesystemProcesses::Known(pids) => pids.iter().copied().collect(),
            FilesystemProcesses::None | FilesystemProcesses::Unknown => Default::default(),
        };
        let processes = LaneProcesses { agent: with_descendants(agent), filesystem };
        // Groups that share a window share what was seen in it.
        let name = match groups {
            [only] => only.name.clone(),
            _ => String::new(),
        };
        let found = self.found.entry((lane, name)).or_default();
        // Flushes are counted for whole disks alone.
        let whole = |name: &String| !std::path::Path::new("/sys/class/block").join(name).join("partition").exists();
        let counters = devices.device.as_ref().is_some_and(whole).then_some(&system.device);
        found.capture.add(&window, self.profiler.kernel(), &processes, counters);
        found.operations += groups.iter().map(|group| group.operations).sum::<u64>();
        // The sync that is charged to a group is part of its window.
        found.seconds += system.window_seconds;
    }

    /// Nothing came of the window.
    pub fn give_up(&mut self) {
        let _ = self.profiler.stop((0.0, 0.0), &[]);
    }
}

impl Race<'_> {
    /// A pass of each workload, where the race was told to explain itself.
    pub(super) fn explain_all(&mut self) -> Result<(), Failure> {
        let worth = (0..self.plan().workloads.len()).any(|index| self.pass_fits(index));
        if !self.plan().explain || !worth {
            return Ok(());
        }
        let opened = self.runner.lanes.profiler();
        let mut profiler = match opened {
            Ok(profiler) => profiler,
            Err(reason) => return self.note(stats::explain::nothing_is_explained(&reason.to_string())),
        };
        for index in 0..self.plan().workloads.len() {
            let workload = self.plan().workloads[index].clone();
            if self.rounds_done(index) == 0 {
                continue;
            }
            if let Some(why) = self.cannot_explain(&workload) {
                self.note(stats::explain::is_not_explained(&workload.title, why))?;
                continue;
            }
            if !self.is_to_be_explained(index) || !self.pass_fits(index) {
                continue;
            }
            (self.runner.screen)(&Event::Explaining { title: workload.title.clone() });
            profiler = self.explain(index, &workload, profiler)?;
        }
        Ok(())
    }

    /// Why something is not explained. Who did not ask for passes is not told: `fairlane explain` says how to ask.
    fn note(&mut self, said: String) -> Result<(), Failure> {
        if self.plan().explain_in_time { Ok(()) } else { self.append(Line::Note { said }) }
    }

    /// Whether any pass is to be done and will see something.
    pub(super) fn can_explain(&self) -> bool {
        let any = (0..self.plan().workloads.len()).any(|index| self.is_to_be_explained(index));
        any && self.runner.lanes.can_profile()
    }

    /// Whether a pass of a workload is still to be done, and would show something.
    pub(super) fn is_to_be_explained(&self, index: usize) -> bool {
        let (plan, workload) = (self.plan(), &self.plan().workloads[index]);
        let explained = self.record.profiles.iter().any(|profile| profile.workload == workload.name);
        plan.explain && !explained && self.cannot_explain(workload).is_none()
    }

    /// Whether a pass has room in the budget, where it is only done for that.
    fn pass_fits(&self, index: usize) -> bool {
        let ends = self.elapsed_seconds() + self.pass_seconds(index);
        !self.plan().explain_in_time || self.budget().is_none_or(|budget| ends <= budget)
    }

    /// Why a pass would show nothing.
    fn cannot_explain(&self, workload: &Workload) -> Option<&'static str> {
        if (0..self.runner.names.len()).all(|lane| self.runner.lanes.in_guest(lane)) {
            return Some("its lanes live in guests, whose kernel is not looked at");
        }
        matches!(workload.traits().schedule(), Schedule::Programs(_))
            .then_some("its programs have ended before it is known whose they were")
    }

    /// One pass; the profiler comes back.
    fn explain(&mut self, index: usize, workload: &Workload, profiler: Profiler) -> Result<Profiler, Failure> {
        let round = self.rounds_raced(index) + 1;
        let work = shared_rate::work_of_round(workload, &self.record);
        self.renew_agents();
        // No pass is made longer for a lane that has not settled.
        let begun = self.runner.clock.now();
        self.runner.longer = Longer { until: Some(begun), seconds: 0.0 };
        let seed = round_seed(self.plan().seed, index, round);
        let (lanes, racing) = (self.record.header.lanes.len(), self.lanes_in(index));
        // Lanes that were decided early are explained too.
        let mut trial_runs: Vec<TrialRun> = stats::order::round_order(lanes, self.plan().seed, index as u64, round)
            .into_iter()
            .filter(|lane| racing.contains(lane) || self.decided[index].contains(lane))
            // Nobody looks at a guest's kernel.
            .filter(|&lane| !self.runner.lanes.in_guest(lane))
            .enumerate()
            .map(|(place, lane)| TrialRun::new(lane, self.ground_of(lane, index, round), place as u32 + 1))
            .collect();
        self.runner.beside.clear();
        self.runner.profiling = Some(Profiling { profiler, unseen: None, found: BTreeMap::new() });
        let raced = self.runner.round(&work, &mut trial_runs, seed, false);
        let profiling = self.runner.profiling.take().expect("it was put there");
        // What fails here has worked in the rounds that count: it is told, and no more.
        for trial_run in &trial_runs {
            if let Some(reason) = &trial_run.failure {
                (self.runner.screen)(&Event::TrialFailed {
                    lane: self.runner.names[trial_run.lane].clone(),
                    title: work.title.clone(),
                    reason: reason.clone(),
                });
            }
        }
        raced?;
        let Profiling { profiler, unseen, found } = profiling;
        if let Some(reason) = unseen {
            self.note(stats::explain::is_partly_explained(&workload.title, &reason))?;
        }
        let names = self.runner.names.clone();
        let pass_seconds = self.runner.clock.since(begun).as_secs_f64() / found.len().max(1) as f64;
        let lines = found.into_iter().map(|((lane, group), found)| {
            let rate = if found.seconds > 0.0 { found.operations as f64 / found.seconds } else { 0.0 };
            let of = (workload.name.as_str(), names[lane].as_str(), group.as_str());
            Line::Profile(Box::new(Profile { pass_seconds, ..found.capture.profile(of, found.operations, rate) }))
        });
        self.append_all(lines.collect())?;
        Ok(profiler)
    }
}

impl Runner<'_> {
    /// Whether what a lane does now is profiled: where it is measured, and on this machine's own kernel.
    pub(super) fn profiles(&self, trial_run: &TrialRun) -> bool {
        self.profiling.is_some() && !trial_run.checking && !self.lanes.in_guest(trial_run.lane)
    }
}
