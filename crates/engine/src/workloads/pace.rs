//! When the next operation is due: as fast as it goes, at a limited rate, or as an open loop.
//!
//! A limit spreads operations evenly and counts latency from the moment of hand-over, as fio does.
//! The open loop of method 4.1 draws Poisson arrivals and counts latency from the moment at
//! which an operation **should** have begun, so that a stall delays everything that was due
//! meanwhile instead of hiding it (coordinated omission).

use crate::clock::seconds;
use crate::histogram::Latencies;
use crate::pattern::Span;
use model::job::{Direction, Io, Rate, RateProcess};
use model::{Flag, Mark};
use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

/// What a seed is mixed with, so that arrivals share no random numbers with offsets or data.
const ARRIVALS_STREAM: u64 = 0x0a44_17a1;
/// A schedule that ends a window this far behind cannot be kept.
const BEHIND_SHARE: f64 = 0.05;
/// Submission that lags by more than this share of the median latency is the harness's own.
const LAG_SHARE: f64 = 0.10;

/// When an operation may begin.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Arrival {
    /// At once.
    Free,
    /// Not before this moment.
    At(u64),
}

/// The one rate of a mixture that limits both its directions, where it does.
fn rate_of_both(io: &Io) -> Option<Rate> {
    io.share_of_rates()?;
    let rates = io.rate.as_ref()?;
    Some(match (*rates.for_direction(Direction::Read), *rates.for_direction(Direction::Write)) {
        // Bytes stay bytes, so that the rate holds for blocks of any length.
        (Rate::Bytes(read), Rate::Bytes(write)) => Rate::Bytes(read + write),
        (read, write) => {
            Rate::Operations(io.operations_of(Direction::Read, read)? + io.operations_of(Direction::Write, write)?)
        }
    })
}

/// The schedules of a worker, one per direction.
pub(super) struct Pace {
    /// One for a mixture with two rates: which direction comes next is drawn with their share, so that
    /// neither waits behind the other.
    mixture: Option<Schedule>,
    schedules: [Option<Schedule>; 3],
    poisson: bool,
    kept: Option<(Span, u64)>,
    /// From when it was due, and could be handed over, to when it was.
    lags: Latencies,
    /// How far behind the schedule the last operation was, and the one in the middle.
    behind_ns: u64,
    begun: u64,
    behind_at_half_ns: u64,
    half_seen: bool,
    expected_ns: u64,
    windows: u32,
    windows_behind: u32,
    /// Latencies of the whole trial: what the lags are compared with.
    latencies: Latencies,
    /// Operations that were due by then belong to the window, and no later ones.
    last_due: u64,
}

#[derive(Debug, Clone)]
struct Schedule {
    /// Nanoseconds per operation, or per byte.
    interval: f64,
    per_byte: bool,
    next: f64,
    random: Option<Xoshiro256PlusPlus>,
}

impl Schedule {
    fn new(rate: Rate, poisson: bool, seed: u64) -> Option<Self> {
        let (per_second, per_byte) = match rate {
            Rate::Operations(rate) if rate > 0.0 => (rate, false),
            Rate::Bytes(rate) if rate > 0.0 => (rate, true),
            Rate::Unlimited | Rate::Operations(_) | Rate::Bytes(_) => return None,
        };
        let random = poisson.then(|| Xoshiro256PlusPlus::seed_from_u64(seed ^ ARRIVALS_STREAM));
        Some(Schedule { interval: 1e9 / per_second, per_byte, next: 0.0, random })
    }

    /// When the next operation is due; the one after it follows.
    #[inline]
    fn step(&mut self, bytes: u32) -> u64 {
        let mean = if self.per_byte { self.interval * f64::from(bytes) } else { self.interval };
        let gap = match &mut self.random {
            // Exponential by inversion: -ln(u) of a uniform u in (0, 1].
            Some(random) => {
                let uniform = ((random.next_u64() >> 11) as f64 + 1.0) / (1_u64 << 53) as f64;
                -uniform.ln() * mean
            }
            None => mean,
        };
        let due = self.next;
        self.next += gap;
        due as u64
    }
}

impl Pace {
    /// The schedules that the job asks for.
    pub(super) fn new(io: &Io, worker: u32, seed: u64) -> Self {
        let poisson = io.rate_process == RateProcess::Poisson;
        let schedule = |direction: Direction| {
            let rate = *io.rate.as_ref()?.for_direction(direction);
            Schedule::new(rate, poisson, seed ^ (u64::from(worker) << 8) ^ direction as u64)
        };
        let mixture = rate_of_both(io).and_then(|rate| Schedule::new(rate, poisson, seed ^ (u64::from(worker) << 8)));
        Pace {
            mixture,
            schedules: Direction::ALL.map(schedule),
            poisson,
            kept: None,
            lags: Latencies::new(),
            behind_ns: 0,
            begun: 0,
            behind_at_half_ns: 0,
            half_seen: false,
            expected_ns: 0,
            windows: 0,
            windows_behind: 0,
            latencies: Latencies::new(),
            last_due: u64::MAX,
        }
    }

