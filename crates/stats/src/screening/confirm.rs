//! The race of a proposal against the default, put into the finding (method 9.8).

use crate::answer::title;
use crate::judge;
use crate::marks;
use crate::more_rounds;
use crate::series::{Scope, Series};
use model::findings::{
    Confirmation, ConfirmationOutcome, ConfirmedRow, Estimate, ExpectedGain, Findings, ResultFinding, ScreenedResult,
    ScreeningFinding, Shown, Undecided, Verdict,
};
use model::lane::Lane;
use model::record::{EndOutcome, Record};
use model::sentence::Weight;

/// CPU seconds in all rounds from which on a lane's share of the CPUs is told: a hundred of the ticks that count them.
const LEAST_CPU_SECONDS: f64 = 1.0;

/// A row with what decides about the proposal beside its verdict.
struct Judged {
    row: ConfirmedRow,
    /// Its verdict holds over the whole race.
    is_sure: bool,
    /// A gain of it confirms the proposal.
    counts: bool,
    /// Why it is undecided.
    undecided: Option<Undecided>,
}

impl Judged {
    /// Whether it confirms the proposal.
    fn gains(&self) -> bool {
        self.row.verdict == Verdict::Faster && self.counts && self.is_sure
    }
}

/// Puts the race that confirms a proposal into the finding: its first lane is the default, its second the proposal. Of a record
/// that is a screening itself or has no two lanes nothing is taken.
pub fn confirm(finding: &mut ScreeningFinding, confirmed: &Record) {
    let header = &confirmed.header;
    let raced: Vec<&Lane> = header.lanes.iter().filter(|lane| !lane.is_self).collect();
    let [default, proposal, ..] = &raced[..] else { return };
    if header.plan.screening.is_some() {
        return;
    }
    let Findings { results, mut warnings, .. } = judge::findings(confirmed);
    // What the machine is like is told of the screening.
    warnings.retain(|warning| warning.weight() < Weight::Circumstances);
    let lanes = [proposal.name.as_str(), default.name.as_str()];
    let of_workload = |of: &[ResultFinding]| {
        let series = of.first().map(|result| Series::new(confirmed, &result.workload));
        let row = |result: &ResultFinding| {
            let seconds = |lane| series.as_ref().map_or(0.0, |of| cpu_seconds(of, &result.group, lane));
            judged(&*finding, result, title(result, &results), (lanes, lanes.map(seconds)))
        };
        of.iter().map(row).collect::<Vec<Judged>>()
    };
    let rows: Vec<Judged> = results.chunk_by(|a, b| a.workload == b.workload).flat_map(of_workload).collect();
    let is_over = confirmed.end.is_some_and(EndOutcome::rounds_are_done);
    let outcome = outcome(&rows, is_over);
    let cannot_tell = outcome == ConfirmationOutcome::Open && is_over;
    let reasons = rows.iter().filter_map(|of| of.undecided).filter(|_| cannot_tell);
    finding.confirmation = Some(Confirmation {
        lane: proposal.name.clone(),
        default_lane: default.name.clone(),
        seed: header.seed,
        tuned: Vec::new(),
        counted: rows.iter().filter(|of| of.counts).count() as u32,
        gained: rows.iter().filter(|of| of.gains()).count() as u32,
        outcome,
        because: Undecided::of_most(reasons),
        unfinished: !is_over,
        disturbed: marks::disturbed(confirmed).is_some_and(|said| said.weight() == Weight::Choice),
        warnings,
        more: if cannot_tell { more_rounds::of_proposal(confirmed) } else { Vec::new() },
        rows: rows.into_iter().map(|of| of.row).collect(),
        commands: Vec::new(),
    });
}

/// CPU seconds of the whole system in all rounds of a lane that count.
fn cpu_seconds(series: &Series, group: &str, lane: &str) -> f64 {
    let of_lane = series.lanes.iter().filter(|of| of.lane.name == lane).flat_map(|of| of.group(group));
    of_lane.map(|(trial, of)| Scope::new(trial, of, &series.reading).cpu_seconds()).sum()
}

