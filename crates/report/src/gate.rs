//! The regression gate, as text, Markdown, CSV and JSON. JUnit's XML has a room of its own.

use crate::clean::{columns, shell_line, shorten};
use crate::layout::{Phrase, Tone, align, hang};
use crate::lines::CLOSING_COLUMNS;
use crate::words::gate as wording;
use crate::{Style, comparison, csv as rows, facts, json as pretty, markdown as marks, words};
use model::gate::{Gate, GateRow, GateVerdict};

/// Columns of the labels of what did not pass: `inconclusive` and two spaces, indented by two.
const LIST_COLUMNS: usize = 16;

/// Renders a gate for a terminal or the log of a job: what was compared, every comparison, what to
/// beware of, and last the line that says all with what did not pass.
pub(crate) fn text(gate: &Gate, style: &Style) -> String {
    let mut out = String::new();
    let mut say =
        |label: &str, what: String| hang(&mut out, label, CLOSING_COLUMNS + 1, &Phrase::new(what), None, style);
    say(wording::BASELINE, wording::side(&gate.baseline));
    say(wording::CANDIDATE, wording::side(&gate.candidate));
    let mut label = wording::CHANGED;
    for change in &gate.changes {
        say(label, words::sentence(change));
        label = "";
    }
    say(wording::METHOD, format!("{}.", wording::method(gate)));
    out.push('\n');
    match &gate.comparison {
        Some(both) => out.push_str(&comparison::text(both, style)),
        None => table(&mut out, gate, style),
    }
    out.push('\n');
    let mut label = words::WARNINGS;
    for warning in &gate.warnings {
        let warning = Phrase::new(format!("{}.", words::sentence(warning)));
        hang(&mut out, label, CLOSING_COLUMNS, &warning, None, style);
        label = "";
    }
    if !gate.warnings.is_empty() {
        out.push('\n');
    }
    out.push_str(&closing(gate, style));
    out
}

/// Every comparison with its figures.
fn table(out: &mut String, gate: &Gate, style: &Style) {
    let cells: Vec<Vec<String>> = gate
        .rows
        .iter()
        .map(|row| {
            let figure = |of| wording::figure(row, of).replace(crate::layout::GLUE, " ");
            let (before, after) = (figure(&row.baseline), figure(&row.candidate));
            vec![subject(gate, row), crate::clean::name(&row.lane), before, "->".to_owned(), after]
        })
        .collect();
    let aligned = align(&cells);
    let widest = aligned.iter().map(|line| columns(line)).max().unwrap_or(0);
    // As in a comparison of two records: beside the figures where at least thirty characters are left.
    let beside = widest + 2 + 30 <= style.columns();
    for (row, line) in gate.rows.iter().zip(aligned) {
        let verdict = wording::row(gate, row, false);
        if beside {
            hang(out, &line, widest + 2, &verdict, None, style);
        } else {
            hang(out, "", 0, &Phrase::new(line), None, style);
            hang(out, "", 4, &verdict, None, style);
        }
    }
}

/// The line that says all, and under it what did not pass, each with the line that runs it again.
pub(crate) fn closing(gate: &Gate, style: &Style) -> String {
    let mut out = String::new();
    // One line on any width: it is what others look for.
    let line = Phrase::default().tone(Tone::Label, wording::GATE).say(" ").and(wording::line(gate));
    out.push_str(&line.paint(style));
    out.push('\n');
    for (command, parts) in not_passed(gate) {
        for (label, what) in parts {
            hang(&mut out, &format!("  {label}"), LIST_COLUMNS, &what, None, style);
        }
        if !command.is_empty() {
            // Never wrapped: it must survive being copied.
            let label = Phrase::default().tone(Tone::Label, format!("  {}", wording::AGAIN));
            let blanks = " ".repeat(LIST_COLUMNS.saturating_sub(label.columns()));
            out.push_str(&format!("{}{blanks}{command}\n", label.paint(style)));
        }
    }
    for one in &gate.one_sided {
        hang(&mut out, &format!("  {}", wording::NOT_COMPARED), LIST_COLUMNS, &wording::one_sided(one), None, style);
    }
    out
}

