//! Writes a file in full before it is read or overwritten: a file that was only allocated would be
//! answered from unwritten extents, without the disk.

use super::heed;
use super::shared::SharedPart;
use super::worker::check_result;
use crate::data::Contents;
use crate::error::{EngineError, alignment_remedy};
use crate::io::{Action, Completion, IoEngine, Operation, OperationFlags, Setup};
use crate::marked::{Marks, Origin};
use crate::target::{Access, open_file, remove_file};
use model::job::{Data, FileLayout, Io};
use rustix::fs::{Advice, fadvise, fsync};
use std::collections::HashMap;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::path::Path;
use std::rc::Rc;
use std::sync::atomic::AtomicBool;

/// Large and deep, so that the disk is the only thing that takes time.
pub(super) const BLOCK_BYTES: u64 = 1 << 20;
pub(super) const DEPTH: u32 = 16;
/// What direct I/O is a multiple of at least.
const DIRECT_BYTES: u64 = 512;
/// What a seed is mixed with, so that what is written first differs from what is written over it.
const POPULATE_STREAM: u64 = 0x0f11_ed00;

/// What a file is filled with.
#[derive(Debug, Clone, Copy)]
pub(super) struct Filling {
    /// Of its contents.
    pub(super) seed: u64,
    /// How blocks say where they belong, for other clients; `None`: they do not.
    pub(super) marks: Option<Marks>,
    /// The file's number, which marks tell.
    pub(super) file: u32,
}

impl Filling {
    /// Data that nobody else reads.
    pub(super) fn unmarked(seed: u64) -> Self {
        Filling { seed, marks: None, file: 0 }
    }
}

