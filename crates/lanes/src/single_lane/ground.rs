//! What a single lane stands on: a disk, or layers on several that are built, and put together again after a power cut.

use super::SingleLane;
use crate::failure::{LaneFailure, cannot, usage};
use crate::filesystems::{self, Filesystem};
use crate::guest::{GuestKind, init};
use crate::layers::{self, Holding, Site, Stack};
use crate::loop_device;
use crate::states::State;
use model::lane::{Contestant, LaneSpec};
use model::stack::{DEGRADED, MOST_DEVICES, REBUILDING};
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

/// What the filesystem stands on while it stands.
#[derive(Debug)]
pub struct Ground {
    devices: Vec<PathBuf>,
    stack: Option<Stack>,
    /// Has the kernel forget each device of a filesystem that joins several: what is put together next may else be joined with it.
    forget: Option<fn(&Path) -> std::io::Result<()>>,
    /// While they are held, udev scans none of them.
    _held: Vec<File>,
}

impl SingleLane {
    /// Disks below its layers, or as many as its filesystem joins.
    pub fn disks(&self) -> u32 {
        self.spec.disks()
    }

    /// Has it lose a disk with every cut: what is put together again afterwards lacks that one. `number`: which of its
    /// disks, from 1 in the order in which its layers, or its filesystem, take them.
    ///
    /// # Errors
    /// As [`check_can_lose_disk`].
    pub fn lose_disk(&mut self, number: u32) -> Result<(), LaneFailure> {
        check_can_lose_disk(&self.spec, number)?;
        self.lost_disk = Some(number);
        Ok(())
    }

    /// The number of the disk that it loses with every cut, from 1; `None`: it loses none.
    pub fn lost_disk(&self) -> Option<u32> {
        self.lost_disk
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
        let is_lost = |number: u32| again && self.lost_disk == Some(number);
        let lost = disks.iter().zip(1..).find(|&(_, number)| is_lost(number)).map(|(disk, _)| disk);
        if self.spec.layers.is_empty() {
            let devices: Vec<PathBuf> = disks.iter().filter(|&disk| Some(disk) != lost).cloned().collect();
            let forget = self.row.forget.filter(|_| self.spec.devices > 1);
            let never = AtomicBool::new(false);
            let held = match forget {
                Some(_) => devices.iter().map(|device| layers::hold(device, &never)).collect::<Result<_, _>>()?,
                None => Vec::new(),
            };
            let ground = Ground { devices, stack: None, forget, _held: held };
            // What udev scanned before they were held.
            return ground.forget().map(|()| ground);
        }
        if !init::is_here() {
            return Err(usage("layers are built in a guest alone"));
        }
        let holding = match (again, lost) {
            (true, Some(disk)) => Holding::ThisStackWithout(disk.clone()),
            (true, None) => Holding::ThisStack,
            (false, _) => Holding::Zeros,
        };
        let stack =
            Stack::build((Site::Guest, &AtomicBool::new(false)), number, (disks, holding), &self.spec.layers, 1);
        let stack = stack.map_err(|(error, _)| error)?;
        Ok(Ground { devices: stack.devices.clone(), stack: Some(stack), forget: None, _held: Vec::new() })
    }
}

impl Ground {
    /// A disk without layers.
    pub fn disk(path: &Path) -> Ground {
        Ground { devices: vec![path.to_owned()], stack: None, forget: None, _held: Vec::new() }
    }

    /// All devices that the filesystem joins; without layers its disks.
    pub fn devices(&self) -> &[PathBuf] {
        &self.devices
    }

    /// The device that it is mounted from.
    pub fn device(&self) -> &Path {
        self.devices.first().map_or(Path::new(""), PathBuf::as_path)
    }

    /// Whether a layer began only because it was told to, although it was not whole.
    pub fn is_forced(&self) -> bool {
        self.stack.as_ref().is_some_and(|stack| stack.forced)
    }

    /// Writes what the kernel caches of its devices, and forgets it.
    ///
    /// # Errors
    /// When the kernel refuses it.
    pub fn drop_cache(&self) -> Result<(), LaneFailure> {
        self.devices.iter().try_for_each(|device| loop_device::drop_cache_of(device))
    }

    /// Has its arrays look whether their copies and parity agree; answers the sectors that do not, `None`: no array could look.
    ///
    /// # Errors
    /// What the kernel says; [`LaneFailure::Interrupted`].
    pub fn mismatches(&self, stop: &AtomicBool) -> Result<Option<u64>, LaneFailure> {
        self.stack.as_ref().map_or(Ok(None), |stack| stack.mismatches(stop))
    }

    fn forget(&self) -> Result<(), LaneFailure> {
        let Some(forget) = self.forget else { return Ok(()) };
        let failure = |device: &Path, error| cannot(format!("have the kernel forget {}", device.display()), error);
        self.devices.iter().try_for_each(|device| forget(device).map_err(|error| failure(device, error)))
    }

