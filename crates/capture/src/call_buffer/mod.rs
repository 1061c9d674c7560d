//! Calls that a traced process does without a stop: the C library is led to code that writes them into a ring, which the tracer reads.
//!
//! What changes names, contents that were there before, or the process itself still stops, and the ring is read before each stop, so
//! that what lay under a path is seen as it was. The idea is rr's (O'Callahan and others, "Engineering Record and Replay for
//! Deployability", USENIX ATC 2017, section 3.1).

mod arm;
mod hook;
mod layout;
mod ring;
mod sites;

use crate::memory;
use crate::stops::Stop;
use arm::{Memory, Refused};
use layout::{CALLS, CLASSES_AT, CLOSES, LOOKS, OPENS, PATH, PLAIN, SECOND, WAITS, WRITES};
use libc::{c_long, pid_t};
use ring::Ring;
pub(crate) use ring::{Owner, Record};
use sites::Site;
use std::collections::HashMap;
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::ops::Range;
use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;
use std::rc::Rc;
use std::time::{Duration, Instant};

/// Libraries whose calls are led to the code, by the begin of their names.
const LIBRARIES: [&str; 5] = ["libc.so.", "libc-2.", "ld-linux-x86-64.so", "ld-2.", "libpthread"];
/// Texts of a process that are looked at, at most.
const MOST_TEXTS: usize = 64;
/// Texts that are remembered, of all processes: a machine has a few C libraries.
const MOST_SOURCES: usize = 1024;
/// A longer text is no C library's.
const MOST_TEXT_BYTES: u64 = 16 << 20;
/// The CPU's counter counts at the same pace, whatever the CPU does.
const WANTED: [&str; 2] = ["constant_tsc", "nonstop_tsc"];
/// Clocks of the kernel that rest on it.
const CLOCKS: [&str; 2] = ["tsc", "kvm-clock"];
const CLOCK_SOURCE: &str = "/sys/devices/system/clocksource/clocksource0/current_clocksource";
/// AT_HWCAP2: the base of `fs` can be read without a call (arch/x86/include/uapi/asm/hwcap2.h).
const HWCAP2_FSGSBASE: libc::c_ulong = 1 << 1;
/// Descriptors from there on are not followed: no kernel's usual limit lets them be.
const MOST_DESCRIPTORS: i64 = 1 << 20;
const MAKE_DESCRIPTORS: [i64; 4] = [libc::SYS_dup, libc::SYS_dup2, libc::SYS_dup3, libc::SYS_creat];

/// What is done with calls.
const CLASSES: [(&[c_long], u8); 10] = [
    (
        &[
            libc::SYS_read,
            libc::SYS_pread64,
            libc::SYS_lseek,
            libc::SYS_fsync,
            libc::SYS_fdatasync,
            libc::SYS_sync_file_range,
            libc::SYS_syncfs,
            libc::SYS_ftruncate,
            libc::SYS_fchmod,
            libc::SYS_fchown,
            libc::SYS_fallocate,
            libc::SYS_fstat,
            libc::SYS_getdents,
            libc::SYS_getdents64,
            libc::SYS_fgetxattr,
            libc::SYS_flistxattr,
            libc::SYS_fsetxattr,
            libc::SYS_flock,
            libc::SYS_fcntl,
            libc::SYS_ioctl,
            libc::SYS_mmap,
            libc::SYS_fadvise64,
            libc::SYS_dup,
            libc::SYS_dup2,
            libc::SYS_dup3,
        ],
        PLAIN,
    ),
    (&[libc::SYS_close], CLOSES),
    (&[libc::SYS_wait4], WAITS),
    (&[libc::SYS_write, libc::SYS_pwrite64], WRITES),
    (
        &[
            libc::SYS_stat,
            libc::SYS_lstat,
            libc::SYS_access,
            libc::SYS_readlink,
            libc::SYS_getxattr,
            libc::SYS_lgetxattr,
            libc::SYS_listxattr,
            libc::SYS_llistxattr,
            libc::SYS_statfs,
            libc::SYS_mkdir,
            libc::SYS_mknod,
        ],
        PATH,
    ),
    (
        &[
            libc::SYS_newfstatat,
            libc::SYS_statx,
            libc::SYS_faccessat,
            libc::SYS_faccessat2,
            libc::SYS_readlinkat,
            libc::SYS_utimensat,
            libc::SYS_mkdirat,
            libc::SYS_mknodat,
        ],
        PATH | SECOND,
    ),
    (
        &[
            libc::SYS_unlink,
            libc::SYS_rmdir,
            libc::SYS_creat,
            libc::SYS_truncate,
            libc::SYS_chmod,
            libc::SYS_chown,
            libc::SYS_lchown,
        ],
        PATH | LOOKS,
    ),
    (&[libc::SYS_unlinkat, libc::SYS_fchmodat, libc::SYS_fchownat], PATH | SECOND | LOOKS),
    (&[libc::SYS_open], PATH | OPENS),
    (&[libc::SYS_openat], PATH | SECOND | OPENS),
];

