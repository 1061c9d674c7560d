//! Whether a lane's direct I/O really was direct.
//!
//! O_DIRECT is a wish: a filesystem may send such I/O through the page cache and say nothing (Btrfs does for writes to
//! files with checksums of data since Linux 6.15, upstream 968f19c5b1b7, and for reads of compressed files). It is seen
//! and never assumed: what of the work's own files lay in the page cache after it; of writes, because some filesystems let
//! go of what they wrote, single ones that were watched when all was done, and pages that became dirty in the windows
//! against the bytes that the work wrote in them. Nobody else can add to the first two.

use crate::series::{LaneSeries, Reading, Scope};
use crate::statements::{name, pair as statement};
use model::Sentence;
use model::findings::{Estimate, Kept, KeptForm, ResultFinding};
use model::job::{Io, Job};
use model::kinds::action;
use model::lane::Lane;
use model::sentence::{Value, Weight};
use model::trial::{Group, Trial};
use model::workload::{Kind, Pattern, Workload};

/// From this share on the I/O went through the page cache. Chosen: lanes that write directly show 0.00 to 0.11 dirtied
/// bytes per byte written (their metadata; Btrfs with nodatasum the most), those that do not 1.05 and more; of files that
/// were read or written directly nothing lies in the cache.
const BUFFERED: f64 = 0.5;

/// Where an option of a lane turns off what makes its filesystem buffer direct writes to files with checksums of data.
const WITHOUT_CHECKSUMS: [(&str, &str); 1] = [("btrfs", "nodatasum")];

/// What a group's job asks for, where that is direct I/O by Fairlane's own engine.
fn asked<'a>(workload: &'a Workload, group: &Group) -> Option<&'a Io> {
    let io = match &workload.kind {
        Kind::Io(io) => io,
        Kind::Jobs(jobs) => &jobs.jobs.iter().find(|job| job.name == group.job)?.io,
        _ => return None,
    };
    io.direct.then_some(io)
}

/// Whether a group's job asks for direct I/O, whoever runs it.
fn asks_direct(workload: &Workload, group: &Group) -> bool {
    match &workload.kind {
        Kind::Fio(run) => run.jobs.iter().any(|job| job.direct && job.name == group.job),
        _ => asked(workload, group).is_some(),
    }
}

/// Whether everything that the workload writes is asked to be direct: otherwise nobody knows whose pages became dirty.
fn only_direct_writes(workload: &Workload) -> bool {
    let direct = |io: &Io| io.direct || !io.rw.writes();
    match &workload.kind {
        Kind::Io(io) => direct(io),
        Kind::Jobs(jobs) => jobs.jobs.iter().all(|Job { io, .. }| direct(io)),
        _ => false,
    }
}

/// Bytes through the page cache per byte read or written, the least of a lane's rounds: what other programs write adds to
/// it and takes nothing away. `None` where the work does not ask for direct I/O, or the kernel does not tell.
pub(crate) fn share(workload: &Workload, group: &str, lane: &LaneSeries, reading: &Reading) -> Option<f64> {
    let reads = reading.reads(group);
    let least = |of: &dyn Fn(&Trial, &Group, &Io) -> Option<f64>| {
        let all = lane.group(group).filter_map(|(trial, group)| of(trial, group, asked(workload, group)?));
        all.min_by(f64::total_cmp)
    };
    // Of work that does both nobody knows whether what lies in the cache was read or written.
    let left = least(&|_, of, io| of.cached_files.filter(|_| reads || !io.rw.reads())?.share(of.bytes));
    let watched = if reads { None } else { watched(workload, group, lane) };
    let dirtied = least(&|trial, of, io| {
        let scope = Scope::new(trial, of, reading);
        // A file that grows by direct writes dirties metadata for each of them: pages tell nothing of its data.
        let told = !reads && scope.write_bytes > 0.0 && only_direct_writes(workload) && io.rw != Pattern::Append;
        scope.system.dirtied_bytes.filter(|_| told).map(|dirtied| dirtied as f64 / scope.write_bytes)
    });
    // Anybody's pages become dirty: where writes were watched, those pages count that this lane was seen to make.
    let dirtied = dirtied.filter(|_| watched.is_none_or(|share| share > 0.0));
    [left, watched, dirtied].into_iter().flatten().max_by(f64::total_cmp)
}

