//! bonnie++'s CSV: each figure is the one that stands in the line.

use foreign::{ForeignError, Metric, Results, Series, read};

const REAL: &str = include_str!("fixtures/bonnie-2.00.csv");
const FORMAT_197: &str = include_str!("fixtures/bonnie-1.97.csv");
const VERSION_103: &str = include_str!("fixtures/bonnie-1.03.csv");

fn series<'a>(results: &'a Results, workload: &str, group: &str, contestant: &str) -> &'a Series {
    let of = |series: &&Series| series.workload == workload && series.group == group && series.contestant == contestant;
    let found: Vec<&Series> = results.series.iter().filter(of).collect();
    let [one] = found.as_slice() else { panic!("{workload}, {group}, {contestant}: {results:#?}") };
    one
}

/// The longest latency, which is the only one.
fn longest(series: &Series) -> Option<f64> {
    let latency = series.latency?;
    assert_eq!((latency.min, latency.mean, latency.p50, latency.p95, latency.p99), (None, None, None, None, None));
    latency.max
}

#[test]
fn what_was_too_fast_to_be_measured_is_no_figure() {
    let results = read(REAL).unwrap();
    assert_eq!((results.format, results.tool.as_str()), ("bonnie++ CSV", "bonnie++ 2.00a"));
    assert_eq!(results.series.len(), 2);
    assert_eq!(results.left_out.values().copied().collect::<Vec<u64>>(), [10]);
    let output = series(&results, "sequential output, per char", "write", "");
    assert_eq!((&output.metric, &output.runs), (&Metric::BandwidthBytesPerSecond, &vec![2860.0 * 1024.0]));
    assert_eq!((output.parameters.as_str(), longest(output)), ("size=32M concurrency=1", Some(1_403_000.0)));
    let input = series(&results, "sequential input, per char", "read", "");
    assert_eq!((input.runs.as_slice(), longest(input)), ([3894.0 * 1024.0].as_slice(), Some(257_000.0)));
}

#[test]
fn format_197_has_two_fields_less() {
    let results = read(FORMAT_197).unwrap();
    assert_eq!((results.tool.as_str(), results.series.len()), ("bonnie++ 1.97", 10));
    for (workload, group, kibibytes, latency) in [
        ("sequential output, per char", "write", 712.0, 16e6),
        ("sequential output, block", "write", 119_847.0, 812e6),
        ("sequential output, rewrite", "rewrite", 63_321.0, 1530e6),
        ("sequential input, per char", "read", 1900.0, 8_721_000.0),
        ("sequential input, block", "read", 180_123.0, 121e6),
    ] {
        let series = series(&results, workload, group, "");
        assert_eq!((series.runs.as_slice(), longest(series)), ([kibibytes * 1024.0].as_slice(), Some(latency)));
        assert_eq!(series.parameters, "size=4G chunk=4k concurrency=1");
    }
    for (workload, group, rate, latency) in [
        ("random seeks", "seek", 321.5, 2e9),
        ("sequential files", "create", 10_240.0, 311e3),
        ("sequential files", "delete", 20_480.0, 420e3),
        ("random files", "create", 5120.0, 99e3),
        ("random files", "delete", 2560.0, 500e3),
    ] {
        let series = series(&results, workload, group, "");
        assert_eq!((&series.metric, series.runs.as_slice()), (&Metric::OperationsPerSecond, [rate].as_slice()));
        assert_eq!(longest(series), Some(latency), "{workload}, {group}");
    }
    assert_eq!(series(&results, "random files", "create", "").parameters, "files=16 concurrency=1");
}

#[test]
fn lines_of_version_103_are_runs_of_the_machines_that_they_name() {
    let results = read(VERSION_103).unwrap();
    assert_eq!(results.tool, "bonnie++");
    let block = series(&results, "sequential output, block", "write", "host-a");
    assert_eq!((block.runs.as_slice(), block.latency), ([161_284.0 * 1024.0, 161_300.0 * 1024.0].as_slice(), None));
    assert_eq!((block.parameters.as_str(), results.left_out.values().sum::<u64>()), ("size=8G", 4));
    assert_eq!(series(&results, "random seeks", "seek", "host-a").runs, [455.1, 456.2]);
    let created = series(&results, "random files", "create", "host-a");
    assert_eq!((created.runs.as_slice(), created.parameters.as_str()), ([11_111.0, 11_100.0].as_slice(), "files=16"));
    let other = series(&results, "sequential input, block", "read", "host-b");
    assert_eq!((other.runs.as_slice(), other.parameters.as_str()), ([87_654.0 * 1024.0].as_slice(), "size=8G:64k"));
}

#[test]
fn lines_of_another_form_are_not_taken() {
    let none = "host,8G,1,2,x,4,5,6,7,8,9,10,11,12,16,1,2,3,4,5,6,7,8,9,10,11,12\n";
    let numbers = (1..=27).map(|number| number.to_string()).collect::<Vec<String>>().join(",");
    let longer = VERSION_103.replace('\n', ",\n");
    for text in [none, numbers.as_str(), longer.as_str()] {
        assert_eq!(read(text), Err(ForeignError::Unknown), "{text}");
    }
    let all_too_fast = "host,8G".to_owned() + &",+++++,+++".repeat(6) + ",16" + &",+++++,+++".repeat(6);
    assert!(matches!(read(&all_too_fast), Err(ForeignError::Nothing { format: "bonnie++ CSV", .. })));
}
