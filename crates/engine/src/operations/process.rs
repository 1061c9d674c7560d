//! One process of the system's own tools for each operation: what a shell script costs.
//!
//! Comparisons made by hand time `for` loops around `dd`, `stat` and `rm`. Here the same tools are
//! started without a shell, with an argument list, in the folder of the work; names stand behind
//! `--`, so that any name is a name. What files hold comes through a pipe from the agent and is what
//! the other methods write, so that it can be checked in the same way. Beside it stands what it
//! costs to start as many processes that do nothing: that part of the figure is no filesystem's.

mod launcher;
mod tools;

pub use tools::{MissingTool, missing_tools};

use super::backend::{Operator, Task};
use super::contents::Contents;
use super::in_process::{ATTRIBUTE, ATTRIBUTE_BYTES, OF_ATTRIBUTE, file_name};
use crate::beneath;
use crate::clock::{Clock, seconds};
use crate::error::EngineError;
use launcher::{Arguments, Ended, Launcher};
use model::operations::Operation;
use rustix::io::Errno;
use std::ffi::{CStr, OsStr};
use std::os::fd::BorrowedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use tools::{Programs, Tool};

/// Processes that do nothing are started at least and at most so often; more are counted from them.
const REHEARSALS: std::ops::RangeInclusive<u64> = 5..=200;
/// `ls -f` lists `.` and `..` too.
const OWN_ENTRIES: u64 = 2;

/// Does every operation by a process. One per thread.
pub(crate) struct ProcessOperator {
    programs: Programs,
    launcher: Launcher,
    words: Arguments,
    /// For messages.
    path: PathBuf,
}

impl ProcessOperator {
    /// For work in the folder `name` of a directory; `path` is its own, for messages.
    ///
    /// # Errors
    /// Where the folder or the other descriptors that it needs cannot be opened.
    pub(crate) fn new(directory: BorrowedFd<'_>, name: &str, path: &Path) -> Result<Self, EngineError> {
        let folder =
            beneath::open_folder(directory, name).map_err(|errno| EngineError::file("open directory", path, errno))?;
        let programs = Programs::find();
        let launcher = Launcher::new(folder, path)?;
        Ok(ProcessOperator { programs, launcher, words: Arguments::default(), path: path.to_owned() })
    }

    fn do_nothing(&mut self) -> Result<(), EngineError> {
        self.words.begin(Tool::True.name());
        self.run(Tool::True, c"", false)
    }

    /// Runs a tool that reads nothing, to its success.
    fn run(&mut self, tool: Tool, subject: &CStr, listens: bool) -> Result<(), EngineError> {
        let ended = match self.programs.path(tool) {
            Some(program) => self.launcher.run(program, &self.words, listens),
            None => return Err(missing(tool)),
        };
        self.succeeded(tool, subject, ended)
    }

    fn succeeded(&mut self, tool: Tool, subject: &CStr, ended: Result<Ended, Errno>) -> Result<(), EngineError> {
        let ended = ended.map_err(|errno| self.cannot_start(tool, errno))?;
        if ended == Ended::Status(0) {
            return Ok(());
        }
        let said = self.launcher.take_said();
        // What it printed before it failed must not be taken for the next one's.
        let _ = self.launcher.take_output(&mut |_| {});
        Err(self.failure(tool, subject, ended, &String::from_utf8_lossy(&said)))
    }

    #[cold]
    fn failure(&self, tool: Tool, subject: &CStr, ended: Ended, said: &str) -> EngineError {
        let first = said.lines().map(str::trim).find(|line| !line.is_empty());
        let own = format!("{}: ", tool.name());
        let message = match (first, ended) {
            (Some(line), _) => line.strip_prefix(own.as_str()).unwrap_or(line).to_owned(),
            (None, Ended::Status(status)) => format!("it ended with status {status} and said nothing"),
            (None, Ended::Signal(signal)) => format!("it was killed by signal {signal}"),
        };
        let errno = errno_of(said);
        EngineError::Tool { program: tool.name(), path: self.full(subject), message, errno }
    }

