//! What a call asks for, looked at before it is done.

use super::{Does, Pending, Tracer};
use crate::memory;
use crate::names::whole;
use crate::process::Own;
use crate::stops::Stop;
use crate::system_calls::{Asks, REMOVE_DIRECTORY, SystemCall, code};
use libc::{c_int, pid_t};
use std::ffi::OsStr;
use std::ops::RangeInclusive;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use trace::{Item, Operation};

/// linux/fs.h: FICLONE.
const FICLONE: u64 = 0x4004_9409;
const URING: &str = "a program uses io_uring or Linux AIO: what it asks for there goes past the tracer and is missing";

/// A call before it is done.
struct Asked<'a> {
    /// Whether it is written down, or only followed.
    is_told: bool,
    thread: pid_t,
    call: &'a SystemCall,
    arguments: &'a [u64; 6],
    operation: Operation,
    does: Does,
}

impl Asked<'_> {
    fn numbers(&mut self, which: &[usize]) {
        which.iter().zip(&mut self.operation.numbers).for_each(|(&at, number)| *number = self.arguments[at] as i64);
    }
}

impl Tracer {
    /// What is written down of a call when it returns; `None`: nothing, and nothing changes with it.
    pub(super) fn pending(
        &mut self,
        thread: pid_t,
        (call, code): (&SystemCall, u8),
        arguments: &[u64; 6],
    ) -> Option<Pending> {
        let number = self.threads.get(&thread)?.number;
        let operation = Operation { call: code, thread: number, ..Operation::default() };
        let is_told = !call.name.is_empty();
        let mut asked = Asked { is_told, thread, call, arguments, operation, does: Does::Nothing };
        match call.asks {
            Asks::Open(..) | Asks::OpenHow(..) => self.opens(&mut asked)?,
            Asks::Path(..) | Asks::PathOrFile(..) | Asks::Paths(..) | Asks::Symlink(..) | Asks::Execute(..) => {
                self.names_paths(&mut asked)?;
            }
            Asks::File(..) | Asks::Writes(..) | Asks::Vector(..) | Asks::Files(..) | Asks::Nothing(..) => {
                self.works_on_files(&mut asked)?;
            }
            Asks::Fcntl | Asks::Ioctl => self.controls(&mut asked)?,
            Asks::CloseRange | Asks::Unshare => self.unshares(&mut asked)?,
            _ => self.changes_the_process(&mut asked)?,
        }
        let Asked { operation, does, is_told, .. } = asked;
        Some(Pending { operation, is_told, does, began: self.begun })
    }

    fn opens(&mut self, asked: &mut Asked) -> Option<()> {
        let (thread, arguments) = (asked.thread, asked.arguments);
        let (at, flags, mode) = match asked.call.asks {
            Asks::Open(at, flags, mode) => {
                let creat = i64::from(libc::O_CREAT | libc::O_WRONLY | libc::O_TRUNC);
                (at, flags.map_or(creat, |at| i64::from(arguments[at] as i32)), (arguments[mode] & 0o7777) as i64)
            }
            Asks::OpenHow(at, how) => {
                let flags = memory::number(thread, arguments[how]).unwrap_or(0) as i64;
                (at, flags, memory::number(thread, arguments[how].wrapping_add(8)).unwrap_or(0) as i64)
            }
            _ => return None,
        };
        let path = self.whole(thread, at, arguments)?;
        if !self.names.are_of_interest(&path) {
            // By the time that the buffer is read nobody else can tell what lay under a path relative to it.
            asked.is_told = false;
            asked.does = Does::Opens(path, flags & i64::from(libc::O_CLOEXEC) != 0);
            return self.record.is_some().then_some(());
        }
        // Without these flags nobody looks at it.
        let has = |wanted: c_int| flags & i64::from(wanted) == i64::from(wanted);
        let makes = has(libc::O_CREAT) || has(libc::O_TMPFILE);
        asked.operation.numbers = [flags, if makes { mode } else { 0 }, 0, 0];
        asked.operation.paths[0] = self.path(&path, true);
        asked.does = Does::Opens(path, flags & i64::from(libc::O_CLOEXEC) != 0);
        Some(())
    }

