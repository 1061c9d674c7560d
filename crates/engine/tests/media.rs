//! Large files and real programs, small ones, on a real disk.

mod common;

use common::{MIB, directory, in_memory, is_root, on_disk};
use engine::{EngineError, OpenTarget, Window, Work};
use model::Bytes;
use model::agent::Part;
use model::programs::{MATERIAL_CHECKSUM, OUTPUT_CHECKSUM, Programs};
use model::streams::{STREAM_GROUPS, Streams};
use model::workload::{Kind, Workload};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

fn prepare(place: &OpenTarget, kind: Kind) -> Result<Box<dyn Work>, EngineError> {
    let workload = Workload { name: "t".into(), title: "t".into(), kind };
    engine::prepare(place, &workload, 7, Arc::new(AtomicBool::new(false)))
}

fn files(folder: &Path) -> Vec<(String, u64)> {
    let mut all: Vec<_> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap())
        .map(|entry| (entry.file_name().into_string().unwrap(), entry.metadata().unwrap().len()))
        .collect();
    all.sort();
    all
}

#[test]
fn large_files_are_written_read_both_at_once_and_removed() {
    let folder = on_disk();
    let place = directory(folder.path());
    // Not a whole number of blocks.
    let size = 3 * MIB + 4096;
    let streams = Streams { size: Bytes(size), block: Bytes(MIB), readers: 2, writers: 3 };
    let mut work = prepare(&place, Kind::Streams(streams)).unwrap();
    let own = folder.path().join("fairlane-streams");
    let mut done: Vec<Window> = Vec::new();
    for group in STREAM_GROUPS {
        done.push(work.phase(&place, group, Part::WHOLE, &mut ()).unwrap());
        let count = match group {
            "write" | "read" => 2,
            "read+write" => 5,
            _ => 0,
        };
        let there = files(&own);
        assert_eq!(there.len(), count, "{group}: {there:?}");
        assert!(there.iter().all(|(_, bytes)| *bytes == size), "{there:?}");
    }
    let bytes: Vec<u64> = done.iter().map(|window| window.bytes / size).collect();
    assert_eq!(bytes, [2, 2, 5, 5]);
    assert_eq!(done.iter().map(|window| window.operations).collect::<Vec<_>>(), [8, 8, 20, 5]);
    assert_eq!(work.written_bytes(), 5 * size);
    for window in &done {
        assert!(
            window.seconds > 0.0 && window.sync_seconds >= 0.0 && window.sync_seconds <= window.seconds,
            "{window:?}"
        );
        assert_eq!(window.latencies.operations(), window.operations, "{}", window.group);
    }
    assert!(work.phase(&place, "read", Part::WHOLE, &mut ()).is_err(), "nothing is left to read");
    assert!(work.phase(&place, "write", Part { index: 0, of: 2 }, &mut ()).is_err());
}

#[test]
fn what_is_written_is_new_data_in_every_file() {
    let folder = on_disk();
    let place = directory(folder.path());
    let streams = Streams { size: Bytes(MIB), block: Bytes(64 << 10), readers: 2, writers: 1 };
    let mut work = prepare(&place, Kind::Streams(streams)).unwrap();
    work.phase(&place, "write", Part::WHOLE, &mut ()).unwrap();
    let read = |name: &str| std::fs::read(folder.path().join("fairlane-streams").join(name)).unwrap();
    let (first, second) = (read("r0000"), read("r0001"));
    common::assert_hardly_compressible(&first);
    assert_ne!(first, second);
}

fn programs(text: &str) -> Programs {
    toml::from_str(text).unwrap()
}

fn run_all(place: &OpenTarget, programs: &Programs) -> Result<Vec<Window>, EngineError> {
    let mut work = prepare(place, Kind::Programs(Box::new(programs.clone())))?;
    let mut done = Vec::new();
    for group in programs.groups() {
        let window = work.phase(place, &group, Part::WHOLE, &mut ())?;
        assert_eq!(total(&window, OUTPUT_CHECKSUM), None, "nothing is looked at before the lane was mounted anew");
        work.verify(place)?;
        done.push(Window { totals: [window.totals, work.found(&group)].concat(), ..window });
    }
    Ok(done)
}

