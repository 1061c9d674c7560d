//! `fairlane compare A B`: two races side by side, or a race and published figures. With --baseline it
//! is a regression gate, which has a file of its own.

use super::gate;
use super::report::{named, put};
use super::screen::{style, tilde};
use super::screening;
use crate::failure::Failure;
use crate::options::Compare;
use crate::{published, state};
use model::published::{PREFIX, Published};
use report::{Purpose, Style};
use stats::compare_published::{self, Nothing};
use std::path::{Path, PathBuf};

/// Compares two records, the second judged against the first; or one with published figures.
///
/// # Errors
/// When a record cannot be read, published figures or the format are unknown, or the two have
/// nothing in common.
pub fn run(options: &Compare) -> Result<(), Failure> {
    let purpose = if options.fail_if_slower.is_some() { Purpose::Gate } else { Purpose::Comparison };
    let format = report::format_for(&options.format, purpose).map_err(|error| Failure::usage(error.to_string()))?;
    let (a, b) = match (&options.a, &options.b, options.fail_if_slower) {
        (Some(a), Some(b), _) => (named_record(a), named_record(b)),
        (_, _, Some(fail_if_slower)) => return gate::run(options, format, fail_if_slower),
        (Some(only), None, None) => {
            return Err(Failure::usage(format!(
                "{} is one record, and two are compared; name the other behind it: a file, `last`, `last~1` or \
                 published:NAME",
                report::clean_text(only)
            )));
        }
        _ => {
            return Err(Failure::usage(
                "name two records, such as `fairlane compare last~1 last`, or the two sides of a gate: --baseline OLD… \
                 --candidate NEW… --fail-if-slower 5%",
            ));
        }
    };
    let output = named(options.output.as_deref());
    match (a.strip_prefix(PREFIX), b.strip_prefix(PREFIX)) {
        (Some(_), Some(_)) => {
            return Err(Failure::usage(
                "both sides are published figures; put a record on one side, such as `last`, to compare with",
            ));
        }
        (Some(name), None) => return with_published(format, b, name, output),
        (None, Some(name)) => return with_published(format, a, name, output),
        (None, None) => {}
    }
    let paths = [state::resolve(a)?, state::resolve(b)?];
    let records = [state::load_to_show(&paths[0])?, state::load_to_show(&paths[1])?];
    for ((record, name), path) in records.iter().zip([a, b]).zip(&paths) {
        screening::refuse(record, name, &screening::of_proposal("compare", record, name, Some(path)))?;
    }
    let comparison = stats::compare::compare(&records[0], &records[1], a, b);
    let text = (format.compare)(&comparison, &style_of(output)).map_err(Failure::usage)?;
    if is_one_file(&paths) {
        return Err(Failure::usage(format!(
            "{} and {} are one and the same record, so that every ratio would be 1; name another beside it, such as \
             last~1 (`fairlane records` lists them)",
            report::clean_text(a),
            report::clean_text(b)
        )));
    }
    put(&text, output)?;
    match comparison.rows.is_empty() {
        true => Err(Failure::usage(
            "the two records hold no lane, workload and group in common; compare races of one suite",
        )),
        false => Ok(()),
    }
}

/// What was typed; of a record that somebody shared its file, without `published:` before it.
fn named_record(typed: &str) -> &str {
    published::record_of(typed).unwrap_or(typed)
}

/// Whether two names stand for one file.
fn is_one_file(paths: &[PathBuf; 2]) -> bool {
    let [a, b] = paths.each_ref().map(std::fs::canonicalize);
    a.is_ok_and(|a| b.is_ok_and(|b| a == b))
}

/// How what goes to a file or the screen looks.
pub fn style_of(output: Option<&Path>) -> Style {
    if output.is_some() { Style { piped: true, ..Style::default() } } else { style() }
}

/// The filesystems of an article, each once.
fn filesystems(published: &Published) -> String {
    let mut names: Vec<&str> = Vec::new();
    for lane in &published.lane {
        if !names.contains(&lane.filesystem.as_str()) {
            names.push(&lane.filesystem);
        }
    }
    names.join(", ")
}

fn with_published(format: &report::Format, record: &str, name: &str, output: Option<&Path>) -> Result<(), Failure> {
    // Its name is looked at first, so that `published:` alone lists the articles without a record.
    let published = published::find(name)?;
    let path = state::resolve(record)?;
    let record = state::load_to_show(&path)?;
    let shown = tilde(&path);
    screening::refuse(&record, &shown, &screening::of_proposal("compare", &record, &shown, Some(&path)))?;
    let suite = published::suite_of(&published, &record)?;
    let comparison = stats::compare_published::compare_published(&record, &published, suite.as_ref(), &tilde(&path));
    put(&(format.published)(&comparison, &style_of(output)).map_err(Failure::usage)?, output)?;
    match comparison.is_empty() {
        true => Err(Failure::usage(match (suite, compare_published::nothing(&record, &published)) {
            (Some(_), Nothing::OtherLanes) => format!(
                "no lane of the record has a filesystem of {PREFIX}{name} ({}); race one of them",
                filesystems(&published)
            ),
            (Some(suite), Nothing::NotMeasured { workload, title }) => format!(
                "of the work that {PREFIX}{name} has figures for nothing was measured in this record ({title}); race \
                 --suite {} --workload {workload} first",
                suite.name
            ),
            (Some(suite), Nothing::OtherFigures { title }) => format!(
                "{title} was raced, but {PREFIX}{name} gives other figures of it than this record holds; race suite {} \
                 as it is built in",
                suite.name
            ),
            (Some(suite), Nothing::OtherWork) => format!(
                "the record has no workload and group in common with {PREFIX}{name}; race suite {} first",
                suite.name
            ),
            (None, _) => format!(
                "the record has no workload and group in common with {PREFIX}{name}, and its suite {} is not built in; \
                 race the workloads that it names",
                report::clean_text(&published.suite)
            ),
        })),
        false => Ok(()),
    }
}
