//! Rows as Apache Parquet: columns of groups of rows, each group written when it is full.

use crate::row::{COLUMNS, Cell, Column, Kind, Row, Text};
use crate::table::SCHEMA;
use parquet::basic::{Compression, ConvertedType, Repetition, Type as Physical, ZstdLevel};
use parquet::data_type::{BoolType, ByteArray, ByteArrayType, DoubleType, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use parquet::file::writer::{SerializedColumnWriter, SerializedFileWriter};
use parquet::schema::types::{Type, TypePtr};
use std::io::{self, Write};
use std::sync::Arc;

/// Rows of a group: what is held in memory, some 30 MB. A file has 32,767 groups at most, so 500 million rows.
const ROWS_A_GROUP: usize = 16 << 10;
/// A group is written earlier where its texts take more than this.
const TEXT_BYTES_A_GROUP: usize = 64 << 20;
/// What the file's own metadata call the schema of the table.
const SCHEMA_KEY: &str = "fairlane.fleet";
/// Of zstd: beyond it files grow little smaller.
const ZSTD_LEVEL: i32 = 3;
/// Definition levels of a flat column that may be null.
const NULL: i16 = 0;
const THERE: i16 = 1;

/// A file of column chunks.
pub struct ParquetTable<W: Write + Send> {
    writer: SerializedFileWriter<W>,
    columns: Vec<Chunk>,
    rows: usize,
    text_bytes: usize,
}

/// One column of the group that is being filled.
struct Chunk {
    /// Of each row whether it has a value.
    levels: Vec<i16>,
    values: Values,
    /// The text that came last: most rows have that of the row before.
    last: Option<(Text, ByteArray)>,
}

enum Values {
    Text(Vec<ByteArray>),
    Count(Vec<i64>),
    Number(Vec<f64>),
    Boolean(Vec<bool>),
}

impl<W: Write + Send> ParquetTable<W> {
    /// Writes the file's head.
    pub(crate) fn begin(out: W) -> io::Result<Self> {
        let schema_version = KeyValue::new(SCHEMA_KEY.to_owned(), SCHEMA.to_string());
        let properties = WriterProperties::builder()
            .set_compression(Compression::ZSTD(ZstdLevel::try_new(ZSTD_LEVEL).map_err(told)?))
            .set_statistics_enabled(EnabledStatistics::Chunk)
            .set_key_value_metadata(Some(vec![schema_version]))
            .build();
        let writer = SerializedFileWriter::new(out, schema().map_err(told)?, Arc::new(properties)).map_err(told)?;
        Ok(ParquetTable { writer, columns: COLUMNS.iter().map(Chunk::new).collect(), rows: 0, text_bytes: 0 })
    }

    pub(crate) fn push(&mut self, row: &Row) -> io::Result<()> {
        for (column, cell) in self.columns.iter_mut().zip(row.cells()) {
            self.text_bytes += column.push(cell);
        }
        self.rows += 1;
        match self.rows >= ROWS_A_GROUP || self.text_bytes >= TEXT_BYTES_A_GROUP {
            true => self.write_group(),
            false => Ok(()),
        }
    }

    pub(crate) fn finish(mut self) -> io::Result<()> {
        if self.rows > 0 {
            self.write_group()?;
        }
        self.writer.close().map(drop).map_err(told)
    }

    fn write_group(&mut self) -> io::Result<()> {
        write_chunks(&mut self.writer, &self.columns).map_err(told)?;
        self.columns.iter_mut().for_each(Chunk::clear);
        (self.rows, self.text_bytes) = (0, 0);
        Ok(())
    }
}

fn write_chunks<W: Write + Send>(writer: &mut SerializedFileWriter<W>, columns: &[Chunk]) -> Result<(), ParquetError> {
    let mut group = writer.next_row_group()?;
    for column in columns {
        let place = group.next_column()?;
        let mut place = place.ok_or_else(|| ParquetError::General("the file has fewer columns".to_owned()))?;
        column.write(&mut place)?;
        place.close()?;
    }
    group.close().map(drop)
}

impl Chunk {
    fn new(column: &Column) -> Self {
        let values = match column.kind {
            Kind::Text => Values::Text(Vec::new()),
            Kind::Count => Values::Count(Vec::new()),
            Kind::Number => Values::Number(Vec::new()),
            Kind::Boolean => Values::Boolean(Vec::new()),
        };
        Chunk { levels: Vec::new(), values, last: None }
    }

    /// Adds a cell; answers the bytes that its text takes where no row before has it.
    fn push(&mut self, cell: Cell<'_>) -> usize {
        let mut bytes = 0;
        let level = match (cell, &mut self.values) {
            (Cell::Text(Some(text)), Values::Text(values)) => {
                let same = self.last.as_ref().filter(|(last, _)| Arc::ptr_eq(last, text) || last == text);
                let held = match same {
                    Some((_, held)) => held.clone(),
                    None => {
                        bytes = text.len();
                        let held = ByteArray::from(&**text);
                        self.last = Some((Text::clone(text), held.clone()));
                        held
                    }
                };
                values.push(held);
                THERE
            }
            // The same bits, which the column's type calls unsigned.
            (Cell::Count(Some(count)), Values::Count(values)) => {
                values.push(*count as i64);
                THERE
            }
            (Cell::Number(Some(number)), Values::Number(values)) => {
                values.push(*number);
                THERE
            }
            (Cell::Boolean(Some(yes)), Values::Boolean(values)) => {
                values.push(*yes);
                THERE
            }
            _ => NULL,
        };
        self.levels.push(level);
        bytes
    }

    fn write(&self, to: &mut SerializedColumnWriter<'_>) -> Result<(), ParquetError> {
        let levels = Some(self.levels.as_slice());
        let written = match &self.values {
            Values::Text(values) => to.typed::<ByteArrayType>().write_batch(values.as_slice(), levels, None),
            Values::Count(values) => to.typed::<Int64Type>().write_batch(values.as_slice(), levels, None),
            Values::Number(values) => to.typed::<DoubleType>().write_batch(values.as_slice(), levels, None),
            Values::Boolean(values) => to.typed::<BoolType>().write_batch(values.as_slice(), levels, None),
        };
        written.map(drop)
    }

    fn clear(&mut self) {
        self.levels.clear();
        self.last = None;
        match &mut self.values {
            Values::Text(values) => values.clear(),
            Values::Count(values) => values.clear(),
            Values::Number(values) => values.clear(),
            Values::Boolean(values) => values.clear(),
        }
    }
}

/// The columns as Parquet has them. The older annotations of types are used: every reader knows them.
fn schema() -> Result<TypePtr, ParquetError> {
    let column = |column: &Column| {
        let (physical, converted) = match column.kind {
            Kind::Text => (Physical::BYTE_ARRAY, ConvertedType::UTF8),
            Kind::Count => (Physical::INT64, ConvertedType::UINT_64),
            Kind::Number => (Physical::DOUBLE, ConvertedType::NONE),
            Kind::Boolean => (Physical::BOOLEAN, ConvertedType::NONE),
        };
        let built = Type::primitive_type_builder(column.name, physical)
            .with_repetition(Repetition::OPTIONAL)
            .with_converted_type(converted)
            .build();
        built.map(Arc::new)
    };
    let fields = COLUMNS.iter().map(column).collect::<Result<Vec<TypePtr>, ParquetError>>()?;
    Type::group_type_builder("fleet").with_fields(fields).build().map(Arc::new)
}

/// What the system said where it said something, in its own words.
fn told(error: ParquetError) -> io::Error {
    match error {
        ParquetError::External(source) => match source.downcast::<io::Error>() {
            Ok(source) => *source,
            Err(other) => io::Error::other(other),
        },
        other => io::Error::other(other),
    }
}
