//! Tables of file operations for a terminal: a row per step, a column per lane, split into blocks
//! where the lanes are more than fit side by side.

use crate::clean::{columns, name, shorten};
use crate::layout::{Phrase, Tone, hang};
use crate::words::{self, operations as wording};
use crate::{Style, figures};
use model::Sentence;
use model::findings::{
    Findings, Limit, OperationFigure, OperationRow, OperationTotal, OperationsFinding, OperationsPair, Pair,
    ResultFinding, Verdict,
};

/// Columns that a lane's name may take above its figures.
const LANE_COLUMNS: usize = 12;
/// Columns that a step's name may take at least and at most before it is wrapped.
const STEP_COLUMNS: (usize, usize) = (16, 30);
/// Columns of verdicts, at most, where all lanes stand side by side and where they do not: longer
/// ones are wrapped, as a row has two lines or three anyway.
const VERDICT_COLUMNS: (usize, usize) = (26, 18);
/// Columns between columns.
const GAP: usize = 2;

/// The table of a workload of file operations; `None`: the result is of other work.
pub(crate) fn table_of<'a>(findings: &'a Findings, workload: &str) -> Option<&'a OperationsFinding> {
    findings.operations.iter().find(|table| table.workload == workload)
}

/// Results that are no row of a table.
pub(crate) fn others(findings: &Findings) -> Vec<&ResultFinding> {
    findings.results.iter().filter(|result| table_of(findings, &result.workload).is_none()).collect()
}

/// Steps up to which a table's results also stand among the figures, with latency, CPU and the disk's
/// load: more would bury what a reader looks for.
const STEPS_WITH_FIGURES: usize = 8;

/// Results whose figures are listed.
pub(crate) fn with_figures(findings: &Findings) -> Vec<&ResultFinding> {
    let few = |of: &OperationsFinding| of.rows.len() <= STEPS_WITH_FIGURES;
    findings.results.iter().filter(|result| table_of(findings, &result.workload).is_none_or(few)).collect()
}

/// The result that a row's verdicts stand in.
pub(crate) fn result_of<'a>(
    findings: &'a Findings,
    table: &OperationsFinding,
    row: &OperationRow,
) -> Option<&'a ResultFinding> {
    findings.results.iter().find(|result| result.workload == table.workload && result.group == row.group)
}

/// A lane's time in a row. Where it has other rows, the reason why this one is missing stands below the
/// table once.
pub(crate) fn time(table: &OperationsFinding, figure: &OperationFigure) -> String {
    match figure.seconds {
        Some(seconds) => figures::time(seconds),
        None if has_rows(table, &figure.lane) => wording::MISSING.to_owned(),
        None => words::FAILED.to_owned(),
    }
}

/// Whether a lane did some of a table's steps.
fn has_rows(table: &OperationsFinding, lane: &str) -> bool {
    table.rows.iter().flat_map(|row| &row.figures).any(|figure| figure.lane == lane && figure.seconds.is_some())
}

/// Whether a lane has no figure in a result, and the table of that result says why.
pub(crate) fn is_missing(findings: &Findings, result: &ResultFinding, lane: &str) -> bool {
    table_of(findings, &result.workload).is_some_and(|table| has_rows(table, lane))
        && result.estimates.iter().any(|of| of.lane == lane && of.failure.is_some())
}

/// What a lane moved or did per second.
pub(crate) fn throughput(figure: &OperationFigure) -> String {
    match (figure.bandwidth_bytes_per_second, figure.operations_per_second) {
        (Some(bytes), _) => figures::rate("B/s", bytes),
        (None, Some(operations)) => figures::per_second(operations),
        (None, None) => String::new(),
    }
}

