//! Simulates the regression gate: how often a gate has a false verdict, what it resolves and what it
//! finds, and from how many pairs on pairing pays.
//!
//! `cargo run --release -p stats --example gate [SEED]`: prints the tables in Markdown.

#[path = "../src/sample.rs"]
mod sample;

use model::gate::GateVerdict;
use sample::Normal;
use stats::estimate;
use stats::gate::interval::{self, Interval, Margin};

/// What differs from boot to boot, on logarithms.
#[derive(Clone, Copy)]
enum Noise {
    Normal,
    /// Lognormal on the logarithms again, its long tail upwards.
    Skewed,
}

fn figure(source: &mut Normal, noise: Noise) -> f64 {
    match noise {
        Noise::Normal => source.next(),
        Noise::Skewed => {
            let variance = 0.25_f64;
            let spread = (variance.exp_m1() * variance.exp()).sqrt();
            ((0.5 * source.next()).exp() - (variance / 2.0).exp()) / spread
        }
    }
}

fn boots(source: &mut Normal, noise: Noise, count: usize, deviation: f64, level: f64) -> Vec<f64> {
    (0..count).map(|_| level + deviation * figure(source, noise)).collect()
}

fn welch(source: &mut Normal, noise: Noise, sizes: [usize; 2], deviations: [f64; 2], truth: f64, p: f64) -> Interval {
    let before = boots(source, noise, sizes[0], deviations[0], 0.0);
    let after = boots(source, noise, sizes[1], deviations[1], truth);
    interval::unpaired(&before, &after, p).unwrap_or_else(|| unreachable!("two boots at least"))
}

/// Percent of gates at the edge with a false `slower` and with a false `pass`.
fn errors(source: &mut Normal, noise: Noise, sizes: [usize; 2], deviations: [f64; 2]) -> (f64, f64) {
    const GATES: u32 = 20_000;
    const COMPARISONS: usize = 12;
    let (margin, p) = (Margin::new(0.05, true), interval::p_of_each(COMPARISONS));
    let (mut slower, mut passed) = (0, 0);
    for _ in 0..GATES {
        let verdicts: Vec<GateVerdict> = (0..COMPARISONS)
            .map(|_| margin.verdict(&welch(source, noise, sizes, deviations, margin.slower, p)))
            .collect();
        slower += u32::from(verdicts.contains(&GateVerdict::Slower));
        passed += u32::from(verdicts.iter().any(|of| matches!(of, GateVerdict::Pass | GateVerdict::Faster)));
    }
    let percent = |count: u32| 100.0 * f64::from(count) / f64::from(GATES);
    (percent(slower), percent(passed))
}

/// Median half-width in percent, and percent of comparisons within 5 %, of equal ones that pass, and of
/// those truly 8 and 12 % slower that fail.
fn power(source: &mut Normal, count: usize, deviation: f64, comparisons: usize) -> [f64; 5] {
    const RUNS: usize = 4000;
    let (margin, p) = (Margin::new(0.05, true), interval::p_of_each(comparisons));
    let mut of = |truth: f64| -> Vec<Interval> {
        (0..RUNS).map(|_| welch(source, Noise::Normal, [count; 2], [deviation; 2], truth, p)).collect()
    };
    let equal = of(0.0);
    let share = |hits: usize| 100.0 * hits as f64 / RUNS as f64;
    let failing = |all: &[Interval]| share(all.iter().filter(|of| margin.verdict(of) == GateVerdict::Slower).count());
    let half = estimate::median(equal.iter().map(|of| of.half)).unwrap_or(f64::NAN);
    let narrow = share(equal.iter().filter(|of| of.half <= 1.05_f64.ln()).count());
    let passing = equal.iter().filter(|of| matches!(margin.verdict(of), GateVerdict::Pass | GateVerdict::Faster));
    let passing = share(passing.count());
    [100.0 * half.exp_m1(), narrow, passing, failing(&of(0.92_f64.ln())), failing(&of(0.88_f64.ln()))]
}

