//! The answer as sentences, put together from what `stats` decided.

use crate::facts;
use crate::layout::Phrase;
use crate::operations;
use crate::statements::reference_of;
use crate::words::{self, answer::Claim};
use model::Sentence;
use model::findings::{
    Answer, Findings, Level, Limit, OperationRow, OperationsFinding, Pair, ResultFinding, Undecided, Verdict,
};

/// Reasons that one lane is given; the rest stands in the figures.
const REASONS_PER_LANE: usize = 3;
/// Results named that tie, where others are undecided.
const TIES_NAMED: usize = 3;
/// Columns that the answer in one sentence may take: little more than two lines of a terminal of 100.
const SENTENCE_COLUMNS: usize = 200;

/// The answer in one sentence.
pub(crate) fn sentence(findings: &Findings) -> Phrase {
    match answer_of(findings).filter(|answer| is_no_choice(findings, answer) && raced(findings) > 1) {
        Some(answer) => brief_no_choice(findings, answer),
        None => {
            Phrase::default().join(std::iter::once(opening(findings, SENTENCE_COLUMNS)).chain(disturbed(findings)), " ")
        }
    }
}

/// What is to be known of a choice or of its reasons that rounds showed which other programs disturbed.
fn disturbed(findings: &Findings) -> Option<Phrase> {
    let answer = answer_of(findings).filter(|answer| answer.disturbed && raced(findings) > 1)?;
    let chosen = !is_no_choice(findings, answer) && !answer.reasons.is_empty();
    chosen.then(|| Phrase::new(words::answer::DISTURBED))
}

/// Why work was never raced, once for each piece of it.
pub(crate) fn never_reached(findings: &Findings) -> impl Iterator<Item = Undecided> {
    let reached = findings.answer.as_ref().and_then(|answer| answer.reached);
    let count = reached.map_or(0, |reached| reached.of.saturating_sub(reached.workloads));
    let ended = findings.outcome == "complete";
    std::iter::repeat_n(if ended { Undecided::OutOfBudget } else { Undecided::Interrupted }, count as usize)
}

/// The answer where anything was measured, and where it is about lanes against each other.
fn answer_of(findings: &Findings) -> Option<&Answer> {
    findings.answer.as_ref().filter(|_| findings.searches.is_empty() && measured_anything(findings))
}

fn raced(findings: &Findings) -> usize {
    findings.lanes.iter().filter(|lane| !lane.is_self).count()
}

fn is_no_choice(findings: &Findings, answer: &Answer) -> bool {
    !findings.results.iter().any(told_something) || answer.choose.is_empty()
}

/// What to take and why, in so many columns; or why nothing can be chosen.
fn opening(findings: &Findings, most: usize) -> Phrase {
    if let Some(search) = findings.searches.first() {
        return words::appenders::answer(search);
    }
    let Some(answer) = answer_of(findings) else {
        return Phrase::new(words::answer::nothing_measured(&findings.outcome));
    };
    let raced = raced(findings);
    match () {
        () if raced == 1 && findings.lanes.len() > 1 => Phrase::new(words::answer::SAME_LANE_TWICE),
        () if raced == 1 => Phrase::new(words::answer::ONE_LANE),
        () if is_no_choice(findings, answer) => no_choice(findings, answer),
        () => choice(findings, answer, raced, most).say("."),
    }
}

/// What this race leaves open, a sentence each: what is undecided and the one remedy, what is not sure, and where the
/// lanes could not be told apart.
pub(crate) fn open(findings: &Findings) -> Vec<Phrase> {
    let Some(answer) = answer_of(findings).filter(|_| raced(findings) > 1) else { return Vec::new() };
    let mut sentences: Vec<Phrase> = undecided(findings, answer).into_iter().collect();
    for (titles, what) in [(&answer.unsure, words::answer::UNSURE), (&answer.cannot_tell, words::answer::CANNOT_TELL)] {
        let titles = gathered(findings, titles);
        if !titles.is_empty() {
            sentences.push(Phrase::new(what).say(titles.join("; ")).say("."));
        }
    }
    sentences
}