    /// Whether this is an open loop.
    #[inline]
    pub(super) fn is_open_loop(&self) -> bool {
        self.poisson && !self.is_free()
    }

    /// Nothing that is due later belongs to the window.
    pub(super) fn close_at(&mut self, moment: u64) {
        self.last_due = moment;
    }

    /// Whether an operation that is due then comes too late for the window.
    #[inline]
    pub(super) fn is_past(&self, due: u64) -> bool {
        due > self.last_due
    }

    /// Takes note of a latency that counted.
    #[inline]
    pub(super) fn observe(&mut self, nanoseconds: u64) {
        if self.poisson {
            self.latencies.record(nanoseconds);
        }
    }

    /// Whether nothing is limited.
    #[inline]
    pub(super) fn is_free(&self) -> bool {
        self.schedules.iter().all(Option::is_none)
    }

    /// Begins all schedules now; `expected_ns` is how long they will run, where that is known.
    pub(super) fn begin(&mut self, now: u64, expected_ns: u64) {
        self.kept = None;
        self.last_due = u64::MAX;
        self.begun = now;
        self.expected_ns = expected_ns;
        self.half_seen = false;
        self.behind_ns = 0;
        self.behind_at_half_ns = 0;
        for schedule in self.schedules.iter_mut().flatten().chain(&mut self.mixture) {
            schedule.next = now as f64;
        }
    }

    /// When an operation is due.
    #[inline]
    pub(super) fn due(&mut self, direction: Direction, bytes: u32) -> Arrival {
        let schedule = if self.mixture.is_some() { &mut self.mixture } else { &mut self.schedules[direction as usize] };
        match schedule {
            Some(schedule) => Arrival::At(schedule.step(bytes)),
            None => Arrival::Free,
        }
    }

    /// Keeps an operation that is not due yet.
    pub(super) fn keep(&mut self, span: Span, due: u64) {
        self.kept = Some((span, due));
    }

    /// The operation that waits, and when it is due.
    #[inline]
    pub(super) fn kept(&self) -> Option<(Span, u64)> {
        self.kept
    }

    /// It waits no longer.
    pub(super) fn take_kept(&mut self) {
        self.kept = None;
    }

    /// An operation is handed over now: answers from when its latency counts. `room_since` is when
    /// the queue last became able to take it: what it waited before is the filesystem's, not ours.
    #[inline]
    pub(super) fn started(&mut self, due: u64, now: u64, room_since: u64, counting: bool) -> u64 {
        if !self.poisson {
            return now;
        }
        self.behind_ns = now.saturating_sub(due);
        if !self.half_seen && now.saturating_sub(self.begun) >= self.expected_ns / 2 {
            self.half_seen = true;
            self.behind_at_half_ns = self.behind_ns;
        }
        if counting {
            self.lags.record(now.saturating_sub(due.max(room_since)));
        }
        due
    }

    /// A window is over: whether the schedule was kept.
    pub(super) fn end(&mut self, elapsed_ns: u64) {
        if !self.poisson || self.is_free() {
            return;
        }
        self.windows += 1;
        let limit = elapsed_ns as f64 * BEHIND_SHARE;
        if self.behind_ns as f64 > limit && self.behind_ns > self.behind_at_half_ns {
            self.windows_behind += 1;
        }
    }

