//! How safe a choice is: the race resampled, round by round, and how often each lane would win.
//!
//! A round is drawn with all its lanes and groups at once, so that what a burst of noise does to all
//! of them alike stays together. Rounds are drawn in blocks of neighbours (the circular block
//! bootstrap, Politis & Romano 1992), so that noise which lasts longer than a round is not mixed away.

use crate::correlation;
use crate::estimate;
use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use std::collections::{BTreeMap, BTreeSet};

/// The figures of one (workload, group) with their weight. All series that are weighed together name
/// the same lanes in the same order.
#[derive(Debug, Clone, PartialEq)]
pub struct Weighted<'a> {
    /// The workload: the series of one workload were measured in the same rounds, and these are
    /// drawn for all of them at once.
    pub workload: &'a str,
    /// Share of the scenario; above zero. Weights need not add up to one.
    pub weight: f64,
    /// Rates grow with speed; times shrink.
    pub higher_is_better: bool,
    /// Per lane (round, figure), ascending by round.
    pub lanes: Vec<Vec<(u32, f64)>>,
}

/// Why a race cannot be resampled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unsampled {
    /// No series, no lane, a weight that is no positive number, or series of different lanes.
    Nothing,
    /// The series with this index has fewer than [`FEWEST_ROUNDS`] rounds in which all lanes have a
    /// usable figure.
    TooFewRounds {
        /// Index into the series given.
        series: usize,
        /// Rounds that all lanes share.
        rounds: usize,
    },
}

/// Fewer rounds would nearly always draw the same race again, and look safer than they are.
pub const FEWEST_ROUNDS: usize = 3;

/// Each lane's weighted geometric mean over all series, relative to the best lane's: 1 for the best,
/// 0.8 for one that does 20 % less. Times count by their inverse.
///
/// # Errors
/// [`Unsampled`], as for [`share_of_wins`], but one round is enough.
pub fn relative_scores(series: &[Weighted]) -> Result<Vec<f64>, Unsampled> {
    let all = Race::of(series, 1)?;
    let scores = all.scores(|workload| (workload.mean(), 1.0));
    let best = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    Ok(scores.iter().map(|score| (score - best).exp()).collect())
}

/// The share of `times` resampled races in which each lane has the best weighted geometric mean over
/// all series; the shares add up to 1, and lanes that are exactly equal divide a race among them.
/// The same seed gives the same shares.
///
/// Workloads have rounds of their own number and are drawn independently of each other. The spread
/// of means of n resampled rounds in blocks of b is too small by √(1 - b/n) (for independent rounds
/// E[Var*] = σ²/n (1 - b/n)); it is put right.
///
/// # Errors
/// [`Unsampled`]: nothing to resample, or too few rounds.
pub fn share_of_wins(series: &[Weighted], seed: u64, times: u32) -> Result<Vec<f64>, Unsampled> {
    let race = Race::of(series, FEWEST_ROUNDS)?;
    let mut generator = Xoshiro256PlusPlus::seed_from_u64(seed);
    let mut wins = vec![0.0; race.lanes];
    for _ in 0..times.max(1) {
        let scores = race.scores(|workload| workload.draw(&mut generator));
        let best = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let winners = scores.iter().filter(|&&score| score == best).count() as f64;
        for (won, _) in wins.iter_mut().zip(&scores).filter(|(_, score)| **score == best) {
            *won += 1.0 / winners;
        }
    }
    Ok(wins.iter().map(|won| won / f64::from(times.max(1))).collect())
}

/// A race as weighted scores by round.
struct Race {
    lanes: usize,
    workloads: Vec<Rounds>,
}

/// One workload: per round, each lane's weighted logarithm less the mean of all lanes, which is what
/// the rounds' common noise leaves.
struct Rounds {
    scores: Vec<Vec<f64>>,
    means: Vec<f64>,
    block: usize,
}

