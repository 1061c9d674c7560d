//! Job files run whole, on real filesystems, with workers as processes and as threads.

#[macro_use]
#[path = "common/alone.rs"]
mod alone;
mod common;

use common::{KIB, MIB, directory, in_memory, on_disk};
use engine::{EngineError, Window, Work};
use model::Bytes;
use model::job::{Data, Fallocate, Io, Job, Jobs, Pattern, PerDirection, Rate, RateProcess};
use model::workload::{Kind, Workload};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

alone_tests!(
    a_job_moves_exactly_its_size_whoever_its_workers_are,
    reads_and_writes_of_a_mixed_job_are_groups_of_their_own,
    a_stonewall_lets_earlier_jobs_end_first_and_names_tell_jobs_apart,
    a_file_that_one_job_writes_and_another_reads_holds_data_from_the_start,
    both_directions_of_a_mixture_keep_to_their_own_rate_in_bytes,
    syncs_of_several_files_go_round_among_them,
    a_job_waits_for_the_one_it_names,
    syncs_are_a_group_of_their_own_and_come_after_every_so_many_writes,
    loops_runtime_ramp_and_io_size_say_how_much_is_done,
    a_rate_is_kept_and_an_open_loop_counts_from_the_intended_start,
    an_open_loop_beyond_what_the_engine_can_do_counts_the_backlog_and_says_so,
    a_slow_run_has_a_series_by_half_seconds_of_all_its_workers,
    exitall_spares_the_jobs_behind_a_stonewall,
    what_is_laid_out_is_of_the_jobs_kind_of_data,
    what_was_written_is_read_back_and_a_changed_byte_is_named_by_file_and_offset,
    a_later_job_checks_what_it_reads_and_verification_that_cannot_work_is_refused,
    fsync_and_fdatasync_are_both_done,
    files_are_laid_out_as_the_options_say,
    more_files_than_may_be_open_are_all_written,
    a_full_filesystem_fails_the_run_with_its_reason,
    a_run_ends_soon_after_the_stop_flag_and_leaves_no_worker,
    exitall_ends_the_others_and_keeps_what_they_did,
    what_workers_used_is_known_by_job,
    threads_of_one_job_work_beside_processes_of_another,
);

fn job(name: &str, io: Io) -> Job {
    Job { name: name.into(), stonewall: false, exitall: false, wait_for: None, options: Vec::new(), io }
}

fn io(rw: Pattern, bs: u64, size: u64) -> Io {
    Io { rw, bs: Bytes(bs), size: Bytes(size), ..Io::default() }
}

fn prepared(path: &Path, jobs: Vec<Job>) -> Result<Box<dyn Work>, EngineError> {
    let jobs = Jobs { jobs, file: "test.fio".into(), notes: Vec::new() };
    let workload = Workload { name: "t".into(), title: "t".into(), kind: Kind::Jobs(Box::new(jobs)) };
    engine::prepare(&directory(path), &workload, 42, Arc::new(AtomicBool::new(false)))
}

fn run(path: &Path, jobs: Vec<Job>) -> Vec<Window> {
    prepared(path, jobs).unwrap().run(&directory(path), &mut ()).unwrap()
}

fn group<'a>(windows: &'a [Window], name: &str) -> &'a Window {
    let names: Vec<&str> = windows.iter().map(|window| window.group.as_str()).collect();
    windows.iter().find(|window| window.group == name).unwrap_or_else(|| panic!("no {name} in {names:?}"))
}

#[test]
fn a_job_moves_exactly_its_size_whoever_its_workers_are() {
    if alone::elsewhere("a_job_moves_exactly_its_size_whoever_its_workers_are") {
        return;
    }
    for (thread, folder) in [(true, in_memory()), (false, on_disk())] {
        for (rw, ioengine, iodepth) in [
            (Pattern::Write, "sync", 1),
            (Pattern::RandRead, "io_uring", 8),
            (Pattern::RandWrite, "io_uring", 16),
            (Pattern::Read, "sync", 1),
        ] {
            let io = Io { thread, numjobs: 3, ioengine: ioengine.into(), iodepth, ..io(rw, 4 * KIB, MIB) };
            let windows = run(folder.path(), vec![job("j", io)]);
            assert_eq!(windows.len(), 1);
            let window = &windows[0];
            assert_eq!((window.operations, window.bytes), (3 * 256, 3 * MIB), "{rw:?} {ioengine} {thread}");
            assert_eq!(window.latencies.operations(), window.operations);
            assert!(window.seconds > 0.0);
        }
        let names: Vec<_> = std::fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        assert_eq!(names.len(), 3, "{names:?}");
        assert!(names.contains(&"j.2.0".into()), "{names:?}");
    }
}

