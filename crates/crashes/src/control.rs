//! The conversation with the process that serves a disk: JSON lines on its standard input and output.
//!
//! That process outlives its parent: what is mounted on its file could not be unmounted otherwise. When
//! its input ends, it has what the dead run left taken away ([`Hooks::orphaned`]), and it ends itself when its own
//! file is unmounted.

use crate::crash_model::Cut;
use crate::log::Log;
use crate::serve::{Disk, ImageDisk, RecordingDisk, WatchingDisk, mount_and_serve};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::fs::File;
use std::io::{BufRead as _, BufReader, Write as _};
use std::os::fd::AsRawFd as _;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

/// Of `linux/prctl.h`; libc has it for other systems only.
const PR_SET_IO_FLUSHER: libc::c_int = 57;
/// How many requests a recording disk has under way.
const RECORDING_THREADS: usize = 4;
/// How many of a disk that shows images; reads and writes of it are copies in memory.
const SHOWING_THREADS: usize = 1;
/// How long the parent waits for an answer: far longer than any takes, since the longest copies a log into memory.
const PATIENCE: Duration = Duration::from_secs(120);

/// What the parent asks.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "do")]
pub enum Ask {
    /// The first line: record a fresh disk.
    Record {
        /// Where to mount.
        mount: PathBuf,
        /// Where its contents go.
        contents: PathBuf,
        /// Where its log goes.
        log: PathBuf,
        /// Size of all disks together.
        bytes: u64,
        /// How many there are.
        disks: u64,
    },
    /// The first line: show the images of a log.
    Show {
        /// Where to mount.
        mount: PathBuf,
        /// The log.
        log: PathBuf,
        /// Whether a stranger may have written it: then it is read within bounds.
        #[serde(default)]
        strangers: bool,
    },
    /// The first line: show a file, which stays as it is, and note what is read of it.
    Watch {
        /// Where to mount.
        mount: PathBuf,
        /// The file.
        contents: PathBuf,
    },
    /// Of a watching disk: the blocks that were read.
    Read,
    /// Of a recording disk: a record is acknowledged.
    Acknowledge {
        /// Which.
        record: u64,
    },
    /// Of a recording disk: hand the log to the system and tell how far it is.
    Settle,
    /// Of a recording disk: fail the n-th write or flush from now; 0: none.
    Fail {
        /// Which write.
        write: u64,
        /// Which flush.
        flush: u64,
    },
    /// Of either: what it costs.
    Cost,
    /// Of a showing disk: this image.
    Cut {
        /// Which.
        cut: Cut,
    },
}

/// What it answers.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Answer {
    /// Why it was not done; empty: it was.
    #[serde(default)]
    pub error: String,
    /// The tick.
    #[serde(default)]
    pub tick: u64,
    /// Flushes seen.
    #[serde(default)]
    pub flushes: u64,
    /// Writes seen.
    #[serde(default)]
    pub writes: u64,
    /// The last record that was acknowledged.
    #[serde(default)]
    pub acknowledged: u64,
    /// The most memory that the process held, and what it holds outside of its own.
    #[serde(default)]
    pub memory_bytes: u64,
    /// Numbers of blocks that were read.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub blocks: Vec<u64>,
}

/// What the process that serves does when it is left alone.
pub struct Hooks {
    /// The parent is gone, and something may still be mounted on the file.
    pub orphaned: fn(),
}

