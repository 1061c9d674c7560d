//! What strace prints: `strace -f -tt -T -y -o FILE COMMAND`. Without `-y` nobody knows which file a descriptor is.

mod arguments;
mod lines;
mod of_each;
mod processes;

pub(super) use of_each::read as read_of_each;

use super::builder::Builder;
use super::{ImportError, Lines};
use crate::Operation;
use crate::calls::code;
use arguments::{Argument, flags, parse};
use lines::{Reading, Times, duration_of, process_of, time_of};
use processes::Processes;
use std::io::BufRead;

const NO_DURATIONS: &str = "these lines do not tell how long calls took (strace -T)";
const OPENED_BEFORE: &str = "files that were open before the log began are not followed";

/// A line without its process and time.
struct Said<'a> {
    process: u32,
    at: u64,
    call: &'a str,
}

pub(super) fn is_one(first: &str) -> bool {
    let (process, rest) = process_of(first);
    let (time, rest) = time_of(rest);
    // The first line of a thread of which nothing else is told.
    let is_end = rest.starts_with("+++ ") || rest.starts_with("--- SIG");
    let name = rest.find('(').map(|at| &rest[..at]);
    (is_end && (process.is_some() || time.is_some()))
        || name.is_some_and(|name| !name.is_empty() && name.bytes().all(|of| of.is_ascii_alphanumeric() || of == b'_'))
}

/// `of_file`: whose lines they are where they do not say, as in the file of a process.
pub(super) fn read(
    first: &str,
    lines: &mut Lines<impl BufRead>,
    of_file: Option<u32>,
    builder: &mut Builder,
) -> Result<(), ImportError> {
    builder.note(OPENED_BEFORE);
    let (mut reading, mut times) = (Reading::default(), Times::default());
    let mut line = Some(first.to_owned());
    while let Some(text) = line {
        let (process, rest) = process_of(&text);
        let (at, rest) = times.begin_of(rest, builder);
        reading.line(process.or(of_file).unwrap_or(1), at, rest, builder)?;
        line = lines.next()?.map(str::to_owned);
    }
    Ok(())
}

/// `name(arguments) = result <seconds>`; the result of a call that never returned is `?`.
fn one(said: &Said, processes: &mut Processes, builder: &mut Builder) -> Result<(), ImportError> {
    let Some((name, rest)) = said.call.split_once('(') else {
        builder.leave_out("lines that are no call");
        return Ok(());
    };
    let Some((arguments, rest)) = parse(rest) else {
        builder.leave_out("lines that are no call");
        return Ok(());
    };
    let Some(result) = rest.trim_start().strip_prefix('=').map(str::trim_start) else {
        builder.leave_out("calls that did not return");
        return Ok(());
    };
    let value = match result_of(result) {
        Ok(value) => value,
        Err(why) => {
            builder.leave_out(why);
            return Ok(());
        }
    };
    let nanoseconds = duration_of(rest).unwrap_or_else(|| {
        builder.note(NO_DURATIONS);
        0
    });
    let thread = processes.thread(said.process, builder);
    let operation = Operation { thread, start: said.at, nanoseconds, result: value, ..Operation::default() };
    let mut call = Call { said, name, arguments: &arguments, operation, processes, builder };
    match call.read() {
        Some(Some(operation)) => call.builder.add(operation),
        Some(None) => Ok(()),
        None => {
            // What is opened so is no file that is followed, whatever had that number before.
            call.loses_descriptors(result);
            let is_known = crate::CALLS.iter().any(|row| row.name == name) || KNOWN.contains(&name);
            call.builder.leave_out(if is_known { NOT_FOLLOWED } else { "calls that ask nothing of files" });
            Ok(())
        }
    }
}

const NOT_FOLLOWED: &str = "calls on pipes, sockets, devices and files that are not followed";
/// Calls that become those of a trace under another name.
const KNOWN: [&str; 12] = [
    "open",
    "creat",
    "openat2",
    "readv",
    "writev",
    "preadv",
    "pwritev",
    "fcntl",
    "dup2",
    "dup3",
    "statx",
    "newfstatat",
];

/// `3</path>`, `0x7f…`, `-1 ENOENT (No such file)`, `?`.
fn result_of(result: &str) -> Result<i64, &'static str> {
    const NOT_RETURNED: &str = "calls that did not return";
    let word = result.split([' ', '<']).next().unwrap_or_default();
    let number = arguments::number(word).ok_or(NOT_RETURNED)?;
    if number >= 0 || word != "-1" {
        return Ok(number);
    }
    let name = result.split_whitespace().nth(1).ok_or(NOT_RETURNED)?;
    crate::errors::number(name).map(|errno| -i64::from(errno)).ok_or("calls with an error that is not known")
}

