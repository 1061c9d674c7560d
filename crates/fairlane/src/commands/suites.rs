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
            let suites =
                BUILT_IN.iter().map(|(name, _)| Ok((*name, find(name)?))).collect::<Result<Vec<_>, Failure>>()?;
            let widest = |lengths: &mut dyn Iterator<Item = usize>| lengths.max().unwrap_or(0) + 2;
            let names = widest(&mut suites.iter().map(|(name, _)| name.len()));
            let works = suites.iter().flat_map(|(_, suite)| &suite.workload);
            let works = widest(&mut works.map(|workload| workload.name.len()));
            let mut text = String::new();
            for (name, suite) in &suites {
                text.push_str(&format!("{name:<names$}{}\n", suite.about));
                for workload in &suite.workload {
                    text.push_str(&format!("{:<names$}  {:<works$}{}\n", "", workload.name, workload.title));
                }
            }
            text.push_str("\nfairlane suites NAME prints one as TOML; change a copy and race it with --suite FILE.\n");
            print(&text)
        }
    }
}
