//! The conductor: workload by workload, round by round, until each is decided or the time is up.
//!
//! It decides what runs next, and nothing about what the figures mean: that is `stats`.

pub mod agent_process;
mod appenders;
pub mod begin;
pub mod built_lanes;
pub mod clocks;
mod database;
pub mod disk_probe;
mod explain;
pub mod failpoint;
mod guest_clock;
pub mod host_use;
pub mod machine;
pub mod memory;
mod one_window;
pub mod probe;
mod processor;
mod programs;
pub mod race_clock;
pub mod raced_lanes;
pub mod record_file;
pub mod rehearse;
pub mod round;
mod rounds;
mod search;
mod shared_rate;
pub mod slices;
mod steps;
mod thermal;
pub mod time;
pub mod timeline;
pub mod timeouts;
pub mod trial_run;
pub mod wait_idle;

#[cfg(test)]
mod fake_lanes;
#[cfg(test)]
mod race_tests;
#[cfg(test)]
mod screening_tests;

use crate::failure::{Failure, Status};
use crate::progress;
use model::event::Event;
use model::findings::ResultFinding;
use model::plan::{LOOKS, Plan, Rounds};
use model::record::{EndOutcome, Line, Record};
use model::trial::{Outcome, Trial};
use model::workload::Workload;
use model::{Disturbance, Mark};
use record_file::RecordFile;
use round::Runner;
use slices::Longer;
use std::collections::BTreeSet;
use std::time::{Duration, Instant};
use time::Expected;
use trial_run::TrialRun;

/// A noisy round is run again, but at most this share of them (method 3.1).
const REPEATS_SHARE: f64 = 0.2;
/// A lane that failed so often in one workload is left out of its later rounds. Chosen: once may be a
/// disturbance, and each round that a lane fails in costs the others their time; a lane that fails in one
/// round of six by chance is left out of 26 % of races of six rounds, and the report says so.
const FAILURES_ALLOWED: usize = 2;
/// A look takes at most so many times its rounds: each round that failed or was void is made up for.
/// Failures alone are bounded by [`FAILURES_ALLOWED`]; a throttle that does not hold is not. Chosen.
const ROUNDS_FOR_A_LOOK: u32 = 2;

/// Ceilings, and steps of a search, are measured so often at most where the machine falls asleep meanwhile.
const ATTEMPTS_ON_A_MACHINE_THAT_SLEEPS: u32 = 3;

/// A race under way.
pub struct Race<'a> {
    /// The lanes and their agents.
    pub runner: Runner<'a>,
    /// What is on disk.
    pub file: RecordFile,
    /// The same in memory, for the statistics.
    pub record: Record,
    /// Seconds raced before this process (a resumed race).
    pub raced_before_seconds: f64,
    /// When this process began to race.
    pub begun: Instant,
    /// Seconds that the last round of each workload took, its ceilings left out; 0: none was raced.
    pub round_seconds: Vec<f64>,
    /// The same of the last round in which no lane was left out because it was decided.
    pub full_round_seconds: Vec<f64>,
    /// What each workload was expected to take before the race.
    pub expected: Vec<Expected>,
    /// Lanes that race a workload no longer, because nothing about them is undecided there.
    pub decided: Vec<BTreeSet<usize>>,
    /// Passes will see something: time is kept for them.
    pub can_profile: bool,
    /// All rounds are done: what is left is to look where the time goes.
    pub rounds_done: bool,
}

