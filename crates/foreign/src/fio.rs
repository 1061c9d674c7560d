//! fio's JSON and JSON+: one document or several, alone or among other lines.

use crate::runs::{Run, Runs, Test};
use crate::text::{short, shortened};
use crate::{ForeignError, Latency, Results, json, number};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, UNIX_EPOCH};

const FORMAT: &str = "fio JSON";
/// The key by which fio's documents are known.
const VERSION: &str = "fio version";
/// The kinds of operations by their keys, and the groups that they become.
const DIRECTIONS: [(&str, &str); 4] = [("read", "read"), ("write", "write"), ("trim", "trim"), ("mixed", "total")];
/// Options that tell how a job was done, each with the names that fio knows it by.
const OPTIONS: [&[&str]; 9] = [
    &["rw", "readwrite"],
    &["bs", "blocksize"],
    &["iodepth"],
    &["numjobs"],
    &["direct"],
    &["ioengine"],
    &["size"],
    &["runtime", "timeout"],
    &["fsync"],
];
/// Options that say where files and logs lie and how a job is told: they make no other work.
const NO_WORK: [&str; 22] = [
    "description",
    "directory",
    "eta",
    "filename",
    "filename_format",
    "group_reporting",
    "log_avg_msec",
    "log_compression",
    "log_hist_msec",
    "log_max_value",
    "log_offset",
    "log_store_compressed",
    "log_unix_epoch",
    "name",
    "output",
    "output-format",
    "per_job_logs",
    "status-interval",
    "write_bw_log",
    "write_hist_log",
    "write_iops_log",
    "write_lat_log",
];
/// Most options of a job.
const MOST_OPTIONS: usize = 200;
const SYNC_NOTE: &str = "the latencies of writes leave out the fsync or fdatasync behind them, which the rate has";
/// The job that fio adds for the sum of all clients.
const ALL_CLIENTS: &str = "All clients";
/// Most groups of jobs of one name whose last runs are looked at.
const MOST_GROUPS: usize = 64;
/// Most disks that are named.
const MOST_DISKS: usize = 16;
const NOTE_PLACE: &str = "fio tells neither the filesystem nor the machine and its kernel";
const NOTE_LATENCY: &str = "percentiles are of fio's completion latency (clat), the other latencies of the total (lat)";
/// Moments behind the year 9999 have no place in RFC 3339.
const LAST_SECOND: u64 = 253_402_300_799;

static NOTHING: Value = Value::Null;

/// Whether a text holds a document of fio: an object with its version, maybe behind warnings.
pub(crate) fn is_one(text: &str) -> bool {
    let key = text.find("\"fio version\"");
    match (begins(text, 0), key) {
        (Some(start), Some(key)) => text.get(start..key).is_some_and(|before| depth(before) == 1),
        _ => false,
    }
}

/// Reads every document of a text. Those with the same jobs are the runs of one series each, in their order.
pub(crate) fn read(text: &str) -> Result<Results, ForeignError> {
    let mut results = Results::new(FORMAT);
    results.note(NOTE_PLACE);
    let (mut runs, mut from) = (Runs::default(), 0);
    while let Some(start) = begins(text, from) {
        let (document, end) = json::value_at(text, start)?;
        from = end;
        if document.get(VERSION).is_some() {
            describe(&document, &mut results);
            gather(&document, &mut results, &mut runs)?;
        }
    }
    runs.into_series(&mut results);
    Ok(results)
}

/// Where the next document begins: a brace before a key. Texts for people have none.
fn begins(text: &str, from: usize) -> Option<usize> {
    let bytes = text.as_bytes();
    let mut at = from;
    loop {
        let start = at + bytes.get(at..)?.iter().position(|byte| *byte == b'{')?;
        let next = bytes.get(start + 1..)?.iter().find(|byte| !byte.is_ascii_whitespace())?;
        if *next == b'"' {
            return Some(start);
        }
        at = start + 1;
    }
}

/// How many objects are open at the end of a piece of JSON.
fn depth(json: &str) -> usize {
    let (mut depth, mut quoted, mut escaped) = (0_usize, false, false);
    for byte in json.bytes() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if quoted => escaped = true,
            b'"' => quoted = !quoted,
            b'{' if !quoted => depth += 1,
            b'}' if !quoted => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    depth
}

