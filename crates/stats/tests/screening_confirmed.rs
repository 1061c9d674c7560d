//! What the race of a proposal is told of, work by work.

use crate::common::sample::Normal;
use crate::common::{io, lane, record, run};
use crate::screened::{Noise, commit, empty, found, measure, options, race};
use model::findings::{ConfirmationOutcome, Undecided};
use model::plan::Rounds;
use model::workload::{Pattern, Workload};
use stats::screening;

#[test]
fn a_row_is_of_the_work_that_was_screened_whatever_that_is_called() {
    let mut screened = found(&race(5, 6, Noise::white(0.01), 12, &options(&[(0, 1.5)])));
    let expected = screened.proposal.expected[0].ratio;
    for title in [&mut screened.results[0].title, &mut screened.proposal.expected[0].title] {
        "saving 4 KiB".clone_into(title);
    }
    let mut confirmed = record(vec![lane("default"), lane("proposal")], vec![commit()], Rounds::Fixed(8), false);
    confirmed.header.seed = 99;
    run(&mut confirmed, 8, &[1000.0, 1480.0], 0.005, 13);
    screening::confirm(&mut screened, &confirmed);
    let (row, of) = (&screened.confirmation.as_ref().unwrap().rows[0], &screened.results[0]);
    assert_eq!((&row.workload, &row.group, &row.title), (&of.workload, &of.group, &of.title));
    assert_eq!(row.expected, Some(expected));
}

#[test]
fn a_gain_is_expected_of_the_work_that_showed_it_though_other_work_has_the_same_title() {
    let reads = Workload { title: commit().title, ..io("random-read", Pattern::RandRead, 1, 0) };
    let (mut race, mut noise) = (empty(5, 6, vec![commit(), reads.clone()]), Normal::new(12));
    measure(&mut race, &commit(), 6, Noise::white(0.01), &mut noise, &options(&[(0, 1.5)]));
    measure(&mut race, &reads, 6, Noise::white(0.01), &mut noise, &|_| 0.0);
    let mut screened = found(&race);
    let [expected] = screened.proposal.expected.as_slice() else { panic!("one figure: {:#?}", screened.proposal) };
    assert_eq!(expected.workload, "commit");
    let expected = expected.ratio;
    // The work that was expected to gain does not, and the other one does.
    let mut confirmed = record(vec![lane("default"), lane("proposal")], vec![commit()], Rounds::Fixed(8), false);
    let mut better = record(vec![lane("default"), lane("proposal")], vec![reads.clone()], Rounds::Fixed(8), false);
    run(&mut confirmed, 8, &[1000.0, 1000.0], 0.005, 13);
    run(&mut better, 8, &[1000.0, 1300.0], 0.005, 14);
    confirmed.header.plan.workloads.push(reads);
    confirmed.trials.extend(better.trials);
    screening::confirm(&mut screened, &confirmed);
    let of = screened.confirmation.unwrap();
    let rows: Vec<(&str, Option<f64>)> = of.rows.iter().map(|row| (row.workload.as_str(), row.expected)).collect();
    assert_eq!(rows, [("commit", Some(expected)), ("random-read", None)]);
    assert_eq!((of.counted, of.outcome), (1, ConfirmationOutcome::NotConfirmed));
}

#[test]
fn a_race_that_other_programs_disturbed_says_so_beside_what_it_confirms() {
    let screened = found(&race(5, 6, Noise::white(0.01), 12, &options(&[(0, 1.5)])));
    let disturbed_in = |rounds: u32| {
        let mut confirmed = record(vec![lane("default"), lane("proposal")], vec![commit()], Rounds::Fixed(8), false);
        confirmed.header.seed = 99;
        run(&mut confirmed, 8, &[1000.0, 1480.0], 0.005, 13);
        for trial in confirmed.trials.iter_mut().filter(|trial| trial.round <= rounds) {
            trial.flags.push("foreign-noise: other programs took 30 % of the CPU time (0.2 s)".into());
        }
        let mut of = screened.clone();
        screening::confirm(&mut of, &confirmed);
        let of = of.confirmation.unwrap();
        assert_eq!(of.outcome, ConfirmationOutcome::Confirmed, "{rounds}");
        let warned = of.warnings.iter().any(|warning| warning.contains("disturbed"));
        (of.disturbed, warned)
    };
    assert_eq!([0, 4, 5].map(disturbed_in), [(false, false), (false, true), (true, true)]);
}

#[test]
fn a_race_that_is_over_and_cannot_tell_says_why() {
    let screened = found(&race(5, 6, Noise::white(0.01), 12, &options(&[(0, 1.5)])));
    let because = |rounds: u32, scatter: f64| {
        let lanes = vec![lane("default"), lane("proposal")];
        let mut confirmed = record(lanes, vec![commit()], Rounds::Fixed(rounds), false);
        confirmed.header.seed = 99;
        run(&mut confirmed, rounds, &[1000.0, 1480.0], scatter, 13);
        let mut of = screened.clone();
        screening::confirm(&mut of, &confirmed);
        let of = of.confirmation.unwrap();
        (of.outcome, of.because)
    };
    assert_eq!(because(8, 0.005), (ConfirmationOutcome::Confirmed, None));
    assert_eq!(because(3, 0.3), (ConfirmationOutcome::Open, Some(Undecided::TooFewRounds)));
}
