//! A guest in which options are tried before lanes of theirs are laid out: one start of it serves all of them.

use crate::command;
use crate::contestant::Contestant;
use crate::failure::{LaneFailure, cannot, failed, privilege};
use crate::filesystems::{Filesystem, Home};
use crate::guest::GuestKind;
use crate::guest::protocol::{Answer, Ask};
use crate::lane_set::guest::{GuestSlot, kernel_mounts};
use crate::lane_set::in_guest::disks_in_guest;
use crate::lane_set::stacked;
use crate::lane_set::{LaneSet, Settings};
use crate::layers;
use crate::screened_options::formatted::{as_made_here, make};
use crate::screened_options::{Made, Tried};
use crate::undo::Journal;
use model::lane::LaneSpec;
use std::fs::File;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

/// So often the guest may end while something is tried, before it is asked no more: each time may take minutes. Chosen.
const MOST_ENDS: u32 = 2;

/// Tries options in a guest as the race of them starts it, but on sparse disks.
#[derive(Debug)]
pub struct OptionTrial {
    lane_set: LaneSet,
    /// The files here that are its disks.
    files: Vec<PathBuf>,
    /// Those disks as the guest has them.
    disks: Vec<PathBuf>,
    /// How often it ended while something was tried.
    ends: u32,
}

/// What is asked of a guest.
enum Asked {
    /// Its kernel, or a program there, is to mount the lane.
    Mount {
        /// Disks that its filesystem stands on.
        disks: usize,
        /// Its mkfs runs there too.
        makes: bool,
    },
    /// It would not get so far: why, without a full stop.
    Refused(String),
}

impl OptionTrial {
    /// Looks whether the one lane of these settings can be raced in its guest; nothing is made.
    ///
    /// # Errors
    /// As [`LaneSet::check`]; [`LaneFailure::Failed`] where the lane lives in no guest, or is made anew by no mkfs of Fairlane's table.
    pub fn check(settings: Settings) -> Result<OptionTrial, LaneFailure> {
        let mut lane_set = LaneSet::check(settings)?;
        let ([lane], [store], [_]) = (&lane_set.lanes[..], &lane_set.stores[..], &lane_set.guests[..]) else {
            return Err(failed("one lane is tried in its guest; this is a fault of Fairlane, report it"));
        };
        if row_of(&lane.contestant).is_none_or(|row| row.home != Home::Block || row.mkfs.is_empty()) {
            return Err(failed("a lane that no mkfs makes was to be tried; this is a fault of Fairlane, report it"));
        }
        let files = store.image_files().into_iter().map(Path::to_owned).collect();
        let disks = disks_in_guest(&**store);
        lane_set.further_modules = layers::modules_of_all();
        Ok(OptionTrial { lane_set, files, disks, ends: 0 })
    }

    /// Makes its disks and starts it.
    ///
    /// # Errors
    /// As the race would fail; call [`OptionTrial::end`] then too.
    pub fn start(&mut self, journal: &mut Journal, stop: &AtomicBool) -> Result<(), LaneFailure> {
        for folder in &mut self.lane_set.run_directories {
            folder.make(journal)?;
        }
        for path in &self.files {
            let made = File::options().write(true).create_new(true).mode(0o600).open(path);
            made.and_then(|file| file.set_len(self.lane_set.settings.lane_size.0))
                .map_err(|error| cannot(format!("make {}", path.display()), error))?;
        }
        self.lane_set.running_guest(0, journal, stop).map(drop)
    }

