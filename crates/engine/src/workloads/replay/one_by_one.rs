//! The calls of a trace by one thread, one after another, with contents that are known: what is left of them can be checked.

use super::answers::Differences;
use super::calls::{self, Ground, Shelter};
use super::{answers, enter, raise_descriptors, rooms, shelter, sink, tree};
use crate::buffers::Room;
use crate::error::EngineError;
use crate::workloads::available_bytes;
use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;
use std::ffi::CString;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};
use trace::code;
use trace::replay::{Replay, Step, Turn};

/// What is written.
pub(crate) trait Contents {
    /// Bytes of a file that is there before; `file`: the number of its path.
    fn of_tree(&mut self, file: u32, from: u64, into: &mut [u8]);
    /// All bytes of a call, by its number in the order of the work.
    fn of_call(&mut self, call: u32, into: &mut [u8]);
}

/// Called behind each call with its number in the order, and what it answered; an error ends the work.
pub(crate) type Heed<'a> = &'a mut dyn FnMut(u32, &Step, i64) -> std::io::Result<()>;

/// A trace that is done in a folder.
pub(crate) struct OneByOne<'a> {
    plan: &'a Replay,
    paths: Vec<CString>,
    top: OwnedFd,
    sink: OwnedFd,
    shelter: Shelter,
}

struct Tree<'a>(&'a mut dyn Contents, Vec<u8>);

impl tree::Contents for Tree<'_> {
    fn write(&mut self, file: BorrowedFd<'_>, (path, there): (u32, u64), bytes: usize) -> Result<usize, Errno> {
        self.1.resize(bytes, 0);
        self.0.of_tree(path, there, &mut self.1);
        rustix::io::write(file, &self.1)
    }
}

impl<'a> OneByOne<'a> {
    /// Of a plan in a folder.
    ///
    /// # Errors
    /// Where the folder cannot be opened, or the system has not what a replay needs.
    pub(crate) fn new(plan: &'a Replay, folder: &Path) -> Result<Self, EngineError> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let top =
            rustix::fs::open(folder, flags, Mode::empty()).map_err(|errno| EngineError::file("open", folder, errno))?;
        let shelter = shelter(top.as_fd())?;
        Ok(OneByOne { plan, paths: tree::paths(plan)?, top, sink: sink()?, shelter })
    }

    /// Makes what has to be there before, in the folder, which is empty.
    ///
    /// # Errors
    /// The first call that fails; interrupted, where the flag is set.
    pub(crate) fn prepare(
        &self,
        folder: &Path,
        contents: &mut dyn Contents,
        stop: &AtomicBool,
    ) -> Result<(), EngineError> {
        let mut tree = Tree(contents, Vec::new());
        tree::make(self.plan, (folder, self.top.as_fd()), &mut tree, stop).map(drop)
    }

    /// Does all calls. It takes the calling thread, which stands in the folder from then on: give it one of its own.
    ///
    /// # Errors
    /// Where the memory is not to be had, and what `heed` answers; interrupted, where the flag is set before some call.
    pub(crate) fn run(
        &self,
        turns: &[Turn],
        contents: &mut dyn Contents,
        stop: &AtomicBool,
        heed: Heed,
    ) -> std::io::Result<()> {
        let failed = |error: EngineError| std::io::Error::other(error.to_string());
        rooms::check(self.plan, available_bytes()).map_err(std::io::Error::other)?;
        raise_descriptors(self.plan.descriptors).map_err(failed)?;
        let files: Vec<AtomicI32> = (0..self.plan.files).map(|_| AtomicI32::new(calls::CLOSED)).collect();
        let ground = Ground::new(&self.paths, &files, (self.top.as_fd(), self.sink.as_fd()), self.shelter);
        let steps = || turns.iter().map(|turn| &self.plan.threads[turn.thread as usize][turn.step as usize]);
        let mut room = Room::new(steps().map(rooms::asked).max().unwrap_or(0).max(1)).map_err(failed)?;
        enter(self.top.as_fd(), self.shelter).map_err(failed)?;
        let mut done = Ok(());
        for (number, step) in steps().enumerate() {
            if stop.load(Ordering::Relaxed) {
                done = Err(std::io::ErrorKind::Interrupted.into());
                break;
            }
            let bytes = rooms::asked(step).min(room.len());
            if matches!(step.call, code::WRITE | code::PWRITE64) {
                contents.of_call(number as u32, &mut room[..bytes]);
            }
            let got = ground.call(step, &ground.prepare_with(step, (room.as_mut_ptr(), bytes)));
            let got = copy_the_rest(&ground, step, got);
            follow_position(step, got, &files);
            for (file, _) in step.files.iter().zip(step.closes).filter(|(_, closes)| *closes) {
                ground.close(*file);
            }
            // What the program did not get, nobody closes later.
            if step.call == code::OPENAT && step.files[0] == trace::NOT_FOLLOWED {
                calls::close(i32::try_from(got).unwrap_or(calls::CLOSED));
            }
            done = heed(number as u32, step, got);
            if done.is_err() {
                break;
            }
        }
        files.into_iter().for_each(|file| calls::close(file.into_inner()));
        done
    }

