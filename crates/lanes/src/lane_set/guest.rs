//! The guests of a race: which it needs, what they must have, and when they are started.

use crate::above;
use crate::command;
use crate::contestant::Contestant;
use crate::custom::Kind;
use crate::failure::{LaneFailure, privilege, usage};
use crate::filesystems::{Filesystem, Home};
use crate::guest::uml::{self, Ptrace};
use crate::guest::{Begun, Boot, Guest, GuestKind, Kernel, Machine, kvm};
use crate::guest_needs::{self, other_kernels, package_of};
use crate::lane_set::{LaneSet, LaneState, Settings};
use crate::layers;
use crate::missing::missing;
use crate::undo::{EntryId, Journal, Thing};
use model::Bytes;
use model::lane::{LaneSpec, Venue};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// CPUs of a QEMU guest that was given none, if the host has them.
const USUAL_CPUS: u32 = 2;

/// One guest of a race.
#[derive(Debug)]
pub(crate) struct GuestSlot {
    pub(crate) kind: GuestKind,
    pub(crate) kernel: Kernel,
    /// What tells its image from another of the same release.
    pub(crate) build: String,
    pub(crate) running: Option<Arc<Guest>>,
    entry: Option<EntryId>,
    /// Whether KVM works with its kernel; `None`: not tried yet.
    kvm: Option<bool>,
    /// Whose `ptrace` user-mode Linux uses; `None`: not tried, or QEMU.
    ptrace: Option<Ptrace>,
}

/// The kind of guest that a venue asks for, and the kernel that it names.
pub(crate) fn wanted(spec: &LaneSpec) -> Option<(GuestKind, Option<&Path>)> {
    match &spec.venue {
        Some(Venue::Uml) => Some((GuestKind::Uml, None)),
        Some(Venue::Qemu(named)) => Some((GuestKind::Qemu, named.as_deref())),
        _ => None,
    }
}

/// Whether a kernel mounts a row's filesystem, as far as its modules tell.
pub(crate) fn kernel_mounts(kernel: &Kernel, row: &Filesystem) -> bool {
    row.home != Home::Block
        || row.module.is_empty()
        || !kernel.modules.knows_builtin()
        || kernel.modules.of_filesystem(row).is_some()
}

impl GuestSlot {
    /// One that does not run yet.
    pub(crate) fn new(kind: GuestKind, kernel: Kernel, build: String) -> GuestSlot {
        GuestSlot { kind, kernel, build, running: None, entry: None, kvm: None, ptrace: None }
    }

    /// The slot of a lane among those there are; a new one where there is none. `None`: it lives in no guest.
    ///
    /// # Errors
    /// When the kernel, or what runs it, is missing.
    pub(crate) fn of_lane(spec: &LaneSpec, slots: &mut Vec<GuestSlot>) -> Result<Option<usize>, LaneFailure> {
        let Some((kind, named)) = wanted(spec) else { return Ok(None) };
        let kernel = Kernel::find(kind, named)?;
        // One that is named may be the distribution's own.
        let same = |slot: &GuestSlot| slot.kind == kind && slot.kernel.path == kernel.path;
        if let Some(index) = slots.iter().position(same) {
            return Ok(Some(index));
        }
        let build = kernel.build()?;
        slots.push(GuestSlot::new(kind, kernel, build));
        Ok(Some(slots.len() - 1))
    }

    /// What the record and messages call it: `uml, Linux 6.1.176`.
    pub(crate) fn describe(&self, settings: &Settings) -> String {
        let memory = memory_of(settings);
        match self.kind {
            GuestKind::Uml => format!("user-mode Linux {}, 1 CPU, {memory}", self.kernel.release),
            GuestKind::Qemu => {
                let accelerator = match self.kvm {
                    Some(true) => "KVM",
                    Some(false) => "emulated CPU",
                    None => "KVM where it works",
                };
                format!("QEMU with Linux {}, {} CPUs, {memory}, {accelerator}", self.kernel.release, cpus_of(settings))
            }
        }
    }

    /// Whether the hardware runs its instructions, found out by a trial boot.
    pub(crate) fn is_emulated(&self) -> bool {
        self.kind == GuestKind::Qemu && self.kvm == Some(false)
    }
}

/// `MemAvailable` of /proc/meminfo.
pub(crate) fn available_bytes() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/meminfo").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    line.split_whitespace().next()?.parse::<u64>().ok().map(|kib| kib * 1024)
}

