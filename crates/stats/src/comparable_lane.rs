//! The lane that is worth racing beside one that sent direct writes through the page cache: the same filesystem without
//! what made it do so.

use crate::answer::{command_of, options_of, without};
use crate::buffered;
use model::findings::ResultFinding;
use model::lane::{Contestant, Lane, LaneSpec};
use model::plan::Rounds;
use model::record::Record;

/// Lanes of a race at most.
const MOST_LANES: usize = 32;
/// What the lane is called.
const NAME: &str = "nosum";

/// Puts the lane into the command that is proposed, beside the one that it is like; answers its line. A race that has
/// nothing left to settle is proposed again with it, in the workloads where it tells something.
pub(crate) fn add(record: &Record, results: &[ResultFinding], next: &mut Vec<String>) -> Vec<String> {
    let plan = &record.header.plan;
    let Some((spec, workloads)) = missing(record, results) else { return Vec::new() };
    let beside = spec.to_line();
    let line = comparable(record, spec);
    if next.first().is_some_and(|command| command == "report") {
        let mut race = command_of(&plan.command_line);
        let before_lanes = race.len() + 1;
        race.extend(plan.lanes.iter().map(LaneSpec::to_line));
        race.extend(options_of(&plan.command_line, before_lanes + plan.lanes.len()));
        if race[0] == "race" && workloads.len() < plan.workloads.len() {
            without(&mut race, "--workload");
            race.extend(workloads.iter().flat_map(|name| ["--workload".to_owned(), (*name).to_owned()]));
        }
        match plan.rounds {
            Rounds::Fixed(rounds) => race.extend(["--rounds".to_owned(), rounds.to_string()]),
            Rounds::Auto => {
                race.extend(plan.budget_seconds.iter().flat_map(|of| ["--budget".to_owned(), format!("{of:.0}s")]));
            }
        }
        *next = race;
    }
    let Some(at) = next.iter().position(|word| *word == beside) else { return Vec::new() };
    next.insert(at + 1, line.clone());
    vec![line]
}

/// Whether a race that is proposed gets a lane more.
pub(crate) fn is_missing(record: &Record, results: &[ResultFinding]) -> bool {
    missing(record, results).is_some()
}

/// The first lane that buffered direct writes for its checksums of data, where no lane of its filesystem has none, and
/// the workloads in which it did.
fn missing<'a>(record: &'a Record, results: &'a [ResultFinding]) -> Option<(&'a LaneSpec, Vec<&'a str>)> {
    let (header, plan) = (&record.header, &record.header.plan);
    if plan.as_published || plan.lanes.len() >= MOST_LANES || plan.find_max.is_some() || plan.ranks.is_some() {
        return None;
    }
    let lane = |spec: &LaneSpec| header.lanes.iter().find(|lane| lane.name == spec.name && !lane.is_self);
    let there = |lane: &Lane| {
        header.lanes.iter().any(|other| other.filesystem == lane.filesystem && !other.promises.data_checksums)
    };
    plan.lanes.iter().find_map(|spec| {
        let lane = lane(spec)?;
        // A directory is mounted by somebody else, and a limit of its own would not hold for another lane.
        let ours =
            matches!(spec.contestant, Contestant::Filesystem(_)) && !plan.lane_throttles.contains_key(&lane.name);
        buffered::option_without_checksums(lane).filter(|_| ours && !there(lane))?;
        let mut workloads: Vec<&str> = buffered::writes_of(results, &lane.name).map(|of| &*of.workload).collect();
        workloads.dedup();
        (!workloads.is_empty()).then_some((spec, workloads))
    })
}

/// The same lane without checksums of data, under a name that no other has.
fn comparable(record: &Record, spec: &LaneSpec) -> String {
    let header = &record.header;
    let mut of = spec.clone();
    let lane = header.lanes.iter().find(|lane| lane.name == spec.name);
    of.mount_options.extend(lane.and_then(buffered::option_without_checksums).map(str::to_owned));
    let taken = |name: &String| header.lanes.iter().any(|lane| lane.name == *name);
    let names = std::iter::once(NAME.to_owned()).chain((2..).map(|number| format!("{NAME}{number}")));
    of.name = names.into_iter().find(|name| !taken(name)).unwrap_or_default();
    of.to_line()
}
