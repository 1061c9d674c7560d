//! mmtests' JSON: what `compare-mmtests.pl --json-export` writes, and what `extract-mmtests.pl --print-json` prints.

use crate::text::short;
use crate::{ForeignError, MOST_RUNS, MOST_SERIES, Metric, Results, Series, json, phoronix};
use serde_json::Value;

const FORMAT: &str = "mmtests JSON";
/// What is written for a unit that the file does not tell.
const UNKNOWN: &str = "unknown unit";
/// Keys of mmtests, in whatever order Perl writes them: a beginning of a file has at least one.
const KEYS: [&str; 7] = [
    "\"_ResultData\"",
    "\"_ExtractModules\"",
    "\"_ModuleName\"",
    "\"_PreferredVal\"",
    "\"_PlotYaxis\"",
    "\"_SummaryData\"",
    "\"_ResultsRatioTable\"",
];

const NO_RESULTS: &str = "a part without results";
const NO_FIGURE: &str = "a sample that is no figure above 0";
const NO_DIRECTION: &str = "an operation of which neither _PreferredVal nor its unit tells whether more is better";
const TOO_MANY: &str = "an operation with too many iterations for runs";
const UNITS_NOTE: &str = "mmtests' JSON seldom tells a unit: such figures are told as they are.";

/// Whether a text is one of these.
pub(crate) fn is_one(text: &str) -> bool {
    text.trim_start().starts_with(['{', '[']) && KEYS.iter().any(|key| text.contains(key))
}

/// The results of a text.
pub(crate) fn read(text: &str) -> Result<Results, ForeignError> {
    let document = json::value(text)?;
    let mut results = Results::new(FORMAT);
    results.tool = "mmtests".to_owned();
    let mut most = 0;
    let compared = document.get("_ExtractModules").and_then(Value::as_array);
    match compared.or_else(|| document.as_array()) {
        Some(parts) => parts.iter().for_each(|part| take(part, &mut most, &mut results)),
        None => take(&document, &mut most, &mut results),
    }
    if most > 1 {
        results.notes.push(format!(
            "Each iteration is one run, the mean of its samples (up to {most}), as these may depend on each other."
        ));
    }
    Ok(results)
}

/// Takes in what was measured of one kernel or configuration. `most`: samples of the longest iteration so far.
fn take(part: &Value, most: &mut usize, results: &mut Results) {
    let Some(operations) = part.get("_ResultData").and_then(Value::as_object) else {
        results.leave_out(NO_RESULTS);
        return;
    };
    let name = json::text(part, "_ModuleName");
    let name = name.strip_prefix("Extract").unwrap_or(name);
    let name = short(name.strip_prefix("Shellpack").unwrap_or(name));
    let (contestant, axis) = (short(json::text(part, "_TestName")), short(json::text(part, "_PlotYaxis")));
    let prefers_higher = match json::text(part, "_PreferredVal") {
        "Higher" => Some(true),
        "Lower" => Some(false),
        _ => None,
    };
    for (operation, iterations) in operations {
        if results.series.len() > MOST_SERIES {
            return;
        }
        let Some(metric) = metric(&axis, operation, prefers_higher) else {
            results.leave_out(NO_DIRECTION);
            continue;
        };
        let runs = runs(iterations, most, results);
        let Some(first) = runs.first() else { continue };
        if matches!(&metric, Metric::Other { unit, .. } if unit == UNKNOWN) {
            results.note(UNITS_NOTE);
        }
        let mut series = Series::one(format!("{name} {operation}").trim(), phoronix::group(operation), metric, *first);
        series.contestant.clone_from(&contestant);
        series.runs = runs;
        results.series.push(series);
    }
}

/// The means of an operation's iterations.
fn runs(iterations: &Value, most: &mut usize, results: &mut Results) -> Vec<f64> {
    let iterations = iterations.as_array().map(Vec::as_slice).unwrap_or_default();
    if iterations.len() > MOST_RUNS {
        results.leave_out(TOO_MANY);
        return Vec::new();
    }
    let mut runs = Vec::new();
    for iteration in iterations {
        let Some(values) = iteration.get("Values").and_then(Value::as_array) else {
            results.leave_out(NO_RESULTS);
            continue;
        };
        let (mut sum, mut count) = (0.0_f64, 0_usize);
        for value in values {
            match figure(value) {
                Some(sample) => (sum, count) = (sum + sample, count + 1),
                None => results.leave_out(NO_FIGURE),
            }
        }
        let mean = sum / count as f64;
        if mean.is_finite() && mean > 0.0 {
            *most = count.max(*most);
            runs.push(mean);
        } else if count > 0 {
            // The sum of the largest figures is none.
            results.leave_out(NO_FIGURE);
        }
    }
    runs
}

/// A figure above 0, which Perl writes as a number or as a text.
fn figure(value: &Value) -> Option<f64> {
    let figure: f64 = match value {
        Value::String(text) => text.trim().parse().ok()?,
        other => other.as_f64()?,
    };
    (figure.is_finite() && figure > 0.0).then_some(figure)
}

/// What an operation counts, by the axis of its plot or else by its name; `None`: which way is better is not told.
fn metric(axis: &str, operation: &str, prefers_higher: Option<bool>) -> Option<Metric> {
    let name = operation.split('-').next().unwrap_or_default().to_lowercase();
    let unit = match (axis, name.as_str()) {
        ("" | "UNKNOWN", "files_sec" | "files/sec" | "txn/sec" | "trans/sec" | "ops/sec") => "Operations/second",
        ("" | "UNKNOWN", "elapsed" | "elsp") => "Time (seconds)",
        ("" | "UNKNOWN", "user" | "system" | "syst") => "CPU seconds",
        ("" | "UNKNOWN", _) => UNKNOWN,
        (axis, _) => axis,
    };
    let higher_is_better = match name.as_str() {
        // Throughput is told beside times in one part, which has one direction for all.
        "tput" | "throughput" => true,
        "lat" | "latency" => prefers_higher.unwrap_or(false),
        _ => prefers_higher.or_else(|| unit_prefers_higher(unit))?,
    };
    Some(match unit {
        "Operations/second" | "Transactions/second" | "Ops/sec" if higher_is_better => Metric::OperationsPerSecond,
        "Time (seconds)" if !higher_is_better => Metric::Seconds,
        unit => Metric::Other { unit: unit.to_owned(), higher_is_better },
    })
}

/// Whether more of a unit is better, where it tells: rates are better higher, times lower.
fn unit_prefers_higher(unit: &str) -> Option<bool> {
    let small = unit.to_lowercase();
    let holds = |words: &[&str]| words.iter().any(|word| small.contains(word));
    match () {
        () if holds(&["/s", "per sec", "iops"]) => Some(true),
        () if holds(&["sec", "time", "latency"]) || matches!(small.as_str(), "s" | "ms" | "us" | "ns") => Some(false),
        () => None,
    }
}
