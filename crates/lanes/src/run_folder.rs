//! The folder of a run: made, reached and removed so that nobody who owns a folder above it can put another in its
//! place.
//!
//! Where somebody other than root could rename it, root works on it through a mount of that very folder below /run,
//! which only root reaches; mount points lie there too. Everything else is done through descriptors, and what is
//! removed is compared with what was made.

use crate::failure::{LaneFailure, cannot, failed, plain, privilege};
use crate::mount;
use crate::mountinfo;
use crate::undo::{EntryId, Journal, RUN_DIRECTORY_PREFIX, Thing};
use rustix::fs::{AtFlags, CWD, Dir, Mode, OFlags, ResolveFlags, fstat, mkdirat, openat, openat2, statat, unlinkat};
use rustix::io::Errno;
use rustix::mount::{MoveMountFlags, OpenTreeFlags, move_mount, open_tree};
use std::fs::Metadata;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Component, Path, PathBuf};

/// Where root's own folders of runs lie.
const OF_ROOT: &str = "/run";
/// How often the name of a folder is looked up again that somebody moves about.
const ATTEMPTS: u32 = 200;
/// Bit of CAP_SYS_ADMIN in a set of capabilities (capability.h).
const CAP_SYS_ADMIN: u32 = 21;

/// What tells a folder from all others: device and inode.
pub(crate) type Identity = (u64, u64);

/// The folder of a run in a directory.
#[derive(Debug)]
pub struct RunFolder {
    path: PathBuf,
    work: PathBuf,
    made: Option<Made>,
}

#[derive(Debug)]
struct Made {
    entry: EntryId,
    /// `None`: it was made, and could not be opened.
    folder: Option<OwnedFd>,
}

/// Whether somebody other than root could change what a folder holds. In a sticky one nobody renames what is
/// root's.
pub(crate) fn others_write(metadata: &Metadata, sticky_is_safe: bool) -> bool {
    let mode = metadata.permissions().mode();
    metadata.uid() != 0 || (mode & 0o022 != 0 && !(sticky_is_safe && mode & 0o1000 != 0))
}