impl Race<'_> {
    /// Races every workload. Writes the record's end whatever happens.
    ///
    /// # Errors
    /// What ended the race; the record is closed all the same.
    pub fn run(&mut self) -> Result<(), Failure> {
        let result = self.race_all();
        let (outcome, reason) = match &result {
            Ok(()) => (EndOutcome::Complete, None),
            Err(failure) if failure.status == Status::Interrupted => (EndOutcome::Interrupted, None),
            Err(failure) => (EndOutcome::Failed, Some(failure.message.clone())),
        };
        let compared = self.runner.lanes.node_clocks();
        self.runner.lanes.end_agents();
        let clocks = compared.map_or(Ok(()), |clocks| self.append(Line::Clocks(Box::new(clocks))));
        let rounds_done = self.rounds_done && outcome == EndOutcome::Interrupted;
        let end = self.append(Line::End { finished: trial_run::now(), outcome, reason, rounds_done });
        result.and(clocks).and(end)
    }

    fn race_all(&mut self) -> Result<(), Failure> {
        if self.plan().find_max.is_some() {
            return self.search_all();
        }
        if !self.rounds_done {
            self.race_rounds()?;
        }
        self.name_what_did_not_fit()?;
        self.rounds_done = true;
        self.explain_all()
    }

    /// All rounds of all workloads.
    fn race_rounds(&mut self) -> Result<(), Failure> {
        let count = self.plan().workloads.len();
        self.can_profile = self.can_explain();
        self.first_ceilings()?;
        for index in 0..count {
            let workload = self.plan().workloads[index].clone();
            let started =
                Event::WorkloadStarted { title: workload.title.clone(), number: index as u32 + 1, of: count as u32 };
            (self.runner.screen)(&started);
            let share = self.share(index);
            while let Some(look) = self.next_look(index) {
                let deadline = if self.is_first_look(look) { self.budget() } else { share };
                if !self.race_to(index, look, deadline)? {
                    break;
                }
            }
            self.announce(index);
        }
        self.spend_the_rest()
    }

    fn announce(&mut self, index: usize) {
        let verdicts = Event::Verdicts(self.judge(index));
        (self.runner.screen)(&verdicts);
    }

    /// The ceilings come first: what the disk can do is the first thing a reader wants to know.
    fn first_ceilings(&mut self) -> Result<(), Failure> {
        for index in 0..self.plan().workloads.len() {
            let workload = self.plan().workloads[index].clone();
            if !self.is_probed(index) && self.ceilings_fit(index) {
                let seed = round_seed(self.plan().seed, index, 1);
                let places = (0..self.runner.names.len()).map(|lane| (lane, self.ground_of(lane, index, 1))).collect();
                self.probe(&workload, 1, places, seed)?;
            }
        }
        self.probe_layers()?;
        (self.runner.screen)(&Event::Ceilings(stats::judge::ceilings(&self.record)));
        Ok(())
    }

    /// What time is left goes to the undecided results, the one nearest to a verdict first.
    fn spend_the_rest(&mut self) -> Result<(), Failure> {
        if self.budget().is_none() {
            return Ok(());
        }
        // Workloads in which nothing more comes of racing on.
        let mut stuck: BTreeSet<usize> = BTreeSet::new();
        loop {
            let mut candidates: Vec<(f64, usize, u32)> = Vec::new();
            for index in (0..self.plan().workloads.len()).filter(|index| !stuck.contains(index)) {
                let Some(look) = self.next_look(index) else { continue };
                let cost = self.seconds_to(index, look);
                let minutes = self
                    .judge(index)
                    .iter()
                    .flat_map(|result| &result.pairs)
                    .filter_map(|pair| pair.minutes_to_settle)
                    .fold(f64::INFINITY, f64::min);
                // A look that was never reached comes first: without it there is no verdict at all.
                let unjudged = self.rounds_done(index) < LOOKS[0];
                let deadline = self.deadline(index);
                if deadline.is_none_or(|deadline| self.elapsed_seconds() + cost <= deadline) {
                    candidates.push((if unjudged { cost / 60.0 } else { minutes }, index, look));
                }
            }
            let Some(&(_, index, look)) = candidates.iter().min_by(|a, b| a.0.total_cmp(&b.0)) else { return Ok(()) };
            let before = self.rounds_raced(index);
            self.race_to(index, look, self.deadline(index))?;
            self.announce(index);
            if self.rounds_raced(index) == before {
                stuck.insert(index);
            }
        }
    }

    /// Runs rounds of a workload up to a look. Answers whether the look was reached in time.
    fn race_to(&mut self, index: usize, look: u32, deadline: Option<f64>) -> Result<bool, Failure> {
        // Measuring the maxima that a shared rate comes of takes as long as a round.
        let mut fits = self.fits(index, deadline);
        if !fits {
            return Ok(false);
        }
        self.settle_rate(index)?;
        if self.lanes_in(index).is_empty() {
            return Ok(false);
        }
        loop {
            self.leave_out_decided(index);
            if self.rounds_done(index) >= look {
                return Ok(true);
            }
            fits = fits || self.fits(index, deadline);
            if !std::mem::take(&mut fits) || self.has_lost_too_many_rounds(index, look) {
                return Ok(false);
            }
            let workload = self.plan().workloads[index].clone();
            let round = self.rounds_raced(index) + 1;
            let elapsed = self.elapsed_seconds();
            let started = Event::RoundStarted {
                title: workload.title.clone(),
                number: index as u32 + 1,
                round,
                look_at: look,
                elapsed_seconds: elapsed,
                budget_seconds: self.budget(),
            };
            (self.runner.screen)(&started);
            self.run_round(index, &workload, round)?;
            if self.lanes_in(index).is_empty() {
                return Ok(false);
            }
        }
    }

    /// Runs one round, again where foreign noise spoiled it, and writes it down.
    fn run_round(&mut self, index: usize, workload: &Workload, round: u32) -> Result<(), Failure> {
        let work = shared_rate::work_of_round(workload, &self.record);
        let attempts_so_far = self.attempts(index, round);
        let mut attempt = attempts_so_far + 1;
        loop {
            self.renew_guests(index, round)?;
            self.renew_agents();
            if attempt == 1 && (round > 1 || !self.is_probed(index)) {
                let racing = self.lanes_in(index);
                let places = racing.into_iter().map(|lane| (lane, self.ground_of(lane, index, round))).collect();
                self.probe(workload, round, places, round_seed(self.plan().seed, index, round))?;
            }
            let begun = self.runner.clock.now();
            let left = self.longer_until(index).map(|until| (until - self.elapsed_seconds()).max(0.0));
            let until = left.map(|left| begun + Duration::from_secs_f64(left));
            self.runner.longer = Longer { until, seconds: 0.0 };
            let cool = self.runner.lanes.cpu_throttle_events();
            let mut trials = self.visit_lanes(index, &work, round, attempt)?;
            if let Some(flag) = thermal::flag(cool, self.runner.lanes.cpu_throttle_events()) {
                trials.iter_mut().for_each(|trial| trial.flags.push(flag.clone()));
            }
            // Operations are checked in a pass of its own, in the first round alone: the next ones take
            // that much less. Job files are read back in every round.
            let is_apart = work.traits().schedule().is_steps();
            let checks = trials.iter().filter(|_| is_apart).filter_map(|trial| trial.phases_seconds.get("verify"));
            let checked: f64 = checks.sum();
            // Nor is every round made longer for a lane that has not settled.
            let beside = checked + self.runner.longer.seconds;
            self.round_seconds[index] = (self.runner.clock.since(begun).as_secs_f64() - beside).max(0.0);
            if self.decided[index].is_empty() {
                self.full_round_seconds[index] = self.round_seconds[index];
            }
            let broken = self.void(&mut trials, &work);
            let noise = self.noise(&trials);
            let repeats = self.may_repeat(index);
            let repeats_noise = repeats && failpoint::runs_disturbed_again();
            if let Some(noise) = noise.as_ref().filter(|_| !repeats_noise) {
                trials.iter_mut().for_each(|trial| noise.mark(trial));
            }
            let noise = noise.filter(|_| repeats_noise).map(|noise| noise.reason);
            let noise = broken.filter(|_| repeats).or(noise);
            if let Some(noise) = &noise {
                repeat(&mut trials, noise);
            }
            self.append_all(trials.into_iter().map(|trial| Line::Trial(Box::new(trial))).collect())?;
            (self.runner.screen)(&Event::RoundRecorded {
                rates: progress::rates(&self.record, &workload.name),
                trials: self.record.trials.len() as u32,
            });
            let Some(reason) = noise else { return Ok(()) };
            (self.runner.screen)(&Event::RoundRepeated { title: workload.title.clone(), round, reason });
            attempt += 1;
        }
    }

    /// Does a round's work in every lane that still races, and tells of those that failed. What was
    /// lost or changed by a lane is written down even though it ends the race.
    fn visit_lanes(&mut self, index: usize, work: &Workload, round: u32, attempt: u32) -> Result<Vec<Trial>, Failure> {
        let seed = round_seed(self.plan().seed, index, round);
        let lanes = self.record.header.lanes.len();
        let racing = self.lanes_in(index);
        let mut trial_runs: Vec<TrialRun> = stats::order::round_order(lanes, self.plan().seed, index as u64, round)
            .into_iter()
            .filter(|lane| racing.contains(lane))
            .enumerate()
            .map(|(place, lane)| TrialRun::new(lane, self.ground_of(lane, index, round), place as u32 + 1))
            .collect();
        // Until each lane has a trial that counts: what a failed one would have checked is still unchecked.
        let counted = |lane: &usize| {
            let name = &self.runner.names[*lane];
            self.record
                .trials
                .iter()
                .any(|of| of.workload == work.name && of.lane == *name && of.outcome == Outcome::Ok)
        };
        let first = !racing.iter().all(counted);
        self.runner.beside.clear();
        let raced = self.runner.round(work, &mut trial_runs, seed, first);
        let trials: Vec<Trial> = trial_runs
            .into_iter()
            .map(|trial_run| {
                let name = self.runner.names[trial_run.lane].clone();
                let image = self.runner.lanes.image_of(trial_run.ground);
                let mut trial = trial_run.into_trial(&name, work, round, attempt);
                trial.ground = image as u32;
                trial
            })
            .collect();
        // Also of one that counts up to the step that its lane cannot do.
        for trial in trials.iter().filter(|trial| trial.reason.is_some() && trial.outcome != Outcome::Void) {
            (self.runner.screen)(&Event::TrialFailed {
                lane: trial.lane.clone(),
                title: work.title.clone(),
                reason: trial.reason.clone().unwrap_or_default(),
            });
        }
        match raced {
            Ok(()) => Ok(trials),
            Err(failure) if failure.status == Status::Failed => {
                let failed = trials.into_iter().filter(|trial| trial.outcome == Outcome::Failed);
                self.append_all(failed.map(|trial| Line::Trial(Box::new(trial))).collect())?;
                Err(failure)
            }
            Err(failure) => Err(failure),
        }
    }

    fn probe(
        &mut self,
        workload: &Workload,
        round: u32,
        places: Vec<(usize, usize)>,
        seed: u64,
    ) -> Result<(), Failure> {
        let is_first = self.plan().workloads.first().is_some_and(|first| first.name == workload.name);
        let sizes: Vec<u64> = self.record.header.lanes.iter().map(|lane| lane.size_bytes).collect();
        let (mut probes, mut disks) = (Vec::new(), Vec::new());
        for _ in 0..ATTEMPTS_ON_A_MACHINE_THAT_SLEEPS {
            let before = self.runner.clock.clocks();
            if is_first && disk_probe::due(round) {
                disks = self.runner.probe_disks(workload, round, &places, &sizes, seed)?;
            }
            if round == 1 {
                probes.extend(self.runner.probe_null(workload, seed)?);
            }
            if probe::due(round) {
                probes.extend(self.runner.probe_raw(workload, round, &places, seed)?);
            }
            match self.runner.clock.clocks().since(&before).void {
                None => break,
                // No ceiling is better than one that nobody measured.
                Some(_) => {
                    probes.clear();
                    disks.clear();
                }
            }
        }
        let disks = disks.into_iter().map(|disk| Line::Disk(Box::new(disk)));
        let lines: Vec<Line> = disks.chain(probes.into_iter().map(|probe| Line::Probe(Box::new(probe)))).collect();
        if lines.is_empty() {
            return Ok(());
        }
        self.append_all(lines)
    }

    /// Where lanes of several guests are compared, each round begins with guests that were just started, on images
    /// that change places between them.
    fn renew_guests(&mut self, index: usize, round: u32) -> Result<(), Failure> {
        self.runner.lanes.renew_guests(index + round as usize).map_err(crate::commands::lane_failure)
    }

    /// What disturbed a round: other programs, or lanes beside the one that worked.
    fn noise(&self, trials: &[Trial]) -> Option<Noise> {
        let overhead = stats::noise::HostOverhead::from_probes(&self.record.probes);
        // A guest runs nothing but the work, and counts its CPU time in ticks: what seems to be others' there is
        // the kernel's own. Others work on this machine, beside the guest.
        let number = |lane: &str| self.runner.names.iter().position(|name| name == lane);
        trials.iter().filter(|trial| trial.outcome == Outcome::Ok).find_map(|trial| {
            let lane = number(&trial.lane)?;
            let outside = match self.runner.lanes.in_guest(lane) {
                false => Some(&trial.system),
                true => self.runner.beside.get(&lane),
            };
            let foreign = outside.and_then(|system| stats::noise::foreign(system, &overhead));
            let foreign = foreign.map(|of| Noise { disturbance: Some(of.disturbance), reason: of.reason });
            foreign.or_else(|| Some(Noise { disturbance: None, reason: stats::noise::neighbours(trial)? }))
        })
    }

    /// Each round begins with agents that were just started. Two processes that do the same may differ for as
    /// long as they live: over a whole race that would be the lane's own (method 1.3).
    fn renew_agents(&mut self) {
        self.runner.lanes.end_agents();
    }

    /// Trials during which the machine slept, and those in which the throttle did not hold, are in no figure; answers the
    /// first of them, so that the round is run again as a noisy one is.
    fn void(&self, trials: &mut [Trial], work: &Workload) -> Option<String> {
        let mut first = disturbed(trials);
        for trial in trials.iter_mut().filter(|trial| trial.outcome == Outcome::Ok) {
            let Some(throttle) = self.plan().throttle_of(&trial.lane) else { continue };
            let Some(broken) = stats::throttle::broken(trial, work, &throttle) else { continue };
            first.get_or_insert_with(|| format!("{}: {broken}", trial.lane));
            trial.outcome = Outcome::Void;
            trial.reason = Some(broken);
        }
        first
    }

    fn next_look(&self, index: usize) -> Option<u32> {
        let done = self.rounds_done(index);
        let look = stats::judge::next_look(done, &self.plan().rounds)?;
        let judged = LOOKS.contains(&done);
        let settled = self.plan().rounds == Rounds::Auto && judged && self.settled(index);
        (!settled && !self.lanes_in(index).is_empty()).then_some(look)
    }

    /// Whether no pair of lanes that still race is undecided.
    fn settled(&self, index: usize) -> bool {
        self.open_lanes(index).is_empty()
    }

    /// After a look: lanes about which nothing is undecided cost no more time. Those that remain share
    /// every round with each other, so that their pairs lose nothing. A race that was taken up again
    /// begins here too, so that both go on alike.
    fn leave_out_decided(&mut self, index: usize) {
        let done = self.rounds_done(index);
        if self.plan().rounds != Rounds::Auto || !LOOKS.contains(&done) {
            return;
        }
        let open = self.open_lanes(index);
        if !open.is_empty() {
            let decided: Vec<usize> = self.lanes_in(index).into_iter().filter(|lane| !open.contains(lane)).collect();
            self.decided[index].extend(decided);
        }
    }

    /// The lanes of undecided pairs that more rounds may still decide.
    fn open_lanes(&self, index: usize) -> BTreeSet<usize> {
        let racing: Vec<(usize, &str)> =
            self.lanes_in(index).into_iter().map(|lane| (lane, self.runner.names[lane].as_str())).collect();
        let results = self.judge(index);
        let undecided = results.iter().flat_map(stats::judge::undecided);
        lanes_of(undecided.map(|pair| [pair.a.as_str(), pair.b.as_str()]), &racing)
    }

    fn judge(&self, index: usize) -> Vec<ResultFinding> {
        stats::judge::judge_workload(&self.record, &self.plan().workloads[index].name)
    }

    fn trials_of(&self, index: usize) -> impl Iterator<Item = &Trial> {
        let name = &self.plan().workloads[index].name;
        self.record.trials.iter().filter(move |trial| trial.workload == *name)
    }

    fn ground_of(&self, lane: usize, index: usize, round: u32) -> usize {
        // The first lane's image is the shift of all: lanes rotate over the images together.
        let images = self.runner.lanes.images().max(1);
        let shift = stats::order::ground_of(0, images, self.plan().seed, index as u64, round);
        self.runner.lanes.store_for(lane, shift as u32)
    }

    fn plan(&self) -> &Plan {
        &self.record.header.plan
    }

    fn budget(&self) -> Option<f64> {
        self.plan().budget_seconds
    }

    fn elapsed_seconds(&self) -> f64 {
        self.raced_before_seconds + self.runner.clock.since(self.begun).as_secs_f64()
    }
}

