//! I/O engines on loop devices and on filesystems of their own, which are unmounted at the first try.

mod common;
#[path = "engines/rig.rs"]
mod rig;

use common::*;
use engine::io::Action;
use rig::*;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Fields of /proc/diskstats.
const DISCARDS: usize = 12;
const FLUSHES: usize = 16;

/// One test at a time: a program that another one is just starting holds, for a moment, every file
/// that this process has open, and an unmount would be refused.
static ALONE: Mutex<()> = Mutex::new(());

fn alone() -> MutexGuard<'static, ()> {
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

#[test]
fn a_full_filesystem_is_answered_with_enospc() {
    if !is_root("a full filesystem") {
        return;
    }
    let _alone = alone();
    let mount = Mount::new(&["-t", "tmpfs", "-o", "size=1m", "tmpfs"]);
    let path = mount.path().join("f");
    for case in every_case().into_iter().filter(|case| case.engine != "mmap" && case.depth <= 32) {
        let mut rig = Rig::open(case, vec![Some(file(&path, case.direct))]);
        let mut full = 0;
        for turn in 0..512 / case.depth {
            for chunk in 0..case.depth {
                rig.write(chunk, 0, u64::from(turn * case.depth + chunk) * BLOCK, BLOCK as u32, 1);
            }
            full += rig.reap(case.depth).iter().filter(|result| **result == -libc::ENOSPC).count();
        }
        assert_eq!(full, 256, "{case:?}");
        drop(rig);
        std::fs::remove_file(&path).unwrap();
    }
    // A mapped file's holes are reserved, or refused.
    file(&path, false);
    std::fs::OpenOptions::new().write(true).open(&path).unwrap().set_len(2 * MIB).unwrap();
    let said = refusal(case("mmap", 1), &path);
    assert!(said.contains("holes do not fit"), "{said}");
    std::fs::OpenOptions::new().write(true).open(&path).unwrap().set_len(MIB / 2).unwrap();
    let mut rig = Rig::open(case("mmap", 1), vec![Some(file(&path, false))]);
    assert!(rig.queue.notes()[0].contains("reserved the holes"), "{:?}", rig.queue.notes());
    assert_eq!(rustix::fs::stat(&path).unwrap().st_blocks as u64 * 512, MIB / 2);
    assert_eq!(rig.one(Action::Write, 0, MIB / 2 - BLOCK, BLOCK as u32), BLOCK as i32);
    drop(rig);
    mount.unmount();
}

#[test]
fn syncs_and_dsync_writes_reach_the_device_as_flushes() {
    if !is_root("flushes") {
        return;
    }
    let _alone = alone();
    let target = Loop::new(64 * MIB, &[]);
    make_ext4(&target.device);
    let mount = Mount::new(&[target.device.to_str().unwrap()]);
    let path = mount.path().join("f");
    for case in at_depth_one() {
        let mut rig = Rig::open(case, vec![Some(filled(&path, 16 * BLOCK, 0, false))]);
        assert_eq!(rig.one(Action::Fsync, 0, 0, 0), 0);
        for action in [Action::WriteAndSync, Action::Fsync, Action::Fdatasync] {
            let before = target.counter(FLUSHES);
            for block in 0..8 {
                if action != Action::WriteAndSync {
                    rig.write(0, 0, block * BLOCK, BLOCK as u32, 1);
                    rig.reap(1);
                }
                rig.one(action, 0, block * BLOCK, BLOCK as u32);
            }
            let flushes = target.counter(FLUSHES) - before;
            assert!(flushes >= 8, "{case:?} {action:?}: {flushes}");
        }
        drop(rig);
        if case.engine == "mmap" || case.flags.sqthread_poll {
            continue;
        }
        let mut rig = Rig::open(Case { flags: DSYNC, ..case }, vec![Some(file(&path, false))]);
        let before = target.counter(FLUSHES);
        for block in 0..8 {
            rig.write(0, 0, block * BLOCK, BLOCK as u32, 2);
            assert_eq!(rig.reap(1), [BLOCK as i32]);
        }
        assert!(target.counter(FLUSHES) - before >= 8, "{case:?}");
    }
    mount.unmount();
}

