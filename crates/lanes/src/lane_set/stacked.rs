//! Lanes whose filesystem stands on layers, or on several disks: what they may be, and how they are built in their guest.

use crate::abilities;
use crate::above;
use crate::availability::{self, Availability};
use crate::contestant::Contestant;
use crate::device::Found;
use crate::disk;
use crate::failure::{LaneFailure, failed, privilege, usage};
use crate::filesystems::FILESYSTEMS;
use crate::guest::protocol::{Answer, Ask};
use crate::guest::{GuestKind, Kernel};
use crate::host;
use crate::lane_set::guest::GuestSlot;
use crate::lane_set::rebuilding;
use crate::lane_set::resolve::Location;
use crate::lane_set::{LaneSet, LaneState};
use crate::layers::{self, Holding, Layer, Rebuilt, Site, Stack};
use crate::missing::missing;
use crate::undo::Journal;
use crate::venues::Venue;
use crate::venues::device::disk_below;
use model::Flag;
use model::lane::Promises;
use model::stack::{DEGRADED, LayerSpec, MOST_DEVICES, REBUILDING, VM};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::time::Instant;

/// Layers that this machine built.
#[derive(Debug)]
pub(crate) struct BuiltHere {
    pub(crate) stack: Stack,
    /// On which ground.
    ground: usize,
}

impl LaneState {
    /// The rows of its layers, which were looked up before.
    pub(crate) fn layers(&self) -> impl Iterator<Item = &'static Layer> {
        self.spec.layers.iter().filter_map(|layer| layers::find(&layer.name))
    }

    /// Where its filesystem is mounted on this machine, whose work happens in `directory`.
    pub(crate) fn base(&self, directory: &Path) -> PathBuf {
        match (&self.spec.above, directory.file_name()) {
            (Some(_), Some(name)) => directory.with_file_name(format!("{}-below", name.display())),
            _ => directory.to_owned(),
        }
    }

    /// Whether a layer of it rebuilds a disk beside the work.
    pub(crate) fn rebuilds(&self) -> bool {
        let rebuilds = |layer: &LayerSpec| layer.options.iter().any(|option| option == REBUILDING);
        self.spec.layers.iter().any(rebuilds)
    }

    /// Whether a layer of it lacks a disk, or rebuilds one.
    pub(crate) fn lacks_a_disk_below(&self) -> bool {
        let lacks = |layer: &LayerSpec| layer.options.iter().any(|option| option == DEGRADED);
        self.rebuilds() || self.spec.layers.iter().any(lacks)
    }

    /// Whether its filesystem is mounted without the last of its own devices.
    pub(crate) fn lacks_a_device(&self) -> bool {
        let Contestant::Row(row) = &self.contestant else { return false };
        let said = |word: &&str| self.mount_options.iter().any(|option| option == word);
        self.spec.devices > 1 && row.degraded_option.as_ref().is_some_and(said)
    }

    /// What it promises with these mount options, on its layers.
    pub(crate) fn promises_with(&self, mount_options: &[String]) -> Promises {
        let promises = self.contestant.promises(&self.spec.mkfs_options, mount_options);
        let promises = layers::promises_on(promises, &self.spec.layers);
        match self.spec.above.as_ref().map(above::read) {
            // What cannot be read was refused before.
            Some(Ok((above, options))) => (above.promises)(&options, promises),
            _ => promises,
        }
    }

    /// What is made below its filesystem, for `--dry-run`.
    pub(crate) fn describe_layers(&self) -> Vec<String> {
        let from_below = self.spec.layers.iter().rev();
        let place = if self.guest.is_some() { "in the guest" } else { "on this machine" };
        let verb = |layer: &LayerSpec| if layer.is_built() { "make" } else { "set" };
        let line = |layer: &LayerSpec| format!("{}: {} {} {place}", self.name, verb(layer), layers::describe(layer));
        from_below.map(line).collect()
    }

    /// Keeps how many bytes its layers make; of a disk whose queue is set alone that is its size.
    fn learn_bytes(&mut self, bytes: u64) {
        self.stacked_bytes = if self.spec.has_built_layers() { bytes } else { 0 };
    }

    /// Writes what the kernel caches of the layers that this machine built, and forgets it.
    pub(crate) fn drop_cache_of_layers(&self) -> Result<(), LaneFailure> {
        self.stack.as_ref().map_or(Ok(()), |built| built.stack.drop_caches_here())
    }

    /// Takes down the layers that this machine built; what does not go stays known, for another try. Answers what they
    /// rebuilt.
    ///
    /// # Errors
    /// What holds them; where a disk cannot be written.
    pub(crate) fn take_down(
        &mut self,
        ground: &dyn Venue,
        journal: Option<&mut Journal>,
    ) -> Result<Option<Rebuilt>, LaneFailure> {
        let Some(built) = &mut self.stack else { return Ok(None) };
        self.stacked.clear();
        let rebuilt = built.stack.take_down(journal)?;
        // What udev finds on the disks from now on names no array; until then they are held.
        let is_built = self.spec.has_built_layers();
        let wiped = if is_built { ground.prepare_for_mkfs() } else { Ok(()) };
        self.stack = None;
        wiped.map(|()| rebuilt)
    }
}

