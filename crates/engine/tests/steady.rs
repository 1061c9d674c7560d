//! Steady work on real filesystems.

mod common;

use common::*;
use engine::{BANDWIDTH, EngineError, OPERATIONS_PER_SECOND, Observer, OpenTarget};
use model::job::{PerDirection, Rate};
use model::workload::{Io, Kind, Pattern, Workload};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

const FILE: &str = "fairlane.contents";

fn ways(rw: Pattern, bs: u64, size: u64) -> Vec<Io> {
    vec![
        io(rw, bs, size),
        Io { direct: true, ..io(rw, bs, size) },
        uring(rw, bs, size, 1, false),
        uring(rw, bs, size, 32, false),
        uring(rw, bs, size, 32, true),
    ]
}

fn label(io: &Io) -> String {
    format!("{} {:?} depth {} direct {}", io.ioengine, io.rw, io.iodepth, io.direct)
}

fn append_files(folder: &Path) -> Vec<(String, u64)> {
    let entries = std::fs::read_dir(folder).unwrap().map(Result::unwrap);
    let mut files: Vec<_> =
        entries.map(|entry| (entry.file_name().into_string().unwrap(), entry.metadata().unwrap().len())).collect();
    files.sort();
    files
}

#[test]
fn reads_and_overwrites_run_in_every_way_and_leave_incompressible_files() {
    for folder in [on_disk(), in_memory()] {
        for rw in [Pattern::Read, Pattern::RandRead, Pattern::Write, Pattern::RandWrite] {
            for io in ways(rw, 4 * KIB, 2 * MIB + 4096 + 17) {
                let place = directory(folder.path());
                let mut work = prepare(&place, &io).unwrap_or_else(|error| panic!("{}: {error}", label(&io)));
                let populated = std::fs::read(folder.path().join(FILE)).unwrap();
                assert_eq!(populated.len() as u64, io.size.get());
                assert_incompressible(&populated);
                let window = slice(&mut *work, &place);
                assert!(window.operations > 0, "{}", label(&io));
                assert_eq!(window.bytes, window.operations * 4096);
                assert_eq!(window.latencies.operations(), window.operations);
                let after = std::fs::read(folder.path().join(FILE)).unwrap();
                assert_eq!(after == populated, rw.reads(), "{}", label(&io));
                assert_eq!(after.len(), populated.len());
                assert_hardly_compressible(&after);
            }
        }
    }
}

#[test]
fn a_slice_is_told_in_windows_that_hold_all_its_operations() {
    let folder = on_disk();
    let place = directory(folder.path());
    let several = Io { numjobs: 3, ..uring(Pattern::RandRead, 4 * KIB, 2 * MIB, 4, false) };
    for io in [io(Pattern::RandRead, 4 * KIB, 2 * MIB), uring(Pattern::Write, 4 * KIB, 2 * MIB, 8, false), several] {
        let mut work = prepare(&place, &io).unwrap();
        for _ in 0..2 {
            let window = slice(&mut *work, &place);
            assert_eq!(window.windows_seconds, 0.004, "{}", label(&io));
            let windows = &window.windows_operations_per_second;
            // A stall lengthens the slice, and gives it more windows.
            assert!(windows.len() >= 10, "{}: {windows:?}", label(&io));
            let held: f64 = windows.iter().map(|rate| rate * window.windows_seconds).sum();
            // What came behind the last whole window is in none.
            let share = windows.len() as f64 * window.windows_seconds / window.seconds;
            assert!(held <= window.operations as f64 + 1.0, "{held} of {}", window.operations);
            assert!(held >= 0.5 * share * window.operations as f64, "{held} of {}", window.operations);
        }
    }
    // What keeps to a rate is steady by that.
    let paced = Io {
        rate: Some(PerDirection { read: Rate::Operations(2000.0), ..PerDirection::default() }),
        ..io(Pattern::RandRead, 4 * KIB, 2 * MIB)
    };
    let window = slice(&mut *prepare(&place, &paced).unwrap(), &place);
    assert!(window.operations > 0 && window.windows_operations_per_second.is_empty());
}

