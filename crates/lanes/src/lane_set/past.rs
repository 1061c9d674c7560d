//! Lanes whose filesystems have a past: it is lived once, its image is kept, and every round begins with that image again.

pub(crate) mod cold;
mod waiting;

use crate::capacity;
use crate::contestant::Contestant;
use crate::failure::{LaneFailure, cannot, failed, usage};
use crate::guest::modules::module_file;
use crate::guest::protocol::{Answer, Ask};
use crate::kept_images::{self, Draft, Kept, KeptImage};
use crate::lane_set::resolve::Location;
use crate::lane_set::{LaneSet, LaneState, OpenLane, Settings};
use crate::undo::Journal;
use aging::measures::{self, ChiSquared, FreeClass};
use aging::{Life, Lived, Measures, Progress};
use cold::{FOLDER, TREE, open_tree};
use model::Bytes;
use model::aged::{AgedLane, AlikeFiles, FreePieces, states_line};
use rustix::fs::{Mode, open};
use sha2::{Digest, Sha256};
use std::ops::ControlFlow;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use waiting::{Step, until_ended};

/// Of one past a race, and others beside it, have so many images at most.
const MOST_COPIES: u32 = 64;
/// Of what a filesystem says is free so much may be worked on: metadata of the work takes room too.
const SHARE_OF_FREE: f64 = 0.9;
/// The largest share of a filesystem that is taken for a reserve for root: ext4 keeps a twentieth.
const SHARE_FOR_ROOT: f64 = 0.06;
/// Lanes of one life are equally full but for less than this share of their size. Chosen.
const MOST_OFF: f64 = 0.005;

/// A lane's past.
#[derive(Debug)]
pub(crate) struct Past {
    pub(crate) life: Life,
    /// Its image, once it was made or found.
    pub(crate) kept: Option<KeptImage>,
    /// What became of it.
    pub(crate) facts: Option<AgedLane>,
}

impl Past {
    /// The past of a lane; `None`: it is fresh.
    pub(crate) fn of_lane(lane: usize, settings: &Settings) -> Option<Past> {
        let life = settings.lives.get(lane)?.clone()?;
        Some(Past { life, kept: None, facts: None })
    }

    /// Share of the lane that its files take when the race begins, 0 to 1.
    pub(crate) fn share(&self) -> f64 {
        self.life.full.unwrap_or(self.life.profile.settle[1])
    }
}

/// Refuses lanes that cannot have a past.
pub(crate) fn check(lane: &LaneState, place: &Location) -> Result<(), LaneFailure> {
    let Some(past) = &lane.past else { return Ok(()) };
    past.life.check().map_err(|error| usage(error.to_string()))?;
    let states = states_line(lane.spec.aged.as_ref(), lane.spec.full_percent);
    let no =
        |why: &str, remedy: &str| Err(usage(format!("{why}, and `{states}` needs an image of its own here; {remedy}")));
    match place {
        _ if lane.lacks_a_device() || lane.replacer().is_some() || lane.lacks_a_disk_below() => {
            no("it loses a disk", "leave one of the two states out")
        }
        _ if !lane.named_devices.is_empty() => no("a part of it lies on a device", "leave the state out"),
        _ if lane.contestant.is_library() => no("a library mounts it", "leave the state out"),
        Location::Guest(_) => Ok(()),
        _ if lane.spec.has_built_layers() => {
            no("this machine's own kernel holds its layers", "race it in a guest: --on uml or --on qemu")
        }
        Location::Image(_) => Ok(()),
        Location::Devices { .. } => no("it stands on a device", "race it on an image: --on DIR"),
        Location::Memory | Location::GuestMemory => no("it lives in memory", "leave the state out"),
        Location::Directory(_) => no(
            "it is a directory, which is raced as it is",
            "leave the state out, or have it grow old before: fairlane age DIR",
        ),
    }
}

