//! `fairlane powercut`: what a power cut costs each lane.

use super::report::print;
use super::screen::{style, tilde};
use super::{durability, lane_failure, planning};
use crate::conductor::{machine, trial_run};
use crate::failure::{Failure, Status};
use crate::options::Powercut;
use crate::powercut::cutting::{Job, cut};
use crate::powercut::durability_writer::DurabilityWriter;
use crate::powercut::scratch_space::ScratchSpace;
use crate::powercut::traced::Traced;
use crate::powercut::{described, in_guest, saved_case, speed};
use crate::record_writer::RecordWriter;
use crate::signals;
use crate::{state, terminal};
use engine::durable::{KINDS, Kind};
use lanes::SingleLane;
use lanes::command_guest::MEMORY_WITH_TRACE;
use model::Bytes;
use model::durability::{DurabilityHeader, DurabilityLine, Failed, SCHEMA};
use model::lane::{LaneSpec, Venue};
use model::record::EndOutcome;
use report::PlannedCuts;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// The lane that must keep everything, and the one that must lose something.
const CONTROLS: [&str; 2] = ["ext4", "ext4,nobarrier"];
/// The lanes where none is named.
const DEFAULT_LANES: [&str; 4] = ["ext4", "ext4,nobarrier", "xfs", "btrfs"];
/// The size of lanes where nobody says it.
const USUAL_LANE_SIZE: Bytes = Bytes(512 << 20);
/// How many images are looked at side by side for each CPU: much of a mount is waiting for the kernel's grace periods.
const WORKERS_EACH: usize = 3;
/// And how many at most: each holds the pages of its image in memory.
const MOST_WORKERS: usize = 8;

/// Cuts each lane, or shows one image again.
///
/// # Errors
/// With the documented exit statuses; 1 too where the controls show that the run cannot be trusted.
pub fn run(options: &Powercut) -> Result<(), Failure> {
    report::check_durability(&options.format, None).map_err(Failure::usage)?;
    check_number_is_no_lane(options)?;
    if let Some(venue) = options.on.as_deref().and_then(planning::guest_venue) {
        return in_guest(options, &venue);
    }
    let on = directory(options.on.as_deref())?;
    if let Some(folder) = &options.look {
        saved_case::check_format(&options.format)?;
        let typed = saved_case::Typed { lanes: &options.lanes, trace: options.replay.as_deref() };
        return print(&saved_case::look(folder, options.cut, &typed, &on)?.render(&options.format)?);
    }
    let stop = stop_flag()?;
    let traced = traced(options, &stop)?;
    let work = Work::new(options, traced.as_ref())?;
    let (mut specimens, controls) = specimens(&options.lanes)?;
    if let Some(number) = options.lose_disk {
        check_can_lose_disks(options, number)?;
        let mut cut =
            specimens.iter_mut().filter(|single_lane| !controls.iter().any(|name| name == single_lane.name()));
        cut.try_for_each(|single_lane| single_lane.lose_disk(number)).map_err(lane_failure)?;
    }
    let smallest = specimens.iter().map(SingleLane::minimum_bytes).max().unwrap_or(0);
    durability::check_lane_size(work.lane_size, smallest)?;
    check_recorded(&specimens)?;
    durability::check_system()?;
    durability::check_tools(&specimens)?;
    let path = record_path(options.output.as_deref(), "powercut", work.seed)?;
    // Before hours of cuts, not after them.
    if let (Some(path), true) = (speed::record_beside(options.output.as_deref()), work.is_raced()) {
        RecordWriter::check_new(&path)?;
    }
    work.announce(&specimens, &on)?;
    let header = header(&work, &specimens, controls, &on)?;
    let mut writer = DurabilityWriter::begin(&path, header)?;
    let worked = work.cut_and_race(&on, &specimens, &mut writer, &stop);
    let outcome = match &worked {
        Ok(()) => EndOutcome::Complete,
        Err(failure) if failure.status == Status::Interrupted => EndOutcome::Interrupted,
        Err(_) => EndOutcome::Failed,
    };
    let closed = writer.end(outcome);
    worked.and(closed)?;
    show(&writer, &options.format)?;
    durability::failed_lanes(writer.record())
}

