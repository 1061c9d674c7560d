//! IO500's result.txt and result_summary.txt.

use crate::common::{read, series_of};
use foreign::{ForeignError, Metric, Results, Series};
use std::collections::BTreeMap;

const RESULT: &str = include_str!("fixtures/io500-result.txt");
const SUMMARY: &str = include_str!("fixtures/io500-result_summary.txt");
const GIB: f64 = 1_073_741_824.0;
const UNITS: &str =
    "IO500's own units are told in others: 1 GiB/s of a phase reads 1.074 GB/s, and 1 kIOPS reads 1k ops/s.";

fn told(results: &Results) -> Vec<(&str, &str, &Metric, &[f64])> {
    let mut told = Vec::new();
    for Series { workload, group, metric, runs, .. } in &results.series {
        told.push((workload.as_str(), group.as_str(), metric, runs.as_slice()));
    }
    told
}

fn other(unit: &str) -> Metric {
    Metric::Other { unit: unit.to_owned(), higher_is_better: true }
}

#[test]
fn phases_and_totals_are_read_in_their_units() {
    let results = read(RESULT);
    assert_eq!((results.format, results.tool.as_str()), ("IO500 result.txt", "IO500 example-1"));
    let (bandwidth, rate) = (Metric::BandwidthBytesPerSecond, Metric::OperationsPerSecond);
    let expected: [(&str, &str, &Metric, &[f64]); 10] = [
        ("ior-easy-write", "write", &bandwidth, &[2.25 * GIB]),
        ("mdtest-easy-write", "create", &rate, &[20_125.0]),
        ("mdtest-hard-write", "create", &rate, &[5_062.5]),
        ("find", "find", &rate, &[110_500.0]),
        ("ior-easy-read", "read", &bandwidth, &[3.5 * GIB]),
        ("mdtest-easy-stat", "stat", &rate, &[80_250.0]),
        ("mdtest-easy-delete", "delete", &rate, &[18_750.0]),
        ("IO500 MD", "total", &other("kIOPS"), &[26.125]),
        ("IO500 BW", "total", &other("GiB/s"), &[1.875]),
        ("IO500 SCORE", "total", &other("IO500 score"), &[6.999023]),
    ];
    assert_eq!(told(&results), expected);
}

#[test]
fn how_a_phase_ran_is_told_without_its_paths() {
    let results = read(RESULT);
    let easy = series_of(&results, "ior-easy-write");
    assert_eq!(easy.parameters, "procs=4 api=POSIX xfersize=2m blocksize=9920000m stonewall=300");
    assert_eq!(easy.seconds, 312.5);
    // Its `-t` takes no value.
    let hard = series_of(&results, "mdtest-hard-write");
    assert_eq!(hard.parameters, "procs=4 api=POSIX items=1000000 write_bytes=3901 stonewall=300");
    assert_eq!(series_of(&results, "find").parameters, "procs=4");
    assert!(!format!("{results:?}").contains("datafiles"));
    // Of all phases the first tells when it was; the zone nobody tells.
    assert_eq!(results.ran, "2026-02-03T04:05:07");
}

#[test]
fn invalid_phases_are_told() {
    let results = read(RESULT);
    let left_out = BTreeMap::from([
        ("a phase with errors, which the file calls INVALID".to_owned(), 1),
        ("a phase that was not run (no score above 0)".to_owned(), 2),
    ]);
    assert_eq!(results.left_out, left_out);
    let notes = [
        "mdtest-easy-write ran shorter than the rules of IO500 ask for.",
        "The file calls the run INVALID by the rules of IO500: its totals are no official score.",
        UNITS,
    ];
    assert_eq!(results.notes, notes);
}

#[test]
fn a_valid_run_is_told_in_which_units_it_stands_and_nothing_else() {
    let valid = RESULT.replace("; ERROR INVALID Runtime is smaller than expected minimum runtime\n", "");
    let results = read(&valid.replace(" [INVALID]", ""));
    assert_eq!(results.notes, [UNITS]);
    assert_eq!(results.series.len(), 10);
    // Totals stand in the tool's own units.
    let totals = read("[SCORE]\nMD = 30.5\nBW = 2.5\nSCORE = 8.75\n");
    assert_eq!(totals.notes, [""; 0]);
}

#[test]
fn the_summary_is_read_alone() {
    let results = read(SUMMARY);
    assert_eq!(results.tool, "IO500 example-1");
    let (bandwidth, rate) = (Metric::BandwidthBytesPerSecond, Metric::OperationsPerSecond);
    let expected: [(&str, &str, &Metric, &[f64]); 12] = [
        ("ior-easy-write", "write", &bandwidth, &[2.183 * GIB]),
        ("mdtest-easy-write", "create", &rate, &[20_125.0]),
        ("ior-hard-write", "write", &bandwidth, &[0.125 * GIB]),
        ("mdtest-hard-write", "create", &rate, &[5_062.5]),
        ("find", "find", &rate, &[110_500.0]),
        ("ior-easy-read", "read", &bandwidth, &[3.5 * GIB]),
        ("mdtest-easy-stat", "stat", &rate, &[80_250.0]),
        ("mdtest-easy-delete", "delete", &rate, &[18_750.0]),
        ("ior-rnd4K-easy-read", "read", &bandwidth, &[0.0625 * GIB]),
        ("IO500 BW", "total", &other("GiB/s"), &[1.25]),
        ("IO500 MD", "total", &other("kIOPS"), &[22.5]),
        ("IO500 SCORE", "total", &other("IO500 score"), &[5.303301]),
    ];
    assert_eq!(told(&results), expected);
    assert_eq!(series_of(&results, "ior-easy-write").seconds, 35.625);
    assert_eq!(results.left_out, BTreeMap::from([("a phase that was not run (no score above 0)".to_owned(), 1)]));
    assert_eq!(results.notes[0], "ior-easy-write is marked INVALID; the result.txt of the same run tells why.");
    assert_eq!(results.notes.len(), 3);
    // It tells no time.
    assert_eq!(results.ran, "");
}