    fn names_paths(&mut self, asked: &mut Asked) -> Option<()> {
        let (thread, arguments) = (asked.thread, asked.arguments);
        match asked.call.asks {
            Asks::Path(at, which) => {
                let path = self.resolve(thread, at, arguments)?;
                asked.operation.paths[0] = self.path(&path, true);
                asked.numbers(which);
                if let Some(flags) = flags_of(asked.call) {
                    asked.operation.numbers[0] = flags;
                }
            }
            Asks::PathOrFile(at, which, of_file) => match self.resolve(thread, at, arguments) {
                Some(path) => {
                    asked.operation.paths[0] = self.path(&path, true);
                    asked.numbers(which);
                }
                None => {
                    let is_empty = arguments[at.1] == 0 || self.text(thread, arguments[at.1])?.is_empty();
                    let file = self.file(thread, arguments[at.0?]).filter(|_| is_empty)?;
                    asked.operation.files[0] = file.number;
                    asked.operation.call = code(of_file)?;
                }
            },
            Asks::Paths(from, to, which) => {
                let [from, to] = [from, to].map(|at| self.whole(thread, at, arguments));
                let (from, to) = (from?, to?);
                // What comes from outside is told with its name: it lies inside from then on.
                let is_any = self.names.are_of_interest(&from) || self.names.are_of_interest(&to);
                if !is_any || !self.names.are_files(&from) || !self.names.are_files(&to) {
                    return None;
                }
                asked.operation.paths = [self.path(&from, true), self.path(&to, true)];
                asked.numbers(which);
            }
            Asks::Symlink(text, at) => {
                let path = self.resolve(thread, at, arguments)?;
                let text = memory::text(thread, arguments[text])?;
                // As it was said: it may be relative, and to nothing.
                let text = Path::new(OsStr::from_bytes(&text));
                if !self.names.fits(text) {
                    return None;
                }
                let text = self.path(text, self.names.are_of_interest(text));
                asked.operation.paths = [text, self.path(&path, true)];
            }
            Asks::Execute(at) => {
                let path = self.resolve(thread, at, arguments)?;
                asked.operation.paths[0] = self.path(&path, true);
            }
            _ => return None,
        }
        Some(())
    }

    fn works_on_files(&mut self, asked: &mut Asked) -> Option<()> {
        let (thread, arguments) = (asked.thread, asked.arguments);
        match asked.call.asks {
            Asks::File(file, which) => {
                asked.operation.files[0] = self.file(thread, arguments[file])?.number;
                asked.numbers(which);
            }
            Asks::Writes(file, buffer, which) => {
                // What is in the buffer was written already.
                let is_now = self.record.is_none();
                if is_now {
                    self.was_looked_at(thread);
                }
                asked.operation.files[0] = self.file(thread, arguments[file])?.number;
                asked.numbers(which);
                if is_now && let Some(sample) = self.samples.look(thread, arguments[buffer], arguments[2]) {
                    self.add(&sample);
                }
            }
            Asks::Vector(file, list, count, offset) => {
                asked.operation.files[0] = self.file(thread, arguments[file])?.number;
                let bytes = memory::bytes_of_list(thread, arguments[list], arguments[count]);
                asked.operation.numbers = [bytes as i64, offset.map_or(0, |at| arguments[at] as i64), 0, 0];
                if offset.is_some() && asked.operation.numbers[1] < 0 {
                    // There it works where the file stands.
                    let plain = if asked.call.name == "pread64" { "read" } else { "write" };
                    (asked.operation.call, asked.operation.numbers[1]) = (code(plain)?, 0);
                }
            }
            Asks::Files(from, to, bytes) => {
                let number = |at: usize| self.file(thread, arguments[at]).map(|file| file.number);
                // Without an address it works where the file stands.
                let offset = |at: Option<usize>| match at.map(|at| arguments[at]).filter(|address| *address != 0) {
                    Some(address) => memory::number(thread, address).map_or(-1, |offset| offset as i64),
                    None => -1,
                };
                let files = [number(from.0), number(to.0)];
                files[0].or(files[1])?;
                asked.operation.files = files.map(|file| file.unwrap_or(trace::NOT_FOLLOWED));
                asked.operation.numbers = [arguments[bytes] as i64, offset(from.1), offset(to.1), 0];
            }
            Asks::Nothing(which) => asked.numbers(which),
            _ => return None,
        }
        Some(())
    }

    fn controls(&mut self, asked: &mut Asked) -> Option<()> {
        let (thread, arguments) = (asked.thread, asked.arguments);
        if asked.call.asks == Asks::Ioctl {
            if arguments[1] != FICLONE {
                return None;
            }
            let files = [self.file(thread, arguments[2])?.number, self.file(thread, arguments[0])?.number];
            asked.operation.files = files;
            return Some(());
        }
        let file = self.file(thread, arguments[0])?;
        asked.operation.files[0] = file.number;
        match arguments[1] as c_int {
            command @ (libc::F_DUPFD | libc::F_DUPFD_CLOEXEC) => {
                asked.operation.call = code("dup")?;
                asked.does = Does::Duplicates(file, command == libc::F_DUPFD_CLOEXEC);
            }
            libc::F_SETLK | libc::F_SETLKW | libc::F_OFD_SETLK | libc::F_OFD_SETLKW => asked.numbers(&[1]),
            libc::F_SETFD => {
                self.set_close_on_exec(thread, arguments[0], arguments[2] & libc::FD_CLOEXEC as u64 != 0);
                return None;
            }
            _ => return None,
        }
        Some(())
    }

