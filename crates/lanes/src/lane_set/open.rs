//! A lane from formatted to closed: opened, made cold, unmounted, its image checked.

use crate::above::{self, Place};
use crate::contestant::Contestant;
use crate::failure::{LaneFailure, failed};
use crate::formatting::{self, MountRequest};
use crate::guest::GuestKind;
use crate::guest::protocol::{Answer, Ask};
use crate::lane_set::half_open::let_go_in_guest;
use crate::lane_set::rebuilding::Rebuild;
use crate::lane_set::stacked;
use crate::lane_set::{Closed, Cold, LaneSet, LaneState, OpenLane, Opened, Settings, make_folder, remove_folder};
use crate::layers::Holding;
use crate::replacing::Replace;
use crate::undo::{Journal, Thing};
use crate::venues::Venue;
use crate::{let_go, library, mount, mountinfo};
use model::{Flag, Mark};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::time::Instant;

impl LaneSet {
    /// Formats a ground for a lane and mounts it: fresh, and every block of an image written. A
    /// directory lane gets a fresh folder instead.
    ///
    /// # Errors
    /// [`LaneFailure`] naming the lane. Nothing of it is left standing then, but for what this machine cannot unmount:
    /// [`LaneSet::is_open`] tells, and closing it tries again.
    pub fn open(
        &mut self,
        lane: usize,
        ground: usize,
        journal: &mut Journal,
        stop: &AtomicBool,
    ) -> Result<Opened, LaneFailure> {
        assert!(self.lanes[lane].open.is_none(), "a lane is closed before it is opened again");
        assert!(
            self.lanes[lane].fixed_ground.map_or_else(|| self.pool_of(lane).contains(&ground), |fixed| fixed == ground),
            "grounds come from `store_for`"
        );
        let name = self.lanes[lane].name.clone();
        let alone = self.check_alone().and_then(|()| self.put_kernel_back_of_closed(journal));
        let opened = alone.and_then(|()| self.open_unnamed(lane, ground, journal, stop));
        opened.map_err(|error| {
            self.undo_opening(lane, journal);
            error.in_lane(&name)
        })
    }

    fn open_unnamed(
        &mut self,
        index: usize,
        ground_index: usize,
        journal: &mut Journal,
        stop: &AtomicBool,
    ) -> Result<Opened, LaneFailure> {
        let directory = self.lane_directory(index, ground_index);
        let mut phases_seconds = BTreeMap::new();
        if self.stores[ground_index].folder().is_some() {
            remove_folder(&directory)?;
            make_folder(&directory)?;
            self.lanes[index].open = Some(OpenLane {
                ground: ground_index,
                base: directory.clone(),
                directory: directory.clone(),
                mounted: None,
                above: None,
                process: None,
                guest: None,
                rebuild: Rebuild::default(),
            });
            return Ok(Opened { directory, library: None, guest: None, phases_seconds });
        }
        if self.lanes[index].contestant.is_library() {
            return self.open_library(index, ground_index, journal, stop);
        }
        let in_guest = self.lanes[index].guest.is_some();
        if !in_guest && !directory.is_dir() {
            make_folder(&directory)?;
        }
        self.format(index, ground_index, &mut phases_seconds, journal, stop)?;
        if in_guest {
            return self.open_in_guest(index, ground_index, phases_seconds, journal, stop);
        }
        self.mount(index, ground_index, directory, phases_seconds, journal, stop)
    }