/// A trial boot with KVM, journalled as every guest is.
pub(crate) fn try_kvm(boot: &Boot, journal: &mut Journal, stop: &AtomicBool) -> Result<bool, LaneFailure> {
    let entry = journal.will(Thing::Guest { folder: kvm::trial_folder(boot) })?;
    let mut keeper = 0;
    let mut started = |begun: Begun| match begun {
        Begun::Keeper(pid) => {
            keeper = pid;
            journal.learned_process(entry, pid)
        }
        Begun::Session(session) => journal.learned_session(entry, session, keeper),
    };
    let works = kvm::works(boot, stop, &mut started);
    journal.done(entry)?;
    Ok(works)
}

pub(crate) fn memory_of(settings: &Settings) -> Bytes {
    settings.guest.memory.unwrap_or(model::lane::USUAL_GUEST_MEMORY)
}

pub(crate) fn cpus_of(settings: &Settings) -> u32 {
    let host = std::thread::available_parallelism().map_or(1, |count| count.get() as u32);
    settings.guest.cpus.unwrap_or(USUAL_CPUS.min(host))
}

/// Refuses what no guest can do.
pub(crate) fn check_contestant(contestant: &Contestant, slot: &GuestSlot) -> Result<(), LaneFailure> {
    let venue = slot.kind.venue();
    match contestant {
        Contestant::Directory(_) => Err(usage("a directory is raced where it is; remove what follows the @")),
        Contestant::Row(row) if !kernel_mounts(&slot.kernel, row) => {
            let other = other_kernels(row, Some(slot.kind));
            Err(privilege(format!("the {venue} kernel {} lacks {}; {other}", slot.kernel.release, row.mounted_as())))
        }
        Contestant::Row(_) => Ok(()),
        Contestant::Custom(custom) if custom.kind == Kind::Kernel => Err(usage(format!(
            "{} is mounted by a program of the host's, which a guest does not have; race it on the host",
            custom.name
        ))),
        Contestant::Custom(custom) => match command::find_program(&custom.mount[0]) {
            Some(_) => Ok(()),
            None => Err(privilege(match custom.row().and_then(|row| row.fuse) {
                Some(fuse) => missing(&custom.mount[0], fuse.package),
                None => format!("{} is missing; install it or correct its path", custom.mount[0]),
            })),
        },
    }
}

/// Refuses options that nothing in this race heeds.
fn check_options(lane_set: &LaneSet) -> Result<(), LaneFailure> {
    let given = &lane_set.settings.guest;
    let has = |kind: GuestKind| lane_set.guests.iter().any(|slot| slot.kind == kind);
    let without_effect = [
        (
            "--guest-cpus",
            given.cpus.is_some() && !has(GuestKind::Qemu),
            "no lane lives in QEMU, and user-mode Linux has 1 CPU",
        ),
        ("--guest-memory", given.memory.is_some() && lane_set.guests.is_empty(), "no lane lives in a guest"),
        (
            "--guest-sync",
            given.sync && !has(GuestKind::Uml),
            "no lane lives in user-mode Linux, and flushes of the others reach the disk anyway",
        ),
    ];
    match without_effect.iter().find(|(_, given, _)| *given) {
        Some((option, _, why)) => Err(usage(format!("{option} has no effect: {why}; remove it"))),
        None => Ok(()),
    }
}

