//! What is said of a screening.

use crate::figures;
use crate::layout::GLUE;
use crate::words::{listed_names, rounds};
use model::findings::{ConfirmationOutcome, CutShort, EffectVerdict, TunedFate, Undecided, Verdict};

pub(crate) const SCREENING: &str = "SCREENING";
pub(crate) const PROPOSAL: &str = "PROPOSAL";
pub(crate) const CONFIRMED: &str = "CONFIRMED";
pub(crate) const LEFT_OUT: &str = "LEFT OUT";
pub(crate) const SET_IT: &str = "SET IT";
pub(crate) const RACE_MORE: &str = "RACE MORE";
pub(crate) const TUNING: &str = "TUNING";
pub(crate) const SCREENING_TITLE: &str = "Which options matter";
pub(crate) const PROPOSAL_TITLE: &str = "Proposal";
pub(crate) const CONFIRMED_TITLE: &str = "Confirmed";
pub(crate) const LEFT_OUT_TITLE: &str = "Left out";
pub(crate) const SET_IT_TITLE: &str = "Set it";
pub(crate) const RACE_MORE_TITLE: &str = "Race more";
pub(crate) const TUNING_TITLE: &str = "Tuning";

pub(crate) const EFFECT_COLUMNS: [&str; 5] =
    ["option", "usual → other", "effect", "95\u{a0}% interval", "does it matter"];
pub(crate) const ROW_COLUMNS: [&str; 7] =
    ["work", "expected", "measured", "interval", "verdict", "CPU share", "written"];
pub(crate) const TUNING_COLUMNS: [&str; 4] = ["combination", "mean", "worst", "what became of it"];
/// What the tables of tuning claim.
pub(crate) const TUNING_LEGEND: &str = "combinations of levels raced the default. mean, worst: of a combination's figures beside the default's, above 0 \
     or 1x it is better; their order is that of the worst one. The last race chose by these figures, so that those of what it chose are \
     too high, and they have no interval: what is chosen is known to gain only where it is confirmed.";
/// Stands for an interval that leaves out nothing that is told of it.
const NO_INTERVAL: &str = "too few rounds to tell";
/// From where on an interval leaves out nothing: figures say no more of a factor than that it is below or above.
const NO_LOW_END: f64 = 0.005;
const NO_HIGH_END: f64 = 9_999.5;
/// Stands where a figure is not known.
pub(crate) const ABSENT: &str = "-";
/// Stands for the lane where nobody could have screened one of that name.
pub(crate) const NO_LANE: &str = "a lane that cannot be screened";
/// Heads options that are never proposed.
pub(crate) const PROMISES: &str =
    "these change what is promised after a power cut, or of what is read back, and are never proposed:";

/// Heads options of no table, which are never proposed either.
pub(crate) const UNKNOWN: &str =
    "these are in no table, so that nobody looked at what they change, and are never proposed:";

/// `lanes` of the design, `full`: of a full factorial, and whether it is one. `rounds`: the fewest and the most of a row.
pub(crate) fn summary(
    options: usize,
    base: &str,
    lanes: u32,
    (full, is_full): (u64, bool),
    rounds: (u32, u32),
) -> String {
    let options = if options == 1 { "1 option".to_owned() } else { format!("{options} options") };
    let raced = match rounds {
        (fewest, most) if fewest == most => self::rounds(most),
        (fewest, most) => format!("{fewest} to {most} rounds"),
    };
    let lanes_each = u64::from(lanes).checked_div(full).filter(|each| is_full && each * full == u64::from(lanes));
    let full = match lanes_each {
        None | Some(0) => format!("where all combinations would take {} lanes", figures::whole(full)),
        Some(1) => "which are all combinations".to_owned(),
        Some(each) => format!("all combinations in {each} lanes each"),
    };
    format!("{options} of {base} in {lanes} lanes, {full}; {raced}.")
}

/// An option whose level in the default is not the usual one.
pub(crate) fn unusual([option, level, usual]: &[String; 3]) -> String {
    format!("In the default of this screening {option} is {level}; Fairlane's table has {usual} as usual.")
}

/// A race that its time ended, and what to do about it.
pub(crate) fn cut_short(of: CutShort) -> String {
    let raced = match (of.fewest, of.most) {
        (fewest, most) if fewest == most => fewest.to_string(),
        (fewest, most) => format!("{fewest} to {most}"),
    };
    format!(
        "The time was up (--budget) after {raced} of {} planned rounds. A race that is over takes no more of them: \
         screen again with a larger --budget, or with --rounds and without one.",
        of.planned
    )
}