    /// Formats and mounts a lane once: the one that was checked, with other options. A guest that ends over it, or does not answer
    /// for minutes, refuses it, and is started again for the next one; where it has done so twice, mkfs alone is tried.
    ///
    /// # Errors
    /// [`LaneFailure`] where nothing can be tried: the machine fails, or the guest does not start again.
    pub fn try_lane(
        &mut self,
        lane: &LaneSpec,
        journal: &mut Journal,
        stop: &AtomicBool,
    ) -> Result<Tried, LaneFailure> {
        let Some(slot) = self.lane_set.guests.first() else { return Ok(Tried::NotTried) };
        let contestant = Contestant::resolve(lane, &|row| kernel_mounts(&slot.kernel, row))?;
        let Some(row) = row_of(&contestant) else { return Ok(Tried::NotTried) };
        let fuse = mounting_program(&contestant)?;
        let (disks, makes) = match asked(lane, row, (slot, self.disks.len()))? {
            Asked::Mount { disks, makes } => (disks, makes),
            Asked::Refused(why) => return Ok(Tried::Refused(why)),
        };
        let kind = slot.kind;
        let commands = contestant.commands(lane)?;
        self.empty_disks()?;
        let mut geometry = None;
        if let (false, Some(file)) = (makes, self.files.first()) {
            match make(row, &commands, file, stop)? {
                Ok(told) => geometry = Some(told),
                Err(why) => return Ok(Tried::Refused(why)),
            }
            if kind == GuestKind::Qemu {
                // It reads the disk past the cache in which this lies.
                let synced = File::open(file).and_then(|file| file.sync_all());
                synced.map_err(|error| cannot(format!("sync {}", file.display()), error))?;
            }
        }
        if self.gave_up() {
            let made = geometry.map(|geometry| as_made_here(lane, &commands, geometry));
            return Ok(made.map_or(Tried::NotTried, Tried::Works));
        }
        let disks = self.disks.iter().take(disks).cloned().collect();
        let mkfs = row.mkfs.first().filter(|_| makes).and_then(|name| command::find_program(name));
        let is_by_program = fuse.is_some();
        let tried = self.ask(Ask::Try { lane: Box::new(lane.clone()), disks, mkfs, fuse }, journal, stop)?;
        Ok(match tried {
            Tried::Works(Made { geometry: of_guest, mount, queue, vm }) => {
                let mut geometry = geometry.unwrap_or(of_guest);
                if is_by_program && !makes {
                    // Nobody knows what a program makes of words: other words are another lane.
                    geometry.extend(commands.mount_options);
                }
                Tried::Works(Made { geometry, mount, queue, vm })
            }
            other => other,
        })
    }

    /// Asks the guest, started where it does not run. Its end is a refusal.
    fn ask(&mut self, ask: Ask, journal: &mut Journal, stop: &AtomicBool) -> Result<Tried, LaneFailure> {
        let guest = self.lane_set.running_guest(0, journal, stop)?;
        match guest.ask(&ask, stop) {
            Ok(Answer::Tried { tried }) => Ok(tried),
            Ok(other) => Err(failed(format!("the guest answered {other:?} when it was asked to try a lane"))),
            Err(LaneFailure::Failed(why)) if !guest.lives() => {
                self.ends += 1;
                Ok(Tried::Refused(why))
            }
            Err(failure) => Err(failure),
        }
    }

    /// Whether the guest is asked no more, because it ended too often.
    pub fn gave_up(&self) -> bool {
        self.ends >= MOST_ENDS
    }

    /// Ends the guest, and takes all of it away.
    ///
    /// # Errors
    /// [`LaneFailure::Failed`] where something of it stays: it stands in the journal then.
    pub fn end(self, journal: &mut Journal) -> Result<(), LaneFailure> {
        self.lane_set.teardown(journal)
    }

    /// What was made on the disks is gone, and they are sparse again.
    fn empty_disks(&self) -> Result<(), LaneFailure> {
        let bytes = self.lane_set.settings.lane_size.0;
        self.files.iter().try_for_each(|path| {
            let emptied = File::options().write(true).open(path);
            emptied
                .and_then(|file| file.set_len(0).and_then(|()| file.set_len(bytes)))
                .map_err(|error| cannot(format!("empty {}", path.display()), error))
        })
    }
}

/// The row of the table that a lane's mkfs is of; `None`: it is a directory, or a filesystem of the user's own.
fn row_of(contestant: &Contestant) -> Option<&'static Filesystem> {
    match contestant {
        Contestant::Row(row) => Some(*row),
        Contestant::Custom(custom) => custom.row(),
        Contestant::Directory(_) => None,
    }
}

/// The program that mounts a lane, as it lies here and in the guest; `None`: the guest's kernel does.
///
/// # Errors
/// [`LaneFailure::Privilege`] where it is missing.
fn mounting_program(contestant: &Contestant) -> Result<Option<PathBuf>, LaneFailure> {
    let Contestant::Custom(custom) = contestant else { return Ok(None) };
    let name = custom.mount.first().map_or("mount", String::as_str);
    let found = command::find_program(name);
    found.map(Some).ok_or_else(|| privilege(format!("{name} is missing; install it or add its folder to PATH")))
}

