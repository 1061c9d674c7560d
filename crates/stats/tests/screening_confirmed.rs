//! What the race of a proposal is told of, work by work.

use crate::common::{lane, record, run};
use crate::screened::{Noise, commit, found, options, race};
use model::plan::Rounds;
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