/// The verdict on a lane against the table's reference; `None`: there is none to tell. `named`: with
/// the lane's name.
pub(crate) fn verdict(result: &ResultFinding, lane: &str, reference: &str, named: bool) -> Option<Phrase> {
    let shown = |pair: &Pair, turned: bool| {
        let turn = |ratio: f64| if turned { ratio.recip() } else { ratio };
        let interval =
            pair.low.zip(pair.high).map(|(low, high)| if turned { words::turned((low, high)) } else { (low, high) });
        let of = match pair.verdict {
            Verdict::Faster if turned => Verdict::Slower,
            Verdict::Slower if turned => Verdict::Faster,
            other => other,
        };
        // A ratio that Fairlane's own speed set would pass for the lanes'.
        let ratio = pair.ratio.map(turn).filter(|_| result.limit != Limit::Harness);
        (ratio, interval, of)
    };
    let (ratio, interval, of) = result.pairs.iter().find_map(|pair| {
        if pair.a == lane && pair.b == reference {
            Some(shown(pair, false))
        } else {
            (pair.b == lane && pair.a == reference).then(|| shown(pair, true))
        }
    })?;
    let failed = |lane: &str| result.estimates.iter().any(|of| of.lane == lane && of.failure.is_some());
    if failed(lane) || failed(reference) {
        return None;
    }
    Some(wording::verdict(named.then_some(lane), ratio, interval, of))
}

/// The sections with their rows, in order.
pub(crate) fn sections(table: &OperationsFinding) -> Vec<(&str, Vec<&OperationRow>)> {
    let mut sections: Vec<(&str, Vec<&OperationRow>)> = Vec::new();
    for row in &table.rows {
        match sections.iter_mut().find(|(section, _)| *section == row.section) {
            Some((_, rows)) => rows.push(row),
            None => sections.push((&row.section, vec![row])),
        }
    }
    sections
}

/// What limited the steps of a section, a line per limit, those without a known one left out; and what lanes made of them.
pub(crate) fn limits(findings: &Findings, table: &OperationsFinding, rows: &[&OperationRow]) -> Vec<String> {
    let mut limits: Vec<(Limit, Vec<&str>)> = Vec::new();
    for row in rows {
        let limit = result_of(findings, table, row).map_or(Limit::Unattributed, |result| result.limit);
        match limits.iter_mut().find(|(other, _)| *other == limit) {
            Some((_, groups)) => groups.push(&row.group),
            None => limits.push((limit, vec![&row.group])),
        }
    }
    let known = limits.into_iter().filter(|(limit, _)| *limit != Limit::Unattributed);
    known
        .map(|(limit, groups)| wording::limited(words::verdict::limit(limit), &groups, groups.len() == rows.len()))
        .chain(acts(findings, table, rows))
        .collect()
}

/// What lanes made of the work otherwise than others, a line per sentence with its steps.
fn acts(findings: &Findings, table: &OperationsFinding, rows: &[&OperationRow]) -> Vec<String> {
    let mut acts: Vec<(&str, Vec<&str>)> = Vec::new();
    for row in rows {
        for act in result_of(findings, table, row).into_iter().flat_map(|result| &result.acts) {
            match acts.iter_mut().find(|(other, _)| *other == act.as_str()) {
                Some((_, groups)) => groups.push(&row.group),
                None => acts.push((act.as_str(), vec![&row.group])),
            }
        }
    }
    acts.into_iter()
        .map(|(act, groups)| wording::limited(&words::sentence(act), &groups, groups.len() == rows.len()))
        .collect()
}

/// Reasons of lanes that have no figure in some step, each once.
pub(crate) fn failures(table: &OperationsFinding) -> Vec<Phrase> {
    let mut seen: Vec<(&str, &Sentence)> = Vec::new();
    for figure in table.rows.iter().flat_map(|row| &row.figures) {
        if let Some(reason) = figure.failure.as_ref()
            && !seen.contains(&(&figure.lane, reason))
        {
            seen.push((&figure.lane, reason));
        }
    }
    let of = |(lane, reason): (&str, &Sentence)| match has_rows(table, lane) {
        true => wording::missing(lane, reason),
        false => wording::failed(lane, reason),
    };
    seen.into_iter().map(of).collect()
}

