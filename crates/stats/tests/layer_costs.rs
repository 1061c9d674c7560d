//! What layers and several disks cost, from the counters of a record.

use crate::common;

use common::{io, lane, probe, record, run};
use model::plan::Rounds;
use model::record::{LayerProbe, Profile, Record};
use model::trial::{DeviceUse, SystemUse};
use model::workload::Pattern;
use stats::judge;

const ROUNDS: u32 = 6;

/// ext4 on one disk beside ext4 on three as RAID 5, which writes twice the bytes for twice the CPU time.
fn race() -> Record {
    let (plain, mut array) = (lane("ext4"), lane("array"));
    array.filesystem.clone_from(&plain.filesystem);
    array.mkfs_command.clone_from(&plain.mkfs_command);
    (array.layers, array.disks, array.usable_bytes) = (vec!["raid5:3".into()], 3, 4 << 30);
    let mut record = record(vec![plain, array], vec![io("write", Pattern::RandWrite, 8, 0)], Rounds::Auto, true);
    run(&mut record, ROUNDS, &[1000.0, 800.0], 0.0, 1);
    for trial in &mut record.trials {
        let written: u64 = trial.groups.iter().map(|group| group.bytes).sum();
        let is_array = trial.lane == "array";
        let system = &mut trial.system;
        system.cpu_user_seconds = 0.0;
        system.cpu_system_seconds = trial.groups[0].operations as f64 * if is_array { 2e-4 } else { 1e-4 };
        system.device.write_bytes = if is_array { 2 * written } else { written };
        if is_array {
            system.disks =
                [2, 1, 1].map(|part| DeviceUse { write_bytes: written / 2 * part, ..Default::default() }).to_vec();
        }
    }
    record
}

#[test]
fn bytes_at_each_disk_and_cpu_stand_beside_the_same_lane_without_layers() {
    let mut record = race();
    let costs = judge::findings(&record).layers;
    let [of] = &costs[..] else { panic!("{costs:?}") };
    assert_eq!((of.lane.as_str(), of.stands_on.as_str()), ("array", "raid5:3 on 3 disks"));
    assert_eq!((of.disk_bytes, of.usable_bytes), (6 << 30, Some(4 << 30)));
    assert_eq!((of.beside.as_deref(), of.rows), (Some("ext4"), 1));
    let near = |figure: Option<f64>, wanted: f64| assert!((figure.unwrap() - wanted).abs() < 1e-6, "{of:?}");
    let near_alone = |figure: Option<f64>, wanted: f64| assert!((figure.unwrap() - wanted).abs() < 1e-6, "{figure:?}");
    near(of.written_per_byte, 2.0);
    near(of.written_beside, 1.0);
    near(of.cpu_times, 2.0);
    assert_eq!(of.written_by_disk.iter().map(|part| (part * 1e6).round() / 1e6).collect::<Vec<_>>(), [1.0, 0.5, 0.5]);

    // While a disk is rebuilt, bytes and CPU grow with time.
    record.header.lanes[1].layers = vec!["raid5:3,rebuilding".into()];
    assert_eq!(judge::findings(&record).layers, []);
    record.header.lanes[1].layers = vec!["raid5:3".into()];

    // What differs in more than its layers is no lane to stand beside.
    record.header.lanes[0].mount_options.push("data=journal".into());
    let alone = &judge::findings(&record).layers[0];
    assert_eq!((&alone.beside, alone.written_beside, alone.cpu_times, alone.rows), (&None, None, None, 0));
    near_alone(alone.written_per_byte, 2.0);

    // Btrfs's profiles are how it lays disks, and its other options are not.
    let of_btrfs = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
    record.header.lanes[0].mount_options.pop();
    record.header.lanes[0].mkfs_command = of_btrfs(&["mkfs.btrfs", "-f", "{device}"]);
    for (words, beside) in [
        (&["mkfs.btrfs", "-f", "-d", "raid1", "-mraid1", "{device}"][..], Some("ext4")),
        (&["mkfs.btrfs", "-f", "-d", "raid1", "--csum", "sha256", "{device}"], None),
    ] {
        let lane = &mut record.header.lanes[1];
        (lane.layers, lane.usable_bytes, lane.mkfs_command) = (Vec::new(), 0, of_btrfs(words));
        assert_eq!(judge::findings(&record).layers[0].beside.as_deref(), beside, "{words:?}");
    }
}

#[test]
fn lanes_on_one_disk_have_no_costs_and_records_without_counters_no_figures() {
    let mut record = race();
    for trial in &mut record.trials {
        trial.system = SystemUse::default();
    }
    let bare = &judge::findings(&record).layers[0];
    assert_eq!((bare.written_per_byte, bare.written_by_disk.len(), bare.cpu_times), (None, 0, None), "{bare:?}");
    // What layers do alone stands beside a bare disk of the same work and round.
    let rate = |rate: f64| probe("write", Profile::RandWrite, 1, rate);
    record.probes = vec![rate(1000.0), rate(1100.0), rate(1200.0)];
    record.layer_probes = vec![LayerProbe { lane: "array".into(), probe: rate(550.0) }];
    let findings = judge::findings(&record);
    let cost = &findings.layers[0];
    assert!((cost.of_a_bare_disk.unwrap() - 0.5).abs() < 1e-9, "{cost:?}");
    let [of] = &cost.without_filesystem[..] else { panic!("one look") };
    assert_eq!((of.operations_per_second, of.bare_operations_per_second), (550.0, Some(1100.0)));
    record.header.lanes.truncate(1);
    assert_eq!(judge::findings(&record).layers, []);
    // A disk whose queue is set is that disk.
    record.header.lanes[0].layers = vec!["queue,scheduler=none".into()];
    assert_eq!(judge::findings(&record).layers, []);
}
