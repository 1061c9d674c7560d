//! AxVisor's filesystem, the crate rsext4: the agent is the filesystem, the lane is its disk.

mod disk;
mod mounted;
#[cfg(test)]
mod tests;

use super::backend::{Access, FileCalls, Status};
use crate::error::EngineError;
use disk::{Disk, SECTOR_BYTES};
use model::agent::LibraryTarget;
use mounted::Mounted;
use rsext4::{Ext4Error, Ext4ErrorKind, Ext4Result, InodeNumber};
use rustix::fs::{FileType, Mode, OFlags, SeekFrom, fstat, open, seek};
use rustix::io::Errno;
use std::ffi::CStr;
use std::path::Path;
use std::sync::atomic::{AtomicI32, Ordering};
use std::sync::{Arc, Mutex};

/// Most that one name holds in bytes.
const NAME_BYTES: usize = 255;

/// An in-process filesystem, mounted until [`Library::unmount`]. Clones are the same mount: threads
/// take turns in it, as the crate asks of whoever embeds it.
#[derive(Clone)]
pub struct Library {
    path: Arc<Path>,
    journal: bool,
    disk: Disk,
    mounted: Arc<Mutex<Option<Mounted>>>,
}

impl std::fmt::Debug for Library {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Library").field("path", &self.path).field("journal", &self.journal).finish()
    }
}

impl Library {
    /// Opens the device where nobody else holds it, formats it where the target says so, and mounts
    /// what it holds.
    ///
    /// # Errors
    /// Where there is no such library or option, the device cannot be opened, or the library refuses
    /// what it holds.
    pub fn open(target: &LibraryTarget) -> Result<Library, EngineError> {
        if target.filesystem != "rsext4" {
            return Err(EngineError::Unsuitable(format!(
                "{} is not built in as a library; rsext4 is",
                target.filesystem
            )));
        }
        let journal = journal_of(&target.options)?;
        let path = &target.device;
        let error = |errno| EngineError::file("open device", path, errno);
        // O_EXCL: EBUSY while the device is mounted or otherwise in use. On a file it says nothing.
        let file = open(path, OFlags::RDWR | OFlags::EXCL | OFlags::CLOEXEC, Mode::empty()).map_err(error)?;
        let kind = FileType::from_raw_mode(fstat(&file).map_err(error)?.st_mode);
        if !matches!(kind, FileType::BlockDevice | FileType::RegularFile) {
            return Err(EngineError::Unsuitable(format!(
                "{} is neither a block device nor a file; name one such as /dev/loop0",
                model::text::escaped_path(path)
            )));
        }
        let sectors = seek(&file, SeekFrom::End(0)).map_err(error)? / u64::from(SECTOR_BYTES);
        let disk = Disk { file: Arc::new(file), sectors, fault: Arc::new(AtomicI32::new(0)) };
        let refused = |action: &str, error: Ext4Error| {
            let remedy = if target.format {
                "raise --lane-size or look at the kernel's log (dmesg)"
            } else {
                "look at it with e2fsck -fn"
            };
            EngineError::Unsuitable(format!(
                "rsext4 cannot {action} {}: {}; {remedy}",
                model::text::escaped_path(path),
                mounted::words(error)
            ))
        };
        if target.format {
            mounted::format(disk.clone()).map_err(|error| refused("format", error))?;
        }
        let mounted = Mounted::mount(disk.clone(), journal).map_err(|error| refused("mount", error))?;
        Ok(Library { path: path.as_path().into(), journal, disk, mounted: Arc::new(Mutex::new(Some(mounted))) })
    }

    /// The block device or file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Everything written so far is stable on the device.
    ///
    /// # Errors
    /// What the library or the device answers.
    pub fn sync(&self) -> Result<(), EngineError> {
        self.with(Mounted::sync).map_err(|errno| EngineError::file("sync rsext4 on", &*self.path, errno))
    }

