//! The one table of a race: a row per question, a column per lane, and what limited it.

mod markdown;
mod rows;

pub(crate) use markdown::markdown;

use crate::Style;
use crate::clean::{columns, shorten};
use crate::layout::{GLUE, Phrase, Tone, hang};
use crate::words::questions as wording;
use model::findings::Findings;
use rows::{Cell, Row};

/// Columns of a lane's name above its figures.
const LANE_COLUMNS: usize = 18;
/// Columns of a title, and of its lines where it has several, on a terminal that has no room for the whole.
const TITLE_COLUMNS: usize = 32;
/// Spaces before a title's further lines, beyond those of its first.
const HANG: usize = 2;
/// Columns between columns.
const GAP: usize = 2;
/// A terminal from this width on has bars, each of so many columns.
const WIDE_COLUMNS: usize = 120;
const BAR_COLUMNS: std::ops::RangeInclusive<usize> = 4..=12;

/// The table with its legend; nothing where no work has a figure.
pub(crate) fn text(out: &mut String, findings: &Findings, style: &Style) {
    let mut table = Table::new(findings);
    if table.rows.is_empty() || table.lanes.is_empty() {
        return;
    }
    let layout = table.fit(style);
    match &layout {
        Layout::Beside { bar, limit } => table.beside(out, *bar, *limit, style),
        Layout::Below { blocks } => table.below(out, blocks, style),
        Layout::Listed => table.listed(out, style),
    }
    if let Layout::Beside { limit: false, .. } = layout {
        table.limits(findings, out, style);
    }
    let bars = matches!(layout, Layout::Beside { bar: Some(_), .. });
    if let Some(legend) = legend(&table, findings, wording::Marks { bars, ..table.marks() }) {
        hang(out, "", 2, &quiet(legend), None, style);
    }
}

/// What the marks of a table mean.
fn legend(table: &Table, findings: &Findings, marks: wording::Marks) -> Option<Phrase> {
    let reference = (table.lanes.len() > 1).then_some(table.lanes[0]);
    wording::legend(reference, findings.margin, marks)
}

/// All of it in the tone of what is less important.
fn quiet(mut phrase: Phrase) -> Phrase {
    phrase.spans.iter_mut().for_each(|span| span.tone = Tone::Quiet);
    phrase
}

/// How the table is laid out.
enum Layout {
    /// A line for each row, marks beside the figures; perhaps with bars of so many columns.
    Beside {
        /// Columns of a bar.
        bar: Option<usize>,
        /// What limited a row has a column; otherwise it stands below the table.
        limit: bool,
    },
    /// Marks below the figures. Lanes side by side, the reference first in each block, by their places.
    Below {
        /// Places of lanes.
        blocks: Vec<Vec<usize>>,
    },
    /// A line for each lane.
    Listed,
}

struct Table<'a> {
    /// The reference first.
    lanes: Vec<&'a str>,
    rows: Vec<Row<'a>>,
    /// Columns that a title may take on one line.
    title: usize,
    /// Columns that a lane's name may take above its figures.
    lane: usize,
}

/// Columns of the parts of a row.
struct Widths {
    title: usize,
    /// Of each lane: its figures, and its marks.
    lanes: Vec<(usize, usize)>,
    unit: usize,
    limit: usize,
}

impl<'a> Table<'a> {
    fn new(findings: &'a Findings) -> Self {
        let lanes = rows::lanes(findings);
        let rows = rows::rows(findings, &lanes);
        Table { lanes, rows, title: usize::MAX, lane: usize::MAX }
    }

    fn marks(&self) -> wording::Marks {
        let cells = || self.rows.iter().flat_map(|row| &row.cells);
        let begins = |sign: &str| cells().any(|cell| cell.mark.plain().starts_with(sign));
        wording::Marks {
            best: cells().any(|cell| cell.best),
            tie: begins("tie"),
            undecided: cells().any(|cell| cell.is_undecided()),
            too_noisy: cells().any(|cell| cell.mark.plain() == wording::TOO_NOISY.replace(GLUE, " ")),
            unsure: begins("~"),
            unranked: begins("("),
            disk: self.rows.iter().any(|row| row.at_the_disk),
            fewer_rounds: self.rows.iter().any(Row::has_fewer_rounds),
            bars: false,
            bold: false,
        }
    }

    fn header(&self, lane: usize) -> String {
        shorten(&crate::clean::name(self.lanes[lane]), self.lane)
    }

    /// Whether each lane's name, as it stands above its column, tells it from the others.
    fn names_differ(&self) -> bool {
        let mut names: Vec<String> = (0..self.lanes.len()).map(|at| self.header(at)).collect();
        names.sort();
        names.dedup();
        names.len() == self.lanes.len()
    }

