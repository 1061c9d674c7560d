//! Image files on loop devices: one, or as many as a lane takes.

use super::Venue;
use crate::device::Found;
use crate::failure::LaneFailure;
use crate::host::Host;
use crate::image::Image;
use crate::loop_device::LoopDevice;
use crate::undo::{EntryId, Journal, Thing};
use model::Bytes;
use std::path::{Path, PathBuf};

/// Images and their loop devices, made by `build`.
#[derive(Debug)]
pub(crate) struct ImageStore {
    paths: Vec<PathBuf>,
    /// As many as there are paths once all are attached.
    made: Vec<Made>,
}

/// Fields drop in order: the loop device lets go before the image's own descriptor closes.
#[derive(Debug)]
struct Made {
    device: LoopDevice,
    image: Image,
    entry: EntryId,
}

impl ImageStore {
    /// Images that will be these files.
    pub(crate) fn new(paths: Vec<PathBuf>) -> Self {
        ImageStore { paths, made: Vec::new() }
    }

    fn made(&self) -> &[Made] {
        assert!(self.made.len() == self.paths.len(), "lanes are opened after `build`");
        &self.made
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
        let lines = self.paths.iter().map(|path| {
            let path = path.display();
            [format!("write {path} in full ({lane_size})"), format!("losetup --direct-io=on --find {path}")]
        });
        lines.flatten().collect()
    }

    fn is_of_pool(&self, guest: Option<usize>) -> bool {
        guest.is_none()
    }

    fn disks(&self) -> usize {
        self.paths.len()
    }

    fn has_block_device(&self) -> bool {
        true
    }

    fn block_device(&self) -> Option<PathBuf> {
        self.made.first().map(|made| made.device.path())
    }

    fn further_block_devices(&self) -> Vec<PathBuf> {
        self.made.iter().skip(1).map(|made| made.device.path()).collect()
    }

    fn future_block_device(&self) -> Option<PathBuf> {
        Some(PathBuf::from("/dev/loopN"))
    }

    fn device_name(&self) -> Option<String> {
        self.made.first().map(|made| made.device.name())
    }

    fn disk_name(&self, images: Option<&Host>) -> Option<String> {
        images.and_then(|host| host.disk.clone())
    }

    fn image_files(&self) -> Vec<&Path> {
        self.paths.iter().map(PathBuf::as_path).collect()
    }

    /// Journalled before.
    fn attach(&mut self, image: Image, journal: &mut Journal) -> Result<(), LaneFailure> {
        let path = self.paths[self.made.len()].clone();
        let entry = journal.will(Thing::Loop { backing: path.clone() })?;
        let device = LoopDevice::attach(&path, image.direct_io_alignment())?;
        journal.learned_device(entry, &device.path())?;
        self.made.push(Made { device, image, entry });
        Ok(())
    }

    /// Goes on after an error, and answers the first.
    fn detach(&mut self, mut journal: Option<&mut Journal>) -> Result<(), LaneFailure> {
        let mut first = Ok(());
        for mut made in self.made.drain(..) {
            let detached = made.device.detach().and_then(|()| match journal.as_deref_mut() {
                Some(journal) => journal.done(made.entry),
                None => Ok(()),
            });
            first = first.and(detached);
        }
        first
    }

    fn leave(&mut self) {
        self.made.drain(..).for_each(|made| made.device.leave());
    }

    fn carrying_images(&self) -> Vec<&Image> {
        self.made().iter().map(|made| &made.image).collect()
    }

    fn prepare_for_mkfs(&self) -> Result<(), LaneFailure> {
        self.made().iter().try_for_each(|made| {
            made.image.wipe_signatures()?;
            made.device.drop_cache()
        })
    }

    fn settle_after_mkfs(&self) -> Result<(), LaneFailure> {
        self.made().iter().try_for_each(|made| {
            made.device.sync()?;
            made.image.solidify().map(drop)
        })?;
        self.drop_caches()
    }

    fn settle_after_unmount(&self) -> Result<(), LaneFailure> {
        self.made().iter().try_for_each(|made| made.device.sync())
    }

    fn drop_caches(&self) -> Result<(), LaneFailure> {
        self.made().iter().try_for_each(|made| {
            made.device.drop_cache()?;
            made.image.drop_cache();
            Ok(())
        })
    }

    fn check_throttle(&self) -> Result<(), LaneFailure> {
        Ok(())
    }

    fn overwritten(&self) -> &[Found] {
        &[]
    }
}
