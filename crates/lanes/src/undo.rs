//! The undo journal: everything that a run makes on the machine stands here before it is made, so
//! that the next command can take it away after any kind of death.
//!
//! One file per run, JSON lines. The first line names the owner; `will` lines are synced before
//! the thing is made, `learned` lines add what was known only afterwards, `done` lines follow the
//! undoing. The owner holds a lock on the file for as long as it lives. A line that does not reach the
//! disk whole is taken back and its thing is not made; a torn last line belongs to something that was
//! not made yet.

mod journal_file;

pub(crate) use journal_file::JournalFile;

use crate::failure::{LaneFailure, cannot, failed, privilege};
use rustix::fs::{FlockOperation, flock};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs::{DirBuilder, File, OpenOptions};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

pub use crate::recover::{Recovered, recover, recover_kept};

/// Prefix of every run directory; nothing outside of one is ever removed.
pub const RUN_DIRECTORY_PREFIX: &str = ".fairlane-";

/// Something that a run makes on the machine.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "thing", rename_all = "kebab-case")]
pub enum Thing {
    /// `DIR/.fairlane-RUNID`; undone with everything in it.
    RunDirectory {
        /// Its path.
        path: PathBuf,
    },
    /// `DIR/.fairlane-RUNID` where somebody other than root could put another folder in its place, and
    /// the place in a run directory of root's where it is bound; undone with everything in it.
    BoundDirectory {
        /// Its path.
        path: PathBuf,
        /// Where it is bound.
        target: PathBuf,
    },
    /// A loop device over a file inside a run directory.
    Loop {
        /// The image.
        backing: PathBuf,
    },
    /// A mount on a folder inside a run directory.
    Mount {
        /// Where.
        target: PathBuf,
        /// What the mount table will call its source; `None`: the filesystem names it (FUSE).
        source: Option<String>,
    },
    /// A guest, whose processes are a session of their own.
    Guest {
        /// Its folder inside a run directory.
        folder: PathBuf,
    },
    /// Limits on a device in the root group of cgroup v1's blkio. They outlive a loop device.
    Limit {
        /// Major and minor number.
        device: (u32, u32),
        /// As /proc/diskstats names it: `loop3`.
        name: String,
        /// What the kernel counts up whenever another disk takes that name; 0: it does not tell.
        sequence: u64,
        /// What is set.
        throttle: model::Throttle,
    },
    /// A server that works in a lane; it is known once its note is there.
    Server {
        /// Beside the journal, named after the run: `PID START`, as [`Owner`] has them.
        note: PathBuf,
    },
    /// A group of cgroup v2, named after the run.
    Group {
        /// Its directory.
        path: PathBuf,
    },
    /// Settings of a block device's queue. They outlive the lane that they were made for, and of a loop device its image.
    Queue {
        /// Major and minor number.
        device: (u32, u32),
        /// As of a [`Thing::Limit`].
        sequence: u64,
        /// What is set, by attribute in sysfs.
        set: BTreeMap<String, String>,
        /// What stood there before.
        was: BTreeMap<String, String>,
    },
    /// Settings of the kernel in /proc/sys/vm. They are the whole machine's.
    KernelSettings {
        /// What is set, by name.
        set: BTreeMap<String, String>,
        /// What stood there before; of two of which one is 0 the other one.
        was: BTreeMap<String, String>,
    },
    /// A device of the device mapper, named after the run.
    MappedDevice {
        /// In /dev/mapper.
        name: String,
    },
    /// An array of md.
    Array {
        /// The N of /dev/mdN.
        number: u32,
        /// 32 hexadecimal digits, which no other array has; empty: in a guest, where the number is enough.
        uuid: String,
        /// What its disks say that it is called: after the run.
        #[serde(default)]
        name: String,
        /// All that it is made of, those among them that it lacks at first.
        #[serde(default)]
        disks: Vec<PathBuf>,
    },
    /// A set of bcache, and what it caches: in guests alone, so that no journal has one.
    CacheSet {
        /// 32 hexadecimal digits.
        uuid: String,
        /// The slow disk.
        backing: PathBuf,
    },
}

/// One line of a journal.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "entry", rename_all = "kebab-case")]
pub(crate) enum Entry {
    /// The first line.
    Owner(Owner),
    /// Will be made now.
    Will {
        id: u64,
        #[serde(flatten)]
        thing: Thing,
    },
    /// Was made, and this is what it is.
    Learned { id: u64, detail: Detail },
    /// Was undone.
    Done { id: u64 },
    /// Is left on purpose (`--keep`): only `fairlane clean` undoes it.
    Keep,
}

/// What is known of a thing only once it is made.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Detail {
    /// The loop device.
    Device(PathBuf),
    /// Device and inode of a run directory: another of the same name is not ours.
    Inode(u64, u64),
    /// Process id, and field 22 of /proc/PID/stat.
    Process(u32, u64),
    /// The session that a guest leads, and field 22 of /proc/PID/stat of its keeper, which is older.
    Session(u32, u64),
}

