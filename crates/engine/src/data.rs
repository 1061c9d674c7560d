//! What is written.
//!
//! A pool of chunks is filled once and made new before each write by a random word in every 4 KiB;
//! see [`crate::buffers`] for why. Where that is not enough (blocks that vary in length, blocks that
//! repeat on purpose), each block is copied from a source that is as long as the pool would be.

mod mixture;

use crate::buffers::{MOST_SPREAD_CHUNKS, Memory, SPREAD_BYTES};
use crate::error::EngineError;
use crate::marked::{MOST_CHUNKS, Marks};
use crate::pattern::below;
use mixture::Recipe;
use model::job::{Data, Direction, Io};
use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use std::collections::VecDeque;
use std::rc::Rc;

/// The block that filesystems deduplicate by: each gets a word of its own.
pub(crate) const UNIT_BYTES: usize = 4096;
pub(crate) const WORD_BYTES: usize = 8;
/// Blocks that are repeated on purpose: the first unique ones that were written.
const REPEATED_BLOCKS: usize = 1024;
/// What a seed is mixed with, so that contents and places of one seed share no random numbers.
const CONTENTS_STREAM: u64 = 0xb10c_da7a;

/// The chunks of one worker, and what its writes hold.
#[derive(Debug)]
pub struct Contents {
    memory: Rc<Memory>,
    /// Chunks for writes come first; the others are for reads.
    writes: u32,
    free: VecDeque<u32>,
    free_for_reads: VecDeque<u32>,
    random: Xoshiro256PlusPlus,
    data: Data,
    seed: u64,
    renewal: Renewal,
    /// How blocks say where they belong; `None`: they do not.
    marks: Option<Marks>,
}

/// How a chunk is made new.
#[derive(Debug)]
enum Renewal {
    /// It stays as it is.
    None,
    /// A word in every unit.
    EveryUnit,
    /// Words at these places, each with its length.
    At(Vec<(u32, u32)>),
    /// The block is copied from the source.
    Copied(Box<Source>),
}

/// Where blocks are copied from.
#[derive(Debug)]
struct Source {
    bytes: Vec<u8>,
    at: usize,
    zeros: Option<Zeros>,
    repeats: Option<Repeats>,
}

/// `percent` of every `chunk` bytes are zeros, at its end.
#[derive(Debug, Clone, Copy)]
struct Zeros {
    percent: usize,
    /// 0: the block.
    chunk: usize,
}

/// Blocks that come again.
#[derive(Debug)]
struct Repeats {
    percent: u64,
    unit: usize,
    blocks: Vec<u8>,
}

impl Contents {
    /// Chunks of `largest_block` bytes for writes, `depth` of them in flight. `dedupe_percentage` of
    /// the 4 KiB blocks (of smaller blocks where those are smaller) repeat one of the first 1024
    /// unique ones. The same seed gives the same contents.
    ///
    /// Blocks shorter than `largest_block` are possible; the first of them makes a source of
    /// 4 MiB and a block.
    /// [`Contents::for_job`] does that beforehand.
    ///
    /// # Errors
    /// [`EngineError::Memory`] where the memory is not to be had.
    pub fn new(
        data: &Data,
        dedupe_percentage: u32,
        largest_block: u64,
        depth: u32,
        seed: u64,
    ) -> Result<Contents, EngineError> {
        Self::make(data, dedupe_percentage, largest_block, (depth, 0), seed)
    }

    /// What a job needs: chunks for its writes, others for its reads, so that what was read is never
    /// written, and a source where its blocks vary in length.
    ///
    /// # Errors
    /// [`EngineError::Memory`] where the memory is not to be had.
    pub fn for_job(io: &Io, seed: u64) -> Result<Contents, EngineError> {
        let depth = |wanted: bool| if wanted { io.iodepth.max(1) } else { 0 };
        // Trims take chunks too: they only name the operation.
        let in_flight = (depth(io.rw.writes() || io.rw.trims()), depth(io.rw.reads()));
        let largest = io.largest_block().0;
        let mut contents = Self::make(&io.data, io.dedupe_percentage, largest, in_flight, seed)?;
        let writes = io.blocks(Direction::Write);
        if io.rw.writes() && (writes.smallest() != writes.largest() || writes.largest().0 != largest) {
            contents.copy_from_now_on();
        }
        Ok(contents)
    }

