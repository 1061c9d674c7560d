//! Phoronix Test Suite's composite.xml.

use crate::text::{short, shortened};
use crate::{Facts, ForeignError, MOST_RUNS, MOST_RUNS_OF_ALL, MOST_SERIES, Metric, Results, Series, number, time};
use roxmltree::{Document, Error, Node, ParsingOptions};
use std::collections::BTreeMap;

const FORMAT: &str = "Phoronix composite.xml";
/// Most of `<`, and of `=`: the parser sets memory aside for each of them before it reads anything.
const MOST_MARKS: usize = 1_000_000;
/// Most elements and texts together.
const MOST_NODES: u32 = 2_000_000;
/// Most elements within each other, as the parser recurses; a real file has 5.
const MOST_DEPTH: usize = 32;
/// Most attributes of an element, as the parser compares each with all; a real file has none.
const MOST_ATTRIBUTES: usize = 16;
/// Most characters of what the parser says.
const MOST_TOLD: usize = 160;

const NO_FIGURE: &str = "a run that is no figure above 0";
const NOT_DONE: &str = "a test that a system did not finish";
const OVER_TIME: &str = "a graph over time, whose values are no runs";
const NO_NUMBER: &str = "a test whose result is no number (passed or failed, an image)";
const NO_DIRECTION: &str = "a test whose Proportion does not tell whether more or less is better";

/// What stands before a value in the texts of a system's hardware and software.
const KEYS: [&str; 22] = [
    "Processor",
    "Motherboard",
    "Chipset",
    "Memory",
    "Disk",
    "Graphics",
    "Audio",
    "Monitor",
    "Network",
    "npu",
    "OS",
    "Kernel",
    "Desktop",
    "Display Server",
    "Display Driver",
    "OpenGL",
    "OpenCL",
    "Vulkan",
    "Compiler",
    "File-System",
    "Screen Resolution",
    "System Layer",
];

/// Scales that count operations, files or transactions in a second, in small letters.
const PER_SECOND: [&str; 17] = [
    "iops",
    "op/s",
    "ops/s",
    "op/sec",
    "ops/sec",
    "operations/s",
    "operations/sec",
    "operations per second",
    "tps",
    "transactions/s",
    "transactions/sec",
    "transactions per second",
    "files/s",
    "files/sec",
    "files per second",
    "requests/s",
    "requests per second",
];

/// Whether a text is one of these.
pub(crate) fn is_one(text: &str) -> bool {
    text.trim_start().starts_with('<') && text.contains("<PhoronixTestSuite")
}

/// The results of a text.
pub(crate) fn read(text: &str) -> Result<Results, ForeignError> {
    // A declaration must be the first of an XML text, and blank lines before it are no matter here.
    let xml = text.trim_start();
    let before = text.len() - xml.len();
    guard(xml).map_err(|(at, what)| malformed(text, before + at, what.to_owned()))?;
    let options = ParsingOptions { allow_dtd: false, nodes_limit: MOST_NODES, ..ParsingOptions::default() };
    let document = Document::parse_with_options(xml, options).map_err(|error| unread(text, before, &error))?;
    let root = document.root_element();
    let mut results = Results::new(FORMAT);
    for generated in children(root, "Generated") {
        results.tool = text_of(generated, "TestClient").to_owned();
    }
    let filesystems = read_systems(root, &mut results);
    let mut kept = 0;
    for result in children(root, "Result") {
        read_result(result, &filesystems, &mut kept, &mut results);
    }
    Ok(results)
}

/// The elements of a name within one.
fn children<'a>(node: Node<'a, 'a>, name: &'static str) -> impl Iterator<Item = Node<'a, 'a>> {
    node.children().filter(move |child| child.has_tag_name(name))
}

/// The text of the first element of a name within one; empty: there is none.
fn text_of<'a>(node: Node<'a, 'a>, name: &'static str) -> &'a str {
    children(node, name).next().and_then(|child| child.text()).unwrap_or_default().trim()
}

