//! sysbench's output of its file and database tests, of version 0.4 to 1.1, one run or several.

use crate::runs::{Run, Runs, Test};
use crate::text::{short, shortened};
use crate::{ForeignError, Latency, Results, number};

const FORMAT: &str = "sysbench output";
/// The line with which the header of a run begins.
const BEGINNING: &str = "Running the test with following options:";
/// What stands around a value of the header, and sysbench's own option for it.
const OPTIONS: [(&str, &str, &str); 12] = [
    ("Number of threads: ", "", "threads"),
    ("Target transaction rate: ", "/sec", "rate"),
    ("Extra file open flags: ", "", "file-extra-flags"),
    ("", " total file size", "file-total-size"),
    ("Block size ", "", "file-block-size"),
    ("Number of IO requests: ", "", "events"),
    ("Number of random requests for random IO: ", "", "max-requests"),
    ("Read/Write ratio for combined random IO test: ", "", "file-rw-ratio"),
    ("Periodic FSYNC enabled, calling fsync() each ", " requests.", "file-fsync-freq"),
    ("Calling fsync() at the end of test, ", ".", "file-fsync-end"),
    ("Calling fsync() after each ", " operation.", "file-fsync-all"),
    ("Using ", " I/O mode", "file-io-mode"),
];
/// Beginnings of lines of the header that tell nothing of how a run was done.
const IDLE: [&str; 6] = ["Initializing", "Random number", "Report intermediate", "WARNING", "Doing ", "Done"];
/// Most lines of a header that are taken.
const MOST_LINES: usize = 40;
const NOTE_LATENCY: &str =
    "sysbench has one latency for reads, writes and fsyncs together: where a run did several of them, it is left out";

/// Whether a text has sysbench's line of its version, and a run's header.
pub(crate) fn is_one(text: &str) -> bool {
    let (mut tool, mut run) = (false, false);
    for line in text.lines() {
        tool |= version(line).is_some();
        run |= line.trim() == BEGINNING;
    }
    tool && run
}

/// Reads the runs of a text. Those whose headers are equal are the runs of one series each.
pub(crate) fn read(text: &str) -> Result<Results, ForeignError> {
    let mut results = Results::new(FORMAT);
    let mut runs = Runs::default();
    let mut block: Option<Block> = None;
    for line in text.lines().map(str::trim) {
        let version = version(line);
        if results.tool.is_empty()
            && let Some(version) = version
        {
            results.tool = format!("sysbench {version}");
        }
        if version.is_some() || line == BEGINNING {
            close(block.take(), &mut runs, &mut results)?;
        }
        if line == BEGINNING {
            block = Some(Block::default());
        } else if let Some(block) = &mut block {
            block.take(line);
        }
    }
    close(block, &mut runs, &mut results)?;
    runs.into_series(&mut results);
    Ok(results)
}

/// The version in a line that tells it: `sysbench 1.0.20 (using system LuaJIT 2.1.0-beta3)`.
fn version(line: &str) -> Option<&str> {
    let version = line.trim().strip_prefix("sysbench ")?.split([' ', ':']).next()?;
    version.starts_with(|first: char| first.is_ascii_digit()).then_some(version)
}

/// Ends a run, and gathers its figures.
fn close(block: Option<Block>, runs: &mut Runs, results: &mut Results) -> Result<(), ForeignError> {
    let Some(block) = block else { return Ok(()) };
    let kinds = block.kinds();
    if kinds.is_empty() {
        results.leave_out("runs without figures of files or transactions");
    }
    let mixed = block.latency != Latency::default() && kinds.len() > 1 && block.transactions.is_none();
    if mixed {
        results.note(NOTE_LATENCY);
    }
    for (group, run) in kinds {
        let workload = if block.test.is_empty() { "oltp".to_owned() } else { format!("fileio {}", block.test) };
        let test = Test { workload, parameters: shortened(&block.options.join(" ")), group, ..Test::default() };
        runs.of_test(test)?.push(run);
    }
    Ok(())
}

/// Reads, writes and fsyncs; `None` where the text does not tell.
type OfFiles = [Option<f64>; 3];

