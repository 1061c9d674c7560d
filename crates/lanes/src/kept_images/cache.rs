//! The folder of kept images: its bounds, its locks, and what is swept out of it.

use crate::failure::{LaneFailure, cannot, failed};
use model::Bytes;
use rustix::fs::{FlockOperation, Mode, OFlags, flock, open};
use std::fs::{DirBuilder, File};
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};

/// The folder of kept images, in the one of undo journals.
pub const FOLDER: &str = "aged";
/// Bytes of all kept images, at most: those that were not used for longest go first. Chosen: sixteen of the usual lanes.
pub const MOST_BYTES: u64 = 32 << 30;
/// So much of the disk is left free beside them.
const SPARE_BYTES: u64 = 1 << 30;
/// A lock is tried so often, a millisecond apart.
pub(super) const LOCK_TRIALS: u32 = 20;

/// What `fairlane clean --aged` removed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Removed {
    /// Images.
    pub images: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Images that a race uses and that stay.
    pub in_use: u64,
}

/// The folder of kept images, made where it is missing.
///
/// # Errors
/// When it cannot be made.
pub fn folder(undo: &Path) -> Result<PathBuf, LaneFailure> {
    let folder = undo.join(FOLDER);
    let made = DirBuilder::new().recursive(true).mode(0o700).create(&folder);
    made.map_err(|error| cannot(format!("make {}", folder.display()), error))?;
    match folder.symlink_metadata() {
        Ok(of) if of.is_dir() => Ok(folder),
        _ => Err(failed(format!("{} is no folder; remove it", folder.display()))),
    }
}

/// Removes what a race that died was making.
pub fn sweep(undo: &Path) {
    let folder = undo.join(FOLDER);
    for path in files(&folder, "part") {
        if let Some(file) = open_regular(&path, OFlags::RDONLY)
            && lock(&file)
        {
            let _ = std::fs::remove_file(&path);
        }
    }
    // A description comes before its image has its name: of one that is being made it is left alone.
    for description in files(&folder, "json").into_iter().chain(files(&folder, "draft")) {
        let is_of = |extension: &str| description.with_extension(extension).symlink_metadata().is_ok();
        let image = description.with_extension("image");
        // Who holds it may be writing a description anew.
        if open_regular(&image, OFlags::RDONLY).is_some_and(|image| !lock(&image)) {
            continue;
        }
        if !is_of("part") && (!is_of("image") || description.extension().is_some_and(|of| of == "draft")) {
            let _ = std::fs::remove_file(&description);
        }
    }
}

/// Removes all kept images that no race uses.
pub fn remove_all(undo: &Path) -> Removed {
    sweep(undo);
    let mut removed = Removed::default();
    let folder = undo.join(FOLDER);
    for path in files(&folder, "image") {
        let Some(file) = open_regular(&path, OFlags::RDONLY) else { continue };
        if !lock(&file) {
            removed.in_use += 1;
            continue;
        }
        removed.images += 1;
        removed.bytes += file.metadata().map_or(0, |of| of.len());
        remove(&path);
    }
    if folder.is_absolute() {
        // Only where it is empty.
        let _ = std::fs::remove_dir(&folder);
    }
    removed
}

/// How many images are kept, and their bytes.
pub fn kept(undo: &Path) -> (u64, u64) {
    kept_in(&undo.join(FOLDER))
}

fn kept_in(folder: &Path) -> (u64, u64) {
    let sizes = files(folder, "image").into_iter().filter_map(|path| path.symlink_metadata().ok());
    sizes.fold((0, 0), |(count, bytes), of| (count + 1, bytes + of.len()))
}

