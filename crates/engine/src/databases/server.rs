//! A server as a child process: started in its directory, without privileges, and gone whatever happens.

use super::external::Who;
use super::mysql::MySql;
use super::postgresql::Postgres;
use super::programs;
use super::server_directory::ServerDirectory;
use super::session::{DatabaseError, Session};
use crate::beneath::by_descriptor;
use crate::error::EngineError;
use crate::unprivileged::{SEAT, become_user, is_seated, lanes, show, unprivileged};
use crate::workloads::heed;
use model::oltp::{Oltp, Server};
use rustix::fs::{MemfdFlags, SealFlags, fcntl_add_seals, ftruncate, memfd_create};
use rustix::io::{Errno, FdFlags};
use rustix::process::{Pid, Signal, kill_process, kill_process_group};
use std::fs::{File, OpenOptions};
use std::io::{Seek, Write};
use std::os::fd::BorrowedFd;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus};
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

/// How long a server may take to answer after its start: it recovers what a kill left.
const START: Duration = Duration::from_secs(180);
/// How long it may take to stop by itself, writing what it held.
const STOP: Duration = Duration::from_secs(300);
const GLANCE: Duration = Duration::from_millis(10);
/// How long PostgreSQL may take to quit before it is killed.
const QUIT: Duration = Duration::from_secs(5);
/// How long what is left of a killed server may take to end, and how often that is looked at.
const LEFTOVERS_END: Duration = Duration::from_secs(30);
const LEFTOVERS_PAUSE: Duration = Duration::from_millis(200);
/// How much of what it says is kept.
const MOST_SAID: u64 = 64 << 20;
/// Of that, so many bytes of the end are looked at, and so many lines are told.
const SAID_BYTES: u64 = 16 << 10;
const SAID_LINES: usize = 5;

/// A running server.
#[derive(Debug)]
pub(super) struct Running {
    server: Server,
    child: Child,
    said: File,
    directory: ServerDirectory,
    /// Where its id is noted for whoever cleans up after us.
    note: Option<PathBuf>,
    begun: Instant,
    /// It ended, and its number may belong to another process.
    reaped: bool,
}

/// Makes a server's first files in an empty directory.
///
/// # Errors
/// Names the package where a program is missing, and says the program's last lines where it fails.
pub(super) fn make(server: Server, directory: &ServerDirectory, stop: &AtomicBool) -> Result<(), EngineError> {
    let programs::Making { program, arguments, input } = programs::making(server, directory)?;
    let (mut child, said) = spawn(&program, &arguments, &input, directory, Signal::KILL)?;
    loop {
        if let Err(interrupted) = heed(stop) {
            // It starts the server itself for a moment.
            if let Some(group) = pid_of(&child) {
                let _ = kill_process_group(group, Signal::KILL);
            }
            let _ = child.wait();
            return Err(interrupted);
        }
        match child.try_wait() {
            Ok(Some(status)) if status.success() => return Ok(()),
            Ok(Some(status)) => return Err(ended(&program, status, &said)),
            Ok(None) => std::thread::sleep(GLANCE),
            Err(error) => return Err(cannot_start(&program, &error)),
        }
    }
}

impl Running {
    /// Starts it and waits until it answers.
    ///
    /// # Errors
    /// Says its last lines where it does not start.
    pub(super) fn start(
        oltp: &Oltp,
        directory: ServerDirectory,
        note: Option<PathBuf>,
        stop: &AtomicBool,
    ) -> Result<Running, EngineError> {
        let (program, arguments) = programs::starting(oltp, &directory)?;
        let server = oltp.server;
        // PostgreSQL takes its shared memory away where it hears of its parent's death in time.
        let farewell = if server == Server::Postgresql { Signal::QUIT } else { Signal::KILL };
        let (child, said) = spawn(&program, &arguments, &[], &directory, farewell)?;
        let mut running = Running { server, child, said, directory, note, begun: Instant::now(), reaped: false };
        running.write_note()?;
        loop {
            heed(stop)?;
            match running.child.try_wait() {
                Ok(None) => {}
                Ok(Some(_)) if is_still_in_use(&running.said) && running.begun.elapsed() < LEFTOVERS_END => {
                    // Processes of one that was killed have not noticed yet, and end by themselves.
                    std::thread::sleep(LEFTOVERS_PAUSE);
                    let (child, said) = spawn(&program, &arguments, &[], &running.directory, farewell)?;
                    (running.child, running.said) = (child, said);
                    running.write_note()?;
                }
                Ok(Some(status)) => {
                    running.reaped = true;
                    return Err(ended(&program, status, &running.said));
                }
                Err(error) => return Err(cannot_start(&program, &error)),
            }
            match running.connect() {
                Ok(_) => return Ok(running),
                Err(error) if running.begun.elapsed() > START => {
                    return Err(EngineError::Unsuitable(format!(
                        "{} does not answer after {} s: {}; it said: {}",
                        server.title(),
                        START.as_secs(),
                        error.message,
                        last_lines(&running.said)
                    )));
                }
                Err(_) => std::thread::sleep(GLANCE),
            }
        }
    }

