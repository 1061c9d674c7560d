//! Images of filesystems with a past: made once, kept in a folder that only this user writes, and laid on a lane's disk again for
//! every round.

mod cache;
mod pieces;

pub(crate) use cache::check_room;
pub use cache::{FOLDER, MOST_BYTES, Removed, folder, kept, remove_all, sweep};

use crate::failure::{LaneFailure, cannot, failed};
use crate::image::{Aligned, Image};
use cache::{LOCK_TRIALS, keep_bound, lock, make_room, open_direct, open_regular, remove};
use model::aged::{AgedLane, ColdRead};
use pieces::{Decoder, Encoder, PIECE_BYTES, room};
use rustix::fs::{Mode, OFlags, Timestamps, futimens, open};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::fs::File;
use std::io::{Read, Write};
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// A description has a checksum and a length for each piece, and little else.
const MOST_DESCRIPTION_BYTES: u64 = 16 << 20;
/// Changes when descriptions do.
const VERSION: u32 = 4;
/// So many pieces are under way at once: a disk is idle between two requests of one hand.
const HANDS: usize = 4;

/// What is done with a piece of a disk, and where it lies there.
type Act<'a> = dyn Fn(usize, u64, &Aligned) -> Result<(), LaneFailure> + Sync + 'a;

/// What is known of a kept image.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Description {
    version: u32,
    /// Disks of the lane; their images lie one behind the other.
    disks: u32,
    /// Bytes of one of them.
    disk_bytes: u64,
    /// CRC-32C of each piece; those of a disk begin anew.
    sums: Vec<u32>,
    /// Bytes of each piece in the file; as many as it has where it is kept as it is.
    stored: Vec<u32>,
    /// What mkfs told.
    geometry: Vec<String>,
    facts: AgedLane,
}

impl Description {
    /// Whether it tells of each piece something that can be.
    fn is_whole(&self) -> bool {
        let pieces = self.pieces_of_disk().saturating_mul(u64::from(self.disks));
        let is_piece = |(piece, stored): (u64, &u32)| (1..=self.place(piece).2).contains(&(*stored as usize));
        self.disk_bytes > 0
            && [self.sums.len() as u64, self.stored.len() as u64] == [pieces; 2]
            && (0..).zip(&self.stored).all(is_piece)
    }

    /// Where each piece begins in the file, and where the last one ends.
    fn begins(&self) -> Vec<u64> {
        let mut end = 0;
        let mut begins = vec![end];
        begins.extend(self.stored.iter().map(|stored| {
            end += room(*stored);
            end
        }));
        begins
    }

    fn pieces_of_disk(&self) -> u64 {
        self.disk_bytes.div_ceil(PIECE_BYTES)
    }

    /// Of a piece: its disk, where it lies there, and its bytes.
    fn place(&self, piece: u64) -> (usize, u64, usize) {
        let offset = piece % self.pieces_of_disk() * PIECE_BYTES;
        ((piece / self.pieces_of_disk()) as usize, offset, (self.disk_bytes - offset).min(PIECE_BYTES) as usize)
    }
}

