//! The one clock of the engine, behind an interface small enough for another clock to stand in.

use rustix::time::{ClockId, clock_gettime};

/// A monotonic clock in nanoseconds.
///
/// Today it is `CLOCK_MONOTONIC` read through the vDSO: no system call, about 25 ns. A reading
/// means something only against another reading of the same clock.
#[derive(Debug, Clone, Copy, Default)]
pub struct Clock;

impl Clock {
    /// Nanoseconds since an arbitrary start.
    #[inline]
    pub fn now(self) -> u64 {
        let time = clock_gettime(ClockId::Monotonic);
        // The monotonic clock starts near zero at boot: it is never negative and fits for 584 years.
        time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
    }
}

/// Nanoseconds as seconds.
pub fn seconds(nanoseconds: u64) -> f64 {
    nanoseconds as f64 / 1e9
}

/// Seconds as whole nanoseconds; negative and undefined values are 0.
pub fn nanoseconds(seconds: f64) -> u64 {
    // A float cast saturates: NaN and negatives become 0.
    (seconds * 1e9) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_clock_never_goes_back_and_keeps_the_scale_of_a_sleep() {
        let before = Clock.now();
        std::thread::sleep(std::time::Duration::from_millis(20));
        let after = Clock.now();
        assert!(after - before >= 20_000_000, "{}", after - before);
    }

    #[test]
    fn seconds_and_nanoseconds_are_the_same_amount() {
        assert_eq!(nanoseconds(0.15), 150_000_000);
        assert_eq!(nanoseconds(-1.0), 0);
        assert_eq!(nanoseconds(f64::NAN), 0);
        assert_eq!(seconds(2_500_000_000), 2.5);
    }
}
