//! io_uring: registered files and fixed buffers where the kernel and the limits allow them, one
//! `io_uring_enter` that both submits a batch and waits.
//!
//! Entries are built in the ring itself and not from templates by chunk: eight stores of what is in
//! registers are cheaper than reading a template that has left the cache.

mod entry;
mod setup;

use super::slots::{Slots, probe, result_of};
use super::{Action, Completion, Operation, OperationFlags, Queue, Setup};
use crate::buffers::Memory;
use crate::error::EngineError;
use entry::Form;
use io_uring::{EnterFlags, IoUring, opcode};
pub(super) use setup::available;
use std::os::fd::{AsRawFd, OwnedFd};
use std::rc::Rc;
use std::time::Duration;

/// Set in the user data of a write whose linked `fdatasync` answers for both.
const FIRST_OF_PAIR: u64 = 1 << 63;
/// Set in the user data of operations that a worker thread of the kernel does, and that take their
/// file only when it begins them.
const LATE: u64 = 1 << 62;
/// Looks at the completion ring before a queue with a submission thread sleeps: some microseconds,
/// what a sleep and a wake-up cost.
const LOOKS_BEFORE_SLEEP: u32 = 2000;
/// Tries to hand operations over while the kernel is short of memory.
const TRIES_UNDER_PRESSURE: u32 = 10_000;
/// Looks at a full ring that a submission thread is emptying before this thread gives up its CPU.
const LOOKS_BEFORE_YIELDING: u32 = 2000;
/// What a worker thread of the kernel needs, with much to spare, between its answer and the end of its work.
const WORKER_SETTLES: Duration = Duration::from_millis(1);
/// IORING_REGISTER_RING_FDS and its reverse, of linux/io_uring.h.
const REGISTER_RING_FDS: libc::c_uint = 20;
const UNREGISTER_RING_FDS: libc::c_uint = 21;

/// struct io_uring_getevents_arg of linux/io_uring.h, as Linux 6.12 knows it.
#[derive(Default)]
#[repr(C)]
struct GetEvents {
    signal_mask: u64,
    signal_mask_bytes: u32,
    min_wait_usec: u32,
    timeout: u64,
}

struct Uring {
    /// The kernel can wait with a timeout (Linux 5.11).
    waits: bool,
    // Dropped first, after `Drop::drop` has waited for everything in flight.
    ring: IoUring,
    /// Keeps the descriptors open: unregistered files go by their numbers.
    slots: Slots,
    memory: Rc<Memory>,
    form: Form,
    flags: OperationFlags,
    files_registered: bool,
    probed: bool,
    /// Discards on devices go through the ring (Linux 6.12).
    ring_discards: bool,
    /// What `io_uring_enter` takes: the ring's descriptor, or its registered number, for which the
    /// kernel need not look through the table of open files.
    enter_on: i32,
    enter_flags: u32,
    /// Entries in the submission ring that the kernel has not been told of.
    queued: u32,
    /// Operations queued or in flight that are not in `early`.
    in_flight: u32,
    /// Of these, operations marked [`LATE`]. While there are none, completions are taken over
    /// without a look at their marks.
    late: u32,
    /// Result of a write whose `fdatasync` is still to answer, and the bytes it should have moved.
    first_of_pair: Option<i32>,
    pair_bytes: i32,
    /// Completions that were taken over before anyone asked for them.
    early: Vec<Completion>,
    notes: Vec<String>,
}