impl Race {
    fn of(series: &[Weighted], fewest: usize) -> Result<Race, Unsampled> {
        let lanes = series.first().map_or(0, |of| of.lanes.len());
        let sound = |of: &Weighted| of.lanes.len() == lanes && estimate::usable(of.weight);
        if lanes == 0 || !series.iter().all(sound) {
            return Err(Unsampled::Nothing);
        }
        let total: f64 = series.iter().map(|of| of.weight).sum();
        let mut by_workload: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
        for (index, of) in series.iter().enumerate() {
            by_workload.entry(of.workload).or_default().push(index);
        }
        let mut found = Vec::new();
        for indices in by_workload.values() {
            let shared = indices.iter().map(|&index| complete_rounds(&series[index]));
            let shared = shared.reduce(|a, b| a.intersection(&b).copied().collect()).unwrap_or_default();
            if shared.len() < fewest {
                let rounds = |index: &usize| complete_rounds(&series[*index]).len();
                let worst = indices.iter().copied().min_by_key(rounds).unwrap_or(0);
                return Err(Unsampled::TooFewRounds { series: worst, rounds: shared.len() });
            }
            let scores = shared.iter().map(|&round| {
                let mut all = vec![0.0; lanes];
                for of in indices.iter().map(|&index| &series[index]) {
                    let sign = if of.higher_is_better { 1.0 } else { -1.0 };
                    for (score, figures) in all.iter_mut().zip(&of.lanes) {
                        *score += sign * of.weight / total * figure_at(figures, round).map_or(0.0, f64::ln);
                    }
                }
                let mean = all.iter().sum::<f64>() / lanes as f64;
                all.iter().map(|score| score - mean).collect()
            });
            found.push(Rounds::of(scores.collect(), lanes));
        }
        Ok(Race { lanes, workloads: found })
    }

    /// Sums the workloads' means as `drawn` gives them: a mean per lane, and by how much its distance
    /// from the mean of all rounds is to be stretched.
    fn scores(&self, mut drawn: impl FnMut(&Rounds) -> (Vec<f64>, f64)) -> Vec<f64> {
        let mut sums = vec![0.0; self.lanes];
        for workload in &self.workloads {
            let (means, stretch) = drawn(workload);
            for ((sum, mean), centre) in sums.iter_mut().zip(means).zip(&workload.means) {
                *sum += centre + stretch * (mean - centre);
            }
        }
        sums
    }
}

impl Rounds {
    fn of(scores: Vec<Vec<f64>>, lanes: usize) -> Rounds {
        let count = scores.len() as f64;
        let means = (0..lanes).map(|lane| scores.iter().map(|round| round[lane]).sum::<f64>() / count).collect();
        let block = block_length(&scores, lanes);
        Rounds { scores, means, block }
    }

    fn mean(&self) -> Vec<f64> {
        self.means.clone()
    }

    /// As many rounds as there are, in blocks that begin anywhere; past the last comes the first.
    fn draw(&self, generator: &mut Xoshiro256PlusPlus) -> (Vec<f64>, f64) {
        let count = self.scores.len();
        let mut sums = vec![0.0; self.means.len()];
        let mut start = 0;
        for drawn in 0..count {
            if drawn % self.block == 0 {
                // The high half of a product is an index without a division's bias towards low ones.
                start = ((u128::from(generator.next_u64()) * count as u128) >> 64) as usize;
            }
            let round = &self.scores[(start + drawn % self.block) % count];
            for (sum, score) in sums.iter_mut().zip(round) {
                *sum += score;
            }
        }
        let stretch = (count as f64 / (count - self.block) as f64).sqrt();
        (sums.iter().map(|sum| sum / count as f64).collect(), stretch)
    }
}

