//! How long laying a kept image takes beside laying a fresh one, which a race does once for each lane.

use crate::grounds::folder_in;
use aging::{Life, Profile, Until};
use anyhow::{Context, Result, anyhow};
use lanes::image::Image;
use lanes::{Journal, LaneSet, Settings, undo};
use model::Bytes;
use model::plan::Ground;
use model::throttle::Throttles;
use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

/// Times that each of the two is laid.
const PAIRS: u64 = 10;
/// What a lane without a size has for `+aged` and suite `quick`.
const LANE_BYTES: Bytes = Bytes(4 << 30);
/// What `+aged` is.
const OVERWRITES: f64 = 3.0;

/// Has a lane live, and prints the seconds of both in turns, with their ratio.
pub fn print(lane: &str) -> Result<()> {
    // Beside the images of the race: on the same disk.
    let folder = folder_in(".")?.canonicalize()?;
    let printed = print_in(lane, &folder);
    std::fs::remove_dir_all(&folder)?;
    printed
}

fn print_in(lane: &str, folder: &Path) -> Result<()> {
    let run_id = format!("performance-{}", std::process::id());
    let life = Life {
        profile: Profile::named("churn")?,
        seed: 1,
        capacity_bytes: LANE_BYTES.0,
        until: Until::Overwrites(OVERWRITES),
        full: None,
    };
    let undo = undo::directory()?;
    let mut lane_set = LaneSet::check(Settings {
        specs: vec![lane.parse().map_err(|error| anyhow!("{error}"))?],
        with_self: false,
        ground: Ground::Images(folder.to_owned()),
        lane_size: LANE_BYTES,
        run_id: run_id.clone(),
        seed: 1,
        erase: Vec::new(),
        largest_work: lanes::LargestWork { bytes: 64 << 20, ..Default::default() },
        largest_work_without_holes: lanes::LargestWork { bytes: 64 << 20, ..Default::default() },
        terminal: false,
        throttles: Throttles::default(),
        guest: Default::default(),
        program: "/proc/self/exe".into(),
        trace: None,
        lives: vec![Some(life)],
        undo: undo.clone(),
    })?;
    let mut journal = Journal::begin(&undo, &run_id)?;
    let never = AtomicBool::new(false);
    let measured = lane_set
        .build(&mut journal, &mut |_, _| {}, &never)
        .map_err(anyhow::Error::from)
        .and_then(|()| in_turns(&mut lane_set, &mut journal, folder));
    lane_set.teardown(&mut journal).and_then(|()| journal.finish())?;
    table(lane, &measured?);
    Ok(())
}

/// Seconds of the fresh image and of the kept one, pair by pair.
fn in_turns(lane_set: &mut LaneSet, journal: &mut Journal, folder: &Path) -> Result<Vec<[f64; 2]>> {
    let never = AtomicBool::new(false);
    let mut pairs = Vec::new();
    for pair in 0..PAIRS {
        let mut seconds = [0.0; 2];
        // Which of the two comes first alternates.
        for which in [pair % 2, (pair + 1) % 2] {
            seconds[which as usize] = match which {
                0 => fresh(folder, pair, &never)?,
                _ => {
                    let opened = lane_set.open(0, lane_set.store_for(0, 0), journal, &never)?;
                    lane_set.close(0, journal)?;
                    *opened.phases_seconds.get("restore").context("the lane was not laid from what is kept")?
                }
            };
        }
        pairs.push(seconds);
    }
    Ok(pairs)
}

/// Seconds until an image of a lane's size is written in full and synced; it is removed then.
fn fresh(folder: &Path, seed: u64, never: &AtomicBool) -> Result<f64> {
    let inner = folder.join("fresh");
    std::fs::create_dir(&inner)?;
    let begun = Instant::now();
    let made = Image::create(&inner.join("image"), LANE_BYTES.0, seed, &mut |_| {}, never).map(drop);
    let seconds = begun.elapsed().as_secs_f64();
    std::fs::remove_dir_all(&inner)?;
    made?;
    Ok(seconds)
}

fn table(lane: &str, pairs: &[[f64; 2]]) {
    println!("| pair | fresh image, s | {lane} laid, s | laid by fresh |");
    println!("| ---: | ---: | ---: | ---: |");
    for (number, [fresh, laid]) in (1..).zip(pairs) {
        println!("| {number} | {fresh:.2} | {laid:.2} | {:.2} |", laid / fresh);
    }
    let mut ratios: Vec<f64> = pairs.iter().map(|[fresh, laid]| laid / fresh).collect();
    ratios.sort_by(f64::total_cmp);
    println!(
        "\nmedian of the ratios: {:.2} ({:.2} to {:.2})",
        ratios[ratios.len() / 2],
        ratios[0],
        ratios[ratios.len() - 1]
    );
}
