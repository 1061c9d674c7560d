//! Whether user-mode Linux runs programs on this CPU, found out by a trial boot, and the library that helps where it
//! does not.
//!
//! Debian's 6.1 keeps 2,696 bytes of a process's extended registers. A host whose CPU has more (Intel's AMX: 11,008)
//! refuses to set a part of them, and the guest panics at its first process. A preloaded `ptrace` sets them whole.

use super::cpio::Archive;
use super::host::{Keeping, start_keeper};
use super::kernel::{Kernel, hash};
use crate::failure::{LaneFailure, cannot, failed};
use rustix::fs::MemfdFlags;
use rustix::process::{Pid, Signal, kill_process};
use std::collections::BTreeMap;
use std::fs::{DirBuilder, File};
use std::io::{self, BufRead, BufReader, Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::process::Child;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// The preloaded `ptrace`; empty where there is no user-mode Linux.
const PTRACE: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/ptrace"));
/// The first process of a trial.
const INIT: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/init"));
/// What that process says.
const SAYS: &str = "fairlane: programs run";
/// How long a trial may take: it needs 0.8 s of one CPU.
const PATIENCE: Duration = Duration::from_secs(20);
/// Memory of a trial: the kernel's own tables take up to 43 MiB of it, depending on where it was loaded.
const MEMORY_MIB: u32 = 128;
/// Most bytes that are read of what trials found.
const MOST_BYTES: u64 = 64 << 10;

/// Whose `ptrace` user-mode Linux uses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ptrace {
    /// That of its C library, as it was built.
    Libc,
    /// Fairlane's, preloaded, which sets all of a process's extended registers.
    Whole,
}

impl Ptrace {
    /// As the memory of trials names it.
    fn word(self) -> &'static str {
        match self {
            Ptrace::Libc => "libc",
            Ptrace::Whole => "whole",
        }
    }
}

/// What a trial found: which `ptrace`, or why no program runs.
type Found = Result<Ptrace, String>;

/// What this process tried, by kernel.
static FOUND: Mutex<BTreeMap<PathBuf, Found>> = Mutex::new(BTreeMap::new());

/// Which `ptrace` a kernel needs here. It is tried once by a boot without disks, first with the one of its C library,
/// and remembered by kernel, CPU and the host's kernel; that it does not run at all only until the machine's next
/// boot. `program` is Fairlane's own.
///
/// # Errors
/// [`LaneFailure::Failed`] with what the guest's kernel said, [`LaneFailure::Interrupted`].
pub fn ptrace_for(kernel: &Kernel, program: &Path, stop: &AtomicBool) -> Result<Ptrace, LaneFailure> {
    let found = known(kernel);
    let found = match found {
        Some(found) => found,
        None => try_boots(kernel, program, stop)?,
    };
    found.map_err(|why| {
        failed(format!(
            "user-mode Linux runs no program on this machine ({why}); `fairlane doctor` tries again; race in QEMU \
             with --on qemu, or in a directory: fairlane race /some/directory"
        ))
    })
}

/// [`ptrace_for`], tried whatever is remembered.
///
/// # Errors
/// As there.
pub fn try_again(kernel: &Kernel, program: &Path, stop: &AtomicBool) -> Result<Ptrace, String> {
    try_boots(kernel, program, stop).unwrap_or_else(|failure| Err(failure.to_string()))
}

fn known(kernel: &Kernel) -> Option<Found> {
    let found = FOUND.lock().unwrap_or_else(PoisonError::into_inner).get(&kernel.path).cloned();
    found.or_else(|| remembered(kernel))
}

/// Whether a trial is known to have run no program.
pub(crate) fn is_refused(kernel: &Kernel) -> bool {
    matches!(known(kernel), Some(Err(_)))
}