/// Rounds in which every lane has a usable figure.
fn complete_rounds(series: &Weighted) -> BTreeSet<u32> {
    let of = |figures: &Vec<(u32, f64)>| -> BTreeSet<u32> {
        figures.iter().filter(|&&(_, figure)| estimate::usable(figure)).map(|&(round, _)| round).collect()
    };
    series.lanes.iter().map(of).reduce(|a, b| a.intersection(&b).copied().collect()).unwrap_or_default()
}

fn figure_at(figures: &[(u32, f64)], round: u32) -> Option<f64> {
    figures.iter().find(|&&(at, figure)| at == round && estimate::usable(figure)).map(|&(_, figure)| figure)
}

/// Rounds per block, from the lanes' mean lag-1 correlation r: (3/2 (2r/(1-r²))² n)^(1/3), the length
/// with the smallest error for noise of first order (Politis & White 2004, equation 12); at most
/// half of the rounds.
///
/// The correlation is taken to be 0.3 at least, as a few rounds cannot show that it is less.
fn block_length(scores: &[Vec<f64>], lanes: usize) -> usize {
    let count = scores.len();
    let of = |lane: usize| estimate::lag1(&scores.iter().map(|round| round[lane]).collect::<Vec<_>>());
    let seen: Vec<f64> = (0..lanes).filter_map(of).collect();
    let mean = estimate::moments(&seen).map_or(0.0, |of| of.mean) + 1.0 / count as f64;
    let r = mean.clamp(correlation::PRIOR, correlation::HIGHEST);
    let length = 1.5 * (2.0 * r / (1.0 - r * r)).powi(2) * count as f64;
    (length.cbrt().round() as usize).clamp(1, (count / 2).max(1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::Normal;

    fn figures(source: &mut Normal, rounds: u32, mean: f64, deviation: f64) -> Vec<(u32, f64)> {
        (1..=rounds).map(|round| (round, mean * (deviation * source.next()).exp())).collect()
    }

    fn one(lanes: Vec<Vec<(u32, f64)>>) -> Weighted<'static> {
        Weighted { workload: "w", weight: 1.0, higher_is_better: true, lanes }
    }

    #[test]
    fn the_clear_winner_wins_every_resampled_race_and_times_count_the_other_way() {
        let mut source = Normal::new(5);
        let lanes = vec![figures(&mut source, 8, 100.0, 0.02), figures(&mut source, 8, 150.0, 0.02)];
        let rates = one(lanes.clone());
        assert_eq!(share_of_wins(std::slice::from_ref(&rates), 1, 500), Ok(vec![0.0, 1.0]));
        let times = Weighted { higher_is_better: false, ..rates };
        assert_eq!(share_of_wins(&[times], 1, 500), Ok(vec![1.0, 0.0]));
    }

    #[test]
    fn equal_lanes_share_and_a_seed_repeats_itself() {
        let flat = one(vec![vec![(1, 5.0), (2, 5.0), (3, 5.0)]; 4]);
        assert_eq!(share_of_wins(std::slice::from_ref(&flat), 3, 10), Ok(vec![0.25; 4]));
        let mut source = Normal::new(6);
        let noisy = [one((0..3).map(|_| figures(&mut source, 10, 7.0, 0.1)).collect())];
        let shares = share_of_wins(&noisy, 9, 400).unwrap();
        assert_eq!(share_of_wins(&noisy, 9, 400).unwrap(), shares);
        assert_ne!(share_of_wins(&noisy, 10, 400).unwrap(), shares);
        assert!((shares.iter().sum::<f64>() - 1.0).abs() < 1e-9, "{shares:?}");
    }

    #[test]
    fn weights_decide_between_workloads_that_disagree() {
        let series = |weight: f64, swapped: bool| {
            let (a, b) = (vec![(1, 2.0), (2, 2.1), (3, 2.0)], vec![(1, 1.0), (2, 1.0), (3, 1.1)]);
            let lanes = if swapped { vec![b, a] } else { vec![a, b] };
            Weighted { workload: if swapped { "x" } else { "y" }, weight, higher_is_better: true, lanes }
        };
        assert_eq!(share_of_wins(&[series(3.0, false), series(1.0, true)], 1, 200), Ok(vec![1.0, 0.0]));
        assert_eq!(share_of_wins(&[series(1.0, false), series(3.0, true)], 1, 200), Ok(vec![0.0, 1.0]));
        let scores = relative_scores(&[series(3.0, false), series(1.0, true)]).unwrap();
        // By hand: ln(a/b) = w ln 2 with w = 3/4 - 1/4, up to the one round in which a figure is 5 or 10 % off.
        assert_eq!(scores[0], 1.0);
        assert!((scores[1] - 0.5_f64.sqrt()).abs() < 0.02, "{scores:?}");
    }

    #[test]
    fn the_share_is_as_sure_as_the_normal_distribution_says() {
        // The lead is 1.5 standard errors: a lane wins 93.3 % of races with this noise. Over many
        // races the median share must be near it, although every single race sees its own noise.
        let mut source = Normal::new(8);
        let rounds = 20;
        let lead = 1.5 * 0.05 * (2.0 / f64::from(rounds)).sqrt();
        let share = |source: &mut Normal| {
            let lanes = vec![figures(source, rounds, lead.exp(), 0.05), figures(source, rounds, 1.0, 0.05)];
            share_of_wins(&[one(lanes)], 1, 400).unwrap()[0]
        };
        let mut shares: Vec<f64> = (0..400).map(|_| share(&mut source)).collect();
        shares.sort_by(f64::total_cmp);
        assert!((shares[200] - 0.933).abs() < 0.03, "{}", shares[200]);
    }

    #[test]
    fn groups_of_one_workload_are_drawn_together() {
        // In every round one of two lanes is ahead in one group as far as it is behind in the other:
        // drawn together they cancel out exactly.
        let ahead = [1.0, 2.0, 0.5, 4.0, 3.0, 0.7];
        let group = |sign: f64| Weighted {
            workload: "w",
            weight: 1.0,
            higher_is_better: true,
            lanes: vec![
                ahead.iter().zip(1..).map(|(a, round)| (round, f64::powf(*a, sign))).collect(),
                (1..=6).map(|round| (round, 1.0)).collect(),
            ],
        };
        let both = [group(1.0), group(-1.0)];
        let race = Race::of(&both, 3).unwrap();
        assert!(race.workloads[0].scores.iter().flatten().all(|score| score.abs() < 1e-12));
    }

    #[test]
    fn blocks_grow_with_the_rounds_and_their_correlation() {
        let rising: Vec<Vec<f64>> = (0..20).map(|i| vec![f64::from(i)]).collect();
        let mut source = Normal::new(2);
        let noise: Vec<Vec<f64>> = (0..20).map(|_| vec![source.next()]).collect();
        // By hand for r = 0.3 and n = 20: (1.5 (0.6/0.91)² 20)^(1/3) = 2.35.
        assert_eq!(block_length(&noise, 1), 2);
        assert!(block_length(&rising, 1) >= 5);
        assert_eq!(block_length(&noise[..3], 1), 1);
    }

    #[test]
    fn what_cannot_be_resampled_says_why() {
        assert_eq!(share_of_wins(&[], 1, 10), Err(Unsampled::Nothing));
        let few = one(vec![vec![(1, 1.0), (2, 1.0), (3, 0.0)], vec![(1, 1.0), (2, f64::NAN), (3, 1.0)]]);
        assert_eq!(
            share_of_wins(std::slice::from_ref(&few), 1, 10),
            Err(Unsampled::TooFewRounds { series: 0, rounds: 1 })
        );
        assert_eq!(relative_scores(std::slice::from_ref(&few)), Ok(vec![1.0, 1.0]));
        let weightless = Weighted { weight: 0.0, ..few };
        assert_eq!(share_of_wins(&[weightless], 1, 10), Err(Unsampled::Nothing));
    }
}
