//! One program: started with fixed arguments in a folder, waited for, and gone when the race is.

use super::sandbox::Sandbox;
use crate::error::EngineError;
use crate::workloads::heed;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{OFlags, fcntl_setfl};
use rustix::io::{Errno, read};
use rustix::pipe::{PipeFlags, pipe_with};
use rustix::process::{Pid, PidfdFlags, Signal, WaitId, WaitIdOptions, kill_process_group, pidfd_open, waitid};
use std::os::fd::OwnedFd;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::AtomicBool;

/// How often the stop flag is looked at; the program's end is heard at once.
const GLANCE: Timespec = Timespec { tv_sec: 0, tv_nsec: 20_000_000 };
/// Bytes of the end of what it said that are looked at, and lines that are told.
const SAID_BYTES: usize = 8 << 10;
const SAID_LINES: usize = 3;
const SAID_LETTERS: usize = 1000;
/// How often it is read before something else is looked at: a program may talk without an end.
const LISTENED: u32 = 64;

/// Looks in PATH and where programs usually lie. Relative elements of PATH are left out: programs are started
/// inside the lane. `None` also for what is no plain name.
pub fn find(name: &str) -> Option<PathBuf> {
    if name.is_empty() || name.contains('/') {
        return None;
    }
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders = std::env::split_paths(&path).filter(|folder| folder.is_absolute());
    let fixed = ["/usr/local/bin", "/usr/bin", "/bin"].map(PathBuf::from);
    let executable = |path: &PathBuf| path.is_file() && rustix::fs::access(path, rustix::fs::Access::EXEC_OK).is_ok();
    folders.chain(fixed).map(|folder| folder.join(name)).find(executable)
}

/// Runs a program in its sandbox to its end, or until the flag is set. Whatever it started is gone when this returns.
///
/// # Errors
/// Where it cannot be started or fails, with its last lines.
pub(super) fn run(words: &[String], sandbox: &Sandbox, stop: &AtomicBool) -> Result<(), EngineError> {
    let (name, arguments) = words.split_first().ok_or_else(|| EngineError::Unsuitable("no program".to_owned()))?;
    let shown = model::text::escaped(name.as_bytes());
    let cannot = |error: std::io::Error| EngineError::Unsuitable(format!("{shown} cannot be run: {error}"));
    let program = find(name).ok_or_else(|| {
        EngineError::Unsuitable(format!(
            "{shown} is not installed; {}",
            crate::packages::remedy(super::package_of(name))
        ))
    })?;
    let confined = sandbox.confined(&program, words);
    let (mut said, mouth) = Said::new().map_err(cannot)?;
    let mut command = Command::new(program);
    command
        .args(arguments)
        .current_dir(sandbox.folder())
        .env_clear()
        .env("PATH", "/usr/local/bin:/usr/bin:/bin")
        .env("HOME", sandbox.home())
        .envs([("LC_ALL", "C"), ("TZ", "UTC"), ("GIT_CONFIG_GLOBAL", &sandbox.git_config())])
        .envs(sandbox.git_environment())
        .stdin(Stdio::null())
        .stdout(mouth.try_clone().map_err(cannot)?)
        .stderr(mouth)
        .process_group(0);
    let taking = sandbox.taking(confined.as_ref());
    // SAFETY: the closure runs between fork and exec and makes only async-signal-safe system calls; it allocates
    // nothing. What it names is open, because the sandbox is borrowed.
    unsafe {
        command.pre_exec(move || taking.take());
    }
    let mut running = Running::new(command.spawn().map_err(cannot)?);
    // Its ends of the pipe: only the program holds them now.
    drop(command);
    loop {
        heed(stop)?;
        said.listen();
        if let Some(status) = running.ended().map_err(cannot)? {
            said.listen();
            return if status.success() { Ok(()) } else { Err(failure(&shown, &status.to_string(), &said.end())) };
        }
        running.wait_a_little(&said);
    }
}

/// A program at work. What it started in its group is killed before it is waited for: until then the group's number is
/// nobody else's.
struct Running {
    child: Child,
    group: Option<Pid>,
    handle: Option<OwnedFd>,
}

impl Running {
    fn new(child: Child) -> Self {
        let group = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
        let handle = group.and_then(|pid| pidfd_open(pid, PidfdFlags::empty()).ok());
        Running { child, group, handle }
    }

    /// Returns when it has ended or said something, or after a moment.
    fn wait_a_little(&self, said: &Said) {
        match &self.handle {
            // Readable when the program has ended.
            Some(handle) => {
                let mut waiting = vec![PollFd::new(handle, PollFlags::IN)];
                waiting.extend(said.pipe.as_ref().map(|pipe| PollFd::new(pipe, PollFlags::IN)));
                let _ = poll(&mut waiting, Some(&GLANCE));
            }
            None => std::thread::sleep(std::time::Duration::from_millis(1)),
        }
    }

