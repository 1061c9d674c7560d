//! What a screening found: which options matter, and what to take.

use crate::findings::{Tuning, Undecided, Verdict};
use crate::screening::{DesignKind, Factor, LeftOutOption};
use crate::sentence::Sentence;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Columns without an option that it takes at least to bound how far lanes differ by themselves.
pub const FEWEST_SPARE: usize = 3;

/// What a screening found (method 9).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ScreeningFinding {
    /// The lane that was screened, as it was typed; empty: nobody could have typed it so, and nothing is told.
    pub base: String,
    /// The design.
    pub design: DesignKind,
    /// Lanes of the design.
    pub lanes: u32,
    /// Lanes that a full factorial of the same options takes.
    pub full_factorial_lanes: u64,
    /// What was varied, in the order of the effects.
    pub factors: Vec<Factor>,
    /// What was not, and why.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left_out: Vec<LeftOutOption>,
    /// The design has fewer columns without an option than [`FEWEST_SPARE`]: lanes that differ by themselves would not be
    /// noticed.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub few_spare: bool,
    /// Effects within this share do not matter.
    pub margin: f64,
    /// One per workload and group.
    pub results: Vec<ScreenedResult>,
    /// What to take.
    pub proposal: Proposal,
    /// The race is not over: what is open may still be told.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub unfinished: bool,
    /// An option of the disk's queue was varied on images: the queue is that of each image's loop device.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub loop_queue: bool,
    /// On what it was raced, as a sentence: fresh filesystems of a size, a device.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub raced: Option<Sentence>,
    /// What its suite does not test, as it says that.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub not_tested: Vec<Sentence>,
    /// Other programs disturbed more than half of its trials.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub disturbed: bool,
    /// What columns without an option show, lanes that differ by themselves or options together, alone would keep open all that
    /// cannot be told (method 9.5): more rounds may not help.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub hidden_by_lanes: bool,
    /// The words of the command of a screening anew, where more rounds may tell what is open; empty: they may not, or nobody
    /// knows.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub anew: Vec<String>,
    /// The race of the proposal against the default; absent: it was not raced.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub confirmation: Option<Confirmation>,
    /// Why the record that lies beside as that race is none, as a sentence without a full stop; absent: none was left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub confirmation_left_out: Option<String>,
}

impl ScreeningFinding {
    /// Whether the effect of any option is told.
    pub fn tells(&self) -> bool {
        self.results.iter().any(|result| !result.effects.is_empty())
    }

    /// Why no effect is told, where that is one and the same reason for all figures.
    pub fn why_untold(&self) -> Option<&str> {
        let first = self.results.first()?.unknown.as_deref()?;
        let is_alike = |result: &ScreenedResult| result.effects.is_empty() && result.unknown.as_deref() == Some(first);
        self.results.iter().all(is_alike).then_some(first)
    }

    /// What tuning made of the proposal, and was raced against the default or is to be; empty: the proposal itself is.
    pub fn tuned(&self) -> &[TunedLevel] {
        match (&self.confirmation, &self.proposal.tuning) {
            (Some(confirmation), _) => &confirmation.tuned,
            (None, Some(tuning)) => &tuning.chosen,
            (None, None) => &[],
        }
    }

    /// Those of [`ScreeningFinding::tuned`] that tuning alone chose: the screening does not say that the option matters.
    pub fn tuned_alone(&self) -> impl Iterator<Item = &TunedLevel> {
        let effects = move || self.results.iter().flat_map(|result| &result.effects);
        let matters = move |name: &str| effects().any(|of| of.factor == name && of.verdict == EffectVerdict::Matters);
        self.tuned().iter().filter(move |of| !matters(&of.factor))
    }

    /// Tuning was begun and is not done, and nothing was raced against the default behind it.
    pub fn is_being_tuned(&self) -> bool {
        self.confirmation.is_none() && self.proposal.tuning.as_ref().is_some_and(|tuning| tuning.unfinished)
    }

