//! The file that rows go into.

use crate::csv_file::CsvTable;
use crate::parquet_file::ParquetTable;
use crate::row::Row;
use std::io::{self, Write};
use std::path::Path;

/// The schema of the table; a later one may have columns behind these.
pub const SCHEMA: u32 = 1;

/// What a file of rows can be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// Apache Parquet, compressed with zstd.
    Parquet,
    /// RFC 4180, with names on the first line.
    Csv,
}

impl Format {
    /// All of them.
    pub const ALL: [Format; 2] = [Format::Parquet, Format::Csv];

    /// What it is called, which is how its files end too.
    pub fn name(self) -> &'static str {
        match self {
            Format::Parquet => "parquet",
            Format::Csv => "csv",
        }
    }

    /// The one of a name.
    pub fn named(name: &str) -> Option<Format> {
        Format::ALL.into_iter().find(|format| format.name() == name)
    }

    /// The one that a file's name ends in.
    pub fn ending(path: &Path) -> Option<Format> {
        let end = path.extension()?;
        Format::ALL.into_iter().find(|format| end.eq_ignore_ascii_case(format.name()))
    }
}

/// A table that takes row after row. What it holds in memory does not grow with the rows it took, but for some kilobytes for
/// each group of rows that is written ([`Format::Parquet`]).
pub enum Table<W: Write + Send> {
    /// Columns of groups of rows.
    Parquet(Box<ParquetTable<W>>),
    /// Lines.
    Csv(Box<CsvTable<W>>),
}

impl<W: Write + Send> Table<W> {
    /// Begins a table.
    ///
    /// # Errors
    /// What writing answers.
    pub fn begin(out: W, format: Format) -> io::Result<Self> {
        Ok(match format {
            Format::Parquet => Table::Parquet(Box::new(ParquetTable::begin(out)?)),
            Format::Csv => Table::Csv(Box::new(CsvTable::begin(out)?)),
        })
    }

    /// Adds a row.
    ///
    /// # Errors
    /// What writing answers; the table is none then.
    pub fn push(&mut self, row: &Row) -> io::Result<()> {
        match self {
            Table::Parquet(table) => table.push(row),
            Table::Csv(table) => table.push(row),
        }
    }

    /// Writes what is left, and the end.
    ///
    /// # Errors
    /// What writing answers; the table is none then.
    pub fn finish(self) -> io::Result<()> {
        match self {
            Table::Parquet(table) => table.finish(),
            Table::Csv(table) => table.finish(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_format_is_known_by_its_name_and_by_the_end_of_a_file() {
        for format in Format::ALL {
            assert_eq!(Format::named(format.name()), Some(format));
        }
        assert_eq!(Format::ending(Path::new("a/fleet.CSV")), Some(Format::Csv));
        assert_eq!(Format::ending(Path::new("fleet.parquet")), Some(Format::Parquet));
        for none in ["fleet", "fleet.csv.gz", ".parquet", ""] {
            assert_eq!((Format::ending(Path::new(none)), Format::named(none)), (None, None), "{none}");
        }
    }
}