#[test]
fn large_blocks_are_judged_by_bandwidth_and_small_ones_by_operations() {
    let folder = on_disk();
    let place = directory(folder.path());
    for (bs, metric, group) in [(64 * KIB, BANDWIDTH, "read"), (32 * KIB, OPERATIONS_PER_SECOND, "read")] {
        let mut work = prepare(&place, &uring(Pattern::Read, bs, 4 * MIB, 16, true)).unwrap();
        let window = slice(&mut *work, &place);
        assert_eq!((window.primary_metric, window.group.as_str()), (metric, group));
    }
    let mut work = prepare(&place, &uring(Pattern::Write, MIB, 8 * MIB, 4, true)).unwrap();
    assert_eq!(slice(&mut *work, &place).group, "write");
}

#[test]
fn blocks_of_any_length_work_through_the_page_cache() {
    let folder = on_disk();
    let place = directory(folder.path());
    for bs in [1, 16, 100, 5000] {
        let mut work = prepare(&place, &io(Pattern::RandWrite, bs, 50_000)).unwrap();
        assert!(slice(&mut *work, &place).operations > 0, "bs {bs}");
        assert_eq!(std::fs::metadata(folder.path().join(FILE)).unwrap().len(), 50_000);
    }
}

#[test]
fn appended_data_continues_from_slice_to_slice_and_over_a_release() {
    for io in [io(Pattern::Append, 4 * KIB, 64 * MIB), uring(Pattern::Append, 4 * KIB, 64 * MIB, 1, false)] {
        let io = Io { fdatasync: 1, ..io };
        let folder = on_disk();
        let place = directory(folder.path());
        let mut work = prepare(&place, &io).unwrap();
        let mut counted = 0;
        let mut length_before = 0;
        for turn in 0..3 {
            let window = slice(&mut *work, &place);
            counted += window.operations;
            let files = append_files(folder.path());
            assert_eq!(files[0].0, "fairlane.00000000", "{files:?}");
            assert!(files[0].1 > length_before && files[0].1.is_multiple_of(4096), "{files:?}");
            length_before = files[0].1;
            if turn == 1 {
                work.release();
            }
        }
        // Warm-ups and tails are written and not counted.
        assert!(length_before / 4096 > counted, "{length_before} bytes, {counted} counted");
        let bytes = std::fs::read(folder.path().join("fairlane.00000000")).unwrap();
        assert_hardly_compressible(&bytes);
    }
}

#[test]
fn a_full_appended_file_gives_way_to_a_new_one_and_is_removed() {
    for io in [
        io(Pattern::Append, 4 * KIB, 64 * KIB),
        uring(Pattern::Append, 4 * KIB, 64 * KIB, 8, false),
        uring(Pattern::Append, 4 * KIB, 64 * KIB, 8, true),
    ] {
        let folder = in_memory();
        let place = directory(folder.path());
        let mut work = prepare(&place, &io).unwrap();
        let window = slice(&mut *work, &place);
        assert!(window.operations > 32, "{}", window.operations);
        let files = append_files(folder.path());
        assert_eq!(files.len(), 2, "the one that grows and the one that waits: {files:?}");
        assert!(files[0].0.as_str() > "fairlane.00000001" && files[0].1 <= 64 * KIB, "{files:?}");
        assert_eq!(files[1].1, 0);
        assert!(files.iter().all(|(name, _)| name.len() == FILE.len()), "equal names: {files:?}");
    }
}

#[test]
fn the_null_engine_keeps_its_depth_in_flight_for_the_whole_window() {
    for depth in [1, 8] {
        let io = uring(Pattern::RandRead, 4 * KIB, MIB, depth, true);
        let mut work = prepare(&OpenTarget::Null, &io).unwrap();
        let mut in_flight = Vec::new();
        for _ in 0..20 {
            let window = work.slice(&OpenTarget::Null, 0.01, 0.05, &mut ()).unwrap().remove(0);
            assert!(window.seconds >= 0.05);
            assert_eq!(window.latencies.operations(), window.operations);
            // Little's law: operations in flight = rate x latency. Where others take the CPU, an operation that waits
            // meanwhile moves it: one window of many is left alone.
            in_flight.push(window.operations_per_second() * window.latencies.summary().unwrap().mean / 1e9);
            if in_flight.last().is_some_and(|mean| (mean / f64::from(depth) - 1.0).abs() < 0.25) {
                break;
            }
        }
        assert!(in_flight.len() < 20, "{in_flight:?} of {depth}");
    }
}