/// Of a process: whether its calls are written into the ring.
#[derive(Debug, Clone, Default)]
pub(crate) struct Buffered {
    /// Where stubs lie, once it is mapped.
    stubs: Option<u64>,
    used: u64,
    enabled: bool,
    /// It stops at its calls for good.
    is_off: bool,
    /// Processes that use its memory until they become others or end.
    lent_to: Vec<pid_t>,
    /// Texts that were looked at.
    seen: Vec<Range<u64>>,
    /// Its memory is another's.
    borrows: bool,
}

impl Buffered {
    /// Of a process that was just made of one; `shares`: its memory is the other's.
    pub(crate) fn of_child(&self, shares: bool) -> Buffered {
        match shares {
            true => Buffered { borrows: true, ..Buffered::default() },
            false => Buffered { lent_to: Vec::new(), ..self.clone() },
        }
    }

    /// Whether it has the code.
    pub(crate) fn is_mapped(&self) -> bool {
        self.stubs.is_some()
    }
}

/// What came of looking at a process.
pub(crate) enum Looked {
    /// It stands before its call.
    AsItWas,
    /// It begins its call again.
    Again,
    /// It ended.
    Ended(Stop),
}

/// The buffer, of all traced processes.
pub(crate) struct CallBuffer {
    ring: Ring,
    classes: [u8; CALLS],
    /// By what a text is mapped from.
    sites: HashMap<String, Rc<[Site]>>,
    /// Filters of calls that a process has which made none of its own.
    filters: u32,
    /// Where paths lead this process.
    views: [Option<PathBuf>; 3],
    clock: Clock,
}

/// The wall clock by the CPU's counter.
#[derive(Debug, Clone, Copy)]
struct Clock {
    begun: Instant,
    first: Moment,
    last: Moment,
    nanoseconds_per_tick: f64,
}

/// The same moment by both.
#[derive(Debug, Clone, Copy)]
struct Moment {
    since_begin: Duration,
    ticks: u64,
}

impl Moment {
    /// Both are read close to each other: who loses the CPU between them reads again.
    fn now(begun: Instant) -> Moment {
        let read = || {
            let before = ticks();
            let since_begin = begun.elapsed();
            (ticks().wrapping_sub(before), Moment { since_begin, ticks: before })
        };
        let (_, moment) = [read(), read(), read()].into_iter().min_by_key(|(apart, _)| *apart).expect("three of them");
        moment
    }
}

impl Clock {
    fn new(begun: Instant) -> Clock {
        let now = Moment::now(begun);
        Clock { begun, first: now, last: now, nanoseconds_per_tick: 0.5 }
    }

    fn synchronize(&mut self) {
        self.last = Moment::now(self.begun);
        let passed = self.last.since_begin.saturating_sub(self.first.since_begin).as_nanos() as f64;
        let counted = self.last.ticks.saturating_sub(self.first.ticks) as f64;
        if passed > 0.0 && counted > 0.0 {
            self.nanoseconds_per_tick = passed / counted;
        }
    }

