//! Rounds in which a lane did not do a group's work.

use crate::series::LaneSeries;
use crate::statements::pair as statement;
use model::Sentence;
use model::trial::Trial;

/// A lane's last attempts that failed at a group's work, in order of rounds: trials that failed as a
/// whole, and those that ended before the group at a step that the lane could not do. Trials in which
/// a throttle did not hold are not among them.
pub fn trials<'a>(lane: &LaneSeries<'a>, group: &str) -> Vec<&'a Trial> {
    let cut = lane.ok.iter().filter(|trial| trial.reason.is_some() && !trial.groups.iter().any(|of| of.name == group));
    let mut all: Vec<&'a Trial> = lane.failed.iter().chain(cut).copied().collect();
    all.sort_by_key(|trial| trial.round);
    all
}

/// Why a trial failed.
pub fn reason(trial: &Trial) -> Sentence {
    trial.reason.as_deref().map_or_else(statement::no_reason, Sentence::from)
}
