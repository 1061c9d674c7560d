//! IO500's result.txt and result_summary.txt.

use crate::text::shortened;
use crate::{ForeignError, MOST_SERIES, Metric, Results, Series, number, time};

const FORMAT: &str = "IO500 result.txt";
/// Lines at the beginning in which the format must show itself.
const LOOK: usize = 2_000;
/// Operations of one of IO500's `kIOPS`.
const KILO: f64 = 1_000.0;
/// Bytes of one of IO500's `GiB`.
const GIB: f64 = 1_073_741_824.0;

const NO_SCORE: &str = "a phase that was not run (no score above 0)";
const NO_FIGURE: &str = "a phase whose score is no figure above 0";
const BROKEN: &str = "a phase with errors, which the file calls INVALID";
const NO_PHASE: &str = "a score of no phase that is known";
const NO_TOTAL: &str = "a total that is no figure above 0";
const CUT_OFF: &str = "The file has no total score: the run did not come to its end, or the file was cut off.";
/// What reports make of IO500's own units, which they do not know.
const UNITS: &str =
    "IO500's own units are told in others: 1 GiB/s of a phase reads 1.074 GB/s, and 1 kIOPS reads 1k ops/s.";
const INVALID_RUN: &str = "The file calls the run INVALID by the rules of IO500: its totals are no official score.";

/// Options of IOR and mdtest that say what a phase did, and their names here; others change with each run, as paths do.
const OPTIONS: [(&str, &str); 8] = [
    ("-a", "api"),
    ("-t", "xfersize"),
    ("-b", "blocksize"),
    ("-s", "segments"),
    ("-n", "items"),
    ("-w", "write_bytes"),
    ("-D", "stonewall"),
    ("-W", "stonewall"),
];

/// Whether a text is one of these.
pub(crate) fn is_one(text: &str) -> bool {
    let mut within = false;
    for line in text.lines().take(LOOK).map(str::trim) {
        if line.starts_with("IO500 version") || is_summary(line) {
            return true;
        }
        let (key, value) = pair(line).unwrap_or_default();
        if key == "version" && value.starts_with("io500") {
            return true;
        }
        within = match section(line) {
            Some(name) => name == "SCORE" || kind(name).is_some(),
            // Its configuration has the same sections, and none of these in them.
            None if within && matches!(key, "score" | "SCORE" | "t_start" | "exe" | "MD" | "BW") => return true,
            None => within,
        };
    }
    false
}

/// The results of a text.
pub(crate) fn read(text: &str) -> Result<Results, ForeignError> {
    let mut reader = Reader { results: Results::new(FORMAT), procs: "", total: false };
    let mut phase = Phase::default();
    for line in text.lines().map(str::trim) {
        if reader.results.series.len() > MOST_SERIES {
            break;
        }
        if line.contains("ERROR INVALID") {
            phase.doubt(line);
        } else if is_summary(line) {
            reader.summary(line);
        } else if let Some(name) = section(line) {
            reader.end(&phase);
            phase = Phase { name, ..Phase::default() };
        } else if let Some(version) = line.strip_prefix("IO500 version ") {
            reader.version(version);
        } else if let Some((key, value)) = pair(line) {
            reader.pair(&mut phase, key, value);
        }
    }
    reader.end(&phase);
    if !reader.total {
        reader.results.note(CUT_OFF);
    }
    let is_phase = |series: &Series| !matches!(series.metric, Metric::Other { .. });
    if reader.results.series.iter().any(is_phase) {
        reader.results.note(UNITS);
    }
    Ok(reader.results)
}

/// What stands of a phase in its section.
#[derive(Default)]
struct Phase<'a> {
    name: &'a str,
    score: Option<&'a str>,
    seconds: f64,
    exe: &'a str,
    /// It ran shorter than the rules ask for.
    short: bool,
    /// Its figure is not to be trusted.
    broken: bool,
}

impl Phase<'_> {
    /// Takes in what the file says against the phase.
    fn doubt(&mut self, line: &str) {
        let small = line.to_lowercase();
        match small.contains("runtime") || small.contains("stonewall") {
            true => self.short = true,
            false => self.broken = true,
        }
    }
}