#[test]
fn reads_and_writes_of_a_mixed_job_are_groups_of_their_own() {
    if alone::elsewhere("reads_and_writes_of_a_mixed_job_are_groups_of_their_own") {
        return;
    }
    let folder = in_memory();
    let mixed = Io { rwmixread: 70, norandommap: true, ..io(Pattern::RandRw, 4 * KIB, 16 * MIB) };
    let windows = run(folder.path(), vec![job("mixed", mixed)]);
    let (read, write) = (group(&windows, "read"), group(&windows, "write"));
    assert_eq!(read.operations + write.operations, 4096);
    let share = read.operations as f64 / 4096.0;
    // 70 % of 4096 draws, within five standard deviations.
    assert!((share - 0.7).abs() < 0.036, "{share}");
    assert_eq!(read.latencies.operations(), read.operations);
    assert_eq!(write.latencies.operations(), write.operations);
}

#[test]
fn a_stonewall_lets_earlier_jobs_end_first_and_names_tell_jobs_apart() {
    if alone::elsewhere("a_stonewall_lets_earlier_jobs_end_first_and_names_tell_jobs_apart") {
        return;
    }
    let folder = in_memory();
    let first = Io { filename: vec!["shared".into()], data: Data::Zero, ..io(Pattern::Write, 64 * KIB, 4 * MIB) };
    let second = Io { filename: vec!["shared".into()], ..io(Pattern::Write, 4 * KIB, 64 * KIB) };
    let mut after = job("after", second);
    after.stonewall = true;
    let slow = Io { thinktime_seconds: 0.05, thinktime_blocks: 16, ..first };
    let windows = run(folder.path(), vec![job("before", slow), after]);
    assert_eq!(group(&windows, "before: write").operations, 64);
    assert_eq!(group(&windows, "after: write").operations, 16);
    let bytes = std::fs::read(folder.path().join("shared")).unwrap();
    assert_eq!(bytes.len() as u64, 4 * MIB);
    // The later job's data stands; the earlier one wrote zeros.
    assert!(bytes[..4096].iter().any(|byte| *byte != 0));
    assert!(bytes[64 * 1024..].iter().all(|byte| *byte == 0));
}

#[test]
fn a_file_that_one_job_writes_and_another_reads_holds_data_from_the_start() {
    if alone::elsewhere("a_file_that_one_job_writes_and_another_reads_holds_data_from_the_start") {
        return;
    }
    let folder = on_disk();
    let shared = |rw| Io { filename: vec!["shared".into()], ..io(rw, 4 * KIB, MIB) };
    let jobs = || vec![job("writer", shared(Pattern::RandWrite)), job("reader", shared(Pattern::RandRead))];
    let zeros = || {
        let bytes = std::fs::read(folder.path().join("shared")).unwrap();
        assert_eq!(bytes.len() as u64, MIB);
        bytes.chunks(4096).filter(|block| block.iter().all(|byte| *byte == 0)).count()
    };
    prepared(folder.path(), jobs()).unwrap();
    assert_eq!(zeros(), 0);
    std::fs::remove_file(folder.path().join("shared")).unwrap();
    // A reader that begins when the writer has ended reads the writer's own blocks.
    let mut apart = jobs();
    apart[1].stonewall = true;
    prepared(folder.path(), apart).unwrap();
    assert_eq!(zeros(), 256);
}

