//! Everything about the lanes that can be refused is refused here, before anything is written.

use crate::abilities;
use crate::capacity;
use crate::contestant::Contestant;
use crate::device::{self, Decision, Found};
use crate::failure::{LaneFailure, failed, privilege, usage};
use crate::guest::machine::MOST_QEMU_DISKS;
use crate::guest::{GuestKind, Machine};
use crate::host::{self, Host};
use crate::kept_images;
use crate::lane_set::guest;
use crate::lane_set::past;
use crate::lane_set::resolve::{Location, place, resolve_lanes};
use crate::lane_set::stacked;
use crate::lane_set::{LaneSet, LaneState, LargestWork, Settings};
use crate::library::missing_check;
use crate::run_folder::RunFolder;
use crate::undo::is_run_id;
use crate::venues::Venue;
use crate::venues::device::{DeviceStore, identifier};
use crate::venues::directory::{self, DirectoryStore};
use crate::venues::guest::{GuestDisk, GuestDisks};
use crate::venues::image::ImageStore;
use crate::venues::memory::MemoryStore;
use model::Bytes;
use std::path::{Path, PathBuf};

/// Room beside the images: journals, records, the host's own metadata.
const SPARE_BYTES: u64 = 64 * Bytes::MIB;

impl LaneSet {
    /// Checks everything that can be refused before anything is written: names, venues, sizes,
    /// tools, kernel, privileges, disks, free space, devices, mount options. Writes nothing.
    ///
    /// # Errors
    /// [`LaneFailure`]: the first refusal, in one sentence with the remedy.
    pub fn check(settings: Settings) -> Result<LaneSet, LaneFailure> {
        assert!(is_run_id(&settings.run_id), "run ids are made by us: letters, digits, dash");
        let mut guests = Vec::new();
        let mut lane_set = LaneSet {
            lanes: resolve_lanes(&settings, &mut guests)?,
            guests,
            settings,
            stores: Vec::new(),
            beside: Vec::new(),
            decisions: Vec::new(),
            confirmed: true,
            base: PathBuf::new(),
            work: PathBuf::new(),
            host: None,
            run_directories: Vec::new(),
            throttling: None,
            remarks: Vec::new(),
            further_modules: Vec::new(),
            stopping: std::sync::Arc::default(),
            kernel_lock: None,
        };
        let places: Vec<Location> =
            lane_set.lanes.iter().map(|lane| place(lane, &lane_set.settings)).collect::<Result<_, _>>()?;
        for lane in &lane_set.lanes {
            // What was typed wrongly is told before what is too small.
            stacked::check_words(lane).map_err(|error| error.in_lane(&lane.name))?;
        }
        for (lane, place) in lane_set.lanes.iter().zip(&places) {
            past::check(lane, place).map_err(|error| error.in_lane(&lane.name))?;
        }
        lane_set.check_sizes(&places)?;
        for (lane, place) in lane_set.lanes.iter().zip(&places) {
            stacked::check(lane, place, &lane_set.guests).map_err(|error| error.in_lane(&lane.name))?;
            let checked = match lane.guest {
                Some(guest) => guest::check_contestant(&lane.contestant, &lane_set.guests[guest])
                    .and_then(|()| lane.contestant.check_mkfs()),
                None => lane.contestant.check_available(),
            };
            checked.map_err(|error| error.in_lane(&lane.name))?;
        }
        let needs_root =
            |place: &Location| matches!(place, Location::Image(_) | Location::Devices { .. } | Location::Memory);
        if places.iter().any(needs_root) && !crate::host::is_root() {
            let guests = match GuestKind::options_here() {
                none if none.is_empty() => none,
                options => format!("in a guest ({options}) or "),
            };
            return Err(privilege(format!(
                "formatting and mounting needs root: sudo fairlane …; without it race {guests}in a directory: fairlane race /some/directory"
            )));
        }
        for lane in &lane_set.lanes {
            if lane.guest.is_some() {
                // Its own kernel refuses what it does not know, when the lane is tried before the race.
                continue;
            }
            lane.contestant.check_mount_options(&lane.mount_options).map_err(|error| error.in_lane(&lane.name))?;
        }
        lane_set.lay_stores(&places)?;
        let kept = lane_set.restored_bytes();
        if kept > 0 {
            let taken = (lane_set.image_bytes(), lane_set.base.as_path());
            kept_images::check_room(&lane_set.settings.undo, kept, taken)?;
        }
        guest::check_slots(&lane_set)?;
        lane_set.try_user_mode_linux()?;
        lane_set.throttling = lane_set.check_throttling()?;
        Ok(lane_set)
    }

