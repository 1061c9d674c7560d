//! What lanes stand on: an image on a loop device, an image that is a guest's disk, a block device, memory, a
//! directory.

use crate::device::{self, Found};
use crate::failure::LaneFailure;
use crate::guest::GuestKind;
use crate::host::{self, Host};
use crate::image::Image;
use crate::loop_device::LoopDevice;
use crate::undo::{EntryId, Journal, Thing};
use std::path::{Path, PathBuf};

/// What a lane stands on.
#[derive(Debug)]
pub(crate) enum BackingStore {
    /// A file that becomes an image on a loop device.
    Image(Box<ImageStore>),
    /// A file that becomes an image and a disk of a guest.
    Guest(Box<GuestDisk>),
    /// A block device that may be overwritten.
    Device(Box<Found>),
    /// Memory.
    Memory,
    /// A directory as it is.
    Directory {
        path: PathBuf,
        host: Box<Host>,
        /// Where the run's folder in it is worked on.
        work: PathBuf,
    },
}

/// An image and its loop device, made by `build`.
#[derive(Debug)]
pub(crate) struct ImageStore {
    pub(crate) path: PathBuf,
    pub(crate) made: Option<Made>,
}

/// Fields drop in order: the loop device lets go before the image's own descriptor closes.
#[derive(Debug)]
pub(crate) struct Made {
    pub(crate) device: LoopDevice,
    pub(crate) image: Image,
    entry: EntryId,
}

/// An image that a guest has as a disk, made by `build`.
#[derive(Debug)]
pub(crate) struct GuestDisk {
    pub(crate) path: PathBuf,
    pub(crate) image: Option<Image>,
    /// Which image it is: images change places where guests do.
    pub(crate) number: usize,
    /// Which guest of the lane set.
    pub(crate) guest: usize,
    pub(crate) kind: GuestKind,
    /// As the guest's /proc/diskstats names it.
    pub(crate) name: String,
}

/// An image that is taken out of its place for another.
#[derive(Debug)]
pub(crate) struct Loose {
    pub(crate) number: usize,
    path: PathBuf,
    image: Image,
}

impl GuestDisk {
    pub(crate) fn image(&self) -> &Image {
        self.image.as_ref().expect("lanes are opened after `build`")
    }
}

impl ImageStore {
    /// Attaches the image that was written for it, journalled before.
    pub(crate) fn attach(&mut self, image: Image, journal: &mut Journal) -> Result<(), LaneFailure> {
        let entry = journal.will(Thing::Loop { backing: self.path.clone() })?;
        let device = LoopDevice::attach(&self.path, image.direct_io_alignment())?;
        journal.learned_device(entry, &device.path())?;
        self.made = Some(Made { device, image, entry });
        Ok(())
    }

    pub(crate) fn made(&self) -> &Made {
        self.made.as_ref().expect("lanes are opened after `build`")
    }

    /// Detaches the loop device; the image goes with its run directory.
    pub(crate) fn detach(&mut self, journal: Option<&mut Journal>) -> Result<(), LaneFailure> {
        if let Some(mut made) = self.made.take() {
            made.device.detach()?;
            if let Some(journal) = journal {
                journal.done(made.entry)?;
            }
        }
        Ok(())
    }
}

impl BackingStore {
    /// Takes the image of a guest's disk out; `None`: it is none, or has none.
    pub(crate) fn take_image(&mut self) -> Option<Loose> {
        let BackingStore::Guest(disk) = self else { return None };
        Some(Loose { number: disk.number, path: disk.path.clone(), image: disk.image.take()? })
    }

    /// Puts another one in.
    pub(crate) fn give_image(&mut self, loose: Loose) {
        if let BackingStore::Guest(disk) = self {
            (disk.number, disk.path, disk.image) = (loose.number, loose.path, Some(loose.image));
        }
    }

    /// What the host formats: of a guest's disk the image, which lies in a folder that may be somebody else's.
    pub(crate) fn formatted(&self) -> Option<PathBuf> {
        match self {
            BackingStore::Guest(disk) => disk.image.as_ref().map(Image::held_path),
            _ => self.block_device(),
        }
    }

