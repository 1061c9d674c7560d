//! What age did to lanes, for a terminal and as Markdown.

use crate::clean::name;
use crate::layout::{GLUE, Phrase, Tone, align, hang};
use crate::lines::CLOSING_COLUMNS;
use crate::markdown::{close, code, escape, open};
use crate::words::aged as wording;
use crate::{Style, figures};
use model::aged::AlikeFiles;
use model::findings::{AgedFinding, AgedRow, Findings, Verdict};

/// Pieces of free space below this count as small (chosen).
const SMALL_PIECE_BYTES: u64 = 64 << 10;

/// The section for a terminal.
pub(crate) fn text(out: &mut String, findings: &Findings, style: &Style) {
    if findings.aged.is_empty() {
        return;
    }
    out.push('\n');
    hang(out, wording::AGED, CLOSING_COLUMNS, &Phrase::new(wording::LEGEND), None, style);
    let mut rows = vec![wording::COLUMNS.map(str::to_owned).to_vec()];
    rows.extend(findings.aged.iter().map(|aged| [vec![name(&aged.lane)], cells(aged)].concat()));
    for (at, line) in align(&rows).iter().enumerate() {
        let tone = if at == 0 { Tone::Quiet } else { Tone::Plain };
        out.push_str(&format!("  {}\n", Phrase::default().tone(tone, line).paint(style)));
    }
    for line in sentences(findings) {
        hang(out, "", CLOSING_COLUMNS, &Phrase::new(line), None, style);
    }
}

/// What the end of a race shows of it: each lane beside its fresh one, and the ranks. The rest stands in the report.
pub(crate) fn brief(out: &mut String, findings: &Findings, style: &Style) {
    let mut label = wording::AGED;
    for line in comparisons(findings) {
        hang(out, label, CLOSING_COLUMNS, &Phrase::new(line), None, style);
        label = "";
    }
}

/// The section as Markdown.
pub(crate) fn markdown(out: &mut String, findings: &Findings) {
    if findings.aged.is_empty() {
        return;
    }
    open(out, wording::TITLE);
    out.push_str(&format!("{}\n\n", escape(wording::LEGEND)));
    crate::markdown::row(out, &wording::COLUMNS.map(str::to_owned));
    crate::markdown::row(out, &["---", "---:", "---:", "---:", "---:", "---:", "---:"].map(str::to_owned));
    for aged in &findings.aged {
        let lane = code(&name(&aged.lane), true);
        let cells = cells(aged).iter().map(|cell| escape(cell)).collect();
        crate::markdown::row(out, &[vec![lane], cells].concat());
    }
    out.push('\n');
    sentences(findings).iter().for_each(|line| out.push_str(&format!("- {}\n", escape(line))));
    close(out);
}

/// The cells of a row behind its lane, in the order of [`wording::COLUMNS`].
fn cells(aged: &AgedFinding) -> Vec<String> {
    let facts = &aged.facts;
    let known =
        |figure: Option<f64>| figure.map_or_else(|| wording::ABSENT.to_owned(), |figure| format!("{figure:.2}"));
    vec![
        format!("{:.1}x", facts.overwrites),
        figures::whole(facts.refused_for_space),
        figures::whole(facts.files),
        figures::share(if facts.filesystem_used_share > 0.0 { facts.filesystem_used_share } else { facts.used_share }),
        known(facts.extents_per_file),
        known(facts.layout_score),
    ]
}

/// What is said below the table: how old each lane is, then [`comparisons`].
fn sentences(findings: &Findings) -> Vec<String> {
    findings.aged.iter().filter_map(state).chain(comparisons(findings)).collect()
}

/// Each lane beside its fresh one, then the ranks.
fn comparisons(findings: &Findings) -> Vec<String> {
    let of_lane = |aged: &AgedFinding| match &aged.beside {
        Some(fresh) if !aged.rows.is_empty() => {
            let rows: Vec<String> = aged.rows.iter().map(of_row).collect();
            wording::against(&name(&aged.lane), &name(fresh), &rows.join("; "))
        }
        Some(fresh) => wording::without_rows(&name(&aged.lane), &name(fresh)),
        None => wording::alone(&name(&aged.lane)),
    };
    let mut lines: Vec<String> = findings.aged.iter().map(of_lane).collect();
    if let Some(ranks) = &findings.aged_ranks {
        lines.push(wording::ranks(ranks.flips.len(), ranks.decided, ranks.open));
        lines.extend((ranks.unequal > 0).then(|| wording::unequal(&figures::whole(ranks.unequal.into()))));
        lines.extend(ranks.flips.iter().map(|flip| {
            let [fresh, aged] = [&flip.fresh, &flip.aged].map(|lanes| (name(&lanes[0]), name(&lanes[1])));
            wording::flip(&crate::clean_text(&flip.title), (&fresh.0, &fresh.1), (&aged.0, &aged.1))
        }));
    }
    lines
}

