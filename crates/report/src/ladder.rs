//! What growing numbers of ranks bring, for a terminal and as Markdown.

use crate::clean::{name, shorten};
use crate::layout::{Phrase, Tone, align, hang};
use crate::lines::CLOSING_COLUMNS;
use crate::markdown::{close, code, escape, open};
use crate::words::{ladder as wording, ranks as of_ranks};
use crate::{Style, figures};
use model::findings::{Findings, LadderFinding, LadderLane, LadderRow, LadderShare, Scaling};

/// Columns of a terminal that the name of work may take.
const WORK_COLUMNS: usize = 44;

/// The section for a terminal.
pub(crate) fn text(out: &mut String, findings: &Findings, style: &Style) {
    if findings.ladders.is_empty() {
        return;
    }
    out.push('\n');
    hang(out, wording::LADDER, CLOSING_COLUMNS, &Phrase::new(wording::LEGEND), None, style);
    let mut table = vec![wording::COLUMNS.map(str::to_owned).to_vec()];
    for (of, lane) in lanes(findings) {
        for (at, row) in lane.rows.iter().enumerate() {
            // Work and lane stand where they begin.
            let named = if at == 0 { [shorten(&work(of), WORK_COLUMNS), name(&lane.lane)] } else { Default::default() };
            table.push([named.to_vec(), cells(of, row)].concat());
        }
    }
    for (at, line) in align(&table).iter().enumerate() {
        let tone = if at == 0 { Tone::Quiet } else { Tone::Plain };
        out.push_str(&format!("  {}\n", Phrase::default().tone(tone, line).paint(style)));
    }
    for (of, lane) in lanes(findings) {
        hang(out, "", CLOSING_COLUMNS, &Phrase::new(sentence(of, lane)), None, style);
    }
}

/// What the end of a race shows of it: where it bends. The rest stands in the report.
pub(crate) fn brief(out: &mut String, findings: &Findings, style: &Style) {
    let mut label = wording::LADDER;
    for (of, lane) in lanes(findings).filter(|(_, lane)| matches!(lane.scaling, Scaling::Bends { .. })) {
        hang(out, label, CLOSING_COLUMNS, &Phrase::new(sentence(of, lane)), None, style);
        label = "";
    }
}

/// The section as Markdown.
pub(crate) fn markdown(out: &mut String, findings: &Findings) {
    if findings.ladders.is_empty() {
        return;
    }
    open(out, wording::TITLE);
    out.push_str(&format!("{}\n\n", escape(wording::LEGEND)));
    crate::markdown::row(out, &wording::COLUMNS.map(str::to_owned));
    crate::markdown::row(out, &["---", "---", "---:", "---:", "---:"].map(str::to_owned));
    for (of, lane) in lanes(findings) {
        for row in &lane.rows {
            let cells = cells(of, row).iter().map(|cell| escape(cell)).collect();
            crate::markdown::row(out, &[vec![escape(&work(of)), code(&name(&lane.lane), true)], cells].concat());
        }
    }
    out.push('\n');
    lanes(findings).for_each(|(of, lane)| out.push_str(&format!("- {}\n", escape(&sentence(of, lane)))));
    close(out);
}

/// Every lane of every ladder.
fn lanes(findings: &Findings) -> impl Iterator<Item = (&LadderFinding, &LadderLane)> {
    findings.ladders.iter().flat_map(|of| of.lanes.iter().map(move |lane| (of, lane)))
}

/// The work, with its group where it has several.
fn work(of: &LadderFinding) -> String {
    let title = crate::clean_text(&of.title);
    if of.group.is_empty() { title } else { format!("{title}: {}", crate::clean_text(&of.group)) }
}

/// The cells of a row behind its work and its lane, in the order of [`wording::COLUMNS`].
fn cells(of: &LadderFinding, row: &LadderRow) -> Vec<String> {
    let absent = || wording::ABSENT.to_owned();
    vec![
        of_ranks::ranks(row.ranks, row.nodes),
        figures::rate_with_interval(&of.unit, row.mean, row.low, row.high),
        row.share.map_or_else(absent, |LadderShare { share, low, high }| {
            wording::added(&percent(share), &percent(low), &percent(high))
        }),
    ]
}

/// A share that may be negative, where more ranks did less. What rounds to nothing has no sign.
fn percent(share: f64) -> String {
    match share {
        share if share <= -0.005 => format!("-{}", figures::share(-share)),
        share if share < 0.0 => figures::share(0.0),
        share => figures::share(share),
    }
}

/// Where a lane bends, or that it does not, or that nobody knows.
fn sentence(of: &LadderFinding, lane: &LadderLane) -> String {
    let (work, named) = (work(of), name(&lane.lane));
    let most = lane.rows.last().map_or(0, |row| row.ranks);
    match lane.scaling {
        Scaling::Bends { from, to, at_most, perhaps_before } => {
            wording::bends(&work, &named, (from, to), &percent(at_most.max(0.0)), perhaps_before)
        }
        Scaling::Straight => wording::straight(&work, &named, most),
        Scaling::Open => wording::open(&work, &named, most),
    }
}
