//! The answer as sentences, put together from what `stats` decided.

use crate::layout::Phrase;
use crate::operations;
use crate::statements::reference_of;
use crate::words::{self, answer::Claim};
use model::findings::{Answer, Findings, Limit, OperationRow, OperationsFinding, ResultFinding, Verdict};

/// Reasons that one lane is given; the rest stands in the figures.
const REASONS_PER_LANE: usize = 3;

/// The answer of a race: what to take, what the others cost, and what the race cannot say.
pub(crate) fn answer(findings: &Findings) -> Phrase {
    if let Some(search) = findings.searches.first() {
        return words::appenders::answer(search);
    }
    let Some(answer) = findings.answer.as_ref().filter(|_| measured_anything(findings)) else {
        return Phrase::of(words::answer::NOTHING_MEASURED);
    };
    let mut sentences = Vec::new();
    let raced = findings.lanes.iter().filter(|lane| !lane.is_self).count();
    let decided = findings.results.iter().any(told_something);
    if raced == 1 {
        let twice = findings.lanes.len() > 1;
        sentences.push(Phrase::of(if twice { words::answer::SAME_LANE_TWICE } else { words::answer::ONE_LANE }));
    } else if !decided || answer.choose.is_empty() {
        sentences.push(no_choice(findings, answer));
    } else {
        sentences.push(choice(findings, answer, raced).say("."));
        let titles = gathered(findings, &answer.cannot_tell);
        if !titles.is_empty() {
            sentences.push(Phrase::of(words::answer::CANNOT_TELL).say(titles.join(", ")).say("."));
        }
        let titles = gathered(findings, &answer.unsure);
        if !titles.is_empty() {
            sentences.push(Phrase::of(words::answer::UNSURE).say(titles.join(", ")).say("."));
        }
        let titles = gathered(findings, &answer.undecided);
        if !titles.is_empty() {
            let settle = words::answer::settle(answer.settle);
            sentences.push(Phrase::of(words::answer::UNDECIDED).say(titles.join(", ")).say(format!("; {settle}.")));
        }
    }
    if answer.different_disks {
        sentences.push(Phrase::of(words::answer::DIFFERENT_DISKS));
    }
    sentences.extend(words::answer::not_ranked(&answer.not_ranked).filter(|_| raced > 1));
    sentences.extend(failures(findings));
    if !answer.not_tested.is_empty() {
        let shown = answer.not_tested.iter().map(|text| Phrase::of(words::sentence(text)));
        sentences.push(Phrase::of(words::answer::NOT_TESTED).join(shown, ", ").say("."));
    }
    Phrase::default().join(sentences, " ")
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

fn choice(findings: &Findings, answer: &Answer, raced: usize) -> Phrase {
    let chosen = |lane: &str| answer.choose.iter().any(|other| other == lane);
    let by_work = answer.reasons.iter().any(|reason| chosen(&reason.lane) && chosen(&reason.against));
    let said = words::answer::choice(&answer.choose, by_work);
    if answer.reasons.is_empty() {
        let all = answer.choose.len() >= raced;
        return match all {
            true if !answer.unsure.is_empty() => said.say(words::answer::NO_SURE_DIFFERENCE),
            true => said.say(words::answer::no_difference(findings.margin)),
            false => said,
        };
    }
    let claims = claims(findings, answer);
    let mut subjects: Vec<&str> = Vec::new();
    for claim in &claims {
        if !subjects.contains(&claim.subject) {
            subjects.push(claim.subject);
        }
    }
    // Why the only choice is the choice comes first; of several choices, first why the rest is none.
    let only = if let [only] = answer.choose.as_slice() { Some(only.as_str()) } else { None };
    subjects.sort_by_key(|subject| if only.is_some() { !chosen(subject) } else { chosen(subject) });
    let mut said = said;
    for subject in subjects {
        let mut of_subject: Vec<&Claim> = claims.iter().filter(|claim| claim.subject == subject).collect();
        let sure = |claim: &Claim| claim.reason.at_least.unwrap_or(1.0);
        of_subject.sort_by(|x, y| sure(x).total_cmp(&sure(y)).then(x.reason.ratio.total_cmp(&y.reason.ratio)));
        let left_out = of_subject.len().saturating_sub(REASONS_PER_LANE);
        let brief = only == Some(subject);
        of_subject.truncate(REASONS_PER_LANE);
        said = if brief { said.say(": ") } else { said.say("; ").name(subject).say(" ") };
        said = said.and(words::answer::claims(&of_subject, brief));
        if left_out > 0 {
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
            // A lane that was not chosen loses to what was: with one or two choices that needs no name.
            let plain = !gain && !chosen(subject) && chosen(other) && answer.choose.len() <= 2;
            let metric = result.map_or("", |result| result.metric.as_str());
            let of_table = result.is_some_and(|result| result.section.is_some());
            Claim { subject, other, gain, name_the_other: !plain, reason, metric, of_table }
        })
        .collect()
}

/// Says honestly why no lane can be chosen.
fn no_choice(findings: &Findings, answer: &Answer) -> Phrase {
    // A title carries its group where the workload has several.
    let limit_of = |title: &String| {
        let named =
            |result: &&ResultFinding| *title == result.title || *title == format!("{}: {}", result.title, result.group);
        findings.results.iter().find(named).map(|result| result.limit)
    };
    let telling_nothing = |of: &dyn Fn(Limit) -> bool| {
        let titles = answer.cannot_tell.iter().filter(|title| of(limit_of(title).unwrap_or(Limit::Unattributed)));
        gathered(findings, &titles.cloned().collect::<Vec<_>>())
    };
    let mut parts = Vec::new();
    let undecided = gathered(findings, &answer.undecided);
    if !undecided.is_empty() {
        parts.push(Phrase::of(words::answer::undecided_so_far(&undecided, &words::answer::settle(answer.settle))));
    }
    for (titles, what) in [
        (telling_nothing(&|limit| limit == Limit::Device), words::answer::DISK_WAS_THE_LIMIT),
        (telling_nothing(&|limit| limit == Limit::Harness), words::answer::FAIRLANE_WAS_THE_LIMIT),
        (telling_nothing(&|limit| !is_no_lanes(limit)), words::answer::COULD_NOT_TELL),
    ] {
        if !titles.is_empty() {
            parts.push(Phrase::of(titles.join(", ")).say(what));
        }
    }
    parts.extend(
        without_verdict(findings, answer)
            .iter()
            .map(|(why, titles)| Phrase::of(words::answer::no_verdict_at(titles, why))),
    );
    if parts.is_empty() {
        let apart = !answer.not_ranked.is_empty();
        parts.push(Phrase::of(if apart {
            words::answer::NONE_MAY_BE_RANKED
        } else {
            words::answer::NO_VERDICTS_AT_ALL
        }));
    }
    let opening = if undecided.is_empty() { words::answer::NO_CHOICE } else { words::answer::NO_CHOICE_YET };
    Phrase::of(opening).join(parts, "; ").say(".")
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
            let title = words::sentence(&result.title);
            match reasons.iter_mut().find(|(other, _)| *other == why) {
                Some((_, titles)) if titles.contains(&title) => {}
                Some((_, titles)) => titles.push(title),
                None => reasons.push((why, vec![title])),
            }
        }
    }
    reasons
}

fn failures(findings: &Findings) -> Vec<Phrase> {
    let failed_at = |lane: &str| -> Vec<String> {
        let titles = findings.results.iter().filter(|result| {
            result.estimates.iter().any(|estimate| estimate.lane == lane && estimate.failed().is_some())
        });
        distinct(&titles.map(|result| result.title.clone()).collect::<Vec<_>>())
    };
    let lanes = findings.lanes.iter().map(|lane| (lane, failed_at(&lane.name)));
    lanes
        .filter(|(_, titles)| !titles.is_empty())
        .map(|(lane, titles)| words::answer::failed_at(&lane.name, &titles))
        .collect()
}

/// Titles of results, those of one table of file operations as their number.
fn gathered(findings: &Findings, titles: &[String]) -> Vec<String> {
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
            None => kept.push(title.clone()),
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
