//! `fairlane suites`: the suites, or one as TOML.

use super::report::print;
use crate::failure::Failure;
use crate::options::Suites;
use crate::suites::{BUILT_IN, find};

/// Lists the suites, or prints one as it stands in the repository.
///
/// # Errors
/// When there is no such suite.
pub fn run(options: &Suites) -> Result<(), Failure> {
    match &options.name {
        Some(name) => match BUILT_IN.iter().find(|(known, _)| known == name) {
            Some((_, text)) => print(text),
            None => {
                let suite = find(name)?;
                print(&suite.to_toml().map_err(Failure::failed)?)
            }
        },
        None => {
            let mut text = String::new();
            for (name, _) in BUILT_IN {
                let suite = find(name)?;
                text.push_str(&format!("{name:<14}{}\n", suite.about));
                for workload in &suite.workload {
                    text.push_str(&format!("{:<14}  {:<18}{}\n", "", workload.name, workload.title));
                }
            }
            text.push_str("\nfairlane suites NAME prints one as TOML; change a copy and race it with --suite FILE.\n");
            print(&text)
        }
    }
}
