//! Collective I/O: blocks of one file that all ranks write and read by MPI-IO at the same time.
//!
//! The calls of MPI are made by `fairlane-mpi` beside this process ([`exchange`]). What is written is made here before
//! the window, and what was read is looked at here behind it: nothing of that lies in measured time.

mod exchange;

use super::files::invalidate;
use super::{Observer, OtherClient, Work, heed, memory};
use crate::clock::{Clock, seconds};
use crate::error::EngineError;
use crate::histogram::Latencies;
use crate::target::OpenTarget;
use crate::window::{BANDWIDTH, Window};
use crate::workloads::direct::spread;
use crate::{beneath, carrier};
use exchange::{Blocks, Done, Exchange};
use model::Bytes;
use model::agent::Part;
use model::kinds::collective::{Collective, CollectiveAct};
use model::ranks::Clients;
use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use rustix::fs::OFlags;
use rustix::io::{Errno, pread, retry_on_intr};
use std::ops::Range;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// The file lies in this folder of the target.
const TOP: &str = "fairlane-collective";
const FILE: &str = "blocks";
/// Bytes and blocks of another client that are read back from the file, at most.
const MOST_BYTES: u64 = 16 << 20;
const MOST_BLOCKS: u64 = 256;
/// Of the memory that is free, a part of the work of all ranks may take so much, as if all were on this machine.
const MOST_OF_MEMORY: f64 = 0.5;
/// What the number of a block is multiplied with, so that no two blocks of any clients share their random numbers.
const BLOCK_STREAM: u64 = 0xd134_2543_de82_ef95;

/// One client's part, prepared.
pub struct CollectiveWork {
    collective: Collective,
    clients: Clients,
    seed: u64,
    /// Where `fairlane-mpi` is asked.
    socket: BorrowedFd<'static>,
    /// Memory for the part that is next, and whose it is.
    ready: Option<(CollectiveAct, Range<u64>, Blocks)>,
    /// Blocks that were written.
    written: u64,
    /// CRC-32C of each block that was read, by its number; `None`: it was not.
    read: Vec<Option<u32>>,
    stop: Arc<AtomicBool>,
}

impl CollectiveWork {
    /// Makes the file, which is empty, synced. What an interrupted race left is removed, unless clients share it.
    ///
    /// # Errors
    /// Where no MPI can be asked, there is no directory, the file would be too long, or a call fails.
    pub fn prepare(
        place: &OpenTarget,
        collective: &Collective,
        (seed, clients): (u64, Clients),
        stop: Arc<AtomicBool>,
    ) -> Result<Self, EngineError> {
        let Some(socket) = carrier::socket() else {
            return Err(EngineError::Unsuitable(
                "collective I/O is done by ranks of an MPI job, and this process is none; start one: mpirun -n 2 \
                 fairlane-mpi race DIR DIR"
                    .to_owned(),
            ));
        };
        Self::over(socket, place, collective, (seed, clients), stop)
    }

    fn over(
        socket: BorrowedFd<'static>,
        place: &OpenTarget,
        collective: &Collective,
        (seed, clients): (u64, Clients),
        stop: Arc<AtomicBool>,
    ) -> Result<Self, EngineError> {
        let (path, directory) = place.directory().ok_or_else(no_directory)?;
        let whole = u128::from(collective.size()) * u128::from(clients.of.max(1));
        if i64::try_from(whole).is_err() {
            let what = "one file of all blocks is longer than a file can be; lower operations or bs";
            return Err(EngineError::Unsuitable(what.to_owned()));
        }
        let path = path.join(TOP);
        let top = beneath::make_for_clients(directory, TOP, clients.is_alone(), &path)?;
        beneath::make_file(&top, FILE, &path)?;
        place.sync()?;
        Ok(CollectiveWork {
            collective: collective.clone(),
            clients,
            seed,
            socket,
            ready: None,
            written: 0,
            read: vec![None; collective.operations as usize],
            stop,
        })
    }

