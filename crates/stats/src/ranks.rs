//! What the ranks of an MPI job did each by itself, and which of them stays far behind (method 10).

use crate::estimate::median;
use crate::series::{LaneSeries, Series};
use crate::student::incomplete_beta;
use model::findings::{NetworkUse, RanksFinding, RanksRow, ResultFinding, Straggler};
use model::ranks::RankFigures;
use model::record::Record;
use model::trial::SystemUse;
use std::collections::BTreeMap;

/// From this share below the mean of the others on the slowest rank of a round is far behind (chosen).
const FAR: f64 = 0.2;
/// From so many bytes a second on one machine's network is told of too (chosen: what machines tell each other all day is less).
const TOLD_BYTES_PER_SECOND: f64 = 1e6;
/// How often chance alone may name a straggler, in a whole race.
const CHANCE: f64 = 0.05;

/// What ranks did, for each result that they have figures of; empty where no job raced.
pub(crate) fn findings(record: &Record, results: &[ResultFinding]) -> Vec<RanksFinding> {
    let plan = &record.header.plan;
    if plan.ranks.is_none() {
        return Vec::new();
    }
    // Those that are planned: what was said of a race that goes on stays said.
    let tries = plan.workloads.iter().map(|of| of.groups().len()).sum::<usize>() * record.header.lanes.len();
    let mut known: BTreeMap<&str, Series> = BTreeMap::new();
    let mut found = Vec::new();
    for result in results {
        let name = result.workload.as_str();
        let series = known.entry(name).or_insert_with(|| Series::new(record, name));
        let of_lane = |lane: &LaneSeries| {
            let row = row(&lane.lane.name, &rounds(lane, &result.group), tries)?;
            Some(RanksRow { network: network(lane, &result.group, row.nodes), ..row })
        };
        let rows: Vec<RanksRow> = series.lanes.iter().filter_map(of_lane).collect();
        if !rows.is_empty() {
            let (workload, title, group) = (result.workload.clone(), result.title.clone(), result.group.clone());
            found.push(RanksFinding { workload, title, group, rows });
        }
    }
    found
}

/// The figures of rounds that as many ranks did as the last one. Anybody may have written a record: what is no figure
/// is none.
fn rounds(lane: &LaneSeries, group: &str) -> Vec<RankFigures> {
    let all: Vec<RankFigures> = lane.group(group).filter_map(|(_, of)| of.ranks.as_deref().copied()).collect();
    let Some((ranks, nodes)) = all.last().map(|of| (of.ranks, of.nodes)) else { return Vec::new() };
    all.into_iter().filter(|of| (of.ranks, of.nodes) == (ranks, nodes) && is_whole(of)).collect()
}

fn is_whole(of: &RankFigures) -> bool {
    let figures = [
        of.lowest_operations_per_second,
        of.mean_operations_per_second,
        of.highest_operations_per_second,
        of.spread,
        of.start_spread_seconds,
        of.first_done_seconds,
        of.last_done_seconds,
    ];
    of.ranks > 0 && figures.iter().all(|figure| figure.is_finite() && *figure >= 0.0)
}

fn row(lane: &str, rounds: &[RankFigures], tries: usize) -> Option<RanksRow> {
    let last = rounds.last()?;
    let middle = |figure: fn(&RankFigures) -> f64| median(rounds.iter().map(figure)).unwrap_or(0.0);
    Some(RanksRow {
        lane: lane.to_owned(),
        ranks: last.ranks,
        nodes: last.nodes,
        rounds: rounds.len() as u32,
        lowest_operations_per_second: middle(|of| of.lowest_operations_per_second),
        mean_operations_per_second: middle(|of| of.mean_operations_per_second),
        highest_operations_per_second: middle(|of| of.highest_operations_per_second),
        spread: middle(|of| of.spread),
        start_spread_seconds: middle(|of| of.start_spread_seconds),
        first_done_seconds: middle(|of| of.first_done_seconds),
        last_done_seconds: middle(|of| of.last_done_seconds),
        network: None,
        straggler: straggler(rounds, tries),
    })
}

/// What networks of all machines carried while the group was measured; `None`: nothing, or hardly anything of one machine.
fn network(lane: &LaneSeries, group: &str, nodes: u32) -> Option<NetworkUse> {
    let all = lane.group(group).map(|(trial, of)| of.system.as_ref().unwrap_or(&trial.system));
    let measured: Vec<&SystemUse> = all.filter(|of| of.window_seconds.is_finite() && of.window_seconds > 0.0).collect();
    let middle = |bytes: fn(&SystemUse) -> u64| median(measured.iter().map(|of| bytes(of) as f64 / of.window_seconds));
    let (received, sent) = (middle(|of| of.network_received_bytes)?, middle(|of| of.network_sent_bytes)?);
    let least = if nodes > 1 { f64::MIN_POSITIVE } else { TOLD_BYTES_PER_SECOND };
    let is_told = received.max(sent) >= least;
    is_told.then_some(NetworkUse { received_bytes_per_second: received, sent_bytes_per_second: sent })
}

