//! `fairlane race`: options become a plan, a plan becomes a race.

use super::summary::summary;
use super::{lane_failure, screen};
use crate::conductor::quiet::{QUIET, QUIET_FOR_A_FIRST_ANSWER};
use crate::conductor::record_file::RecordFile;
use crate::conductor::round::Track;
use crate::conductor::{Race as Conductor, machine, visit};
use crate::failure::{Failure, Status};
use crate::options::Race;
use crate::{state, suites};
use lanes::{Journal, Settings, Stage, availability, undo};
use model::event::Event;
use model::lane::{Contestant, Lane, LaneSpec, Venue};
use model::plan::{Ground, Plan, Rounds};
use model::record::{Header, Line, Record, SCHEMA};
use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

/// The filesystems of a race that names none.
const DEFAULT_LANES: [&str; 3] = ["ext4", "xfs", "btrfs"];

/// Races, or with `--dry-run` says what a race would touch.
///
/// # Errors
/// With the documented exit statuses.
pub fn run(options: &Race) -> Result<(), Failure> {
    let resumed = options.resume.as_deref().map(resume).transpose()?;
    let plan = match &resumed {
        Some(resumed) => Plan {
            budget_seconds: options.budget.or(resumed.record.header.plan.budget_seconds),
            ..resumed.record.header.plan.clone()
        },
        None => plan(options)?,
    };
    let stop = Arc::new(AtomicBool::new(false));
    for signal in [signal_hook::consts::SIGINT, signal_hook::consts::SIGTERM, signal_hook::consts::SIGHUP] {
        signal_hook::flag::register(signal, Arc::clone(&stop))
            .map_err(|error| Failure::failed(format!("cannot catch signals: {error}")))?;
    }
    let run_id = run_id();
    let mut stage = Stage::check(Settings {
        specs: plan.lanes.clone(),
        with_self: plan.with_self,
        ground: plan.on.clone(),
        lane_size: plan.lane_size,
        run_id: run_id.clone(),
        seed: plan.seed,
        erase: options.erase.clone(),
        largest_working_set_bytes: plan
            .workloads
            .iter()
            .map(|workload| workload.working_set_bytes())
            .max()
            .unwrap_or(0),
        terminal: std::io::stdin().is_terminal() && std::io::stderr().is_terminal(),
    })
    .map_err(lane_failure)?;
    if let (None, Some(path)) = (&resumed, &options.output) {
        RecordFile::check_new(path)?;
    }
    if !options.quiet || options.dry_run {
        screen::plan(&summary(&plan, &stage, options.keep))?;
    }
    if options.dry_run {
        return super::report::print(&dry_run(options, &plan, resumed.as_ref(), &stage, &run_id)?);
    }
    let path = match (&resumed, &options.output) {
        (Some(resumed), _) => resumed.path.clone(),
        (None, Some(path)) => path.clone(),
        (None, None) => state::runs_folder()?.join(new_record_name(&plan)),
    };
    if resumed.is_none() {
        RecordFile::check_new(&path)?;
    }
    let confirmed = stage.confirm(&mut screen::Typed { stop: &stop }).map_err(lane_failure);
    if stop.load(Ordering::Relaxed) {
        return Err(Failure::interrupted());
    }
    confirmed?;
    race(options, plan, resumed, (stage, &run_id), &path, &stop)
}

/// Every command and file that the race would touch, in order.
fn dry_run(
    options: &Race,
    plan: &Plan,
    resumed: Option<&Resumed>,
    stage: &Stage,
    run_id: &str,
) -> Result<String, Failure> {
    let record = match (resumed, &options.output) {
        (Some(resumed), _) => resumed.path.clone(),
        (None, Some(path)) => path.clone(),
        (None, None) => state::state_folder()?.join("runs").join(new_record_name(plan)),
    };
    let journal = undo::directory().map_err(lane_failure)?.join(format!("{run_id}.jsonl"));
    let mut lines = vec![
        format!("append to the record {}", record.display()),
        format!("keep the undo journal {} until the end", journal.display()),
    ];
    lines.extend(stage.describe());
    let bare = (0..stage.grounds()).filter_map(|ground| stage.raw_target(ground)).count();
    if bare > 0 || stage.images() > 0 {
        lines.push("before some mkfs: read and overwrite the bare image or device, for the ceilings".to_owned());
    }
    let count = plan.workloads.len();
    lines.push(format!("mkfs, mount, work and unmount again for every lane in every round of {count} workloads"));
    Ok(lines.iter().map(|line| format!("{}\n", report::clean_text(line))).collect())
}

