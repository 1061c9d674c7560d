//! The undo journal: everything that a run makes on the machine stands here before it is made, so
//! that the next command can take it away after any kind of death.
//!
//! One file per run, JSON lines. The first line names the owner; `will` lines are synced before
//! the thing is made, `learned` lines add what was known only afterwards, `done` lines follow the
//! undoing. The owner holds a lock on the file for as long as it lives. A torn last line belongs to
//! something that was not made yet.

use crate::failure::{LaneFailure, cannot, privilege};
use rustix::fs::{FlockOperation, flock};
use serde::{Deserialize, Serialize};
use std::fs::{DirBuilder, File, OpenOptions};
use std::io::Write;
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
    file: File,
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
        let fail = |error: std::io::Error| cannot(format!("write the undo journal {}", path.display()), error);
        // Under its final name it never lacks its owner: a recovery in between would take it for
        // nobody's.
        let draft = directory.join(format!("{run_id}.new"));
        let open = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&draft);
        let mut file = open.map_err(fail)?;
        let written = (|| {
            flock(&file, FlockOperation::NonBlockingLockExclusive)?;
            let owner = Entry::Owner(Owner::of_this_process(run_id)?);
            append(&mut file, &owner)?;
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
    /// [`LaneFailure::Failed`]: then do not make it.
    pub fn will(&mut self, thing: Thing) -> Result<EntryId, LaneFailure> {
        let id = self.next;
        self.write(&Entry::Will { id, thing })?;
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

    /// Notes that a thing was undone.
    ///
    /// # Errors
    /// [`LaneFailure::Failed`].
    pub fn done(&mut self, id: EntryId) -> Result<(), LaneFailure> {
        self.write(&Entry::Done { id: id.0 })
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
        std::fs::remove_file(&self.path)
            .map_err(|error| cannot(format!("remove the undo journal {}", self.path.display()), error))
    }

    /// Where it lies.
    pub fn path(&self) -> &Path {
        &self.path
    }

    fn write(&mut self, entry: &Entry) -> Result<(), LaneFailure> {
        append(&mut self.file, entry)
            .map_err(|error| cannot(format!("write the undo journal {}", self.path.display()), error))
    }
}

/// One line in one write, then to the disk.
pub(crate) fn append(file: &mut File, entry: &Entry) -> std::io::Result<()> {
    let mut line = serde_json::to_vec(entry)?;
    line.push(b'\n');
    file.write_all(&line)?;
    file.sync_data()
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
/// /var/lib/fairlane/undo, else `$XDG_STATE_HOME/fairlane/undo`.
///
/// # Errors
/// [`LaneFailure::Privilege`] where root is given a directory that another user could write:
/// a forged journal would have root remove and unmount things.
pub fn directory() -> Result<PathBuf, LaneFailure> {
    let root = rustix::process::geteuid().is_root();
    let path = match std::env::var_os("FAIRLANE_UNDO_DIR") {
        Some(path) if !path.is_empty() => PathBuf::from(path),
        _ if root => PathBuf::from("/var/lib/fairlane/undo"),
        _ => state_home()?.join("fairlane/undo"),
    };
    if !path.is_absolute() {
        return Err(crate::failure::usage(format!(
            "the undo directory {} is a relative path; give FAIRLANE_UNDO_DIR an absolute one",
            path.display()
        )));
    }
    DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(&path)
        .map_err(|error| cannot(format!("make the undo directory {}", path.display()), error))?;
    if root {
        only_root_writes(&path)?;
    }
    Ok(path)
}

fn state_home() -> Result<PathBuf, LaneFailure> {
    let absolute = |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    absolute("XDG_STATE_HOME")
        .or_else(|| absolute("HOME").map(|home| home.join(".local/state")))
        .ok_or_else(|| privilege("neither XDG_STATE_HOME nor HOME names a folder for the undo journal; set HOME"))
}

/// The directory must be root's own; the folders above it too, or sticky as /tmp is, because who
/// can rename a folder can replace it.
fn only_root_writes(path: &Path) -> Result<(), LaneFailure> {
    let real = path.canonicalize().map_err(|error| cannot(format!("look at {}", path.display()), error))?;
    for (level, folder) in real.ancestors().enumerate() {
        let metadata = folder.metadata().map_err(|error| cannot(format!("look at {}", folder.display()), error))?;
        let mode = metadata.permissions().mode();
        let others_write = mode & 0o022 != 0;
        let sticky = mode & 0o1000 != 0;
        if metadata.uid() != 0 || (others_write && (level == 0 || !sticky)) {
            return Err(privilege(format!(
                "the undo directory {} is refused because users other than root can write {}; use a folder that only root can write",
                path.display(),
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