/// What a document tells of all its jobs: of several documents, the first tells it.
fn describe(document: &Value, results: &mut Results) {
    if results.tool.is_empty() {
        results.tool = json::text(document, VERSION).to_owned();
    }
    if results.ran.is_empty() {
        let seconds = match json::count(document, "timestamp_ms") {
            0 => json::count(document, "timestamp"),
            milliseconds => milliseconds / 1000,
        };
        results.ran = moment(seconds).unwrap_or_default();
    }
    if results.facts.disk.is_empty() {
        let names = list(document, "disk_util").iter().map(|disk| json::text(disk, "name"));
        let names: Vec<&str> = names.filter(|name| !name.is_empty()).take(MOST_DISKS).collect();
        results.facts.disk = names.join(", ");
    }
}

/// A moment in seconds since 1970 as RFC 3339 in UTC; `None` where it is told by 0, or behind the year 9999.
fn moment(seconds: u64) -> Option<String> {
    let known = seconds > 0 && seconds <= LAST_SECOND;
    known.then(|| humantime::format_rfc3339_seconds(UNIX_EPOCH + Duration::from_secs(seconds)).to_string())
}

/// When a document was told, in milliseconds since 1970: the earliest and the latest moment. A document of clients
/// tells when they began instead.
fn told(document: &Value) -> Option<(u64, u64)> {
    if document.get("client_stats").is_some() {
        return None;
    }
    match (json::count(document, "timestamp_ms"), json::count(document, "timestamp")) {
        (0, 0) => None,
        (0, seconds) => {
            let earliest = seconds.saturating_mul(1000);
            Some((earliest, earliest.saturating_add(999)))
        }
        (exact, _) => Some((exact, exact)),
    }
}

fn list<'a>(value: &'a Value, key: &str) -> &'a [Value] {
    value.get(key).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default()
}

/// A test of one document, and the group of jobs that ran it at once.
type Part = (Test, u64);

/// Gathers the jobs of one document, where those of one name and group ran at once and are added up.
fn gather(document: &Value, results: &mut Results, runs: &mut Runs) -> Result<(), ForeignError> {
    let global = global_options(document);
    let clients = list(document, "client_stats");
    let hosts = clients.iter().filter(|job| !is_sum(job)).map(|job| json::text(job, "hostname"));
    let several = hosts.collect::<BTreeSet<&str>>().len() > 1;
    let (mut order, mut parts, mut failed) = (Vec::new(), BTreeMap::new(), BTreeSet::new());
    for job in list(document, "jobs").iter().chain(clients) {
        let options = Options::new(job, global);
        let host = if several && !is_sum(job) { json::text(job, "hostname") } else { "" };
        let (workload, parameters) = (short(json::text(job, "jobname")), options.told(host));
        let group_id = json::count(job, "groupid");
        if options.syncs() {
            results.note(SYNC_NOTE);
        }
        if json::number(job, "error").is_some_and(|error| error != 0.0) {
            results.leave_out("jobs that ended with an error");
            failed.insert((workload, parameters, group_id));
            continue;
        }
        for (direction, (key, group)) in DIRECTIONS.into_iter().enumerate() {
            let block = options.block(direction);
            let Some(run) = job.get(key).and_then(|operations| run(operations, block, results)) else { continue };
            let test =
                Test { workload: workload.clone(), parameters: parameters.clone(), group, contestant: String::new() };
            add(&mut order, &mut parts, (test, group_id), run);
        }
    }
    for part in order {
        let of = (part.0.workload.clone(), part.0.parameters.clone(), part.1);
        if let (Some(mut run), false) = (parts.remove(&part), failed.contains(&of)) {
            (run.told, run.group_id) = (told(document), part.1);
            keep(runs.of_test(part.0)?, run, results);
        }
    }
    Ok(())
}

fn is_sum(job: &Value) -> bool {
    json::text(job, "jobname") == ALL_CLIENTS && job.get("job options").is_none()
}

