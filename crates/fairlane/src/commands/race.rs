//! `fairlane race`: options become a plan, a plan becomes a race.

use super::contest::{self, Contest};
use super::ground;
use super::lane_size;
use super::planning::{self, PlanOnly, Tail};
use super::resume::resume;
use super::screen::Channel;
use super::without_root;
use crate::failure::Failure;
use crate::options::{FindMaxBy, LaneState, Passes, Race};
use crate::ranks::job::Job;
use crate::ranks::sharing::{only_reads, works_in_one_folder};
use crate::ranks::{bound, check, ladder};
use crate::suites::{self, Assigned};
use lanes::states::State;
use model::Bytes;
use model::aged::AgedSpec;
use model::appenders::{AppendersMethod, MOST_PROCESSES};
use model::lane::{Contestant, LaneSpec};
use model::plan::{OVER_MPI, Plan, Rounds};
use model::ranks::JobRanks;
use model::search::{Criterion, FindMax};
use model::workload::{Kind, Suite, Workload};
use std::sync::atomic::AtomicBool;

/// Races, or with `--dry-run` says what a race would touch.
///
/// # Errors
/// With the documented exit statuses.
pub fn run(options: &Race) -> Result<(), Failure> {
    if !options.ranks.is_empty() {
        let most = options.ranks.iter().max().copied().unwrap_or(1).max(1);
        let numbers: Vec<String> = options.ranks.iter().map(ToString::to_string).collect();
        return Err(Failure::usage(format!(
            "--ranks says how many ranks of an MPI job do the work, and this is none; leave it out, or start one: \
             mpirun -n {most} fairlane-mpi race DIR DIR --ranks {}",
            numbers.join(",")
        )));
    }
    check_explain(options)?;
    let resumed = options.resume.as_deref().map(|name| resume(name, options)).transpose()?;
    let mut notes = Vec::new();
    let (mut most_telling, mut plan_only) = (Vec::new(), PlanOnly::default());
    let plan = match &resumed {
        Some(resumed) => Plan {
            budget_seconds: options.terms.budget.or(resumed.record.header.plan.budget_seconds),
            // As they were typed again, where they had to be.
            lanes: resumed.lanes.clone(),
            explain: resumed.record.header.plan.explain && options.explain != Some(Passes::No),
            ..resumed.record.header.plan.clone()
        },
        None => plan(options, &mut notes, &mut most_telling, &mut plan_only)?,
    };
    let contest = Contest {
        plan,
        notes,
        resumed,
        terms: &options.terms,
        record: options.output.as_deref(),
        report: !options.no_report,
        channel: Channel::Out,
        remark: None,
        dry_run_tells: None,
        plan_only,
        most_telling,
        ranks: None,
    };
    contest::run(contest, |_| Ok(())).map_err(|failure| of_explain(failure, options))
}

/// The same over the ranks of an MPI job.
///
/// # Errors
/// With the documented exit statuses.
pub fn run_over_ranks(options: &Race, mut job: Job) -> Result<(), Failure> {
    check::command_line(options)?;
    let mut ranks = job.greet(&AtomicBool::new(false))?;
    let numbers = ladder::numbers(&options.ranks, &ranks)?;
    let (mut notes, mut most_telling, mut plan_only) = (Vec::new(), Vec::new(), PlanOnly::default());
    let mut plan = plan(options, &mut notes, &mut most_telling, &mut plan_only)?;
    check::work(&plan, ranks.ranks)?;
    plan.leave_out_passes();
    let whose = whose_files(&job, ranks.nodes, &numbers);
    notes.extend(of_ranks(&plan, &ranks, &numbers, &whose));
    ranks.ladders = ladder::climb(&mut plan, &mut most_telling, &numbers, ranks.ranks)?;
    job.climb(&ranks.ladders);
    // The time that a suite has by itself is for each of its workloads once.
    let times = if options.terms.budget.is_some() { 1.0 } else { numbers.len().max(1) as f64 };
    plan.budget_seconds = plan.budget_seconds.map(|seconds| seconds * times);
    plan.ranks = Some(ranks);
    if let Some(program) = plan.command_line.first_mut() {
        OVER_MPI.clone_into(program);
    }
    notes.extend(bound());
    let contest = Contest {
        plan,
        notes,
        resumed: None,
        terms: &options.terms,
        record: options.output.as_deref(),
        report: !options.no_report,
        channel: Channel::Out,
        remark: None,
        dry_run_tells: None,
        plan_only,
        most_telling,
        ranks: Some(job),
    };
    contest::run(contest, |_| Ok(()))
}

