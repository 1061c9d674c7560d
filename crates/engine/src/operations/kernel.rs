//! The kernel's files: each call is the system call of that name, relative to the lane's top folder.

use super::backend::{Access, FileCalls, Status};
use super::names::TOP;
use crate::beneath;
use crate::error::EngineError;
use rustix::fs::{
    AtFlags, FallocateFlags, FileType, Mode, OFlags, RawDir, SeekFrom, XattrFlags, fallocate, fsync, ftruncate,
    ioctl_ficlone, lgetxattr, linkat, lsetxattr, mkdirat, openat, readlinkat_raw, renameat, seek, statat, symlinkat,
    unlinkat,
};
use rustix::io::{Errno, pread, pwrite, write};
use std::ffi::CStr;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, IntoRawFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// Bytes of directory entries taken with one getdents64, as the C library does.
const ENTRY_BYTES: usize = 32 * 1024;
/// The kernel's own limit, the zero byte included.
const PATH_MAX: usize = 4096;
const FILE_MODE: Mode = Mode::from_raw_mode(0o644);
const DIRECTORY_MODE: Mode = Mode::from_raw_mode(0o755);

/// The folder [`TOP`] of a lane's directory.
#[derive(Debug)]
pub(crate) struct KernelCalls {
    top: OwnedFd,
    path: PathBuf,
    entries: Vec<MaybeUninit<u8>>,
    /// The top's path with a slash: calls on extended attributes take no directory (before 6.13).
    whole: Vec<u8>,
    whole_top: usize,
}

/// A file and whether its writes go to its end.
#[derive(Debug)]
pub(crate) struct KernelFile {
    file: OwnedFd,
    appends: bool,
}

