//! Simulates screenings: how often options that do nothing are said to matter, how often one that does is found, and how many
//! of the others are said not to.
//!
//! `cargo run --release -p stats --example screening [SCREENINGS [SEED]]`: Markdown tables.

#[path = "../tests/common/mod.rs"]
mod common;
#[path = "../tests/common/screened.rs"]
mod screened;

use common::io;
use common::sample::Normal;
use model::findings::EffectVerdict;
use model::workload::{Pattern, Workload};
use screened::{Noise, commit, empty, found, measure, options};
use stats::screening::lanes_of;

/// Options of a screening: every combination in 8 lanes, of one and two in several each, and in 16, then in 24 lanes, as many as
/// fit into these, and in 48 lanes.
const OPTIONS: [usize; 7] = [1, 2, 3, 4, 9, 11, 20];
const ROUNDS: [u32; 4] = [2, 4, 6, 8];
/// By how much lanes differ for good, as a standard deviation.
const APART: [f64; 4] = [0.0, 0.01, 0.025, 0.05];
/// Results of a screening of several, the options, the rounds, and by how much lanes differ in these.
const RESULTS: [usize; 2] = [4, 12];
const OPTIONS_OF_SEVERAL: [usize; 4] = [2, 4, 9, 20];
const ROUNDS_OF_SEVERAL: [u32; 2] = [2, 6];
const APART_OF_SEVERAL: [f64; 2] = [0.0, 0.01];
/// The option that does something, by its place; of fewer options the last.
const PLANTED: usize = 2;
/// What it does.
const EFFECTS: [f64; 2] = [0.05, 0.10];

/// Screenings of one kind.
#[derive(Clone, Copy)]
struct Question {
    options: usize,
    rounds: u32,
    apart: f64,
    /// What the planted option gains in the first result, as a share; 0: it does nothing either.
    effect: f64,
    /// How many results there are, whose noise is independent.
    results: usize,
}

/// Sums over screenings.
#[derive(Clone, Copy, Default)]
struct Sums {
    screenings: usize,
    /// With an option that does nothing and is said to matter, and how many such options.
    with_a_false_one: usize,
    false_ones: usize,
    /// Whose lanes are said to differ by themselves.
    lanes_differ: usize,
    /// In which the planted option is said to matter, and to gain.
    found: usize,
    /// Options that do nothing, and those of them that are said not to matter.
    idle: usize,
    dismissed: usize,
    /// Half-widths of the rows' intervals, on logarithms.
    half_widths: f64,
    effects: usize,
}

impl Sums {
    fn and(self, other: Sums) -> Sums {
        Sums {
            screenings: self.screenings + other.screenings,
            with_a_false_one: self.with_a_false_one + other.with_a_false_one,
            false_ones: self.false_ones + other.false_ones,
            lanes_differ: self.lanes_differ + other.lanes_differ,
            found: self.found + other.found,
            idle: self.idle + other.idle,
            dismissed: self.dismissed + other.dismissed,
            half_widths: self.half_widths + other.half_widths,
            effects: self.effects + other.effects,
        }
    }

    /// A count of screenings in percent of them.
    fn percent(&self, count: usize) -> f64 {
        100.0 * count as f64 / self.screenings.max(1) as f64
    }

    fn dismissed_percent(&self) -> f64 {
        100.0 * self.dismissed as f64 / self.idle.max(1) as f64
    }

    fn half_width_percent(&self) -> f64 {
        100.0 * (self.half_widths / self.effects.max(1) as f64).exp_m1()
    }
}