/// Fills in where and when the tests ran, and gives the filesystem of each system by its identifier.
fn read_systems(root: Node<'_, '_>, results: &mut Results) -> BTreeMap<String, String> {
    let mut filesystems = BTreeMap::new();
    let mut all = Vec::new();
    for system in children(root, "System") {
        let (hardware, software) = (text_of(system, "Hardware"), text_of(system, "Software"));
        filesystems.insert(short(text_of(system, "Identifier")), short(field(software, "File-System")));
        all.push(facts(hardware, software));
        results.ran_at(time::from_dashes(text_of(system, "TimeStamp")));
    }
    results.facts = Facts {
        os: agreed(&all, |facts| &facts.os),
        kernel: agreed(&all, |facts| &facts.kernel),
        cpu: agreed(&all, |facts| &facts.cpu),
        cpus: agreed(&all, |facts| &facts.cpus),
        memory_bytes: agreed(&all, |facts| &facts.memory_bytes),
        disk: agreed(&all, |facts| &facts.disk),
    };
    if all.iter().any(|facts| Some(facts) != all.first()) {
        results.notes.push("Its systems differ, and what differs of where they ran is not kept.".to_owned());
    }
    filesystems
}

/// A fact in which all systems agree, or none.
fn agreed<T: Clone + Default + PartialEq>(all: &[Facts], of: impl Fn(&Facts) -> &T) -> T {
    let Some(first) = all.first() else { return T::default() };
    let value = of(first);
    if all.iter().all(|facts| of(facts) == value) { value.clone() } else { T::default() }
}

/// Where a system's tests ran.
fn facts(hardware: &str, software: &str) -> Facts {
    let (cpu, cpus) = processor(field(hardware, "Processor"));
    Facts {
        os: field(software, "OS").to_owned(),
        kernel: field(software, "Kernel").split_whitespace().next().unwrap_or_default().to_owned(),
        cpu: cpu.to_owned(),
        cpus,
        memory_bytes: memory_bytes(field(hardware, "Memory")),
        disk: field(hardware, "Disk").to_owned(),
    }
}

/// The value behind a key of `Processor: ..., Memory: ...`: up to the next key, as values have commas too.
fn field<'a>(text: &'a str, key: &str) -> &'a str {
    let first = text.strip_prefix(key).and_then(|rest| rest.strip_prefix(": "));
    let later = || text.split_once(format!(", {key}: ").as_str()).map(|(_, value)| value);
    let Some(value) = first.or_else(later) else { return "" };
    let end = KEYS.iter().filter_map(|next| value.find(format!(", {next}: ").as_str())).min();
    end.and_then(|end| value.get(..end)).unwrap_or(value).trim()
}

/// The model and the CPUs of `Some CPU @ 3.00GHz (8 Cores / 16 Threads)`.
fn processor(text: &str) -> (&str, u32) {
    let Some((model, counts)) = text.rsplit_once(" (").filter(|(_, counts)| counts.contains("Core")) else {
        return (text, 0);
    };
    let count = |unit: &str| {
        let part = counts.split(['/', ')']).find(|part| part.contains(unit))?;
        part.split_whitespace().next()?.parse::<u32>().ok()
    };
    (model, count("Thread").or_else(|| count("Core")).unwrap_or_default())
}

/// Bytes of `16GB` or `2 x 8 GB DDR4`: the suite divides by powers of 1024 and writes `GB`.
fn memory_bytes(text: &str) -> u64 {
    let (modules, size) = match text.split_once(" x ") {
        Some((modules, size)) => (modules.trim().parse::<u16>().unwrap_or_default(), size),
        None => (1, text),
    };
    let end = size.find(|letter: char| letter.is_ascii_alphabetic()).unwrap_or(size.len());
    let (figure, unit) = size.split_at(end);
    let prefix = match unit.get(..2).filter(|_| !size.contains('+')) {
        Some("MB") => "M",
        Some("GB") => "G",
        Some("TB") => "T",
        _ => return 0,
    };
    let bytes = number::size_bytes(&format!("{}{prefix}", figure.trim())).unwrap_or_default();
    (bytes * f64::from(modules)) as u64
}

