//! What the rows of a record say is what its lines say.

use crate::common;

use common::{cell, cells, lines, record, rows};
use fleet::{COLUMNS, MOST_TEXT_BYTES};
use model::kinds::foreign::VENUE;
use model::machine::{untold_boot, untold_identity};
use serde_json::{Value, json};

static NOTHING: Value = Value::Null;

/// One row as the lines have it.
struct Expected<'a> {
    header: &'a Value,
    trial: &'a Value,
    group: Option<&'a Value>,
    metric: Option<(&'a str, &'a Value)>,
}

/// Every trial, group and metric of the lines, trials first, then the steps of a search.
fn expected(lines: &[Value]) -> Vec<Expected<'_>> {
    let trials = lines.iter().filter(|line| line["kind"] == "trial");
    let steps = lines.iter().filter(|line| line["kind"] == "step").map(|line| &line["trial"]);
    let mut all = Vec::new();
    for trial in trials.chain(steps) {
        let header = &lines[0];
        let groups = trial["groups"].as_array().unwrap();
        if groups.is_empty() {
            all.push(Expected { header, trial, group: None, metric: None });
        }
        for group in groups {
            let metrics = group["metrics"].as_object().unwrap();
            if metrics.is_empty() {
                all.push(Expected { header, trial, group: Some(group), metric: None });
            }
            for (name, value) in metrics {
                all.push(Expected { header, trial, group: Some(group), metric: Some((name, value)) });
            }
        }
    }
    all
}

fn named<'a>(list: &'a Value, name: &Value) -> &'a Value {
    list.as_array().unwrap().iter().find(|of| of["name"] == *name).unwrap_or(&NOTHING)
}

fn joined(list: &Value, by: &str) -> Value {
    let words = list.as_array().map(|list| list.iter().map(|word| word.as_str().unwrap()).collect::<Vec<_>>().join(by));
    words.into()
}

impl Expected<'_> {
    /// What the lines say for a column, as they say it.
    fn said(&self, column: &str) -> Value {
        let Expected { header, trial, .. } = self;
        let (plan, machine) = (&header["plan"], &header["machine"]);
        let lane = named(&header["lanes"], &trial["lane"]);
        let work = named(&plan["workloads"], &trial["workload"]);
        let group = self.group.unwrap_or(&NOTHING);
        let own = &group["system"];
        let system = if own.is_null() { &trial["system"] } else { own };
        match column {
            "record" => json!("r.jsonl"),
            "race_kind" => json!("race"),
            "race_outcome" => json!("complete"),
            "started" | "version" | "boot_id" | "seed" => header[column].clone(),
            "disk_model" => machine["device"]["model"].as_str().map(str::trim).into(),
            "disk_bytes" => machine["device"]["size_bytes"].clone(),
            "machine_id_hash" | "os" | "kernel" | "cpu" | "cpus" | "memory_bytes" | "virtualization" => {
                machine[column].clone()
            }
            "suite" => plan["suite"].clone(),
            "workload_title" => work["title"].clone(),
            "workload_kind" => work["kind"].clone(),
            "loops" => json!(1),
            "lane_spec" => lane["spec"].clone(),
            "filesystem" | "venue" | "above" | "is_self" => lane[column].clone(),
            "disks" if !lane.is_null() => lane.get("disks").cloned().unwrap_or(json!(1)),
            "mkfs_command" => joined(&lane["mkfs_command"], " "),
            "mount_options" => joined(&lane["mount_options"], ","),
            "layers" => joined(&lane["layers"], "/"),
            "lane_bytes" => lane["size_bytes"].clone(),
            "states" | "life" => lane["aged"][column].clone(),
            "guest_kernel" => lane["kernel"].clone(),
            "throttle" if !lane.is_null() => json!("write=100MiB/s,read=8050iops"),
            "trial_started" => trial["started"].clone(),
            "workload" | "lane" | "round" | "position" | "attempt" | "ground" | "outcome" | "reason" => {
                trial[column].clone()
            }
            "flags" => joined(&trial["flags"], "; "),
            "group" => group["name"].clone(),
            "operations" | "bytes" | "seconds" | "sync_seconds" => group[column].clone(),
            "metric" => self.metric.map(|(name, _)| name).into(),
            "value" => self.metric.map_or(Value::Null, |(_, value)| value.clone()),
            "is_primary" => self.metric.map(|(name, _)| group["primary_metric"] == name).into(),
            "device_read_bytes" | "device_write_bytes" | "device_flushes" | "device_busy_seconds" => {
                system["device"][&column["device_".len()..]].clone()
            }
            "window_seconds" | "cpu_user_seconds" | "cpu_system_seconds" | "cpu_steal_seconds" => {
                system[column].clone()
            }
            latency if latency.starts_with("latency_") => {
                group["latency_ns"][latency.trim_start_matches("latency_").trim_end_matches("_ns")].clone()
            }
            _ => Value::Null,
        }
    }
}

