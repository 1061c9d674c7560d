//! The lines of a record of power cuts and damage.

use super::sharer::Sharer;
use super::shield::Sort;
use crate::durability::{
    CALLS_OF, Cuts, Damage, DurabilityHeader, DurabilityLane, DurabilityLine, Example, Failed, Fault, Full, Speed,
};
use crate::lane::LaneSpec;

impl Sharer {
    /// Learns the names of its lanes.
    pub(super) fn learn_durability(&mut self, header: &DurabilityHeader) {
        for lane in &header.lanes {
            let spec = lane.spec.parse::<LaneSpec>().ok().filter(|spec| spec.name == lane.name);
            let name = match spec {
                Some(spec) => self.lane_spec(&spec).name,
                None => self.shield.text(&lane.name),
            };
            self.rename(&lane.name, name);
        }
        self.shield.count_anew();
    }

    pub(super) fn durability_line(&mut self, line: &mut DurabilityLine) {
        match line {
            DurabilityLine::Durability(header) => self.durability_header(header),
            DurabilityLine::Cuts(cuts) => self.cuts(cuts),
            DurabilityLine::Failed(Failed { lane, at, reason }) => {
                *lane = self.lane_name(lane);
                self.clean(at);
                self.clean(reason);
            }
            DurabilityLine::Speed(Speed { lane, workload, records_per_second: _ }) => {
                *lane = self.lane_name(lane);
                self.clean(workload);
            }
            DurabilityLine::Damage(damage) => {
                let Damage { lane, of, unmountable, scrub, .. } = &mut **damage;
                *lane = self.lane_name(lane);
                for text in [of, unmountable, scrub] {
                    self.clean(text);
                }
            }
            DurabilityLine::Full(Full { lane, answered, .. }) => {
                *lane = self.lane_name(lane);
                self.clean(answered);
            }
            DurabilityLine::Fault(Fault { lane, of, told, by, unmountable, said, .. }) => {
                *lane = self.lane_name(lane);
                for text in [of, told, by, unmountable, said] {
                    self.clean(text);
                }
            }
            DurabilityLine::End { finished, outcome: _ } => self.clean(finished),
        }
    }

    fn durability_header(&mut self, header: &mut DurabilityHeader) {
        let DurabilityHeader {
            schema: _,
            version,
            command,
            started,
            seed: _,
            again,
            machine,
            lane_bytes: _,
            lanes,
            controls,
        } = header;
        for text in [version, command, started] {
            self.clean(text);
        }
        let specs: Vec<LaneSpec> = lanes.iter().filter_map(|lane| lane.spec.parse().ok()).collect();
        *again = self.command_line(again, &specs);
        self.machine_of(machine);
        for lane in lanes {
            let DurabilityLane { name, spec, filesystem, mkfs_command, mount_options, promises: _ } = lane;
            *name = self.lane_name(name);
            *spec = self.lane_line(spec);
            self.clean(filesystem);
            self.made_and_mounted(mkfs_command, mount_options);
        }
        controls.iter_mut().for_each(|name| *name = self.lane_name(name));
    }

    fn cuts(&mut self, cuts: &mut Cuts) {
        let Cuts { lane, workload, what, examples, complained, .. } = cuts;
        *lane = self.lane_name(lane);
        self.clean(workload);
        let (begin, end) = CALLS_OF;
        *what = match what.strip_prefix(begin).and_then(|rest| rest.strip_suffix(end)) {
            Some(program) => format!("{begin}{}{end}", self.shield.stand_in(Sort::Trace, program)),
            None => self.shield.text(what),
        };
        for Example { cut, acknowledged: _, said, kept } in examples.iter_mut().chain(complained) {
            self.clean(cut);
            self.clean(said);
            if !kept.is_empty() {
                // What makes the image again stays behind.
                self.shield.stand_in(Sort::Path, kept);
                kept.clear();
            }
        }
    }
}