    /// Mounts a formatted lane on this machine, and what lies above it. Where it fails a part of it may stand.
    pub(super) fn mount(
        &mut self,
        index: usize,
        ground_index: usize,
        directory: PathBuf,
        mut phases_seconds: BTreeMap<String, f64>,
        journal: &mut Journal,
        stop: &AtomicBool,
    ) -> Result<Opened, LaneFailure> {
        let ground = &*self.stores[ground_index];
        let lane = &mut self.lanes[index];
        let (source, further) = (lane.source(ground), lane.further(ground));
        // A user's FUSE filesystem names its source as it likes.
        let expected = match &lane.contestant {
            Contestant::Row(_) => Some(source.to_string_lossy().into_owned()),
            _ => None,
        };
        let base = lane.base(&directory);
        if !base.is_dir() {
            make_folder(&base)?;
        }
        let entry = journal.will(Thing::Mount { target: base.clone(), source: expected.clone() })?;
        let started = Instant::now();
        let options = mount_options_of(lane, &self.settings, &further);
        let request = MountRequest { contestant: &lane.contestant, source: &source, options: &options, target: &base };
        let mut open = OpenLane {
            ground: ground_index,
            base: base.clone(),
            directory: directory.clone(),
            mounted: Some(entry),
            above: None,
            process: None,
            guest: None,
            rebuild: Rebuild::default(),
        };
        match formatting::mount(&request, stop) {
            Ok(process) => open.process = process,
            Err(error) => {
                // A mount command that was killed half-way may have mounted. What cannot be unmounted now counts as open, to be
                // tried again.
                match unmount_all(&base) {
                    // Why it was not mounted is told; an entry that stays is found undone later.
                    Ok(()) => drop(journal.done(entry)),
                    Err(_) => lane.open = Some(open),
                }
                return Err(error.into());
            }
        }
        // What fails from here on leaves it open, and whoever opens it closes it.
        lane.open = Some(open);
        learn_promises(lane, &base);
        if let Some(spec) = lane.spec.above.clone() {
            let source = above::source(&spec, expected, &base);
            let entry = journal.will(Thing::Mount { target: directory.clone(), source })?;
            let laid = above::mount(&spec, &Place { below: &base, target: &directory });
            if let Some(open) = &mut lane.open {
                open.above = Some(entry);
            }
            laid?;
        }
        phases_seconds.insert("mount".to_owned(), started.elapsed().as_secs_f64());
        let replace = lane.replacement(&further);
        lane.begin_rebuild(replace)?;
        Ok(Opened { directory, library: None, guest: None, phases_seconds })
    }

    /// A library's disk is only made ready: the agent formats it.
    fn open_library(
        &mut self,
        index: usize,
        ground_index: usize,
        journal: &mut Journal,
        stop: &AtomicBool,
    ) -> Result<Opened, LaneFailure> {
        self.take_down_left_over(ground_index, journal)?;
        self.stores[ground_index].prepare_for_mkfs()?;
        let lane = &self.lanes[index];
        let target = library::target(lane, &*self.stores[ground_index]);
        let disk = target.device.clone();
        let guest = match lane.guest {
            Some(guest) => Some(self.running_guest(guest, journal, stop)?),
            None => None,
        };
        if let Some(guest) = &guest {
            self.drop_cache_in_guest(index, ground_index, guest, stop)?;
        }
        let open = OpenLane {
            ground: ground_index,
            base: disk.clone(),
            directory: disk,
            mounted: None,
            above: None,
            process: None,
            guest: guest.clone(),
            rebuild: Rebuild::default(),
        };
        self.lanes[index].open = Some(open);
        Ok(Opened { directory: PathBuf::new(), library: Some(target), guest, phases_seconds: BTreeMap::new() })
    }

    /// Makes the filesystem, on the host or where its mkfs must run in the guest; a ground without a disk has
    /// none.
    fn format(
        &mut self,
        index: usize,
        ground_index: usize,
        phases_seconds: &mut BTreeMap<String, f64>,
        journal: &mut Journal,
        stop: &AtomicBool,
    ) -> Result<(), LaneFailure> {
        if self.stores[ground_index].formatted().is_none() {
            return Ok(());
        }
        self.check_named_devices_again(index)?;
        self.take_down_left_over(ground_index, journal)?;
        self.stores[ground_index].prepare_for_mkfs()?;
        if let Some(seconds) = self.restore(index, ground_index, stop)? {
            phases_seconds.insert("restore".to_owned(), seconds);
            self.stores[ground_index].settle_after_mkfs()?;
            if let Some(seconds) = self.stack(index, ground_index, Holding::WholeStack, journal, stop)? {
                phases_seconds.insert("layers".to_owned(), seconds);
            }
            return Ok(());
        }
        if let Some(seconds) = self.stack(index, ground_index, Holding::Anything, journal, stop)? {
            phases_seconds.insert("layers".to_owned(), seconds);
        }
        let (lane, ground) = (&self.lanes[index], &*self.stores[ground_index]);
        let built_here = lane.stack.as_ref().and(lane.stacked.first().cloned());
        let Some(device) = built_here.or_else(|| ground.formatted()) else { return Ok(()) };
        let output = match self.guest_that_formats(index) {
            Some(guest) => Some(self.format_in_guest(index, ground_index, guest, journal, stop)?),
            None => {
                let further = lane.of_filesystem(&lane.further(ground));
                let beside: Vec<&Path> = lane.named_devices.iter().chain(&further).map(PathBuf::as_path).collect();
                let held = ground.guest_disks().map(|disks| disks.first().image().held());
                further.iter().try_for_each(|device| let_go::check(device, stop))?;
                let command = with_devices(&lane.mkfs_command, &further);
                formatting::format(&lane.contestant, &command, (&device, held), &beside, stop)?
            }
        };
        phases_seconds.insert("mkfs".to_owned(), output.as_ref().map_or(0.0, |output| output.seconds));
        let started = Instant::now();
        self.lanes[index].drop_cache_of_layers()?;
        self.stores[ground_index].settle_after_mkfs()?;
        if self.lanes[index].lacks_a_device() {
            self.stores[ground_index].forget_last()?;
        }
        phases_seconds.insert("rewrite".to_owned(), started.elapsed().as_secs_f64());
        let lane = &mut self.lanes[index];
        if let (Contestant::Row(row), Some(output), true) = (&lane.contestant, output, lane.geometry.is_empty()) {
            lane.geometry = (row.geometry)(&output.stdout, &device);
        }
        Ok(())
    }

