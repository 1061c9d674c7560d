//! The figures that stand beside each other in a row.
//!
//! A pair is judged on the rounds that its two lanes share at its look. Means over other rounds would not divide to its
//! ratio: a lane that was decided early has fewer rounds than the reference, and the disk may have been faster or slower
//! in them for all. So the reference stands at its mean over the rounds of the look, and each other lane at its ratio to it.

use model::findings::{Estimate, Pair, ResultFinding, Verdict};

/// Means that differ by no more than the last digits of a number are one.
const ALIKE: f64 = 1e-9;

/// Sets the figure of every lane's row. Before, `row_mean` holds a lane's mean over the rounds of the look.
pub fn set(results: &mut [ResultFinding]) {
    let reference = reference(results);
    for result in results {
        let measured = |lane: &str| result.estimates.iter().any(|of| of.lane == lane && of.failure.is_none());
        let own = || reference_among(&result.estimates, &result.pairs.iter().collect::<Vec<_>>());
        let against = reference.clone().filter(|lane| measured(lane)).or_else(own);
        let base = result.estimates.iter().find(|of| Some(&of.lane) == against.as_ref()).map(Estimate::in_row);
        for estimate in &mut result.estimates {
            let ratio = against.as_deref().filter(|lane| *lane != estimate.lane).and_then(|against| {
                let (ratio, turned) = ratio(&result.pairs, &estimate.lane, against)?;
                Some(if turned == result.higher_is_better { ratio.recip() } else { ratio })
            });
            if let (Some(base), Some(ratio)) = (base, ratio) {
                estimate.row_mean = Some(base * ratio);
            }
            let differs = |of: &f64| of.is_finite() && (of - estimate.mean).abs() > ALIKE * estimate.mean.abs();
            estimate.row_mean = estimate.row_mean.filter(|_| estimate.failure.is_none()).filter(differs);
        }
    }
}

/// What a lane's figure is to the other's as pairs tell it, and whether the pair is told the other way round.
fn ratio(pairs: &[Pair], lane: &str, against: &str) -> Option<(f64, bool)> {
    let pair = |a: &str, b: &str| pairs.iter().find(|pair| pair.a == a && pair.b == b)?.ratio.filter(|of| *of > 0.0);
    let straight = pair(lane, against).map(|of| (of, false));
    straight.or_else(|| pair(against, lane).map(|of| (of, true)))
}

/// The lane that the table of all results holds the others against: the first that any of them ranks.
fn reference(results: &[ResultFinding]) -> Option<String> {
    let pairs: Vec<&Pair> = results.iter().flat_map(|result| &result.pairs).collect();
    reference_among(&results.first()?.estimates, &pairs)
}

fn reference_among(lanes: &[Estimate], pairs: &[&Pair]) -> Option<String> {
    let ranked = |of: &&Estimate| {
        pairs.iter().any(|pair| (pair.a == of.lane || pair.b == of.lane) && pair.verdict != Verdict::None)
    };
    lanes.iter().find(ranked).or(lanes.first()).map(|of| of.lane.clone())
}
