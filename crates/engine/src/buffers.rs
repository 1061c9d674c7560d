//! The bytes that are written and the room that reads fill.
//!
//! Data is incompressible and never repeats, because zeros, compressible or equal data flatter
//! filesystems and drives that compress or deduplicate. Filling every buffer with new random bytes
//! before each write would cost more than the write, so a pool is filled with random bytes once,
//! and
//! - each chunk is used again only after all others, and all together hold [`SPREAD_BYTES`] at
//!   least: a compressor that looks at less than that (btrfs: 128 KiB) does not meet the same bytes
//!   twice in data written in sequence, and hardly ever in data written at random;
//! - before each write a new random word goes into every 4 KiB of the chunk, so that no two blocks
//!   that a deduplicating filesystem compares are equal.

use crate::error::EngineError;
use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use rustix::mm::{Advice, MapFlags, ProtFlags, madvise, mmap_anonymous, munmap};
use rustix::param::page_size;
use std::collections::VecDeque;
use std::ops::{Deref, DerefMut};
use std::ptr::NonNull;
use std::rc::Rc;

/// Bytes of data that differ from each other: well over the 1 MiB that the largest common
/// compression unit (a ZFS record) looks at.
pub(crate) const SPREAD_BYTES: u64 = 4 << 20;
/// A huge page where pages have 4 KiB. Where they have 16 or 64 KiB (ARM) a huge page has 32 or 512 MiB, which no
/// buffer fills, but 2 MiB is what one entry of the TLB covers when pages lie together (the contiguous bit of the
/// page table: 128 pages of 16 KiB, 32 of 64 KiB), so that it is the right alignment there too.
const HUGE_PAGE_BYTES: u64 = 2 << 20;
/// Most chunks for the sake of the spread, so that the bookkeeping for tiny blocks stays small.
pub(crate) const MOST_SPREAD_CHUNKS: u64 = 32_768;
/// One random word per so many bytes: the block that filesystems deduplicate by.
const STAMP_EVERY_BYTES: usize = 4096;
/// What a seed is mixed with, so that contents and offsets of one seed share no random numbers.
const CONTENTS_STREAM: u64 = 0xb10c_da7a;

/// Page-aligned memory cut into chunks of equal length. It is shared with the I/O engine, which
/// hands its addresses to the kernel, and is unmapped when the last holder is gone.
#[derive(Debug)]
pub struct Memory {
    mapping: NonNull<u8>,
    mapped_bytes: usize,
    start: NonNull<u8>,
    total_bytes: usize,
    chunk_bytes: usize,
    chunks: u32,
}

impl Memory {
    pub(crate) fn map(chunk_bytes: u64, chunks: u64) -> Result<Rc<Memory>, EngineError> {
        Memory::new(chunk_bytes, chunks).map(Rc::new)
    }

    fn new(chunk_bytes: u64, chunks: u64) -> Result<Memory, EngineError> {
        let total = chunk_bytes.saturating_mul(chunks).checked_next_multiple_of(HUGE_PAGE_BYTES).unwrap_or(u64::MAX);
        let mapped = total.saturating_add(HUGE_PAGE_BYTES);
        let error = |errno| EngineError::Memory { bytes: total, errno };
        let mapped_bytes = usize::try_from(mapped).map_err(|_| error(libc::ENOMEM))?;
        let chunks = u32::try_from(chunks).map_err(|_| error(libc::ENOMEM))?;
        // SAFETY: a new private anonymous mapping at an address of the kernel's choice touches no
        // memory that anyone holds.
        let mapping = unsafe {
            mmap_anonymous(std::ptr::null_mut(), mapped_bytes, ProtFlags::READ | ProtFlags::WRITE, MapFlags::PRIVATE)
        }
        .map_err(|errno| error(errno.raw_os_error()))?;
        let mapping: NonNull<u8> = NonNull::new(mapping.cast()).ok_or_else(|| error(libc::ENOMEM))?;
        let skip = mapping.align_offset(HUGE_PAGE_BYTES as usize);
        // SAFETY: the mapping is one huge page longer than `total`, and `skip` is less than that.
        let start = unsafe { mapping.add(skip) };
        let memory = Memory {
            mapping,
            mapped_bytes,
            start,
            total_bytes: total as usize,
            chunk_bytes: chunk_bytes as usize,
            chunks,
        };
        memory.settle().map_err(|errno| error(errno.raw_os_error()))?;
        Ok(memory)
    }

