//! Options of `age`.

use aging::Until;
use clap::Args;
use model::Bytes;
use std::path::PathBuf;

const AGE_HELP: &str = "\
Lives a life of use in the new folder DIR/fairlane-aged: files are made, grow, are replaced and go,
with real data, from a profile and a seed. Then it tells how old that made the filesystem.
It writes much, wears the disk, and fragments what others keep on this filesystem afterwards.

Profiles: churn (the usual), git, mail, desktop, database, photos, build; or a TOML file of yours.

  fairlane age /mnt/disk --dry-run                       what it would write
  fairlane age /mnt/disk --profile git --until 10x       the disk is overwritten ten times
  fairlane age /mnt/disk                                 goes on after ^C or a kill
  fairlane age /mnt/disk --look                          only measures
  fairlane age /mnt/disk --remove                        removes the folder";

/// Options of `age`.
#[derive(Debug, Args)]
#[command(after_help = AGE_HELP)]
pub struct Age {
    /// A folder on the filesystem that is to age; nothing outside its new folder `fairlane-aged` is touched
    #[arg(value_name = "DIR")]
    pub directory: PathBuf,
    /// What the use is like: a profile by name, or a TOML file. Default: churn, or that of the life that is there
    #[arg(long, value_name = "NAME|FILE")]
    pub profile: Option<String>,
    /// Seed of the life: the same seed, the same acts. Default: 1, or that of the life that is there
    #[arg(long, value_name = "N", value_parser = super::parse_seed)]
    pub seed: Option<u64>,
    /// What the life takes for its disk: it fills up to 85 % of that. Default: what is free, less 5 %
    #[arg(long, value_name = "SIZE", value_parser = |text: &str| text.parse::<Bytes>())]
    pub size: Option<Bytes>,
    /// When it ends: `settled`, when fragmentation no longer grows (at the latest after 10 overwrites or 30 minutes);
    /// `10x`, after so many overwrites of the size; `30m`; `50000op`, after so many operations; `2000cycles` of the profile
    #[arg(long, value_name = "settled|10x|30m", default_value = "settled", value_parser = |text: &str| text.parse::<Until>())]
    pub until: Until,
    /// Fill up, or free, to this share of the size at the end; such as 95%
    #[arg(long, value_name = "PERCENT", value_parser = model::units::parse_percent)]
    pub full: Option<f64>,
    /// text or json
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    pub format: String,
    /// Print what would be written, and stop
    #[arg(long)]
    pub dry_run: bool,
    /// Remove the folder that a life made, and stop
    #[arg(long, conflicts_with_all = ["profile", "seed", "size", "full", "dry_run", "look"])]
    pub remove: bool,
    /// Only measure the life that is there. A fresh copy is made beside it for a moment, where there is room
    #[arg(long, conflicts_with_all = ["profile", "seed", "size", "full", "dry_run"])]
    pub look: bool,
}
