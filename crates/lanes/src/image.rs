//! Image files: written once in full with incompressible data, never only allocated, and kept so.
//!
//! An extent that is allocated but unwritten costs its first writer a conversion on the host, so
//! the lane that comes later looks faster. mkfs makes such extents even without discard: it zeroes
//! its journal and inode tables with BLKZEROOUT, which a loop device hands to the host as
//! FALLOC_FL_ZERO_RANGE. A count of blocks does not show them; FIEMAP does.

use crate::extents;
use crate::failure::{LaneFailure, cannot, failed, plain};
use model::Bytes;
use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use rustix::fs::{Advice, AtFlags, FallocateFlags, IFlags, StatxFlags};
use std::fs::{File, OpenOptions};
use std::ops::Range;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};
use std::os::unix::fs::{FileExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

/// Bytes per write of the first filling.
const WRITE_BYTES: usize = 4 << 20;
/// Bytes of one image before the next one has its turn. Places of a disk differ: outer tracks of a
/// rotating one, cached or migrated parts of a virtual one. Images that lay one behind the other
/// differed by 10 to 25 % in random writes on a virtual disk.
const STRIPE_BYTES: u64 = 32 << 20;
/// What every direct I/O here is aligned to; every sector size divides it.
const ALIGNMENT: usize = 4096;

/// A page-aligned buffer for O_DIRECT.
pub(crate) struct Aligned {
    storage: Vec<u8>,
    start: usize,
    length: usize,
}

impl Aligned {
    pub(crate) fn zeroed(length: usize) -> Self {
        let storage = vec![0u8; length + ALIGNMENT];
        let start = storage.as_ptr().align_offset(ALIGNMENT);
        Aligned { storage, start, length }
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        &self.storage[self.start..self.start + self.length]
    }

    /// From now on it has so many bytes, no more than when it was made.
    pub(crate) fn shorten(&mut self, length: usize) {
        self.length = length.min(self.storage.len() - ALIGNMENT);
    }

    pub(crate) fn bytes_mut(&mut self) -> &mut [u8] {
        &mut self.storage[self.start..self.start + self.length]
    }
}

/// An image file that was written in full.
#[derive(Debug)]
pub struct Image {
    path: PathBuf,
    /// What messages call the place that it takes room of.
    host: PathBuf,
    file: File,
    size_bytes: u64,
    allocated_bytes: u64,
}

impl Image {
    /// Creates one image; see [`Image::create_all`].
    ///
    /// # Errors
    /// As there.
    pub fn create(
        path: &Path,
        size_bytes: u64,
        seed: u64,
        progress: &mut dyn FnMut(u64),
        stop: &AtomicBool,
    ) -> Result<Image, LaneFailure> {
        let host = path.parent().and_then(Path::parent).unwrap_or(path);
        let mut images = Image::create_all(&[path.to_owned()], host, size_bytes, seed, progress, stop)?;
        Ok(images.pop().expect("one path gives one image"))
    }

    /// Creates the files, which take their room below `host` (they must not exist; mode 0600), and writes them in full with seeded random
    /// data, each with other bytes. They are allocated and written in turns of [`STRIPE_BYTES`], so
    /// that each of them lies spread over the same part of the disk. `progress` is told the bytes of
    /// each write; the stop flag is looked at before each.
    ///
    /// # Errors
    /// [`LaneFailure::Failed`] for a full disk or a host that does no direct I/O;
    /// [`LaneFailure::Interrupted`]. The files stay and are the undo journal's.
    pub fn create_all(
        paths: &[PathBuf],
        host: &Path,
        size_bytes: u64,
        seed: u64,
        progress: &mut dyn FnMut(u64),
        stop: &AtomicBool,
    ) -> Result<Vec<Image>, LaneFailure> {
        assert!(size_bytes > 0 && size_bytes.is_multiple_of(ALIGNMENT as u64), "sizes are checked before");
        let mut images =
            paths.iter().map(|path| Image::begin(path, host, size_bytes)).collect::<Result<Vec<_>, _>>()?;
        // Other bytes in each image: a host that deduplicates finds nothing.
        let mut random: Vec<Xoshiro256PlusPlus> = (1..=images.len() as u64)
            .map(|number| Xoshiro256PlusPlus::seed_from_u64(seed.wrapping_add(number)))
            .collect();
        let mut buffer = Aligned::zeroed(WRITE_BYTES);
        let mut offset = 0u64;
        while offset < size_bytes {
            let length = (size_bytes - offset).min(STRIPE_BYTES);
            for (image, random) in images.iter().zip(&mut random) {
                image.allocate(offset, length)?;
                image.fill(offset..offset + length, random, &mut buffer, progress, stop)?;
            }
            offset += length;
        }
        for image in &mut images {
            image.seal()?;
        }
        Ok(images)
    }

    fn begin(path: &Path, host: &Path, size_bytes: u64) -> Result<Image, LaneFailure> {
        let file = OpenOptions::new()
            .read(true)
            .write(true)
            .create_new(true)
            .mode(0o600)
            .custom_flags(libc::O_DIRECT | libc::O_NOFOLLOW)
            .open(path)
            .map_err(|error| cannot(format!("create {} with direct I/O", path.display()), error))?;
        forbid_copy_on_write(&file, path)?;
        Ok(Image { path: path.to_owned(), host: host.to_owned(), file, size_bytes, allocated_bytes: 0 })
    }

    fn allocate(&self, offset: u64, length: u64) -> Result<(), LaneFailure> {
        loop {
            match rustix::fs::fallocate(&self.file, FallocateFlags::empty(), offset, length) {
                Ok(()) => return Ok(()),
                Err(rustix::io::Errno::INTR) => {}
                // Then the writing itself finds a full disk, only later.
                Err(rustix::io::Errno::OPNOTSUPP) => return Ok(()),
                Err(error) => {
                    let error = error.into();
                    return Err(disk_full(&error, &self.host, self.size_bytes)
                        .unwrap_or_else(|| cannot(format!("allocate {}", self.path.display()), error)));
                }
            }
        }
    }

    /// Everything is written: it reaches the disk, and takes as much of it as it holds.
    fn seal(&mut self) -> Result<(), LaneFailure> {
        self.file.sync_all().map_err(|error| self.write_failure(&error))?;
        self.allocated_bytes = self.allocated_now()?;
        if self.allocated_bytes < self.size_bytes {
            return Err(failed(format!(
                "{} takes {} of {} on its disk although it was written in full with random data; choose a place without compression or deduplication with --on DIR",
                self.path.display(),
                Bytes(self.allocated_bytes),
                Bytes(self.size_bytes)
            )));
        }
        Ok(())
    }

    fn fill(
        &self,
        range: Range<u64>,
        random: &mut Xoshiro256PlusPlus,
        buffer: &mut Aligned,
        progress: &mut dyn FnMut(u64),
        stop: &AtomicBool,
    ) -> Result<(), LaneFailure> {
        let mut offset = range.start;
        while offset < range.end {
            if stop.load(Ordering::Relaxed) {
                return Err(LaneFailure::Interrupted);
            }
            let length = (range.end - offset).min(WRITE_BYTES as u64);
            let block = &mut buffer.bytes_mut()[..length as usize];
            random.fill_bytes(block);
            self.file.write_all_at(block, offset).map_err(|error| self.write_failure(&error))?;
            offset += length;
            progress(length);
        }
        Ok(())
    }

    fn write_failure(&self, error: &std::io::Error) -> LaneFailure {
        disk_full(error, &self.host, self.size_bytes)
            .unwrap_or_else(|| failed(format!("cannot write {}: {}", self.path.display(), plain(error))))
    }

    /// Writes a piece over what is there.
    ///
    /// # Errors
    /// [`LaneFailure::Failed`] where the host does not write.
    pub(crate) fn overwrite(&self, piece: &Aligned, offset: u64) -> Result<(), LaneFailure> {
        self.file.write_all_at(piece.bytes(), offset).map_err(|error| self.write_failure(&error))
    }

    /// Reads a piece.
    ///
    /// # Errors
    /// [`LaneFailure::Failed`] where the host does not read.
    pub(crate) fn read_piece(&self, piece: &mut Aligned, offset: u64) -> Result<(), LaneFailure> {
        let read = self.file.read_exact_at(piece.bytes_mut(), offset);
        read.map_err(|error| cannot(format!("read {}", self.path.display()), error))
    }

    /// Where it lies.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The open file.
    pub(crate) fn held(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }

    /// A path that leads to this very file, for programs that this process starts: whatever was put in its place in the
    /// folder meanwhile, they open what we hold open.
    pub(crate) fn held_path(&self) -> PathBuf {
        PathBuf::from(format!("/proc/{}/fd/{}", std::process::id(), self.file.as_raw_fd()))
    }

    /// Its size in bytes.
    pub fn size_bytes(&self) -> u64 {
        self.size_bytes
    }

    /// What direct I/O on this file must be aligned to, in bytes; `None`: the kernel does not tell.
    pub fn direct_io_alignment(&self) -> Option<u32> {
        let found = rustix::fs::statx(&self.file, c"", AtFlags::EMPTY_PATH, StatxFlags::DIOALIGN).ok()?;
        let told = found.stx_mask & StatxFlags::DIOALIGN.bits() != 0;
        (told && found.stx_dio_offset_align > 0).then_some(found.stx_dio_offset_align)
    }

    fn allocated_now(&self) -> Result<u64, LaneFailure> {
        let metadata =
            self.file.metadata().map_err(|error| cannot(format!("look at {}", self.path.display()), error))?;
        Ok(metadata.blocks() * 512)
    }

    /// Fails where blocks that were written at first are no longer allocated. Holes are looked for
    /// rather than blocks counted: on ext4 the count includes the file's own extent tree, which
    /// grows and shrinks by itself. Where the host does not tell extents, blocks are counted.
    ///
    /// # Errors
    /// [`LaneFailure::Failed`], `the image shrank: …`.
    pub fn check_not_shrunk(&self) -> Result<(), LaneFailure> {
        let lost_bytes = match self.extents()? {
            Some(found) => extents::holes(&found, self.size_bytes).iter().map(|(_, length)| length).sum(),
            None => self.allocated_bytes.saturating_sub(self.allocated_now()?),
        };
        if lost_bytes > 0 {
            return Err(failed(format!(
                "the image shrank: {} of its {} are no longer allocated, so something discarded or punched holes; race with nodiscard and leave the image alone",
                Bytes(lost_bytes),
                Bytes(self.size_bytes)
            )));
        }
        Ok(())
    }

    /// Fails where a snapshot or a copy of the image has come to share its blocks: every first write to them goes
    /// elsewhere, on btrfs even without copy-on-write.
    ///
    /// # Errors
    /// [`LaneFailure::Failed`], `a snapshot …`.
    pub fn check_not_shared(&self) -> Result<(), LaneFailure> {
        let shared = self.extents()?.map_or_else(Vec::new, |found| extents::shared(&found, self.size_bytes));
        let bytes: u64 = shared.iter().map(|(_, length)| length).sum();
        if bytes == 0 {
            return Ok(());
        }
        Err(failed(format!(
            "a snapshot was taken of the place of the images while they were raced: {} of {} are shared with it, and writing there costs more; switch timed snapshots off meanwhile or choose another place with --on DIR",
            Bytes(bytes),
            Bytes(self.size_bytes)
        )))
    }

    /// Writes what a snapshot shares again, so that the blocks are the image's own.
    fn unshare(&self) -> Result<(), LaneFailure> {
        let shared = self.extents()?.map_or_else(Vec::new, |found| extents::shared(&found, self.size_bytes));
        let mut block = Aligned::zeroed(1 << 20);
        for (start, length) in shared {
            let mut offset = start;
            while offset < start + length {
                let step = (start + length - offset).min(block.length as u64) as usize;
                let bytes = &mut block.bytes_mut()[..step];
                let read = self.file.read_exact_at(bytes, offset);
                read.and_then(|()| self.file.write_all_at(bytes, offset))
                    .map_err(|error| self.write_failure(&error))?;
                offset += step as u64;
            }
        }
        Ok(())
    }

    /// The parts that were never written since they were last zeroed or punched, as
    /// (offset, length) in bytes. `None`: the host cannot tell.
    ///
    /// # Errors
    /// [`LaneFailure::Failed`] where FIEMAP fails for another reason than not being there.
    pub fn never_written(&self) -> Result<Option<Vec<(u64, u64)>>, LaneFailure> {
        Ok(self.extents()?.map(|found| extents::never_written(&found, self.size_bytes)))
    }

    fn extents(&self) -> Result<Option<Vec<extents::Extent>>, LaneFailure> {
        match extents::read(&self.file) {
            Ok(found) => Ok(Some(found)),
            Err(error) if [Some(libc::EOPNOTSUPP), Some(libc::ENOTTY)].contains(&error.raw_os_error()) => Ok(None),
            Err(error) => Err(cannot(format!("read the extents of {}", self.path.display()), error)),
        }
    }

    /// Writes zeros over everything that was never written, and again what a snapshot shares: its content stays what
    /// it reads as, and its first writer pays no conversion and no copy any more. The caller has flushed the loop device
    /// before and drops its cache after. Returns the bytes written.
    ///
    /// # Errors
    /// [`LaneFailure::Failed`] where the host does not write.
    pub fn solidify(&self) -> Result<u64, LaneFailure> {
        self.unshare()?;
        let mut written = 0u64;
        // Writing may itself split an extent on the host: look again until nothing is left.
        for _ in 0..3 {
            let Some(gaps) = self.never_written()? else { return Ok(written) };
            if gaps.is_empty() {
                return Ok(written);
            }
            let zeros = Aligned::zeroed(1 << 20);
            for (offset, length) in gaps {
                written += length;
                self.write_over(&zeros, offset, length)?;
            }
            self.file.sync_data().map_err(|error| self.write_failure(&error))?;
        }
        match self.never_written()? {
            Some(gaps) if !gaps.is_empty() => Err(failed(format!(
                "{} stays unwritten in {} places although zeros were written there; choose another place with --on DIR",
                self.path.display(),
                gaps.len()
            ))),
            _ => Ok(written),
        }
    }

    fn write_over(&self, zeros: &Aligned, mut offset: u64, mut length: u64) -> Result<(), LaneFailure> {
        while length > 0 {
            let step = length.min(zeros.length as u64);
            let block = &zeros.bytes()[..step as usize];
            self.file.write_all_at(block, offset).map_err(|error| self.write_failure(&error))?;
            offset += step;
            length -= step;
        }
        Ok(())
    }

    /// Writes zeros where filesystems keep what names them, so that no tool finds an older one.
    ///
    /// # Errors
    /// [`LaneFailure::Failed`] where the host does not write.
    pub fn wipe_signatures(&self) -> Result<(), LaneFailure> {
        let zeros = Aligned::zeroed(1 << 20);
        for (offset, length) in crate::signature::signature_areas(self.size_bytes) {
            self.write_over(&zeros, offset, length)?;
        }
        self.file.sync_data().map_err(|error| self.write_failure(&error))
    }

    /// Writes what others, such as mkfs, left in the page cache.
    ///
    /// # Errors
    /// [`LaneFailure::Failed`] where the host does not write.
    pub fn sync(&self) -> Result<(), LaneFailure> {
        self.file.sync_data().map_err(|error| self.write_failure(&error))
    }

    /// Reads the first bytes into the page cache, through which a guest will read them. Best effort.
    pub fn warm(&self, bytes: u64) {
        let Ok(file) = File::open(&self.path) else { return };
        let mut buffer = vec![0u8; 1 << 20];
        let mut offset = 0;
        while offset < bytes.min(self.size_bytes) {
            match file.read_at(&mut buffer, offset) {
                Ok(count) if count > 0 => offset += count as u64,
                _ => return,
            }
        }
    }

    /// Tells the kernel to drop what it caches of the file. Advice: nothing fails.
    pub fn drop_cache(&self) {
        let _ = rustix::fs::fadvise(&self.file, 0, None, Advice::DontNeed);
    }
}

/// On btrfs: no copy-on-write (and with it no compression), or every write would move its block.
/// The flag only takes on an empty file.
fn forbid_copy_on_write(file: &File, path: &Path) -> Result<(), LaneFailure> {
    let host = rustix::fs::fstatfs(file).map_err(|error| cannot(format!("look at {}", path.display()), error))?;
    const BTRFS_SUPER_MAGIC: u64 = 0x9123_683E;
    if host.f_type as u64 != BTRFS_SUPER_MAGIC {
        return Ok(());
    }
    let set = rustix::fs::ioctl_getflags(file)
        .and_then(|flags| rustix::fs::ioctl_setflags(file, flags | IFlags::NOCOW))
        .and_then(|()| rustix::fs::ioctl_getflags(file));
    match set {
        Ok(flags) if flags.contains(IFlags::NOCOW) => Ok(()),
        _ => Err(failed(format!(
            "btrfs does not switch copy-on-write off for {}; choose another place with --on DIR",
            path.display()
        ))),
    }
}

/// The sentence for a disk, quota or file-size limit that an image does not fit into.
fn disk_full(error: &std::io::Error, host: &Path, size_bytes: u64) -> Option<LaneFailure> {
    let folder = host.display();
    let fact = match error.raw_os_error()? {
        libc::ENOSPC => format!("the disk under {folder} is full"),
        libc::EDQUOT => format!("the quota under {folder} is used up"),
        libc::EFBIG => format!("the filesystem under {folder} takes no file that large"),
        _ => return None,
    };
    Some(failed(format!(
        "{fact}: an image needs {}; free some space, lower --lane-size or choose another place with --on DIR",
        Bytes(size_bytes)
    )))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whoever owns the folder above an image may put a link in its place.
    #[test]
    fn programs_open_the_image_that_is_held_and_not_what_was_put_in_its_place() {
        let folder = PathBuf::from(format!("/var/tmp/fairlane-held-{}", std::process::id()));
        std::fs::create_dir(&folder).unwrap();
        let (path, precious) = (folder.join("image"), folder.join("precious"));
        std::fs::write(&precious, "precious").unwrap();
        let image = Image::create(&path, 1 << 20, 1, &mut |_| {}, &AtomicBool::new(false)).unwrap();
        std::fs::remove_file(&path).unwrap();
        std::os::unix::fs::symlink(&precious, &path).unwrap();
        let of = format!("of={}", image.held_path().display());
        let words = ["dd", "if=/dev/zero", "bs=1M", "count=1", "conv=notrunc", &of].map(str::to_owned);
        crate::command::run(&words, &AtomicBool::new(false)).unwrap();
        // The same for one that is confined to it.
        let of = format!("of=/proc/self/fd/{}", image.held().as_raw_fd());
        let words = ["dd", "if=/dev/zero", "bs=1M", "count=1", "conv=notrunc", &of].map(str::to_owned);
        let confined = crate::confined::Confined::to(&[&image.held_path()]).unwrap();
        let held_to = (confined.as_ref(), Some(image.held()));
        crate::command::run_confined(&words, held_to, &AtomicBool::new(false)).unwrap();
        let kept = std::fs::read(&precious).unwrap();
        std::fs::remove_dir_all(&folder).unwrap();
        assert_eq!(kept, b"precious");
        let mut first = Aligned::zeroed(ALIGNMENT);
        image.file.read_exact_at(first.bytes_mut(), 0).unwrap();
        assert!(first.bytes_mut().iter().all(|byte| *byte == 0), "the held image was written");
    }
}
