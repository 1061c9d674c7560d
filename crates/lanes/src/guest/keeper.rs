//! The process between Fairlane and a guest: it ends every process of the guest when the guest or Fairlane
//! ends, however that happens. User-mode Linux that is killed leaves helpers behind that hold its memory.

use super::uml;
use rustix::process::{Pid, Signal, WaitOptions, kill_process, wait, waitpid};
use std::ffi::OsString;
use std::os::fd::AsRawFd;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::PathBuf;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// From one look at the guest and at Fairlane to the next.
const INTERVAL: Duration = Duration::from_millis(20);

/// Where the channel is for a guest that prints on its standard output: numbers that nothing else has.
pub(crate) const CHANNEL_FROM_HOST: i32 = 100;
/// The other direction.
pub(crate) const CHANNEL_TO_HOST: i32 = 101;
/// Where a preloaded library is.
const PRELOADED: i32 = 102;

/// Runs a guest to its end and answers its exit status as a shell would. `stop` is set when SIGTERM comes,
/// which the kernel sends when Fairlane is gone; `parent` is Fairlane, and `folder` goes with the guest. With
/// `apart` the channel, standard input and output here, gets numbers of its own, and what the guest prints
/// goes where its errors go. With `whole_registers` user-mode Linux sets all extended registers of its processes.
///
/// # Errors
/// When the guest cannot be started.
pub fn keep(
    parent: u32,
    folder: &PathBuf,
    command: &[OsString],
    apart: bool,
    whole_registers: bool,
    stop: &Arc<AtomicBool>,
) -> Result<u8, String> {
    let own = |error: rustix::io::Errno| error.to_string();
    match rustix::process::set_child_subreaper(Some(rustix::process::getpid())) {
        // QEMU leaves no orphans, and qemu-user, in which this program may run, knows no such call.
        Err(rustix::io::Errno::INVAL) if !apart => {}
        other => other.map_err(own)?,
    }
    rustix::process::set_parent_process_death_signal(Some(Signal::TERM)).map_err(own)?;
    let (program, arguments) = command.split_first().ok_or("there is no guest to keep")?;
    let me = rustix::process::getpid();
    let mut guest = Command::new(program);
    guest.args(arguments);
    // It stays open until the guest has it.
    let preloaded = whole_registers.then(uml::preloaded).transpose().map_err(|error| error.to_string())?;
    let preloaded_number = preloaded.as_ref().map(AsRawFd::as_raw_fd);
    if preloaded.is_some() {
        guest.env("LD_PRELOAD", format!("/proc/self/fd/{PRELOADED}"));
    }
    let nothing = std::fs::File::open("/dev/null").map_err(|error| error.to_string())?;
    let nothing_number = nothing.as_raw_fd();
    // SAFETY: between fork and exec only the async-signal-safe calls prctl, getppid and dup2 are made, the
    // latter with numbers that stay open until then.
    unsafe {
        guest.pre_exec(move || {
            if let Some(number) = preloaded_number {
                put(number, PRELOADED)?;
            }
            if apart {
                for (from, to) in [(0, CHANNEL_FROM_HOST), (1, CHANNEL_TO_HOST), (nothing_number, 0), (2, 1)] {
                    put(from, to)?;
                }
            }
            rustix::process::set_parent_process_death_signal(Some(Signal::KILL))?;
            match rustix::process::getppid() == Some(me) {
                true => Ok(()),
                false => Err(rustix::io::Errno::SRCH.into()),
            }
        });
    }
    let child = guest.spawn().map_err(|error| format!("{}: {error}", program.to_string_lossy()))?;
    let child = Pid::from_child(&child);
    let_go_of_the_channel();
    let is_orphan = || rustix::process::getppid().is_none_or(|pid| pid.as_raw_nonzero().get() as u32 != parent);
    let status = loop {
        match wait(WaitOptions::NOHANG) {
            Ok(Some((pid, status))) if pid == child => break Some(status),
            // A helper of the guest that was orphaned.
            Ok(Some(_)) => continue,
            Ok(None) => {}
            Err(_) => break None,
        }
        if stop.load(Ordering::Relaxed) || is_orphan() {
            let _ = kill_process(child, Signal::KILL);
            break waitpid(Some(child), WaitOptions::empty()).ok().flatten().map(|(_, status)| status);
        }
        std::thread::sleep(INTERVAL);
    };
    end_the_rest();
    let _ = std::fs::remove_dir_all(folder);
    let status = status.map(|status| std::process::ExitStatus::from_raw(status.as_raw()));
    Ok(match status.map(|status| (status.code(), status.signal())) {
        Some((Some(code), _)) => code as u8,
        Some((None, Some(signal))) => 128 + signal as u8,
        _ => 255,
    })
}

/// Makes a file available by another number, without allocating: for between fork and exec.
fn put(from: i32, to: i32) -> std::io::Result<()> {
    // SAFETY: dup2 takes two numbers; what had the second is closed, which nobody uses there.
    match unsafe { libc::dup2(from, to) } {
        -1 => Err(std::io::Error::last_os_error()),
        _ => Ok(()),
    }
}

/// Whoever waits for the guest's end at the other ends must not wait for ours.
fn let_go_of_the_channel() {
    if let Ok(nothing) = std::fs::OpenOptions::new().read(true).write(true).open("/dev/null") {
        for standard in 0..3 {
            // SAFETY: dup2 takes two numbers; nothing here reads or writes these three any more.
            unsafe { libc::dup2(nothing.as_raw_fd(), standard) };
        }
    }
}

/// As the reaper of all that the guest started, its processes are our children now: none stays.
fn end_the_rest() {
    loop {
        for pid in children() {
            let _ = kill_process(pid, Signal::KILL);
        }
        match wait(WaitOptions::empty()) {
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(_) => return,
        }
    }
}

fn children() -> Vec<Pid> {
    let me = std::process::id();
    let text = std::fs::read_to_string(format!("/proc/{me}/task/{me}/children")).unwrap_or_default();
    text.split_whitespace().filter_map(|pid| Pid::from_raw(pid.parse().ok()?)).collect()
}
