//! What is said of growing numbers of ranks.

pub(crate) const LADDER: &str = "LADDER";
pub(crate) const TITLE: &str = "What more ranks bring";
pub(crate) const LEGEND: &str = "figures of so many ranks together, each with its 95\u{a0}% interval. Added: what the \
     ranks brought that the row above does not have, as a share of what as many of those above did: 100\u{a0}% as much, \
     0 nothing; in brackets the interval that holds with 95\u{a0}% together with those of the whole race. Numbers were \
     raced one after another: what changed meanwhile is in it. One rank alone reads what it wrote itself, perhaps from memory.";
pub(crate) const COLUMNS: [&str; 5] = ["work", "lane", "ranks", "together", "added"];
pub(crate) const ABSENT: &str = "-";

pub(crate) fn added(share: &str, low: &str, high: &str) -> String {
    format!("{share} ({low} to {high})")
}

/// `steps`: numbers of ranks, before and after.
pub(crate) fn bends(work: &str, lane: &str, steps: (u32, u32), at_most: &str, perhaps_before: bool) -> String {
    let (from, to) = steps;
    let latest = if perhaps_before { ", at the latest" } else { "" };
    format!("{work}, {lane}: bends from {from} to {to} ranks{latest}: those that are added bring at most {at_most}.")
}

pub(crate) fn straight(work: &str, lane: &str, ranks: u32) -> String {
    format!("{work}, {lane}: does not bend up to {ranks} ranks: every step brings at least half of what it should.")
}

pub(crate) fn open(work: &str, lane: &str, ranks: u32) -> String {
    format!(
        "{work}, {lane}: whether it bends up to {ranks} ranks is not known: too noisy, too few rounds, or it stood still in one."
    )
}
