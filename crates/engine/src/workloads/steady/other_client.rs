//! What another client wrote is read, and compared with what its seed says that it should be.
//!
//! Blocks carry marks ([`crate::marked`]): each tells which chunk of its writer's data it is a copy of, and that data is made again
//! from the writer's seed. So every byte is compared, and that it lies where it belongs. Which of several writes of a place was the
//! last no mark tells.

use super::{file_seed, part_seed, plan, worker_seed};
use crate::buffers::Room;
use crate::data::{Contents, UNIT_BYTES, WORD_BYTES};
use crate::error::EngineError;
use crate::marked::{MOST_CHUNKS, Marks, Origin};
use crate::target::{Access, Directory, open_file};
use crate::workloads::direct::spread;
use crate::workloads::files;
use crate::workloads::populate::{BLOCK_BYTES, DEPTH, Filling, tail_contents, whole_contents};
use crate::workloads::shared::SharedPart;
use crate::workloads::{OtherClient, heed};
use model::job::{Data, FileLayout, Io, Pattern};
use model::ranks::Clients;
use rustix::io::{Errno, pread, retry_on_intr};
use std::os::fd::OwnedFd;
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;

/// Files that are read, bytes and blocks of them, at most: seconds on a slow disk, and all of a small file.
const MOST_FILES: usize = 16;
const MOST_BYTES: u64 = 16 << 20;
const MOST_BLOCKS: u64 = 256;
/// What is read at a stretch of small blocks, so that a disk seeks seldom.
const RUN_BYTES: u64 = 64 << 10;
/// The smallest sector of a disk.
const SECTOR_BYTES: usize = 512;
/// Data of a writer that is made again, at most.
const MOST_DATA_BYTES: u64 = 64 << 20;

/// Whether a seed tells what the work's files hold: blocks of one length that begin at multiples of it, of data that
/// neither compresses nor repeats, and in files of one worker or in its part of the file of all.
pub(super) fn can_be_told(io: &Io) -> bool {
    let (block, unit) = (io.bs.get(), UNIT_BYTES as u64);
    // Other work than the strided writes longer blocks before it begins, and the words of both have to lie in the same places.
    let is_whole = match io.file {
        FileLayout::Strided => block.is_multiple_of(WORD_BYTES as u64),
        FileLayout::Own | FileLayout::Segmented => block > 0 && block.is_multiple_of(unit),
    };
    let step = io.sequential_step_bytes.unsigned_abs();
    let places = [io.offset.get(), io.offset_increment.get(), io.blockalign.get(), step];
    is_whole
        && places.iter().all(|place| place.is_multiple_of(block))
        && io.data == Data::Incompressible
        && io.dedupe_percentage == 0
        && io.block_sizes.is_none()
        && !io.bs_unaligned
        && io.filename.is_empty()
        // A format may give files of several workers one name.
        && io.filename_format.is_empty()
        && io.rw != Pattern::Append
        && !io.file_append
        && !io.rw.trims()
        && io.iodepth <= MOST_CHUNKS
        && block.saturating_mul(u64::from(io.iodepth.max(1))) <= MOST_DATA_BYTES
}

/// One file of the other client, or its part of the one that all share.
struct Written {
    name: String,
    worker: u32,
    /// Its number among those of its worker, and of all of the client.
    number: u32,
    of_client: u64,
    size: u64,
    part: Option<SharedPart>,
}

impl Written {
    /// Where it begins in the file.
    fn start(&self) -> u64 {
        self.part.map_or(0, |part| part.start(self.size))
    }

    /// Offset of its block of this number.
    fn block(&self, io: &Io, number: u64) -> u64 {
        match (self.part, io.file) {
            (Some(part), FileLayout::Strided) => part.block(number, io.bs.get()),
            _ => self.start() + number * io.bs.get(),
        }
    }
}

/// Reads some of what the other client wrote, of so many; answers the bytes that were compared.
///
/// # Errors
/// As [`crate::Work::check_other`].
pub(super) fn check(
    directory: Directory<'_>,
    io: &Io,
    (other, of): (OtherClient, u32),
    stop: &AtomicBool,
) -> Result<u64, EngineError> {
    if !can_be_told(io) {
        return Ok(0);
    }
    let (all, block) = (written(io, other, of)?, io.bs.get());
    let blocks_of_all = (MOST_BYTES / block).clamp(1, MOST_BLOCKS) as usize;
    let chosen: Vec<&Written> = spread(all.len(), MOST_FILES.min(blocks_of_all)).map(|at| &all[at]).collect();
    let most = (blocks_of_all / chosen.len().max(1)).max(1);
    let mut room = Room::new(block as usize)?;
    let mut compared = 0;
    for file in chosen {
        let opened = open_file(directory, &file.name, Access::Read, io.direct)?;
        // What this node has of it in memory may be older than what the other wrote, or not what the disk holds.
        let _ = files::invalidate(&opened);
        let mut data = WrittenData::new(io, other, file, directory.0.join(&file.name));
        let (blocks, run) = ((file.size / block) as usize, (RUN_BYTES / block).clamp(1, most as u64) as usize);
        for first in spread(blocks.div_ceil(run), most / run).map(|number| number * run) {
            for number in first..blocks.min(first + run) {
                heed(stop)?;
                let offset = file.block(io, number as u64);
                let filled = read_block(&opened, &mut room, (io.direct, offset));
                let filled = filled.map_err(|errno| EngineError::file("read", &data.path, errno))?;
                if filled < room.len() {
                    return Err(data.wrong(offset + filled as u64, "the file's end instead of data".to_owned()));
                }
                data.compare(&room, offset)?;
                compared += block;
            }
        }
        let _ = files::invalidate(&opened);
    }
    Ok(compared)
}

