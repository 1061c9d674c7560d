//! Has a whole filesystem reach stable storage, and the one below it where the kernel does not pass that on.

use rustix::fs::{Mode, OFlags, fstat, fstatfs, open};
use rustix::io::Errno;
use std::ffi::OsString;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStringExt;
use std::path::PathBuf;

/// linux/magic.h, `ECRYPTFS_SUPER_MAGIC`.
const ECRYPTFS: u64 = 0xf15f;
const MOUNTS: &str = "/proc/self/mountinfo";

/// `syncfs` of the filesystem of an open directory. eCryptfs has no `sync_fs` of its own (fs/ecryptfs/super.c): what it wrote
/// lies in the page cache of the filesystem below then, which is synced too.
///
/// # Errors
/// What the kernel answers, such as an earlier failed writeback.
pub(crate) fn filesystem(directory: BorrowedFd) -> Result<(), Errno> {
    rustix::fs::syncfs(directory)?;
    if !is_ecryptfs(directory)? {
        return Ok(());
    }
    match below(directory) {
        Some(below) => rustix::fs::syncfs(&below),
        // It is not to be seen from here, lies under its own mount, or is another user's: then all that the machine has is synced.
        None => {
            rustix::fs::sync();
            Ok(())
        }
    }
}

/// The folder whose filesystem keeps what this one encrypts.
fn below(directory: BorrowedFd) -> Option<OwnedFd> {
    let device = fstat(directory).ok()?.st_dev;
    let number = format!("{}:{}", rustix::fs::major(device), rustix::fs::minor(device));
    let below = source_of(&std::fs::read(MOUNTS).ok()?, &number)?;
    let below = open(below, OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty()).ok()?;
    (!is_ecryptfs(below.as_fd()).ok()?).then_some(below)
}

fn is_ecryptfs(directory: BorrowedFd) -> Result<bool, Errno> {
    Ok(fstatfs(directory)?.f_type as u64 & 0xffff_ffff == ECRYPTFS)
}

/// What a mount table calls the source of the mounted filesystem of this number (proc_pid_mountinfo(5)).
fn source_of(mounts: &[u8], number: &str) -> Option<PathBuf> {
    let mut lines = mounts.split(|&byte| byte == b'\n').map(|line| line.split(|&byte| byte == b' '));
    let line = lines.find(|line| line.clone().nth(2) == Some(number.as_bytes()))?;
    let source = line.skip_while(|word| *word != b"-").nth(2)?;
    Some(PathBuf::from(OsString::from_vec(model::text::mount_word(source))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_filesystem_below_is_what_the_mount_table_names() {
        let table = b"26 1 254:1 / / rw,relatime shared:1 - ext4 /dev/vda1 rw\n\
            40 26 0:45 / /mnt/my\\040files rw - ecryptfs /srv/of\\040mine,\\134 rw,ecryptfs_sig=0\n";
        assert_eq!(source_of(table, "0:45").unwrap(), PathBuf::from("/srv/of mine,\\"));
        assert_eq!(source_of(table, "254:1").unwrap(), PathBuf::from("/dev/vda1"));
        assert_eq!(source_of(table, "0:4"), None);
        assert_eq!(source_of(b"1 2 0:4 / /", "0:4"), None);
    }

    #[test]
    fn a_filesystem_that_passes_it_on_is_synced_once() {
        let folder = std::fs::File::open(std::env::temp_dir()).unwrap();
        assert_eq!(filesystem(std::os::fd::AsFd::as_fd(&folder)), Ok(()));
    }
}
