//! From a plan to an answer: what every race does, whatever its work is.

use super::calibrate;
use super::planning::PlanOnly;
use super::resume::{Resumed, same_built, same_lanes};
use super::screen::Channel;
use super::screening::rounds;
use super::summary::{expected, summary};
use super::{abilities, foresight, lane_failure, page, planning, screen};
use crate::conductor::begin::{go_on_with, raced_seconds};
use crate::conductor::built_lanes::BuiltLanes;
use crate::conductor::race_clock::{MachineClock, RaceClock};
use crate::conductor::raced_lanes::RacedLanes;
use crate::conductor::record_file::RecordFile;
use crate::conductor::rehearse::Rehearsals;
use crate::conductor::time::Expected;
use crate::conductor::{Race as Conductor, failpoint, machine, memory, trial_run};
use crate::failure::{Failure, Status};
use crate::options::Terms;
use crate::progress::Progress;
use crate::ranks::check::without_ranks;
use crate::ranks::job::Job;
use crate::record_writer::RecordWriter;
use crate::signals;
use crate::{state, terminal};
use lanes::{Journal, LaneSet, LargestWork, Opened, Settings, undo};
use model::event::Event;
use model::findings::{Estimate, Findings, ResultFinding};
use model::lane::Contestant;
use model::machine::Machine;
use model::plan::{LOOKS, Plan, Rounds};
use model::record::{Header, Line, Record, SCHEMA};
use model::text::escaped_path;
use model::workload::{Kind, Workload};
use report::PlanSummary;
use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// What is said of a race, made of its summary.
pub type Remark<'a> = Box<dyn Fn(&PlanSummary) -> Option<String> + 'a>;

/// What a dry run says before what would be touched, a line each, made of the plan as the time has room for it.
pub type Tells<'a> = Box<dyn Fn(&Plan) -> Vec<String> + 'a>;

/// fio does not tell when its measured time begins.
const FIO_LAYS_OUT: &str = "fio writes its files first, within the measured time: CPU and device figures include that";

/// A race that is planned.
pub struct Contest<'a> {
    /// What it does.
    pub plan: Plan,
    /// What had to differ from what was asked, one sentence each.
    pub notes: Vec<String>,
    /// The record that it goes on with.
    pub resumed: Option<Resumed>,
    /// How it was asked for.
    pub terms: &'a Terms,
    /// Where the record goes; `None`: among the others.
    pub record: Option<&'a Path>,
    /// Whether an HTML report is written beside it at the end.
    pub report: bool,
    /// Where plan and verdicts are shown.
    pub channel: Channel,
    /// What is said after the plan, made of its summary.
    pub remark: Option<Remark<'a>>,
    /// What a dry run says before what would be touched.
    pub dry_run_tells: Option<Tells<'a>>,
    /// What the plan says beside the notes.
    pub plan_only: PlanOnly,
    /// Names of workloads, those that tell most first; empty: none is left out for want of time.
    pub most_telling: Vec<String>,
    /// The ranks of an MPI job that do the work; `None`: this machine does.
    pub ranks: Option<Job>,
}