/// Boots with each `ptrace` until a program runs. Only an interruption, or a machine that cannot start the trial, is an
/// error.
fn try_boots(kernel: &Kernel, program: &Path, stop: &AtomicBool) -> Result<Found, LaneFailure> {
    let mut found = Err(String::new());
    // A machine that was too busy for a boot is not judged by it for long.
    let mut in_time = true;
    for ptrace in [Ptrace::Libc, Ptrace::Whole] {
        let begun = Instant::now();
        let tried = boot(kernel, program, ptrace, stop)?;
        in_time &= begun.elapsed() < PATIENCE;
        match tried {
            Ok(()) => {
                found = Ok(ptrace);
                break;
            }
            // What it says without help is the machine's own fault.
            Err(why) if ptrace == Ptrace::Libc => found = Err(why),
            Err(_) => {}
        }
    }
    if in_time {
        remember(kernel, &found);
    }
    FOUND.lock().unwrap_or_else(PoisonError::into_inner).insert(kernel.path.clone(), found.clone());
    Ok(found)
}

/// One boot: whether its first process spoke, or the last words of its kernel.
fn boot(kernel: &Kernel, program: &Path, ptrace: Ptrace, stop: &AtomicBool) -> Result<Result<(), String>, LaneFailure> {
    let folder = new_folder().map_err(|error| cannot("make a folder for a trial of user-mode Linux", error))?;
    let started = begin(kernel, program, ptrace, &folder);
    let mut keeper = match started {
        Ok(keeper) => keeper,
        Err(error) => {
            let _ = std::fs::remove_dir_all(&folder);
            return Err(error);
        }
    };
    let heard = hear(&mut keeper, stop);
    // The keeper ends the guest and removes the folder.
    let _ = kill_process(Pid::from_child(&keeper), Signal::TERM);
    let _ = keeper.wait();
    let _ = std::fs::remove_dir_all(&folder);
    heard
}

fn begin(kernel: &Kernel, program: &Path, ptrace: Ptrace, folder: &Path) -> Result<Child, LaneFailure> {
    let initramfs = folder.join("initramfs");
    write_initramfs(&initramfs).map_err(|error| cannot("make the memory image of a trial", error))?;
    let text = |path: &Path| path.to_string_lossy().into_owned();
    let command = [
        text(&kernel.path),
        format!("uml_dir={}", text(folder)),
        "umid=trial".to_owned(),
        format!("mem={MEMORY_MIB}M"),
        format!("initrd={}", text(&initramfs)),
        "rdinit=/init".to_owned(),
        "con=null".to_owned(),
        "con0=null,fd:1".to_owned(),
        "ssl=null".to_owned(),
        "quiet".to_owned(),
    ];
    start_keeper(program, folder, &command, Keeping { apart: false, ptrace })
}

fn write_initramfs(to: &Path) -> io::Result<()> {
    let mut archive = Archive::new(File::create_new(to)?);
    archive.character("/dev/console", 5, 1)?;
    archive.file("/init", 0o755, INIT)?;
    archive.finish().map(|_| ())
}

/// How old the folder of a trial is that nobody will remove any more: its process was killed, and its keeper too.
const ABANDONED: Duration = Duration::from_secs(600);
/// How those folders' names begin.
const FOLDER_PREFIX: &str = "fairlane-trial-";

/// Removes what killed trials of this user left.
fn sweep(folders: &Path) {
    let user = rustix::process::geteuid().as_raw();
    for entry in std::fs::read_dir(folders).into_iter().flatten().flatten() {
        let is_trial = entry.file_name().as_encoded_bytes().starts_with(FOLDER_PREFIX.as_bytes());
        let Some(found) = is_trial.then(|| entry.metadata().ok()).flatten() else { continue };
        let old = found.modified().ok().and_then(|at| at.elapsed().ok()).is_some_and(|age| age > ABANDONED);
        // The look was at the entry itself: a link is no folder.
        if old && found.is_dir() && found.uid() == user {
            let _ = std::fs::remove_dir_all(entry.path());
        }
    }
}

/// A folder that nobody else has, below the one for temporary files.
fn new_folder() -> io::Result<PathBuf> {
    let place = crate::host::temporary_folder();
    sweep(&place);
    let mut bytes = [0; 8];
    rustix::rand::getrandom(&mut bytes, rustix::rand::GetRandomFlags::empty())?;
    let folder = place.join(format!("{FOLDER_PREFIX}{:016x}", u64::from_ne_bytes(bytes)));
    DirBuilder::new().mode(0o700).create(&folder)?;
    Ok(folder)
}

