//! The report for a terminal: the answer first, then the verdicts that it is made of, then what they rest on, and at the
//! prompt what to do next.

use crate::clean::{columns, name, shorten};
use crate::layout::{Phrase, Tone, align, hang};
use crate::lines::{self, CLOSING_COLUMNS};
use crate::{
    Input, Style, advice, aged, appenders, calibration, explanations, facts, io500, ladder, layers, operations, ranks,
    screening, transactions, words,
};
use model::findings::{ResultFinding, ScreeningFinding};
use model::sentence::Weight;

/// Renders findings for a terminal.
pub(crate) fn render(input: &Input, style: &Style) -> String {
    let findings = input.findings;
    if let Some(found) = findings.calibration.as_deref().filter(|_| input.record.header.plan.calibration) {
        return calibration::calibration_text(found, input.record_path, style);
    }
    if let Some(finding) = &findings.screening {
        return screened(input, finding, style);
    }
    let mut out = String::new();
    heading(&mut out, input, style);
    out.push_str(&lines::result(findings, style));
    out.push_str(&lines::warnings(findings, usize::MAX, None, style));
    out.push('\n');
    verdicts(&mut out, input, style);
    for table in &findings.operations {
        operations::text(&mut out, findings, table, style);
    }
    appenders::text(&mut out, findings, style);
    transactions::text(&mut out, findings, style);
    figures(&mut out, input, style);
    layers::text(&mut out, findings, style);
    aged::text(&mut out, findings, style);
    io500::text(&mut out, findings, style);
    ladder::text(&mut out, findings, style);
    ranks::text(&mut out, findings, style);
    if explanations::has_shares(findings) {
        explanations::text(&mut out, findings, false, style);
    }
    ground(&mut out, input, style);
    remarks(&mut out, input, style);
    repeated(&mut out, input, style);
    out.push('\n');
    let mut label = words::advice::ADVICE;
    for line in advice::brief(findings) {
        hang(&mut out, label, CLOSING_COLUMNS, &line.say("."), None, style);
        label = "";
    }
    if label.is_empty() {
        lines::command(&mut out, "", &advice::reasons_command(input.record_path), style);
    }
    out.push_str(&lines::closing(findings, input.record_path, false, style));
    out
}

/// A screening: its lanes are runs of a design, so that all that is told is of its options.
fn screened(input: &Input, finding: &ScreeningFinding, style: &Style) -> String {
    let findings = input.findings;
    let mut out = String::new();
    heading(&mut out, input, style);
    out.push_str(&lines::result(findings, style));
    out.push_str(&lines::warnings(findings, usize::MAX, None, style));
    out.push('\n');
    out.push_str(&screening::screening_text(finding, style));
    ground(&mut out, input, style);
    remarks(&mut out, input, style);
    repeated(&mut out, input, style);
    out.push('\n');
    out.push_str(&lines::closing(findings, input.record_path, false, style));
    out
}

/// What was counted, and the line that runs it again.
fn repeated(out: &mut String, input: &Input, style: &Style) {
    let findings = input.findings;
    out.push('\n');
    let trials = words::race::trials(&findings.trials);
    let trials = Phrase::new(format!(
        "{trials}; {}",
        words::race::seed_and_version(findings.seed, &input.record.header.version)
    ));
    hang(out, words::TRIALS, CLOSING_COLUMNS, &trials, None, style);
    if !findings.command_line.is_empty() {
        lines::command(out, words::AGAIN, &lines::as_typed(facts::again(findings), findings, style), style);
    }
}

fn heading(out: &mut String, input: &Input, style: &Style) {
    let findings = input.findings;
    let names: Vec<&str> = match &findings.screening {
        Some(finding) => vec![screening::base(finding).unwrap_or(words::screening::NO_LANE)],
        None => findings.lanes.iter().map(|lane| lane.name.as_str()).collect(),
    };
    let heading = words::race::heading(
        &findings.suite,
        &names,
        &findings.imported,
        &findings.started,
        input.record.resumes,
        words::race::ended(&findings.outcome),
    );
    for line in heading.wrap(style.columns()) {
        out.push_str(&line.paint(style));
        out.push('\n');
    }
    out.push('\n');
}

