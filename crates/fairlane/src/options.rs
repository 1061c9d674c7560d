//! Every option, declared once.

mod age;
pub mod completion;
mod documents;
mod durability;
mod fleet;
mod screening;
mod serve;
mod share;
mod trace;
mod values;

pub use age::Age;
pub use documents::{Completions, Man, Shell};
pub use durability::{Integrity, Powercut, Recorder};
pub use fleet::{Collect, Trend};
pub use screening::Screen;
pub use serve::Serve;
pub use share::Share;
pub use trace::{Capture, Import, Trace, TraceCommand};
pub use values::{FindMaxBy, GuestKeeper, LaneState, Passes, Rank};

use clap::{Args, CommandFactory as _, FromArgMatches as _, Parser, Subcommand};
use model::Bytes;
use model::kinds::replay::Speed;
use model::page::Language;
use model::plan::OVER_MPI;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// Which filesystem, with which options, on this hardware, for this work.
#[derive(Debug, Parser)]
#[command(name = "fairlane", version, propagate_version = true, max_term_width = 100, after_help = EXIT_STATUS)]
pub struct Options {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// Values of these kinds are numbers.
const NUMBERS: [&str; 8] = ["N", "N,…", "auto|N", "SIZE", "TIME", "PERCENT", "BYTES", "PID"];

/// Reads the command line; ends the process where it is wrong.
pub fn parse() -> Options {
    let parsed = command().try_get_matches().and_then(|matches| Options::from_arg_matches(&matches));
    parsed.unwrap_or_else(|error| refuse(&error))
}

/// Reads the command line of the program that races over MPI; ends the process where it is wrong.
pub fn parse_over_mpi(words: &[OsString]) -> Options {
    let all = std::iter::once(OsString::from(OVER_MPI)).chain(words.iter().cloned());
    let parsed = command().name(OVER_MPI).try_get_matches_from(all);
    parsed.and_then(|matches| Options::from_arg_matches(&matches)).unwrap_or_else(|error| refuse(&error))
}

/// Help is printed as it is; an error quotes what was typed, which a script may have taken from anywhere.
fn refuse(error: &clap::Error) -> ! {
    match error.use_stderr() {
        true => crate::terminal::say!("{error}"),
        false => _ = error.print(),
    }
    std::process::exit(error.exit_code())
}

/// The options, with numbers that may begin with a minus: what is wrong with them is said by who knows the range, and not
/// by clap, which takes them for options.
pub fn command() -> clap::Command {
    let is_number = |arg: &clap::Arg| {
        arg.get_value_names().is_some_and(|names| names.iter().any(|name| NUMBERS.contains(&name.as_str())))
    };
    // Every calibration races a lane against itself, and a screening's noise is that of its rounds.
    let without_twin = |command: clap::Command| command.mut_arg("with_self", |arg| arg.hide(true));
    let options = Options::command().mut_subcommand("calibrate", without_twin).mut_subcommand("screen", without_twin);
    options.mut_subcommands(|command| {
        command.mut_args(|arg| if is_number(&arg) { arg.allow_hyphen_values(true) } else { arg })
    })
}

const EXIT_STATUS: &str = "Exit status: 0 done, 1 failed, 2 usage, 3 the regression gate failed, 4 a privilege or a tool is \
    missing, 5 the gate did not reach the resolution asked for, 130 interrupted.";

/// What to do.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Race filesystems and say what the numbers can tell
    Race(Box<Race>),
    /// Race a filesystem against itself: how noisy this machine is and what it can resolve
    Calibrate(Box<Calibrate>),
    /// Which options of a filesystem matter for this work, found by a designed experiment and confirmed
    Screen(Box<Screen>),
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
    /// Show where the time of operations went
    Explain(Explain),
    /// Two races side by side, a race and published figures, or a regression gate over several
    #[command(alias = "gate")]
    Compare(Compare),
    /// A record as a file that others can use, without what tells whose machine it was
    Share(Share),
    /// Which of the raced lanes to take for a database, a home server, mail, …
    Advise(Advise),
    /// One figure over many records: how a lane fared from race to race
    Trend(Trend),
    /// Many records in one tidy table, as Parquet or CSV
    Collect(Collect),
    /// The dashboard in the browser: races live, records, comparisons, trends; it only reads
    Serve(Serve),
    /// What a power cut costs each lane: thousands of simulated ones, and what is left after each
    Powercut(Box<Powercut>),
    /// Damaged blocks, a full disk, a failing disk: does each lane tell the truth?
    Integrity(Box<Integrity>),
    /// Live a life of use in a folder, and tell how old that made its filesystem
    Age(Box<Age>),
    /// Run a program and write down what it asks of files
    Capture(Capture),
    /// What such a trace holds
    Trace(Trace),
    /// Make a record of other benchmarks' results, or a trace of what strace, fio or Darshan wrote down
    Import(Import),
    /// Remove what a crashed race left behind
    Clean {
        /// And the images of aged lanes that are kept for further races
        #[arg(long)]
        aged: bool,
    },
    /// The script that has a shell complete commands, lanes, suites and records
    Completions(Completions),
    /// Write the manual pages, for packages
    #[command(hide = true)]
    Man(Man),
    /// Make the load on behalf of a race (internal)
    #[command(hide = true)]
    Agent,
    /// Serve a disk on behalf of power cuts (internal)
    #[command(hide = true)]
    Recorder(Recorder),
    /// End a guest's processes when the race ends (internal)
    #[command(hide = true)]
    GuestKeeper(GuestKeeper),
    /// Work as a rank of an MPI job (internal)
    #[command(hide = true)]
    Rank(Rank),
}

