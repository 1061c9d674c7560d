//! A small run of the simulation behind the constants (`examples/sequential`): it fails where a rule
//! calls equal lanes different more often than promised, or so seldom that power is given away.

#![allow(dead_code)] // The tables of the whole simulation are printed elsewhere.

#[path = "../src/sample.rs"]
mod sample;

#[path = "../examples/sequential/errors.rs"]
mod errors;
#[path = "../examples/sequential/power.rs"]
mod power;
#[path = "../examples/sequential/race.rs"]
mod race;

use errors::{Judged, errors};
use power::Question;
use race::{Noise, first_answer, whole};
use stats::resolution::{self, Contest};

const CORRELATED: Noise = Noise::correlated(0.3);

/// Four binomial standard errors of 5 %, in percent.
fn tolerance(families: usize) -> f64 {
    400.0 * (0.05 * 0.95 / families as f64).sqrt()
}

#[test]
fn a_family_alone_holds_five_percent_under_every_rule_and_noise() {
    let families = 16_000;
    for lanes in [2, 3] {
        for noise in [Noise::WHITE, Noise { skewed: true, ..Noise::WHITE }, CORRELATED] {
            let counts = errors(7, families, lanes, &[noise], Judged::All);
            let limit = 5.0 + tolerance(families);
            let first = counts.first_answer.map(|count| counts.percent(count));
            let whole: Vec<f64> = counts.whole.iter().flatten().map(|&count| counts.percent(count)).collect();
            let fixed = counts.worst_fixed();
            assert!(first.iter().all(|&share| share <= limit), "{lanes} lanes, lag 1 {}: {first:?}", noise.lag1);
            assert!(whole.iter().all(|&share| share <= limit), "{lanes} lanes, lag 1 {}: {whole:?}", noise.lag1);
            assert!(fixed <= limit, "{lanes} lanes, lag 1 {}: {fixed}", noise.lag1);
            if noise.lag1 > 0.0 {
                let worst = whole.iter().copied().fold(0.0, f64::max);
                assert!(first[4] >= 4.0 && worst >= 3.7 && fixed >= 3.7, "power given away: {first:?} {worst} {fixed}");
            }
        }
    }
}

#[test]
fn races_of_many_results_hold_it_too_and_white_noise_gets_narrower_intervals_there() {
    let families = 8_000;
    let limit = 5.0 + tolerance(families);
    let counts = errors(8, families, 3, &[CORRELATED; 10], Judged::All);
    let first = counts.percent(counts.first_answer[4]);
    let whole = counts.whole.iter().flatten().map(|&count| counts.percent(count)).fold(0.0, f64::max);
    assert!(first <= limit && whole <= limit && counts.worst_fixed() <= limit, "{first} {whole}");
    let alone = errors(9, families, 3, &[Noise::WHITE], Judged::All);
    let many = errors(9, families, 3, &[Noise::WHITE; 10], Judged::All);
    assert!(many.first_answer[4] > alone.first_answer[4], "{:?} {:?}", many.first_answer, alone.first_answer);
}

#[test]
fn a_difference_as_large_as_the_margin_is_seldom_a_tie() {
    for (lanes, deviation) in [(2, 0.015), (2, 0.03), (3, 0.02)] {
        let rule = whole(lanes, 0.05);
        let question = Question { rule, lanes, results: 1, noise: CORRELATED, deviation, truth: rule.delta() };
        let tied = question.power(3, 4_000).tied();
        assert!(tied <= 5.0 + tolerance(4_000), "{lanes} lanes, {deviation}: {tied}");
    }
}

#[test]
fn true_differences_are_decided_about_as_soon_as_without_any_correlation() {
    // Published for white noise and constants without any room for correlation: 6.3, 10.9, 19.2.
    for (deviation, most) in [(0.02, 6.7), (0.04, 12.0), (0.08, 19.6)] {
        let rule = whole(2, 0.05);
        let truth = 1.12_f64.ln();
        let of = Question { rule, lanes: 2, results: 1, noise: Noise::WHITE, deviation, truth }.power(5, 2_000);
        assert!(of.rounds() <= most && of.decided() > 95.0, "{deviation}: {} {}", of.rounds(), of.decided());
    }
    let rule = first_answer(3, 0.05);
    let twice = Question { rule, lanes: 3, results: 1, noise: Noise::WHITE, deviation: 0.10, truth: 2_f64.ln() };
    assert!(twice.power(5, 2_000).at_first_look() >= 97.0);
    let noisier = Question { deviation: 0.10 * 2_f64.sqrt(), ..twice };
    assert!(noisier.power(5, 2_000).at_first_look() >= 90.0, "10 % of each lane");
}

#[test]
fn forecasts_mostly_come_true() {
    let rule = whole(3, 0.05);
    for (deviation, share) in [(0.04, 0.12_f64), (0.08, 0.25)] {
        let truth = share.ln_1p();
        let question = Question { rule, lanes: 3, results: 1, noise: Noise::WHITE, deviation, truth };
        let came_true = question.forecasts_come_true(6, 1_600);
        assert!(came_true >= 65.0, "{deviation}, {share}: {came_true}");
    }
}

#[test]
fn planned_differences_are_resolved_as_often_as_planned() {
    for (lanes, results, rule) in [(2, 1, whole(2, 0.05)), (3, 1, first_answer(3, 0.05)), (3, 6, whole(3, 0.05))] {
        for (deviation, correlation) in [(0.04, 0.0), (0.08, 0.0), (0.04, 0.3)] {
            for rounds in [6, 10, 20] {
                let contest = Contest { rule, lanes, results };
                let noise = resolution::Noise { deviation, correlation };
                let share = resolution::smallest_difference(noise, rounds, &contest).unwrap();
                let (noise, truth) = (Noise::correlated(correlation), share.ln_1p());
                let question = Question { rule, lanes, results, noise, deviation, truth };
                let resolved = question.excludes_zero(4, 2_400, rounds as usize);
                assert!(
                    (75.0..=85.0).contains(&resolved),
                    "{lanes} lanes, {results} results, {rounds} rounds, {deviation}, {correlation}: {resolved}"
                );
            }
        }
    }
}
