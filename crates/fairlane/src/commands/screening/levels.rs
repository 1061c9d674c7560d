//! Combinations of levels of options: as a lane, and in words.

use lanes::{LaneFailure, screened_options};
use model::lane::{Contestant, Lane, LaneSpec};
use model::record::Header;
use model::screening::{Factor, OptionLevel, Screening, ScreeningRun};
use std::collections::BTreeSet;

/// For each factor which of its levels: 0 is the usual one, 1 the other one, and those behind are left to tuning.
pub type Combination = Vec<usize>;

/// A level of a factor by its place; `None`: it has none there.
pub fn level(factor: &Factor, place: usize) -> Option<&OptionLevel> {
    match place {
        0 => Some(&factor.usual),
        1 => Some(&factor.other),
        further => factor.further.get(further - 2),
    }
}

/// How many levels a factor has.
pub fn count(factor: &Factor) -> usize {
    2 + factor.further.len()
}

/// The levels of a run of a design.
pub fn combination_of_run(at_other: &[bool]) -> Combination {
    at_other.iter().map(|&is_other| usize::from(is_other)).collect()
}

/// The lane of a combination.
///
/// # Errors
/// Where the levels cannot stand beside each other or beside what the base says itself.
pub fn lane(base: &LaneSpec, name: &str, factors: &[Factor], combination: &[usize]) -> Result<LaneSpec, LaneFailure> {
    let chosen = factors.iter().zip(combination).filter_map(|(factor, &place)| level(factor, place));
    screened_options::lane_with(base, name, &chosen.collect::<Vec<_>>())
}

/// The lanes of the runs of a screening.
///
/// # Errors
/// As of [`lane`].
pub fn of_runs(base: &LaneSpec, screening: &Screening) -> Result<Vec<LaneSpec>, LaneFailure> {
    let made = |run: &ScreeningRun| lane(base, &run.lane, &screening.factors, &combination_of_run(&run.at_other));
    screening.runs.iter().map(made).collect()
}

/// Whether two lanes are one. A file of the user's own may have moved: its bytes are compared elsewhere.
pub fn are_one(one: &LaneSpec, other: &LaneSpec) -> bool {
    match (&one.contestant, &other.contestant) {
        (Contestant::Custom(_), Contestant::Custom(_)) => {
            LaneSpec { contestant: other.contestant.clone(), ..one.clone() } == *other
        }
        _ => one == other,
    }
}

/// Whether some lanes are others, one by one.
pub fn are_all_one(some: &[LaneSpec], others: &[LaneSpec]) -> bool {
    some.len() == others.len() && some.iter().zip(others).all(|(one, other)| are_one(one, other))
}

/// Whether the lanes that a record tells of are those of its plan, one by one, and were mounted with nothing that sets one of
/// them apart beside that.
pub fn are_described(header: &Header) -> bool {
    let told: Vec<&Lane> = header.lanes.iter().filter(|lane| !lane.is_self).collect();
    let both = || told.iter().copied().zip(&header.plan.lanes);
    let mut further = both().map(|(told, planned)| unplanned(told, planned));
    let first = further.next();
    told.len() == header.plan.lanes.len()
        && both().all(|(told, planned)| is_described(told, planned))
        && further.all(|options| first.as_ref() == Some(&options))
}

/// Whether what a record tells of a lane is what was planned, wherever it lives.
fn is_described(told: &Lane, planned: &LaneSpec) -> bool {
    let as_planned = |spec: LaneSpec| LaneSpec { name: planned.name.clone(), venue: planned.venue.clone(), ..spec };
    let is_it = |spec: LaneSpec| are_one(&as_planned(spec), planned);
    told.name == planned.name && (told.spec == planned.to_line() || told.spec.parse::<LaneSpec>().is_ok_and(is_it))
}

/// Options that a lane was mounted with and nobody planned; what Fairlane adds itself depends on what else is said of it.
fn unplanned<'a>(told: &'a Lane, planned: &LaneSpec) -> BTreeSet<&'a str> {
    let is_further = |option: &&String| !planned.mount_options.contains(option) && *option != "nodiscard";
    told.mount_options.iter().filter(is_further).map(String::as_str).collect()
}

/// What of a combination is not as usual: `logbsize 256k, sunit 64`.
pub fn in_words(factors: &[Factor], combination: &[usize]) -> String {
    let changed = factors.iter().zip(combination).filter(|(_, place)| **place > 0);
    let said = changed.filter_map(|(factor, &place)| Some(format!("{} {}", factor.name, level(factor, place)?.label)));
    let said: Vec<String> = said.collect();
    if said.is_empty() { "all as usual".to_owned() } else { said.join(", ") }
}

#[cfg(test)]
pub mod tests {
    use super::*;
    use model::screening::OptionClass;

    /// An option of mount with these levels, the usual one first.
    pub fn factor(name: &str, labels: &[&str]) -> Factor {
        let level = |label: &&str| OptionLevel {
            label: (*label).to_owned(),
            mount: vec![format!("{name}={label}")],
            ..OptionLevel::default()
        };
        let mut levels = labels.iter().map(level);
        Factor {
            name: name.to_owned(),
            usual: levels.next().unwrap(),
            other: levels.next().unwrap(),
            further: levels.collect(),
            class: OptionClass::Ordinary,
            costs: String::new(),
            table_usual: String::new(),
        }
    }

    /// Has a record tell of the lanes that it planned.
    pub fn describe(header: &mut Header) {
        for (told, planned) in header.lanes.iter_mut().zip(&header.plan.lanes) {
            (told.name, told.spec) = (planned.name.clone(), planned.to_line());
        }
    }

    #[test]
    fn a_combination_names_what_is_not_as_usual() {
        let factors = [factor("commit", &["5", "30", "60"]), factor("stripe", &["0", "64"])];
        assert_eq!([count(&factors[0]), count(&factors[1])], [3, 2]);
        assert_eq!(in_words(&factors, &combination_of_run(&[false, true])), "stripe 64");
        assert_eq!(in_words(&factors, &[2, 1]), "commit 60, stripe 64");
        assert_eq!(in_words(&factors, &[0, 0]), "all as usual");
        assert_eq!(level(&factors[1], 2), None);
    }

    #[test]
    fn a_lane_of_a_file_that_moved_is_the_same_and_one_that_is_told_something_else_is_not() {
        let one = |one: &str, other: &str| are_one(&one.parse().unwrap(), &other.parse().unwrap());
        assert!(one("a=./my.toml,fast", "a=/elsewhere/other.toml,fast") && one("xfs", "xfs"));
        for (lane, other) in [
            ("a=./my.toml,fast", "a=./my.toml"),
            ("a=./my.toml", "b=./my.toml"),
            ("a=./my.toml", "a=xfs"),
            ("a=/my", "a=/other"),
            ("a=./my.toml", "a=/my"),
        ] {
            assert!(!one(lane, other), "{lane} {other}");
        }
        let lanes: Vec<LaneSpec> = ["xfs", "ext4"].map(|lane| lane.parse().unwrap()).to_vec();
        assert!(are_all_one(&lanes, &lanes) && !are_all_one(&lanes, &lanes[..1]));
    }
}