const LANES_HELP: &str = "\
Lanes: [NAME=]FS[,OPTION…][@VENUE]. An option that begins with a dash goes to mkfs, the others to
mount; FS(MKFS OPTIONS) is the long form. A path to a directory races that directory as it is;
where a server keeps it, ,server=sync or ,server=async behind it says when that confirms a sync,
which no client sees. A path to a TOML file is a filesystem of your own.

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
    /// Do the calls of a captured program again, in place of a suite: a trace of `fairlane capture`
    #[arg(long, value_name = "TRACE", conflicts_with_all = ["suite", "workloads", "set", "data", "as_published", "find_max", "resume"])]
    pub replay: Option<PathBuf>,
    /// When its calls begin: `max`, as soon as what they wait for is done (the usual); `thinktime`, with the program's own
    /// time between them; `recorded`, at their times, where lateness is the figure; `2x`, twice as fast
    #[arg(long, value_name = "max|thinktime|recorded|2x", requires = "replay")]
    pub speed: Option<Speed>,
    /// Only this workload of the suite; may be given again
    #[arg(long = "workload", value_name = "NAME")]
    pub workloads: Vec<String>,
    /// Over MPI: race each workload by so many of the job's ranks, one number after another: 1,2,4,8
    #[arg(long, value_name = "N,…", value_delimiter = ',', value_parser = values::parse_ranks)]
    pub ranks: Vec<u32>,
    /// Size of each lane; default: what the suite says, otherwise 2GiB, and up to
    /// 16GiB where a tenth of --budget (10m or more) lays that out and half of what is free holds it
    #[arg(long, value_name = "SIZE", value_parser = |text: &str| text.parse::<Bytes>())]
    pub lane_size: Option<Bytes>,
    /// Rounds of each workload: `auto`, or a number; default: auto, with --as-published 1
    #[arg(long, value_name = "auto|N", value_parser = parse_rounds)]
    pub rounds: Option<model::plan::Rounds>,
    /// The article's own method, once: 60 s of steady work, whole sizes where the lanes hold them,
    /// one process for each operation; shows figures, gives no verdicts
    #[arg(long)]
    pub as_published: bool,
    /// Change a parameter of a workload: WORKLOAD.KEY=VALUE, such as small-files.count=1000; of every
    /// workload that has it: KEY=VALUE, such as server=mariadb
    #[arg(long = "set", value_name = "KEY=VALUE")]
    pub set: Vec<String>,
    /// What is written, as zstd -3 compresses it: `incompressible` (the usual), `1.6:1`, `2.7:1` or `compress:50`; of every
    /// workload that can
    #[arg(long, value_name = "RATIO", conflicts_with = "resume")]
    pub data: Option<String>,
    /// The state of every lane: `degraded`, its last disk is taken out before the work, or `rebuilding`, rebuilt again and again
    /// beside it (of arrays, the topmost of a lane, and of Btrfs on several disks); or a past: `aged`, `aged=git:10x`, `full=90%`
    #[arg(long, value_name = "STATE", conflicts_with = "resume")]
    pub state: Option<LaneState>,
    /// Behind the rounds, do each workload once more in every lane and look where the time of its operations goes: passes
    /// that count in no verdict, about as long as a round each. Rounds leave time for them in --budget, and where it is too short
    /// they come beyond it. Suite `quick` does them by itself, in what its time has room for; `--explain=no`: never. Where the
    /// kernel allows it not, the race goes on and says what to allow
    #[arg(long, value_name = "yes|no", num_args = 0..=1, require_equals = true, default_missing_value = "yes", value_enum, ignore_case = true, hide_possible_values = true)]
    pub explain: Option<Passes>,
    /// Search the largest number of writers that each lane sustains, in place of a race: `lateness` (p99 under
    /// one period and no growing backlog) or `load` (load average of a step at most the number of CPUs).
    /// The last workload of kind `appenders` is varied; --rounds is the number of passes
    #[arg(long, value_name = "CRITERION", num_args = 0..=1, require_equals = true, default_missing_value = "lateness", value_enum)]
    pub find_max: Option<FindMaxBy>,
    /// More writers than this are not tried
    #[arg(long, value_name = "N", default_value_t = 200_000, requires = "find_max", value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub most_writers: u32,
    /// Go on with an interrupted race. What a record may not choose by itself is typed again: lanes with options of
    /// mkfs or files of their own, --erase, --allow-programs, --set WORKLOAD.socket=PATH, and as root the folders of a
    /// record that is not among your own (--on)
    #[arg(long, value_name = "RECORD", conflicts_with_all = ["suite", "workloads", "lane_size", "rounds", "margin", "seed", "with_self", "throttle", "disks", "output", "as_published", "find_max"])]
    pub resume: Option<String>,
    /// Write the record here
    #[arg(short, long, value_name = "RECORD")]
    pub output: Option<PathBuf>,
    /// Write no HTML report beside the record
    #[arg(long)]
    pub no_report: bool,
    /// What every race takes.
    #[command(flatten)]
    pub terms: Terms,
}

