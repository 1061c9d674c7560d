//! `fairlane collect`: many records in one tidy table, for anybody's own analysis.

use super::report::print;
use crate::failure::Failure;
use crate::gathered::{self, Found, LeftOut};
use crate::options::Collect;
use crate::owned;
use fleet::{Format, Table};
use model::record::Record;
use model::text::escaped_path;
use std::fs::File;
use std::io;
use std::path::Path;

/// Reads the records one after another and writes their rows.
///
/// # Errors
/// When nothing that was named is a record of a race, the file is there already, or it cannot be written: then there is none.
pub fn run(options: &Collect) -> Result<(), Failure> {
    let format = format(options)?;
    let output = &options.output;
    // Before records are read, which may take long.
    owned::check_new(output).map_err(|error| cannot_write(output, &error))?;
    let gathered = gathered::gather(&options.records)?;
    let mut records = Records { files: gathered.files.iter(), left_out: gathered.left_out };
    let Some(first) = records.next() else { return Err(nothing(&records.left_out)) };
    let written =
        owned::create_whole(output, |file| write(file, format, std::iter::once(first).chain(records.by_ref())));
    let written = written.map_err(|error| cannot_write(output, &error))?;
    let counted = |count: u64, of: &str| if count == 1 { format!("1 {of}") } else { format!("{count} {of}s") };
    print(&format!(
        "{}: {} of {}\n{}",
        escaped_path(output),
        counted(written.rows, "row"),
        counted(written.records, "record"),
        records.left_out.in_words()
    ))
}

/// The format that is asked for, or that the file's name ends in.
fn format(options: &Collect) -> Result<Format, Failure> {
    match options.format.as_deref() {
        None => Ok(Format::ending(&options.output).unwrap_or(Format::Parquet)),
        Some(name) => Format::named(name).ok_or_else(|| {
            let known: Vec<&str> = Format::ALL.into_iter().map(Format::name).collect();
            Failure::usage(format!("there is no format `{}`; choose {}", report::clean_text(name), known.join(" or ")))
        }),
    }
}

/// Records that can be read, each read when it is asked for.
struct Records<'a> {
    files: std::slice::Iter<'a, Found>,
    left_out: LeftOut,
}

impl Iterator for Records<'_> {
    /// What its file is called, and the record.
    type Item = (String, Record);

    fn next(&mut self) -> Option<Self::Item> {
        for found in self.files.by_ref() {
            match found.read() {
                Ok(record) => return Some((found.file_name(), record)),
                Err(why) => self.left_out.add(&found.name, &why),
            }
        }
        None
    }
}

/// How much was written.
struct Written {
    records: u64,
    rows: u64,
}

fn write(file: &File, format: Format, records: impl Iterator<Item = (String, Record)>) -> io::Result<Written> {
    let mut table = Table::begin(file, format)?;
    let mut written = Written { records: 0, rows: 0 };
    for (name, record) in records {
        written.rows += fleet::rows(&record, &name, |row| table.push(row))?;
        written.records += 1;
    }
    table.finish()?;
    Ok(written)
}

fn nothing(left_out: &LeftOut) -> Failure {
    Failure::usage(match left_out.told.first() {
        None => "there is no record of a race; name files, patterns such as 'runs/*.jsonl', or folders".to_owned(),
        Some(first) => format!(
            "no record of a race is among them ({} left out, the first: {}); name others",
            left_out.count,
            report::clean_text(first)
        ),
    })
}

fn cannot_write(output: &Path, error: &io::Error) -> Failure {
    let shown = escaped_path(output);
    match error.kind() {
        io::ErrorKind::AlreadyExists => {
            Failure::usage(format!("{shown} is there already; name another file with -o, or remove it"))
        }
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => {
            Failure::usage(format!("the folder of {shown} does not exist; make it or name another file with -o"))
        }
        _ => Failure::failed(format!("cannot write {shown}: {}; name another file with -o", owned::plain(error))),
    }
}
