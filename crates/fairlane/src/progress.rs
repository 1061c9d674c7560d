//! How far a race is, for whoever watches it (`fairlane serve`).
//!
//! The record tells it round by round only. Between rounds a race keeps one small file up to date, in
//! shared memory: on a disk it would be foreign I/O beside the race, and XDG_RUNTIME_DIR is missing
//! under sudo, in cron and in containers. It is replaced by a rename before a step begins, never inside
//! a measured window, and its writer holds a lock on it, so that a dead writer's file is told from a
//! living one's. Nothing depends on it: where it cannot be written, nobody can watch, and the race goes
//! on.

use crate::owned;
use crate::owner::Owner;
use crate::state::is_locked;
use model::event::Event;
use model::page::{Live, LiveRate};
use model::record::Record;
use model::trial::{Outcome, Trial};
use serde::{Deserialize, Serialize};
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// POSIX shared memory: kept in memory on every Linux, and there for every user.
const FOLDER: &str = "/dev/shm";
/// What statfs calls a filesystem in memory (linux/magic.h).
const TMPFS_MAGIC: u64 = 0x0102_1994;
/// Lanes that take turns at one phase change more often than anybody looks.
const BETWEEN_TURNS: Duration = Duration::from_millis(250);
/// No file of ours is larger.
const LARGEST_BYTES: u64 = 4 << 20;
/// A draft is renamed at once; one this old was left by a race that died.
const DRAFT_LIVES: Duration = Duration::from_secs(60);

/// What the file holds.
#[derive(Serialize, Deserialize)]
struct Note {
    /// The record's folder: device and inode, because a path may be spelled in many ways.
    folder: (u64, u64),
    /// The monotonic clock when it was written, in seconds.
    at_seconds: f64,
    /// How far the race was.
    live: Live,
}

/// The trace that a race leaves while it runs; gone when it is dropped.
pub struct Progress {
    path: PathBuf,
    draft: PathBuf,
    folder: (u64, u64),
    live: Live,
    raced_before_seconds: f64,
    begun: Instant,
    written: Instant,
    /// The file as it was last written: it holds the lock.
    kept: Option<File>,
}

impl Progress {
    /// Begins the trace of a race whose record is open. `None` where there is no shared memory, or where
    /// the record's name is no text.
    pub fn begin(run_id: &str, path: &Path, record: &Record, raced_before_seconds: f64) -> Option<Progress> {
        if rustix::fs::statfs(FOLDER).ok()?.f_type as u64 != TMPFS_MAGIC {
            return None;
        }
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let owner = Owner::current();
        let name = prefix(&owner) + run_id;
        let plan = &record.header.plan;
        let live = Live::Running {
            record: path.file_name()?.to_str()?.to_owned(),
            started: record.header.started.clone(),
            suite: plan.suite.clone(),
            workload: plan.workloads.first().map_or_else(String::new, |workload| workload.title.clone()),
            number: 1,
            of: plan.workloads.len() as u32,
            round: 0,
            lane: String::new(),
            phase: String::new(),
            elapsed_seconds: raced_before_seconds,
            budget_seconds: plan.budget_seconds,
            rates: Vec::new(),
            trials: record.trials.len() as u32,
        };
        let mut progress = Progress {
            path: Path::new(FOLDER).join(format!("{name}.live")),
            draft: Path::new(FOLDER).join(format!("{name}.new")),
            folder: identity(folder)?,
            live,
            raced_before_seconds,
            begun: Instant::now(),
            written: Instant::now(),
            kept: None,
        };
        progress.write();
        Some(progress)
    }