/// What every race takes, whatever its work is.
#[derive(Debug, Default, Clone, Args)]
pub struct Terms {
    /// Where lanes without a venue live: `image`, a directory for the images, a block device, or a guest
    /// that needs no root: `uml` (user-mode Linux), `qemu`, `qemu:KERNEL`
    #[arg(long, value_name = "image|uml|qemu|DIR|DEVICE")]
    pub on: Option<PathBuf>,
    /// Block devices in place of images, for lanes on several disks too: /dev/a,/dev/b. Lanes take turns on them, each on
    /// the first ones, as many as it takes; every one needs --erase
    #[arg(long, value_name = "DEVICE,…", value_delimiter = ',', value_parser = values::parse_device, conflicts_with = "on")]
    pub disks: Vec<PathBuf>,
    /// CPUs of a QEMU guest; default: 2, or what this machine has
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=64))]
    pub guest_cpus: Option<u32>,
    /// Memory of each guest; default: 512MiB
    #[arg(long, value_name = "SIZE", value_parser = |text: &str| text.parse::<Bytes>())]
    pub guest_memory: Option<Bytes>,
    /// Let user-mode Linux open its images O_SYNC: each write waits for the disk
    #[arg(long)]
    pub guest_sync: bool,
    /// Time to race, such as 10m; default: what the command or the suite takes
    #[arg(long, value_name = "TIME", value_parser = model::units::parse_seconds)]
    pub budget: Option<f64>,
    /// Differences below this are a tie
    #[arg(long, value_name = "PERCENT", default_value = "5%", value_parser = model::units::parse_percent)]
    pub margin: f64,
    /// Give every lane the same slower disk while it is measured, such as 151MiB/s,8050iops: each limit
    /// holds for reads and for writes, or for one of them: read=200MiB/s,write=3000iops. May be given
    /// again as LANE:LIMITS, the disk of that lane alone
    #[arg(long, value_name = "[LANE:]LIMITS")]
    pub throttle: Vec<String>,
    /// Seed of every order, offset and byte; default: a new one, kept in the record
    #[arg(long, value_name = "N", value_parser = parse_seed)]
    pub seed: Option<u64>,
    /// Race the first lane twice: the noise, shown as a verdict
    #[arg(long)]
    pub with_self: bool,
    /// Leave a lane that fails at work mounted for a look, and end there; `fairlane clean` removes it
    #[arg(long)]
    pub keep: bool,
    /// Allow this device to be overwritten; may be given again
    #[arg(long, value_name = "DEVICE", value_delimiter = ',', value_parser = values::parse_device)]
    pub erase: Vec<PathBuf>,
    /// Let a suite start programs that it may not start by itself; read it first. They have no rights of root's
    #[arg(long)]
    pub allow_programs: bool,
    /// Print every command and file that would be touched, and stop
    #[arg(long)]
    pub dry_run: bool,
    /// No progress and no plan: only the result, at the end
    #[arg(short, long)]
    pub quiet: bool,
}

