//! What is written is read back: Parquet by the crate's own reader, CSV by any.

use crate::common;

use common::{cells, lines, record, rows};
use fleet::{COLUMNS, Format, Kind, Row, Table};
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::Field;
use serde_json::Value;
use std::fs::File;
use std::io::{self, Write};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

/// Writes rows into a file.
fn written(path: &Path, format: Format, rows: &[Row]) {
    let mut table = Table::begin(File::create(path).unwrap(), format).unwrap();
    rows.iter().try_for_each(|row| table.push(row)).unwrap();
    table.finish().unwrap();
}

/// Every cell of a Parquet file, row by row.
fn read_back(reader: &SerializedFileReader<File>) -> Vec<Vec<Value>> {
    let value = |field: &Field| match field {
        Field::Null => Value::Null,
        Field::Str(text) => text.as_str().into(),
        Field::ULong(count) => (*count).into(),
        Field::Double(number) => (*number).into(),
        Field::Bool(yes) => (*yes).into(),
        other => panic!("{other:?} is of no column"),
    };
    let row =
        |row: &parquet::record::Row| -> Vec<Value> { row.get_column_iter().map(|(_, field)| value(field)).collect() };
    reader.get_row_iter(None).unwrap().map(|found| row(&found.unwrap())).collect()
}

/// More rows than one group has.
fn many() -> Vec<Row> {
    let one = rows(&record(&lines()), "a\u{1b}.jsonl");
    let times = 33_000_usize.div_ceil(one.len());
    one.iter().cycle().take(times * one.len()).cloned().collect()
}

#[test]
fn parquet_keeps_every_cell() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("fleet.parquet");
    let rows = many();
    written(&path, Format::Parquet, &rows);
    let reader = SerializedFileReader::new(File::open(&path).unwrap()).unwrap();
    assert!(reader.metadata().num_row_groups() >= 3, "{}", reader.metadata().num_row_groups());
    let schema = reader.metadata().file_metadata().schema_descr();
    let names: Vec<&str> = schema.columns().iter().map(|column| column.name()).collect();
    assert_eq!(names, COLUMNS.iter().map(|column| column.name).collect::<Vec<_>>());
    let found = read_back(&reader);
    assert_eq!(found.len(), rows.len());
    for (at, (found, row)) in found.iter().zip(&rows).enumerate() {
        assert_eq!(*found, cells(row), "row {at}");
    }
    // What a machine has in common takes no room in each row.
    let bytes = path.metadata().unwrap().len();
    assert!(bytes < 20 * rows.len() as u64, "{bytes} bytes of {} rows", rows.len());
}

#[test]
fn a_table_without_rows_is_a_table() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("fleet.parquet");
    written(&path, Format::Parquet, &[]);
    let reader = SerializedFileReader::new(File::open(&path).unwrap()).unwrap();
    assert_eq!((reader.metadata().num_row_groups(), read_back(&reader).len()), (0, 0));
    written(&path, Format::Csv, &[]);
    assert_eq!(std::fs::read_to_string(&path).unwrap().lines().count(), 1);
}

#[test]
fn csv_keeps_every_cell_and_is_harmless_in_a_spreadsheet() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("fleet.csv");
    let mut lines = lines();
    lines[0]["plan"]["suite"] = "=cmd|' /C calc'!A0".into();
    lines[0]["machine"]["cpu"] = "A \u{1b}[31m\"processor\",\nfast".into();
    let rows = rows(&record(&lines), "a.jsonl");
    written(&path, Format::Csv, &rows);
    let text = std::fs::read_to_string(&path).unwrap();
    assert_eq!(text.matches("\r\n").count(), rows.len() + 1);
    let mut reader = csv::Reader::from_path(&path).unwrap();
    let names: Vec<String> = reader.headers().unwrap().iter().map(str::to_owned).collect();
    assert_eq!(names, COLUMNS.iter().map(|column| column.name).collect::<Vec<_>>());
    for (found, row) in reader.records().zip(&rows) {
        let found = found.unwrap();
        for ((column, text), cell) in COLUMNS.iter().zip(&found).zip(cells(row)) {
            match (column.name, column.kind, &cell) {
                ("suite", ..) => assert_eq!(text, "'=cmd|' /C calc'!A0"),
                ("cpu", ..) => assert_eq!(text, "A [31m\"processor\", fast"),
                // What begins with a plus is a formula too.
                ("states", _, Value::String(_)) => assert_eq!(text, "'+aged=git:10x"),
                (_, _, Value::Null) => assert_eq!(text, ""),
                (_, Kind::Text, cell) => assert_eq!(Some(text), cell.as_str()),
                (_, Kind::Number, cell) => assert_eq!(text.parse().ok(), cell.as_f64()),
                (_, Kind::Count | Kind::Boolean, cell) => assert_eq!(text, cell.to_string()),
            }
        }
    }
}

/// Takes so many bytes, then the disk is full.
struct Full<'a> {
    room: usize,
    taken: &'a AtomicU64,
}

impl Write for Full<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.room == 0 {
            return Err(io::Error::from_raw_os_error(28));
        }
        let taken = bytes.len().min(self.room);
        self.room -= taken;
        self.taken.fetch_add(taken as u64, Ordering::Relaxed);
        Ok(taken)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn rows_are_written_group_by_group_and_a_full_disk_is_told_as_the_system_tells_it() {
    let rows = many();
    for format in Format::ALL {
        let taken = AtomicU64::new(0);
        let mut table = Table::begin(Full { room: usize::MAX, taken: &taken }, format).unwrap();
        rows.iter().try_for_each(|row| table.push(row)).unwrap();
        let before_the_end = taken.load(Ordering::Relaxed);
        table.finish().unwrap();
        let all = taken.load(Ordering::Relaxed);
        // What stands behind all rows of a Parquet file tells of every column.
        assert!(before_the_end * 4 > all, "{format:?}: {before_the_end} of {all} bytes were not held back");

        let mut table = Table::begin(Full { room: 3000, taken: &taken }, format).unwrap();
        let failed = rows.iter().try_for_each(|row| table.push(row)).and_then(|()| table.finish()).unwrap_err();
        assert_eq!(failed.raw_os_error(), Some(28), "{format:?}: {failed:?}");
    }
}