/// `Too noisy: a, b; out of time: c; --rounds 36 (about 6 min) should settle it.`
fn undecided(findings: &Findings, answer: &Answer) -> Option<Phrase> {
    let reasons = words::answer::REASONS_IN_ORDER;
    let because = |title: &String| reason_of(findings, title);
    let parts = reasons.into_iter().filter_map(|reason| {
        let titles: Vec<String> = answer.undecided.iter().filter(|title| because(title) == reason).cloned().collect();
        let titles = gathered_as(findings, &titles, &|title| with_pairs(findings, title));
        (!titles.is_empty()).then(|| words::answer::undecided(reason, &titles.join("; ")))
    });
    let parts: Vec<String> = parts.collect();
    (!parts.is_empty())
        .then(|| Phrase::new(words::answer::undecided_and_remedy(&parts, answer.settle, answer.disturbed)))
}

/// Why the result of this title is undecided.
fn reason_of(findings: &Findings, title: &str) -> Undecided {
    let result = findings.results.iter().find(|result| is_titled(result, title));
    let pairs = result.into_iter().flat_map(|result| &result.pairs);
    Undecided::first(pairs.filter_map(|pair| pair.undecided)).unwrap_or(Undecided::Noise)
}

/// A title, with the pairs that are undecided where others of it are decided.
fn with_pairs(findings: &Findings, title: &str) -> String {
    let shown = words::sentence(title);
    let Some(result) = findings.results.iter().find(|result| is_titled(result, title)) else { return shown };
    let is_self = |name: &str| findings.lanes.iter().any(|lane| lane.is_self && lane.name == name);
    let pairs = || result.pairs.iter().filter(|pair| !is_self(&pair.a) && !is_self(&pair.b));
    let decided = |pair: &Pair| matches!(pair.verdict, Verdict::Faster | Verdict::Slower | Verdict::Tie);
    let open = pairs().filter(|pair| pair.verdict == Verdict::Undecided);
    let open: Vec<(&str, &str)> = open.map(|pair| (pair.a.as_str(), pair.b.as_str())).collect();
    match pairs().any(decided) && !open.is_empty() {
        true => words::answer::these_pairs(&shown, &open),
        false => shown,
    }
}

/// Whether a result is told by this title, which carries its group where the workload has several.
fn is_titled(result: &ResultFinding, title: &str) -> bool {
    title == result.title || title == format!("{}: {}", result.title, result.group)
}

/// What has to be known before the answer is taken: lanes on other disks, lanes that promise less, lanes that failed.
/// `reasons`: say why these failed.
pub(crate) fn caveats(findings: &Findings, reasons: bool) -> Vec<Phrase> {
    let Some(answer) = answer_of(findings) else { return Vec::new() };
    let mut sentences = Vec::new();
    if answer.different_disks {
        sentences.push(Phrase::new(words::answer::DIFFERENT_DISKS));
    }
    sentences.extend(answer.cached_disk.as_deref().map(words::answer::said_of_the_ground));
    sentences.extend(words::answer::not_ranked(&answer.not_ranked).filter(|_| raced(findings) > 1));
    sentences.extend(failures(findings, reasons));
    sentences.extend(answer.raced.as_deref().map(words::answer::said_of_the_ground));
    sentences
}

/// What was not tested, as a list.
pub(crate) fn untested_list(findings: &Findings) -> Option<Phrase> {
    let answer = answer_of(findings).filter(|answer| !answer.not_tested.is_empty())?;
    let shown = answer.not_tested.iter().map(|text| Phrase::new(words::sentence(text)));
    Some(Phrase::default().join(shown, ", "))
}

/// Whether any lane has any figure.
pub(crate) fn measured_anything(findings: &Findings) -> bool {
    findings.results.iter().any(|result| result.estimates.iter().any(|estimate| estimate.failure.is_none()))
}

/// Whether a result set lanes apart, or showed that they are level in something other than the disk.
pub(crate) fn told_something(result: &ResultFinding) -> bool {
    result.pairs.iter().any(|pair| match pair.verdict {
        Verdict::Faster | Verdict::Slower => true,
        Verdict::Tie => result.limit != Limit::Device,
        Verdict::Undecided | Verdict::None => false,
    })
}

