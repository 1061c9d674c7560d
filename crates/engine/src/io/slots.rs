//! The files of a queue by slot, and the calls on them that several engines make in the same way.

use super::OperationFlags;
use crate::error::EngineError;
use rustix::fs::{FallocateFlags, FileType, Mode, OFlags, fallocate, fcntl_getfl, fdatasync, fstat, fsync};
use rustix::io::{Errno, ReadWriteFlags, preadv2, retry_on_intr};
use std::cell::Cell;
use std::io::IoSliceMut;
use std::os::fd::{AsRawFd, BorrowedFd, OwnedFd};
use std::rc::Rc;

/// `BLKDISCARD` of linux/fs.h: `_IO(0x12, 119)`.
const BLKDISCARD: libc::Ioctl = 0x1277;
/// RWF_DONTCACHE of linux/fs.h, from Linux 6.14.
pub(super) const RWF_DONTCACHE: u32 = 0x80;
/// Far behind the end of any file, and no overflow: a read there moves nothing.
const BEHIND_EVERY_END: u64 = 1 << 62;

/// What stands in a slot, as far as anyone asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Unknown,
    File,
    Device,
}

/// The files by slot. An empty slot has descriptor -1, which the kernel answers with EBADF.
#[derive(Debug)]
pub(super) struct Slots {
    files: Vec<Option<Rc<OwnedFd>>>,
    descriptors: Vec<i32>,
    kinds: Vec<Cell<Kind>>,
}

impl Slots {
    pub(super) fn new(files: Vec<Option<Rc<OwnedFd>>>) -> Self {
        let descriptors: Vec<i32> = files.iter().map(descriptor_of).collect();
        let kinds = vec![Cell::new(Kind::Unknown); files.len()];
        Slots { files, descriptors, kinds }
    }

    /// Descriptors by slot, -1 where a slot is empty.
    pub(super) fn descriptors(&self) -> &[i32] {
        &self.descriptors
    }

    /// The files that are there.
    pub(super) fn present(&self) -> impl Iterator<Item = &Rc<OwnedFd>> {
        self.files.iter().flatten()
    }

    /// Whether any slot holds a file.
    pub(super) fn any(&self) -> bool {
        self.files.iter().any(Option::is_some)
    }

    /// The file in the slot.
    pub(super) fn get(&self, slot: u32) -> Option<Rc<OwnedFd>> {
        self.files.get(slot as usize)?.clone()
    }

    /// The descriptor, or -1.
    #[inline]
    pub(super) fn descriptor(&self, slot: u32) -> i32 {
        self.descriptors.get(slot as usize).copied().unwrap_or(-1)
    }

    /// The file as one that calls take.
    #[inline]
    pub(super) fn borrow(&self, slot: u32) -> Result<BorrowedFd<'_>, Errno> {
        match self.descriptor(slot) {
            -1 => Err(Errno::BADF),
            // SAFETY: the descriptor is that of the file that `self.files` keeps open in this slot,
            // and the borrow of `self` keeps it there.
            descriptor => Ok(unsafe { BorrowedFd::borrow_raw(descriptor) }),
        }
    }

    /// Puts another file into the slot; the one that was there is let go, so nothing may go by its
    /// number any more.
    pub(super) fn set(&mut self, slot: u32, file: Option<Rc<OwnedFd>>) {
        let slot = slot as usize;
        self.descriptors[slot] = descriptor_of(&file);
        self.kinds[slot].set(Kind::Unknown);
        self.files[slot] = file;
    }

    /// Whether the slot holds a block device; asked once per file.
    pub(super) fn is_device(&self, slot: u32) -> Result<bool, Errno> {
        let file = self.borrow(slot)?;
        let kind = &self.kinds[slot as usize];
        if kind.get() == Kind::Unknown {
            let device = FileType::from_raw_mode(fstat(file)?.st_mode) == FileType::BlockDevice;
            kind.set(if device { Kind::Device } else { Kind::File });
        }
        Ok(kind.get() == Kind::Device)
    }

    /// Discards a range: a hole in a file, BLKDISCARD on a device, where a hole would only write
    /// zeros. Answers 0.
    pub(super) fn discard(&self, slot: u32, offset: u64, bytes: u32) -> Result<usize, Errno> {
        let file = self.borrow(slot)?;
        if !self.is_device(slot)? {
            let hole = FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE;
            return retry_on_intr(|| fallocate(file, hole, offset, u64::from(bytes))).map(|()| 0);
        }
        let range = [offset, u64::from(bytes)];
        // SAFETY: BLKDISCARD reads two u64, start and length, from the address, which outlives the call.
        match unsafe { libc::ioctl(file.as_raw_fd(), BLKDISCARD, range.as_ptr()) } {
            0 => Ok(0),
            _ => Err(last_errno()),
        }
    }

    /// `fsync`, or `fdatasync` where `data_only`. Answers 0.
    pub(super) fn sync(&self, slot: u32, data_only: bool) -> Result<usize, Errno> {
        let file = self.borrow(slot)?;
        retry_on_intr(|| if data_only { fdatasync(file) } else { fsync(file) }).map(|()| 0)
    }
}

