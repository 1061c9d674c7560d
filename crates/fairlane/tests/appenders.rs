//! Swarms of writers from end to end: races, the search for how many a lane sustains, and nobody left behind.

mod common;

use common::{Place, root};
use rustix::process::{Pid, Signal, kill_process};
use std::collections::BTreeSet;
use std::process::Stdio;
use std::time::{Duration, Instant};

fn suite(place: &Place, more: &str) -> String {
    let path = place.path().join("appenders.toml");
    let text = format!(
        "name = \"appenders\"\nabout = \"a test\"\nfirst_answer = true\n[[workload]]\nname = \"w\"\ntitle = \"writers\"\n\
         kind = \"appenders\"\nwarm_up_seconds = 0.2\n{more}"
    );
    std::fs::write(&path, text).expect("suite");
    path.to_string_lossy().into_owned()
}

fn findings(place: &Place) -> serde_json::Value {
    let (json, _) = place.expect(0, &["report", "r.jsonl", "--format", "json"]);
    let findings: serde_json::Value = serde_json::from_str(&json).expect("findings are JSON");
    let schema: serde_json::Value =
        serde_json::from_str(include_str!("../../../schema/findings.schema.json")).expect("schema is JSON");
    if let Err(error) = jsonschema::validate(&schema, &findings) {
        panic!("the findings do not fit their schema: {error}");
    }
    findings
}

#[test]
fn appenders_race_on_three_real_filesystems_and_every_report_shows_how_late_they_were() {
    if !root() {
        return;
    }
    let place = Place::new();
    let suite = suite(&place, "writers = 300\nperiod_seconds = 0.2\nseconds = 1.2\nreaders = 4");
    let more = ["--suite", &suite, "--lane-size", "320MiB", "--rounds", "2", "-o", "r.jsonl"];
    let arguments: Vec<&str> = ["race", "ext4", "xfs", "btrfs"].into_iter().chain(more).collect();
    let (out, _) = place.expect(0, &arguments);
    assert!(out.contains("LATENESS") && out.contains("own p99"), "{out}");
    place.assert_nothing_left();
    let trials: Vec<_> = place.record().into_iter().filter(|line| line["kind"] == "trial").collect();
    assert_eq!(trials.iter().filter(|trial| trial["outcome"] == "ok").count(), 6);
    for trial in &trials {
        let lateness = &trial["groups"][0]["lateness"];
        // Six periods of 300 writers with four files.
        assert_eq!((lateness["due"].as_u64(), lateness["writers"].as_u64()), (Some(7200), Some(300)), "{lateness}");
        assert_eq!(trial["groups"][1]["name"], "read");
        assert!(trial["phases_seconds"]["verify"].as_f64().unwrap() > 0.0, "what was appended is read back");
        let timeline = &trial["course"];
        let points = timeline["seconds"].as_array().unwrap().len();
        assert!((8..=14).contains(&points), "ten points a second: {points}");
        let seconds = timeline["each_second"]["seconds"].as_array().map(Vec::len).unwrap_or(0);
        assert!((1..=3).contains(&seconds), "and every second: {seconds}");
        assert_eq!(timeline["device_written_bytes"].as_array().map(Vec::len), Some(points));
        for column in ["cached_bytes", "buffers_bytes", "load_average", "blocked_tasks", "iowait_average_share"] {
            assert_eq!(timeline[column].as_array().map(Vec::len), Some(points), "{column}");
        }
    }
    let found = findings(&place);
    let table = &found["swarms"][0];
    assert_eq!((table["writers"].as_u64(), table["rows"].as_array().map(Vec::len)), (Some(300), Some(6)), "{table}");
    let result = &found["results"][0];
    assert_eq!(
        (result["metric"].as_str(), result["higher_is_better"].as_bool()),
        (Some("lateness_p99_ns"), Some(false))
    );
    for (format, says) in [("text", "LATENESS"), ("markdown", "Lateness of the writers"), ("csv", "late_writers_share")]
    {
        let (out, _) = place.expect(0, &["report", "r.jsonl", "--format", format]);
        assert!(out.contains(says), "{format}: {out}");
    }
    let page = place.path().join("page.html");
    place.expect(0, &["report", "r.jsonl", "--format", "html", "-o", page.to_str().unwrap()]);
    assert!(std::fs::read_to_string(page).unwrap().contains("load_average"));
}

