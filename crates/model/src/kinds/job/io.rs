//! The options of one job, with their defaults.

use super::defaults::{
    default_ioengine, default_slice_seconds, default_slices, fifty, is_default, is_false, is_fifty, is_one, is_true,
    is_zero, one, yes,
};
use super::pattern::{Pattern, PerDirection};
use super::shared::FileLayout;
use super::values::{
    BlockSizes, Data, Distribution, FadviseHint, Fallocate, FileService, Rate, RateProcess, SyncMode, Verify,
};
use crate::Bytes;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

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
    /// Slices per trial (method 1.1: 4 to 10). Job files run whole and ignore it.
    #[serde(default = "default_slices")]
    pub slices: u32,
    /// Measured seconds per slice (method 1.1: 0.1 to 0.25). Job files ignore it.
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
    /// Workers that do this job at the same time; "cpus": as many as there are CPUs, 2 to 8.
    #[serde(default = "one", skip_serializing_if = "is_one", deserialize_with = "crate::threads::read")]
    #[schemars(schema_with = "crate::threads::schema")]
    pub numjobs: u32,
    /// Workers of a job file are threads; otherwise processes. Workers of work measured in slices
    /// are threads, whatever this says.
    #[serde(default, skip_serializing_if = "is_false")]
    pub thread: bool,
    /// Whose files workers, and clients that do the same work, work on; only in work measured in slices. A file that all
    /// share holds `size` bytes for each worker of each client.
    #[serde(default, skip_serializing_if = "is_default")]
    pub file: FileLayout,
    /// Over MPI ranks that are slower than the fastest go on behind the deadline, which is the slice's end, until all have done as
    /// many operations (IOR's stoneWallingWearOut); only in work measured in one slice.
    #[serde(default, skip_serializing_if = "is_false")]
    pub wear_out: bool,
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
    /// which is measured in the same race (method 4.1: 0.7). Only in suites.
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
    #[expect(clippy::too_many_lines, reason = "one line for each key")]
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
            file: FileLayout::default(),
            wear_out: false,
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
