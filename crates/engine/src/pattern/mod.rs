//! Where the next operation goes, in which direction, and how long it is.
//!
//! The semantics are those of fio 3.33, with these particulars:
//! - An operation begins as long as bytes of the loop are left; the last one may pass the end of
//!   the loop's bytes, never that of a file.
//! - Sequential reads and writes of a mixed job have positions of their own; random ones share the
//!   record of visited blocks.
//! - Blocks of one size are visited in the order of a permutation that needs no
//!   memory; others by a bitmap, where an operation that meets a visited block is shortened. Only
//!   where each direction of a mixture has one size of its own does it keep to it and to multiples of
//!   it, over blocks that the other direction has visited.
//! - With `blockalign`, or a distribution other than `random`, blocks may repeat and be missed.
//! - A trimwrite trims and writes with the block sizes of writes; both count as bytes of the loop.

mod bijection;
mod choice;
mod draw;
mod free_map;
mod general;
mod sizes;
#[cfg(test)]
mod tests;

use crate::error::EngineError;
use bijection::Bijection;
pub(crate) use draw::below;
use general::General;
use model::job::{BlockSizes, Direction, Distribution, Io, Pattern};
use rand_core::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;

/// What a seed is mixed with, so that places and contents of one seed share no random numbers.
const PLACES_STREAM: u64 = 0x0ff5_e750;
/// The same for directions, so that a mix changes no places.
const MIX_STREAM: u64 = 0xd12e_c710;

/// One operation's place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Span {
    /// Number of the file, from 0, in the order given to [`Places::new`].
    pub file: u32,
    /// Offset in the file, in bytes.
    pub offset: u64,
    /// Length in bytes, from 1.
    pub bytes: u32,
    /// What is done there.
    pub direction: Direction,
}

/// One worker's sequence of places: a function of the job, the files and the seed only, hence the
/// same in every lane.
#[derive(Debug, Clone)]
pub struct Places {
    kind: Kind,
    loop_bytes: u64,
}

/// The common patterns on one file with one block size stand alone; all else is general.
#[derive(Debug, Clone)]
enum Kind {
    Sequential(Sequential),
    Shuffled(Shuffled),
    Uniform(Uniform),
    General(Box<General>),
}

/// Whole blocks of one file, evenly spaced.
#[derive(Debug, Clone, Copy)]
struct Blocks {
    start: u64,
    bytes: u32,
    /// Bytes from the start of one to that of the next.
    stride: u64,
    /// How many there are.
    count: u64,
    /// Operations of one loop.
    per_loop: u64,
    /// Operations left in this one.
    left: u64,
}

#[derive(Debug, Clone)]
struct Sequential {
    blocks: Blocks,
    direction: Direction,
    next: u64,
    end: u64,
}

#[derive(Debug, Clone)]
struct Shuffled {
    blocks: Blocks,
    mix: Mix,
    order: Bijection,
    next: u64,
    again: Again,
}

#[derive(Debug, Clone)]
struct Uniform {
    blocks: Blocks,
    mix: Mix,
    again: Again,
}

/// A source of random numbers that begins again with each loop, or goes on.
#[derive(Debug, Clone)]
struct Again {
    random: Xoshiro256PlusPlus,
    /// The state at the beginning, where every loop is to be the same.
    first: Option<Xoshiro256PlusPlus>,
}

impl Again {
    fn new(seed: u64, randrepeat: bool) -> Self {
        let random = Xoshiro256PlusPlus::seed_from_u64(seed);
        Again { first: randrepeat.then(|| random.clone()), random }
    }

    fn restart(&mut self) {
        if let Some(first) = &self.first {
            self.random = first.clone();
        }
    }
}

/// The direction of each operation.
#[derive(Debug, Clone)]
enum Mix {
    Only(Direction),
    /// Reads with this share in millionths, else writes.
    Reads(u64, Again),
}

impl Mix {
    fn new(io: &Io, seed: u64) -> Self {
        match io.rw {
            pattern if pattern.mixed() => {
                Mix::Reads((io.read_share() * 1e6).round() as u64, Again::new(seed ^ MIX_STREAM, io.randrepeat))
            }
            pattern if pattern.reads() => Mix::Only(Direction::Read),
            Pattern::Trim | Pattern::RandTrim => Mix::Only(Direction::Trim),
            _ => Mix::Only(Direction::Write),
        }
    }

    #[inline]
    fn draw(&mut self) -> Direction {
        match self {
            Mix::Only(direction) => *direction,
            Mix::Reads(millionths, again) => {
                if below(&mut again.random, 1_000_000) < *millionths {
                    Direction::Read
                } else {
                    Direction::Write
                }
            }
        }
    }