/// Refuses work that does not fit beside what a past left.
pub(crate) fn check_room(lane: &LaneState, room: u64, work: u64) -> Result<(), LaneFailure> {
    let Some(past) = &lane.past else { return Ok(()) };
    let needed = capacity::beside_a_past(past.share(), work);
    if needed <= room {
        return Ok(());
    }
    Err(usage(format!(
        "lane {}: the work needs {}, and its past leaves {:.0} % of a lane of {} free; raise --lane-size to {} or more, or race \
         workloads that need less",
        lane.name,
        model::units::human_bytes(work as f64),
        (1.0 - past.share()) * 100.0,
        model::units::human_bytes(room as f64),
        Bytes(needed.checked_next_multiple_of(64 * Bytes::MIB).unwrap_or(u64::MAX))
    )))
}

impl LaneSet {
    /// Bytes that ageing writes, at most, where nothing is kept: lives, and copies of their images.
    pub(crate) fn bytes_to_live(&self) -> u64 {
        self.lanes.iter().map(|lane| self.bytes_of_past(lane)).fold(0, u64::saturating_add)
    }

    fn bytes_of_past(&self, lane: &LaneState) -> u64 {
        let lived = lane.past.as_ref().map_or(0, |past| forecast(&past.life));
        let kept = if lane.past.is_some() { self.bytes_of_images(lane) } else { 0 };
        lived.saturating_add(copied_at_most(lane)).saturating_add(kept)
    }

    fn bytes_of_images(&self, lane: &LaneState) -> u64 {
        self.settings.lane_size.0.saturating_mul(u64::from(lane.spec.disks().max(1)))
    }

    /// Bytes that kept images write when all lanes are opened once.
    pub fn restored_bytes(&self) -> u64 {
        let with_past = self.lanes.iter().filter(|lane| lane.past.is_some());
        with_past.map(|lane| self.bytes_of_images(lane)).fold(0, u64::saturating_add)
    }

    /// Has a lane's image there: kept, or lived now. `count` is told bytes that were written.
    ///
    /// # Errors
    /// [`LaneFailure`] naming the lane.
    pub(crate) fn have_past(
        &mut self,
        index: usize,
        journal: &mut Journal,
        count: &mut dyn FnMut(u64),
        stop: &AtomicBool,
    ) -> Result<(), LaneFailure> {
        if self.lanes[index].past.is_none() {
            return Ok(());
        }
        let name = self.lanes[index].name.clone();
        self.have_past_unnamed(index, journal, count, stop).map_err(|error| error.in_lane(&name))
    }

    fn have_past_unnamed(
        &mut self,
        index: usize,
        journal: &mut Journal,
        count: &mut dyn FnMut(u64),
        stop: &AtomicBool,
    ) -> Result<(), LaneFailure> {
        let folder = kept_images::folder(&self.settings.undo)?;
        for copy in 0..MOST_COPIES {
            let key = self.key_of_past(index, copy);
            let found = match KeptImage::find(&folder, &key, stop)? {
                Kept::Busy => continue,
                Kept::Whole(kept) => {
                    // Nothing of what was forecast for it has to be written.
                    count(self.bytes_of_past(&self.lanes[index]));
                    *kept
                }
                Kept::Nothing(draft) => self.live(index, draft, journal, count, stop)?,
                Kept::Damaged(draft, why) => {
                    self.remarks
                        .push(format!("the kept image of lane {} was made anew: {why}", self.lanes[index].name));
                    self.live(index, draft, journal, count, stop)?
                }
            };
            let lane = &mut self.lanes[index];
            let states = states_line(lane.spec.aged.as_ref(), lane.spec.full_percent);
            let Some(past) = &mut lane.past else { return Ok(()) };
            let is_new = past.facts.is_some();
            past.facts = Some(AgedLane { states, from_cache: !is_new, ..found.facts().clone() });
            if lane.geometry.is_empty() {
                lane.geometry = found.geometry().to_vec();
            }
            past.kept = Some(found);
            let remark = past.facts.as_ref().and_then(|facts| filled_otherwise(&lane.name, facts));
            self.remarks.extend(remark);
            return self.check_free(index);
        }
        Err(failed("too many races use images of this past; wait until one has ended".to_owned()))
    }