    /// Takes the pages now, not in a measured window, and in huge pages where the kernel has them.
    /// Pages that lie scattered make a large request up to a third slower at the device than pages
    /// that lie together, and which ones a process gets is luck: that luck would be taken for the
    /// lane's speed.
    fn settle(&self) -> rustix::io::Result<()> {
        let start = self.start.as_ptr().cast();
        // SAFETY: advice about our own mapping changes no contents. A kernel without huge pages
        // refuses it, and goes on with small ones.
        let _ = unsafe { madvise(start, self.total_bytes, Advice::LinuxHugepage) };
        // SAFETY: as above; it only takes the pages.
        match unsafe { madvise(start, self.total_bytes, Advice::LinuxPopulateWrite) } {
            // Before Linux 5.14: touch them.
            Err(rustix::io::Errno::INVAL) => {
                for page in (0..self.total_bytes).step_by(page_size()) {
                    // SAFETY: within the mapping, which nobody else holds yet.
                    unsafe { self.start.as_ptr().add(page).write_volatile(0) };
                }
                Ok(())
            }
            result => result,
        }
    }

    /// Address of a chunk.
    ///
    /// # Panics
    /// When there is no such chunk.
    #[inline]
    pub fn chunk(&self, number: u32) -> *mut u8 {
        assert!(number < self.chunks, "chunk {number} of {}", self.chunks);
        // SAFETY: number < chunks, and chunks * chunk_bytes lie within the one mapping.
        unsafe { self.start.as_ptr().add(number as usize * self.chunk_bytes) }
    }

    /// Bytes in one chunk.
    pub fn chunk_bytes(&self) -> usize {
        self.chunk_bytes
    }

    /// Number of chunks.
    pub fn chunks(&self) -> u32 {
        self.chunks
    }

    /// The whole mapping, for registering it with the kernel.
    pub fn whole(&self) -> (*mut u8, usize) {
        (self.start.as_ptr(), self.total_bytes)
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        // SAFETY: the mapping was made by `map` with this address and length, and this was its last
        // holder: engines keep their own `Rc` until the kernel has answered every operation.
        // munmap of a whole mapping cannot fail.
        let _ = unsafe { munmap(self.mapping.as_ptr().cast(), self.mapped_bytes) };
    }
}

/// Bytes of one owner, in huge pages and taken when they are made. Memory from the heap lies in whatever pages a process
/// gets, and one process read up to a quarter slower from the page cache than another, for as long as it lived (method 1.3).
#[derive(Debug, Default)]
pub(crate) struct Room(Option<Memory>);

// SAFETY: the memory has one owner, and nothing of it is bound to a thread.
unsafe impl Send for Room {}
// SAFETY: as above; behind a shared reference it is only read.
unsafe impl Sync for Room {}

impl Room {
    /// So many bytes.
    ///
    /// # Errors
    /// [`EngineError::Memory`] where the memory is not to be had.
    pub(crate) fn new(bytes: usize) -> Result<Self, EngineError> {
        Memory::new(bytes as u64, 1).map(|memory| Room(Some(memory)))
    }
}

impl Deref for Room {
    type Target = [u8];

    #[inline]
    fn deref(&self) -> &[u8] {
        match &self.0 {
            // SAFETY: so many bytes are mapped there, they are initialised, and nobody else holds them.
            Some(memory) => unsafe { std::slice::from_raw_parts(memory.start.as_ptr(), memory.chunk_bytes) },
            None => &[],
        }
    }
}

