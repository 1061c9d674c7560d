//! Options that change reports or placement, not the work: accepted with a note.

use super::{Outside, Row, note};

const REPORT: &str = "accepted without effect: the report has its own form";
const PERCENTILES: &str = "accepted without effect: whole histograms are recorded";
/// Nor does the installed fio get them: it would keep every entry in memory until it ends, and write into the lane.
const LOG: &str = "accepted without effect: the record holds the figures, no log is written";
const CPU: &str = "accepted without effect: every lane's workers run on the same CPUs, as the system places them";
const CLOCK: &str = "accepted without effect: every lane is timed with the same clock";
const BUFFERS: &str = "accepted without effect: buffers are aligned and lie in huge pages";
const RANDOM: &str = "accepted without effect: offsets come from the race's own seed";
const ENDS: &str = "accepted without effect: the job does not end when the limit is missed";
const ERRORS: &str = "accepted without effect: any error of the work fails the race";
const VERIFIER: &str = "accepted without effect: blocks are read back by the job's own workers after the work";
const IN_KERNEL: &str =
    "accepted without effect: how buffers and files are handed to the kernel is the engine's matter";

/// A row about logs.
const fn log(name: &'static str) -> Row {
    note(name, &[], LOG).outside(Outside::Drop)
}

pub(super) const ROWS: &[Row] = &[
    // Words.
    note("description", &[], "accepted without effect: it describes the job"),
    note("threads", &[], "accepted without effect, as in fio: the option is called thread"),
    note("prep", &[], "accepted without effect, as in fio: it belongs to a profile"),
    // Reports.
    note(
        "group_reporting",
        &[],
        "accepted without effect: the workers of a job are always reported together, jobs apart",
    )
    .bare(),
    note("unified_rw_reporting", &[], "accepted without effect: directions are always reported apart"),
    note("stats", &[], REPORT),
    note("significant_figures", &[], REPORT),
    note("unit_base", &[], REPORT),
    note("disk_util", &[], REPORT),
    log("per_job_logs"),
    note("clat_percentiles", &[], PERCENTILES),
    note("lat_percentiles", &[], PERCENTILES),
    note("slat_percentiles", &[], PERCENTILES),
    note("percentile_list", &[], PERCENTILES),
    note("block_error_percentiles", &[], PERCENTILES),
    note("disable_lat", &[], PERCENTILES),
    note("disable_clat", &[], PERCENTILES),
    note("disable_slat", &[], PERCENTILES),
    note("disable_bw_measurement", &["disable_bw"], PERCENTILES),
    note("gtod_reduce", &[], "accepted without effect: latency is always recorded"),
    note("gtod_cpu", &[], CLOCK),
    note("clocksource", &[], CLOCK),
    note("bwavgtime", &[], REPORT),
    note("iopsavgtime", &[], REPORT),
    note("rate_cycle", &["ratecycle"], REPORT),
    // Logs.
    log("write_bw_log").bare(),
    log("write_lat_log").bare(),
    log("write_iops_log").bare(),
    log("write_hist_log").bare(),
    log("write_iolog"),
    log("log_entries"),
    log("log_avg_msec"),
    log("log_window_value"),
    log("log_hist_msec"),
    log("log_hist_coarseness"),
    log("log_max_value"),
    log("log_offset"),
    log("log_prio"),
    log("log_issue_time"),
    log("log_compression"),
    log("log_compression_cpus"),
    log("log_store_compressed"),
    log("log_unix_epoch"),
    log("log_alternate_epoch"),
    log("log_alternate_epoch_clock_id"),
    // Placement.
    note("cpus_allowed", &[], CPU),
    note("cpus_allowed_policy", &[], CPU),
    note("cpumask", &[], CPU),
    note("numa_cpu_nodes", &[], CPU),
    note("numa_mem_policy", &[], CPU),
    note("nice", &[], CPU),
    note("prio", &[], "accepted without effect: every lane's I/O has the same priority"),
    note("prioclass", &[], "accepted without effect: every lane's I/O has the same priority"),
    note("priohint", &[], "accepted without effect: every lane's I/O has the same priority"),
    note("job_start_clock_id", &[], CLOCK),
    note("ioscheduler", &[], "accepted without effect: the scheduler stays as the system has it")
        .outside(Outside::Refuse("it changes a setting of the whole system")),
    note("sqthread_poll_cpu", &[], CPU),
    // Memory and the kernel's interface.
    note("mem", &["iomem"], BUFFERS).outside(Outside::Path),
    note("mem_align", &["iomem_align"], BUFFERS),
    note("hugepage-size", &[], BUFFERS),
    note("lockmem", &[], BUFFERS).outside(Outside::Refuse("it takes memory from the whole machine")),
    note("thp", &[], BUFFERS),
    note("fixedbufs", &[], IN_KERNEL).bare(),
    note("registerfiles", &[], IN_KERNEL).bare(),
    note("nonvectored", &[], IN_KERNEL),
    note("userspace_reap", &[], IN_KERNEL).bare(),
    note("iodepth_batch_complete_max", &[], "accepted without effect: all completions that are there are collected"),
    // Random numbers.
    note("randseed", &[], RANDOM),
    note("random_generator", &[], "accepted without effect: there is one generator; the distribution is the same"),
    note("softrandommap", &[], "accepted without effect: the map of visited blocks is always had"),
    // Conditions that end a job of fio.
    note("rate_min", &["ratemin"], ENDS),
    note("rate_iops_min", &[], ENDS),
    note("max_latency", &[], ENDS),
    note("exitall_on_error", &[], ERRORS).bare(),
    note("continue_on_error", &[], ERRORS),
    note("error_dump", &[], ERRORS),
    // Files.
    note("create_serialize", &[], "accepted without effect: files are made before anything counts"),
    note("allow_mounted_write", &[], "accepted without effect: work stays on the lane's files"),
    note("unique_filename", &[], "accepted without effect: there are no network clients"),
    // Verification.
    note("verify_dump", &[], VERIFIER),
    note("verify_async", &[], VERIFIER),
    note("verify_async_cpus", &[], VERIFIER),
    note("verify_state_save", &[], VERIFIER),
];
