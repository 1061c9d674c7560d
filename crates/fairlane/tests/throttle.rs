//! `--throttle`: the same emulated disk for every lane, or one of its own for each, on real filesystems.

mod common;
mod throttle_disks;

use common::{Place, assert_one_sentence, root, tool};
use rustix::process::{Pid, Signal, kill_process};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::{PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};
use std::time::{Duration, Instant};

/// Sequential and random I/O, and small files that are written back by the kernel's own threads.
const SUITE: &str = include_str!("fixtures/disk.toml");

/// Races whose rates or verdicts are looked at run alone (`write`); those that look at what is held, void
/// or left behind run side by side (`read`).
static RACES: RwLock<()> = RwLock::new(());

/// The root group of blkio; without it the reason is printed and the test counts as skipped.
fn blkio() -> Option<PathBuf> {
    if !root() {
        return None;
    }
    let path = Path::new("/sys/fs/cgroup/blkio");
    if !path.join("blkio.throttle.read_bps_device").exists() {
        eprintln!("skipped: blkio of cgroup v1 is not mounted at {}", path.display());
        return None;
    }
    Some(path.to_owned())
}

// A test that failed has its own message, so a poisoned lock is taken all the same.
fn alone() -> RwLockWriteGuard<'static, ()> {
    RACES.write().unwrap_or_else(PoisonError::into_inner)
}

fn beside_others() -> RwLockReadGuard<'static, ()> {
    RACES.read().unwrap_or_else(PoisonError::into_inner)
}

fn suite(place: &Place) -> String {
    let path = place.path().join("disk.toml");
    std::fs::write(&path, SUITE).unwrap();
    path.to_string_lossy().into_owned()
}

fn lines(path: &Path) -> Vec<serde_json::Value> {
    let text = std::fs::read_to_string(path).expect("record");
    text.lines().map(|line| serde_json::from_str(line).expect("a line of JSON")).collect()
}

/// Every limit that stands on a loop device over a file of this place, and those of devices that no
/// file is attached to any more but were this place's.
fn limits_on(blkio: &Path, devices: &[String]) -> Vec<String> {
    let mut found = Vec::new();
    for name in ["read_bps", "write_bps", "read_iops", "write_iops"] {
        let text = std::fs::read_to_string(blkio.join(format!("blkio.throttle.{name}_device"))).unwrap();
        let ours = |line: &&str| devices.iter().any(|device| line.starts_with(&format!("{device} ")));
        found.extend(text.lines().filter(ours).map(|line| format!("{name} {line}")));
    }
    found
}

/// Lifts every limit that stands on these devices; answers how many there were.
fn lift(blkio: &Path, devices: &[String]) -> usize {
    let limits = limits_on(blkio, devices);
    for limit in &limits {
        let mut words = limit.split(' ');
        let (name, device) = (words.next().unwrap(), words.next().unwrap());
        std::fs::write(blkio.join(format!("blkio.throttle.{name}_device")), format!("{device} 0\n")).unwrap();
    }
    limits.len()
}

/// Major and minor numbers of the loop devices over files of this place.
fn numbers(place: &Place) -> Vec<String> {
    let of = |line: &String| {
        let name = line.split(' ').next().unwrap().to_owned();
        std::fs::read_to_string(format!("/sys/class/block/{name}/dev")).unwrap().trim().to_owned()
    };
    common::loops_under(&place.path().to_string_lossy()).iter().map(of).collect()
}

