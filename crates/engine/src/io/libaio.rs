//! Linux's older asynchronous I/O (`io_submit`), by raw system calls: what programs that use libaio
//! do. Completions are read from the ring that the kernel shares with us, so that only waiting costs
//! a call.

use super::slots::{RWF_DONTCACHE, Slots, is_direct, last_errno, probe, result_of};
use super::{Action, Completion, Operation, OperationFlags, Queue, Setup, nap_until, refuse_sqthread_poll};
use crate::buffers::Memory;
use crate::error::EngineError;
use model::NoteKind;
use rustix::io::Errno;
use std::os::fd::OwnedFd;
use std::ptr::NonNull;
use std::rc::Rc;
use std::sync::atomic::{AtomicU32, Ordering};

/// `struct aio_ring` begins with it where a user may read it.
const RING_MAGIC: u32 = 0xa10a_10a1;
/// `IOCB_CMD_*` of linux/aio_abi.h.
const PREAD: u16 = 0;
const PWRITE: u16 = 1;
const FSYNC: u16 = 2;
const FDSYNC: u16 = 3;
/// Tries to hand operations over while the kernel has no room and nothing is in flight.
const TRIES_WITHOUT_ROOM: u32 = 10_000;

/// `struct iocb` of linux/aio_abi.h.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default)]
struct Control {
    data: u64,
    #[cfg(target_endian = "little")]
    key: u32,
    operation_flags: u32,
    #[cfg(target_endian = "big")]
    key: u32,
    opcode: u16,
    priority: i16,
    descriptor: i32,
    address: u64,
    bytes: u64,
    offset: i64,
    reserved: u64,
    flags: u32,
    event_descriptor: u32,
}

/// `struct io_event`.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default)]
struct Event {
    data: u64,
    control: u64,
    result: i64,
    result2: i64,
}

/// `struct aio_ring`: the events follow it.
#[repr(C)]
struct Ring {
    id: u32,
    entries: u32,
    head: AtomicU32,
    tail: AtomicU32,
    magic: u32,
    compatible_features: u32,
    incompatible_features: u32,
    header_bytes: u32,
}

/// Where the one operation of a queue of depth 1 stands that is a write and then a sync.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Pair {
    None,
    Writes(Operation),
    Syncs(Operation),
}

struct LibAio {
    context: usize,
    /// The kernel's ring, where it may be read.
    ring: Option<NonNull<Ring>>,
    slots: Slots,
    memory: Rc<Memory>,
    flags: OperationFlags,
    read_flags: u32,
    write_flags: u32,
    probed: bool,
    /// Room for `depth` operations; the kernel copies them when it takes them. What is queued lies
    /// in `first..first + queued`.
    controls: Box<[Control]>,
    /// Their addresses, made once.
    addresses: Box<[*mut Control]>,
    first: usize,
    queued: usize,
    /// Operations queued or in flight that are not in `early`.
    in_flight: u32,
    /// Where `io_getevents` puts what it answers.
    events: Box<[Event]>,
    pair: Pair,
    /// Completions of what was done or refused when it was handed over.
    early: Vec<Completion>,
    notes: Vec<String>,
}

/// Whether this kernel has the calls.
pub(super) fn available() -> Result<(), String> {
    match io_setup(1) {
        Ok(context) => {
            io_destroy(context);
            Ok(())
        }
        Err(errno) => Err(refusal(errno, 1)),
    }
}

/// Why the kernel gives no context for `depth` operations.
fn refusal(errno: Errno, depth: u32) -> String {
    match errno {
        Errno::NOSYS => {
            "the kernel is built without CONFIG_AIO, or a seccomp filter hides io_setup (ENOSYS)".to_owned()
        }
        Errno::PERM => "a seccomp filter, such as a container's, forbids io_setup (EPERM)".to_owned(),
        Errno::AGAIN => format!(
            "{depth} more operations in flight are above the machine's limit /proc/sys/fs/aio-max-nr; raise it or lower iodepth"
        ),
        Errno::NOMEM => format!("there is no memory for {depth} operations in flight; lower iodepth"),
        errno => format!("the kernel refuses io_setup for {depth} operations in flight ({errno}); lower iodepth"),
    }
}

