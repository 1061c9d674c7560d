//! Hostile files: nothing panics, what is read holds, and a refusal is one line.
//!
//! `PROPTEST_CASES=100000 cargo test -p foreign --test hostile` looks at many.

use foreign::{Latency, MOST_RUNS, MOST_SERIES, Metric, Results, is_known, read};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::{Index, select};

/// Most characters of any text of results.
const MOST_CHARACTERS: usize = 200;

const GOOD: [&str; 30] = [
    include_str!("fixtures/fio-3.33.json"),
    include_str!("fixtures/fio-3.33-loop.json"),
    include_str!("fixtures/fio-3.33-normal-json-plus.txt"),
    include_str!("fixtures/fio-3.33-client.json"),
    include_str!("fixtures/fio-clients.json"),
    include_str!("fixtures/fio-2.16.json"),
    include_str!("fixtures/fio-3.33-terse-3.txt"),
    include_str!("fixtures/fio-3.33-terse-4.txt"),
    include_str!("fixtures/fio-3.33-terse-5.txt"),
    include_str!("fixtures/sysbench-1.0.20-fileio.txt"),
    include_str!("fixtures/sysbench-1.0-oltp.txt"),
    include_str!("fixtures/sysbench-0.4-fileio.txt"),
    include_str!("fixtures/sysbench-1.1-fileio.txt"),
    include_str!("fixtures/bonnie-2.00.csv"),
    include_str!("fixtures/bonnie-1.97.csv"),
    include_str!("fixtures/bonnie-1.03.csv"),
    include_str!("fixtures/io500-result.txt"),
    include_str!("fixtures/io500-result_summary.txt"),
    include_str!("fixtures/ior-3.0.txt"),
    include_str!("fixtures/ior-3.2.json"),
    include_str!("fixtures/ior-4.0.csv"),
    include_str!("fixtures/ior-4.0.json"),
    include_str!("fixtures/ior-4.0.txt"),
    include_str!("fixtures/mdtest-1.9.txt"),
    include_str!("fixtures/mdtest-3.3.txt"),
    include_str!("fixtures/mdtest-4.1.txt"),
    include_str!("fixtures/mmtests-compare.json"),
    include_str!("fixtures/mmtests-extract.json"),
    include_str!("fixtures/modern-fs-benchmark.json"),
    include_str!("fixtures/phoronix-composite.xml"),
];

/// What the formats are made of, and what they should not hold.
const PIECES: [&str; 40] = [
    "{",
    "}",
    "[",
    "]",
    "\"",
    "\\",
    ",",
    ";",
    ":",
    "%",
    "\n",
    "\r\n",
    "\t",
    "\0",
    "\u{1b}[2J",
    "\u{202e}",
    "é",
    "0",
    "-1",
    "1e308",
    "1e-308",
    "1e999",
    "nan",
    "-inf",
    "18446744073709551616",
    "null",
    "{\"\":",
    "[[[[[[[[",
    "+++++",
    "64k",
    "us",
    "\"fio version\" : \"\"",
    "\"error\" : 1,",
    "\"bs\" : \"1m\",",
    "3;fio-",
    "IOPS=1e308 9 MiB/s",
    "99th percentile: 1",
    "Running the test with following options:\n",
    "Block size 1024Pb\n",
    "Threads started!\n",
];

/// One change of a file: the bytes from a place on, at most so many, give way to a piece.
fn change() -> impl Strategy<Value = (Index, usize, &'static str)> {
    (any::<Index>(), prop_oneof![4 => 0..8_usize, 1 => 0..4000_usize], select(PIECES.to_vec()))
}