/// Makes the file new, `size_bytes` long, of the job's kind of data, and `fsync`s it and its directory.
/// Direct I/O where the filesystem has it, so that no page cache is left behind; data that compresses goes through the page
/// cache, because filesystems compress no direct writes.
///
/// # Errors
/// The first call that fails, `ENOSPC` among them; [`EngineError::Interrupted`].
pub(super) fn populate(
    directory: (&Path, BorrowedFd<'_>),
    name: &str,
    size_bytes: u64,
    io: &Io,
    filling: Filling,
    stop: &AtomicBool,
) -> Result<(), EngineError> {
    let direct = io.data == Data::Incompressible;
    let file = match write_blocks(directory, name, size_bytes, (io, filling), stop, direct) {
        Err(error) if !matches!(error, EngineError::Interrupted) && refuses_direct(error.errno()) => {
            write_blocks(directory, name, size_bytes, (io, filling), stop, false)?
        }
        written => written?,
    };
    let tail = size_bytes % BLOCK_BYTES;
    if tail > 0 {
        // Not a whole direct block perhaps: the page cache takes any length.
        let buffered = open_file(directory, name, Access::Write, false)?;
        let engine = crate::io::find("sync")?;
        let contents = tail_contents(io, tail, filling)?;
        let path = directory.0.join(name);
        let number = filling.file;
        let writer = Writer { engine, file: buffered, number, path: &path, direct: false, depth: 1, stop };
        write_at(&writer, contents, std::iter::once(size_bytes - tail))?;
    }
    fsync(&*file).map_err(|errno| EngineError::file("sync", directory.0.join(name), errno))?;
    let _ = fadvise(&*file, 0, None, Advice::DontNeed);
    fsync(directory.1).map_err(|errno| EngineError::file("sync", directory.0, errno))
}

fn refuses_direct(errno: Option<i32>) -> bool {
    matches!(errno, Some(libc::EINVAL | libc::EOPNOTSUPP))
}

/// What [`populate`] and [`populate_part`] copy whole blocks from.
///
/// # Errors
/// [`EngineError::Memory`] where the memory is not to be had.
pub(super) fn whole_contents(io: &Io, depth: u32, filling: Filling) -> Result<Contents, EngineError> {
    match io.file {
        FileLayout::Strided => contents(io, io.bs.get(), depth_of_strides(io, depth), filling),
        FileLayout::Own | FileLayout::Segmented => contents(io, BLOCK_BYTES, depth, filling),
    }
}

/// What they copy an end of so many bytes from.
///
/// # Errors
/// As [`whole_contents`].
pub(super) fn tail_contents(io: &Io, tail: u64, filling: Filling) -> Result<Contents, EngineError> {
    let marks = filling.marks.map(|marks| marks.by(Origin::Tail));
    contents(io, tail, 1, Filling { seed: filling.seed ^ tail, marks, ..filling })
}

/// As much in flight as of large blocks.
fn depth_of_strides(io: &Io, depth: u32) -> u32 {
    depth.min((u64::from(DEPTH) * BLOCK_BYTES / io.bs.get()).max(1) as u32)
}

/// What a file holds that the job has not written: data as its own, but of another seed.
fn contents(io: &Io, block_bytes: u64, depth: u32, filling: Filling) -> Result<Contents, EngineError> {
    let data = match &io.data {
        // Chunks as long as the job's blocks, not as these large ones.
        Data::Compress(percent, 0) => Data::Compress(*percent, io.smallest_block().get() as u32),
        data => data.clone(),
    };
    let mut contents = Contents::new(&data, io.dedupe_percentage, block_bytes, depth, filling.seed ^ POPULATE_STREAM)?;
    if let Some(marks) = filling.marks {
        contents.mark(marks);
    }
    Ok(contents)
}

/// Writes the file's whole blocks, anew.
fn write_blocks(
    directory: (&Path, BorrowedFd<'_>),
    name: &str,
    size_bytes: u64,
    (io, filling): (&Io, Filling),
    stop: &AtomicBool,
    direct: bool,
) -> Result<Rc<OwnedFd>, EngineError> {
    // A new file, not the old one's blocks: what an earlier workload did to them would show.
    remove_file(directory, name)?;
    let file = open_file(directory, name, Access::Create, direct)?;
    let whole = size_bytes - size_bytes % BLOCK_BYTES;
    if whole > 0 {
        let (engine, depth) = match crate::io::find("io_uring") {
            Ok(engine) => (engine, DEPTH),
            Err(_) => (crate::io::find("sync")?, 1),
        };
        let contents = contents(io, BLOCK_BYTES, depth, filling)?;
        let path = directory.0.join(name);
        let writer = Writer { engine, file: file.clone(), number: filling.file, path: &path, direct, depth, stop };
        write_at(&writer, contents, (0..whole).step_by(BLOCK_BYTES as usize))?;
    }
    Ok(file)
}

/// Writes one worker's part of a file that others write at the same time, and `fsync`s it, as [`populate`] does with a
/// whole one. Blocks that go round are written one by one, so that each client has written what it owns.
///
/// # Errors
/// As [`populate`].
pub(super) fn populate_part(
    directory: (&Path, BorrowedFd<'_>),
    name: &str,
    part: &SharedPart,
    io: &Io,
    filling: Filling,
    stop: &AtomicBool,
) -> Result<(), EngineError> {
    // Parts of blocks of any length begin anywhere, where no device writes.
    let direct = io.data == Data::Incompressible && io.bs.get().is_multiple_of(DIRECT_BYTES);
    let write = |direct: bool| write_part(directory, name, part, (io, filling), stop, direct);
    let file = match write(direct) {
        Err(error) if !matches!(error, EngineError::Interrupted) && refuses_direct(error.errno()) => write(false)?,
        written => written?,
    };
    fsync(&*file).map_err(|errno| EngineError::file("sync", directory.0.join(name), errno))?;
    let _ = fadvise(&*file, 0, None, Advice::DontNeed);
    fsync(directory.1).map_err(|errno| EngineError::file("sync", directory.0, errno))
}

fn write_part(
    directory: (&Path, BorrowedFd<'_>),
    name: &str,
    part: &SharedPart,
    (io, filling): (&Io, Filling),
    stop: &AtomicBool,
    direct: bool,
) -> Result<Rc<OwnedFd>, EngineError> {
    let file = open_file(directory, name, Access::Shared, direct)?;
    let path = directory.0.join(name);
    let (size, block) = (io.size.get(), io.bs.get());
    let (engine, depth) = match crate::io::find("io_uring") {
        Ok(engine) => (engine, DEPTH),
        Err(_) => (crate::io::find("sync")?, 1),
    };
    let contents = || whole_contents(io, depth, filling);
    let writer = Writer { engine, file: file.clone(), number: filling.file, path: &path, direct, depth, stop };
    if io.file == FileLayout::Strided {
        let writer = Writer { depth: depth_of_strides(io, depth), ..writer };
        write_at(&writer, contents()?, (0..size / block).map(|number| part.block(number, block)))?;
        return Ok(file);
    }
    let (start, tail) = (part.start(size), size % BLOCK_BYTES);
    if size > tail {
        write_at(&writer, contents()?, (start..start + size - tail).step_by(BLOCK_BYTES as usize))?;
    }
    if tail > 0 {
        // Not a whole direct block perhaps.
        let buffered = open_file(directory, name, Access::Write, false)?;
        let writer = Writer { file: buffered, direct: false, depth: 1, ..writer };
        write_at(&writer, tail_contents(io, tail, filling)?, std::iter::once(start + size - tail))?;
    }
    Ok(file)
}

struct Writer<'a> {
    engine: &'static IoEngine,
    file: Rc<OwnedFd>,
    /// What marks call the file.
    number: u32,
    path: &'a Path,
    direct: bool,
    depth: u32,
    stop: &'a AtomicBool,
}

/// Writes a block of the buffers' length at each of these offsets.
fn write_at(
    writer: &Writer<'_>,
    mut contents: Contents,
    offsets: impl Iterator<Item = u64>,
) -> Result<(), EngineError> {
    let mut queue = (writer.engine.open)(Setup {
        files: vec![Some(writer.file.clone())],
        writes: true,
        depth: writer.depth,
        memory: contents.memory().clone(),
        flags: OperationFlags::default(),
    })?;
    let bytes = contents.memory().chunk_bytes() as u64;
    let mut offsets = offsets.peekable();
    let mut in_flight: HashMap<u32, u64> = HashMap::new();
    let mut completions: Vec<Completion> = Vec::with_capacity(writer.depth as usize);
    while offsets.peek().is_some() || !in_flight.is_empty() {
        heed(writer.stop)?;
        while in_flight.len() < writer.depth as usize
            && let Some(offset) = offsets.next()
        {
            let chunk = contents.take();
            contents.renew_at(chunk, bytes as u32, (writer.number, offset));
            queue.queue(Operation { chunk, file: 0, offset, bytes: bytes as u32, action: Action::Write })?;
            in_flight.insert(chunk, offset);
        }
        queue.reap(1, &mut completions)?;
        for Completion { chunk, result } in completions.drain(..) {
            let offset = in_flight.remove(&chunk).unwrap_or_default();
            contents.give_back(chunk);
            check_result(result, Action::Write, bytes, offset, writer.path.to_owned(), |errno| {
                alignment_remedy(errno, writer.direct)
            })?;
        }
    }
    Ok(())
}
