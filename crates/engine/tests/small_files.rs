//! Small files on real filesystems.

mod common;

use common::*;
use engine::{EngineError, OPERATIONS_PER_SECOND, OpenTarget, Work};
use model::Bytes;
use model::agent::{Part, Target};
use model::workload::{Kind, SmallFiles, Workload};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

fn prepared(place: &OpenTarget, files: u64, size: u64, directories: u64) -> Result<Box<dyn Work>, EngineError> {
    prepared_with(place, files, size, directories, Arc::new(AtomicBool::new(false)))
}

fn prepared_with(
    place: &OpenTarget,
    files: u64,
    size: u64,
    directories: u64,
    stop: Arc<AtomicBool>,
) -> Result<Box<dyn Work>, EngineError> {
    let kind = Kind::SmallFiles(SmallFiles { files, size: Bytes(size), directories, sharing: Default::default() });
    engine::prepare(place, &Workload { name: "t".into(), title: "t".into(), kind }, 7, stop)
}

fn all_files(top: &Path) -> Vec<PathBuf> {
    let entries =
        |path: &Path| -> Vec<PathBuf> { std::fs::read_dir(path).unwrap().map(|entry| entry.unwrap().path()).collect() };
    let mut files: Vec<PathBuf> = entries(top).iter().flat_map(|directory| entries(directory)).collect();
    files.sort();
    files
}

#[test]
fn files_are_created_read_and_deleted_and_each_operation_is_counted() {
    for folder in [on_disk(), in_memory()] {
        for size in [0, 1, 7, 3000, 4096, 20_000] {
            let place = directory(folder.path());
            let top = folder.path().join("fairlane-files");
            let mut work = prepared(&place, 103, size, 10).unwrap();
            let created = work.phase(&place, "create", Part::WHOLE, &mut ()).unwrap();
            let files = all_files(&top);
            assert_eq!(files.len(), 103);
            assert!(files.iter().all(|file| file.as_os_str().len() == files[0].as_os_str().len()));
            let contents: Vec<Vec<u8>> = files.iter().map(|file| std::fs::read(file).unwrap()).collect();
            assert!(contents.iter().all(|bytes| bytes.len() as u64 == size));
            if size >= 3000 {
                // Whole words only: the files stand one behind the other here.
                contents.iter().for_each(|bytes| assert_incompressible(bytes));
                assert_incompressible(
                    &contents.iter().flat_map(|bytes| &bytes[..size as usize / 8 * 8]).copied().collect::<Vec<u8>>(),
                );
            }
            // Cold reads come after a release and a remount.
            work.release();
            let read = work.phase(&place, "read", Part::WHOLE, &mut ()).unwrap();
            let parts =
                (0..4).map(|index| work.phase(&place, "read", Part { index, of: 4 }, &mut ()).unwrap().operations);
            assert_eq!(parts.sum::<u64>(), 103);
            assert!(work.phase(&place, "read", Part { index: 2, of: 2 }, &mut ()).is_err());
            let first = work.phase(&place, "delete", Part { index: 0, of: 2 }, &mut ()).unwrap();
            assert_eq!(first.operations, 51);
            assert!(first.sync_seconds > 0.0, "each part pays for what it leaves to be written");
            assert_eq!(all_files(&top).len(), 52);
            let deleted = work.phase(&place, "delete", Part { index: 1, of: 2 }, &mut ()).unwrap();
            assert!(deleted.sync_seconds > 0.0, "the last part removes the directories too");
            assert!(std::fs::read_dir(&top).unwrap().next().is_none());
            for (window, files) in [(&created, 103), (&read, 103), (&deleted, 52)] {
                assert_eq!((window.operations, window.latencies.operations()), (files, files));
                assert_eq!(window.primary_metric, OPERATIONS_PER_SECOND);
                assert!(window.sync_seconds < window.seconds);
            }
            assert_eq!((created.bytes, read.bytes, deleted.bytes), (103 * size, 103 * size, 0));
            assert!(created.sync_seconds > 0.0 && deleted.sync_seconds > 0.0 && read.sync_seconds == 0.0);
        }
    }
}

