//! Real programs: each lane alone, step after step, and what they made compared over the lanes.

use super::round::Track;
use super::visit::Visit;
use crate::failure::Failure;
use model::agent::{Part, Request};
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
                self.look(visit)?;
            }
        }
        self.finish(visit)?;
        visit.end_at_cut(&programs.groups());
        Ok(())
    }

    /// What a step made is looked at as the disk has it: the lane is mounted anew before, and what data became on its way
    /// is found. Nothing of it is measured.
    fn look(&mut self, visit: &mut Visit) -> Result<(), Failure> {
        self.step(visit, "verify", |track, visit| {
            visit.checking = true;
            track.make_cold(visit)?;
            let seconds = track.tell(visit.lane, &Request::Verify)?;
            visit.charge("verify", seconds);
            visit.checking = false;
            Ok(())
        })
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