#[test]
fn names_and_marks_of_older_versions_are_known() {
    let text = "[RESULT] BW   phase 1            ior_easy_write                0.250 GB/s : time 300.50 seconds\n\
                [RESULT-invalid] IOPS phase 1    mdtest_easy_write    12.500 kiops : time 10.25 seconds\n\
                [SCORE] Bandwidth 0.5 GB/s : IOPS 3 kiops : TOTAL 1.25\n";
    let results = read(text);
    let expected: [(&str, &str, &Metric, &[f64]); 5] = [
        ("ior_easy_write", "write", &Metric::BandwidthBytesPerSecond, &[250_000_000.0]),
        ("mdtest_easy_write", "create", &Metric::OperationsPerSecond, &[12_500.0]),
        ("IO500 BW", "total", &other("GB/s"), &[0.5]),
        ("IO500 MD", "total", &other("kIOPS"), &[3.0]),
        ("IO500 SCORE", "total", &other("IO500 score"), &[1.25]),
    ];
    assert_eq!(told(&results), expected);
    assert_eq!(results.notes.len(), 2);
}

#[test]
fn an_extended_run_has_its_own_totals() {
    let text = format!("{RESULT}\n[SCOREX]\nMD = 30.5\nBW = 2.5\nSCORE = 8.75\nhash = 1\n");
    let results = read(&text);
    assert_eq!(series_of(&results, "IO500 extended SCORE").runs, [8.75]);
    assert_eq!(series_of(&results, "IO500 SCORE").runs, [6.999023]);
}

#[test]
fn scores_that_are_no_figures_are_left_out() {
    for score in ["nan", "inf", "-2.5", "1e400", "1e308", "0", "?", "", "two"] {
        let text = format!("[ior-easy-write]\nscore = {score}\n\n[find]\nscore = 2.5\n[SCORE]\nMD = {score}\n");
        let results = read(&text);
        let expected = if score == "1e308" { 2 } else { 1 };
        assert_eq!(results.series.len(), expected, "{score}");
        assert_eq!(series_of(&results, "find").runs, [2_500.0]);
        let counted = results.left_out.values().sum::<u64>();
        assert_eq!(counted, if score == "1e308" { 1 } else { 2 }, "{score}");
    }
    let error = foreign::read("[find]\nexe = ./pfind\nscore = ?\n").unwrap_err();
    assert!(matches!(error, ForeignError::Nothing { format: "IO500 result.txt", .. }), "{error}");
}

#[test]
fn a_score_that_is_no_figure_is_none_of_a_phase_that_was_not_run() {
    let left_out = |text: String| read(&text).left_out.into_keys().collect::<Vec<_>>();
    for (score, why) in [
        ("-2.5", "a phase whose score is no figure above 0"),
        ("-1e400", "a phase whose score is no figure above 0"),
        ("nan", "a phase whose score is no figure above 0"),
        ("1e308", "a phase whose score is no figure above 0"),
        ("0", "a phase that was not run (no score above 0)"),
        ("-0.0", "a phase that was not run (no score above 0)"),
        ("?", "a phase that was not run (no score above 0)"),
    ] {
        assert_eq!(left_out(format!("[ior-easy-write]\nscore = {score}\n\n[find]\nscore = 2.5\n")), [why], "{score}");
        let line = |name: &str, score: &str| format!("[RESULT] {name} {score} kIOPS : time 1.5 seconds\n");
        assert_eq!(left_out(line("mdtest-easy-stat", score) + &line("find", "2.5")), [why], "{score}");
    }
}

#[test]
fn a_file_that_was_cut_off_gives_what_it_has_and_says_so() {
    for end in (0..RESULT.len()).step_by(5) {
        let Ok(results) = foreign::read(&RESULT[..end]) else { continue };
        assert!(results.series.len() <= 10);
        let has_total = results.series.iter().any(|series| series.workload == "IO500 SCORE");
        let cut = results.notes.iter().any(|note| note.contains("cut off"));
        assert!(has_total || cut, "{end}");
    }
    let before_totals = &RESULT[..RESULT.find("[SCORE]").unwrap()];
    let results = read(before_totals);
    assert_eq!(results.series.len(), 7);
    assert!(results.notes.iter().any(|note| note.contains("cut off")), "{:?}", results.notes);
}

#[test]
fn its_configuration_is_no_result() {
    let configuration = "[global]\ndatadir = ./data\n[ior-easy]\ntransferSize = 2m\n[ior-easy-write]\nrun = TRUE\n";
    assert_eq!(foreign::read(configuration), Err(ForeignError::Unknown));
}