fn new_record_name(plan: &Plan) -> String {
    format!("{}-{}-{:04x}.jsonl", visit::now().replace(':', "-"), plan.suite, plan.seed & 0xffff).replace('/', "-")
}

/// A record that is taken up again.
struct Resumed {
    path: PathBuf,
    record: Record,
}

fn resume(name: &str) -> Result<Resumed, Failure> {
    let path = state::resolve(name)?;
    let record = state::load(&path)?;
    if record.end == Some(model::record::EndOutcome::Complete) {
        return Err(Failure::usage(format!(
            "{} is complete; there is nothing to resume: fairlane report {}",
            path.display(),
            path.display()
        )));
    }
    let version = env!("CARGO_PKG_VERSION");
    if record.header.version != version {
        return Err(Failure::usage(format!(
            "{} was begun by Fairlane {}, this is {version}: their figures do not mix; race again, or use that version",
            path.display(),
            record.header.version
        )));
    }
    let here = machine::read(&record.header.machine.device.name);
    if let Some(difference) = record.header.machine.differs_from(&here) {
        return Err(Failure::usage(format!(
            "{} was begun on {difference}: its rounds cannot be paired with rounds here; race again",
            path.display()
        )));
    }
    Ok(Resumed { path, record })
}

/// Options become a plan; nothing is touched yet.
fn plan(options: &Race) -> Result<Plan, Failure> {
    let mut suite = suites::find(&options.suite)?;
    for assignment in &options.set {
        suites::set(&mut suite, assignment)?;
    }
    suites::choose(&mut suite, &options.workloads)?;
    let lanes: Vec<LaneSpec> = if options.lanes.is_empty() {
        default_lanes()?
    } else {
        let parsed: Result<Vec<LaneSpec>, _> = options.lanes.iter().map(|text| text.parse()).collect();
        parsed.map_err(|error| Failure::usage(error.to_string()))?
    };
    let on = ground(options.on.as_deref(), &lanes)?;
    let budget_seconds = match options.rounds {
        // A number of rounds is a promise: only an explicit budget may cut it.
        Rounds::Fixed(_) => options.budget,
        Rounds::Auto => options.budget.or(suite.budget_seconds),
    };
    let mut seed = options.seed;
    let seed = *seed.get_or_insert_with(new_seed);
    Ok(Plan {
        suite: suite.name,
        not_tested: suite.not_tested,
        first_answer: suite.first_answer,
        command_line: command_line(options, &lanes, &on, seed),
        lanes,
        with_self: options.with_self,
        workloads: suite.workload,
        rounds: options.rounds,
        margin: options.margin,
        budget_seconds,
        lane_size: options.lane_size,
        seed,
        on,
    })
}

fn default_lanes() -> Result<Vec<LaneSpec>, Failure> {
    let mut ready = Vec::new();
    for row in DEFAULT_LANES.iter().filter_map(|name| lanes::filesystem::find(name)) {
        match availability::of(row) {
            availability::Availability::Ready => ready.push(row.name),
            missing => eprintln!("left out: {}: {}", row.name, missing.describe()),
        }
    }
    if ready.len() < 2 {
        return Err(Failure::missing(
            "fewer than two of ext4, xfs and btrfs can be raced here; `fairlane doctor --install` adds their tools",
        ));
    }
    Ok(ready.iter().filter_map(|name| name.parse().ok()).collect())
}

/// Where lanes without a venue of their own live.
fn ground(on: Option<&Path>, lanes: &[LaneSpec]) -> Result<Ground, Failure> {
    use std::os::unix::fs::FileTypeExt;
    let here = || {
        std::env::current_dir().map_err(|error| {
            Failure::usage(format!("the working directory cannot be used: {error}; name one with --on DIR"))
        })
    };
    let Some(on) = on else {
        // One place for all images, wherever a lane names it.
        let named = lanes.iter().find_map(|lane| match &lane.venue {
            Some(Venue::Image(Some(path))) => Some(path.clone()),
            _ => None,
        });
        return Ok(Ground::Images(named.map_or_else(here, Ok)?));
    };
    if on == Path::new("image") {
        return Ok(Ground::Images(here()?));
    }
    if ["uml", "qemu", "library"].iter().any(|guest| on == Path::new(guest)) {
        return Err(Failure::usage(format!(
            "--on {}: guests are not in this version; race images (as root), a device or directories",
            on.display()
        )));
    }
    let absolute =
        std::path::absolute(on).map_err(|error| Failure::usage(format!("--on {}: {error}", on.display())))?;
    let metadata = std::fs::metadata(&absolute).map_err(|error| {
        Failure::usage(format!("--on {}: {error}; name a directory or a block device", on.display()))
    })?;
    if metadata.file_type().is_block_device() {
        Ok(Ground::Device(absolute))
    } else if metadata.is_dir() {
        Ok(Ground::Images(absolute))
    } else {
        Err(Failure::usage(format!("--on {}: neither a directory nor a block device", on.display())))
    }
}