pub(super) fn open(setup: Setup) -> Result<Box<dyn Queue>, EngineError> {
    let mut notes = Vec::new();
    let slots = Slots::new(setup.files.clone());
    setup::check(&setup, &slots)?;
    let ring = setup::build(setup.depth, setup.flags, &mut notes)?;
    let files_registered = setup::register_files(&ring, &slots, &mut notes);
    let buffer_shift = setup::register_buffers(&ring, &setup.memory, &mut notes);
    let descriptor = ring.as_raw_fd();
    let (enter_on, enter_flags) = match register_ring(descriptor) {
        Some(number) => (number, EnterFlags::REGISTERED_RING.bits()),
        None => (descriptor, 0),
    };
    Ok(Box::new(Uring {
        waits: ring.params().is_feature_ext_arg(),
        probed: slots.any(),
        form: Form::new(files_registered, buffer_shift, setup.flags),
        ring,
        slots,
        memory: setup.memory,
        flags: setup.flags,
        files_registered,
        ring_discards: kernel_is_at_least(6, 12),
        enter_on,
        enter_flags,
        queued: 0,
        in_flight: 0,
        late: 0,
        first_of_pair: None,
        pair_bytes: 0,
        early: Vec::with_capacity(if setup.flags.hipri { setup.depth as usize } else { 0 }),
        notes,
    }))
}

fn ring_error(action: &'static str, errno: i32) -> EngineError {
    EngineError::Ring { engine: "io_uring", action, errno }
}

fn kernel_is_at_least(major: u32, minor: u32) -> bool {
    let name = rustix::system::uname();
    let release = name.release().to_string_lossy();
    let mut numbers = release.split(|c: char| !c.is_ascii_digit()).map(|number| number.parse().unwrap_or(0));
    (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0)) >= (major, minor)
}

/// `struct io_uring_rsrc_update`.
#[repr(C)]
struct RingUpdate {
    number: u32,
    reserved: u32,
    descriptor: u64,
}

/// Registers the ring itself with this thread (5.18); its number, or `None` where that is refused.
fn register_ring(descriptor: i32) -> Option<i32> {
    let mut update = RingUpdate { number: u32::MAX, reserved: 0, descriptor: descriptor as u64 };
    // SAFETY: the call reads and writes one `struct io_uring_rsrc_update`, which outlives it.
    let done =
        unsafe { libc::syscall(libc::SYS_io_uring_register, descriptor, REGISTER_RING_FDS, &raw mut update, 1u32) };
    (done == 1).then_some(update.number as i32)
}

fn unregister_ring(descriptor: i32, number: i32) {
    let mut update = RingUpdate { number: number as u32, reserved: 0, descriptor: 0 };
    // SAFETY: as `register_ring`. A refusal leaves the ring open until the thread ends, no more.
    unsafe { libc::syscall(libc::SYS_io_uring_register, descriptor, UNREGISTER_RING_FDS, &raw mut update, 1u32) };
}

/// What became of a call of `io_uring_enter`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Entered {
    Done,
    /// The kernel takes no more for the moment: completions must be taken over first.
    Pressure,
}

impl Uring {
    #[inline]
    fn descriptor(&self, slot: u32) -> i32 {
        if self.files_registered { slot as i32 } else { self.slots.descriptor(slot) }
    }

    #[inline]
    fn push(&mut self, entry: &io_uring::squeue::Entry) -> Result<(), EngineError> {
        // SAFETY: the entry's buffer lies in memory that `self` keeps alive until the kernel has
        // answered, and its chunk belongs to this operation alone (the trait's contract).
        if unsafe { self.ring.submission().push(entry) }.is_err() {
            // Deeper than the largest submission ring: what it holds goes to the kernel.
            self.hand_over()?;
            // SAFETY: as above.
            let pushed = unsafe { self.ring.submission().push(entry) };
            pushed.map_err(|_| ring_error("take more operations than its depth", libc::EBUSY))?;
        }
        self.queued += 1;
        Ok(())
    }

    /// Two linked entries, which the kernel sees both or not at all: a submission thread that took the
    /// first alone would break the link, and the sync would not wait for the write.
    fn push_pair(&mut self, pair: &[io_uring::squeue::Entry; 2]) -> Result<(), EngineError> {
        // SAFETY: as in `push`.
        if unsafe { self.ring.submission().push_multiple(pair) }.is_err() {
            self.hand_over()?;
            // SAFETY: as above.
            let pushed = unsafe { self.ring.submission().push_multiple(pair) };
            pushed.map_err(|_| ring_error("take more operations than its depth", libc::EBUSY))?;
        }
        self.queued += 2;
        Ok(())
    }