    /// Something comes behind its race that is not over: tuning, or the race of what is proposed, which may not have begun.
    pub fn goes_on(&self) -> bool {
        let is_raced = self.confirmation.is_some() || self.confirmation_left_out.is_some();
        let is_proposed = !self.proposal.factors.is_empty() || !self.tuned().is_empty();
        self.is_being_tuned()
            || self.confirmation.as_ref().is_some_and(|of| of.unfinished)
            || (is_proposed && !is_raced && !self.unfinished)
    }

    /// Names of the options of which nothing is known: they matter in no figure, and in some that cannot be told.
    pub fn open_options(&self) -> Vec<String> {
        let has = |factor: &Factor, verdict: EffectVerdict| {
            let mut effects = self.results.iter().flat_map(|result| &result.effects);
            effects.any(|effect| effect.factor == factor.name && effect.verdict == verdict)
        };
        let is_open = |factor: &&Factor| has(factor, EffectVerdict::Open) && !has(factor, EffectVerdict::Matters);
        self.factors.iter().filter(is_open).map(|factor| factor.name.clone()).collect()
    }
}

/// The effects on one figure.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ScreenedResult {
    /// Name of the workload.
    pub workload: String,
    /// As a person reads it, with its group where it has several.
    pub title: String,
    /// Name of the group.
    pub group: String,
    /// The figure: `operations_per_second`.
    pub metric: String,
    /// Whether more of it is better.
    pub higher_is_better: bool,
    /// Rounds in which every lane has a figure; effects need two at least.
    pub rounds: u32,
    /// Why nothing is told; absent: effects are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unknown: Option<Sentence>,
    /// One per factor, in its order; empty where nothing is told.
    pub effects: Vec<Effect>,
    /// Pairs of options that change each other's effect.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub interactions: Vec<Interaction>,
    /// Standard deviation of a lane's figure from round to round beside the other lanes, of its logarithm.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deviation: Option<f64>,
    /// Effects of columns that no option stands in, beside the interactions (ratios): what differs there is chance, lanes that
    /// differ by themselves, or options together.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub spare: Vec<f64>,
    /// Lanes differ by more than their rounds scatter and the options tell: intervals are wider by that.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub lanes_differ: bool,
}

/// The effect of one option on one figure.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Effect {
    /// The factor.
    pub factor: String,
    /// Other level by usual level, of rates; turned for times, so that above 1 the other level is better.
    pub ratio: f64,
    /// 95 % interval of this row alone.
    pub low: f64,
    /// See `low`.
    pub high: f64,
    /// Two-sided p of a ratio of 1, of this row alone.
    pub p: f64,
    /// What it means.
    pub verdict: EffectVerdict,
}

/// What an effect means.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum EffectVerdict {
    /// It is there: with 95 % none of the screening that says so is false, as far as what else lanes differ by is chance.
    Matters,
    /// Its interval lies within the margin.
    DoesNot,
    /// Neither.
    Open,
}

/// Two options that change each other's effect.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Interaction {
    /// Names of the two.
    pub factors: [String; 2],
    /// What the effect of the first one is multiplied by where the second is at its other level.
    pub ratio: f64,
    /// 95 % interval of this row alone.
    pub low: f64,
    /// See `low`.
    pub high: f64,
    /// Other pairs that the design cannot tell from this one: their lanes are the same.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub aliases: Vec<[String; 2]>,
    /// How many further pairs share a part of it: beside them it is told less exactly, or may be theirs in part.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub partial: u32,
}

/// What to take.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Proposal {
    /// Factors that are taken at their other level; empty: keep the default.
    pub factors: Vec<String>,
    /// Factors that are better in some work and worse in other, or expected to be worse beside what is taken: nothing is
    /// proposed of them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub mixed: Vec<String>,
    /// Factors that would gain, and are not taken because they change what is promised, or are in no table.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub promises: Vec<String>,
    /// The product of its effects on each figure in which one of them matters: what the confirmation has to show.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub expected: Vec<ExpectedGain>,
    /// How it was tuned; absent: it was not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tuning: Option<Tuning>,
    /// The time was up before all planned rounds; absent: it was not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cut_short: Option<CutShort>,
}

