//! Whole races through lanes that are only numbers: rounds, looks, budgets, failures, Ctrl-C, and the record of each.

use super::Race;
use super::begin::{go_on_with, raced_seconds};
use super::fake_lanes::{FakeClock, FakeLanes, Fault, Speed, When};
use super::record_file::RecordFile;
use super::time::Expected;
use super::wait_idle::wait_until_quiet;
use crate::failure::{Failure, Status};
use model::Mark;
use model::event::Event;
use model::findings::{ResultFinding, Verdict};
use model::lane::Lane;
use model::plan::Rounds;
use model::record::{EndOutcome, Header, Line, Record};
use model::trial::{Outcome, Trial};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

pub(super) const RANDOM_WRITE: &str = "name = \"random-write\"\ntitle = \"random write\"\nkind = \"io\"\nrw = \"randwrite\"\n\
    bs = \"4KiB\"\nsize = \"16MiB\"\nslices = 4\nslice_seconds = 0.1";
pub(super) const RANDOM_READ: &str = "name = \"random-read\"\ntitle = \"random read\"\nkind = \"io\"\nrw = \"randread\"\n\
    bs = \"4KiB\"\nsize = \"16MiB\"\nslices = 4\nslice_seconds = 0.1";
const SMALL_FILES: &str = "name = \"small-files\"\ntitle = \"small files\"\nkind = \"small-files\"\nfiles = 1000\n\
    size = \"4KiB\"\ndirectories = 4";

/// A round of two lanes at random write, as a forecast would say; it takes a little less.
const EXPECTED: Expected = Expected { once: 0.0, checked: 0.0, round: 3.0, probe: 1.0 };

/// Where a race happens: its clock, and the folder of its record.
pub(super) struct Scene {
    pub(super) clock: FakeClock,
    folder: tempfile::TempDir,
    pub(super) header: Header,
}

impl Scene {
    pub(super) fn new(lanes: &[&str], workloads: &[&str], rounds: Rounds, budget_seconds: Option<f64>) -> Scene {
        let mut header = Record::parse(include_str!("../../tests/fixtures/schema1.jsonl")).unwrap().header;
        let plan = &mut header.plan;
        plan.lanes = lanes.iter().map(|lane| lane.parse().unwrap()).collect();
        plan.workloads = workloads.iter().map(|text| toml::from_str(text).unwrap()).collect();
        (plan.rounds, plan.budget_seconds, plan.first_answer) = (rounds, budget_seconds, false);
        let like = header.lanes.remove(0);
        let lane = |name: &&str| Lane { name: (*name).to_owned(), spec: (*name).to_owned(), ..like.clone() };
        header.lanes = lanes.iter().map(lane).collect();
        Scene { clock: FakeClock::new(), folder: tempfile::tempdir().unwrap(), header }
    }

    fn path(&self) -> PathBuf {
        self.folder.path().join("race.jsonl")
    }

    pub(super) fn lanes(&self, speeds: &[(f64, f64)]) -> FakeLanes<'_> {
        let speeds: Vec<Speed> = speeds.iter().map(|&(rate, noise)| Speed { rate, noise }).collect();
        FakeLanes::new(&self.clock, &speeds)
    }

    /// Races from the beginning.
    pub(super) fn race(&self, lanes: &mut FakeLanes) -> Raced {
        let file = RecordFile::begin(&self.path(), Line::Header(Box::new(self.header.clone()))).unwrap();
        self.run(Record::begin(self.header.clone()), file, lanes, false)
    }

    /// Goes on with the record that is there.
    fn go_on(&self, lanes: &mut FakeLanes) -> Raced {
        let (record, file) = go_on_with(read(&self.path()), self.header.plan.clone(), &self.path()).unwrap();
        self.run(record, file, lanes, false)
    }

    fn run(&self, record: Record, file: RecordFile, lanes: &mut FakeLanes, keep: bool) -> Raced {
        let expected = vec![EXPECTED; record.header.plan.workloads.len()];
        let mut events = Vec::new();
        let mut screen = |event: &Event| events.push(event.clone());
        let real = (&mut *lanes as &mut dyn super::raced_lanes::RacedLanes, &self.clock as _);
        let mut race = Race::new((record, file), real, expected, (keep, &self.clock.stop), &mut screen);
        let result = race.run();
        let in_memory = race.record;
        let record = read(&self.path());
        assert_eq!(record.trials, in_memory.trials, "the record on disk is the one that was judged");
        assert_eq!((record.end, &record.unreached), (in_memory.end, &in_memory.unreached));
        let notes = record.warnings.iter().filter(|note| !note.starts_with("nothing is explained: "));
        assert_eq!(notes.count(), 0, "{:?}", record.warnings);
        Raced { result, record, events }
    }
}

