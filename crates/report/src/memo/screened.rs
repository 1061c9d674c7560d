//! What options that were screened bring, raced again against the default and by the screening alone, and what they cost.

use super::decision::named;
use super::work::noun;
use crate::language::{Tongue, fill};
use crate::layout::Phrase;
use crate::screening;
use crate::words::screening::{Gain, GainInterval, is_factor, told_gain};
use crate::words::sentence;
use model::findings::{
    Confirmation, ConfirmationOutcome, ConfirmedRow, Effect, EffectVerdict, Findings, ResultFinding, ScreenedResult,
    ScreeningFinding, Verdict,
};

/// Columns of the name of a piece of work that has no other.
const NAME_COLUMNS: usize = 50;
/// Pieces of work of one list, at most.
const WORKS_LISTED: usize = 6;

/// What was raced again gains in each piece of work, and what each option of the proposal gains by the screening alone.
pub(super) fn brings(findings: &Findings, finding: &ScreeningFinding, tongue: &Tongue) -> Vec<Phrase> {
    let again = finding.confirmation.iter().filter_map(|of| raced_again(findings, finding, of, tongue));
    // Of tuned options other levels were raced than those that were screened, and what did not show when it was raced
    // again is no gain.
    let shows = match finding.confirmation.as_ref().map(|of| of.outcome) {
        None | Some(ConfirmationOutcome::Confirmed | ConfirmationOutcome::Mixed) => finding.tuned().is_empty(),
        Some(ConfirmationOutcome::NotConfirmed | ConfirmationOutcome::Open) => false,
    };
    let screened = finding.proposal.factors.iter().filter(|_| shows);
    again.chain(screened.filter_map(|option| alone(findings, finding, option, tongue))).collect()
}

/// What each option costs, or that no table tells it; nothing where the default is kept, or what to take is not known yet.
pub(super) fn costs(finding: &ScreeningFinding, tongue: &Tongue) -> Vec<Phrase> {
    let outcome = finding.confirmation.as_ref().map(|of| of.outcome);
    if outcome == Some(ConfirmationOutcome::NotConfirmed) || finding.is_being_tuned() {
        return Vec::new();
    }
    let price = |(option, costs): (String, &str)| {
        let costs = match costs {
            "" => tongue.words.screened_price.to_owned(),
            known => sentence(&tongue.name(known)),
        };
        let values = [("name", Phrase::default().name(&option)), ("value", Phrase::new(costs))];
        fill(tongue.words.labelled, &values).say(tongue.words.stop)
    };
    screening::prices(finding).into_iter().map(price).collect()
}

/// Where its default is not as usual, what a screening cannot tell, what tuning alone chose, and where less was raced than was
/// planned.
pub(super) fn untold(finding: &ScreeningFinding, tongue: &Tongue) -> Vec<Phrase> {
    let words = tongue.words;
    let cut = finding.proposal.cut_short.map(|of| {
        let raced = match (of.fewest, of.most) {
            (fewest, most) if fewest == most => most.to_string(),
            (fewest, most) => format!("{fewest}–{most}"),
        };
        fill(words.screened_cut, &[("raced", Phrase::new(raced)), ("planned", Phrase::new(of.planned.to_string()))])
    });
    let few = finding.few_spare.then(|| Phrase::new(words.screened_few));
    let queue = finding.loop_queue.then(|| Phrase::new(words.screened_queue));
    let level = |of: &screening::Unusual| {
        let [option, level, usual] = of.each_ref().map(|word| Phrase::default().name(word));
        fill(words.screened_unusual, &[("option", option), ("level", level), ("usual", usual)])
    };
    let unusual: Vec<Phrase> = screening::unusual(finding).iter().map(level).collect();
    let alone = screening::tuned_alone(finding);
    let options = || tongue.listed(named(&alone), tongue.words.and);
    let alone = (!alone.is_empty()).then(|| fill(words.screened_tuned_alone, &[("options", options())]));
    unusual.into_iter().chain(cut).chain(few).chain(queue).chain(alone).collect()
}

