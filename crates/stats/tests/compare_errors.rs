//! How often a comparison of two races of equal lanes has a false row, simulated. The tables are printed
//! by `cargo run --release -p stats --example compare`.

use crate::common::sample;

use sample::{Normal, correlated};
use stats::{compare, estimate};

const COMPARISONS: usize = 6000;

/// Share of comparisons in which any of so many rows of equal lanes is called different: by the rule in use,
/// and by Welch's test alone.
fn errors(sizes: [usize; 2], lag1: f64, rows: usize) -> [f64; 2] {
    let mut source = Normal::new(11);
    let mut found = [0; 2];
    let all = COMPARISONS / rows;
    for _ in 0..all {
        let (mut ours, mut plain) = (false, false);
        for _ in 0..rows {
            let [a, b] = sizes.map(|rounds| correlated(&mut source, rounds, lag1));
            let of = compare::apart(&a, &b, compare::p_of_each(rows)).unwrap();
            ours |= of.difference.abs() > of.half;
            let of = estimate::welch(&a, &b).unwrap();
            plain |= of.difference.abs() > of.half_width(0.05 / rows as f64);
        }
        found = [found[0] + usize::from(ours), found[1] + usize::from(plain)];
    }
    found.map(|count| count as f64 / all as f64)
}

/// Five percent and four binomial standard errors.
fn tolerated(rows: usize) -> f64 {
    0.05 + 4.0 * (0.05 * 0.95 / (COMPARISONS / rows) as f64).sqrt()
}

#[test]
fn equal_lanes_that_raced_apart_are_seldom_called_different_though_rounds_resemble_each_other() {
    for (sizes, rows) in [([3, 3], 1), ([6, 6], 1), ([6, 20], 1), ([20, 20], 1), ([6, 6], 12)] {
        for lag1 in [0.0, 0.3] {
            let [ours, _] = errors(sizes, lag1, rows);
            assert!(ours <= tolerated(rows), "{sizes:?} rounds, lag 1 of {lag1}, {rows} rows: {ours}");
        }
    }
}

#[test]
fn without_the_widening_every_eighth_comparison_would_be_wrong() {
    let [ours, plain] = errors([6, 6], 0.3, 1);
    assert!(plain > 0.10, "the simulation would not see a rule that forgets the correlation: {plain}");
    assert!(ours > 0.005, "a rule that finds nothing has no errors either: {ours}");
}

#[test]
fn what_rounds_show_beyond_the_assumed_correlation_makes_the_interval_wider() {
    let steady: Vec<f64> = (0..20).map(|round| 0.01 * if round % 2 == 0 { 1.0 } else { -1.0 }).collect();
    // The same figures in another order: a drift.
    let drift: Vec<f64> = (0..20).map(|round| 0.01 * if round < 10 { 1.0 } else { -1.0 }).collect();
    let half = |side: &[f64]| compare::apart(side, &steady, 0.05).unwrap().half;
    assert!(half(&drift) > 1.5 * half(&steady), "{} and {}", half(&drift), half(&steady));
    // By hand, 20 rounds at 0.3: n Var(mean)/σ² = 1.7959, E s²/σ² = (20 - 1.7959)/19; t(0.05, 2 x 16.18) = 2.036.
    let spread = estimate::moments(&steady).unwrap().deviation;
    let factor = (1.795_9_f64 / ((20.0 - 1.795_9) / 19.0)).sqrt();
    let by_hand = 2.036 * factor * spread * (2.0_f64 / 20.0).sqrt();
    assert!((half(&steady) / by_hand - 1.0).abs() < 0.01, "{} and {by_hand}", half(&steady));
    assert_eq!(compare::apart(&[0.1], &steady, 0.05), None);
}
