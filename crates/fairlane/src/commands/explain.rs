//! `fairlane explain`: where the time of operations went, in detail of a record that was made with `race --explain`.

use super::outputs;
use super::report::{named, put};
use super::screen::style;
use super::screening;
use crate::failure::Failure;
use crate::options::Explain;
use crate::{state, terminal};

/// Renders what the passes of a record showed, or else what its rounds counted.
///
/// # Errors
/// When the record cannot be read, is a screening, or holds no stacks for a format of stacks, the format is unknown, or the file
/// cannot be written.
pub fn run(options: &Explain) -> Result<(), Failure> {
    report::check_explanation(&options.format).map_err(Failure::usage)?;
    let output = named(options.output.as_deref());
    let path = state::resolve(&options.record)?;
    if let Some(output) = output {
        outputs::check(&[("-o", output)], &[("the record", &path)])?;
    }
    let record = state::load_to_show(&path)?;
    let instead = screening::of_proposal("explain", &record, &options.record, Some(&path));
    screening::refuse(&record, &options.record, &instead)?;
    let mut findings = stats::judge::findings(&record);
    state::mark_running(&mut findings, &record, &path);
    let missing: Vec<String> = findings.unexplained.iter().map(|said| report::clean_text(said)).collect();
    if report::is_of_stacks(&options.format) && record.profiles.is_empty() {
        // What the rounds counted is shares all the same, and no stacks.
        let why = if missing.is_empty() { "no pass looked at them".to_owned() } else { missing.join("; ") };
        return Err(Failure::usage(format!("{} holds no stacks: {why}", model::text::escaped_path(&path))));
    }
    if !report::is_of_stacks(&options.format) && findings.results.iter().all(|result| result.explanations.is_empty()) {
        let of_results = findings.results.iter().flat_map(|result| &result.unexplained);
        let mut why: Vec<String> = of_results.map(|said| report::clean_text(said)).collect();
        why.dedup();
        why.extend(missing);
        return Err(Failure::failed(match why.is_empty() {
            true => "too little was measured to tell where the time went; race longer".to_owned(),
            false => why.join("; "),
        }));
    }
    // Formats for programs have no place for it.
    if let Some(said) = report::ended(&findings).filter(|_| !["text", "markdown"].contains(&options.format.as_str())) {
        terminal::say!("{}: {said}", model::text::escaped_path(&path));
    }
    let style = if output.is_none() { style() } else { report::Style { piped: true, ..report::Style::default() } };
    put(&report::render_explanation(&findings, &record, &options.format, &style).map_err(Failure::usage)?, output)
}