fn io_setup(depth: u32) -> Result<usize, Errno> {
    let mut context: usize = 0;
    // SAFETY: the call reads and writes one word, which outlives it.
    match unsafe { libc::syscall(libc::SYS_io_setup, depth, &raw mut context) } {
        0 => Ok(context),
        _ => Err(last_errno()),
    }
}

/// Waits for everything in flight, then gives the context back.
fn io_destroy(context: usize) {
    // SAFETY: the context is one that `io_setup` gave, and is not used after this.
    unsafe { libc::syscall(libc::SYS_io_destroy, context) };
}

pub(super) fn open(setup: Setup) -> Result<Box<dyn Queue>, EngineError> {
    refuse_sqthread_poll("libaio", setup.flags)?;
    if setup.flags.hipri {
        return Err(EngineError::Unsuitable(
            "the kernel does not poll for completions of libaio; set hipri = false or ioengine = \"io_uring\""
                .to_owned(),
        ));
    }
    let slots = Slots::new(setup.files);
    slots.present().next().map_or(Ok(()), |file| probe(file, setup.flags))?;
    let mut notes = Vec::new();
    if slots.present().any(|file| !is_direct(file)) {
        notes.push(NoteKind::OneAfterTheOther.note("io_submit returns when they are done; set direct = true"));
    }
    let context = io_setup(setup.depth)
        .map_err(|errno| EngineError::Unavailable { name: "libaio", reason: refusal(errno, setup.depth) })?;
    let depth = setup.depth as usize;
    let mut controls = vec![Control::default(); depth].into_boxed_slice();
    let start = controls.as_mut_ptr();
    // wrapping_add: within the allocation anyway.
    let addresses = (0..depth).map(|number| start.wrapping_add(number)).collect();
    let common = if setup.flags.uncached { RWF_DONTCACHE } else { 0 };
    Ok(Box::new(LibAio {
        context,
        ring: shared_ring(context),
        probed: slots.any(),
        slots,
        memory: setup.memory,
        flags: setup.flags,
        read_flags: common,
        write_flags: common | if setup.flags.dsync { libc::RWF_DSYNC as u32 } else { 0 },
        controls,
        addresses,
        first: 0,
        queued: 0,
        in_flight: 0,
        events: vec![Event::default(); depth].into_boxed_slice(),
        pair: Pair::None,
        early: Vec::with_capacity(depth),
        notes,
    }))
}

/// The kernel's ring at the context's address, where it says that it may be read.
fn shared_ring(context: usize) -> Option<NonNull<Ring>> {
    let ring = NonNull::new(std::ptr::with_exposed_provenance_mut::<Ring>(context))?;
    // SAFETY: a context's number is the address of the `struct aio_ring` that the kernel mapped for
    // us, and its header is written before `io_setup` returns.
    let (magic, incompatible, header) = unsafe {
        let ring = ring.as_ptr();
        ((*ring).magic, (*ring).incompatible_features, (*ring).header_bytes)
    };
    (magic == RING_MAGIC && incompatible == 0 && header as usize == size_of::<Ring>()).then_some(ring)
}

impl LibAio {
    /// The next free control block; the queue is never fuller than its depth.
    #[inline]
    fn place(&mut self) -> usize {
        if self.first + self.queued == self.controls.len() {
            self.controls.copy_within(self.first..self.first + self.queued, 0);
            self.first = 0;
        }
        self.first + self.queued
    }

    #[inline]
    fn push(&mut self, control: Control) -> Result<(), EngineError> {
        let at = self.place();
        let Some(place) = self.controls.get_mut(at) else {
            return Err(aio_error("take more operations than its depth", Errno::BUSY));
        };
        *place = control;
        self.queued += 1;
        Ok(())
    }

