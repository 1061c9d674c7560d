//! `fairlane calibrate`: a filesystem against itself, as many rounds as the time allows.

use super::contest::{self, Contest};
use super::ground;
use super::planning::{self, PlanOnly, Tail};
use super::screen::{self, Channel, tilde};
use crate::conductor::machine;
use crate::failure::Failure;
use crate::options::Calibrate;
use crate::state;
use crate::suites::{self, Assigned};
use model::calibration::Calibration;
use model::lane::{Contestant, Lane, LaneSpec};
use model::machine::Machine;
use model::plan::{Plan, Rounds};
use model::record::Record;
use stats::comparable;
use std::path::Path;

/// Time to race where none is named, in seconds.
const BUDGET_SECONDS: f64 = 900.0;
/// More than any budget reaches.
const MOST_ROUNDS: u32 = 10_000;

/// Calibrates, or shows what was kept.
///
/// # Errors
/// With the documented exit statuses.
pub fn run(options: &Calibrate) -> Result<(), Failure> {
    if options.show {
        return show(options);
    }
    let (plan, plan_only) = plan(options)?;
    let kept = match (&options.output, options.terms.dry_run) {
        (Some(path), _) => path.clone(),
        (None, true) => state::state_folder()?.join("calibrations").join(contest::new_record_name(&plan)),
        (None, false) => state::calibrations_folder()?.join(contest::new_record_name(&plan)),
    };
    let contest = Contest {
        plan,
        notes: Vec::new(),
        resumed: None,
        terms: &options.terms,
        record: Some(&kept),
        // What it found is printed whole, and quoted by later races.
        report: false,
        channel: Channel::Plan,
        remark: None,
        dry_run_tells: None,
        plan_only,
        most_telling: Vec::new(),
        ranks: None,
    };
    contest::run(contest, |record| print(record, &kept))
}

fn print(record: &Record, path: &Path) -> Result<(), Failure> {
    let Some(found) = stats::calibrate::calibration(record) else { return Ok(()) };
    super::report::print(&report::calibration_text(&found, Some(&tilde(path)), &screen::style()))
}

fn show(options: &Calibrate) -> Result<(), Failure> {
    let suite = suites::find(&options.suite)?.name;
    let here = machine::read("");
    let wanted = |record: &Record| record.header.plan.suite == suite && same_machine(&record.header.machine, &here);
    let Some(found) = newest(wanted) else {
        return Err(Failure::usage(format!(
            "no calibration of suite {} is kept for this machine; run `fairlane calibrate --suite {0}` first",
            suite.escape_debug()
        )));
    };
    super::report::print(&report::calibration_text(&found, None, &screen::style()))
}

/// What is known of this machine's noise in a plan's work, for its record to quote: of the same machine
/// and disk, of lanes of the same size, and of workloads with the same parameters, whatever their suite is
/// called; noise of one place is none of another's, so it must have lived where all of these lanes live. The newest
/// that knows all of the work; otherwise the newest of those that know the most of it.
pub fn known(plan: &Plan, here: &Machine, lanes: &[Lane]) -> Option<Calibration> {
    if plan.calibration {
        return None;
    }
    let wanted = |record: &Record| {
        let of = &record.header;
        of.plan.lane_size == plan.lane_size
            && plan.lanes.iter().all(|lane| plan.throttle_of(&lane.name) == of.plan.throttle)
            && of.plan.margin.to_bits() == plan.margin.to_bits()
            && same_machine(&of.machine, here)
            && of.machine.device == here.device
            && comparable::one_guest(of.lanes.iter().chain(lanes))
    };
    let mut best: Option<Calibration> = None;
    for record in state::calibrations().filter(|record| wanted(record)) {
        let found = stats::calibrate::calibration(&record)
            .and_then(|found| stats::calibrate::covering(found, &record.header.plan, plan))
            .filter(|found| found.races.races > 0);
        let Some(found) = found else { continue };
        if best.as_ref().is_none_or(|best| found.not_covered.len() < best.not_covered.len()) {
            best = Some(found);
        }
        if best.as_ref().is_some_and(|best| best.not_covered.is_empty()) {
            break;
        }
    }
    best
}

