//! Starts one process and waits for its end: an argument list, no shell.
//!
//! `posix_spawn` and not `fork`: the child borrows the parent's memory until it becomes the tool, so
//! that what a start costs does not hang on how much memory the agent holds.

use crate::error::EngineError;
use rustix::fd::{AsRawFd, BorrowedFd, OwnedFd};
use rustix::fs::{MemfdFlags, Mode, OFlags, ftruncate, memfd_create, open, seek};
use rustix::io::{Errno, pread};
use std::ffi::{CStr, c_char};
use std::io::Write;
use std::mem::MaybeUninit;
use std::os::fd::AsFd;
use std::path::Path;

/// Most words of an argument list, the program's name included.
const MOST_WORDS: usize = 16;
/// What a tool says is kept up to this length.
const KEPT_BYTES: usize = 4096;
/// Streams longer than a pipe's usual 64 KiB get one of this size, the most that anybody may ask for.
const PIPE_BYTES: usize = 1 << 20;
/// Tools answer in English whatever the user's locale; nothing else of the environment reaches them.
const ENVIRONMENT: &CStr = c"LC_ALL=C";

/// Writes what stands behind so many bytes with the function that it is given; nothing: it is the end.
pub(super) type Feed<'f> = dyn FnMut(u64, &mut dyn FnMut(&[u8]) -> Result<(), Errno>) -> Result<(), Errno> + 'f;

/// An argument list in memory that is used again for every process.
#[derive(Debug, Default)]
pub(super) struct Arguments {
    /// Each word ends in 0.
    bytes: Vec<u8>,
    starts: Vec<usize>,
}

impl Arguments {
    /// Begins a list with the tool's name.
    pub(super) fn begin(&mut self, name: &str) -> &mut Self {
        self.bytes.clear();
        self.starts.clear();
        self.word(name)
    }

    /// A word as it stands.
    pub(super) fn word(&mut self, word: &str) -> &mut Self {
        self.joined(word, &[])
    }

    /// `--`, after which a word that begins with a dash is a name, and the name.
    pub(super) fn names(&mut self, names: &[&CStr]) -> &mut Self {
        self.word("--");
        for name in names {
            self.joined("", name.to_bytes());
        }
        self
    }

    /// A word of two parts: `of=` and a name.
    pub(super) fn joined(&mut self, first: &str, second: &[u8]) -> &mut Self {
        debug_assert!(self.starts.len() < MOST_WORDS - 1 && !second.contains(&0));
        self.starts.push(self.bytes.len());
        self.bytes.extend_from_slice(first.as_bytes());
        self.bytes.extend_from_slice(second);
        self.bytes.push(0);
        self
    }

    /// A word that ends in a number: `bs=4096`.
    pub(super) fn number(&mut self, key: &str, value: u64) -> &mut Self {
        self.starts.push(self.bytes.len());
        // Writing to memory cannot fail.
        let _ = write!(self.bytes, "{key}{value}\0");
        self
    }

    /// As `execve` wants it: pointers, and a null behind the last.
    fn pointers(&self) -> [*mut c_char; MOST_WORDS] {
        let mut pointers = [std::ptr::null_mut(); MOST_WORDS];
        for (pointer, &start) in pointers[..MOST_WORDS - 1].iter_mut().zip(&self.starts) {
            *pointer = self.bytes[start..].as_ptr().cast_mut().cast();
        }
        pointers
    }
}

/// How a process ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ended {
    /// With this exit status.
    Status(i32),
    /// By this signal.
    Signal(i32),
}

/// Starts processes in one folder, one after another.
pub(super) struct Launcher {
    folder: OwnedFd,
    null: OwnedFd,
    /// What the tool says on standard error. A file in memory and not a pipe: nobody has to listen
    /// while the tool works.
    said: OwnedFd,
    /// Its standard output, where that is looked at.
    output: OwnedFd,
    attributes: Attributes,
    /// Processes started so far.
    pub(super) started: u64,
}

impl Launcher {
    /// For tools that work in this folder.
    pub(super) fn new(folder: OwnedFd, path: &Path) -> Result<Self, EngineError> {
        let null = open("/dev/null", OFlags::RDWR | OFlags::CLOEXEC, Mode::empty())
            .map_err(|errno| EngineError::file("open", "/dev/null", errno))?;
        let memory = |name| {
            memfd_create(name, MemfdFlags::CLOEXEC)
                .map_err(|errno| EngineError::file("make room for the output of tools for", path, errno))
        };
        Ok(Launcher {
            folder,
            null,
            said: memory("fairlane-said")?,
            output: memory("fairlane-output")?,
            attributes: Attributes::new().map_err(|errno| EngineError::file("prepare processes for", path, errno))?,
            started: 0,
        })
    }