fn race(
    options: &Race,
    plan: Plan,
    resumed: Option<Resumed>,
    (mut stage, run_id): (Stage, &str),
    path: &Path,
    stop: &AtomicBool,
) -> Result<(), Failure> {
    let titles = plan.workloads.iter().map(|workload| workload.title.clone()).collect();
    let mut show = screen::Show::new(options.quiet, titles, path);
    let directory = undo::directory().map_err(lane_failure)?;
    let mut journal = Journal::begin(&directory, run_id).map_err(lane_failure)?;
    let built = stage
        .build(
            &mut journal,
            &mut |done_bytes, total_bytes| show.event(&Event::WritingImages { done_bytes, total_bytes }),
            stop,
        )
        .map_err(lane_failure);
    show.clear();
    let (record, file) = match built.and_then(|()| open_record(plan, resumed, &stage, path)) {
        Ok(opened) => opened,
        Err(failure) => return undo_all(stage, journal).and(Err(failure)),
    };
    let names: Vec<String> = record.header.lanes.iter().map(|lane| lane.name.clone()).collect();
    let raced_before_seconds = raced_seconds(&record);
    let round_seconds =
        record.header.plan.workloads.iter().map(|workload| round_seconds(&record, &workload.name)).collect();
    let mut screen = |event: &Event| show.event(event);
    let mut conductor = Conductor {
        track: Track {
            agents: names.iter().map(|_| None).collect(),
            stage,
            journal,
            quiet: if record.header.plan.first_answer { QUIET_FOR_A_FIRST_ANSWER } else { QUIET },
            names,
            screen: &mut screen,
            stop,
            keep: options.keep,
        },
        file,
        record,
        raced_before_seconds,
        begun: Instant::now(),
        round_seconds,
    };
    let result = conductor.run();
    let Conductor { track: Track { stage, journal, .. }, record, .. } = conductor;
    show.clear();
    let failed = matches!(&result, Err(failure) if failure.status == Status::Failed);
    let undone = if options.keep && failed { keep_all(stage, journal) } else { undo_all(stage, journal) };
    if record.trials.is_empty() && record.resumes == 0 {
        // Nothing was measured: an empty record would only be in the way of `last`.
        let _ = std::fs::remove_file(path);
        return result.and(undone);
    }
    let findings = stats::judge::findings(&record);
    show.event(&Event::Finished(Box::new(findings.clone())));
    result.and(undone)?;
    match findings.results.iter().flat_map(|result| &result.estimates).find(|estimate| estimate.failure.is_some()) {
        Some(failed) => Err(Failure::failed(format!(
            "lane {} could not be raced in every workload; the reasons stand above",
            report::clean_text(&failed.lane)
        ))),
        None => Ok(()),
    }
}

/// Undoes everything; the journal is finished only when nothing is left.
fn undo_all(stage: Stage, mut journal: Journal) -> Result<(), Failure> {
    stage.teardown(&mut journal).and_then(|()| journal.finish()).map_err(lane_failure)
}

fn keep_all(stage: Stage, journal: Journal) -> Result<(), Failure> {
    for line in stage.keep(journal).map_err(lane_failure)? {
        eprintln!("{line}");
    }
    Ok(())
}

fn open_record(
    plan: Plan,
    resumed: Option<Resumed>,
    stage: &Stage,
    path: &Path,
) -> Result<(Record, RecordFile), Failure> {
    if let Some(Resumed { mut record, .. }) = resumed {
        same_lanes(&record, &stage.lanes(), path)?;
        let mut file = RecordFile::reopen(path, &record)?;
        file.append(&[Line::Resume { started: visit::now(), boot_id: machine::boot_id() }])?;
        record.resumes += 1;
        record.end = None;
        record.header.plan = plan;
        return Ok((record, file));
    }
    let lanes = stage.lanes();
    let backing = lanes.iter().map(|lane| lane.backing.clone()).find(|name| !name.is_empty()).unwrap_or_default();
    let mut machine = machine::read(&backing);
    if let Some(host) = stage.host() {
        machine.device.host_filesystem.clone_from(&host.filesystem);
        machine.device.host_mount_options = host.mount_options.join(",");
    }
    machine.tools = machine::tool_versions(&lanes);
    let mut warnings = machine::warnings(&machine);
    warnings.extend(stage.warnings());
    let header = Header {
        schema: SCHEMA,
        version: env!("CARGO_PKG_VERSION").to_owned(),
        started: visit::now(),
        boot_id: machine::boot_id(),
        seed: plan.seed,
        plan,
        machine,
        lanes,
        warnings,
    };
    let mut file = RecordFile::create(path)?;
    file.append(&[Line::Header(Box::new(header.clone()))])?;
    let record = Record::begin(header);
    Ok((record, file))
}

