//! One job of block I/O: what fio's options say, as plain data with fio's names.
//!
//! A suite holds such a job as a workload of kind `io`, measured in slices that alternate between
//! lanes. A job file holds several, run whole, as a workload of kind `jobs`.

use crate::Bytes;
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

/// Most I/Os in flight of one worker.
pub const MOST_IODEPTH: u32 = 65_536;
/// Largest block.
pub const LARGEST_BLOCK: Bytes = Bytes(64 * Bytes::MIB);
/// Bytes of the header at the start of each verified unit of a block.
pub const VERIFY_HEADER_BYTES: u64 = 48;
/// Most workers of one job.
pub const MOST_WORKERS: u32 = 1024;
/// Most files of one worker.
pub const MOST_FILES: u32 = 1 << 20;

/// Block I/O on the files of one job; the names are fio's.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Io {
    /// Access pattern.
    pub rw: Pattern,
    /// Bytes per operation; where [`Io::block_sizes`] is given, the smallest of them.
    pub bs: Bytes,
    /// Bytes of one worker's files together; for `append` the size at which a new file is begun.
    /// Zero only for engine `null` without files.
    pub size: Bytes,
    /// I/O engine: a row of the engine's table (`sync`, `io_uring`, `libaio`, `mmap`, `null`).
    #[serde(default = "default_ioengine")]
    pub ioengine: String,
    /// I/Os kept in flight by each worker; 1 for `sync` and `mmap`.
    #[serde(default = "one")]
    pub iodepth: u32,
    /// O_DIRECT.
    #[serde(default)]
    pub direct: bool,
    /// `fdatasync` after every N writes; 0: never. At iodepth 1 the sync is part of the write's
    /// latency in work measured in slices, and a group of its own in job files, as in fio.
    #[serde(default)]
    pub fdatasync: u32,
    /// Slices per trial (methods section 1: 4 to 10). Job files run whole and ignore it.
    #[serde(default = "default_slices")]
    pub slices: u32,
    /// Measured seconds per slice (methods section 1: 0.1 to 0.25). Job files ignore it.
    #[serde(default = "default_slice_seconds")]
    pub slice_seconds: f64,

    // Blocks and places.
    /// Block sizes that vary, or differ by direction.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub block_sizes: Option<Box<PerDirection<BlockSizes>>>,
    /// Offsets need not be multiples of the smallest block (fio's `bs_unaligned`).
    #[serde(default, skip_serializing_if = "is_false")]
    pub bs_unaligned: bool,
    /// Random offsets are multiples of this; 0: of the smallest block.
    #[serde(default, skip_serializing_if = "is_default")]
    pub blockalign: Bytes,
    /// Bytes to move in each loop; `None`: `size` less `offset`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub io_size: Option<Bytes>,
    /// Where the work begins in each file.
    #[serde(default, skip_serializing_if = "is_default")]
    pub offset: Bytes,
    /// Added to `offset` for each further worker.
    #[serde(default, skip_serializing_if = "is_default")]
    pub offset_increment: Bytes,
    /// Bytes of each file, from its offset on, that the work stays within; `None`: to its end. Workers
    /// whose offsets differ each have a region of this size.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub region: Option<Bytes>,
    /// Bytes left out after each sequential operation (fio's `rw=read:8k`); negative: backwards.
    #[serde(default, skip_serializing_if = "is_default")]
    pub sequential_step_bytes: i64,
    /// Operations at sequential places for each newly chosen random one (fio's `rw=randread:8`).
    #[serde(default = "one", skip_serializing_if = "is_one")]
    pub operations_per_offset: u32,
    /// Share of reads in a mixed pattern, in percent.
    #[serde(default = "fifty", skip_serializing_if = "is_fifty")]
    pub rwmixread: u32,
    /// Random offsets may repeat and miss blocks. Without it every block is visited once before any
    /// is visited again.
    #[serde(default, skip_serializing_if = "is_false")]
    pub norandommap: bool,
    /// How random offsets are distributed.
    #[serde(default, skip_serializing_if = "is_default")]
    pub random_distribution: Distribution,
    /// Share of operations at random offsets, by direction, in percent; the others go on
    /// sequentially.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub percentage_random: Option<PerDirection<u32>>,
    /// Every loop, lane and worker set sees the same offsets. Without it each round draws others.
    #[serde(default = "yes", skip_serializing_if = "is_true")]
    pub randrepeat: bool,

    // Workers and files.
    /// Workers that do this job at the same time.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    pub numjobs: u32,
    /// Workers of a job file are threads; otherwise processes. Workers of work measured in slices
    /// are threads, whatever this says.
    #[serde(default, skip_serializing_if = "is_false")]
    pub thread: bool,
    /// Files of each worker, of equal size.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    pub nrfiles: u32,
    /// Files open at the same time; `None`: all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub openfiles: Option<u32>,
    /// How the next file is chosen.
    #[serde(default, skip_serializing_if = "is_default")]
    pub file_service_type: FileService,
    /// Operations on a file before the next one is chosen.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    pub file_service_count: u32,
    /// Names of the files, relative to the lane and without `..`; all workers share them. Empty:
    /// every worker has files of its own, named by [`Io::filename_format`].
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub filename: Vec<String>,
    /// Pattern of the names, which [`file_name`] fills in: `$jobname`, `$jobnum` (the worker),
    /// `$filenum`, and `$clientuid`, which is empty here. Empty: fio's default,
    /// `$jobname.$jobnum.$filenum`.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub filename_format: String,
    /// Sizes of the files where they vary: uniform between the two.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub filesize: Option<(Bytes, Bytes)>,
    /// Files that are only written are made when the job opens them, after its start, instead of
    /// before. Files that are read or trimmed are written in full before, as without it.
    #[serde(default, skip_serializing_if = "is_false")]
    pub create_on_open: bool,
    /// Make the files and end.
    #[serde(default, skip_serializing_if = "is_false")]
    pub create_only: bool,
    /// `fsync` each file that was laid out.
    #[serde(default = "yes", skip_serializing_if = "is_true")]
    pub create_fsync: bool,
    /// Missing files may be made.
    #[serde(default = "yes", skip_serializing_if = "is_true")]
    pub allow_file_create: bool,
    /// Writes go to the end of the file.
    #[serde(default, skip_serializing_if = "is_false")]
    pub file_append: bool,
    /// How files to be written are reserved before the work.
    #[serde(default, skip_serializing_if = "is_default")]
    pub fallocate: Fallocate,
    /// Files to be written are written in full before the work.
    #[serde(default, skip_serializing_if = "is_false")]
    pub overwrite: bool,
    /// Read the files before the work.
    #[serde(default, skip_serializing_if = "is_false")]
    pub pre_read: bool,
    /// Drop the files' pages from the page cache before the work.
    #[serde(default = "yes", skip_serializing_if = "is_true")]
    pub invalidate: bool,
    /// What the kernel is told about the coming accesses.
    #[serde(default, skip_serializing_if = "is_default")]
    pub fadvise_hint: FadviseHint,
    /// Remove the files at the end of the job.
    #[serde(default, skip_serializing_if = "is_false")]
    pub unlink: bool,
    /// Remove the files at the end of every loop.
    #[serde(default, skip_serializing_if = "is_false")]
    pub unlink_each_loop: bool,
    /// `fsync` a file when it is closed.
    #[serde(default, skip_serializing_if = "is_false")]
    pub fsync_on_close: bool,

    // Durability.
    /// Files are opened with O_SYNC or O_DSYNC.
    #[serde(default, skip_serializing_if = "is_default")]
    pub sync: SyncMode,
    /// `fsync` after every N writes; 0: never.
    #[serde(default, skip_serializing_if = "is_default")]
    pub fsync: u32,
    /// `fsync` every file after its last write; its time is part of the job.
    #[serde(default, skip_serializing_if = "is_false")]
    pub end_fsync: bool,

    // Per-operation flags.
    /// RWF_DONTCACHE on every operation (fio's `uncached`; Linux 6.14).
    #[serde(default, skip_serializing_if = "is_false")]
    pub uncached: bool,
    /// RWF_DSYNC on every write.
    #[serde(default, skip_serializing_if = "is_false")]
    pub rwf_dsync: bool,
    /// Completions are polled for instead of announced by an interrupt: IORING_SETUP_IOPOLL with
    /// io_uring, which needs `direct`; RWF_HIPRI with `sync`. The other engines refuse it.
    #[serde(default, skip_serializing_if = "is_false")]
    pub hipri: bool,
    /// A thread of the kernel takes submissions out of the ring (IORING_SETUP_SQPOLL), at the price
    /// of a busy CPU. Only for `io_uring`.
    #[serde(default, skip_serializing_if = "is_false")]
    pub sqthread_poll: bool,

    // The queue.
    /// I/Os handed to the kernel in one call; `None`: as many as there are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub iodepth_batch: Option<u32>,
    /// Least I/Os to wait for in one call; 0: not said, a deep closed loop then waits for a sixteenth of
    /// its queue.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub iodepth_batch_complete_min: u32,
    /// The queue is filled again only when it has drained to this; `None`: at once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub iodepth_low: Option<u32>,

    // Time.
    /// Most seconds of work, the ramp left out; `None`: until all bytes are moved.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub runtime_seconds: Option<f64>,
    /// Begin again until the runtime is over.
    #[serde(default, skip_serializing_if = "is_false")]
    pub time_based: bool,
    /// Seconds of work before anything counts.
    #[serde(default, skip_serializing_if = "is_default")]
    pub ramp_time_seconds: f64,
    /// Seconds to wait before the job begins.
    #[serde(default, skip_serializing_if = "is_default")]
    pub startdelay_seconds: f64,
    /// How often the whole job is done.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    pub loops: u32,
    /// Seconds to wait between operations.
    #[serde(default, skip_serializing_if = "is_default")]
    pub thinktime_seconds: f64,
    /// Of these, seconds spent computing instead of sleeping.
    #[serde(default, skip_serializing_if = "is_default")]
    pub thinktime_spin_seconds: f64,
    /// Operations between two waits.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    pub thinktime_blocks: u32,
    /// Rates that each worker keeps to, by direction.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate: Option<PerDirection<Rate>>,
    /// How the operations of a rate are spread over time.
    #[serde(default, skip_serializing_if = "is_default")]
    pub rate_process: RateProcess,
    /// Latency at a shared rate: the open loop runs at this share of the slowest lane's maximum,
    /// which is measured in the same race (methods section 4: 0.7). Only in suites.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate_of_slowest: Option<f64>,

    // Data.
    /// What is written.
    #[serde(default, skip_serializing_if = "is_default")]
    pub data: Data,
    /// Share of blocks that repeat an earlier one, in percent: a working set for deduplication.
    #[serde(default, skip_serializing_if = "is_default")]
    pub dedupe_percentage: u32,

    // Verification.
    /// Every written block carries a header with its offset, generation and CRC-32C, read back after
    /// a remount.
    #[serde(default, skip_serializing_if = "is_default")]
    pub verify: Verify,
    /// Read back what was written.
    #[serde(default = "yes", skip_serializing_if = "is_true")]
    pub do_verify: bool,
    /// The first mismatch ends the reading back; otherwise all are counted. Either fails the race.
    #[serde(default, skip_serializing_if = "is_false")]
    pub verify_fatal: bool,
    /// Bytes that carry one header; 0: the smallest block.
    #[serde(default, skip_serializing_if = "is_default")]
    pub verify_interval: Bytes,
}

