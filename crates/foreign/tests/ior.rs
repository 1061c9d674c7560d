//! What IOR and mdtest print, and IOR's CSV and JSON.

use crate::common::read;
use foreign::{ForeignError, Metric, Results, Series};
use std::collections::BTreeMap;

const IOR: &str = include_str!("fixtures/ior-4.0.txt");
const OLD_IOR: &str = include_str!("fixtures/ior-3.0.txt");
const CSV: &str = include_str!("fixtures/ior-4.0.csv");
const JSON: &str = include_str!("fixtures/ior-4.0.json");
const OLD_JSON: &str = include_str!("fixtures/ior-3.2.json");
const MDTEST_1: &str = include_str!("fixtures/mdtest-1.9.txt");
const MDTEST_3: &str = include_str!("fixtures/mdtest-3.3.txt");
const MDTEST_4: &str = include_str!("fixtures/mdtest-4.1.txt");
const MIB: f64 = 1_048_576.0;

/// Workload, group and runs of each series.
fn told(results: &Results) -> Vec<(&str, &str, &[f64])> {
    let mut told = Vec::new();
    for Series { workload, group, runs, .. } in &results.series {
        told.push((workload.as_str(), group.as_str(), runs.as_slice()));
    }
    told
}

fn is_counted(results: &Results, metric: &Metric) {
    assert!(results.series.iter().all(|series| series.metric == *metric), "{:?}", results.series);
}

#[test]
fn each_line_of_iors_table_is_a_run_and_its_summaries_are_none() {
    let results = read(IOR);
    assert_eq!((results.format, results.tool.as_str()), ("IOR or mdtest output", "IOR-4.0.0"));
    let expected: [(&str, &str, &[f64]); 3] = [
        ("IOR", "write", &[512.25 * MIB, 498.75 * MIB]),
        ("IOR", "read", &[2048.5 * MIB, 2000.0 * MIB]),
        ("IOR", "write", &[61.5 * MIB]),
    ];
    assert_eq!(told(&results), expected);
    is_counted(&results, &Metric::BandwidthBytesPerSecond);
    assert_eq!(results.series[0].seconds, 0.5 + 0.513283);
    assert_eq!(results.left_out, BTreeMap::new());
    assert_eq!((results.facts.os.as_str(), results.facts.kernel.as_str()), ("Linux", "6.12.9-amd64"));
    assert_eq!(results.ran, "2026-02-03T04:05:06");
    assert!(!format!("{results:?}").contains("node1"));
    assert!(results.notes.iter().any(|note| note.contains("IOPS")), "{:?}", results.notes);
}

#[test]
fn the_time_of_every_form_is_local_and_of_several_the_earliest_counts() {
    let later = OLD_IOR.replace("Began: Tue Feb  3", "Began: Wed Feb  4");
    for (text, time) in [
        (OLD_IOR, "2026-02-03T04:05:06"),
        (JSON, "2026-02-03T04:05:06"),
        (OLD_JSON, "2026-02-03T04:05:06"),
        (MDTEST_1, "2026-02-03T04:05:06"),
        (later.as_str(), "2026-02-04T04:05:06"),
        (format!("{later}{OLD_IOR}").as_str(), "2026-02-03T04:05:06"),
        (CSV, ""),
        (OLD_IOR.replace("Began: Tue Feb  3", "Began: Feb  3").as_str(), ""),
    ] {
        assert_eq!(read(text).ran, time, "{text}");
    }
}

#[test]
fn tests_that_differ_only_behind_long_options_are_two() {
    let with = |last: &str| MDTEST_1.replace("-b 10 ", &format!("-b 10 {}-I {last} ", "--option ".repeat(40)));
    let results = read(&format!("{}{}", with("1"), with("2")));
    assert_eq!(results.series.len(), 2 * 8);
    assert!(results.series.iter().all(|series| series.parameters.chars().count() <= 200), "{results:?}");
    // The same twice is two runs of one.
    assert_eq!(read(&format!("{}{}", with("1"), with("1"))).series.len(), 8);
}

