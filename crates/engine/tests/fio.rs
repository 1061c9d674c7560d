//! The installed fio as the load: its figures are those of its own JSON, its failures are told in
//! its own words, and it ends when it is asked to. Skipped where fio is not installed.

use engine::{EngineError, OpenTarget, Window, Work, prepare};
use model::Bytes;
use model::agent::Target;
use model::job::{Direction, FioJob, FioRun};
use model::workload::{Kind, Workload};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use tempfile::TempDir;

/// Whether fio is installed; without it the reason is printed and the test counts as skipped.
fn fio() -> bool {
    let there = std::process::Command::new("fio").arg("--version").output().is_ok();
    if !there {
        eprintln!("skipped: fio is not installed; apt install fio");
    }
    there
}

/// A folder on a disk and one in memory.
fn folders() -> [TempDir; 2] {
    let folder = |parent: &str| tempfile::Builder::new().prefix("fairlane-test-").tempdir_in(parent).unwrap();
    [folder("/var/tmp"), folder("/dev/shm")]
}

fn workload(text: &str, jobs: &[(&str, &[Direction])]) -> Workload {
    let job = |(name, directions): &(&str, &[Direction])| FioJob {
        name: (*name).to_owned(),
        directions: directions.to_vec(),
        direct: text.contains("direct=1"),
    };
    let run = FioRun {
        file: "test.fio".to_owned(),
        text: text.to_owned(),
        jobs: jobs.iter().map(job).collect(),
        working_set: Bytes(0),
    };
    Workload { name: "test".to_owned(), title: "test".to_owned(), kind: Kind::Fio(Box::new(run)) }
}

fn work(folder: &Path, workload: &Workload, stop: &Arc<AtomicBool>) -> (OpenTarget, Box<dyn Work>) {
    let place = OpenTarget::open(&Target::Directory(folder.to_owned())).unwrap();
    let work = prepare(&place, workload, 1, stop.clone()).unwrap();
    (place, work)
}

fn run(folder: &Path, workload: &Workload) -> Result<(Vec<Window>, Box<dyn Work>), EngineError> {
    let (place, mut work) = work(folder, workload, &Arc::default());
    let windows = work.run(&place, &mut ())?;
    Ok((windows, work))
}

fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> =
        std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn every_operation_and_byte_of_a_job_file_is_in_the_figures() {
    if !fio() {
        return;
    }
    let text = "[global]\nioengine=psync\nsize=4m\ngroup_reporting\n[mixed]\nrw=randrw\nbs=4k\nnumjobs=2\n\
        [large]\nstonewall\nrw=write\nbs=128k\nfsync=8\n";
    let both = [Direction::Read, Direction::Write];
    let workload = workload(text, &[("mixed", &both), ("large", &[Direction::Write])]);
    for folder in folders() {
        let (windows, work) = run(folder.path(), &workload).unwrap();
        let groups: Vec<&str> = windows.iter().map(|window| window.group.as_str()).collect();
        assert_eq!(groups, ["mixed: read", "mixed: write", "large: write", "large: sync"]);
        // Two workers go over 4 MiB each in blocks of 4 KiB, in some mixture.
        assert_eq!(windows[0].operations + windows[1].operations, 2048);
        assert_eq!(windows[0].bytes + windows[1].bytes, 8 << 20);
        assert_eq!((windows[2].operations, windows[2].bytes), (32, 4 << 20));
        assert_eq!(windows[2].primary_metric, "bandwidth_bytes_per_second");
        assert_eq!(windows[0].primary_metric, "operations_per_second");
        assert!(windows[3].operations >= 3, "{:?}", windows[3].operations);
        for window in &windows {
            assert_eq!(window.latencies.operations(), window.operations, "{}", window.group);
        }
        let used = work.jobs();
        assert_eq!(
            used.iter().map(|job| (job.name.as_str(), job.workers)).collect::<Vec<_>>(),
            [("mixed", 2), ("large", 1)]
        );
        assert_eq!(work.written_bytes(), windows[1].bytes + windows[2].bytes);
        assert_eq!(names(folder.path()), ["large.0.0", "mixed.0.0", "mixed.1.0"]);
    }
}