    /// Takes note of what happens.
    pub fn event(&mut self, event: &Event) {
        let Live::Running { workload, number, round, lane, phase, rates, trials, .. } = &mut self.live else { return };
        let mut turn = false;
        match event {
            Event::WorkloadStarted { title, number: place, .. } => {
                workload.clone_from(title);
                *number = *place;
                *round = 0;
                lane.clear();
                phase.clear();
                rates.clear();
            }
            Event::RoundStarted { title, number: place, round: begun, .. } => {
                if *number != *place {
                    rates.clear();
                }
                workload.clone_from(title);
                *number = *place;
                *round = *begun;
                lane.clear();
                phase.clear();
            }
            Event::LaneStarted { lane: at_work, phase: does } => {
                turn = phase.as_str() == *does;
                lane.clone_from(at_work);
                *phase = (*does).to_owned();
            }
            Event::RoundRecorded { rates: of_lanes, trials: in_all } => {
                rates.clone_from(of_lanes);
                *trials = *in_all;
                lane.clear();
                phase.clear();
            }
            _ => return,
        }
        if !turn || self.written.elapsed() >= BETWEEN_TURNS {
            self.write();
        }
    }

    fn write(&mut self) {
        if let Live::Running { elapsed_seconds, .. } = &mut self.live {
            *elapsed_seconds = self.raced_before_seconds + self.begun.elapsed().as_secs_f64();
        }
        match self.replace() {
            Ok(file) => self.kept = Some(file),
            Err(_) => _ = owned::remove(&self.draft),
        }
        self.written = Instant::now();
    }

    /// The draft is locked before it gets its name: under that name it never looks dead.
    fn replace(&self) -> io::Result<File> {
        let note = Note { folder: self.folder, at_seconds: now_seconds(), live: self.live.clone() };
        let text = serde_json::to_vec(&note)?;
        let mut file = owned::create_private(&self.draft)?;
        rustix::fs::flock(&file, rustix::fs::FlockOperation::NonBlockingLockExclusive)?;
        file.write_all(&text)?;
        owned::rename_beside(&self.draft, self.path.file_name().unwrap_or_default())?;
        Ok(file)
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        let _ = owned::remove(&self.path);
    }
}

/// The last figure of each lane in a workload, group by group.
pub fn rates(record: &Record, workload: &str) -> Vec<LiveRate> {
    let last = |lane: &str| -> Option<&Trial> {
        let mut back = record.trials.iter().rev();
        back.find(|trial| trial.outcome == Outcome::Ok && trial.workload == workload && trial.lane == lane)
    };
    let trials = record.header.lanes.iter().filter_map(|lane| last(&lane.name));
    let rates = trials.flat_map(|trial| {
        trial.groups.iter().filter_map(|group| {
            Some(LiveRate {
                lane: trial.lane.clone(),
                group: group.name.clone(),
                metric: group.primary_metric.clone(),
                value: *group.metrics.get(&group.primary_metric)?,
                round: trial.round,
            })
        })
    });
    rates.collect()
}

/// The race of this user that is under way with its record in this folder; of several the one that began
/// last. It touches neither the race nor its record.
pub fn running(folder: &Path) -> Live {
    let Some(folder) = identity(folder) else { return Live::Idle };
    let owner = Owner::current();
    let of_folder =
        files(&owner, ".live").filter_map(|path| living(&path, &owner)).filter(|note| note.folder == folder);
    let begun = |live: &Live| match live {
        Live::Running { started, record, .. } => (started.clone(), record.clone()),
        Live::Idle => Default::default(),
    };
    let Some(mut note) = of_folder.max_by_key(|note| begun(&note.live)) else { return Live::Idle };
    if let Live::Running { elapsed_seconds, .. } = &mut note.live {
        *elapsed_seconds += (now_seconds() - note.at_seconds).max(0.0);
    }
    note.live
}

/// Removes what races of this user that died left in shared memory.
pub fn sweep() {
    let owner = Owner::current();
    for path in files(&owner, ".live") {
        let dead = matches!(look(&path, &owner), Some(Look::Dead));
        if dead {
            let _ = owned::remove(&path);
        }
    }
    for path in files(&owner, ".new") {
        let age = fs::symlink_metadata(&path).and_then(|of| of.modified()).ok().and_then(|at| at.elapsed().ok());
        if age.is_some_and(|age| age > DRAFT_LIVES) {
            let _ = owned::remove(&path);
        }
    }
}