impl DerefMut for Room {
    #[inline]
    fn deref_mut(&mut self) -> &mut [u8] {
        match &self.0 {
            // SAFETY: as above.
            Some(memory) => unsafe { std::slice::from_raw_parts_mut(memory.start.as_ptr(), memory.chunk_bytes) },
            None => &mut [],
        }
    }
}

/// The chunks of one workload: which are free, and what the next write holds.
#[derive(Debug)]
pub struct Buffers {
    memory: Rc<Memory>,
    free: VecDeque<u32>,
    stamps: Xoshiro256PlusPlus,
}

impl Buffers {
    /// Room for reads: as many chunks as are in flight, used again at once so that the processor's
    /// caches keep them.
    ///
    /// # Errors
    /// [`EngineError::Memory`] where the memory is not to be had.
    pub fn for_reads(block_bytes: u64, in_flight: u32) -> Result<Self, EngineError> {
        let memory = Memory::map(block_bytes, u64::from(in_flight))?;
        Ok(Self::over(memory, 0))
    }

    /// Incompressible data for writes, the same for the same seed.
    ///
    /// # Errors
    /// [`EngineError::Memory`] where the memory is not to be had.
    pub fn for_writes(block_bytes: u64, in_flight: u32, seed: u64) -> Result<Self, EngineError> {
        let spread = (SPREAD_BYTES / block_bytes).min(MOST_SPREAD_CHUNKS);
        let memory = Memory::map(block_bytes, u64::from(in_flight).max(spread))?;
        let mut buffers = Self::over(memory, seed);
        let (start, total_bytes) = buffers.memory.whole();
        // SAFETY: the mapping was just made, nobody else holds it, and all bytes are valid as u8.
        let bytes = unsafe { std::slice::from_raw_parts_mut(start, total_bytes) };
        buffers.stamps.fill_bytes(bytes);
        Ok(buffers)
    }

    fn over(memory: Rc<Memory>, seed: u64) -> Self {
        let free = (0..memory.chunks).collect();
        Buffers { memory, free, stamps: Xoshiro256PlusPlus::seed_from_u64(seed ^ CONTENTS_STREAM) }
    }

    /// The memory, for the engine.
    pub fn memory(&self) -> &Rc<Memory> {
        &self.memory
    }

    /// Takes the chunk that has been free for longest.
    ///
    /// # Panics
    /// When more chunks are taken than are in flight by design.
    #[inline]
    pub fn take(&mut self) -> u32 {
        self.free.pop_front().expect("as many chunks as operations in flight")
    }

    /// Gives back a chunk that [`Buffers::take`] gave and whose operation has completed.
    #[inline]
    pub fn give_back(&mut self, chunk: u32) {
        self.free.push_back(chunk);
    }

    /// Every chunk is free again: after an error, once nothing is in flight any more.
    pub fn free_all(&mut self) {
        self.free.clear();
        self.free.extend(0..self.memory.chunks);
    }

    /// Makes the chunk's contents new: one random word in every 4 KiB. The chunk must be taken and
    /// not yet in flight.
    #[inline]
    pub fn renew(&mut self, chunk: u32) {
        let (start, bytes) = (self.memory.chunk(chunk), self.memory.chunk_bytes);
        let mut at = 0;
        while at < bytes {
            let word = self.stamps.next_u64().to_le_bytes();
            let count = word.len().min(bytes - at);
            // SAFETY: at + count <= chunk_bytes, so the target lies within the chunk, which its
            // taker alone holds; the source is a local array of 8 bytes and count <= 8.
            unsafe { std::ptr::copy_nonoverlapping(word.as_ptr(), start.add(at), count) };
            at += STAMP_EVERY_BYTES;
        }
    }

