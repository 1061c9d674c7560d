//! Options that are one and the same, and options of which the kernel makes something else together than of each alone.

use super::{Chosen, Settling, TRIED, Tried, named, words};
use crate::commands::screening::levels;
use crate::failure::Failure;
use lanes::screened_options::{self, Made};
use model::screening::Factor;
use std::collections::BTreeSet;

/// Why two options do not go together of which one changes nothing beside the other.
const AS_ALONE: &str = "both together make the same as one of them alone";
/// Why a run is none: it is another one too.
const AS_ANOTHER: &str = "so many together make the same as fewer of them";

/// Options of a mount, as the kernel shows them.
type Shown = BTreeSet<String>;

/// What a level changes of the options that the kernel shows where nothing is said.
struct Change {
    added: Shown,
    removed: Shown,
}

impl Change {
    fn new(bare: &Made, made: &Made) -> Change {
        let (bare, own) = (shown(bare), shown(made));
        Change { added: &own - &bare, removed: &bare - &own }
    }

    /// What both set of the mount, behind the name of the one; `None`: nothing. What both take away (`noquota`, by quotas of
    /// two kinds) they may take away together.
    fn shared(&self, other: &Change) -> Option<String> {
        self.added.intersection(&other.added).map(|option| format!("which sets `{option}` too")).next()
    }
}

fn shown(made: &Made) -> Shown {
    made.mount.iter().cloned().collect()
}

/// Tells the usual level of an option as another one that is the same here: that one is no level beside it.
pub(super) fn tell_usual(factor: &mut Factor, same: Option<usize>) {
    let Some(level) = same.and_then(|place| levels::level(factor, place)).cloned() else { return };
    factor.usual = screened_options::as_here(&factor.usual, &level);
    // The first of the other levels is taken away by the one that takes its place.
    factor.further.retain(|further| *further != level);
}

impl Settling<'_> {
    /// Leaves out what makes the same lanes as an earlier option.
    pub(super) fn leave_out_twins(&mut self) -> Result<(), Failure> {
        let mut at = 0;
        while at < self.factors.len() {
            let mut twin = None;
            for earlier in 0..at {
                if twin.is_none() && self.is_one(earlier, at, 0)? && self.is_one(earlier, at, 1)? {
                    twin = self.factors.get(earlier).map(|factor| named(factor, 1));
                }
            }
            match twin {
                Some(twin) => self.leave_out(at, 1, format!("it is the same as {twin}")),
                None => at += 1,
            }
        }
        Ok(())
    }

    /// Whether two options make one lane at their levels of this place: by its words, or by what comes of it here.
    fn is_one(&mut self, one: usize, other: usize, place: usize) -> Result<bool, Failure> {
        let said = |factor: usize| {
            let level = levels::level(self.factors.get(factor)?, place)?;
            screened_options::lane_with(self.base, TRIED, &[level]).ok().map(|lane| words(&lane))
        };
        if said(one).is_some() && said(one) == said(other) {
            return Ok(true);
        }
        let made = self.made(&[(one, place)])?;
        Ok(made.is_some() && made == self.made(&[(other, place)])?)
    }

    /// Leaves out what changes an option of the mount that an earlier one changes as well: beside that one it does something else than
    /// alone, or nothing.
    pub(super) fn leave_out_overlapping(&mut self) -> Result<(), Failure> {
        let mut at = 0;
        while at < self.factors.len() {
            match self.overlap(at)? {
                Some((place, why)) => self.leave_out(at, place, why),
                None => at += 1,
            }
        }
        Ok(())
    }

    /// Which level of an option changes what one of an earlier option changes, and why it is left out.
    fn overlap(&mut self, at: usize) -> Result<Option<(usize, String)>, Failure> {
        for earlier in 0..at {
            for (place, before) in [(1, 1), (1, 0), (0, 1), (0, 0)] {
                let (one, other) = (self.change(earlier, before)?, self.change(at, place)?);
                if let Some(shared) = one.zip(other).and_then(|(one, other)| one.shared(&other)) {
                    let beside = self.factors.get(earlier).map(|factor| named(factor, before)).unwrap_or_default();
                    return Ok(Some((place, format!("it does not go with {beside}, {shared}"))));
                }
            }
        }
        Ok(None)
    }

    /// The first run of which the kernel makes something else than its levels say, or the same as of an earlier one; and why.
    pub(super) fn first_unlike(&mut self, runs: &[Vec<bool>]) -> Result<Option<(Chosen, String)>, Failure> {
        let mut before: Vec<(Chosen, Made)> = Vec::new();
        for run in runs {
            let chosen: Chosen = levels::combination_of_run(run).into_iter().enumerate().collect();
            if before.iter().any(|(other, _)| *other == chosen) {
                continue;
            }
            if let Some(why) = self.unlike(&chosen)? {
                return Ok(Some((chosen, why)));
            }
            let Some(made) = self.made(&chosen)? else { continue };
            if let Some((other, _)) = before.iter().find(|(_, other)| *other == made) {
                let changed = |of: &Chosen| of.iter().filter(|(_, place)| *place > 0).count();
                let fuller = if changed(other) > changed(&chosen) { other.clone() } else { chosen };
                return Ok(Some((fuller, AS_ANOTHER.to_owned())));
            }
            before.push((chosen, made));
        }
        Ok(None)
    }

    /// Why two levels do not go together; `None`: they do.
    pub(super) fn clash(&mut self, one: (usize, usize), other: (usize, usize)) -> Result<Option<String>, Failure> {
        let both = [one, other];
        if let Some(why) = self.refused(&both)? {
            return Ok(Some(why));
        }
        if let Some(why) = self.unlike(&both)? {
            return Ok(Some(why));
        }
        let (bare, made) = (self.made(&[])?, self.made(&both)?);
        let (one, other) = (self.made(&[one])?, self.made(&[other])?);
        // Each of them changes something alone.
        let is_change = made.is_some() && one != bare && other != bare;
        Ok((is_change && (made == one || made == other)).then(|| AS_ALONE.to_owned()))
    }

    /// What the kernel makes of some levels otherwise than of each of them alone; `None`: nothing, or it is not known.
    fn unlike(&mut self, chosen: &[(usize, usize)]) -> Result<Option<String>, Failure> {
        let (Some(bare), Some(made)) = (self.made(&[])?, self.made(chosen)?) else { return Ok(None) };
        let (mut wanted, mut added) = (shown(&bare), Shown::new());
        for &(factor, place) in chosen {
            let Some(change) = self.change(factor, place)? else { return Ok(None) };
            wanted.retain(|option| !change.removed.contains(option));
            added.extend(change.added);
        }
        wanted.extend(added);
        let found = shown(&made);
        let lacks = wanted.difference(&found).map(|option| format!("the kernel mounts it without `{option}` then"));
        let more = found.difference(&wanted).map(|option| format!("the kernel mounts it with `{option}` then"));
        Ok(lacks.chain(more).next())
    }

    /// What a level alone changes; `None`: it is not known.
    fn change(&mut self, factor: usize, place: usize) -> Result<Option<Change>, Failure> {
        let (bare, made) = (self.made(&[])?, self.made(&[(factor, place)])?);
        Ok(bare.zip(made).map(|(bare, made)| Change::new(&bare, &made)))
    }

    /// What was made of some levels; `None`: they were not tried, or are refused.
    fn made(&mut self, chosen: &[(usize, usize)]) -> Result<Option<Made>, Failure> {
        Ok(match self.tried(chosen)? {
            Tried::Works(made) => Some(made),
            Tried::Refused(_) | Tried::NotTried => None,
        })
    }
}