/// The rank that was the slowest and far behind in most rounds, where chance would not name any so often: of N equal
/// ranks each is the slowest of a round with 1/N. Who did nothing may be one of several, of which the first has its number
/// in the record: such a round names nobody. `tries`: rows of the race that may name one.
fn straggler(rounds: &[RankFigures], tries: usize) -> Option<Straggler> {
    let ranks = rounds.first().map(|of| of.ranks).filter(|ranks| *ranks > 1)?;
    let all = f64::from(ranks);
    let mut behind: BTreeMap<(u32, u32), Vec<f64>> = BTreeMap::new();
    for of in rounds {
        let others = (of.mean_operations_per_second * all - of.lowest_operations_per_second) / (all - 1.0);
        let far = of.lowest_operations_per_second > 0.0 && of.lowest_operations_per_second <= (1.0 - FAR) * others;
        if far {
            let share = 1.0 - of.lowest_operations_per_second / others;
            behind.entry((of.slowest_rank, of.slowest_node)).or_default().push(share);
        }
    }
    let ((rank, node), shares) = behind.into_iter().max_by_key(|(_, shares)| shares.len())?;
    let (times, of) = (shares.len(), rounds.len());
    // So often at least with 1/N, for any of the ranks and in any of the rows.
    let chance = incomplete_beta(times as f64, (of - times + 1) as f64, all.recip()) * all * tries.max(1) as f64;
    let below = median(shares)?;
    (2 * times > of && chance <= CHANCE).then_some(Straggler { rank, node, rounds: times as u32, of: of as u32, below })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A round of so many ranks at 100 each, but for one that does `lowest`.
    fn round(ranks: u32, slowest_rank: u32, lowest: f64) -> RankFigures {
        RankFigures {
            ranks,
            nodes: 2,
            lowest_operations_per_second: lowest,
            mean_operations_per_second: (100.0 * f64::from(ranks - 1) + lowest) / f64::from(ranks),
            highest_operations_per_second: 100.0,
            slowest_rank,
            slowest_node: slowest_rank / 2,
            ..RankFigures::default()
        }
    }

    #[test]
    fn a_rank_that_is_far_behind_in_most_rounds_is_named_and_chance_is_not() {
        let always: Vec<RankFigures> = (0..6).map(|_| round(4, 3, 60.0)).collect();
        let found = straggler(&always, 10).expect("4 · (1/4)^6 · 10 = 0.0098");
        assert_eq!((found.rank, found.node, found.rounds, found.of), (3, 1, 6, 6));
        assert!((found.below - 0.4).abs() < 1e-9, "of the others, not of all: {found:?}");
        assert_eq!(straggler(&always, 52), None, "0.0508: one of so many rows may be chance");
        let turns: Vec<RankFigures> = (0..8).map(|at| round(4, at % 4, 60.0)).collect();
        assert_eq!(straggler(&turns, 1), None);
        // Two ranks take turns by chance as a coin does.
        let two: Vec<RankFigures> = (0..5).map(|_| round(2, 1, 50.0)).collect();
        assert_eq!(straggler(&two, 1), None, "2 · (1/2)^5 = 0.0625");
        // 3 of 6 rounds are beyond chance among 64 ranks, and not most.
        let half: Vec<RankFigures> = (0..6).map(|at| round(64, if at < 3 { 9 } else { at }, 60.0)).collect();
        assert_eq!(straggler(&half, 1), None);
        let most: Vec<RankFigures> = (0..6).map(|at| round(64, if at < 4 { 9 } else { at }, 60.0)).collect();
        assert_eq!(straggler(&most, 1).map(|of| (of.rank, of.rounds, of.of)), Some((9, 4, 6)));
    }

    #[test]
    fn who_is_the_slowest_by_little_or_alone_is_no_straggler() {
        let near: Vec<RankFigures> = (0..20).map(|_| round(4, 3, 81.0)).collect();
        assert_eq!(straggler(&near, 1), None);
        assert_eq!(straggler(&[round(1, 0, 100.0); 20], 1), None);
        assert_eq!(straggler(&[], 1), None);
    }

    #[test]
    fn who_did_nothing_in_a_round_may_be_one_of_several_and_is_not_named_for_it() {
        let nothing: Vec<RankFigures> = (0..20).map(|_| round(64, 0, 0.0)).collect();
        assert_eq!(straggler(&nothing, 1), None);
        let some: Vec<RankFigures> = (0..6).map(|at| round(64, 9, if at < 2 { 0.0 } else { 60.0 })).collect();
        assert_eq!(straggler(&some, 1).map(|of| (of.rank, of.rounds, of.of)), Some((9, 4, 6)));
    }

    #[test]
    fn one_round_names_nobody_and_two_only_where_ranks_are_many() {
        let of =
            |ranks: u32, rounds: usize, tries: usize| straggler(&vec![round(ranks, 1, 10.0); rounds], tries).is_some();
        assert!(!of(4096, 1, 1), "4096 · 1/4096 = 1: some rank is the slowest of every round");
        assert!(!of(16, 2, 1), "16 · (1/16)^2 = 0.0625");
        assert!(!of(64, 2, 24), "24 · 64 · (1/64)^2 = 0.375");
        assert!(of(1024, 2, 24), "24 · 1024 · (1/1024)^2 = 0.023");
    }

    #[test]
    fn a_row_is_the_median_of_its_rounds() {
        let rounds = [round(4, 0, 90.0), round(4, 1, 70.0), round(4, 2, 80.0)];
        let found = row("ext4", &rounds, 1).expect("a row");
        assert_eq!((found.lowest_operations_per_second, found.highest_operations_per_second), (80.0, 100.0));
        assert_eq!((found.mean_operations_per_second, found.rounds, found.ranks, found.nodes), (95.0, 3, 4, 2));
        assert_eq!(row("ext4", &[], 1), None);
    }
}