/// What a file has told so far.
struct Reader<'a> {
    results: Results,
    procs: &'a str,
    total: bool,
}

impl<'a> Reader<'a> {
    fn version(&mut self, version: &str) {
        let version = version.split_whitespace().next().unwrap_or_default();
        self.results.tool = format!("IO500 {}", version.strip_prefix("io500-").unwrap_or(version));
    }

    /// Takes in a line of a section.
    fn pair(&mut self, phase: &mut Phase<'a>, key: &'a str, value: &'a str) {
        match (phase.name, key) {
            ("SCORE" | "SCOREX", "MD" | "BW" | "SCORE") => self.total(phase.name, key, value, "GiB/s"),
            ("run" | "", "procs") => self.procs = value,
            ("run" | "", "version") => self.version(value),
            (_, "score") => phase.score = Some(value),
            (_, "t_start") => self.results.ran_at(time::from_dashes(value)),
            (_, "t_delta") => phase.seconds = figure(value).unwrap_or_default(),
            (_, "exe") => phase.exe = value,
            _ => {}
        }
    }

    /// Takes in a total score of all phases; the unit is that of bandwidth.
    fn total(&mut self, section: &str, key: &str, value: &str, unit: &str) {
        if value.contains("INVALID") {
            self.results.note(INVALID_RUN);
        }
        let unit = match key {
            "MD" => "kIOPS",
            "BW" => unit,
            _ => "IO500 score",
        };
        let Some(figure) = figure(value) else {
            self.results.leave_out(NO_TOTAL);
            return;
        };
        self.total |= key == "SCORE";
        let extended = if section == "SCOREX" { " extended" } else { "" };
        let metric = Metric::Other { unit: unit.to_owned(), higher_is_better: true };
        self.results.series.push(Series::one(&format!("IO500{extended} {key}"), "total", metric, figure));
    }

    /// Takes in a section that ends.
    fn end(&mut self, phase: &Phase<'a>) {
        let Some((group, is_ior)) = kind(phase.name) else {
            // Sections of settings have no score.
            if phase.score.is_some() {
                self.results.leave_out(NO_PHASE);
            }
            return;
        };
        let score = phase.score.and_then(figure);
        let (metric, one) = match is_ior {
            true => (Metric::BandwidthBytesPerSecond, GIB),
            false => (Metric::OperationsPerSecond, KILO),
        };
        match score.map(|score| score * one).filter(|run| run.is_finite()) {
            _ if phase.broken => self.results.leave_out(BROKEN),
            None => self.results.leave_out(without_figure(phase.score.unwrap_or_default())),
            Some(run) => {
                if phase.short {
                    self.results.note(&format!("{} ran shorter than the rules of IO500 ask for.", phase.name));
                }
                let mut series = Series::one(phase.name, group, metric, run);
                series.parameters = parameters(phase.exe, self.procs);
                series.seconds = phase.seconds;
                self.results.series.push(series);
            }
        }
    }

    /// Takes in a line of result_summary.txt.
    fn summary(&mut self, line: &str) {
        let words: Vec<&str> = line.split_whitespace().collect();
        if line.starts_with("[SCORE") {
            let section = if line.starts_with("[SCOREX") { "SCOREX" } else { "SCORE" };
            let invalid = if line.to_lowercase().contains("invalid") { " [INVALID]" } else { "" };
            let unit = after(&words, after(&words, "Bandwidth"));
            for (word, key) in [("Bandwidth", "BW"), ("IOPS", "MD"), ("TOTAL", "SCORE")] {
                let value = format!("{}{invalid}", after(&words, word));
                self.total(section, key, &value, unit);
            }
            return;
        }
        let found = words.iter().enumerate().find_map(|(at, word)| unit(word).map(|unit| (at, unit)));
        let Some((at, (metric, one))) = found else { return };
        let word = |back: usize| at.checked_sub(back).and_then(|at| words.get(at)).copied().unwrap_or_default();
        let name = word(2);
        let Some((group, _)) = kind(name) else { return };
        let Some(run) = figure(word(1)).map(|figure| figure * one).filter(|run| run.is_finite()) else {
            self.results.leave_out(without_figure(word(1)));
            return;
        };
        if line.to_lowercase().contains("invalid") {
            self.results.note(&format!("{name} is marked INVALID; the result.txt of the same run tells why."));
        }
        let mut series = Series::one(name, group, metric, run);
        series.seconds = figure(after(&words, "time")).unwrap_or_default();
        self.results.series.push(series);
    }
}