    /// What calls answered otherwise than the program was, as a part of a sentence.
    pub(crate) fn told(&self, differences: &Differences, calls: u64) -> String {
        differences.told(calls, &self.plan.paths)
    }
}

/// How much a filesystem copies at once is its own affair: what it left out is copied by further calls, as programs do.
fn copy_the_rest(ground: &Ground, step: &Step, got: i64) -> i64 {
    let mut done = got;
    while step.call == code::COPY_FILE_RANGE && (1..step.result).contains(&done) {
        let behind = |offset: i64| if offset < 0 { offset } else { offset + done };
        let [_, from, to, other] = step.numbers;
        let left = step.result - done;
        let rest = Step { numbers: [left, behind(from), behind(to), other], result: left, ..*step };
        match ground.call(&rest, &ground.prepare_with(&rest, (std::ptr::null_mut(), 0))) {
            more @ 1.. => done += more,
            _ => break,
        }
    }
    done
}

/// Where a read or a look for holes answered otherwise than it answered the program, the file stands where it stood for the
/// program: writes go where they went.
fn follow_position(step: &Step, got: i64, files: &[AtomicI32]) {
    let (offset, whence) = match step.call {
        code::READ => (step.result.max(0) - got.max(0), libc::SEEK_CUR),
        code::LSEEK if step.result >= 0 => (step.result, libc::SEEK_SET),
        _ => return,
    };
    let Some(file) = files.get(step.files[0] as usize).filter(|_| step.result != got) else { return };
    // SAFETY: a descriptor and two numbers; one that is closed is refused.
    unsafe { libc::lseek(file.load(Ordering::Relaxed), offset, whence) };
}

/// Whether what must be there hangs on a call's answer: it changes files or names, or makes them safe.
pub(crate) fn counts(step: &Step) -> bool {
    let number = step.numbers[0];
    match step.call {
        code::OPENAT => number & i64::from(libc::O_CREAT | libc::O_TRUNC) != 0 || has_no_name(number),
        // It makes room alone.
        code::FALLOCATE => number != i64::from(libc::FALLOC_FL_KEEP_SIZE),
        // A look for holes that found none.
        code::LSEEK => step.result < 0,
        call => {
            answers::works(call) && !matches!(call, code::READ | code::PREAD64 | code::FICLONE) || is_of_names(call)
        }
    }
}

fn has_no_name(flags: i64) -> bool {
    flags & i64::from(libc::O_TMPFILE) == i64::from(libc::O_TMPFILE)
}

fn is_of_names(call: u8) -> bool {
    let all = [
        code::TRUNCATE,
        code::FTRUNCATE,
        code::RENAMEAT2,
        code::LINKAT,
        code::SYMLINKAT,
        code::UNLINKAT,
        code::MKDIRAT,
        code::MKNODAT,
        code::FSYNC,
        code::FDATASYNC,
        code::SYNC,
        code::SYNCFS,
    ];
    all.contains(&call)
}