#[test]
fn a_trim_on_a_device_is_a_discard() {
    if !is_root("a device") {
        return;
    }
    let _alone = alone();
    let target = Loop::new(4 * MIB, &[]);
    for case in every_case().into_iter().filter(|case| case.depth <= 32) {
        std::fs::write(&target.image, vec![0xa5; 4 * MIB as usize]).unwrap();
        let open = file(&target.device, case.direct);
        rustix::fs::fadvise(&open, 0, None, rustix::fs::Advice::DontNeed).unwrap();
        let mut rig = Rig::open(case, vec![Some(open)]);
        assert_eq!(rig.one(Action::Read, 0, 0, BLOCK as u32), BLOCK as i32, "{case:?}");
        let before = target.counter(DISCARDS);
        for chunk in 0..case.depth {
            rig.queue(Action::Trim, chunk, 0, u64::from(chunk) * 8 * BLOCK, BLOCK as u32);
        }
        assert!(rig.reap(case.depth).iter().all(|result| *result == 0), "{case:?}");
        assert_eq!(target.counter(DISCARDS) - before, u64::from(case.depth), "{case:?}");
        let image = std::fs::read(&target.image).unwrap();
        for (number, block) in image.chunks(BLOCK as usize).enumerate() {
            let trimmed = number % 8 == 0 && number / 8 < case.depth as usize;
            assert!(block.iter().all(|byte| *byte == if trimmed { 0 } else { 0xa5 }), "{case:?} block {number}");
        }
    }
}

#[test]
fn every_filesystem_moves_the_same_bytes() {
    if !is_root("mounts") {
        return;
    }
    let _alone = alone();
    for tool in ["mkfs.ext4", "mkfs.xfs", "mkfs.btrfs"] {
        let target = Loop::new(320 * MIB, &[]);
        let force = if tool == "mkfs.ext4" { "-F" } else { "-f" };
        let made = std::process::Command::new(tool).args(["-q", force]).arg(&target.device).output();
        let name = tool.trim_start_matches("mkfs.");
        let known = std::fs::read_to_string("/proc/filesystems").unwrap().contains(name);
        if !known || !made.is_ok_and(|made| made.status.success()) {
            eprintln!("skipped: {tool} is missing or the kernel lacks {name}");
            continue;
        }
        let mount = Mount::new(&["-t", name, target.device.to_str().unwrap()]);
        let path = mount.path().join("f");
        for case in every_case().into_iter().filter(|case| case.depth <= 32) {
            let mut rig = Rig::open(case, vec![Some(filled(&path, 64 * BLOCK, 0xee, case.direct))]);
            let mut expected = vec![0xee; 64 * BLOCK as usize];
            for turn in 0..64 / case.depth {
                for chunk in 0..case.depth {
                    let block = u64::from(turn * case.depth + chunk);
                    let at = (block * BLOCK) as usize..((block + 1) * BLOCK) as usize;
                    if block % 5 == 0 {
                        expected[at].fill(0);
                        rig.queue(Action::Trim, chunk, 0, block * BLOCK, BLOCK as u32);
                    } else {
                        expected[at].copy_from_slice(&told(block * BLOCK, BLOCK as usize, 6));
                        rig.write(chunk, 0, block * BLOCK, BLOCK as u32, 6);
                    }
                }
                assert!(rig.reap(case.depth).iter().all(|result| *result >= 0), "{name} {case:?}");
            }
            assert_eq!(rig.one(Action::Fsync, 0, 0, 0), 0, "{name} {case:?}");
            drop(rig);
            assert!(std::fs::read(&path).unwrap() == expected, "{name} {case:?}");
        }
        // Nothing of a dropped queue holds the filesystem.
        mount.unmount();
    }
}

#[test]
fn a_dropped_queue_lets_its_filesystem_go_at_once() {
    if !is_root("an unmount") {
        return;
    }
    let _alone = alone();
    let target = Loop::new(32 * MIB, &[]);
    make_ext4(&target.device);
    for case in every_case().into_iter().filter(|case| case.depth <= 32) {
        for _ in 0..5 {
            let mount = Mount::new(&[target.device.to_str().unwrap()]);
            let open = filled(&mount.path().join("f"), 32 * BLOCK, 0, case.direct);
            let mut rig = Rig::open(case, vec![Some(open)]);
            for chunk in 0..case.depth {
                match chunk % 16 {
                    3 => rig.queue(Action::Trim, chunk, 0, u64::from(chunk) * BLOCK, BLOCK as u32),
                    7 => rig.queue(Action::Fsync, chunk, 0, 0, 0),
                    _ => rig.write(chunk, 0, u64::from(chunk) * BLOCK, BLOCK as u32, 2),
                }
            }
            rig.queue.reap(1, &mut rig.completions).unwrap();
            drop(rig);
            mount.unmount();
        }
    }
}
