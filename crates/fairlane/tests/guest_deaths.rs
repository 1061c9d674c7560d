//! What becomes of races whose guests, keepers or agents die or hang.

use crate::common;
use crate::home;
use crate::user_mode_linux;

use home::{Home, words};
use model::trial::Outcome;
use rustix::process::{Pid, Signal, kill_process};
use std::io::{BufRead, BufReader};
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};
use user_mode_linux::user_mode_linux;

/// Starts a race that stops itself at a phase, with its guest running.
fn held(home: &Home, phase: &str) -> Child {
    let line = home.race_of("1", &["ext4@uml", "xfs@uml"]);
    let child = home
        .fairlane(&words(&line))
        .env("FAIRLANE_HOLD", phase)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("fairlane starts");
    wait_until_held(&child);
    child
}

fn wait_until_held(child: &Child) {
    let begun = Instant::now();
    loop {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", child.id())).unwrap_or_default();
        match stat.rsplit(") ").next().unwrap_or("Z").chars().next() {
            Some('T') => return,
            Some('Z') | None => panic!("the race ended before"),
            _ => assert!(begun.elapsed() < Duration::from_secs(120), "the race never came to the phase"),
        }
        std::thread::sleep(Duration::from_millis(2));
    }
}

fn signal(pid: u32, signal: Signal) {
    kill_process(Pid::from_raw(pid as i32).expect("a pid"), signal).expect("a signal");
}

/// The process of a guest's kernel, which is the first that its keeper started, and the keeper. Helpers of user-mode
/// Linux have the kernel's command line, and any number.
fn guest_of(home: &Home) -> (u32, u32) {
    let all = home.processes();
    let keeper = all.iter().find(|(_, line)| line.contains("guest-keeper") && line.contains("umid=guest"));
    let keeper = keeper.map(|(pid, _)| *pid).unwrap_or_else(|| panic!("{all:?}"));
    let children = std::fs::read_to_string(format!("/proc/{keeper}/task/{keeper}/children")).expect("children");
    let kernel = children.split_whitespace().next().and_then(|pid| pid.parse().ok());
    (kernel.unwrap_or_else(|| panic!("{all:?}")), keeper)
}

#[test]
fn sigkill_with_a_guest_running_leaves_nothing() {
    if !user_mode_linux() {
        return;
    }
    for with_keeper in [false, true] {
        let home = Home::new();
        let mut child = held(&home, "measure");
        let (_, keeper) = guest_of(&home);
        if with_keeper {
            signal(keeper, Signal::KILL);
        }
        signal(child.id(), Signal::KILL);
        child.wait().expect("it is gone");
        if !with_keeper {
            home.assert_no_process_stays();
        }
        home.expect(0, &["clean"]);
        home.assert_no_process_stays();
        home.0.assert_nothing_left();
    }
}

/// Processes whose program is user-mode Linux and that belong to a session.
fn of_session(session: u32) -> Vec<String> {
    let entries = std::fs::read_dir("/proc").expect("/proc").flatten();
    let of = |entry: std::fs::DirEntry| {
        let stat = std::fs::read_to_string(entry.path().join("stat")).ok()?;
        let (head, rest) = stat.rsplit_once(')')?;
        let fields: Vec<&str> = rest.split_whitespace().collect();
        (*fields.first()? != "Z" && *fields.get(3)? == session.to_string()).then(|| head.to_owned())
    };
    entries.filter_map(of).collect()
}

#[test]
fn a_keeper_that_is_killed_alone_costs_the_guests_trials_and_nothing_stays() {
    if !user_mode_linux() {
        return;
    }
    let home = Home::new();
    let mut child = held(&home, "measure");
    // User-mode Linux leads a session of its own, to which its helpers belong.
    let (kernel, keeper) = guest_of(&home);
    assert!(!of_session(kernel).is_empty());
    signal(keeper, Signal::KILL);
    signal(child.id(), Signal::CONT);
    let begun = Instant::now();
    let status = loop {
        if let Some(status) = child.try_wait().expect("wait") {
            break status;
        }
        // It may hold again.
        signal(child.id(), Signal::CONT);
        assert!(begun.elapsed() < Duration::from_secs(300), "the race waits for a guest that is gone");
        std::thread::sleep(Duration::from_millis(5));
    };
    assert!(matches!(status.code(), Some(0 | 1)), "{status}");
    let record = home.record();
    let died: Vec<_> = record.trials.iter().filter(|trial| trial.outcome == Outcome::Failed).collect();
    assert!(!died.is_empty() && record.end.is_some(), "{:#?}", record.trials);
    assert_eq!(of_session(kernel), Vec::<String>::new());
    home.assert_no_process_stays();
    home.0.assert_nothing_left();
}