/// Adds a job to those of its name that ran at the same time. Their latencies cannot be put together.
fn add(order: &mut Vec<Part>, parts: &mut BTreeMap<Part, Run>, part: Part, run: Run) {
    let Some(sum) = parts.get_mut(&part) else {
        order.push(part.clone());
        parts.insert(part, run);
        return;
    };
    sum.operations_per_second += run.operations_per_second;
    sum.bytes_per_second += run.bytes_per_second;
    sum.operations = sum.operations.saturating_add(run.operations);
    sum.bytes = sum.bytes.saturating_add(run.bytes);
    sum.seconds = sum.seconds.max(run.seconds);
    sum.latency = None;
}

/// Puts a run behind the ones before, or in the place of the last of its group of jobs where both are figures of one
/// run: `--status-interval` tells them again and again.
fn keep(runs: &mut Vec<Run>, run: Run, results: &mut Results) {
    match runs.iter_mut().rev().take(MOST_GROUPS).find(|before| before.group_id == run.group_id) {
        Some(before) if goes_on(before, &run) => {
            results.leave_out("figures of a run that went on (--status-interval)");
            *before = run;
        }
        _ => runs.push(run),
    }
}

/// Whether a run is the one before, told later: it began before that was told, or nothing of it is new.
fn goes_on(before: &Run, run: &Run) -> bool {
    let (Some((earliest, _)), Some((_, latest))) = (before.told, run.told) else { return false };
    // A cast takes what is too large to the largest.
    let began = latest.saturating_sub((run.seconds * 1000.0) as u64);
    let same = before.latency.is_some()
        && before.latency == run.latency
        && (before.operations, before.bytes) == (run.operations, run.bytes);
    began < earliest || same
}

/// One kind of operation of a job; `None` where the job did none. `block`: bytes of an operation, as an option tells.
fn run(operations: &Value, block: Option<f64>, results: &mut Results) -> Option<Run> {
    // Up to version 2.20, `io_bytes` counts KiB.
    let unit = if operations.get("io_kbytes").is_some() { 1 } else { 1024 };
    let bytes = json::count(operations, "io_bytes").saturating_mul(unit);
    let count = json::count(operations, "total_ios");
    let operations_per_second = json::number(operations, "iops").unwrap_or(0.0);
    let bytes_per_second = match json::number(operations, "bw_bytes") {
        Some(exact) => exact,
        None => json::number(operations, "bw").unwrap_or(0.0) * 1024.0,
    };
    if bytes == 0 && count == 0 && operations_per_second == 0.0 {
        return None;
    }
    let measured = || if count > 0 { bytes as f64 / count as f64 } else { bytes_per_second / operations_per_second };
    Some(Run {
        operations_per_second,
        bytes_per_second,
        block: block.unwrap_or_else(measured),
        operations: count,
        bytes,
        seconds: json::number(operations, "runtime").map_or(0.0, |milliseconds| milliseconds.max(0.0) / 1000.0),
        latency: latency(operations, results),
        ..Run::default()
    })
}

/// Latency of one kind of operation: of its whole way where that is told, else from its submission on. Up to version
/// 2.x it is told in microseconds.
fn latency(operations: &Value, results: &mut Results) -> Option<Latency> {
    let old = operations.get("lat_ns").is_none() && operations.get("clat_ns").is_none();
    let (unit, total, completion) = if old { (1000.0, "lat", "clat") } else { (1.0, "lat_ns", "clat_ns") };
    let [total, completion] = [total, completion].map(|key| operations.get(key).unwrap_or(&NOTHING));
    let mean = |of: &Value| json::number(of, "mean").is_some_and(|mean| mean > 0.0);
    let spread = if mean(total) { total } else { completion };
    let (marks, of_total) = match Marks::read(total, !old) {
        Some(marks) => (marks, true),
        None => (Marks::read(completion, !old).unwrap_or_default(), false),
    };
    let good = |figure: &f64| figure.is_finite() && *figure > 0.0;
    let told = |figure: Option<f64>| figure.map(|figure| figure * unit).filter(good);
    let latency = Latency {
        min: told(json::number(spread, "min")),
        mean: told(json::number(spread, "mean")),
        p50: told(marks.at(50.0)),
        p95: told(marks.at(95.0)),
        p99: told(marks.at(99.0)),
        p999: told(marks.at(99.9)),
        max: told(json::number(spread, "max")),
    };
    if latency.p50.is_some() && latency.mean.is_some() && mean(total) != of_total {
        results.note(NOTE_LATENCY);
    }
    (latency != Latency::default()).then_some(latency)
}