    /// How it ended, once it has.
    fn ended(&mut self) -> std::io::Result<Option<ExitStatus>> {
        let Some(pid) = self.group else { return self.child.try_wait() };
        let look = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        match waitid(WaitId::Pid(pid), look)? {
            Some(_) => self.end().map(Some),
            None => Ok(None),
        }
    }

    fn end(&mut self) -> std::io::Result<ExitStatus> {
        if let Some(group) = self.group.take() {
            let _ = kill_process_group(group, Signal::KILL);
        }
        self.child.wait()
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.end();
    }
}

/// What a program says, of which the end alone is kept: it may say as much as it likes.
struct Said {
    /// `None`: nobody can say anything any more.
    pipe: Option<OwnedFd>,
    /// The last bytes, at most twice [`SAID_BYTES`].
    kept: Vec<u8>,
    room: Vec<u8>,
}

impl Said {
    /// And the end that the program is given.
    fn new() -> std::io::Result<(Said, OwnedFd)> {
        let (pipe, mouth) = pipe_with(PipeFlags::CLOEXEC)?;
        // This end alone never waits: programs are used to pipes that do.
        fcntl_setfl(&pipe, OFlags::NONBLOCK)?;
        Ok((Said { pipe: Some(pipe), kept: Vec::new(), room: vec![0; 64 << 10] }, mouth))
    }

    /// Takes in what was said, but goes on with other things after a while.
    fn listen(&mut self) {
        for _ in 0..LISTENED {
            let Some(pipe) = &self.pipe else { return };
            match read(pipe, &mut self.room[..]) {
                Ok(0) => self.pipe = None,
                Ok(count) => {
                    self.kept.extend_from_slice(&self.room[..count]);
                    if self.kept.len() > 2 * SAID_BYTES {
                        self.kept.drain(..self.kept.len() - SAID_BYTES);
                    }
                }
                Err(Errno::INTR) => {}
                Err(_) => return,
            }
        }
    }

    /// The end of it.
    fn end(&self) -> String {
        let from = self.kept.len().saturating_sub(SAID_BYTES);
        String::from_utf8_lossy(&self.kept[from..]).into_owned()
    }
}