/// What is asked of a guest that has so many disks. What the race would refuse of the lane before any guest is started is refused.
///
/// # Errors
/// Where the machine fails.
fn asked(lane: &LaneSpec, row: &Filesystem, (slot, most): (&GuestSlot, usize)) -> Result<Asked, LaneFailure> {
    for layer in &lane.layers {
        match stacked::check_layer(layer, slot.kind, &slot.kernel) {
            Ok(_) => {}
            Err(LaneFailure::Usage(why) | LaneFailure::Privilege(why)) => return Ok(Asked::Refused(why)),
            Err(failure) => return Err(failure),
        }
    }
    let (devices, least) = (lane.devices, (row.least_devices)(&lane.mkfs_options));
    if devices < least {
        return Ok(Asked::Refused(format!("it takes at least {least} disks, and the lane has {devices}")));
    }
    let disks = devices as usize;
    // The program is there for lanes that their guest formats in a race too.
    let makes = row.mkfs_looks_around || disks > 1;
    match disks <= most {
        true => Ok(Asked::Mount { disks, makes }),
        false => Err(failed(format!("a lane on {disks} disks in a guest of {most}: a fault of Fairlane, report it"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::architecture::Architecture;
    use crate::guest::Kernel;

    fn slot() -> GuestSlot {
        let architecture = Architecture::of_pe(0x8664).unwrap();
        let kernel = Kernel { path: "/k".into(), release: "6".to_owned(), modules: Default::default(), architecture };
        GuestSlot::new(GuestKind::Uml, kernel, String::new())
    }

    fn told(lane: &str, disks: usize) -> Result<(usize, bool), String> {
        let lane: LaneSpec = lane.parse().unwrap();
        // Debian's kernels have no ntfs3.
        let contestant = Contestant::resolve(&lane, &|row| row.name != "ntfs").unwrap();
        let row = row_of(&contestant).unwrap();
        match asked(&lane, row, (&slot(), disks)).map_err(|failure| failure.to_string())? {
            Asked::Mount { disks, makes } => Ok((disks, makes)),
            Asked::Refused(why) => Err(why),
        }
    }

    #[test]
    fn a_guest_formats_what_it_formats_in_a_race_and_the_host_the_rest() {
        assert_eq!(told("ext4,commit=30@uml", 1), Ok((1, false)));
        assert_eq!(told("btrfs@uml", 1), Ok((1, true)));
        assert_eq!(told("btrfs,-mraid1:2@uml", 2), Ok((2, true)));
        assert_eq!(told("ext4/queue,scheduler=none@uml", 1), Ok((1, false)));
        assert_eq!(told("ntfs(-c 8192),big_writes@uml", 1), Ok((1, false)));
    }

    #[test]
    fn a_program_that_mounts_a_lane_is_named_to_its_guest_and_a_kernel_is_not() {
        let of = |lane: &str, kernel_mounts: bool| {
            Contestant::resolve(&lane.parse().unwrap(), &|_: &'static Filesystem| kernel_mounts).unwrap()
        };
        assert_eq!(mounting_program(&of("ntfs@uml", true)), Ok(None));
        let program = mounting_program(&of("ntfs@uml", false));
        match command::find_program("ntfs-3g") {
            Some(path) => assert_eq!(program, Ok(Some(path))),
            None => assert!(program.unwrap_err().to_string().contains("ntfs-3g is missing; install it")),
        }
        assert!(row_of(&of("/mnt/a", true)).is_none());
    }

    #[test]
    fn what_no_guest_is_started_for_in_a_race_is_refused_before_one_is_asked() {
        let kernel = told("ext4/vm,dirty_ratio=5@uml", 1).unwrap_err();
        assert!(kernel.contains("vm sets this machine's kernel"), "{kernel}");
        let disks = told("btrfs,-mraid1@uml", 1).unwrap_err();
        assert_eq!(disks, "it takes at least 2 disks, and the lane has 1");
        assert!(told("btrfs:2@uml", 1).unwrap_err().contains("a fault of Fairlane"));
    }
}