/// What came of a race.
pub(super) struct Raced {
    result: Result<(), Failure>,
    pub(super) record: Record,
    events: Vec<Event>,
}

impl Raced {
    fn trials<'a>(&'a self, workload: &'a str, lane: &'a str) -> impl Iterator<Item = &'a Trial> {
        self.record.trials.iter().filter(move |trial| trial.workload == workload && trial.lane == lane)
    }

    fn outcomes(&self, workload: &str, lane: &str) -> Vec<Outcome> {
        self.trials(workload, lane).map(|trial| trial.outcome).collect()
    }

    pub(super) fn rounds(&self, workload: &str) -> u32 {
        self.record.trials.iter().filter(|trial| trial.workload == workload).map(|trial| trial.round).max().unwrap_or(0)
    }

    fn results(&self) -> Vec<ResultFinding> {
        stats::judge::findings(&self.record).results
    }

    fn verdicts(&self) -> Vec<Verdict> {
        self.results().iter().flat_map(|result| &result.pairs).map(|pair| pair.verdict).collect()
    }

    pub(super) fn is_complete(&self) -> bool {
        self.result.is_ok() && self.record.end == Some(EndOutcome::Complete)
    }
}

fn read(path: &Path) -> Record {
    Record::parse(&std::fs::read_to_string(path).unwrap()).unwrap()
}

fn at(lane: usize, workload: &'static str, trial: u32, step: u32) -> When {
    When { lane, workload, trial, step }
}

const TWO: [&str; 2] = ["ext4", "xfs"];
const THREE: [&str; 3] = ["ext4", "xfs", "btrfs"];

#[test]
fn a_race_that_cannot_explain_itself_says_so_and_is_a_race_all_the_same() {
    let mut scene = Scene::new(&["a", "b"], &[RANDOM_WRITE], Rounds::Fixed(3), None);
    let bare = scene.race(&mut scene.lanes(&[(1000.0, 0.01), (800.0, 0.01)]));
    scene.header.plan.explain = true;
    std::fs::remove_file(scene.path()).unwrap();
    let raced = scene.race(&mut scene.lanes(&[(1000.0, 0.01), (800.0, 0.01)]));
    assert!(raced.result.is_ok() && raced.record.profiles.is_empty());
    assert_eq!(raced.record.warnings.len(), 1, "{:?}", raced.record.warnings);
    let rates = |of: &Raced| of.record.trials.iter().map(|trial| trial.groups.clone()).collect::<Vec<_>>();
    assert_eq!(rates(&raced), rates(&bare), "the rounds are the same");
}

#[test]
fn a_race_that_was_interrupted_in_its_passes_has_all_its_rounds_and_races_none_again() {
    // This kernel may not let itself be looked at.
    if profile::Profiler::open().is_err() {
        return;
    }
    let mut scene = Scene::new(&["a", "b"], &[RANDOM_WRITE], Rounds::Auto, Some(1e6));
    let whole = scene.race(&mut scene.lanes(&[(1000.0, 0.01), (2000.0, 0.01)]));
    assert!(whole.is_complete());
    std::fs::remove_file(scene.path()).unwrap();
    scene.header.plan.explain = true;
    let mut lanes = scene.lanes(&[(1000.0, 0.01), (2000.0, 0.01)]);
    lanes.looks_at_the_kernel = true;
    lanes.faults = vec![(at(1, "random-write", whole.rounds("random-write") + 1, 1), Fault::Interrupt)];
    let interrupted = scene.race(&mut lanes);
    assert_eq!(interrupted.result.as_ref().unwrap_err().status, Status::Interrupted);
    assert_eq!(interrupted.record.end, Some(EndOutcome::Unexplained));
    assert_eq!(interrupted.verdicts(), whole.verdicts(), "the rounds decide as those of a whole race");
    let findings = stats::judge::findings(&interrupted.record);
    assert_eq!(findings.outcome, "unexplained");
    assert!(findings.unexplained.iter().any(|said| said.contains("--resume")), "{:?}", findings.unexplained);
    scene.clock.stop.store(false, std::sync::atomic::Ordering::Relaxed);
    let mut lanes = scene.lanes(&[(1000.0, 0.01), (2000.0, 0.01)]);
    lanes.looks_at_the_kernel = true;
    let resumed = scene.go_on(&mut lanes);
    assert!(resumed.is_complete());
    assert_eq!(resumed.rounds("random-write"), whole.rounds("random-write"));
}