/// Which lanes to take, and what sets the others apart from them, as much of it as has room.
fn choice(findings: &Findings, answer: &Answer, raced: usize, most: usize) -> Phrase {
    let chosen = |lane: &str| answer.choose.iter().any(|other| other == lane);
    let by_work = answer.reasons.iter().any(|reason| chosen(&reason.lane) && chosen(&reason.against));
    let said = words::answer::choice(&answer.choose, by_work, answer.reached);
    if answer.reasons.is_empty() {
        return match &answer.level {
            Some(Level::Undecided { because, ties }) => not_yet(findings, *because, ties),
            Some(Level::Unnamed) => said.say(words::answer::NO_NAMED_DIFFERENCE),
            Some(Level::Tie) if answer.choose.len() >= raced => said.say(words::answer::no_difference(findings.margin)),
            _ => said,
        };
    }
    let claims = claims(findings, answer);
    let subjects = subjects(answer, &claims);
    if most == usize::MAX {
        return with_reasons(answer, &claims, &said, &vec![REASONS_PER_LANE; subjects.len()], true);
    }
    // One reason of each lane first, then more of those that are chosen, because between them the reader chooses.
    let mut counts = vec![1; subjects.len()];
    let mut best = with_reasons(answer, &claims, &said, &counts, false);
    let mut order: Vec<usize> = (0..subjects.len()).collect();
    order.sort_by_key(|&at| !chosen(subjects[at]));
    for at in order {
        counts[at] += 1;
        let longer = with_reasons(answer, &claims, &said, &counts, false);
        match longer.columns() <= most {
            true => best = longer,
            false => counts[at] -= 1,
        }
    }
    best
}

/// No choice yet, and where the lanes are level; without the full stop.
fn not_yet(findings: &Findings, because: Undecided, ties: &[String]) -> Phrase {
    let mut titles = gathered(findings, ties);
    let more = titles.len().saturating_sub(TIES_NAMED);
    titles.truncate(TIES_NAMED);
    Phrase::new(words::answer::no_choice_but_ties(because, &titles, more))
}

/// The lanes that claims are told of, in the order in which they are.
fn subjects<'a>(answer: &Answer, claims: &[Claim<'a>]) -> Vec<&'a str> {
    let chosen = |lane: &str| answer.choose.iter().any(|other| other == lane);
    let mut subjects: Vec<&str> = Vec::new();
    for claim in claims {
        if !subjects.contains(&claim.subject) {
            subjects.push(claim.subject);
        }
    }
    // Why the only choice is the choice comes first; of several choices, first why the rest is none.
    let only = answer.choose.len() == 1;
    subjects.sort_by_key(|subject| if only { !chosen(subject) } else { chosen(subject) });
    subjects
}

/// The choice with so many reasons of each lane. `count_the_rest`: say how many more there are.
fn with_reasons(answer: &Answer, claims: &[Claim], said: &Phrase, counts: &[usize], count_the_rest: bool) -> Phrase {
    let only = if let [only] = answer.choose.as_slice() { Some(only.as_str()) } else { None };
    let mut said = said.clone();
    for (subject, &most) in subjects(answer, claims).into_iter().zip(counts) {
        let mut of_subject: Vec<&Claim> = claims.iter().filter(|claim| claim.subject == subject).collect();
        let sure = |claim: &Claim| claim.reason.at_least.unwrap_or(1.0);
        of_subject.sort_by(|x, y| sure(x).total_cmp(&sure(y)).then(x.reason.ratio.total_cmp(&y.reason.ratio)));
        let left_out = of_subject.len().saturating_sub(most);
        let brief = only == Some(subject);
        of_subject.truncate(most);
        said = if brief { said.say(": ") } else { said.say("; ").name(subject).say(" ") };
        said = said.and(words::answer::claims(&of_subject, brief));
        if left_out > 0 && count_the_rest {
            said = said.say(words::answer::and_more(left_out));
        }
    }
    said
}

