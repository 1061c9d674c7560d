//! The figures of a screening: those of each lane, in the rounds in which all have one (method 9.3).

use crate::estimate;
use crate::pair;
use crate::series::{LaneSeries, Series};
use crate::statements::{name, pair as statement, race, text};
use model::findings::{Limit, NOT_REACHED, ResultFinding};
use model::{Mark, Sentence};
use std::collections::BTreeMap;

/// Rounds in which a lane may have stood still before nothing is told of a figure: one may be a disturbance.
const MOST_STILL: usize = 1;
/// What to do about too few rounds: only planned looks decide, so that a race that is over takes no more.
const MORE_ROUNDS: &str = "where the race is over, screen again with more --rounds or a larger --budget";

/// Which figures are asked for.
pub(super) struct Asked<'a> {
    /// The workload's trials.
    pub(super) series: &'a Series<'a>,
    /// Names of the lanes, in the order of the design's runs.
    pub(super) lanes: &'a [&'a str],
    /// The group.
    pub(super) group: &'a str,
    /// Its metric.
    pub(super) metric: &'a str,
    /// Whether more of it is better.
    pub(super) higher_is_better: bool,
    /// The last round that a look takes.
    pub(super) last: u32,
    /// All rounds of the race are done.
    pub(super) is_over: bool,
}

/// What was found.
pub(super) struct Observed {
    /// Rounds in which every lane has a figure.
    pub(super) rounds: u32,
    /// Logarithms by lane, one for each of these rounds; of times turned, so that more is better. Or why there are none.
    pub(super) logs: Result<Vec<Vec<f64>>, Sentence>,
}

impl Asked<'_> {
    /// The figures of all lanes.
    pub(super) fn observe(&self) -> Observed {
        let stalled = self.series.stalled(self.group, self.metric);
        let counts = |round: u32| round <= self.last && !stalled.contains(&round);
        let mut lanes: Vec<BTreeMap<u32, f64>> = Vec::with_capacity(self.lanes.len());
        for lane in self.lanes {
            match self.figures(lane, &counts) {
                Ok(figures) => lanes.push(figures),
                Err(why) => return Observed { rounds: 0, logs: Err(why) },
            }
        }
        let in_all = |round: &u32| lanes.iter().all(|lane| lane.contains_key(round));
        let rounds: Vec<u32> = lanes.first().into_iter().flat_map(BTreeMap::keys).copied().filter(in_all).collect();
        let sign = if self.higher_is_better { 1.0 } else { -1.0 };
        let logs = |lane: &BTreeMap<u32, f64>| -> Vec<f64> {
            rounds.iter().filter_map(|round| lane.get(round)).map(|figure| sign * figure.ln()).collect()
        };
        let logs = match rounds.len() {
            0 => Err(format!("no round has a figure of every lane; {MORE_ROUNDS}").into()),
            1 => Err(format!("one round has a figure of every lane, and effects need two; {MORE_ROUNDS}").into()),
            _ => Ok(lanes.iter().map(logs).collect()),
        };
        Observed { rounds: rounds.len() as u32, logs }
    }

    /// A lane's figures by round. `counts`: whether a round is one of the look.
    ///
    /// # Errors
    /// The lane, and why nothing can be told by its figures.
    fn figures(&self, lane: &str, counts: &dyn Fn(u32) -> bool) -> Result<BTreeMap<u32, f64>, Sentence> {
        let Some(of) = self.series.lanes.iter().find(|of| of.lane.name == lane) else {
            return Err(format!("{lane} is a run of the design and no lane of this record; screen again").into());
        };
        if let Some(why) = self.lacks(of, counts) {
            return Err(why);
        }
        let figures = of.figures(self.group, self.metric).into_iter();
        let figures: BTreeMap<u32, f64> =
            figures.filter(|&(round, figure)| counts(round) && estimate::usable(figure)).collect();
        if figures.is_empty() {
            let why = match of.stood_still(self.group, self.metric).is_empty() {
                true => race::no_trial_measured(text(self.metric.replace('_', " "))),
                false => race::stood_still_always(),
            };
            return Err(statement::lane_reason(name(lane), why));
        }
        Ok(figures)
    }

    /// Why nothing can be told by a lane's figures, as verdicts say it; `None`: nothing speaks against them.
    fn lacks(&self, lane: &LaneSeries, counts: &dyn Fn(u32) -> bool) -> Option<Sentence> {
        let who = || name(&lane.lane.name);
        if let Some(why) = lane.lacks(self.group) {
            let is_not_reached = why.said().is_some_and(|said| said.id == NOT_REACHED);
            let why = if is_not_reached { not_reached(self.is_over) } else { why };
            return Some(statement::lane_reason(who(), why));
        }
        let rounds = lane.until(self.last).count();
        if pair::mostly_behind(lane, self.last) {
            let behind = pair::flagged(lane, Mark::CannotSustainRate, self.last);
            return Some(statement::cannot_sustain(statement::trials_behind(who(), behind, rounds)));
        }
        let still = lane.stood_still(self.group, self.metric).into_iter().filter(|&round| counts(round)).count();
        (still > MOST_STILL).then(|| {
            let each = statement::stood_still(who(), still, rounds);
            statement::nothing_to_compare(each, statement::more_time())
        })
    }
}

/// Why nothing is told of what a race did not come to: one that is not over may yet.
pub(super) fn not_reached(is_over: bool) -> Sentence {
    if is_over { race::no_round_completed() } else { race::not_come_to_yet() }
}

/// Why a result that was measured tells nothing of the options: something else than the filesystem was.
pub(super) fn measured_otherwise(result: &ResultFinding) -> Option<Sentence> {
    match result.limit {
        Limit::Harness => Some(statement::engine_was_measured()),
        _ => result.missed_the_disk.then(statement::missed_the_disk),
    }
}
