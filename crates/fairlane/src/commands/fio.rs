//! `fairlane fio`: a job file becomes a plan of one workload, raced as any other.

use super::contest::{self, Contest};
use super::ground;
use super::planning::{self, Tail};
use super::screen::Channel;
use super::{outputs, page};
use crate::conductor::machine;
use crate::failure::Failure;
use crate::options::{Fio, OutputFormat};
use crate::owned;
use crate::terminal;
use model::Bytes;
use model::lane::{Contestant, LaneSpec};
use model::plan::{Ground, Plan, Rounds};
use model::record::Record;
use model::throttle::Throttles;
use model::workload::{Kind, Workload};
use report::PlanSummary;
use std::cell::{Cell, RefCell};
use std::io::{Error, ErrorKind, Read};
use std::path::{Path, PathBuf};

/// Size of a lane, unless the jobs need more.
const USUAL_LANE_SIZE: Bytes = Bytes(2 << 30);
/// The job file that stands for standard input, as in fio, and what its lines are called.
const STANDARD_INPUT: (&str, &str) = ("-", "stdin");
/// Most bytes of a job file or an included file: more is a device or a mistake.
const LARGEST_FILE_BYTES: u64 = 16 << 20;
/// Most bytes of a job file with all that it includes, each as often as it is included.
const MOST_BYTES_IN_ALL: u64 = 64 << 20;
/// Lanes that are made larger grow in such steps.
const LANE_STEP_BYTES: u64 = 256 << 20;

/// Runs a job file in every lane.
///
/// # Errors
/// With the documented exit statuses.
pub fn run(options: &Fio) -> Result<(), Failure> {
    if let Some(file) = &options.output {
        check_output(file, options)?;
    }
    let (workload, text) = read(options)?;
    let terms = &options.terms;
    let lanes = planning::lanes(&options.lanes, terms.place())?;
    let throttles = planning::throttles(terms, &lanes)?;
    let on = ground::choose(terms.on.as_deref(), &terms.disks, &lanes)?;
    let at = place_of_size(&called(&options.jobfile), &text);
    check_directories(&lanes, workload.working_set_bytes(), &at)?;
    let lane_size = lane_size(options, &workload, planning::any_image(&lanes, &on), &at)?;
    let count = lanes.len() + usize::from(terms.with_self);
    let mut said: Vec<String> = planning::same_filesystem_note(&lanes).into_iter().collect();
    said.extend(planning::throttle_note(&throttles, &lanes));
    let plan = plan(options, workload, (lanes, throttles), on, (lane_size, rounds(options.rounds, count)));
    if !terms.quiet {
        for note in notes(&plan.workloads[0]) {
            terminal::say!("note: {}", report::clean_text(note));
        }
    }
    let elsewhere = options.output.is_some() || options.output_format == OutputFormat::Json;
    let contest = Contest {
        plan,
        notes: said,
        resumed: None,
        terms,
        record: options.record.as_deref(),
        report: !options.no_report,
        channel: if elsewhere { Channel::Err } else { Channel::Out },
        remark: Some(Box::new(first_look)),
        dry_run_tells: None,
        plan_only: Default::default(),
        most_telling: Vec::new(),
        ranks: None,
    };
    contest::run(contest, |record| answer(options, record))
}

/// What the job file is called in messages and reports.
fn called(jobfile: &Path) -> PathBuf {
    let (dash, name) = STANDARD_INPUT;
    if jobfile == Path::new(dash) { PathBuf::from(name) } else { jobfile.to_owned() }
}