    /// Finds the layout: whole names and titles where they have room, names cut next, titles broken last. In a pipe
    /// nothing is cut or broken.
    fn fit(&mut self, style: &Style) -> Layout {
        if style.piped {
            return Layout::Beside { bar: None, limit: self.widths().limit > 0 };
        }
        let room = [(usize::MAX, usize::MAX), (usize::MAX, LANE_COLUMNS), (TITLE_COLUMNS, LANE_COLUMNS)];
        for (title, lane) in room {
            (self.title, self.lane) = (title, lane);
            if let Some(layout) = self.in_columns(style).filter(|_| self.names_differ()) {
                return layout;
            }
        }
        self.in_lines(style)
    }

    fn widths(&self) -> Widths {
        let widest = |of: &dyn Fn(&Row) -> usize| self.rows.iter().map(of).max().unwrap_or(0);
        let lane = |at: usize| {
            let lines = |row: &Row| row.lines.iter().map(|(_, cells)| columns(&cells[at])).max().unwrap_or(0);
            let figure = widest(&|row| row.cells[at].columns().max(lines(row)));
            (figure, widest(&|row| row.cells[at].mark.columns()))
        };
        let lines = |row: &Row| row.title_lines(self.title).iter().map(|line| columns(line)).max().unwrap_or(0);
        let title = widest(&lines);
        let limit = widest(&|row| columns(row.limit));
        Widths {
            title: title.max(columns(wording::QUESTION)),
            lanes: (0..self.lanes.len()).map(lane).collect(),
            unit: widest(&|row| columns(&row.unit)).max(columns(wording::UNIT)),
            limit: if limit == 0 { 0 } else { limit.max(columns(wording::LIMITED_BY)) },
        }
    }

    /// A line for each row with all its marks; `None`: there is no room.
    fn in_columns(&self, style: &Style) -> Option<Layout> {
        let widths = self.widths();
        let width = style.columns();
        let lane = |(at, &(figure, mark)): (usize, &(usize, usize))| {
            GAP + beside_columns(figure, mark, None).max(columns(&self.header(at)))
        };
        let lanes: usize = widths.lanes.iter().enumerate().map(lane).sum();
        let without = widths.title + lanes + GAP + widths.unit;
        let limit = widths.limit > 0;
        let all = without + if limit { GAP + widths.limit } else { 0 };
        if all <= width {
            let free = width.saturating_sub(all) / self.lanes.len();
            let drawn = width >= WIDE_COLUMNS && self.lanes.len() > 1;
            let bar = free.saturating_sub(1).min(*BAR_COLUMNS.end());
            return Some(Layout::Beside { bar: Some(bar).filter(|bar| drawn && BAR_COLUMNS.contains(bar)), limit });
        }
        (without <= width).then_some(Layout::Beside { bar: None, limit: false })
    }

    /// Several lines for each row.
    fn in_lines(&self, style: &Style) -> Layout {
        let widths = self.widths();
        let column = self.below_columns(&widths);
        let side_by_side = style.columns().saturating_sub(self.below_title(&widths)) / (GAP + column);
        // Two names that look alike above their columns would hide which is which.
        if !self.names_differ() || side_by_side < 2.min(self.lanes.len()) {
            return Layout::Listed;
        }
        let others: Vec<usize> = (1..self.lanes.len()).collect();
        let blocks: Vec<Vec<usize>> = others
            .chunks(side_by_side.saturating_sub(1).max(1))
            .map(|chunk| std::iter::once(0).chain(chunk.iter().copied()).collect())
            .collect();
        Layout::Below { blocks: if blocks.is_empty() { vec![vec![0]] } else { blocks } }
    }

    fn below_columns(&self, widths: &Widths) -> usize {
        let names = (0..self.lanes.len()).map(|at| columns(&self.header(at)));
        widths.lanes.iter().map(|&(figure, mark)| figure.max(mark)).chain(names).max().unwrap_or(0)
    }

    fn below_title(&self, widths: &Widths) -> usize {
        self.rows
            .iter()
            .map(|row| 2 + columns(&wording::below(&row.unit, row.limit)))
            .max()
            .unwrap_or(0)
            .max(widths.title)
    }

