//! Power cuts and damage as text, Markdown and JSON.

use crate::Style;
use crate::clean::{name, shell_line};
use crate::layout::{Phrase, Tone, align, hang};
use crate::words::durability as wording;
use crate::{json, words};
use model::durability::{DurabilityFindings, LaneDurability, LaneExample};
use model::page::Language;
use std::path::Path;

/// The formats of a record of durability.
pub const DURABILITY_FORMATS: [&str; 3] = ["text", "markdown", "json"];
/// Columns of the labels.
const LABEL_COLUMNS: usize = 12;

/// How many cuts each lane gets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PlannedCuts {
    /// At work that promises something.
    pub promised: u64,
    /// At work that does not, beside them.
    pub unpromised: u64,
}

/// What is about to be done.
#[derive(Debug, Clone, Copy)]
pub struct DurabilityPlan<'a> {
    /// How many lanes.
    pub lanes: usize,
    /// Cuts of each; `None`: they are damaged instead.
    pub cuts: Option<PlannedCuts>,
    /// Where files are made.
    pub folder: &'a str,
    /// How many bytes these take at most.
    pub bytes: u64,
}

/// The line that is shown before anything is written.
pub fn durability_plan(plan: &DurabilityPlan) -> String {
    wording::plan(plan)
}

/// Refuses what a record of durability is not rendered in.
///
/// # Errors
/// The format or the language, as a sentence.
pub fn check_durability(format: &str, language: Option<Language>) -> Result<(), String> {
    if !DURABILITY_FORMATS.contains(&format) {
        return Err(format!(
            "power cuts and damage are not rendered as `{}`; choose one of {}",
            crate::clean::clean(format),
            DURABILITY_FORMATS.join(", ")
        ));
    }
    match language {
        None | Some(Language::En) => Ok(()),
        Some(_) => Err("power cuts and damage are told in English only; leave --lang out".to_owned()),
    }
}

/// Renders findings of durability in one of [`DURABILITY_FORMATS`]. `path`: where the record lies. `cases`: the folder in
/// which the run of this record kept its images, where it is known that this user made it; the line that looks at one is
/// shown for those in it and for no others, because it runs as root and a stranger may have written both.
///
/// # Errors
/// A format that there is not, as a sentence.
pub fn render_durability(
    found: &DurabilityFindings,
    format: &str,
    path: Option<&str>,
    cases: Option<&Path>,
    style: &Style,
) -> Result<String, String> {
    check_durability(format, None)?;
    Ok(match format {
        "json" => json::pretty(found),
        "markdown" => markdown(found),
        _ => text(found, path, cases, style),
    })
}

fn text(found: &DurabilityFindings, path: Option<&str>, cases: Option<&Path>, style: &Style) -> String {
    let mut out = String::new();
    let label = if found.command == "integrity" { wording::INTEGRITY } else { wording::POWER_CUTS };
    hang(&mut out, label, LABEL_COLUMNS, &Phrase::new(wording::heading(found)), None, style);
    out.push('\n');
    if found.command == "integrity" {
        damage(&mut out, found, style);
    } else {
        cuts(&mut out, found, cases, style);
    }
    if let Some(path) = path {
        hang(&mut out, words::RECORD, LABEL_COLUMNS, &Phrase::new(path), None, style);
    }
    if !found.again.is_empty() {
        // Never wrapped: it must survive being copied.
        let blanks = " ".repeat(LABEL_COLUMNS - words::AGAIN.len());
        let label = Phrase::default().tone(Tone::Label, words::AGAIN).paint(style);
        let sudo = if style.sudo { "sudo " } else { "" };
        out.push_str(&format!("{label}{blanks}{sudo}fairlane {}\n", shell_line(&found.again)));
    }
    out
}

fn cuts(out: &mut String, found: &DurabilityFindings, cases: Option<&Path>, style: &Style) {
    let first = found.lanes.first().map_or("", |lane| lane.lane.as_str());
    // Before the figures, and instead of what they would say of each lane.
    for reason in &found.untrusted {
        hang(out, wording::UNTRUSTED, LABEL_COLUMNS, &wording::untrusted(*reason, found), None, style);
    }
    for rows in [table(found), more(found, first)] {
        for (index, line) in align(&rows).into_iter().enumerate() {
            let tone = if index == 0 { Tone::Quiet } else { Tone::Plain };
            out.push_str(&Phrase::default().tone(tone, line).paint(style));
            out.push('\n');
        }
        out.push('\n');
    }
    if found.untrusted.is_empty() {
        for lane in &found.lanes {
            hang(out, "", 0, &wording::lane(lane, first), None, style);
        }
        out.push('\n');
        hang(out, wording::CONTROLS, LABEL_COLUMNS, &wording::controls(found), None, style);
    }
    for lane in &found.lanes {
        for of in &lane.examples {
            example(out, words::NOTE, (&lane.lane, of), cases, style);
        }
    }
    for lane in &found.lanes {
        for of in &lane.complained {
            example(out, wording::CHECKER, (&lane.lane, of), cases, style);
        }
    }
    for (index, cost) in found.lanes.iter().filter_map(wording::cost).enumerate() {
        hang(out, if index == 0 { wording::COST } else { "" }, LABEL_COLUMNS, &cost, None, style);
    }
    hang(out, wording::BEWARE, LABEL_COLUMNS, &Phrase::new(wording::CANNOT_PROVE), None, style);
    if found.lanes.iter().any(|lane| lane.speed.is_some()) {
        hang(out, "", LABEL_COLUMNS, &Phrase::new(wording::SPEED_LEGEND), None, style);
    }
}