#[test]
fn options_of_each_test_are_its_parameters() {
    let results = read(IOR);
    assert_eq!(
        results.series[0].parameters,
        "api=POSIX access=file-per-process type=independent segments=4 order=sequential \
         order_between_files=no-tasks-offsets nodes=1 tasks=4 clients_per_node=4 xfersize=1MiB blocksize=16MiB"
    );
    assert_eq!(results.series[1].parameters, results.series[0].parameters);
    assert_eq!(
        results.series[2].parameters,
        "api=POSIX access=single-shared-file type=independent segments=4 order=random \
         order_between_files=no-tasks-offsets nodes=1 tasks=4 clients_per_node=4 xfersize=4096bytes blocksize=16MiB"
    );
    // All of it was in one place.
    assert!(results.series.iter().all(|series| series.contestant.is_empty()));
}

#[test]
fn tables_of_older_versions_have_fewer_columns() {
    let results = read(OLD_IOR);
    assert_eq!(results.tool, "IOR-3.0.1");
    let expected: [(&str, &str, &[f64]); 2] = [("IOR", "write", &[128.5 * MIB]), ("IOR", "read", &[256.25 * MIB])];
    assert_eq!(told(&results), expected);
    assert_eq!(
        results.series[0].parameters,
        "api=MPIIO access=single-shared-file order=sequential-offsets order_between_files=no-tasks-offsets \
         clients=2-(1-per-node) xfersize=1MiB blocksize=16MiB"
    );
    assert_eq!(results.series[1].seconds, 0.125);
    assert_eq!(results.notes, [""; 0]);
}

#[test]
fn the_csv_holds_the_same_runs() {
    let results = read(CSV);
    let expected: [(&str, &str, &[f64]); 2] = [("IOR", "write", &[512.25 * MIB]), ("IOR", "read", &[2048.5 * MIB])];
    assert_eq!(told(&results), expected);
    assert_eq!(results.series[0].seconds, 0.5);
}

#[test]
fn calls_of_the_same_test_are_runs_of_it_and_other_places_are_told_apart() {
    let results = read(&format!("{OLD_IOR}{OLD_IOR}"));
    let expected: [(&str, &str, &[f64]); 2] =
        [("IOR", "write", &[128.5 * MIB, 128.5 * MIB]), ("IOR", "read", &[256.25 * MIB, 256.25 * MIB])];
    assert_eq!(told(&results), expected);
    let two = format!("{OLD_IOR}{}", OLD_IOR.replace("/mnt/lane/file", "/mnt/other/file"));
    let results = read(&two);
    assert_eq!(results.series.len(), 4);
    let places: Vec<&str> = results.series.iter().map(|series| series.contestant.as_str()).collect();
    assert_eq!(places, ["/mnt/lane/file", "/mnt/lane/file", "/mnt/other/file", "/mnt/other/file"]);
}

#[test]
fn runs_of_ior_that_are_no_figures_are_left_out() {
    for bandwidth in ["nan", "inf", "-1.5", "1e400", "1e306", "0.000000", "-", "fast"] {
        let results = read(&OLD_IOR.replace("write     128.50 ", &format!("write     {bandwidth} ")));
        assert_eq!(told(&results), [("IOR", "read", &[256.25 * MIB][..])], "{bandwidth}");
        assert_eq!(results.left_out.values().sum::<u64>(), 1, "{bandwidth}");
    }
    let none = OLD_IOR.replace("128.50 ", "nan ").replace("256.25 ", "nan ");
    let error = foreign::read(&none).unwrap_err();
    assert!(matches!(error, ForeignError::Nothing { format: "IOR or mdtest output", .. }), "{error}");
}

