//! Lanes whose medians over slices hide something: means decide, for all lanes alike, and what was decided stands.

use crate::common;

use common::{io, lane, noise, record, small_files, trial};
use model::findings::{Findings, ResultFinding, Verdict};
use model::plan::Rounds;
use model::record::Record;
use model::sentence::Weight;
use model::trial::Trial;
use model::workload::{Pattern, Workload};
use stats::judge;

const SLICES: usize = 6;

/// A trial of six slices of 0.1 s at this rate, the third of which stands still for so long. Its figure is the median.
fn sliced(name: &str, workload: &Workload, round: u32, rates: [f64; SLICES], stall: f64) -> Trial {
    let mut trial = trial(name, workload, round, 1.0);
    for group in &mut trial.groups {
        let seconds = |slice: usize| 0.1 + if slice == 2 { stall } else { 0.0 };
        let done = |slice: usize| 0.1 * rates[slice];
        group.slices_operations_per_second = (0..SLICES).map(|slice| done(slice) / seconds(slice)).collect();
        let mut sorted = group.slices_operations_per_second.clone();
        sorted.sort_by(f64::total_cmp);
        group.operations = (0..SLICES).map(done).sum::<f64>().round() as u64;
        group.seconds = (0..SLICES).map(seconds).sum();
        group.metrics = [("operations_per_second".to_owned(), (sorted[2] + sorted[3]) / 2.0)].into();
    }
    trial
}

/// ext4 and xfs at 10,000 operations a second; xfs stands still for a second in every third round.
fn race(workload: Workload, rounds: u32, stall: f64) -> Record {
    let mut race = record(vec![lane("ext4"), lane("xfs")], vec![workload.clone()], Rounds::Auto, true);
    let mut noise = noise(4);
    for round in 1..=rounds {
        for name in ["ext4", "xfs"] {
            let stall = if name == "xfs" && round % 3 == 2 { stall } else { 0.0 };
            let level = 10_000.0 * (0.005 * noise.next()).exp();
            let rates = std::array::from_fn(|_| level * (0.02 * noise.next()).exp());
            race.trials.push(sliced(name, &workload, round, rates, stall));
        }
    }
    race
}

fn only(race: &Record) -> ResultFinding {
    judge::judge_workload(race, "commit").remove(0)
}

fn commits() -> Workload {
    io("commit", Pattern::Append, 1, 1)
}

#[test]
fn a_lane_that_stalls_in_some_rounds_is_judged_by_its_means() {
    let steady = only(&race(commits(), 8, 0.0));
    assert!(!steady.by_means && steady.warnings.is_empty(), "{:?}", steady.warnings);
    assert_eq!(steady.pairs[0].verdict, Verdict::Tie);
    let of = only(&race(commits(), 8, 1.0));
    assert!(of.by_means && of.stalls_matter);
    let said: &str = &of.warnings[0];
    assert!(
        said.starts_with(
            "xfs stalls in 3 of 8 rounds: its mean over all of the time is 31 % below the median of its slices; "
        ),
        "{said}"
    );
    assert_eq!(of.warnings.len(), 1, "{:?}", of.warnings);
    // 0.6 of 1.6 s in three of eight rounds.
    let (ext4, xfs) = (&of.estimates[0], &of.estimates[1]);
    assert!((xfs.mean / ext4.mean - 0.375_f64.powf(3.0 / 8.0)).abs() < 0.02, "{} {}", xfs.mean, ext4.mean);
    assert!((xfs.mean_to_median.unwrap() - 0.375_f64.powf(3.0 / 8.0)).abs() < 0.01 && ext4.mean_to_median.is_none());
    assert_ne!(of.pairs[0].verdict, Verdict::Tie, "a lane that stands still for a second is no tie");
    let ratio = of.pairs[0].ratio.unwrap();
    assert!((ratio - xfs.mean / ext4.mean).abs() < 0.01, "one and the same figure: {ratio}");
}

/// ext4 at 10,000 operations a second and xfs a quarter faster in six rounds; `event`: xfs stands still for a second in
/// one of them.
fn a_quarter_faster(noise: &mut common::sample::Normal, event: Option<u32>) -> Record {
    let workload = commits();
    let mut race = record(vec![lane("ext4"), lane("xfs")], vec![workload.clone()], Rounds::Auto, true);
    for round in 1..=6 {
        for (name, level) in [("ext4", 10_000.0), ("xfs", 12_500.0)] {
            let stall = if name == "xfs" && event == Some(round) { 1.0 } else { 0.0 };
            let level = level * (0.02 * noise.next()).exp();
            let rates = std::array::from_fn(|_| level * (0.05 * noise.next()).exp());
            race.trials.push(sliced(name, &workload, round, rates, stall));
        }
    }
    race
}

#[test]
fn one_event_in_a_race_is_told_and_takes_no_verdict_away() {
    let mut noise = noise(9);
    let (mut by_means, mut kept, mut told) = (0, 0, 0);
    for race in 0..400 {
        let hit = race % 6 + 1;
        let of = only(&a_quarter_faster(&mut noise, Some(hit)));
        by_means += usize::from(of.by_means);
        // xfs is named first.
        kept += usize::from(of.pairs[0].a == "xfs" && of.pairs[0].verdict == Verdict::Faster);
        let told_so = |said: &str| {
            let of_it = said.strip_prefix(&format!("in round {hit} of 6 xfs took "));
            of_it.is_some_and(|rest| rest.ends_with(" longer than its other slices say"))
        };
        told += usize::from(of.warnings.iter().any(|of| told_so(of) && of.weight() == Weight::Figures));
    }
    eprintln!("means decide in {by_means}, the verdict is kept in {kept}, the event told in {told} of 400");
    assert!(by_means <= 20 && kept >= 380 && told >= 380, "{by_means} {kept} {told}");
    let quiet = only(&a_quarter_faster(&mut noise, None));
    assert!(quiet.warnings.is_empty(), "{:?}", quiet.warnings);
}

