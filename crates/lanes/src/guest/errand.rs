//! A command of Fairlane's own that runs in a guest as it would on a machine: what it says is fetched piece by piece.

use crate::failure::{LaneFailure, cannot, failed};
use rustix::process::{Pid, Signal, kill_process};
use std::fs::File;
use std::os::unix::fs::FileExt as _;
use std::os::unix::process::ExitStatusExt as _;
use std::path::Path;
use std::process::{Child, Command, Stdio};

/// Bytes of what it says that one answer holds at most.
const MOST_BYTES: usize = 16 << 10;
/// Where what it says lies until it is fetched.
const SAID: &str = "/run/errand";

/// Where udev keeps names that stay with a disk, and what guests call theirs.
const BY_ID: &str = "/dev/disk/by-id";
const DISKS: [&str; 2] = ["ubd", "vd"];

/// A command under way, or ended.
pub(super) struct Errand {
    child: Child,
    said: File,
}

impl Errand {
    /// Starts it. What it prints for programs is dropped, what it says to people is kept.
    ///
    /// # Errors
    /// When it cannot be started.
    pub(super) fn start(arguments: &[String]) -> Result<Errand, LaneFailure> {
        let make = || {
            name_disks()?;
            let said = File::options().read(true).write(true).create(true).truncate(true).open(SAID)?;
            let mut command = Command::new("/proc/self/exe");
            command.args(arguments).env("HOME", "/run").env("LC_ALL", "C");
            command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(said.try_clone()?);
            super::worker::as_others_are_killed(&mut command);
            Ok(Errand { child: command.spawn()?, said })
        };
        make().map_err(|error: std::io::Error| cannot("start a command", error))
    }

    /// What it said from a byte on, how many bytes that is, and once it has ended and all is told its exit status.
    ///
    /// # Errors
    /// When what it said cannot be read.
    pub(super) fn said(&mut self, from: u64) -> Result<(String, u64, Option<i32>), LaneFailure> {
        // Asked first: what it says last is there then.
        let ended = self.child.try_wait().map_err(|error| cannot("wait for a command", error))?;
        let mut buffer = vec![0; MOST_BYTES];
        let count = self.said.read_at(&mut buffer, from).map_err(|error| cannot("read what a command said", error))?;
        buffer.truncate(count);
        // A letter that the piece ends in is told with the next one.
        let is_last = count < MOST_BYTES;
        let cut = std::str::from_utf8(&buffer).err().filter(|error| error.error_len().is_none() && count == MOST_BYTES);
        let count = cut.map_or(count, |error| error.valid_up_to());
        buffer.truncate(count);
        let status = ended.filter(|_| is_last);
        let status = status.map(|status| status.code().unwrap_or_else(|| 128 + status.signal().unwrap_or(0)));
        Ok((String::from_utf8_lossy(&buffer).into_owned(), count as u64, status))
    }

    /// Sends it a signal, where it has not ended.
    ///
    /// # Errors
    /// When the kernel refuses it.
    pub(super) fn stop(&mut self, signal: Signal) -> Result<(), LaneFailure> {
        match self.child.try_wait() {
            Ok(None) => kill_process(Pid::from_child(&self.child), signal)
                .map_err(|error| failed(format!("cannot stop a command: {error}"))),
            _ => Ok(()),
        }
    }
}

/// Gives the guest's disks the names that udev would: `/dev/disk/by-id/guest-ubdb`. They stay, because the disks of a guest are
/// its own.
fn name_disks() -> std::io::Result<()> {
    std::fs::create_dir_all(BY_ID)?;
    for disk in std::fs::read_dir("/sys/block")?.flatten() {
        let name = disk.file_name().to_string_lossy().into_owned();
        let link = Path::new(BY_ID).join(format!("guest-{name}"));
        if DISKS.iter().any(|of| name.starts_with(of)) && link.symlink_metadata().is_err() {
            std::os::unix::fs::symlink(Path::new("/dev").join(name), link)?;
        }
    }
    Ok(())
}
