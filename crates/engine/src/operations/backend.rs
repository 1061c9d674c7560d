//! What operations are asked of: the kernel's files, a library's files, or one process for each.

use super::contents::Contents;
use crate::error::EngineError;
use model::operations::Operation;
use rustix::io::Errno;
use std::ffi::CStr;

/// How a file is opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Access {
    /// An existing file, to read.
    Read,
    /// An existing file, to write in place.
    Write,
    /// An existing file; writes go to its end.
    Append,
    /// A file that must not be there yet.
    New,
}

/// What `stat` tells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Status {
    /// In bytes.
    pub(crate) size: u64,
    /// Otherwise a file (or a symbolic link, which is not followed).
    pub(crate) is_directory: bool,
}

/// A filesystem, call by call. Paths are relative to the folder that the workload owns in the lane;
/// they hold no `..`. A call that a library does not know answers `OPNOTSUPP`.
pub(crate) trait FileCalls {
    /// An open file.
    type File;

    fn open(&mut self, path: &CStr, access: Access) -> Result<Self::File, Errno>;
    /// Like pread: fewer bytes than asked for mean the file's end.
    fn read(&mut self, file: &mut Self::File, room: &mut [u8], offset: u64) -> Result<usize, Errno>;
    /// Like pwrite; of a file opened to append the offset is ignored.
    fn write(&mut self, file: &mut Self::File, bytes: &[u8], offset: u64) -> Result<usize, Errno>;
    fn truncate(&mut self, file: &mut Self::File, size: u64) -> Result<(), Errno>;
    fn allocate(&mut self, file: &mut Self::File, offset: u64, bytes: u64) -> Result<(), Errno>;
    /// fsync: the file's data and metadata are stable.
    fn sync(&mut self, file: &mut Self::File) -> Result<(), Errno>;
    fn close(&mut self, file: Self::File) -> Result<(), Errno>;
    fn stat(&mut self, path: &CStr) -> Result<Status, Errno>;
    /// Hard links to a file. Only checks of contents ask; `OPNOTSUPP` leaves that check out.
    fn links(&mut self, path: &CStr) -> Result<u64, Errno> {
        let _ = path;
        Err(Errno::OPNOTSUPP)
    }
    /// What a symbolic link holds. Only checks of contents ask; `OPNOTSUPP` leaves that check out.
    fn read_link(&mut self, path: &CStr, room: &mut [u8]) -> Result<usize, Errno> {
        let _ = (path, room);
        Err(Errno::OPNOTSUPP)
    }
    /// The first offset from `offset` on at which the file may hold something: what lies before it is a
    /// hole, which reads as zeros. Only checks of contents ask; `OPNOTSUPP` has them read everything.
    fn next_data(&mut self, file: &mut Self::File, offset: u64) -> Result<u64, Errno> {
        let _ = (file, offset);
        Err(Errno::OPNOTSUPP)
    }
    /// Calls `entry` with each name but `.` and `..`.
    fn list(&mut self, path: &CStr, entry: &mut dyn FnMut(&[u8])) -> Result<(), Errno>;
    fn rename(&mut self, from: &CStr, to: &CStr) -> Result<(), Errno>;
    fn link(&mut self, from: &CStr, to: &CStr) -> Result<(), Errno>;
    /// A symbolic link at `path` that holds `target`.
    fn symlink(&mut self, target: &CStr, path: &CStr) -> Result<(), Errno>;
    fn reflink(&mut self, from: &CStr, to: &CStr) -> Result<(), Errno>;
    fn set_xattr(&mut self, path: &CStr, name: &CStr, value: &[u8]) -> Result<(), Errno>;
    fn get_xattr(&mut self, path: &CStr, name: &CStr, room: &mut [u8]) -> Result<usize, Errno>;
    fn unlink(&mut self, path: &CStr) -> Result<(), Errno>;
    fn make_directory(&mut self, path: &CStr) -> Result<(), Errno>;
    fn remove_directory(&mut self, path: &CStr) -> Result<(), Errno>;
    fn sync_directory(&mut self, path: &CStr) -> Result<(), Errno>;
    /// Everything written so far is stable (syncfs).
    fn sync_all(&mut self) -> Result<(), Errno>;
}

/// One operation on one thing, with everything that it needs; nothing is allocated for it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Task<'a> {
    pub(crate) operation: Operation,
    /// The file or directory.
    pub(crate) path: &'a CStr,
    /// The new name, the link, the copy; empty where the operation has none.
    pub(crate) other: &'a CStr,
    /// What tells the file's contents from every other's.
    pub(crate) file: u64,
    /// What tells this step's contents from those of earlier ones.
    pub(crate) generation: u32,
    /// Where in the file (random and block operations); its present size for `append`.
    pub(crate) offset: u64,
    /// Bytes to move, to allocate, to keep.
    pub(crate) bytes: u64,
    /// Bytes of one call.
    pub(crate) block: u64,
    /// The operation ends with an fsync of what it changed.
    pub(crate) sync: bool,
    /// `list`: names that must be there.
    pub(crate) entries: u64,
}

/// Carries out operations. One per thread.
pub(crate) trait Operator {
    /// Does one operation; answers the bytes that it moved. Moving fewer than the task says, or
    /// finding another number of entries, is an error.
    fn operate(&mut self, task: &Task<'_>, contents: &mut Contents) -> Result<u64, EngineError>;

    /// Before the clock runs, in the same threads: the seconds that it takes to start one process and
    /// wait for its end, taken from about as many as operations follow; 0 where they are no processes.
    fn start_up_seconds(&mut self, operations: u64) -> Result<f64, EngineError> {
        let _ = operations;
        Ok(0.0)
    }

    /// Processes started for operations so far: some take two (`sync` of the directory).
    fn processes(&self) -> u64 {
        0
    }

    /// Steps whose operations are blocks of one file hold it open between them: this closes it.
    fn end_of_file(&mut self) -> Result<(), EngineError> {
        Ok(())
    }
}
