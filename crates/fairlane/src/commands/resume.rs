//! A record that is taken up again: whether it may be, and what it has spent already.

use crate::conductor::machine;
use crate::failure::Failure;
use crate::state;
use model::lane::Lane;
use model::record::Record;
use model::workload::{Kind, Workload};
use std::path::{Path, PathBuf};

/// A record that is taken up again.
pub struct Resumed {
    /// Where it lies.
    pub path: PathBuf,
    /// What it holds.
    pub record: Record,
}

/// Finds a record and asks whether it may go on here.
///
/// # Errors
/// When there is no such record, it is complete, or it was begun by another version or machine.
pub fn resume(name: &str) -> Result<Resumed, Failure> {
    let path = state::resolve(name)?;
    let record = state::load(&path)?;
    if record.end == Some(model::record::EndOutcome::Complete) {
        return Err(Failure::usage(format!(
            "{} is complete; there is nothing to resume: fairlane report {}",
            path.display(),
            path.display()
        )));
    }
    let version = env!("CARGO_PKG_VERSION");
    if record.header.version != version {
        return Err(Failure::usage(format!(
            "{} was begun by Fairlane {}, this is {version}: their figures do not mix; race again, or use that version",
            path.display(),
            record.header.version
        )));
    }
    let here = machine::read(&record.header.machine.device.name);
    if let Some(difference) = record.header.machine.differs_from(&here) {
        return Err(Failure::usage(format!(
            "{} was begun on {difference}: its rounds cannot be paired with rounds here; race again",
            path.display()
        )));
    }
    for workload in &record.header.plan.workloads {
        check_again(workload).map_err(|what| Failure::usage(format!("{} cannot go on: {what}", path.display())))?;
    }
    Ok(Resumed { path, record })
}

/// A record is a file that somebody may have edited, and resuming may run as root: what it makes the
/// engine or fio do is checked as when it was begun.
fn check_again(workload: &Workload) -> Result<(), String> {
    workload.check()?;
    let Kind::Fio(run) = &workload.kind else { return Ok(()) };
    let surroundings = jobfile::Surroundings {
        read: &|_| Ok(run.text.clone()),
        variable: &|_| None,
        cpus: 1,
        memory_bytes: 0,
        page_bytes: 4096,
    };
    let again = jobfile::for_fio(Path::new(&run.file), &surroundings).map_err(|error| error.to_string())?;
    match again.text == run.text {
        true => Ok(()),
        false => Err("its job file is not as Fairlane writes it; begin again from the job file".to_owned()),
    }
}

/// A resumed race goes on only with lanes that are made as before: an edited file of one's own, a
/// newer mkfs or another disk would pair what is not the same.
///
/// # Errors
/// Names what is no longer the same.
pub fn same_lanes(record: &Record, now: &[Lane], path: &Path) -> Result<(), Failure> {
    let then = &record.header.lanes;
    let differs = then.iter().zip(now).find_map(|(then, now)| {
        let pairs = [
            ("name", then.name == now.name),
            ("mkfs command", then.mkfs_command == now.mkfs_command),
            ("mount options", then.mount_options == now.mount_options),
            ("disk", then.backing == now.backing),
            ("guest's kernel", then.kernel == now.kernel),
            ("promises", then.promises == now.promises),
            ("geometry", then.geometry == now.geometry),
        ];
        let (what, _) = pairs.into_iter().find(|(_, same)| !same)?;
        Some(format!("the {what} of lane {} is no longer what it was", report::clean_text(&then.name)))
    });
    let tools = machine::tool_versions(now, &record.header.plan.workloads) != record.header.machine.tools;
    let differs = differs.or_else(|| tools.then(|| "the versions of the programs used changed".to_owned()));
    match differs {
        Some(what) => Err(Failure::usage(format!("{} cannot go on: {what}; race again", path.display()))),
        None => Ok(()),
    }
}

/// Seconds that the trials of a record took: what a resumed race has spent already.
pub fn raced_seconds(record: &Record) -> f64 {
    let steps = record.steps.iter().map(|step| &*step.trial);
    record.trials.iter().chain(steps).flat_map(|trial| trial.phases_seconds.values()).sum()
}

/// Seconds that a round of a workload took on average; 0 where none was raced.
pub fn round_seconds(record: &Record, workload: &str) -> f64 {
    let trials = || record.trials.iter().filter(|trial| trial.workload == workload);
    let rounds: std::collections::BTreeSet<(u32, u32)> = trials().map(|trial| (trial.round, trial.attempt)).collect();
    trials().flat_map(|trial| trial.phases_seconds.values()).sum::<f64>() / rounds.len().max(1) as f64
}
