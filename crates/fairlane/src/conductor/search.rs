//! The search for the largest number of writers that each lane sustains: pass by pass, lane by lane, step by step. What is
//! tried next, and what came of it, is decided by `stats::search`.

use super::appenders::WITHOUT_FILESYSTEM;
use super::{ATTEMPTS_ON_A_MACHINE_THAT_SLEEPS, Race, round_seed};
use crate::conductor::trial_run::TrialRun;
use crate::failure::{Failure, Status};
use model::event::Event;
use model::record::Line;
use model::search::{SearchStep, StepOutcome};
use model::trial::Outcome;
use model::workload::{Appenders, Kind, Workload};
use stats::search::{self, Next};

impl Race<'_> {
    /// Searches until every lane has its passes, or the time is up.
    pub(super) fn search_all(&mut self) -> Result<(), Failure> {
        let Some((workload, appenders, _)) = search::workload_of(&self.record) else { return Ok(()) };
        let (workload, appenders) = (workload.clone(), appenders.clone());
        let index = self.plan().workloads.iter().position(|of| of.name == workload.name).unwrap_or(0);
        (self.runner.screen)(&Event::WorkloadStarted { title: workload.title.clone(), number: 1, of: 1 });
        let passes = search::passes_of(self.plan().rounds);
        for pass in 1..=passes {
            self.renew_guests(index, pass)?;
            self.renew_agents();
            // Lanes take turns at the same image, and at who comes first.
            let order = stats::order::round_order(self.runner.names.len(), self.plan().seed, index as u64, pass);
            for (place, lane) in order.into_iter().enumerate() {
                let begun = Event::RoundStarted {
                    title: format!("{}, {}", workload.title, self.runner.names[lane]),
                    number: 1,
                    round: pass,
                    look_at: passes,
                    elapsed_seconds: self.elapsed_seconds(),
                    budget_seconds: self.budget(),
                };
                (self.runner.screen)(&begun);
                while let Next::Try(writers) = search::next(&self.record, &self.runner.names[lane], pass) {
                    if self.budget().is_some_and(|budget| self.elapsed_seconds() >= budget) {
                        return self.note_end_of_time(pass, passes);
                    }
                    self.search_step(&workload, &appenders, (index, lane), (pass, place as u32 + 1), writers)?;
                }
            }
        }
        Ok(())
    }

    /// One lane with so many writers.
    fn search_step(
        &mut self,
        workload: &Workload,
        appenders: &Appenders,
        (index, lane): (usize, usize),
        (pass, position): (u32, u32),
        writers: u32,
    ) -> Result<(), Failure> {
        let name = self.runner.names[lane].clone();
        let number = 1 + self.steps_of(&name, pass);
        let mut appenders = Appenders { writers, ..appenders.clone() };
        appenders.directories = appenders.directories.min(writers);
        let seed = round_seed(self.plan().seed, index, pass);
        let work = Workload { kind: Kind::Appenders(Box::new(appenders.clone())), ..workload.clone() };
        let full = too_large(&work, self.plan().lane_size.get(), &self.record.header.lanes[lane].venue);
        let mut attempts = 1;
        let (ran, trial_run) = loop {
            let mut trial_runs = [TrialRun::new(lane, self.ground_of(lane, index, pass), position)];
            let ran = match &full {
                Some(reason) => {
                    trial_runs[0].failure = Some(reason.clone());
                    Ok(())
                }
                None => self.runner.round(&work, &mut trial_runs, seed, false),
            };
            let [trial_run] = trial_runs;
            match trial_run.void.clone().filter(|_| ran.is_ok() && attempts < ATTEMPTS_ON_A_MACHINE_THAT_SLEEPS) {
                None => break (ran, trial_run),
                Some(reason) => {
                    let title = format!("{}, {writers} writers", workload.title);
                    (self.runner.screen)(&Event::RoundRepeated { title, round: pass, reason: reason.clone() });
                    self.append(Line::Note { said: format!("{name}, {writers} writers, was tried again: {reason}") })?;
                    attempts += 1;
                }
            }
        };
        let image = self.runner.lanes.image_of(trial_run.ground);
        let mut trial = trial_run.into_trial(&name, &work, pass, number);
        trial.ground = image as u32;
        // The histogram of every step would make the record large, and nobody merges them.
        trial.groups.iter_mut().for_each(|group| group.histogram = None);
        if trial.outcome == Outcome::Failed {
            let reason = trial.reason.clone().unwrap_or_default();
            let title = format!("{}, {writers} writers", workload.title);
            (self.runner.screen)(&Event::TrialFailed { lane: name, title, reason });
        }
        // What ends a lane's search may be Fairlane or the machine: then they give way without a filesystem too.
        let asks = ran.is_ok() && search::asks_for_a_run_without_filesystem(&self.record, &trial, writers);
        let without_filesystem = match asks {
            true => {
                let trial_run = self.runner.appenders_without_filesystem(&work, &appenders, lane, seed)?;
                let mut alone = trial_run.into_trial(WITHOUT_FILESYSTEM, &work, pass, number);
                alone.groups.iter_mut().for_each(|group| group.histogram = None);
                Some(Box::new(alone))
            }
            false => None,
        };
        let outcome = StepOutcome::Failed;
        let mut step = SearchStep { pass, number, writers, outcome, trial: Box::new(trial), without_filesystem };
        step.outcome = search::outcome_of(&self.record, &step);
        match ran {
            Err(failure) if failure.status != Status::Failed => Err(failure),
            // Data that was lost or changed is written down, and ends the search.
            ran => self.append(Line::Step(Box::new(step))).and(ran),
        }
    }

    fn steps_of(&self, lane: &str, pass: u32) -> u32 {
        self.record.steps.iter().filter(|step| step.trial.lane == lane && step.pass == pass).count() as u32
    }

    fn note_end_of_time(&mut self, pass: u32, passes: u32) -> Result<(), Failure> {
        let said = format!(
            "the search ended in pass {pass} of {passes} because its time was up; go on with --resume and a larger --budget"
        );
        self.append(Line::Note { said })
    }
}

/// Why a lane cannot hold so many writers' records; `None`: it can.
fn too_large(work: &Workload, lane_bytes: u64, venue: &str) -> Option<String> {
    let needed = work.working_set_bytes();
    // Devices and directories have a size of their own, and say themselves when they are full.
    (["image", "uml", "qemu"].contains(&venue) && needed > lane_bytes / 2).then(|| {
        format!(
            "the records would take {}, more than half of the lane; raise --lane-size",
            model::units::human_bytes(needed as f64)
        )
    })
}