#[test]
fn three_filesystems_tie_on_random_reads_of_an_emulated_disk() {
    let Some(_) = blkio() else { return };
    let _turn = alone();
    let place = Place::new();
    let suite = suite(&place);
    let race = ["race", "ext4", "xfs", "btrfs", "--suite", &suite, "--workload", "random-read", "--rounds", "4"];
    let disk = ["--lane-size", "320MiB", "--throttle", "20MiB/s,2000iops", "-o"];
    // A lane that the machine stops for a while keeps its disk less busy than that, and the report says so: raced anew.
    let mut is_settled = false;
    for attempt in 1..=5 {
        let record = format!("{attempt}.jsonl");
        let (out, _) = place.expect(0, &[&race[..], &disk, &[&record]].concat());
        let (json, _) = place.expect(0, &["report", &record, "--format", "json"]);
        let findings: serde_json::Value = serde_json::from_str(&json).unwrap();
        let result = &findings["results"][0];
        if !all_ran_at_the_device(result) {
            continue;
        }
        // Whether the three tie is a matter of how wide their intervals are.
        assert!(out.contains("IOPS  the disk"), "{out}");
        let (text, _) = place.expect(0, &["report", &record]);
        assert!(text.contains("all at the disk's own"), "{text}");
        assert_eq!(result["limit"], "device", "{result:#}");
        for pair in result["pairs"].as_array().unwrap() {
            // A tie says so as well as a pair without a verdict; what else differs (checksums) follows.
            let why = pair["why"].as_str().unwrap_or_default();
            assert!(why.starts_with("the device was measured, not the filesystem"), "{pair:#}");
            assert!((0.9..1.1).contains(&pair["ratio"].as_f64().unwrap()), "{pair:#}");
        }
        is_settled = true;
        break;
    }
    assert!(is_settled, "in five races some lane never came to the limits of its disk");
    place.assert_nothing_left();
}

/// Whether all lanes ran at their device, as at least one always does. No verdict tells them apart in either case.
fn all_ran_at_the_device(result: &serde_json::Value) -> bool {
    let estimates = result["estimates"].as_array().unwrap();
    let ran = |of: &serde_json::Value| of["device_use"].as_f64().unwrap() >= AT_THE_DEVICE;
    assert!(estimates.iter().any(ran), "{result:#}");
    for pair in result["pairs"].as_array().unwrap() {
        assert!(pair["verdict"] != "faster" && pair["verdict"] != "slower", "{pair:#}");
    }
    estimates.iter().all(ran)
}

/// The share of its ceiling from which on a lane ran at its device (method 3.2, rule 4).
const AT_THE_DEVICE: f64 = 0.95;

/// Whether the kernel's clock showed CPU time in at least two lanes of `workload`.
fn ranked_by_cpu(record: &[serde_json::Value], workload: &str) -> bool {
    let busy = |trial: &&serde_json::Value| {
        let of = |name: &str| trial["system"][name].as_f64().unwrap();
        of("cpu_user_seconds") + of("cpu_system_seconds") > 0.0
    };
    let ok = |trial: &&serde_json::Value| {
        trial["kind"] == "trial" && trial["workload"] == workload && trial["outcome"] == "ok"
    };
    record.iter().filter(ok).filter(busy).count() >= 2
}

/// No window of a trial did more than 20 MiB/s and 2000 IOPS allow; answers how many windows were looked at.
fn assert_within_limits(trial: &serde_json::Value) -> u32 {
    let mut counted = 0;
    let own: Vec<&serde_json::Value> =
        trial["groups"].as_array().unwrap().iter().map(|group| &group["system"]).filter(|of| of.is_object()).collect();
    for system in if own.is_empty() { vec![&trial["system"]] } else { own } {
        counted += 1;
        let figure = |name: &str| system["device"][name].as_f64().unwrap();
        let seconds = system["window_seconds"].as_f64().unwrap();
        // 2 %, and the two bursts that an idle device is given in each window.
        let allowed = 1.02 * seconds + 0.2 * system["windows"].as_f64().unwrap();
        for (name, limit) in
            [("read_bytes", 20.0 * 1048576.0), ("write_bytes", 20.0 * 1048576.0), ("reads", 2000.0), ("writes", 2000.0)]
        {
            assert!(figure(name) <= limit * allowed, "{name} in {seconds} s:\n{trial:#}");
        }
    }
    counted
}

