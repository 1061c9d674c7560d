//! The emulated disk: every lane's device is held to the same limits while it is measured, and to
//! none while it is made and filled.
//!
//! A limit lies on the lane's own device and holds for whoever uses it: the agent, and what the
//! kernel's own threads (writeback, journals, Btrfs's workers) do on a filesystem's behalf. Of
//! cgroup v1 that is so for the root group, in which those threads run; the agent is moved there.
//! cgroup v2 has no limit in its root group: there a group of the agent's own is limited, the
//! kernel's threads are not, and only the check after each trial tells whether that was enough.
//!
//! A limit outlives the loop device that it was set for: the next image on the same number would
//! inherit it. So it stands in the undo journal before it is set, and a device that carries one
//! already is refused, because it is somebody else's.

mod mechanism;

pub(crate) use mechanism::{MOUNT_SOURCE, group_of, lift_group, lift_left_over, mount_v1, remove_group};

use crate::device::DeviceNumber;
use crate::failure::{LaneFailure, cannot, usage};
use crate::ground::Ground;
use crate::host;
use crate::mount;
use crate::stage::Stage;
use crate::stage_check::run_directory_name;
use crate::undo::{EntryId, Journal, Thing};
use mechanism::Mechanism;
use model::Throttle;
use std::collections::BTreeMap;
use std::path::Path;

/// The limits of one race.
#[derive(Debug)]
pub(crate) struct Throttling {
    throttle: Throttle,
    mechanism: Mechanism,
    /// What was mounted or made for it, to be undone.
    made: Vec<EntryId>,
    /// The limited devices, by their ground.
    devices: BTreeMap<usize, Limited>,
}

/// A device that may be limited.
#[derive(Debug)]
struct Limited {
    number: DeviceNumber,
    name: String,
    entry: Option<EntryId>,
    held: bool,
}

impl Throttling {
    /// Whether these lanes can be held to these limits here. Writes nothing. `lanes` are names with
    /// the ground of each; `None`: an image, made later.
    ///
    /// # Errors
    /// [`LaneFailure::Usage`] for a lane without a device of its own, a partition, or a device that
    /// has a limit already; [`LaneFailure::Privilege`] where the kernel offers no way.
    pub(crate) fn check(throttle: Throttle, lanes: &[(&str, Option<&Ground>)]) -> Result<Throttling, LaneFailure> {
        throttle.check().map_err(|error| usage(format!("--throttle: {error}")))?;
        for (name, ground) in lanes {
            if let Some(ground) = ground {
                refuse_ground(ground).map_err(|error| error.in_lane(name))?;
            }
        }
        let mechanism = mechanism::find()?;
        for (name, ground) in lanes {
            if let Some(Ground::Device(found)) = ground {
                mechanism.refuse_limited(found.number, &found.kernel_name).map_err(|error| error.in_lane(name))?;
            }
        }
        Ok(Throttling { throttle, mechanism, made: Vec::new(), devices: BTreeMap::new() })
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
                self.mechanism = Mechanism::V2 { root: root.clone(), group: Some(group) };
            }
        }
        Ok(())
    }

    /// Takes a ground's device: nobody else limits it, and its limits can be set. They are set once
    /// and lifted again: what does not work shows before anything is measured.
    ///
    /// # Errors
    /// [`LaneFailure`].
    pub(crate) fn take(&mut self, index: usize, ground: &Ground, journal: &mut Journal) -> Result<(), LaneFailure> {
        let Some(name) = ground.device_name() else { return Ok(()) };
        let number = mechanism::number_of(&name)?;
        self.mechanism.refuse_limited(number, &name)?;
        let entry = match self.mechanism {
            // The limit goes with its group.
            Mechanism::V2 { .. } => None,
            _ => Some(journal.will(Thing::Limit {
                device: number,
                name: name.clone(),
                sequence: mechanism::sequence_of(&name),
                throttle: self.throttle,
            })?),
        };
        self.devices.insert(index, Limited { number, name, entry, held: false });
        self.hold(index)?;
        self.lift(index)
    }

    /// Holds a ground's device to the limits from now on. Holding twice is holding once.
    ///
    /// # Errors
    /// [`LaneFailure::Failed`] where the kernel does not take them.
    pub(crate) fn hold(&mut self, index: usize) -> Result<(), LaneFailure> {
        let Some(device) = self.devices.get_mut(&index).filter(|device| !device.held) else { return Ok(()) };
        // Half of them may be set when it fails.
        device.held = true;
        self.mechanism.set(device.number, &device.name, &self.throttle)
    }

    /// Lifts the limits of a ground's device.
    ///
    /// # Errors
    /// [`LaneFailure::Failed`] where the kernel does not; it counts as held still.
    pub(crate) fn lift(&mut self, index: usize) -> Result<(), LaneFailure> {
        let Some(device) = self.devices.get_mut(&index).filter(|device| device.held) else { return Ok(()) };
        self.mechanism.lift(device.number, &device.name, &self.throttle)?;
        device.held = false;
        Ok(())
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
            let entry = self.devices.remove(&index).and_then(|device| device.entry);
            if let (Some(entry), Some(journal)) = (entry, journal.as_deref_mut()) {
                note(journal.done(entry));
            }
        }
        // What could not be lifted needs the hierarchy still; the next command finds both in the journal.
        let needed = matches!(self.mechanism, Mechanism::V1(_)) && !self.devices.is_empty();
        if let Some(entry) = self.made.pop().filter(|_| !needed) {
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

    /// What it does, for `--dry-run`.
    pub(crate) fn describe(&self) -> String {
        format!("hold every lane's device to {} while it is measured: {}", self.throttle, self.mechanism.describe())
    }
}

