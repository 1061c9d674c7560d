//! Tuning by successive halving: combinations of levels of the options that matter most race the default, the better half
//! goes on with twice the rounds.

use super::confirm::{self, Length};
use super::constraints::{self, Place};
use super::levels::{self, Combination};
use super::{Ended, Screened, follow};
use crate::commands::planning;
use crate::conductor::begin::raced_seconds;
use crate::failure::{Failure, Status};
use crate::options::Screen;
use crate::{owned, terminal};
use model::findings::{EffectVerdict, ResultFinding, ScreeningFinding};
use model::lane::LaneSpec;
use model::plan::Rounds;
use model::record::Record;
use model::screening::OptionClass;
use model::units::human_seconds;
use std::path::{Path, PathBuf};

/// Options that are tuned at most.
const MOST_TUNED: usize = 4;
/// Combinations that are raced at most, beside the default.
const MOST_COMBINATIONS: usize = 16;
/// Rounds of the first race.
const FIRST_ROUNDS: u32 = 3;
/// Combinations that are left at the end, of which the better one is taken.
const LEFT_AT_THE_END: usize = 2;

/// A combination that is still in the race.
type Raced = (Combination, LaneSpec);

/// Combinations of the levels of the options with the largest effects; the other options are as the proposal has them. The
/// default is none of them.
pub fn candidates(finding: &ScreeningFinding) -> Vec<Combination> {
    let ordinary = finding.factors.iter().enumerate().filter(|(_, factor)| factor.class == OptionClass::Ordinary);
    let mut sizes: Vec<(usize, f64)> =
        ordinary.filter_map(|(at, factor)| Some((at, effect_size(finding, &factor.name)?))).collect();
    sizes.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    let mut all = vec![confirm::proposed(finding)];
    for (at, _) in sizes.into_iter().take(MOST_TUNED) {
        let places = finding.factors.get(at).map_or(0, levels::count).min(MOST_COMBINATIONS + 1);
        // One of them may be the default.
        if all.len() * places > MOST_COMBINATIONS + 1 {
            break;
        }
        let with = |combination: &Combination, place: usize| {
            let mut with = combination.clone();
            with[at] = place;
            with
        };
        all = all.iter().flat_map(|combination| (0..places).map(move |place| with(combination, place))).collect();
    }
    all.retain(|combination| combination.iter().any(|place| *place > 0));
    all.truncate(MOST_COMBINATIONS);
    all
}

/// Size of the largest effect of a factor that is not known to be none; `None`: it has none.
fn effect_size(finding: &ScreeningFinding, factor: &str) -> Option<f64> {
    let effects = finding.results.iter().flat_map(|result| &result.effects);
    let may_matter = effects.filter(|effect| effect.factor == factor && effect.verdict != EffectVerdict::DoesNot);
    may_matter.map(|effect| effect.ratio.ln().abs()).filter(|size| size.is_finite()).max_by(f64::total_cmp)
}