    /// Nanoseconds since the begin.
    fn at(&self, ticks: u64) -> u64 {
        let ago = self.last.ticks.saturating_sub(ticks) as f64 * self.nanoseconds_per_tick;
        let later = ticks.saturating_sub(self.last.ticks) as f64 * self.nanoseconds_per_tick;
        (self.last.since_begin.as_nanos() as u64).saturating_sub(ago as u64).saturating_add(later as u64)
    }
}

fn ticks() -> u64 {
    // SAFETY: every x86-64 has it.
    unsafe { std::arch::x86_64::_rdtsc() }
}

impl CallBuffer {
    /// `None`: this machine cannot have it.
    pub(crate) fn begin(begun: Instant) -> Option<CallBuffer> {
        // Of the first CPU: the kernel takes its time to tell of many.
        let told = BufReader::new(File::open("/proc/cpuinfo").ok()?);
        let line = told.lines().map_while(Result::ok).find(|line| line.starts_with("flags"))?;
        let flags: Vec<&str> = line.split(' ').collect();
        let clock = std::fs::read_to_string(CLOCK_SOURCE).unwrap_or_default();
        // SAFETY: a question.
        let reads_fs = unsafe { libc::getauxval(libc::AT_HWCAP2) } & HWCAP2_FSGSBASE != 0;
        if !WANTED.iter().all(|flag| flags.contains(flag)) || !CLOCKS.contains(&clock.trim()) || !reads_fs {
            return None;
        }
        let mut classes = [0; CALLS];
        for (calls, class) in CLASSES {
            calls.iter().for_each(|&call| classes[call as usize] = class);
        }
        Some(CallBuffer {
            ring: Ring::new().ok()?,
            classes,
            sites: HashMap::new(),
            filters: filters(std::process::id() as pid_t)? + 1,
            views: views(std::process::id() as pid_t),
            clock: Clock::new(begun),
        })
    }

    /// Calls from there on, by the numbers of the kernel (seccomp): high and low half of the address, and how many bytes.
    pub(crate) fn inside() -> (u32, u32) {
        const { assert!(layout::BASE & 0xffff_ffff == 0, "the filter compares the low half with the length alone") };
        ((layout::BASE >> 32) as u32, layout::INSIDE_BYTES as u32)
    }

    /// Looks at a process whose thread stands before a call that it asked for at this address.
    pub(crate) fn look(
        &mut self,
        own: &mut Buffered,
        (thread, process): (pid_t, pid_t),
        address: u64,
        alone: bool,
    ) -> Looked {
        enable_again(own, thread);
        // Who uses its memory meanwhile runs: no text changes under that one's feet.
        let is_known = own.borrows
            || own.is_off
            || !own.lent_to.is_empty()
            || (layout::BASE..layout::BASE + layout::CODE_BYTES).contains(&address)
            || own.seen.iter().any(|text| text.contains(&address));
        if is_known || own.seen.len() >= MOST_TEXTS {
            return Looked::AsItWas;
        }
        let Some((text, source)) = text_at(thread, address) else { return Looked::AsItWas };
        own.seen.push(text.clone());
        let name = source.rsplit('/').next().unwrap_or_default();
        let is_one =
            LIBRARIES.iter().any(|library| name.starts_with(library)) && text.end - text.start < MOST_TEXT_BYTES;
        if !is_one || !alone || threads(process) != Some(1) {
            return Looked::AsItWas;
        }
        let sites = self.sites_of(thread, &text, source);
        if sites.is_empty() {
            return Looked::AsItWas;
        }
        if own.stubs.is_none() {
            // Who has filters of its own may not do what mapping takes, and elsewhere the ring's path is another file's.
            let is_as_this_one = filters(process) == Some(self.filters) && views(process) == self.views;
            if !is_as_this_one || self.views.contains(&None) || is_limited(process) {
                return Looked::AsItWas;
            }
            match arm::map(thread, &self.ring.path()) {
                Ok(stubs) if self.ring.is_at(process) => own.stubs = Some(stubs),
                Ok(_) | Err(Refused::Unchanged) => return Looked::Again,
                Err(Refused::Ended(stop)) => return Looked::Ended(stop),
            }
            let begun = Memory::open(thread).and_then(|memory| arm::control(&memory, process, &self.classes));
            own.enabled = begun.is_ok();
        } else if arm::begin_again(thread).is_err() {
            return Looked::AsItWas;
        }
        if let (Some(stubs), Ok(memory)) = (own.stubs, Memory::open(thread)) {
            own.used = arm::lead(&memory, text.start, &sites, stubs, own.used).unwrap_or(layout::STUBS_BYTES);
        }
        Looked::Again
    }

