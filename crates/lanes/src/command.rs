//! Child tools (mkfs, dumpe2fs, a user's own mount): argument lists only, never a shell.
//!
//! Every child dies with us (`PR_SET_PDEATHSIG`), sits in a process group of its own, reads
//! nothing, and what it prints is kept up to [`KEPT_OUTPUT_BYTES`].
//!
//! The kernel ties the death signal to the *thread* that started the child, not to the process:
//! start tools from a thread that lives as long as the process (the main thread), or a child is
//! killed when its thread ends.

use crate::architecture::Architecture;
use crate::confined::{Confined, confine};
use crate::failure::{LaneFailure, NotDone, failed, has_word, plain, privilege};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, Signal, kill_process_group, pidfd_open};
use std::io::Read;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

/// How much of a tool's output is kept; the rest is read and dropped, so that it never blocks.
pub const KEPT_OUTPUT_BYTES: usize = 64 << 10;

/// What is said of a tool that failed and did not say why.
const PRINTED_NOTHING: &str = "it printed nothing";

/// Where administration tools live although a user's PATH often leaves them out.
const ADMINISTRATION_FOLDERS: [&str; 3] = ["/usr/local/sbin", "/usr/sbin", "/sbin"];
/// Where Debian puts others (btrfs, modprobe's kin) that a service's PATH may leave out as well.
const USUAL_FOLDERS: [&str; 3] = ["/usr/local/bin", "/usr/bin", "/bin"];

/// Programs and libraries of packages that were unpacked without root.
const OWN_PROGRAMS: [&str; 4] = ["usr/sbin", "sbin", "usr/bin", "bin"];
const OWN_LIBRARIES: [&str; 2] = ["usr/lib", "lib"];

/// What a tool that succeeded left.
#[derive(Debug, Clone)]
pub struct Output {
    /// Its standard output, lossily decoded.
    pub stdout: String,
    /// Wall seconds from start to exit.
    pub seconds: f64,
}

/// Finds a program by PATH, then in the folders of the system; a name with a slash is a path itself.
pub fn find_program(name: &str) -> Option<PathBuf> {
    if name.contains('/') {
        return is_executable(Path::new(name)).then(|| PathBuf::from(name));
    }
    first_in(search_folders(), name)
}

/// Finds a program that is the user's choice (fio) by PATH alone.
pub fn find_on_path(name: &str) -> Option<PathBuf> {
    first_in(path_folders(), name)
}

fn first_in(folders: Vec<PathBuf>, name: &str) -> Option<PathBuf> {
    folders.into_iter().map(|folder| folder.join(name)).find(|path| is_executable(path))
}

fn path_folders() -> Vec<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    // An empty or relative element would run what happens to lie in the working directory.
    std::env::split_paths(&path).filter(|folder| folder.is_absolute()).collect()
}

fn search_folders() -> Vec<PathBuf> {
    let mut folders = path_folders();
    folders.extend(ADMINISTRATION_FOLDERS.map(PathBuf::from));
    folders.extend(USUAL_FOLDERS.map(PathBuf::from));
    folders.extend(own_folders(&OWN_PROGRAMS));
    folders
}

/// The folder where `fairlane doctor --install --user` unpacks packages: `$XDG_DATA_HOME/fairlane/guest`.
/// `None` for root, who runs nothing that a user could have put there, and where no folder is known.
pub fn own_folder() -> Option<PathBuf> {
    let absolute = |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let data = absolute("XDG_DATA_HOME").or_else(|| absolute("HOME").map(|home| home.join(".local/share")))?;
    (!crate::host::is_root()).then(|| data.join("fairlane/guest"))
}

/// Folders in it.
fn own_folders(parts: &[&str]) -> Vec<PathBuf> {
    own_folder().map_or_else(Vec::new, |folder| parts.iter().map(|part| folder.join(part)).collect())
}

/// Where libraries of unpacked packages lie.
pub fn own_libraries() -> Vec<PathBuf> {
    let of_architecture =
        Architecture::here().map(|here| OWN_LIBRARIES.map(|root| format!("{root}/{}", here.multiarch)));
    let own = of_architecture.iter().flatten().map(String::as_str);
    own_folders(&own.chain(OWN_LIBRARIES).collect::<Vec<_>>())
}