struct Call<'a, 'b> {
    said: &'a Said<'a>,
    name: &'a str,
    arguments: &'a [Argument],
    operation: Operation,
    processes: &'b mut Processes,
    builder: &'b mut Builder,
}

impl Call<'_, '_> {
    /// The call as a trace has it; `Some(None)`: it changes what is known and is no call of a trace, `None`: it is left out.
    fn read(&mut self) -> Option<Option<Operation>> {
        let done = self.operation.result >= 0;
        let process = self.said.process;
        match self.name {
            "open" => self.opens((None, 0), 1, 2),
            "creat" => {
                let path = self.at(None, 0)?;
                self.operation.numbers =
                    [i64::from(libc::O_CREAT | libc::O_WRONLY | libc::O_TRUNC), self.octal(1), 0, 0];
                self.opened(path)
            }
            "openat" => self.opens((Some(0), 1), 2, 3),
            "openat2" => {
                let path = self.at(Some(0), 1)?;
                let how = self.arguments.get(2)?.text().to_owned();
                let value = |key: &str| Some(how.split_once(key)?.1.split([',', '}']).next()?.trim().to_owned());
                let mode = value("mode=").and_then(|mode| i64::from_str_radix(&mode, 8).ok()).unwrap_or(0);
                self.operation.numbers = [flags(&value("flags=")?)?, mode, 0, 0];
                self.opened(path)
            }
            "close" => {
                let closed = self.file(0);
                if done {
                    self.processes.close(process, self.descriptor(0)?);
                }
                self.on(code::CLOSE, closed?, [0; 4])
            }
            "copy_file_range" => self.copies(code::COPY_FILE_RANGE, [0, 2], [Some(1), Some(3)], 4),
            "sendfile" => self.copies(code::SENDFILE, [1, 0], [Some(2), None], 3),
            "dup" | "dup2" | "dup3" => self.duplicates(),
            "fcntl" if self.arguments.get(1)?.text().starts_with("F_DUPFD") => self.duplicates(),
            _ => self.changes_the_process().or_else(|| self.works_on_a_file()).or_else(|| self.names_paths()),
        }
    }

    /// Calls that change what is known of the process, and are no calls of a trace.
    fn changes_the_process(&mut self) -> Option<Option<Operation>> {
        let (done, process) = (self.operation.result >= 0, self.said.process);
        match self.name {
            "clone" | "clone3" | "fork" | "vfork" => {
                let shares = self.arguments.iter().any(|of| of.text().contains("CLONE_FILES"));
                let is_thread = self.arguments.iter().any(|of| of.text().contains("CLONE_THREAD"));
                match u32::try_from(self.operation.result) {
                    Ok(child) if done && !self.processes.is_over(child, self.said.at) => {
                        self.processes.begin(child, process, shares, is_thread, self.builder);
                    }
                    _ => self.processes.has_begun(process),
                }
                Some(None)
            }
            "chdir" => {
                let path = self.at(None, 0)?;
                if done {
                    self.builder.is_folder(path);
                    self.processes.enter(process, self.builder.said(path).to_vec());
                }
                Some(None)
            }
            "fchdir" => {
                let told = self.arguments.first()?.path();
                let known = || self.builder.path_of(self.file(0)?).map(|path| self.builder.said(path).to_vec());
                if let (true, Some(path)) = (done, told.or_else(known)) {
                    self.processes.enter(process, path);
                }
                Some(None)
            }
            "close_range" => {
                if done {
                    let last = u32::try_from(self.number(1)).unwrap_or(u32::MAX);
                    self.processes.close_range(process, self.number(0).max(0) as u32, last);
                }
                Some(None)
            }
            "pipe" | "pipe2" | "socketpair" => {
                let of = self.arguments.iter().find(|of| of.text().starts_with('['))?;
                let list = of.text().trim_matches(['[', ']']).to_owned();
                for word in list.split(',') {
                    if let Some(number) = word.trim().split('<').next().and_then(|word| word.parse().ok()) {
                        self.processes.close(process, number);
                    }
                }
                None
            }
            _ => None,
        }
    }