#[test]
fn three_filesystems_are_held_to_one_disk_and_none_is_told_apart() {
    let Some(_) = blkio() else { return };
    let _turn = alone();
    let place = Place::new();
    let suite = suite(&place);
    let (out, _) = place.expect(
        0,
        &[
            "race",
            "ext4",
            "xfs",
            "btrfs",
            "--suite",
            &suite,
            "--rounds",
            "1",
            "--lane-size",
            "320MiB",
            "--throttle",
            "20MiB/s,2000iops",
            "-o",
            "r.jsonl",
        ],
    );
    assert!(out.contains("an emulated disk: every lane's device is held to 20MiB/s,2000iops"), "{out}");
    let record = lines(&place.path().join("r.jsonl"));
    let header = &record[0];
    assert_eq!(header["plan"]["throttle"]["read_iops"], 2000);
    let mut counted = 0;
    for trial in record.iter().filter(|line| line["kind"] == "trial" && line["outcome"] == "ok") {
        counted += assert_within_limits(trial);
    }
    assert!(counted >= 3 * 5, "every lane did every workload at least once: {counted}");
    // Populating is not throttled: 30 MiB at 20 MiB/s would take a second and a half.
    let probes: Vec<&serde_json::Value> =
        record.iter().filter(|line| line["kind"] == "probe" && line["profile"] == "rand-read").collect();
    assert!(!probes.is_empty());
    for probe in probes {
        let reads = probe["system"]["device"]["reads"].as_f64().unwrap();
        let allowed = 1.02 * probe["system"]["window_seconds"].as_f64().unwrap() + 0.4;
        assert!(reads <= 2000.0 * allowed, "the ceiling is that of the emulated disk: {probe:#}");
    }
    let (json, _) = place.expect(0, &["report", "r.jsonl", "--format", "json"]);
    let findings: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(findings["throttle"]["write_bytes_per_second"], 20 << 20);
    for workload in ["read", "random-read"] {
        let results = findings["results"].as_array().unwrap();
        let result = results.iter().find(|result| result["workload"] == workload).unwrap();
        // One round: a lane that the machine stopped for a moment kept its disk less busy than that, and the report says so.
        if !all_ran_at_the_device(result) {
            continue;
        }
        assert_eq!(result["limit"], "device", "{result:#}");
        let reason = result["limit_reason"].as_str().unwrap();
        assert!(reason.contains("the emulated disk's 20MiB/s,2000iops"), "{reason}");
        assert!(reason.contains("cannot tell these filesystems apart"), "{reason}");
        // A fast CPU spends less on so little work than a tick of the kernel's clock shows: nothing to rank by.
        assert_eq!(reason.contains("; by CPU per operation: "), ranked_by_cpu(&record, workload), "{reason}");
    }
    let (text, _) = place.expect(0, &["report", "r.jsonl"]);
    assert!(text.contains("--throttle 20MiB/s,2000iops"), "AGAIN runs it on the same disk:\n{text}");
    place.assert_nothing_left();
}

