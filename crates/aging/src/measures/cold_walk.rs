//! Reading a whole tree with cold caches, as `grep -r` does, beside a fresh copy of it.

use super::walk::{FRESH, Found, Visitor, walk};
use crate::beneath::{open_folder, remove_tree};
use crate::error::AgingError;
use crate::life::BLOCK_BYTES;
use rustix::fs::{Advice, AtFlags, Mode, OFlags, fadvise, fstatvfs, mkdirat, openat, statat, syncfs};
use rustix::io::Errno;
use serde::{Deserialize, Serialize};
use std::collections::HashSet;
use std::ffi::{CStr, CString};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

const BUFFER_BYTES: usize = 128 << 10;
/// Of what is free a fresh copy takes this share at most.
pub const FRESH_SHARE: f64 = 0.6;
/// A copy of less says nothing: one seek more or less would show.
pub const LEAST_FRESH_BYTES: u64 = 16 << 20;

/// How caches were emptied before a tree was read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Caches {
    /// All of the kernel (/proc/sys/vm/drop_caches).
    Dropped,
    /// Only the pages of each file (posix_fadvise): what the filesystem knows of folders and files stays in memory.
    PagesOnly,
}

/// A tree that was read.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct ColdWalk {
    /// Files.
    pub files: u64,
    /// Bytes that were read.
    pub bytes: u64,
    /// Seconds, opening and listing too.
    pub seconds: f64,
    /// Seconds for a gibibyte.
    pub seconds_per_gib: f64,
    /// How cold it was.
    pub caches: Caches,
}

/// Aged files and a fresh copy of them.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct BesideFresh {
    /// Share of the tree's files that were copied and read, 0 to 1.
    pub share_of_files: f64,
    /// The aged ones.
    pub aged: ColdWalk,
    /// The copy.
    pub fresh: ColdWalk,
    /// Seconds of the aged ones by those of the copy.
    pub ratio: f64,
}

/// A step of reading a tree beside a fresh copy of it. Between two of them whoever asks makes the filesystem cold, as by an unmount.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ColdStep {
    /// The copy is made.
    Copy,
    /// The files that were copied are read.
    Aged,
    /// The copy is read.
    Fresh,
}

/// What came of a step.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SteppedTo {
    /// There is no room for a copy.
    NoRoom,
    /// There is one.
    Copied,
    /// It was read.
    Read(ColdWalk),
}

struct Reading<'a> {
    buffer: Vec<u8>,
    files: u64,
    bytes: u64,
    /// Only what was copied.
    only: Option<&'a Fresh>,
    /// Their pages are forgotten, and nothing is read.
    forgets: bool,
    stop: &'a AtomicBool,
}

impl Visitor for Reading<'_> {
    fn looks(&self) -> bool {
        false
    }

    fn enters(&self, name: &CStr) -> bool {
        self.only.is_none_or(|only| only.folders.contains(name))
    }

    fn file(&mut self, file: &Found) -> Result<bool, Errno> {
        if self.stop.load(Ordering::Relaxed) {
            return Ok(false);
        }
        if self.only.is_some_and(|only| !only.names.contains(file.name)) {
            return Ok(true);
        }
        let opened = file.open()?;
        self.files += 1;
        if self.forgets {
            fadvise(&opened, 0, None, Advice::DontNeed)?;
            return Ok(true);
        }
        loop {
            match rustix::io::read(&opened, &mut self.buffer[..]) {
                Ok(0) => return Ok(true),
                Ok(read) => self.bytes += read as u64,
                Err(Errno::INTR) => {}
                Err(errno) => return Err(errno),
            }
        }
    }
}

fn error(act: &'static str) -> impl Fn(Errno) -> AgingError {
    move |errno| AgingError::system(act, ".", errno)
}

/// Reads every file below a folder in the order in which the filesystem lists them, with cold caches. `drop_caches` empties
/// the kernel's, and answers whether it could. After `stop` it ends, and what it answers is of a part.
///
/// # Errors
/// What the system answers.
pub fn cold_walk(
    root: BorrowedFd<'_>,
    drop_caches: &mut dyn FnMut() -> bool,
    stop: &AtomicBool,
) -> Result<ColdWalk, AgingError> {
    read_cold(root, None, drop_caches, stop)
}

