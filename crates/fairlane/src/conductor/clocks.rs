//! Whether the machine slept, or its clocks were changed, while something was measured.
//!
//! Measured intervals are of CLOCK_MONOTONIC, which stands still while the machine is suspended, and of the CPU's counter,
//! which may not; a disk that was off and caches that were lost make such a trial void in any case. The wall clock
//! measures nothing: it stands in records as the time of day, and where somebody sets it, that is only remarked.

use model::{Flag, Mark};
use rustix::time::{ClockId, clock_gettime};

/// Where the kernel names the clock that its own time comes from.
const SOURCE: &str = "/sys/devices/system/clocksource/clocksource0/current_clocksource";
/// What reading clocks one after the other cannot explain, in nanoseconds: no machine falls asleep and wakes in less.
const LEAST_SLEEP: i128 = 5_000_000;
/// Steps of the wall clock below this are of no interest to anybody who reads a record.
const LEAST_STEP: i128 = 500_000_000;
/// Readings, of which the one counts that nothing came between.
const READINGS: usize = 3;

/// The clocks at one moment, in nanoseconds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Clocks {
    /// Stands still while the machine sleeps.
    pub monotonic: i128,
    /// Goes on while it sleeps.
    pub boot: i128,
    /// The time of day, which anybody with the right may set.
    pub wall: i128,
    /// How long the reading took.
    pub doubt: i128,
    /// The kernel's clock source: `tsc`, …
    pub source: String,
}

/// What happened to the clocks between two moments.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Disturbance {
    /// Why what was measured meanwhile is void, one sentence.
    pub void: Option<String>,
    /// Remarks.
    pub flags: Vec<Flag>,
    /// The kernel gave its clock source up: who has looked at the old one must look again.
    pub other_clock: bool,
}

impl Clocks {
    /// This moment.
    pub fn now() -> Clocks {
        let read = || {
            let [monotonic, boot, wall, again] =
                [ClockId::Monotonic, ClockId::Boottime, ClockId::Realtime, ClockId::Monotonic].map(nanoseconds);
            (again - monotonic, monotonic, boot, wall)
        };
        let (doubt, monotonic, boot, wall) = (0..READINGS).map(|_| read()).min().unwrap_or_default();
        let source = std::fs::read_to_string(SOURCE).unwrap_or_default().trim().to_owned();
        Clocks { monotonic, boot: boot + pretended_sleep(), wall, doubt, source }
    }

    /// What happened since an earlier moment.
    pub fn since(&self, earlier: &Clocks) -> Disturbance {
        let mut found = Disturbance::default();
        let doubt = self.doubt + earlier.doubt;
        let slept = (self.boot - self.monotonic) - (earlier.boot - earlier.monotonic);
        if slept > doubt + LEAST_SLEEP {
            let time = model::units::human_seconds(slept as f64 / 1e9);
            found.void = Some(format!("the machine slept for {time} during this trial"));
            found.flags.push(Mark::Suspended.with(format!("the machine slept for {time}")));
        }
        if self.source != earlier.source {
            let sources = format!("the kernel changed its clock source from {} to {}", earlier.source, self.source);
            found.void.get_or_insert_with(|| format!("{sources} during this trial"));
            found.flags.push(Mark::ClockSource.with(sources));
            found.other_clock = true;
        }
        let stepped = (self.wall - self.boot) - (earlier.wall - earlier.boot);
        if stepped.abs() > doubt + LEAST_STEP {
            let (time, way) =
                (model::units::human_seconds(stepped.abs() as f64 / 1e9), if stepped > 0 { "forward" } else { "back" });
            found.flags.push(
                Mark::ClockSet.with(format!("the time of day was set {time} {way}; nothing is measured with it")),
            );
        }
        found
    }
}

fn nanoseconds(clock: ClockId) -> i128 {
    let now = clock_gettime(clock);
    i128::from(now.tv_sec) * 1_000_000_000 + i128::from(now.tv_nsec)
}

/// Lets a test see a race on a machine that sleeps; absent from release builds. FAIRLANE_SLEEPS=N: it sleeps for a hundred
/// seconds before the N-th look at the clocks.
#[cfg(debug_assertions)]
fn pretended_sleep() -> i128 {
    use std::sync::atomic::{AtomicU32, Ordering};
    static LOOKS: AtomicU32 = AtomicU32::new(0);
    let look = 1 + LOOKS.fetch_add(1, Ordering::Relaxed);
    let sleeps_before = std::env::var("FAIRLANE_SLEEPS").ok().and_then(|text| text.parse::<u32>().ok());
    if sleeps_before.is_some_and(|before| look >= before) { 100_000_000_000 } else { 0 }
}

/// Release builds have the machine's own clocks alone.
#[cfg(not(debug_assertions))]
fn pretended_sleep() -> i128 {
    0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(monotonic: i128, boot: i128, wall: i128) -> Clocks {
        Clocks { monotonic, boot, wall, doubt: 1_000, source: "tsc".to_owned() }
    }

    const SECOND: i128 = 1_000_000_000;

    #[test]
    fn a_sleep_voids_what_was_measured_and_is_no_step_of_the_time_of_day() {
        let before = at(10 * SECOND, 15 * SECOND, 1_000 * SECOND);
        // Ten seconds of work, an hour of sleep; both other clocks go on meanwhile.
        let after = at(20 * SECOND, 3_625 * SECOND, 4_610 * SECOND);
        let found = after.since(&before);
        assert_eq!(found.void.as_deref(), Some("the machine slept for 60 min during this trial"));
        assert_eq!((found.flags.len(), found.other_clock), (1, false), "{found:?}");
        assert!(found.flags[0].is(Mark::Suspended), "{found:?}");
    }

    #[test]
    fn a_time_of_day_that_was_set_is_remarked_and_voids_nothing() {
        let before = at(0, 0, 1_000 * SECOND);
        for (wall, way) in [(4_700, "60 min forward"), (1_070, "30 s back")] {
            let found = at(100 * SECOND, 100 * SECOND, wall * SECOND).since(&before);
            assert_eq!(found.void, None);
            assert!(found.flags[0].figures(Mark::ClockSet).is_some_and(|said| said.contains(way)), "{found:?}");
        }
    }

    #[test]
    fn another_clock_source_voids_what_was_measured() {
        let other = Clocks { source: "hpet".to_owned(), ..at(SECOND, SECOND, SECOND) };
        let found = other.since(&at(0, 0, 0));
        assert!(
            found.other_clock && found.void.as_deref().is_some_and(|why| why.contains("from tsc to hpet")),
            "{found:?}"
        );
    }

    #[test]
    fn an_ordinary_trial_on_this_machine_is_not_disturbed() {
        let before = Clocks::now();
        std::thread::sleep(std::time::Duration::from_millis(20));
        let found = Clocks::now().since(&before);
        assert_eq!((found.void, found.other_clock), (None, false));
        // What the scheduler put between two readings is no sleep.
        let late = Clocks { doubt: 2 * SECOND, ..at(SECOND, 2 * SECOND, 2 * SECOND) };
        assert_eq!(late.since(&at(0, 0, 0)).void, None);
    }
}