#[test]
fn sigkill_leaves_limits_that_the_next_command_lifts() {
    let Some(blkio) = blkio() else { return };
    let _turn = beside_others();
    let place = Place::new();
    let suite = suite(&place);
    let mut command = place.fairlane(&[
        "race",
        "ext4",
        "xfs",
        "--suite",
        &suite,
        "--workload",
        "random-read",
        "--rounds",
        "2",
        "--lane-size",
        "320MiB",
        "--throttle",
        "20MiB/s,2000iops",
        "-o",
        "r.jsonl",
    ]);
    command.env("FAIRLANE_HOLD", "measure").stdout(std::process::Stdio::null()).stderr(std::process::Stdio::null());
    let mut child = command.spawn().expect("fairlane starts");
    let begun = Instant::now();
    let stopped = || {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", child.id())).unwrap_or_default();
        stat.rsplit(") ").next().unwrap_or_default().starts_with('T')
    };
    while !stopped() {
        assert!(begun.elapsed() < Duration::from_secs(120), "the race never came to its measured work");
        std::thread::sleep(Duration::from_millis(5));
    }
    let devices = numbers(&place);
    assert_eq!(devices.len(), 2);
    assert_eq!(limits_on(&blkio, &devices).len(), 8, "both lanes are held in all four quantities");
    kill_process(Pid::from_raw(child.id() as i32).unwrap(), Signal::KILL).expect("SIGKILL");
    child.wait().expect("it is gone");
    assert_eq!(limits_on(&blkio, &devices).len(), 8, "a limit outlives whoever set it");
    let (_, err) = place.expect(0, &["records"]);
    assert!(err.contains("lifted the limit of /dev/loop"), "{err}");
    assert_eq!(limits_on(&blkio, &devices), Vec::<String>::new());
    place.assert_nothing_left();
    // The race goes on, on the same disk.
    place.expect(0, &["race", "--resume", "r.jsonl", "--quiet"]);
    let record = lines(&place.path().join("r.jsonl"));
    let trials: Vec<_> = record.iter().filter(|line| line["kind"] == "trial" && line["outcome"] == "ok").collect();
    // A round whose limit did not hold, because the machine paused, is void and made up for.
    for lane in ["ext4", "xfs"] {
        assert!(trials.iter().filter(|trial| trial["lane"] == lane).count() >= 2, "{lane}: {record:#?}");
    }
    for trial in trials {
        let seconds = trial["system"]["window_seconds"].as_f64().unwrap();
        let reads = trial["system"]["device"]["reads"].as_f64().unwrap();
        assert!(reads <= 2000.0 * (1.02 * seconds + 0.4), "{trial:#}");
    }
    assert_eq!(limits_on(&blkio, &devices), Vec::<String>::new());
    place.assert_nothing_left();
}

#[test]
fn what_cannot_be_emulated_is_refused_in_one_sentence() {
    let place = Place::new();
    let suite = place.tiny_suite();
    for (limits, says) in [
        ("fast", "`fast` is no limit of a disk"),
        ("8050iops,8050iops", "read requests are limited twice"),
        ("5iops", "outside of what can be emulated"),
    ] {
        let (_, err) = place.expect(2, &["race", "ext4", "xfs", "--throttle", limits]);
        assert_one_sentence(&err, &[says]);
    }
    for (options, says) in [
        (vec!["less:2000iops"], vec!["a lane `less`", "ext4, xfs"]),
        (vec!["xfs:2000iops", "xfs:1000iops"], vec!["twice for lane xfs", "ext4, xfs"]),
        (vec!["2000iops", "xfs:1000iops", "3000iops"], vec!["twice without a lane", "ext4, xfs"]),
        (vec!["xfs:fast"], vec!["lane xfs: `fast` is no limit of a disk"]),
    ] {
        let options: Vec<&str> = options.into_iter().flat_map(|option| ["--throttle", option]).collect();
        let (_, err) = place.expect(2, &[&["race", "ext4", "xfs"][..], &options].concat());
        assert_one_sentence(&err, &says);
    }
    let (_, err) = place.expect(2, &["calibrate", "ext4", "--throttle", "ext4:2000iops"]);
    assert_one_sentence(&err, &["both stand on one disk"]);
    let (_, err) = place.expect(2, &["race", "--resume", "last", "--throttle", "20MiB/s"]);
    assert!(err.contains("--throttle") && err.contains("--resume"), "{err}");
    let folder = place.path().join("d");
    std::fs::create_dir(&folder).unwrap();
    let lane = folder.to_str().unwrap();
    let (_, err) = place.expect(2, &["race", lane, "--suite", &suite, "--throttle", "20MiB/s"]);
    assert_one_sentence(&err, &["shares its disk with everything else there", "--on"]);
    if root() {
        let (_, err) = place.expect(2, &["race", "tmpfs", "ext4", "--suite", &suite, "--throttle", "20MiB/s"]);
        assert_one_sentence(&err, &["lane tmpfs", "in memory"]);
    }
    place.assert_nothing_left();
}