#[test]
fn passes_that_are_left_out_when_a_race_goes_on_are_proposed_no_more() {
    let mut scene = Scene::new(&["a", "b"], &[RANDOM_WRITE], Rounds::Fixed(3), None);
    scene.header.plan.explain = true;
    scene.header.plan.command_line = ["fairlane", "race", "a", "b", "--explain"].map(str::to_owned).to_vec();
    let mut lanes = scene.lanes(&[(1000.0, 0.01), (2000.0, 0.01)]);
    lanes.faults = vec![(at(1, "random-write", 2, 1), Fault::Interrupt)];
    assert!(scene.race(&mut lanes).result.is_err());
    scene.clock.stop.store(false, std::sync::atomic::Ordering::Relaxed);
    scene.header.plan.explain = false;
    let resumed = scene.go_on(&mut scene.lanes(&[(1000.0, 0.01), (2000.0, 0.01)]));
    assert!(resumed.is_complete());
    assert_eq!(resumed.record.header.plan.again(), ["fairlane", "race", "a", "b"]);
}

#[test]
fn rounds_leave_the_time_of_the_passes_that_come_behind_them() {
    let budget = 60.0;
    let mut scene = Scene::new(&TWO, &[RANDOM_WRITE], Rounds::Auto, Some(budget));
    scene.header.plan.explain = true;
    let mut lanes = scene.lanes(&[(1000.0, 0.3), (1000.0, 0.3)]);
    lanes.can_profile = true;
    let raced = scene.race(&mut lanes);
    let (seconds, rounds) = (scene.clock.seconds(), raced.rounds("random-write"));
    let round = seconds / f64::from(rounds);
    // One pass is as long as a round: it fits, and one more round would not.
    assert!(seconds + 0.9 * round <= budget && seconds + 2.5 * round > budget, "{rounds} rounds in {seconds} s");
    // Who wants a number of rounds has them.
    let mut scene = Scene::new(&TWO, &[RANDOM_WRITE], Rounds::Fixed(rounds + 1), Some(budget));
    scene.header.plan.explain = true;
    let mut lanes = scene.lanes(&[(1000.0, 0.3), (1000.0, 0.3)]);
    lanes.can_profile = true;
    assert!(scene.race(&mut lanes).rounds("random-write") > rounds);
    // In a time that is too short for passes the first judgement comes before them.
    let short = seconds * 7.0 / f64::from(rounds);
    let mut scene = Scene::new(&TWO, &[RANDOM_WRITE], Rounds::Auto, Some(short));
    scene.header.plan.explain = true;
    let mut lanes = scene.lanes(&[(1000.0, 0.3), (1000.0, 0.3)]);
    lanes.can_profile = true;
    assert!(scene.race(&mut lanes).rounds("random-write") >= 6);
}

