//! The layer that sets the kernel's writeback: set while its lane is open, put back when it is closed, and after SIGKILL.

mod common;

use common::{Scratch, no_stop, privileged, says, with_lanes};
use lanes::undo::{Recovered, recover, recover_kept};
use lanes::{FailureKind, LaneSet, lock_kernel};
use rustix::fs::{Access, access};
use std::io::{BufRead, BufReader, Write};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};

const FOLDER: &str = "FAIRLANE_TEST_VM_FOLDER";
/// Names the lane of the other process.
const LANE_OF_VICTIM: &str = "FAIRLANE_TEST_VM_LANE";
/// What a lane says to the kernel, and what that is there then: sizes that no machine has by itself.
const LANE: &str = "set=ext4/vm,dirty_bytes=123456K,dirty_background_bytes=12345K,dirty_expire_centisecs=1234";
const SET: [(&str, &str); 5] = [
    ("dirty_ratio", "0"),
    ("dirty_bytes", "126418944"),
    ("dirty_background_ratio", "0"),
    ("dirty_background_bytes", "12641280"),
    ("dirty_expire_centisecs", "1234"),
];
/// All that the layer may set.
const ALL: [&str; 8] = [
    "dirty_ratio",
    "dirty_bytes",
    "dirty_background_ratio",
    "dirty_background_bytes",
    "dirty_expire_centisecs",
    "dirty_writeback_centisecs",
    "vfs_cache_pressure",
    "swappiness",
];

/// The kernel is one: one test at a time.
fn alone(test: &str) -> Option<MutexGuard<'static, ()>> {
    static ONE: Mutex<()> = Mutex::new(());
    let alone = ONE.lock().unwrap_or_else(PoisonError::into_inner);
    let is_writable = access(file("dirty_ratio"), Access::WRITE_OK).is_ok();
    if !is_writable {
        eprintln!("{test}: skipped, because /proc/sys/vm cannot be written");
    }
    (is_writable && privileged(test)).then_some(alone)
}

fn file(name: &str) -> PathBuf {
    PathBuf::from("/proc/sys/vm").join(name)
}

fn kernel(name: &str) -> String {
    std::fs::read_to_string(file(name)).unwrap().trim().to_owned()
}

fn all() -> [String; 8] {
    ALL.map(kernel)
}

#[track_caller]
fn assert_is_set() {
    for (name, value) in SET {
        assert_eq!(kernel(name), value, "{name}");
    }
}

#[test]
fn the_kernel_is_set_while_its_lane_is_open_and_as_before_when_it_is_closed() {
    let Some(_alone) = alone("the layer vm") else { return };
    let scratch = Scratch::new();
    let before = all();
    with_lanes(&scratch, scratch.settings(&["ext4", LANE], 64), |lane_set, journal| {
        assert_eq!(all(), before, "each lane was tried once");
        let described = lane_set.lanes();
        assert!(described[0].stands_alike(&described[1]) && described[1].usable_bytes == 0, "{described:?}");
        assert!(described[1].layers[0].starts_with("vm,dirty_bytes=123456K"), "{:?}", described[1].layers);
        assert!(!lane_set.side_by_side(), "the others work as the machine does by itself");
        for round in 0..2 {
            let grounds = [0, 1].map(|lane| lane_set.store_for(lane, round));
            lane_set.open(0, grounds[0], journal, &no_stop()).unwrap();
            assert_eq!(all(), before);
            let said = lane_set.open(1, grounds[1], journal, &no_stop()).unwrap_err();
            says(&said, FailureKind::Failed, &["lane ext4 is open", "close it first"]);
            assert_eq!(all(), before);
            lane_set.close(0, journal).unwrap();
            let opened = lane_set.open(1, grounds[1], journal, &no_stop()).unwrap();
            assert_is_set();
            std::fs::write(opened.directory.join("f"), "x").unwrap();
            lane_set.make_cold(1).unwrap();
            assert_is_set();
            lane_set.close(1, journal).unwrap();
            assert_eq!(all(), before);
        }
    });
    assert_eq!(all(), before);
}

