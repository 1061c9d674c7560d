//! Every option, declared once.

use clap::{Args, Parser, Subcommand};
use model::Bytes;
use std::path::PathBuf;

/// Which filesystem, with which options, on this hardware, for this work.
#[derive(Debug, Parser)]
#[command(name = "fairlane", version, propagate_version = true, max_term_width = 100, after_help = EXIT_STATUS)]
pub struct Options {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

const EXIT_STATUS: &str =
    "Exit status: 0 done, 1 failed, 2 usage, 4 a privilege or a tool is missing, 130 interrupted.";

/// What to do.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Race filesystems and say what the numbers can tell
    Race(Box<Race>),
    /// Run an ordinary fio job file in each lane and say which is faster
    Fio(Box<Fio>),
    /// What this machine can race, what is missing, and the one command that adds it
    Doctor(Doctor),
    /// The suites; one printed as TOML, to copy and change
    Suites(Suites),
    /// The records kept
    Records,
    /// Show a record
    Report(Report),
    /// Two races side by side, or a race and published figures
    Compare(Compare),
    /// Remove what a crashed race left behind
    Clean,
    /// Make the load on behalf of a race (internal)
    #[command(hide = true)]
    Agent,
}

const LANES_HELP: &str = "\
Lanes: [NAME=]FS[,OPTION…][@VENUE]. An option that begins with a dash goes to mkfs, the others to
mount; FS(MKFS OPTIONS) is the long form. A path to a directory races that directory as it is; a
path to a TOML file is a filesystem of your own.

  fairlane race                                         ext4, xfs, btrfs as images here
  fairlane race ext4 ext4,nobarrier btrfs,compress=zstd:1 lean=xfs,-mreflink=0,noatime
  fairlane race 'ext4(-O ^has_journal)' ext2
  fairlane race xfs@/dev/sdb2 --erase /dev/sdb2          formats that partition
  fairlane race /mnt/a /mnt/b                            no root needed";

/// Options of `race`.
#[derive(Debug, Args)]
#[command(after_help = LANES_HELP)]
pub struct Race {
    /// The contestants; default: ext4, xfs and btrfs, as far as this machine mounts them
    #[arg(value_name = "LANE")]
    pub lanes: Vec<String>,
    /// Suite by name, or a TOML file
    #[arg(long, value_name = "NAME|FILE", default_value = "quick")]
    pub suite: String,
    /// Only this workload of the suite; may be given again
    #[arg(long = "workload", value_name = "NAME")]
    pub workloads: Vec<String>,
    /// Size of each lane
    #[arg(long, value_name = "SIZE", default_value = "2GiB", value_parser = |text: &str| text.parse::<Bytes>())]
    pub lane_size: Bytes,
    /// Rounds of each workload: `auto`, or a number; default: auto, with --as-published 1
    #[arg(long, value_name = "auto|N", value_parser = parse_rounds)]
    pub rounds: Option<model::plan::Rounds>,
    /// The article's own method, once: 60 s of steady work, whole sizes where the lanes hold them,
    /// one process for each operation; shows figures, gives no verdicts
    #[arg(long)]
    pub as_published: bool,
    /// Change a parameter of a workload: WORKLOAD.KEY=VALUE, such as small-files.files=1000
    #[arg(long = "set", value_name = "KEY=VALUE")]
    pub set: Vec<String>,
    /// Go on with an interrupted race
    #[arg(long, value_name = "RECORD", conflicts_with_all = ["lanes", "suite", "workloads", "on", "lane_size", "rounds", "margin", "seed", "set", "with_self", "throttle", "output", "as_published"])]
    pub resume: Option<String>,
    /// Write the record here
    #[arg(short, long, value_name = "RECORD")]
    pub output: Option<PathBuf>,
    /// What every race takes.
    #[command(flatten)]
    pub terms: Terms,
}

/// What every race takes, whatever its work is.
#[derive(Debug, Args)]
pub struct Terms {
    /// Where lanes without a venue live: `image`, a directory for the images, or a block device
    #[arg(long, value_name = "image|DIR|DEVICE")]
    pub on: Option<PathBuf>,
    /// Time to race, such as 10m; default: the suite's own, and for a job file as long as it takes
    #[arg(long, value_name = "TIME", value_parser = model::units::parse_seconds)]
    pub budget: Option<f64>,
    /// Differences below this are a tie
    #[arg(long, value_name = "PERCENT", default_value = "5%", value_parser = model::units::parse_percent)]
    pub margin: f64,
    /// Give every lane the same slower disk while it is measured, such as 151MiB/s,8050iops: each limit
    /// holds for reads and for writes, or for one of them: read=200MiB/s,write=3000iops
    #[arg(long, value_name = "LIMITS", value_parser = |text: &str| text.parse::<model::Throttle>())]
    pub throttle: Option<model::Throttle>,
    /// Seed of every order, offset and byte; default: a new one, kept in the record
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
    /// Race the first lane twice: the noise, shown as a verdict
    #[arg(long)]
    pub with_self: bool,
    /// Leave a lane that fails at work mounted for a look, and end there; `fairlane clean` removes it
    #[arg(long)]
    pub keep: bool,
    /// Allow this device to be overwritten; may be given again
    #[arg(long, value_name = "DEVICE")]
    pub erase: Vec<PathBuf>,
    /// Print every command and file that would be touched, and stop
    #[arg(long)]
    pub dry_run: bool,
    /// No progress and no plan: only the result, at the end
    #[arg(short, long)]
    pub quiet: bool,
}