#[test]
fn a_search_writes_down_every_step_and_goes_on_where_it_was_interrupted() {
    let place = Place::new();
    let suite = suite(&place, "writers = 16\nperiod_seconds = 0.1\nseconds = 0.3\nthreads = 2");
    let (a, b) = (place.path().join("a"), place.path().join("b"));
    [&a, &b].into_iter().for_each(|folder| std::fs::create_dir(folder).expect("a folder"));
    let lanes = [a.to_str().unwrap(), b.to_str().unwrap()];
    let search = ["--suite", &suite, "--find-max", "--most-writers", "64", "--rounds", "2", "-o", "r.jsonl"];
    let arguments: Vec<&str> = ["race"].into_iter().chain(lanes).chain(search).collect();
    let (out, _) = place.expect(0, &arguments);
    assert!(out.contains("WRITERS") && out.contains("at least 64 writers"), "{out}");
    let record = place.record();
    let steps: Vec<_> = record.iter().filter(|line| line["kind"] == "step").collect();
    let tried = |lane: &str, pass: u64| -> Vec<u64> {
        let of = steps.iter().filter(|step| step["trial"]["lane"] == lane && step["pass"] == pass);
        of.map(|step| step["writers"].as_u64().unwrap()).collect()
    };
    let names: BTreeSet<&str> = steps.iter().map(|step| step["trial"]["lane"].as_str().unwrap()).collect();
    assert_eq!(names.len(), 2);
    for lane in &names {
        assert_eq!((tried(lane, 1), tried(lane, 2)), (vec![16, 32, 64], vec![64]), "{lane}");
    }
    for step in &steps {
        assert_eq!(step["outcome"], "sustained", "{step}");
        assert_eq!(step["trial"]["groups"][0]["lateness"]["writers"], step["writers"]);
    }
    let found = findings(&place);
    let search = &found["searches"][0];
    assert_eq!(
        (search["passes"].as_u64(), search["lanes"][0]["at_least"].as_bool()),
        (Some(2), Some(true)),
        "{search}"
    );
    assert_eq!(search["pairs"][0]["verdict"], "none", "both end at what is tried at most: {search}");
    // The same, cut after its second step, goes on to the same steps.
    let path = place.path().join("r.jsonl");
    let whole = std::fs::read_to_string(&path).unwrap();
    let kept: Vec<&str> = whole.lines().take(3).collect();
    std::fs::write(&path, format!("{}\n", kept.join("\n"))).unwrap();
    place.expect(0, &["race", "--resume", "r.jsonl", "--quiet"]);
    let again: Vec<_> = place.record().into_iter().filter(|line| line["kind"] == "step").collect();
    let plain = |steps: &[&serde_json::Value]| -> Vec<(String, u64, u64)> {
        let of = |step: &&serde_json::Value| {
            let lane = step["trial"]["lane"].as_str().unwrap().to_owned();
            (lane, step["pass"].as_u64().unwrap(), step["writers"].as_u64().unwrap())
        };
        steps.iter().map(of).collect()
    };
    assert_eq!(plain(&steps), plain(&again.iter().collect::<Vec<_>>()));
}

