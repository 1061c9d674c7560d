//! How safe a choice is: the race resampled, round by round, and how often each lane would win.
//!
//! What is drawn are the rounds of a workload, for all pairs of lanes and all groups at once, so that
//! what a burst of noise does to all of them alike stays together. They are drawn in blocks of neighbours
//! (the circular block bootstrap, Politis & Romano 1992), so that noise which lasts longer than a round
//! is not mixed away. Workloads are drawn apart: no round of one is a round of another.
//!
//! Lanes need not share all rounds, as those that are decided race no further. Every pair takes as many
//! rounds as it has, the first of the common sequence that it has: two pairs with the same rounds get the
//! same ones, and a pair with few never has its scatter hidden by what others raced, nor theirs by it.

use crate::correlation;
use crate::estimate;
use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use std::collections::BTreeMap;

/// The differences of two lanes in one group, with their weight.
#[derive(Debug, Clone, PartialEq)]
pub struct Compared<'a> {
    /// The workload: what was measured in the same rounds is drawn together.
    pub workload: &'a str,
    /// Indices of the two lanes.
    pub pair: (usize, usize),
    /// What the mean difference counts in the first one's lead over the second.
    pub weight: f64,
    /// (round, ln of first by second, of times turned), ascending by round; at least
    /// [`FEWEST_ROUNDS`].
    pub differences: Vec<(u32, f64)>,
}

/// Leads of every lane over every other one, in logarithms.
pub type Leads = Vec<Vec<f64>>;

/// Fewer rounds would nearly always draw the same race again, and look safer than they are.
pub const FEWEST_ROUNDS: usize = 3;

/// The share of `times` resampled races that each of so many lanes wins; the shares add up to 1, and
/// `winners` of one race divide it among them. The same seed gives the same shares.
///
/// The spread of means of n resampled rounds in blocks of b is too small by √(1 - b/n) (for independent
/// rounds E[Var*] = σ²/n (1 - b/n)); it is put right, pair by pair.
///
/// `None`: there is nothing to resample, a pair has too few rounds, or names a lane that there is not.
pub fn share_of_wins(
    lanes: usize,
    compared: &[Compared],
    seed: u64,
    times: u32,
    winners: impl Fn(&Leads) -> Vec<usize>,
) -> Option<Vec<f64>> {
    let sound = |of: &Compared| {
        let (a, b) = of.pair;
        let finite = of.weight.is_finite() && of.differences.iter().all(|(_, difference)| difference.is_finite());
        finite && a.max(b) < lanes && a != b && of.differences.len() >= FEWEST_ROUNDS
    };
    if compared.is_empty() || !compared.iter().all(sound) {
        return None;
    }
    let mut by_workload: BTreeMap<&str, Vec<&Compared>> = BTreeMap::new();
    for of in compared {
        by_workload.entry(of.workload).or_default().push(of);
    }
    let workloads: Vec<Rounds> = by_workload.values().map(|all| Rounds::new(all)).collect();
    let mut generator = Xoshiro256PlusPlus::seed_from_u64(seed);
    let mut wins = vec![0.0; lanes];
    for _ in 0..times.max(1) {
        let mut leads = vec![vec![0.0; lanes]; lanes];
        workloads.iter().for_each(|workload| workload.draw(&mut generator, &mut leads));
        let won = winners(&leads);
        for lane in &won {
            wins[*lane] += 1.0 / won.len() as f64;
        }
    }
    Some(wins.iter().map(|won| won / f64::from(times.max(1))).collect())
}

/// The rounds of one workload.
struct Rounds {
    /// How many, of all pairs together.
    count: usize,
    /// Rounds to a block.
    block: usize,
    /// Pairs by the rounds that they have.
    sets: Vec<Set>,
}

/// The pairs that have the same rounds.
struct Set {
    /// Of all rounds those that they have.
    has: Vec<bool>,
    /// How many these are.
    count: usize,
    pairs: Vec<Pair>,
}

/// One pair: per round the weighted sum of its differences over the groups, zero where it has none.
struct Pair {
    lanes: (usize, usize),
    differences: Vec<f64>,
}