/// Who made the things: a process of a boot.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Owner {
    pub(crate) run_id: String,
    pub(crate) pid: u32,
    /// Field 22 of /proc/PID/stat: a later process with the same number has another.
    pub(crate) start_ticks: u64,
    pub(crate) boot_id: String,
}

impl Owner {
    fn of_this_process(run_id: &str) -> std::io::Result<Owner> {
        let pid = std::process::id();
        let start_ticks = start_ticks(pid).ok_or_else(|| std::io::Error::other("/proc does not show this process"))?;
        Ok(Owner { run_id: run_id.to_owned(), pid, start_ticks, boot_id: boot_id()? })
    }

    /// Whether that process still lives.
    pub(crate) fn lives(&self) -> bool {
        self.is_of_this_boot() && start_ticks(self.pid) == Some(self.start_ticks)
    }

    /// Whether the machine was not booted since.
    pub(crate) fn is_of_this_boot(&self) -> bool {
        boot_id().is_ok_and(|boot| boot == self.boot_id)
    }
}

fn boot_id() -> std::io::Result<String> {
    Ok(std::fs::read_to_string("/proc/sys/kernel/random/boot_id")?.trim().to_owned())
}

pub(crate) fn start_ticks(pid: u32) -> Option<u64> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name in brackets may hold anything, spaces and brackets too.
    let fields: Vec<&str> = stat[stat.rfind(')')? + 1..].split_whitespace().collect();
    // A zombie makes nothing any more and holds nothing.
    (*fields.first()? != "Z").then_some(())?;
    fields.get(19)?.parse().ok()
}

/// Names an entry, to report it done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EntryId(u64);

/// The journal of one run, held open and locked.
#[derive(Debug)]
pub struct Journal {
    file: JournalFile,
    path: PathBuf,
    next: u64,
}

impl Journal {
    /// Begins the journal of a run in the undo directory (see [`directory`]).
    ///
    /// # Errors
    /// [`LaneFailure::Failed`] where it cannot be written or the run has one already.
    pub fn begin(directory: &Path, run_id: &str) -> Result<Journal, LaneFailure> {
        assert!(is_run_id(run_id), "run ids are made by us: letters, digits, dash");
        let path = directory.join(format!("{run_id}.jsonl"));
        let fail = |error: std::io::Error| cannot_write(&path, &error);
        // Under its final name it never lacks its owner: a recovery in between would take it for
        // nobody's.
        let draft = directory.join(format!("{run_id}.new"));
        let open = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&draft);
        let file = open.map_err(fail)?;
        let locked = flock(&file, FlockOperation::NonBlockingLockExclusive);
        let mut file = JournalFile::new(file, 0);
        let written = (|| {
            locked?;
            file.promise(&Entry::Owner(Owner::of_this_process(run_id)?))?;
            let flags = rustix::fs::RenameFlags::NOREPLACE;
            rustix::fs::renameat_with(rustix::fs::CWD, &draft, rustix::fs::CWD, &path, flags)?;
            File::open(directory)?.sync_all()
        })();
        if let Err(error) = written {
            let _ = std::fs::remove_file(&draft);
            return Err(fail(error));
        }
        Ok(Journal { file, path, next: 0 })
    }

    /// Notes, durably, that a thing will be made now. Call it before making the thing.
    ///
    /// # Errors
    /// [`LaneFailure::Failed`] where it does not reach the disk, or nobody would find the journal any
    /// more: then do not make it.
    pub fn will(&mut self, thing: Thing) -> Result<EntryId, LaneFailure> {
        let id = self.next;
        if !self.file.lies_at(&self.path) {
            return Err(failed(format!(
                "the undo journal {} was taken away, and without it nobody could clean up after a crash; leave that \
                 folder alone while Fairlane works",
                self.path.display()
            )));
        }
        self.file.promise(&Entry::Will { id, thing }).map_err(|error| cannot_write(&self.path, &error))?;
        self.next += 1;
        Ok(EntryId(id))
    }

    /// Notes which loop device it became.
    ///
    /// # Errors
    /// [`LaneFailure::Failed`].
    pub fn learned_device(&mut self, id: EntryId, device: &Path) -> Result<(), LaneFailure> {
        self.write(&Entry::Learned { id: id.0, detail: Detail::Device(device.to_owned()) })
    }

    /// Notes which directory it became, so that another of the same name is left alone.
    ///
    /// # Errors
    /// [`LaneFailure::Failed`].
    pub fn learned_inode(&mut self, id: EntryId, device: u64, inode: u64) -> Result<(), LaneFailure> {
        self.write(&Entry::Learned { id: id.0, detail: Detail::Inode(device, inode) })
    }

    /// Notes which process leads a guest's session.
    ///
    /// # Errors
    /// [`LaneFailure::Failed`].
    pub fn learned_process(&mut self, id: EntryId, pid: u32) -> Result<(), LaneFailure> {
        // One that is gone already left nothing.
        let Some(ticks) = start_ticks(pid) else { return Ok(()) };
        self.write(&Entry::Learned { id: id.0, detail: Detail::Process(pid, ticks) })
    }

    /// Notes which session a guest leads: what is left of it may bear no other sign.
    ///
    /// # Errors
    /// [`LaneFailure::Failed`].
    pub fn learned_session(&mut self, id: EntryId, session: u32, keeper: u32) -> Result<(), LaneFailure> {
        let ticks = start_ticks(keeper).unwrap_or(0);
        self.write(&Entry::Learned { id: id.0, detail: Detail::Session(session, ticks) })
    }

    /// Notes that a thing was undone. Where the disk takes no note a recovery looks for the thing once more
    /// and finds nothing: what is left is cleaned up on a full disk too.
    ///
    /// # Errors
    /// None today.
    pub fn done(&mut self, id: EntryId) -> Result<(), LaneFailure> {
        let _ = self.file.note(&Entry::Done { id: id.0 });
        Ok(())
    }

    /// Leaves what stands on purpose: [`recover`] passes over it, [`recover_kept`] undoes it.
    ///
    /// # Errors
    /// [`LaneFailure::Failed`].
    pub fn keep(mut self) -> Result<(), LaneFailure> {
        self.write(&Entry::Keep)
    }

    /// Ends the journal of a run that undid everything.
    ///
    /// # Errors
    /// [`LaneFailure::Failed`].
    pub fn finish(self) -> Result<(), LaneFailure> {
        // Somebody took it away: another of that name is not ours, and nothing is left that it would name.
        if !self.file.lies_at(&self.path) {
            return Ok(());
        }
        std::fs::remove_file(&self.path)
            .map_err(|error| cannot(format!("remove the undo journal {}", self.path.display()), error))
    }

    /// Where it lies.
    pub fn path(&self) -> &Path {
        &self.path
    }

    fn write(&mut self, entry: &Entry) -> Result<(), LaneFailure> {
        self.file.note(entry).map_err(|error| cannot_write(&self.path, &error))
    }
}