    #[cold]
    fn cannot_start(&self, tool: Tool, errno: Errno) -> EngineError {
        let message = format!("it cannot be started: {}", std::io::Error::from(errno));
        let errno = Some(errno.raw_os_error());
        EngineError::Tool { program: tool.name(), path: self.path.clone(), message, errno }
    }

    fn full(&self, subject: &CStr) -> PathBuf {
        self.path.join(OsStr::from_bytes(subject.to_bytes()))
    }

    /// `dd` into the file, fed with what it is to hold.
    fn write(&mut self, task: &Task<'_>, contents: &mut Contents) -> Result<u64, EngineError> {
        let block = task.block.clamp(1, task.bytes.max(1));
        let words = self.words.begin("dd").joined("of=", task.path.to_bytes()).number("bs=", block);
        words.word("iflag=fullblock").word("status=none");
        let sync: &[u8] = if task.sync { b",fsync" } else { b"" };
        match task.operation {
            Operation::Create => words.joined("conv=excl", sync),
            Operation::Append => words.word("oflag=append").joined("conv=nocreat,notrunc", sync),
            // Anew: the first block makes the file and empties what was there.
            Operation::Write if task.offset == 0 && task.sync => words.word("conv=fsync"),
            Operation::Write if task.offset == 0 => words,
            _ => words.word("oflag=seek_bytes").number("seek=", task.offset).joined("conv=nocreat,notrunc", sync),
        };
        let mut feed = |moved: u64, write: &mut dyn FnMut(&[u8]) -> Result<(), Errno>| {
            let length = block.min(task.bytes - moved) as usize;
            write(contents.bytes(task.file, task.generation, task.offset + moved, length))
        };
        let Some(program) = self.programs.path(Tool::Dd) else { return Err(missing(Tool::Dd)) };
        let (ended, moved) = match self.launcher.run_fed(program, &self.words, task.bytes, &mut feed) {
            Ok((ended, moved)) => (Ok(ended), moved),
            Err(errno) => (Err(errno), 0),
        };
        self.succeeded(Tool::Dd, task.path, ended)?;
        self.all_moved(task, "write", moved)
    }

    /// `dd` out of the file: it says how many bytes it read.
    fn read(&mut self, task: &Task<'_>) -> Result<u64, EngineError> {
        let block = task.block.clamp(1, task.bytes.max(1));
        let words = self.words.begin("dd").joined("if=", task.path.to_bytes()).number("bs=", block);
        if task.operation == Operation::RandomRead {
            words.word("iflag=skip_bytes").number("skip=", task.offset).number("count=", task.bytes.div_ceil(block));
        }
        self.run(Tool::Dd, task.path, false)?;
        let said = self.launcher.take_said();
        let moved = copied(&said).ok_or_else(|| {
            self.failure(Tool::Dd, task.path, Ended::Status(0), "it does not say how many bytes it read")
        })?;
        self.all_moved(task, "read", moved)
    }

    fn all_moved(&self, task: &Task<'_>, action: &'static str, moved: u64) -> Result<u64, EngineError> {
        if moved == task.bytes {
            return Ok(moved);
        }
        let (bytes, offset) = (task.bytes, task.offset);
        Err(EngineError::Short { action, moved, bytes, offset, path: self.full(task.path) })
    }

    /// `ls`, its lines counted: names are escaped, so that a line is a name.
    fn list(&mut self, task: &Task<'_>) -> Result<(), EngineError> {
        self.words.begin("ls").word("-f").word("-b").names(&[task.path]);
        self.run(Tool::Ls, task.path, true)?;
        let mut lines = 0;
        let counted = self.launcher.take_output(&mut |piece| {
            lines += piece.iter().filter(|byte| **byte == b'\n').count() as u64;
        });
        counted.map_err(|errno| EngineError::file("read what ls says about", self.full(task.path), errno))?;
        let entries = lines.saturating_sub(OWN_ENTRIES);
        if entries == task.entries {
            return Ok(());
        }
        let what = format!("holds {entries} names and must hold {}", task.entries);
        Err(EngineError::Contents { path: self.full(task.path), what })
    }