    fn changes_the_process(&mut self, asked: &mut Asked) -> Option<()> {
        let (thread, arguments) = (asked.thread, asked.arguments);
        match asked.call.asks {
            // Before it is done: then the number may be another thread's already.
            Asks::Close => {
                let file = self.file(thread, arguments[0]).map(|file| file.number);
                if let Some(own) = self.context(thread) {
                    own.files.remove(arguments[0] as i32);
                }
                asked.operation.files[0] = file?;
            }
            Asks::Duplicate => {
                let file = self.file(thread, arguments[0])?;
                asked.operation.files[0] = file.number;
                asked.does = Does::Duplicates(file, false);
            }
            Asks::DuplicateOnto(flags) => match self.file(thread, arguments[0]) {
                Some(file) => {
                    asked.operation.files[0] = file.number;
                    let close = flags.is_some_and(|at| arguments[at] & libc::O_CLOEXEC as u64 != 0);
                    asked.does = Does::Duplicates(file, close);
                }
                None => {
                    self.context(thread)?.files.get(arguments[1] as i32)?;
                    (asked.is_told, asked.does) = (false, Does::Forgets(arguments[1] as i32));
                }
            },
            Asks::Directory => {
                let said = memory::text(thread, arguments[0])?;
                let from = self.context(thread)?.directory.get();
                asked.does = Does::Enters(whole(&from, Path::new(OsStr::from_bytes(&said))).into());
            }
            Asks::DirectoryOf => {
                asked.does = Does::Enters(self.context(thread)?.directory_of(thread, arguments[0] as i32)?);
            }
            Asks::Wait(at, options) => {
                const ONE: u64 = libc::P_PID as u64;
                let process = match at {
                    None => 0,
                    // What it says of one that goes on running is told by nothing that is returned.
                    Some(at) if arguments[0] == ONE && arguments[options] & libc::WNOHANG as u64 == 0 => arguments[at],
                    Some(_) => return None,
                };
                (asked.is_told, asked.does) = (false, Does::Waits(u32::try_from(process).ok()?));
            }
            Asks::Filter => {
                if asked.call.number == libc::SYS_seccomp || arguments[0] == libc::PR_SET_SECCOMP as u64 {
                    self.stops_from_now_on(thread);
                }
                return None;
            }
            Asks::Uring => {
                if !self.noted_uring {
                    self.noted_uring = true;
                    self.add(&Item::Note(URING.to_owned()));
                }
                return None;
            }
            _ => return None,
        }
        Some(())
    }

    /// Whether it succeeds is known when it returns: until then the thread shares what it shared.
    fn unshares(&self, asked: &mut Asked) -> Option<()> {
        let (thread, arguments) = (asked.thread, asked.arguments);
        if asked.call.asks == Asks::Unshare {
            let own = Own::by_flags(arguments[0]);
            asked.does = Does::Unshares(own, None);
            return (own.files || own.directory).then_some(());
        }
        let (range, flags) = range_of(arguments)?;
        // With this flag they are closed by the next program, which is looked at then.
        let closed = (flags & libc::CLOSE_RANGE_CLOEXEC == 0).then_some(range);
        if flags & libc::CLOSE_RANGE_UNSHARE == 0 {
            // Before it is done: then the numbers may be another thread's already.
            self.context(thread)?.files.close(&closed?);
            return None;
        }
        asked.does = Does::Unshares(Own { files: true, directory: false }, closed);
        Some(())
    }

    /// A thread saw the end of a process, where it has none any more.
    pub(super) fn waited(&mut self, thread: u32, (process, result): (u32, i64), at: u64) {
        let process = if process == 0 { u32::try_from(result).unwrap_or(0) } else { process };
        if result >= 0 && process > 0 && self.is_over(process as pid_t) {
            self.add(&Item::Waited { thread, process, at });
        }
    }

    /// Whether a process ended, though that may not have been looked at so far: what the buffer holds is read first.
    fn is_over(&self, process: pid_t) -> bool {
        let ends = |of: &(pid_t, Stop)| of.0 == process && matches!(of.1, Stop::Ended(_));
        !self.processes.contains_key(&process) || self.ending == Some(process) || self.early.iter().any(ends)
    }

    fn set_close_on_exec(&self, thread: pid_t, descriptor: u64, close: bool) {
        if let Some(own) = self.context(thread) {
            own.files.set_close_on_exec(descriptor as i32, close);
        }
    }
}