/// The life of the process that serves: reads what to do from standard input until that ends, and serves until it
/// is unmounted.
///
/// # Errors
/// What the system answers.
pub fn serve(hooks: Hooks) -> std::io::Result<()> {
    flush_for_others();
    // Line by line without holding the lock on the input: the thread that reads the rest needs it.
    let mut first = String::new();
    if std::io::stdin().read_line(&mut first)? == 0 {
        return Ok(());
    }
    match serde_json::from_str(&first)? {
        Ask::Record { mount, contents, log, bytes, disks } => {
            let disk = said(RecordingDisk::create(&contents, &log, bytes, disks))?;
            run(Arc::new(disk), &mount, RECORDING_THREADS, hooks, |disk, ask| match ask {
                Ask::Acknowledge { record } => Ok(Answer { tick: disk.acknowledge(record)?, ..Answer::default() }),
                Ask::Settle => {
                    let (tick, flushes, writes) = disk.settle()?;
                    Ok(Answer { tick, flushes, writes, ..Answer::default() })
                }
                Ask::Fail { write, flush } => {
                    disk.fail(write, flush);
                    Ok(Answer::default())
                }
                Ask::Cost => Ok(Answer { memory_bytes: most_resident(), ..Answer::default() }),
                _ => Err(std::io::Error::other("a recording disk does not do that")),
            })
        }
        Ask::Show { mount, log, strangers } => {
            let log = if strangers { Log::open_strangers(&log) } else { Log::open(&log) };
            let disk = said(log.and_then(ImageDisk::new))?;
            run(Arc::new(disk), &mount, SHOWING_THREADS, hooks, |disk, ask| match ask {
                Ask::Cut { cut } => Ok(Answer { acknowledged: disk.show(cut)?, ..Answer::default() }),
                // Pages that are in the mapping of an image count twice: it is a bound from above.
                Ask::Cost => Ok(Answer { memory_bytes: most_resident() + disk.durable_bytes()?, ..Answer::default() }),
                _ => Err(std::io::Error::other("a disk of images does not do that")),
            })
        }
        Ask::Watch { mount, contents } => {
            let disk = said(WatchingDisk::open(&contents))?;
            run(Arc::new(disk), &mount, SHOWING_THREADS, hooks, |disk, ask| match ask {
                Ask::Read => Ok(Answer { blocks: disk.blocks_read(), ..Answer::default() }),
                _ => Err(std::io::Error::other("a watching disk does not do that")),
            })
        }
        _ => Err(std::io::Error::other("the first line says what to serve")),
    }
}

/// Tells the kernel that a filesystem's writeback waits for this process, before it has other threads, which inherit it:
/// memory that it needs must not be made free by writing to the very disk that it serves. Without the privilege, and on
/// kernels before 5.6, it is refused and nothing is lost but that.
fn flush_for_others() {
    // SAFETY: sets a flag of this thread from plain numbers.
    let _ = unsafe { libc::prctl(PR_SET_IO_FLUSHER, 1, 0, 0, 0) };
}

/// Says an error to the parent before it is handed on.
fn said<T>(result: std::io::Result<T>) -> std::io::Result<T> {
    if let Err(error) = &result {
        let _ = say(&Answer { error: error.to_string(), ..Answer::default() });
    }
    result
}

fn say(answer: &Answer) -> std::io::Result<()> {
    let mut line = serde_json::to_vec(answer)?;
    line.push(b'\n');
    let mut out = std::io::stdout().lock();
    out.write_all(&line)?;
    out.flush()
}

fn run<D: Disk>(
    disk: Arc<D>,
    mount: &Path,
    threads: usize,
    hooks: Hooks,
    act: impl Fn(&D, Ask) -> std::io::Result<Answer> + Send + 'static,
) -> std::io::Result<()> {
    let for_asks = Arc::clone(&disk);
    let served = mount_and_serve(disk, mount, threads, || {
        let _ = say(&Answer::default());
        std::thread::spawn(move || {
            for line in std::io::stdin().lines() {
                let Ok(line) = line else { break };
                let answer = serde_json::from_str(&line).map_err(std::io::Error::other);
                let answer = answer.and_then(|ask| act(&for_asks, ask));
                let answer = answer.unwrap_or_else(|error| Answer { error: error.to_string(), ..Answer::default() });
                if say(&answer).is_err() {
                    break;
                }
            }
            (hooks.orphaned)();
        });
    });
    said(served)
}

/// The most memory that this process held so far, in bytes; 0 where the kernel does not tell.
pub fn most_resident() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kibibytes = line.and_then(|line| line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok());
    kibibytes.unwrap_or(0) * 1024
}

/// A process that serves a disk, as its parent holds it.
#[derive(Debug)]
struct Server {
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
    patience: Duration,
}