impl Terms {
    /// What `--on` names, or the first disk of `--disks`.
    pub fn place(&self) -> Option<&Path> {
        self.on.as_ref().or(self.disks.first()).map(PathBuf::as_path)
    }
}

const CALIBRATE_HELP: &str = "\
Two equal lanes race as many rounds as the time allows; what differs between them is noise.
Shown are how much there is per workload, how often it would be called a difference,
and which differences can be found in 1, 10 and 60 minutes.
The result is kept, and quoted by later races of the same suite on this machine.

  fairlane calibrate                       ext4, suite quick, 15 minutes
  fairlane calibrate xfs --suite general --budget 1h
  fairlane calibrate --show                the newest one kept";

/// Options of `calibrate`.
#[derive(Debug, Args)]
#[command(after_help = CALIBRATE_HELP)]
pub struct Calibrate {
    /// The filesystem, as `fairlane race` takes a lane
    #[arg(value_name = "LANE", default_value = "ext4")]
    pub lane: String,
    /// Suite by name, or a TOML file
    #[arg(long, value_name = "NAME|FILE", default_value = "quick")]
    pub suite: String,
    /// Only this workload of the suite; may be given again
    #[arg(long = "workload", value_name = "NAME")]
    pub workloads: Vec<String>,
    /// Size of each lane
    #[arg(long, value_name = "SIZE", default_value = "2GiB", value_parser = |text: &str| text.parse::<Bytes>())]
    pub lane_size: Bytes,
    /// Rounds of each workload; default: as many as the time allows
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(6..=10_000))]
    pub rounds: Option<u32>,
    /// Change a parameter of a workload: WORKLOAD.KEY=VALUE
    #[arg(long = "set", value_name = "KEY=VALUE")]
    pub set: Vec<String>,
    /// Print the newest calibration of the suite on this machine, and race nothing
    #[arg(long, conflicts_with_all = ["lane", "workloads", "lane_size", "rounds", "set", "output"])]
    pub show: bool,
    /// Write the record here; default: among the calibrations kept, which later races look through
    #[arg(short, long, value_name = "RECORD")]
    pub output: Option<PathBuf>,
    /// What every race takes.
    #[command(flatten)]
    pub terms: Terms,
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
    /// Write no HTML report beside the record
    #[arg(long)]
    pub no_report: bool,
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
    /// Install the missing guests and tools with the distribution's package manager
    #[arg(long)]
    pub install: bool,
    /// With --install: database servers, ffmpeg and git too, without starting any service
    #[arg(long, requires = "install", conflicts_with = "user")]
    pub programs: bool,
    /// With --install, and without root: fetch the distribution's packages with its own client and unpack
    /// them into ~/.local/share/fairlane/guest
    #[arg(long, requires = "install")]
    pub user: bool,
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
    /// text, markdown, memo (one page for who decides), csv, json, html, fio-json or io500
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    pub format: String,
    /// Language of a memo or of the page; default: the locale's. Other formats are in English
    #[arg(long, value_name = "en|zh|de", value_parser = crate::language::parse)]
    pub lang: Option<Language>,
    /// Write here instead of standard output, over what is there; `-`: standard output
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
}

