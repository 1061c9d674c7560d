//! Races on disks that are somebody's memory, somebody's page cache, or held to a rate from outside; and with a kernel that
//! lanes set.

mod common;

use common::{Place, root};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Random reads and writes as suite `quick` has them, in smaller files.
const SUITE: &str = r#"
name = "disk"
about = "a test"
not_tested = ["everything else"]
first_answer = true

[[workload]]
name = "random-read"
title = "random read 4 KiB"
kind = "io"
rw = "randread"
bs = "4KiB"
size = "64MiB"
ioengine = "io_uring"
iodepth = 32
direct = true
slices = 6
slice_seconds = 0.1

[[workload]]
name = "random-write"
title = "random overwrite 4 KiB"
kind = "io"
rw = "randwrite"
bs = "4KiB"
size = "64MiB"
ioengine = "io_uring"
iodepth = 32
direct = true
slices = 6
slice_seconds = 0.1
"#;

/// Limits on the number of a device meet whoever takes that number, and rates are looked at: one test at a time.
fn alone() -> MutexGuard<'static, ()> {
    static ONE: Mutex<()> = Mutex::new(());
    ONE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The root group of cgroup v1's blkio.
const BLKIO: &str = "/sys/fs/cgroup/blkio";

/// A loop device over a file, with an ext4 on it that is mounted at `mount`. Dropping it undoes all of it.
struct Disk {
    file: PathBuf,
    mount: PathBuf,
    device: String,
}

fn tool(program: &str, arguments: &[&str]) -> String {
    let done = Command::new(program).args(arguments).output().expect(program);
    assert!(done.status.success(), "{program} {arguments:?}: {}", String::from_utf8_lossy(&done.stderr));
    String::from_utf8_lossy(&done.stdout).trim().to_owned()
}

impl Disk {
    fn new(place: &Place, file: PathBuf, mebibytes: u64, direct: bool) -> Disk {
        std::fs::File::create(&file).unwrap().set_len(mebibytes << 20).unwrap();
        let mount = place.path().join("disk");
        std::fs::create_dir(&mount).unwrap();
        let mut disk = Disk { file, mount, device: String::new() };
        let how: &[&str] = if direct { &["--direct-io=on"] } else { &[] };
        disk.device = tool("losetup", &[how, &["--find", "--show", &disk.file.to_string_lossy()]].concat());
        // Of a run that was killed one may stand on this number.
        disk.lift();
        tool("mkfs.ext4", &["-q", "-E", "nodiscard,lazy_itable_init=0,lazy_journal_init=0", &disk.device]);
        tool("mount", &[&disk.device, &disk.mount.to_string_lossy()]);
        disk
    }

    fn name(&self) -> &str {
        self.device.trim_start_matches("/dev/")
    }

    /// Holds it to so many requests a second in either direction, as somebody outside would.
    fn hold(&self, requests: u32) {
        for direction in ["read", "write"] {
            self.limit(&format!("{direction}_iops"), requests).unwrap();
        }
    }

    /// Lifts every limit; where nobody has mounted blkio there is none.
    fn lift(&self) {
        for name in ["read_bps", "write_bps", "read_iops", "write_iops"] {
            let _ = self.limit(name, 0);
        }
    }

    fn limit(&self, name: &str, limit: u32) -> std::io::Result<()> {
        let number = std::fs::read_to_string(format!("/sys/class/block/{}/dev", self.name()))?;
        let file = Path::new(BLKIO).join(format!("blkio.throttle.{name}_device"));
        std::fs::write(file, format!("{} {limit}\n", number.trim()))
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        // A limit would outlive the device and be the next one's.
        self.lift();
        let _ = Command::new("umount").arg(&self.mount).status();
        if !self.device.is_empty() {
            let _ = Command::new("losetup").args(["-d", &self.device]).status();
        }
        let _ = std::fs::remove_file(&self.file);
    }
}

/// Races in a folder of that disk; answers the findings and what was printed.
fn race(place: &Place, disk: &Disk, more: &[&str]) -> (serde_json::Value, String) {
    let suite = place.path().join("disk.toml");
    std::fs::write(&suite, SUITE).unwrap();
    let _ = std::fs::remove_file(place.path().join("r.jsonl"));
    let (suite, on) = (suite.to_string_lossy().into_owned(), disk.mount.to_string_lossy().into_owned());
    let race = ["race", "ext4", "xfs", "--suite", &suite, "--on", &on, "-o", "r.jsonl", "--no-report"];
    let (out, _) = place.expect(0, &[&race[..], more].concat());
    let (json, _) = place.expect(0, &["report", "r.jsonl", "--format", "json"]);
    (serde_json::from_str(&json).unwrap(), out)
}