impl Question {
    /// One screening.
    fn ask(&self, source: &mut Normal) -> Sums {
        let noise = Noise { in_lanes: 0.05, lag1: 0.3, in_rounds: 0.05, of_lanes: self.apart };
        let at = PLANTED.min(self.options - 1);
        let works = works(self.results);
        let mut race = empty(self.options, self.rounds, works.clone());
        for (number, work) in works.iter().enumerate() {
            let effect = if number == 0 { self.effect } else { 0.0 };
            measure(&mut race, work, self.rounds, noise, source, &options(&[(at, 1.0 + effect)]));
        }
        let finding = found(&race);
        assert_eq!(finding.results.len(), self.results, "each of the works is one result");
        let differ = finding.results[0].lanes_differ;
        let mut sums = Sums { screenings: 1, lanes_differ: usize::from(differ), ..Sums::default() };
        for (number, result) in finding.results.iter().enumerate() {
            for (place, effect) in result.effects.iter().enumerate() {
                sums.half_widths += (effect.high / effect.low).ln() / 2.0;
                sums.effects += 1;
                let matters = effect.verdict == EffectVerdict::Matters;
                if number == 0 && place == at && self.effect > 0.0 {
                    sums.found += usize::from(matters && effect.ratio > 1.0);
                    continue;
                }
                sums.idle += 1;
                sums.false_ones += usize::from(matters);
                sums.dismissed += usize::from(effect.verdict == EffectVerdict::DoesNot);
            }
        }
        sums.with_a_false_one = usize::from(sums.false_ones > 0);
        sums
    }

    /// So many, divided into parts that each have a seed of their own: the same seed gives the same figures on every machine.
    fn ask_often(&self, screenings: usize, seed: u64) -> Sums {
        const PARTS: usize = 8;
        let next = std::sync::atomic::AtomicUsize::new(0);
        let work = || {
            let mut sums = Sums::default();
            loop {
                let part = next.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
                if part >= PARTS {
                    return sums;
                }
                let mut source = Normal::new(seed.wrapping_mul(1_000_003).wrapping_add(part as u64));
                sums = (0..screenings.div_ceil(PARTS)).fold(sums, |sums, _| sums.and(self.ask(&mut source)));
            }
        };
        let threads = std::thread::available_parallelism().map_or(1, std::num::NonZero::get).min(PARTS);
        std::thread::scope(|scope| {
            let running: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
            let done = running.into_iter().map(|thread| thread.join().expect("a simulation panicked"));
            done.fold(Sums::default(), Sums::and)
        })
    }
}

/// All kinds of screenings whose options do nothing.
fn questions() -> impl Iterator<Item = Question> {
    APART.into_iter().flat_map(move |apart| {
        OPTIONS.into_iter().flat_map(move |options| {
            ROUNDS.into_iter().map(move |rounds| Question { options, rounds, apart, effect: 0.0, results: 1 })
        })
    })
}

/// As many works, each with one result.
fn works(results: usize) -> Vec<Workload> {
    let further = (1..results).map(|number| io(&format!("commit{number}"), Pattern::Append, 1, 0));
    std::iter::once(commit()).chain(further).collect()
}

/// The table of screenings of several results.
fn tell_several(screenings: usize, seed: u64) {
    println!(
        "\nSeveral results at once, {screenings} screenings per row: in how many any option that does nothing is said to matter \
         in any result, rows that are said not to matter, and in how many an option is found that gains in one result alone.\n"
    );
    println!(
        "| options | results | lanes differ by | rounds | any false one, % | said not to matter, % | gains 5 % | gains 10 % |\n\
         | --- | --- | --- | --- | --- | --- | --- | --- |"
    );
    for apart in APART_OF_SEVERAL {
        for options in OPTIONS_OF_SEVERAL {
            for results in RESULTS {
                for rounds in ROUNDS_OF_SEVERAL {
                    let question = Question { options, rounds, apart, effect: 0.0, results };
                    let idle = question.ask_often(screenings, seed);
                    let of = |effect: f64| {
                        let sums = Question { effect, ..question }.ask_often(screenings, seed);
                        format!("{:.0}", sums.percent(sums.found))
                    };
                    println!(
                        "| {options} | {results} | {:.1} % | {rounds} | {:.1} | {:.0} | {} |",
                        100.0 * apart,
                        idle.percent(idle.with_a_false_one),
                        idle.dismissed_percent(),
                        EFFECTS.map(of).join(" | ")
                    );
                }
            }
        }
    }
}