/// The descriptors that `close_range` closes, and its flags; `None`: it is refused. Above the range of descriptors there are none.
fn range_of(arguments: &[u64; 6]) -> Option<(RangeInclusive<i32>, u32)> {
    const FLAGS: u32 = libc::CLOSE_RANGE_UNSHARE | libc::CLOSE_RANGE_CLOEXEC;
    let [first, last, flags] = [0, 1, 2].map(|at| arguments[at] as u32);
    let range = [first, last].map(|number| i32::try_from(number).unwrap_or(i32::MAX));
    (first <= last && flags & !FLAGS == 0).then_some((range[0]..=range[1], flags))
}

/// Flags that an older form of a call stands for.
#[cfg(target_arch = "x86_64")]
fn flags_of(call: &SystemCall) -> Option<i64> {
    match call.number {
        libc::SYS_rmdir => Some(REMOVE_DIRECTORY),
        libc::SYS_lstat => Some(i64::from(libc::AT_SYMLINK_NOFOLLOW)),
        _ => None,
    }
}

#[cfg(not(target_arch = "x86_64"))]
fn flags_of(_: &SystemCall) -> Option<i64> {
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Job;
    use crate::process::OpenFile;
    use crate::system_calls::all;
    use std::sync::mpsc::channel;
    use std::time::Instant;
    use trace::Writer;

    fn tracer() -> Tracer {
        let job = Job {
            command: Vec::new(),
            under: Vec::new(),
            anonymous: false,
            started: String::new(),
            mask: 0,
            buffered: false,
        };
        crate::tracer::tracer(&job, Writer::begin(tempfile::tempfile().unwrap()).unwrap(), Instant::now(), None)
    }

    #[test]
    fn a_thread_has_its_own_once_it_unshared_it_and_not_where_that_was_refused() {
        const CLOSE: i64 = libc::SYS_close_range;
        const UNSHARE: i64 = libc::SYS_unshare;
        const OWN: u64 = libc::CLOSE_RANGE_UNSHARE as u64;
        let mut tracer = tracer();
        let main = std::process::id() as pid_t;
        let (tells, told) = channel();
        let (ends, ended) = channel::<()>();
        let sibling = std::thread::spawn(move || {
            // SAFETY: a question.
            let own = unsafe { libc::syscall(libc::SYS_gettid) };
            tells.send(own as pid_t).unwrap();
            let _ = ended.recv();
        });
        let other = told.recv().unwrap();
        tracer.meet(main, None);
        tracer.meet(other, Some(main));
        let open = |tracer: &Tracer, thread: pid_t, number: u32| {
            let file = OpenFile { number, path: "/f".into(), close_on_exec: false };
            tracer.context(thread).unwrap().files.insert(5000, file);
        };
        let files = |tracer: &Tracer| {
            [main, other].map(|thread| tracer.context(thread).unwrap().files.get(5000).map(|file| file.number))
        };
        // What the other thread asks for, and what is answered.
        let asks = |tracer: &mut Tracer, number: i64, arguments: [u64; 3], result: i64| {
            let [first, second, third] = arguments;
            let call = all().find(|call| call.number == number).unwrap();
            if let Some(pending) = tracer.pending(other, (call, 0), &[first, second, third, 0, 0, 0]) {
                tracer.done(other, pending, result);
            }
        };
        open(&tracer, main, 1);
        assert_eq!(files(&tracer), [Some(1), Some(1)]);
        asks(&mut tracer, UNSHARE, [libc::CLONE_FILES as u64, 0, 0], -i64::from(libc::EPERM));
        asks(&mut tracer, UNSHARE, [libc::CLONE_FS as u64, 0, 0], 0);
        // Refused, for want of memory and as no kernel takes them.
        asks(&mut tracer, CLOSE, [3, 9000, OWN], -i64::from(libc::ENOMEM));
        asks(&mut tracer, CLOSE, [9000, 3, OWN], -i64::from(libc::EINVAL));
        asks(&mut tracer, CLOSE, [3, 9000, 1 << 7], -i64::from(libc::EINVAL));
        asks(&mut tracer, CLOSE, [1 << 31, u64::MAX, 0], 0);
        open(&tracer, other, 2);
        assert_eq!(files(&tracer), [Some(2), Some(2)]);
        // With both flags nothing is closed before the next program.
        asks(&mut tracer, CLOSE, [3, u64::MAX, OWN | u64::from(libc::CLOSE_RANGE_CLOEXEC)], 0);
        open(&tracer, other, 3);
        assert_eq!(files(&tracer), [Some(2), Some(3)]);
        asks(&mut tracer, CLOSE, [3, u64::MAX, OWN], 0);
        assert_eq!(files(&tracer), [Some(2), None]);
        tracer.context(other).unwrap().directory.set(Path::new("/no/such").into());
        let stands = tracer.context(main).unwrap().directory.get();
        assert_ne!(&*stands, Path::new("/no/such"));
        drop(ends);
        sibling.join().unwrap();
    }
}
