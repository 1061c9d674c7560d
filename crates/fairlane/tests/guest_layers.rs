//! Races in user-mode Linux on layers below a filesystem and through what lies above it, as an ordinary user.

use super::assert_all_done;
use super::common::assert_one_sentence;
use super::home::Home;
use super::user_mode_linux::user_mode_linux;

/// Small direct writes, and nothing else.
const SMALL_WRITES: &str = r#"
name = "layers"
about = "small direct writes"
[[workload]]
name = "write"
title = "random write"
kind = "io"
rw = "randwrite"
bs = "4KiB"
size = "16MiB"
ioengine = "sync"
direct = true
slices = 2
slice_seconds = 0.1
"#;

/// A file that is read once, cold.
const COLD_READS: &str = r#"
[[workload]]
name = "read"
title = "cold read"
kind = "operations"
[[workload.files]]
name = "large"
count = 4
size = "4MiB"
[[workload.step]]
operation = "create"
files = "large"
sync = "end"
[[workload.step]]
operation = "read"
files = "large"
cold = true
sync = "none"
"#;

/// What a layer writes is a fact of its kind: each copy, and parity with every small write, and a journal's second write.
#[test]
fn layers_stand_under_filesystems_and_their_price_is_seen_at_the_disks() {
    if !user_mode_linux() {
        return;
    }
    let home = Home::new();
    std::fs::write(home.0.path().join("layers.toml"), SMALL_WRITES).unwrap();
    let lanes = ["ext4", "ext4/raid1:2", "five", "ext4/integrity", "ext4/crypt"];
    // On disks this small ext4's blocks are of 1 KiB, and a write across two pages of the array would cost twice as much.
    let typed = lanes.map(|lane| if lane == "five" { "five=ext4,-b4096/raid5:3,chunk=64K" } else { lane });
    let fixed =
        ["race", "--suite", "./layers.toml", "--on", "uml", "--rounds", "1", "--lane-size", "96MiB", "-o", "r.jsonl"];
    home.expect(0, &[&fixed[..], &typed[..]].concat());
    let record = home.record();
    let warned = record.header.warnings.join("\n");
    assert!(warned.contains("what several disks gain by working at once is not"), "{warned}");
    assert_all_done(&record, &lanes, "uml", 1);
    let of = |lane: &str| record.header.lanes.iter().find(|of| of.name == lane).unwrap_or_else(|| panic!("{lane}"));
    assert_eq!((of("ext4").disks, of("ext4/raid1:2").disks, of("five").disks), (1, 2, 3));
    assert_eq!(of("five").layers, ["raid5:3,chunk=64K"]);
    assert!(of("ext4/integrity").promises.data_checksums && !of("ext4").promises.data_checksums);
    let written_per_byte = |lane: &str| {
        let trial = record.trials.iter().find(|trial| trial.lane == lane).unwrap();
        assert_eq!(trial.phases_seconds.contains_key("layers"), lane != "ext4", "{:?}", trial.phases_seconds);
        trial.system.device.write_bytes as f64 / trial.groups[0].bytes as f64
    };
    for (lane, least, most) in [
        ("ext4", 0.9, 1.5),
        ("ext4/crypt", 0.9, 1.5),
        ("ext4/raid1:2", 1.9, 2.6),
        ("five", 1.9, 2.6),
        ("ext4/integrity", 1.0, f64::INFINITY),
    ] {
        let found = written_per_byte(lane);
        assert!((least..most).contains(&found), "{lane}: {found} bytes at the disks per byte written");
    }
    let (json, _) = home.expect(0, &["report", "r.jsonl", "--format", "json"]);
    let findings: model::findings::Findings = serde_json::from_str(&json).unwrap();
    assert_eq!(findings.layers.iter().map(|of| of.lane.as_str()).collect::<Vec<_>>(), lanes[1..]);
    let mirror = &findings.layers[0];
    assert!(mirror.usable_bytes.is_some_and(|usable| usable < 96 << 20), "{mirror:?}");
    assert!((1.9..2.6).contains(&mirror.written_per_byte.unwrap()), "{mirror:?}");
    // Each has the copy of the other.
    let [one, two] = mirror.written_by_disk[..] else { panic!("{mirror:?}") };
    assert!((one / two - 1.0).abs() < 0.1 && one > 0.9, "{mirror:?}");
    assert_eq!(mirror.beside.as_deref(), Some("ext4"));
    // Its layers were looked at without a filesystem too, beside bare disks.
    assert!(!mirror.without_filesystem.is_empty(), "{mirror:?}");
    for of in &mirror.without_filesystem {
        assert!(
            of.operations_per_second > 0.0 && of.bare_operations_per_second.is_some_and(|rate| rate > 0.0),
            "{of:?}"
        );
    }
    // Other options of mkfs than ext4 alone has: nothing to stand beside.
    assert_eq!((findings.layers[1].beside.as_deref(), findings.layers[1].written_by_disk.len()), (None, 3));
    let (text, _) = home.expect(0, &["report", "r.jsonl"]);
    assert!(text.contains("LAYERS") && text.contains("of 192 MiB"), "{text}");
    home.0.assert_nothing_left();
    home.assert_no_process_stays();
}

