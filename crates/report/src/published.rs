//! A race beside published figures, in every format.

use crate::clean::{columns, name, shorten};
use crate::layout::{Phrase, Tone, align, hang};
use crate::lines::CLOSING_COLUMNS;
use crate::words::published as words;
use crate::{Style, csv as rows, json, markdown};
use model::findings::{PublishedComparison, PublishedRow};

/// Columns of a group's name.
const GROUP_COLUMNS: usize = 40;
/// Columns of it that stay on the narrowest terminal.
const FEWEST_GROUP_COLUMNS: usize = 8;
/// Columns of free text.
const TEXT_COLUMNS: usize = 800;

/// Renders for a terminal: a table for each workload and metric, then why the article differs.
pub(crate) fn text(comparison: &PublishedComparison, style: &Style) -> String {
    let mut out = String::new();
    say(&mut out, words::PUBLISHED, &words::source(comparison), style);
    say(&mut out, words::YOURS, &words::record(comparison), style);
    if comparison.is_empty() {
        say(&mut out, crate::words::NOTE, words::NOTHING, style);
    } else {
        say(&mut out, crate::words::NOTE, words::NO_VERDICT, style);
    }
    for rows in tables(comparison) {
        out.push('\n');
        let heading = format!("{}: {}", shorten(&rows[0].title, 60), words::metric(&rows[0].metric));
        hang(&mut out, "", 0, &Phrase::default().tone(Tone::Label, heading), None, style);
        let lines = match align(&one_line_each(comparison, &rows)) {
            lines if fits(&rows, &lines, style) => lines,
            _ => narrow_enough(&rows, style),
        };
        for line in lines {
            // An aligned line keeps its spaces: it is not wrapped.
            out.push_str(&format!("  {line}\n"));
        }
    }
    for note in words::notes(comparison) {
        out.push('\n');
        hang(&mut out, "", 2, &Phrase::new(format!("{note}.")), None, style);
    }
    out.push('\n');
    section(
        &mut out,
        words::WHY,
        comparison.differences.iter().map(|of| format!("{}: {}", of.subject, of.what)),
        style,
    );
    section(&mut out, words::CAVEATS, comparison.caveats.iter().cloned(), style);
    let mut label = crate::words::WARNINGS;
    for warning in &comparison.warnings {
        say(&mut out, label, &format!("{}.", shorten(warning, TEXT_COLUMNS)), style);
        label = "";
    }
    out
}

fn say(out: &mut String, label: &str, text: &str, style: &Style) {
    hang(out, label, CLOSING_COLUMNS, &Phrase::new(shorten(text, TEXT_COLUMNS)), None, style);
}

fn section(out: &mut String, title: &str, lines: impl Iterator<Item = String>, style: &Style) {
    hang(out, "", 0, &Phrase::default().tone(Tone::Label, title), None, style);
    for line in lines {
        hang(out, "  -", 4, &Phrase::new(format!("{}.", shorten(&line, TEXT_COLUMNS))), None, style);
    }
}

/// Rows of one workload and one metric, in the article's order.
fn tables(comparison: &PublishedComparison) -> Vec<Vec<&PublishedRow>> {
    let mut tables: Vec<Vec<&PublishedRow>> = Vec::new();
    for row in &comparison.rows {
        match tables.iter_mut().find(|of| of[0].workload == row.workload && of[0].metric == row.metric) {
            Some(table) => table.push(row),
            None => tables.push(vec![row]),
        }
    }
    tables
}

/// Two lanes fit into one line per group: yours and their ratio, the article's and theirs.
fn one_line_each(comparison: &PublishedComparison, rows: &[&PublishedRow]) -> Vec<Vec<String>> {
    let lanes = || rows[0].lanes.iter().map(|lane| lane.lane.as_str());
    let yours = |lane: &str| {
        let pair = comparison.lanes.iter().find(|pair| pair.published == lane);
        pair.and_then(|pair| pair.yours.clone()).unwrap_or_default()
    };
    let mut header = vec![words::COLUMN_GROUP.to_owned()];
    header.extend(lanes().map(|lane| words::your_lane(&shorten(&name(&yours(lane)), 12))));
    header.push("ratio".to_owned());
    header.extend(lanes().map(|lane| words::articles_lane(&shorten(&name(lane), 12))));
    header.push("ratio".to_owned());
    let mut table = vec![header];
    for row in rows {
        let mut cells = vec![shorten(&row.group, GROUP_COLUMNS)];
        cells.extend(row.lanes.iter().map(|lane| words::yours(row, lane)));
        cells.push(row.pairs.first().map(|pair| words::ratio(pair.yours)).unwrap_or_default());
        cells.extend(row.lanes.iter().map(|lane| words::article(row, lane)));
        cells.push(row.pairs.first().map(|pair| words::ratio(pair.published)).unwrap_or_default());
        table.push(cells);
    }
    table
}

/// Whether the table of one line per group can be shown: two lanes, and within the width.
fn fits(rows: &[&PublishedRow], lines: &[String], style: &Style) -> bool {
    let same = rows.iter().all(|row| row.lanes.iter().map(|of| &of.lane).eq(rows[0].lanes.iter().map(|of| &of.lane)));
    same && rows[0].lanes.len() == 2 && lines.iter().all(|line| columns(line) + 2 <= style.columns())
}

