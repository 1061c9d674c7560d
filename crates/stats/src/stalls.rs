//! Whether means decide a workload instead of medians over slices: where a median hides stalls or bursts
//! (method 2.4).
//!
//! A trial's rate is the median of its slices, so that a burst of noise does not set it. What a lane does in fewer than
//! half of its slices is hidden with the noise. So the mean over all of the time, which hides nothing, is held against
//! the median, lane by lane: where it lies further away than the noise from round to round explains, means decide, for
//! all lanes alike. What a single round shows is an event and no way of working: medians stay, and it is said.

use crate::estimate;
use crate::series::LaneSeries;
use crate::statements::{name, pair as statement};
use crate::steady;
use crate::student;
use model::Sentence;
use model::sentence::{Value, Weight};
use model::trial::{Group, Trial};
use model::workload::Workload;
use std::collections::BTreeMap;

/// The two-sided p of all lanes and groups of a workload together. Means and medians of the same slices go along with
/// each other, so that far fewer workloads without stalls are decided by means: the tests here and the example
/// `sequential` simulate it.
const P: f64 = 0.05;
/// Fewer rounds tell next to nothing of their noise.
const LEAST_ROUNDS: usize = 3;
/// The median of fewer slices is their mean.
const LEAST_SLICES: usize = 3;

/// Which groups of a workload means decide, and why.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Means {
    /// By group: what each lane showed, by the lane's name. A group that shares the decision of another may have none.
    groups: BTreeMap<String, Vec<(String, Shift)>>,
    /// By group: the lanes of which one round alone would have shown it.
    events: BTreeMap<String, Vec<Event>>,
}

/// How far the means of a lane's rounds lie from the medians of the same rounds, beyond noise.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Shift {
    /// The mean over rounds of ln(mean / median).
    pub mean: f64,
    /// Rounds whose own ln(mean / median) lies beyond what is nobody's concern, to the same side.
    pub showing: usize,
    /// Of so many.
    pub of: usize,
    /// Without this round, by its place among the figures, nothing would be left that concerns anybody.
    pub alone: Option<usize>,
}

/// One round in which a lane took another time than its slices say.
#[derive(Debug, Clone, PartialEq)]
struct Event {
    lane: String,
    round: u32,
    /// The last round that was looked at.
    of: u32,
    /// Above zero: longer than the median of the slices says.
    seconds: f64,
}

/// What a lane showed in one group.
enum Shown {
    /// In its rounds.
    Often(Shift),
    /// In one of them.
    Once(Event),
}

impl Means {
    /// What the lanes' trials up to a round show. `margin`: differences below it are nobody's concern, as in verdicts.
    pub(crate) fn new(workload: &Workload, lanes: &[LaneSeries], margin: f64, last: u32) -> Means {
        let names = workload.groups();
        let p = P / (lanes.len() * names.len()).max(1) as f64;
        let least = margin.max(0.0).ln_1p();
        let (mut groups, mut events) = (BTreeMap::new(), BTreeMap::new());
        for group in names {
            let (mut often, mut once) = (Vec::new(), Vec::new());
            for lane in lanes {
                match of_lane(lane, &group, last, p, least) {
                    Some(Shown::Often(shift)) => often.push((lane.lane.name.clone(), shift)),
                    Some(Shown::Once(event)) => once.push(event),
                    None => {}
                }
            }
            events.insert(group.clone(), once);
            groups.insert(group, often);
        }
        // Steps on files are questions of their own; what is done in the same work is decided alike.
        if workload.traits().schedule().is_steps() || groups.values().all(Vec::is_empty) {
            groups.retain(|_, lanes| !lanes.is_empty());
        }
        Means { groups, events }
    }

    /// Whether means decide this group.
    pub(crate) fn decide(&self, group: &str) -> bool {
        self.groups.contains_key(group)
    }

    /// These groups and another's: two records are compared by the same figures.
    pub(crate) fn and(&mut self, other: &Means) {
        for group in other.groups.keys() {
            self.groups.entry(group.clone()).or_default();
        }
    }

    /// The decisions alone, for the same groups under other names: at each place of `from` one is called as it is there in
    /// `to`.
    pub(crate) fn renamed(&self, from: &[String], to: &[String]) -> Means {
        let decided = from.iter().zip(to).filter(|(from, _)| self.decide(from));
        Means { groups: decided.map(|(_, to)| (to.clone(), Vec::new())).collect(), events: BTreeMap::new() }
    }

    /// ln(mean / median) of a lane that showed it.
    pub(crate) fn shift(&self, group: &str, lane: &str) -> Option<f64> {
        self.groups.get(group)?.iter().find(|(name, _)| name == lane).map(|(_, shift)| shift.mean)
    }