fn total(window: &Window, key: &str) -> Option<f64> {
    window.totals.iter().find(|(own, _)| *own == key).map(|(_, amount)| *amount)
}

#[test]
fn programs_run_in_order_and_their_time_is_the_sum_with_the_sync() {
    let of = programs(
        "step = [{ name = \"make\", program = [\"cp\", \"/etc/hostname\", \"a\"], outputs = [\"a\"] }, \
         { name = \"copy\", program = [\"cp\", \"a\", \"sub/b\"], folders = [\"sub\"], outputs = [\"sub/b\"], \
         check = [\"cmp\", \"a\", \"sub/b\"] }, { name = \"delete\", program = [\"rm\", \"a\", \"sub/b\"] }]",
    );
    let folder = on_disk();
    let done = run_all(&directory(folder.path()), &of).unwrap();
    assert_eq!(
        done.iter().map(|window| window.group.as_str()).collect::<Vec<_>>(),
        ["make", "copy", "delete", "total"]
    );
    let sum = |of: fn(&Window) -> f64| done[..3].iter().map(of).sum::<f64>();
    // What is left to write after the last step is its own, and hardly anything.
    let rest = done[3].seconds - sum(|window| window.seconds);
    assert!(rest >= 0.0, "{rest}");
    assert!((done[3].sync_seconds - rest - sum(|window| window.sync_seconds)).abs() < 1e-9);
    assert!(done[..3].iter().all(|window| window.sync_seconds > 0.0 && window.sync_seconds < window.seconds));
    assert_eq!(total(&done[0], OUTPUT_CHECKSUM), total(&done[1], OUTPUT_CHECKSUM), "a copy");
    assert_eq!(total(&done[2], OUTPUT_CHECKSUM), None);
    for window in &done {
        assert_eq!(total(window, "time_ns"), Some(window.seconds * 1e9));
    }
    assert_eq!(files(&folder.path().join("fairlane-programs")), [("sub".to_owned(), files_len(folder.path()))]);
}

/// Whether the first extent of a file has no place on the disk yet (FIEMAP without a sync).
fn is_delayed(file: &std::fs::File) -> bool {
    use std::os::fd::AsRawFd;
    // linux/fiemap.h: a header of 32 bytes, and room for one extent of 56 bytes, whose flags stand at byte 40.
    const FS_IOC_FIEMAP: libc::Ioctl = 0xC020_660B_u32 as libc::Ioctl;
    const DELALLOC: u32 = 4;
    let mut request = [0u32; 22];
    (request[2], request[3]) = (u32::MAX, u32::MAX);
    request[6] = 1;
    // SAFETY: the request has the layout of linux/fiemap.h, with room for as many extents as it says.
    let answer = unsafe { libc::ioctl(file.as_raw_fd(), FS_IOC_FIEMAP, request.as_mut_ptr()) };
    answer == 0 && request[5] == 1 && request[8 + 10] & DELALLOC != 0
}

#[test]
fn the_step_that_writes_makes_it_stable_within_its_own_time() {
    let of = programs("step = [{ name = \"make\", program = [\"cp\", \"/bin/sh\", \"a\"] }]");
    let folder = on_disk();
    let plain = folder.path().join("plain");
    std::fs::write(&plain, vec![1; 1 << 20]).unwrap();
    if !is_delayed(&std::fs::File::open(&plain).unwrap()) {
        eprintln!("skipped: the filesystem of /var/tmp allocates at once, or does not tell");
        return;
    }
    let place = directory(folder.path());
    let mut work = prepare(&place, Kind::Programs(Box::new(of))).unwrap();
    work.phase(&place, "make", Part::WHOLE, &mut ()).unwrap();
    let file = std::fs::File::open(folder.path().join("fairlane-programs/a")).unwrap();
    assert!(!is_delayed(&file), "it is still to be written");
}

#[test]
fn outputs_are_compared_as_they_are_when_the_lane_was_mounted_anew() {
    let of = programs("step = [{ name = \"make\", program = [\"cp\", \"/etc/hostname\", \"a\"], outputs = [\"a\"] }]");
    let folder = on_disk();
    let place = directory(folder.path());
    let sum = |change: bool| {
        let mut work = prepare(&place, Kind::Programs(Box::new(of.clone()))).unwrap();
        work.phase(&place, "make", Part::WHOLE, &mut ()).unwrap();
        if change {
            // As a disk does that loses a write.
            std::fs::write(folder.path().join("fairlane-programs/a"), "something else").unwrap();
        }
        work.verify(&place).unwrap();
        work.found("make").iter().find(|(key, _)| *key == OUTPUT_CHECKSUM).unwrap().1
    };
    assert_ne!(sum(false), sum(true));
    assert_eq!(sum(false), sum(false));
}

