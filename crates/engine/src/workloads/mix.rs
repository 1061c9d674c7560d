//! Threads that repeat a turn of mixed operations on files that they share.
//!
//! Which file an operation takes is settled with one atomic instruction on that file's own word: nothing is locked and
//! nothing is allocated between the first operation and the last.

mod pools;

use super::{Observer, Work, heed};
use crate::buffers::Room;
use crate::clock::{Clock, nanoseconds, seconds};
use crate::databases::Random;
use crate::error::EngineError;
use crate::histogram::Latencies;
use crate::target::OpenTarget;
use crate::window::{LATENCY_P50, OPERATIONS_PER_SECOND, Window};
use crate::workers::{RunState, Running, Threads};
use model::mix::{ALL, Mix, MixOperation, MixStep};
use pools::{Pools, Slot, Want};
use rustix::fs::{AtFlags, Mode, OFlags, fsync, ftruncate, openat, unlinkat};
use rustix::io::{Errno, read, write};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

/// All files lie in this folder of the target.
const TOP: &str = "fairlane-mix";
/// Bytes of one read call, and of the random bytes that a thread writes from.
const ROOM: usize = 1 << 20;

/// Mixed operations, prepared: the files are there.
pub struct MixWork {
    mix: Mix,
    seed: u64,
    pools: Pools,
    written: AtomicU64,
    /// Slices so far, so that no two draw alike.
    slices: u64,
    stop: Arc<AtomicBool>,
}

/// What one thread did of one step, within the window.
struct Did {
    operations: u64,
    bytes: u64,
    latencies: Latencies,
}

impl MixWork {
    /// Makes the files; what an interrupted race left there is removed.
    ///
    /// # Errors
    /// Where there is no directory, or a call fails.
    pub fn prepare(place: &OpenTarget, mix: &Mix, seed: u64, stop: Arc<AtomicBool>) -> Result<Self, EngineError> {
        let (path, directory) = place.directory().ok_or_else(|| {
            EngineError::Unsuitable("mixed operations need a filesystem; race a lane that has a directory".to_owned())
        })?;
        let pools = Pools::make((path, directory), TOP, mix, seed, &stop)?;
        Ok(MixWork { mix: mix.clone(), seed, pools, written: AtomicU64::new(0), slices: 0, stop })
    }

    fn top(&self, place: &OpenTarget) -> Result<OwnedFd, EngineError> {
        let Some((path, directory)) = place.directory() else { return Err(EngineError::Interrupted) };
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        openat(directory, TOP, flags, Mode::empty())
            .map_err(|errno| EngineError::file("open directory", path.join(TOP), errno))
    }
}

/// One thread at work.
struct MixWorker<'a> {
    work: &'a MixWork,
    top: BorrowedFd<'a>,
    state: &'a RunState,
    random: Random,
    /// For what is read.
    room: Room,
    /// What is written comes from here.
    source: Room,
    /// Files that steps hold open, by step.
    open: Vec<Option<(usize, OwnedFd)>>,
    written: u64,
}

impl<'a> MixWorker<'a> {
    fn new(work: &'a MixWork, top: BorrowedFd<'a>, state: &'a RunState, thread: u64) -> Result<Self, EngineError> {
        let mut random = Random::new(work.seed ^ (thread << 32) ^ (work.slices << 52));
        let mut source = Room::new(ROOM)?;
        source.chunks_exact_mut(8).for_each(|word| word.copy_from_slice(&random.next().to_le_bytes()));
        let open = |step: &MixStep| {
            if step.operation != MixOperation::Append {
                return Ok(None);
            }
            let slots = work.pools.slots(work.pool(step));
            let at = (thread % slots.len() as u64) as usize;
            let flags = OFlags::WRONLY | OFlags::APPEND | OFlags::CLOEXEC;
            let file = openat(top, &*slots[at].name, flags, Mode::empty());
            file.map(|file| Some((at, file))).map_err(|errno| slots[at].error("open", errno))
        };
        let open = work.mix.step.iter().map(open).collect::<Result<_, _>>()?;
        // Not zeros, which the kernel would hand out page by page while the first read is timed.
        Ok(MixWorker { work, top, state, random, room: Room::new(ROOM)?, source, open, written: 0 })
    }

