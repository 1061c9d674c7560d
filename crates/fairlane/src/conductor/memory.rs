//! What the memory can do: no figure above it can be true.

use std::sync::Barrier;
use std::time::Instant;

/// Larger than the caches that one core has for itself.
const BUFFER_BYTES: usize = 32 << 20;
const COPIES: usize = 4;

/// Bytes per second that all CPUs copy together, in a twentieth of a second or so; 0 where it could
/// not be measured.
pub fn copy_bytes_per_second(cpus: u32) -> f64 {
    // Beyond this many the memory is busy anyway, and their buffers would take gigabytes.
    let threads = cpus.clamp(1, 32) as usize;
    let together = Barrier::new(threads);
    let copy = || {
        let from = vec![1_u8; BUFFER_BYTES];
        let mut to = vec![2_u8; BUFFER_BYTES];
        together.wait();
        let begun = Instant::now();
        for _ in 0..COPIES {
            to.copy_from_slice(std::hint::black_box(&from));
            std::hint::black_box(&mut to);
        }
        (begun, Instant::now())
    };
    let times: Vec<(Instant, Instant)> = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..threads).map(|_| scope.spawn(copy)).collect();
        workers.into_iter().filter_map(|worker| worker.join().ok()).collect()
    });
    let begun = times.iter().map(|(begun, _)| *begun).min();
    let ended = times.iter().map(|(_, ended)| *ended).max();
    match (begun, ended) {
        (Some(begun), Some(ended)) if ended > begun => {
            (times.len() * COPIES * BUFFER_BYTES) as f64 / (ended - begun).as_secs_f64()
        }
        _ => 0.0,
    }
}