impl Default for Io {
    fn default() -> Self {
        Io {
            rw: Pattern::Read,
            bs: Bytes(4096),
            size: Bytes(0),
            ioengine: default_ioengine(),
            iodepth: 1,
            direct: false,
            fdatasync: 0,
            slices: default_slices(),
            slice_seconds: default_slice_seconds(),
            block_sizes: None,
            bs_unaligned: false,
            blockalign: Bytes(0),
            io_size: None,
            offset: Bytes(0),
            offset_increment: Bytes(0),
            region: None,
            sequential_step_bytes: 0,
            operations_per_offset: 1,
            rwmixread: 50,
            norandommap: false,
            random_distribution: Distribution::default(),
            percentage_random: None,
            randrepeat: true,
            numjobs: 1,
            thread: false,
            nrfiles: 1,
            openfiles: None,
            file_service_type: FileService::default(),
            file_service_count: 1,
            filename: Vec::new(),
            filename_format: String::new(),
            filesize: None,
            create_on_open: false,
            create_only: false,
            create_fsync: true,
            allow_file_create: true,
            file_append: false,
            fallocate: Fallocate::default(),
            overwrite: false,
            pre_read: false,
            invalidate: true,
            fadvise_hint: FadviseHint::default(),
            unlink: false,
            unlink_each_loop: false,
            fsync_on_close: false,
            sync: SyncMode::default(),
            fsync: 0,
            end_fsync: false,
            uncached: false,
            rwf_dsync: false,
            hipri: false,
            sqthread_poll: false,
            iodepth_batch: None,
            iodepth_batch_complete_min: 0,
            iodepth_low: None,
            runtime_seconds: None,
            time_based: false,
            ramp_time_seconds: 0.0,
            startdelay_seconds: 0.0,
            loops: 1,
            thinktime_seconds: 0.0,
            thinktime_spin_seconds: 0.0,
            thinktime_blocks: 1,
            rate: None,
            rate_process: RateProcess::default(),
            rate_of_slowest: None,
            data: Data::default(),
            dedupe_percentage: 0,
            verify: Verify::default(),
            do_verify: true,
            verify_fatal: false,
            verify_interval: Bytes(0),
        }
    }
}

