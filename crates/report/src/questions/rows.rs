//! The rows of the table of a race: figures in the question's own unit, and what stands beside them.

use super::HANG;
use crate::clean::{columns, shorten};
use crate::layout::{Phrase, Tone};
use crate::words::{self, questions as wording};
use crate::{facts, figures, operations};
use model::findings::{Counts, Estimate, Findings, Limit, OperationRow, ResultFinding, Shown, Verdict};
use model::units::human_count;

/// Columns that a row's title may take at all: only what no suite of ours says is longer.
const TITLE_COLUMNS: usize = 160;
/// Columns of a lane's name inside a mark.
const NAME_COLUMNS: usize = 12;

/// One question.
pub(super) struct Row<'a> {
    /// Stands above the row: the workload's title, where it has several rows and this is its first.
    pub(super) heading: Option<String>,
    /// The question.
    pub(super) title: String,
    /// Of the figures.
    pub(super) unit: String,
    /// One per lane, in the table's order.
    pub(super) cells: Vec<Cell>,
    /// What limited it.
    pub(super) limit: &'static str,
    /// The disk was, for every lane.
    pub(super) at_the_disk: bool,
    /// More figures of each lane below its first: a label, and a text per lane.
    pub(super) lines: Vec<(String, Vec<String>)>,
    /// What has to be known beside the figures, a sentence each.
    pub(super) remarks: Vec<Phrase>,
    /// The result that it shows.
    result: &'a ResultFinding,
}

/// One lane's figure.
pub(super) struct Cell {
    pub(super) figure: String,
    pub(super) tone: Tone,
    /// It is decided better than every other lane that it may be ranked with.
    pub(super) best: bool,
    /// How far it is from the reference.
    pub(super) mark: Phrase,
    /// The figure as a share of the best one, 0 to 1; `None`: there is no figure.
    pub(super) share: Option<f64>,
}

impl Row<'_> {
    /// Name of its workload.
    pub(super) fn workload(&self) -> &str {
        &self.result.workload
    }

    /// Whether it is known what limited it.
    pub(super) fn is_limit_known(&self) -> bool {
        self.result.limit != Limit::Unattributed
    }

    /// What a sentence calls it that tells the same of `alike` of the `all` rows of its workload.
    pub(super) fn named(&self, findings: &Findings, alike: usize, all: usize) -> String {
        match (all, alike) {
            (1, _) => self.title.trim().to_owned(),
            (all, alike) if all == alike => facts::title(self.result),
            (all, alike) if operations::table_of(findings, self.workload()).is_some() => {
                words::operations::some_steps(&self.result.title, alike, all)
            }
            _ => format!("{}: {}", facts::title(self.result), self.title.trim()),
        }
    }

    /// The title in lines of so many columns, those after the first hanging.
    pub(super) fn title_lines(&self, most: usize) -> Vec<String> {
        if columns(&self.title) <= most {
            return vec![self.title.clone()];
        }
        let indent = self.indent().len() - HANG;
        let lines = Phrase::new(self.title.trim()).wrap(most.saturating_sub(indent + HANG));
        let padded = |(at, line): (usize, &Phrase)| {
            format!("{}{}", " ".repeat(if at == 0 { indent } else { indent + HANG }), line.plain())
        };
        lines.iter().enumerate().map(padded).collect()
    }

    /// Whether a lane of it raced fewer rounds, so that its figure is put in proportion.
    pub(super) fn has_fewer_rounds(&self) -> bool {
        self.result.estimates.iter().any(|of| of.row_mean.is_some())
    }

    /// What stands before the lines below the title.
    pub(super) fn indent(&self) -> &'static str {
        if self.title.starts_with(' ') { "    " } else { "  " }
    }
}

/// The lanes, the one that the others are held against first: the first that some row ranks against another one.
pub(super) fn lanes(findings: &Findings) -> Vec<&str> {
    let all: Vec<&str> = findings.lanes.iter().map(|lane| lane.name.as_str()).collect();
    let pairs = || findings.results.iter().flat_map(|result| &result.pairs);
    let ranked =
        |lane: &&str| pairs().any(|pair| (pair.a == *lane || pair.b == *lane) && pair.verdict != Verdict::None);
    let Some(reference) = all.iter().copied().find(ranked).or(all.first().copied()) else { return Vec::new() };
    let others = all.into_iter().filter(|lane| *lane != reference);
    std::iter::once(reference).chain(others).collect()
}

