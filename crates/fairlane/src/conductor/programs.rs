//! Real programs: each lane alone, step after step, and what they made compared over the lanes.

use super::round::Runner;
use super::trial_run::TrialRun;
use crate::failure::Failure;
use model::agent::Part;
use model::programs::{OUTPUT_CHECKSUM, ProgramStep, Programs};
use model::workload::Workload;

impl Runner<'_> {
    /// Lanes do not alternate within a trial: what programs work on lies in memory, once at a time.
    pub(super) fn programs(
        &mut self,
        workload: &Workload,
        programs: &Programs,
        trial_run: &mut TrialRun,
        seed: u64,
        threads: bool,
    ) -> Result<(), Failure> {
        self.open(workload, trial_run, seed)?;
        // Before the first step alone: a wait between steps would write back what a step left, off the clock.
        self.quiet(std::slice::from_mut(trial_run));
        for group in programs.groups() {
            let step = programs.step_named(&group);
            if step.is_some_and(|step| step.cold) && !trial_run.past_cut {
                self.step(trial_run, "cold", |runner, trial_run| runner.make_cold(trial_run))?;
            }
            self.hold(std::slice::from_mut(trial_run))?;
            self.phase(trial_run, &group, Part::WHOLE, threads)?;
            if step.is_some_and(ProgramStep::is_looked_at) && !trial_run.past_cut {
                // As the disk has it: what data became on its way is found.
                self.step(trial_run, "verify", Runner::read_back)?;
            }
        }
        self.finish(trial_run)?;
        trial_run.end_at_cut(&programs.groups());
        Ok(())
    }

    /// The same programs made the same of the same: anything else was changed by a filesystem or a disk.
    pub(super) fn compare_outputs(&self, programs: &Programs, trial_runs: &[TrialRun]) -> Result<(), Failure> {
        for group in programs.groups() {
            let sums: Vec<(usize, f64)> = trial_runs
                .iter()
                .filter(|trial_run| trial_run.sound())
                .filter_map(|trial_run| {
                    let of = trial_run.groups.iter().find(|of| of.name == group)?;
                    Some((trial_run.lane, *of.metrics.get(OUTPUT_CHECKSUM)?))
                })
                .collect();
            if sums.windows(2).all(|two| two[0].1 == two[1].1) {
                continue;
            }
            let each = sums.iter().map(|(lane, sum)| format!("{} {:08x}", self.names[*lane], *sum as u32));
            return Err(Failure::failed(format!(
                "what {group} made differs between the lanes (CRC-32C: {}); a filesystem or a disk lost or changed data",
                each.collect::<Vec<_>>().join(", ")
            )));
        }
        Ok(())
    }
}
