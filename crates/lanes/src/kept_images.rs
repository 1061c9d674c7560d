//! Images of filesystems with a past: made once, kept in a folder that only this user writes, and laid on a lane's disk again for
//! every round.

use crate::failure::{LaneFailure, cannot, failed};
use crate::image::{Aligned, Image};
use model::Bytes;
use model::aged::AgedLane;
use rustix::fs::{FlockOperation, Mode, OFlags, Timestamps, flock, futimens, open};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::fs::{DirBuilder, File};
use std::io::{Read, Write};
use std::os::unix::fs::{DirBuilderExt, FileExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::sync_channel;

/// The folder of kept images, in the one of undo journals.
pub const FOLDER: &str = "aged";
/// Bytes that have a checksum of their own.
const PIECE_BYTES: u64 = 4 << 20;
/// Bytes of all kept images, at most: those that were not used for longest go first. Chosen: sixteen of the usual lanes.
pub const MOST_BYTES: u64 = 32 << 30;
/// So much of the disk is left free beside them.
const SPARE_BYTES: u64 = 1 << 30;
/// A description has a checksum for each piece, and little else.
const MOST_DESCRIPTION_BYTES: u64 = 16 << 20;
/// Changes when descriptions do.
const VERSION: u32 = 1;
/// A lock is tried so often, a millisecond apart.
const LOCK_TRIALS: u32 = 20;

/// What is known of a kept image.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Description {
    version: u32,
    size_bytes: u64,
    /// CRC-32C of each piece.
    sums: Vec<u32>,
    /// What mkfs told.
    geometry: Vec<String>,
    facts: AgedLane,
}

/// An image that is kept, open and locked: nobody else lays it meanwhile, because two filesystems of one identity are not mounted
/// beside each other.
#[derive(Debug)]
pub(crate) struct KeptImage {
    path: PathBuf,
    file: File,
    description: Description,
}

/// What was found under a key.
#[derive(Debug)]
pub(crate) enum Kept {
    /// It is as it was left.
    Whole(Box<KeptImage>),
    /// Nothing; it may be made.
    Nothing(Draft),
    /// Another race uses it, or makes it.
    Busy,
    /// Something else, which was removed, and why; it may be made.
    Damaged(Draft, String),
}

/// The file of an image that is being made, locked from before its life is lived: no other race makes the same one.
#[derive(Debug)]
pub(crate) struct Draft {
    folder: PathBuf,
    key: String,
    file: File,
    is_named: bool,
}

impl Draft {
    /// `None`: another race makes it.
    fn begin(folder: &Path, key: &str) -> Result<Option<Draft>, LaneFailure> {
        let path = folder.join(format!("{key}.part"));
        let flags = OFlags::RDWR | OFlags::CREATE | OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::DIRECT;
        for _ in 0..LOCK_TRIALS {
            let made = open_direct(&path, flags);
            let failed =
                |error: rustix::io::Errno| cannot(format!("create {}", path.display()), std::io::Error::from(error));
            let file = File::from(made.map_err(failed)?);
            if !lock(&file) {
                return Ok(None);
            }
            // Who sweeps may have removed it before it was locked.
            let is_there = |of: &File| {
                let (own, named) = (of.metadata().ok()?, path.symlink_metadata().ok()?);
                Some((own.dev(), own.ino()) == (named.dev(), named.ino()))
            };
            if is_there(&file) == Some(true) {
                file.set_len(0).map_err(|error| cannot(format!("write {}", path.display()), error))?;
                return Ok(Some(Draft { folder: folder.to_owned(), key: key.to_owned(), file, is_named: false }));
            }
        }
        Ok(None)
    }

    fn path(&self) -> PathBuf {
        self.folder.join(format!("{}.part", self.key))
    }

    /// It is whole from now on, under its own name; the lock stays.
    fn name(mut self, path: &Path) -> Result<File, LaneFailure> {
        std::fs::rename(self.path(), path).map_err(|error| cannot(format!("name {}", path.display()), error))?;
        self.is_named = true;
        self.file.try_clone().map_err(|error| cannot(format!("hold {}", path.display()), error))
    }
}

impl Drop for Draft {
    fn drop(&mut self) {
        if !self.is_named {
            let _ = std::fs::remove_file(self.path());
        }
    }
}

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