    fn beside(&self, out: &mut String, bar: Option<usize>, limit: bool, style: &Style) {
        let widths = self.widths();
        let lane_columns = |at: usize| {
            let (figure, mark) = widths.lanes[at];
            beside_columns(figure, mark, bar).max(columns(&self.header(at)))
        };
        let mut header = Line::begin(Phrase::default().tone(Tone::Quiet, wording::QUESTION), widths.title);
        for at in 0..self.lanes.len() {
            header.left(Phrase::default().tone(Tone::Name, self.header(at)), lane_columns(at));
        }
        header.left(Phrase::default().tone(Tone::Quiet, wording::UNIT), widths.unit);
        if limit {
            header.left(Phrase::default().tone(Tone::Quiet, wording::LIMITED_BY), widths.limit);
        }
        header.end(out, style);
        for row in &self.rows {
            self.heading(out, row, style);
            let mut line = Line::begin(Phrase::new(self.begin_title(out, row)), widths.title);
            for (at, cell) in row.cells.iter().enumerate() {
                let (figure, _) = widths.lanes[at];
                line.left(cell.beside(figure, bar), lane_columns(at));
            }
            line.left(Phrase::new(&row.unit), widths.unit);
            if limit {
                line.left(Phrase::default().tone(Tone::Quiet, row.limit), widths.limit);
            }
            line.end(out, style);
            for (label, cells) in &row.lines {
                let mut line = Line::begin(Phrase::default().tone(Tone::Quiet, label), widths.title);
                for (at, cell) in cells.iter().enumerate() {
                    let (figure, _) = widths.lanes[at];
                    let cell = format!("{}{cell}", " ".repeat(figure.saturating_sub(columns(cell))));
                    line.left(Phrase::default().tone(Tone::Quiet, cell), lane_columns(at));
                }
                line.end(out, style);
            }
            remarks(out, row, style);
        }
    }

    fn below(&self, out: &mut String, blocks: &[Vec<usize>], style: &Style) {
        let widths = self.widths();
        let (title, column) = (self.below_title(&widths), self.below_columns(&widths));
        for (number, lanes) in blocks.iter().enumerate() {
            let mut header = Line::begin(Phrase::default().tone(Tone::Quiet, wording::QUESTION), title);
            lanes.iter().for_each(|&at| header.right(Phrase::default().tone(Tone::Name, self.header(at)), column));
            header.end(out, style);
            for row in &self.rows {
                self.heading(out, row, style);
                let mut line = Line::begin(Phrase::new(self.begin_title(out, row)), title);
                lanes.iter().for_each(|&at| line.right(row.cells[at].figure(), column));
                line.end(out, style);
                let below = format!("{}{}", row.indent(), wording::below(&row.unit, row.limit));
                let mut line = Line::begin(Phrase::default().tone(Tone::Quiet, below), title);
                lanes.iter().for_each(|&at| line.right(row.cells[at].mark.clone(), column));
                line.end(out, style);
                for (label, cells) in &row.lines {
                    let mut line = Line::begin(Phrase::default().tone(Tone::Quiet, label), title);
                    lanes.iter().for_each(|&at| line.right(Phrase::default().tone(Tone::Quiet, &cells[at]), column));
                    line.end(out, style);
                }
                // A remark is the row's: the first block has said it.
                if number == 0 {
                    remarks(out, row, style);
                }
            }
            if number + 1 < blocks.len() {
                out.push('\n');
            }
        }
    }

    fn listed(&self, out: &mut String, style: &Style) {
        let names: Vec<String> = self.lanes.iter().map(|lane| crate::clean::name(lane)).collect();
        let most = style.columns() / 3;
        let name_columns = names.iter().map(|name| columns(name)).max().unwrap_or(0).min(most);
        let figure_columns = self.widths().lanes.iter().map(|&(figure, _)| figure).max().unwrap_or(0);
        for row in &self.rows {
            self.heading(out, row, style);
            let below = wording::below(&row.unit, row.limit);
            let title = Phrase::new(row.title.trim());
            let title = if below.is_empty() { title } else { title.say(" (").tone(Tone::Quiet, below).say(")") };
            hang(out, "", row.indent().len().saturating_sub(2), &title, None, style);
            for (at, cell) in row.cells.iter().enumerate() {
                let mut name = Phrase::new(row.indent()).name(&names[at]);
                // One that has no room beside its figures stands above them: cut, it may look like another.
                if columns(&names[at]) > name_columns {
                    hang(out, "", row.indent().len(), &Phrase::default().name(&names[at]), None, style);
                    name = Phrase::default();
                }
                let mut line = Line::begin(name, row.indent().len() + name_columns);
                line.left(cell.beside(figure_columns, None), 0);
                line.end(out, style);
                for (label, cells) in row.lines.iter().filter(|(_, cells)| !cells[at].is_empty()) {
                    let more = Phrase::default().tone(Tone::Quiet, format!("{} {}", label.trim(), cells[at]));
                    hang(out, "", row.indent().len() + 2, &more, None, style);
                }
            }
            remarks(out, row, style);
        }
    }