/// What is done in every lane.
struct Work<'a> {
    options: &'a Powercut,
    traced: Option<&'a Traced>,
    kinds: Vec<&'a Kind>,
    lane_size: Bytes,
    seed: u64,
}

/// The trace that was named.
fn traced(options: &Powercut, stop: &Arc<AtomicBool>) -> Result<Option<Traced>, Failure> {
    let Some(path) = &options.replay else { return Ok(None) };
    match options.workloads.first() {
        Some(name) => Err(Failure::usage(format!(
            "--replay does the calls of a program in place of other work; leave --workload {} out, or --replay",
            report::clean_text(name)
        ))),
        None => Traced::read(path, stop).map(Some),
    }
}

fn header(
    work: &Work,
    specimens: &[SingleLane],
    controls: Vec<String>,
    on: &Path,
) -> Result<DurabilityHeader, Failure> {
    Ok(DurabilityHeader {
        schema: SCHEMA,
        version: env!("CARGO_PKG_VERSION").to_owned(),
        command: "powercut".to_owned(),
        started: trial_run::now(),
        seed: work.seed,
        again: work.again(),
        machine: machine_of(on)?,
        lane_bytes: work.lane_size.0,
        lanes: specimens.iter().map(described).collect(),
        controls,
    })
}

impl<'a> Work<'a> {
    fn new(options: &'a Powercut, traced: Option<&'a Traced>) -> Result<Self, Failure> {
        let kinds = match traced {
            Some(traced) => vec![&traced.kind],
            None => kinds(&options.workloads)?,
        };
        let lane_size = match traced {
            Some(traced) => traced.lane_size(options.lane_size, USUAL_LANE_SIZE)?,
            None => options.lane_size.unwrap_or(USUAL_LANE_SIZE),
        };
        let seed = options.seed.unwrap_or_else(planning::new_seed);
        Ok(Work { options, traced, kinds, lane_size, seed })
    }

    /// Whether speeds are measured behind the cuts: of a trace `race --replay` measures them.
    fn is_raced(&self) -> bool {
        !self.options.no_speed && self.traced.is_none()
    }

    /// Says what is done, and refuses where there is no room for it.
    fn announce(&self, specimens: &[SingleLane], on: &Path) -> Result<(), Failure> {
        let lane_bytes = self.lane_size.0;
        let raced = if self.is_raced() { speed::room(specimens, lane_bytes) } else { 0 };
        let cut = self.traced.map_or(durability::room(lane_bytes), |traced| traced.room(lane_bytes));
        let (planned, quiet) = (planned(self.options.cuts, &self.kinds), self.options.quiet);
        durability::announce(specimens.len(), Some(planned), cut.max(raced), on, quiet)?;
        self.traced.into_iter().for_each(|traced| traced.announce(quiet));
        Ok(())
    }

    fn cut_and_race(
        &self,
        on: &Path,
        specimens: &[SingleLane],
        writer: &mut DurabilityWriter,
        stop: &AtomicBool,
    ) -> Result<(), Failure> {
        let keep_in = keep_in(writer.path());
        let cut = ScratchSpace::begin(on, &planning::run_id()).and_then(|mut scratch| {
            let cut = self.all(specimens, &keep_in, &mut scratch, writer, stop);
            let ended = scratch.end();
            cut.and_then(|whole| ended.map(|()| whole))
        });
        let place = speed::Place { on, lane_bytes: self.lane_size.0, seed: self.seed };
        cut.and_then(|whole| match !self.is_raced() || whole.is_empty() {
            true => Ok(()),
            false => race(self.options, &place, &whole, &self.kinds, writer),
        })
    }