#[test]
fn what_somebody_sets_meanwhile_fails_the_round_and_stays() {
    let Some(_alone) = alone("the layer vm, which somebody sets") else { return };
    let scratch = Scratch::new();
    let before = all();
    let expire = kernel("dirty_expire_centisecs");
    with_lanes(&scratch, scratch.settings(&[LANE], 64), |lane_set, journal| {
        lane_set.open(0, 0, journal, &no_stop()).unwrap();
        std::fs::write(file("dirty_expire_centisecs"), "4321").unwrap();
        let said = lane_set.close(0, journal).unwrap_err();
        says(&said, FailureKind::Failed, &["vm.dirty_expire_centisecs 1234 became 4321", "switch it off"]);
        let left = kernel("dirty_expire_centisecs");
        std::fs::write(file("dirty_expire_centisecs"), &expire).unwrap();
        assert_eq!((left.as_str(), all()), ("4321", before.clone()));
    });
    assert_eq!(all(), before);
}

#[test]
fn another_command_is_refused_until_the_first_one_is_gone() {
    let Some(_alone) = alone("two commands with the layer vm") else { return };
    let (scratch, other) = (Scratch::new(), Scratch::new());
    let before = all();
    let (child, reached) = begin_victim(&scratch);
    let mut second = LaneSet::check(other.settings(&["ext4/vm,dirty_ratio=7"], 64)).unwrap();
    let mut journal = other.journal();
    let built = second.build(&mut journal, &mut |_, _| {}, &no_stop());
    let held = lock_kernel(&other.undo());
    kill(child);
    let recovered = recover(&scratch.undo());
    second.teardown(&mut journal).unwrap();
    journal.finish().unwrap();
    assert!(reached, "{recovered:?}");
    for refused in [built, held.map(drop)] {
        let refused = refused.unwrap_err();
        says(&refused, FailureKind::Failed, &["another race sets the kernel's writeback", "wait until it has ended"]);
    }
    assert_eq!((all(), recovered.failures), (before, Vec::<String>::new()));
    other.assert_nothing_left();
    with_lanes(&other, other.settings(&["ext4/vm,dirty_ratio=7"], 64), |_, _| {});
}

#[test]
fn the_kernel_is_not_set_beside_a_race_that_runs_already() {
    let Some(_alone) = alone("the layer vm beside another race") else { return };
    let (plain, elsewhere) = (Scratch::new(), Scratch::new());
    let (child, reached) = begin_victim_of(&plain, "ext4");
    let begun_later = lock_kernel(&plain.undo()).map(drop);
    // Who has set it before that one began goes on.
    let held = lock_kernel(&elsewhere.undo());
    let once_more = lock_kernel(&plain.undo()).map(drop);
    drop(held);
    let pid = child.id();
    kill(child);
    let when_it_ended = lock_kernel(&plain.undo()).map(drop);
    assert!(reached);
    let refused = begun_later.unwrap_err();
    let process = format!("(process {pid})");
    says(&refused, FailureKind::Failed, &["another command works on lanes", &process, "wait until that has ended"]);
    assert_eq!([once_more, when_it_ended], [Ok(()), Ok(())]);
    plain.assert_nothing_left();
}

#[test]
fn a_command_that_has_the_kernel_races_several_times_and_cleans_up_meanwhile() {
    let Some(_alone) = alone("races of one command with the layer vm") else { return };
    let (scratch, dead) = (Scratch::new(), Scratch::new());
    let before = all();
    let (child, reached) = begin_victim(&dead);
    kill(child);
    // What the dead race set is put back before anything is looked up.
    let held = lock_kernel(&dead.undo());
    let after = all();
    assert!(reached && held.is_ok(), "{held:?}");
    assert_eq!(after, before);
    dead.assert_nothing_left();
    for _ in 0..2 {
        with_lanes(&scratch, scratch.settings(&[LANE], 64), |lane_set, journal| {
            lane_set.open(0, 0, journal, &no_stop()).unwrap();
            assert_is_set();
            lane_set.close(0, journal).unwrap();
        });
        assert_eq!(all(), before);
    }
}

#[test]
fn a_lane_that_is_kept_keeps_nothing_of_the_kernel() {
    let Some(_alone) = alone("the layer vm of a lane that is kept") else { return };
    let scratch = Scratch::new();
    let before = all();
    let mut lane_set = LaneSet::check(scratch.settings(&[LANE], 64)).unwrap();
    let mut journal = scratch.journal();
    lane_set.build(&mut journal, &mut |_, _| {}, &no_stop()).unwrap();
    let opened = lane_set.open(0, 0, &mut journal, &no_stop()).unwrap();
    assert_is_set();
    lane_set.keep(journal).unwrap();
    let (after, is_there) = (all(), opened.directory.is_dir());
    disown(&scratch);
    let recovered = recover_kept(&scratch.undo());
    assert_eq!((after, is_there), (before.clone(), true));
    assert_eq!((recovered.failures, all()), (Vec::<String>::new(), before));
    scratch.assert_nothing_left();
}

