//! How safe a choice is: the share of resampled races that it wins.

use super::Race;
use super::work::{Part, Series as Found};
use crate::answer::cannot_tell;
use crate::estimate;
use crate::resample::{self, Weighted};
use crate::series::Series;
use model::findings::Equal;

/// Resampled races: the share of one is then known to within 0.8 % (one standard error, at the worst).
const TIMES: u32 = 4_000;

/// The share of resampled races in which one of these lanes has the best weighted geometric mean.
///
/// Parts in which the disk, the cache or Fairlane was measured, and pairs without a verdict, stay
/// equal, and so do lanes that tie with each other. Pairs that are too noisy to rank take part with
/// the figures they have: they decide nothing, but they are what could turn out otherwise.
/// `None`: nothing is left to resample.
pub fn share(races: &[Race], parts: &[Part], lanes: &[&str], chosen: &[usize]) -> Option<f64> {
    let keys: Vec<Vec<String>> = parts.iter().map(|part| part.series.iter().map(key).collect()).collect();
    let mut weighted = Vec::new();
    for (part, keys) in parts.iter().zip(&keys) {
        for (found, key) in part.series.iter().zip(keys) {
            if cannot_tell(found.result) || lacks_verdicts(found, lanes) {
                continue;
            }
            weighted.push(Weighted {
                workload: key,
                weight: part.weight.share / part.series.len() as f64,
                higher_is_better: found.result.higher_is_better,
                lanes: figures(races, found, lanes),
            });
        }
    }
    let seed = races.first().map_or(0, |race| race.record.header.seed);
    let shares = resample::share_of_wins(&weighted, seed, TIMES).ok()?;
    Some(chosen.iter().map(|lane| shares[*lane]).sum::<f64>().min(1.0))
}

/// Groups of one workload of one race were measured in the same rounds.
fn key(found: &Found) -> String {
    format!("{} {}", found.race, found.result.workload)
}

fn lacks_verdicts(found: &Found, lanes: &[&str]) -> bool {
    let pairs = (0..lanes.len()).flat_map(|a| (0..a).map(move |b| (a, b)));
    pairs.into_iter().any(|(a, b)| found.difference(lanes[a], lanes[b]) == Err(Equal::NoVerdict))
}

/// (round, figure) of every lane. Lanes that all tie with each other get their geometric mean.
fn figures(races: &[Race], found: &Found, lanes: &[&str]) -> Vec<Vec<(u32, f64)>> {
    let result = found.result;
    let series = Series::of(races[found.race].record, &result.workload);
    let of = |name: &&str| {
        let lane = series.lanes.iter().find(|lane| lane.lane.name == **name);
        lane.map(|lane| lane.figures(&result.group, &result.metric)).unwrap_or_default()
    };
    let own: Vec<Vec<(u32, f64)>> = lanes.iter().map(of).collect();
    let mut level = own.clone();
    for circle in circles(found, lanes) {
        for &lane in &circle {
            level[lane] = own[lane].iter().map(|&(round, _)| (round, mean(&own, &circle, round))).collect();
        }
    }
    level
}

/// Lanes gathered into circles within which every pair ties.
fn circles(found: &Found, lanes: &[&str]) -> Vec<Vec<usize>> {
    let mut circles: Vec<Vec<usize>> = Vec::new();
    for lane in 0..lanes.len() {
        let ties = |other: &usize| found.difference(lanes[lane], lanes[*other]) == Err(Equal::Tie);
        match circles.iter_mut().find(|circle| circle.iter().all(ties)) {
            Some(circle) => circle.push(lane),
            None => circles.push(vec![lane]),
        }
    }
    circles.retain(|circle| circle.len() > 1);
    circles
}

/// The geometric mean of a circle's figures in one round; not a number where one is missing.
fn mean(own: &[Vec<(u32, f64)>], circle: &[usize], round: u32) -> f64 {
    let of = |lane: &usize| {
        let figure = own[*lane].iter().find(|(at, _)| *at == round).map(|(_, figure)| *figure);
        figure.filter(|figure| estimate::usable(*figure)).map_or(f64::NAN, f64::ln)
    };
    (circle.iter().map(of).sum::<f64>() / circle.len() as f64).exp()
}
