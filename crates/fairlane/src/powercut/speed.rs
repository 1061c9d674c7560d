//! The same work on an ordinary image, for its speed. The lanes take turns on one image that was written in
//! full, in an order that turns from round to round.

use super::cannot;
use super::scratch_space::{ScratchSpace, unmount};
use crate::commands::lane_failure;
use crate::failure::{Failure, Status};
use crashes::work::{Kind, Terms};
use lanes::SingleLane;
use lanes::image::Image;
use lanes::loop_device::LoopDevice;
use model::durability::{Failed, Speed};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

/// How often each lane does each kind of work.
const ROUNDS: usize = 3;

/// Measures every lane at every kind of work. A lane that fails has no figures; the others go on.
///
/// # Errors
/// What the machine says of the image; interrupted.
pub fn measure(
    scratch: &mut ScratchSpace,
    specimens: &[&SingleLane],
    kinds: &[&Kind],
    seed: u64,
    lane_bytes: u64,
    stop: &AtomicBool,
) -> Result<(Vec<Speed>, Vec<Failed>), Failure> {
    let path = scratch.path("ordinary");
    let image = Image::create(&path, lane_bytes, seed, &mut |_| {}, stop).map_err(lane_failure)?;
    let disk = scratch.loop_place(path.clone())?;
    let lane = scratch.mount_place("ordinary-lane")?;
    let mut speeds: Vec<Speed> = Vec::new();
    for single_lane in specimens {
        speeds.extend(kinds.iter().map(|kind| Speed {
            lane: single_lane.name().to_owned(),
            workload: kind.name.to_owned(),
            records_per_second: Vec::new(),
        }));
    }
    let mut result = Ok(());
    let mut failed: Vec<Failed> = Vec::new();
    'rounds: for round in 0..ROUNDS {
        for turn in 0..specimens.len() {
            let place = (round + turn) % specimens.len();
            let name = specimens[place].name();
            if failed.iter().any(|failed| failed.lane == name) {
                continue;
            }
            let one = visit(specimens[place], &image, &lane.path, kinds, seed + round as u64, stop);
            match one {
                Ok(rates) => {
                    for (index, rate) in rates.into_iter().enumerate() {
                        speeds[place * kinds.len() + index].records_per_second.push(rate);
                    }
                }
                Err(failure) if failure.status == Status::Interrupted || !is_free(&lane.path) => {
                    result = Err(failure);
                    break 'rounds;
                }
                Err(Failure { message: reason, .. }) => {
                    failed.push(Failed { lane: name.to_owned(), at: "speed".to_owned(), reason });
                }
            }
        }
    }
    scratch.clear(lane)?;
    scratch.clear(disk)?;
    std::fs::remove_file(&path).map_err(cannot("remove the ordinary image"))?;
    speeds.retain(|speed| failed.iter().all(|failed| failed.lane != speed.lane));
    result.map(|()| (speeds, failed))
}

/// Whether nothing is mounted there that the next lane would stand on.
fn is_free(path: &Path) -> bool {
    lanes::mount::is_mounted(path).is_ok_and(|mounted| !mounted)
}

/// One lane, freshly made.
fn visit(
    single_lane: &SingleLane,
    image: &Image,
    lane: &Path,
    kinds: &[&Kind],
    seed: u64,
    stop: &AtomicBool,
) -> Result<Vec<f64>, Failure> {
    image.wipe_signatures().map_err(lane_failure)?;
    let mut device = LoopDevice::attach(image.path(), image.direct_io_alignment()).map_err(lane_failure)?;
    let worked: Result<Vec<f64>, Failure> = (|| {
        single_lane.format(&device.path(), &[], stop).map_err(lane_failure)?;
        // mkfs leaves parts unwritten, which would be paid for by whoever writes there first.
        device.sync().map_err(lane_failure)?;
        image.solidify().map_err(lane_failure)?;
        device.drop_cache().map_err(lane_failure)?;
        single_lane.mount(&device.path(), lane).map_err(lane_failure)?;
        kinds.iter().map(|kind| rate(kind, lane, seed, stop)).collect()
    })();
    let unmounted = unmount(lane);
    let detached = device.detach().map_err(lane_failure);
    let rates = worked?;
    unmounted.and(detached).map(|()| rates)
}

/// Acknowledged records per second.
fn rate(kind: &Kind, lane: &Path, seed: u64, stop: &AtomicBool) -> Result<f64, Failure> {
    let failed = |error| cannot(format!("do the work {}", kind.name))(error);
    let folder = lane.join(kind.name);
    std::fs::create_dir(&folder).map_err(failed)?;
    let terms = Terms::new(kind.records, seed);
    (kind.prepare)(&folder, terms).map_err(failed)?;
    let started = Instant::now();
    let mut records = 0;
    (kind.run)(&folder, terms, &mut |record| {
        records = record;
        match stop.load(Ordering::Relaxed) {
            true => Err(std::io::Error::from(std::io::ErrorKind::Interrupted)),
            false => Ok(()),
        }
    })
    .map_err(|error| if stop.load(Ordering::Relaxed) { Failure::interrupted() } else { failed(error) })?;
    Ok(records as f64 / started.elapsed().as_secs_f64())
}
