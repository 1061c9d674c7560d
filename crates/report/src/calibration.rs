//! What a calibration found, as a table; and the line that later reports quote of it.

use crate::Style;
use crate::clean::{clean, shorten};
use crate::facts::LABEL_COLUMNS;
use crate::layout::{Phrase, Tone, align, hang};
use crate::lines::CLOSING_COLUMNS;
use crate::words::{self, calibration as wording};
use model::calibration::{CalibratedResult, Calibration};

/// A calibration for a terminal, each line ending in a line break. `path`: where it is kept.
pub fn calibration_text(found: &Calibration, path: Option<&str>, style: &Style) -> String {
    let mut out = String::new();
    paragraph(&mut out, &wording::heading(found), style);
    out.push('\n');
    let minutes: Vec<f64> =
        found.results.first().map_or(Vec::new(), |of| of.resolves.iter().map(|of| of.minutes).collect());
    let mut rows = vec![wording::columns(&minutes)];
    rows.extend(found.results.iter().map(|result| row(found, result)));
    for (index, line) in align(&rows).into_iter().enumerate() {
        let tone = if index == 0 { Tone::Quiet } else { Tone::Plain };
        out.push_str(&Phrase::default().tone(tone, line).paint(style));
        out.push('\n');
    }
    out.push('\n');
    paragraph(&mut out, &wording::legend(found), style);
    out.push('\n');
    hang(
        &mut out,
        wording::FALSE_ALARMS,
        wording::FALSE_ALARMS.len() + 2,
        &Phrase::new(wording::false_alarms(found)),
        None,
        style,
    );
    if let Some(too_few) = wording::too_few(found) {
        hang(&mut out, wording::TOO_FEW, wording::FALSE_ALARMS.len() + 2, &Phrase::new(too_few), None, style);
    }
    if let Some(path) = path {
        hang(&mut out, words::RECORD, CLOSING_COLUMNS, &Phrase::new(clean(path)), None, style);
    }
    out
}

fn paragraph(out: &mut String, text: &str, style: &Style) {
    for line in Phrase::new(text).wrap(style.columns()) {
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
        shorten(&clean(&title), LABEL_COLUMNS),
        result.rounds.to_string(),
        wording::share(result.deviation),
        wording::races(&result.races),
    ];
    cells.extend(result.resolves.iter().map(|of| wording::resolves(of.difference)));
    cells
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::calibration::{EqualRaces, Resolution};

    fn result(title: &str, deviation: Option<f64>) -> CalibratedResult {
        CalibratedResult {
            workload: title.to_owned(),
            title: title.to_owned(),
            group: "write".to_owned(),
            metric: "operations_per_second".to_owned(),
            rounds: 1,
            deviation,
            lag1: None,
            ratio: None,
            seconds_per_round: Some(1.0),
            races: EqualRaces { races: 30, called_different: 1, ties: 29, ..EqualRaces::default() },
            resolves: vec![Resolution { minutes: 1.0, difference: deviation }],
        }
    }

    fn found() -> Calibration {
        Calibration {
            started: "2026-11-22T10:00:00Z".to_owned(),
            kernel: "6.18".to_owned(),
            suite: "quick".to_owned(),
            lane: "ext4".to_owned(),
            lane_bytes: 2 << 30,
            margin: 0.05,
            races: EqualRaces {
                races: 240,
                called_different: 8,
                ties: 232,
                low: 0.011,
                high: 0.08,
                ..Default::default()
            },
            results: vec![result("commit 4 KiB", Some(0.02)), result("reads\u{1b}[2J", None)],
            not_covered: Vec::new(),
        }
    }

    fn told(found: &Calibration) -> String {
        calibration_text(found, None, &Style { colour: false, width: 400, ..Style::default() }).replace('\u{a0}', " ")
    }

    #[test]
    fn races_that_share_rounds_and_work_with_too_few_of_them_are_told() {
        let mut of = found();
        assert!(!told(&of).contains("independent races"), "{}", told(&of));
        of.races.worth = Some(137.14);
        let text = told(&of);
        assert!(text.contains("so all count as 137 independent races at the least"), "{text}");
        assert!(text.contains("TOO FEW       rounds of reads[2J to know its noise; give it more time"), "{text}");
        assert!(!text.contains("do not trust small differences"), "{text}");
        of.races.low = 0.051;
        assert!(told(&of).contains("do not trust small differences"), "{}", told(&of));
        of.results.truncate(1);
        assert!(!told(&of).contains("TOO FEW"), "{}", told(&of));
    }

    #[test]
    fn what_is_quoted_names_the_work_where_it_is_not_all_of_a_race() {
        let mut of = found();
        assert!(words::calibration::quoted(&of).starts_with("this machine was calibrated on 2026-11-22: ext4 against"));
        of.not_covered = vec!["small files".to_owned()];
        let said = words::calibration::quoted(&of);
        assert!(
            said.starts_with("this machine was calibrated on 2026-11-22 for commit 4 KiB and reads[2J alone: "),
            "{said}"
        );
    }
}