    fn sites_of(&mut self, thread: pid_t, text: &Range<u64>, source: String) -> Rc<[Site]> {
        let classes = &self.classes;
        let is_wanted = |number: u32| classes.get(number as usize).is_some_and(|class| *class != 0);
        let find = |source: &String| match own_text(source, text.end - text.start) {
            Some(own) => sites::find(own, is_wanted).into(),
            None => {
                let mut bytes = vec![0; (text.end - text.start) as usize];
                let got = memory::read(thread, text.start, &mut bytes);
                sites::find(&bytes[..got], is_wanted).into()
            }
        };
        if self.sites.len() >= MOST_SOURCES {
            self.sites.clear();
        }
        Rc::clone(self.sites.entry(source).or_insert_with_key(find))
    }

    /// A process's calls stop from now on; the calling thread stands still.
    pub(crate) fn turn_off(&self, thread: pid_t, own: &mut Buffered) {
        own.is_off = true;
        if own.stubs.is_some() {
            own.enabled = false;
            let _ = Memory::open(thread).and_then(|memory| arm::enable(&memory, false));
        }
    }

    /// A process was made of another one, which may have the code. It runs when this is done.
    pub(crate) fn forked(&self, parent_thread: pid_t, own: &mut Buffered, child: pid_t, shares: bool) {
        if shares {
            own.lent_to.push(child);
        }
        if own.stubs.is_none() {
            return;
        }
        if shares {
            own.enabled = false;
            let _ = Memory::open(parent_thread).and_then(|memory| arm::enable(&memory, false));
        } else {
            let _ = Memory::open(child).and_then(|memory| arm::tag(&memory, child));
        }
    }

    /// A process that may use this one's memory has made another one that may.
    pub(crate) fn lent_on(&self, own: &mut Buffered, (borrower, child): (pid_t, pid_t)) {
        if own.lent_to.contains(&borrower) {
            own.lent_to.push(child);
        }
    }

    /// Another process that may have used this one's memory does so no more. Its threads may run.
    pub(crate) fn has_back(&self, own: &mut Buffered, (process, other): (pid_t, pid_t)) {
        if own.lent_to.contains(&other) {
            own.lent_to.retain(|borrower| *borrower != other);
            enable_again(own, process);
        }
    }

    /// A process of which nobody told: it may be a copy of one that has the code, and its records are its own then.
    pub(crate) fn adopt(&self, process: pid_t) {
        if self.ring.is_at(process) {
            let _ = Memory::open(process).and_then(|memory| arm::tag(&memory, process));
        }
    }

    /// What a process writes was just looked at; it is again after so long.
    pub(crate) fn sampled(&self, process: pid_t, again: Duration) {
        let later = again.as_nanos() as f64 / self.clock.nanoseconds_per_tick;
        let _ = Memory::open(process).and_then(|memory| arm::sample(&memory, ticks() + later as u64));
    }

    /// A thread that is about to get a signal ends what it is writing; another stop that came then.
    pub(crate) fn ends_its_record(thread: pid_t) -> Option<Stop> {
        arm::ends_its_record(thread)
    }