    /// Everything but reads and writes.
    #[cold]
    fn queue_other(&mut self, operation: Operation) -> Result<(), EngineError> {
        let (descriptor, chunk) = (self.descriptor(operation.file), operation.chunk);
        if self.flags.hipri && operation.action != Action::WriteAndSync {
            // A polled ring takes reads and writes only.
            self.early.push(Completion { chunk, result: result_of(self.run(operation)) });
            return Ok(());
        }
        let mark = u64::from(chunk) | LATE;
        let entry = match operation.action {
            Action::WriteAndSync => {
                if self.flags.hipri {
                    return Err(EngineError::Unsuitable(
                        "io_uring cannot sync a write whose completion is polled for; set hipri = false".to_owned(),
                    ));
                }
                self.pair_bytes = operation.bytes as i32;
                let write = self.form.linked(operation, descriptor, self.memory.chunk(chunk));
                let write = write.user_data(u64::from(chunk) | FIRST_OF_PAIR);
                let sync = self.form.sync(chunk, descriptor, true).user_data(mark);
                self.push_pair(&[write, sync])?;
                self.late += 1;
                self.in_flight += 1;
                return Ok(());
            }
            Action::Trim if self.slots.is_device(operation.file) == Ok(true) => {
                if !self.ring_discards {
                    self.early.push(Completion { chunk, result: result_of(self.run(operation)) });
                    return Ok(());
                }
                self.form.discard(operation, descriptor)
            }
            Action::Trim => self.form.hole(operation, descriptor),
            _ => self.form.sync(chunk, descriptor, operation.action == Action::Fdatasync),
        };
        self.push(&entry.user_data(mark))?;
        self.late += 1;
        self.in_flight += 1;
        Ok(())
    }

    /// Does by a call of its own what the ring cannot do.
    fn run(&self, operation: Operation) -> Result<usize, rustix::io::Errno> {
        match operation.action {
            Action::Trim => self.slots.discard(operation.file, operation.offset, operation.bytes),
            action => self.slots.sync(operation.file, action == Action::Fdatasync),
        }
    }

    /// One `io_uring_enter` with all that is queued.
    #[inline]
    fn enter(&mut self, submit: u32, least: u32, flags: u32) -> Result<Entered, EngineError> {
        self.enter_with(submit, least, flags, None)
    }

    #[inline]
    fn enter_with(
        &mut self,
        submit: u32,
        least: u32,
        flags: u32,
        argument: Option<&GetEvents>,
    ) -> Result<Entered, EngineError> {
        let (pointer, length) = match argument {
            Some(argument) => (std::ptr::from_ref(argument), size_of::<GetEvents>()),
            None => (std::ptr::null(), 0),
        };
        loop {
            let flags = flags | self.enter_flags;
            // SAFETY: the pointer is null or to a whole argument of the length given, which outlives the
            // call; the ring's entries are valid by `push`.
            let result = unsafe {
                libc::syscall(libc::SYS_io_uring_enter, self.enter_on, submit, least, flags, pointer, length)
            };
            if result >= 0 {
                self.queued -= (result as u32).min(submit);
                return Ok(Entered::Done);
            }
            match std::io::Error::last_os_error().raw_os_error() {
                Some(libc::EINTR) => {}
                // The while is over before anything completed; whatever was submitted would be answered.
                Some(libc::ETIME) => return Ok(Entered::Done),
                Some(libc::EAGAIN | libc::EBUSY) => return Ok(Entered::Pressure),
                errno => return Err(ring_error("submit and wait", errno.unwrap_or(libc::EIO))),
            }
        }
    }