impl KeptImage {
    /// Looks for the image of a key, and reads all of it. `Nothing` and `Damaged` come with the right to make it, which nobody else
    /// has meanwhile.
    ///
    /// # Errors
    /// [`LaneFailure::Interrupted`], and where the folder cannot be written; what cannot be read is damaged.
    pub(crate) fn find(folder: &Path, key: &str, stop: &AtomicBool) -> Result<Kept, LaneFailure> {
        let Some(draft) = Draft::begin(folder, key)? else { return Ok(Kept::Busy) };
        let path = folder.join(format!("{key}.image"));
        let Some(file) = open_regular(&path, OFlags::RDONLY | OFlags::DIRECT) else { return Ok(Kept::Nothing(draft)) };
        if !lock(&file) {
            return Ok(Kept::Busy);
        }
        let damaged = |why: &str, draft| {
            remove(&path);
            Ok(Kept::Damaged(draft, why.to_owned()))
        };
        let Some(description) = read_description(&path.with_extension("json")) else {
            return damaged("it has no description", draft);
        };
        let size = description.size_bytes;
        let has_size = file.metadata().is_ok_and(|of| of.len() == size);
        if !has_size || description.sums.len() as u64 != size.div_ceil(PIECE_BYTES) {
            return damaged("it has another size", draft);
        }
        let kept = KeptImage { path: path.clone(), file, description };
        match kept.each_piece(stop, &mut |_, _| Ok(())) {
            Ok(()) => {
                kept.was_used();
                Ok(Kept::Whole(Box::new(kept)))
            }
            Err(LaneFailure::Interrupted) => Err(LaneFailure::Interrupted),
            Err(_) => damaged("its bytes are not those that were kept", draft),
        }
    }

    /// Keeps an image, which nobody has mounted.
    ///
    /// # Errors
    /// [`LaneFailure::Failed`] where there is no room for it.
    pub(crate) fn keep(
        draft: Draft,
        image: &Image,
        (geometry, facts): (Vec<String>, AgedLane),
        stop: &AtomicBool,
    ) -> Result<KeptImage, LaneFailure> {
        let (folder, path) = (draft.folder.clone(), draft.folder.join(format!("{}.image", draft.key)));
        make_room(&folder, image.size_bytes())?;
        let sums = copy(image, &draft.file, stop)?;
        let facts = AgedLane { image: hash_of(&sums), ..facts };
        let description = Description { version: VERSION, size_bytes: image.size_bytes(), sums, geometry, facts };
        write_description(&path, &description)?;
        let file = draft.name(&path)?;
        sync_folder(&folder)?;
        Ok(KeptImage { path, file, description })
    }

    /// Writes it over an image of its size.
    ///
    /// # Errors
    /// [`LaneFailure::Failed`] where what is kept was changed meanwhile.
    pub(crate) fn lay(&self, image: &Image, stop: &AtomicBool) -> Result<(), LaneFailure> {
        if image.size_bytes() != self.description.size_bytes {
            return Err(failed(format!(
                "{} is of another size than the lane; this is a fault of Fairlane, report it",
                self.path.display()
            )));
        }
        self.each_piece(stop, &mut |offset, piece| image.overwrite(piece, offset))
    }

    pub(crate) fn geometry(&self) -> &[String] {
        &self.description.geometry
    }

    pub(crate) fn facts(&self) -> &AgedLane {
        &self.description.facts
    }

    /// Reads every piece, the next one while `act` is at work.
    fn each_piece(
        &self,
        stop: &AtomicBool,
        act: &mut dyn FnMut(u64, &Aligned) -> Result<(), LaneFailure>,
    ) -> Result<(), LaneFailure> {
        let Description { size_bytes, ref sums, .. } = self.description;
        let changed =
            || failed(format!("{} is not what was kept; race again, and it is made anew", self.path.display()));
        std::thread::scope(|scope| {
            let (full, read) = sync_channel::<(u64, Aligned)>(1);
            let (empty, used) = sync_channel::<Aligned>(3);
            for _ in 0..3 {
                let _ = empty.send(Aligned::zeroed(PIECE_BYTES as usize));
            }
            let reader = scope.spawn(move || {
                for (number, sum) in sums.iter().enumerate() {
                    let Ok(mut piece) = used.recv() else { return true };
                    let offset = number as u64 * PIECE_BYTES;
                    piece.shorten((size_bytes - offset).min(PIECE_BYTES) as usize);
                    let is_whole = self.file.read_exact_at(piece.bytes_mut(), offset).is_ok()
                        && crc32c::crc32c(piece.bytes()) == *sum;
                    if !is_whole {
                        return false;
                    }
                    if full.send((offset, piece)).is_err() {
                        return true;
                    }
                }
                true
            });
            while let Ok((offset, piece)) = read.recv() {
                if stop.load(Ordering::Relaxed) {
                    return Err(LaneFailure::Interrupted);
                }
                act(offset, &piece)?;
                let _ = empty.send(piece);
            }
            match reader.join() {
                Ok(true) => Ok(()),
                _ => Err(changed()),
            }
        })
    }

