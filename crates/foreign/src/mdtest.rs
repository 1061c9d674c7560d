//! The text that mdtest prints.

use crate::ior::Collector;
use crate::text::{short, shortened};
use crate::{Metric, Series, time};

const NOT_DONE: &str = "an operation of mdtest whose rate is no figure above 0";
const NOT_WHOLE: &str = "a line of mdtest's table that is not whole";
const STONEWALL: &str = "mdtest's rate of creation up to the stonewall";
const ONLY_MEANS: &str =
    "mdtest tells mean and standard deviation of its iterations; the iterations themselves are not in the file.";

/// Options of mdtest that are followed by a path.
const PATHS: [&str; 3] = ["-d", "-x", "-o"];

/// Whether a line is of mdtest's output.
pub(crate) fn is_one(line: &str) -> bool {
    launch(line).is_some() || line.starts_with("SUMMARY") && line.contains("(of ") && line.contains("iterations)")
}

/// Adds the rates of a text, in which lines of other programs are passed over.
pub(crate) fn read_into(text: &str, collector: &mut Collector) {
    let mut setting = Setting::default();
    let mut iterations = None;
    for line in text.lines().map(str::trim) {
        if let Some((version, started)) = launch(line) {
            collector.tool(version);
            setting = Setting { started, ..Setting::default() };
            iterations = None;
        } else if line.starts_with("SUMMARY") {
            iterations = rates(line);
        } else if let Some(began) = line.strip_prefix("-- started at ") {
            collector.ran_at(time::from_slashes(began.trim_end_matches([' ', '-'])));
        } else if let Some(iterations) = iterations {
            row(line, iterations, &setting, collector);
        } else {
            setting.take(line);
        }
        if line.starts_with("-- finished") || is_count(line) {
            iterations = None;
            setting.take(line);
        }
    }
}

/// How a test was done, as the lines before its table tell.
#[derive(Default)]
struct Setting {
    started: String,
    counted: String,
    options: String,
    path: String,
}

impl Setting {
    fn take(&mut self, line: &str) {
        if is_count(line) {
            self.counted = shortened(&counted(line));
        } else if let Some((name, value)) = line.split_once(':') {
            match name.trim() {
                "Command line used" => self.options = shortened(&options(value)),
                "Path" => self.path = short(value.trim()),
                _ => {}
            }
        }
    }

    fn parameters(&self) -> String {
        let parts = [&self.started, &self.counted, &self.options];
        parts.into_iter().filter(|part| !part.is_empty()).map(String::as_str).collect::<Vec<&str>>().join(" ")
    }
}

/// Version and nodes of `mdtest-4.0.0 was launched with 2 total task(s) on 1 node(s)`.
fn launch(line: &str) -> Option<(&str, String)> {
    let (version, rest) = line.split_once(" was launched with ")?;
    if !version.starts_with("mdtest-") {
        return None;
    }
    let nodes = rest.split_once(" on ").and_then(|(_, nodes)| nodes.split_whitespace().next()).unwrap_or_default();
    let nodes = if nodes.is_empty() { String::new() } else { format!("nodes={}", short(nodes)) };
    Some((version, nodes))
}

/// Whether a line is like `2 tasks, 200 files/directories`.
fn is_count(line: &str) -> bool {
    line.split_once(" tasks, ").is_some_and(|(tasks, _)| tasks.parse::<u64>().is_ok())
}

/// What `2 tasks, 200 files/directories` tells.
fn counted(line: &str) -> String {
    let (tasks, items) = line.split_once(" tasks, ").unwrap_or_default();
    let items: Vec<&str> = items.split_whitespace().take(2).collect();
    match items.as_slice() {
        [count, what] => format!("tasks={tasks} {what}={count}"),
        _ => format!("tasks={tasks}"),
    }
}

/// The options of a command, without its paths.
fn options(command: &str) -> String {
    let mut kept = Vec::new();
    let mut is_path = false;
    for word in command.split_whitespace().skip(1).map(|word| word.trim_matches(['\'', '"'])) {
        let follows = is_path && !word.starts_with('-');
        is_path = PATHS.contains(&word);
        let joined = PATHS.iter().any(|path| word.starts_with(*path) && word.len() > path.len());
        if !follows && !is_path && !joined && !word.contains('/') {
            kept.push(word);
        }
    }
    kept.join(" ")
}

/// The iterations of the table of rates that a line begins; `None`: it begins another one, as of times.
fn rates(line: &str) -> Option<u64> {
    let (before, iterations) = line.split_once("(of ")?;
    if before.contains("time") {
        return None;
    }
    iterations.split_whitespace().next()?.parse().ok()
}

/// Takes in a line of a table of rates.
fn row(line: &str, iterations: u64, setting: &Setting, collector: &mut Collector) {
    let words: Vec<&str> = line.split_whitespace().collect();
    let figures = words.iter().rev().take_while(|word| figure(word).is_some() || **word == "NA").count();
    let Some((name, figures)) = words.split_at_checked(words.len() - figures) else { return };
    let name = name.join(" ");
    let name = name.trim_end_matches([':', ' ']);
    if name.contains("(stonewall)") {
        collector.leave_out(STONEWALL);
        return;
    }
    let Some((workload, group)) = operation(name) else { return };
    // Where each rank is told too, that stands before.
    let last = match figures.len() {
        4 | 7 => figures.last_chunk::<4>(),
        _ => None,
    };
    let Some([_, _, mean, deviation]) = last else {
        collector.leave_out(NOT_WHOLE);
        return;
    };
    let Some(run) = figure(mean).filter(|mean| mean.is_finite() && *mean > 0.0) else {
        collector.leave_out(NOT_DONE);
        return;
    };
    let mut series = Series::one(workload, group, Metric::OperationsPerSecond, run);
    series.parameters = setting.parameters();
    series.contestant = setting.path.clone();
    if iterations != 1 {
        series.deviation = figure(deviation).filter(|deviation| deviation.is_finite() && *deviation >= 0.0);
        collector.note(ONLY_MEANS);
    }
    collector.add(series);
}

fn figure(word: &str) -> Option<f64> {
    word.parse().ok()
}

/// Test and kind of operation of a line, by its name; versions before 4.0 have a colon behind it.
fn operation(name: &str) -> Option<(&'static str, &'static str)> {
    let (on, what) = name.split_once(' ')?;
    let workload = match on {
        "Directory" => "mdtest directory",
        "File" => "mdtest file",
        "Tree" => "mdtest tree",
        _ => return None,
    };
    let group = match what {
        "creation" => "create",
        "stat" => "stat",
        "read" => "read",
        "rename" => "rename",
        "removal" => "delete",
        _ => return None,
    };
    Some((workload, group))
}