/// An image that is kept, open and locked: nobody else lays it meanwhile, because two filesystems of one identity are not mounted
/// beside each other.
#[derive(Debug)]
pub(crate) struct KeptImage {
    path: PathBuf,
    file: File,
    description: Description,
    /// Where each piece begins in the file.
    begins: Vec<u64>,
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
        let description = match read_description(&path.with_extension("json")) {
            Ok(description) => description,
            Err(why) => return damaged(why, draft),
        };
        let begins = description.begins();
        if file.metadata().ok().map(|of| of.len()) != begins.last().copied() {
            return damaged("it has another size", draft);
        }
        let kept = KeptImage { path: path.clone(), file, description, begins };
        match kept.each_piece(stop, &|_, _, _| Ok(())) {
            Ok(()) => {
                kept.was_used();
                Ok(Kept::Whole(Box::new(kept)))
            }
            Err(LaneFailure::Interrupted) => Err(LaneFailure::Interrupted),
            Err(_) => damaged("its bytes are not those that were kept", draft),
        }
    }

    /// Keeps the images of a lane, of one size, which nobody has mounted.
    ///
    /// # Errors
    /// [`LaneFailure::Failed`] where there is no room for it.
    pub(crate) fn keep(
        draft: Draft,
        images: &[&Image],
        (geometry, facts): (Vec<String>, AgedLane),
        stop: &AtomicBool,
    ) -> Result<KeptImage, LaneFailure> {
        let (folder, path) = (draft.folder.clone(), draft.folder.join(format!("{}.image", draft.key)));
        let disk_bytes = images.first().map_or(0, |image| image.size_bytes());
        make_room(&folder, disk_bytes.saturating_mul(images.len() as u64))?;
        let (mut sums, mut stored) = (Vec::new(), Vec::new());
        let mut encoder = Encoder::new().map_err(|error| cannot("keep an image", error))?;
        let mut end = 0;
        for image in images {
            copy(image, &mut encoder, stop, &mut |sum, (written, bytes)| {
                draft.file.write_all_at(written, end).map_err(|error| cannot("keep an image", error))?;
                end += written.len() as u64;
                sums.push(sum);
                stored.push(bytes);
                Ok(())
            })?;
        }
        draft.file.sync_all().map_err(|error| cannot("keep an image", error))?;
        let facts = AgedLane { image: hash_of(&sums), ..facts };
        let disks = images.len() as u32;
        let description = Description { version: VERSION, disks, disk_bytes, sums, stored, geometry, facts };
        write_description(&path, &description)?;
        let file = draft.name(&path)?;
        sync_folder(&folder)?;
        keep_bound(&folder);
        let begins = description.begins();
        Ok(KeptImage { path, file, description, begins })
    }

    /// Keeps how long reading it took too, where that is known.
    ///
    /// # Errors
    /// [`LaneFailure::Failed`] where its description cannot be written; the one before stays.
    pub(crate) fn learn(&mut self, read: Option<ColdRead>) -> Result<(), LaneFailure> {
        if read.is_none() {
            return Ok(());
        }
        self.description.facts.cold_read = read;
        write_description(&self.path, &self.description)
    }

    /// Writes it over the images of a lane's disks, which have its size.
    ///
    /// # Errors
    /// [`LaneFailure::Failed`] where what is kept was changed meanwhile.
    pub(crate) fn lay(&self, images: &[&Image], stop: &AtomicBool) -> Result<(), LaneFailure> {
        let is_of_size = |image: &&Image| image.size_bytes() == self.description.disk_bytes;
        if images.len() != self.description.disks as usize || !images.iter().all(is_of_size) {
            return Err(failed(format!(
                "{} is of another size than the lane; this is a fault of Fairlane, report it",
                self.path.display()
            )));
        }
        self.each_piece(stop, &|disk, offset, piece| images[disk].overwrite(piece, offset))?;
        // What a disk still holds back of it, the lane's first flush would pay for.
        images.iter().try_for_each(|image| image.sync())
    }

    pub(crate) fn geometry(&self) -> &[String] {
        &self.description.geometry
    }

    pub(crate) fn facts(&self) -> &AgedLane {
        &self.description.facts
    }

    /// Reads every piece, several at a time: `act` is told its disk and where it lies there.
    fn each_piece(&self, stop: &AtomicBool, act: &Act) -> Result<(), LaneFailure> {
        let next = AtomicU64::new(0);
        std::thread::scope(|scope| {
            let hands: Vec<_> = (0..HANDS).map(|_| scope.spawn(|| self.take_pieces(&next, stop, act))).collect();
            let done: Vec<_> = hands.into_iter().map(|hand| hand.join().expect("a hand does not panic")).collect();
            done.into_iter().collect()
        })
    }

    /// Takes the next piece until there is none.
    fn take_pieces(&self, next: &AtomicU64, stop: &AtomicBool, act: &Act) -> Result<(), LaneFailure> {
        let Description { ref sums, ref stored, .. } = self.description;
        let mut decoder = Decoder::new().map_err(|error| cannot("read a kept image", error))?;
        let mut piece = Aligned::zeroed(PIECE_BYTES as usize);
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            let Some((sum, stored)) = sums.get(number as usize).zip(stored.get(number as usize)) else { return Ok(()) };
            let end = || next.store(sums.len() as u64, Ordering::Relaxed);
            if stop.load(Ordering::Relaxed) {
                end();
                return Err(LaneFailure::Interrupted);
            }
            let (disk, offset, length) = self.description.place(number);
            piece.shorten(length);
            let read = decoder.read(&self.file, self.begins[number as usize], *stored, &mut piece);
            if read.is_err() || crc32c::crc32c(piece.bytes()) != *sum {
                end();
                let path = self.path.display();
                return Err(failed(format!("{path} is not what was kept; race again, and it is made anew")));
            }
            act(disk, offset, &piece).inspect_err(|_| end())?;
        }
    }

    /// The one that was not used for longest goes first.
    fn was_used(&self) {
        use rustix::fs::{Timespec, UTIME_NOW};
        let now = Timespec { tv_sec: 0, tv_nsec: UTIME_NOW };
        let _ = futimens(&self.file, &Timestamps { last_access: now, last_modification: now });
    }
}