    /// Cuts every lane; answers those that were cut to the end.
    fn all<'b>(
        &self,
        specimens: &'b [SingleLane],
        keep_in: &Path,
        scratch: &mut ScratchSpace,
        writer: &mut DurabilityWriter,
        stop: &AtomicBool,
    ) -> Result<Vec<&'b SingleLane>, Failure> {
        let Work { options, traced, ref kinds, lane_size, seed } = *self;
        let both = [512, 4096];
        let sectors = options.sector.as_ref().map_or(&both[..], std::slice::from_ref);
        let trace = traced.map(|traced| &traced.trace);
        let cuts = cuts_of_each(options.cuts, kinds);
        let cpus = std::thread::available_parallelism().map_or(1, usize::from);
        let workers = (cpus * WORKERS_EACH).clamp(1, MOST_WORKERS);
        // Controls first: where one of them fails, nothing that follows would be believed.
        let controls = writer.record().header.controls.clone();
        let is_control = |single_lane: &&SingleLane| controls.iter().any(|name| name == single_lane.name());
        let (first, others): (Vec<&SingleLane>, Vec<&SingleLane>) = specimens.iter().partition(is_control);
        let mut whole: Vec<&SingleLane> = Vec::new();
        'lanes: for single_lane in first.into_iter().chain(others) {
            for kind in kinds {
                let job =
                    Job { single_lane, kind, seed, cuts, sectors, disk_bytes: lane_size.0, workers, keep_in, trace };
                let found = match cut(scratch, &job, stop) {
                    Ok(found) => found,
                    Err(failure) if failure.status == Status::Interrupted => return Err(failure),
                    Err(failure) => {
                        let (lane, at) = (single_lane.name().to_owned(), kind.name.to_owned());
                        let failed = Failed { lane, at, reason: failure.message.clone() };
                        give_up(writer, failed, options.quiet)?;
                        if is_control(&single_lane) || !scratch.is_clear() {
                            return Err(failure);
                        }
                        continue 'lanes;
                    }
                };
                if !options.quiet {
                    // What nothing promised is missing, not broken: the report counts it apart.
                    let what = if found.promised { "broke a promise" } else { "left names out that nothing promised" };
                    terminal::say!(
                        "{} {}: {} of {} cuts {what}, {:.1} s",
                        report::clean_text(&found.lane),
                        found.workload,
                        found.broken,
                        found.cuts,
                        found.recording_seconds + found.replay_seconds
                    );
                }
                writer.add(DurabilityLine::Cuts(Box::new(found)))?;
            }
            whole.push(single_lane);
        }
        Ok(whole)
    }

    /// The line that does it again.
    fn again(&self) -> Vec<String> {
        let trace = self.traced.map(|traced| traced.trace.path.as_path());
        again(self.options, self.seed, self.lane_size, trace)
    }
}

/// Refuses lanes that were typed and cannot lose this disk; the controls, which come by themselves, lose none.
fn check_can_lose_disks(options: &Powercut, number: u32) -> Result<(), Failure> {
    let defaults = DEFAULT_LANES.map(str::to_owned);
    let texts = if options.lanes.is_empty() { &defaults[..] } else { &options.lanes };
    let specs = planning::lanes(texts, None)?;
    specs.iter().try_for_each(|spec| lanes::check_can_lose_disk(spec, number)).map_err(lane_failure)
}

/// Refuses a number among the lanes: behind a space it is not that of the disk.
fn check_number_is_no_lane(options: &Powercut) -> Result<(), Failure> {
    let is_number = |lane: &&String| !lane.is_empty() && lane.bytes().all(|byte| byte.is_ascii_digit());
    match options.lanes.iter().find(is_number).filter(|_| options.lose_disk.is_some()) {
        None => Ok(()),
        Some(number) => Err(Failure::usage(format!(
            "there is no lane `{number}`, and the number of a disk follows an equals sign; write --lose-disk={number}"
        ))),
    }
}

/// Refuses lanes whose writes no log holds.
fn check_recorded(specimens: &[SingleLane]) -> Result<(), Failure> {
    if let Some((lane, layer)) = specimens.iter().find_map(|lane| lane.not_recorded_on().map(|layer| (lane, layer))) {
        return Err(Failure::usage(format!(
            "lane {}: {layer} writes all of its disk before each filesystem, more than a log of writes holds; leave it out",
            report::clean_text(lane.name())
        )));
    }
    Ok(())
}

