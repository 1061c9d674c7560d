//! `fairlane compare A B`: two races side by side, or a race and published figures.

use super::report::print;
use super::screen::{style, tilde};
use crate::failure::Failure;
use crate::options::Compare;
use crate::{published, state, suites};
use model::published::PREFIX;

/// Compares two records, the second judged against the first; or one with published figures.
///
/// # Errors
/// When a record cannot be read, published figures or the format are unknown, or the two have
/// nothing in common.
pub fn run(options: &Compare) -> Result<(), Failure> {
    let format = report::format_named(&options.format).map_err(|error| Failure::usage(error.to_string()))?;
    match (options.a.strip_prefix(PREFIX), options.b.strip_prefix(PREFIX)) {
        (Some(_), Some(_)) => {
            return Err(Failure::usage(
                "both sides are published figures; put a record on one side, such as `last`, to compare with",
            ));
        }
        (Some(name), None) => return with_published(format, &options.b, name),
        (None, Some(name)) => return with_published(format, &options.a, name),
        (None, None) => {}
    }
    let (a, b) = (state::resolve(&options.a)?, state::resolve(&options.b)?);
    let comparison =
        stats::compare::compare(&state::load_to_show(&a)?, &state::load_to_show(&b)?, &options.a, &options.b);
    print(&(format.compare)(&comparison, &style()).map_err(Failure::usage)?)?;
    match comparison.rows.is_empty() {
        true => Err(Failure::usage(
            "the two records hold no lane, workload and group in common; compare races of one suite",
        )),
        false => Ok(()),
    }
}

fn with_published(format: &report::Format, record: &str, name: &str) -> Result<(), Failure> {
    // Its name is looked at first, so that `published:` alone lists the articles without a record.
    let published = published::find(name)?;
    let path = state::resolve(record)?;
    let record = state::load_to_show(&path)?;
    let mut suite = suites::find_built_in(&published.suite)?;
    if let (true, Some(suite)) = (record.header.plan.as_published, &mut suite) {
        suite.do_as_published().map_err(Failure::failed)?;
    }
    let comparison = stats::compare_published::compare_published(&record, &published, suite.as_ref(), &tilde(&path));
    print(&(format.published)(&comparison, &style()).map_err(Failure::usage)?)?;
    match comparison.is_empty() {
        true => Err(Failure::usage(match suite {
            Some(suite) => format!(
                "the record has no workload and group in common with {PREFIX}{name}; race suite {} first",
                suite.name
            ),
            None => format!(
                "the record has no workload and group in common with {PREFIX}{name}, and its suite {} is not built in \
                 yet; read published/{name}.toml for its figures",
                published.suite
            ),
        })),
        false => Ok(()),
    }
}
