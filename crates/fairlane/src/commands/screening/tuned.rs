//! How a screening was tuned, by the records that lie beside its own: what came of each combination.

use super::confirm;
use super::levels::{self, Combination};
use super::tune::{self, Raced};
use super::{Screened, begun};
use crate::conductor::begin::raced_seconds;
use crate::{owned, state, terminal};
use lanes::screened_options;
use model::findings::{ResultFinding, ScreeningFinding, TunedCombination, TunedFate, TunedLevel, Tuning, TuningRace};
use model::plan::Rounds;
use model::record::{EndOutcome, Record};
use model::screening::Factor;
use model::text::escaped_path;
use std::path::{Path, PathBuf};

/// What the last tuning of a screening came to.
pub struct Tuned {
    /// As reports show it.
    pub tuning: Tuning,
    /// The best combination so far; `None`: none is better than the default.
    pub best: Option<Combination>,
}

/// A race of tuning whose record lies there, as far as tuning goes by it: records are large, and none is held beside another.
struct Lying {
    name: String,
    raced: Vec<Raced>,
    results: Vec<ResultFinding>,
    end: Option<EndOutcome>,
    rounds: u32,
    /// How long it took.
    seconds: f64,
    /// What a lane takes in the race that comes behind it.
    seconds_behind: f64,
}

impl Lying {
    fn new(finding: &ScreeningFinding, name: String, record: &Record, raced: Vec<Raced>) -> Lying {
        let (rounds, workloads) = (rounds(record), record.header.plan.workloads.len() as f64);
        Lying {
            name,
            raced,
            results: tune::telling(finding, stats::judge::findings(record).results),
            end: record.end,
            rounds,
            seconds: raced_seconds(record),
            seconds_behind: tune::trial_seconds(record) * f64::from(rounds.saturating_mul(2)) * workloads,
        }
    }
}

/// How a screening was tuned the last time; `None`: no such record lies beside its own. `seconds`: of the tuning;
/// `None`: as the screening's command says. `says`: what lies there and is none is said on standard error.
pub fn beside(
    finding: &ScreeningFinding,
    (screened, path): (&Record, &Path),
    seconds: Option<f64>,
    says: bool,
) -> Option<Tuned> {
    let is_there = |file: &Path| owned::metadata(file).is_ok_and(|found| found.is_file());
    let files = records_of_tuning(path, is_there).into_iter();
    let records = files.map(|file| {
        let read = state::load(&file).map_err(|failure| failure.message);
        (file, read)
    });
    by_records(finding, screened, records, (seconds, says))
}

/// Puts what lies beside a screening's record into its finding; what lies there and is none is said on standard error.
pub fn put_in_beside(finding: &mut ScreeningFinding, screened: &Record, path: &Path) {
    if let Some(tuned) = beside(finding, (screened, path), None, true) {
        finding.proposal.tuning = Some(tuned.tuning);
    }
}

/// The same of records that somebody else reads, in the order of [`records_of_tuning`]; nothing is said.
pub fn put_in_tuning(
    finding: &mut ScreeningFinding,
    screened: &Record,
    records: impl Iterator<Item = (PathBuf, Result<Record, String>)>,
) {
    if let Some(tuned) = by_records(finding, screened, records, (None, false)) {
        finding.proposal.tuning = Some(tuned.tuning);
    }
}

/// Where the records of tuning beside a screening's lie, the last one first, and no more than one tuning has.
pub fn records_of_tuning(path: &Path, is_there: impl Fn(&Path) -> bool) -> Vec<PathBuf> {
    let files = (1..=tune::MOST_RECORDS).map(|number| tune::numbered(path, number));
    let mut files: Vec<PathBuf> = files.take_while(|file| is_there(file)).collect();
    files.reverse();
    files.truncate(tune::MOST_RACES);
    files
}