#[test]
fn a_search_finds_where_a_slow_disk_gives_way() {
    if !root() {
        return;
    }
    let place = Place::new();
    // Each writer syncs each record: 100 writes a second carry a few dozen of them.
    let suite =
        suite(&place, "writers = 4\nperiod_seconds = 0.5\nseconds = 2.0\nfiles = 1\nfsync_records = 1\nthreads = 64");
    let throttle = ["--throttle", "write=100iops", "--lane-size", "320MiB", "-o", "r.jsonl", "--rounds", "1"];
    let arguments: Vec<&str> = ["race", "ext4", "--suite", &suite, "--find-max", "--most-writers", "4000"]
        .into_iter()
        .chain(throttle)
        .collect();
    let output = place.run(&arguments);
    if output.status.code() == Some(4) {
        eprintln!("skipped: {}", String::from_utf8_lossy(&output.stderr));
        return;
    }
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    place.assert_nothing_left();
    let found = findings(&place);
    let lane = &found["searches"][0]["lanes"][0];
    let (sustained, too_many) = (lane["passes"][0]["sustained"].as_u64(), lane["passes"][0]["too_many"].as_u64());
    let (sustained, too_many) = (sustained.unwrap(), too_many.expect("4000 syncs in half a second are too many"));
    assert!(sustained < too_many && too_many <= 1 + sustained * 11 / 10 + 1, "{lane}");
    assert!(lane["reason"].as_str().unwrap().contains(&format!("with {too_many} writers")), "{lane}");
    // That it was the disk is known because so many writers without it are no trouble.
    let record = place.record();
    let steps: Vec<_> = record.iter().filter(|line| line["kind"] == "step").collect();
    let alone: Vec<_> = steps.iter().filter(|step| !step["without_filesystem"].is_null()).collect();
    assert!(!alone.is_empty() && lane["harness"] == false, "{lane}");
    for step in alone {
        assert_ne!(step["outcome"], "sustained", "nobody asks where the lane carries them");
        let lateness = &step["without_filesystem"]["groups"][0]["lateness"];
        assert_eq!((&lateness["writers"], &lateness["missed"]), (&step["writers"], &serde_json::json!(0)), "{step}");
        assert_eq!(step["without_filesystem"]["lane"], "(no filesystem)");
    }
}

#[test]
fn by_the_load_writers_are_processes_and_that_is_said() {
    let place = Place::new();
    let folders = [place.path().join("a"), place.path().join("b")];
    folders.iter().for_each(|folder| std::fs::create_dir(folder).expect("a folder"));
    let of = |method: &str, by: &str| {
        let suite = suite(&place, &format!("writers = 16\nperiod_seconds = 0.1\nseconds = 0.3\nmethod = \"{method}\""));
        let [a, b] = folders.each_ref().map(|folder| folder.to_str().unwrap());
        let (out, err) = place.expect(0, &["race", a, b, "--suite", &suite, by, "--dry-run"]);
        out + &err
    };
    let says = "writers are processes";
    assert!(of("multiplexed", "--find-max=load").contains(says));
    assert!(!of("processes", "--find-max=load").contains(says), "nothing had to differ");
    assert!(!of("multiplexed", "--find-max").contains(says));
}

#[test]
fn the_articles_filesystems_are_raced_where_none_is_named_or_left_out_by_name() {
    if !root() {
        return;
    }
    let place = Place::new();
    let (out, err) = place.expect(0, &["race", "--suite", "appenders", "--dry-run"]);
    let said = out + &err;
    let (left_out, raced): (Vec<&str>, Vec<&str>) = said.lines().partition(|line| line.contains("left out of suite"));
    let (left_out, raced) = (left_out.concat(), raced.concat());
    for name in ["ext3", "ext4", "ntfs", "jfs", "xfs", "btrfs"] {
        assert_ne!(left_out.contains(&format!("{name} (")), raced.contains(name), "{name}: {said}");
    }
    assert!(raced.contains("ext3"), "{said}");
}

/// Processes of appenders below a process, by their ids.
fn writers_below(ancestor: u32) -> BTreeSet<u32> {
    let mut parents = Vec::new();
    for entry in std::fs::read_dir("/proc").unwrap().flatten() {
        let Ok(pid) = entry.file_name().to_string_lossy().parse::<u32>() else { continue };
        let Ok(stat) = std::fs::read_to_string(entry.path().join("stat")) else { continue };
        let Some((name, rest)) = stat.rsplit_once(") ") else { continue };
        let parent = rest.split(' ').nth(1).and_then(|parent| parent.parse::<u32>().ok()).unwrap_or(0);
        parents.push((pid, parent, name.ends_with("(fairlane-writer")));
    }
    let parent_of = |pid: u32| parents.iter().find(|of| of.0 == pid).map_or(0, |of| of.1);
    // A writer's parent is the agent, whose parent is the race.
    let below = parents.iter().filter(|(_, parent, writer)| *writer && parent_of(*parent) == ancestor);
    below.map(|of| of.0).collect()
}

fn is_writer(pid: u32) -> bool {
    // One that ended and that the first process of a container never buried works no more.
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    let state = stat.rsplit_once(") ").and_then(|(_, rest)| rest.chars().next());
    stat.contains("(fairlane-writer)") && !matches!(state, Some('Z' | 'X'))
}

