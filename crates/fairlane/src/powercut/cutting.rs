//! One kind of work in one lane: recorded, cut, looked at, counted.

use super::bench::Bench;
use super::recording::{Recording, record};
use super::replay::{Inspection, Seen, replay};
use super::{cannot, kept};
use crate::failure::Failure;
use crashes::log::Log;
use crashes::survive::cuts;
use crashes::work::{Kind, Terms};
use lanes::Specimen;
use model::durability::{Cuts, Example};
use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

/// How many failures of a kind of work are told in the record.
const EXAMPLES: usize = 5;

/// What is to be done.
pub struct Job<'a> {
    /// The lane.
    pub specimen: &'a Specimen,
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
}

/// Does it.
///
/// # Errors
/// What the machine says; interrupted.
pub fn cut(bench: &mut Bench, job: &Job, stop: &AtomicBool) -> Result<Cuts, Failure> {
    let Job { specimen, kind, .. } = job;
    let terms = Terms { records: kind.records, seed: job.seed };
    let started = Instant::now();
    let recording = record(bench, specimen, kind, terms, job.disk_bytes, "log", stop)?;
    let recording_seconds = started.elapsed().as_secs_f64();
    let log = Log::open(&recording.log).map_err(cannot("read the log of writes"))?;
    let chosen = cuts(&log, (recording.from, recording.until), job.cuts, job.seed ^ name_hash(kind.name), job.sectors);
    let inspection = Inspection { specimen, kind, terms };
    let started = Instant::now();
    let seen = replay(bench, &recording, &inspection, &chosen, job.workers, stop)?;
    let mut counted = count(specimen, kind, &recording, &seen);
    counted.recording_seconds = recording_seconds;
    counted.replay_seconds = started.elapsed().as_secs_f64();
    counted.workers = job.workers as u32;
    counted.log_bytes = std::fs::metadata(&recording.log).map_or(0, |metadata| metadata.len());
    for one in seen.iter().filter(|one| is_broken(one)).take(EXAMPLES) {
        counted.examples.push(example(one));
    }
    for one in seen.iter().filter(|one| one.complaint.is_some()).take(EXAMPLES) {
        counted.complained.push(Example { said: one.complaint.clone().unwrap_or_default(), ..example(one) });
    }
    // The first failure of promised work is kept: its log is the shortest.
    if let (Some(first), Some(one)) = (counted.examples.first_mut(), seen.iter().find(|one| is_broken(one)))
        && kind.promised
    {
        let case = kept::Case { lane: specimen.spec().to_line(), workload: kind.name.to_owned(), terms, cut: one.cut };
        first.kept = kept::keep(job.keep_in, &case, &log)?.display().to_string();
    }
    drop(log);
    std::fs::remove_file(&recording.log).map_err(cannot("remove the log of writes"))?;
    Ok(counted)
}

/// Cuts of one kind of work are not those of another.
fn name_hash(name: &str) -> u64 {
    name.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

fn is_broken(seen: &Seen) -> bool {
    seen.unmountable.is_some() || !seen.found.is_clean()
}

fn example(seen: &Seen) -> Example {
    let said = match &seen.unmountable {
        Some(words) => words.clone(),
        None => seen.found.first.clone(),
    };
    Example { cut: seen.cut.to_string(), acknowledged: seen.acknowledged, said, kept: String::new() }
}

fn count(specimen: &Specimen, kind: &Kind, recording: &Recording, seen: &[Seen]) -> Cuts {
    let of = |is: fn(&Seen) -> bool| seen.iter().filter(|one| is(one)).count() as u64;
    Cuts {
        lane: specimen.name().to_owned(),
        workload: kind.name.to_owned(),
        what: kind.what.to_owned(),
        promised: kind.promised,
        records: recording.records,
        writes: recording.writes,
        flushes: recording.flushes,
        cuts: seen.len() as u64,
        broken: of(is_broken),
        lost: of(|one| one.found.lost > 0),
        torn: of(|one| one.found.torn > 0),
        stale: of(|one| one.found.stale > 0),
        mixed: of(|one| one.found.mixed > 0),
        unmountable: of(|one| one.unmountable.is_some()),
        complaints: of(|one| one.complaint.is_some()),
        repaired: of(|one| one.repaired),
        ..Cuts::default()
    }
}