/// A row for each result, in the order of the race.
pub(super) fn rows<'a>(findings: &'a Findings, lanes: &[&str]) -> Vec<Row<'a>> {
    let mut rows: Vec<Row> = Vec::new();
    for result in in_order(findings) {
        let group = facts::group_of(result, &findings.results);
        let first = rows.last().is_none_or(|before| before.result.workload != result.workload);
        let title = match group {
            Some(group) => format!("  {}", shorten(group, TITLE_COLUMNS - 2)),
            None => shorten(&result.title, TITLE_COLUMNS),
        };
        let title = if columns(title.trim()) == 0 { shorten(&result.workload, TITLE_COLUMNS) } else { title };
        let heading = group.filter(|_| first).map(|_| facts::title(result));
        rows.push(row(findings, result, lanes, (heading, title)));
    }
    rows
}

/// The results; steps of file operations in the order of their table.
fn in_order(findings: &Findings) -> Vec<&ResultFinding> {
    let mut seen: Vec<&str> = Vec::new();
    let mut ordered = Vec::new();
    for result in &findings.results {
        if seen.contains(&result.workload.as_str()) {
            continue;
        }
        seen.push(&result.workload);
        let all = || findings.results.iter().filter(|other| other.workload == result.workload);
        match operations::table_of(findings, &result.workload) {
            Some(table) => {
                let of = |row: &OperationRow| all().find(|other| other.group == row.group);
                ordered.extend(table.rows.iter().filter_map(of));
            }
            None => ordered.extend(all()),
        }
    }
    ordered
}

fn row<'a>(
    findings: &'a Findings,
    result: &'a ResultFinding,
    lanes: &[&str],
    (heading, title): (Option<String>, String),
) -> Row<'a> {
    let values: Vec<Option<f64>> = lanes.iter().map(|lane| value(findings, result, lane)).collect();
    let unit = Unit::new(result, &values);
    let estimate = |lane: &str| result.estimates.iter().find(|of| of.lane == lane);
    let best =
        values.iter().flatten().copied().reduce(|a, b| if result.higher_is_better { a.max(b) } else { a.min(b) });
    let winner = match result.ranking.as_slice() {
        [first, _, ..] if first.len() == 1 && result.limit != Limit::Harness => first.first(),
        _ => None,
    };
    let cell = |(&lane, &value): (&&str, &Option<f64>)| {
        let failed = estimate(lane).is_some_and(|of| of.failed().is_some());
        let (figure, tone) = match value {
            Some(value) => (unit.figure(value), Tone::Plain),
            None if failed => (words::FAILED.to_owned(), Tone::Failed),
            None => (wording::NO_FIGURE.to_owned(), Tone::Quiet),
        };
        let share = value.zip(best).map(|(own, best)| if result.higher_is_better { own / best } else { best / own });
        Cell {
            figure,
            tone,
            best: winner.is_some_and(|winner| winner == lane),
            mark: if value.is_some() { mark(result, lane, lanes) } else { Phrase::default() },
            share: share.filter(|share| share.is_finite()),
        }
    };
    let cells: Vec<Cell> = lanes.iter().zip(&values).map(cell).collect();
    let unranked = result.pairs.iter().all(|pair| matches!(pair.verdict, Verdict::Tie | Verdict::None));
    let indent = if title.starts_with(' ') { "    " } else { "  " };
    Row {
        heading,
        unit: unit.name,
        limit: wording::limit_or_headline(result),
        at_the_disk: result.limit == Limit::Device && unranked,
        lines: lines(result, lanes, indent),
        remarks: remarks(result),
        title,
        cells,
        result,
    }
}

/// A lane's figure: of a step of file operations what its table shows, so that both agree.
fn value(findings: &Findings, result: &ResultFinding, lane: &str) -> Option<f64> {
    let estimate = result.estimates.iter().find(|of| of.lane == lane && of.failure.is_none())?;
    let step = || {
        let table = operations::table_of(findings, &result.workload)?;
        let row = table.rows.iter().find(|row| row.group == result.group)?;
        let figure = row.figures.iter().find(|figure| figure.lane == lane)?;
        match result.counts {
            Counts::Bytes => figure.bandwidth_bytes_per_second,
            _ => figure.operations_per_second,
        }
    };
    let own = || Some(estimate.in_row()).filter(|_| !(result.counts == Counts::Bytes && result.unit == "operations/s"));
    step().or_else(own).filter(|value| value.is_finite() && *value >= 0.0)
}

