//! What the tests share: a record with all that rows tell, and cells as JSON.

use fleet::{COLUMNS, Cell, Row};
use model::aged::AgedLane;
use model::record::Record;
use serde_json::{Value, json};

/// A small race as it lies on disk.
pub const RECORD: &str = include_str!("../../fairlane/tests/fixtures/schema1.jsonl");

/// The lines of that race, with what it lacks: an aged lane with layers in a guest, a disk that is held to limits, trials
/// that failed, were void or are of unknown lanes, a group without figures, one with its own windows, and a search's step.
pub fn lines() -> Vec<Value> {
    let mut lines: Vec<Value> = RECORD.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let aged =
        AgedLane { states: "+aged=git:10x".to_owned(), life: "21d38b884c93260c".to_owned(), ..AgedLane::default() };
    let header = &mut lines[0];
    header["plan"]["throttle"] = json!({ "read_iops": 8050, "write_bytes_per_second": 104_857_600 });
    header["machine"]["device"]["model"] = json!("A disk ");
    let lane = &mut header["lanes"][1];
    lane["layers"] = json!(["crypt", "raid5:3"]);
    lane["above"] = json!("overlay");
    lane["kernel"] = json!("6.1.0-guest");
    lane["disks"] = json!(3);
    lane["is_self"] = json!(true);
    lane["aged"] = serde_json::to_value(aged).unwrap();
    let end = lines.pop().unwrap();
    let first = lines.iter().position(|line| line["kind"] == "trial").unwrap();
    let trial = lines[first].clone();
    lines[first]["groups"][0]["system"] =
        json!({ "window_seconds": 0.25, "device": { "flushes": 7, "read_bytes": 9 } });
    lines[first]["groups"].as_array_mut().unwrap().push(json!({
        "name": "sync", "operations": u64::MAX, "bytes": 0, "seconds": 0.5, "sync_seconds": 0.125, "primary_metric": "",
        "metrics": {}, "latency_ns": { "mean": 1.5, "p50": 1.0, "p999": 8.5, "max": 9.25 },
    }));
    let with = |changes: Value| {
        let mut changed = trial.clone();
        changed.as_object_mut().unwrap().extend(changes.as_object().unwrap().clone());
        changed
    };
    lines.push(with(json!({
        "outcome": "failed", "groups": [], "reason": "the lane was full", "attempt": 2,
        "flags": ["foreign-noise: 9 %", "lost connections: 1"],
    })));
    lines.push(with(json!({ "outcome": "void", "lane": "nobody", "workload": "nothing", "flags": ["suspended"] })));
    lines.push(with(json!({ "outcome": "repeated", "round": 2, "position": 2 })));
    let mut step = trial.clone();
    step.as_object_mut().unwrap().remove("kind");
    lines.push(json!({ "kind": "step", "pass": 1, "number": 2, "writers": 8, "outcome": "late", "trial": step }));
    lines.push(end);
    lines
}

/// The record of such lines.
pub fn record(lines: &[Value]) -> Record {
    let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
    Record::parse(&text).unwrap()
}

/// All rows of a record.
pub fn rows(record: &Record, file: &str) -> Vec<Row> {
    let mut all = Vec::new();
    let count = fleet::rows(record, file, |row| {
        all.push(row.clone());
        Ok::<(), ()>(())
    });
    assert_eq!(count, Ok(all.len() as u64));
    all
}

/// The cells of a row as JSON.
pub fn cells(row: &Row) -> Vec<Value> {
    row.cells().map(shown).to_vec()
}

fn shown(cell: Cell<'_>) -> Value {
    match cell {
        Cell::Text(text) => text.map(|text| text.to_string()).into(),
        Cell::Count(count) => count.copied().into(),
        Cell::Number(number) => number.copied().into(),
        Cell::Boolean(yes) => yes.copied().into(),
    }
}

/// The cell of a column.
pub fn cell(row: &Row, column: &str) -> Value {
    let at = COLUMNS.iter().position(|of| of.name == column).unwrap_or_else(|| panic!("there is no column {column}"));
    cells(row).swap_remove(at)
}
