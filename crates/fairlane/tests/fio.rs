//! Job files raced from end to end: by the installed fio, by Fairlane's own engine, and refused.

use crate::common;

use common::{Place, assert_one_sentence, root};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use std::io::Write;
use std::path::Path;
use std::process::{Child, Output, Stdio};
use std::time::{Duration, Instant};

/// Two jobs, one after the other.
const JOBS: &str = "[global]\nioengine=psync\nsize=4m\nbs=4k\n[fill]\nrw=write\n[look]\nstonewall\nrw=randread\n";
/// Until it is stopped.
const LONG: &str = "[long]\nioengine=psync\nsize=1m\nrw=randwrite\nnumjobs=2\ntime_based\nruntime=60\n";

fn fio() -> bool {
    let there = std::process::Command::new("fio").arg("--version").output().is_ok();
    if !there {
        eprintln!("skipped: fio is not installed; apt install fio");
    }
    there
}

fn jobfile(place: &Place, text: &str) {
    std::fs::write(place.path().join("a.fio"), text).unwrap();
}

/// Two directories in memory, as lanes.
struct Lanes(tempfile::TempDir);

impl Lanes {
    fn new() -> Self {
        let folder = tempfile::Builder::new().prefix("fairlane-test-").tempdir_in("/dev/shm").unwrap();
        for name in ["a", "b"] {
            std::fs::create_dir(folder.path().join(name)).unwrap();
        }
        Lanes(folder)
    }

    fn lane(&self, name: &str) -> String {
        format!("{name}={}", self.0.path().join(name).display())
    }

    #[track_caller]
    fn assert_empty(&self) {
        for name in ["a", "b"] {
            let left: Vec<_> = std::fs::read_dir(self.0.path().join(name)).unwrap().flatten().collect();
            assert!(left.is_empty(), "left in {name}: {left:?}");
        }
    }

    /// Processes whose working directory lies in a lane.
    fn workers(&self) -> usize {
        let inside = |process: &Path| {
            std::fs::read_link(process.join("cwd")).is_ok_and(|folder| folder.starts_with(self.0.path()))
        };
        std::fs::read_dir("/proc").unwrap().flatten().filter(|entry| inside(&entry.path())).count()
    }
}

fn lines(place: &Place, kind: &str) -> Vec<Value> {
    let text = std::fs::read_to_string(place.path().join("r.jsonl")).unwrap();
    text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap()).filter(|line| line["kind"] == kind).collect()
}

#[test]
fn what_makes_no_sense_is_refused_with_status_2_and_the_line() {
    let place = Place::new();
    let lanes = Lanes::new();
    jobfile(&place, JOBS);
    std::fs::write(place.path().join("wrong.fio"), "[job]\nsize=1m\nbanana=1\n").unwrap();
    std::fs::write(place.path().join("huge.fio"), "[job]\nsize=900m\nrw=read\n").unwrap();
    let a = lanes.lane("a");
    for (arguments, says) in [
        (vec!["fio"], vec!["JOBFILE"]),
        (vec!["fio", "nosuch.fio", &a], vec!["nosuch.fio"]),
        (vec!["fio", "wrong.fio", &a], vec!["wrong.fio:3: ", "banana"]),
        (vec!["fio", "wrong.fio", &a, "--with-fio"], vec!["wrong.fio:3: ", "banana"]),
        (vec!["fio", "a.fio", "ext5"], vec!["ext5", "ext4"]),
        (vec!["fio", "a.fio", &a, "--rounds", "0"], vec!["rounds"]),
        (vec!["fio", "a.fio", &a, "--output-format", "terse"], vec!["terse", "json"]),
        (vec!["fio", "a.fio", &a, "--output", "a.fio"], vec!["a.fio", "job file itself"]),
        (vec!["fio", "a.fio", &a, "--output", "nosuch/x"], vec!["nosuch/x", "folder"]),
        (vec!["fio", "huge.fio", "ext4", "--lane-size", "1GiB"], vec!["huge.fio", "900 MiB", "1GiB", "to 2GiB"]),
    ] {
        let (out, err) = place.expect(2, &arguments);
        assert_one_sentence(&err, &says);
        assert_eq!(out, "");
    }
    lanes.assert_empty();
    place.assert_nothing_left();
}

