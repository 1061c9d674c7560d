//! fio as a child process: argument list in, JSON out, and nothing of it left.
//!
//! Job file and result are files in memory (memfd) that fio opens through /proc/self/fd: nothing
//! lies in the lane but what the jobs make, and nothing is left elsewhere whatever happens.

use super::heed;
use crate::confined::{Confined, put_on};
use crate::error::EngineError;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{MemfdFlags, memfd_create};
use rustix::io::FdFlags;
use rustix::process::{Pid, PidfdFlags, Signal, WaitId, WaitIdOptions, kill_process, pidfd_open, waitid};
use rustix::thread::{LinkNameSpaceType, UnshareFlags, move_into_link_name_space, unshare_unsafe};
use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

/// How often the stop flag is looked at.
const GLANCE: Timespec = Timespec { tv_sec: 0, tv_nsec: 20_000_000 };
/// What fio prints on standard error is kept up to this length.
const MOST_SAID_BYTES: usize = 64 << 10;
/// A result of 2,048 jobs with all their bins has about half of it.
const MOST_RESULT_BYTES: u64 = 256 << 20;
/// How long killed workers may take to let go of their files.
const LETTING_GO: Duration = Duration::from_secs(2);

/// What a run of fio left.
pub(super) struct Ended {
    /// What it wrote as its result.
    pub output: String,
    /// What it said on standard error.
    pub said: String,
    /// How it ended.
    pub status: ExitStatus,
}

/// The installed fio. Relative elements of PATH are left out: fio is started inside the lane.
pub(super) fn find() -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders = std::env::split_paths(&path).filter(|folder| folder.is_absolute());
    let fixed = ["/usr/local/bin", "/usr/bin", "/bin"].map(PathBuf::from);
    let executable = |path: &PathBuf| path.is_file() && rustix::fs::access(path, rustix::fs::Access::EXEC_OK).is_ok();
    folders.chain(fixed).map(|folder| folder.join("fio")).find(executable)
}

/// Runs a job file in a directory, to its end or until the flag is set.
pub(super) fn run(
    program: &Path,
    directory: BorrowedFd<'_>,
    jobs: &str,
    stop: &AtomicBool,
) -> Result<Ended, EngineError> {
    let cannot = |error: std::io::Error| EngineError::Fio {
        message: format!("it cannot be started: {error}; try to run {} by hand", model::text::escaped_path(program)),
        errno: error.raw_os_error(),
    };
    let memory = |name| memfd_create(name, MemfdFlags::CLOEXEC).map(File::from).map_err(std::io::Error::from);
    let mut input = memory("fairlane-jobs").map_err(cannot)?;
    input.write_all(jobs.as_bytes()).map_err(cannot)?;
    let result = memory("fairlane-result").map_err(cannot)?;
    let mut child = spawn(program, directory, [input.as_raw_fd(), result.as_raw_fd()]).map_err(cannot)?;
    let said = match listen(&mut child, stop) {
        Ok(said) => said,
        Err(error) => {
            end(&mut child);
            return Err(error);
        }
    };
    let status = child.wait().map_err(cannot)?;
    let mut output = Vec::new();
    result.take(MOST_RESULT_BYTES + 1).read_to_end(&mut output).map_err(cannot)?;
    if output.len() as u64 > MOST_RESULT_BYTES {
        let message = format!("its result has more than {}; leave jobs out", model::Bytes(MOST_RESULT_BYTES));
        return Err(EngineError::Fio { message, errno: None });
    }
    Ok(Ended { output: String::from_utf8_lossy(&output).into_owned(), said, status })
}