/// A disk whose queue is set is the same disk: nothing is built, and nothing of it has a price.
#[test]
fn the_queue_of_a_guest_s_disk_is_set_for_a_lane_that_stands_on_that_disk_itself() {
    if !user_mode_linux() {
        return;
    }
    let home = Home::new();
    std::fs::write(home.0.path().join("layers.toml"), SMALL_WRITES).unwrap();
    let lanes = ["ext4", "ext4/queue,read_ahead=4M"];
    let fixed =
        ["race", "--suite", "./layers.toml", "--on", "uml", "--rounds", "1", "--lane-size", "96MiB", "-o", "r.jsonl"];
    home.expect(0, &[&fixed[..], &lanes[..]].concat());
    let record = home.record();
    assert_all_done(&record, &lanes, "uml", 1);
    let [plain, set] = &record.header.lanes[..] else { panic!("{:?}", record.header.lanes) };
    assert!(plain.stands_alike(set) && set.usable_bytes == 0 && record.layer_probes.is_empty(), "{set:?}");
    assert_eq!(set.layers, ["queue,read_ahead=4M"]);
    // Both were formatted by this machine.
    assert_eq!(plain.mkfs_command, set.mkfs_command);
    let (json, _) = home.expect(0, &["report", "r.jsonl", "--format", "json"]);
    let findings: model::findings::Findings = serde_json::from_str(&json).unwrap();
    assert_eq!(findings.layers, []);
    home.0.assert_nothing_left();
    home.assert_no_process_stays();
}