fn descriptor_of(file: &Option<Rc<OwnedFd>>) -> i32 {
    file.as_ref().map_or(-1, |file| file.as_raw_fd())
}

/// The errno of a call of libc that just failed.
pub(super) fn last_errno() -> Errno {
    let errno = std::io::Error::last_os_error().raw_os_error().unwrap_or(libc::EIO);
    Errno::from_raw_os_error(errno)
}

/// A completion's result: bytes, or the negated errno.
#[inline]
pub(super) fn result_of(result: Result<usize, Errno>) -> i32 {
    match result {
        Ok(moved) => moved as i32,
        Err(errno) => -errno.raw_os_error(),
    }
}

/// Whether the file was opened with O_DIRECT.
pub(super) fn is_direct(file: &OwnedFd) -> bool {
    fcntl_getfl(file).is_ok_and(|flags| flags.contains(OFlags::DIRECT))
}

/// Path of an open file, for messages.
pub(super) fn path_of(file: &OwnedFd) -> String {
    match rustix::fs::readlink(format!("/proc/self/fd/{}", file.as_raw_fd()), Vec::new()) {
        Ok(path) => path.to_string_lossy().into_owned(),
        Err(_) => "the file".to_owned(),
    }
}

/// Asks the kernel and the filesystem of `file`, without moving a byte, whether they know the flags.
pub(super) fn probe(file: &OwnedFd, flags: OperationFlags) -> Result<(), EngineError> {
    if !flags.uncached || read_behind_the_end(file, RWF_DONTCACHE) != Err(Errno::OPNOTSUPP) {
        return Ok(());
    }
    Err(EngineError::Unsuitable(format!(
        "the kernel or the filesystem of {} refuses RWF_DONTCACHE; set uncached = false, or take Linux 6.14 or later \
         and a filesystem that supports it, such as ext4 or xfs",
        path_of(file)
    )))
}

fn read_behind_the_end(file: &OwnedFd, flags: u32) -> Result<usize, Errno> {
    let flags = ReadWriteFlags::from_bits_retain(flags);
    let mut byte = [0; 1];
    let mut read = |file: BorrowedFd<'_>| preadv2(file, &mut [IoSliceMut::new(&mut byte)], BEHIND_EVERY_END, flags);
    match read(std::os::fd::AsFd::as_fd(file)) {
        // Opened to write only. Where it may not be opened to read either, nothing is known.
        Err(Errno::BADF) => {
            let path = format!("/proc/self/fd/{}", file.as_raw_fd());
            let again = rustix::fs::open(path, OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty())?;
            read(std::os::fd::AsFd::as_fd(&again))
        }
        answer => answer,
    }
}
