//! A mkfs of the table, or a checker, writes to its own devices and to nothing else: the kernel's own rule (Landlock),
//! behind the rules about words. Where the kernel has none, the rules about words stand alone.

use crate::failure::{LaneFailure, failed};
use rustix::fd::{AsFd, AsRawFd, FromRawFd, OwnedFd, RawFd};
use rustix::fs::{Mode, OFlags};
use std::path::Path;

// linux/landlock.h: its numbers are the kernel's interface.
const WRITE_FILE: u64 = 1 << 1;
const REMOVE_AND_MAKE: u64 = 0x1ff0; // From REMOVE_DIR (bit 4) to MAKE_SYM (bit 12).
const TRUNCATE: u64 = 1 << 14; // Since version 3.
const CREATE_RULESET_VERSION: u32 = 1;
const RULE_PATH_BENEATH: u32 = 1;

/// What every mkfs may write to beside its devices: where output goes that nobody wants, and how mkfs.btrfs tells the
/// kernel of a device.
const ALWAYS: [&str; 2] = ["/dev/null", "/dev/btrfs-control"];

#[repr(C)]
struct RulesetAttr {
    handled_access_fs: u64,
}

#[repr(C, packed)]
struct PathBeneathAttr {
    allowed_access: u64,
    parent_fd: RawFd,
}

/// What a child may write to.
#[derive(Debug)]
pub(crate) struct Confined {
    ruleset: OwnedFd,
}

impl Confined {
    /// To these files and devices alone; `None`: the kernel has no Landlock.
    ///
    /// # Errors
    /// [`LaneFailure::Failed`] where a kernel that has it cannot hold a process to that.
    pub(crate) fn to(writable: &[&Path]) -> Result<Option<Confined>, LaneFailure> {
        // SAFETY: with a null pointer, size 0 and this flag the call only answers a version.
        let version = unsafe {
            libc::syscall(
                libc::SYS_landlock_create_ruleset,
                std::ptr::null::<RulesetAttr>(),
                0usize,
                CREATE_RULESET_VERSION,
            )
        };
        if version < 1 {
            return Ok(None);
        }
        let cannot = || {
            let error = std::io::Error::last_os_error();
            failed(format!(
                "a program cannot be held to its own device: {error}; free memory and descriptors and run it again"
            ))
        };
        let truncate = if version >= 3 { TRUNCATE } else { 0 };
        let attr = RulesetAttr { handled_access_fs: WRITE_FILE | REMOVE_AND_MAKE | truncate };
        // SAFETY: the pointer is to a live structure of the size that is passed.
        let made = unsafe {
            libc::syscall(libc::SYS_landlock_create_ruleset, &raw const attr, size_of::<RulesetAttr>(), 0u32)
        };
        let fd = RawFd::try_from(made).ok().filter(|fd| *fd >= 0).ok_or_else(cannot)?;
        // SAFETY: the kernel just made this descriptor for us, and nobody else has it.
        let confined = Confined { ruleset: unsafe { OwnedFd::from_raw_fd(fd) } };
        for path in writable {
            confined.allow(path, WRITE_FILE | truncate).ok_or_else(cannot)?;
        }
        for path in ALWAYS {
            // Where it is not there, nobody opens it.
            let _ = confined.allow(Path::new(path), WRITE_FILE | truncate);
        }
        Ok(Some(confined))
    }

    /// To what lies below this folder, to make and remove too; `None`: the kernel has no Landlock.
    fn below(folder: &Path) -> Result<Option<Confined>, LaneFailure> {
        let Some(confined) = Confined::to(&[])? else { return Ok(None) };
        // A kernel that knows no right to cut files short refuses a rule with it.
        let all = WRITE_FILE | REMOVE_AND_MAKE;
        match confined.allow(folder, all | TRUNCATE).or_else(|| confined.allow(folder, all)) {
            Some(()) => Ok(Some(confined)),
            None => Err(failed(format!("cannot hold a thread to {}; run it again", folder.display()))),
        }
    }

    fn allow(&self, path: &Path, access: u64) -> Option<()> {
        let target = rustix::fs::open(path, OFlags::PATH | OFlags::CLOEXEC, Mode::empty()).ok()?;
        let attr = PathBeneathAttr { allowed_access: access, parent_fd: target.as_fd().as_raw_fd() };
        // SAFETY: the pointer is to a live structure of the type that this kind of rule has.
        let added = unsafe {
            libc::syscall(
                libc::SYS_landlock_add_rule,
                self.ruleset.as_raw_fd(),
                RULE_PATH_BENEATH,
                &raw const attr,
                0u32,
            )
        };
        (added == 0).then_some(())
    }

