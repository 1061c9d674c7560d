//! Two records side by side, in every format.

use crate::clean::{name, shorten};
use crate::layout::{Phrase, align, hang};
use crate::markdown;
use crate::{Style, csv as rows, facts, figures, json, words};
use model::findings::{Comparison, ComparisonRow, Verdict};
use std::collections::BTreeSet;

/// Renders a comparison for a terminal: the verdicts, what to beware of, and a summary last.
pub(crate) fn text(comparison: &Comparison, style: &Style) -> String {
    let mut out = String::new();
    let mut say = |label: &str, said: &Phrase| hang(&mut out, label, COMPARED_COLUMNS, said, None, style);
    say(words::comparison::LABEL_A, &Phrase::new(shorten(&comparison.a, 200)));
    say(words::comparison::LABEL_B, &Phrase::new(shorten(&comparison.b, 200)));
    out.push('\n');
    let cells: Vec<Vec<String>> = comparison
        .rows
        .iter()
        .map(|row| {
            let (a, b) = rates(row);
            let subject = match under_a_heading(row, &comparison.rows) {
                true => format!("  {}", shorten(&row.group, GROUP_COLUMNS)),
                false => subject(row, &comparison.rows),
            };
            vec![subject, name(&row.lane), a, "->".to_owned(), b]
        })
        .collect();
    let aligned = align(&cells);
    let widest = aligned.iter().map(|line| crate::clean::columns(line)).max().unwrap_or(0);
    // The verdicts stand in a column of their own where at least thirty characters are left to them.
    let beside = widest + 2 + 30 <= style.columns();
    let mut before: Option<&str> = None;
    for (row, line) in comparison.rows.iter().zip(aligned) {
        let headed = under_a_heading(row, &comparison.rows);
        let reason = shared_reason(row, &comparison.rows).filter(|_| headed);
        if headed && before != Some(&row.workload) {
            let heading = words::comparison::heading(&shorten(&row.title, facts::TITLE_COLUMNS), reason);
            hang(&mut out, "", 0, &heading, None, style);
        }
        before = Some(&row.workload);
        let verdict = match reason {
            Some(_) => words::comparison::bare_ratio(row),
            None => words::comparison::change(row),
        };
        if beside {
            hang(&mut out, &line, widest + 2, &verdict, None, style);
        } else {
            hang(&mut out, "", 0, &Phrase::new(line), None, style);
            hang(&mut out, "", 4, &verdict, None, style);
        }
    }
    if !comparison.rows.is_empty() {
        out.push('\n');
    }
    let mut label = words::NOTES;
    for caveat in words::comparison::caveats(comparison) {
        hang(&mut out, label, crate::lines::CLOSING_COLUMNS, &Phrase::new(format!("{caveat}.")), None, style);
        label = "";
    }
    let mut label = words::WARNINGS;
    for warning in &comparison.warnings {
        let said = Phrase::new(format!("{}.", words::sentence(warning)));
        hang(&mut out, label, crate::lines::CLOSING_COLUMNS, &said, None, style);
        label = "";
    }
    hang(&mut out, words::SUMMARY, crate::lines::CLOSING_COLUMNS, &words::comparison::summary(comparison), None, style);
    out
}

const COMPARED_COLUMNS: usize = 3;
/// Groups from which on a workload's title stands above them, and not in each line.
const GROUPS_UNDER_A_HEADING: usize = 4;
/// Columns of a group's name under such a heading.
const GROUP_COLUMNS: usize = 30;

/// Whether the row's workload has so many groups that its title stands above them.
fn under_a_heading(row: &ComparisonRow, all: &[ComparisonRow]) -> bool {
    let groups = all.iter().filter(|other| other.workload == row.workload).map(|other| other.group.as_str());
    groups.collect::<BTreeSet<_>>().len() >= GROUPS_UNDER_A_HEADING
}

