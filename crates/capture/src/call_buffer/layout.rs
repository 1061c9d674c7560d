//! Where the buffer of calls lies in a traced process, the same in each, and how it is laid out.

/// The code, which is copied there: below the stack and what the kernel maps by itself, and where sanitizers want programs to lie.
/// Where something lies there already the process has no buffer.
pub(super) const BASE: u64 = 0x7E81_0000_0000;
/// Calls whose `syscall` stands this far behind the base, or less, are let through by the filter.
pub(super) const INSIDE_BYTES: u64 = 0x800;
/// Bytes of the code, with what it is told when it sets itself up.
pub(super) const CODE_BYTES: u64 = 0x2000;
/// Where what it is told to do stands: a page of the process's own.
pub(super) const CONTROL: u64 = BASE + 0x2000;
/// Where the ring lies, which all processes share: a page with its two positions, then its bytes, then room for the last record.
pub(super) const RING: u64 = BASE + 0x1_0000;
/// A page.
pub(super) const PAGE: u64 = 0x1000;
/// Bytes of the ring, some 75,000 calls, of which half may wait: threads that keep all CPUs busy leave the tracer none, and what they ask for meanwhile
/// waits here.
pub(super) const RING_BYTES: u64 = 8 << 20;
/// Where more of them than so many are not read, calls stop.
pub(super) const FULL_BYTES: u64 = RING_BYTES / 2;
/// The ring's pages are mapped into a process piece by piece, ahead of its records.
pub(super) const PIECE_BYTES: u64 = 64 << 10;
/// All of its mapping.
pub(super) const RING_MAPPED: u64 = PAGE + RING_BYTES + PAGE;
/// Where its reader's position stands in its first page; the writers' is at 0.
pub(super) const TAIL_AT: usize = 64;
/// Where a number stands there by which the reader knows its own ring.
pub(super) const MARK_AT: usize = 128;
/// The page of control: whose process it is, whether it writes into the ring, when the next write is looked at, and what is done
/// with each call.
pub(super) const TAG_AT: u64 = 0;
pub(super) const ENABLED_AT: u64 = 4;
pub(super) const SAMPLE_AT: u64 = 8;
pub(super) const CLASSES_AT: u64 = 0x100;
/// Bytes for what leads from the C library to the code, and of each.
pub(super) const STUBS_BYTES: u64 = 0x4000;
pub(super) const STUB_BYTES: u64 = 32;
/// Of a record: whose it is, and where its thread's own memory is.
pub(super) const OWNER_AT: u64 = 8;
pub(super) const OWN_MEMORY_AT: u64 = 16;
/// System calls whose class is told.
pub(super) const CALLS: usize = 512;

/// A call that is done without a stop.
pub(super) const PLAIN: u8 = 1;
/// With one now and then, so that what is written is looked at.
pub(super) const WRITES: u8 = 2;
/// It names a path, its first argument.
pub(super) const PATH: u8 = 4;
/// The path is its second argument, behind a descriptor.
pub(super) const SECOND: u8 = 8;
/// Behind the path stand flags of `open`: done without a stop only if nothing that was there changes.
pub(super) const OPENS: u8 = 16;
/// What it closes may be another thread's file before its record is written: one before the call tells so.
pub(super) const CLOSES: u8 = 32;
/// It waits for a process to end; where it may tell of one that goes on, it stops.
pub(super) const WAITS: u8 = 128;
/// What lies under its path is looked at before it is done, because it may change that.
pub(super) const LOOKS: u8 = 64;
/// Bytes of a path that fit into a record, its zero included.
pub(super) const PATH_BYTES: usize = 256;
/// Bytes of a record before its path.
pub(super) const HEAD_BYTES: usize = 96;
