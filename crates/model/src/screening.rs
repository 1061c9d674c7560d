//! A screening: the options of one filesystem as the factors of a designed experiment, whose runs are the lanes of a race.

use crate::bounds::MOST_LANES;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Most factors of a screening: columns of the largest design (Plackett and Burman 1946, 24 runs).
pub const MOST_FACTORS: usize = 23;
/// Levels of a factor at most, the usual one among them.
pub const MOST_LEVELS: usize = 8;
/// Words of a level for mkfs, for mount, for a queue or for the kernel, at most. Chosen.
const MOST_WORDS: usize = 64;
/// Bytes of a name, a label or a word at most: no option that is typed is longer.
const WORD_BYTES: usize = 256;
/// Bytes of what is said of an option, and of the lane as it was typed, at most.
const SENTENCE_BYTES: usize = 2048;
/// An effect whose interval lies within this share does not matter.
pub const EFFECT_MARGIN: f64 = 0.03;

/// What a screening races, kept in the plan of its race. The race's lanes are its runs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Screening {
    /// The lane that is screened, as it was typed: `xfs`.
    pub base: String,
    /// What the lanes are runs of.
    pub design: DesignKind,
    /// What differs between lanes, in the order of the design's columns; 1 to [`MOST_FACTORS`].
    pub factors: Vec<Factor>,
    /// One per lane of the plan, in its order. The first is the default: no factor is at its other level.
    pub runs: Vec<ScreeningRun>,
    /// Options that were to be screened and are not.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left_out: Vec<LeftOutOption>,
}

impl Screening {
    /// Whether it is within the bounds of what Fairlane screens: a record may come from anybody.
    ///
    /// # Errors
    /// What there is too much of, a fact without a remedy.
    pub fn check(&self) -> Result<(), String> {
        let Screening { base, design: _, factors, runs, left_out } = self;
        at_most("options", factors.len(), MOST_FACTORS)?;
        at_most("runs", runs.len(), MOST_LANES)?;
        at_most("options that are left out", left_out.len(), MOST_LANES)?;
        is_short("the lane", base, SENTENCE_BYTES)?;
        for run in runs {
            at_most("options in a run", run.at_other.len(), MOST_FACTORS)?;
            is_short("the name of a run", &run.lane, WORD_BYTES)?;
        }
        for of in left_out {
            is_short("an option that is left out", &of.option, SENTENCE_BYTES)?;
            is_short("why an option is left out", &of.why, SENTENCE_BYTES)?;
        }
        factors.iter().try_for_each(Factor::check)
    }
}

fn at_most(what: &str, count: usize, most: usize) -> Result<(), String> {
    match count > most {
        true => Err(format!("a screening has {count} {what}, and {most} are the most")),
        false => Ok(()),
    }
}

fn is_short(what: &str, text: &str, most: usize) -> Result<(), String> {
    match text.len() > most {
        true => Err(format!("{what} of a screening takes {} bytes, and {most} are the most", text.len())),
        false => Ok(()),
    }
}

/// A lane of a screening.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ScreeningRun {
    /// Name of the lane.
    pub lane: String,
    /// For each factor whether it is at its other level.
    pub at_other: Vec<bool>,
}

/// A design.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum DesignKind {
    /// Every combination of the levels, of one and two options in several lanes each.
    FullFactorial,
    /// Plackett and Burman's, and each of its runs again with all levels turned (fold-over): effects are clear of interactions
    /// of two factors.
    FoldedPlackettBurman,
}

/// An option with two levels.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Factor {
    /// What it is called: `logbsize`; unique in a screening.
    pub name: String,
    /// The level of the default lane.
    pub usual: OptionLevel,
    /// The other level.
    pub other: OptionLevel,
    /// Levels that the screening leaves to tuning.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub further: Vec<OptionLevel>,
    /// What the other level changes beside speed.
    #[serde(default)]
    pub class: OptionClass,
    /// What the other level costs, in a few words; empty: nothing that is known.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub costs: String,
    /// What Fairlane's table calls the usual level, where `usual` is another one; empty: it is that one, or no table tells it.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub table_usual: String,
}

impl Factor {
    fn check(&self) -> Result<(), String> {
        let Factor { name, usual, other, further, class: _, costs, table_usual } = self;
        at_most("levels of one option", further.len().saturating_add(2), MOST_LEVELS)?;
        is_short("the name of an option", name, WORD_BYTES)?;
        is_short("what an option costs", costs, SENTENCE_BYTES)?;
        is_short("the usual level of an option", table_usual, WORD_BYTES)?;
        [usual, other].into_iter().chain(further).try_for_each(OptionLevel::check)
    }
}

