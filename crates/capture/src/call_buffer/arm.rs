//! Puts the buffer of calls into a traced process: maps it by calls that the process is made to do, and has the C library jump to it.

use super::hook;
use super::layout::{
    BASE, CLASSES_AT, CODE_BYTES, CONTROL, ENABLED_AT, INSIDE_BYTES, PAGE, SAMPLE_AT, STUB_BYTES, STUBS_BYTES, TAG_AT,
};
use super::sites::Site;
use crate::stops::{self, On, Stop};
use libc::{pid_t, user_regs_struct};
use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::FileExt;

/// Where the process is told what the ring's path is, in the code's pages and behind all code.
const PATH_AT: u64 = INSIDE_BYTES + 0x100;
/// Instructions that a record takes at most: a path is copied in steps.
const MOST_STEPS: usize = 1000;
/// Bytes of `syscall`.
const SYSCALL_BYTES: u64 = 2;
/// `lea rsp, [rsp - 128]`: what a function keeps below its stack stays as it is.
const OVER_RED_ZONE: [u8; 5] = [0x48, 0x8d, 0x64, 0x24, 0x80];
/// `lea rsp, [rsp + 128]`.
const BACK: [u8; 8] = [0x48, 0x8d, 0xa4, 0x24, 0x80, 0, 0, 0];
/// Behind the stubs: the address of the code, by which they call it.
const STUBS: u64 = STUBS_BYTES / STUB_BYTES - 1;

/// Why a process has no buffer.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Refused {
    /// It goes on as it was, and begins its call again.
    Unchanged,
    /// It ended meanwhile.
    Ended(Stop),
}

/// A process's memory, that which it may not write itself too.
pub(super) struct Memory(File);

impl Memory {
    pub(super) fn open(process: pid_t) -> io::Result<Memory> {
        Ok(Memory(OpenOptions::new().read(true).write(true).open(format!("/proc/{process}/mem"))?))
    }

    pub(super) fn write(&self, address: u64, bytes: &[u8]) -> io::Result<()> {
        self.0.write_all_at(bytes, address)
    }

    fn read(&self, address: u64, into: &mut [u8]) -> io::Result<()> {
        self.0.read_exact_at(into, address)
    }
}

/// Maps the buffer into the process of a thread that stands before a call; the call is begun again when it goes on. Answers where
/// stubs may lie.
pub(super) fn map(thread: pid_t, ring: &str) -> Result<u64, Refused> {
    let unchanged = |_| Refused::Unchanged;
    let registers = registers(thread).map_err(unchanged)?;
    let mask = signal_mask(thread).map_err(unchanged)?;
    // What is sent meanwhile comes afterwards.
    set_signal_mask(thread, u64::MAX).map_err(unchanged)?;
    let mapped = mapped(thread, &registers, ring);
    if let Err(Refused::Ended(stop)) = mapped {
        return Err(Refused::Ended(stop));
    }
    again(thread, &registers).and_then(|()| set_signal_mask(thread, mask)).map_err(unchanged)?;
    mapped
}

/// Has a thread that stands before a call begin it again: what it would return to may be another instruction now.
pub(super) fn begin_again(thread: pid_t) -> io::Result<()> {
    again(thread, &registers(thread)?)
}

fn again(thread: pid_t, before: &user_regs_struct) -> io::Result<()> {
    // The call that it stands before has no number: nothing is done.
    let registers =
        user_regs_struct { rip: before.rip - SYSCALL_BYTES, rax: before.orig_rax, orig_rax: u64::MAX, ..*before };
    set_registers(thread, &registers)
}