#[test]
fn a_missing_fio_is_told_with_its_package_and_status_4() {
    let place = Place::new();
    let lanes = Lanes::new();
    jobfile(&place, JOBS);
    let output =
        place.fairlane(&["fio", "a.fio", &lanes.lane("a"), "--with-fio"]).env("PATH", place.path()).output().unwrap();
    assert_eq!(output.status.code(), Some(4));
    assert_one_sentence(&String::from_utf8_lossy(&output.stderr), &["fio", "apt install fio"]);
    lanes.assert_empty();
}

#[test]
fn lanes_grow_with_the_job_file_where_no_size_was_asked_for() {
    if !root() {
        return;
    }
    let place = Place::new();
    jobfile(&place, "[job]\nsize=1500m\nrw=read\n");
    let (out, err) = place.expect(0, &["fio", "a.fio", "ext4", "--dry-run"]);
    assert!(err.contains("note: the jobs keep") && err.contains("--lane-size is 3GiB"), "{err}");
    assert!(out.contains("3 GiB"), "{out}");
    place.assert_nothing_left();
}

#[test]
fn two_directories_are_raced_by_fio_and_standard_output_is_json_alone() {
    if !fio() {
        return;
    }
    let place = Place::new();
    let lanes = Lanes::new();
    jobfile(&place, JOBS);
    let (a, b) = (lanes.lane("a"), lanes.lane("b"));
    let (out, err) = place.expect(
        0,
        &["fio", "a.fio", &a, &b, "--with-fio", "--rounds", "2", "--output-format", "json", "-o", "r.jsonl"],
    );
    let json: Value = serde_json::from_str(&out).unwrap_or_else(|error| panic!("{error}:\n{out}"));
    assert!(!json["jobs"].as_array().unwrap().is_empty(), "{json}");
    assert!(err.contains("plan: 1 workload, 2 rounds") && err.contains("fill: write"), "{err}");
    let header = &lines(&place, "header")[0];
    assert_eq!(header["plan"]["suite"], "a.fio");
    assert!(header["machine"]["tools"].to_string().contains("fio: fio-"), "{}", header["machine"]["tools"]);
    let trials = lines(&place, "trial");
    assert!(trials.len() >= 4, "two rounds of two lanes, repeated ones beside");
    for trial in &trials {
        let groups = trial["groups"].as_array().unwrap();
        let figure = |name: &str, key: &str| groups.iter().find(|group| group["name"] == name).unwrap()[key].clone();
        assert_eq!(
            (figure("fill: write", "operations"), figure("look: read", "operations")),
            (1024.into(), 1024.into())
        );
        assert_eq!(figure("look: read", "bytes"), 4 << 20);
        assert_eq!(trial["jobs"].as_array().unwrap().len(), 2, "{trial}");
        // What fio computes is the agent's, not another program's.
        assert!(trial["system"]["agent_cpu_system_seconds"].as_f64().unwrap() > 0.0, "{trial}");
    }
    lanes.assert_empty();
    place.assert_nothing_left();
    // The command that is recommended next runs the job file again.
    let (text, _) = place.expect(0, &["report", "r.jsonl"]);
    assert!(text.contains("fairlane fio a.fio"), "{text}");
    let (_, err) = place.expect(2, &["race", "--resume", "r.jsonl"]);
    assert_one_sentence(&err, &["complete"]);
}

