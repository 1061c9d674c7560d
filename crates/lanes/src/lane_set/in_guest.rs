//! A lane in its guest: formatted and mounted there, its agent, what its devices do.

use crate::command;
use crate::contestant::Contestant;
use crate::failure::{LaneFailure, failed};
use crate::formatting::custom_mount_command;
use crate::guest::protocol::{Answer, Ask};
use crate::guest::{AgentLink, Guest, GuestKind};
use crate::lane_set::open::{mount_options_of, mount_source};
use crate::lane_set::rebuilding::Rebuild;
use crate::lane_set::{LaneSet, LaneState, OpenLane, Opened, Settings};
use crate::undo::Journal;
use crate::venues::Venue;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

/// Where lanes are mounted in a guest.
const LANES: &str = "/lanes";

impl LaneSet {
    /// The guest that formats a lane's disk; `None`: the host does.
    pub(crate) fn guest_that_formats(&self, lane: usize) -> Option<usize> {
        let lane = &self.lanes[lane];
        let looks_around = matches!(&lane.contestant, Contestant::Row(row) if row.mkfs_looks_around);
        lane.guest.filter(|_| looks_around || lane.spec.is_stacked())
    }

    /// Runs mkfs in a guest; answers what it printed and how long it took.
    pub(crate) fn format_in_guest(
        &mut self,
        lane: usize,
        ground: usize,
        guest: usize,
        journal: &mut Journal,
        stop: &AtomicBool,
    ) -> Result<command::Output, LaneFailure> {
        let guest = self.running_guest(guest, journal, stop)?;
        // What the host wiped it must not have cached.
        self.drop_cache_in_guest(lane, ground, &guest, stop)?;
        let mut devices = self.devices_in_guest(lane, ground)?;
        let device = devices.remove(0);
        let further = self.lanes[lane].of_filesystem(&devices);
        let mut command = self.lanes[lane].mkfs_command.clone();
        name_program(&mut command);
        match guest.ask(&Ask::Format { command, device, further }, stop)? {
            Answer::Formatted { stdout, seconds } => Ok(command::Output { stdout, seconds }),
            other => Err(failed(format!("the guest answered {other:?} when it was asked to format"))),
        }
    }

    /// Mounts a lane in its guest, on a disk that was formatted.
    fn mount_in_guest(
        &mut self,
        lane: usize,
        ground: usize,
        journal: &mut Journal,
        stop: &AtomicBool,
    ) -> Result<(Arc<Guest>, PathBuf, Vec<String>), LaneFailure> {
        let Some(index) = self.lanes[lane].guest else {
            return Err(failed("a lane that lives in no guest is not mounted in one"));
        };
        let guest = self.running_guest(index, journal, stop)?;
        let target = directory(lane);
        let shown = self.ask_to_mount(lane, ground, &guest, &target, stop)?;
        Ok((guest, target, shown))
    }

    /// Mounts a formatted lane in its guest and learns what its kernel says of the mount.
    pub(crate) fn open_in_guest(
        &mut self,
        index: usize,
        ground: usize,
        mut phases_seconds: BTreeMap<String, f64>,
        journal: &mut Journal,
        stop: &AtomicBool,
    ) -> Result<Opened, LaneFailure> {
        if let Some(guest) = self.lanes[index].guest {
            // Its start is no part of the mount.
            self.running_guest(guest, journal, stop)?;
        }
        let started = Instant::now();
        let (guest, directory, super_options) = self.mount_in_guest(index, ground, journal, stop)?;
        phases_seconds.insert("mount".to_owned(), started.elapsed().as_secs_f64());
        let lane = &mut self.lanes[index];
        let directory_of_lane = directory.clone();
        lane.open = Some(OpenLane {
            ground,
            base: directory_of_lane.clone(),
            directory: directory_of_lane,
            mounted: None,
            above: None,
            process: None,
            guest: Some(guest.clone()),
            rebuild: Rebuild::default(),
        });
        let options: Vec<String> = lane.mount_options.iter().cloned().chain(super_options).collect();
        lane.promises = lane.promises_with(&options);
        Ok(Opened { directory, library: None, guest: Some(guest), phases_seconds })
    }

    /// Answers the options that the guest's kernel shows.
    pub(crate) fn ask_to_mount(
        &self,
        lane: usize,
        ground: usize,
        guest: &Guest,
        target: &Path,
        stop: &AtomicBool,
    ) -> Result<Vec<String>, LaneFailure> {
        let state = &self.lanes[lane];
        let devices = match state.contestant.in_memory() {
            true => vec![mount_source(&*self.stores[ground])],
            false => self.drop_cache_in_guest(lane, ground, guest, stop)?,
        };
        let ask = mount_request(state, &self.settings, &devices, target.to_owned());
        match guest.ask(&ask, stop)? {
            Answer::Mounted { super_options } => Ok(super_options),
            other => Err(failed(format!("the guest answered {other:?} when it was asked to mount"))),
        }
    }

    /// Drops what a guest's kernel caches of a lane's disks and of its layers; answers what the filesystem stands on.
    pub(crate) fn drop_cache_in_guest(
        &self,
        lane: usize,
        ground: usize,
        guest: &Guest,
        stop: &AtomicBool,
    ) -> Result<Vec<PathBuf>, LaneFailure> {
        let devices = self.devices_in_guest(lane, ground)?;
        let mut all = devices.clone();
        if !self.lanes[lane].stacked.is_empty() {
            // From the top: what a layer's cache holds goes to the disks.
            all.extend(disks_in_guest(&*self.stores[ground]));
        }
        guest.ask(&Ask::DropCache { devices: all }, stop)?;
        Ok(devices)
    }

