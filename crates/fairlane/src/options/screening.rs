//! Options of `screen`.

use super::Terms;
use clap::Args;
use model::Bytes;
use model::kinds::replay::Speed;
use std::path::PathBuf;

const SCREEN_HELP: &str = "\
The runs of a designed experiment are the lanes of one race: each has some of the options at another \
level, so that every round tells of all options at once. What is proposed then races the default \
anew, with another seed. Options are tried on an image first, in a dry run too; what mkfs or the \
kernel refuses of the usual ones is left out and said, and of those that you name it ends the \
command. Of two that do not go together the later one is left out and said, named or not. Nothing that changes what is promised is proposed, and nothing \
that is in no table. Of a filesystem of your own the options are named.

--budget is the time of all of it but for --tune: 1h by default. A quarter of it, and at most 15 \
minutes, is the confirmation's.

  fairlane screen xfs --workload commit
  fairlane screen ext4 --suite database --set server=mariadb --budget 3h
  fairlane screen ext4 --option bigalloc --option 'commit=5|30' --option '-I 256|512'
  fairlane screen btrfs --without autodefrag --tune 30m --dry-run
  fairlane screen ./myfs.toml --option 'delay=0|100' --option '-b 1024|4096'";

/// Options of `screen`.
#[derive(Debug, Clone, Args)]
#[command(after_help = SCREEN_HELP)]
pub struct Screen {
    /// The filesystem whose options are screened, as `fairlane race` takes a lane: xfs, ext4/crypt, xfs@qemu, or one of
    /// your own with its options named: ./myfs.toml
    #[arg(value_name = "LANE", required_unless_present = "resume")]
    pub lane: Option<String>,
    /// Suite by name, or a TOML file
    #[arg(long, value_name = "NAME|FILE", default_value = "quick")]
    pub suite: String,
    /// Do the calls of a captured program again, in place of a suite: a trace of `fairlane capture`
    #[arg(long, value_name = "TRACE", conflicts_with_all = ["suite", "workloads", "set", "data", "resume"])]
    pub replay: Option<PathBuf>,
    /// When its calls begin: `max`, as soon as what they wait for is done (the usual); `thinktime`, `recorded` or `2x` as in
    /// `fairlane race`
    #[arg(long, value_name = "max|thinktime|recorded|2x", requires = "replay")]
    pub speed: Option<Speed>,
    /// Only this workload of the suite; may be given again
    #[arg(long = "workload", value_name = "NAME")]
    pub workloads: Vec<String>,
    /// Change a parameter of a workload: WORKLOAD.KEY=VALUE; of every workload that has it: KEY=VALUE
    #[arg(long = "set", value_name = "KEY=VALUE")]
    pub set: Vec<String>,
    /// What is written, as zstd -3 compresses it: `incompressible` (the usual), `1.6:1`, `2.7:1` or `compress:50`; of every
    /// workload that can
    #[arg(long, value_name = "RATIO", conflicts_with = "resume")]
    pub data: Option<String>,
    /// Screen this option: by its name in Fairlane's table, or with its levels, the usual one first: 'logbsize=32k|256k' of
    /// mount, '-m reflink=1|0' of mkfs, 'queue:scheduler=none|bfq' of the disk, 'vm.dirty_ratio=20|5' of the kernel. May be given
    /// again; default: those of the table that are worth it. With --resume those that are not in the table
    #[arg(long = "option", value_name = "OPTION", allow_hyphen_values = true)]
    pub options: Vec<String>,
    /// Leave this one of the usual options out; may be given again
    #[arg(long, value_name = "OPTION", conflicts_with = "resume")]
    pub without: Vec<String>,
    /// Rounds of each workload; default: as many as the time allows, 3 to 12. With --resume none but those that it was begun
    /// with
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(2..=10_000))]
    pub rounds: Option<u32>,
    /// Size of each lane; default: 1 GiB, more where filesystem, options or work ask for it, less where the disk has no room,
    /// because all lanes lie side by side
    #[arg(long, value_name = "SIZE", value_parser = |text: &str| text.parse::<Bytes>())]
    pub lane_size: Option<Bytes>,
    /// Go on for so long with all levels of the options with the largest effects that matter or cannot be told: combinations
    /// of them race, and the better half goes on. What is left races the default anew
    #[arg(long, value_name = "TIME", value_parser = model::units::parse_seconds)]
    pub tune: Option<f64>,
    /// Propose, and do not race the proposal
    #[arg(long, conflicts_with = "tune")]
    pub no_confirm: bool,
    /// Go on with an interrupted screening, or with its confirmation. What a record may not choose by itself is typed again:
    /// a lane with options of mkfs, a kernel or a file of its own, options that are not in Fairlane's table, --erase,
    /// --allow-programs, and as root the folder of a record that is not among your own (--on)
    #[arg(long, value_name = "RECORD", conflicts_with_all = ["suite", "workloads", "lane_size", "margin", "seed", "with_self", "throttle", "disks", "output"])]
    pub resume: Option<String>,
    /// Write the record here; that of the confirmation beside it, as STEM-confirmed.jsonl
    #[arg(short, long, value_name = "RECORD")]
    pub output: Option<PathBuf>,
    /// Write no HTML report beside the record
    #[arg(long)]
    pub no_report: bool,
    /// What every race takes.
    #[command(flatten)]
    pub terms: Terms,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_terminal_breaks_the_sentences_behind_the_options() {
        let broken: Vec<&str> = SCREEN_HELP.lines().filter(|line| line.len() > 100 && line.starts_with(' ')).collect();
        assert!(broken.is_empty(), "no terminal is wider: {broken:?}");
        let lines: Vec<&str> = SCREEN_HELP.lines().collect();
        let prose = |line: &str| !line.is_empty() && !line.starts_with(' ');
        assert!(lines.windows(2).all(|two| !prose(two[0]) || !prose(two[1])), "{SCREEN_HELP}");
        assert!(!SCREEN_HELP.contains(" \n") && !SCREEN_HELP.contains(". \u{20}"), "{SCREEN_HELP}");
    }
}