    /// What limited the rows, gathered: `limited by flushes: commit 4 KiB; by the disk: …`.
    fn limits(&self, findings: &Findings, out: &mut String, style: &Style) {
        let mut limits: Vec<(&str, Vec<String>)> = Vec::new();
        for row in self.rows.iter().filter(|row| row.is_limit_known()) {
            let of_workload = || self.rows.iter().filter(|other| other.workload() == row.workload());
            let alike = of_workload().filter(|other| other.limit == row.limit).count();
            let title = row.named(findings, alike, of_workload().count());
            match limits.iter_mut().find(|(limit, _)| *limit == row.limit) {
                Some((_, titles)) if titles.contains(&title) => {}
                Some((_, titles)) => titles.push(title),
                None => limits.push((row.limit, vec![title])),
            }
        }
        for line in wording::limits(&limits) {
            hang(out, "", 2, &quiet(line), None, style);
        }
    }

    /// The title's last line; those before it are written at once.
    fn begin_title(&self, out: &mut String, row: &Row) -> String {
        let mut lines = row.title_lines(self.title);
        let last = lines.pop().unwrap_or_default();
        lines.iter().for_each(|line| out.push_str(&format!("{}\n", line.trim_end())));
        last
    }

    fn heading(&self, out: &mut String, row: &Row, style: &Style) {
        if let Some(heading) = &row.heading {
            hang(out, "", 0, &Phrase::default().tone(Tone::Label, heading), None, style);
        }
    }
}

fn remarks(out: &mut String, row: &Row, style: &Style) {
    for remark in &row.remarks {
        hang(out, "", row.indent().len(), &quiet(remark.clone()), None, style);
    }
}

/// Columns of a lane whose marks stand beside its figures.
fn beside_columns(figure: usize, mark: usize, bar: Option<usize>) -> usize {
    figure + bar.map_or(0, |bar| 1 + bar) + if mark > 0 { 1 + mark } else { 0 }
}

impl Cell {
    /// Whether a range of what is possible stands beside it.
    fn is_undecided(&self) -> bool {
        let mark = self.mark.plain();
        mark.starts_with('?') && mark.contains(|c: char| c.is_ascii_digit())
    }

    /// The figure with the sign of the best.
    fn figure(&self) -> Phrase {
        let tone = if self.best { Tone::Name } else { self.tone };
        let said = Phrase::default().tone(tone, &self.figure);
        if self.best { said.tone(Tone::Name, wording::BEST.to_string()) } else { said }
    }

    fn columns(&self) -> usize {
        // A place for the sign of the best, so that digits stand below digits.
        columns(&self.figure) + 1
    }

    /// The figure at the right of its columns, its bar, and its mark.
    fn beside(&self, width: usize, bar: Option<usize>) -> Phrase {
        let figure = self.figure();
        let pad = width.saturating_sub(self.columns());
        let mut said = Phrase::new(" ".repeat(pad)).and(figure).say(if self.best { "" } else { " " });
        if let Some(columns) = bar {
            let drawn = self.share.map_or(0, |share| ((columns as f64 * share).round() as usize).clamp(1, columns));
            said = said.say(format!(" {}{}", "█".repeat(drawn), " ".repeat(columns - drawn)));
        }
        if self.mark.is_empty() { said } else { said.say(" ").and(self.mark.clone()) }
    }
}

/// A line of the table while it is made.
struct Line(Vec<Phrase>, usize);

impl Line {
    fn begin(title: Phrase, columns: usize) -> Self {
        let mut line = Line(Vec::new(), 0);
        line.put(title, columns);
        line
    }

    fn put(&mut self, phrase: Phrase, columns: usize) {
        let free = columns.saturating_sub(phrase.columns());
        self.0.push(phrase);
        self.0.push(Phrase::new(" ".repeat(free)));
        self.1 += columns;
    }

    fn left(&mut self, phrase: Phrase, columns: usize) {
        self.0.push(Phrase::new(" ".repeat(GAP)));
        self.put(phrase, columns);
    }

    fn right(&mut self, phrase: Phrase, columns: usize) {
        self.0.push(Phrase::new(" ".repeat(GAP + columns.saturating_sub(phrase.columns()))));
        self.0.push(phrase);
    }

    fn end(self, out: &mut String, style: &Style) {
        let line: String = self.0.iter().map(|phrase| phrase.paint(style)).collect();
        out.push_str(line.trim_end());
        out.push('\n');
    }
}
