//! The FUSE filesystem of one disk, or of several of equal size: a file each.

use fuser::{
    Config, Errno, FileAttr, FileHandle, FileType, Filesystem, FopenFlags, Generation, INodeNo, InitFlags,
    KernelConfig, LockOwner, OpenFlags, ReplyAttr, ReplyData, ReplyEmpty, ReplyEntry, ReplyOpen, ReplyWrite, Request,
    Session, SessionACL, WriteFlags,
};
use rustix::fs::OFlags;
use rustix::mount::{MountFlags, mount};
use std::ffi::{CString, OsStr};
use std::os::fd::{AsRawFd as _, OwnedFd};
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, UNIX_EPOCH};

/// The name of the first disk's file.
pub const FILE: &str = "disk";
const ROOT: u64 = 1;
/// Inode numbers from here on are those of files: that of the disks as they are, and in its last bits which disk it is.
const FIRST: u64 = 2;
const DISK_BITS: u32 = 6;
/// Disks, at most.
pub const MOST_DISKS: u64 = 1 << DISK_BITS;

/// The name of a disk's file, of several.
pub fn file_of(disk: u64) -> String {
    if disk == 0 { FILE.to_owned() } else { format!("{FILE}{disk}") }
}
/// Attributes and names are asked for again each time: the file behind the name changes.
const NEVER_CACHED: Duration = Duration::ZERO;

/// What stands behind the file.
pub trait Disk: Send + Sync + 'static {
    /// Size of all disks in bytes: one lies behind the other.
    fn bytes(&self) -> u64;
    /// How many disks there are, of equal size; at most [`MOST_DISKS`].
    fn disks(&self) -> u64 {
        1
    }
    /// The inode number of the files as they are now, from 2 on; another number is another file, so that nothing the
    /// kernel kept of the one before is taken for this one's.
    fn inode(&self) -> u64;
    /// Reads a range of the file of that inode number.
    ///
    /// # Errors
    /// What the reader is to be told.
    fn read(&self, inode: u64, offset: u64, into: &mut [u8]) -> std::io::Result<()>;
    /// Writes a range.
    ///
    /// # Errors
    /// What the writer is to be told.
    fn write(&self, inode: u64, offset: u64, data: &[u8]) -> std::io::Result<()>;
    /// Zeroes or discards a range.
    ///
    /// # Errors
    /// What the writer is to be told.
    fn zero(&self, inode: u64, offset: u64, bytes: u64) -> std::io::Result<()>;
    /// Empties the cache of one of the disks.
    ///
    /// # Errors
    /// What the writer is to be told.
    fn flush(&self, inode: u64, disk: u64) -> std::io::Result<()>;
}

struct OneFile<D: Disk> {
    disk: Arc<D>,
}

/// Mounts a FUSE filesystem of root's; who has the descriptor serves it. `source`: what the mount table calls it.
///
/// # Errors
/// What the system answers.
pub fn mount_fuse(source: &str, target: &Path) -> std::io::Result<OwnedFd> {
    let device = rustix::fs::open("/dev/fuse", OFlags::RDWR | OFlags::CLOEXEC, rustix::fs::Mode::empty())?;
    let data = format!("fd={},rootmode=40000,user_id=0,group_id=0", device.as_raw_fd());
    let data = CString::new(data).map_err(std::io::Error::other)?;
    let flags = MountFlags::NOSUID | MountFlags::NODEV | MountFlags::NOEXEC;
    mount(source, target, "fuse", flags, Some(data.as_c_str()))?;
    Ok(device)
}

/// Mounts the file's folder and serves it until it is unmounted. `ready` is called once it is mounted.
/// Requests are served by `threads` threads, so that several can be under way, as on a disk.
///
/// # Errors
/// What the system answers.
pub fn mount_and_serve<D: Disk>(
    disk: Arc<D>,
    target: &Path,
    threads: usize,
    ready: impl FnOnce(),
) -> std::io::Result<()> {
    let device = mount_fuse("fairlane", target)?;
    let mut config = Config::default();
    config.n_threads = Some(threads);
    let session = Session::from_fd(OneFile { disk }, device, SessionACL::All, config)?;
    ready();
    session.run()
}

impl<D: Disk> OneFile<D> {
    /// Size of each disk.
    fn bytes_of_each(&self) -> u64 {
        self.disk.bytes() / self.disk.disks().max(1)
    }

    /// The inode number of a disk's file.
    fn inode_of(&self, disk: u64) -> u64 {
        FIRST + (((self.disk.inode() - FIRST) << DISK_BITS) | disk)
    }

    /// Which disks a file is of, as they were, and where among all of them its disk begins.
    fn behind(&self, ino: INodeNo) -> (u64, u64) {
        let number = ino.0.saturating_sub(FIRST);
        (FIRST + (number >> DISK_BITS), (number % MOST_DISKS) * self.bytes_of_each())
    }

