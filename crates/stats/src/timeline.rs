//! Courses: what the system did, point by point, thinned so that no extreme is lost.

use crate::series;
use model::page::Quantity;
use model::timeline::TrialTimeline;
use model::trial::{Group, SystemUse};

/// Quantities of a point.
pub const QUANTITIES: usize = Quantity::ALL.len();

/// Of them those that are watched of all work.
const USUAL_QUANTITIES: usize = 12;

/// Digits that figures of a course are kept with.
const DIGITS: i32 = 4;

/// The figures of a point, in the order of [`Quantity::ALL`].
pub type Figures = [f64; QUANTITIES];

/// A point of a course.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Point {
    /// Where it stands: two columns that rise from point to point.
    pub at: [f64; 2],
    /// What the system did there.
    pub figures: Figures,
}

/// What the system did in one window, as figures: sums by the window's seconds, and CPU time by that of
/// all CPUs. What cannot be divided is 0.
pub fn figures(system: &SystemUse, operations_per_second: f64) -> Figures {
    let seconds = system.window_seconds;
    let by = |amount: f64, whole: f64| if whole > 0.0 { sound(amount / whole) } else { 0.0 };
    let per_second = |amount: f64| by(amount, seconds);
    let share = |amount: f64| by(amount, seconds * f64::from(system.cpus));
    let device = &system.device;
    Quantity::ALL.map(|quantity| match quantity {
        Quantity::OperationsPerSecond => sound(operations_per_second),
        Quantity::CpuShare => share(system.cpu_busy_seconds()),
        Quantity::IowaitShare => share(system.cpu_iowait_seconds),
        Quantity::StealShare => share(system.cpu_steal_seconds),
        Quantity::DeviceReadBytesPerSecond => per_second(device.read_bytes as f64),
        Quantity::DeviceWriteBytesPerSecond => per_second(device.write_bytes as f64),
        Quantity::DeviceIops => per_second(device.reads as f64 + device.writes as f64),
        Quantity::DeviceFlushesPerSecond => per_second(device.flushes as f64),
        Quantity::DeviceQueue => per_second(device.queue_seconds),
        Quantity::DeviceBusyShare => per_second(device.busy_seconds).min(1.0),
        Quantity::DirtyBytes => system.dirty_bytes_max as f64,
        Quantity::PressureIoShare => per_second(system.pressure_io_some_seconds).min(1.0),
        Quantity::DeviceReadsPerSecond => per_second(device.reads as f64),
        Quantity::DeviceWritesPerSecond => per_second(device.writes as f64),
        // Of appenders alone; whoever looked at them sets them.
        Quantity::BuffersBytes
        | Quantity::CachedBytes
        | Quantity::WritebackBytes
        | Quantity::IowaitAverageShare
        | Quantity::LoadAverage
        | Quantity::BlockedTasks
        | Quantity::KworkerShare => 0.0,
    })
}

/// Where a quantity stands among the figures of a point.
pub fn place_of(quantity: Quantity) -> usize {
    Quantity::ALL.iter().position(|of| *of == quantity).unwrap_or(0)
}

/// Seconds over which the moving average of iowait goes.
const AVERAGE_SECONDS: f64 = 10.0;

/// Fills in the moving average of the iowait share: the mean over the points of the ten seconds that end with
/// each. `at`: which of a point's columns holds the seconds.
pub fn average_iowait(points: &mut [Point], at: usize) {
    let (share, average) = (place_of(Quantity::IowaitShare), place_of(Quantity::IowaitAverageShare));
    let (mut first, mut sum) = (0, 0.0);
    for last in 0..points.len() {
        sum += points[last].figures[share];
        while points[last].at[at] - points[first].at[at] >= AVERAGE_SECONDS {
            sum -= points[first].figures[share];
            first += 1;
        }
        points[last].figures[average] = (sum / (last - first + 1) as f64).max(0.0);
    }
}

