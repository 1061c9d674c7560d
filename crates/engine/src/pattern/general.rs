//! Every pattern, on any number of files, with any block sizes.

use super::bijection::Bijection;
use super::choice::Choice;
use super::draw::{Draw, below};
use super::free_map::FreeMap;
use super::sizes::Sizes;
use super::{Again, Mix, Span, common_block, random_percent};
use crate::error::EngineError;
use model::job::{BlockSizes, Direction, Distribution, Io, Pattern};

/// What the seed is mixed with for the choice of files and for lengths.
const FILES_STREAM: u64 = 0xf11e_c401;
const SIZES_STREAM: u64 = 0x512e_0f0b;
/// And for where hot blocks lie.
const SCATTER_STREAM: u64 = 0x5ca7_7e21;

/// The sequence of places.
#[derive(Debug, Clone)]
pub(super) struct General {
    files: Vec<File>,
    choice: Choice,
    mix: Mix,
    places: Again,
    choices: Again,
    lengths: Again,
    /// By direction, in the order of [`Direction::ALL`].
    sizes: [Sizes; 3],
    /// Percent of the operations at random offsets, by direction.
    random_percent: [u64; 3],
    /// The smallest block of all directions, which random offsets are multiples of.
    unit: u64,
    /// What they are multiples of with `blockalign`; 0: of the direction's smallest block.
    align: u64,
    step: i64,
    random: bool,
    /// Operations for each random offset, and how many of them have been done.
    per_offset: u32,
    since_offset: u32,
    trim_first: bool,
    /// The write of a block that was just trimmed.
    rewrite: Option<Span>,
    /// Bytes of one loop, and how many of them are left.
    loop_bytes: u64,
    left: u64,
    /// The files are gone through again until the loop's bytes are moved.
    wraps: bool,
}

/// One file's range and how far the work is in it.
#[derive(Debug, Clone)]
struct File {
    start: u64,
    end: u64,
    /// End of the last operation, by direction.
    after: [u64; 3],
    /// Bytes moved in this pass.
    moved: u64,
    order: Order,
}

#[derive(Debug, Clone)]
enum Order {
    /// Sequential only.
    None,
    /// Every block once, all of one size: how many have been visited.
    Shuffled(Bijection, u64),
    /// Every block once, of several sizes.
    Mapped(FreeMap),
    /// Independent draws.
    Drawn(Draw),
}

impl General {
    pub fn new(io: &Io, ranges: &[(u64, u64)], seed: u64) -> Result<Self, EngineError> {
        let sized = |direction| {
            let direction = if io.rw == Pattern::TrimWrite { Direction::Write } else { direction };
            Sizes::new(&io.blocks(direction), io.bs_unaligned)
        };
        let sizes = Direction::ALL.map(sized);
        let unit = if io.rw == Pattern::TrimWrite {
            sizes[Direction::Write as usize].smallest()
        } else {
            io.rw.directions().iter().map(|direction| sizes[*direction as usize].smallest()).min().unwrap_or(io.bs.0)
        };
        let mut places = Again::new(seed, io.randrepeat);
        let mut scatter = Again::new(seed ^ SCATTER_STREAM, true).random;
        let align = if io.blockalign.0 > 0 { io.blockalign.0 } else { unit };
        let mut files = Vec::with_capacity(ranges.len());
        for &(start, end) in ranges {
            let order = order(io, end.saturating_sub(start), unit, align, (&mut places, &mut scatter))?;
            files.push(File { start, end: end.max(start), after: [start; 3], moved: 0, order });
        }
        let range_bytes = files.iter().map(|file| pass_bytes(io, file.end - file.start, unit)).sum();
        let loop_bytes = io.io_size.map_or(range_bytes, |size| size.0);
        Ok(General {
            choice: Choice::new(
                io.file_service_type,
                io.file_service_count,
                files.len() as u32,
                io.openfiles.unwrap_or(u32::MAX),
            ),
            files,
            mix: Mix::new(io, seed),
            places,
            choices: Again::new(seed ^ FILES_STREAM, io.randrepeat),
            lengths: Again::new(seed ^ SIZES_STREAM, io.randrepeat),
            sizes,
            random_percent: Direction::ALL.map(|direction| random_percent(io, direction)),
            unit,
            align: io.blockalign.0,
            step: io.sequential_step_bytes,
            random: io.rw.random(),
            per_offset: io.operations_per_offset.max(1),
            since_offset: 0,
            trim_first: io.rw == Pattern::TrimWrite,
            rewrite: None,
            loop_bytes,
            left: loop_bytes,
            wraps: io.io_size.is_some(),
        })
    }

