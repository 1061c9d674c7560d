//! fio's JSON and terse output: each figure is the one that stands in the file.

use foreign::{ForeignError, Latency, Metric, Results, Series, is_known, read};
use serde_json::{Value, json};

const JSON: &str = include_str!("fixtures/fio-3.33.json");
const LOOP: &str = include_str!("fixtures/fio-3.33-loop.json");
const NORMAL_AND_JSON_PLUS: &str = include_str!("fixtures/fio-3.33-normal-json-plus.txt");
const OLD: &str = include_str!("fixtures/fio-2.16.json");
const CLIENT: &str = include_str!("fixtures/fio-3.33-client.json");
const CLIENTS: &str = include_str!("fixtures/fio-clients.json");
const TERSE_3: &str = include_str!("fixtures/fio-3.33-terse-3.txt");
const TERSE_4: &str = include_str!("fixtures/fio-3.33-terse-4.txt");
const TERSE_5: &str = include_str!("fixtures/fio-3.33-terse-5.txt");

/// The series of a test, which is the only one of its name and group.
fn series<'a>(results: &'a Results, workload: &str, group: &str) -> &'a Series {
    let of = |series: &&Series| series.workload == workload && series.group == group;
    let found: Vec<&Series> = results.series.iter().filter(of).collect();
    let [one] = found.as_slice() else { panic!("{workload}, {group}: {results:#?}") };
    one
}

/// Nanoseconds of min, mean, p50, p95, p99, p99.9 and max.
fn latency([min, mean, p50, p95, p99, p999, max]: [f64; 7]) -> Option<Latency> {
    let [min, mean, p50, p95, p99, p999, max] = [min, mean, p50, p95, p99, p999, max].map(Some);
    Some(Latency { min, mean, p50, p95, p99, p999, max })
}

#[test]
fn a_document_gives_each_job_and_adds_up_those_of_one_name() {
    let results = read(JSON).unwrap();
    assert_eq!((results.format, results.tool.as_str()), ("fio JSON", "fio-3.33"));
    assert_eq!(results.ran, "2026-11-29T16:17:55Z");
    assert_eq!((results.series.len(), results.left_out.len()), (2, 0));

    let small = series(&results, "small", "read");
    assert_eq!((&small.metric, &small.runs), (&Metric::OperationsPerSecond, &vec![64_000.0]));
    assert_eq!((small.operations, small.bytes, small.seconds), (64, 262_144, 0.001));
    assert_eq!(small.parameters, "rw=randread bs=4k ioengine=psync size=256k");
    assert_eq!(small.latency, latency([1078.0, 2068.625, 1400.0, 2448.0, 22_656.0, 22_656.0, 23_880.0]));

    let large = series(&results, "large", "write");
    assert_eq!((&large.metric, &large.runs), (&Metric::BandwidthBytesPerSecond, &vec![524_288_000.0]));
    assert_eq!((large.operations, large.bytes, large.seconds), (4, 524_288, 0.001));
    assert_eq!(large.parameters, "rw=write bs=128k numjobs=2 ioengine=psync size=256k fsync=1");
    assert_eq!(large.latency, None, "latencies of two jobs cannot be put together");
}

#[test]
fn documents_one_after_another_are_the_runs_of_one_series() {
    let results = read(LOOP).unwrap();
    let both = series(&results, "loop", "write");
    assert_eq!((both.runs.as_slice(), both.operations), ([64_000.0, 64_000.0].as_slice(), 128));
    assert_eq!((both.bytes, both.seconds, both.latency), (524_288, 0.002, None));
    assert_eq!(results.ran, "2026-11-29T16:17:56Z");
    assert_eq!(results.left_out.len(), 0);
}

#[test]
fn json_plus_is_read_among_the_output_for_people_and_its_bins_give_missing_percentiles() {
    // Without their percentiles, the bins tell the same.
    for text in [NORMAL_AND_JSON_PLUS.to_owned(), NORMAL_AND_JSON_PLUS.replace("\"percentile\"", "\"other\"")] {
        let results = read(&text).unwrap();
        let (reads, writes) = (series(&results, "mixed", "read"), series(&results, "mixed", "write"));
        assert_eq!((&reads.runs, &writes.runs), (&vec![15_000.0], &vec![17_000.0]));
        assert_eq!(reads.latency, latency([14_406.0, 33_809.6, 18_304.0, 33_024.0, 33_024.0, 33_024.0, 217_024.0]));
        let slow = 31_360.0;
        assert_eq!(writes.latency, latency([10_184.0, 19486.058824, 17_536.0, slow, slow, slow, 33_030.0]));
        assert_eq!(reads.parameters, "rw=randrw bs=8k iodepth=4 ioengine=io_uring size=256k");
        assert!(results.notes.iter().any(|note| note.contains("clat")), "{:?}", results.notes);
    }
}