#[test]
fn a_table_that_was_cut_off_gives_its_whole_lines() {
    let cut = &OLD_IOR[..OLD_IOR.find("0.124250").unwrap()];
    let results = read(cut);
    assert_eq!(told(&results), [("IOR", "write", &[128.5 * MIB][..])]);
    assert_eq!(results.left_out, BTreeMap::from([("a line of IOR's table that is not whole".to_owned(), 1)]));
    for end in 0..IOR.len() {
        if let Ok(results) = foreign::read(&IOR[..end]) {
            assert!(results.series.len() <= 3, "{end}");
        }
    }
}

#[test]
fn the_json_holds_the_runs_once() {
    let results = read(JSON);
    assert_eq!((results.format, results.tool.as_str()), ("IOR JSON", "IOR-4.0.0"));
    let expected: [(&str, &str, &[f64]); 2] =
        [("IOR", "write", &[512.25 * MIB, 498.75 * MIB]), ("IOR", "read", &[2048.5 * MIB])];
    assert_eq!(told(&results), expected);
    is_counted(&results, &Metric::BandwidthBytesPerSecond);
    assert_eq!(
        results.series[0].parameters,
        "api=POSIX access=single-shared-file type=independent segments=1 order=sequential \
         order_between_files=no-tasks-offsets nodes=1 tasks=4 clients_per_node=4 xfersize=1MiB blocksize=16MiB"
    );
    assert_eq!(results.series[0].seconds, 0.5 + 0.5125);
    assert_eq!(results.facts.os, "Linux");
    // One of its runs is infinite.
    assert_eq!(results.left_out.values().sum::<u64>(), 1);
}

#[test]
fn older_json_has_a_heading_and_an_array_for_each_repetition() {
    let results = read(OLD_JSON);
    assert_eq!(results.tool, "IOR-3.2.0");
    let expected: [(&str, &str, &[f64]); 1] = [("IOR", "write", &[100.5 * MIB, 101.25 * MIB])];
    assert_eq!(told(&results), expected);
    assert_eq!(results.notes, [""; 0]);
}

#[test]
fn json_of_several_calls_stands_in_one_file() {
    let results = read(&format!("{JSON}\n{JSON}"));
    assert_eq!(results.series[1].runs, [2048.5 * MIB, 2048.5 * MIB]);
    let results = read(&format!("{JSON}\nthe job has ended\n"));
    assert_eq!(results.left_out.get("text behind the JSON"), Some(&1));
}

#[test]
fn json_that_was_cut_off_or_is_wrong_is_refused_with_its_place() {
    let cut = &JSON[..JSON.find("498.7500").unwrap()];
    let (line, column) = (cut.lines().count(), cut.lines().next_back().unwrap().chars().count() + 1);
    let place = format!("line {line}, column {column}: the file ends in the middle of its JSON; ");
    let error = foreign::read(cut).unwrap_err().to_string();
    assert!(error.starts_with(&place), "{error}");
    let wrong = OLD_JSON.replace("101.2500", "nan");
    let line = wrong[..wrong.find("nan").unwrap()].lines().count();
    let error = foreign::read(&wrong).unwrap_err().to_string();
    assert!(error.starts_with(&format!("line {line}, column ")), "{error}");
}

#[test]
fn mdtests_rates_are_read_and_what_was_not_done_is_left_out() {
    let results = read(MDTEST_1);
    assert_eq!(results.tool, "mdtest-1.9.3");
    let expected: [(&str, &str, &[f64]); 8] = [
        ("mdtest directory", "create", &[20_500.125]),
        ("mdtest directory", "stat", &[150_125.25]),
        ("mdtest directory", "delete", &[31_000.5]),
        ("mdtest file", "create", &[18_250.75]),
        ("mdtest file", "stat", &[160_000.875]),
        ("mdtest file", "read", &[90_000.125]),
        ("mdtest tree", "create", &[750.5]),
        ("mdtest tree", "delete", &[25.25]),
    ];
    assert_eq!(told(&results), expected);
    is_counted(&results, &Metric::OperationsPerSecond);
    assert!(results.series.iter().all(|series| series.deviation.is_none()));
    assert_eq!(results.series[0].parameters, "nodes=1 tasks=2 files/directories=22200 -b 10 -z 2 -i 1 -I 100");
    assert_eq!(results.left_out.values().sum::<u64>(), 1);
    assert_eq!(results.notes, [""; 0]);
}

