//! Pure renderers of findings: text, Markdown, a memo of one page, CSV, JSON, HTML, fio's JSON, IO500's
//! result.txt, and JUnit's XML of a gate.
//!
//! Nothing here measures, judges or averages: every figure and every verdict comes from
//! [`model::findings`], and a report only words it. To add a format: one file with a function for
//! findings, one for comparisons and one for gates, and one row in [`FORMATS`].
//!
//! Whatever a record holds (lane names, titles, reasons, paths), what is printed moves no cursor,
//! changes no colour, reorders no line, and is no HTML, Markdown, spreadsheet formula or shell
//! command of its own.

mod advice;
mod aged;
mod answer;
mod appenders;
mod calibration;
mod clean;
mod comparison;
mod csv;
mod durability;
mod explanations;
mod facts;
mod features;
mod figures;
mod fio_json;
mod gate;
pub mod html;
mod io500;
mod io500_result;
mod json;
mod junit;
mod ladder;
pub mod language;
mod layers;
mod layout;
mod lines;
mod markdown;
mod memo;
mod operations;
mod plan;
mod published;
mod questions;
mod ranks;
pub mod schema;
mod screening;
mod terminal;
mod text;
mod trace;
mod transactions;
mod trend;
mod words;

pub use advice::{ADVICE_FORMATS, render_advice};
pub use calibration::calibration_text;
pub use clean::{clean as clean_text, shell_line};
pub use csv::csv;
pub use durability::{
    DURABILITY_FORMATS, DurabilityPlan, PlannedCuts, check_durability, durability_plan, render_durability,
};
pub use explanations::{EXPLANATION_FORMATS, check_explanation, ended, is_of_stacks, render_explanation};
pub use facts::page_notes;
pub use features::{features_of, features_table, features_text, scenarios_text};
pub use fio_json::fio_json;
pub use lines::{THIS_RECORD, words_that_are_next, words_to_go_on};
pub use plan::{Contestants, Foresight, Ground, KnownNoise, PlanSummary, PlannedPasses, plan_lines};
pub use screening::{confirmation_text, screening_text};
pub use terminal::{Screen, ScreenOptions};
pub use trace::{TRACE_FORMATS, render_trace};
pub use trend::{TREND_FORMATS, render_trends};

use model::findings::{Comparison, Findings, PublishedComparison};
use model::gate::Gate;
use model::page::{Language, Page};
use model::record::Record;
use std::io::Write;

/// What a report is made of.
#[derive(Debug, Clone, Copy)]
pub struct Input<'a> {
    /// What the statistics made of the record.
    pub findings: &'a Findings,
    /// The record itself: CSV lists its trials, and its own warnings are shown.
    pub record: &'a Record,
    /// Where the record lies, as the user should see and type it (`~/.local/…`); `None`: nowhere.
    pub record_path: Option<&'a str>,
}

/// How a report looks. The binary decides it: `NO_COLOR`, the terminal and its width.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Style {
    /// Paint with ANSI colours. They only repeat what the words say.
    pub colour: bool,
    /// Columns that a line of text may take; taken as 40 at least and 140 at most,
    /// because longer lines are hard to read.
    pub width: usize,
    /// Nobody looks at it on a terminal: a table keeps all its columns and a row of it is one line, however wide.
    pub piped: bool,
    /// Commands that need root are shown with `sudo`: whoever reads is somebody else.
    pub sudo: bool,
}

impl Default for Style {
    /// No colours and 100 columns.
    fn default() -> Self {
        Style { colour: false, width: 100, piped: false, sudo: false }
    }
}

impl Style {
    pub(crate) fn columns(&self) -> usize {
        self.width.clamp(40, 140)
    }

    /// Columns that a table may take.
    pub(crate) fn table_columns(&self) -> usize {
        if self.piped { usize::MAX } else { self.columns() }
    }
}

/// The warnings that a reader of findings has to heed, the heaviest first, for a terminal; empty: there is none. Ends in a
/// line break otherwise.
pub fn warnings_text(findings: &Findings, style: &Style) -> String {
    lines::warnings(findings, usize::MAX, None, style)
}

/// The answer, with what has to be known beside it and what was not tested, for a terminal. Ends in a line break.
pub fn answer_text(findings: &Findings, style: &Style) -> String {
    lines::result(findings, style)
}

/// What is rendered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    /// One race.
    Race,
    /// Two races, or a race and published figures.
    Comparison,
    /// The verdict of a regression gate.
    Gate,
}

/// A report format.
pub struct Format {
    /// What `--format` takes.
    pub name: &'static str,
    /// What it is offered for.
    pub purposes: &'static [Purpose],
    /// Ending of a file in this format, without the dot.
    pub extension: &'static str,
    /// How findings become a file.
    pub render: Render,
    /// Renders a comparison of two records; the text ends in a line break. Answers a sentence with
    /// the remedy where the format has no comparisons.
    pub compare: fn(&Comparison, &Style) -> Result<String, String>,
    /// Renders a record beside published figures, in the same way.
    pub published: fn(&PublishedComparison, &Style) -> Result<String, String>,
    /// Renders the verdict of a regression gate, in the same way.
    pub gate: fn(&Gate, &Style) -> Result<String, String>,
}

