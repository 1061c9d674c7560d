//! Options of `share`.

use clap::Args;
use std::path::PathBuf;

const SHARE_HELP: &str = "\
Lists what is removed, then writes the rest as a record that `fairlane report`, `compare` and others
read like any other, with the same figures and verdicts. Names that you gave to lanes, suites and
workloads stay, and are listed too: read them. With a screening goes the race of its proposal, as
FILE-confirmed.jsonl.

  fairlane share last --dry-run                          what would be removed
  fairlane share last -o nvme-ext4-xfs.jsonl
  fairlane compare last published:./nvme-ext4-xfs.jsonl  for whoever got it";

/// Options of `share`.
#[derive(Debug, Args)]
#[command(after_help = SHARE_HELP)]
pub struct Share {
    /// A file, `last`, or `last~1` for the one before
    #[arg(value_name = "RECORD", default_value = "last")]
    pub record: String,
    /// Write it here; a file that is there is not overwritten. Default: NAME-shared.jsonl in the working directory
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Only list what would be removed
    #[arg(long)]
    pub dry_run: bool,
}