    /// Refuses work that has no room beside what the life really left, which only the filesystem knows.
    fn check_free(&self, index: usize) -> Result<(), LaneFailure> {
        let lane = &self.lanes[index];
        let Some(facts) = lane.past.as_ref().and_then(|past| past.facts.as_ref()) else { return Ok(()) };
        let (free, work) = (facts.free_bytes, self.work_on(lane, None));
        let is_known = free > 0 || facts.filesystem_used_share > 0.0;
        let needed = work as f64 / SHARE_OF_FREE;
        if !is_known || needed <= free as f64 {
            return Ok(());
        }
        let share = lane.past.as_ref().map_or(0.0, Past::share);
        let size = self.settings.lane_size.0;
        // Of each byte of a disk copies, parity and a snapshot leave a part.
        let disk_per_file = size as f64 / capacity::of_lane(&lane.spec, size).1.max(1) as f64;
        let larger = capacity::with_more_free(size, share, (needed - free as f64) * disk_per_file);
        Err(usage(format!(
            "the work needs {} with its metadata, and its past left {} free in {}; raise --lane-size to {} or more, or race \
             workloads that need less",
            model::units::human_bytes(needed),
            model::units::human_bytes(free as f64),
            lane.contestant.filesystem_name(),
            Bytes(larger)
        )))
    }

    /// All that decides what an image of a past holds; each `copy` is a filesystem of its own.
    fn key_of_past(&self, index: usize, copy: u32) -> String {
        let lane = &self.lanes[index];
        let life = lane.past.as_ref().map(|past| past.life.key()).unwrap_or_default();
        let custom = match &lane.contestant {
            Contestant::Custom(custom) => custom.sha256.as_str(),
            _ => "",
        };
        let kernel = match lane.guest {
            Some(guest) => (self.guests[guest].kernel.release.clone(), self.guests[guest].build.clone()),
            None => {
                let system = rustix::system::uname();
                (system.release().to_string_lossy().into_owned(), system.version().to_string_lossy().into_owned())
            }
        };
        let above = lane.spec.above.as_ref().map(model::stack::LayerSpec::to_line);
        let layers: Vec<String> = lane.spec.built_layers().map(model::stack::LayerSpec::to_line).collect();
        let all = (
            (lane.contestant.filesystem_name(), custom, above, layers),
            (&lane.mkfs_command, &lane.mount_options),
            kernel,
            (life, self.settings.lane_size.0, lane.spec.disks(), copy),
            (mkfs_of(&lane.mkfs_command), self.module_of(lane)),
        );
        let text = serde_json::to_vec(&all).unwrap_or_default();
        Sha256::digest(&text).iter().take(12).map(|byte| format!("{byte:02x}")).collect()
    }

    /// What tells one build of a filesystem's module from another; empty: it is a part of its kernel, or a program.
    fn module_of(&self, lane: &LaneState) -> String {
        let Contestant::Row(row) = &lane.contestant else { return String::new() };
        if let Some(guest) = lane.guest {
            let modules = &self.guests[guest].kernel.modules;
            let name = modules.of_filesystem(row).unwrap_or(row.module);
            let mut sum = Sha256::new();
            for module in modules.load_order(&[name]).unwrap_or_default() {
                sum.update(&module.bytes);
            }
            return sum.finalize().iter().take(8).map(|byte| format!("{byte:02x}")).collect();
        }
        let release = rustix::system::uname().release().to_string_lossy().into_owned();
        let file = module_file(&Path::new("/lib/modules").join(release), row.module);
        file.and_then(|file| file.metadata().ok()).map_or_else(String::new, |of| format!("{}:{}", of.len(), of.mtime()))
    }