    fn attributes(&self, inode: u64) -> FileAttr {
        let root = inode == ROOT;
        FileAttr {
            ino: INodeNo(inode),
            size: if root { 0 } else { self.bytes_of_each() },
            blocks: if root { 0 } else { self.bytes_of_each() / 512 },
            atime: UNIX_EPOCH,
            mtime: UNIX_EPOCH,
            ctime: UNIX_EPOCH,
            crtime: UNIX_EPOCH,
            kind: if root { FileType::Directory } else { FileType::RegularFile },
            perm: if root { 0o500 } else { 0o600 },
            nlink: 1,
            uid: 0,
            gid: 0,
            rdev: 0,
            blksize: 4096,
            flags: 0,
        }
    }
}

fn errno(error: &std::io::Error) -> Errno {
    Errno::from_i32(error.raw_os_error().unwrap_or(libc::EIO))
}

fn answer(result: std::io::Result<()>, reply: ReplyEmpty) {
    match result {
        Ok(()) => reply.ok(),
        Err(error) => reply.error(errno(&error)),
    }
}

impl<D: Disk> Filesystem for OneFile<D> {
    fn init(&mut self, _: &Request, config: &mut KernelConfig) -> std::io::Result<()> {
        // Without it a loop device never has more than one write in flight. An older kernel lacks it: then
        // fewer orders of writes are seen, which the tests of the log would not notice.
        let _ = config.add_capabilities(InitFlags::FUSE_ASYNC_DIO);
        let _ = config.set_max_background(64);
        Ok(())
    }

    fn lookup(&self, _: &Request, parent: INodeNo, name: &OsStr, reply: ReplyEntry) {
        let disk = (0..self.disk.disks()).find(|&disk| name == file_of(disk).as_str());
        match disk.filter(|_| parent.0 == ROOT) {
            Some(disk) => reply.entry(&NEVER_CACHED, &self.attributes(self.inode_of(disk)), Generation(0)),
            None => reply.error(Errno::ENOENT),
        }
    }

    fn getattr(&self, _: &Request, ino: INodeNo, _: Option<FileHandle>, reply: ReplyAttr) {
        reply.attr(&NEVER_CACHED, &self.attributes(ino.0));
    }

    fn open(&self, _: &Request, ino: INodeNo, _: OpenFlags, reply: ReplyOpen) {
        let flags = FopenFlags::FOPEN_DIRECT_IO | FopenFlags::FOPEN_PARALLEL_DIRECT_WRITES | FopenFlags::FOPEN_NOFLUSH;
        reply.opened(FileHandle(ino.0), flags);
    }

    fn flush(&self, _: &Request, _: INodeNo, _: FileHandle, _: LockOwner, reply: ReplyEmpty) {
        // A close is no flush of the disk.
        reply.ok();
    }

    fn read(
        &self,
        _: &Request,
        ino: INodeNo,
        _: FileHandle,
        offset: u64,
        size: u32,
        _: OpenFlags,
        _: Option<LockOwner>,
        reply: ReplyData,
    ) {
        let left = self.bytes_of_each().saturating_sub(offset);
        let mut buffer = vec![0; u64::from(size).min(left) as usize];
        let (inode, start) = self.behind(ino);
        match self.disk.read(inode, start + offset, &mut buffer) {
            Ok(()) => reply.data(&buffer),
            Err(error) => reply.error(errno(&error)),
        }
    }

    fn write(
        &self,
        _: &Request,
        ino: INodeNo,
        _: FileHandle,
        offset: u64,
        data: &[u8],
        _: WriteFlags,
        _: OpenFlags,
        _: Option<LockOwner>,
        reply: ReplyWrite,
    ) {
        let (inode, start) = self.behind(ino);
        if offset.checked_add(data.len() as u64).is_none_or(|end| end > self.bytes_of_each()) {
            return reply.error(Errno::EFBIG);
        }
        match self.disk.write(inode, start + offset, data) {
            Ok(()) => reply.written(data.len() as u32),
            Err(error) => reply.error(errno(&error)),
        }
    }

    fn fsync(&self, _: &Request, ino: INodeNo, _: FileHandle, _: bool, reply: ReplyEmpty) {
        let (inode, start) = self.behind(ino);
        answer(self.disk.flush(inode, start / self.bytes_of_each().max(1)), reply);
    }

    fn fallocate(
        &self,
        _: &Request,
        ino: INodeNo,
        _: FileHandle,
        offset: u64,
        length: u64,
        mode: i32,
        reply: ReplyEmpty,
    ) {
        let zeroing = mode & (libc::FALLOC_FL_PUNCH_HOLE | libc::FALLOC_FL_ZERO_RANGE) != 0;
        let inside = offset.checked_add(length).is_some_and(|end| end <= self.bytes_of_each());
        let (inode, start) = self.behind(ino);
        match zeroing && inside {
            true => answer(self.disk.zero(inode, start + offset, length), reply),
            false => reply.error(Errno::EOPNOTSUPP),
        }
    }
}
