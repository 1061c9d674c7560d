//! Where the programs run: filesystems on images, and a folder in memory.

use anyhow::{Result, anyhow};
use lanes::{Journal, LaneSet, Settings, undo};
use model::Bytes;
use model::plan::Ground;
use model::throttle::Throttles;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

const LANE_BYTES: Bytes = Bytes(3 << 30);

/// Filesystems on images, mounted together, and everything undone at the end.
pub struct Grounds {
    lane_set: Option<LaneSet>,
    journal: Option<Journal>,
    pub directories: Vec<PathBuf>,
}

impl Grounds {
    pub fn build(names: &[&str]) -> Result<Self> {
        let run_id = format!("performance-{}", std::process::id());
        let specs = names.iter().map(|name| name.parse().map_err(|error| anyhow!("{error}"))).collect::<Result<_>>()?;
        let mut lane_set = LaneSet::check(Settings {
            specs,
            with_self: false,
            ground: Ground::Images(std::env::current_dir()?),
            lane_size: LANE_BYTES,
            run_id: run_id.clone(),
            seed: 1,
            erase: Vec::new(),
            largest_work: lanes::LargestWork { bytes: 1 << 30, ..Default::default() },
            largest_work_without_holes: lanes::LargestWork { bytes: 1 << 30, ..Default::default() },
            terminal: false,
            throttles: Throttles::default(),
            guest: Default::default(),
            program: "/proc/self/exe".into(),
            trace: None,
            lives: Vec::new(),
            undo: undo::directory()?,
        })?;
        let never = AtomicBool::new(false);
        let mut journal = Journal::begin(&undo::directory()?, &run_id)?;
        let mut directories = Vec::new();
        let built = lane_set.build(&mut journal, &mut |_, _| {}, &never).and_then(|()| {
            (0..names.len()).try_for_each(|lane| {
                lane_set.open(lane, lane, &mut journal, &never).map(|opened| directories.push(opened.directory))
            })
        });
        let grounds = Grounds { lane_set: Some(lane_set), journal: Some(journal), directories };
        built?;
        Ok(grounds)
    }
}

impl Drop for Grounds {
    fn drop(&mut self) {
        let (Some(mut lane_set), Some(mut journal)) = (self.lane_set.take(), self.journal.take()) else { return };
        for lane in 0..lane_set.lane_count() {
            if lane_set.is_open(lane)
                && let Err(error) = lane_set.close(lane, &mut journal)
            {
                eprintln!("{error}");
            }
        }
        if let Err(error) = lane_set.teardown(&mut journal).and_then(|()| journal.finish()) {
            eprintln!("{error}; fairlane clean removes it");
        }
    }
}

/// A folder of this process; who makes it removes it.
pub fn folder_in(parent: &str) -> Result<PathBuf> {
    let path = Path::new(parent).join(format!("fairlane-performance-{}", std::process::id()));
    std::fs::create_dir(&path)?;
    Ok(path)
}