    /// Tells the submission thread that there is work, where it has gone to sleep.
    #[inline]
    fn wake(&mut self) -> Result<(), EngineError> {
        if self.queued == 0 {
            return Ok(());
        }
        // The kernel, in this order, says that it sleeps and looks once more; we, in this order,
        // have published entries and look whether it sleeps. The crate puts the fence between.
        if self.ring.submission().need_wakeup() {
            let queued = self.queued;
            self.enter(queued, 0, EnterFlags::SQ_WAKEUP.bits())?;
        }
        self.queued = 0;
        Ok(())
    }

    /// Hands everything queued to the kernel, whatever it takes; afterwards nothing is queued, and
    /// every file is taken but those of operations marked [`LATE`].
    #[cold]
    fn hand_over(&mut self) -> Result<(), EngineError> {
        let mut tries = 0;
        if self.flags.sqthread_poll {
            // The thread answers entries before it moves the ring's head past them, so a full ring is
            // mostly microseconds from an empty one: only a thread that lost its CPU needs ours.
            let mut looks = 0;
            while !self.ring.submission().is_empty() {
                self.queued = self.queued.max(1);
                self.wake()?;
                looks += 1;
                if looks < LOOKS_BEFORE_YIELDING {
                    std::hint::spin_loop();
                } else {
                    std::thread::yield_now();
                }
            }
            // The thread moves the ring's head once it has begun what it took, files included.
            return Ok(());
        }
        while self.queued > 0 {
            if self.enter(self.queued, 0, 0)? == Entered::Pressure {
                self.relieve(&mut tries)?;
            }
        }
        Ok(())
    }

    /// Makes room in a kernel that takes no more: waits for a completion, or a while where nothing
    /// is in flight.
    #[cold]
    fn relieve(&mut self, tries: &mut u32) -> Result<(), EngineError> {
        *tries += 1;
        if *tries > TRIES_UNDER_PRESSURE {
            return Err(ring_error("hand operations to the kernel", libc::EAGAIN));
        }
        if self.in_flight > self.queued {
            let waits = u32::from(self.ring.completion().is_empty());
            self.enter(0, waits, EnterFlags::GETEVENTS.bits())?;
            self.stash();
        } else {
            std::thread::yield_now();
        }
        Ok(())
    }

    /// Takes completions over before they are asked for.
    #[cold]
    fn stash(&mut self) {
        let mut early = std::mem::take(&mut self.early);
        self.harvest(&mut early);
        self.early = early;
    }

    /// Takes over what the kernel has answered.
    #[inline]
    fn harvest(&mut self, completions: &mut Vec<Completion>) {
        if self.late > 0 {
            return self.harvest_marked(completions);
        }
        let answers = self.ring.completion();
        self.in_flight -= answers.len() as u32;
        completions
            .extend(answers.map(|answer| Completion { chunk: answer.user_data() as u32, result: answer.result() }));
    }

    #[cold]
    fn harvest_marked(&mut self, completions: &mut Vec<Completion>) {
        for answer in self.ring.completion() {
            let (user_data, result) = (answer.user_data(), answer.result());
            if user_data & FIRST_OF_PAIR != 0 {
                self.first_of_pair = Some(result);
                continue;
            }
            let mut answer = result;
            if user_data & LATE != 0 {
                self.late -= 1;
                // A failed or short write breaks the link and cancels the sync: then the write's own
                // result tells what happened. After a whole write it stands for a sync that succeeded.
                answer = match self.first_of_pair.take() {
                    Some(write) if write != self.pair_bytes || result >= 0 => write,
                    _ => result,
                };
            }
            self.in_flight -= 1;
            completions.push(Completion { chunk: user_data as u32, result: answer });
        }
    }

    /// Waits on a ring whose submissions a thread takes: first by looking, then asleep.
    fn wait_for_thread(&mut self, least: u32) -> Result<(), EngineError> {
        self.wake()?;
        for _ in 0..LOOKS_BEFORE_SLEEP {
            if self.ring.completion().len() >= least as usize {
                return Ok(());
            }
            std::hint::spin_loop();
        }
        let mut flags = EnterFlags::GETEVENTS;
        flags.set(EnterFlags::SQ_WAKEUP, self.ring.submission().need_wakeup());
        self.enter(0, least, flags.bits()).map(|_| ())
    }