/// Reads the files that were copied, then their copy, each with cold caches; `stop` as of [`cold_walk`].
///
/// # Errors
/// What the system answers.
pub fn read_beside_fresh(
    root: BorrowedFd<'_>,
    fresh: &Fresh,
    all_files: u64,
    drop_caches: &mut dyn FnMut() -> bool,
    stop: &AtomicBool,
) -> Result<BesideFresh, AgingError> {
    let aged = read_copied(root, fresh, drop_caches, stop)?;
    let fresh = read_copy(root, drop_caches, stop)?;
    let share_of_files = fresh.files as f64 / all_files.max(fresh.files).max(1) as f64;
    Ok(BesideFresh { share_of_files, aged, fresh, ratio: aged.seconds / fresh.seconds.max(1e-9) })
}

/// Does a step below a folder; `fresh` is what the first one copied. After `stop` it ends early, and what it answers is of a part.
///
/// # Errors
/// What the system answers.
pub fn cold_step(
    root: BorrowedFd<'_>,
    step: ColdStep,
    fresh: &mut Fresh,
    stop: &AtomicBool,
) -> Result<SteppedTo, AgingError> {
    let read = match step {
        ColdStep::Copy => {
            let Some(copied) = copy_fresh(root, stop)? else { return Ok(SteppedTo::NoRoom) };
            *fresh = copied;
            return Ok(SteppedTo::Copied);
        }
        // Who asks emptied the caches.
        ColdStep::Aged => read_copied(root, fresh, &mut || true, stop)?,
        ColdStep::Fresh => read_copy(root, &mut || true, stop)?,
    };
    Ok(SteppedTo::Read(read))
}

/// Reads the files of a tree that were copied, and lists no other folders than these lie in.
///
/// # Errors
/// What the system answers.
pub fn read_copied(
    root: BorrowedFd<'_>,
    fresh: &Fresh,
    drop_caches: &mut dyn FnMut() -> bool,
    stop: &AtomicBool,
) -> Result<ColdWalk, AgingError> {
    read_cold(root, Some(fresh), drop_caches, stop)
}

/// Reads the fresh copy of a tree.
///
/// # Errors
/// What the system answers.
pub fn read_copy(
    root: BorrowedFd<'_>,
    drop_caches: &mut dyn FnMut() -> bool,
    stop: &AtomicBool,
) -> Result<ColdWalk, AgingError> {
    let copy = open_folder(root, FRESH).map_err(error("open the fresh copy in"))?;
    read_cold(copy.as_fd(), None, drop_caches, stop)
}

fn read_cold(
    root: BorrowedFd<'_>,
    only: Option<&Fresh>,
    drop_caches: &mut dyn FnMut() -> bool,
    stop: &AtomicBool,
) -> Result<ColdWalk, AgingError> {
    let folder = openat(root, c".", OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty());
    let folder = folder.map_err(error("open"))?;
    syncfs(&folder).map_err(error("sync the filesystem of"))?;
    let reading = |forgets| Reading { buffer: vec![0; BUFFER_BYTES], files: 0, bytes: 0, only, forgets, stop };
    let caches = if drop_caches() {
        Caches::Dropped
    } else {
        walk(&folder, false, &mut reading(true)).map_err(error("open files of"))?;
        Caches::PagesOnly
    };
    let mut read = reading(false);
    let begun = Instant::now();
    walk(&folder, false, &mut read).map_err(error("read"))?;
    let seconds = begun.elapsed().as_secs_f64();
    let seconds_per_gib = seconds * model::Bytes::GIB as f64 / read.bytes.max(1) as f64;
    Ok(ColdWalk { files: read.files, bytes: read.bytes, seconds, seconds_per_gib, caches })
}

/// Copies files into a folder as `cp` does, by names, as far as there is room.
struct Copying<'a> {
    target: BorrowedFd<'a>,
    /// The folder of the copy for each level.
    folders: Vec<OwnedFd>,
    fresh: Fresh,
    buffer: Vec<u8>,
    room: u64,
    failed: Option<Errno>,
    stop: &'a AtomicBool,
}