/// The name of the section that a line begins.
fn section(line: &str) -> Option<&str> {
    let name = line.strip_prefix('[')?.strip_suffix(']')?;
    (!name.trim().is_empty() && !name.contains(['[', ']'])).then_some(name)
}

/// Key and value of a line that is no comment.
fn pair(line: &str) -> Option<(&str, &str)> {
    if line.starts_with([';', '#']) {
        return None;
    }
    let (key, value) = line.split_once('=')?;
    Some((key.trim(), value.trim()))
}

/// Whether a line is of result_summary.txt.
fn is_summary(line: &str) -> bool {
    let phase = line.starts_with("[RESULT") || line.starts_with("[      ]");
    let figure = || line.split_whitespace().any(|word| unit(word).is_some());
    (phase || line.starts_with("[SCORE")) && figure()
}

/// What a unit of result_summary.txt counts, and how much of it one is.
fn unit(word: &str) -> Option<(Metric, f64)> {
    match word {
        "GiB/s" | "GB/s" | "MiB/s" => Some((Metric::BandwidthBytesPerSecond, number::rate(word)?)),
        "kIOPS" | "kiops" => Some((Metric::OperationsPerSecond, KILO)),
        _ => None,
    }
}

/// The kind of operation of a phase, and whether IOR does it; older files write `_` for `-`.
fn kind(name: &str) -> Option<(&'static str, bool)> {
    let mut parts = name.split(['-', '_']);
    let (first, last) = (parts.next()?, parts.next_back());
    match (first, last) {
        ("ior", Some("write")) => Some(("write", true)),
        ("ior", Some("read")) => Some(("read", true)),
        ("mdtest", Some("write" | "create")) | ("mdworkbench", Some("create")) => Some(("create", false)),
        ("mdtest", Some("stat")) => Some(("stat", false)),
        ("mdtest", Some("read")) => Some(("read", false)),
        ("mdtest" | "mdworkbench", Some("delete")) => Some(("delete", false)),
        ("mdworkbench", Some("bench")) => Some(("total", false)),
        ("find", _) => Some(("find", false)),
        _ => None,
    }
}

/// The first word of a value, where it is a figure above 0.
fn figure(value: &str) -> Option<f64> {
    let figure: f64 = value.split_whitespace().next()?.parse().ok()?;
    (figure.is_finite() && figure > 0.0).then_some(figure)
}

/// Why a phase has no figure, by what stands in its place; a phase that was not run has none, a question mark or 0.
fn without_figure(value: &str) -> &'static str {
    let word = value.split_whitespace().next().unwrap_or("?");
    if word == "?" || word.parse() == Ok(0.0) { NO_SCORE } else { NO_FIGURE }
}

/// The word behind a word; empty: there is none.
fn after<'a>(words: &[&'a str], word: &str) -> &'a str {
    words.iter().skip_while(|other| **other != word).nth(1).copied().unwrap_or_default()
}

/// How a phase was run, by its command.
fn parameters(exe: &str, procs: &str) -> String {
    let words: Vec<&str> = exe.split_whitespace().collect();
    let mut told = Vec::new();
    if !procs.is_empty() {
        told.push(format!("procs={}", shortened(procs)));
    }
    for (option, name) in OPTIONS {
        let value = after(&words, option);
        // Some of these take no value in the other of both programs.
        if !value.is_empty() && !value.starts_with('-') && !value.contains('/') {
            told.push(format!("{name}={}", shortened(value)));
        }
    }
    told.join(" ")
}