#[test]
fn latencies_are_those_of_fios_own_json() {
    if !fio() {
        return;
    }
    // fio keeps a log of every completion beside its JSON: the percentiles of both must agree.
    let text = "[a]\nioengine=psync\nsize=16m\nrw=randread\nbs=4k\nwrite_lat_log=all\nlog_offset=0\n";
    for folder in folders() {
        let (windows, _) = run(folder.path(), &workload(text, &[("a", &[Direction::Read])])).unwrap();
        let log = std::fs::read_to_string(folder.path().join("all_clat.1.log")).unwrap();
        let mut latencies: Vec<f64> =
            log.lines().map(|line| line.split(',').nth(1).unwrap().trim().parse().unwrap()).collect();
        latencies.sort_by(f64::total_cmp);
        assert_eq!((windows[0].operations, latencies.len()), (4096, 4096));
        let summary = windows[0].latencies.summary().unwrap();
        let near = |ours: f64, theirs: f64| (ours / theirs - 1.0).abs() < 0.03;
        let mean = latencies.iter().sum::<f64>() / 4096.0;
        assert!(near(summary.mean, mean), "{} {mean}", summary.mean);
        assert!(near(summary.max, latencies[4095]), "{} {}", summary.max, latencies[4095]);
        for (ours, share) in [(summary.p50, 0.5), (summary.p99, 0.99)] {
            let theirs = latencies[(share * 4096.0) as usize];
            assert!(near(ours.unwrap(), theirs), "{share}: {ours:?} {theirs}");
        }
    }
}

#[test]
fn failures_are_told_in_fios_own_words() {
    if !fio() {
        return;
    }
    let read: &[(&str, &[Direction])] = &[("a", &[Direction::Read])];
    let folder = &folders()[1];
    let told = |text: &str| run(folder.path(), &workload(text, read)).err().unwrap();
    let error = told("[a]\nsize=1m\nfoo=1\n");
    assert!(error.to_string().contains("Bad option <foo=1>"), "{error}");
    let error = told("[a]\nsize=1m\nioengine=nope\n");
    assert!(error.to_string().contains("nope not loadable"), "{error}");
    // A link that leads out of the lane: refused where the kernel holds fio to it (Landlock).
    std::os::unix::fs::symlink("/dev/full", folder.path().join("full")).unwrap();
    let error = told("[a]\nrw=write\nsize=1m\nfilename=full\n");
    let held = error.to_string().contains("Permission denied") && error.errno() == Some(libc::EACCES);
    assert!(held || error.to_string().contains("No space left"), "{error}");
    let error = told("[other]\nsize=4k\n");
    assert!(error.to_string().contains("no job a"), "{error}");
    // What lies there was never written by a verified job.
    std::fs::write(folder.path().join("spoilt"), vec![7; 64 << 10]).unwrap();
    let error = told("[a]\nrw=read\nfilename=spoilt\nsize=64k\nverify=crc32c\n");
    assert!(matches!(&error, EngineError::Corrupt { path, .. } if path.ends_with("spoilt")), "{error:?}");
}

#[test]
fn the_stop_flag_ends_fio_and_every_worker_of_it() {
    if !fio() {
        return;
    }
    let folder = &folders()[1];
    let text = "[a]\nioengine=psync\nrw=randwrite\nsize=1m\nruntime=60\ntime_based\nnumjobs=3\n";
    let stop = Arc::new(AtomicBool::new(false));
    let (place, mut work) = work(folder.path(), &workload(text, &[("a", &[Direction::Write])]), &stop);
    let folder = folder.path().to_owned();
    let setter = std::thread::spawn(move || {
        // All workers are at work once their files have their whole size.
        let whole = |name: &str| std::fs::metadata(folder.join(name)).is_ok_and(|file| file.len() == 1 << 20);
        while !["a.0.0", "a.1.0", "a.2.0"].iter().all(|name| whole(name)) {
            std::thread::sleep(std::time::Duration::from_millis(5));
        }
        std::thread::sleep(std::time::Duration::from_millis(300));
        assert!(!holders(&folder).is_empty(), "fio works in the folder");
        stop.store(true, Ordering::Relaxed);
        folder
    });
    assert!(matches!(work.run(&place, &mut ()), Err(EngineError::Interrupted)));
    let folder = setter.join().unwrap();
    assert_eq!(holders(&folder), Vec::<String>::new(), "no process of fio is left");
}

/// Processes whose working directory is the folder.
fn holders(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir("/proc").unwrap().flatten();
    let inside = |process: &Path| std::fs::read_link(process.join("cwd")).is_ok_and(|cwd| cwd == folder);
    entries.map(|entry| entry.path()).filter(|path| inside(path)).map(|path| path.display().to_string()).collect()
}

#[test]
fn fio_has_no_place_without_a_directory() {
    let place = OpenTarget::open(&Target::Null).unwrap();
    let refused = prepare(&place, &workload("[a]\n", &[("a", &[Direction::Read])]), 1, Arc::default());
    assert!(refused.err().unwrap().to_string().contains("directory"));
}
