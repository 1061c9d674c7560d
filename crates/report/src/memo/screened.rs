//! What options that were screened bring: raced again against the default, and each by the screening alone.

use super::decision::named;
use super::work::noun;
use crate::language::{Tongue, fill};
use crate::layout::Phrase;
use crate::screening;
use crate::words::screening::{Gain, gained};
use model::findings::{
    Confirmation, ConfirmedRow, Effect, EffectVerdict, Findings, ResultFinding, ScreenedResult, ScreeningFinding,
    Verdict,
};

/// Columns of the name of a piece of work that has no other.
const NAME_COLUMNS: usize = 50;
/// Pieces of work of one list, at most.
const WORKS_LISTED: usize = 6;

/// What was raced again gains in each piece of work, and what each option of the proposal gains by the screening alone.
pub(super) fn brings(findings: &Findings, finding: &ScreeningFinding, tongue: &Tongue) -> Vec<Phrase> {
    let again = finding.confirmation.iter().filter_map(|of| raced_again(findings, finding, of, tongue));
    // Of tuned options other levels were raced than those that were screened.
    let screened = finding.proposal.factors.iter().filter(|_| finding.tuned().is_empty());
    again.chain(screened.filter_map(|option| alone(findings, finding, option, tongue))).collect()
}

fn raced_again(
    findings: &Findings,
    finding: &ScreeningFinding,
    confirmation: &Confirmation,
    tongue: &Tongue,
) -> Option<Phrase> {
    let options = screening::taken(finding);
    let mut rows: Vec<&ConfirmedRow> = confirmation.rows.iter().collect();
    // First what was expected to gain, then what loses.
    rows.sort_by_key(|row| (row.expected.is_none(), row.verdict != Verdict::Slower));
    let gain = |row: &ConfirmedRow| {
        let screened = finding.results.iter().find(|result| result.title == row.title);
        let expected = row.expected.map(|ratio| size(&gained(ratio, None), tongue));
        let expected = expected.map(|size| fill(tongue.words.screened_expected, &[("size", size)]));
        let ends = row.low.zip(row.high);
        Some(told(work(findings, screened, &row.title, tongue), &gained(row.ratio?, ends), expected, tongue))
    };
    let gains = few(rows.into_iter().filter_map(gain).collect(), tongue).filter(|_| !options.is_empty())?;
    let values = [("options", tongue.listed(named(&options), tongue.words.and)), ("gains", gains)];
    Some(fill(tongue.words.screened_again, &values))
}

/// What an option gains wherever it matters.
fn alone(findings: &Findings, finding: &ScreeningFinding, option: &str, tongue: &Tongue) -> Option<Phrase> {
    let gain = |result: &ScreenedResult| {
        let is_it = |of: &&Effect| of.factor == option && of.verdict == EffectVerdict::Matters;
        let effect = result.effects.iter().find(is_it)?;
        let gain = gained(effect.ratio, Some((effect.low, effect.high)));
        Some(told(work(findings, Some(result), &result.title, tongue), &gain, None, tongue))
    };
    let gains = few(finding.results.iter().filter_map(gain).collect(), tongue)?;
    let option = Phrase::default().name(&screening::option_named(finding, option));
    Some(fill(tongue.words.screened_alone, &[("option", option), ("gains", gains)]))
}

/// What a piece of work that was screened is called; `title`: where nothing else is known of it.
fn work(findings: &Findings, screened: Option<&ScreenedResult>, title: &str, tongue: &Tongue) -> Phrase {
    let is_it = |of: &&ResultFinding| {
        screened.is_some_and(|screened| of.workload == screened.workload && of.group == screened.group)
    };
    match findings.results.iter().find(is_it) {
        Some(result) => noun(findings, result, tongue),
        None => tongue.short_name(title, NAME_COLUMNS),
    }
}

/// `commits +9 % (+6 to +12 %; expected +12 %)`.
fn told(work: Phrase, gain: &Gain, expected: Option<Phrase>, tongue: &Tongue) -> Phrase {
    let said = work.say(" ").and(size(gain, tongue));
    let inside: Vec<Phrase> = interval(gain, tongue).into_iter().chain(expected).collect();
    match inside.is_empty() {
        true => said,
        false => tongue.with(said, Phrase::default().join(inside, tongue.words.semicolon)),
    }
}

fn size(gain: &Gain, tongue: &Tongue) -> Phrase {
    let template = if gain.factors { tongue.words.times_about } else { tongue.words.percent_about };
    fill(template, &[("size", number(&gain.size, tongue))])
}

fn interval(gain: &Gain, tongue: &Tongue) -> Option<Phrase> {
    let (low, high) = gain.ends.as_ref()?;
    let template = if gain.factors { tongue.words.times_between } else { tongue.words.percents };
    Some(fill(template, &[("low", number(low, tongue)), ("high", number(high, tongue))]))
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
