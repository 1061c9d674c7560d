//! The block device under the crate: sectors through pread and pwrite, a flush is an fdatasync.

use rsext4::{BlockIo, Clock, DeviceCapabilities, DeviceGeometry, Ext4Error, Ext4Result, Ext4Timestamp, SectorId};
use rustix::io::Errno;
use rustix::time::{ClockId, clock_gettime};
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicI32, Ordering};

/// Sectors of the smallest size: the crate reads its superblock at byte 1024.
pub(super) const SECTOR_BYTES: u32 = 512;

/// A block device or a file, open for reading and writing. Its reads and writes go through the
/// kernel's cache of it: the crate caches next to no data itself.
#[derive(Debug, Clone)]
pub(super) struct Disk {
    pub(super) file: Arc<OwnedFd>,
    pub(super) sectors: u64,
    /// The errno of the last call that failed: the crate's own errors carry none.
    pub(super) fault: Arc<AtomicI32>,
}

impl Disk {
    /// Everything written so far is stable on the device.
    pub(super) fn sync(&self) -> Result<(), Errno> {
        rustix::fs::fdatasync(&*self.file)
    }

    #[cold]
    fn failed(&self, errno: Errno) -> Ext4Error {
        self.fault.store(errno.raw_os_error(), Ordering::Relaxed);
        Ext4Error::io()
    }
}

impl BlockIo for Disk {
    #[inline]
    fn write(&mut self, buffer: &[u8], sector: SectorId, _count: u32) -> Ext4Result<()> {
        let (mut at, mut rest) = (sector.raw() * u64::from(SECTOR_BYTES), buffer);
        while !rest.is_empty() {
            match rustix::io::pwrite(&*self.file, rest, at) {
                Ok(0) => return Err(self.failed(Errno::NOSPC)),
                Ok(moved) => {
                    at += moved as u64;
                    rest = &rest[moved..];
                }
                Err(Errno::INTR) => {}
                Err(errno) => return Err(self.failed(errno)),
            }
        }
        Ok(())
    }

    #[inline]
    fn read(&mut self, buffer: &mut [u8], sector: SectorId, _count: u32) -> Ext4Result<()> {
        let (mut at, mut rest) = (sector.raw() * u64::from(SECTOR_BYTES), buffer);
        while !rest.is_empty() {
            match rustix::io::pread(&*self.file, &mut *rest, at) {
                // The device ends before what the crate believes to be there.
                Ok(0) => return Err(self.failed(Errno::IO)),
                Ok(moved) => {
                    at += moved as u64;
                    rest = &mut rest[moved..];
                }
                Err(Errno::INTR) => {}
                Err(errno) => return Err(self.failed(errno)),
            }
        }
        Ok(())
    }

    fn geometry(&self) -> DeviceGeometry {
        DeviceGeometry::new(SECTOR_BYTES, self.sectors)
    }

    fn capabilities(&self) -> DeviceCapabilities {
        DeviceCapabilities { flush: true, ..DeviceCapabilities::default() }
    }

    fn flush(&mut self) -> Ext4Result<()> {
        self.sync().map_err(|errno| self.failed(errno))
    }
}

/// The system's clock, for timestamps of inodes.
#[derive(Debug, Clone, Copy)]
pub(super) struct WallClock;

impl Clock for WallClock {
    fn now(&self) -> Ext4Result<Ext4Timestamp> {
        // As coarse as the kernel's own filesystems take it.
        let now = clock_gettime(ClockId::RealtimeCoarse);
        Ok(Ext4Timestamp::new(now.tv_sec, now.tv_nsec as u32))
    }
}

impl Clock for Disk {
    fn now(&self) -> Ext4Result<Ext4Timestamp> {
        WallClock.now()
    }
}
