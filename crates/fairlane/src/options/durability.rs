//! Options of `powercut` and `integrity`.

use clap::Args;
use model::Bytes;
use std::path::PathBuf;

const POWERCUT_HELP: &str = "\
Each lane is the kernel's own filesystem on a disk that Fairlane records. Work acknowledges a record
once every fsync that makes it safe has returned; then the power is cut, thousands of times, and each
time any part of what no flush confirmed is on the disk. ext4 with its defaults must keep everything
and ext4,nobarrier must lose something, or the run is refused as untrusted.

  fairlane powercut                                      ext4, ext4,nobarrier, xfs, btrfs
  fairlane powercut ext4 ext4,nobarrier xfs btrfs 'ext4(-O ^has_journal)' --cuts 2000
  fairlane powercut xfs --workload sqlite-wal --seed 7";

/// Options of `powercut`.
#[derive(Debug, Args)]
#[command(after_help = POWERCUT_HELP)]
pub struct Powercut {
    /// The lanes, as `fairlane race` takes them; the two controls are always among them
    #[arg(value_name = "LANE")]
    pub lanes: Vec<String>,
    /// Cuts of each lane, over all kinds of work
    #[arg(long, value_name = "N", default_value_t = 600, value_parser = clap::value_parser!(u32).range(12..=1_000_000))]
    pub cuts: u32,
    /// Only this kind of work: append, replace, sqlite-wal, sqlite-rollback, sequences,
    /// sequences-no-dirsync; may be given again
    #[arg(long = "workload", value_name = "NAME")]
    pub workloads: Vec<String>,
    /// Size of each lane; the file behind it is sparse
    #[arg(long, value_name = "SIZE", default_value = "512MiB", value_parser = |text: &str| text.parse::<Bytes>())]
    pub lane_size: Bytes,
    /// Seed of records and cuts; default: a new one, kept in the record
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
    /// Directory for the log and the lanes; default: the working directory
    #[arg(long, value_name = "DIR")]
    pub on: Option<PathBuf>,
    /// No progress: only the result, at the end
    #[arg(short, long)]
    pub quiet: bool,
}

/// Options of `recorder`.
#[derive(Debug, Args)]
pub struct Recorder {
    /// Take away what dead runs left, and serve nothing
    #[arg(long)]
    pub sweep: bool,
}
