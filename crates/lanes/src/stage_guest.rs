//! The guests of a race: which it needs, what they must have, and when they are started.

use crate::command;
use crate::contestant::Contestant;
use crate::custom::Kind;
use crate::failure::{LaneFailure, privilege, usage};
use crate::filesystem::{Filesystem, Home};
use crate::ground::Ground;
use crate::guest::{Boot, Guest, GuestKind, Kernel, Machine, kvm};
use crate::stage::{LaneState, Settings, Stage};
use crate::stage_check::run_directory_name;
use crate::undo::{EntryId, Journal, Thing};
use model::Bytes;
use model::lane::{LaneSpec, Promises, Venue};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// Memory of a guest that was given none: what the trials of the reference races need, with room for workers.
const USUAL_MEMORY: Bytes = Bytes(512 * Bytes::MIB);
/// CPUs of a QEMU guest that was given none, if the host has them.
const USUAL_CPUS: u32 = 2;

/// One guest of a race.
#[derive(Debug)]
pub(crate) struct GuestSlot {
    pub(crate) kind: GuestKind,
    pub(crate) kernel: Kernel,
    pub(crate) running: Option<Arc<Guest>>,
    entry: Option<EntryId>,
    /// Whether KVM works with its kernel; `None`: not tried yet.
    kvm: Option<bool>,
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
        || kernel.modules.has(row.module)
}

impl GuestSlot {
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
        slots.push(GuestSlot { kind, kernel, running: None, entry: None, kvm: None });
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

/// What a lane promises in a guest: user-mode Linux never hands a flush to the host, so that nothing is stable
/// unless each write is. What has no disk promises what it does anywhere.
pub(crate) fn promises_in(kind: GuestKind, sync: bool, contestant: &Contestant, promises: Promises) -> Promises {
    match kind {
        _ if contestant.in_memory() => promises,
        GuestKind::Uml if !sync => Promises { fsync_reaches_stable_storage: false, barriers: false, ..promises },
        // Each write is stable before the next one begins.
        GuestKind::Uml => Promises { fsync_reaches_stable_storage: true, barriers: true, ..promises },
        GuestKind::Qemu => promises,
    }
}

fn memory_of(settings: &Settings) -> Bytes {
    settings.guest.memory.unwrap_or(USUAL_MEMORY)
}

fn cpus_of(settings: &Settings) -> u32 {
    let host = std::thread::available_parallelism().map_or(1, |count| count.get() as u32);
    settings.guest.cpus.unwrap_or(USUAL_CPUS.min(host))
}

/// Refuses what no guest can do.
pub(crate) fn check_contestant(contestant: &Contestant, slot: &GuestSlot) -> Result<(), LaneFailure> {
    let venue = slot.kind.venue();
    match contestant {
        Contestant::Directory(_) => Err(usage("a directory is raced where it is; remove what follows the @")),
        Contestant::Row(row) if !kernel_mounts(&slot.kernel, row) => {
            let other = match slot.kind {
                GuestKind::Uml => "; try @qemu",
                GuestKind::Qemu => "; name another kernel: @qemu:/boot/vmlinuz-…",
            };
            Err(privilege(format!("the {venue} kernel {} lacks {}{other}", slot.kernel.release, row.mounted_as())))
        }
        Contestant::Row(_) => Ok(()),
        Contestant::Custom(custom) if custom.kind == Kind::Kernel => Err(usage(format!(
            "{} is mounted by a program of the host's, which a guest does not have; race it on the host",
            custom.name
        ))),
        Contestant::Custom(custom) => match command::find_program(&custom.mount[0]) {
            Some(_) => Ok(()),
            None => Err(privilege(format!(
                "{} is missing; install it, or run `fairlane doctor --install`",
                custom.mount[0]
            ))),
        },
    }
}

/// Refuses disks and memory that guests cannot have.
pub(crate) fn check_slots(stage: &Stage) -> Result<(), LaneFailure> {
    for (index, slot) in stage.guests.iter().enumerate() {
        let disks = stage.disks_of(index).len();
        let most = Machine::most_disks(slot.kind);
        if disks > most {
            return Err(usage(format!(
                "a {} guest has at most {most} disks and {disks} lanes are to live there; race fewer at once",
                slot.kind.venue()
            )));
        }
    }
    if !stage.guests.is_empty() {
        if stage.settings.throttles.base.is_some() || !stage.settings.throttles.lanes.is_empty() {
            return Err(usage(
                "--throttle holds devices of the host, and a guest's disks are none; race images on the host",
            ));
        }
        let least = Bytes(128 * Bytes::MIB);
        let memory = memory_of(&stage.settings);
        if memory < least {
            return Err(usage(format!("a guest needs at least {least} of memory; raise --guest-memory")));
        }
        for index in 0..stage.guests.len() {
            let lanes = stage.lanes.iter().filter(|lane| lane.guest == Some(index) && lane.contestant.in_memory());
            let work: u64 = lanes.map(|lane| stage.work_on(lane, None)).sum();
            if work > memory.get() / 2 {
                return Err(usage(format!(
                    "lanes in the guest's memory keep {} there, and may fill at most half of its {memory}; raise \
                     --guest-memory to {}",
                    model::units::human_bytes(work as f64),
                    Bytes((2 * work).next_multiple_of(64 * Bytes::MIB))
                )));
            }
        }
    }
    Ok(())
}

impl Stage {
    fn disks_of(&self, guest: usize) -> Vec<PathBuf> {
        let of = |ground: &Ground| match ground {
            Ground::Guest(disk) if disk.guest == guest => Some(disk.path.clone()),
            _ => None,
        };
        self.grounds.iter().filter_map(of).collect()
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
            if let Some(entry) = self.guests[index].entry.take() {
                journal.done(entry)?;
            }
        }
        let boot = self.boot_of(index, stop)?;
        let entry = journal.will(Thing::Guest { folder: boot.folder.clone() })?;
        let mut started = |pid: u32| journal.learned_process(entry, pid);
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