    /// Writes `word` over the chunk's first bytes, as many as fit.
    pub fn set_head(&mut self, chunk: u32, word: u64) {
        let word = word.to_le_bytes();
        let count = word.len().min(self.memory.chunk_bytes);
        // SAFETY: count bytes fit into the chunk, which its taker alone holds.
        unsafe { std::ptr::copy_nonoverlapping(word.as_ptr(), self.memory.chunk(chunk), count) };
    }

    /// The chunk's bytes; the borrow of `self` keeps them from being renewed meanwhile. The chunk
    /// must not be in flight.
    pub fn bytes(&self, chunk: u32) -> &[u8] {
        // SAFETY: the chunk lies within the mapping, all bytes are initialised (the kernel zeroes
        // new pages), and no operation on it is in flight.
        unsafe { std::slice::from_raw_parts(self.memory.chunk(chunk), self.memory.chunk_bytes) }
    }

    /// The chunk's bytes for a call that fills them. The chunk must not be in flight.
    pub fn bytes_mut(&mut self, chunk: u32) -> &mut [u8] {
        // SAFETY: as `bytes`; the exclusive borrow of the pool keeps any other access away.
        unsafe { std::slice::from_raw_parts_mut(self.memory.chunk(chunk), self.memory.chunk_bytes) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    fn writes(buffers: &mut Buffers, count: usize) -> Vec<Vec<u8>> {
        let mut written = Vec::new();
        for _ in 0..count {
            let chunk = buffers.take();
            buffers.renew(chunk);
            written.push(buffers.bytes(chunk).to_vec());
            buffers.give_back(chunk);
        }
        written
    }

    #[test]
    fn no_word_comes_twice_within_four_mebibytes_of_writes() {
        let mut buffers = Buffers::for_writes(4096, 1, 5).unwrap();
        let bytes = writes(&mut buffers, 1024).concat();
        let words: HashSet<&[u8]> = bytes.chunks(8).collect();
        assert_eq!(words.len(), bytes.len() / 8);
    }

    #[test]
    fn no_block_of_4_kib_is_ever_written_twice() {
        for block_bytes in [512, 4096, 10_000, 1 << 20] {
            let mut buffers = Buffers::for_writes(block_bytes, 1, 5).unwrap();
            let mut seen = HashSet::new();
            // Well over one turn through the pool.
            for written in writes(&mut buffers, (10 << 20) / block_bytes as usize) {
                for block in written.chunks(4096).filter(|block| block.len() >= 8) {
                    assert!(seen.insert(block.to_vec()), "bs {block_bytes}");
                }
            }
        }
    }

    #[test]
    fn data_is_close_to_eight_bits_per_byte() {
        let mut buffers = Buffers::for_writes(128 * 1024, 2, 9).unwrap();
        let bytes = writes(&mut buffers, 8).concat();
        let mut counts = [0f64; 256];
        bytes.iter().for_each(|byte| counts[usize::from(*byte)] += 1.0);
        let total = bytes.len() as f64;
        let entropy: f64 = counts.iter().map(|count| -count / total * (count / total).log2()).sum();
        assert!(entropy > 7.99, "{entropy}");
    }

    #[test]
    fn the_seed_alone_decides_the_contents() {
        let first = |seed| writes(&mut Buffers::for_writes(4096, 4, seed).unwrap(), 3);
        assert_eq!(first(1), first(1));
        assert_ne!(first(1), first(2));
    }

    #[test]
    fn blocks_smaller_than_a_word_are_filled_too() {
        let mut buffers = Buffers::for_writes(3, 1, 1).unwrap();
        let written = writes(&mut buffers, 50);
        assert!(written.iter().all(|bytes| bytes.len() == 3));
        assert!(written.iter().collect::<HashSet<_>>().len() > 40);
    }

    #[test]
    fn memory_that_is_not_there_is_refused() {
        let error = Buffers::for_reads(1 << 40, 4096).unwrap_err();
        assert!(error.to_string().contains("lower iodepth or bs"), "{error}");
    }
}