    fn check_sizes(&self, places: &[Location]) -> Result<(), LaneFailure> {
        let size = self.settings.lane_size.0;
        for (lane, place) in self.lanes.iter().zip(places) {
            if matches!(place, Location::Devices { .. } | Location::Directory(_)) {
                continue;
            }
            if !size.is_multiple_of(4096) {
                return Err(usage(format!(
                    "a lane of {} is no multiple of 4KiB; give a --lane-size such as 2GiB",
                    self.settings.lane_size
                )));
            }
            check_lane_size(lane, size, self.largest_work_on(lane, None), "raise --lane-size")?;
        }
        Ok(())
    }

    /// The work that keeps most on a lane.
    fn largest_work_on(&self, lane: &LaneState, ground: Option<&dyn Venue>) -> &LargestWork {
        let Settings { largest_work: with, largest_work_without_holes: without, .. } = &self.settings;
        if abilities::lacks_holes(lane, ground) { without } else { with }
    }

    /// Bytes that the work keeps on a lane.
    pub(crate) fn work_on(&self, lane: &LaneState, ground: Option<&dyn Venue>) -> u64 {
        self.largest_work_on(lane, ground).bytes
    }

    /// Makes the list of grounds and ties every lane to its own.
    fn lay_stores(&mut self, places: &[Location]) -> Result<(), LaneFailure> {
        let folders: Vec<&PathBuf> = places.iter().filter_map(Location::image_folder).collect();
        if let Some(first) = folders.first() {
            self.lay_images(first, &folders, places)?;
        } else if places
            .iter()
            .any(|place| matches!(place, Location::Devices { .. } | Location::Memory | Location::GuestMemory))
        {
            // Only mount points, or a guest's own folder: they need no disk.
            self.base = crate::host::temporary_folder();
        }
        if self.work.as_os_str().is_empty() && !self.base.as_os_str().is_empty() {
            let base = self.base.clone();
            self.work = self.add_run_folder(&base, "work")?;
        }
        let erase = device::resolve_erase(&self.settings.erase)?;
        for (index, place) in places.iter().enumerate() {
            let name = self.lanes[index].name.clone();
            let ground = match place {
                Location::Image(_) | Location::Guest(_) => continue,
                Location::Memory | Location::GuestMemory => self.add_memory(),
                Location::Devices { all, taken } => self.add_devices((all, *taken), &erase, index),
                Location::Directory(path) => self.add_directory(path, index),
            };
            self.lanes[index].fixed_ground = Some(ground.map_err(|error| error.in_lane(&name))?);
        }
        self.check_disks_used()?;
        self.add_named_devices(&erase)?;
        for (named, number) in &erase {
            if !self.devices().any(|found| found.number == *number) {
                return Err(usage(format!(
                    "--erase {} names a device that no lane uses; remove it or race a lane there",
                    named.display()
                )));
            }
        }
        self.check_memory()?;
        self.check_devices_apart()?;
        self.check_run_directories_free()
    }