/// Listens until the first process spoke, the guest ended or the patience did.
fn hear(keeper: &mut Child, stop: &AtomicBool) -> Result<Result<(), String>, LaneFailure> {
    let (line, lines) = channel();
    let mut pipes: Vec<Box<dyn Read + Send>> = Vec::new();
    pipes.extend(keeper.stdout.take().map(|pipe| Box::new(pipe) as Box<dyn Read + Send>));
    pipes.extend(keeper.stderr.take().map(|pipe| Box::new(pipe) as Box<dyn Read + Send>));
    for pipe in pipes {
        let line = line.clone();
        let read = move || {
            for text in BufReader::new(pipe).split(b'\n').map_while(Result::ok) {
                if line.send(String::from_utf8_lossy(&text).trim().to_owned()).is_err() {
                    return;
                }
            }
        };
        std::thread::Builder::new().spawn(read).map_err(|error| cannot("start a thread", error))?;
    }
    drop(line);
    let begun = Instant::now();
    let mut panic = None;
    loop {
        if stop.load(Ordering::Relaxed) {
            return Err(LaneFailure::Interrupted);
        }
        match lines.recv_timeout(Duration::from_millis(20)) {
            Ok(text) if text.contains(SAYS) => return Ok(Ok(())),
            Ok(text) if panic.is_none() && text.contains("Kernel panic") => {
                panic = Some(model::text::escaped(text.trim_start_matches("<0>").as_bytes()));
            }
            Ok(_) => {}
            Err(RecvTimeoutError::Disconnected) => {
                return Ok(Err(panic.unwrap_or_else(|| "it ended without a word".to_owned())));
            }
            Err(RecvTimeoutError::Timeout) if begun.elapsed() > PATIENCE => {
                return Ok(Err(panic.unwrap_or_else(|| format!("nothing ran within {} s", PATIENCE.as_secs()))));
            }
            Err(RecvTimeoutError::Timeout) => {}
        }
    }
}

/// The preloaded `ptrace` as a file that no path names: nobody can put another in its place, and no mount option
/// forbids to run it.
///
/// # Errors
/// The kernel's.
pub(super) fn preloaded() -> io::Result<OwnedFd> {
    let name = c"fairlane-ptrace";
    // Kernels before 6.3 do not know the flag, and need none.
    let memory = rustix::fs::memfd_create(name, MemfdFlags::EXEC | MemfdFlags::CLOEXEC)
        .or_else(|_| rustix::fs::memfd_create(name, MemfdFlags::empty()))?;
    let mut file = File::from(memory);
    file.write_all(PTRACE)?;
    Ok(file.into())
}

/// What a trial depends on: the guest's kernel, the CPU with all that it can do, and the host's kernel, which takes or
/// refuses registers.
fn machine(kernel: &Kernel) -> Option<String> {
    let text = std::fs::read_to_string("/proc/cpuinfo").ok()?;
    let first = text.split("\n\n").next()?;
    let kinds = ["vendor_id", "cpu family", "model", "stepping", "flags"];
    let facts =
        first.lines().filter(|line| kinds.iter().any(|kind| line.split(':').next().map(str::trim) == Some(kind)));
    let cpu = hash(facts.collect::<Vec<_>>().join("\n").as_bytes());
    let release = rustix::system::uname().release().to_string_lossy().into_owned();
    Some(format!("{} {cpu} {}", kernel.build().ok()?, hash(release.as_bytes())))
}

fn this_boot() -> String {
    std::fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default().trim().to_owned()
}

/// The file of what trials found: root's lies where only root writes, everybody else's among their own caches. `None`:
/// this user has no such place.
pub fn memory_of_trials() -> Option<PathBuf> {
    if crate::host::is_root() {
        return Some(PathBuf::from("/var/cache/fairlane/uml-trials"));
    }
    let absolute = |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let cache = absolute("XDG_CACHE_HOME").or_else(|| absolute("HOME").map(|home| home.join(".cache")))?;
    Some(cache.join("fairlane/uml-trials"))
}

fn remembered(kernel: &Kernel) -> Option<Found> {
    let mut text = String::new();
    let file = File::options().read(true).custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK).open(memory_of_trials()?);
    file.ok()?.take(MOST_BYTES).read_to_string(&mut text).ok()?;
    find(&text, &machine(kernel)?, &this_boot())
}