    /// Writes everything, marks the filesystem clean and lets it go: every later call on a clone is
    /// refused. The device closes with the last clone.
    ///
    /// # Errors
    /// What the library or the device answers; what it had not written is lost then.
    pub fn unmount(&self) -> Result<(), EngineError> {
        let taken = self.mounted.lock().ok().and_then(|mut mounted| mounted.take());
        let Some(mut mounted) = taken else { return Ok(()) };
        let unmounted = match mounted.unmount() {
            // Dropped without an unmount and mounted again, it replays its journal, which frees them.
            Err(error) if mounted::wants_replay(error) => mounted
                .sync()
                .and_then(|()| {
                    drop(mounted);
                    Mounted::mount(self.disk.clone(), self.journal)
                })
                .and_then(|mut again| again.unmount()),
            answer => answer,
        };
        unmounted.map_err(|error| {
            EngineError::Unsuitable(format!(
                "rsext4 cannot unmount {}: {}; look at it with e2fsck -fn",
                model::text::escaped_path(&self.path),
                mounted::words(error)
            ))
        })?;
        self.disk.sync().map_err(|errno| EngineError::file("sync", &*self.path, errno))
    }

    /// Calls of files below a folder of the filesystem; the empty folder is its root.
    pub(crate) fn calls(&self, folder: &str) -> Rsext4Calls {
        Rsext4Calls { library: self.clone(), folder: folder.as_bytes().to_vec(), first: Vec::new(), second: Vec::new() }
    }

    /// Makes the folder, empty, and answers calls below it. What lies there is removed.
    ///
    /// # Errors
    /// What the library answers.
    pub(crate) fn calls_in_new(&self, folder: &str) -> Result<Rsext4Calls, EngineError> {
        let path = format!("/{folder}").into_bytes();
        let made = self.with(|mounted| {
            if mounted.find(&path).is_ok() {
                remove_tree(mounted, &path)?;
            }
            mounted.make_directory(&path)
        });
        made.map_err(|errno| EngineError::file("create directory", format!("/{folder}"), errno))?;
        Ok(self.calls(folder))
    }

    #[inline]
    fn with<T>(&self, work: impl FnOnce(&mut Mounted) -> Ext4Result<T>) -> Result<T, Errno> {
        // Poisoned: a call panicked half-way, and nobody knows what it left.
        let mut mounted = self.mounted.lock().map_err(|_| Errno::IO)?;
        let mounted = mounted.as_mut().ok_or(Errno::NODEV)?;
        work(mounted).map_err(|error| errno_of(error, &self.disk))
    }
}

/// A directory with all that is in it.
fn remove_tree(mounted: &mut Mounted, path: &[u8]) -> Ext4Result<()> {
    let mut names: Vec<Vec<u8>> = Vec::new();
    mounted.list(path, &mut |name| names.push(name.to_vec()))?;
    for name in names {
        let child = [path, b"/", &name].concat();
        if mounted.find(&child)?.1.is_directory {
            remove_tree(mounted, &child)?;
        } else {
            mounted.unlink(&child)?;
        }
    }
    mounted.remove_directory(path)
}

/// Whether the options ask for a journal; the last word counts, and without one there is none.
fn journal_of(options: &[String]) -> Result<bool, EngineError> {
    let mut journal = false;
    for option in options {
        journal = match option.as_str() {
            "journal" => true,
            "nojournal" => false,
            other => {
                return Err(EngineError::Unsuitable(format!(
                    "rsext4 has no option {}; it takes journal or nojournal",
                    model::text::escaped(other.as_bytes())
                )));
            }
        };
    }
    Ok(journal)
}

