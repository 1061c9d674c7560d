//! Every I/O engine on real filesystems, by hand: what they move, what they answer, what they leave.

mod common;
#[path = "engines/rig.rs"]
mod rig;

use common::*;
use engine::io::{Action, Completion, Operation};
use rig::*;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

fn grounds() -> [TempDir; 2] {
    [in_memory(), on_disk()]
}

fn path(folder: &TempDir) -> PathBuf {
    folder.path().join("f")
}

#[test]
fn what_is_written_is_in_the_file_and_what_is_in_the_file_is_read() {
    for folder in grounds() {
        for case in every_case() {
            let path = path(&folder);
            let blocks = u64::from(case.depth.max(64));
            let mut rig = Rig::open(case, vec![Some(filled(&path, blocks * BLOCK, 0xee, case.direct))]);
            for turn in 0..blocks / u64::from(case.depth) {
                for chunk in 0..case.depth {
                    // Every block once, not in order.
                    let block = (turn * u64::from(case.depth) + u64::from(chunk)) * 37 % blocks;
                    rig.write(chunk, 0, block * BLOCK, BLOCK as u32, 7);
                }
                assert!(rig.reap(case.depth).iter().all(|result| *result == BLOCK as i32), "{case:?}");
            }
            let expected = told(0, (blocks * BLOCK) as usize, 7);
            assert!(std::fs::read(&path).unwrap() == expected, "{case:?} in {}", folder.path().display());
            for turn in 0..blocks / u64::from(case.depth) {
                let offset = |chunk: u32| (turn * u64::from(case.depth) + u64::from(chunk)) * 37 % blocks * BLOCK;
                for chunk in 0..case.depth {
                    rig.buffers.bytes_mut(chunk).fill(0);
                    rig.queue(Action::Read, chunk, 0, offset(chunk), BLOCK as u32);
                }
                assert!(rig.reap(case.depth).iter().all(|result| *result == BLOCK as i32), "{case:?}");
                for chunk in 0..case.depth {
                    assert!(rig.buffers.bytes(chunk) == told(offset(chunk), BLOCK as usize, 7), "{case:?} {chunk}");
                }
            }
            // Who is no root may lock little memory, and then it works without fixed buffers.
            let told = |note: &String| note.contains("io_submit") || note.contains("raise the memlock limit");
            assert!(rig.queue.notes().iter().all(told), "{:?}", rig.queue.notes());
        }
    }
}

/// What a filesystem of the kernel's older direct I/O completes with EAGAIN is done again.
#[test]
fn what_is_done_again_moves_what_it_was_to_move() {
    for folder in grounds() {
        for case in every_case().into_iter().filter(|case| case.engine == "io_uring") {
            let path = path(&folder);
            let mut rig = Rig::open(case, vec![Some(filled(&path, 4 * BLOCK, 0xee, case.direct))]);
            let mut operation =
                Operation { chunk: 0, file: 0, offset: BLOCK, bytes: BLOCK as u32, action: Action::Write };
            rig.buffers.bytes_mut(0).copy_from_slice(&told(BLOCK, BLOCK as usize, 5));
            assert_eq!(rig.queue.again(operation), BLOCK as i32, "{case:?}");
            rig.buffers.bytes_mut(0).fill(0);
            operation.action = Action::Read;
            assert_eq!(rig.queue.again(operation), BLOCK as i32, "{case:?}");
            assert!(rig.buffers.bytes(0) == told(BLOCK, BLOCK as usize, 5), "{case:?}");
            operation.action = Action::Fsync;
            assert_eq!(rig.queue.again(operation), -libc::EAGAIN);
        }
    }
}

