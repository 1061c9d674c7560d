//! Tuning by successive halving: combinations of levels of the options that matter most race the default, the better half
//! goes on with twice the rounds.

use super::confirm::{self, Length};
use super::constraints::{self, Place, Sorted};
use super::levels::{self, Combination};
use super::{Ended, Screened, follow};
use crate::commands::planning;
use crate::commands::screen::Channel;
use crate::conductor::begin::raced_seconds;
use crate::failure::{Failure, Status};
use crate::options::Screen;
use crate::{owned, terminal};
use model::findings::{EffectVerdict, Limit, ResultFinding, ScreenedResult, ScreeningFinding};
use model::lane::LaneSpec;
use model::plan::Rounds;
use model::record::Record;
use model::screening::{Factor, OptionClass};
use model::units::human_seconds;
use std::path::{Path, PathBuf};

/// Options that are tuned at most.
const MOST_TUNED: usize = 4;
/// Combinations that are raced at most, beside the default.
const MOST_COMBINATIONS: usize = 16;
/// Rounds of the first race.
pub const FIRST_ROUNDS: u32 = 3;
/// Combinations that are left at the end, of which the better one is taken.
pub const LEFT_AT_THE_END: usize = 2;
/// Races at most until so few are left of the most.
pub const MOST_RACES: usize = 3;
/// Records of races beside one screening at most.
pub const MOST_RECORDS: u32 = 1000;

/// A combination that is still in the race.
pub type Raced = (Combination, LaneSpec);

/// Refuses to tune where there is nothing to choose from. `factors`: what is screened.
///
/// # Errors
/// Where one combination alone can be made beside the default.
pub fn check(factors: &[Factor], seconds: Option<f64>) -> Result<(), Failure> {
    match seconds.is_some() && most_candidates(factors) < 2 {
        true => Err(Failure::usage(
            "--tune has nothing to choose from: options that may be proposed make fewer than two combinations beside \
             the default, and one alone is what the confirmation races anyway; give an option a third level, as in \
             'commit=5|30|60', or leave --tune out",
        )),
        false => Ok(()),
    }
}

/// How many combinations there may be beside the default, whatever the effects come to.
pub fn most_candidates(factors: &[Factor]) -> usize {
    let mut counts: Vec<usize> =
        factors.iter().filter(|factor| factor.class == OptionClass::Ordinary).map(levels::count).collect();
    counts.sort_unstable_by(|a, b| b.cmp(a));
    let all = counts.iter().take(MOST_TUNED).fold(1, |all: usize, count| all.saturating_mul(*count));
    // Of more options some are at their other level where these are all as usual.
    let default = usize::from(counts.len() <= MOST_TUNED);
    (all - default).min(MOST_COMBINATIONS)
}

/// The combinations as lanes, those that make one.
pub fn lanes(base: &LaneSpec, finding: &ScreeningFinding) -> Vec<Raced> {
    let lane = |(number, combination): (usize, Combination)| {
        let made = levels::lane(base, &format!("t{:02}", number + 1), &finding.factors, &combination);
        made.ok().map(|lane| (combination, lane))
    };
    candidates(finding).into_iter().enumerate().filter_map(lane).collect()
}

/// Combinations of the levels of the options with the largest effects; the other options are as the proposal has them. The
/// default is none of them. The proposal is the first one, and those that differ least from it stand next: a short time cuts
/// the list from behind.
pub fn candidates(finding: &ScreeningFinding) -> Vec<Combination> {
    let ordinary = finding.factors.iter().enumerate().filter(|(_, factor)| factor.class == OptionClass::Ordinary);
    let mut sizes: Vec<(usize, f64)> =
        ordinary.filter_map(|(at, factor)| Some((at, effect_size(finding, &factor.name)?))).collect();
    sizes.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    let own = confirm::proposed(finding);
    let mut all = vec![own.clone()];
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
    let differ = |of: &Combination| of.iter().zip(&own).filter(|(a, b)| a != b).count();
    let mut all: Vec<(usize, f64, Combination)> =
        all.into_iter().map(|of| (differ(&of), promised(finding, &of), of)).collect();
    all.sort_by(|a, b| a.0.cmp(&b.0).then(b.1.total_cmp(&a.1)));
    all.truncate(MOST_COMBINATIONS);
    all.into_iter().map(|(.., combination)| combination).collect()
}