/// The crate's errors as the kernel would say them.
fn errno_of(error: Ext4Error, disk: &Disk) -> Errno {
    match error.kind() {
        Ext4ErrorKind::Io => match disk.fault.load(Ordering::Relaxed) {
            0 => Errno::IO,
            errno => Errno::from_raw_os_error(errno),
        },
        Ext4ErrorKind::Corrupted
        | Ext4ErrorKind::ChecksumMismatch
        | Ext4ErrorKind::BadSuperblock
        | Ext4ErrorKind::InvalidMagic => Errno::UCLEAN,
        Ext4ErrorKind::UnsupportedFeature | Ext4ErrorKind::UnsupportedCapability | Ext4ErrorKind::Unsupported => {
            Errno::OPNOTSUPP
        }
        Ext4ErrorKind::ReadOnly | Ext4ErrorKind::JournalAborted => Errno::ROFS,
        Ext4ErrorKind::NoSpace => Errno::NOSPC,
        Ext4ErrorKind::NoMemory => Errno::NOMEM,
        Ext4ErrorKind::QuotaExceeded => Errno::DQUOT,
        Ext4ErrorKind::TooManyLinks => Errno::MLINK,
        Ext4ErrorKind::PermissionDenied => Errno::PERM,
        Ext4ErrorKind::NotFound => Errno::NOENT,
        Ext4ErrorKind::AlreadyExists => Errno::EXIST,
        Ext4ErrorKind::NotDirectory => Errno::NOTDIR,
        Ext4ErrorKind::IsDirectory => Errno::ISDIR,
        Ext4ErrorKind::NotEmpty => Errno::NOTEMPTY,
        Ext4ErrorKind::Busy => Errno::BUSY,
        Ext4ErrorKind::BadFileDescriptor => Errno::BADF,
        Ext4ErrorKind::InvalidInput => Errno::INVAL,
        Ext4ErrorKind::Overflow => Errno::OVERFLOW,
        Ext4ErrorKind::FileTooLarge => Errno::FBIG,
        Ext4ErrorKind::Timeout => Errno::TIMEDOUT,
    }
}

/// Calls on the library's files. One per thread.
#[derive(Debug)]
pub(crate) struct Rsext4Calls {
    library: Library,
    /// Where paths begin, from the root.
    folder: Vec<u8>,
    /// Room for whole paths.
    first: Vec<u8>,
    second: Vec<u8>,
}

/// An open file: the library has no descriptors.
#[derive(Debug)]
pub(crate) struct Rsext4File {
    inode: InodeNumber,
    append: bool,
}

/// The path from the root on, in room that is used again.
#[inline]
fn whole<'r>(room: &'r mut Vec<u8>, folder: &[u8], path: &CStr) -> Result<&'r [u8], Errno> {
    room.clear();
    for part in [folder, path.to_bytes()] {
        room.push(b'/');
        room.extend_from_slice(part);
    }
    let name = room.rsplit(|byte| *byte == b'/').next().unwrap_or_default();
    if name.len() > NAME_BYTES { Err(Errno::NAMETOOLONG) } else { Ok(room) }
}

impl FileCalls for Rsext4Calls {
    type File = Rsext4File;

    #[inline]
    fn open(&mut self, path: &CStr, access: Access) -> Result<Rsext4File, Errno> {
        let path = whole(&mut self.first, &self.folder, path)?;
        let inode = self.library.with(|mounted| match access {
            Access::New => mounted.create(path),
            Access::Read | Access::Write | Access::Append => match mounted.find(path)? {
                (_, Status { is_directory: true, .. }) => Err(Ext4Error::is_dir()),
                (inode, _) => Ok(inode),
            },
        })?;
        Ok(Rsext4File { inode, append: access == Access::Append })
    }

    #[inline]
    fn read(&mut self, file: &mut Rsext4File, room: &mut [u8], offset: u64) -> Result<usize, Errno> {
        self.library.with(|mounted| mounted.read(file.inode, offset, room))
    }

    #[inline]
    fn write(&mut self, file: &mut Rsext4File, bytes: &[u8], offset: u64) -> Result<usize, Errno> {
        self.library.with(|mounted| {
            let offset = if file.append { mounted.size(file.inode)? } else { offset };
            mounted.write(file.inode, offset, bytes)
        })?;
        Ok(bytes.len())
    }

    fn truncate(&mut self, file: &mut Rsext4File, size: u64) -> Result<(), Errno> {
        self.library.with(|mounted| mounted.truncate(file.inode, size))
    }

    fn allocate(&mut self, file: &mut Rsext4File, offset: u64, bytes: u64) -> Result<(), Errno> {
        self.library.with(|mounted| mounted.allocate(file.inode, offset, bytes))
    }