#[test]
fn lengths_below_the_chunk_leave_the_rest_of_file_and_chunk_alone() {
    for folder in grounds() {
        for case in every_case().into_iter().filter(|case| !case.direct && case.depth <= 32) {
            let path = path(&folder);
            let mut rig = Rig::open(case, vec![Some(filled(&path, 64 * BLOCK, 0xee, false))]);
            let mut expected = vec![0xee; 64 * BLOCK as usize];
            for turn in 0..64 / case.depth {
                for chunk in 0..case.depth {
                    let number = turn * case.depth + chunk;
                    let (offset, bytes) = (u64::from(number) * BLOCK + 13, 1 + number * 61);
                    rig.buffers.bytes_mut(chunk).fill(0x11);
                    rig.write(chunk, 0, offset, bytes, 1);
                    expected[offset as usize..][..bytes as usize].copy_from_slice(&told(offset, bytes as usize, 1));
                }
                for (chunk, result) in rig.reap(case.depth).into_iter().enumerate() {
                    assert_eq!(result as u32, 1 + (turn * case.depth + chunk as u32) * 61, "{case:?}");
                }
            }
            assert!(std::fs::read(&path).unwrap() == expected, "{case:?}");
            rig.buffers.bytes_mut(0).fill(0x22);
            assert_eq!(rig.one(Action::Read, 0, 13, 1), 1);
            assert_eq!(rig.buffers.bytes(0)[0], expected[13]);
            assert!(rig.buffers.bytes(0)[1..].iter().all(|byte| *byte == 0x22), "{case:?}");
        }
    }
}

#[test]
fn a_write_and_sync_is_one_operation_with_the_writes_result() {
    for folder in grounds() {
        for case in at_depth_one() {
            let path = path(&folder);
            let mut rig = Rig::open(case, vec![Some(filled(&path, 8 * BLOCK, 0, false))]);
            for block in 0..8 {
                let expected = told(block * BLOCK, BLOCK as usize, 3);
                rig.buffers.bytes_mut(0).copy_from_slice(&expected);
                assert_eq!(rig.one(Action::WriteAndSync, 0, block * BLOCK, BLOCK as u32), BLOCK as i32, "{case:?}");
            }
            assert!(std::fs::read(&path).unwrap() == told(0, 8 * BLOCK as usize, 3), "{case:?}");
            // By polling alone, too.
            rig.buffers.bytes_mut(0).fill(0x33);
            rig.queue(Action::WriteAndSync, 0, 0, 0, BLOCK as u32);
            assert_eq!(poll_until(&mut rig, 1), [BLOCK as i32], "{case:?}");
            assert!(std::fs::read(&path).unwrap()[..BLOCK as usize].iter().all(|byte| *byte == 0x33), "{case:?}");
            // And a failed one says why the write failed, not that its sync was cancelled.
            rig.queue.set_file(0, None).unwrap();
            assert_eq!(rig.one(Action::WriteAndSync, 0, 0, BLOCK as u32), -libc::EBADF, "{case:?}");
        }
    }
}

/// Polls until `count` have completed; results in order of completion.
fn poll_until(rig: &mut Rig, count: usize) -> Vec<i32> {
    let begun = std::time::Instant::now();
    rig.completions.clear();
    while rig.completions.len() < count {
        rig.queue.poll(&mut rig.completions).unwrap();
        assert!(begun.elapsed().as_secs() < 60, "{} of {count} completed", rig.completions.len());
    }
    rig.completions.iter().map(|completion| completion.result).collect()
}

#[test]
fn polling_alone_brings_every_completion_and_none_twice() {
    for folder in grounds() {
        for case in every_case() {
            let path = path(&folder);
            let depth = case.depth;
            let mut rig = Rig::open(case, vec![Some(filled(&path, u64::from(depth) * BLOCK, 5, case.direct))]);
            rig.queue.poll(&mut rig.completions).unwrap();
            assert!(rig.completions.is_empty(), "{case:?}");
            for chunk in 0..depth {
                rig.queue(Action::Read, chunk, 0, u64::from(chunk) * BLOCK, BLOCK as u32);
            }
            assert!(poll_until(&mut rig, depth as usize).iter().all(|result| *result == BLOCK as i32), "{case:?}");
            let mut chunks: Vec<u32> = rig.completions.iter().map(|completion| completion.chunk).collect();
            chunks.sort_unstable();
            assert!(chunks.into_iter().eq(0..depth), "{case:?}");
            rig.completions.clear();
            rig.queue.poll(&mut rig.completions).unwrap();
            assert!(rig.completions.is_empty(), "{case:?}");
        }
    }
}

