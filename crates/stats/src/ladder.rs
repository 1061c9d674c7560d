//! What growing numbers of ranks bring, and where twice as many bring less than half of what they should (method 10.3).

use crate::compare::apart;
use crate::estimate;
use crate::series::Series;
use crate::stalls::{self, Means};
use model::findings::{LadderFinding, LadderLane, LadderRow, LadderShare, ResultFinding, Scaling};
use model::ranks::{LadderStep, RankLadder, untitled};
use model::record::Record;
use model::workload::Workload;
use std::collections::BTreeMap;

/// From this share of what added ranks should bring on a ladder goes straight up.
const HALF: f64 = 0.5;
/// An interval that leaves open whether half is brought is told up to this width: ten times what was due. Chosen.
const WIDEST: f64 = 10.0;
/// Two-sided p of all shares of a race together.
const TOGETHER: f64 = 0.05;

/// A step of a ladder, with its trials.
struct Step<'a> {
    ranks: u32,
    workload: &'a Workload,
    groups: Vec<String>,
    series: Series<'a>,
}

/// What one lane did with so many ranks.
struct Figures {
    row: LadderRow,
    /// Logarithms of its rounds, in their order; none where it stood still in some.
    logs: Vec<f64>,
}

/// Every ladder of a race, group by group; empty where there is none.
pub(crate) fn findings(record: &Record, results: &[ResultFinding]) -> Vec<LadderFinding> {
    let plan = &record.header.plan;
    let ladders = plan.ranks.as_ref().map(|of| of.ladders.as_slice()).unwrap_or_default();
    let mut planned: BTreeMap<&str, &Workload> =
        plan.workloads.iter().map(|workload| (workload.name.as_str(), workload)).collect();
    let shares: usize = ladders.iter().map(|ladder| shares(ladder, &planned)).sum();
    let p = TOGETHER / (shares * record.header.lanes.len()).max(1) as f64;
    let mut found = Vec::new();
    for ladder in ladders {
        let steps = steps(record, ladder, &mut planned);
        let Some(first) = steps.first() else { continue };
        for (at, group) in first.groups.iter().enumerate() {
            let result = results.iter().find(|of| of.workload == first.workload.name && of.group == *group);
            let Some(result) = result.filter(|of| stalls::is_rate(&of.metric)) else { continue };
            let of_lane = |lane: usize| lane_of(&steps, (lane, at), &result.metric, p);
            let lanes: Vec<LadderLane> = (0..record.header.lanes.len()).filter_map(of_lane).collect();
            if lanes.is_empty() {
                continue;
            }
            let group = match first.groups.len() {
                1 => String::new(),
                _ => untitled(group, first.ranks).to_owned(),
            };
            let title = untitled(&first.workload.title, first.ranks).to_owned();
            found.push(LadderFinding { title, group, unit: result.unit.clone(), lanes });
        }
    }
    found
}

/// How many shares a lane has on a ladder where all that was planned is raced: what was said of a race that goes on stays
/// said.
fn shares(ladder: &RankLadder, planned: &BTreeMap<&str, &Workload>) -> usize {
    let groups = |step: &LadderStep| planned.get(step.workload.as_str()).map(|of| of.groups().len());
    ladder.steps.len().saturating_sub(1) * ladder.steps.iter().find_map(groups).unwrap_or(0)
}

/// The steps that were raced, from the fewest ranks to the most. Anybody may have written a record: numbers that do not
/// grow, work in other groups, and work that stands on a ladder already are no steps.
fn steps<'a>(record: &'a Record, ladder: &RankLadder, planned: &mut BTreeMap<&str, &'a Workload>) -> Vec<Step<'a>> {
    let mut steps: Vec<Step> = Vec::new();
    for of in &ladder.steps {
        let Some(workload) = planned.remove(of.workload.as_str()) else { continue };
        let (groups, series) = (workload.groups(), Series::new(record, &workload.name));
        let follows = |last: &Step| last.ranks < of.ranks && last.groups.len() == groups.len();
        if series.trials > 0 && of.ranks > 0 && steps.last().is_none_or(follows) {
            steps.push(Step { ranks: of.ranks, workload, groups, series });
        }
    }
    // Where means decide at one step they do at all: rates of two kinds are no ladder. Their groups may have other names.
    let means: Vec<(Means, Vec<String>)> =
        steps.iter().map(|step| (step.series.means.clone(), step.groups.clone())).collect();
    for step in &mut steps {
        let named: Vec<Means> = means.iter().map(|(of, groups)| of.renamed(groups, &step.groups)).collect();
        step.series.decide_as(&named);
    }
    steps
}