/// Reads a block into the room; answers how many bytes there are before the file's end.
fn read_block(file: &OwnedFd, room: &mut [u8], (direct, offset): (bool, u64)) -> Result<usize, Errno> {
    let mut filled = 0;
    while filled < room.len() {
        let moved = retry_on_intr(|| pread(file, &mut room[filled..], offset + filled as u64))?;
        filled += moved;
        // A direct read that ends within a sector has come to the file's end, behind which no other begins.
        if moved == 0 || direct && !moved.is_multiple_of(SECTOR_BYTES) {
            break;
        }
    }
    Ok(filled)
}

/// All that the client wrote.
fn written(io: &Io, other: OtherClient, of: u32) -> Result<Vec<Written>, EngineError> {
    let clients = Clients { number: other.number, reads: other.number, of };
    let mut all: Vec<Written> = Vec::new();
    for worker in 0..io.numjobs.max(1) {
        let part = SharedPart::worked_on(io, clients, worker);
        for (number, file) in (0..).zip(plan(io, worker, (other.seed, clients))?) {
            let size = if part.is_some() { io.size.get() } else { file.size };
            all.push(Written { name: file.name, worker, number, of_client: all.len() as u64, size, part });
        }
    }
    Ok(all)
}

/// What a file's blocks are copies of, each made when it is first needed.
struct WrittenData<'a> {
    io: &'a Io,
    other: OtherClient,
    file: &'a Written,
    path: PathBuf,
    marks: Marks,
    populated: Option<Contents>,
    tail: Option<Contents>,
    worked: Option<Contents>,
}

impl<'a> WrittenData<'a> {
    fn new(io: &'a Io, other: OtherClient, file: &'a Written, path: PathBuf) -> Self {
        let marks = Marks::new(other.seed, file.worker);
        WrittenData { io, other, file, path, marks, populated: None, tail: None, worked: None }
    }

    /// Compares a block that was read at this offset.
    fn compare(&mut self, block: &[u8], offset: u64) -> Result<(), EngineError> {
        for (index, unit) in block.chunks(UNIT_BYTES).enumerate() {
            let inside = index * UNIT_BYTES;
            let at = offset + inside as u64;
            let Some((word, rest)) = unit.split_first_chunk::<WORD_BYTES>() else { continue };
            let mark = self.marks.read(*word, (self.file.number, at)).map_err(|what| self.wrong(at, what))?;
            let begins = self.place(mark.origin, at, inside) + WORD_BYTES;
            let data = self.data(mark.origin)?.chunk_for_writes(mark.chunk);
            let Some(expected) = data.and_then(|chunk| chunk.get(begins..begins + rest.len())) else {
                let what = format!("a mark of chunk {}, which that client does not have", mark.chunk);
                return Err(self.wrong(at, what));
            };
            if let Some(first) = rest.iter().zip(expected).position(|(found, expected)| found != expected) {
                let what = format!("{:#04x} instead of {:#04x}", rest[first], expected[first]);
                return Err(self.wrong(at + (WORD_BYTES + first) as u64, what));
            }
        }
        Ok(())
    }

    /// Where in its chunk the 4 KiB at this offset begin, which lie so far behind the beginning of a block of the work.
    fn place(&self, origin: Origin, at: u64, inside: usize) -> usize {
        let before = at - self.file.start().min(at);
        match (origin, self.io.file) {
            (Origin::Work, _) | (Origin::Populate, FileLayout::Strided) => inside,
            (Origin::Populate, _) => (before % BLOCK_BYTES) as usize,
            (Origin::Tail, _) => before.saturating_sub(self.file.size - self.file.size % BLOCK_BYTES) as usize,
        }
    }

    /// What wrote it copied from this.
    fn data(&mut self, origin: Origin) -> Result<&Contents, EngineError> {
        let seed = match self.file.part {
            Some(_) => part_seed(self.other.seed, self.file.worker),
            None => file_seed(self.other.seed, self.file.of_client),
        };
        let (io, filling) = (self.io, Filling::unmarked(seed));
        let kept = match origin {
            Origin::Populate => &mut self.populated,
            Origin::Tail => &mut self.tail,
            Origin::Work => &mut self.worked,
        };
        let data = match (kept.take(), origin) {
            (Some(data), _) => data,
            // As many chunks as its writer can have had.
            (None, Origin::Populate) => whole_contents(io, DEPTH, filling)?,
            (None, Origin::Tail) => tail_contents(io, (self.file.size % BLOCK_BYTES).max(1), filling)?,
            (None, Origin::Work) => Contents::for_job(io, worker_seed(self.other.seed, self.file.worker))?,
        };
        Ok(kept.insert(data))
    }

    fn wrong(&self, offset: u64, what: String) -> EngineError {
        let what = format!("{what}, which rank {} wrote", self.other.rank);
        EngineError::Corrupt { path: self.path.clone(), offset, what }
    }
}

#[cfg(test)]
mod tests;