#[test]
fn a_trim_leaves_a_hole_and_the_size() {
    for folder in grounds() {
        for case in every_case().into_iter().filter(|case| case.depth <= 32) {
            let path = path(&folder);
            let mut rig = Rig::open(case, vec![Some(filled(&path, 64 * BLOCK, 0xee, case.direct))]);
            let before = rustix::fs::stat(&path).unwrap().st_blocks;
            for chunk in 0..case.depth {
                rig.queue(Action::Trim, chunk, 0, u64::from(chunk) * 2 * BLOCK, BLOCK as u32);
            }
            assert!(rig.reap(case.depth).iter().all(|result| *result == 0), "{case:?}");
            let bytes = std::fs::read(&path).unwrap();
            assert_eq!(bytes.len() as u64, 64 * BLOCK, "{case:?}");
            for (number, block) in bytes.chunks(BLOCK as usize).enumerate() {
                let trimmed = number % 2 == 0 && number / 2 < case.depth as usize;
                let byte = if trimmed { 0 } else { 0xee };
                assert!(block.iter().all(|at| *at == byte), "{case:?} block {number}");
            }
            let freed = (before - rustix::fs::stat(&path).unwrap().st_blocks) as u64;
            let expected = u64::from(case.depth) * BLOCK / 512;
            // Many holes may cost the filesystem a block for its map of the file.
            let map = if case.depth > 1 { 8 } else { 0 };
            assert!((expected - map..=expected).contains(&freed), "{case:?}: {freed}");
        }
    }
}

#[test]
fn syncs_answer_zero_alone_and_between_writes() {
    for folder in grounds() {
        for case in every_case() {
            let path = path(&folder);
            let mut rig = Rig::open(case, vec![Some(filled(&path, u64::from(case.depth) * BLOCK, 0, case.direct))]);
            assert_eq!(rig.one(Action::Fsync, 0, 0, 0), 0, "{case:?}");
            assert_eq!(rig.one(Action::Fdatasync, 0, 0, 0), 0, "{case:?}");
            for chunk in 0..case.depth {
                match chunk % 16 {
                    7 => rig.queue(Action::Fsync, chunk, 0, 0, 0),
                    9 => rig.queue(Action::Fdatasync, chunk, 0, 0, 0),
                    _ => rig.write(chunk, 0, u64::from(chunk) * BLOCK, BLOCK as u32, 2),
                }
            }
            for (chunk, result) in rig.reap(case.depth).into_iter().enumerate() {
                assert_eq!(result, if matches!(chunk % 16, 7 | 9) { 0 } else { BLOCK as i32 }, "{case:?} {chunk}");
            }
            // The fast path is taken again, and still right.
            assert_eq!(rig.one(Action::Read, 0, 0, BLOCK as u32), BLOCK as i32);
            assert!(rig.buffers.bytes(0) == told(0, BLOCK as usize, 2), "{case:?}");
        }
    }
}

#[test]
fn each_slot_is_its_own_file() {
    for folder in grounds() {
        for case in every_case().into_iter().filter(|case| case.depth <= 32) {
            let paths: Vec<PathBuf> = (0..8).map(|number| folder.path().join(number.to_string())).collect();
            let files = paths.iter().map(|path| Some(filled(path, 8 * BLOCK, 0, case.direct))).collect();
            let mut rig = Rig::open(case, files);
            for turn in 0..64 / case.depth {
                for chunk in 0..case.depth {
                    let number = turn * case.depth + chunk;
                    rig.write(chunk, number % 8, u64::from(number / 8) * BLOCK, BLOCK as u32, (number % 8) as u8);
                }
                rig.reap(case.depth);
            }
            for (number, path) in paths.iter().enumerate() {
                assert!(std::fs::read(path).unwrap() == told(0, 8 * BLOCK as usize, number as u8), "{case:?} {number}");
            }
        }
    }
}

