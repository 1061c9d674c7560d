//! What limits lanes on several disks of one's own, beside what each of these does alone.

use crate::common;

use common::{io, lane, probe, record, run};
use model::findings::{Limit, Verdict};
use model::lane::Lane;
use model::machine::Device;
use model::plan::Rounds;
use model::record::{Probe, Profile, Record};
use model::trial::{DeviceUse, Trial};
use model::workload::{Pattern, Workload};
use stats::judge;
use stats::limit::limit_of;

/// What each disk does alone.
const BARE: f64 = 1000.0;

fn random_read() -> Workload {
    io("random-read", Pattern::RandRead, 32, 0)
}

/// A part of what was done at all disks.
fn part(of: &DeviceUse, share: f64) -> DeviceUse {
    DeviceUse {
        reads: (of.reads as f64 * share) as u64,
        read_bytes: (of.read_bytes as f64 * share) as u64,
        ..DeviceUse::default()
    }
}

/// Two lanes on two disks, each lane with this share of its work on its first one.
fn race(rates: [f64; 2], on_first: [f64; 2]) -> Record {
    let mut lanes = vec![lane("ext4"), lane("xfs")];
    lanes.iter_mut().for_each(|lane| (lane.venue, lane.disks) = ("device".into(), 2));
    let mut race = record(lanes, vec![random_read()], Rounds::Auto, true);
    race.header.machine.further_disks = vec![Device::default()];
    run(&mut race, 6, &rates, 0.0, 1);
    for trial in &mut race.trials {
        let share = on_first[usize::from(trial.lane == "xfs")];
        trial.system.disks = vec![part(&trial.system.device, share), part(&trial.system.device, 1.0 - share)];
    }
    race.probes = (1..=2).map(|disk| of_disk(disk, BARE)).collect();
    race
}

fn of_disk(disk: u32, rate: f64) -> Probe {
    Probe { disk: Some(disk), ..probe("random-read", Profile::RandRead, 1, rate) }
}

fn uses(race: &Record) -> Vec<Option<f64>> {
    let of_lanes = limit_of(race, &random_read(), "read").device_use;
    of_lanes.into_iter().map(|share| share.map(|share| (share * 100.0).round() / 100.0)).collect()
}

#[test]
fn a_lane_is_as_near_to_its_disks_as_the_busiest_of_them() {
    // Striped alike over both, and full: the disks were measured.
    let striped = race([1980.0, 1960.0], [0.5, 0.5]);
    assert_eq!(uses(&striped), [Some(0.99), Some(0.98)]);
    let of = limit_of(&striped, &random_read(), "read");
    assert_eq!(of.limit, Limit::Device, "{}", of.reason);

    // One reads a single disk of its mirror, the other both: each filled what it used, so the layout is what differs.
    let layouts = race([1980.0, 990.0], [0.5, 1.0]);
    assert_eq!(uses(&layouts), [Some(0.99), Some(0.99)]);
    let of = limit_of(&layouts, &random_read(), "read");
    assert_eq!(of.limit, Limit::OwnDisk, "{}", of.reason);
    assert!(of.reason.contains("ext4 2 disks of ") && of.reason.contains("xfs 2 disks of "), "{}", of.reason);
    let pair = &judge::findings(&layouts).results[0].pairs[0];
    assert_eq!((pair.a.as_str(), pair.verdict), ("xfs", Verdict::Slower), "{pair:?}");

    // Half of what one disk does is left, at whatever sum.
    let idle = race([1000.0, 1000.0], [0.5, 0.5]);
    assert_eq!(uses(&idle), [Some(0.5), Some(0.5)]);
    assert_ne!(limit_of(&idle, &random_read(), "read").limit, Limit::Device);

    // Beyond what it does alone no disk goes.
    let beyond = limit_of(&race([2400.0, 1960.0], [0.5, 0.5]), &random_read(), "read");
    assert_eq!(beyond.impossible, [true, false]);
}

#[test]
fn a_lane_on_one_disk_and_one_on_two_filled_different_disks() {
    let mut mixed = race([990.0, 1980.0], [1.0, 0.5]);
    mixed.header.lanes[0].disks = 1;
    mixed.trials.iter_mut().filter(|trial| trial.lane == "ext4").for_each(|trial| trial.system.disks.clear());
    mixed.probes.push(probe("random-read", Profile::RandRead, 1, BARE));
    assert_eq!(uses(&mixed), [Some(0.99), Some(0.99)]);
    let of = limit_of(&mixed, &random_read(), "read");
    assert_eq!(of.limit, Limit::OwnDisk, "{}", of.reason);
    let pair = &judge::findings(&mixed).results[0].pairs[0];
    assert_eq!((pair.a.as_str(), pair.verdict), ("xfs", Verdict::Faster), "{pair:?}");
    // Other disks say nothing of the one that is shown.
    mixed.probes[0].operations_per_second *= 4.0;
    let shown = judge::ceilings(&mixed);
    assert_eq!((shown.len(), shown[0].probes, shown[0].operations_per_second), (1, 1, BARE), "{shown:?}");
    mixed.probes[0].operations_per_second /= 4.0;
    // With ceilings that scatter neither is it one disk that both filled.
    mixed.probes.extend([960.0, 985.0, 1015.0, 1040.0].map(|rate| probe("random-read", Profile::RandRead, 3, rate)));
    assert_eq!(limit_of(&mixed, &random_read(), "read").limit, Limit::OwnDisk);
}

#[test]
fn where_the_disks_tell_no_ceiling_there_is_none() {
    let known = race([1980.0, 1960.0], [0.5, 0.5]);
    assert_eq!(uses(&known), [Some(0.99), Some(0.98)]);
    let changed = |change: &dyn Fn(&mut Record)| {
        let mut race = known.clone();
        change(&mut race);
        uses(&race)
    };
    let writes_too = |trial: &mut Trial| {
        for disk in &mut trial.system.disks {
            (disk.writes, disk.write_bytes) = (disk.reads / 4, disk.read_bytes / 4);
        }
    };
    let on_an_image = |lane: &mut Lane| lane.venue = "image".into();
    let uncounted = |trial: &mut Trial| trial.system.disks.clear();
    let of_one = |probe: &mut Probe| probe.disk = None;
    for (what, uses) in [
        ("nothing was measured", changed(&|race| race.probes.clear())),
        ("one of them alone was", changed(&|race| race.probes.truncate(1))),
        ("they differ", changed(&|race| race.probes[1] = of_disk(2, 1.2 * BARE))),
        ("images lie on one disk", changed(&|race| race.header.lanes.iter_mut().for_each(on_an_image))),
        ("parts of one disk", changed(&|race| race.header.machine.further_disks.clear())),
        ("disks that also write", changed(&|race| race.trials.iter_mut().for_each(writes_too))),
        ("nobody counted disk by disk", changed(&|race| race.trials.iter_mut().for_each(uncounted))),
        ("what lanes on one disk have", changed(&|race| race.probes.iter_mut().for_each(of_one))),
    ] {
        assert_eq!(uses, [None, None], "{what}");
    }
    let rebuilt = changed(&|race| race.header.lanes[0].mount_options.push("rebuilding".into()));
    assert_eq!(rebuilt, [None, Some(0.98)], "a disk that is rebuilt does more than the work");
}
