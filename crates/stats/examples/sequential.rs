//! Simulates the sequential looks: how often a family of equal lanes gets a false `faster`, under
//! normal, lognormal and correlated noise, and how soon true differences are decided.
//!
//! `cargo run --release -p stats --example sequential [SEED]`: prints the tables in Markdown.

#[path = "../src/sample.rs"]
mod sample;

use model::findings::Verdict;
use model::plan::{LOOKS, Rounds};
use sample::Normal;
use stats::sequential::{self, Rule};

/// One lane's noise from round to round, on its logarithm.
#[derive(Clone, Copy)]
enum Noise {
    /// Independent and normal.
    Normal,
    /// Independent and lognormal on the logarithm itself: skewed where the rule expects symmetry.
    Skewed,
    /// First-order autoregression with this lag-1 correlation.
    Correlated(f64),
}

/// Logarithms of one lane's figures with this standard deviation.
fn lane(source: &mut Normal, noise: Noise, deviation: f64, figures: &mut [f64]) {
    let mut before = source.next();
    for figure in figures {
        let unit = match noise {
            Noise::Normal => source.next(),
            // A lognormal of shape 0.5, centred and scaled to deviation 1.
            Noise::Skewed => {
                let variance = 0.25_f64;
                let spread = (variance.exp_m1() * variance.exp()).sqrt();
                ((0.5 * source.next()).exp() - (variance / 2.0).exp()) / spread
            }
            Noise::Correlated(lag1) => lag1 * before + (1.0 - lag1 * lag1).sqrt() * source.next(),
        };
        before = unit;
        *figure = deviation * unit;
    }
}

const ROUNDS: usize = LOOKS[LOOKS.len() - 1] as usize;

/// Whether any pair of a family of equal lanes is called different at any look.
fn family_errs(source: &mut Normal, lanes: usize, noise: Noise, deviation: f64, rule: &Rule) -> bool {
    let mut figures = vec![[0.0; ROUNDS]; lanes];
    for figures in &mut figures {
        lane(source, noise, deviation, figures);
    }
    let mut differences = [0.0; ROUNDS];
    for a in 1..lanes {
        for b in 0..a {
            for (round, difference) in differences.iter_mut().enumerate() {
                *difference = figures[a][round] - figures[b][round];
            }
            if LOOKS.iter().any(|&look| differs(&differences[..look as usize], look, rule)) {
                return true;
            }
        }
    }
    false
}

fn differs(differences: &[f64], look: u32, rule: &Rule) -> bool {
    let Some(of) = sequential::interval(differences, rule) else { return false };
    matches!(rule.verdict(of.mean, of.half, look as usize == ROUNDS), Verdict::Faster | Verdict::Slower)
}

fn share_of_errors(source: &mut Normal, lanes: usize, noise: Noise, deviation: f64, rule: &Rule, families: u32) -> f64 {
    let errors = (0..families).filter(|_| family_errs(source, lanes, noise, deviation, rule)).count();
    errors as f64 / f64::from(families)
}

/// Share decided rightly at the first look and by the last, and the mean number of rounds.
fn power(source: &mut Normal, truth: f64, deviation: f64, rule: &Rule, races: u32) -> (f64, f64, f64) {
    let (mut first, mut decided, mut rounds) = (0, 0, 0);
    for _ in 0..races {
        let mut lanes = [[0.0; ROUNDS]; 2];
        for figures in &mut lanes {
            lane(source, Noise::Normal, deviation / 2_f64.sqrt(), figures);
        }
        let differences: Vec<f64> = (0..ROUNDS).map(|round| lanes[0][round] - lanes[1][round] + truth).collect();
        let verdict = LOOKS.iter().find_map(|&look| {
            let of = sequential::interval(&differences[..look as usize], rule)?;
            let verdict = rule.verdict(of.mean, of.half, look as usize == ROUNDS);
            (verdict != Verdict::Undecided).then_some((look, verdict))
        });
        let right = |verdict| if truth == 0.0 { verdict == Verdict::Tie } else { verdict == Verdict::Faster };
        rounds += verdict.map_or(ROUNDS as u32, |(look, _)| look);
        if let Some((look, verdict)) = verdict
            && right(verdict)
        {
            decided += 1;
            first += u32::from(look == LOOKS[0]);
        }
    }
    let share = |count: u32| f64::from(count) / f64::from(races);
    (share(first), share(decided), share(rounds))
}

fn main() {
    let seed = std::env::args().nth(1).and_then(|seed| seed.parse().ok()).unwrap_or(1);
    let mut source = Normal::new(seed);
    let noises = [Noise::Normal, Noise::Skewed, Noise::Correlated(0.3), Noise::Correlated(0.5)];
    println!("Families of equal lanes with a false `faster` at any look (seed {seed}), in percent.");
    println!("No tie margin and no width condition: the worst case of the rule.\n");
    println!("| lanes | pairs | normal | lognormal | AR(1) 0.3 | AR(1) 0.5 |\n| --- | --- | --- | --- | --- | --- |");
    for lanes in 2..=6_usize {
        let pairs = lanes * (lanes - 1) / 2;
        let rule = Rule { pairs, rounds: Rounds::Auto, margin: 0.0, first_answer: true };
        let families = 200_000 / lanes as u32;
        let shares = noises.map(|noise| 100.0 * share_of_errors(&mut source, lanes, noise, 0.04, &rule, families));
        println!("| {lanes} | {pairs} | {:.2} | {:.2} | {:.2} | {:.2} |", shares[0], shares[1], shares[2], shares[3]);
    }
    println!("\nThe same with the whole rule (margin 5 %, width condition), noise of 4 % per lane.\n");
    println!("| lanes | pairs | normal | lognormal | AR(1) 0.3 | AR(1) 0.5 |\n| --- | --- | --- | --- | --- | --- |");
    for lanes in [2, 3, 6_usize] {
        let pairs = lanes * (lanes - 1) / 2;
        let rule = Rule { pairs, rounds: Rounds::Auto, margin: 0.05, first_answer: false };
        let families = 200_000 / lanes as u32;
        let shares = noises.map(|noise| 100.0 * share_of_errors(&mut source, lanes, noise, 0.04, &rule, families));
        println!("| {lanes} | {pairs} | {:.2} | {:.2} | {:.2} | {:.2} |", shares[0], shares[1], shares[2], shares[3]);
    }
    println!("\nOne pair of a family: decided rightly at six rounds, by twenty rounds (percent), mean rounds.\n");
    println!("| pairs | first answer | true ratio | sd of the pair | at 6 | by 20 | rounds |");
    println!("| --- | --- | --- | --- | --- | --- | --- |");
    for (pairs, first_answer) in [(1, false), (3, false), (3, true)] {
        for (ratio, deviation) in
            [(1.0, 0.02), (1.0, 0.04), (1.12, 0.02), (1.12, 0.04), (1.12, 0.08), (2.0, 0.10), (2.0, 0.14)]
        {
            let rule = Rule { pairs, rounds: Rounds::Auto, margin: 0.05, first_answer };
            let (first, decided, rounds) = power(&mut source, f64::ln(ratio), deviation, &rule, 10_000);
            let answer = if first_answer { "yes" } else { "no" };
            let (first, decided, sd) = (100.0 * first, 100.0 * decided, 100.0 * deviation);
            println!("| {pairs} | {answer} | {ratio} | {sd:.0} % | {first:.1} | {decided:.1} | {rounds:.1} |");
        }
    }
}
