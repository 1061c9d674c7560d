//! Appenders on real filesystems: what they append is there after a remount, in order, and whatever
//! goes wrong ends with its reason and leaves nobody behind.

#[macro_use]
#[path = "common/alone.rs"]
mod alone;
mod common;

use common::*;
use engine::{EngineError, LATE, LATENESS_P99, OpenTarget, Window, Work};
use model::agent::Target;
use model::workload::{Suite, Workload};
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

alone_tests!(
    every_turn_is_done_once_and_everything_is_read_back_in_order,
    a_lost_a_changed_and_a_surplus_record_are_found,
    contents_survive_a_remount_on_real_filesystems,
    a_lane_out_of_inodes_or_of_room_says_which,
    what_is_stopped_ends_at_once_and_leaves_no_process,
    a_stall_delays_everything_that_was_due_meanwhile,
    what_is_not_done_long_after_the_window_is_missed_and_a_backlog,
    appenders_runs_without_a_filesystem_and_a_bare_device_is_refused,
);

fn appenders(text: &str) -> Workload {
    let text =
        format!("name = \"t\"\nabout = \"t\"\n[[workload]]\nname = \"w\"\ntitle = \"w\"\nkind = \"appenders\"\n{text}");
    Suite::from_toml(&text).unwrap_or_else(|error| panic!("{error}\n{text}")).workload.remove(0)
}

fn prepare_it(place: &OpenTarget, workload: &Workload) -> Result<Box<dyn Work>, EngineError> {
    engine::prepare(place, workload, 42, Arc::new(AtomicBool::new(false)))
}

fn run(work: &mut dyn Work, place: &OpenTarget, seconds: f64) -> Result<Vec<Window>, EngineError> {
    work.slice(place, 0.1, seconds, &mut ())
}

/// Bytes of all files below.
fn bytes_below(path: &Path) -> u64 {
    let entries = std::fs::read_dir(path).unwrap().map(|entry| entry.unwrap().path());
    entries.map(|path| if path.is_dir() { bytes_below(&path) } else { path.metadata().unwrap().len() }).sum()
}

/// Processes of appenders that are children of this one, zombies included.
fn children() -> usize {
    let own = std::process::id().to_string();
    let is_child = |pid: &str| {
        let Ok(stat) = std::fs::read_to_string(format!("/proc/{pid}/stat")) else { return false };
        let (name, rest) = stat.rsplit_once(')').unwrap();
        (name.contains("(fairlane-writer") || name.contains("(fairlane-reader"))
            && rest.split_whitespace().nth(1) == Some(own.as_str())
    };
    let all = std::fs::read_dir("/proc").unwrap().flatten();
    all.filter(|entry| is_child(&entry.file_name().to_string_lossy())).count()
}

#[test]
fn every_turn_is_done_once_and_everything_is_read_back_in_order() {
    if alone::elsewhere("every_turn_is_done_once_and_everything_is_read_back_in_order") {
        return;
    }
    let small = "writers = 60\nperiod_seconds = 0.05\nseconds = 0.4\nwarm_up_seconds = 0.1\ndirectories = 7\n";
    for more in [
        "",
        "jitter = 0.8\nthreads = 3",
        "reopen = true\nreaders = 5",
        "fsync_records = 3\nfiles = 2",
        "fsync_seconds = 0.15\nrecord_sizes = [\"4KiB\", \"100B\"]\nthreads = 1",
        "method = \"processes\"",
        "method = \"processes\"\nreopen = true\njitter = 0.3\nreaders = 4\nfsync_records = 2",
    ] {
        let workload = appenders(&format!("{small}{more}"));
        let model::workload::Kind::Appenders(appenders) = &workload.kind else { unreachable!() };
        for folder in [on_disk(), in_memory()] {
            let place = directory(folder.path());
            let mut work = prepare_it(&place, &workload).unwrap_or_else(|error| panic!("{more}: {error}"));
            let windows = run(&mut *work, &place, 0.4).unwrap_or_else(|error| panic!("{more}: {error}"));
            let lateness = windows[0].lateness.clone().unwrap();
            // Eight periods in the window: each writer is due eight times there, one more or less with jitter.
            let files = u64::from(appenders.files);
            let due = lateness.due / files;
            assert!(lateness.due.is_multiple_of(files) && (8 * 60 - 60..=8 * 60 + 60).contains(&due), "{more}: {due}");
            assert_eq!(windows[0].operations + lateness.missed, lateness.due, "{more}");
            assert_eq!(windows[0].latencies.operations(), lateness.due, "{more}: nothing that was due is left out");
            assert!(lateness.late <= lateness.due && lateness.late_writers <= 60);
            assert_eq!(lateness.interval_p99_ns.len(), 1, "{more}");
            assert!(lateness.interval_max_ns[0] > 0.0);
            assert!(windows[0].group().metrics.contains_key(LATE));
            if appenders.readers > 0 {
                assert_eq!((windows.len(), windows[1].group.as_str()), (2, "read"), "{more}");
                assert!(windows[1].operations > 0 && windows[1].bytes > 0, "{more}");
            }
            work.release();
            let top = folder.path().join("fairlane-appenders");
            assert_eq!(bytes_below(&top), work.written_bytes(), "{more}");
            work.verify(&place).unwrap_or_else(|error| panic!("{more}: {error}"));
            // A second window goes on where the first one ended.
            run(&mut *work, &place, 0.2).unwrap_or_else(|error| panic!("{more}: {error}"));
            work.release();
            work.verify(&place).unwrap_or_else(|error| panic!("{more}: {error}"));
        }
        assert_eq!(children(), 0, "{more}");
    }
}

