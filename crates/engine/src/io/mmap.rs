//! Loads and stores on mapped files: a page fault where the page cache lacks the page, else a copy.
//!
//! The kernel cannot answer a load or store that it cannot fulfil with an errno: it sends SIGBUS.
//! That happens where a file is cut while it is mapped, where a read from the disk fails, and where
//! a store meets a hole and the filesystem is full. So the size is asked for before anything is
//! mapped, nothing behind it is touched, and holes are reserved before the first store. What is left
//! ends the process with one sentence and [`BUS_ERROR_EXIT_CODE`].

use super::slots::{Slots, is_direct, path_of, result_of};
use super::{Action, Completion, Operation, Queue, Setup, refuse_sqthread_poll};
use crate::buffers::Memory;
use crate::error::EngineError;
use rustix::fs::{FallocateFlags, SeekFrom, fallocate, fstat, seek};
use rustix::io::Errno;
use rustix::mm::{MapFlags, MsyncFlags, ProtFlags, mmap, msync, munmap};
use rustix::param::page_size;
use std::os::fd::OwnedFd;
use std::ptr::NonNull;
use std::rc::Rc;
use std::sync::Once;

/// What the process exits with where a mapped file cannot be read or written (SIGBUS): 128 and the
/// signal's number, as shells say it, though the process ends by itself.
pub const BUS_ERROR_EXIT_CODE: i32 = 128 + libc::SIGBUS;

const BUS_ERROR_SENTENCE: &[u8] = b"fairlane: I/O engine mmap got SIGBUS: a mapped file was cut, its disk failed, \
or its filesystem is full; give the lane more space or set ioengine = \"sync\"\n";

/// A file in memory, from its start to the size that it had.
#[derive(Debug)]
struct Mapping {
    start: NonNull<u8>,
    bytes: usize,
}

impl Mapping {
    fn new(file: &OwnedFd, bytes: usize, writes: bool) -> Result<Self, Errno> {
        let mut protection = ProtFlags::READ;
        protection.set(ProtFlags::WRITE, writes);
        // SAFETY: a new mapping at an address of the kernel's choice touches no memory that anyone
        // holds. It is only ever used through raw pointers, so that others may change the file.
        let start = unsafe { mmap(std::ptr::null_mut(), bytes, protection, MapFlags::SHARED, file, 0) }?;
        NonNull::new(start.cast()).map(|start| Mapping { start, bytes }).ok_or(Errno::NOMEM)
    }

    /// `msync` of the pages that hold the range: what `fdatasync` does, for that range.
    fn sync(&self, offset: usize, bytes: usize) -> Result<(), Errno> {
        let from = page_of(offset, page_size());
        // SAFETY: from <= offset and offset + bytes <= self.bytes, so the range lies within the
        // mapping; msync changes no memory.
        unsafe { msync(self.start.as_ptr().add(from).cast(), offset + bytes - from, MsyncFlags::SYNC) }
    }
}

/// Where the page that holds a byte begins: msync takes whole pages alone.
fn page_of(offset: usize, page_bytes: usize) -> usize {
    offset - offset % page_bytes
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: the mapping was made with this address and length, and no reference into it lives.
        let _ = unsafe { munmap(self.start.as_ptr().cast(), self.bytes) };
    }
}

struct Mmap {
    slots: Slots,
    /// By slot; `None` also for an empty file.
    mappings: Vec<Option<Mapping>>,
    memory: Rc<Memory>,
    writes: bool,
    next: Option<Operation>,
    notes: Vec<String>,
}

pub(super) fn open(setup: Setup) -> Result<Box<dyn Queue>, EngineError> {
    if setup.depth != 1 {
        return Err(EngineError::Unsuitable(format!(
            "I/O engine mmap keeps one operation in flight, not {}; set iodepth = 1 or ioengine = \"io_uring\"",
            setup.depth
        )));
    }
    refuse_sqthread_poll("mmap", setup.flags)?;
    if setup.flags.uncached || setup.flags.dsync || setup.flags.hipri {
        return Err(EngineError::Unsuitable(
            "loads and stores on mapped files carry no flags; take uncached, rwf_dsync and hipri out or set ioengine = \
             \"sync\""
                .to_owned(),
        ));
    }
    say_what_a_bus_error_means();
    let mut queue = Mmap {
        mappings: setup.files.iter().map(|_| None).collect(),
        slots: Slots::new(setup.files.iter().map(|_| None).collect()),
        memory: setup.memory,
        writes: setup.writes,
        next: None,
        notes: Vec::new(),
    };
    for (slot, file) in setup.files.into_iter().enumerate() {
        queue.put(slot as u32, file)?;
    }
    Ok(Box::new(queue))
}

