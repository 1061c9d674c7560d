//! The emulated disks: a lane's device is held to limits while it is measured, and to none while it
//! is made and filled. All lanes may have the same limits, or each its own; devices rotate among the
//! lanes from round to round, so that what holds is set for the lane that stands there at the moment.
//!
//! A limit lies on the lane's own device and holds for whoever uses it: the agent, and what the
//! kernel's own threads (writeback, journals, Btrfs's workers) do on a filesystem's behalf. Of
//! cgroup v1 that is so for the root group, in which those threads run; the agent is moved there.
//! cgroup v2 has no limit in its root group: there a group of the agent's own is limited, with what
//! the kernel writes back of its pages, for which the group has `memory` beside `io`. Metadata that
//! the kernel's threads write are not held, and the check after each trial tells whether that was
//! enough.
//!
//! A limit outlives the loop device that it was set for: the next image on the same number would
//! inherit it. So every value that a device may come to carry stands in the undo journal before it is
//! set, and a device that carries one already is refused, because it is somebody else's.

mod mechanism;
pub(crate) mod standing;

pub(crate) use mechanism::{MOUNT_SOURCE, group_of, lift_group, lift_left_over, mount_v1, number_of, remove_group};

use crate::device::DeviceNumber;
use crate::failure::{LaneFailure, cannot, privilege, usage};
use crate::lane_set::LaneSet;
use crate::mount;
use crate::undo::{EntryId, Journal, Thing};
use crate::venues::Venue;
use mechanism::Mechanism;
use model::Throttle;
use model::throttle::Throttles;
use std::collections::BTreeMap;
use std::path::Path;

/// The limits of one race.
#[derive(Debug)]
pub(crate) struct Throttling {
    /// What the bare devices of the ceilings are held to.
    base: Option<Throttle>,
    /// What each lane's device is held to, by the lane's number.
    lanes: Vec<Option<Throttle>>,
    mechanism: Mechanism,
    /// What was mounted or made for it, to be undone.
    made: Vec<EntryId>,
    /// The limited devices by their ground, of which one may be several disks: each has all of the limits.
    devices: BTreeMap<usize, Vec<Limited>>,
}

/// A device that may be limited.
#[derive(Debug)]
struct Limited {
    number: DeviceNumber,
    name: String,
    /// What it may be held to, with the entry in the journal; of cgroup v2 there is none.
    values: Vec<(Throttle, Option<EntryId>)>,
    /// What it is held to now.
    held: Option<Throttle>,
}

impl Limited {
    /// Holds it to these limits in place of others.
    fn hold(&mut self, throttle: Throttle, mechanism: &Mechanism) -> Result<(), LaneFailure> {
        let journalled = self.values.iter().any(|(value, _)| *value == throttle);
        assert!(journalled, "a limit stands in the journal before it is set");
        self.lift(mechanism)?;
        // Half of them may be set when it fails.
        self.held = Some(throttle);
        mechanism.set(self.number, &self.name, &throttle)
    }

    /// Lifts what holds it.
    fn lift(&mut self, mechanism: &Mechanism) -> Result<(), LaneFailure> {
        let Some(throttle) = self.held else { return Ok(()) };
        mechanism.lift(self.number, &self.name, &throttle)?;
        self.held = None;
        Ok(())
    }
}

/// A lane that may be limited.
#[derive(Debug, Clone, Copy)]
struct Candidate<'a> {
    name: &'a str,
    /// `None`: an image, made later.
    ground: Option<&'a dyn Venue>,
    throttle: Option<Throttle>,
}

impl Throttling {
    /// Whether these lanes can be held to their limits here, and the bare devices to the base. Writes
    /// nothing. A lane without limits may stand on anything.
    ///
    /// # Errors
    /// [`LaneFailure::Usage`] for a lane without a device of its own, a partition, or a device that
    /// has a limit already; [`LaneFailure::Privilege`] where the kernel offers no way.
    fn check(base: Option<Throttle>, lanes: &[Candidate]) -> Result<Throttling, LaneFailure> {
        let held = || lanes.iter().filter(|lane| lane.throttle.is_some());
        for lane in held() {
            if let Some(ground) = lane.ground {
                ground.check_throttle().map_err(|error| error.in_lane(lane.name))?;
            }
        }
        let mechanism = mechanism::find()?;
        for lane in held() {
            for found in lane.ground.map_or(&[][..], Venue::overwritten) {
                let free = mechanism.refuse_limited(found.number, &found.kernel_name);
                free.map_err(|error| error.in_lane(lane.name))?;
            }
        }
        let lanes = lanes.iter().map(|lane| lane.throttle).collect();
        Ok(Throttling { base, lanes, mechanism, made: Vec::new(), devices: BTreeMap::new() })
    }

