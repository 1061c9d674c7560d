//! How a race begins: from a new record, or from one that is gone on with.

use super::machine;
use super::race_clock::RaceClock;
use super::raced_lanes::RacedLanes;
use super::record_file::RecordFile;
use super::round::Runner;
use super::slices::Longer;
use super::time::Expected;
use super::wait_idle::quiet_of;
use super::{Race, trial_run};
use crate::failure::Failure;
use model::event::Event;
use model::plan::Plan;
use model::record::{EndOutcome, Line, Record};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::atomic::AtomicBool;

impl<'a> Race<'a> {
    /// A race whose record is open and whose lanes are built; what the record holds was raced already. `expected`: what
    /// each workload will probably take; `keep`: a lane that fails stays as it is; `stop`: Ctrl-C.
    pub fn new(
        (record, file): (Record, RecordFile),
        (lanes, clock): (&'a mut dyn RacedLanes, &'a dyn RaceClock),
        expected: Vec<Expected>,
        (keep, stop): (bool, &'a AtomicBool),
        screen: &'a mut dyn FnMut(&Event),
    ) -> Race<'a> {
        let plan = &record.header.plan;
        Race {
            runner: Runner {
                lanes,
                clock,
                quiet: quiet_of(plan),
                names: record.header.lanes.iter().map(|lane| lane.name.clone()).collect(),
                screen,
                stop,
                keep,
                throttles: plan.throttles().all(),
                slack: None,
                longer: Longer::default(),
                beside: BTreeMap::new(),
                profiling: None,
            },
            raced_before_seconds: raced_seconds(&record),
            begun: clock.now(),
            round_seconds: plan.workloads.iter().map(|workload| round_seconds(&record, &workload.name)).collect(),
            full_round_seconds: plan.workloads.iter().map(|workload| round_seconds(&record, &workload.name)).collect(),
            expected,
            decided: plan.workloads.iter().map(|_| BTreeSet::new()).collect(),
            can_profile: false,
            rounds_done: record.end.is_some_and(EndOutcome::rounds_are_done),
            file,
            record,
        }
    }
}

/// Opens a record to go on with it, by a plan that may have more rounds or another budget.
///
/// # Errors
/// When the file cannot be written.
pub fn go_on_with(mut record: Record, plan: Plan, path: &Path) -> Result<(Record, RecordFile), Failure> {
    let mut file = RecordFile::reopen(path, &record)?;
    let without_passes = record.header.plan.explain && !plan.explain;
    file.append(&[Line::Resume { started: trial_run::now(), boot_id: machine::boot_id(), without_passes }])?;
    record.resumes += 1;
    // Rounds that are all done are gone on with where there is more time for them.
    let same = (plan.budget_seconds, plan.rounds) == (record.header.plan.budget_seconds, record.header.plan.rounds);
    record.end = record.end.filter(|end| end.rounds_are_done() && same);
    record.unreached.clear();
    record.header.plan = plan;
    if without_passes {
        record.header.plan.leave_out_passes();
    }
    Ok((record, file))
}

/// Seconds that the trials and passes of a record took: what a resumed race has spent already.
pub fn raced_seconds(record: &Record) -> f64 {
    let steps = record.steps.iter().map(|step| &*step.trial);
    let trials: f64 = record.trials.iter().chain(steps).flat_map(|trial| trial.phases_seconds.values()).sum();
    trials + record.profiles.iter().map(|profile| profile.pass_seconds).sum::<f64>()
}

/// Seconds that a round of a workload took on average; 0 where none was raced.
pub fn round_seconds(record: &Record, workload: &str) -> f64 {
    let trials = || record.trials.iter().filter(|trial| trial.workload == workload);
    let rounds: BTreeSet<(u32, u32)> = trials().map(|trial| (trial.round, trial.attempt)).collect();
    trials().flat_map(|trial| trial.phases_seconds.values()).sum::<f64>() / rounds.len().max(1) as f64
}