    /// Calls on an open file.
    fn works_on_a_file(&mut self) -> Option<Option<Operation>> {
        match self.name {
            "read" | "write" => self.on(
                if self.name == "read" { code::READ } else { code::WRITE },
                self.file(0)?,
                [self.number(2), 0, 0, 0],
            ),
            "readv" | "writev" => {
                let bytes = self.operation.result.max(0);
                self.on(if self.name == "readv" { code::READ } else { code::WRITE }, self.file(0)?, [bytes, 0, 0, 0])
            }
            "pread64" | "pwrite64" => {
                let call = if self.name == "pread64" { code::PREAD64 } else { code::PWRITE64 };
                self.on(call, self.file(0)?, [self.number(2), self.number(3), 0, 0])
            }
            "preadv" | "pwritev" | "preadv2" | "pwritev2" => {
                let call = if self.name.starts_with("pread") { code::PREAD64 } else { code::PWRITE64 };
                self.on(call, self.file(0)?, [self.operation.result.max(0), self.number(3), 0, 0])
            }
            "lseek" => {
                let whence = flags(self.arguments.get(2)?.text())?;
                self.on(code::LSEEK, self.file(0)?, [self.number(1), whence, 0, 0])
            }
            "fsync" => self.on(code::FSYNC, self.file(0)?, [0; 4]),
            "fdatasync" => self.on(code::FDATASYNC, self.file(0)?, [0; 4]),
            "syncfs" => self.on(code::SYNCFS, self.file(0)?, [0; 4]),
            "sync_file_range" => {
                let numbers = [self.number(1), self.number(2), flags(self.arguments.get(3)?.text())?, 0];
                self.on(code::SYNC_FILE_RANGE, self.file(0)?, numbers)
            }
            "sync" => Some(Some(Operation { call: code::SYNC, ..self.operation })),
            "ftruncate" => self.on(code::FTRUNCATE, self.file(0)?, [self.number(1), 0, 0, 0]),
            "fallocate" => {
                let numbers = [flags(self.arguments.get(1)?.text())?, self.number(2), self.number(3), 0];
                self.on(code::FALLOCATE, self.file(0)?, numbers)
            }
            "getdents64" | "getdents" => self.on(code::GETDENTS64, self.file(0)?, [self.number(2), 0, 0, 0]),
            "fstat" => {
                self.sees(1, None);
                self.on(code::FSTAT, self.file(0)?, [0; 4])
            }
            "fchmod" => self.on(code::FCHMOD, self.file(0)?, [self.octal(1), 0, 0, 0]),
            "fchown" => self.on(code::FCHOWN, self.file(0)?, [self.number(1), self.number(2), 0, 0]),
            "flock" => self.on(code::FLOCK, self.file(0)?, [flags(self.arguments.get(1)?.text())?, 0, 0, 0]),
            _ => None,
        }
    }