/// Whether somebody other than root could put another folder in the place of one in this (canonical) directory.
pub(crate) fn can_be_replaced(directory: &Path) -> Result<bool, LaneFailure> {
    for folder in directory.ancestors() {
        let metadata = folder.metadata().map_err(|error| cannot(format!("look at {}", folder.display()), error))?;
        if others_write(&metadata, true) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Whether this process may mount: root of a container may not.
fn may_mount() -> bool {
    let text = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let set = text.lines().find_map(|line| line.strip_prefix("CapEff:"));
    let set = set.and_then(|set| u64::from_str_radix(set.trim(), 16).ok()).unwrap_or(0);
    (set >> CAP_SYS_ADMIN) & 1 == 1
}

impl RunFolder {
    /// The folders of a run in a directory, in the order in which they are made: the last is the one in the
    /// directory, and before it comes root's own where that is needed. Writes nothing. `name` tells several of
    /// one run apart.
    ///
    /// # Errors
    /// [`LaneFailure`] where the directory cannot be looked at, or there is no safe place to reach it from.
    pub fn plan(directory: &Path, run_id: &str, name: &str) -> Result<Vec<RunFolder>, LaneFailure> {
        let look = |error: std::io::Error| cannot(format!("look at {}", directory.display()), error);
        let directory = directory.canonicalize().map_err(look)?;
        let own = format!("{RUN_DIRECTORY_PREFIX}{run_id}");
        let path = directory.join(&own);
        let plain = |path: PathBuf| RunFolder { work: path.clone(), path, made: None };
        let replaceable = crate::host::is_root() && may_mount() && can_be_replaced(&directory)?;
        if !replaceable {
            return Ok(vec![plain(path)]);
        }
        if !Path::new(OF_ROOT).is_dir() || can_be_replaced(Path::new(OF_ROOT))? {
            return Err(privilege(format!(
                "{} is somebody else's, and {OF_ROOT}, from where root would reach it safely, is not root's alone; \
                 choose a directory of root's",
                directory.display()
            )));
        }
        let shelter = plain(Path::new(OF_ROOT).join(own));
        let work = shelter.path.join(name);
        Ok(vec![shelter, RunFolder { path, work, made: None }])
    }

    /// Where it lies.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Where it is worked on.
    pub fn work(&self) -> &Path {
        &self.work
    }

    /// Whether it is worked on through a mount of root's.
    pub fn is_bound(&self) -> bool {
        self.work != self.path
    }

    /// Makes it, journalled before.
    ///
    /// # Errors
    /// [`LaneFailure`]; call [`RunFolder::remove`] then too.
    pub fn make(&mut self, journal: &mut Journal) -> Result<(), LaneFailure> {
        let fail = |error: Errno| cannot(format!("make the directory {}", self.path.display()), error);
        let (parent, name) = parent_of(&self.path).map_err(fail)?;
        let entry = journal.will(match self.is_bound() {
            true => Thing::BoundDirectory { path: self.path.clone(), target: self.work.clone() },
            false => Thing::RunDirectory { path: self.path.clone() },
        })?;
        if let Err(error) = mkdirat(&parent, name, Mode::RWXU) {
            journal.done(entry)?;
            return Err(fail(error));
        }
        self.made = Some(Made { entry, folder: None });
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let opened = openat(&parent, name, flags, Mode::empty()).and_then(|folder| Ok((is_fresh(&folder)?, folder)));
        let Ok((true, folder)) = opened else {
            return Err(failed(format!(
                "somebody put something else in the place of {} while it was made, so nothing is done there, and an \
                 empty folder of root's may be left beside it; choose a directory that only you can write",
                self.path.display()
            )));
        };
        let (device, inode) = identity(&folder).map_err(fail)?;
        // From here on it is removed, whatever fails.
        let folder = &*self.made.insert(Made { entry, folder: Some(folder) });
        journal.learned_inode(entry, device, inode)?;
        match (&folder.folder, self.work != self.path) {
            (Some(folder), true) => bind(folder, &self.work),
            _ => Ok(()),
        }
    }

    /// Removes it with everything in it, wherever somebody moved it meanwhile. One that was not made is not
    /// removed.
    ///
    /// # Errors
    /// [`LaneFailure::Failed`] with what is left, and where.
    pub fn remove(&mut self, journal: Option<&mut Journal>) -> Result<(), LaneFailure> {
        let Some(Made { entry, folder }) = self.made.take() else { return Ok(()) };
        let Some(folder) = folder else {
            // What was put in its place is not ours; the message said so.
            return journal.map_or(Ok(()), |journal| journal.done(entry));
        };
        let removed = match self.is_bound() {
            true => remove_bound(folder, &self.path, &self.work),
            false => nothing_mounted_below(&self.path).and_then(|()| remove_folder(&folder, &self.path)),
        };
        match (removed, journal) {
            (Ok(()), Some(journal)) => journal.done(entry),
            (removed, _) => removed,
        }
    }

    /// Leaves it as it is; answers where it lies.
    pub(crate) fn keep(mut self) -> PathBuf {
        self.made = None;
        std::mem::take(&mut self.path)
    }
}

/// Opens a directory no part of whose path is a link: the path names what it named when it was looked up.
pub(crate) fn open_directory(path: &Path) -> Result<OwnedFd, Errno> {
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    match openat2(CWD, path, flags, Mode::empty(), ResolveFlags::NO_SYMLINKS) {
        // Linux before 5.6, and containers that forbid it.
        Err(Errno::NOSYS | Errno::PERM) => open_part_by_part(path, flags),
        opened => opened,
    }
}

/// The same by hand.
pub(crate) fn open_part_by_part(path: &Path, flags: OFlags) -> Result<OwnedFd, Errno> {
    let from = if path.is_absolute() { "/" } else { "." };
    let mut here = openat(CWD, from, flags, Mode::empty())?;
    for part in path.components() {
        let name = match part {
            Component::Normal(name) => name,
            Component::ParentDir => std::ffi::OsStr::new(".."),
            Component::CurDir | Component::RootDir | Component::Prefix(_) => continue,
        };
        here = openat(&here, name, flags | OFlags::NOFOLLOW, Mode::empty())?;
    }
    Ok(here)
}

/// The directory that holds a path, opened, and the name in it.
pub(crate) fn parent_of(path: &Path) -> Result<(OwnedFd, &std::ffi::OsStr), Errno> {
    let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else { return Err(Errno::INVAL) };
    Ok((open_directory(parent)?, name))
}

/// Device and inode of an open file.
pub(crate) fn identity(file: impl AsFd) -> Result<Identity, Errno> {
    fstat(file).map(|stat| (stat.st_dev, stat.st_ino))
}

/// Whether a folder is one that this process just made: its own, and empty.
pub(crate) fn is_fresh(folder: &OwnedFd) -> Result<bool, Errno> {
    let mine = fstat(folder)?.st_uid == rustix::process::geteuid().as_raw()
        || model::machine::keeps_no_owners(rustix::fs::fstatfs(folder)?.f_type as u32);
    Ok(mine && names_in(folder.as_fd())?.is_empty())
}

/// Mounts a folder where only root reaches it.
fn bind(folder: &OwnedFd, target: &Path) -> Result<(), LaneFailure> {
    let fail = |error: Errno| {
        failed(format!("cannot mount the folder of this run at {}: {}", target.display(), plain(&error.into())))
    };
    let (parent, name) = parent_of(target).map_err(fail)?;
    mkdirat(&parent, name, Mode::RWXU).map_err(fail)?;
    let flags = OpenTreeFlags::OPEN_TREE_CLONE | OpenTreeFlags::OPEN_TREE_CLOEXEC | OpenTreeFlags::AT_EMPTY_PATH;
    let tree = open_tree(folder, "", flags).map_err(fail)?;
    move_mount(&tree, "", &parent, name, MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH).map_err(fail)
}

/// Removes a folder with everything in it, and the mount through which it was reached.
pub(crate) fn remove_bound(folder: OwnedFd, path: &Path, target: &Path) -> Result<(), LaneFailure> {
    let removed = remove_folder(&folder, path);
    // It would keep the mount busy.
    drop(folder);
    unbind(target).and(removed)
}

/// Unmounts a folder of a run from root's place and removes that; one that is not there is fine.
pub(crate) fn unbind(target: &Path) -> Result<(), LaneFailure> {
    while mount::is_mounted(target)? {
        mount::unmount_patiently(target)?;
    }
    match std::fs::remove_dir(target) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(cannot(format!("remove {}", target.display()), error))
        }
        _ => Ok(()),
    }
}

