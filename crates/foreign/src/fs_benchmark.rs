//! modern-fs-benchmark's result files, up to version 5 of their schema.

use crate::text::short;
use crate::{ForeignError, Metric, Results, Series, json};
use serde_json::Value;

const FORMAT: &str = "modern-fs-benchmark JSON";
/// The newest version of the schema that is known.
const SCHEMA: u64 = 5;
/// Bytes of one of its `mbps`.
const MIB: f64 = 1_048_576.0;

const UNKNOWN: &str = "a metric that version 5 of the schema does not have";
const ABSENT: &str = "a metric that the layout does not have";
const NOT_ABOVE_0: &str = "a figure that is not above 0";
const CURVE: &str = "a curve over the number of snapshots, whose values are no runs";
const NOT_RANKED: &str = "a state or a count for which the schema has no better side";
const CALIBRATION: &str = "a calibration, which is of the host's own disk";
const MIB_NOTE: &str = "The suite divides bytes by 1048576 for its *_mbps: they are MiB/s, and are read as such.";
const ONE_NOTE: &str = "A file of this suite has one run of each test; import several files for several runs.";
const NEWER_NOTE: &str = "The file is of a newer version of the schema than 5: what is new in it is left out.";

/// What a metric counts.
#[derive(Clone, Copy)]
enum Unit {
    /// MiB per second, though the name says MB.
    Bandwidth,
    /// Operations per second.
    Rate,
    /// Milliseconds for all of the work.
    Milliseconds,
    /// Seconds for all of the work.
    Seconds,
    /// Milliseconds of single operations.
    Latency,
    /// More of it is better.
    More(&'static str),
    /// Less of it is better.
    Less(&'static str),
}

/// Metrics of the schema with a better side: name, kind of operation, unit.
const METRICS: [(&str, &str, Unit); 50] = [
    ("seqwrite_mbps", "write", Unit::Bandwidth),
    ("randwrite_iops", "write", Unit::Rate),
    ("randwrite4_iops", "write", Unit::Rate),
    ("randwrite8_iops", "write", Unit::Rate),
    ("randwrite16_iops", "write", Unit::Rate),
    ("randwrite4_sharded_iops", "write", Unit::Rate),
    ("randwrite8_sharded_iops", "write", Unit::Rate),
    ("randwrite16_sharded_iops", "write", Unit::Rate),
    ("fsync_p99_ms", "fsync", Unit::Latency),
    ("fsync_p999_ms", "fsync", Unit::Latency),
    ("randread_iops", "read", Unit::Rate),
    ("randread4_iops", "read", Unit::Rate),
    ("randread8_iops", "read", Unit::Rate),
    ("randread16_iops", "read", Unit::Rate),
    ("seqread_mbps", "read", Unit::Bandwidth),
    ("lat_idle_p99_ms", "fsync", Unit::Latency),
    ("lat_load_p99_ms", "fsync", Unit::Latency),
    ("lat_load_max_ms", "fsync", Unit::Latency),
    ("lat_load_ops", "fsync", Unit::More("ops")),
    ("smalltree_create_ms", "create", Unit::Milliseconds),
    ("smalltree_create4_ms", "create", Unit::Milliseconds),
    ("smalltree_cp_ms", "copy", Unit::Milliseconds),
    ("smalltree_rm_ms", "delete", Unit::Milliseconds),
    ("sparse_create_ms", "truncate", Unit::Milliseconds),
    ("sparse_create_bytes", "truncate", Unit::Less("B")),
    ("sparse_grow_ms", "truncate", Unit::Milliseconds),
    ("largedir_create_ms", "create", Unit::Milliseconds),
    ("largedir_readdir_cold_ms", "list", Unit::Milliseconds),
    ("largedir_stat_cold_ms", "stat", Unit::Milliseconds),
    ("largedir_stat_warm_ms", "stat", Unit::Milliseconds),
    ("largedir_delete_ms", "delete", Unit::Milliseconds),
    ("snapshot_create_ms", "snapshot", Unit::Milliseconds),
    ("snapshot_delete_ms", "snapshot", Unit::Milliseconds),
    ("reclaim_s", "snapshot", Unit::Seconds),
    ("reclaim_write_mbps", "write", Unit::Bandwidth),
    ("compress_ratio", "write", Unit::More("x")),
    ("compress_write_mbps", "write", Unit::Bandwidth),
    ("reflink_ms", "copy", Unit::Milliseconds),
    ("divergence_plain_mbps", "write", Unit::Bandwidth),
    ("divergence_clone_mbps", "write", Unit::Bandwidth),
    ("divergence_snap_mbps", "write", Unit::Bandwidth),
    ("degraded_randwrite_iops", "write", Unit::Rate),
    ("degraded_randread_iops", "read", Unit::Rate),
    ("rebuild_s", "rebuild", Unit::Seconds),
    ("scrub_s", "scrub", Unit::Seconds),
    ("nearfull95_write_mbps", "write", Unit::Bandwidth),
    ("nearfull99_write_mbps", "write", Unit::Bandwidth),
    ("snapscale_create_ms", "snapshot", Unit::Milliseconds),
    ("snapscale_remount_ms", "mount", Unit::Milliseconds),
    ("snapscale_delete_ms", "snapshot", Unit::Milliseconds),
];

/// Metrics of the schema without a better side.
const NOT_BETTER: [&str; 13] = [
    "reclaim_free_pct",
    "sparse_grow_bytes",
    "reflink_fiemap_shared",
    "snapscale_count",
    "snapscale_total_s",
    "snapscale_list_ms",
    "nearfull95_pct",
    "nearfull99_pct",
    "enospc_delete_ok",
    "enospc_recover_ok",
    "scrub_found",
    "scrub_repaired",
    "data_intact",
];

/// Whether a text is one of these.
pub(crate) fn is_one(text: &str) -> bool {
    let keys = ["\"calibration\"", "\"layout\"", "\"results\""];
    text.trim_start().starts_with('{') && keys.iter().all(|key| text.contains(key))
}

/// The results of a text.
pub(crate) fn read(text: &str) -> Result<Results, ForeignError> {
    let document = json::value(text)?;
    let mut results = Results::new(FORMAT);
    results.notes = vec![ONE_NOTE.to_owned(), MIB_NOTE.to_owned()];
    if json::count(&document, "schema_version") > SCHEMA {
        results.notes.push(NEWER_NOTE.to_owned());
    }
    place(&document, &mut results);
    if document.get("calibration").is_some() {
        results.leave_out(CALIBRATION);
    }
    let filesystem = short(json::text(&document, "fs"));
    let layout = short(json::text(&document, "layout"));
    let contestant = [filesystem.as_str(), layout.as_str()];
    let contestant = contestant.into_iter().filter(|part| !part.is_empty()).collect::<Vec<&str>>().join("/");
    let metrics = document.get("results").and_then(Value::as_object);
    for (name, value) in metrics.into_iter().flatten() {
        match series(name, value) {
            Ok(mut series) => {
                series.contestant.clone_from(&contestant);
                series.filesystem.clone_from(&filesystem);
                results.series.push(series);
            }
            Err(why) => results.leave_out(why),
        }
    }
    Ok(results)
}

/// Fills in where and when the suite ran.
fn place(document: &Value, results: &mut Results) {
    let version = json::text(document, "version");
    results.tool = match version {
        "" => "modern-fs-benchmark".to_owned(),
        version => format!("modern-fs-benchmark ({version})"),
    };
    let date = json::text(document, "date");
    if is_utc(date) {
        results.ran = date.to_owned();
    }
    results.facts.kernel = json::text(document, "kernel").to_owned();
    let (devices, bytes) = (json::count(document, "ndev"), json::count(document, "device_size_bytes"));
    let mut disk = Vec::new();
    if devices > 0 {
        disk.push(format!("devices={devices}"));
    }
    if bytes > 0 {
        disk.push(format!("bytes_of_each={bytes}"));
    }
    let names = json::text(document, "devices");
    if !names.is_empty() {
        disk.push(names.to_owned());
    }
    results.facts.disk = disk.join(" ");
}

/// The series of a metric, or why there is none.
fn series(name: &str, value: &Value) -> Result<Series, &'static str> {
    if value.is_null() {
        return Err(ABSENT);
    }
    if name == "aging_mbps" {
        return Err(CURVE);
    }
    let Some((_, group, unit)) = METRICS.iter().find(|(known, _, _)| *known == name) else {
        return Err(if NOT_BETTER.contains(&name) { NOT_RANKED } else { UNKNOWN });
    };
    let figure = value.as_f64().ok_or(NOT_ABOVE_0)?;
    let (metric, run) = match unit {
        Unit::Bandwidth => (Metric::BandwidthBytesPerSecond, figure * MIB),
        Unit::Rate => (Metric::OperationsPerSecond, figure),
        Unit::Milliseconds => (Metric::Seconds, figure / 1_000.0),
        Unit::Seconds => (Metric::Seconds, figure),
        Unit::Latency => (other("ms", false), figure),
        Unit::More(unit) => (other(unit, true), figure),
        Unit::Less(unit) => (other(unit, false), figure),
    };
    // What is close to 0 or to the largest figure can become 0 or infinite here.
    if run.is_finite() && run > 0.0 { Ok(Series::one(name, group, metric, run)) } else { Err(NOT_ABOVE_0) }
}

fn other(unit: &str, higher_is_better: bool) -> Metric {
    Metric::Other { unit: unit.to_owned(), higher_is_better }
}

/// Whether a text is like `2026-01-31T10:00:00Z`.
fn is_utc(text: &str) -> bool {
    let shape = "0000-00-00T00:00:00Z";
    let fits = |(byte, shape): (u8, u8)| if shape == b'0' { byte.is_ascii_digit() } else { byte == shape };
    text.len() == shape.len() && text.bytes().zip(shape.bytes()).all(fits)
}