#[test]
fn a_lane_that_is_twice_as_fast_is_decided_at_the_first_look_in_a_balanced_order() {
    let scene = Scene::new(&TWO, &[RANDOM_WRITE], Rounds::Auto, None);
    let mut lanes = scene.lanes(&[(2000.0, 0.02), (1000.0, 0.02)]);
    let raced = scene.race(&mut lanes);
    assert!(raced.is_complete() && lanes.is_idle());
    assert_eq!(raced.rounds("random-write"), 6);
    let results = raced.results();
    let pair = &results[0].pairs[0];
    let (faster, ratio) = if pair.a == "ext4" { (Verdict::Faster, 2.0) } else { (Verdict::Slower, 0.5) };
    assert_eq!(pair.verdict, faster, "{pair:?}");
    assert!(pair.ratio.is_some_and(|found| (found / ratio - 1.0).abs() < 0.1), "{pair:?}");
    for (number, lane) in TWO.iter().enumerate() {
        assert_eq!(raced.outcomes("random-write", lane), [Outcome::Ok; 6]);
        let firsts = raced.trials("random-write", lane).filter(|trial| trial.position == 1).count();
        assert_eq!(firsts, 3, "{lane} is first in half of the rounds");
        let grounds = raced.trials("random-write", lane).filter(|trial| trial.ground == 0).count();
        assert_eq!(grounds, 3, "{lane} stands on each image in half of the rounds");
        // One for the ceilings before everything, then a new one each round.
        assert!((6..=7).contains(&lanes.agents_started[number]), "{:?}", lanes.agents_started);
    }
    let of_round = |round: u32| raced.record.probes.iter().filter(|probe| probe.round == round).count();
    // The engine alone once, and the disk of both images.
    assert_eq!([1, 2, 3, 4, 5, 6].map(of_round), [3, 0, 2, 0, 2, 0]);
    let announced = raced.events.iter().filter(|event| matches!(event, Event::Verdicts(_))).count();
    assert_eq!(announced, 1);
}

#[test]
fn equal_lanes_go_on_to_further_looks_until_the_budget_ends() {
    let budget = 45.0;
    let scene = Scene::new(&TWO, &[RANDOM_WRITE], Rounds::Auto, Some(budget));
    let mut lanes = scene.lanes(&[(1000.0, 0.3), (1000.0, 0.3)]);
    let raced = scene.race(&mut lanes);
    assert!(raced.is_complete() && lanes.is_idle());
    let rounds = raced.rounds("random-write");
    assert!((8..20).contains(&rounds), "{rounds} rounds in {} s", scene.clock.seconds());
    let seconds = scene.clock.seconds();
    assert!(seconds <= budget, "{seconds} s");
    // Nor is time left in which another round would have fit.
    let round = seconds / f64::from(rounds);
    assert!(seconds + 2.0 * round > budget, "{seconds} s, {round} s a round");
    assert_eq!(raced.verdicts(), [Verdict::Undecided]);
    assert!(raced.record.unreached.is_empty());
}

#[test]
fn equal_lanes_that_hardly_vary_are_a_tie_at_the_first_look() {
    let scene = Scene::new(&TWO, &[RANDOM_WRITE], Rounds::Auto, Some(600.0));
    let mut lanes = scene.lanes(&[(1000.0, 0.003), (1000.0, 0.003)]);
    let raced = scene.race(&mut lanes);
    assert!(raced.is_complete());
    assert_eq!((raced.verdicts(), raced.rounds("random-write")), (vec![Verdict::Tie], 6));
}

#[test]
fn a_lane_that_fails_twice_in_a_workload_is_left_out_of_it_and_the_others_go_on() {
    let scene = Scene::new(&THREE, &[RANDOM_WRITE, SMALL_FILES], Rounds::Fixed(6), None);
    let mut lanes = scene.lanes(&[(1000.0, 0.02), (1500.0, 0.02), (2000.0, 0.02)]);
    lanes.faults = vec![
        (at(1, "random-write", 2, 3), Fault::Refused),
        (at(1, "random-write", 4, 1), Fault::Refused),
        // Once is allowed.
        (at(2, "random-write", 3, 2), Fault::Unsupported),
    ];
    let raced = scene.race(&mut lanes);
    assert!(raced.is_complete() && lanes.is_idle());
    use Outcome::{Failed, Ok};
    assert_eq!(raced.outcomes("random-write", "xfs"), [Ok, Failed, Ok, Failed]);
    assert_eq!(raced.outcomes("random-write", "ext4"), [Ok; 6]);
    assert_eq!(raced.outcomes("random-write", "btrfs"), [Ok, Ok, Failed, Ok, Ok, Ok]);
    let failed = raced.trials("random-write", "xfs").find(|trial| trial.outcome == Failed).unwrap();
    assert_eq!(failed.reason.as_deref(), Some("no space left on device"));
    // In other work it races on.
    THREE.iter().for_each(|lane| assert_eq!(raced.outcomes("small-files", lane), [Ok; 6], "{lane}"));
    let told = raced.events.iter().filter(|event| matches!(event, Event::TrialFailed { .. })).count();
    assert_eq!(told, 3);
}