/// Refuses what is said wrongly of a lane's layers, of its disks, and of what lies above it, wherever it lives.
///
/// # Errors
/// [`LaneFailure::Usage`] with the remedy.
pub(crate) fn check_words(lane: &LaneState) -> Result<(), LaneFailure> {
    check_devices(lane)?;
    if let Some(spec) = &lane.spec.above {
        above::read(spec)?;
    }
    layers::check_order(&lane.spec.layers)?;
    lane.spec.layers.iter().try_for_each(|spec| layers::check(spec).map(drop))
}

/// Refuses what a lane cannot stand on.
///
/// # Errors
/// [`LaneFailure::Usage`] with the remedy; [`LaneFailure::Privilege`] where the guest's kernel or a tool lacks it.
pub(crate) fn check(lane: &LaneState, place: &Location, guests: &[GuestSlot]) -> Result<(), LaneFailure> {
    check_above(lane, guests)?;
    rebuilding::check(lane)?;
    if lane.spec.devices == 1 && lane.spec.layers.is_empty() {
        return Ok(());
    }
    let disks = lane.spec.disks();
    if disks > MOST_DEVICES {
        return Err(usage(format!("it stands on {disks} disks, and {MOST_DEVICES} are the most; take fewer")));
    }
    match place {
        Location::Image(_) | Location::Guest(_) => {}
        Location::Devices { taken, .. } if *taken < disks as usize => {
            return Err(usage(format!(
                "it stands on {disks} disks, and one device is named for it; name as many: --disks /dev/a,/dev/b"
            )));
        }
        Location::Devices { .. } => {}
        Location::Memory | Location::GuestMemory | Location::Directory(_) => {
            let name = lane.contestant.filesystem_name();
            return Err(usage(format!("{name} stands on no disk, so nothing can stand below it; remove the layers")));
        }
    }
    if lane.contestant.is_library() {
        return Err(usage("a library works on one disk that the agent opens; remove the layers"));
    }
    match lane.guest.map(|guest| &guests[guest]) {
        Some(guest) => {
            lane.spec.layers.iter().try_for_each(|spec| check_layer(spec, guest.kind, &guest.kernel).map(drop))
        }
        None => {
            let discards = |layer: &&LayerSpec| layers::discards(layer);
            if let (Location::Image(_), Some(layer)) = (place, lane.spec.layers.iter().find(discards)) {
                let guests = GuestKind::options_here();
                return Err(usage(format!(
                    "the journal of {} discards what it has written back, which makes holes in images of this machine; race it \
                     on disks (--disks), or all lanes in a guest: {guests}",
                    layer.name
                )));
            }
            lane.spec.layers.iter().try_for_each(check_layer_here)
        }
    }
}

