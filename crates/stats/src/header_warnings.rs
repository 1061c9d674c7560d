//! What a record itself warns of, before anything is made of its trials.

use crate::statements::race as statement;
use crate::{node_clocks, recorded};
use model::Sentence;
use model::plan::Rounds;
use model::record::Record;
use model::sentence::Weight;

/// The warnings that were recorded, what the method of an article can tell, that the race was taken up again, and what is known
/// of the clocks of a job's machines.
pub(crate) fn warnings(record: &Record) -> Vec<Sentence> {
    let header = &record.header;
    let recorded = header.warnings.iter().chain(&record.warnings).cloned();
    let mut warnings: Vec<Sentence> = recorded.map(recorded::warning).collect();
    if header.plan.as_published {
        warnings.insert(0, as_published(header.plan.rounds));
    }
    match record.resumes {
        0 => {}
        1 => warnings.push(statement::taken_up_once().weigh(Weight::Detail)),
        times => warnings.push(statement::taken_up_often(times).weigh(Weight::Detail)),
    }
    warnings.extend(node_clocks::remarks(record));
    warnings
}

/// What figures of an article's own method can tell.
fn as_published(rounds: Rounds) -> Sentence {
    match rounds {
        Rounds::Fixed(1) => statement::as_published_once().weigh(Weight::Choice),
        _ => statement::as_published_often(),
    }
}
