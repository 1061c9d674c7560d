//! What the ranks of an MPI job did, as a record tells it.

use crate::common::{io, lane, record, trial};
use model::plan::Rounds;
use model::ranks::{JobRanks, RankFigures};
use model::record::Record;
use model::workload::Pattern;
use stats::judge;

/// Two lanes that four ranks raced: in lane b rank 2 does a third of what the others do.
fn raced() -> Record {
    let workload = io("write", Pattern::RandWrite, 1, 0);
    let mut race = record(vec![lane("a"), lane("b")], vec![workload.clone()], Rounds::Fixed(8), false);
    for (round, name) in (1..=8).flat_map(|round| [(round, "a"), (round, "b")]) {
        let lowest = if name == "b" { 100.0 } else { 290.0 };
        let ranks = RankFigures {
            ranks: 4,
            nodes: 2,
            lowest_operations_per_second: lowest,
            mean_operations_per_second: (900.0 + lowest) / 4.0,
            highest_operations_per_second: 300.0,
            slowest_rank: 2,
            slowest_node: 1,
            last_done_seconds: f64::from(round),
            ..RankFigures::default()
        };
        let mut of_round = trial(name, &workload, round, 1000.0);
        of_round.groups[0].ranks = Some(Box::new(ranks));
        race.trials.push(of_round);
    }
    race.header.plan.ranks = Some(JobRanks { ranks: 4, nodes: 2, ..JobRanks::default() });
    race
}

#[test]
fn a_record_of_a_job_tells_what_its_ranks_did_in_each_lane_and_who_holds_them_up() {
    let mut race = raced();
    let findings = judge::findings(&race);
    let [found] = &findings.ranks[..] else { panic!("{:?}", findings.ranks) };
    assert_eq!((found.workload.as_str(), found.group.as_str()), ("write", "write"));
    let [a, b] = &found.rows[..] else { panic!("{found:?}") };
    assert_eq!((a.lane.as_str(), a.ranks, a.nodes, a.rounds, a.last_done_seconds), ("a", 4, 2, 8, 4.5));
    assert_eq!((a.lowest_operations_per_second, a.highest_operations_per_second), (290.0, 300.0));
    assert_eq!(a.straggler, None, "3 % behind");
    let straggler = b.straggler.expect("rank 2");
    assert_eq!((straggler.rank, straggler.node, straggler.rounds, straggler.of), (2, 1, 8, 8));
    assert!((straggler.below - 2.0 / 3.0).abs() < 1e-9, "{straggler:?}");
    // Anybody may have written a record.
    for of in race.trials.iter_mut().flat_map(|trial| &mut trial.groups).filter_map(|group| group.ranks.as_mut()) {
        of.spread = f64::NAN;
    }
    assert!(judge::findings(&race).ranks.is_empty(), "what is no figure is none");
    let mut alone = raced();
    alone.header.plan.ranks = None;
    assert!(judge::findings(&alone).ranks.is_empty(), "no job raced");
}