/// LaneSet, conductor, answer. `answer` is called with the record once the race is over, also where it
/// was cut short, if anything was measured.
///
/// # Errors
/// With the documented exit statuses.
pub fn run(mut contest: Contest, answer: impl FnOnce(&Record) -> Result<(), Failure>) -> Result<(), Failure> {
    let terms = contest.terms;
    if contest.ranks.is_none() && contest.resumed.is_none() {
        contest.notes.extend(without_ranks(&mut contest.plan)?);
    }
    let stop = Arc::new(AtomicBool::new(false));
    signals::stop(&stop)?;
    let run_id = planning::run_id();
    let mut lane_set = lanes_checked(&contest.plan, terms, &run_id)?;
    if !terms.dry_run {
        // Before a person is asked to confirm anything: another race may have it for hours.
        lane_set.lock_kernel().map_err(lane_failure)?;
    }
    super::replay::check_in_guests(&contest.plan, &lane_set, &stop)?;
    match &contest.resumed {
        Some(resumed) => same_lanes(&resumed.record, &lane_set.lanes(), &resumed.path)?,
        None => contest.notes.extend(fit_into_time(&mut contest.plan, &contest.most_telling, &lane_set)),
    }
    let Contest { plan, channel, .. } = &contest;
    abilities::check(plan, &lane_set)?;
    // A folder of our own is made when the record is, which a rehearsal of the plan has none of.
    let made_later = |path: &&Path| terms.dry_run && state::state_folder().is_ok_and(|folder| path.starts_with(folder));
    if let (None, Some(path)) = (&contest.resumed, contest.record.filter(|path| !made_later(path))) {
        RecordWriter::check_new(path)?;
    }
    if !terms.quiet || terms.dry_run {
        let of_lanes = lane_set.several_places().into_iter().chain(lane_set.kernel_set_by_another());
        let notes = contest.plan_only.sentences().chain(&contest.notes).cloned().chain(of_lanes).collect();
        let mut summary = PlanSummary { notes, ..summary(plan, &lane_set, terms.keep) };
        let known = calibrate::known(plan, &read_machine(&lane_set), &lane_set.lanes());
        if *channel == Channel::Tuning {
            // Nobody sets how many rounds it has.
            summary.ranks = false;
        } else {
            summary.resolves = foresight::foresight(plan, &summary, lane_set.lane_count(), known.as_ref());
        }
        screen::plan(&summary, *channel)?;
        if let Some(remark) = contest.remark.as_ref().and_then(|remark| remark(&summary)) {
            channel.print(&format!("{remark}\n"))?;
        }
    }
    if terms.dry_run {
        return super::report::print(&dry_run(&contest, &lane_set, &run_id)?);
    }
    let path = match (&contest.resumed, contest.record) {
        (Some(resumed), _) => resumed.path.clone(),
        (None, Some(path)) => path.to_owned(),
        (None, None) => state::runs_folder()?.join(new_record_name(plan)),
    };
    match contest.resumed {
        Some(_) => RecordWriter::check_old(&path)?,
        None => RecordWriter::check_new(&path)?,
    }
    let confirmed = lane_set.confirm(&mut screen::Typed { stop: &stop }).map_err(lane_failure);
    if stop.load(Ordering::Relaxed) {
        return Err(Failure::interrupted());
    }
    confirmed?;
    race(contest, (lane_set, &run_id), &path, &stop, answer)
}

/// Refuses what a race would be refused for before anything is made for it.
///
/// # Errors
/// As a race.
pub(super) fn check(plan: &Plan, terms: &Terms) -> Result<(), Failure> {
    lanes_checked(plan, terms, &planning::run_id()).map(drop)
}

fn lanes_checked(plan: &Plan, terms: &Terms, run_id: &str) -> Result<LaneSet, Failure> {
    check_libraries(plan)?;
    check_guests(plan)?;
    check_programs(plan, terms.allow_programs)?;
    check_external(plan)?;
    planning::check_tools(plan)?;
    planning::check_limits(plan)?;
    // Who may not race at all is told that, and not that there is no folder for what is undone.
    let undo = undo::directory();
    let folder = undo.as_ref().cloned().unwrap_or_default();
    let lane_set = LaneSet::check(settings(plan, terms, (run_id, folder))?).map_err(lane_failure)?;
    undo.map_err(lane_failure)?;
    Ok(lane_set)
}

/// Makes of a plan what the time has room for; answers what that changed, a sentence each.
fn fit_into_time(plan: &mut Plan, most_telling: &[String], lane_set: &LaneSet) -> Vec<String> {
    let left_out = trim(plan, most_telling, lane_set);
    let kept = plan.screening.is_some().then(|| expected(plan, lane_set));
    let rounds = kept.and_then(|kept| rounds::choose(plan, &kept));
    left_out.into_iter().chain(rounds).collect()
}

/// Leaves out what the time is too short for: workloads are kept in the order in which they tell most, as
/// long as their first looks fit together. Answers what was left out, as a sentence.
fn trim(plan: &mut Plan, most_telling: &[String], lane_set: &LaneSet) -> Option<String> {
    let budget = plan.budget_seconds.filter(|_| !most_telling.is_empty())?;
    let is_screening = plan.screening.is_some();
    let look = match plan.rounds {
        Rounds::Fixed(rounds) => rounds,
        Rounds::Auto if is_screening => rounds::FEWEST,
        Rounds::Auto => LOOKS[0],
    };
    let needed = |of: &Expected| if is_screening { rounds::needed_for(of, look) } else { of.of_rounds(look) };
    let seconds: Vec<f64> = expected(plan, lane_set).iter().map(needed).collect();
    let kept = kept(plan, most_telling, &seconds, budget);
    let is_kept = |place: usize| kept.contains(&place);
    let (dropped, names): (Vec<String>, Vec<String>) = (0..)
        .zip(&plan.workloads)
        .filter(|(at, _)| !is_kept(*at))
        .map(|(_, workload)| (workload.title.clone(), workload.name.clone()))
        .unzip();
    if dropped.is_empty() {
        return None;
    }
    let all: f64 = seconds.iter().sum();
    // Of a screening's budget a part is the confirmation's.
    let all = if is_screening { rounds::whole(all) } else { all };
    let mut place = 0;
    plan.workloads.retain(|_| {
        place += 1;
        is_kept(place - 1)
    });
    if is_screening {
        rounds::name_workloads(plan);
    }
    // Before what the suite says of every race: a long list is cut at its end.
    plan.not_tested = dropped.iter().chain(&plan.not_tested).cloned().collect();
    Some(format!(
        "the time has room for the {} most telling of {} workloads; left out: {}; --budget {}m has room for all",
        plan.workloads.len(),
        plan.workloads.len() + dropped.len(),
        // As `--workload` takes them: titles have commas.
        names.join(", "),
        (all / 60.0).ceil()
    ))
}

