//! One kind of work in one lane: recorded, cut, looked at, counted.

use super::recording::{Recording, Take, record};
use super::replay::{Inspection, Replayed, replay};
use super::scratch_space::ScratchSpace;
use super::traced::KeptTrace;
use super::{cannot, saved_case};
use crate::failure::Failure;
use crashes::control::most_resident;
use crashes::crash_model::{Cut, Survival, cuts, variety};
use crashes::log::Log;
use engine::durable::{Found, Kind, Terms};
use lanes::SingleLane;
use model::durability::{Compared, Cuts, Example};
use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

/// How many failures of a kind of work are told in the record.
const EXAMPLES: usize = 5;

/// What is to be done.
pub struct Job<'a> {
    /// The lane.
    pub single_lane: &'a SingleLane,
    /// The work.
    pub kind: &'a Kind,
    /// Of everything.
    pub seed: u64,
    /// How many cuts.
    pub cuts: usize,
    /// Sizes of sectors between which writes are torn.
    pub sectors: &'a [u32],
    /// Size of the disk.
    pub disk_bytes: u64,
    /// How many images at a time.
    pub workers: usize,
    /// Where what makes a failing image again is kept.
    pub keep_in: &'a Path,
    /// The trace whose calls the work is; `None`: it is work of the table.
    pub trace: Option<&'a KeptTrace>,
}

/// Does it.
///
/// # Errors
/// What the machine says; interrupted.
pub fn cut(scratch: &mut ScratchSpace, job: &Job, stop: &AtomicBool) -> Result<Cuts, Failure> {
    let Job { single_lane, kind, .. } = job;
    let started = Instant::now();
    let take = Take { single_lane, kind, terms: Terms::new(kind.records, job.seed), disk_bytes: job.disk_bytes };
    let recording = record(scratch, &take, stop)?;
    let recording_seconds = started.elapsed().as_secs_f64();
    let log = Log::open(&recording.log).map_err(cannot("read the log of writes"))?;
    let chosen = cuts(&log, &recording.windows, job.cuts, job.seed ^ name_hash(kind.name), job.sectors);
    let workers = if single_lane.copies_stand_side_by_side() { job.workers } else { 1 };
    let started = Instant::now();
    let replayed = replay(scratch, &recording, &Inspection { single_lane, kind }, &chosen, workers, stop)?;
    let seen = &replayed.seen;
    let mut counted = count(single_lane, kind, &recording, seen);
    let (open, images) = variety(&log, &chosen);
    (counted.open, counted.images) = (Some(open), Some(images));
    counted.recording_seconds = recording_seconds;
    counted.replay_seconds = started.elapsed().as_secs_f64();
    counted.workers = workers as u32;
    counted.log_bytes = std::fs::metadata(&recording.log).map_or(0, |metadata| metadata.len());
    counted.memory_bytes = most_resident() + recording.memory_bytes.max(replayed.memory_bytes);
    // Work that promises nothing of its names promises that the filesystem mounts.
    let blamed = |one: &&Replayed| one.unmountable.is_some() || (kind.promised && is_broken(one));
    let first_blamed = seen.iter().find(blamed).map(|one| one.cut);
    let others = seen.iter().filter(|one| is_broken(one) && Some(one.cut) != first_blamed);
    let shown = seen.iter().find(blamed).into_iter().chain(others);
    counted.examples = shown.take(EXAMPLES).map(example).collect();
    let complaint = |one: &Replayed| Example { said: one.complaint.clone().unwrap_or_default(), ..example(one) };
    counted.complained = seen.iter().filter(|one| one.complaint.is_some()).take(EXAMPLES).map(complaint).collect();
    // The first of each is kept: its log is the shortest.
    let keep = |cut: Cut, what: &str| {
        if single_lane.disks() > 1 || !single_lane.spec().layers.is_empty() {
            // Nobody could look at it: its layers are a guest's, and so is the key of what is encrypted; of several disks
            // one image is shown.
            return Ok(String::new());
        }
        let (lane, workload) = (single_lane.spec().to_line(), kind.name.to_owned());
        let (terms, trace) = (recording.terms_at(cut.tick), job.trace.cloned());
        let case = saved_case::Case { lane, workload, terms, cut, trace };
        saved_case::keep(job.keep_in, &case, what, &log).map(|folder| folder.display().to_string())
    };
    if let (Some(cut), Some(first)) = (first_blamed, counted.examples.first_mut()) {
        first.kept = keep(cut, "")?;
    }
    let complained = seen.iter().find(|one| one.complaint.is_some());
    if let (Some(one), Some(first)) = (complained, counted.complained.first_mut()) {
        first.kept = keep(one.cut, "-checker")?;
    }
    drop(log);
    std::fs::remove_file(&recording.log).map_err(cannot("remove the log of writes"))?;
    Ok(counted)
}

/// Cuts of one kind of work are not those of another.
fn name_hash(name: &str) -> u64 {
    model::text::fnv1a(name.bytes())
}

fn is_broken(seen: &Replayed) -> bool {
    seen.unmountable.is_some() || !seen.found.is_clean()
}

fn example(seen: &Replayed) -> Example {
    let said = match &seen.unmountable {
        Some(words) => words.clone(),
        None => seen.found.first.clone(),
    };
    Example { cut: seen.cut.to_string(), acknowledged: seen.acknowledged, said, kept: String::new() }
}

/// What was compared in all images; `None`: the work does not count it.
fn compared(seen: &[Replayed]) -> Option<Compared> {
    let of = |figure: fn(&Found) -> u64| seen.iter().map(|one| figure(&one.found)).sum();
    let all =
        Compared { names: of(|found| found.names), files: of(|found| found.files), bytes: of(|found| found.bytes) };
    (all != Compared::default()).then_some(all)
}

fn count(single_lane: &SingleLane, kind: &Kind, recording: &Recording, seen: &[Replayed]) -> Cuts {
    let of = |is: fn(&Replayed) -> bool| seen.iter().filter(|one| is(one)).count() as u64;
    Cuts {
        lane: single_lane.name().to_owned(),
        workload: kind.name.to_owned(),
        what: kind.what.clone().into_owned(),
        promised: kind.promised,
        records: recording.records,
        writes: recording.writes,
        flushes: recording.flushes,
        cuts: seen.len() as u64,
        broken: of(is_broken),
        broken_torn_512: of(|one| {
            is_broken(one) && matches!(one.cut.survival, Survival::Torn { sector_bytes: 512, .. })
        }),
        lost: of(|one| one.found.lost > 0),
        torn: of(|one| one.found.torn > 0),
        stale: of(|one| one.found.stale > 0),
        mixed: of(|one| one.found.mixed > 0),
        unmountable: of(|one| one.unmountable.is_some()),
        complaints: of(|one| one.complaint.is_some()),
        repaired: of(|one| one.repaired),
        forced: of(|one| one.forced),
        loses_a_disk: single_lane.lost_disk().is_some(),
        lost_disk: single_lane.lost_disk(),
        compared: compared(seen),
        ..Cuts::default()
    }
}