/// Tunes for so many seconds; answers the best combination, or nothing where none is better than the default or the time
/// was too short.
///
/// # Errors
/// Interrupted.
pub fn tune(screened: &Screened, seconds: f64, options: &Screen) -> Result<Option<Combination>, Failure> {
    let plan = &screened.record.header.plan;
    let lane = |(number, combination): (usize, Combination)| {
        let name = format!("t{:02}", number + 1);
        let made = levels::lane(&screened.base, &name, &screened.finding.factors, &combination);
        made.ok().map(|lane| (combination, lane))
    };
    let made = candidates(&screened.finding).into_iter().enumerate().filter_map(lane).collect();
    let place = Place { on: &plan.on, size: plan.lane_size };
    let mut racing: Vec<Raced> = constraints::working(&screened.base, made, place)?;
    let mut of_trial = trial_seconds(&screened.record);
    let (mut left, mut rounds, mut best) = (seconds, FIRST_ROUNDS, None);
    while !racing.is_empty() {
        let of_lane = of_trial * f64::from(rounds) * plan.workloads.len() as f64;
        let room = (left / of_lane) as usize;
        if best.is_none() && room > LEFT_AT_THE_END {
            racing.truncate(room - 1);
        }
        if room <= racing.len() {
            let needed = human_seconds(of_lane * (racing.len() + 1) as f64);
            terminal::say!(
                "tuning ends here: its next race takes about {needed}, and {} are left",
                human_seconds(left)
            );
            break;
        }
        let record = match race(screened, &racing, rounds, options) {
            Ok(record) => record,
            Err(failure) if failure.status == Status::Interrupted => return Err(failure),
            Err(failure) => {
                terminal::say!("tuning ends here: {}", failure.message);
                break;
            }
        };
        left -= raced_seconds(&record);
        of_trial = trial_seconds(&record);
        racing = sorted(racing, &stats::judge::findings(&record).results);
        best = racing.first().cloned();
        racing.truncate(racing.len().div_ceil(2));
        rounds *= 2;
        if racing.len() <= LEFT_AT_THE_END {
            break;
        }
    }
    Ok(best.map(|(combination, _)| combination))
}

/// A race of combinations against the default, with a record of its own.
fn race(screened: &Screened, racing: &[Raced], rounds: u32, options: &Screen) -> Result<Record, Failure> {
    let of = &screened.record.header.plan;
    let lanes = of.lanes.first().into_iter().chain(racing.iter().map(|(_, lane)| lane)).cloned().collect();
    let length = Length { rounds: Rounds::Fixed(rounds), budget: None };
    let plan = confirm::plan(of, lanes, length, planning::new_seed());
    let path = next_record(&screened.path);
    if !options.terms.quiet {
        terminal::say!("tuning: {} combinations and the default, {rounds} rounds", racing.len());
    }
    let Some(Ended { record, result }) = follow(plan, None, &path, &options.terms)? else {
        return Err(Failure::failed("a dry run races nothing"));
    };
    if let Err(failure) = result {
        terminal::say!("{}", failure.message);
    }
    Ok(record)
}

/// The first name beside the screening's record that is free: STEM-tune1.jsonl.
fn next_record(screening: &Path) -> PathBuf {
    let named = |number: u32| confirm::beside(screening, &format!("{}{number}", confirm::TUNED));
    let is_free = |path: &PathBuf| owned::metadata(path).is_err();
    (1..1000).map(named).find(is_free).unwrap_or_else(|| named(1000))
}

/// Seconds that a lane's round of one workload took on average.
fn trial_seconds(record: &Record) -> f64 {
    raced_seconds(record) / record.trials.len().max(1) as f64
}

/// Combinations by their worst figure beside the default's, then by the geometric mean of all; without those that have no
/// figure in some of the work, or are worse than the default on the whole.
fn sorted(racing: Vec<Raced>, results: &[ResultFinding]) -> Vec<Raced> {
    let mut scored: Vec<(Raced, [f64; 2])> =
        racing.into_iter().filter_map(|raced| score(results, &raced.1.name).map(|score| (raced, score))).collect();
    scored.retain(|(_, [_, mean])| *mean > 1.0);
    scored.sort_by(|(_, a), (_, b)| b[0].total_cmp(&a[0]).then(b[1].total_cmp(&a[1])));
    scored.into_iter().map(|(raced, _)| raced).collect()
}

/// The worst and the mean of a lane's figures, each as a ratio to the default's that is above 1 where it is better.
fn score(results: &[ResultFinding], lane: &str) -> Option<[f64; 2]> {
    let ratio = |result: &ResultFinding| {
        let default = result.estimates.first()?.mean;
        let own = result.estimates.iter().find(|estimate| estimate.lane == lane)?.mean;
        let ratio = if result.higher_is_better { own / default } else { default / own };
        (ratio.is_finite() && ratio > 0.0).then_some(ratio)
    };
    let ratios: Vec<f64> = results.iter().map(ratio).collect::<Option<_>>()?;
    let worst = ratios.iter().copied().min_by(f64::total_cmp)?;
    let mean = (ratios.iter().map(|ratio| ratio.ln()).sum::<f64>() / ratios.len() as f64).exp();
    Some([worst, mean])
}