    fn restart(&mut self) {
        if let Mix::Reads(_, again) = self {
            again.restart();
        }
    }
}

impl Places {
    /// The places of one worker. `files`: the usable range (start, end) of each of its files in
    /// bytes, `offset` already taken into account; at most 2^32 files. `seed` is already mixed for
    /// the worker. Nothing below a file's start or beyond its end is touched, nor what is left of a
    /// file after its last whole block.
    ///
    /// # Errors
    /// [`EngineError::Unsuitable`] where no file has room for a block, or there is no memory for the
    /// record of visited blocks.
    pub fn new(io: &Io, files: &[(u64, u64)], seed: u64) -> Result<Places, EngineError> {
        let smallest = io.smallest_block().0;
        let fits = |&(start, end): &(u64, u64)| end.saturating_sub(start) >= smallest;
        if smallest == 0 || !files.iter().any(fits) {
            return Err(EngineError::Unsuitable(format!(
                "no file has room for a block of {smallest} bytes; raise size, or lower bs or offset"
            )));
        }
        if u32::try_from(io.largest_block().0).is_err() || u32::try_from(files.len()).is_err() {
            return Err(EngineError::Unsuitable("a block or the number of files is above 2^32; lower it".to_owned()));
        }
        if let Some(kind) = Kind::plain(io, files, seed) {
            let blocks = kind.blocks();
            let loop_bytes = blocks.per_loop * u64::from(blocks.bytes);
            return Ok(Places { kind, loop_bytes });
        }
        let general = General::new(io, files, seed ^ PLACES_STREAM)?;
        let loop_bytes = general.loop_bytes();
        Ok(Places { kind: Kind::General(Box::new(general)), loop_bytes })
    }

    /// The places of one of `of` workers who share the blocks of one file in turn: `size` bytes of them in all, every
    /// `of`-th block, from block `number` on. They come in the order in which blocks that lie together would.
    ///
    /// # Errors
    /// [`EngineError::Unsuitable`] where there is no room for a block, or the work is none of one kind of block.
    pub fn strided(io: &Io, size: u64, (number, of): (u64, u64), seed: u64) -> Result<Places, EngineError> {
        let mut places = Places::new(io, &[(0, size)], seed)?;
        let spread = |blocks: &mut Blocks| {
            let bytes = u64::from(blocks.bytes);
            (blocks.start, blocks.stride) = (number * bytes, of * bytes);
        };
        match &mut places.kind {
            Kind::Sequential(Sequential { blocks, next, end, .. }) => {
                spread(blocks);
                (*next, *end) = (blocks.start, blocks.start + blocks.count * blocks.stride);
            }
            Kind::Shuffled(Shuffled { blocks, .. }) | Kind::Uniform(Uniform { blocks, .. }) => spread(blocks),
            Kind::General(_) => {
                let what = "blocks that go round are of one length and in a plain order; use file = \"segmented\"";
                return Err(EngineError::Unsuitable(what.to_owned()));
            }
        }
        Ok(places)
    }

    /// The next place, or `None` when one loop is complete; then until [`Places::restart`].
    #[inline]
    // Not an iterator: it goes on after its end.
    #[allow(clippy::should_implement_trait)]
    pub fn next(&mut self) -> Option<Span> {
        match &mut self.kind {
            Kind::Sequential(sequential) => sequential.next(),
            Kind::Shuffled(shuffled) => shuffled.next(),
            Kind::Uniform(uniform) => uniform.next(),
            Kind::General(general) => general.next(),
        }
    }

    /// The file whose turn it is, for a sync, which uses up one of its operations; `None` where there is
    /// one file, or all are complete.
    pub fn file_for_sync(&mut self) -> Option<u32> {
        match &mut self.kind {
            Kind::General(general) => general.file_for_sync(),
            Kind::Sequential(_) | Kind::Shuffled(_) | Kind::Uniform(_) => None,
        }
    }

    /// Begins the next loop from the start: with the same places again where `randrepeat` is set,
    /// else with others. Where hot blocks lie stays the same.
    pub fn restart(&mut self) {
        match &mut self.kind {
            Kind::Sequential(Sequential { blocks, next, .. }) => {
                blocks.left = blocks.per_loop;
                *next = blocks.start;
            }
            Kind::Shuffled(shuffled) => {
                shuffled.blocks.left = shuffled.blocks.per_loop;
                shuffled.mix.restart();
                shuffled.pass();
            }
            Kind::Uniform(Uniform { blocks, mix, again }) => {
                blocks.left = blocks.per_loop;
                mix.restart();
                again.restart();
            }
            Kind::General(general) => general.restart(),
        }
    }