/// Access pattern of block I/O; the names are fio's.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Pattern {
    /// Sequential reads.
    Read,
    /// Sequential writes.
    Write,
    /// Random reads.
    RandRead,
    /// Random writes.
    RandWrite,
    /// Sequential reads and writes mixed.
    Rw,
    /// Random reads and writes mixed.
    RandRw,
    /// Sequential discards: holes punched into files.
    Trim,
    /// Random discards.
    RandTrim,
    /// Each block discarded, then written, sequentially.
    TrimWrite,
    /// Writes at the end of a growing file. Only in suites.
    Append,
}

/// Which way the data of one operation goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Direction {
    /// From the file into memory.
    Read,
    /// From memory into the file.
    Write,
    /// Nowhere: the range is discarded.
    Trim,
}

impl Direction {
    /// All, in the order of fio's comma-separated values.
    pub const ALL: [Direction; 3] = [Direction::Read, Direction::Write, Direction::Trim];

    /// `read`, `write` or `trim`: the name of its group.
    pub const fn name(self) -> &'static str {
        match self {
            Direction::Read => "read",
            Direction::Write => "write",
            Direction::Trim => "trim",
        }
    }
}

impl Pattern {
    /// Whether the file must be written in full before the work begins.
    pub fn needs_populated_file(self) -> bool {
        self != Pattern::Append
    }

    /// Whether some of the work reads.
    pub fn reads(self) -> bool {
        matches!(self, Pattern::Read | Pattern::RandRead | Pattern::Rw | Pattern::RandRw)
    }

    /// Whether some of the work writes.
    pub fn writes(self) -> bool {
        matches!(
            self,
            Pattern::Write | Pattern::RandWrite | Pattern::Rw | Pattern::RandRw | Pattern::TrimWrite | Pattern::Append
        )
    }

    /// Whether some of the work discards.
    pub fn trims(self) -> bool {
        matches!(self, Pattern::Trim | Pattern::RandTrim | Pattern::TrimWrite)
    }

    /// Whether reads and writes are mixed.
    pub fn mixed(self) -> bool {
        matches!(self, Pattern::Rw | Pattern::RandRw)
    }

    /// Whether offsets are random.
    pub fn random(self) -> bool {
        matches!(self, Pattern::RandRead | Pattern::RandWrite | Pattern::RandRw | Pattern::RandTrim)
    }

    /// The directions of its operations, in order.
    pub fn directions(self) -> &'static [Direction] {
        match self {
            Pattern::Read | Pattern::RandRead => &[Direction::Read],
            Pattern::Write | Pattern::RandWrite | Pattern::Append => &[Direction::Write],
            Pattern::Rw | Pattern::RandRw => &[Direction::Read, Direction::Write],
            Pattern::Trim | Pattern::RandTrim => &[Direction::Trim],
            Pattern::TrimWrite => &[Direction::Write, Direction::Trim],
        }
    }
}

/// One value for each direction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PerDirection<T> {
    /// For reads.
    pub read: T,
    /// For writes.
    pub write: T,
    /// For discards.
    pub trim: T,
}

impl<T> PerDirection<T> {
    /// The value for a direction.
    pub fn of(&self, direction: Direction) -> &T {
        match direction {
            Direction::Read => &self.read,
            Direction::Write => &self.write,
            Direction::Trim => &self.trim,
        }
    }
}

/// The block sizes of one direction: `"4KiB"`, `"4KiB-64KiB"` (uniform, in steps of the lower), or
/// `"4KiB/60:64KiB/40"` (size and percent).
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BlockSizes {
    /// Always the same.
    Fixed(Bytes),
    /// Uniform between both, in steps of the lower.
    Range(Bytes, Bytes),
    /// Each with its share in percent; the shares sum to 100.
    Split(Vec<(Bytes, u32)>),
}

impl BlockSizes {
    /// The smallest.
    pub fn smallest(&self) -> Bytes {
        match self {
            BlockSizes::Fixed(bytes) | BlockSizes::Range(bytes, _) => *bytes,
            BlockSizes::Split(parts) => parts.iter().map(|part| part.0).min().unwrap_or_default(),
        }
    }

    /// The largest.
    pub fn largest(&self) -> Bytes {
        match self {
            BlockSizes::Fixed(bytes) | BlockSizes::Range(_, bytes) => *bytes,
            BlockSizes::Split(parts) => parts.iter().map(|part| part.0).max().unwrap_or_default(),
        }
    }
}

impl BlockSizes {
    /// The mean length in bytes, as often as each is drawn.
    pub fn mean(&self) -> f64 {
        match self {
            BlockSizes::Fixed(bytes) => bytes.0 as f64,
            BlockSizes::Range(low, high) => {
                let steps = high.0.saturating_sub(low.0) / low.0.max(1);
                low.0 as f64 * (1.0 + steps as f64 / 2.0)
            }
            BlockSizes::Split(parts) => {
                parts.iter().map(|(bytes, percent)| bytes.0 as f64 * f64::from(*percent) / 100.0).sum()
            }
        }
    }
}

/// How random offsets are distributed: `"random"`, `"zipf:1.2"`, `"pareto:0.2"`, `"normal:10"`,
/// `"zoned:90/10:10/90"` (share of accesses / share of the file, in percent: hot and cold).
#[derive(Debug, Clone, PartialEq, Default)]
pub enum Distribution {
    /// Every block alike.
    #[default]
    Random,
    /// Zipf with this exponent, above 0 and not 1.
    Zipf(f64),
    /// Pareto with this power, above 0 and under 1.
    Pareto(f64),
    /// Normal about the middle, with this standard deviation in percent of the file.
    Normal(f64),
    /// Zones from the start of the file: percent of the accesses, percent of the file.
    Zoned(Vec<(u32, u32)>),
}

/// How the next file is chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum FileService {
    /// One after another.
    #[default]
    RoundRobin,
    /// At random.
    Random,
    /// Each to its end before the next.
    Sequential,
}