/// In how many of so many screenings all planted interactions are told, and in how many another one is. Options of a pair gain 10 %
/// each, and another 10 % together.
fn interactions(options: usize, apart: f64, pairs: usize, screenings: usize, source: &mut Normal) -> [usize; 2] {
    const LOG: f64 = 0.095_310_179_804_324_87; // ln 1.1
    let truth = |run: &[bool]| -> f64 {
        let of_pair = |pair: usize| match (run[2 * pair], run[2 * pair + 1]) {
            (false, false) => 0.0,
            (true, true) => 3.0 * LOG,
            _ => LOG,
        };
        (0..pairs).map(of_pair).sum()
    };
    let noise = Noise { in_lanes: 0.05, lag1: 0.3, in_rounds: 0.05, of_lanes: apart };
    let (mut all, mut other) = (0, 0);
    for _ in 0..screenings {
        let mut race = empty(options, 6, vec![commit()]);
        measure(&mut race, &commit(), 6, noise, source, &truth);
        let told = &found(&race).results[0].interactions;
        let is_planted = |factors: &[String; 2]| {
            (0..pairs).any(|pair| *factors == [format!("o{}", 2 * pair), format!("o{}", 2 * pair + 1)])
        };
        let planted = told.iter().filter(|of| is_planted(&of.factors)).count();
        all += usize::from(planted == pairs);
        other += usize::from(planted < told.len());
    }
    [all, other]
}

/// The table of interactions.
fn tell_interactions(screenings: usize, seed: u64) {
    println!(
        "\nPairs of options that gain 10 % each and 10 % more together, six rounds: screenings that tell all of them, and another.\n"
    );
    println!(
        "| options | lanes differ by | such pairs | tell all, % | tell another, % |\n| --- | --- | --- | --- | --- |"
    );
    for apart in [0.0, 0.01, 0.025] {
        for options in OPTIONS {
            for pairs in 1..=(options / 2).min(3) {
                let told = interactions(options, apart, pairs, screenings, &mut Normal::new(seed));
                let [all, other] = told.map(|count| 100.0 * count as f64 / screenings.max(1) as f64);
                println!("| {options} | {:.1} % | {pairs} | {all:.0} | {other:.1} |", 100.0 * apart);
            }
        }
    }
}

fn main() {
    let argument = |place: usize| -> Option<u64> { std::env::args().nth(place)?.parse().ok() };
    let (screenings, seed) = (argument(1).unwrap_or(2000) as usize, argument(2).unwrap_or(1));
    println!(
        "{screenings} screenings per row, of one result where nothing else is said, seed {seed}. Noise of a lane 5 %, AR(1) 0.3; \
         of a round 5 % more, which all lanes share.\n"
    );
    println!("Options that do nothing:\n");
    println!(
        "| options | lanes | lanes differ by | rounds | screenings in which any is said to matter, % | such options in ten \
         screenings | said not to matter, % | half-width of a row, % | lanes said to differ, % |"
    );
    println!("| --- | --- | --- | --- | --- | --- | --- | --- | --- |");
    for question in questions() {
        let sums = question.ask_often(screenings, seed);
        println!(
            "| {} | {} | {:.1} % | {} | {:.1} | {:.2} | {:.0} | {:.1} | {:.1} |",
            question.options,
            lanes_of(question.options),
            100.0 * question.apart,
            question.rounds,
            sums.percent(sums.with_a_false_one),
            sums.percent(sums.false_ones) / 10.0,
            sums.dismissed_percent(),
            sums.half_width_percent(),
            sums.percent(sums.lanes_differ)
        );
    }
    println!("\nOne option that does something, in percent of screenings in which it is found:\n");
    println!("| options | lanes differ by | rounds | gains 5 % | gains 10 % |\n| --- | --- | --- | --- | --- |");
    for question in questions() {
        let of = |effect: f64| {
            let sums = Question { effect, ..question }.ask_often(screenings / 4, seed);
            format!("{:.0}", sums.percent(sums.found))
        };
        println!(
            "| {} | {:.1} % | {} | {} |",
            question.options,
            100.0 * question.apart,
            question.rounds,
            EFFECTS.map(of).join(" | ")
        );
    }
    tell_interactions(screenings / 4, seed);
    tell_several(screenings / 8, seed);
}
