//! What lay under a path before the program touched it. Where a program or another machine answers, a thread of its own asks: the
//! program itself may serve that filesystem, and is stopped meanwhile.

use model::text::mount_word;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use std::ffi::OsString;
use std::fs::File;
use std::os::unix::ffi::OsStringExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;

/// How long an answer is waited for.
const PATIENCE: Duration = Duration::from_millis(500);

/// What is there; zeros where nothing is.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Found {
    /// Type and permissions.
    pub(crate) mode: u32,
    /// Of a file.
    pub(crate) bytes: u64,
    /// What a symbolic link says.
    pub(crate) link: Option<PathBuf>,
}

/// Filesystems whose answers come from a program or another machine.
const FAR: [&str; 10] = ["fuse", "fuseblk", "nfs", "nfs4", "autofs", "cifs", "smb3", "9p", "ceph", "afs"];
const MOUNTS: &str = "/proc/self/mountinfo";

/// Who asks.
pub(crate) struct Before {
    /// `None`: one answer did not come, and nobody is asked any more.
    asked: Option<(Sender<PathBuf>, Receiver<Found>)>,
    /// Tells when a filesystem is mounted or unmounted.
    mounts: Option<File>,
    /// Where such filesystems are mounted.
    far: Vec<PathBuf>,
}

impl Before {
    pub(crate) fn new() -> Before {
        let (asks, questions) = channel::<PathBuf>();
        let (answers, answered) = channel();
        let work = move || {
            for path in questions {
                if answers.send(found(&path)).is_err() {
                    return;
                }
            }
        };
        let thread = std::thread::Builder::new().name("before".to_owned()).spawn(work);
        let mut before =
            Before { asked: thread.ok().map(|_| (asks, answered)), mounts: File::open(MOUNTS).ok(), far: Vec::new() };
        before.read_mounts();
        before
    }

    /// What is there. `None`: it is not known. `Err`: from now on nothing is.
    pub(crate) fn look(&mut self, path: &Path) -> Result<Option<Found>, ()> {
        if self.are_other_mounts() {
            self.read_mounts();
        }
        if !self.far.iter().any(|mount| path.starts_with(mount)) {
            return Ok(Some(found(path)));
        }
        let Some((asks, answered)) = &self.asked else { return Ok(None) };
        let answer = asks.send(path.to_owned()).ok().and_then(|()| answered.recv_timeout(PATIENCE).ok());
        if answer.is_none() {
            self.asked = None;
            return Err(());
        }
        Ok(answer)
    }

    /// proc_pid_mounts(5): the file has something urgent to read once something was mounted or unmounted.
    fn are_other_mounts(&self) -> bool {
        let Some(mounts) = &self.mounts else { return true };
        let mut asked = [PollFd::new(mounts, PollFlags::PRI)];
        poll(&mut asked, Some(&Timespec { tv_sec: 0, tv_nsec: 0 })).is_ok_and(|ready| ready > 0)
    }

    fn read_mounts(&mut self) {
        let text = std::fs::read(MOUNTS).unwrap_or_default();
        self.far = text.split(|&byte| byte == b'\n').filter_map(far_mount).collect();
    }
}

/// Where a line of the mount table mounts a filesystem that is far.
fn far_mount(line: &[u8]) -> Option<PathBuf> {
    let words: Vec<&[u8]> = line.split(|&byte| byte == b' ').collect();
    let dash = words.iter().position(|word| *word == b"-")?;
    let kind = std::str::from_utf8(words.get(dash + 1)?).ok()?;
    let is_far = FAR.contains(&kind) || kind.starts_with("fuse.");
    let path = words.get(4).filter(|_| is_far)?;
    Some(PathBuf::from(OsString::from_vec(mount_word(path))))
}

fn found(path: &Path) -> Found {
    let Ok(of) = path.symlink_metadata() else { return Found::default() };
    let link = if of.is_symlink() { std::fs::read_link(path).ok() } else { None };
    Found { mode: of.mode(), bytes: if of.is_file() { of.len() } else { 0 }, link }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_there_and_what_is_not_is_answered() {
        let mut before = Before::new();
        let folder = std::env::temp_dir();
        let of = before.look(&folder).unwrap().unwrap();
        assert_eq!((of.mode & 0o170_000, of.bytes, of.link), (0o040_000, 0, None));
        let of = before.look(Path::new("/proc/self")).unwrap().unwrap();
        assert_eq!(of.link, Some(PathBuf::from(std::process::id().to_string())));
        assert_eq!(before.look(Path::new("/no/such/file")), Ok(Some(Found::default())));
        // By the thread too.
        before.far.push(PathBuf::from("/"));
        assert_eq!(before.look(Path::new("/no/such/file")), Ok(Some(Found::default())));
        let line =
            |kind: &str| far_mount(format!("36 35 98:0 / /mnt/my\\040files rw - {kind} server:/x rw").as_bytes());
        assert_eq!(line("fuse.sshfs"), Some(PathBuf::from("/mnt/my files")));
        assert_eq!((line("nfs4").is_some(), line("ext4")), (true, None));
    }
}
