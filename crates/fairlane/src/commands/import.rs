//! `fairlane import`: what others wrote down of a program becomes a trace.

use super::report::print;
use crate::failure::Failure;
use crate::options::Import;
use crate::owned;
use model::text::escaped_path;
use std::io::BufReader;
use trace::Writer;
use trace::import::{self, Imported};

/// Most logs of one trace: each is open while all are read.
const MOST_LOGS: usize = 512;

/// Reads the logs and writes the trace.
///
/// # Errors
/// When one cannot be read, is of no known kind, or the trace cannot be written.
pub fn run(options: &Import) -> Result<(), Failure> {
    let shown = escaped_path(&options.output);
    if options.logs.len() > MOST_LOGS {
        return Err(Failure::usage(format!("more than {MOST_LOGS} logs are no one program's; name fewer")));
    }
    let there = |error: std::io::Error| {
        Failure::usage(match error.kind() {
            std::io::ErrorKind::AlreadyExists => {
                format!("{shown} is there already; name another file with -o, or remove it")
            }
            _ => format!("cannot write {shown}: {}; name another file with -o", owned::plain(&error)),
        })
    };
    owned::check_new(&options.output).map_err(there)?;
    let logs = options.logs.iter().map(|log| {
        let file = owned::open_to_read(log);
        let cannot = |error| Failure::usage(format!("cannot read {}: {error}; name a log", escaped_path(log)));
        file.map(BufReader::new).map_err(cannot)
    });
    let names: Vec<String> = options.logs.iter().map(|log| escaped_path(log)).collect();
    let imported = import::read(logs.collect::<Result<Vec<_>, _>>()?)
        .map_err(|error| Failure::usage(format!("{}: {error}", names.join(", "))))?;
    let file = owned::create_private(&options.output).map_err(there)?;
    let written = write(&imported, file);
    if written.is_err() {
        // Half a trace is none.
        let _ = owned::remove(&options.output);
    }
    written
        .map_err(|error| Failure::failed(format!("cannot write {shown}: {error}; free space, or name another file")))?;
    print(&told(&imported, options))
}

fn write(imported: &Imported, file: std::fs::File) -> std::io::Result<()> {
    let mut writer = Writer::begin(file)?;
    imported.items.iter().try_for_each(|item| writer.add(item))?;
    writer.flush()
}

/// How far it went.
fn told(imported: &Imported, options: &Import) -> String {
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
    let output = report::shell_line(&[options.output.display().to_string()]);
    text.push_str(&format!("what it holds: fairlane trace show {output}; race it: fairlane race --replay {output}\n"));
    text
}