/// Columns that no line holds as they are: another test looks at them.
const MADE: [&str; 3] = ["parameters", "unit", "higher_is_better"];
/// Sums that lines leave out where they are zero.
const SUMS: [&str; 8] = [
    "window_seconds",
    "cpu_user_seconds",
    "cpu_system_seconds",
    "cpu_steal_seconds",
    "device_read_bytes",
    "device_write_bytes",
    "device_flushes",
    "device_busy_seconds",
];

#[test]
fn every_cell_is_what_the_lines_say() {
    let lines = lines();
    let (rows, expected) = (rows(&record(&lines), "r.jsonl"), expected(&lines));
    assert_eq!(rows.len(), expected.len());
    let mut told = vec![0; COLUMNS.len()];
    for (at, (row, expected)) in rows.iter().zip(&expected).enumerate() {
        for (index, (column, found)) in COLUMNS.iter().zip(cells(row)).enumerate() {
            told[index] += usize::from(!found.is_null());
            if MADE.contains(&column.name) {
                continue;
            }
            let mut said = expected.said(column.name);
            if said == "" {
                said = Value::Null;
            }
            if said.is_null() && SUMS.contains(&column.name) {
                said = json!(0);
            }
            let same = match (found.as_f64(), said.as_f64()) {
                (Some(found), Some(said)) => found == said,
                _ => found == said,
            };
            assert!(same, "row {at}, {}: {found} is not {said}", column.name);
        }
    }
    // What no row tells would be tested by nothing.
    let untold: Vec<&str> = COLUMNS.iter().zip(&told).filter(|(_, told)| **told == 0).map(|(of, _)| of.name).collect();
    assert!(untold.is_empty(), "{untold:?}");
}

#[test]
fn what_failed_or_was_void_and_what_has_no_figures_keeps_a_row() {
    let all = rows(&record(&lines()), "r.jsonl");
    let with = |outcome: &str| all.iter().filter(|row| cell(row, "outcome") == outcome).collect::<Vec<_>>();
    let failed = with("failed");
    assert_eq!(failed.len(), 1);
    for null in ["group", "metric", "value", "unit", "higher_is_better", "is_primary", "operations", "latency_max_ns"] {
        assert_eq!(cell(failed[0], null), Value::Null, "{null}");
    }
    assert_eq!(cell(failed[0], "reason"), "the lane was full");
    assert_eq!(cell(failed[0], "flags"), "foreign-noise: 9 %; lost connections: 1");
    let void = with("void");
    assert!(!void.is_empty() && void.iter().all(|row| cell(row, "lane") == "nobody"));
    assert_eq!((cell(void[0], "filesystem"), cell(void[0], "parameters")), (Value::Null, Value::Null));
    let sync = all.iter().find(|row| cell(row, "group") == "sync").unwrap();
    assert_eq!((cell(sync, "metric"), cell(sync, "operations")), (Value::Null, json!(u64::MAX)));
    assert_eq!((cell(sync, "latency_p50_ns"), cell(sync, "latency_p99_ns")), (json!(1.0), Value::Null));
}

#[test]
fn units_directions_and_hashes_are_those_of_metric_and_work() {
    let mut lines = lines();
    let all = rows(&record(&lines), "r.jsonl");
    for row in &all {
        let (unit, better) = match cell(row, "metric").as_str() {
            Some("operations_per_second") => (json!("operations/s"), json!(true)),
            Some("bandwidth_bytes_per_second") => (json!("B/s"), json!(true)),
            Some(metric) if metric.ends_with("_ns") => (json!("ns"), json!(false)),
            Some(metric) => panic!("{metric} is new in the fixture"),
            None => (Value::Null, Value::Null),
        };
        assert_eq!((cell(row, "unit"), cell(row, "higher_is_better")), (unit, better));
    }
    let parameters = |all: &[fleet::Row], workload: &str| {
        let of = all.iter().find(|row| cell(row, "workload") == workload).unwrap();
        cell(of, "parameters").as_str().unwrap().to_owned()
    };
    assert_ne!(parameters(&all, "commit"), parameters(&all, "random-read"));
    // A name is no parameter.
    let works = lines[0]["plan"]["workloads"].as_array_mut().unwrap();
    works[0]["title"] = json!("another title");
    works[1]["iodepth"] = json!(9);
    let changed = rows(&record(&lines), "r.jsonl");
    assert_eq!(parameters(&all, "commit"), parameters(&changed, "commit"));
    assert_ne!(parameters(&all, "random-read"), parameters(&changed, "random-read"));
}