/// Refuses disks and memory that guests cannot have.
pub(crate) fn check_slots(lane_set: &LaneSet) -> Result<(), LaneFailure> {
    for (index, slot) in lane_set.guests.iter().enumerate() {
        let disks = lane_set.disks_of(index).len();
        let most = Machine::most_disks(slot.kind);
        if disks > most {
            return Err(usage(format!(
                "a {} guest has at most {most} disks, and these lanes stand on {disks}; race fewer at once",
                slot.kind.venue()
            )));
        }
    }
    check_options(lane_set)?;
    if !lane_set.guests.is_empty() {
        if lane_set.settings.throttles.base.is_some() || !lane_set.settings.throttles.lanes.is_empty() {
            return Err(usage(
                "--throttle holds devices of the host, and a guest's disks are none; race images on the host, which needs \
                 root: sudo fairlane race … --on image",
            ));
        }
        let memory = memory_of(&lane_set.settings);
        guest_needs::check(&lane_set.guests, &lane_set.settings)?;
        let qemu = lane_set.guests.iter().filter(|slot| slot.kind == GuestKind::Qemu).count() as u64;
        let (needed, free) = (qemu * memory.get(), available_bytes());
        if free.is_some_and(|free| needed > free) {
            let free = model::units::human_bytes(free.unwrap_or(0) as f64);
            return Err(usage(match qemu {
                1 => {
                    format!("a QEMU guest of {memory} does not fit into the {free} that are free; lower --guest-memory")
                }
                _ => format!(
                    "{qemu} QEMU guests of {memory} need {}, and this machine has {free} free; lower --guest-memory or \
                     race fewer kernels at once",
                    Bytes(needed)
                ),
            }));
        }
        for index in 0..lane_set.guests.len() {
            let lanes = lane_set.lanes.iter().filter(|lane| lane.guest == Some(index) && lane.contestant.in_memory());
            let work: u64 = lanes.map(|lane| lane_set.work_on(lane, None)).sum();
            if work > memory.get() / 2 {
                return Err(usage(format!(
                    "lanes in the guest's memory keep {} there, and may fill at most half of its {memory}; raise \
                     --guest-memory to {}",
                    model::units::human_bytes(work as f64),
                    Bytes(work.saturating_mul(2).checked_next_multiple_of(64 * Bytes::MIB).unwrap_or(u64::MAX))
                )));
            }
        }
    }
    Ok(())
}

impl LaneSet {
    /// Refuses user-mode Linux where a trial boot runs no program, before anything is written.
    pub(crate) fn try_user_mode_linux(&mut self) -> Result<(), LaneFailure> {
        for slot in self.guests.iter_mut().filter(|slot| slot.kind == GuestKind::Uml) {
            slot.ptrace = Some(uml::ptrace_for(&slot.kernel, &self.settings.program, &AtomicBool::new(false))?);
        }
        Ok(())
    }

    fn disks_of(&self, guest: usize) -> Vec<PathBuf> {
        let stores = self.stores.iter().filter_map(|ground| ground.guest_disks()).filter(|store| store.guest == guest);
        stores.flat_map(|store| &store.disks).map(|disk| disk.path.clone()).collect()
    }

    /// The guest that a lane lives in, started where it does not run.
    ///
    /// # Errors
    /// When it does not start, with its kernel's last words.
    pub(crate) fn running_guest(
        &mut self,
        index: usize,
        journal: &mut Journal,
        stop: &AtomicBool,
    ) -> Result<Arc<Guest>, LaneFailure> {
        if let Some(guest) = self.guests[index].running.as_ref().filter(|guest| guest.lives()) {
            return Ok(guest.clone());
        }
        if let Some(dead) = self.guests[index].running.take() {
            dead.kill();
            dead.leave_nothing()?;
            if let Some(entry) = self.guests[index].entry.take() {
                journal.done(entry)?;
            }
        }
        let boot = self.boot_of(index, journal, stop)?;
        let entry = journal.will(Thing::Guest { folder: boot.folder.clone() })?;
        let mut keeper = 0;
        let mut started = |begun: Begun| match begun {
            Begun::Keeper(pid) => {
                keeper = pid;
                journal.learned_process(entry, pid)
            }
            Begun::Session(session) => journal.learned_session(entry, session, keeper),
        };
        // Its keeper was killed too, if it is still there.
        let _ = std::fs::remove_dir_all(&boot.folder);
        let booted = Guest::boot(&boot, stop, &mut started);
        let slot = &mut self.guests[index];
        match booted {
            Ok(guest) => {
                let guest = Arc::new(guest);
                slot.running = Some(guest.clone());
                slot.entry = Some(entry);
                Ok(guest)
            }
            Err(error) => {
                journal.done(entry)?;
                Err(error)
            }
        }
    }

    /// Only layers discard without being told to: where there are none, disks are as they always were.
    fn disks_take_discards(&self, guest: usize) -> bool {
        let mut there = self.lanes.iter().filter(|lane| lane.guest == Some(guest));
        let is_bare = |lane: &LaneState| !lane.spec.has_built_layers();
        there.clone().all(is_bare) || there.any(|lane| lane.contestant.discards(&lane.spec))
    }