/// Options of `explain`.
#[derive(Debug, Args)]
pub struct Explain {
    /// A file, `last`, or `last~1` for the one before; without `fairlane race --explain` it tells what its rounds counted
    #[arg(default_value = "last")]
    pub record: String,
    /// text, markdown, json; or of the stacks that passes saw: folded (one a line with its microseconds, as flame graphs are
    /// made of), perf-script (samples, as `perf script` prints them)
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    pub format: String,
    /// Write here instead of standard output, over what is there; `-`: standard output
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
}

const COMPARE_HELP: &str = "\
published:NAME stands for the figures of an article, in either place; then figures and the ratios
between lanes stand side by side, without verdicts, and why they differ. published:./FILE takes such
figures from a TOML file, or a record that somebody shared, which is compared like any other.

  fairlane compare last~1 last
  fairlane compare last published:phytium-axvisor        31 operations, suite operations
  fairlane compare last published:openeuler-2203         seven tests, suite general
  fairlane compare published: last                       lists the articles

The gate: one record is one replicate (a boot, an installation), and boots should alternate between
baseline and candidate. Patterns in quotes are expanded by Fairlane. Exit status 3: something is
slower than allowed, with its whole interval; 5: --need-resolution was not reached.

  fairlane compare --baseline 'old/*.jsonl' --candidate 'new/*.jsonl' --fail-if-slower 5%
  fairlane compare --baseline 'old/*.jsonl' --candidate 'new/*.jsonl' --fail-if-slower 5% \\
                   --need-resolution 5% --format junit -o gate.xml";

/// Options of `compare`.
#[derive(Debug, Args)]
#[command(after_help = COMPARE_HELP)]
pub struct Compare {
    /// The first record: a file, `last`, `last~1`, published:NAME or published:FILE
    #[arg(value_name = "RECORD")]
    pub a: Option<String>,
    /// The second record, judged against the first, or published:NAME or published:FILE
    #[arg(value_name = "RECORD")]
    pub b: Option<String>,
    /// Records of what the candidate is held against: files or patterns such as 'old/*.jsonl'
    #[arg(long, value_name = "RECORD", num_args = 1.., conflicts_with_all = ["a", "b"], requires_all = ["candidate", "fail_if_slower"])]
    pub baseline: Vec<String>,
    /// Records of what is judged
    #[arg(long, value_name = "RECORD", num_args = 1.., conflicts_with_all = ["a", "b"], requires_all = ["baseline", "fail_if_slower"])]
    pub candidate: Vec<String>,
    /// Fail where the candidate is slower by more than this, with its whole interval
    #[arg(long, value_name = "PERCENT", value_parser = model::units::parse_percent, conflicts_with_all = ["a", "b"], requires = "baseline")]
    pub fail_if_slower: Option<f64>,
    /// Demand intervals of at most so much to either side
    #[arg(long, value_name = "PERCENT", value_parser = model::units::parse_percent, conflicts_with_all = ["a", "b"], requires = "baseline")]
    pub need_resolution: Option<f64>,
    /// text, markdown, csv or json; a gate also as junit
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    pub format: String,
    /// Write here instead of standard output; a gate's verdicts are printed all the same
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
}

