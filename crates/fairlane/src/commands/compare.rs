//! `fairlane compare A B`: two races side by side.

use super::report::print;
use super::screen::style;
use crate::failure::Failure;
use crate::options::Compare;
use crate::state;

/// Compares two records: the second judged against the first.
///
/// # Errors
/// When a record cannot be read or the format is unknown.
pub fn run(options: &Compare) -> Result<(), Failure> {
    let format = report::format_named(&options.format).map_err(|error| Failure::usage(error.to_string()))?;
    let (a, b) = (state::resolve(&options.a)?, state::resolve(&options.b)?);
    let comparison = stats::compare::compare(&state::load(&a)?, &state::load(&b)?, &options.a, &options.b);
    print(&(format.compare)(&comparison, &style()).map_err(Failure::usage)?)?;
    match comparison.rows.is_empty() {
        true => Err(Failure::usage(
            "the two records hold no lane, workload and group in common; compare races of one suite",
        )),
        false => Ok(()),
    }
}
