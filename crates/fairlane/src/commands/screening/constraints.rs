//! Which options are screened: those that mkfs and the kernel take alone, and together as the design has them.

mod meanings;
mod room;
mod together;
mod trying;

use super::levels;
use crate::failure::Failure;
use lanes::screened_options::{self, Tried};
use meanings::{Table, hint};
use model::lane::LaneSpec;
use model::plan::Ground;
use model::screening::{DesignKind, Factor, LeftOutOption, OptionClass, OptionLevel};
pub use room::Room;
use std::collections::BTreeMap;
pub use trying::{Place, Sorted, working};
use trying::{devices, trying, why_untried};

/// What lanes are called that are only tried.
const TRIED: &str = "tried";
/// Why an option is left out that the lane sets.
const SAID: &str = "the lane says it already";
/// Why an option is left out that does not go with what the lane sets.
const EXCLUDED_BY_LANE: &str = "it does not go with what the lane says itself";
/// Why an option is left out for which a guest has no disks.
const NO_DISKS: &str = "a guest has no disks for more lanes";
/// Characters that are kept of why something is refused. Chosen.
const MOST_SAID: usize = 300;
/// Why an option is not screened of which no level makes anything else than the usual one.
const SO_ALREADY: &str =
    "it is so here already: mkfs, the kernel and the disk make the same of it where nobody says it";

/// Some factors, each with a place in its levels.
type Chosen = Vec<(usize, usize)>;

/// Whether two options, by their names, are never set together.
type Excludes<'a> = &'a dyn Fn(&str, &str) -> bool;

/// Tries a lane.
type Try<'a> = &'a mut dyn FnMut(&LaneSpec) -> Result<Tried, Failure>;

/// What is left to screen.
#[derive(Debug)]
pub struct Settled {
    /// The options.
    pub factors: Vec<Factor>,
    /// Their design.
    pub design: DesignKind,
    /// Its runs: for each factor whether it is at its other level.
    pub runs: Vec<Vec<bool>>,
    /// What cannot be screened.
    pub left_out: Vec<LeftOutOption>,
}

/// Tries options where the lanes' own images will lie; answers what is left to screen, and what is to be said of it.
/// `says`: that options are tried is said on standard error.
///
/// # Errors
/// Where the lane itself is refused, nothing is left to screen, or lanes cannot be tried here.
pub fn settle_here(
    base: &LaneSpec,
    factors: Vec<Factor>,
    room: Room,
    (place, says): (Place, bool),
) -> Result<(Settled, Vec<String>), Failure> {
    let (factors, of_queue) = without_queue(base, factors, &place.plan.on)?;
    let says = says.then_some(factors.len());
    let excludes = |one: &str, other: &str| excludes(base, one, other);
    let mut is_untried = false;
    let (mut settled, reach) = trying(base, (place, says), |try_one| {
        settle(base, factors, (room, &excludes), &mut |lane| {
            try_one(lane).inspect(|tried| is_untried |= *tried == Tried::NotTried)
        })
    })?;
    let mut notes: Vec<String> = Vec::new();
    if let Some(why) = why_untried(base, reach, is_untried) {
        notes.extend(settled.factors.iter().filter_map(|factor| perhaps_meant(base, factor)));
        let without =
            if room.are_named { "without its --option it is left out" } else { "--without NAME leaves it out" };
        notes.push(format!("{why}, and {without}"));
    }
    let without_disks = settled.left_out.iter().filter(|of| of.why == NO_DISKS).count();
    if without_disks > 0 {
        let take_part = match settled.factors.len() {
            1 => "1 option takes part".to_owned(),
            some => format!("{some} options take part"),
        };
        let are = if without_disks == 1 { "is" } else { "are" };
        notes.push(format!(
            "the guest has disks for {} lanes, so that {take_part} and {without_disks} {are} left out; --option NAME, \
             once for each, chooses others",
            room.lanes
        ));
    }
    settled.left_out.splice(0..0, of_queue);
    Ok((settled, notes))
}

/// What is left to screen by the words of options alone, before any of them is tried.
///
/// # Errors
/// Where nothing is left.
pub fn untried(base: &LaneSpec, factors: Vec<Factor>, room: Room, on: &Ground) -> Result<Settled, Failure> {
    let (factors, _) = without_queue(base, factors, on)?;
    let excludes = |one: &str, other: &str| excludes(base, one, other);
    settle(base, factors, (room, &excludes), &mut |_| Ok(Tried::NotTried))
}

