//! Simulates `fairlane compare A B`: how often a comparison of two races of equal lanes has a false
//! `faster` or `slower` among its rows, and how often a true difference is found.
//!
//! `cargo run --release -p stats --example compare [COMPARISONS [SEED]]`: Markdown tables.

#[path = "../src/sample.rs"]
mod sample;

use sample::Normal;
use stats::{compare, estimate};

/// Noise of one lane from round to round, on its logarithm; standard deviation 1.
#[derive(Clone, Copy)]
struct Noise {
    name: &'static str,
    /// Lag-1 correlation of a first-order autoregression.
    lag1: f64,
    /// What comes new in each round is lognormal (shape 0.5).
    skewed: bool,
}

const NOISES: [Noise; 5] = [
    Noise { name: "normal", lag1: 0.0, skewed: false },
    Noise { name: "lognormal", lag1: 0.0, skewed: true },
    Noise { name: "AR(1) 0.3", lag1: 0.3, skewed: false },
    Noise { name: "AR(1) 0.3, lognormal", lag1: 0.3, skewed: true },
    Noise { name: "AR(1) 0.5", lag1: 0.5, skewed: false },
];

impl Noise {
    fn fresh(self, source: &mut Normal) -> f64 {
        if !self.skewed {
            return source.next();
        }
        let variance = 0.25_f64;
        let spread = (variance.exp_m1() * variance.exp()).sqrt();
        ((0.5 * source.next()).exp() - (variance / 2.0).exp()) / spread
    }

    fn rounds(self, source: &mut Normal, count: usize, deviation: f64, level: f64) -> Vec<f64> {
        let mut before = self.fresh(source);
        let beside = (1.0 - self.lag1 * self.lag1).sqrt();
        let mut next = || {
            before = self.lag1 * before + beside * self.fresh(source);
            level + deviation * before
        };
        (0..count).map(|_| next()).collect()
    }
}

/// Whether a row is called different, by the rule in use and by Welch's test at 5 % by the rows. Where even
/// that sees nothing the wider interval is not worth computing.
fn called(a: &[f64], b: &[f64], rows: usize) -> [bool; 2] {
    let plain = estimate::welch(a, b).is_some_and(|of| of.difference.abs() > of.half_width(0.05 / rows as f64));
    let near = estimate::welch(a, b).is_some_and(|of| of.difference.abs() > of.error);
    let ours = near && compare::apart(a, b, compare::p_of_each(rows)).is_some_and(|of| of.difference.abs() > of.half);
    [ours, plain]
}

/// Percent of comparisons with any row called different, by each rule.
fn share(
    source: &mut Normal,
    noise: Noise,
    sizes: [usize; 2],
    setting: (usize, [f64; 2], f64),
    all: usize,
) -> [f64; 2] {
    let (rows, deviations, truth) = setting;
    let mut found = [0_usize; 2];
    for _ in 0..all {
        let mut any = [false; 2];
        for _ in 0..rows {
            let a = noise.rounds(source, sizes[0], deviations[0], 0.0);
            let b = noise.rounds(source, sizes[1], deviations[1], truth);
            any.iter_mut().zip(called(&a, &b, rows)).for_each(|(any, one)| *any |= one);
        }
        found.iter_mut().zip(any).for_each(|(count, any)| *count += usize::from(any));
    }
    found.map(|count| 100.0 * count as f64 / all as f64)
}

fn main() {
    let argument = |place: usize| std::env::args().nth(place).and_then(|given| given.parse().ok());
    let (all, seed) = (argument(1).unwrap_or(40_000), argument(2).unwrap_or(1));
    let mut source = Normal::new(seed);
    let all = all as usize;
    println!("Comparisons of equal lanes with any false row, in percent: the rule in use / Welch without more.");
    println!("{all} comparisons of one row, an eighth of them of twelve, seed {seed}.\n");
    let sizes = [[2, 2], [3, 3], [6, 6], [6, 20], [20, 20]];
    println!(
        "| rows, noise | 2 and 2 rounds | 3 and 3 | 6 and 6 | 6 and 20 | 20 and 20 |\n| --- | --- | --- | --- | --- | --- |"
    );
    for rows in [1, 12] {
        for noise in NOISES {
            let cell = |sizes: &[usize; 2]| {
                let all = if rows == 1 { all } else { all / 8 };
                let [ours, plain] = share(&mut source, noise, *sizes, (rows, [0.02; 2], 0.0), all);
                format!("{ours:.1} / {plain:.1}")
            };
            let cells: Vec<String> = sizes.iter().map(cell).collect();
            println!("| {rows}, {} | {} |", noise.name, cells.join(" | "));
        }
    }
    println!("\nThe same where one side varies twice as much (AR(1) 0.3, one row):\n");
    println!("| rounds | false |\n| --- | --- |");
    for sizes in [[6, 6], [6, 20], [20, 6], [20, 20]] {
        let [ours, plain] = share(&mut source, NOISES[2], sizes, (1, [0.04, 0.02], 0.0), all);
        println!("| {} and {} | {ours:.1} / {plain:.1} |", sizes[0], sizes[1]);
    }
    println!("\nOne row of twelve, white noise of 2 %: percent of true differences that are found.\n");
    println!("| rounds | 3 % | 6 % | 12 % |\n| --- | --- | --- | --- |");
    for sizes in [[6, 6], [6, 20], [20, 20]] {
        let mut cell = |truth: f64| {
            let runs = all / 8;
            let mut found = 0_usize;
            for _ in 0..runs {
                let a = NOISES[0].rounds(&mut source, sizes[0], 0.02, 0.0);
                let b = NOISES[0].rounds(&mut source, sizes[1], 0.02, truth.ln_1p());
                found += usize::from(called(&a, &b, 12)[0]);
            }
            format!("{:.0}", 100.0 * found as f64 / runs as f64)
        };
        let cells = [0.03, 0.06, 0.12].map(&mut cell);
        println!("| {} and {} | {} |", sizes[0], sizes[1], cells.join(" | "));
    }
}