/// Adds the series of a test: one for each system. `kept`: runs of all series so far.
fn read_result(result: Node<'_, '_>, filesystems: &BTreeMap<String, String>, kept: &mut usize, results: &mut Results) {
    let description = match text_of(result, "Description") {
        "" => text_of(result, "Arguments"),
        description => description,
    };
    let parameters: Vec<&str> =
        [description, text_of(result, "Identifier")].into_iter().filter(|part| !part.is_empty()).collect();
    let parameters = shortened(&parameters.join("; "));
    let scale = text_of(result, "Scale");
    let group = if is_transactions(scale) { "transactions" } else { group(description) };
    let counted = metric(scale, text_of(result, "Proportion"));
    let refused = match text_of(result, "DisplayFormat") {
        "BAR_GRAPH" | "BAR_ANALYZE_GRAPH" | "" => counted.is_none().then_some(NO_DIRECTION),
        "LINE_GRAPH" | "FILLED_LINE_GRAPH" | "SCATTER_PLOT" => Some(OVER_TIME),
        _ => Some(NO_NUMBER),
    };
    for entry in children(result, "Data").flat_map(|data| children(data, "Entry")) {
        if results.series.len() > MOST_SERIES || *kept > MOST_RUNS_OF_ALL {
            return;
        }
        let (Some((metric, factor)), None) = (&counted, refused) else {
            results.leave_out(refused.unwrap_or(NO_DIRECTION));
            continue;
        };
        let runs = runs(entry, *factor, results);
        let Some(first) = runs.first() else { continue };
        *kept += runs.len();
        let mut series = Series::one(text_of(result, "Title"), group, metric.clone(), *first);
        series.parameters.clone_from(&parameters);
        series.contestant = short(text_of(entry, "Identifier"));
        series.filesystem = filesystems.get(&series.contestant).cloned().unwrap_or_default();
        series.runs = runs;
        results.series.push(series);
    }
}

/// The runs of a test on one system; of too many, as many as show that.
fn runs(entry: Node<'_, '_>, factor: f64, results: &mut Results) -> Vec<f64> {
    let raw = match text_of(entry, "RawString") {
        "" => text_of(entry, "Value"),
        raw => raw,
    };
    if raw.is_empty() {
        results.leave_out(NOT_DONE);
        return Vec::new();
    }
    let mut runs = Vec::new();
    for part in raw.split(':') {
        if runs.len() > MOST_RUNS {
            break;
        }
        match part.trim().parse::<f64>().map(|run| run * factor) {
            Ok(run) if run.is_finite() && run > 0.0 => runs.push(run),
            _ => results.leave_out(NO_FIGURE),
        }
    }
    runs
}

/// What a scale counts, and what of the metric's unit one of the scale is; `None`: which way is better is not told.
fn metric(scale: &str, proportion: &str) -> Option<(Metric, f64)> {
    let higher_is_better = match proportion {
        "HIB" => Some(true),
        "LIB" => Some(false),
        _ => None,
    };
    let small = scale.to_lowercase();
    if higher_is_better != Some(false) {
        if PER_SECOND.contains(&small.as_str()) {
            return Some((Metric::OperationsPerSecond, 1.0));
        }
        // `k/s` and `M/s` count anything.
        if let Some(factor) = number::rate(scale).filter(|_| scale.contains('B') || small.contains("byte")) {
            return Some((Metric::BandwidthBytesPerSecond, factor));
        }
    }
    if higher_is_better != Some(true) && matches!(small.as_str(), "s" | "sec" | "second" | "seconds") {
        return Some((Metric::Seconds, 1.0));
    }
    Some((Metric::Other { unit: short(scale), higher_is_better: higher_is_better? }, 1.0))
}

fn is_transactions(scale: &str) -> bool {
    let small = scale.to_lowercase();
    small == "tps" || small.contains("transaction")
}

/// The kind of operation that words name, where they name one; `total` where they name none or several.
pub(crate) fn group(text: &str) -> &'static str {
    let mut found = None;
    for word in text.split(|letter: char| !letter.is_ascii_alphabetic()) {
        let kind = match word.to_ascii_lowercase().as_str() {
            "read" | "reads" | "reading" | "readers" => "read",
            "write" | "writes" | "writing" | "writers" | "overwrite" => "write",
            "create" | "creates" | "creation" | "mkdir" => "create",
            "delete" | "deletes" | "deletion" | "unlink" | "remove" | "removal" | "rmdir" => "delete",
            "stat" | "stats" => "stat",
            "txn" | "transaction" | "transactions" => "transactions",
            _ => continue,
        };
        match found {
            Some(other) if other != kind => return "total",
            _ => found = Some(kind),
        }
    }
    found.unwrap_or("total")
}