/// Places of the workloads that fit, at least one; those that nobody ranked come last, in their own order.
fn kept(plan: &Plan, most_telling: &[String], seconds: &[f64], budget: f64) -> Vec<usize> {
    let rank = |at: &usize| {
        let name = &plan.workloads[*at].name;
        most_telling.iter().position(|of| of == name).unwrap_or(most_telling.len())
    };
    let mut order: Vec<usize> = (0..plan.workloads.len()).collect();
    order.sort_by_key(rank);
    let mut used = 0.0;
    let mut kept = Vec::new();
    for at in order {
        if kept.is_empty() || used + seconds[at] <= budget {
            used += seconds[at];
            kept.push(at);
        }
    }
    kept
}

/// Refuses work that a library cannot do: it has no directory of the kernel's.
pub(super) fn check_libraries(plan: &Plan) -> Result<(), Failure> {
    let library = plan.lanes.iter().find(|lane| lanes::filesystems::is_library(lane));
    let kernel_only = plan.workloads.iter().find(|workload| !workload.traits().runs_in_a_library());
    match (library, kernel_only) {
        (Some(lane), Some(workload)) => Err(Failure::usage(format!(
            "workload {} needs a filesystem of the kernel, and lane {} is a library inside the agent; leave that lane \
             out, or race operations on files: --suite operations",
            workload.name, lane.name
        ))),
        _ => Ok(()),
    }
}

/// Refuses programs that a suite may not start by itself, wherever its text came from.
fn check_programs(plan: &Plan, allowed: bool) -> Result<(), Failure> {
    let refused = plan.workloads.iter().find_map(|workload| match &workload.kind {
        Kind::Programs(programs) if !allowed => Some((workload, programs.not_permitted()?)),
        _ => None,
    });
    match refused {
        Some((workload, what)) => Err(Failure::usage(format!(
            "workload {}, {what}; read what the suite does, and allow it with --allow-programs",
            workload.name
        ))),
        None => Ok(()),
    }
}

/// Refuses a server that runs already beside more than the one directory that holds its data.
fn check_external(plan: &Plan) -> Result<(), Failure> {
    let external = |workload: &&Workload| matches!(&workload.kind, Kind::Oltp(oltp) if oltp.is_external());
    let Some(workload) = plan.workloads.iter().find(external) else { return Ok(()) };
    match plan.lanes.as_slice() {
        [lane] if matches!(lane.contestant, Contestant::Directory(_)) && !plan.with_self => Ok(()),
        _ => Err(Failure::usage(format!(
            "workload {} names a server that runs already, and that is the server of one lane: race the directory on \
             whose filesystem its data lies, alone",
            workload.name
        ))),
    }
}

/// Refuses work that starts programs of this machine, which a guest does not have.
pub(super) fn check_guests(plan: &Plan) -> Result<(), Failure> {
    let guest = plan.lanes.iter().find(|lane| planning::in_guest(lane));
    let foreign = |workload: &&Workload| workload.traits().starts_programs();
    match (guest, plan.workloads.iter().find(foreign)) {
        (Some(lane), Some(workload)) => Err(Failure::usage(format!(
            "workload {} starts programs of this machine, and lane {} lives in a guest, which has none of them; race it \
             on the host, or {}",
            workload.name,
            lane.name,
            match workload.kind {
                Kind::Oltp(_) => "use SQLite, which is built in: --set server=sqlite",
                _ => "leave that workload out",
            }
        ))),
        _ => Ok(()),
    }
}

