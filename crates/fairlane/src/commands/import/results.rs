//! Results of other benchmarks, made a record.

use super::record::{self, Imported};
use super::{Named, cannot_read, io500};
use crate::commands::contest::new_record_name;
use crate::commands::report::print;
use crate::conductor::trial_run::now;
use crate::failure::Failure;
use crate::record_writer::RecordWriter;
use crate::{owned, state};
use model::plan::Plan;
use model::record::{Line, Record};
use model::text::{escaped_path, fnv1a};
use model::workload::Workload;
use std::collections::BTreeSet;
use std::io::Read as _;
use std::path::Path;

/// Reads the files and writes one record of them all.
///
/// # Errors
/// When a file cannot be read, holds no figures, or the record cannot be written.
pub(super) fn run(files: &[Named], output: Option<&Path>) -> Result<(), Failure> {
    let mut read: Vec<Imported> = Vec::new();
    let (mut seen, mut runs) = (BTreeSet::new(), 0);
    for file in files {
        let text = text(&file.path)?;
        if !seen.insert(fnv1a(text.bytes())) {
            return Err(Failure::usage(format!(
                "{} holds what a file before it holds: it is one run, and not two; name each file once",
                escaped_path(&file.path)
            )));
        }
        let mut results =
            foreign::read(&text).map_err(|error| Failure::usage(format!("{}: {error}", escaped_path(&file.path))))?;
        io500::check_score(&mut results);
        runs += results.series.iter().map(|series| series.runs.len()).sum::<usize>();
        record::check_runs(runs).map_err(Failure::usage)?;
        read.push(Imported { lane: file.lane.clone(), stem: stem(&file.path), results });
    }
    let lines = record::lines(&read, &now(), command_line(files)).map_err(Failure::usage)?;
    check(&lines)?;
    let Some(Line::Header(header)) = lines.first() else {
        return Err(Failure::failed("there is nothing to write: name files that hold figures"));
    };
    let path = match output {
        Some(path) => path.to_owned(),
        // Several imports of one second have names of their own by what they hold.
        None => state::runs_folder()?.join(new_record_name(&Plan { seed: fingerprint(&lines), ..header.plan.clone() })),
    };
    RecordWriter::begin(&path, |mut writer| {
        writer.append(&lines, |_| "free some space or name another place with -o, and import again".to_owned())
    })?;
    print(&told(&read, header, &path))
}

/// Refuses what no command would read again.
fn check(lines: &[Line]) -> Result<(), Failure> {
    let mut text = String::new();
    for line in lines {
        text.push_str(&line.to_json().map_err(|error| Failure::failed(error.to_string()))?);
        text.push('\n');
    }
    let read =
        Record::read(text.as_bytes()).map_err(|error| Failure::usage(format!("what these files hold: {error}")))?;
    read.header.plan.workloads.iter().try_for_each(Workload::check).map_err(Failure::usage)
}

/// A number that other lines hardly have.
fn fingerprint(lines: &[Line]) -> u64 {
    let texts = lines.iter().filter_map(|line| line.to_json().ok());
    fnv1a(texts.flat_map(String::into_bytes))
}

/// What a file holds. Bytes that are no UTF-8 are no figures: they become a mark.
fn text(path: &Path) -> Result<String, Failure> {
    let mut bytes = Vec::new();
    let cannot = |error| cannot_read(path, &error);
    let file = owned::open_to_read(path).map_err(cannot)?;
    file.take(foreign::MOST_BYTES + 1).read_to_end(&mut bytes).map_err(cannot)?;
    Ok(match String::from_utf8(bytes) {
        Ok(text) => text,
        Err(error) => String::from_utf8_lossy(error.as_bytes()).into_owned(),
    })
}

/// A file's name without its last ending, by which its lane goes where nothing else names it.
fn stem(path: &Path) -> String {
    let name = path.file_stem().unwrap_or(path.as_os_str());
    name.to_string_lossy().into_owned()
}

/// The command that imports the files again.
fn command_line(files: &[Named]) -> Vec<String> {
    let word = |file: &Named| {
        let path = file.path.display();
        file.lane.as_ref().map_or_else(|| path.to_string(), |lane| format!("{lane}={path}"))
    };
    ["fairlane", "import"].into_iter().map(str::to_owned).chain(files.iter().map(word)).collect()
}

/// What became of it.
fn told(read: &[Imported], header: &model::record::Header, path: &Path) -> String {
    let clean = |text: &str| report::clean_text(text);
    let mut text = String::new();
    for file in read {
        let of = &file.results;
        let runs: usize = of.series.iter().map(|series| series.runs.len()).sum();
        let tool = if of.tool.is_empty() { String::new() } else { format!(" of {}", clean(&of.tool)) };
        let [runs, series] = [(runs, "figure"), (of.series.len(), "series")].map(|(count, what)| match (count, what) {
            (_, "series") | (1, _) => format!("{count} {what}"),
            _ => format!("{count} {what}s"),
        });
        text.push_str(&format!("{}: {}{tool}, {runs} in {series}\n", clean(&file.stem), of.format));
        let left_out: Vec<String> =
            of.left_out.iter().map(|(what, count)| format!("{count} x {}", clean(what))).collect();
        if !left_out.is_empty() {
            text.push_str(&format!("  left out: {}\n", left_out.join("; ")));
        }
    }
    let notes: BTreeSet<&String> = read.iter().flat_map(|file| &file.results.notes).collect();
    notes.into_iter().for_each(|note| text.push_str(&format!("note: {}\n", clean(note))));
    let lanes: Vec<String> = header.lanes.iter().map(|lane| clean(&lane.name)).collect();
    let record = report::shell_line(&[path.display().to_string()]);
    text.push_str(&format!("lanes: {}\nrecord: {record}\n", lanes.join(", ")));
    text.push_str(&format!("show it: fairlane report {record}\n"));
    text
}