#[test]
fn a_block_device_is_held_while_lanes_take_turns_on_it_and_a_users_limit_is_refused() {
    let Some(blkio) = blkio() else { return };
    let _turn = alone();
    let place = Place::new();
    let suite = suite(&place);
    let file = place.path().join("disk");
    tool("truncate", &["-s", "400M", file.to_str().unwrap()]);
    let device = tool("losetup", &["--direct-io=on", "-f", "--show", file.to_str().unwrap()]);
    let number = numbers(&place).remove(0);
    // A limit outlives whoever set it: of a run that was killed one may stand on this number.
    lift(&blkio, std::slice::from_ref(&number));
    let limit = |value: &str| {
        std::fs::write(blkio.join("blkio.throttle.read_bps_device"), format!("{number} {value}\n")).unwrap();
    };
    let raced = [
        "race",
        "ext4",
        "xfs",
        "--on",
        &device,
        "--erase",
        &device,
        "--suite",
        &suite,
        "--workload",
        "random-read",
        "--rounds",
        "1",
        "--throttle",
        "2000iops",
        "-o",
        "r.jsonl",
    ];
    limit("12345678");
    let refused = place.run(&raced);
    let kept = limits_on(&blkio, std::slice::from_ref(&number));
    limit("0");
    let raced = place.run(&raced);
    let left = limits_on(&blkio, std::slice::from_ref(&number));
    tool("losetup", &["-d", &device]);
    let err = String::from_utf8_lossy(&refused.stderr);
    assert_eq!(refused.status.code(), Some(2), "{err}");
    assert_one_sentence(&err, &["a limit of somebody else's (12345678"]);
    assert_eq!(kept, [format!("read_bps {number} 12345678")]);
    assert_eq!(raced.status.code(), Some(0), "{}", String::from_utf8_lossy(&raced.stderr));
    assert_eq!(left, Vec::<String>::new());
    let record = lines(&place.path().join("r.jsonl"));
    let trials: Vec<_> = record.iter().filter(|line| line["kind"] == "trial" && line["outcome"] == "ok").collect();
    let lanes: BTreeSet<_> = trials.iter().filter_map(|trial| trial["lane"].as_str()).collect();
    assert_eq!(lanes.len(), 2, "{trials:#?}");
    for trial in trials {
        let seconds = trial["system"]["window_seconds"].as_f64().unwrap();
        let reads = trial["system"]["device"]["reads"].as_f64().unwrap();
        assert!(reads > 0.0 && reads <= 2000.0 * (1.02 * seconds + 0.4), "{trial:#}");
    }
    std::fs::remove_file(file).unwrap();
    place.assert_nothing_left();
}

/// Runs a race that stops itself before every slice, and lifts its limits each time.
fn race_while_somebody_lifts(place: &Place, blkio: &Path, suite: &str) -> std::process::Output {
    let mut command = place.fairlane(&[
        "race",
        "ext4",
        "xfs",
        "--suite",
        suite,
        "--workload",
        "random-read",
        "--rounds",
        "1",
        "--lane-size",
        "320MiB",
        "--throttle",
        "200iops",
        "-o",
        "r.jsonl",
    ]);
    command.env("FAIRLANE_HOLD", "measure").stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped());
    let mut child = command.spawn().expect("fairlane starts");
    let pid = Pid::from_raw(child.id() as i32).unwrap();
    let mut lifted = 0;
    while child.try_wait().unwrap().is_none() {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", child.id())).unwrap_or_default();
        if stat.rsplit(") ").next().unwrap_or_default().starts_with('T') {
            lifted += lift(blkio, &numbers(place));
            let _ = kill_process(pid, Signal::CONT);
        }
        std::thread::sleep(Duration::from_millis(2));
    }
    assert!(lifted >= 4, "{lifted}");
    child.wait_with_output().unwrap()
}

