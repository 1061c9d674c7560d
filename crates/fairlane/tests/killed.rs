//! Whatever ends a race, the next command leaves nothing behind.

use crate::common;

use common::{Place, root};
use rustix::process::{Pid, Signal, kill_process};
use std::process::Child;
use std::time::{Duration, Instant};

const PHASES: [&str; 7] = ["mkfs", "populate", "measure", "cold", "sync", "unmount", "record"];

fn start(place: &Place, hold: Option<&str>) -> Child {
    let suite = place.tiny_suite();
    // Two mounts each: a part of the filesystem once more, and another filesystem over it. Small, because most of the time
    // until a phase goes into images; those are large where they are what a test looks at.
    let (lanes, size) = match hold {
        Some(_) => (["fscrypt(ext4)", "overlay(ext4)"], "128MiB"),
        None => (["fscrypt(ext4)", "overlay(xfs)"], "320MiB"),
    };
    let terms = ["--suite", &suite, "--rounds", "3", "--lane-size", size, "-o", "r.jsonl"];
    let mut command = place.fairlane(&[&["race"], &lanes[..], &terms].concat());
    if let Some(phase) = hold {
        command.env("FAIRLANE_HOLD", phase);
    }
    command.stdout(std::process::Stdio::null()).stderr(std::process::Stdio::null()).spawn().expect("fairlane starts")
}

fn pid(child: &Child) -> Pid {
    Pid::from_raw(child.id() as i32).expect("a pid")
}

/// Waits until the race has stopped itself at the phase; false: it ended before.
fn wait_until_held(child: &Child) -> bool {
    let begun = Instant::now();
    loop {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", child.id())).unwrap_or_default();
        let state = stat.rsplit(") ").next().unwrap_or("Z").chars().next();
        match state {
            Some('T') => return true,
            Some('Z') | None => return false,
            _ => assert!(begun.elapsed() < Duration::from_secs(60), "the race never came to the phase"),
        }
        std::thread::sleep(Duration::from_millis(1));
    }
}

#[test]
fn sigkill_in_every_phase_leaves_nothing_once_the_next_command_ran() {
    if !root() {
        return;
    }
    for (number, phase) in PHASES.into_iter().enumerate() {
        // At the phase's very beginning, and some milliseconds into it.
        for delay in [0, [4, 15][number % 2]] {
            let place = Place::new();
            let mut child = start(&place, Some(phase));
            assert!(wait_until_held(&child), "the race ended before {phase}");
            if delay > 0 {
                kill_process(pid(&child), Signal::CONT).expect("SIGCONT");
                std::thread::sleep(Duration::from_millis(delay));
            }
            kill_process(pid(&child), Signal::KILL).expect("SIGKILL");
            child.wait().expect("it is gone");
            let (out, _) = place.expect(0, &["clean"]);
            assert!(out.contains("nothing to clean") || out.contains("removed"), "{out}");
            place.assert_nothing_left();
        }
    }
}