/// A race of tuning: the name of its record, and what it raced.
pub(crate) fn tuning_race(record: &str, combinations: usize, count: u32) -> String {
    let combinations =
        if combinations == 1 { "1 combination".to_owned() } else { format!("{combinations} combinations") };
    format!("{record}: {combinations} and the default, {}", rounds(count))
}

/// What became of a combination that was raced alone, in place of chosen.
pub(crate) const THE_ONLY_ONE: &str = "the only one";

/// What became of a combination.
pub(crate) fn fate(fate: TunedFate) -> &'static str {
    match fate {
        TunedFate::Chosen => "chosen",
        TunedFate::GoesOn => "goes on",
        TunedFate::Dropped => "dropped",
        TunedFate::Open => "not over",
    }
}

/// What the table's words claim. `few_spare`: nothing shows by what else lanes differ.
pub(crate) fn legend(margin: f64, few_spare: bool) -> String {
    let condition = match few_spare {
        true => "if lanes differ by nothing but their options",
        false => "as far as what else lanes differ by is chance",
    };
    format!(
        "effect: what the other level does to the figure, on average over all settings of the other options; above 0 or \
         1x it is better, of times too. matters: with 95{GLUE}% none of those that are called so is false, {condition}. \
         does not: the interval of that row lies within {}. cannot tell yet: neither, even where the interval of that \
         row alone leaves out 0 or 1x, as some of many rows do by chance.",
        figures::margin(margin)
    )
}

/// A figure: its work, which latency it is, its rounds, and how far a lane's figure scatters from round to round.
pub(crate) fn figure(title: &str, latency: Option<&str>, count: u32, deviation: Option<f64>) -> String {
    let latency = latency.map(|latency| format!(", {latency}")).unwrap_or_default();
    let scatter = deviation.map(|of| format!("; a lane scatters by {} from round to round", figures::small_share(of)));
    format!("{title}{latency}: {}{}", rounds(count), scatter.unwrap_or_default())
}

/// What an effect means.
pub(crate) fn verdict(verdict: EffectVerdict, margin: f64) -> String {
    match verdict {
        EffectVerdict::Matters => "matters".to_owned(),
        EffectVerdict::DoesNot => format!("does not (within {})", figures::margin(margin)),
        EffectVerdict::Open => "cannot tell yet".to_owned(),
    }
}

/// An effect, a gain or a loss as every report tells it: as a percentage or as a ratio, its interval as itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Gain {
    /// It is told as a ratio: `2.1x`.
    pub(crate) is_ratio: bool,
    /// The ratio, or the percentage with its `+` or `-` and without the sign behind it.
    pub(crate) size: String,
    /// Absent: it has none.
    pub(crate) interval: Option<GainInterval>,
}

/// What an interval says of a gain.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum GainInterval {
    /// Its ends, as the gain itself is told.
    Ends(String, String),
    /// It leaves out nothing that is told of a ratio.
    All,
}

/// How every report tells a ratio and its interval. `is_ratio`: as ratios, [`is_factor`] of all that stands in a row.
pub(crate) fn told_gain(ratio: f64, ends: Option<(f64, f64)>, is_ratio: bool) -> Gain {
    if is_ratio {
        let interval = ends.map(|(low, high)| match low < NO_LOW_END && high >= NO_HIGH_END {
            true => GainInterval::All,
            false => GainInterval::Ends(figures::times(low), figures::times(high)),
        });
        return Gain { is_ratio, size: figures::times(ratio), interval };
    }
    let percent = |of: f64| (of - 1.0) * 100.0;
    let (low, high) = ends.unwrap_or((ratio, ratio));
    let (low_size, high_size) = (percent(low).abs(), percent(high).abs());
    let far = percent(ratio).abs().max(low_size).max(high_size);
    // Where the interval leaves out zero, no end of it may read as zero.
    let near = if (low - 1.0) * (high - 1.0) > 0.0 { low_size.min(high_size) } else { far };
    let digits = match near {
        near if near < 0.05 => 2,
        near if near < 0.5 || far < 2.95 => 1,
        _ => 0,
    };
    let signed = |of: f64| figures::signed(percent(of), digits);
    let bare = |of: f64| signed(of).trim_end_matches('%').trim_end_matches(GLUE).to_owned();
    let interval = ends.map(|(low, high)| GainInterval::Ends(bare(low), bare(high)));
    Gain { is_ratio, size: bare(ratio), interval }
}