#[test]
fn a_lost_a_changed_and_a_surplus_record_are_found() {
    if alone::elsewhere("a_lost_a_changed_and_a_surplus_record_are_found") {
        return;
    }
    let workload =
        appenders("writers = 3\nperiod_seconds = 0.02\nseconds = 0.2\nwarm_up_seconds = 0\nrecord_sizes = [48]");
    let cut = |bytes: &mut Vec<u8>| bytes.truncate(bytes.len() - 48);
    let torn = |bytes: &mut Vec<u8>| bytes.truncate(bytes.len() - 5);
    let changed = |bytes: &mut Vec<u8>| bytes[48 + 30] ^= 4;
    let swapped = |bytes: &mut Vec<u8>| {
        let (first, second) = bytes.split_at_mut(48);
        first.swap_with_slice(&mut second[..48]);
    };
    let more = |bytes: &mut Vec<u8>| bytes.extend_from_within(..48);
    let zeros = |bytes: &mut Vec<u8>| bytes[48..96].fill(0);
    type Damage = fn(&mut Vec<u8>);
    let all: [(Damage, &str); 6] = [
        (cut, "it ends after"),
        (torn, "no record"),
        (changed, "checksum is wrong"),
        (swapped, "record 0 of writer 1, file 2 should be here, and it is record 1"),
        (more, "more than the"),
        (zeros, "all zeros"),
    ];
    for (damage, says) in all {
        let folder = on_disk();
        let place = directory(folder.path());
        let mut work = prepare_it(&place, &workload).unwrap();
        run(&mut *work, &place, 0.2).unwrap();
        work.release();
        work.verify(&place).unwrap();
        let file = folder.path().join("fairlane-appenders/d000000/w000001.02");
        let mut bytes = std::fs::read(&file).unwrap();
        damage(&mut bytes);
        std::fs::write(&file, bytes).unwrap();
        let error = work.verify(&place).unwrap_err();
        assert!(error.is_corrupt() && error.to_string().contains(says), "{says}: {error}");
        assert!(error.to_string().contains("w000001.02"), "{error}");
    }
}