/// How files to be written are reserved before the work.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Fallocate {
    /// As fio's default on Linux: `fallocate` where the filesystem has it, else nothing.
    #[default]
    Native,
    /// Nothing.
    None,
    /// `posix_fallocate`, which writes zeros where the filesystem cannot reserve.
    Posix,
    /// `fallocate` with FALLOC_FL_KEEP_SIZE.
    Keep,
    /// `ftruncate` to the size: a hole.
    Truncate,
}

/// What the kernel is told about the coming accesses (`posix_fadvise`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum FadviseHint {
    /// What the pattern suggests.
    #[default]
    Pattern,
    /// Nothing.
    None,
    /// POSIX_FADV_SEQUENTIAL.
    Sequential,
    /// POSIX_FADV_RANDOM.
    Random,
    /// POSIX_FADV_NOREUSE.
    Noreuse,
}

/// How files to be written are opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum SyncMode {
    /// Plainly.
    #[default]
    None,
    /// O_SYNC.
    Sync,
    /// O_DSYNC.
    Dsync,
}

/// A rate that each worker keeps to.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Rate {
    /// As fast as it goes.
    #[default]
    Unlimited,
    /// Operations per second.
    Operations(f64),
    /// Bytes per second.
    Bytes(f64),
}

/// How the operations of a rate are spread over time, and from when their latency counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum RateProcess {
    /// A limit, at equal distances; latency from the moment of submission, as in fio.
    #[default]
    Linear,
    /// The open loop of methods section 4: Poisson arrivals; latency from the intended start.
    Poisson,
}

/// What is written: `"incompressible"`, `"1.6:1"`, `"2.7:1"`, `"zero"`, `"compress:50"` (percent of
/// each chunk that is compressible), `"pattern:deadbeef"`.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Data {
    /// Random bytes that never repeat.
    #[default]
    Incompressible,
    /// zstd -3 makes about 1.6:1 of it.
    Ratio16,
    /// zstd -3 makes about 2.7:1 of it.
    Ratio27,
    /// Zeros. Flatters filesystems that compress; a job file may ask for it.
    Zero,
    /// So many percent of each chunk are zeros, in chunks of so many bytes (0: a block).
    Compress(u32, u32),
    /// These bytes over and over.
    Pattern(Vec<u8>),
}

/// How blocks are verified.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Verify {
    /// Not at all.
    #[default]
    None,
    /// CRC-32C with offset and generation.
    Crc32c,
}

impl Io {
    /// Block sizes of one direction.
    pub fn blocks(&self, direction: Direction) -> BlockSizes {
        match &self.block_sizes {
            Some(sizes) => sizes.of(direction).clone(),
            None => BlockSizes::Fixed(self.bs),
        }
    }

    /// The smallest block of the pattern's directions.
    pub fn smallest_block(&self) -> Bytes {
        let smallest = |&direction: &Direction| self.blocks(direction).smallest();
        self.rw.directions().iter().map(smallest).min().unwrap_or(self.bs)
    }

    /// The largest block of the pattern's directions.
    pub fn largest_block(&self) -> Bytes {
        let largest = |&direction: &Direction| self.blocks(direction).largest();
        self.rw.directions().iter().map(largest).max().unwrap_or(self.bs)
    }

    /// Whether this job reads back what it wrote.
    pub fn reads_back(&self) -> bool {
        self.verify != Verify::None && self.do_verify && self.rw.writes()
    }

    /// Operations per second that a rate of a direction comes to, bytes in blocks of the mean length;
    /// `None` where it limits nothing.
    pub fn operations_of(&self, direction: Direction, rate: Rate) -> Option<f64> {
        let operations = match rate {
            Rate::Unlimited => return None,
            Rate::Operations(operations) => operations,
            Rate::Bytes(bytes) => bytes / self.blocks(direction).mean(),
        };
        (operations > 0.0 && operations.is_finite()).then_some(operations)
    }

    /// The share of reads, from 0 to 1, that the rates of a mixed pattern ask for, where both its
    /// directions have one.
    pub fn share_of_rates(&self) -> Option<f64> {
        let rates = self.rate.as_ref().filter(|_| self.rw.mixed())?;
        let of = |direction| self.operations_of(direction, *rates.of(direction));
        let (read, write) = (of(Direction::Read)?, of(Direction::Write)?);
        Some(read / (read + write))
    }

    /// The share of reads in a mixed pattern, from 0 to 1: that of its rates, else `rwmixread`.
    pub fn read_share(&self) -> f64 {
        self.share_of_rates().unwrap_or(f64::from(self.rwmixread.min(100)) / 100.0)
    }

    /// Whether a rate limits one direction of a mixed pattern and the other is free. fio lets the free
    /// one run ahead; here their order is drawn beforehand, and both would keep to the rate.
    pub fn limits_one_of_two(&self) -> bool {
        let Some(rates) = self.rate.as_ref().filter(|_| self.rw.mixed() && (1..100).contains(&self.rwmixread)) else {
            return false;
        };
        let limited = |direction| self.operations_of(direction, *rates.of(direction)).is_some();
        limited(Direction::Read) != limited(Direction::Write)
    }

