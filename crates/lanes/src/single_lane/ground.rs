//! What a single lane stands on: a disk, or layers on several that are built, and put together again after a power cut.

use super::SingleLane;
use crate::failure::{LaneFailure, usage};
use crate::filesystems::Filesystem;
use crate::guest::{GuestKind, init};
use crate::layers::{self, Holding, Site, Stack};
use crate::loop_device;
use model::lane::LaneSpec;
use model::stack::{MOST_DEVICES, REBUILDING};
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

/// What the filesystem stands on while it stands.
#[derive(Debug)]
pub struct Ground {
    device: PathBuf,
    stack: Option<Stack>,
}

impl SingleLane {
    /// Disks below its layers; 1 where it has none.
    pub fn disks_below(&self) -> u32 {
        if self.spec.layers.is_empty() { 1 } else { self.spec.disks() }
    }

    /// The layer below which nobody finds again what was written; `None`: there is none.
    pub fn hidden_by(&self) -> Option<&'static str> {
        self.spec.layers.iter().filter_map(|layer| layers::find(&layer.name)).find(|row| row.hides).map(|row| row.name)
    }

    /// The layer that no log of writes can hold; `None`: there is none.
    pub fn not_recorded_on(&self) -> Option<&'static str> {
        self.spec.layers.iter().filter_map(|layer| layers::find(&layer.name)).find(|row| row.wipes).map(|row| row.name)
    }

    /// Has its layers stand on these disks, which hold zeros, or with `again` what was left of the same layers. `number`: no
    /// other ground that stands has it.
    ///
    /// # Errors
    /// What a tool or the kernel says.
    pub fn stand(&self, number: u32, disks: &[PathBuf], again: bool) -> Result<Ground, LaneFailure> {
        if self.spec.layers.is_empty() {
            return Ok(Ground { device: disks.first().cloned().unwrap_or_default(), stack: None });
        }
        if !init::is_here() {
            return Err(usage("layers are built in a guest alone"));
        }
        let holding = if again { Holding::ThisStack } else { Holding::Zeros };
        let stack =
            Stack::build((Site::Guest, &AtomicBool::new(false)), number, (disks, holding), &self.spec.layers, 1);
        let stack = stack.map_err(|(error, _)| error)?;
        Ok(Ground { device: stack.devices.first().cloned().unwrap_or_default(), stack: Some(stack) })
    }
}

impl Ground {
    /// The device.
    pub fn device(&self) -> &Path {
        &self.device
    }

    /// Whether a layer began only because it was told to, although it was not whole.
    pub fn is_forced(&self) -> bool {
        self.stack.as_ref().is_some_and(|stack| stack.forced)
    }

    /// Writes what the kernel caches of its device, and forgets it.
    ///
    /// # Errors
    /// When the kernel refuses it.
    pub fn drop_cache(&self) -> Result<(), LaneFailure> {
        loop_device::drop_cache_of(&self.device)
    }

    /// Takes its layers down; the disks stay as they are.
    ///
    /// # Errors
    /// What a tool says.
    pub fn take_down(mut self) -> Result<(), LaneFailure> {
        self.stack.as_mut().map_or(Ok(()), |stack| stack.take_down(None).map(drop))
    }
}

impl Drop for Ground {
    fn drop(&mut self) {
        // The net only: `take_down` is the way, and its errors are seen.
        if let Some(stack) = &mut self.stack {
            let _ = stack.take_down(None);
        }
    }
}

/// Refuses what it cannot stand on: it is cut and damaged on disks of its own, as many as its mkfs or its layers ask for, and
/// its layers are built in a guest.
pub(super) fn check(spec: &LaneSpec, row: &Filesystem) -> Result<(), LaneFailure> {
    let least = (row.least_devices)(&spec.mkfs_options);
    if let Some(above) = &spec.above {
        return Err(usage(format!(
            "lane {} works through {}, and only filesystems themselves are cut and damaged here; leave it out",
            spec.name, above.name
        )));
    }
    if spec.devices != 1 && (spec.devices != least || !spec.layers.is_empty()) {
        let remedy = match spec.layers.is_empty() {
            true => format!("is cut and damaged on as many as its mkfs asks for, {least}"),
            false => "is cut and damaged on layers or on several disks of its own, and not on both".to_owned(),
        };
        return Err(usage(format!(
            "lane {} is given {} disks, and {remedy}; leave the number out",
            spec.name, spec.devices
        )));
    }
    if spec.disks() > MOST_DEVICES {
        let disks = spec.disks();
        return Err(usage(format!(
            "lane {} stands on {disks} disks, and {MOST_DEVICES} are the most; take fewer",
            spec.name
        )));
    }
    if least > 1 && !spec.layers.is_empty() {
        return Err(usage(format!(
            "lane {} is cut and damaged on layers or on several disks of its own, and not on both; leave one out",
            spec.name
        )));
    }
    spec.layers
        .iter()
        .try_for_each(|layer| layers::check(layer).map(drop))
        .map_err(|error| error.in_lane(&spec.name))?;
    let rebuilds = |option: &String| option == REBUILDING;
    if spec.layers.iter().any(|layer| layer.options.iter().any(rebuilds)) || spec.mount_options.iter().any(rebuilds) {
        return Err(usage(format!(
            "lane {} rebuilds a disk all the time, and it is cut and damaged whole or without one; write degraded, or leave \
             the word out",
            spec.name
        )));
    }
    if let (Some(layer), false) = (spec.layers.first(), init::is_here()) {
        let guests = GuestKind::options_here();
        return Err(usage(format!(
            "lane {} stands on {}, and layers are built in a guest, so that nothing of them is left on this machine; cut or \
             damage it there: {guests}",
            spec.name, layer.name
        )));
    }
    Ok(())
}