    fn boot_of(&mut self, index: usize, journal: &mut Journal, stop: &AtomicBool) -> Result<Boot, LaneFailure> {
        let kind = self.guests[index].kind;
        let disks = self.disks_of(index);
        // Beside its disks: what it needs of memory as a file has no room below /run.
        let beside = self.stores.iter().find_map(|ground| ground.guest_disks()?.first().path.parent());
        let folder = beside.unwrap_or(&self.work).join(format!("guest{index:02}"));
        let mut modules = Vec::new();
        let mut programs = Vec::new();
        for lane in self.lanes.iter().filter(|lane| lane.guest == Some(index)) {
            let program = match &lane.contestant {
                Contestant::Row(row) => {
                    modules.push(self.guests[index].kernel.modules.of_filesystem(row).unwrap_or(row.module));
                    row.mkfs.first().copied().filter(|_| row.mkfs_looks_around || lane.spec.is_stacked())
                }
                Contestant::Custom(custom) => {
                    modules.push("fuse");
                    Some(custom.mount[0].as_str())
                }
                Contestant::Directory(_) => None,
            };
            let replacing = lane.replacer().and_then(|replacer| replacer.command.first().copied());
            let program = program.into_iter().chain(replacing).map(|name| (name, package_of(&lane.contestant)));
            for layer in &lane.spec.layers {
                modules.extend(layers::helpers(layer));
                modules.extend(layers::drivers(layer));
            }
            if let Some(above) = lane.spec.above.as_ref().and_then(|spec| above::find(&spec.name)) {
                modules.extend([above.helpers, above.drivers].concat());
            }
            for (name, package) in program.chain(lane.layers().flat_map(|layer| layer.programs.iter().copied())) {
                let program = command::find_program(name).ok_or_else(|| match package {
                    "" => privilege(format!("{name} is missing; install it or correct its path")),
                    package => privilege(missing(name, package)),
                })?;
                if !programs.contains(&program) {
                    programs.push(program);
                }
            }
        }
        modules.extend(&self.further_modules);
        modules.retain(|module| !module.is_empty());
        let mut boot = Boot {
            machine: Machine {
                kind,
                kernel: self.guests[index].kernel.clone(),
                cpus: cpus_of(&self.settings),
                memory: memory_of(&self.settings),
                disks,
                sync: self.settings.guest.sync,
                discards: self.disks_take_discards(index),
                kvm: false,
            },
            folder,
            program: self.settings.program.clone(),
            modules,
            programs,
            trace: self.settings.trace.clone(),
        };
        if kind == GuestKind::Qemu {
            let slot = &mut self.guests[index];
            let found = slot.kvm.or_else(|| kvm::known(&boot.machine.kernel.path));
            boot.machine.kvm = match found {
                Some(works) => works,
                None => try_kvm(&boot, journal, stop)?,
            };
            slot.kvm = Some(boot.machine.kvm);
        }
        Ok(boot)
    }

    /// What a lane's guest is, in words; `None`: it lives in none.
    pub fn guest_words(&self, lane: usize) -> Option<String> {
        Some(self.guests[self.lanes[lane].guest?].describe(&self.settings))
    }

    /// Lanes in several places are not compared across them, but for one filesystem on two kernels: what has to be
    /// said before such a race begins. `None`: all live in one place.
    pub fn several_places(&self) -> Option<String> {
        let place = |lane: &LaneState| match lane.guest {
            None => "on the host".to_owned(),
            Some(guest) => match self.guests[guest].kind {
                GuestKind::Uml => "in user-mode Linux".to_owned(),
                GuestKind::Qemu => format!("in QEMU with Linux {}", self.guests[guest].kernel.release),
            },
        };
        let mut places: Vec<(String, Vec<&str>)> = Vec::new();
        for lane in &self.lanes {
            let of = place(lane);
            match places.iter_mut().find(|(known, _)| *known == of) {
                Some((_, names)) => names.push(&lane.name),
                None => places.push((of, vec![&lane.name])),
            }
        }
        if places.len() < 2 {
            return None;
        }
        let each: Vec<String> = places.iter().map(|(place, names)| format!("{} {place}", names.join(", "))).collect();
        let kernels_only =
            self.lanes.iter().all(|lane| lane.guest.is_some_and(|guest| self.guests[guest].kind == GuestKind::Qemu));
        let rule = match kernels_only {
            true => "pairs across two kernels get a verdict only where nothing else differs",
            false => "pairs across places get no verdict, and no ceiling tells what limited them",
        };
        Some(format!("lanes live in several places ({}): {rule}", each.join("; ")))
    }

    /// Whether each round begins with guests that were just started, on images that change places: lanes of
    /// several QEMU guests are compared, and what luck one start or one image has must not be one kernel's alone.
    pub fn renews_guests(&self) -> bool {
        let count = self.guests.iter().filter(|slot| slot.kind == GuestKind::Qemu).count();
        count > 1
    }

