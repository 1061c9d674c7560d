//! Rows as CSV (RFC 4180), harmless in a spreadsheet.

use crate::row::{COLUMNS, Cell, Row};
use std::io::{self, Write};

/// A file of lines.
pub struct CsvTable<W: Write> {
    writer: csv::Writer<W>,
}

impl<W: Write> CsvTable<W> {
    /// Writes the names of the columns.
    pub(crate) fn begin(out: W) -> io::Result<Self> {
        let mut writer = csv::WriterBuilder::new().terminator(csv::Terminator::CRLF).from_writer(out);
        writer.write_record(COLUMNS.iter().map(|column| column.name)).map_err(told)?;
        Ok(CsvTable { writer })
    }

    pub(crate) fn push(&mut self, row: &Row) -> io::Result<()> {
        self.writer.write_record(row.cells().map(shown)).map_err(told)
    }

    pub(crate) fn finish(mut self) -> io::Result<()> {
        self.writer.flush()
    }
}

/// A null is empty; a number has all its digits.
fn shown(cell: Cell<'_>) -> String {
    match cell {
        Cell::Text(text) => text.map(|text| model::text::for_spreadsheet(text)).unwrap_or_default(),
        Cell::Count(count) => count.map(ToString::to_string).unwrap_or_default(),
        Cell::Number(number) => number.map(ToString::to_string).unwrap_or_default(),
        Cell::Boolean(yes) => yes.map(ToString::to_string).unwrap_or_default(),
    }
}

/// What the system said where it said something, in its own words.
fn told(error: csv::Error) -> io::Error {
    match error.into_kind() {
        csv::ErrorKind::Io(source) => source,
        other => io::Error::other(format!("{other:?}")),
    }
}