/// NFS hands a commit to the server, and the server to its disk, unless its export is asynchronous.
#[test]
fn work_goes_through_nfs_and_overlays_and_what_answers_before_the_disk_promises_less() {
    if !user_mode_linux() {
        return;
    }
    let home = Home::new();
    let suite = SMALL_WRITES.replace("direct = true", "fdatasync = 1") + COLD_READS;
    std::fs::write(home.0.path().join("above.toml"), suite).unwrap();
    let lanes = [
        "ext4",
        "nfs(ext4)",
        "nfs(ext4),vers=4.1,async",
        "overlay(ext4),volatile",
        "overlay(ext4)",
        "ecryptfs(ext4),names",
    ];
    let fixed =
        ["race", "--suite", "./above.toml", "--on", "uml", "--rounds", "1", "--lane-size", "96MiB", "-o", "r.jsonl"];
    home.expect(0, &[&fixed[..], &lanes[..]].concat());
    let record = home.record();
    assert_all_done(&record, &lanes, "uml", 2);
    let warned = record.header.warnings.join("\n");
    assert!(warned.contains("NFS are one machine") && warned.contains("overlay is empty"), "{warned}");
    for lane in lanes {
        let of = record.header.lanes.iter().find(|of| of.name == lane).unwrap();
        let kept = lane != "nfs(ext4),vers=4.1,async" && lane != "overlay(ext4),volatile";
        assert_eq!((of.filesystem.as_str(), of.promises.fsync_reaches_stable_storage), ("ext4", kept), "{lane}");
        let written = record.trials.iter().find(|trial| trial.lane == lane && trial.workload == "write").unwrap();
        let flushes = written.system.device.flushes as f64 / written.groups[0].operations as f64;
        assert_eq!(flushes > 0.5, kept, "{lane}: {flushes} flushes for a write with its fdatasync");
        // Nothing of it lay in the memory of server or client any more.
        let read = record.trials.iter().find(|trial| trial.lane == lane && trial.workload == "read").unwrap();
        let group = read.groups.iter().find(|group| group.name == "read").unwrap();
        let share = group.system.as_ref().unwrap().device.read_bytes as f64 / group.bytes as f64;
        assert!(share > 0.9, "{lane}: {share} of the bytes came from the disk");
        // What was made without an fsync of its own reached the disk with the sync behind it, and that flushed it.
        let made = read.groups.iter().find(|group| group.name == "create").unwrap();
        let device = &made.system.as_ref().unwrap().device;
        let share = device.write_bytes as f64 / made.bytes as f64;
        assert!(
            !kept || (share > 0.9 && device.flushes > 0),
            "{lane}: {share} of the bytes came to the disk: {device:?}"
        );
    }
    home.0.assert_nothing_left();
    home.assert_no_process_stays();
}

/// A disk that waits 30 ms does so many writes a second, and no more; what stands before it does the others.
#[test]
fn caches_take_the_writes_that_a_slow_disk_could_not_and_those_that_write_back_promise_less() {
    if !user_mode_linux() {
        return;
    }
    let home = Home::new();
    let often = SMALL_WRITES.replace("16MiB", "1MiB").replace("slices = 2", "slices = 4");
    std::fs::write(home.0.path().join("layers.toml"), often.replace("slice_seconds = 0.1", "slice_seconds = 0.5"))
        .unwrap();
    let lanes = [
        "slow=ext4/delay,ms=30",
        "back=ext4/cache:2,mode=writeback,slow=30",
        "write=ext4/writecache:2,slow=30",
        "bcache=ext4/bcache:2,mode=writeback,slow=30",
    ];
    let fixed =
        ["race", "--suite", "./layers.toml", "--on", "uml", "--rounds", "1", "--lane-size", "96MiB", "-o", "r.jsonl"];
    let (out, _) = home.expect(0, &[&fixed[..], &lanes[..]].concat());
    let said = out.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(said.contains("Not ranked against") && said.contains("fsync that outlives a cache's disk"), "{out}");
    let record = home.record();
    assert_all_done(&record, &["slow", "back", "write", "bcache"], "uml", 1);
    for lane in &record.header.lanes {
        let cached = lane.name != "slow";
        assert_eq!((lane.disks, lane.promises.outlives_cache), (if cached { 2 } else { 1 }, !cached), "{}", lane.name);
    }
    for trial in &record.trials {
        let group = &trial.groups[0];
        let of_slow = group.operations as f64 * 0.03 / group.seconds;
        match trial.lane.as_str() {
            "slow" => assert!(of_slow < 1.5, "{of_slow}"),
            lane => assert!(of_slow > 5.0, "{lane}: {of_slow} times the writes of a slow disk"),
        }
    }
    home.0.assert_nothing_left();
    home.assert_no_process_stays();
}