/// A ratio and its interval in English, as [`told_gain`] tells them: ratios where one of them is half or twice.
pub(crate) fn gain(ratio: f64, ends: Option<(f64, f64)>) -> (String, Option<String>) {
    gain_as(ratio, ends, is_factor(ratio, ends))
}

/// Whether a gain is told as a ratio: it, or an end of its interval, is half or twice.
pub(crate) fn is_factor(ratio: f64, ends: Option<(f64, f64)>) -> bool {
    let near_one = |of: f64| of > 0.5 && of < 2.0;
    !near_one(ratio) || !ends.is_none_or(|(low, high)| near_one(low) && near_one(high))
}

/// [`gain`] in a row that tells all it has in one way.
pub(crate) fn gain_as(ratio: f64, ends: Option<(f64, f64)>, is_ratio: bool) -> (String, Option<String>) {
    let Gain { size, interval, .. } = told_gain(ratio, ends, is_ratio);
    let unit = if is_ratio { String::new() } else { format!("{GLUE}%") };
    let interval = interval.map(|of| match of {
        GainInterval::Ends(low, high) => format!("{low} to {high}{unit}"),
        GainInterval::All => NO_INTERVAL.to_owned(),
    });
    (format!("{size}{unit}"), interval)
}

/// `256k instead of 32k`.
pub(crate) fn instead(option: &str, usual: &str) -> String {
    format!("{option} instead of {usual}")
}

/// `pair`: the two options at their other levels. `ratio` and `interval`: factors. `partial`: pairs beside the aliases that
/// share a part of it.
pub(crate) fn interaction(
    (one, other): (&str, &str),
    ratio: &str,
    (low, high): (&str, &str),
    (aliases, partial): (&[String], u32),
) -> String {
    let aliases = match aliases {
        [] => String::new(),
        aliases => format!("; the design cannot tell it from {}", aliases.join(", ")),
    };
    let partial = match partial {
        0 => String::new(),
        1 => "; 1 other pair shares a part of it".to_owned(),
        count => format!("; {count} other pairs share a part of it"),
    };
    format!(
        "{one} and {other} together: {ratio} ({low} to {high}) of the product of what each brings alone{aliases}{partial}."
    )
}

/// Two options that stand for the interaction of both.
pub(crate) fn pair(one: &str, other: &str) -> String {
    format!("{one} × {other}")
}

pub(crate) const LANES_DIFFER: &str = "By a test at 5\u{a0}% the lanes differ by more than their rounds scatter and the options tell, so the intervals are wider \
     by that.";
pub(crate) const FEW_SPARE: &str = "The design has fewer than 3 columns without an option, so that lanes that differ by \
                                    themselves would not be noticed: what matters here, or changes another effect, may be \
                                    such a difference, and what does not matter may be hidden by one.";
pub(crate) const LOOP_QUEUE: &str =
    "The disk's queue that was varied is that of the loop device of each image; the disk below has its own.";
pub(crate) const NO_ROUND: &str = "Nothing is told: there is no round in which every lane has a figure.";

/// Why nothing is told of a figure.
pub(crate) fn unknown(why: &str) -> String {
    format!("Nothing is told: {why}.")
}

/// What columns without an option show; `size`: the root of their mean square.
pub(crate) fn spare(count: usize, size: &str) -> String {
    let columns = if count == 1 { "1 column".to_owned() } else { format!("{count} columns") };
    format!(
        "{columns} without an option: effects of {size} (root mean square), which are chance, lanes that differ, or options \
         together."
    )
}

/// Stands for what a level costs that no table tells.
pub(crate) const COSTS_UNTOLD: &str = "what this level costs is told by no table";

/// What an option costs, or changes.
pub(crate) fn costs(option: &str, costs: &str) -> String {
    format!("{option}: {costs}.")
}

pub(crate) fn left_out(option: &str, why: &str) -> String {
    format!("{option}: {why}.")
}

/// Nothing is proposed. `others`: some option would gain and is not proposed.
pub(crate) fn keep(others: bool) -> &'static str {
    match others {
        false => "Keep the default: nothing that was screened is better beyond doubt.",
        true => "Keep the default: no option that changes no promise is better beyond doubt and found worse nowhere.",
    }
}