fn spawn(program: &Path, directory: BorrowedFd<'_>, [input, result]: [i32; 2]) -> std::io::Result<Child> {
    let parent = rustix::process::getpid();
    // From within a namespace no parent can be asked for by its id, and before Linux 5.3 by nothing else.
    let parent_itself = pidfd_open(parent, PidfdFlags::empty()).ok();
    let own = parent_itself.as_ref().and_then(|_| OwnProcesses::begin());
    // fio ends its workers, which are no children of ours, when it is asked to: unless they compute and do not look. In
    // a namespace of its own the kernel ends them with it.
    let farewell = if own.is_some() { Signal::KILL } else { Signal::TERM };
    // Its words are a stranger's: whatever an option means that the list of options knows otherwise, nothing but the
    // lane is changed and no other program started.
    let confined = Confined::within(program, directory);
    let ruleset = confined.as_ref().map(Confined::descriptor);
    let directory = directory.as_raw_fd();
    let mut command = Command::new(program);
    command
        .args(["--output-format=json+", "--eta=never"])
        .arg(format!("--output=/proc/self/fd/{result}"))
        .arg(format!("/proc/self/fd/{input}"))
        // It fills in variables by itself.
        .env_clear()
        .env("LC_ALL", "C")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped());
    // SAFETY: the closure runs between fork and exec and makes only the async-signal-safe system
    // calls prctl, poll, getppid, open, write, close, fchdir, fcntl and Landlock's; it allocates nothing. All descriptors are open
    // until `spawn` returns, because `run`, `confined` and the closure own them.
    unsafe {
        command.pre_exec(move || {
            rustix::process::set_parent_process_death_signal(Some(farewell))?;
            let is_over = match &parent_itself {
                Some(parent) => {
                    poll(&mut [PollFd::new(parent, PollFlags::IN)], Some(&Timespec { tv_sec: 0, tv_nsec: 0 }))? != 0
                }
                None => rustix::process::getppid() != Some(parent),
            };
            if is_over {
                return Err(std::io::Error::from_raw_os_error(libc::ESRCH));
            }
            first_to_go();
            rustix::process::fchdir(BorrowedFd::borrow_raw(directory))?;
            for number in [input, result] {
                rustix::io::fcntl_setfd(BorrowedFd::borrow_raw(number), FdFlags::empty())?;
            }
            match ruleset {
                Some(ruleset) => put_on(BorrowedFd::borrow_raw(ruleset)),
                None => Ok(()),
            }
        });
    }
    let child = command.spawn();
    match own.map_or(Ok(()), OwnProcesses::end) {
        Ok(()) => child,
        Err(error) => {
            if let Ok(mut child) = child {
                end(&mut child);
            }
            Err(error)
        }
    }
}

/// From its begin to its end the thread's next child is the first process of a namespace of processes.
struct OwnProcesses(OwnedFd);

impl OwnProcesses {
    /// `None`: without root's rights there is none.
    fn begin() -> Option<OwnProcesses> {
        let before = File::open("/proc/thread-self/ns/pid").ok()?;
        // SAFETY: it changes where the children of this thread are, and nothing else of this process.
        unsafe { unshare_unsafe(UnshareFlags::NEWPID) }.ok()?;
        Some(OwnProcesses(before.into()))
    }

    /// Children are among this process's own again; threads too, which cannot be made meanwhile.
    fn end(self) -> std::io::Result<()> {
        Ok(move_into_link_name_space(self.0.as_fd(), Some(LinkNameSpaceType::ProcessID))?)
    }
}

/// Where memory is short, the kernel ends this process before others: how much fio takes, its jobs decide.
fn first_to_go() {
    // SAFETY: system calls on a constant path and constant bytes, between fork and exec.
    unsafe {
        let file = libc::open(c"/proc/self/oom_score_adj".as_ptr(), libc::O_WRONLY | libc::O_CLOEXEC);
        if file >= 0 {
            libc::write(file, b"1000".as_ptr().cast(), 4);
            libc::close(file);
        }
    }
}

/// Takes in what fio says until all of its processes have closed their end.
fn listen(child: &mut Child, stop: &AtomicBool) -> Result<String, EngineError> {
    let cannot = |error: std::io::Error| EngineError::Fio {
        message: format!("it cannot be listened to: {error}"),
        errno: error.raw_os_error(),
    };
    let Some(mut stderr) = child.stderr.take() else { return Ok(String::new()) };
    let (mut said, mut chunk) = (Vec::new(), [0; 4096]);
    loop {
        heed(stop)?;
        match poll(&mut [PollFd::new(&stderr, PollFlags::IN)], Some(&GLANCE)) {
            Ok(0) | Err(rustix::io::Errno::INTR) => continue,
            Ok(_) => {}
            Err(errno) => return Err(cannot(errno.into())),
        }
        match stderr.read(&mut chunk) {
            Ok(0) => return Ok(String::from_utf8_lossy(&said).into_owned()),
            Ok(count) => {
                let room = MOST_SAID_BYTES - said.len();
                said.extend_from_slice(&chunk[..count.min(room)]);
            }
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            Err(error) => return Err(cannot(error)),
        }
    }
}

/// Ends fio and its workers at once. Workers have sessions of their own, so that no signal to a
/// group reaches them: fio is stopped, so that it makes no more and none is reaped (whose id another
/// process could get), then they are killed, then fio.
fn end(child: &mut Child) {
    if let Some(main) = i32::try_from(child.id()).ok().and_then(Pid::from_raw) {
        let _ = kill_process(main, Signal::STOP);
        let stopped_or_ended = WaitIdOptions::STOPPED | WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
        let _ = waitid(WaitId::Pid(main), stopped_or_ended);
        let workers = children_of(main);
        for &worker in &workers {
            let _ = kill_process(worker, Signal::KILL);
        }
        let begun = Instant::now();
        while begun.elapsed() < LETTING_GO && !workers.iter().all(|&worker| has_ended(worker)) {
            std::thread::sleep(Duration::from_millis(2));
        }
    }
    let _ = child.kill();
    let _ = child.wait();
}