/// The first trial that was void when it ended, with its reason.
fn disturbed(trials: &[Trial]) -> Option<String> {
    let void = trials.iter().find(|trial| trial.outcome == Outcome::Void)?;
    Some(format!("{}: {}", void.lane, void.reason.as_deref().unwrap_or_default()))
}

/// Why a round is raced again, or its trials are marked.
struct Noise {
    /// `None`: lanes beside the one that worked made it.
    disturbance: Option<Disturbance>,
    reason: String,
}

impl Noise {
    fn mark(&self, trial: &mut Trial) {
        let mark = if self.disturbance.is_some() { Mark::ForeignNoise } else { Mark::NeighbourActive };
        trial.flags.push(mark.with(self.reason.clone()));
        trial.disturbance = self.disturbance;
    }
}

/// What counted is run again, for this reason.
fn repeat(trials: &mut [Trial], reason: &str) {
    for trial in trials.iter_mut().filter(|trial| trial.outcome == Outcome::Ok) {
        trial.outcome = Outcome::Repeated;
        trial.reason = Some(reason.to_owned());
    }
}

/// The lanes of the pairs whose lanes both race: a pair with one that races no more gets no further round.
fn lanes_of<'a>(pairs: impl Iterator<Item = [&'a str; 2]>, racing: &[(usize, &str)]) -> BTreeSet<usize> {
    let number = |name: &str| racing.iter().find(|(_, of)| *of == name).map(|(lane, _)| *lane);
    pairs.filter_map(|[a, b]| Some([number(a)?, number(b)?])).flatten().collect()
}

