//! The score of IO500, in each round and over all of them.

use crate::estimate::{self, Level};
use crate::series::{LaneSeries, Series};
use model::findings::{IO500_PHASES, Io500Finding, Io500Kind, Io500Phase, Io500Score};
use model::plan::Plan;
use model::record::Record;
use model::trial::Trial;
use model::workload::{Kind, Workload};
use std::collections::BTreeMap;

/// Bytes of one of IO500's GiB.
const GIB: f64 = 1_073_741_824.0;
/// Operations of one of its kIOPS.
const KILO: f64 = 1000.0;
/// The workload of several steps that are one phase: names are listed, then looked at.
const FIND: &str = "find";

/// A score with the two figures that it is made of.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Score {
    /// Geometric mean of the bandwidths, in GiB/s.
    pub bandwidth: f64,
    /// Geometric mean of the rates, in thousands of operations per second.
    pub metadata: f64,
    /// Root of their product.
    pub total: f64,
}

/// IO500's score of bandwidths in GiB/s and rates in thousands of operations per second; one of zero makes it zero. `None`
/// where one of them is no such number, or there is none.
pub fn score(bandwidths: &[f64], rates: &[f64]) -> Option<Score> {
    let mean = |figures: &[f64]| {
        if figures.is_empty() || !figures.iter().all(|&figure| is_rate(figure)) {
            return None;
        }
        if figures.contains(&0.0) { Some(0.0) } else { estimate::level(figures).map(|level| level.mean) }
    };
    let (bandwidth, metadata) = (mean(bandwidths)?, mean(rates)?);
    Some(Score { bandwidth, metadata, total: (bandwidth * metadata).sqrt() })
}

/// Whether a figure is a rate. Zero is one: it stood still.
fn is_rate(figure: f64) -> bool {
    figure.is_finite() && figure >= 0.0
}

/// What each lane did in the phases of IO500; empty where the race does not have all of them.
pub fn findings(record: &Record) -> Vec<Io500Finding> {
    let workloads = &record.header.plan.workloads;
    let found: Option<Vec<(&str, Io500Kind, &Workload)>> =
        IO500_PHASES.iter().map(|&(phase, counts)| Some((phase, counts, workload_of(workloads, phase)?))).collect();
    let Some(phases) = found else { return Vec::new() };
    let series: BTreeMap<&str, Series> =
        phases.iter().map(|(.., workload)| (workload.name.as_str(), Series::new(record, &workload.name))).collect();
    let of_lane = |at: usize| {
        let figures: Vec<(&str, Io500Kind, BTreeMap<u32, Figure>)> = phases
            .iter()
            .map(|&(phase, counts, workload)| {
                let lane = series.get(workload.name.as_str()).and_then(|series| series.lanes.get(at));
                let held = held_bytes(workload, &record.header.plan);
                (phase, counts, lane.map(|lane| by_rounds(lane, phase, counts, held)).unwrap_or_default())
            })
            .collect();
        (!figures.iter().all(|(.., rounds)| rounds.is_empty()))
            .then(|| Io500Finding { lane: record.header.lanes[at].name.clone(), ..of_figures(&figures) })
    };
    (0..record.header.lanes.len()).filter_map(of_lane).collect()
}

/// The workload that does a phase: the one of its name, or one that has a step of its name. What was imported from IO500's
/// own program is none.
fn workload_of<'a>(workloads: &'a [Workload], phase: &str) -> Option<&'a Workload> {
    let all = || workloads.iter().filter(|workload| !workload.traits().is_foreign());
    let of_step = || all().find(|workload| workload.groups().iter().any(|group| group == phase));
    all().find(|workload| workload.name == phase).or_else(of_step)
}

/// Bytes of all files of work that reads through the page cache: who reads more than that has read some of them from there.
fn held_bytes(workload: &Workload, plan: &Plan) -> Option<u64> {
    let Kind::Io(io) = &workload.kind else { return None };
    let ranks = u64::from(plan.at_work(&workload.name));
    (io.rw.reads() && !io.direct && !io.uncached).then(|| workload.working_set_bytes().saturating_mul(ranks))
}

/// What a lane did of a phase in one round.
#[derive(Debug, Clone, Copy)]
struct Figure {
    /// In IO500's unit; 0: it stood still.
    figure: f64,
    seconds: f64,
    /// More was read than the page cache had to fetch.
    read_again: bool,
}

fn by_rounds(lane: &LaneSeries, phase: &str, counts: Io500Kind, held: Option<u64>) -> BTreeMap<u32, Figure> {
    let of_round = |trial: &Trial| Some((trial.round, figure(lane, trial, (phase, counts), held)?));
    lane.ok.iter().filter_map(|&trial| of_round(trial)).collect()
}

