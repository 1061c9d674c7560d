//! pandas, pyarrow and DuckDB read what is written, and the examples of docs/fleet.md run.
//!
//! `scripts/install-fleet-consumer` puts them into target/fleet-consumer (`make test` runs it). Where that could not be done
//! these tests say so and pass.

use crate::common;

use common::{cells, lines, record, rows};
use fleet::{Format, Row, Table};
use serde_json::Value;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::Command;

const DOCUMENT: &str = include_str!("../../../docs/fleet.md");

/// Python with the readers, in a folder that holds a table in both formats.
struct Consumer {
    python: PathBuf,
    /// Removed with the test.
    folder: tempfile::TempDir,
    rows: Vec<Row>,
}

impl Consumer {
    /// `None`: not installed.
    fn new() -> Option<Consumer> {
        let here = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let target = std::env::var_os("CARGO_TARGET_DIR").map_or(here.join("target"), |target| here.join(target));
        let place = target.join("fleet-consumer");
        if !place.join("installed").exists() {
            eprintln!("skipped: no readers of Parquet in {}; run scripts/install-fleet-consumer", place.display());
            return None;
        }
        let folder = tempfile::tempdir().unwrap();
        let rows = two_races();
        for format in Format::ALL {
            let path = folder.path().join(format!("fleet.{}", format.name()));
            let mut table = Table::begin(File::create(path).unwrap(), format).unwrap();
            rows.iter().try_for_each(|row| table.push(row)).unwrap();
            table.finish().unwrap();
        }
        Some(Consumer { python: place.join("bin/python"), folder, rows })
    }

    fn run(&self, program: &str) -> String {
        let output = Command::new(&self.python).args(["-c", program]).current_dir(self.folder.path()).output().unwrap();
        let complaint = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{program}\n{complaint}");
        String::from_utf8(output.stdout).unwrap()
    }
}

/// Two races of one machine, the second one a month later on another kernel.
fn two_races() -> Vec<Row> {
    let mut later = lines();
    later[0]["started"] = "2026-12-20T10:49:35Z".into();
    later[0]["machine"]["kernel"] = "6.18.0-fixture".into();
    [rows(&record(&lines()), "a.jsonl"), rows(&record(&later), "b.jsonl")].concat()
}

/// The blocks of a language in the document.
fn examples(language: &str) -> Vec<&'static str> {
    let begin = format!("```{language}\n");
    let blocks = DOCUMENT.split(begin.as_str()).skip(1);
    blocks.map(|rest| rest.split("```").next().unwrap_or_default()).collect()
}

#[test]
fn the_documented_columns_are_those_of_the_table() {
    let (begin, end) = ("<!-- columns -->\n", "<!-- end of columns -->");
    let (before, rest) = DOCUMENT.split_once(begin).expect("the mark before the table");
    let (old, after) = rest.split_once(end).expect("the mark behind the table");
    let table = fleet::documented();
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/fleet.md");
        std::fs::write(path, format!("{before}{begin}{table}{end}{after}")).unwrap();
    } else {
        assert!(old == table, "docs/fleet.md is old: UPDATE_GOLDEN=1 cargo test -p fleet");
    }
}

#[test]
fn pyarrow_and_duckdb_read_every_cell() {
    let Some(consumer) = Consumer::new() else { return };
    // Bits of numbers, so that no digit is lost on the way.
    let expected: Vec<Vec<Value>> = consumer
        .rows
        .iter()
        .map(|row| {
            let bits = |cell: Value| match cell.as_f64().filter(|_| cell.is_f64()) {
                Some(number) => number.to_bits().into(),
                None => cell,
            };
            cells(row).into_iter().map(bits).collect()
        })
        .collect();
    let told = "def bits(cell):\n    return struct.unpack('<Q', struct.pack('<d', cell))[0] if isinstance(cell, float) else cell\n\
                print(json.dumps([[bits(cell) for cell in row] for row in rows]))\n";
    for read in [
        "import pyarrow.parquet\nrows = [list(row.values()) for row in pyarrow.parquet.read_table('fleet.parquet').to_pylist()]\n",
        "import duckdb\nrows = duckdb.sql(\"SELECT * FROM 'fleet.parquet'\").fetchall()\n",
    ] {
        let found = consumer.run(&format!("import json, struct\n{read}{told}"));
        let found: Vec<Vec<Value>> = serde_json::from_str(&found).unwrap();
        assert_eq!(found.len(), expected.len(), "{read}");
        for (at, (found, expected)) in found.iter().zip(&expected).enumerate() {
            assert_eq!(found, expected, "row {at}: {read}");
        }
    }
}

#[test]
fn the_examples_of_the_document_run_and_tell_of_both_kernels() {
    let (python, sql) = (examples("python"), examples("sql"));
    assert!(!python.is_empty() && sql.len() >= 2, "{} and {}", python.len(), sql.len());
    let Some(consumer) = Consumer::new() else { return };
    for example in python {
        let said = consumer.run(example);
        assert!(said.contains("ext4") && said.contains("xfs"), "{example}\n{said}");
    }
    for example in sql {
        let program =
            format!("import duckdb\nfor row in duckdb.sql({}).fetchall(): print(row)\n", Value::from(example));
        let said = consumer.run(&program);
        assert!(said.contains("6.12.0-fixture") && said.contains("6.18.0-fixture"), "{example}\n{said}");
    }
}