/// Operations per second of a window's groups together, charged syncs left out. `seconds`: of the whole
/// window, where its groups did not run beside each other.
pub fn operations_in(groups: &[Group], seconds: Option<f64>) -> f64 {
    let operations: u64 = at_work(groups).map(|group| group.operations).sum();
    let longest = || at_work(groups).map(|group| group.seconds - group.sync_seconds).fold(0.0, f64::max);
    let seconds = seconds.unwrap_or_else(longest);
    if seconds > 0.0 { sound(operations as f64 / seconds) } else { 0.0 }
}

/// The groups that move data: the syncs of a job file are calls beside its operations.
pub fn at_work(groups: &[Group]) -> impl Iterator<Item = &Group> {
    series::worked(groups)
}

/// The course that a record keeps of a trial: at most [`model::timeline::MOST_POINTS`] of the points, fewer of
/// appenders, of which more is watched, and of the quantities those that are known. Of appenders what the
/// device had written by each point stands beside them, and the same second by second. The columns of [`Point::at`] are the seconds since the first
/// window opened, and the measured seconds. `None`: there is no point.
pub fn trial_timeline(points: &[Point], known: impl Fn(Quantity) -> bool) -> Option<Box<TrialTimeline>> {
    if points.is_empty() {
        return None;
    }
    // More quantities, fewer points: a trial's course keeps its size.
    let (count, usual) = (Quantity::ALL.into_iter().filter(|of| known(*of)).count(), USUAL_QUANTITIES);
    let most = model::timeline::MOST_POINTS * usual / count.max(usual);
    let mut thinner = Thinner::new(points.len(), most);
    points.iter().for_each(|point| thinner.push(*point));
    let kept = thinner.finish();
    let mut timeline = columns(&kept, &known);
    if known(Quantity::LoadAverage) {
        let seconds = each_second(points);
        let mut of_seconds = columns(&seconds, &known);
        if known(Quantity::DeviceWriteBytesPerSecond) {
            timeline.device_written_bytes = written_by(points, &kept);
            of_seconds.device_written_bytes = written_by(points, &seconds);
        }
        timeline.each_second = Some(Box::new(of_seconds));
    }
    Some(Box::new(timeline))
}

fn columns(points: &[Point], known: &impl Fn(Quantity) -> bool) -> TrialTimeline {
    let mut timeline = TrialTimeline {
        seconds: points.iter().map(|point| milliseconds(point.at[0])).collect(),
        measured_seconds: points.iter().map(|point| milliseconds(point.at[1])).collect(),
        ..TrialTimeline::default()
    };
    for (at, quantity) in Quantity::ALL.into_iter().enumerate().filter(|(_, quantity)| known(*quantity)) {
        *timeline.column_mut(quantity) = points.iter().map(|point| digits(point.figures[at], DIGITS)).collect();
    }
    timeline
}

/// Measured seconds for which each point stands.
fn lengths(points: &[Point]) -> impl Iterator<Item = (&Point, f64)> {
    let before = std::iter::once(0.0).chain(points.iter().map(|point| point.at[1]));
    points.iter().zip(before).map(|(point, before)| (point, (point.at[1] - before).max(0.0)))
}

/// The points second by second, or in so many seconds that [`model::timeline::MOST_SECONDS`] of them are enough:
/// means of what was done, and what was there at the end.
fn each_second(points: &[Point]) -> Vec<Point> {
    let whole = points.last().map_or(0.0, |last| last.at[1]);
    let step = (whole / (model::timeline::MOST_SECONDS - 1) as f64).ceil().max(1.0);
    let (mut seconds, mut sums, mut length) = (Vec::new(), [0.0; QUANTITIES], 0.0);
    let mut end = step;
    for (place, (point, of_point)) in lengths(points).enumerate() {
        length += of_point;
        sums.iter_mut().zip(&point.figures).for_each(|(sum, figure)| *sum += figure * of_point);
        let is_last = place + 1 == points.len();
        // Looks come when they come: a second ends with the first one behind it.
        if (point.at[1] >= end || is_last) && length > 0.0 {
            let figures = std::array::from_fn(|at| match Quantity::ALL[at].is_a_level() {
                true => point.figures[at],
                false => sums[at] / length,
            });
            seconds.push(Point { at: point.at, figures });
            (sums, length) = ([0.0; QUANTITIES], 0.0);
            end = (point.at[1] / step).floor() * step + step;
        }
    }
    seconds
}