/// Counts and times what the engine tells it.
#[derive(Default)]
struct Witness {
    opened: Vec<Instant>,
    closed: Vec<Instant>,
}

impl Observer for Witness {
    fn window_opens(&mut self) {
        self.opened.push(Instant::now());
    }
    fn window_closes(&mut self) {
        self.closed.push(Instant::now());
    }
}

#[test]
fn the_observer_sees_exactly_the_window() {
    let folder = in_memory();
    let place = directory(folder.path());
    let mut work = prepare(&place, &io(Pattern::Read, 4 * KIB, MIB)).unwrap();
    for warm_up in [0.0, 0.05] {
        let mut witness = Witness::default();
        let begun = Instant::now();
        let window = work.slice(&place, warm_up, 0.03, &mut witness).unwrap().remove(0);
        assert_eq!((witness.opened.len(), witness.closed.len()), (1, 1));
        assert!(witness.opened[0] - begun >= Duration::from_secs_f64(warm_up));
        let seen = (witness.closed[0] - witness.opened[0]).as_secs_f64();
        assert!(window.seconds >= 0.03 && (seen - window.seconds).abs() < 0.02, "{seen} and {}", window.seconds);
    }
}

#[test]
fn a_stall_longer_than_the_window_lengthens_it() {
    // Warm-up and window shorter than any operation: one whole operation is measured.
    let folder = on_disk();
    let place = directory(folder.path());
    let mut work = prepare(&place, &io(Pattern::Write, 8 * MIB, 16 * MIB)).unwrap();
    let window = work.slice(&place, 1e-9, 1e-9, &mut ()).unwrap().remove(0);
    assert_eq!(window.operations, 1);
    let latency = window.latencies.summary().unwrap().max / 1e9;
    assert!(window.seconds >= latency * 0.998, "{} and {latency}", window.seconds);
}

#[test]
fn a_file_cut_short_ends_the_slice_with_its_offset_and_work_goes_on_later() {
    let folder = on_disk();
    let place = directory(folder.path());
    for io in [io(Pattern::Read, 4 * KIB, MIB), uring(Pattern::Read, 4 * KIB, MIB, 32, false)] {
        let mut work = prepare(&place, &io).unwrap();
        let path = folder.path().join(FILE);
        let whole = std::fs::read(&path).unwrap();
        std::fs::write(&path, &whole[..300_000]).unwrap();
        let error = work.slice(&place, 0.0, 5.0, &mut ()).unwrap_err();
        // 300000 = 73 x 4096 + 992
        let text = error.to_string();
        assert!(matches!(error, EngineError::Short { .. }), "{text}");
        assert!(text.contains("of 4096 bytes at offset") && text.contains(FILE), "{text}");
        std::fs::write(&path, &whole).unwrap();
        assert!(slice(&mut *work, &place).operations > 0);
    }
}

#[test]
fn a_full_lane_is_told_by_its_errno() {
    if !is_root("a full lane") {
        return;
    }
    let mount = Mount::new(&["-t", "tmpfs", "-o", "size=1m", "tmpfs"]);
    let place = directory(mount.path());
    let error = prepare(&place, &io(Pattern::Read, 4 * KIB, 4 * MIB)).err().unwrap();
    assert_eq!(error.errno(), Some(libc::ENOSPC), "{error}");
    assert!(error.to_string().contains("No space left") && error.to_string().contains("offset"), "{error}");
    for io in [io(Pattern::Append, 4 * KIB, 4 * MIB), uring(Pattern::Append, 4 * KIB, 4 * MIB, 16, false)] {
        std::fs::remove_file(mount.path().join(FILE)).ok();
        let mut work = prepare(&place, &io).unwrap();
        let error = work.slice(&place, 0.0, 5.0, &mut ()).unwrap_err();
        // The last write before the end may be a short one.
        assert!(error.errno() == Some(libc::ENOSPC) || matches!(error, EngineError::Short { .. }), "{error}");
    }
}