#[test]
fn both_directions_of_a_mixture_keep_to_their_own_rate_in_bytes() {
    if alone::elsewhere("both_directions_of_a_mixture_keep_to_their_own_rate_in_bytes") {
        return;
    }
    let folder = in_memory();
    let rate = PerDirection {
        read: Rate::Bytes(4.0 * MIB as f64),
        write: Rate::Bytes(2.0 * MIB as f64),
        ..PerDirection::default()
    };
    let io = Io { rate: Some(rate), norandommap: true, ..io(Pattern::RandRw, 4 * KIB, 6 * MIB) };
    let windows = run(folder.path(), vec![job("mixed", io)]);
    let (read, write) = (group(&windows, "read"), group(&windows, "write"));
    // 6 MiB at 6 MiB a second; two thirds of 1536 draws, within five standard deviations.
    assert!((read.operations as f64 / 1536.0 - 2.0 / 3.0).abs() < 0.061, "{}", read.operations);
    assert_eq!(read.operations + write.operations, 1536);
    assert!(read.seconds > 0.9, "{}", read.seconds);
}

#[test]
fn syncs_of_several_files_go_round_among_them() {
    if alone::elsewhere("syncs_of_several_files_go_round_among_them") {
        return;
    }
    let folder = in_memory();
    let every = Io { fsync: 4, nrfiles: 4, openfiles: Some(2), ..io(Pattern::Write, 4 * KIB, 256 * KIB) };
    let windows = run(folder.path(), vec![job("log", every)]);
    assert_eq!((group(&windows, "write").operations, group(&windows, "sync").operations), (64, 16));
}

#[test]
fn a_job_waits_for_the_one_it_names() {
    if alone::elsewhere("a_job_waits_for_the_one_it_names") {
        return;
    }
    let folder = in_memory();
    let begun = std::time::Instant::now();
    let long = Io { runtime_seconds: Some(0.3), time_based: true, ..io(Pattern::Read, 4 * KIB, MIB) };
    let mut second = job("second", io(Pattern::Read, 4 * KIB, MIB));
    second.wait_for = Some("first".into());
    let windows = run(folder.path(), vec![job("first", long), second]);
    assert!(begun.elapsed().as_secs_f64() >= 0.3);
    assert!(group(&windows, "first: read").seconds >= 0.3);
    assert_eq!(group(&windows, "second: read").operations, 256);
}

#[test]
fn syncs_are_a_group_of_their_own_and_come_after_every_so_many_writes() {
    if alone::elsewhere("syncs_are_a_group_of_their_own_and_come_after_every_so_many_writes") {
        return;
    }
    let folder = on_disk();
    for (ioengine, iodepth) in [("sync", 1), ("io_uring", 4)] {
        let every = Io { fdatasync: 8, ioengine: ioengine.into(), iodepth, ..io(Pattern::Write, 4 * KIB, 256 * KIB) };
        let windows = run(folder.path(), vec![job("log", every)]);
        assert_eq!(group(&windows, "write").operations, 64);
        assert_eq!(group(&windows, "sync").operations, 8, "{ioengine}");
        assert_eq!(group(&windows, "sync").bytes, 0);
    }
}

#[test]
fn loops_runtime_ramp_and_io_size_say_how_much_is_done() {
    if alone::elsewhere("loops_runtime_ramp_and_io_size_say_how_much_is_done") {
        return;
    }
    let folder = in_memory();
    let twice = Io { loops: 2, unlink_each_loop: true, ..io(Pattern::Write, 4 * KIB, 256 * KIB) };
    assert_eq!(run(folder.path(), vec![job("loops", twice)])[0].operations, 128);
    assert!(!folder.path().join("loops.0.0").exists());
    let part = Io { io_size: Some(Bytes(64 * KIB)), ..io(Pattern::Read, 4 * KIB, 256 * KIB) };
    assert_eq!(run(folder.path(), vec![job("part", part)])[0].operations, 16);
    let timed = Io {
        runtime_seconds: Some(0.2),
        ramp_time_seconds: 0.1,
        time_based: true,
        ..io(Pattern::RandRead, 4 * KIB, 256 * KIB)
    };
    let begun = std::time::Instant::now();
    let window = run(folder.path(), vec![job("timed", timed)]).remove(0);
    assert!((0.2..5.0).contains(&window.seconds), "{}", window.seconds);
    assert!(begun.elapsed().as_secs_f64() >= 0.3);
    assert!(window.operations > 64);
    let bounded = Io { runtime_seconds: Some(30.0), ..io(Pattern::Read, 4 * KIB, 256 * KIB) };
    assert_eq!(run(folder.path(), vec![job("bounded", bounded)])[0].operations, 64);
}

