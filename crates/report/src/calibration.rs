//! What a calibration found, as a table; and the line that later reports quote of it.

use crate::Style;
use crate::clean::{clean, shorten};
use crate::facts::TITLE_COLUMNS;
use crate::layout::{Phrase, Tone, align, hang};
use crate::lines::CLOSING_COLUMNS;
use crate::words::{self, calibration as said};
use model::calibration::{CalibratedResult, Calibration};

/// A calibration for a terminal, each line ending in a line break. `path`: where it is kept.
pub fn calibration_text(found: &Calibration, path: Option<&str>, style: &Style) -> String {
    let mut out = String::new();
    paragraph(&mut out, &said::heading(found), style);
    out.push('\n');
    let minutes: Vec<f64> =
        found.results.first().map_or(Vec::new(), |of| of.resolves.iter().map(|of| of.minutes).collect());
    let mut rows = vec![said::columns(&minutes)];
    rows.extend(found.results.iter().map(|result| row(found, result)));
    for (index, line) in align(&rows).into_iter().enumerate() {
        let tone = if index == 0 { Tone::Quiet } else { Tone::Plain };
        out.push_str(&Phrase::default().tone(tone, line).paint(style));
        out.push('\n');
    }
    out.push('\n');
    paragraph(&mut out, &said::legend(found), style);
    out.push('\n');
    hang(
        &mut out,
        said::FALSE_ALARMS,
        said::FALSE_ALARMS.len() + 2,
        &Phrase::of(said::false_alarms(found)),
        None,
        style,
    );
    if let Some(path) = path {
        hang(&mut out, words::RECORD, CLOSING_COLUMNS, &Phrase::of(clean(path)), None, style);
    }
    out
}

fn paragraph(out: &mut String, text: &str, style: &Style) {
    for line in Phrase::of(text).wrap(style.columns()) {
        out.push_str(&line.paint(style));
        out.push('\n');
    }
}

fn row(found: &Calibration, result: &CalibratedResult) -> Vec<String> {
    let groups = found.results.iter().filter(|other| other.workload == result.workload).count();
    let title = match groups {
        1 => result.title.clone(),
        _ => format!("{}: {}", result.title, result.group),
    };
    let mut cells = vec![
        shorten(&clean(&title), TITLE_COLUMNS),
        result.rounds.to_string(),
        said::share(result.deviation),
        said::races(&result.races),
    ];
    cells.extend(result.resolves.iter().map(|of| said::share(of.difference)));
    cells
}