#[test]
fn changed_shortened_and_lengthened_files_are_found_out() {
    let folder = on_disk();
    let place = directory(folder.path());
    let mut work = prepared(&place, 20, 1000, 3).unwrap();
    work.phase(&place, "create", Part::WHOLE, &mut ()).unwrap();
    let victim = all_files(&folder.path().join("fairlane-files"))[5].clone();
    let good = std::fs::read(&victim).unwrap();
    let mut changed = good.clone();
    changed[3] ^= 1;
    let longer = [good.as_slice(), b"x"].concat();
    for (bytes, says) in [(changed, "does not begin"), (good[..999].to_vec(), "999 of"), (longer, "more than")] {
        std::fs::write(&victim, bytes).unwrap();
        let error = work.phase(&place, "read", Part::WHOLE, &mut ()).unwrap_err().to_string();
        assert!(error.contains(says) && error.contains(victim.to_str().unwrap()), "{error}");
    }
    std::fs::write(&victim, good).unwrap();
    work.phase(&place, "read", Part::WHOLE, &mut ()).unwrap();
    let error = work.phase(&place, "create", Part::WHOLE, &mut ()).unwrap_err();
    assert_eq!(error.errno(), Some(libc::EEXIST), "{error}");
    work.phase(&place, "delete", Part::WHOLE, &mut ()).unwrap();
    let error = work.phase(&place, "read", Part::WHOLE, &mut ()).unwrap_err();
    assert_eq!(error.errno(), Some(libc::ENOENT), "{error}");
}

#[test]
fn what_an_interrupted_race_left_is_cleared_away() {
    let folder = on_disk();
    let place = directory(folder.path());
    prepared(&place, 50, 100, 5).unwrap().phase(&place, "create", Part::WHOLE, &mut ()).unwrap();
    let mut work = prepared(&place, 20, 100, 2).unwrap();
    work.phase(&place, "create", Part::WHOLE, &mut ()).unwrap();
    assert_eq!(all_files(&folder.path().join("fairlane-files")).len(), 20);
}

#[test]
fn the_stop_flag_ends_a_phase() {
    let folder = in_memory();
    let place = directory(folder.path());
    let stop = Arc::new(AtomicBool::new(false));
    let mut work = prepared_with(&place, 50, 10, 1, stop.clone()).unwrap();
    stop.store(true, Ordering::Relaxed);
    assert!(matches!(work.phase(&place, "create", Part::WHOLE, &mut ()), Err(EngineError::Interrupted)));
    assert!(matches!(prepared_with(&place, 5, 10, 1, stop), Err(EngineError::Interrupted)));
}

#[test]
fn a_full_lane_is_told_by_its_errno_and_the_file() {
    if !is_root("a full lane") {
        return;
    }
    let mount = Mount::new(&["-t", "tmpfs", "-o", "size=256k", "tmpfs"]);
    let place = directory(mount.path());
    let error = prepared(&place, 200, 4096, 2).unwrap().phase(&place, "create", Part::WHOLE, &mut ()).unwrap_err();
    assert_eq!(error.errno(), Some(libc::ENOSPC), "{error}");
    assert!(error.to_string().contains("fairlane-files/d0000000"), "{error}");
}

#[test]
fn without_a_target_the_loop_runs_alone_and_a_bare_device_is_refused() {
    let mut work = prepared(&OpenTarget::Null, 1000, 4096, 10).unwrap();
    for group in ["create", "read", "delete"] {
        let window = work.phase(&OpenTarget::Null, group, Part::WHOLE, &mut ()).unwrap();
        assert_eq!((window.group.as_str(), window.operations), (group, 1000));
    }
    let error = work.phase(&OpenTarget::Null, "rename", Part::WHOLE, &mut ()).unwrap_err().to_string();
    assert!(error.contains("rename") && error.contains("create, read or delete"), "{error}");
    assert!(work.slice(&OpenTarget::Null, 0.0, 0.1, &mut ()).unwrap_err().to_string().contains("phases"));
    if !is_root("a bare device") {
        return;
    }
    let target = Loop::new(MIB, &[]);
    let device = OpenTarget::open(&Target::Device(target.device.clone())).unwrap();
    let error = prepared(&device, 10, 10, 1).err().unwrap().to_string();
    assert!(error.contains("name a directory"), "{error}");
}