#[test]
fn a_lane_whose_mkfs_fails_once_has_its_other_rounds() {
    let scene = Scene::new(&TWO, &[RANDOM_WRITE], Rounds::Fixed(6), None);
    let mut lanes = scene.lanes(&[(1000.0, 0.02), (1500.0, 0.02)]);
    lanes.failed_mkfs = vec![(0, 2)];
    let raced = scene.race(&mut lanes);
    assert!(raced.is_complete() && lanes.is_idle());
    let failed = raced.trials("random-write", "ext4").find(|trial| trial.outcome == Outcome::Failed).unwrap();
    assert_eq!((failed.round, failed.reason.as_deref()), (2, Some("mkfs failed: Input/output error")));
    // The round in which nothing could be compared is made up for.
    assert_eq!(raced.rounds("random-write"), 7);
}

#[test]
fn a_lane_that_stays_mounted_ends_the_race() {
    let scene = Scene::new(&TWO, &[RANDOM_WRITE], Rounds::Fixed(6), None);
    let mut lanes = scene.lanes(&[(1000.0, 0.02), (1500.0, 0.02)]);
    lanes.stuck.insert(1);
    let raced = scene.race(&mut lanes);
    let failure = raced.result.unwrap_err();
    assert_eq!(failure.status, Status::Failed);
    assert!(failure.message.contains("target is busy") && failure.message.ends_with("the race ends here"));
    assert_eq!(raced.record.end, Some(EndOutcome::Failed));
}

#[test]
fn a_race_that_was_interrupted_in_a_round_is_gone_on_with_and_finds_the_same() {
    let speeds = [(1000.0, 0.05), (1040.0, 0.05), (1500.0, 0.05)];
    let scene = || Scene::new(&THREE, &[RANDOM_WRITE, SMALL_FILES], Rounds::Auto, None);
    let (whole_scene, scene) = (scene(), scene());
    let whole = whole_scene.race(&mut whole_scene.lanes(&speeds));
    assert!(whole.is_complete());
    let mut lanes = scene.lanes(&speeds);
    lanes.faults = vec![(at(1, "random-write", 3, 2), Fault::Interrupt)];
    let interrupted = scene.race(&mut lanes);
    assert_eq!(interrupted.result.as_ref().unwrap_err().status, Status::Interrupted);
    assert_eq!(interrupted.record.end, Some(EndOutcome::Interrupted));
    assert!(lanes.is_idle(), "Ctrl-C leaves nothing mounted");
    THREE.iter().for_each(|lane| assert_eq!(interrupted.outcomes("random-write", lane), [Outcome::Ok; 2], "{lane}"));
    assert_eq!(interrupted.rounds("small-files"), 0);
    // The next process.
    scene.clock.stop.store(false, std::sync::atomic::Ordering::Relaxed);
    let resumed = scene.go_on(&mut scene.lanes(&speeds));
    assert!(resumed.is_complete());
    assert_eq!(resumed.record.resumes, 1);
    let shape = |raced: &Raced| -> Vec<(String, String, u32, u32, u32)> {
        let of =
            |trial: &Trial| (trial.workload.clone(), trial.lane.clone(), trial.round, trial.position, trial.ground);
        raced.record.trials.iter().map(of).collect()
    };
    assert_eq!(shape(&resumed), shape(&whole));
    assert_eq!(resumed.results(), whole.results());
}

#[test]
fn ctrl_c_at_any_moment_ends_the_race_in_order_and_it_can_be_gone_on_with() {
    let speeds = [(1000.0, 0.02), (2000.0, 0.02)];
    let scene = || Scene::new(&TWO, &[RANDOM_WRITE, SMALL_FILES], Rounds::Fixed(6), None);
    let whole = scene();
    whole.race(&mut whole.lanes(&speeds));
    let seconds = whole.clock.seconds();
    for moment in 1..12 {
        let scene = scene();
        scene.clock.interrupt_at.set(Some(Duration::from_secs_f64(seconds * f64::from(moment) / 12.0)));
        let mut lanes = scene.lanes(&speeds);
        let raced = scene.race(&mut lanes);
        assert_eq!(raced.result.as_ref().unwrap_err().status, Status::Interrupted, "{moment}");
        assert!(raced.record.end == Some(EndOutcome::Interrupted) && lanes.is_idle(), "{moment}");
        // No round is there by halves.
        let mut counts: BTreeMap<(&str, u32), usize> = BTreeMap::new();
        raced.record.trials.iter().for_each(|trial| *counts.entry((&trial.workload, trial.round)).or_default() += 1);
        assert!(counts.values().all(|count| *count == TWO.len()), "{moment}: {counts:?}");
        scene.clock.interrupt_at.set(None);
        scene.clock.stop.store(false, std::sync::atomic::Ordering::Relaxed);
        let resumed = scene.go_on(&mut scene.lanes(&speeds));
        assert!(resumed.is_complete(), "{moment}");
        assert_eq!((resumed.rounds("random-write"), resumed.rounds("small-files")), (6, 6), "{moment}");
    }
}

