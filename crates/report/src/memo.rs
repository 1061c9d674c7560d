//! The memo: one page for the person who decides and reads no statistics. It chooses among what the
//! findings decided and words it; the sentences of each language stand in `language/`.

mod decision;
mod open;
mod page;
mod place;
mod screened;
mod work;

use crate::Input;
use crate::clean::shorten;
use crate::language::{Tongue, fill};
use crate::layout::{Phrase, Tone};
use crate::{screening, words};
use decision::raced;
use model::findings::Findings;
use model::page::Language;
use page::{COLUMNS, Page};

/// Columns of a lane's name in the title.
const TITLE_NAME_COLUMNS: usize = 40;

/// Renders findings as one page of Markdown that reads as plain text too.
pub(crate) fn render(input: &Input, language: Language) -> String {
    let findings = input.findings;
    let tongue = Tongue::new(language);
    let said = tongue.words;
    let decision = &findings.conclusion.decision;
    let labelled = |label: &str, text: Phrase| {
        let label = Phrase::default().tone(Tone::Label, label);
        fill(said.labelled, &[("name", label), ("value", text)])
    };
    let mut page = Page::default();
    page.title(&title(findings, &tongue));
    page.paragraph(&labelled(said.decision, decision::decided(findings, &tongue)));
    if let Some(note) = &findings.code_only {
        page.paragraph(&labelled(said.note, Phrase::new(words::sentence(&tongue.sentence(note))).say(said.stop)));
    }
    if let Some(note) = outcome(input, &tongue) {
        page.paragraph(&labelled(said.note, note));
    }
    let settle = place::next(findings);
    let brings = match &findings.screening {
        Some(finding) => screened::brings(findings, finding, &tongue),
        None => decision::brings(findings, decision, &tongue),
    };
    page.section(said.brings, &brings);
    match &findings.screening {
        Some(finding) => page.section(said.costs, &screened::costs(finding, &tongue)),
        None if decision.taken().is_empty() => {}
        None => page.section(said.costs, &decision::costs(findings, decision, &tongue)),
    }
    let settle = settle.as_deref().filter(|command| place::inline(Some(*command)).is_some());
    if let Some(finding) = &findings.screening {
        // Half of them would set half of it.
        let commands = screening::commands(finding);
        let points: Vec<Phrase> = commands.iter().map(|line| Phrase::default().tone(Tone::Name, line)).collect();
        page.section_keeping(said.set_it, &points, points.len());
    }
    page.section(said.untold, &open::untold(findings, decision, settle, &tongue));
    page.section(said.untested, &open::untested(findings, &tongue));
    page.section(said.flips, &open::flips(findings, decision, &tongue));
    // Who raced is never dropped for want of room.
    page.section_keeping(said.place, &place::place(input, &tongue), place::kept(findings));
    match place::repeat(input) {
        Ok(lines) => page.command(said.repeat, &lines),
        Err(report) => page.section(said.repeat, &[fill(said.too_long, &[("command", report)])]),
    }
    page.text(|count| {
        let values = [("count", Phrase::new(count.to_string())), ("command", place::full_report(input))];
        [fill(said.more_points, &values), fill(said.more_points_plain, &values[..1])]
    })
}

/// The question, with as many contestants as a line holds.
fn title(findings: &Findings, tongue: &Tongue) -> Phrase {
    let name = |name: &str| Phrase::default().name(&shorten(name, TITLE_NAME_COLUMNS));
    let lanes = || raced(findings).map(|lane| name(&lane.name)).collect::<Vec<Phrase>>();
    let (template, names) = match &findings.screening {
        Some(finding) => {
            let base = screening::base(finding).map_or_else(|| Phrase::new(tongue.words.screened_no_lane), name);
            (tongue.words.title_options, vec![base])
        }
        None if decision::kernels(findings).is_some() => (tongue.words.title_kernels, lanes()),
        None => (tongue.words.title, lanes()),
    };
    let of = |most: usize| fill(template, &[("lanes", tongue.few(names.clone(), most))]);
    // Code has two marks around each name, and what is escaped is longer than it looks.
    let fits =
        |title: &Phrase| page::wrap(title, usize::MAX).iter().all(|line| crate::clean::columns(line) + 2 <= COLUMNS);
    let fitting = (1..=names.len()).rev().map(of).find(fits);
    fitting.unwrap_or_else(|| fill(template, &[("lanes", Phrase::default())]))
}

/// How a race ended that did not end by itself, and how it goes on.
fn outcome(input: &Input, tongue: &Tongue) -> Option<Phrase> {
    let said = tongue.words;
    let goes_on = input.findings.screening.as_ref().is_some_and(|of| of.goes_on());
    let outcome = match input.findings.outcome.as_str() {
        "complete" | "unexplained" if goes_on => Phrase::default(),
        "complete" | "unexplained" => return None,
        "interrupted" => Phrase::new(said.interrupted),
        "failed" => Phrase::new(said.failed_race),
        "unfinished" => Phrase::new(said.unfinished),
        "running" => return Some(Phrase::new(said.running)),
        other => fill(said.ended_as, &[("outcome", Phrase::new(shorten(other, TITLE_NAME_COLUMNS)))]),
    };
    let command = input.record_path.and_then(|path| crate::lines::resume_command(input.findings, path));
    let seconds = input.findings.answer.as_ref().and_then(|answer| answer.settle).and_then(|settle| settle.seconds());
    Some(match place::inline(command.as_deref()) {
        Some(command) => {
            let command = seconds.map_or(command.clone(), |of| tongue.with(command, open::about(of, tongue)));
            let space = if outcome.columns() > 0 { " " } else { "" };
            outcome.say(space).and(fill(said.resume, &[("command", command)]))
        }
        None if outcome.columns() == 0 => return None,
        None => outcome,
    })
}