    /// Takes its layers down, once nothing is mounted from it; the disks stay as they are.
    ///
    /// # Errors
    /// What a tool or the kernel says.
    pub fn take_down(mut self) -> Result<(), LaneFailure> {
        self.forget()?;
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

/// Refuses a lane of which this disk cannot be lost with a cut. `number`: from 1, in the order in which its layers, or its
/// filesystem, take them.
///
/// # Errors
/// [`LaneFailure::Usage`] where there is no such disk, or no other stands for it.
pub fn check_can_lose_disk(spec: &LaneSpec, number: u32) -> Result<(), LaneFailure> {
    let mut said = spec.mount_options.iter().chain(spec.layers.iter().flat_map(|layer| &layer.options));
    let lacks_one = said.any(|option| option == DEGRADED);
    // A filesystem that joins disks itself may leave their number to its mkfs.
    let mut whole = spec.clone();
    if let (true, Contestant::Filesystem(name)) = (spec.layers.is_empty(), &spec.contestant) {
        let least = filesystems::find(name).map_or(1, |row| (row.least_devices)(&spec.mkfs_options));
        whole.devices = whole.devices.max(least);
    }
    if lacks_one || State::Degraded.of_lane(&whole).is_err() {
        return Err(usage(format!(
            "lane {} has no disk to lose that others stand for; cut an array, such as ext4/raid1:2, or Btrfs on several disks, \
             which lacks none, or leave --lose-disk out",
            spec.name
        )));
    }
    let disks = whole.disks();
    if !(1..=disks).contains(&number) {
        return Err(usage(format!(
            "lane {} stands on {disks} disks and has no disk {number} to lose; write --lose-disk=1 to --lose-disk={disks}",
            spec.name
        )));
    }
    match layers::journal_on(&spec.layers, number - 1) {
        None => Ok(()),
        Some(array) => Err(usage(format!(
            "disk {number} of lane {} belongs to the journal of {array}, for which no other disk stands; lose another one",
            spec.name
        ))),
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
    let given = |what: String| {
        Err(usage(format!("lane {} is given {} disks, and {what}; leave the number out", spec.name, spec.devices)))
    };
    match spec.devices {
        0 | 1 => {}
        _ if !spec.layers.is_empty() => {
            return given("is cut and damaged on layers or on several disks of its own, and not on both".to_owned());
        }
        _ if row.further_device_option.is_none() => return given(format!("{} stands on one", row.name)),
        devices if devices < least => return given(format!("these options of its mkfs take at least {least}")),
        _ => {}
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
    if spec.vm().is_some() {
        return Err(usage(format!(
            "lane {} sets this machine's kernel (layer vm), which only a race does; leave that layer out",
            spec.name
        )));
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_disk_that_is_lost_has_a_number_of_the_lane_and_others_that_stand_for_it() {
        let said =
            |lane: &str, number| check_can_lose_disk(&lane.parse().unwrap(), number).map_err(|error| error.to_string());
        for (lane, disks) in [
            ("ext4/raid1:2", 2),
            ("ext4/raid1:2/linear:2", 4),
            ("ext4/crypt/raid5:3/queue,scheduler=none", 3),
            ("btrfs(-d raid1 -m raid1)", 2),
            ("btrfs:3(-d raid1 -m raid1)", 3),
        ] {
            assert!((1..=disks).all(|number| said(lane, number).is_ok()), "{lane}: {:?}", said(lane, disks));
            for beyond in [0, disks + 1, u32::MAX] {
                let error = said(lane, beyond).unwrap_err();
                assert!(error.contains(&format!("stands on {disks} disks and has no disk {beyond}")), "{error}");
                assert!(error.contains(&format!("write --lose-disk=1 to --lose-disk={disks}")), "{error}");
            }
        }
        assert!(said("ext4", 1).unwrap_err().contains("has no disk to lose that others stand for"));
    }

    #[test]
    fn the_journal_of_an_array_is_lost_only_where_an_array_below_it_stands_for_its_disk() {
        for (lane, kept, journals) in [
            ("ext4/raid5:4,consistency=journal", 1..=3, 4..=4),
            // Disks of one device follow each other, and the last device is the journal.
            ("ext4/raid5:4,consistency=journal/stripe:2", 1..=6, 7..=8),
            ("ext4/raid1:2/raid5:4,consistency=journal", 5..=7, 8..=8),
        ] {
            let spec: LaneSpec = lane.parse().unwrap();
            assert!(kept.clone().all(|number| check_can_lose_disk(&spec, number).is_ok()), "{lane}");
            for number in journals {
                let error = check_can_lose_disk(&spec, number).unwrap_err().to_string();
                let words = format!("disk {number} of lane {lane} belongs to the journal of raid5");
                assert!(error.contains(&words), "{error}");
            }
        }
        let below = "ext4/raid5:4,consistency=journal/raid1:2".parse().unwrap();
        assert!((1..=8).all(|number| check_can_lose_disk(&below, number).is_ok()));
    }
}