/// Reads the job file for whoever runs it; its own text comes along, without what it includes.
fn read(options: &Fio) -> Result<(Workload, String), Failure> {
    if options.with_fio && lanes::command::find_on_path("fio").is_none() {
        return Err(Failure::missing(format!(
            "--with-fio needs fio, which is missing: {}",
            lanes::missing::remedy("fio")
        )));
    }
    let path = called(&options.jobfile);
    let piped = path != options.jobfile;
    let own_text = RefCell::new(None);
    let left = Cell::new(MOST_BYTES_IN_ALL);
    let here = machine::read("");
    let surroundings = jobfile::Surroundings {
        read: &|file: &Path| {
            let mut own_text = own_text.borrow_mut();
            let text = match (own_text.is_none(), piped) {
                (true, true) => text_of(std::io::stdin().lock())?,
                _ => {
                    if let Some(output) = &options.output {
                        outputs::check(&[("--output", output)], &[("a job file", file)])
                            .map_err(|failure| Error::new(ErrorKind::InvalidInput, failure.message))?;
                    }
                    // What the job file includes is a stranger's word: a file of the user's, and no pipe or device.
                    let file = match own_text.is_none() {
                        true => owned::open_text(file)?,
                        false => owned::open_as_owner(file)?,
                    };
                    text_of(file)?
                }
            };
            let rest = left.get().checked_sub(text.len() as u64);
            left.set(rest.ok_or_else(|| {
                Error::new(
                    ErrorKind::FileTooLarge,
                    format!("files of more than {} are included", Bytes(MOST_BYTES_IN_ALL)),
                )
            })?);
            // The job file is read first, then what it includes.
            own_text.get_or_insert_with(|| text.clone());
            Ok(text)
        },
        variable: &|name: &str| std::env::var(name).ok(),
        cpus: here.cpus,
        memory_bytes: here.memory_bytes,
        page_bytes: rustix::param::page_size() as u64,
        // Jobs fill at most half of a lane.
        space_bytes: options.lane_size.unwrap_or(USUAL_LANE_SIZE).get() / 2,
    };
    let refused = |error: jobfile::JobFileError| Failure::usage(error.to_string());
    let kind = match options.with_fio {
        true => Kind::Fio(Box::new(jobfile::for_fio(&path, &surroundings).map_err(refused)?)),
        false => Kind::Jobs(Box::new(jobfile::parse(&path, &surroundings).map_err(refused)?)),
    };
    let name = match path.file_stem().unwrap_or_default().to_string_lossy() {
        stem if stem.trim().is_empty() => "jobs".to_owned(),
        stem => stem.into_owned(),
    };
    let workload = Workload { title: name.clone(), name, kind };
    workload.check().map_err(|what| Failure::usage(format!("{}: {what}", path.display())))?;
    Ok((workload, own_text.take().unwrap_or_default()))
}