    fn boot_of(&mut self, index: usize, stop: &AtomicBool) -> Result<Boot, LaneFailure> {
        let kind = self.guests[index].kind;
        let disks = self.disks_of(index);
        let folder = self.base.join(run_directory_name(&self.settings.run_id)).join(format!("guest{index:02}"));
        let mut modules = Vec::new();
        let mut programs = Vec::new();
        for lane in self.lanes.iter().filter(|lane| lane.guest == Some(index)) {
            let program = match &lane.contestant {
                Contestant::Row(row) => {
                    modules.push(row.module);
                    row.mkfs.first().copied().filter(|_| row.mkfs_looks_around)
                }
                Contestant::Custom(custom) => {
                    modules.push("fuse");
                    Some(custom.mount[0].as_str())
                }
                Contestant::Directory(_) => None,
            };
            let Some(name) = program else { continue };
            let program =
                command::find_program(name).ok_or_else(|| privilege(format!("{name} is missing; install it")))?;
            if !programs.contains(&program) {
                programs.push(program);
            }
        }
        modules.retain(|module| !module.is_empty());
        let mut boot = Boot {
            machine: Machine {
                kind,
                kernel: self.guests[index].kernel.clone(),
                cpus: cpus_of(&self.settings),
                memory: memory_of(&self.settings),
                disks,
                sync: self.settings.guest.sync,
                kvm: false,
            },
            folder,
            program: self.settings.program.clone(),
            modules,
            programs,
        };
        if kind == GuestKind::Qemu {
            let slot = &mut self.guests[index];
            boot.machine.kvm = *slot.kvm.get_or_insert_with(|| kvm::works(&boot, stop));
        }
        Ok(boot)
    }

    /// What a lane's guest is, in words; `None`: it lives in none.
    pub fn guest_words(&self, lane: usize) -> Option<String> {
        Some(self.guests[self.lanes[lane].guest?].describe(&self.settings))
    }

    /// Lanes in several places are not compared across them, but for one filesystem on two kernels.
    fn several_places(&self) -> Option<String> {
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

    /// Ends all guests.
    pub(crate) fn end_guests(&mut self, mut journal: Option<&mut Journal>) -> Result<(), LaneFailure> {
        for slot in &mut self.guests {
            if let Some(guest) = slot.running.take() {
                guest.end();
            }
            if let (Some(journal), Some(entry)) = (journal.as_deref_mut(), slot.entry.take()) {
                journal.done(entry)?;
            }
        }
        Ok(())
    }

    /// What a reader must know of lanes in guests.
    pub(crate) fn guest_warnings(&self) -> Vec<String> {
        let mut warnings: Vec<String> = self.several_places().into_iter().collect();
        for slot in &self.guests {
            let what = slot.describe(&self.settings);
            warnings.push(match slot.kind {
                GuestKind::Uml => {
                    let durable = match self.settings.guest.sync {
                        true => "images are opened O_SYNC, so each write waits for the disk",
                        false => "no flush reaches a disk, so figures of flush-bound work are not durable",
                    };
                    format!(
                        "{what}: compares the filesystems' code, not your disk; its disks lie in the host's page cache, and {durable}"
                    )
                }
                GuestKind::Qemu if slot.is_emulated() => format!(
                    "{what}: work that is bound by the CPU is many times slower than on hardware; flushes and the disk count"
                ),
                GuestKind::Qemu => format!("{what}: flushes and the disk count"),
            });
        }
        warnings
    }
}