impl Visitor for Copying<'_> {
    fn folder(&mut self, _: BorrowedFd, name: &CStr, depth: usize) {
        self.folders.truncate(depth);
        let above = self.folders.last().map_or(self.target, AsFd::as_fd);
        let name = if depth == 0 { c"tree" } else { name };
        let made = mkdirat(above, name, Mode::from_raw_mode(0o755)).and_then(|()| open_folder(above, name));
        match made {
            Ok(folder) => {
                self.folders.push(folder);
                self.fresh.folders.insert(name.to_owned());
            }
            Err(errno) => self.failed = self.failed.or(Some(errno)),
        }
    }

    fn file(&mut self, file: &Found) -> Result<bool, Errno> {
        if let Some(errno) = self.failed {
            return Err(errno);
        }
        let blocks = file.bytes.div_ceil(BLOCK_BYTES) * BLOCK_BYTES;
        if blocks > self.room || self.stop.load(Ordering::Relaxed) {
            return Ok(false);
        }
        let from = file.open()?;
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let above = self.folders.last().map_or(self.target, AsFd::as_fd);
        let to = openat(above, file.name, flags, Mode::from_raw_mode(0o644))?;
        loop {
            let read = match rustix::io::read(&from, &mut self.buffer[..]) {
                Ok(0) => break,
                Err(Errno::INTR) => continue,
                read => read?,
            };
            let mut left = &self.buffer[..read];
            while !left.is_empty() {
                let written = rustix::io::write(&to, left)?;
                left = &left[written..];
            }
        }
        self.room -= blocks;
        self.fresh.names.insert(file.name.to_owned());
        self.fresh.bytes += file.bytes;
        Ok(true)
    }
}

/// A fresh copy that is there.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Fresh {
    /// Names of its files: no two files of a life have the same.
    pub names: HashSet<CString>,
    /// Names of the folders that it has.
    pub folders: HashSet<CString>,
    /// Bytes of it.
    pub bytes: u64,
}

/// Makes a copy of the tree below a folder in [`FRESH`] there, as much as 60 % of what is free holds; `None`: no room for 16 MiB.
/// To be removed by [`remove_fresh`]. After `stop` it ends early.
///
/// # Errors
/// What the system answers; nothing of the copy is left then.
pub fn copy_fresh(root: BorrowedFd<'_>, stop: &AtomicBool) -> Result<Option<Fresh>, AgingError> {
    remove_fresh(root)?;
    let room = fstatvfs(root).map_err(error("look at the filesystem of"))?;
    let room = ((room.f_bavail * room.f_frsize) as f64 * FRESH_SHARE) as u64;
    if room < LEAST_FRESH_BYTES {
        return Ok(None);
    }
    let copied = copy(root, room, stop);
    let is_enough = matches!(&copied, Ok(fresh) if fresh.bytes >= LEAST_FRESH_BYTES);
    if !is_enough {
        remove_fresh(root)?;
    }
    match copied {
        Ok(fresh) => Ok(is_enough.then_some(fresh)),
        Err(Errno::NOSPC | Errno::DQUOT) => Ok(None),
        Err(errno) => Err(AgingError::system("make a fresh copy in", FRESH.to_string_lossy(), errno)),
    }
}

fn copy(root: BorrowedFd<'_>, room: u64, stop: &AtomicBool) -> Result<Fresh, Errno> {
    mkdirat(root, FRESH, Mode::from_raw_mode(0o700))?;
    let target = open_folder(root, FRESH)?;
    let mut copying = Copying {
        target: target.as_fd(),
        folders: Vec::new(),
        fresh: Fresh::default(),
        buffer: vec![0; BUFFER_BYTES],
        room,
        failed: None,
        stop,
    };
    walk(root, true, &mut copying)?;
    let fresh = copying.fresh;
    syncfs(&target)?;
    Ok(fresh)
}

/// Removes what [`copy_fresh`] made.
///
/// # Errors
/// What the system answers.
pub fn remove_fresh(root: BorrowedFd<'_>) -> Result<(), AgingError> {
    remove_tree(root, FRESH).map_err(|errno| AgingError::system("remove", FRESH.to_string_lossy(), errno))
}

/// Whether a fresh copy is there.
pub fn has_fresh(root: BorrowedFd<'_>) -> bool {
    statat(root, FRESH, AtFlags::SYMLINK_NOFOLLOW).is_ok()
}