#[test]
fn what_a_step_reads_is_counted_in_bytes() {
    let of = programs(
        "step = [{ name = \"make\", program = [\"cp\", \"/etc/passwd\", \"a\"] }, \
         { name = \"sum\", program = [\"md5sum\", \"a\"], reads = [\"a\"] }]",
    );
    let folder = on_disk();
    let done = run_all(&directory(folder.path()), &of).unwrap();
    let bytes = std::fs::metadata("/etc/passwd").unwrap().len();
    assert_eq!(done.iter().map(|window| window.bytes).collect::<Vec<_>>(), [0, bytes, 0]);
}

fn files_len(folder: &Path) -> u64 {
    std::fs::metadata(folder.join("fairlane-programs/sub")).unwrap().len()
}

#[test]
fn a_step_that_fails_and_a_check_that_fails_are_told_with_the_programs_words() {
    let folder = on_disk();
    let place = directory(folder.path());
    let of = programs("step = [{ name = \"a\", program = [\"cp\", \"not there\", \"b\"] }]");
    let error = run_all(&place, &of).unwrap_err().to_string();
    assert!(error.contains("cp failed") && error.contains("not there"), "{error}");
    let of = programs(
        "step = [{ name = \"a\", program = [\"cp\", \"/etc/hostname\", \"b\"], check = [\"cmp\", \"b\", \"/etc/passwd\"] }]",
    );
    let error = run_all(&place, &of).unwrap_err().to_string();
    assert!(error.contains("cmp failed"), "{error}");
    let of = programs("step = [{ name = \"a\", program = [\"no-such-program\"] }]");
    let error = run_all(&place, &of).unwrap_err().to_string();
    assert!(error.contains("no-such-program is not installed; apt install"), "{error}");
}

/// The steps of a built-in suite's workload, smaller.
fn of_suite(text: &str, name: &str, change: impl FnOnce(&mut Programs)) -> Programs {
    let suite = model::workload::Suite::from_toml(text).unwrap();
    let workload = suite.workload.into_iter().find(|workload| workload.name == name).unwrap();
    let Kind::Programs(mut programs) = workload.kind else { panic!("{name} is of another kind") };
    change(&mut programs);
    *programs
}

fn installed(programs: &Programs) -> bool {
    let missing = engine::programs::missing(programs);
    if let Some((program, package)) = &missing {
        eprintln!("skipped: {program} is not installed; apt install {package}");
    }
    missing.is_none()
}

/// Made once for all tests of this file, in a folder of their own.
fn with_material<T>(work: impl FnOnce() -> T) -> T {
    static ONCE: std::sync::Once = std::sync::Once::new();
    ONCE.call_once(|| {
        let folder = std::env::temp_dir().join(format!("fairlane-material-{}", std::process::id()));
        // As a user's own folder is: programs without rights reach the material all the same.
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::set_permissions(&folder, std::os::unix::fs::PermissionsExt::from_mode(0o700)).unwrap();
        // SAFETY: the first of the tests that reads the variable sets it, before any other thread of this
        // file's reads it: all go through here.
        unsafe { std::env::set_var("FAIRLANE_MATERIAL", folder) };
    });
    work()
}

