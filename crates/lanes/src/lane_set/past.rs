//! Lanes whose filesystems have a past: it is lived once, its image is kept, and every round begins with that image again.

use crate::capacity;
use crate::contestant::Contestant;
use crate::failure::{LaneFailure, cannot, failed, usage};
use crate::kept_images::{self, Draft, Kept, KeptImage};
use crate::lane_set::resolve::Location;
use crate::lane_set::{LaneSet, LaneState, Settings};
use crate::undo::Journal;
use aging::{Life, Lived, Measures, Progress};
use model::Bytes;
use model::aged::{AgedLane, states_line};
use rustix::fs::{Mode, OFlags, open, openat};
use sha2::{Digest, Sha256};
use std::ops::ControlFlow;
use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

/// The folder of a lane that its life lies in.
pub(crate) const TREE: &str = "aged";
/// Of one past a race, and others beside it, have so many images at most.
const MOST_COPIES: u32 = 64;
/// Of what a filesystem says is free so much may be worked on: metadata of the work takes room too.
const SHARE_OF_FREE: f64 = 0.9;

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
        _ if lane.spec.is_stacked() => no("it stands on layers or several disks", "leave the state out"),
        _ if lane.contestant.is_library() => no("a library mounts it", "leave the state out"),
        Location::Image(_) => Ok(()),
        Location::Guest(_) => no("it lives in a guest", "race it on this machine's kernel, or leave the state out"),
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
        self.pasts().map(|past| self.bytes_of_past(past)).fold(0, u64::saturating_add)
    }

    fn bytes_of_past(&self, past: &Past) -> u64 {
        forecast(&past.life).saturating_add(self.settings.lane_size.0)
    }

    /// Bytes that kept images write when all lanes are opened once.
    pub fn restored_bytes(&self) -> u64 {
        self.settings.lane_size.0.saturating_mul(self.pasts().count() as u64)
    }

    /// Lanes with a past.
    pub(crate) fn pasts(&self) -> impl Iterator<Item = &Past> {
        self.lanes.iter().filter_map(|lane| lane.past.as_ref())
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
                    count(self.lanes[index].past.as_ref().map_or(0, |past| self.bytes_of_past(past)));
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
        if !is_known || work as f64 <= free as f64 * SHARE_OF_FREE {
            return Ok(());
        }
        Err(usage(format!(
            "the work needs {}, and its past left {} free in {}; raise --lane-size, or race workloads that need less",
            model::units::human_bytes(work as f64),
            model::units::human_bytes(free as f64),
            lane.contestant.filesystem_name()
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
        let system = rustix::system::uname();
        let kernel = (system.release().to_string_lossy(), system.version().to_string_lossy());
        let above = lane.spec.above.as_ref().map(model::stack::LayerSpec::to_line);
        let all = (
            (lane.contestant.filesystem_name(), custom, above),
            (&lane.mkfs_command, &lane.mount_options),
            kernel,
            (life, self.settings.lane_size.0, copy),
            mkfs_of(&lane.mkfs_command),
        );
        let text = serde_json::to_vec(&all).unwrap_or_default();
        Sha256::digest(&text).iter().take(12).map(|byte| format!("{byte:02x}")).collect()
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
        let lived = self.live_in_open_lane(index, count, stop);
        let closed = self.close(index, journal);
        let facts = lived?;
        closed?;
        let lane = &mut self.lanes[index];
        let geometry = lane.geometry.clone();
        if let Some(past) = &mut lane.past {
            past.facts = Some(facts.clone());
        }
        self.stores[ground].drop_caches()?;
        let images = self.stores[ground].carrying_images();
        let kept = KeptImage::keep(draft, images[0], (geometry, facts), stop)?;
        count(self.settings.lane_size.0);
        Ok(kept)
    }

    fn live_in_open_lane(
        &self,
        index: usize,
        count: &mut dyn FnMut(u64),
        stop: &AtomicBool,
    ) -> Result<AgedLane, LaneFailure> {
        let lane = &self.lanes[index];
        let (Some(past), Some(opened)) = (&lane.past, &lane.open) else {
            return Err(failed("it is not open; this is a fault of Fairlane, report it"));
        };
        let tree = make_tree(&opened.base)?;
        let mut told = 0;
        let mut watch = |progress: &Progress| {
            count(progress.bytes_written.saturating_sub(told));
            told = told.max(progress.bytes_written);
            if stop.load(Ordering::Relaxed) { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        };
        let lived = aging::live(tree.as_fd(), &past.life, &mut watch).map_err(|error| failed(error.to_string()))?;
        if stop.load(Ordering::Relaxed) {
            return Err(LaneFailure::Interrupted);
        }
        Ok(facts_of(&past.life, &lived, &aging::measure(tree.as_fd(), &past.life)))
    }

    /// Writes a lane's kept image over a disk, in place of a mkfs; answers the seconds. `None`: the lane is fresh, or its image is
    /// being made.
    pub(crate) fn restore(&self, index: usize, ground: usize, stop: &AtomicBool) -> Result<Option<f64>, LaneFailure> {
        let Some(kept) = self.lanes[index].past.as_ref().and_then(|past| past.kept.as_ref()) else { return Ok(None) };
        let started = std::time::Instant::now();
        for image in self.stores[ground].carrying_images() {
            kept.lay(image, stop)?;
        }
        Ok(Some(started.elapsed().as_secs_f64()))
    }

    /// What is done for a lane's past, for `--dry-run`.
    pub(crate) fn describe_past(&self, index: usize) -> Option<String> {
        let lane = &self.lanes[index];
        let past = lane.past.as_ref()?;
        Some(format!(
            "{}: write and remove about {} of files in it, and keep its image in {}; or take the image that is kept there",
            lane.name,
            model::units::human_bytes(forecast(&past.life) as f64),
            self.settings.undo.join(kept_images::FOLDER).display()
        ))
    }
}

/// The folder of the life, made in the lane's root.
fn make_tree(base: &Path) -> Result<OwnedFd, LaneFailure> {
    let flags = OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let made = open(base, flags, Mode::empty()).and_then(|root| {
        rustix::fs::mkdirat(&root, TREE, Mode::from_raw_mode(0o755))?;
        openat(&root, TREE, flags, Mode::empty())
    });
    made.map_err(|error| cannot(format!("make the folder {TREE} in {}", base.display()), std::io::Error::from(error)))
}

/// What tells one version of a mkfs, and of its defaults, from another: sizes and times of their files.
fn mkfs_of(command: &[String]) -> Vec<(u64, i64)> {
    use std::os::unix::fs::MetadataExt;
    let program = command.first().and_then(|program| crate::command::find_program(program));
    let files = program.into_iter().chain(["/etc/mke2fs.conf".into()]);
    files.filter_map(|path| path.metadata().ok()).map(|of| (of.len(), of.mtime())).collect()
}

fn forecast(life: &Life) -> u64 {
    let (least, most) = life.forecast_bytes();
    if most.is_finite() { most as u64 } else { least as u64 }
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
        used_share: lived.used_share,
        image: String::new(),
        free_bytes: measures.filesystem_bytes.saturating_sub(measures.filesystem_used_bytes),
        filesystem_used_share: share(measures.filesystem_used_bytes, measures.filesystem_bytes),
        extents_per_file: measures.extents_per_file,
        layout_score: measures.layout_score,
        dynamic_layout_score: measures.dynamic_layout_score,
        from_cache: false,
    }
}
