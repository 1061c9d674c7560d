//! Image files that a guest has as disks: one, or as many as a lane takes.

use super::Venue;
use crate::device::Found;
use crate::failure::LaneFailure;
use crate::guest::GuestKind;
use crate::host::Host;
use crate::image::Image;
use crate::undo::Journal;
use model::Bytes;
use std::path::{Path, PathBuf};

/// Images that a guest has as disks, made by `build`.
#[derive(Debug)]
pub(crate) struct GuestDisks {
    pub(crate) disks: Vec<GuestDisk>,
    /// Which guest of the lane set.
    pub(crate) guest: usize,
    pub(crate) kind: GuestKind,
}

/// One of them.
#[derive(Debug)]
pub(crate) struct GuestDisk {
    pub(crate) path: PathBuf,
    pub(crate) image: Option<Image>,
    /// Which image it is: images change places where guests do.
    pub(crate) number: usize,
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

    /// Takes its image out; `None`: it has none.
    pub(crate) fn take_image(&mut self) -> Option<Loose> {
        Some(Loose { number: self.number, path: self.path.clone(), image: self.image.take()? })
    }

    /// Puts another one in.
    pub(crate) fn give_image(&mut self, loose: Loose) {
        (self.number, self.path, self.image) = (loose.number, loose.path, Some(loose.image));
    }

    fn device(&self) -> PathBuf {
        Path::new("/dev").join(&self.name)
    }
}

impl GuestDisks {
    /// The first of them, which alone carries a lane on one disk.
    pub(crate) fn first(&self) -> &GuestDisk {
        &self.disks[0]
    }
}

impl Venue for GuestDisks {
    fn name(&self) -> &'static str {
        self.kind.venue()
    }

    fn identity(&self, images: &Path) -> String {
        format!("images in {}", images.display())
    }

    fn describe(&self, lane_size: Bytes) -> Vec<String> {
        let lines = self.disks.iter().map(|disk| {
            [
                format!("write {} in full ({lane_size})", disk.path.display()),
                format!("give it to a guest as the disk {}", disk.name),
            ]
        });
        lines.flatten().collect()
    }

    fn is_of_pool(&self, guest: Option<usize>) -> bool {
        guest == Some(self.guest)
    }

    fn disks(&self) -> usize {
        self.disks.len()
    }

    fn has_block_device(&self) -> bool {
        true
    }

    fn block_device(&self) -> Option<PathBuf> {
        Some(self.first().device())
    }

    fn further_block_devices(&self) -> Vec<PathBuf> {
        self.disks.iter().skip(1).map(GuestDisk::device).collect()
    }

    fn device_name(&self) -> Option<String> {
        Some(self.first().name.clone())
    }

    fn disk_name(&self, images: Option<&Host>) -> Option<String> {
        images.and_then(|host| host.disk.clone())
    }

    fn image_files(&self) -> Vec<&Path> {
        self.disks.iter().map(|disk| disk.path.as_path()).collect()
    }

    fn attach(&mut self, image: Image, _journal: &mut Journal) -> Result<(), LaneFailure> {
        if let Some(disk) = self.disks.iter_mut().find(|disk| disk.image.is_none()) {
            disk.image = Some(image);
        }
        Ok(())
    }

    fn carrying_images(&self) -> Vec<&Image> {
        self.disks.iter().map(GuestDisk::image).collect()
    }

    fn formatted(&self) -> Option<PathBuf> {
        self.first().image.as_ref().map(Image::held_path)
    }

    fn prepare_for_mkfs(&self) -> Result<(), LaneFailure> {
        self.carrying_images().into_iter().try_for_each(|image| {
            image.wipe_signatures()?;
            image.drop_cache();
            Ok(())
        })
    }

    fn settle_after_mkfs(&self) -> Result<(), LaneFailure> {
        self.carrying_images().into_iter().try_for_each(|image| {
            image.sync()?;
            image.solidify().map(drop)
        })?;
        self.drop_caches()
    }

    /// What the guest caches it drops itself. User-mode Linux works in the host's page cache: that is
    /// its disk, and stays.
    fn drop_caches(&self) -> Result<(), LaneFailure> {
        if self.kind == GuestKind::Qemu {
            self.carrying_images().into_iter().for_each(Image::drop_cache);
        }
        Ok(())
    }

    fn guest_disks(&self) -> Option<&GuestDisks> {
        Some(self)
    }

    fn guest_disks_mut(&mut self) -> Option<&mut GuestDisks> {
        Some(self)
    }

    /// Lanes in guests are refused before.
    fn check_throttle(&self) -> Result<(), LaneFailure> {
        Ok(())
    }

    fn overwritten(&self) -> &[Found] {
        &[]
    }
}