#[test]
fn a_trial_whose_limit_somebody_lifted_is_void_and_in_no_figure() {
    let Some(blkio) = blkio() else { return };
    let _turn = beside_others();
    let place = Place::new();
    let suite = suite(&place);
    let output = race_while_somebody_lifts(&place, &blkio, &suite);
    let err = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{err}");
    assert!(err.contains("the throttle did not hold"), "{err}");
    let record = lines(&place.path().join("r.jsonl"));
    let trials: Vec<_> = record.iter().filter(|line| line["kind"] == "trial").collect();
    assert_eq!(trials.len(), 4, "run again once, as a noisy round is");
    for trial in trials {
        assert_eq!(trial["outcome"], "void");
        let reason = trial["reason"].as_str().unwrap();
        assert!(
            reason.contains("reads/s in windows of") && reason.contains("where 200 reads/s were allowed"),
            "{reason}"
        );
    }
    let (text, _) = place.expect(0, &["report", "r.jsonl"]);
    assert!(text.contains("4 void: the throttle did not hold"), "{text}");
    assert!(!text.contains("ops/s ("), "no figure:\n{text}");
    place.assert_nothing_left();
}

/// The rate of an open loop comes of maxima that the throttle must have held as well.
#[test]
fn no_rate_is_shared_that_was_measured_while_the_throttle_did_not_hold() {
    let Some(blkio) = blkio() else { return };
    let _turn = beside_others();
    let place = Place::new();
    let path = suite(&place);
    let shared = SUITE.replace("iodepth = 256\n", "iodepth = 256\nrate_of_slowest = 0.5\n");
    assert_ne!(shared, SUITE);
    std::fs::write(&path, shared).unwrap();
    let output = race_while_somebody_lifts(&place, &blkio, &path);
    let err = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{err}");
    let record = lines(&place.path().join("r.jsonl"));
    assert!(record.iter().all(|line| line["kind"] != "rate"), "{err}");
    let trials: Vec<_> = record.iter().filter(|line| line["kind"] == "trial").collect();
    assert_eq!(trials.len(), 4, "both lanes, and both once more: {trials:#?}");
    for trial in trials {
        assert_eq!((&trial["outcome"], &trial["round"]), (&"void".into(), &0.into()), "{trial:#}");
    }
    place.assert_nothing_left();
}

