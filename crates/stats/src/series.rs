//! What counts of one workload's trials: the last attempt of every round, lane by lane.

use crate::estimate::{self, Level};
use crate::failed;
use crate::sequential::{self, Standing};
use crate::stalls::{self, Means};
use crate::statements::race as statement;
use crate::steady;
use model::Sentence;
use model::kinds::action;
use model::lane::Lane;
use model::record::Record;
use model::trial::{Group, Outcome, SystemUse, Trial};
use model::workload::{Workload, WorkloadKind};
use std::collections::{BTreeMap, BTreeSet};

/// One workload's trials that count.
pub struct Series<'a> {
    /// In the header's order.
    pub lanes: Vec<LaneSeries<'a>>,
    /// Rounds that hold a comparison, ascending: at least two lanes (or the only one) did them.
    pub done: Vec<u32>,
    /// Trials of this workload in the record, whatever became of them.
    pub trials: usize,
    /// Which of its groups read.
    pub reading: Reading<'a>,
    /// Which of its groups means decide instead of medians.
    pub(crate) means: Means,
    /// The workload, where the plan knows it.
    workload: Option<&'a Workload>,
    /// Tie margin of the race as a share.
    margin: f64,
    /// The last round by which its figures are chosen.
    last: u32,
}

/// One lane's trials of one workload, in order of rounds.
pub struct LaneSeries<'a> {
    /// The lane.
    pub lane: &'a Lane,
    /// Last attempts that count.
    pub ok: Vec<&'a Trial>,
    /// Last attempts that failed.
    pub failed: Vec<&'a Trial>,
    /// The work is steady block I/O, measured in slices: what comes first may be warm-up.
    pub(crate) steady: bool,
    /// Last attempts in which the throttle did not hold.
    pub void: Vec<&'a Trial>,
    /// Groups of which means decide, and whether warm-up is left out of them.
    by_means: Vec<(String, bool)>,
}

impl<'a> Series<'a> {
    /// Collects the last attempt of every lane and round; of equal attempts the later line.
    pub fn new(record: &'a Record, workload: &str) -> Series<'a> {
        Self::among(record, &record.trials, workload)
    }

    /// The same among some of the record's trials.
    pub fn among(record: &'a Record, among: &'a [Trial], workload: &str) -> Series<'a> {
        let mut last: BTreeMap<(&str, u32), &Trial> = BTreeMap::new();
        let mut trials = 0;
        for trial in among.iter().filter(|trial| trial.workload == workload) {
            trials += 1;
            let kept = last.entry((&trial.lane, trial.round)).or_insert(trial);
            if trial.attempt >= kept.attempt {
                *kept = trial;
            }
        }
        let with = |lane: &'a Lane, outcome: Outcome| {
            let all = last.range((lane.name.as_str(), 0)..=(lane.name.as_str(), u32::MAX));
            all.map(|(_, &trial)| trial).filter(|trial| trial.outcome == outcome).collect::<Vec<_>>()
        };
        let plan = &record.header.plan;
        let planned = plan.workloads.iter().find(|of| of.name == workload);
        let steady = planned.is_some_and(|of| of.traits().schedule().is_slices());
        let lanes: Vec<_> = record
            .header
            .lanes
            .iter()
            .map(|lane| LaneSeries {
                lane,
                ok: with(lane, Outcome::Ok),
                failed: with(lane, Outcome::Failed),
                void: with(lane, Outcome::Void),
                steady,
                by_means: Vec::new(),
            })
            .collect();
        let apart = planned.is_some_and(|of| of.traits().is_foreign());
        let needed = lanes.iter().filter(|lane| !lane.ok.is_empty()).count().min(if apart { 1 } else { 2 });
        let mut counts: BTreeMap<u32, usize> = BTreeMap::new();
        for trial in lanes.iter().flat_map(|lane| &lane.ok) {
            *counts.entry(trial.round).or_default() += 1;
        }
        let done: Vec<u32> = counts.into_iter().filter(|&(_, count)| count >= needed).map(|(round, _)| round).collect();
        let standing = sequential::standing(done.len() as u32, plan.rounds, record.end);
        let mut series = Series {
            lanes,
            done,
            trials,
            reading: Reading::new(record, workload),
            means: Means::default(),
            workload: planned,
            margin: plan.margin,
            last: u32::MAX,
        };
        // As with verdicts, rounds past a look wait for the next one.
        series.choose_figures(series.last_round(standing));
        series
    }

    /// Finds out whether medians or means decide, by the trials up to this round.
    fn choose_figures(&mut self, last: u32) {
        self.last = last;
        let Some(workload) = self.workload else { return };
        self.decide_by(Means::new(workload, &self.lanes, self.margin, last));
    }

    /// Lets means decide these groups. What comes after the last round by which figures are chosen changes none of them.
    fn decide_by(&mut self, means: Means) {
        let groups = self.workload.map(Workload::groups).unwrap_or_default();
        for lane in &mut self.lanes {
            let decided = groups.iter().filter(|group| means.decide(group));
            lane.by_means = decided.map(|group| (group.clone(), lane.warms_up(group, self.last))).collect();
        }
        self.means = means;
    }

    /// Lets means decide where they do in others of the same work, so that all are compared by the same figures.
    pub(crate) fn decide_as<'b>(&mut self, others: impl IntoIterator<Item = &'b Means>) {
        let mut means = self.means.clone();
        others.into_iter().for_each(|other| means.and(other));
        if means != self.means {
            self.decide_by(means);
        }
    }
}

