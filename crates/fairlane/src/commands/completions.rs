//! `fairlane completions`: the script by which a shell asks Fairlane what a word may become.

use super::report::print;
use crate::failure::Failure;
use crate::options::{Completions, Shell};

const BASH: &str = include_str!("../../../../packaging/completions/fairlane.bash");
const ZSH: &str = include_str!("../../../../packaging/completions/_fairlane");
const FISH: &str = include_str!("../../../../packaging/completions/fairlane.fish");

/// Prints the script of a shell.
///
/// # Errors
/// When standard output cannot be written.
pub fn run(options: &Completions) -> Result<(), Failure> {
    print(match options.shell {
        Shell::Bash => BASH,
        Shell::Zsh => ZSH,
        Shell::Fish => FISH,
    })
}
