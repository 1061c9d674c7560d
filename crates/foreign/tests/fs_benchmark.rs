//! modern-fs-benchmark's result files.

use crate::common::{other, read, series_of};
use foreign::{ForeignError, Metric};
use std::collections::BTreeMap;

const FILE: &str = include_str!("fixtures/modern-fs-benchmark.json");
const MIB: f64 = 1_048_576.0;

#[test]
fn each_metric_is_a_run_in_its_unit() {
    let results = read(FILE);
    assert_eq!(results.format, "modern-fs-benchmark JSON");
    for (workload, group, metric, run) in [
        ("seqwrite_mbps", "write", Metric::BandwidthBytesPerSecond, 360.25 * MIB),
        ("randwrite_iops", "write", Metric::OperationsPerSecond, 11_800.5),
        ("fsync_p99_ms", "fsync", other("ms", false), 3.8125),
        ("randread_iops", "read", Metric::OperationsPerSecond, 19_000.25),
        ("seqread_mbps", "read", Metric::BandwidthBytesPerSecond, 740.5 * MIB),
        ("lat_load_ops", "fsync", other("ops", true), 140.0),
        ("smalltree_create_ms", "create", Metric::Seconds, 4.5),
        ("smalltree_cp_ms", "copy", Metric::Seconds, 3.0),
        ("largedir_stat_cold_ms", "stat", Metric::Seconds, 0.872),
        ("sparse_grow_ms", "truncate", Metric::Seconds, 0.0005),
        ("reclaim_s", "snapshot", Metric::Seconds, 5.0),
        ("compress_ratio", "write", other("x", true), 3.875),
        ("divergence_clone_mbps", "write", Metric::BandwidthBytesPerSecond, 30.75 * MIB),
        ("rebuild_s", "rebuild", Metric::Seconds, 35.0),
    ] {
        let series = series_of(&results, workload);
        assert_eq!((series.group.as_str(), &series.metric), (group, &metric), "{workload}");
        assert_eq!(series.runs, [run], "{workload}");
        assert_eq!((series.contestant.as_str(), series.filesystem.as_str()), ("btrfs/raid1", "btrfs"));
    }
    assert_eq!(results.series.len(), 14);
}

#[test]
fn what_is_no_run_is_counted() {
    let left_out = BTreeMap::from([
        ("a calibration, which is of the host's own disk".to_owned(), 1),
        ("a curve over the number of snapshots, whose values are no runs".to_owned(), 1),
        ("a figure that is not above 0".to_owned(), 1),
        ("a metric that the layout does not have".to_owned(), 2),
        ("a metric that version 5 of the schema does not have".to_owned(), 1),
        ("a state or a count for which the schema has no better side".to_owned(), 4),
    ]);
    assert_eq!(read(FILE).left_out, left_out);
}

#[test]
fn where_and_when_it_ran_is_kept() {
    let results = read(FILE);
    assert_eq!(results.tool, "modern-fs-benchmark (btrfs-progs v6.17)");
    assert_eq!(results.ran, "2026-02-03T04:05:06Z");
    assert_eq!(results.facts.kernel, "6.18.0-example");
    assert_eq!(results.facts.disk, "devices=4 bytes_of_each=17179869184 loop");
    for date in ["2026-02-03 04:05:06", "2026-02-03T04:05:06+01:00", "2026-02-03T04:05:0éZ", ""] {
        assert_eq!(read(&FILE.replace("2026-02-03T04:05:06Z", date)).ran, "", "{date}");
    }
}

#[test]
fn older_files_and_newer_ones_are_read_too() {
    // The first versions have neither the version nor the size of a device.
    let old = FILE.replace("  \"schema_version\": 5,\n", "").replace("  \"device_size_bytes\": 17179869184,\n", "");
    let results = read(&old);
    assert_eq!(results.series, read(FILE).series);
    assert_eq!(results.facts.disk, "devices=4 loop");
    assert_eq!(results.notes.len(), 2);
    let new = read(&FILE.replace("\"schema_version\": 5", "\"schema_version\": 6"));
    assert_eq!(new.series.len(), 14);
    assert!(new.notes.iter().any(|note| note.contains("newer version")), "{:?}", new.notes);
}

#[test]
fn figures_that_are_none_are_left_out() {
    for figure in ["-360.25", "0", "true", "\"360.25\"", "[360.25]", "{}", "1e308", "-1e308"] {
        let results = read(&FILE.replace("\"seqwrite_mbps\": 360.25", &format!("\"seqwrite_mbps\": {figure}")));
        assert_eq!(results.series.len(), 13, "{figure}");
        assert_eq!(results.left_out["a figure that is not above 0"], 2, "{figure}");
    }
    for figure in ["1e400", "NaN", "inf"] {
        let text = FILE.replace("\"seqwrite_mbps\": 360.25", &format!("\"seqwrite_mbps\": {figure}"));
        let line = text[..text.find(&format!(" {figure},")).unwrap()].lines().count();
        match foreign::read(&text) {
            Err(ForeignError::Malformed { line: told, .. }) => assert_eq!(told, line, "{figure}"),
            other => panic!("{figure}: {other:?}"),
        }
    }
}

#[test]
fn a_file_that_was_cut_off_is_refused_with_its_place() {
    let cut = &FILE[..FILE.find("\"scrub_found\"").unwrap()];
    let place = format!("line {}, column 5: the file ends in the middle of its JSON; ", cut.lines().count());
    let error = foreign::read(cut).unwrap_err().to_string();
    assert!(error.starts_with(&place), "{error}");
    for end in 0..FILE.trim_end().len() {
        assert!(foreign::read(&FILE[..end]).is_err(), "{end}");
    }
}

#[test]
fn a_file_without_results_says_so() {
    let empty = r#"{"fs": "xfs", "layout": "single", "calibration": {}, "results": {}}"#;
    let error = foreign::read(empty).unwrap_err();
    assert!(matches!(error, ForeignError::Nothing { format: "modern-fs-benchmark JSON", .. }), "{error}");
}