    /// Submits everything queued and waits until the completion ring holds `least`.
    #[inline]
    fn submit_and_wait(&mut self, least: u32, tries: &mut u32) -> Result<(), EngineError> {
        if self.flags.sqthread_poll {
            return self.wait_for_thread(least);
        }
        if self.queued == 0 && self.ring.completion().len() >= least as usize {
            return Ok(());
        }
        match self.enter(self.queued, least, EnterFlags::GETEVENTS.bits())? {
            Entered::Done => Ok(()),
            Entered::Pressure => self.relieve(tries),
        }
    }
}

impl Queue for Uring {
    #[inline]
    fn queue(&mut self, operation: Operation) -> Result<(), EngineError> {
        if !matches!(operation.action, Action::Read | Action::Write) {
            return self.queue_other(operation);
        }
        let address = self.memory.chunk(operation.chunk);
        let entry = self.form.transfer(operation, self.descriptor(operation.file), address);
        self.push(&entry)?;
        self.in_flight += 1;
        Ok(())
    }

    /// io_uring begins direct I/O without leave to wait. Where the device has no room for all parts of a large
    /// request, filesystems on the kernel's older code for direct I/O (fs/direct-io.c: jfs, nilfs2, ReiserFS)
    /// complete it with EAGAIN, and the kernel does not always do it again by itself (io_uring/rw.c,
    /// io_rw_should_reissue: not from an interrupt).
    #[cold]
    fn again(&mut self, operation: Operation) -> i32 {
        let (file, bytes) = (self.slots.descriptor(operation.file), operation.bytes as usize);
        let (address, offset) = (self.memory.chunk(operation.chunk).cast(), operation.offset as i64);
        // SAFETY: the chunk is this operation's alone until it has completed, and holds so many bytes.
        let moved = unsafe {
            match operation.action {
                Action::Read => libc::pread(file, address, bytes, offset),
                Action::Write => libc::pwrite(file, address, bytes, offset),
                _ => return -libc::EAGAIN,
            }
        };
        match moved {
            0.. => moved as i32,
            _ => -std::io::Error::last_os_error().raw_os_error().unwrap_or(libc::EIO),
        }
    }

    fn submit(&mut self) -> Result<(), EngineError> {
        if self.flags.sqthread_poll {
            return self.wake();
        }
        while self.queued > 0 {
            // What the kernel cannot take now goes with the next reap.
            if self.enter(self.queued, 0, 0)? == Entered::Pressure {
                break;
            }
        }
        Ok(())
    }

    #[inline]
    fn reap(&mut self, least: u32, completions: &mut Vec<Completion>) -> Result<(), EngineError> {
        let (before, mut tries) = (completions.len(), 0);
        let least = least.min(self.in_flight + self.early.len() as u32).max(1);
        loop {
            if !self.early.is_empty() {
                completions.append(&mut self.early);
            }
            let missing = least.saturating_sub((completions.len() - before) as u32).min(self.in_flight);
            // A first answer of a pair is one more in the ring than operations; the loop goes on then.
            self.submit_and_wait(missing, &mut tries)?;
            self.harvest(completions);
            if !self.early.is_empty() {
                completions.append(&mut self.early);
            }
            if self.in_flight == 0 || completions.len() - before >= least as usize && self.queued == 0 {
                return Ok(());
            }
        }
    }

