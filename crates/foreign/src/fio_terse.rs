//! fio's terse output of version 3, 4 and 5: a line for each job, with semicolons between its fields.

use crate::runs::{Run, Runs, Test};
use crate::text::short;
use crate::{ForeignError, Latency, Results};
use std::collections::BTreeSet;

const FORMAT: &str = "fio's terse output";
/// Fields before the first kind of operation.
const HEAD: usize = 5;
/// Fields of percentiles of a kind of operation, from the first on.
const PERCENTILES: std::ops::Range<usize> = 12..32;
const NOTE_PLACE: &str = "fio's terse output tells neither the job's options, nor when and where it ran";
const SEVERAL: &str =
    "another line of the same job, and terse output does not tell runs from clones (numjobs); use --output-format=json";

/// Whether a line of a text is of terse output.
pub(crate) fn is_one(text: &str) -> bool {
    text.lines().any(|line| version(line).is_some())
}

/// Reads the lines of terse output, whatever stands between them. Several of one name are refused.
pub(crate) fn read(text: &str) -> Result<Results, ForeignError> {
    let mut results = Results::new(FORMAT);
    let mut runs = Runs::default();
    let mut names = BTreeSet::new();
    for (number, line) in text.lines().enumerate() {
        let Some(version) = version(line) else { continue };
        let fields: Vec<&str> = line.trim().split(';').collect();
        let job = job(version, &fields);
        if let Job::Ran(name, _) | Job::Failed(name) = &job
            && !names.insert(short(name))
        {
            return Err(ForeignError::Malformed { line: number + 1, column: 1, what: SEVERAL.to_owned() });
        }
        match job {
            Job::Ran(name, kinds) => {
                if results.tool.is_empty() {
                    results.tool = fields.get(1).copied().unwrap_or_default().to_owned();
                }
                for (group, run) in kinds {
                    let test = Test { workload: short(name), group, ..Test::default() };
                    runs.of_test(test)?.push(run);
                }
            }
            Job::Failed(_) => results.leave_out("jobs that ended with an error"),
            Job::Unreadable => results.leave_out("lines that are not as terse output has them"),
        }
    }
    results.notes.push(NOTE_PLACE.to_owned());
    runs.into_series(&mut results);
    Ok(results)
}

/// The version of terse output that a line is of.
fn version(line: &str) -> Option<u8> {
    let line = line.trim_start();
    let heads = [("3;fio-", 3), ("4;fio-", 4), ("5;fio-", 5)];
    heads.into_iter().find(|(head, _)| line.starts_with(*head)).map(|(_, version)| version)
}

/// What a line tells.
enum Job<'a> {
    /// The job's name, and its runs with their groups.
    Ran(&'a str, Vec<(&'static str, Run)>),
    /// The job's name.
    Failed(&'a str),
    Unreadable,
}

fn job<'a>(version: u8, fields: &[&'a str]) -> Job<'a> {
    let [_, _, name, group_id, error, ..] = fields else { return Job::Unreadable };
    let (Ok(_), Ok(error)) = (group_id.parse::<u64>(), error.parse::<i64>()) else { return Job::Unreadable };
    if error != 0 {
        return Job::Failed(name);
    }
    match kinds(version, fields) {
        Some(kinds) => Job::Ran(name, kinds),
        None => Job::Unreadable,
    }
}

/// The kinds of operations of a job. How many a line has, the first figure of the CPU tells: it is the only one of the
/// places where a kind may begin that is in percent.
fn kinds(version: u8, fields: &[&str]) -> Option<Vec<(&'static str, Run)>> {
    let length = if version == 5 { 47 } else { 41 };
    let figures = fields.get(HEAD..)?;
    let count = (1..=4_usize).find(|count| figures.get(count * length).is_some_and(|cpu| cpu.ends_with('%')))?;
    let groups: &[&'static str] = match (version, count) {
        (_, 1) => &["total"],
        (3, 2) => &["read", "write"],
        (3, 3) => &["read", "write", "total"],
        (4 | 5, 3) => &["read", "write", "trim"],
        (4 | 5, 4) => &["read", "write", "trim", "total"],
        _ => return None,
    };
    let mut kinds = Vec::new();
    for (group, block) in groups.iter().zip(figures.chunks_exact(length)) {
        let run = run(block)?;
        if run.bytes > 0 || run.operations_per_second > 0.0 {
            kinds.push((*group, run));
        }
    }
    Some(kinds)
}

/// The run of one kind of operation; `None` where its fields are no figures.
fn run(block: &[&str]) -> Option<Run> {
    let [kib, kib_per_second, operations_per_second, milliseconds] = [0, 1, 2, 3].map(|field| figure(block, field));
    let (bytes_per_second, operations_per_second) = (kib_per_second? * 1024.0, operations_per_second?);
    Some(Run {
        operations_per_second,
        bytes_per_second,
        block: bytes_per_second / operations_per_second,
        // A cast takes what is too large to the largest.
        bytes: (kib? * 1024.0) as u64,
        seconds: milliseconds? / 1000.0,
        latency: latency(block),
        ..Run::default()
    })
}

/// Latency, which stands in microseconds without their fractions: a 0 tells nothing.
fn latency(block: &[&str]) -> Option<Latency> {
    let told = |figure: Option<f64>| figure.map(|figure| figure * 1000.0).filter(|figure| *figure > 0.0);
    let marks: Vec<(f64, f64)> = block.get(PERCENTILES)?.iter().filter_map(|field| mark(field)).collect();
    let at = |percentile: f64| {
        told(marks.iter().find(|(mark, _)| (mark - percentile).abs() < 1e-6).map(|(_, latency)| *latency))
    };
    // The total latency is left out where fio was told not to take it; the one from the submission on stands before.
    let first = if told(figure(block, 34)).is_some() { 32 } else { 8 };
    let latency = Latency {
        min: told(figure(block, first)),
        mean: told(figure(block, first + 2)),
        p50: at(50.0),
        p95: at(95.0),
        p99: at(99.0),
        p999: at(99.9),
        max: told(figure(block, first + 1)),
    };
    (latency != Latency::default()).then_some(latency)
}

/// A percentile, and its latency: `99.000000%=17`.
fn mark(field: &str) -> Option<(f64, f64)> {
    let (mark, latency) = field.split_once("%=")?;
    Some((mark.parse().ok()?, positive(latency)?))
}

fn figure(block: &[&str], field: usize) -> Option<f64> {
    positive(block.get(field)?)
}

/// A finite figure that is not below 0, and whose multiples stay finite.
fn positive(text: &str) -> Option<f64> {
    text.parse::<f64>().ok().filter(|figure| (0.0..1e300).contains(figure))
}