#[test]
fn what_is_queued_stays_with_its_file_when_the_slot_gets_another() {
    for folder in grounds() {
        for case in every_case().into_iter().filter(|case| case.depth >= 32) {
            for action in [Action::Write, Action::Trim, Action::Fsync] {
                let (first, second) = (folder.path().join("first"), folder.path().join("second"));
                let blocks = u64::from(case.depth);
                let mut rig = Rig::open(case, vec![Some(filled(&first, blocks * BLOCK, 0xaa, case.direct)), None]);
                let other = filled(&second, blocks * BLOCK, 0xbb, case.direct);
                for chunk in 0..case.depth / 2 {
                    rig.buffers.bytes_mut(chunk).fill(0xcc);
                    rig.queue(action, chunk, 0, u64::from(chunk) * BLOCK, BLOCK as u32);
                }
                if case.depth == 32 {
                    rig.queue.submit().unwrap();
                }
                // The slot held the only other descriptor: it is closed here.
                rig.queue.set_file(0, Some(other)).unwrap();
                for chunk in case.depth / 2..case.depth {
                    rig.buffers.bytes_mut(chunk).fill(0xdd);
                    rig.queue(Action::Write, chunk, 0, u64::from(chunk) * BLOCK, BLOCK as u32);
                }
                let expected = action.moves(BLOCK as u32);
                for (chunk, result) in rig.reap(case.depth).into_iter().enumerate() {
                    let moved = if chunk < case.depth as usize / 2 { expected } else { BLOCK as i32 };
                    assert_eq!(result, moved, "{case:?} {action:?} {chunk}");
                }
                let byte = match action {
                    Action::Write => 0xcc,
                    Action::Trim => 0,
                    _ => 0xaa,
                };
                halves(&first, byte, 0xaa, &format!("{case:?} {action:?}, first file"));
                halves(&second, 0xbb, 0xdd, &format!("{case:?} {action:?}, second file"));
            }
        }
    }
}

fn halves(path: &Path, low: u8, high: u8, what: &str) {
    let bytes = std::fs::read(path).unwrap();
    let (first, second) = bytes.split_at(bytes.len() / 2);
    assert!(first.iter().all(|byte| *byte == low) && second.iter().all(|byte| *byte == high), "{what}");
}

#[test]
fn slots_that_are_empty_answer_ebadf_until_they_are_filled() {
    for folder in grounds() {
        for case in every_case().into_iter().filter(|case| case.depth <= 32) {
            let path = path(&folder);
            let mut rig = Rig::open(case, vec![None, Some(filled(&path, 32 * BLOCK, 0x77, case.direct))]);
            for action in [Action::Read, Action::Write, Action::Trim, Action::Fsync, Action::Fdatasync] {
                assert_eq!(rig.one(action, 0, 0, BLOCK as u32), -libc::EBADF, "{case:?} {action:?}");
                assert_eq!(rig.one(Action::Read, 1, 0, BLOCK as u32), BLOCK as i32, "{case:?} after {action:?}");
            }
            // In the middle of a batch, too.
            for chunk in 0..case.depth {
                rig.queue(Action::Read, chunk, u32::from(chunk % 3 == 0), 0, BLOCK as u32);
            }
            for (chunk, result) in rig.reap(case.depth).into_iter().enumerate() {
                assert_eq!(result, if chunk % 3 == 0 { BLOCK as i32 } else { -libc::EBADF }, "{case:?} {chunk}");
            }
            rig.queue.set_file(0, Some(file(&path, case.direct))).unwrap();
            rig.queue.set_file(1, None).unwrap();
            assert_eq!(rig.one(Action::Read, 0, 0, BLOCK as u32), BLOCK as i32, "{case:?}");
            assert!(rig.buffers.bytes(0).iter().all(|byte| *byte == 0x77), "{case:?}");
            assert_eq!(rig.one(Action::Read, 1, 0, BLOCK as u32), -libc::EBADF, "{case:?}");
        }
    }
}