/// Refuses a layer that this machine's kernel cannot build, or may not.
///
/// # Errors
/// [`LaneFailure::Privilege`] or [`LaneFailure::Usage`], with the remedy.
fn check_layer_here(spec: &LayerSpec) -> Result<(), LaneFailure> {
    let layer = layers::check(spec)?;
    if !layer.on_host {
        return Err(usage(format!(
            "{} is raced in a guest alone: killed at a bad moment its driver keeps the disks until the machine is booted; race \
             all lanes there: {}",
            layer.name,
            GuestKind::options_here()
        )));
    }
    if layer.name == VM {
        layers::check_vm_here(&spec.options)?;
    }
    let lacking = availability::lacking_here(layer.helpers, &layers::drivers(spec));
    refuse(layer, lacking, |driver| {
        format!(
            "this machine's kernel lacks {driver}; race all lanes in a guest whose kernel has it: {}",
            GuestKind::options_here()
        )
    })
}

/// Refuses a layer that a guest with this kernel cannot build; answers its row.
///
/// # Errors
/// [`LaneFailure::Usage`] as [`layers::check`]; [`LaneFailure::Privilege`] with the remedy.
pub(crate) fn check_layer(spec: &LayerSpec, kind: GuestKind, kernel: &Kernel) -> Result<&'static Layer, LaneFailure> {
    let layer = layers::check(spec)?;
    if !layer.is_for_guests() {
        return Err(usage(format!(
            "{} sets this machine's kernel, and a lane in a guest works with that of its guest; race it on images or on a disk, \
             or leave the layer out",
            layer.name
        )));
    }
    refuse(layer, availability::lacking_in_guest(&layers::drivers(spec), kernel), |driver| {
        format!(
            "the {} kernel {} lacks {driver}; name a kernel that has it: @qemu:/path/to/vmlinuz",
            kind.venue(),
            kernel.release,
        )
    })?;
    Ok(layer)
}

/// `say` tells that the kernel lacks this driver.
fn refuse(layer: &Layer, lacking: Option<&str>, say: impl Fn(&str) -> String) -> Result<(), LaneFailure> {
    match availability::of_layer(layer, lacking) {
        Availability::Ready => Ok(()),
        Availability::ToolMissing { program, package } => Err(privilege(missing(program, package))),
        Availability::KernelLacks => Err(privilege(say(lacking.unwrap_or(layer.name)))),
    }
}

/// Refuses what cannot lie above a lane's filesystem.
fn check_above(lane: &LaneState, guests: &[GuestSlot]) -> Result<(), LaneFailure> {
    let Some(spec) = &lane.spec.above else { return Ok(()) };
    let (above, _) = above::read(spec)?;
    let filesystem = lane.contestant.filesystem_name();
    if lane.contestant.is_library() {
        return Err(usage(format!("a library is mounted nowhere, so {} cannot lie above it", above.name)));
    }
    let has = matches!(&lane.contestant, Contestant::Row(row) if row.mkfs_encryption.is_some());
    if above.asks_mkfs_for_encryption && !has {
        let able: Vec<&str> =
            FILESYSTEMS.iter().filter(|row| row.mkfs_encryption.is_some()).map(|row| row.name).collect();
        return Err(usage(format!(
            "{} cannot lie above {filesystem}, which does not encrypt files; take {}",
            above.name,
            able.join(" or ")
        )));
    }
    let lacks = |ability| abilities::below(lane, None).iter().any(|lack| lack.ability == ability);
    if let Some(ability) = above.asks_of_filesystem.filter(|&ability| lacks(ability)) {
        return Err(usage(format!(
            "{} cannot lie above {filesystem}, which has no {}; take another filesystem",
            above.name,
            ability.words()
        )));
    }
    let availability = match lane.guest.map(|guest| &guests[guest]) {
        Some(guest) => availability::above_in_guest(above, &guest.kernel),
        None if above.on_host => availability::above_here(above),
        None => {
            let guests = GuestKind::options_here();
            return Err(usage(format!(
                "{} would be the whole machine's, so it is raced in a guest alone; race all lanes there: {guests}",
                above.name
            )));
        }
    };
    match availability {
        Availability::KernelLacks => {
            let own = lane.guest.map(|guest| &guests[guest]);
            let whose = match own {
                Some(guest) => format!("the {} kernel {}", guest.kind.venue(), guest.kernel.release),
                None => "this machine's kernel".to_owned(),
            };
            let others = GuestKind::of_here().into_iter().filter(|kind| own.is_none_or(|own| own.kind != *kind));
            let others: Vec<String> = others.map(|kind| format!("--on {}", kind.venue())).collect();
            let others = if others.is_empty() { String::new() } else { format!(" ({})", others.join(" or ")) };
            Err(privilege(format!(
                "{whose} lacks {}; race all lanes in a guest whose kernel has it{others}, or name one: @qemu:/path/to/vmlinuz",
                above.filesystem
            )))
        }
        _ => Ok(()),
    }
}