    /// Memory for these blocks of this rank: with what is to be written, or with something else where it is to be read.
    fn blocks(&self, act: CollectiveAct, numbers: &Range<u64>) -> Result<Blocks, EngineError> {
        let (bs, count) = (self.collective.bs.get(), numbers.end - numbers.start);
        let all = bs.saturating_mul(count).saturating_mul(u64::from(self.clients.of.max(1)));
        let (asked, free) = (all, memory::available_bytes());
        // 0: the kernel does not tell.
        if free > 0 && asked as f64 > MOST_OF_MEMORY * free as f64 {
            return Err(EngineError::Unsuitable(format!(
                "a part of the work lies in memory: {} MiB of {} ranks, which may all be on this machine, more than half of the {} MiB \
                 that are free; lower operations",
                asked / Bytes::MIB,
                self.clients.of.max(1),
                free / Bytes::MIB
            )));
        }
        let blocks = Blocks::new(bs, count)?;
        let mut block = vec![0xff; bs as usize];
        for (place, number) in (0..).zip(numbers.clone()) {
            heed(&self.stop)?;
            if act == CollectiveAct::Write {
                fill(&mut block, self.seed, number);
            }
            // Memory that a read would have to get first would be part of what it takes.
            blocks.put(place, &block)?;
        }
        Ok(blocks)
    }

    /// What was read is kept as sums, to be compared once it is known whose it is.
    fn keep_sums(&mut self, numbers: Range<u64>, blocks: &Blocks) -> Result<(), EngineError> {
        let mut block = vec![0; self.collective.bs.get() as usize];
        for (place, number) in (0..).zip(numbers) {
            blocks.take(place, &mut block)?;
            if let Some(sum) = self.read.get_mut(number as usize) {
                *sum = Some(crc32c::crc32c(&block));
            }
        }
        Ok(())
    }

    /// Compares some of what another client wrote, as it is in the file, and all that was read of it; answers the bytes
    /// of both.
    fn look_at(&self, place: &OpenTarget, other: OtherClient) -> Result<u64, EngineError> {
        let bs = self.collective.bs.get();
        if self.written != self.collective.operations {
            return Ok(0);
        }
        let (file, path) = self.open(place, OFlags::RDONLY)?;
        // What this node has of it in memory may be older than what the other wrote, or not what the disk holds.
        let _ = invalidate(&file);
        let most = (MOST_BYTES / bs).clamp(1, MOST_BLOCKS) as usize;
        let (mut expected, mut found) = (vec![0; bs as usize], vec![0; bs as usize]);
        let mut compared = 0;
        for number in spread(self.read.len(), most) {
            heed(&self.stop)?;
            let offset = self.offset(other.number, number as u64);
            fill(&mut expected, other.seed, number as u64);
            let filled =
                read_block(&file, &mut found, offset).map_err(|errno| EngineError::file("read", &path, errno))?;
            let differs = found[..filled].iter().zip(&expected).position(|(found, expected)| found != expected);
            let what = match differs {
                Some(at) => Some((at, format!("{:#04x} instead of {:#04x}", found[at], expected[at]))),
                None if filled < expected.len() => Some((filled, "the file's end instead of data".to_owned())),
                None => None,
            };
            if let Some((at, what)) = what {
                let what = format!("{what}, which rank {} wrote", other.rank);
                return Err(EngineError::Corrupt { path, offset: offset + at as u64, what });
            }
            compared += bs;
        }
        let _ = invalidate(&file);
        if self.clients.reads != other.number {
            return Ok(compared);
        }
        for (number, sum) in (0..).zip(&self.read) {
            let Some(sum) = sum else { continue };
            heed(&self.stop)?;
            fill(&mut expected, other.seed, number);
            if crc32c::crc32c(&expected) != *sum {
                let (offset, rank) = (self.offset(other.number, number), other.rank);
                let what = format!("MPI_File_read_at_all read something else than what rank {rank} wrote");
                return Err(EngineError::Corrupt { path, offset, what });
            }
            compared += bs;
        }
        Ok(compared)
    }

    fn offset(&self, client: u32, number: u64) -> u64 {
        let (first, step) = self.collective.places(client, self.clients.of);
        first + number * step
    }

    fn open(&self, place: &OpenTarget, flags: OFlags) -> Result<(OwnedFd, PathBuf), EngineError> {
        let (path, directory) = place.directory().ok_or_else(no_directory)?;
        let path = path.join(TOP).join(FILE);
        let relative = Path::new(TOP).join(FILE);
        let file = beneath::open_beneath(directory, &relative, flags);
        Ok((file.map_err(|errno| EngineError::file("open", &path, errno))?, path))
    }
}

impl Work for CollectiveWork {
    fn ready(&mut self, group: &str, part: Part) -> Result<(), EngineError> {
        let (act, numbers) = part_of(&self.collective, group, part)?;
        self.ready = None;
        self.ready = Some((act, numbers.clone(), self.blocks(act, &numbers)?));
        Ok(())
    }