#[test]
fn whether_warm_up_is_left_out_of_means_is_found_out_at_the_look() {
    // xfs stalls in every third round; three of the first six begin with warm-up, and so does the seventh.

    let mut whole = race(commits(), 7, 1.0);
    for trial in whole.trials.iter_mut().filter(|trial| trial.lane == "xfs") {
        let warm = trial.round <= 3 || trial.round == 7;
        for group in &mut trial.groups {
            let at = |window: usize| if warm && window < 10 { 2_000.0 } else { 10_000.0 } + (window % 3) as f64;
            group.windows_operations_per_second = (0..60).map(at).collect();
            group.windows_seconds = 0.01;
        }
    }
    let mut at_six = whole.clone();
    at_six.trials.retain(|trial| trial.round <= 6);
    let (then, now) = (only(&at_six), only(&whole));
    assert!(then.by_means && now.by_means);
    let figures = |of: &ResultFinding| (of.pairs[0].ratio, of.pairs[0].low, of.pairs[0].high, of.pairs[0].verdict);
    assert_eq!(figures(&then), figures(&now), "rounds past the look change none of its figures");
    // The cut is part of them: with warm-up in most rounds of the look the figure is another one.
    let warm: Vec<f64> =
        at_six.trials.iter().find(|trial| trial.lane == "xfs").unwrap().groups[0].windows_operations_per_second.clone();
    for trial in at_six.trials.iter_mut().filter(|trial| trial.lane == "xfs") {
        trial.groups[0].windows_operations_per_second.clone_from(&warm);
    }
    assert_ne!(only(&at_six).pairs[0].ratio, then.pairs[0].ratio);
}

#[test]
fn records_without_slices_and_single_slices_keep_their_figures() {
    let mut old = race(commits(), 8, 1.0);
    for group in old.trials.iter_mut().flat_map(|trial| &mut trial.groups) {
        group.slices_operations_per_second.clear();
    }
    let of = only(&old);
    assert!(!of.by_means && of.warnings.is_empty());
    assert_eq!(of.pairs[0].verdict, Verdict::Tie, "as it was decided then");
}

#[test]
fn what_was_decided_at_a_look_stands_whatever_stalls_come_later() {
    let mut later = race(commits(), 14, 0.0);
    let mut at_six = later.clone();
    at_six.trials.retain(|trial| trial.round <= 6);
    let then = only(&at_six).pairs[0].clone();
    // Neither lane races further for this pair's sake: a third one does, and stalls.
    at_six.header.lanes.push(lane("btrfs"));
    later.header.lanes.push(lane("btrfs"));
    let workload = commits();
    for round in 1..=14 {
        for race in [&mut at_six, &mut later] {
            let stall = if round > 6 { 2.0 } else { 0.0 };
            race.trials.push(sliced("btrfs", &workload, round, [9_000.0 + f64::from(round); SLICES], stall));
        }
    }
    at_six.trials.retain(|trial| trial.round <= 6);
    later.trials.retain(|trial| trial.round <= 6 || trial.lane != "xfs");
    let find =
        |race: &Record| only(race).pairs.iter().find(|pair| pair.b == "ext4" && pair.a == "xfs").unwrap().clone();
    assert!(only(&later).by_means && !only(&at_six).by_means);
    assert_eq!(find(&later), find(&at_six));
    assert_eq!(find(&at_six).verdict, then.verdict);
}

#[test]
fn all_groups_of_one_work_are_decided_alike_and_the_others_say_why() {
    let mut race = race(small_files(), 8, 0.0);
    for trial in race.trials.iter_mut().filter(|trial| trial.lane == "xfs") {
        // Creating takes twice the time that its median part says.
        trial.groups[0].seconds *= 2.0;
    }
    let Findings { results, .. } = judge::findings(&race);
    assert!(results.len() == 3 && results.iter().all(|of| of.by_means));
    assert!(
        results[0].warnings.iter().any(|said| said.contains("below the median of its parts")),
        "{:?}",
        results[0].warnings
    );
    let shared = "means over all of the time decide here, as in the rest of this work";
    assert!(results[1..].iter().all(|of| of.warnings.iter().any(|said| said == shared)));
    assert!(results.iter().all(|of| !of.stalls_matter), "nobody waits for each of them");
}

#[test]
fn the_longest_wait_is_that_of_all_rounds() {
    let mut race = race(commits(), 6, 0.0);
    for (at, trial) in race.trials.iter_mut().enumerate() {
        let max = if at == 4 { 310e6 } else { 12e6 };
        trial.groups[0].latency_ns = Some(model::trial::Latency { mean: 1e5, max, ..Default::default() });
    }
    let of = only(&race);
    assert_eq!(of.estimates.iter().map(|of| of.latency_max_ns).collect::<Vec<_>>(), [Some(310e6), Some(12e6)]);
    // Reads without a rate of their own are asked for in numbers: nobody waits for each.
    let mut reads = record(vec![lane("ext4")], vec![io("r", Pattern::RandRead, 32, 0)], Rounds::Auto, true);
    common::run(&mut reads, 6, &[1000.0], 0.01, 1);
    assert!(!judge::judge_workload(&reads, "r")[0].stalls_matter);
}