/// The text of a job file. A device that never ends is not read for ever.
///
/// # Errors
/// What reading says; a file that is too large or no text.
fn text_of(file: impl Read) -> std::io::Result<String> {
    let mut bytes = Vec::new();
    file.take(LARGEST_FILE_BYTES + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > LARGEST_FILE_BYTES {
        return Err(Error::new(ErrorKind::FileTooLarge, format!("it has more than {}", Bytes(LARGEST_FILE_BYTES))));
    }
    String::from_utf8(bytes).map_err(|error| {
        let before = &error.as_bytes()[..error.utf8_error().valid_up_to()];
        let line = 1 + before.iter().filter(|byte| **byte == b'\n').count();
        Error::new(ErrorKind::InvalidData, format!("line {line} is no UTF-8 text"))
    })
}

/// One round where there is nothing to compare, as fio itself does; otherwise until it is decided.
fn rounds(asked: Option<Rounds>, lanes: usize) -> Rounds {
    asked.unwrap_or(if lanes > 1 { Rounds::Auto } else { Rounds::Fixed(1) })
}

/// The size asked for, or one that the jobs fill at most half.
fn lane_size(options: &Fio, workload: &Workload, images: bool, at: &str) -> Result<Bytes, Failure> {
    let work = workload.working_set_bytes();
    let needed = work.saturating_mul(2).checked_next_multiple_of(LANE_STEP_BYTES).unwrap_or(u64::MAX);
    let size = match options.lane_size {
        Some(size) => size,
        None => Bytes(needed.max(USUAL_LANE_SIZE.get())),
    };
    if images && work > size.get() / 2 {
        return Err(Failure::usage(format!(
            "{at}: the jobs keep {} on a lane and may fill at most half of one, but --lane-size is {size}; raise it to \
             {} or leave it out",
            model::units::human_bytes(work as f64),
            Bytes(needed)
        )));
    }
    if images && options.lane_size.is_none() && size > USUAL_LANE_SIZE && !options.terms.quiet {
        terminal::say!(
            "note: the jobs keep {} on a lane and may fill at most half of one: --lane-size is {size}",
            model::units::human_bytes(work as f64)
        );
    }
    Ok(size)
}

/// Refuses a directory without room for the jobs, at the line that says how large they are.
fn check_directories(lanes: &[LaneSpec], work: u64, at: &str) -> Result<(), Failure> {
    for lane in lanes {
        let Contestant::Directory(path) = &lane.contestant else { continue };
        // What cannot be looked at is refused with its reason when the lane is made.
        let Ok(filesystem) = rustix::fs::statvfs(path) else { continue };
        let free = filesystem.f_bavail.saturating_mul(filesystem.f_frsize);
        if work > free {
            return Err(Failure::usage(format!(
                "{at}: the jobs keep {} in {}, which has {} free; lower size or choose another directory",
                model::units::human_bytes(work as f64),
                path.display(),
                model::units::human_bytes(free as f64)
            )));
        }
    }
    Ok(())
}

/// `FILE:LINE` of the first line that gives a size; the file alone where an included one does.
fn place_of_size(path: &Path, text: &str) -> String {
    let gives = |line: &str| {
        let key = line.split('=').next().unwrap_or_default().trim();
        ["size", "filesize"].contains(&key)
    };
    match text.lines().position(gives) {
        Some(index) => format!("{}:{}", path.display(), index + 1),
        None => path.display().to_string(),
    }
}

fn plan(
    options: &Fio,
    workload: Workload,
    (lanes, throttles): (Vec<LaneSpec>, Throttles),
    on: Ground,
    (lane_size, rounds): (Bytes, Rounds),
) -> Plan {
    let terms = &options.terms;
    let seed = terms.seed.unwrap_or_else(planning::new_seed);
    let mut command_line = ["fairlane", "fio"].map(str::to_owned).to_vec();
    command_line.push(options.jobfile.display().to_string());
    command_line.extend(lanes.iter().map(LaneSpec::to_line));
    Tail { terms, lanes: &lanes, throttles: &throttles, on: &on, lane_size, rounds, seed }.append_to(&mut command_line);
    if options.with_fio {
        command_line.push("--with-fio".to_owned());
    }
    Plan {
        suite: called(&options.jobfile).file_name().unwrap_or_default().to_string_lossy().into_owned(),
        not_tested: Vec::new(),
        first_answer: false,
        as_published: false,
        calibration: false,
        screening: None,
        find_max: None,
        explain: false,
        explain_in_time: false,
        ranks: None,
        lanes,
        with_self: terms.with_self,
        workloads: vec![workload],
        rounds,
        margin: terms.margin,
        // Rounds end a race of one workload: a budget only where it was asked for.
        budget_seconds: terms.budget,
        lane_size,
        throttle: throttles.base,
        lane_throttles: throttles.lanes,
        seed,
        on,
        guest: planning::guest_terms(terms),
        command_line,
    }
}

/// How options of the job file were taken.
fn notes(workload: &Workload) -> &[String] {
    match &workload.kind {
        Kind::Jobs(jobs) => &jobs.notes,
        _ => &[],
    }
}

/// What a race until it is decided may cost, against a first look.
fn first_look(summary: &PlanSummary) -> Option<String> {
    let (least, most) = summary.rounds;
    let seconds = summary.seconds.filter(|_| least < most && summary.budget_seconds.is_none())?;
    let one = model::units::human_seconds(seconds / f64::from(most));
    Some(format!("--rounds 1 gives a first look in about {one}; --budget TIME ends the race after that time"))
}

/// Prints or writes what was asked for.
fn answer(options: &Fio, record: &Record) -> Result<(), Failure> {
    let text = match (options.output_format, &options.output) {
        (OutputFormat::Json, _) => {
            report::fio_json(record).map_err(|reason| Failure::failed(format!("no fio JSON: {reason}")))?
        }
        // The screen has shown it already.
        (OutputFormat::Normal, None) => return Ok(()),
        (OutputFormat::Normal, Some(_)) => {
            let findings = stats::judge::findings(record);
            let input = report::Input { findings: &findings, record, record_path: None };
            report::render(&input, "text", &report::Style::default())
                .map_err(|error| Failure::failed(error.to_string()))?
        }
    };
    let Some(file) = &options.output else { return super::report::print(&text) };
    super::report::put(&text, Some(file))
        .map_err(|failure| Failure { message: format!("{}; the record holds it all", failure.message), ..failure })
}

/// Whether the result can be written there, before anything is raced for it.
fn check_output(file: &Path, options: &Fio) -> Result<(), Failure> {
    let refuse = |what: &str| Err(Failure::usage(format!("--output {}: {what}; name another file", file.display())));
    let record = options.record.as_deref();
    let page = record.filter(|_| !options.no_report).map(page::beside);
    let mut written: Vec<outputs::Called> = record.map(|record| ("-o", record)).into_iter().collect();
    written.extend(page.as_deref().map(|page| ("the report beside the record", page)));
    written.push(("--output", file));
    // A lane that is a file describes a filesystem.
    let own =
        options.lanes.iter().filter_map(|lane| lane.rsplit('=').next()).map(|lane| ("a lane's file", Path::new(lane)));
    let read: Vec<outputs::Called> = own.chain([("the job file", options.jobfile.as_path())]).collect();
    outputs::check(&written, &read)?;
    if file.is_file() && crate::state::is_record(file) {
        return refuse("it is a record");
    }
    match file.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        _ if file.is_dir() => refuse("it is a directory"),
        Some(folder) if !folder.is_dir() => refuse("its folder does not exist"),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_lane_runs_once_and_several_until_it_is_decided() {
        assert_eq!(rounds(None, 1), Rounds::Fixed(1));
        assert_eq!(rounds(None, 2), Rounds::Auto);
        assert_eq!(rounds(Some(Rounds::Auto), 1), Rounds::Auto);
        assert_eq!(rounds(Some(Rounds::Fixed(3)), 3), Rounds::Fixed(3));
    }

    #[test]
    fn a_job_file_is_text_of_a_size_that_somebody_may_have_written() {
        assert_eq!(text_of(&b"[a]\n"[..]).unwrap(), "[a]\n");
        let endless = text_of(std::io::repeat(0)).unwrap_err();
        assert!(endless.to_string().contains("more than 16MiB"), "{endless}");
        let latin = text_of(&b"[a]\nsize=1m\n# gr\xf6\xdfe\n"[..]).unwrap_err();
        assert!(latin.to_string().contains("line 3 is no UTF-8 text"), "{latin}");
    }

    #[test]
    fn the_line_of_a_size_is_found_in_the_text_that_was_read() {
        assert_eq!(place_of_size(&called(Path::new("-")), "[a]\nsize = 4m\n"), "stdin:2");
        assert_eq!(place_of_size(&called(Path::new("x.fio")), "[a]\ninclude y\n"), "x.fio");
    }

    #[test]
    fn a_directory_without_room_is_refused_at_the_line_of_the_size() {
        let lanes = ["/".parse::<LaneSpec>().unwrap()];
        let error = check_directories(&lanes, u64::MAX, "a.fio:2").unwrap_err();
        assert!(error.message.starts_with("a.fio:2: the jobs keep "), "{}", error.message);
        assert!(check_directories(&lanes, 0, "a.fio:2").is_ok());
    }

    #[test]
    fn a_first_look_is_recommended_only_where_the_race_could_take_longer() {
        let summary = |rounds, budget_seconds| PlanSummary {
            contestants: Vec::new(),
            written_bytes: None,
            needed_bytes: None,
            workloads: 1,
            rounds,
            ranks: true,
            fits: None,
            rounds_until_the_time_is_up: false,
            seconds: Some(1200.0),
            seconds_per_round: Vec::new(),
            resolves: None,
            setup_seconds: 0.0,
            first_look_seconds: 360.0,
            budget_seconds,
            keep: false,
            as_published: false,
            passes: report::PlannedPasses::No,
            notes: Vec::new(),
        };
        assert!(first_look(&summary((6, 20), None)).unwrap().contains("60 s"));
        assert_eq!(first_look(&summary((6, 20), Some(60.0))), None);
        assert_eq!(first_look(&summary((1, 1), None)), None);
    }
}