    /// Formats the lane, has it live, and keeps its image.
    fn live(
        &mut self,
        index: usize,
        draft: Draft,
        journal: &mut Journal,
        count: &mut dyn FnMut(u64),
        stop: &AtomicBool,
    ) -> Result<KeptImage, LaneFailure> {
        let ground = self.store_for(index, 0);
        self.open(index, ground, journal, stop)?;
        // Lanes that differ by the kernel's settings have the same past, which is kept for other races too.
        let put_back = self.put_kernel_back(index, Some(journal));
        let lived = match self.lanes[index].guest {
            Some(_) => self.live_in_guest(index, count, stop),
            None => self.live_here(index, count, stop),
        };
        let closed = self.close(index, journal);
        put_back?;
        let facts = lived?;
        closed?;
        let lane = &mut self.lanes[index];
        let geometry = lane.geometry.clone();
        if let Some(past) = &mut lane.past {
            past.facts = Some(facts.clone());
        }
        self.stores[ground].drop_caches()?;
        let mut kept = KeptImage::keep(draft, &self.stores[ground].carrying_images(), (geometry, facts), stop)?;
        count(self.bytes_of_images(&self.lanes[index]));
        match self.read_beside_fresh(index, ground, journal, stop).and_then(|read| kept.learn(read)) {
            Err(LaneFailure::Interrupted) => return Err(LaneFailure::Interrupted),
            // A figure less, and no reason to end a race; what stays mounted ends it by itself.
            Err(error) if self.lanes[index].open.is_none() => {
                let name = &self.lanes[index].name;
                self.remarks.push(format!("what lane {name} lived was not read beside a fresh copy: {error}"));
            }
            done => done?,
        }
        count(copied_at_most(&self.lanes[index]));
        Ok(kept)
    }

    fn opened_for_life(&self, index: usize) -> Result<(&Life, &OpenLane), LaneFailure> {
        match (&self.lanes[index].past, &self.lanes[index].open) {
            (Some(past), Some(opened)) => Ok((&past.life, opened)),
            _ => Err(failed("it is not open; this is a fault of Fairlane, report it")),
        }
    }

    fn live_here(&self, index: usize, count: &mut dyn FnMut(u64), stop: &AtomicBool) -> Result<AgedLane, LaneFailure> {
        let (life, opened) = self.opened_for_life(index)?;
        let mut told = 0;
        live_below(&opened.base, life, stop, &mut |bytes_written| {
            count(bytes_written.saturating_sub(told));
            told = told.max(bytes_written);
        })
    }

    /// Has the guest of an open lane live the life, and asks how far it is until it ends.
    fn live_in_guest(
        &self,
        index: usize,
        count: &mut dyn FnMut(u64),
        stop: &AtomicBool,
    ) -> Result<AgedLane, LaneFailure> {
        let (life, opened) = self.opened_for_life(index)?;
        let Some(guest) = &opened.guest else {
            return Err(failed("its guest is gone; race again"));
        };
        let (target, life) = (opened.directory.clone(), Box::new(life.clone()));
        guest.ask(&Ask::Live { target: target.clone(), life }, stop)?;
        let mut told = 0;
        let mut read = |answer: Answer| match answer {
            Answer::Living { bytes_written, work } => {
                count(bytes_written.saturating_sub(told));
                told = told.max(bytes_written);
                Ok(Step::GoesOn(work))
            }
            Answer::Lived { facts } => Ok(Step::Ended(*facts)),
            other => Err(failed(format!("the guest answered {other:?} when it was asked how old a lane is"))),
        };
        until_ended(guest, (&Ask::Lived { target }, "the life of its filesystem"), stop, &mut read)
    }

    /// Writes a lane's kept image over a disk, in place of a mkfs; answers the seconds. `None`: the lane is fresh, or its image is
    /// being made.
    pub(crate) fn restore(&self, index: usize, ground: usize, stop: &AtomicBool) -> Result<Option<f64>, LaneFailure> {
        let Some(kept) = self.lanes[index].past.as_ref().and_then(|past| past.kept.as_ref()) else { return Ok(None) };
        let started = std::time::Instant::now();
        kept.lay(&self.stores[ground].carrying_images(), stop)?;
        self.forget_other_copies(index);
        // The disk of user-mode Linux is the host's page cache, where a fresh lane's files lie too.
        self.warm(ground, self.settings.lane_size.0);
        Ok(Some(started.elapsed().as_secs_f64()))
    }

