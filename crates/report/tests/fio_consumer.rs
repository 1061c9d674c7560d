//! Public tools for fio read Fairlane's JSON, and what they read are the record's figures.
//!
//! `scripts/install-fio-consumer` puts them into target/fio-consumer (`make test` runs it). Where
//! that could not be done these tests say so and pass.

use crate::common;

use common::{jobs, races};
use model::record::Record;
use model::trial::{Group, Outcome};
use report::fio_json;
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

struct Consumer {
    python: PathBuf,
    packages: PathBuf,
    /// Removed with the test.
    folder: tempfile::TempDir,
}

impl Consumer {
    /// The installed readers and a folder that holds this record's JSON; `None`: not installed.
    fn with(record: &Record) -> Option<Consumer> {
        let here = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let target = std::env::var_os("CARGO_TARGET_DIR").map_or(here.join("target"), |target| here.join(target));
        let place = target.join("fio-consumer");
        if !place.join("installed").exists() {
            eprintln!("skipped: no readers of fio's JSON in {}; run scripts/install-fio-consumer", place.display());
            return None;
        }
        let versions = std::fs::read_dir(place.join("lib")).unwrap();
        let packages = versions.map(|of| of.unwrap().path().join("site-packages")).find(|path| path.exists()).unwrap();
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("race.json"), fio_json(record).unwrap()).unwrap();
        Some(Consumer { python: place.join("bin/python"), packages, folder })
    }

    fn run(&self, script: &Path, arguments: &[&str]) -> String {
        let output = Command::new(&self.python).arg(script).args(arguments).output().unwrap();
        let complaint = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{}: {complaint}", script.display());
        String::from_utf8(output.stdout).unwrap()
    }

    /// What fio-plot makes of the jobs of the file: one row.
    fn fio_plot(&self, direction: &str) -> Value {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/read_with_fio_plot.py");
        let folder = self.folder.path().to_str().unwrap();
        let rows = self.run(&script, &[self.packages.to_str().unwrap(), folder, "randrw", "16", direction]);
        let rows: Vec<Value> = serde_json::from_str(&rows).unwrap();
        assert_eq!(rows.len(), 1, "one file, one row");
        rows[0].clone()
    }

    /// What mlos-bench's script makes of the first job: a table of names and values.
    fn mlos_bench(&self) -> BTreeMap<String, String> {
        let script = "mlos_bench/config/environments/apps/fio/scripts/local/process_fio_results.py";
        let (from, to) = (self.folder.path().join("race.json"), self.folder.path().join("race.csv"));
        self.run(&self.packages.join(script), &[from.to_str().unwrap(), to.to_str().unwrap()]);
        let mut rows = csv::Reader::from_path(to).unwrap();
        rows.records().map(|row| row.unwrap()).map(|row| (row[0].to_owned(), row[1].to_owned())).collect()
    }
}

/// One lane of two jobs, two rounds.
fn record() -> Record {
    let mut record = jobs::record_of(&races::jobs());
    record.header.lanes.truncate(1);
    record
}

/// The groups of one name over the rounds that count.
fn groups<'a>(record: &'a Record, name: &str) -> Vec<&'a Group> {
    let lane = &record.header.lanes[0].name;
    let counted = record.trials.iter().filter(|trial| trial.outcome == Outcome::Ok && trial.lane == *lane);
    counted.flat_map(|trial| &trial.groups).filter(|group| group.name == name).collect()
}

fn per_second(record: &Record, name: &str, amount: fn(&Group) -> u64) -> f64 {
    let all = groups(record, name);
    all.iter().map(|of| amount(of) as f64).sum::<f64>() / all.iter().map(|of| of.seconds).sum::<f64>()
}

fn mean_latency(record: &Record, name: &str) -> f64 {
    let all = groups(record, name);
    all.iter().map(|of| of.latency_ns.unwrap().mean).sum::<f64>() / all.len() as f64
}

fn close(left: f64, right: f64) {
    assert!((left - right).abs() <= 1e-6 * right.abs().max(1.0), "{left} is not {right}");
}

#[test]
fn fio_plot_reads_rates_latencies_and_buckets_of_all_jobs() {
    let record = record();
    let Some(consumer) = Consumer::with(&record) else { return };
    let (reads, writes) = (consumer.fio_plot("read"), consumer.fio_plot("write"));
    let of = |row: &Value, key: &str| row[key].as_f64().unwrap_or_else(|| panic!("{key} in {row}"));
    assert_eq!(reads["fio_version"], "fairlane-0.1.0");
    assert_eq!((&reads["rw"], &reads["iodepth"], &reads["bs"]), (&"randrw".into(), &"16".into(), &"4k".into()));
    // fio-plot sums the rates of a file's jobs and takes the mean of their latencies.
    close(of(&reads, "iops"), per_second(&record, "mix: read", |group| group.operations));
    close(of(&reads, "bw"), per_second(&record, "mix: read", |group| group.bytes) / 1024.0);
    close(of(&reads, "lat"), mean_latency(&record, "mix: read") / 2.0);
    let sum = |amount| per_second(&record, "mix: write", amount) + per_second(&record, "log: write", amount);
    close(of(&writes, "iops"), sum(|group| group.operations));
    close(of(&writes, "bw").round(), (sum(|group| group.bytes) / 1024.0).round());
    close(of(&writes, "lat"), (mean_latency(&record, "mix: write") + mean_latency(&record, "log: write")) / 2.0);
    close(of(&reads, "cpu_usr"), 5.0);
    for job in 0..2 {
        let rows = ["latency_ns", "latency_us", "latency_ms"].map(|row| reads[row][job].as_object().unwrap().values());
        close(rows.into_iter().flatten().filter_map(Value::as_f64).sum(), 100.0);
    }
}

#[test]
fn mlos_bench_reads_percentiles_options_and_disks() {
    let record = record();
    let Some(consumer) = Consumer::with(&record) else { return };
    let table = consumer.mlos_bench();
    let of = |name: &str| -> f64 {
        let text = table.get(&format!("fio.{name}")).unwrap_or_else(|| panic!("{name} was not read"));
        text.parse().unwrap()
    };
    assert_eq!(table["fio.jobname"], "mix");
    assert_eq!(table["fio.job options.ioengine"], "libaio");
    close(of("read.iops"), per_second(&record, "mix: read", |group| group.operations));
    close(of("write.iops"), per_second(&record, "mix: write", |group| group.operations));
    // Both rounds have the same latencies, so that each round's percentiles are those of both.
    for (direction, group) in [("read", "mix: read"), ("write", "mix: write")] {
        let latency = groups(&record, group)[0].latency_ns.unwrap();
        close(of(&format!("{direction}.clat_ns.percentile.50.000000")), latency.p50.unwrap());
        close(of(&format!("{direction}.clat_ns.percentile.99.000000")), latency.p99.unwrap());
        close(of(&format!("{direction}.clat_ns.max")), latency.max);
        close(of(&format!("{direction}.clat_ns.mean")), latency.mean);
    }
    assert!(table.contains_key("fio.disk_util.name"));
}