/// What a file of progress is found to be.
enum Look {
    /// Its writer lives: the file, to be read.
    Living(File),
    /// Nobody writes it any more.
    Dead,
}

fn look(path: &Path, owner: &Owner) -> Option<Look> {
    // Anybody may put a pipe, a link or a file of theirs under such a name.
    let flags = (rustix::fs::OFlags::NOFOLLOW | rustix::fs::OFlags::NONBLOCK).bits() as i32;
    for _ in 0..5 {
        let file = OpenOptions::new().read(true).custom_flags(flags).open(path).ok()?;
        let of = file.metadata().ok()?;
        if !of.is_file() || ![0, owner.uid()].contains(&of.uid()) || of.len() > LARGEST_BYTES {
            return None;
        }
        if is_locked(&file) {
            return Some(Look::Living(file));
        }
        // Free: its writer died, or has just put a newer one in its place.
        let there = fs::symlink_metadata(path).ok()?;
        if (there.dev(), there.ino()) == (of.dev(), of.ino()) {
            return Some(Look::Dead);
        }
    }
    None
}

fn living(path: &Path, owner: &Owner) -> Option<Note> {
    let Look::Living(file) = look(path, owner)? else { return None };
    let mut text = Vec::new();
    file.take(LARGEST_BYTES).read_to_end(&mut text).ok()?;
    serde_json::from_slice(&text).ok()
}

/// The files of this user's races that end so.
fn files(owner: &Owner, end: &'static str) -> impl Iterator<Item = PathBuf> + use<> {
    let prefix = prefix(owner);
    let ours = move |path: &PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        name.starts_with(&prefix) && name.ends_with(end)
    };
    fs::read_dir(FOLDER).into_iter().flatten().flatten().map(|entry| entry.path()).filter(ours)
}

fn prefix(owner: &Owner) -> String {
    format!("fairlane-{}-", owner.uid())
}

fn identity(folder: &Path) -> Option<(u64, u64)> {
    fs::metadata(folder).ok().map(|of| (of.dev(), of.ino()))
}

/// The monotonic clock, which all processes of a boot share.
fn now_seconds() -> f64 {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::Monotonic);
    now.tv_sec as f64 + now.tv_nsec as f64 / 1e9
}

#[cfg(test)]
mod tests {
    use super::*;

    const RECORD: &str = include_str!("../tests/fixtures/schema1.jsonl");

    fn lane_of(live: &Live) -> (String, String, u32, u32) {
        match live {
            Live::Running { lane, phase, round, trials, .. } => (lane.clone(), phase.clone(), *round, *trials),
            Live::Idle => panic!("nothing runs"),
        }
    }

    fn begin(folder: &Path, run_id: &str) -> Progress {
        let record = Record::parse(RECORD).unwrap();
        Progress::begin(run_id, &folder.join("r.jsonl"), &record, 100.0).expect("/dev/shm is in memory")
    }

    fn id(test: &str) -> String {
        format!("{test}-{}", std::process::id())
    }

    #[test]
    fn a_race_is_seen_in_its_own_folder_as_long_as_it_lasts() {
        let (here, elsewhere) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let mut progress = begin(here.path(), &id("seen"));
        let round = Event::RoundStarted {
            title: "commit".to_owned(),
            number: 2,
            round: 7,
            look_at: 8,
            elapsed_seconds: 1.0,
            budget_seconds: None,
        };
        progress.event(&round);
        progress.event(&Event::LaneStarted { lane: "xfs".to_owned(), phase: "populate" });
        let trials = Record::parse(RECORD).unwrap().trials.len() as u32;
        let live = running(here.path());
        assert_eq!(lane_of(&live), ("xfs".to_owned(), "populate".to_owned(), 7, trials));
        let Live::Running { record, number, elapsed_seconds, .. } = live else { unreachable!() };
        assert_eq!((record.as_str(), number), ("r.jsonl", 2));
        assert!(elapsed_seconds >= 100.0, "what was raced before counts: {elapsed_seconds}");
        assert_eq!(running(elsewhere.path()), Live::Idle);
        assert_eq!(running(&here.path().join("none")), Live::Idle);
        drop(progress);
        assert_eq!(running(here.path()), Live::Idle);
    }

