//! Lanes that sent direct writes through the page cache are told, and nobody is who did not.

mod common;

use common::{io, lane, record, run};
use model::findings::ResultFinding;
use model::plan::Rounds;
use model::record::Record;
use model::workload::{Kind, Pattern, Workload};
use stats::judge;

fn overwrite(direct: bool) -> Workload {
    let mut workload = io("random-write", Pattern::RandWrite, 32, 0);
    let Kind::Io(io) = &mut workload.kind else { unreachable!("it is block I/O") };
    io.direct = direct;
    workload
}

/// ext4, btrfs and xfs, six rounds; dirtied bytes per byte written, of each round.
fn race(workload: &Workload, shares: [[f64; 6]; 3]) -> Record {
    let names = ["ext4", "btrfs", "xfs"];
    let mut race = record(names.map(lane).to_vec(), vec![workload.clone()], Rounds::Auto, true);
    for lane in &mut race.header.lanes {
        lane.filesystem = lane.name.clone();
    }
    run(&mut race, 6, &[60_000.0, 6_000.0, 60_000.0], 0.01, 1);
    for trial in &mut race.trials {
        let at = names.iter().position(|name| *name == trial.lane).expect("a lane");
        let written: u64 = trial.groups.iter().map(|group| group.bytes).sum();
        trial.system.dirtied_bytes = Some((written as f64 * shares[at][trial.round as usize - 1]) as u64);
    }
    race
}

fn only(race: &Record) -> ResultFinding {
    judge::findings(race).results.remove(0)
}

const DIRECT: [f64; 6] = [0.0, 0.01, 0.02, 0.0, 0.01, 0.0];
const BUFFERED: [f64; 6] = [1.0, 1.02, 1.0, 1.0, 1.01, 1.0];

#[test]
fn who_buffers_is_named_in_the_result_its_answer_and_a_warning() {
    let race = race(&overwrite(true), [DIRECT, BUFFERED, DIRECT]);
    let found = only(&race);
    assert_eq!(found.buffered, ["btrfs"]);
    let shares: Vec<_> = found.estimates.iter().map(|of| of.page_cache_share.map(|share| share.round())).collect();
    assert_eq!(shares, [Some(0.0), Some(1.0), Some(0.0)]);
    let warning = found.warnings.iter().map(|said| String::from(said.clone())).find(|said| said.contains("O_DIRECT"));
    let warning = warning.expect("a warning");
    assert!(
        warning.starts_with("btrfs: 100 % of what was written with O_DIRECT") && warning.contains("nodatasum"),
        "{warning}"
    );
    let answer = judge::findings(&race).answer.expect("an answer");
    assert!(!answer.reasons.is_empty());
    for reason in &answer.reasons {
        let about = reason.lane == "btrfs" || reason.against == "btrfs";
        assert_eq!(reason.buffers.as_deref(), about.then_some("btrfs"), "{reason:?}");
    }
}

#[test]
fn a_round_in_which_others_wrote_makes_nobody_one_who_buffers() {
    let disturbed = [1.9, 3.0, 0.01, 1.1, 7.5, 0.9];
    let found = only(&race(&overwrite(true), [disturbed, BUFFERED, DIRECT]));
    assert_eq!(found.buffered, ["btrfs"]);
}

#[test]
fn where_all_buffer_none_stands_apart_and_each_is_told() {
    let found = only(&race(&overwrite(true), [BUFFERED; 3]));
    assert_eq!(found.buffered, Vec::<String>::new());
    let told = found.warnings.iter().filter(|said| String::from((*said).clone()).contains("O_DIRECT")).count();
    assert_eq!(told, 3);
}

#[test]
fn buffered_work_reads_and_kernels_that_do_not_tell_are_left_alone() {
    let buffered = only(&race(&overwrite(false), [BUFFERED; 3]));
    let mut reads = io("random-read", Pattern::RandRead, 32, 0);
    let Kind::Io(io) = &mut reads.kind else { unreachable!("it is block I/O") };
    io.direct = true;
    let reads = only(&race(&reads, [BUFFERED; 3]));
    let mut untold = race(&overwrite(true), [BUFFERED; 3]);
    untold.trials.iter_mut().for_each(|trial| trial.system.dirtied_bytes = None);
    for found in [buffered, reads, only(&untold)] {
        assert!(found.buffered.is_empty() && found.estimates.iter().all(|of| of.page_cache_share.is_none()));
        assert!(found.warnings.iter().all(|said| !String::from(said.clone()).contains("O_DIRECT")));
    }
}