/// A race of a screening that its time (`--budget`) ended before all planned rounds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CutShort {
    /// Rounds of the workload that has fewest.
    pub fewest: u32,
    /// Rounds of the workload that has most.
    pub most: u32,
    /// Rounds that were planned for each.
    pub planned: u32,
}

/// What a proposal is expected to gain of one figure.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ExpectedGain {
    /// Name of the workload.
    pub workload: String,
    /// Name of the group.
    pub group: String,
    /// As in [`ScreenedResult`]; two workloads may have one.
    pub title: String,
    /// Proposal by default; above 1 it is better.
    pub ratio: f64,
}

/// The race of the proposal against the default, with another seed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Confirmation {
    /// The lane of the proposal.
    pub lane: String,
    /// The default.
    pub default_lane: String,
    /// The seed of that race.
    pub seed: u64,
    /// Levels that tuning chose and that were raced instead of the proposal's, of options that are not as usual; empty: the
    /// proposal was raced as it is.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tuned: Vec<TunedLevel>,
    /// One per result.
    pub rows: Vec<ConfirmedRow>,
    /// Rows whose gain confirms: those that were expected to gain, or all where nothing was expected.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub counted: u32,
    /// Those of them that gain, sure over the whole race.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub gained: u32,
    /// What to do after it.
    pub outcome: ConfirmationOutcome,
    /// Why it is over and cannot tell: the one reason, that of most of its rows; absent: it tells, is not over, or no row is
    /// undecided.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub because: Option<Undecided>,
    /// The commands that set by hand what was raced, a line each; empty where it was not confirmed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub commands: Vec<String>,
    /// The race is not over.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub unfinished: bool,
    /// Other programs disturbed more than half of its trials.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub disturbed: bool,
    /// What has to be heeded of that race, and is not of the screening; empty: nothing.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<Sentence>,
    /// The command that races the two again, for longer, in words; empty: it is not over, or what it came to is told.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub more: Vec<String>,
}

/// An option at a level that tuning chose.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TunedLevel {
    /// The factor.
    pub factor: String,
    /// Label of the level.
    pub level: String,
    /// What that level costs, in a few words; empty: no table tells it.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub costs: String,
}

/// A row of the confirmation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ConfirmedRow {
    /// Workload; empty: not known.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub workload: String,
    /// As in [`ScreenedResult`].
    pub title: String,
    /// Group; empty: not known.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub group: String,
    /// What the screening expected; absent: no option of the proposal mattered there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expected: Option<f64>,
    /// Proposal by default; above 1 it is better. Absent: nothing could be paired.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ratio: Option<f64>,
    /// Interval at the confidence of the look.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub low: Option<f64>,
    /// See `low`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub high: Option<f64>,
    /// Of the proposal against the default.
    pub verdict: Verdict,
    /// CPU time of the whole system as a share of all CPUs: proposal, default; absent: not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpu_shares: Option<[f64; 2]>,
    /// The shares are not told, because a lane took too little CPU time, which is counted in ticks.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub little_cpu: bool,
    /// Bytes written at the device per byte of the work: proposal, default; absent: not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub written_per_byte: Option<[f64; 2]>,
}

/// What a confirmation comes to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ConfirmationOutcome {
    /// Better in a figure that was expected to gain, sure over the whole race, and found worse in none: take it.
    Confirmed,
    /// Such a gain, and worse in another figure.
    Mixed,
    /// No such gain, and nothing is left open: keep the default.
    NotConfirmed,
    /// The race is not over, or cannot tell yet.
    Open,
}

// serde's skip_serializing_if takes a reference.
#[allow(clippy::trivially_copy_pass_by_ref)]
fn is_zero(number: &u32) -> bool {
    *number == 0
}