#[test]
fn an_array_that_lacks_a_disk_writes_to_the_others_alone_and_one_that_is_rebuilt_says_how_long_that_takes() {
    if !user_mode_linux() {
        return;
    }
    let home = Home::new();
    std::fs::write(home.0.path().join("layers.toml"), SMALL_WRITES).unwrap();
    let lanes = ["gone=ext4/raid1:2,degraded", "back=ext4/raid1:2,rebuilding"];
    let fixed =
        ["race", "--suite", "./layers.toml", "--on", "uml", "--rounds", "1", "--lane-size", "96MiB", "-o", "r.jsonl"];
    home.expect(0, &[&fixed[..], &lanes[..]].concat());
    let record = home.record();
    assert_all_done(&record, &["gone", "back"], "uml", 1);
    for trial in &record.trials {
        let written = trial.system.device.write_bytes as f64 / trial.groups[0].bytes as f64;
        let flag = trial.flags.iter().find_map(|flag| flag.figures(model::Mark::Rebuilding));
        match trial.lane.as_str() {
            "gone" => assert!((0.9..1.5).contains(&written) && flag.is_none(), "{written}: {flag:?}"),
            _ => assert!(
                flag.is_some_and(|said| said.contains("a rebuild of the whole disk took")),
                "{written}: {flag:?}"
            ),
        }
    }
    home.0.assert_nothing_left();
    home.assert_no_process_stays();
}

#[test]
fn a_state_is_told_to_every_lane_and_btrfs_rebuilds_onto_one_disk_more() {
    if !user_mode_linux() {
        return;
    }
    let home = Home::new();
    std::fs::write(home.0.path().join("layers.toml"), SMALL_WRITES).unwrap();
    let race = ["race", "--suite", "./layers.toml", "--on", "uml", "--rounds", "1", "--lane-size", "640MiB"];
    let lanes = ["ext4/raid1:2", "own=btrfs:2(-d raid1 -m raid1)", "--state", "rebuilding", "-o", "r.jsonl"];
    home.expect(0, &[&race[..], &lanes[..]].concat());
    let record = home.record();
    assert_all_done(&record, &["ext4/raid1:2,rebuilding", "own"], "uml", 1);
    assert_eq!(record.header.lanes.iter().map(|lane| lane.disks).collect::<Vec<_>>(), [2, 3]);
    for trial in &record.trials {
        let flag = trial.flags.iter().find_map(|flag| flag.figures(model::Mark::Rebuilding));
        // Btrfs knows what it holds, and md does not.
        let what = if trial.lane == "own" { "what the disk held" } else { "the whole disk" };
        let told = format!("a rebuild of {what} took");
        assert!(flag.is_some_and(|said| said.contains(&told)), "{}: {flag:?}", trial.lane);
    }
    let (_, err) = home.expect(2, &[&race[..], &["ext4/raid1:2", "xfs", "--state", "degraded"]].concat());
    assert_one_sentence(&err, &["lane xfs", "--state degraded", "leave --state out"]);
    home.0.assert_nothing_left();
    home.assert_no_process_stays();
}

#[test]
fn a_dry_run_names_what_the_filesystem_stands_on_and_where_it_is_mounted_itself() {
    if !user_mode_linux() {
        return;
    }
    let home = Home::new();
    std::fs::write(home.0.path().join("layers.toml"), SMALL_WRITES).unwrap();
    let race = ["race", "ext4", "overlay(ext4/raid1:2)", "--suite", "./layers.toml", "--on", "uml"];
    let (out, err) = home.expect(0, &[&race[..], &["--lane-size", "512MiB", "--dry-run"]].concat());
    let said = format!("{out}{err}");
    let of_lane: Vec<&str> = said.lines().filter(|line| line.starts_with("overlay(ext4/raid1:2): ")).collect();
    let has = |words: &[&str]| of_lane.iter().any(|line| words.iter().all(|word| line.contains(word)));
    assert!(has(&["make raid1 of 2 devices"]) && has(&["mkfs.ext4", "{raid1:2}"]), "{said}");
    assert!(has(&["mount -t ext4", "{raid1:2}", "/below/01"]) && has(&["lay overlayfs", "/lanes/01"]), "{said}");
    home.0.assert_nothing_left();
}