#[test]
fn what_a_short_budget_has_no_room_for_is_named() {
    let scene = Scene::new(&TWO, &[RANDOM_WRITE, SMALL_FILES, RANDOM_READ], Rounds::Auto, Some(20.0));
    let mut lanes = scene.lanes(&[(1000.0, 0.02), (2000.0, 0.02)]);
    // A slow answer, and nothing is left.
    lanes.faults = vec![(at(0, "random-write", 2, 2), Fault::Slow(15.0))];
    let raced = scene.race(&mut lanes);
    assert!(raced.is_complete() && lanes.is_idle());
    let named: Vec<&str> = raced.record.unreached.iter().map(|of| of.workload.as_str()).collect();
    assert_eq!(named, ["small-files", "random-read"]);
    assert_eq!(raced.rounds("random-write"), 2);
    // What is there, and six rounds of each of the others with three ceilings.
    let whole = raced.record.unreached[0].whole_seconds;
    assert!((whole - scene.clock.seconds() - 2.0 * (6.0 * 3.0 + 3.0)).abs() < 1e-6, "{whole}");
}

#[test]
fn the_first_round_of_a_race_is_raced_whatever_the_budget() {
    let scene = Scene::new(&TWO, &[RANDOM_WRITE, RANDOM_READ], Rounds::Auto, Some(0.5));
    let raced = scene.race(&mut scene.lanes(&[(1000.0, 0.02), (2000.0, 0.02)]));
    assert!(raced.is_complete());
    assert_eq!((raced.rounds("random-write"), raced.rounds("random-read")), (1, 0));
    assert_eq!(raced.record.unreached.len(), 1);
}

#[test]
fn time_that_one_workload_leaves_goes_to_another_that_is_undecided() {
    let budget = 60.0;
    let scene = Scene::new(&TWO, &[RANDOM_WRITE, RANDOM_READ], Rounds::Auto, Some(budget));
    let mut lanes = scene.lanes(&[(1000.0, 0.3), (1000.0, 0.3)]);
    lanes.noise_in = Some("random-write");
    let raced = scene.race(&mut lanes);
    assert!(raced.is_complete() && scene.clock.seconds() <= budget, "{}", scene.clock.seconds());
    assert_eq!(raced.rounds("random-read"), 6, "a tie at the first look");
    let of = |workload: &str| {
        let trials = raced.record.trials.iter().filter(|trial| trial.workload == workload);
        trials.flat_map(|trial| trial.phases_seconds.values()).sum::<f64>()
    };
    assert!(of("random-write") > budget / 2.0, "{} s of {} s", of("random-write"), scene.clock.seconds());
}

#[test]
fn a_lost_agent_is_replaced_and_costs_its_trial_alone() {
    let scene = Scene::new(&TWO, &[RANDOM_WRITE], Rounds::Fixed(6), None);
    let mut lanes = scene.lanes(&[(1000.0, 0.02), (2000.0, 0.02)]);
    lanes.faults = vec![(at(0, "random-write", 2, 2), Fault::Lost), (at(1, "random-write", 4, 2), Fault::Nonsense)];
    let raced = scene.race(&mut lanes);
    assert!(raced.is_complete() && lanes.is_idle());
    let failed: Vec<(u32, &str, &str)> = raced
        .record
        .trials
        .iter()
        .filter(|trial| trial.outcome == Outcome::Failed)
        .map(|trial| (trial.round, trial.lane.as_str(), trial.reason.as_deref().unwrap_or_default()))
        .collect();
    assert_eq!(failed[0], (2, "ext4", "the agent ended by itself (signal: 9)"));
    assert_eq!((failed[1].0, failed[1].1, failed.len()), (4, "xfs", 2));
    assert!(failed[1].2.starts_with("the agent answered Slice"), "{failed:?}");
    // Two rounds hold no comparison and are made up for.
    assert_eq!(raced.rounds("random-write"), 8);
    assert_eq!(raced.verdicts().len(), 1);
    assert_ne!(raced.verdicts(), [Verdict::Undecided]);
}

