//! What layers and several disks cost, for a terminal and as Markdown.

use crate::clean::name;
use crate::layout::{Phrase, Tone, align, hang};
use crate::lines::CLOSING_COLUMNS;
use crate::markdown::{close, code, escape, open};
use crate::words::layers as wording;
use crate::{Style, figures};
use model::findings::{Findings, LayerCost};

/// The table for a terminal.
pub(crate) fn text(out: &mut String, findings: &Findings, style: &Style) {
    if findings.layers.is_empty() {
        return;
    }
    out.push('\n');
    hang(out, wording::LAYERS, CLOSING_COLUMNS, &Phrase::new(wording::LEGEND), None, style);
    let mut rows = vec![wording::COLUMNS.map(str::to_owned).to_vec()];
    rows.extend(findings.layers.iter().map(|cost| [vec![name(&cost.lane)], cells(cost)].concat()));
    for (at, line) in align(&rows).iter().enumerate() {
        let tone = if at == 0 { Tone::Quiet } else { Tone::Plain };
        out.push_str(&format!("  {}\n", Phrase::default().tone(tone, line).paint(style)));
    }
}

/// The table as Markdown.
pub(crate) fn markdown(out: &mut String, findings: &Findings) {
    if findings.layers.is_empty() {
        return;
    }
    open(out, wording::TITLE);
    out.push_str(&format!("{}\n\n", escape(wording::LEGEND)));
    crate::markdown::row(out, &wording::COLUMNS.map(str::to_owned));
    crate::markdown::row(out, &["---", "---", "---:", "---", "---", "---"].map(str::to_owned));
    for cost in &findings.layers {
        let lane = code(&name(&cost.lane), true);
        let cells = cells(cost).iter().map(|cell| escape(cell)).collect();
        crate::markdown::row(out, &[vec![lane], cells].concat());
    }
    close(out);
}

/// The cells of a row behind its lane, in the order of [`wording::COLUMNS`].
fn cells(cost: &LayerCost) -> Vec<String> {
    let absent = || wording::ABSENT.to_owned();
    let size = |bytes: u64| model::units::human_bytes(bytes as f64);
    let usable = match (cost.usable_bytes, cost.disk_bytes) {
        (Some(usable), all) if all > 0 => wording::usable(&size(usable), &size(all)),
        _ => absent(),
    };
    let beside = cost.beside.as_deref().map(name);
    let written = cost.written_per_byte.map_or_else(absent, |own| match (cost.written_beside, &beside) {
        (Some(other), Some(beside)) => wording::beside(&times_of(own), &times_of(other), beside),
        _ => times_of(own),
    });
    let cpu = match (cost.cpu_times, &beside) {
        (Some(times), Some(beside)) => wording::cpu(
            &times_of(times),
            cost.cpu_times_range.filter(|_| cost.rows > 1).map(|(a, b)| (times_of(a), times_of(b))),
            beside,
            cost.rows,
        ),
        _ => absent(),
    };
    vec![usable, written, by_disk(&cost.written_by_disk), cpu, without_filesystem(cost)]
}

/// A multiple with as many digits everywhere, so that parts add up to their sum.
fn times_of(factor: f64) -> String {
    if (0.1..100.0).contains(&factor) { format!("{factor:.2}x") } else { figures::times(factor) }
}

/// How fast the layers are by themselves.
fn without_filesystem(cost: &LayerCost) -> String {
    let looked_at = cost.without_filesystem.iter().filter(|speed| speed.bare_operations_per_second.is_some()).count();
    let said = |mean| wording::of_a_bare_disk(&times_of(mean), looked_at);
    cost.of_a_bare_disk.map_or_else(|| wording::ABSENT.to_owned(), said)
}

/// Each disk's part; of more than a few the least and the most.
fn by_disk(disks: &[f64]) -> String {
    const FEW: usize = 4;
    if disks.is_empty() {
        return wording::ABSENT.to_owned();
    }
    if disks.len() <= FEW {
        return disks.iter().map(|own| times_of(*own)).collect::<Vec<_>>().join(", ");
    }
    let (least, most) = disks.iter().fold((f64::MAX, 0.0), |(least, most), &own| (own.min(least), own.max(most)));
    wording::from_to(&times_of(least), &times_of(most))
}