/// Options of which nothing is known yet, of so many. `hidden`: by what the columns without an option show.
pub(crate) fn open_options(open: &[String], all: usize, hidden: bool) -> String {
    let options = of_options(open.len(), all);
    let remedy = match hidden {
        false => "A screening with more rounds may tell.",
        true => "Lanes that differ by themselves, or options together, hide what is left: more rounds may not help.",
    };
    format!("{options} cannot be told yet: {}. {remedy}", open.join(", "))
}

/// `Of 6 options 2`.
fn of_options(open: usize, all: usize) -> String {
    if all == 1 { "Its one option".to_owned() } else { format!("Of {all} options {open}") }
}

/// No effect is told. `why`: one reason for all figures.
pub(crate) fn untold(why: Option<&str>) -> String {
    let why = why.map(|why| format!(": {why}")).unwrap_or_default();
    format!("Nothing is proposed, because no effect could be told{why}.")
}

/// Nothing is proposed yet.
pub(crate) const UNFINISHED: &str =
    "Cannot tell yet: the race is not over, and nothing is proposed before all of its rounds are done.";
/// Behind what is proposed where the race is not over.
pub(crate) const SO_FAR: &str =
    "The race is not over: this is what its finished work says, and the rest cannot be told yet.";

/// Instead of what tuning makes of a proposal. Where it can go on, the command stands at the end: of a record that was shared it
/// cannot.
pub(crate) const TUNING_UNFINISHED: &str = "Tuning is not done, and what it makes of the proposal is not known yet.";

/// `options`: what tuning made of the proposal, each with its usual level. `is_raced`: it raced the default since.
pub(crate) fn tuned(options: &[String], is_raced: bool) -> String {
    let raced = if is_raced { "; this was raced against the default" } else { "" };
    format!("As tuned: {}{raced}.", listed_names(options))
}

/// Options that tuning set and of which the screening does not say that they matter.
pub(crate) fn tuned_untold(options: &[String]) -> String {
    let matter = if options.len() == 1 { "matters" } else { "matter" };
    format!(
        "The screening could not tell whether {} {matter}: it is tuning alone that chose so.",
        listed_names(options)
    )
}

/// What the screening proposes by itself, beside that.
pub(crate) fn untuned(options: &[String]) -> String {
    format!("By the screening alone: {}.", listed_names(options))
}

/// `options`: each with its usual level.
pub(crate) fn take(options: &[String]) -> String {
    format!("{}.", listed_names(options))
}

/// `gains`: a figure and what is expected of it.
pub(crate) fn expected(gains: &[String]) -> String {
    format!(
        "Expected: {}. The same figures chose these options, so that this is too high on average; the race of the proposal \
         against the default shows what is left of it.",
        gains.join("; ")
    )
}

pub(crate) fn mixed(options: &[String]) -> String {
    format!("Better with some work or options and worse with others, so not proposed: {}.", listed_names(options))
}

pub(crate) fn promises(options: &[String]) -> String {
    let they = if options.len() == 1 { "it changes" } else { "they change" };
    format!("Would gain, and not taken because {they} what is promised: {}.", listed_names(options))
}

pub(crate) fn not_in_a_table(options: &[String]) -> String {
    let they = if options.len() == 1 { "it is" } else { "they are" };
    format!(
        "Would gain, and not taken because {they} in no table, and nobody looked at what that changes: {}.",
        listed_names(options)
    )
}

pub(crate) const NOT_RACED: &str =
    "Not yet: the proposal was not raced against the default, and before that nothing is sure of it as a whole.";

/// A record that lies beside as the confirmation, and is none.
pub(crate) fn confirmation_left_out(why: &str) -> String {
    format!("Not yet: the record that lies beside as the race of the proposal is left out: {why}.")
}