#[test]
fn one_lane_runs_once_and_its_result_goes_to_the_file_that_is_named() {
    if !fio() {
        return;
    }
    let place = Place::new();
    let lanes = Lanes::new();
    jobfile(&place, JOBS);
    let a = lanes.lane("a");
    let arguments = ["fio", "a.fio", a.as_str(), "--with-fio", "--quiet", "--output", "result.txt", "-o", "r.jsonl"];
    let (out, err) = place.expect(0, &arguments);
    assert_eq!((out.as_str(), err.as_str()), ("", ""));
    assert_eq!(lines(&place, "header")[0]["plan"]["rounds"]["fixed"], 1);
    let result = std::fs::read_to_string(place.path().join("result.txt")).unwrap();
    assert!(result.contains("look: read"), "{result}");
    lanes.assert_empty();
}

#[test]
fn fio_races_real_filesystems_in_images() {
    if !root() || !fio() {
        return;
    }
    let place = Place::new();
    jobfile(&place, JOBS);
    place.expect(
        0,
        &["fio", "a.fio", "ext4", "btrfs", "--with-fio", "--lane-size", "320MiB", "--rounds", "2", "-o", "r.jsonl"],
    );
    let trials = lines(&place, "trial");
    assert!(trials.len() >= 4 && trials.iter().all(|trial| trial["outcome"] != "failed"), "{trials:#?}");
    place.assert_nothing_left();
}

#[test]
fn direct_writes_of_fio_that_were_none_are_seen() {
    if !root() || !fio() {
        return;
    }
    let place = Place::new();
    jobfile(&place, "[job]\nioengine=psync\ndirect=1\nrw=randwrite\nbs=4k\nsize=32m\nio_size=4m\n");
    let lanes = ["ext4", "btrfs", "nosum=btrfs,nodatasum"];
    let options = ["--with-fio", "--lane-size", "320MiB", "--rounds", "2", "-o", "r.jsonl"];
    place.expect(0, &[&["fio", "a.fio"], &lanes[..], &options].concat());
    let (out, _) = place.expect(0, &["report", "r.jsonl", "--format", "json"]);
    let result = serde_json::from_str::<Value>(&out).unwrap()["results"][0].take();
    let share = |lane: usize| result["estimates"][lane]["page_cache_share"].as_f64().expect("a share");
    assert!(share(0) < 0.5 && share(2) < 0.5, "{result}");
    // Since Linux 6.15 Btrfs buffers direct writes to files with checksums of data; a distribution's older kernel may too.
    let release = std::fs::read_to_string("/proc/sys/kernel/osrelease").unwrap();
    let mut numbers = release.split(['.', '-']).map_while(|part| part.parse::<u32>().ok());
    let buffers = (numbers.next(), numbers.next()) >= (Some(6), Some(15));
    assert!(share(1) >= 0.5 || !buffers, "{result}");
    assert_eq!(result["buffered"][0] == "btrfs", share(1) >= 0.5, "{result}");
    place.assert_nothing_left();
}

#[test]
fn bytes_of_a_buffered_job_that_ends_with_fsync_are_at_the_disk_within_its_window() {
    if !root() {
        return;
    }
    let place = Place::new();
    jobfile(&place, "[job]\nioengine=psync\nrw=write\nbs=64k\nsize=32m\nend_fsync=1\n");
    place.expect(0, &["fio", "a.fio", "ext4", "xfs", "--lane-size", "320MiB", "--rounds", "2", "-o", "r.jsonl"]);
    let trials = lines(&place, "trial");
    assert!(trials.len() >= 4, "{trials:#?}");
    for trial in trials.iter().filter(|trial| trial["outcome"] == "ok") {
        let group = &trial["groups"][0];
        let system = if group["system"].is_object() { &group["system"] } else { &trial["system"] };
        let (of_work, at_device) =
            (group["bytes"].as_u64().unwrap(), system["device"]["write_bytes"].as_u64().unwrap());
        assert_eq!(of_work, 32 << 20, "{trial}");
        // What verdicts take for the disk's: `stats::impossible`.
        assert!(at_device as f64 >= 0.9 * of_work as f64, "{at_device} of {of_work}: {trial}");
    }
    let (out, _) = place.expect(0, &["report", "r.jsonl", "--format", "json"]);
    let result = serde_json::from_str::<Value>(&out).unwrap()["results"][0].take();
    assert!(result["missed_the_disk"].is_null() && result["limit"] != "cache", "{result}");
    place.assert_nothing_left();
}