/// How findings become a file.
pub enum Render {
    /// As text that ends in a line break; formats for machines ignore the style. Answers a sentence with the
    /// remedy where the format cannot hold what was raced.
    Text(fn(&Input, &Style) -> Result<String, String>),
    /// As text in every [`Language`], which ends in a line break too.
    Spoken(fn(&Input, Language) -> String),
    /// As a page, which takes more than findings and speaks every [`Language`]; written as it is made,
    /// because it may be large.
    Page(fn(&Page, &mut dyn Write) -> std::io::Result<()>),
}

const ANY: &[Purpose] = &[Purpose::Race, Purpose::Comparison, Purpose::Gate];
const RACE: &[Purpose] = &[Purpose::Race];
const GATE: &[Purpose] = &[Purpose::Gate];

/// Every report format, the default first.
pub static FORMATS: [Format; 9] = [
    Format {
        name: "text",
        purposes: ANY,
        extension: "txt",
        render: Render::Text(|input, style| Ok(text::render(input, style))),
        compare: |both, style| Ok(comparison::text(both, style)),
        published: |both, style| Ok(published::text(both, style)),
        gate: |gate, style| Ok(gate::text(gate, style)),
    },
    Format {
        name: "markdown",
        purposes: ANY,
        extension: "md",
        render: Render::Text(|input, style| Ok(markdown::render(input, style))),
        compare: |both, style| Ok(comparison::markdown(both, style)),
        published: |both, style| Ok(published::markdown(both, style)),
        gate: |gate, style| Ok(gate::markdown(gate, style)),
    },
    Format {
        name: "memo",
        purposes: RACE,
        extension: "md",
        render: Render::Spoken(memo::render),
        compare: |_, _| Err(format!("a memo is about one race; {ONE_RACE}")),
        published: |_, _| Err(format!("a memo is about one race; {ONE_RACE}")),
        gate: |_, _| Err(format!("a memo is about one race; {GATE_FORMATS}")),
    },
    Format {
        name: "csv",
        purposes: ANY,
        extension: "csv",
        render: Render::Text(|input, style| Ok(csv::render(input, style))),
        compare: |both, style| Ok(comparison::csv(both, style)),
        published: |both, style| Ok(published::csv(both, style)),
        gate: |gate, style| Ok(gate::csv(gate, style)),
    },
    Format {
        name: "json",
        purposes: ANY,
        extension: "json",
        render: Render::Text(|input, style| Ok(json::render(input, style))),
        compare: |both, style| Ok(comparison::json(both, style)),
        published: |both, style| Ok(published::json(both, style)),
        gate: |gate, style| Ok(gate::json(gate, style)),
    },
    Format {
        name: "html",
        purposes: RACE,
        extension: "html",
        render: Render::Page(html::page),
        compare: |_, _| Err(format!("html holds one race; {ONE_RACE}")),
        published: |_, _| Err(format!("html holds one race; {ONE_RACE}")),
        gate: |_, _| Err(format!("html holds one race; {GATE_FORMATS}")),
    },
    Format {
        name: "fio-json",
        purposes: RACE,
        extension: "json",
        render: Render::Text(|input, _| fio_json(input.record)),
        compare: |_, _| Err("fio-json holds one race, not two; compare in text, markdown, csv or json".to_owned()),
        published: |_, _| Err("fio-json holds one race alone; compare in text, markdown, csv or json".to_owned()),
        gate: |_, _| Err(format!("fio-json holds one race alone; {GATE_FORMATS}")),
    },
    Format {
        name: "io500",
        purposes: RACE,
        extension: "txt",
        render: Render::Text(io500_result::render),
        compare: |_, _| Err(format!("io500 holds one race; {ONE_RACE}")),
        published: |_, _| Err(format!("io500 holds one race; {ONE_RACE}")),
        gate: |_, _| Err(format!("io500 holds one race; {GATE_FORMATS}")),
    },
    Format {
        name: "junit",
        purposes: GATE,
        extension: "xml",
        render: Render::Text(|_, _| Err(format!("junit holds {JUNIT}"))),
        compare: |_, _| Err(format!("junit holds {JUNIT}")),
        published: |_, _| Err(format!("junit holds {JUNIT}")),
        gate: |gate, style| Ok(junit::junit(gate, style)),
    },
];

const ONE_RACE: &str = "compare in text, markdown, csv or json";
const GATE_FORMATS: &str = "write a gate as text, markdown, csv, json or junit";
const JUNIT: &str =
    "the verdicts of a gate, `fairlane compare --baseline … --candidate …`; choose text, markdown, csv or json";