    /// Whether a fault was of the code, on behalf of the program; the thread goes on without the signal then.
    pub(crate) fn leads_out(thread: pid_t) -> bool {
        arm::leads_out(thread)
    }

    /// Where a stopped thread's own memory is, by which its records are known.
    pub(crate) fn own_memory(thread: pid_t) -> Option<u64> {
        arm::own_memory(thread)
    }

    /// Before records are read.
    pub(crate) fn synchronize(&mut self) {
        self.ring.look();
        self.clock.synchronize();
    }

    /// The next record of a call that is done without a stop; `wait`: one that is being written is waited for. `owner` tells of the
    /// thread of a process whose own memory is there.
    pub(crate) fn next(&mut self, wait: bool, owner: &dyn Fn(u32, u64) -> Owner) -> Option<Record> {
        loop {
            let mut record = self.ring.next(wait, owner)?;
            // Any process can write here what it likes.
            let class = usize::try_from(record.number).ok().and_then(|number| self.classes.get(number));
            let makes_descriptor =
                class.is_some_and(|class| class & OPENS != 0) || MAKE_DESCRIPTORS.contains(&record.number);
            let is_sane = !makes_descriptor || record.result < MOST_DESCRIPTORS;
            if let Some(&class) = class.filter(|class| **class != 0 && is_sane) {
                record.looked = record.path.is_some() && looks(class, &record.arguments);
                return Some(record);
            }
        }
    }

    /// Whether the last reading ended before a record whose writer stands still, for a stop that was not waited for.
    pub(crate) fn is_held_up(&mut self) -> bool {
        self.ring.is_held_up()
    }

    /// Calls whose records were begun and never ended.
    pub(crate) fn lost(&self) -> u64 {
        self.ring.lost()
    }

    /// Bytes of the buffer, the most of them that were in use at once, and how often more than half of them came to be.
    pub(crate) fn fullness(&self) -> (u64, u64, u64) {
        self.ring.fullness()
    }

    /// Whose it is: process, and where the thread's own memory is.
    pub(crate) fn whose(record: &Record) -> (pid_t, u64) {
        (record.process as pid_t, record.own_memory)
    }

    /// When it began, in nanoseconds since the begin, how many it took, and how many it took before to look at what lay there.
    pub(crate) fn when(&self, record: &Record) -> (u64, u64, u64) {
        let [begun, ended] = record.ticks.map(|ticks| self.clock.at(ticks));
        let look =
            if record.looked { (record.arguments[4] >> 32) as f64 * self.clock.nanoseconds_per_tick } else { 0.0 };
        (begun, ended.saturating_sub(begun), look as u64)
    }
}

/// A process that has the code writes its calls down again, unless another one uses its memory.
fn enable_again(own: &mut Buffered, thread: pid_t) {
    if own.stubs.is_some() && !own.enabled && !own.is_off && own.lent_to.is_empty() {
        own.enabled = Memory::open(thread).and_then(|memory| arm::enable(&memory, true)).is_ok();
    }
}

/// Whether what lay under the path was looked at before a call (hook.rs).
fn looks(class: u8, arguments: &[u64; 6]) -> bool {
    const CHANGES: u64 = (libc::O_ACCMODE | libc::O_CREAT | libc::O_TRUNC) as u64;
    const NEW: u64 = (libc::O_CREAT | libc::O_EXCL) as u64;
    let flags = arguments[if class & SECOND != 0 { 2 } else { 1 }];
    class & LOOKS != 0 || (class & OPENS != 0 && flags & CHANGES != 0 && flags & NEW != NEW)
}

/// Whether two processes have one memory (kcmp(2)); where the kernel does not tell, they may.
pub(crate) fn share_memory(one: pid_t, other: pid_t) -> bool {
    const KCMP_VM: c_long = 1;
    // SAFETY: a question about two processes.
    unsafe { libc::syscall(libc::SYS_kcmp, c_long::from(one), c_long::from(other), KCMP_VM, 0, 0) <= 0 }
}