    fn get_attribute(&mut self, task: &Task<'_>) -> Result<u64, EngineError> {
        let words = self.words.begin("getfattr").word("-n").joined("", ATTRIBUTE.to_bytes());
        words.word("--only-values").word("--absolute-names").names(&[task.path]);
        self.run(Tool::Getfattr, task.path, true)?;
        let mut bytes = 0;
        let counted = self.launcher.take_output(&mut |piece| bytes += piece.len());
        counted.map_err(|errno| EngineError::file("read what getfattr says about", self.full(task.path), errno))?;
        if bytes == ATTRIBUTE_BYTES {
            return Ok(0);
        }
        let what = format!("has an attribute of {bytes} bytes and must have one of {ATTRIBUTE_BYTES}");
        Err(EngineError::Contents { path: self.full(task.path), what })
    }

    fn set_attribute(&mut self, task: &Task<'_>, contents: &mut Contents) -> Result<u64, EngineError> {
        let mut value = [b'0'; 2 * ATTRIBUTE_BYTES];
        let bytes = contents.bytes(task.file ^ OF_ATTRIBUTE, task.generation, 0, ATTRIBUTE_BYTES);
        for (digits, byte) in value.chunks_exact_mut(2).zip(bytes) {
            let digit = |half: u8| b"0123456789abcdef"[usize::from(half)];
            digits.copy_from_slice(&[digit(byte >> 4), digit(byte & 15)]);
        }
        self.words
            .begin("setfattr")
            .word("-n")
            .joined("", ATTRIBUTE.to_bytes())
            .word("-v")
            .joined("0x", &value)
            .names(&[task.path]);
        self.run(Tool::Setfattr, task.path, false)?;
        Ok(0)
    }

    /// A tool whose words are options and names, and which moves no bytes.
    fn plain(&mut self, tool: Tool, options: &[&str], names: &[&CStr]) -> Result<u64, EngineError> {
        let words = self.words.begin(tool.name());
        for option in options {
            words.word(option);
        }
        words.names(names);
        self.run(tool, names.first().unwrap_or(&c""), false)?;
        Ok(0)
    }

    /// `sync` of a file or directory: an fsync of it.
    fn sync(&mut self, path: &CStr) -> Result<u64, EngineError> {
        self.plain(Tool::Sync, &[], &[path])
    }

    /// The directory whose names changed.
    fn sync_parent(&mut self, path: &CStr) -> Result<u64, EngineError> {
        let bytes = path.to_bytes();
        let end = bytes.iter().rposition(|byte| *byte == b'/').unwrap_or(0);
        let parent: &[u8] = if end == 0 { b"." } else { &bytes[..end] };
        self.words.begin(Tool::Sync.name()).word("--").joined("", parent);
        self.run(Tool::Sync, path, false)?;
        Ok(0)
    }

    fn operation(&mut self, task: &Task<'_>, contents: &mut Contents) -> Result<u64, EngineError> {
        let (path, other) = (task.path, task.other);
        match task.operation {
            Operation::Create if task.bytes == 0 => self.plain(Tool::Touch, &[], &[path]),
            Operation::Create
            | Operation::Write
            | Operation::Append
            | Operation::Overwrite
            | Operation::RandomWrite => self.write(task, contents),
            Operation::Read | Operation::RandomRead => self.read(task),
            Operation::Open => {
                self.words.begin("dd").joined("if=", path.to_bytes()).word("count=0").word("status=none");
                self.run(Tool::Dd, path, false).map(|()| 0)
            }
            Operation::Stat => self.plain(Tool::Stat, &["-c", "%s"], &[path]),
            Operation::List => self.list(task).map(|()| 0),
            Operation::Rename | Operation::RenameAcross => self.plain(Tool::Mv, &["-f", "-T"], &[path, other]),
            Operation::Link => self.plain(Tool::Ln, &["-T"], &[path, other]),
            Operation::Symlink => self.plain(Tool::Ln, &["-s", "-T"], &[file_name(path), other]),
            Operation::Truncate => {
                self.words.begin("truncate").word("-c").word("-s").number("", task.bytes).names(&[path]);
                self.run(Tool::Truncate, path, false).map(|()| 0)
            }
            Operation::Fallocate => {
                let words = self.words.begin("fallocate").word("-o").number("", task.offset);
                words.word("-l").number("", task.bytes).names(&[path]);
                self.run(Tool::Fallocate, path, false).map(|()| 0)
            }
            Operation::Reflink => self.plain(Tool::Cp, &["--reflink=always", "-T"], &[path, other]),
            Operation::Setxattr => self.set_attribute(task, contents),
            Operation::Getxattr => self.get_attribute(task),
            Operation::Fsync | Operation::FsyncDirectory => self.sync(path),
            Operation::Unlink => self.plain(Tool::Rm, &[], &[path]),
            Operation::Mkdir => self.plain(Tool::Mkdir, &[], &[path]),
            Operation::Rmdir => self.plain(Tool::Rmdir, &[], &[path]),
            Operation::RemoveTree => self.plain(Tool::Rm, &["-r"], &[path]),
        }
    }
}

