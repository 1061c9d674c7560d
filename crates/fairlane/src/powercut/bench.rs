//! What a run makes on the machine, each thing in the undo journal before it is made, and taken away in
//! reverse.

use crate::commands::lane_failure;
use crate::failure::Failure;
use lanes::undo::{EntryId, RUN_DIRECTORY_PREFIX, Thing};
use lanes::{Journal, mount, mountinfo, undo};
use std::fs::DirBuilder;
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};

/// The folder of a run, with its journal.
pub struct Bench {
    folder: PathBuf,
    journal: Option<Journal>,
    own: EntryId,
}

/// A place that may carry a mount or a loop device, known to the journal.
pub struct Place {
    /// Where.
    pub path: PathBuf,
    entry: EntryId,
    is_mount: bool,
}

impl Bench {
    /// Makes the folder of a run in a directory.
    ///
    /// # Errors
    /// What the system answers.
    pub fn begin(directory: &Path, run_id: &str) -> Result<Bench, Failure> {
        let folder = directory.join(format!("{RUN_DIRECTORY_PREFIX}{run_id}"));
        let undo = undo::directory().map_err(lane_failure)?;
        let mut journal = Journal::begin(&undo, run_id).map_err(lane_failure)?;
        let own = journal.will(Thing::RunDirectory { path: folder.clone() }).map_err(lane_failure)?;
        make(&folder)?;
        let metadata = folder
            .symlink_metadata()
            .map_err(|error| Failure::failed(format!("cannot look at {}: {error}", folder.display())))?;
        journal.learned_inode(own, metadata.dev(), metadata.ino()).map_err(lane_failure)?;
        Ok(Bench { folder, journal: Some(journal), own })
    }

    /// A path inside the folder.
    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    fn journal(&mut self) -> &mut Journal {
        self.journal.as_mut().expect("it is there until the end")
    }

    /// A folder that something will be mounted on.
    ///
    /// # Errors
    /// What the system answers.
    pub fn mount_place(&mut self, name: &str) -> Result<Place, Failure> {
        let path = self.path(name);
        if !path.is_dir() {
            make(&path)?;
        }
        let entry = self.journal().will(Thing::Mount { target: path.clone(), source: None }).map_err(lane_failure)?;
        Ok(Place { path, entry, is_mount: true })
    }

    /// A file that a loop device will be attached to.
    ///
    /// # Errors
    /// What the system answers.
    pub fn loop_place(&mut self, path: PathBuf) -> Result<Place, Failure> {
        let entry = self.journal().will(Thing::Loop { backing: path.clone() }).map_err(lane_failure)?;
        Ok(Place { path, entry, is_mount: false })
    }

    /// Nothing is there any more: what is mounted is unmounted, loop devices are gone before.
    ///
    /// # Errors
    /// What the system answers.
    pub fn clear(&mut self, place: Place) -> Result<(), Failure> {
        if place.is_mount {
            unmount(&place.path)?;
        }
        self.journal().done(place.entry).map_err(lane_failure)
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
        if let Some(mount) = mountinfo::below(&mounts, &self.folder).next() {
            return Err(Failure::failed(format!(
                "{} is still mounted; end what uses it, then run `fairlane clean`",
                mount.target.display()
            )));
        }
        std::fs::remove_dir_all(&self.folder)
            .map_err(|error| Failure::failed(format!("cannot remove {}: {error}", self.folder.display())))?;
        let own = self.own;
        self.journal().done(own).map_err(lane_failure)?;
        self.journal.take().expect("it is there until the end").finish().map_err(lane_failure)
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