    /// The directions that yield figures: those of the pattern, but for the one that a mix of 0 or
    /// 100 % leaves without operations.
    pub fn directions(&self) -> &'static [Direction] {
        match (self.rw.mixed(), self.rwmixread) {
            (true, 0) => &[Direction::Write],
            (true, 100..) => &[Direction::Read],
            _ => self.rw.directions(),
        }
    }

    /// What is wrong with the parameters, as one sentence with the remedy.
    ///
    /// # Errors
    /// The sentence, naming the key.
    pub fn check(&self) -> Result<(), Cow<'static, str>> {
        let fail = |what: &'static str| Err(Cow::Borrowed(what));
        self.check_names("job")?;
        let (smallest, largest) = (self.smallest_block().0, self.largest_block().0);
        if smallest == 0 || (self.size.0 > 0 && smallest > self.size.0) {
            return fail("bs must lie between 1 byte and size; change bs or size");
        }
        if self.size.0 == 0 && self.ioengine != "null" && self.filesize.is_none() {
            return fail("size is missing; say how many bytes the files have");
        }
        if largest > LARGEST_BLOCK.0 {
            return fail("bs is above 64MiB; lower it");
        }
        let aligned = |bytes: u64| bytes.is_multiple_of(512);
        if self.direct && (!aligned(smallest) || !aligned(largest) || !aligned(self.offset.0) || self.bs_unaligned) {
            return fail("bs must be a multiple of 512 with direct = true, offsets too; change bs, offset or direct");
        }
        if self.iodepth == 0 || self.iodepth > MOST_IODEPTH {
            return fail("iodepth must lie between 1 and 65536");
        }
        if matches!(self.ioengine.as_str(), "sync" | "mmap") && self.iodepth != 1 {
            return Err(Cow::Owned(format!(
                "ioengine {} keeps one I/O in flight; set iodepth = 1 or ioengine = \"io_uring\"",
                self.ioengine
            )));
        }
        if (self.fdatasync > 0 || self.fsync > 0) && !self.rw.writes() {
            return fail("fsync and fdatasync need a writing rw; remove them or write");
        }
        if !(1..=100).contains(&self.slices) {
            return fail("slices must lie between 1 and 100");
        }
        if !(0.01..=3600.0).contains(&self.slice_seconds) {
            return fail("slice_seconds must lie between 0.01 and 3600");
        }
        if self.rwmixread > 100 || self.dedupe_percentage > 100 {
            return fail("rwmixread and dedupe_percentage are percentages; write 0 to 100");
        }
        if !(1..=MOST_WORKERS).contains(&self.numjobs) {
            return fail("numjobs must lie between 1 and 1024");
        }
        if !(1..=MOST_FILES).contains(&self.nrfiles) {
            return fail("nrfiles must lie between 1 and 1048576");
        }
        if self.limits_one_of_two() {
            return fail("rate limits only one direction of a mixed rw; give reads and writes a rate each, or none");
        }
        if self.ioengine == "mmap" && self.sync != SyncMode::None {
            return fail(
                "sync does nothing for stores into a mapped file; write fdatasync = 1, which is an msync after each \
                 write, or another ioengine",
            );
        }
        if self.openfiles == Some(0) || self.iodepth_batch == Some(0) {
            return fail("openfiles and iodepth_batch begin at 1; raise them or leave them out");
        }
        let times = [
            self.runtime_seconds.unwrap_or(0.0),
            self.ramp_time_seconds,
            self.startdelay_seconds,
            self.thinktime_seconds,
            self.thinktime_spin_seconds,
        ];
        // A year, so that no sum of nanoseconds overflows.
        if times.iter().any(|seconds| !(0.0..=31_536_000.0).contains(seconds)) {
            return fail("a time must lie between 0 seconds and a year");
        }
        if self.time_based && self.runtime_seconds.is_none_or(|seconds| seconds <= 0.0) {
            return fail("time_based needs a runtime; say how long");
        }
        if self.rate_of_slowest.is_some_and(|share| !(0.01..=0.99).contains(&share)) {
            return fail("rate_of_slowest must lie between 0.01 and 0.99; 0.7 is usual");
        }
        if self.verify != Verify::None && self.file_append {
            return fail("verify does not work with file_append; remove one of them");
        }
        Ok(())
    }

    /// Refuses names of files outside the lane: races run as root, and make and remove these files.
    /// Both the pattern and the name that it gives for this job are looked at: an empty
    /// `$clientuid` can turn a harmless pattern into an absolute name.
    fn check_names(&self, job: &str) -> Result<(), Cow<'static, str>> {
        for name in &self.filename {
            inside(name).map_err(|what| format!("filename {name:?} {what}"))?;
        }
        if self.filename_format.is_empty() {
            return Ok(());
        }
        let format = &self.filename_format;
        let first = file_name(format, job, 0, 0);
        inside(format).and_then(|()| inside(&first)).map_err(|what| format!("filename_format {format:?} {what}"))?;
        Ok(())
    }
}

/// Name of a file of a job, relative to the lane: fio's names, so that another job of the file finds
/// them. `format` is [`Io::filename_format`]; workers and files count from 0. A slash in a job's name
/// becomes `_`: it would be a directory that nobody asked for.
pub fn file_name(format: &str, job: &str, worker: u32, number: u32) -> String {
    let format = if format.is_empty() { "$jobname.$jobnum.$filenum" } else { format };
    format
        .replace("$jobname", &job.replace('/', "_"))
        .replace("$jobnum", &worker.to_string())
        .replace("$filenum", &number.to_string())
        .replace("$clientuid", "")
}

/// Why a name is no file inside the lane, as the rest of a sentence that begins with the name.
fn inside(name: &str) -> Result<(), &'static str> {
    let last = name.rsplit('/').next().unwrap_or_default();
    if name.is_empty() {
        Err("is empty; name a file of the lane")
    } else if name.contains('\0') {
        Err("holds a NUL byte; remove it")
    } else if name.starts_with('/') {
        Err("is absolute; write it relative to the lane")
    } else if name.split('/').any(|part| part == "..") {
        Err("leads out of the lane by `..`; write it relative to the lane, without `..`")
    } else if last.is_empty() || last == "." {
        Err("names a directory; name a file in it")
    } else {
        Ok(())
    }
}

/// A job file as a workload: jobs run whole, together, or one group after another.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Jobs {
    /// The jobs in the order of the file.
    pub jobs: Vec<Job>,
    /// Name of the job file.
    #[serde(default)]
    pub file: String,
    /// How options were taken, one sentence each: accepted without effect, or with another one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

/// One job of a job file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Job {
    /// Name of its section.
    pub name: String,
    /// It begins when all jobs before it have ended.
    #[serde(default, skip_serializing_if = "is_false")]
    pub stonewall: bool,
    /// When it has ended, the others of its group end too: the jobs between the same two stonewalls
    /// (fio's `exitall`).
    #[serde(default, skip_serializing_if = "is_false")]
    pub exitall: bool,
    /// It begins when this job has ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wait_for: Option<String>,
    /// Every option of the job as the file and its defaults resolve it, in fio's spelling.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub options: Vec<(String, String)>,
    /// What it does.
    pub io: Io,
}

/// A job file that the installed fio runs, not Fairlane's engine.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FioRun {
    /// Name of the job file.
    pub file: String,
    /// The whole job file, includes and variables resolved, without directories.
    pub text: String,
    /// The jobs' names and directions, in order.
    pub jobs: Vec<FioJob>,
    /// Bytes that the jobs keep on the lane, as far as the file says.
    pub working_set: Bytes,
}

/// One job of a job file that fio runs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FioJob {
    /// Name of its section.
    pub name: String,
    /// Directions that yield figures.
    pub directions: Vec<Direction>,
}

