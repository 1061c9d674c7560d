//! What each side of a gate planned: the comparisons, and what only one side has.

use super::Side;
use model::gate::OneSided;
use model::workload::Workload;

/// A lane, workload and group that both sides planned.
pub struct Planned<'a> {
    /// Name of the lane.
    pub lane: &'a str,
    /// The workload, as the first record plans it.
    pub workload: &'a Workload,
    /// Name of the group.
    pub group: String,
}

/// What both sides planned, in the candidate's order, and what only one did.
pub fn planned<'a>(sides: [&Side<'a>; 2]) -> (Vec<Planned<'a>>, Vec<OneSided>) {
    let [before, after] = sides.map(all_planned);
    let one_sided = only_in(&before, &after, true).into_iter().chain(only_in(&after, &before, false)).collect();
    let both = after.into_iter().filter(|one| before.iter().any(|of| of.is(one))).collect();
    (both, one_sided)
}

/// What one side planned and the other did not: whole lanes, then whole workloads, then the rest.
fn only_in(mine: &[Planned], theirs: &[Planned], in_baseline: bool) -> Vec<OneSided> {
    let mut entries: Vec<OneSided> = Vec::new();
    for one in mine.iter().filter(|one| !theirs.iter().any(|of| of.is(one))) {
        let lane_is_new = !theirs.iter().any(|of| of.lane == one.lane);
        let work_is_new = !theirs.iter().any(|of| of.workload.name == one.workload.name);
        let lane = (lane_is_new || !work_is_new).then(|| one.lane.to_owned());
        let workload = (!lane_is_new).then(|| one.workload.name.clone());
        match entries.iter_mut().find(|entry| entry.lane == lane && entry.workload == workload) {
            Some(entry) => entry.comparisons += 1,
            None => entries.push(OneSided { lane, workload, in_baseline, comparisons: 1 }),
        }
    }
    entries
}

impl Planned<'_> {
    fn is(&self, other: &Planned) -> bool {
        self.lane == other.lane && self.workload.name == other.workload.name && self.group == other.group
    }
}

/// Every lane, workload and group that some record of a side planned.
fn all_planned<'a>(side: &Side<'a>) -> Vec<Planned<'a>> {
    let mut all: Vec<Planned> = Vec::new();
    for named in &side.records {
        let header = &named.record.header;
        for workload in &header.plan.workloads {
            for group in workload.groups() {
                for lane in &header.lanes {
                    let one = Planned { lane: &lane.name, workload, group: group.clone() };
                    if !all.iter().any(|of| of.is(&one)) {
                        all.push(one);
                    }
                }
            }
        }
    }
    all
}

/// The workloads, each once.
pub fn workloads_of<'a>(planned: &[Planned<'a>]) -> Vec<&'a Workload> {
    let mut all: Vec<&Workload> = Vec::new();
    for one in planned {
        if !all.iter().any(|of| of.name == one.workload.name) {
            all.push(one.workload);
        }
    }
    all
}

/// The lanes, each once.
pub fn lanes_of<'a>(planned: &[Planned<'a>]) -> Vec<&'a str> {
    let mut all: Vec<&str> = Vec::new();
    for one in planned {
        if !all.contains(&one.lane) {
            all.push(one.lane);
        }
    }
    all
}