/// Rewrites the owner of a journal to a process that is long dead.
fn disown(scratch: &Scratch) {
    let path = scratch.journal_path();
    let text = std::fs::read_to_string(&path).unwrap();
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    let mut owner: serde_json::Value = serde_json::from_str(&lines[0]).unwrap();
    owner["start_ticks"] = 1.into();
    lines[0] = owner.to_string();
    std::fs::write(&path, lines.join("\n") + "\n").unwrap();
}

#[test]
fn what_has_no_meaning_for_a_kernel_is_refused() {
    let scratch = Scratch::new();
    for (spec, parts) in [
        ("ext4/raid1:2/vm,dirty_ratio=5", &["vm sets the kernel for all of a lane", "write it first"][..]),
        ("ext4/vm,dirty_ratio=5/vm,swappiness=10", &["vm is told twice"][..]),
        ("ext4/vm,dirty_ratio=5,dirty_bytes=1G", &["the kernel keeps one of them"][..]),
        ("tmpfs/vm,dirty_ratio=5", &["tmpfs stands on no disk"][..]),
    ] {
        says(&common::refusal(scratch.settings(&[spec], 64)), FailureKind::Usage, parts);
    }
    let spec = "ext4/vm,dirty_ratio=5".parse().unwrap();
    let cut = lanes::SingleLane::resolve(&spec).map(drop).unwrap_err();
    says(&cut, FailureKind::Usage, &["sets this machine's kernel", "leave that layer out"]);
    scratch.assert_nothing_left();
}

/// Not a test of its own: without the variable it does nothing.
#[test]
fn victim() {
    let Ok(folder) = std::env::var(FOLDER) else { return };
    let scratch = std::mem::ManuallyDrop::new(Scratch { path: PathBuf::from(folder) });
    let lane = std::env::var(LANE_OF_VICTIM).unwrap();
    let mut lane_set = LaneSet::check(scratch.settings(&[&lane], 64)).unwrap();
    let mut journal = scratch.journal();
    lane_set.build(&mut journal, &mut |_, _| {}, &no_stop()).unwrap();
    lane_set.open(0, 0, &mut journal, &no_stop()).unwrap();
    std::io::stderr().write_all(b"REACHED\n").unwrap();
    loop {
        std::thread::sleep(std::time::Duration::from_secs(60));
    }
}

/// Another process whose lane is open until it is killed, and whether it came so far.
fn begin_victim(scratch: &Scratch) -> (Child, bool) {
    begin_victim_of(scratch, LANE)
}

fn begin_victim_of(scratch: &Scratch, lane: &str) -> (Child, bool) {
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "victim", "--nocapture", "--test-threads=1"])
        .env(FOLDER, &scratch.path)
        .env(LANE_OF_VICTIM, lane)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stderr.take().unwrap()).lines().map_while(Result::ok);
    let reached = lines.any(|line| line == "REACHED");
    (child, reached)
}

fn kill(mut child: Child) {
    child.kill().unwrap();
    child.wait().unwrap();
}

#[test]
fn after_a_kill_the_next_command_puts_the_kernel_back() {
    let Some(_alone) = alone("the layer vm after a kill") else { return };
    let scratch = Scratch::new();
    let before = all();
    // A race that sets nothing is told of the other one as long as that has the kernel.
    let other = Scratch::new();
    let plain = LaneSet::check(other.settings(&["ext4"], 64)).unwrap();
    let is_told = || plain.kernel_set_by_another().is_some_and(|said| said.contains("another race sets the kernel"));
    let (child, reached) = begin_victim(&scratch);
    let while_it_works = is_told();
    kill(child);
    let when_it_ended = is_told();
    let left = SET.map(|(name, _)| kernel(name));
    let recovered = recover(&scratch.undo());
    let after = all();
    assert!(reached, "{recovered:?}");
    assert_eq!((while_it_works, when_it_ended), (true, false));
    assert_eq!(left, SET.map(|(_, value)| value.to_owned()));
    assert_eq!(after, before, "{recovered:?}");
    assert_eq!(recovered.failures, Vec::<String>::new());
    let told = "put vm.dirty_background_bytes, vm.dirty_bytes, vm.dirty_expire_centisecs of the kernel back";
    assert!(recovered.cleaned.iter().any(|line| line == told), "{recovered:?}");
    scratch.assert_nothing_left();
    assert_eq!(recover(&scratch.undo()), Recovered::default());
}