#[test]
fn data_that_is_not_what_was_written_ends_the_race_and_its_trial_is_kept() {
    let scene = Scene::new(&THREE, &[RANDOM_WRITE, RANDOM_READ], Rounds::Fixed(6), None);
    let mut lanes = scene.lanes(&[(1000.0, 0.02), (2000.0, 0.02), (3000.0, 0.02)]);
    lanes.faults = vec![(at(1, "random-write", 3, 4), Fault::Corrupt)];
    let raced = scene.race(&mut lanes);
    let failure = raced.result.as_ref().unwrap_err();
    assert_eq!((failure.status, failure.message.as_str()), (Status::Failed, "lane xfs: data.0 holds wrong data"));
    assert_eq!(raced.record.end, Some(EndOutcome::Failed));
    assert!(lanes.is_idle());
    let last = raced.record.trials.last().unwrap();
    assert_eq!((last.lane.as_str(), last.round, last.outcome), ("xfs", 3, Outcome::Failed));
    assert_eq!(raced.record.trials.len(), 2 * 3 + 1, "of the round that it ended in only this trial is kept");
}

#[test]
fn other_programs_and_a_machine_that_sleeps_have_a_round_run_again() {
    let scene = Scene::new(&TWO, &[RANDOM_WRITE], Rounds::Fixed(10), None);
    let mut lanes = scene.lanes(&[(1000.0, 0.02), (2000.0, 0.02)]);
    lanes.faults =
        vec![(at(1, "random-write", 2, 1), Fault::ForeignCpu), (at(0, "random-write", 5, 3), Fault::Suspended(3600.0))];
    let raced = scene.race(&mut lanes);
    assert!(raced.is_complete() && lanes.is_idle());
    let of_round = |round: u32| -> Vec<(&str, u32, Outcome)> {
        let trials = raced.record.trials.iter().filter(|trial| trial.round == round);
        let mut all: Vec<_> = trials.map(|trial| (trial.lane.as_str(), trial.attempt, trial.outcome)).collect();
        all.sort_by_key(|(lane, attempt, _)| (*attempt, *lane));
        all
    };
    use Outcome::{Ok, Repeated, Void};
    let noisy = [("ext4", 1, Repeated), ("xfs", 1, Repeated), ("ext4", 2, Ok), ("xfs", 2, Ok)];
    assert_eq!(of_round(2), noisy);
    // The fifth trial of a lane is that of round 4, because round 2 was run twice. It slept in one lane's trial, and the
    // other's was under way beside it.
    let slept = of_round(4);
    assert_eq!(slept[2..], [("ext4", 2, Ok), ("xfs", 2, Ok)]);
    assert!(slept[..2].iter().all(|(_, attempt, outcome)| *attempt == 1 && [Repeated, Void].contains(outcome)));
    assert!(slept.contains(&("ext4", 1, Void)), "{slept:?}");
    let repeated = raced.events.iter().filter_map(|event| match event {
        Event::RoundRepeated { round, reason, .. } => Some((*round, reason.clone())),
        _ => None,
    });
    let repeated: Vec<(u32, String)> = repeated.collect();
    assert_eq!(repeated.iter().map(|(round, _)| *round).collect::<Vec<_>>(), [2, 4]);
    assert!(repeated[0].1.contains("other programs took") && repeated[1].1.contains("the machine slept for 60 min"));
    assert_eq!(raced.rounds("random-write"), 10);
}

