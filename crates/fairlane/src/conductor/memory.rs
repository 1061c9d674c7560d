//! What the CPUs can copy: no figure above it can be of data that was touched.

use std::time::Instant;

/// What a thread copies from, and to: both together stay in the cache that a core has for itself, because
/// what is copied there is faster than anything that comes out of memory or a page cache.
const BUFFER_BYTES: usize = 128 << 10;
/// Copies of it that are timed together.
const COPIES: usize = 256;
/// Passes of which the best counts: the others may have been disturbed.
const PASSES: usize = 8;
/// Threads at most: 64 MiB of buffers.
const MOST_THREADS: usize = 256;
/// Of a thread that copies and nothing else.
const STACK_BYTES: usize = 64 << 10;

/// Bytes per second that all CPUs copy together at their best, measured in a twentieth of a second or so;
/// 0 where it could not be measured. The CPUs beyond the 256th are taken to be like the others.
pub fn copy_bytes_per_second(cpus: u32) -> f64 {
    let cpus = (cpus as usize).max(1);
    let threads = cpus.min(MOST_THREADS);
    copied(threads, BUFFER_BYTES).map_or(0.0, |rate| rate * cpus as f64 / threads as f64)
}

/// The sum of what so many threads copy at their best; `None` where they, or their buffers, cannot be
/// made. None waits for another: one that could not be made would be waited for for ever.
fn copied(threads: usize, buffer_bytes: usize) -> Option<f64> {
    let mut buffers = Vec::new();
    for _ in 0..threads {
        buffers.push((buffer(buffer_bytes, 1)?, buffer(buffer_bytes, 2)?));
    }
    let rates: Option<Vec<f64>> = std::thread::scope(|scope| {
        let start = |(from, to): (Vec<u8>, Vec<u8>)| {
            let builder = std::thread::Builder::new().name("copy".to_owned()).stack_size(STACK_BYTES);
            builder.spawn_scoped(scope, move || best_of(&from, to)).ok()
        };
        let workers: Option<Vec<_>> = buffers.into_iter().map(start).collect();
        workers?.into_iter().map(|worker| worker.join().ok()).collect()
    });
    rates.map(|rates| rates.iter().sum())
}

/// So many bytes of that value, where there is memory for them.
fn buffer(bytes: usize, value: u8) -> Option<Vec<u8>> {
    let mut buffer = Vec::new();
    buffer.try_reserve_exact(bytes).ok()?;
    buffer.resize(bytes, value);
    Some(buffer)
}

/// Bytes per second of the best pass.
fn best_of(from: &[u8], mut to: Vec<u8>) -> f64 {
    let pass = |_| {
        let begun = Instant::now();
        for _ in 0..COPIES {
            to.copy_from_slice(std::hint::black_box(from));
            std::hint::black_box(&mut to);
        }
        (COPIES * from.len()) as f64 / begun.elapsed().as_secs_f64().max(1e-9)
    };
    (0..PASSES).map(pass).fold(0.0, f64::max)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_all_cpus_copy_is_known() {
        let rate = copy_bytes_per_second(2);
        // A cache copies gigabytes a second; a tenth of one is what a very busy machine leaves.
        assert!(rate.is_finite() && rate > 1e8, "{rate}");
        assert!(copy_bytes_per_second(0) > 0.0);
    }

    #[test]
    fn without_memory_or_threads_it_is_unknown_and_nobody_waits() {
        assert_eq!(copied(2, usize::MAX / 4), None);
    }
}
