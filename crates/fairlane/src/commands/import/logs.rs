//! Logs of a program's calls, made a trace.

use crate::commands::report::print;
use crate::failure::Failure;
use crate::owned;
use model::text::escaped_path;
use std::io::BufReader;
use std::path::{Path, PathBuf};
use trace::Writer;
use trace::import::{self, Imported};

/// Reads the logs and writes the trace.
///
/// # Errors
/// When one cannot be read, is of no known kind, or the trace cannot be written.
pub(super) fn run(logs: &[PathBuf], output: &Path) -> Result<(), Failure> {
    let shown = escaped_path(output);
    let there = |error: std::io::Error| {
        Failure::usage(match error.kind() {
            std::io::ErrorKind::AlreadyExists => {
                format!("{shown} is there already; name another file with -o, or remove it")
            }
            _ => format!("cannot write {shown}: {}; name another file with -o", owned::plain(&error)),
        })
    };
    owned::check_new(output).map_err(there)?;
    let opened = logs.iter().map(|log| {
        let file = owned::open_to_read(log);
        let cannot = |error| Failure::usage(format!("cannot read {}: {error}; name a log", escaped_path(log)));
        file.map(BufReader::new).map_err(cannot)
    });
    let names: Vec<String> = logs.iter().map(|log| escaped_path(log)).collect();
    let imported = import::read(opened.collect::<Result<Vec<_>, _>>()?)
        .map_err(|error| Failure::usage(format!("{}: {error}", names.join(", "))))?;
    let file = owned::create_private(output).map_err(there)?;
    let written = write(&imported, file);
    if written.is_err() {
        // Half a trace is none.
        let _ = owned::remove(output);
    }
    written
        .map_err(|error| Failure::failed(format!("cannot write {shown}: {error}; free space, or name another file")))?;
    print(&told(&imported, output))
}

fn write(imported: &Imported, file: std::fs::File) -> std::io::Result<()> {
    let mut writer = Writer::begin(file)?;
    imported.items.iter().try_for_each(|item| writer.add(item))?;
    writer.flush()
}

/// How far it went.
fn told(imported: &Imported, output: &Path) -> String {
    let left_out: u64 = imported.left_out.values().sum();
    let mut text = format!("{}: {} calls from {} lines\n", imported.format, imported.operations, imported.lines);
    if left_out > 0 {
        let kinds: Vec<String> =
            imported.left_out.iter().map(|(what, count)| format!("{count} {}", report::clean_text(what))).collect();
        text.push_str(&format!("left out: {}\n", kinds.join(", ")));
    }
    for note in &imported.notes {
        text.push_str(&format!("note: {note}\n"));
    }
    let output = report::shell_line(&[output.display().to_string()]);
    text.push_str(&format!("what it holds: fairlane trace show {output}; race it: fairlane race --replay {output}\n"));
    text
}
