//! IO500's score of lanes, for a terminal and as Markdown.

use crate::clean::name;
use crate::layout::{Phrase, Tone, align, hang};
use crate::lines::CLOSING_COLUMNS;
use crate::markdown::{close, code, escape, open};
use crate::words::io500 as wording;
use crate::{Style, figures};
use model::findings::{Findings, Io500Finding, Io500Phase};

/// The section for a terminal.
pub(crate) fn text(out: &mut String, findings: &Findings, style: &Style) {
    if findings.io500.is_empty() {
        return;
    }
    out.push('\n');
    hang(out, wording::IO500, CLOSING_COLUMNS, &Phrase::new(wording::LEGEND), None, style);
    let mut rows = vec![wording::COLUMNS.map(str::to_owned).to_vec()];
    rows.extend(findings.io500.iter().map(|of| [vec![name(&of.lane)], cells(of)].concat()));
    for (at, line) in align(&rows).iter().enumerate() {
        let tone = if at == 0 { Tone::Quiet } else { Tone::Plain };
        out.push_str(&format!("  {}\n", Phrase::default().tone(tone, line).paint(style)));
    }
    for line in sentences(findings) {
        hang(out, "", CLOSING_COLUMNS, &Phrase::new(line), None, style);
    }
}

/// The section as Markdown.
pub(crate) fn markdown(out: &mut String, findings: &Findings) {
    if findings.io500.is_empty() {
        return;
    }
    open(out, wording::TITLE);
    out.push_str(&format!("{}\n\n", escape(wording::LEGEND)));
    crate::markdown::row(out, &wording::COLUMNS.map(str::to_owned));
    crate::markdown::row(out, &["---", "---:", "---:", "---:", "---:"].map(str::to_owned));
    for of in &findings.io500 {
        let lane = code(&name(&of.lane), true);
        let cells = cells(of).iter().map(|cell| escape(cell)).collect();
        crate::markdown::row(out, &[vec![lane], cells].concat());
    }
    out.push('\n');
    sentences(findings).iter().for_each(|line| out.push_str(&format!("- {}\n", escape(line))));
    close(out);
}

/// The cells of a row behind its lane, in the order of [`wording::COLUMNS`].
fn cells(of: &Io500Finding) -> Vec<String> {
    let Some(score) = of.score else { return vec![wording::ABSENT.to_owned(); wording::COLUMNS.len() - 1] };
    let interval = score.low.zip(score.high).map(|(low, high)| (number(low), number(high)));
    vec![
        wording::score(&number(score.score), interval),
        format!("{} GiB/s", number(score.bandwidth)),
        format!("{} kIOPS", number(score.metadata)),
        score.rounds.to_string(),
    ]
}

fn number(value: f64) -> String {
    if value < 0.995 { format!("{value:.3}") } else { figures::three_digits(value) }
}

/// What a reader must know of the scores.
fn sentences(findings: &Findings) -> Vec<String> {
    let phases = |is_such: fn(&Io500Phase) -> bool| -> Vec<_> {
        findings.io500.iter().flat_map(|of| &of.phases).filter(|phase| is_such(phase)).collect()
    };
    let short = phases(Io500Phase::is_too_short);
    let least = short.iter().map(|phase| phase.seconds).fold(f64::INFINITY, f64::min);
    let most = short.iter().map(|phase| phase.seconds).fold(0.0, f64::max);
    let seconds = figures::range(&figures::time(least), &figures::time(most));
    let invalid = (!short.is_empty()).then(|| wording::invalid(&names(&short), &seconds));
    let again = phases(|phase| phase.read_again);
    let again = (!again.is_empty()).then(|| wording::read_again(&names(&again)));
    let none = findings.io500.iter().filter(|of| of.score.is_none()).map(|of| {
        let missing: Vec<&str> = of.missing().collect();
        wording::no_score(&name(&of.lane), &missing.join(", "))
    });
    invalid.into_iter().chain(again).chain(none).collect()
}

/// The names of phases, each once.
fn names(phases: &[&Io500Phase]) -> String {
    let mut names: Vec<&str> = Vec::new();
    for phase in phases {
        if !names.contains(&phase.name.as_str()) {
            names.push(&phase.name);
        }
    }
    names.join(", ")
}
