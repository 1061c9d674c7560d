//! Whether a lane's direct writes really were direct.
//!
//! O_DIRECT is a wish: a filesystem may send such writes through the page cache and say nothing (Btrfs does for files
//! with checksums of data since Linux 6.15, upstream 968f19c5b1b7). It is seen and never assumed: pages that became
//! dirty in the windows, against the bytes that the work wrote in them.

use crate::say::{name, pair as said};
use crate::series::{LaneSeries, Reading, Scope};
use model::Sentence;
use model::findings::Estimate;
use model::lane::Lane;
use model::sentence::Value;
use model::workload::{Kind, Workload};

/// From this share on the writes went through the page cache. Chosen: lanes that write directly show 0.00 to 0.11 (their
/// metadata; Btrfs with nodatasum the most), those that do not 1.05 and more.
const BUFFERED: f64 = 0.5;

/// Bytes that became dirty per byte written, the least of a lane's rounds: what other programs write adds to it and takes
/// nothing away. `None` where the work does not write, does not ask for direct I/O, or the kernel does not tell.
pub(crate) fn share(workload: &Workload, group: &str, lane: &LaneSeries, reading: &Reading) -> Option<f64> {
    let Kind::Io(io) = &workload.kind else { return None };
    let of = |scope: Scope| {
        let dirtied = scope.system.dirtied_bytes? as f64;
        (scope.exact && scope.write_bytes > 0.0).then(|| dirtied / scope.write_bytes)
    };
    let shares = lane.group(group).map(|(trial, of)| Scope::of(trial, of, reading)).filter_map(of);
    if io.direct && !reading.reads(group) { shares.min_by(f64::total_cmp) } else { None }
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

/// Btrfs checksums data unless an option turns it off.
fn has_checksums(lane: &Lane) -> bool {
    let off = |option: &String| option == "nodatasum" || option == "nodatacow";
    lane.filesystem == "btrfs" && !lane.mount_options.iter().any(off)
}

/// A sentence for each lane that buffered.
pub(crate) fn warnings(lanes: &[&Lane], estimates: &[Estimate]) -> Vec<Sentence> {
    let of = |estimate: &Estimate| {
        let lane = lanes.iter().find(|lane| lane.name == estimate.lane);
        let share = Value::Share(estimate.page_cache_share.unwrap_or(0.0).min(1.0));
        match lane.is_some_and(|lane| has_checksums(lane)) {
            true => said::not_direct_with_checksums(name(&estimate.lane), share),
            false => said::not_direct(name(&estimate.lane), share),
        }
    };
    estimates.iter().filter(|estimate| is_buffered(estimate)).map(of).collect()
}