fn by_records(
    finding: &ScreeningFinding,
    screened: &Record,
    records: impl Iterator<Item = (PathBuf, Result<Record, String>)>,
    (seconds, says): (Option<f64>, bool),
) -> Option<Tuned> {
    let races = races(finding, screened, records, says);
    let seconds = seconds.or_else(|| begun::recorded(&screened.header.plan, "--tune"));
    (!races.is_empty()).then(|| told(finding, races, seconds))
}

/// Names the combination that races the default in the finding, where that is another one than the proposal.
pub fn choose(screened: &mut Screened, combination: &[usize]) {
    let finding = &mut screened.finding;
    let chosen = match combination == confirm::proposed(finding) {
        true => Vec::new(),
        false => confirm::levels_that_differ(&finding.factors, combination),
    };
    if finding.proposal.tuning.is_some() || !chosen.is_empty() {
        let tuning = finding.proposal.tuning.get_or_insert_default();
        (tuning.unfinished, tuning.chosen) = (false, chosen);
    }
}

/// What a level costs, as far as a table tells it; empty: it tells nothing of it. `place`: among the factor's levels.
pub fn costs(factor: &Factor, place: usize) -> String {
    match place {
        0 => String::new(),
        1 => factor.costs.clone(),
        _ => screened_options::costs_of_level(&factor.other.label, &factor.costs),
    }
}

/// The races of the last tuning in their order: back from the last record to one of a first race.
fn races(
    finding: &ScreeningFinding,
    screened: &Record,
    records: impl Iterator<Item = (PathBuf, Result<Record, String>)>,
    says: bool,
) -> Vec<Lying> {
    let mut races = Vec::new();
    for (file, read) in records {
        let read = read.and_then(|record| raced(finding, screened, &record).map(|raced| (record, raced)));
        let (record, raced) = match read {
            Ok(read) => read,
            Err(why) => {
                if says {
                    terminal::say!("{} is left out: {}", escaped_path(&file), report::clean_text(&why));
                }
                break;
            }
        };
        let is_first = record.header.plan.rounds == Rounds::Fixed(tune::FIRST_ROUNDS);
        let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
        races.push(Lying::new(finding, name, &record, raced));
        if is_first {
            break;
        }
    }
    races.reverse();
    races
}

/// The combinations that a record races against the screening's default: in the screening's work, where that was raced.
///
/// # Errors
/// Why it does not, as a sentence without a full stop.
fn raced(finding: &ScreeningFinding, screened: &Record, tuned: &Record) -> Result<Vec<Raced>, String> {
    let (of, plan) = (&screened.header.plan, &tuned.header.plan);
    let base = confirm::base(of).ok_or("the lane of this screening is none that can be typed")?;
    let others = "its lanes are not the default of this screening and combinations that tuning makes";
    let (default, lanes) = plan.lanes.split_first().ok_or(others)?;
    let is_default = of.lanes.first().is_some_and(|lane| levels::are_one(lane, default));
    if !is_default || plan.screening.is_some() {
        return Err(others.to_owned());
    }
    if !confirm::are_of_one_file(&screened.header, &tuned.header) {
        return Err("the file that describes its filesystem is not the one that was screened".to_owned());
    }
    if of.workloads != plan.workloads {
        return Err("it raced other work".to_owned());
    }
    if of.lane_size != plan.lane_size {
        return Err("its lanes have another size".to_owned());
    }
    if let Some(elsewhere) = confirm::elsewhere(&screened.header, &tuned.header) {
        return Err(format!("it ran on {elsewhere}"));
    }
    let known = tune::lanes(&base, finding);
    if lanes.is_empty() || lanes.len() > known.len() {
        return Err(others.to_owned());
    }
    let raced = lanes.iter().map(|lane| known.iter().find(|(_, made)| levels::are_one(made, lane)).cloned());
    raced.collect::<Option<_>>().ok_or_else(|| others.to_owned())
}