/// Why none of a workload's rows has a verdict, where one reason holds for all.
fn shared_reason<'a>(row: &'a ComparisonRow, all: &[ComparisonRow]) -> Option<&'a str> {
    let why = row.why.as_deref().filter(|why| !why.trim().is_empty())?;
    let mut same = all.iter().filter(|other| other.workload == row.workload);
    same.all(|other| other.verdict == Verdict::None && other.why.as_deref() == Some(why)).then_some(why)
}

/// Renders a comparison for a pull request.
pub(crate) fn markdown(comparison: &Comparison, _: &Style) -> String {
    let mut out = format!(
        "**{}** {}\n\n",
        words::SUMMARY_TITLE,
        markdown::phrase(&words::comparison::summary(comparison), false)
    );
    out.push_str(&format!(
        "{}: {}  \n{}: {}\n",
        words::comparison::LABEL_A,
        markdown::escape(&shorten(&comparison.a, 200)),
        words::comparison::LABEL_B,
        markdown::escape(&shorten(&comparison.b, 200))
    ));
    if !comparison.rows.is_empty() {
        let header = [
            words::COLUMN_WORKLOAD,
            words::columns::COLUMN_LANE,
            words::comparison::LABEL_A,
            words::comparison::LABEL_B,
            words::comparison::COLUMN_CHANGE,
        ];
        out.push_str(&format!("\n| {} |\n| --- | --- | ---: | ---: | --- |\n", header.join(" | ")));
    }
    for row in &comparison.rows {
        let (a, b) = rates(row);
        let cells = [
            markdown::escape(&subject(row, &comparison.rows)),
            markdown::code(&name(&row.lane), true),
            markdown::escape(&a),
            markdown::escape(&b),
            markdown::phrase(&words::comparison::change(row), true),
        ];
        out.push_str(&format!("| {} |\n", cells.join(" | ")));
    }
    let warnings = comparison.warnings.iter().map(|warning| words::sentence(warning));
    let remarks: Vec<String> = words::comparison::caveats(comparison).into_iter().chain(warnings).collect();
    if !remarks.is_empty() {
        out.push('\n');
    }
    for remark in remarks {
        out.push_str(&format!("- {}.\n", markdown::escape(&remark)));
    }
    out
}

/// Renders a comparison as CSV: one row per lane, workload and group.
pub(crate) fn csv(comparison: &Comparison, _: &Style) -> String {
    let mut table = vec![
        ["workload", "group", "lane", "metric", "unit", "a", "b", "ratio", "ratio_low", "ratio_high", "verdict", "why"]
            .map(str::to_owned)
            .to_vec(),
    ];
    table.extend(comparison.rows.iter().map(|row| {
        vec![
            rows::text(&row.workload),
            rows::text(&row.group),
            rows::text(&row.lane),
            rows::text(&row.metric),
            rows::text(&figures::unit_of_metric(&row.metric)),
            rows::number(row.a),
            rows::number(row.b),
            rows::number(row.ratio),
            rows::optional(row.low),
            rows::optional(row.high),
            words::comparison::verdict_key(row.verdict).to_owned(),
            rows::text(row.why.as_deref().unwrap_or_default()),
        ]
    }));
    rows::table(&table)
}

/// Renders a comparison as JSON.
pub(crate) fn json(comparison: &Comparison, _: &Style) -> String {
    json::comparison(comparison)
}

fn rates(row: &ComparisonRow) -> (String, String) {
    let unit = figures::unit_of_metric(&row.metric);
    (plain(&figures::rate(&unit, row.a)), plain(&figures::rate(&unit, row.b)))
}

fn plain(text: &str) -> String {
    text.replace(crate::layout::GLUE, " ")
}

/// The title, and the group where the workload has several.
fn subject(row: &ComparisonRow, all: &[ComparisonRow]) -> String {
    let title = shorten(&row.title, facts::TITLE_COLUMNS);
    let several = all.iter().any(|other| other.workload == row.workload && other.group != row.group);
    if several { format!("{title}, {}", shorten(&row.group, 80)) } else { title }
}