/// The mark of a lane against the table's reference, or the row's own where that one has no figure here.
fn mark(result: &ResultFinding, lane: &str, lanes: &[&str]) -> Phrase {
    let measured = |lane: &str| result.estimates.iter().any(|of| of.lane == lane && of.failure.is_none());
    let Some(&reference) = lanes.first() else { return Phrase::default() };
    if measured(reference) {
        let pair = Shown::from_lanes(result, lane, reference).filter(|_| lane != reference);
        return pair.map(|pair| wording::mark(result, &pair)).unwrap_or_default();
    }
    let Some(own) = result.reference.as_deref().filter(|own| *own != lane && measured(own)) else {
        return Phrase::default();
    };
    let mark = Shown::from_lanes(result, lane, own).map(|pair| wording::mark(result, &pair)).unwrap_or_default();
    if mark.is_empty() { mark } else { mark.say(" (").name(&shorten(own, NAME_COLUMNS)).say(")") }
}

/// More figures of each lane: how long the slowest hundredth of commits took.
fn lines(result: &ResultFinding, lanes: &[&str], indent: &str) -> Vec<(String, Vec<String>)> {
    let of = |lane: &&str, figure: fn(&Estimate) -> Option<f64>| {
        let known = result.estimates.iter().find(|of| of.lane == **lane && of.failure.is_none()).and_then(figure);
        known.map(|nanoseconds| format!("{} ", figures::brief(nanoseconds * 1e-9))).unwrap_or_default()
    };
    if result.counts != Counts::Commits || result.unit == "ns" {
        return Vec::new();
    }
    let cells: Vec<String> = lanes.iter().map(|lane| of(lane, |estimate| estimate.latency_p99_ns)).collect();
    if cells.iter().all(String::is_empty) { Vec::new() } else { vec![(format!("{indent}{}", wording::P99), cells)] }
}

/// What has to be known beside a row's figures.
fn remarks(result: &ResultFinding) -> Vec<Phrase> {
    let buffered = (!result.buffered.is_empty()).then(|| wording::buffers(&result.buffered));
    let pace = words::verdict::pace(result).map(Phrase::new);
    buffered.into_iter().chain(pace).collect()
}

/// The unit of a row, the same for all its lanes.
struct Unit {
    name: String,
    /// What one of it is; `None`: counts, which carry their own `k`.
    scale: Option<f64>,
}

impl Unit {
    fn new(result: &ResultFinding, values: &[Option<f64>]) -> Unit {
        let usable = || values.iter().flatten().copied().filter(|value| *value > 0.0);
        let (least, most) = (usable().reduce(f64::min).unwrap_or(1.0), usable().reduce(f64::max).unwrap_or(1.0));
        let scaled = |units: &[(&str, f64)], at: f64| {
            let fits = |unit: &&(&str, f64)| at >= unit.1;
            let (name, scale) = units.iter().find(fits).or(units.last()).copied().unwrap_or(("", 1.0));
            Unit { name: name.to_owned(), scale: Some(scale) }
        };
        if usable().next().is_none() {
            return Unit { name: String::new(), scale: None };
        }
        let is_bytes = result.unit == "B/s" || (result.counts == Counts::Bytes && result.section.is_some());
        match result.unit.as_str() {
            // One unit for the row: 1890 beside 735 MB/s reads better than 1.89 GB/s beside it.
            _ if is_bytes => scaled(&[("GB/s", 1e9), ("MB/s", 1e6), ("kB/s", 1e3)], most.min(least * 9.995)),
            "ns" => scaled(&[("s", 1e9), ("ms", 1e5), ("us", 1e3)], least).of_time(),
            "operations/s" => Unit { name: wording::unit(result.counts).to_owned(), scale: None },
            other => Unit { name: shorten(other, 14), scale: None },
        }
    }

    /// Disks think in milliseconds: a tenth of one is told in them.
    fn of_time(self) -> Unit {
        let scale = if self.name == "ms" { Some(1e6) } else { self.scale };
        Unit { scale, ..self }
    }

    fn figure(&self, value: f64) -> String {
        match self.scale {
            Some(scale) => figures::three_digits(value / scale),
            None => human_count(value),
        }
    }
}
