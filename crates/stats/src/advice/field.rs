//! The lanes of a race, divided by what they must have, what they did, and which may be ranked together.

use super::choice::{Choice, Contest};
use super::facts::{self, Holds, Table};
use super::flips;
use super::work::Part;
use super::{Asked, LEAST_MEASURED};
use crate::comparable::{self, LIBRARY, MEMORY};
use crate::statements::{advice as statement, text};
use model::Sentence;
use model::features::Feature;
use model::findings::{Excluded, Flip, LaneFact};
use model::lane::{Lane, ServerAnswers};
use model::scenario::{Need, Wish};
use std::collections::BTreeMap;

/// The lanes that raced, the parts that were measured, and what is known of the lanes.
pub struct Field<'a> {
    /// The lanes.
    pub lanes: &'a [&'a Lane],
    /// The parts that were measured.
    pub parts: &'a [Part<'a>],
    /// What is known of the lanes.
    pub table: Table<'a>,
}

/// The lanes divided by what they must have.
pub struct Divided<'a> {
    /// Those that may be ranked with each other.
    pub left: Vec<&'a Lane>,
    /// The others with what excludes them.
    pub excluded: Vec<Excluded>,
    /// Nothing is left because what was may not be ranked with each other, and no part of it promises
    /// more than the rest.
    pub apart: bool,
}

impl<'a> Field<'a> {
    /// The lanes that are left, and the others with what excludes them.
    pub fn divide(&self, asked: &[(&Need, Option<&str>)]) -> Divided<'a> {
        let (mut left, mut excluded) = (Vec::new(), Vec::new());
        for lane in self.lanes {
            match self.exclusion(lane, asked) {
                Some(found) => excluded.push(found),
                None => left.push(*lane),
            }
        }
        let mut classes = comparable_classes(&left);
        let taken = preferred(&classes);
        let apart = taken.is_none() && classes.len() > 1;
        // Of a class that is not taken it is said why it may not stand beside the one that is; where none
        // is, why it may not stand beside the first.
        let shown = taken.unwrap_or(0);
        for (at, class) in classes.iter().enumerate().filter(|(at, _)| Some(*at) != taken) {
            for lane in class {
                let different = match at == shown {
                    true => comparable::comparable(lane, classes[1][0]),
                    false => comparable::comparable(classes[shown][0], lane),
                };
                let why = different.err().unwrap_or_default();
                excluded.push(beside(lane, "comparable", Some(why), "the lanes' options and venues"));
            }
        }
        let left = taken.map(|taken| classes.swap_remove(taken)).unwrap_or_default();
        Divided { left, excluded, apart }
    }

    /// What excludes a lane by itself.
    fn exclusion(&self, lane: &Lane, asked: &[(&Need, Option<&str>)]) -> Option<Excluded> {
        for (need, why) in asked {
            let (holds, found) = self.table.need(lane, need);
            if holds != Holds::No {
                continue;
            }
            let mut sources: Vec<&str> = Vec::new();
            for (_, one) in &found {
                if !one.fact.source.is_empty() && !sources.contains(&one.fact.source.as_str()) {
                    sources.push(&one.fact.source);
                }
            }
            return Some(Excluded {
                lane: lane.name.clone(),
                constraint: need.to_string(),
                why: why.map(str::to_owned),
                facts: found.iter().map(|(wish, one)| facts::told(wish, one)).collect(),
                source: sources.join("; "),
            });
        }
        if let Some(failure) = self.parts.iter().find_map(|part| part.failure(&lane.name)) {
            return Some(beside(lane, "done", Some(failure), "the race"));
        }
        match lane.venue.as_str() {
            LIBRARY => Some(beside(lane, "mounted", None, "the lane's venue")),
            MEMORY => Some(beside(lane, "kept", None, "the lane's venue")),
            _ => self.too_little(lane).map(|why| beside(lane, "measured", Some(why), "the race")),
        }
    }

    /// Why a lane was measured in less than half of the work, where the race as a whole measured more.
    fn too_little(&self, lane: &Lane) -> Option<Sentence> {
        let lacking = |part: &&Part| part.unmeasured(&lane.name).is_some();
        let all: f64 = self.parts.iter().map(|part| part.weight.share).sum();
        let own: f64 = self.parts.iter().filter(|part| !lacking(part)).map(|part| part.weight.share).sum();
        let enough = LEAST_MEASURED - 1e-9;
        if all < enough || own >= enough {
            return None;
        }
        let part = self.parts.iter().find(lacking)?;
        Some(statement::of_part(text(&part.weight.what), part.unmeasured(&lane.name)?))
    }

    /// The lane that is chosen among those that meet these needs, where it is not this one, and how many
    /// times as well it does.
    fn another(&self, asked: &[(&Need, Option<&str>)], than: &str, delta: f64) -> Option<(String, f64)> {
        let left = self.divide(asked).left;
        let choice = Contest::new(self.parts, names(&left)).choose(delta)?;
        let lane = left[choice.lane].name.as_str();
        let ratio = Contest::new(self.parts, vec![lane, than]).lead(0, 1).exp();
        (lane != than).then(|| (lane.to_owned(), ratio))
    }

    /// What would choose another lane, the likeliest to matter first.
    pub fn flips(&self, asked: &Asked, contest: &Contest, chosen: &Choice, delta: f64) -> Vec<Flip> {
        let name = contest.lanes[chosen.lane];
        let mut flips: Vec<Flip> = Vec::new();
        flips.extend(flips::by_weight(contest, self.parts, chosen, delta));
        flips.extend(flips::by_noise(contest, self.parts, chosen));
        let all = asked.all();
        for dropped in 0..all.len() {
            let others: Vec<_> =
                all.iter().enumerate().filter(|(at, _)| *at != dropped).map(|(_, need)| *need).collect();
            if let Some((lane, ratio)) = self.another(&others, name, delta) {
                flips.push(Flip::Without { need: all[dropped].0.to_string(), lane, ratio });
            }
        }
        let mut more: BTreeMap<String, (Vec<String>, f64)> = BTreeMap::new();
        for need in ASKED_OFTEN.iter().map(|wish| Need::one(wish.clone())) {
            let mut needs = all.clone();
            needs.push((&need, None));
            if let Some((lane, ratio)) = self.another(&needs, name, delta) {
                more.entry(lane).or_insert((Vec::new(), ratio)).0.push(need.to_string());
            }
        }
        flips.extend(more.into_iter().map(|(lane, (needs, ratio))| Flip::With { needs, lane, ratio }));
        flips
    }
}