impl Rounds {
    fn new(all: &[&Compared]) -> Rounds {
        let mut rounds: Vec<u32> = all.iter().flat_map(|of| of.differences.iter().map(|(round, _)| *round)).collect();
        rounds.sort_unstable();
        rounds.dedup();
        let mut sets: Vec<Set> = Vec::new();
        for of in all {
            let mut weighted = vec![0.0; rounds.len()];
            let mut has = vec![false; rounds.len()];
            for (round, difference) in &of.differences {
                let Ok(place) = rounds.binary_search(round) else { continue };
                (weighted[place], has[place]) = (of.weight * difference, true);
            }
            let set = match sets.iter().position(|set| set.has == has) {
                Some(set) => set,
                None => {
                    let count = has.iter().filter(|has| **has).count();
                    sets.push(Set { has, count, pairs: Vec::new() });
                    sets.len() - 1
                }
            };
            let pairs = &mut sets[set].pairs;
            match pairs.iter_mut().find(|pair| pair.lanes == of.pair) {
                Some(pair) => pair.differences.iter_mut().zip(weighted).for_each(|(sum, one)| *sum += one),
                None => pairs.push(Pair { lanes: of.pair, differences: weighted }),
            }
        }
        let block = block_length(&sets, rounds.len());
        Rounds { count: rounds.len(), block, sets }
    }

    /// Adds one drawn race to the leads: blocks that begin anywhere, past the last round comes the first,
    /// until every pair has as many rounds as it had.
    fn draw(&self, generator: &mut Xoshiro256PlusPlus, leads: &mut Leads) {
        let mut times = vec![vec![0.0; self.count]; self.sets.len()];
        let mut left: Vec<usize> = self.sets.iter().map(|set| set.count).collect();
        while left.iter().any(|left| *left > 0) {
            // The high half of a product is an index without a division's bias towards low ones.
            let start = ((u128::from(generator.next_u64()) * self.count as u128) >> 64) as usize;
            for round in (0..self.block).map(|offset| (start + offset) % self.count) {
                for ((set, times), left) in self.sets.iter().zip(&mut times).zip(&mut left) {
                    if set.has[round] && *left > 0 {
                        times[round] += 1.0;
                        *left -= 1;
                    }
                }
            }
        }
        for (set, times) in self.sets.iter().zip(&times) {
            let count = set.count as f64;
            let stretch = (count / (count - self.block as f64)).sqrt();
            for Pair { lanes: (a, b), differences } in &set.pairs {
                let centre = differences.iter().sum::<f64>() / count;
                let drawn = differences.iter().zip(times).map(|(of, times)| of * times).sum::<f64>() / count;
                let lead = centre + stretch * (drawn - centre);
                leads[*a][*b] += lead;
                leads[*b][*a] -= lead;
            }
        }
    }
}

