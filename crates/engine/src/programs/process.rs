//! One program: started with fixed arguments in a folder, waited for, and gone when the race is.

use crate::error::EngineError;
use crate::workloads::heed;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{MemfdFlags, memfd_create};
use rustix::io::FdFlags;
use rustix::process::{Pid, PidfdFlags, Signal, kill_process_group, pidfd_open};
use std::fs::File;
use std::os::fd::{BorrowedFd, RawFd};
use std::os::unix::fs::FileExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::AtomicBool;

/// How often the stop flag is looked at; the program's end is heard at once.
const GLANCE: Timespec = Timespec { tv_sec: 0, tv_nsec: 20_000_000 };
/// Bytes of the end of what it said that are looked at, and lines that are told.
const SAID_BYTES: u64 = 8 << 10;
const SAID_LINES: usize = 3;

/// Looks in PATH and where programs usually lie. Relative elements of PATH are left out: programs are started
/// inside the lane.
pub fn find(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders = std::env::split_paths(&path).filter(|folder| folder.is_absolute());
    let fixed = ["/usr/local/bin", "/usr/bin", "/bin"].map(PathBuf::from);
    let executable = |path: &PathBuf| path.is_file() && rustix::fs::access(path, rustix::fs::Access::EXEC_OK).is_ok();
    folders.chain(fixed).map(|folder| folder.join(name)).find(executable)
}

/// Runs a program in `folder` to its end, or until the flag is set. `keep` stays open for it.
///
/// # Errors
/// Where it cannot be started or fails, with its last lines.
pub(super) fn run(words: &[String], folder: &Path, keep: Option<RawFd>, stop: &AtomicBool) -> Result<(), EngineError> {
    let (name, arguments) = words.split_first().ok_or_else(|| EngineError::Unsuitable("no program".to_owned()))?;
    let shown = model::text::escaped(name.as_bytes());
    let cannot = |error: std::io::Error| EngineError::Unsuitable(format!("{shown} cannot be run: {error}"));
    let program = find(name).ok_or_else(|| {
        EngineError::Unsuitable(format!("{shown} is not installed; apt install {}", super::package_of(name)))
    })?;
    let said =
        memfd_create("fairlane-program", MemfdFlags::CLOEXEC).map(File::from).map_err(|errno| cannot(errno.into()))?;
    let parent = rustix::process::getpid();
    let mut command = Command::new(program);
    command
        .args(arguments)
        .current_dir(folder)
        .env_clear()
        .env("PATH", "/usr/local/bin:/usr/bin:/bin")
        .env("HOME", folder)
        .envs([("LC_ALL", "C"), ("TZ", "UTC"), ("GIT_CONFIG_NOSYSTEM", "1"), ("GIT_CONFIG_GLOBAL", "/dev/null")])
        .envs([("GIT_TERMINAL_PROMPT", "0"), ("GIT_OPTIONAL_LOCKS", "1")])
        .envs(["AUTHOR", "COMMITTER"].into_iter().flat_map(|who| {
            let key = |what: &str| format!("GIT_{who}_{what}");
            [(key("NAME"), "Fairlane"), (key("EMAIL"), "fairlane@localhost"), (key("DATE"), "2026-01-01T00:00:00Z")]
        }))
        .stdin(Stdio::null())
        .stdout(said.try_clone().map_err(cannot)?)
        .stderr(said.try_clone().map_err(cannot)?)
        .process_group(0);
    // SAFETY: the closure runs between fork and exec and makes only the async-signal-safe system calls
    // prctl, getppid and fcntl; it allocates nothing. `keep` is open, because its owner is borrowed by
    // whoever called.
    unsafe {
        command.pre_exec(move || {
            rustix::process::set_parent_process_death_signal(Some(Signal::KILL))?;
            if rustix::process::getppid() != Some(parent) {
                return Err(std::io::Error::other("the parent is gone"));
            }
            match keep {
                Some(descriptor) => Ok(rustix::io::fcntl_setfd(BorrowedFd::borrow_raw(descriptor), FdFlags::empty())?),
                None => Ok(()),
            }
        });
    }
    let mut child = command.spawn().map_err(cannot)?;
    let pid = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
    let handle = pid.and_then(|pid| pidfd_open(pid, PidfdFlags::empty()).ok());
    let status = loop {
        if let Err(interrupted) = heed(stop) {
            // It may have started others; the group is its own, and it was not waited for yet.
            if let Some(group) = pid {
                let _ = kill_process_group(group, Signal::KILL);
            }
            let _ = child.wait();
            return Err(interrupted);
        }
        // Readable when the program has ended; without a handle it is looked at again and again.
        match &handle {
            Some(handle) => _ = poll(&mut [PollFd::new(handle, PollFlags::IN)], Some(&GLANCE)),
            None => std::thread::sleep(std::time::Duration::from_millis(1)),
        }
        if let Some(status) = child.try_wait().map_err(cannot)? {
            break status;
        }
    };
    match status.success() {
        true => Ok(()),
        false => Err(failure(&shown, &status.to_string(), &said)),
    }
}

fn failure(name: &str, status: &str, said: &File) -> EngineError {
    let end = said.metadata().map_or(0, |metadata| metadata.len());
    let mut text = vec![0; SAID_BYTES.min(end) as usize];
    let from = end - text.len() as u64;
    let _ = said.read_exact_at(&mut text, from);
    let text = String::from_utf8_lossy(&text);
    let lines: Vec<&str> = text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    let last = lines[lines.len().saturating_sub(SAID_LINES)..].join(" | ");
    let last = if last.is_empty() { "nothing".to_owned() } else { model::text::escaped(last.as_bytes()) };
    let errno = last.contains("No space left on device").then_some(libc::ENOSPC);
    EngineError::Program { message: format!("{name} failed ({status}); it said: {last}"), errno }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(line: &[&str]) -> Vec<String> {
        line.iter().map(|word| (*word).to_owned()).collect()
    }

    #[test]
    fn a_program_works_in_its_folder_and_one_that_fails_says_why() {
        let folder = tempfile::tempdir().unwrap();
        let stop = AtomicBool::new(false);
        let run = |line: &[&str]| run(&words(line), folder.path(), None, &stop);
        std::fs::write(folder.path().join("a"), b"text").unwrap();
        run(&["cp", "a", "b c"]).unwrap();
        assert_eq!(std::fs::read(folder.path().join("b c")).unwrap(), b"text");
        let error = run(&["cp", "not there", "d"]).unwrap_err().to_string();
        assert!(error.contains("cp failed") && error.contains("No such file"), "{error}");
        let error = run(&["no-such-program"]).unwrap_err().to_string();
        assert!(error.contains("no-such-program is not installed"), "{error}");
    }

    #[test]
    fn a_program_ends_with_the_flag() {
        let folder = tempfile::tempdir().unwrap();
        let stop = AtomicBool::new(true);
        let ended = run(&words(&["sleep", "600"]), folder.path(), None, &stop);
        assert!(matches!(ended, Err(EngineError::Interrupted)));
    }
}