impl Stage {
    /// Makes what holding devices needs, once their images are attached.
    pub(crate) fn prepare_throttling(&mut self, journal: &mut Journal) -> Result<(), LaneFailure> {
        let Some(throttling) = &mut self.throttling else { return Ok(()) };
        let run = self.base.join(run_directory_name(&self.settings.run_id));
        throttling.prepare(&run, &self.settings.run_id, journal)?;
        for (index, ground) in self.grounds.iter().enumerate() {
            throttling.take(index, ground, journal)?;
        }
        Ok(())
    }

    /// Holds a ground's device to the race's throttle from now on, where it has one.
    ///
    /// # Errors
    /// [`LaneFailure::Failed`] where the kernel does not take the limits.
    pub fn hold(&mut self, ground: usize) -> Result<(), LaneFailure> {
        self.throttling.as_mut().map_or(Ok(()), |throttling| throttling.hold(ground))
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
        (0..self.grounds.len()).map(|ground| self.lift(ground)).fold(Ok(()), Result::and)
    }

    /// Moves an agent to where the throttle holds for it.
    ///
    /// # Errors
    /// [`LaneFailure::Failed`] where the kernel does not move it.
    pub fn join_throttled(&self, pid: u32) -> Result<(), LaneFailure> {
        self.throttling.as_ref().map_or(Ok(()), |throttling| throttling.join(pid))
    }
}

/// Refuses what has no device of its own that could be limited.
fn refuse_ground(ground: &Ground) -> Result<(), LaneFailure> {
    match ground {
        Ground::Image(_) => Ok(()),
        Ground::Memory => Err(usage(
            "it lives in memory and has no disk that --throttle could hold; leave that lane out, or race without --throttle",
        )),
        Ground::Directory { path, .. } => Err(usage(format!(
            "{} shares its disk with everything else there, so --throttle cannot hold it alone; race images there instead: --on {}",
            path.display(),
            path.display()
        ))),
        Ground::Device(found) if host::whole_disk(&found.kernel_name) != found.kernel_name => Err(usage(format!(
            "{} is a partition, and the kernel limits whole disks only; give --throttle the whole disk, or race images on it: --on DIR",
            found.path.display()
        ))),
        Ground::Device(_) => Ok(()),
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
        let mut throttling =
            Throttling { throttle, mechanism: Mechanism::MountV1, made: Vec::new(), devices: BTreeMap::new() };
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
}
