//! What the specifications of lanes stand for on this machine, and where each lane lives.

use crate::availability;
use crate::contestant::{Commands, Contestant};
use crate::failure::{LaneFailure, cannot, usage};
use crate::lane_set::guest::{self, GuestSlot};
use crate::lane_set::past::Past;
use crate::lane_set::{LaneState, Settings};
use crate::promises;
use model::bounds::MOST_LANES;
use model::lane::{LaneSpec, Venue, twin_name};
use std::path::{Path, PathBuf};

/// Where a lane lives, by its specification alone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Location {
    Image(PathBuf),
    /// An image in this folder that is a disk of a guest.
    Guest(PathBuf),
    /// Devices of this machine: the first ones of those that lanes take turns on. `all` are the others too.
    Devices {
        all: Vec<PathBuf>,
        taken: usize,
    },
    Memory,
    /// A guest's.
    GuestMemory,
    Directory(PathBuf),
}

impl Location {
    /// The folder of its image; `None`: it has none.
    pub(crate) fn image_folder(&self) -> Option<&PathBuf> {
        match self {
            Location::Image(folder) | Location::Guest(folder) => Some(folder),
            _ => None,
        }
    }
}

/// The lanes in the order of the command line, the repeated first one behind them, and the guests that they
/// live in.
pub(crate) fn resolve_lanes(settings: &Settings, guests: &mut Vec<GuestSlot>) -> Result<Vec<LaneState>, LaneFailure> {
    let count = settings.specs.len() + usize::from(settings.with_self);
    let Some(first) = settings.specs.first() else {
        return Err(usage("there is no lane to race; name one, such as ext4"));
    };
    if count > MOST_LANES {
        return Err(usage(format!("{count} lanes are more than {MOST_LANES}; race fewer at once")));
    }
    let mut lanes: Vec<LaneState> = Vec::new();
    for (index, spec) in settings.specs.iter().enumerate() {
        let lane = resolve_lane(spec, spec.name.clone(), false, guests).map_err(|error| error.in_lane(&spec.name))?;
        lanes.push(LaneState { past: Past::of_lane(index, settings), ..lane });
    }
    if settings.with_self {
        let lane = resolve_lane(first, twin_name(&first.name), true, guests)?;
        lanes.push(LaneState { past: Past::of_lane(0, settings), ..lane });
    }
    for (index, lane) in lanes.iter().enumerate() {
        if lanes[..index].iter().any(|earlier| earlier.name == lane.name) {
            return Err(usage(format!(
                "two lanes are called {}; give one another name: NAME={}",
                lane.name,
                lane.spec.to_line().trim_start_matches(&format!("{}=", lane.name))
            )));
        }
    }
    Ok(lanes)
}

fn resolve_lane(
    spec: &LaneSpec,
    name: String,
    is_self: bool,
    guests: &mut Vec<GuestSlot>,
) -> Result<LaneState, LaneFailure> {
    let guest = GuestSlot::of_lane(spec, guests)?;
    let contestant = Contestant::resolve(spec, &|row| match guest {
        Some(guest) => guest::kernel_mounts(&guests[guest].kernel, row),
        None => availability::kernel_has(row.mounted_as(), row.module),
    })?;
    contestant.check_library(spec)?;
    if contestant.in_memory() && spec.venue.is_some() && guest.is_none() {
        return Err(usage(format!(
            "{} lives in memory and takes no venue but a guest; remove what follows the @",
            contestant.filesystem_name()
        )));
    }
    if contestant.in_memory() && !spec.mkfs_options.is_empty() {
        return Err(usage(format!(
            "{} has no mkfs, so `{}` goes nowhere; remove it",
            contestant.filesystem_name(),
            spec.mkfs_options.join(" ")
        )));
    }
    let Commands { mkfs: mkfs_command, mount_options, devices } = contestant.commands(spec)?;
    if let Some(device) = devices.first().filter(|_| guest.is_some()) {
        return Err(usage(format!(
            "{} is a device of this machine, and the lane lives in a guest, which has none of them; remove it",
            device.display()
        )));
    }
    // mkfs tells the others' geometry.
    let geometry = match &contestant {
        Contestant::Row(row) if contestant.is_library() => (row.geometry)("", Path::new("")),
        _ => Vec::new(),
    };
    let mut lane = LaneState {
        name,
        spec: spec.clone(),
        is_self,
        mkfs_command,
        mount_options,
        named_devices: devices,
        promises: promises::NOTHING,
        contestant,
        fixed_ground: None,
        guest,
        geometry,
        stacked: Vec::new(),
        stack: None,
        stacked_bytes: 0,
        past: None,
        open: None,
    };
    if !matches!(lane.contestant, Contestant::Directory(_)) {
        lane.promises = lane.promises_with(&lane.mount_options);
    }
    Ok(lane)
}

/// Where a lane lives.
pub(crate) fn place(lane: &LaneState, settings: &Settings) -> Result<Location, LaneFailure> {
    if let Contestant::Directory(path) = &lane.contestant {
        return Ok(Location::Directory(path.clone()));
    }
    if lane.contestant.in_memory() {
        return Ok(if lane.guest.is_some() { Location::GuestMemory } else { Location::Memory });
    }
    let here = || std::env::current_dir().map_err(|error| cannot("find the working directory", error));
    if lane.guest.is_some() {
        return Ok(Location::Guest(match &settings.ground {
            model::plan::Ground::Images(folder) => folder.clone(),
            model::plan::Ground::Device(_) | model::plan::Ground::Disks(_) => here()?,
        }));
    }
    let one = |path: &PathBuf| Location::Devices { all: vec![path.clone()], taken: 1 };
    Ok(match (&lane.spec.venue, &settings.ground) {
        (Some(Venue::Device(path)), _) => one(path),
        (Some(Venue::Image(Some(folder))), _) => Location::Image(folder.clone()),
        (_, model::plan::Ground::Images(folder)) => Location::Image(folder.clone()),
        (Some(Venue::Image(None)), model::plan::Ground::Device(_) | model::plan::Ground::Disks(_)) => {
            Location::Image(here()?)
        }
        (_, model::plan::Ground::Device(path)) => one(path),
        (_, model::plan::Ground::Disks(disks)) => {
            let taken = lane.spec.disks() as usize;
            if taken > disks.len() {
                let spare = if lane.replacer().is_some() { ", a spare one for the rebuild among them" } else { "" };
                return Err(usage(format!(
                    "it stands on {taken} disks{spare}, and --disks names {}; name as many as the lane takes",
                    disks.len()
                ))
                .in_lane(&lane.name));
            }
            Location::Devices { all: disks.clone(), taken }
        }
    })
}