    /// The one that was not used for longest goes first.
    fn was_used(&self) {
        use rustix::fs::{Timespec, UTIME_NOW};
        let now = Timespec { tv_sec: 0, tv_nsec: UTIME_NOW };
        let _ = futimens(&self.file, &Timestamps { last_access: now, last_modification: now });
    }
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
    let sizes = files(&undo.join(FOLDER), "image").into_iter().filter_map(|path| path.symlink_metadata().ok());
    sizes.fold((0, 0), |(count, bytes), of| (count + 1, bytes + of.len()))
}

/// Whether an image of this size can be kept there, once others are gone.
///
/// # Errors
/// [`LaneFailure::Failed`] with the remedy.
/// `taken`: what the race's own images take of the disk of `beside`.
pub(crate) fn check_room(
    undo: &Path,
    (images, size_bytes): (u64, u64),
    (taken, beside): (u64, &Path),
) -> Result<(), LaneFailure> {
    let (_, kept) = kept(undo);
    let device = |path: &Path| path.metadata().map(|of| of.dev()).ok();
    let taken = if device(undo) == device(beside) { taken } else { 0 };
    let free = free_bytes(undo).saturating_add(kept).saturating_sub(taken);
    let needed = size_bytes.saturating_mul(images);
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
fn make_room(folder: &Path, size_bytes: u64) -> Result<(), LaneFailure> {
    let used_at = |path: &PathBuf| path.symlink_metadata().and_then(|of| of.modified()).ok();
    let mut images = files(folder, "image");
    images.sort_by_key(used_at);
    let mut images = images.into_iter();
    let has_room = || {
        let (_, kept) = folder.parent().map_or((0, 0), self::kept);
        kept.saturating_add(size_bytes) <= MOST_BYTES && free_bytes(folder) >= size_bytes.saturating_add(SPARE_BYTES)
    };
    while !has_room() {
        let Some(oldest) = images.next() else { return Err(no_room(folder, size_bytes)) };
        let is_free = open_regular(&oldest, OFlags::RDONLY).is_none_or(|file| lock(&file));
        if is_free {
            remove(&oldest);
        }
    }
    Ok(())
}

fn free_bytes(folder: &Path) -> u64 {
    rustix::fs::statvfs(folder).map_or(0, |of| of.f_bavail.saturating_mul(of.f_frsize))
}

/// Copies an image; answers the checksums of its pieces.
fn copy(image: &Image, to: &File, stop: &AtomicBool) -> Result<Vec<u32>, LaneFailure> {
    let mut piece = Aligned::zeroed(PIECE_BYTES as usize);
    let mut sums = Vec::new();
    let mut offset = 0;
    while offset < image.size_bytes() {
        if stop.load(Ordering::Relaxed) {
            return Err(LaneFailure::Interrupted);
        }
        piece.shorten((image.size_bytes() - offset).min(PIECE_BYTES) as usize);
        image.read_piece(&mut piece, offset)?;
        sums.push(crc32c::crc32c(piece.bytes()));
        to.write_all_at(piece.bytes(), offset).map_err(|error| cannot("keep an image".to_owned(), error))?;
        offset += piece.bytes().len() as u64;
    }
    to.sync_all().map_err(|error| cannot("keep an image".to_owned(), error))?;
    Ok(sums)
}

fn write_description(image: &Path, description: &Description) -> Result<(), LaneFailure> {
    let (path, part) = (image.with_extension("json"), image.with_extension("draft"));
    let bytes = serde_json::to_vec(description).expect("a description is plain data");
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::TRUNC | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let written = open(&part, flags, Mode::RUSR | Mode::WUSR).map_err(std::io::Error::from).and_then(|file| {
        let mut file = File::from(file);
        file.write_all(&bytes)?;
        file.sync_all()?;
        std::fs::rename(&part, &path)
    });
    written.map_err(|error| cannot(format!("write {}", path.display()), error))
}

fn read_description(path: &Path) -> Option<Description> {
    let mut text = Vec::new();
    open_regular(path, OFlags::RDONLY)?.take(MOST_DESCRIPTION_BYTES).read_to_end(&mut text).ok()?;
    serde_json::from_slice::<Description>(&text).ok().filter(|description| description.version == VERSION)
}

fn sync_folder(folder: &Path) -> Result<(), LaneFailure> {
    let synced = File::open(folder).and_then(|folder| folder.sync_all());
    synced.map_err(|error| cannot(format!("sync {}", folder.display()), error))
}

fn remove(image: &Path) {
    let _ = std::fs::remove_file(image.with_extension("json"));
    let _ = std::fs::remove_file(image);
}

/// Takes the lock of a file; who only looks holds it for a moment.
fn lock(file: &File) -> bool {
    (0..LOCK_TRIALS).any(|trial| {
        if trial > 0 {
            std::thread::sleep(std::time::Duration::from_millis(1));
        }
        flock(file, FlockOperation::NonBlockingLockExclusive).is_ok()
    })
}

/// What tells one image from another.
fn hash_of(sums: &[u32]) -> String {
    let bytes: Vec<u8> = sums.iter().flat_map(|sum| sum.to_le_bytes()).collect();
    Sha256::digest(&bytes).iter().take(8).map(|byte| format!("{byte:02x}")).collect()
}

/// Without direct I/O where a filesystem has none, as some in memory and in layers.
fn open_direct(path: &Path, flags: OFlags) -> Result<std::os::fd::OwnedFd, rustix::io::Errno> {
    let opened = |flags| open(path, flags, Mode::RUSR | Mode::WUSR);
    match opened(flags) {
        Err(rustix::io::Errno::INVAL) if flags.contains(OFlags::DIRECT) => opened(flags - OFlags::DIRECT),
        opened => opened,
    }
}

fn open_regular(path: &Path, flags: OFlags) -> Option<File> {
    let flags = flags | OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::NONBLOCK;
    let file = File::from(open_direct(path, flags).ok()?);
    file.metadata().is_ok_and(|of| of.is_file()).then_some(file)
}

fn files(folder: &Path, extension: &str) -> Vec<PathBuf> {
    // Without a folder of undo journals there are none, and `aged` in the working directory is somebody's own.
    if !folder.is_absolute() {
        return Vec::new();
    }
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    entries.filter(|path| path.extension().is_some_and(|of| of == extension)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Scratch(PathBuf);

    impl Scratch {
        fn new(name: &str) -> Scratch {
            let path = PathBuf::from(format!("/var/tmp/fairlane-kept-{name}-{}", std::process::id()));
            std::fs::create_dir(&path).unwrap();
            Scratch(path)
        }

        fn image(&self, name: &str, seed: u64) -> Image {
            let folder = self.0.join(name);
            std::fs::create_dir(&folder).unwrap();
            // Not a multiple of a piece.
            Image::create(&folder.join("image"), (9 << 20) + 4096, seed, &mut |_| {}, &AtomicBool::new(false)).unwrap()
        }
    }

    impl Drop for Scratch {
        fn drop(&mut self) {
            std::fs::remove_dir_all(&self.0).unwrap();
        }
    }

    fn bytes(image: &Image) -> Vec<u8> {
        std::fs::read(image.path()).unwrap()
    }

    #[test]
    fn what_is_laid_again_is_what_was_kept_byte_by_byte() {
        let scratch = Scratch::new("laid");
        let go_on = AtomicBool::new(false);
        let folder = folder(&scratch.0).unwrap();
        let (aged, other) = (scratch.image("a", 1), scratch.image("b", 2));
        let facts = AgedLane { states: "+aged".to_owned(), seed: 1, ..AgedLane::default() };
        let Ok(Kept::Nothing(draft)) = KeptImage::find(&folder, "key", &go_on) else { panic!("nothing is there") };
        assert!(matches!(KeptImage::find(&folder, "key", &go_on), Ok(Kept::Busy)), "this race makes it");
        sweep(&scratch.0);
        let kept = KeptImage::keep(draft, &aged, (vec!["x: 1".to_owned()], facts.clone()), &go_on).unwrap();
        assert!(matches!(KeptImage::find(&folder, "key", &go_on), Ok(Kept::Busy)), "this race holds it");
        assert_eq!(remove_all(&scratch.0), Removed { images: 0, bytes: 0, in_use: 1 });
        drop(kept);
        let Ok(Kept::Whole(kept)) = KeptImage::find(&folder, "key", &go_on) else { panic!("it is there") };
        let facts = AgedLane { image: kept.facts().image.clone(), ..facts };
        assert_eq!((kept.geometry(), kept.facts()), (&["x: 1".to_owned()][..], &facts));
        assert_eq!(facts.image.len(), 16);
        assert_ne!(bytes(&aged), bytes(&other));
        kept.lay(&other, &go_on).unwrap();
        assert_eq!(bytes(&aged), bytes(&other));
        other.check_not_shrunk().unwrap();
        assert_eq!(super::kept(&scratch.0), (1, aged.size_bytes()));
        assert!(matches!(KeptImage::find(&folder, "another", &go_on), Ok(Kept::Nothing(_))));
        assert_eq!(files(&folder, "part"), Vec::<PathBuf>::new());
        drop(kept);
        assert_eq!(remove_all(&scratch.0), Removed { images: 1, bytes: aged.size_bytes(), in_use: 0 });
        assert!(!folder.exists());
    }

    #[test]
    fn what_was_changed_or_half_written_is_removed() {
        let scratch = Scratch::new("changed");
        let go_on = AtomicBool::new(false);
        let aged = scratch.image("a", 1);
        type Damage = fn(&Path);
        let damages: [Damage; 4] = [
            |image| {
                let file = File::options().read(true).write(true).open(image).unwrap();
                let mut byte = [0];
                file.read_exact_at(&mut byte, 5 << 20).unwrap();
                file.write_all_at(&[!byte[0]], 5 << 20).unwrap();
            },
            |image| File::options().write(true).open(image).unwrap().set_len(1 << 20).unwrap(),
            |image| std::fs::write(image.with_extension("json"), b"{}").unwrap(),
            |image| std::fs::remove_file(image.with_extension("json")).unwrap(),
        ];
        for damage in damages {
            let folder = folder(&scratch.0).unwrap();
            let Ok(Kept::Nothing(draft)) = KeptImage::find(&folder, "key", &go_on) else { panic!("nothing is there") };
            drop(KeptImage::keep(draft, &aged, (Vec::new(), AgedLane::default()), &go_on).unwrap());
            damage(&folder.join("key.image"));
            assert!(matches!(KeptImage::find(&folder, "key", &go_on), Ok(Kept::Damaged(..))));
            assert_eq!(files(&folder, "image"), Vec::<PathBuf>::new());
        }
        // A race that was killed while it kept one; one that lives is left alone.
        let folder = folder(&scratch.0).unwrap();
        let part = folder.join("key.part");
        std::fs::write(&part, b"half").unwrap();
        let lives = File::open(&part).unwrap();
        flock(&lives, FlockOperation::NonBlockingLockExclusive).unwrap();
        sweep(&scratch.0);
        assert!(part.exists() && matches!(KeptImage::find(&folder, "key", &go_on), Ok(Kept::Busy)));
        drop(lives);
        sweep(&scratch.0);
        assert!(!part.exists());
        // What tells of an image that never had its name.
        for left in ["key.json", "key.draft"] {
            std::fs::write(folder.join(left), b"{}").unwrap();
        }
        sweep(&scratch.0);
        assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 0);
        // A link is followed nowhere.
        std::os::unix::fs::symlink("/etc/passwd", folder.join("key.image")).unwrap();
        assert!(matches!(KeptImage::find(&folder, "key", &go_on), Ok(Kept::Nothing(_))));
        std::os::unix::fs::symlink("/etc/passwd", folder.join("another.part")).unwrap();
        assert!(KeptImage::find(&folder, "another", &go_on).is_err());
    }

    #[test]
    fn a_stop_ends_the_laying() {
        let scratch = Scratch::new("stopped");
        let folder = folder(&scratch.0).unwrap();
        let aged = scratch.image("a", 1);
        let stopped = AtomicBool::new(true);
        let kept = |stop| {
            let draft = Draft::begin(&folder, "key").unwrap().expect("nobody makes it");
            KeptImage::keep(draft, &aged, (Vec::new(), AgedLane::default()), stop)
        };
        assert_eq!(kept(&stopped).err(), Some(LaneFailure::Interrupted));
        assert!(files(&folder, "part").is_empty(), "nothing is left of it");
        let kept = kept(&AtomicBool::new(false)).unwrap();
        assert_eq!(kept.lay(&aged, &stopped), Err(LaneFailure::Interrupted));
    }
}