/// What a confirmation comes to. `unfinished`: its race is not over; `because`: why it is over and cannot tell. `gained`,
/// `counted`: figures that gain, of those whose gain counts; `expected`: they were expected to gain. `is_tuned`: tuning chose
/// what was raced.
pub(crate) fn outcome(
    outcome: ConfirmationOutcome,
    (unfinished, because): (bool, Option<Undecided>),
    (gained, counted): (u32, u32),
    (expected, is_tuned): (bool, bool),
) -> String {
    let text = match outcome {
        ConfirmationOutcome::Confirmed => {
            let figures = match counted {
                1 => "the one figure".to_owned(),
                counted => format!("{gained} of {counted} figures"),
            };
            let expected = if expected { " where that was expected" } else { "" };
            return format!(
                "Confirmed: in a race of its own the proposal is better beyond doubt in {figures}{expected}, and found worse \
                 nowhere."
            );
        }
        ConfirmationOutcome::Mixed => {
            "It gains in some and is found worse in others: take it only where the work that gains is what counts."
        }
        ConfirmationOutcome::NotConfirmed if is_tuned => {
            "Not confirmed: keep the default. In a race of its own what tuning made of the proposal does not show beyond \
             doubt the gain that it was chosen for."
        }
        ConfirmationOutcome::NotConfirmed => {
            "Not confirmed: keep the default. In a race of its own the proposal does not show beyond doubt the \
             gain that was expected."
        }
        ConfirmationOutcome::Open if unfinished => {
            "Open: the race of the proposal against the default is not over. Keep the default until it is."
        }
        ConfirmationOutcome::Open => {
            let why = because.map(|reason| format!(": {}", why_open(reason))).unwrap_or_default();
            return format!(
                "Open: the race of the proposal against the default is over and cannot tell{why}. Keep the default until \
                 more rounds can."
            );
        }
    };
    text.to_owned()
}

/// Beside a proposal that is not confirmed and has rows that are worse.
pub(crate) const LOSES: &str = "It is found worse in some of the work, which is enough to keep the default.";

/// Why a race that is over cannot tell.
fn why_open(reason: Undecided) -> &'static str {
    match reason {
        Undecided::Noise => "its rounds differ too much",
        Undecided::TooFewRounds => "too few rounds for a verdict",
        Undecided::Interrupted => "it was interrupted before a verdict",
        Undecided::OutOfBudget => "its time was up before a verdict",
        Undecided::MachineBusy => "other programs disturbed most of it",
    }
}

/// Which race that was.
pub(crate) fn raced(lane: &str, default: &str, seed: u64) -> String {
    format!(
        "{lane} against {default}, seed {seed}; of the proposal and of the default, CPU share: of all CPUs; written: bytes at the \
         device for each byte of the work."
    )
}

/// What has to be heeded of that race.
pub(crate) fn of_its_race(warning: &str) -> String {
    format!("Of that race: {warning}.")
}

/// Stands for shares of the CPUs where a lane took less CPU time than tells them: it is counted in ticks of 10 ms.
pub(crate) const LITTLE_CPU: &str = "<\u{a0}1\u{a0}s";

/// Of the proposal against the default; of times less is better.
pub(crate) fn row_verdict(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Faster => "better",
        Verdict::Slower => "worse",
        Verdict::Tie => "tie",
        Verdict::Undecided => "undecided",
        Verdict::None => "no verdict",
    }
}

/// What stands behind the first lane, where the others are runs of a design.
pub(crate) fn other_lanes(count: usize) -> String {
    let lanes = if count == 1 { "1 more lane".to_owned() } else { format!("{count} more lanes") };
    format!("{lanes}: the runs of the design; --format json holds what each was made with.")
}

/// The answer behind the name of what was screened: what to do by it.
pub(crate) fn answer(options: &[String], outcome: Option<ConfirmationOutcome>) -> String {
    let with = listed_names(options);
    match outcome {
        None => format!(" with {with} would gain by this screening, and was not raced against the default yet."),
        Some(ConfirmationOutcome::Confirmed) => {
            format!(
                " with {with}: raced again, it is better than the default in some of the work and found worse in none."
            )
        }
        Some(ConfirmationOutcome::Mixed) => {
            format!(" with {with} is better than the default in some of the work and found worse in other.")
        }
        Some(ConfirmationOutcome::NotConfirmed) => {
            format!(": keep the default. Raced again, {with} does not show beyond doubt the gain that was expected.")
        }
        Some(ConfirmationOutcome::Open) => {
            format!(": keep the default for now. Raced again, {with} is not known to gain yet.")
        }
    }
}

/// The answer behind that name where nothing is proposed. `open`: options of which nothing is known yet, of `all`.
pub(crate) fn answer_keep(open: usize, all: usize) -> String {
    match open {
        0 => ": keep the default. Of what was screened nothing is proposed.".to_owned(),
        open => {
            let options = of_options(open, all);
            format!(": keep the default for now, because nothing is proposed. {options} cannot be told yet.")
        }
    }
}

