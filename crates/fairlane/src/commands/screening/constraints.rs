//! Which options are screened: those that mkfs and the kernel take alone, and together as the design has them.

use super::levels;
use crate::commands::{lane_failure, planning};
use crate::failure::Failure;
use crate::{signals, terminal};
use lanes::{FailureKind, Journal, screened_options, undo};
use model::Bytes;
use model::lane::LaneSpec;
use model::plan::Ground;
use model::screening::{DesignKind, Factor, LeftOutOption};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// What lanes are called that are only tried.
const TRIED: &str = "tried";
/// Why options of a lane in a guest are not tried.
const IN_A_GUEST: &str = "options were not tried beforehand, because a guest's kernel mounts them: one that it refuses ends the \
    race before its first round, and --without NAME leaves it out";

/// Some factors, each with a place in its levels.
type Chosen = Vec<(usize, usize)>;

/// Tries a lane: `None`: it can be made and mounted; otherwise why not.
type Try<'a> = &'a mut dyn FnMut(&LaneSpec) -> Result<Option<String>, Failure>;

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

/// Where lanes are tried.
#[derive(Debug, Clone, Copy)]
pub struct Place<'a> {
    /// Where their own images will lie.
    pub on: &'a Ground,
    /// As large as they will be: sizes of logs and groups are refused by that of the disk.
    pub size: Bytes,
}

/// Tries options where the lanes' own images will lie; answers what is left to screen, and what is to be said of it.
/// `says`: that options are tried is said on standard error.
///
/// # Errors
/// Where the lane itself is refused, nothing is left to screen, or lanes cannot be tried here.
pub fn settle_here(
    base: &LaneSpec,
    factors: Vec<Factor>,
    (place, says): (Place, bool),
) -> Result<(Settled, Option<String>), Failure> {
    let is_tried = can_be_tried(base);
    if says && is_tried {
        terminal::say!("trying {} options on a small image", factors.len());
    }
    let excludes = |one: &str, other: &str| excludes(base, one, other);
    let settled = trying(base, place, |try_one| settle(base, factors, &excludes, try_one))?;
    Ok((settled, (!is_tried && planning::in_guest(base)).then(|| IN_A_GUEST.to_owned())))
}

/// Those of some lanes that can be made and mounted, tried where their images will lie.
///
/// # Errors
/// Where lanes cannot be tried here.
pub fn working<T>(base: &LaneSpec, lanes: Vec<(T, LaneSpec)>, place: Place) -> Result<Vec<(T, LaneSpec)>, Failure> {
    trying(base, place, |try_one| {
        let mut kept = Vec::new();
        for (what, lane) in lanes {
            if try_one(&lane)?.is_none() {
                kept.push((what, lane));
            }
        }
        Ok(kept)
    })
}

/// A guest's kernel is not asked, and without root the check of the lanes says what is missing.
fn can_be_tried(base: &LaneSpec) -> bool {
    !planning::in_guest(base) && lanes::host::is_root()
}