/// The newest one kept that tells something; one that was cut short hides no older one.
fn newest(wanted: impl Fn(&Record) -> bool) -> Option<Calibration> {
    let mut found = state::calibrations()
        .filter(|record| wanted(record))
        .filter_map(|record| stats::calibrate::calibration(&record));
    found.find(|found| found.races.races > 0)
}

/// One installation on one kind of CPU. Where the machine has no id, nothing is the same.
fn same_machine(a: &Machine, b: &Machine) -> bool {
    !a.machine_id_hash.is_empty() && a.machine_id_hash == b.machine_id_hash && a.cpu == b.cpu && a.cpus == b.cpus
}

/// The plan, and what it says beside that.
fn plan(options: &Calibrate) -> Result<(Plan, PlanOnly), Failure> {
    let terms = &options.terms;
    if terms.with_self {
        return Err(Failure::usage("calibrate races a lane against itself already; leave --with-self out"));
    }
    let mut lanes = twins(&options.lane)?;
    planning::move_into_guest(&mut lanes, terms.place());
    // No limit holds a colon.
    if terms.throttle.iter().any(|text| text.contains(':')) {
        return Err(Failure::usage(
            "calibrate races a lane against itself, so both stand on one disk; give --throttle without a lane",
        ));
    }
    let throttles = planning::throttles(terms, &lanes)?;
    let mut suite = suites::find(&options.suite)?;
    let mut set = Vec::new();
    for assignment in &options.set {
        let workloads = suites::set_in_raced(&mut suite, assignment, &[])?;
        set.push(Assigned { assignment: assignment.clone(), workloads });
    }
    suites::choose(&mut suite, &options.workloads)?;
    let plan_only = PlanOnly { of_size: None, reached: suites::reached(&set, &suite.workload) };
    suites::put_in_titles(&set, &[], &mut suite.workload);
    planning::check_sockets(&suite.workload, &options.set)?;
    suites::strike_tested(&mut suite);
    let on = ground::choose(terms.on.as_deref(), &terms.disks, &lanes)?;
    let seed = terms.seed.unwrap_or_else(planning::new_seed);
    let rounds = Rounds::Fixed(options.rounds.unwrap_or(MOST_ROUNDS));
    let mut command_line = vec!["fairlane".to_owned(), "calibrate".to_owned(), options.lane.clone()];
    command_line.extend(["--suite".to_owned(), options.suite.clone()]);
    command_line.extend(options.workloads.iter().flat_map(|name| ["--workload".to_owned(), name.clone()]));
    command_line.extend(options.set.iter().flat_map(|assignment| ["--set".to_owned(), assignment.clone()]));
    let shown = options.rounds.map_or(Rounds::Auto, Rounds::Fixed);
    let lane_size = options.lane_size;
    Tail { terms, lanes: &lanes, throttles: &throttles, on: &on, lane_size, rounds: shown, seed }
        .append_to(&mut command_line);
    let plan = Plan {
        suite: suite.name,
        not_tested: suite.not_tested,
        first_answer: suite.first_answer,
        as_published: false,
        calibration: true,
        screening: None,
        find_max: None,
        explain: false,
        explain_in_time: false,
        ranks: None,
        command_line,
        lanes,
        with_self: false,
        workloads: suite.workload,
        rounds,
        margin: terms.margin,
        budget_seconds: match options.rounds {
            Some(_) => terms.budget,
            None => terms.budget.or(Some(BUDGET_SECONDS)),
        },
        lane_size,
        throttle: throttles.base,
        lane_throttles: throttles.lanes,
        seed,
        on,
        guest: planning::guest_terms(terms),
    };
    Ok((plan, plan_only))
}

/// The lane twice, under two names of equal length.
fn twins(text: &str) -> Result<Vec<LaneSpec>, Failure> {
    let one: LaneSpec = text.parse().map_err(|error: model::lane::LaneError| Failure::usage(error.to_string()))?;
    if matches!(one.contestant, Contestant::Directory(_)) {
        return Err(Failure::usage(format!(
            "two lanes cannot share the directory {}; race two directories of the same disk with `fairlane race a={0} \
             b=OTHER`, or name a filesystem",
            text.escape_debug()
        )));
    }
    Ok(["a", "b"].map(|name| LaneSpec { name: name.to_owned(), ..one.clone() }).to_vec())
}
