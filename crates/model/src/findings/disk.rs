//! What the statistics make of the disk under the lanes.

use crate::disk::Behind;
use crate::sentence::Sentence;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The disk under the lanes, written in long requests, flushed and read back: medians over the looks at it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DiskFinding {
    /// How often it was looked at.
    pub looks: u32,
    /// Bytes written before the flush.
    pub written_bytes: u64,
    /// As a program sees it that does not flush.
    pub write_bytes_per_second: f64,
    /// Until all of it was flushed.
    pub flushed_bytes_per_second: f64,
    /// Seconds of the flush.
    pub flush_seconds: f64,
    /// Of the same part, after the flush; 0: not measured.
    pub read_bytes_per_second: f64,
    /// What shows that something else than a medium answers; empty: nothing does.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub signs: Vec<DiskSign>,
    /// The same as a sentence, with what was observed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub said: Option<Sentence>,
}

/// One sign that something else than a medium answers. Rates in bytes per second.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "sign", rename_all = "kebab-case")]
pub enum DiskSign {
    /// The kernel shows it: the disk is memory, or passes through the page cache.
    Behind(Behind),
    /// The flush took as long as the writes, or longer.
    FlushLowers {
        /// Without it.
        write_bytes_per_second: f64,
        /// With it.
        flushed_bytes_per_second: f64,
    },
    /// It writes faster than a medium that reads so slowly.
    WritesAboveReads {
        /// The flush included, in the slowest look.
        write_bytes_per_second: f64,
        /// Of the same part, in the fastest look.
        read_bytes_per_second: f64,
    },
    /// Writes became slower while they lasted.
    Falls {
        /// In the first third.
        first_bytes_per_second: f64,
        /// In the last third.
        last_bytes_per_second: f64,
        /// Length of the whole.
        seconds: f64,
    },
}