    /// Bytes of one loop, as [`super::Places::loop_bytes`] says.
    pub fn loop_bytes(&self) -> u64 {
        let lengths = match &self.mix {
            Mix::Only(direction) => [&self.sizes[*direction as usize]; 2],
            Mix::Reads(..) => [&self.sizes[0], &self.sizes[1]],
        };
        let bytes = match lengths {
            [Sizes::Fixed(bytes), Sizes::Fixed(other)] if bytes == other => self.loop_bytes.div_ceil(*bytes) * bytes,
            _ => self.loop_bytes,
        };
        if self.trim_first { 2 * bytes } else { bytes }
    }

    /// As [`super::Places::file_for_sync`].
    pub fn file_for_sync(&mut self) -> Option<u32> {
        self.choice.file(&mut self.choices.random).filter(|_| self.files.len() > 1)
    }

    pub fn restart(&mut self) {
        self.left = self.loop_bytes;
        self.pass();
    }

    /// All files are gone through again.
    #[cold]
    fn pass(&mut self) {
        self.mix.restart();
        self.places.restart();
        self.choices.restart();
        self.lengths.restart();
        self.choice.reset();
        self.since_offset = 0;
        self.rewrite = None;
        let same = self.places.first.is_some();
        for file in &mut self.files {
            file.after = [file.start; 3];
            file.moved = 0;
            match &mut file.order {
                Order::None | Order::Drawn(_) => {}
                Order::Mapped(map) => map.clear(),
                Order::Shuffled(bijection, next) => {
                    *next = 0;
                    if same {
                        // The draws that chose the first order are taken again and left aside, so
                        // that what follows them is the same too.
                        bijection.clone().choose(&mut self.places.random);
                    } else {
                        bijection.choose(&mut self.places.random);
                    }
                }
            }
        }
    }

    #[inline]
    pub fn next(&mut self) -> Option<Span> {
        if let Some(span) = self.rewrite.take() {
            return Some(span);
        }
        let mut passes = 0;
        while self.left > 0 {
            let Some(file) = self.choice.file(&mut self.choices.random) else {
                // A second pass in one call would find nothing either.
                if !self.wraps || passes > 0 {
                    self.left = 0;
                    return None;
                }
                passes += 1;
                self.pass();
                continue;
            };
            let direction = self.mix.draw();
            let Some((offset, bytes)) = self.place(file as usize, direction) else {
                self.choice.complete();
                continue;
            };
            let of = &mut self.files[file as usize];
            of.after[direction as usize] = offset + bytes;
            of.moved += bytes;
            self.left = self.left.saturating_sub(bytes);
            let span = Span { file, offset, bytes: bytes as u32, direction };
            if self.trim_first {
                self.rewrite = Some(span);
                return Some(Span { direction: Direction::Trim, ..span });
            }
            return Some(span);
        }
        None
    }

    /// Offset and length of the next operation in the file; `None` when the file is complete.
    #[inline]
    fn place(&mut self, file: usize, direction: Direction) -> Option<(u64, u64)> {
        if !self.random {
            return self.sequential(file, direction);
        }
        let begins = self.since_offset == 0;
        self.since_offset = if self.since_offset + 1 >= self.per_offset { 0 } else { self.since_offset + 1 };
        let percent = self.random_percent[direction as usize];
        let scattered = begins && (percent == 100 || below(&mut self.places.random, 100) < percent);
        if scattered {
            return self.scattered(file, direction);
        }
        // What follows goes on behind the last operation, over visited blocks too, and where the
        // file ends there, at another random place.
        match self.following(file, direction) {
            Some(place) => Some(place),
            None => self.scattered(file, direction),
        }
    }

    #[inline]
    fn sequential(&mut self, number: usize, direction: Direction) -> Option<(u64, u64)> {
        let file = &self.files[number];
        let mut at = file.after[direction as usize];
        // Directions that are mixed share the file's bytes, so neither position tells its end.
        let mixed = matches!(self.mix, Mix::Reads(..));
        if file.moved + self.unit > file.end - file.start && (mixed || self.step != 0) {
            return None;
        }
        let over = if self.step < 0 { at >= file.end } else { at + self.unit > file.end };
        if over {
            if !mixed {
                return None;
            }
            at = file.start;
        } else if self.step != 0 && at != file.start {
            at = stepped(at, self.step, (file.start, file.end), self.unit);
        }
        let room = file.end - at;
        match self.sizes[direction as usize].fitting(room, &mut self.lengths.random) {
            Some(bytes) => Some((at, bytes)),
            // This direction's blocks do not fit behind its position: it begins again.
            None if mixed && at > file.start => {
                let room = file.end - file.start;
                let bytes = self.sizes[direction as usize].fitting(room, &mut self.lengths.random)?;
                Some((file.start, bytes))
            }
            None => None,
        }
    }

