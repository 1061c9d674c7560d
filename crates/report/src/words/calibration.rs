//! What is said of a calibration.

use crate::clean::clean;
use crate::layout::GLUE;
use model::calibration::{Calibration, EqualRaces};

pub(crate) const FALSE_ALARMS: &str = "FALSE ALARMS";

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
             times out of five; the suite's workloads share it."
        }
        false => "",
    };
    format!(
        "Noise: standard deviation of the ratio of two equal lanes from round to round. Called different: races between \
         the equal lanes that ended with a difference, of all that the rounds were enough for.{resolves}"
    )
}

/// A share as a percentage, with one digit below ten.
pub(crate) fn share(share: Option<f64>) -> String {
    match share.map(|share| 100.0 * share) {
        Some(percent) if percent < 9.95 => format!("{percent:.1} %"),
        Some(percent) => format!("{percent:.0} %"),
        None => "-".to_owned(),
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
    format!(
        "{} races between equal lanes: {} called different ({}; {} to {} with 95{GLUE}% confidence, at most 5{GLUE}% is \
         promised), {} called a tie, {} undecided.{beyond}",
        races.races,
        races.called_different,
        share(Some(f64::from(races.called_different) / f64::from(races.races))),
        share(Some(races.low)),
        share(Some(races.high)),
        races.ties,
        races.undecided,
    )
}

/// What a later report quotes.
pub(crate) fn quoted(found: &Calibration) -> String {
    let races = &found.races;
    format!(
        "this machine was calibrated on {}: {} against itself was called different in {} of {} races ({} to {})",
        clean(found.started.get(..10).unwrap_or(&found.started)),
        clean(&found.lane),
        races.called_different,
        races.races,
        share(Some(races.low)),
        share(Some(races.high)),
    )
}