/// Bytes that the device had written by each of some points, of all of them: whole ones.
fn written_by(points: &[Point], some: &[Point]) -> Vec<f64> {
    let rate = place_of(Quantity::DeviceWriteBytesPerSecond);
    let (mut all, mut written) = (lengths(points).peekable(), 0.0);
    let by = |some: &Point| {
        while let Some((point, seconds)) = all.next_if(|(point, _)| point.at[1] <= some.at[1]) {
            written += point.figures[rate].max(0.0) * seconds;
        }
        written.round()
    };
    some.iter().map(by).collect()
}

/// Thins points as they come. Where there are too many, they are cut into stretches of equal length, and
/// of each stretch two points stay: they hold the smallest and the largest figure of every quantity, in
/// the order in which these came. A point then holds figures that lie up to a stretch apart.
#[derive(Debug)]
pub struct Thinner {
    total: usize,
    /// `None`: every point stays.
    stretches: Option<usize>,
    taken: usize,
    open: Option<Stretch>,
    kept: Vec<Point>,
}

/// The stretch that is being gone through.
#[derive(Debug)]
struct Stretch {
    number: usize,
    first: Point,
    last_at: [f64; 2],
    points: usize,
    least: Figures,
    most: Figures,
    /// Whether the smallest came before the largest.
    rises: [bool; QUANTITIES],
}

impl Thinner {
    /// For so many points, of which at most so many stay: two at least.
    pub fn new(total: usize, most: usize) -> Self {
        let stretches = (total > most).then(|| (most / 2).max(1));
        Thinner { total, stretches, taken: 0, open: None, kept: Vec::with_capacity(total.min(most)) }
    }

    /// Takes the next point.
    pub fn push(&mut self, point: Point) {
        let at = self.taken;
        self.taken += 1;
        let Some(stretches) = self.stretches else {
            self.kept.push(point);
            return;
        };
        // More than were announced belong to the last stretch.
        let number = (at.min(self.total - 1) as u128 * stretches as u128 / self.total as u128) as usize;
        match &mut self.open {
            Some(open) if open.number == number => open.take(&point),
            _ => {
                self.close();
                self.open = Some(Stretch::begin(number, point));
            }
        }
    }

    /// The points that stay, in their order.
    pub fn finish(mut self) -> Vec<Point> {
        self.close();
        self.kept
    }

    fn close(&mut self) {
        if let Some(stretch) = self.open.take() {
            stretch.end(&mut self.kept);
        }
    }
}

impl Stretch {
    fn begin(number: usize, first: Point) -> Self {
        let (least, most) = (first.figures, first.figures);
        Stretch { number, first, last_at: first.at, points: 1, least, most, rises: [true; QUANTITIES] }
    }

    fn take(&mut self, point: &Point) {
        self.points += 1;
        self.last_at = point.at;
        for (at, &figure) in point.figures.iter().enumerate() {
            if figure < self.least[at] {
                (self.least[at], self.rises[at]) = (figure, false);
            } else if figure > self.most[at] {
                (self.most[at], self.rises[at]) = (figure, true);
            }
        }
    }

    fn end(self, kept: &mut Vec<Point>) {
        if self.points == 1 {
            kept.push(self.first);
            return;
        }
        let pick = |small_first: bool| {
            std::array::from_fn(|at| if self.rises[at] == small_first { self.least[at] } else { self.most[at] })
        };
        kept.push(Point { at: self.first.at, figures: pick(true) });
        kept.push(Point { at: self.last_at, figures: pick(false) });
    }
}