fn raced_again(
    findings: &Findings,
    finding: &ScreeningFinding,
    confirmation: &Confirmation,
    tongue: &Tongue,
) -> Option<Phrase> {
    let options = screening::taken(finding);
    let mut rows: Vec<&ConfirmedRow> = confirmation.rows.iter().collect();
    // What loses stands first, so that no list cuts a price off; then what was expected to gain.
    rows.sort_by_key(|row| (row.verdict != Verdict::Slower, row.expected.is_none()));
    let gain = |row: &ConfirmedRow| {
        let is_ratio = screening::is_in_ratios(row);
        let gain = told_gain(row.ratio?, row.low.zip(row.high), is_ratio);
        let name = work(findings, (&row.workload, &row.group), &row.title, tongue);
        let expected = row.expected.map(|ratio| size(&told_gain(ratio, None, is_ratio), tongue));
        let expected = expected.map(|size| fill(tongue.words.screened_expected, &[("size", size)]));
        let inside = [Some(Phrase::new(judged(row.verdict, tongue))), interval(&gain, tongue), expected];
        Some(told(name, &gain, inside, tongue))
    };
    let has_ratios = rows.iter().any(|row| row.ratio.is_some() && screening::is_in_ratios(row));
    let better = if has_ratios { tongue.words.screened_better_ratios } else { tongue.words.screened_better };
    let gains = few(rows.into_iter().filter_map(gain).collect(), tongue).filter(|_| !options.is_empty())?;
    let options = tongue.listed(named(&options), tongue.words.and);
    let values = [("options", options), ("better", Phrase::new(better)), ("gains", gains)];
    Some(fill(tongue.words.screened_again, &values))
}

/// What an option gains wherever it matters.
fn alone(findings: &Findings, finding: &ScreeningFinding, option: &str, tongue: &Tongue) -> Option<Phrase> {
    let gain = |result: &ScreenedResult| {
        let is_it = |of: &&Effect| of.factor == option && of.verdict == EffectVerdict::Matters;
        let effect = result.effects.iter().find(is_it)?;
        let ends = Some((effect.low, effect.high));
        let gain = told_gain(effect.ratio, ends, is_factor(effect.ratio, ends));
        let name = work(findings, (&result.workload, &result.group), &result.title, tongue);
        Some(told(name, &gain, [interval(&gain, tongue)], tongue))
    };
    let gains = few(finding.results.iter().filter_map(gain).collect(), tongue)?;
    let option = Phrase::default().name(&screening::option_named(finding, option));
    Some(fill(tongue.words.screened_alone, &[("option", option), ("gains", gains)]))
}

/// What a piece of work is called; `title`: where nothing else is known of it.
fn work(findings: &Findings, (workload, group): (&str, &str), title: &str, tongue: &Tongue) -> Phrase {
    let is_it = |of: &&ResultFinding| of.workload == workload && of.group == group;
    match findings.results.iter().find(is_it) {
        Some(result) => noun(findings, result, tongue),
        None => tongue.short_name(title, NAME_COLUMNS),
    }
}

/// What a verdict of the race against the default is called.
fn judged(verdict: Verdict, tongue: &Tongue) -> &'static str {
    match verdict {
        Verdict::Faster => tongue.words.row_better,
        Verdict::Slower => tongue.words.row_worse,
        Verdict::Tie => tongue.words.row_tie,
        Verdict::Undecided => tongue.words.row_undecided,
        Verdict::None => tongue.words.row_none,
    }
}

/// `commits +9 % (better; +6 to +12 %; expected +12 %)`.
fn told(work: Phrase, gain: &Gain, inside: impl IntoIterator<Item = Option<Phrase>>, tongue: &Tongue) -> Phrase {
    let said = work.say(" ").and(size(gain, tongue));
    let inside = Phrase::default().join(inside.into_iter().flatten(), tongue.words.semicolon);
    if inside.is_empty() { said } else { tongue.with(said, inside) }
}

fn size(gain: &Gain, tongue: &Tongue) -> Phrase {
    let size = number(&gain.size, tongue);
    if gain.is_ratio { size } else { fill(tongue.words.percent_about, &[("size", size)]) }
}

fn interval(gain: &Gain, tongue: &Tongue) -> Option<Phrase> {
    let words = tongue.words;
    Some(match gain.interval.as_ref()? {
        GainInterval::Ends(low, high) => {
            let template = if gain.is_ratio { words.ratios } else { words.percents };
            fill(template, &[("low", number(low, tongue)), ("high", number(high, tongue))])
        }
        GainInterval::All => Phrase::new(words.screened_all),
    })
}

fn number(english: &str, tongue: &Tongue) -> Phrase {
    Phrase::new(tongue.figure(english))
}

/// The first of some gains, and how many more there are; `None`: there is none.
fn few(mut gains: Vec<Phrase>, tongue: &Tongue) -> Option<Phrase> {
    let more = gains.len().saturating_sub(WORKS_LISTED);
    gains.truncate(WORKS_LISTED);
    let list = Phrase::default().join(gains, tongue.words.semicolon);
    match more {
        0 => Some(list).filter(|list| !list.is_empty()),
        more => Some(fill(tongue.words.and_more, &[("list", list), ("count", Phrase::new(more.to_string()))])),
    }
}
