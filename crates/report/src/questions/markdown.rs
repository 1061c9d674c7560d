//! The same table in GitHub's Markdown: the rows, figures and marks that the terminal shows.

use super::{Cell, Table, legend};
use crate::layout::Phrase;
use crate::markdown::{code, escape, phrase, row};
use crate::words::questions as wording;
use model::findings::Findings;

/// What stands before a row below a heading; Markdown takes plain spaces away.
const INDENT: &str = "&emsp;";

/// The table with its legend; nothing where no work has a figure.
pub(crate) fn markdown(out: &mut String, findings: &Findings) {
    let table = Table::new(findings);
    if table.rows.is_empty() || table.lanes.is_empty() {
        return;
    }
    let limited = table.rows.iter().any(|row| !row.limit.is_empty());
    let mut header = vec![wording::QUESTION.to_owned()];
    header.extend(table.lanes.iter().map(|lane| code(&crate::clean::name(lane), true)));
    header.push(wording::UNIT.to_owned());
    header.extend(limited.then(|| wording::LIMITED_BY.to_owned()));
    row(out, &header);
    let lanes = 1..=table.lanes.len();
    let rule = |at: usize| if lanes.contains(&at) { "---:" } else { "---" }.to_owned();
    row(out, &(0..header.len()).map(rule).collect::<Vec<_>>());
    let mut put = |mut cells: Vec<String>| {
        cells.resize(header.len(), String::new());
        row(out, &cells);
    };
    for of in &table.rows {
        if let Some(heading) = &of.heading {
            put(vec![format!("**{}**", escape(heading))]);
        }
        let indent = if of.title.starts_with(' ') { INDENT } else { "" };
        let remarks: String = of.remarks.iter().map(|remark| format!("<br>{}", phrase(remark, true))).collect();
        let mut cells = vec![format!("{indent}{}{remarks}", escape(of.title.trim()))];
        cells.extend(of.cells.iter().map(cell));
        cells.extend([escape(&of.unit), of.limit.to_owned()]);
        cells.truncate(header.len());
        put(cells);
        for (label, figures) in &of.lines {
            let label = std::iter::once(format!("{indent}{INDENT}{}", escape(label.trim())));
            put(label.chain(figures.iter().map(|figure| escape(figure.trim()))).collect());
        }
    }
    let marks = wording::Marks { bold: true, ..table.marks() };
    if let Some(legend) = legend(&table, findings, marks) {
        out.push_str(&format!("\n{}\n", phrase(&legend, false)));
    }
}

/// The figure, bold where it is the best, and its mark below it.
fn cell(of: &Cell) -> String {
    let figure = escape(&of.figure);
    let figure = if of.best { format!("**{figure}**") } else { figure };
    let mark: &Phrase = &of.mark;
    if mark.is_empty() { figure } else { format!("{figure}<br>{}", phrase(mark, true)) }
}
