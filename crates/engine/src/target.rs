//! Where the work happens: a directory of the lane, a library on a device, the bare device, or nowhere.

use crate::clock::{Clock, seconds};
use crate::error::EngineError;
use crate::operations::rsext4::Library;
use crate::syncfs;
use model::agent::Target;
use rustix::fs::{
    AtFlags, FileType, Mode, OFlags, Stat, StatxAttributes, StatxFlags, fstat, fsync, open, openat, statat, statx,
    unlinkat,
};
use rustix::io::Errno;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::rc::Rc;

/// A target, opened. It is held open until dropped, so that an unmount meanwhile is refused.
#[derive(Debug)]
pub enum OpenTarget {
    /// A directory.
    Directory {
        /// Its path, for messages.
        path: PathBuf,
        /// Itself.
        directory: OwnedFd,
    },
    /// A block device.
    Device {
        /// Its path.
        path: PathBuf,
        /// Its size.
        size_bytes: u64,
    },
    /// A filesystem that this process itself is, mounted until [`OpenTarget::close`].
    Library(Library),
    /// Nowhere.
    Null,
}

impl OpenTarget {
    /// Opens a target.
    ///
    /// # Errors
    /// Where there is no such directory or block device, or it may not be opened.
    pub fn open(target: &Target) -> Result<OpenTarget, EngineError> {
        match target {
            Target::Null => Ok(OpenTarget::Null),
            Target::Library(library) => Library::open(library).map(OpenTarget::Library),
            Target::Directory(path) => {
                let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
                let directory = open(path, flags, Mode::empty())
                    .map_err(|errno| EngineError::file("open directory", path, errno))?;
                is_ours(path, &directory)?;
                Ok(OpenTarget::Directory { path: path.clone(), directory })
            }
            Target::Device(path) => {
                let error = |errno| EngineError::file("open device", path, errno);
                let device = open(path, OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty()).map_err(error)?;
                let kind = FileType::from_raw_mode(fstat(&device).map_err(error)?.st_mode);
                if kind != FileType::BlockDevice {
                    return Err(EngineError::Unsuitable(format!(
                        "{} is not a block device; name one such as /dev/loop0",
                        model::text::escaped_path(path)
                    )));
                }
                let size_bytes = rustix::fs::seek(&device, rustix::fs::SeekFrom::End(0)).map_err(error)?;
                Ok(OpenTarget::Device { path: path.clone(), size_bytes })
            }
        }
    }

    /// The same target, opened once more, for another thread.
    ///
    /// # Errors
    /// Where no descriptor is left.
    pub fn try_clone(&self) -> Result<OpenTarget, EngineError> {
        Ok(match self {
            OpenTarget::Null => OpenTarget::Null,
            OpenTarget::Library(library) => OpenTarget::Library(library.clone()),
            OpenTarget::Device { path, size_bytes } => {
                OpenTarget::Device { path: path.clone(), size_bytes: *size_bytes }
            }
            OpenTarget::Directory { path, directory } => {
                let error = |error: std::io::Error| EngineError::File {
                    action: "open directory",
                    path: path.clone(),
                    errno: error.raw_os_error().unwrap_or(libc::EMFILE),
                };
                OpenTarget::Directory { path: path.clone(), directory: directory.try_clone().map_err(error)? }
            }
        })
    }

    /// Lets the target go. A library's filesystem is unmounted: its data and metadata are stable on
    /// the device then, and calls of workers that still know it are refused.
    ///
    /// # Errors
    /// Where a library cannot unmount; what it had not written is lost then.
    pub fn close(self) -> Result<(), EngineError> {
        match self {
            OpenTarget::Library(library) => library.unmount(),
            OpenTarget::Directory { .. } | OpenTarget::Device { .. } | OpenTarget::Null => Ok(()),
        }
    }

    /// Whether there is no target.
    pub fn is_null(&self) -> bool {
        matches!(self, OpenTarget::Null)
    }

    /// Writes everything dirty of the target's filesystem (`syncfs`) or device (`fsync`) to stable
    /// storage; answers the wall seconds it took.
    ///
    /// # Errors
    /// What the kernel answers, such as an earlier failed writeback.
    pub fn sync(&self) -> Result<f64, EngineError> {
        let begun = Clock::get().now();
        match self {
            OpenTarget::Null => {}
            OpenTarget::Library(library) => library.sync()?,
            OpenTarget::Directory { path, directory } => {
                syncfs::filesystem(directory.as_fd())
                    .map_err(|errno| EngineError::file("sync the filesystem of", path, errno))?;
            }
            OpenTarget::Device { path, .. } => {
                let error = |errno| EngineError::file("sync", path, errno);
                let device = open(path, OFlags::WRONLY | OFlags::CLOEXEC, Mode::empty()).map_err(error)?;
                fsync(&device).map_err(error)?;
            }
        }
        Ok(seconds(Clock::get().now() - begun))
    }

