//! Work that a candidate fails at: when that fails the gate, and when it only keeps it from passing.
//!
//! Whatever a candidate fails at (all rounds, some of them, rates that could not be sustained) is counted by
//! records and put to an exact test at the gate's own p. Even an error in every round of every record is
//! what boots that fail as often as they work show in one comparison of 4^n, n records of each side: where
//! that is not improbable enough the gate does not fail, and has no green light for it either.

use super::replicate::{Came, Replicate};
use crate::statements::pair::no_reason;
use crate::student::ln_gamma;
use crate::words;

/// The least records of a side that came to the work: one boot shows nothing of how boots differ.
const LEAST_RECORDS: usize = 2;
/// Records of a side beyond which nobody is sent.
const MOST_RECORDS: usize = 100;

/// How one side's records came out.
pub struct Failures<'a> {
    records: usize,
    /// Those that came to the work.
    reached: usize,
    /// No round did it.
    whole: usize,
    /// They have a figure.
    done: usize,
    /// Failed, behind the rate, or a failed round among the first that all records have.
    hit: usize,
    /// Records without a figure, and the last reason.
    without: (usize, Option<&'a str>),
    /// Records in which some rounds failed, these rounds, all rounds of theirs, and the last reason.
    in_part: (usize, usize, usize, Option<&'a str>),
    /// Why no trial of a record counts that raced all the same.
    void: Option<&'a str>,
}

impl<'a> Failures<'a> {
    /// Of a side's records. `rounds`: those that every record of both sides came to; a record with more
    /// of them would otherwise have had more occasions to fail.
    pub fn from_replicates(replicates: &'a [(&str, Replicate)], rounds: u32) -> Self {
        let mut of = Failures {
            records: replicates.len(),
            reached: 0,
            whole: 0,
            done: 0,
            hit: 0,
            without: (0, None),
            in_part: (0, 0, 0, None),
            void: None,
        };
        for (_, replicate) in replicates {
            of.reached += usize::from(replicate.came != Came::NotReached);
            of.done += usize::from(replicate.figure.is_some());
            of.whole += usize::from(replicate.came == Came::Failed);
            let why = replicate.why.as_deref();
            match &replicate.came {
                Came::Through => {}
                Came::NotReached => of.void = why.or(of.void),
                Came::InPart { failed, of: tried } => {
                    of.hit += usize::from(failed.iter().any(|&round| round <= rounds));
                    let (records, rounds, all, _) = of.in_part;
                    of.in_part = (records + 1, rounds + failed.len(), all + tried, why);
                }
                Came::Failed | Came::Behind => {
                    of.hit += 1;
                    of.without = (of.without.0 + 1, why);
                }
                Came::NoFigure => of.without = (of.without.0 + 1, why),
            }
        }
        of
    }

    /// The mean share of rounds that did not come out, over the records that came to the work.
    fn share(&self) -> f64 {
        let (_, failed, all, _) = self.in_part;
        let in_part = if all > 0 { self.in_part.0 as f64 * failed as f64 / all as f64 } else { 0.0 };
        (self.without.0 as f64 + in_part) / self.reached.max(1) as f64
    }

    /// What is said of a side.
    pub fn said(&self, side: &str) -> Vec<String> {
        let of = |count: usize| format!("in {count} of the {side}'s {}", words::count(self.records, "record"));
        // A reason may hold anything; a semicolon would make two remarks of one.
        let plain = |reason: Option<&str>| match reason {
            Some(reason) => reason.replace(';', ","),
            None => no_reason().into(),
        };
        let mut said = Vec::new();
        if let (without @ 1.., reason) = self.without {
            said.push(format!("no figure {}: {}", of(without), plain(reason)));
        }
        if let (records @ 1.., rounds, all, reason) = self.in_part {
            said.push(format!("{rounds} of {} failed {}: {}", words::count(all, "round"), of(records), plain(reason)));
        }
        let missing = self.records - self.reached;
        match self.void.filter(|_| missing > 0) {
            Some(void) => said.push(format!("no trial counts {}: {}", of(missing), plain(Some(void)))),
            None if missing > 0 => said.push(format!("{} the race did not come to it", of(missing))),
            None => {}
        }
        said
    }
}

/// Whether the candidate fails at work that the baseline did; `p`: one-sided.
pub fn fails(before: &Failures, after: &Failures, p: f64) -> bool {
    p_of((before.hit, before.reached), (after.hit, after.reached)) <= p
}

/// Whether the candidate did the work in none of its records and the baseline in each of its own, of
/// several: whether by chance or not, nothing of that may pass.
pub fn lost(before: &Failures, after: &Failures) -> bool {
    let enough = before.reached.min(after.reached) >= LEAST_RECORDS;
    enough && after.whole == after.reached && before.done == before.reached
}

/// The records of each side from which on [`lost`] work is no chance at this p, one-sided.
pub fn telling_records(p: f64) -> Option<usize> {
    (LEAST_RECORDS..=MOST_RECORDS).find(|&records| p_of((0, records), (records, records)) <= p)
}

/// Whether the candidate failed more often than the baseline: then it cannot pass.
pub fn fails_more(before: &Failures, after: &Failures) -> bool {
    after.share() > before.share() + 1e-9
}

/// The probability that the candidate's records fail so much more often than the baseline's, or more,
/// where both fail equally often; (failed, all) of each side; 1 where a side has none.
///
/// Fisher's exact test (1935), one-sided. Of its tables none is as telling as all of the candidate's
/// against none of the baseline's, so that this one alone may be judged by the greatest probability that
/// any common rate gives it (Boschloo 1970), which is smaller: of twelve comparisons it fails the gate
/// from five records of each side on, where Fisher's test takes six.
pub fn p_of((before, of_before): (usize, usize), (after, of_after): (usize, usize)) -> f64 {
    if of_before == 0 || of_after == 0 {
        return 1.0;
    }
    let (a, b) = (of_before as f64, of_after as f64);
    if before == 0 && after == of_after {
        let rate = b / (a + b);
        return (a * (1.0 - rate).ln() + b * rate.ln()).exp();
    }
    let failed = before + after;
    let choose = |n: usize, k: usize| {
        let ln = |count: usize| ln_gamma(count as f64 + 1.0);
        ln(n) - ln(k) - ln(n - k)
    };
    let all = choose(of_before + of_after, failed);
    let tables = after..=failed.min(of_after);
    let one = |more: usize| match failed - more {
        left if left > of_before => 0.0,
        left => (choose(of_after, more) + choose(of_before, left) - all).exp(),
    };
    tables.map(one).sum::<f64>().min(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_exact_test_is_that_of_the_tables() {
        // Fisher's lady: 3 of 4 against 1 of 4 gives 17/70.
        assert!((p_of((1, 4), (3, 4)) - 17.0 / 70.0).abs() < 1e-12);
        // By hand: 2 of 6 against 0 of 6: C(6,2)/C(12,2) = 15/66.
        assert!((p_of((0, 6), (2, 6)) - 15.0 / 66.0).abs() < 1e-12);
        assert!((p_of((4, 5), (5, 5)) - 0.5).abs() < 1e-12);
        // All against none at a common rate of a half.
        assert!((p_of((0, 5), (5, 5)) - 0.5_f64.powi(10)).abs() < 1e-12);
        assert_eq!(p_of((0, 0), (3, 3)), 1.0);
        assert!((p_of((2, 5), (0, 5)) - 1.0).abs() < 1e-12);
        assert!((p_of((5, 5), (5, 5)) - 1.0).abs() < 1e-12);
    }

    #[test]
    fn sides_that_fail_equally_often_seldom_fail_a_gate_whatever_the_rate() {
        let binomial = |n: usize, k: usize, rate: f64| {
            let choose = (0..k).fold(1.0, |of, i| of * (n - i) as f64 / (i + 1) as f64);
            choose * rate.powi(k as i32) * (1.0 - rate).powi((n - k) as i32)
        };
        for sizes in [(2, 2), (3, 3), (3, 10), (10, 3), (5, 5), (8, 8), (20, 20)] {
            for p in [0.025, 0.025 / 2.0, 0.025 / 12.0, 0.025 / 93.0] {
                for rate in (1..100).map(|percent| f64::from(percent) / 100.0) {
                    let mut found = 0.0;
                    for before in 0..=sizes.0 {
                        for after in 0..=sizes.1 {
                            if p_of((before, sizes.0), (after, sizes.1)) <= p {
                                found += binomial(sizes.0, before, rate) * binomial(sizes.1, after, rate);
                            }
                        }
                    }
                    assert!(found <= p + 1e-12, "{sizes:?} at {rate}: {found} > {p}");
                }
            }
        }
    }
}
