//! CPU time of this process: MPI waits by asking again and again, and that is no other program's work.

use std::mem::MaybeUninit;

/// User and system time so far, in nanoseconds; zeros: the kernel does not tell.
pub fn used() -> [u64; 2] {
    let mut usage = MaybeUninit::<libc::rusage>::uninit();
    // SAFETY: getrusage writes one rusage to the address given, which is valid and aligned for it.
    if unsafe { libc::getrusage(libc::RUSAGE_SELF, usage.as_mut_ptr()) } != 0 {
        return [0; 2];
    }
    // SAFETY: the call succeeded and has filled the structure.
    let usage = unsafe { usage.assume_init() };
    [usage.ru_utime, usage.ru_stime].map(|time| {
        let [seconds, microseconds] = [time.tv_sec, time.tv_usec].map(|of| u64::try_from(of).unwrap_or(0));
        seconds.saturating_mul(1_000_000_000).saturating_add(microseconds.saturating_mul(1000))
    })
}

/// What was used since then.
pub fn used_since(before: [u64; 2]) -> [u64; 2] {
    let now = used();
    [now[0].saturating_sub(before[0]), now[1].saturating_sub(before[1])]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_of_this_process_shows_in_its_time() {
        let before = used();
        let mut sum = 0_u64;
        while used_since(before)[0] < 10_000_000 {
            sum = std::hint::black_box((0..10_000_u64).fold(sum, |sum, one| sum.wrapping_mul(31).wrapping_add(one)));
        }
        assert!(used_since(used_since([0; 2]).map(|of| of + 1_000_000_000)) == [0; 2], "{sum}");
    }
}
