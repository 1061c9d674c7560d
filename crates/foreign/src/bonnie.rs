//! bonnie++'s CSV: lines of format 1.9x, and those of version 1.03, which tell neither format nor version.

use crate::runs::{Run, Runs, Test};
use crate::text::{short, shortened};
use crate::{ForeignError, Latency, Results};
use std::collections::BTreeSet;

const FORMAT: &str = "bonnie++ CSV";
/// The figures of a line in their order: the test, its kind of operation, and what is counted.
const TESTS: [(&str, &str, Unit); 12] = [
    ("sequential output, per char", "write", Unit::Kibibytes),
    ("sequential output, block", "write", Unit::Kibibytes),
    ("sequential output, rewrite", "rewrite", Unit::Kibibytes),
    ("sequential input, per char", "read", Unit::Kibibytes),
    ("sequential input, block", "read", Unit::Kibibytes),
    ("random seeks", "seek", Unit::Seeks),
    ("sequential files", "create", Unit::Files),
    ("sequential files", "stat", Unit::Files),
    ("sequential files", "delete", Unit::Files),
    ("random files", "create", Unit::Files),
    ("random files", "stat", Unit::Files),
    ("random files", "delete", Unit::Files),
];
/// How many of [`TESTS`] are of one large file: the settings of the files stand behind them.
const OF_ONE_FILE: usize = 6;
const NOTE: &str = "bonnie++ tells the longest latency of a test only, and neither the filesystem nor the kernel";

/// What a figure counts each second.
#[derive(Clone, Copy, PartialEq)]
enum Unit {
    Kibibytes,
    Seeks,
    Files,
}

/// A line: the fields of its settings by their names, and those of its figures.
struct Line<'a> {
    /// The version of bonnie++; empty: version 1.03, which does not tell.
    version: &'a str,
    machine: &'a str,
    /// Settings of the tests of one large file, of the seeks beside those, and of the tests of many files.
    large: Vec<(&'static str, &'a str)>,
    seeks: Vec<(&'static str, &'a str)>,
    many: Vec<(&'static str, &'a str)>,
    /// A figure for each of [`TESTS`].
    figures: Vec<&'a str>,
    /// The longest latency of each, where the format has it.
    latencies: Vec<&'a str>,
}

/// Whether a line of a text is of the CSV.
pub(crate) fn is_one(text: &str) -> bool {
    text.lines().any(|line| Line::parse(line).is_some())
}

/// Reads the lines of the CSV, whatever stands between them. Those of one machine and with the same settings are runs.
pub(crate) fn read(text: &str) -> Result<Results, ForeignError> {
    let mut results = Results::new(FORMAT);
    let mut runs = Runs::default();
    let machines: BTreeSet<&str> = text.lines().filter_map(Line::parse).map(|line| line.machine).collect();
    for line in text.lines().filter_map(Line::parse) {
        if results.tool.is_empty() {
            results.tool = format!("bonnie++ {}", line.version).trim_end().to_owned();
        }
        for (place, (workload, group, unit)) in TESTS.into_iter().enumerate() {
            let Some(run) = line.run(place, unit, &mut results) else { continue };
            let test = Test {
                workload: workload.to_owned(),
                parameters: line.parameters(unit),
                group,
                contestant: if machines.len() > 1 { short(line.machine) } else { String::new() },
            };
            runs.of_test(test)?.push(run);
        }
    }
    results.notes.push(NOTE.to_owned());
    runs.into_series(&mut results);
    Ok(results)
}

