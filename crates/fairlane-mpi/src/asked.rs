//! What an agent asks for: a part of collective I/O, with its end of a socket, the file, and memory for all blocks.
//!
//! A datagram says `write` or `read`, the bytes of a block, how many there are, the offset of the first one, and how far it
//! is to the next. In memory the blocks lie one behind the other, and behind them is room for the nanoseconds that each took.
//! On the socket the agent says `go` and hears `opened`, `done` with the nanoseconds of the sync and of this process's user and system time, and `closed`, or
//! `failed` and why.

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::fstat;
use rustix::mm::{MapFlags, ProtFlags, mmap, munmap};
use rustix::net::{RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendFlags, recv, recvmsg, send};
use std::ffi::{CString, c_int};
use std::io::IoSliceMut;
use std::mem::MaybeUninit;
use std::os::fd::{AsRawFd, BorrowedFd, OwnedFd};
use std::time::Duration;

/// No question is longer.
const MOST_BYTES: usize = 256;

/// What is to be done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Words {
    writes: bool,
    bytes: c_int,
    count: u64,
    first: i64,
    step: i64,
}

/// A part that an agent asked for.
pub struct Asked {
    talk: OwnedFd,
    file: OwnedFd,
    memory: Memory,
    words: Words,
}

/// What the agent said meanwhile.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Heard {
    /// Nothing.
    Nothing,
    /// That it waits for the work to be done.
    Go,
    /// It closed its end.
    Gone,
}

/// The next part that somebody asks for and waits for; `None`: there is none.
pub fn next(socket: BorrowedFd<'_>) -> Option<Asked> {
    loop {
        let mut bytes = [0; MOST_BYTES];
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(3))];
        let mut control = RecvAncillaryBuffer::new(&mut space);
        let flags = RecvFlags::DONTWAIT | RecvFlags::CMSG_CLOEXEC;
        let message = recvmsg(socket, &mut [IoSliceMut::new(&mut bytes)], &mut control, flags).ok()?;
        let files = control.drain().find_map(|message| match message {
            RecvAncillaryMessage::ScmRights(files) => Some(files.collect::<Vec<OwnedFd>>()),
            _ => None,
        });
        if message.bytes == 0 {
            return None;
        }
        // Who asks for what nobody knows finds its socket closed. Who was ended before it was heard waits for nothing.
        let asked = files.and_then(|files| Asked::new(&bytes[..message.bytes.min(MOST_BYTES)], files));
        if let Some(asked) = asked.filter(|asked| asked.hears(Duration::ZERO) != Heard::Gone) {
            return Some(asked);
        }
    }
}

impl Asked {
    fn new(text: &[u8], files: Vec<OwnedFd>) -> Option<Asked> {
        let words = read(std::str::from_utf8(text).ok()?)?;
        let [talk, file, memory]: [OwnedFd; 3] = files.try_into().ok()?;
        let memory = Memory::map(&memory, words.all_bytes()?)?;
        Some(Asked { talk, file, memory, words })
    }

    /// Whether it writes.
    pub fn writes(&self) -> bool {
        self.words.writes
    }

    /// How many blocks there are.
    pub fn count(&self) -> u64 {
        self.words.count
    }

    /// What MPI is to open: the file that the agent has opened, whatever stands in its path. A colon in a name would be taken for
    /// the end of a filesystem's by MPI-IO.
    pub fn path(&self) -> CString {
        let path = format!("/proc/self/fd/{}", self.file.as_raw_fd());
        CString::new(path).expect("it has no zero")
    }

    /// The block of this number: where it lies in the file and in memory, and its length.
    ///
    /// # Panics
    /// Where there is none.
    pub fn block(&self, number: u64) -> (i64, *mut u8, c_int) {
        let Words { bytes, count, first, step, .. } = self.words;
        assert!(number < count, "block {number} of {count}");
        // Neither overflows: it was looked at when it was asked for.
        let (offset, inside) = (first + number.cast_signed() * step, number as usize * bytes.cast_unsigned() as usize);
        // SAFETY: all blocks lie within the mapping.
        (offset, unsafe { self.memory.start.add(inside) }, bytes)
    }

    /// Notes how long a block took.
    ///
    /// # Panics
    /// Where there is none of this number.
    pub fn took(&self, number: u64, nanoseconds: u64) {
        let Words { bytes, count, .. } = self.words;
        assert!(number < count, "block {number} of {count}");
        let inside = count as usize * bytes.cast_unsigned() as usize + number as usize * size_of::<u64>();
        // SAFETY: behind the blocks the mapping has room for a number of each of them, and the agent reads it once it hears
        // that all is done. It need not lie at a multiple of its size.
        unsafe { self.memory.start.add(inside).cast::<u64>().write_unaligned(nanoseconds) };
    }

