//! Latency at a shared rate (method 4.1): the lanes' maxima come first, measured in the same
//! race, and every round then sends all lanes the same open loop.

use super::{Race, failpoint, repeat};
use crate::failure::Failure;
use model::event::Event;
use model::job::{PerDirection, Rate, RateProcess};
use model::record::{Line, Record, SharedRate};
use model::trial::{Outcome, Trial};
use model::workload::{Direction, Io, Kind, Workload};
use std::collections::BTreeMap;

/// The round of a trial that measured a lane's maximum and did not count.
const BEFORE_ROUNDS: u32 = 0;

impl Race<'_> {
    /// Measures the maximum of every lane, where the workload asks for a share of the slowest one and
    /// the record does not know the rate yet: the same work as a closed loop, in slices that
    /// alternate between freshly opened lanes. A lane that fails, or that its throttle does not hold, is
    /// tried again with all others, and then left out of this workload; a disturbed measurement is made
    /// again as a noisy round is, and counts among those.
    ///
    /// # Errors
    /// What ends the race.
    pub(super) fn settle_rate(&mut self, index: usize) -> Result<(), Failure> {
        let workload = self.plan().workloads[index].clone();
        let Kind::Io(io) = &workload.kind else { return Ok(()) };
        let Some(share) = io.rate_of_slowest.filter(|_| known(&self.record, &workload.name).is_none()) else {
            return Ok(());
        };
        let work = Workload { kind: Kind::Io(Box::new(io.closed_loop())), ..workload.clone() };
        while !self.lanes_in(index).is_empty() {
            let attempt = self.attempts(index, BEFORE_ROUNDS) + 1;
            let mut trials = self.visit_lanes(index, &work, 1, attempt)?;
            trials.iter_mut().for_each(|trial| trial.round = BEFORE_ROUNDS);
            let broken = self.void(&mut trials, &work);
            let noise = self.noise(&trials);
            let runs_again = broken.is_some() || failpoint::runs_disturbed_again();
            let disturbed = broken.or(noise.map(|noise| noise.reason));
            let again = disturbed.clone().filter(|_| runs_again && self.may_repeat(index));
            if again.is_none() && trials.iter().all(|trial| trial.outcome == Outcome::Ok) {
                let rate = shared_rate(&workload.name, share, &trials, disturbed)?;
                return self.append(Line::Rate(Box::new(rate)));
            }
            if let Some(reason) = &again {
                repeat(&mut trials, reason);
                let title = workload.title.clone();
                (self.runner.screen)(&Event::RoundRepeated { title, round: BEFORE_ROUNDS, reason: reason.clone() });
            }
            // What counts of the others is measured again with them.
            let kept = trials.into_iter().filter(|trial| trial.outcome != Outcome::Ok);
            self.append_all(kept.map(|trial| Line::Trial(Box::new(trial))).collect())?;
        }
        Ok(())
    }
}

/// The work of a round: an open loop at the shared rate where the record holds one.
pub(super) fn work_of_round(workload: &Workload, record: &Record) -> Workload {
    match (&workload.kind, known(record, &workload.name)) {
        (Kind::Io(io), Some(rate)) if io.rate_of_slowest.is_some() => {
            let io = open_loop(io, rate.operations_per_second);
            Workload { kind: Kind::Io(Box::new(io)), ..workload.clone() }
        }
        _ => workload.clone(),
    }
}

fn known<'a>(record: &'a Record, workload: &str) -> Option<&'a SharedRate> {
    record.rates.iter().rev().find(|rate| rate.workload == workload)
}

/// The share of the slowest lane's maximum. Reads and writes of mixed work count together.
fn shared_rate(
    workload: &str,
    share: f64,
    measured: &[Trial],
    disturbed: Option<String>,
) -> Result<SharedRate, Failure> {
    let maximum = |trial: &Trial| -> f64 {
        trial.groups.iter().filter_map(|group| group.metrics.get("operations_per_second")).sum()
    };
    let maxima: BTreeMap<String, f64> = measured.iter().map(|trial| (trial.lane.clone(), maximum(trial))).collect();
    let slowest = maxima.iter().min_by(|a, b| a.1.total_cmp(b.1));
    match slowest.map(|(lane, &maximum)| (lane.clone(), maximum)) {
        Some((slowest, maximum)) if maximum.is_finite() && maximum > 0.0 => Ok(SharedRate {
            workload: workload.to_owned(),
            share,
            slowest,
            operations_per_second: maximum * share,
            maxima_operations_per_second: maxima,
            disturbed,
        }),
        Some((slowest, _)) => Err(Failure::failed(format!(
            "workload {workload}: lane {slowest} completed no operation while its maximum was measured, so there is \
             no rate to share; raise slice_seconds, or leave that lane out"
        ))),
        None => Err(Failure::failed(format!("workload {workload}: no lane has a maximum; race again"))),
    }
}

