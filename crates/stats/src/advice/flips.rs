//! What would choose another lane: the smallest change of one share, a part that is too noisy to rank,
//! a constraint that falls, something more that is asked for.

use super::choice::{Choice, Contest};
use super::work::Part;
use model::findings::Flip;

/// How far past the point where two lanes draw level the choice is looked at.
const STEP: f64 = 1e-6;

/// The lanes that are neither chosen nor level with the one that is.
fn behind(contest: &Contest, choice: &Choice) -> Vec<usize> {
    (0..contest.lanes.len()).filter(|other| *other != choice.lane && !choice.level.contains(other)).collect()
}

/// The smallest change of one share that chooses another lane, the other shares as they are. Shares
/// stay between 0 and 1. `None`: no change of a single share does.
pub fn by_weight(contest: &Contest, parts: &[Part], choice: &Choice, delta: f64) -> Option<Flip> {
    let chosen = choice.lane;
    let others = behind(contest, choice);
    let mut best: Option<(f64, Flip)> = None;
    for (index, part) in parts.iter().enumerate() {
        let share = contest.shares[index];
        for &other in &others {
            let here = contest.difference(index, chosen, other);
            let rest: f64 = (0..parts.len())
                .filter(|at| *at != index)
                .map(|at| contest.shares[at] * contest.difference(at, chosen, other))
                .sum();
            // share · here + rest = 0 where the two draw level.
            let at = -rest / here;
            if !at.is_finite() || !(0.0..=1.0).contains(&at) {
                continue;
            }
            let beyond = at + if at < share { -STEP } else { STEP };
            if !(0.0..=1.0).contains(&beyond) {
                continue;
            }
            let changed = contest.with_share(index, beyond);
            let lane = changed.choose(delta).map_or(chosen, |choice| choice.lane);
            let distance = (at - share).abs();
            if !others.contains(&lane) || best.as_ref().is_some_and(|(nearest, _)| *nearest <= distance) {
                continue;
            }
            let lane = contest.lanes[lane].to_owned();
            best = Some((distance, Flip::Weight { what: part.weight.what.clone(), share, at, lane }));
        }
    }
    best.map(|(_, flip)| flip)
}

/// A part that is too noisy to rank and could turn the choice by itself, if it came out at the end of
/// its interval; the one that could turn it farthest.
pub fn by_noise(contest: &Contest, parts: &[Part], choice: &Choice) -> Option<Flip> {
    let chosen = choice.lane;
    let mut worst: Option<(f64, Flip)> = None;
    for (index, part) in parts.iter().enumerate() {
        for other in behind(contest, choice) {
            let (a, b) = (contest.lanes[chosen], contest.lanes[other]);
            let count = part.measured(a, b).count().max(1) as f64;
            let ends = part.measured(a, b).filter_map(|series| Some(series.undecided(a, b)?.0 / count));
            let end: f64 = ends.sum();
            let total = contest.total(chosen, other).max(f64::MIN_POSITIVE);
            let lead = contest.lead(chosen, other) + contest.shares[index] * end / total;
            if end < 0.0 && lead < 0.0 && worst.as_ref().is_none_or(|(least, _)| lead < *least) {
                let lane = contest.lanes[other].to_owned();
                worst = Some((lead, Flip::Undecided { what: part.weight.what.clone(), lane }));
            }
        }
    }
    worst.map(|(_, flip)| flip)
}