    /// Runs a tool that reads nothing.
    #[inline]
    pub(super) fn run(&mut self, program: &CStr, words: &Arguments, listens: bool) -> Result<Ended, Errno> {
        let child = self.start(program, words, None, listens)?;
        wait(child)
    }

    /// Runs a tool and writes to its standard input what `feed` answers, chunk after chunk, until
    /// that is nothing. Answers the bytes that went into the pipe, too.
    pub(super) fn run_fed(
        &mut self,
        program: &CStr,
        words: &Arguments,
        bytes: u64,
        feed: &mut Feed<'_>,
    ) -> Result<(Ended, u64), Errno> {
        let (read_end, write_end) = rustix::pipe::pipe_with(rustix::pipe::PipeFlags::CLOEXEC)?;
        if bytes > 64 << 10 {
            // A user's pipes may be short already: then it stays as it is.
            let _ = rustix::pipe::fcntl_setpipe_size(&write_end, PIPE_BYTES);
        }
        let child = self.start(program, words, Some(read_end.as_fd()), false)?;
        drop(read_end);
        let mut moved = 0;
        let mut result = Ok(());
        while result.is_ok() && moved < bytes {
            result = feed(moved, &mut |chunk| {
                write_all(&write_end, chunk)?;
                moved += chunk.len() as u64;
                Ok(())
            });
        }
        drop(write_end);
        let ended = wait(child)?;
        match result {
            // The tool ended before it had read all: how it ended says why.
            Ok(()) | Err(Errno::PIPE) => Ok((ended, moved)),
            Err(errno) => Err(errno),
        }
    }

    fn start(
        &mut self,
        program: &CStr,
        words: &Arguments,
        input: Option<BorrowedFd<'_>>,
        listens: bool,
    ) -> Result<libc::pid_t, Errno> {
        let output = if listens { self.output.as_fd() } else { self.null.as_fd() };
        let standard = [input.unwrap_or(self.null.as_fd()), output, self.said.as_fd()];
        let actions = FileActions::new(self.folder.as_fd(), standard)?;
        let environment = [ENVIRONMENT.as_ptr().cast_mut(), std::ptr::null_mut()];
        let pointers = words.pointers();
        let mut child = 0;
        // SAFETY: the path and every word are NUL-terminated and live until the call returns; both
        // lists end in a null pointer; actions and attributes are initialised. The call writes only
        // the child's id, and the words, though declared mutable, are not changed.
        let answer = unsafe {
            libc::posix_spawn(
                &mut child,
                program.as_ptr(),
                &actions.0,
                &self.attributes.0,
                pointers.as_ptr(),
                environment.as_ptr(),
            )
        };
        check(answer)?;
        self.started += 1;
        Ok(child)
    }

    /// What the last tool said on standard error, emptied for the next.
    pub(super) fn take_said(&mut self) -> Vec<u8> {
        take(&self.said)
    }

    /// What the last tool wrote to standard output, read in pieces and emptied for the next.
    pub(super) fn take_output(&mut self, piece: &mut dyn FnMut(&[u8])) -> Result<(), Errno> {
        let (mut room, mut offset) = ([0; KEPT_BYTES], 0);
        loop {
            match pread(&self.output, &mut room[..], offset)? {
                0 => break,
                count => {
                    piece(&room[..count]);
                    offset += count as u64;
                }
            }
        }
        empty(&self.output)
    }
}

/// The beginning of what a file in memory holds; it is emptied.
fn take(file: &OwnedFd) -> Vec<u8> {
    let mut room = vec![0; KEPT_BYTES];
    let count = pread(file, &mut room[..], 0).unwrap_or(0);
    room.truncate(count);
    if count > 0 {
        let _ = empty(file);
    }
    room
}

/// The child writes where the shared offset stands.
fn empty(file: &OwnedFd) -> Result<(), Errno> {
    ftruncate(file, 0)?;
    seek(file, rustix::fs::SeekFrom::Start(0)).map(|_| ())
}

