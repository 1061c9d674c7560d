//! The answer as sentences: what `stats` decided and gathered, put into words.

use crate::facts;
use crate::layout::Phrase;
use crate::screening;
use crate::words::{self, answer::Claim};
use model::findings::{
    Answer, Choice, Findings, LaneClaims, Limit, OpenWork, OperationsFinding, ResultFinding, Undecided, Work,
};

/// Results named that tie, where others are undecided.
const TIES_NAMED: usize = 3;
/// Columns that the answer in one sentence may take: little more than two lines of a terminal of 100.
const SENTENCE_COLUMNS: usize = 200;

/// The answer in one sentence.
pub(crate) fn sentence(findings: &Findings) -> Phrase {
    let said = match (&findings.conclusion.choice, &findings.answer) {
        (Choice::Searched, _) => findings.searches.first().map(words::appenders::answer).unwrap_or_default(),
        (Choice::Screened, _) => findings.screening.as_ref().map(screening::answer).unwrap_or_default(),
        (Choice::Nothing, _) | (_, None) => Phrase::new(words::answer::nothing_measured(&findings.outcome)),
        (Choice::Twice, _) => Phrase::new(words::answer::SAME_LANE_TWICE),
        (Choice::Alone, _) if findings.lanes.iter().all(|lane| lane.venue == model::kinds::foreign::VENUE) => {
            Phrase::new(words::answer::ONE_IMPORTED)
        }
        (Choice::Alone, _) => Phrase::new(words::answer::ONE_LANE),
        (Choice::NoneYet { because }, _) => Phrase::new(words::answer::no_choice_yet(*because)),
        (Choice::None { disk_everywhere: true }, _) => Phrase::new(words::answer::DISK_EVERYWHERE),
        (Choice::None { .. }, Some(answer)) => no_choice(findings, answer),
        (Choice::Open { because, ties }, _) => not_yet(findings, *because, ties).say("."),
        (Choice::Unnamed, Some(answer)) => lanes(answer, false).say(words::answer::NO_NAMED_DIFFERENCE).say("."),
        (Choice::Level, Some(answer)) => {
            lanes(answer, false).say(words::answer::no_difference(findings.margin)).say(".")
        }
        (Choice::ByWork, Some(answer)) => chosen(findings, answer, &lanes(answer, true)).say("."),
        (Choice::Chosen, Some(answer)) => chosen(findings, answer, &lanes(answer, false)).say("."),
    };
    Phrase::default().join(std::iter::once(said).chain(disturbed(findings)), " ")
}

fn lanes(answer: &Answer, by_work: bool) -> Phrase {
    words::answer::choice(&answer.choose, by_work, answer.reached)
}

/// What is to be known of a choice or of its reasons that rounds showed which other programs disturbed.
fn disturbed(findings: &Findings) -> Option<Phrase> {
    let rests_on_reasons =
        matches!(findings.conclusion.choice, Choice::ByWork | Choice::Chosen) && !findings.conclusion.claims.is_empty();
    let disturbed = findings.answer.as_ref().is_some_and(|answer| answer.disturbed);
    (rests_on_reasons && disturbed).then(|| Phrase::new(words::answer::DISTURBED))
}

/// The answer where anything was measured.
fn answer_of(findings: &Findings) -> Option<&Answer> {
    findings.answer.as_ref().filter(|_| findings.conclusion.choice.is_measured())
}

/// What this race leaves open, a sentence each: what is undecided and the one remedy, what is not sure, and where the
/// lanes could not be told apart.
pub(crate) fn open(findings: &Findings) -> Vec<Phrase> {
    let conclusion = &findings.conclusion;
    let Some(answer) = answer_of(findings).filter(|_| conclusion.choice.is_between_lanes()) else { return Vec::new() };
    let mut sentences: Vec<Phrase> = undecided(findings, answer).into_iter().collect();
    for (works, what) in
        [(&conclusion.unsure, words::answer::UNSURE), (&conclusion.cannot_tell, words::answer::CANNOT_TELL)]
    {
        let titles = titles(findings, works);
        if !titles.is_empty() {
            sentences.push(Phrase::new(what).say(titles.join("; ")).say("."));
        }
    }
    sentences
}

