//! `fairlane trace show`: what a trace holds, in one page.

use super::report::print;
use super::trace_scenario;
use crate::failure::Failure;
use crate::options::{Trace, TraceCommand};
use crate::owned;
use model::trace::Summary;
use std::io::{BufReader, Read};
use std::path::Path;

/// Does what is asked.
///
/// # Errors
/// When the trace cannot be read.
pub fn run(options: &Trace) -> Result<(), Failure> {
    let TraceCommand::Show { trace, format } = &options.command;
    show(trace, format)
}

/// The format that [`scenario`] makes.
pub const SCENARIO: &str = "scenario";

fn show(path: &Path, format: &str) -> Result<(), Failure> {
    let known: Vec<&str> = report::TRACE_FORMATS.into_iter().chain([SCENARIO]).collect();
    if !known.contains(&format) {
        let shown = model::text::escaped(format.as_bytes());
        let known = known.join(", ");
        return Err(Failure::usage(format!("a trace is not shown as `{shown}`; choose one of {known}")));
    }
    if format == SCENARIO {
        return print(&scenario(path)?);
    }
    print(&report::render_trace(&summary(path)?, format))
}

fn summary(path: &Path) -> Result<Summary, Failure> {
    let shown = model::text::escaped_path(path);
    let file = owned::open_to_read(path)
        .map_err(|error| Failure::usage(format!("cannot read {shown}: {error}; name a trace")))?;
    trace::summarize(BufReader::new(file)).map_err(|error| Failure::usage(format!("{shown}: {error}")))
}

/// Whether a file is a trace, by its first line.
pub fn is_trace(path: &Path) -> bool {
    let mut begin = [0; trace::MAGIC.len()];
    owned::open_to_read(path).is_ok_and(|mut file| file.read_exact(&mut begin).is_ok() && begin == *trace::MAGIC)
}

/// The scenario, as TOML, that a trace is.
///
/// # Errors
/// When the trace cannot be read, or has no times.
pub fn scenario(path: &Path) -> Result<String, Failure> {
    let file = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    trace_scenario::scenario(&summary(path)?, &file)
}