/// The LD_LIBRARY_PATH that a program needs: one of an unpacked package finds its libraries by it.
pub fn library_path(program: &Path) -> Option<std::ffi::OsString> {
    let folder = own_folder()?;
    program.starts_with(folder).then(|| std::env::join_paths(own_libraries()).ok()).flatten()
}

/// Whether a variable changes what mkfs makes, where it writes or which devices it finds: no record would tell.
fn changes_tools(name: &std::ffi::OsStr) -> bool {
    const BEGINS: [&str; 6] = ["MKE2FS_", "E2FSCK_", "E2FSPROGS_", "BLKID_", "LIBBLKID_", "LIBMOUNT_"];
    name.to_str().is_some_and(|name| BEGINS.iter().any(|begin| name.starts_with(begin)))
}

fn is_executable(path: &Path) -> bool {
    path.is_file() && rustix::fs::access(path, rustix::fs::Access::EXEC_OK).is_ok()
}

/// Runs a tool to its end. The stop flag kills it with its whole process group.
///
/// # Errors
/// Missing program, a status other than 0 (with the last lines it printed), or interrupted.
pub fn run(arguments: &[String], stop: &AtomicBool) -> Result<Output, LaneFailure> {
    run_confined(arguments, (None, None), stop).map_err(LaneFailure::from)
}

/// [`run`] for a tool that may write to what it is confined to alone, and that keeps a descriptor of ours: it finds that
/// as `/proc/self/fd/NUMBER`.
///
/// # Errors
/// As [`run`], with whether the tool refused what it was told.
pub(crate) fn run_confined(
    arguments: &[String],
    held_to: (Option<&Confined>, Option<BorrowedFd>),
    stop: &AtomicBool,
) -> Result<Output, NotDone> {
    let started = Instant::now();
    let mut running = Running::start_confined(arguments, held_to)?;
    let status = loop {
        if let Some(status) = running.wait(100)? {
            break status;
        }
        if stop.load(Ordering::Relaxed) {
            running.kill();
            return Err(LaneFailure::Interrupted.into());
        }
    };
    let seconds = started.elapsed().as_secs_f64();
    // A Ctrl-C on the terminal may have killed the tool before the flag was looked at.
    if stop.load(Ordering::Relaxed) && !status.success() {
        return Err(LaneFailure::Interrupted.into());
    }
    if !status.success() {
        return Err(running.not_done(status));
    }
    Ok(Output { stdout: running.stdout.text(), seconds })
}

/// A started tool. Dropping it kills it.
#[derive(Debug)]
pub struct Running {
    program: String,
    child: Child,
    pidfd: OwnedFd,
    stdout: Captured<std::process::ChildStdout>,
    stderr: Captured<std::process::ChildStderr>,
    reaped: bool,
}

#[derive(Debug)]
struct Captured<P> {
    pipe: Option<P>,
    kept: Vec<u8>,
}

impl<P: Read + AsFd> Captured<P> {
    fn new(pipe: P) -> std::io::Result<Self> {
        rustix::io::ioctl_fionbio(&pipe, true)?;
        Ok(Captured { pipe: Some(pipe), kept: Vec::new() })
    }

    /// Reads what is there now.
    fn drain(&mut self) {
        let mut buffer = [0u8; 4096];
        while let Some(pipe) = &mut self.pipe {
            match pipe.read(&mut buffer) {
                Ok(0) => self.pipe = None,
                Ok(count) => {
                    let room = KEPT_OUTPUT_BYTES.saturating_sub(self.kept.len());
                    self.kept.extend_from_slice(&buffer[..count.min(room)]);
                }
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => return,
                Err(_) => self.pipe = None,
            }
        }
    }

    fn text(&self) -> String {
        String::from_utf8_lossy(&self.kept).into_owned()
    }
}

