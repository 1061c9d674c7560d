//! The gate as JUnit's XML, which CI systems show as tests: a suite for each lane, a case for each
//! workload and group. What is slower fails; what was not resolved as far as was asked is an error, as the exit
//! status is none of success; what cannot be told otherwise is skipped; and every case carries its figures.

use crate::Style;
use crate::clean::{clean, shell_line};
use crate::layout::GLUE;
use crate::words::{self, gate as wording};
use model::gate::{Gate, GateOutcome, GateRow, GateVerdict, OneSided};
use std::fmt::Write;

/// Renders a gate as XML.
pub(crate) fn junit(gate: &Gate, _: &Style) -> String {
    let mut suites: Vec<(&str, Vec<&GateRow>)> = Vec::new();
    for row in &gate.rows {
        match suites.iter_mut().find(|(lane, _)| *lane == row.lane) {
            Some((_, rows)) => rows.push(row),
            None => suites.push((&row.lane, vec![row])),
        }
    }
    let mut body = String::new();
    let mut all = Totals::default();
    for (lane, rows) in &suites {
        let mut totals = Totals::default();
        let cases: String = rows.iter().map(|row| case(gate, row, totals.count(row))).collect();
        body.push_str(&suite(&crate::clean::name(lane), &cases, &totals, gate));
        all.add(&totals);
    }
    if !gate.one_sided.is_empty() {
        let mut totals = Totals::default();
        let cases: String = gate.one_sided.iter().map(|one| one_sided(gate, one, &mut totals)).collect();
        body.push_str(&suite(wording::NOT_COMPARED, &cases, &totals, gate));
        all.add(&totals);
    }
    let title = attribute(&format!("{} {}", wording::GATE, wording::line(gate).plain()));
    format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"{title}\" {}>\n{body}</testsuites>\n",
        all.attributes()
    )
}

/// How the cases of a suite came out.
#[derive(Debug, Default)]
struct Totals {
    tests: u32,
    failures: u32,
    errors: u32,
    skipped: u32,
}

/// How a case came out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Came {
    Passed,
    Failed,
    Unresolved,
    Skipped,
}

impl Totals {
    fn count(&mut self, row: &GateRow) -> Came {
        self.note(match row.verdict {
            GateVerdict::Slower | GateVerdict::Failed => Came::Failed,
            // Also where it passed, but not at the resolution that was asked for: CI shows skipped cases as done.
            _ if row.unresolved => Came::Unresolved,
            GateVerdict::Inconclusive => Came::Skipped,
            GateVerdict::Pass | GateVerdict::Faster => Came::Passed,
        })
    }

    fn note(&mut self, came: Came) -> Came {
        self.tests += 1;
        self.failures += u32::from(came == Came::Failed);
        self.errors += u32::from(came == Came::Unresolved);
        self.skipped += u32::from(came == Came::Skipped);
        came
    }

    fn add(&mut self, other: &Totals) {
        self.tests += other.tests;
        self.failures += other.failures;
        self.errors += other.errors;
        self.skipped += other.skipped;
    }

    fn attributes(&self) -> String {
        let Totals { tests, failures, errors, skipped } = self;
        format!("tests=\"{tests}\" failures=\"{failures}\" errors=\"{errors}\" skipped=\"{skipped}\"")
    }
}

fn suite(name: &str, cases: &str, totals: &Totals, gate: &Gate) -> String {
    let properties = [
        ("baseline", wording::side(&gate.baseline)),
        ("candidate", wording::side(&gate.candidate)),
        ("method", wording::method(gate)),
    ];
    let changes = gate.changes.iter().map(|change| ("changed", words::sentence(change)));
    let mut out = format!("  <testsuite name=\"{}\" {}>\n    <properties>\n", attribute(name), totals.attributes());
    for (key, value) in properties.into_iter().chain(changes) {
        // Writing to a string cannot fail.
        let _ = writeln!(out, "      <property name=\"{key}\" value=\"{}\"/>", attribute(&value));
    }
    out.push_str("    </properties>\n");
    out.push_str(cases);
    if !gate.warnings.is_empty() {
        let warnings: Vec<String> =
            gate.warnings.iter().map(|of| escape(&format!("{}.", words::sentence(of)))).collect();
        let _ = writeln!(out, "    <system-err>{}</system-err>", warnings.join("\n"));
    }
    out + "  </testsuite>\n"
}

fn case(gate: &Gate, row: &GateRow, came: Came) -> String {
    let name =
        if row.group.trim().is_empty() { row.workload.clone() } else { format!("{}: {}", row.workload, row.group) };
    let mut out = format!(
        "    <testcase classname=\"{}\" name=\"{}\">\n",
        attribute(&crate::clean::name(&row.lane)),
        attribute(&name)
    );
    let message = format!("{}; {}", wording::row(gate, row, true).plain(), wording::allowed(gate));
    let again = shell_line(&row.command_line);
    let again = if again.is_empty() { String::new() } else { format!("{}: {again}", wording::AGAIN) };
    match came {
        Came::Passed => {}
        Came::Failed => {
            let kind = wording::verdict(row.verdict);
            let (message, again) = (attribute(&message), escape(&again));
            let _ = writeln!(out, "      <failure type=\"{kind}\" message=\"{message}\">{again}</failure>");
        }
        Came::Unresolved | Came::Skipped => {
            let _ = writeln!(out, "      {}", not_told(came, &message));
        }
    }
    let lines = [
        format!("{} -> {}", wording::figure(row, &row.baseline), wording::figure(row, &row.candidate)),
        format!("{}: {}", wording::verdict(row.verdict), wording::row(gate, row, true).plain()),
        wording::varies(row),
        again,
    ];
    let lines: Vec<String> = lines.iter().filter(|line| !line.is_empty()).map(|line| escape(line)).collect();
    let _ = writeln!(out, "      <system-out>{}</system-out>\n    </testcase>", lines.join("\n"));
    out
}

/// The element of a case that neither passed nor failed.
fn not_told(came: Came, message: &str) -> String {
    let message = attribute(message);
    match came {
        Came::Unresolved => {
            let kind = wording::outcome(GateOutcome::Unresolved);
            format!("<error type=\"{kind}\" message=\"{message}\"/>")
        }
        _ => format!("<skipped message=\"{message}\"/>"),
    }
}

fn one_sided(gate: &Gate, one: &OneSided, totals: &mut Totals) -> String {
    // What the candidate did not race is not resolved either.
    let lost = one.in_baseline && gate.need_resolution.is_some();
    let came = totals.note(if lost { Came::Unresolved } else { Came::Skipped });
    let said = wording::one_sided(one).plain();
    let name = one.lane.as_ref().or(one.workload.as_ref()).map_or_else(String::new, |name| crate::clean::name(name));
    format!(
        "    <testcase classname=\"{}\" name=\"{}\">\n      {}\n    </testcase>\n",
        wording::NOT_COMPARED,
        attribute(&name),
        not_told(came, &said)
    )
}

/// Text of others as the text of an element. XML 1.0 has no form at all for most controls and for two
/// non-characters: they are left out.
fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for character in clean(text).chars() {
        match character {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '\u{FFFE}' | '\u{FFFF}' => {}
            GLUE => out.push(' '),
            other => out.push(other),
        }
    }
    out
}

/// Text of others as the value of an attribute in double quotes.
fn attribute(text: &str) -> String {
    escape(text).replace('"', "&quot;").replace('\'', "&apos;")
}
