//! Submission entries, built from as few stores as there are fields.

use super::super::slots::RWF_DONTCACHE;
use super::super::{Action, Operation, OperationFlags};
use io_uring::opcode;
use io_uring::squeue::{Entry, Flags};
use io_uring::types::FsyncFlags;

/// `BLOCK_URING_CMD_DISCARD` of linux/blkdev.h: `_IO(0x12, 0)`, from Linux 6.12.
const BLOCK_URING_CMD_DISCARD: u32 = 0x1200;

/// `struct io_uring_sqe` of linux/io_uring.h. The crate's builders say the same in more steps, and
/// have none for discards on devices.
#[repr(C)]
#[derive(Default)]
struct Raw {
    opcode: u8,
    flags: u8,
    priority: u16,
    descriptor: i32,
    offset: u64,
    address: u64,
    bytes: u32,
    operation_flags: u32,
    user_data: u64,
    buffer: u16,
    personality: u16,
    file_index: u32,
    address3: u64,
    padding: u64,
}

/// What the entries of one ring have in common, decided when it is opened.
#[derive(Debug, Clone, Copy)]
pub(super) struct Form {
    read: u8,
    write: u8,
    file_flag: u8,
    read_flags: u32,
    write_flags: u32,
    /// Chunk to number of its fixed buffer. Without fixed buffers the answer must be 0 for every
    /// chunk, which a shift by 31 is, as chunks are fewer than that.
    shift: u32,
}

impl Form {
    pub(super) fn new(files_registered: bool, buffer_shift: Option<u32>, flags: OperationFlags) -> Self {
        let fixed = buffer_shift.is_some();
        let common = if flags.uncached { RWF_DONTCACHE } else { 0 };
        Form {
            read: if fixed { opcode::ReadFixed::CODE } else { opcode::Read::CODE },
            write: if fixed { opcode::WriteFixed::CODE } else { opcode::Write::CODE },
            file_flag: if files_registered { 1 } else { 0 },
            // Polled completions are a property of the ring, not of the operation.
            read_flags: common,
            write_flags: common | if flags.dsync { libc::RWF_DSYNC as u32 } else { 0 },
            shift: buffer_shift.unwrap_or(31).min(31),
        }
    }

    /// A read or a write. `descriptor` is the slot where files are registered.
    #[inline]
    pub(super) fn transfer(&self, operation: Operation, descriptor: i32, address: *mut u8) -> Entry {
        let (opcode, operation_flags) = match operation.action {
            Action::Read => (self.read, self.read_flags),
            _ => (self.write, self.write_flags),
        };
        entry(Raw {
            opcode,
            flags: self.file_flag,
            descriptor,
            offset: operation.offset,
            address: address as u64,
            bytes: operation.bytes,
            operation_flags,
            user_data: u64::from(operation.chunk),
            buffer: (operation.chunk >> self.shift) as u16,
            ..Raw::default()
        })
    }

    /// The first half of a pair: what comes next begins when it has succeeded.
    pub(super) fn linked(&self, operation: Operation, descriptor: i32, address: *mut u8) -> Entry {
        self.transfer(operation, descriptor, address).flags(Flags::IO_LINK)
    }

    pub(super) fn sync(&self, chunk: u32, descriptor: i32, data_only: bool) -> Entry {
        entry(Raw {
            opcode: opcode::Fsync::CODE,
            flags: self.file_flag,
            descriptor,
            operation_flags: if data_only { FsyncFlags::DATASYNC.bits() } else { 0 },
            user_data: u64::from(chunk),
            ..Raw::default()
        })
    }

    /// A hole in a file.
    pub(super) fn hole(&self, operation: Operation, descriptor: i32) -> Entry {
        entry(Raw {
            opcode: opcode::Fallocate::CODE,
            flags: self.file_flag,
            descriptor,
            offset: operation.offset,
            address: u64::from(operation.bytes),
            bytes: (libc::FALLOC_FL_PUNCH_HOLE | libc::FALLOC_FL_KEEP_SIZE) as u32,
            user_data: u64::from(operation.chunk),
            ..Raw::default()
        })
    }

    /// A discard on a block device.
    pub(super) fn discard(&self, operation: Operation, descriptor: i32) -> Entry {
        let mut command = [0; 8];
        command[..4].copy_from_slice(&BLOCK_URING_CMD_DISCARD.to_ne_bytes());
        entry(Raw {
            opcode: opcode::UringCmd16::CODE,
            flags: self.file_flag,
            descriptor,
            offset: u64::from_ne_bytes(command),
            address: operation.offset,
            address3: u64::from(operation.bytes),
            user_data: u64::from(operation.chunk),
            ..Raw::default()
        })
    }
}

#[inline]
fn entry(raw: Raw) -> Entry {
    // SAFETY: both are the kernel's 64 bytes of `struct io_uring_sqe`: `Entry` is `repr(C)` around
    // it and gives every pattern of bits to the kernel as it is; the sizes are checked right here.
    unsafe { std::mem::transmute::<Raw, Entry>(raw) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use io_uring::types::{Fd, Fixed};

    fn bytes(entry: &Entry) -> [u8; 64] {
        // SAFETY: an entry is 64 initialised bytes.
        unsafe { std::mem::transmute_copy(entry) }
    }

    #[test]
    fn entries_are_those_of_the_crates_builders() {
        let operation = Operation { chunk: 9, file: 2, offset: 77 << 33, bytes: 4096, action: Action::Read };
        let write = Operation { action: Action::Write, ..operation };
        let mut memory = [0u8; 8];
        let at = memory.as_mut_ptr();
        let flags = OperationFlags { uncached: true, dsync: true, ..OperationFlags::default() };
        let plain = Form::new(false, None, flags);
        let fixed = Form::new(true, Some(1), OperationFlags::default());
        let made = [
            (
                plain.transfer(operation, 5, at),
                opcode::Read::new(Fd(5), at, 4096).offset(77 << 33).rw_flags(0x80).build(),
            ),
            (plain.transfer(write, 5, at), opcode::Write::new(Fd(5), at, 4096).offset(77 << 33).rw_flags(0x82).build()),
            (fixed.transfer(operation, 2, at), opcode::ReadFixed::new(Fixed(2), at, 4096, 4).offset(77 << 33).build()),
            (
                fixed.linked(write, 2, at),
                opcode::WriteFixed::new(Fixed(2), at, 4096, 4).offset(77 << 33).build().flags(Flags::IO_LINK),
            ),
            (fixed.sync(9, 2, true), opcode::Fsync::new(Fixed(2)).flags(FsyncFlags::DATASYNC).build()),
            (plain.sync(9, 5, false), opcode::Fsync::new(Fd(5)).build()),
            (plain.hole(operation, 5), opcode::Fallocate::new(Fd(5), 4096).offset(77 << 33).mode(3).build()),
        ];
        for (number, (ours, theirs)) in made.into_iter().enumerate() {
            assert_eq!(bytes(&ours), bytes(&theirs.user_data(9)), "{number}");
        }
    }
}
