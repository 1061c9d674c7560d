//! A directory as it is, on a filesystem that is there already.

use super::Venue;
use crate::device::Found;
use crate::failure::{LaneFailure, usage};
use crate::host::{self, Host};
use model::Bytes;
use std::path::{Path, PathBuf};

/// A directory as it is.
#[derive(Debug)]
pub(crate) struct DirectoryStore {
    pub(crate) path: PathBuf,
    pub(crate) host: Host,
    /// Where the run's folder in it is worked on.
    pub(crate) work: PathBuf,
}

impl Venue for DirectoryStore {
    fn name(&self) -> &'static str {
        "directory"
    }

    fn identity(&self, _images: &Path) -> String {
        self.path.display().to_string()
    }

    fn size_bytes(&self, _lane_size: Bytes) -> u64 {
        0
    }

    fn check_throttle(&self) -> Result<(), LaneFailure> {
        Err(usage(format!(
            "{} shares its disk with everything else there, so --throttle cannot hold it alone; race images there instead{}: --on {}",
            self.path.display(),
            if host::is_root() { "" } else { ", as root (sudo fairlane …)" },
            self.path.display()
        )))
    }

    fn device_name(&self) -> Option<String> {
        self.host.block.clone()
    }

    fn disk_name(&self, _images: Option<&Host>) -> Option<String> {
        self.host.disk.clone()
    }

    fn folder(&self) -> Option<&Path> {
        Some(&self.work)
    }

    fn existing_filesystem(&self) -> Option<&Host> {
        Some(&self.host)
    }

    fn is_directory(&self, path: &Path) -> bool {
        self.path == path
    }

    fn describe(&self, _lane_size: Bytes) -> Vec<String> {
        Vec::new()
    }

    /// Nothing is formatted.
    fn prepare_for_mkfs(&self) -> Result<(), LaneFailure> {
        Ok(())
    }

    fn overwritten(&self) -> &[Found] {
        &[]
    }
}