/// The reasons, told as the verdict lines and tables tell them, with the same lane as reference, so
/// that a figure reads the same in both places.
fn claims<'a>(findings: &'a Findings, answer: &'a Answer) -> Vec<Claim<'a>> {
    let chosen = |lane: &str| answer.choose.iter().any(|other| other == lane);
    answer
        .reasons
        .iter()
        .map(|reason| {
            let of = |result: &&ResultFinding| result.workload == reason.workload && result.group == reason.group;
            let result = findings.results.iter().find(of);
            let table = operations::table_of(findings, &reason.workload);
            let reference = match table {
                Some(table) => Some(table.reference.as_str()),
                None => result.and_then(reference_of),
            };
            let gain = reference == Some(reason.lane.as_str());
            let (subject, other) = if gain { (&reason.against, &reason.lane) } else { (&reason.lane, &reason.against) };
            // A lane that was not chosen loses to what was: with one choice that needs no name.
            let plain = !gain && !chosen(subject) && chosen(other) && answer.choose.len() == 1;
            let metric = result.map_or("", |result| result.metric.as_str());
            let of_table = result.is_some_and(|result| result.section.is_some());
            let several = result.is_some_and(|result| facts::group_of(result, &findings.results).is_some());
            Claim { subject, other, gain, name_the_other: !plain, reason, metric, of_table, several }
        })
        .collect()
}

/// Why no lane can be chosen, in one sentence; the rest stands below the table.
fn brief_no_choice(findings: &Findings, answer: &Answer) -> Phrase {
    let results = || findings.results.iter().filter(|result| !result.pairs.is_empty());
    let all_at = |limit: Limit| results().all(|result| result.limit == limit);
    let open = answer.undecided.iter().map(|title| reason_of(findings, title));
    let reason = Undecided::of_most(open.chain(never_reached(findings)));
    match (answer.undecided.is_empty(), reason) {
        (false, reason) => Phrase::new(words::answer::no_choice_yet(reason.unwrap_or(Undecided::Noise))),
        _ if all_at(Limit::Device) => Phrase::new(words::answer::DISK_EVERYWHERE),
        _ => no_choice(findings, answer),
    }
}

/// Says honestly why no lane can be chosen.
fn no_choice(findings: &Findings, answer: &Answer) -> Phrase {
    let limit_of = |title: &String| findings.results.iter().find(|of| is_titled(of, title)).map(|of| of.limit);
    let telling_nothing = |of: &dyn Fn(Limit) -> bool| {
        let titles = answer.cannot_tell.iter().filter(|title| of(limit_of(title).unwrap_or(Limit::Unattributed)));
        gathered(findings, &titles.cloned().collect::<Vec<_>>())
    };
    let mut parts = Vec::new();
    let undecided = gathered(findings, &answer.undecided);
    if !undecided.is_empty() {
        parts.push(Phrase::new(words::answer::undecided_so_far(
            &undecided,
            &words::answer::settle(answer.settle, answer.disturbed),
        )));
    }
    for (titles, what) in [
        (telling_nothing(&|limit| limit == Limit::Device), words::answer::DISK_WAS_THE_LIMIT),
        (telling_nothing(&|limit| limit == Limit::Harness), words::answer::FAIRLANE_WAS_THE_LIMIT),
        (telling_nothing(&|limit| !is_no_lanes(limit)), words::answer::COULD_NOT_TELL),
    ] {
        if !titles.is_empty() {
            parts.push(Phrase::new(titles.join("; ")).say(what));
        }
    }
    parts.extend(
        without_verdict(findings, answer)
            .iter()
            .map(|(why, titles)| Phrase::new(words::answer::no_verdict_at(titles, why))),
    );
    if parts.is_empty() {
        let apart = !answer.not_ranked.is_empty();
        parts.push(Phrase::new(if apart {
            words::answer::NONE_MAY_BE_RANKED
        } else {
            words::answer::NO_VERDICTS_AT_ALL
        }));
    }
    let opening = if undecided.is_empty() { words::answer::NO_CHOICE } else { words::answer::NO_CHOICE_YET };
    Phrase::new(opening).join(parts, "; ").say(".")
}