/// Leaves settings of the disk's queue out where the lane's filesystem does not stand on a disk of its own.
///
/// # Errors
/// Where nothing else is left.
fn without_queue(
    base: &LaneSpec,
    factors: Vec<Factor>,
    on: &Ground,
) -> Result<(Vec<Factor>, Vec<LeftOutOption>), Failure> {
    let Some(why) = screened_options::no_queue(base, &devices(base, on)) else { return Ok((factors, Vec::new())) };
    let sets = |factor: &Factor| (0..levels::count(factor)).any(|at| levels::level(factor, at).is_some_and(sets_queue));
    let (of_queue, factors): (Vec<Factor>, Vec<Factor>) = factors.into_iter().partition(sets);
    let left_out = |factor: &Factor| LeftOutOption { option: named(factor, 1), why: one_line(&why) };
    let left_out: Vec<LeftOutOption> = of_queue.iter().map(left_out).collect();
    match factors.is_empty() {
        true => Err(nothing(base, &left_out)),
        false => Ok((factors, left_out)),
    }
}

fn sets_queue(level: &OptionLevel) -> bool {
    !level.queue.is_empty()
}

/// Whether two options of the table of the lane's filesystem are never set together.
fn excludes(base: &LaneSpec, one: &str, other: &str) -> bool {
    let names = |of: &str, name: &str| {
        let option = screened_options::table_of(base).iter().find(|option| option.name == of);
        option.is_some_and(|option| option.excludes.contains(&name))
    };
    names(one, other) || names(other, one)
}

/// Leaves out what the lane says itself, what is refused alone, what excludes another and what there is no room for; then of a
/// run that is refused the later one of the pair that makes it so, until all runs of the design can be made.
fn settle(
    base: &LaneSpec,
    factors: Vec<Factor>,
    (room, excludes): (Room, Excludes<'_>),
    try_one: Try<'_>,
) -> Result<Settled, Failure> {
    let (left_out, tried) = (Vec::new(), BTreeMap::new());
    let mut settling = Settling { base, factors, left_out, try_one, tried, beside_usual: false };
    let alone = settling.refused(&[])?;
    // What a filesystem of one's own cannot do without may be the usual level of an option.
    settling.beside_usual = alone.is_some();
    if let Some(why) = alone.filter(|_| settling.refused(&[]).is_ok_and(|told| told.is_some())) {
        return Err(Failure::usage(format!(
            "lane {} cannot be made and mounted here: {why}; `fairlane doctor` says what this machine can race",
            base.name
        )));
    }
    settling.leave_out_said();
    settling.leave_out_refused(room)?;
    settling.leave_out_what_is_so()?;
    settling.leave_out_twins()?;
    settling.leave_out_excluded(excludes);
    settling.leave_out_overlapping()?;
    settling.leave_out_without_room(room)?;
    let (design, runs) = settling.settle_runs()?;
    let Settling { factors, left_out, .. } = settling;
    Ok(Settled { factors, design, runs, left_out })
}

struct Settling<'a> {
    base: &'a LaneSpec,
    factors: Vec<Factor>,
    left_out: Vec<LeftOutOption>,
    try_one: Try<'a>,
    /// Lanes by their lines, so that none is tried twice.
    tried: BTreeMap<String, Tried>,
    /// Levels are tried beside the usual ones of all other options, because the lane alone is refused.
    beside_usual: bool,
}