/// What all steps together say, a phrase per pair of lanes; the floor's pairs say nothing.
pub(crate) fn pairs(table: &OperationsFinding) -> Vec<Phrase> {
    let floor = |lane: &str| table.floor.as_deref() == Some(lane);
    // Of a lane that failed no ratio is known, and its failure is said below.
    let compared = |pair: &&OperationsPair| {
        pair.geometric_mean.is_some() || pair.wins + pair.ties + pair.losses + pair.undecided + pair.without_verdict > 0
    };
    let shown = table.pairs.iter().filter(|pair| !floor(&pair.a) && !floor(&pair.b)).filter(compared);
    // Against the others a lane lacks the same promise: the reason is said once for each lane.
    shown.map(|pair| wording::pair(pair, pair.b == table.reference || pair.a == table.reference)).collect()
}

/// A row below a table: its label, and each lane's seconds.
type Total<'a> = (String, Vec<(&'a str, Option<f64>)>);

/// The rows below the table.
pub(crate) fn totals(table: &OperationsFinding) -> Vec<Total<'_>> {
    let row = |label: String, of: fn(&OperationTotal) -> Option<f64>| {
        (label, table.totals.iter().map(|total| (total.lane.as_str(), of(total))).collect::<Vec<_>>())
    };
    let steps = table.totals.iter().map(|total| total.steps).max().unwrap_or(0);
    let all = [
        row(wording::total(steps, table.rows.len()), |total| total.seconds),
        row(wording::SYNC_AFTER.to_owned(), |total| total.sync_seconds),
        row(wording::UNMOUNT.to_owned(), |total| total.unmount_seconds),
    ];
    all.into_iter().filter(|(_, cells)| cells.iter().any(|(_, seconds)| seconds.is_some())).collect()
}

/// A whole table for a terminal.
pub(crate) fn text(out: &mut String, findings: &Findings, table: &OperationsFinding, style: &Style) {
    if !out.is_empty() && !out.ends_with("\n\n") {
        out.push('\n');
    }
    hang(out, "", 0, &wording::heading(table), None, style);
    hang(out, "", 2, &wording::legend(findings, table), None, style);
    match Grid::fitting(findings, table, style) {
        Some(grid) => grid.render(out, findings, table, style),
        None => spelled_out(out, findings, table, style),
    }
    out.push('\n');
    for phrase in pairs(table).into_iter().chain(failures(table)) {
        hang(out, "", 2, &phrase, None, style);
    }
    if let Some(chance) = wording::by_chance(table) {
        hang(out, "", 2, &Phrase::default().tone(Tone::Quiet, format!("{chance}.")), None, style);
    }
}

/// How a table is laid out.
struct Grid<'a> {
    /// Columns of a step's name.
    step: usize,
    /// Columns of a lane's figures.
    lane: usize,
    /// Columns of the verdicts; 0: one lane, nothing to compare.
    verdicts: usize,
    /// Lanes side by side, the reference first in each block.
    blocks: Vec<Vec<&'a str>>,
    /// The floor, where its column is left out for want of room.
    floor_left_out: Option<&'a str>,
}