/// What takes each piece of an image: its checksum, what is written in its place, and how many bytes of that count.
type Keep<'a> = dyn FnMut(u32, (&[u8], u32)) -> Result<(), LaneFailure> + 'a;

/// Reads an image piece by piece.
fn copy(image: &Image, encoder: &mut Encoder, stop: &AtomicBool, keep: &mut Keep) -> Result<(), LaneFailure> {
    let mut piece = Aligned::zeroed(PIECE_BYTES as usize);
    let mut offset = 0;
    while offset < image.size_bytes() {
        if stop.load(Ordering::Relaxed) {
            return Err(LaneFailure::Interrupted);
        }
        piece.shorten((image.size_bytes() - offset).min(PIECE_BYTES) as usize);
        image.read_piece(&mut piece, offset)?;
        keep(crc32c::crc32c(piece.bytes()), encoder.encode(&piece))?;
        offset += piece.bytes().len() as u64;
    }
    Ok(())
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

/// # Errors
/// Why it tells nothing of its image.
fn read_description(path: &Path) -> Result<Description, &'static str> {
    #[derive(Deserialize)]
    struct Versioned {
        version: u32,
    }
    let none = "it has no description";
    let mut text = Vec::new();
    let file = open_regular(path, OFlags::RDONLY).ok_or(none)?;
    file.take(MOST_DESCRIPTION_BYTES).read_to_end(&mut text).map_err(|_| none)?;
    if let Ok(of) = serde_json::from_slice::<Versioned>(&text)
        && of.version != VERSION
    {
        return Err("another version of Fairlane kept it");
    }
    serde_json::from_slice::<Description>(&text).ok().filter(Description::is_whole).ok_or(none)
}

fn sync_folder(folder: &Path) -> Result<(), LaneFailure> {
    let synced = File::open(folder).and_then(|folder| folder.sync_all());
    synced.map_err(|error| cannot(format!("sync {}", folder.display()), error))
}

