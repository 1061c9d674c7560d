//! Screenings whose time was too short, and races of proposals that cannot tell yet.

use crate::common::{lane, record, run};
use crate::screened::{Noise, commit, found, options, race};
use model::findings::{Confirmation, ConfirmationOutcome, CutShort};
use model::plan::Rounds;
use model::record::{EndOutcome, Record};
use model::trial::Outcome;
use stats::{judge, screening};

/// Options that do nothing.
fn nothing(_: &[bool]) -> f64 {
    0.0
}

#[test]
fn a_screening_that_its_time_ended_tells_how_many_rounds_were_raced() {
    let mut of = race(3, 2, Noise::white(0.01), 1, &nothing);
    let cut = |of: &Record| judge::findings(of).screening.unwrap().proposal.cut_short;
    assert_eq!(cut(&of), None, "all that were planned");
    of.header.plan.rounds = Rounds::Fixed(6);
    assert_eq!(cut(&of), Some(CutShort { fewest: 2, most: 2, planned: 6 }));
    of.header.plan.budget_seconds = None;
    assert_eq!(cut(&of), None, "there was no time to be up");
    of.header.plan.budget_seconds = Some(60.0);
    of.end = Some(EndOutcome::Interrupted);
    assert_eq!(cut(&of), None, "it may go on");
    of.end = Some(EndOutcome::Complete);
    for trial in &mut of.trials {
        trial.outcome = Outcome::Failed;
        trial.groups.clear();
    }
    assert_eq!(cut(&of), None, "more time would not have helped");
    of.trials.clear();
    assert_eq!(cut(&of), Some(CutShort { fewest: 0, most: 0, planned: 6 }));
    // Whoever has a larger budget advised is not told that no rounds may help.
    let mut apart = race(1, 6, Noise { of_lanes: 0.05, ..Noise::white(0.002) }, 40, &nothing);
    let is_hidden = |of: &Record| judge::findings(of).screening.unwrap().hidden_by_lanes;
    assert!(is_hidden(&apart));
    (apart.header.plan.rounds, apart.header.plan.budget_seconds) = (Rounds::Fixed(12), Some(60.0));
    assert!(!is_hidden(&apart) && cut(&apart).is_some());
}

#[test]
fn too_few_rounds_of_a_race_that_is_over_take_a_screening_anew() {
    for rounds in [0, 1] {
        let why = found(&race(3, rounds, Noise::white(0.01), 1, &nothing)).results.remove(0).unknown.unwrap();
        // A race that never began says so.
        assert_eq!(why.contains("screen again with more --rounds or a larger --budget"), rounds > 0, "{why}");
    }
}

#[test]
fn a_race_of_the_proposal_that_is_over_and_cannot_tell_names_the_one_that_may() {
    let screened = found(&race(5, 6, Noise::white(0.01), 12, &options(&[(0, 1.5)])));
    let confirmed = |rates: [f64; 2], deviation: f64, end: EndOutcome| -> Confirmation {
        let mut race = record(vec![lane("default"), lane("proposal")], vec![commit()], Rounds::Fixed(3), false);
        (race.header.seed, race.end) = (99, Some(end));
        run(&mut race, 3, &rates, deviation, 13);
        let mut of = screened.clone();
        screening::confirm(&mut of, &race);
        of.confirmation.unwrap()
    };
    let over = confirmed([1000.0, 1060.0], 0.1, EndOutcome::Complete);
    assert_eq!((over.outcome, over.unfinished), (ConfirmationOutcome::Open, false));
    assert_eq!(over.more[..2], ["fairlane", "race"]);
    assert!(over.more.iter().any(|word| ["--rounds", "--budget"].contains(&word.as_str())), "{:?}", over.more);
    let running = confirmed([1000.0, 1060.0], 0.1, EndOutcome::Interrupted);
    assert_eq!((running.outcome, running.unfinished), (ConfirmationOutcome::Open, true));
    assert!(running.more.is_empty(), "it is gone on with: {:?}", running.more);
    let told = confirmed([1000.0, 100.0], 0.001, EndOutcome::Complete);
    assert_eq!((told.outcome, told.more.len()), (ConfirmationOutcome::NotConfirmed, 0));
}