#[test]
fn random_reads_and_random_writes_of_a_capped_disk_are_both_called_the_disk() {
    if !root() {
        return;
    }
    let blkio = Path::new(BLKIO);
    if !blkio.join("blkio.throttle.read_iops_device").exists() {
        eprintln!("skipped: blkio of cgroup v1 is not mounted at {}", blkio.display());
        return;
    }
    let _alone = alone();
    let place = Place::new();
    let disk = Disk::new(&place, place.path().join("file"), 900, true);
    disk.hold(3000);
    // Beside other programs all probes of a race may fall into slow moments, and then the ceiling is doubted.
    for attempt in 1..=3 {
        let (findings, out) = race(&place, &disk, &["--rounds", "6", "--lane-size", "320MiB"]);
        let results = findings["results"].as_array().unwrap();
        assert_eq!(results.len(), 2);
        // Both ceilings are shown.
        assert!(out.contains("random read") && out.contains("random write"), "{out}");
        let other = results.iter().find(|result| result["limit"] != "device");
        let Some(other) = other else { return };
        let disturbed = out.contains("foreign-noise") || out.contains("other programs");
        assert!(disturbed && attempt < 3, "{}: {}\n{out}", other["workload"], other["limit_reason"]);
    }
}

#[test]
fn a_disk_in_memory_is_called_memory() {
    if !root() || !Path::new("/dev/shm").is_dir() {
        return;
    }
    let shared = rustix::fs::statvfs("/dev/shm").unwrap();
    if shared.f_bavail * shared.f_frsize < 1 << 30 {
        println!("a disk in memory: skipped, because /dev/shm has no 1 GiB free");
        return;
    }
    let _alone = alone();
    let place = Place::new();
    let file = PathBuf::from(format!("/dev/shm/fairlane-test-disk-{}", std::process::id()));
    let disk = Disk::new(&place, file, 900, false);
    let (findings, out) = race(&place, &disk, &["--rounds", "2", "--lane-size", "320MiB", "--workload", "random-read"]);
    let said = format!("this disk is memory: {} keeps its blocks in this machine's memory", disk.name());
    assert!(findings["warnings"][0].as_str().unwrap().starts_with(&said), "{:#}", findings["warnings"]);
    assert!(findings["answer"]["cached_disk"].as_str().unwrap().starts_with(&said));
    assert_eq!(findings["machine"]["device"]["behind"]["kind"], "memory");
    assert_eq!(findings["disk"]["signs"][0]["sign"], "behind");
    // In ANSWER, whose lines are as wide as the terminal.
    let answer = out.split("ANSWER").nth(1).unwrap().split("WARNINGS").next().unwrap();
    let answer = answer.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(answer.contains("This disk is memory: "), "{answer}");
    assert!(answer.contains("Raced on fresh filesystems of 320 MiB."), "{answer}");
}

#[test]
fn a_disk_in_the_page_cache_is_called_one_and_its_figures_are_kept() {
    if !root() {
        return;
    }
    let _alone = alone();
    let place = Place::new();
    let disk = Disk::new(&place, place.path().join("file"), 1500, false);
    let (findings, _) = race(&place, &disk, &["--rounds", "3", "--lane-size", "640MiB", "--workload", "random-read"]);
    let said = format!("this disk answers from this machine's page cache: {}", disk.name());
    assert!(findings["warnings"][0].as_str().unwrap().starts_with(&said), "{:#}", findings["warnings"]);
    assert_eq!(findings["machine"]["device"]["behind"]["kind"], "page-cache");
    let figures = &findings["disk"];
    let figure = |name: &str| figures[name].as_f64().unwrap();
    assert_eq!(figures["looks"], 2, "{figures:#}");
    assert!(figure("written_bytes") > 0.0 && figure("read_bytes_per_second") > 0.0, "{figures:#}");
    let (write, flushed) = (figure("write_bytes_per_second"), figure("flushed_bytes_per_second"));
    assert!(flushed > 0.0 && flushed <= write, "{figures:#}");
    let record = std::fs::read_to_string(place.path().join("r.jsonl")).unwrap();
    let lines: Vec<serde_json::Value> = record.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let looks: Vec<_> = lines.iter().filter(|line| line["kind"] == "disk").collect();
    assert_eq!(looks.len(), 2);
    assert!(looks[0]["write_bytes_per_second"].as_array().unwrap().len() >= 9, "{:#}", looks[0]);
    // What the filesystems saw, and what carries them.
    for queue in [&lines[0]["lanes"][0]["queue"], &lines[0]["machine"]["device"]["queue"]] {
        assert!(queue["logical_block_bytes"].as_u64().unwrap() >= 512, "{queue:#}");
        assert!(queue["write_cache"].is_string() && queue["fua"].is_boolean(), "{queue:#}");
    }
}