/// One lane's way up; `None`: it has figures of one number of ranks at most. `at`: the lane, and the group's place.
fn lane_of(steps: &[Step], (lane, at): (usize, usize), metric: &str, p: f64) -> Option<LadderLane> {
    let of_step = |step: &Step| figures(step, lane, &step.groups[at], metric);
    let mut all: Vec<Figures> = steps.iter().filter_map(of_step).collect();
    for at in 1..all.len() {
        all[at].row.share = share(&all[at - 1], &all[at], p);
    }
    let scaling = scaling(&all);
    let rows: Vec<LadderRow> = all.into_iter().map(|of| of.row).collect();
    let lane = steps.first()?.series.lanes.get(lane)?.lane.name.clone();
    (rows.len() > 1).then_some(LadderLane { lane, rows, scaling })
}

fn figures(step: &Step, lane: usize, group: &str, metric: &str) -> Option<Figures> {
    let (ranks, stalled) = (step.ranks, step.series.stalled(group, metric));
    let lane = step.series.lanes.get(lane)?;
    let level = lane.level(group, metric, &stalled)?;
    let still = lane.stood_still(group, metric).iter().any(|round| !stalled.contains(round));
    let figures = lane.figures(group, metric).into_iter().filter(|(round, _)| !stalled.contains(round));
    let logs = figures.map(|(_, figure)| figure).filter(|figure| !still && estimate::usable(*figure));
    let logs = logs.map(f64::ln).collect();
    let nodes = lane.group(group).filter_map(|(_, of)| of.ranks.as_deref()).map(|of| of.nodes).max().unwrap_or(1);
    let (low, high) = level.interval.unzip();
    let row = LadderRow { ranks, nodes, mean: level.mean, low, high, rounds: level.count as u32, share: None };
    Some(Figures { row, logs })
}

/// What the added ranks brought. The steps were raced one after the other: as two races are compared, so are they.
fn share(before: &Figures, after: &Figures, p: f64) -> Option<LadderShare> {
    let found = apart(&before.logs, &after.logs, p)?;
    let due = f64::from(after.row.ranks) / f64::from(before.row.ranks) - 1.0;
    let of = |difference: f64| difference.exp_m1() / due;
    let (low, high) = (of(found.difference - found.half), of(found.difference + found.half));
    // From too few rounds it may reach from nothing to any number: it tells neither that half is brought nor that it is not.
    let tells_nothing = low < HALF && high >= HALF && high - low > WIDEST;
    (low.is_finite() && high.is_finite() && !tells_nothing).then(|| LadderShare {
        share: of(found.difference),
        low,
        high,
    })
}

