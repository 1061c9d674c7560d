//! Figures that no disk and no memory can give are told, with what gave them.

mod common;

use common::{io, lane, probe, record, run};
use model::plan::Rounds;
use model::record::{Profile, Record};
use model::trial::Trial;
use model::workload::{Kind, Pattern, Workload};
use stats::judge;

const RAW: f64 = 10_000.0;

/// Two lanes at these rates on a disk of 10,000 operations per second.
fn warnings(workload: &Workload, rates: [f64; 2], change: impl Fn(&mut Record)) -> Vec<model::Sentence> {
    let mut race = record(vec![lane("ext4"), lane("btrfs")], vec![workload.clone()], Rounds::Auto, true);
    run(&mut race, 6, &rates, 0.0, 1);
    let profile = if workload.groups() == ["read"] { Profile::RandRead } else { Profile::RandWrite };
    for round in [1, 3, 5] {
        race.probes.push(probe(&workload.name, profile, round, RAW));
    }
    change(&mut race);
    judge::judge_workload(&race, &workload.name).remove(0).warnings
}

fn of_btrfs(race: &mut Record, change: impl Fn(&mut Trial)) {
    race.trials.iter_mut().filter(|trial| trial.lane == "btrfs").for_each(change);
}

fn read() -> Workload {
    io("random-read", Pattern::RandRead, 32, 0)
}

#[test]
fn what_the_disk_can_do_is_not_doubted() {
    assert_eq!(warnings(&read(), [9_000.0, 11_000.0], |_| ()), [""; 0]);
    // Without a ceiling nothing is known to be above it.
    assert_eq!(warnings(&read(), [9_000.0, 99_000.0], |race| race.probes.clear()), [""; 0]);
}

#[test]
fn reads_above_the_disk_name_compression_where_the_lane_compresses() {
    let said = warnings(&read(), [9_000.0, 30_000.0], |race| {
        race.header.lanes[1].mount_options.push("compress=zstd:1".into());
        of_btrfs(race, |trial| trial.system.device.read_bytes /= 3);
    });
    assert_eq!(said.len(), 1, "{said:?}");
    assert!(said[0].starts_with("btrfs: ") && said[0].contains("more than the bare disk's"), "{said:?}");
    assert!(said[0].contains("compresses, and 33 % of the bytes passed the disk"), "{said:?}");
}

#[test]
fn direct_reads_that_hardly_touch_the_disk_are_those_of_holes() {
    let said =
        warnings(&read(), [9_000.0, 90_000.0], |race| of_btrfs(race, |trial| trial.system.device.read_bytes = 0));
    assert!(
        said[0].contains("hardly a byte passed the disk although O_DIRECT") && said[0].contains("holes"),
        "{said:?}"
    );
}

#[test]
fn buffered_work_above_the_disk_is_the_page_cache() {
    let mut buffered = io("random-write", Pattern::RandWrite, 1, 0);
    if let Kind::Io(io) = &mut buffered.kind {
        io.direct = false;
    }
    let said =
        warnings(&buffered, [9_000.0, 50_000.0], |race| of_btrfs(race, |trial| trial.system.device.write_bytes /= 5));
    assert!(said[0].contains("the page cache did the rest, 20 % of the bytes passed the disk"), "{said:?}");
}

#[test]
fn a_ceiling_that_was_too_low_is_doubted_itself() {
    let said = warnings(&read(), [9_000.0, 15_000.0], |_| ());
    assert!(said[0].contains("all bytes passed it: the ceiling was measured in a slow moment"), "{said:?}");
}

#[test]
fn nothing_is_faster_than_the_memory() {
    let said = warnings(&read(), [9_000.0, 11_000.0], |race| race.header.machine.memory_copy_bytes_per_second = 4e7);
    assert_eq!(said.len(), 1, "{said:?}");
    assert!(said[0].starts_with("btrfs: ") && said[0].contains("more than all CPUs can copy in memory"), "{said:?}");
}