/// A resumed race goes on only with lanes that are made as before: an edited file of one's own, a
/// newer mkfs or another disk would pair what is not the same.
fn same_lanes(record: &Record, now: &[Lane], path: &Path) -> Result<(), Failure> {
    let then = &record.header.lanes;
    let differs = then.iter().zip(now).find_map(|(then, now)| {
        let pairs = [
            ("name", then.name == now.name),
            ("mkfs command", then.mkfs_command == now.mkfs_command),
            ("mount options", then.mount_options == now.mount_options),
            ("disk", then.backing == now.backing),
            ("promises", then.promises == now.promises),
            ("geometry", then.geometry == now.geometry),
        ];
        let (what, _) = pairs.into_iter().find(|(_, same)| !same)?;
        Some(format!("the {what} of lane {} is no longer what it was", report::clean_text(&then.name)))
    });
    let tools = machine::tool_versions(now) != record.header.machine.tools;
    let differs = differs.or_else(|| tools.then(|| "the versions of the mkfs programs changed".to_owned()));
    match differs {
        Some(what) => Err(Failure::usage(format!("{} cannot go on: {what}; race again", path.display()))),
        None => Ok(()),
    }
}

/// Seconds that the trials of a record took: what a resumed race has spent already.
fn raced_seconds(record: &Record) -> f64 {
    record.trials.iter().flat_map(|trial| trial.phases_seconds.values()).sum()
}

/// Seconds that a round of a workload took on average; 0 where none was raced.
fn round_seconds(record: &Record, workload: &str) -> f64 {
    let trials = || record.trials.iter().filter(|trial| trial.workload == workload);
    let rounds: std::collections::BTreeSet<(u32, u32)> = trials().map(|trial| (trial.round, trial.attempt)).collect();
    trials().flat_map(|trial| trial.phases_seconds.values()).sum::<f64>() / rounds.len().max(1) as f64
}

/// A new seed where none was given: from the clock, kept in the record.
fn new_seed() -> u64 {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
    // Short enough to be typed again.
    (since.as_nanos() as u64 ^ u64::from(std::process::id()).rotate_left(20)) % 1_000_000_007
}

/// Unique among races of this machine, and safe in file names.
fn run_id() -> String {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
    format!("{:x}-{:x}", since.as_millis(), std::process::id())
}

/// The command line that runs this race again, defaults that could change spelt out.
fn command_line(options: &Race, lanes: &[LaneSpec], on: &Ground, seed: u64) -> Vec<String> {
    let images = lanes.iter().any(|lane| {
        !matches!(lane.contestant, Contestant::Directory(_)) && !matches!(lane.venue, Some(Venue::Device(_)))
    });
    let mut line = vec!["fairlane".to_owned(), "race".to_owned()];
    line.extend(lanes.iter().map(LaneSpec::to_line));
    let mut push = |name: &str, value: String| line.extend([name.to_owned(), value]);
    push("--suite", options.suite.clone());
    for name in &options.workloads {
        push("--workload", name.clone());
    }
    for assignment in &options.set {
        push("--set", assignment.clone());
    }
    // Where it ran is part of what ran, also where nobody named it.
    match on {
        Ground::Images(path) if images => push("--on", path.display().to_string()),
        Ground::Device(path) => push("--on", path.display().to_string()),
        Ground::Images(_) => {}
    }
    push("--lane-size", options.lane_size.to_string());
    if let Some(budget) = options.budget {
        push("--budget", format!("{budget}s"));
    }
    if let Rounds::Fixed(rounds) = options.rounds {
        push("--rounds", rounds.to_string());
    }
    push("--margin", format!("{}%", options.margin * 100.0));
    push("--seed", seed.to_string());
    for device in &options.erase {
        push("--erase", device.display().to_string());
    }
    if options.with_self {
        line.push("--with-self".to_owned());
    }
    line
}
