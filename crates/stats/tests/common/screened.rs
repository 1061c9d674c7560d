//! Screenings whose truth is known.
#![allow(dead_code)] // Each user takes its share.

use crate::common::sample::Normal;
use crate::common::{io, lane, record, trial};
use model::findings::{Effect, EffectVerdict, ScreenedResult, ScreeningFinding};
use model::lane::Lane;
use model::plan::Rounds;
use model::record::Record;
use model::screening::{Factor, OptionClass, OptionLevel, Screening, ScreeningRun};
use model::workload::{Pattern, Workload};
use stats::screening::plan_design;

/// What makes figures scatter: standard deviations of their logarithms.
#[derive(Clone, Copy)]
pub struct Noise {
    /// Of a lane from round to round.
    pub in_lanes: f64,
    /// Its lag-1 correlation.
    pub lag1: f64,
    /// Of a round, which all lanes have in common.
    pub in_rounds: f64,
    /// Of a lane, which all rounds have in common.
    pub of_lanes: f64,
}

impl Noise {
    /// Of a lane from round to round alone, and of a round twice as much.
    pub const fn white(in_lanes: f64) -> Noise {
        Noise { in_lanes, lag1: 0.0, in_rounds: 2.0 * in_lanes, of_lanes: 0.0 }
    }
}

/// The option of this place: `o1`.
pub fn factor(place: usize) -> Factor {
    let level = |label: &str| OptionLevel { label: label.to_owned(), ..OptionLevel::default() };
    Factor {
        name: format!("o{place}"),
        usual: level("off"),
        other: level("on"),
        further: Vec::new(),
        class: OptionClass::Ordinary,
        costs: String::new(),
        table_usual: String::new(),
    }
}

/// A screening of so many options, `o0`, `o1`, … in lanes `run00`, `run01`, …
pub fn screening(factors: usize) -> Screening {
    let (design, runs) = plan_design(factors);
    let run = |(place, at_other): (usize, Vec<bool>)| ScreeningRun { lane: format!("run{place:02}"), at_other };
    Screening {
        base: "xfs".to_owned(),
        design,
        factors: (0..factors).map(factor).collect(),
        runs: runs.into_iter().enumerate().map(run).collect(),
        left_out: Vec::new(),
    }
}

/// Appending, where one write waits for the one before.
pub fn commit() -> Workload {
    io("commit", Pattern::Append, 1, 0)
}

/// A complete screening without a trial.
pub fn empty(factors: usize, rounds: u32, workloads: Vec<Workload>) -> Record {
    let screening = screening(factors);
    let run = |run: &ScreeningRun| Lane { spec: format!("{}=xfs", run.lane), ..lane(&run.lane) };
    let lanes: Vec<Lane> = screening.runs.iter().map(run).collect();
    let mut race = record(lanes, workloads, Rounds::Fixed(rounds), false);
    race.header.plan.screening = Some(screening);
    race
}

/// Races a workload: `truth` is the logarithm of a run's rate, beside 1000 a second.
pub fn measure(
    race: &mut Record,
    workload: &Workload,
    rounds: u32,
    noise: Noise,
    source: &mut Normal,
    truth: &dyn Fn(&[bool]) -> f64,
) {
    let runs = race.header.plan.screening.as_ref().map(|of| of.runs.clone()).unwrap_or_default();
    let of_rounds: Vec<f64> = (0..rounds).map(|_| noise.in_rounds * source.next()).collect();
    let lanes: Vec<Vec<f64>> = runs
        .iter()
        .map(|run| {
            let level = truth(&run.at_other) + noise.of_lanes * source.next();
            let own = crate::common::sample::correlated(source, rounds as usize, noise.lag1);
            own.iter().zip(&of_rounds).map(|(own, of_round)| level + noise.in_lanes * own + of_round).collect()
        })
        .collect();
    for round in 0..rounds as usize {
        for (run, lane) in runs.iter().zip(&lanes) {
            race.trials.push(trial(&run.lane, workload, round as u32 + 1, 1000.0 * lane[round].exp()));
        }
    }
}

/// A screening of one workload.
pub fn race(factors: usize, rounds: u32, noise: Noise, seed: u64, truth: &dyn Fn(&[bool]) -> f64) -> Record {
    let mut race = empty(factors, rounds, vec![commit()]);
    measure(&mut race, &commit(), rounds, noise, &mut Normal::new(seed), truth);
    race
}

/// Options that multiply the rate by so much, by their places.
pub fn options(effects: &[(usize, f64)]) -> impl Fn(&[bool]) -> f64 + use<> {
    let effects = effects.to_vec();
    move |run| effects.iter().filter(|(place, _)| run[*place]).map(|(_, ratio)| ratio.ln()).sum()
}

/// What a record's screening found.
#[track_caller]
pub fn found(race: &Record) -> ScreeningFinding {
    stats::screening::finding(race).expect("a screening")
}

/// The effect of an option on a result.
#[track_caller]
pub fn effect<'a>(result: &'a ScreenedResult, factor: &str) -> &'a Effect {
    result.effects.iter().find(|of| of.factor == factor).unwrap_or_else(|| panic!("no {factor}: {result:#?}"))
}

/// Names of the options that matter in a result.
pub fn matter(result: &ScreenedResult) -> Vec<&str> {
    let matters = result.effects.iter().filter(|of| of.verdict == EffectVerdict::Matters);
    matters.map(|of| of.factor.as_str()).collect()
}