impl Jobs {
    /// Names of the groups: the direction, after the job's name where there are several jobs.
    pub fn groups(&self) -> Vec<String> {
        let one = self.jobs.len() == 1;
        let of = |job: &Job| {
            let name = job.name.clone();
            job.io.directions().iter().map(move |&direction| group_name(&name, direction, one)).collect::<Vec<_>>()
        };
        self.jobs.iter().filter(|job| !job.io.create_only).flat_map(of).collect()
    }

    /// Bytes that all files together take; files that several jobs share count once.
    pub fn working_set_bytes(&self) -> u64 {
        let mut named = std::collections::BTreeMap::new();
        let mut own = 0_u64;
        // The null engine moves nothing and keeps no files.
        for Job { io, .. } in self.jobs.iter().filter(|job| job.io.ioengine != "null") {
            if io.filename.is_empty() {
                own = own.saturating_add(io.size.0.saturating_mul(u64::from(io.numjobs)));
            } else {
                let each = io.size.0.div_ceil(io.filename.len() as u64);
                for name in &io.filename {
                    let bytes = named.entry(name.as_str()).or_insert(0_u64);
                    *bytes = (*bytes).max(each);
                }
            }
        }
        named.values().fold(own, |sum, bytes| sum.saturating_add(*bytes))
    }

    /// Most seconds that one run takes as far as the options say; `None` where some job has no
    /// runtime.
    pub fn run_seconds(&self) -> Option<f64> {
        let (mut whole, mut group) = (0.0, 0.0_f64);
        for job in &self.jobs {
            if job.stonewall {
                whole += group;
                group = 0.0;
            }
            let own = job.io.runtime_seconds? + job.io.ramp_time_seconds + job.io.startdelay_seconds;
            group = group.max(own);
        }
        Some(whole + group)
    }

    /// Whether something is read back at the end.
    pub fn reads_back(&self) -> bool {
        self.jobs.iter().any(|job| job.io.reads_back())
    }

    /// What is wrong with the jobs, as one sentence with the remedy.
    ///
    /// # Errors
    /// The sentence, naming the job.
    pub fn check(&self) -> Result<(), String> {
        if self.jobs.is_empty() {
            return Err("the job file has no job; add a section such as [job]".to_owned());
        }
        for (index, job) in self.jobs.iter().enumerate() {
            let name = &job.name;
            inside(&name.replace('/', "_")).map_err(|what| format!("the name of job {name:?} {what}"))?;
            job.io.check().and_then(|()| job.io.check_names(name)).map_err(|what| format!("job {name}: {what}"))?;
            if job.io.rw == Pattern::Append {
                return Err(format!("job {}: append is not for job files; use rw=write and file_append", job.name));
            }
            if job.wait_for.as_ref().is_some_and(|name| !self.jobs[..index].iter().any(|of| of.name == *name)) {
                return Err(format!("job {}: wait_for names no earlier job; change it", job.name));
            }
        }
        Ok(())
    }
}

impl FioRun {
    /// Names of the groups, as [`Jobs::groups`].
    pub fn groups(&self) -> Vec<String> {
        let one = self.jobs.len() == 1;
        let of = |job: &FioJob| {
            let name = job.name.clone();
            let directions = job.directions.clone();
            directions.into_iter().map(move |direction| group_name(&name, direction, one))
        };
        self.jobs.iter().flat_map(of).collect()
    }
}

/// Name of a job's group: `read`, or `JOB: read` where the file has several jobs.
pub fn group_name(job: &str, direction: Direction, only_job: bool) -> String {
    if only_job { direction.name().to_owned() } else { format!("{job}: {}", direction.name()) }
}

fn default_ioengine() -> String {
    "sync".to_owned()
}
fn one() -> u32 {
    1
}
fn fifty() -> u32 {
    50
}
fn yes() -> bool {
    true
}
fn default_slices() -> u32 {
    5
}
fn default_slice_seconds() -> f64 {
    0.15
}
fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}
// serde hands references to `skip_serializing_if`.
#[allow(clippy::trivially_copy_pass_by_ref)]
fn is_zero(value: &u32) -> bool {
    *value == 0
}

// As above.
#[allow(clippy::trivially_copy_pass_by_ref)]
fn is_one(value: &u32) -> bool {
    *value == 1
}
#[allow(clippy::trivially_copy_pass_by_ref)]
fn is_fifty(value: &u32) -> bool {
    *value == 50
}
#[allow(clippy::trivially_copy_pass_by_ref)]
fn is_true(value: &bool) -> bool {
    *value
}
#[allow(clippy::trivially_copy_pass_by_ref)]
fn is_false(value: &bool) -> bool {
    !*value
}

impl fmt::Display for BlockSizes {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            BlockSizes::Fixed(bytes) => write!(out, "{bytes}"),
            BlockSizes::Range(low, high) => write!(out, "{low}-{high}"),
            BlockSizes::Split(parts) => {
                for (index, (bytes, percent)) in parts.iter().enumerate() {
                    let colon = if index > 0 { ":" } else { "" };
                    write!(out, "{colon}{bytes}/{percent}")?;
                }
                Ok(())
            }
        }
    }
}

impl FromStr for BlockSizes {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let size = |text: &str| text.trim().parse::<Bytes>().map_err(|error| error.to_string());
        if text.contains('/') {
            let mut parts = Vec::new();
            for part in text.split(':') {
                let (bytes, percent) =
                    part.split_once('/').ok_or_else(|| format!("`{part}` is no SIZE/PERCENT, such as 4KiB/60"))?;
                let percent: u32 = percent
                    .trim()
                    .parse()
                    .map_err(|_| format!("`{percent}` is no whole percentage; write 0 to 100"))?;
                parts.push((size(bytes)?, percent));
            }
            let sum: u64 = parts.iter().map(|part| u64::from(part.1)).sum();
            if sum != 100 {
                return Err(format!("the shares of `{text}` sum to {sum}, not 100; change them"));
            }
            return Ok(BlockSizes::Split(parts));
        }
        match text.split_once('-') {
            None => Ok(BlockSizes::Fixed(size(text)?)),
            Some((low, high)) => {
                let (low, high) = (size(low)?, size(high)?);
                if low > high || low.0 == 0 {
                    return Err(format!(
                        "`{text}` is no range of sizes; write the smaller one first, such as 4KiB-64KiB"
                    ));
                }
                Ok(BlockSizes::Range(low, high))
            }
        }
    }
}

impl fmt::Display for Distribution {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Distribution::Random => out.write_str("random"),
            Distribution::Zipf(theta) => write!(out, "zipf:{theta}"),
            Distribution::Pareto(power) => write!(out, "pareto:{power}"),
            Distribution::Normal(deviation) => write!(out, "normal:{deviation}"),
            Distribution::Zoned(zones) => {
                out.write_str("zoned")?;
                zones.iter().try_for_each(|(accesses, share)| write!(out, ":{accesses}/{share}"))
            }
        }
    }
}