    /// A new connection.
    ///
    /// # Errors
    /// Where the server does not take it.
    pub(super) fn connect(&self) -> Result<Box<dyn Session>, DatabaseError> {
        let who = Who::of_own(self.server);
        let name = if self.server == Server::Postgresql { ".s.PGSQL.5432" } else { "socket" };
        // The folder is the server's: what has the name there need not be a socket of its own.
        let socket = self.directory.socket(name).map_err(|errno| DatabaseError::lost(&errno.into()))?;
        let path = PathBuf::from(by_descriptor(&socket));
        Ok(match self.server {
            Server::Postgresql => Box::new(Postgres::connect(&path, &who)?),
            _ => Box::new(MySql::connect(&path, &who)?),
        })
    }

    /// Whether it runs.
    pub(super) fn is_alive(&self) -> bool {
        // Not waited for: whoever lets it go still has to end what it left.
        lives(self.pid())
    }

    /// Its process id.
    pub(super) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Stops it as an administrator would: clients are let go, and what it holds is written.
    ///
    /// # Errors
    /// Where it does not end, or not well; it is gone all the same.
    pub(super) fn stop(mut self) -> Result<(), EngineError> {
        // PostgreSQL: a fast shutdown; the others know SIGTERM alone.
        let signal = if self.server == Server::Postgresql { Signal::INT } else { Signal::TERM };
        let asked = Instant::now();
        if let Some(pid) = pid_of(&self.child) {
            let _ = kill_process(pid, signal);
        }
        let title = self.server.title();
        loop {
            match self.child.try_wait() {
                Ok(Some(status)) if status.success() => {
                    self.reaped = true;
                    return Ok(());
                }
                Ok(Some(status)) => {
                    self.reaped = true;
                    let said = last_lines(&self.said);
                    return Err(EngineError::Unsuitable(format!(
                        "{title} did not stop well ({status}); it said: {said}"
                    )));
                }
                Ok(None) if asked.elapsed() < STOP => std::thread::sleep(GLANCE),
                Ok(None) => {
                    let said = last_lines(&self.said);
                    return Err(EngineError::Unsuitable(format!(
                        "{title} did not stop within {} s and was killed; it said: {said}",
                        STOP.as_secs()
                    )));
                }
                Err(error) => return Err(EngineError::Unsuitable(format!("{title} cannot be waited for: {error}"))),
            }
        }
    }

    /// What it said at last, for whoever lost the connection.
    pub(super) fn last_lines(&self) -> String {
        last_lines(&self.said)
    }

    /// `PID START`, where START is field 22 of /proc/PID/stat: a later process with the number has another.
    fn write_note(&self) -> Result<(), EngineError> {
        let Some(path) = &self.note else { return Ok(()) };
        let pid = self.pid();
        let start = start_ticks(pid).unwrap_or(0);
        let written = OpenOptions::new()
            .write(true)
            .create(true)
            .truncate(true)
            .custom_flags(libc::O_NOFOLLOW)
            .open(path)
            .and_then(|mut file| writeln!(file, "{pid} {start}").and_then(|()| file.sync_data()));
        written.map_err(|error| EngineError::Unsuitable(format!("cannot note the server's process id: {error}")))
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if !self.reaped {
            self.end();
        }
        if let Some(note) = &self.note {
            let _ = std::fs::remove_file(note);
        }
    }
}

impl Running {
    /// Ends it and whatever it started, at once. PostgreSQL ends its own processes and gives its shared memory back
    /// where it is told to quit; what does not obey is killed.
    fn end(&mut self) {
        let Some(pid) = pid_of(&self.child) else { return };
        if self.server == Server::Postgresql && self.is_alive() {
            let _ = kill_process(pid, Signal::QUIT);
            let asked = Instant::now();
            while self.is_alive() && asked.elapsed() < QUIT {
                std::thread::sleep(GLANCE);
            }
        }
        // It is not waited for yet, so that the number is still its own.
        let _ = kill_process_group(pid, Signal::KILL);
        let _ = self.child.wait();
        self.reaped = true;
    }
}

/// Whether a process is there and has not ended.
pub(super) fn lives(pid: u32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    // The name in brackets may hold anything.
    let state = stat.rsplit_once(')').and_then(|(_, rest)| rest.trim_start().chars().next());
    !matches!(state, None | Some('Z' | 'X'))
}

/// Whether PostgreSQL did not start because processes of the last one have not ended yet.
fn is_still_in_use(said: &File) -> bool {
    let said = last_lines(said);
    said.contains("pre-existing shared memory block") && said.contains("still in use")
}

fn start_ticks(pid: u32) -> Option<u64> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name in brackets may hold anything.
    stat.rsplit_once(')')?.1.split_whitespace().nth(19)?.parse().ok()
}

fn pid_of(child: &Child) -> Option<Pid> {
    i32::try_from(child.id()).ok().and_then(Pid::from_raw)
}