impl<'a> Grid<'a> {
    /// The widest layout that fits; `None`: not even two lanes stand side by side.
    fn fitting(findings: &Findings, table: &'a OperationsFinding, style: &Style) -> Option<Self> {
        let width = style.columns();
        let longest = table.rows.iter().map(|row| columns(&shorten(&row.group, 60))).max().unwrap_or(0);
        let labels = totals(table).iter().map(|(label, _)| columns(label)).max().unwrap_or(0);
        let step = longest.max(labels).min((width * 3 / 10).clamp(STEP_COLUMNS.0, STEP_COLUMNS.1));
        let cells = table.rows.iter().flat_map(|row| &row.figures).flat_map(|figure| {
            [time(table, figure), throughput(figure), figure.floor_share.map(wording::floor).unwrap_or_default()]
        });
        let names = table.totals.iter().map(|total| columns(&name(&total.lane)).min(LANE_COLUMNS));
        let lane = cells.map(|cell| columns(&cell)).chain(names).max().unwrap_or(0);
        let others = contestants(table);
        let floor = table.floor.as_deref();
        if others.is_empty() && floor.is_none() {
            let fits = step + GAP + lane <= width;
            return fits.then(|| Grid {
                step,
                lane,
                verdicts: 0,
                blocks: vec![vec![table.reference.as_str()]],
                floor_left_out: None,
            });
        }
        let widest = widest_verdict(findings, table, others.len() > 1);
        let mut columns: Vec<&str> = others;
        columns.extend(floor);
        let room = |verdicts: usize| width.saturating_sub(step + GAP + verdicts) / (lane + GAP);
        let generous = widest.min(VERDICT_COLUMNS.0);
        let all_fit = room(generous) > columns.len();
        let widest = if all_fit { generous } else { widest.min(VERDICT_COLUMNS.1) };
        // One column is the reference's.
        let side_by_side = room(widest);
        if side_by_side < 2 {
            return None;
        }
        // Its share stands in every cell: a block of the floor alone would say little more.
        let crowded = columns.len() > 1 && columns.len() % (side_by_side - 1) == 1;
        let floor_left_out = floor.filter(|_| crowded && side_by_side > 2);
        if floor_left_out.is_some() {
            columns.pop();
        }
        let blocks = columns
            .chunks(side_by_side - 1)
            .map(|chunk| std::iter::once(table.reference.as_str()).chain(chunk.iter().copied()).collect())
            .collect();
        Some(Grid { step, lane, verdicts: widest, blocks, floor_left_out })
    }

    fn render(&self, out: &mut String, findings: &Findings, table: &OperationsFinding, style: &Style) {
        for (block, lanes) in self.blocks.iter().enumerate() {
            for (section, rows) in sections(table) {
                out.push('\n');
                self.header(out, section, lanes, table, style);
                for row in &rows {
                    self.row(out, findings, table, row, lanes, style);
                }
                // A limit is the step's: the first block has said it.
                for limit in limits(findings, table, &rows).into_iter().filter(|_| block == 0) {
                    hang(out, "", 2, &Phrase::default().tone(Tone::Quiet, limit), None, style);
                }
            }
            out.push('\n');
            for (label, cells) in totals(table) {
                let of = |lane: &&str| cells.iter().find(|(other, _)| other == lane).and_then(|(_, seconds)| *seconds);
                let times: Vec<Phrase> =
                    lanes.iter().map(|lane| Phrase::new(of(lane).map_or("-".to_owned(), figures::time))).collect();
                let label = Phrase::default().tone(Tone::Label, label);
                self.line(out, &label, (lanes.len(), &times), None, style);
            }
        }
        if let Some(floor) = self.floor_left_out {
            out.push('\n');
            hang(out, "", 2, &wording::floor_left_out(floor), None, style);
        }
    }

    fn header(&self, out: &mut String, section: &str, lanes: &[&str], table: &OperationsFinding, style: &Style) {
        let section = if section.trim().is_empty() { wording::UNNAMED_SECTION } else { section };
        let names: Vec<Phrase> = lanes
            .iter()
            .map(|lane| Phrase::default().tone(Tone::Name, shorten(&name(lane), self.lane.min(LANE_COLUMNS))))
            .collect();
        let against = wording::against(&shorten(&table.reference, LANE_COLUMNS));
        let against = (self.verdicts > 0 && against.columns() <= self.verdicts).then_some(against);
        let section = Phrase::default().tone(Tone::Label, shorten(section, self.step));
        self.line(out, &section, (lanes.len(), &names), against.as_ref(), style);
    }

