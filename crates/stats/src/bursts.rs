//! Bursts: whether a lane's device is written little for long and much for a short time, and whether the
//! records of appenders come later meanwhile.

use crate::estimate::median;
use crate::statements::{appenders as statement, name};
use model::Sentence;
use model::findings::Bursts;
use model::sentence::Value;
use model::trial::{Lateness, Trial};

/// A burst writes so many times the trial's mean rate. Chosen: work that writes evenly never does.
const TIMES_THE_MEAN: f64 = 2.0;
/// And at least so many bytes a second: less is a journal's heartbeat, not a burst.
const LEAST_RATE: f64 = 1024.0 * 1024.0;
/// Pauses within a burst, in seconds: what a queue of requests takes to come again.
const PAUSE_SECONDS: f64 = 1.0;
/// Writing is in bursts where so much of all bytes is written in them (chosen),
const LEAST_SHARE: f64 = 0.5;
/// and they take at most so much of the time (chosen).
const MOST_TIME: f64 = 0.4;
/// Courses that are shorter, in seconds or in points, show no rhythm.
const LEAST_SECONDS: f64 = 5.0;
const LEAST_POINTS: usize = 20;
/// Lateness rises where it is so many times what it is between bursts (chosen).
const RISES: f64 = 1.5;

/// One burst of one trial.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Burst {
    from: f64,
    until: f64,
    bytes: f64,
}

/// The bursts of a lane's trials of one workload; `None`: its device is not written in bursts, or nobody saw
/// how it is.
pub(crate) fn of_trials(trials: &[&Trial]) -> Option<Bursts> {
    let seen: Vec<(&Trial, Vec<Burst>, f64)> = trials.iter().filter_map(|trial| in_trial(trial)).collect();
    let all = || seen.iter().flat_map(|(_, bursts, _)| bursts);
    let (written, in_bursts) = (seen.iter().map(|(.., bytes)| bytes).sum::<f64>(), all().map(|of| of.bytes).sum());
    // Most of the trials must show it: one burst of noise makes no rhythm.
    if seen.is_empty() || 2 * seen.len() <= trials.len() || written <= 0.0 {
        return None;
    }
    let apart = seen.iter().flat_map(|(_, bursts, _)| bursts.windows(2).map(|two| two[1].from - two[0].from));
    let lateness = |trial: &Trial| trial.groups.iter().find_map(|group| group.lateness.clone());
    let (mut between, mut within) = (Vec::new(), Vec::new());
    for (trial, bursts, _) in &seen {
        let Some(lateness) = lateness(trial) else { continue };
        let (calm, worst) = parted(&lateness, bursts);
        between.extend(calm);
        within.extend(worst);
    }
    let in_bursts: f64 = in_bursts;
    Some(Bursts {
        count: all().count() as u32,
        every_seconds: median(apart),
        bytes: median(all().map(|of| of.bytes))?,
        seconds: median(all().map(|of| of.until - of.from))?,
        share: (in_bursts / written).min(1.0),
        p99_between_ns: median(between),
        p99_in_ns: median(within),
    })
}

/// A trial's bursts and all bytes that its device was written in the window; `None`: it is not written in
/// bursts.
fn in_trial(trial: &Trial) -> Option<(&Trial, Vec<Burst>, f64)> {
    // A rate of a thinned course holds for no time: what was written by each point is known exactly.
    let timeline = trial.timeline.as_ref()?.finest();
    let (at, by) = (&timeline.measured_seconds, &timeline.device_written_bytes);
    let points = timeline.points();
    let seconds = at.get(points.checked_sub(1)?).copied()?;
    if by.len() != points || points < LEAST_POINTS || seconds < LEAST_SECONDS {
        return None;
    }
    let since = |column: &[f64], point: usize| if point == 0 { 0.0 } else { column[point - 1] };
    let from = |point: usize| since(at, point);
    let bytes = |point: usize| (by[point] - since(by, point)).max(0.0);
    let written = by[points - 1];
    let least = (TIMES_THE_MEAN * written / seconds).max(LEAST_RATE);
    let is_much = |point: &usize| bytes(*point) >= least * (at[*point] - from(*point)) && bytes(*point) > 0.0;
    let mut bursts: Vec<Burst> = Vec::new();
    for point in (0..points).filter(is_much) {
        match bursts.last_mut().filter(|last| from(point) - last.until <= PAUSE_SECONDS) {
            Some(last) => {
                last.until = at[point];
                last.bytes += bytes(point);
            }
            None => bursts.push(Burst { from: from(point), until: at[point], bytes: bytes(point) }),
        }
    }
    let (in_bursts, length) = bursts
        .iter()
        .fold((0.0, 0.0), |(bytes, length), burst| (bytes + burst.bytes, length + burst.until - burst.from));
    let shows = !bursts.is_empty() && in_bursts >= LEAST_SHARE * written && length <= MOST_TIME * seconds;
    shows.then_some((trial, bursts, written))
}