    /// Ends the guests of QEMU, and gives each of their disks the image that is `shift` places further on: the
    /// next lane that is opened starts its guest again. No lane is open.
    ///
    /// # Errors
    /// When something of a guest stays.
    pub fn renew_guests(&mut self, shift: usize, journal: &mut Journal) -> Result<(), LaneFailure> {
        assert!(self.lanes.iter().all(|lane| lane.open.is_none()), "guests are renewed between rounds");
        for index in 0..self.guests.len() {
            if self.guests[index].kind == GuestKind::Qemu {
                self.end_guest(index, Some(&mut *journal))?;
            }
        }
        let stores = self.stores.iter_mut().filter_map(|ground| ground.guest_disks_mut());
        let stores = stores.filter(|store| store.kind == GuestKind::Qemu);
        let mut disks: Vec<_> = stores.flat_map(|store| &mut store.disks).collect();
        let mut images: Vec<_> = disks.iter_mut().filter_map(|disk| disk.take_image()).collect();
        images.sort_by_key(|image| image.number);
        let count = images.len().max(1);
        images.rotate_left(shift % count);
        for (disk, image) in disks.into_iter().zip(images) {
            disk.give_image(image);
        }
        Ok(())
    }

    /// The number of the image that a ground has now, or of the ground itself where images stay.
    pub fn image_of(&self, ground: usize) -> usize {
        self.stores[ground].guest_disks().map_or(ground, |disks| disks.first().number)
    }

    fn end_guest(&mut self, index: usize, journal: Option<&mut Journal>) -> Result<(), LaneFailure> {
        let slot = &mut self.guests[index];
        if let Some(guest) = slot.running.take() {
            guest.end();
            guest.leave_nothing()?;
        }
        if let (Some(journal), Some(entry)) = (journal, slot.entry.take()) {
            journal.done(entry)?;
        }
        Ok(())
    }

    /// Ends all guests; goes on after an error and answers the first.
    pub(crate) fn end_guests(&mut self, mut journal: Option<&mut Journal>) -> Result<(), LaneFailure> {
        let mut first = Ok(());
        for index in 0..self.guests.len() {
            let ended = self.end_guest(index, journal.as_deref_mut());
            first = first.and(ended);
        }
        first
    }

    /// What a reader must know of lanes in guests.
    pub(crate) fn guest_warnings(&self) -> Vec<String> {
        let mut warnings: Vec<String> = self.several_places().into_iter().collect();
        let stores = self.stores.iter().filter_map(|ground| ground.guest_disks());
        let disks: usize = stores.filter(|store| store.kind == GuestKind::Uml).map(|store| store.disks.len()).sum();
        let bytes = self.settings.lane_size.0.saturating_mul(disks as u64);
        if let Some(free) = available_bytes().filter(|free| bytes > *free) {
            warnings.push(format!(
                "the images of user-mode Linux hold {} and this machine has {} of memory available: they do not fit into \
                 its page cache, so that its disk is part of the figures; lower --lane-size",
                model::units::human_bytes(bytes as f64),
                model::units::human_bytes(free as f64)
            ));
        }
        let mut guests: Vec<(String, Vec<String>)> = Vec::new();
        for slot in &self.guests {
            let what = slot.describe(&self.settings);
            let known = match slot.kind {
                GuestKind::Uml => {
                    let durable = match self.settings.guest.sync {
                        true => "images are opened O_SYNC, so each write waits for the disk",
                        false => "no flush reaches a disk, so figures of flush-bound work are not durable",
                    };
                    let registers = match slot.ptrace {
                        Some(Ptrace::Whole) => {
                            "; its kernel knows less of this CPU's registers than there are, so each switch to a \
                             program costs one system call of the host more"
                        }
                        _ => "",
                    };
                    format!(
                        "compares the filesystems' code, not your disk; its disks lie in the host's page cache, and {durable}{registers}"
                    )
                }
                GuestKind::Qemu if slot.is_emulated() => {
                    "work that is bound by the CPU is many times slower than on hardware; flushes and the disk count"
                        .into()
                }
                GuestKind::Qemu => "flushes and the disk count".to_owned(),
            };
            match guests.iter_mut().find(|(of_others, _)| *of_others == known) {
                Some((_, others)) => others.push(what),
                None => guests.push((known, vec![what])),
            }
        }
        warnings.extend(guests.into_iter().map(|(known, guests)| format!("{}: {known}", guests.join(", "))));
        warnings
    }
}
