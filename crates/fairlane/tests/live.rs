//! The dashboard beside a real race: it is seen while it lasts, by its own user, and no longer.

use crate::common;
use crate::server;

use common::{Place, root};
use model::page::{Live, RacePage, RecordList};
use rustix::process::{Pid, Signal, kill_process};
use server::Server;
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

/// A race on a directory that stops itself before each step of measuring.
fn stopping(place: &Place, rounds: &str) -> Command {
    let suite = place.tiny_suite();
    std::fs::create_dir(place.path().join("lane")).unwrap();
    let mut command = place.fairlane(&["race", "./lane", "--suite", &suite, "--workload", "small-files"]);
    command.args(["--rounds", rounds]).env("FAIRLANE_HOLD", "measure").stdout(Stdio::null()).stderr(Stdio::null());
    command
}

/// Waits until the race has stopped itself; `Some`: it ended.
#[track_caller]
fn stopped(race: &mut Child) -> Option<ExitStatus> {
    let begun = Instant::now();
    loop {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", race.id())).unwrap_or_default();
        if stat.rsplit(") ").next().is_some_and(|rest| rest.starts_with('T')) {
            return None;
        }
        if let Some(status) = race.try_wait().unwrap() {
            return Some(status);
        }
        assert!(begun.elapsed() < Duration::from_secs(60), "the race neither stops nor ends");
        std::thread::sleep(Duration::from_millis(1));
    }
}

fn signal(race: &Child, signal: Signal) {
    kill_process(Pid::from_raw(race.id() as i32).unwrap(), signal).unwrap();
}

/// Files of progress that tell of a record.
fn traces(record: &str) -> Vec<PathBuf> {
    // Not a pipe, which another test may have put there.
    let is_file = |path: &PathBuf| std::fs::symlink_metadata(path).is_ok_and(|of| of.is_file());
    let of = |path: &PathBuf| is_file(path) && std::fs::read_to_string(path).is_ok_and(|text| text.contains(record));
    let all = std::fs::read_dir("/dev/shm").unwrap().flatten().map(|entry| entry.path());
    all.filter(|path| path.to_string_lossy().contains("/fairlane-") && of(path)).collect()
}

#[test]
fn a_race_is_watched_from_its_first_step_to_its_end() {
    let place = Place::new();
    let server = Server::start(&place, &[]);
    let mut watch = server.watch();
    assert_eq!(watch.next(), Some(Live::Idle));
    let mut race = stopping(&place, "6").spawn().unwrap();
    assert!(stopped(&mut race).is_none());
    let first = watch.until(|live| matches!(live, Live::Running { phase, .. } if phase == "measure"));
    let Live::Running { record, suite, workload, number, of, round, lane, rates, trials, .. } = first else {
        unreachable!()
    };
    assert_eq!((suite.as_str(), workload.as_str(), number, of, round), ("tiny", "small files", 1, 1, 1));
    assert!(rates.is_empty() && trials == 0);
    let list: RecordList = server.get("/api/records").json();
    let [entry] = &list.records[..] else { panic!("{list:?}") };
    assert_eq!((&entry.name, entry.outcome.as_str(), &entry.lanes), (&record, "running", &vec![lane]));
    assert_eq!(traces(&record).len(), 1);

    // Step by step into a later round, whose figures of the one before are told.
    let later = loop {
        signal(&race, Signal::CONT);
        assert!(stopped(&mut race).is_none(), "it ended before a second round was seen");
        match server.watch().next() {
            Some(Live::Running { round, rates, trials, .. }) if round > 1 && !rates.is_empty() => {
                break (round, rates, trials);
            }
            _ => {}
        }
    };
    let (round, rates, trials) = later;
    assert_eq!(rates.iter().map(|rate| rate.group.as_str()).collect::<Vec<_>>(), ["create", "read", "delete"]);
    assert!(rates.iter().all(|rate| rate.value > 0.0 && rate.round <= round && rate.lane == entry.lanes[0]));
    assert!(trials >= 1);
    let page: RacePage = server.get(&format!("/api/race/{record}")).json();
    assert!(page.trials.in_all >= 1);

    let status = loop {
        signal(&race, Signal::CONT);
        if let Some(status) = stopped(&mut race) {
            break status;
        }
    };
    assert!(status.success(), "{status}");
    watch.until(|live| *live == Live::Idle);
    let list: RecordList = server.get("/api/records").json();
    assert_eq!(list.records[0].outcome, "complete");
    assert!(traces(&record).is_empty(), "nothing is left in shared memory");
}

#[test]
fn a_race_that_was_killed_is_not_running_and_the_next_command_removes_its_trace() {
    let place = Place::new();
    let server = Server::start(&place, &[]);
    let mut race = stopping(&place, "1").spawn().unwrap();
    assert!(stopped(&mut race).is_none());
    let mut watch = server.watch();
    let Live::Running { record, .. } = watch.until(|live| *live != Live::Idle) else { unreachable!() };
    // Another folder's server has nothing to do with it.
    let elsewhere = Server::start(&place, &["--records", place.path().to_str().unwrap()]);
    assert_eq!(elsewhere.watch().next(), Some(Live::Idle));
    signal(&race, Signal::KILL);
    race.wait().unwrap();
    watch.until(|live| *live == Live::Idle);
    let list: RecordList = server.get("/api/records").json();
    assert_eq!(list.records[0].outcome, "unfinished");
    place.expect(0, &["records"]);
    assert!(traces(&record).is_empty());
    place.assert_nothing_left();
}

#[test]
fn a_race_of_root_is_its_users_to_watch() {
    if !root() {
        return;
    }
    let place = Place::new();
    let state = place.path().join("state");
    std::fs::create_dir(&state).unwrap();
    std::os::unix::fs::chown(&state, Some(54321), Some(54321)).unwrap();
    std::fs::set_permissions(place.path(), std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let user = [("SUDO_UID", "54321"), ("SUDO_GID", "54321")];
    let mut race = stopping(&place, "1").envs(user).spawn().unwrap();
    assert!(stopped(&mut race).is_none());
    let of_user = Server::new(place.fairlane(&["serve", "--listen", "127.0.0.1:0"]).envs(user));
    let of_root = Server::start(&place, &[]);
    assert!(matches!(of_user.watch().next(), Some(Live::Running { .. })));
    assert_eq!(of_root.watch().next(), Some(Live::Idle));
    let status = loop {
        signal(&race, Signal::CONT);
        if let Some(status) = stopped(&mut race) {
            break status;
        }
    };
    assert!(status.success());
}