#[test]
fn fios_own_words_tell_why_a_lane_failed() {
    if !root() || !fio() {
        return;
    }
    let place = Place::new();
    let lanes = Lanes::new();
    jobfile(&place, "[job]\nioengine=psync\nrw=write\nbs=4k\nsize=4m\n");
    // Room enough, but inodes only for the lane's own folders.
    let full = lanes.0.path().join("full");
    std::fs::create_dir(&full).unwrap();
    common::tool("mount", &["-t", "tmpfs", "-o", "size=68m,nr_inodes=3", "none", full.to_str().unwrap()]);
    let output = place.run(&["fio", "a.fio", full.to_str().unwrap(), "--with-fio", "-o", "r.jsonl"]);
    common::tool("umount", &[full.to_str().unwrap()]);
    let said = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains("fio failed: ") && said.contains("No space left on device"), "{said}");
}

#[test]
fn sigkill_ends_fio_too_and_the_race_goes_on_later() {
    if !fio() {
        return;
    }
    let place = Place::new();
    let lanes = Lanes::new();
    jobfile(&place, LONG);
    let (a, b) = (lanes.lane("a"), lanes.lane("b"));
    let mut child = start(&place, &["fio", "a.fio", &a, &b, "--with-fio", "--rounds", "1", "-o", "r.jsonl"]);
    wait(|| lanes.workers() >= 3, "fio and two workers are at work");
    kill_process(pid(&child), Signal::KILL).unwrap();
    child.wait().unwrap();
    wait(|| lanes.workers() == 0, "fio and its workers are gone");
    place.expect(0, &["clean"]);
    lanes.assert_empty();
    // The record holds the plan: shorter work in its place shows that it is resumed from there.
    let record = place.path().join("r.jsonl");
    let text = std::fs::read_to_string(&record).unwrap();
    std::fs::write(&record, text.replace("runtime=60", "runtime=1")).unwrap();
    place.expect(0, &["race", "--resume", "r.jsonl", "--allow-programs", "--quiet"]);
    let trials = lines(&place, "trial");
    assert!(trials.len() >= 2 && trials.iter().all(|trial| trial["outcome"] != "failed"), "{trials:#?}");
    lanes.assert_empty();
}

#[test]
fn ctrl_c_ends_fio_at_once_and_closes_the_record() {
    if !fio() {
        return;
    }
    let place = Place::new();
    let lanes = Lanes::new();
    jobfile(&place, LONG);
    let mut child = start(&place, &["fio", "a.fio", &lanes.lane("a"), "--with-fio", "-o", "r.jsonl"]);
    wait(|| lanes.workers() >= 3, "fio and two workers are at work");
    kill_process(pid(&child), Signal::INT).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(130));
    assert_eq!(lanes.workers(), 0, "no process of fio is left");
    lanes.assert_empty();
    place.assert_nothing_left();
}