impl<'a> Series<'a> {
    /// The same as it stood after this round.
    pub fn up_to(&self, last: u32) -> Series<'a> {
        let until = |trials: &[&'a Trial]| trials.iter().copied().filter(|trial| trial.round <= last).collect();
        let lanes = self.lanes.iter().map(|of| LaneSeries {
            ok: until(&of.ok),
            failed: until(&of.failed),
            void: until(&of.void),
            lane: of.lane,
            steady: of.steady,
            by_means: Vec::new(),
        });
        let mut then = Series {
            lanes: lanes.collect(),
            done: self.done.iter().copied().filter(|&round| round <= last).collect(),
            trials: self.trials,
            reading: self.reading,
            means: Means::default(),
            workload: self.workload,
            margin: self.margin,
            last,
        };
        then.choose_figures(last);
        then
    }

    /// The last round that a look takes.
    pub fn last_round(&self, standing: Standing) -> u32 {
        match standing {
            Standing::AtLook { rounds, .. } => self.done.get(rounds as usize - 1).copied().unwrap_or(u32::MAX),
            Standing::Before { .. } => u32::MAX,
        }
    }

    /// Rounds in which every lane that raced stood still, two at least: something beside them did that, and
    /// such a round says nothing of any of them.
    pub fn stalled(&self, group: &str, metric: &str) -> BTreeSet<u32> {
        // Lanes that stood still and lanes that raced.
        let mut rounds: BTreeMap<u32, (usize, usize)> = BTreeMap::new();
        for round in self.lanes.iter().flat_map(|lane| lane.stood_still(group, metric)) {
            rounds.entry(round).or_default().0 += 1;
        }
        for (trial, _) in self.lanes.iter().flat_map(|lane| lane.group(group)) {
            rounds.entry(trial.round).and_modify(|(_, raced)| *raced += 1);
        }
        let stalled = rounds.into_iter().filter(|(_, (still, raced))| *still >= 2 && still == raced);
        stalled.map(|(round, _)| round).collect()
    }
}