fn changed(text: &str, changes: &[(Index, usize, &str)]) -> String {
    let mut bytes = text.as_bytes().to_vec();
    for (place, length, piece) in changes {
        let from = place.index(bytes.len() + 1);
        let to = bytes.len().min(from + length);
        bytes.splice(from..to, piece.bytes());
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

fn figures(latency: &Latency) -> [Option<f64>; 7] {
    let Latency { min, mean, p50, p95, p99, p999, max } = *latency;
    [min, mean, p50, p95, p99, p999, max]
}

/// All texts of results.
fn texts(results: &Results) -> Vec<&str> {
    let facts = &results.facts;
    let mut texts = vec![&results.tool, &results.ran, &facts.os, &facts.kernel, &facts.cpu, &facts.disk];
    texts.extend(results.notes.iter().chain(results.left_out.keys()));
    for series in &results.series {
        texts.extend([&series.workload, &series.parameters, &series.group, &series.contestant, &series.filesystem]);
        if let Metric::Other { unit, .. } = &series.metric {
            texts.push(unit);
        }
    }
    texts.into_iter().map(String::as_str).collect()
}

/// Reads a text, and looks at what comes out.
fn look(text: &str) -> Result<(), TestCaseError> {
    let known = is_known(text);
    let results = match read(text) {
        Ok(results) => results,
        Err(error) => {
            let told = error.to_string();
            prop_assert!(!told.is_empty() && !told.contains(char::is_control), "{told:?}");
            return Ok(());
        }
    };
    prop_assert!(known);
    prop_assert!(texts(&results).iter().all(|text| text.chars().count() <= MOST_CHARACTERS), "{results:?}");
    prop_assert!((1..=MOST_SERIES).contains(&results.series.len()));
    for series in &results.series {
        prop_assert!((1..=MOST_RUNS).contains(&series.runs.len()), "{series:?}");
        prop_assert!(series.runs.iter().all(|run| run.is_finite() && *run > 0.0), "{series:?}");
        prop_assert!(series.deviation.is_none_or(|deviation| deviation.is_finite() && deviation >= 0.0), "{series:?}");
        prop_assert!(series.seconds.is_finite() && series.seconds >= 0.0, "{series:?}");
        prop_assert!(series.latency.is_none() || series.runs.len() == 1, "{series:?}");
        let latencies = series.latency.as_ref().map(figures).into_iter().flatten().flatten();
        for latency in latencies {
            prop_assert!(latency.is_finite() && latency > 0.0, "{series:?}");
        }
    }
    Ok(())
}

#[test]
fn the_files_that_are_changed_are_good() {
    for text in GOOD {
        look(text).unwrap();
        read(text).unwrap();
        // A byte order mark and carriage returns are no matter.
        let windows = format!("\u{feff}{}", text.replace('\n', "\r\n"));
        assert_eq!(read(&windows).unwrap().series, read(text).unwrap().series);
    }
}

#[test]
fn a_file_is_known_by_its_beginning() {
    for text in GOOD {
        let bytes = text.as_bytes();
        let end = (bytes.len() * 6 / 10).max(400).min(bytes.len());
        let beginning = String::from_utf8_lossy(&bytes[..end]);
        assert!(is_known(&beginning), "{beginning}");
        assert!(is_known(&format!("\u{feff}{beginning}")), "{beginning}");
    }
    // Perl writes the keys of mmtests in any order.
    let ratios = format!("{{\"_ResultsRatioTable\": {{\"work\": [{}", "1, ".repeat(100_000));
    assert!(is_known(&ratios));
    assert!(!is_known("{\"other\": [1, 2"));
}

#[test]
fn long_texts_are_cut() {
    let long = "é".repeat(MOST_CHARACTERS + 1);
    let [fio, phoronix, io500, ior] = [GOOD[0], GOOD[29], GOOD[16], GOOD[22]];
    for text in [
        fio.replace("fio-3.33", &long),
        fio.replace("\"small\"", &format!("\"{long}\"")),
        phoronix.replace("SQLite", &long),
        phoronix.replace("ext4 default", &long),
        phoronix.replace("Example SSD", &long),
        io500.replace("io500-example-1", &format!("io500-{long}")),
        io500.replace("procs           = 4", &format!("procs = {long}")),
        ior.replace("file-per-process", &long),
    ] {
        assert!(text.contains(&long));
        look(&text).unwrap();
        let results = read(&text).unwrap();
        assert!(texts(&results).iter().any(|text| text.chars().count() == MOST_CHARACTERS), "{results:?}");
    }
}

#[test]
fn what_begins_too_often_ends_soon() {
    let begins = [("{\"", 200_000), ("{ \"fio version\":", 50_000), ("[", 1 << 20), ("3;fio-;", 100_000)];
    for (piece, times) in begins {
        look(&piece.repeat(times)).unwrap();
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_bytes(bytes in vec(any::<u8>(), 0..4096)) {
        look(&String::from_utf8_lossy(&bytes))?;
    }

    #[test]
    fn any_pieces(pieces in vec(select(PIECES.to_vec()), 0..200)) {
        look(&pieces.concat())?;
    }

    #[test]
    fn good_files_with_changes(good in select(GOOD.to_vec()), changes in vec(change(), 1..12)) {
        look(&changed(good, &changes))?;
    }

    #[test]
    fn good_files_one_after_another(files in vec(select(GOOD.to_vec()), 2..4), changes in vec(change(), 0..4)) {
        look(&changed(&files.concat(), &changes))?;
    }
}