    /// What the open loop found about itself.
    pub(super) fn notes(&self) -> Vec<Flag> {
        let mut notes = Vec::new();
        let median_latency_ns = self.latencies.value_at(0.5);
        if self.windows_behind * 2 > self.windows {
            notes.push(Mark::CannotSustainRate.with(format!(
                "the backlog grew in {} of {} windows, to {:.3} s in the last",
                self.windows_behind,
                self.windows,
                seconds(self.behind_ns)
            )));
        }
        let lag = self.lags.value_at(0.99);
        if let (Some(lag), Some(median)) = (lag, median_latency_ns)
            && lag > LAG_SHARE * median
        {
            notes.push(Mark::HarnessBoundSubmission.with(format!(
                "the 99th percentile of the submission lag is {:.1} µs, the median latency {:.1} µs",
                lag / 1e3,
                median / 1e3
            )));
        }
        notes
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::job::{Pattern, PerDirection};

    fn paced(rate: Rate, process: RateProcess) -> Pace {
        let rate = PerDirection { read: rate, write: Rate::Unlimited, trim: Rate::Unlimited };
        let io = Io { rw: Pattern::RandRw, rate: Some(rate), rate_process: process, ..Io::default() };
        let mut pace = Pace::new(&io, 0, 7);
        pace.begin(1_000_000, 1_000_000_000);
        pace
    }

    fn dues(pace: &mut Pace, count: usize) -> Vec<u64> {
        (0..count)
            .map(|_| match pace.due(Direction::Read, 4096) {
                Arrival::At(due) => due,
                Arrival::Free => panic!("reads are paced"),
            })
            .collect()
    }

    #[test]
    fn a_linear_rate_is_due_at_equal_distances_and_other_directions_are_free() {
        let mut pace = paced(Rate::Operations(1000.0), RateProcess::Linear);
        assert_eq!(dues(&mut pace, 3), [1_000_000, 2_000_000, 3_000_000]);
        assert_eq!(pace.due(Direction::Write, 4096), Arrival::Free);
        let mut pace = paced(Rate::Bytes(4096.0 * 100.0), RateProcess::Linear);
        assert_eq!(dues(&mut pace, 2), [1_000_000, 11_000_000]);
    }

    #[test]
    fn a_mixture_has_one_schedule_and_the_share_of_its_rates() {
        let rate =
            PerDirection { read: Rate::Operations(300.0), write: Rate::Operations(100.0), trim: Rate::Unlimited };
        let io = Io { rw: Pattern::RandRw, rate: Some(rate), ..Io::default() };
        assert_eq!(io.read_share(), 0.75);
        let mut pace = Pace::new(&io, 0, 7);
        pace.begin(0, 1);
        let dues = [Direction::Read, Direction::Write, Direction::Read].map(|direction| pace.due(direction, 4096));
        assert_eq!(dues, [Arrival::At(0), Arrival::At(2_500_000), Arrival::At(5_000_000)]);
    }

    #[test]
    fn a_mixture_with_two_rates_in_bytes_has_one_schedule_too() {
        let rate = PerDirection { read: Rate::Bytes(300e6), write: Rate::Bytes(100e6), trim: Rate::Unlimited };
        let sizes = ["4KiB", "8KiB", "4KiB"].map(|size| size.parse().unwrap());
        let [read, write, trim] = sizes;
        let block_sizes = Some(Box::new(PerDirection { read, write, trim }));
        let io = Io { rw: Pattern::RandRw, rate: Some(rate), block_sizes, ..Io::default() };
        // Blocks of writes are twice as long: six reads for each.
        assert!((io.read_share() - 6.0 / 7.0).abs() < 1e-12, "{}", io.read_share());
        let mut pace = Pace::new(&io, 0, 7);
        pace.begin(0, 1);
        // 400 bytes a microsecond, whichever direction they belong to.
        let dues = [(Direction::Read, 4000), (Direction::Write, 8000), (Direction::Read, 4000)];
        let dues = dues.map(|(direction, bytes)| pace.due(direction, bytes));
        assert_eq!(dues, [Arrival::At(0), Arrival::At(10_000), Arrival::At(30_000)]);
    }

    #[test]
    fn poisson_arrivals_have_the_asked_mean_and_an_exponential_spread() {
        let mut pace = paced(Rate::Operations(10_000.0), RateProcess::Poisson);
        let dues = dues(&mut pace, 100_001);
        let gaps: Vec<f64> = dues.windows(2).map(|pair| (pair[1] - pair[0]) as f64).collect();
        let mean = gaps.iter().sum::<f64>() / gaps.len() as f64;
        let deviation = (gaps.iter().map(|gap| (gap - mean).powi(2)).sum::<f64>() / gaps.len() as f64).sqrt();
        // Standard error of the mean: 100 µs / sqrt(100,000) = 0.3 µs; five of them.
        assert!((mean - 100_000.0).abs() < 1_600.0, "{mean}");
        // An exponential distribution's deviation is its mean.
        assert!((deviation / mean - 1.0).abs() < 0.03, "{deviation}");
    }

    #[test]
    fn latency_counts_from_the_intended_start_and_lag_only_from_when_there_was_room() {
        let mut pace = paced(Rate::Operations(1000.0), RateProcess::Poisson);
        assert_eq!(pace.started(500, 900, 800, true), 500);
        assert_eq!(pace.lags.value_at(1.0), Some(100.0));
        let mut pace = paced(Rate::Operations(1000.0), RateProcess::Linear);
        assert_eq!(pace.started(500, 900, 0, true), 900);
    }

    #[test]
    fn a_backlog_that_grows_is_said_and_one_that_shrinks_is_not() {
        let second = 1_000_000_000;
        let mut pace = paced(Rate::Operations(1000.0), RateProcess::Poisson);
        pace.started(1_000_000 + second / 2, 1_000_000 + second / 2 + 50_000_000, 0, true);
        pace.started(1_000_000 + second - 100_000_000, 1_000_000 + second, 0, true);
        pace.end(second);
        assert!(pace.notes()[0].is(Mark::CannotSustainRate), "{:?}", pace.notes());
        pace.begin(0, second);
        pace.started(second / 2 - 100_000_000, second / 2 + 1, 0, true);
        pace.started(second - 60_000_000, second, 0, true);
        pace.end(second);
        assert!(pace.notes().is_empty());
    }
}