/// Whose files ranks read in work that only reads. `numbers`: of a ladder.
fn whose_files(job: &Job, nodes: u32, numbers: &[u32]) -> String {
    if matches!(numbers, [1]) {
        return "1 rank alone reads what it wrote itself".to_owned();
    }
    let whose = match nodes > 1 {
        true if job.reads_elsewhere(numbers) => "a rank on another node",
        true => "another rank, in part on its own node,",
        false => "another rank",
    };
    let alone = if numbers.first() == Some(&1) { "; 1 rank alone reads what it wrote itself" } else { "" };
    format!("each rank reads what {whose} wrote{alone}")
}

/// What a reader must know of figures of ranks. `numbers`: how many of them work, of a ladder; `whose`: whose files they read.
fn of_ranks(plan: &Plan, of: &JobRanks, numbers: &[u32], whose: &str) -> Vec<String> {
    let JobRanks { ranks, nodes, .. } = *of;
    let count = |number: u32, what: &str| if number == 1 { format!("1 {what}") } else { format!("{number} {what}s") };
    let work = match numbers {
        [] => "work at once in every lane, each in a folder of its own: a figure is that of all together".to_owned(),
        _ => {
            let in_turn = if numbers.len() > 1 { ", one number after another" } else { "" };
            let numbers: Vec<String> = numbers.iter().map(u32::to_string).collect();
            format!(
                "do each workload by {} of them{in_turn}, of each node one in turn, while the others wait: a \
                 figure is that of those that work",
                numbers.join(", ")
            )
        }
    };
    let mut notes = vec![format!(
        "{} of an MPI job on {} {work}, from the common start to when the last is done ({} starts as many)",
        count(ranks, "rank"),
        count(nodes, "node"),
        of.launch().join(" ")
    )];
    if nodes > 1 {
        notes.push("machine, kernel and mount options are those of rank 0's node".to_owned());
    }
    let reading: Vec<&str> =
        plan.workloads.iter().filter(|of| only_reads(of)).map(|workload| workload.title.as_str()).collect();
    if ranks > 1 && !reading.is_empty() {
        notes.push(format!("{}: {whose}", reading.join("; ")));
    }
    let together: Vec<&str> =
        plan.workloads.iter().filter(|of| works_in_one_folder(of)).map(|workload| workload.title.as_str()).collect();
    if ranks > 1 && !together.is_empty() {
        notes
            .push(format!("{}: here all ranks share one folder, and one file or its directories", together.join("; ")));
    }
    notes
}

/// A word behind `--explain` is a lane, because the option's value stands behind an equals sign; who meant it for the option
/// is told.
fn of_explain(failure: Failure, options: &Race) -> Failure {
    let is_taken = |word: &String| failure.message.contains(&format!("no filesystem is called `{word}`"));
    match options.explain.is_some() && options.lanes.iter().any(is_taken) {
        true => Failure {
            message: format!("{}; a value of --explain stands behind =: --explain=no", failure.message),
            ..failure
        },
        false => failure,
    }
}

/// Seconds that the race may take, by its options or its suite. A number of rounds is a promise, and has no time of its own.
fn time_of(options: &Race, of_suite: Option<f64>) -> Option<f64> {
    let until_decided =
        !options.as_published && options.find_max.is_none() && !matches!(options.rounds, Some(Rounds::Fixed(_)));
    options.terms.budget.or(of_suite.filter(|_| until_decided))
}

/// Lanes that nobody gave a size have room for the work beside their pasts; `of_size` is told why.
fn size_beside_pasts(
    chosen: Bytes,
    lanes: &[LaneSpec],
    suite: &Suite,
    of_size: &mut Option<String>,
) -> Result<Bytes, Failure> {
    let work = suite.workload.iter().map(Workload::working_set_bytes).max().unwrap_or(0);
    let lane_size::Chosen { size, why } = lane_size::beside_pasts(chosen, lanes, work)?;
    *of_size = why.or_else(|| of_size.take());
    Ok(size)
}

