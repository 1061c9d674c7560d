//! How many more rounds an undecided pair probably needs.

use crate::sequential::{Interval, Rule};
use model::findings::Verdict;
use model::plan::{LOOKS, Rounds};

/// Forecasts beyond this many rounds are no forecasts.
const MOST_ROUNDS: u32 = 1_000_000;

/// How many rounds in all would probably give a verdict, from the present mean, deviation and
/// correlation; more than `done`, and possibly more than the last look. `None` where fewer than three
/// differences say next to nothing of their deviation, or where a million rounds would not do.
pub fn rounds_to_settle(interval: &Interval, done: u32, rule: &Rule) -> Option<u32> {
    if interval.count < 3 || !interval.mean.is_finite() || !interval.deviation.is_finite() {
        return None;
    }
    let last_look = LOOKS[LOOKS.len() - 1];
    let settles = |rounds: u32| {
        let error = interval.deviation / f64::from(rounds).sqrt();
        let half = rule.constant(rounds as usize, interval.correlation.lag1) * error;
        let last = rounds >= last_look || matches!(rule.rounds, Rounds::Fixed(_));
        rule.verdict(interval.mean, half, last) != Verdict::Undecided
    };
    let beyond = match rule.rounds {
        // Nothing is settled before the rounds that were planned.
        Rounds::Fixed(planned) => done.max(planned.saturating_sub(1)),
        Rounds::Auto => {
            if let Some(look) = LOOKS.into_iter().find(|&look| look > done && settles(look)) {
                return Some(look);
            }
            done.max(last_look)
        }
    };
    first_that(beyond.max(1) + 1, MOST_ROUNDS, settles)
}

/// The first number from `from` to `most` that does, where all after one that does do too.
pub(crate) fn first_that(from: u32, most: u32, does: impl Fn(u32) -> bool) -> Option<u32> {
    let mut step = 1;
    let (mut low, mut high) = (from, from);
    while !does(high) {
        if high >= most {
            return None;
        }
        (low, high) = (high + 1, high.saturating_add(step).min(most));
        step *= 2;
    }
    while low < high {
        let middle = low + (high - low) / 2;
        if does(middle) { high = middle } else { low = middle + 1 }
    }
    Some(high)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sequential;

    fn rule(rounds: Rounds) -> Rule {
        Rule { pairs: 3, rounds, margin: 0.05, first_answer: false }
    }

    /// An interval of so many rounds with exactly this mean and deviation.
    fn from_moments(count: usize, mean: f64, deviation: f64) -> Interval {
        let swing: Vec<f64> = (0..count).map(|round| if round % 2 == 0 { 1.0 } else { -1.0 }).collect();
        let plain = crate::estimate::moments(&swing).unwrap();
        let differences: Vec<f64> =
            swing.iter().map(|figure| mean + (figure - plain.mean) / plain.deviation * deviation).collect();
        sequential::interval(&differences, &rule(Rounds::Auto), 0.3).unwrap()
    }

    #[test]
    fn the_forecast_is_the_first_number_of_rounds_at_which_the_rule_would_decide() {
        let decides = |rule: &Rule, interval: &Interval, rounds: u32, last: bool| {
            let half = rule.constant(rounds as usize, 0.3) * interval.deviation / f64::from(rounds).sqrt();
            rule.verdict(interval.mean, half, last) != Verdict::Undecided
        };
        for (mean, deviation) in [(0.0, 0.06), (0.113, 0.08), (0.03, 0.05), (0.0488, 0.2), (0.5, 0.9)] {
            for done in [3, 6, 7, 20] {
                let interval = from_moments(done as usize, mean, deviation);
                let auto = rule(Rounds::Auto);
                let rounds = rounds_to_settle(&interval, done, &auto).unwrap();
                assert!(rounds > done && (rounds > 20 || LOOKS.contains(&rounds)), "{rounds}");
                assert!(decides(&auto, &interval, rounds, rounds >= 20), "{mean} {deviation} {done} {rounds}");
                let before = LOOKS.into_iter().filter(|&look| look > done && look < rounds);
                assert!(before.into_iter().all(|look| !decides(&auto, &interval, look, look == 20)));
                let fixed = rule(Rounds::Fixed(done));
                let rounds = rounds_to_settle(&interval, done, &fixed).unwrap();
                assert!(rounds > done && decides(&fixed, &interval, rounds, true));
                assert!(rounds == done + 1 || !decides(&fixed, &interval, done + 1, true));
            }
        }
    }

    #[test]
    fn fixed_rounds_settle_nothing_before_they_are_done() {
        let clear = from_moments(6, 0.5, 0.01);
        assert_eq!(rounds_to_settle(&clear, 6, &rule(Rounds::Fixed(20))), Some(20));
        assert_eq!(rounds_to_settle(&clear, 20, &rule(Rounds::Fixed(20))), Some(21));
    }

    #[test]
    fn the_first_number_that_does_is_found_wherever_it_lies() {
        for from in [1, 7, 20] {
            for least in 0..200 {
                let found = first_that(from, 150, |number| number >= least);
                assert_eq!(found, (from..=150).find(|&number| number >= least), "{from} {least}");
            }
        }
    }

    #[test]
    fn an_undecided_pair_has_a_forecast_unless_nothing_is_known_or_nothing_would_do() {
        let auto = rule(Rounds::Auto);
        let noisy = rounds_to_settle(&from_moments(6, 0.01, 3.0), 6, &auto).unwrap();
        assert!(noisy > 10_000, "{noisy}");
        assert_eq!(rounds_to_settle(&from_moments(2, 0.01, 0.3), 2, &auto), None);
        assert_eq!(rounds_to_settle(&from_moments(6, 0.0, 300.0), 6, &auto), None);
        let without_margin = Rule { margin: 0.0, ..auto };
        assert_eq!(
            rounds_to_settle(&from_moments(6, 0.0, 0.01), 6, &without_margin),
            None,
            "no difference, no tie: no verdict"
        );
        assert!(rounds_to_settle(&from_moments(6, 0.001, 0.01), 6, &without_margin).is_some());
    }
}
