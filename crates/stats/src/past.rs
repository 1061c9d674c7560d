//! What their past did to lanes: each aged lane beside the same lane fresh, and ranks of two filesystems that flip with age
//! (method 8.6). It adds no judgement: every ratio and verdict is one that its pair has already.

use crate::answer::title;
use model::findings::{AgedFinding, AgedFlip, AgedRanks, AgedRow, Pair, ResultFinding, Verdict};
use model::lane::{Lane, LaneSpec};

/// Lanes of one past are equally full but for this share of their size (method 8.6).
const MOST_APART: f64 = 0.005;

/// Lanes with a past, in the order of the race.
pub(crate) fn aged(lanes: &[Lane], results: &[ResultFinding]) -> Vec<AgedFinding> {
    let mut found = Vec::new();
    for lane in lanes.iter().filter(|lane| !lane.is_self) {
        let Some(facts) = &lane.aged else { continue };
        let beside = fresh(lanes, lane);
        let row = |result: &ResultFinding| {
            let (ratio, low, high, verdict) = seen(&result.pairs, &lane.name, &beside?.name)?;
            Some(AgedRow { title: title(result, results), ratio, low, high, verdict })
        };
        let rows = results.iter().filter_map(row).collect();
        let beside = beside.map(|beside| beside.name.clone());
        found.push(AgedFinding { lane: lane.name.clone(), facts: facts.clone(), beside, rows });
    }
    found
}

/// Whether what age did to a lane was decided in any row.
pub(crate) fn tells(aged: &AgedFinding) -> bool {
    let is_decided = |row: &AgedRow| !matches!(row.verdict, Verdict::Undecided | Verdict::None);
    aged.facts.states.contains("+aged") && aged.rows.iter().any(is_decided)
}

/// Every two lanes of one past whose fresh lanes were raced too.
pub(crate) fn ranks(lanes: &[Lane], results: &[ResultFinding]) -> Option<AgedRanks> {
    let old: Vec<(&Lane, &Lane)> = lanes
        .iter()
        .filter(|lane| !lane.is_self && lane.aged.is_some())
        .filter_map(|lane| Some((lane, fresh(lanes, lane)?)))
        .collect();
    let mut ranks = AgedRanks::default();
    for (at, (one_aged, one_fresh)) in old.iter().enumerate() {
        for (other_aged, other_fresh) in &old[at + 1..] {
            if states(one_aged) != states(other_aged) {
                continue;
            }
            if !are_equally_full(one_aged, other_aged) {
                // A rank could flip by what the fuller one has less room for.
                ranks.unequal += 1;
                continue;
            }
            for result in results {
                // 1: the first is ahead, -1: the other one, 0: a tie; `Some(None)`: not decided.
                let better = |a: &Lane, b: &Lane| match seen(&result.pairs, &a.name, &b.name)?.3 {
                    Verdict::Faster => Some(Some(1)),
                    Verdict::Slower => Some(Some(-1)),
                    Verdict::Tie => Some(Some(0)),
                    Verdict::Undecided => Some(None),
                    Verdict::None => None,
                };
                let ordered = |a: &Lane, b: &Lane, order: i32| match order > 0 {
                    true => [a.name.clone(), b.name.clone()],
                    false => [b.name.clone(), a.name.clone()],
                };
                let (Some(fresh), Some(aged)) = (better(one_fresh, other_fresh), better(one_aged, other_aged)) else {
                    continue;
                };
                let (Some(fresh), Some(aged)) = (fresh, aged) else {
                    ranks.open += 1;
                    continue;
                };
                ranks.decided += 1;
                if fresh * aged < 0 {
                    ranks.flips.push(AgedFlip {
                        title: title(result, results),
                        fresh: ordered(one_fresh, other_fresh, fresh),
                        aged: ordered(one_aged, other_aged, aged),
                    });
                }
            }
        }
    }
    (ranks.decided + ranks.open + ranks.unequal > 0).then_some(ranks)
}

/// Whether their files take the same share of two lanes; of older records it is not known, and they count as such.
fn are_equally_full(one: &Lane, other: &Lane) -> bool {
    let reached = |lane: &Lane| lane.aged.as_ref().and_then(|facts| facts.reached_share);
    reached(one).zip(reached(other)).is_none_or(|(one, other)| (one - other).abs() <= MOST_APART)
}

fn states(lane: &Lane) -> &str {
    lane.aged.as_ref().map_or("", |facts| facts.states.as_str())
}

/// Of an aged lane the same one without a past.
pub(crate) fn fresh_twin<'a>(lanes: &'a [Lane], lane: &Lane) -> Option<&'a Lane> {
    fresh(lanes, lane).filter(|_| lane.aged.is_some())
}

/// The same lane without a past.
fn fresh<'a>(lanes: &'a [Lane], lane: &Lane) -> Option<&'a Lane> {
    // Names are the user's, and states stand in them where nobody gave any.
    let without = |lane: &Lane| {
        let spec: LaneSpec = lane.spec.parse().ok()?;
        Some(LaneSpec { name: String::new(), aged: None, full_percent: None, ..spec })
    };
    let wanted = without(lane)?;
    lanes.iter().find(|other| {
        other.aged.is_none()
            && !other.is_self
            && other.ground == lane.ground
            && other.kernel == lane.kernel
            && without(other).as_ref() == Some(&wanted)
    })
}

/// Ratio, interval and verdict of one lane against another, however the pair is written.
fn seen(pairs: &[Pair], one: &str, other: &str) -> Option<(f64, Option<f64>, Option<f64>, Verdict)> {
    let pair = pairs.iter().find(|pair| (pair.a == one && pair.b == other) || (pair.a == other && pair.b == one))?;
    let ratio = pair.ratio.filter(|ratio| *ratio > 0.0)?;
    if pair.a == one {
        return Some((ratio, pair.low, pair.high, pair.verdict));
    }
    let turned = match pair.verdict {
        Verdict::Faster => Verdict::Slower,
        Verdict::Slower => Verdict::Faster,
        same => same,
    };
    let over = |bound: Option<f64>| bound.filter(|bound| *bound > 0.0).map(|bound| 1.0 / bound);
    Some((1.0 / ratio, over(pair.high), over(pair.low), turned))
}