/// Percentiles of a latency, and how often each was met.
#[derive(Default)]
struct Marks {
    /// Percentiles and their latencies.
    percentiles: Vec<(f64, f64)>,
    /// Latencies in their order, and how many operations took each.
    bins: Vec<(f64, f64)>,
}

impl Marks {
    /// `None` where there are none. `bins`: whether those of JSON+ are latencies and no mere numbers of bins.
    fn read(latency: &Value, bins: bool) -> Option<Marks> {
        let mut marks = Marks { percentiles: figures(latency, "percentile"), bins: Vec::new() };
        if bins {
            marks.bins = figures(latency, "bins");
            marks.bins.retain(|(_, count)| *count > 0.0);
            marks.bins.sort_by(|one, other| one.0.total_cmp(&other.0));
        }
        let some = !marks.bins.is_empty() || marks.percentiles.iter().any(|(_, latency)| *latency > 0.0);
        some.then_some(marks)
    }

    /// A percentile as it is told, or else by the bins: the latency up to which so many of the operations took.
    fn at(&self, percentile: f64) -> Option<f64> {
        let told = self.percentiles.iter().find(|(mark, _)| (mark - percentile).abs() < 1e-6);
        if let Some((_, latency)) = told {
            return Some(*latency);
        }
        let all: f64 = self.bins.iter().map(|(_, count)| count).sum();
        let mut met = 0.0;
        let reached = self.bins.iter().find(|(_, count)| {
            met += count;
            met >= percentile / 100.0 * all
        });
        reached.map(|(latency, _)| *latency)
    }
}

/// An object whose keys are figures too.
fn figures(value: &Value, key: &str) -> Vec<(f64, f64)> {
    let Some(object) = value.get(key).and_then(Value::as_object) else { return Vec::new() };
    let pair = |(key, value): (&String, &Value)| Some((key.parse::<f64>().ok()?, value.as_f64()?));
    object.iter().filter_map(pair).filter(|(key, value)| key.is_finite() && value.is_finite()).collect()
}

/// The options of all jobs of a document.
fn global_options(document: &Value) -> &Value {
    match document.get("global options") {
        // Several clients have a set each, and it is not told whose it is.
        Some(Value::Array(sets)) => match sets.split_first() {
            Some((first, others)) if others.iter().all(|other| other == first) => first,
            _ => &NOTHING,
        },
        Some(options) => options,
        None => &NOTHING,
    }
}

/// The options of a job: its own before those of all.
struct Options<'a> {
    own: &'a Value,
    global: &'a Value,
}