impl Settling<'_> {
    /// Why some levels, each a factor and a place in its levels, make no lane; `None`: they do.
    fn refused(&mut self, chosen: &[(usize, usize)]) -> Result<Option<String>, Failure> {
        Ok(match self.tried(chosen)? {
            Tried::Refused(why) => Some(why),
            Tried::Works(_) | Tried::NotTried => None,
        })
    }

    /// What comes of some levels.
    fn tried(&mut self, chosen: &[(usize, usize)]) -> Result<Tried, Failure> {
        let place_of = |factor: usize| chosen.iter().find(|(of, _)| *of == factor).map(|(_, place)| *place);
        let of_all = || (0..self.factors.len()).map(|factor| (factor, place_of(factor).unwrap_or(0))).collect();
        let chosen: Chosen = if self.beside_usual { of_all() } else { chosen.to_vec() };
        let level = |&(factor, place): &(usize, usize)| levels::level(self.factors.get(factor)?, place);
        let levels: Vec<_> = chosen.iter().filter_map(level).collect();
        let lane = match screened_options::lane_with(self.base, TRIED, &levels) {
            Ok(lane) => lane,
            Err(failure) => return Ok(Tried::Refused(one_line(&failure.to_string()))),
        };
        let line = lane.to_line();
        if let Some(known) = self.tried.get(&line) {
            return Ok(known.clone());
        }
        let tried = match (self.try_one)(&lane)? {
            Tried::Refused(why) => Tried::Refused(one_line(&why)),
            other => other,
        };
        self.tried.insert(line, tried.clone());
        Ok(tried)
    }

    fn leave_out(&mut self, factor: usize, place: usize, why: String) {
        let factor = self.factors.remove(factor);
        let option = named(&factor, place);
        self.left_out.push(LeftOutOption { option, why });
    }

    /// What the lane sets itself has no usual level: both would give the same lane, or neither the one that was named.
    fn leave_out_said(&mut self) {
        let base = in_one_spelling(self.base);
        let mut at = 0;
        while at < self.factors.len() {
            match says_it(&base, &self.factors[at]) {
                true => self.leave_out(at, 1, SAID.to_owned()),
                false => at += 1,
            }
        }
    }

    /// Of options that nobody named the first ones stay, as many as there is room for.
    fn leave_out_without_room(&mut self, room: Room) -> Result<(), Failure> {
        let count = self.factors.len();
        let fit = room.options(count);
        if fit == count {
            return Ok(());
        }
        if fit == 0 {
            return Err(Failure::usage(format!(
                "a guest has no disks for the {} lanes of the smallest design on {} each; take fewer disks a lane, or screen \
                 without a guest",
                stats::screening::lanes_of(1),
                self.base.disks()
            )));
        }
        if room.are_named {
            return Err(Failure::usage(format!(
                "{count} options take {} lanes, and the guest has disks for {}: name {fit} options at most, or screen without \
                 a guest",
                stats::screening::lanes_of(count),
                room.lanes
            )));
        }
        while self.factors.len() > fit {
            self.leave_out(fit, 1, NO_DISKS.to_owned());
        }
        Ok(())
    }

    /// What somebody named and is refused ends the command before anything is raced, because another spelling may be meant.
    fn leave_out_refused(&mut self, room: Room) -> Result<(), Failure> {
        let (mut at, before) = (0, self.left_out.len());
        while at < self.factors.len() {
            let mut refused = None;
            for place in [1, 0] {
                if refused.is_none() {
                    refused = self.refused(&[(at, place)])?.map(|why| (place, why));
                }
            }
            match refused {
                Some((place, why)) => {
                    let why = self.with_hint(at, why);
                    self.leave_out(at, place, why);
                }
                None => {
                    if room.tunes {
                        self.leave_out_refused_levels(at)?;
                    }
                    at += 1;
                }
            }
        }
        match self.left_out.get(before..).unwrap_or_default() {
            refused if room.are_named && !refused.is_empty() => Err(named_and_refused(refused)),
            _ => Ok(()),
        }
    }

    /// Leaves out further levels of an option that are refused: in the plan of tuning they would be promised.
    fn leave_out_refused_levels(&mut self, at: usize) -> Result<(), Failure> {
        let mut place = 2;
        while self.factors.get(at).is_some_and(|factor| place < levels::count(factor)) {
            let Some(why) = self.refused(&[(at, place)])? else {
                place += 1;
                continue;
            };
            let why = self.with_hint(at, why);
            if let Some(factor) = self.factors.get_mut(at) {
                let option = named(factor, place);
                factor.further.remove(place - 2);
                self.left_out.push(LeftOutOption { option, why });
            }
        }
        Ok(())
    }

    /// Why an option is refused, with what is probably meant.
    fn with_hint(&self, at: usize, why: String) -> String {
        match self.factors.get(at).and_then(|factor| hint(self.base, factor, &why)) {
            Some(hint) => format!("{why} ({hint})"),
            None => why,
        }
    }

    /// Leaves out what is here by itself as its other level would have it; a further level that makes something else takes that
    /// one's place. A level that is so here by itself is told as the usual one, where that claims to be another.
    fn leave_out_what_is_so(&mut self) -> Result<(), Failure> {
        let mut at = 0;
        while let Some(count) = self.factors.get(at).map(levels::count) {
            let usual = self.tried(&[(at, 0)])?;
            let is_claim = self.factors.get(at).is_some_and(|factor| screened_options::is_claim(&factor.usual));
            let (mut differs, mut same) = (None, None);
            for place in 1..count {
                // A further level was not tried before, and may be refused.
                let tried = self.tried(&[(at, place)])?;
                match &tried {
                    Tried::Refused(_) => {}
                    Tried::Works(_) if tried == usual => same = same.or(Some(place)),
                    Tried::Works(_) | Tried::NotTried => differs = differs.or(Some(place)),
                }
                if differs.is_some() && !is_claim {
                    break;
                }
            }
            let Some(place) = differs else {
                self.leave_out(at, 1, SO_ALREADY.to_owned());
                continue;
            };
            if let Some(factor) = self.factors.get_mut(at) {
                together::tell_usual(factor, same);
                begin_with(factor, place);
            }
            at += 1;
        }
        Ok(())
    }

    fn leave_out_excluded(&mut self, excludes: Excludes<'_>) {
        let table = Table::new(self.base);
        let exclude = |ones: &[String], others: &[String]| {
            let excludes_any = |one: &String| others.iter().any(|other| excludes(one, other));
            ones.iter().any(excludes_any)
        };
        let of_lane = table.names_of_lane(self.base);
        let mut at = 0;
        while at < self.factors.len() {
            let (before, rest) = self.factors.split_at(at);
            let own = table.names(&rest[0]);
            let earlier = before.iter().find(|earlier| exclude(&table.names(earlier), &own));
            match earlier.map(|earlier| format!("it does not go with {}, which is screened", earlier.name)) {
                _ if exclude(&of_lane, &own) => self.leave_out(at, 1, EXCLUDED_BY_LANE.to_owned()),
                Some(why) => self.leave_out(at, 1, why),
                None => at += 1,
            }
        }
    }

    fn settle_runs(&mut self) -> Result<(DesignKind, Vec<Vec<bool>>), Failure> {
        loop {
            if self.factors.is_empty() {
                return Err(nothing(self.base, &self.left_out));
            }
            let (design, runs) = stats::screening::plan_design(self.factors.len());
            let refused = self.first_refused(&runs)?;
            let unlike = if refused.is_none() { self.first_unlike(&runs)? } else { None };
            let Some((chosen, why)) = refused.or(unlike) else { return Ok((design, runs)) };
            let (factor, place, why) = self.culprit(&chosen, &why)?;
            self.leave_out(factor, place, why);
        }
    }

    /// The first run that is refused, and why.
    fn first_refused(&mut self, runs: &[Vec<bool>]) -> Result<Option<(Chosen, String)>, Failure> {
        for run in runs {
            let chosen: Chosen = levels::combination_of_run(run).into_iter().enumerate().collect();
            if let Some(why) = self.refused(&chosen)? {
                return Ok(Some((chosen, why)));
            }
        }
        Ok(None)
    }

    /// Which level of a run does not go with an earlier one, and why. `whole`: why there is no such run.
    fn culprit(&mut self, chosen: &[(usize, usize)], whole: &str) -> Result<(usize, usize, String), Failure> {
        for (at, &later) in chosen.iter().enumerate() {
            for &earlier in &chosen[..at] {
                if let Some(why) = self.clash(earlier, later)? {
                    let beside = self.factors.get(earlier.0).map(|factor| named(factor, earlier.1));
                    let why = format!("it does not go with {}: {why}", beside.unwrap_or_default());
                    return Ok((later.0, later.1, why));
                }
            }
        }
        // It takes more than two of them.
        let last = chosen.iter().rev().find(|(_, place)| *place > 0).or(chosen.last());
        let (factor, place) = last.copied().unwrap_or_default();
        Ok((factor, place, format!("it does not go with the others: {whole}")))
    }
}