    fn reap_until(&mut self, nanoseconds: u64, completions: &mut Vec<Completion>) -> Result<(), EngineError> {
        if self.flags.hipri || self.flags.sqthread_poll || !self.early.is_empty() || self.late > 0 || !self.waits {
            return super::nap_until(self, nanoseconds, completions);
        }
        let time = libc::timespec {
            tv_sec: (nanoseconds / 1_000_000_000) as i64,
            tv_nsec: (nanoseconds % 1_000_000_000) as i64,
        };
        let argument = GetEvents { timeout: std::ptr::from_ref(&time) as u64, ..GetEvents::default() };
        let flags = (EnterFlags::GETEVENTS | EnterFlags::EXT_ARG).bits();
        // Without memory in the kernel, the next reap hands over what is still queued.
        let _ = self.enter_with(self.queued, 1, flags, Some(&argument))?;
        self.harvest(completions);
        Ok(())
    }

    #[inline]
    fn poll(&mut self, completions: &mut Vec<Completion>) -> Result<(), EngineError> {
        if !self.early.is_empty() {
            completions.append(&mut self.early);
        }
        if self.flags.sqthread_poll {
            self.wake()?;
        } else {
            let ring = self.ring.submission();
            // Finished work that waits for us to enter the kernel, or, on a polled ring, to look.
            let pending = ring.taskrun() || ring.cq_overflow() || (self.flags.hipri && self.in_flight > 0);
            drop(ring);
            if self.queued > 0 || pending {
                self.enter(self.queued, 0, EnterFlags::GETEVENTS.bits())?;
            }
        }
        self.harvest(completions);
        Ok(())
    }

    fn set_file(&mut self, slot: u32, file: Option<Rc<OwnedFd>>) -> Result<(), EngineError> {
        if let Some(file) = &file {
            setup::check_hipri(file, self.flags)?;
            if !self.probed {
                probe(file, self.flags)?;
                self.probed = true;
            }
        }
        // What is queued takes its file when it is submitted, and what a worker thread does takes
        // its own when that begins: both must have theirs first.
        self.hand_over()?;
        let mut tries = 0;
        while self.late > 0 {
            self.submit_and_wait(1, &mut tries)?;
            self.stash();
        }
        if self.files_registered {
            let descriptor = file.as_ref().map_or(-1, |file| file.as_raw_fd());
            let update = self.ring.submitter().register_files_update(slot, &[descriptor]);
            update.map_err(|error| ring_error("register a file", error.raw_os_error().unwrap_or(libc::EIO)))?;
        }
        // The kernel holds a reference of its own for every operation that was submitted.
        self.slots.set(slot, file);
        Ok(())
    }

    fn notes(&self) -> &[String] {
        &self.notes
    }
}

impl Uring {
    /// Waits for everything queued and in flight, and forgets the answers.
    fn finish(&mut self) -> Result<(), EngineError> {
        let mut tries = 0;
        while self.in_flight > 0 {
            self.submit_and_wait(1, &mut tries)?;
            self.stash();
        }
        Ok(())
    }

    /// The kernel lets a file go some time after it has answered the last operation on it: a worker
    /// thread when it has put its work aside, a submission thread in its next turn, and else we
    /// ourselves when we next enter the kernel. Two empty operations, one by one, make those turns.
    fn settle(&mut self) -> Result<(), EngineError> {
        std::thread::sleep(WORKER_SETTLES);
        for _ in 0..2 {
            self.push(&opcode::Nop::new().build())?;
            self.in_flight += 1;
            self.finish()?;
        }
        Ok(())
    }
}

impl Drop for Uring {
    fn drop(&mut self) {
        let finished = self.finish();
        if finished.is_err() {
            // The kernel may still write into the buffers: losing the memory is the lesser evil.
            std::mem::forget(self.memory.clone());
        }
        // The kernel takes a closed ring apart some time later, and until then a registered file
        // keeps its filesystem busy: an unmount right after would be refused. Giving the
        // registrations back ourselves is done when the call returns; without one it fails, which
        // is as good.
        let _ = self.ring.submitter().unregister_files();
        let _ = self.ring.submitter().unregister_buffers();
        if finished.is_ok() {
            let _ = self.settle();
        }
        if self.enter_flags != 0 {
            unregister_ring(self.ring.as_raw_fd(), self.enter_on);
        }
    }
}