impl Running {
    /// Starts a tool.
    ///
    /// # Errors
    /// [`LaneFailure::Privilege`] where the program is missing, [`LaneFailure::Failed`] where it
    /// cannot be started.
    pub fn start(arguments: &[String]) -> Result<Self, LaneFailure> {
        Running::start_confined(arguments, (None, None))
    }

    fn start_confined(
        arguments: &[String],
        (confined, kept): (Option<&Confined>, Option<BorrowedFd>),
    ) -> Result<Self, LaneFailure> {
        let (name, rest) = arguments.split_first().ok_or_else(|| failed("an empty command cannot be run"))?;
        let program = find_program(name)
            .ok_or_else(|| privilege(format!("the program {name} is missing; install it or add its folder to PATH")))?;
        let folders = std::env::join_paths(search_folders()).unwrap_or_default();
        let mut command = Command::new(&program);
        command
            .args(rest)
            .env("LC_ALL", "C")
            .env("PATH", folders)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0);
        if let Some(libraries) = library_path(&program) {
            command.env("LD_LIBRARY_PATH", libraries);
        }
        for (name, _) in std::env::vars_os().filter(|(name, _)| changes_tools(name)) {
            command.env_remove(name);
        }
        let parent = rustix::process::getpid();
        let ruleset = confined.map(Confined::as_raw);
        let kept = kept.map(|kept| kept.as_raw_fd());
        // SAFETY: the closure runs between fork and exec and makes only async-signal-safe system calls
        // (prctl, getppid, fcntl, landlock_restrict_self); it allocates nothing and touches no lock. The descriptor
        // is borrowed until the child was started.
        unsafe {
            command.pre_exec(move || {
                rustix::process::set_parent_process_death_signal(Some(Signal::KILL))?;
                // The parent may have died before the signal was set; then nobody would send it.
                if rustix::process::getppid() != Some(parent) {
                    return Err(rustix::io::Errno::SRCH.into());
                }
                if let Some(kept) = kept
                    && libc::fcntl(kept, libc::F_SETFD, 0) != 0
                {
                    return Err(std::io::Error::last_os_error());
                }
                ruleset.map_or(Ok(()), confine)
            });
        }
        let cannot_start = |error: std::io::Error| failed(format!("cannot start {name}: {}", plain(&error)));
        let mut child = command.spawn().map_err(cannot_start)?;
        let prepared = (|| {
            let pidfd = pidfd_open(Pid::from_child(&child), PidfdFlags::empty())?;
            let missing = || std::io::Error::other("its output is not captured");
            let stdout = Captured::new(child.stdout.take().ok_or_else(missing)?)?;
            let stderr = Captured::new(child.stderr.take().ok_or_else(missing)?)?;
            Ok::<_, std::io::Error>((pidfd, stdout, stderr))
        })();
        match prepared {
            Ok((pidfd, stdout, stderr)) => {
                Ok(Running { program: name.clone(), child, pidfd, stdout, stderr, reaped: false })
            }
            Err(error) => {
                let _ = child.kill();
                let _ = child.wait();
                Err(cannot_start(error))
            }
        }
    }

    /// Waits at most so long for the end, reading what the tool prints. `None`: it still runs.
    ///
    /// # Errors
    /// [`LaneFailure::Failed`] where the kernel cannot wait.
    pub fn wait(&mut self, milliseconds: u32) -> Result<Option<ExitStatus>, LaneFailure> {
        let until = Instant::now() + std::time::Duration::from_millis(milliseconds.into());
        loop {
            let left = until.saturating_duration_since(Instant::now());
            let timeout = Timespec { tv_sec: left.as_secs() as _, tv_nsec: left.subsec_nanos().into() };
            let mut watched = vec![PollFd::new(&self.pidfd, PollFlags::IN)];
            watched.extend(self.stdout.pipe.iter().map(|pipe| PollFd::new(pipe, PollFlags::IN)));
            watched.extend(self.stderr.pipe.iter().map(|pipe| PollFd::new(pipe, PollFlags::IN)));
            let ready = match poll(&mut watched, Some(&timeout)) {
                Err(rustix::io::Errno::INTR) => return Ok(None),
                other => other.map_err(|error| failed(format!("cannot wait for {}: {error}", self.program)))?,
            };
            let ended = !watched[0].revents().is_empty();
            self.stdout.drain();
            self.stderr.drain();
            if ended {
                self.reaped = true;
                let wait = self.child.wait();
                return wait
                    .map(Some)
                    .map_err(|error| failed(format!("cannot wait for {}: {}", self.program, plain(&error))));
            }
            // A tool that prints without pause must not keep the caller from its stop flag.
            if ready == 0 || Instant::now() >= until {
                return Ok(None);
            }
        }
    }

    /// The tool and what it started, as far as that stayed in its process group.
    pub fn processes(&self) -> Vec<u32> {
        let group = self.child.id();
        let entries = std::fs::read_dir("/proc").into_iter().flatten().flatten();
        let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
        pids.filter(|&pid| group_of(pid) == Some(group)).collect()
    }

    /// Kills the tool and everything it started, and waits for its end.
    pub fn kill(&mut self) {
        if !self.reaped {
            let _ = kill_process_group(Pid::from_child(&self.child), Signal::KILL);
            let _ = self.child.wait();
            self.reaped = true;
        }
    }

    /// Lets go of what the tool prints: a thread reads and drops it, so that a daemon that logs
    /// never blocks.
    pub fn ignore_output(&mut self) {
        let (stdout, stderr) = (self.stdout.pipe.take(), self.stderr.pipe.take());
        if let Some(mut pipe) = stdout {
            let _ = rustix::io::ioctl_fionbio(&pipe, false);
            std::thread::spawn(move || std::io::copy(&mut pipe, &mut std::io::sink()));
        }
        if let Some(mut pipe) = stderr {
            let _ = rustix::io::ioctl_fionbio(&pipe, false);
            std::thread::spawn(move || std::io::copy(&mut pipe, &mut std::io::sink()));
        }
    }

    /// The sentence for a tool that failed.
    pub fn failure(&self, status: ExitStatus) -> LaneFailure {
        self.not_done(status).into()
    }

    /// The same, with whether it refused what it was told: it ended by itself and said why.
    pub(crate) fn not_done(&self, status: ExitStatus) -> NotDone {
        let printed = [self.stderr.text(), self.stdout.text()];
        let words = printed.each_ref().map(|text| last_words(text));
        let told = words.iter().find(|words| tells_error(words));
        let said = told.or_else(|| words.iter().find(|words| !words.is_empty()));
        let why = said.map_or(PRINTED_NOTHING, String::as_str);
        let failure = failed(format!("{} failed ({status}): {why}", self.program));
        match (status.code(), said) {
            (Some(_), Some(words)) => NotDone::by_program(&printed.join("\n"), words.clone(), failure),
            (Some(status), None) => NotDone::Silent { status, failure },
            (None, _) => NotDone::Failed(failure),
        }
    }
}