impl FromStr for Distribution {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (name, rest) = text.split_once(':').unwrap_or((text, ""));
        let number = |within: std::ops::RangeInclusive<f64>, usual: f64| {
            if rest.is_empty() {
                return Ok(usual);
            }
            let number: f64 = rest.parse().map_err(|_| format!("`{rest}` is no number for {name}"))?;
            if within.contains(&number) {
                Ok(number)
            } else {
                Err(format!("{name} takes {} to {}, not {rest}", within.start(), within.end()))
            }
        };
        match name {
            "random" => Ok(Distribution::Random),
            "zipf" => match number(0.01..=10.0, 1.1)? {
                1.0 => Err("zipf:1 has no closed form; write 1.01 or 0.99".to_owned()),
                theta => Ok(Distribution::Zipf(theta)),
            },
            "pareto" => Ok(Distribution::Pareto(number(0.001..=0.999, 0.2)?)),
            "normal" => Ok(Distribution::Normal(number(0.001..=100.0, 10.0)?)),
            "zoned" => {
                let mut zones = Vec::new();
                for zone in rest.split(':') {
                    let read = |text: &str| text.trim().parse::<u32>().ok().filter(|percent| *percent <= 100);
                    let pair = zone.split_once('/').and_then(|(a, b)| Some((read(a)?, read(b)?)));
                    zones.push(pair.ok_or_else(|| format!("`{zone}` is no ACCESSES/SHARE in percent, such as 90/10"))?);
                }
                let sums: (u64, u64) =
                    zones.iter().fold((0, 0), |sum, zone| (sum.0 + u64::from(zone.0), sum.1 + u64::from(zone.1)));
                if sums != (100, 100) {
                    return Err(format!(
                        "the zones of `{text}` sum to {}/{}, not 100/100; change them",
                        sums.0, sums.1
                    ));
                }
                Ok(Distribution::Zoned(zones))
            }
            _ => Err(format!("`{name}` is no distribution; choose random, zipf, pareto, normal or zoned")),
        }
    }
}

impl fmt::Display for Data {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Data::Incompressible => out.write_str("incompressible"),
            Data::Ratio16 => out.write_str("1.6:1"),
            Data::Ratio27 => out.write_str("2.7:1"),
            Data::Zero => out.write_str("zero"),
            Data::Compress(percent, 0) => write!(out, "compress:{percent}"),
            Data::Compress(percent, chunk) => write!(out, "compress:{percent}/{chunk}"),
            Data::Pattern(bytes) => {
                out.write_str("pattern:")?;
                bytes.iter().try_for_each(|byte| write!(out, "{byte:02x}"))
            }
        }
    }
}

impl FromStr for Data {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || {
            format!("`{text}` is no data; choose incompressible, 1.6:1, 2.7:1, zero, compress:PERCENT or pattern:HEX")
        };
        match text {
            "incompressible" => return Ok(Data::Incompressible),
            "1.6:1" => return Ok(Data::Ratio16),
            "2.7:1" => return Ok(Data::Ratio27),
            "zero" => return Ok(Data::Zero),
            _ => {}
        }
        if let Some(rest) = text.strip_prefix("compress:") {
            let (percent, chunk) = rest.split_once('/').unwrap_or((rest, "0"));
            let percent = percent.parse().ok().filter(|percent| *percent <= 100).ok_or_else(wrong)?;
            return Ok(Data::Compress(percent, chunk.parse().map_err(|_| wrong())?));
        }
        let hex = text.strip_prefix("pattern:").ok_or_else(wrong)?;
        if hex.is_empty() || hex.len() % 2 != 0 || hex.len() > 1024 || !hex.is_ascii() {
            return Err(wrong());
        }
        let byte = |at: usize| u8::from_str_radix(&hex[at..at + 2], 16).map_err(|_| wrong());
        (0..hex.len()).step_by(2).map(byte).collect::<Result<_, _>>().map(Data::Pattern)
    }
}