/// `run`: its id, and the folder of undo journals.
///
/// # Errors
/// Where a trace that guests are to get cannot be read.
pub(super) fn settings(plan: &Plan, terms: &Terms, run: (&str, PathBuf)) -> Result<Settings, Failure> {
    let (run_id, undo) = run;
    let largest = |more: &dyn Fn(&Workload) -> u64| {
        let kept = |workload: &Workload| {
            let each = workload.working_set_bytes().saturating_add(more(workload));
            each.saturating_mul(u64::from(plan.at_work(&workload.name)))
        };
        let of = plan.workloads.iter().max_by_key(|workload| kept(workload));
        of.map(|workload| LargestWork { title: workload.title.clone(), bytes: kept(workload) }).unwrap_or_default()
    };
    Ok(Settings {
        specs: plan.lanes.clone(),
        with_self: plan.with_self,
        ground: plan.on.clone(),
        lane_size: plan.lane_size,
        run_id: run_id.to_owned(),
        seed: plan.seed,
        erase: terms.erase.clone(),
        largest_work: largest(&|_| 0),
        largest_work_without_holes: largest(&|workload| workload.traits().hole_bytes()),
        terminal: std::io::stdin().is_terminal() && std::io::stderr().is_terminal(),
        throttles: plan.throttles(),
        guest: plan.guest,
        program: PathBuf::from("/proc/self/exe"),
        trace: super::replay::carried(plan)?,
        lives: plan.lanes.iter().map(|lane| super::age::of_lane(lane, plan.lane_size)).collect::<Result<_, _>>()?,
        undo,
    })
}

/// Every command and file that the race would touch, in order.
fn dry_run(contest: &Contest, lane_set: &LaneSet, run_id: &str) -> Result<String, Failure> {
    let plan = &contest.plan;
    let record = match (&contest.resumed, contest.record) {
        (Some(resumed), _) => resumed.path.clone(),
        (None, Some(path)) => path.to_owned(),
        (None, None) => state::state_folder()?.join("runs").join(new_record_name(plan)),
    };
    let journal = undo::directory().map_err(lane_failure)?.join(format!("{run_id}.jsonl"));
    // What was asked comes before the many commands of its lanes.
    let mut lines: Vec<String> = contest.dry_run_tells.iter().flat_map(|tells| tells(plan)).collect();
    lines.extend([
        format!("append to the record {}", record.display()),
        format!("keep the undo journal {} until the end", journal.display()),
    ]);
    if contest.report {
        lines.push(format!("write the report {} at the end", page::beside(&record).display()));
    }
    lines.extend(lane_set.describe());
    let is_probed = |ground: usize| lane_set.raw_target(ground).is_some() || !lane_set.raw_disks(ground).is_empty();
    if (0..lane_set.stores()).any(is_probed) || lane_set.images() > 0 {
        lines.push("before some mkfs: read and overwrite the bare image or device, for the ceilings".to_owned());
    }
    let work = match plan.workloads.len() {
        1 => "1 workload".to_owned(),
        count => format!("{count} workloads"),
    };
    let is_formatted = lane_set.lanes().iter().any(|lane| lane.venue != "directory");
    let acts = if is_formatted { "mkfs, mount, work and unmount" } else { "work in a fresh folder" };
    lines.push(format!("{acts} again for every lane in every round of {work}"));
    if plan.explain {
        lines.push(
            "do the work once more behind the rounds, while perf events of the kernel tell where its time goes"
                .to_owned(),
        );
    }
    Ok(lines.iter().map(|line| format!("{}\n", report::clean_text(line))).collect())
}

/// The time, the suite and the seed: sorted by time, and safe as a file name.
pub fn new_record_name(plan: &Plan) -> String {
    let plain = |character: char| match character {
        '/' | ':' | ' ' => '-',
        control if control.is_control() => '-',
        other => other,
    };
    let suite: String = plan.suite.chars().map(plain).take(64).collect();
    format!("{}-{suite}-{:04x}.jsonl", trial_run::now().replace(':', "-"), plan.seed & 0xffff)
}

