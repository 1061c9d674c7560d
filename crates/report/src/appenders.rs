//! Swarms of writers and searches for how many a lane sustains, for a terminal and as Markdown.

use crate::clean::columns;
use crate::layout::{Phrase, Tone, align, hang};
use crate::lines::CLOSING_COLUMNS;
use crate::markdown::{escape, phrase};
use crate::words::appenders as wording;
use crate::{Style, words};
use model::findings::{AppendersFinding, AppendersRow, Findings, SearchFinding};

/// Columns that a table keeps, however narrow the terminal is.
const LEAST_COLUMNS: usize = 5;

/// Tables of lateness for a terminal.
pub(crate) fn text(out: &mut String, findings: &Findings, style: &Style) {
    if !findings.appenders.is_empty() {
        out.push('\n');
        hang(out, wording::LATENESS, CLOSING_COLUMNS, &Phrase::new(wording::LEGEND), None, style);
    }
    for table in &findings.appenders {
        hang(out, "", 0, &wording::heading(table), None, style);
        for (at, line) in fitting(table, style).iter().enumerate() {
            let tone = if at == 0 { Tone::Quiet } else { Tone::Plain };
            out.push_str(&format!("  {}\n", Phrase::default().tone(tone, line).paint(style)));
        }
        for line in remarks(table) {
            hang(out, "", 2, &line, None, style);
        }
    }
    for search in &findings.searches {
        out.push('\n');
        searched(out, search, style);
    }
}

/// A search for a terminal.
pub(crate) fn searched(out: &mut String, search: &SearchFinding, style: &Style) {
    hang(out, wording::MOST_WRITERS, CLOSING_COLUMNS, &wording::search_heading(search), None, style);
    for lane in &search.lanes {
        hang(out, "", 2, &wording::sustained(lane), None, style);
    }
    for pair in &search.pairs {
        hang(out, "", 2, &wording::search_pair(pair), None, style);
    }
}

/// The table with as many columns as fit, its header first.
fn fitting(table: &AppendersFinding, style: &Style) -> Vec<String> {
    let mut rows = vec![wording::COLUMNS.map(str::to_owned).to_vec()];
    rows.extend(measured(table).map(|row| wording::cells(row, has_several(table))));
    loop {
        let lines = align(&rows);
        let fits = lines.iter().all(|line| columns(line) + 2 <= style.table_columns());
        if fits || rows[0].len() <= LEAST_COLUMNS {
            return lines;
        }
        rows.iter_mut().for_each(|row| drop(row.pop()));
    }
}

fn measured(table: &AppendersFinding) -> impl Iterator<Item = &AppendersRow> {
    table.rows.iter().filter(|row| row.failure.is_none())
}

fn has_several(table: &AppendersFinding) -> bool {
    table.rows.iter().any(|row| row.group != "append")
}

/// What stands below a table: lanes that failed or fell behind, and bursts.
fn remarks(table: &AppendersFinding) -> Vec<Phrase> {
    let mut remarks = Vec::new();
    for row in &table.rows {
        remarks.extend(row.failure.as_ref().map(|why| words::failed(&row.lane, why)));
        remarks.extend(wording::backlog(row));
        remarks.extend(row.story.as_ref().map(|story| Phrase::new(words::sentence(story))));
    }
    remarks
}

/// The same as Markdown.
pub(crate) fn markdown(out: &mut String, findings: &Findings) {
    if !findings.appenders.is_empty() {
        out.push_str(&format!("\n**{}.** {}\n", wording::LATENESS_TITLE, escape(wording::LEGEND)));
    }
    for table in &findings.appenders {
        out.push_str(&format!("\n{}\n\n", phrase(&wording::heading(table), false)));
        let mut line = |cells: Vec<String>| out.push_str(&format!("| {} |\n", cells.join(" | ")));
        line(wording::COLUMNS.map(str::to_owned).to_vec());
        line(
            wording::COLUMNS
                .iter()
                .enumerate()
                .map(|(at, _)| if at == 0 { "---" } else { "---:" }.to_owned())
                .collect(),
        );
        for row in measured(table) {
            line(wording::cells(row, has_several(table)).iter().map(|cell| escape(cell)).collect());
        }
        let remarks = remarks(table);
        if !remarks.is_empty() {
            out.push('\n');
        }
        for remark in remarks {
            out.push_str(&format!("- {}.\n", phrase(&remark, false)));
        }
    }
    for search in &findings.searches {
        out.push_str(&format!(
            "\n**{}.** {}\n\n",
            wording::MOST_WRITERS_TITLE,
            phrase(&wording::search_heading(search), false)
        ));
        let lanes = search.lanes.iter().map(wording::sustained);
        for line in lanes.chain(search.pairs.iter().map(wording::search_pair)) {
            out.push_str(&format!("- {}.\n", phrase(&line, false)));
        }
    }
}