    fn lay_images(&mut self, folder: &Path, all: &[&PathBuf], places: &[Location]) -> Result<(), LaneFailure> {
        let real = writable_folder(folder, "images cannot be put into", "choose another place with --on DIR")?;
        for other in all {
            let other_real = writable_folder(other, "images cannot be put into", "choose another place with --on DIR")?;
            if other_real != real {
                return Err(usage(format!(
                    "images in {} and in {} do not stand on equal ground; put all of them into one directory with --on DIR",
                    real.display(),
                    other_real.display()
                )));
            }
        }
        let host = host::find(&real)?;
        if let Some(why) = host::unsuitable(&host) {
            return Err(usage(format!(
                "{} {why}, so images there would not measure a disk; give a directory on a real disk with --on DIR",
                real.display()
            )));
        }
        let with_image = places.iter().zip(&self.lanes).filter(|(place, _)| place.image_folder().is_some());
        let count: u64 = with_image.map(|(_, lane)| u64::from(lane.spec.disks())).sum();
        let needed = self.settings.lane_size.0.saturating_mul(count).saturating_add(SPARE_BYTES);
        let images = if count == 1 { "one image".to_owned() } else { format!("{count} images") };
        if host.free_bytes < needed {
            return Err(failed(format!(
                "{} has {} free and {images} of {} {}; free some space, lower --lane-size or choose another place with --on DIR",
                real.display(),
                model::units::human_bytes(host.free_bytes as f64),
                self.settings.lane_size,
                format_args!(
                    "{} {}",
                    if count == 1 { "needs" } else { "need" },
                    model::units::human_bytes(needed as f64)
                )
            )));
        }
        let run = self.add_run_folder(&real, "images")?;
        // Mount points lie beside the images, or where only root reaches them.
        self.work = self.run_directories[0].path().to_owned();
        let mut in_guest = vec![0usize; self.guests.len()];
        let mut images = 0;
        let with_image = places.iter().enumerate().filter(|(_, place)| place.image_folder().is_some());
        for (lane, _) in with_image {
            let disks = self.lanes[lane].spec.disks() as usize;
            let numbered = (images..images + disks).map(|number| (number, run.join(format!("image{number:02}"))));
            images += disks;
            self.stores.push(match self.lanes[lane].guest {
                None => Box::new(ImageStore::new(numbered.map(|(_, path)| path).collect())),
                Some(guest) => {
                    let kind = self.guests[guest].kind;
                    let disks = numbered.map(|(number, path)| {
                        // Races of more are refused when everything is laid.
                        let name = Machine::disk_name(kind, in_guest[guest].min(MOST_QEMU_DISKS));
                        in_guest[guest] += 1;
                        GuestDisk { path, image: None, number, name }
                    });
                    Box::new(GuestDisks { disks: disks.collect(), guest, kind })
                }
            });
        }
        self.base = real;
        self.host = Some(host);
        Ok(())
    }

    /// Has a folder of this run be made in a directory; answers where it is worked on.
    fn add_run_folder(&mut self, directory: &Path, name: &str) -> Result<PathBuf, LaneFailure> {
        let planned = RunFolder::plan(directory, &self.settings.run_id, name)?;
        let mut work = PathBuf::new();
        for folder in planned {
            // One directory may be asked for twice, and root's own serves all of a run.
            match self.run_directories.iter().find(|known| known.path() == folder.path()) {
                Some(known) => work = known.work().to_owned(),
                None => {
                    work = folder.work().to_owned();
                    self.run_directories.push(folder);
                }
            }
        }
        Ok(work)
    }

    fn add_memory(&mut self) -> Result<usize, LaneFailure> {
        self.stores.push(Box::new(MemoryStore));
        Ok(self.stores.len() - 1)
    }

    /// The ground of a lane on the first `taken` of these devices.
    fn add_devices(
        &mut self,
        (all, taken): (&[PathBuf], usize),
        erase: &[device::Erasable],
        lane: usize,
    ) -> Result<usize, LaneFailure> {
        let mut disks: Vec<Found> = all.iter().map(|path| device::inspect(path)).collect::<Result<_, _>>()?;
        check_apart(&disks)?;
        self.check_no_disk_of_all(all, &disks)?;
        let others = disks.split_off(taken);
        if self.lanes[lane].replacer().is_some() {
            check_equal_sizes(&disks)?;
        }
        for disk in &disks {
            if !self.devices().any(|known| known.number == disk.number) {
                let decision = device::decide(disk, erase, self.settings.terminal)?;
                self.ask(disk, decision);
            }
            let state = &self.lanes[lane];
            check_lane_size(state, disk.size_bytes, self.largest_work_on(state, None), "choose a larger device")?;
        }
        let numbers = |of: &[Found]| of.iter().map(|disk| disk.number).collect::<Vec<_>>();
        let same = |ground: &dyn Venue| numbers(ground.overwritten()) == numbers(&disks);
        if let Some(index) = self.stores.iter().position(|ground| same(&**ground)) {
            return Ok(index);
        }
        let ground = disks.iter().chain(&others).map(|disk| disk.path.display().to_string()).collect::<Vec<_>>();
        self.stores.push(Box::new(DeviceStore::new(disks, others, ground.join(", "))));
        Ok(self.stores.len() - 1)
    }

