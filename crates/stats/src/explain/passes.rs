//! Why no pass looked at some of a race (method 7.1), and what would change that.

use crate::statements::{explain as statement, names, text};
use model::Sentence;
use model::record::{EndOutcome, Record};
use model::workload::{Schedule, Workload};

/// What a record's note begins with where the kernel refused to be looked at, and what is between the work and the reason
/// where some of it could not be.
const NOTHING: &str = "nothing is explained: ";
const NOT_OF: &str = " is not explained: ";
const NOT_ALL_OF: &str = "not all of ";
const ONLY_PARTLY: &str = " is explained: ";

/// A note of a race that its passes could not be done, or saw nothing; `reason`: the fact, then the remedy.
pub fn nothing_is_explained(reason: &str) -> String {
    format!("{NOTHING}{reason}")
}

/// The same of one work.
pub fn is_not_explained(title: &str, reason: &str) -> String {
    format!("{title}{NOT_OF}{reason}")
}

/// The same of some windows of one work.
pub fn is_partly_explained(title: &str, reason: &str) -> String {
    format!("{NOT_ALL_OF}{title}{ONLY_PARTLY}{reason}")
}

/// A note as a sentence, where it is one of these.
pub(crate) fn refusal(said: &str) -> Option<Sentence> {
    if let Some(reason) = said.strip_prefix(NOTHING) {
        return Some(statement::nothing_explained(text(reason)));
    }
    if let Some((title, reason)) = said.strip_prefix(NOT_ALL_OF).and_then(|rest| rest.split_once(ONLY_PARTLY)) {
        return Some(statement::partly_explained(text(title), text(reason)));
    }
    let (title, reason) = said.split_once(NOT_OF)?;
    Some(statement::work_not_explained(text(title), text(reason)))
}

/// Why work that was raced has no pass, in sentences; none where each has one.
pub(super) fn missing(record: &Record) -> Vec<Sentence> {
    let plan = &record.header.plan;
    let raced = |of: &&Workload| record.trials.iter().any(|trial| trial.workload == of.name);
    let is_seen = |of: &Workload| record.profiles.iter().any(|profile| profile.workload == of.name);
    let all: Vec<&Workload> = plan.workloads.iter().filter(raced).collect();
    let without: Vec<&Workload> = all.iter().copied().filter(|of| !is_seen(of)).collect();
    if without.is_empty() || plan.find_max.is_some() {
        return partly(record);
    }
    let noted: Vec<&str> = record.warnings.iter().map(String::as_str).filter(|said| refusal(said).is_some()).collect();
    if noted.iter().any(|said| said.starts_with(NOTHING)) {
        return noted.iter().filter_map(|said| refusal(said)).collect();
    }
    let guests: Vec<&str> =
        record.header.lanes.iter().filter(|lane| !lane.kernel.is_empty()).map(|lane| lane.name.as_str()).collect();
    let by_programs = |of: &Workload| matches!(of.traits().schedule(), Schedule::Programs(_));
    let is_noted = |of: &Workload| noted.iter().any(|said| said.starts_with(&is_not_explained(&of.title, "")));
    let mut said: Vec<Sentence> = noted.iter().filter_map(|said| refusal(said)).collect();
    if !guests.is_empty() && guests.len() == record.header.lanes.len() {
        if said.is_empty() {
            said.push(statement::guests_unseen());
        }
        return said;
    }
    let titles = |works: &[&Workload]| names(works.iter().map(|of| of.title.as_str()));
    let programs: Vec<&Workload> = without.iter().copied().filter(|of| by_programs(of) && !is_noted(of)).collect();
    if !programs.is_empty() {
        said.push(statement::programs_unseen(titles(&programs)));
    }
    let others: Vec<&Workload> = without.iter().copied().filter(|of| !by_programs(of) && !is_noted(of)).collect();
    let every = others.len() == all.len();
    said.extend((!others.is_empty()).then(|| match (plan.explain, record.end) {
        (false, _) => statement::no_passes(),
        (true, Some(EndOutcome::Complete)) if !plan.explain_in_time => statement::passes_saw_nothing(titles(&others)),
        (true, Some(EndOutcome::Complete)) if every => statement::no_time_for_passes(),
        (true, Some(EndOutcome::Complete)) => statement::no_time_for_passes_of(titles(&others)),
        (true, _) if every => statement::ended_before_passes(),
        (true, _) => statement::ended_before_passes_of(titles(&others)),
    }));
    said
}

/// What passes did not see of work that they looked at.
fn partly(record: &Record) -> Vec<Sentence> {
    let noted = record.warnings.iter().filter(|said| said.starts_with(NOT_ALL_OF));
    noted.filter_map(|said| refusal(said)).collect()
}