/// Starts a program in the directory, with what it says going into memory. It dies with this thread's process.
fn spawn(
    program: &Path,
    arguments: &[String],
    input: &[u8],
    directory: &ServerDirectory,
    farewell: Signal,
) -> Result<(Child, File), EngineError> {
    let cannot = |error: std::io::Error| cannot_start(program, &error);
    let memory = |name| memfd_create(name, MemfdFlags::CLOEXEC).map(File::from).map_err(|errno| cannot(errno.into()));
    let said = bounded_memory(MOST_SAID).map_err(|errno| cannot(errno.into()))?;
    let mut reads = memory("fairlane-input")?;
    reads.write_all(input).and_then(|()| reads.rewind()).map_err(cannot)?;
    let parent = rustix::process::getpid();
    let descriptor = directory.descriptor();
    let mut command = Command::new(program);
    command
        .args(arguments)
        .current_dir("/")
        .env_clear()
        .env("PATH", "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin")
        .env("LC_ALL", "C")
        .env("TZ", "UTC")
        .stdin(reads)
        .stdout(said.try_clone().map_err(cannot)?)
        .stderr(said.try_clone().map_err(cannot)?)
        .process_group(0);
    let (seated, user, lanes) = (is_seated(), unprivileged(), lanes());
    // SAFETY: the closure runs between fork and exec; it makes only async-signal-safe system calls and
    // allocates nothing. The descriptor is open until `spawn` returns, because the directory is borrowed.
    unsafe {
        command.pre_exec(move || {
            if seated {
                show([Some((BorrowedFd::borrow_raw(descriptor), SEAT)), None], &lanes, false)?;
            }
            become_user(user)?;
            // Now: a change of user would take the signal away again.
            rustix::process::set_parent_process_death_signal(Some(farewell))?;
            if rustix::process::getppid() != Some(parent) {
                return Err(std::io::Error::from_raw_os_error(libc::ESRCH));
            }
            rustix::io::fcntl_setfd(BorrowedFd::borrow_raw(descriptor), FdFlags::empty())?;
            Ok(())
        });
    }
    Ok((command.spawn().map_err(cannot)?, said))
}

/// A file in memory that takes so many bytes and refuses what comes after them: a server that logs each statement would
/// fill the machine's memory.
fn bounded_memory(bytes: u64) -> Result<File, Errno> {
    let file = File::from(memfd_create("fairlane-server", MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING)?);
    ftruncate(&file, bytes)?;
    fcntl_add_seals(&file, SealFlags::GROW | SealFlags::SHRINK | SealFlags::SEAL)?;
    Ok(file)
}

fn cannot_start(program: &Path, error: &std::io::Error) -> EngineError {
    let program = model::text::escaped_path(program);
    EngineError::Unsuitable(format!("{program} cannot be started: {error}; try to run it by hand"))
}

fn ended(program: &Path, status: ExitStatus, said: &File) -> EngineError {
    let program = program.file_name().unwrap_or_default().to_string_lossy().into_owned();
    EngineError::Unsuitable(format!("{program} did not start ({status}); it said: {}", last_lines(said)))
}

/// The last lines, on one; where some of them are errors, these alone. Read at a place of its own:
/// the server goes on writing where it is.
fn last_lines(said: &File) -> String {
    // The server writes at the same place of the same file.
    let end = (&mut &*said).stream_position().unwrap_or(0).min(MOST_SAID);
    let mut text = vec![0; SAID_BYTES.min(end) as usize];
    let from = end - text.len() as u64;
    let read = said.read_exact_at(&mut text, from);
    let text = String::from_utf8_lossy(&text);
    let all: Vec<&str> = text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    let is_error = |line: &&str| ["ERROR", "FATAL", "PANIC"].iter().any(|word| line.contains(word));
    let errors: Vec<&str> = all.iter().copied().filter(is_error).collect();
    let lines = if errors.is_empty() { all } else { errors };
    match (read, lines.len()) {
        (Err(_), _) | (_, 0) => "nothing".to_owned(),
        (Ok(()), count) => {
            let last = lines[count.saturating_sub(SAID_LINES)..].join(" | ");
            model::text::escaped(last.as_bytes())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_lines_are_told_on_one_and_what_follows_is_appended() {
        let mut said = bounded_memory(MOST_SAID).unwrap();
        assert_eq!(last_lines(&said), "nothing");
        for line in 0..9 {
            writeln!(said, "line {line}\n").unwrap();
        }
        assert_eq!(last_lines(&said), "line 4 | line 5 | line 6 | line 7 | line 8");
        writeln!(said, "line 9").unwrap();
        assert!(last_lines(&said).ends_with("| line 9"));
        writeln!(said, "[ERROR] it is full\nline 10").unwrap();
        assert_eq!(last_lines(&said), "[ERROR] it is full");
        said.seek(std::io::SeekFrom::Start(MOST_SAID - 3)).unwrap();
        said.write_all(b"end").unwrap();
        assert!(said.write_all(b"more").is_err(), "what a server says is bounded");
        assert!(last_lines(&said).ends_with("end"));
    }
}
