//! Phoronix Test Suite's composite.xml.

use crate::common::{other, read};
use foreign::{ForeignError, Metric, Results, Series};
use std::collections::BTreeMap;

const COMPOSITE: &str = include_str!("fixtures/phoronix-composite.xml");

fn of<'a>(results: &'a Results, workload: &str, contestant: &str, metric: &Metric) -> &'a Series {
    let is_it =
        |series: &&Series| series.workload == workload && series.contestant == contestant && series.metric == *metric;
    let found: Vec<&Series> = results.series.iter().filter(is_it).collect();
    assert_eq!(found.len(), 1, "{workload} of {contestant} in {metric:?}");
    found[0]
}

/// A file of one test with one entry.
fn file(scale: &str, proportion: &str, raw: &str) -> String {
    format!(
        "<PhoronixTestSuite><Result><Title>A test</Title><Scale>{scale}</Scale><Proportion>{proportion}</Proportion>\
         <DisplayFormat>BAR_GRAPH</DisplayFormat><Data><Entry><Identifier>one</Identifier><Value>1</Value>\
         <RawString>{raw}</RawString></Entry></Data></Result></PhoronixTestSuite>"
    )
}

fn error(text: &str) -> String {
    foreign::read(text).unwrap_err().to_string()
}

/// Line and column behind a text, from 1.
fn behind(text: &str) -> (usize, usize) {
    (text.split('\n').count(), text.split('\n').next_back().unwrap().chars().count() + 1)
}

#[test]
fn every_run_of_every_system_is_read_in_its_unit() {
    let results = read(COMPOSITE);
    assert_eq!(results.format, "Phoronix composite.xml");
    assert_eq!(results.tool, "Phoronix Test Suite v10.8.4");
    assert_eq!(results.series.len(), 7);
    let bandwidth = of(&results, "Flexible IO Tester", "ext4 default", &Metric::BandwidthBytesPerSecond);
    assert_eq!(bandwidth.runs, [1_201_500_000.0, 1_203_000_000.0, 1_204_500_000.0]);
    assert_eq!((bandwidth.filesystem.as_str(), bandwidth.group.as_str()), ("ext4", "read"));
    assert_eq!(bandwidth.parameters, "Type: Random Read - Engine: IO_uring - Block Size: 4KB; pts/fio-1.16.0");
    // Its RawString is empty, and so its value is the only run.
    let one = of(&results, "Flexible IO Tester", "xfs default", &Metric::BandwidthBytesPerSecond);
    assert_eq!((one.runs.as_slice(), one.filesystem.as_str()), (&[1_250_250_000.0][..], "xfs"));
    let rate = of(&results, "Flexible IO Tester", "ext4 default", &Metric::OperationsPerSecond);
    assert_eq!(rate.runs, [293_000.0, 294_000.0, 294_000.0]);
    assert_eq!(of(&results, "SQLite", "ext4 default", &Metric::Seconds).runs, [12.341, 12.349]);
    assert_eq!(of(&results, "SQLite", "xfs default", &Metric::Seconds).runs, [13.001]);
    let latency = of(&results, "PostgreSQL", "ext4 default", &other("ms", false));
    assert_eq!((latency.runs.as_slice(), latency.group.as_str()), (&[2.501, 2.523][..], "total"));
    let files = of(&results, "FS-Mark", "xfs default", &Metric::OperationsPerSecond);
    // It has no description.
    assert_eq!(files.parameters, "-s 1048576 -n 1000; pts/fs-mark-1.0.3");
    assert_eq!(files.runs, [412.7]);
}

#[test]
fn what_is_no_figure_is_counted() {
    let counted = BTreeMap::from([
        ("a graph over time, whose values are no runs".to_owned(), 2),
        ("a test that a system did not finish".to_owned(), 1),
        ("a test whose result is no number (passed or failed, an image)".to_owned(), 1),
    ]);
    assert_eq!(read(COMPOSITE).left_out, counted);
}

#[test]
fn where_it_ran_is_kept_and_who_ran_it_is_not() {
    let results = read(COMPOSITE);
    assert_eq!((results.facts.os.as_str(), results.facts.kernel.as_str()), ("Debian 12", "6.12.9-amd64"));
    assert_eq!((results.facts.cpu.as_str(), results.facts.cpus), ("Example CPU 9000 @ 3.10GHz", 16));
    assert_eq!(results.facts.memory_bytes, 16 << 30);
    assert_eq!(results.facts.disk, "1000GB Example SSD, 2 partitions");
    assert!(!format!("{results:?}").contains("somebody"));
    // Its times have no zone; of its systems the earlier one tells.
    assert_eq!(results.ran, "2026-02-03T01:00:00");
}

