//! Whatever ends a power cut run or the processes that serve its disks, nothing stays mounted.
//!
//! One test: `fairlane clean` takes dead disks away wherever they are, so that another of its kind beside it would
//! clean up here.

mod common;

use common::{Place, root};
use rustix::process::{Pid, Signal, kill_process};
use std::process::{Child, ExitStatus, Stdio};
use std::time::{Duration, Instant};

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

fn send(pid: u32, signal: Signal) {
    let _ = kill_process(Pid::from_raw(pid as i32).expect("a pid"), signal);
}

fn started(place: &Place) -> Child {
    let arguments = ["powercut", "ext4", "--cuts", "4000", "--workload", "append", "--no-speed", "-q"];
    place.fairlane(&arguments).stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("fairlane starts")
}

/// Waits until a run has so many disks served.
fn wait_for_servers(run: &Child, wanted: usize) -> Vec<u32> {
    let begun = Instant::now();
    loop {
        let found = servers(run.id());
        if found.len() >= wanted {
            return found;
        }
        assert!(begun.elapsed() < Duration::from_secs(120), "no disk was served");
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// The places below which a dead disk is mounted: whatever asks it for anything gets ENOTCONN.
fn dead_disks(place: &Place) -> Vec<String> {
    let mounts = std::fs::read_to_string("/proc/self/mountinfo").expect("mountinfo");
    let ours = mounts.lines().filter(|line| line.contains(" - fuse fairlane "));
    let targets = ours.filter_map(|line| line.split(' ').nth(4)).map(str::to_owned);
    let dead = |target: &String| {
        let error = std::fs::metadata(target).expect_err("the process that served it is dead");
        assert_eq!(error.raw_os_error(), Some(libc::ENOTCONN), "{target}: {error}");
    };
    targets.filter(|target| target.starts_with(&place.path().display().to_string())).inspect(dead).collect()
}

/// A run with images under way whose every process is killed at once, as a machine that ends a session does.
fn killed_altogether(place: &Place) -> Vec<String> {
    let mut child = started(place);
    wait_for_servers(&child, 2);
    // All of them have their names by then.
    std::thread::sleep(Duration::from_millis(500));
    // Nothing new is started while the servers are found.
    send(child.id(), Signal::STOP);
    for server in servers(child.id()) {
        send(server, Signal::KILL);
    }
    send(child.id(), Signal::KILL);
    child.wait().expect("it ends");
    std::thread::sleep(Duration::from_millis(50));
    dead_disks(place)
}

/// Kills the run, or the processes that serve its disks; answers how it ended.
fn killed(place: &Place, of_the_disk: bool, delay: u64) -> ExitStatus {
    let mut child = started(place);
    wait_for_servers(&child, 1);
    std::thread::sleep(Duration::from_millis(delay));
    let victims = if of_the_disk { wait_for_servers(&child, 1) } else { vec![child.id()] };
    for victim in victims {
        send(victim, Signal::KILL);
    }
    child.wait().expect("it ends")
}

fn one_death(of_the_disk: bool, delay: u64) {
    let place = Place::new();
    // On a busy machine the moment may be the one at which a disk has served its last request: its death harms nothing.
    let harmed = (0..4).any(|_| !killed(&place, of_the_disk, delay).success());
    assert!(harmed, "a run whose disks were killed went on");
    // A served disk outlives its run until the next command, or itself, has unmounted it.
    place.expect(0, &["records"]);
    place.assert_nothing_left();
}

#[test]
fn sigkill_of_any_process_or_of_all_leaves_nothing() {
    if !root() {
        return;
    }
    for (of_the_disk, delay) in [(false, 0), (false, 150), (false, 700), (true, 0), (true, 150), (true, 700)] {
        one_death(of_the_disk, delay);
    }

    // All at once: dead disks stay mounted, and `fairlane clean` takes them away.
    let place = Place::new();
    let dead = killed_altogether(&place);
    assert!(dead.len() > 1, "{dead:?}");
    let (out, _) = place.expect(0, &["clean"]);
    for target in &dead {
        assert!(out.contains(&format!("unmounted {target}")), "{target}: {out}");
    }
    place.assert_nothing_left();

    // So does whatever command comes next, even one that is refused, and it says so.
    for command in [vec!["powercut", "ext4", "--workload", "nothing"], vec!["race", "nothing-of-this-name"]] {
        let place = Place::new();
        let dead = killed_altogether(&place);
        assert!(!dead.is_empty());
        let (_, err) = place.expect(2, &command);
        assert!(err.contains(&format!("cleaned up after an earlier race: unmounted {}", dead[0])), "{err}");
        place.assert_nothing_left();
    }

    // The journal is lost: the next command notices, and `fairlane clean` takes them away all the same.
    let place = Place::new();
    let dead = killed_altogether(&place);
    for journal in std::fs::read_dir(place.path().join("undo")).expect("undo").flatten() {
        std::fs::remove_file(journal.path()).expect("a journal");
    }
    let (_, err) = place.expect(0, &["records"]);
    assert!(err.contains("disks of a process that is gone") && err.contains("fairlane clean"), "{err}");
    assert_eq!(dead_disks(&place), dead, "only told");
    let (out, _) = place.expect(0, &["clean"]);
    assert!(out.contains(&format!("unmounted {}", dead[0])) && out.contains("removed "), "{out}");
    place.assert_nothing_left();
}
