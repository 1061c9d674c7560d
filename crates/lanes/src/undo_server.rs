//! Ending a server that a dead run left in a lane.
//!
//! It dies with the process that started it; this is for the moment before, and for a server that outlived it
//! all the same.

use crate::failure::{LaneFailure, cannot, failed};
use crate::undo::{is_run_id, start_ticks};
use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};
use std::io::Read;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::time::{Duration, Instant};

/// How long a killed server may take to let go of its files.
const PATIENCE: Duration = Duration::from_secs(15);
/// How long it may take to end by itself before it is killed.
const QUIT: Duration = Duration::from_secs(5);

/// Ends the server whose id is noted there, and removes the note; answers what was done. A number of another
/// boot is somebody else's.
pub(crate) fn end(note: &Path, run_id: &str, this_boot: bool) -> Result<Vec<String>, LaneFailure> {
    let name = note.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    let lane = name.strip_prefix(run_id).and_then(|rest| rest.strip_prefix('.')?.strip_suffix(".server"));
    if !is_run_id(run_id) || lane.is_none_or(|lane| lane.is_empty() || !lane.bytes().all(|byte| byte.is_ascii_digit()))
    {
        return Err(failed(format!(
            "the undo journal names {}, which is no note of its run; remove it",
            note.display()
        )));
    }
    let text = match bounded(note) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(cannot(format!("read {}", note.display()), error)),
    };
    // A note that was cut short belongs to a server that died with its parent.
    let noted = read(&text).filter(|_| this_boot);
    let cleaned = noted.map(|(pid, start)| kill(pid, start)).transpose()?.flatten();
    std::fs::remove_file(note).map_err(|error| cannot(format!("remove {}", note.display()), error))?;
    Ok(cleaned.into_iter().collect())
}

/// A note is two numbers; whatever else lies there is not read to its end.
fn bounded(note: &Path) -> std::io::Result<String> {
    let flags = libc::O_NOFOLLOW | libc::O_NONBLOCK;
    let file = std::fs::OpenOptions::new().read(true).custom_flags(flags).open(note)?;
    let mut bytes = Vec::new();
    file.take(64).read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

fn read(text: &str) -> Option<(u32, u64)> {
    let (pid, start) = text.strip_suffix('\n')?.split_once(' ')?;
    Some((pid.parse().ok()?, start.parse().ok()?))
}

/// Kills the process of that number if it began at that tick.
fn kill(number: u32, start: u64) -> Result<Option<String>, LaneFailure> {
    let is_it = || start_ticks(number) == Some(start);
    let Some(pid) = i32::try_from(number).ok().and_then(Pid::from_raw) else { return Ok(None) };
    let Ok(handle) = pidfd_open(pid, PidfdFlags::empty()) else { return Ok(None) };
    // The handle keeps the number from meaning another process from here on.
    if !is_it() {
        return Ok(None);
    }
    let send = |signal: Signal| match pidfd_send_signal(&handle, signal) {
        Ok(()) | Err(rustix::io::Errno::SRCH) => Ok(()),
        Err(errno) => Err(cannot(format!("end the server {number}"), errno)),
    };
    // PostgreSQL then ends its own processes and gives its shared memory back.
    send(Signal::QUIT)?;
    let asked = Instant::now();
    while is_it() && asked.elapsed() < QUIT {
        std::thread::sleep(Duration::from_millis(10));
    }
    send(Signal::KILL)?;
    let begun = Instant::now();
    while is_it() {
        if begun.elapsed() > PATIENCE {
            return Err(failed(format!("the server {number} does not end; wait for it, then run `fairlane clean`")));
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    Ok(Some(format!("ended the server {number}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_noted_process_is_ended_and_another_of_its_number_is_not() {
        let folder = std::path::PathBuf::from(format!("/var/tmp/fairlane-note-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let note = folder.join("r.0.server");
        let mut child = std::process::Command::new("sleep").arg("600").spawn().unwrap();
        let start = start_ticks(child.id()).unwrap();
        std::fs::write(&note, format!("{} {}\n", child.id(), start + 1)).unwrap();
        assert_eq!(end(&note, "r", true).unwrap(), Vec::<String>::new());
        assert!(matches!(child.try_wait(), Ok(None)), "it began at another time");
        assert!(!note.exists());
        std::fs::write(&note, format!("{} {start}\n", child.id())).unwrap();
        assert_eq!(end(&note, "r", false).unwrap(), Vec::<String>::new());
        assert!(matches!(child.try_wait(), Ok(None)), "the note is of another boot");
        assert!(!note.exists());
        std::fs::write(&note, format!("{} {start}\n", child.id())).unwrap();
        assert_eq!(end(&note, "r", true).unwrap(), [format!("ended the server {}", child.id())]);
        assert!(!child.wait().unwrap().success() && !note.exists());
        assert_eq!(end(&note, "r", true).unwrap(), Vec::<String>::new(), "nothing is there");
        std::fs::remove_dir(&folder).unwrap();
    }

    #[test]
    fn only_notes_of_the_run_are_read() {
        for bad in ["/etc/passwd", "/tmp/other.0.server", "/tmp/r.x.server", "/tmp/r..server", "/tmp/r.0.jsonl"] {
            assert!(end(Path::new(bad), "r", true).is_err(), "{bad}");
        }
        assert_eq!(["12 34\n", "12 34", "12\n", ""].map(read), [Some((12, 34)), None, None, None]);
    }
}