fn figure(lane: &LaneSeries, trial: &Trial, (phase, kind): (&str, Io500Kind), held: Option<u64>) -> Option<Figure> {
    let measured = |figure: f64, seconds: f64, read_again: bool| {
        (is_rate(figure) && seconds > 0.0).then_some(Figure { figure, seconds, read_again })
    };
    if phase == FIND {
        // As many names as were looked at, in the time of all its steps.
        let names = trial.groups.last().map(|group| group.operations)? as f64;
        let seconds: f64 = trial.groups.iter().map(|group| group.seconds).sum();
        return measured(names / seconds / KILO, seconds, false);
    }
    // Block I/O is one group of its direction.
    let named = trial.groups.iter().find(|group| group.name == phase);
    let group = named.or_else(|| trial.groups.first().filter(|_| trial.workload == phase))?;
    let (metric, unit) = match kind {
        Io500Kind::Bandwidth => ("bandwidth_bytes_per_second", GIB),
        Io500Kind::Metadata => ("operations_per_second", KILO),
    };
    // The same figure as in the lane's own result.
    measured(lane.figure(group, metric)? / unit, group.seconds, held.is_some_and(|held| group.bytes > held))
}

/// Phases over rounds, and the score of each round in which all phases have a figure.
fn of_figures(figures: &[(&str, Io500Kind, BTreeMap<u32, Figure>)]) -> Io500Finding {
    let phase = |(name, counts, rounds): &(&str, Io500Kind, BTreeMap<u32, Figure>)| {
        let all: Vec<f64> = rounds.values().map(|of| of.figure).collect();
        let level = level(&all)?;
        let seconds = rounds.values().map(|of| of.seconds).fold(f64::INFINITY, f64::min);
        let read_again = rounds.values().any(|of| of.read_again);
        let (name, rounds) = ((*name).to_owned(), level.count as u32);
        Some(Io500Phase { name, counts: *counts, figure: level.mean, seconds, read_again, rounds })
    };
    let of_round = |round: u32| {
        let of_kind = |kind: Io500Kind| -> Option<Vec<f64>> {
            let of_kind = figures.iter().filter(|(_, counts, _)| *counts == kind);
            of_kind.map(|(.., rounds)| Some(rounds.get(&round)?.figure)).collect()
        };
        score(&of_kind(Io500Kind::Bandwidth)?, &of_kind(Io500Kind::Metadata)?)
    };
    let rounds = figures.first().map(|(.., rounds)| rounds.keys().copied()).into_iter().flatten();
    let scores: Vec<Score> = rounds.filter_map(of_round).collect();
    Io500Finding { lane: String::new(), phases: figures.iter().filter_map(phase).collect(), score: together(&scores) }
}

/// Figures of rounds put together as those of a lane are: without a zero by their geometric mean.
fn level(figures: &[f64]) -> Option<Level> {
    match figures.contains(&0.0) {
        true => estimate::level_with_zeros(figures).filter(|level| level.mean > 0.0),
        false => estimate::level(figures),
    }
}