impl<'a> Options<'a> {
    fn new(job: &'a Value, global: &'a Value) -> Options<'a> {
        let own = job.get("job options").unwrap_or(&NOTHING);
        Options { own, global: if is_sum(job) { &NOTHING } else { global } }
    }

    /// An option by one of its names; empty where it is not given.
    fn get(&self, names: &[&str]) -> &'a str {
        let (own, global) = (self.own, self.global);
        let named = |options: &'a Value| names.iter().map(move |name| json::text(options, name));
        named(own).chain(named(global)).find(|value| !value.is_empty()).unwrap_or_default()
    }

    /// How the job was done, in one line.
    fn told(&self, host: &str) -> String {
        let mut told = Vec::new();
        for names in OPTIONS {
            let value = self.get(names);
            if let (Some(name), false) = (names.first(), value.is_empty()) {
                told.push(format!("{name}={}", shortened(value)));
            }
        }
        told.extend(self.others());
        if !host.is_empty() {
            told.push(format!("host={}", shortened(host)));
        }
        shortened(&told.join(" "))
    }

    /// Whether it flushes between writes.
    fn syncs(&self) -> bool {
        ["fsync", "fdatasync"].iter().any(|name| !["", "0"].contains(&self.get(&[*name])))
    }

    /// All other options that may make other work of it, by their names.
    fn others(&self) -> Vec<String> {
        let is_other = |name: &str| !NO_WORK.contains(&name) && !OPTIONS.iter().any(|names| names.contains(&name));
        let mut all: BTreeMap<&str, String> = BTreeMap::new();
        for (name, value) in [self.global, self.own].into_iter().filter_map(Value::as_object).flatten() {
            let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            if is_other(name) {
                all.insert(name, value);
            }
        }
        let told = |(name, value): (&str, String)| match value.as_str() {
            "" => short(name),
            value => format!("{}={}", short(name), shortened(value)),
        };
        all.into_iter().take(MOST_OPTIONS).map(told).collect()
    }

    /// Bytes of an operation of one of [`DIRECTIONS`]; `None` where no option tells one size for it. Of sizes for
    /// reads, writes and trims (`4k,64k`) the last also holds for those behind.
    fn block(&self, direction: usize) -> Option<f64> {
        let given = self.get(&["bs", "blocksize"]);
        let sizes: Vec<&str> = given.split(',').take(DIRECTIONS.len()).collect();
        let size = match sizes.as_slice() {
            [one] => one,
            several if direction < 3 => several.get(direction).or(several.last())?,
            _ => return None,
        };
        // fio counts in 1024 whatever way the unit is written.
        number::size_bytes(size.trim().trim_end_matches(['b', 'B', 'i'])).filter(|size| *size > 0.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn moments_are_told_in_utc() {
        for (seconds, told) in [
            (1, "1970-01-01T00:00:01Z"),
            (951_782_399, "2000-02-28T23:59:59Z"),
            (951_868_799, "2000-02-29T23:59:59Z"),
            (1_704_067_199, "2023-12-31T23:59:59Z"),
            (1_795_969_075, "2026-11-29T16:17:55Z"),
            (4_107_542_400, "2100-03-01T00:00:00Z"),
            (LAST_SECOND, "9999-12-31T23:59:59Z"),
        ] {
            assert_eq!(moment(seconds).as_deref(), Some(told));
        }
        assert_eq!((moment(0), moment(LAST_SECOND + 1)), (None, None));
    }

    #[test]
    fn every_option_that_makes_other_work_is_told() {
        let own = json!({ "rw": "read", "rate_iops": "3000", "filename": "/x", "fdatasync": "1" });
        assert_eq!(Options { own: &own, global: &NOTHING }.told(""), "rw=read fdatasync=1 rate_iops=3000");
        let long = |zones: &str| {
            let own = json!({ "rw": "read", "bssplit": "4k/50:".repeat(60), "zonemode": zones });
            Options { own: &own, global: &NOTHING }.told("")
        };
        assert_ne!(long("none"), long("zbd"));
        assert!(long("none").chars().count() <= 200);
        // One option alone may be long.
        let split = |last: &str| {
            let own = json!({ "rw": "read", "bssplit": "4k/50:".repeat(60) + last });
            Options { own: &own, global: &NOTHING }.told("")
        };
        assert_ne!(split("8k/50"), split("64k/50"));
    }

    #[test]
    fn a_block_size_is_that_of_its_direction() {
        let block = |bs: &str, direction| {
            let own = json!({ "bs": bs });
            Options { own: &own, global: &NOTHING }.block(direction)
        };
        assert_eq!([0, 1, 2, 3].map(|direction| block("4k", direction)), [Some(4096.0); 4]);
        let both = [0, 1, 2, 3].map(|direction| block("4k,64KiB", direction));
        assert_eq!(both, [Some(4096.0), Some(65_536.0), Some(65_536.0), None]);
        assert_eq!((block(",8k", 0), block(",8k", 1), block("64kb", 0)), (None, Some(8192.0), Some(65_536.0)));
        assert_eq!((block("", 0), block("huge", 0), block("0", 0)), (None, None, None));
    }

    #[test]
    fn percentiles_of_bins_are_those_that_fio_tells() {
        let bins = json!({ "bins": { "300": 1, "100": 90, "200": 9, "x": 7 } });
        let marks = Marks::read(&bins, true).unwrap();
        let told = [50.0, 90.0, 95.0, 99.0, 99.9].map(|mark| marks.at(mark));
        assert_eq!(told, [100.0, 100.0, 200.0, 200.0, 300.0].map(Some));
        assert!(Marks::read(&bins, false).is_none() && Marks::read(&json!({ "bins": {} }), true).is_none());
    }
}