#[test]
fn a_race_of_another_kind_or_end_is_called_so_and_endless_texts_are_cut() {
    let first = |lines: &[Value]| rows(&record(lines), "r.jsonl").swap_remove(0);
    let mut lines = lines();
    for (key, value, kind) in [
        ("find_max", json!({ "criterion": "load", "most_writers": 9, "resolution": 0.1 }), "search"),
        ("calibration", json!(true), "calibration"),
        ("as_published", json!(true), "as-published"),
    ] {
        let mut other = lines.clone();
        other[0]["plan"][key] = value;
        assert_eq!(cell(&first(&other), "race_kind"), kind);
    }
    lines[0]["plan"]["suite"] = json!("文".repeat(1 << 20));
    lines.pop();
    let row = first(&lines);
    assert_eq!(cell(&row, "race_outcome"), "unfinished");
    let suite = cell(&row, "suite").as_str().unwrap().to_owned();
    assert!(
        suite.len() <= MOST_TEXT_BYTES && suite.len() > MOST_TEXT_BYTES - 8 && suite.ends_with("文…"),
        "{}",
        suite.len()
    );
}

/// An import: a trial with figures of which the first tell nothing beside them, and one without any.
fn imported() -> Vec<Value> {
    let lines = lines();
    let mut header = lines[0].clone();
    header["lanes"].as_array_mut().unwrap().iter_mut().for_each(|lane| lane["venue"] = json!(VENUE));
    header["plan"]["workloads"] = json!([
        { "name": "fio", "title": "fio", "kind": "foreign", "format": "fio JSON", "groups": ["read", "write"] },
    ]);
    let group = |name: &str, operations: u64, bytes: u64, seconds: f64| {
        json!({
            "name": name, "operations": operations, "bytes": bytes, "seconds": seconds,
            "primary_metric": "operations_per_second", "metrics": { "operations_per_second": 2500.0 },
        })
    };
    let mut trial = lines.iter().find(|line| line["kind"] == "trial").unwrap().clone();
    (trial["workload"], trial["system"]) = (json!("fio"), json!({}));
    trial["groups"] = json!([group("read", 0, 0, 0.0), group("write", 5000, 20_480_000, 2.0)]);
    let mut failed = trial.clone();
    (failed["groups"], failed["outcome"]) = (json!([]), json!("failed"));
    vec![header, trial, failed, lines.last().unwrap().clone()]
}

#[test]
fn imported_figures_are_no_race_and_hold_no_zeros_that_nobody_measured() {
    let all = rows(&record(&imported()), "i.jsonl");
    assert_eq!(all.len(), 3);
    let others = ["position", "ground", "disks", "lane_spec", "sync_seconds", "latency_mean_ns"];
    let nulls: Vec<&str> = SUMS.into_iter().chain(others).collect();
    for row in &all {
        assert_eq!((cell(row, "race_kind"), cell(row, "venue")), (json!("imported"), json!("foreign")));
        assert_eq!((cell(row, "workload_kind"), cell(row, "round")), (json!("foreign"), json!(1)));
        for null in &nulls {
            assert_eq!(cell(row, null), Value::Null, "{null}");
        }
    }
    let told = |row: &fleet::Row| ["value", "operations", "bytes", "seconds"].map(|column| cell(row, column));
    assert_eq!(told(&all[0]), [json!(2500.0), Value::Null, Value::Null, Value::Null]);
    assert_eq!(told(&all[1]), [json!(2500.0), json!(5000), json!(20_480_000), json!(2.0)]);
    assert_eq!(told(&all[2]), [Value::Null, Value::Null, Value::Null, Value::Null]);
}

#[test]
fn a_shared_record_is_of_no_machine_and_of_no_boot() {
    let mut lines = lines();
    let identity = untold_identity("2026-11-20T10:49:35Z", 5);
    lines[0]["boot_id"] = json!(untold_boot(&identity, 1));
    lines[0]["machine"]["machine_id_hash"] = json!(identity);
    for row in rows(&record(&lines), "s.jsonl") {
        assert_eq!((cell(&row, "machine_id_hash"), cell(&row, "boot_id")), (Value::Null, Value::Null));
    }
}

#[test]
fn who_takes_no_more_rows_gets_no_more() {
    let mut given = 0;
    let stopped = fleet::rows(&record(&lines()), "r.jsonl", |_| {
        given += 1;
        if given < 3 { Ok(()) } else { Err("enough") }
    });
    assert_eq!((stopped, given), (Err("enough"), 3));
}