    /// A lane that names one of the disks of `--disks` would stand on it beside the lanes that take turns there.
    fn check_no_disk_of_all(&self, all: &[PathBuf], disks: &[Found]) -> Result<(), LaneFailure> {
        let model::plan::Ground::Disks(turns) = &self.settings.ground else { return Ok(()) };
        let number = |path: &PathBuf| device::inspect(path).map(|found| found.number).ok();
        match disks.iter().find(|disk| all.len() == 1 && turns.iter().any(|path| number(path) == Some(disk.number))) {
            Some(disk) => Err(usage(format!(
                "{} is one of --disks, and lanes take turns there; remove what follows the @",
                disk.named.display()
            ))),
            None => Ok(()),
        }
    }

    /// Every disk of `--disks` is for some lane.
    fn check_disks_used(&self) -> Result<(), LaneFailure> {
        let model::plan::Ground::Disks(disks) = &self.settings.ground else { return Ok(()) };
        let used =
            |path: &PathBuf| device::inspect(path).is_ok_and(|it| self.devices().any(|one| one.number == it.number));
        match disks.iter().find(|path| !used(path)) {
            Some(unused) => Err(usage(format!(
                "no lane stands on {} of --disks; name as many disks as the lanes take, or a lane on more: btrfs:{}",
                unused.display(),
                disks.len()
            ))),
            None => Ok(()),
        }
    }

    fn ask(&mut self, found: &Found, decision: Decision) {
        if matches!(decision, Decision::Ask { .. }) {
            self.confirmed = false;
            self.decisions.push((found.clone(), decision));
        }
    }

    /// A journal or a log on another device is overwritten too: it passes every check that a lane's own device passes.
    fn add_named_devices(&mut self, erase: &[device::Erasable]) -> Result<(), LaneFailure> {
        let named: Vec<(usize, PathBuf)> = (self.lanes.iter().enumerate())
            .flat_map(|(index, lane)| lane.named_devices.iter().map(move |path| (index, path.clone())))
            .collect();
        for (lane, path) in named {
            let name = self.lanes[lane].name.clone();
            let checked = (|| {
                let found = device::inspect(&path)?;
                if self.beside.iter().any(|(of, other)| *of == lane && other.number == found.number) {
                    // mkfs and mount name the same one.
                    return Ok(());
                }
                if self.devices().any(|other| other.number == found.number) {
                    return Err(usage(format!(
                        "{} is another lane's device, or this lane's own; give each a device of its own",
                        found.path.display()
                    )));
                }
                let decision = device::decide(&found, erase, self.settings.terminal)?;
                self.ask(&found, decision);
                self.beside.push((lane, found));
                Ok(())
            })();
            checked.map_err(|error: LaneFailure| error.in_lane(&name))?;
        }
        Ok(())
    }

    /// Every block device that the race overwrites.
    fn devices(&self) -> impl Iterator<Item = &Found> {
        let grounds = self.stores.iter().flat_map(|ground| ground.overwritten());
        grounds.chain(self.beside.iter().map(|(_, found)| found))
    }

    /// The devices that lanes' commands name beside their own, with the lane's name: they are overwritten too.
    pub fn named_devices(&self) -> impl Iterator<Item = (&str, &Path)> {
        self.beside.iter().map(|(lane, found)| (self.lanes[*lane].name.as_str(), found.path.as_path()))
    }

    /// Looks again at the devices that a lane's commands name, before they run.
    pub(crate) fn check_named_devices_again(&self, lane: usize) -> Result<(), LaneFailure> {
        self.beside.iter().filter(|(of, _)| *of == lane).try_for_each(|(_, found)| device::check_again(found))
    }

    fn add_directory(&mut self, path: &Path, lane: usize) -> Result<usize, LaneFailure> {
        let real = writable_folder(path, "files cannot be made in", "choose a directory that you can write")?;
        let host = host::find(&real)?;
        directory::check_server(&self.lanes[lane].spec, &real, &host)?;
        if let Some(index) = self.stores.iter().position(|ground| ground.is_directory(&real)) {
            let earlier = self.lanes[..lane].iter().map(|earlier| &earlier.spec);
            directory::check_said_once(&self.lanes[lane].spec, &real, earlier)?;
            return Ok(index);
        }
        let free_bytes = host.free_bytes;
        // The images' directory may be raced as a directory too: one run directory serves both.
        let name = format!("directory{:02}", self.stores.len());
        let work = self.add_run_folder(&real, &name)?;
        let ground = DirectoryStore { path: real.clone(), host, work };
        let needed = self.work_on(&self.lanes[lane], Some(&ground)).saturating_add(SPARE_BYTES);
        if free_bytes < needed {
            return Err(failed(format!(
                "{} has {} free and the work needs {}; free some space or choose another directory",
                real.display(),
                model::units::human_bytes(free_bytes as f64),
                model::units::human_bytes(needed as f64)
            )));
        }
        self.stores.push(Box::new(ground));
        Ok(self.stores.len() - 1)
    }

