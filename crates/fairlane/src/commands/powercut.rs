//! `fairlane powercut`.

use crate::failure::Failure;
use crate::options::Powercut;
use crate::powercut::bench::Bench;
use crate::powercut::recording::record;
use crate::powercut::replay::{Inspection, replay};
use crashes::work::{KINDS, Terms};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

/// Cuts each lane.
///
/// # Errors
/// With the documented exit statuses.
pub fn run(options: &Powercut) -> Result<(), Failure> {
    let stop = Arc::new(AtomicBool::new(false));
    for signal in [signal_hook::consts::SIGINT, signal_hook::consts::SIGTERM, signal_hook::consts::SIGHUP] {
        signal_hook::flag::register(signal, Arc::clone(&stop))
            .map_err(|error| Failure::failed(format!("cannot catch signals: {error}")))?;
    }
    let seed = options.seed.unwrap_or(1);
    let on = std::path::absolute(options.on.clone().unwrap_or_else(|| ".".into())).unwrap();
    let mut bench = Bench::begin(&on, &super::planning::run_id())?;
    for lane in &options.lanes {
        let spec: model::lane::LaneSpec = lane.parse().map_err(|error| Failure::usage(format!("{error}")))?;
        let specimen = lanes::Specimen::resolve(&spec).map_err(super::lane_failure)?;
        for kind in KINDS.iter().filter(|kind| options.workloads.is_empty() || options.workloads.iter().any(|name| name == kind.name)) {
            let terms = Terms { records: kind.records, seed };
            let started = Instant::now();
            let recording = record(&mut bench, &specimen, kind, terms, options.lane_size.0, "log", &stop)?;
            let recorded = started.elapsed().as_secs_f64();
            let log = crashes::log::Log::open(&recording.log).unwrap();
            let cuts = crashes::survive::cuts(&log, recording.from, options.cuts as usize, seed);
            let started = Instant::now();
            let seen = replay(&mut bench, &recording, &Inspection { specimen: &specimen, kind, terms }, &cuts, 2, &stop)?;
            let seconds = started.elapsed().as_secs_f64();
            let bad = seen.iter().filter(|one| !one.found.is_clean()).count();
            let unmountable = seen.iter().filter(|one| one.unmountable.is_some()).count();
            let complaints = seen.iter().filter(|one| one.complaint.is_some()).count();
            println!("{lane} {}: recorded {recorded:.2}s records {} writes {} flushes {} log {} bytes; {} cuts {seconds:.2}s {:.1} ms each {:.0}/h; bad {bad} unmountable {unmountable} complaints {complaints}",
                kind.name, recording.records, recording.writes, recording.flushes, std::fs::metadata(&recording.log).unwrap().len(), seen.len(), seconds * 1000.0 / seen.len() as f64, seen.len() as f64 * 3600.0 / seconds);
            for one in seen.iter().filter(|one| !one.found.is_clean()).take(2) { println!("   {:?} acked {} {:?}", one.cut, one.acknowledged, one.found); }
            for one in seen.iter().filter(|one| one.unmountable.is_some()).take(2) { println!("   {:?} {:?}", one.cut, one.unmountable); }
            for one in seen.iter().filter(|one| one.complaint.is_some()).take(2) { println!("   {:?} {:?}", one.cut, one.complaint); }
        }
    }
    bench.end()
}