    /// Empties every cache of one lane and of nothing else: unmounts, drops what the kernel caches
    /// of its device and its image, mounts again. The directory stays the same. A library was let go
    /// by its agent before, which attaches it again.
    ///
    /// # Errors
    /// [`LaneFailure`] naming the lane, which then may be unmounted: close it.
    pub fn make_cold(&mut self, lane: usize) -> Result<Cold, LaneFailure> {
        let name = self.lanes[lane].name.clone();
        self.make_cold_unnamed(lane).map_err(|error| error.in_lane(&name))
    }

    fn make_cold_unnamed(&mut self, index: usize) -> Result<Cold, LaneFailure> {
        let open = self.lanes[index].open.as_mut().expect("only an open lane is made cold");
        open.rebuild.pause()?;
        let ground = open.ground;
        let further = self.lanes[index].further(&*self.stores[ground]);
        // The disks may have changed places meanwhile.
        let options = mount_options_of(&self.lanes[index], &self.settings, &further);
        let lane = &mut self.lanes[index];
        let open = lane.open.as_mut().expect("only an open lane is made cold");
        let ground = &*self.stores[open.ground];
        if ground.block_device().is_none() {
            return Ok(Cold::Warm);
        }
        if lane.contestant.is_library() {
            ground.drop_caches()?;
            let stop = self.stopping.clone();
            if let Some(guest) = open.guest.clone() {
                let ground = open.ground;
                self.drop_cache_in_guest(index, ground, &guest, &stop)?;
                return Ok(cold_in(guest.kind()));
            }
            return Ok(Cold::Cold);
        }
        if let Some(guest) = open.guest.clone() {
            let (ground_index, target) = (open.ground, open.directory.clone());
            let stop = self.stopping.clone();
            let answer = guest.ask(&Ask::Unmount { target: target.clone() }, &stop)?;
            note_rebuilt(open, &answer)?;
            ground.drop_caches()?;
            self.ask_to_mount(index, ground_index, &guest, &target, &stop)?;
            return Ok(cold_in(guest.kind()));
        }
        let source = lane.stacked.first().cloned().unwrap_or_else(|| mount_source(ground));
        let place = Place { below: &open.base, target: &open.directory };
        lane.spec.above.iter().try_for_each(|spec| above::unmount(spec, &place))?;
        formatting::unmount(&lane.contestant, &source, &open.base, open.process.take())?;
        [&source].into_iter().chain(&further).try_for_each(|of| let_go::check(of, &AtomicBool::new(false)))?;
        lane.stack.as_ref().map_or(Ok(()), |built| built.stack.drop_caches_here())?;
        ground.drop_caches()?;
        let request =
            MountRequest { contestant: &lane.contestant, source: &source, options: &options, target: &open.base };
        open.process = formatting::mount(&request, &AtomicBool::new(false))?;
        lane.spec.above.iter().try_for_each(|spec| above::mount(spec, &place))?;
        let replace = lane.replacement(&further);
        lane.begin_rebuild(replace)?;
        Ok(Cold::Cold)
    }