/// Whether so many bytes of images can be kept there, once others are gone. `taken`: what the race's own images take of the disk
/// of `beside`.
///
/// # Errors
/// [`LaneFailure::Failed`] with the remedy.
pub(crate) fn check_room(undo: &Path, needed: u64, (taken, beside): (u64, &Path)) -> Result<(), LaneFailure> {
    let (_, kept) = kept(undo);
    let device = |path: &Path| path.metadata().map(|of| of.dev()).ok();
    let taken = if device(undo) == device(beside) { taken } else { 0 };
    let free = free_bytes(undo).saturating_add(kept).saturating_sub(taken);
    if needed <= MOST_BYTES && needed.saturating_add(SPARE_BYTES) <= free {
        return Ok(());
    }
    Err(no_room(&undo.join(FOLDER), needed))
}

fn no_room(folder: &Path, needed: u64) -> LaneFailure {
    failed(format!(
        "images of lanes with a past take {} in {}, which may keep {} and leaves {} of its disk free; free some space, race fewer \
         of them or lower --lane-size",
        Bytes(needed),
        folder.display(),
        Bytes(MOST_BYTES),
        Bytes(SPARE_BYTES)
    ))
}

/// Removes the images that were not used for longest until one of this size has room.
pub(super) fn make_room(folder: &Path, size_bytes: u64) -> Result<(), LaneFailure> {
    let has_no_room = || {
        kept_in(folder).1.saturating_add(size_bytes) > MOST_BYTES
            || free_bytes(folder) < size_bytes.saturating_add(SPARE_BYTES)
    };
    if remove_oldest_while(folder, &has_no_room) { Ok(()) } else { Err(no_room(folder, size_bytes)) }
}

/// The same until those that are kept take no more than they may: races that keep theirs at once each made room for their own.
pub(super) fn keep_bound(folder: &Path) {
    remove_oldest_while(folder, &|| kept_in(folder).1 > MOST_BYTES);
}

/// Whether that is over once some were removed, which no race uses.
fn remove_oldest_while(folder: &Path, goes_on: &dyn Fn() -> bool) -> bool {
    let used_at = |path: &PathBuf| path.symlink_metadata().and_then(|of| of.modified()).ok();
    let mut images = files(folder, "image");
    images.sort_by_key(used_at);
    let mut images = images.into_iter();
    while goes_on() {
        let Some(oldest) = images.next() else { return false };
        if open_regular(&oldest, OFlags::RDONLY).is_none_or(|file| lock(&file)) {
            remove(&oldest);
        }
    }
    true
}

fn free_bytes(folder: &Path) -> u64 {
    rustix::fs::statvfs(folder).map_or(0, |of| of.f_bavail.saturating_mul(of.f_frsize))
}

pub(super) fn remove(image: &Path) {
    let _ = std::fs::remove_file(image.with_extension("json"));
    let _ = std::fs::remove_file(image);
}

/// Takes the lock of a file; who only looks holds it for a moment.
pub(super) fn lock(file: &File) -> bool {
    (0..LOCK_TRIALS).any(|trial| {
        if trial > 0 {
            std::thread::sleep(std::time::Duration::from_millis(1));
        }
        flock(file, FlockOperation::NonBlockingLockExclusive).is_ok()
    })
}

/// Without direct I/O where a filesystem has none, as some in memory and in layers.
pub(super) fn open_direct(path: &Path, flags: OFlags) -> Result<std::os::fd::OwnedFd, rustix::io::Errno> {
    let opened = |flags| open(path, flags, Mode::RUSR | Mode::WUSR);
    match opened(flags) {
        Err(rustix::io::Errno::INVAL) if flags.contains(OFlags::DIRECT) => opened(flags - OFlags::DIRECT),
        opened => opened,
    }
}

pub(super) fn open_regular(path: &Path, flags: OFlags) -> Option<File> {
    let flags = flags | OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::NONBLOCK;
    let file = File::from(open_direct(path, flags).ok()?);
    file.metadata().is_ok_and(|of| of.is_file()).then_some(file)
}

pub(super) fn files(folder: &Path, extension: &str) -> Vec<PathBuf> {
    // Without a folder of undo journals there are none, and `aged` in the working directory is somebody's own.
    if !folder.is_absolute() {
        return Vec::new();
    }
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    entries.filter(|path| path.extension().is_some_and(|of| of == extension)).collect()
}
