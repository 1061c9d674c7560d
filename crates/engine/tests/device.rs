//! Steady work on bare block devices: loop devices on files of their own.

#[macro_use]
#[path = "common/alone.rs"]
mod alone;
mod common;

use common::*;
use engine::OpenTarget;
use model::agent::Target;
use model::workload::{Io, Pattern};
use std::path::Path;

alone_tests!(a_released_lane_can_be_unmounted_at_once);

const FLUSHES: usize = 16;
const SECTORS_WRITTEN: usize = 7;

fn device(path: &Path) -> OpenTarget {
    OpenTarget::open(&Target::Device(path.to_owned())).unwrap()
}

#[test]
fn raw_work_stays_within_its_size_and_writes_what_it_says() {
    if !is_root("raw devices") {
        return;
    }
    let target = Loop::new(8 * MIB, &[]);
    let place = device(&target.device);
    for io in [
        Io { direct: true, ..io(Pattern::Read, 4 * KIB, 4 * MIB) },
        uring(Pattern::RandRead, 4 * KIB, 4 * MIB, 32, true),
        uring(Pattern::Read, MIB, 4 * MIB, 4, true),
    ] {
        let mut work = prepare(&place, &io).unwrap();
        assert!(slice(&mut *work, &place).operations > 0);
    }
    assert!(std::fs::read(&target.image).unwrap().iter().all(|byte| *byte == 0xa5), "reading changed the device");
    for io in [uring(Pattern::RandWrite, 4 * KIB, 4 * MIB, 32, true), uring(Pattern::Write, 64 * KIB, 4 * MIB, 4, true)]
    {
        let mut work = prepare(&place, &io).unwrap();
        assert!(slice(&mut *work, &place).operations > 0);
    }
    place.sync().unwrap();
    let image = std::fs::read(&target.image).unwrap();
    assert_incompressible(&image[..256 * KIB as usize]);
    assert!(image[4 * MIB as usize..].iter().all(|byte| *byte == 0xa5), "writes went past the size");
}

#[test]
fn every_commit_reaches_the_device_as_a_flush() {
    if !is_root("flushes") {
        return;
    }
    let target = Loop::new(4 * MIB, &[]);
    let place = device(&target.device);
    for ioengine in ["sync", "io_uring"] {
        for every in [1, 4] {
            let io = Io { fdatasync: every, ioengine: ioengine.into(), ..io(Pattern::Append, 4 * KIB, 2 * MIB) };
            let mut work = prepare(&place, &io).unwrap();
            let (sectors, flushes) = (target.counter(SECTORS_WRITTEN), target.counter(FLUSHES));
            // All operations count: no warm-up, and nothing is in flight when a window of depth 1 ends.
            let window = work.slice(&place, 0.0, 0.05, &mut ()).unwrap().remove(0);
            let (sectors, flushes) = (target.counter(SECTORS_WRITTEN) - sectors, target.counter(FLUSHES) - flushes);
            assert_eq!(sectors, window.operations * 8, "{ioengine} every {every}");
            assert_eq!(flushes, window.operations / u64::from(every), "{ioengine} every {every}");
        }
    }
}

#[test]
fn a_device_that_is_mounted_is_never_written() {
    if !is_root("a mounted device") {
        return;
    }
    let target = Loop::new(16 * MIB, &[]);
    make_ext4(&target.device);
    let mount = Mount::new(&[target.device.to_str().unwrap()]);
    let place = device(&target.device);
    let error = prepare(&place, &uring(Pattern::Write, 4 * KIB, MIB, 4, true)).err().unwrap();
    assert_eq!(error.errno(), Some(libc::EBUSY), "{error}");
    mount.unmount();
    prepare(&place, &uring(Pattern::Write, 4 * KIB, MIB, 4, true)).unwrap();
}