/// Refuses what would take the parser long, much memory or a deep stack: the byte, and what is wrong there.
fn guard(xml: &str) -> Result<(), (usize, &'static str)> {
    let count = |mark: u8| xml.bytes().filter(|byte| *byte == mark).count();
    if count(b'<').max(count(b'=')) > MOST_MARKS {
        return Err((0, "it holds more than composite.xml ever does; import a part of it"));
    }
    let (mut at, mut depth) = (0, 0_usize);
    while let Some(found) = xml.get(at..).and_then(|rest| rest.find('<')) {
        let start = at + found;
        let rest = xml.get(start..).unwrap_or_default();
        if let Some(length) = no_element(rest) {
            at = start + length;
            continue;
        }
        let tag = tag(rest);
        at = start + tag.len();
        if tag.starts_with("</") {
            depth = depth.saturating_sub(1);
        } else if tag.contains("xmlns") || tag.bytes().filter(|byte| *byte == b'=').count() > MOST_ATTRIBUTES {
            return Err((start, "an element with namespaces or many attributes is not of composite.xml; remove it"));
        } else if !tag.ends_with("/>") {
            depth += 1;
        }
        if depth > MOST_DEPTH {
            return Err((
                start,
                "elements lie deeper within each other than those of composite.xml; name another file",
            ));
        }
    }
    Ok(())
}

/// Bytes of a comment, of characters or of an instruction with which a text begins.
fn no_element(rest: &str) -> Option<usize> {
    let marks = [("<!--", "-->"), ("<![CDATA[", "]]>"), ("<?", "?>")];
    let (open, close) = marks.into_iter().find(|(open, _)| rest.starts_with(open))?;
    let within = rest.get(open.len()..).unwrap_or_default();
    Some(within.find(close).map_or(rest.len(), |end| open.len() + end + close.len()))
}

/// The tag with which a text begins; quotes may hold a `>`.
fn tag(rest: &str) -> &str {
    let mut quote = None;
    for (at, byte) in rest.bytes().enumerate() {
        match (quote, byte) {
            (Some(open), _) if open == byte => quote = None,
            (Some(_), _) => {}
            (None, b'"' | b'\'') => quote = Some(byte),
            (None, b'>') => return rest.get(..=at).unwrap_or(rest),
            (None, _) => {}
        }
    }
    rest
}

/// Why the parser gave up, with its place in `text`, of which it did not see the first bytes.
fn unread(text: &str, before: usize, error: &Error) -> ForeignError {
    let unclosed = matches!(error, Error::UnclosedRootNode | Error::UnexpectedEndOfStream);
    if unclosed || !text.trim_end().ends_with('>') {
        let what = "the file ends in the middle of its XML; name one that was written to its end";
        return malformed(text, text.trim_end().len(), what.to_owned());
    }
    let pos = error.pos();
    let told = error.to_string().replace(&format!(" at {pos}"), "").replace(char::is_control, "?");
    let told: String = told.chars().take(MOST_TOLD).collect();
    let what = format!("this is no XML of the Phoronix Test Suite ({told}); name the file as the suite wrote it");
    let (line, column) = place(text, before);
    let (row, col) = (pos.row as usize, pos.col as usize);
    let column = if row == 1 { column + col - 1 } else { col };
    ForeignError::Malformed { line: line + row - 1, column, what }
}

fn malformed(text: &str, at: usize, what: String) -> ForeignError {
    let (line, column) = place(text, at);
    ForeignError::Malformed { line, column, what }
}

/// Line and column of a byte, from 1, the column in characters.
fn place(text: &str, at: usize) -> (usize, usize) {
    let before = text.get(..at).unwrap_or(text);
    let line = before.bytes().filter(|byte| *byte == b'\n').count() + 1;
    let last = before.rsplit('\n').next().unwrap_or_default();
    (line, last.chars().count() + 1)
}