    /// What is to be said of a group.
    pub(crate) fn sentences(&self, workload: &Workload, group: &str) -> Vec<Sentence> {
        let mut sentences = self.decision(workload, group);
        let events = self.events.get(group).into_iter().flatten();
        sentences.extend(events.map(|event| event.sentence(of_what(workload)).weigh(Weight::Figures)));
        sentences
    }

    /// Why means decide a group; nothing where they do not.
    fn decision(&self, workload: &Workload, group: &str) -> Vec<Sentence> {
        let Some(lanes) = self.groups.get(group) else { return Vec::new() };
        if lanes.is_empty() {
            return vec![statement::means_decide_all_of_it()];
        }
        // The same sentence of many steps is said once; their figures stand in the findings.
        let steps = workload.traits().schedule().is_steps();
        let of = |(lane, shift): &(String, Shift)| {
            let percent = Value::Number(100.0 * shift.mean.exp_m1().abs(), 0);
            let (lane, slices) = (name(lane), of_what(workload));
            match (shift.mean < 0.0, steps) {
                (true, false) => statement::stalls(lane, shift.showing, shift.of, percent, slices),
                (false, false) => statement::bursts(lane, shift.showing, shift.of, percent, slices),
                (true, true) => statement::stalls_in_steps(lane, slices),
                (false, true) => statement::bursts_in_steps(lane, slices),
            }
        };
        lanes.iter().map(of).collect()
    }
}

impl Event {
    fn sentence(&self, slices: Sentence) -> Sentence {
        let seconds = Value::Seconds(self.seconds.abs());
        match self.seconds > 0.0 {
            true => statement::took_longer_once(self.round, self.of, name(&self.lane), seconds, slices),
            false => statement::took_less_once(self.round, self.of, name(&self.lane), seconds, slices),
        }
    }
}

/// What the median is taken of.
fn of_what(workload: &Workload) -> Sentence {
    if workload.traits().schedule().is_slices() { statement::slices() } else { statement::parts() }
}

/// What one lane and group show beyond noise.
fn of_lane(lane: &LaneSeries, group: &str, last: u32, p: f64, least: f64) -> Option<Shown> {
    let trials = || lane.group(group).filter(|(trial, _)| trial.round <= last);
    let in_slices = |(_, of): &(&Trial, &Group)| {
        of.slices_operations_per_second.len() >= LEAST_SLICES && is_rate(&of.primary_metric)
    };
    // Most lanes have nothing to hide, and that is seen without looking for their warm-up.
    let plain: (Vec<f64>, Vec<f64>) = trials()
        .filter(in_slices)
        .filter_map(|(_, of)| Some((*of.metrics.get(&of.primary_metric)?, whole(of, &of.primary_metric)?)))
        .unzip();
    shift(&plain.0, &plain.1, p, least)?;
    let cut = lane.warms_up(group, last);
    let figures = |(trial, of): (&Trial, &Group)| {
        let kept = if cut { steady::settled(of).map_or(1.0, |settled| 1.0 - settled.cut) } else { 1.0 };
        let median = lane.median(of, &of.primary_metric)?;
        Some((trial.round, of.seconds * kept, (median, lane.mean(of, &of.primary_metric, cut)?)))
    };
    let rounds: Vec<(u32, f64, (f64, f64))> = trials().filter(in_slices).filter_map(figures).collect();
    let (medians, means): (Vec<f64>, Vec<f64>) = rounds.iter().map(|(.., rates)| *rates).unzip();
    let shift = shift(&medians, &means, p, least)?;
    Some(match shift.alone.map(|place| rounds[place]) {
        None => Shown::Often(shift),
        Some((round, seconds, (median, mean))) => Shown::Once(Event {
            lane: lane.lane.name.clone(),
            round,
            of: rounds.iter().map(|(round, ..)| *round).max().unwrap_or(round),
            seconds: seconds * (1.0 - mean / median),
        }),
    })
}