    /// Lanes in memory must fit into memory together.
    fn check_memory(&self) -> Result<(), LaneFailure> {
        // Those of guests are held against the guests' memory.
        let in_memory = |lane: &&LaneState| lane.contestant.in_memory() && lane.guest.is_none();
        let lanes = self.lanes.iter().filter(in_memory).count() as u64;
        let needed = self.settings.lane_size.0.saturating_mul(lanes);
        let available = available_memory_bytes().unwrap_or(u64::MAX);
        if needed > available {
            return Err(failed(format!(
                "{lanes} lanes of {} in memory do not fit into the {} that are available; lower --lane-size",
                self.settings.lane_size,
                model::units::human_bytes(available as f64)
            )));
        }
        Ok(())
    }

    /// A disk and its own partition overwrite each other.
    fn check_devices_apart(&self) -> Result<(), LaneFailure> {
        let devices: Vec<&Found> = self.devices().collect();
        for whole in &devices {
            for part in &devices {
                let inside = host::whole_disk(&part.kernel_name) == whole.kernel_name;
                if inside && part.kernel_name != whole.kernel_name {
                    return Err(usage(format!(
                        "{} is a part of {}, so lanes on both overwrite each other; race on one of them",
                        part.path.display(),
                        whole.path.display()
                    )));
                }
            }
        }
        Ok(())
    }

    fn check_run_directories_free(&self) -> Result<(), LaneFailure> {
        match self.run_directories.iter().map(RunFolder::path).find(|path| path.symlink_metadata().is_ok()) {
            Some(path) => Err(failed(format!("{} exists already; run `fairlane clean` or remove it", path.display()))),
            None => Ok(()),
        }
    }

    /// What a reader should know before believing figures of lanes like these.
    pub fn warnings(&self) -> Vec<String> {
        let size = self.settings.lane_size.0;
        let mut warnings = Vec::new();
        let mut small: Vec<(&str, Vec<&str>)> = Vec::new();
        for lane in self.lanes.iter().filter(|lane| lane.fixed_ground.is_none()) {
            if let Contestant::Row(row) = &lane.contestant
                && let Some((comfortable, why)) = row.comfortable
                && size < comfortable
            {
                match small.iter_mut().find(|(known, _)| *known == why) {
                    Some((_, names)) => names.push(&lane.name),
                    None => small.push((why, vec![&lane.name])),
                }
            }
        }
        let shown = model::units::human_bytes(size as f64);
        warnings.extend(small.into_iter().map(|(why, names)| match names[..] {
            [one] => format!("lane {one} has {shown}: {why}"),
            _ => format!("lanes {} have {shown}: {why}", names.join("; ")),
        }));
        if self.lanes.iter().any(|lane| lane.fixed_ground.is_none()) {
            warnings.push(format!(
                "mkfs chooses other defaults on large disks than on lanes of {}: journal, log, chunk sizes",
                model::units::human_bytes(self.settings.lane_size.get() as f64)
            ));
        }
        if let Some((program, package)) = self.lanes.iter().find_map(missing_check) {
            warnings.push(format!(
                "{program} is missing, so the disk that a library leaves is not checked; {}",
                crate::missing::install(package)
            ));
        }
        warnings.extend(self.remarks.iter().cloned());
        warnings.extend(self.stacked_warnings());
        warnings.extend(self.guest_warnings());
        warnings.extend(self.standing_limits());
        if self.lanes.iter().any(|lane| lane.contestant.discards(&lane.spec)) {
            warnings.push(
                "a lane discards, so its image has holes that later lanes find filled with zeros again".to_owned(),
            );
        }
        warnings
    }
}