    /// What a lane's filesystem stands on in its guest: its layers' devices where it has any, else its disks.
    fn devices_in_guest(&self, lane: usize, ground: usize) -> Result<Vec<PathBuf>, LaneFailure> {
        let stacked = &self.lanes[lane].stacked;
        let devices = if stacked.is_empty() { disks_in_guest(&*self.stores[ground]) } else { stacked.clone() };
        if devices.is_empty() {
            return Err(failed("a guest's lane has a disk"));
        }
        Ok(devices)
    }

    /// Starts the agent of an open lane in its guest; `None`: the lane is the host's own.
    ///
    /// # Errors
    /// When the guest is gone.
    pub fn start_agent_in_guest(
        &mut self,
        lane: usize,
        journal: &mut Journal,
        stop: &AtomicBool,
    ) -> Result<Option<AgentLink>, LaneFailure> {
        let Some(index) = self.lanes[lane].guest else { return Ok(None) };
        let guest = self.running_guest(index, journal, stop)?;
        guest.start_agent(lane as u32, stop).map(Some)
    }

    /// The guest that a lane lives in, where it runs.
    pub fn guest_of(&self, lane: usize) -> Option<Arc<Guest>> {
        self.guests[self.lanes[lane].guest?].running.clone()
    }

    /// The folder that holds the images.
    pub fn images_folder(&self) -> &Path {
        &self.base
    }

    /// Whether a lane lives in a guest.
    pub fn in_guest(&self, lane: usize) -> bool {
        self.lanes[lane].guest.is_some()
    }

    /// Whether a ground is a disk of a guest.
    pub fn is_guest_disk(&self, ground: usize) -> bool {
        self.stores[ground].guest_disks().is_some()
    }

    /// Reads so much of a disk of user-mode Linux into the host's page cache, which is where that disk lies: a
    /// ceiling that came from the host's own disk would be lower than what the filesystems reach.
    pub fn warm(&self, ground: usize, bytes: u64) {
        if let Some(disks) = self.stores[ground].guest_disks()
            && disks.kind == GuestKind::Uml
        {
            disks.disks.iter().for_each(|disk| disk.image().warm(bytes));
        }
    }

    /// Has the host write what it still caches of the disks of user-mode Linux; answers the disk that they lie on, as
    /// /proc/diskstats names it. Best effort: a failure shows when the lane is closed.
    pub fn settle_on_host(&self, grounds: &[usize]) -> Vec<String> {
        let stores = grounds.iter().filter_map(|ground| self.stores[*ground].guest_disks());
        let disks: Vec<_> =
            stores.filter(|store| store.kind == GuestKind::Uml).flat_map(|store| &store.disks).collect();
        for disk in &disks {
            let _ = disk.image().sync();
        }
        let host = self.host.as_ref().and_then(|host| host.disk.clone());
        host.filter(|_| !disks.is_empty()).into_iter().collect()
    }

    /// What the devices of lanes in guests have under way: (requests in flight, bytes written since boot).
    pub fn guest_activity(&self, grounds: &[usize], stop: &AtomicBool) -> (u64, u64) {
        let mut sum = (0, 0);
        for (index, slot) in self.guests.iter().enumerate() {
            let stores = grounds.iter().filter_map(|ground| self.stores[*ground].guest_disks());
            let disks = stores.filter(|store| store.guest == index).flat_map(|store| &store.disks);
            let devices: Vec<String> = disks.map(|disk| disk.name.clone()).collect();
            let Some(guest) = slot.running.as_ref().filter(|_| !devices.is_empty()) else { continue };
            if let Ok(Answer::Activity { in_flight, written_bytes }) = guest.ask(&Ask::Activity { devices }, stop) {
                sum = (sum.0 + in_flight, sum.1 + written_bytes);
            }
        }
        sum
    }
}

/// Where a lane is mounted in its guest.
pub(crate) fn directory(lane: usize) -> PathBuf {
    Path::new(LANES).join(format!("{lane:02}"))
}

pub(super) fn disks_in_guest(ground: &dyn Venue) -> Vec<PathBuf> {
    ground.block_device().into_iter().chain(ground.further_block_devices()).collect()
}

fn mount_request(state: &LaneState, settings: &Settings, devices: &[PathBuf], target: PathBuf) -> Ask {
    let (source, further, above) = (devices[0].clone(), &devices[1..], state.spec.above.clone());
    match &state.contestant {
        Contestant::Custom(custom) => {
            let mut command = custom_mount_command(custom, &source, &target, &state.mount_options);
            name_program(&mut command);
            Ask::MountFuse { command, target, above }
        }
        contestant => Ask::Mount {
            filesystem: contestant.filesystem_name().to_owned(),
            source,
            options: mount_options_of(state, settings, further),
            target,
            above,
            replace: state.replacement(further).map(|mut replace| {
                name_program(&mut replace.command);
                Box::new(replace)
            }),
        },
    }
}

/// In the guest a program lies where it lies on the host.
fn name_program(command: &mut [String]) {
    if let Some(name) = command.first_mut()
        && let Some(program) = command::find_program(name)
    {
        *name = program.to_string_lossy().into_owned();
    }
}