/// A lane with its words for mkfs as they are joined with those of levels.
fn in_one_spelling(base: &LaneSpec) -> LaneSpec {
    let own = OptionLevel { mkfs: base.mkfs_options.clone(), ..OptionLevel::default() };
    screened_options::lane_with(base, TRIED, &[&own]).unwrap_or_else(|_| base.clone())
}

/// Whether a lane sets what an option sets, or both levels of the option make the same lane of it.
fn says_it(base: &LaneSpec, factor: &Factor) -> bool {
    let had = words(base);
    let lane = |level: &OptionLevel| screened_options::lane_with(base, TRIED, &[level]).ok().map(|lane| words(&lane));
    let made = [&factor.usual, &factor.other].map(|level| (level, lane(level)));
    let is_of_lane = made.iter().any(|(level, made)| {
        let says_nothing = screened_options::says_nothing(level);
        // A level takes the place of what the lane says, or says the same.
        made.as_ref().is_some_and(|made| !says_nothing && (*made == had || !holds(made, &had)))
    });
    let [(_, usual), (_, other)] = made;
    is_of_lane || (usual.is_some() && usual == other)
}

/// The words of a lane for mkfs, mount, the disk's queue and the kernel, whatever their order.
fn words(lane: &LaneSpec) -> Vec<String> {
    let made = lane.mkfs_options.iter().flat_map(|word| word.split(','));
    let settings = [lane.queue(), lane.vm()].into_iter().flatten().flat_map(|layer| &layer.options);
    let told = lane.mount_options.iter().chain(settings).map(String::as_str);
    let mut words: Vec<String> = made.chain(told).map(str::to_owned).collect();
    words.sort_unstable();
    words
}

