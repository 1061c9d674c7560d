//! `fairlane report`: a record, judged again and rendered.

use super::screen::{style, tilde};
use super::{durability, outputs, page, screening};
use crate::failure::Failure;
use crate::options::Report;
pub use crate::terminal::print;
use crate::{knowledge, language, state};
use report::Render;
use std::path::Path;

/// Renders a record to standard output or a file.
///
/// # Errors
/// When the record cannot be read, the format is unknown, does not speak the language or is nothing for a
/// terminal, or the file cannot be written.
pub fn run(options: &Report) -> Result<(), Failure> {
    let shown = state::resolve(&options.record).ok().filter(|path| durability::is_record(path));
    if let Some(path) = shown {
        let output = named(options.output.as_deref());
        if let Some(output) = output {
            outputs::check(&[("-o", output)], &[("the record", &path)])?;
        }
        return put(&durability::render(&path, &options.format, options.lang)?, output);
    }
    let format = report::format_named(&options.format).map_err(|error| Failure::usage(error.to_string()))?;
    if let Some(language) = options.lang {
        format.check_language(language).map_err(Failure::usage)?;
    }
    let output = named(options.output.as_deref());
    if let Render::Page(_) = format.render {
        page::check_place(output)?;
    }
    let path = state::resolve(&options.record)?;
    if let Some(output) = output {
        outputs::check(&[("-o", output)], &[("the record", &path)])?;
    }
    let mut record = state::load_to_show(&path)?;
    screening::as_known(&mut record);
    let mut findings = knowledge::findings(&record)?;
    state::mark_running(&mut findings, &record, &path);
    screening::put_in_beside(&mut findings, &record, &path);
    match &format.render {
        Render::Text(render) => {
            let shown = tilde(&path);
            let input = report::Input { findings: &findings, record: &record, record_path: Some(&shown) };
            let style =
                if output.is_none() { style() } else { report::Style { piped: true, ..report::Style::default() } };
            put(&render(&input, &style).map_err(Failure::usage)?, output)
        }
        Render::Spoken(render) => {
            let shown = tilde(&path);
            let input = report::Input { findings: &findings, record: &record, record_path: Some(&shown) };
            put(&render(&input, language::chosen(options.lang)), output)
        }
        Render::Page(write) => {
            page::put(&page::build(&record, findings, &path, language::chosen(options.lang))?, *write, output)
        }
    }
}

/// The file of `-o`; `-` is standard output.
pub fn named(output: Option<&Path>) -> Option<&Path> {
    output.filter(|output| *output != Path::new("-"))
}

/// Writes to a file, or prints where none is named.
///
/// # Errors
/// When neither can be written.
pub fn put(text: &str, file: Option<&Path>) -> Result<(), Failure> {
    match file {
        None => print(text),
        Some(file) => page::into_file(file, &mut |out| out.write_all(text.as_bytes())),
    }
}