    /// Bytes that one loop moves: exact for a fixed block size, else the least, which the last
    /// operation may pass by less than a block, or miss by what no block fits into.
    pub fn loop_bytes(&self) -> u64 {
        self.loop_bytes
    }
}

impl Kind {
    /// The specialised form, where there is one.
    fn plain(io: &Io, files: &[(u64, u64)], seed: u64) -> Option<Kind> {
        let &[(start, end)] = files else { return None };
        let bytes = common_block(io)?;
        let everywhere = io.rw.directions().iter().all(|direction| random_percent(io, *direction) == 100);
        if io.rw == Pattern::TrimWrite || io.blockalign.0 > 0 {
            return None;
        }
        let count = (end - start) / bytes;
        let per_loop = io.io_size.map_or(count, |size| size.0.div_ceil(bytes));
        let blocks = Blocks { start, bytes: bytes as u32, stride: bytes, count, per_loop, left: per_loop };
        let seed = seed ^ PLACES_STREAM;
        if !io.rw.random() {
            let direction = match Mix::new(io, seed) {
                Mix::Only(direction) if io.sequential_step_bytes == 0 => direction,
                _ => return None,
            };
            return Some(Kind::Sequential(Sequential { blocks, direction, next: start, end: start + count * bytes }));
        }
        if io.operations_per_offset > 1 || !everywhere || io.random_distribution != Distribution::Random {
            return None;
        }
        let mut again = Again::new(seed, io.randrepeat);
        let mix = Mix::new(io, seed);
        if io.norandommap {
            return Some(Kind::Uniform(Uniform { blocks, mix, again }));
        }
        let order = Bijection::new(count, &mut again.random);
        Some(Kind::Shuffled(Shuffled { blocks, mix, order, next: 0, again }))
    }

    fn blocks(&self) -> Blocks {
        match self {
            Kind::Sequential(Sequential { blocks, .. })
            | Kind::Shuffled(Shuffled { blocks, .. })
            | Kind::Uniform(Uniform { blocks, .. }) => *blocks,
            Kind::General(_) => unreachable!("only plain kinds are asked for their blocks"),
        }
    }
}

impl Sequential {
    #[inline]
    fn next(&mut self) -> Option<Span> {
        self.blocks.left = self.blocks.left.checked_sub(1)?;
        if self.next == self.end {
            self.next = self.blocks.start;
        }
        let offset = self.next;
        self.next = offset + self.blocks.stride;
        Some(Span { file: 0, offset, bytes: self.blocks.bytes, direction: self.direction })
    }
}

impl Shuffled {
    #[inline]
    fn next(&mut self) -> Option<Span> {
        self.blocks.left = self.blocks.left.checked_sub(1)?;
        if self.next == self.blocks.count {
            self.pass();
        }
        let block = self.order.map(self.next);
        self.next += 1;
        Some(self.blocks.span(block, self.mix.draw()))
    }

    /// All blocks are to be visited again.
    #[cold]
    fn pass(&mut self) {
        self.next = 0;
        if self.again.first.is_none() {
            self.order.choose(&mut self.again.random);
        }
    }
}

impl Uniform {
    #[inline]
    fn next(&mut self) -> Option<Span> {
        self.blocks.left = self.blocks.left.checked_sub(1)?;
        let block = below(&mut self.again.random, self.blocks.count);
        Some(self.blocks.span(block, self.mix.draw()))
    }
}

impl Blocks {
    #[inline]
    fn span(&self, block: u64, direction: Direction) -> Span {
        Span { file: 0, offset: self.start + block * self.stride, bytes: self.bytes, direction }
    }
}

/// The block size where all operations of the job have the same.
fn common_block(io: &Io) -> Option<u64> {
    let fixed = |direction: &Direction| match io.blocks(*direction) {
        BlockSizes::Fixed(bytes) => Some(bytes.0),
        BlockSizes::Range(low, high) if low == high => Some(low.0),
        _ => None,
    };
    let sizes: Vec<Option<u64>> = io.rw.directions().iter().map(fixed).collect();
    sizes.iter().all(|bytes| *bytes == sizes[0]).then(|| sizes[0])?
}

/// Share of the operations at random offsets, in percent.
fn random_percent(io: &Io, direction: Direction) -> u64 {
    match &io.percentage_random {
        _ if !io.rw.random() => 0,
        Some(percent) => u64::from(*percent.for_direction(direction)).min(100),
        None => 100,
    }
}