    /// Makes what setting limits needs, journalled before: mounts the hierarchy inside the run
    /// directory, or makes a group.
    ///
    /// # Errors
    /// [`LaneFailure`].
    pub(crate) fn prepare(&mut self, run: &Path, run_id: &str, journal: &mut Journal) -> Result<(), LaneFailure> {
        match &self.mechanism {
            Mechanism::V1(_) => {}
            Mechanism::MountV1 => {
                let target = run.join("blkio");
                std::fs::create_dir(&target)
                    .map_err(|error| cannot(format!("make the directory {}", target.display()), error))?;
                let source = Some(mechanism::MOUNT_SOURCE.to_owned());
                let entry = journal.will(Thing::Mount { target: target.clone(), source })?;
                if let Err(error) = mechanism::mount_v1(&target) {
                    journal.done(entry)?;
                    return Err(error);
                }
                self.made.push(entry);
                self.mechanism = Mechanism::V1(target);
            }
            Mechanism::V2 { root, .. } => {
                let group = mechanism::group_of(root, run_id);
                let entry = journal.will(Thing::Group { path: group.clone() })?;
                std::fs::create_dir(&group)
                    .map_err(|error| cannot(format!("make the cgroup {}", group.display()), error))?;
                self.made.push(entry);
                let held = ["io.max", "memory.current"].into_iter().all(|name| group.join(name).exists());
                self.mechanism = Mechanism::V2 { root: root.clone(), group: Some(group) };
                if !held {
                    return Err(privilege(
                        "cgroup v2 took `io` or `memory` back from its groups meanwhile, so --throttle cannot limit a disk; race again when whoever did that is done",
                    ));
                }
            }
        }
        Ok(())
    }

    /// Takes a ground's device for these lanes: nobody else limits it, and each value that it may come
    /// to carry can be set. Each is set once and lifted again: what does not work shows before anything
    /// is measured. A device that nothing is to hold is left alone.
    ///
    /// # Errors
    /// [`LaneFailure`].
    pub(crate) fn take(
        &mut self,
        index: usize,
        ground: &dyn Venue,
        lanes: &[usize],
        journal: &mut Journal,
    ) -> Result<(), LaneFailure> {
        let mut values: Vec<Throttle> = Vec::new();
        for throttle in self.base.into_iter().chain(lanes.iter().filter_map(|&lane| self.lanes[lane])) {
            if !values.contains(&throttle) {
                values.push(throttle);
            }
        }
        if values.is_empty() {
            return Ok(());
        }
        for name in ground.device_name().into_iter().chain(ground.further_device_names()) {
            let number = mechanism::number_of(&name)?;
            self.mechanism.refuse_limited(number, &name)?;
            let sequence = mechanism::sequence_of(&name);
            let mut journalled = Vec::new();
            for &throttle in &values {
                let entry = match self.mechanism {
                    // The limit goes with its group.
                    Mechanism::V2 { .. } => None,
                    _ => Some(journal.will(Thing::Limit { device: number, name: name.clone(), sequence, throttle })?),
                };
                journalled.push((throttle, entry));
            }
            self.devices.entry(index).or_default().push(Limited { number, name, values: journalled, held: None });
        }
        for throttle in values {
            self.hold(index, throttle)?;
        }
        self.lift(index)
    }

    /// Holds a ground's device to these limits from now on, and to no others. Holding twice is holding
    /// once; a ground without a device of its own is never held.
    ///
    /// # Errors
    /// [`LaneFailure::Failed`] where the kernel does not take them.
    fn hold(&mut self, index: usize, throttle: Throttle) -> Result<(), LaneFailure> {
        let mechanism = &self.mechanism;
        let numbers: Vec<DeviceNumber> =
            self.devices.get(&index).into_iter().flatten().map(|disk| disk.number).collect();
        // Lanes that take turns on disks share some of them: what another ground's lane left there holds no longer.
        let others = self.devices.iter_mut().filter(|(ground, _)| **ground != index).flat_map(|(_, disks)| disks);
        others.filter(|disk| numbers.contains(&disk.number)).try_for_each(|disk| disk.lift(mechanism))?;
        let disks = self.devices.get_mut(&index).into_iter().flatten();
        disks.filter(|device| device.held != Some(throttle)).try_for_each(|device| device.hold(throttle, mechanism))
    }