/// State and parent of a process: the fields after its name in brackets, which may hold anything.
fn state_of(process: &str) -> Option<(char, i32)> {
    let text = std::fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    let mut fields = text.rsplit_once(')')?.1.split_ascii_whitespace();
    Some((fields.next()?.chars().next()?, fields.next()?.parse().ok()?))
}

fn children_of(main: Pid) -> Vec<Pid> {
    let Ok(entries) = std::fs::read_dir("/proc") else { return Vec::new() };
    let main = main.as_raw_nonzero().get();
    let child = |name: String| {
        let id = Pid::from_raw(name.parse().ok()?)?;
        (state_of(&name)?.1 == main).then_some(id)
    };
    entries.flatten().filter_map(|entry| child(entry.file_name().into_string().ok()?)).collect()
}

fn has_ended(worker: Pid) -> bool {
    state_of(&worker.as_raw_nonzero().to_string()).is_none_or(|(state, _)| matches!(state, 'Z' | 'X'))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::fd::AsFd;

    #[test]
    fn fio_starts_no_command_and_writes_nothing_outside_its_folder_whatever_its_text_says() {
        let Some(program) = find() else {
            eprintln!("fio's text: skipped, because fio is not installed");
            return;
        };
        if crate::confined::version() < 2 {
            eprintln!("fio's text: skipped, because this kernel's Landlock is older than version 2");
            return;
        }
        let top = tempfile::tempdir().unwrap();
        let lane = top.path().join("lane");
        std::fs::create_dir(&lane).unwrap();
        let folder = File::open(&lane).unwrap();
        let mark = top.path().join("mark");
        let job = |option: &str| format!("[j]\nsize=64k\nrw=write\nioengine=psync\n{option}\n");
        let stop = AtomicBool::new(false);
        let ended = run(&program, folder.as_fd(), &job(""), &stop).unwrap();
        assert!(ended.status.success() && ended.output.contains("\"jobs\""), "{}", ended.said);
        let shown = mark.display();
        for option in [
            format!("exec_prerun=touch {shown}"),
            format!("exec_prerun=/bin/sh -c 'echo x > {shown}'"),
            format!("filename={shown}"),
            format!("write_bw_log={shown}"),
        ] {
            let _ = run(&program, folder.as_fd(), &job(&option), &stop);
            let left: Vec<_> = std::fs::read_dir(top.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
            assert_eq!(left, ["lane"], "{option}");
        }
    }

    #[test]
    fn a_worker_that_computes_and_does_not_look_ends_with_fio() {
        let Some(program) = find() else {
            eprintln!("fio's workers: skipped, because fio is not installed");
            return;
        };
        if !rustix::process::geteuid().is_root() {
            eprintln!("fio's workers: skipped, because a namespace of processes needs root");
            return;
        }
        let lane = tempfile::tempdir().unwrap();
        let folder = File::open(lane.path()).unwrap();
        let jobs = "[spin]\nioengine=psync\nrw=write\nbs=4k\nsize=1m\nthinktime=4000s\nthinktime_spin=4000s\n\
                    thinktime_blocks=1\nruntime=60s\ntime_based\n";
        let mut input = File::from(memfd_create("jobs", MemfdFlags::CLOEXEC).unwrap());
        input.write_all(jobs.as_bytes()).unwrap();
        let result = File::from(memfd_create("result", MemfdFlags::CLOEXEC).unwrap());
        let mut child = spawn(&program, folder.as_fd(), [input.as_raw_fd(), result.as_raw_fd()]).unwrap();
        let main = Pid::from_raw(i32::try_from(child.id()).unwrap()).unwrap();
        let begun = Instant::now();
        while std::fs::metadata(lane.path().join("spin.0.0")).is_err() || children_of(main).is_empty() {
            assert!(begun.elapsed() < Duration::from_secs(60), "it has not begun");
            std::thread::sleep(Duration::from_millis(5));
        }
        let workers = children_of(main);
        // As the kernel does where the agent dies.
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(workers.iter().all(|&worker| has_ended(worker)), "{workers:?}");
        // Children and threads are made as before.
        assert_eq!(std::thread::spawn(|| 1).join().unwrap(), 1);
        assert!(Command::new("true").status().unwrap().success());
    }
}
