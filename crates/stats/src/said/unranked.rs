//! Pairs without a verdict, gathered by reason and lane.

use super::{Lanes, Numbered};
use model::Sentence;
use model::findings::{Limit, ResultFinding, Statement, Verdict};
use model::sentence::Value;
use std::collections::HashMap;

/// Stands in a reason where the name of one of the two lanes stood.
const A_LANE: &str = "\0";

/// A lane that lacks a promise lacks it against every other, and that is said once.
pub(super) fn without_verdict(
    result: &ResultFinding,
    all: &[Numbered],
    lanes: &Lanes,
    reference: usize,
) -> Vec<Statement> {
    let mut gathered: Vec<Vec<Numbered>> = Vec::new();
    let mut places: HashMap<String, usize> = HashMap::new();
    for pair in all.iter().filter(|pair| pair.shown.verdict == Verdict::None) {
        let reason = pair.shown.why.map(|why| without_names(why, [pair.shown.a, pair.shown.b])).unwrap_or_default();
        let place = *places.entry(reason).or_insert(gathered.len());
        match gathered.get_mut(place) {
            Some(pairs) => pairs.push(*pair),
            None => gathered.push(vec![*pair]),
        }
    }
    let mut said = Vec::new();
    for mut pairs in gathered {
        // A ratio of two figures that Fairlane's own speed set would pass for the lanes'.
        if result.limit == Limit::Harness {
            said.push(Statement::NoVerdict { pairs: Vec::new(), why: pairs[0].shown.why.cloned() });
            continue;
        }
        while !pairs.is_empty() {
            let subject = most_named(&pairs, lanes.names.len(), reference);
            let (its, rest): (Vec<Numbered>, Vec<Numbered>) =
                pairs.into_iter().partition(|pair| pair.a == subject || pair.b == subject);
            let its = its.into_iter().map(|pair| if pair.b == subject { pair.turned() } else { pair });
            let its: Vec<Numbered> = its.collect();
            let why = its.first().and_then(|pair| pair.shown.why.cloned());
            said.push(Statement::NoVerdict { pairs: its.iter().map(|pair| pair.told).collect(), why });
            pairs = rest;
        }
    }
    said
}

/// The lane of most of these pairs, the reference left out; of equally many the first that they name.
fn most_named(pairs: &[Numbered], lanes: usize, reference: usize) -> usize {
    let mut counts = vec![0_usize; lanes];
    for pair in pairs {
        counts[pair.a] += 1;
        counts[pair.b] += usize::from(pair.a != pair.b);
    }
    let named = pairs.iter().flat_map(|pair| [pair.a, pair.b]).filter(|&lane| lane != reference);
    // `max_by_key` keeps the last of equals: look from the back.
    named.rev().max_by_key(|&lane| counts[lane]).unwrap_or(pairs[0].a)
}

/// A reason without the names of the two lanes that it is about, so that reasons about different lanes compare.
fn without_names(why: &Sentence, lanes: [&str; 2]) -> String {
    let Some(said) = why.said() else { return why.to_string() };
    let values = said.values.iter().map(|(_, value)| without_names_of(value, lanes));
    std::iter::once(said.id.to_owned()).chain(values).collect::<Vec<_>>().join("\u{1}")
}

fn without_names_of(value: &Value, lanes: [&str; 2]) -> String {
    match value {
        Value::Name(name) if lanes.contains(&name.as_str()) => A_LANE.to_owned(),
        Value::Part(part) => without_names(part, lanes),
        Value::List(values) | Value::Row(values) | Value::Clauses(values) => {
            values.iter().map(|value| without_names_of(value, lanes)).collect::<Vec<_>>().join("\u{2}")
        }
        other => other.to_string(),
    }
}