    /// Holds a ground's device to these limits, or lifts what holds it where there are none.
    fn hold_or_lift(&mut self, index: usize, throttle: Option<Throttle>) -> Result<(), LaneFailure> {
        match throttle {
            Some(throttle) => self.hold(index, throttle),
            None => self.lift(index),
        }
    }

    /// Lifts the limits of a ground's device; of several from all, whatever becomes of one.
    ///
    /// # Errors
    /// [`LaneFailure::Failed`] where the kernel does not; it counts as held still.
    pub(crate) fn lift(&mut self, index: usize) -> Result<(), LaneFailure> {
        let disks = self.devices.get_mut(&index).into_iter().flatten();
        disks.map(|device| device.lift(&self.mechanism)).fold(Ok(()), Result::and)
    }

    /// Moves a process to where the limits hold for it.
    ///
    /// # Errors
    /// [`LaneFailure::Failed`] where the kernel does not move it.
    pub(crate) fn join(&self, pid: u32) -> Result<(), LaneFailure> {
        self.mechanism.join(pid)
    }

    /// Lifts everything and unmakes what was made, going on after an error; answers the first.
    pub(crate) fn end(&mut self, mut journal: Option<&mut Journal>) -> Result<(), LaneFailure> {
        let mut first = Ok(());
        let mut note = |result: Result<(), LaneFailure>| {
            let done = result.is_ok();
            if first.is_ok() {
                first = result;
            }
            done
        };
        let indices: Vec<usize> = self.devices.keys().copied().collect();
        for index in indices {
            if !note(self.lift(index)) {
                continue;
            }
            let values = self.devices.remove(&index).into_iter().flatten().flat_map(|device| device.values);
            for entry in values.filter_map(|(_, entry)| entry) {
                if let Some(journal) = journal.as_deref_mut() {
                    note(journal.done(entry));
                }
            }
        }
        // What could not be lifted needs the hierarchy still; the next command finds both in the journal.
        let needed = matches!(self.mechanism, Mechanism::V1(_)) && !self.devices.is_empty();
        if !needed && let Some(entry) = self.made.pop() {
            let unmade = match &self.mechanism {
                Mechanism::V1(mounted) => mount::unmount_patiently(mounted),
                Mechanism::V2 { group: Some(group), .. } => mechanism::remove_group(group),
                Mechanism::MountV1 | Mechanism::V2 { group: None, .. } => Ok(()),
            };
            if let (true, Some(journal)) = (note(unmade), journal) {
                note(journal.done(entry));
            }
        }
        first
    }

    /// What it does, for `--dry-run`, to lanes of these names.
    fn describe(&self, names: &[&str]) -> String {
        let alike = self.lanes.windows(2).all(|two| two[0] == two[1]);
        let held = match self.lanes.first() {
            Some(Some(throttle)) if alike => format!("hold every lane's device to {throttle} while it is measured"),
            _ => {
                let each: Vec<String> = names
                    .iter()
                    .zip(&self.lanes)
                    .map(|(name, throttle)| match throttle {
                        Some(throttle) => format!("{name} to {throttle}"),
                        None => format!("{name} to nothing"),
                    })
                    .collect();
                format!("hold each lane's device while it is measured, {}", each.join(", "))
            }
        };
        format!("{held}: {}", self.mechanism.describe())
    }
}

impl LaneSet {
    /// Whether the lanes can be held to what was asked for; `None`: nothing was.
    ///
    /// # Errors
    /// [`LaneFailure::Usage`] for limits that make no sense, a lane that is not there, and what
    /// [`Throttling::check`] refuses.
    pub(crate) fn check_throttling(&self) -> Result<Option<Throttling>, LaneFailure> {
        let throttles = &self.settings.throttles;
        let names: Vec<&str> = self.settings.specs.iter().map(|spec| spec.name.as_str()).collect();
        throttles.check(&names).map_err(|error| usage(error.to_string()))?;
        if *throttles == Throttles::default() {
            return Ok(None);
        }
        if let Some(lane) = self.lanes.iter().find(|lane| lane.replacer().is_some() || lane.rebuilds()) {
            return Err(usage(format!(
                "--throttle holds what a lane's work does, and lane {} rebuilds a disk beside it; race it without --throttle",
                lane.name
            )));
        }
        let lanes = self.lanes.iter().map(|lane| Candidate {
            name: &lane.name,
            ground: lane.fixed_ground.map(|ground| &*self.stores[ground]),
            // The first lane's twin has the first lane's disk.
            throttle: throttles.of_lane(&lane.spec.name),
        });
        Throttling::check(throttles.base, &lanes.collect::<Vec<_>>()).map(Some)
    }