#[test]
fn reads_at_the_end_of_a_file_are_short_and_behind_it_empty() {
    for folder in grounds() {
        for case in every_case().into_iter().filter(|case| case.depth <= 32) {
            let path = path(&folder);
            let mut rig = Rig::open(case, vec![Some(filled(&path, 10_000, 0x44, case.direct))]);
            rig.buffers.bytes_mut(0).fill(0);
            assert_eq!(rig.one(Action::Read, 0, 2 * BLOCK, BLOCK as u32), 10_000 - 8192, "{case:?}");
            assert!(rig.buffers.bytes(0)[..1808].iter().all(|byte| *byte == 0x44), "{case:?}");
            assert_eq!(rig.one(Action::Read, 0, 100 * BLOCK, BLOCK as u32), 0, "{case:?}");
            // A file that has grown since is read further.
            std::fs::write(&path, vec![0x55; 4 * BLOCK as usize]).unwrap();
            assert_eq!(rig.one(Action::Read, 0, 3 * BLOCK, BLOCK as u32), BLOCK as i32, "{case:?}");
            assert!(rig.buffers.bytes(0).iter().all(|byte| *byte == 0x55), "{case:?}");
        }
    }
}

#[test]
fn everything_in_flight_is_done_when_a_queue_is_dropped() {
    for folder in grounds() {
        for case in every_case().into_iter().filter(|case| case.depth >= 32) {
            let path = path(&folder);
            let bytes = u64::from(case.depth) * BLOCK;
            let mut rig = Rig::open(case, vec![Some(filled(&path, bytes, 0, case.direct))]);
            for chunk in 0..case.depth {
                rig.write(chunk, 0, u64::from(chunk) * BLOCK, BLOCK as u32, 9);
            }
            rig.queue.submit().unwrap();
            // The memory outlives the queue here, and may be overwritten at once.
            drop(rig.queue);
            for chunk in 0..case.depth {
                rig.buffers.bytes_mut(chunk).fill(0xff);
            }
            assert!(std::fs::read(&path).unwrap() == told(0, bytes as usize, 9), "{case:?}");
            // With the memory's last holder, nothing submitted, and reads into it.
            let mut rig = Rig::open(case, vec![Some(file(&path, case.direct))]);
            for chunk in 0..case.depth {
                rig.queue(Action::Read, chunk, 0, u64::from(chunk) * BLOCK, BLOCK as u32);
            }
            drop(rig.buffers);
            drop(rig.queue);
        }
    }
}

#[test]
fn reap_waits_for_as_many_as_are_asked_for() {
    let folder = on_disk();
    for case in every_case().into_iter().filter(|case| case.depth == 32) {
        let path = path(&folder);
        let mut rig = Rig::open(case, vec![Some(filled(&path, 32 * BLOCK, 1, case.direct))]);
        for least in [1, 2, 31, 32, 1000] {
            for chunk in 0..32 {
                rig.queue(Action::Read, chunk, 0, u64::from(chunk) * BLOCK, BLOCK as u32);
            }
            let mut all: Vec<Completion> = Vec::with_capacity(32);
            while all.len() < 32 {
                let before = all.len();
                rig.queue.reap(least, &mut all).unwrap();
                assert!(all.len() - before >= (least as usize).min(32 - before), "{case:?} {least}");
            }
            assert_eq!(all.len(), 32, "{case:?} {least}");
        }
    }
}

#[test]
fn the_null_engine_answers_everything_in_order() {
    for depth in [1, 32, 4096] {
        let mut rig = Rig::open(case("null", depth), Vec::new());
        for _ in 0..3 {
            for chunk in 0..depth {
                rig.queue(Action::Write, chunk, 0, 0, BLOCK as u32);
            }
            rig.completions.clear();
            rig.queue.reap(1, &mut rig.completions).unwrap();
            assert_eq!(rig.completions, [Completion { chunk: 0, result: BLOCK as i32 }]);
            rig.queue.reap(depth, &mut rig.completions).unwrap();
            assert!(rig.completions.iter().map(|completion| completion.chunk).eq(0..depth));
        }
        assert_eq!(rig.one(Action::Fsync, 0, 0, 0), 0);
    }
}