#[test]
fn every_lane_keeps_to_a_share_of_the_slowest_lanes_maximum() {
    let place = Place::new();
    let lanes = Lanes::new();
    let suite = common::TINY.replace("size = \"32MiB\"", "size = \"32MiB\"\nrate_of_slowest = 0.5");
    std::fs::write(place.path().join("s.toml"), suite).unwrap();
    let (a, b) = (lanes.lane("a"), lanes.lane("b"));
    let arguments =
        ["race", &a, &b, "--suite", "s.toml", "--workload", "random-read", "--rounds", "2", "-o", "r.jsonl"];
    let mut child = place.fairlane(&arguments).env("FAIRLANE_HOLD", "sync").stdout(Stdio::null()).spawn().unwrap();
    // Held at the end of the first lane's maximum: nothing is known yet, and nothing is written.
    wait_until_held(&child);
    assert!(lines(&place, "rate").is_empty());
    // The second lane's maximum, then the first round; a disturbed measurement is made once more.
    for _ in 0..10 {
        if !lines(&place, "rate").is_empty() {
            break;
        }
        kill_process(pid(&child), Signal::CONT).unwrap();
        std::thread::sleep(Duration::from_millis(3));
        wait_until_held(&child);
    }
    let rates = lines(&place, "rate");
    kill_process(pid(&child), Signal::KILL).unwrap();
    child.wait().unwrap();
    assert_eq!(rates.len(), 1, "{rates:#?}");
    let maxima = rates[0]["maxima_operations_per_second"].as_object().unwrap();
    let slowest = maxima.values().filter_map(Value::as_f64).fold(f64::INFINITY, f64::min);
    assert_eq!(maxima.len(), 2, "{maxima:?}");
    assert_eq!(maxima[rates[0]["slowest"].as_str().unwrap()], slowest);
    assert!((rates[0]["operations_per_second"].as_f64().unwrap() / slowest - 0.5).abs() < 1e-9, "{rates:#?}");
    // The rate stands in the record: the maxima are not measured again.
    place.expect(0, &["race", "--resume", "r.jsonl", "--quiet"]);
    assert_eq!(lines(&place, "rate"), rates);
    assert!(lines(&place, "trial").iter().filter(|trial| trial["outcome"] == "ok").count() >= 4);
    lanes.assert_empty();
}

#[test]
fn fairlanes_own_engine_runs_the_same_job_file() {
    let place = Place::new();
    let lanes = Lanes::new();
    jobfile(&place, JOBS);
    let (a, b) = (lanes.lane("a"), lanes.lane("b"));
    let arguments = ["fio", "a.fio", &a, &b, "--rounds", "2", "--output-format", "json", "-o", "r.jsonl"];
    let (out, _) = place.expect(0, &arguments);
    serde_json::from_str::<Value>(&out).unwrap_or_else(|error| panic!("{error}:\n{out}"));
    for trial in lines(&place, "trial") {
        let groups = trial["groups"].as_array().unwrap();
        assert!(groups.iter().all(|group| group["operations"] == 1024), "{trial}");
    }
    lanes.assert_empty();
}

/// Runs with a job file at standard input.
fn run_piped(place: &Place, arguments: &[&str], text: &str) -> Output {
    let mut command = place.fairlane(arguments);
    let mut child =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("fairlane starts");
    child.stdin.take().unwrap().write_all(text.as_bytes()).unwrap();
    child.wait_with_output().unwrap()
}

#[test]
fn a_dash_reads_the_job_file_from_standard_input() {
    let place = Place::new();
    let lanes = Lanes::new();
    // What stdin includes lies in the working directory; a file of its name is not read instead.
    std::fs::write(place.path().join("more"), "bs=8k\n").unwrap();
    std::fs::write(place.path().join("stdin"), "not this one\n").unwrap();
    let arguments = ["fio", "-", &lanes.lane("a"), "-q", "--output-format", "json", "-o", "r.jsonl"];
    let output = run_piped(&place, &arguments, "[job]\nsize=1m\ninclude more\n");
    let err = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{err}");
    let json: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(json["jobs"][0]["read"]["total_ios"], 128);
    let wrong = run_piped(&place, &["fio", "-", &lanes.lane("a")], "[job]\nsize=1m\nbanana=1\n");
    assert_eq!(wrong.status.code(), Some(2));
    assert_one_sentence(&String::from_utf8_lossy(&wrong.stderr), &["stdin:3: ", "banana"]);
    lanes.assert_empty();
}

#[test]
fn a_file_without_an_end_is_no_job_file() {
    let place = Place::new();
    let (_, err) = place.expect(2, &["fio", "/dev/zero", &Lanes::new().lane("a")]);
    assert_one_sentence(&err, &["/dev/zero", "no regular file"]);
}