fn verdicts(out: &mut String, input: &Input, style: &Style) {
    let findings = input.findings;
    let results = operations::others(findings);
    if results.is_empty() {
        return;
    }
    let titles: Vec<String> = results.iter().map(|result| facts::title(result)).collect();
    let label_columns = lines::label_columns(&titles);
    hang(out, words::VERDICTS, CLOSING_COLUMNS, &Phrase::new(words::VERDICTS_LEGEND), None, style);
    let mut before: Option<&str> = None;
    for (result, title) in results.into_iter().zip(&titles) {
        let line = lines::verdict(result, facts::group_of(result, &findings.results));
        let label = if before == Some(&result.workload) { "" } else { title.as_str() };
        hang(out, label, label_columns, &line.body, line.limit.as_ref(), style);
        before = Some(&result.workload);
    }
    if let Some(said) = facts::self_check(findings) {
        hang(out, words::SELF_CHECK, label_columns, &said, None, style);
    }
}

fn figures(out: &mut String, input: &Input, style: &Style) {
    let findings = input.findings;
    let results = operations::with_figures(findings);
    if results.is_empty() {
        return;
    }
    out.push('\n');
    let tables: Vec<Vec<Vec<String>>> = results.iter().map(|result| table(result)).collect();
    let columns = Columns::fitting(&tables, style);
    let mut legend = words::columns::figures_legend(findings.margin, &columns.shown);
    if results.iter().any(|result| facts::load_line(result).is_some()) {
        legend.push_str(words::columns::LOAD_LEGEND);
    }
    hang(out, words::FIGURES, CLOSING_COLUMNS, &Phrase::new(legend), None, style);
    let mut aligned = columns.aligned.iter();
    if let Some(header) = aligned.next() {
        out.push_str(&format!("  {}\n", Phrase::default().tone(Tone::Quiet, header).paint(style)));
    }
    for (result, rows) in results.iter().zip(&tables) {
        let heading =
            words::columns::result_heading(result, &facts::title(result), facts::group_of(result, &findings.results));
        hang(out, "", 0, &heading, None, style);
        for row in rows {
            match aligned.next() {
                Some(line) => out.push_str(&format!("  {}\n", Phrase::new(line).paint(style))),
                None => spelled_out(out, row, style),
            }
        }
        if let Some(load) = facts::load_line(result) {
            hang(out, "", 4, &Phrase::default().tone(Tone::Quiet, load), None, style);
        }
        for estimate in &result.estimates {
            // What a table lacks, it has given the reason for.
            let told = operations::is_missing(findings, result, &estimate.lane);
            if let Some(reason) = estimate.failure.as_ref().filter(|_| !told) {
                let said = words::failed(&estimate.lane, reason);
                hang(out, "", 2, &said, None, style);
            }
        }
    }
}

/// The table as it fits the terminal.
struct Columns {
    /// Which of [`words::columns::COLUMNS`] are shown.
    shown: [bool; words::columns::COLUMNS.len()],
    /// The header and every row; empty: no table fits, rows are spelled out.
    aligned: Vec<String>,
}