    /// The library makes everything stable or nothing.
    fn sync(&mut self, _file: &mut Rsext4File) -> Result<(), Errno> {
        self.library.with(Mounted::sync)
    }

    #[inline]
    fn close(&mut self, _file: Rsext4File) -> Result<(), Errno> {
        Ok(())
    }

    #[inline]
    fn stat(&mut self, path: &CStr) -> Result<Status, Errno> {
        let path = whole(&mut self.first, &self.folder, path)?;
        self.library.with(|mounted| mounted.find(path)).map(|(_, status)| status)
    }

    fn links(&mut self, path: &CStr) -> Result<u64, Errno> {
        let path = whole(&mut self.first, &self.folder, path)?;
        self.library.with(|mounted| mounted.links(path))
    }

    fn read_link(&mut self, path: &CStr, room: &mut [u8]) -> Result<usize, Errno> {
        let path = whole(&mut self.first, &self.folder, path)?;
        self.library.with(|mounted| {
            // What is read of the inode of a link is its target.
            let (link, _) = mounted.find(path)?;
            mounted.read(link, 0, room)
        })
    }

    fn list(&mut self, path: &CStr, entry: &mut dyn FnMut(&[u8])) -> Result<(), Errno> {
        let path = whole(&mut self.first, &self.folder, path)?;
        self.library.with(|mounted| mounted.list(path, entry))
    }

    fn rename(&mut self, from: &CStr, to: &CStr) -> Result<(), Errno> {
        let from = whole(&mut self.first, &self.folder, from)?;
        let to = whole(&mut self.second, &self.folder, to)?;
        self.library.with(|mounted| mounted.rename(from, to))
    }

    fn link(&mut self, from: &CStr, to: &CStr) -> Result<(), Errno> {
        let from = whole(&mut self.first, &self.folder, from)?;
        let to = whole(&mut self.second, &self.folder, to)?;
        self.library.with(|mounted| mounted.link(from, to))
    }

    fn symlink(&mut self, target: &CStr, path: &CStr) -> Result<(), Errno> {
        let path = whole(&mut self.first, &self.folder, path)?;
        self.library.with(|mounted| mounted.symlink(target.to_bytes(), path))
    }

    /// ext4 shares no blocks.
    fn reflink(&mut self, _from: &CStr, _to: &CStr) -> Result<(), Errno> {
        Err(Errno::OPNOTSUPP)
    }

    fn set_xattr(&mut self, path: &CStr, name: &CStr, value: &[u8]) -> Result<(), Errno> {
        let path = whole(&mut self.first, &self.folder, path)?;
        let name = name.to_bytes().strip_prefix(b"user.").ok_or(Errno::OPNOTSUPP)?;
        self.library.with(|mounted| mounted.set_xattr(path, name, value))
    }

    fn get_xattr(&mut self, path: &CStr, name: &CStr, room: &mut [u8]) -> Result<usize, Errno> {
        let path = whole(&mut self.first, &self.folder, path)?;
        let name = name.to_bytes().strip_prefix(b"user.").ok_or(Errno::OPNOTSUPP)?;
        let value = self.library.with(|mounted| mounted.get_xattr(path, name))?;
        room.get_mut(..value.len()).ok_or(Errno::RANGE)?.copy_from_slice(&value);
        Ok(value.len())
    }

    fn unlink(&mut self, path: &CStr) -> Result<(), Errno> {
        let path = whole(&mut self.first, &self.folder, path)?;
        self.library.with(|mounted| mounted.unlink(path))
    }

    fn make_directory(&mut self, path: &CStr) -> Result<(), Errno> {
        let path = whole(&mut self.first, &self.folder, path)?;
        self.library.with(|mounted| mounted.make_directory(path))
    }

    fn remove_directory(&mut self, path: &CStr) -> Result<(), Errno> {
        let path = whole(&mut self.first, &self.folder, path)?;
        self.library.with(|mounted| mounted.remove_directory(path))
    }

    fn sync_directory(&mut self, _path: &CStr) -> Result<(), Errno> {
        self.library.with(Mounted::sync)
    }

    fn sync_all(&mut self) -> Result<(), Errno> {
        self.library.with(Mounted::sync)
    }
}
