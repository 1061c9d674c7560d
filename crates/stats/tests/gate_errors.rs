//! How often a whole gate of twelve comparisons has a false `slower`, simulated. The tables with powers
//! and more noises are printed by `cargo run --release -p stats --example gate`.

use crate::common::sample;

use model::gate::GateVerdict;
use sample::Normal;
use stats::gate::interval::{self, Interval, Margin};

const COMPARISONS: usize = 12;
const GATES: usize = 4000;

/// What differs from boot to boot, on logarithms.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Noise {
    /// Lognormal on the figures.
    Normal,
    /// Lognormal on the logarithms again: skewed where the rule expects symmetry.
    Skewed,
    /// Half of the variance is the boot's, the same in all comparisons.
    OfTheBoot,
}

/// One side: a list of replicates for each comparison, about `level`.
fn side(source: &mut Normal, noise: Noise, replicates: usize, deviation: f64, level: f64) -> Vec<Vec<f64>> {
    let boots: Vec<f64> = (0..replicates).map(|_| source.next()).collect();
    let mut figure = |boot: f64| match noise {
        Noise::Normal => source.next(),
        Noise::OfTheBoot => 0.5_f64.sqrt() * (boot + source.next()),
        // A lognormal of shape 0.5, centred and scaled to deviation 1.
        Noise::Skewed => {
            let variance = 0.25_f64;
            let spread = (variance.exp_m1() * variance.exp()).sqrt();
            ((0.5 * source.next()).exp() - (variance / 2.0).exp()) / spread
        }
    };
    (0..COMPARISONS).map(|_| boots.iter().map(|&boot| level + deviation * figure(boot)).collect()).collect()
}

type Method = fn(&[f64], &[f64], f64) -> Option<Interval>;

fn in_pairs(baseline: &[f64], candidate: &[f64], p: f64) -> Option<Interval> {
    let differences: Vec<f64> = candidate.iter().zip(baseline).map(|(after, before)| after - before).collect();
    interval::paired(&differences, p)
}

/// Share of gates in which at least one comparison comes out so, although each truly lies at `truth`.
fn share(method: Method, noise: Noise, sizes: [usize; 2], truth: f64, p: f64, verdicts: &[GateVerdict]) -> f64 {
    let mut source = Normal::new(17);
    let margin = Margin::new(0.05, true);
    let hit = |source: &mut Normal| {
        let baseline = side(source, noise, sizes[0], 0.02, 0.0);
        let candidate = side(source, noise, sizes[1], 0.02, truth);
        baseline.iter().zip(&candidate).any(|(before, after)| {
            let of = method(before, after, p).expect("two replicates at least");
            verdicts.contains(&margin.verdict(&of))
        })
    };
    (0..GATES).filter(|_| hit(&mut source)).count() as f64 / GATES as f64
}

/// A true share plus four binomial standard errors.
fn tolerated(share: f64) -> f64 {
    share + 4.0 * (share * (1.0 - share) / GATES as f64).sqrt()
}

const SIZES: [usize; 6] = [3, 4, 5, 6, 8, 10];

#[test]
fn a_candidate_at_the_edge_or_as_fast_as_before_seldom_fails() {
    let p = interval::p_of_each(COMPARISONS);
    let edge = Margin::new(0.05, true).slower;
    for noise in [Noise::Normal, Noise::Skewed, Noise::OfTheBoot] {
        for size in SIZES {
            for (method, name) in [(interval::unpaired as Method, "Welch"), (in_pairs, "pairs")] {
                for truth in [edge, 0.0] {
                    let errs = share(method, noise, [size; 2], truth, p, &[GateVerdict::Slower]);
                    // Of intervals that hold with 95 % half of the misses are on this side.
                    assert!(errs <= tolerated(0.025), "{name}, {noise:?}, {size} boots, {truth}: {errs}");
                }
            }
        }
    }
}

#[test]
fn nothing_at_the_edge_is_passed_more_often_than_it_fails() {
    let p = interval::p_of_each(COMPARISONS);
    let edge = Margin::new(0.05, true).slower;
    for size in SIZES {
        let good = [GateVerdict::Pass, GateVerdict::Faster];
        let passed = share(interval::unpaired, Noise::Normal, [size; 2], edge, p, &good);
        assert!(passed <= tolerated(0.025), "{size} boots: {passed}");
    }
}

#[test]
fn sides_of_unequal_size_keep_the_promise_too() {
    let p = interval::p_of_each(COMPARISONS);
    let edge = Margin::new(0.05, true).slower;
    for noise in [Noise::Normal, Noise::Skewed] {
        for sizes in [[3, 4], [3, 10], [10, 3], [5, 10]] {
            let errs = share(interval::unpaired, noise, sizes, edge, p, &[GateVerdict::Slower]);
            assert!(errs <= tolerated(0.05), "{noise:?}, {sizes:?}: {errs}");
        }
    }
}

#[test]
fn without_the_control_of_errors_every_fourth_gate_would_fail_at_the_edge() {
    let edge = Margin::new(0.05, true).slower;
    let errs = share(interval::unpaired, Noise::Normal, [5, 5], edge, 0.05, &[GateVerdict::Slower]);
    assert!(errs > 0.15, "the simulation would not see a gate without control: {errs}");
}

#[test]
fn a_true_regression_of_a_fifth_is_found_by_five_boots_at_two_percent_of_noise() {
    let p = interval::p_of_each(COMPARISONS);
    let slower = 0.8_f64.ln();
    let mut source = Normal::new(5);
    let margin = Margin::new(0.05, true);
    let found = (0..500).filter(|_| {
        let before = side(&mut source, Noise::Normal, 5, 0.02, 0.0);
        let after = side(&mut source, Noise::Normal, 5, 0.02, slower);
        margin.verdict(&interval::unpaired(&before[0], &after[0], p).expect("an interval")) == GateVerdict::Slower
    });
    assert!(found.count() >= 490, "a gate that finds nothing has no errors either");
}