/// The 99th percentiles of lateness of the intervals between bursts, and of each burst the worst one.
fn parted(lateness: &Lateness, bursts: &[Burst]) -> (Vec<f64>, Vec<f64>) {
    let length = lateness.interval_seconds;
    let in_burst = |interval: usize, burst: &Burst| {
        let (from, until) = (interval as f64 * length, (interval + 1) as f64 * length);
        from < burst.until && until > burst.from
    };
    let known = || lateness.interval_p99_ns.iter().copied().enumerate().filter(|(_, late)| *late > 0.0);
    let calm = known().filter(|(at, _)| !bursts.iter().any(|burst| in_burst(*at, burst))).map(|(_, late)| late);
    let worst = |burst: &Burst| known().filter(|(at, _)| in_burst(*at, burst)).map(|(_, late)| late).reduce(f64::max);
    (calm.collect(), bursts.iter().filter_map(worst).collect())
}

/// The bursts in one sentence.
pub(crate) fn sentence(lane: &str, bursts: &Bursts) -> Sentence {
    let (who, bytes) = (name(lane), Value::Bytes(bursts.bytes));
    let seconds = |ns: f64| Value::Seconds(ns / 1e9);
    let rise = match (bursts.p99_between_ns, bursts.p99_in_ns) {
        (Some(between), Some(within)) if within > RISES * between => Some((seconds(between), seconds(within))),
        _ => None,
    };
    match (bursts.every_seconds.map(Value::Seconds), rise) {
        (Some(every), Some((between, within))) => statement::bursts_rise(who, every, bytes, between, within),
        (Some(every), None) => statement::bursts_hidden(who, every, bytes),
        (None, Some((between, within))) => statement::lone_bursts_rise(who, bytes, between, within),
        (None, None) => statement::lone_bursts_hidden(who, bytes),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::timeline::{Point, place_of, trial_timeline};
    use model::page::Quantity;
    use model::trial::{Group, Outcome, SystemUse};

    /// A trial of so many seconds, ten points a second.
    fn trial(seconds: usize, rate: impl Fn(f64) -> f64, late: impl Fn(f64) -> f64) -> Trial {
        let at: Vec<f64> = (1..=10 * seconds).map(|point| point as f64 / 10.0).collect();
        let point = |at: &f64| {
            let mut figures = [0.0; crate::timeline::QUANTITIES];
            figures[place_of(Quantity::DeviceWriteBytesPerSecond)] = rate(at - 0.05);
            Point { at: [*at; 2], figures }
        };
        // As a record keeps it: thinned.
        let timeline = trial_timeline(&at.iter().map(point).collect::<Vec<_>>(), |_| true);
        let lateness = Lateness {
            interval_seconds: 0.5,
            interval_p99_ns: (0..2 * seconds).map(|interval| late(interval as f64 / 2.0 + 0.25)).collect(),
            ..Lateness::default()
        };
        Trial {
            round: 1,
            position: 1,
            attempt: 1,
            lane: "btrfs".into(),
            workload: "w".into(),
            ground: 0,
            outcome: Outcome::Ok,
            reason: None,
            started: String::new(),
            phases_seconds: Default::default(),
            groups: vec![Group { lateness: Some(Box::new(lateness)), ..Group::default() }],
            system: SystemUse::default(),
            timeline,
            jobs: Vec::new(),
            flags: Vec::new(),
            disturbance: None,
        }
    }

    const MIB: f64 = 1024.0 * 1024.0;

    /// Three seconds at 80 MiB/s every thirty.
    fn rhythm(at: f64) -> f64 {
        if at % 30.0 >= 20.0 && at % 30.0 < 23.0 { 80.0 * MIB } else { 0.1 * MIB }
    }

    #[test]
    fn a_rhythm_is_named_with_its_bytes_and_what_it_does_to_lateness() {
        let late = |at: f64| if rhythm(at) > MIB { 900e6 } else { 2e6 };
        let trials = [trial(90, rhythm, late), trial(90, rhythm, late)];
        let bursts = of_trials(&trials.iter().collect::<Vec<_>>()).unwrap();
        assert_eq!((bursts.count, bursts.every_seconds.map(f64::round)), (6, Some(30.0)));
        assert!((bursts.bytes / (240.0 * MIB) - 1.0).abs() < 0.01 && (bursts.seconds - 3.0).abs() < 0.01, "{bursts:?}");
        assert_eq!((bursts.p99_between_ns, bursts.p99_in_ns), (Some(2e6), Some(900e6)));
        assert_eq!(
            sentence("btrfs", &bursts).as_str(),
            "btrfs writes every 30 s in bursts of 240 MiB; p99 lateness rises from 2 ms to 900 ms"
        );
        let all = 2.0 * 90.0 * (0.1 * 0.9 + 80.0 * 0.1) * MIB;
        assert!((bursts.share - 6.0 * 240.0 * MIB / all).abs() < 0.01, "{}", bursts.share);
        let calm = [trial(90, rhythm, |_| 2e6)];
        let bursts = of_trials(&calm.iter().collect::<Vec<_>>()).unwrap();
        assert!(sentence("xfs", &bursts).ends_with("which do not show in the lateness"));
    }

    #[test]
    fn bursts_keep_their_bytes_however_long_the_course_was() {
        // 35 s are 350 looks, and three minutes 1800, of which a record keeps 146 with their extremes.
        for (seconds, count) in [(12, 1), (35, 2), (180, 6), (600, 20)] {
            // Within a burst every other look sees nothing: a queue comes and goes.
            let rate = |at: f64| match rhythm(at - 12.0 + 30.0) > MIB && ((at * 10.0) as u64).is_multiple_of(2) {
                true => 160.0 * MIB,
                false => 0.05 * MIB,
            };
            let rate = |at: f64| if seconds == 12 { rate(at - 2.0) } else { rate(at) };
            let trial = trial(seconds, rate, |_| 1e6);
            let found = of_trials(&[&trial]).unwrap_or_else(|| panic!("{seconds} s: none"));
            assert_eq!(found.count, count, "{seconds} s: {found:?}");
            assert!((found.bytes / (240.0 * MIB) - 1.0).abs() < 0.02, "{seconds} s: {found:?}");
            assert!((found.seconds - 3.0).abs() < 1.1, "{seconds} s: {found:?}");
            assert!(found.every_seconds.is_none_or(|every| (every - 30.0).abs() < 0.6), "{seconds} s: {found:?}");
        }
    }

    #[test]
    fn a_lone_burst_has_no_rhythm() {
        let once = [trial(25, |at| if (10.0..12.0).contains(&at) { 50.0 * MIB } else { 0.0 }, |_| 1e6)];
        let bursts = of_trials(&once.iter().collect::<Vec<_>>()).unwrap();
        assert_eq!((bursts.count, bursts.every_seconds, bursts.share), (1, None, 1.0));
        assert!(sentence("ext4", &bursts).starts_with("ext4 writes in bursts of 100 MiB"));
    }

    #[test]
    fn steady_writing_a_little_and_what_nobody_saw_are_no_bursts() {
        let of = |trials: &[Trial]| of_trials(&trials.iter().collect::<Vec<_>>());
        assert_eq!(of(&[trial(30, |_| 50.0 * MIB, |_| 1e6)]), None, "steady");
        assert_eq!(of(&[trial(30, |at| 0.01 * rhythm(at), |_| 1e6)]), None, "under 1 MiB/s");
        assert_eq!(of(&[trial(4, |at| if at < 1.0 { 9.0 * MIB } else { 0.0 }, |_| 1e6)]), None, "too short");
        assert_eq!(
            of(&[trial(30, |at| if (at as u64).is_multiple_of(2) { 9.0 * MIB } else { 0.0 }, |_| 1e6)]),
            None,
            "half of it"
        );
        let blind = Trial { timeline: None, ..trial(30, rhythm, |_| 1e6) };
        assert_eq!(of(std::slice::from_ref(&blind)), None);
        assert_eq!(of(&[trial(90, rhythm, |_| 1e6), blind.clone()]), None, "one of two is not most");
        assert_eq!(of(&[]), None);
    }
}