/// SIGBUS ends the process with one sentence instead of without a word.
fn say_what_a_bus_error_means() {
    extern "C" fn handler(_signal: libc::c_int) {
        // SAFETY: write and _exit are async-signal-safe, and the sentence is a constant.
        unsafe {
            libc::write(libc::STDERR_FILENO, BUS_ERROR_SENTENCE.as_ptr().cast(), BUS_ERROR_SENTENCE.len());
            libc::_exit(BUS_ERROR_EXIT_CODE);
        }
    }
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        // SAFETY: all zeros is a valid sigaction, filled in before the call, which copies it; the
        // handler makes async-signal-safe calls only.
        unsafe {
            let mut action: libc::sigaction = std::mem::zeroed();
            action.sa_sigaction = handler as *const () as libc::sighandler_t;
            action.sa_flags = libc::SA_ONSTACK;
            libc::sigaction(libc::SIGBUS, &raw const action, std::ptr::null_mut());
        }
    });
}

/// Bytes of a file or a device.
fn size_of_file(file: &OwnedFd, device: bool) -> Result<u64, Errno> {
    if device { seek(file, SeekFrom::End(0)) } else { Ok(fstat(file)?.st_size as u64) }
}

impl Mmap {
    fn put(&mut self, slot: u32, file: Option<Rc<OwnedFd>>) -> Result<(), EngineError> {
        self.mappings[slot as usize] = None;
        if let Some(file) = &file
            && is_direct(file)
        {
            return Err(EngineError::Unsuitable(format!(
                "{} is opened with O_DIRECT, and a mapped file goes through the page cache; set direct = false or \
                 ioengine = \"sync\"",
                path_of(file)
            )));
        }
        self.slots.set(slot, file.clone());
        let Some(file) = file else { return Ok(()) };
        self.map(slot, &file).map_err(|errno| {
            let remedy = match errno {
                Errno::ACCESS => "; a mapped file must be opened to read and write",
                Errno::NOSPC | Errno::DQUOT => "; its holes do not fit into the filesystem, lower size",
                Errno::NODEV => "; this filesystem maps no files, set ioengine = \"sync\"",
                _ => "",
            };
            EngineError::Unsuitable(format!("cannot map {}: {errno}{remedy}", path_of(&file)))
        })
    }

    /// Maps what the file is now.
    fn map(&mut self, slot: u32, file: &OwnedFd) -> Result<(), Errno> {
        self.mappings[slot as usize] = None;
        let device = self.slots.is_device(slot)?;
        let bytes = size_of_file(file, device)?;
        if bytes == 0 {
            return Ok(());
        }
        if self.writes && !device {
            self.reserve_holes(file, bytes)?;
        }
        let bytes = usize::try_from(bytes).map_err(|_| Errno::OVERFLOW)?;
        self.mappings[slot as usize] = Some(Mapping::new(file, bytes, self.writes)?);
        Ok(())
    }

    /// A store into a hole of a full filesystem is a SIGBUS: take the space now, where there are
    /// holes and the filesystem can.
    fn reserve_holes(&mut self, file: &OwnedFd, bytes: u64) -> Result<(), Errno> {
        if fstat(file)?.st_blocks as u64 * 512 >= bytes {
            return Ok(());
        }
        match fallocate(file, FallocateFlags::KEEP_SIZE, 0, bytes) {
            Ok(()) => self.note("mmap reserved the holes of files that it writes"),
            Err(Errno::OPNOTSUPP | Errno::NOSYS) => {
                self.note(
                    "mmap writes into holes: this filesystem cannot reserve them, and ends the run where it is full",
                );
            }
            Err(errno) => return Err(errno),
        }
        Ok(())
    }

    fn note(&mut self, text: &str) {
        if !self.notes.iter().any(|note| note == text) {
            self.notes.push(text.to_owned());
        }
    }

    /// The file has grown, maybe: maps it again where it has.
    #[cold]
    fn look_again(&mut self, slot: u32) -> Result<(), Errno> {
        let file = self.slots.get(slot).ok_or(Errno::BADF)?;
        let mapped = self.mappings[slot as usize].as_ref().map_or(0, |mapping| mapping.bytes as u64);
        if size_of_file(&file, self.slots.is_device(slot)?)? != mapped {
            self.map(slot, &file)?;
        }
        Ok(())
    }