/// Refuses what is one disk under two names, or by two paths to it.
fn check_apart(disks: &[Found]) -> Result<(), LaneFailure> {
    for (place, disk) in disks.iter().enumerate() {
        if let Some(other) = disks[..place].iter().find(|other| other.number == disk.number) {
            return Err(usage(format!(
                "{} and {} are one device; name each device once",
                other.named.display(),
                disk.named.display()
            )));
        }
        let Some(id) = identifier(disk) else { continue };
        if let Some(other) = disks[..place].iter().find(|other| identifier(other).as_ref() == Some(&id)) {
            return Err(usage(format!(
                "{} and {} have one identifier ({id}), as two paths to one disk have; name one of them",
                other.named.display(),
                disk.named.display()
            )));
        }
    }
    Ok(())
}

/// A disk that is rebuilt needs a spare one of its size, and the two change places.
fn check_equal_sizes(disks: &[Found]) -> Result<(), LaneFailure> {
    match disks.iter().find(|disk| disk.size_bytes != disks[0].size_bytes) {
        Some(other) => Err(usage(format!(
            "{} and {} differ in size, and a disk is rebuilt onto one of its own size; name disks of one size",
            disks[0].named.display(),
            other.named.display()
        ))),
        None => Ok(()),
    }
}

fn check_lane_size(lane: &LaneState, disk: u64, largest: &LargestWork, remedy: &str) -> Result<(), LaneFailure> {
    let (name, contestant) = (&lane.name, &lane.contestant);
    let LargestWork { title, bytes: work } = largest;
    let work = *work;
    let (device, room) = capacity::of_lane(&lane.spec, disk);
    let least = contestant.minimum_bytes();
    if device < least {
        return Err(usage(format!(
            "lane {name}: {} is too small for {}, which needs at least {}; {remedy}",
            model::units::human_bytes(device as f64),
            contestant.filesystem_name(),
            Bytes(least)
        )));
    }
    if work > room / 2 {
        // As the option takes it, and no smaller than what is asked for.
        let needed = (u128::from(work) * 2 * u128::from(disk)).div_ceil(u128::from(room.max(1)));
        let needed = u64::try_from(needed).ok().and_then(|bytes| bytes.checked_next_multiple_of(Bytes::MIB));
        return Err(usage(format!(
            "lane {name}: the work{} needs {} and may fill at most half of a lane of {}; {remedy} to {} or more",
            if title.is_empty() { String::new() } else { format!(" ({title})") },
            model::units::human_bytes(work as f64),
            model::units::human_bytes(room as f64),
            Bytes(needed.unwrap_or(u64::MAX))
        )));
    }
    past::check_room(lane, room, work)
}

/// Whether a path that is not there ends in what is a layer elsewhere: `./folder/raid1:2`.
fn names_a_layer(path: &Path) -> bool {
    let last = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    let word = last.split([':', ',']).next().unwrap_or_default();
    model::stack::LAYERS.contains(&word)
}

/// The canonical path of a directory that exists and takes files.
fn writable_folder(folder: &Path, refusal: &str, remedy: &str) -> Result<PathBuf, LaneFailure> {
    let shown = folder.display();
    let refuse = |why: &str| usage(format!("{refusal} {shown}: {why}; {remedy}"));
    let real = folder.canonicalize().map_err(|error| match names_a_layer(folder) {
        true => {
            usage(format!("{refusal} {shown}: layers stand under a filesystem, and not under a directory; {remedy}"))
        }
        false => refuse(&crate::failure::plain(&error)),
    })?;
    if !real.is_dir() {
        return Err(refuse("it is no directory"));
    }
    if real.as_os_str().as_encoded_bytes().iter().any(|byte| byte.is_ascii_control()) {
        return Err(refuse("its name has control characters"));
    }
    match rustix::fs::access(&real, rustix::fs::Access::WRITE_OK | rustix::fs::Access::EXEC_OK) {
        Ok(()) => Ok(real),
        Err(rustix::io::Errno::ROFS) => Err(refuse("it is read-only")),
        Err(rustix::io::Errno::ACCESS) => Err(refuse("you may not write there")),
        Err(error) => Err(refuse(&crate::failure::plain(&error.into()))),
    }
}

fn available_memory_bytes() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/meminfo").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    Some(line.split_whitespace().next()?.parse::<u64>().ok()? * 1024)
}

/// What carries the images of a checked lane set, for the record's header; `None`: no images.
impl LaneSet {
    /// The host of the images, or of the first directory lane.
    pub fn host(&self) -> Option<&Host> {
        self.host.as_ref().or_else(|| self.stores.iter().find_map(|ground| ground.existing_filesystem()))
    }
}
