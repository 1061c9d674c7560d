//! What the kernel tells of a disk, what stands behind it, and what long writes with a flush showed of it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What filesystems and mkfs see of a block device, from /sys/block/NAME/queue (the kernel's
/// Documentation/ABI/stable/sysfs-block). What the kernel does not tell is absent.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct QueueLimits {
    /// Bytes of the smallest unit that the device addresses.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub logical_block_bytes: Option<u64>,
    /// Bytes that it writes without reading first; mkfs.xfs takes them for its sectors.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub physical_block_bytes: Option<u64>,
    /// Bytes of the smallest request that costs no read before it: the chunk of a RAID, where it is larger than a block.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub minimum_io_bytes: Option<u64>,
    /// Bytes of the request that suits it best: the stripe of a RAID; 0: it names none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub optimal_io_bytes: Option<u64>,
    /// `write back`: it has a cache that a flush empties; `write through`: the kernel sends it no flush at all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub write_cache: Option<String>,
    /// It makes a single write stable (forced unit access); otherwise the kernel sends a flush behind such a write.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fua: Option<bool>,
    /// Bytes of the largest discard; 0: it takes none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub discard_max_bytes: Option<u64>,
    /// Bytes of the unit in which it discards; 0: it takes none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub discard_granularity_bytes: Option<u64>,
    /// Spinning, as the kernel believes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rotational: Option<bool>,
}

/// What answers for a disk in place of a medium, as far as this machine's kernel shows it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Behind {
    /// What it is.
    pub kind: BehindKind,
    /// The device that it is true of, as the kernel names it: `loop7`, `ram0`, `zram0`.
    pub device: String,
}

/// What may stand behind a disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum BehindKind {
    /// This machine's memory: a RAM disk, or a loop device over a file on tmpfs.
    Memory,
    /// This machine's page cache: a loop device that was attached without direct I/O.
    PageCache,
}

/// One disk, written in long requests for longer than a slice, flushed, and read back: what tells a disk from a cache
/// before it. A line `disk` of the record; all figures are raw.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct DiskProbe {
    /// The workload before which it was measured.
    pub workload: String,
    /// Round, from 1.
    pub round: u32,
    /// Index of the image or device.
    pub ground: u32,
    /// Bytes of the part that was written, from its beginning, as often as the time allowed.
    pub area_bytes: u64,
    /// Bytes of each request.
    pub block_bytes: u64,
    /// Requests in flight.
    pub depth: u32,
    /// Bytes written before the flush, those before and after the window included.
    pub written_bytes: u64,
    /// Seconds in which they were written, and in which nothing was flushed.
    pub write_seconds: f64,
    /// Seconds of the flush behind them (fsync of the device).
    pub flush_seconds: f64,
    /// Bytes per second written in parts of the window of equal length, in time order.
    pub write_bytes_per_second: Vec<f64>,
    /// Bytes per second read from the same part after the flush, in the same requests; 0: not measured.
    pub read_bytes_per_second: f64,
}

impl DiskProbe {
    /// Bytes per second as a program sees them that does not flush.
    pub fn unflushed(&self) -> f64 {
        if self.write_seconds > 0.0 { self.written_bytes as f64 / self.write_seconds } else { 0.0 }
    }

    /// Bytes per second until all of it was flushed.
    pub fn flushed(&self) -> f64 {
        let seconds = self.write_seconds + self.flush_seconds;
        if seconds > 0.0 { self.written_bytes as f64 / seconds } else { 0.0 }
    }
}
