//! Many records in one tidy table: a row per trial, group and metric, as Parquet or CSV.
//!
//! Nothing here decides what figures mean, and nothing looks for records: one record after another becomes [`rows`], and a
//! [`Table`] takes them one by one. Every column is declared once ([`COLUMNS`]); the row, both files and the table of
//! docs/fleet.md come from that.

mod csv_file;
mod parquet_file;
mod record_rows;
mod row;
mod table;

pub use record_rows::{MOST_TEXT_BYTES, rows};
pub use row::{COLUMNS, Cell, Column, Kind, Row, Text, documented};
pub use table::{Format, SCHEMA, Table};