impl<'a> Line<'a> {
    fn parse(line: &'a str) -> Option<Line<'a>> {
        // A line has 27 fields, or 48, or 50; a longer one is not split at all.
        let commas = line.bytes().filter(|byte| *byte == b',').count();
        if !matches!(commas, 26 | 47 | 49) {
            return None;
        }
        let fields: Vec<&'a str> = line.trim().split(',').collect();
        let known = if commas == 26 { Line::of_103(&fields) } else { Line::of_19x(&fields) };
        known.filter(|line| {
            let is_sound = |figure: &&str| figure.is_empty() || too_fast(figure) || rate(figure).is_some();
            line.figures.iter().all(is_sound) && line.figures.iter().any(|figure| !figure.is_empty())
        })
    }

    /// Format 1.96 and 1.97; format 1.98 has two fields more, of the seeks.
    fn of_19x(fields: &[&'a str]) -> Option<Line<'a>> {
        let [format, version, machine, concurrency, _, size, chunk, rest @ ..] = fields else { return None };
        let known = |version: &str| version.starts_with("1.9") || version.starts_with("2.");
        if !known(format) || !known(version) {
            return None;
        }
        let (seeks, rest) = match rest {
            [seeks, seekers, rest @ ..] if fields.len() == 50 => (vec![("seeks", *seeks), ("seekers", *seekers)], rest),
            rest => (Vec::new(), rest),
        };
        let (first, rest) = rest.split_at_checked(OF_ONE_FILE * 2)?;
        let [files, most, least, folders, piece, rest @ ..] = rest else { return None };
        let (second, latencies) = rest.split_at_checked((TESTS.len() - OF_ONE_FILE) * 2)?;
        Some(Line {
            version,
            machine,
            large: vec![("size", *size), ("chunk", *chunk), ("concurrency", *concurrency)],
            seeks,
            many: vec![
                ("files", *files),
                ("max_size", *most),
                ("min_size", *least),
                ("directories", *folders),
                ("chunk", *piece),
                ("concurrency", *concurrency),
            ],
            figures: first.iter().chain(second).step_by(2).copied().collect(),
            latencies: latencies.to_vec(),
        })
    }

    /// Version 1.03.
    fn of_103(fields: &[&'a str]) -> Option<Line<'a>> {
        let [machine, size, rest @ ..] = fields else { return None };
        let (first, rest) = rest.split_at_checked(OF_ONE_FILE * 2)?;
        let [files, second @ ..] = rest else { return None };
        // Nothing but their form tells these lines: a size (`4G`, `300M:16k`), and a load behind each figure.
        let is_size = size.split(':').next().unwrap_or_default().ends_with(['K', 'M', 'G', 'T']);
        let is_load = |load: &&str| load.is_empty() || too_fast(load) || rate(load).is_some();
        let are_loads = first.iter().chain(second).skip(1).step_by(2).all(is_load);
        if machine.is_empty() || !(is_size || size.is_empty()) || !are_loads {
            return None;
        }
        Some(Line {
            version: "",
            machine,
            large: vec![("size", *size)],
            seeks: Vec::new(),
            many: vec![("files", *files)],
            figures: first.iter().chain(second).step_by(2).copied().collect(),
            latencies: Vec::new(),
        })
    }

    /// The run of one of [`TESTS`]; `None` where it was not done, or was too fast to be measured.
    fn run(&self, place: usize, unit: Unit, results: &mut Results) -> Option<Run> {
        let figure = self.figures.get(place).copied().unwrap_or_default();
        if too_fast(figure) {
            results.leave_out("figures of tests that were too fast to be measured (+++++)");
        }
        let rate = rate(figure)?;
        let longest = self.latencies.get(place).and_then(|latency| nanoseconds(latency));
        let latency = longest.map(|longest| Latency { max: Some(longest), ..Latency::default() });
        Some(match unit {
            Unit::Kibibytes => Run { bytes_per_second: rate * 1024.0, block: f64::INFINITY, latency, ..Run::default() },
            Unit::Seeks | Unit::Files => Run { operations_per_second: rate, latency, ..Run::default() },
        })
    }

    /// Its settings for a test, as far as they are told.
    fn parameters(&self, unit: Unit) -> String {
        let settings = if unit == Unit::Files { &self.many } else { &self.large };
        let beside: &[(&str, &str)] = if unit == Unit::Seeks { &self.seeks } else { &[] };
        let told = settings.iter().chain(beside).filter(|(_, value)| !value.is_empty());
        told.map(|(name, value)| format!("{name}={}", shortened(value))).collect::<Vec<String>>().join(" ")
    }
}

/// Whether a field stands for what was too fast to be measured.
fn too_fast(field: &str) -> bool {
    field.len() >= 3 && field.bytes().all(|byte| byte == b'+')
}

/// A finite figure that is not below 0, and whose multiples stay finite.
fn rate(field: &str) -> Option<f64> {
    field.parse::<f64>().ok().filter(|figure| (0.0..1e300).contains(figure))
}

/// A latency: `1403us`, `12ms`, `3s`.
fn nanoseconds(latency: &str) -> Option<f64> {
    let end = latency.find(|character: char| !character.is_ascii_digit() && character != '.')?;
    let (figure, unit) = latency.split_at(end);
    let unit = match unit {
        "ns" => 1.0,
        "us" => 1e3,
        "ms" => 1e6,
        "s" => 1e9,
        _ => return None,
    };
    Some(rate(figure)? * unit).filter(|figure| figure.is_finite() && *figure > 0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn latencies_are_of_four_units() {
        let told = ["7ns", "1403us", "12ms", "3s"].map(nanoseconds);
        assert_eq!(told, [7.0, 1_403_000.0, 12_000_000.0, 3_000_000_000.0].map(Some));
        assert_eq!(["", "us", "12", "12 ms", "0us", "-1us", "1.2.3us", "12µs"].map(nanoseconds), [None; 8]);
    }
}