/// Empties a folder and removes it, wherever it lies by now; `path` is where it was made. Nothing that is mounted
/// below it is touched.
pub(crate) fn remove_folder(folder: &OwnedFd, path: &Path) -> Result<(), LaneFailure> {
    let fail = |error: Errno| cannot(format!("remove what is in {}", path.display()), error);
    empty(folder.as_fd()).map_err(fail)?;
    let own = identity(folder).map_err(fail)?;
    let is_at = |place: &Path| {
        let (parent, name) = parent_of(place).ok()?;
        let there = statat(&parent, name, AtFlags::SYMLINK_NOFOLLOW).ok()?;
        ((there.st_dev, there.st_ino) == own).then(|| (parent, name.to_owned()))
    };
    for _ in 0..ATTEMPTS {
        for place in places_of(folder, path) {
            let Some((parent, name)) = is_at(&place) else { continue };
            // Since that look somebody may have put an empty folder of his own there: his loss.
            match unlinkat(&parent, name, AtFlags::REMOVEDIR) {
                Ok(()) if is_removed(folder) => return Ok(()),
                // BUSY: the mount through which it is reached.
                Ok(()) | Err(Errno::NOENT | Errno::NOTDIR | Errno::NOTEMPTY | Errno::BUSY) => {}
                Err(error) => return Err(cannot(format!("remove {}", place.display()), error)),
            }
        }
    }
    let seen = places_of(folder, path).into_iter().rfind(|place| is_at(place).is_some());
    Err(failed(format!(
        "somebody moved the folder {} away, which is empty now{}; remove it yourself",
        path.display(),
        seen.map_or_else(String::new, |seen| format!(" and lies at {}", seen.display()))
    )))
}

/// Whether a folder has no name any more. Most filesystems count no link of it then; the kernel tells it of all.
fn is_removed(folder: &OwnedFd) -> bool {
    fstat(folder).map_or(true, |stat| stat.st_nlink == 0)
        || std::fs::read_link(format!("/proc/self/fd/{}", folder.as_raw_fd()))
            .is_ok_and(|place| place.as_os_str().as_encoded_bytes().ends_with(b" (deleted)"))
}

/// Where a folder may lie: where it was made, where the kernel sees it, and where the mount table does that shows
/// it in another place.
fn places_of(folder: &OwnedFd, path: &Path) -> Vec<PathBuf> {
    let mut places = vec![path.to_owned()];
    places.extend(std::fs::read_link(format!("/proc/self/fd/{}", folder.as_raw_fd())));
    let mounts = mountinfo::read().unwrap_or_default();
    let at = places.last().and_then(|place| mountinfo::at(&mounts, place)).cloned();
    if let Some(bound) = at {
        let number = (bound.major, bound.minor);
        let others = mounts.iter().filter(|mount| (mount.major, mount.minor) == number && mount.target != bound.target);
        places.extend(others.filter_map(|other| Some(other.target.join(bound.root.strip_prefix(&other.root).ok()?))));
    }
    places
}

fn names_in(folder: BorrowedFd) -> Result<Vec<std::ffi::CString>, Errno> {
    let mut names = Vec::new();
    for entry in Dir::read_from(folder)? {
        let entry = entry?;
        if ![c".", c".."].contains(&entry.file_name()) {
            names.push(entry.file_name().to_owned());
        }
    }
    Ok(names)
}

/// Removes everything in a folder, following no link and entering no mount.
fn empty(folder: BorrowedFd) -> Result<(), Errno> {
    for name in names_in(folder)? {
        match unlinkat(folder, &name, AtFlags::empty()) {
            Ok(()) | Err(Errno::NOENT) => continue,
            Err(Errno::ISDIR | Errno::PERM) => {}
            Err(error) => return Err(error),
        }
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let below = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_XDEV;
        let child = openat2(folder, &name, flags, Mode::empty(), below)?;
        empty(child.as_fd())?;
        unlinkat(folder, &name, AtFlags::REMOVEDIR)?;
    }
    Ok(())
}

pub(crate) fn nothing_mounted_below(path: &Path) -> Result<(), LaneFailure> {
    let mounts = mountinfo::read().map_err(|error| cannot("read /proc/self/mountinfo", error))?;
    match mountinfo::below(&mounts, path).next() {
        Some(mount) => Err(failed(format!(
            "{} is still mounted, so {} is left; unmount it, then run `fairlane clean`",
            mount.target.display(),
            path.display()
        ))),
        None => Ok(()),
    }
}