/// `Too noisy: a, b; out of time: c; --rounds 36 (about 6 min) should settle it.`
fn undecided(findings: &Findings, answer: &Answer) -> Option<Phrase> {
    let part = |of: &OpenWork| words::answer::undecided(of.because, &titles(findings, &of.works).join("; "));
    let parts: Vec<String> = findings.conclusion.open.iter().map(part).collect();
    (!parts.is_empty())
        .then(|| Phrase::new(words::answer::undecided_and_remedy(&parts, answer.settle, answer.disturbed)))
}

/// What has to be known before the answer is taken: lanes on other disks, lanes that promise less, lanes that failed.
pub(crate) fn caveats(findings: &Findings) -> Vec<Phrase> {
    let of_options = || findings.screening.iter().filter_map(|of| of.raced.as_deref());
    let Some(answer) = answer_of(findings) else {
        return of_options().map(words::answer::said_of_the_ground).collect();
    };
    let several = findings.conclusion.choice.is_between_lanes();
    let mut sentences = Vec::new();
    if answer.different_disks {
        sentences.push(Phrase::new(words::answer::DIFFERENT_DISKS));
    }
    sentences.extend(answer.cached_disk.as_deref().map(words::answer::said_of_the_ground));
    sentences.extend(words::answer::not_ranked(&answer.not_ranked).filter(|_| several));
    sentences.extend(failures(findings));
    sentences.extend(answer.raced.as_deref().map(words::answer::said_of_the_ground));
    sentences
}

fn failures(findings: &Findings) -> impl Iterator<Item = Phrase> {
    let table = |table: &OperationsFinding, _| table.title.clone();
    let lanes = findings.conclusion.failed.iter();
    lanes.flat_map(|of| of.reasons.iter().map(move |failed| (&of.lane, failed))).map(move |(lane, failed)| {
        let titles = named(findings, &failed.works, &|result| result.title.clone(), &table);
        words::answer::failed_at(lane, &titles, &failed.reason)
    })
}

/// What was not tested, as a list.
pub(crate) fn untested_list(findings: &Findings) -> Option<Phrase> {
    let of_lanes = answer_of(findings).into_iter().flat_map(|answer| &answer.not_tested);
    let of_options = findings.screening.iter().flat_map(|of| &of.not_tested);
    let shown: Vec<Phrase> = of_lanes.chain(of_options).map(|text| Phrase::new(words::sentence(text))).collect();
    (!shown.is_empty()).then(|| Phrase::default().join(shown, ", "))
}

/// Which lanes to take, and what sets the others apart from them, as much of it as has room.
fn chosen(findings: &Findings, answer: &Answer, said: &Phrase) -> Phrase {
    let lanes = &findings.conclusion.claims;
    // One reason of each lane first, then more of those that are chosen, because between them the reader chooses.
    let mut counts = vec![1; lanes.len()];
    let mut best = with_reasons(findings, answer, said, &counts);
    let mut order: Vec<usize> = (0..lanes.len()).collect();
    order.sort_by_key(|&at| !answer.choose.contains(&lanes[at].lane));
    for at in order {
        counts[at] += 1;
        let longer = with_reasons(findings, answer, said, &counts);
        match longer.columns() <= SENTENCE_COLUMNS {
            true => best = longer,
            false => counts[at] -= 1,
        }
    }
    best
}

/// No choice yet, and where the lanes are level; without the full stop.
fn not_yet(findings: &Findings, because: Undecided, ties: &[Work]) -> Phrase {
    let mut titles = titles(findings, ties);
    let more = titles.len().saturating_sub(TIES_NAMED);
    titles.truncate(TIES_NAMED);
    Phrase::new(words::answer::no_choice_but_ties(because, &titles, more))
}

/// The choice with so many reasons of each lane.
fn with_reasons(findings: &Findings, answer: &Answer, said: &Phrase, counts: &[usize]) -> Phrase {
    let only = if let [only] = answer.choose.as_slice() { Some(only) } else { None };
    let mut said = said.clone();
    for (of, &most) in findings.conclusion.claims.iter().zip(counts) {
        let brief = only == Some(&of.lane);
        let claims: Vec<Claim> = claims(findings, answer, of).take(most).collect();
        said = if brief { said.say(": ") } else { said.say("; ").name(&of.lane).say(" ") };
        said = said.and(words::answer::claims(&claims, brief));
    }
    said
}

