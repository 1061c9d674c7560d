//! What transactions wait for, write and cost, for a terminal and as Markdown.

use crate::clean::columns;
use crate::layout::{Phrase, Tone, align, hang};
use crate::lines::CLOSING_COLUMNS;
use crate::markdown::{escape, phrase};
use crate::words::transactions as wording;
use crate::{Style, words};
use model::findings::{Findings, TransactionsFinding, TransactionsRow};

/// The tables for a terminal.
pub(crate) fn text(out: &mut String, findings: &Findings, style: &Style) {
    if !findings.transactions.is_empty() {
        out.push('\n');
        hang(out, wording::TRANSACTIONS, CLOSING_COLUMNS, &Phrase::new(wording::LEGEND), None, style);
    }
    for table in &findings.transactions {
        hang(out, "", 0, &wording::heading(table), None, style);
        for (at, line) in fitting(table, style).iter().enumerate() {
            let tone = if at == 0 { Tone::Quiet } else { Tone::Plain };
            out.push_str(&format!("  {}\n", Phrase::default().tone(tone, line).paint(style)));
        }
        for line in again(table).chain(failures(table)) {
            hang(out, "", 2, &line, None, style);
        }
    }
}

/// The table with as many columns as fit, its header first; empty where nothing was measured.
fn fitting(table: &TransactionsFinding, style: &Style) -> Vec<String> {
    let rows = filled(table);
    let mut lines = Vec::new();
    for spared in 0..=wording::COLUMNS_TO_SPARE.len() {
        let spare: Vec<&str> = wording::COLUMNS_TO_SPARE[..spared].iter().map(|&at| wording::COLUMNS[at]).collect();
        lines = align(&without(&rows, |column| spare.contains(&rows[0][column].as_str())));
        if lines.iter().all(|line| columns(line) + 2 <= style.table_columns()) {
            break;
        }
    }
    lines
}

/// Header and cells, without the columns that no row fills; empty where nothing was measured.
fn filled(table: &TransactionsFinding) -> Vec<Vec<String>> {
    let mut rows = vec![wording::COLUMNS.map(str::to_owned).to_vec()];
    rows.extend(measured(table).map(wording::cells));
    if rows.len() == 1 {
        return Vec::new();
    }
    without(&rows, |column| rows[1..].iter().all(|row| row[column] == wording::ABSENT))
}

fn without(rows: &[Vec<String>], goes: impl Fn(usize) -> bool) -> Vec<Vec<String>> {
    let kept = |row: &Vec<String>| {
        row.iter().enumerate().filter(|(column, _)| !goes(*column)).map(|(_, cell)| cell.clone()).collect()
    };
    rows.iter().map(kept).collect()
}

fn measured(table: &TransactionsFinding) -> impl Iterator<Item = &TransactionsRow> {
    table.rows.iter().filter(|row| row.failure.is_none())
}

/// Why transactions were done again.
fn again(table: &TransactionsFinding) -> impl Iterator<Item = Phrase> {
    measured(table).filter_map(wording::again)
}

/// Lanes without figures, each reason once.
fn failures(table: &TransactionsFinding) -> Vec<Phrase> {
    let mut told: Vec<(&str, &str)> = Vec::new();
    let mut phrases = Vec::new();
    for row in &table.rows {
        let Some(why) = &row.failure else { continue };
        let what = (row.lane.as_str(), &**why);
        if !told.contains(&what) {
            told.push(what);
            phrases.push(words::failed(&row.lane, why));
        }
    }
    phrases
}

/// The same as Markdown.
pub(crate) fn markdown(out: &mut String, findings: &Findings) {
    if !findings.transactions.is_empty() {
        out.push_str(&format!("\n**{}.** {}\n", wording::TRANSACTIONS_TITLE, escape(wording::LEGEND)));
    }
    for table in &findings.transactions {
        out.push_str(&format!("\n{}\n\n", phrase(&wording::heading(table), false)));
        let mut line = |cells: Vec<String>| out.push_str(&format!("| {} |\n", cells.join(" | ")));
        for (at, row) in filled(table).iter().enumerate() {
            line(row.iter().map(|cell| escape(cell)).collect());
            if at == 0 {
                line((0..row.len()).map(|at| if at == 0 { "---" } else { "---:" }.to_owned()).collect());
            }
        }
        let notes: Vec<Phrase> = again(table).chain(failures(table)).collect();
        if !notes.is_empty() {
            out.push('\n');
        }
        for note in notes {
            out.push_str(&format!("- {}.\n", phrase(&note, false)));
        }
    }
}