/// Each line: the machine (three words), `libc`, `whole` or the boot in which nothing ran, and then why.
fn find(text: &str, machine: &str, boot: &str) -> Option<Found> {
    let told = text.lines().rev().find_map(|line| line.strip_prefix(machine)?.strip_prefix(' '))?;
    let (word, why) = told.split_once(' ').unwrap_or((told, ""));
    match [Ptrace::Libc, Ptrace::Whole].into_iter().find(|ptrace| ptrace.word() == word) {
        Some(ptrace) => Some(Ok(ptrace)),
        None if word == boot && !boot.is_empty() => Some(Err(model::text::escaped(why.as_bytes()))),
        None => None,
    }
}

/// Whoever cannot remember tries again the next time.
fn remember(kernel: &Kernel, found: &Found) {
    let Some((path, machine)) = memory_of_trials().zip(machine(kernel)) else { return };
    let Some(folder) = path.parent() else { return };
    let told = match found {
        Ok(ptrace) => ptrace.word().to_owned(),
        Err(why) => format!("{} {why}", this_boot()),
    };
    let old = std::fs::read_to_string(&path).unwrap_or_default();
    let kept = old.lines().filter(|line| !line.starts_with(&machine)).take(99);
    let text: String = kept.map(str::to_owned).chain([format!("{machine} {told}")]).map(|line| line + "\n").collect();
    let new = path.with_extension(format!("{}", std::process::id()));
    // Of a process that was killed and had the same number.
    let _ = std::fs::remove_file(&new);
    let _ = DirBuilder::new().recursive(true).mode(0o700).create(folder);
    let written = File::create_new(&new).and_then(|mut file| file.write_all(text.as_bytes()));
    if written.and_then(|()| std::fs::rename(&new, &path)).is_err() {
        let _ = std::fs::remove_file(&new);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_trial_found_holds_for_its_kernel_and_cpu_and_a_failure_until_the_next_boot() {
        let text = "k c h libc\nk c2 h boot-a Kernel panic - not syncing\nk c h whole\n";
        assert_eq!(find(text, "k c h", "boot-a"), Some(Ok(Ptrace::Whole)), "the newest counts");
        assert_eq!(find(text, "k c2 h", "boot-a"), Some(Err("Kernel panic - not syncing".to_owned())));
        assert_eq!(find(text, "k c2 h", "boot-b"), None);
        assert_eq!(find(text, "k c", "boot-a"), None, "a part of a machine is none");
        assert_eq!(find("k c h  \u{1b}[31m", "k c h", ""), None);
    }

    #[test]
    fn folders_of_trials_that_were_killed_go_and_no_others() {
        let top = std::env::temp_dir().join(format!("fairlane-sweep-{}", std::process::id()));
        let elsewhere = top.join("elsewhere");
        let age = |path: &Path, seconds: u64| {
            let then = std::time::SystemTime::now() - Duration::from_secs(seconds);
            File::open(path).unwrap().set_modified(then).unwrap();
        };
        for (name, seconds) in [("fairlane-trial-a", 700), ("fairlane-trial-b", 60), ("other", 700), ("elsewhere", 700)]
        {
            std::fs::create_dir_all(top.join(name).join("in")).unwrap();
            age(&top.join(name), seconds);
        }
        std::os::unix::fs::symlink(&elsewhere, top.join("fairlane-trial-link")).unwrap();
        sweep(&top);
        let left: Vec<bool> = ["fairlane-trial-a", "fairlane-trial-b", "other", "elsewhere/in"]
            .map(|name| top.join(name).exists())
            .into();
        std::fs::remove_dir_all(&top).unwrap();
        assert_eq!(left, [false, true, true, true]);
    }

    #[test]
    fn the_preloaded_library_and_the_first_process_are_programs_of_this_machine() {
        if cfg!(target_arch = "x86_64") {
            assert!(PTRACE.starts_with(b"\x7fELF") && INIT.starts_with(b"\x7fELF"));
            assert!(PTRACE.len() + INIT.len() < 64 << 10, "{} {}", PTRACE.len(), INIT.len());
            assert!(INIT.windows(SAYS.len()).any(|window| window == SAYS.as_bytes()));
        }
    }
}