/// The lanes' names.
pub fn names<'a>(lanes: &[&'a Lane]) -> Vec<&'a str> {
    lanes.iter().map(|lane| lane.name.as_str()).collect()
}

/// Whether a lane is out for what somebody asks for, not for its place, its promises or what it did.
pub fn is_of_a_need(out: &Excluded) -> bool {
    !["done", "measured", "mounted", "kept", "comparable"].contains(&out.constraint.as_str())
}

/// What people ask for beside speed.
const ASKED_OFTEN: [Wish; 9] = [
    Wish::Has(Feature::DataChecksums),
    Wish::Has(Feature::Snapshots),
    Wish::Has(Feature::Reflink),
    Wish::Has(Feature::Compression),
    Wish::Has(Feature::Encryption),
    Wish::Has(Feature::Shrink),
    Wish::Has(Feature::OnlineGrowth),
    Wish::Has(Feature::Quota),
    Wish::DynamicInodes,
];

/// A lane that no need excludes but its place or its promises do.
fn beside(lane: &Lane, constraint: &str, note: Option<Sentence>, source: &str) -> Excluded {
    let fact = LaneFact { need: constraint.to_owned(), is: "no".to_owned(), with: None, note };
    Excluded {
        lane: lane.name.clone(),
        constraint: constraint.to_owned(),
        why: None,
        facts: vec![fact],
        source: source.to_owned(),
    }
}

/// The lanes gathered by which may be ranked with each other.
fn comparable_classes<'a>(lanes: &[&'a Lane]) -> Vec<Vec<&'a Lane>> {
    let mut classes: Vec<Vec<&'a Lane>> = Vec::new();
    for lane in lanes {
        match classes.iter_mut().find(|class| comparable::comparable(class[0], lane).is_ok()) {
            Some(class) => class.push(lane),
            None => classes.push(vec![lane]),
        }
    }
    classes
}

/// The class that keeps every promise of all others, and each of them fewer: so a lane without barriers is
/// never chosen beside one that has them, however fast it is. `None`: there is no such class. Nothing else
/// prefers one: neither its size nor which lane was named first says anything of a disk.
fn preferred(classes: &[Vec<&Lane>]) -> Option<usize> {
    let promises = |at: usize| {
        let of = &classes[at][0].promises;
        [of.journal, of.barriers, of.fsync_reaches_stable_storage]
    };
    // Of a server of which nothing was said it is not known whether it keeps more than another, or less.
    let said = |at: usize| classes[at][0].server_answers;
    let answers_earlier =
        |a: usize, b: usize| (said(a), said(b)) == (Some(ServerAnswers::Async), Some(ServerAnswers::Sync));
    let keeps = |a: usize, b: usize| {
        !answers_earlier(a, b) && promises(a).iter().zip(promises(b)).all(|(mine, theirs)| *mine || !theirs)
    };
    let others = |at: usize| (0..classes.len()).filter(move |other| *other != at);
    (0..classes.len()).find(|&at| others(at).all(|other| keeps(at, other) && !keeps(other, at)))
}