fn failure(name: &str, status: &str, said: &str) -> EngineError {
    let lines: Vec<&str> = said.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    let last = lines[lines.len().saturating_sub(SAID_LINES)..].join(" | ");
    // What is no text takes four letters for each byte.
    let last: String = last.chars().skip(last.chars().count().saturating_sub(SAID_LETTERS)).collect();
    let last = if last.is_empty() { "nothing".to_owned() } else { model::text::escaped(last.as_bytes()) };
    let errno = last.contains("No space left on device").then_some(libc::ENOSPC);
    EngineError::Program { message: format!("{name} failed ({status}); it said: {last}"), errno }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::unprivileged::unprivileged;
    use std::fs::File;
    use std::os::unix::fs::MetadataExt;

    fn words(line: &[&str]) -> Vec<String> {
        line.iter().map(|word| (*word).to_owned()).collect()
    }

    fn of_suite(path: &std::path::Path) -> Sandbox {
        let folder = OwnedFd::from(File::open(path).unwrap());
        Sandbox::of_suite(path, &folder, None, Vec::new()).unwrap()
    }

    #[test]
    fn a_program_works_in_its_folder_and_one_that_fails_says_why() {
        let folder = tempfile::tempdir().unwrap();
        let stop = AtomicBool::new(false);
        let sandbox = Sandbox::own(folder.path()).unwrap();
        let run = |line: &[&str]| run(&words(line), &sandbox, &stop);
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
        let ended = run(&words(&["sleep", "600"]), &Sandbox::own(folder.path()).unwrap(), &stop);
        assert!(matches!(ended, Err(EngineError::Interrupted)));
    }

    /// Processes whose command line is `sleep` with this argument.
    fn sleepers(seconds: &str) -> usize {
        let processes = std::fs::read_dir("/proc").unwrap().flatten();
        let line = |path: PathBuf| std::fs::read(path.join("cmdline")).unwrap_or_default();
        let wanted = format!("sleep\0{seconds}\0");
        processes.filter(|entry| line(entry.path()) == wanted.as_bytes()).count()
    }

    #[test]
    fn what_a_program_left_running_is_gone_when_it_has_ended_or_failed() {
        let folder = tempfile::tempdir().unwrap();
        // Unlike that of any other test that runs at the same time.
        let seconds = format!("7{}", std::process::id());
        let stop = AtomicBool::new(false);
        std::fs::set_permissions(folder.path(), std::os::unix::fs::PermissionsExt::from_mode(0o777)).unwrap();
        let seats = [Sandbox::own(folder.path()).unwrap(), of_suite(folder.path())];
        for sandbox in &seats {
            for (end, works) in [("true", true), ("false", false)] {
                // It goes on as long as it may, and is seen before the shell ends.
                let line = format!("sleep {seconds} & touch started; {end}");
                assert_eq!(run(&words(&["sh", "-c", &line]), sandbox, &stop).is_ok(), works);
                assert!(folder.path().join("started").exists(), "it ran");
                std::fs::remove_file(folder.path().join("started")).unwrap();
                // What was killed is gone from the list of processes a moment later.
                let gone = (0..500).any(|_| {
                    std::thread::sleep(std::time::Duration::from_millis(10));
                    sleepers(&seconds) == 0
                });
                assert!(gone, "{end}");
            }
        }
    }

    #[test]
    fn a_program_of_a_suite_keeps_no_lane_of_another_race_in_use() {
        if !rustix::process::geteuid().is_root() {
            return;
        }
        let folder = tempfile::tempdir().unwrap();
        let (own, lane) = (folder.path().join("own"), folder.path().join(".fairlane-test a").join("lane"));
        let user = unprivileged().unwrap();
        std::fs::create_dir(&own).unwrap();
        std::os::unix::fs::chown(&own, Some(user.uid), Some(user.gid)).unwrap();
        std::fs::create_dir_all(&lane).unwrap();
        rustix::mount::mount("none", &lane, "tmpfs", rustix::mount::MountFlags::empty(), None::<&std::ffi::CStr>)
            .unwrap();
        let sandbox = of_suite(&own);
        let ran = run(&words(&["sh", "-c", "cat /proc/self/mountinfo > mounts"]), &sandbox, &AtomicBool::new(false));
        let here = std::fs::read_to_string("/proc/self/mountinfo").unwrap();
        rustix::mount::unmount(&lane, rustix::mount::UnmountFlags::empty()).unwrap();
        ran.unwrap();
        let there = std::fs::read_to_string(own.join("mounts")).unwrap();
        assert!(here.contains(".fairlane-test\\040a/lane") && there.contains(" /mnt "), "{there}");
        assert!(!there.contains(".fairlane-test"), "{there}");
    }

    #[test]
    fn a_program_of_a_suite_has_no_rights_of_roots_and_sees_its_folder() {
        if !rustix::process::geteuid().is_root() {
            return;
        }
        let folder = tempfile::tempdir().unwrap();
        let (stop, user) = (AtomicBool::new(false), unprivileged().unwrap());
        let (top, victim) = (folder.path().join("top"), folder.path().join("victim"));
        std::fs::create_dir(&top).unwrap();
        std::os::unix::fs::chown(&top, Some(user.uid), Some(user.gid)).unwrap();
        std::fs::write(&victim, b"precious").unwrap();
        let sandbox = of_suite(&top);
        run(&words(&["touch", "made"]), &sandbox, &stop).unwrap();
        let made = std::fs::metadata(top.join("made")).unwrap();
        assert_eq!((made.uid(), made.gid()), (user.uid, user.gid));
        let removed = run(&words(&["rm", "-f", victim.to_str().unwrap()]), &sandbox, &stop);
        assert!(removed.is_err() && victim.exists(), "{removed:?}");
        if find("git").is_some() {
            // Its own settings, and nobody's else: not those that lie in its home either.
            std::fs::write(top.join(".gitconfig"), "[core]\n\thooksPath = evil\n").unwrap();
            let asks = "git config --get safe.directory > said && git config --get core.hooksPath >> said";
            run(&words(&["sh", "-c", asks]), &sandbox, &stop).unwrap();
            assert_eq!(std::fs::read_to_string(top.join("said")).unwrap(), "*\n/dev/null\n");
        }
        run(&words(&["sh", "-c", "setpriv --dump > rights"]), &sandbox, &stop).unwrap();
        let rights = std::fs::read_to_string(top.join("rights")).unwrap();
        assert!(rights.contains("no_new_privs: 1"), "sudo could make it root: {rights}");
        // What fails inside is told as it is.
        let error = run(&words(&["sh", "-c", "echo so; exit 7"]), &sandbox, &stop).unwrap_err().to_string();
        assert!(error.contains("exit status: 7") && error.contains("so"), "{error}");
    }
}