/// Without its journal a run makes nothing.
fn cannot_write(path: &Path, error: &std::io::Error) -> LaneFailure {
    let folder = path.parent().unwrap_or(path).display();
    let remedy = match error.raw_os_error() {
        Some(libc::ENOSPC | libc::EDQUOT) => format!("free some space under {folder}"),
        Some(libc::EROFS | libc::EACCES | libc::EPERM) => {
            "name a folder that can be written: FAIRLANE_UNDO_DIR=/some/folder".to_owned()
        }
        _ => format!("look after the disk under {folder}, or name a folder elsewhere: FAIRLANE_UNDO_DIR=/some/folder"),
    };
    failed(format!("cannot write the undo journal {}: {}; {remedy}", path.display(), crate::failure::plain(error)))
}

/// Where a server in the lane of this number notes its process id.
pub fn server_note(journal: &Path, lane: usize) -> PathBuf {
    journal.with_extension(format!("{lane}.server"))
}

/// Letters, digits and dashes, 1 to 64 of them: safe in a file name.
pub fn is_run_id(text: &str) -> bool {
    (1..=64).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
}

/// The directory of undo journals, made if it is not there: `FAIRLANE_UNDO_DIR`, else for root
/// /var/lib/fairlane/undo, else `$XDG_STATE_HOME/fairlane/undo`. No part of the answer is a link.
///
/// # Errors
/// [`LaneFailure::Privilege`] where it could be written by somebody else, or for root any folder above it:
/// a forged journal would have this user remove and unmount things.
pub fn directory() -> Result<PathBuf, LaneFailure> {
    let path = directory_path()?;
    DirBuilder::new().recursive(true).mode(0o700).create(&path).map_err(|error| {
        let remedy =
            "name another folder with XDG_STATE_HOME or, for what is undone after a crash alone, FAIRLANE_UNDO_DIR";
        failed(format!(
            "cannot make the undo directory {}: {}; {remedy}",
            path.display(),
            crate::failure::plain(&error)
        ))
    })?;
    checked(&path)
}

/// The same where it is there already; `None`: there is none, so that nothing is to be undone.
///
/// # Errors
/// As [`directory`].
pub fn existing_directory() -> Result<Option<PathBuf>, LaneFailure> {
    let path = directory_path()?;
    if path.is_dir() { checked(&path).map(Some) } else { Ok(None) }
}

