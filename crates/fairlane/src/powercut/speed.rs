//! The speed of the same work, from a race of the lanes whose power was cut.

use crate::commands::contest::{self, Contest};
use crate::commands::ground;
use crate::commands::planning::{self, Tail};
use crate::commands::screen::Channel;
use crate::failure::{Failure, Status};
use crate::options::Terms;
use crate::suites;
use engine::durable::Kind;
use lanes::SingleLane;
use model::Bytes;
use model::durability::{Failed, Speed};
use model::kinds::durable::DurableRecord;
use model::lane::LaneSpec;
use model::plan::{LOOKS, Plan, Rounds};
use model::record::Record;
use model::trial::Outcome;
use std::path::{Path, PathBuf};

/// What is raced.
const SUITE: &str = "durability";
/// As races take it by default.
const MARGIN: f64 = 0.05;
/// Lanes of a race are written in full, those of power cuts are not: of these, so much is raced at most.
const MOST_LANE_BYTES: u64 = Bytes::GIB;

/// Where a race's lanes lie, how large they are, and its seed.
pub struct Place<'a> {
    /// The folder of the images.
    pub on: &'a Path,
    /// Bytes of a lane whose power was cut.
    pub lane_bytes: u64,
    /// Of the power cuts.
    pub seed: u64,
}

/// Races all lanes at every kind of work to its first look; the race's record is kept. A lane that fails has no figures.
///
/// # Errors
/// What the machine says of the lanes; interrupted.
pub fn race(
    lanes: &[&SingleLane],
    kinds: &[&Kind],
    place: &Place,
    record: Option<&Path>,
) -> Result<(Vec<Speed>, Vec<Failed>), Failure> {
    let mut measured = None;
    let terms = terms(place);
    let contest = Contest {
        plan: plan(lanes, kinds, place, &terms)?,
        notes: Vec::new(),
        resumed: None,
        terms: &terms,
        record,
        report: false,
        channel: Channel::Plan,
        remark: None,
        dry_run_tells: None,
        plan_only: Default::default(),
        most_telling: Vec::new(),
        ranks: None,
    };
    let raced = contest::run(contest, |record| {
        measured = Some(speeds(record));
        Ok(())
    });
    match (measured, raced) {
        (_, Err(failure)) if failure.status == Status::Interrupted => Err(failure),
        // What a lane could not do stands beside what the others did.
        (Some((speeds, failed)), raced) if !failed.is_empty() || raced.is_ok() => Ok((speeds, failed)),
        (_, Err(failure)) => Err(failure),
        (_, Ok(())) => Ok((Vec::new(), Vec::new())),
    }
}

/// Only the result counts here: no plan is shown, and no progress.
fn terms(place: &Place) -> Terms {
    let (on, seed) = (Some(place.on.to_owned()), Some(place.seed));
    Terms { on, seed, margin: MARGIN, quiet: true, ..Terms::default() }
}

/// Bytes of each lane of the race.
fn lane_size(lanes: &[&SingleLane], lane_bytes: u64) -> u64 {
    let least = lanes.iter().map(|lane| lane.minimum_bytes()).max().unwrap_or(0);
    lane_bytes.min(MOST_LANE_BYTES).max(least)
}

/// Bytes that the lanes of the race fill.
pub fn room(lanes: &[SingleLane], lane_bytes: u64) -> u64 {
    let all: Vec<&SingleLane> = lanes.iter().collect();
    lane_size(&all, lane_bytes).saturating_mul(lanes.len() as u64)
}

fn plan(lanes: &[&SingleLane], kinds: &[&Kind], place: &Place, terms: &Terms) -> Result<Plan, Failure> {
    let lane_size = Bytes(lane_size(lanes, place.lane_bytes));
    let lanes: Vec<LaneSpec> = lanes.iter().map(|lane| lane.spec().clone()).collect();
    let mut suite = suites::find(SUITE)?;
    let mut command_line = vec!["fairlane".to_owned(), "race".to_owned()];
    command_line.extend(lanes.iter().map(LaneSpec::to_line));
    command_line.extend(["--suite".to_owned(), suite.name.clone()]);
    let is_cut = |record: &DurableRecord| kinds.iter().any(|kind| kind.name == record.name());
    let names: Vec<&str> =
        DurableRecord::all().iter().filter(|record| is_cut(record)).map(|record| record.name()).collect();
    if names.len() < DurableRecord::all().len() {
        let assignment = format!("durable.records={}", names.join(","));
        suites::set(&mut suite, &assignment)?;
        command_line.extend(["--set".to_owned(), assignment]);
    }
    let on = ground::choose(terms.on.as_deref(), &terms.disks, &lanes)?;
    let (rounds, throttles) = (Rounds::Fixed(LOOKS[0]), planning::throttles(terms, &lanes)?);
    Tail { terms, lanes: &lanes, throttles: &throttles, on: &on, lane_size, rounds, seed: place.seed }
        .append_to(&mut command_line);
    Ok(Plan {
        suite: suite.name,
        not_tested: suite.not_tested,
        first_answer: suite.first_answer,
        as_published: false,
        calibration: false,
        screening: None,
        find_max: None,
        explain: false,
        explain_in_time: false,
        ranks: None,
        command_line,
        with_self: false,
        workloads: suite.workload,
        rounds,
        margin: terms.margin,
        budget_seconds: None,
        lane_size,
        throttle: throttles.base,
        lane_throttles: throttles.lanes,
        seed: place.seed,
        on,
        guest: planning::guest_terms(terms),
        lanes,
    })
}

/// The figures of a race: a list for each lane and kind of work, and the lanes that failed.
fn speeds(record: &Record) -> (Vec<Speed>, Vec<Failed>) {
    let mut failed: Vec<Failed> = Vec::new();
    let mut speeds: Vec<Speed> = Vec::new();
    for trial in &record.trials {
        if trial.outcome == Outcome::Failed && failed.iter().all(|one| one.lane != trial.lane) {
            let reason = trial.reason.clone().unwrap_or_default();
            failed.push(Failed { lane: trial.lane.clone(), at: "speed".to_owned(), reason });
        }
        if trial.outcome != Outcome::Ok {
            continue;
        }
        for group in &trial.groups {
            let Some(&rate) = group.metrics.get(&group.primary_metric) else { continue };
            match speeds.iter_mut().find(|of| of.lane == trial.lane && of.workload == group.name) {
                Some(of) => of.records_per_second.push(rate),
                None => speeds.push(Speed {
                    lane: trial.lane.clone(),
                    workload: group.name.clone(),
                    records_per_second: vec![rate],
                }),
            }
        }
    }
    speeds.retain(|speed| failed.iter().all(|failed| failed.lane != speed.lane));
    (speeds, failed)
}

/// Where the race's record goes beside that of the power cuts; `None`: among the other races.
pub fn record_beside(output: Option<&Path>) -> Option<PathBuf> {
    output.map(|path| path.with_extension("speed.jsonl"))
}
