//! A screening: which options of a filesystem matter, by a designed experiment whose runs are the lanes of a race
//! (method 9).

mod confirm;
mod design;
mod effects;
mod errors;
mod figures;
mod interactions;
mod proposal;
mod span;
mod verdicts;

use crate::answer;
use crate::ground;
use crate::judge;
use crate::marks;
use crate::sequential::{self, Standing};
use crate::series::Series;
use crate::whole_race;
pub use confirm::confirm;
use design::{Column, Design};
pub use design::{full_factorial, lanes_of, plan_design};
use effects::{contrast, means};
use errors::Errors;
use figures::{Asked, Observed, measured_otherwise, not_reached};
use interactions::{Candidate, Lanes};
use model::Sentence;
use model::findings::{Effect, EffectVerdict, FEWEST_SPARE, ResultFinding, ScreenedResult, ScreeningFinding};
use model::lane::Lane;
use model::plan::LOOKS;
use model::record::{EndOutcome, Record};
use model::screening::{EFFECT_MARGIN, Factor, Screening};
use model::sentence::Weight;
use model::workload::Workload;
use std::collections::BTreeMap;

/// Ratios are told up to e to this power: figures that lie further apart are no figures of one work, and JSON holds what is
/// left.
const LARGEST_LOG: f64 = 200.0;

/// Share of what a race may be wrong in that is spent on interactions, all results together; the rest is spent on effects. One that is found by chance takes the
/// largest part out of what lanes differ by, and so makes the error too small for the options too.
const FOR_INTERACTIONS: f64 = 0.25;

/// Why nothing is told where lanes and options make no design: the record is another version's, or was changed.
const NO_DESIGN: &str =
    "the lanes of this record are not the runs of a design that this version knows; read it with the one that wrote it";

/// What a record's screening found; `None`: it holds none.
pub fn finding(record: &Record) -> Option<ScreeningFinding> {
    let plan = &record.header.plan;
    plan.screening.as_ref()?;
    let results: Vec<ResultFinding> =
        plan.workloads.iter().flat_map(|workload| judge::judge_workload(record, &workload.name)).collect();
    among(record, &results)
}

/// The same where the record's results are known.
pub(crate) fn among(record: &Record, results: &[ResultFinding]) -> Option<ScreeningFinding> {
    let plan = &record.header.plan;
    let screening = plan.screening.as_ref()?;
    let (lanes, design) = match design::in_order(screening) {
        Some((lanes, design)) => (Some(lanes), design),
        None => (None, Design::new(screening.factors.len())),
    };
    let figures: usize = plan.workloads.iter().map(|workload| workload.groups().len()).sum();
    let share = whole_race::share(plan.rounds) * FOR_INTERACTIONS / figures.max(1) as f64;
    let is_over = record.end.is_some_and(EndOutcome::rounds_are_done);
    let view = View { screening, lanes, design, share, is_over };
    let mut analysed: Vec<Analysed> = Vec::new();
    for workload in &plan.workloads {
        let series = Series::new(record, &workload.name);
        let standing = sequential::standing(series.done.len() as u32, plan.rounds, record.end);
        for group in workload.groups() {
            let judged = results.iter().find(|of| of.workload == workload.name && of.group == group);
            analysed.push(view.analyse(workload, &group, (&series, standing), judged));
        }
    }
    verdicts::decide(&mut analysed, plan.rounds);
    for of in &mut analysed {
        if let Some(known) = of.known.as_ref().filter(|known| known.decides) {
            of.told.interactions = interactions::tell(&view.design, &screening.factors, known);
        }
    }
    let hidden = hidden(&analysed);
    let lanes_of_race = || record.header.lanes.iter().filter(|lane| !lane.is_self);
    let measured: Vec<&Lane> = lanes_of_race().filter(|lane| answer::is_measured(results, &lane.name)).collect();
    let screened: Vec<ScreenedResult> = analysed.into_iter().map(|of| of.told).collect();
    let mut finding = ScreeningFinding {
        base: screening.base.clone(),
        design: screening.design,
        lanes: screening.runs.len() as u32,
        full_factorial_lanes: full_factorial(screening.factors.len()),
        factors: screening.factors.clone(),
        left_out: screening.left_out.clone(),
        few_spare: view.lanes.is_some() && view.design.left() < FEWEST_SPARE,
        margin: EFFECT_MARGIN,
        proposal: proposal::propose(&screening.factors, &screened),
        results: screened,
        unfinished: view.lanes.is_some() && !is_over,
        loop_queue: is_of_loop_devices(record, &screening.factors),
        raced: ground::raced(&measured),
        not_tested: answer::not_tested(&record.header, results, false),
        disturbed: marks::disturbed(record).is_some_and(|said| said.weight() == Weight::Choice),
        hidden_by_lanes: false,
        anew: Vec::new(),
        confirmation: None,
        confirmation_left_out: None,
    };
    let open = finding.open_options();
    finding.hidden_by_lanes = is_over && !open.is_empty() && open.iter().all(|option| hidden.contains(option));
    Some(finding)
}

/// Whether an option of the disk's queue was varied where lanes live in images, each on a loop device of its own.
fn is_of_loop_devices(record: &Record, factors: &[Factor]) -> bool {
    let mut levels = factors.iter().flat_map(|factor| [&factor.usual, &factor.other]);
    record.header.lanes.first().is_some_and(|lane| lane.venue == "image") && levels.any(|level| !level.queue.is_empty())
}

