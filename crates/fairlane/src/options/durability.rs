//! Options of `powercut` and `integrity`.

use clap::Args;
use model::Bytes;
use model::stack::MOST_DEVICES;
use std::path::PathBuf;

const POWERCUT_HELP: &str = "\
Each lane is the kernel's own filesystem on a disk that Fairlane records.
Work acknowledges a record once every fsync that makes it safe has returned.
Then the power is cut, thousands of times: each time any part of what no flush confirmed is on the disk.
ext4 with its defaults must keep everything and ext4,nobarrier must lose something;
otherwise the run is refused as untrusted.

  fairlane powercut                                      ext4, ext4,nobarrier, xfs, btrfs
  fairlane powercut ext4 ext4,nobarrier xfs btrfs 'ext4(-O ^has_journal)' --cuts 2000
  fairlane powercut xfs --workload sqlite-wal --seed 7
  fairlane powercut ext4 xfs --replay app.trace          a captured program's own syncs
  fairlane powercut jfs ext4/raid1:2 --on uml            in a guest, without root, on layers too";

fn parse_sector(text: &str) -> Result<u32, String> {
    match text {
        "512" => Ok(512),
        "4096" => Ok(4096),
        _ => Err("drives have sectors of 512 or of 4096 bytes; write one of them".to_owned()),
    }
}

/// Options of `powercut`.
#[derive(Debug, Args)]
#[command(after_help = POWERCUT_HELP)]
pub struct Powercut {
    /// The lanes, as `fairlane race` takes them; the two controls are always among them
    #[arg(value_name = "LANE")]
    pub lanes: Vec<String>,
    /// Cuts of each lane, 12 at least, over all kinds of work that promise something; sequences-no-dirsync gets its share beside them
    #[arg(long, value_name = "N", default_value_t = 600, value_parser = clap::value_parser!(u32).range(12..=1_000_000))]
    pub cuts: u32,
    /// Only this kind of work: append, replace, sqlite-wal, sqlite-rollback, sequences,
    /// sequences-no-dirsync; may be given again
    #[arg(long = "workload", value_name = "NAME")]
    pub workloads: Vec<String>,
    /// In place of such work the calls of a captured program, by one thread: what its own syncs (fsync, fdatasync, sync,
    /// syncfs, O_SYNC) had made safe is looked for after each cut; a trace of `fairlane capture`. Its speed is not measured
    #[arg(long, value_name = "TRACE")]
    pub replay: Option<PathBuf>,
    /// Size of each lane; the file behind it is sparse. Default: 512MiB, or what the files of a trace need
    #[arg(long, value_name = "SIZE", value_parser = |text: &str| text.parse::<Bytes>())]
    pub lane_size: Option<Bytes>,
    /// Seed of records and cuts; default: a new one, kept in the record
    #[arg(long, value_name = "N", value_parser = super::parse_seed)]
    pub seed: Option<u64>,
    /// Directory for the log and the lanes; default: the working directory. uml, qemu or qemu:KERNEL: in a guest, by its
    /// kernel and without root
    #[arg(long, value_name = "DIR")]
    pub on: Option<PathBuf>,
    /// Tear writes only between sectors of this size, 512 or 4096 bytes, as the drive that you have in mind does;
    /// default: some at the one, some at the other
    #[arg(long, value_name = "BYTES", value_parser = parse_sector)]
    pub sector: Option<u32>,
    /// Each lane loses a disk with every cut: its first one, or the one of this number; the controls lose none
    #[arg(long, value_name = "N", num_args = 0..=1, require_equals = true, default_missing_value = "1", conflicts_with = "look", value_parser = clap::value_parser!(u32).range(1..=i64::from(MOST_DEVICES)))]
    pub lose_disk: Option<u32>,
    /// Do not measure the speed of the same work
    #[arg(long)]
    pub no_speed: bool,
    /// Make a kept failing image again, mount it and say what is wrong with it. Its lane is named again only where its
    /// mount options do not speak for themselves
    #[arg(long, value_name = "FOLDER", conflicts_with_all = ["cuts", "workloads", "seed", "output"])]
    pub look: Option<PathBuf>,
    /// With --look: another cut of the same log
    #[arg(long, value_name = "TICK/SURVIVAL", requires = "look")]
    pub cut: Option<crashes::crash_model::Cut>,
    /// text, markdown or json; with --look text or json
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    pub format: String,
    /// Write the record here
    #[arg(short, long, value_name = "RECORD")]
    pub output: Option<PathBuf>,
    /// No progress: only the result, at the end
    #[arg(short, long)]
    pub quiet: bool,
}

const INTEGRITY_HELP: &str = "\
Blocks of data, then of metadata, are overwritten while the lane is unmounted.
Then every file is read and compared, and the filesystem's own check looks.
A lane called raid1 stands on two devices of which one is damaged.
Then, of lanes on one disk, a full disk: what can still be deleted, and does the space come back?
Then one that refuses a write or a flush: is fsync told, and what is left?

  fairlane integrity                                     ext4, xfs, btrfs, and btrfs as raid1
  fairlane integrity btrfs 'raid1=btrfs(-m raid1 -d raid1)' --blocks 64
  fairlane integrity ext4/raid1:2 --on uml               in a guest, without root, on layers too";

/// Options of `integrity`.
#[derive(Debug, Args)]
#[command(after_help = INTEGRITY_HELP)]
pub struct Integrity {
    /// The lanes, as `fairlane race` takes them; one with `raid1` among its mkfs options gets two devices
    #[arg(value_name = "LANE")]
    pub lanes: Vec<String>,
    /// Blocks of 4 KiB to damage, of data and then of metadata; fewer where a lane has fewer in use
    #[arg(long, value_name = "N", default_value_t = 32, value_parser = clap::value_parser!(u32).range(1..=4096))]
    pub blocks: u32,
    /// Size of each lane; the file behind it is sparse
    #[arg(long, value_name = "SIZE", default_value = "512MiB", value_parser = |text: &str| text.parse::<Bytes>())]
    pub lane_size: Bytes,
    /// Seed of files and damage; default: a new one, kept in the record
    #[arg(long, value_name = "N", value_parser = super::parse_seed)]
    pub seed: Option<u64>,
    /// Directory for the lanes; default: the working directory. uml, qemu or qemu:KERNEL: in a guest, by its kernel and
    /// without root
    #[arg(long, value_name = "DIR")]
    pub on: Option<PathBuf>,
    /// text, markdown or json
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    pub format: String,
    /// Write the record here
    #[arg(short, long, value_name = "RECORD")]
    pub output: Option<PathBuf>,
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
    /// Where the disk is mounted; the first line of the input says what it is
    #[arg(long, value_name = "FOLDER")]
    pub at: Option<PathBuf>,
}
