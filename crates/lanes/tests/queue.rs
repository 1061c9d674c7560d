//! The layer that sets the queue of a disk: set while its lane is open, put back when it is closed, and after SIGKILL.

mod common;

use common::{Scratch, no_stop, privileged, with_lanes};
use lanes::undo::{Recovered, recover};
use lanes::{FailureKind, LaneSet};
use std::io::{BufRead, BufReader, Write};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};

const FOLDER: &str = "FAIRLANE_TEST_QUEUE_FOLDER";
const LANE: &str = "FAIRLANE_TEST_QUEUE_LANE";

/// Loop devices keep their numbers, and whoever takes one next finds its queue: one test at a time.
fn alone(test: &str) -> Option<MutexGuard<'static, ()>> {
    static ONE: Mutex<()> = Mutex::new(());
    let alone = ONE.lock().unwrap_or_else(PoisonError::into_inner);
    privileged(test).then_some(alone)
}

/// An attribute of a disk's queue; of schedulers the one in brackets.
fn queue(disk: &str, attribute: &str) -> String {
    let text = std::fs::read_to_string(format!("/sys/block/{disk}/queue/{attribute}")).unwrap();
    let chosen = text.split_whitespace().find(|word| word.starts_with('['));
    chosen.map_or(text.trim(), |word| word.trim_matches(['[', ']'])).to_owned()
}

/// All that the layer may set.
fn all(disk: &str) -> [String; 3] {
    ["scheduler", "nr_requests", "read_ahead_kb"].map(|attribute| queue(disk, attribute))
}

/// A scheduler that a loop device of this kernel does not have by itself; `None`: there is no other.
fn another_scheduler() -> Option<String> {
    let text = std::fs::read_to_string("/sys/block/loop0/queue/scheduler").ok()?;
    let other = |word: &&str| ["none", "mq-deadline", "kyber", "bfq"].contains(word);
    text.split_whitespace().find(other).map(str::to_owned)
}

/// What a lane says to a disk's queue here.
fn lane() -> String {
    let scheduler = another_scheduler().map_or_else(String::new, |name| format!(",scheduler={name}"));
    format!("set=ext4/queue,read_ahead=4M{scheduler}")
}

#[test]
fn a_queue_is_set_while_its_lane_is_open_and_put_back_when_it_is_closed() {
    let Some(_alone) = alone("the layer queue") else { return };
    let scratch = Scratch::new();
    // Asked now: while a lane is open another one is chosen.
    let (lane, scheduler) = (lane(), another_scheduler());
    with_lanes(&scratch, scratch.settings(&["ext4", &lane], 64), |lane_set, journal| {
        let described = lane_set.lanes();
        assert!(described[0].stands_alike(&described[1]) && described[1].usable_bytes == 0, "{described:?}");
        assert!(described[1].spec.contains("/queue,read_ahead=4M"), "{}", described[1].spec);
        for round in 0..2 {
            let disks = [0, 1].map(|lane| {
                let ground = lane_set.store_for(lane, round);
                lane_set.device_names(ground).device.unwrap()
            });
            let before = disks.clone().map(|disk| all(&disk));
            for lane in [0, 1] {
                let ground = lane_set.store_for(lane, round);
                lane_set.open(lane, ground, journal, &no_stop()).unwrap();
            }
            assert_eq!(all(&disks[0]), before[0], "only its own disk is set");
            let set = all(&disks[1]);
            assert_eq!(set[2], "4096");
            if let Some(name) = &scheduler {
                assert!(set[0] == *name && before[1][0] != *name, "{before:?} {set:?}");
            }
            lane_set.make_cold(1).unwrap();
            assert_eq!(all(&disks[1]), set, "a cold lane has it too");
            if round == 1 {
                // As a rule of udev does.
                std::fs::write(format!("/sys/block/{}/queue/read_ahead_kb", disks[1]), "64").unwrap();
                let said = lane_set.close(1, journal).unwrap_err();
                common::says(&said, FailureKind::Failed, &["read_ahead_kb 4096 became 64", "switch it off"]);
                std::fs::write(format!("/sys/block/{}/queue/read_ahead_kb", disks[1]), &before[1][2]).unwrap();
            } else {
                lane_set.close(1, journal).unwrap();
            }
            lane_set.close(0, journal).unwrap();
            assert_eq!(disks.map(|disk| all(&disk)), before);
        }
    });
}