    fn phase(
        &mut self,
        place: &OpenTarget,
        group: &str,
        part: Part,
        observer: &mut dyn Observer,
    ) -> Result<Window, EngineError> {
        let (act, numbers) = part_of(&self.collective, group, part)?;
        let blocks = match self.ready.take() {
            Some((of, range, blocks)) if of == act && range == numbers => blocks,
            _ => self.blocks(act, &numbers)?,
        };
        let (client, flags) = match act {
            CollectiveAct::Write => (self.clients.number, OFlags::RDWR),
            CollectiveAct::Read => (self.clients.reads, OFlags::RDONLY),
        };
        let (file, path) = self.open(place, flags)?;
        if act == CollectiveAct::Read {
            // All of it is on the disk or at the server by now: nobody reads it from this node's memory.
            let _ = invalidate(&file);
        }
        let (_, step) = self.collective.places(client, self.clients.of);
        let first = self.offset(client, numbers.start);
        let mut exchange = Exchange::begin(self.socket, act, (&file, &path), (&blocks, first, step), &self.stop)?;
        let clock = Clock::get();
        observer.window_opens();
        let begun = clock.now();
        let done = exchange.work();
        let ended = clock.now();
        observer.window_closes();
        let Done { sync_ns, cpu_ns } = done?;
        exchange.end()?;
        let mut latencies = Latencies::new();
        blocks.nanoseconds()?.into_iter().for_each(|nanoseconds| latencies.record(nanoseconds));
        let operations = numbers.end - numbers.start;
        match act {
            CollectiveAct::Write => self.written += operations,
            CollectiveAct::Read => self.keep_sums(numbers, &blocks)?,
        }
        if self.clients.is_alone() && part.index + 1 == part.of && self.collective.acts.last() == Some(&act) {
            let itself = OtherClient { number: self.clients.number, rank: self.clients.number, seed: self.seed };
            self.look_at(place, itself)?;
        }
        let elapsed = ended - begun;
        Ok(Window {
            group: group.to_owned(),
            primary_metric: BANDWIDTH,
            operations,
            bytes: operations * self.collective.bs.get(),
            seconds: seconds(elapsed),
            sync_seconds: seconds(sync_ns.min(elapsed)),
            latencies,
            server_cpu_seconds: Some(cpu_ns.map(seconds)),
            ..Window::default()
        })
    }

    fn check_other(&mut self, place: &OpenTarget, other: OtherClient) -> Result<u64, EngineError> {
        self.look_at(place, other)
    }

    /// Nothing is held open between parts.
    fn release(&mut self) {
        self.ready = None;
    }

    fn written_bytes(&self) -> u64 {
        self.written * self.collective.bs.get()
    }
}

/// What a part of a group is, and of which blocks.
fn part_of(collective: &Collective, group: &str, part: Part) -> Result<(CollectiveAct, Range<u64>), EngineError> {
    let Some(act) = collective.act(group) else {
        return Err(EngineError::Unsuitable(format!(
            "this work has no act {}; it has {}",
            model::text::escaped(group.as_bytes()),
            model::kinds::WorkloadKind::groups(collective).join(", ")
        )));
    };
    if part.index >= part.of {
        let what = format!("{group} has no part {} of {}: parts are counted from 0", part.index, part.of);
        return Err(EngineError::Unsuitable(what));
    }
    Ok((act, part.range(collective.operations)))
}

/// What the block of this number holds: random bytes that are no other block's.
fn fill(block: &mut [u8], seed: u64, number: u64) {
    Xoshiro256PlusPlus::seed_from_u64(seed ^ (number + 1).wrapping_mul(BLOCK_STREAM)).fill_bytes(block);
}

/// Reads a block; answers how many bytes there are before the file's end.
fn read_block(file: &OwnedFd, block: &mut [u8], offset: u64) -> Result<usize, Errno> {
    let mut filled = 0;
    while filled < block.len() {
        match retry_on_intr(|| pread(file, &mut block[filled..], offset + filled as u64))? {
            0 => break,
            moved => filled += moved,
        }
    }
    Ok(filled)
}

fn no_directory() -> EngineError {
    EngineError::Unsuitable("collective I/O needs a filesystem; race a lane that has a directory".to_owned())
}

#[cfg(test)]
mod tests;