#[test]
fn whatever_signal_ends_a_race_nothing_is_left_once_the_next_command_ran() {
    if !root() {
        return;
    }
    let signals = [Signal::HUP, Signal::TERM, Signal::QUIT, Signal::PIPE, Signal::ABORT, Signal::XCPU];
    for (number, signal) in signals.into_iter().enumerate() {
        let place = Place::new();
        let phase = ["populate", "measure", "unmount"][number % 3];
        let mut child = start(&place, Some(phase));
        assert!(wait_until_held(&child), "the race ended before {phase}");
        kill_process(pid(&child), signal).expect("a signal");
        let begun = Instant::now();
        let patience = Duration::from_secs(if signal == Signal::PIPE { 1 } else { 5 });
        while child.try_wait().expect("wait").is_none() {
            // A race that goes on, as after SIGPIPE, is ended while it stands stopped.
            if begun.elapsed() >= patience {
                let _ = kill_process(pid(&child), Signal::KILL);
            } else {
                let _ = kill_process(pid(&child), Signal::CONT);
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        place.expect(0, &["clean"]);
        place.assert_nothing_left();
    }
}

/// The folder is nobody's, so that root works on it through a mount below /run.
#[test]
fn sigkill_in_a_folder_of_somebody_else_s_leaves_nothing_either() {
    if !root() {
        return;
    }
    for phase in PHASES {
        let place = Place::new();
        std::os::unix::fs::chown(place.path(), Some(65534), Some(65534)).expect("chown");
        // Root's journals lie in a folder of root's.
        let undo = Place::new();
        let with_undo = |mut command: std::process::Command| {
            command.env("FAIRLANE_UNDO_DIR", undo.path().join("undo"));
            command
        };
        let suite = place.tiny_suite();
        let words =
            ["race", "ext4", "xfs", "--suite", &suite, "--rounds", "3", "--lane-size", "320MiB", "-o", "r.jsonl"];
        let mut race = with_undo(place.fairlane(&words));
        race.env("FAIRLANE_HOLD", phase).stdout(std::process::Stdio::null()).stderr(std::process::Stdio::null());
        let mut child = race.spawn().expect("fairlane starts");
        assert!(wait_until_held(&child), "the race ended before {phase}");
        let journals = std::fs::read_dir(undo.path().join("undo")).expect("undo").flatten();
        let journal = journals.map(|entry| entry.path()).find(|path| path.extension().is_some_and(|of| of == "jsonl"));
        let run = journal.and_then(|path| path.file_stem().map(|id| format!("/run/.fairlane-{}", id.display())));
        let run = run.expect("a journal");
        assert!(std::path::Path::new(&run).exists(), "{phase}: root works in {run}");
        kill_process(pid(&child), Signal::KILL).expect("SIGKILL");
        child.wait().expect("it is gone");
        let output = with_undo(place.fairlane(&["clean"])).output().expect("fairlane runs");
        assert!(output.status.success(), "{phase}: {output:?}");
        let mounts = std::fs::read_to_string("/proc/self/mountinfo").expect("mountinfo");
        assert!(!std::path::Path::new(&run).exists() && !mounts.contains(&run), "{phase}: {run}\n{mounts}");
        assert!(common::loops_under(&run).is_empty(), "{phase}");
        place.assert_nothing_left();
    }
}

#[test]
fn sigkill_while_images_are_written_leaves_nothing() {
    if !root() {
        return;
    }
    for delay in [20, 60, 120, 250, 400, 600] {
        let place = Place::new();
        let mut child = start(&place, None);
        std::thread::sleep(Duration::from_millis(delay));
        let _ = kill_process(pid(&child), Signal::KILL);
        child.wait().expect("it is gone");
        place.expect(0, &["records"]);
        place.assert_nothing_left();
    }
}

#[test]
fn ctrl_c_while_images_are_laid_out_says_that_nothing_is_left() {
    if !root() {
        return;
    }
    let place = Place::new();
    let suite = place.tiny_suite();
    let words = ["race", "ext4", "xfs", "--suite", &suite, "--lane-size", "320MiB", "-o", "r.jsonl"];
    let mut race = place.fairlane(&words);
    race.env("FAIRLANE_HOLD", "images").stdout(std::process::Stdio::null()).stderr(std::process::Stdio::piped());
    let child = race.spawn().expect("fairlane starts");
    assert!(wait_until_held(&child), "the race ended before its images");
    kill_process(pid(&child), Signal::INT).expect("SIGINT");
    kill_process(pid(&child), Signal::CONT).expect("SIGCONT");
    let output = child.wait_with_output().expect("it ends");
    assert_eq!(output.status.code(), Some(130), "{output:?}");
    let said = String::from_utf8_lossy(&output.stderr);
    let nothing = "interrupted before a round was done: there is no record r.jsonl, and nothing is left behind";
    assert!(said.contains(nothing), "{said}");
    assert!(!place.path().join("r.jsonl").exists());
    place.assert_nothing_left();
}

#[test]
fn ctrl_c_in_every_phase_closes_the_record_and_cleans_up() {
    if !root() {
        return;
    }
    for phase in PHASES {
        let place = Place::new();
        let mut child = start(&place, Some(phase));
        assert!(wait_until_held(&child), "the race ended before {phase}");
        // Two rounds further, so that something is in the record; then Ctrl-C in the same phase.
        for _ in 0..4 {
            kill_process(pid(&child), Signal::CONT).expect("SIGCONT");
            std::thread::sleep(Duration::from_millis(3));
            assert!(wait_until_held(&child), "the race ended before {phase} came again");
        }
        kill_process(pid(&child), Signal::INT).expect("SIGINT");
        // The phase may come again on the way out (unmount, record): let it pass each time.
        let status = loop {
            let _ = kill_process(pid(&child), Signal::CONT);
            if let Some(status) = child.try_wait().expect("wait") {
                break status;
            }
            std::thread::sleep(Duration::from_millis(5));
        };
        assert_eq!(status.code(), Some(130), "{phase}");
        place.assert_nothing_left();
        let path = place.path().join("r.jsonl");
        if path.exists() {
            let text = std::fs::read_to_string(&path).expect("record");
            assert!(text.lines().last().unwrap_or_default().contains("\"interrupted\""), "{phase}: {text}");
        }
    }
}

#[test]
fn an_interrupted_race_is_resumed_to_its_end() {
    if !root() {
        return;
    }
    let place = Place::new();
    let mut child = start(&place, Some("sync"));
    for _ in 0..5 {
        assert!(wait_until_held(&child), "the race ended early");
        kill_process(pid(&child), Signal::CONT).expect("SIGCONT");
        std::thread::sleep(Duration::from_millis(3));
    }
    assert!(wait_until_held(&child), "the race ended early");
    kill_process(pid(&child), Signal::KILL).expect("SIGKILL");
    child.wait().expect("it is gone");
    let before = std::fs::read_to_string(place.path().join("r.jsonl")).expect("record");
    place.expect(0, &["race", "--resume", "r.jsonl", "--quiet"]);
    let after = std::fs::read_to_string(place.path().join("r.jsonl")).expect("record");
    assert!(after.starts_with(&before), "a resumed race only appends");
    assert!(after.lines().last().unwrap_or_default().contains("\"complete\""));
    let trials = |workload: &str| {
        after
            .lines()
            .filter(|line| {
                line.contains("\"kind\":\"trial\"") && line.contains(workload) && line.contains("\"outcome\":\"ok\"")
            })
            .count()
    };
    for workload in ["\"workload\":\"commit\"", "\"workload\":\"random-read\"", "\"workload\":\"small-files\""] {
        assert_eq!(trials(workload), 6, "3 rounds of 2 lanes of {workload}:\n{after}");
    }
    let (_, err) = place.expect(2, &["race", "--resume", "r.jsonl"]);
    common::assert_one_sentence(&err, &["complete"]);
    place.assert_nothing_left();
}
