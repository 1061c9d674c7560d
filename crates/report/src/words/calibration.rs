//! What is said of a calibration.

use crate::clean::{clean, shorten};
use crate::facts::TITLE_COLUMNS;
use crate::layout::GLUE;
use crate::words::listed_names;
use model::calibration::{Calibration, EqualRaces};

pub(crate) const FALSE_ALARMS: &str = "FALSE ALARMS";
pub(crate) const TOO_FEW: &str = "TOO FEW";

pub(crate) fn heading(found: &Calibration) -> String {
    format!(
        "{} against itself: suite {}, lanes of {}, Linux {}, {}",
        clean(&found.lane),
        clean(&found.suite),
        model::Bytes(found.lane_bytes),
        clean(&found.kernel),
        clean(&found.started),
    )
}

pub(crate) fn columns(minutes: &[f64]) -> Vec<String> {
    let mut columns = ["work", "rounds", "noise", "called different"].map(str::to_owned).to_vec();
    columns.extend(minutes.iter().map(|minutes| format!("{minutes:.0} min")));
    columns
}

pub(crate) fn legend(found: &Calibration) -> String {
    let resolves = match found.results.iter().any(|result| !result.resolves.is_empty()) {
        true => {
            " Minutes: the smallest difference that a race of this suite between two lanes finds in that time, four \
             times out of five; the suite's workloads share it, and what is beyond 20 rounds takes --rounds."
        }
        false => "",
    };
    format!(
        "Noise: standard deviation of the ratio of two equal lanes from round to round. Called different: races between \
         the equal lanes that ended with a difference, of all that the rounds were enough for.{resolves}"
    )
}

/// Work with too few rounds to say how noisy it is; `None`: all has enough.
pub(crate) fn too_few(found: &Calibration) -> Option<String> {
    let titles = titles(found, |deviation| deviation.is_none());
    (!titles.is_empty())
        .then(|| format!("rounds of {} to know its noise; give it more time with --budget.", listed_names(&titles)))
}

/// Titles of the workloads of which a result's noise is so, each once.
fn titles(found: &Calibration, is: impl Fn(Option<f64>) -> bool) -> Vec<String> {
    let mut titles: Vec<String> = Vec::new();
    for result in found.results.iter().filter(|result| is(result.deviation)) {
        let title = shorten(&result.title, TITLE_COLUMNS);
        if !titles.contains(&title) {
            titles.push(title);
        }
    }
    titles
}

/// A share as a percentage, with one digit below ten.
pub(crate) fn share(share: Option<f64>) -> String {
    match share.map(|share| 100.0 * share) {
        Some(percent) if percent < 9.95 => format!("{percent:.1} %"),
        Some(percent) => format!("{percent:.0} %"),
        None => "-".to_owned(),
    }
}

/// The smallest difference that is found, in a cell: beyond 100 % the factor that it is.
pub(crate) fn resolves(difference: Option<f64>) -> String {
    match difference {
        Some(difference) if difference > 1.0 => format!("factor {}", super::plan::factor(difference)),
        difference => share(difference),
    }
}

pub(crate) fn races(races: &EqualRaces) -> String {
    format!("{} of {}", races.called_different, races.races)
}

pub(crate) fn false_alarms(found: &Calibration) -> String {
    let races = &found.races;
    if races.races == 0 {
        return "no race was long enough for a verdict; give it more time with --budget.".to_owned();
    }
    let beyond = if races.low > 0.05 {
        " That is more than chance: something here differs from round to round, or \
        between the lanes; do not trust small differences on this machine."
    } else {
        ""
    };
    let worth = races.worth.map_or_else(String::new, |worth| {
        format!(" Results of one workload share its rounds, so all count as {worth:.0} independent races at the least.")
    });
    if races.races == 1 {
        return format!("one race between equal lanes, which says little: {}.", one_race(races));
    }
    format!(
        "{} races between equal lanes: {} called different ({}; {} to {} with 95{GLUE}% confidence, at most 5{GLUE}% is \
         promised), {} called a tie, {} undecided.{worth}{beyond}",
        races.races,
        races.called_different,
        share(Some(f64::from(races.called_different) / f64::from(races.races))),
        share(Some(races.low)),
        share(Some(races.high)),
        races.ties,
        races.undecided,
    )
}

/// What became of the only race.
fn one_race(races: &EqualRaces) -> &'static str {
    match (races.called_different, races.ties) {
        (0, 0) => "undecided",
        (0, _) => "a tie",
        _ => "called different",
    }
}

/// What a later report quotes.
pub(crate) fn quoted(found: &Calibration) -> String {
    let races = &found.races;
    // What was calibrated of this race's work, where that is not all of it.
    let work = match found.not_covered.is_empty() {
        true => String::new(),
        false => format!(" for {} alone", listed_names(&titles(found, |_| true))),
    };
    format!(
        "this machine was calibrated on {}{work}: {} against itself was called different in {} of {} races ({} to {})",
        clean(found.started.get(..10).unwrap_or(&found.started)),
        clean(&found.lane),
        races.called_different,
        races.races,
        share(Some(races.low)),
        share(Some(races.high)),
    )
}
