//! Logs of a program's calls, made a trace.

use super::of_processes;
use crate::commands::report::print;
use crate::failure::Failure;
use crate::owned;
use model::text::escaped_path;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use std::fs::File;
use std::io::BufReader;
use std::path::{Path, PathBuf};
use trace::Writer;
use trace::import::{self, Imported, Log};

/// Logs that a sentence names.
const MOST_NAMES: usize = 4;
/// Descriptors beside those of logs.
const DESCRIPTOR_RESERVE: u64 = 64;

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
    may_open_all(logs.len());
    let opened: Vec<Log<BufReader<File>>> = logs.iter().map(|log| log_at(log)).collect();
    let imported = import::read(&opened).map_err(|error| Failure::usage(format!("{}: {error}", shown_all(logs))))?;
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

/// A log, opened when its turn comes.
fn log_at(path: &Path) -> Log<'_, BufReader<File>> {
    let open = move || {
        let cannot = |error: std::io::Error| {
            std::io::Error::new(error.kind(), format!("{}: {error}; name a log", escaped_path(path)))
        };
        owned::open_to_read(path).map(BufReader::new).map_err(cannot)
    };
    Log { process: of_processes::process_of(path), open: Box::new(open) }
}

/// Files of processes that were there at the same time are open at the same time.
fn may_open_all(files: usize) {
    let of_process = getrlimit(Resource::Nofile);
    let wanted = files as u64 + DESCRIPTOR_RESERVE;
    let Some(now) = of_process.current.filter(|now| *now < wanted) else { return };
    let current = of_process.maximum.map_or(wanted, |most| most.min(wanted));
    if current > now {
        // What is missing then is said where a file cannot be opened.
        let _ = setrlimit(Resource::Nofile, Rlimit { current: Some(current), maximum: of_process.maximum });
    }
}

/// Their names, as far as a sentence holds them.
fn shown_all(logs: &[PathBuf]) -> String {
    let mut names: Vec<String> = logs.iter().take(MOST_NAMES).map(|log| escaped_path(log)).collect();
    if logs.len() > MOST_NAMES {
        names.push(format!("and {} more", logs.len() - MOST_NAMES));
    }
    names.join(", ")
}

fn write(imported: &Imported, file: File) -> std::io::Result<()> {
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