impl Server {
    fn start(first: &Ask, mount: &Path) -> std::io::Result<Server> {
        let mut command = Command::new("/proc/self/exe");
        // In a group of its own: Ctrl-C on the terminal ends the parent, which unmounts first.
        command.arg0("fairlane").args(["recorder", "--at"]).arg(mount).stdin(Stdio::piped()).stdout(Stdio::piped());
        // It may outlive whoever reads our errors: an inherited pipe would never end.
        command.stderr(Stdio::null()).process_group(0);
        let mut child = command.spawn()?;
        let missing = || std::io::Error::other("the process that serves a disk cannot be talked to");
        let input = child.stdin.take().ok_or_else(missing)?;
        let output = BufReader::new(child.stdout.take().ok_or_else(missing)?);
        let mut server = Server { child, input: Some(input), output, patience: PATIENCE };
        server.ask(first)?;
        Ok(server)
    }

    fn ask(&mut self, ask: &Ask) -> std::io::Result<Answer> {
        let gone = || std::io::Error::other("the process that serves a disk ended; it may have been killed");
        let mut line = serde_json::to_vec(ask)?;
        line.push(b'\n');
        self.input.as_mut().ok_or_else(gone)?.write_all(&line).map_err(|_| gone())?;
        if !self.has_answered()? {
            // What waits for its disk, this process on its way out among it, is answered by the kernel then.
            let _ = self.child.kill();
            let seconds = self.patience.as_secs();
            return Err(std::io::Error::other(format!(
                "the process that serves a disk did not answer within {seconds} seconds and was ended; run again"
            )));
        }
        let mut text = String::new();
        if self.output.read_line(&mut text)? == 0 {
            return Err(gone());
        }
        let answer: Answer = serde_json::from_str(&text)?;
        match answer.error.is_empty() {
            true => Ok(answer),
            false => Err(std::io::Error::other(answer.error)),
        }
    }

    /// Whether an answer came, or the end, before the patience was over.
    fn has_answered(&self) -> std::io::Result<bool> {
        let until = std::time::Instant::now() + self.patience;
        loop {
            let left = until.saturating_duration_since(std::time::Instant::now());
            let left = Timespec::try_from(left).map_err(std::io::Error::other)?;
            let mut answer = [PollFd::new(self.output.get_ref(), PollFlags::IN)];
            match poll(&mut answer, Some(&left)) {
                Err(rustix::io::Errno::INTR) => {}
                ready => return Ok(ready? > 0),
            }
        }
    }

