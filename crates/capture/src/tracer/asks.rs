//! What a call asks for, looked at before it is done.

use super::{Does, Pending, Tracer};
use crate::memory;
use crate::names::whole;
use crate::process::Process;
use crate::stops::Stop;
use crate::system_calls::{Asks, REMOVE_DIRECTORY, SystemCall, code};
use libc::{c_int, pid_t};
use std::ffi::OsStr;
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
                if let Some(own) = self.process_of(thread) {
                    own.files.remove(arguments[0] as i32);
                }
                asked.operation.files[0] = file?;
            }
            // With this flag they are closed by the next program, which is looked at then.
            Asks::CloseRange if arguments[2] & u64::from(libc::CLOSE_RANGE_CLOEXEC) == 0 => {
                let last = i32::try_from(arguments[1] as u32).unwrap_or(i32::MAX);
                let is_unshared = arguments[2] & u64::from(libc::CLOSE_RANGE_UNSHARE) != 0;
                self.process_of(thread)?.closes(arguments[0] as i32..=last, is_unshared);
                return None;
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
                    self.process_of(thread)?.files.get(arguments[1] as i32)?;
                    (asked.is_told, asked.does) = (false, Does::Forgets(arguments[1] as i32));
                }
            },
            Asks::Directory => {
                let said = memory::text(thread, arguments[0])?;
                let process = self.processes.get(&self.threads.get(&thread)?.process)?;
                asked.does = Does::Enters(whole(&process.directory, Path::new(OsStr::from_bytes(&said))));
            }
            Asks::DirectoryOf => {
                let of = self.threads.get(&thread)?.process;
                let directory = self.processes.get(&of)?.directory_of(of, arguments[0] as i32)?.into_owned();
                asked.does = Does::Enters(directory);
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

    fn process_of(&mut self, thread: pid_t) -> Option<&mut Process> {
        let process = self.threads.get(&thread)?.process;
        self.processes.get_mut(&process)
    }

    fn set_close_on_exec(&mut self, thread: pid_t, descriptor: u64, close: bool) {
        if let Some(own) = self.process_of(thread) {
            own.files.set_close_on_exec(descriptor as i32, close);
        }
    }
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