/// How far the means of a lane's rounds lie from the medians of the same rounds: the mean of ln(mean / median), where it
/// is larger than `least` and than the half-width of the medians' own interval at a two-sided `p` (Student's t on
/// logarithms). `None`: it is not, or there are fewer than three rounds in which both are a rate.
///
/// The medians' scatter does not show how the shift itself scatters: where the mean of the other rounds is no larger than
/// `least`, one round made it, which anything beside the lane can have done ([`Shift::alone`]).
pub fn shift(medians: &[f64], means: &[f64], p: f64, least: f64) -> Option<Shift> {
    let usable = |(median, mean): &(f64, f64)| estimate::usable(*median) && estimate::usable(*mean);
    let both = medians.iter().copied().zip(means.iter().copied());
    let used: Vec<(usize, (f64, f64))> = both.enumerate().filter(|(_, rates)| usable(rates)).collect();
    let (logs, apart): (Vec<f64>, Vec<f64>) =
        used.iter().map(|(_, (median, mean))| (median.ln(), mean.ln() - median.ln())).unzip();
    let noise = estimate::moments(&logs).filter(|of| of.count >= LEAST_ROUNDS)?;
    let shift = estimate::moments(&apart)?.mean;
    // Student's quantile takes longer than all else here, and is never below the normal one.
    let error = noise.deviation / (noise.count as f64).sqrt();
    if shift.abs() <= least || shift.abs() <= 1.96 * error {
        return None;
    }
    if shift.abs() <= student::two_sided_quantile(p, noise.count as f64 - 1.0) * error {
        return None;
    }
    let along = |of: f64| of * shift.signum();
    let most = (0..apart.len()).max_by(|&a, &b| along(apart[a]).total_cmp(&along(apart[b])))?;
    let others = (shift * noise.count as f64 - apart[most]) / (noise.count as f64 - 1.0);
    Some(Shift {
        mean: shift,
        showing: apart.iter().filter(|of| along(**of) > least).count(),
        of: noise.count,
        alone: (along(others) <= least).then_some(used[most].0),
    })
}

/// Whether a metric is a rate.
pub(crate) fn is_rate(metric: &str) -> bool {
    metric.ends_with("_per_second")
}

/// A rate over all of a trial's time, the charged sync included; `None`: it is none of those that are medians.
pub(crate) fn whole(of: &Group, metric: &str) -> Option<f64> {
    let amount = match metric {
        "operations_per_second" => of.operations,
        "bandwidth_bytes_per_second" => of.bytes,
        _ => return None,
    };
    Some(amount as f64 / of.seconds).filter(|rate| of.seconds > 0.0 && rate.is_finite())
}