    fn make(
        data: &Data,
        dedupe_percentage: u32,
        largest_block: u64,
        (writes, reads): (u32, u32),
        seed: u64,
    ) -> Result<Contents, EngineError> {
        let constant = matches!(data, Data::Zero | Data::Pattern(_) | Data::Compress(100.., _));
        let copied = dedupe_percentage > 0 && !constant;
        let spread = (SPREAD_BYTES / largest_block.max(1)).min(MOST_SPREAD_CHUNKS);
        let spread = if constant || copied || writes == 0 { 0 } else { spread as u32 };
        let writes = writes.max(spread);
        let memory = Memory::map(largest_block, u64::from(writes) + u64::from(reads))?;
        let mut contents = Contents {
            memory,
            writes,
            free: VecDeque::with_capacity(writes as usize),
            free_for_reads: VecDeque::with_capacity(reads as usize),
            random: Xoshiro256PlusPlus::seed_from_u64(seed ^ CONTENTS_STREAM),
            data: data.clone(),
            seed,
            renewal: Renewal::None,
            marks: None,
        };
        contents.free_all();
        if copied {
            contents.copy_from_now_on();
            contents.repeat(dedupe_percentage);
        } else if writes > 0 {
            contents.fill();
        }
        Ok(contents)
    }

    /// Fills the chunks for writes, once.
    fn fill(&mut self) {
        let chunk = self.memory.chunk_bytes();
        let total = chunk * self.writes as usize;
        let (start, _) = self.memory.whole();
        // SAFETY: the chunks for writes lie together at the start of the mapping, which was just
        // made and which nobody else uses yet; all bytes are valid as u8.
        let bytes = unsafe { std::slice::from_raw_parts_mut(start, total) };
        let random = &mut self.random;
        self.renewal = match &self.data {
            Data::Zero | Data::Compress(100.., _) => Renewal::None,
            Data::Pattern(pattern) => {
                for block in bytes.chunks_mut(chunk) {
                    block.iter_mut().zip(pattern.iter().cycle()).for_each(|(byte, of)| *byte = *of);
                }
                Renewal::None
            }
            Data::Incompressible => {
                random.fill_bytes(bytes);
                Renewal::EveryUnit
            }
            Data::Ratio16 | Data::Ratio27 => {
                mixture_of(&self.data, bytes, chunk, random);
                Renewal::EveryUnit
            }
            Data::Compress(percent, of) => {
                random.fill_bytes(bytes);
                let zeros = Zeros { percent: *percent as usize, chunk: *of as usize };
                bytes.chunks_mut(chunk).for_each(|block| zeros.lay(block));
                let unit = |at| zeros.word(at, chunk).map(|(at, count)| (at as u32, count as u32));
                Renewal::At((0..chunk).step_by(UNIT_BYTES).filter_map(unit).collect())
            }
        };
    }

    /// From now on blocks are copied from a source, so that blocks of any length follow each other
    /// in it and none comes again within [`SPREAD_BYTES`].
    #[cold]
    fn copy_from_now_on(&mut self) {
        let constant = matches!(self.data, Data::Zero | Data::Pattern(_) | Data::Compress(100.., _));
        if constant || matches!(self.renewal, Renewal::Copied(_)) {
            return;
        }
        let mut random = Xoshiro256PlusPlus::seed_from_u64(self.seed ^ CONTENTS_STREAM ^ SPREAD_BYTES);
        // A block that does not fit behind the others begins at the start again: what it leaves out
        // must not shorten the spread.
        let length = SPREAD_BYTES as usize + self.memory.chunk_bytes().next_multiple_of(UNIT_BYTES);
        let mut bytes = vec![0; length];
        let mut zeros = None;
        match &self.data {
            Data::Ratio16 | Data::Ratio27 => mixture_of(&self.data, &mut bytes, UNIT_BYTES, &mut random),
            data => {
                if let Data::Compress(percent, chunk) = data {
                    zeros = Some(Zeros { percent: *percent as usize, chunk: *chunk as usize });
                }
                random.fill_bytes(&mut bytes);
            }
        }
        self.renewal = Renewal::Copied(Box::new(Source { bytes, at: 0, zeros, repeats: None }));
    }

    fn repeat(&mut self, percent: u32) {
        let unit = UNIT_BYTES.min(self.memory.chunk_bytes());
        if let Renewal::Copied(source) = &mut self.renewal {
            let blocks = Vec::with_capacity(unit * REPEATED_BLOCKS);
            source.repeats = Some(Repeats { percent: u64::from(percent.min(100)), unit, blocks });
            // So that a block of 4 KiB is a whole number of chunks of zeros, wherever it lies.
            if let Some(zeros) = &mut source.zeros {
                zeros.chunk = if zeros.chunk == 0 { unit } else { zeros.chunk.min(unit) };
            }
        }
    }

    /// The memory, for the engine.
    pub fn memory(&self) -> &Rc<Memory> {
        &self.memory
    }

