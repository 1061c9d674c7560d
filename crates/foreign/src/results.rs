//! What a file of results holds, whoever wrote it.

use crate::text::{cut, short, shortened};
use crate::{ForeignError, MOST_RUNS, MOST_RUNS_OF_ALL, MOST_SERIES};
use std::collections::BTreeMap;

/// What a file of results holds.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Results {
    /// The format, as `docs/import.md` names it.
    pub format: &'static str,
    /// The tool and its version, as the file tells: `fio-3.33`.
    pub tool: String,
    /// When it ran, RFC 3339 in UTC; without its `Z` where the file tells a local time and not its zone; empty: it tells none.
    pub ran: String,
    /// Where it ran.
    pub facts: Facts,
    /// The figures.
    pub series: Vec<Series>,
    /// What of the file did not become a figure, and how often.
    pub left_out: BTreeMap<String, u64>,
    /// What a file of this kind does not tell: one sentence each.
    pub notes: Vec<String>,
}

/// Where a tool ran, as far as its file tells; what it does not tell is empty or 0.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Facts {
    /// Operating system: `Debian GNU/Linux 12`.
    pub os: String,
    /// Release of the kernel.
    pub kernel: String,
    /// Model of the CPU.
    pub cpu: String,
    /// CPUs.
    pub cpus: u32,
    /// Main memory in bytes.
    pub memory_bytes: u64,
    /// The disk, as the file describes it.
    pub disk: String,
}

/// The runs of one test.
#[derive(Debug, Clone, PartialEq)]
pub struct Series {
    /// The test, as the file names it: a job, a Phoronix title, `ior-easy`.
    pub workload: String,
    /// What the file says of how it was done: `rw=randread bs=4k iodepth=32 direct=1`; empty: nothing.
    pub parameters: String,
    /// The kind of operation: `read`, `write`, `create`, `delete`, `stat`, `transactions`; `total` where the file has one
    /// figure for all.
    pub group: String,
    /// Whom the file says it measured, where it compares several: `ext4`, a Phoronix identifier; empty: it does not say.
    pub contestant: String,
    /// The filesystem, where the file tells it: `xfs`; empty: it does not.
    pub filesystem: String,
    /// What is counted.
    pub metric: Metric,
    /// One figure for each run in the file's order, in the unit of `metric`; each is finite and above 0.
    pub runs: Vec<f64>,
    /// Standard deviation of the runs in the unit of `metric`, where the file gives it in place of the runs themselves.
    pub deviation: Option<f64>,
    /// Operations of all runs together; 0: the file does not tell.
    pub operations: u64,
    /// Bytes of all runs together; 0: the file does not tell.
    pub bytes: u64,
    /// Seconds of all runs together; 0: the file does not tell.
    pub seconds: f64,
    /// Latency of single operations, where there is one run and the file tells.
    pub latency: Option<Latency>,
}

/// What a figure counts, and in which unit.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Metric {
    /// Operations per second; more is better.
    OperationsPerSecond,
    /// Bytes per second; more is better.
    BandwidthBytesPerSecond,
    /// Seconds for all of the work; less is better.
    Seconds,
    /// Another figure.
    Other {
        /// Its unit, as the file has it.
        unit: String,
        /// Whether more is better.
        higher_is_better: bool,
    },
}

/// Latency of single operations in nanoseconds; what the file does not tell is `None`.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Latency {
    /// Shortest.
    pub min: Option<f64>,
    /// Mean.
    pub mean: Option<f64>,
    /// Median.
    pub p50: Option<f64>,
    /// 95th percentile.
    pub p95: Option<f64>,
    /// 99th percentile.
    pub p99: Option<f64>,
    /// 99.9th percentile.
    pub p999: Option<f64>,
    /// Longest.
    pub max: Option<f64>,
}

impl Results {
    /// Nothing of this format yet.
    pub(crate) fn new(format: &'static str) -> Results {
        Results { format, ..Results::default() }
    }

    /// Adds a note, once.
    pub(crate) fn note(&mut self, note: &str) {
        if !self.notes.iter().any(|known| known == note) {
            self.notes.push(note.to_owned());
        }
    }

    /// Takes in a time at which it ran: of several the earliest counts.
    pub(crate) fn ran_at(&mut self, time: Option<String>) {
        if let Some(time) = time
            && (self.ran.is_empty() || time < self.ran)
        {
            self.ran = time;
        }
    }

    /// Counts something that did not become a figure.
    pub(crate) fn leave_out(&mut self, what: impl Into<String>) {
        *self.left_out.entry(what.into()).or_default() += 1;
    }

    /// Shortens long texts, and refuses what must not hold of any file that was read.
    pub(crate) fn check(&mut self) -> Result<(), ForeignError> {
        self.shorten();
        let whole = |series: &Series| series.runs.iter().all(|run| run.is_finite() && *run > 0.0);
        match () {
            () if self.series.is_empty() => Err(ForeignError::Nothing {
                format: self.format,
                why: match self.left_out.keys().next() {
                    Some(what) => format!("left out: {what}"),
                    None => "none of its lines has one".to_owned(),
                },
            }),
            () if self.series.len() > MOST_SERIES => Err(ForeignError::TooManySeries),
            () if self.series.iter().any(|series| series.runs.len() > MOST_RUNS) => Err(ForeignError::TooManyRuns),
            () if self.series.iter().map(|series| series.runs.len()).sum::<usize>() > MOST_RUNS_OF_ALL => {
                Err(ForeignError::TooManyRunsOfAll)
            }
            () => {
                debug_assert!(self.series.iter().all(|series| !series.runs.is_empty() && whole(series)));
                Ok(())
            }
        }
    }

    /// Cuts every text to the length that real ones have; parameters so that different ones stay different.
    fn shorten(&mut self) {
        let Facts { os, kernel, cpu, disk, .. } = &mut self.facts;
        for text in [&mut self.tool, &mut self.ran, os, kernel, cpu, disk] {
            cut(text);
        }
        for note in &mut self.notes {
            cut(note);
        }
        for series in &mut self.series {
            let Series { workload, parameters, group, contestant, filesystem, metric, .. } = series;
            for text in [workload, group, contestant, filesystem] {
                cut(text);
            }
            *parameters = shortened(parameters);
            if let Metric::Other { unit, .. } = metric {
                cut(unit);
            }
        }
        for (what, count) in std::mem::take(&mut self.left_out) {
            let sum = self.left_out.entry(short(&what)).or_default();
            *sum = sum.saturating_add(count);
        }
    }
}

impl Series {
    /// A series of one run.
    pub(crate) fn one(workload: &str, group: &str, metric: Metric, run: f64) -> Series {
        Series {
            workload: short(workload),
            parameters: String::new(),
            group: group.to_owned(),
            contestant: String::new(),
            filesystem: String::new(),
            metric,
            runs: vec![run],
            deviation: None,
            operations: 0,
            bytes: 0,
            seconds: 0.0,
            latency: None,
        }
    }
}