/// The answer behind that name where tuning is not done.
pub(crate) const ANSWER_TUNING: &str = ": cannot tell yet what to take, because tuning is not done.";
/// The answer behind that name where nothing is proposed yet.
pub(crate) const ANSWER_UNFINISHED: &str =
    ": cannot tell yet which of its options matter, because the race is not over.";

/// The answer behind that name where no effect is told. `why`: one reason for all figures.
pub(crate) fn answer_untold(why: Option<&str>) -> String {
    let why = why.map(|why| format!(": {why}")).unwrap_or_default();
    format!(": no effect of its options could be told{why}.")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plain(ratio: f64, low: f64, high: f64) -> String {
        let (size, interval) = gain(ratio, Some((low, high)));
        format!("{size} ({})", interval.unwrap_or_default()).replace(GLUE, " ")
    }

    #[test]
    fn gains_are_percentages_with_signs_and_factors_from_twice_on() {
        assert_eq!(plain(1.12, 1.09, 1.15), "+12 % (+9 to +15 %)");
        assert_eq!(plain(0.9, 0.85, 0.95), "-10 % (-15 to -5 %)");
        assert_eq!(plain(1.01, 0.99, 1.028), "+1.0 % (-1.0 to +2.8 %)");
        assert_eq!(plain(2.4, 1.9, 3.1), "2.4x (1.9x to 3.1x)");
        assert_eq!(plain(1.4, 0.4, 4.9), "1.4x (0.4x to 4.9x)");
        assert_eq!(gain(1.14, None), (format!("+14{GLUE}%"), None));
        assert_eq!(gain(f64::NAN, None).0, "?x");
        assert_eq!(plain(3.8, 0.001, 20_000.0), "3.8x (too few rounds to tell)");
        assert_eq!(plain(3.8, 0.001, 20.0), "3.8x (<0.01x to 20x)");
        assert_eq!(gain_as(1.79, None, true).0, "1.79x");
    }

    #[test]
    fn a_gain_and_its_interval_are_told_in_one_unit_whatever_the_language() {
        let ends = |low: &str, high: &str| Some(GainInterval::Ends(low.to_owned(), high.to_owned()));
        let of = |ratio: f64, low: f64, high: f64| {
            let all = Some((low, high));
            told_gain(ratio, all, is_factor(ratio, all))
        };
        let told = |is_ratio: bool, size: &str, interval| Gain { is_ratio, size: size.to_owned(), interval };
        assert_eq!(of(0.4, 0.35, 0.45), told(true, "0.4x", ends("0.35x", "0.45x")));
        assert_eq!(of(1.4, 0.4, 4.9), told(true, "1.4x", ends("0.4x", "4.9x")));
        assert_eq!(of(1.12, 1.09, 1.15), told(false, "+12", ends("+9", "+15")));
        assert_eq!(of(3.8, 0.001, 20_000.0), told(true, "3.8x", Some(GainInterval::All)));
        assert_eq!(told_gain(1.12, None, false), told(false, "+12", None));
    }

    #[test]
    fn an_interval_without_zero_shows_none() {
        assert_eq!(plain(1.06, 1.003, 1.12), "+6.0 % (+0.3 to +12.0 %)");
        assert_eq!(plain(0.98, 0.961, 0.9997), "-2.00 % (-3.90 to -0.03 %)");
    }

    #[test]
    fn a_design_that_holds_all_combinations_says_so() {
        let some = summary(7, "xfs", 16, (128, false), (5, 5));
        assert_eq!(some, "7 options of xfs in 16 lanes, where all combinations would take 128 lanes; 5 rounds.");
        let all = summary(1, "xfs", 2, (2, true), (0, 3));
        assert_eq!(all, "1 option of xfs in 2 lanes, which are all combinations; 0 to 3 rounds.");
        let each = summary(1, "xfs", 8, (2, true), (4, 4));
        assert_eq!(each, "1 option of xfs in 8 lanes, all combinations in 4 lanes each; 4 rounds.");
        let none = summary(2, "xfs", 5, (4, true), (4, 4));
        assert_eq!(none, "2 options of xfs in 5 lanes, where all combinations would take 4 lanes; 4 rounds.");
    }
}
