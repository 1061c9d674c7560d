//! What transactions wait for, write and cost, for a terminal and as Markdown.

use crate::clean::columns;
use crate::layout::{Phrase, Tone, align, hang};
use crate::lines::CLOSING_COLUMNS;
use crate::markdown::{escape, phrase};
use crate::words::transactions as said;
use crate::{Style, words};
use model::findings::{Findings, TransactionsFinding, TransactionsRow};

/// Columns that a table keeps, however narrow the terminal is.
const LEAST_COLUMNS: usize = 5;

/// The tables for a terminal.
pub(crate) fn text(out: &mut String, findings: &Findings, style: &Style) {
    if !findings.transactions.is_empty() {
        out.push('\n');
        hang(out, said::TRANSACTIONS, CLOSING_COLUMNS, &Phrase::of(said::LEGEND), None, style);
    }
    for table in &findings.transactions {
        hang(out, "", 0, &said::heading(table), None, style);
        for (at, line) in fitting(table, style).iter().enumerate() {
            let tone = if at == 0 { Tone::Quiet } else { Tone::Plain };
            out.push_str(&format!("  {}\n", Phrase::default().tone(tone, line).paint(style)));
        }
        for line in failures(table) {
            hang(out, "", 2, &line, None, style);
        }
    }
}

/// The table with as many columns as fit, its header first.
fn fitting(table: &TransactionsFinding, style: &Style) -> Vec<String> {
    let mut rows = vec![said::COLUMNS.map(str::to_owned).to_vec()];
    rows.extend(measured(table).map(said::cells));
    loop {
        let lines = align(&rows);
        let fits = lines.iter().all(|line| columns(line) + 2 <= style.columns());
        if fits || rows[0].len() <= LEAST_COLUMNS {
            return lines;
        }
        rows.iter_mut().for_each(|row| drop(row.pop()));
    }
}

fn measured(table: &TransactionsFinding) -> impl Iterator<Item = &TransactionsRow> {
    table.rows.iter().filter(|row| row.failure.is_none())
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
        out.push_str(&format!("\n**{}.** {}\n", said::TRANSACTIONS_TITLE, escape(said::LEGEND)));
    }
    for table in &findings.transactions {
        out.push_str(&format!("\n{}\n\n", phrase(&said::heading(table), false)));
        let mut line = |cells: Vec<String>| out.push_str(&format!("| {} |\n", cells.join(" | ")));
        line(said::COLUMNS.map(str::to_owned).to_vec());
        line(said::COLUMNS.iter().enumerate().map(|(at, _)| if at == 0 { "---" } else { "---:" }.to_owned()).collect());
        for row in measured(table) {
            line(said::cells(row).iter().map(|cell| escape(cell)).collect());
        }
        let failures = failures(table);
        if !failures.is_empty() {
            out.push('\n');
        }
        for failure in failures {
            out.push_str(&format!("- {}.\n", phrase(&failure, false)));
        }
    }
}