    /// The block device to mount and probe, where the lane works: of a guest's disk the one in the guest.
    /// `None`: there is none.
    pub(crate) fn block_device(&self) -> Option<PathBuf> {
        match self {
            BackingStore::Guest(disk) => Some(Path::new("/dev").join(&disk.name)),
            BackingStore::Image(image) => image.made.as_ref().map(|made| made.device.path()),
            BackingStore::Device(found) => Some(found.path.clone()),
            BackingStore::Memory | BackingStore::Directory { .. } => None,
        }
    }

    /// Its block device as /proc/diskstats names it.
    pub(crate) fn device_name(&self) -> Option<String> {
        match self {
            BackingStore::Image(image) => image.made.as_ref().map(|made| made.device.name()),
            BackingStore::Guest(disk) => Some(disk.name.clone()),
            BackingStore::Device(found) => Some(found.kernel_name.clone()),
            BackingStore::Memory => None,
            BackingStore::Directory { host, .. } => host.block.clone(),
        }
    }

    /// The whole disk under it as /proc/diskstats names it; `images` is what carries the images.
    pub(crate) fn disk_name(&self, images: Option<&Host>) -> Option<String> {
        match self {
            BackingStore::Image(_) | BackingStore::Guest(_) => images.and_then(|host| host.disk.clone()),
            BackingStore::Device(found) if found.is_loop() => {
                let backing = crate::loop_device::backing_of(&found.kernel_name)?;
                host::of(&backing).ok()?.disk
            }
            BackingStore::Device(found) => Some(host::whole_disk(&found.kernel_name)),
            BackingStore::Memory => None,
            BackingStore::Directory { host, .. } => host.disk.clone(),
        }
    }

    /// Makes the ground ready for a mkfs: still ours, and nothing on it names an older filesystem.
    pub(crate) fn prepare_for_mkfs(&self) -> Result<(), LaneFailure> {
        match self {
            BackingStore::Image(image) => {
                let made = image.made();
                made.image.wipe_signatures()?;
                made.device.drop_cache()
            }
            BackingStore::Guest(disk) => {
                disk.image().wipe_signatures()?;
                disk.image().drop_cache();
                Ok(())
            }
            BackingStore::Device(found) => {
                device::check_again(found)?;
                device::wipe_signatures(found)
            }
            BackingStore::Memory | BackingStore::Directory { .. } => Ok(()),
        }
    }

    /// After a mkfs: every block of an image is written again, so that mkfs's own zeroing does not
    /// show later (see `image.rs`).
    pub(crate) fn settle_after_mkfs(&self) -> Result<(), LaneFailure> {
        match self {
            BackingStore::Image(image) => {
                let made = image.made();
                made.device.sync()?;
                made.image.solidify()?;
                self.drop_caches()
            }
            BackingStore::Guest(disk) => {
                disk.image().sync()?;
                disk.image().solidify()?;
                self.drop_caches()
            }
            _ => self.drop_caches(),
        }
    }

    /// Drops what the kernel caches of the device and of the image.
    pub(crate) fn drop_caches(&self) -> Result<(), LaneFailure> {
        match self {
            BackingStore::Image(image) => {
                let made = image.made();
                made.device.drop_cache()?;
                made.image.drop_cache();
                Ok(())
            }
            // What the guest caches it drops itself. User-mode Linux works in the host's page cache: that is
            // its disk, and stays.
            BackingStore::Guest(disk) => {
                if disk.kind == GuestKind::Qemu {
                    disk.image().drop_cache();
                }
                Ok(())
            }
            BackingStore::Device(found) => device::drop_cache(found),
            BackingStore::Memory | BackingStore::Directory { .. } => Ok(()),
        }
    }

    /// What identifies it: lanes on equal ground have equal words.
    pub(crate) fn identity(&self, images: &Path) -> String {
        match self {
            BackingStore::Image(_) | BackingStore::Guest(_) => format!("images in {}", images.display()),
            BackingStore::Device(found) => found.path.display().to_string(),
            BackingStore::Memory => "memory".to_owned(),
            BackingStore::Directory { path, .. } => path.display().to_string(),
        }
    }

    /// `image`, `uml`, `qemu`, `device`, `memory`, `directory`.
    pub(crate) fn venue(&self) -> &'static str {
        match self {
            BackingStore::Image(_) => "image",
            BackingStore::Guest(disk) => disk.kind.venue(),
            BackingStore::Device(_) => "device",
            BackingStore::Memory => "memory",
            BackingStore::Directory { .. } => "directory",
        }
    }
}