impl<'a> LaneSeries<'a> {
    /// The trials that count up to this round.
    pub fn until(&self, last: u32) -> impl Iterator<Item = &'a Trial> {
        self.ok.iter().copied().filter(move |trial| trial.round <= last)
    }

    /// The trials that hold this group, with it.
    pub fn group<'b>(&'b self, group: &'b str) -> impl Iterator<Item = (&'a Trial, &'a Group)> + 'b {
        self.ok.iter().filter_map(move |&trial| Some((trial, trial.groups.iter().find(|of| of.name == group)?)))
    }

    /// (round, figure) of one metric, in order of rounds; unusable figures included. Rates are medians of slices, or
    /// means where those decide; of steady work they are those without what MSER-5 calls warm-up, where it is long
    /// enough to tell.
    pub fn figures(&self, group: &str, metric: &str) -> Vec<(u32, f64)> {
        self.group(group).filter_map(|(trial, of)| Some((trial.round, self.figure(of, metric)?))).collect()
    }

    /// One trial's figure of a metric, as in [`LaneSeries::figures`].
    pub fn figure(&self, of: &Group, metric: &str) -> Option<f64> {
        let mean = self.by_means(&of.name).and_then(|cut| self.mean(of, metric, cut));
        mean.or_else(|| self.median(of, metric))
    }

    /// The median of a trial's slices, or what else the metric is.
    pub(crate) fn median(&self, of: &Group, metric: &str) -> Option<f64> {
        let of_all = *of.metrics.get(metric)?;
        let rate = stalls::is_rate(metric) && self.steady;
        Some(if rate { of_all * steady::settled(of).map_or(1.0, |settled| settled.rate) } else { of_all })
    }

    /// Whether means decide a group: then whether warm-up is left out of them.
    fn by_means(&self, group: &str) -> Option<bool> {
        self.by_means.iter().find(|(name, _)| name == group).map(|(_, cut)| *cut)
    }

    /// Rounds in which this lane did nothing that its figure could show: a rate of zero in measured time,
    /// because the middle slice did nothing (the warm-up left out; where means decide, all slices), or no operation at
    /// all.
    pub fn stood_still(&self, group: &str, metric: &str) -> Vec<u32> {
        // Without its warm-up a trial comes to zero only where something in it did.
        let paused = |of: &Group| {
            of.windows_operations_per_second.iter().chain(&of.slices_operations_per_second).any(|&rate| rate == 0.0)
        };
        let still = |of: &Group| match of.metrics.get(metric) {
            Some(_) if stalls::is_rate(metric) && self.by_means(&of.name).is_some() => {
                self.figure(of, metric) == Some(0.0)
            }
            Some(&figure) if metric.ends_with("_per_second") => {
                figure == 0.0 || (paused(of) && self.figure(of, metric) == Some(0.0))
            }
            Some(_) => false,
            None => of.operations == 0,
        };
        let measured = |of: &Group| of.seconds > 0.0 && of.seconds.is_finite();
        self.group(group).filter(|(_, of)| measured(of) && still(of)).map(|(trial, _)| trial.round).collect()
    }

    /// The level of a lane's figures. Rounds in which it did nothing count as zeros of a rate: a mean of the
    /// others would be that of its good rounds. Those in which every lane stood still ([`Series::stalled`])
    /// say nothing of it. `None`: it has no figure, or never did anything.
    pub fn level(&self, group: &str, metric: &str, stalled: &BTreeSet<u32>) -> Option<Level> {
        self.level_until(group, metric, stalled, u32::MAX)
    }

    /// The same of its rounds up to this one.
    pub fn level_until(&self, group: &str, metric: &str, stalled: &BTreeSet<u32>, last: u32) -> Option<Level> {
        let counts = |round: u32| round <= last && !stalled.contains(&round);
        let figures = self.figures(group, metric).into_iter().filter(|&(round, _)| counts(round));
        let figures: Vec<f64> = figures.map(|(_, figure)| figure).collect();
        let alone = self.stood_still(group, metric).into_iter().any(counts);
        match metric.ends_with("_per_second") && alone {
            true => estimate::level_with_zeros(&figures).filter(|level| level.mean > 0.0),
            false => estimate::level(&figures),
        }
    }

    /// Trials of a group whose figure became another one because warm-up was cut, and the largest cut
    /// as a share of a trial. What changes no figure by a hundredth is not worth a word.
    pub fn cut(&self, group: &str) -> (usize, f64) {
        let settled = self.group(group).filter(|_| self.steady).filter_map(|(_, of)| steady::settled(of));
        let cuts: Vec<f64> = settled.filter(|of| (of.rate - 1.0).abs() > 0.01).map(|of| of.cut).collect();
        (cuts.len(), cuts.into_iter().fold(0.0, f64::max))
    }

    /// Why this lane has no figure at all; `None`: it has some.
    pub fn failure(&self) -> Option<Sentence> {
        if !self.ok.is_empty() {
            return None;
        }
        let reason = self.failed.last().or(self.void.last()).map(|trial| failed::reason(trial));
        let not_measured = match self.lane.venue == crate::comparable::FOREIGN {
            true => statement::not_in_its_files,
            false => statement::no_round_completed,
        };
        Some(reason.unwrap_or_else(not_measured))
    }

    /// Whether it has no figure at all because its trials are void.
    pub fn is_void(&self) -> bool {
        self.ok.is_empty() && self.failed.is_empty() && !self.void.is_empty()
    }

    /// Why this lane has no figure of a group; `None`: it has some, or nobody knows.
    pub fn lacks(&self, group: &str) -> Option<Sentence> {
        self.failure().or_else(|| match self.group(group).next() {
            Some(_) => None,
            // What stands behind a step that the filesystem cannot do was not done.
            None => self.ok.iter().rev().find_map(|trial| trial.reason.clone().map(Sentence::from)),
        })
    }
}