    /// Turn after turn until it is over.
    fn run(&mut self) -> Result<Vec<Did>, EngineError> {
        let none = || Did { operations: 0, bytes: 0, latencies: Latencies::resident() };
        let mut did: Vec<Did> = self.work.mix.step.iter().map(|_| none()).collect();
        let clock = Clock::get();
        loop {
            for (at, step) in self.work.mix.step.iter().enumerate() {
                for _ in 0..step.times {
                    if self.state.is_over() {
                        return Ok(did);
                    }
                    heed(&self.work.stop)?;
                    let begun = clock.now();
                    let Some(bytes) = self.operate(at, step)? else { return Ok(did) };
                    let ended = clock.now();
                    // What ends within the window counts.
                    if self.state.now() == Running::Measured {
                        let did = &mut did[at];
                        did.latencies.record(ended - begun);
                        did.operations += 1;
                        did.bytes += bytes;
                    }
                }
            }
        }
    }

    /// One operation; answers the bytes that it moved. `None`: it is over, and no file was free.
    fn operate(&mut self, at: usize, step: &MixStep) -> Result<Option<u64>, EngineError> {
        let pool = self.work.pool(step);
        if step.operation == MixOperation::Append {
            return self.append_to_shared(at, pool, step).map(Some);
        }
        let want = match step.operation {
            MixOperation::Create => Want::Absent,
            MixOperation::Read => Want::Shared,
            _ => Want::Alone,
        };
        let slot = loop {
            match self.work.pools.take(pool, want, &mut self.random) {
                Some(slot) => break slot,
                // Others hold what is there, for a moment.
                None if self.state.is_over() => return Ok(None),
                None => {
                    heed(&self.work.stop)?;
                    std::thread::yield_now();
                }
            }
        };
        let done = self.do_to(slot, step);
        // After an error the slice is over.
        slot.give_back(want, step.operation != MixOperation::Delete);
        done.map(Some)
    }

    fn do_to(&mut self, slot: &Slot, step: &MixStep) -> Result<u64, EngineError> {
        let top = self.top;
        let open = |flags: OFlags, action: &'static str| {
            openat(top, &*slot.name, flags | OFlags::CLOEXEC, Mode::from_raw_mode(0o644))
                .map_err(|errno| slot.error(action, errno))
        };
        match step.operation {
            MixOperation::Delete => {
                unlinkat(self.top, &*slot.name, AtFlags::empty()).map_err(|errno| slot.error("remove", errno))?;
                slot.size.store(0, Ordering::Relaxed);
                Ok(0)
            }
            MixOperation::Read => self.read(&open(OFlags::RDONLY, "open")?, slot),
            MixOperation::Create => {
                let file = open(OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL, "create")?;
                self.append(&file, slot, step)
            }
            MixOperation::ReadAppend | MixOperation::Append => {
                let file = open(OFlags::RDWR | OFlags::APPEND, "open")?;
                let bytes = self.read(&file, slot)?;
                Ok(bytes + self.append(&file, slot, step)?)
            }
        }
    }

    /// The whole file.
    fn read(&mut self, file: &OwnedFd, slot: &Slot) -> Result<u64, EngineError> {
        let mut bytes = 0;
        loop {
            match read(file, &mut self.room[..]).map_err(|errno| slot.error("read", errno))? {
                0 => break,
                count => bytes += count as u64,
            }
        }
        match slot.size.load(Ordering::Relaxed) {
            size if size == bytes => Ok(bytes),
            size => Err(slot.wrong_size(bytes, size)),
        }
    }

    fn append(&mut self, file: &OwnedFd, slot: &Slot, step: &MixStep) -> Result<u64, EngineError> {
        let bytes = self.write(file, slot, step)?;
        slot.size.fetch_add(bytes, Ordering::Relaxed);
        if step.sync {
            fsync(file).map_err(|errno| slot.error("sync", errno))?;
        }
        Ok(bytes)
    }

    fn write(&mut self, file: &OwnedFd, slot: &Slot, step: &MixStep) -> Result<u64, EngineError> {
        let bytes = 1 + self.random.below(step.append.get());
        let mut left = bytes;
        while left > 0 {
            let length = left.min(ROOM as u64) as usize;
            let from = self.random.below((ROOM - length) as u64 + 1) as usize;
            match write(file, &self.source[from..from + length]).map_err(|errno| slot.error("write", errno))? {
                0 => return Err(slot.error("write", Errno::NOSPC)),
                count => left -= count as u64,
            }
        }
        self.written += bytes;
        Ok(bytes)
    }

    /// To a file that all threads hold open; whoever fills it empties it.
    fn append_to_shared(&mut self, at: usize, pool: usize, step: &MixStep) -> Result<u64, EngineError> {
        let Some((place, file)) = self.open[at].take() else { return Ok(0) };
        let slot = &self.work.pools.slots(pool)[place];
        let bytes = self.write(&file, slot, step)?;
        let (rotate, before) = (self.work.mix.files[pool].rotate.get(), slot.size.fetch_add(bytes, Ordering::Relaxed));
        if (before + bytes) / rotate != before / rotate {
            ftruncate(&file, 0).map_err(|errno| slot.error("truncate", errno))?;
        }
        if step.sync {
            fsync(&file).map_err(|errno| slot.error("sync", errno))?;
        }
        self.open[at] = Some((place, file));
        Ok(bytes)
    }
}

