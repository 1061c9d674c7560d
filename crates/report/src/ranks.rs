//! What the ranks of an MPI job did each by itself, for a terminal and as Markdown.

use crate::clean::{name, shorten};
use crate::layout::{Phrase, Tone, align, hang};
use crate::lines::CLOSING_COLUMNS;
use crate::markdown::{close, code, escape, open};
use crate::words::ranks as wording;
use crate::{Style, figures};
use model::findings::{Findings, RanksFinding, RanksRow};

/// Columns of a terminal that the name of work may take.
const WORK_COLUMNS: usize = 44;

/// The section for a terminal.
pub(crate) fn text(out: &mut String, findings: &Findings, style: &Style) {
    if findings.ranks.is_empty() {
        return;
    }
    out.push('\n');
    hang(out, wording::RANKS, CLOSING_COLUMNS, &Phrase::new(legend(findings)), None, style);
    let mut table = vec![columns(findings)];
    table.extend(rows(findings).map(|(work, row)| {
        let work = shorten(&work, WORK_COLUMNS);
        [vec![work, name(&row.lane)], cells(findings, row)].concat()
    }));
    for (at, line) in align(&table).iter().enumerate() {
        let tone = if at == 0 { Tone::Quiet } else { Tone::Plain };
        out.push_str(&format!("  {}\n", Phrase::default().tone(tone, line).paint(style)));
    }
    for line in sentences(findings) {
        hang(out, "", CLOSING_COLUMNS, &Phrase::new(line), None, style);
    }
}

/// What the end of a race shows of it: ranks that stay far behind. The rest stands in the report.
pub(crate) fn brief(out: &mut String, findings: &Findings, style: &Style) {
    let mut label = wording::RANKS;
    for line in sentences(findings) {
        hang(out, label, CLOSING_COLUMNS, &Phrase::new(line), None, style);
        label = "";
    }
}

/// The section as Markdown.
pub(crate) fn markdown(out: &mut String, findings: &Findings) {
    if findings.ranks.is_empty() {
        return;
    }
    open(out, wording::TITLE);
    out.push_str(&format!("{}\n\n", escape(&legend(findings))));
    let columns = columns(findings);
    crate::markdown::row(out, &columns);
    let side = |at: usize| if at < 2 { "---" } else { "---:" };
    let sides: Vec<String> = (0..columns.len()).map(|at| side(at).to_owned()).collect();
    crate::markdown::row(out, &sides);
    for (work, row) in rows(findings) {
        let lane = code(&name(&row.lane), true);
        let cells = cells(findings, row).iter().map(|cell| escape(cell)).collect();
        crate::markdown::row(out, &[vec![escape(&work), lane], cells].concat());
    }
    out.push('\n');
    sentences(findings).iter().for_each(|line| out.push_str(&format!("- {}\n", escape(line))));
    close(out);
}

/// Every row with its work.
fn rows(findings: &Findings) -> impl Iterator<Item = (String, &RanksRow)> {
    findings.ranks.iter().flat_map(move |of| of.rows.iter().map(move |row| (work(findings, of), row)))
}

/// The work, with its group where it has several.
fn work(findings: &Findings, of: &RanksFinding) -> String {
    let several = findings.ranks.iter().filter(|other| other.workload == of.workload).count() > 1;
    let title = crate::clean_text(&of.title);
    if several { format!("{title}: {}", crate::clean_text(&of.group)) } else { title }
}

/// Whether what networks carried is told of any row.
fn has_network(findings: &Findings) -> bool {
    rows(findings).any(|(_, row)| row.network.is_some())
}

fn legend(findings: &Findings) -> String {
    match has_network(findings) {
        true => format!("{} {}", wording::LEGEND, wording::NETWORK_LEGEND),
        false => wording::LEGEND.to_owned(),
    }
}

fn columns(findings: &Findings) -> Vec<String> {
    let network = has_network(findings).then_some(wording::NETWORK);
    wording::COLUMNS.into_iter().chain(network).map(str::to_owned).collect()
}

/// The cells of a row behind its work and its lane, in the order of [`columns`].
fn cells(findings: &Findings, row: &RanksRow) -> Vec<String> {
    let rate = |value: f64| figures::rate("operations/s", value);
    let bytes = |value: f64| figures::rate("B/s", value);
    let network =
        row.network.map(|of| format!("{}, {}", bytes(of.received_bytes_per_second), bytes(of.sent_bytes_per_second)));
    let network = has_network(findings).then(|| network.unwrap_or_default());
    let mut cells = vec![
        wording::ranks(row.ranks, row.nodes),
        rate(row.lowest_operations_per_second),
        rate(row.mean_operations_per_second),
        rate(row.highest_operations_per_second),
        figures::share(row.spread),
        figures::range(&figures::time(row.first_done_seconds), &figures::time(row.last_done_seconds)),
    ];
    cells.extend(network);
    cells
}

/// Ranks that stay far behind.
fn sentences(findings: &Findings) -> Vec<String> {
    let said = |(work, row): (String, &RanksRow)| {
        let of = row.straggler?;
        let rank = wording::rank(of.rank, of.node, row.nodes);
        Some(wording::straggler(&work, &name(&row.lane), &rank, (of.rounds, of.of), &figures::share(of.below)))
    };
    rows(findings).filter_map(said).collect()
}