    /// Calls that name paths.
    fn names_paths(&mut self) -> Option<Option<Operation>> {
        let none = [0; 4];
        let no_follow = i64::from(libc::AT_SYMLINK_NOFOLLOW);
        let (call, paths, numbers) = match self.name {
            "stat" | "stat64" => (code::NEWFSTATAT, [self.at(None, 0)?, 0], none),
            "lstat" => (code::NEWFSTATAT, [self.at(None, 0)?, 0], [no_follow, 0, 0, 0]),
            "newfstatat" | "statx" => {
                let flags_at = if self.name == "statx" { 2 } else { 3 };
                let flags = flags(self.arguments.get(flags_at)?.text())? & no_follow;
                if self.arguments.get(1)?.text() == "\"\"" {
                    self.sees(2, None);
                    return self.on(code::FSTAT, self.file(0)?, none);
                }
                (code::NEWFSTATAT, [self.at(Some(0), 1)?, 0], [flags, 0, 0, 0])
            }
            "access" => (code::FACCESSAT, [self.at(None, 0)?, 0], [flags(self.arguments.get(1)?.text())?, 0, 0, 0]),
            "faccessat" | "faccessat2" => {
                (code::FACCESSAT, [self.at(Some(0), 1)?, 0], [flags(self.arguments.get(2)?.text())?, 0, 0, 0])
            }
            "readlink" => (code::READLINKAT, [self.at(None, 0)?, 0], none),
            "readlinkat" => (code::READLINKAT, [self.at(Some(0), 1)?, 0], none),
            "statfs" => (code::STATFS, [self.at(None, 0)?, 0], none),
            "execve" => {
                if self.operation.result == 0 {
                    self.processes.executes(self.said.process);
                }
                (code::EXECVE, [self.at(None, 0)?, 0], none)
            }
            "truncate" => (code::TRUNCATE, [self.at(None, 0)?, 0], [self.number(1), 0, 0, 0]),
            "unlink" => (code::UNLINKAT, [self.at(None, 0)?, 0], none),
            "rmdir" => (code::UNLINKAT, [self.at(None, 0)?, 0], [i64::from(libc::AT_REMOVEDIR), 0, 0, 0]),
            "unlinkat" => (code::UNLINKAT, [self.at(Some(0), 1)?, 0], [flags(self.arguments.get(2)?.text())?, 0, 0, 0]),
            "mkdir" => (code::MKDIRAT, [self.at(None, 0)?, 0], [self.octal(1), 0, 0, 0]),
            "mkdirat" => (code::MKDIRAT, [self.at(Some(0), 1)?, 0], [self.octal(2), 0, 0, 0]),
            "chmod" => (code::FCHMODAT, [self.at(None, 0)?, 0], [self.octal(1), 0, 0, 0]),
            "fchmodat" => (code::FCHMODAT, [self.at(Some(0), 1)?, 0], [self.octal(2), 0, 0, 0]),
            "chown" | "lchown" => (code::FCHOWNAT, [self.at(None, 0)?, 0], [self.number(1), self.number(2), 0, 0]),
            "fchownat" => (code::FCHOWNAT, [self.at(Some(0), 1)?, 0], [self.number(2), self.number(3), 0, 0]),
            "utimensat" if self.arguments.get(1)?.text() == "NULL" => {
                return self.on(code::FUTIMENS, self.file(0)?, none);
            }
            "utimensat" => (code::UTIMENSAT, [self.at(Some(0), 1)?, 0], none),
            "rename" => (code::RENAMEAT2, [self.at(None, 0)?, self.at(None, 1)?], none),
            "renameat" => (code::RENAMEAT2, [self.at(Some(0), 1)?, self.at(Some(2), 3)?], none),
            "renameat2" => {
                let flags = flags(self.arguments.get(4)?.text())?;
                (code::RENAMEAT2, [self.at(Some(0), 1)?, self.at(Some(2), 3)?], [flags, 0, 0, 0])
            }
            "link" => (code::LINKAT, [self.at(None, 0)?, self.at(None, 1)?], none),
            "linkat" => {
                let flags = flags(self.arguments.get(4)?.text())?;
                (code::LINKAT, [self.at(Some(0), 1)?, self.at(Some(2), 3)?], [flags, 0, 0, 0])
            }
            "symlink" => (code::SYMLINKAT, [self.text_of(0)?, self.at(None, 1)?], none),
            "symlinkat" => (code::SYMLINKAT, [self.text_of(0)?, self.at(Some(1), 2)?], none),
            _ => return None,
        };
        if call == code::NEWFSTATAT {
            let structure = match self.name {
                "statx" => 4,
                "newfstatat" => 2,
                _ => 1,
            };
            self.sees(structure, Some(paths[0]));
        }
        Some(Some(Operation { call, paths, numbers, ..self.operation }))
    }

    fn opens(
        &mut self,
        (directory, at): (Option<usize>, usize),
        flags_at: usize,
        mode_at: usize,
    ) -> Option<Option<Operation>> {
        let path = self.at(directory, at)?;
        let flags = flags(self.arguments.get(flags_at)?.text())?;
        self.operation.numbers = [flags, self.octal(mode_at), 0, 0];
        self.opened(path)
    }

    fn opened(&mut self, path: u32) -> Option<Option<Operation>> {
        let mut operation = Operation { call: code::OPENAT, paths: [path, 0], ..self.operation };
        operation.files[0] = crate::NOT_FOLLOWED;
        if operation.result >= 0 {
            operation.files[0] = self.builder.file(path);
            let closes = operation.numbers[0] & i64::from(libc::O_CLOEXEC) != 0;
            self.processes.open(self.said.process, operation.result as i32, (operation.files[0], closes));
        }
        Some(Some(operation))
    }

    fn on(&self, call: u8, file: u32, numbers: [i64; 4]) -> Option<Option<Operation>> {
        Some(Some(Operation { call, files: [file, 0], numbers, ..self.operation }))
    }

    fn copies(
        &self,
        call: u8,
        files: [usize; 2],
        offsets: [Option<usize>; 2],
        bytes: usize,
    ) -> Option<Option<Operation>> {
        let to = match call {
            code::SENDFILE => self.file(files[1]).unwrap_or(crate::NOT_FOLLOWED),
            _ => self.file(files[1])?,
        };
        // `NULL`, `[100]`, `[100] => [200]`.
        let offset = |at: Option<usize>| {
            let text = self.arguments.get(at?)?.text().strip_prefix('[')?;
            arguments::number(text.split(']').next()?)
        };
        let [first, second] = offsets.map(|at| offset(at).unwrap_or(-1));
        let numbers = [self.number(bytes), first, second, 0];
        Some(Some(Operation { call, files: [self.file(files[0])?, to], numbers, ..self.operation }))
    }

