//! What a row whose limit no rule tells is headed by: the largest share of its slowest lane's time (method 7.5).

use model::findings::{Explanation, Headline, Limit, Part, ResultFinding};

/// A part that takes more than this is named.
const NAMED: f64 = 0.5;

/// The headline of a result; `None`: a rule tells its limit, or nothing is known.
pub(super) fn headline(result: &ResultFinding) -> Option<Headline> {
    if result.limit != Limit::Unattributed {
        return None;
    }
    // By the rounds that count: passes are slower, each in its own way.
    let rate = |of: &Explanation| of.unprofiled_operations_per_second.unwrap_or(of.operations_per_second);
    let slowest = result
        .explanations
        .iter()
        .min_by(|a, b| rate(a).total_cmp(&rate(b)).then(b.seconds_per_operation.total_cmp(&a.seconds_per_operation)))?;
    Some(of_lane(slowest))
}

fn of_lane(of: &Explanation) -> Headline {
    let known = of.parts.iter().filter(|part| part.part != Part::NotExplained);
    let largest = known.max_by(|a, b| a.share.total_cmp(&b.share));
    Headline {
        lane: of.lane.clone(),
        basis: of.basis,
        part: largest.filter(|part| part.share > NAMED).map(|part| part.part),
        share: largest.map_or(0.0, |part| part.share),
        at_most: of.device_by_counters && largest.is_some_and(|part| matches!(part.part, Part::Device | Part::Flush)),
        not_explained: of.share(Part::NotExplained),
    }
}