fn write_all(pipe: &OwnedFd, mut bytes: &[u8]) -> Result<(), Errno> {
    while !bytes.is_empty() {
        match rustix::io::write(pipe, bytes) {
            Ok(count) => bytes = &bytes[count..],
            Err(Errno::INTR) => {}
            Err(errno) => return Err(errno),
        }
    }
    Ok(())
}

fn wait(child: libc::pid_t) -> Result<Ended, Errno> {
    let mut status = 0;
    loop {
        // SAFETY: the child is our own and not waited for elsewhere; the call writes one int.
        if unsafe { libc::waitpid(child, &mut status, 0) } == child {
            break;
        }
        match std::io::Error::last_os_error().raw_os_error() {
            Some(libc::EINTR) => {}
            other => return Err(Errno::from_raw_os_error(other.unwrap_or(libc::ECHILD))),
        }
    }
    Ok(if libc::WIFSIGNALED(status) {
        Ended::Signal(libc::WTERMSIG(status))
    } else {
        Ended::Status(libc::WEXITSTATUS(status))
    })
}

/// posix_spawn and its kin answer the error itself.
fn check(answer: i32) -> Result<(), Errno> {
    if answer == 0 { Ok(()) } else { Err(Errno::from_raw_os_error(answer)) }
}

/// What the child does before it becomes the tool.
struct FileActions(libc::posix_spawn_file_actions_t);

impl FileActions {
    /// Goes to the folder and takes its three standard descriptors.
    fn new(folder: BorrowedFd<'_>, standard: [BorrowedFd<'_>; 3]) -> Result<Self, Errno> {
        let mut actions = MaybeUninit::uninit();
        // SAFETY: the call initialises what the pointer names.
        check(unsafe { libc::posix_spawn_file_actions_init(actions.as_mut_ptr()) })?;
        // SAFETY: initialised above; the list may be moved, what it points to lies on the heap.
        let mut actions = FileActions(unsafe { actions.assume_init() });
        // SAFETY: the list is initialised; the descriptor is only kept as a number, and is open until
        // the process has started because the caller borrows it.
        check(unsafe { libc::posix_spawn_file_actions_addfchdir_np(&mut actions.0, folder.as_raw_fd()) })?;
        for (number, descriptor) in (0..).zip(standard) {
            // SAFETY: as above.
            check(unsafe { libc::posix_spawn_file_actions_adddup2(&mut actions.0, descriptor.as_raw_fd(), number) })?;
        }
        Ok(actions)
    }
}

impl Drop for FileActions {
    fn drop(&mut self) {
        // SAFETY: the list is initialised and not used again.
        unsafe { libc::posix_spawn_file_actions_destroy(&mut self.0) };
    }
}

/// The child's signals are as a shell would leave them: nothing blocked, and a closed pipe ends it
/// (Rust programs ignore that signal, and an ignored signal stays ignored in the child).
struct Attributes(libc::posix_spawnattr_t);

impl Attributes {
    fn new() -> Result<Self, Errno> {
        let mut attributes = MaybeUninit::uninit();
        // SAFETY: the call initialises what the pointer names.
        check(unsafe { libc::posix_spawnattr_init(attributes.as_mut_ptr()) })?;
        // SAFETY: initialised above; it holds no pointer to itself.
        let mut attributes = Attributes(unsafe { attributes.assume_init() });
        let mut none = MaybeUninit::uninit();
        // SAFETY: the call initialises the set.
        unsafe { libc::sigemptyset(none.as_mut_ptr()) };
        // SAFETY: initialised above.
        let none: libc::sigset_t = unsafe { none.assume_init() };
        let mut pipe = none;
        let flags = libc::POSIX_SPAWN_SETSIGDEF | libc::POSIX_SPAWN_SETSIGMASK;
        // SAFETY: attributes and sets are initialised and live until the calls return.
        unsafe {
            libc::sigaddset(&mut pipe, libc::SIGPIPE);
            check(libc::posix_spawnattr_setsigdefault(&mut attributes.0, &pipe))?;
            check(libc::posix_spawnattr_setsigmask(&mut attributes.0, &none))?;
            check(libc::posix_spawnattr_setflags(&mut attributes.0, flags as libc::c_short))?;
        }
        Ok(attributes)
    }
}

impl Drop for Attributes {
    fn drop(&mut self) {
        // SAFETY: initialised, and not used again.
        unsafe { libc::posix_spawnattr_destroy(&mut self.0) };
    }
}