#[test]
fn facts_in_which_systems_differ_are_not_kept() {
    let mixed = COMPOSITE.replacen("Kernel: 6.12.9-amd64", "Kernel: 6.13.0", 1);
    let results = read(&mixed);
    assert_eq!((results.facts.os.as_str(), results.facts.kernel.as_str()), ("Debian 12", ""));
    assert!(results.notes.iter().any(|note| note.contains("systems differ")), "{:?}", results.notes);
    assert!(!read(COMPOSITE).notes.iter().any(|note| note.contains("systems differ")));
}

#[test]
fn memory_and_cpus_as_the_suite_writes_them() {
    for (memory, bytes) in [
        ("16GB", 16_u64 << 30),
        ("3968MB", 3968 << 20),
        ("4 x 32 GB DDR4-3200MT/s", 128 << 30),
        ("1TB", 1 << 40),
        ("4 GB + 8 GB", 0),
        ("unknown", 0),
        ("99999999 x 8 GB", 0),
    ] {
        let text = COMPOSITE.replace("2 x 8 GB DDR5-4800MT/s", memory);
        assert_eq!(read(&text).facts.memory_bytes, bytes, "{memory}");
    }
    for (processor, cpu, cpus) in [
        ("Small CPU (4 Cores)", "Small CPU", 4),
        ("Small CPU (rev 2)", "Small CPU (rev 2)", 0),
        ("Small CPU (99999999999 Cores)", "Small CPU", 0),
    ] {
        let text = COMPOSITE.replace("Example CPU 9000 @ 3.10GHz (8 Cores / 16 Threads)", processor);
        let facts = read(&text).facts;
        assert_eq!((facts.cpu.as_str(), facts.cpus), (cpu, cpus), "{processor}");
    }
}

#[test]
fn scales_and_their_directions() {
    for (scale, proportion, metric, run) in [
        ("MB/s", "HIB", Metric::BandwidthBytesPerSecond, 2_500_000.0),
        ("MiB/s", "HIB", Metric::BandwidthBytesPerSecond, 2_621_440.0),
        ("GB/s", "", Metric::BandwidthBytesPerSecond, 2_500_000_000.0),
        ("IOPS", "HIB", Metric::OperationsPerSecond, 2.5),
        ("TPS", "HIB", Metric::OperationsPerSecond, 2.5),
        ("Transactions Per Second", "HIB", Metric::OperationsPerSecond, 2.5),
        ("Files/s", "HIB", Metric::OperationsPerSecond, 2.5),
        ("Seconds", "LIB", Metric::Seconds, 2.5),
        ("ns", "LIB", other("ns", false), 2.5),
        ("us", "LIB", other("us", false), 2.5),
        // Bits, and thousands of something.
        ("Mb/s", "HIB", other("Mb/s", true), 2.5),
        ("k/s", "HIB", other("k/s", true), 2.5),
        ("Score", "HIB", other("Score", true), 2.5),
        // The direction contradicts the scale, and so it is none of the known ones.
        ("Seconds", "HIB", other("Seconds", true), 2.5),
        ("MB/s", "LIB", other("MB/s", false), 2.5),
    ] {
        let results = read(&file(scale, proportion, "2.5"));
        assert_eq!(results.series.len(), 1, "{scale}");
        assert_eq!((&results.series[0].metric, results.series[0].runs.as_slice()), (&metric, &[run][..]), "{scale}");
    }
    let error = foreign::read(&file("Score", "ABSTRACT", "2.5")).unwrap_err();
    assert!(matches!(error, ForeignError::Nothing { .. }), "{error}");
    assert!(error.to_string().contains("Proportion"), "{error}");
    assert_eq!(read(&file("TPS", "HIB", "2.5")).series[0].group, "transactions");
}