#[test]
fn a_rate_is_kept_and_an_open_loop_counts_from_the_intended_start() {
    if alone::elsewhere("a_rate_is_kept_and_an_open_loop_counts_from_the_intended_start") {
        return;
    }
    let folder = in_memory();
    for (process, ioengine, iodepth) in
        [(RateProcess::Linear, "sync", 1), (RateProcess::Poisson, "io_uring", 32), (RateProcess::Linear, "io_uring", 4)]
    {
        let rate = PerDirection { read: Rate::Operations(2000.0), ..PerDirection::default() };
        let paced = Io {
            rate: Some(rate),
            rate_process: process,
            ioengine: ioengine.into(),
            iodepth,
            runtime_seconds: Some(0.5),
            time_based: true,
            ..io(Pattern::RandRead, 4 * KIB, MIB)
        };
        let window = run(folder.path(), vec![job("paced", paced)]).remove(0);
        let rate = window.operations as f64 / window.seconds;
        // 1000 Poisson arrivals have a deviation of 32; a busy machine may fall behind, never ahead.
        assert!((1000.0..2350.0).contains(&rate), "{process:?} {ioengine}: {rate}");
        let metric = if process == RateProcess::Poisson { "latency_p99_ns" } else { "operations_per_second" };
        assert_eq!(window.primary_metric, metric);
    }
}

#[test]
fn an_open_loop_beyond_what_the_engine_can_do_counts_the_backlog_and_says_so() {
    if alone::elsewhere("an_open_loop_beyond_what_the_engine_can_do_counts_the_backlog_and_says_so") {
        return;
    }
    let folder = in_memory();
    let rate = PerDirection { read: Rate::Operations(20_000_000.0), ..PerDirection::default() };
    for (ioengine, iodepth) in [("sync", 1), ("io_uring", 16)] {
        let flood = Io {
            rate: Some(rate),
            rate_process: RateProcess::Poisson,
            ioengine: ioengine.into(),
            iodepth,
            runtime_seconds: Some(0.3),
            time_based: true,
            ..io(Pattern::RandRead, 4 * KIB, MIB)
        };
        let mut work = prepared(folder.path(), vec![job("flood", flood)]).unwrap();
        let windows = work.run(&directory(folder.path()), &mut ()).unwrap();
        // A read takes microseconds; what waits for its turn is late by most of the run.
        let latest = windows[0].latencies.summary().unwrap().max;
        assert!(latest > 100e6, "{ioengine}: {latest} ns");
        assert!(work.notes().iter().any(|note| note.is(model::Mark::CannotSustainRate)), "{:?}", work.notes());
    }
}

#[test]
fn a_slow_run_has_a_series_by_half_seconds_of_all_its_workers() {
    if alone::elsewhere("a_slow_run_has_a_series_by_half_seconds_of_all_its_workers") {
        return;
    }
    let folder = in_memory();
    let long = Io { numjobs: 2, runtime_seconds: Some(1.2), time_based: true, ..io(Pattern::RandRead, 4 * KIB, MIB) };
    let window = run(folder.path(), vec![job("long", long)]).remove(0);
    let series = &window.series_operations_per_second;
    assert_eq!(series.len(), 2, "{series:?}");
    let mean = window.operations as f64 / window.seconds;
    assert!(series.iter().all(|rate| (0.02..50.0).contains(&(rate / mean))), "{series:?} about {mean}");
}

#[test]
fn exitall_spares_the_jobs_behind_a_stonewall() {
    if alone::elsewhere("exitall_spares_the_jobs_behind_a_stonewall") {
        return;
    }
    let folder = in_memory();
    let mut first = job("first", io(Pattern::Read, 4 * KIB, MIB));
    first.exitall = true;
    let mut second = job("second", io(Pattern::Read, 4 * KIB, MIB));
    second.stonewall = true;
    let windows = run(folder.path(), vec![first, second]);
    assert_eq!(group(&windows, "second: read").operations, 256);
}

