//! What a calibration says, and of which races.

use crate::common;

use common::{io, lane, record, run, small_files};
use model::calibration::Calibration;
use model::plan::{Plan, Rounds};
use model::record::Record;
use model::workload::{Pattern, Workload};
use stats::calibrate::{calibration, covering};

fn work() -> Vec<Workload> {
    vec![io("commit", Pattern::Append, 1, 1), io("random-read", Pattern::RandRead, 32, 0), small_files()]
}

/// Two equal lanes over these workloads.
fn calibrated(workloads: Vec<Workload>, rounds: u32) -> Record {
    let twins = ["a", "b"].map(|name| {
        let mut lane = lane("ext4");
        lane.name = name.into();
        lane
    });
    let mut race = record(twins.to_vec(), workloads, Rounds::Fixed(10_000), false);
    race.header.plan.calibration = true;
    run(&mut race, rounds, &[1000.0; 2], 0.02, 4);
    race
}

/// A race's plan of these workloads.
fn raced(workloads: Vec<Workload>) -> Plan {
    record(vec![lane("ext4"), lane("xfs")], workloads, Rounds::Auto, false).header.plan
}

fn quoted(of: &Record, workloads: Vec<Workload>) -> Option<Calibration> {
    covering(calibration(of).unwrap(), &of.header.plan, &raced(workloads))
}

#[test]
fn a_calibration_speaks_of_work_with_the_same_parameters_alone() {
    let of = calibrated(work(), 60);
    let whole = quoted(&of, work()).unwrap();
    assert_eq!(whole, calibration(&of).unwrap());
    assert!(whole.not_covered.is_empty() && whole.results.iter().all(|result| result.resolves.len() == 3));
    // Another block size is other work, whatever it is called.
    let mut other = work();
    other[0] = io("commit", Pattern::Append, 2, 1);
    let part = quoted(&of, other).unwrap();
    assert_eq!(part.not_covered, ["commit 4 KiB"]);
    assert!(part.results.iter().all(|result| result.workload != "commit" && result.resolves.is_empty()));
    let races = part.results.iter().map(|result| result.races.races).sum::<u32>();
    assert_eq!(part.races.races, races, "its false alarms are those of what it did");
    // A calibration of one workload covers no other; a race of one needs no more.
    let commit = calibrated(work()[..1].to_vec(), 60);
    assert_eq!(quoted(&commit, work()).unwrap().not_covered, ["random-read 4 KiB", "small files"]);
    let one = quoted(&of, work()[..1].to_vec()).unwrap();
    assert!(one.not_covered.is_empty() && one.results.len() == 1 && one.results[0].resolves.is_empty());
    assert_eq!(quoted(&commit, work()[1..].to_vec()), None);
    // Nor is a race judged by the rule of another one.
    let mut plan = raced(work());
    plan.first_answer = true;
    assert_eq!(covering(calibration(&of).unwrap(), &of.header.plan, &plan), None);
}

#[test]
fn a_workload_with_too_few_rounds_is_told_and_takes_nothing_from_the_others() {
    let mut thin = calibrated(work(), 60);
    thin.trials.retain(|trial| trial.workload != "random-read" || trial.round <= 2);
    let of = calibration(&thin).unwrap();
    let known: Vec<bool> = of.results.iter().map(|result| result.deviation.is_some()).collect();
    assert_eq!(known, [true, false, true, true, true]);
    for result in &of.results {
        assert_eq!(result.resolves.len(), 3);
        assert_eq!(result.resolves[2].difference.is_some(), result.deviation.is_some(), "{result:?}");
    }
    // What the time never reached has no rounds, and is not left out.
    thin.trials.retain(|trial| trial.workload != "random-read");
    let of = calibration(&thin).unwrap();
    assert_eq!((of.results.len(), of.results[1].rounds, of.results[1].deviation), (5, 0, None));
    assert!(of.results[0].resolves[2].difference.is_some());
}

#[test]
fn the_groups_of_one_workload_count_as_one() {
    let of = calibration(&calibrated(work(), 60)).unwrap().races;
    assert!(of.races >= 15 && of.worth.is_some_and(|worth| worth < 0.75 * f64::from(of.races)), "{of:?}");
    let alone = calibration(&calibrated(work()[..2].to_vec(), 60)).unwrap().races;
    assert_eq!(alone.worth, None);
}