impl KernelCalls {
    /// Opens the folder, which must be there.
    pub(crate) fn open((path, directory): (&Path, BorrowedFd<'_>)) -> Result<Self, EngineError> {
        let path = path.join(TOP);
        let top =
            beneath::open_folder(directory, TOP).map_err(|errno| EngineError::file("open directory", &path, errno))?;
        let mut whole = path.as_os_str().as_bytes().to_vec();
        whole.push(b'/');
        let whole_top = whole.len();
        whole.reserve(PATH_MAX);
        Ok(KernelCalls { top, path, entries: vec![MaybeUninit::uninit(); ENTRY_BYTES], whole, whole_top })
    }

    /// Makes the folder; what an interrupted race left in it is removed.
    pub(crate) fn make((path, directory): (&Path, BorrowedFd<'_>)) -> Result<Self, EngineError> {
        let top = path.join(TOP);
        beneath::remove_tree(directory, TOP).map_err(|errno| EngineError::file("remove", &top, errno))?;
        beneath::make_folder(directory, TOP, DIRECTORY_MODE, None)
            .map_err(|errno| EngineError::file("create directory", top, errno))?;
        Self::open((path, directory))
    }

    /// Makes the folder, unless another client of the same work has made it already.
    pub(crate) fn join((path, directory): (&Path, BorrowedFd<'_>)) -> Result<Self, EngineError> {
        beneath::made_by_any(mkdirat(directory, TOP, DIRECTORY_MODE), true)
            .map_err(|errno| EngineError::file("create directory", path.join(TOP), errno))?;
        Self::open((path, directory))
    }

    /// Where the folder is, for messages.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    fn whole_path(&mut self, path: &CStr) -> Result<&CStr, Errno> {
        self.whole.truncate(self.whole_top);
        self.whole.extend_from_slice(path.to_bytes_with_nul());
        CStr::from_bytes_with_nul(&self.whole).map_err(|_| Errno::INVAL)
    }
}

/// close(2) with its answer: a network filesystem tells there that it has no room.
#[inline]
fn close(file: OwnedFd) -> Result<(), Errno> {
    // SAFETY: the descriptor was ours alone and is given up here.
    match unsafe { libc::close(file.into_raw_fd()) } {
        0 => Ok(()),
        _ => Err(Errno::from_io_error(&std::io::Error::last_os_error()).unwrap_or(Errno::IO)),
    }
}

impl FileCalls for KernelCalls {
    type File = KernelFile;

    #[inline]
    fn open(&mut self, path: &CStr, access: Access) -> Result<KernelFile, Errno> {
        let flags = match access {
            Access::Read => OFlags::RDONLY,
            Access::Write => OFlags::WRONLY,
            Access::Append => OFlags::WRONLY | OFlags::APPEND,
            Access::New => OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL,
        };
        let file = openat(&self.top, path, flags | OFlags::CLOEXEC, FILE_MODE)?;
        Ok(KernelFile { file, appends: access == Access::Append })
    }

    #[inline]
    fn read(&mut self, file: &mut KernelFile, room: &mut [u8], offset: u64) -> Result<usize, Errno> {
        pread(&file.file, room, offset)
    }

    #[inline]
    fn write(&mut self, file: &mut KernelFile, bytes: &[u8], offset: u64) -> Result<usize, Errno> {
        if file.appends { write(&file.file, bytes) } else { pwrite(&file.file, bytes, offset) }
    }

    #[inline]
    fn truncate(&mut self, file: &mut KernelFile, size: u64) -> Result<(), Errno> {
        ftruncate(&file.file, size)
    }

    #[inline]
    fn allocate(&mut self, file: &mut KernelFile, offset: u64, bytes: u64) -> Result<(), Errno> {
        fallocate(&file.file, FallocateFlags::empty(), offset, bytes)
    }

    #[inline]
    fn sync(&mut self, file: &mut KernelFile) -> Result<(), Errno> {
        fsync(&file.file)
    }

    #[inline]
    fn close(&mut self, file: KernelFile) -> Result<(), Errno> {
        close(file.file)
    }

    #[inline]
    fn stat(&mut self, path: &CStr) -> Result<Status, Errno> {
        let found = statat(&self.top, path, AtFlags::SYMLINK_NOFOLLOW)?;
        let is_directory = FileType::from_raw_mode(found.st_mode) == FileType::Directory;
        Ok(Status { size: found.st_size as u64, is_directory })
    }

    fn links(&mut self, path: &CStr) -> Result<u64, Errno> {
        // The field's width differs between architectures.
        #[allow(clippy::unnecessary_cast)]
        statat(&self.top, path, AtFlags::SYMLINK_NOFOLLOW).map(|found| found.st_nlink as u64)
    }

    fn read_link(&mut self, path: &CStr, room: &mut [u8]) -> Result<usize, Errno> {
        readlinkat_raw(&self.top, path, room)
    }

    fn next_data(&mut self, file: &mut KernelFile, offset: u64) -> Result<u64, Errno> {
        match seek(&file.file, SeekFrom::Data(offset)) {
            // Nothing but holes to the end.
            Err(Errno::NXIO) => Ok(u64::MAX),
            other => other,
        }
    }

    fn list(&mut self, path: &CStr, entry: &mut dyn FnMut(&[u8])) -> Result<(), Errno> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let directory = openat(&self.top, path, flags, Mode::empty())?;
        let mut entries = RawDir::new(&directory, &mut self.entries);
        while let Some(found) = entries.next() {
            let found = found?;
            let name = found.file_name().to_bytes();
            if name != b"." && name != b".." {
                entry(name);
            }
        }
        close(directory)
    }

    #[inline]
    fn rename(&mut self, from: &CStr, to: &CStr) -> Result<(), Errno> {
        renameat(&self.top, from, &self.top, to)
    }

    #[inline]
    fn link(&mut self, from: &CStr, to: &CStr) -> Result<(), Errno> {
        linkat(&self.top, from, &self.top, to, AtFlags::empty())
    }

    #[inline]
    fn symlink(&mut self, target: &CStr, path: &CStr) -> Result<(), Errno> {
        symlinkat(target, &self.top, path)
    }

    fn reflink(&mut self, from: &CStr, to: &CStr) -> Result<(), Errno> {
        let source = openat(&self.top, from, OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty())?;
        let copy = self.open(to, Access::New)?;
        if let Err(errno) = ioctl_ficlone(&copy.file, &source) {
            // An empty copy would pass for one that was lost.
            let _ = self.unlink(to);
            return Err(errno);
        }
        close(source)?;
        close(copy.file)
    }

    #[inline]
    fn set_xattr(&mut self, path: &CStr, name: &CStr, value: &[u8]) -> Result<(), Errno> {
        lsetxattr(self.whole_path(path)?, name, value, XattrFlags::empty())
    }

    #[inline]
    fn get_xattr(&mut self, path: &CStr, name: &CStr, room: &mut [u8]) -> Result<usize, Errno> {
        lgetxattr(self.whole_path(path)?, name, room)
    }

    #[inline]
    fn unlink(&mut self, path: &CStr) -> Result<(), Errno> {
        unlinkat(&self.top, path, AtFlags::empty())
    }

    #[inline]
    fn make_directory(&mut self, path: &CStr) -> Result<(), Errno> {
        mkdirat(&self.top, path, DIRECTORY_MODE)
    }

    #[inline]
    fn remove_directory(&mut self, path: &CStr) -> Result<(), Errno> {
        unlinkat(&self.top, path, AtFlags::REMOVEDIR)
    }

    fn sync_directory(&mut self, path: &CStr) -> Result<(), Errno> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let directory = openat(&self.top, path, flags, Mode::empty())?;
        fsync(&directory)?;
        close(directory)
    }

    fn sync_all(&mut self) -> Result<(), Errno> {
        crate::syncfs::filesystem(self.top.as_fd())
    }
}
