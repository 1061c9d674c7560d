//! Where more rounds would tell more: of a screening that its time ended, and of a race of a proposal that is open.

use crate::answer::options_of;
use crate::judge;
use crate::screening;
use model::findings::{CutShort, ResultFinding, ScreeningFinding};
use model::lane::LaneSpec;
use model::plan::{LOOKS, Rounds};
use model::record::{EndOutcome, Record};
use model::trial::Outcome;
use model::workload::Workload;

/// What a record's screening found, and whether its time was up before its planned rounds; `None`: it holds none.
pub(crate) fn screening(record: &Record, results: &[ResultFinding]) -> Option<ScreeningFinding> {
    let mut finding = screening::among(record, results)?;
    finding.proposal.cut_short = cut_short(record);
    // What its time ended may be told by the rounds that are missing.
    finding.hidden_by_lanes &= finding.proposal.cut_short.is_none();
    Some(finding)
}

/// How many of the planned rounds were raced where the budget ended the race; `None`: all were, or something else ended
/// it.
fn cut_short(record: &Record) -> Option<CutShort> {
    let plan = &record.header.plan;
    let (Rounds::Fixed(planned), Some(_)) = (plan.rounds, plan.budget_seconds) else { return None };
    if !record.end.is_some_and(EndOutcome::rounds_are_done) {
        return None;
    }
    let raced = |workload: &Workload| {
        let trials = || record.trials.iter().filter(|trial| trial.workload == workload.name);
        // Where all lanes failed no time was missing.
        let is_able = trials().next().is_none() || trials().any(|trial| trial.outcome == Outcome::Ok);
        is_able.then(|| trials().map(|trial| trial.round).max().unwrap_or(0).min(planned))
    };
    let raced: Vec<u32> = plan.workloads.iter().filter_map(raced).collect();
    let (fewest, most) = (raced.iter().copied().min()?, raced.iter().copied().max()?);
    (fewest < planned).then_some(CutShort { fewest, most, planned })
}

/// The command that races a proposal against the default again, for longer: the one that should settle what is
/// undecided, or twice the rounds where nobody knows. Empty where the record has no command of Fairlane's.
pub(crate) fn of_proposal(confirmed: &Record) -> Vec<String> {
    let plan = &confirmed.header.plan;
    if plan.again().is_empty() {
        return Vec::new();
    }
    let findings = judge::findings(confirmed);
    let next = findings.answer.map(|answer| answer.next).unwrap_or_default();
    let mut words = vec!["fairlane".to_owned()];
    if next.first().is_some_and(|command| command == "race") {
        words.extend(next);
        return words;
    }
    words.push("race".to_owned());
    words.extend(plan.lanes.iter().map(LaneSpec::to_line));
    words.extend(options_of(&plan.command_line, 2 + plan.lanes.len()));
    let raced = findings.results.iter().map(|result| result.rounds).max().unwrap_or(0);
    words.extend(["--rounds".to_owned(), raced.saturating_mul(2).max(LOOKS[0]).to_string()]);
    words
}
