//! What came of one step of a search.

use crate::load;
use crate::statements::{appenders as statement, text};
use model::Mark;
use model::Sentence;
use model::search::{Criterion, SearchStep, StepOutcome};
use model::sentence::Value;
use model::trial::{Lateness, Outcome, Trial};
use model::workload::Appenders;

/// Where Fairlane's and the scheduler's own lateness is more than this share of p99 lateness, they were measured:
/// what is left is the smaller part. Chosen, as the engine's mark is.
const OWN_SHARE: f64 = 0.5;

/// What came of one trial, whatever others show.
pub fn outcome(trial: &Trial, appenders: &Appenders, cpus: u32, criterion: Criterion) -> StepOutcome {
    if trial.outcome == Outcome::Failed {
        return StepOutcome::Failed;
    }
    let Some(late) = lateness(trial) else { return StepOutcome::Failed };
    let fell = match criterion {
        Criterion::Load => match load_of(trial) {
            None => return StepOutcome::Failed,
            // How late records are does not count, and so it does not matter whose lateness it is.
            Some(load) if load > f64::from(cpus) => return StepOutcome::Load,
            Some(_) => return StepOutcome::Sustained,
        },
        // A percentile that too few records show is at most the largest.
        Criterion::Lateness if p99_seconds(trial) >= appenders.period_seconds => StepOutcome::Late,
        Criterion::Lateness if late.backlog_grew => StepOutcome::Backlog,
        Criterion::Lateness => return StepOutcome::Sustained,
    };
    if is_own(trial, late) { StepOutcome::Harness } else { fell }
}

/// Whether the harness explains more than half of what was late.
fn is_own(trial: &Trial, late: &Lateness) -> bool {
    is_flagged(trial) || own_seconds(late).is_some_and(|own| own > OWN_SHARE * p99_seconds(trial))
}

fn is_flagged(trial: &Trial) -> bool {
    trial.flags.iter().any(|flag| flag.is(Mark::HarnessBoundSubmission))
}

/// What runs without a filesystem have shown.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Alone {
    /// The most writers that were sustained.
    sustained: u32,
    /// The fewest that were not.
    fell: Option<u32>,
}

impl Alone {
    /// With one more run. What could not be run says nothing.
    pub(super) fn and(self, writers: u32, came: StepOutcome) -> Self {
        match came {
            StepOutcome::Sustained => Alone { sustained: self.sustained.max(writers), ..self },
            StepOutcome::Failed => self,
            _ => Alone { fell: Some(self.fell.map_or(writers, |fell| fell.min(writers))), ..self },
        }
    }

    /// Whether so many writers are sustained without a filesystem; `None`: nobody knows. Where more were sustained
    /// once, a failure of fewer was chance.
    pub(super) fn holds(self, writers: u32) -> Option<bool> {
        if writers <= self.sustained {
            return Some(true);
        }
        self.fell.is_some_and(|fell| fell <= writers).then_some(false)
    }
}

/// Why a step was not sustained; `None`: it was. `came`: what came of it, all things considered.
pub(super) fn reason(
    step: &SearchStep,
    came: StepOutcome,
    appenders: &Appenders,
    (cpus, by): (u32, Criterion),
) -> Option<Sentence> {
    let (trial, writers) = (&*step.trial, step.writers);
    let late = lateness(trial);
    let p99 = || Value::Seconds(p99_seconds(trial));
    Some(match came {
        StepOutcome::Sustained => return None,
        StepOutcome::Late => statement::too_late(writers, p99(), Value::Seconds(appenders.period_seconds)),
        StepOutcome::Backlog => {
            statement::backlog_grows(writers, Value::Seconds(late.map_or(0.0, |late| late.backlog_seconds)))
        }
        StepOutcome::Load => statement::load_too_high(writers, Value::Number(load_of(trial).unwrap_or(0.0), 1), cpus),
        StepOutcome::Harness => match late.and_then(own_seconds) {
            _ if outcome(trial, appenders, cpus, by) != StepOutcome::Harness => statement::harness_falls_too(writers),
            Some(own) => statement::harness_late(writers, p99(), Value::Seconds(own)),
            None => statement::harness_flagged(writers),
        },
        StepOutcome::Failed => match trial.reason.as_deref() {
            Some(reason) => statement::could_not_be_done(writers, text(reason.trim_end_matches('.'))),
            None if late.is_some() && by == Criterion::Load => statement::load_unknown(writers),
            None => statement::could_not_be_done(writers, text("no record was due; raise seconds")),
        },
    })
}

fn lateness(trial: &Trial) -> Option<&Lateness> {
    let group = trial.groups.iter().find(|group| group.name == "append")?;
    group.lateness.as_deref().filter(|late| late.due > 0)
}

/// The 99th percentile of lateness in seconds; the largest where too few records were due.
fn p99_seconds(trial: &Trial) -> f64 {
    let latency = trial.groups.iter().find(|group| group.name == "append").and_then(|group| group.latency_ns);
    latency.map_or(0.0, |latency| latency.p99.unwrap_or(latency.max) / 1e9)
}

/// The same of the harness's own.
fn own_seconds(late: &Lateness) -> Option<f64> {
    late.scheduling_ns.map(|own| own.p99.unwrap_or(own.max) / 1e9)
}

/// The load average of a step's window.
fn load_of(trial: &Trial) -> Option<f64> {
    load::of_window(trial.timeline.as_deref()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_known_without_a_filesystem_holds_for_fewer_and_for_more() {
        let (held, fell, failed) = (StepOutcome::Sustained, StepOutcome::Late, StepOutcome::Failed);
        let of = |ran: &[(u32, StepOutcome)], writers: u32| {
            ran.iter().fold(Alone::default(), |alone, &(tried, came)| alone.and(tried, came)).holds(writers)
        };
        assert_eq!(of(&[], 100), None);
        assert_eq!(of(&[(200, held)], 100), Some(true), "who carries 200 carries 100");
        assert_eq!(of(&[(200, held)], 300), None);
        assert_eq!(of(&[(200, fell)], 300), Some(false));
        assert_eq!(of(&[(200, fell)], 100), None);
        assert_eq!(of(&[(200, failed)], 300), None);
        assert_eq!(of(&[(100, fell), (400, held)], 300), Some(true), "the failure was chance");
    }
}