impl Columns {
    /// One set of widths for all results, so that the eye can run down a column.
    fn fitting(tables: &[Vec<Vec<String>>], style: &Style) -> Self {
        let has_figures = |column: usize| tables.iter().flatten().any(|row| row[column + 2] != ABSENT);
        let all: [bool; words::columns::COLUMNS.len()] = std::array::from_fn(has_figures);
        let mut header = vec![words::columns::COLUMN_LANE, words::columns::COLUMN_FIGURE];
        header.extend(words::columns::COLUMNS);
        let header: Vec<String> = header.into_iter().map(str::to_owned).collect();
        for spared in 0..=words::columns::COLUMNS_TO_SPARE.len() {
            let spare = &words::columns::COLUMNS_TO_SPARE[..spared];
            let shown: [bool; words::columns::COLUMNS.len()] =
                std::array::from_fn(|column| all[column] && !spare.contains(&column));
            let pick = |row: &Vec<String>| -> Vec<String> {
                let cells = row[2..].iter().zip(shown).filter(|(_, shown)| *shown).map(|(cell, _)| cell);
                row[..2].iter().chain(cells).cloned().collect()
            };
            let rows: Vec<Vec<String>> = std::iter::once(&header).chain(tables.iter().flatten()).map(pick).collect();
            let aligned = align(&rows);
            if aligned.iter().all(|line| columns(line) + 2 <= style.table_columns()) {
                return Columns { shown, aligned };
            }
        }
        Columns { shown: all, aligned: Vec::new() }
    }
}

const ABSENT: &str = "-";

/// The cells of a result, a row per lane that has a figure.
fn table(result: &ResultFinding) -> Vec<Vec<String>> {
    let measured = result.estimates.iter().filter(|estimate| estimate.failure.is_none());
    measured
        .map(|estimate| {
            let mut row = vec![name(&estimate.lane), facts::figure(result, estimate)];
            let cells = facts::cells(result, estimate);
            row.extend(cells.into_iter().map(|cell| cell.unwrap_or_else(|| ABSENT.to_owned())));
            row
        })
        .collect()
}

/// A row as a sentence, where the terminal is too narrow for columns.
fn spelled_out(out: &mut String, row: &[String], style: &Style) {
    let mut said = Phrase::default().name(&row[0]).say(format!(" {}", row[1]));
    for (label, cell) in words::columns::COLUMNS.iter().zip(&row[2..]).filter(|(_, cell)| *cell != ABSENT) {
        said = said.say(format!(", {label} {cell}"));
    }
    hang(out, "", 2, &said, None, style);
}

fn ground(out: &mut String, input: &Input, style: &Style) {
    let findings = input.findings;
    if !findings.results.is_empty() || !findings.ceilings.is_empty() {
        out.push('\n');
    }
    let mut machine = words::facts::machine(&findings.machine);
    if let Some(null) = words::facts::null_ceiling(&findings.ceilings) {
        machine = machine.say("; ").say(null);
    }
    hang(out, words::MACHINE, CLOSING_COLUMNS, &machine.say("."), None, style);
    let mut label = words::LANES;
    // Of a screening the default: the others differ from it by its options.
    let most = if findings.screening.is_some() { 1 } else { usize::MAX };
    for lane in findings.lanes.iter().take(most) {
        let facts = words::facts::lane(lane);
        hang(out, label, CLOSING_COLUMNS, &words::facts::lane_sentence(&lane.name, &facts), None, style);
        label = "";
    }
    let others = findings.lanes.len().saturating_sub(most);
    if others > 0 {
        hang(out, "", CLOSING_COLUMNS, &Phrase::new(words::screening::other_lanes(others)), None, style);
    }
}

fn remarks(out: &mut String, input: &Input, style: &Style) {
    let findings = input.findings;
    let mut label = words::NOTES;
    for note in facts::notes(input) {
        hang(out, label, CLOSING_COLUMNS, &Phrase::new(format!("{note}.")), None, style);
        label = "";
    }
    // What has to be heeded stands above, below the table.
    let mut label = words::REMARKS;
    let details = facts::weighed_warnings(findings, &input.record.warnings).into_iter();
    let above = facts::weighed_warnings(findings, &[]);
    for (_, remark) in details.filter(|of| of.0 == Weight::Detail || !above.contains(of)) {
        hang(out, label, CLOSING_COLUMNS, &Phrase::new(format!("{}.", shorten(&remark, 800))), None, style);
        label = "";
    }
}