#[test]
fn what_is_laid_out_is_of_the_jobs_kind_of_data() {
    if alone::elsewhere("what_is_laid_out_is_of_the_jobs_kind_of_data") {
        return;
    }
    let folder = in_memory();
    let zeros = Io { create_only: true, data: Data::Zero, ..io(Pattern::Read, 4 * KIB, MIB + 100) };
    run(folder.path(), vec![job("zeros", zeros)]);
    assert!(std::fs::read(folder.path().join("zeros.0.0")).unwrap().iter().all(|byte| *byte == 0));
    let preset = Io { data: Data::Ratio27, ..io(Pattern::Write, 64 * KIB, 4 * MIB) };
    let mut work = prepared(folder.path(), vec![job("preset", preset)]).unwrap();
    work.run(&directory(folder.path()), &mut ()).unwrap();
    let told = work.jobs()[0].compression_ratio.unwrap();
    let found = engine::compressibility::zstd_ratio(&std::fs::read(folder.path().join("preset.0.0")).unwrap());
    assert!((told / found - 1.0).abs() < 0.1, "told {told}, found {found}");
    assert!((found / 2.7 - 1.0).abs() < 0.1, "{found}");
}

fn verified(rw: Pattern, size: u64) -> Io {
    Io { verify: model::job::Verify::Crc32c, ioengine: "io_uring".into(), iodepth: 8, ..io(rw, 4 * KIB, size) }
}

#[test]
fn what_was_written_is_read_back_and_a_changed_byte_is_named_by_file_and_offset() {
    if alone::elsewhere("what_was_written_is_read_back_and_a_changed_byte_is_named_by_file_and_offset") {
        return;
    }
    for thread in [true, false] {
        let folder = on_disk();
        let place = directory(folder.path());
        let io = Io { thread, loops: 2, ..verified(Pattern::RandWrite, MIB) };
        let mut work = prepared(folder.path(), vec![job("v", io)]).unwrap();
        work.run(&place, &mut ()).unwrap();
        work.verify(&place).unwrap();
        assert_eq!(work.jobs()[0].verified_blocks, 256);
        let path = folder.path().join("v.0.0");
        let mut bytes = std::fs::read(&path).unwrap();
        bytes[20_480 + 1000] ^= 1;
        std::fs::write(&path, &bytes).unwrap();
        let error = work.verify(&place).unwrap_err();
        assert!(error.is_corrupt());
        let text = error.to_string();
        assert!(text.contains("v.0.0") && text.contains("offset 20480"), "{text}");
        bytes[20_480 + 1000] ^= 1;
        // An older block in place of a newer one: a write that was lost.
        bytes.copy_within(0..4096, 8192);
        std::fs::write(&path, &bytes).unwrap();
        let text = work.verify(&place).unwrap_err().to_string();
        assert!(text.contains("offset 8192") && text.contains("offset 0"), "{text}");
    }
}

#[test]
fn a_later_job_checks_what_it_reads_and_verification_that_cannot_work_is_refused() {
    if alone::elsewhere("a_later_job_checks_what_it_reads_and_verification_that_cannot_work_is_refused") {
        return;
    }
    let folder = on_disk();
    let shared = |io: Io| Io { filename: vec!["shared".into()], ..io };
    let mut reader = job("reader", shared(verified(Pattern::RandRead, MIB)));
    reader.stonewall = true;
    let writer = job("writer", shared(verified(Pattern::Write, MIB)));
    let mut work = prepared(folder.path(), vec![writer.clone(), reader.clone()]).unwrap();
    work.run(&directory(folder.path()), &mut ()).unwrap();
    assert_eq!(work.jobs()[1].verified_blocks, 256);
    let other = job("other", shared(io(Pattern::Trim, 4 * KIB, MIB)));
    for (jobs, says) in [
        (vec![reader], "earlier job wrote"),
        (vec![writer.clone(), other], "job other"),
        (vec![job("t", verified(Pattern::TrimWrite, MIB))], "discarded"),
        (vec![job("u", Io { unlink: true, ..verified(Pattern::Write, MIB) })], "unlink"),
        (vec![job("n", shared(Io { numjobs: 2, ..verified(Pattern::Write, MIB) }))], "numjobs=1"),
    ] {
        let error = prepared(folder.path(), jobs).err().unwrap();
        assert!(error.to_string().contains(says), "{error}");
    }
}