    /// A call that is left out may have made a descriptor all the same.
    fn loses_descriptors(&mut self, result: &str) {
        const MAKE: [&str; 11] = [
            "open",
            "openat",
            "openat2",
            "creat",
            "dup",
            "dup2",
            "dup3",
            "socket",
            "accept",
            "accept4",
            "memfd_create",
        ];
        let word = result.split([' ', '<']).next().unwrap_or_default();
        // `5</path>` is a descriptor, and `5 <0.000010>` is none.
        let is_named = result[word.len()..].starts_with('<');
        let duplicates =
            || self.name == "fcntl" && self.arguments.get(1).is_some_and(|of| of.text().starts_with("F_DUPFD"));
        let number = word.parse::<i32>().ok().filter(|number| *number >= 0);
        if let Some(number) = number.filter(|_| is_named || MAKE.contains(&self.name) || duplicates()) {
            self.processes.close(self.said.process, number);
        }
    }

    fn duplicates(&mut self) -> Option<Option<Operation>> {
        let file = self.file(0)?;
        if self.operation.result >= 0 {
            self.processes.open(self.said.process, self.operation.result as i32, (file, false));
        }
        self.on(code::DUP, file, [0; 4])
    }

    /// What a structure of `stat` says lay there, of a path or of the file that is looked at.
    fn sees(&mut self, at: usize, path: Option<u32>) {
        let Some(text) = self.arguments.get(at).map(Argument::text) else { return };
        let value = |key: &str| text.split_once(key).map(|(_, rest)| rest.split([',', '}']).next().unwrap_or(""));
        let mode = value("st_mode=").or_else(|| value("stx_mode=")).and_then(flags);
        let size = value("st_size=").or_else(|| value("stx_size=")).and_then(arguments::number).unwrap_or(0);
        let path = path.or_else(|| self.builder.path_of(self.file(0)?));
        if let (Some(path), Some(mode), true) = (path, mode, self.operation.result == 0) {
            self.builder.saw(path, mode as u32, size.max(0) as u64);
        }
    }

    fn number(&self, at: usize) -> i64 {
        self.arguments.get(at).and_then(|of| arguments::number(of.text())).unwrap_or(0)
    }

    fn octal(&self, at: usize) -> i64 {
        self.arguments.get(at).and_then(|of| i64::from_str_radix(of.text(), 8).ok()).unwrap_or(0)
    }

    /// The descriptor before its path: `3</path>`.
    fn descriptor(&self, at: usize) -> Option<i32> {
        self.arguments.get(at)?.text().split('<').next()?.parse().ok()
    }

    fn file(&self, at: usize) -> Option<u32> {
        // Where strace names it and it is no file, it is none of ours, whatever had that number.
        let named = self.arguments.get(at)?.text().split_once('<').map(|(_, name)| name);
        if named.is_some_and(|name| !name.starts_with('/')) {
            return None;
        }
        self.processes.file(self.said.process, self.descriptor(at)?)
    }

    /// What a link is to say.
    fn text_of(&mut self, at: usize) -> Option<u32> {
        let text = self.arguments.get(at)?.string()?;
        self.builder.text(&text)
    }

    /// The number of a path, whole where its folder is known: `directory` is the argument that names it.
    fn at(&mut self, directory: Option<usize>, at: usize) -> Option<u32> {
        let said = self.arguments.get(at)?.string()?;
        if said.first() == Some(&b'/') {
            return self.builder.path(&said);
        }
        let told = directory.and_then(|at| self.arguments.get(at)?.path());
        // Without strace's word it is the folder that was opened.
        let opened = || {
            let path = self.builder.path_of(self.file(directory?)?)?;
            Some(self.builder.said(path).to_vec())
        };
        let told = told.or_else(opened);
        if let (Some(told), Some(directory)) = (&told, directory)
            && self.arguments.get(directory)?.text().starts_with("AT_FDCWD")
        {
            self.processes.enter(self.said.process, told.clone());
        }
        let folder = told.unwrap_or_else(|| self.processes.directory(self.said.process));
        let whole = [&folder[..], b"/", &said].concat();
        self.builder.path(&whole)
    }
}