/// What one run tells.
#[derive(Default)]
struct Block {
    /// Whether the header has ended.
    began: bool,
    /// The options of the header, and its other lines in quotes.
    options: Vec<String>,
    /// The file test: `random r/w`; empty: another one.
    test: String,
    block_bytes: f64,
    /// Per second.
    files: OfFiles,
    /// Of all seconds, as 0.4 tells them.
    file_operations: OfFiles,
    /// Bytes per second.
    throughput: OfFiles,
    /// Bytes, as 0.4 tells them.
    file_bytes: OfFiles,
    /// How many, and per second.
    transactions: Option<(f64, f64)>,
    queries: Option<(f64, f64)>,
    seconds: f64,
    latency: Latency,
}

impl Block {
    fn take(&mut self, line: &str) {
        if line == "Threads started!" {
            self.began = true;
        } else if self.began {
            self.result(line);
        } else if !line.is_empty() {
            self.option(line);
        }
    }

    /// A line of the header.
    fn option(&mut self, line: &str) {
        if let Some(test) = line.strip_prefix("Doing ").and_then(|test| test.strip_suffix(" test")) {
            self.test = short(test);
        }
        if IDLE.iter().any(|idle| line.starts_with(*idle)) || self.options.len() >= MOST_LINES {
            return;
        }
        if let Some((files, size)) = line.split_once(" files, ") {
            let size = size.trim_end_matches(" each");
            self.options.push(format!("file-num={} file-size={}", shortened(files), shortened(size)));
            return;
        }
        let known = OPTIONS.iter().find_map(|(before, behind, name)| {
            let value = line.strip_prefix(*before)?.strip_suffix(*behind)?;
            Some((*name, value.trim()))
        });
        match known {
            Some((_, "" | "0" | "(none)")) => {}
            Some((name, value)) => {
                if name == "file-block-size" {
                    self.block_bytes = binary(value).unwrap_or(0.0);
                }
                self.options.push(format!("{name}={}", shortened(value)));
            }
            None => self.options.push(format!("\"{}\"", shortened(line))),
        }
    }

    /// A line of results.
    fn result(&mut self, line: &str) {
        if let Some(done) = line.strip_prefix("Operations performed:") {
            self.file_operations = before(done, [&["read", "reads"], &["write", "writes"], &["other"]]);
        }
        if line.starts_with("Read ") && line.contains("Total transferred") {
            let words: Vec<&str> = line.split_whitespace().take(4).collect();
            if let [_, read, _, written] = words.as_slice() {
                self.file_bytes = [binary(read), binary(written), None];
            }
        }
        let Some((label, value)) = line.rsplit_once(':') else { return };
        let (label, value) = (label.trim(), value.trim());
        match label {
            "reads/s" => self.files[0] = figure(value),
            "writes/s" => self.files[1] = figure(value),
            "fsyncs/s" => self.files[2] = figure(value),
            "read, MiB/s" => self.throughput[0] = figure(value).map(|figure| figure * 1_048_576.0),
            "written, MiB/s" => self.throughput[1] = figure(value).map(|figure| figure * 1_048_576.0),
            "read" => self.iops(0, value),
            "write" => self.iops(1, value),
            "fsync" => self.iops(2, value),
            "transactions" => self.transactions = counted(value),
            "queries" => self.queries = counted(value),
            "total time" | "time elapsed" => self.seconds = figure(value.trim_end_matches('s')).unwrap_or(0.0),
            _ => self.latency(label, value),
        }
    }

    /// As 1.1 tells file operations: `IOPS=1234.00 19.28 MiB/s (20.22 MB/s)`.
    fn iops(&mut self, kind: usize, value: &str) {
        let Some(value) = value.strip_prefix("IOPS=") else { return };
        let (iops, rest) = value.split_once(' ').unwrap_or((value, ""));
        let rate = rest.split('(').next().and_then(number::rate);
        if let (Some(files), Some(throughput)) = (self.files.get_mut(kind), self.throughput.get_mut(kind)) {
            (*files, *throughput) = (figure(iops), rate);
        }
    }