#[test]
fn fsync_and_fdatasync_are_both_done() {
    if alone::elsewhere("fsync_and_fdatasync_are_both_done") {
        return;
    }
    let folder = in_memory();
    let both = Io { fsync: 16, fdatasync: 4, ..io(Pattern::Write, 4 * KIB, 256 * KIB) };
    let windows = run(folder.path(), vec![job("both", both)]);
    // 64 writes: after every fourth an fdatasync, but for every sixteenth, where the fsync does it.
    assert_eq!(group(&windows, "sync").operations, 16);
}

#[test]
fn files_are_laid_out_as_the_options_say() {
    if alone::elsewhere("files_are_laid_out_as_the_options_say") {
        return;
    }
    let folder = on_disk();
    let path = |name: &str| folder.path().join(name);
    let only = |io: Io| Io { create_only: true, ..io };
    let many =
        only(Io { nrfiles: 4, filename_format: "d/$jobname-$filenum".into(), ..io(Pattern::Read, 4 * KIB, MIB) });
    assert!(run(folder.path(), vec![job("laid", many)]).is_empty());
    let bytes = std::fs::read(path("d/laid-3")).unwrap();
    assert_eq!(bytes.len() as u64, MIB / 4);
    common::assert_incompressible(&bytes);
    let truncated = only(Io { fallocate: Fallocate::Truncate, ..io(Pattern::Write, 4 * KIB, MIB) });
    run(folder.path(), vec![job("hole", truncated)]);
    assert_eq!(std::fs::metadata(path("hole.0.0")).unwrap().len(), MIB);
    let appended = Io { file_append: true, filename: vec!["grows".into()], ..io(Pattern::Write, 4 * KIB, 64 * KIB) };
    run(folder.path(), vec![job("a", appended.clone())]);
    run(folder.path(), vec![job("a", appended)]);
    assert_eq!(std::fs::metadata(path("grows")).unwrap().len(), 128 * KIB);
    let absent = Io { allow_file_create: false, ..io(Pattern::Read, 4 * KIB, MIB) };
    let error = prepared(folder.path(), vec![job("absent", absent)]).err().unwrap();
    assert!(error.to_string().contains("allow_file_create=0"), "{error}");
}

#[test]
fn more_files_than_may_be_open_are_all_written() {
    if alone::elsewhere("more_files_than_may_be_open_are_all_written") {
        return;
    }
    let folder = in_memory();
    for (ioengine, iodepth) in [("sync", 1), ("io_uring", 8)] {
        let io = Io {
            nrfiles: 10,
            openfiles: Some(3),
            fsync_on_close: true,
            ioengine: ioengine.into(),
            iodepth,
            filename_format: format!("{ioengine}.$filenum"),
            ..io(Pattern::Write, 4 * KIB, 400 * KIB)
        };
        assert_eq!(run(folder.path(), vec![job("many", io)])[0].operations, 100);
        for number in 0..10 {
            let bytes = std::fs::read(folder.path().join(format!("{ioengine}.{number}"))).unwrap();
            assert_eq!(bytes.len() as u64, 40 * KIB);
            assert!(bytes.chunks(4096).all(|block| block.iter().any(|byte| *byte != 0)), "{ioengine} {number}");
        }
    }
}

#[test]
fn a_full_filesystem_fails_the_run_with_its_reason() {
    if alone::elsewhere("a_full_filesystem_fails_the_run_with_its_reason") {
        return;
    }
    if !common::is_root("a_full_filesystem_fails_the_run_with_its_reason") {
        return;
    }
    let folder = in_memory();
    let mounted = common::SmallTmpfs::mount(folder.path(), 4 * MIB);
    for thread in [true, false] {
        let io = Io { thread, fallocate: Fallocate::None, ..io(Pattern::Write, 64 * KIB, 16 * MIB) };
        let error = prepared(mounted.path(), vec![job("full", io)])
            .and_then(|mut work| work.run(&directory(mounted.path()), &mut ()))
            .unwrap_err();
        assert_eq!(error.errno(), Some(libc::ENOSPC), "{error}");
        assert!(error.to_string().contains("full.0.0"), "{error}");
        std::fs::remove_file(mounted.path().join("full.0.0")).unwrap();
    }
}