/// Whether some words, sorted, are all among others.
fn holds(all: &[String], some: &[String]) -> bool {
    let mut rest = all.iter();
    some.iter().all(|word| rest.any(|other| other == word))
}

/// The option of the table whose misspelt name an option that is refused probably has.
fn meant(base: &LaneSpec, factor: &Factor) -> Option<&'static str> {
    // `reflink` of `-m reflink`; a flag alone is near to nothing.
    let word = factor.name.rsplit(' ').next().filter(|word| !word.starts_with('-'))?;
    let known = screened_options::table_of(base).iter().map(|option| option.name);
    model::nearest(word, known).filter(|near| *near != word)
}

/// Makes a level the other one of a factor, without those before it. What is told of the first one's costs is said as
/// its own.
fn begin_with(factor: &mut Factor, place: usize) {
    for _ in 1..place {
        factor.costs = screened_options::costs_of_level(&factor.other.label, &factor.costs);
        factor.other = factor.further.remove(0);
    }
}

/// `bigalloc on`; of a flag of the mount that is no option of a table, its name alone, as it was typed.
fn named(factor: &Factor, place: usize) -> String {
    match levels::level(factor, place) {
        // Nobody typed the `on` of an option that no table has.
        Some(level) if factor.class == OptionClass::Unknown && level.label == "on" => factor.name.clone(),
        Some(level) => format!("{} {}", factor.name, level.label),
        None => factor.name.clone(),
    }
}

fn nothing(base: &LaneSpec, left_out: &[LeftOutOption]) -> Failure {
    let list: Vec<String> = left_out.iter().map(|of| format!("{} ({})", of.option, of.why)).collect();
    Failure::usage(format!(
        "no option of {} is left to screen: {}; name others with --option 'NAME=USUAL|OTHER'",
        base.name,
        list.join("; ")
    ))
}

fn named_and_refused(refused: &[LeftOutOption]) -> Failure {
    let list: Vec<String> = refused.iter().map(|of| format!("{} ({})", of.option, of.why)).collect();
    Failure::usage(format!(
        "what --option names is refused: {}; correct it, or leave it out, and the others are screened",
        list.join("; ")
    ))
}

/// That options which somebody named are not screened, and why, as a sentence without a full stop; `None`: all are, or nobody
/// named any.
pub fn named_and_left_out(settled: &Settled, are_named: bool) -> Option<String> {
    let Settled { factors, left_out, .. } = settled;
    if !are_named || left_out.is_empty() {
        return None;
    }
    let all = factors.len() + left_out.len();
    let list: Vec<String> = left_out.iter().map(|of| format!("{} ({})", of.option, of.why)).collect();
    let kept = match factors.as_slice() {
        [only] => format!("{} alone is screened", only.name),
        some => format!("the other {} are screened", some.len()),
    };
    let count = left_out.len();
    let are = if count == 1 { "is" } else { "are" };
    Some(format!("{count} of the {all} options that you named {are} left out: {}; {kept}", list.join("; ")))
}

/// That an option which is not tried is in no table, and nearly has a name of it, as a sentence without a full stop.
fn perhaps_meant(base: &LaneSpec, factor: &Factor) -> Option<String> {
    let near = meant(base, factor).filter(|_| factor.class == OptionClass::Unknown)?;
    Some(format!("option {} is in no table: if {near} is meant, write that", factor.name))
}

/// What a program said on several lines, without a full stop, and no longer than anybody reads.
fn one_line(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let line: String = line.chars().take(MOST_SAID).collect();
    line.trim_end_matches(['.', ' ']).to_owned()
}

#[cfg(test)]
mod tests;