/// What the table has no room for; `None`: nothing of it is known.
fn state(aged: &AgedFinding) -> Option<String> {
    let facts = &aged.facts;
    let free = facts.free_below(SMALL_PIECE_BYTES).map(|(small, all, pieces)| {
        wording::free(&figures::bytes(all), &figures::whole(pieces), &figures::share(small as f64 / all as f64))
    });
    let read = facts.cold_read.as_ref().map(|read| {
        let [aged, fresh] = [read.aged_seconds_per_gib, read.fresh_seconds_per_gib];
        let share = figures::share(read.share_of_files);
        let ratio = figures::times(aged / fresh.max(1e-9));
        let disk = crate::clean_text(&read.disk);
        wording::cold_read((&figures::time(aged), &figures::time(fresh), &ratio), &share, &disk)
    });
    let alike = |what: &str, of: AlikeFiles| {
        // A stranger's record may say any number.
        let probability = of.probability.clamp(0.0, 1.0);
        let probability = if probability < 0.005 { "below 0.01".to_owned() } else { format!("{probability:.2}") };
        wording::like_profile(what, &figures::share(of.misplaced_share), &probability)
    };
    // As fine as what counts as filled otherwise.
    let filled = |share: f64| format!("{:.1}{GLUE}%", share * 100.0);
    let parts = [
        facts.reached_share.map(|reached| wording::filled(&filled(reached), &filled(facts.used_share))),
        facts.allocated_bytes.map(|taken| wording::taken(&figures::bytes(facts.bytes), &figures::bytes(taken))),
        facts.differing_files.filter(|files| *files > 0).map(|files| wording::differing(&figures::whole(files))),
        facts.sizes.map(|of| alike("size", of)),
        facts.ages.map(|of| alike("age", of)),
        facts.dynamic_layout_score.map(|score| wording::dynamic_score(&format!("{score:.2}"))),
        facts.directories_split.map(|share| wording::folders_split(&figures::share(share))),
        free,
        read,
    ];
    let known: Vec<String> = parts.into_iter().flatten().collect();
    (!known.is_empty()).then(|| wording::state(&name(&aged.lane), &known.join("; ")))
}

fn of_row(row: &AgedRow) -> String {
    let interval = row.low.zip(row.high).map(|(low, high)| (figures::times(low), figures::times(high)));
    let is_decided = matches!(row.verdict, Verdict::Faster | Verdict::Slower | Verdict::Tie);
    wording::row(&crate::clean_text(&row.title), &figures::times(row.ratio), interval, is_decided)
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::aged::AgedLane;

    #[test]
    fn how_a_lane_is_filled_and_its_files_beside_another_life_are_told() {
        let alike = |probability, misplaced_share| {
            Some(AlikeFiles { chi_squared: 20.0, degrees: 9, probability, misplaced_share })
        };
        let facts = AgedLane {
            used_share: 0.7,
            reached_share: Some(0.696),
            bytes: 1 << 30,
            allocated_bytes: Some(3 << 29),
            differing_files: Some(3),
            sizes: alike(0.35, 0.012),
            ages: alike(0.0, 0.06),
            ..AgedLane::default()
        };
        let said = state(&AgedFinding { lane: "x".to_owned(), facts, beside: None, rows: Vec::new() }).unwrap();
        assert_eq!(
            said.replace(GLUE, " "),
            "x: files take 69.6 % of the lane, by its life 70.0 %; the files hold 1 GiB and take 1.5 GiB; files that are not as its \
             life says: 3; 1 % of the files would be in another class of size in another life of its profile (chi-squared, p \
             0.35); 6 % of the files would be in another class of age in another life of its profile (chi-squared, p below 0.01)."
        );
        let unknown = AgedFinding { lane: "x".to_owned(), facts: AgedLane::default(), beside: None, rows: Vec::new() };
        assert_eq!(state(&unknown), None);
    }
}