fn directory_path() -> Result<PathBuf, LaneFailure> {
    let path = match std::env::var_os("FAIRLANE_UNDO_DIR") {
        Some(path) if !path.is_empty() => PathBuf::from(path),
        _ if crate::host::is_root() => PathBuf::from("/var/lib/fairlane/undo"),
        _ => state_home()?.join("fairlane/undo"),
    };
    if !path.is_absolute() {
        return Err(crate::failure::usage(format!(
            "the undo directory {} is a relative path; give FAIRLANE_UNDO_DIR an absolute one",
            path.display()
        )));
    }
    Ok(path)
}

fn checked(path: &Path) -> Result<PathBuf, LaneFailure> {
    let real = path.canonicalize().map_err(|error| cannot(format!("look at {}", path.display()), error))?;
    if crate::host::is_root() {
        only_root_writes(&real)?;
    } else {
        only_this_user_writes(&real)?;
    }
    Ok(real)
}

/// Whose folder it is decides what its journals may ask of an ordinary user.
fn only_this_user_writes(real: &Path) -> Result<(), LaneFailure> {
    let metadata = real.metadata().map_err(|error| cannot(format!("look at {}", real.display()), error))?;
    if metadata.uid() == rustix::process::geteuid().as_raw() && metadata.permissions().mode() & 0o022 == 0 {
        return Ok(());
    }
    // Such a filesystem takes no other mode.
    let keeps_none = rustix::fs::statfs(real).is_ok_and(|found| model::machine::keeps_no_owners(found.f_type as u32));
    let remedy = match keeps_none || metadata.uid() != rustix::process::geteuid().as_raw() {
        true => "name a folder of your own elsewhere: FAIRLANE_UNDO_DIR=/some/folder".to_owned(),
        false => format!("type chmod go-w {}", real.display()),
    };
    Err(privilege(format!(
        "the undo directory {} is refused because other users can write it; {remedy}",
        real.display()
    )))
}

fn state_home() -> Result<PathBuf, LaneFailure> {
    let absolute = |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    absolute("XDG_STATE_HOME")
        .or_else(|| absolute("HOME").map(|home| home.join(".local/state")))
        .ok_or_else(|| privilege("neither XDG_STATE_HOME nor HOME names a folder for the undo journal; set HOME"))
}

/// The directory must be root's own; the folders above it too, or sticky as /tmp is, because who
/// can rename a folder can replace it.
fn only_root_writes(real: &Path) -> Result<(), LaneFailure> {
    for (level, folder) in real.ancestors().enumerate() {
        let metadata = folder.metadata().map_err(|error| cannot(format!("look at {}", folder.display()), error))?;
        if crate::run_folder::others_write(&metadata, level > 0) {
            return Err(privilege(format!(
                "the undo directory {} is refused because users other than root can write {}; use a folder that only root can write",
                real.display(),
                folder.display()
            )));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_process_lives_and_another_of_its_number_does_not() {
        let owner = Owner::of_this_process("r").unwrap();
        assert!(owner.lives());
        assert!(!Owner { start_ticks: owner.start_ticks + 1, ..owner.clone() }.lives());
        assert!(!Owner { boot_id: "another boot".to_owned(), ..owner.clone() }.lives());
        assert!(!Owner { pid: u32::MAX, ..owner }.lives());
    }

    #[test]
    fn root_takes_no_undo_directory_that_others_can_write() {
        if !rustix::process::geteuid().is_root() {
            eprintln!("undo directory: skipped, because it needs root");
            return;
        }
        let path = PathBuf::from(format!("/var/tmp/fairlane-undo-{}", std::process::id()));
        let folder = path.join("undo");
        let refused = || only_root_writes(&folder).err().map(|error| error.to_string()).unwrap_or_default();
        std::fs::create_dir_all(&folder).unwrap();
        let mode = |folder: &Path, mode| std::fs::set_permissions(folder, PermissionsExt::from_mode(mode)).unwrap();
        mode(&folder, 0o700);
        // /var/tmp itself is open to all, but sticky.
        let fine = refused();
        mode(&folder, 0o770);
        let group = refused();
        mode(&folder, 0o700);
        mode(&path, 0o777);
        let parent = refused();
        mode(&path, 0o755);
        std::os::unix::fs::chown(&folder, Some(65534), None).unwrap();
        let foreign = refused();
        std::fs::remove_dir_all(&path).unwrap();
        assert_eq!(fine, "");
        for text in [group, parent, foreign] {
            assert!(text.contains("is refused because users other than root can write"), "{text}");
        }
    }

    #[test]
    fn a_run_id_is_safe_in_a_file_name() {
        for good in ["a", "2026-11-20-ab12"] {
            assert!(is_run_id(good), "{good}");
        }
        for bad in ["", "..", "a/b", "a b", "a.b"] {
            assert!(!is_run_id(bad), "{bad}");
        }
    }
}