#[test]
fn contents_survive_a_remount_on_real_filesystems() {
    if alone::elsewhere("contents_survive_a_remount_on_real_filesystems") {
        return;
    }
    if !is_root("contents_survive_a_remount_on_real_filesystems") {
        return;
    }
    for make in ["mkfs.ext4 -q -F", "mkfs.xfs -q -f", "mkfs.btrfs -q -f"] {
        let disk = Loop::new(320 * MIB, &[]);
        let device = disk.device.to_str().unwrap();
        let mut words = make.split(' ');
        let made = Command::new(words.next().unwrap()).args(words).arg(device).status();
        if !made.is_ok_and(|status| status.success()) {
            eprintln!("skipped: {make}");
            continue;
        }
        for method in ["multiplexed", "processes"] {
            let workload = appenders(&format!(
                "writers = 200\nperiod_seconds = 0.1\nseconds = 0.5\nwarm_up_seconds = 0.1\nmethod = \"{method}\""
            ));
            let mount = Mount::new(&[device]);
            let place = directory(mount.path());
            let mut work = prepare_it(&place, &workload).unwrap();
            let windows = run(&mut *work, &place, 0.5).unwrap();
            assert!(windows[0].operations > 0);
            work.release();
            drop(place);
            // Nobody holds anything open, not even a process that has just ended.
            mount.unmount();
            let mount = Mount::new(&[device]);
            let place = directory(mount.path());
            work.verify(&place).unwrap_or_else(|error| panic!("{make}, {method}: {error}"));
            work.release();
            drop(place);
            mount.unmount();
        }
    }
}

#[test]
fn a_lane_out_of_inodes_or_of_room_says_which() {
    if alone::elsewhere("a_lane_out_of_inodes_or_of_room_says_which") {
        return;
    }
    if !is_root("a_lane_out_of_inodes_or_of_room_says_which") {
        return;
    }
    let disk = Loop::new(64 * MIB, &[]);
    let device = disk.device.to_str().unwrap();
    let made = Command::new("mkfs.ext4").args(["-q", "-F", "-N", "512", device]).status().unwrap();
    assert!(made.success());
    {
        let mount = Mount::new(&[device]);
        let place = directory(mount.path());
        let many = appenders("writers = 200\nperiod_seconds = 0.1\nseconds = 0.1");
        let error = prepare_it(&place, &many).err().expect("there are 512 inodes");
        assert!(error.to_string().contains("no inode is left"), "{error}");
        assert_eq!(error.errno(), Some(libc::ENOSPC));
    }
    for method in ["multiplexed", "processes"] {
        let folder = on_disk();
        let small = SmallTmpfs::mount(folder.path(), 256 * KIB);
        let place = directory(small.path());
        let text = format!(
            "writers = 8\nperiod_seconds = 0.01\nseconds = 5\nwarm_up_seconds = 0\nrecord_sizes = [\"4KiB\"]\nmethod = \"{method}\""
        );
        let mut work = prepare_it(&place, &appenders(&text)).unwrap();
        let error = run(&mut *work, &place, 5.0).unwrap_err();
        assert!(error.to_string().contains("cannot append to"), "{error}");
        assert!(error.to_string().contains("the lane is full: raise --lane-size"), "{error}");
        assert_eq!((error.errno(), children()), (Some(libc::ENOSPC), 0), "{method}");
        drop(work);
    }
}

#[test]
fn what_is_stopped_ends_at_once_and_leaves_no_process() {
    if alone::elsewhere("what_is_stopped_ends_at_once_and_leaves_no_process") {
        return;
    }
    for (method, writers) in [("multiplexed", 500), ("processes", 300)] {
        let folder = in_memory();
        let place = directory(folder.path());
        let workload = appenders(&format!(
            "writers = {writers}\nperiod_seconds = 3600\nseconds = 600\nwarm_up_seconds = 0\nmethod = \"{method}\""
        ));
        let stop = Arc::new(AtomicBool::new(false));
        let mut work = engine::prepare(&place, &workload, 1, stop.clone()).unwrap();
        alone::set_after(&stop, std::time::Duration::from_millis(700));
        let error = run(&mut *work, &place, 600.0).unwrap_err();
        assert!(matches!(error, EngineError::Interrupted), "{method}: {error}");
        assert_eq!(children(), 0, "{method}");
    }
}