fn mapped(thread: pid_t, registers: &user_regs_struct, ring: &str) -> Result<u64, Refused> {
    let unchanged = |_| Refused::Unchanged;
    let fixed = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_FIXED_NOREPLACE;
    let map = user_regs_struct {
        orig_rax: libc::SYS_mmap as u64,
        rax: libc::SYS_mmap as u64,
        rdi: BASE,
        rsi: CODE_BYTES,
        rdx: (libc::PROT_READ | libc::PROT_EXEC) as u64,
        r10: fixed as u64,
        r8: u64::MAX,
        r9: 0,
        ..*registers
    };
    set_registers(thread, &map).map_err(unchanged)?;
    go(thread, On::ToReturn, Stop::Returned)?;
    if self::registers(thread).map_err(unchanged)?.rax != BASE {
        return Err(Refused::Unchanged);
    }
    let memory = Memory::open(thread).map_err(unchanged)?;
    memory.write(BASE, hook::code()).map_err(unchanged)?;
    memory.write(BASE + PATH_AT, format!("{ring}\0").as_bytes()).map_err(unchanged)?;
    let begin = user_regs_struct {
        rip: BASE + hook::begins(),
        rdi: BASE + PATH_AT,
        rsi: STUBS_BYTES,
        orig_rax: u64::MAX,
        ..*registers
    };
    set_registers(thread, &begin).map_err(unchanged)?;
    go(thread, On::ToCall, Stop::Call)?;
    let told = self::registers(thread).map_err(unchanged)?;
    if told.rdx != 0 || told.rsi as i64 <= 0 { Err(Refused::Unchanged) } else { Ok(told.rsi) }
}

/// Lets a thread go on alone until it stops so.
fn go(thread: pid_t, on: On, wanted: Stop) -> Result<(), Refused> {
    stops::resume(thread, on, 0);
    let stop = stops::next_of(thread).map_err(|_| Refused::Unchanged)?;
    match stop {
        Some(stop) if stop == wanted => Ok(()),
        Some(stop @ Stop::Ended(_)) => Err(Refused::Ended(stop)),
        Some(Stop::Signal(signal)) => {
            // It comes again once the thread stands where it stood.
            // SAFETY: a signal to a thread that we trace, whose process still is.
            unsafe { libc::syscall(libc::SYS_tkill, thread, signal) };
            Err(Refused::Unchanged)
        }
        _ => Err(Refused::Unchanged),
    }
}

/// What the page of control says.
pub(super) fn control(memory: &Memory, process: pid_t, classes: &[u8]) -> io::Result<()> {
    memory.write(CONTROL + CLASSES_AT, classes)?;
    memory.write(CONTROL + SAMPLE_AT, &0u64.to_ne_bytes())?;
    tag(memory, process)?;
    enable(memory, true)
}

/// Whose process it is.
pub(super) fn tag(memory: &Memory, process: pid_t) -> io::Result<()> {
    memory.write(CONTROL + TAG_AT, &(process as u32).to_ne_bytes())
}

/// Whether its calls are done without a stop.
pub(super) fn enable(memory: &Memory, enabled: bool) -> io::Result<()> {
    memory.write(CONTROL + ENABLED_AT, &u32::from(enabled).to_ne_bytes())
}

/// From when on a write stops again, by the CPU's counter.
pub(super) fn sample(memory: &Memory, ticks: u64) -> io::Result<()> {
    memory.write(CONTROL + SAMPLE_AT, &ticks.to_ne_bytes())
}

/// Has these places of a text, in ascending order, jump to the code; answers how many stubs lie there now, of which `used` did
/// before. A page is read once and written once: each process waits for this at its begin.
pub(super) fn lead(memory: &Memory, text: u64, sites: &[Site], stubs: u64, used: u64) -> io::Result<u64> {
    let (mut number, mut pieces) = (used, Vec::new());
    let mut made: Vec<u8> = Vec::new();
    for of_page in sites.chunk_by(|one, next| one.offset / PAGE == next.offset / PAGE) {
        let first = of_page[0].offset;
        let length = of_page.iter().map(|site| (site.offset - first) as usize + site.bytes()).max().unwrap_or(0);
        let mut bytes = vec![0; length];
        if memory.read(text + first, &mut bytes).is_err() {
            continue;
        }
        let before = number;
        for site in of_page {
            let (from, stub) = (text + site.offset, stubs + number * STUB_BYTES);
            let instead = &mut bytes[(site.offset - first) as usize..][..site.bytes()];
            if number >= STUBS || *instead != site.before()[..] {
                continue;
            }
            let Some(jump) = far(from + 5, stub) else { continue };
            let behind = from + site.bytes() as u64;
            let Some(of_stub) = stub_at(stub, stubs + STUBS * STUB_BYTES, site.moved, behind) else { continue };
            made.extend(of_stub);
            instead.fill(0x90);
            instead[0] = 0xe9;
            instead[1..5].copy_from_slice(&jump);
            number += 1;
        }
        if number > before {
            pieces.push((text + first, bytes));
        }
    }
    memory.write(stubs + STUBS * STUB_BYTES, &BASE.to_ne_bytes())?;
    memory.write(stubs + used * STUB_BYTES, &made)?;
    for (at, bytes) in &pieces {
        memory.write(*at, bytes)?;
    }
    Ok(number)
}