    /// A line of latency in milliseconds; it may be one of something else.
    fn latency(&mut self, label: &str, value: &str) {
        let told = figure(value.trim_end_matches("ms")).map(|figure| figure * 1e6).filter(|figure| *figure > 0.0);
        let place = match label {
            "min" => &mut self.latency.min,
            "avg" => &mut self.latency.mean,
            "max" => &mut self.latency.max,
            _ => match label.strip_suffix("percentile").map(|of| of.trim_start_matches("approx.").trim()) {
                Some("50th" | "50") => &mut self.latency.p50,
                Some("95th" | "95") => &mut self.latency.p95,
                Some("99th" | "99") => &mut self.latency.p99,
                _ => return,
            },
        };
        *place = told;
    }

    /// The runs of each kind of operation that was done, with their groups.
    fn kinds(&self) -> Vec<(&'static str, Run)> {
        let seconds = self.seconds;
        let counted = [("transactions", self.transactions), ("queries", self.queries)];
        let mut kinds: Vec<(&'static str, Run)> = counted
            .into_iter()
            .filter_map(|(group, told)| {
                let (count, operations_per_second) = told?;
                let run = Run { operations_per_second, operations: count as u64, seconds, ..Run::default() };
                (operations_per_second > 0.0).then_some((group, run))
            })
            .collect();
        for (kind, group) in ["read", "write", "fsync"].into_iter().enumerate() {
            let run = self.of_files(kind);
            if run.operations_per_second > 0.0 && !self.test.is_empty() {
                kinds.push((group, run));
            }
        }
        // Of a database, the latency is that of transactions; of files, that of all operations.
        if let [(group, first), others @ ..] = kinds.as_mut_slice()
            && (*group == "transactions" || others.is_empty() && *group != "queries")
        {
            first.latency = (self.latency != Latency::default()).then_some(self.latency);
        }
        kinds
    }

    /// The run of one kind of file operation; where only counts are told, they are put over the seconds.
    fn of_files(&self, kind: usize) -> Run {
        let of = |figures: &OfFiles| figures.get(kind).copied().flatten();
        let (count, bytes) = (of(&self.file_operations).unwrap_or(0.0), of(&self.file_bytes).unwrap_or(0.0));
        let over = |sum: f64| if self.seconds > 0.0 { sum / self.seconds } else { 0.0 };
        Run {
            operations_per_second: of(&self.files).unwrap_or_else(|| over(count)),
            bytes_per_second: of(&self.throughput).unwrap_or_else(|| over(bytes)),
            // An fsync moves no bytes that are told.
            block: if kind < 2 { self.block_bytes } else { 0.0 },
            operations: count as u64,
            bytes: bytes as u64,
            seconds: self.seconds,
            ..Run::default()
        }
    }
}

/// A finite figure that is not below 0, and whose multiples stay finite.
fn figure(text: &str) -> Option<f64> {
    text.trim().parse::<f64>().ok().filter(|figure| (0.0..1e290).contains(figure))
}

/// A size; sysbench counts in 1024, and up to version 0.5 it writes `Kb` for KiB.
fn binary(text: &str) -> Option<f64> {
    number::size_bytes(text.trim_end_matches(['b', 'B', 'i'])).filter(|size| *size < 1e290)
}

/// A count and a rate: `2000   (199.66 per sec.)`.
fn counted(value: &str) -> Option<(f64, f64)> {
    let (count, rate) = value.split_once('(')?;
    Some((figure(count)?, figure(rate.split_whitespace().next()?)?))
}

/// The figures that stand before words, of which each has several forms.
fn before(text: &str, words: [&[&str]; 3]) -> OfFiles {
    let all: Vec<&str> = text.split_whitespace().take(16).collect();
    words.map(|forms| {
        let place = all.windows(2).find_map(|pair| match pair {
            [count, word] if forms.contains(&word.trim_end_matches(',').to_ascii_lowercase().as_str()) => Some(*count),
            _ => None,
        });
        place.and_then(figure)
    })
}
