//! What the marks and notes on trials say of a race: each once for all lanes of a workload, and disturbances once for the
//! whole race.

use crate::series::{LaneSeries, Series};
use crate::statements::{marks as statement, name, text};
use model::record::Record;
use model::sentence::{Value, Weight};
use model::trial::Trial;
use model::{Flag, Mark, Sentence};
use std::collections::BTreeMap;

/// Notes of this kind say what data was like: nobody has to heed them.
const ABOUT_DATA: &str = "data";
/// Notes of this kind say that a server may lose what it acknowledged.
const NOT_DURABLE: &str = "not durable";
/// How the reason of a disturbed trial begins where the hypervisor was it (`noise::foreign`).
const HYPERVISOR: &str = "the hypervisor";

/// What trials of all lanes are marked with, a sentence for each mark or note. `told`: of this lane what is not steady is
/// said otherwise.
pub(crate) fn sentences(lanes: &[LaneSeries], told: impl Fn(&LaneSeries) -> bool) -> Vec<Sentence> {
    let mut kinds: BTreeMap<&str, Kind> = BTreeMap::new();
    for (at, lane) in lanes.iter().enumerate() {
        for trial in &lane.ok {
            for (at_flag, flag) in trial.flags.iter().enumerate() {
                if flag.is(Mark::NotSteady) && told(lane) {
                    continue;
                }
                let (kind, _) = flag.parts();
                let of = kinds.entry(kind).or_insert(Kind { trials: vec![0; lanes.len()], example: flag, alike: true });
                of.alike &= of.example == flag;
                // A trial with several of a kind counts once.
                let first = trial.flags.iter().position(|other| other.parts().0 == kind) == Some(at_flag);
                of.trials[at] += usize::from(first);
            }
        }
    }
    kinds.values().map(|kind| kind.sentence(lanes)).collect()
}

/// Flags of one kind.
struct Kind<'a> {
    /// Trials of each lane that carry one, or several.
    trials: Vec<usize>,
    /// The first.
    example: &'a Flag,
    /// Whether all others say the same.
    alike: bool,
}

impl Kind<'_> {
    fn sentence(&self, lanes: &[LaneSeries]) -> Sentence {
        let all: usize = lanes.iter().map(|lane| lane.ok.len()).sum();
        let count: usize = self.trials.iter().sum();
        let of_lane =
            |(lane, &count): (&LaneSeries, &usize)| statement::marked_trials_of(name(&lane.lane.name), count).into();
        let trials = match () {
            () if count == all => statement::all_trials(all),
            () if lanes.len() == 1 => statement::some_trials(count, all),
            () => {
                let marked = lanes.iter().zip(&self.trials).filter(|(_, count)| **count > 0);
                statement::marked_trials(count, all, Value::Row(marked.map(of_lane).collect()))
            }
        };
        match self.example {
            Flag::Mark(mark, figures) => statement::meaning(*mark, trials, Some(figures)),
            Flag::Note(note) => {
                let words = text(note);
                let sentence =
                    if self.alike { statement::note(words, trials) } else { statement::note_of_one(words, trials) };
                sentence.weigh(weight_of_note(self.example.parts().0, count == all))
            }
        }
    }
}

/// What an engine does without matters where one lane's trials do without it and another's do not.
fn weight_of_note(kind: &str, everywhere: bool) -> Weight {
    match kind {
        NOT_DURABLE => Weight::Choice,
        ABOUT_DATA => Weight::Detail,
        kind if everywhere && (kind.starts_with("io_uring works") || kind.starts_with("libaio")) => Weight::Detail,
        _ => Weight::Figures,
    }
}

fn why_disturbed(trial: &Trial) -> Option<&str> {
    trial.flags.iter().find_map(|flag| flag.figures(Mark::ForeignNoise))
}

/// The share of the CPUs that a reason names (`noise::foreign`): of a guest's trials no other figure of the record tells
/// what its host did.
fn cpu_share(why: &str) -> Option<f64> {
    let (_, said) = why.split_once(" took ")?;
    let (percent, _) = said.split_once(" % of the CPU time")?;
    percent.trim().parse::<f64>().ok().map(|percent| percent / 100.0)
}

/// How many trials of the whole race other programs disturbed; `None`: none.
pub(crate) fn disturbed(record: &Record) -> Option<Sentence> {
    let series: Vec<Series> = record.header.plan.workloads.iter().map(|of| Series::new(record, &of.name)).collect();
    let trials: Vec<&Trial> = series.iter().flat_map(|of| &of.lanes).flat_map(|lane| lane.ok.iter().copied()).collect();
    let marked: Vec<&str> = trials.iter().filter_map(|trial| why_disturbed(trial)).collect();
    let by_hypervisor = marked.iter().filter(|why| why.starts_with(HYPERVISOR)).count();
    if marked.is_empty() {
        return None;
    }
    let who = match by_hypervisor {
        0 => statement::foreign_programs(),
        count if count == marked.len() => statement::the_hypervisor(),
        _ => statement::both_disturbers(),
    };
    let most = marked.iter().filter_map(|why| cpu_share(why)).reduce(f64::max);
    let most = most.map_or(text(""), |share| statement::up_to_cpus(Value::Share(share)).into());
    let weight = if 2 * marked.len() > trials.len() { Weight::Choice } else { Weight::Figures };
    Some(statement::race_disturbed(who, marked.len(), trials.len(), most).weigh(weight))
}