    /// Takes the chunk for a write (or a trim) that has been free for longest.
    ///
    /// # Panics
    /// When more chunks are taken than are in flight by design.
    #[inline]
    pub fn take(&mut self) -> u32 {
        self.free.pop_front().expect("as many chunks as writes in flight")
    }

    /// Takes a chunk for a read; only in contents made by [`Contents::for_job`] of a job that reads.
    ///
    /// # Panics
    /// When more chunks are taken than are in flight by design.
    #[inline]
    pub fn take_for_read(&mut self) -> u32 {
        self.free_for_reads.pop_front().expect("as many chunks as reads in flight")
    }

    /// Gives back a chunk that was taken and whose operation has completed.
    #[inline]
    pub fn give_back(&mut self, chunk: u32) {
        if chunk < self.writes {
            self.free.push_back(chunk);
        } else {
            self.free_for_reads.push_back(chunk);
        }
    }

    /// Every chunk is free again: after an error, once nothing is in flight any more.
    pub fn free_all(&mut self) {
        self.free.clear();
        self.free.extend(0..self.writes);
        self.free_for_reads.clear();
        self.free_for_reads.extend(self.writes..self.memory.chunks());
    }

    /// Makes the first `bytes` of the chunk new. The chunk must be taken and not yet in flight.
    #[inline]
    pub fn renew(&mut self, chunk: u32, bytes: u32) {
        let whole = self.memory.chunk_bytes();
        let length = (bytes as usize).min(whole);
        if length < whole && matches!(self.renewal, Renewal::EveryUnit | Renewal::At(_)) {
            self.copy_from_now_on();
        }
        // SAFETY: length <= chunk_bytes, so the slice lies within the chunk, which its taker alone
        // holds; all bytes are initialised.
        let block = unsafe { std::slice::from_raw_parts_mut(self.memory.chunk(chunk), length) };
        match &mut self.renewal {
            Renewal::None => {}
            Renewal::EveryUnit => {
                for unit in block.chunks_mut(UNIT_BYTES) {
                    stamp(unit, &mut self.random);
                }
            }
            Renewal::At(places) => {
                for &(at, count) in places.iter() {
                    stamp(&mut block[at as usize..(at + count) as usize], &mut self.random);
                }
            }
            Renewal::Copied(source) => source.copy(block, &mut self.random),
        }
    }

    /// From now on [`Contents::renew_at`] puts words into blocks that say where they belong, in the place of random ones; only
    /// where nothing compresses or repeats, and chunks are few enough.
    pub(crate) fn mark(&mut self, marks: Marks) {
        let can = matches!(self.renewal, Renewal::EveryUnit) && self.writes <= MOST_CHUNKS;
        self.marks = Some(marks).filter(|_| can && self.data == Data::Incompressible);
    }

    /// As [`Contents::renew`], for a block that is going to be written at this offset of a file.
    #[inline]
    pub(crate) fn renew_at(&mut self, chunk: u32, bytes: u32, (file, offset): (u32, u64)) {
        let Some(marks) = self.marks.filter(|_| bytes as usize == self.memory.chunk_bytes()) else {
            return self.renew(chunk, bytes);
        };
        // SAFETY: the slice is the chunk, which its taker alone holds; all bytes are initialised.
        let block = unsafe { std::slice::from_raw_parts_mut(self.memory.chunk(chunk), bytes as usize) };
        let mut at = offset;
        for unit in block.chunks_mut(UNIT_BYTES) {
            put(unit, marks.word(chunk, (file, at), self.random.next_u64()));
            at += UNIT_BYTES as u64;
        }
    }

    /// What blocks are copies of that name this chunk; `None`: there is no such chunk for writes.
    pub(crate) fn chunk_for_writes(&self, chunk: u32) -> Option<&[u8]> {
        (chunk < self.writes).then(|| self.bytes(chunk))
    }

    /// The chunk's bytes; the borrow of `self` keeps them from being renewed meanwhile. The chunk
    /// must not be in flight.
    pub fn bytes(&self, chunk: u32) -> &[u8] {
        // SAFETY: the chunk lies within the mapping, all bytes are initialised (the kernel zeroes
        // new pages), and no operation on it is in flight.
        unsafe { std::slice::from_raw_parts(self.memory.chunk(chunk), self.memory.chunk_bytes()) }
    }

    /// The chunk's bytes for a call that fills them. The chunk must not be in flight.
    pub fn bytes_mut(&mut self, chunk: u32) -> &mut [u8] {
        // SAFETY: as `bytes`; the exclusive borrow of the pool keeps any other access away.
        unsafe { std::slice::from_raw_parts_mut(self.memory.chunk(chunk), self.memory.chunk_bytes()) }
    }
}