/// Options become a plan; nothing is touched yet. `notes`: what had to differ from what was asked.
/// `most_telling`: what comes first where the time is too short. `plan_only`: what is said beside the notes.
pub(super) fn plan(
    options: &Race,
    notes: &mut Vec<String>,
    most_telling: &mut Vec<String>,
    plan_only: &mut PlanOnly,
) -> Result<Plan, Failure> {
    let (mut suite, terms) = (suite_of(options)?, &options.terms);
    let fallback = without_root::choose(&options.lanes, terms.place(), terms.guest_memory);
    let (mut named, mut place) = (options.lanes.clone(), terms.on.clone());
    let mut guest = terms.place().map(ToOwned::to_owned);
    if let Some(fallback) = fallback {
        notes.push(fallback.note);
        // A directory that was named holds the guest's images.
        place = place.or_else(|| fallback.on.clone());
        guest = fallback.on;
        named.extend(fallback.lanes);
    }
    let named = planning::lanes_of_suite(&named, guest.as_deref(), (&suite, &options.suite), notes)?;
    let lanes = in_state(named, options)?;
    let throttles = planning::throttles(terms, &lanes)?;
    let on = ground::choose(place.as_deref(), &terms.disks, &lanes)?;
    let (time, asked) = (time_of(options, suite.budget_seconds), options.lane_size.or(suite.lane_size));
    let lane_size::Chosen { size: lane_size, why } = lane_size::choose(asked, time, &lanes, terms.with_self, &on);
    plan_only.of_size = why;
    let reduced = match options.as_published {
        true => suites::do_as_published(&mut suite, planning::room(&lanes, &on, lane_size))?,
        false => Vec::new(),
    };
    // What is set by hand has the last word.
    let (set, compressible_too) = (set_by_hand(&mut suite, options)?, suite.compressible_too.clone());
    if races_compressible_too(options, &compressible_too, &lanes) {
        suites::add_compressible(&mut suite);
    }
    suites::choose(&mut suite, &options.workloads)?;
    let lane_size = asked.map_or_else(|| size_beside_pasts(lane_size, &lanes, &suite, &mut plan_only.of_size), Ok)?;
    notes.extend(planning::compression_note(&lanes, &suite.workload, &compressible_too));
    notes.extend(planning::same_filesystem_note(&lanes));
    notes.extend(planning::lane_size_note(options.lane_size, &lanes, &on));
    planning::check_sockets(&suite.workload, &options.set)?;
    let chosen = |name: &String| suite.workload.iter().any(|workload| workload.name == *name);
    notes.extend(reduced.into_iter().filter(|(name, _)| chosen(name)).map(|(_, note)| note));
    notes.extend(planning::throttle_note(&throttles, &lanes));
    notes.extend(planning::database_notes(&suite.workload));
    notes.extend(super::replay::note(&suite).into_iter().chain(planning::material_notes(&suite.workload)));
    most_telling.clone_from(&suite.most_telling);
    let find_max = options.find_max.map(|by| search(&mut suite, by, options, notes)).transpose()?;
    plan_only.reached = tell_set(&set, options, &mut suite);
    suites::strike_tested(&mut suite);
    let (seed, rounds) = (terms.seed.unwrap_or_else(planning::new_seed), rounds_of(options, find_max));
    let budget_seconds = budget_of(options, rounds, suite.budget_seconds);
    let (explain, explain_in_time) = passes(options, suite.explain, rounds, budget_seconds);
    let mut command_line = command_line(options, &lanes, set, find_max);
    Tail { terms, lanes: &lanes, throttles: &throttles, on: &on, lane_size, rounds, seed }.append_to(&mut command_line);
    Ok(Plan {
        suite: suite.name,
        not_tested: suite.not_tested,
        first_answer: suite.first_answer,
        as_published: options.as_published,
        calibration: false,
        screening: None,
        find_max,
        explain,
        explain_in_time,
        command_line,
        lanes,
        with_self: terms.with_self,
        workloads: suite.workload,
        rounds,
        margin: terms.margin,
        budget_seconds,
        lane_size,
        throttle: throttles.base,
        lane_throttles: throttles.lanes,
        seed,
        on,
        guest: planning::guest_terms(terms),
        ranks: None,
    })
}

/// The suite that is named, or a trace as one.
fn suite_of(options: &Race) -> Result<Suite, Failure> {
    match &options.replay {
        Some(trace) => super::replay::suite(trace, options.speed.unwrap_or_default()),
        None => suites::find(&options.suite),
    }
}

