//! What the marks and notes on trials say of a race: each once for all lanes of a workload, and disturbances once for the
//! whole race.

use crate::series::{LaneSeries, Series};
use crate::statements::{marks as statement, name, text};
use model::record::Record;
use model::sentence::{Value, Weight};
use model::trial::Trial;
use model::{Disturbance, Disturber, Flag, Mark, NoteKind, Sentence};
use std::collections::BTreeMap;

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
            // Lane by lane it would be one number again and again.
            () if lanes.len() > 2 && self.trials.iter().all(|&of| of * lanes.len() == count) => {
                statement::marked_trials_each(count, all, count / lanes.len())
            }
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
                sentence.weigh(weight_of_note(self.example, count == all))
            }
        }
    }
}

/// What an engine does without matters where one lane's trials do without it and another's do not.
fn weight_of_note(note: &Flag, everywhere: bool) -> Weight {
    match note.note_kind() {
        Some(NoteKind::NotDurable) => Weight::Choice,
        Some(NoteKind::Data) => Weight::Detail,
        Some(
            NoteKind::WithoutDeferral | NoteKind::WithoutFiles | NoteKind::WithoutBuffers | NoteKind::OneAfterTheOther,
        ) if everywhere => Weight::Detail,
        None if everywhere && is_of_an_engine_in_earlier_records(note) => Weight::Detail,
        _ => Weight::Figures,
    }
}

/// Whether a note of another version is of the same: what an engine did without.
fn is_of_an_engine_in_earlier_records(note: &Flag) -> bool {
    let (kind, _) = note.parts();
    kind.starts_with("io_uring works") || kind.starts_with("libaio")
}

/// Who disturbed a trial; `None`: nobody.
fn disturbance(trial: &Trial) -> Option<Disturbance> {
    let why = trial.flags.iter().find_map(|flag| flag.figures(Mark::ForeignNoise))?;
    Some(trial.disturbance.unwrap_or_else(|| disturbance_in_earlier_records(why)))
}

/// The same of a record that holds it as a sentence alone (`noise::foreign`).
fn disturbance_in_earlier_records(why: &str) -> Disturbance {
    let share = |why: &str| {
        let (_, said) = why.split_once(" took ")?;
        let (percent, _) = said.split_once(" % of the CPU time")?;
        percent.trim().parse::<f64>().ok().map(|percent| percent / 100.0)
    };
    let is_hypervisor = why.starts_with("the hypervisor");
    let by = if is_hypervisor { Disturber::Hypervisor } else { Disturber::OtherPrograms };
    Disturbance { by, cpu_share: share(why) }
}

/// How many trials of the whole race other programs disturbed; `None`: none.
pub(crate) fn disturbed(record: &Record) -> Option<Sentence> {
    let series: Vec<Series> = record.header.plan.workloads.iter().map(|of| Series::new(record, &of.name)).collect();
    let trials: Vec<&Trial> = series.iter().flat_map(|of| &of.lanes).flat_map(|lane| lane.ok.iter().copied()).collect();
    let marked: Vec<Disturbance> = trials.iter().filter_map(|trial| disturbance(trial)).collect();
    let by_hypervisor = marked.iter().filter(|of| of.by == Disturber::Hypervisor).count();
    if marked.is_empty() {
        return None;
    }
    let who = match by_hypervisor {
        0 => statement::foreign_programs(),
        count if count == marked.len() => statement::the_hypervisor(),
        _ => statement::both_disturbers(),
    };
    let most = marked.iter().filter_map(|of| of.cpu_share).reduce(f64::max);
    let most = most.map_or(text(""), |share| statement::up_to_cpus(Value::Share(share)).into());
    let weight = if 2 * marked.len() > trials.len() { Weight::Choice } else { Weight::Figures };
    Some(statement::race_disturbed(who, marked.len(), trials.len(), most).weigh(weight))
}