    /// Behind the last operation of this direction.
    #[inline]
    fn following(&mut self, number: usize, direction: Direction) -> Option<(u64, u64)> {
        let file = &mut self.files[number];
        let at = file.after[direction as usize];
        let bytes = self.sizes[direction as usize].fitting(file.end.saturating_sub(at), &mut self.lengths.random)?;
        if let Order::Mapped(map) = &mut file.order {
            // Blocks are left to visit only as long as some block is free.
            map.next_free(0)?;
            let first = (at - file.start) / self.unit;
            map.mark(first, (at - file.start + bytes).div_ceil(self.unit) - first);
        }
        Some((at, bytes))
    }

    /// At a random place.
    #[inline]
    fn scattered(&mut self, number: usize, direction: Direction) -> Option<(u64, u64)> {
        let file = &mut self.files[number];
        let sizes = &self.sizes[direction as usize];
        let room = file.end - file.start;
        match &mut file.order {
            Order::None => None,
            Order::Shuffled(bijection, next) => {
                if *next == bijection.limit() || room < self.unit {
                    return None;
                }
                let block = bijection.map(*next);
                *next += 1;
                Some((file.start + block * self.unit, self.unit))
            }
            Order::Mapped(map) => {
                if let Sizes::Fixed(bytes) = sizes
                    && *bytes > self.unit
                    && bytes.is_multiple_of(self.unit)
                    && room >= *bytes
                {
                    let (blocks, units) = (room / bytes, bytes / self.unit);
                    let free = map.next_free(below(&mut self.places.random, blocks) * units)?;
                    let block = (free / units).min(blocks - 1);
                    map.mark(block * units, units);
                    return Some((file.start + block * bytes, *bytes));
                }
                let blocks = room / self.unit;
                let from = map.next_free(below(&mut self.places.random, blocks))?;
                let wanted = sizes.draw(&mut self.lengths.random);
                let run = map.free_run(from, wanted.div_ceil(self.unit));
                map.mark(from, run);
                Some((file.start + from * self.unit, wanted.min(run * self.unit)))
            }
            Order::Drawn(draw) => {
                let smallest = sizes.smallest();
                if room < smallest {
                    return None;
                }
                let align = if self.align > 0 { self.align } else { smallest };
                let block = draw.block((room - smallest) / align + 1, &mut self.places.random);
                let offset = block * align;
                let bytes = sizes.fitting(room - offset, &mut self.lengths.random)?;
                Some((file.start + offset, bytes))
            }
        }
    }
}

/// How random places of a file of `bytes` are found.
fn order(
    io: &Io,
    bytes: u64,
    unit: u64,
    align: u64,
    (places, scatter): (&mut Again, &mut rand_xoshiro::Xoshiro256PlusPlus),
) -> Result<Order, EngineError> {
    if !io.rw.random() {
        return Ok(Order::None);
    }
    if io.norandommap || io.blockalign.0 > 0 || io.random_distribution != Distribution::Random {
        let blocks = bytes.saturating_sub(unit) / align + 1;
        return Ok(Order::Drawn(Draw::new(&io.random_distribution, blocks, scatter)));
    }
    let everywhere = io.rw.directions().iter().all(|direction| random_percent(io, *direction) == 100);
    if common_block(io).is_some() && io.operations_per_offset <= 1 && everywhere {
        return Ok(Order::Shuffled(Bijection::new(bytes / unit, &mut places.random), 0));
    }
    let map = FreeMap::new(bytes / unit).ok_or_else(|| {
        EngineError::Unsuitable(
            "there is no memory for the record of visited blocks; set norandommap or raise bs".to_owned(),
        )
    })?;
    Ok(Order::Mapped(map))
}

/// The next position with a step: beyond the end it begins at the start again, and backwards
/// beyond the start at the end.
fn stepped(after: u64, step: i64, (start, end): (u64, u64), unit: u64) -> u64 {
    let at = after.saturating_add_signed(step);
    let inside = after.checked_add_signed(step).is_some() && at >= start && at + unit <= end;
    match inside {
        true => at,
        false if step > 0 => start,
        false => end.saturating_add_signed(step).max(start),
    }
}

/// Bytes that one pass over a file of `bytes` moves.
fn pass_bytes(io: &Io, bytes: u64, unit: u64) -> u64 {
    let whole = match common_block(io) {
        Some(block) => bytes / block * block,
        None if bytes < unit => 0,
        None if io.bs_unaligned => bytes,
        None => bytes / unit * unit,
    };
    let step = io.sequential_step_bytes;
    let (false, 1.., BlockSizes::Fixed(block)) = (io.rw.random(), step, io.blocks(io.rw.directions()[0])) else {
        return whole;
    };
    if io.rw.mixed() || bytes < unit {
        return whole;
    }
    // Steps that end exactly with the file end the work there; others begin again at the start.
    let stride = block.0.saturating_add_signed(step);
    let last = (bytes - block.0) / stride;
    if last * stride + 2 * block.0 > bytes { (last + 1) * block.0 } else { whole }
}
