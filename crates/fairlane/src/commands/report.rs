//! `fairlane report`: a record, judged again and rendered.

use super::screen::{style, tilde};
use crate::failure::Failure;
use crate::options::Report;
use crate::{knowledge, language, state};
use model::page::Language;
use std::io::Write;
use std::path::Path;

/// Renders a record to standard output or a file.
///
/// # Errors
/// When the record cannot be read, the format is unknown or speaks no other language, or the file cannot
/// be written.
pub fn run(options: &Report) -> Result<(), Failure> {
    let format = report::format_named(&options.format).map_err(|error| Failure::usage(error.to_string()))?;
    if let (None, Some(Language::Zh | Language::De)) = (format.in_language, options.lang) {
        return Err(Failure::usage(english_alone(format.name)));
    }
    let path = state::resolve(&options.record)?;
    let record = state::load_to_show(&path)?;
    let findings = knowledge::findings(&record)?;
    let shown = tilde(&path);
    let input = report::Input { findings: &findings, record: &record, record_path: Some(&shown) };
    let to_terminal = options.output.is_none();
    let style = if to_terminal { style() } else { report::Style::default() };
    let text = match format.in_language {
        Some(render) => render(&input, language::chosen(options.lang)),
        None => (format.render)(&input, &style).map_err(Failure::usage)?,
    };
    put(&text, options.output.as_deref())
}

/// Why a format takes no other language.
fn english_alone(format: &str) -> String {
    let speak = report::FORMATS.iter().filter(|format| format.in_language.is_some()).map(|format| format.name);
    format!("{format} speaks English alone; leave --lang out, or choose {}", speak.collect::<Vec<_>>().join(" or "))
}

/// Writes to a file, or prints where none is named.
///
/// # Errors
/// When neither can be written.
pub fn put(text: &str, file: Option<&Path>) -> Result<(), Failure> {
    match file {
        None => print(text),
        Some(file) => std::fs::write(file, text).map_err(|error| {
            Failure::failed(format!("cannot write {}: {error}; name another file with -o", file.display()))
        }),
    }
}

/// Prints; a reader that left (`| head`) is no error.
///
/// # Errors
/// When standard output cannot be written.
pub fn print(text: &str) -> Result<(), Failure> {
    let mut out = std::io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => {
            Err(Failure::failed(format!("cannot write to standard output: {error}")))
        }
        _ => Ok(()),
    }
}