/// Writes seen in the page cache from which on a lane buffers: nobody else can add one, and a busy machine misses some.
const SEEN: u32 = 2;

/// What the watched writes of all rounds tell: 1 where some were seen in the page cache; `None`: none was watched.
fn watched(workload: &Workload, group: &str, lane: &LaneSeries) -> Option<f64> {
    let all = lane.group(group).filter(|(_, group)| asks_direct(workload, group));
    let of_rounds = all.filter_map(|(_, group)| group.cached_files);
    let (watched, cached) =
        of_rounds.fold((0, 0), |(all, seen), of| (all + of.watched_writes, seen + of.cached_writes));
    match (watched, cached) {
        (0, _) => None,
        (_, SEEN..) => Some(1.0),
        _ => Some(f64::from(cached) / f64::from(watched)),
    }
}

fn is_buffered(estimate: &Estimate) -> bool {
    estimate.page_cache_share.is_some_and(|share| share >= BUFFERED)
}

/// The lanes that did something else than the work asks for, where others did what it asks for.
pub(crate) fn lanes(estimates: &[Estimate]) -> Vec<String> {
    let known = estimates.iter().filter(|estimate| estimate.page_cache_share.is_some()).count();
    let names: Vec<String> = estimates.iter().filter(|of| is_buffered(of)).map(|of| of.lane.clone()).collect();
    if names.len() < known { names } else { Vec::new() }
}

/// The results in which a lane sent direct writes through the page cache.
pub(crate) fn writes_of<'a>(results: &'a [ResultFinding], lane: &'a str) -> impl Iterator<Item = &'a ResultFinding> {
    let did = move |result: &&ResultFinding| result.estimates.iter().any(|of| of.lane == lane && is_buffered(of));
    results.iter().filter(|result| action(&result.group) != "read").filter(did)
}

/// The option with which a lane that buffers direct writes for its checksums of data would have none; `None`: it has none
/// already, or nobody knows one. One that compresses would lose that as well, and be another lane.
pub(crate) fn option_without_checksums(lane: &Lane) -> Option<&'static str> {
    let compresses = lane.mount_options.iter().any(|option| option.starts_with("compress"));
    let known = WITHOUT_CHECKSUMS.iter().find(|(filesystem, _)| *filesystem == lane.filesystem);
    known.filter(|_| lane.promises.data_checksums && !compresses).map(|(_, option)| *option)
}

/// A sentence for each lane that buffered.
pub(crate) fn warnings(lanes: &[&Lane], estimates: &[Estimate], reads: bool, kept: &[Kept]) -> Vec<Sentence> {
    let of = |estimate: &Estimate| {
        let lane = lanes.iter().find(|lane| lane.name == estimate.lane);
        let share = Value::Share(estimate.page_cache_share.unwrap_or(0.0).min(1.0));
        let named = name(&estimate.lane);
        let compressed = kept.iter().any(|of| of.lane == estimate.lane && of.form == KeptForm::Compressed);
        match lane.filter(|_| !reads).and_then(|lane| Some((option_without_checksums(lane)?, &*lane.venue))) {
            _ if reads && compressed => statement::read_not_direct_compressed(named, share),
            _ if reads => statement::read_not_direct(named, share),
            // Whose mount options are not ours to choose.
            Some((_, "directory")) => statement::not_direct_in_directory(named),
            Some(_) => statement::not_direct_with_checksums(named),
            None => statement::not_direct(named),
        }
    };
    estimates
        .iter()
        .filter(|estimate| is_buffered(estimate))
        .map(|estimate| of(estimate).weigh(Weight::Choice))
        .collect()
}