/// Poisson arrivals at a rate of all workers together, split over the workers and directions.
fn open_loop(io: &Io, operations_per_second: f64) -> Io {
    let each = operations_per_second / f64::from(io.numjobs.max(1));
    let directions = io.rw.directions();
    let of = |direction: Direction| {
        let share = match direction {
            _ if !directions.contains(&direction) => 0.0,
            Direction::Read if io.rw.mixed() => f64::from(io.rwmixread) / 100.0,
            Direction::Write if io.rw.mixed() => 1.0 - f64::from(io.rwmixread.min(100)) / 100.0,
            _ => 1.0 / directions.len() as f64,
        };
        // A direction without operations needs no pace, and could not keep to one of 0.
        if share > 0.0 { Rate::Operations(each * share) } else { Rate::Unlimited }
    };
    Io {
        rate: Some(PerDirection { read: of(Direction::Read), write: of(Direction::Write), trim: of(Direction::Trim) }),
        rate_process: RateProcess::Poisson,
        ..io.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::trial::{Group, SystemUse};
    use model::workload::Pattern;

    fn trial(lane: &str, rates: &[f64]) -> Trial {
        let group =
            |rate: &f64| Group { metrics: [("operations_per_second".to_owned(), *rate)].into(), ..Group::default() };
        Trial {
            round: 1,
            position: 1,
            attempt: 1,
            lane: lane.to_owned(),
            workload: "w".to_owned(),
            ground: 0,
            outcome: Outcome::Ok,
            reason: None,
            started: String::new(),
            phases_seconds: BTreeMap::new(),
            groups: rates.iter().map(group).collect(),
            system: SystemUse::default(),
            timeline: None,
            jobs: Vec::new(),
            flags: Vec::new(),
            disturbance: None,
        }
    }

    #[test]
    fn the_rate_is_the_share_of_the_slowest_lane_reads_and_writes_together() {
        let measured = [trial("a", &[600.0, 400.0]), trial("b", &[900.0, 600.0])];
        let rate = shared_rate("w", 0.7, &measured, Some("steal".to_owned())).unwrap();
        assert_eq!(rate.disturbed.as_deref(), Some("steal"));
        assert_eq!((rate.slowest.as_str(), rate.operations_per_second), ("a", 700.0));
        assert_eq!(rate.maxima_operations_per_second["b"], 1500.0);
        let error = shared_rate("w", 0.7, &[trial("a", &[0.0])], None).unwrap_err().message;
        assert!(error.contains("lane a") && error.contains("slice_seconds"), "{error}");
        assert!(shared_rate("w", 0.7, &[], None).is_err());
    }

    #[test]
    fn the_rate_is_split_over_workers_and_directions() {
        let io = Io { rw: Pattern::RandRw, rwmixread: 75, numjobs: 2, rate_of_slowest: Some(0.7), ..Io::default() };
        let open = open_loop(&io, 800.0);
        let rate = open.rate.unwrap();
        assert_eq!((rate.read, rate.write), (Rate::Operations(300.0), Rate::Operations(100.0)));
        assert_eq!((rate.trim, open.rate_process), (Rate::Unlimited, RateProcess::Poisson));
        let reads = open_loop(&Io { rw: Pattern::RandRead, ..io.clone() }, 800.0).rate.unwrap();
        assert_eq!((reads.read, reads.write), (Rate::Operations(400.0), Rate::Unlimited));
        let only_writes = open_loop(&Io { rwmixread: 0, ..io.clone() }, 800.0).rate.unwrap();
        assert_eq!((only_writes.read, only_writes.write), (Rate::Unlimited, Rate::Operations(400.0)));
        let closed = open.closed_loop();
        assert_eq!((closed.rate, closed.rate_of_slowest), (None, None));
    }
}