/// What tells one image from another.
fn hash_of(sums: &[u32]) -> String {
    let bytes: Vec<u8> = sums.iter().flat_map(|sum| sum.to_le_bytes()).collect();
    Sha256::digest(&bytes).iter().take(8).map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::cache::files;
    use super::*;
    use rustix::fs::{FlockOperation, flock};

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
        let kept = KeptImage::keep(draft, &[&aged], (vec!["x: 1".to_owned()], facts.clone()), &go_on).unwrap();
        assert!(matches!(KeptImage::find(&folder, "key", &go_on), Ok(Kept::Busy)), "this race holds it");
        assert_eq!(remove_all(&scratch.0), Removed { images: 0, bytes: 0, in_use: 1 });
        drop(kept);
        let Ok(Kept::Whole(kept)) = KeptImage::find(&folder, "key", &go_on) else { panic!("it is there") };
        let facts = AgedLane { image: kept.facts().image.clone(), ..facts };
        assert_eq!((kept.geometry(), kept.facts()), (&["x: 1".to_owned()][..], &facts));
        assert_eq!(facts.image.len(), 16);
        assert_ne!(bytes(&aged), bytes(&other));
        kept.lay(&[&other], &go_on).unwrap();
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
    fn images_of_several_disks_are_kept_as_one_and_laid_in_their_order() {
        let scratch = Scratch::new("disks");
        let go_on = AtomicBool::new(false);
        let folder = folder(&scratch.0).unwrap();
        let [a, b, c, d] = [("a", 1), ("b", 2), ("c", 3), ("d", 4)].map(|(name, seed)| scratch.image(name, seed));
        let Ok(Kept::Nothing(draft)) = KeptImage::find(&folder, "key", &go_on) else { panic!("nothing is there") };
        drop(KeptImage::keep(draft, &[&a, &b], (Vec::new(), AgedLane::default()), &go_on).unwrap());
        let Ok(Kept::Whole(kept)) = KeptImage::find(&folder, "key", &go_on) else { panic!("it is there") };
        assert!(kept.lay(&[&c], &go_on).is_err(), "a lane of another number of disks");
        kept.lay(&[&c, &d], &go_on).unwrap();
        assert_ne!(bytes(&a), bytes(&b));
        assert_eq!((bytes(&c), bytes(&d)), (bytes(&a), bytes(&b)));
        assert_eq!(super::kept(&scratch.0), (1, 2 * a.size_bytes()));
    }

    #[test]
    fn what_was_changed_or_half_written_is_removed() {
        let scratch = Scratch::new("changed");
        let go_on = AtomicBool::new(false);
        let aged = scratch.image("a", 1);
        type Damage = fn(&Path);
        let damages: [Damage; 6] = [
            |image| {
                let file = File::options().read(true).write(true).open(image).unwrap();
                let mut byte = [0];
                file.read_exact_at(&mut byte, 5 << 20).unwrap();
                file.write_all_at(&[!byte[0]], 5 << 20).unwrap();
            },
            |image| File::options().write(true).open(image).unwrap().set_len(1 << 20).unwrap(),
            |image| std::fs::write(image.with_extension("json"), b"{}").unwrap(),
            |image| std::fs::write(image.with_extension("json"), br#"{"version":3}"#).unwrap(),
            |image| {
                // A piece that would lie beyond all that is read.
                let path = image.with_extension("json");
                let mut told: serde_json::Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
                told["stored"][0] = u32::MAX.into();
                std::fs::write(path, told.to_string()).unwrap();
            },
            |image| std::fs::remove_file(image.with_extension("json")).unwrap(),
        ];
        for damage in damages {
            let folder = folder(&scratch.0).unwrap();
            let Ok(Kept::Nothing(draft)) = KeptImage::find(&folder, "key", &go_on) else { panic!("nothing is there") };
            drop(KeptImage::keep(draft, &[&aged], (Vec::new(), AgedLane::default()), &go_on).unwrap());
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
            KeptImage::keep(draft, &[&aged], (Vec::new(), AgedLane::default()), stop)
        };
        assert_eq!(kept(&stopped).err(), Some(LaneFailure::Interrupted));
        assert!(files(&folder, "part").is_empty(), "nothing is left of it");
        let kept = kept(&AtomicBool::new(false)).unwrap();
        assert_eq!(kept.lay(&[&aged], &stopped), Err(LaneFailure::Interrupted));
    }
}
