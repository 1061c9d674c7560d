//! A block device that may be overwritten; lanes take turns on it.

use super::Venue;
use crate::device::{self, Found};
use crate::failure::{LaneFailure, usage};
use crate::host::{self, Host};
use model::Bytes;
use std::path::{Path, PathBuf};

/// A block device as it was found.
#[derive(Debug)]
pub(crate) struct DeviceStore(pub(crate) Found);

/// What will happen to a device, for `--dry-run`.
pub(crate) fn overwrite(found: &Found) -> String {
    format!(
        "overwrite {} ({}, now holds {})",
        found.path.display(),
        model::units::human_bytes(found.size_bytes as f64),
        found.signature.as_deref().unwrap_or("no known signature")
    )
}

impl Venue for DeviceStore {
    fn name(&self) -> &'static str {
        "device"
    }

    fn identity(&self, _images: &Path) -> String {
        self.0.path.display().to_string()
    }

    fn size_bytes(&self, _lane_size: Bytes) -> u64 {
        self.0.size_bytes
    }

    fn describe(&self, _lane_size: Bytes) -> Vec<String> {
        vec![overwrite(&self.0)]
    }

    fn check_throttle(&self) -> Result<(), LaneFailure> {
        if host::whole_disk(&self.0.kernel_name) == self.0.kernel_name {
            return Ok(());
        }
        Err(usage(format!(
            "{} is a partition, and the kernel limits whole disks only; give --throttle the whole disk, or race images on it: --on DIR",
            self.0.path.display()
        )))
    }

    fn is_exclusive(&self) -> bool {
        true
    }

    fn has_block_device(&self) -> bool {
        true
    }

    fn block_device(&self) -> Option<PathBuf> {
        Some(self.0.path.clone())
    }

    fn device_name(&self) -> Option<String> {
        Some(self.0.kernel_name.clone())
    }

    fn disk_name(&self, _images: Option<&Host>) -> Option<String> {
        if self.0.is_loop() {
            let backing = crate::loop_device::backing_of(&self.0.kernel_name)?;
            return host::find(&backing).ok()?.disk;
        }
        Some(host::whole_disk(&self.0.kernel_name))
    }

    fn prepare_for_mkfs(&self) -> Result<(), LaneFailure> {
        device::check_again(&self.0)?;
        device::wipe_signatures(&self.0)
    }

    fn drop_caches(&self) -> Result<(), LaneFailure> {
        device::drop_cache(&self.0)
    }

    fn overwritten(&self) -> Option<&Found> {
        Some(&self.0)
    }
}