/// Why there is no report.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ReportError {
    /// The format does not exist.
    #[error(transparent)]
    Unknown(#[from] UnknownFormat),
    /// The format cannot hold what was asked of it.
    #[error("{0}")]
    Unfit(String),
}

/// A format that does not exist.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("there is no report format `{}`; choose one of {}", clean::shorten(name, 40), known(*purpose))]
pub struct UnknownFormat {
    /// What was asked for.
    pub name: String,
    /// For what.
    pub purpose: Purpose,
}

fn known(purpose: Purpose) -> String {
    let fit = FORMATS.iter().filter(|format| format.purposes.contains(&purpose));
    fit.map(|format| format.name).collect::<Vec<_>>().join(", ")
}

/// The format of a name. One that does not fit the purpose says so itself when it renders.
///
/// # Errors
/// [`UnknownFormat`], which lists those that fit the purpose.
pub fn format_for(name: &str, purpose: Purpose) -> Result<&'static Format, UnknownFormat> {
    let found = FORMATS.iter().find(|format| format.name == name);
    found.ok_or_else(|| UnknownFormat { name: name.to_owned(), purpose })
}

/// The format of a name, for one race.
///
/// # Errors
/// As [`format_for`].
pub fn format_named(name: &str) -> Result<&'static Format, UnknownFormat> {
    format_for(name, Purpose::Race)
}

/// Renders findings in the format of a name: `text`, `markdown`, `memo` (in English), `csv`, `json`,
/// `fio-json`, `io500`.
///
/// # Errors
/// [`ReportError`]: the format does not exist, cannot hold what was raced, or is a page.
pub fn render(input: &Input, format: &str, style: &Style) -> Result<String, ReportError> {
    match &format_named(format)?.render {
        Render::Text(render) => render(input, style).map_err(ReportError::Unfit),
        Render::Spoken(render) => Ok(render(input, Language::En)),
        Render::Page(_) => Err(ReportError::Unfit(format!("{format} is written as a page, not as text"))),
    }
}

impl Format {
    /// Whether it is written in other languages than English.
    pub fn speaks(&self) -> bool {
        matches!(self.render, Render::Spoken(_) | Render::Page(_))
    }

    /// Whether it can be written in a language.
    ///
    /// # Errors
    /// One sentence with the formats that can.
    pub fn check_language(&self, language: Language) -> Result<(), String> {
        if language == Language::En || self.speaks() {
            return Ok(());
        }
        let others: Vec<&str> = FORMATS.iter().filter(|format| format.speaks()).map(|format| format.name).collect();
        Err(format!("{} speaks English alone; leave --lang out, or choose {}", self.name, others.join(" or ")))
    }
}

/// Renders a comparison of two records in the format of a name.
///
/// # Errors
/// [`ReportError`]: the format does not exist, or has no comparisons.
pub fn render_comparison(comparison: &Comparison, format: &str, style: &Style) -> Result<String, ReportError> {
    (format_for(format, Purpose::Comparison)?.compare)(comparison, style).map_err(ReportError::Unfit)
}

/// The line of a gate that says all, with what did not pass and how to run it again: what stays on the
/// screen where the rest goes into a file. Ends in a line break.
pub fn gate_closing(gate: &Gate, style: &Style) -> String {
    gate::closing(gate, style)
}

/// Renders a gate in the format of a name.
///
/// # Errors
/// [`ReportError`]: the format does not exist, or has no gates.
pub fn render_gate(gate: &Gate, format: &str, style: &Style) -> Result<String, ReportError> {
    (format_for(format, Purpose::Gate)?.gate)(gate, style).map_err(ReportError::Unfit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_format_is_refused_with_the_known_ones() {
        let said = |purpose| format_for("pdf\u{1b}[2J", purpose).err().map(|error| error.to_string());
        for (purpose, known) in [
            (Purpose::Race, "text, markdown, memo, csv, json, html, fio-json, io500"),
            (Purpose::Comparison, "text, markdown, csv, json"),
            (Purpose::Gate, "text, markdown, csv, json, junit"),
        ] {
            let wanted = format!("there is no report format `pdf[2J`; choose one of {known}");
            assert_eq!(said(purpose), Some(wanted));
        }
    }

    #[test]
    fn a_language_that_a_format_does_not_speak_is_refused_with_those_that_do() {
        let of = |name: &str, language| format_named(name).unwrap_or_else(|_| unreachable!()).check_language(language);
        assert_eq!(
            [of("html", Language::Zh), of("memo", Language::De), of("text", Language::En)],
            [Ok(()), Ok(()), Ok(())]
        );
        let said = "csv speaks English alone; leave --lang out, or choose memo or html";
        assert_eq!(of("csv", Language::De), Err(said.to_owned()));
    }

    #[test]
    fn every_format_is_found_by_its_name() {
        for format in &FORMATS {
            assert_eq!(format_named(format.name).map(|found| found.extension), Ok(format.extension));
        }
    }
}