/// A screening with its design.
struct View<'a> {
    screening: &'a Screening,
    /// Names of the lanes in the order of the design's runs; `None`: they are none of a design.
    lanes: Option<Vec<&'a str>>,
    design: Design,
    /// What each result may spend on any false interaction.
    share: f64,
    /// All rounds are done.
    is_over: bool,
}

/// Options that no number of rounds would tell in any figure that leaves them open, had their effects come out the same.
fn hidden(results: &[Analysed]) -> Vec<String> {
    let mut hidden: BTreeMap<&str, bool> = BTreeMap::new();
    for result in results {
        // Fewer rounds hardly tell how far lanes scatter by themselves.
        let tells = result.told.rounds >= LOOKS[0];
        for effect in result.told.effects.iter().filter(|effect| effect.verdict == EffectVerdict::Open) {
            let stays =
                result.known.as_ref().is_some_and(|known| known.decides && verdicts::stays_open(effect, &known.errors));
            *hidden.entry(&effect.factor).or_insert(true) &= stays && tells;
        }
    }
    hidden.into_iter().filter(|(_, hidden)| *hidden).map(|(option, _)| option.to_owned()).collect()
}

/// A result with what its effects are judged by.
struct Analysed {
    told: ScreenedResult,
    /// What is known beside it; `None`: nothing is told.
    known: Option<Known>,
}

/// What effects are made of.
struct Known {
    /// Means of the lanes' logarithms over rounds, in the order of the design's runs.
    means: Vec<f64>,
    /// Pairs of options that change each other's effect.
    interactions: Vec<Candidate>,
    errors: Errors,
    /// A planned look was reached: verdicts may be.
    decides: bool,
}

impl View<'_> {
    /// The effects on one figure, which are not judged yet. `judged`: the same result as the race's own; `None`: it was not
    /// raced.
    fn analyse(
        &self,
        workload: &Workload,
        group: &str,
        (series, standing): (&Series, Standing),
        judged: Option<&ResultFinding>,
    ) -> Analysed {
        let metric = judge::primary_metric(series, group);
        let higher_is_better = judge::higher_is_better(&metric);
        let mut told = ScreenedResult {
            workload: workload.name.clone(),
            title: title(workload, group),
            group: group.to_owned(),
            metric,
            higher_is_better,
            rounds: 0,
            unknown: None,
            effects: Vec::new(),
            interactions: Vec::new(),
            deviation: None,
            spare: Vec::new(),
            lanes_differ: false,
        };
        let observed = match (judged.map(measured_otherwise), &self.lanes) {
            (_, None) => Err(Sentence::from(NO_DESIGN)),
            (None, _) => Err(not_reached(self.is_over)),
            (Some(Some(why)), _) => Err(why),
            (_, Some(lanes)) => {
                let (metric, last, is_over) = (told.metric.as_str(), series.last_round(standing), self.is_over);
                let Observed { rounds, logs } =
                    Asked { series, lanes, group, metric, higher_is_better, last, is_over }.observe();
                told.rounds = rounds;
                logs
            }
        };
        let lanes = match observed {
            Ok(lanes) => lanes,
            Err(why) => {
                told.unknown = Some(why);
                return Analysed { told, known: None };
            }
        };
        let means = means(&lanes);
        let logs: Vec<f64> = self.design.factors.iter().map(|column| contrast(column, &means)).collect();
        let rounds = Errors::from_rounds(&lanes);
        let found = Lanes { design: &self.design, logs: &logs, means: &means, rounds };
        let interactions = interactions::find(&found, self.share);
        let there: Vec<&Column> = interactions.iter().map(|of| &of.column).collect();
        let spare = self.design.effects_left(&there, &means);
        let errors = rounds.beside(spare.iter().map(|of| of * of).sum(), spare.len());
        let effects = self.screening.factors.iter().zip(&logs);
        told.effects = effects.map(|(factor, &log)| effect(factor, log, &errors)).collect();
        told.deviation = Some(errors.deviation);
        told.spare = spare.into_iter().map(ratio).collect();
        told.lanes_differ = errors.lanes_differ;
        let decides = matches!(standing, Standing::AtLook { .. });
        Analysed { told, known: Some(Known { means, interactions, errors, decides }) }
    }
}

/// An effect that is not judged yet.
fn effect(factor: &Factor, log: f64, errors: &Errors) -> Effect {
    let error = errors.of_effect();
    let half = errors.half_in_errors() * error;
    Effect {
        factor: factor.name.clone(),
        ratio: ratio(log),
        low: ratio(log - half),
        high: ratio(log + half),
        p: errors.p(log.abs() / error),
        verdict: EffectVerdict::Open,
    }
}

/// The ratio of a logarithm, as a number that JSON can hold.
fn ratio(log: f64) -> f64 {
    log.clamp(-LARGEST_LOG, LARGEST_LOG).exp()
}

/// The workload's title, with the group where the workload has several.
fn title(workload: &Workload, group: &str) -> String {
    match workload.groups().len() {
        1 => workload.title.clone(),
        _ => format!("{}: {group}", workload.title),
    }
}