/// How far it is, in the four bytes that a jump has.
fn far(from: u64, to: u64) -> Option<[u8; 4]> {
    i32::try_from(to.wrapping_sub(from) as i64).ok().map(i32::to_le_bytes)
}

/// Calls the code whose address lies at `code`, does what stood behind the call in the library, and goes on behind that.
fn stub_at(stub: u64, code: u64, moved: &[u8], behind: u64) -> Option<[u8; STUB_BYTES as usize]> {
    let mut bytes = OVER_RED_ZONE.to_vec();
    // `call [rip + …]`
    bytes.extend([0xff, 0x15]);
    bytes.extend(far(stub + bytes.len() as u64 + 4, code)?);
    bytes.extend(BACK);
    bytes.extend(moved);
    bytes.push(0xe9);
    bytes.extend(far(stub + bytes.len() as u64 + 4, behind)?);
    bytes.resize(STUB_BYTES as usize, 0xcc);
    bytes.try_into().ok()
}

/// Whether a thread faulted where the code works for the program; it goes on with the call itself then.
pub(super) fn leads_out(thread: pid_t) -> bool {
    // Who was sent the signal by another program did not fault.
    let Ok(registers) = registers(thread) else { return false };
    let Some(to) = registers.rip.checked_sub(BASE).and_then(hook::way_out) else { return false };
    is_fault(thread) && set_registers(thread, &user_regs_struct { rip: BASE + to, ..registers }).is_ok()
}

/// Whether the signal that a thread is about to get is the kernel's own (siginfo's `si_code` is above 0).
fn is_fault(thread: pid_t) -> bool {
    signal_information(thread).is_ok_and(|of| of.si_code > 0)
}

/// A thread that is about to get a signal first ends the record that it is writing: what runs then may never come back.
pub(super) fn ends_its_record(thread: pid_t) -> Option<Stop> {
    let is_writing = || registers(thread).is_ok_and(|of| of.rip.checked_sub(BASE).is_some_and(hook::is_writing));
    let information = signal_information(thread).ok()?;
    // Who faulted there would do so again.
    let is_fault = [libc::SIGSEGV, libc::SIGBUS].contains(&information.si_signo) && information.si_code > 0;
    if !is_writing() || is_fault {
        return None;
    }
    for _ in 0..MOST_STEPS {
        // SAFETY: a request without pointers.
        unsafe { libc::ptrace(libc::PTRACE_SINGLESTEP, thread, 0usize, 0usize) };
        match stops::next_of(thread) {
            Ok(Some(Stop::Signal(libc::SIGTRAP))) if is_writing() => {}
            Ok(Some(Stop::Signal(libc::SIGTRAP))) => break,
            Ok(Some(stop)) => return Some(stop),
            _ => return None,
        }
    }
    // SAFETY: what the kernel told before.
    unsafe { libc::ptrace(libc::PTRACE_SETSIGINFO, thread, 0usize, &raw const information) };
    None
}

fn signal_information(thread: pid_t) -> io::Result<libc::siginfo_t> {
    // SAFETY: zeros are a whole structure, and the kernel fills all of it.
    unsafe {
        let mut information: libc::siginfo_t = std::mem::zeroed();
        crate::begin::check(libc::ptrace(libc::PTRACE_GETSIGINFO, thread, 0usize, &raw mut information))?;
        Ok(information)
    }
}