const ADVISE_HELP: &str = "\
Without --scenario all scenarios are told in short. Several records of the same lanes on the same
machine are taken together. A lane must meet the scenario's constraints and those of --need: names
separated by commas must all hold, a|b is one of the two; --list explains them.

  fairlane advise                                        the last race, all scenarios
  fairlane advise --scenario mysql --need snapshots
  fairlane advise last~1 last --scenario home-server --need checksums,shrink
  fairlane advise --scenario ./mine.toml                 a scenario of your own
  fairlane advise --scenario ./app.trace                 a program that was captured
  fairlane advise --features btrfs                       what it can do, with sources";

/// Options of `advise`.
#[derive(Debug, Args)]
#[command(after_help = ADVISE_HELP)]
pub struct Advise {
    /// A file, `last`, or `last~1` for the one before; may be given again
    #[arg(value_name = "RECORD", default_value = "last")]
    pub records: Vec<String>,
    /// What you run: a name that --list shows, or a TOML file; may be given again
    #[arg(long = "scenario", value_name = "NAME|FILE")]
    pub scenarios: Vec<String>,
    /// What the filesystem must have, such as snapshots,checksums or shrink
    #[arg(long = "need", value_name = "WHAT", value_delimiter = ',')]
    pub needs: Vec<model::scenario::Need>,
    /// List the scenarios, what they weigh and what --need takes
    #[arg(long, conflicts_with_all = ["scenarios", "needs", "features"])]
    pub list: bool,
    /// What filesystems can do; of one, with sources
    #[arg(long, value_name = "FILESYSTEM", num_args = 0..=1, default_missing_value = "", conflicts_with_all = ["scenarios", "needs"])]
    pub features: Option<String>,
    /// text, markdown or json
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    pub format: String,
}

fn parse_seed(text: &str) -> Result<u64, String> {
    text.parse().map_err(|_| format!("write a whole number between 0 and {}", u64::MAX))
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

    #[test]
    fn the_options_are_sound() {
        command().debug_assert();
    }

    #[test]
    fn a_number_below_its_range_is_told_the_range() {
        for (arguments, says) in [
            (["powercut", "--cuts", "-5"], "-5 is not in 12..=1000000"),
            (["powercut", "--seed", "-5"], "between 0 and 18446744073709551615"),
            (["powercut", "--lane-size", "-1GiB"], "`-1GiB` is not a size"),
            (["powercut", "--sector", "-512"], "512 or of 4096"),
            (["integrity", "--blocks", "-1"], "-1 is not in 1..=4096"),
            (["race", "--rounds", "-3"], "auto or a number between 1 and 10000"),
            (["race", "--budget", "-10m"], "`-10m` is not a duration"),
            (["race", "--margin", "-5%"], "above 0 and below 100"),
            (["race", "--guest-cpus", "-2"], "-2 is not in 1..=64"),
            (["race", "--seed", "1.5"], "between 0 and 18446744073709551615"),
            (["race", "--ranks", "-1"], "write whole numbers from 1 on with one comma between two: 1,2,4,8"),
            (["race", "--ranks=abc", "ext4"], "write whole numbers from 1 on"),
            (["race", "--ranks=1,,2", "ext4"], "write whole numbers from 1 on"),
            (["race", "--ranks=4294967296", "ext4"], "write whole numbers from 1 on"),
        ] {
            let error =
                command().try_get_matches_from([&["fairlane"][..], &arguments].concat()).unwrap_err().to_string();
            assert!(error.contains(says), "{arguments:?}: {error}");
            assert!(!error.contains("to pass '"), "{error}");
        }
        let fine =
            command().try_get_matches_from(["fairlane", "powercut", "--cuts", "24", "-q", "--seed", "7"]).unwrap();
        let Command::Powercut(fine) = Options::from_arg_matches(&fine).unwrap().command else { panic!("another") };
        assert_eq!((fine.cuts, fine.seed, fine.quiet), (24, Some(7), true));
    }
}