/// What came of races of one tuning. `seconds`: that it may take; `None`: nobody knows.
fn told(finding: &ScreeningFinding, lying: Vec<Lying>, seconds: Option<f64>) -> Tuned {
    let (mut races, mut best, mut spent) = (Vec::new(), None, 0.0);
    let mut unfinished = true;
    for Lying { name, raced, results, end, rounds, seconds: took, seconds_behind } in lying {
        let is_over = end == Some(EndOutcome::Complete);
        let better = tune::sorted(raced.clone(), &results);
        let going_on = better.len().div_ceil(2);
        if is_over {
            best = better.first().map(|(combination, _)| combination.clone());
            spent += took;
        }
        unfinished = match end {
            Some(EndOutcome::Complete) => {
                let left = seconds.map(|seconds| seconds - spent);
                // For the race that comes behind it, with the default beside these.
                let has_room = |left: f64| (left / seconds_behind) as usize > going_on;
                going_on > tune::LEFT_AT_THE_END && left.is_none_or(has_room)
            }
            // Nothing comes behind a race that failed.
            Some(EndOutcome::Failed) => false,
            _ => true,
        };
        let rest = raced.iter().filter(|of| !better.contains(of));
        let all = better.iter().chain(rest).enumerate().map(|(at, (combination, lane))| {
            let score = tune::score(&results, &lane.name);
            let fate = match (is_over, at < going_on) {
                (false, _) => TunedFate::Open,
                (true, true) => TunedFate::GoesOn,
                (true, false) => TunedFate::Dropped,
            };
            TunedCombination {
                levels: confirm::levels_that_differ(&finding.factors, combination),
                mean: score.map(|[_, mean]| mean),
                worst: score.map(|[worst, _]| worst),
                fate,
            }
        });
        races.push(TuningRace { rounds, combinations: all.collect(), record: name });
    }
    let is_another = |combination: &&Combination| **combination != confirm::proposed(finding);
    let chosen: Vec<TunedLevel> = match best.as_ref().filter(is_another).filter(|_| !unfinished) {
        Some(combination) => confirm::levels_that_differ(&finding.factors, combination),
        None => Vec::new(),
    };
    if !unfinished {
        mark_chosen(&mut races);
    }
    Tuned { tuning: Tuning { races, unfinished, chosen }, best }
}

/// The planned rounds of a race of tuning.
fn rounds(record: &Record) -> u32 {
    match record.header.plan.rounds {
        Rounds::Fixed(rounds) => rounds,
        Rounds::Auto => 0,
    }
}

/// Marks the best combination of the last race that is over: it was chosen. Where no race came behind that one, no other
/// combination of it went on.
fn mark_chosen(races: &mut [TuningRace]) {
    let is_over = |race: &TuningRace| race.combinations.iter().all(|of| of.fate != TunedFate::Open);
    let Some(last) = races.iter().rposition(is_over) else { return };
    let is_end = last + 1 == races.len();
    let went_on = races.iter_mut().skip(last).take(1).flat_map(|race| &mut race.combinations).enumerate();
    for (at, of) in went_on.filter(|(_, of)| of.fate == TunedFate::GoesOn) {
        match at {
            0 => of.fate = TunedFate::Chosen,
            _ if is_end => of.fate = TunedFate::Dropped,
            _ => {}
        }
    }
}

#[cfg(test)]
pub mod tests {
    use super::super::levels::tests::{describe, factor};
    use super::super::tune::tests::finding;
    use super::*;
    use model::Bytes;
    use model::findings::{EffectVerdict, Limit};
    use model::lane::{Lane, LaneSpec};
    use model::record::Line;
    use model::screening::{DesignKind, Screening, ScreeningRun};
    use model::trial::Trial;