/// Where a stopped thread's own memory is.
pub(super) fn own_memory(thread: pid_t) -> Option<u64> {
    registers(thread).ok().map(|registers| registers.fs_base)
}

fn registers(thread: pid_t) -> io::Result<user_regs_struct> {
    // SAFETY: zeros are a whole structure, and the kernel fills all of it.
    unsafe {
        let mut registers: user_regs_struct = std::mem::zeroed();
        crate::begin::check(libc::ptrace(libc::PTRACE_GETREGS, thread, 0usize, &raw mut registers))?;
        Ok(registers)
    }
}

fn set_registers(thread: pid_t, registers: &user_regs_struct) -> io::Result<()> {
    // SAFETY: the kernel reads the whole structure and checks it.
    crate::begin::check(unsafe { libc::ptrace(libc::PTRACE_SETREGS, thread, 0usize, &raw const *registers) })
}

fn signal_mask(thread: pid_t) -> io::Result<u64> {
    let mut mask = 0u64;
    // SAFETY: eight bytes, as the kernel is told.
    crate::begin::check(unsafe { libc::ptrace(libc::PTRACE_GETSIGMASK, thread, 8usize, &raw mut mask) })?;
    Ok(mask)
}

fn set_signal_mask(thread: pid_t, mask: u64) -> io::Result<()> {
    // SAFETY: as above.
    crate::begin::check(unsafe { libc::ptrace(libc::PTRACE_SETSIGMASK, thread, 8usize, &raw const mask) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stub_calls_the_code_and_goes_on_behind_the_comparison() {
        let comparison = [0x48, 0x3d, 0, 0xf0, 0xff, 0xff];
        let bytes = stub_at(0x1000, 0x5000, &comparison, 0x900).unwrap();
        assert_eq!(bytes[..5], OVER_RED_ZONE);
        assert_eq!(bytes[5..11], [0xff, 0x15, 0xf5, 0x3f, 0, 0]);
        assert_eq!(bytes[19..25], comparison);
        assert_eq!(bytes[25], 0xe9);
        assert_eq!(i32::from_le_bytes(bytes[26..30].try_into().unwrap()), 0x900 - (0x1000 + 30));
        assert_eq!(far(0, 1 << 40), None);
        assert_eq!(stub_at(0x1000, 0x5000, &comparison, 1 << 40), None);
    }

    #[test]
    fn places_of_a_page_are_led_together_and_what_stands_between_them_stays() {
        let own = Memory::open(std::process::id() as pid_t).unwrap();
        let site = |offset| Site { offset, moved: &[0x48, 0x3d, 0, 0xf0, 0xff, 0xff] };
        // The third reaches into the next page, and where the last one shall be something else stands.
        let sites = [site(100), site(200), site(PAGE - 4), site(2 * PAGE + 7)];
        let mut text = vec![0x41u8; 3 * PAGE as usize];
        for site in &sites[..3] {
            text[site.offset as usize..][..site.bytes()].copy_from_slice(&site.before());
        }
        let stubs = vec![0u8; STUBS_BYTES as usize];
        let (begin, stubs_begin) = (text.as_ptr() as u64, stubs.as_ptr() as u64);
        assert_eq!(lead(&own, begin, &sites, stubs_begin, 2).unwrap(), 5);
        let mut now = vec![0; text.len()];
        own.read(begin, &mut now).unwrap();
        for (which, site) in sites[..3].iter().enumerate() {
            let stub = stubs_begin + (2 + which as u64) * STUB_BYTES;
            let led = &now[site.offset as usize..][..site.bytes()];
            assert_eq!((led[0], &led[1..5]), (0xe9, &far(begin + site.offset + 5, stub).unwrap()[..]));
            text[site.offset as usize..][..site.bytes()].copy_from_slice(led);
        }
        assert!(now == text);
    }
}
