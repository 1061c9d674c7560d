//! The table of features and the scenarios, as people read them.

use crate::layout::{Phrase, Tone, hang};
use crate::lines::CLOSING_COLUMNS;
use crate::words::features as wording;
use crate::{Style, figures, markdown};
use model::features::{Cell, Fact, Feature, Features};
use model::scenario::{Scenario, wishes};

/// Columns of the names of features.
const FEATURE_COLUMNS: usize = 30;

/// The whole table as Markdown: a row per feature, a column per filesystem.
pub fn features_table(features: &[Features]) -> String {
    let mut out = format!("| |{}\n", features.iter().map(|of| format!(" {} |", of.title)).collect::<String>());
    out.push_str(&format!("| --- |{}\n", " --- |".repeat(features.len())));
    for feature in Feature::all() {
        out.push_str(&format!("| {} |", feature.title()));
        for of in features {
            let cell = of.cell(feature).map(|cell| wording::brief(&cell.fact)).unwrap_or_default();
            let mark = of.cell(feature).is_some_and(|cell| !cell.rule.is_empty());
            out.push_str(&format!(" {}{} |", markdown::escape(&cell), if mark { "\\*" } else { "" }));
        }
        out.push('\n');
    }
    out
}

/// The whole table for a terminal: per feature which filesystems say what.
pub fn features_text(features: &[Features], style: &Style) -> String {
    let mut out = String::new();
    for feature in Feature::all() {
        let mut said: Vec<(String, Vec<&str>)> = Vec::new();
        for of in features {
            let Some(cell) = of.cell(feature) else { continue };
            let word = wording::brief(&cell.fact);
            match said.iter_mut().find(|(other, _)| *other == word) {
                Some((_, names)) => names.push(&of.filesystem),
                None => said.push((word, vec![&of.filesystem])),
            }
        }
        let parts = said
            .into_iter()
            .map(|(word, names)| Phrase::default().tone(Tone::Label, word).say(format!(" {}", names.join(", "))));
        hang(&mut out, feature.title(), FEATURE_COLUMNS, &Phrase::default().join(parts, "; "), None, style);
    }
    out.push('\n');
    hang(&mut out, "", 0, &Phrase::new(wording::LEGEND), None, style);
    out
}

/// One filesystem with everything that is known of it, and where it stands.
pub fn features_of(features: &Features, style: &Style) -> String {
    let mut out = String::new();
    hang(&mut out, "", 0, &Phrase::default().tone(Tone::Label, &features.title), None, style);
    for feature in Feature::all() {
        let Some(cell) = features.cell(feature) else { continue };
        hang(&mut out, feature.title(), FEATURE_COLUMNS, &whole(cell), None, style);
        for rule in &cell.rule {
            let line = Phrase::new(wording::rule(rule)).say(": ").and(fact(&rule.fact));
            hang(&mut out, "", FEATURE_COLUMNS, &line, None, style);
        }
    }
    out
}

fn whole(cell: &Cell) -> Phrase {
    fact(&cell.fact)
}

fn fact(fact: &Fact) -> Phrase {
    let said = Phrase::default().tone(Tone::Label, wording::brief(fact)).say(wording::beside(fact));
    if fact.source.is_empty() { said } else { said.tone(Tone::Quiet, format!(" [{}]", fact.source)) }
}

/// The scenarios with their shares and constraints, and what can be asked for.
pub fn scenarios_text(scenarios: &[Scenario], style: &Style) -> String {
    let mut out = String::new();
    let columns = scenarios.iter().map(|of| of.name.len() + 2).max().unwrap_or(0);
    for scenario in scenarios {
        let about = Phrase::new(format!("{}; ", scenario.about));
        let parts = scenario.weight.iter().map(|of| Phrase::new(format!("{} {}", of.what, figures::share(of.share))));
        hang(&mut out, &scenario.name, columns, &about.join(parts, ", ").say("."), None, style);
        for need in &scenario.need {
            let said =
                Phrase::new(wording::constraint(scenario, need)).tone(Tone::Quiet, format!(" [{}]", need.source));
            hang(&mut out, "", columns, &said, None, style);
        }
    }
    out.push('\n');
    let wished = wishes().map(|(name, what)| Phrase::new(format!("{name} ({what})")));
    hang(&mut out, wording::NEED, CLOSING_COLUMNS, &Phrase::default().join(wished, ", ").say("."), None, style);
    hang(&mut out, "", CLOSING_COLUMNS, &Phrase::new(wording::NEED_LEGEND), None, style);
    out
}
