//! The text that IOR prints, also as its CSV; mdtest's text in the same file is read beside it.

use crate::text::{short, shortened};
use crate::{ForeignError, MOST_SERIES, Metric, Results, Series, mdtest, time};
use std::collections::{BTreeMap, BTreeSet};

const FORMAT: &str = "IOR or mdtest output";
/// Lines at the beginning in which the format must show itself.
const LOOK: usize = 5_000;
/// Bytes of IOR's `MiB`.
const MIB: f64 = 1_048_576.0;
/// The column that each table of runs has.
const BANDWIDTH: &str = "bw(MiB/s)";

const NO_FIGURE: &str = "a run of IOR whose bandwidth is no figure above 0";
const NOT_WHOLE: &str = "a line of IOR's table that is not whole";
const CUT_OFF_NOTE: &str = "the text does not say that the run finished: it may be cut off";
/// What is told of a table with operations per second.
pub(crate) const IOPS_NOTE: &str =
    "IOR's IOPS leave out the time of open and close; its bandwidth, which has both, is taken.";

/// Options that say what a test did, and their names here. The older name of `tasks` is `clients`.
const OPTIONS: [(&str, &str); 13] = [
    ("api", "api"),
    ("access", "access"),
    ("type", "type"),
    ("pattern", "pattern"),
    ("segments", "segments"),
    ("ordering in a file", "order"),
    ("ordering inter file", "order_between_files"),
    ("nodes", "nodes"),
    ("tasks", "tasks"),
    ("clients", "clients"),
    ("clients per node", "clients_per_node"),
    ("xfersize", "xfersize"),
    ("blocksize", "blocksize"),
];

/// Whether a text is one of these.
pub(crate) fn is_one(text: &str) -> bool {
    text.lines().take(LOOK).map(str::trim).any(|line| {
        line.starts_with("IOR-") && line.contains("MPI Coordinated Test of Parallel I/O")
            || Table::parse(line).is_some()
            || mdtest::is_one(line)
    })
}

/// The results of a text.
pub(crate) fn read(text: &str) -> Result<Results, ForeignError> {
    let mut collector = Collector::new(FORMAT);
    let mut options = Options::default();
    let mut table = None;
    // A table of CSV alone has no end.
    let begins = |line: &str| line.starts_with("IOR-") || line.starts_with("mdtest-");
    let ends = |line: &str| line.starts_with("Finished") || line.starts_with("-- finished");
    let any = |is_one: fn(&str) -> bool| text.lines().map(str::trim).any(is_one);
    if any(begins) && !any(ends) {
        collector.note(CUT_OFF_NOTE);
    }
    for line in text.lines().map(str::trim) {
        if let Some(found) = Table::parse(line) {
            if found.has_iops {
                collector.note(IOPS_NOTE);
            }
            table = Some(found);
        } else if ends_table(line) {
            table = None;
            if line.starts_with("IOR-") {
                collector.tool(line.split(": ").next().unwrap_or(line));
            } else if begins_test(line) {
                options = Options::default();
            }
        } else if let Some(table) = &table {
            row(line, table, &options, &mut collector);
        } else if let Some(machine) = line.strip_prefix("Machine") {
            collector.machine(machine.trim_start().trim_start_matches(':'));
        } else if let Some((name, value)) = line.split_once([':', '=']) {
            match name.trim() {
                "Began" => collector.ran_at(time::from_ctime(value)),
                name => options.take(name, value.trim()),
            }
        }
    }
    mdtest::read_into(text, &mut collector);
    Ok(collector.end())
}

/// Whether a line begins the description of a test.
fn begins_test(line: &str) -> bool {
    let name = line.split_once(':').map_or(line, |(name, _)| name).trim_end();
    matches!(name, "Options" | "Summary" | "TestID") || line.starts_with("Test ") && line.contains(" started")
}

/// Whether no line of a table can follow a line: the summaries tell the same runs again.
fn ends_table(line: &str) -> bool {
    let first = line.split_whitespace().next().unwrap_or_default();
    matches!(first, "Operation" | "Summary" | "Max" | "Finished") || line.starts_with("IOR-") || begins_test(line)
}

/// A table of runs, by its heading.
struct Table {
    is_csv: bool,
    has_iops: bool,
    cells: usize,
    bandwidth: usize,
    seconds: Option<usize>,
}

impl Table {
    /// The table of which a line is the heading.
    fn parse(line: &str) -> Option<Table> {
        let is_csv = line.starts_with("access,");
        if !is_csv && !line.starts_with("access ") {
            return None;
        }
        let names = cells(line, is_csv);
        let column = |name: &str| names.iter().position(|other| *other == name);
        Some(Table {
            is_csv,
            has_iops: column("IOPS").is_some(),
            cells: names.len(),
            bandwidth: column(BANDWIDTH)?,
            seconds: column("total(s)"),
        })
    }
}

fn cells(line: &str, is_csv: bool) -> Vec<&str> {
    match is_csv {
        true => line.split(',').map(str::trim).collect(),
        false => line.split_whitespace().collect(),
    }
}