impl LaneSeries<'_> {
    /// Whether most of a lane's trials of a group begin with warm-up. What comes in every round is warm-up; what comes
    /// first in some of them is a stall.
    pub(crate) fn warms_up(&self, group: &str, last: u32) -> bool {
        let trials = || self.group(group).filter(|(trial, _)| trial.round <= last);
        let cut = trials().filter(|(_, of)| steady::settled(of).is_some_and(|settled| settled.cut > 0.0)).count();
        self.steady && 2 * cut > trials().count()
    }

    /// A rate over all of a trial's time, without its warm-up where that is to be `cut`.
    pub(crate) fn mean(&self, of: &Group, metric: &str, cut: bool) -> Option<f64> {
        let rate = whole(of, metric)?;
        let settled = if cut { steady::settled(of) } else { None };
        Some(rate * settled.map_or(1.0, |settled| settled.mean))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::Normal;

    const SLICES: usize = 6;
    const SLICE_SECONDS: f64 = 0.1;

    /// Rounds of six slices of 0.1 s at 1,000 operations a second: medians and means. `stall`: seconds that stand still
    /// in the round's second slice.
    fn rounds(
        noise: &mut Normal,
        count: usize,
        (within, between): (f64, f64),
        stall: impl Fn(usize) -> f64,
    ) -> (Vec<f64>, Vec<f64>) {
        let mut one = |round: usize| {
            let level = 1000.0 * (between * noise.next()).exp();
            let slices: Vec<(f64, f64)> = (0..SLICES)
                .map(|slice| {
                    let operations = level * (within * noise.next()).exp() * SLICE_SECONDS;
                    (operations, SLICE_SECONDS + if slice == 1 { stall(round) } else { 0.0 })
                })
                .collect();
            let median = estimate::median(slices.iter().map(|(operations, seconds)| operations / seconds)).unwrap();
            let sum = |of: fn(&(f64, f64)) -> f64| slices.iter().map(of).sum::<f64>();
            (median, sum(|of| of.0) / sum(|of| of.1))
        };
        (0..count).map(&mut one).unzip()
    }

    /// Whether means decide by these rounds.
    fn decides(medians: &[f64], means: &[f64], p: f64, least: f64) -> bool {
        shift(medians, means, p, least).is_some_and(|shift| shift.alone.is_none())
    }

    /// Of so many races of three lanes without stalls, those in which some look finds one.
    fn found_without(noise: &mut Normal, of: (f64, f64), races: usize, least: f64) -> usize {
        let finds = |_: &usize| {
            let lanes: Vec<_> = (0..3).map(|_| rounds(noise, 20, of, |_| 0.0)).collect();
            model::plan::LOOKS.iter().any(|&look| {
                let look = look as usize;
                lanes.iter().any(|(medians, means)| decides(&medians[..look], &means[..look], P / 3.0, least))
            })
        };
        (0..races).filter(finds).count()
    }

    #[test]
    fn decisions_go_with_the_groups_where_these_are_called_otherwise() {
        let named = |names: [&str; 2]| names.map(str::to_owned);
        let means = Means { groups: [("create".to_owned(), Vec::new())].into(), events: BTreeMap::new() };
        let renamed = means.renamed(&named(["create", "delete"]), &named(["create, 2 ranks", "delete, 2 ranks"]));
        assert!(renamed.decide("create, 2 ranks") && !renamed.decide("delete, 2 ranks") && !renamed.decide("create"));
    }

    #[test]
    fn lanes_without_stalls_are_hardly_ever_said_to_stall_at_any_of_five_looks() {
        let mut noise = Normal::new(5);
        for of in [(0.02, 0.0), (0.05, 0.02), (0.1, 0.1), (0.3, 0.1), (0.02, 0.3)] {
            // At most 5 % is promised; without the margin too.
            let (found, bare) =
                (found_without(&mut noise, of, 400, 1.05_f64.ln()), found_without(&mut noise, of, 400, 0.0));
            eprintln!("{of:?}: {found} and {bare} of 400");
            assert!(found <= 20 && bare <= 20, "{of:?}: {found} and {bare} of 400");
        }
    }

    #[test]
    fn a_stall_of_a_second_in_every_third_round_is_found() {
        let mut noise = Normal::new(6);
        // At the first look; where rounds are as noisy as the stall is long on average, at the last.
        for (of, look, least) in [((0.05, 0.02), 6, 100), ((0.1, 0.1), 6, 99), ((0.1, 0.2), 20, 99)] {
            let found = (0..100)
                .filter(|_| {
                    let (medians, means) = rounds(&mut noise, look, of, |round| if round % 3 == 1 { 1.0 } else { 0.0 });
                    let found = shift(&medians, &means, P / 3.0, 1.05_f64.ln());
                    found.is_some_and(|of| of.mean < -0.2 && of.showing >= look / 3 && of.alone.is_none())
                })
                .count();
            assert!(found >= least, "{of:?}: {found} of 100");
        }
    }

    #[test]
    fn one_event_at_random_makes_no_lane_stall() {
        let mut noise = Normal::new(7);
        for of in [(0.02, 0.0), (0.05, 0.02), (0.1, 0.1), (0.3, 0.1), (0.02, 0.3)] {
            let (mut found, mut said) = (0, 0);
            for race in 0..400 {
                // One of three lanes, in one of the six rounds of the first look.
                let lanes: Vec<_> = (0..3)
                    .map(|lane| {
                        let hit = |round: usize| if race % 3 == lane && round == race % 6 { 1.0 } else { 0.0 };
                        rounds(&mut noise, 20, of, hit)
                    })
                    .collect();
                found += usize::from(model::plan::LOOKS.iter().any(|&look| {
                    let look = look as usize;
                    lanes.iter().any(|of| decides(&of.0[..look], &of.1[..look], P / 3.0, 1.05_f64.ln()))
                }));
                let (medians, means) = &lanes[race % 3];
                let shift = shift(&medians[..6], &means[..6], P / 3.0, 1.05_f64.ln());
                said += usize::from(shift.is_some_and(|shift| shift.alone == Some(race % 6)));
            }
            eprintln!("{of:?}: {found} of 400, said of {said}");
            assert!(found <= 20, "{of:?}: {found} of 400");
            assert!(said >= 390 || of.1 >= 0.1 || of.0 >= 0.1, "{of:?}: said of {said}");
        }
    }

    #[test]
    fn a_shift_is_the_mean_of_logarithms_and_needs_rounds() {
        let medians = [100.0, 101.0, 99.0, 100.0];
        let halved = medians.map(|rate| rate / 2.0);
        let found = shift(&medians, &halved, 0.05, 0.05).unwrap();
        assert!((found.mean + 2_f64.ln()).abs() < 1e-12, "{found:?}");
        assert_eq!((found.showing, found.of, found.alone), (4, 4, None));
        let once = shift(&[0.0, 100.0, 101.0, 99.0, 100.0], &[1.0, 100.0, 50.0, 99.0, 100.0], 0.05, 0.05).unwrap();
        assert_eq!((once.showing, once.of, once.alone), (1, 4, Some(2)), "places count what is no rate too");
        assert_eq!(shift(&medians[..2], &halved[..2], 0.05, 0.05), None);
        assert_eq!(shift(&[0.0; 4], &halved, 0.05, 0.05), None, "a median of nothing is no rate");
        assert_eq!(shift(&medians, &medians.map(|rate| rate * 1.04), 0.05, 1.05_f64.ln()), None, "below the margin");
        assert_eq!(shift(&[50.0, 100.0, 200.0, 100.0], &[40.0, 80.0, 160.0, 80.0], 0.05, 0.05), None, "within noise");
        assert_eq!(shift(&[f64::NAN; 4], &[f64::INFINITY; 4], 0.05, 0.05), None);
    }
}
