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

/// How many comparisons only one side planned.
pub struct LeftOut {
    /// Only the baseline.
    pub of_baseline: usize,
    /// Only the candidate.
    pub of_candidate: usize,
}

/// What both sides planned, in the candidate's order, and what only one did.
pub fn planned<'a>(sides: [&Side<'a>; 2]) -> (Vec<Planned<'a>>, Vec<OneSided>, LeftOut) {
    let [before, after] = sides.map(all_planned);
    let has = |all: &[Planned], one: &Planned| {
        all.iter().any(|of| of.lane == one.lane && of.workload.name == one.workload.name && of.group == one.group)
    };
    let of_baseline = before.iter().filter(|one| !has(&after, one)).count();
    let one_sided = [(true, &before, &after), (false, &after, &before)];
    let one_sided = one_sided.into_iter().flat_map(|(in_baseline, mine, theirs)| {
        let lanes = lanes_of(mine).into_iter().filter(|lane| !theirs.iter().any(|of| of.lane == *lane));
        let lanes = lanes.map(move |lane| OneSided { lane: Some(lane.to_owned()), workload: None, in_baseline });
        let workloads = workloads_of(mine).into_iter();
        let workloads = workloads.filter(|work| !theirs.iter().any(|of| of.workload.name == work.name));
        let workloads =
            workloads.map(move |work| OneSided { lane: None, workload: Some(work.name.clone()), in_baseline });
        lanes.chain(workloads).collect::<Vec<_>>()
    });
    let one_sided = one_sided.collect();
    let of_candidate = after.iter().filter(|one| !has(&before, one)).count();
    let both = after.into_iter().filter(|one| has(&before, one)).collect();
    (both, one_sided, LeftOut { of_baseline, of_candidate })
}

/// Every lane, workload and group that some record of a side planned.
fn all_planned<'a>(side: &Side<'a>) -> Vec<Planned<'a>> {
    let mut all: Vec<Planned> = Vec::new();
    for named in &side.records {
        let header = &named.record.header;
        for workload in &header.plan.workloads {
            for group in workload.groups() {
                for lane in &header.lanes {
                    let known =
                        |of: &Planned| of.lane == lane.name && of.workload.name == workload.name && of.group == group;
                    if !all.iter().any(known) {
                        all.push(Planned { lane: &lane.name, workload, group: group.clone() });
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