fn race(
    contest: Contest,
    (mut lane_set, run_id): (LaneSet, &str),
    path: &Path,
    stop: &Arc<AtomicBool>,
    answer: impl FnOnce(&Record) -> Result<(), Failure>,
) -> Result<(), Failure> {
    lane_set.heed(Arc::clone(stop));
    let Contest { plan, notes, resumed, terms, channel, report, mut ranks, .. } = contest;
    let mut show = shown(&plan, (channel, terms.quiet), path);
    let directory = undo::directory().map_err(lane_failure)?;
    let mut journal = Journal::begin(&directory, run_id).map_err(lane_failure)?;
    let is_new = resumed.is_none();
    failpoint::at("images");
    let built = build((&mut lane_set, &mut journal), &plan, ranks.as_mut(), &mut show, stop);
    show.clear();
    let (record, file) = match built.and_then(|()| open_record(plan, notes, resumed, &lane_set, path)) {
        Ok(opened) => opened,
        Err(failure) => {
            let silent = ranks.as_ref().and_then(Job::silent_folder).map(Path::to_owned);
            undo_or_leave(lane_set, journal, silent)?;
            if is_new {
                say_nothing_is_left(&failure, path);
            }
            return Err(failure);
        }
    };
    let mut progress = Progress::begin(run_id, path, &record, raced_seconds(&record));
    let mut screen = |event: &Event| {
        if let Some(progress) = &mut progress {
            progress.event(event);
        }
        show.event(event);
    };
    let expected = expected(&record.header.plan, &lane_set);
    let mut built = BuiltLanes::new(lane_set, journal, Arc::clone(stop), ranks);
    let real = (&mut built as &mut dyn RacedLanes, &MachineClock as &dyn RaceClock);
    let mut conductor = Conductor::new((record, file), real, expected, (terms.keep, stop), &mut screen);
    let result = conductor.run();
    let Conductor { record, file, .. } = conductor;
    let silent = built.silent_folder();
    let (lane_set, journal) = built.into_parts();
    drop(progress);
    show.clear();
    let failed = matches!(&result, Err(failure) if failure.status == Status::Failed);
    let undone =
        if terms.keep && failed { keep_all(lane_set, journal) } else { undo_or_leave(lane_set, journal, silent) };
    if record.trials.is_empty() && record.steps.is_empty() && record.resumes == 0 && !file.refused() {
        // Nothing was measured: an empty record would only be in the way of `last`. One that could not be
        // written stays for the `--resume` that its message names.
        let _ = crate::owned::remove(path);
        if let (Err(failure), Ok(())) = (&result, &undone) {
            say_nothing_is_left(failure, path);
        }
        return result.and(undone);
    }
    let findings = stats::judge::findings(&record);
    show.event(&Event::Finished(Box::new(findings.clone())));
    let answered = answer(&record);
    if report {
        let mut told = findings.clone();
        if let Some(finding) = &mut told.screening {
            super::screening::put_in_anew(finding, &record);
        }
        match page::write_beside(&record, told, path) {
            Ok(file) => show.event(&Event::ReportWritten { path: screen::tilde(&file) }),
            Err(said) => terminal::say!("warning: {}", report::clean_text(&said)),
        }
    }
    result.and(undone).and(answered)?;
    some_lane_failed(&findings)?;
    some_rounds_failed(&record)
}

/// The screen of a race. A calibration goes on until its time is up, so that its planned rounds say nothing in a log.
fn shown(plan: &Plan, (channel, quiet): (Channel, bool), path: &Path) -> screen::Show {
    let titles = plan.workloads.iter().map(|workload| workload.title.clone()).collect();
    let mut show = screen::Show::new(channel, quiet, titles, path);
    if plan.calibration {
        show.without_log();
    }
    show
}

/// Builds the lanes, and tries out what they will be asked for while each is mounted once.
fn build(
    (lane_set, journal): (&mut LaneSet, &mut Journal),
    plan: &Plan,
    mut ranks: Option<&mut Job>,
    show: &mut screen::Show,
    stop: &AtomicBool,
) -> Result<(), Failure> {
    let lanes: Vec<String> = lane_set.lanes().into_iter().map(|lane| lane.name).collect();
    let mut rehearsals = Rehearsals::new(plan);
    let mut try_out = |lane: usize, opened: &Opened| {
        if let (Some(job), Some(spec)) = (&mut ranks, plan.lanes.get(lane).or(plan.lanes.first())) {
            job.look(spec, &lanes[lane], &opened.directory, stop)?;
        }
        rehearsals.run(&lanes[lane], opened, stop)
    };
    let mut progress =
        |done_bytes: u64, total_bytes: u64| show.event(&Event::WritingImages { done_bytes, total_bytes });
    lane_set.build_and_try(journal, &mut progress, stop, &mut try_out).map_err(lane_failure)
}