/// Cuts each lane in a guest, by its kernel.
fn in_guest(options: &Powercut, venue: &Venue) -> Result<(), Failure> {
    if options.look.is_some() {
        return Err(Failure::usage(
            "--look mounts a kept image on this machine's own kernel, for a person to look at; leave the guest out",
        ));
    }
    let stop = stop_flag()?;
    let traced = traced(options, &stop)?;
    let work = Work::new(options, traced.as_ref())?;
    let (lane_size, seed) = (work.lane_size, work.seed);
    durability::check_lane_size(lane_size, 0)?;
    let (specs, _) = with_controls(&options.lanes)?;
    if let Some(number) = options.lose_disk {
        check_can_lose_disks(options, number)?;
    }
    let on = directory(None)?;
    let path = record_path(options.output.as_deref(), "powercut", seed)?;
    let lanes = durability::GuestLanes { venue, specs: &specs, on: &on, lane_bytes: lane_size.0 };
    let more: &[&str] = if options.no_speed { &[] } else { &["--no-speed"] };
    let mut errand = lanes.errand(again(options, seed, lane_size, None), more, &path, options.quiet)?;
    if let Some(traced) = &traced {
        if matches!(venue, Venue::Uml) {
            lanes::guest::check_room_for_uml(Some(MEMORY_WITH_TRACE)).map_err(lane_failure)?;
        }
        // The logs of both disks of a lane hold what is written.
        let more = traced.room(lane_size.0).saturating_sub(durability::room(lane_size.0));
        errand.disk_bytes = errand.disk_bytes.saturating_add(more.saturating_mul(2));
        errand.trace = Some(traced.in_guest()?);
    }
    let planned = planned(options.cuts, &work.kinds);
    durability::announce(specs.len(), Some(planned), errand.disk_bytes, &on, options.quiet)?;
    traced.iter().for_each(|traced| traced.announce(options.quiet));
    let writer = in_guest::run(&errand, &stop)?;
    show(&writer, &options.format)?;
    durability::failed_lanes(writer.record())
}

/// Races the lanes that were cut to the end, and keeps their figures.
fn race(
    options: &Powercut,
    place: &speed::Place,
    lanes: &[&SingleLane],
    kinds: &[&Kind],
    writer: &mut DurabilityWriter,
) -> Result<(), Failure> {
    let promised: Vec<&Kind> = kinds.iter().copied().filter(|kind| kind.promised).collect();
    let beside = speed::record_beside(options.output.as_deref());
    let (speeds, failed) = speed::race(lanes, &promised, place, beside.as_deref())?;
    for one in speeds {
        writer.add(DurabilityLine::Speed(one))?;
    }
    failed.into_iter().try_for_each(|failed| give_up(writer, failed, options.quiet))
}

/// Cuts of each kind of work: what was asked for is shared by those that promise something.
fn cuts_of_each(asked: u32, kinds: &[&Kind]) -> usize {
    let promised = kinds.iter().filter(|kind| kind.promised).count().max(1);
    (asked as usize).div_ceil(promised)
}

/// Cuts of each lane, as the plan tells them.
fn planned(asked: u32, kinds: &[&Kind]) -> PlannedCuts {
    let each = cuts_of_each(asked, kinds) as u64;
    let promised = kinds.iter().filter(|kind| kind.promised).count() as u64;
    PlannedCuts { promised: each * promised, unpromised: each * (kinds.len() as u64 - promised) }
}

/// Writes down that a lane failed, and goes on.
fn give_up(writer: &mut DurabilityWriter, failed: Failed, quiet: bool) -> Result<(), Failure> {
    if !quiet {
        let (lane, at, reason) = (&failed.lane, &failed.at, &failed.reason);
        terminal::say!("{} {at}: failed: {}", report::clean_text(lane), report::clean_text(reason));
    }
    writer.add(DurabilityLine::Failed(failed))
}