/// Refuses a number of devices that the filesystem itself does not take.
fn check_devices(lane: &LaneState) -> Result<(), LaneFailure> {
    let devices = lane.spec.devices;
    let (name, least, takes_several) = match &lane.contestant {
        Contestant::Row(row) => {
            (row.name, (row.least_devices)(&lane.spec.mkfs_options), row.further_device_option.is_some())
        }
        contestant => (contestant.filesystem_name(), 1, false),
    };
    if devices > 1 && !takes_several {
        return Err(usage(format!(
            "{name} stands on one device, and it is given {devices}; put an array below it: {name}/raid0:{devices}"
        )));
    }
    if lane.lacks_a_device() && !lane.spec.layers.is_empty() {
        return Err(usage(
            "a device is taken out of the filesystem only where its devices are disks; remove the layers, or let one of them \
             be degraded",
        ));
    }
    let said = |word: &str| lane.mount_options.iter().any(|option| option == word);
    if devices == 1 && matches!(&lane.contestant, Contestant::Row(row) if row.degraded_option.is_some_and(said)) {
        return Err(usage(format!(
            "`degraded` takes out the last of several disks, and it stands on one; write {name}:2 with profiles that keep copies, \
             or leave it out"
        )));
    }
    if devices < least {
        return Err(usage(format!(
            "these options of mkfs.{name} take at least {least} disks, and it is given {devices}; write :{least} behind \
             {name}"
        )));
    }
    Ok(())
}

/// What a trial says of disks that layers rebuilt beside its work.
pub(crate) fn rebuilt(answer: &Answer) -> Option<Flag> {
    let Answer::Unstacked { rebuilt } = answer else { return None };
    rebuilt.as_ref().map(rebuilt_flag)
}

/// The same where this machine built them.
pub(crate) fn rebuilt_flag(rebuilt: &Rebuilt) -> Flag {
    rebuilding::flag(rebuilt, "the whole disk")
}

/// What a reader should know of disks that are not alike; `None`: as far as is known they are.
fn unlike(devices: &[Found]) -> Option<String> {
    let first = devices.first()?;
    let spins = |device: &Found| host::describe_disk(&host::whole_disk(&device.kernel_name)).rotational;
    let kind = |device: &Found| (device.size_bytes, device.model.clone(), spins(device));
    let other = devices.iter().find(|device| kind(device) != kind(first))?;
    let words = |device: &Found| {
        let size = model::units::human_bytes(device.size_bytes as f64);
        format!("{} ({})", device.path.display(), format!("{} {size}", device.model).trim())
    };
    Some(format!(
        "{} and {} are not alike, and lanes on fewer disks stand on the first ones: a difference may be the disks'",
        words(first),
        words(other)
    ))
}

/// What a reader should know of devices that lie on one disk; `None`: each is a disk of its own, as far as is known.
fn on_one_disk(devices: &[Found]) -> Option<String> {
    let lowest = |device: &Found| disk_below(device).map(|disk| disk::lowest(&disk)).unwrap_or_default();
    let disks: Vec<BTreeSet<String>> = devices.iter().map(lowest).collect();
    let shared = |a: usize, b: usize| disks[a].intersection(&disks[b]).next();
    let (a, b, disk) =
        (0..disks.len()).flat_map(|b| (0..b).map(move |a| (a, b))).find_map(|(a, b)| Some((a, b, shared(a, b)?)))?;
    Some(format!(
        "{} and {} lie on one disk, {disk}: what layers and copies cost is measured, what several disks gain by working at \
         once is not",
        devices[a].path.display(),
        devices[b].path.display()
    ))
}