/// A block for each group, with as much of its name as the width leaves.
fn narrow_enough(rows: &[&PublishedRow], style: &Style) -> Vec<String> {
    let mut group_columns = GROUP_COLUMNS;
    loop {
        let lines = align(&block_each(rows, group_columns));
        let widest = lines.iter().map(|line| columns(line) + 2).max().unwrap_or(0);
        if widest <= style.columns() || group_columns <= FEWEST_GROUP_COLUMNS {
            return lines;
        }
        group_columns -= 1;
    }
}

/// More lanes stand under each other, their ratios beside them.
fn block_each(rows: &[&PublishedRow], group_columns: usize) -> Vec<Vec<String>> {
    let titles = [words::COLUMN_GROUP, "lane", words::COLUMN_YOURS, words::COLUMN_ARTICLE, "ratio"];
    let mut header: Vec<String> = titles.map(str::to_owned).to_vec();
    header.extend([words::COLUMN_YOURS, words::COLUMN_ARTICLE].map(str::to_owned));
    let mut table = vec![header];
    for row in rows {
        for at in 0..row.lanes.len().max(row.pairs.len()) {
            let mut cells = vec![if at == 0 { shorten(&row.group, group_columns) } else { String::new() }];
            cells.extend(match row.lanes.get(at) {
                Some(lane) => [shorten(&name(&lane.lane), 16), words::yours(row, lane), words::article(row, lane)],
                None => Default::default(),
            });
            cells.extend(match row.pairs.get(at) {
                Some(pair) => [
                    format!("{}/{}", shorten(&pair.a, 16), shorten(&pair.b, 16)),
                    words::ratio(pair.yours),
                    words::ratio(pair.published),
                ],
                None => Default::default(),
            });
            table.push(cells);
        }
    }
    table
}

/// Renders for a pull request.
pub(crate) fn markdown(comparison: &PublishedComparison, _: &Style) -> String {
    let escape = |text: &str| markdown::escape(&shorten(text, TEXT_COLUMNS));
    let mut out = format!(
        "**{}:** {}  \n**{}:** {}\n\n{}\n",
        words::COLUMN_ARTICLE,
        escape(&words::source(comparison)),
        words::COLUMN_YOURS,
        escape(&words::record(comparison)),
        escape(if comparison.is_empty() { words::NOTHING } else { words::NO_VERDICT }),
    );
    for rows in tables(comparison) {
        out.push_str(&format!("\n**{}: {}**\n\n", escape(&rows[0].title), escape(&words::metric(&rows[0].metric))));
        let table = block_each(&rows, GROUP_COLUMNS);
        for (at, cells) in table.iter().enumerate() {
            let cells: Vec<String> = cells.iter().map(|cell| markdown::escape(cell)).collect();
            out.push_str(&format!("| {} |\n", cells.join(" | ")));
            if at == 0 {
                out.push_str("| --- | --- | ---: | ---: | --- | ---: | ---: |\n");
            }
        }
    }
    let mut list = |title: &str, lines: Vec<String>| {
        if !lines.is_empty() {
            out.push_str(&format!("\n**{title}**\n\n"));
        }
        for line in lines {
            out.push_str(&format!("- {}.\n", escape(&line)));
        }
    };
    list("Notes", words::notes(comparison));
    list(words::WHY_TITLE, comparison.differences.iter().map(|of| format!("{}: {}", of.subject, of.what)).collect());
    list(words::CAVEATS_TITLE, comparison.caveats.clone());
    list(crate::words::WARNINGS_TITLE, comparison.warnings.clone());
    out
}

/// Renders as CSV: of each group and metric one row of kind `figure` per lane, and one of kind `ratio`
/// per pair: `lane` does so many times better than `against`.
pub(crate) fn csv(comparison: &PublishedComparison, _: &Style) -> String {
    let header = [
        "published",
        "workload",
        "group",
        "metric",
        "kind",
        "lane",
        "against",
        "yours",
        "article",
        "article_to",
        "qualifier",
        "note",
    ];
    let mut table = vec![header.map(str::to_owned).to_vec()];
    for row in &comparison.rows {
        let begin =
            || [&comparison.published, &row.workload, &row.group, &row.metric].map(|cell| rows::text(cell)).to_vec();
        for lane in &row.lanes {
            let mut cells = begin();
            let qualifier = lane.qualifier.map(qualifier_key).unwrap_or_default();
            cells.extend(["figure".to_owned(), rows::text(&lane.lane), String::new()]);
            cells.extend([lane.yours, lane.published, lane.published_to].map(rows::optional));
            cells.extend([qualifier.to_owned(), rows::text(lane.note.as_deref().unwrap_or_default())]);
            table.push(cells);
        }
        for pair in &row.pairs {
            let mut cells = begin();
            cells.extend(["ratio".to_owned(), rows::text(&pair.a), rows::text(&pair.b)]);
            cells.extend([pair.yours, pair.published, None].map(rows::optional));
            cells.extend([String::new(), String::new()]);
            table.push(cells);
        }
    }
    rows::table(&table)
}

fn qualifier_key(qualifier: model::published::Qualifier) -> &'static str {
    use model::published::Qualifier;
    match qualifier {
        Qualifier::About => "about",
        Qualifier::Above => "above",
        Qualifier::AtMost => "at-most",
    }
}

/// Renders as JSON.
pub(crate) fn json(comparison: &PublishedComparison, _: &Style) -> String {
    json::pretty(comparison)
}