    fn row(
        &self,
        out: &mut String,
        findings: &Findings,
        table: &OperationsFinding,
        row: &OperationRow,
        lanes: &[&str],
        style: &Style,
    ) {
        let figure = |lane: &&str| row.figures.iter().find(|figure| figure.lane == **lane);
        let cell = |of: &dyn Fn(&OperationFigure) -> String, tone: Tone| -> Vec<Phrase> {
            let text = |lane| figure(lane).map(of).unwrap_or_default();
            lanes.iter().map(|lane| Phrase::default().tone(tone, text(lane))).collect()
        };
        let mut cells = vec![cell(&|figure| time(table, figure), Tone::Plain), cell(&throughput, Tone::Quiet)];
        cells.push(cell(&|figure| figure.floor_share.map(wording::floor).unwrap_or_default(), Tone::Quiet));
        cells.retain(|line| line.iter().any(|cell| !cell.is_empty()));
        let verdicts: Vec<Phrase> =
            verdicts(findings, table, row, lanes).iter().flat_map(|phrase| phrase.wrap(self.verdicts)).collect();
        let name = Phrase::new(shorten(&row.group, 120)).wrap(self.step);
        for at in 0..cells.len().max(verdicts.len()).max(name.len()) {
            let label = name.get(at).cloned().unwrap_or_default();
            let cells: &[Phrase] = cells.get(at).map_or(&[], Vec::as_slice);
            self.line(out, &label, (lanes.len(), cells), verdicts.get(at), style);
        }
        let shares: Vec<f64> = row.figures.iter().filter_map(|figure| figure.process_startup_share).collect();
        if let Some(startup) = wording::startup(&shares) {
            hang(out, "", 2, &Phrase::default().tone(Tone::Quiet, startup), None, style);
        }
    }

    /// A label on the left, figures at the right of their columns, a remark behind them.
    fn line(
        &self,
        out: &mut String,
        label: &Phrase,
        (lanes, cells): (usize, &[Phrase]),
        remark: Option<&Phrase>,
        style: &Style,
    ) {
        let mut line = label.paint(style);
        line.push_str(&" ".repeat(self.step.saturating_sub(label.columns())));
        for at in 0..lanes {
            let cell = cells.get(at).cloned().unwrap_or_default();
            line.push_str(&" ".repeat(GAP + self.lane.saturating_sub(cell.columns())));
            line.push_str(&cell.paint(style));
        }
        if let Some(remark) = remark {
            line.push_str(&" ".repeat(GAP));
            line.push_str(&remark.paint(style));
        }
        out.push_str(line.trim_end());
        out.push('\n');
    }
}

/// The lanes that are held against the reference, in order.
pub(crate) fn contestants(table: &OperationsFinding) -> Vec<&str> {
    let aside = |lane: &str| lane == table.reference || table.floor.as_deref() == Some(lane);
    table.totals.iter().map(|total| total.lane.as_str()).filter(|lane| !aside(lane)).collect()
}

fn verdicts(findings: &Findings, table: &OperationsFinding, row: &OperationRow, lanes: &[&str]) -> Vec<Phrase> {
    let Some(result) = result_of(findings, table, row) else { return Vec::new() };
    let named = contestants(table).len() > 1;
    let floor = |lane: &str| table.floor.as_deref() == Some(lane);
    let others = lanes.iter().filter(|lane| **lane != table.reference && !floor(lane));
    let all: Vec<Phrase> = others
        .filter_map(|lane| verdict(result, lane, &table.reference, named && result.limit != Limit::Harness))
        .map(shortened)
        .collect();
    // Where Fairlane itself was measured, that is one thing to say and not one per lane.
    if result.limit == Limit::Harness { all.into_iter().take(1).collect() } else { all }
}

/// A verdict whose lane's name is no longer than above the column.
fn shortened(mut phrase: Phrase) -> Phrase {
    for span in phrase.spans.iter_mut().filter(|span| span.tone == Tone::Name) {
        span.text = shorten(&span.text, LANE_COLUMNS);
    }
    phrase
}

