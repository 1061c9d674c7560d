//! `fairlane integrity`: does each lane tell the truth about damage, a full disk and a failing one?

use super::powercut::{directory, machine_of, record_path, show, stop_flag};
use super::{durability, lane_failure, planning};
use crate::conductor::trial_run;
use crate::failure::{Failure, Status};
use crate::options::Integrity;
use crate::powercut::damage::{Target, damage};
use crate::powercut::durability_writer::DurabilityWriter;
use crate::powercut::faults::{REFUSED, full, refuse};
use crate::powercut::scratch_space::ScratchSpace;
use crate::powercut::{described, in_guest};
use crate::terminal;
use lanes::SingleLane;
use model::durability::{DurabilityHeader, DurabilityLine, SCHEMA};
use model::lane::{LaneSpec, Venue};
use model::record::EndOutcome;
use std::sync::atomic::{AtomicBool, Ordering};

/// The lanes where none is named.
const DEFAULT_LANES: [&str; 4] = ["ext4", "xfs", "btrfs", "btrfs-raid1=btrfs(-m raid1 -d raid1)"];

/// Damages, fills and fails each lane.
///
/// # Errors
/// With the documented exit statuses.
pub fn run(options: &Integrity) -> Result<(), Failure> {
    report::check_durability(&options.format, None).map_err(Failure::usage)?;
    let stop = stop_flag()?;
    let defaults = DEFAULT_LANES.map(str::to_owned);
    let texts = if options.lanes.is_empty() { &defaults[..] } else { &options.lanes };
    let specs = planning::lanes(texts, None)?;
    if let Some(venue) = options.on.as_deref().and_then(planning::guest_venue) {
        return in_guest(options, &venue, &specs, &stop);
    }
    let on = directory(options.on.as_deref())?;
    let specimens: Vec<SingleLane> =
        specs.iter().map(SingleLane::resolve).collect::<Result<_, _>>().map_err(lane_failure)?;
    let smallest = specimens.iter().map(SingleLane::minimum_bytes).max().unwrap_or(0);
    durability::check_lane_size(options.lane_size, smallest)?;
    if let Some((lane, layer)) = specimens.iter().find_map(|lane| lane.not_recorded_on().map(|layer| (lane, layer))) {
        return Err(Failure::usage(format!(
            "lane {}: what {layer} writes is not damaged here, because user-mode Linux 6.1 panicked at that; leave it out",
            report::clean_text(lane.name())
        )));
    }
    if let Some((lane, layer)) = specimens.iter().find_map(|lane| lane.hidden_by().map(|layer| (lane, layer))) {
        return Err(Failure::usage(format!(
            "lane {}: blocks of files cannot be told from others below {layer}, so nobody knows what is damaged; leave it out, or \
             cut its power: fairlane powercut",
            report::clean_text(lane.name())
        )));
    }
    durability::check_system()?;
    durability::check_tools(&specimens)?;
    let seed = options.seed.unwrap_or_else(planning::new_seed);
    let path = record_path(options.output.as_deref(), "integrity", seed)?;
    durability::announce(specimens.len(), None, durability::room(options.lane_size.0), &on, options.quiet)?;
    let again = again(options, seed);
    let header = DurabilityHeader {
        schema: SCHEMA,
        version: env!("CARGO_PKG_VERSION").to_owned(),
        command: "integrity".to_owned(),
        started: trial_run::now(),
        seed,
        again,
        machine: machine_of(&on)?,
        lane_bytes: options.lane_size.0,
        lanes: specimens.iter().map(described).collect(),
        controls: Vec::new(),
    };
    let mut writer = DurabilityWriter::begin(&path, header)?;
    let worked = ScratchSpace::begin(&on, &planning::run_id()).and_then(|mut scratch| {
        let worked = all(options, seed, &specimens, &mut scratch, &mut writer, &stop);
        let ended = scratch.end();
        worked.and(ended)
    });
    let outcome = match &worked {
        Ok(()) => EndOutcome::Complete,
        Err(failure) if failure.status == Status::Interrupted => EndOutcome::Interrupted,
        Err(_) => EndOutcome::Failed,
    };
    let closed = writer.end(outcome);
    worked.and(closed)?;
    show(&writer, &options.format)
}

fn again(options: &Integrity, seed: u64) -> Vec<String> {
    let mut again = vec!["integrity".to_owned()];
    again.extend(options.lanes.iter().cloned());
    again.extend(["--blocks".to_owned(), options.blocks.to_string(), "--seed".to_owned(), seed.to_string()]);
    again.extend(["--lane-size".to_owned(), options.lane_size.to_string()]);
    again
}

/// Damages, fills and fails each lane in a guest, by its kernel.
fn in_guest(options: &Integrity, venue: &Venue, specs: &[LaneSpec], stop: &AtomicBool) -> Result<(), Failure> {
    durability::check_lane_size(options.lane_size, 0)?;
    let on = directory(None)?;
    let seed = options.seed.unwrap_or_else(planning::new_seed);
    let path = record_path(options.output.as_deref(), "integrity", seed)?;
    let lanes = durability::GuestLanes { venue, specs, on: &on, lane_bytes: options.lane_size.0 };
    let errand = lanes.errand(again(options, seed), &[], &path, options.quiet)?;
    durability::announce(specs.len(), None, errand.disk_bytes, &on, options.quiet)?;
    show(&in_guest::run(&errand, stop)?, &options.format)
}

/// What was found while somebody stopped it is no finding: a program that was ended tells nothing of the lane.
fn unless_stopped<T>(stop: &AtomicBool, found: Result<T, Failure>) -> Result<T, Failure> {
    if stop.load(Ordering::Relaxed) { Err(Failure::interrupted()) } else { found }
}

fn all(
    options: &Integrity,
    seed: u64,
    specimens: &[SingleLane],
    scratch: &mut ScratchSpace,
    writer: &mut DurabilityWriter,
    stop: &AtomicBool,
) -> Result<(), Failure> {
    let ground = (seed, options.lane_size.0);
    let tell = |single_lane: &SingleLane, what: &str| {
        if !options.quiet {
            terminal::say!("{}: {what}", report::clean_text(single_lane.name()));
        }
    };
    for single_lane in specimens {
        for target in [Target::Data, Target::Metadata] {
            tell(single_lane, "damaged blocks");
            let found = unless_stopped(stop, damage(scratch, single_lane, target, options.blocks, ground, stop))?;
            writer.add(DurabilityLine::Damage(Box::new(found)))?;
        }
    }
    // Two devices change nothing about a full or a failing one here: one recording disk is one device.
    let on_one = |single_lane: &&SingleLane| single_lane.disks() == 1;
    for single_lane in specimens.iter().filter(on_one) {
        tell(single_lane, "a full disk");
        let found = unless_stopped(stop, full(scratch, single_lane, ground, stop))?;
        writer.add(DurabilityLine::Full(found))?;
        for which in REFUSED {
            tell(single_lane, "a disk that refuses");
            let found = unless_stopped(stop, refuse(scratch, single_lane, which, ground, stop))?;
            writer.add(DurabilityLine::Fault(found))?;
        }
    }
    Ok(())
}
