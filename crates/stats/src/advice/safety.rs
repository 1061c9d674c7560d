//! How safe a choice is: the share of resampled races that it wins.

use super::Race;
use super::choice::{Contest, best};
use super::work::{Part, Series};
use crate::resample::{self, Compared};
use model::findings::Equal;

/// Resampled races: the share of one is then known to within 0.8 % (one standard error, at the worst).
const TIMES: u32 = 4_000;

/// The share of resampled races in which one of these lanes is the choice, by the rule that chose: the lane
/// whose worst comparison is the best.
///
/// Every pair's differences are drawn from its own rounds ([`resample`]). Parts in which the disk, the
/// cache or Fairlane was measured, pairs without a verdict and ties stay equal. Pairs that are too noisy
/// to rank, or not sure over the whole race, take part with the figures they have: they decide nothing, but they are what could turn out
/// otherwise. `None`: nothing is left to resample.
pub fn share(races: &[Race], parts: &[Part], contest: &Contest, chosen: &[usize]) -> Option<f64> {
    let keys: Vec<Vec<String>> = parts.iter().map(|part| part.series.iter().map(key).collect()).collect();
    let mut compared = Vec::new();
    for (part, keys) in parts.iter().zip(&keys) {
        for (place, a) in contest.lanes.iter().enumerate() {
            for (other, b) in contest.lanes.iter().enumerate().take(place) {
                let measured: Vec<_> = part.series.iter().zip(keys).filter(|(of, _)| of.measured(a, b)).collect();
                let weight = part.weight.share / contest.total(place, other) / measured.len() as f64;
                for (series, key) in measured {
                    if matches!(series.difference(a, b), Ok(_) | Err(Equal::Undecided | Equal::Unsure)) {
                        let differences = series.rounds(a, b);
                        compared.push(Compared { workload: key, pair: (place, other), weight, differences });
                    }
                }
            }
        }
    }
    let seed = races.first().map_or(0, |race| race.record.header.seed);
    let lanes = contest.lanes.len();
    let shares = resample::share_of_wins(lanes, &compared, seed, TIMES, |leads| best(lanes, |a, b| leads[a][b]))?;
    Some(chosen.iter().map(|lane| shares[*lane]).sum::<f64>().min(1.0))
}

/// Groups of one workload of one race were measured in the same rounds.
fn key(found: &Series) -> String {
    format!("{} {}", found.race, found.result.workload)
}