    pub(crate) fn directory(&self) -> Option<(&Path, BorrowedFd<'_>)> {
        match self {
            OpenTarget::Directory { path, directory } => Some((path, directory.as_fd())),
            _ => None,
        }
    }
}

/// Refuses a folder in which somebody else may put links where this process makes files: one that another user owns or may
/// write, unless a filesystem is mounted there, whose owners are its own affair, or it keeps no owners. Below such a folder
/// names are as safe as the kernel's own, so that no measured call has to look.
fn is_ours(path: &Path, directory: &OwnedFd) -> Result<(), EngineError> {
    let error = |errno| EngineError::file("look at", path, errno);
    let found = fstat(directory).map_err(error)?;
    let others = Mode::from_raw_mode(found.st_mode).intersects(Mode::WGRP | Mode::WOTH);
    let own = found.st_uid == rustix::process::geteuid().as_raw();
    if (own && !others) || is_mounted_here(directory, &found) || keeps_no_owners(directory) {
        return Ok(());
    }
    Err(EngineError::Unsuitable(format!(
        "{} {}: another user could lead the work to other files; work in a folder of your own (chmod go-w)",
        model::text::escaped_path(path),
        if own { "may be written by others" } else { "belongs to somebody else" }
    )))
}

/// Whether it is the root of a mounted filesystem.
fn is_mounted_here(directory: &OwnedFd, found: &Stat) -> bool {
    if let Ok(more) = statx(directory, c"", AtFlags::EMPTY_PATH, StatxFlags::empty())
        && more.stx_attributes_mask.contains(StatxAttributes::MOUNT_ROOT)
    {
        return more.stx_attributes.contains(StatxAttributes::MOUNT_ROOT);
    }
    // Before Linux 5.8.
    statat(directory, c"..", AtFlags::empty()).is_ok_and(|above| above.st_dev != found.st_dev)
}

/// Whether the filesystem shows owners and rights that its mount options made up, or that a server decides.
fn keeps_no_owners(directory: &OwnedFd) -> bool {
    rustix::fs::fstatfs(directory).is_ok_and(|found| model::machine::keeps_no_owners(found.f_type as u32))
}

/// A directory's path, for messages, and itself.
pub(crate) type Directory<'a> = (&'a Path, BorrowedFd<'a>);

/// How a file is opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Access {
    /// An existing file, to read.
    Read,
    /// An existing file, to overwrite.
    Write,
    /// A new file; what had its name is removed.
    Create,
    /// A file that is made where it is not there, and stays as it is where it is: others write it, too.
    Shared,
}

/// Opens `name` in the directory.
pub(crate) fn open_file(
    (path, directory): (&Path, BorrowedFd<'_>),
    name: &str,
    access: Access,
    direct: bool,
) -> Result<Rc<OwnedFd>, EngineError> {
    let (action, flags) = match access {
        Access::Read => ("open", OFlags::RDONLY),
        Access::Write => ("open", OFlags::WRONLY),
        Access::Create => ("create", OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL),
        Access::Shared => ("create", OFlags::WRONLY | OFlags::CREATE),
    };
    let direct_flag = if direct { OFlags::DIRECT } else { OFlags::empty() };
    let flags = flags | direct_flag | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let open = || openat(directory, name, flags, Mode::from_raw_mode(0o644));
    let opened = match open() {
        // What an earlier work left goes, and whatever else has the name: a link's target is never emptied.
        Err(Errno::EXIST) if access == Access::Create => {
            remove_file((path, directory), name)?;
            open()
        }
        opened => opened,
    };
    match opened {
        Ok(file) => Ok(Rc::new(file)),
        // A filesystem without direct I/O answers EINVAL at open, some in user space ENOTSUP.
        Err(errno @ (Errno::INVAL | Errno::OPNOTSUPP)) if direct => {
            Err(EngineError::DirectRefused { path: path.join(name), errno: errno.raw_os_error() })
        }
        Err(errno) => Err(EngineError::file(action, path.join(name), errno)),
    }
}

/// Opens the device with O_DIRECT: to write only where nobody else holds it, so that a mounted
/// filesystem or a swap area can never be overwritten.
pub(crate) fn open_device(path: &Path, writes: bool) -> Result<Rc<OwnedFd>, EngineError> {
    // O_EXCL without O_CREAT on a block device: EBUSY while it is mounted or otherwise in use.
    let flags = if writes { OFlags::WRONLY | OFlags::EXCL } else { OFlags::RDONLY };
    match open(path, flags | OFlags::DIRECT | OFlags::CLOEXEC, Mode::empty()) {
        Ok(file) => Ok(Rc::new(file)),
        Err(errno) => Err(EngineError::file("open device", path, errno)),
    }
}

/// Removes `name` from the directory; one that is not there is fine.
pub(crate) fn remove_file((path, directory): (&Path, BorrowedFd<'_>), name: &str) -> Result<(), EngineError> {
    match unlinkat(directory, name, AtFlags::empty()) {
        Ok(()) | Err(Errno::NOENT) => Ok(()),
        Err(errno) => Err(EngineError::file("remove", path.join(name), errno)),
    }
}
