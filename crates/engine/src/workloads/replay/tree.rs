//! What has to be there before the first call, and the paths that calls name.

use super::super::heed;
use crate::buffers::Buffers;
use crate::error::EngineError;
use rustix::fs::{Mode, OFlags, ftruncate, mkdirat, openat, symlinkat};
use rustix::io::{Errno, write};
use std::ffi::CString;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::Path;
use std::sync::atomic::AtomicBool;
use trace::replay::{Replay, Thing, ThingKind};

/// Bytes of a write while files are made.
const WRITE_BYTES: u64 = 1 << 20;

/// What lies in the files.
pub(super) trait Contents {
    /// Writes the next bytes of a file; answers how many. `place`: the number of its path, and how many are there already.
    ///
    /// # Errors
    /// What the system answers.
    fn write(&mut self, file: BorrowedFd<'_>, place: (u32, u64), bytes: usize) -> Result<usize, Errno>;
}

/// Bytes that never repeat.
impl Contents for Buffers {
    fn write(&mut self, file: BorrowedFd<'_>, _: (u32, u64), bytes: usize) -> Result<usize, Errno> {
        let chunk = self.take();
        self.renew(chunk);
        let moved = write(file, &self.bytes(chunk)[..bytes]);
        self.give_back(chunk);
        moved
    }
}

/// Room of a race's contents.
///
/// # Errors
/// Where the memory is not to be had.
pub(super) fn contents(seed: u64) -> Result<Buffers, EngineError> {
    Buffers::for_writes(WRITE_BYTES, 1, seed)
}

/// Makes it all in an empty folder; answers the bytes that were written.
///
/// # Errors
/// The first call that fails.
pub(super) fn make(
    plan: &Replay,
    (path, top): (&Path, BorrowedFd<'_>),
    contents: &mut dyn Contents,
    stop: &AtomicBool,
) -> Result<u64, EngineError> {
    let mut written = 0;
    // Folders come before what lies in them, and links last: nothing is made through one.
    let (links, others): (Vec<&Thing>, Vec<&Thing>) =
        plan.tree.iter().partition(|thing| matches!(thing.kind, ThingKind::Link(_)));
    for thing in others.into_iter().chain(links) {
        heed(stop)?;
        let name = &plan.paths[thing.path as usize];
        let told = |action, errno| EngineError::file(action, path.join(String::from_utf8_lossy(name).as_ref()), errno);
        let mode = Mode::from_raw_mode(thing.permissions & 0o777);
        match thing.kind {
            ThingKind::Folder => {
                mkdirat(top, &name[..], mode | Mode::RWXU).map_err(|errno| told("create directory", errno))?;
            }
            ThingKind::Link(text) => {
                symlinkat(&plan.paths[text as usize][..], top, &name[..])
                    .map_err(|errno| told("make the link", errno))?;
            }
            ThingKind::File { bytes, is_opened } => {
                let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
                let file = openat(top, &name[..], flags, mode | Mode::RUSR | Mode::WUSR)
                    .map_err(|errno| told("create", errno))?;
                match is_opened {
                    true => {
                        written += fill(&file, (thing.path, bytes), contents, stop).map_err(|of| match of {
                            Filled::Stopped(error) => error,
                            Filled::Failed(errno) => told("write", errno),
                        })?
                    }
                    false => ftruncate(&file, bytes).map_err(|errno| told("set the size of", errno))?,
                }
            }
        }
    }
    Ok(written)
}

enum Filled {
    Stopped(EngineError),
    Failed(Errno),
}

fn fill(
    file: &OwnedFd,
    (path, bytes): (u32, u64),
    contents: &mut dyn Contents,
    stop: &AtomicBool,
) -> Result<u64, Filled> {
    let mut there = 0;
    while there < bytes {
        heed(stop).map_err(Filled::Stopped)?;
        let length = (bytes - there).min(WRITE_BYTES) as usize;
        match contents.write(file.as_fd(), (path, there), length).map_err(Filled::Failed)? {
            0 => return Err(Filled::Failed(Errno::NOSPC)),
            moved => there += moved as u64,
        }
    }
    Ok(bytes)
}

/// The paths of a plan for the kernel; what links say among them.
///
/// # Errors
/// A path that none can be, which no plan has.
pub(super) fn paths(plan: &Replay) -> Result<Vec<CString>, EngineError> {
    let of = |path: &Vec<u8>| {
        let zero = |_| EngineError::Unsuitable("a path of the trace holds a zero byte".to_owned());
        CString::new(path.clone()).map_err(zero)
    };
    plan.paths.iter().map(of).collect()
}