fn widest_verdict(findings: &Findings, table: &OperationsFinding, several: bool) -> usize {
    let lanes: Vec<&str> = std::iter::once(table.reference.as_str()).chain(contestants(table)).collect();
    let of_rows = table.rows.iter().flat_map(|row| verdicts(findings, table, row, &lanes));
    let header = wording::against(&shorten(&table.reference, LANE_COLUMNS)).columns();
    of_rows.map(|phrase| phrase.columns()).max().unwrap_or(0).max(if several { header } else { 0 })
}

/// Rows as sentences, where the terminal is too narrow for columns.
fn spelled_out(out: &mut String, findings: &Findings, table: &OperationsFinding, style: &Style) {
    let lanes: Vec<&str> = table.totals.iter().map(|total| total.lane.as_str()).collect();
    for (section, rows) in sections(table) {
        let section = if section.trim().is_empty() { wording::UNNAMED_SECTION } else { section };
        out.push('\n');
        hang(out, "", 0, &Phrase::default().tone(Tone::Label, shorten(section, 60)), None, style);
        for row in &rows {
            let figures = lanes.iter().filter_map(|lane| row.figures.iter().find(|figure| figure.lane == **lane));
            let parts = figures.map(|figure| {
                let rate = throughput(figure);
                let mut said = Phrase::default().name(&figure.lane).say(format!(" {}", time(table, figure)));
                said = if rate.is_empty() { said } else { said.say(format!(", {rate}")) };
                match figure.floor_share {
                    Some(share) => said.say(format!(", {}", wording::floor(share))),
                    None => said,
                }
            });
            let verdicts = verdicts(findings, table, row, &lanes);
            let shares: Vec<f64> = row.figures.iter().filter_map(|figure| figure.process_startup_share).collect();
            let startup = wording::startup(&shares).map(Phrase::new);
            let body =
                Phrase::new(format!("{}: ", shorten(&row.group, 120))).join(parts.chain(verdicts).chain(startup), "; ");
            hang(out, "", 2, &body, None, style);
        }
        for limit in limits(findings, table, &rows) {
            hang(out, "", 2, &Phrase::default().tone(Tone::Quiet, limit), None, style);
        }
    }
    out.push('\n');
    for (label, cells) in totals(table) {
        let cells = cells.into_iter().filter_map(|(lane, seconds)| {
            Some(Phrase::default().name(lane).say(format!(" {}", figures::time(seconds?))))
        });
        hang(out, "", 2, &Phrase::new(format!("{label}: ")).join(cells, ", "), None, style);
    }
}

/// How far the steps of a race that still runs are, in one line: verdicts of every pair with the
/// first lane.
pub(crate) fn so_far(results: &[ResultFinding]) -> Phrase {
    let Some(first) = results.first() else { return Phrase::default() };
    let of_pair = |pair: &Pair, result: &ResultFinding| {
        result.pairs.iter().any(|other| other.a == pair.a && other.b == pair.b && other.verdict != Verdict::None)
    };
    // A pair that no step may rank says nothing here, unless there is no other.
    let ranked = |pair: &&Pair| results.iter().any(|result| of_pair(pair, result));
    let none_is = !first.pairs.iter().any(|pair| ranked(&pair));
    let pairs = first.pairs.iter().filter(|pair| none_is || ranked(pair)).map(|pair| {
        let all =
            || results.iter().flat_map(|result| &result.pairs).filter(|other| other.a == pair.a && other.b == pair.b);
        let count = |verdict: Verdict| all().filter(|pair| pair.verdict == verdict).count() as u32;
        wording::pair_so_far(
            (&pair.a, &pair.b),
            [Verdict::Faster, Verdict::Tie, Verdict::Slower, Verdict::Undecided, Verdict::None].map(count),
        )
    });
    Phrase::default().join(pairs, "; ")
}