    /// Unmounts a lane and checks its image. The lane is closed afterwards, whatever is answered,
    /// unless it could not be unmounted; closing a closed lane does nothing.
    ///
    /// # Errors
    /// [`LaneFailure`] naming the lane: it cannot be unmounted, or `the image shrank: …`, which
    /// voids the trial.
    pub fn close(&mut self, lane: usize, journal: &mut Journal) -> Result<Closed, LaneFailure> {
        let name = self.lanes[lane].name.clone();
        self.close_lane(lane, Some(journal)).map_err(|error| error.in_lane(&name))
    }

    pub(crate) fn close_lane(
        &mut self,
        index: usize,
        mut journal: Option<&mut Journal>,
    ) -> Result<Closed, LaneFailure> {
        let mut closed = Closed { unmount_seconds: 0.0, flags: Vec::new() };
        let lane = &mut self.lanes[index];
        let Some(mut open) = lane.open.take() else { return Ok(closed) };
        let ground = &*self.stores[open.ground];
        if ground.folder().is_some() {
            remove_folder(&open.directory)?;
            return Ok(closed);
        }
        let started = Instant::now();
        // Of a guest that died nothing is mounted any more, and what it still held never came to its disk.
        if let Some(guest) = open.guest.take() {
            if !guest.lives() {
                return Err(guest.gone());
            }
            let unmounted = guest.ask(&Ask::Unmount { target: open.directory.clone() }, &self.stopping);
            let rebuilt = match unmounted {
                Ok(answer) => note_rebuilt(&mut open, &answer),
                Err(error) => {
                    // What hangs in its kernel goes with it, and the race goes on in a new one.
                    guest.kill();
                    return Err(error);
                }
            };
            if !std::mem::take(&mut lane.stacked).is_empty() {
                // What still holds its disks then would hold them for another lane.
                let answer = let_go_in_guest(&guest, &Ask::Unstack { lane: index as u32 }, &self.stopping)?;
                closed.flags.extend(stacked::rebuilt(&answer));
            }
            rebuilt?;
        }
        // Whatever it says, the mount is free then.
        let rebuilt = open.rebuild.pause();
        // A failed `make_cold` may have left it unmounted; a library never was mounted.
        if open.mounted.is_some() {
            let unmounted = unmount_here(lane, &mut open, ground);
            if let Err(error) = unmounted {
                if mount::is_mounted(&open.base)? {
                    lane.open = Some(open);
                }
                return Err(error);
            }
        }
        closed.unmount_seconds = started.elapsed().as_secs_f64();
        let go_on = AtomicBool::new(false);
        let mut let_go = Ok(());
        if let (Some(journal), Some(entry)) = (journal.as_deref_mut(), open.mounted) {
            open.above.map_or(Ok(()), |above| journal.done(above))?;
            journal.done(entry)?;
            let devices = [lane.source(ground)].into_iter().chain(lane.further(ground));
            let_go = devices.into_iter().try_for_each(|device| let_go::check(&device, &go_on));
        }
        let changed = lane.stack.as_ref().and_then(|built| built.stack.changed_setting());
        if lane.stack.is_some() {
            closed.flags.extend(lane.take_down(ground, journal)?.map(|rebuilt| stacked::rebuilt_flag(&rebuilt)));
        }
        let_go?;
        rebuilt?;
        closed.flags.extend(open.rebuild.flag());
        ground.settle_after_unmount()?;
        check_images(lane, ground, &mut closed)?;
        // What was measured is not of the lane as it is told.
        changed.map_or(Ok(closed), |why| Err(failed(why)))
    }
}

/// Whether the images of a closed lane are still what all lanes stand on.
///
/// # Errors
/// [`LaneFailure::Failed`]: one shrank, or is shared.
fn check_images(lane: &LaneState, ground: &dyn Venue, closed: &mut Closed) -> Result<(), LaneFailure> {
    let discards = lane.contestant.discards(&lane.spec);
    for image in ground.carrying_images() {
        image.check_not_shared()?;
        if discards {
            continue;
        }
        image.check_not_shrunk()?;
        let mark = match image.never_written()? {
            None => Mark::ImageUnchecked,
            Some(gaps) if !gaps.is_empty() => Mark::ImageUnwritten,
            Some(_) => continue,
        };
        let mark = Flag::from(mark);
        if !closed.flags.contains(&mark) {
            closed.flags.push(mark);
        }
    }
    Ok(())
}

