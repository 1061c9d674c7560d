//! The same work on an ordinary image, for its speed. The lanes take turns on one image that was written in
//! full, in an order that turns from round to round.

use super::bench::{Bench, unmount};
use super::cannot;
use crate::commands::lane_failure;
use crate::failure::Failure;
use crashes::work::{Kind, Terms};
use lanes::Specimen;
use lanes::image::Image;
use lanes::loop_device::LoopDevice;
use model::durability::Speed;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

/// How often each lane does each kind of work.
const ROUNDS: usize = 3;

/// Measures every lane at every kind of work.
///
/// # Errors
/// What the machine says; interrupted.
pub fn measure(
    bench: &mut Bench,
    specimens: &[Specimen],
    kinds: &[&Kind],
    seed: u64,
    lane_bytes: u64,
    stop: &AtomicBool,
) -> Result<Vec<Speed>, Failure> {
    let path = bench.path("ordinary");
    let image = Image::create(&path, lane_bytes, seed, &mut |_| {}, stop).map_err(lane_failure)?;
    let disk = bench.loop_place(path.clone())?;
    let lane = bench.mount_place("ordinary-lane")?;
    let mut speeds: Vec<Speed> = Vec::new();
    for specimen in specimens {
        speeds.extend(kinds.iter().map(|kind| Speed {
            lane: specimen.name().to_owned(),
            workload: kind.name.to_owned(),
            records_per_second: Vec::new(),
        }));
    }
    let mut result = Ok(());
    'rounds: for round in 0..ROUNDS {
        for turn in 0..specimens.len() {
            let place = (round + turn) % specimens.len();
            let one = visit(&specimens[place], &image, &lane.path, kinds, seed + round as u64, stop);
            match one {
                Ok(rates) => {
                    for (index, rate) in rates.into_iter().enumerate() {
                        speeds[place * kinds.len() + index].records_per_second.push(rate);
                    }
                }
                Err(failure) => {
                    result = Err(failure);
                    break 'rounds;
                }
            }
        }
    }
    bench.clear(lane)?;
    bench.clear(disk)?;
    std::fs::remove_file(&path).map_err(cannot("remove the ordinary image"))?;
    result.map(|()| speeds)
}

/// One lane, freshly made.
fn visit(
    specimen: &Specimen,
    image: &Image,
    lane: &Path,
    kinds: &[&Kind],
    seed: u64,
    stop: &AtomicBool,
) -> Result<Vec<f64>, Failure> {
    image.wipe_signatures().map_err(lane_failure)?;
    let mut device = LoopDevice::attach(image.path(), image.direct_io_alignment()).map_err(lane_failure)?;
    let worked: Result<Vec<f64>, Failure> = (|| {
        specimen.format(&device.path(), &[], stop).map_err(lane_failure)?;
        // mkfs leaves parts unwritten, which would be paid for by whoever writes there first.
        device.sync().map_err(lane_failure)?;
        image.solidify().map_err(lane_failure)?;
        device.drop_cache().map_err(lane_failure)?;
        specimen.mount(&device.path(), lane).map_err(lane_failure)?;
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
    let terms = Terms::of(kind.records, seed);
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