/// Types whose JSON and TOML form is their text.
macro_rules! as_text {
    ($($type:ty => $example:literal),*) => {$(
        impl Serialize for $type {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }
        impl<'de> Deserialize<'de> for $type {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let text = Cow::<str>::deserialize(deserializer)?;
                text.parse().map_err(serde::de::Error::custom)
            }
        }
        impl JsonSchema for $type {
            fn schema_name() -> Cow<'static, str> {
                stringify!($type).into()
            }
            fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
                schemars::json_schema!({ "type": "string", "examples": [$example] })
            }
        }
    )*};
}
as_text!(BlockSizes => "4KiB/60:64KiB/40", Distribution => "zipf:1.2", Data => "2.7:1");

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_read_back_as_they_were_written() {
        for text in ["4KiB", "4KiB-64KiB", "4KiB/60:64KiB/40"] {
            assert_eq!(text.parse::<BlockSizes>().unwrap().to_string(), text);
        }
        for text in ["random", "zipf:1.2", "pareto:0.2", "normal:10", "zoned:90/10:10/90"] {
            assert_eq!(text.parse::<Distribution>().unwrap().to_string(), text);
        }
        for text in ["incompressible", "1.6:1", "2.7:1", "zero", "compress:50", "compress:50/4096", "pattern:deadbeef"]
        {
            assert_eq!(text.parse::<Data>().unwrap().to_string(), text);
        }
    }

    #[test]
    fn texts_that_make_no_sense_are_refused_with_a_remedy() {
        for text in ["", "4KiB/60", "64KiB-4KiB", "4KiB/x:1/40", "x"] {
            assert!(text.parse::<BlockSizes>().is_err(), "{text}");
        }
        for text in ["zipf:1", "zipf:x", "zoned:50/50", "zoned:x", "fractal", "pareto:2", "zipf:NaN"] {
            assert!(text.parse::<Distribution>().is_err(), "{text}");
        }
        for text in ["", "3:1", "compress:101", "pattern:", "pattern:abc", "pattern:zz", "pattern:éé"] {
            assert!(text.parse::<Data>().is_err(), "{text}");
        }
    }

    #[test]
    fn defaults_are_left_out_and_read_back() {
        let io = Io { size: Bytes(1 << 20), ..Io::default() };
        let json = serde_json::to_string(&io).unwrap();
        assert!(json.len() < 200, "{json}");
        assert_eq!(serde_json::from_str::<Io>(&json).unwrap(), io);
    }

    fn one_job(name: &str, io: Io) -> Jobs {
        let job = Job {
            name: name.into(),
            stonewall: false,
            exitall: false,
            wait_for: None,
            options: Vec::new(),
            io: Io { size: Bytes(1 << 20), ..io },
        };
        Jobs { jobs: vec![job], file: String::new(), notes: Vec::new() }
    }

    #[test]
    fn a_rate_for_one_direction_of_a_mixture_is_refused() {
        let of = |read, write| Io {
            rw: Pattern::RandRw,
            size: Bytes(1 << 20),
            rate: Some(PerDirection { read, write, trim: Rate::Unlimited }),
            ..Io::default()
        };
        let limit = Rate::Operations(100.0);
        assert!(of(limit, Rate::Unlimited).check().unwrap_err().contains("give reads and writes a rate each"));
        assert!(of(Rate::Unlimited, Rate::Bytes(1e6)).check().is_err());
        assert_eq!(of(limit, Rate::Bytes(1e6)).check(), Ok(()));
        let only_reads = Io { rwmixread: 100, ..of(limit, Rate::Unlimited) };
        assert_eq!(only_reads.check(), Ok(()));
        assert_eq!(Io { rw: Pattern::RandRead, ..of(limit, Rate::Unlimited) }.check(), Ok(()));
    }

    #[test]
    fn a_rate_in_bytes_counts_blocks_of_the_mean_length() {
        let mean = |text: &str| text.parse::<BlockSizes>().unwrap().mean();
        assert_eq!((mean("4KiB"), mean("4KiB-16KiB"), mean("4KiB/75:64KiB/25")), (4096.0, 10_240.0, 19_456.0));
        let rate = PerDirection { read: Rate::Bytes(8192.0), write: Rate::Bytes(4096.0), trim: Rate::Unlimited };
        let io = Io { rw: Pattern::Rw, rate: Some(rate), ..Io::default() };
        assert_eq!(io.operations_of(Direction::Read, rate.read), Some(2.0));
        assert!((io.read_share() - 2.0 / 3.0).abs() < 1e-12);
        assert_eq!(Io { rate: None, ..io }.read_share(), 0.5);
    }

    #[test]
    fn durability_that_a_mapped_file_does_not_have_is_refused() {
        let io = |sync| Io { ioengine: "mmap".into(), rw: Pattern::Write, size: Bytes(1 << 20), sync, ..Io::default() };
        assert_eq!(io(SyncMode::None).check(), Ok(()));
        for sync in [SyncMode::Sync, SyncMode::Dsync] {
            assert!(io(sync).check().unwrap_err().contains("write fdatasync = 1"), "{sync:?}");
        }
    }

    /// Names that lead out of a lane, or name no file in it.
    const OUTSIDE: [&str; 12] =
        ["", "/etc/passwd", "/", "//etc/passwd", "..", "../x", "a/../../x", "a/..", "a/", "a/.", ".", "a\0b"];

    #[test]
    fn files_outside_the_lane_are_refused_by_name() {
        for name in OUTSIDE {
            let named = Io { filename: vec!["fine".into(), name.into()], size: Bytes(1 << 20), ..Io::default() };
            let error = named.check().unwrap_err();
            assert!(error.starts_with("filename \"") && error.contains("; "), "{name:?}: {error}");
            assert!(one_job("a", named).check().is_err(), "{name:?}");
            let patterned = Io { filename_format: name.into(), size: Bytes(1 << 20), ..Io::default() };
            // An empty pattern is fio's own.
            assert_eq!(patterned.check().is_err(), !name.is_empty(), "{name:?}");
        }
        for name in ["x", "d/x", "./x", "..x", "x..", "a..b/c", "...", "d//x", "a:b", "a\\b"] {
            let io = Io { filename: vec![name.into()], size: Bytes(1 << 20), ..Io::default() };
            assert_eq!(io.check(), Ok(()), "{name:?}");
            let io = Io { filename_format: name.into(), size: Bytes(1 << 20), ..Io::default() };
            assert_eq!(io.check(), Ok(()), "{name:?}");
        }
    }

    #[test]
    fn patterns_that_lead_out_of_the_lane_only_when_filled_in_are_refused() {
        for format in ["$clientuid/etc/passwd", ".$clientuid./x", "x/.$clientuid./../x", "$clientuid", "d/$clientuid"] {
            let io = Io { filename_format: format.into(), size: Bytes(1 << 20), ..Io::default() };
            assert!(io.check().unwrap_err().starts_with("filename_format"), "{format}");
        }
        for (job, format) in [(".$clientuid.", "$jobname/x"), ("$clientuid", "$jobname/etc/x")] {
            let io = Io { filename_format: format.into(), ..Io::default() };
            let error = one_job(job, io).check().unwrap_err();
            assert!(error.contains("filename_format"), "{error}");
        }
        let io = Io { filename_format: "d/$jobname/$jobnum.$filenum".into(), ..Io::default() };
        assert_eq!(one_job("a/../b", io).check(), Ok(()), "a slash in a job's name is no directory");
        assert_eq!(file_name("$jobname/$jobnum-$filenum$clientuid", "a/../b", 2, 3), "a_.._b/2-3");
        assert_eq!(file_name("", "a", 1, 0), "a.1.0");
    }

    #[test]
    fn jobs_named_like_no_file_are_refused() {
        for name in ["", ".", "..", "a\0b"] {
            let error = one_job(name, Io::default()).check().unwrap_err();
            assert!(error.starts_with("the name of job"), "{error}");
        }
        for name in ["a", "a b", "/etc/passwd", "../x", "..."] {
            assert_eq!(one_job(name, Io::default()).check(), Ok(()), "{name}");
        }
    }

    #[test]
    fn groups_carry_the_jobs_name_where_there_are_several() {
        let job = |name: &str, rw| Job {
            name: name.into(),
            stonewall: false,
            exitall: false,
            wait_for: None,
            options: Vec::new(),
            io: Io { rw, size: Bytes(1 << 20), ..Io::default() },
        };
        let mut jobs = Jobs { jobs: vec![job("a", Pattern::RandRw)], file: String::new(), notes: Vec::new() };
        assert_eq!(jobs.groups(), ["read", "write"]);
        jobs.jobs.push(job("b", Pattern::Read));
        assert_eq!(jobs.groups(), ["a: read", "a: write", "b: read"]);
        assert_eq!(jobs.working_set_bytes(), 2 << 20);
        assert_eq!(jobs.run_seconds(), None);
    }
}
