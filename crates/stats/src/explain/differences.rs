//! What makes a lane's operation take longer than another's: the differences of their times, cause by cause (method 7.3).

use crate::statements::{explain as statement, name, text};
use model::Sentence;
use model::findings::Explanation;
use model::sentence::Value;
use std::collections::BTreeMap;

/// Causes are named until so much of a difference is told, and so many of them at most.
const ENOUGH: f64 = 0.8;
const MOST_NAMED: usize = 4;
const MOST_SAVED: usize = 3;
/// From here on what is told is more than the difference.
const MORE_THAN_ALL: f64 = 1.05;
/// A cause that is less of it is not named.
const LEAST_NAMED: f64 = 0.05;
/// Lanes whose operations take as long as this are not told apart: what is smaller differs between passes anyway. Chosen.
const LEAST_DIFFERENCE: f64 = 0.1;
/// A sentence for each lane against the one that others are held against.
pub(super) fn sentences(explained: &[Explanation], reference: Option<&str>) -> Vec<Sentence> {
    let first = explained.iter().find(|of| reference == Some(of.lane.as_str())).or(explained.first());
    let Some(first) = first else { return Vec::new() };
    let mut said: Vec<Sentence> = Vec::new();
    for other in explained.iter().filter(|of| of.lane != first.lane) {
        let (fast, slow) = match first.seconds_per_operation <= other.seconds_per_operation {
            true => (first, other),
            false => (other, first),
        };
        said.extend(difference(fast, slow));
    }
    said
}

fn difference(fast: &Explanation, slow: &Explanation) -> Option<Sentence> {
    let more = slow.seconds_per_operation - fast.seconds_per_operation;
    if more < LEAST_DIFFERENCE * fast.seconds_per_operation {
        return None;
    }
    let mut by_cause: BTreeMap<&str, f64> = BTreeMap::new();
    for (of, sign) in [(slow, 1.0), (fast, -1.0)] {
        for cause in &of.causes {
            *by_cause.entry(&cause.cause).or_default() += sign * cause.share * of.seconds_per_operation;
        }
    }
    let mut causes: Vec<(&str, f64)> = by_cause.into_iter().map(|(cause, seconds)| (cause, seconds / more)).collect();
    causes.sort_by(|a, b| b.1.total_cmp(&a.1));
    let savings: Vec<(&str, f64)> = causes.iter().rev().copied().filter(|(_, share)| *share < -LEAST_NAMED).collect();
    // Where one cause stands for another, each is more than the difference: a share of it would say nothing.
    let replaced = causes.iter().any(|(_, share)| share.abs() > 1.0);
    let amount = |share: f64| if replaced { Value::Seconds(share * more) } else { Value::Share(share) };
    let mut told = 0.0;
    let mut named = Vec::new();
    for (cause, share) in causes {
        if told >= ENOUGH || named.len() == MOST_NAMED || share < LEAST_NAMED {
            break;
        }
        told += share;
        named.push(statement::cause_of_difference(amount(share), text(cause)).into());
    }
    if named.is_empty() {
        return None;
    }
    // What is told is more than there is where the slower lane saves elsewhere.
    for (cause, share) in savings.into_iter().take(MOST_SAVED) {
        if told <= MORE_THAN_ALL {
            break;
        }
        told += share;
        named.push(statement::cause_of_saving(amount(-share), text(cause)).into());
    }
    Some(statement::difference(
        name(&fast.lane),
        Value::Seconds(fast.seconds_per_operation),
        name(&slow.lane),
        Value::Seconds(slow.seconds_per_operation),
        Value::Seconds(more),
        Value::Row(named),
    ))
}