const FIO_HELP: &str = "\
The job file runs whole, in every lane and every round, on a fresh filesystem. Its names of files
are relative to the lane; `directory` is left out. With two lanes or more, rounds run until the
order is decided; --rounds 1 gives a first look. With one lane there is nothing to compare: it
runs once, unless --rounds says otherwise. `fairlane race --resume RECORD` goes on with an
interrupted run, `fairlane report RECORD --format fio-json` prints fio's JSON of a record again.

  fairlane fio nightly.fio                               in ext4, xfs and btrfs, as images here
  fairlane fio nightly.fio xfs --output-format json > xfs.json
  fairlane fio nightly.fio /mnt/a /mnt/b --rounds 1      no root needed
  fairlane fio nightly.fio ext4 xfs --with-fio           the installed fio makes the load";

/// Options of `fio`.
#[derive(Debug, Args)]
#[command(after_help = FIO_HELP)]
pub struct Fio {
    /// An ordinary fio job file; `-` reads standard input
    #[arg(value_name = "JOBFILE")]
    pub jobfile: PathBuf,
    /// The contestants, as `fairlane race` takes them; default: ext4, xfs and btrfs
    #[arg(value_name = "LANE")]
    pub lanes: Vec<String>,
    /// Let the installed fio make the load, not Fairlane's own engine
    #[arg(long)]
    pub with_fio: bool,
    /// Size of each lane; default: 2GiB, or twice what the jobs keep on a lane where that is more
    #[arg(long, value_name = "SIZE", value_parser = |text: &str| text.parse::<Bytes>())]
    pub lane_size: Option<Bytes>,
    /// Rounds: `auto`, or a number; default: auto for two lanes or more, 1 for one lane
    #[arg(long, value_name = "auto|N", value_parser = parse_rounds)]
    pub rounds: Option<model::plan::Rounds>,
    /// What is printed at the end: Fairlane's verdicts, or fio's JSON and nothing else (progress
    /// and verdicts then go to standard error)
    #[arg(long, value_name = "FORMAT", value_enum, default_value_t = OutputFormat::Normal)]
    pub output_format: OutputFormat,
    /// Write what is printed at the end here instead of standard output
    #[arg(long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Write the record here
    #[arg(short = 'o', long, value_name = "RECORD")]
    pub record: Option<PathBuf>,
    /// What every race takes.
    #[command(flatten)]
    pub terms: Terms,
}

/// What `fio` prints at the end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum OutputFormat {
    /// Verdicts for people.
    Normal,
    /// fio's JSON.
    Json,
}

/// Options of `doctor`.
#[derive(Debug, Args)]
pub struct Doctor {
    /// Install the missing tools with the distribution's package manager
    #[arg(long)]
    pub install: bool,
}

/// Options of `suites`.
#[derive(Debug, Args)]
pub struct Suites {
    /// Print this suite as TOML
    pub name: Option<String>,
}

/// Options of `report`.
#[derive(Debug, Args)]
pub struct Report {
    /// A file, `last`, or `last~1` for the one before
    #[arg(default_value = "last")]
    pub record: String,
    /// text, markdown, csv, json or fio-json
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    pub format: String,
    /// Write here instead of standard output
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
}

const COMPARE_HELP: &str = "\
published:NAME stands for the figures of an article, in either place; then figures and the ratios
between lanes stand side by side, without verdicts, and why they differ.

  fairlane compare last~1 last
  fairlane compare last published:phytium-axvisor        31 operations, suite operations
  fairlane compare last published:openeuler-2203         seven tests, suite general
  fairlane compare published: last                       lists the articles";

/// Options of `compare`.
#[derive(Debug, Args)]
#[command(after_help = COMPARE_HELP)]
pub struct Compare {
    /// The first record: a file, `last`, `last~1`, or published:NAME
    pub a: String,
    /// The second record, judged against the first, or published:NAME
    pub b: String,
    /// text, markdown, csv or json
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    pub format: String,
}

fn parse_rounds(text: &str) -> Result<model::plan::Rounds, String> {
    if text == "auto" {
        return Ok(model::plan::Rounds::Auto);
    }
    match text.parse::<u32>() {
        Ok(rounds) if (1..=10_000).contains(&rounds) => Ok(model::plan::Rounds::Fixed(rounds)),
        _ => Err("write auto or a number between 1 and 10000".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_options_are_sound() {
        Options::command().debug_assert();
    }
}
