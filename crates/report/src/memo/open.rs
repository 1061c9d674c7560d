//! What the race cannot tell, what was not tested, and what would change the decision.

use super::decision::{named, not_ranked, raced};
use super::screened;
use super::work::{Distance, against, claim, noun};
use crate::clean::shorten;
use crate::facts::self_pairs;
use crate::figures;
use crate::language::{Tongue, fill};
use crate::layout::{Phrase, Tone};
use crate::operations::others;
use crate::words::sentence;
use model::Sentence;
use model::findings::{
    Advice, Decision, Findings, Flip, Limit, OperationsFinding, Pair, ResultFinding, Settle, Statement, Undecided,
    Verdict,
};
use model::scenario::Need;

/// Pieces of work of one list, at most.
const WORKS_LISTED: usize = 8;
/// Columns of a reason that a record gives.
const REASON_COLUMNS: usize = 120;
/// Columns of a name that a scenario or a suite gives.
const NAME_COLUMNS: usize = 60;
/// Scenarios whose advice is told.
const SCENARIOS: usize = 3;

/// What the race cannot tell. `settle`: the command that should settle it.
pub(super) fn untold(findings: &Findings, decision: &Decision, settle: Option<&str>, tongue: &Tongue) -> Vec<Phrase> {
    let words = tongue.words;
    let list = |works: Vec<Phrase>, template: &str| {
        let works = [("works", tongue.few(works, WORKS_LISTED)), ("margin", margin(findings, tongue))];
        fill(template, &works)
    };
    let screening = findings.screening.iter();
    let mut points: Vec<Phrase> = screening.flat_map(|finding| screened::untold(finding, tongue)).collect();
    points.extend(failures(findings, tongue));
    if decision.taken().is_empty() && findings.screening.is_none() {
        // Otherwise it stands among what the decision costs.
        points
            .extend(findings.answer.iter().flat_map(|answer| &answer.not_ranked).map(|fact| not_ranked(fact, tongue)));
    }
    let short: Vec<&str> = raced(findings).filter(|of| of.flushes_stop_short).map(|of| of.name.as_str()).collect();
    if !short.is_empty() {
        let lanes = tongue.few(named(&short), WORKS_LISTED);
        points.push(fill(words.flushes_short, &[("lanes", lanes)]));
    }
    if findings.answer.as_ref().is_some_and(|answer| answer.different_disks) {
        points.push(Phrase::new(words.different_disks));
    }
    points.extend(findings.answer.iter().flat_map(|answer| &answer.cached_disk).map(|said| whole(said, tongue)));
    let reasons = [
        (Undecided::Interrupted, words.open_interrupted),
        (Undecided::OutOfBudget, words.open_time),
        (Undecided::TooFewRounds, words.open_few),
        (Undecided::MachineBusy, words.open_busy),
        (Undecided::Noise, words.open_noise),
    ];
    let before = points.len();
    for (reason, template) in reasons {
        let works = works(findings, tongue, |result| reason_of(findings, result) == Some(reason));
        if !works.is_empty() {
            points.push(list(works, template));
        }
    }
    if points.len() > before {
        points.extend(settled(findings.answer.as_ref().and_then(|answer| answer.settle), settle, tongue));
    }
    let measured = [
        (Limit::Device, words.disk_measured),
        (Limit::Harness, words.fairlane_measured),
        (Limit::Cache, words.memory_did_it),
        (Limit::OwnDisk, words.own_disks_measured),
    ];
    for (limit, template) in measured {
        let works = works(findings, tongue, |result| match result.limit {
            // A step that reads what steps before it wrote is answered from memory by nature.
            Limit::Cache => limit == Limit::Cache && result.section.is_none(),
            other => other == limit,
        });
        if !works.is_empty() {
            points.push(list(works, template));
        }
    }
    let ties = ties(findings, tongue);
    if !ties.is_empty() {
        points.push(list(ties, words.ties));
    }
    points.extend(self_check(findings, tongue));
    if points.is_empty() && !decision.taken().is_empty() {
        points.push(Phrase::new(words.nothing_open));
    }
    points
}

