//! The order of lanes in one result, from decided differences alone.
//!
//! Lanes that may be compared with each other (same promises, venue and ground) form classes; the
//! largest class is ranked, of equal ones that with the first lane, and lanes outside it are left
//! out: a place in the list would rank them. Inside the class the lanes are sorted by their means
//! and the list is cut wherever every lane before the cut is decided better than every lane after
//! it. So lanes joined by ties or undecided pairs, directly or through others, stay in one group.

use crate::comparable::comparable;
use model::findings::{Estimate, Pair, Verdict};
use model::lane::Lane;

/// Groups of lanes, best first. `estimates` and `lanes` are in the header's order.
pub fn ranking(lanes: &[Lane], estimates: &[Estimate], pairs: &[Pair], higher_is_better: bool) -> Vec<Vec<String>> {
    let mut class = largest_class(lanes, estimates);
    class.sort_by(|a, b| {
        let order = a.mean.total_cmp(&b.mean);
        if higher_is_better { order.reverse() } else { order }
    });
    let mut groups: Vec<Vec<String>> = Vec::new();
    for (place, estimate) in class.iter().enumerate() {
        let cut = class[..place]
            .iter()
            .all(|better| class[place..].iter().all(|worse| beats(pairs, &better.lane, &worse.lane)));
        match groups.last_mut() {
            Some(group) if !cut => group.push(estimate.lane.clone()),
            _ => groups.push(vec![estimate.lane.clone()]),
        }
    }
    groups
}

fn largest_class<'a>(lanes: &[Lane], estimates: &'a [Estimate]) -> Vec<&'a Estimate> {
    let mut classes: Vec<(&Lane, Vec<&Estimate>)> = Vec::new();
    for (lane, estimate) in lanes.iter().zip(estimates).filter(|(_, estimate)| estimate.failure.is_none()) {
        match classes.iter_mut().find(|(first, _)| comparable(first, lane).is_ok()) {
            Some((_, class)) => class.push(estimate),
            None => classes.push((lane, vec![estimate])),
        }
    }
    // max_by_key keeps the last of equals: look from the back.
    classes.into_iter().rev().max_by_key(|(_, class)| class.len()).map(|(_, class)| class).unwrap_or_default()
}

/// Whether `better` is decided better than `worse`.
pub fn beats(pairs: &[Pair], better: &str, worse: &str) -> bool {
    pairs.iter().any(|pair| {
        (pair.a == better && pair.b == worse && pair.verdict == Verdict::Faster)
            || (pair.b == better && pair.a == worse && pair.verdict == Verdict::Slower)
    })
}

/// Whether `better` is decided better than `worse`, beside all other differences of the race.
pub fn beats_over_race(pairs: &[Pair], better: &str, worse: &str) -> bool {
    pairs.iter().any(|pair| pair.over_race && beats(std::slice::from_ref(pair), better, worse))
}