#[test]
fn a_released_lane_can_be_unmounted_at_once() {
    // A child of another test would hold the mount between its fork and its exec.
    if !is_root("an unmount") || alone::elsewhere("a_released_lane_can_be_unmounted_at_once") {
        return;
    }
    let target = Loop::new(32 * MIB, &[]);
    make_ext4(&target.device);
    for io in [
        uring(Pattern::RandRead, 4 * KIB, 2 * MIB, 32, true),
        uring(Pattern::Write, 4 * KIB, 2 * MIB, 32, false),
        uring(Pattern::Append, 4 * KIB, 256 * KIB, 4, false),
    ] {
        // A ring that the kernel still takes apart would make the unmount fail with EBUSY.
        for _ in 0..5 {
            let mount = Mount::new(&[target.device.to_str().unwrap()]);
            let place = directory(mount.path());
            let mut work = prepare(&place, &io).unwrap();
            work.slice(&place, 0.0, 0.005, &mut ()).unwrap();
            work.release();
            drop(place);
            mount.unmount();
        }
    }
}

#[test]
fn blocks_smaller_than_the_devices_own_are_refused_with_the_remedy() {
    if !is_root("block sizes") {
        return;
    }
    let target = Loop::new(4 * MIB, &["--sector-size", "4096"]);
    let place = device(&target.device);
    for io in [io(Pattern::Read, 512, MIB), uring(Pattern::RandWrite, 512, MIB, 8, true)] {
        let error = prepare(&place, &io).unwrap().slice(&place, 0.0, 1.0, &mut ()).unwrap_err();
        assert_eq!(error.errno(), Some(libc::EINVAL), "{error}");
        assert!(error.to_string().contains("raise bs"), "{error}");
    }
}

#[test]
fn devices_too_small_and_files_that_are_no_devices_are_refused() {
    let folder = on_disk();
    let file = folder.path().join("plain");
    std::fs::write(&file, "x").unwrap();
    let error = OpenTarget::open(&Target::Device(file)).unwrap_err().to_string();
    assert!(error.contains("not a block device"), "{error}");
    assert!(OpenTarget::open(&Target::Device(folder.path().join("none"))).unwrap_err().errno() == Some(libc::ENOENT));
    assert!(OpenTarget::open(&Target::Directory("/etc/passwd".into())).unwrap_err().errno() == Some(libc::ENOTDIR));
    if !is_root("a small device") {
        return;
    }
    let target = Loop::new(MIB, &[]);
    let error = prepare(&device(&target.device), &io(Pattern::Read, 4 * KIB, 2 * MIB)).err().unwrap().to_string();
    assert!(error.contains("1048576 bytes") && error.contains("lower its size"), "{error}");
}

/// Bytes in use on the filesystem, everything written out.
fn used_bytes(mount: &Path) -> u64 {
    let directory = std::fs::File::open(mount).unwrap();
    rustix::fs::syncfs(&directory).unwrap();
    let space = rustix::fs::statvfs(mount).unwrap();
    (space.f_blocks - space.f_bfree) * space.f_frsize
}

#[test]
fn btrfs_with_zstd_finds_nothing_to_compress() {
    if !is_root("btrfs") {
        return;
    }
    let target = Loop::new(256 * MIB, &[]);
    if !make_btrfs(&target.device) {
        eprintln!("skipped: mkfs.btrfs is missing or the kernel lacks btrfs");
        return;
    }
    let mount = Mount::new(&["-o", "compress-force=zstd:15", target.device.to_str().unwrap()]);
    let place = directory(mount.path());
    let before = used_bytes(mount.path());
    // Through the page cache: btrfs compresses nothing that is written directly.
    let mut work = prepare(&place, &io(Pattern::RandWrite, 4 * KIB, 32 * MIB)).unwrap();
    for _ in 0..3 {
        slice(&mut *work, &place);
        place.sync().unwrap();
    }
    drop(work);
    let used = used_bytes(mount.path()) - before;
    assert!(used as f64 > 0.97 * (32 * MIB) as f64, "32 MiB take {used} bytes");
}