fn margin(findings: &Findings, tongue: &Tongue) -> Phrase {
    Phrase::new(tongue.figure(&figures::margin(findings.margin)))
}

/// The pieces of work that a test finds; of a table of file operations how many steps.
fn works(findings: &Findings, tongue: &Tongue, found: impl Fn(&ResultFinding) -> bool) -> Vec<Phrase> {
    let single = others(findings).into_iter().filter(|result| found(result));
    let mut works: Vec<Phrase> = single.map(|result| noun(findings, result, tongue)).collect();
    for table in &findings.operations {
        let count = of_table(findings, table).filter(|result| found(result)).count();
        if count > 0 {
            works.push(steps(table, count, tongue));
        }
    }
    works
}

fn of_table<'a>(findings: &'a Findings, table: &'a OperationsFinding) -> impl Iterator<Item = &'a ResultFinding> {
    findings.results.iter().filter(|result| result.workload == table.workload)
}

fn steps(table: &OperationsFinding, count: usize, tongue: &Tongue) -> Phrase {
    let values = [
        ("title", tongue.short_name(&table.title, NAME_COLUMNS)),
        ("count", Phrase::new(count.to_string())),
        ("of", Phrase::new(table.rows.len().to_string())),
    ];
    fill(tongue.words.some_steps, &values)
}

fn is_contestant(findings: &Findings, lane: &str) -> bool {
    raced(findings).any(|raced| raced.name == lane)
}

/// The pairs of a result that are still open, a lane against itself left out.
fn open<'a>(findings: &'a Findings, result: &'a ResultFinding) -> impl Iterator<Item = &'a Pair> {
    let undecided = result.pairs.iter().filter(|pair| pair.verdict == Verdict::Undecided);
    undecided.filter(|pair| is_contestant(findings, &pair.a) && is_contestant(findings, &pair.b))
}

/// Why a result is open; `None`: it is not. What ended the race is named before noise.
fn reason_of(findings: &Findings, result: &ResultFinding) -> Option<Undecided> {
    Undecided::first(open(findings, result).map(|pair| pair.undecided.unwrap_or(Undecided::Noise)))
}

/// What should settle it. `command`: the next one, where a line has room for it; otherwise its option alone is named.
fn settled(by: Option<Settle>, command: Option<&str>, tongue: &Tongue) -> Option<Phrase> {
    let words = tongue.words;
    let (template, option) = match by? {
        // The note above says how the race goes on.
        Settle::Resume { .. } => return None,
        Settle::Quiet => return Some(Phrase::new(words.settle_quiet)),
        Settle::OutOfReach => return Some(Phrase::new(words.settle_out_of_reach)),
        by @ (Settle::Budget { some_only: true, .. } | Settle::Rounds { some_only: true, .. }) => {
            (words.settle_some, by.option()?)
        }
        by @ Settle::FirstRounds { .. } => (words.settle_first, by.option()?),
        by => (words.settle, by.option()?),
    };
    let named = command.map_or_else(|| format!("{} {}", option.0, option.1), str::to_owned);
    let named = Phrase::default().tone(Tone::Name, &named);
    // A budget is the time itself.
    let time = by.and_then(|by| by.seconds()).filter(|_| option.0 != "--budget");
    let named = time.map_or(named.clone(), |seconds| tongue.with(named, about(seconds, tongue)));
    Some(fill(template, &[("command", named)]))
}

/// `about 6 min`.
pub(super) fn about(seconds: u32, tongue: &Tongue) -> Phrase {
    let time = tongue.figure(&figures::duration(f64::from(seconds)));
    fill(tongue.words.about, &[("time", Phrase::new(time))])
}