#[test]
fn a_recording_is_edited_alike_in_two_folders() {
    let of = of_suite(include_str!("../../../suites/media.toml"), "editing", |of| of.size = Bytes(6_000_000));
    if !installed(&of) {
        return;
    }
    with_material(|| {
        let done = [(); 2].map(|()| {
            let folder = on_disk();
            let done = run_all(&directory(folder.path()), &of).unwrap();
            let left: Vec<String> =
                files(&folder.path().join("fairlane-programs")).into_iter().map(|(name, _)| name).collect();
            assert_eq!(left, ["cut.mkv", "cuts.ffconcat"], "the source and what was remuxed are deleted");
            done
        });
        for group in ["remux", "cut"] {
            let sum = |windows: &[Window]| {
                let window = windows.iter().find(|window| window.group == group).unwrap();
                total(window, OUTPUT_CHECKSUM).unwrap()
            };
            assert_eq!(sum(&done[0]), sum(&done[1]), "{group}");
            assert!(sum(&done[0]) > 0.0);
        }
        let material = done[0].last().and_then(|of| total(of, MATERIAL_CHECKSUM));
        assert!(material.is_some() && material == done[1].last().and_then(|of| total(of, MATERIAL_CHECKSUM)));
        for window in done[0].iter().filter(|window| window.group.starts_with("checksum")) {
            assert!(window.bytes > 1_000_000, "{window:?}");
        }
    });
}

#[test]
fn git_clones_and_checks_out_a_generated_repository() {
    let of = of_suite(include_str!("../../../suites/applications.toml"), "git", |of| of.files = 120);
    if !installed(&of) {
        return;
    }
    with_material(|| {
        let folder = on_disk();
        let place = directory(folder.path());
        let mut work = prepare(&place, Kind::Programs(Box::new(of.clone()))).unwrap();
        let tree = folder.path().join("fairlane-programs/repository");
        let mut contents = Vec::new();
        for group in of.groups() {
            work.phase(&place, &group, Part::WHOLE, &mut ()).unwrap();
            work.verify(&place).unwrap();
            if group.starts_with("clone") || group.starts_with("checkout") {
                contents.push(std::fs::read(tree.join("part000/module00000/file0000000.txt")).unwrap());
                assert!(tree.join("part000/module00002/file0000119.txt").exists());
            }
        }
        assert_eq!(contents.len(), 3);
        assert!(contents[0] != contents[1] && contents[0] == contents[2], "the branches differ, and main comes back");
        assert!(!tree.exists());
    });
}

#[test]
fn layers_are_unpacked_and_changed_through_an_overlay() {
    if !is_root("layers_are_unpacked_and_changed_through_an_overlay") {
        return;
    }
    let of = of_suite(include_str!("../../../suites/applications.toml"), "containers", |of| of.files = 400);
    with_material(|| {
        let folder = on_disk();
        let place = directory(folder.path());
        let mut work = prepare(&place, Kind::Programs(Box::new(of.clone()))).unwrap();
        let own = folder.path().join("fairlane-programs");
        let mut touched = Vec::new();
        for group in of.groups() {
            let window = match work.phase(&place, &group, Part::WHOLE, &mut ()) {
                Ok(window) => window,
                // The disk under /var/tmp may itself be an overlay, which cannot carry another's upper folder.
                Err(error) if error.is_unsupported() => {
                    eprintln!("skipped: {error}");
                    return;
                }
                Err(error) => panic!("{error}"),
            };
            if group == "start" || group == "change" {
                touched.push(window.operations);
            }
            if group == "change" {
                let copied = walk(&own.join("overlay-upper"));
                assert_eq!(copied, touched[1], "each changed file was copied up");
            }
        }
        // Four layers of a hundred, of which twenty of each later one replace one below.
        assert_eq!(touched, [340, 34]);
        assert!(!own.join("layers").exists());
    });
}

fn walk(folder: &Path) -> u64 {
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap());
    entries.map(|entry| if entry.file_type().unwrap().is_dir() { walk(&entry.path()) } else { 1 }).sum()
}

const MAIL: &str = "threads = 4\nfiles = [{ name = \"mail\", count = 60, filled = 0.8, mean = \"16KiB\", shape = 1.5 }, \
    { name = \"log\", count = 1, rotate = \"1MiB\" }]\n\
    step = [{ name = \"delete\", operation = \"delete\", files = \"mail\" }, \
    { name = \"deliver\", operation = \"create\", files = \"mail\", append = \"16KiB\" }, \
    { name = \"append\", operation = \"read-append\", files = \"mail\", append = \"16KiB\" }, \
    { name = \"read\", operation = \"read\", files = \"mail\", times = 3 }, \
    { name = \"log\", operation = \"append\", files = \"log\", append = \"64KiB\" }]";