/// The process group of a process: field 5 of /proc/PID/stat, behind the name, which may hold anything.
fn group_of(pid: u32) -> Option<u32> {
    let stat = std::fs::read(format!("/proc/{pid}/stat")).ok()?;
    let behind = &stat[stat.iter().rposition(|&byte| byte == b')')? + 1..];
    String::from_utf8_lossy(behind).split_whitespace().nth(2)?.parse().ok()
}

impl Drop for Running {
    fn drop(&mut self) {
        self.kill();
    }
}

/// How lines begin that a tool prints whatever happens.
const BANNERS: [&str; 5] = ["mke2fs ", "btrfs-progs v", "e2fsck ", "F2FS-tools: ", "Pass "];

fn tells_error(line: &str) -> bool {
    has_word(line, "error")
}

/// The first lines that say something, joined: tools print the fact first and usage after it. Errors stand before other
/// lines, and what was warned of behind them.
fn last_words(text: &str) -> String {
    let text = unbroken(text);
    let banner = |line: &&str| BANNERS.iter().any(|banner| line.starts_with(banner));
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty() && !banner(line));
    let usage = |line: &str| line.to_ascii_lowercase().starts_with("usage");
    let fact = lines.enumerate().take_while(|(at, line)| *at == 0 || !usage(line));
    let mut lines: Vec<&str> = fact.map(|(_, line)| line).collect();
    lines.sort_by_key(|line| (!tells_error(line), has_word(line, "warning")));
    lines.truncate(3);
    let mut joined: String = lines.join("; ").chars().filter(|c| !c.is_control()).collect();
    if joined.chars().count() > 400 {
        joined = joined.chars().take(400).collect::<String>() + "…";
    }
    joined.replace(".; ", ". ")
}