/// Work at which lanes tie; which lanes, where others do not.
fn ties(findings: &Findings, tongue: &Tongue) -> Vec<Phrase> {
    let tied = |result: &ResultFinding| -> Vec<Vec<String>> {
        let lanes = result.statements.iter().filter_map(|said| match said {
            Statement::Tie { lanes, .. } => Some(lanes),
            _ => None,
        });
        let contestants = |lanes: &Vec<String>| -> Vec<String> {
            lanes.iter().filter(|lane| is_contestant(findings, lane)).cloned().collect()
        };
        lanes.map(contestants).filter(|lanes| lanes.len() > 1).collect()
    };
    let mut works = Vec::new();
    for result in others(findings) {
        let circles = tied(result);
        let measured = result.estimates.iter().filter(|of| of.failure.is_none() && is_contestant(findings, &of.lane));
        let all = circles.iter().any(|lanes| lanes.len() == measured.clone().count());
        let circle = |lanes: &Vec<String>| Phrase::default().join(named(lanes), tongue.words.comma);
        let noun = noun(findings, result, tongue);
        match circles.is_empty() {
            true => {}
            false if all => works.push(noun),
            false => {
                let lanes = Phrase::default().join(circles.iter().map(circle), tongue.words.semicolon);
                works.push(tongue.with(noun, lanes));
            }
        }
    }
    for table in &findings.operations {
        let count = of_table(findings, table).filter(|result| !tied(result).is_empty()).count();
        if count > 0 {
            works.push(steps(table, count, tongue));
        }
    }
    works
}

/// Lanes that could not do some of the work.
fn failures(findings: &Findings, tongue: &Tongue) -> Vec<Phrase> {
    let of = |lane: &str| {
        let failed = |result: &ResultFinding| -> Option<Sentence> {
            result.estimates.iter().find(|of| of.lane == lane)?.failed().cloned()
        };
        let reason = findings.results.iter().find_map(failed)?;
        let works = tongue.few(works(findings, tongue, |result| failed(result).is_some()), WORKS_LISTED);
        let reason = Phrase::new(shorten(&sentence(&tongue.sentence(&reason)), REASON_COLUMNS));
        let lane = Phrase::default().name(lane);
        Some(fill(tongue.words.failed_at, &[("lane", lane), ("works", works), ("reason", reason)]))
    };
    raced(findings).filter_map(|lane| of(&lane.name)).collect()
}

/// A lane that came out different from itself.
fn self_check(findings: &Findings, tongue: &Tongue) -> Option<Phrase> {
    let (first, pairs) = self_pairs(findings)?;
    let apart = pairs.iter().filter(|pair| matches!(pair.verdict, Verdict::Faster | Verdict::Slower)).count();
    let count = |number: usize| Phrase::new(number.to_string());
    let values = [("lane", Phrase::default().name(first)), ("count", count(apart)), ("all", count(pairs.len()))];
    (apart > 0).then(|| fill(tongue.words.self_apart, &values))
}

/// A sentence of the statistics as one of the memo's.
fn whole(said: &Sentence, tongue: &Tongue) -> Phrase {
    let text = sentence(&tongue.sentence(said));
    let mut letters = text.chars();
    let first = letters.next().map(|letter| letter.to_ascii_uppercase()).into_iter();
    fill(tongue.words.not_tested, &[("list", Phrase::new(first.chain(letters).collect::<String>()))])
}

/// On what it was raced, and what was not tested.
pub(super) fn untested(findings: &Findings, tongue: &Tongue) -> Vec<Phrase> {
    let of_options = findings.screening.iter().flat_map(|of| &of.raced);
    let raced = findings.answer.iter().flat_map(|answer| &answer.raced).chain(of_options);
    raced.map(|said| whole(said, tongue)).chain(not_tested(findings, tongue)).collect()
}

fn not_tested(findings: &Findings, tongue: &Tongue) -> Vec<Phrase> {
    let of_suite = findings.screening.iter().flat_map(|of| &of.not_tested);
    let listed = findings.answer.iter().flat_map(|answer| &answer.not_tested).chain(of_suite);
    let listed: Vec<Phrase> = listed.map(|text| Phrase::new(shorten(&tongue.sentence(text), NAME_COLUMNS))).collect();
    match listed.is_empty() {
        true => vec![Phrase::new(tongue.words.not_tested_unknown)],
        false => vec![fill(tongue.words.not_tested, &[("list", tongue.few(listed, WORKS_LISTED))])],
    }
}

