//! What the ranks of an MPI job did, as a record tells it.

use crate::common::{io, lane, record, trial};
use model::findings::Scaling;
use model::plan::Rounds;
use model::ranks::{JobRanks, LadderStep, NodeClock, NodeClocks, RankFigures, RankLadder};
use model::record::Record;
use model::workload::Pattern;
use stats::judge;

/// Two lanes that four ranks raced: in lane xfs rank 2 does a third of what the others do.
fn raced() -> Record {
    let workload = io("write", Pattern::RandWrite, 1, 0);
    let mut race = record(vec![lane("ext4"), lane("xfs")], vec![workload.clone()], Rounds::Fixed(8), false);
    for (round, name) in (1..=8).flat_map(|round| [(round, "ext4"), (round, "xfs")]) {
        let lowest = if name == "xfs" { 100.0 } else { 290.0 };
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
    assert_eq!((a.lane.as_str(), a.ranks, a.nodes, a.rounds, a.last_done_seconds), ("ext4", 4, 2, 8, 4.5));
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

#[test]
fn the_line_that_races_again_begins_with_what_starts_as_many_ranks() {
    let mut race = raced();
    race.header.plan.command_line = ["fairlane-mpi", "race", "/a", "--seed", "1"].map(str::to_owned).to_vec();
    let again = |race: &Record| judge::findings(race).command_line.join(" ");
    assert_eq!(again(&race), "mpirun -n 4 fairlane-mpi race /a --seed 1");
    let nodes = race.header.plan.ranks.as_ref().expect("a job").nodes;
    for no_job in [0, u32::MAX] {
        let mut race = race.clone();
        race.header.plan.ranks.as_mut().expect("a job").ranks = no_job;
        assert_eq!(again(&race), "fairlane-mpi race /a --seed 1", "{no_job} ranks");
    }
    race.header.plan.ranks.as_mut().expect("a job").srun = true;
    assert_eq!(again(&race), format!("srun -N {nodes} -n 4 fairlane-mpi race /a --seed 1"));
    // Anybody may have written a record.
    for (program, line) in [("fairlane", "fairlane race /a --seed 1"), ("rm", "")] {
        race.header.plan.command_line[0] = program.to_owned();
        assert_eq!(again(&race), line);
    }
}

#[test]
fn networks_are_told_of_several_nodes_and_of_one_where_much_passed() {
    let told = |nodes: u32, bytes: u64| {
        let mut race = raced();
        for trial in &mut race.trials {
            let system = &mut trial.system;
            system.window_seconds = 2.0;
            (system.network_received_bytes, system.network_sent_bytes) = (bytes, bytes / 10);
            trial.groups[0].ranks.as_mut().expect("ranks").nodes = nodes;
        }
        let of = judge::findings(&race).ranks[0].rows[0].network;
        of.map(|of| (of.received_bytes_per_second, of.sent_bytes_per_second))
    };
    assert_eq!([told(2, 0), told(1, 1_000_000)], [None; 2]);
    assert_eq!([told(2, 1_000_000), told(1, 4_000_000)], [Some((5e5, 5e4)), Some((2e6, 2e5))]);
}

#[test]
fn clocks_of_nodes_are_told_with_all_that_is_not_known_of_them() {
    let told = |race: &Record| {
        let all = judge::findings(race).warnings;
        all.iter().map(|said| said.as_str().to_owned()).filter(|said| said.contains("nodes")).collect::<Vec<_>>()
    };
    let mut race = raced();
    assert_eq!(told(&race), Vec::<String>::new());
    let node = NodeClock {
        node: 1,
        ahead_seconds: -0.25,
        ahead_uncertainty_seconds: 0.01,
        drift_seconds: 3e-5,
        drift_uncertainty_seconds: 1e-5,
    };
    race.clocks = Some(Box::new(NodeClocks { seconds: 60.0, nodes: vec![node] }));
    for (trial, spread) in race.trials.iter_mut().zip([2e-4, 3e-4]) {
        let ranks = trial.groups[0].ranks.as_mut().expect("ranks");
        (ranks.release_spread_seconds, ranks.release_uncertainty_seconds) = (spread, 1e-4);
    }
    let expected = [
        "clocks of nodes (2 of 2) told times at most 260 ms apart before the race, and from its begin to its end, 60 s, drifted by at most 40 us: no figure rests on \
         their agreement",
        "nodes were let go at most 400 us apart (windows that were looked at: 2), which counts as one moment",
    ];
    assert_eq!(told(&race), expected);
    race.header.plan.ranks = None;
    assert_eq!(told(&race), Vec::<String>::new(), "no job raced");
}

#[test]
fn a_ladder_is_told_lane_by_lane_by_the_trials_of_its_steps() {
    let work = io("write", Pattern::RandWrite, 1, 0);
    let steps = [1, 2].map(|ranks| work.of_ranks(ranks, 2));
    let mut race = record(vec![lane("ext4"), lane("xfs")], steps.to_vec(), Rounds::Fixed(8), false);
    for (step, rates) in steps.iter().zip([[1000.0, 1000.0], [2000.0, 1100.0]]) {
        for (round, at) in (1..=8).flat_map(|round| [(round, 0), (round, 1)]) {
            let rate = rates[at] * (1.0 + 0.001 * f64::from(round % 3));
            race.trials.push(trial(["ext4", "xfs"][at], step, round, rate));
        }
    }
    let step = |(of, ranks): (&model::workload::Workload, u32)| LadderStep { workload: of.name.clone(), ranks };
    let ladder = RankLadder { steps: steps.iter().zip([1, 2]).map(step).collect() };
    // Work on two ladders is work on one.
    race.header.plan.ranks = Some(JobRanks { ranks: 2, nodes: 1, ladders: vec![ladder.clone(), ladder], srun: false });
    let findings = judge::findings(&race);
    let [found] = &findings.ladders[..] else { panic!("{:?}", findings.ladders) };
    assert_eq!((found.title.as_str(), found.group.as_str()), ("write 4 KiB", ""));
    assert_eq!(found.unit, "operations/s");
    let [a, b] = &found.lanes[..] else { panic!("{found:?}") };
    assert_eq!((a.lane.as_str(), a.scaling), ("ext4", Scaling::Straight));
    assert!(matches!(b.scaling, Scaling::Bends { from: 1, to: 2, perhaps_before: false, .. }), "{b:?}");
    let share = b.rows[1].share.expect("a share");
    assert!((share.share - 0.1).abs() < 1e-3 && share.low < 0.1 && share.high > 0.1, "{share:?}");
    assert_eq!(b.rows[0].share, None);
    race.trials.retain(|trial| trial.workload == "write");
    assert!(judge::findings(&race).ladders.is_empty(), "one number is no ladder");
}
