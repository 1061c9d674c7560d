//! What is left of a guest whose race and whose keeper were both killed.

use super::kernel::UML;
use crate::architecture::ARCHITECTURES;
use crate::failure::{LaneFailure, failed};
use rustix::process::{Pid, Signal, kill_process};
use std::path::Path;
use std::time::{Duration, Instant};

/// How long killed processes may take to go.
const PATIENCE: Duration = Duration::from_secs(5);

/// Kills what runs for a guest in this folder, whose name holds the run's own number, and began at `ticks`
/// (field 22 of /proc/PID/stat) or later; of the guest's own session also what names no folder.
///
/// # Errors
/// [`LaneFailure::Failed`] where some stay.
pub(crate) fn end(ticks: u64, folder: &Path, session: Option<u32>) -> Result<Vec<String>, LaneFailure> {
    let begun = Instant::now();
    let mut killed = false;
    loop {
        let left = processes(ticks, folder, session);
        if left.is_empty() {
            return Ok(if killed { vec!["ended a guest".to_owned()] } else { Vec::new() });
        }
        if begun.elapsed() > PATIENCE {
            return Err(failed(format!("processes of a guest stay ({left:?}); end them with kill -9")));
        }
        for pid in left {
            let _ = kill_process(pid, Signal::KILL);
        }
        killed = true;
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// A process as /proc/PID/stat shows it.
struct Process {
    pid: Pid,
    session: u32,
    start: u64,
}

/// The guest's program and its keeper name the folder; what the guest runs has no command line of its own, but
/// the program and the session of the guest.
fn processes(ticks: u64, folder: &Path, session: Option<u32>) -> Vec<Pid> {
    let entries = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let all: Vec<Process> = entries
        .filter_map(|entry| read(entry.file_name().to_str()?.parse().ok()?))
        .filter(|process| process.start >= ticks)
        .collect();
    let named: Vec<&Process> = all
        .iter()
        .filter(|process| {
            names(process.pid, folder) && (runs_guest(process.pid) || names(process.pid, Path::new("guest-keeper")))
        })
        .collect();
    // A session whose leader is somebody else's is another one by now.
    let session = session.filter(|&session| {
        let leader = all.iter().find(|process| process.pid.as_raw_nonzero().get() as u32 == session);
        leader.is_none_or(|leader| names(leader.pid, folder))
    });
    let of_session = |process: &&Process| {
        let same = |other: &&Process| other.session == process.session && runs_guest(other.pid);
        (named.iter().any(same) || session == Some(process.session)) && runs_guest(process.pid)
    };
    let mut pids: Vec<Pid> = all.iter().filter(of_session).map(|process| process.pid).collect();
    pids.extend(named.iter().map(|process| process.pid));
    pids
}

/// The session of what a keeper keeps: of its first child. `None`: it has none yet.
pub(crate) fn session_below(keeper: u32) -> Option<u32> {
    let children = std::fs::read_to_string(format!("/proc/{keeper}/task/{keeper}/children")).ok()?;
    children.split_whitespace().find_map(|pid| Some(read(pid.parse().ok()?)?.session))
}

/// Field 6 is the session, field 22 the start, behind the name, which may hold anything. A zombie is gone.
fn read(pid: u32) -> Option<Process> {
    let stat = std::fs::read(format!("/proc/{pid}/stat")).ok()?;
    let behind = String::from_utf8_lossy(&stat[stat.iter().rposition(|&byte| byte == b')')? + 1..]).into_owned();
    let fields: Vec<&str> = behind.split_whitespace().collect();
    (*fields.first()? != "Z").then_some(())?;
    Some(Process {
        pid: Pid::from_raw(i32::try_from(pid).ok()?)?,
        session: fields.get(3)?.parse().ok()?,
        start: fields.get(19)?.parse().ok()?,
    })
}

fn runs_guest(pid: Pid) -> bool {
    let program = std::fs::read_link(format!("/proc/{}/exe", pid.as_raw_nonzero())).unwrap_or_default();
    let emulators = ARCHITECTURES.iter().map(|row| row.emulator);
    program.file_name().is_some_and(|name| emulators.chain([UML]).any(|program| *name == *program))
}

/// Whether a process' command line names something.
fn names(pid: Pid, what: &Path) -> bool {
    let words = std::fs::read(format!("/proc/{}/cmdline", pid.as_raw_nonzero())).unwrap_or_default();
    let what = what.as_os_str().as_encoded_bytes();
    words.windows(what.len()).any(|window| window == what)
}