/// Prints what was found. A run whose controls failed is shown, and ends as failed.
///
/// # Errors
/// Where it cannot be printed, and where it is not to be trusted.
pub fn show(writer: &DurabilityWriter, format: &str) -> Result<(), Failure> {
    let found = stats::durability::findings(writer.record());
    let shown = tilde(writer.path());
    // This run kept them itself, a moment ago.
    let cases = keep_in(writer.path());
    let text = report::render_durability(&found, format, Some(&shown), Some(&cases), &style());
    print(&text.map_err(Failure::usage)?)?;
    match found.untrusted.is_empty() {
        true => Ok(()),
        false => Err(Failure::failed(
            "the controls did not do what they must, so this run shows nothing; take more cuts with --cuts, or report \
             it with the record",
        )),
    }
}

/// Where the images of a record are kept.
pub fn keep_in(record: &Path) -> PathBuf {
    record.with_extension("kept")
}

/// A flag that Ctrl-C and its kin set.
///
/// # Errors
/// Where signals cannot be caught.
pub fn stop_flag() -> Result<Arc<AtomicBool>, Failure> {
    let stop = Arc::new(AtomicBool::new(false));
    signals::stop(&stop)?;
    Ok(stop)
}

/// Where lanes and logs go.
///
/// # Errors
/// What is no directory.
pub fn directory(on: Option<&Path>) -> Result<PathBuf, Failure> {
    let path = std::path::absolute(on.unwrap_or(Path::new("."))).map_err(|error| Failure::failed(error.to_string()))?;
    match path.canonicalize() {
        Ok(real) if real.is_dir() => Ok(real),
        _ => Err(Failure::usage(format!("--on {}: there is no such directory; name one", path.display()))),
    }
}

/// The machine with the disk under a directory.
///
/// # Errors
/// Where the directory cannot be looked at.
pub fn machine_of(on: &Path) -> Result<model::machine::Machine, Failure> {
    let host = lanes::host::find(on).map_err(lane_failure)?;
    Ok(machine::read(host.disk.as_deref().unwrap_or_default()))
}

/// Where the record goes: among those of durability, or where the user says.
///
/// # Errors
/// Where the folder cannot be made, does not exist, or holds such a file already.
pub fn record_path(output: Option<&Path>, command: &str, seed: u64) -> Result<PathBuf, Failure> {
    let path = match output {
        Some(path) => std::path::absolute(path).map_err(|error| Failure::failed(error.to_string()))?,
        None => {
            let name = format!("{}-{command}-{:04x}.jsonl", trial_run::now().replace(':', "-"), seed & 0xffff);
            state::durability_folder()?.join(name)
        }
    };
    RecordWriter::check_new(&path).map(|()| path)
}

fn kinds(names: &[String]) -> Result<Vec<&'static Kind>, Failure> {
    let all = || KINDS.iter().map(|kind| kind.name).collect::<Vec<_>>().join(", ");
    let find = |name: &String| {
        engine::durable::find(name).ok_or_else(|| {
            Failure::usage(format!("there is no workload `{}`; choose one of {}", report::clean_text(name), all()))
        })
    };
    let named: Vec<&Kind> = names.iter().map(find).collect::<Result<_, _>>()?;
    if !named.is_empty() && named.iter().all(|kind| !kind.promised) {
        let promised: Vec<&str> = KINDS.iter().filter(|kind| kind.promised).map(|kind| kind.name).collect();
        return Err(Failure::usage(format!(
            "{} alone can never be trusted: it promises nothing, so no control can prove that a loss would be seen; add \
             --workload sequences, or another of {}",
            named[0].name,
            promised.join(", ")
        )));
    }
    // In the order of the table, and once, however often it was named.
    let wanted = |kind: &&Kind| names.is_empty() || named.iter().any(|named| named.name == kind.name);
    Ok(KINDS.iter().filter(wanted).collect())
}

/// The lanes, controls among them, and the names of the two controls.
fn specimens(texts: &[String]) -> Result<(Vec<SingleLane>, Vec<String>), Failure> {
    let (specs, controls) = with_controls(texts)?;
    let specimens = specs.iter().map(SingleLane::resolve).collect::<Result<_, _>>().map_err(lane_failure)?;
    Ok((specimens, controls))
}