    /// A sync; the kernel demands zeros elsewhere.
    fn sync_control(&self, operation: Operation, opcode: u16) -> Control {
        let descriptor = self.slots.descriptor(operation.file);
        Control { data: u64::from(operation.chunk), opcode, descriptor, ..Control::default() }
    }

    #[inline]
    fn transfer_control(&self, operation: Operation) -> Control {
        let (opcode, operation_flags) = match operation.action {
            Action::Read => (PREAD, self.read_flags),
            _ => (PWRITE, self.write_flags),
        };
        Control {
            data: u64::from(operation.chunk),
            operation_flags,
            opcode,
            descriptor: self.slots.descriptor(operation.file),
            address: self.memory.chunk(operation.chunk) as u64,
            bytes: u64::from(operation.bytes),
            offset: operation.offset as i64,
            ..Control::default()
        }
    }

    /// Hands over what is queued, in as few calls as the kernel takes. An operation that it refuses
    /// outright is answered with the reason. Answers whether all was taken.
    #[inline]
    fn hand_over(&mut self) -> Result<bool, EngineError> {
        while self.queued > 0 {
            // SAFETY: the addresses from `first` on are those of `queued` control blocks, all of
            // them filled; their buffers are chunks that `self.memory` keeps alive and that belong
            // to their operations alone. The kernel copies the blocks before the call returns.
            let taken = unsafe {
                libc::syscall(libc::SYS_io_submit, self.context, self.queued, self.addresses.as_ptr().add(self.first))
            };
            if taken > 0 {
                self.first += taken as usize;
                self.queued -= taken as usize;
                continue;
            }
            match last_errno() {
                Errno::AGAIN => return Ok(false),
                Errno::INTR => {}
                errno => self.refuse_first(errno),
            }
        }
        self.first = 0;
        Ok(true)
    }

    /// The first of what is queued is answered instead of being handed over.
    #[cold]
    fn refuse_first(&mut self, errno: Errno) {
        let chunk = self.controls[self.first].data as u32;
        self.early.push(Completion { chunk, result: -errno.raw_os_error() });
        self.first += 1;
        self.queued -= 1;
        self.in_flight -= 1;
        self.pair = Pair::None;
    }

    /// Hands over everything, waiting where the kernel has no room.
    fn hand_all_over(&mut self) -> Result<(), EngineError> {
        let mut tries = 0;
        while !self.hand_over()? {
            let mut early = std::mem::take(&mut self.early);
            let waits = self.in_flight > self.queued as u32;
            let result = if waits { self.take_in(1, &mut early, true) } else { Ok(()) };
            self.early = early;
            result?;
            tries += 1;
            if !waits && tries > TRIES_WITHOUT_ROOM {
                return Err(aio_error("hand operations to the kernel", Errno::AGAIN));
            }
            std::thread::yield_now();
        }
        Ok(())
    }

    /// Takes over completions: those in the shared ring, and by a call where that is not enough.
    #[inline]
    fn take_in(&mut self, least: u32, completions: &mut Vec<Completion>, waits: bool) -> Result<(), EngineError> {
        let before = completions.len();
        if let Some(ring) = self.ring {
            self.take_from_ring(ring, completions, waits)?;
            if !waits {
                return Ok(());
            }
        }
        let missing = least.saturating_sub((completions.len() - before) as u32);
        if missing == 0 && self.ring.is_some() {
            return Ok(());
        }
        let count = self.io_getevents(missing)?;
        for number in 0..count {
            let event = self.events[number];
            self.complete(event, completions, waits)?;
        }
        Ok(())
    }