impl LaneSet {
    /// What a reader should know of figures of lanes on layers or on several disks.
    pub(crate) fn stacked_warnings(&self) -> Vec<String> {
        let mut warnings = self.warnings_of_above();
        let on_several = || self.stores.iter().filter(|ground| ground.disks() > 1);
        if on_several().any(|ground| ground.overwritten().is_empty()) {
            warnings.push(
                "the disks of a lane are images on one disk: what layers and copies cost is measured, what several disks \
                 gain by working at once is not"
                    .to_owned(),
            );
        }
        warnings.extend(on_several().find_map(|ground| on_one_disk(ground.overwritten())));
        warnings.extend(on_several().find_map(|ground| unlike(ground.overwritten())));
        warnings.extend(self.warning_of_kernel());
        if self.lanes.iter().any(|lane| lane.spec.has_built_layers()) {
            warnings.push(
                "what the layers' own threads do counts as the filesystem's CPU, and what they write as written at the \
                 disks; arrays begin in sync, because zeros were written over all devices of those with parity"
                    .to_owned(),
            );
        }
        warnings
    }

    /// What a reader should know of what lies above lanes.
    fn warnings_of_above(&self) -> Vec<String> {
        let told = self.lanes.iter().filter_map(|lane| above::find(&lane.spec.above.as_ref()?.name));
        let mut warnings: Vec<String> = told.map(|above| above.warning.to_owned()).collect();
        warnings.sort();
        warnings.dedup();
        warnings
    }

    /// Builds the layers of a lane that is closed, for their ceilings; answers their device, where the lane lives. `None`: it
    /// has no layers, or they rebuild a disk beside whatever is done.
    ///
    /// # Errors
    /// When they cannot be built.
    pub fn stand_bare(
        &mut self,
        lane: usize,
        ground: usize,
        journal: &mut Journal,
        stop: &AtomicBool,
    ) -> Result<Option<PathBuf>, LaneFailure> {
        assert!(self.lanes[lane].open.is_none(), "no filesystem stands on layers that are measured without one");
        if self.lanes[lane].rebuilds() {
            return Ok(None);
        }
        let name = self.lanes[lane].name.clone();
        let built = self.wipe_and_stack(lane, ground, journal, stop);
        // Ceilings are measured as the machine is by itself.
        let built = built.and_then(|_| self.put_kernel_back(lane, Some(journal)));
        built.map_err(|error| {
            self.undo_opening(lane, journal);
            error.in_lane(&name)
        })?;
        Ok(self.lanes[lane].stacked.first().cloned())
    }

    /// A guest's images hold nothing that hinders; what stood on a disk of this machine is forgotten first.
    fn wipe_and_stack(
        &mut self,
        lane: usize,
        ground: usize,
        journal: &mut Journal,
        stop: &AtomicBool,
    ) -> Result<Option<f64>, LaneFailure> {
        self.take_down_left_over(ground, journal)?;
        if self.lanes[lane].guest.is_none() && !self.lanes[lane].spec.layers.is_empty() {
            self.stores[ground].prepare_for_mkfs()?;
        }
        self.stack(lane, ground, Holding::Anything, journal, stop)
    }

    /// Takes them down again.
    ///
    /// # Errors
    /// What the guest says, or the kernel.
    pub fn take_down_bare(&mut self, lane: usize, journal: &mut Journal) -> Result<(), LaneFailure> {
        if self.lanes[lane].stack.is_some() {
            return self.take_down(lane, Some(journal)).map(drop);
        }
        self.lanes[lane].stacked.clear();
        let Some(guest) = self.guest_of(lane) else { return Ok(()) };
        guest.ask(&Ask::Unstack { lane: lane as u32 }, &self.stopping).map(drop)
    }

