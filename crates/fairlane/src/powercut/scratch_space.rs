//! What a run makes on the machine, each thing in the undo journal before it is made, and taken away in
//! reverse.

use crate::commands::lane_failure;
use crate::failure::Failure;
use lanes::run_folder::RunFolder;
use lanes::undo::{EntryId, Thing};
use lanes::{Journal, mount, mountinfo, undo};
use std::fs::DirBuilder;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};

/// The folder of a run, with its journal.
pub struct ScratchSpace {
    /// Where files lie.
    files: PathBuf,
    /// Where mount points lie.
    mounts: PathBuf,
    journal: Option<Journal>,
    own: Vec<RunFolder>,
}

/// A place that may carry a mount or a loop device, known to the journal.
pub struct ScratchMount {
    /// Where.
    pub path: PathBuf,
    entry: EntryId,
    is_mount: bool,
}

impl ScratchSpace {
    /// Makes the folder of a run in a directory.
    ///
    /// # Errors
    /// What the system answers.
    pub fn begin(directory: &Path, run_id: &str) -> Result<ScratchSpace, Failure> {
        let own = RunFolder::plan(directory, run_id, "files").map_err(lane_failure)?;
        let (Some(first), Some(last)) = (own.first(), own.last()) else {
            return Err(Failure::failed("a run has a folder; this is a fault of Fairlane, report it"));
        };
        let (files, mounts) = (last.work().to_owned(), first.work().to_owned());
        let undo = undo::directory().map_err(lane_failure)?;
        let journal = Journal::begin(&undo, run_id).map_err(lane_failure)?;
        let mut scratch = ScratchSpace { files, mounts, journal: Some(journal), own };
        match scratch.make() {
            Ok(()) => Ok(scratch),
            Err(failure) => {
                // What stayed is in the journal.
                let _ = scratch.end();
                Err(failure)
            }
        }
    }

    fn make(&mut self) -> Result<(), Failure> {
        let journal = self.journal.as_mut().expect("it is there until the end");
        self.own.iter_mut().try_for_each(|folder| folder.make(journal)).map_err(lane_failure)
    }

    /// A path inside the folder.
    pub fn path(&self, name: &str) -> PathBuf {
        self.files.join(name)
    }

    /// Its journal.
    pub(super) fn journal(&mut self) -> &mut Journal {
        self.journal.as_mut().expect("it is there until the end")
    }

    /// A folder that something will be mounted on.
    ///
    /// # Errors
    /// What the system answers.
    pub fn mount_place(&mut self, name: &str) -> Result<ScratchMount, Failure> {
        let path = self.mounts.join(name);
        if !path.is_dir() {
            make(&path)?;
        }
        let entry = self.journal().will(Thing::Mount { target: path.clone(), source: None }).map_err(lane_failure)?;
        Ok(ScratchMount { path, entry, is_mount: true })
    }

    /// A file that a loop device will be attached to.
    ///
    /// # Errors
    /// What the system answers.
    pub fn loop_place(&mut self, path: PathBuf) -> Result<ScratchMount, Failure> {
        let entry = self.journal().will(Thing::Loop { backing: path.clone() }).map_err(lane_failure)?;
        Ok(ScratchMount { path, entry, is_mount: false })
    }

    /// Nothing is there any more: what is mounted is unmounted, loop devices are gone before.
    ///
    /// # Errors
    /// What the system answers.
    pub fn clear(&mut self, place: ScratchMount) -> Result<(), Failure> {
        if place.is_mount {
            unmount(&place.path)?;
        }
        self.journal().done(place.entry).map_err(lane_failure)
    }

    /// Whether nothing is mounted in the folder: what went wrong took everything away that it had made.
    pub fn is_clear(&self) -> bool {
        mountinfo::read().is_ok_and(|mounts| self.mount_in(&mounts).is_none())
    }

    /// Leaves everything for a look; `fairlane clean` takes it away.
    ///
    /// # Errors
    /// What the system answers.
    pub fn keep(mut self) -> Result<(), Failure> {
        self.journal.take().expect("it is there until the end").keep().map_err(lane_failure)
    }

    /// Removes the folder and ends the journal.
    ///
    /// # Errors
    /// What the system answers.
    pub fn end(mut self) -> Result<(), Failure> {
        let mounts =
            mountinfo::read().map_err(|error| Failure::failed(format!("cannot read /proc/self/mountinfo: {error}")))?;
        if let Some(mount) = self.mount_in(&mounts) {
            return Err(Failure::failed(format!(
                "{} is still mounted; end what uses it, then run `fairlane clean`",
                mount.target.display()
            )));
        }
        let mut journal = self.journal.take().expect("it is there until the end");
        let mut removed = Ok(());
        // One that stays keeps none of the others.
        for mut folder in std::mem::take(&mut self.own).into_iter().rev() {
            removed = removed.and(folder.remove(Some(&mut journal)));
        }
        removed.and_then(|()| journal.finish()).map_err(lane_failure)
    }

    /// What is mounted in the run's folders beside its files.
    fn mount_in<'a>(&self, mounts: &'a [mountinfo::MountEntry]) -> Option<&'a mountinfo::MountEntry> {
        let within = |mount: &&mountinfo::MountEntry| {
            let at = |folder: &Path| mount.target.starts_with(folder) && mount.target != self.files;
            at(&self.files) || at(&self.mounts)
        };
        mounts.iter().find(within)
    }
}

/// Unmounts whatever is mounted at a path.
///
/// # Errors
/// What the system answers.
pub fn unmount(path: &Path) -> Result<(), Failure> {
    while mount::is_mounted(path).map_err(lane_failure)? {
        mount::unmount_patiently(path).map_err(lane_failure)?;
    }
    Ok(())
}

fn make(path: &Path) -> Result<(), Failure> {
    let made = DirBuilder::new().mode(0o700).create(path);
    made.map_err(|error| Failure::failed(format!("cannot make the folder {}: {error}", path.display())))
}
