//! Btrfs that rebuilds its last disk beside the work, on real loop devices, and what is left of that after SIGKILL.

mod common;

use common::{Scratch, no_stop, privileged, with_lanes};
use lanes::undo::recover;
use lanes::{Cold, LaneSet};
use model::Mark;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

const LANE: &str = "btrfs:2(-d raid1 -m raid1),rebuilding";
const FOLDER: &str = "FAIRLANE_TEST_REBUILDING_FOLDER";
/// Too much to be rebuilt between two looks.
const MUCH: usize = 400 << 20;

fn write(directory: &Path, bytes: usize) {
    let mut file = std::fs::File::create(directory.join("f")).unwrap();
    let block = vec![7u8; 4 << 20];
    (0..bytes / block.len()).for_each(|_| file.write_all(&block).unwrap());
    file.sync_all().unwrap();
}

/// The kernel's Documentation/ABI/stable/sysfs-block, `stat`.
fn sectors_written(device: &str) -> u64 {
    let stat = std::fs::read_to_string(format!("/sys/block/{device}/stat")).unwrap();
    stat.split_whitespace().nth(6).unwrap().parse().unwrap()
}

/// Processes of `btrfs replace` in a folder.
fn tools(folder: &Path) -> usize {
    let folder = folder.to_string_lossy().into_owned();
    let entries = std::fs::read_dir("/proc").unwrap().flatten();
    let lines = entries.filter_map(|entry| std::fs::read(entry.path().join("cmdline")).ok());
    let lines = lines.map(|line| String::from_utf8_lossy(&line).replace('\0', " "));
    lines.filter(|line| line.contains("replace start") && line.contains(&folder)).count()
}

#[track_caller]
fn wait_until(what: &str, mut is: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !is() {
        assert!(begun.elapsed() < Duration::from_secs(60), "{what} did not come in a minute");
        std::thread::sleep(Duration::from_millis(10));
    }
}

#[test]
fn the_last_disk_and_a_spare_one_change_places_and_a_cold_lane_finds_its_data() {
    if !privileged("rebuilding") {
        return;
    }
    let scratch = Scratch::new();
    with_lanes(&scratch, scratch.settings(&[LANE], 1024), |lane_set, journal| {
        assert_eq!(lane_set.lanes()[0].disks, 3);
        let disks = lane_set.device_names(0).further;
        assert_eq!(disks.len(), 2);
        for _ in 0..2 {
            let opened = lane_set.open(0, 0, journal, &no_stop()).unwrap();
            write(&opened.directory, 4 << 20);
            for _ in 0..2 {
                let before: Vec<u64> = disks.iter().map(|disk| sectors_written(disk)).collect();
                let rebuilt = |at: usize| sectors_written(&disks[at]) > before[at] + (8 << 11);
                wait_until("a rebuild onto each of the two", || rebuilt(0) && rebuilt(1));
                assert_eq!(lane_set.make_cold(0).unwrap(), Cold::Cold);
                assert_eq!(std::fs::read(opened.directory.join("f")).unwrap(), vec![7u8; 4 << 20]);
            }
            let flags = lane_set.close(0, journal).unwrap().flags;
            let [flag] = &flags[..] else { panic!("{flags:?}") };
            let said = flag.figures(Mark::Rebuilding).unwrap();
            assert!(said.contains("a rebuild of what the disk held took"), "{said}");
            assert_eq!(tools(&scratch.path), 0);
        }
    });
}

/// Not a test of its own: without the variable it does nothing.
#[test]
fn victim() {
    let Ok(folder) = std::env::var(FOLDER) else { return };
    let scratch = std::mem::ManuallyDrop::new(Scratch { path: PathBuf::from(folder) });
    let mut built = LaneSet::check(scratch.settings(&[LANE], 1024)).unwrap();
    let mut journal = scratch.journal();
    built.build(&mut journal, &mut |_, _| {}, &no_stop()).unwrap();
    let opened = built.open(0, 0, &mut journal, &no_stop()).unwrap();
    write(&opened.directory, MUCH);
    // The harness captures `println!`; the parent reads the real standard error.
    std::io::stderr().write_all(b"REACHED\n").unwrap();
    std::thread::sleep(Duration::from_secs(600));
}

#[test]
fn sigkill_in_the_middle_of_a_rebuild_leaves_nothing_once_the_next_command_ran() {
    if !privileged("rebuilding killed") {
        return;
    }
    let scratch = Scratch::new();
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "victim", "--nocapture", "--test-threads=1"])
        .env(FOLDER, &scratch.path)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stderr.take().unwrap()).lines().map_while(Result::ok);
    let reached = lines.any(|line| line == "REACHED");
    wait_until("the tool", || !reached || tools(&scratch.path) > 0);
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(reached, "the victim did not get to its rebuild");
    assert!(scratch.left().iter().any(|left| left.starts_with("mount")), "{:?}", scratch.left());
    let recovered = recover(&scratch.undo());
    assert_eq!(recovered.failures, Vec::<String>::new());
    wait_until("the end of the tool", || tools(&scratch.path) == 0);
    scratch.assert_nothing_left();
}