/// A number that JSON can hold.
fn sound(value: f64) -> f64 {
    if value.is_finite() { value } else { 0.0 }
}

/// Seconds to the millisecond.
pub(crate) fn milliseconds(seconds: f64) -> f64 {
    (sound(seconds) * 1e3).round() / 1e3
}

/// A number rounded to so many significant digits; what is no number is 0.
pub(crate) fn digits(value: f64, digits: i32) -> f64 {
    if value == 0.0 || !value.is_finite() {
        return 0.0;
    }
    // Powers of ten are exact up to the 22nd: dividing by one gives the nearest short number.
    let power = digits - 1 - value.abs().log10().floor() as i32;
    let scale = 10.0_f64.powi(power.abs());
    let rounded = if power >= 0 { (value * scale).round() / scale } else { (value / scale).round() * scale };
    // Numbers near the ends of what a float holds stay as they are.
    if rounded.is_finite() { rounded } else { value }
}

/// Indices of at most so many of `count` things, evenly spread, first and last among them.
pub(crate) fn evenly(count: usize, most: usize) -> Vec<usize> {
    match most {
        _ if count <= most => (0..count).collect(),
        0 => Vec::new(),
        1 => vec![0],
        _ => {
            let at = |index: usize| (index as u128 * (count as u128 - 1) / (most as u128 - 1)) as usize;
            (0..most).map(at).collect()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::trial::DeviceUse;

    fn point(seconds: f64, figure: impl Fn(usize) -> f64) -> Point {
        Point { at: [seconds, seconds], figures: std::array::from_fn(figure) }
    }

    #[test]
    fn a_window_becomes_rates_and_shares() {
        let device = DeviceUse {
            reads: 6,
            writes: 4,
            write_bytes: 4096,
            queue_seconds: 5.0,
            busy_seconds: 2.5,
            ..DeviceUse::default()
        };
        let system = SystemUse {
            window_seconds: 2.0,
            cpus: 4,
            cpu_user_seconds: 1.0,
            cpu_system_seconds: 3.0,
            cpu_iowait_seconds: 0.8,
            pressure_io_some_seconds: 0.5,
            dirty_bytes_max: 77,
            device,
            ..SystemUse::default()
        };
        let all = figures(&system, 12.5);
        let of = |quantity| all[Quantity::ALL.iter().position(|of| *of == quantity).unwrap()];
        assert_eq!((of(Quantity::OperationsPerSecond), of(Quantity::CpuShare)), (12.5, 0.5));
        assert_eq!((of(Quantity::IowaitShare), of(Quantity::StealShare)), (0.1, 0.0));
        assert_eq!((of(Quantity::DeviceIops), of(Quantity::DeviceWriteBytesPerSecond)), (5.0, 2048.0));
        // The kernel counts whole milliseconds: a full device may count a little more than the window.
        assert_eq!((of(Quantity::DeviceQueue), of(Quantity::DeviceBusyShare)), (2.5, 1.0));
        assert_eq!((of(Quantity::DirtyBytes), of(Quantity::PressureIoShare)), (77.0, 0.25));
        assert!(figures(&SystemUse::default(), f64::NAN).iter().all(|figure| *figure == 0.0));
    }

    #[test]
    fn thinning_keeps_the_smallest_and_the_largest_of_every_stretch_and_quantity() {
        // Every quantity has a spike and a dip of its own, at places of their own.
        let spike = |at: usize, quantity: usize| match at {
            at if at == 97 + 61 * quantity => 1e9 + quantity as f64,
            at if at == 31 + 67 * quantity => -1e9 - quantity as f64,
            at => ((at * 7919 + quantity) % 1000) as f64,
        };
        let points: Vec<Point> = (0..1000).map(|at| point(at as f64, |quantity| spike(at, quantity))).collect();
        let mut thinner = Thinner::new(points.len(), 64);
        points.iter().for_each(|point| thinner.push(*point));
        let kept = thinner.finish();
        assert_eq!(kept.len(), 64);
        assert_eq!((kept[0].at[0], kept[63].at[0]), (0.0, 999.0));
        assert!(kept.windows(2).all(|pair| pair[0].at[0] < pair[1].at[0]), "time rises");
        for quantity in 0..QUANTITIES {
            for stretch in 0..32 {
                let of = (0..1000).filter(|at| at * 32 / 1000 == stretch).map(|at| points[at].figures[quantity]);
                let (low, high) =
                    of.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), of| (low.min(of), high.max(of)));
                let pair = [kept[2 * stretch].figures[quantity], kept[2 * stretch + 1].figures[quantity]];
                assert!(pair.contains(&low) && pair.contains(&high), "{quantity}, {stretch}: {pair:?}");
            }
        }
    }

    #[test]
    fn of_a_stretch_the_figure_that_came_first_stands_first() {
        let thin = |figures: [f64; 4]| {
            let mut thinner = Thinner::new(4, 2);
            figures.iter().enumerate().for_each(|(at, figure)| thinner.push(point(at as f64, |_| *figure)));
            let kept = thinner.finish();
            [kept[0].figures[0], kept[1].figures[0]]
        };
        assert_eq!(thin([5.0, 9.0, 1.0, 4.0]), [9.0, 1.0]);
        assert_eq!(thin([5.0, 1.0, 9.0, 4.0]), [1.0, 9.0]);
        assert_eq!(thin([1.0, 1.0, 1.0, 1.0]), [1.0, 1.0]);
        assert_eq!(thin([9.0, 9.0, 1.0, 1.0]), [9.0, 1.0]);
    }

    #[test]
    fn few_points_stay_as_they_are_and_more_than_announced_are_not_lost() {
        let keep = |total: usize, most: usize, pushed: usize| {
            let mut thinner = Thinner::new(total, most);
            (0..pushed).for_each(|at| thinner.push(point(at as f64, |_| at as f64)));
            thinner.finish().len()
        };
        assert_eq!((keep(7, 7, 7), keep(0, 7, 0), keep(8, 7, 8), keep(3, 2, 9)), (7, 0, 6, 2));
    }

    #[test]
    fn a_trials_course_is_bounded_rounded_and_holds_what_is_known() {
        let points: Vec<Point> = (0..5000).map(|at| point(f64::from(at) / 3.0, |_| f64::from(at) / 7.0)).collect();
        let timeline =
            trial_timeline(&points, |quantity| !quantity.is_of_the_device() && !quantity.is_of_appenders()).unwrap();
        assert_eq!((timeline.points(), timeline.cpu_share.len(), timeline.device_iops.len()), (256, 256, 0));
        assert_eq!((timeline.cpu_share[0], timeline.cpu_share[255]), (0.0, 714.1));
        assert_eq!(timeline.seconds[255], 1666.333);
        assert!(serde_json::to_string(&timeline).unwrap().len() < 32 << 10);
        let mut all = trial_timeline(&points, |_| true).unwrap();
        assert_eq!((all.points(), all.load_average.len()), (146, 146));
        let seconds = all.each_second.take().unwrap();
        assert!(serde_json::to_string(&all).unwrap().len() < 32 << 10);
        assert_eq!((seconds.points(), seconds.device_written_bytes.len()), (1667, 1667));
        assert_eq!(trial_timeline(&[], |_| true), None);
    }

    #[test]
    fn seconds_keep_means_and_what_was_there_and_no_byte_is_lost() {
        let (rate, load) = (place_of(Quantity::DeviceWriteBytesPerSecond), place_of(Quantity::LoadAverage));
        // Three minutes, ten looks a second; what is written is different in each look.
        let figure = |at: u32, quantity: usize| match quantity {
            quantity if quantity == rate => f64::from(at % 17) * 1e6 + 7.0,
            quantity if quantity == load => f64::from(at),
            _ => f64::from(at % 10),
        };
        let points: Vec<Point> =
            (0..1800).map(|at| point(f64::from(at + 1) / 10.0, |quantity| figure(at, quantity))).collect();
        let timeline = trial_timeline(&points, |_| true).unwrap();
        let seconds = timeline.each_second.as_deref().unwrap();
        assert_eq!((seconds.points(), seconds.seconds[0], seconds.seconds[179]), (180, 1.0, 180.0));
        assert!(seconds.cpu_share.iter().all(|mean| *mean == 4.5), "the mean of 0 to 9: {:?}", &seconds.cpu_share[..5]);
        assert_eq!(seconds.load_average[59], 599.0, "as it was at the end");
        assert!(timeline.points() < 150 && seconds.each_second.is_none());
        let all: f64 = (0..1800).map(|at| figure(at, rate) / 10.0).sum();
        for of in [&*timeline, seconds] {
            assert_eq!(of.device_written_bytes.last().copied(), Some(all.round()));
            for (at, written) in of.measured_seconds.iter().zip(&of.device_written_bytes) {
                let exact: f64 = (0..(at * 10.0).round() as u32).map(|at| figure(at, rate) / 10.0).sum();
                assert!((written - exact).abs() <= 1.0, "{at}: {written} of {exact}");
            }
        }
        assert_eq!(timeline.finest().points(), 180);
        // An hour and more, and what is watched of other work.
        let long: Vec<Point> = (1..=9000).map(|at| point(f64::from(at), |_| 1.0)).collect();
        let long = trial_timeline(&long, |_| true).unwrap().each_second.unwrap();
        assert!((3000..=model::timeline::MOST_SECONDS).contains(&long.points()), "{}", long.points());
        let usual = trial_timeline(&points, |quantity| !quantity.is_of_appenders()).unwrap();
        assert!(usual.each_second.is_none() && usual.device_written_bytes.is_empty());
    }

    #[test]
    fn the_moving_average_looks_back_ten_seconds() {
        let iowait = place_of(Quantity::IowaitShare);
        let mut points: Vec<Point> = (0..30).map(|at| point(f64::from(at), |_| 0.0)).collect();
        points[5].figures[iowait] = 0.5;
        average_iowait(&mut points, 0);
        let average = |at: usize| points[at].figures[place_of(Quantity::IowaitAverageShare)];
        assert_eq!((average(4), average(5)), (0.0, 0.5 / 6.0));
        assert!((average(14) - 0.05).abs() < 1e-12 && average(15) == 0.0, "{} {}", average(14), average(15));
    }

    #[test]
    fn rounding_gives_short_numbers() {
        for (value, short) in [
            (123_456_789.0, "123500000"),
            (0.000_123_456, "0.0001235"),
            (-9.999_96, "-10"),
            (5.0, "5"),
            (f64::NAN, "0"),
            (f64::INFINITY, "0"),
        ] {
            assert_eq!(digits(value, 4).to_string(), short);
        }
        assert!(digits(f64::MAX, 4).is_finite() && digits(1e-310, 4) > 0.0);
    }

    #[test]
    fn even_choices_hold_both_ends() {
        assert_eq!(evenly(3, 5), [0, 1, 2]);
        assert_eq!(evenly(10, 4), [0, 3, 6, 9]);
        let many = evenly(100_001, 2000);
        assert_eq!((many.len(), many[0], many[1999]), (2000, 0, 100_000));
        assert!(many.windows(2).all(|pair| pair[0] < pair[1]));
        assert_eq!((evenly(9, 1), evenly(9, 0).len()), (vec![0], 0));
    }
}