/// A text whose broken sentences are whole: a line that is indented and begins with a small letter goes on with the one before it,
/// where that ends in no sign.
fn unbroken(text: &str) -> String {
    let mut whole: Vec<String> = Vec::new();
    for line in text.lines() {
        let begins_small = line.trim_start().starts_with(|first: char| first.is_ascii_lowercase());
        let goes_on = begins_small && line.starts_with([' ', '\t']);
        let is_open = |last: &&mut String| goes_on && last.ends_with(|end: char| end.is_alphanumeric() || end == ',');
        match whole.last_mut().filter(is_open) {
            Some(last) => {
                last.push(' ');
                last.push_str(line.trim());
            }
            None => whole.push(line.trim_end().to_owned()),
        }
    }
    whole.join("\n")
}

/// The command as a person would type it, for `--dry-run`: quoted where a shell would need it.
pub fn display(arguments: &[String]) -> String {
    let quote = |word: &String| {
        let plain = |c: char| c.is_ascii_alphanumeric() || "-_=+,./:@%^{}".contains(c);
        if !word.is_empty() && word.chars().all(plain) {
            word.clone()
        } else {
            format!("'{}'", word.replace('\'', r"'\''"))
        }
    };
    arguments.iter().map(quote).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(line: &[&str]) -> Vec<String> {
        line.iter().map(|&word| word.to_owned()).collect()
    }

    #[test]
    fn a_tool_that_prints_more_than_is_kept_still_ends() {
        let output = run(&words(&["dd", "if=/dev/zero", "bs=1M", "count=4"]), &AtomicBool::new(false)).unwrap();
        assert_eq!(output.stdout.len(), KEPT_OUTPUT_BYTES);
    }

    #[test]
    fn a_tool_that_fails_is_quoted() {
        let error = run(&words(&["ls", "/nonexistent-fairlane"]), &AtomicBool::new(false)).unwrap_err();
        assert!(error.to_string().contains("No such file"), "{error}");
    }

    #[test]
    fn a_tool_refuses_where_it_ends_by_itself_and_says_why() {
        let ended = |script: &str| {
            let stop = AtomicBool::new(false);
            run_confined(&words(&["sh", "-c", script]), (None, None), &stop).unwrap_err()
        };
        let refused = ended("echo the log is too large. >&2; exit 3");
        let NotDone::Refused { words: said, failure } = &refused else { panic!("{refused:?}") };
        assert_eq!(said, "the log is too large.");
        assert_eq!(failure.to_string(), "sh failed (exit status: 3): the log is too large.");
        let killed = ended("echo the log is too large >&2; kill -KILL $$");
        assert!(matches!(killed, NotDone::Failed(LaneFailure::Failed(_))), "{killed:?}");
        for script in [
            "echo write failed: No space left on device >&2; exit 1",
            "echo a; echo b; echo c; echo I/O error; exit 1",
            "echo cannot do that >&2; echo I/O error; exit 1",
        ] {
            let failed = ended(script);
            assert!(matches!(failed, NotDone::OfMachine(LaneFailure::Failed(_))), "{script}: {failed:?}");
        }
        let silent = ended("exit 3");
        assert!(matches!(silent, NotDone::Silent { status: 3, .. }), "{silent:?}");
        assert_eq!(silent.to_string(), "sh failed (exit status: 3): it printed nothing");
        let missing = run_confined(&words(&["no-such-fairlane-tool"]), (None, None), &AtomicBool::new(false));
        assert!(matches!(missing, Err(NotDone::Failed(LaneFailure::Privilege(_)))), "{missing:?}");
    }

    #[test]
    fn warnings_hide_no_error_behind_them() {
        let warned = "WARNING: a\nWARNING: b\nlast fact\nWARNING: c\nERROR: cannot write: No space left on device\n";
        assert_eq!(last_words(warned), "ERROR: cannot write: No space left on device; last fact; WARNING: a");
        assert_eq!(last_words("errors=continue is set\nthat is wrong\n"), "errors=continue is set; that is wrong");
        let script = "printf 'WARNING: a\\nWARNING: b\\nWARNING: c\\n' >&2; echo 'Error: it is too small'; exit 1";
        let ended = run_confined(&words(&["sh", "-c", script]), (None, None), &AtomicBool::new(false));
        let Err(NotDone::Refused { words: said, .. }) = &ended else { panic!("{ended:?}") };
        assert_eq!(said, "Error: it is too small");
    }

    #[test]
    fn a_sentence_that_a_tool_breaks_is_quoted_whole() {
        let mke2fs = "mke2fs 1.47.0 (5-Feb-2023)\n\nBad option(s) specified: stried\n\nExtended options are separated \
                      by commas, and may take an argument which\n\tis set off by an equals ('=') sign.\n\nValid \
                      extended options are:\n\tmmp_update_interval=<interval>\n";
        assert_eq!(
            last_words(mke2fs),
            "Bad option(s) specified: stried; Extended options are separated by commas, and may take an argument which \
             is set off by an equals ('=') sign. Valid extended options are:"
        );
        let apart = "it failed.\n  for a reason\nError\n  Another one\nthat is all\n";
        assert_eq!(last_words(apart), "Error; it failed. for a reason");
    }

    #[test]
    fn what_is_the_users_choice_is_found_by_path_alone_and_tools_of_the_system_without_it() {
        assert_eq!(first_in(vec!["/dev".into(), "/bin".into()], "sh"), Some("/bin/sh".into()));
        assert_eq!(first_in(vec!["/dev".into()], "null"), None);
        assert_eq!(find_on_path("no-such-fairlane-tool"), None);
        let folders = search_folders();
        for always in ["/usr/sbin", "/sbin", "/usr/bin", "/bin"] {
            assert!(folders.contains(&PathBuf::from(always)), "{always} is missing in {folders:?}");
        }
    }

    #[test]
    fn a_missing_tool_is_a_missing_privilege() {
        let error = run(&words(&["no-such-fairlane-tool"]), &AtomicBool::new(false)).unwrap_err();
        assert!(matches!(error, LaneFailure::Privilege(_)), "{error}");
    }

    #[test]
    fn a_tool_is_known_with_what_it_started() {
        let running = Running::start(&words(&["sh", "-c", "sleep 60 & wait"])).unwrap();
        let started = Instant::now();
        let mut found = running.processes();
        while found.len() < 2 && started.elapsed().as_secs() < 20 {
            std::thread::sleep(std::time::Duration::from_millis(5));
            found = running.processes();
        }
        assert!(found.len() == 2 && found.contains(&running.child.id()), "{found:?}");
        assert!(!found.contains(&std::process::id()));
    }

    #[test]
    fn the_stop_flag_kills_a_tool_and_its_children() {
        let stop = AtomicBool::new(false);
        let started = Instant::now();
        std::thread::scope(|scope| {
            scope.spawn(|| {
                std::thread::sleep(std::time::Duration::from_millis(200));
                stop.store(true, Ordering::Relaxed);
            });
            // `env` execs `sleep`; a pipe held open by a survivor would not block us either.
            let error = run(&words(&["env", "sleep", "60"]), &stop).unwrap_err();
            assert_eq!(error, LaneFailure::Interrupted);
        });
        assert!(started.elapsed().as_secs() < 5);
    }

    #[test]
    fn a_command_is_shown_as_it_would_be_typed() {
        assert_eq!(display(&words(&["mkfs.ext4", "-O", "^x", "/a b/it's"])), r"mkfs.ext4 -O ^x '/a b/it'\''s'");
    }
}