impl MixWork {
    /// The pool of a step; the check made sure that there is one.
    fn pool(&self, step: &MixStep) -> usize {
        self.mix.pool_of(step).unwrap_or_default()
    }

    fn windows(&self, all: Vec<Vec<Did>>, seconds: f64) -> Vec<Window> {
        let window = |group: &str, primary_metric| Window {
            group: group.to_owned(),
            primary_metric,
            seconds,
            ..Window::default()
        };
        let mut whole = window(ALL, OPERATIONS_PER_SECOND);
        let mut of_steps: Vec<Window> = self.mix.step.iter().map(|step| window(&step.name, LATENCY_P50)).collect();
        for (at, did) in all.iter().flat_map(|of_thread| of_thread.iter().enumerate()) {
            let window = &mut of_steps[at];
            window.operations += did.operations;
            window.bytes += did.bytes;
            window.latencies.add(&did.latencies);
            whole.operations += did.operations;
            // What is read alone: so much of it comes from memory or from the disk.
            whole.bytes += if self.mix.step[at].operation.only_reads() { did.bytes } else { 0 };
        }
        [vec![whole], of_steps].concat()
    }
}

impl Work for MixWork {
    fn slice(
        &mut self,
        place: &OpenTarget,
        warm_up_seconds: f64,
        seconds_to_measure: f64,
        observer: &mut dyn Observer,
    ) -> Result<Vec<Window>, EngineError> {
        let top = self.top(place)?;
        self.slices += 1;
        let (work, state) = (&*self, &RunState::default());
        let mut workers = (0..u64::from(work.mix.threads))
            .map(|thread| MixWorker::new(work, top.as_fd(), state, thread))
            .collect::<Result<Vec<_>, _>>()?;
        let works = workers.iter_mut().map(|worker| {
            // Nobody goes on where one failed.
            || worker.run().inspect_err(|_| state.end())
        });
        let [warm_up, window] = [warm_up_seconds, seconds_to_measure].map(|of| Duration::from_nanos(nanoseconds(of)));
        let lead = |_: &dyn Fn() -> bool| {
            let timed = state.wait(warm_up, &work.stop, || ()).and_then(|()| {
                let opened = state.open_window(observer);
                let waited = state.wait(window, &work.stop, || ());
                let took = seconds(state.close_window(observer) - opened);
                waited.map(|()| took)
            });
            state.end();
            timed
        };
        let ran = Threads::default().run(works, || state.end(), lead);
        work.written.fetch_add(workers.iter().map(|worker| worker.written).sum(), Ordering::Relaxed);
        let (did, timed) = ran?;
        let did = did.into_iter().collect::<Result<Vec<_>, _>>()?;
        Ok(self.windows(did, timed?))
    }

    /// Every file that is there has its size, and no other is there. The contents of a file that all threads append to
    /// are in no order that anybody knows.
    fn verify(&mut self, place: &OpenTarget) -> Result<f64, EngineError> {
        let begun = Clock::get().now();
        let top = self.top(place)?;
        let is_shared = |pool: usize| {
            self.mix.step.iter().any(|step| step.operation == MixOperation::Append && self.pool(step) == pool)
        };
        for pool in 0..self.mix.files.len() {
            self.pools.verify(pool, top.as_fd(), is_shared(pool), &self.stop)?;
        }
        Ok(seconds(Clock::get().now() - begun))
    }

    /// Nothing is held open between slices.
    fn release(&mut self) {}

    fn written_bytes(&self) -> u64 {
        self.written.load(Ordering::Relaxed)
    }
}