/// What sets one lane apart, with what wording it takes.
fn claims<'a>(findings: &'a Findings, answer: &'a Answer, of: &'a LaneClaims) -> impl Iterator<Item = Claim<'a>> {
    let chosen = |lane: &String| answer.choose.contains(lane);
    of.claims.iter().filter_map(move |claim| {
        let result = claim.result.and_then(|place| findings.results.get(place as usize));
        // A lane that was not chosen loses to what was: with one choice that needs no name.
        let plain = !claim.gain && !chosen(&of.lane) && chosen(&claim.against) && answer.choose.len() == 1;
        Some(Claim {
            other: &claim.against,
            gain: claim.gain,
            name_the_other: !plain,
            reason: answer.reasons.get(claim.reason as usize)?,
            metric: result.map_or("", |result| result.metric.as_str()),
            of_table: result.is_some_and(|result| result.section.is_some()),
            several: result.is_some_and(|result| facts::group_of(result, &findings.results).is_some()),
        })
    })
}

/// Says honestly why no lane can be chosen.
fn no_choice(findings: &Findings, answer: &Answer) -> Phrase {
    let mut parts = Vec::new();
    for (limit, what) in [
        (Limit::Device, words::answer::DISK_WAS_THE_LIMIT),
        (Limit::Harness, words::answer::FAIRLANE_WAS_THE_LIMIT),
        (Limit::Cache, words::answer::COULD_NOT_TELL),
    ] {
        let limited = findings.conclusion.limited.iter().find(|of| of.limit == limit);
        parts.extend(limited.map(|of| Phrase::new(titles(findings, &of.works).join("; ")).say(what)));
    }
    let result = |result: &ResultFinding| match facts::group_of(result, &findings.results)
        .filter(|_| result.section.is_none())
    {
        Some(group) => format!("{}: {group}", result.title),
        None => result.title.clone(),
    };
    parts.extend(findings.conclusion.no_verdict.iter().map(|of| {
        let titles = named(findings, &of.works, &result, &|table, _| table.title.clone());
        Phrase::new(words::answer::no_verdict_at(&titles, &of.why))
    }));
    if parts.is_empty() {
        let apart = !answer.not_ranked.is_empty();
        parts.push(Phrase::new(if apart {
            words::answer::NONE_MAY_BE_RANKED
        } else {
            words::answer::NO_VERDICTS_AT_ALL
        }));
    }
    Phrase::new(words::answer::NO_CHOICE).join(parts, "; ").say(".")
}

/// Titles of pieces of work, each once: with the group where the workload has several, steps of a table as their number.
fn titles(findings: &Findings, works: &[Work]) -> Vec<String> {
    let result = |result: &ResultFinding| match facts::group_of(result, &findings.results) {
        Some(_) => format!("{}: {}", result.title, result.group),
        None => result.title.clone(),
    };
    let steps = |table: &OperationsFinding, count: usize| match table.rows.len() {
        1 => table.title.clone(),
        all => words::operations::some_steps(&table.title, count, all),
    };
    named(findings, works, &result, &steps)
}

/// Pieces of work by names of results and of so many steps of a table, shortened as titles are, each once.
fn named(
    findings: &Findings,
    works: &[Work],
    named: &dyn Fn(&ResultFinding) -> String,
    steps: &dyn Fn(&OperationsFinding, usize) -> String,
) -> Vec<String> {
    let result = |place: u32| findings.results.get(place as usize);
    let name = |work: &Work| match work {
        Work::Result { result: place } => result(*place).map(named),
        Work::Pairs { result: place, pairs } => result(*place).map(|result| {
            let pairs = pairs.iter().filter_map(|&place| result.pairs.get(place as usize));
            let pairs: Vec<(&str, &str)> = pairs.map(|pair| (pair.a.as_str(), pair.b.as_str())).collect();
            words::answer::these_pairs(&words::sentence(&named(result)), &pairs)
        }),
        Work::Steps { table, count } => {
            findings.operations.get(*table as usize).map(|table| steps(table, *count as usize))
        }
    };
    let mut kept: Vec<String> = Vec::new();
    for name in works.iter().filter_map(name) {
        let name = words::sentence(&name);
        if !kept.contains(&name) {
            kept.push(name);
        }
    }
    kept
}
