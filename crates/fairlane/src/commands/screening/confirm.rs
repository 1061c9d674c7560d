//! The race of a proposal against the default: its plan, where its record lies, and whose it is.

use super::{levels, tune};
use crate::terminal;
use crate::{owned, state};
use levels::Combination;
use model::findings::{Findings, ScreeningFinding};
use model::lane::LaneSpec;
use model::plan::{Plan, Rounds};
use model::record::Record;
use model::text::escaped_path;
use std::path::{Path, PathBuf};

/// What stands behind the stem of the record's name.
pub const CONFIRMED: &str = "confirmed";
/// What stands there of the races of tuning, with a number behind it.
pub const TUNED: &str = "tune";
/// What the lane of the proposal is called.
pub const PROPOSAL: &str = "proposal";
/// Options of `screen` with a value that a race of its lanes has not, or has another one of.
const OF_A_SCREENING: [&str; 6] = ["--option", "--without", "--tune", "--rounds", "--budget", "--seed"];

/// How long a race of some lanes of a screening goes on.
#[derive(Debug, Clone, Copy)]
pub struct Length {
    /// Its rounds.
    pub rounds: Rounds,
    /// Its seconds; `None`: as many as the rounds take.
    pub budget: Option<f64>,
}

/// The record of a race that follows from a screening's: STEM-confirmed.jsonl.
pub fn beside(record: &Path, what: &str) -> PathBuf {
    let mut name = record.file_stem().unwrap_or_default().to_owned();
    name.push(format!("-{what}.jsonl"));
    record.with_file_name(name)
}

/// The lane that was screened, where its runs live; `None`: nobody wrote it so on a command line.
pub fn base(plan: &Plan) -> Option<LaneSpec> {
    let mut base: LaneSpec = plan.screening.as_ref()?.base.parse().ok()?;
    base.venue = plan.lanes.first()?.venue.clone();
    Some(base)
}

/// The levels of the proposal.
pub fn proposed(finding: &ScreeningFinding) -> Combination {
    let is_taken = |name: &String| finding.proposal.factors.contains(name);
    finding.factors.iter().map(|factor| usize::from(is_taken(&factor.name))).collect()
}

/// An ordinary race of some lanes: the work, the place and the size of the screening, and an order of its own.
pub fn plan(screened: &Plan, lanes: Vec<LaneSpec>, length: Length, seed: u64) -> Plan {
    let lines = lanes.iter().map(LaneSpec::to_line).collect();
    let command_line = command_line(screened, lines, length, Some(seed));
    Plan {
        screening: None,
        lanes,
        rounds: length.rounds,
        budget_seconds: length.budget,
        seed,
        command_line,
        ..screened.clone()
    }
}

/// The command that runs such a race. `seed`: absent where it is not known yet.
pub fn command_line(screened: &Plan, lanes: Vec<String>, length: Length, seed: Option<u64>) -> Vec<String> {
    let mut line = vec!["fairlane".to_owned(), "race".to_owned()];
    line.extend(lanes);
    // Behind `fairlane screen LANE`.
    let mut words = screened.command_line.iter().skip(3);
    while let Some(word) = words.next() {
        if OF_A_SCREENING.contains(&word.as_str()) {
            words.next();
        } else if word != "--no-confirm" {
            line.push(word.clone());
        }
    }
    if let Rounds::Fixed(rounds) = length.rounds {
        line.extend(["--rounds".to_owned(), rounds.to_string()]);
    }
    line.extend(length.budget.iter().flat_map(|seconds| ["--budget".to_owned(), format!("{seconds:.0}s")]));
    line.extend(seed.iter().flat_map(|seed| ["--seed".to_owned(), seed.to_string()]));
    line
}

/// Puts a confirmation into what a screening found. `false`: the record is not the race of its proposal, or of what tuning
/// made of that, against its default, and is left out.
pub fn put_in(finding: &mut ScreeningFinding, screened: &Record, confirmed: &Record) -> bool {
    let Some(combination) = raced(finding, screened, confirmed) else { return false };
    let is_tuned = combination != proposed(finding);
    if is_tuned {
        // What the screening expects is of its own proposal.
        finding.proposal.expected.clear();
    }
    stats::screening::confirm(finding, confirmed);
    if let Some(confirmation) = finding.confirmation.as_mut().filter(|_| is_tuned) {
        let words = levels::in_words(&finding.factors, &combination);
        confirmation.lane = format!("{} as tuned ({words})", confirmation.lane);
    }
    true
}

/// The combination that a record races against the screening's default in the screening's work; `None`: it is none of its.
pub fn raced(finding: &ScreeningFinding, screened: &Record, confirmed: &Record) -> Option<Combination> {
    let (of, plan) = (&screened.header.plan, &confirmed.header.plan);
    let base = base(of)?;
    let [default, lane] = plan.lanes.as_slice() else { return None };
    let alike = of.lanes.first() == Some(default) && of.workloads == plan.workloads && of.lane_size == plan.lane_size;
    let is_it = |combination: &Combination| {
        levels::lane(&base, PROPOSAL, &finding.factors, combination).is_ok_and(|made| made == *lane)
    };
    std::iter::once(proposed(finding)).chain(tune::candidates(finding)).filter(|_| alike).find(is_it)
}

/// Puts the confirmation that lies beside a screening's record into its findings; what lies there and is none is said on
/// standard error.
pub fn put_in_beside(findings: &mut Findings, screened: &Record, path: &Path) {
    let Some(finding) = &mut findings.screening else { return };
    let file = beside(path, CONFIRMED);
    if !owned::metadata(&file).is_ok_and(|found| found.is_file()) {
        return;
    }
    match state::load(&file) {
        Ok(confirmed) => {
            if !put_in(finding, screened, &confirmed) {
                terminal::say!(
                    "{}: it is not the race of this screening's proposal against its default, and is left out",
                    escaped_path(&file)
                );
            }
        }
        Err(failure) => terminal::say!("the confirmation is left out: {}", failure.message),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_follows_from_a_screening_lies_beside_its_record() {
        for (record, confirmed) in [
            ("r.jsonl", "r-confirmed.jsonl"),
            ("/a/b.c.jsonl", "/a/b.c-confirmed.jsonl"),
            ("./record", "./record-confirmed.jsonl"),
        ] {
            assert_eq!(beside(Path::new(record), CONFIRMED), Path::new(confirmed));
        }
    }

    #[test]
    fn the_command_of_a_confirmation_has_the_work_of_the_screening_and_nothing_of_its_design() {
        let mut plan = Record::parse(include_str!("../../../tests/fixtures/schema1.jsonl")).unwrap().header.plan;
        let typed = "fairlane screen xfs --suite quick --workload commit --option logbsize=32k|256k --without lazy-count \
                     --tune 600s --no-confirm --on /mnt --lane-size 1GiB --budget 3600s --rounds 4 --margin 5% --seed 7";
        plan.command_line = typed.split_whitespace().map(str::to_owned).collect();
        let lanes = vec!["default=xfs".to_owned(), "proposal=xfs,logbsize=256k".to_owned()];
        let length = Length { rounds: Rounds::Auto, budget: Some(900.0) };
        assert_eq!(
            command_line(&plan, lanes, length, Some(8)).join(" "),
            "fairlane race default=xfs proposal=xfs,logbsize=256k --suite quick --workload commit --on /mnt --lane-size 1GiB \
             --margin 5% --budget 900s --seed 8"
        );
    }
}