/// A level of an option.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OptionLevel {
    /// As it is shown: `256k`, `on`.
    pub label: String,
    /// Words for mkfs: a flag and its value in turns, or flags alone; empty: none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub mkfs: Vec<String>,
    /// Options for mount; empty: none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub mount: Vec<String>,
    /// Settings of the block device's queue, as layer `queue` takes them: `scheduler=none`; empty: none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub queue: Vec<String>,
    /// Settings of the kernel while the lane works, as layer `vm` takes them: `dirty_ratio=5`; empty: none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub vm: Vec<String>,
}

impl OptionLevel {
    fn check(&self) -> Result<(), String> {
        let OptionLevel { label, mkfs, mount, queue, vm } = self;
        is_short("the label of a level", label, WORD_BYTES)?;
        for words in [mkfs, mount, queue, vm] {
            at_most("words of one level", words.len(), MOST_WORDS)?;
            words.iter().try_for_each(|word| is_short("a word of a level", word, WORD_BYTES))?;
        }
        Ok(())
    }
}

/// What an option changes beside speed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum OptionClass {
    /// Nothing that a program relies on.
    #[default]
    Ordinary,
    /// What is promised after a power cut, or of what is read back: it is never proposed.
    Promises,
    /// Nobody knows, because it is in no table: it is never proposed.
    Unknown,
}

/// An option that is not screened, and why.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LeftOutOption {
    /// The option with its level: `bigalloc on`.
    pub option: String,
    /// Why, as a sentence without a full stop: `mkfs.ext4 refuses it: …`.
    pub why: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    type Change<'a> = &'a dyn Fn(&mut Screening);

    fn level(label: &str) -> OptionLevel {
        OptionLevel { label: label.to_owned(), mount: vec![format!("commit={label}")], ..OptionLevel::default() }
    }

    /// A screening as large as there is one.
    fn largest() -> Screening {
        let factor = |at: usize| Factor {
            name: format!("{at:0256}"),
            usual: level("0"),
            other: level("1"),
            further: (2..8).map(|label| level(&label.to_string())).collect(),
            class: OptionClass::Ordinary,
            costs: "c".repeat(2048),
            table_usual: "u".repeat(256),
        };
        let run = |at: usize| ScreeningRun { lane: format!("r{at}"), at_other: vec![true; 23] };
        Screening {
            base: "xfs".to_owned(),
            design: DesignKind::FoldedPlackettBurman,
            factors: (0..23).map(factor).collect(),
            runs: (0..64).map(run).collect(),
            left_out: vec![LeftOutOption { option: "a".to_owned(), why: "w".repeat(2048) }],
        }
    }

    #[test]
    fn what_no_screening_has_is_called_too_much() {
        assert_eq!(largest().check(), Ok(()));
        let changes: [(&str, Change); 11] = [
            ("24 options, and 23", &|of: &mut Screening| of.factors.push(of.factors[0].clone())),
            ("65 runs, and 64", &|of: &mut Screening| of.runs.push(of.runs[0].clone())),
            ("24 options in a run", &|of: &mut Screening| of.runs[9].at_other.push(true)),
            ("9 levels of one option", &|of: &mut Screening| of.factors[22].further.push(level("8"))),
            ("name of an option of a screening takes 257", &|of: &mut Screening| of.factors[1].name.push('x')),
            ("label of a level", &|of: &mut Screening| of.factors[1].other.label = "x".repeat(257)),
            ("a word of a level", &|of: &mut Screening| of.factors[1].further[5].mkfs = vec!["x".repeat(257)]),
            ("words of one level", &|of: &mut Screening| of.factors[1].other.vm = vec!["x".to_owned(); 65]),
            ("the usual level of an option", &|of: &mut Screening| of.factors[1].table_usual.push('x')),
            ("what an option costs", &|of: &mut Screening| of.factors[1].costs.push('x')),
            ("why an option is left out", &|of: &mut Screening| of.left_out[0].why.push('x')),
        ];
        for (says, change) in changes {
            let mut hostile = largest();
            change(&mut hostile);
            let said = hostile.check().unwrap_err();
            assert!(said.contains(says), "{says}: {said}");
        }
    }
}