#[test]
fn the_plan_says_how_large_lanes_are_and_why() {
    if !root() {
        return;
    }
    let place = Place::new();
    let plan = |more: &[&str]| {
        let (out, _) = place.expect(0, &[&["race", "ext4", "xfs", "--dry-run"], more].concat());
        out.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    let short = plan(&[]);
    assert!(short.contains("as 2 GiB images"), "{short}");
    assert!(short.contains("lanes of 2 GiB: the time is short (larger ones from --budget 10m on)"), "{short}");
    let long = plan(&["--budget", "1h"]);
    assert!(long.contains("; --lane-size takes any other") && !long.contains("the time is short"), "{long}");
    let asked = plan(&["--budget", "1h", "--lane-size", "1GiB"]);
    assert!(asked.contains("as 1 GiB images") && !asked.contains("lanes of"), "{asked}");
    let fixed = plan(&["--rounds", "6"]);
    assert!(fixed.contains("as 2 GiB images") && !fixed.contains("lanes of"), "{fixed}");
}

/// What the kernel has of the settings that a lane may make.
fn kernel() -> [String; 5] {
    ["dirty_ratio", "dirty_bytes", "dirty_background_ratio", "dirty_background_bytes", "dirty_expire_centisecs"]
        .map(|name| std::fs::read_to_string(Path::new("/proc/sys/vm").join(name)).expect("a setting").trim().to_owned())
}

/// Root, and a kernel that it may set.
fn sets_the_kernel() -> bool {
    let is_writable = rustix::fs::access("/proc/sys/vm/dirty_ratio", rustix::fs::Access::WRITE_OK).is_ok();
    if !is_writable {
        eprintln!("skipped: /proc/sys/vm cannot be written");
    }
    root() && is_writable
}

#[test]
fn the_kernel_is_set_for_one_lane_of_a_race_and_stands_behind_it_as_before() {
    let _alone = alone();
    if !sets_the_kernel() {
        return;
    }
    let place = Place::new();
    let suite = place.tiny_suite();
    let before = kernel();
    let lanes = ["race", "ext4", "ext4/vm,dirty_background_ratio=1"];
    let work = ["--suite", &suite, "--workload", "commit", "--lane-size", "64MiB", "--rounds", "2", "-o", "r.jsonl"];
    place.expect(0, &[&lanes[..], &work].concat());
    assert_eq!(kernel(), before);
    place.assert_nothing_left();
    let lines = place.record();
    assert_eq!(lines[0]["lanes"][1]["layers"], serde_json::json!(["vm,dirty_background_ratio=1"]));
    let own: u64 = before[2].parse().expect("a number");
    assert_eq!(lines[0]["machine"]["dirty_background_ratio"], own, "the machine's own");
    let warned = lines[0]["warnings"].to_string();
    assert!(warned.contains("the lanes work one after the other"), "{warned}");
    let trials = lines.iter().filter(|line| line["kind"] == "trial" && line["outcome"] == "ok");
    assert_eq!(trials.count(), 4, "two lanes in two rounds");
    let (text, _) = place.expect(0, &["report", "r.jsonl"]);
    assert!(text.contains("vm,dirty_background_ratio=1") && !text.contains("LAYERS"), "{text}");
}

#[test]
fn settings_of_the_kernel_are_options_of_a_screening_but_for_what_is_so_already() {
    let _alone = alone();
    let before = kernel();
    if !sets_the_kernel() || before[0] == "0" {
        return;
    }
    let place = Place::new();
    let suite = place.tiny_suite();
    let as_it_is = format!("vm.dirty_ratio={}", before[0]);
    let other = "vm.dirty_expire_centisecs=default|123";
    let options = ["--option", "commit=5|30", "--option", &as_it_is, "--option", other];
    let work = ["screen", "ext4", "--suite", &suite, "--workload", "commit", "--lane-size", "64MiB"];
    let (out, _) = place.expect(0, &[&work[..], &options, &["--rounds", "3", "--dry-run"]].concat());
    let left_out = format!("left out: dirty_ratio {}: it is so here already", before[0]);
    assert!(out.contains(&left_out) && out.contains("2 options in 8 lanes"), "{out}");
    assert!(out.contains("set vm, dirty_expire_centisecs=123 on this machine"), "{out}");
    assert_eq!(kernel(), before, "a dry run sets nothing");
    place.assert_nothing_left();
}