/// The first step at which the whole interval lies below half.
fn scaling(all: &[Figures]) -> Scaling {
    let mut perhaps_before = false;
    for two in all.windows(2) {
        match two[1].row.share {
            Some(share) if share.high < HALF => {
                let (from, to) = (two[0].row.ranks, two[1].row.ranks);
                return Scaling::Bends { from, to, at_most: share.high, perhaps_before };
            }
            Some(share) if share.low >= HALF => {}
            _ => perhaps_before = true,
        }
    }
    if perhaps_before { Scaling::Open } else { Scaling::Straight }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Eight rounds of so many ranks at about this rate.
    fn at(ranks: u32, rate: f64, noise: f64) -> Figures {
        let logs = (0..8_usize).map(|round| rate.ln() + noise * [0.5, -1.0, 0.7, -0.2][round % 4]).collect();
        let row = LadderRow { ranks, nodes: 1, mean: rate, low: None, high: None, rounds: 8, share: None };
        Figures { row, logs }
    }

    fn climbed(mut all: Vec<Figures>) -> (Vec<Option<LadderShare>>, Scaling) {
        for at in 1..all.len() {
            all[at].row.share = share(&all[at - 1], &all[at], 0.05 / 3.0);
        }
        let scaling = scaling(&all);
        (all.into_iter().map(|of| of.row.share).collect(), scaling)
    }

    #[test]
    fn a_ladder_bends_where_added_ranks_surely_bring_less_than_half_of_what_those_before_did() {
        let rates = [(1, 100.0), (2, 190.0), (4, 247.0), (8, 250.0)];
        let (shares, scaling) = climbed(rates.into_iter().map(|(ranks, rate)| at(ranks, rate, 0.01)).collect());
        assert_eq!(shares[0], None);
        let near = |of: Option<LadderShare>, share: f64| {
            let of = of.expect("a share");
            assert!((of.share - share).abs() < 1e-9 && of.low < share && share < of.high, "{of:?}");
        };
        near(shares[1], 0.9);
        near(shares[2], 0.3);
        let Scaling::Bends { from: 2, to: 4, at_most, perhaps_before: false } = scaling else { panic!("{scaling:?}") };
        assert!(at_most > 0.3 && at_most < 0.4, "{at_most}");
    }

    #[test]
    fn steps_of_more_than_twice_as_many_are_held_against_what_they_should_bring() {
        let (shares, scaling) = climbed(vec![at(2, 100.0, 0.001), at(8, 400.0, 0.001)]);
        assert!(shares[1].is_some_and(|of| (of.share - 1.0).abs() < 1e-9), "{shares:?}");
        assert_eq!(scaling, Scaling::Straight);
        let (shares, scaling) = climbed(vec![at(2, 100.0, 0.001), at(8, 80.0, 0.001)]);
        assert!(shares[1].is_some_and(|of| of.share < 0.0), "more did less: {shares:?}");
        assert!(matches!(scaling, Scaling::Bends { from: 2, to: 8, .. }), "{scaling:?}");
    }

    #[test]
    fn what_noise_hides_is_open_and_a_bend_behind_it_is_one_at_the_latest() {
        let noisy = || vec![at(1, 100.0, 0.6), at(2, 150.0, 0.6)];
        assert_eq!(climbed(noisy()).1, Scaling::Open);
        let behind = [at(4, 150.0, 0.01), at(8, 151.0, 0.01)];
        let (_, scaling) = climbed(noisy().into_iter().chain(behind).collect());
        assert!(matches!(scaling, Scaling::Bends { from: 4, to: 8, perhaps_before: true, .. }), "{scaling:?}");
        let mut still = vec![at(1, 100.0, 0.01), at(2, 200.0, 0.01)];
        still[1].logs.clear();
        assert_eq!(climbed(still), (vec![None, None], Scaling::Open), "who stood still has no share");
    }

    #[test]
    fn two_rounds_tell_a_bend_only_far_beyond_their_noise_and_one_tells_none() {
        let few = |ranks: u32, rate: f64, noise: f64, rounds: usize| {
            let logs = [rate.ln() - noise, rate.ln() + noise][..rounds].to_vec();
            Figures { logs, ..at(ranks, rate, 0.0) }
        };
        let climb = |noise: f64, rounds: usize| {
            climbed([(1, 100.0), (2, 110.0)].map(|(ranks, rate)| few(ranks, rate, noise, rounds)).into()).1
        };
        assert!(matches!(climb(0.001, 2), Scaling::Bends { from: 1, to: 2, .. }));
        assert_eq!(climb(0.05, 2), Scaling::Open);
        assert_eq!(climb(0.001, 1), Scaling::Open);
    }

    #[test]
    fn an_interval_of_more_than_ten_times_what_is_due_is_told_only_where_it_decides() {
        let two_rounds =
            |ranks: u32, rate: f64| Figures { logs: vec![rate.ln() - 0.3, rate.ln() + 0.3], ..at(ranks, rate, 0.0) };
        let (shares, scaling) = climbed(vec![two_rounds(1, 100.0), two_rounds(2, 90.0)]);
        assert_eq!((shares, scaling), (vec![None, None], Scaling::Open));
        // A hundredth more ranks bring far less than they should: wide, and wholly below half.
        let (shares, scaling) = climbed(vec![at(100, 100.0, 0.01), at(101, 60.0, 0.01)]);
        assert!(shares[1].is_some_and(|of| of.high < HALF), "{shares:?}");
        assert!(matches!(scaling, Scaling::Bends { .. }), "{scaling:?}");
    }
}
