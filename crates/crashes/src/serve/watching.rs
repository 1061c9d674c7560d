//! The disk that notes what is read of a file, and leaves the file as it is.

use super::one_file::Disk;
use crate::image::Image;
use std::collections::BTreeSet;
use std::fs::File;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

/// The inode number of its file.
const INODE: u64 = 2;
/// In what reads are counted, in bytes.
pub const WATCHED_BLOCK: u64 = 4096;

/// Shows a file; what is written to it is forgotten with it.
#[derive(Debug)]
pub struct WatchingDisk {
    image: Image,
    read: Mutex<BTreeSet<u64>>,
}

impl WatchingDisk {
    /// Of a file, of which nobody may write meanwhile.
    ///
    /// # Errors
    /// What the system answers.
    pub fn open(contents: &Path) -> std::io::Result<WatchingDisk> {
        let file = File::open(contents)?;
        let bytes = usize::try_from(file.metadata()?.len()).map_err(std::io::Error::other)?;
        Ok(WatchingDisk { image: Image::from_file(&file, bytes)?, read: Mutex::default() })
    }

    /// The blocks of [`WATCHED_BLOCK`] bytes that were read so far, whole or in part, by their numbers.
    pub fn blocks_read(&self) -> Vec<u64> {
        self.read.lock().unwrap_or_else(PoisonError::into_inner).iter().copied().collect()
    }
}

impl Disk for WatchingDisk {
    fn bytes(&self) -> u64 {
        self.image.bytes()
    }

    fn inode(&self) -> u64 {
        INODE
    }

    fn read(&self, _: u64, offset: u64, into: &mut [u8]) -> std::io::Result<()> {
        let blocks = offset / WATCHED_BLOCK..(offset + into.len() as u64).div_ceil(WATCHED_BLOCK);
        self.read.lock().unwrap_or_else(PoisonError::into_inner).extend(blocks);
        self.image.read(offset, into)
    }

    fn write(&self, _: u64, offset: u64, data: &[u8]) -> std::io::Result<()> {
        self.image.write(offset, data)
    }

    fn zero(&self, _: u64, offset: u64, bytes: u64) -> std::io::Result<()> {
        self.image.zero(offset, bytes)
    }

    fn flush(&self, _: u64, _: u64) -> std::io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_read_is_noted_and_what_is_written_never_reaches_the_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("contents");
        std::fs::write(&path, vec![7; 64 << 10]).unwrap();
        let disk = WatchingDisk::open(&path).unwrap();
        assert!(disk.blocks_read().is_empty());
        disk.write(INODE, 8192, &[1; 512]).unwrap();
        disk.zero(INODE, 0, 4096).unwrap();
        let mut there = vec![0; 1024];
        disk.read(INODE, 8192 - 512, &mut there).unwrap();
        assert!(there[..512] == [7; 512] && there[512..] == [1; 512]);
        disk.read(INODE, 12 << 12, &mut [0; 512]).unwrap();
        assert_eq!(disk.blocks_read(), [1, 2, 12]);
        assert!(std::fs::read(&path).unwrap().iter().all(|&byte| byte == 7));
    }
}