/// What did not pass by the command that runs it again, failures first: label and sentence.
/// Comparisons without an interval that share their reason are one line.
fn not_passed(gate: &Gate) -> Vec<(String, Vec<(&'static str, Phrase)>)> {
    let rank = |row: &&GateRow| match row.verdict {
        GateVerdict::Failed => 0,
        GateVerdict::Slower => 1,
        GateVerdict::Inconclusive => 2,
        GateVerdict::Pass | GateVerdict::Faster => 3,
    };
    let mut listed: Vec<&GateRow> = gate.rows.iter().filter(|row| wording::is_listed(row)).collect();
    listed.sort_by_key(rank);
    let mut by_command: Vec<(String, Vec<&GateRow>)> = Vec::new();
    for row in listed {
        let command = shell_line(&row.command_line);
        match by_command.iter_mut().find(|(of, _)| *of == command) {
            Some((_, rows)) => rows.push(row),
            None => by_command.push((command, vec![row])),
        }
    }
    by_command.into_iter().map(|(command, rows)| (command, listed_rows(gate, &rows))).collect()
}

fn listed_rows(gate: &Gate, listed: &[&GateRow]) -> Vec<(&'static str, Phrase)> {
    let like = |a: &GateRow, b: &GateRow| {
        (a.verdict, &a.why, a.low.is_none()) == (b.verdict, &b.why, b.low.is_none()) && a.low.is_none()
    };
    let mut parts = Vec::new();
    for (at, row) in listed.iter().enumerate() {
        let label = wording::verdict(row.verdict);
        let alike = listed.iter().filter(|other| like(row, other)).count();
        if alike < 2 {
            let subject = wording::subject(row, &subject(gate, row));
            parts.push((label, subject.say(": ").and(wording::row(gate, row, true))));
        } else if !listed[..at].iter().any(|other| like(row, other)) {
            parts.push((label, Phrase::new(wording::together(alike, row.why.as_deref().unwrap_or_default()))));
        }
    }
    parts
}

/// Renders a gate for a pull request.
pub(crate) fn markdown(gate: &Gate, style: &Style) -> String {
    let mut out = format!("**{} {}**\n", wording::GATE, marks::phrase(&wording::line(gate), false));
    let listed = not_passed(gate);
    if !listed.is_empty() || !gate.one_sided.is_empty() {
        out.push_str(&format!("\n{}:\n\n", wording::NOT_PASSED_TITLE));
    }
    for (command, parts) in listed {
        for (label, what) in parts {
            out.push_str(&format!("- **{label}** {}\n", marks::phrase(&what, false)));
        }
        if !command.is_empty() {
            out.push_str(&format!("- {}: {}\n", wording::AGAIN, marks::code(&command, false)));
        }
    }
    for one in &gate.one_sided {
        out.push_str(&format!("- **{}** {}\n", wording::NOT_COMPARED, marks::phrase(&wording::one_sided(one), false)));
    }
    out.push('\n');
    for (title, what) in [
        (wording::BASELINE_TITLE, wording::side(&gate.baseline)),
        (wording::CANDIDATE_TITLE, wording::side(&gate.candidate)),
        (wording::METHOD_TITLE, wording::method(gate)),
    ] {
        out.push_str(&format!("- {title}: {}\n", marks::escape(&what)));
    }
    for change in &gate.changes {
        out.push_str(&format!("- {}: {}\n", wording::CHANGED_TITLE, marks::escape(&words::sentence(change))));
    }
    for warning in &gate.warnings {
        out.push_str(&format!("- {}: {}\n", words::WARNING_TITLE, marks::escape(&words::sentence(warning))));
    }
    if let Some(both) = &gate.comparison {
        return out + "\n" + &comparison::markdown(both, style);
    }
    out.push_str(&format!("\n<details><summary>{}</summary>\n\n", wording::ALL_TITLE));
    let header = [
        words::COLUMN_WORKLOAD,
        words::columns::COLUMN_LANE,
        wording::COLUMN_BASELINE,
        wording::COLUMN_CANDIDATE,
        words::COLUMN_VERDICT,
    ];
    out.push_str(&format!("| {} |\n| --- | --- | ---: | ---: | --- |\n", header.join(" | ")));
    for row in &gate.rows {
        let cells = [
            marks::escape(&subject(gate, row)),
            marks::code(&crate::clean::name(&row.lane), true),
            marks::escape(&wording::figure(row, &row.baseline)),
            marks::escape(&wording::figure(row, &row.candidate)),
            marks::phrase(&wording::row(gate, row, false), true),
        ];
        out.push_str(&format!("| {} |\n", cells.join(" | ")));
    }
    out + "\n</details>\n"
}

/// The columns of CSV; ratios and shares are plain numbers.
const COLUMNS: [&str; 20] = [
    "workload",
    "group",
    "lane",
    "metric",
    "unit",
    "baseline",
    "candidate",
    "baseline_records",
    "candidate_records",
    "baseline_deviation",
    "candidate_deviation",
    "ratio",
    "ratio_low",
    "ratio_high",
    "half_width",
    "verdict",
    "unresolved",
    "more_records",
    "why",
    "command_line",
];

/// Renders a gate as CSV: one row per comparison.
pub(crate) fn csv(gate: &Gate, _: &Style) -> String {
    let mut table = vec![COLUMNS.map(str::to_owned).to_vec()];
    table.extend(gate.rows.iter().map(|row| {
        vec![
            rows::text(&row.workload),
            rows::text(&row.group),
            rows::text(&row.lane),
            rows::text(&row.metric),
            rows::text(&row.unit),
            rows::optional(row.baseline.mean),
            rows::optional(row.candidate.mean),
            row.baseline.records.to_string(),
            row.candidate.records.to_string(),
            rows::optional(row.baseline.deviation),
            rows::optional(row.candidate.deviation),
            rows::optional(row.ratio),
            rows::optional(row.low),
            rows::optional(row.high),
            rows::optional(row.half_width),
            wording::verdict(row.verdict).to_owned(),
            row.unresolved.to_string(),
            row.more_records.map(|more| more.to_string()).unwrap_or_default(),
            rows::text(row.why.as_deref().unwrap_or_default()),
            rows::text(&shell_line(&row.command_line)),
        ]
    }));
    rows::table(&table)
}

/// Renders a gate as the JSON that `schema/gate.schema.json` describes.
pub(crate) fn json(gate: &Gate, _: &Style) -> String {
    pretty::pretty(gate)
}

/// The title, and the group where the workload has several.
pub(crate) fn subject(gate: &Gate, row: &GateRow) -> String {
    let title = if row.title.trim().is_empty() { &row.workload } else { &row.title };
    let title = shorten(title, facts::TITLE_COLUMNS);
    let several = gate.rows.iter().any(|other| other.workload == row.workload && other.group != row.group);
    if several { format!("{title}, {}", shorten(&row.group, 80)) } else { title }
}