/// What two lanes of the same filesystem did on disks of 2000 and 1000 requests a second: by the devices'
/// own counters, and by the findings.
#[test]
fn lanes_with_disks_of_their_own_are_held_each_to_its_own_and_told_apart() {
    let Some(blkio) = blkio() else { return };
    let _turn = alone();
    let place = Place::new();
    let suite = suite(&place);
    let own = ["--throttle", "full:2000iops", "--throttle", "less:1000iops"];
    let race =
        ["race", "full=ext4", "less=ext4", "--suite", &suite, "--workload", "random-read", "--lane-size", "320MiB"];
    let dry = place.expect(0, &[&race[..], &own, &["--dry-run"]].concat()).0;
    // Lines are broken where they would be too long.
    let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    for says in [
        "the lanes stand on different disks while they are measured: full 2000iops, less 1000iops; a difference",
        "hold each lane's device while it is measured, full to 2000iops, less to 1000iops: ",
    ] {
        assert!(words(&dry).contains(says), "`{says}` is missing in:\n{dry}");
    }
    let rounds = ["--rounds", "6", "--seed", "1", "-o", "r.jsonl"];
    let mut command = place.fairlane(&[&race[..], &own, &rounds].concat());
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("fairlane starts");
    let mut devices = Vec::new();
    while devices.len() < 2 && child.try_wait().unwrap().is_none() {
        std::thread::sleep(Duration::from_millis(5));
        devices = numbers(&place);
    }
    let output = child.wait_with_output().unwrap();
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert_eq!((output.status.code(), devices.len()), (Some(0), 2), "{out}{err}");
    assert_eq!(limits_on(&blkio, &devices), Vec::<String>::new());
    assert!(words(&out).contains("The lanes stand on different disks, so a difference may be the disk's."), "{out}");
    let record = lines(&place.path().join("r.jsonl"));
    assert_eq!(record[0]["plan"]["throttle"], serde_json::Value::Null);
    assert_eq!(record[0]["plan"]["lane_throttles"]["less"]["read_iops"], 1000);
    let mut grounds: BTreeMap<String, Vec<u64>> = BTreeMap::new();
    for trial in record.iter().filter(|line| line["kind"] == "trial" && line["outcome"] == "ok") {
        let lane = trial["lane"].as_str().unwrap().to_owned();
        let limit = if lane == "full" { 2000.0 } else { 1000.0 };
        let system = &trial["system"];
        let (seconds, windows) = (system["window_seconds"].as_f64().unwrap(), system["windows"].as_f64().unwrap());
        let reads = system["device"]["reads"].as_f64().unwrap();
        // 2 %, and one burst at the edges of each slice.
        assert!(reads <= limit * (1.02 * seconds + 0.1 * windows), "{trial:#}");
        assert!(reads >= 0.5 * limit * seconds, "it is held to this disk and not to the other: {trial:#}");
        grounds.entry(lane).or_default().push(trial["ground"].as_u64().unwrap());
    }
    // The devices rotated among the lanes.
    for lane in ["full", "less"] {
        let stood = &grounds[lane];
        // A round in which the other lane's limit did not hold is made up for.
        assert!((6..=12).contains(&stood.len()), "{stood:?}");
        assert!(stood.contains(&0) && stood.contains(&1), "{stood:?}");
    }
    // The ceilings are the bare images'.
    let probed = |line: &&serde_json::Value| line["kind"] == "probe" && line["profile"] == "rand-read";
    let probe = record.iter().find(probed).expect("a ceiling");
    assert!(probe["operations_per_second"].as_f64().unwrap() > 2500.0, "{probe:#}");
    let (json, _) = place.expect(0, &["report", "r.jsonl", "--format", "json"]);
    let findings: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(findings["lane_throttles"]["full"]["write_iops"], 2000);
    assert!(findings["warnings"][0].as_str().unwrap().starts_with("the lanes stand on different disks"));
    assert_eq!(findings["answer"]["different_disks"], true);
    let result = &findings["results"][0];
    let pair = &result["pairs"][0];
    assert_eq!((pair["a"].as_str(), pair["b"].as_str()), (Some("less"), Some("full")));
    let ratio = pair["ratio"].as_f64().unwrap();
    assert!((0.35..0.7).contains(&ratio), "{pair:#}");
    assert_eq!(pair["verdict"], "slower", "{pair:#}");
    assert_eq!(result["limit"], "own-disk", "{result:#}");
    let (text, _) = place.expect(0, &["report", "r.jsonl"]);
    assert!(text.contains("--throttle full:2000iops --throttle less:1000iops"), "AGAIN has both disks:\n{text}");
    place.assert_nothing_left();
}

#[test]
fn a_job_file_runs_on_disks_of_the_lanes_own_and_one_lane_may_be_free() {
    let Some(_) = blkio() else { return };
    let _turn = beside_others();
    let place = Place::new();
    let jobs = "[r]\nrw=randread\nbs=4k\nsize=8m\ndirect=1\nioengine=libaio\niodepth=32\ntime_based\nruntime=2\n";
    std::fs::write(place.path().join("r.fio"), jobs).unwrap();
    let race = ["fio", "r.fio", "free=ext4", "slow=ext4", "--rounds", "1", "--lane-size", "320MiB", "-o", "r.jsonl"];
    place.expect(0, &[&race[..], &["--throttle", "slow:500iops"]].concat());
    let record = lines(&place.path().join("r.jsonl"));
    let reads = |lane: &str| {
        // A round that others disturbed is run again.
        let counts =
            |line: &&serde_json::Value| line["kind"] == "trial" && line["outcome"] == "ok" && line["lane"] == lane;
        let trial = record.iter().find(counts).expect("a trial that counts");
        let seconds = trial["system"]["window_seconds"].as_f64().unwrap();
        (trial["system"]["device"]["reads"].as_f64().unwrap(), seconds)
    };
    let (slow, seconds) = reads("slow");
    assert!(slow <= 500.0 * (1.02 * seconds + 0.2), "{slow} in {seconds} s");
    let (free, seconds) = reads("free");
    assert!(free > 1000.0 * seconds, "{free} in {seconds} s");
    place.assert_nothing_left();
}
