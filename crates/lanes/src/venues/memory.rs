//! Memory: a filesystem that has no disk.

use super::Venue;
use crate::failure::{LaneFailure, usage};
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
}