    /// Builds a lane's layers where it lives; answers the seconds that took, `None`: it has none. `holding`: what the disks hold,
    /// anything or these very layers.
    pub(crate) fn stack(
        &mut self,
        lane: usize,
        ground: usize,
        holding: Holding,
        journal: &mut Journal,
        stop: &AtomicBool,
    ) -> Result<Option<f64>, LaneFailure> {
        if self.lanes[lane].spec.layers.is_empty() {
            return Ok(None);
        }
        let Some(index) = self.lanes[lane].guest else {
            return self.stack_here(lane, ground, holding, journal, stop).map(Some);
        };
        let guest = self.running_guest(index, journal, stop)?;
        self.lanes[lane].stacked.clear();
        let disks = self.drop_cache_in_guest(lane, ground, &guest, stop)?;
        let spec = &self.lanes[lane].spec;
        let again = holding == Holding::WholeStack;
        let ask = Ask::Stack { lane: lane as u32, disks, layers: spec.layers.clone(), devices: spec.devices, again };
        match guest.ask(&ask, stop)? {
            Answer::Stacked { devices, bytes, seconds } => {
                let state = &mut self.lanes[lane];
                state.stacked = devices;
                state.learn_bytes(bytes);
                Ok(Some(seconds))
            }
            other => Err(failed(format!("the guest answered {other:?} when it was asked for layers"))),
        }
    }

    /// Takes down what this machine built for a lane, as [`LaneState::take_down`].
    pub(crate) fn take_down(
        &mut self,
        lane: usize,
        journal: Option<&mut Journal>,
    ) -> Result<Option<Rebuilt>, LaneFailure> {
        let Some(ground) = self.lanes[lane].stack.as_ref().map(|built| built.ground) else { return Ok(None) };
        self.lanes[lane].take_down(&*self.stores[ground], journal)
    }

    /// Takes down what lanes that are closed left of a try that failed: it would hold the disks of what is made next.
    ///
    /// # Errors
    /// What still holds a disk of this ground. Others are tried again the next time.
    pub(crate) fn take_down_left_over(&mut self, ground: usize, journal: &mut Journal) -> Result<(), LaneFailure> {
        let disks = |lanes: &LaneSet, ground: usize| -> Vec<PathBuf> {
            let store = &lanes.stores[ground];
            store.block_device().into_iter().chain(store.further_block_devices()).collect()
        };
        let wanted = disks(self, ground);
        for lane in 0..self.lanes.len() {
            let left = self.lanes[lane].stack.as_ref().map(|built| built.ground);
            let Some(left) = left.filter(|_| self.lanes[lane].open.is_none()) else { continue };
            let is_in_the_way = left == ground || disks(self, left).iter().any(|disk| wanted.contains(disk));
            match self.take_down(lane, Some(journal)) {
                Err(error) if is_in_the_way => return Err(error),
                _ => {}
            }
        }
        Ok(())
    }

    /// Builds them by this machine's own kernel, on a ground that was wiped.
    fn stack_here(
        &mut self,
        lane: usize,
        ground: usize,
        holding: Holding,
        journal: &mut Journal,
        stop: &AtomicBool,
    ) -> Result<f64, LaneFailure> {
        let (index, ground) = (ground, &*self.stores[ground]);
        let disks: Vec<PathBuf> = ground.block_device().into_iter().chain(ground.further_block_devices()).collect();
        let state = &mut self.lanes[lane];
        let begun = Instant::now();
        let site = (Site::Here(&self.settings.run_id, &mut *journal), stop);
        let built = Stack::build(site, lane as u32, (&disks, holding), &state.spec.layers, state.spec.devices);
        let stack = match built {
            Ok(stack) => stack,
            Err((error, left)) => {
                state.stack = Some(BuiltHere { stack: *left, ground: index });
                let _ = state.take_down(ground, Some(journal));
                return Err(error);
            }
        };
        let bytes = stack.bytes();
        state.stacked = stack.devices.clone();
        state.stack = Some(BuiltHere { stack, ground: index });
        state.learn_bytes(bytes?);
        Ok(begun.elapsed().as_secs_f64())
    }
}
