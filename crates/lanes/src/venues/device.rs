//! Block devices that may be overwritten, one or as many as a lane takes; lanes take turns on them.

use super::Venue;
use crate::device::{self, Found};
use crate::failure::{LaneFailure, usage};
use crate::host::{self, Host};
use model::Bytes;
use std::path::{Path, PathBuf};

/// Block devices as they were found, at least one.
#[derive(Debug)]
pub(crate) struct DeviceStore {
    disks: Vec<Found>,
    /// Those of the same race that other lanes take beside them. What older lanes left there is none of the next one's.
    others: Vec<Found>,
    /// All devices of the race that these are some of, in words.
    ground: String,
}

impl DeviceStore {
    /// The first ones of those that are `ground`; `others` are the rest, which may be overwritten too.
    pub(crate) fn new(disks: Vec<Found>, others: Vec<Found>, ground: String) -> Self {
        assert!(!disks.is_empty(), "a lane on devices stands on one at least");
        DeviceStore { disks, others, ground }
    }

    fn first(&self) -> &Found {
        &self.disks[0]
    }
}

/// The whole disk that a device is on, as /proc/diskstats names it; of a loop device the one that carries its file.
pub(crate) fn disk_below(found: &Found) -> Option<String> {
    if found.is_loop() {
        let backing = crate::loop_device::backing_of(&found.kernel_name)?;
        return host::find(&backing).ok()?.disk;
    }
    Some(host::whole_disk(&found.kernel_name))
}

/// What names the medium itself, where the kernel knows it: two paths to one disk have one.
pub(crate) fn identifier(found: &Found) -> Option<String> {
    let folder = Path::new("/sys/block").join(&found.kernel_name);
    let read = |name: &str| std::fs::read_to_string(folder.join(name)).ok();
    read("wwid").or_else(|| read("device/wwid")).map(|name| name.trim().to_owned()).filter(|name| !name.is_empty())
}

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
        self.ground.clone()
    }

    /// Of several the smallest: no other size is every disk's.
    fn size_bytes(&self, _lane_size: Bytes) -> u64 {
        self.disks.iter().map(|disk| disk.size_bytes).min().unwrap_or(0)
    }

    fn describe(&self, _lane_size: Bytes) -> Vec<String> {
        self.disks.iter().map(overwrite).collect()
    }

    fn check_throttle(&self) -> Result<(), LaneFailure> {
        let part = self.disks.iter().find(|disk| host::whole_disk(&disk.kernel_name) != disk.kernel_name);
        part.map_or(Ok(()), |part| {
            Err(usage(format!(
                "{} is a partition, and the kernel limits whole disks only; give --throttle the whole disk, or race images on it: --on DIR",
                part.path.display()
            )))
        })
    }

    fn is_exclusive(&self) -> bool {
        true
    }

    fn disks(&self) -> usize {
        self.disks.len()
    }

    fn has_block_device(&self) -> bool {
        true
    }

    fn block_device(&self) -> Option<PathBuf> {
        Some(self.first().path.clone())
    }

    fn further_block_devices(&self) -> Vec<PathBuf> {
        self.disks[1..].iter().map(|disk| disk.path.clone()).collect()
    }

    fn device_name(&self) -> Option<String> {
        Some(self.first().kernel_name.clone())
    }

    fn further_device_names(&self) -> Vec<String> {
        self.disks[1..].iter().map(|disk| disk.kernel_name.clone()).collect()
    }

    fn disk_name(&self, _images: Option<&Host>) -> Option<String> {
        disk_below(self.first())
    }

    fn prepare_for_mkfs(&self) -> Result<(), LaneFailure> {
        // None is touched where one of them is somebody else's now.
        let all = || self.disks.iter().chain(&self.others);
        all().try_for_each(device::check_again)?;
        all().try_for_each(device::wipe_signatures)
    }

    fn forget_last(&self) -> Result<(), LaneFailure> {
        let last = &self.disks[self.disks.len() - 1];
        device::check_again(last)?;
        device::wipe_signatures(last)?;
        self.drop_caches()
    }

    fn drop_caches(&self) -> Result<(), LaneFailure> {
        self.disks.iter().try_for_each(device::drop_cache)
    }

    fn overwritten(&self) -> &[Found] {
        &self.disks
    }
}