#[test]
fn a_filesystem_without_direct_io_says_so_in_one_sentence() {
    if !is_root("refusing O_DIRECT") {
        return;
    }
    let mount = Mount::new(&["-t", "ramfs", "ramfs"]);
    let place = directory(mount.path());
    for rw in [Pattern::Read, Pattern::Append] {
        let error = prepare(&place, &uring(rw, 4 * KIB, 2 * MIB, 4, true)).err().unwrap();
        assert_eq!(error.errno(), Some(libc::EINVAL), "{error}");
        let text = error.to_string();
        assert!(text.contains("O_DIRECT") && text.contains("set direct = false") && !text.contains('\n'), "{text}");
    }
    // Without direct I/O the same filesystem works: populating falls back to the page cache.
    let mut work = prepare(&place, &io(Pattern::Read, 4 * KIB, 2 * MIB)).unwrap();
    assert!(slice(&mut *work, &place).operations > 0);
}

#[test]
fn the_stop_flag_ends_populating_and_slices() {
    let folder = on_disk();
    let place = directory(folder.path());
    let kind = Kind::Io(Box::new(io(Pattern::Read, 4 * KIB, 4 * MIB)));
    let workload = Workload { name: "t".into(), title: "t".into(), kind };
    let stop = Arc::new(AtomicBool::new(true));
    let error = engine::prepare(&place, &workload, 1, stop.clone()).err().unwrap();
    assert!(matches!(error, EngineError::Interrupted), "{error}");
    stop.store(false, std::sync::atomic::Ordering::Relaxed);
    let mut work = engine::prepare(&place, &workload, 1, stop.clone()).unwrap();
    let setter = std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(20));
        stop.store(true, std::sync::atomic::Ordering::Relaxed);
    });
    let error = work.slice(&place, 0.0, 600.0, &mut ()).unwrap_err();
    assert_eq!(error.to_string(), "interrupted");
    setter.join().unwrap();
}

#[test]
fn the_same_seed_writes_the_same_bytes_in_every_lane() {
    let folders = [on_disk(), in_memory()];
    let contents = folders.each_ref().map(|folder| {
        prepare(&directory(folder.path()), &io(Pattern::Read, 4 * KIB, 3 * MIB)).unwrap();
        std::fs::read(folder.path().join(FILE)).unwrap()
    });
    assert!(contents[0] == contents[1]);
}

#[test]
fn what_does_not_fit_together_is_refused_by_name() {
    let folder = on_disk();
    let place = directory(folder.path());
    let refused = |io: &Io| prepare(&place, io).err().unwrap().to_string();
    let unknown = refused(&Io { ioengine: "libfoo".into(), ..io(Pattern::Read, 4 * KIB, MIB) });
    assert!(unknown.contains("libfoo") && unknown.contains("sync, io_uring, libaio, mmap, null"), "{unknown}");
    let deep = refused(&Io { iodepth: 4, ..io(Pattern::Read, 4 * KIB, MIB) });
    assert!(deep.contains("iodepth = 1"), "{deep}");
    let mut steady = prepare(&place, &io(Pattern::Read, 4 * KIB, MIB)).unwrap();
    assert!(
        steady.phase(&place, "create", model::agent::Part::WHOLE, &mut ()).unwrap_err().to_string().contains("slices")
    );
    assert!(!folder.path().join("fairlane.00000000").exists());
}

#[test]
fn work_that_wears_out_goes_on_to_exactly_so_many_operations() {
    let folder = in_memory();
    let place = directory(folder.path());
    for (engine, fdatasync) in [("sync", 0), ("sync", 7), ("io_uring", 0)] {
        let io = Io {
            ioengine: engine.to_owned(),
            fdatasync,
            slices: 1,
            wear_out: true,
            ..io(Pattern::Write, 4 * KIB, 2 * MIB)
        };
        let mut work = prepare(&place, &io).unwrap();
        let done = work.slice(&place, 0.0, 0.01, &mut ()).unwrap().remove(0).operations;
        let rest = work.wear_out(&place, done + 1000, &mut ()).unwrap().remove(0);
        assert_eq!((rest.operations, rest.bytes), (1000, 4096 * 1000), "{}", label(&io));
        assert!(rest.seconds > 0.0 && rest.latencies.operations() == 1000);
        assert_eq!(work.wear_out(&place, 5, &mut ()).unwrap().remove(0).operations, 0, "it has done more");
    }
    let mut plain = prepare(&place, &io(Pattern::Write, 4 * KIB, MIB)).unwrap();
    assert!(plain.wear_out(&place, 5, &mut ()).is_err());
}