    #[inline]
    fn take_from_ring(
        &mut self,
        ring: NonNull<Ring>,
        completions: &mut Vec<Completion>,
        waits: bool,
    ) -> Result<(), EngineError> {
        // SAFETY: the ring stays mapped until `io_destroy`, at drop. Its head and tail are shared
        // with the kernel and are atomics here; the rest of the header does not change.
        let header = unsafe { ring.as_ref() };
        let (mut head, tail) = (header.head.load(Ordering::Relaxed), header.tail.load(Ordering::Acquire));
        if head == tail {
            return Ok(());
        }
        // SAFETY: the events follow the header in the same mapping.
        let events = unsafe { ring.as_ptr().add(1) }.cast::<Event>();
        let entries = header.entries;
        while head != tail {
            // SAFETY: head < entries, and the kernel finished what lies before the tail, which we
            // read with acquire.
            let event = unsafe { events.add(head as usize).read() };
            head = if head + 1 == entries { 0 } else { head + 1 };
            self.complete(event, completions, waits)?;
        }
        header.head.store(head, Ordering::Release);
        Ok(())
    }

    /// Waits in the kernel until `least` events are there; `self.events` holds them.
    fn io_getevents(&mut self, least: u32) -> Result<usize, EngineError> {
        self.io_getevents_within(least, if least == 0 { Some(0) } else { None })
    }

    /// The same, for at most so many nanoseconds.
    fn io_getevents_within(&mut self, least: u32, nanoseconds: Option<u64>) -> Result<usize, EngineError> {
        let nanoseconds_or_none = nanoseconds.unwrap_or(0);
        let time = libc::timespec {
            tv_sec: (nanoseconds_or_none / 1_000_000_000) as i64,
            tv_nsec: (nanoseconds_or_none % 1_000_000_000) as i64,
        };
        let timeout = if nanoseconds.is_some() { &raw const time } else { std::ptr::null() };
        loop {
            // SAFETY: `events` has room for as many as are asked for, and the timeout outlives the call.
            let count = unsafe {
                libc::syscall(
                    libc::SYS_io_getevents,
                    self.context,
                    libc::c_long::from(least),
                    self.events.len() as libc::c_long,
                    self.events.as_mut_ptr(),
                    timeout,
                )
            };
            if count >= 0 {
                return Ok(count as usize);
            }
            match last_errno() {
                Errno::INTR => {}
                errno => return Err(aio_error("wait for completions", errno)),
            }
        }
    }

    #[inline]
    fn complete(&mut self, event: Event, completions: &mut Vec<Completion>, waits: bool) -> Result<(), EngineError> {
        let mut answer = Completion { chunk: event.data as u32, result: event.result as i32 };
        if self.pair != Pair::None {
            match self.go_on(answer, waits)? {
                Some(result) => answer.result = result,
                None => return Ok(()),
            }
        }
        self.in_flight -= 1;
        completions.push(answer);
        Ok(())
    }

    /// A write of which a sync is a part has completed, or that sync has. Answers the result of
    /// both, or `None` where the sync has just begun.
    #[cold]
    fn go_on(&mut self, answer: Completion, waits: bool) -> Result<Option<i32>, EngineError> {
        match std::mem::replace(&mut self.pair, Pair::None) {
            Pair::Writes(write) if answer.result == write.bytes as i32 => {
                if waits {
                    // As programs that use libaio do; the kernel's own way is one more thread.
                    let synced = result_of(self.slots.sync(write.file, true));
                    return Ok(Some(if synced < 0 { synced } else { answer.result }));
                }
                self.pair = Pair::Syncs(write);
                let control = self.sync_control(write, FDSYNC);
                self.push(control)?;
                self.hand_over()?;
                Ok(None)
            }
            Pair::Syncs(write) if answer.result >= 0 => Ok(Some(write.bytes as i32)),
            _ => Ok(Some(answer.result)),
        }
    }
}

fn aio_error(action: &'static str, errno: Errno) -> EngineError {
    EngineError::Ring { engine: "libaio", action, errno: errno.raw_os_error() }
}