#[test]
fn ctrl_c_and_sigkill_leave_none_of_the_appenders_processes() {
    let place = Place::new();
    let suite = suite(&place, "writers = 400\nperiod_seconds = 1\nseconds = 600\nmethod = \"processes\"");
    let folder = place.path().join("a");
    std::fs::create_dir(&folder).expect("a folder");
    for signal in [Signal::INT, Signal::KILL] {
        let mut child = place
            .fairlane(&["race", folder.to_str().unwrap(), "--suite", &suite, "--rounds", "1", "-o", "r.jsonl"])
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("fairlane starts");
        let begun = Instant::now();
        let mut all = BTreeSet::new();
        while all.len() < 400 {
            assert!(begun.elapsed() < Duration::from_secs(120), "only {} processes came", all.len());
            assert!(child.try_wait().unwrap().is_none(), "the race ended by itself");
            std::thread::sleep(Duration::from_millis(20));
            all.extend(writers_below(child.id()));
        }
        kill_process(Pid::from_raw(child.id() as i32).unwrap(), signal).expect("a signal");
        let status = child.wait().expect("it ends");
        if signal == Signal::INT {
            assert_eq!(status.code(), Some(130));
            let left: Vec<&u32> = all.iter().filter(|pid| is_writer(**pid)).collect();
            assert!(left.is_empty(), "left after Ctrl-C: {left:?}");
        }
        // Whoever was killed could not wait for anybody: its processes die by themselves at once.
        let begun = Instant::now();
        while all.iter().any(|pid| is_writer(*pid)) {
            assert!(begun.elapsed() < Duration::from_secs(60), "writers outlive the race");
            std::thread::sleep(Duration::from_millis(20));
        }
        let _ = std::fs::remove_file(place.path().join("r.jsonl"));
    }
}

#[test]
fn more_files_than_one_process_may_open_are_shared_by_several() {
    let place = Place::new();
    let suite = suite(&place, "writers = 400\nperiod_seconds = 0.2\nseconds = 0.6");
    let folder = place.path().join("a");
    std::fs::create_dir(&folder).expect("a folder");
    let mut command = std::process::Command::new("prlimit");
    command.arg("--nofile=600:600");
    if root() {
        // Who may raise its limits does: that right is given up first.
        command.args(["setpriv", "--bounding-set=-sys_resource", "--inh-caps=-sys_resource"]);
    }
    let output = command
        .arg(env!("CARGO_BIN_EXE_fairlane"))
        .args(["race", folder.to_str().unwrap(), "--suite", &suite, "--rounds", "1", "-o", "r.jsonl"])
        .current_dir(place.path())
        .env("XDG_STATE_HOME", place.path().join("state"))
        .env("FAIRLANE_UNDO_DIR", place.path().join("undo"))
        .output()
        .expect("prlimit runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let record = place.record();
    let trial = record.iter().find(|line| line["kind"] == "trial").expect("a trial");
    let flags = trial["flags"].to_string();
    assert!(flags.contains("writers-in-processes: the writers share 8 processes"), "{flags}");
    assert_eq!(trial["groups"][0]["lateness"]["due"], 3 * 400 * 4, "{trial}");
}

#[test]
fn what_the_kernel_does_not_allow_is_said_before_anything_is_made() {
    let place = Place::new();
    let folder = place.path().join("a");
    std::fs::create_dir(&folder).expect("a folder");
    let most = std::fs::read_to_string("/proc/sys/kernel/pid_max").unwrap().trim().parse::<u64>().unwrap();
    if most < 100_000 {
        let suite = suite(&place, "writers = 100000\nperiod_seconds = 1\nseconds = 1\nmethod = \"processes\"");
        let (_, err) = place.expect(4, &["race", folder.to_str().unwrap(), "--suite", &suite]);
        common::assert_one_sentence(&err, &["100000 processes are needed", "multiplexed"]);
    }
    let suite = suite(&place, "writers = 0\nperiod_seconds = 1\nseconds = 1");
    let (_, err) = place.expect(2, &["race", folder.to_str().unwrap(), "--suite", &suite]);
    common::assert_one_sentence(&err, &["appenders.toml:", "writers must lie between 1 and"]);
    let (_, err) = place.expect(2, &["race", folder.to_str().unwrap(), "--suite", "quick", "--find-max"]);
    common::assert_one_sentence(&err, &["--find-max", "--suite appenders"]);
}