/// Of a race that was interrupted before a round of it was done that it is gone. `path`: where its record would lie.
fn say_nothing_is_left(failure: &Failure, path: &Path) {
    if failure.status == Status::Interrupted {
        let record = escaped_path(path);
        terminal::say!("interrupted before a round was done: there is no record {record}, and nothing is left behind");
    }
}

/// A lane that could not be raced in some workload at all.
fn some_lane_failed(findings: &Findings) -> Result<(), Failure> {
    let failures = |result: &ResultFinding| {
        let title = result.title.clone();
        let of = |estimate: &Estimate| Some((title.clone(), estimate.lane.clone(), estimate.failure.clone()?));
        result.estimates.iter().find_map(of)
    };
    match findings.results.iter().find_map(failures) {
        // With --quiet nothing above says why.
        Some((title, lane, why)) => Err(Failure::failed(report::clean_text(&format!(
            "lane {lane} could not be raced in every workload: {title}: {why}"
        )))),
        None => Ok(()),
    }
}

/// A lane that failed in some rounds has its figure from the others; that it failed is a result all the same, and
/// whoever reads the exit status alone must see it.
fn some_rounds_failed(record: &Record) -> Result<(), Failure> {
    match stats::judge::failed_rounds(record) {
        Some(said) => Err(Failure::failed(report::clean_text(&format!("{said}; all else was raced and stands above")))),
        None => Ok(()),
    }
}

/// Undoes everything; the journal is finished only when nothing is left.
fn undo_all(lane_set: LaneSet, mut journal: Journal) -> Result<(), Failure> {
    lane_set.teardown(&mut journal).and_then(|()| journal.finish()).map_err(lane_failure)
}

/// The same, unless a filesystem does not answer: then whoever undoes waits for ever, and its journal stays for a later
/// `fairlane clean`.
fn undo_or_leave(lane_set: LaneSet, journal: Journal, silent: Option<PathBuf>) -> Result<(), Failure> {
    let Some(folder) = silent else { return undo_all(lane_set, journal) };
    // Dropping it undoes it too.
    std::mem::forget(lane_set);
    Err(Failure::failed(format!(
        "{} does not answer, so what this race made there is left; run `fairlane clean` when it answers again",
        escaped_path(&folder)
    )))
}

fn keep_all(lane_set: LaneSet, journal: Journal) -> Result<(), Failure> {
    for line in lane_set.keep(journal).map_err(lane_failure)? {
        terminal::say!("{line}");
    }
    Ok(())
}

/// The machine with the disk under the lanes.
fn read_machine(lane_set: &LaneSet) -> Machine {
    let backing =
        lane_set.lanes().into_iter().map(|lane| lane.backing).find(|name| !name.is_empty()).unwrap_or_default();
    let mut machine = machine::read(&backing);
    machine.further_disks =
        lane_set.further_disks(&backing).iter().map(|disk| lanes::host::describe_disk(disk)).collect();
    if let Some(host) = lane_set.host() {
        machine.device.host_filesystem.clone_from(&host.filesystem);
        machine.device.host_mount_options = host.mount_options.join(",");
    }
    machine
}

fn open_record(
    plan: Plan,
    notes: Vec<String>,
    resumed: Option<Resumed>,
    lane_set: &LaneSet,
    path: &Path,
) -> Result<(Record, RecordFile), Failure> {
    if let Some(Resumed { record, .. }) = resumed {
        same_built(&record, &lane_set.lanes(), path)?;
        return go_on_with(record, plan, path);
    }
    let lanes = lane_set.lanes();
    let mut machine = read_machine(lane_set);
    machine.memory_copy_bytes_per_second = memory::copy_bytes_per_second(machine.cpus);
    machine.tools = machine::tool_versions(&lanes, &plan.workloads);
    let mut warnings = notes;
    warnings.extend(machine::warnings(&machine));
    warnings.extend(lane_set.warnings());
    if plan.workloads.iter().any(|workload| matches!(workload.kind, Kind::Fio(_))) {
        warnings.push(FIO_LAYS_OUT.to_owned());
    }
    let header = Header {
        schema: SCHEMA,
        version: env!("CARGO_PKG_VERSION").to_owned(),
        started: trial_run::now(),
        boot_id: machine::boot_id(),
        seed: plan.seed,
        calibration: calibrate::known(&plan, &machine, &lanes).map(Box::new),
        plan,
        machine,
        lanes,
        warnings,
    };
    let file = RecordFile::begin(path, Line::Header(Box::new(header.clone())))?;
    Ok((Record::begin(header), file))
}
