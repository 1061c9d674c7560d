//! What the engine's own loop costs: nanoseconds per operation of the null engine, and a cached
//! 4 KiB read through the sync engine against a bare loop of pread and one look at the clock.
//!
//! The two are measured in turns, and the median of each pair's ratio is printed, so that a busy
//! machine hits both alike. Run it with `cargo run --release -p engine --example loop_cost`.

use engine::clock::Clock;
use engine::{EngineError, Place, Work};
use model::Bytes;
use model::agent::Target;
use model::workload::{Io, Kind, Pattern, Workload};
use std::error::Error;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

const BLOCK_BYTES: u64 = 4096;
const FILE_BYTES: u64 = 16 << 20;
const PAIRS: usize = 60;
const SECONDS: f64 = 0.02;

fn main() -> Result<(), Box<dyn Error>> {
    for (name, pattern, depth) in [
        ("null, random reads, iodepth 1 ", Pattern::RandRead, 1),
        ("null, random reads, iodepth 32", Pattern::RandRead, 32),
        ("null, writes, iodepth 1       ", Pattern::Write, 1),
    ] {
        let mut work = prepare(&Place::Null, pattern, depth)?;
        let costs = (0..PAIRS).map(|_| nanoseconds_per_operation(&mut *work, &Place::Null));
        println!("{name}  {:6.1} ns per operation", median(costs.collect::<Result<_, _>>()?));
    }
    let folder = tempfile::tempdir()?;
    let place = Place::open(&Target::Directory(folder.path().to_owned()))?;
    let mut work = prepare(&place, Pattern::Read, 1)?;
    let file = folder.path().join("fairlane.contents");
    // Once through the page cache, so that both loops read from it.
    std::fs::read(&file)?;
    let (mut bare, mut ours) = (Vec::new(), Vec::new());
    for _ in 0..PAIRS {
        bare.push(bare_loop(&file)?);
        ours.push(nanoseconds_per_operation(&mut *work, &place)?);
    }
    let speeds = bare.iter().zip(&ours).map(|(bare, ours)| bare / ours).collect();
    println!("bare loop, cached 4 KiB pread   {:6.1} ns per operation", median(bare));
    println!("sync engine, the same           {:6.1} ns per operation", median(ours));
    println!("sync engine / bare loop         {:6.3} of its speed (aim: 0.95)", median(speeds));
    Ok(())
}

fn prepare(place: &Place, rw: Pattern, iodepth: u32) -> Result<Box<dyn Work>, EngineError> {
    let io = Io {
        rw,
        bs: Bytes(BLOCK_BYTES),
        size: Bytes(FILE_BYTES),
        ioengine: if iodepth == 1 { "sync" } else { "io_uring" }.to_owned(),
        iodepth,
        direct: false,
        fdatasync: 0,
        slices: 1,
        slice_seconds: SECONDS,
        ..Io::default()
    };
    let workload = Workload { name: "cost".into(), title: "cost".into(), kind: Kind::Io(Box::new(io)) };
    engine::prepare(place, &workload, 1, Arc::new(AtomicBool::new(false)))
}

fn nanoseconds_per_operation(work: &mut dyn Work, place: &Place) -> Result<f64, EngineError> {
    let window = work.slice(place, 0.01, SECONDS, &mut ())?.remove(0);
    Ok(window.seconds * 1e9 / window.operations as f64)
}

/// The least that any closed loop must do: read, look at the clock, go on.
fn bare_loop(path: &Path) -> Result<f64, Box<dyn Error>> {
    let file = std::fs::File::open(path)?;
    let mut block = vec![0; BLOCK_BYTES as usize];
    let (mut offset, mut operations) = (0, 0u64);
    let begun = Clock::get().now();
    let until = begun + (SECONDS * 1e9) as u64;
    loop {
        file.read_exact_at(&mut block, offset)?;
        offset = (offset + BLOCK_BYTES) % FILE_BYTES;
        operations += 1;
        let now = Clock::get().now();
        if now >= until {
            return Ok((now - begun) as f64 / operations as f64);
        }
    }
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    eprint!("(min {:.1} max {:.1}) ", values[0], values[values.len() - 1]);
    values[values.len() / 2]
}