/// Median half-width of pairs by that of Welch, where neighbouring boots share so much of their variance.
fn pairs_by_welch(source: &mut Normal, count: usize, shared: f64, p: f64) -> f64 {
    let (mut in_pairs, mut apart) = (Vec::new(), Vec::new());
    for _ in 0..4000 {
        let common = boots(source, Noise::Normal, count, shared.sqrt(), 0.0);
        let mut own = || boots(source, Noise::Normal, count, (1.0 - shared).sqrt(), 0.0);
        let sides = [own(), own()].map(|own| own.iter().zip(&common).map(|(own, of)| own + of).collect::<Vec<f64>>());
        let differences: Vec<f64> = sides[1].iter().zip(&sides[0]).map(|(after, before)| after - before).collect();
        in_pairs.extend(interval::paired(&differences, p).map(|of| of.half));
        apart.extend(interval::unpaired(&sides[0], &sides[1], p).map(|of| of.half));
    }
    estimate::median(in_pairs).unwrap_or(f64::NAN) / estimate::median(apart).unwrap_or(f64::NAN)
}

fn main() {
    let seed = std::env::args().nth(1).and_then(|seed| seed.parse().ok()).unwrap_or(1);
    let mut source = Normal::new(seed);
    println!("Gates of twelve comparisons, each truly 5 % slower, the edge, with any false verdict (seed {seed}), in");
    println!("percent: false `slower` / false `pass`. Deviations: of the first and of the second side.\n");
    println!("| boots | deviations | normal | skewed |\n| --- | --- | --- | --- |");
    for sizes in [[2, 2], [3, 3], [4, 4], [5, 5], [6, 6], [8, 8], [10, 10], [3, 4], [3, 10], [10, 3], [5, 10]] {
        for deviations in [[0.02, 0.02], [0.04, 0.02], [0.02, 0.04]] {
            if deviations[0] != deviations[1] && ![[3, 3], [5, 5], [10, 10], [3, 10]].contains(&sizes) {
                continue;
            }
            let of = [Noise::Normal, Noise::Skewed].map(|noise| errors(&mut source, noise, sizes, deviations));
            let shown = of.map(|(slower, passed)| format!("{slower:.1} / {passed:.1}"));
            println!(
                "| {} and {} | {:.0} and {:.0} % | {} | {} |",
                sizes[0],
                sizes[1],
                100.0 * deviations[0],
                100.0 * deviations[1],
                shown[0],
                shown[1]
            );
        }
    }
    println!(
        "\nOne comparison of a gate with margin 5 %: median half-width; in percent of comparisons: half-width within"
    );
    println!("5 %, equal sides that pass, candidates truly 8 % and 12 % slower that fail.\n");
    println!(
        "| comparisons | noise between boots | boots a side | half-width | within 5 % | pass | 8 % found | 12 % found |"
    );
    println!("| --- | --- | --- | --- | --- | --- | --- | --- |");
    for comparisons in [1, 12, 93] {
        for deviation in [0.01, 0.02, 0.04] {
            for count in [3, 4, 5, 6, 8, 10, 15, 20] {
                let [half, narrow, passing, eight, twelve] = power(&mut source, count, deviation, comparisons);
                println!(
                    "| {comparisons} | {:.0} % | {count} | {half:.1} % | {narrow:.0} | {passing:.0} | {eight:.0} | {twelve:.0} |",
                    100.0 * deviation
                );
            }
        }
    }
    println!(
        "\nHalf-width of pairs by Welch's, medians, twelve comparisons, by what neighbouring boots share of their"
    );
    println!("variance: below 1 pairing pays.\n");
    println!("| pairs | 0 % | 25 % | 50 % | 75 % | 90 % |\n| --- | --- | --- | --- | --- | --- |");
    for count in [3, 4, 5, 6, 7, 8, 10, 15] {
        let shared = [0.0, 0.25, 0.5, 0.75, 0.9];
        let of = shared.map(|shared| pairs_by_welch(&mut source, count, shared, interval::p_of_each(12)));
        let of = of.map(|ratio| format!("{ratio:.2}"));
        println!("| {count} | {} |", of.join(" | "));
    }
}