    /// A filesystem on several disks stays known to this machine's kernel when it was unmounted, where it lay then; the older image
    /// that was laid elsewhere would be taken for a part of that one. In a guest its worker does the same.
    fn forget_other_copies(&self, index: usize) {
        let lane = &self.lanes[index];
        let Contestant::Row(row) = &lane.contestant else { return };
        let Some(forget) = row.forget.filter(|_| lane.guest.is_none() && lane.spec.devices > 1) else { return };
        for store in self.stores.iter().filter(|store| store.guest_disks().is_none()) {
            for device in store.block_device().into_iter().chain(store.further_block_devices()) {
                // One that is mounted is another lane's.
                let _ = forget(&device);
            }
        }
    }

    /// What is done for a lane's past, for `--dry-run`.
    pub(crate) fn describe_past(&self, index: usize) -> Option<String> {
        let lane = &self.lanes[index];
        let past = lane.past.as_ref()?;
        Some(format!(
            "{}: write and remove about {} of files in it, and keep its image in {}, then read it beside a fresh copy; or take the \
             image that is kept there",
            lane.name,
            model::units::human_bytes(forecast(&past.life) as f64),
            self.settings.undo.join(kept_images::FOLDER).display(),
        ))
    }
}

/// Lives a life in a folder of its own below a mounted filesystem; `told` hears how many bytes were written so far.
///
/// # Errors
/// [`LaneFailure::Interrupted`] after `stop`, and what the life cannot do.
pub(crate) fn live_below(
    base: &Path,
    life: &Life,
    stop: &AtomicBool,
    told: &mut dyn FnMut(u64),
) -> Result<AgedLane, LaneFailure> {
    let tree = make_tree(base)?;
    let mut watch = |progress: &Progress| {
        told(progress.bytes_written);
        if stop.load(Ordering::Relaxed) { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    let lived = aging::live(tree.as_fd(), life, &mut watch).map_err(|error| failed(error.to_string()))?;
    if stop.load(Ordering::Relaxed) {
        return Err(LaneFailure::Interrupted);
    }
    // Rounds begin with a mounted image, of which an unmount gave this back.
    crate::filesystems::free_allocated_ahead(&tree);
    let measures = aging::measure(tree.as_fd(), life, stop);
    match stop.load(Ordering::Relaxed) {
        true => Err(LaneFailure::Interrupted),
        false => Ok(facts_of(life, &lived, &measures)),
    }
}

/// What a filesystem has left for root, bytes: all that is free, but where it would give much less of it than a reserve for root
/// explains. Btrfs counts room that its metadata keeps as free.
fn free_for_root(measures: &Measures) -> u64 {
    let free = measures.filesystem_bytes.saturating_sub(measures.filesystem_used_bytes);
    let reserve = (measures.filesystem_bytes as f64 * SHARE_FOR_ROOT) as u64;
    match free.saturating_sub(measures.filesystem_available_bytes) <= reserve {
        true => free,
        false => measures.filesystem_available_bytes,
    }
}

/// The folder of the life, made in the lane's root.
fn make_tree(base: &Path) -> Result<OwnedFd, LaneFailure> {
    let made =
        open(base, FOLDER, Mode::empty()).and_then(|root| rustix::fs::mkdirat(&root, TREE, Mode::from_raw_mode(0o755)));
    made.map_err(|error| cannot(format!("make the folder {TREE} in {}", base.display()), std::io::Error::from(error)))?;
    open_tree(base)
}

/// What tells one version of a mkfs, and of its defaults, from another: sizes and times of their files.
fn mkfs_of(command: &[String]) -> Vec<(u64, i64)> {
    let program = command.first().and_then(|program| crate::command::find_program(program));
    let files = program.into_iter().chain(["/etc/mke2fs.conf".into()]);
    files.filter_map(|path| path.metadata().ok()).map(|of| (of.len(), of.mtime())).collect()
}

/// Bytes of the fresh copy that what was lived is read beside; of a fresh lane there is none.
fn copied_at_most(lane: &LaneState) -> u64 {
    let Some(past) = &lane.past else { return 0 };
    let full = past.life.full.unwrap_or(past.life.profile.settle[0]);
    (past.life.capacity_bytes as f64 * full.min((1.0 - full) * measures::FRESH_SHARE)) as u64
}

fn forecast(life: &Life) -> u64 {
    let (least, most) = life.forecast_bytes();
    if most.is_finite() { most as u64 } else { least as u64 }
}

fn free_pieces(class: &FreeClass) -> FreePieces {
    FreePieces { from_bytes: class.from_bytes, pieces: class.pieces, bytes: class.bytes }
}

fn alike(of: ChiSquared) -> AlikeFiles {
    let ChiSquared { statistic, degrees, probability, misplaced_share } = of;
    AlikeFiles { chi_squared: statistic, degrees, probability, misplaced_share }
}

/// What is said of a lane that is not filled as its life says, and so as other lanes of that life; `None`: it is.
fn filled_otherwise(name: &str, facts: &AgedLane) -> Option<String> {
    let reached = facts.reached_share.filter(|reached| (reached - facts.used_share).abs() > MOST_OFF)?;
    let remedy = match facts.refused_for_space {
        0 => "; no act was refused for want of room: `fairlane clean --aged`, and it is made anew".to_owned(),
        acts => format!(
            " (acts that found no room: {acts}); raise --lane-size, or have it filled less, by +full= or another profile"
        ),
    };
    Some(format!(
        "lane {name} is not filled as its life says, and so perhaps not as others of that life: files take {:.1} % of it and not \
         {:.1} %{remedy}",
        reached * 100.0,
        facts.used_share * 100.0
    ))
}

fn facts_of(life: &Life, lived: &Lived, measures: &Measures) -> AgedLane {
    let share = |part: u64, all: u64| if all == 0 { 0.0 } else { part as f64 / all as f64 };
    AgedLane {
        states: String::new(),
        seed: life.seed,
        life: life.key(),
        bytes_written: lived.bytes_written,
        overwrites: lived.overwrites,
        refused_for_space: lived.refused_for_space + lived.skipped_for_space,
        files: measures.files,
        bytes: measures.bytes,
        allocated_bytes: measures.differing_files.map(|_| measures.allocated_bytes),
        used_share: lived.used_share,
        // Of a tree that was not walked to its end it is not known.
        reached_share: measures.differing_files.map(|_| share(measures.used_bytes, life.capacity_bytes)),
        differing_files: measures.differing_files,
        sizes: measures.sizes.map(alike),
        ages: measures.ages.map(alike),
        image: String::new(),
        free_bytes: free_for_root(measures),
        filesystem_used_share: share(measures.filesystem_used_bytes, measures.filesystem_bytes),
        extents_per_file: measures.extents_per_file,
        layout_score: measures.layout_score,
        dynamic_layout_score: measures.dynamic_layout_score,
        directories_split: measures.directories_split,
        free_space: measures.free_extents.iter().flatten().map(free_pieces).collect(),
        cold_read: None,
        from_cache: false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lane_that_is_not_as_full_as_its_life_is_named_from_half_a_percent_on() {
        let of =
            |reached_share| AgedLane { used_share: 0.8, reached_share, refused_for_space: 7, ..AgedLane::default() };
        assert_eq!(
            [None, Some(0.8), Some(0.7951)].map(|reached| filled_otherwise("a", &of(reached))),
            [const { None::<String> }; 3]
        );
        let said = filled_otherwise("a", &of(Some(0.79))).unwrap();
        assert!(said.contains("79.0 % of it and not 80.0 % (acts that found no room: 7)"), "{said}");
    }

    #[test]
    fn a_reserve_for_root_is_free_and_room_that_is_kept_for_metadata_is_not() {
        let of = |used: u64, available: u64| Measures {
            filesystem_bytes: 4000,
            filesystem_used_bytes: used,
            filesystem_available_bytes: available,
            ..Measures::default()
        };
        assert_eq!(free_for_root(&of(3200, 600)), 800);
        assert_eq!(free_for_root(&of(3200, 800)), 800);
        assert_eq!(free_for_root(&of(3300, 0)), 0);
    }
}