/// A result of the race, told of the proposal against the default. `lanes`: of both, with the CPU seconds of each.
fn judged(
    finding: &ScreeningFinding,
    result: &ResultFinding,
    title: String,
    (lanes, seconds): ([&str; 2], [f64; 2]),
) -> Judged {
    let is_it = |of: &&ScreenedResult| of.workload == result.workload && of.group == result.group;
    // As the screening's own tables call it.
    let title = finding.results.iter().find(is_it).map_or(title, |of| of.title.clone());
    let shown = Shown::from_lanes(result, lanes[0], lanes[1]);
    let number = |figure: f64| Some(figure).filter(|figure| figure.is_finite());
    let interval = shown.and_then(|of| of.interval).filter(|(low, high)| low.is_finite() && high.is_finite());
    let both = |figure: fn(&Estimate) -> Option<f64>| {
        let of_lane = |lane: &str| figure(result.estimates.iter().find(|of| of.lane == lane)?);
        Some([of_lane(lanes[0])?, of_lane(lanes[1])?])
    };
    // Two workloads may have one title.
    let is_of_it = |of: &&ExpectedGain| of.workload == result.workload && of.group == result.group;
    let expected = finding.proposal.expected.iter().find(is_of_it);
    let shares = both(|of| of.cpu_share);
    let little_cpu = shares.is_some() && seconds.iter().any(|seconds| *seconds < LEAST_CPU_SECONDS);
    let row = ConfirmedRow {
        workload: result.workload.clone(),
        group: result.group.clone(),
        expected: expected.map(|of| of.ratio),
        ratio: shown.and_then(|of| of.ratio).and_then(number),
        low: interval.map(|(low, _)| low),
        high: interval.map(|(_, high)| high),
        verdict: shown.map_or(Verdict::None, |of| of.verdict),
        cpu_shares: shares.filter(|_| !little_cpu),
        little_cpu,
        written_per_byte: both(|of| of.write_amplification),
        title,
    };
    // Of what tuning made of a proposal nothing is expected, and any figure may show its gain.
    let counts = row.expected.is_some() || finding.proposal.expected.is_empty();
    let undecided = shown.and_then(|of| of.undecided);
    Judged { row, is_sure: shown.is_some_and(|of| of.over_race.is_some()), counts, undecided }
}

/// What the rows come to. A gain has to hold over the whole race, where the screening expected one: of many rows that are
/// each right in 95 % some are wrong. A loss need not, because a gain with a price is none.
fn outcome(rows: &[Judged], is_over: bool) -> ConfirmationOutcome {
    let verdict = |of: &Judged| of.row.verdict;
    let gains = rows.iter().any(Judged::gains);
    let loses = rows.iter().any(|of| verdict(of) == Verdict::Slower);
    let tells = rows.iter().any(|of| of.counts && verdict(of) != Verdict::None);
    let is_open =
        |of: &Judged| verdict(of) == Verdict::Undecided || (verdict(of) == Verdict::Faster && of.counts && !of.is_sure);
    match (gains, loses) {
        _ if !is_over => ConfirmationOutcome::Open,
        (true, false) => ConfirmationOutcome::Confirmed,
        (true, true) => ConfirmationOutcome::Mixed,
        (false, false) if !tells || rows.iter().any(is_open) => ConfirmationOutcome::Open,
        (false, _) => ConfirmationOutcome::NotConfirmed,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ConfirmationOutcome::{Confirmed, Mixed, NotConfirmed, Open};
    use Verdict::{Faster, Slower, Tie, Undecided};

    /// Rows of these verdicts, each with whether it is sure and whether a gain of it counts.
    fn comes_to(rows: &[(Verdict, bool, bool)]) -> ConfirmationOutcome {
        let judged = |&(verdict, is_sure, counts): &(Verdict, bool, bool)| Judged {
            row: ConfirmedRow {
                workload: String::new(),
                title: String::new(),
                group: String::new(),
                expected: counts.then_some(1.1),
                ratio: None,
                low: None,
                high: None,
                verdict,
                cpu_shares: None,
                little_cpu: false,
                written_per_byte: None,
            },
            is_sure,
            counts,
            undecided: None,
        };
        let rows: Vec<Judged> = rows.iter().map(judged).collect();
        assert_eq!(outcome(&rows, false), Open, "a race that is not over decides nothing");
        outcome(&rows, true)
    }

    #[test]
    fn only_a_gain_that_was_expected_and_is_sure_confirms() {
        assert_eq!(comes_to(&[(Faster, true, true), (Undecided, false, false)]), Confirmed);
        assert_eq!(comes_to(&[(Faster, false, true), (Tie, false, false)]), Open);
        assert_eq!(comes_to(&[(Tie, false, true), (Faster, true, false)]), NotConfirmed);
    }

    #[test]
    fn any_loss_is_a_price_sure_or_not() {
        assert_eq!(comes_to(&[(Faster, true, true), (Slower, false, false)]), Mixed);
        assert_eq!(comes_to(&[(Faster, false, true), (Slower, false, false)]), NotConfirmed);
        assert_eq!(comes_to(&[(Undecided, false, true), (Slower, true, true)]), NotConfirmed);
    }

    #[test]
    fn what_is_not_known_is_open() {
        assert_eq!(comes_to(&[(Tie, false, true), (Undecided, false, false)]), Open);
        assert_eq!(comes_to(&[(Verdict::None, false, true), (Tie, false, false)]), Open);
        assert_eq!(comes_to(&[]), Open);
        assert_eq!(comes_to(&[(Tie, false, true), (Verdict::None, false, false)]), NotConfirmed);
    }
}