#[test]
fn at_most_a_fifth_of_the_rounds_is_run_again_and_the_others_are_marked() {
    let scene = Scene::new(&TWO, &[RANDOM_WRITE], Rounds::Fixed(10), None);
    let mut lanes = scene.lanes(&[(1000.0, 0.02), (2000.0, 0.02)]);
    lanes.faults = (1..=20).map(|trial| (at(0, "random-write", trial, 1), Fault::ForeignCpu)).collect();
    let raced = scene.race(&mut lanes);
    assert!(raced.is_complete());
    let outcomes = raced.outcomes("random-write", "ext4");
    assert_eq!(outcomes.iter().filter(|outcome| **outcome == Outcome::Repeated).count(), 2);
    assert_eq!(outcomes.len(), 12);
    let marked =
        |trial: &&Trial| trial.outcome == Outcome::Ok && trial.flags.iter().any(|flag| flag.is(Mark::ForeignNoise));
    // Of both lanes: they are compared round by round.
    assert_eq!(raced.record.trials.iter().filter(marked).count(), 20);
    let holds_who = |trial: &Trial| trial.disturbance.is_some_and(|of| of.cpu_share.is_some_and(|share| share > 0.05));
    assert!(raced.record.trials.iter().all(|trial| holds_who(trial) == marked(&trial)), "{:?}", raced.record.trials);
}

#[test]
fn hot_cpus_mark_a_round_and_void_nothing() {
    let scene = Scene::new(&TWO, &[RANDOM_WRITE], Rounds::Fixed(6), None);
    let mut lanes = scene.lanes(&[(1000.0, 0.02), (2000.0, 0.02)]);
    lanes.faults = vec![(at(0, "random-write", 3, 1), Fault::Hot)];
    let raced = scene.race(&mut lanes);
    assert!(raced.is_complete());
    let marked: Vec<u32> =
        raced.record.trials.iter().filter(|trial| !trial.flags.is_empty()).map(|of| of.round).collect();
    assert_eq!(marked, [3, 3]);
    assert_eq!(raced.record.trials.len(), 12);
}

#[test]
fn lanes_on_one_device_take_turns_at_it() {
    let scene = Scene::new(&TWO, &[RANDOM_WRITE, SMALL_FILES], Rounds::Fixed(6), None);
    let mut lanes = scene.lanes(&[(1000.0, 0.02), (2000.0, 0.02)]);
    // Two at a time would be an assertion of the device.
    lanes.in_turns = true;
    let raced = scene.race(&mut lanes);
    assert!(raced.is_complete() && lanes.is_idle());
    assert!(raced.record.trials.iter().all(|trial| trial.ground == 0 && trial.outcome == Outcome::Ok));
    assert_eq!(raced.record.trials.len(), 24);
}

#[test]
fn a_resumed_race_has_spent_what_its_trials_took() {
    let scene = Scene::new(&TWO, &[RANDOM_WRITE], Rounds::Fixed(20), Some(25.0));
    let first = scene.race(&mut scene.lanes(&[(1000.0, 0.02), (2000.0, 0.02)]));
    assert!(first.is_complete());
    let rounds = first.rounds("random-write");
    let spent = raced_seconds(&first.record);
    assert!(spent > 15.0 && spent <= 25.0, "{spent}");
    let before = scene.clock.seconds();
    let resumed = scene.go_on(&mut scene.lanes(&[(1000.0, 0.02), (2000.0, 0.02)]));
    assert!(resumed.is_complete());
    assert!(scene.clock.seconds() - before <= 25.0 - spent);
    assert!(resumed.rounds("random-write") <= rounds + 2, "{rounds}");
}

#[test]
fn quiet_disks_are_waited_for_and_not_for_ever() {
    let scene = Scene::new(&TWO, &[RANDOM_WRITE], Rounds::Fixed(1), None);
    let mut lanes = scene.lanes(&[(1.0, 0.0), (1.0, 0.0)]);
    let quiet = Duration::from_millis(500);
    let mut waited = |busy_for: f64| {
        lanes.busy_until = scene.clock.seconds() + busy_for;
        wait_until_quiet((&lanes, &scene.clock), &[0, 1], quiet, &scene.clock.stop)
    };
    assert!((waited(0.0) - 0.5).abs() < 0.02);
    assert!((waited(3.0) - 3.5).abs() < 0.02);
    assert!((waited(60.0) - 10.0).abs() < 0.02);
    scene.clock.stop.store(true, std::sync::atomic::Ordering::Relaxed);
    assert!(waited(60.0) < 0.02, "Ctrl-C");
}