#[test]
fn what_the_kernel_does_not_take_is_told() {
    let Some(_alone) = alone("what a queue does not take") else { return };
    // More requests than a loop device has tags, and nobody who keeps them.
    let scratch = Scratch::new();
    let mut lane_set = LaneSet::check(scratch.settings(&["ext4/queue,scheduler=none,requests=10000"], 64)).unwrap();
    let mut journal = scratch.journal();
    let refused = lane_set.build(&mut journal, &mut |_, _| {}, &no_stop()).unwrap_err();
    lane_set.teardown(&mut journal).unwrap();
    journal.finish().unwrap();
    common::says(&refused, FailureKind::Usage, &["nr_requests=10000", "write"]);
    scratch.assert_nothing_left();
}

/// Not a test of its own: without the variables it does nothing.
#[test]
fn victim() {
    let (Ok(folder), Ok(lane)) = (std::env::var(FOLDER), std::env::var(LANE)) else { return };
    let scratch = std::mem::ManuallyDrop::new(Scratch { path: PathBuf::from(folder) });
    let mut lane_set = LaneSet::check(scratch.settings(&[&lane], 64)).unwrap();
    let mut journal = scratch.journal();
    lane_set.build(&mut journal, &mut |_, _| {}, &no_stop()).unwrap();
    lane_set.open(0, 0, &mut journal, &no_stop()).unwrap();
    std::io::stderr().write_all(b"REACHED\n").unwrap();
    loop {
        std::thread::sleep(std::time::Duration::from_secs(60));
    }
}

#[test]
fn after_a_kill_the_next_command_puts_the_queue_back() {
    let Some(_alone) = alone("the layer queue after a kill") else { return };
    let scratch = Scratch::new();
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "victim", "--nocapture", "--test-threads=1"])
        .env(FOLDER, &scratch.path)
        .env(LANE, lane())
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stderr.take().unwrap()).lines().map_while(Result::ok);
    let reached = lines.any(|line| line == "REACHED");
    let of_scratch = |(_, backing): &(u32, PathBuf)| backing.starts_with(&scratch.path);
    let number = lanes::loop_device::attached().into_iter().find(of_scratch).map(|(number, _)| number);
    let disk = format!("loop{}", number.unwrap_or_default());
    let journal = std::fs::read_to_string(scratch.journal_path()).unwrap_or_default();
    child.kill().unwrap();
    child.wait().unwrap();
    let left = all(&disk);
    let recovered = recover(&scratch.undo());
    let after = all(&disk);
    assert!(reached && number.is_some(), "{journal}");
    let mut rows = journal.lines().filter_map(|line| serde_json::from_str::<serde_json::Value>(line).ok());
    // The first one is of the try before the race.
    let set = rows.rfind(|row| row["thing"] == "queue").unwrap();
    assert_eq!((left[2].as_str(), set["set"]["read_ahead_kb"].as_str()), ("4096", Some("4096")));
    assert_eq!(Some(after[2].as_str()), set["was"]["read_ahead_kb"].as_str(), "{recovered:?}");
    if let Some(was) = set["was"]["scheduler"].as_str() {
        assert!(after[0] == was && left[0] != was, "{left:?} {after:?}");
    }
    assert_eq!(recovered.failures, Vec::<String>::new());
    let told = format!("put the queue of /dev/{disk} back");
    assert!(recovered.cleaned.iter().any(|line| line.starts_with(&told)), "{recovered:?}");
    scratch.assert_nothing_left();
    assert_eq!(recover(&scratch.undo()), Recovered::default());
}