#[test]
fn a_mix_that_only_reads_is_no_failure() {
    let place = Place::new();
    let lanes = Lanes::new();
    jobfile(&place, "[job]\nrw=randrw\nrwmixread=100\nsize=1m\n");
    let (out, _) = place.expect(0, &["fio", "a.fio", &lanes.lane("a"), "-q", "--output-format", "json"]);
    let json: Value = serde_json::from_str(&out).unwrap();
    assert_eq!(
        (&json["jobs"][0]["read"]["total_ios"], &json["jobs"][0]["write"]["total_ios"]),
        (&256.into(), &0.into())
    );
}

#[test]
fn a_lane_that_fails_says_why_in_its_last_sentence() {
    let place = Place::new();
    let lanes = Lanes::new();
    jobfile(&place, "[job]\nrw=read\nsize=1m\nallow_file_create=0\n");
    let (_, err) = place.expect(1, &["fio", "a.fio", &lanes.lane("a"), "-q"]);
    let last = err.lines().last().unwrap();
    assert!(last.contains("lane a could not be raced") && last.contains("allow_file_create"), "{err}");
}

#[test]
fn hundreds_of_workers_begin_together() {
    let place = Place::new();
    let lanes = Lanes::new();
    jobfile(&place, "[job]\nrw=read\nsize=64k\nthread\nnumjobs=200\n");
    let (out, _) = place.expect(0, &["fio", "a.fio", &lanes.lane("a"), "-q", "--output-format", "json"]);
    let json: Value = serde_json::from_str(&out).unwrap();
    assert_eq!(json["jobs"][0]["read"]["total_ios"], 200 * 16);
}

#[test]
fn data_that_changed_before_it_was_read_back_ends_the_race() {
    let place = Place::new();
    let lanes = Lanes::new();
    jobfile(&place, "[job]\nrw=write\nbs=4k\nsize=1m\nverify=crc32c\n");
    let arguments = ["fio", "a.fio", &lanes.lane("a"), "-o", "r.jsonl"];
    let mut command = place.fairlane(&arguments);
    let child = command.env("FAIRLANE_HOLD", "verify").stderr(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap();
    wait_until_held(&child);
    let folder = std::fs::read_dir(lanes.0.path().join("a")).unwrap().next().unwrap().unwrap().path();
    let file = folder.join("lane00/job.0.0");
    let mut contents = std::fs::read(&file).unwrap();
    contents[5 * 4096 + 100] ^= 1;
    std::fs::write(&file, contents).unwrap();
    kill_process(pid(&child), Signal::CONT).unwrap();
    let output = child.wait_with_output().unwrap();
    let err = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{err}");
    assert_one_sentence(&err, &["lane a", "job.0.0", "20480"]);
    let end = &lines(&place, "end")[0];
    assert_eq!(end["outcome"], "failed");
    assert!(end["reason"].as_str().unwrap().contains("job.0.0"), "{end}");
    assert_eq!(lines(&place, "trial")[0]["outcome"], "failed");
    lanes.assert_empty();
    place.assert_nothing_left();
}

fn start(place: &Place, arguments: &[&str]) -> Child {
    place.fairlane(arguments).stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("fairlane starts")
}

fn pid(child: &Child) -> Pid {
    Pid::from_raw(child.id() as i32).expect("a pid")
}

/// Waits for what must come.
#[track_caller]
fn wait(until: impl Fn() -> bool, what: &str) {
    let begun = Instant::now();
    while !until() {
        assert!(begun.elapsed() < Duration::from_secs(60), "it never came that {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Waits until the race has stopped itself.
#[track_caller]
fn wait_until_held(child: &Child) {
    let state = || {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", child.id())).unwrap_or_default();
        stat.rsplit(") ").next().and_then(|rest| rest.chars().next())
    };
    wait(|| matches!(state(), Some('T')), "the race holds");
}