    #[test]
    fn a_phase_is_never_missed_and_turns_within_one_are_not_all_written() {
        let here = tempfile::tempdir().unwrap();
        let mut progress = begin(here.path(), &id("turns"));
        let mut seen = std::collections::BTreeSet::new();
        for turn in 0..1000 {
            progress.event(&Event::LaneStarted { lane: format!("lane {turn}"), phase: "measure" });
            seen.insert(fs::metadata(&progress.path).unwrap().ino());
        }
        assert!(seen.len() < 500, "{} of 1000 turns were written", seen.len());
        for phase in ["sync", "mkfs", "populate", "measure"] {
            progress.event(&Event::LaneStarted { lane: "a".to_owned(), phase });
            assert_eq!(lane_of(&running(here.path())).1, phase);
        }
    }

    #[test]
    fn what_a_dead_race_left_is_not_shown_and_is_swept_away() {
        let here = tempfile::tempdir().unwrap();
        let mut progress = begin(here.path(), &id("dead"));
        let mut alive = begin(here.path(), &id("alive"));
        alive.event(&Event::LaneStarted { lane: "living".to_owned(), phase: "mkfs" });
        // As a death does: the lock is gone, the file stays.
        progress.kept = None;
        // A program that another test is just starting holds a copy of every open file until it has begun, and with it
        // the lock: the file looks alive so long.
        let until = Instant::now() + Duration::from_secs(30);
        while progress.path.exists() && Instant::now() < until {
            sweep();
            std::thread::sleep(Duration::from_millis(5));
        }
        assert!(!progress.path.exists(), "it is never found to be dead");
        assert_eq!(lane_of(&running(here.path())).0, "living");
        assert!(alive.path.exists());
        drop(alive);
        assert_eq!(running(here.path()), Live::Idle);
    }

    #[test]
    fn another_users_file_a_pipe_and_a_link_are_not_read() {
        let here = tempfile::tempdir().unwrap();
        let progress = begin(here.path(), &id("real"));
        let link = Path::new(FOLDER).join(format!("{}{}.live", prefix(&Owner::current()), id("link")));
        std::os::unix::fs::symlink(&progress.path, &link).unwrap();
        let pipe = link.with_extension("pipe.live");
        rustix::fs::mknodat(rustix::fs::CWD, &pipe, rustix::fs::FileType::Fifo, rustix::fs::Mode::RWXU, 0).unwrap();
        let owner = Owner::current();
        assert!(look(&progress.path, &owner).is_some());
        assert!(look(&link, &owner).is_none() && look(&pipe, &owner).is_none());
        if rustix::process::geteuid().is_root() {
            std::os::unix::fs::chown(&progress.path, Some(12_345), None).unwrap();
            assert!(look(&progress.path, &owner).is_none(), "somebody else's");
        }
        sweep();
        fs::remove_file(&link).unwrap();
        fs::remove_file(&pipe).unwrap();
    }

    #[test]
    fn the_last_figure_of_a_lane_is_that_of_its_last_trial_that_counts() {
        let mut record = Record::parse(RECORD).unwrap();
        let name = record.header.plan.workloads[0].name.clone();
        let before = rates(&record, &name);
        assert_eq!(before.len(), record.header.lanes.len(), "{before:?}");
        let mut next = record.trials.iter().rev().find(|trial| trial.workload == name).unwrap().clone();
        next.round = 99;
        let metric = next.groups[0].primary_metric.clone();
        next.groups[0].metrics.insert(metric, 42.0);
        let noisy = Trial { outcome: Outcome::Repeated, round: 100, ..next.clone() };
        let lane = next.lane.clone();
        record.trials.extend([next, noisy]);
        let after = rates(&record, &name);
        let of = after.iter().find(|rate| rate.lane == lane).unwrap();
        assert_eq!((of.value, of.round), (42.0, 99));
        assert_eq!(after.len(), before.len());
    }
}