    /// What is done about limits, for `--dry-run`; `None`: nothing.
    pub(crate) fn describe_throttling(&self) -> Option<String> {
        let names: Vec<&str> = self.lanes.iter().map(|lane| lane.name.as_str()).collect();
        self.throttling.as_ref().map(|throttling| throttling.describe(&names))
    }

    /// The lanes that may stand on a ground.
    fn lanes_on(&self, ground: usize) -> Vec<usize> {
        let stands = |lane: usize| match self.lanes[lane].fixed_ground {
            Some(fixed) => fixed == ground,
            None => self.pool_of(lane).contains(&ground),
        };
        (0..self.lanes.len()).filter(|&lane| stands(lane)).collect()
    }

    /// Makes what holding devices needs, once their images are attached.
    pub(crate) fn prepare_throttling(&mut self, journal: &mut Journal) -> Result<(), LaneFailure> {
        let standing: Vec<Vec<usize>> = (0..self.stores.len()).map(|ground| self.lanes_on(ground)).collect();
        let Some(throttling) = &mut self.throttling else { return Ok(()) };
        throttling.prepare(&self.work, &self.settings.run_id, journal)?;
        for (index, (ground, lanes)) in self.stores.iter().zip(&standing).enumerate() {
            throttling.take(index, &**ground, lanes, journal)?;
        }
        Ok(())
    }

    /// Holds a ground's device from now on to the limits of the lane that stands there, where it has
    /// any; otherwise to none.
    ///
    /// # Errors
    /// [`LaneFailure::Failed`] where the kernel does not take the limits.
    pub fn hold(&mut self, ground: usize, lane: usize) -> Result<(), LaneFailure> {
        let Some(throttling) = &mut self.throttling else { return Ok(()) };
        let throttle = throttling.lanes[lane];
        throttling.hold_or_lift(ground, throttle)
    }

    /// Holds a ground's bare device from now on to the limits that all lanes have which have none of
    /// their own, where there are any; otherwise to none.
    ///
    /// # Errors
    /// [`LaneFailure::Failed`] where the kernel does not take the limits.
    pub fn hold_bare(&mut self, ground: usize) -> Result<(), LaneFailure> {
        let Some(throttling) = &mut self.throttling else { return Ok(()) };
        let throttle = throttling.base;
        throttling.hold_or_lift(ground, throttle)
    }

    /// Lifts it again.
    ///
    /// # Errors
    /// [`LaneFailure::Failed`] where the kernel does not lift the limits.
    pub fn lift(&mut self, ground: usize) -> Result<(), LaneFailure> {
        self.throttling.as_mut().map_or(Ok(()), |throttling| throttling.lift(ground))
    }

    /// Lifts it from every ground.
    ///
    /// # Errors
    /// [`LaneFailure::Failed`]: the first; the others are lifted all the same.
    pub fn lift_all(&mut self) -> Result<(), LaneFailure> {
        (0..self.stores.len()).map(|ground| self.lift(ground)).fold(Ok(()), Result::and)
    }