#[cfg(test)]
pub mod tests {
    use super::super::levels::tests::factor;
    use super::*;
    use model::findings::{Effect, Proposal, ScreenedResult};
    use model::screening::{DesignKind, Factor};

    /// A finding of one figure in which each of these options has an effect.
    pub fn finding(factors: Vec<Factor>, effects: &[(f64, EffectVerdict)], taken: &[&str]) -> ScreeningFinding {
        let effect = |(factor, &(ratio, verdict)): (&Factor, &(f64, EffectVerdict))| Effect {
            factor: factor.name.clone(),
            ratio,
            low: ratio,
            high: ratio,
            p: 0.0,
            verdict,
        };
        let result = ScreenedResult {
            workload: "w".into(),
            title: "w".into(),
            group: "write".into(),
            metric: "operations_per_second".into(),
            higher_is_better: true,
            rounds: 3,
            unknown: None,
            effects: factors.iter().zip(effects).map(effect).collect(),
            interactions: Vec::new(),
            deviation: None,
            spare: Vec::new(),
            lanes_differ: false,
        };
        let proposal = Proposal { factors: taken.iter().map(|&name| name.to_owned()).collect(), ..Proposal::default() };
        ScreeningFinding {
            base: "ext4".into(),
            design: DesignKind::FullFactorial,
            lanes: 8,
            full_factorial_lanes: 8,
            factors,
            left_out: Vec::new(),
            margin: 0.03,
            results: vec![result],
            proposal,
            few_spare: false,
            unfinished: false,
            loop_queue: false,
            confirmation: None,
            confirmation_left_out: None,
        }
    }

    #[test]
    fn the_options_with_the_largest_effects_are_combined_and_the_others_stay_as_proposed() {
        use EffectVerdict::{DoesNot, Matters, Open};
        let factors = vec![
            factor("none", &["0", "1"]),
            factor("some", &["0", "1", "2"]),
            factor("most", &["0", "1", "2"]),
            factor("small", &["0", "1", "2"]),
        ];
        let effects = [(1.5, DoesNot), (1.1, Open), (0.5, Matters), (1.01, Matters)];
        let all = candidates(&finding(factors, &effects, &["small"]));
        // Three levels of two options; of a third one there would be 27.
        assert_eq!(all.len(), 9);
        assert!(all.iter().all(|of| (of[0], of[3]) == (0, 1)), "{all:?}");
        let mut different = all.clone();
        different.sort();
        different.dedup();
        assert_eq!(different.len(), 9);
        assert!(all.contains(&vec![0, 0, 0, 1]), "the proposal is one of them");
    }

    #[test]
    fn the_default_is_no_combination_and_neither_is_what_changes_promises() {
        let mut factors = vec![factor("a", &["0", "1"]), factor("b", &["0", "1"])];
        factors[1].class = OptionClass::Promises;
        let found = finding(factors, &[(1.2, EffectVerdict::Matters), (2.0, EffectVerdict::Matters)], &[]);
        assert_eq!(candidates(&found), [[1, 0]]);
        let none = finding(vec![factor("a", &["0", "1"])], &[(1.0, EffectVerdict::DoesNot)], &[]);
        assert!(candidates(&none).is_empty());
        // Who wrote a record chose how many: nothing is made of them before they are counted.
        let many: Vec<String> = (0..4000).map(|level| level.to_string()).collect();
        let many = factor("a", &many.iter().map(String::as_str).collect::<Vec<_>>());
        let all = vec![many.clone(), Factor { name: "b".into(), ..many }];
        let many = finding(all, &[(1.2, EffectVerdict::Matters); 2], &["a"]);
        assert_eq!(candidates(&many).len(), MOST_COMBINATIONS);
    }
}
