//! `fairlane explain`: where the time of operations went, of a record that was made with `race --explain`.

use super::outputs;
use super::report::{named, put};
use super::screen::style;
use crate::failure::Failure;
use crate::options::Explain;
use crate::state;

/// Renders what the passes of a record showed.
///
/// # Errors
/// When the record cannot be read or was made without passes, the format is unknown, or the file cannot be written.
pub fn run(options: &Explain) -> Result<(), Failure> {
    report::check_explanation(&options.format).map_err(Failure::usage)?;
    let output = named(options.output.as_deref());
    let path = state::resolve(&options.record)?;
    if let Some(output) = output {
        outputs::check(&[("-o", output)], &[("the record", &path)])?;
    }
    let record = state::load_to_show(&path)?;
    if record.profiles.is_empty() && record.header.plan.explain {
        let notes: Vec<String> = record.warnings.iter().map(|note| report::clean_text(note)).collect();
        return Err(Failure::failed(format!("this race could not explain itself: {}", notes.join("; "))));
    }
    if record.profiles.is_empty() {
        return Err(Failure::usage(format!(
            "{} holds no passes that look where the time goes; race again with --explain",
            model::text::escaped_path(&path)
        )));
    }
    let findings = stats::judge::findings(&record);
    let style = if output.is_none() { style() } else { report::Style { piped: true, ..report::Style::default() } };
    put(&report::render_explanation(&findings, &record, &options.format, &style).map_err(Failure::usage)?, output)
}
