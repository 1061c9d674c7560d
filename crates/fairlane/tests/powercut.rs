//! Power cuts on the real kernel: both controls at a small size, what cannot be trusted, a failing image again, and
//! nothing left after any death.

mod common;

use common::{Place, root};
use model::durability::{DurabilityFindings, DurabilityVerdict, Untrusted};
use rustix::process::{Pid, Signal, kill_process};
use std::process::Stdio;
use std::time::{Duration, Instant};

fn findings(text: &str) -> DurabilityFindings {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

#[test]
fn the_safe_control_keeps_everything_and_the_unsafe_one_does_not() {
    if !root() {
        return;
    }
    let place = Place::new();
    let small = ["powercut", "ext4", "--cuts", "80", "--workload", "append", "--workload", "replace", "--seed", "11"];
    let arguments = [&small[..], &["--no-speed", "--format", "json", "-q", "-o", "cuts.jsonl"]].concat();
    let (out, _) = place.expect(0, &arguments);
    let found = findings(&out);
    assert_eq!(found.controls, ["ext4", "ext4,nobarrier"]);
    assert_eq!(found.untrusted, []);
    let safe = &found.lanes[0];
    assert_eq!(
        (safe.verdict, safe.cuts, safe.broken, safe.unmountable, safe.complaints),
        (DurabilityVerdict::Kept, 80, 0, 0, 0)
    );
    assert!(safe.below.is_some_and(|below| below < 3.0 / 80.0));
    let unsafe_one = &found.lanes[1];
    assert_eq!(unsafe_one.verdict, DurabilityVerdict::Broke);
    assert!(unsafe_one.lost + unsafe_one.stale > 0, "{unsafe_one:?}");
    place.assert_nothing_left();

    // The record says the same again, and a failing image is made again from what was kept of it.
    let (again, _) = place.expect(0, &["report", "cuts.jsonl", "--format", "json"]);
    assert_eq!(findings(&again), found);
    let (text, _) = place.expect(0, &["report", "cuts.jsonl"]);
    assert!(text.contains("CONTROLS") && text.contains("honours every flush"), "{text}");
    let kept = &unsafe_one.examples.iter().find(|of| !of.example.kept.is_empty()).expect("one is kept").example;
    let (look, _) = place.expect(0, &["powercut", "--look", &kept.kept]);
    assert!(look.contains(&kept.said) && look.contains("mounted at"), "{look}");
    let (harmless, _) = place.expect(0, &["clean"]);
    assert!(harmless.contains("unmounted"), "{harmless}");
    place.assert_nothing_left();
}

#[test]
fn the_same_seed_and_log_give_the_same_image() {
    if !root() {
        return;
    }
    let place = Place::new();
    let arguments = [
        "powercut",
        "ext4",
        "--cuts",
        "24",
        "--workload",
        "append",
        "--seed",
        "4",
        "--no-speed",
        "-q",
        "-o",
        "a.jsonl",
    ];
    place.expect(0, &arguments);
    let folder = std::fs::read_dir(place.path().join("a.kept")).expect("kept").next().expect("one").expect("entry");
    let folder = folder.path().display().to_string();
    let mut said = Vec::new();
    for _ in 0..2 {
        let (out, _) = place.expect(0, &["powercut", "--look", &folder]);
        said.push(out.lines().take(2).map(str::to_owned).collect::<Vec<_>>());
        place.expect(0, &["clean"]);
    }
    assert_eq!(said[0], said[1]);
    place.assert_nothing_left();
}

#[test]
fn a_run_whose_controls_show_nothing_is_refused() {
    if !root() {
        return;
    }
    let place = Place::new();
    // Nothing is promised by this work, so that no control can lose anything.
    let (out, err) = place.expect(
        1,
        &[
            "powercut",
            "ext4",
            "--cuts",
            "12",
            "--workload",
            "sequences-no-dirsync",
            "--no-speed",
            "--format",
            "json",
            "-q",
        ],
    );
    assert_eq!(findings(&out).untrusted, [Untrusted::ControlMissing]);
    assert!(err.contains("controls"), "{err}");
    place.assert_nothing_left();
}

#[test]
fn what_cannot_be_cut_is_refused_with_a_sentence() {
    let place = Place::new();
    for (arguments, says) in [
        (vec!["powercut", "ext4", "--workload", "nothing"], "there is no workload"),
        (vec!["powercut", "ext4", "--on", "/nonexistent"], "no such directory"),
        (vec!["powercut", "--look", "."], "keeps no failing image"),
        (vec!["powercut", "ext4", "--format", "pdf"], "there is no format"),
    ] {
        let (_, err) = place.expect(2, &arguments);
        assert!(err.contains(says), "{arguments:?}: {err}");
    }
    if root() {
        for lane in ["tmpfs", "rsext4", "/tmp"] {
            let (_, err) = place.expect(2, &["powercut", lane]);
            assert!(err.contains("lane"), "{lane}: {err}");
        }
        place.assert_nothing_left();
    }
}

/// The processes that serve disks for a run: children of any of its threads.
fn servers(parent: u32) -> Vec<u32> {
    let tasks = std::fs::read_dir(format!("/proc/{parent}/task")).into_iter().flatten().flatten();
    let lists = tasks.filter_map(|task| std::fs::read_to_string(task.path().join("children")).ok());
    let all: Vec<u32> =
        lists.flat_map(|list| list.split_whitespace().filter_map(|pid| pid.parse().ok()).collect::<Vec<_>>()).collect();
    let of = |pid: &u32| {
        std::fs::read_to_string(format!("/proc/{pid}/comm")).is_ok_and(|name| name.trim() == "fairlane-disk")
    };
    all.into_iter().filter(of).collect()
}

#[test]
fn sigkill_of_the_run_or_of_its_disk_leaves_nothing() {
    if !root() {
        return;
    }
    for (of_the_disk, delay) in [(false, 0), (false, 150), (false, 700), (true, 0), (true, 150), (true, 700)] {
        let place = Place::new();
        let arguments = ["powercut", "ext4", "--cuts", "4000", "--workload", "append", "--no-speed", "-q"];
        let mut command = place.fairlane(&arguments);
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("fairlane starts");
        let begun = Instant::now();
        let mut found = servers(child.id());
        while found.is_empty() {
            assert!(begun.elapsed() < Duration::from_secs(60), "no disk was served");
            std::thread::sleep(Duration::from_millis(2));
            found = servers(child.id());
        }
        std::thread::sleep(Duration::from_millis(delay));
        let mut victims = if of_the_disk { servers(child.id()) } else { vec![child.id()] };
        while victims.is_empty() {
            // Between two disks.
            assert!(begun.elapsed() < Duration::from_secs(60), "no disk was served");
            std::thread::sleep(Duration::from_millis(2));
            victims = servers(child.id());
        }
        for victim in victims {
            let _ = kill_process(Pid::from_raw(victim as i32).expect("a pid"), Signal::KILL);
        }
        let status = child.wait().expect("it ends");
        assert!(!status.success(), "{status}");
        // A served disk outlives its run until the next command, or itself, has unmounted it.
        place.expect(0, &["records"]);
        place.assert_nothing_left();
    }
}

#[test]
fn damage_is_told_as_each_filesystem_tells_it() {
    if !root() {
        return;
    }
    let place = Place::new();
    let lanes = ["ext4", "btrfs", "raid1=btrfs(-m raid1 -d raid1)"];
    let arguments = [&["integrity"][..], &lanes, &["--blocks", "12", "--seed", "8", "--format", "json", "-q"]].concat();
    let (out, _) = place.expect(0, &arguments);
    let found = findings(&out);
    let of = |lane: &str| {
        let mut all = found.damage.iter().filter(|of| of.damage.lane == lane && of.damage.of == "data");
        all.next().unwrap_or_else(|| panic!("{lane} was not damaged")).clone()
    };
    use model::durability::Honesty::{Refused, Repaired, Silent};
    assert_eq!([of("ext4").honesty, of("btrfs").honesty, of("raid1").honesty], [Silent, Refused, Repaired]);
    assert_eq!((of("raid1").damage.devices, of("btrfs").damage.blocks), (2, 12));
    assert!(of("btrfs").damage.noticed && !of("ext4").damage.noticed);
    let full = found.full.iter().find(|full| full.lane == "ext4").expect("ext4 was filled");
    assert!(full.could_delete && full.whole == full.files && full.came_back > 0.9, "{full:?}");
    let flush = found.faults.iter().find(|fault| fault.lane == "ext4" && fault.of == "flush").expect("a flush failed");
    assert!(flush.happened && flush.told.contains("Input/output error") && flush.lost == 0, "{flush:?}");
    place.assert_nothing_left();
}