impl Queue for LibAio {
    #[inline]
    fn queue(&mut self, operation: Operation) -> Result<(), EngineError> {
        let control = match operation.action {
            Action::Read | Action::Write => self.transfer_control(operation),
            Action::WriteAndSync => {
                self.pair = Pair::Writes(operation);
                self.transfer_control(operation)
            }
            Action::Trim => {
                // The kernel has no asynchronous discard here.
                let result = result_of(self.slots.discard(operation.file, operation.offset, operation.bytes));
                self.early.push(Completion { chunk: operation.chunk, result });
                return Ok(());
            }
            Action::Fsync => self.sync_control(operation, FSYNC),
            Action::Fdatasync => self.sync_control(operation, FDSYNC),
        };
        self.push(control)?;
        self.in_flight += 1;
        Ok(())
    }

    fn submit(&mut self) -> Result<(), EngineError> {
        // What the kernel has no room for now goes with the next reap.
        self.hand_over().map(|_| ())
    }

    #[inline]
    fn reap(&mut self, least: u32, completions: &mut Vec<Completion>) -> Result<(), EngineError> {
        let before = completions.len();
        if !self.hand_over()? {
            self.hand_all_over()?;
        }
        if !self.early.is_empty() {
            completions.append(&mut self.early);
        }
        loop {
            let missing = least.max(1).saturating_sub((completions.len() - before) as u32).min(self.in_flight);
            self.take_in(missing, completions, true)?;
            if self.in_flight == 0 || completions.len() - before >= least.max(1) as usize {
                return Ok(());
            }
        }
    }

    fn poll(&mut self, completions: &mut Vec<Completion>) -> Result<(), EngineError> {
        self.hand_over()?;
        if !self.early.is_empty() {
            completions.append(&mut self.early);
        }
        self.take_in(0, completions, false)
    }

    fn reap_until(&mut self, nanoseconds: u64, completions: &mut Vec<Completion>) -> Result<(), EngineError> {
        self.poll(completions)?;
        if self.pair != Pair::None {
            return nap_until(self, nanoseconds, completions);
        }
        if !completions.is_empty() || self.in_flight == 0 {
            return Ok(());
        }
        let count = self.io_getevents_within(1, Some(nanoseconds))?;
        for number in 0..count {
            let event = self.events[number];
            self.complete(event, completions, false)?;
        }
        Ok(())
    }

    fn set_file(&mut self, slot: u32, file: Option<Rc<OwnedFd>>) -> Result<(), EngineError> {
        if let (false, Some(file)) = (self.probed, &file) {
            probe(file, self.flags)?;
            self.probed = true;
        }
        // The kernel holds a reference of its own for every operation that it has taken.
        self.hand_all_over()?;
        self.slots.set(slot, file);
        Ok(())
    }

    fn notes(&self) -> &[String] {
        &self.notes
    }
}

impl Drop for LibAio {
    fn drop(&mut self) {
        io_destroy(self.context);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kernels_structures_have_their_sizes() {
        assert_eq!((size_of::<Control>(), size_of::<Event>(), size_of::<Ring>()), (64, 32, 32));
        assert_eq!(std::mem::offset_of!(Control, address), 24);
        assert_eq!(std::mem::offset_of!(Control, offset), 40);
    }

    #[test]
    fn every_refusal_names_its_reason() {
        for (errno, said) in [
            (Errno::AGAIN, "/proc/sys/fs/aio-max-nr"),
            (Errno::NOSYS, "CONFIG_AIO"),
            (Errno::PERM, "seccomp"),
            (Errno::NOMEM, "lower iodepth"),
            (Errno::INVAL, "lower iodepth"),
        ] {
            let text = refusal(errno, 64);
            assert!(text.contains(said), "{errno}: {text}");
        }
    }

    #[test]
    fn the_kernels_ring_can_be_read() {
        if let Err(reason) = available() {
            eprintln!("skipped: {reason}");
            return;
        }
        let context = io_setup(8).unwrap();
        let ring = shared_ring(context);
        assert!(ring.is_some());
        // SAFETY: the context is alive.
        assert!(unsafe { ring.unwrap().as_ref() }.entries >= 8);
        io_destroy(context);
    }
}