/// What would change the decision: what the advice knows, otherwise the closest call; nothing where
/// nothing is decided.
pub(super) fn flips(findings: &Findings, decision: &Decision, tongue: &Tongue) -> Vec<Phrase> {
    if decision.taken().is_empty() {
        return Vec::new();
    }
    let advised = findings.advice.iter().filter_map(|advice| flip(advice, tongue));
    let mut points: Vec<Phrase> = advised.take(SCENARIOS).collect();
    if points.is_empty() {
        points.extend(closest(findings, decision, tongue));
    }
    points.push(Phrase::new(tongue.words.elsewhere));
    points
}

/// The first change that would turn the advice of a scenario.
fn flip(advice: &Advice, tongue: &Tongue) -> Option<Phrase> {
    let words = tongue.words;
    let lanes: Vec<&str> = advice.lane.iter().chain(&advice.level_with).map(String::as_str).collect();
    let flip = advice.flips_if.first().filter(|_| !lanes.is_empty())?;
    let what = |text: &str| tongue.short_name(text, NAME_COLUMNS);
    let share = |share: f64| Phrase::new(tongue.figure(&figures::small_share(share)));
    let need = |need: &String| {
        let any = need.parse::<Need>().map(|need| need.any).unwrap_or_default();
        let each = any
            .into_iter()
            .map(|wish| fill(words.wish, &[("text", tongue.short_name(&Need::one(wish).title(), NAME_COLUMNS))]));
        let each: Vec<Phrase> = each.collect();
        let unknown = || fill(words.wish, &[("text", Phrase::new(shorten(need, NAME_COLUMNS)))]);
        if each.is_empty() { unknown() } else { tongue.listed(each, words.or) }
    };
    let (other, condition) = match flip {
        Flip::Weight { what: part, share: assumed, at, lane } => {
            let template = if at < assumed { words.if_less } else { words.if_more };
            (lane, fill(template, &[("what", what(part)), ("at", share(*at)), ("share", share(*assumed))]))
        }
        Flip::Undecided { what: part, lane } => (lane, fill(words.if_noise, &[("what", what(part))])),
        Flip::Without { need: of, lane, .. } => (lane, fill(words.if_without, &[("need", need(of))])),
        Flip::With { needs, lane, .. } => {
            let needs = tongue.listed(needs.iter().map(need).collect(), words.or);
            (lane, fill(words.if_with, &[("needs", needs)]))
        }
    };
    let values = [
        ("scenario", what(&advice.title)),
        ("lanes", tongue.listed(named(&lanes), words.or)),
        ("other", Phrase::default().name(other)),
        ("condition", condition),
    ];
    Some(fill(words.flip, &values))
}

/// The decided difference of a lane that is taken whose interval comes nearest to none.
fn closest(findings: &Findings, decision: &Decision, tongue: &Tongue) -> Option<Phrase> {
    let decided = findings.results.iter().flat_map(|result| {
        let pairs = result.pairs.iter().filter_map(move |pair| match pair.verdict {
            Verdict::Faster => Some((result, pair.a.as_str(), pair.b.as_str())),
            Verdict::Slower => Some((result, pair.b.as_str(), pair.a.as_str())),
            _ => None,
        });
        pairs.filter(move |(_, lane, other)| decision.takes(lane) && is_contestant(findings, other))
    });
    let near = decided.filter_map(|(result, lane, other)| {
        let Distance::Row(ratio, interval) = against(result, lane, other)? else { return None };
        Some((interval.map_or(ratio, |(low, _)| low), result, lane, other))
    });
    let (_, result, lane, other) = near.min_by(|x, y| x.0.total_cmp(&y.0))?;
    let values = [
        ("lane", Phrase::default().name(lane)),
        ("other", Phrase::default().name(other)),
        ("claim", claim(findings, result, against(result, lane, other)?, tongue)),
    ];
    Some(fill(tongue.words.closest, &values))
}
