//! Memory: a filesystem that has no disk.

use super::Venue;
use crate::device::Found;
use crate::failure::{LaneFailure, usage};
use model::Bytes;
use std::path::Path;

/// Memory.
#[derive(Debug)]
pub(crate) struct MemoryStore;

impl Venue for MemoryStore {
    fn name(&self) -> &'static str {
        "memory"
    }

    fn identity(&self, _images: &Path) -> String {
        "memory".to_owned()
    }

    fn check_throttle(&self) -> Result<(), LaneFailure> {
        Err(usage(
            "it lives in memory and has no disk that --throttle could hold; leave that lane out, or race without --throttle",
        ))
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