#[test]
fn version_2_counts_kibibytes_and_microseconds() {
    let results = read(OLD).unwrap();
    assert_eq!((results.tool.as_str(), results.ran.as_str()), ("fio-2.16", "2017-07-14T02:40:00Z"));
    assert_eq!(results.facts.disk, "dm-0, sda");
    let reads = series(&results, "old", "read");
    assert_eq!((&reads.metric, &reads.runs), (&Metric::OperationsPerSecond, &vec![100.0]));
    assert_eq!((reads.operations, reads.bytes, reads.seconds), (1000, 4_096_000, 10.0));
    assert_eq!(reads.latency, latency([22e3, 82_250.0, 77e3, 151e3, 402e3, 860e3, 905e3]));
    assert_eq!(reads.parameters, "rw=randrw bs=4k,64k iodepth=8 direct=1 ioengine=libaio runtime=10");
    let writes = series(&results, "old", "write");
    assert_eq!((&writes.metric, &writes.runs), (&Metric::BandwidthBytesPerSecond, &vec![6_553_600.0]));
    assert_eq!((writes.bytes, writes.latency), (65_536_000, None));
}

#[test]
fn clients_are_told_apart_and_their_sum_stands_beside_them() {
    let results = read(CLIENT).unwrap();
    let alone = series(&results, "served", "read");
    assert_eq!((alone.runs.as_slice(), alone.parameters.contains("host=")), ([64_000.0].as_slice(), false));

    let results = read(CLIENTS).unwrap();
    let told: Vec<(&str, &str, f64)> = results
        .series
        .iter()
        .map(|series| (series.workload.as_str(), series.parameters.as_str(), series.runs[0]))
        .collect();
    let expected = [
        ("shared", "rw=randread bs=4k direct=1 host=host-a", 1000.0),
        ("shared", "rw=randread bs=4k direct=1 host=host-b", 2000.0),
        ("All clients", "", 3000.0),
    ];
    assert_eq!(told, expected);
    assert_eq!(results.series[2].latency.unwrap().mean, Some(13_333.5));
}

/// A document that was told at a moment.
fn document(milliseconds: u64, jobs: &[Value]) -> String {
    let document = json!({
        "fio version": "fio-3.36", "timestamp": milliseconds / 1000, "timestamp_ms": milliseconds, "jobs": jobs,
    });
    format!("{document:#}\n")
}

/// A job that did 4 KiB reads for some milliseconds.
fn job(name: &str, group_id: u64, error: u64, reads: u64, milliseconds: u64) -> Value {
    let rate = |count: u64| count as f64 * 1000.0 / milliseconds as f64;
    json!({
        "jobname": name, "groupid": group_id, "error": error, "job options": { "bs": "4k" },
        "read": {
            "io_bytes": reads * 4096, "io_kbytes": reads * 4, "bw_bytes": rate(reads * 4096), "iops": rate(reads),
            "runtime": milliseconds, "total_ios": reads, "lat_ns": { "min": 1, "mean": 5.5, "max": 9 },
        },
    })
}

fn runs(text: &str) -> (Vec<f64>, u64) {
    let results = read(text).unwrap();
    (series(&results, "a", "read").runs.clone(), results.left_out.values().sum())
}

#[test]
fn figures_that_are_told_again_and_again_are_of_one_run() {
    let told = |moment: u64, reads: u64| document(1_000_000 + moment, &[job("a", 0, 0, reads, moment)]);
    let on_and_on = told(1000, 100) + &told(2000, 300) + &told(3000, 900);
    assert_eq!(runs(&on_and_on), (vec![300.0], 2));
    // A job that had ended stands there unchanged.
    let ended = job("a", 0, 0, 500, 1000);
    let again = document(1_002_000, std::slice::from_ref(&ended)) + &document(1_009_000, &[ended]);
    assert_eq!(runs(&again), (vec![500.0], 1));
    // The second began when the first had been told.
    let [first, second] = [500, 700].map(|reads| job("a", 0, 0, reads, 2000));
    let one_by_one = document(1_002_000, &[first]) + &document(1_004_000, &[second]);
    assert_eq!(runs(&one_by_one), (vec![250.0, 350.0], 0));
}

#[test]
fn jobs_of_one_name_are_added_up_only_where_they_ran_at_once() {
    let at_once = document(9_000_000, &[job("a", 0, 0, 100, 1000), job("a", 0, 0, 300, 1000)]);
    assert_eq!(runs(&at_once), (vec![400.0], 0));
    let in_turn = document(9_000_000, &[job("a", 0, 0, 100, 1000), job("a", 1, 0, 300, 1000)]);
    assert_eq!(runs(&in_turn), (vec![100.0, 300.0], 0));
}

#[test]
fn a_job_that_failed_takes_those_with_it_that_it_belongs_to() {
    let jobs = [job("a", 0, 0, 100, 1000), job("a", 0, 5, 300, 1000), job("b", 0, 0, 200, 1000)];
    let results = read(&document(9_000_000, &jobs)).unwrap();
    let told: Vec<&str> = results.series.iter().map(|series| series.workload.as_str()).collect();
    assert_eq!((told, results.left_out.get("jobs that ended with an error")), (vec!["b"], Some(&1)));
}