/// Takes in a line of a table. What removing the files took is not of the test.
fn row(line: &str, table: &Table, options: &Options, collector: &mut Collector) {
    let cells = cells(line, table.is_csv);
    let group = match cells.first() {
        Some(&"write") => "write",
        Some(&"read") => "read",
        _ => return,
    };
    if cells.len() != table.cells {
        collector.leave_out(NOT_WHOLE);
        return;
    }
    let figure = |at: usize| cells.get(at).and_then(|cell| cell.parse::<f64>().ok());
    let seconds = table.seconds.and_then(figure);
    collector.add_run(group, figure(table.bandwidth), seconds, &options.parameters(), &options.path);
}

/// The options of a test that say what it did.
#[derive(Default)]
pub(crate) struct Options {
    values: BTreeMap<&'static str, String>,
    path: String,
}

impl Options {
    /// Takes in an option; those that say nothing of what is done are passed over.
    pub(crate) fn take(&mut self, name: &str, value: &str) {
        if name == "test filename" {
            self.path = short(value);
        }
        let Some((name, told)) = OPTIONS.into_iter().find(|(known, _)| *known == name) else { return };
        // Older versions print the version of the interface beside it.
        let value = if name == "api" { value.split_whitespace().next().unwrap_or_default() } else { value };
        let words: Vec<&str> = value.split_whitespace().collect();
        let between = if name.ends_with("size") { "" } else { "-" };
        if !words.is_empty() {
            self.values.insert(told, shortened(&words.join(between)));
        }
    }

    /// Where the test ran, as it names its file.
    pub(crate) fn path(&self) -> &str {
        &self.path
    }

    /// How the test was done.
    pub(crate) fn parameters(&self) -> String {
        let mut told = Vec::new();
        for (_, name) in OPTIONS {
            if let Some(value) = self.values.get(name) {
                told.push(format!("{name}={value}"));
            }
        }
        told.join(" ")
    }
}

/// What makes runs those of one test: workload, parameters, group, contestant and metric.
type Key = (String, String, String, String, Metric);

/// Series that grow by a run at a time.
pub(crate) struct Collector {
    results: Results,
    places: BTreeMap<Key, usize>,
}

impl Collector {
    /// Nothing of a format yet.
    pub(crate) fn new(format: &'static str) -> Collector {
        Collector { results: Results::new(format), places: BTreeMap::new() }
    }

    /// Tells a note once.
    pub(crate) fn note(&mut self, note: &str) {
        self.results.note(note);
    }

    /// Takes in a time at which a program began.
    pub(crate) fn ran_at(&mut self, time: Option<String>) {
        self.results.ran_at(time);
    }

    /// Counts what did not become a figure.
    pub(crate) fn leave_out(&mut self, what: &str) {
        self.results.leave_out(what);
    }

    /// Names a program that wrote the file.
    pub(crate) fn tool(&mut self, tool: &str) {
        let tool = short(tool);
        let tools = &mut self.results.tool;
        if tools.is_empty() {
            *tools = tool;
        } else if !tools.split(", ").any(|other| other == tool) && tools.len() < 200 {
            *tools = format!("{tools}, {tool}");
        }
    }

    /// Takes the system and its release from IOR's `Linux host release`; the host's name is not kept.
    pub(crate) fn machine(&mut self, machine: &str) {
        let mut words = machine.split_whitespace();
        if let Some(system) = words.next().filter(|system| *system != "Unknown") {
            self.results.facts.os = short(system);
        }
        if let Some(release) = words.nth(1) {
            self.results.facts.kernel = short(release);
        }
    }

    /// Adds a run of IOR of so many MiB per second.
    pub(crate) fn add_run(
        &mut self,
        group: &str,
        mib_per_second: Option<f64>,
        seconds: Option<f64>,
        parameters: &str,
        path: &str,
    ) {
        let run = mib_per_second.map(|figure| figure * MIB).filter(|run| run.is_finite() && *run > 0.0);
        let Some(run) = run else {
            self.leave_out(NO_FIGURE);
            return;
        };
        let mut series = Series::one("IOR", group, Metric::BandwidthBytesPerSecond, run);
        series.parameters = parameters.to_owned();
        series.contestant = path.to_owned();
        series.seconds = seconds.filter(|seconds| seconds.is_finite() && *seconds > 0.0).unwrap_or_default();
        self.add(series);
    }

    /// Adds the runs of a series to those of the same test.
    pub(crate) fn add(&mut self, series: Series) {
        let key = (
            series.workload.clone(),
            series.parameters.clone(),
            series.group.clone(),
            series.contestant.clone(),
            series.metric.clone(),
        );
        if let Some(place) = self.places.get(&key).copied() {
            let Some(known) = self.results.series.get_mut(place) else { return };
            known.runs.extend(series.runs);
            // The sum is told only where each run tells its part.
            let all = known.seconds > 0.0 && series.seconds > 0.0;
            known.seconds = if all { (known.seconds + series.seconds).min(f64::MAX) } else { 0.0 };
            known.deviation = None;
        } else if self.results.series.len() <= MOST_SERIES {
            self.places.insert(key, self.results.series.len());
            self.results.series.push(series);
        }
    }

    /// What was collected. Places are told only where a test was done in several of them.
    pub(crate) fn end(mut self) -> Results {
        let mut tests = BTreeSet::new();
        let mut several = false;
        for (workload, parameters, group, _, metric) in self.places.keys() {
            several |= !tests.insert((workload, parameters, group, metric));
        }
        if !several {
            self.results.series.iter_mut().for_each(|series| series.contestant.clear());
        }
        self.results
    }
}