/// The lanes, each told what `--state` says.
fn in_state(lanes: Vec<LaneSpec>, options: &Race) -> Result<Vec<LaneSpec>, Failure> {
    let state = match &options.state {
        None => return Ok(lanes),
        Some(LaneState::Degraded) => State::Degraded,
        Some(LaneState::Rebuilding) => State::Rebuilding,
        Some(LaneState::Past(aged, full_percent)) => {
            return lanes.iter().map(|lane| with_past(lane, aged.as_ref(), *full_percent)).collect();
        }
    };
    lanes.iter().map(|lane| state.of_lane(lane).map_err(super::lane_failure)).collect()
}

/// A lane with a past; one that has a past already keeps what of it is said there.
fn with_past(lane: &LaneSpec, aged: Option<&AgedSpec>, full_percent: Option<u8>) -> Result<LaneSpec, Failure> {
    if matches!(lane.contestant, Contestant::Directory(_)) {
        return Err(Failure::usage(format!(
            "lane {} is a directory, which is raced as it is; leave --state out, or have it grow old before: fairlane age DIR",
            lane.name
        )));
    }
    let told = lane.told(|lane| {
        lane.aged = lane.aged.take().or_else(|| aged.cloned());
        lane.full_percent = lane.full_percent.or(full_percent);
    });
    told.map_err(|error| Failure::usage(error.to_string()))
}

/// Whether passes are done, and whether only as far as the time has room for them: beside what was typed, the suite may ask
/// for passes where a time is told and no number of rounds.
fn passes(options: &Race, of_suite: bool, rounds: Rounds, budget: Option<f64>) -> (bool, bool) {
    let until_time = rounds == Rounds::Auto && budget.is_some() && !options.as_published;
    let in_time = options.explain.is_none() && of_suite && until_time;
    (in_time || options.explain == Some(Passes::Yes), in_time)
}

/// Passes come behind the rounds of a race that begins here.
fn check_explain(options: &Race) -> Result<(), Failure> {
    let others = [
        (options.resume.is_some(), "--resume", "whether a race explains itself is said when it begins"),
        (options.find_max.is_some(), "--find-max", "a search has no rounds"),
        (options.as_published, "--as-published", "its one round is not done again"),
    ];
    let other = others.into_iter().find(|(given, ..)| *given && options.explain == Some(Passes::Yes));
    other.map_or(Ok(()), |(_, name, why)| {
        Err(Failure::usage(format!("--explain does not go with {name}: {why}; leave one of them out")))
    })
}

/// Does what `--data` and `--set` say to the suite, and answers it as assignments of `--set`.
fn set_by_hand(suite: &mut Suite, options: &Race) -> Result<Vec<Assigned>, Failure> {
    let data = options.data.iter().map(|data| format!("data={data}"));
    let mut set = Vec::new();
    for (at, assignment) in data.chain(options.set.iter().cloned()).enumerate() {
        // A refusal names the option that was typed.
        let typed = |message: String| match (at, &options.data) {
            (0, Some(_)) => message.replace("--set data=", "--data "),
            _ => message,
        };
        let workloads = suites::set_in_raced(suite, &assignment, &options.workloads)
            .map_err(|no| Failure { message: typed(no.message), ..no })?;
        set.push(Assigned { assignment, workloads });
    }
    Ok(set)
}

/// Puts what was set into titles; answers what the plan says of it.
fn tell_set(set: &[Assigned], options: &Race, suite: &mut Suite) -> Vec<String> {
    // Whom `--data` reaches its own help says.
    let reached = suites::reached(&set[usize::from(options.data.is_some())..], &suite.workload);
    let varied: &[&str] = if options.find_max.is_some() { &["writers"] } else { &[] };
    suites::put_in_titles(set, varied, &mut suite.workload);
    reached
}

/// Whether work is raced with data that compresses too: that was asked for by name, or a lane compresses in a race that
/// is not as published.
fn races_compressible_too(options: &Race, compressible_too: &[String], lanes: &[LaneSpec]) -> bool {
    let asked_for = |name: &String| compressible_too.iter().any(|of| *name == format!("{of}-compressible"));
    options.workloads.iter().any(asked_for) || !(options.as_published || planning::compressing(lanes).is_empty())
}