impl Operator for ProcessOperator {
    fn operate(&mut self, task: &Task<'_>, contents: &mut Contents) -> Result<u64, EngineError> {
        let moved = self.operation(task, contents)?;
        if task.sync {
            match task.operation {
                // The file that another process has just closed: its data and size.
                Operation::Truncate | Operation::Fallocate | Operation::Setxattr => self.sync(task.path)?,
                Operation::Create if task.bytes == 0 => self.sync(task.path)?,
                Operation::Link
                | Operation::Symlink
                | Operation::Reflink
                | Operation::Rename
                | Operation::Unlink
                | Operation::Mkdir
                | Operation::Rmdir
                | Operation::RemoveTree => self.sync_parent(task.path)?,
                Operation::RenameAcross => {
                    self.sync_parent(task.path)?;
                    self.sync_parent(task.other)?
                }
                // `dd` has done it, or nothing changed.
                _ => 0,
            };
        }
        Ok(moved)
    }

    /// The mean of at least 5 and at most 200 starts of `true`, in the same folder and in the same way.
    fn start_up_seconds(&mut self, operations: u64) -> Result<f64, EngineError> {
        let count = operations.clamp(*REHEARSALS.start(), *REHEARSALS.end());
        let started = self.launcher.started;
        // The first one brings the program into the page cache.
        self.do_nothing()?;
        let begun = Clock::get().now();
        for _ in 0..count {
            self.do_nothing()?;
        }
        let elapsed = seconds(Clock::get().now() - begun);
        self.launcher.started = started;
        Ok(elapsed / count as f64)
    }

    fn processes(&self) -> u64 {
        self.launcher.started
    }
}

/// The bytes that `dd` says it copied: the number that begins the line with `copied`.
fn copied(said: &[u8]) -> Option<u64> {
    let said = std::str::from_utf8(said).ok()?;
    let line = said.lines().find(|line| line.contains(" copied"))?;
    line.split_ascii_whitespace().next()?.parse().ok()
}

fn missing(tool: Tool) -> EngineError {
    let (name, package) = tool.row();
    EngineError::Unsuitable(format!("process-per-operation needs {name}, which is missing: install {package}"))
}

/// The errno whose words end what a tool said: tools answer in English here.
fn errno_of(said: &str) -> Option<i32> {
    const KNOWN: [i32; 18] = [
        libc::ENOSPC,
        libc::EDQUOT,
        libc::EIO,
        libc::EROFS,
        libc::EOPNOTSUPP,
        libc::ENOENT,
        libc::EEXIST,
        libc::EACCES,
        libc::EPERM,
        libc::ENOTEMPTY,
        libc::EMLINK,
        libc::EINVAL,
        libc::EFBIG,
        libc::ENAMETOOLONG,
        libc::EILSEQ,
        libc::ENOSYS,
        libc::EXDEV,
        libc::ENOTTY,
    ];
    let line = said.lines().map(str::trim).find(|line| !line.is_empty())?;
    let words = |errno: i32| {
        let text = std::io::Error::from_raw_os_error(errno).to_string();
        text.split(" (os error").next().unwrap_or_default().to_owned()
    };
    KNOWN.into_iter().find(|errno| line.ends_with(&words(*errno)))
}

#[cfg(test)]
mod tests;