/// The same before it is known whether this kernel has them.
fn with_controls(texts: &[String]) -> Result<(Vec<LaneSpec>, Vec<String>), Failure> {
    let defaults = DEFAULT_LANES.map(str::to_owned);
    let texts = if texts.is_empty() { &defaults[..] } else { texts };
    let mut specs = planning::lanes(texts, None)?;
    let mut controls = Vec::new();
    for text in CONTROLS {
        let wanted: LaneSpec = text.parse().map_err(|error| Failure::failed(format!("{text}: {error}")))?;
        // On layers it is another lane: what they lose is not the control's.
        let same = |spec: &&LaneSpec| LaneSpec { name: wanted.name.clone(), ..(*spec).clone() } == wanted;
        match specs.iter().find(same) {
            Some(spec) => controls.push(spec.name.clone()),
            None => {
                let taken = specs.iter().any(|spec| spec.name == wanted.name);
                let name = if taken { format!("control-{text}") } else { wanted.name.clone() };
                controls.push(name.clone());
                specs.push(LaneSpec { name, ..wanted });
            }
        }
    }
    for (index, spec) in specs.iter().enumerate() {
        if specs[..index].iter().any(|other| other.name == spec.name) {
            return Err(Failure::usage(format!(
                "two lanes are called {}; name one of them with NAME=",
                report::clean_text(&spec.name)
            )));
        }
    }
    Ok((specs, controls))
}

fn again(options: &Powercut, seed: u64, lane_size: Bytes, trace: Option<&Path>) -> Vec<String> {
    let mut line = vec!["powercut".to_owned()];
    line.extend(options.lanes.iter().cloned());
    line.extend(options.workloads.iter().flat_map(|name| ["--workload".to_owned(), name.clone()]));
    line.extend(trace.iter().flat_map(|path| ["--replay".to_owned(), path.display().to_string()]));
    line.extend(["--cuts".to_owned(), options.cuts.to_string(), "--seed".to_owned(), seed.to_string()]);
    line.extend(["--lane-size".to_owned(), lane_size.to_string()]);
    line.extend(options.sector.iter().flat_map(|bytes| ["--sector".to_owned(), bytes.to_string()]));
    line.extend(options.lose_disk.map(|number| match number {
        1 => "--lose-disk".to_owned(),
        number => format!("--lose-disk={number}"),
    }));
    line.extend(options.no_speed.then(|| "--no-speed".to_owned()));
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_plan_counts_cuts_as_they_are_made() {
        let of = |asked, names: &[&str]| {
            let names: Vec<String> = names.iter().map(|&name| name.to_owned()).collect();
            planned(asked, &kinds(&names).unwrap())
        };
        assert_eq!(of(300, &[]), PlannedCuts { promised: 300, unpromised: 60 });
        // Shared out evenly: the rest is rounded up.
        assert_eq!(of(301, &[]), PlannedCuts { promised: 305, unpromised: 61 });
        assert_eq!(of(24, &["append"]), PlannedCuts { promised: 24, unpromised: 0 });
        assert_eq!(of(24, &["sequences", "sequences-no-dirsync"]), PlannedCuts { promised: 24, unpromised: 24 });
    }

    #[test]
    fn a_kind_of_work_is_done_once_however_often_it_is_named() {
        let names = |names: &[&str]| {
            let names: Vec<String> = names.iter().map(|&name| name.to_owned()).collect();
            kinds(&names).map(|kinds| kinds.iter().map(|kind| kind.name).collect::<Vec<_>>())
        };
        assert_eq!(names(&["append", "append"]).ok(), Some(vec!["append"]));
        assert_eq!(names(&["replace", "append", "replace"]).ok(), Some(vec!["append", "replace"]));
        assert_eq!(names(&[]).ok().map(|all| all.len()), Some(KINDS.len()));
        assert!(names(&["append", "nothing"]).is_err());
        assert!(names(&["sequences-no-dirsync"]).is_err());
        let both = names(&["sequences-no-dirsync", "sequences"]).ok();
        assert_eq!(both, Some(vec!["sequences", "sequences-no-dirsync"]));
    }
}
