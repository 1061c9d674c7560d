//! What is left of a guest whose race and whose keeper were both killed: processes of its session.

use crate::failure::{LaneFailure, failed};
use crate::undo::start_ticks;
use rustix::process::{Pid, Signal, kill_process};
use std::path::Path;
use std::time::{Duration, Instant};

/// How long killed processes may take to go.
const PATIENCE: Duration = Duration::from_secs(5);

/// What guests run as.
const PROGRAMS: [&str; 2] = ["linux.uml", "qemu-system-x86_64"];

/// Kills the processes of the session that `leader` began, where they are still the guest's: a number may
/// belong to another process by now. `folder` stands in the guest's own command line, or in its leader's.
///
/// # Errors
/// [`LaneFailure::Failed`] where some stay.
pub(crate) fn end(leader: u32, ticks: u64, folder: &Path) -> Result<Vec<String>, LaneFailure> {
    let begun = Instant::now();
    let mut killed = false;
    loop {
        // While a member lives, no other session can have the number; a leader that lives must be ours.
        let reused = start_ticks(leader).is_some_and(|now| now != ticks);
        let members: Vec<u32> = if reused { Vec::new() } else { members(leader, ticks) };
        if members.is_empty() || (!killed && !members.iter().any(|pid| names(*pid, folder))) {
            break;
        }
        for pid in &members {
            if let Some(pid) = i32::try_from(*pid).ok().and_then(Pid::from_raw) {
                let _ = kill_process(pid, Signal::KILL);
            }
        }
        killed = true;
        if begun.elapsed() > PATIENCE {
            return Err(failed(format!("processes of a guest stay (session {leader}); end them with kill -9")));
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    Ok(if killed { vec!["ended a guest".to_owned()] } else { Vec::new() })
}

/// Processes of a session that began with or after its leader. Field 6 of /proc/PID/stat is the session,
/// field 22 the start.
fn members(leader: u32, ticks: u64) -> Vec<u32> {
    let entries = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let of = |pid: u32| {
        let stat = std::fs::read(format!("/proc/{pid}/stat")).ok()?;
        let behind = String::from_utf8_lossy(&stat[stat.iter().rposition(|&byte| byte == b')')? + 1..]).into_owned();
        let fields: Vec<&str> = behind.split_whitespace().collect();
        let session: u32 = fields.get(3)?.parse().ok()?;
        let start: u64 = fields.get(19)?.parse().ok()?;
        (session == leader && start >= ticks && fields[0] != "Z").then_some(pid)
    };
    entries.filter_map(|entry| of(entry.file_name().to_str()?.parse().ok()?)).collect()
}

/// Whether a process is of a guest in this folder: its command line names the folder, or shows nothing because
/// it runs what the guest runs, and it is still the guest's program.
fn names(pid: u32, folder: &Path) -> bool {
    let program = std::fs::read_link(format!("/proc/{pid}/exe")).unwrap_or_default();
    if program.file_name().is_some_and(|name| PROGRAMS.iter().any(|program| *name == **program)) {
        return true;
    }
    let words = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    let folder = folder.as_os_str().as_encoded_bytes();
    words.windows(folder.len()).any(|window| window == folder)
}