#[test]
fn a_run_ends_soon_after_the_stop_flag_and_leaves_no_worker() {
    if alone::elsewhere("a_run_ends_soon_after_the_stop_flag_and_leaves_no_worker") {
        return;
    }
    let folder = in_memory();
    for thread in [true, false] {
        let stop = Arc::new(AtomicBool::new(false));
        let io = Io {
            thread,
            numjobs: 2,
            runtime_seconds: Some(600.0),
            time_based: true,
            ..io(Pattern::RandRead, 4 * KIB, MIB)
        };
        let jobs = Jobs { jobs: vec![job("endless", io)], file: String::new(), notes: Vec::new() };
        let workload = Workload { name: "t".into(), title: "t".into(), kind: Kind::Jobs(Box::new(jobs)) };
        let place = directory(folder.path());
        let mut work = engine::prepare(&place, &workload, 1, stop.clone()).unwrap();
        alone::set_after(&stop, std::time::Duration::from_millis(100));
        let error = work.run(&place, &mut ()).unwrap_err();
        assert!(matches!(error, EngineError::Interrupted), "{error}");
    }
}

#[test]
fn exitall_ends_the_others_and_keeps_what_they_did() {
    if alone::elsewhere("exitall_ends_the_others_and_keeps_what_they_did") {
        return;
    }
    let folder = in_memory();
    let endless = Io { runtime_seconds: Some(600.0), time_based: true, ..io(Pattern::RandRead, 4 * KIB, MIB) };
    let mut short = job("short", io(Pattern::Read, 4 * KIB, MIB));
    short.exitall = true;
    let windows = run(folder.path(), vec![job("endless", endless), short]);
    assert!(group(&windows, "endless: read").operations > 0);
    assert_eq!(group(&windows, "short: read").operations, 256);
}

#[test]
fn what_workers_used_is_known_by_job() {
    if alone::elsewhere("what_workers_used_is_known_by_job") {
        return;
    }
    let folder = in_memory();
    let busy = Io { numjobs: 2, runtime_seconds: Some(0.3), time_based: true, ..io(Pattern::RandRead, 4 * KIB, MIB) };
    let mut work = prepared(folder.path(), vec![job("busy", busy)]).unwrap();
    let windows = work.run(&directory(folder.path()), &mut ()).unwrap();
    let uses = work.jobs();
    assert_eq!((uses.len(), uses[0].workers, uses[0].name.as_str()), (1, 2, "busy"));
    assert!(uses[0].cpu_system_seconds > 0.0 && uses[0].seconds >= 0.3, "{uses:?}");
    assert!(windows[0].operations > 0);
}

#[test]
fn threads_of_one_job_work_beside_processes_of_another() {
    if alone::elsewhere("threads_of_one_job_work_beside_processes_of_another") {
        return;
    }
    // The third is forked while the threads of the first are at work, and the second has ended.
    let folder = in_memory();
    let busy = Io { runtime_seconds: Some(0.4), time_based: true, ..io(Pattern::RandRead, 4 * KIB, MIB) };
    let threads = job("threads", Io { thread: true, numjobs: 3, ..busy.clone() });
    let short = job("short", Io { numjobs: 2, ..io(Pattern::Write, 4 * KIB, MIB) });
    let mut later = job("later", Io { numjobs: 2, ..io(Pattern::Write, 4 * KIB, MIB) });
    later.wait_for = Some("short".into());
    let mut work = prepared(folder.path(), vec![threads, short, later]).unwrap();
    let windows = work.run(&directory(folder.path()), &mut ()).unwrap();
    assert!(group(&windows, "threads: read").operations > 0);
    for name in ["short: write", "later: write"] {
        assert_eq!(group(&windows, name).operations, 512, "{name}");
    }
    let uses = work.jobs();
    assert_eq!(uses.iter().map(|uses| uses.workers).collect::<Vec<_>>(), [3, 2, 2]);
    assert!(uses[0].cpu_system_seconds > 0.0, "{uses:?}");
    assert_eq!(std::fs::read_dir("/proc/self/task").unwrap().count(), 1, "no thread of theirs is here");
}