#[test]
fn threads_repeat_a_turn_of_mixed_operations_and_what_is_there_can_be_told_afterwards() {
    let folder = in_memory();
    let place = directory(folder.path());
    let mix = toml::from_str::<model::workload::Mix>(MAIL).unwrap();
    let mut work = prepare(&place, Kind::Mix(Box::new(mix.clone()))).unwrap();
    let own = folder.path().join("fairlane-mix");
    assert_eq!(walk(&own), 49, "four fifths of 60, and the log");
    for _ in 0..2 {
        let windows = work.slice(&place, 0.02, 0.2, &mut ()).unwrap();
        assert_eq!(windows.iter().map(|window| window.group.clone()).collect::<Vec<_>>(), mix.groups());
        let count = |at: usize| windows[at].operations;
        assert_eq!(count(0), (1..6).map(count).sum::<u64>());
        // A turn is done whole, in order, by each of four threads: at the edges of the window a few are apart.
        for at in [2, 3, 5] {
            assert!(count(at).abs_diff(count(1)) <= 4 * 4, "{} of {}", windows[at].group, count(at));
        }
        assert!(count(4).abs_diff(3 * count(1)) <= 4 * 12 && count(1) > 0, "{}", count(4));
        for window in &windows[1..] {
            assert_eq!(window.latencies.operations(), window.operations, "{}", window.group);
        }
        assert!(windows[2].bytes > 0 && windows[4].bytes > 0 && windows[0].bytes == windows[4].bytes);
        // As many as at the beginning, but for turns that ended half way.
        assert!(walk(&own).abs_diff(49) <= 4, "{}", walk(&own));
        work.verify(&place).unwrap();
    }
    let log = own.join("p1/d000000/f000000000");
    assert!(work.written_bytes() > 2 * MIB && std::fs::metadata(&log).unwrap().len() < 2 * MIB, "it is emptied");
    // One message loses a byte, another is gone.
    let messages = files(&own.join("p0/d000000"));
    let (name, bytes) = messages.iter().find(|(_, bytes)| *bytes > 1).unwrap();
    let path = own.join("p0/d000000").join(name);
    std::fs::OpenOptions::new().write(true).open(&path).unwrap().set_len(bytes - 1).unwrap();
    let error = work.verify(&place).unwrap_err();
    assert!(error.is_corrupt() && error.to_string().contains("bytes instead of"), "{error}");
    std::fs::remove_file(&path).unwrap();
    let error = work.verify(&place).unwrap_err();
    assert!(error.is_corrupt() && error.to_string().contains("is gone"), "{error}");
}

/// Who breaks at the beginning of a window.
struct Breaks;

impl engine::Observer for Breaks {
    fn window_opens(&mut self) {
        panic!("on purpose");
    }
    fn window_closes(&mut self) {}
}

#[test]
fn a_panic_of_who_watches_ends_the_threads_of_mixed_operations_too() {
    let folder = on_disk();
    let place = directory(folder.path());
    let mix = toml::from_str::<model::workload::Mix>(MAIL).unwrap();
    let mut work = prepare(&place, Kind::Mix(Box::new(mix))).unwrap();
    let ended = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        let _ = work.slice(&place, 0.0, 0.1, &mut Breaks);
    }));
    assert!(ended.is_err(), "it came back, and with the panic");
}

#[test]
fn mixed_operations_end_with_the_flag_and_with_the_first_error() {
    let folder = in_memory();
    let place = directory(folder.path());
    let mix = toml::from_str::<model::workload::Mix>(MAIL).unwrap();
    let workload = Workload { name: "t".into(), title: "t".into(), kind: Kind::Mix(Box::new(mix)) };
    let stop = Arc::new(AtomicBool::new(false));
    let mut work = engine::prepare(&place, &workload, 7, Arc::clone(&stop)).unwrap();
    let own = folder.path().join("fairlane-mix/p0/d000000");
    for (name, _) in files(&own) {
        std::fs::remove_file(own.join(name)).unwrap();
    }
    let error = work.slice(&place, 0.0, 600.0, &mut ()).unwrap_err();
    assert_eq!(error.errno(), Some(libc::ENOENT), "{error}");
    stop.store(true, std::sync::atomic::Ordering::Relaxed);
    assert!(matches!(work.slice(&place, 0.0, 600.0, &mut ()), Err(EngineError::Interrupted)));
}
