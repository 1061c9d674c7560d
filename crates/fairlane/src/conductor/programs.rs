//! Real programs: each lane alone, step after step, and what they made compared over the lanes.

use super::round::Track;
use super::visit::Visit;
use crate::failure::Failure;
use model::agent::Part;
use model::programs::{OUTPUT_CHECKSUM, ProgramStep, Programs};
use model::workload::Workload;

impl Track<'_> {
    /// Lanes do not alternate within a trial: what programs work on lies in memory, once at a time.
    pub(super) fn programs(
        &mut self,
        workload: &Workload,
        programs: &Programs,
        visit: &mut Visit,
        seed: u64,
        threads: bool,
    ) -> Result<(), Failure> {
        self.open(workload, visit, seed)?;
        // Before the first step alone: a wait between steps would write back what a step left, off the clock.
        self.quiet(std::slice::from_mut(visit));
        for group in programs.groups() {
            let step = programs.step_named(&group);
            if step.is_some_and(|step| step.cold) && !visit.past_cut {
                self.step(visit, "cold", |track, visit| track.make_cold(visit))?;
            }
            self.hold(std::slice::from_mut(visit))?;
            self.phase(visit, &group, Part::WHOLE, threads)?;
            if step.is_some_and(ProgramStep::is_looked_at) && !visit.past_cut {
                // As the disk has it: what data became on its way is found.
                self.step(visit, "verify", Track::read_back)?;
            }
        }
        self.finish(visit)?;
        visit.end_at_cut(&programs.groups());
        Ok(())
    }

    /// The same programs made the same of the same: anything else was changed by a filesystem or a disk.
    pub(super) fn compare_outputs(&self, programs: &Programs, visits: &[Visit]) -> Result<(), Failure> {
        for group in programs.groups() {
            let sums: Vec<(usize, f64)> = visits
                .iter()
                .filter(|visit| visit.sound())
                .filter_map(|visit| {
                    let of = visit.groups.iter().find(|of| of.name == group)?;
                    Some((visit.lane, *of.metrics.get(OUTPUT_CHECKSUM)?))
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