/// How many rounds: those that were asked for, or the usual ones of such a race.
fn rounds_of(options: &Race, find_max: Option<FindMax>) -> Rounds {
    let usual = match (options.as_published, find_max) {
        (_, Some(_)) => Rounds::Fixed(stats::search::USUAL_PASSES),
        (true, None) => Rounds::Fixed(1),
        (false, None) => Rounds::Auto,
    };
    options.rounds.filter(|rounds| find_max.is_none() || *rounds != Rounds::Auto).unwrap_or(usual)
}

/// The time of the whole race. `of_suite`: the suite's own.
fn budget_of(options: &Race, rounds: Rounds, of_suite: Option<f64>) -> Option<f64> {
    match rounds {
        // A number of rounds is a promise: only an explicit budget may cut it.
        Rounds::Fixed(_) => options.terms.budget,
        Rounds::Auto => options.terms.budget.or(of_suite),
    }
}

/// The command that runs the race again, up to what every race takes. `set`: assignments of `--set`.
fn command_line(options: &Race, lanes: &[LaneSpec], set: Vec<Assigned>, find_max: Option<FindMax>) -> Vec<String> {
    let mut command_line = vec!["fairlane".to_owned(), "race".to_owned()];
    command_line.extend(lanes.iter().map(LaneSpec::to_line));
    match &options.replay {
        Some(trace) => {
            command_line.extend(["--replay".to_owned(), trace.display().to_string()]);
            command_line.extend(options.speed.iter().flat_map(|speed| ["--speed".to_owned(), speed.to_string()]));
        }
        None => command_line.extend(["--suite".to_owned(), options.suite.clone()]),
    }
    command_line.extend(options.workloads.iter().flat_map(|name| ["--workload".to_owned(), name.clone()]));
    command_line.extend(set.into_iter().flat_map(|of| ["--set".to_owned(), of.assignment]));
    if !options.ranks.is_empty() {
        let numbers: Vec<String> = options.ranks.iter().map(u32::to_string).collect();
        command_line.extend(["--ranks".to_owned(), numbers.join(",")]);
    }
    if options.as_published {
        command_line.push("--as-published".to_owned());
    }
    command_line.extend(options.explain.map(|explain| match explain {
        Passes::Yes => "--explain".to_owned(),
        Passes::No => "--explain=no".to_owned(),
    }));
    if let Some(FindMax { criterion, most_writers, .. }) = find_max {
        command_line.push(match criterion {
            Criterion::Lateness => "--find-max".to_owned(),
            Criterion::Load => "--find-max=load".to_owned(),
        });
        command_line.extend(["--most-writers".to_owned(), most_writers.to_string()]);
    }
    command_line
}

/// A pass ends where the numbers that are and are not sustained lie so close together.
const RESOLUTION: f64 = 0.1;
/// By the load average a step takes a minute at least: it is the mean of one.
const LEAST_SECONDS_BY_LOAD: f64 = 60.0;
/// What is said where writers become processes although nobody asked for it.
const PROCESSES_BY_LOAD: &str = "writers are processes, as in the article: the load average counts tasks, and so many \
    writers on a few threads are only a few";

/// Leaves the workload whose writers are varied alone in the suite: the last of kind `appenders`.
fn search(suite: &mut Suite, by: FindMaxBy, options: &Race, notes: &mut Vec<String>) -> Result<FindMax, Failure> {
    let last = suite.workload.iter().rposition(|workload| matches!(workload.kind, Kind::Appenders(_)));
    let Some(last) = last else {
        return Err(Failure::usage(format!(
            "--find-max varies the writers of a workload of kind appenders, and suite {} has none; name one with --suite, \
             such as --suite appenders",
            suite.name
        )));
    };
    let mut workload = suite.workload.swap_remove(last);
    let criterion = match by {
        FindMaxBy::Lateness => Criterion::Lateness,
        FindMaxBy::Load => Criterion::Load,
    };
    let mut most_writers = options.most_writers;
    if let (Kind::Appenders(appenders), Criterion::Load) = (&mut workload.kind, criterion) {
        appenders.seconds = appenders.seconds.max(LEAST_SECONDS_BY_LOAD);
        if appenders.method != AppendersMethod::Processes {
            notes.push(format!("{}: {PROCESSES_BY_LOAD}", workload.title));
        }
        appenders.method = AppendersMethod::Processes;
        most_writers = most_writers.min(MOST_PROCESSES);
    }
    workload.check().map_err(Failure::usage)?;
    suite.workload = vec![workload];
    Ok(FindMax { criterion, most_writers, resolution: RESOLUTION })
}