#[test]
fn several_iterations_of_mdtest_are_a_mean_with_its_deviation() {
    let results = read(MDTEST_3);
    let expected: [(&str, &str, &[f64]); 5] = [
        ("mdtest file", "create", &[5_100.5]),
        ("mdtest file", "stat", &[40_500.25]),
        ("mdtest file", "delete", &[6_000.0]),
        ("mdtest tree", "create", &[400.0]),
        ("mdtest tree", "delete", &[200.0]),
    ];
    assert_eq!(told(&results), expected);
    let deviations: Vec<Option<f64>> = results.series.iter().map(|series| series.deviation).collect();
    assert_eq!(deviations, [Some(100.0), Some(500.0), Some(100.0), Some(100.0), Some(50.0)]);
    assert_eq!(results.series[0].parameters, "nodes=2 tasks=4 files=4000 -F -n 1000 -W 3 -i 2");
    // One operation without a rate, and the rate up to the stonewall.
    assert_eq!(results.left_out.len(), 2);
    assert_eq!(results.notes.len(), 1);
}

#[test]
fn tables_with_each_rank_and_with_several_numbers_of_tasks() {
    let results = read(MDTEST_4);
    assert_eq!(results.tool, "mdtest-4.1.0+dev");
    let expected: [(&str, &str, &[f64]); 5] = [
        ("mdtest directory", "create", &[17_000.0]),
        ("mdtest directory", "rename", &[9_000.0]),
        ("mdtest file", "create", &[13_000.5]),
        ("mdtest tree", "create", &[800.0]),
        ("mdtest file", "create", &[22_000.5]),
    ];
    assert_eq!(told(&results), expected);
    assert_eq!(results.series[1].deviation, Some(408.248));
    let options = "-n 100 -i 3 --showRankStatistics";
    assert_eq!(results.series[2].parameters, format!("nodes=1 tasks=2 files/directories=200 {options}"));
    assert_eq!(results.series[4].parameters, format!("nodes=1 tasks=4 files/directories=400 {options}"));
}

#[test]
fn a_file_may_hold_both_programs() {
    let results = read(&format!("{MDTEST_1}{OLD_IOR}{MDTEST_3}"));
    assert_eq!(results.tool, "IOR-3.0.1, mdtest-1.9.3, mdtest-3.3.0");
    assert_eq!(results.series.len(), 2 + 8 + 5);
    // The places of both programs differ, and no test was done in two of them.
    assert!(results.series.iter().all(|series| series.contestant.is_empty()));
}

#[test]
fn lines_of_mdtest_that_are_not_whole_are_left_out() {
    let cut = &MDTEST_1[..MDTEST_1.find("150125.250").unwrap() + 12];
    let results = read(cut);
    assert_eq!(told(&results), [("mdtest directory", "create", &[20_500.125][..])]);
    assert_eq!(results.left_out, BTreeMap::from([("a line of mdtest's table that is not whole".to_owned(), 1)]));
    for rate in ["nan", "inf", "-5.5", "1e400"] {
        let text = MDTEST_1.replace("20500.125", rate);
        assert_eq!(read(&text).series.len(), 7, "{rate}");
    }
}

#[test]
fn many_lines_end_in_an_error_and_not_in_memory() {
    let line = "write     128.50     16384      1024.00    0.000500   0.247500   0.000500   0.249000   0   \n";
    let heading = OLD_IOR.find("\nwrite ").unwrap() + 1;
    let text = format!("{}{}", &OLD_IOR[..heading], line.repeat(foreign::MOST_RUNS + 1));
    assert_eq!(foreign::read(&text), Err(ForeignError::TooManyRuns));
}