/// Rounds per block, from the pairs' mean lag-1 correlation r: (3/2 (2r/(1-r²))² n)^(1/3), the length
/// with the smallest error for noise of first order (Politis & White 2004, equation 12); at most half of
/// what the pair with the fewest rounds has.
///
/// The correlation is taken to be 0.3 at least, as a few rounds cannot show that it is less.
fn block_length(sets: &[Set], rounds: usize) -> usize {
    let own = |set: &Set, pair: &Pair| -> Option<f64> {
        let figures: Vec<f64> =
            pair.differences.iter().zip(&set.has).filter(|(_, has)| **has).map(|(of, _)| *of).collect();
        estimate::lag1(&figures).map(|lag1| lag1 + 1.0 / set.count as f64)
    };
    let seen: Vec<f64> = sets.iter().flat_map(|set| set.pairs.iter().filter_map(move |pair| own(set, pair))).collect();
    let mean = estimate::moments(&seen).map_or(0.0, |of| of.mean);
    let r = mean.clamp(correlation::PRIOR, correlation::HIGHEST);
    let length = 1.5 * (2.0 * r / (1.0 - r * r)).powi(2) * rounds as f64;
    let fewest = sets.iter().map(|set| set.count).min().unwrap_or(0);
    (length.cbrt().round() as usize).clamp(1, (fewest / 2).max(1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::Normal;

    /// Those whose worst lead is the best.
    fn best(leads: &Leads) -> Vec<usize> {
        let others = |lane: usize| (0..leads.len()).filter(move |other| *other != lane);
        let worst = |lane: usize| others(lane).map(|other| leads[lane][other]).fold(f64::INFINITY, f64::min);
        let most = (0..leads.len()).map(worst).fold(f64::NEG_INFINITY, f64::max);
        (0..leads.len()).filter(|lane| worst(*lane) == most).collect()
    }

    fn differences(source: &mut Normal, rounds: u32, mean: f64, deviation: f64) -> Vec<(u32, f64)> {
        (1..=rounds).map(|round| (round, mean + deviation * source.next())).collect()
    }

    fn one(pair: (usize, usize), differences: Vec<(u32, f64)>) -> Compared<'static> {
        Compared { workload: "w", pair, weight: 1.0, differences }
    }

    #[test]
    fn the_clear_winner_wins_every_resampled_race() {
        let mut source = Normal::new(5);
        let ahead = one((0, 1), differences(&mut source, 8, -0.4, 0.02));
        assert_eq!(share_of_wins(2, std::slice::from_ref(&ahead), 1, 500, best), Some(vec![0.0, 1.0]));
    }

    #[test]
    fn equal_lanes_share_and_a_seed_repeats_itself() {
        let flat: Vec<_> = [(0, 1), (0, 2), (1, 2)].map(|pair| one(pair, vec![(1, 0.0), (2, 0.0), (3, 0.0)])).to_vec();
        let shares = share_of_wins(4, &flat, 3, 10, best).unwrap();
        assert!(shares.iter().all(|share| (share - 0.25).abs() < 1e-12), "{shares:?}");
        let mut source = Normal::new(6);
        let noisy = [one((0, 1), differences(&mut source, 10, 0.0, 0.1))];
        let shares = share_of_wins(2, &noisy, 9, 400, best).unwrap();
        assert_eq!(share_of_wins(2, &noisy, 9, 400, best).unwrap(), shares);
        assert_ne!(share_of_wins(2, &noisy, 10, 400, best).unwrap(), shares);
        assert!((shares.iter().sum::<f64>() - 1.0).abs() < 1e-9, "{shares:?}");
    }

    #[test]
    fn weights_decide_between_workloads_that_disagree() {
        let of = |workload, weight, mean: f64| Compared {
            workload,
            weight,
            ..one((0, 1), vec![(1, mean), (2, mean * 1.05), (3, mean)])
        };
        let share = |a: f64, b: f64| share_of_wins(2, &[of("x", a, 0.7), of("y", b, -0.7)], 1, 200, best).unwrap();
        assert_eq!(share(3.0, 1.0), [1.0, 0.0]);
        assert_eq!(share(1.0, 3.0), [0.0, 1.0]);
    }

    #[test]
    fn the_share_is_as_sure_as_the_normal_distribution_says() {
        // The lead is 1.5 standard errors: a lane wins 93.3 % of races with this noise. Over many
        // races the median share must be near it, although every single race sees its own noise.
        let mut source = Normal::new(8);
        let rounds = 20;
        let lead = 1.5 * 0.05 / f64::from(rounds).sqrt();
        let share = |source: &mut Normal| {
            share_of_wins(2, &[one((0, 1), differences(source, rounds, lead, 0.05))], 1, 400, best).unwrap()[0]
        };
        let mut shares: Vec<f64> = (0..400).map(|_| share(&mut source)).collect();
        shares.sort_by(f64::total_cmp);
        assert!((shares[200] - 0.933).abs() < 0.03, "{}", shares[200]);
    }

    #[test]
    fn groups_of_one_workload_are_drawn_together_and_workloads_apart() {
        // In every round the lane is ahead in one group as far as it is behind in the other: drawn together
        // they cancel out exactly.
        let ahead = [0.1, 2.0, -0.5, 1.4, 0.3, -0.7];
        let group = |sign: f64, workload| Compared {
            workload,
            ..one((0, 1), ahead.iter().zip(1..).map(|(of, round)| (round, sign * of)).collect())
        };
        let shares = |other| share_of_wins(2, &[group(1.0, "w"), group(-1.0, other)], 1, 300, best).unwrap();
        assert_eq!(shares("w"), [0.5, 0.5]);
        assert!(shares("x")[0] != 0.5);
    }

    #[test]
    fn a_lane_that_stopped_early_takes_no_rounds_from_the_others() {
        // Two lanes over 20 rounds, the lead 1.5 standard errors; a third, far behind, was decided after six.
        let mut source = Normal::new(12);
        let lead = 1.5 * 0.05 / 20_f64.sqrt();
        let (mut apart, mut shares) = (0.0_f64, Vec::new());
        for _ in 0..100 {
            let pair = one((0, 1), differences(&mut source, 20, lead, 0.05));
            let alone = share_of_wins(2, std::slice::from_ref(&pair), 1, 1000, best).unwrap()[0];
            let behind = [(0, 2), (1, 2)].map(|of| one(of, differences(&mut source, 6, 1.0, 0.05)));
            let [a, b] = behind;
            let beside = share_of_wins(3, &[pair, a, b], 1, 1000, best).unwrap();
            assert_eq!(beside[2], 0.0);
            apart = apart.max((beside[0] - alone).abs());
            shares.push(beside[0]);
        }
        // Blocks, the numbers drawn and chance move a share a little; six rounds instead of twenty would by much.
        assert!(apart < 0.08, "{apart}");
        shares.sort_by(f64::total_cmp);
        assert!((shares[50] - 0.933).abs() < 0.04, "{}", shares[50]);
    }

    #[test]
    fn pairs_keep_what_their_rounds_share() {
        // One lane's noise is in both of its pairs: where it is ahead of one it is ahead of the other, and
        // it wins about half of the races; three lanes that were told apart pair by pair would win a
        // third each.
        let mut source = Normal::new(4);
        let noise: Vec<f64> = (0..12).map(|_| 0.1 * source.next()).collect();
        let mean = noise.iter().sum::<f64>() / 12.0;
        let of_first = |rounds: usize| (1..).zip(noise[..rounds].iter().map(|of| of - mean)).collect::<Vec<_>>();
        let equal = one((1, 2), (1..=12).map(|round| (round, 0.0)).collect());
        let shares =
            share_of_wins(3, &[one((0, 1), of_first(12)), one((0, 2), of_first(12)), equal], 1, 4000, best).unwrap();
        assert!((shares[0] - 0.5).abs() < 0.05, "{shares:?}");
    }

    #[test]
    fn blocks_grow_with_the_rounds_and_their_correlation_and_fit_the_shortest_pair() {
        let set = |figures: &[f64]| Set {
            has: vec![true; figures.len()],
            count: figures.len(),
            pairs: vec![Pair { lanes: (0, 1), differences: figures.to_vec() }],
        };
        let rising: Vec<f64> = (0..20).map(f64::from).collect();
        let mut source = Normal::new(2);
        let noise: Vec<f64> = (0..20).map(|_| source.next()).collect();
        // By hand for r = 0.3 and n = 20: (1.5 (0.6/0.91)² 20)^(1/3) = 2.35.
        assert_eq!(block_length(&[set(&noise)], 20), 2);
        assert!(block_length(&[set(&rising)], 20) >= 5);
        assert_eq!(block_length(&[set(&noise[..3])], 3), 1);
        assert_eq!(block_length(&[set(&rising), set(&noise[..3])], 20), 1);
    }

    #[test]
    fn what_cannot_be_resampled_has_no_shares() {
        assert_eq!(share_of_wins(2, &[], 1, 10, best), None);
        let few = one((0, 1), vec![(1, 0.1), (2, 0.1)]);
        assert_eq!(share_of_wins(2, &[few], 1, 10, best), None);
        let elsewhere = one((0, 2), vec![(1, 0.1), (2, 0.1), (3, 0.1)]);
        assert_eq!(share_of_wins(2, std::slice::from_ref(&elsewhere), 1, 10, best), None);
        assert!(share_of_wins(3, &[elsewhere], 1, 10, best).is_some());
        let nothing = one((0, 1), vec![(1, 0.1), (2, f64::NAN), (3, 0.1)]);
        assert_eq!(share_of_wins(2, &[nothing], 1, 10, best), None);
    }
}