    /// A screening that proposes the second of an option's four levels, with its record.
    pub fn screened() -> Screened {
        let factors = vec![Factor { costs: "much".to_owned(), ..factor("commit", &["5", "30", "60", "1"]) }];
        let base: LaneSpec = "ext4".parse().unwrap();
        let mut record = Record::parse(include_str!("../../../tests/fixtures/schema1.jsonl")).unwrap();
        let rename = |name: &mut String| {
            let run = if *name == "ext4" { "default" } else { "r02" };
            *name = run.to_owned();
        };
        record.header.lanes.iter_mut().for_each(|lane| rename(&mut lane.name));
        record.trials.iter_mut().for_each(|trial| rename(&mut trial.lane));
        let run = |lane: &str, other: bool| ScreeningRun { lane: lane.to_owned(), at_other: vec![other] };
        let lane = |name: &str, place: usize| levels::lane(&base, name, &factors, &[place]).unwrap();
        record.header.plan.lanes = vec![lane("default", 0), lane("r02", 1)];
        record.header.plan.screening = Some(Screening {
            base: "ext4".to_owned(),
            design: DesignKind::FullFactorial,
            factors: factors.clone(),
            runs: vec![run("default", false), run("r02", true)],
            left_out: Vec::new(),
        });
        describe(&mut record.header);
        let finding = finding(factors, &[(1.2, EffectVerdict::Matters)], &["commit"]);
        Screened { path: PathBuf::from("s.jsonl"), record, base, finding }
    }

    /// A race of the default and its three combinations, each so many times as fast.
    fn race(screened: &Screened, rounds: u32, speeds: [f64; 3], end: Option<EndOutcome>) -> Record {
        let mut record = screened.record.clone();
        let made = tune::lanes(&screened.base, &screened.finding);
        assert_eq!(made.iter().map(|(of, _)| of[0]).collect::<Vec<_>>(), [1, 2, 3]);
        let plan = &mut record.header.plan;
        (plan.screening, plan.rounds) = (None, Rounds::Fixed(rounds));
        plan.lanes.truncate(1);
        plan.lanes.extend(made.into_iter().map(|(_, lane)| lane));
        let like: Vec<Trial> = record.trials.iter().filter(|trial| trial.lane == "default").cloned().collect();
        let first = record.header.lanes[0].clone();
        (record.trials, record.header.lanes, record.end) = (Vec::new(), Vec::new(), end);
        for (lane, speed) in record.header.plan.lanes.iter().zip([1.0].into_iter().chain(speeds)) {
            record.header.lanes.push(Lane { name: lane.name.clone(), ..first.clone() });
            record.trials.extend(like.iter().cloned().map(|mut trial| {
                trial.lane.clone_from(&lane.name);
                let metrics = trial.groups.iter_mut().flat_map(|group| &mut group.metrics);
                metrics.filter(|(key, _)| key.ends_with("per_second")).for_each(|(_, rate)| *rate *= speed);
                trial
            }));
        }
        record
    }

    /// Writes a record as a race does.
    pub fn write(record: &Record, path: &Path) {
        let header = Line::Header(Box::new(record.header.clone()));
        let trials = record.trials.iter().map(|trial| Line::Trial(Box::new(trial.clone())));
        let end = record.end.map(|outcome| Line::End {
            finished: "2026-11-20T10:49:41Z".to_owned(),
            outcome,
            reason: None,
            rounds_done: false,
        });
        let lines = std::iter::once(header).chain(trials).chain(end);
        let text: String = lines.map(|line| format!("{}\n", serde_json::to_string(&line).unwrap())).collect();
        std::fs::write(path, text).unwrap();
    }