/// What the screening says that a combination gains, as the sum of the logarithms over all figures. Of further levels nothing
/// is known: they count like the other one.
fn promised(finding: &ScreeningFinding, combination: &[usize]) -> f64 {
    let changed = finding.factors.iter().zip(combination).filter(|(_, place)| **place > 0);
    let of_factor = |(factor, _): (&Factor, &usize)| {
        let effects = finding.results.iter().flat_map(|result| &result.effects);
        effects.filter(|effect| effect.factor == factor.name).map(|effect| effect.ratio.ln()).sum::<f64>()
    };
    changed.map(of_factor).filter(|log| log.is_finite()).sum()
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
    let made = lanes(&screened.base, &screened.finding);
    if let Some(why) = nothing_to_tune(&made, &screened.finding) {
        terminal::say!("nothing is tuned: {why}");
        return Ok(None);
    }
    let factors = &screened.finding.factors;
    let place = Place { plan, terms: &options.terms };
    let Sorted { kept: mut racing, refused } = constraints::working(&screened.base, made, place)?;
    for (combination, why) in &refused {
        terminal::say!("tuning leaves out {}: {}", in_words(factors, combination), report::clean_text(why));
    }
    if racing.len() < 2 {
        let left = if racing.is_empty() { "none" } else { "one alone" };
        terminal::say!("nothing is tuned: of its combinations {left} can be made and mounted here");
        return Ok(None);
    }
    let mut of_trial = trial_seconds(&screened.record);
    let (mut left, mut rounds, mut best) = (seconds, FIRST_ROUNDS, None);
    while !racing.is_empty() {
        let of_lane = of_trial * f64::from(rounds) * plan.workloads.len() as f64;
        let room = (left / of_lane) as usize;
        if best.is_none() && room > LEFT_AT_THE_END && room <= racing.len() {
            let rest: Vec<String> = racing.drain(room - 1..).map(|(of, _)| in_words(factors, &of)).collect();
            terminal::say!("tuning leaves out, because --tune has no time for more: {}", rest.join("; "));
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
        racing = sorted(racing, &telling(&screened.finding, stats::judge::findings(&record).results));
        best = racing.first().cloned();
        racing.truncate(racing.len().div_ceil(2));
        rounds *= 2;
        if racing.len() <= LEFT_AT_THE_END {
            break;
        }
    }
    Ok(best.map(|(combination, _)| combination))
}

/// A combination in words, fit to be shown.
fn in_words(factors: &[Factor], combination: &[usize]) -> String {
    report::clean_text(&levels::in_words(factors, combination))
}

/// Why no combinations race the default, of which one alone leaves nothing to choose; `None`: some do.
fn nothing_to_tune(made: &[Raced], finding: &ScreeningFinding) -> Option<String> {
    match made {
        [] => Some("no option that may be proposed has an effect that may matter".to_owned()),
        [(only, _)] if *only == confirm::proposed(finding) => Some(
            "the only combination is the proposal itself, and no other option has an effect that may matter".to_owned(),
        ),
        [(only, _)] => Some(format!(
            "one combination alone is left ({}), so that there is nothing to choose from, and the screening does not tell \
             whether it gains",
            in_words(&finding.factors, only)
        )),
        _ => None,
    }
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
    let Some(Ended { record, result }) = follow(plan, None, &path, (&options.terms, Channel::Tuning))? else {
        return Err(Failure::failed("a dry run races nothing"));
    };
    if let Err(failure) = result {
        terminal::say!("{}", failure.message);
    }
    Ok(record)
}

/// The first name beside the screening's record that is free: STEM-tune1.jsonl.
pub fn next_record(screening: &Path) -> PathBuf {
    let is_free = |path: &PathBuf| owned::metadata(path).is_err();
    let last = || numbered(screening, MOST_RECORDS);
    (1..MOST_RECORDS).map(|number| numbered(screening, number)).find(is_free).unwrap_or_else(last)
}

/// The record of this number beside a screening's.
pub fn numbered(screening: &Path, number: u32) -> PathBuf {
    confirm::beside(screening, &format!("{}{number}", confirm::TUNED))
}

/// Seconds that a lane's round of one workload took on average.
pub fn trial_seconds(record: &Record) -> f64 {
    raced_seconds(record) / record.trials.len().max(1) as f64
}

/// The results of a race of tuning by which combinations are told apart: those of which the screening tells something, and that
/// are figures of the filesystem. One that is not would decide where it is the worst.
pub fn telling(finding: &ScreeningFinding, mut results: Vec<ResultFinding>) -> Vec<ResultFinding> {
    results.retain(|result| {
        let is_it = |of: &&ScreenedResult| of.workload == result.workload && of.group == result.group;
        let is_told = finding.results.iter().find(is_it).is_none_or(|of| of.unknown.is_none());
        is_told && result.limit != Limit::Harness && !result.missed_the_disk
    });
    results
}

/// Combinations by their worst figure beside the default's, then by the geometric mean of all; without those that have no
/// figure in some of the work, or are worse than the default on the whole.
pub fn sorted(racing: Vec<Raced>, results: &[ResultFinding]) -> Vec<Raced> {
    let mut scored: Vec<(Raced, [f64; 2])> =
        racing.into_iter().filter_map(|raced| score(results, &raced.1.name).map(|score| (raced, score))).collect();
    scored.retain(|(_, [_, mean])| *mean > 1.0);
    scored.sort_by(|(_, a), (_, b)| b[0].total_cmp(&a[0]).then(b[1].total_cmp(&a[1])));
    scored.into_iter().map(|(raced, _)| raced).collect()
}

/// The worst and the mean of a lane's figures, each as a ratio to the default's that is above 1 where it is better.
pub fn score(results: &[ResultFinding], lane: &str) -> Option<[f64; 2]> {
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
    use model::findings::{Effect, Proposal};
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
            raced: None,
            not_tested: Vec::new(),
            disturbed: false,
            hidden_by_lanes: false,
            anew: Vec::new(),
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
    fn the_proposal_stands_first_and_what_differs_least_from_it_next() {
        use EffectVerdict::{Matters, Open};
        let factors: Vec<Factor> = ["a", "b", "c", "d"].map(|name| factor(name, &["0", "1"])).to_vec();
        let effects = [(1.5, Matters), (1.2, Matters), (0.99, Open), (1.02, Open)];
        let all = candidates(&finding(factors, &effects, &["a", "b"]));
        assert_eq!(all.len(), 15);
        let own = [1, 1, 0, 0];
        // Of those that differ alike the one first that promises more.
        assert_eq!(all[..5], [own, [1, 1, 0, 1], [1, 1, 1, 0], [1, 0, 0, 0], [0, 1, 0, 0]]);
        let differ = |of: &Combination| of.iter().zip(own).filter(|(a, b)| **a != *b).count();
        assert!(all.iter().map(differ).is_sorted(), "{all:?}");
    }

    #[test]
    fn as_many_races_as_it_takes_until_two_of_the_most_combinations_are_left_are_read() {
        let halves = std::iter::successors(Some(MOST_COMBINATIONS), |left| Some(left.div_ceil(2)));
        assert_eq!(halves.take_while(|left| *left > LEFT_AT_THE_END).count(), MOST_RACES);
    }

    #[test]
    fn tuning_that_has_nothing_to_choose_from_is_refused_before_the_race() {
        let levels = |count: usize| {
            let labels: Vec<String> = (0..count).map(|level| level.to_string()).collect();
            factor(&format!("of{count}"), &labels.iter().map(String::as_str).collect::<Vec<_>>())
        };
        for (counts, most) in
            [(&[2][..], 1), (&[3][..], 2), (&[4][..], 3), (&[2, 2][..], 3), (&[5, 4, 3][..], 16), (&[2; 6][..], 16)]
        {
            let factors: Vec<Factor> = counts.iter().map(|&count| levels(count)).collect();
            assert_eq!(most_candidates(&factors), most, "{counts:?}");
            assert_eq!(check(&factors, Some(60.0)).is_ok(), most > 1, "{counts:?}");
            assert!(check(&factors, None).is_ok());
            let none: Vec<Factor> =
                factors.into_iter().map(|of| Factor { class: OptionClass::Promises, ..of }).collect();
            assert!(check(&none, Some(60.0)).unwrap_err().message.contains("'commit=5|30|60'"), "{counts:?}");
        }
        // There are never more.
        let factors = vec![levels(3), levels(2), levels(2)];
        let all = candidates(&finding(factors.clone(), &[(1.2, EffectVerdict::Open); 3], &[]));
        assert_eq!(all.len(), most_candidates(&factors));
    }

    #[test]
    fn why_nothing_is_tuned_is_said() {
        use EffectVerdict::{DoesNot, Matters, Open};
        let why = |effects: &[(f64, EffectVerdict)], taken: &[&str]| {
            let found = finding(vec![factor("a", &["0", "1"]), factor("b", &["0", "1"])], effects, taken);
            nothing_to_tune(&lanes(&"ext4".parse().unwrap(), &found), &found)
        };
        assert!(why(&[(1.0, DoesNot); 2], &[]).is_some_and(|why| why.contains("has an effect that may matter")));
        assert!(why(&[], &[]).is_some(), "nothing was told");
        assert!(why(&[(1.2, Matters), (1.0, DoesNot)], &["a"]).is_some_and(|why| why.contains("proposal itself")));
        let one = why(&[(1.1, Open), (1.0, DoesNot)], &[]).unwrap();
        assert!(one.contains("one combination alone is left (a 1), so that there is nothing to choose from"), "{one}");
        assert_eq!(why(&[(1.1, Open), (1.1, Open)], &[]), None, "one of them may be better than the default");
        assert_eq!(why(&[(1.2, Matters), (1.1, Open)], &["a"]), None);
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