    /// Copies as many bytes as the file has at the place: the count, and the address in the mapping.
    #[inline]
    fn reach(&mut self, operation: Operation) -> Result<(*mut u8, usize), Errno> {
        let end = operation.offset.checked_add(u64::from(operation.bytes)).ok_or(Errno::OVERFLOW)?;
        let slot = operation.file as usize;
        match self.mappings.get(slot) {
            Some(Some(mapping)) if end <= mapping.bytes as u64 => {}
            _ => self.look_again(operation.file)?,
        }
        let Some(mapping) = &self.mappings[slot] else { return Ok((NonNull::dangling().as_ptr(), 0)) };
        let there = (mapping.bytes as u64).saturating_sub(operation.offset).min(u64::from(operation.bytes));
        // SAFETY: offset + there <= mapping.bytes where there > 0; otherwise the address is not used,
        // and the start itself is taken.
        let at = unsafe { mapping.start.as_ptr().add(if there > 0 { operation.offset as usize } else { 0 }) };
        Ok((at, there as usize))
    }

    #[inline]
    fn run(&mut self, operation: Operation) -> Result<usize, Errno> {
        let chunk = self.memory.chunk(operation.chunk);
        debug_assert!(operation.bytes as usize <= self.memory.chunk_bytes(), "an operation fits into its chunk");
        match operation.action {
            Action::Read => {
                let (at, count) = self.reach(operation)?;
                // SAFETY: count bytes are mapped at `at` and belong to the chunk, which is this
                // operation's alone; the two mappings do not overlap.
                unsafe { std::ptr::copy_nonoverlapping(at, chunk, count) };
                Ok(count)
            }
            Action::Write | Action::WriteAndSync => {
                if !self.writes {
                    return Err(Errno::BADF);
                }
                let (at, count) = self.reach(operation)?;
                // SAFETY: as above, and the mapping may be written.
                unsafe { std::ptr::copy_nonoverlapping(chunk, at, count) };
                if operation.action == Action::WriteAndSync
                    && count == operation.bytes as usize
                    && let Some(mapping) = &self.mappings[operation.file as usize]
                {
                    mapping.sync(operation.offset as usize, count)?;
                }
                Ok(count)
            }
            Action::Trim => self.slots.discard(operation.file, operation.offset, operation.bytes),
            // Linux knows which pages were stored to, so that each of these is one call, one flush:
            // msync first would flush the disk twice.
            Action::Fsync => self.slots.sync(operation.file, false),
            Action::Fdatasync => match self.mappings.get(operation.file as usize) {
                Some(Some(mapping)) => mapping.sync(0, mapping.bytes).map(|()| 0),
                _ => self.slots.sync(operation.file, true),
            },
        }
    }
}

impl Queue for Mmap {
    fn performs(&self) -> bool {
        true
    }

    #[inline]
    fn perform(&mut self, operation: Operation) -> i32 {
        result_of(self.run(operation))
    }

    #[inline]
    fn queue(&mut self, operation: Operation) -> Result<(), EngineError> {
        debug_assert!(self.next.is_none(), "depth 1");
        self.next = Some(operation);
        Ok(())
    }

    #[inline]
    fn reap(&mut self, _least: u32, completions: &mut Vec<Completion>) -> Result<(), EngineError> {
        if let Some(operation) = self.next.take() {
            completions.push(Completion { chunk: operation.chunk, result: result_of(self.run(operation)) });
        }
        Ok(())
    }

    fn poll(&mut self, completions: &mut Vec<Completion>) -> Result<(), EngineError> {
        self.reap(0, completions)
    }

    fn reap_until(&mut self, _nanoseconds: u64, completions: &mut Vec<Completion>) -> Result<(), EngineError> {
        self.reap(1, completions)
    }

    fn set_file(&mut self, slot: u32, file: Option<Rc<OwnedFd>>) -> Result<(), EngineError> {
        debug_assert!(self.next.is_none(), "a queued operation would change its file");
        self.put(slot, file)
    }

    fn notes(&self) -> &[String] {
        &self.notes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_begin_where_a_page_of_any_size_begins() {
        for page_bytes in [4096, 16_384, 65_536] {
            for offset in [0, 1, 4095, 4096, 65_535, 65_536, 200_000] {
                let from = page_of(offset, page_bytes);
                assert!(
                    from.is_multiple_of(page_bytes) && from <= offset && offset - from < page_bytes,
                    "{offset} {page_bytes}"
                );
            }
        }
    }
}