    /// Tells the agent something.
    pub fn tell(&self, line: &str) {
        // Where it is gone that is seen when it is heard; and it hears all that it is told.
        let _ = send(&self.talk, format!("{line}\n").as_bytes(), SendFlags::NOSIGNAL | SendFlags::DONTWAIT);
    }

    /// What the agent says, of which is waited for at most so long.
    pub fn hears(&self, most: Duration) -> Heard {
        if !most.is_zero() {
            let most = Timespec { tv_sec: most.as_secs().cast_signed(), tv_nsec: i64::from(most.subsec_nanos()) };
            // A signal ends it early, and that is fine.
            let _ = poll(&mut [PollFd::new(&self.talk, PollFlags::IN)], Some(&most));
        }
        let mut bytes = [0; 16];
        match recv(&self.talk, &mut bytes[..], RecvFlags::DONTWAIT) {
            Ok((_, 0)) => Heard::Gone,
            Ok(_) => Heard::Go,
            Err(rustix::io::Errno::AGAIN | rustix::io::Errno::INTR) => Heard::Nothing,
            Err(_) => Heard::Gone,
        }
    }
}

impl Words {
    /// Bytes of the memory; `None`: there is no such memory, or no such file.
    fn all_bytes(&self) -> Option<usize> {
        let last = self.step.checked_mul(self.count.checked_sub(1)?.try_into().ok()?)?;
        self.first.checked_add(last)?.checked_add(i64::from(self.bytes))?;
        let each = u64::from(self.bytes.cast_unsigned()).checked_add(size_of::<u64>() as u64)?;
        usize::try_from(each.checked_mul(self.count)?).ok().filter(|bytes| isize::try_from(*bytes).is_ok())
    }
}

/// `None`: it is nothing that is known here.
fn read(text: &str) -> Option<Words> {
    let mut words = text.split(' ');
    let writes = match words.next()? {
        "write" => true,
        "read" => false,
        _ => return None,
    };
    let bytes = words.next()?.parse::<c_int>().ok().filter(|bytes| *bytes > 0)?;
    let count = words.next()?.parse::<u64>().ok().filter(|count| *count > 0)?;
    let mut place = || words.next()?.parse::<i64>().ok().filter(|place| *place >= 0);
    let (first, step) = (place()?, place()?);
    words.next().is_none().then_some(Words { writes, bytes, count, first, step })
}

/// Memory of an agent.
struct Memory {
    start: *mut u8,
    bytes: usize,
}

impl Memory {
    fn map(memory: &OwnedFd, bytes: usize) -> Option<Memory> {
        let has = fstat(memory).ok()?.st_size;
        if u64::try_from(has).ok()? < bytes as u64 {
            return None;
        }
        let (may, how) = (ProtFlags::READ | ProtFlags::WRITE, MapFlags::SHARED | MapFlags::POPULATE);
        // SAFETY: a new mapping at an address of the kernel's choice touches no memory that anyone holds. The agent does not
        // look at it while this process works on it, and never makes it shorter.
        let start = unsafe { mmap(std::ptr::null_mut(), bytes, may, how, memory, 0) }.ok()?;
        Some(Memory { start: start.cast(), bytes })
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        // SAFETY: it was mapped with this address and length, and nobody has an address in it any more: MPI has none between its
        // calls, which block.
        let _ = unsafe { munmap(self.start.cast(), self.bytes) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_asked_is_read_and_what_is_no_work_is_not() {
        let words = Words { writes: true, bytes: 47_008, count: 6, first: 47_008, step: 94_016 };
        assert_eq!(read("write 47008 6 47008 94016"), Some(words));
        assert_eq!(words.all_bytes(), Some(6 * (47_008 + 8)));
        assert_eq!(read("read 1 1 0 0").map(|words| words.writes), Some(false));
        for wrong in [
            "",
            "write",
            "write 0 1 0 0",
            "write 1 0 0 0",
            "write 1 1 -1 0",
            "write 1 1 0 -1",
            "write 1 1 0",
            "write 1 1 0 0 0",
            "write 2147483648 1 0 0",
            "trim 1 1 0 0",
        ] {
            assert_eq!(read(wrong), None, "{wrong}");
        }
        for long in ["write 2147483647 9223372036854775807 0 0", "read 1 3 0 9223372036854775807"] {
            assert_eq!(read(long).and_then(|words| words.all_bytes()), None, "{long}");
        }
    }
}
