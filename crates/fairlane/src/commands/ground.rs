//! Where lanes without a venue of their own live: images in a folder, a device, or several disks (`--on`, `--disks`).

use super::planning;
use crate::failure::Failure;
use model::lane::{LaneSpec, Venue};
use model::plan::Ground;
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};

/// Where lanes without a venue of their own live.
///
/// # Errors
/// When the place is neither a directory nor a block device.
pub fn choose(on: Option<&Path>, disks: &[PathBuf], lanes: &[LaneSpec]) -> Result<Ground, Failure> {
    if !disks.is_empty() {
        return named_disks(disks);
    }
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
    if on == Path::new("library") {
        return Err(Failure::usage(
            "--on library: rsext4 is the library there is, and it is on an image like the others; race it as a lane: rsext4",
        ));
    }
    if planning::guest_venue(on).is_some() {
        return Ok(Ground::Images(here()?));
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

/// The ground that `--disks` names.
fn named_disks(disks: &[PathBuf]) -> Result<Ground, Failure> {
    let mut all: Vec<PathBuf> = Vec::new();
    for disk in disks {
        let refuse = |why: String| {
            Failure::usage(format!("--disks {}: {why}; name block devices: /dev/a,/dev/b", disk.display()))
        };
        let absolute = std::path::absolute(disk).map_err(|error| refuse(error.to_string()))?;
        let metadata = std::fs::metadata(&absolute).map_err(|error| refuse(error.to_string()))?;
        if !metadata.file_type().is_block_device() {
            return Err(refuse("that is no block device".to_owned()));
        }
        all.push(absolute);
    }
    Ok(match all.len() {
        1 => Ground::Device(all.remove(0)),
        _ => Ground::Disks(all),
    })
}
