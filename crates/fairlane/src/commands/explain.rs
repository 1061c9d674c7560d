//! `fairlane explain`: where the time of operations went, in detail of a record that was made with `race --explain`.

use super::outputs;
use super::report::{named, put};
use super::screen::style;
use crate::failure::Failure;
use crate::options::Explain;
use crate::state;

/// Renders what the passes of a record showed, or else what its rounds counted.
///
/// # Errors
/// When the record cannot be read or holds no stacks for a format of stacks, the format is unknown, or the file cannot be written.
pub fn run(options: &Explain) -> Result<(), Failure> {
    report::check_explanation(&options.format).map_err(Failure::usage)?;
    let output = named(options.output.as_deref());
    let path = state::resolve(&options.record)?;
    if let Some(output) = output {
        outputs::check(&[("-o", output)], &[("the record", &path)])?;
    }
    let record = state::load_to_show(&path)?;
    // Why no pass showed anything; what the rounds counted is shares all the same, and no stacks.
    let asked = record.header.plan.explain && !record.header.plan.explain_in_time;
    if record.profiles.is_empty() && asked && report::is_of_stacks(&options.format) {
        let notes: Vec<String> = record.warnings.iter().map(|note| report::clean_text(note)).collect();
        let why = if notes.is_empty() { "it ended before its passes".to_owned() } else { notes.join("; ") };
        return Err(Failure::failed(format!("this race could not explain itself: {why}")));
    }
    if record.profiles.is_empty() && report::is_of_stacks(&options.format) {
        return Err(Failure::usage(format!(
            "{} holds no stacks, because no pass looked at them; race again with --explain, which also says what hinders it",
            model::text::escaped_path(&path)
        )));
    }
    let findings = stats::judge::findings(&record);
    if !report::is_of_stacks(&options.format) && findings.results.iter().all(|result| result.explanations.is_empty()) {
        return Err(Failure::failed(
            "too little was measured to tell where the time went; race longer, or with --explain".to_owned(),
        ));
    }
    let style = if output.is_none() { style() } else { report::Style { piped: true, ..report::Style::default() } };
    put(&report::render_explanation(&findings, &record, &options.format, &style).map_err(Failure::usage)?, output)
}