/// One image of a lane, and the line that makes it again.
fn example(out: &mut String, label: &str, (lane, of): (&str, &LaneExample), cases: Option<&Path>, style: &Style) {
    hang(out, label, LABEL_COLUMNS, &wording::example(lane, of), None, style);
    let kept = Path::new(&of.example.kept);
    if of.example.kept.is_empty() {
        return;
    }
    if cases.is_none() || kept.parent() != cases || kept.file_name().is_none() {
        hang(out, wording::LOOK, LABEL_COLUMNS, &Phrase::new(wording::LOOK_WHERE_IT_RAN), None, style);
        return;
    }
    let command = ["powercut".to_owned(), "--look".to_owned(), of.example.kept.clone()];
    let blanks = " ".repeat(LABEL_COLUMNS - wording::LOOK.len());
    let label = Phrase::default().tone(Tone::Label, wording::LOOK).paint(style);
    out.push_str(&format!("{label}{blanks}fairlane {}\n", shell_line(&command)));
}

fn table(found: &DurabilityFindings) -> Vec<Vec<String>> {
    let head = wording::COLUMNS.map(str::to_owned).to_vec();
    let row = |lane: &LaneDurability| {
        let figures = [lane.cuts, lane.broken, lane.lost, lane.torn, lane.stale, lane.mixed, lane.unmountable]
            .map(|n| n.to_string());
        std::iter::once(name(&lane.lane)).chain(figures).collect()
    };
    std::iter::once(head).chain(found.lanes.iter().map(row)).collect()
}

fn more(found: &DurabilityFindings, first: &str) -> Vec<Vec<String>> {
    let head = wording::MORE_COLUMNS.map(str::to_owned).to_vec();
    let any = found.lanes.iter().any(|lane| lane.speed.is_some());
    let row = |lane: &LaneDurability| {
        let [open, images] = [lane.open, lane.images].map(wording::counted);
        vec![
            name(&lane.lane),
            open,
            images,
            lane.complaints.to_string(),
            wording::bare(lane),
            wording::speed(lane, first, any),
        ]
    };
    std::iter::once(head).chain(found.lanes.iter().map(row)).collect()
}

fn damage(out: &mut String, found: &DurabilityFindings, style: &Style) {
    let mut part = |label: &str, lines: Vec<Phrase>| {
        let mut label = label;
        for line in lines {
            hang(out, label, LABEL_COLUMNS, &line, None, style);
            label = "";
        }
    };
    part(wording::DAMAGE, found.damage.iter().map(wording::damage).collect());
    part(wording::FULL, found.full.iter().map(wording::full).collect());
    part(wording::FAULTS, found.faults.iter().map(wording::fault).collect());
    part(wording::BEWARE, vec![Phrase::new(wording::CANNOT_PROVE_DAMAGE)]);
}

/// Tables and sentences for a pull request or the documentation.
fn markdown(found: &DurabilityFindings) -> String {
    let mut out = String::new();
    let cell = |text: &str| crate::clean::clean(text).replace('|', "\\|");
    let mut rows = |rows: Vec<Vec<String>>| {
        for (index, row) in rows.iter().enumerate() {
            out.push_str(&format!("| {} |\n", row.iter().map(|text| cell(text)).collect::<Vec<_>>().join(" | ")));
            if index == 0 {
                out.push_str(&format!("|{}\n", " --- |".repeat(row.len())));
            }
        }
        out.push('\n');
    };
    let first = found.lanes.first().map_or("", |lane| lane.lane.as_str());
    if found.command != "integrity" {
        rows(table(found));
        rows(more(found, first));
    }
    let mut lines: Vec<Phrase> = found.untrusted.iter().map(|reason| wording::untrusted(*reason, found)).collect();
    if lines.is_empty() && found.command != "integrity" {
        lines.extend(found.lanes.iter().map(|lane| wording::lane(lane, first)));
        lines.push(wording::controls(found));
    }
    lines.extend(found.lanes.iter().filter_map(wording::cost));
    lines.extend(found.damage.iter().map(wording::damage));
    lines.extend(found.full.iter().map(wording::full));
    lines.extend(found.faults.iter().map(wording::fault));
    let beware = if found.command == "integrity" { wording::CANNOT_PROVE_DAMAGE } else { wording::CANNOT_PROVE };
    lines.push(Phrase::new(beware));
    for line in lines {
        out.push_str(&format!("- {}\n", line.plain()));
    }
    out
}
