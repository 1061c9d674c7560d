//! How often means decide where no lane stalls, how soon stalls are found, and what choosing between means and medians
//! by the rounds themselves does to false verdicts.

use crate::race::{ROUNDS, Race, Result, differs, first_answer, in_parts};
use crate::sample::Normal;
use model::plan::LOOKS;
use stats::estimate::median;
use stats::stalls;

const LANES: usize = 3;
const SLICES: usize = 6;
const SLICE_SECONDS: f64 = 0.1;
/// What the library divides among lanes and groups.
const P: f64 = 0.05;
const MARGIN: f64 = 0.05;
/// Seconds that a stall lasts.
const STALL_SECONDS: f64 = 1.0;

/// Which lanes stall.
#[derive(Clone, Copy, PartialEq)]
enum Stalls {
    Nobody,
    /// The first, in every third round.
    First,
    /// Each in a third of its rounds, at random.
    Everybody,
    /// One of them, in one of the rounds of the first look, at random: an event, and no way of working.
    Event,
}

/// Counts over races.
#[derive(Default)]
struct Counts {
    races: usize,
    /// Means decided at the first look, and at any.
    by_means: [usize; 2],
    /// A verdict `faster` at some look: by medians alone, and by what the library chooses.
    different: [usize; 2],
}

/// One lane's medians and means of all rounds; the lanes are equal but for their stalls.
fn lane(
    source: &mut Normal,
    (within, between): (f64, f64),
    stalls: impl Fn(&mut Normal, usize) -> bool,
) -> [Vec<f64>; 2] {
    let mut figures = [Vec::new(), Vec::new()];
    for round in 0..ROUNDS {
        let level = (between * source.next()).exp();
        let stall = if stalls(source, round) { STALL_SECONDS } else { 0.0 };
        let slices: Vec<(f64, f64)> = (0..SLICES)
            .map(|slice| {
                let seconds = SLICE_SECONDS + if slice == 2 { stall } else { 0.0 };
                (level * (within * source.next()).exp() * SLICE_SECONDS, seconds)
            })
            .collect();
        let sum = |of: fn(&(f64, f64)) -> f64| slices.iter().map(of).sum::<f64>();
        figures[0].extend(median(slices.iter().map(|(operations, seconds)| operations / seconds)));
        figures[1].push(sum(|of| of.0) / sum(|of| of.1));
    }
    figures
}

fn simulate(source: &mut Normal, races: usize, noise: (f64, f64), stalls: Stalls) -> Counts {
    let rule = first_answer(LANES, MARGIN);
    let mut counts = Counts { races, ..Counts::default() };
    for _ in 0..races {
        // Which of so many: parts of a normal distribution that are about as large as each other.
        let of_equal = |source: &mut Normal, count: usize| {
            let share = 1.0 / (1.0 + (-1.702 * source.next()).exp());
            ((share * count as f64) as usize).min(count - 1)
        };
        let event = (of_equal(source, LANES), of_equal(source, LOOKS[0] as usize));
        let lanes: Vec<[Vec<f64>; 2]> = (0..LANES)
            .map(|at| {
                lane(source, noise, |source, round| match stalls {
                    Stalls::Nobody => false,
                    Stalls::First => at == 0 && round % 3 == 1,
                    // A third of a normal distribution lies below this.
                    Stalls::Everybody => source.next() < -0.4307,
                    Stalls::Event => (at, round) == event,
                })
            })
            .collect();
        let by = |figure: usize| {
            let logs = lanes.iter().map(|lane| lane[figure].iter().map(|rate| rate.ln()).collect()).collect();
            Race { results: vec![Result::from_logs(logs)] }
        };
        let both = [by(0), by(1)];
        let mut seen = Counts::default();
        for (at, look) in LOOKS.into_iter().map(|look| look as usize).enumerate() {
            let shows = |lane: &[Vec<f64>; 2]| {
                stalls::shift(&lane[0][..look], &lane[1][..look], P / LANES as f64, MARGIN.ln_1p())
                    .is_some_and(|of| of.alone.is_none())
            };
            let means = lanes.iter().any(shows);
            seen.by_means[0] |= usize::from(means && at == 0);
            seen.by_means[1] |= usize::from(means);
            let found = |of: &Race| {
                let intervals = of.intervals(0, look, &rule, 0.0);
                intervals.iter().any(|of| differs(rule.verdict(of.mean, of.half, look == ROUNDS)))
            };
            seen.different[0] |= usize::from(found(&both[0]));
            seen.different[1] |= usize::from(found(&both[usize::from(means)]));
        }
        (0..2).for_each(|at| counts.by_means[at] += seen.by_means[at]);
        (0..2).for_each(|at| counts.different[at] += seen.different[at]);
    }
    counts
}

/// The table.
pub fn table(races: usize, seed: u64) {
    println!("## Stalls: means or medians, three lanes that are equal but for stalls of 1 s, {races} races per row\n");
    println!("Percent of races. Six slices of 0.1 s a round; first answer; any of five looks where none is named.\n");
    println!(
        "| noise of slices, of rounds | who stalls | means decide at 6 rounds | at any | different by medians | as chosen |"
    );
    println!("| --- | --- | --- | --- | --- | --- |");
    for (within, between) in [(0.02, 0.02), (0.05, 0.02), (0.1, 0.1), (0.3, 0.1), (0.05, 0.3)] {
        for (name, stalls) in [
            ("nobody", Stalls::Nobody),
            ("one, every third round", Stalls::First),
            ("all, a third of rounds", Stalls::Everybody),
            ("one event at random in the race", Stalls::Event),
        ] {
            let add = |mut a: Counts, b: Counts| {
                a.races += b.races;
                (0..2).for_each(|at| a.by_means[at] += b.by_means[at]);
                (0..2).for_each(|at| a.different[at] += b.different[at]);
                a
            };
            let one = |source: &mut Normal, count: usize| simulate(source, count, (within, between), stalls);
            let of = in_parts(seed, races, one, add);
            let percent = |count: usize| format!("{:.1}", 100.0 * count as f64 / of.races as f64);
            let [first, any, medians, chosen] =
                [of.by_means[0], of.by_means[1], of.different[0], of.different[1]].map(percent);
            println!(
                "| {:.0} %, {:.0} % | {name} | {first} | {any} | {medians} | {chosen} |",
                100.0 * within,
                100.0 * between
            );
        }
    }
    println!();
}