/// An unmount may take ten minutes, which nobody waits for after Ctrl-C.
#[test]
fn a_guest_that_hangs_is_ended_after_ctrl_c() {
    if !user_mode_linux() {
        return;
    }
    let home = Home::new();
    let mut child = held(&home, "unmount");
    let (kernel, _) = guest_of(&home);
    signal(kernel, Signal::STOP);
    signal(child.id(), Signal::INT);
    let begun = Instant::now();
    let status = loop {
        signal(child.id(), Signal::CONT);
        if let Some(status) = child.try_wait().expect("wait") {
            break status;
        }
        assert!(begun.elapsed() < Duration::from_secs(180), "the race waits for a guest that hangs");
        std::thread::sleep(Duration::from_millis(20));
    };
    assert_eq!(status.code(), Some(130));
    home.assert_no_process_stays();
    home.0.assert_nothing_left();
}

fn a_guest_dies(phase: &str) {
    let home = Home::new();
    let mut child = held(&home, phase);
    let (kernel, _) = guest_of(&home);
    signal(kernel, Signal::KILL);
    loop {
        signal(child.id(), Signal::CONT);
        if let Some(status) = child.try_wait().expect("wait") {
            assert!(matches!(status.code(), Some(0 | 1)), "{status}");
            break;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    let record = home.record();
    let (died, went_on): (Vec<_>, Vec<_>) = record.trials.iter().partition(|trial| trial.outcome == Outcome::Failed);
    assert!(!died.is_empty() && !went_on.is_empty(), "{:#?}", record.trials);
    assert!(
        died.iter().any(|trial| {
            let why = trial.reason.as_deref().unwrap_or_default();
            why.contains("uml guest died") && why.contains("killed from outside")
        }),
        "{died:#?}"
    );
    assert!(record.end.is_some());
    home.0.assert_nothing_left();
}

#[test]
fn a_guest_that_dies_costs_its_trials_and_the_race_goes_on() {
    if !user_mode_linux() {
        return;
    }
    a_guest_dies("measure");
}

/// What it had not written is lost with it, though all was measured.
#[test]
fn a_guest_that_dies_before_it_unmounts_costs_its_trials_too() {
    if !user_mode_linux() {
        return;
    }
    a_guest_dies("unmount");
}

#[test]
fn work_that_does_not_fit_into_the_guests_memory_fails_its_trial_alone() {
    if !user_mode_linux() {
        return;
    }
    let home = Home::new();
    let suite = home.0.path().join("hungry.toml");
    let hungry = "\n[[workload]]\nname = \"hungry\"\ntitle = \"hungry\"\nkind = \"io\"\nrw = \"randread\"\nbs = \"1MiB\"\n\
                  size = \"4MiB\"\nnumjobs = 12\nioengine = \"io_uring\"\niodepth = 32\ndirect = true\nslices = 2\nslice_seconds = 0.02\n";
    std::fs::write(&suite, format!("{}{hungry}", common::TINY)).unwrap();
    let line =
        ["race", "ext4@uml", "--suite", "hungry.toml", "--rounds", "1", "--lane-size", "128MiB", "-o", "r.jsonl"];
    let (_, _) = home.expect(1, &[&line[..], &["--guest-memory", "320MiB"]].concat());
    let record = home.record();
    for trial in &record.trials {
        assert_eq!(trial.outcome == Outcome::Failed, trial.workload == "hungry", "{trial:?}");
    }
    let failed = record.trials.iter().find(|trial| trial.outcome == Outcome::Failed).expect("a trial that failed");
    let why = failed.reason.as_deref().unwrap_or_default();
    assert!(why.contains("buffers of 384 MiB do not fit into the"), "{why}");
    home.0.assert_nothing_left();
}

/// Hours of cuts are not lost with the guest that they were done in.
#[test]
fn what_was_found_before_a_guest_of_power_cuts_died_is_kept() {
    if !user_mode_linux() {
        return;
    }
    let home = Home::new();
    let cut = ["powercut", "xfs", "--on", "uml", "--cuts", "24", "--workload", "append", "--no-speed", "-o", "r.jsonl"];
    let mut child = home.fairlane(&cut).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().expect("fairlane starts");
    let mut said = BufReader::new(child.stderr.take().expect("its errors")).lines().map_while(Result::ok);
    assert!(said.any(|line| line.starts_with("ext4 append: 0 of 24")), "the first lane was not cut");
    signal(guest_of(&home).0, Signal::KILL);
    let rest: Vec<String> = said.collect();
    assert_eq!(child.wait().expect("it ends").code(), Some(1), "{rest:?}");
    assert!(rest.iter().any(|line| line.contains("the uml guest died")), "{rest:?}");
    let (json, _) = home.expect(0, &["report", "r.jsonl", "--format", "json"]);
    let found: serde_json::Value = serde_json::from_str(&json).expect("findings");
    let ext4 = found["lanes"].as_array().expect("lanes").iter().find(|lane| lane["lane"] == "ext4");
    assert_eq!(ext4.map(|lane| lane["cuts"].clone()), Some(24.into()), "{found:#}");
    assert_eq!(found["outcome"], "failed");
    home.assert_no_process_stays();
    home.0.assert_nothing_left();
}