    /// The descriptor for [`confine`].
    pub(crate) fn as_raw(&self) -> RawFd {
        self.ruleset.as_raw_fd()
    }
}

/// Holds this process to a ruleset, for good. Only system calls: it may run between fork and exec.
///
/// # Errors
/// What the kernel answers.
pub(crate) fn confine(ruleset: RawFd) -> std::io::Result<()> {
    // SAFETY: both calls take numbers alone and change nothing but this process's own rights.
    let done = unsafe {
        libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0
            && libc::syscall(libc::SYS_landlock_restrict_self, ruleset, 0u32) == 0
    };
    if done { Ok(()) } else { Err(std::io::Error::last_os_error()) }
}

/// Holds this thread, for good, to changing files below this folder and nowhere else. Where the kernel has no Landlock,
/// nothing happens.
///
/// # Errors
/// [`LaneFailure::Failed`] where a kernel that has it cannot do so.
pub fn confine_this_thread(folder: &Path) -> Result<(), LaneFailure> {
    let Some(confined) = Confined::below(folder)? else { return Ok(()) };
    confine(confined.as_raw()).map_err(|error| failed(format!("cannot hold a thread to {}: {error}", folder.display())))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::command::run_confined;
    use std::path::PathBuf;
    use std::sync::atomic::AtomicBool;

    struct Folder(PathBuf);
    impl Drop for Folder {
        fn drop(&mut self) {
            let _ = std::fs::remove_dir_all(&self.0);
        }
    }

    #[test]
    fn a_confined_thread_changes_what_is_below_its_folder_and_nothing_else() {
        let folder = Folder(std::env::temp_dir().join(format!("fairlane-thread-{}", std::process::id())));
        let own = folder.0.join("own");
        std::fs::create_dir_all(&own).unwrap();
        let other = folder.0.join("other");
        std::fs::write(&other, "before").unwrap();
        if Confined::to(&[]).unwrap().is_none() {
            eprintln!("a confined thread: skipped, because this kernel has no Landlock");
            return;
        }
        std::thread::scope(|scope| {
            scope.spawn(|| {
                confine_this_thread(&own).unwrap();
                std::fs::write(own.join("a"), "x").unwrap();
                std::fs::write(own.join("a"), "").unwrap();
                std::fs::remove_file(own.join("a")).unwrap();
                assert!(std::fs::remove_file(&other).is_err());
                assert!(std::fs::File::options().write(true).open(&other).is_err());
                assert!(std::fs::write(folder.0.join("new"), "x").is_err());
                assert_eq!(std::fs::read(&other).unwrap(), b"before");
            });
        });
        std::fs::remove_file(&other).unwrap();
    }

    #[test]
    fn a_confined_program_writes_to_its_own_files_and_to_nothing_else() {
        let folder = Folder(std::env::temp_dir().join(format!("fairlane-confined-{}", std::process::id())));
        std::fs::create_dir(&folder.0).unwrap();
        let (own, other) = (folder.0.join("own"), folder.0.join("other"));
        for path in [&own, &other] {
            std::fs::write(path, "before").unwrap();
        }
        let Some(confined) = Confined::to(&[&own]).unwrap() else {
            eprintln!("a confined program: skipped, because this kernel has no Landlock");
            return;
        };
        let link = folder.0.join("link");
        std::os::unix::fs::symlink(&other, &link).unwrap();
        let write = |to: PathBuf| {
            let words = ["dd", "if=/dev/zero", "bs=1", "count=1", "conv=notrunc", &format!("of={}", to.display())];
            run_confined(&words.map(str::to_owned), (Some(&confined), None), &AtomicBool::new(false))
        };
        write(own.clone()).unwrap();
        for refused in [other.clone(), link, folder.0.join("new"), folder.0.join("own/../other")] {
            let error = write(refused.clone()).unwrap_err().to_string();
            assert!(error.contains("Permission denied") || error.contains("Not a directory"), "{refused:?}: {error}");
        }
        assert_eq!(std::fs::read(&own).unwrap(), b"\0efore");
        assert_eq!(std::fs::read(&other).unwrap(), b"before");
        assert!(!folder.0.join("new").exists());
        let truncate = ["truncate", "-s", "0", &other.display().to_string()].map(str::to_owned);
        assert!(run_confined(&truncate, (Some(&confined), None), &AtomicBool::new(false)).is_err());
        let remove = ["rm", "-f", &other.display().to_string()].map(str::to_owned);
        assert!(run_confined(&remove, (Some(&confined), None), &AtomicBool::new(false)).is_err());
        assert_eq!(std::fs::read(&other).unwrap(), b"before");
    }
}
