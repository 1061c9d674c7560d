//! The table of features in words.

use model::features::{Fact, Rule};
use model::scenario::{Constraint, Scenario};

pub(crate) const NEED: &str = "--need";
pub(crate) const NEED_LEGEND: &str =
    "Each thing that is named must be there; `a|b` is one of the two. A scenario's own constraints hold too.";
pub(crate) const LEGEND: &str = "off: an option at mkfs or mount brings it, and is not the default; later: it can be \
    switched on without making the filesystem anew; unknown: no source says it. As Fairlane makes and mounts them: \
    options of a lane change some of it. `fairlane advise --features NAME` prints one with all sources.";

/// What a cell says, in a word or a few.
pub(crate) fn brief(fact: &Fact) -> String {
    let mut said = fact.is.clone();
    if !fact.kinds.is_empty() {
        said = format!("{said} ({})", fact.kinds.join(", "));
    }
    match (&fact.since, &fact.removed) {
        (Some(since), Some(removed)) => format!("{since} to before {removed}"),
        (Some(since), None) if fact.or_before => format!("{since} or before"),
        (Some(since), None) => format!("since {since}"),
        _ => said,
    }
}

/// What stands beside the word: what brings it, and what it does not say.
pub(crate) fn beside(fact: &Fact) -> String {
    let with = fact.with.iter().map(|with| format!(", with {with}"));
    let note = fact.note.iter().map(|note| format!("; {note}"));
    with.chain(note).collect()
}

/// When a rule holds.
pub(crate) fn rule(rule: &Rule) -> String {
    let mkfs = (!rule.mkfs.is_empty()).then(|| format!("made with {}", rule.mkfs.join(" or ")));
    let mount = (!rule.mount.is_empty()).then(|| format!("mounted with {}", rule.mount.join(" or ")));
    let geometry = rule.geometry.as_ref().map(|line| format!("where mkfs reports {line}"));
    let lacks = rule.lacks.as_ref().map(|line| format!("where mkfs does not report {line}"));
    mkfs.into_iter().chain(mount).chain(geometry).chain(lacks).collect::<Vec<_>>().join(", or ")
}

/// A scenario's constraint.
pub(crate) fn constraint(scenario: &Scenario, of: &Constraint) -> String {
    format!("must have {}: {} {}", of.need.title(), scenario.title, of.why)
}