    /// Waits for its end, after its file was unmounted.
    fn wait(&mut self) {
        drop(self.input.take());
        let started = std::time::Instant::now();
        while started.elapsed().as_secs() < 5 {
            match self.child.try_wait() {
                Ok(None) => std::thread::sleep(std::time::Duration::from_millis(5)),
                _ => return,
            }
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A recording disk in a process of its own.
#[derive(Debug)]
pub struct Recorder(Server);

impl Recorder {
    /// Starts it with so many disks of `bytes` together; their files are `mount`/[`file_of`](crate::serve::file_of).
    ///
    /// # Errors
    /// What the process or the system says.
    pub fn start(mount: &Path, contents: &Path, log: &Path, bytes: u64, disks: u64) -> std::io::Result<Recorder> {
        let (at, contents, log) = (mount.to_owned(), contents.to_owned(), log.to_owned());
        Server::start(&Ask::Record { mount: at, contents, log, bytes, disks }, mount).map(Recorder)
    }

    /// Writes down that a record is acknowledged.
    ///
    /// # Errors
    /// What the process or the system says.
    pub fn acknowledge(&mut self, record: u64) -> std::io::Result<u64> {
        self.0.ask(&Ask::Acknowledge { record }).map(|answer| answer.tick)
    }

    /// Hands the log to the system; answers the tick, the flushes and the writes seen.
    ///
    /// # Errors
    /// What the process or the system says.
    pub fn settle(&mut self) -> std::io::Result<Answer> {
        self.0.ask(&Ask::Settle)
    }

    /// Has the n-th write or flush from now fail; 0: none.
    ///
    /// # Errors
    /// What the process or the system says.
    pub fn fail(&mut self, write: u64, flush: u64) -> std::io::Result<()> {
        self.0.ask(&Ask::Fail { write, flush }).map(drop)
    }

    /// The most memory that its process held, in bytes.
    ///
    /// # Errors
    /// What the process or the system says.
    pub fn memory_bytes(&mut self) -> std::io::Result<u64> {
        self.0.ask(&Ask::Cost).map(|answer| answer.memory_bytes)
    }

    /// Waits for its end: only after its file was unmounted.
    pub fn wait(mut self) {
        self.0.wait();
    }
}

/// A disk of crash images in a process of its own.
#[derive(Debug)]
pub struct Replayer(Server);

impl Replayer {
    /// Starts it; its file is `mount`/[`FILE`](crate::serve::FILE).
    ///
    /// # Errors
    /// What the process or the system says.
    pub fn start(mount: &Path, log: &Path) -> std::io::Result<Replayer> {
        let (at, log) = (mount.to_owned(), log.to_owned());
        Server::start(&Ask::Show { mount: at, log, strangers: false }, mount).map(Replayer)
    }

    /// Starts it for a log that a stranger may have written, and that this process has open: its name may lead elsewhere
    /// by now.
    ///
    /// # Errors
    /// What the process or the system says, and a log that is larger than [`Log::open_strangers`] takes.
    pub fn start_strangers(mount: &Path, log: &File) -> std::io::Result<Replayer> {
        let log = PathBuf::from(format!("/proc/{}/fd/{}", std::process::id(), log.as_raw_fd()));
        Server::start(&Ask::Show { mount: mount.to_owned(), log, strangers: true }, mount).map(Replayer)
    }

    /// Shows an image; answers the last record that was acknowledged before its cut.
    ///
    /// # Errors
    /// What the process or the system says.
    pub fn show(&mut self, cut: Cut) -> std::io::Result<u64> {
        self.0.ask(&Ask::Cut { cut }).map(|answer| answer.acknowledged)
    }

    /// The most memory that its process held, with what is durable, in bytes; shared pages count twice.
    ///
    /// # Errors
    /// What the process or the system says.
    pub fn memory_bytes(&mut self) -> std::io::Result<u64> {
        self.0.ask(&Ask::Cost).map(|answer| answer.memory_bytes)
    }

    /// Waits for its end: only after its file was unmounted.
    pub fn wait(mut self) {
        self.0.wait();
    }
}

/// A disk that notes what is read of a file, in a process of its own. The file stays as it is.
#[derive(Debug)]
pub struct Watcher(Server);

impl Watcher {
    /// Starts it; its file is `mount`/[`FILE`](crate::serve::FILE).
    ///
    /// # Errors
    /// What the process or the system says.
    pub fn start(mount: &Path, contents: &Path) -> std::io::Result<Watcher> {
        let (at, contents) = (mount.to_owned(), contents.to_owned());
        Server::start(&Ask::Watch { mount: at, contents }, mount).map(Watcher)
    }

    /// The numbers of the blocks of [`WATCHED_BLOCK`](crate::serve::WATCHED_BLOCK) bytes that were read so far.
    ///
    /// # Errors
    /// What the process or the system says.
    pub fn blocks_read(&mut self) -> std::io::Result<BTreeSet<u64>> {
        self.0.ask(&Ask::Read).map(|answer| answer.blocks.into_iter().collect())
    }

    /// Waits for its end: only after its file was unmounted.
    pub fn wait(mut self) {
        self.0.wait();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_that_never_answers_is_ended_and_told_of() {
        let mut command = Command::new("sleep");
        let mut child = command.arg("3600").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let (input, output) = (child.stdin.take(), BufReader::new(child.stdout.take().unwrap()));
        let mut server = Server { child, input, output, patience: Duration::from_millis(20) };
        let error = server.ask(&Ask::Settle).unwrap_err();
        assert!(error.to_string().contains("did not answer"), "{error}");
        assert!(!server.child.wait().unwrap().success());
    }
}