/// The same text where this process has it mapped too, as of its own C library: reading the other's would map each page there.
fn own_text(source: &str, length: u64) -> Option<&'static [u8]> {
    let maps = std::fs::read_to_string("/proc/self/maps").ok()?;
    maps.lines().find_map(|line| {
        let (range, rest) = line.split_once(' ')?;
        let (begin, end) = range.split_once('-')?;
        let [begin, end] = [begin, end].map(|at| usize::from_str_radix(at, 16).unwrap_or(0));
        let is_library =
            rest.starts_with("r-x") && rest.contains('/') && rest.split_whitespace().eq(source.split_whitespace());
        // SAFETY: it is mapped for reading, and a library that was there at the begin stays.
        (is_library && end.checked_sub(begin)? as u64 == length)
            .then(|| unsafe { std::slice::from_raw_parts(begin as *const u8, end - begin) })
    })
}

/// The text of which an address is, and what it is mapped from.
fn text_at(process: pid_t, address: u64) -> Option<(Range<u64>, String)> {
    let maps = std::fs::read(format!("/proc/{process}/maps")).ok()?;
    String::from_utf8_lossy(&maps).lines().find_map(|line| {
        let (range, rest) = line.split_once(' ')?;
        let (begin, end) = range.split_once('-')?;
        let text = u64::from_str_radix(begin, 16).ok()?..u64::from_str_radix(end, 16).ok()?;
        // Behind the permissions stand offset, device, number and name: the same are the same text.
        text.contains(&address).then(|| (text, rest.to_owned()))
    })
}

/// Filters of calls that a process has; `None`: the kernel does not tell.
fn filters(process: pid_t) -> Option<u32> {
    let text = std::fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    text.lines().find_map(|line| line.strip_prefix("Seccomp_filters:"))?.trim().parse().ok()
}

/// On what it hangs where a path leads a process: its namespaces and its root; `None`: the kernel does not tell.
fn views(process: pid_t) -> [Option<PathBuf>; 3] {
    ["ns/pid", "ns/mnt", "root"].map(|of| std::fs::read_link(format!("/proc/{process}/{of}")).ok())
}

/// Whether a process may have so much memory and no more: the buffer's would be missing.
fn is_limited(process: pid_t) -> bool {
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: a question about a process, and a place for its answer.
    let answer = unsafe { libc::prlimit(process, libc::RLIMIT_AS, std::ptr::null(), &mut limit) };
    answer != 0 || limit.rlim_cur != libc::RLIM_INFINITY
}

/// Threads of a process: the kernel counts them as folders are counted, of which a folder has two links itself.
fn threads(process: pid_t) -> Option<u64> {
    std::fs::metadata(format!("/proc/{process}/task")).ok()?.nlink().checked_sub(2)
}

const _: () = assert!(CLASSES_AT as usize + CALLS <= layout::PAGE as usize, "the page of control holds all classes");

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_text_changes_while_another_process_uses_the_same_memory() {
        let Some(mut buffer) = CallBuffer::begin(Instant::now()) else { return };
        let own_number = std::process::id() as pid_t;
        let address = libc::getpid as *const () as u64;
        let mut own = Buffered::default();
        buffer.forked(own_number, &mut own, 7, true);
        // The one that has it lends it on, and is over before.
        buffer.lent_on(&mut own, (7, 8));
        buffer.has_back(&mut own, (own_number, 7));
        let mut look = |own: &mut Buffered| buffer.look(own, (own_number, own_number), address, false);
        assert!(matches!(look(&mut own), Looked::AsItWas) && own.seen.is_empty());
        let child = Buffered::default().of_child(true);
        assert!(matches!(look(&mut child.clone()), Looked::AsItWas) && child.borrows);
        own.lent_to.clear();
        assert!(matches!(look(&mut own), Looked::AsItWas) && own.seen.len() == 1);
    }
}
