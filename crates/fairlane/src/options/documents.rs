//! Options of `completions` and `man`.

use clap::{Args, ValueEnum};
use std::path::PathBuf;

const COMPLETIONS_HELP: &str = "\
Packages bring the scripts. Elsewhere:

  fairlane completions bash > ~/.local/share/bash-completion/completions/fairlane
  fairlane completions zsh > ~/.zfunc/_fairlane           a folder of your fpath
  fairlane completions fish > ~/.config/fish/completions/fairlane.fish

The script asks the `fairlane` of your PATH what a word may become; it writes nothing.";

/// Options of `completions`.
#[derive(Debug, Args)]
#[command(after_help = COMPLETIONS_HELP)]
pub struct Completions {
    /// The shell
    #[arg(value_enum)]
    pub shell: Shell,
}

/// A shell that completes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Shell {
    /// GNU Bash, 4.4 or later.
    Bash,
    /// Z shell.
    Zsh,
    /// fish, 3.1 or later.
    Fish,
}

/// Options of `man`.
#[derive(Debug, Args)]
pub struct Man {
    /// A new or empty folder for the pages. They bear the date of SOURCE_DATE_EPOCH, where that is set
    #[arg(value_name = "DIR")]
    pub directory: PathBuf,
}