#[test]
fn a_stall_delays_everything_that_was_due_meanwhile() {
    if alone::elsewhere("a_stall_delays_everything_that_was_due_meanwhile") {
        return;
    }
    // Writers wait for a filesystem that is frozen for half a second.
    if !is_root("a_stall_delays_everything_that_was_due_meanwhile") {
        return;
    }
    let disk = Loop::new(64 * MIB, &[]);
    make_ext4(&disk.device);
    let mount = Mount::new(&[disk.device.to_str().unwrap()]);
    let place = directory(mount.path());
    let workload = appenders("writers = 20\nperiod_seconds = 0.05\nseconds = 2\nwarm_up_seconds = 0\nthreads = 2");
    let mut work = prepare_it(&place, &workload).unwrap();
    let path = mount.path().to_owned();
    let freezer = std::thread::spawn(move || {
        let freeze = |flag: &str| assert!(Command::new("fsfreeze").arg(flag).arg(&path).status().unwrap().success());
        std::thread::sleep(std::time::Duration::from_millis(600));
        freeze("-f");
        std::thread::sleep(std::time::Duration::from_millis(500));
        freeze("-u");
    });
    let windows = run(&mut *work, &place, 2.0).unwrap();
    freezer.join().unwrap();
    let lateness = windows[0].lateness.clone().unwrap();
    assert_eq!(windows[0].latencies.operations(), lateness.due);
    // A quarter of the window stood still, and what was due then came late, not never.
    let late = windows[0].group().metrics[LATE];
    assert!((0.1..0.6).contains(&late), "{late}");
    assert_eq!(lateness.late_writers, 20);
    assert!(windows[0].group().metrics[LATENESS_P99] > 300e6, "{:?}", windows[0].group().metrics);
    assert!(!lateness.backlog_grew, "it was over before the window's end");
    assert_eq!(lateness.missed, 0);
    work.release();
    work.verify(&place).unwrap();
    drop(place);
}

#[test]
fn what_is_not_done_long_after_the_window_is_missed_and_a_backlog() {
    if alone::elsewhere("what_is_not_done_long_after_the_window_is_missed_and_a_backlog") {
        return;
    }
    if !is_root("what_is_not_done_long_after_the_window_is_missed_and_a_backlog") {
        return;
    }
    let disk = Loop::new(64 * MIB, &[]);
    make_ext4(&disk.device);
    let mount = Mount::new(&[disk.device.to_str().unwrap()]);
    let place = directory(mount.path());
    let workload = appenders("writers = 20\nperiod_seconds = 0.05\nseconds = 1\nwarm_up_seconds = 0\nthreads = 2");
    let mut work = prepare_it(&place, &workload).unwrap();
    let path = mount.path().to_owned();
    let freezer = std::thread::spawn(move || {
        let freeze = |flag: &str| assert!(Command::new("fsfreeze").arg(flag).arg(&path).status().unwrap().success());
        std::thread::sleep(std::time::Duration::from_millis(400));
        freeze("-f");
        std::thread::sleep(std::time::Duration::from_millis(1800));
        freeze("-u");
    });
    let windows = run(&mut *work, &place, 1.0).unwrap();
    freezer.join().unwrap();
    let lateness = windows[0].lateness.clone().unwrap();
    assert!(lateness.backlog_grew && lateness.missed > lateness.due / 4, "{lateness:?}");
    assert!(lateness.backlog_seconds > 1.0, "{lateness:?}");
    assert_eq!(windows[0].latencies.operations(), lateness.due, "what was missed is late, not forgotten");
    assert!(work.notes().iter().any(|note| note.is(model::Mark::CannotSustainRate)), "{:?}", work.notes());
    // Nothing of what was given up was appended.
    work.release();
    work.verify(&place).unwrap();
    drop(place);
}

#[test]
fn appenders_runs_without_a_filesystem_and_a_bare_device_is_refused() {
    if alone::elsewhere("appenders_runs_without_a_filesystem_and_a_bare_device_is_refused") {
        return;
    }
    let null = OpenTarget::open(&Target::Null).unwrap();
    let workload = appenders("writers = 100\nperiod_seconds = 0.05\nseconds = 0.2");
    let mut work = prepare_it(&null, &workload).unwrap();
    let windows = run(&mut *work, &null, 0.2).unwrap();
    assert!(windows[0].operations > 0, "the appenders themselves");
    if is_root("a bare device") {
        let disk = Loop::new(4 * MIB, &[]);
        let device = OpenTarget::open(&Target::Device(disk.device.clone())).unwrap();
        let error = prepare_it(&device, &workload).err().expect("there is no filesystem");
        assert!(error.to_string().contains("is a bare device; name a directory"), "{error}");
    }
}
