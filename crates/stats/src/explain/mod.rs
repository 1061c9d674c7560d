//! Where the time of a group went in a lane (method 7): by a profile that was made behind the rounds that count, or by what was
//! counted in them.
//!
//! What callers waited for is told whole: shares of it add up to one, and what no row of the table knows is a share too.

mod causes;
mod counters;
mod differences;
mod headline;
mod passes;
mod shares;

use crate::estimate::median;
use crate::series::Series;
use crate::statements::{explain as statement, names};
use model::Sentence;
use model::findings::{Basis, Explanation, Findings, Limit, Part, ResultFinding};
use model::profile::{Activity, Profile, StackTime, ThreadRole};
use model::record::Record;
use model::workload::Workload;
use shares::Held;
use std::collections::BTreeMap;

pub(crate) use causes::Known;
pub(crate) use passes::refusal;
pub use passes::{is_not_explained, is_partly_explained, nothing_is_explained};

/// Whatever an explanation calls a cause: rows of the table, and what no row tells.
pub fn cause_names() -> impl Iterator<Item = &'static str> {
    causes::names().chain(shares::NAMES)
}

/// What the stacks of one pass mean.
pub(crate) struct Causes(causes::Rows);

impl Causes {
    /// Looks up every function of a pass that is not known.
    pub(crate) fn new<'a>(profile: &'a Profile, known: &mut Known<'a>) -> Causes {
        Causes(causes::Rows::new(profile.symbols.iter().map(String::as_str), known))
    }

    /// The part that the table counts a stack for.
    pub(crate) fn part(&self, stack: &StackTime) -> Part {
        match (stack.frames.is_empty(), stack.activity, stack.role) {
            (true, Activity::Cpu, ThreadRole::Caller) => Part::Fairlane,
            (true, Activity::Cpu, ThreadRole::Filesystem) => Part::FilesystemProcess,
            (true, Activity::Cpu, _) => Part::KernelThreads,
            (true, Activity::Wait, _) => Part::NotExplained,
            (false, ..) => self.0.find(stack.activity, &stack.frames).map_or(Part::NotExplained, |cause| cause.part),
        }
    }
}

/// Explains a record: each result by its profiles, and lanes without one by the counters of their rounds; and why passes are
/// missing.
pub(crate) fn set(record: &Record, findings: &mut Findings) {
    explain_results(record, &mut findings.results);
    findings.unexplained = passes::missing(record);
}

fn explain_results(record: &Record, results: &mut [ResultFinding]) {
    let mut series: BTreeMap<String, Series> = BTreeMap::new();
    let mut known = Known::default();
    for result in results {
        let Some(workload) = record.header.plan.workloads.iter().find(|of| of.name == result.workload) else {
            continue;
        };
        let series = series.entry(result.workload.clone()).or_insert_with(|| Series::new(record, &result.workload));
        // In the order of the lanes.
        let reached = matches!(result.limit, Limit::Device | Limit::OwnDisk | Limit::WriteAmplification);
        let mut missing: Vec<(Sentence, Vec<&str>)> = Vec::new();
        result.explanations.clear();
        for lane in &record.header.lanes {
            let of_group = (result.group.as_str(), reached);
            let found = match profiled(record, series, &mut known, workload, &lane.name, of_group) {
                Some(found) => Ok(found),
                // What failed in a lane, or was never raced there, is told of by its figures.
                None => match series.lanes.iter().find(|of| of.lane.name == lane.name && !of.ok.is_empty()) {
                    Some(of) => {
                        let is_held = reached && record.header.plan.throttle_of(&lane.name).is_some();
                        counters::explain(series, of, workload, &result.group, is_held)
                    }
                    None => continue,
                },
            };
            let why = match found {
                Ok(found) => {
                    result.explanations.push(found);
                    continue;
                }
                Err(why) => why,
            };
            match missing.iter_mut().find(|(known, _)| *known == why) {
                Some((_, lanes)) => lanes.push(&lane.name),
                None => missing.push((why, vec![&lane.name])),
            }
        }
        let missing = missing.into_iter().map(|(why, lanes)| statement::not_explained_in(names(lanes), why));
        result.unexplained = missing.collect();
        let profiled = result.explanations.iter().filter(|of| of.basis == Basis::Profile).cloned();
        result.explained = differences::sentences(&profiled.collect::<Vec<_>>(), result.reference.as_deref());
        result.headline = headline::headline(result);
    }
}

/// What the pass of one group in one lane tells; a resumed race may have profiled twice, and the last one counts.
/// `reached`: the limits of a throttle, if there is one.
fn profiled<'a>(
    record: &'a Record,
    series: &Series,
    known: &mut Known<'a>,
    workload: &Workload,
    lane: &str,
    (group, reached): (&str, bool),
) -> Option<Explanation> {
    let of_result = |profile: &&Profile| {
        profile.workload == workload.name
            && profile.lane == lane
            && (profile.group == group || profile.group.is_empty())
    };
    let profile = record.profiles.iter().rfind(of_result)?;
    let is_held = record.header.plan.throttle_of(lane).is_some();
    let held = if is_held { Held::Throttled { reached } } else { Held::Free };
    let found = shares::explain(profile, known, (workload, group), held)?;
    // Groups that share a window share its profile, and their rates add up.
    let groups = if profile.group.is_empty() { workload.groups() } else { vec![group.to_owned()] };
    let rates = groups.iter().filter_map(|group| unprofiled(series, group, lane));
    let rate = Some(rates.sum::<f64>()).filter(|rate| *rate > 0.0);
    Some(Explanation { unprofiled_operations_per_second: rate, ..found })
}

/// The rate of the rounds that count, the median over them.
fn unprofiled(series: &Series, group: &str, lane: &str) -> Option<f64> {
    let of_lane = series.lanes.iter().find(|of| of.lane.name == lane)?;
    median(of_lane.figures(group, "operations_per_second").into_iter().map(|(_, rate)| rate))
}