    /// Moves an agent to where the throttle holds for it.
    ///
    /// # Errors
    /// [`LaneFailure::Failed`] where the kernel does not move it.
    pub fn join_throttled(&self, pid: u32) -> Result<(), LaneFailure> {
        self.throttling.as_ref().map_or(Ok(()), |throttling| throttling.join(pid))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::LOOP_MAJOR;
    use crate::mountinfo;

    /// A hierarchy that is mounted elsewhere may be mounted once more: it is the same one.
    #[test]
    fn blkio_is_mounted_in_the_run_directory_and_unmounted_at_the_end() {
        let root = rustix::process::geteuid().is_root();
        if !root || !matches!(mechanism::find(), Ok(Mechanism::V1(_) | Mechanism::MountV1)) {
            eprintln!("blkio in the run directory: skipped, because it needs root and cgroup v1");
            return;
        }
        let run_id = format!("lanes-throttle-{}", std::process::id());
        let scratch = Path::new("/var/tmp").join(&run_id);
        let run = scratch.join(format!(".fairlane-{run_id}"));
        std::fs::create_dir_all(&run).unwrap();
        let mut journal = Journal::begin(&scratch, &run_id).unwrap();
        // A device number that no loop device has: the kernel says so, and nothing is limited.
        let number = (LOOP_MAJOR, 999_999);
        let throttle: Throttle = "20MiB/s".parse().unwrap();
        let mut throttling = Throttling {
            base: Some(throttle),
            lanes: Vec::new(),
            mechanism: Mechanism::MountV1,
            made: Vec::new(),
            devices: BTreeMap::new(),
        };
        throttling.prepare(&run, &run_id, &mut journal).unwrap();
        let mounted = mountinfo::at(&mountinfo::read().unwrap(), &run.join("blkio")).cloned();
        let of_another_race = mechanism::find();
        let refused = throttling.mechanism.set(number, "loop999999", &throttle).unwrap_err().to_string();
        let target = throttling.mechanism.clone();
        throttling.end(Some(&mut journal)).unwrap();
        let left = mountinfo::at(&mountinfo::read().unwrap(), &run.join("blkio")).is_some();
        journal.finish().unwrap();
        std::fs::remove_dir_all(&scratch).unwrap();
        assert_eq!(target, Mechanism::V1(run.join("blkio")));
        // Another race mounts its own: this mount goes with this race.
        assert!(of_another_race.is_ok() && of_another_race != Ok(target), "{of_another_race:?}");
        assert!(mounted.is_some_and(|mount| mount.super_options.iter().any(|option| option == "blkio")));
        assert!(refused.contains("blkio.throttle.read_bps_device"), "{refused}");
        assert!(!left);
    }

    /// No device keeps a limit against the kernel's will: a filesystem that takes no writes stands for the
    /// hierarchy that lifts none.
    #[test]
    fn the_mount_stays_while_a_limit_could_not_be_lifted() {
        if !rustix::process::geteuid().is_root() {
            eprintln!("a mount that stays: skipped, because it needs root");
            return;
        }
        let run_id = format!("lanes-stays-{}", std::process::id());
        let scratch = Path::new("/var/tmp").join(&run_id);
        let target = scratch.join(format!(".fairlane-{run_id}")).join("blkio");
        std::fs::create_dir_all(&target).unwrap();
        let mut journal = Journal::begin(&scratch, &run_id).unwrap();
        let source = Some(mechanism::MOUNT_SOURCE.to_owned());
        let entry = journal.will(Thing::Mount { target: target.clone(), source }).unwrap();
        mount::mount("tmpfs", mechanism::MOUNT_SOURCE, &["size=64k".to_owned()], &target).unwrap();
        for way in ["read", "write"] {
            let limit = format!("{LOOP_MAJOR}:999999 {}\n", 20 << 20);
            std::fs::write(target.join(format!("blkio.throttle.{way}_bps_device")), limit).unwrap();
        }
        let remount = |flags| rustix::mount::mount_remount(&target, flags, "").unwrap();
        let throttle: Throttle = "20MiB/s".parse().unwrap();
        let device = Limited {
            number: (LOOP_MAJOR, 999_999),
            name: "loop999999".to_owned(),
            values: Vec::new(),
            held: Some(throttle),
        };
        let mut throttling = Throttling {
            base: Some(throttle),
            lanes: Vec::new(),
            mechanism: Mechanism::V1(target.clone()),
            made: vec![entry],
            devices: BTreeMap::from([(0, vec![device])]),
        };
        let is_mounted = || mountinfo::at(&mountinfo::read().unwrap(), &target).is_some();
        remount(rustix::mount::MountFlags::RDONLY);
        let refused = throttling.end(Some(&mut journal)).unwrap_err().to_string();
        let stayed = is_mounted();
        // It takes them now: the next try lifts the limit and lets the mount go.
        remount(rustix::mount::MountFlags::empty());
        let ended = throttling.end(Some(&mut journal));
        let left = is_mounted();
        journal.finish().unwrap();
        if !left {
            std::fs::remove_dir_all(&scratch).unwrap();
        }
        assert!(refused.contains("blkio.throttle.read_bps_device"), "{refused}");
        assert!(stayed, "it was pulled away from under a limit");
        assert_eq!((ended, left), (Ok(()), false));
    }
}
