//! How the proposal of a screening was tuned, for a terminal and as Markdown: a table for each of its races.

use super::{tone_of_fate, tuned_option};
use crate::Style;
use crate::clean::{columns, shorten};
use crate::layout::{Phrase, Tone, align, hang};
use crate::markdown::{escape, row};
use crate::words::screening as wording;
use model::findings::{ScreeningFinding, TunedCombination, TunedFate, TuningRace};

/// Columns of a record's name, and of a combination.
const RECORD_COLUMNS: usize = 64;
const COMBINATION_COLUMNS: usize = 72;

fn races(finding: &ScreeningFinding) -> &[TuningRace] {
    finding.proposal.tuning.as_ref().map_or(&[], |tuning| tuning.races.as_slice())
}

/// The tables for a terminal, as sentences where it has no room for columns.
pub(super) fn text(out: &mut String, finding: &ScreeningFinding, style: &Style) {
    let races = races(finding);
    if races.is_empty() {
        return;
    }
    out.push('\n');
    hang(out, wording::TUNING, crate::lines::CLOSING_COLUMNS, &Phrase::new(wording::TUNING_LEGEND), None, style);
    for race in races {
        hang(out, "", 0, &Phrase::new(heading(race)), None, style);
        let header = wording::TUNING_COLUMNS.map(str::to_owned).to_vec();
        let cells: Vec<[String; 4]> = race.combinations.iter().map(|of| cells(of, race)).collect();
        let all: Vec<Vec<String>> = std::iter::once(header).chain(cells.iter().map(|cells| cells.to_vec())).collect();
        let lines = align(&all);
        if lines.iter().all(|line| columns(line) + 2 <= style.table_columns()) {
            for (at, line) in lines.iter().enumerate() {
                let fate = at.checked_sub(1).and_then(|at| race.combinations.get(at)).map(|of| of.fate);
                let tone = fate.map_or(Tone::Quiet, tone_of_fate);
                out.push_str(&format!("  {}\n", Phrase::default().tone(tone, line).paint(style)));
            }
            continue;
        }
        for (of, [combination, mean, worst, fate]) in race.combinations.iter().zip(&cells) {
            let [_, mean_label, worst_label, _] = wording::TUNING_COLUMNS;
            let said = Phrase::new(format!("{combination}: {mean_label} {mean}, {worst_label} {worst}, "));
            hang(out, "", 2, &said.tone(tone_of_fate(of.fate), fate), None, style);
        }
    }
}

/// The same as Markdown.
pub(super) fn markdown(out: &mut String, finding: &ScreeningFinding) {
    let races = races(finding);
    if races.is_empty() {
        return;
    }
    out.push_str(&format!("\n**{}:** {}\n", wording::TUNING_TITLE, escape(wording::TUNING_LEGEND)));
    for race in races {
        out.push_str(&format!("\n{}\n\n", escape(&heading(race))));
        row(out, &wording::TUNING_COLUMNS.map(escape));
        row(out, &["---", "---:", "---:", "---"].map(str::to_owned));
        race.combinations.iter().for_each(|of| row(out, &cells(of, race).map(|cell| escape(&cell))));
    }
}

fn heading(race: &TuningRace) -> String {
    wording::tuning_race(&shorten(&race.record, RECORD_COLUMNS), race.combinations.len(), race.rounds)
}

/// The cells of [`wording::TUNING_COLUMNS`].
fn cells(of: &TunedCombination, race: &TuningRace) -> [String; 4] {
    let levels: Vec<String> = of.levels.iter().map(tuned_option).collect();
    let is_factor = [of.mean, of.worst].into_iter().flatten().any(|ratio| wording::is_factor(ratio, None));
    let gain = |ratio: Option<f64>| match ratio {
        Some(ratio) => wording::gain_as(ratio, None, is_factor).0,
        None => wording::ABSENT.to_owned(),
    };
    let fate = match of.fate {
        // Nothing was chosen from.
        TunedFate::Chosen if race.combinations.len() == 1 => wording::THE_ONLY_ONE,
        fate => wording::fate(fate),
    };
    [shorten(&levels.join(", "), COMBINATION_COLUMNS), gain(of.mean), gain(of.worst), fate.to_owned()]
}