/// Unmounts all that is mounted at a place, one above the other.
fn unmount_all(place: &Path) -> Result<(), LaneFailure> {
    while mount::is_mounted(place)? {
        mount::unmount_patiently(place)?;
    }
    Ok(())
}

/// Unmounts what of a lane is mounted on this machine, from the top.
fn unmount_here(lane: &LaneState, open: &mut OpenLane, ground: &dyn Venue) -> Result<(), LaneFailure> {
    if let Some(spec) = &lane.spec.above {
        above::unmount(spec, &Place { below: &open.base, target: &open.directory })?;
    }
    if !mount::is_mounted(&open.base)? {
        return Ok(());
    }
    formatting::unmount(&lane.contestant, &lane.source(ground), &open.base, open.process.take())
}

impl LaneState {
    /// What is mounted: the topmost layer, or the ground's own device.
    pub(crate) fn source(&self, ground: &dyn Venue) -> PathBuf {
        self.stacked.first().cloned().unwrap_or_else(|| mount_source(ground))
    }

    /// The devices behind the first that its filesystem stands on.
    fn further(&self, ground: &dyn Venue) -> Vec<PathBuf> {
        match self.stacked.get(1..) {
            Some(further) => further.to_vec(),
            None => ground.further_block_devices(),
        }
    }

    /// Begins to rebuild a disk of a lane that this machine has just mounted, where that is to be.
    fn begin_rebuild(&mut self, replace: Option<Replace>) -> Result<(), LaneFailure> {
        self.stack.as_mut().map_or(Ok(()), |built| built.stack.begin_rebuilds())?;
        match &mut self.open {
            Some(open) => open.rebuild.begin(replace, &open.base),
            None => Ok(()),
        }
    }
}

/// Keeps what a guest says of a disk that it rebuilt until an unmount.
///
/// # Errors
/// What its tool said; it is unmounted all the same.
fn note_rebuilt(open: &mut OpenLane, answer: &Answer) -> Result<(), LaneFailure> {
    let Answer::Unmounted { replaced, failure } = answer else { return Ok(()) };
    if let Some(replaced) = replaced {
        open.rebuild.note(*replaced);
    }
    if failure.is_empty() { Ok(()) } else { Err(failed(failure.clone())) }
}

/// How cold a lane is after its guest dropped what it caches. The disk of user-mode Linux is the host's page cache.
fn cold_in(kind: GuestKind) -> Cold {
    match kind {
        GuestKind::Uml => Cold::Guest,
        GuestKind::Qemu => Cold::Cold,
    }
}

/// The options of the mount; a lane in memory is as large as the others.
/// `further`: the devices behind the first, which the kernel is told.
pub(crate) fn mount_options_of(lane: &LaneState, settings: &Settings, further: &[PathBuf]) -> Vec<String> {
    let mut options = Vec::new();
    if lane.contestant.in_memory() {
        options.push(format!("size={}", settings.lane_size.0));
    }
    options.extend(lane.mount_options.iter().cloned());
    options.extend(further_options(lane, further));
    options
}

/// A mkfs command with the devices behind the first.
pub(super) fn with_devices(command: &[String], further: &[PathBuf]) -> Vec<String> {
    let further = further.iter().map(|device| device.display().to_string());
    command.iter().cloned().chain(further).collect()
}

fn further_options(lane: &LaneState, further: &[PathBuf]) -> Vec<String> {
    let Contestant::Row(row) = &lane.contestant else { return Vec::new() };
    let Some(option) = row.further_device_option else { return Vec::new() };
    let further = lane.of_filesystem(further);
    let there = further.len().saturating_sub(usize::from(lane.lacks_a_device()));
    let further = &further[..there];
    further.iter().map(|device| format!("{option}={}", device.display())).collect()
}

pub(crate) fn mount_source(ground: &dyn Venue) -> PathBuf {
    ground.block_device().unwrap_or_else(|| PathBuf::from("fairlane"))
}

/// The kernel's own words about the mount count too: defaults in a superblock show there.
fn learn_promises(lane: &mut LaneState, directory: &Path) {
    let mut options = lane.mount_options.clone();
    if let Ok(mounts) = mountinfo::read()
        && let Some(entry) = mountinfo::at(&mounts, directory)
    {
        options.extend(entry.super_options.iter().cloned());
    }
    lane.promises = lane.promises_with(&options);
}
