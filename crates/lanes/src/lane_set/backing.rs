//! Which grounds the lanes of a race stand on, and how they take turns on them.

use crate::device::Found;
use crate::lane_set::{LaneSet, LaneState};
use crate::venues::Venue;
use crate::venues::device::disk_below;
use model::agent::Devices;
use std::path::{Path, PathBuf};

impl LaneSet {
    /// Number of grounds: images, devices, directories, memory.
    pub fn stores(&self) -> usize {
        self.stores.len()
    }

    /// The ground of a lane in a round: images rotate over the lanes that live on images, over those on several disks
    /// among themselves; every other lane stays where it is.
    pub fn store_for(&self, lane: usize, round: u32) -> usize {
        if let Some(ground) = self.lanes[lane].fixed_ground {
            return ground;
        }
        let pool = self.pool_of(lane);
        let guest = self.lanes[lane].guest;
        let disks = self.lanes[lane].spec.disks();
        let is_mate =
            |other: &&LaneState| other.fixed_ground.is_none() && other.guest == guest && other.spec.disks() == disks;
        let mates = self.lanes[..lane].iter().filter(is_mate);
        pool[(mates.count() + round as usize) % pool.len()]
    }

    /// Number of images; as many lanes rotate over them. Of several pools (the host's images, each guest's
    /// disks) the largest.
    pub fn images(&self) -> usize {
        let pools = (0..self.lanes.len()).filter(|lane| self.lanes[*lane].fixed_ground.is_none());
        pools.map(|lane| self.pool_of(lane).len()).max().unwrap_or(0)
    }

    /// The grounds that a lane may stand on in some round.
    pub(crate) fn pool_of(&self, lane: usize) -> Vec<usize> {
        let guest = self.lanes[lane].guest;
        let disks = self.lanes[lane].spec.disks() as usize;
        let fits = |ground: &dyn Venue| ground.is_of_pool(guest) && ground.disks() == disks;
        let pool = self.stores.iter().enumerate().filter(|(_, ground)| fits(&***ground));
        pool.map(|(index, _)| index).collect()
    }

    /// Number of images and devices, whose ceilings can be measured: of several disks of one's own each.
    pub fn blocks(&self) -> usize {
        let grounds = self.stores.iter().filter(|ground| ground.has_block_device());
        grounds.map(|ground| if ground.disks() == 1 { 1 } else { ground.overwritten().len() }).sum()
    }

    /// The disks that devices of the lanes lie on, beside `first`, in the lanes' order.
    pub fn further_disks(&self, first: &str) -> Vec<String> {
        let mut disks: Vec<String> = Vec::new();
        let on_several = self.stores.iter().map(|ground| ground.overwritten()).filter(|disks| disks.len() > 1);
        for disk in on_several.flatten().filter_map(disk_below) {
            if disk != first && !disks.contains(&disk) {
                disks.push(disk);
            }
        }
        disks
    }

    /// Of every disk of the lanes that somebody limits: a loop device of ours is never one.
    pub(crate) fn standing_limits(&self) -> Vec<String> {
        let mut disks: Vec<String> = Vec::new();
        for ground in &self.stores {
            // A guest names its disks itself.
            if ground.guest_disks().is_none() {
                disks.extend(ground.device_name().into_iter().chain(ground.further_device_names()));
            }
            disks.extend(ground.disk_name(self.host.as_ref()));
        }
        disks.sort();
        disks.dedup();
        let limited = disks.iter().filter_map(|name| {
            let found = crate::throttle::standing::on(crate::throttle::number_of(name).ok()?);
            let first = found.first()?;
            let (limit, file) = (&first.limit, first.file.display());
            Some(format!("/dev/{name} is limited by somebody else ({limit} in {file}): that is measured, not the disk"))
        });
        limited.collect()
    }

    /// Whether all lanes may be open at once; otherwise each is closed before the next is opened.
    pub fn side_by_side(&self) -> bool {
        if self.sets_kernel() {
            return false;
        }
        let fixed: Vec<usize> = self.lanes.iter().filter_map(|lane| lane.fixed_ground).collect();
        let overwritten = |ground: usize| self.stores[ground].overwritten();
        let share = |a: usize, b: usize| {
            let shared =
                || overwritten(a).iter().any(|disk| overwritten(b).iter().any(|other| other.number == disk.number));
            (a == b && self.stores[a].is_exclusive()) || shared()
        };
        !fixed.iter().enumerate().any(|(place, &a)| fixed[..place].iter().any(|&b| share(a, b)))
    }

    /// The block device of a ground, for probes of the bare device while no lane is open on it;
    /// `None` for directories and memory, and for several disks: what they do together no one of them tells.
    pub fn raw_target(&self, ground: usize) -> Option<PathBuf> {
        self.stores[ground].block_device().filter(|_| self.stores[ground].disks() == 1)
    }

    /// Each disk of a ground that is several of one's own, in their order, with what is watched at it alone: for
    /// probes of the bare disks while no lane is open there. Empty for other grounds: several images lie on one disk.
    pub fn raw_disks(&self, ground: usize) -> Vec<(PathBuf, Devices)> {
        let disks = self.stores[ground].overwritten();
        let watched = |disk: &Found| {
            let name = disk.kernel_name.clone();
            let backing = disk_below(disk).filter(|below| *below != name);
            Devices { device: Some(name), backing, ..Devices::default() }
        };
        match disks.len() {
            0 | 1 => Vec::new(),
            _ => disks.iter().map(|disk| (disk.path.clone(), watched(disk))).collect(),
        }
    }

    /// Whether a ground is an image on a loop device; all of those share one disk.
    pub fn is_image(&self, ground: usize) -> bool {
        self.stores[ground].is_of_pool(None)
    }

    /// The run's folder in the directory that a lane is; `None`: it is none.
    pub fn folder_of(&self, lane: usize) -> Option<&Path> {
        self.lanes[lane].fixed_ground.and_then(|ground| self.stores[ground].folder())
    }

    /// Number of lanes, the repeated first one included.
    pub fn lane_count(&self) -> usize {
        self.lanes.len()
    }
}
