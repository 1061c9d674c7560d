//! The one clock of the engine, behind an interface small enough for another clock to stand in.

use rustix::time::{ClockId, clock_gettime};
use std::sync::OnceLock;

/// The time over which the time-stamp counter is compared with the kernel's clock: two readings
/// are each good to about 30 ns, so the scale is good to about 2 parts in a million.
#[cfg(target_arch = "x86_64")]
const CALIBRATION: std::time::Duration = std::time::Duration::from_millis(30);

/// A monotonic clock in nanoseconds.
///
/// Where the kernel itself keeps time by an invariant time-stamp counter it is that counter, read
/// without a call in about 10 ns; otherwise `CLOCK_MONOTONIC` through the vDSO, about 25 ns and no
/// system call either. On ARM the kernel's clock is always taken: its vDSO reads the generic timer
/// (`cntvct_el0`) in user space, behind the barrier and the corrections for faulty timers that only the
/// kernel knows to be needed, so that a reading of our own would save a multiplication alone.
/// A reading means something only against another reading of the same machine;
/// threads and forked processes share the scale.
#[derive(Debug, Clone, Copy)]
pub struct Clock {
    /// Nanoseconds per tick, times 2^32; 0: the kernel's clock.
    scale: u64,
    #[cfg(target_arch = "x86_64")]
    first_tick: u64,
}

static CLOCK: OnceLock<Clock> = OnceLock::new();

impl Clock {
    /// The best clock that this machine has. The first call compares counter and kernel for 30 ms.
    pub fn get() -> Clock {
        *CLOCK.get_or_init(Clock::choose)
    }

    /// The kernel's clock, whatever the machine has.
    pub const fn kernel() -> Clock {
        Clock {
            scale: 0,
            #[cfg(target_arch = "x86_64")]
            first_tick: 0,
        }
    }

    /// `tsc` or `vdso`: which one it is.
    pub const fn name(self) -> &'static str {
        if self.scale == 0 { "vdso" } else { "tsc" }
    }

    /// Nanoseconds since an arbitrary start.
    #[inline]
    pub fn now(self) -> u64 {
        #[cfg(target_arch = "x86_64")]
        if self.scale != 0 {
            let ticks = ticks().wrapping_sub(self.first_tick);
            return ((u128::from(ticks) * u128::from(self.scale)) >> 32) as u64;
        }
        kernel_now()
    }

    #[cfg(target_arch = "x86_64")]
    fn choose() -> Clock {
        // The kernel checks counters against each other and against other clocks, and stops using
        // one that drifts or differs between CPUs: its choice is the proof that ours is sound.
        let source = std::fs::read_to_string("/sys/devices/system/clocksource/clocksource0/current_clocksource");
        let trusted = source.is_ok_and(|name| name.trim() == "tsc");
        if !(trusted && invariant()) {
            return Clock::kernel();
        }
        let (first, begun) = together();
        // Asleep: an invariant counter counts on, and no CPU is burnt beside somebody's measurement.
        std::thread::sleep(CALIBRATION);
        let (last, ended) = together();
        let (ticks, elapsed) = (last.wrapping_sub(first), ended - begun);
        let scale = (u128::from(elapsed) << 32) / u128::from(ticks.max(1));
        match u64::try_from(scale) {
            // Between 100 MHz and 100 GHz; anything else is no counter of cycles.
            Ok(scale) if (1 << 25..1 << 36).contains(&scale) => Clock { scale, first_tick: first },
            _ => Clock::kernel(),
        }
    }

    #[cfg(not(target_arch = "x86_64"))]
    fn choose() -> Clock {
        Clock::kernel()
    }
}

#[inline]
fn kernel_now() -> u64 {
    let time = clock_gettime(ClockId::Monotonic);
    // The monotonic clock starts near zero at boot: it is never negative and fits for 584 years.
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

#[cfg(target_arch = "x86_64")]
#[inline]
fn ticks() -> u64 {
    // SAFETY: every x86-64 CPU has the instruction, and it touches no memory.
    unsafe { core::arch::x86_64::_rdtsc() }
}

/// Counter and kernel clock at the same moment: the pair with the least time between them of many.
#[cfg(target_arch = "x86_64")]
fn together() -> (u64, u64) {
    let pair = |_| {
        let before = ticks();
        let time = kernel_now();
        let after = ticks();
        (after.wrapping_sub(before), before.wrapping_add(after.wrapping_sub(before) / 2), time)
    };
    let (_, tick, time) = (0..64).map(pair).min_by_key(|found| found.0).unwrap_or_default();
    (tick, time)
}

/// Whether the counter runs at one rate in every power state (Intel SDM 18.17.1, AMD APM 3:
/// CPUID 8000_0007h EDX bit 8).
#[cfg(target_arch = "x86_64")]
fn invariant() -> bool {
    let highest = core::arch::x86_64::__cpuid(0x8000_0000).eax;
    highest >= 0x8000_0007 && core::arch::x86_64::__cpuid(0x8000_0007).edx & (1 << 8) != 0
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
        for clock in [Clock::get(), Clock::kernel()] {
            let before = clock.now();
            std::thread::sleep(std::time::Duration::from_millis(20));
            let after = clock.now();
            assert!(after - before >= 20_000_000, "{}: {}", clock.name(), after - before);
        }
    }

    #[test]
    fn the_counter_keeps_the_kernels_pace() {
        let clock = Clock::get();
        let begun = (clock.now(), kernel_now());
        std::thread::sleep(std::time::Duration::from_millis(200));
        let kernel = kernel_now() - begun.1;
        let ours = clock.now() - begun.0;
        // A preemption between the two readings would be seen as a difference: allow one of 20 ms.
        assert!(ours.abs_diff(kernel) < kernel / 1000 + 20_000_000, "{ours} and {kernel}");
    }

    #[test]
    fn seconds_and_nanoseconds_are_the_same_amount() {
        assert_eq!(nanoseconds(0.15), 150_000_000);
        assert_eq!(nanoseconds(-1.0), 0);
        assert_eq!(nanoseconds(f64::NAN), 0);
        assert_eq!(seconds(2_500_000_000), 2.5);
    }
}