/// A random word over the first bytes, as many as fit.
#[inline]
fn stamp(bytes: &mut [u8], random: &mut impl Rng) {
    put(bytes, random.next_u64().to_le_bytes());
}

/// A word over the first bytes, as many as fit.
#[inline]
fn put(bytes: &mut [u8], word: [u8; WORD_BYTES]) {
    match bytes.first_chunk_mut::<WORD_BYTES>() {
        Some(first) => *first = word,
        None => bytes.copy_from_slice(&word[..bytes.len()]),
    }
}

/// Fills `bytes` for a preset, for blocks of `chunk` bytes.
fn mixture_of(data: &Data, bytes: &mut [u8], chunk: usize, random: &mut impl Rng) {
    let recipe: &Recipe = if *data == Data::Ratio16 { &mixture::RATIO_16 } else { &mixture::RATIO_27 };
    // Blocks smaller than a unit share one, so that there is something to repeat.
    // Repeats that reach out of the compressor's own window would be lost to it.
    let unit = if chunk < UNIT_BYTES { UNIT_BYTES / chunk * chunk } else { chunk.min(mixture::FARTHEST) };
    mixture::fill(bytes, unit, chunk, recipe, random);
}

impl Zeros {
    /// Length of the chunks in a block of `block` bytes, and how many bytes of each are random.
    #[inline]
    fn parts(self, block: usize) -> (usize, usize) {
        let chunk = if self.chunk == 0 { block.max(1) } else { self.chunk };
        (chunk, chunk * (100 - self.percent) / 100)
    }

    /// Lays the zeros into a block.
    #[inline]
    fn lay(self, block: &mut [u8]) {
        let (chunk, random) = self.parts(block.len());
        for part in block.chunks_mut(chunk) {
            // The last part may be shorter: it has its own share.
            let random = if part.len() == chunk { random } else { part.len() * (100 - self.percent) / 100 };
            part[random..].fill(0);
        }
    }

    /// Place and length of the first random word in the unit at `at` of a block of `block` bytes.
    #[inline]
    fn word(self, at: usize, block: usize) -> Option<(usize, usize)> {
        let (chunk, _) = self.parts(block);
        let end = (at + UNIT_BYTES).min(block);
        let mut from = at;
        while from < end {
            let start = from / chunk * chunk;
            let random = (block - start).min(chunk) * (100 - self.percent) / 100;
            if from < start + random {
                return Some((from, WORD_BYTES.min(start + random - from).min(end - from)));
            }
            from = start + chunk;
        }
        None
    }
}

impl Source {
    /// Fills the block with what follows in the source.
    #[inline]
    fn copy(&mut self, block: &mut [u8], random: &mut impl Rng) {
        if let Some(repeats) = &mut self.repeats {
            for unit in block.chunks_mut(repeats.unit) {
                if repeats.again(unit, random) {
                    continue;
                }
                fresh(&self.bytes, &mut self.at, self.zeros, unit, random);
                repeats.keep(unit);
            }
        } else {
            fresh(&self.bytes, &mut self.at, self.zeros, block, random);
        }
    }
}

/// Copies from the source and makes it new. Each copy begins at a whole unit of the source.
#[inline]
fn fresh(source: &[u8], at: &mut usize, zeros: Option<Zeros>, block: &mut [u8], random: &mut impl Rng) {
    if *at + block.len() > source.len() {
        *at = 0;
    }
    block.copy_from_slice(&source[*at..*at + block.len()]);
    *at += block.len().next_multiple_of(UNIT_BYTES);
    match zeros {
        None => block.chunks_mut(UNIT_BYTES).for_each(|unit| stamp(unit, random)),
        Some(zeros) => {
            zeros.lay(block);
            for unit in (0..block.len()).step_by(UNIT_BYTES) {
                if let Some((at, count)) = zeros.word(unit, block.len()) {
                    stamp(&mut block[at..at + count], random);
                }
            }
        }
    }
}

impl Repeats {
    /// Fills the unit with an earlier one where it is due.
    #[inline]
    fn again(&self, unit: &mut [u8], random: &mut impl Rng) -> bool {
        let due = unit.len() == self.unit && !self.blocks.is_empty() && below(random, 100) < self.percent;
        if due {
            let held = (self.blocks.len() / self.unit) as u64;
            let at = below(random, held) as usize * self.unit;
            unit.copy_from_slice(&self.blocks[at..at + self.unit]);
        }
        due
    }

    /// Remembers one of the first unique units; the room for them was made beforehand.
    #[inline]
    fn keep(&mut self, unit: &[u8]) {
        if unit.len() == self.unit && self.blocks.len() < self.unit * REPEATED_BLOCKS {
            self.blocks.extend_from_slice(unit);
        }
    }
}

#[cfg(test)]
mod tests;