/// The seed of a round's offsets and bytes: the same in every lane, another in every round.
/// SplitMix64's finaliser (Steele et al. 2014) spreads neighbouring rounds over the whole range.
fn round_seed(seed: u64, workload: usize, round: u32) -> u64 {
    let mut z = seed ^ (workload as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ (u64::from(round) << 32);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;
    use clocks::Clocks;

    #[test]
    fn a_trial_during_which_the_machine_slept_is_void_and_its_round_is_run_again() {
        let text = include_str!("../../tests/fixtures/schema1.jsonl");
        let workload = Record::parse(text).unwrap().header.plan.workloads[0].clone();
        let at = |boot: i128| Clocks { monotonic: 0, boot, wall: boot, doubt: 0, source: "tsc".to_owned() };
        let trial = |lane: &str, slept: i128| {
            let mut trial_run = TrialRun::new(0, 0, 1);
            trial_run.watch_clocks(at(0));
            trial_run.look_at_clocks(at(slept));
            trial_run.into_trial(lane, &workload, 1, 1)
        };
        let mut trials = [trial("ext4", 0), trial("xfs", 60_000_000_000)];
        assert_eq!([trials[0].outcome, trials[1].outcome], [Outcome::Ok, Outcome::Void]);
        assert!(trials[1].flags.iter().any(|flag| flag.is(Mark::Suspended)), "{:?}", trials[1].flags);
        let reason = disturbed(&trials).unwrap();
        assert_eq!(reason, "xfs: the machine slept for 60 s during this trial");
        repeat(&mut trials, &reason);
        assert_eq!([trials[0].outcome, trials[1].outcome], [Outcome::Repeated, Outcome::Void]);
        assert_eq!(disturbed(&[trial("ext4", 0)]), None);
        let mut failed = TrialRun::new(0, 0, 1);
        failed.watch_clocks(at(0));
        failed.failure = Some("no space".to_owned());
        failed.look_at_clocks(at(60_000_000_000));
        assert_eq!(failed.into_trial("ext4", &workload, 1, 1).outcome, Outcome::Failed);
    }

    #[test]
    fn a_pair_with_a_lane_that_races_no_more_keeps_nobody_racing() {
        let racing = [(0, "ext4"), (2, "btrfs"), (3, "jfs")];
        let open = |pairs: &[[&'static str; 2]]| lanes_of(pairs.iter().copied(), &racing);
        assert_eq!(open(&[["ext4", "btrfs"], ["jfs", "xfs"]]), BTreeSet::from([0, 2]), "jfs is decided");
        assert_eq!(open(&[["xfs", "ext4"]]), BTreeSet::new());
        assert_eq!(open(&[]), BTreeSet::new());
    }
}