/// The scores of rounds, put together as any other figure is.
fn together(scores: &[Score]) -> Option<Io500Score> {
    let of = |figure: fn(&Score) -> f64| level(&scores.iter().map(figure).collect::<Vec<f64>>());
    let (total, bandwidth, metadata) = (of(|of| of.total)?, of(|of| of.bandwidth)?, of(|of| of.metadata)?);
    Some(Io500Score {
        score: total.mean,
        low: total.interval.map(|(low, _)| low),
        high: total.interval.map(|(_, high)| high),
        bandwidth: bandwidth.mean,
        metadata: metadata.mean,
        rounds: total.count as u32,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn is_near(found: f64, published: f64) {
        assert!((found - published).abs() < 1.1e-6, "{found} is not {published}");
    }

    // Runs that others have published with their scores, all figures to six digits: IO500 io500-sc20_v3 on DDN EXAScaler in
    // a cloud, and io500-isc24_v3 on a share of CephFS.
    #[test]
    fn the_score_is_that_of_published_runs() {
        let found = score(
            &[6.173493, 0.328757, 6.647157, 0.902677],
            &[21.002955, 9.818279, 255.641154, 63.395256, 27.472745, 11.505903, 10.385374, 7.021386],
        )
        .expect("a score");
        is_near(found.bandwidth, 1.868072);
        is_near(found.metadata, 22.952705);
        is_near(found.total, 6.548076);
        let found = score(
            &[0.146316, 0.180060, 0.030113, 0.033889],
            &[9.456456, 8.872480, 22.930156, 48.373593, 38.426501, 4.816575, 0.883227, 32.387150],
        )
        .expect("a score");
        is_near(found.bandwidth, 0.072008);
        is_near(found.metadata, 12.206056);
    }

    #[test]
    fn a_phase_that_did_nothing_makes_the_score_nothing_and_one_without_a_figure_leaves_none() {
        assert_eq!(score(&[4.0, 0.0], &[1.0]), Some(Score { bandwidth: 0.0, metadata: 1.0, total: 0.0 }));
        assert_eq!((score(&[1.0], &[]), score(&[1.0], &[f64::NAN])), (None, None));
        is_near(score(&[4.0, 1.0], &[8.0, 2.0]).expect("a score").total, 8_f64.sqrt());
    }

    type Of = (&'static str, Io500Kind, BTreeMap<u32, Figure>);

    /// All phases, each with these figures in rounds 1, 2, …
    fn phases(figures: &[f64], seconds: f64) -> Vec<Of> {
        let rounds =
            || (1..).zip(figures.iter().map(|&figure| Figure { figure, seconds, read_again: false })).collect();
        IO500_PHASES.iter().map(|&(name, counts)| (name, counts, rounds())).collect()
    }

    #[test]
    fn each_round_has_one_score_and_they_have_an_interval_like_any_figure() {
        let found = of_figures(&phases(&[100.0, 200.0, 400.0], 310.0));
        let score = found.score.expect("a score");
        is_near(score.score, 200.0);
        is_near(score.bandwidth, 200.0);
        is_near(score.metadata, 200.0);
        assert_eq!(score.rounds, 3);
        let expected = estimate::level(&[100.0, 200.0, 400.0]).and_then(|of| of.interval).expect("an interval");
        let (low, high) = (score.low.expect("low"), score.high.expect("high"));
        assert!((low / expected.0 - 1.0).abs() < 1e-9 && (high / expected.1 - 1.0).abs() < 1e-9, "{low} {high}");
        // Means of phases have the score that the rounds have.
        assert!(found.phases.iter().all(|phase| (phase.figure - 200.0).abs() < 1e-9 && phase.rounds == 3));
        assert!(found.is_valid() && found.missing().next().is_none());
    }

    #[test]
    fn a_run_shorter_than_the_rules_is_not_valid_and_only_writing_has_to_be_long() {
        let mut all = phases(&[1.0], 310.0);
        let set = |all: &mut Vec<Of>, name: &str, seconds: f64| {
            let (.., rounds) = all.iter_mut().find(|of| of.0 == name).expect("a phase");
            rounds.values_mut().for_each(|of| of.seconds = seconds);
        };
        set(&mut all, "ior-easy-read", 1.0);
        set(&mut all, "mdtest-hard-delete", 1.0);
        assert!(of_figures(&all).is_valid());
        set(&mut all, "mdtest-hard-write", 299.9);
        let found = of_figures(&all);
        let short: Vec<&str> = found.phases.iter().filter(|of| of.is_too_short()).map(|of| of.name.as_str()).collect();
        assert_eq!((short, found.is_valid()), (vec!["mdtest-hard-write"], false));
        assert_eq!(found.score.map(|of| (of.rounds, of.low)), Some((1, None)), "its score is told all the same");
    }

    #[test]
    fn a_round_in_which_a_phase_stood_still_counts_as_nothing_and_is_not_passed_over() {
        let mut all = phases(&[4.0, 4.0], 310.0);
        all[0].2.insert(2, Figure { figure: 0.0, seconds: 310.0, read_again: true });
        let found = of_figures(&all);
        assert_eq!(found.score.map(|of| (of.score.round(), of.low, of.rounds)), Some((2.0, None, 2)));
        assert_eq!((found.phases[0].figure.round(), found.phases[1].figure.round()), (2.0, 4.0));
        assert!(found.phases[0].read_again && !found.phases[1].read_again);
    }

    #[test]
    fn rounds_without_all_phases_have_no_score() {
        let mut all = phases(&[1.0, 2.0], 310.0);
        all[4].2.remove(&1);
        let found = of_figures(&all);
        assert_eq!(found.score.map(|of| (of.rounds, of.score.round())), Some((1, 2.0)));
        all[4].2.clear();
        let found = of_figures(&all);
        assert_eq!((found.score, found.is_valid()), (None, false));
        assert_eq!(found.missing().collect::<Vec<_>>(), ["find"]);
    }
}
