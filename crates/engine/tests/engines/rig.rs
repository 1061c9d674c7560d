//! An engine on files, driven by hand.

#![allow(dead_code)]

use engine::EngineError;
use engine::buffers::Buffers;
use engine::io::{self, Action, Completion, Operation, OperationFlags, Queue, Setup};
use rustix::fs::{Mode, OFlags, open};
use std::os::fd::OwnedFd;
use std::path::Path;
use std::rc::Rc;

pub const BLOCK: u64 = 4096;

/// One engine in one setting.
#[derive(Debug, Clone, Copy)]
pub struct Case {
    pub engine: &'static str,
    pub depth: u32,
    pub direct: bool,
    pub flags: OperationFlags,
}

pub const PLAIN: OperationFlags = OperationFlags { uncached: false, dsync: false, hipri: false, sqthread_poll: false };
pub const UNCACHED: OperationFlags = OperationFlags { uncached: true, ..PLAIN };
pub const DSYNC: OperationFlags = OperationFlags { dsync: true, ..PLAIN };
pub const HIPRI: OperationFlags = OperationFlags { hipri: true, ..PLAIN };
pub const SQ_THREAD: OperationFlags = OperationFlags { sqthread_poll: true, ..PLAIN };

pub fn case(engine: &'static str, depth: u32) -> Case {
    Case { engine, depth, direct: false, flags: PLAIN }
}

/// Every engine that does I/O, at depth 1.
pub fn at_depth_one() -> Vec<Case> {
    let mut cases: Vec<Case> = ["sync", "mmap", "io_uring", "libaio"].map(|engine| case(engine, 1)).into();
    cases.push(Case { flags: SQ_THREAD, ..case("io_uring", 1) });
    cases
}

/// Every engine that does I/O, in every setting that changes its path.
pub fn every_case() -> Vec<Case> {
    let mut cases = at_depth_one();
    for engine in ["io_uring", "libaio"] {
        cases.extend([32, 4096].map(|depth| case(engine, depth)));
    }
    cases.push(Case { flags: SQ_THREAD, ..case("io_uring", 32) });
    let direct: Vec<Case> =
        cases.iter().filter(|case| case.engine != "mmap").map(|case| Case { direct: true, ..*case }).collect();
    cases.extend(direct);
    cases
}

/// Opens a file to read and write, as an engine takes it.
pub fn file(path: &Path, direct: bool) -> Rc<OwnedFd> {
    let direct = if direct { OFlags::DIRECT } else { OFlags::empty() };
    let flags = OFlags::RDWR | OFlags::CREATE | OFlags::CLOEXEC | direct;
    Rc::new(open(path, flags, Mode::from_raw_mode(0o600)).unwrap_or_else(|errno| panic!("{}: {errno}", path.display())))
}

/// A new file of so many bytes, all `byte`.
pub fn filled(path: &Path, bytes: u64, byte: u8, direct: bool) -> Rc<OwnedFd> {
    std::fs::write(path, vec![byte; bytes as usize]).unwrap();
    file(path, direct)
}

/// Bytes that tell where they belong: every 8 hold their own offset and a salt.
pub fn told(offset: u64, bytes: usize, salt: u8) -> Vec<u8> {
    (offset..offset + bytes as u64)
        .map(|at| ((at / 8).wrapping_mul(0x9e37_79b9_7f4a_7c15).to_le_bytes()[at as usize % 8]) ^ salt)
        .collect()
}

/// Why the engine refuses the file.
pub fn refusal(case: Case, path: &Path) -> String {
    match Rig::try_open(case, vec![Some(file(path, case.direct))], BLOCK) {
        Ok(_) => panic!("{case:?} is not refused"),
        Err(error) => error.to_string(),
    }
}

/// A queue, its chunks, and what it has answered.
pub struct Rig {
    pub queue: Box<dyn Queue>,
    pub buffers: Buffers,
    pub completions: Vec<Completion>,
}

impl Rig {
    pub fn try_open(case: Case, files: Vec<Option<Rc<OwnedFd>>>, block_bytes: u64) -> Result<Rig, EngineError> {
        let buffers = Buffers::for_reads(block_bytes, case.depth).unwrap();
        let engine = io::find(case.engine)?;
        let memory = buffers.memory().clone();
        let queue = (engine.open)(Setup { files, writes: true, depth: case.depth, memory, flags: case.flags })?;
        Ok(Rig { queue, buffers, completions: Vec::with_capacity(case.depth as usize) })
    }

    pub fn open(case: Case, files: Vec<Option<Rc<OwnedFd>>>) -> Rig {
        Rig::try_open(case, files, BLOCK).unwrap_or_else(|error| panic!("{case:?}: {error}"))
    }

    pub fn queue(&mut self, action: Action, chunk: u32, file: u32, offset: u64, bytes: u32) {
        self.queue.queue(Operation { chunk, file, offset, bytes, action }).unwrap();
    }

    /// Queues a write of [`told`] bytes.
    pub fn write(&mut self, chunk: u32, file: u32, offset: u64, bytes: u32, salt: u8) {
        self.buffers.bytes_mut(chunk)[..bytes as usize].copy_from_slice(&told(offset, bytes as usize, salt));
        self.queue(Action::Write, chunk, file, offset, bytes);
    }

    /// Reaps one by one until `count` have completed, each chunk once; results by chunk.
    pub fn reap(&mut self, count: u32) -> Vec<i32> {
        let mut results = vec![None; count as usize];
        let mut got = 0;
        while got < count {
            self.completions.clear();
            self.queue.reap(1, &mut self.completions).unwrap();
            assert!(!self.completions.is_empty(), "reap answered nothing with {} in flight", count - got);
            for completion in &self.completions {
                let place = &mut results[completion.chunk as usize];
                assert!(place.is_none(), "chunk {} completed twice", completion.chunk);
                *place = Some(completion.result);
                got += 1;
            }
        }
        results.into_iter().map(Option::unwrap).collect()
    }

    /// One operation on chunk 0, from queueing to its result.
    pub fn one(&mut self, action: Action, file: u32, offset: u64, bytes: u32) -> i32 {
        self.queue(action, 0, file, offset, bytes);
        self.reap(1)[0]
    }
}