/// Whether something else than the lanes was measured, which is said of the result as a whole.
fn is_no_lanes(limit: Limit) -> bool {
    matches!(limit, Limit::Device | Limit::Harness)
}

/// Titles of the results whose pairs have no verdict, gathered by reason. What keeps a lane from being
/// ranked at all is said of the lane, and not here.
fn without_verdict<'a>(findings: &'a Findings, answer: &Answer) -> Vec<(&'a str, Vec<String>)> {
    let apart = |lane: &String| answer.not_ranked.iter().any(|fact| fact.lanes.contains(lane));
    let mut reasons: Vec<(&str, Vec<String>)> = Vec::new();
    for result in findings.results.iter().filter(|result| !is_no_lanes(result.limit)) {
        let pairs = result.pairs.iter().filter(|pair| pair.verdict == Verdict::None && pair.ratio.is_some());
        let pairs = pairs.filter(|pair| !apart(&pair.a) && !apart(&pair.b));
        for why in pairs.filter_map(|pair| pair.why.as_deref()) {
            let title = match facts::group_of(result, &findings.results).filter(|_| result.section.is_none()) {
                Some(group) => words::sentence(&format!("{}: {group}", result.title)),
                None => words::sentence(&result.title),
            };
            match reasons.iter_mut().find(|(other, _)| *other == why) {
                Some((_, titles)) if titles.contains(&title) => {}
                Some((_, titles)) => titles.push(title),
                None => reasons.push((why, vec![title])),
            }
        }
    }
    reasons
}

fn failures<'a>(findings: &'a Findings, reasons: bool) -> Vec<Phrase> {
    let failed_at = |lane: &str| -> Vec<(String, &'a Sentence)> {
        let of = |result: &'a ResultFinding| {
            let reason = result.estimates.iter().find(|of| of.lane == lane)?.failed()?;
            Some((result.title.clone(), reason))
        };
        findings.results.iter().filter_map(of).collect()
    };
    let mut said = Vec::new();
    for lane in &findings.lanes {
        let failed = failed_at(&lane.name);
        if !reasons {
            let titles = distinct(&failed.iter().map(|(title, _)| title.clone()).collect::<Vec<_>>());
            said.extend((!titles.is_empty()).then(|| words::answer::failed_at(&lane.name, &titles, None)));
            continue;
        }
        let mut seen: Vec<&Sentence> = Vec::new();
        for (_, reason) in &failed {
            if seen.contains(reason) {
                continue;
            }
            seen.push(reason);
            let same = failed.iter().filter(|(_, other)| other == reason).map(|(title, _)| title.clone());
            let titles = distinct(&same.collect::<Vec<_>>());
            said.push(words::answer::failed_at(&lane.name, &titles, Some(reason)));
        }
    }
    said
}

/// Titles of results, those of one table of file operations as their number.
fn gathered(findings: &Findings, titles: &[String]) -> Vec<String> {
    gathered_as(findings, titles, &|title| title.to_owned())
}

/// The same, each of the others told so.
fn gathered_as(findings: &Findings, titles: &[String], told: &dyn Fn(&str) -> String) -> Vec<String> {
    let mut kept: Vec<String> = Vec::new();
    let table_of = |title: &String| {
        let is_step = |row: &OperationRow, table: &OperationsFinding| {
            title.strip_prefix(&*table.title).and_then(|rest| rest.strip_prefix(": ")) == Some(&*row.group)
        };
        findings.operations.iter().find(|table| table.rows.iter().any(|row| is_step(row, table)))
    };
    for title in titles {
        match table_of(title) {
            Some(table) => {
                let same = |other: &&String| table_of(other).is_some_and(|of| of.workload == table.workload);
                let count = titles.iter().filter(same).count();
                kept.push(words::operations::some_steps(&table.title, count, table.rows.len()));
            }
            None => kept.push(told(title)),
        }
    }
    distinct(&kept)
}

/// Texts without repetitions, shortened as titles are.
fn distinct(texts: &[String]) -> Vec<String> {
    let mut kept: Vec<String> = Vec::new();
    for text in texts {
        let text = words::sentence(text);
        if !kept.contains(&text) {
            kept.push(text);
        }
    }
    kept
}
