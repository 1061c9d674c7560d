//! Lanes in guests: which guests a race needs, when they are started, and how a lane is mounted in one.

use crate::command;
use crate::contestant::Contestant;
use crate::custom::Kind;
use crate::failure::{LaneFailure, failed, privilege, usage};
use crate::filesystem::{Filesystem, Home};
use crate::formatting::custom_mount_command;
use crate::ground::Ground;
use crate::guest::protocol::{Answer, Ask};
use crate::guest::{AgentLink, Boot, Guest, GuestKind, Kernel, Machine, kvm};
use crate::stage::{LaneState, OpenLane, Opened, Settings, Stage};
use crate::stage_check::run_directory_name;
use crate::undo::{EntryId, Journal, Thing};
use model::Bytes;
use model::lane::{LaneSpec, Promises, Venue};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

/// Memory of a guest that was given none: what the trials of the reference races need, with room for workers.
const USUAL_MEMORY: Bytes = Bytes(512 * Bytes::MIB);
/// CPUs of a QEMU guest that was given none, if the host has them.
const USUAL_CPUS: u32 = 2;
/// Where lanes are mounted in a guest.
const LANES: &str = "/lanes";

/// One guest of a race.
#[derive(Debug)]
pub(crate) struct GuestSlot {
    pub(crate) kind: GuestKind,
    /// The kernel image that was asked for; `None`: the distribution's.
    pub(crate) named: Option<PathBuf>,
    pub(crate) kernel: Kernel,
    running: Option<Arc<Guest>>,
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
        let same = |slot: &GuestSlot| slot.kind == kind && slot.named.as_deref() == named;
        if let Some(index) = slots.iter().position(same) {
            return Ok(Some(index));
        }
        let kernel = Kernel::find(kind, named)?;
        slots.push(GuestSlot { kind, named: named.map(Path::to_owned), kernel, running: None, entry: None, kvm: None });
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
/// unless each write is.
pub(crate) fn promises_in(kind: GuestKind, sync: bool, promises: Promises) -> Promises {
    match kind {
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
        Contestant::Row(row) if row.home == Home::Memory => {
            Err(usage(format!("{} has no disk, and a guest's lanes have one; race it on the host", row.name)))
        }
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
        if memory_of(&stage.settings) < least {
            return Err(usage(format!("a guest needs at least {least} of memory; raise --guest-memory")));
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
            match &lane.contestant {
                Contestant::Row(row) => modules.push(row.module),
                Contestant::Custom(custom) => {
                    modules.push("fuse");
                    let program = command::find_program(&custom.mount[0])
                        .ok_or_else(|| privilege(format!("{} is missing; install it", custom.mount[0])))?;
                    if !programs.contains(&program) {
                        programs.push(program);
                    }
                }
                Contestant::Directory(_) => {}
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

    /// Mounts a lane in its guest, on a disk that the host has formatted.
    pub(crate) fn mount_in_guest(
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
        let started = Instant::now();
        let (guest, directory, super_options) = self.mount_in_guest(index, ground, journal, stop)?;
        phases_seconds.insert("mount".to_owned(), started.elapsed().as_secs_f64());
        let lane = &mut self.lanes[index];
        let directory_of_lane = directory.clone();
        lane.open = Some(OpenLane {
            ground,
            directory: directory_of_lane,
            mounted: None,
            process: None,
            guest: Some(guest.clone()),
        });
        let options: Vec<String> = lane.mount_options.iter().cloned().chain(super_options).collect();
        let promises = lane.contestant.promises(&lane.spec.mkfs_options, &options);
        lane.promises = promises_in(guest.kind(), self.settings.guest.sync, promises);
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
        let source = self.drop_cache_in_guest(ground, guest, stop)?;
        let ask = mount_request(state, source, target.to_owned());
        match guest.ask(&ask, stop)? {
            Answer::Mounted { super_options } => Ok(super_options),
            other => Err(failed(format!("the guest answered {other:?} when it was asked to mount"))),
        }
    }

    /// Drops what a guest's kernel caches of a disk; answers its device.
    pub(crate) fn drop_cache_in_guest(
        &self,
        ground: usize,
        guest: &Guest,
        stop: &AtomicBool,
    ) -> Result<PathBuf, LaneFailure> {
        let device = self.grounds[ground].block_device().ok_or_else(|| failed("a guest's lane has a disk"))?;
        guest.ask(&Ask::DropCache { device: device.clone() }, stop)?;
        Ok(device)
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

    /// What a lane's guest is, in words; `None`: it lives in none.
    pub fn guest_words(&self, lane: usize) -> Option<String> {
        Some(self.guests[self.lanes[lane].guest?].describe(&self.settings))
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
        matches!(self.grounds[ground], Ground::Guest(_))
    }

    /// Reads so much of a disk of user-mode Linux into the host's page cache, which is where that disk lies: a
    /// ceiling that came from the host's own disk would be lower than what the filesystems reach.
    pub fn warm(&self, ground: usize, bytes: u64) {
        if let Ground::Guest(disk) = &self.grounds[ground]
            && disk.kind == GuestKind::Uml
        {
            disk.image().warm(bytes);
        }
    }

    /// What the devices of lanes in guests have under way: (requests in flight, bytes written since boot).
    pub fn guest_activity(&self, grounds: &[usize], stop: &AtomicBool) -> (u64, u64) {
        let mut sum = (0, 0);
        for (index, slot) in self.guests.iter().enumerate() {
            let of = |ground: &usize| match &self.grounds[*ground] {
                Ground::Guest(disk) if disk.guest == index => Some(disk.name.clone()),
                _ => None,
            };
            let devices: Vec<String> = grounds.iter().filter_map(of).collect();
            let Some(guest) = slot.running.as_ref().filter(|_| !devices.is_empty()) else { continue };
            if let Ok(Answer::Activity { in_flight, written_bytes }) = guest.ask(&Ask::Activity { devices }, stop) {
                sum = (sum.0 + in_flight, sum.1 + written_bytes);
            }
        }
        sum
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
        let mut warnings = Vec::new();
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

/// Where a lane is mounted in its guest.
pub(crate) fn directory(lane: usize) -> PathBuf {
    Path::new(LANES).join(format!("{lane:02}"))
}

fn mount_request(state: &LaneState, source: PathBuf, target: PathBuf) -> Ask {
    match &state.contestant {
        Contestant::Custom(custom) => {
            let mut command = custom_mount_command(custom, &source, &target, &state.mount_options);
            // In the guest it lies where it lies on the host.
            if let Some(program) = command::find_program(&command[0]) {
                command[0] = program.to_string_lossy().into_owned();
            }
            Ask::MountFuse { command, target }
        }
        contestant => Ask::Mount {
            filesystem: contestant.filesystem_name().to_owned(),
            source,
            options: state.mount_options.clone(),
            target,
        },
    }
}
