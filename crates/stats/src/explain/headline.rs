//! What a row whose limit no rule tells is headed by: the largest share of its slowest lane's time (method 7.5).

use model::findings::{Explanation, Headline, Limit, Part, ResultFinding};

/// A part that takes more than this is named.
const NAMED: f64 = 0.5;

/// The headline of a result; `None`: a rule tells its limit, or nothing is known.
pub(super) fn headline(result: &ResultFinding) -> Option<Headline> {
    if result.limit != Limit::Unattributed {
        return None;
    }
    let slowest =
        result.explanations.iter().max_by(|a, b| a.seconds_per_operation.total_cmp(&b.seconds_per_operation))?;
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
        not_explained: of.share(Part::NotExplained),
    }
}
