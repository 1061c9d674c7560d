//! What lanes stand on: one trait, and a file for each venue.
//!
//! The lane set asks a venue what it can do; what a guest alone has is asked of its disk. What keeps somebody's data (what is
//! overwritten, what a mkfs may begin on, what a plan tells) has no default: every venue says it.

pub(crate) mod device;
pub(crate) mod directory;
pub(crate) mod guest;
pub(crate) mod image;
pub(crate) mod memory;

use crate::device::Found;
use crate::failure::{LaneFailure, failed};
use crate::host::Host;
use crate::image::Image;
use crate::undo::Journal;
use guest::GuestDisks;
use model::Bytes;
use std::fmt::Debug;
use std::path::{Path, PathBuf};

/// What a lane stands on.
pub(crate) trait Venue: Debug {
    /// `image`, `uml`, `qemu`, `device`, `memory`, `directory`.
    fn name(&self) -> &'static str;

    /// What identifies it: lanes on equal ground have equal words. `images` is where those lie.
    fn identity(&self, images: &Path) -> String;

    /// Bytes that a lane has there; 0: not known.
    fn size_bytes(&self, lane_size: Bytes) -> u64 {
        lane_size.0
    }

    /// What is done for it before the race, for `--dry-run`.
    fn describe(&self, lane_size: Bytes) -> Vec<String>;

    /// Why --throttle cannot hold a lane there.
    ///
    /// # Errors
    /// [`LaneFailure::Usage`] where there is no device of the lane's own.
    fn check_throttle(&self) -> Result<(), LaneFailure>;

    /// Whether lanes change places on it from round to round, those of a guest or (`None`) those of this machine; on others
    /// each lane has its own place, or shares one that is exclusive.
    fn is_of_pool(&self, _guest: Option<usize>) -> bool {
        false
    }

    /// Whether one lane at a time may be open on it.
    fn is_exclusive(&self) -> bool {
        false
    }

    /// Whether there is a block device whose ceilings can be measured, once it is made.
    fn has_block_device(&self) -> bool {
        false
    }

    /// The block device to mount and probe, where the lane works: of a guest's disk the one in the guest.
    /// `None`: there is none.
    fn block_device(&self) -> Option<PathBuf> {
        None
    }

    /// The same in words, before it is made.
    fn future_block_device(&self) -> Option<PathBuf> {
        self.block_device()
    }

    /// Disks that it is: several where a lane takes several.
    fn disks(&self) -> usize {
        1
    }

    /// The block devices behind the first, of one that is several disks, where the lane works.
    fn further_block_devices(&self) -> Vec<PathBuf> {
        Vec::new()
    }

    /// The same in words, before they are made.
    fn further_future_devices(&self) -> Vec<PathBuf> {
        match self.future_block_device() {
            Some(first) if self.further_block_devices().is_empty() => vec![first; self.disks() - 1],
            _ => self.further_block_devices(),
        }
    }

    /// Its block device as /proc/diskstats names it; of several disks the first.
    fn device_name(&self) -> Option<String> {
        None
    }

    /// The others as /proc/diskstats names them, where the lane works.
    fn further_device_names(&self) -> Vec<String> {
        let name = |path: PathBuf| path.file_name().map(|name| name.to_string_lossy().into_owned());
        self.further_block_devices().into_iter().filter_map(name).collect()
    }

    /// The whole disk under it as /proc/diskstats names it; `images` is what carries the images.
    fn disk_name(&self, _images: Option<&Host>) -> Option<String> {
        None
    }

    /// The files that `build` writes in full for it.
    fn image_files(&self) -> Vec<&Path> {
        Vec::new()
    }

    /// Takes an image that was written; of several in the order of [`Venue::image_files`].
    ///
    /// # Errors
    /// When it cannot be attached.
    fn attach(&mut self, _image: Image, _journal: &mut Journal) -> Result<(), LaneFailure> {
        Err(failed(format!("a {} has no image; this is a fault of Fairlane, report it", self.name())))
    }

    /// Lets it go again; the image goes with its run directory.
    ///
    /// # Errors
    /// When it cannot be detached.
    fn detach(&mut self, _journal: Option<&mut Journal>) -> Result<(), LaneFailure> {
        Ok(())
    }

    /// Makes the last of several disks one that names no filesystem: what was made on all of them lacks it then.
    ///
    /// # Errors
    /// When it cannot be written.
    fn forget_last(&self) -> Result<(), LaneFailure> {
        self.carrying_images().last().map_or(Ok(()), |last| last.wipe_signatures())?;
        self.drop_caches()
    }

    /// Leaves what stands for a person to look at (`--keep`).
    fn leave(&mut self) {}

    /// The images that carry the lane, made by `build`.
    fn carrying_images(&self) -> Vec<&Image> {
        Vec::new()
    }

    /// What the host formats: of a guest's disk the image, which lies in a folder that may be somebody else's. Of several
    /// disks the first.
    fn formatted(&self) -> Option<PathBuf> {
        self.block_device()
    }

    /// Makes the ground ready for a mkfs: still ours, and nothing on it names an older filesystem.
    ///
    /// # Errors
    /// When it is not ours any more, or cannot be written.
    fn prepare_for_mkfs(&self) -> Result<(), LaneFailure>;

    /// After a mkfs: every block of an image is written again, so that mkfs's own zeroing does not
    /// show later (see `image.rs`).
    ///
    /// # Errors
    /// When it cannot be written.
    fn settle_after_mkfs(&self) -> Result<(), LaneFailure> {
        self.drop_caches()
    }

    /// After the unmount of a lane, before its image is looked at.
    ///
    /// # Errors
    /// When it cannot be synced.
    fn settle_after_unmount(&self) -> Result<(), LaneFailure> {
        Ok(())
    }

    /// Drops what the kernel caches of the device and of the image.
    ///
    /// # Errors
    /// When the kernel refuses it.
    fn drop_caches(&self) -> Result<(), LaneFailure> {
        Ok(())
    }

    /// The run's folder in a directory that is used as it is; `None`: lanes are formatted and mounted.
    fn folder(&self) -> Option<&Path> {
        None
    }

    /// The filesystem that is there already and stays; `None`: lanes bring their own.
    fn existing_filesystem(&self) -> Option<&Host> {
        None
    }

    /// Whether it is this directory.
    fn is_directory(&self, _path: &Path) -> bool {
        false
    }

    /// The devices that are overwritten; empty: nothing of anybody's is.
    fn overwritten(&self) -> &[Found];

    /// The disks of a guest that it is.
    fn guest_disks(&self) -> Option<&GuestDisks> {
        None
    }

    /// The same, to change their images.
    fn guest_disks_mut(&mut self) -> Option<&mut GuestDisks> {
        None
    }
}
