//! The disk that shows one crash image after the other.

use super::one_file::Disk;
use crate::crash_model::Cut;
use crate::image::{Image, Images};
use crate::log::Log;
use std::sync::{Arc, Mutex, RwLock};

/// The inode number of the first image.
const FIRST_INODE: u64 = 2;

/// Shows the image that was asked for last; what was before it is gone.
#[derive(Debug)]
pub struct ImageDisk {
    images: Mutex<Images>,
    shown: RwLock<Shown>,
    bytes: u64,
    disks: u64,
}

#[derive(Debug)]
struct Shown {
    inode: u64,
    image: Option<Image>,
}

impl ImageDisk {
    /// The images of a log.
    ///
    /// # Errors
    /// What the system answers.
    pub fn new(log: Log) -> std::io::Result<ImageDisk> {
        let log = Arc::new(log);
        let (bytes, disks) = (log.disk_bytes(), log.disks());
        let shown = RwLock::new(Shown { inode: FIRST_INODE, image: None });
        Ok(ImageDisk { images: Mutex::new(Images::new(log)?), shown, bytes, disks })
    }

    /// Shows another image; answers the last record that was acknowledged before its cut.
    ///
    /// # Errors
    /// What the system answers.
    pub fn show(&self, cut: Cut) -> std::io::Result<u64> {
        let lost = || std::io::Error::other("a thread of the image server failed");
        let mut images = self.images.lock().map_err(|_| lost())?;
        let mut shown = self.shown.write().map_err(|_| lost())?;
        shown.inode += 1;
        // Before the next is made: see `Images::image`.
        shown.image = None;
        shown.image = Some(images.image(cut)?);
        Ok(images.log().acknowledged_by(cut.tick))
    }

    /// Bytes of memory that hold what is durable.
    ///
    /// # Errors
    /// What the system answers.
    pub fn durable_bytes(&self) -> std::io::Result<u64> {
        let images = self.images.lock().map_err(|_| std::io::Error::other("a thread of the image server failed"))?;
        images.durable_bytes()
    }

    fn with<T>(&self, inode: u64, act: impl FnOnce(&Image) -> std::io::Result<T>) -> std::io::Result<T> {
        let shown = self.shown.read().map_err(|_| std::io::Error::from_raw_os_error(libc::EIO))?;
        match &shown.image {
            Some(image) if shown.inode == inode => act(image),
            _ => Err(std::io::Error::from_raw_os_error(libc::ESTALE)),
        }
    }
}

impl Disk for ImageDisk {
    fn bytes(&self) -> u64 {
        self.bytes
    }

    fn disks(&self) -> u64 {
        self.disks
    }

    fn inode(&self) -> u64 {
        self.shown.read().map_or(FIRST_INODE, |shown| shown.inode)
    }

    fn read(&self, inode: u64, offset: u64, into: &mut [u8]) -> std::io::Result<()> {
        self.with(inode, |image| image.read(offset, into))
    }

    fn write(&self, inode: u64, offset: u64, data: &[u8]) -> std::io::Result<()> {
        self.with(inode, |image| image.write(offset, data))
    }

    fn zero(&self, inode: u64, offset: u64, bytes: u64) -> std::io::Result<()> {
        self.with(inode, |image| image.zero(offset, bytes))
    }

    fn flush(&self, inode: u64, _: u64) -> std::io::Result<()> {
        self.with(inode, |_| Ok(()))
    }
}
