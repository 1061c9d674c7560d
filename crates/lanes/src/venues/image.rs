//! An image file on a loop device.

use super::Venue;
use crate::device::Found;
use crate::failure::LaneFailure;
use crate::host::Host;
use crate::image::Image;
use crate::loop_device::LoopDevice;
use crate::undo::{EntryId, Journal, Thing};
use model::Bytes;
use std::path::{Path, PathBuf};

/// An image and its loop device, made by `build`.
#[derive(Debug)]
pub(crate) struct ImageStore {
    path: PathBuf,
    made: Option<Made>,
}

/// Fields drop in order: the loop device lets go before the image's own descriptor closes.
#[derive(Debug)]
struct Made {
    device: LoopDevice,
    image: Image,
    entry: EntryId,
}

impl ImageStore {
    /// An image that will be this file.
    pub(crate) fn new(path: PathBuf) -> Self {
        ImageStore { path, made: None }
    }

    fn made(&self) -> &Made {
        self.made.as_ref().expect("lanes are opened after `build`")
    }
}

impl Venue for ImageStore {
    fn name(&self) -> &'static str {
        "image"
    }

    fn identity(&self, images: &Path) -> String {
        format!("images in {}", images.display())
    }

    fn describe(&self, lane_size: Bytes) -> Vec<String> {
        let path = self.path.display();
        vec![format!("write {path} in full ({lane_size})"), format!("losetup --direct-io=on --find {path}")]
    }

    fn is_of_pool(&self, guest: Option<usize>) -> bool {
        guest.is_none()
    }

    fn has_block_device(&self) -> bool {
        true
    }

    fn block_device(&self) -> Option<PathBuf> {
        self.made.as_ref().map(|made| made.device.path())
    }

    fn future_block_device(&self) -> Option<PathBuf> {
        Some(PathBuf::from("/dev/loopN"))
    }

    fn device_name(&self) -> Option<String> {
        self.made.as_ref().map(|made| made.device.name())
    }

    fn disk_name(&self, images: Option<&Host>) -> Option<String> {
        images.and_then(|host| host.disk.clone())
    }

    fn image_file(&self) -> Option<&Path> {
        Some(&self.path)
    }

    /// Journalled before.
    fn attach(&mut self, image: Image, journal: &mut Journal) -> Result<(), LaneFailure> {
        let entry = journal.will(Thing::Loop { backing: self.path.clone() })?;
        let device = LoopDevice::attach(&self.path, image.direct_io_alignment())?;
        journal.learned_device(entry, &device.path())?;
        self.made = Some(Made { device, image, entry });
        Ok(())
    }

    fn detach(&mut self, journal: Option<&mut Journal>) -> Result<(), LaneFailure> {
        if let Some(mut made) = self.made.take() {
            made.device.detach()?;
            if let Some(journal) = journal {
                journal.done(made.entry)?;
            }
        }
        Ok(())
    }

    fn leave(&mut self) {
        if let Some(made) = self.made.take() {
            made.device.leave();
        }
    }

    fn carrying_image(&self) -> Option<&Image> {
        Some(&self.made().image)
    }

    fn prepare_for_mkfs(&self) -> Result<(), LaneFailure> {
        let made = self.made();
        made.image.wipe_signatures()?;
        made.device.drop_cache()
    }

    fn settle_after_mkfs(&self) -> Result<(), LaneFailure> {
        let made = self.made();
        made.device.sync()?;
        made.image.solidify()?;
        self.drop_caches()
    }

    fn settle_after_unmount(&self) -> Result<(), LaneFailure> {
        self.made().device.sync()
    }

    fn drop_caches(&self) -> Result<(), LaneFailure> {
        let made = self.made();
        made.device.drop_cache()?;
        made.image.drop_cache();
        Ok(())
    }

    fn check_throttle(&self) -> Result<(), LaneFailure> {
        Ok(())
    }

    fn overwritten(&self) -> Option<&Found> {
        None
    }
}
