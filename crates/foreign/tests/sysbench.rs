//! sysbench's output: each figure is the one that stands in the text.

use foreign::{Metric, Results, read};

const FILES: &str = include_str!("fixtures/sysbench-1.0.20-fileio.txt");
const FILES_04: &str = include_str!("fixtures/sysbench-0.4-fileio.txt");
const FILES_11: &str = include_str!("fixtures/sysbench-1.1-fileio.txt");
const OLTP: &str = include_str!("fixtures/sysbench-1.0-oltp.txt");

/// What tells a series, and its runs.
fn told(results: &Results) -> Vec<(&str, &str, &Metric, &[f64])> {
    let mut told = Vec::new();
    for series in &results.series {
        told.push((series.workload.as_str(), series.group.as_str(), &series.metric, series.runs.as_slice()));
    }
    told
}

#[test]
fn a_mixed_file_test_has_a_series_for_each_kind_of_operation() {
    let results = read(FILES).unwrap();
    assert_eq!((results.format, results.tool.as_str()), ("sysbench output", "sysbench 1.0.20"));
    let metric = &Metric::OperationsPerSecond;
    let expected: [(&str, &str, &Metric, &[f64]); 3] = [
        ("fileio random r/w", "read", metric, &[487_746.95]),
        ("fileio random r/w", "write", metric, &[325_163.63]),
        ("fileio random r/w", "fsync", metric, &[16_260.63]),
    ];
    assert_eq!(told(&results), expected);
    let first = &results.series[0];
    assert_eq!(
        first.parameters,
        "threads=2 file-num=2 file-size=512KiB file-total-size=1MiB file-block-size=16KiB file-rw-ratio=1.50 \
         file-fsync-freq=100 file-fsync-end=Enabled file-io-mode=synchronous"
    );
    assert_eq!((first.latency, first.seconds), (None, 1.0001));
    assert!(results.notes.iter().any(|note| note.contains("together")), "{:?}", results.notes);
}

#[test]
fn runs_with_equal_options_are_of_one_series() {
    let faster = FILES.replace("487746.95", "500000.25");
    let wider = FILES.replace("Number of threads: 2", "Number of threads: 8");
    let results = read(&format!("{FILES}\nrun 2\n{faster}{wider}")).unwrap();
    assert_eq!(results.series.len(), 6);
    assert_eq!(results.series[0].runs, [487_746.95, 500_000.25]);
    assert_eq!(results.series[3].runs, [487_746.95]);
    assert!(results.series[3].parameters.starts_with("threads=8 "), "{}", results.series[3].parameters);
}

#[test]
fn a_database_test_has_transactions_with_their_latency_and_queries() {
    let results = read(OLTP).unwrap();
    let metric = &Metric::OperationsPerSecond;
    let expected: [(&str, &str, &Metric, &[f64]); 4] = [
        ("oltp", "transactions", metric, &[99.87, 109.71]),
        ("oltp", "queries", metric, &[1997.46, 2194.14]),
        ("oltp", "transactions", metric, &[39.99]),
        ("oltp", "queries", metric, &[79.98]),
    ];
    assert_eq!(told(&results), expected);
    let parameters: Vec<&str> = results.series.iter().map(|series| series.parameters.as_str()).collect();
    assert_eq!(parameters, ["threads=4", "threads=4", "threads=8", "threads=8"]);
    let [both, queries, alone, ..] = results.series.as_slice() else { panic!("{results:#?}") };
    assert_eq!((both.operations, both.seconds, both.latency), (2101, 10.0219 + 10.0267, None));
    assert_eq!((queries.operations, alone.operations, alone.seconds), (42_020, 400, 10.0021));
    let latency = alone.latency.unwrap();
    assert_eq!((latency.min, latency.mean, latency.max), (Some(1.25e6), Some(200e6), Some(999.5e6)));
    assert_eq!((latency.p95, latency.p99), (None, Some(707.07 * 1e6)));
    assert_eq!(results.series[3].latency, None, "it is the transactions' latency");
}

#[test]
fn version_04_tells_counts_and_seconds() {
    let results = read(FILES_04).unwrap();
    assert_eq!(results.tool, "sysbench 0.4.12");
    let metric = &Metric::OperationsPerSecond;
    let expected: [(&str, &str, &Metric, &[f64]); 4] = [
        ("fileio random r/w", "read", metric, &[96.0]),
        ("fileio random r/w", "write", metric, &[64.0]),
        ("fileio random r/w", "fsync", metric, &[204.8]),
        ("fileio sequential read", "read", &Metric::BandwidthBytesPerSecond, &[536_870_912.0]),
    ];
    assert_eq!(told(&results), expected);
    let [reads, .., sequential] = results.series.as_slice() else { panic!("{results:#?}") };
    assert_eq!((reads.operations, reads.bytes, reads.seconds), (6000, 98_304_000, 62.5));
    assert_eq!((sequential.operations, sequential.bytes), (2048, 2_147_483_648));
    let latency = sequential.latency.unwrap();
    assert_eq!((latency.min, latency.mean), (Some(0.25e6), Some(1.95 * 1e6)));
    assert_eq!((latency.p95, latency.max), (Some(4e6), Some(20.5e6)));
}

#[test]
fn version_11_tells_both_rates_in_one_line() {
    let results = read(FILES_11).unwrap();
    let expected: [(&str, &str, &Metric, &[f64]); 1] =
        [("fileio random write", "write", &Metric::BandwidthBytesPerSecond, &[100.03 * 1_048_576.0])];
    assert_eq!(told(&results), expected);
    let latency = results.series[0].latency.unwrap();
    assert_eq!((latency.min, latency.p99, latency.max), (Some(0.5e6), Some(3.25e6), Some(12.75e6)));
    assert!(results.series[0].parameters.contains("file-extra-flags=directio"), "{}", results.series[0].parameters);
}

#[test]
fn a_run_that_tells_no_figures_is_counted() {
    let cpu = "sysbench 1.0.20 (using system LuaJIT 2.1.0-beta3)\n\nRunning the test with following options:\n\
               Number of threads: 1\n\nPrime numbers limit: 10000\n\nThreads started!\n\nCPU speed:\n    \
               events per second:  1133.61\n";
    let results = read(&format!("{cpu}{FILES}")).unwrap();
    assert_eq!((results.series.len(), results.left_out.values().sum::<u64>()), (3, 1));
    let error = read(cpu).unwrap_err().to_string();
    assert!(error.contains("sysbench output") && error.contains("without figures"), "{error}");
}
