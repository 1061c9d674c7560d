//! An image file that a guest has as a disk.

use super::Venue;
use crate::device::Found;
use crate::failure::LaneFailure;
use crate::guest::GuestKind;
use crate::host::Host;
use crate::image::Image;
use crate::undo::Journal;
use model::Bytes;
use std::path::{Path, PathBuf};

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

    /// Takes its image out; `None`: it has none.
    pub(crate) fn take_image(&mut self) -> Option<Loose> {
        Some(Loose { number: self.number, path: self.path.clone(), image: self.image.take()? })
    }

    /// Puts another one in.
    pub(crate) fn give_image(&mut self, loose: Loose) {
        (self.number, self.path, self.image) = (loose.number, loose.path, Some(loose.image));
    }
}

impl Venue for GuestDisk {
    fn name(&self) -> &'static str {
        self.kind.venue()
    }

    fn identity(&self, images: &Path) -> String {
        format!("images in {}", images.display())
    }

    fn describe(&self, lane_size: Bytes) -> Vec<String> {
        vec![
            format!("write {} in full ({lane_size})", self.path.display()),
            format!("give it to a guest as the disk {}", self.name),
        ]
    }

    fn is_of_pool(&self, guest: Option<usize>) -> bool {
        guest == Some(self.guest)
    }

    fn has_block_device(&self) -> bool {
        true
    }

    fn block_device(&self) -> Option<PathBuf> {
        Some(Path::new("/dev").join(&self.name))
    }

    fn device_name(&self) -> Option<String> {
        Some(self.name.clone())
    }

    fn disk_name(&self, images: Option<&Host>) -> Option<String> {
        images.and_then(|host| host.disk.clone())
    }

    fn image_file(&self) -> Option<&Path> {
        Some(&self.path)
    }

    fn attach(&mut self, image: Image, _journal: &mut Journal) -> Result<(), LaneFailure> {
        self.image = Some(image);
        Ok(())
    }

    fn carrying_image(&self) -> Option<&Image> {
        Some(self.image())
    }

    fn formatted(&self) -> Option<PathBuf> {
        self.image.as_ref().map(Image::held_path)
    }

    fn prepare_for_mkfs(&self) -> Result<(), LaneFailure> {
        self.image().wipe_signatures()?;
        self.image().drop_cache();
        Ok(())
    }

    fn settle_after_mkfs(&self) -> Result<(), LaneFailure> {
        self.image().sync()?;
        self.image().solidify()?;
        self.drop_caches()
    }

    /// What the guest caches it drops itself. User-mode Linux works in the host's page cache: that is
    /// its disk, and stays.
    fn drop_caches(&self) -> Result<(), LaneFailure> {
        if self.kind == GuestKind::Qemu {
            self.image().drop_cache();
        }
        Ok(())
    }

    fn guest_disk(&self) -> Option<&GuestDisk> {
        Some(self)
    }

    fn guest_disk_mut(&mut self) -> Option<&mut GuestDisk> {
        Some(self)
    }

    /// Lanes in guests are refused before.
    fn check_throttle(&self) -> Result<(), LaneFailure> {
        Ok(())
    }

    fn overwritten(&self) -> Option<&Found> {
        None
    }
}