#[test]
fn runs_that_are_no_figures_are_left_out() {
    let results = read(&file("IOPS", "HIB", "1.5:NaN:inf:-3:1e400:0::many:2.5"));
    assert_eq!(results.series[0].runs, [1.5, 2.5]);
    assert_eq!(results.left_out.values().sum::<u64>(), 7);
    // What is finite in the file is not so in bytes.
    let results = read(&file("GB/s", "HIB", "1e308:2"));
    assert_eq!((results.series[0].runs.as_slice(), results.left_out.len()), (&[2e9][..], 1));
    assert!(matches!(foreign::read(&file("IOPS", "HIB", "nan")), Err(ForeignError::Nothing { .. })));
    let many = vec!["1"; foreign::MOST_RUNS + 1].join(":");
    assert_eq!(foreign::read(&file("IOPS", "HIB", &many)), Err(ForeignError::TooManyRuns));
    let most = file("IOPS", "HIB", &vec!["1"; foreign::MOST_RUNS].join(":"));
    let entry = &most[most.find("<Entry>").unwrap()..most.find("</Data>").unwrap()];
    let times = foreign::MOST_RUNS_OF_ALL / foreign::MOST_RUNS;
    let all = most.replace("</Data>", &format!("{}</Data>", entry.repeat(times - 1)));
    assert_eq!(read(&all).series.len(), times);
    let more = most.replace("</Data>", &format!("{}</Data>", entry.repeat(times)));
    assert_eq!(foreign::read(&more), Err(ForeignError::TooManyRunsOfAll));
}

#[test]
fn a_file_that_was_cut_off_is_refused_with_its_place() {
    let whole = COMPOSITE.trim_end().len();
    for end in (0..whole).step_by(7) {
        let cut = &COMPOSITE[..end];
        match foreign::read(cut) {
            Err(ForeignError::Unknown) => assert!(!cut.contains("<PhoronixTestSuite"), "{end}"),
            Err(ForeignError::Malformed { line, column, what }) => {
                assert_eq!((line, column), behind(cut.trim_end()), "{end}");
                assert!(what.starts_with("the file ends in the middle of its XML; "), "{end}: {what}");
            }
            other => panic!("{end}: {other:?}"),
        }
    }
}

#[test]
fn a_mistake_is_told_with_its_place() {
    let broken = COMPOSITE.replacen("1203</Value>", "1203</Valu>", 1);
    let before = &broken[..broken.find("</Valu>").unwrap()];
    let (line, column) = behind(before);
    let what = "this is no XML of the Phoronix Test Suite (expected 'Value' tag, not 'Valu'); \
                name the file as the suite wrote it";
    assert_eq!(error(&broken), format!("line {line}, column {column}: {what}"));
    // Blank lines before the declaration are no matter, but count.
    assert_eq!(error(&format!("\n\n  {broken}")), format!("line {}, column {column}: {what}", line + 2));
    assert_eq!(read(&format!("\u{feff}\r\n \n{COMPOSITE}")), read(COMPOSITE));
}

#[test]
fn texts_made_to_hurt_the_parser_are_refused() {
    let control = error("<PhoronixTestSuite\u{1}></PhoronixTestSuite>");
    assert!(control.contains("expected a whitespace") && !control.contains(char::is_control), "{control:?}");
    let doctype = COMPOSITE.replacen("<PhoronixTestSuite>", "<!DOCTYPE a [<!ENTITY b \"c\">]><PhoronixTestSuite>", 1);
    assert!(error(&doctype).contains("DTD"), "{}", error(&doctype));
    let entity = COMPOSITE.replacen("SQLite", "&b;", 1);
    assert!(error(&entity).contains("unknown entity reference 'b'"), "{}", error(&entity));
    for nested in ["<a>", "<a b=\"/>\">", "<!--</a>--><a>", "<![CDATA[</a>]]><a>", "<?b </a>?><a>"] {
        let deep = error(&format!("<PhoronixTestSuite>\n{}", nested.repeat(100_000)));
        assert!(deep.starts_with("line 2, column ") && deep.contains("deeper"), "{nested}: {deep}");
    }
    let attributes: String = (0..17).map(|count| format!(" a{count}=''")).collect();
    for element in [format!("<a{attributes}/>"), "<a xmlns:b='c'/>".to_owned()] {
        let refused = error(&format!("<PhoronixTestSuite>\n {element}</PhoronixTestSuite>"));
        assert!(refused.starts_with("line 2, column 2: an element with "), "{refused}");
    }
    for many in ["<a/>".repeat(1_000_001), "=".repeat(1_000_001)] {
        let refused = error(&format!("<PhoronixTestSuite>{many}</PhoronixTestSuite>"));
        assert!(refused.contains("holds more"), "{refused}");
    }
}

#[test]
fn a_file_of_the_suite_without_results_says_so() {
    let profile = "<?xml version=\"1.0\"?>\n<PhoronixTestSuite><TestInformation/></PhoronixTestSuite>";
    let error = foreign::read(profile).unwrap_err();
    assert!(matches!(error, ForeignError::Nothing { format: "Phoronix composite.xml", .. }), "{error}");
}