#[test]
fn without_a_block_size_the_measured_one_decides() {
    let mut large = job("a", 0, 0, 100, 1000);
    large["job options"] = json!({ "bssplit": "64k/50:128k/50" });
    large["read"]["io_bytes"] = json!(100 * 98_304);
    large["read"]["bw_bytes"] = json!(100 * 98_304);
    let results = read(&document(9_000_000, &[large])).unwrap();
    let series = series(&results, "a", "read");
    assert_eq!((&series.metric, &series.runs), (&Metric::BandwidthBytesPerSecond, &vec![9_830_400.0]));
}

#[test]
fn a_file_that_ends_too_early_is_told_by_its_last_line() {
    let cut = &JSON[..JSON.len() / 2];
    let Err(ForeignError::Malformed { line, what, .. }) = read(cut) else { panic!("it was read") };
    assert_eq!(line, cut.matches('\n').count() + 1);
    assert!(what.contains("ends in the middle of its JSON"), "{what}");
    let Err(ForeignError::Malformed { line, what, .. }) = read(&JSON.replacen("64000.000000", "-nan", 1)) else {
        panic!("it was read")
    };
    let before = &JSON[..JSON.find("64000.000000").unwrap()];
    assert_eq!(line, before.matches('\n').count() + 1);
    assert!(what.contains("no JSON"), "{what}");
}

#[test]
fn the_output_for_people_is_known_and_the_better_one_named() {
    let begins = NORMAL_AND_JSON_PLUS.find("{\n").unwrap();
    let ends = NORMAL_AND_JSON_PLUS.rfind("\n}\n").unwrap() + 3;
    let text = NORMAL_AND_JSON_PLUS[..begins].to_owned() + &NORMAL_AND_JSON_PLUS[ends..];
    assert!(is_known(&text));
    let error = read(&text).unwrap_err();
    assert!(matches!(error, ForeignError::ForPeople(what) if what.contains("--output-format=json")), "{error}");
}

#[test]
fn terse_version_3_tells_reads_and_writes() {
    let results = read(TERSE_3).unwrap();
    assert_eq!((results.format, results.tool.as_str(), results.series.len()), ("fio's terse output", "fio-3.33", 2));
    let (reads, writes) = (series(&results, "terse", "read"), series(&results, "terse", "write"));
    assert_eq!((&reads.metric, &reads.runs), (&Metric::OperationsPerSecond, &vec![29_000.0]));
    assert_eq!((reads.bytes, reads.seconds, reads.operations), (116 * 1024, 0.001, 0));
    assert_eq!(reads.latency, latency([1e3, 2.377862 * 1000.0, 1e3, 11e3, 17e3, 17e3, 17e3]));
    assert_eq!(writes.runs, [35_000.0]);
    assert_eq!(writes.latency, latency([1e3, 2.519629 * 1000.0, 2e3, 3e3, 8e3, 8e3, 8e3]));
}

#[test]
fn terse_version_4_and_5_have_trims_and_more_fields() {
    let results = read(TERSE_4).unwrap();
    let reads = series(&results, "terse", "read");
    assert_eq!((results.series.len(), reads.runs.as_slice()), (1, [32_000.0].as_slice()));
    let told = reads.latency.unwrap();
    assert_eq!((told.min, told.mean, told.max), (None, Some(1.291422 * 1000.0), Some(12e3)));

    let results = read(TERSE_5).unwrap();
    let writes = series(&results, "terse", "write");
    assert_eq!((&writes.metric, &writes.runs), (&Metric::BandwidthBytesPerSecond, &vec![1_048_576_000.0]));
    assert_eq!(writes.latency, latency([31e3, 65.176875 * 1000.0, 34e3, 132e3, 132e3, 132e3, 132e3]));
}

#[test]
fn terse_lines_of_one_name_are_refused_and_failed_jobs_are_left_out() {
    let other = TERSE_3.replace(";terse;", ";other;").replace(";29000;", ";30000;");
    let failed = TERSE_3.replace(";terse;0;0;", ";terse;0;5;");
    let failed_third = failed.replace(";terse;", ";third;");
    let results = read(&format!("{TERSE_3}{failed_third}{other}3;fio-3.33;short;0;0;1\n")).unwrap();
    assert_eq!(series(&results, "terse", "read").runs, [29_000.0]);
    assert_eq!(series(&results, "other", "read").runs, [30_000.0]);
    assert_eq!(results.left_out.values().sum::<u64>(), 2);
    for second in [TERSE_3, failed.as_str()] {
        let Err(ForeignError::Malformed { line, what, .. }) = read(&format!("{TERSE_3}{other}{second}")) else {
            panic!("it was read")
        };
        assert!(line == 3 && what.contains("--output-format=json"), "line {line}: {what}");
    }
    assert!(matches!(read(&failed), Err(ForeignError::Nothing { format: "fio's terse output", .. })));
}

#[test]
fn a_terse_line_with_one_figure_for_all_is_a_total() {
    let fields: Vec<&str> = TERSE_3.trim_end().split(';').collect();
    let unified = [&fields[..46], &fields[87..]].concat().join(";");
    let results = read(&unified).unwrap();
    assert_eq!(results.series.len(), 1);
    assert_eq!(series(&results, "terse", "total").runs, [29_000.0]);
}