/// Gives `work` what tries a lane on a small image, journalled and undone; where lanes cannot be tried, all of them work.
fn trying<T>(base: &LaneSpec, place: Place, work: impl FnOnce(Try<'_>) -> Result<T, Failure>) -> Result<T, Failure> {
    if !can_be_tried(base) {
        return work(&mut |_| Ok(None));
    }
    let stop = Arc::new(AtomicBool::new(false));
    signals::stop(&stop)?;
    let folder = folder(base, place.on)?;
    let undo = undo::directory().map_err(lane_failure)?;
    let mut journal = Journal::begin(&undo, &planning::run_id()).map_err(lane_failure)?;
    let mut may_be_left = false;
    let done = work(&mut |lane| {
        let tried = screened_options::try_lane_of_size(lane, place.size, &folder, &mut journal, &stop);
        may_be_left |= tried.as_ref().is_err_and(|failure| failure.kind() == FailureKind::Failed);
        tried.map_err(lane_failure)
    });
    // What could not be undone stands in the journal, and the next command takes it away.
    if !may_be_left {
        journal.finish().map_err(lane_failure)?;
    }
    done
}

/// Where a small image is made: beside the others, and for lanes on devices in the working directory.
fn folder(base: &LaneSpec, on: &Ground) -> Result<PathBuf, Failure> {
    let device = matches!(base.venue, Some(model::lane::Venue::Device(_)));
    match on {
        Ground::Images(folder) if !device => Ok(folder.clone()),
        _ => std::env::current_dir().map_err(|error| {
            Failure::usage(format!(
                "options are tried on an image in the working directory, which cannot be used: {error}; go to another"
            ))
        }),
    }
}

/// Whether two options of the table of the lane's filesystem are never set together.
fn excludes(base: &LaneSpec, one: &str, other: &str) -> bool {
    let model::lane::Contestant::Filesystem(filesystem) = &base.contestant else { return false };
    let names = |of: &str, name: &str| {
        let option = screened_options::options_of(filesystem).iter().find(|option| option.name == of);
        option.is_some_and(|option| option.excludes.contains(&name))
    };
    names(one, other) || names(other, one)
}

/// Leaves out what is refused alone, what excludes another, and of a run that is refused the later one of the pair that makes
/// it so, until all runs of the design can be made.
fn settle(
    base: &LaneSpec,
    factors: Vec<Factor>,
    excludes: &dyn Fn(&str, &str) -> bool,
    try_one: Try<'_>,
) -> Result<Settled, Failure> {
    let mut settling = Settling { base, factors, left_out: Vec::new(), try_one, tried: BTreeMap::new() };
    if let Some(why) = settling.refused(&[])? {
        return Err(Failure::usage(format!(
            "lane {} cannot be made and mounted here: {why}; `fairlane doctor` says what this machine can race",
            base.name
        )));
    }
    settling.leave_out_refused()?;
    settling.leave_out_excluded(excludes);
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
    tried: BTreeMap<String, Option<String>>,
}

impl Settling<'_> {
    /// Why some levels, each a factor and a place in its levels, make no lane; `None`: they do.
    fn refused(&mut self, chosen: &[(usize, usize)]) -> Result<Option<String>, Failure> {
        let level = |&(factor, place): &(usize, usize)| levels::level(self.factors.get(factor)?, place);
        let levels: Vec<_> = chosen.iter().filter_map(level).collect();
        let lane = match screened_options::lane_with(self.base, TRIED, &levels) {
            Ok(lane) => lane,
            Err(failure) => return Ok(Some(one_line(&failure.to_string()))),
        };
        let line = lane.to_line();
        if let Some(known) = self.tried.get(&line) {
            return Ok(known.clone());
        }
        let why = (self.try_one)(&lane)?.map(|why| one_line(&why));
        self.tried.insert(line, why.clone());
        Ok(why)
    }

    fn leave_out(&mut self, factor: usize, place: usize, why: String) {
        let factor = self.factors.remove(factor);
        let option = named(&factor, place);
        self.left_out.push(LeftOutOption { option, why });
    }

    fn leave_out_refused(&mut self) -> Result<(), Failure> {
        let mut at = 0;
        while at < self.factors.len() {
            let mut refused = None;
            for place in [1, 0] {
                if refused.is_none() {
                    refused = self.refused(&[(at, place)])?.map(|why| (place, why));
                }
            }
            match refused {
                Some((place, why)) => self.leave_out(at, place, why),
                None => at += 1,
            }
        }
        Ok(())
    }

    fn leave_out_excluded(&mut self, excludes: &dyn Fn(&str, &str) -> bool) {
        let mut at = 0;
        while at < self.factors.len() {
            let (before, rest) = self.factors.split_at(at);
            let earlier = before.iter().find(|earlier| excludes(&earlier.name, &rest[0].name));
            match earlier.map(|earlier| earlier.name.clone()) {
                Some(earlier) => self.leave_out(at, 1, format!("it does not go with {earlier}, which is screened")),
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
            let Some((chosen, why)) = self.first_refused(&runs)? else { return Ok((design, runs)) };
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

    /// Which level of a run that is refused does not go with an earlier one, and why. `whole`: why the run is refused.
    fn culprit(&mut self, chosen: &[(usize, usize)], whole: &str) -> Result<(usize, usize, String), Failure> {
        for (at, &later) in chosen.iter().enumerate() {
            for &earlier in &chosen[..at] {
                if let Some(why) = self.refused(&[earlier, later])? {
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

/// `bigalloc on`.
fn named(factor: &Factor, place: usize) -> String {
    match levels::level(factor, place) {
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

/// What a program said on several lines, without a full stop.
fn one_line(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    line.trim_end_matches(['.', ' ']).to_owned()
}

#[cfg(test)]
mod tests {
    use super::super::levels::tests::factor;
    use super::*;

    fn base() -> LaneSpec {
        "ext4".parse().unwrap()
    }

    /// Settles four options where lanes are refused that hold all options of one of these lists.
    fn settled(refused: &[&[&str]], excluded: &[[&str; 2]]) -> (Result<Settled, Failure>, Vec<String>) {
        let factors = ["a", "b", "c", "d"].map(|name| factor(name, &["0", "1"])).to_vec();
        let mut tried = Vec::new();
        let mut try_one = |lane: &LaneSpec| {
            tried.push(lane.to_line());
            let has = |option: &&str| lane.mount_options.iter().any(|of| of == option);
            let no = refused.iter().find(|list| list.iter().all(|option| has(option)));
            Ok(no.map(|list| format!("the kernel\nrefuses {}.", list.join(" with "))))
        };
        let excludes = |one: &str, other: &str| excluded.contains(&[one, other]) || excluded.contains(&[other, one]);
        let settled = settle(&base(), factors, &excludes, &mut try_one);
        (settled, tried)
    }

    fn names(settled: &Settled) -> Vec<&str> {
        settled.factors.iter().map(|factor| factor.name.as_str()).collect()
    }

    fn left_out(settled: &Settled) -> Vec<(&str, &str)> {
        settled.left_out.iter().map(|of| (of.option.as_str(), of.why.as_str())).collect()
    }

    #[test]
    fn all_that_can_be_made_is_screened_and_no_lane_is_tried_twice() {
        let (settled, mut tried) = settled(&[], &[]);
        let settled = settled.unwrap();
        assert_eq!((names(&settled).len(), settled.runs.len()), (4, 16));
        assert_eq!(settled.design, DesignKind::FullFactorial);
        assert!(settled.left_out.is_empty() && settled.runs[0].iter().all(|other| !other));
        let count = tried.len();
        tried.sort();
        tried.dedup();
        assert_eq!(tried.len(), count, "{tried:?}");
    }

    #[test]
    fn what_is_refused_alone_is_left_out_with_the_words_of_who_refuses_it() {
        let (settled, _) = settled(&[&["b=1"], &["c=0"]], &[]);
        let settled = settled.unwrap();
        assert_eq!(names(&settled), ["a", "d"]);
        assert_eq!(left_out(&settled), [("b 1", "the kernel refuses b=1"), ("c 0", "the kernel refuses c=0")]);
        assert_eq!(settled.runs.len(), 4);
    }

    #[test]
    fn of_options_that_do_not_go_together_the_later_one_is_left_out() {
        let (of_pair, _) = settled(&[&["a=1", "c=1"]], &[["b", "d"]]);
        let of_pair = of_pair.unwrap();
        assert_eq!(names(&of_pair), ["a", "b"]);
        let why = [
            ("d 1", "it does not go with b, which is screened"),
            ("c 1", "it does not go with a 1: the kernel refuses a=1 with c=1"),
        ];
        assert_eq!(left_out(&of_pair), why);
        let (of_three, _) = settled(&[&["a=1", "b=1", "d=1"]], &[]);
        let of_three = of_three.unwrap();
        assert_eq!(names(&of_three), ["a", "b", "c"]);
        assert!(of_three.left_out[0].why.starts_with("it does not go with the others: "), "{of_three:?}");
    }

    #[test]
    fn a_lane_that_cannot_be_made_and_one_without_options_are_refused() {
        let (refused, tried) = settled(&[&[]], &[]);
        let message = refused.unwrap_err().message;
        assert!(message.contains("lane ext4 cannot be made and mounted here: the kernel refuses"), "{message}");
        assert_eq!(tried.len(), 1);
        let (nothing, _) = settled(&[&["a=1"], &["b=1"], &["c=1"], &["d=1"]], &[]);
        let message = nothing.unwrap_err().message;
        assert!(message.contains("no option of ext4 is left") && message.contains("d 1 (the kernel"), "{message}");
    }
}
