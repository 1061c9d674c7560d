//! mmtests' JSON.

use crate::common::{other, read};
use foreign::{ForeignError, Metric, Results, Series};
use std::collections::BTreeMap;

const COMPARED: &str = include_str!("fixtures/mmtests-compare.json");
const EXTRACTED: &str = include_str!("fixtures/mmtests-extract.json");

/// Workload, group, contestant, metric and runs of each series.
fn told(results: &Results) -> Vec<(&str, &str, &str, &Metric, &[f64])> {
    let mut told = Vec::new();
    for Series { workload, group, contestant, metric, runs, .. } in &results.series {
        told.push((workload.as_str(), group.as_str(), contestant.as_str(), metric, runs.as_slice()));
    }
    told
}

/// A part that says which way is better.
const PREFERS: &str = "\"_PreferredVal\": \"Higher\", ";

/// A file of one operation with these values in one iteration.
fn file(part: &str, operation: &str, values: &str) -> String {
    format!("{{{part}\"_ResultData\": {{\"{operation}\": [{{\"SampleNrs\": [1], \"Values\": [{values}]}}]}}}}")
}

#[test]
fn each_iteration_is_a_run_of_a_comparison() {
    let results = read(COMPARED);
    assert_eq!((results.format, results.tool.as_str()), ("mmtests JSON", "mmtests"));
    let rate = Metric::OperationsPerSecond;
    let expected: [(&str, &str, &str, &Metric, &[f64]); 3] = [
        ("fsmark files_sec-1", "total", "6.12-ext4", &rate, &[1010.5, 990.125]),
        ("fsmark files_sec-4", "total", "6.12-ext4", &rate, &[2000.5]),
        ("fsmark files_sec-1", "total", "6.12-xfs", &rate, &[1050.5]),
    ];
    assert_eq!(told(&results), expected);
    let left_out = BTreeMap::from([
        ("a part without results".to_owned(), 1),
        ("a sample that is no figure above 0".to_owned(), 2),
    ]);
    assert_eq!(results.left_out, left_out);
    assert_eq!(results.notes.len(), 1);
    assert!(results.notes[0].contains("mean of its samples (up to 3)"), "{:?}", results.notes);
}

#[test]
fn extracted_parts_keep_their_units_and_directions() {
    let results = read(EXTRACTED);
    let expected: [(&str, &str, &str, &Metric, &[f64]); 5] = [
        ("dbench loadfile-4", "total", "6.12-btrfs", &other("unknown unit", false), &[40.875]),
        ("dbench op-Unlink-4", "delete", "6.12-btrfs", &other("unknown unit", false), &[0.125]),
        // Its part prefers lower figures, for its times.
        ("dbench tput-4", "total", "6.12-btrfs", &other("unknown unit", true), &[310.5]),
        ("xfsrepair Elapsed-xfsrepair", "total", "6.12-xfs", &Metric::Seconds, &[12.5, 12.75]),
        ("xfsrepair System-xfsrepair", "total", "6.12-xfs", &other("CPU seconds", false), &[3.25]),
    ];
    assert_eq!(told(&results), expected);
    assert_eq!(results.left_out, BTreeMap::from([("a part without results".to_owned(), 1)]));
    assert_eq!(results.notes.len(), 2);
}

#[test]
fn axes_tell_units() {
    for (axis, preferred, metric) in [
        ("Operations/second", "Higher", Metric::OperationsPerSecond),
        ("Transactions/second", "Higher", Metric::OperationsPerSecond),
        ("Operations/second", "Lower", other("Operations/second", false)),
        ("Time (seconds)", "Lower", Metric::Seconds),
        ("Time (milliseconds)", "Lower", other("Time (milliseconds)", false)),
        // 1000 or 1024 bytes: it does not tell.
        ("MegaBytes/second", "Higher", other("MegaBytes/second", true)),
        // Where nothing is preferred, the unit tells.
        ("Operations/second", "", Metric::OperationsPerSecond),
        ("MB/sec", "", other("MB/sec", true)),
        ("Time (seconds)", "", Metric::Seconds),
        ("Latency", "", other("Latency", false)),
    ] {
        let part = format!("\"_PlotYaxis\": \"{axis}\", \"_PreferredVal\": \"{preferred}\", ");
        let results = read(&file(&part, "work", "2.5"));
        assert_eq!((&results.series[0].metric, results.series[0].runs.as_slice()), (&metric, &[2.5][..]), "{axis}");
        assert_eq!(results.notes, [""; 0], "{axis}");
    }
    for (operation, higher_is_better) in [("tput-4", true), ("latency-4", false)] {
        let results = read(&file("", operation, "2.5"));
        assert_eq!(results.series[0].metric, other("unknown unit", higher_is_better), "{operation}");
    }
}

#[test]
fn an_operation_whose_direction_nothing_tells_is_left_out() {
    let tput = r#""_ResultData": {"tput-4": [{"Values": [2.5]}], "#;
    let results = read(&file("", "work", "2.5").replace("\"_ResultData\": {", tput));
    assert_eq!((results.series.len(), results.series[0].workload.as_str()), (1, "tput-4"));
    assert_eq!(results.left_out.values().sum::<u64>(), 1);
    let error = foreign::read(&file("\"_PlotYaxis\": \"Widgets\", ", "work", "2.5")).unwrap_err();
    assert!(matches!(error, ForeignError::Nothing { format: "mmtests JSON", .. }), "{error}");
    assert!(error.to_string().contains("_PreferredVal"), "{error}");
}

#[test]
fn values_that_are_no_figures_are_left_out() {
    let results = read(&file(PREFERS, "work", "1.5, \"2.5\", \"nan\", \"inf\", \"1e400\", -1, 0, null, true, [], 3.5"));
    assert_eq!(results.series[0].runs, [2.5]);
    assert_eq!(results.left_out.values().sum::<u64>(), 8);
    let error = foreign::read(&file(PREFERS, "work", "0")).unwrap_err();
    assert!(matches!(error, ForeignError::Nothing { format: "mmtests JSON", .. }), "{error}");
    let error = foreign::read(&file(PREFERS, "work", "1e400")).unwrap_err();
    assert!(matches!(error, ForeignError::Malformed { line: 1, .. }), "{error}");
}

#[test]
fn a_curve_of_many_iterations_is_no_series() {
    let many = "1]}".to_owned() + &", {\"Values\": [1]}".repeat(foreign::MOST_RUNS - 1) + ", {\"Values\": [1";
    let both = format!("\"_ResultData\": {{{}", r#""work": [{"Values": [2.5]}], "#);
    let results = read(&file(PREFERS, "curve", &many).replace("\"_ResultData\": {", &both));
    assert_eq!(results.series.len(), 1);
    assert_eq!(results.series[0].runs, [2.5]);
    assert_eq!(results.left_out, BTreeMap::from([("an operation with too many iterations for runs".to_owned(), 1)]));
}

#[test]
fn a_file_that_was_cut_off_is_refused_with_its_place() {
    let cut = &COMPARED[..COMPARED.find("1020.75").unwrap()];
    let (line, column) = (cut.lines().count(), cut.lines().next_back().unwrap().chars().count() + 1);
    let error = foreign::read(cut).unwrap_err().to_string();
    assert!(error.starts_with(&format!("line {line}, column {column}: the file ends")), "{error}");
    for end in 0..COMPARED.trim_end().len() {
        assert!(foreign::read(&COMPARED[..end]).is_err(), "{end}");
    }
}