    /// What these records beside a screening's come to, in their order.
    fn come_to(screened: &Screened, records: &[Record]) -> Option<Tuned> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("s.jsonl");
        for (number, record) in (1..).zip(records) {
            write(record, &tune::numbered(&path, number));
        }
        beside(&screened.finding, (&screened.record, &path), None, false)
    }

    fn fates(race: &TuningRace) -> Vec<(&str, TunedFate)> {
        race.combinations.iter().map(|of| (of.levels[0].level.as_str(), of.fate)).collect()
    }

    type Change<'a> = &'a dyn Fn(&mut Record);

    const OVER: Option<EndOutcome> = Some(EndOutcome::Complete);

    #[test]
    fn each_combination_is_told_and_the_best_of_the_last_race_is_chosen() {
        use TunedFate::{Chosen, Dropped};
        let screened = screened();
        let Tuned { tuning, best } = come_to(&screened, &[race(&screened, 3, [1.1, 1.3, 0.9], OVER)]).unwrap();
        let [race_of_three] = tuning.races.as_slice() else { panic!("{tuning:?}") };
        assert_eq!((race_of_three.record.as_str(), race_of_three.rounds), ("s-tune1.jsonl", 3));
        assert_eq!(fates(race_of_three), [("60", Chosen), ("30", Dropped), ("1", Dropped)]);
        let mean = race_of_three.combinations[0].mean.unwrap();
        assert!((mean - 1.3).abs() < 1e-6, "{mean}");
        assert_eq!((best, tuning.unfinished), (Some(vec![2]), false));
        let costs = "its level 30 costs: much".to_owned();
        assert_eq!(tuning.chosen, [TunedLevel { factor: "commit".to_owned(), level: "60".to_owned(), costs }]);
        // Those of the better half that no race came for went on nowhere: tuning ends with two, or its time was up.
        let ended = come_to(&screened, &[race(&screened, 3, [1.1, 1.3, 1.2], OVER)]).unwrap();
        assert_eq!(fates(&ended.tuning.races[0]), [("60", Chosen), ("1", Dropped), ("30", Dropped)]);
        // To a race that failed they went on.
        let races =
            [(3, OVER), (6, Some(EndOutcome::Failed))].map(|(of, end)| race(&screened, of, [1.1, 1.3, 1.2], end));
        let failed = come_to(&screened, &races).unwrap();
        assert_eq!(fates(&failed.tuning.races[0]), [("60", Chosen), ("1", TunedFate::GoesOn), ("30", Dropped)]);
        // The proposal itself is no other level, and where nothing is better it stays.
        let same = come_to(&screened, &[race(&screened, 3, [1.3, 1.1, 0.9], OVER)]).unwrap();
        assert_eq!((same.best, same.tuning.chosen.len()), (Some(vec![1]), 0));
        let worse = come_to(&screened, &[race(&screened, 3, [0.9, 0.8, 0.7], OVER)]).unwrap();
        assert_eq!((worse.best, worse.tuning.unfinished, worse.tuning.chosen.len()), (None, false, 0));
        assert!(worse.tuning.races[0].combinations.iter().all(|of| of.fate == Dropped));
    }

    #[test]
    fn figures_that_are_not_the_filesystems_or_that_the_screening_refuses_order_nothing() {
        let mut screened = screened();
        let record = race(&screened, 3, [1.1, 1.3, 0.9], OVER);
        let mut results = stats::judge::findings(&record).results;
        for result in &mut results {
            (result.limit, result.missed_the_disk) = (Limit::Unattributed, false);
        }
        assert!(results.len() > 2 && results[0].higher_is_better, "{results:?}");
        let raced = tune::lanes(&screened.base, &screened.finding);
        let order = |finding: &ScreeningFinding, results: &[ResultFinding]| {
            let better = tune::sorted(raced.clone(), &tune::telling(finding, results.to_vec()));
            better.into_iter().map(|(of, _)| of[0]).collect::<Vec<_>>()
        };
        assert_eq!(order(&screened.finding, &results), [2, 1]);
        // The best one has one figure far below the default's.
        let worst = results[0].estimates.iter_mut().find(|of| of.lane == raced[1].1.name).unwrap();
        worst.mean /= 2.0;
        assert_eq!(order(&screened.finding, &results), [1, 2]);
        let mut ours = results.clone();
        ours[0].limit = Limit::Harness;
        assert_eq!(order(&screened.finding, &ours), [2, 1]);
        let mut missed = results.clone();
        missed[0].missed_the_disk = true;
        assert_eq!(order(&screened.finding, &missed), [2, 1]);
        let mut untold = screened.finding.results[0].clone();
        (untold.workload, untold.group) = (results[0].workload.clone(), results[0].group.clone());
        untold.unknown = Some("nobody knows".into());
        screened.finding.results.push(untold);
        assert_eq!(order(&screened.finding, &results), [2, 1]);
    }

    #[test]
    fn a_tuning_that_was_interrupted_has_chosen_nothing_and_a_later_one_takes_its_place() {
        let mut screened = screened();
        let cut = race(&screened, 3, [1.1, 1.3, 0.9], Some(EndOutcome::Interrupted));
        let killed = race(&screened, 3, [1.1, 1.3, 0.9], None);
        for lying in [&cut, &killed] {
            let tuned = come_to(&screened, std::slice::from_ref(lying)).unwrap();
            assert!(tuned.tuning.unfinished && tuned.tuning.chosen.is_empty());
            assert!(tuned.tuning.races[0].combinations.iter().all(|of| of.fate == TunedFate::Open));
            screened.finding.proposal.tuning = Some(tuned.tuning);
            assert!(screened.finding.is_being_tuned() && screened.finding.tuned().is_empty());
        }
        let again = race(&screened, 3, [1.1, 1.3, 0.9], OVER);
        let tuned = come_to(&screened, &[cut, again]).unwrap();
        assert_eq!(tuned.tuning.races.len(), 1);
        assert_eq!((tuned.tuning.races[0].record.as_str(), tuned.best), ("s-tune2.jsonl", Some(vec![2])));
        // All three races of one tuning are read, and no fourth one before them.
        let races = [(3, OVER), (3, OVER), (6, OVER), (12, OVER)].map(|(of, end)| race(&screened, of, [1.2; 3], end));
        let tuned = come_to(&screened, &races).unwrap();
        assert_eq!(tuned.tuning.races.iter().map(|race| race.rounds).collect::<Vec<_>>(), [3, 6, 12]);
    }

    #[test]
    fn a_record_of_something_else_is_left_out() {
        let screened = screened();
        let changes: [(&str, Change); 5] = [
            ("other work", &|of| of.header.plan.workloads.clear()),
            ("another size", &|of| of.header.plan.lane_size = Bytes(1)),
            ("another machine", &|of| of.header.machine.machine_id_hash = "another".to_owned()),
            ("combinations that tuning makes", &|of| of.header.plan.lanes[2].mount_options.clear()),
            ("combinations that tuning makes", &|of| of.header.plan.lanes.truncate(1)),
        ];
        for (says, change) in changes {
            let mut other = race(&screened, 3, [1.1, 1.3, 0.9], OVER);
            assert!(raced(&screened.finding, &screened.record, &other).is_ok());
            change(&mut other);
            let why = raced(&screened.finding, &screened.record, &other).unwrap_err();
            assert!(why.contains(says), "{says}: {why}");
            assert!(come_to(&screened, &[other]).is_none(), "{says}");
        }
    }

    #[test]
    fn the_page_is_written_anew_where_something_lies_behind_the_race() {
        let folder = tempfile::tempdir().unwrap();
        let mut screened = screened();
        screened.path = folder.path().join("s.jsonl");
        let page = folder.path().join("s.html");
        super::super::write_page(&screened);
        assert!(!page.exists(), "it is as the race itself wrote it");
        let found = stats::judge::findings(&screened.record).screening.unwrap();
        assert_eq!(tune::candidates(&found), [[1], [2], [3]]);
        let cut = race(&screened, 3, [1.1, 1.3, 0.9], Some(EndOutcome::Interrupted));
        write(&cut, &tune::numbered(&screened.path, 1));
        super::super::write_page(&screened);
        assert!(page.exists());
    }

    #[test]
    fn what_races_the_default_is_named_where_it_is_not_the_proposal() {
        let mut screened = screened();
        choose(&mut screened, &[1]);
        assert_eq!(screened.finding.proposal.tuning, None);
        choose(&mut screened, &[3]);
        assert_eq!(screened.finding.tuned().iter().map(|of| of.level.as_str()).collect::<Vec<_>>(), ["1"]);
        choose(&mut screened, &[1]);
        assert!(screened.finding.tuned().is_empty());
    }
}
