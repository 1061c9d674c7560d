//! The race of a proposal against the default, put into the finding (method 9.8).

use crate::answer::title;
use crate::judge;
use model::findings::{
    Confirmation, ConfirmationOutcome, ConfirmedRow, ResultFinding, ScreeningFinding, Shown, Verdict,
};
use model::lane::Lane;
use model::record::Record;

/// Puts the race that confirms a proposal into the finding: its first lane is the default, its second the proposal. Of a record
/// that is a screening itself or has no two lanes nothing is taken.
pub fn confirm(finding: &mut ScreeningFinding, confirmed: &Record) {
    let header = &confirmed.header;
    let raced: Vec<&Lane> = header.lanes.iter().filter(|lane| !lane.is_self).collect();
    let [default, proposal, ..] = &raced[..] else { return };
    if header.plan.screening.is_some() {
        return;
    }
    let results = judge::findings(confirmed).results;
    let lanes = [proposal.name.as_str(), default.name.as_str()];
    let row = |result: &ResultFinding| row(&*finding, result, title(result, &results), lanes);
    let rows: Vec<ConfirmedRow> = results.iter().map(row).collect();
    finding.confirmation = Some(Confirmation {
        lane: proposal.name.clone(),
        default_lane: default.name.clone(),
        seed: header.seed,
        outcome: outcome(&rows),
        rows,
    });
}

/// A result of the race, told of the proposal against the default.
fn row(finding: &ScreeningFinding, result: &ResultFinding, title: String, lanes: [&str; 2]) -> ConfirmedRow {
    let shown = Shown::from_lanes(result, lanes[0], lanes[1]);
    let number = |figure: f64| Some(figure).filter(|figure| figure.is_finite());
    let interval = shown.and_then(|of| of.interval).filter(|(low, high)| low.is_finite() && high.is_finite());
    let cpu = |lane: &str| result.estimates.iter().find(|of| of.lane == lane)?.cpu_share;
    let expected = finding.proposal.expected.iter().find(|of| of.title == title);
    ConfirmedRow {
        expected: expected.map(|of| of.ratio),
        ratio: shown.and_then(|of| of.ratio).and_then(number),
        low: interval.map(|(low, _)| low),
        high: interval.map(|(_, high)| high),
        verdict: shown.map_or(Verdict::None, |of| of.verdict),
        cpu_shares: cpu(lanes[0]).zip(cpu(lanes[1])).map(|(proposal, default)| [proposal, default]),
        title,
    }
}

/// What the rows come to: worse in any row is no gain without a price, sure over the whole race or not.
fn outcome(rows: &[ConfirmedRow]) -> ConfirmationOutcome {
    let any = |verdict: Verdict| rows.iter().any(|row| row.verdict == verdict);
    match (any(Verdict::Faster), any(Verdict::Slower)) {
        (true, false) => ConfirmationOutcome::Confirmed,
        (true, true) => ConfirmationOutcome::Mixed,
        (false, _) => ConfirmationOutcome::NotConfirmed,
    }
}