/// Which groups of a workload read: as its kind says, and of work that the plan does not know by their names.
#[derive(Clone, Copy)]
pub struct Reading<'a>(Option<&'a dyn WorkloadKind>);

impl<'a> Reading<'a> {
    fn new(record: &'a Record, workload: &str) -> Self {
        let planned = record.header.plan.workloads.iter().find(|of| of.name == workload);
        Reading(planned.map(Workload::traits))
    }

    /// Whether a group reads.
    pub fn reads(&self, group: &str) -> bool {
        self.0.map_or_else(|| action(group) == "read", |kind| kind.reads(group))
    }

    /// Whether a group is all of the trial's work together: its own window is that of the last sync alone.
    fn is_whole(&self, group: &str) -> bool {
        self.0.is_some_and(|kind| kind.is_whole(group))
    }

    /// Whether a group only sums up the others.
    fn sums_up(&self, group: &str) -> bool {
        self.0.is_some_and(|kind| kind.sums_up(group))
    }
}

/// The groups that move data: the syncs of a job file are calls beside its operations.
pub(crate) fn worked(groups: &[Group]) -> impl Iterator<Item = &Group> {
    groups.iter().filter(|group| action(&group.name) != "sync")
}

/// What the system did for one group of one trial, and the work that it is to be divided by.
pub struct Scope<'a> {
    /// The system's sums.
    pub system: &'a SystemUse,
    /// Operations of the groups that the sums cover.
    pub operations: f64,
    /// Bytes that the application read in them.
    pub read_bytes: f64,
    /// Bytes that the application wrote in them.
    pub write_bytes: f64,
    /// The sums cover this group alone.
    pub exact: bool,
}

impl<'a> Scope<'a> {
    /// A group's own sums where it has them, otherwise the trial's over all its groups.
    pub fn new(trial: &'a Trial, group: &'a Group, reading: &Reading) -> Scope<'a> {
        let (system, groups, exact) = match &group.system {
            _ if reading.is_whole(&group.name) => (&trial.system, std::slice::from_ref(group), true),
            Some(system) => (system, std::slice::from_ref(group), true),
            None => (&trial.system, trial.groups.as_slice(), worked(&trial.groups).count() == 1),
        };
        let counted = || worked(groups).filter(move |of| !reading.sums_up(&of.name));
        // What is removed, and what goes both ways at once, is neither read nor written alone.
        let one_way = |of: &&Group| action(&of.name) != "delete" && !of.name.contains('+');
        let bytes = |read: bool| {
            let of = counted().filter(|of| reading.reads(&of.name) == read).filter(one_way);
            of.map(|of| of.bytes as f64).sum()
        };
        Scope {
            system,
            operations: counted().map(|of| of.operations as f64).sum(),
            read_bytes: bytes(true),
            write_bytes: bytes(false),
            exact,
        }
    }

    /// Bytes written at the device per byte that the application wrote, deferred writes included
    /// where the agent counted them up to the sync; `None` where it wrote none.
    pub fn write_amplification(&self) -> Option<f64> {
        let (device, work) = (self.system.whole_device_write_bytes, self.system.whole_application_write_bytes);
        if device > 0 && work > 0 {
            return Some(device as f64 / work as f64);
        }
        (self.write_bytes > 0.0 && self.system.device.write_bytes > 0)
            .then(|| self.system.device.write_bytes as f64 / self.write_bytes)
    }

    /// CPU seconds of the whole system in these windows.
    pub fn cpu_seconds(&self) -> f64 {
        self.system.cpu_busy_seconds()
    }
}
